/* fusion/capture/prelude.c -- see prelude.h. */
#include "fusion/capture/prelude.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/capture/run.h"

#define PRELUDE(module, text) extern const char text[];
#include "fusion/capture/preludes.def"
#undef PRELUDE

static const struct {
	const char *module, *text;
} rows[] = {
#define PRELUDE(module, text) { module, text },
#include "fusion/capture/preludes.def"
#undef PRELUDE
};

enum { COUNT = sizeof(rows) / sizeof(rows[0]) };

struct prelude { /* by row */
	struct {
		struct lang_program *program; /* NULL: not asked for yet */
		struct unit unit;
		struct err failed; /* why it could not be loaded */
	} of[COUNT];
};

static bool of_torch(const char *name)
{
	static const char *const names[] = { "no_grad", "enable_grad", "inference_mode",
					     "set_grad_enabled" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* torch and torch.nn have functions and submodules of the host's beside these. */
static bool may_define(int row, const char *name)
{
	if (strcmp(rows[row].module, "torch") == 0)
		return of_torch(name);
	return strcmp(rows[row].module, "torch.nn") != 0 || (name[0] >= 'A' && name[0] <= 'Z');
}

static struct lang_program *compile(int row, struct err *err)
{
	return lang_compile(rows[row].text, strlen(rows[row].text), NULL, err);
}

/* Whether a line of the text begins with `before`, the name and `behind`. */
static bool has_line(const char *text, const char *before, const char *name, const char *behind)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "\n%s%s%s", before, name, behind);

	return len < (int)sizeof(line) && strstr(text, line);
}

/* The row whose text defines the name, -1.  By the text alone: a check asks for
 * every name that a program uses, and to compile for each would take longer
 * than all else. */
static int row_of(const char *module, const char *name)
{
	for (int i = 0; i < COUNT; i++) {
		const char *text = rows[i].text;

		if (strcmp(rows[i].module, module) != 0 || !may_define(i, name) || name[0] == '_')
			continue;
		if (has_line(text, "class ", name, "(") || has_line(text, "class ", name, ":") ||
		    has_line(text, "def ", name, "(") || has_line(text, "", name, " = "))
			return i;
	}
	return -1;
}

bool prelude_defines(const char *module, const char *name)
{
	return row_of(module, name) >= 0;
}

/* An error here is ours, not the program's: its place means nothing there. */
static bool faulty(int row, struct err *err)
{
	struct err e = *err;

	if (e.code == ERR_STEPS || e.code == ERR_MEMORY || e.code == ERR_CANCELLED)
		return false;
	err->line = err->column = 0;
	return err_set(err, ERR_INTERNAL, "the module %s cannot be made (line %d): %.300s",
		       rows[row].module, e.line, e.message);
}

static bool run(struct vm *vm, struct unit *unit, struct err *err)
{
	struct vm_evaluator none = { 0 }, evaluator = vm->evaluator;
	struct frame *f = frame_push(vm, unit, NULL, err);
	struct value out;
	bool ok;

	if (!f)
		return false;
	if (!frame_enter(vm, f, err)) {
		frame_pop(vm);
		return false;
	}
	vm->evaluator = none;
	ok = vm_run(vm, f, &out, err);
	vm->evaluator = evaluator;
	if (ok)
		value_unref(out);
	return ok;
}

static bool load(struct vm *vm, int row, struct err *err)
{
	struct prelude *p = vm->prelude;
	const void *owner = vm->owner;
	struct err e = { 0 };
	bool ok;

	if (!p)
		p = vm->prelude = calloc(1, sizeof(*p));
	if (!p)
		return vm_out_of_memory(vm, err);
	if (p->of[row].failed.code != ERR_NONE) {
		if (err)
			*err = p->of[row].failed;
		return false;
	}
	if (p->of[row].program)
		return true;
	p->of[row].program = compile(row, &e);
	ok = p->of[row].program != NULL;
	if (ok) {
		vm->owner = p->of[row].program;
		ok = unit_prepare(vm, &p->of[row].unit, p->of[row].program->module, &e);
		vm->owner = owner;
	}
	ok = ok && run(vm, &p->of[row].unit, &e);
	if (ok)
		return true;
	faulty(row, &e);
	if (p->of[row].program && e.code != ERR_BREAK)
		p->of[row].failed = e; /* half of it stands: it is not run twice */
	if (err)
		*err = e;
	return false;
}

bool prelude_attribute(struct vm *vm, const char *module, const char *name, struct value *out,
		       bool *found, struct err *err)
{
	int row = row_of(module, name);
	const void *owner;

	*found = false;
	if (row < 0)
		return true;
	if (!load(vm, row, err))
		return false;
	owner = vm->prelude->of[row].program;
	for (int i = 0; i < vm->n_globals; i++)
		if (vm->globals[i].owner == owner && strcmp(vm->globals[i].name, name) == 0 &&
		    vm->globals[i].value.kind != VALUE_UNSET) {
			*found = true;
			*out = value_ref(vm->globals[i].value);
		}
	return true;
}

void prelude_release(struct vm *vm)
{
	for (int i = 0; vm->prelude && i < COUNT; i++) {
		unit_release(&vm->prelude->of[i].unit);
		lang_destroy(vm->prelude->of[i].program);
	}
	free(vm->prelude);
	vm->prelude = NULL;
}
