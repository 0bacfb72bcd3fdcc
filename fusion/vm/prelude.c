/* fusion/vm/prelude.c -- modules that are written in the workload language. */
#include "fusion/vm/prelude.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/run.h"

static const struct {
	const char *module;
	size_t len; /* of the module's name */
} rows[] = {
#define PRELUDE(module, text) { module, sizeof(module) - 1 },
#include "fusion/vm/preludes.def"
#undef PRELUDE
};

/* By row; preludes.S. */
extern const struct {
	const char *text;
	/* What the text defines, as the Makefile finds it: how many names, and from here to each of
	 * them, in the order of strcmp(); 1 is after the NUL of one that is None, else 0. */
	const int32_t *names;
} prelude_texts[];

enum { COUNT = sizeof(rows) / sizeof(rows[0]) };

struct prelude_programs {
	struct lang_program *of[COUNT]; /* by row; NULL: not asked for yet */
};

struct known {
	int row;  /* of the module that was asked */
	int unit; /* the first row of the same text: what several modules have is made once */
	int global;
};

struct prelude {
	struct prelude_programs *programs, *own; /* own: NULL where they are shared */
	VEC(struct known) known;
	struct {                                    /* by row */
		const struct lang_program *program; /* NULL: not loaded */
		struct unit unit;
		struct err failed; /* why it could not be loaded */
	} of[COUNT];
};

/* A name with a line in front is the text's own, but for these. */
static bool is_open(const char *name)
{
	static const char *const names[] = { "_assert",
					     "_check",
					     "_check_is_size",
					     "_log_api_usage_once",
					     "_complex_call",
					     "_complex_named",
					     "_quantile",
					     "_overload_method",
					     "_script_if_tracing",
					     "_BatchNorm",
					     "_ConvNd",
					     "_InstanceNorm",
					     "_pair",
					     "_single",
					     "_triple",
					     "_quadruple",
					     "_ntuple",
					     "_profiler_enabled",
					     "_get_torch_home",
					     "_LRScheduler",
					     "_mha_shape_check",
					     "_in_projection",
					     "_in_projection_packed",
					     "_unwrap_optional",
					     "__version__",
					     "_initialized",
					     "_make_subclass",
					     "_make_wrapper_subclass",
					     "__new__" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return name[0] != '_' || strncmp(name, "_calculate_", strlen("_calculate_")) == 0 ||
	       strncmp(name, "_foreach_", strlen("_foreach_")) == 0;
}

/* torch and torch.nn have functions and submodules of the host's beside these. */
static bool may_define(int row, const char *name)
{
	bool capital = name[0] >= 'A' && name[0] <= 'Z';
	size_t len = strlen(name), tail = strlen("Tensor");

	if (strcmp(rows[row].module, "torch._C") == 0 ||
	    strcmp(rows[row].module, "torch.overrides") == 0 ||
	    strncmp(rows[row].module, "torchvision", strlen("torchvision")) == 0 ||
	    strncmp(rows[row].module, "timm", strlen("timm")) == 0)
		return true; /* their files import such names from one another */
	if (!is_open(name))
		return false;
	if (strcmp(rows[row].module, "torch") == 0) /* FloatTensor and its like */
		return !capital || strcmp(name, "Generator") == 0 ||
		       strcmp(name, "OutOfMemoryError") == 0 ||
		       (len > tail && strcmp(name + len - tail, "Tensor") == 0);
	return strcmp(rows[row].module, "torch.nn") != 0 || capital || name[0] == '_';
}

static const struct lang_program *compile(struct prelude_programs *p, int row, struct err *err)
{
	if (!p->of[row])
		p->of[row] = lang_compile(prelude_texts[row].text, strlen(prelude_texts[row].text),
					  NULL, err);
	return p->of[row];
}

struct prelude_programs *prelude_programs_create(void)
{
	return calloc(1, sizeof(struct prelude_programs));
}

void prelude_programs_destroy(struct prelude_programs *p)
{
	for (int i = 0; p && i < COUNT; i++)
		lang_destroy(p->of[i]);
	free(p);
}

/* The name, where a line of the row's text begins a class or function of it, or assigns it; else
 * NULL. */
static const char *defined(int row, const char *name)
{
	const int32_t *names = prelude_texts[row].names;
	int first = 1, end = names[0] + 1;

	while (first < end) {
		int middle = first + (end - first) / 2;
		const char *at = (const char *)names + names[middle];
		int order = strcmp(at, name);

		if (order == 0)
			return at;
		if (order < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

static bool is_of(int row, const char *module, size_t len)
{
	return rows[row].len == len && memcmp(rows[row].module, module, len) == 0;
}

/* The row whose text defines the name, -1.  A check asks for every name that a program uses:
 * nothing is compiled for it. */
static int row_of(const char *module, const char *name)
{
	size_t len = strlen(module);

	for (int i = 0; i < COUNT; i++)
		if (is_of(i, module, len) && may_define(i, name) && defined(i, name))
			return i;
	return -1;
}

bool prelude_has_module(const char *module)
{
	size_t len = strlen(module);

	for (int i = 0; i < COUNT; i++)
		if (is_of(i, module, len))
			return true;
	return false;
}

bool prelude_defines(const char *module, const char *name)
{
	return row_of(module, name) >= 0;
}

void prelude_offer(const char *module, struct nearest *n)
{
	size_t len = strlen(module);

	for (int i = 0; i < COUNT; i++)
		for (int k = 1; is_of(i, module, len) && k <= prelude_texts[i].names[0]; k++) {
			const char *name = (const char *)prelude_texts[i].names +
					   prelude_texts[i].names[k];

			if (name[0] != '_' && may_define(i, name))
				nearest_offer(n, name);
		}
}

bool prelude_defines_none(const char *module, const char *name)
{
	int row = row_of(module, name);

	return row >= 0 && defined(row, name)[strlen(name) + 1] == 1;
}

/* An error here is a fault of the prelude, not of the program, where its place means nothing. */
static bool faulty(int row, struct err *err)
{
	struct err e = *err;

	if (e.code == ERR_STEPS || e.code == ERR_MEMORY || e.code == ERR_CANCELLED)
		return false;
	err->line = err->column = 0;
	return err_set(err, ERR_INTERNAL, "the module %s cannot be made (line %d): %.300s",
		       rows[row].module, e.line, e.message);
}

static struct prelude *prepare(const struct vm *vm)
{
	struct prelude *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->programs = vm->limits.preludes;
	if (!p->programs)
		p->programs = p->own = prelude_programs_create();
	if (p->programs)
		return p;
	free(p);
	return NULL;
}

static bool load(struct vm *vm, int row, struct err *err)
{
	struct prelude *p = vm->prelude;
	struct err e = { 0 };
	bool ok;

	if (!p && !(p = vm->prelude = prepare(vm)))
		return vm_out_of_memory(vm, err);
	if (p->of[row].failed.code != ERR_NONE) {
		if (err)
			*err = p->of[row].failed;
		return false;
	}
	if (p->of[row].program)
		return true;
	p->of[row].program = compile(p->programs, row, &e);
	ok = p->of[row].program != NULL;
	if (ok) {
		p->of[row].unit = (struct unit){ .code = p->of[row].program->module,
						 .owner = p->of[row].program,
						 .module = rows[row].module,
						 .hidden = true };
		ok = vm_run_unit(vm, &p->of[row].unit, NULL, &e);
	}
	if (ok)
		return true;
	faulty(row, &e);
	if (p->of[row].program && e.code != ERR_BREAK)
		p->of[row].failed = e; /* half of it has run: it is not run twice */
	if (err)
		*err = e;
	return false;
}

/* Names that were found before: programs ask for the same few again and again,
 * and the texts are long. */
static const struct known *find_known(const struct vm *vm, const char *module, const char *name)
{
	for (size_t i = 0; vm->prelude && i < vm->prelude->known.len; i++) {
		const struct known *k = &vm->prelude->known.at[i];

		if (strcmp(vm->globals[k->global].name, name) == 0 &&
		    strcmp(rows[k->row].module, module) == 0)
			return k;
	}
	return NULL;
}

static int find_global(const struct vm *vm, int row, const char *name)
{
	int slot = vm_global_find(vm, vm->prelude->of[row].program, name);

	return slot >= 0 && vm->globals[slot].value.kind != VALUE_UNSET ? slot : -1;
}

static int unit_of(int row)
{
	int first = 0;

	while (first < row && prelude_texts[first].text != prelude_texts[row].text)
		first++;
	return first;
}

bool prelude_attribute(struct vm *vm, const char *module, const char *name, struct value *out,
		       bool *found, struct err *err)
{
	const struct known *known = find_known(vm, module, name);
	struct known fresh = { .row = known ? known->row : row_of(module, name) };

	*found = false;
	if (fresh.row < 0)
		return true;
	fresh.unit = known ? known->unit : unit_of(fresh.row);
	if (!load(vm, fresh.unit, err))
		return false;
	fresh.global = known ? known->global : find_global(vm, fresh.unit, name);
	if (fresh.global < 0)
		return true;
	if (!known && !VEC_PUSH(&vm->prelude->known, fresh))
		return vm_out_of_memory(vm, err);
	*found = true;
	*out = value_ref(vm->globals[fresh.global].value);
	return true;
}

void prelude_release(struct vm *vm)
{
	if (!vm->prelude)
		return;
	for (int i = 0; i < COUNT; i++)
		unit_release(&vm->prelude->of[i].unit);
	prelude_programs_destroy(vm->prelude->own);
	VEC_FREE(&vm->prelude->known);
	free(vm->prelude);
	vm->prelude = NULL;
}
