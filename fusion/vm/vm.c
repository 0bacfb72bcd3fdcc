/* fusion/vm/vm.c -- a VM's life, its limits, and calls from C.
 * The interpreter loop is in run.c. */
#include "fusion/vm/evaluate.h"
#include "fusion/vm/vm.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/files.h"
#include "fusion/vm/generator.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"
#include "fusion/vm/regex.h"
#include "fusion/vm/run.h"

static const int64_t DEFAULT_STEPS = 50 * 1000 * 1000;
static const size_t DEFAULT_OBJECT_BYTES = (size_t)256 << 20;
enum { DEFAULT_DEPTH = 1000, STEP_BYTES = 64 };

/* A program of one file is the module `model`. */
static void name_module(struct vm *vm)
{
	const char *doc = vm->program->module->doc;
	const char *const names[][2] = { { "__name__", "model" },
					 { "__file__", "/model.py" },
					 { "__package__", "" },
					 { "__doc__", doc } };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = names[i][1];
		int slot = vm_global_slot(vm, NULL, names[i][0]);

		if (slot >= 0)
			vm->globals[slot].value = text ? value_str(text, strlen(text))
						       : value_none();
	}
}

struct vm *vm_create(const struct lang_program *program, struct vm_host *host,
		     const struct vm_limits *limits)
{
	struct vm *vm = calloc(1, sizeof(*vm));

	if (!vm)
		return NULL;
	if (limits)
		vm->limits = *limits;
	if (vm->limits.steps <= 0)
		vm->limits.steps = DEFAULT_STEPS;
	if (vm->limits.depth <= 0)
		vm->limits.depth = DEFAULT_DEPTH;
	if (vm->limits.object_bytes == 0)
		vm->limits.object_bytes = DEFAULT_OBJECT_BYTES;
	vm->program = program;
	vm->host = vm->first_host = host;
	vm->epoch = 1;
	vm->modes.real = DTYPE_F32;
	vm->modes.print = PRINT_DEFAULTS;
	vm->heap = heap_create(vm->limits.object_bytes);
	if (!vm->heap) {
		free(vm);
		return NULL;
	}
	vm->heap->vm = vm;
	if (program->files) {
		if (!files_begin(vm)) {
			vm_destroy(vm);
			return NULL;
		}
	} else {
		name_module(vm);
	}
	vm->module.code = program->module;
	return vm;
}

static void release_evaluated(struct vm *vm)
{
	while (vm->evaluated) {
		struct evaluated *e = vm->evaluated;

		vm->evaluated = e->before;
		unit_release(&e->unit);
		lang_destroy(e->program);
		free(e);
	}
}

void vm_destroy(struct vm *vm)
{
	if (!vm)
		return;
	vm->heap->vm = NULL;
	generators_forget(vm, true);
	while (vm->frame)
		frame_pop(vm);
	frame_chunks_free(vm);
	unit_release(&vm->module);
	for (size_t i = 0; i < vm->expressions.len; i++)
		unit_release(vm->expressions.at[i]);
	VEC_FREE(&vm->expressions);
	release_evaluated(vm);
	prelude_release(vm);
	files_release(vm);
	for (int i = 0; i < vm->n_globals; i++) {
		value_unref(vm->globals[i].value);
		value_unref(vm->globals[i].builtin);
	}
	for (size_t i = 0; i < vm->modules.len; i++)
		value_unref(vm->modules.at[i]);
	value_unref(vm->handled);
	vm_forget_raised(vm);
	VEC_FREE(&vm->generators);
	classes_release(vm);
	regexes_release(vm);
	VEC_FREE(&vm->modules);
	free(vm->globals);
	heap_close(vm->heap);
	arena_finish(&vm->arena);
	free(vm);
}

static unsigned hash_of(const char *name)
{
	unsigned hash = 0;

	while (*name)
		hash = hash * 31 + (unsigned char)*name++;
	return hash % GLOBAL_HASHES;
}

int vm_global_find(const struct vm *vm, const void *owner, const char *name)
{
	int slot = vm->global_of[hash_of(name)] - 1;

	while (slot >= 0 &&
	       (vm->globals[slot].owner != owner || strcmp(vm->globals[slot].name, name) != 0))
		slot = vm->globals[slot].next - 1;
	return slot;
}

int vm_global_slot(struct vm *vm, const void *owner, const char *name)
{
	int cap, slot = vm_global_find(vm, owner, name), *of;
	struct global *grown;

	if (slot >= 0)
		return slot;
	if (vm->n_globals == vm->cap_globals) {
		cap = vm->cap_globals ? vm->cap_globals * 2 : 32;
		grown = realloc(vm->globals, sizeof(*grown) * (size_t)cap);
		if (!grown)
			return -1;
		vm->globals = grown;
		vm->cap_globals = cap;
	}
	of = &vm->global_of[hash_of(name)];
	slot = vm->n_globals++;
	vm->globals[slot] = (struct global){
		.name = name, .owner = owner, .builtin = builtin_named(vm, name), .next = *of
	};
	*of = slot + 1;
	return slot;
}

bool vm_global(const struct vm *vm, const char *name, struct value *out)
{
	int slot = vm_global_find(vm, NULL, name);

	if (slot < 0 || vm->globals[slot].value.kind == VALUE_UNSET)
		return false;
	*out = vm->globals[slot].value;
	return true;
}

void vm_set_host(struct vm *vm, struct vm_host *host)
{
	if (host == vm->host)
		return;
	vm->host = host;
	generators_forget(vm, false);
	vm->epoch++; /* what the last host said of its modules is forgotten */
}

const struct frame *vm_visible_frame(const struct vm *vm)
{
	const struct frame *f = vm->frame;

	while (f && f->unit->hidden)
		f = f->up;
	return f;
}

struct vm_host *vm_host_here(struct vm *vm)
{
	const struct frame *f = vm_visible_frame(vm);

	if (f) {
		vm->host->line = f->inst->line;
		vm->host->column = f->inst->column;
	}
	return vm->host;
}

bool vm_out_of_memory(struct vm *vm, struct err *err)
{
	return err_set(err, ERR_MEMORY,
		       "the program's own values (numbers in lists, strings, calls) need more than "
		       "%zu MiB, the limit; build smaller lists or use a tensor",
		       vm->limits.object_bytes >> 20);
}

static bool out_of_steps(struct vm *vm, struct err *err)
{
	char count[32], *p = count + sizeof(count) - 1;
	int64_t n = vm->limits.steps;
	const struct frame *f = vm->frame;
	int line = f ? f->inst->line - f->code->lines_before : 0;

	*p = '\0';
	for (int digits = 0; n > 0 || digits == 0; digits++) {
		if (digits > 0 && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		n /= 10;
	}
	return err_set(err, ERR_STEPS,
		       "the program ran %s steps in one call without an end; line %d is in a loop "
		       "that may never end",
		       p, line);
}

bool vm_spend(struct vm *vm, int64_t steps, struct err *err)
{
	vm->steps_left -= steps;
	if (vm->steps_left >= 0)
		return true;
	return out_of_steps(vm, err);
}

bool vm_room(struct vm *vm, int64_t count, size_t bytes_each, struct err *err)
{
	size_t bytes;

	if (__builtin_mul_overflow((size_t)count, bytes_each, &bytes) ||
	    !heap_charge(vm->heap, bytes))
		return vm_out_of_memory(vm, err);
	heap_uncharge(vm->heap, bytes);
	return true;
}

bool vm_keep(struct vm *vm, struct value fresh, struct value *out, struct err *err)
{
	if (fresh.kind == VALUE_UNSET)
		return vm_out_of_memory(vm, err);
	if (!heap_adopt(vm->heap, fresh.object)) {
		value_unref(fresh);
		return vm_out_of_memory(vm, err);
	}
	vm->steps_left -= (int64_t)(object_bytes(fresh.object) / STEP_BYTES); /* checked by run() */
	*out = fresh;
	return true;
}

bool vm_has_module(struct vm *vm, const char *name)
{
	struct vm_host *host = vm_host_here(vm);

	return module_exists(host, name);
}

bool vm_module(struct vm *vm, const char *name, struct value *out, struct err *err)
{
	struct value m;

	if (strncmp(name, "torch._", strlen("torch._")) == 0)
		name = module_real(name);
	for (size_t i = 0; i < vm->modules.len; i++)
		if (strcmp(vm->modules.at[i].module->name, name) == 0) {
			*out = vm->modules.at[i];
			return true;
		}
	name = arena_strdup(&vm->arena, name);
	if (!name)
		return vm_out_of_memory(vm, err);
	if (!vm_keep(vm, value_module(name), &m, err))
		return false;
	if (!VEC_PUSH(&vm->modules, m)) {
		value_unref(m);
		return vm_out_of_memory(vm, err);
	}
	*out = m;
	return true;
}

static void begin(struct vm *vm)
{
	vm->steps_left = vm->limits.steps;
	generators_forget(vm, true);
	value_unref(vm->handled); /* an error may have ended the last run in a handler */
	vm->handled = (struct value){ .kind = VALUE_UNSET };
}

bool vm_run_module(struct vm *vm, struct err *err)
{
	struct value none;
	struct frame *f;

	begin(vm);
	if (vm->files) {
		if (!files_run_entry(vm, err))
			return false;
		heap_collect_if_due(vm->heap);
		return true;
	}
	f = frame_push(vm, &vm->module, NULL, err);
	if (!f)
		return false;
	if (!frame_enter(vm, f, err)) {
		frame_pop(vm);
		return false;
	}
	if (!vm_run(vm, f, &none, err))
		return false;
	value_unref(none);
	heap_collect_if_due(vm->heap);
	return true;
}

bool vm_evaluate(struct vm *vm, const struct vm_expression *e, struct value *out, struct err *err)
{
	struct unit *unit = ARENA_ARRAY(&vm->arena, struct unit, 1);
	int slot = e->with ? vm_global_slot(vm, NULL, e->with) : -1;
	struct value before = { .kind = VALUE_UNSET };
	bool ok;

	if (!unit || (e->with && slot < 0) || !VEC_PUSH(&vm->expressions, unit))
		return vm_out_of_memory(vm, err);
	*unit = (struct unit){ .code = e->program->module, .home = vm->module.home };
	begin(vm);
	if (slot >= 0) {
		before = vm->globals[slot].value;
		vm->globals[slot].value = value_int(e->value);
	}
	ok = vm_run_unit(vm, unit, out, err);
	if (slot >= 0)
		vm->globals[slot].value = before;
	heap_collect_if_due(vm->heap);
	return ok;
}

void vm_unwind(struct vm *vm, struct frame *f)
{
	struct frame *caller = f->up;

	while (vm->frame && vm->frame != caller)
		frame_pop(vm);
}

bool vm_call(struct vm *vm, struct value callee, const struct arguments *args, struct value *out,
	     struct err *err)
{
	bool outermost = vm->frame == NULL;
	bool ok;

	if (outermost)
		begin(vm);
	ok = vm_invoke(vm, callee, args, out, err);
	if (outermost)
		heap_collect_if_due(vm->heap);
	return ok;
}
