/* fusion/runtime/loop_round.c -- what a round of a loop left otherwise than it found it.
 *
 * Tensors and numbers are noted, to be carried in the next attempt; all else makes
 * the loop fail.
 */
#include <stdlib.h>

#include "fusion/runtime/fork_loop.h"
#include "fusion/runtime/live.h"
#include "fusion/runtime/prints.h"

static bool is_carried(const struct looper *l, int local)
{
	for (size_t i = 0; i < l->carried.len; i++)
		if ((l->carried.at[i].note.kind == CARRIED_LOCAL ||
		     l->carried.at[i].note.kind == CARRIED_NUMBER) &&
		    l->carried.at[i].note.index == local)
			return true;
	return false;
}

/* Written in place, as the attempt before has seen. */
static bool is_carried_tensor(const struct looper *l, struct value tensor)
{
	for (size_t i = 0; i < l->carried.len; i++)
		if (l->carried.at[i].note.kind >= CARRIED_ROOT &&
		    l->carried.at[i].start.tensor == tensor.tensor)
			return true;
	return false;
}

static bool note_place(struct looper *l, enum carried_kind kind, int index, bool *found,
		       struct err *err)
{
	struct fork_loop *note = fork_loop_note(l->t, l->k.inst);

	if (!note)
		return trace_no_memory(err);
	if (note->n_places == MAX_CARRIED)
		return fork_refuse(&l->k, "over %d values change from round to round", MAX_CARRIED);
	note->places[note->n_places++] = (struct fork_place_note){ kind, index };
	*found = true;
	return true;
}

static bool check_local(struct looper *l, int index, bool *found, struct err *err)
{
	struct trace *t = l->t;
	struct value before = l->k.before.locals[index], now = l->k.frame->locals[index];
	const char *name = l->k.frame->code->locals[index];

	if (is_carried(l, index) || fork_same(t, before, now))
		return true;
	if (before.kind == VALUE_LAZY && !world_read(t, (int)before.i, &before, err))
		return false;
	if (before.kind == VALUE_UNSET)
		return fork_refuse(&l->k, "`%s` is set for the first time inside it", name);
	if (before.kind == VALUE_SYMINT || before.kind == VALUE_SYMBOOL)
		return trace_pin_value(t, before, err);
	if (now.kind == VALUE_SYMINT || now.kind == VALUE_SYMBOOL)
		return trace_pin_value(t, now, err);
	if (late_type(before) != VALUE_UNSET && late_type(before) == late_type(now))
		return note_place(l, CARRIED_NUMBER, index, found, err);
	if (before.kind != VALUE_TENSOR || now.kind != VALUE_TENSOR)
		return fork_refuse(&l->k, "`%s` (%s) changes from round to round", name,
				   value_type_name(before));
	return note_place(l, CARRIED_LOCAL, index, found, err);
}

static bool check_frame(struct looper *l, bool *found, struct err *err)
{
	const struct fork_place *before = &l->k.before;
	const struct frame *f = l->k.frame;
	const bool *live = live_locals(f->code, (int)(l->k.inst - f->code->insts),
				       l->t->graph->arena);

	if (!live)
		return trace_no_memory(err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (live[i] && !check_local(l, i, found, err))
			return false;
	for (int i = 0; i < f->code->n_cells; i++)
		if (!fork_same(l->t, before->cells[i], f->cells[i]))
			return fork_refuse(&l->k, "a round makes a variable of a closure anew");
	if (before->n_stack != f->top - f->stack)
		return fork_refuse(&l->k, "a round leaves another operand stack");
	for (int i = 0; i < before->n_stack; i++)
		if (!fork_same(l->t, before->stack[i], f->stack[i]))
			return fork_refuse(&l->k,
					   "a round changes what waits on the operand stack");
	return true;
}

/* A tensor written in place: an argument, a constant, or one that a local holds. */
static bool note_written(struct looper *l, struct value tensor, bool *found, struct err *err)
{
	int slot = trace_slot(l->t, tensor), lifted = trace_lifted(l->t, tensor);
	const struct frame *f = l->k.frame;

	if (slot >= 0)
		return note_place(l, CARRIED_SLOT, slot, found, err);
	if (lifted >= 0)
		return note_place(l, CARRIED_LIFTED, lifted, found, err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (l->k.before.locals[i].kind == VALUE_TENSOR &&
		    fork_loop_root(l->t, l->k.before.locals[i]).tensor == tensor.tensor)
			return note_place(l, CARRIED_ROOT, i, found, err);
	return fork_refuse(&l->k, "a round writes to a tensor that no local variable holds");
}

static bool check_writes(struct looper *l, bool *found, struct err *err)
{
	struct fork *k = &l->k;

	for (size_t i = 0; i < k->writes.len; i++) {
		struct fork_write before = k->writes.at[i];
		struct fork_write now = fork_write_read(l->t, before.tensor);

		if (now.writes != before.writes && !is_carried_tensor(l, before.tensor) &&
		    !note_written(l, before.tensor, found, err))
			return false;
	}
	return true;
}

static bool check_rest(struct looper *l, struct err *err)
{
	struct fork *k = &l->k;
	struct trace *t = l->t;

	for (size_t i = 0; i < t->globals.len; i++)
		if (!fork_same(t, fork_global_before(k, i), t->globals.at[i].stand))
			return fork_refuse(k, "a round changes a global");
	for (size_t i = 0; i < k->contents.len; i++) {
		struct fork_content now;
		bool same = false, ok = fork_content_read(k->contents.at[i].object, &now);

		if (ok)
			same = fork_content_same(t, &k->contents.at[i], &now);
		fork_content_drop(&now);
		if (!ok)
			return trace_no_memory(err);
		if (!same)
			return fork_refuse(k, "a round changes a %s",
					   value_type_name(k->contents.at[i].object));
	}
	if (t->asserts.len != l->n_asserts)
		return fork_refuse(k, "a round asserts something of a tensor");
	if (t->prints.len != l->n_prints)
		return fork_refuse(k, "a round prints");
	return true;
}

bool loop_round_check(struct looper *l, bool *found, struct err *err)
{
	*found = false;
	return check_frame(l, found, err) && check_writes(l, found, err) && check_rest(l, err);
}
