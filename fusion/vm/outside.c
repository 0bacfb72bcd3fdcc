/* fusion/vm/outside.c -- packages that the language leaves out, by outside.def. */
#include "fusion/vm/outside.h"

#include <string.h>

static const struct {
	const char *package, *advice;
} rows[] = {
#define OUTSIDE(package, advice) { package, advice },
#include "fusion/vm/outside.def"
#undef OUTSIDE
};

const char *outside_advice(const char *module)
{
	size_t len = strcspn(module, ".");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strncmp(rows[i].package, module, len) == 0 && rows[i].package[len] == '\0')
			return rows[i].advice;
	return NULL;
}

bool outside_refused(struct value v, struct err *err)
{
	const char *advice = v.kind == VALUE_MODULE ? outside_advice(v.module->name) : NULL;

	if (!advice)
		return true;
	return err_set(err, ERR_UNSUPPORTED, "%s is not in the workload language; %s",
		       v.module->name, advice);
}
