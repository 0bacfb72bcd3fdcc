/* fusion/vm/frame.c -- frames and their memory.
 *
 * Chunks are kept once made: a loop that calls a function does not call
 * malloc.  A frame with its locals, cells and operands lies within one chunk. */
#include "fusion/vm/frame.h"

#include <stdlib.h>

enum { CHUNK_BYTES = 64 * 1024 };

struct chunk {
	struct chunk *down, *next; /* next: an empty one kept for later */
	size_t size, used;
	_Alignas(16) unsigned char data[];
};

static struct chunk *chunk_new(struct vm *vm, size_t bytes)
{
	size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
	struct chunk *c;

	if (!heap_charge(vm->heap, size))
		return NULL;
	c = malloc(sizeof(*c) + size);
	if (!c) {
		heap_uncharge(vm->heap, size);
		return NULL;
	}
	c->down = vm->chunk;
	c->next = NULL;
	c->size = size;
	c->used = 0;
	return c;
}

static void chunk_free(struct vm *vm, struct chunk *c)
{
	if (!c)
		return;
	heap_uncharge(vm->heap, c->size);
	free(c);
}

static void *stack_take(struct vm *vm, size_t bytes)
{
	struct chunk *c = vm->chunk;
	void *memory;

	if (!c || c->size - c->used < bytes) {
		struct chunk *next = c ? c->next : NULL;

		if (!next || next->size < bytes) {
			struct chunk *fresh = chunk_new(vm, bytes);

			if (!fresh)
				return NULL;
			chunk_free(vm, next);
			if (c)
				c->next = fresh;
			next = fresh;
		}
		vm->chunk = c = next;
	}
	memory = c->data + c->used;
	c->used += bytes;
	return memory;
}

static void stack_give(struct vm *vm, size_t bytes)
{
	struct chunk *c = vm->chunk;

	c->used -= bytes;
	if (c->used > 0 || !c->down)
		return;
	chunk_free(vm, c->next); /* keep one empty chunk, not all */
	c->next = NULL;
	vm->chunk = c->down;
}

void frame_chunks_free(struct vm *vm)
{
	struct chunk *c = vm->chunk, *down;

	if (c)
		chunk_free(vm, c->next);
	for (; c; c = down) {
		down = c->down;
		chunk_free(vm, c);
	}
	vm->chunk = NULL;
}

bool frame_too_deep(const struct vm *vm, const struct code *code, struct err *err)
{
	return err_set(err, ERR_RECURSION,
		       "maximum recursion depth exceeded: %d calls are open and %s() is called "
		       "again; it may call itself without an end",
		       vm->depth, code->name);
}

struct frame *frame_push(struct vm *vm, struct unit *unit, struct function *function,
			 struct err *err)
{
	const struct code *code = unit->code;
	size_t fixed = (size_t)code->n_locals + (size_t)code->n_cells;
	size_t bytes = sizeof(struct frame) +
		       (fixed + (size_t)code->stack_depth) * sizeof(struct value);
	struct frame *f;

	if (vm->depth >= vm->limits.depth) {
		frame_too_deep(vm, code, err);
		return NULL;
	}
	if (__builtin_expect(!unit->ready, 0) && !unit_prepare(vm, unit, err))
		return NULL;
	bytes = (bytes + 15) & ~(size_t)15;
	f = stack_take(vm, bytes);
	if (!f) {
		vm_out_of_memory(vm, err);
		return NULL;
	}
	*f = (struct frame){
		.up = vm->frame,
		.unit = unit,
		.code = code,
		.inst = code->insts,
		.function = function,
		.locals = (struct value *)(f + 1),
		.bytes = bytes,
	};
	if (function)
		function->head.refs++;
	f->cells = f->locals + code->n_locals;
	f->top = f->stack = f->cells + code->n_cells;
	for (size_t i = 0; i < fixed; i++)
		f->locals[i] = (struct value){ .kind = VALUE_UNSET };
	vm->frame = f;
	vm->depth++;
	return f;
}

static bool closure_of(struct vm *vm, struct function *f, struct list **cells, struct err *err)
{
	int n = f->code->n_cells - f->code->n_own_cells;

	*cells = f->closure;
	if (vm->host->closure && !vm->host->closure(vm->host->self, f, cells, err))
		return false;
	return (*cells && (*cells)->len == n) ||
	       err_set(err, ERR_INTERNAL, "the closure of %s does not fit its code", f->code->name);
}

bool frame_enter(struct vm *vm, struct frame *f, struct err *err)
{
	const struct code *code = f->code;
	struct list *closure;

	for (int i = 0; i < code->n_own_cells; i++) {
		int local = code->cell_local[i];
		struct value content = { .kind = VALUE_UNSET };

		if (local >= 0)
			content = f->locals[local];
		if (!vm_keep(vm, value_cell(content), &f->cells[i], err))
			return false;
		if (local >= 0) { /* the cell takes it over */
			f->locals[local] = (struct value){ .kind = VALUE_UNSET };
			value_unref(content);
		}
	}
	if (code->n_own_cells == code->n_cells)
		return true;
	if (!closure_of(vm, f->function, &closure, err))
		return false;
	for (int i = code->n_own_cells; i < code->n_cells; i++)
		f->cells[i] = value_ref(closure->at[i - code->n_own_cells]);
	return true;
}

/* Unlinks the innermost frame and gives its memory back. */
static void leave(struct vm *vm)
{
	struct frame *f = vm->frame;

	vm->frame = f->up;
	vm->depth--;
	if (f->generator) {
		f->generator->frame = NULL;
		free(f);
	} else {
		stack_give(vm, f->bytes);
	}
}

void frame_forget(struct vm *vm)
{
	leave(vm);
}

void frame_pop(struct vm *vm)
{
	struct frame *f = vm->frame;
	struct function *function = f->function;
	struct dict *namespace = f->namespace;
	int fixed = f->code->n_locals + f->code->n_cells;

	if (__builtin_expect(f->marked, 0))
		vm->modes.grad_off = f->grad_before;
	while (f->top > f->stack)
		value_unref(*--f->top);
	for (int i = 0; i < fixed; i++)
		value_unref(f->locals[i]);
	if (f->module)
		value_unref(value_of(f->module));
	leave(vm);
	if (namespace)
		value_unref(value_of(namespace));
	if (function)
		value_unref(value_of(function));
}
