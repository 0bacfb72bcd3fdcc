/* fusion/vm/absent_modules.c -- packages that the language leaves out, by absent_modules.def. */
#include "fusion/vm/absent_modules.h"

#include <stdio.h>
#include <string.h>

#include "fusion/vm/files.h"
#include "fusion/vm/modules.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"

static const struct {
	const char *package, *advice;
} rows[] = {
#define ABSENT_MODULE(package, advice) { package, advice },
#include "fusion/vm/absent_modules.def"
#undef OUTSIDE
};

const char *absent_module_advice(const char *module)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].package);

		if (strncmp(rows[i].package, module, len) == 0 &&
		    (module[len] == '.' || module[len] == '\0'))
			return rows[i].advice;
	}
	return NULL;
}

static bool is_absent(struct vm_host *host, const char *name)
{
	return !prelude_has_module(name) &&
	       (absent_module_advice(name) || !module_exists(host, name));
}

bool absent_module_is(struct vm *vm, struct value v)
{
	return v.kind == VALUE_MODULE && is_absent(vm_host_here(vm), v.module->name);
}

/* torch.sinn: why torch, which is there, has no sinn. */
static bool attribute_refused(struct vm_host *host, const char *name, struct err *err)
{
	const char *dot = strrchr(name, '.');
	char owner[MODULE_NAME_BYTES];
	struct module module = { .name = owner };
	struct value v = { .kind = VALUE_UNSET };
	bool found;

	if (!dot || dot == name || (size_t)(dot - name) >= sizeof(owner))
		return true;
	snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
	if (is_absent(host, owner))
		return true;
	found = module_is_native(owner) ? native_attribute(NULL, owner, dot + 1, &v, err)
					: host->module_attr(host->self, &module, dot + 1, &v, err);
	value_unref(v);
	return found;
}

bool absent_module_refused_by_name(struct vm_host *host, const char *name, struct err *err)
{
	const char *advice = absent_module_advice(name);

	if (!is_absent(host, name))
		return true;
	if (!advice && !attribute_refused(host, name, err))
		return false;
	return err_set(err, ERR_UNSUPPORTED, "%s is not in the workload language; %s", name,
		       advice ? advice : "put the code that is used into the source");
}

bool absent_module_may_wait(const struct vm *vm)
{
	const struct frame *f = vm->frame;

	return f && (f->code->has_namespace || f->code == vm->module.code ||
		     files_is_module_code(f->unit));
}
