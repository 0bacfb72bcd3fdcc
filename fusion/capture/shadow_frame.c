/* fusion/capture/shadow_frame.c -- the frames on which a piece is tried.
 *
 * A piece goes on in the innermost of one or more frames, each of which stands in
 * a call of the next.  All of them get stand-ins, so that the capture returns into
 * the callers as the program does.
 */
#include "fusion/vm/call_path.h"
#include "fusion/capture/attempt.h"
#include "fusion/capture/live.h"

struct standing {
	struct trace *t;
	const struct frame *real;
	struct frame *f;
	int calls; /* from the real frame in to the innermost */
	bool starts;
};

/* The slot of a root: made by the first attempt. */
static int root_slot(const struct standing *on, enum slot_access access, int index,
		     struct value real)
{
	struct slots *s = on->t->slots;
	struct value none = { .kind = VALUE_UNSET };
	int made;

	for (int i = 0; i < s->n; i++)
		if (slot_is_root(&s->at[i], access, on->calls, index))
			return i;
	made = slots_add(s, -1, slot_root_access(access, on->calls), index, none, real);
	if (made >= 0)
		s->at[made].frame = on->calls;
	return made;
}

/* A local that is not set is guarded as such: the program may ask. */
static bool stand_local(const struct standing *on, int index)
{
	struct value real = on->real->locals[index], *place = &on->f->locals[index];
	int slot = root_slot(on, SLOT_LOCAL, index, real);
	struct slots *s = on->t->slots;
	const struct frame *f = on->f;
	bool may_be_unset = !on->starts && real.kind != VALUE_UNSET &&
			    local_may_be_unset(f->code, (int)(f->inst - f->code->insts), index);

	if (slot < 0 || (real.kind == VALUE_UNSET && !slots_describe(s, slot)))
		return false;
	s->at[slot].live = real.kind == VALUE_UNSET;
	s->at[slot].may_be_unset = may_be_unset;
	*place = real;
	return real.kind == VALUE_UNSET || world_lazy(on->t, slot, place);
}

/* The frame's start: its own cells are new, with parameters in some of them. */
static bool stand_fresh_cell(const struct standing *on, int index)
{
	struct trace *t = on->t;
	struct value none = { .kind = VALUE_UNSET }, *place = &on->f->cells[index];
	int local = on->f->code->cell_local[index], slot = root_slot(on, SLOT_CELL, index, none);
	int from = -1;

	if (local >= 0)
		from = root_slot(on, SLOT_LOCAL, local, on->real->cells[index].cell->content);
	if (slot < 0 || (local >= 0 && from < 0) || !slots_describe(t->slots, slot))
		return false;
	if (!vm_keep(t->vm, value_cell(none), place, NULL))
		return false;
	if (from >= 0)
		world_lazy(t, from, &place->cell->content);
	t->slots->at[slot].first_child = from;
	return world_claim(t, slot, *place);
}

static bool stand_cells(const struct standing *on, struct err *err)
{
	const struct code *code = on->f->code;

	for (int i = 0; i < code->n_cells; i++) {
		struct value v;
		int slot;

		if (on->starts && i < code->n_own_cells) {
			if (!stand_fresh_cell(on, i))
				return trace_no_memory(err);
			continue;
		}
		slot = root_slot(on, SLOT_CELL, i, on->real->cells[i]);
		if (slot < 0)
			return trace_no_memory(err);
		if (!world_read(on->t, slot, &v, err))
			return false;
		on->f->cells[i] = value_ref(v);
	}
	return true;
}

/* What an operand may be without being read: it may only be passed on. */
static bool is_plain(struct value v)
{
	return v.kind == VALUE_TENSOR || v.kind == VALUE_INT || v.kind == VALUE_FLOAT ||
	       v.kind == VALUE_BOOL || v.kind == VALUE_STR || v.kind == VALUE_NONE;
}

/* Callables, iterators and managers are in use already, and read at once. */
static bool stand_operands(const struct standing *on, struct err *err)
{
	const struct frame *real = on->real;

	for (int i = 0; i < real->top - real->stack; i++) {
		int slot = root_slot(on, SLOT_STACK, i, real->stack[i]);
		struct value v;

		if (slot < 0)
			return trace_no_memory(err);
		if (is_plain(real->stack[i]) ||
		    (on->t->native && real->stack[i].kind == VALUE_ITER)) {
			if (!world_lazy(on->t, slot, on->f->top))
				return trace_no_memory(err);
			on->f->top++;
			continue;
		}
		if (!world_read(on->t, slot, &v, err))
			return false;
		*on->f->top++ = value_ref(v);
	}
	return true;
}

static bool stand_frame(struct trace *t, const struct frame *real, int calls, int number,
			struct err *err)
{
	struct frame *f = frame_push(t->vm, real->unit, real->function, err);
	struct standing on = { .t = t,
			       .real = real,
			       .f = f,
			       .calls = calls,
			       .starts = real->inst == real->code->insts };
	const bool *live;

	if (!f)
		return false;
	if (number == 1) {
		t->base = f;
		t->below = real->up;
	}
	f->stands_for = number;
	call_path_keep(f, real);
	f->inst = real->inst;
	live = live_locals(f->code, (int)(f->inst - f->code->insts), t->graph->arena);
	if (!live)
		return trace_no_memory(err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (live[i] && !(on.starts && real->locals[i].kind == VALUE_UNSET) &&
		    !stand_local(&on, i))
			return trace_no_memory(err);
	return stand_cells(&on, err) && stand_operands(&on, err);
}

/* Outermost first. */
static bool stand(struct trace *t, const struct entry_source *from, const struct frame *real,
		  int calls, int *number, struct err *err)
{
	return (real == from->base || stand(t, from, real->up, calls + 1, number, err)) &&
	       stand_frame(t, real, calls, ++*number, err);
}

bool stand_frames(struct trace *t, const struct entry_source *from, struct err *err)
{
	int number = 0;

	return stand(t, from, from->frame, 0, &number, err);
}
