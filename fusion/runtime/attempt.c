/* fusion/runtime/attempt.c -- runs a piece under the capturing host, until it stands.
 *
 * An attempt that fails has taught something: a size is pinned, two are equal,
 * or the piece has to end before some instruction.  The next one starts anew,
 * on fresh stand-ins.
 */
#include "fusion/runtime/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/runtime/decide.h"
#include "fusion/runtime/live.h"

/* Each attempt pins or merges something, or moves the end: their number is
 * bounded; this is for an engine that errs. */
enum { MAX_ATTEMPTS = 1000 };

static bool own_cell(const struct frame *f, int cell)
{
	return cell < f->code->n_own_cells;
}

/* The slot of a root: made by the first attempt. */
static int root_slot(struct trace *t, enum slot_access access, int index, struct value real)
{
	const struct slots *s = t->slots;
	struct value none = { .kind = VALUE_UNSET };

	for (int i = 0; i < s->n; i++)
		if (s->at[i].access == access && s->at[i].index == index && s->at[i].parent < 0)
			return i;
	return slots_add(t->slots, -1, access, index, none, real);
}

/* A local that is not set is guarded as such: the program may ask. */
static bool stand_local(struct trace *t, struct value *place, int index, struct value real)
{
	int slot = root_slot(t, SLOT_LOCAL, index, real);

	if (slot < 0 || (real.kind == VALUE_UNSET && !slots_describe(t->slots, slot)))
		return false;
	t->slots->at[slot].live = real.kind == VALUE_UNSET;
	*place = real;
	return real.kind == VALUE_UNSET || world_lazy(t, slot, place);
}

/* The frame's start: its own cells are new, with parameters in some of them. */
static bool stand_fresh_cell(struct trace *t, const struct frame *real, int index,
			     struct value *place)
{
	struct value none = { .kind = VALUE_UNSET };
	int local = real->code->cell_local[index], slot = root_slot(t, SLOT_CELL, index, none);
	int from = -1;

	if (local >= 0)
		from = root_slot(t, SLOT_LOCAL, local, real->cells[index].cell->content);
	if (slot < 0 || (local >= 0 && from < 0) || !slots_describe(t->slots, slot))
		return false;
	if (!vm_keep(t->vm, value_cell(none), place, NULL))
		return false;
	if (from >= 0)
		world_lazy(t, from, &place->cell->content);
	t->slots->at[slot].first_child = from;
	return world_claim(t, slot, *place);
}

static bool stand_cells(struct trace *t, const struct frame *real, struct frame *f, bool starts,
			struct err *err)
{
	for (int i = 0; i < f->code->n_cells; i++) {
		struct value v;
		int slot;

		if (starts && own_cell(f, i)) {
			if (!stand_fresh_cell(t, real, i, &f->cells[i]))
				return trace_no_memory(err);
			continue;
		}
		slot = root_slot(t, SLOT_CELL, i, real->cells[i]);
		if (slot < 0)
			return trace_no_memory(err);
		if (!world_read(t, slot, &v, err))
			return false;
		f->cells[i] = value_ref(v);
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
static bool stand_operands(struct trace *t, const struct frame *real, struct frame *f,
			   struct err *err)
{
	for (int i = 0; i < real->top - real->stack; i++) {
		int slot = root_slot(t, SLOT_STACK, i, real->stack[i]);
		struct value v;

		if (slot < 0)
			return trace_no_memory(err);
		if (is_plain(real->stack[i]) || (t->native && real->stack[i].kind == VALUE_ITER)) {
			if (!world_lazy(t, slot, f->top))
				return trace_no_memory(err);
			f->top++;
			continue;
		}
		if (!world_read(t, slot, &v, err))
			return false;
		*f->top++ = value_ref(v);
	}
	return true;
}

/* The frame on which the piece is tried. */
static bool stand_frame(struct trace *t, const struct frame *real, struct err *err)
{
	struct frame *f = frame_push(t->vm, real->unit, real->function, err);
	bool starts = real->inst == real->code->insts;
	const bool *live;

	if (!f)
		return false;
	t->base = f;
	f->inst = real->inst;
	live = live_locals(f->code, (int)(f->inst - f->code->insts), t->graph->arena);
	if (!live)
		return trace_no_memory(err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (live[i] && !(starts && real->locals[i].kind == VALUE_UNSET) &&
		    !stand_local(t, &f->locals[i], i, real->locals[i]))
			return trace_no_memory(err);
	return stand_cells(t, real, f, starts, err) && stand_operands(t, real, f, err);
}

/* Functions that must run in eager end the graph before their call; those that
 * torch.no_grad() decorates have their marks. */
static bool refuse(void *self, struct vm *vm, struct frame *f, bool *done, struct value *out,
		   struct err *err)
{
	struct trace *t = self;

	*done = f->function && f->function->grad != GRAD_AS_IS && !f->function->disabled;
	if (*done)
		return trace_call_marked(t, vm, f, out, err);
	if (!f->function || !f->function->disabled)
		return true;
	trace_break_at(
	    t, f->function->disabled == DISABLED_ONCE ? BREAK_DISABLED_ONCE : BREAK_DISABLED,
	    f->code->name, f->up);
	return err_set(err, ERR_BREAK, "the graph ends here");
}

static bool is_own_local(const struct trace *t, struct value lazy, int local)
{
	const struct slot *s = &t->slots->at[lazy.i];

	return s->access == SLOT_LOCAL && s->index == local && s->parent < 0;
}

/* The iterator of a loop that the piece does not go round. */
static bool stays(const struct trace *t, struct value lazy, int operand)
{
	const struct slot *s = &t->slots->at[lazy.i];

	return s->access == SLOT_STACK && s->index == operand && s->parent < 0 &&
	       s->value.kind == VALUE_ITER;
}

/* As torch: what a break finds in another place than the piece did is read, and
 * guarded; what stayed where it was, and what the piece returns, is not. */
static bool read_state(struct trace *t, int stop, struct err *err)
{
	struct frame *f = t->base;
	const bool *live = live_locals(f->code, stop, t->graph->arena);

	if (!live)
		return trace_no_memory(err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (live[i] && f->locals[i].kind == VALUE_LAZY &&
		    !is_own_local(t, f->locals[i], i) && !world_force(t, &f->locals[i], err))
			return false;
	for (struct value *v = f->stack; v < f->top; v++)
		if (v->kind == VALUE_LAZY && !stays(t, *v, (int)(v - f->stack)) &&
		    !world_force(t, v, err))
			return false;
	return true;
}

static bool run(struct attempt *a, struct arena *arena, const struct entry_source *from,
		struct err *err)
{
	struct trace *t = &a->trace;
	struct vm_evaluator evaluator = { .self = t, .evaluate = refuse };

	t->base = NULL;
	if (!trace_begin(t, arena, from->vm))
		return trace_no_memory(err);
	vm_set_host(from->vm, &t->host);
	vm_set_evaluator(from->vm, &evaluator);
	t->base = from->frame; /* a break before there is a stand-in */
	if (!stand_frame(t, from->frame, err))
		return false;
	return trace_marks_begin(t, from->frame, err) &&
	       vm_run_until(from->vm, t->base, a->stop, &a->stopped, &a->result, err) &&
	       (!a->stopped || read_state(t, a->stop, err)) && trace_marks_end(t, err);
}

static void unwind(struct trace *t, const struct entry_source *from)
{
	if (from->vm->frame != from->frame && t->base && t->base != from->frame)
		vm_unwind(from->vm, t->base);
}

/* What capture has no way to do, although eager may. */
static void note_unsupported(struct trace *t, const struct err *why)
{
	if (t->brk.id != BREAK_NONE || (why->code != ERR_UNSUPPORTED && why->code != ERR_BREAK))
		return;
	trace_break_at(t, BREAK_UNSUPPORTED, NULL, t->vm->frame);
	snprintf(t->brk.message, sizeof(t->brk.message), "%s", why->message);
}

/* The place of what runs in eager as a whole: the frame's own, not one in a
 * function that is called there, which breaks again in a frame of its own. */
static void place_outside(struct trace_break *brk, const struct frame *base)
{
	const struct lang_inst *inst = &base->code->insts[brk->inst];

	if (brk->stack.len > 1) {
		brk->stack.at[0] = brk->stack.at[brk->stack.len - 1];
		brk->stack.len = 1;
		brk->column = inst->column;
		brk->end_column = inst->end_column;
	}
}

/* Keeps the first break as what the piece ends at. */
static void keep_break(struct entry_break *brk, struct trace *t, const struct decision *d)
{
	if (d->as_a_whole)
		place_outside(&t->brk, t->base);
	free(brk->at.stack.at);
	brk->at = t->brk;
	brk->outcome = d->outcome;
	brk->because = d->because;
	memset(&t->brk, 0, sizeof(t->brk));
}

enum verdict { TRY_AGAIN, STANDS, GIVE_UP_POINT, GIVE_UP_CALL, FAILED };

static enum verdict after_break(struct attempt *a, const struct entry_source *from,
				struct entry_break *brk)
{
	struct decision d = decide_break(&a->trace);
	int begin = (int)(from->frame->inst - from->frame->code->insts);

	if (d.stop == a->stop || (d.outcome == OUTCOME_STEP && d.stop > a->stop && a->rest_eager))
		d.stop = d.outcome == OUTCOME_STEP ? decide_before_try(from->frame->code, a->stop)
						   : -1;
	if (d.stop < 0 || d.stop == a->stop)
		d.outcome = OUTCOME_SKIP;
	if (d.outcome == OUTCOME_STEP && d.stop <= begin)
		d.outcome = OUTCOME_SKIP;
	keep_break(brk, &a->trace, &d);
	if (d.outcome == OUTCOME_SKIP)
		return GIVE_UP_POINT;
	a->stop = d.stop;
	a->rest_eager = d.outcome == OUTCOME_STEP;
	return TRY_AGAIN;
}

/* An exception that the program raises leaves the frame: torch gives up on the
 * code; a fault of an op it only reports. */
static enum verdict after_error(struct attempt *a, struct entry_break *brk, const struct err *why)
{
	struct trace *t = &a->trace;
	const struct frame *f = t->vm->frame;
	struct decision d = { .outcome = OUTCOME_SKIP };
	bool raised = f->inst->op == CODE_RAISE || f->inst->op == CODE_RERAISE;

	bool too_large = why->code == ERR_BOUND || why->code == ERR_STEPS;

	trace_break_at(t, too_large ? BREAK_TOO_LARGE : BREAK_EXCEPTION, why->message, f);
	keep_break(brk, t, &d);
	return raised || too_large ? GIVE_UP_POINT : GIVE_UP_CALL;
}

static enum verdict after_failure(struct attempt *a, const struct entry_source *from,
				  struct entry_break *brk, struct err *why)
{
	struct trace *t = &a->trace;

	if (t->restart && t->brk.id == BREAK_NONE)
		return TRY_AGAIN;
	note_unsupported(t, why);
	if (t->brk.id != BREAK_NONE)
		return t->brk.inst < 0 ? GIVE_UP_POINT : after_break(a, from, brk);
	if (why->code == ERR_MEMORY || why->code == ERR_INTERNAL || why->code == ERR_CANCELLED)
		return FAILED;
	return after_error(a, brk, why);
}

/* Two tensors that overlap without being the same: what one write means for the
 * other is beyond a functional graph. */
static bool overlaps(const struct trace *t)
{
	const struct slots *s = t->slots;

	for (int i = 0; i < s->n; i++) {
		if (s->at[i].kind != VALUE_TENSOR || !s->at[i].live || !s->at[i].written)
			continue;
		for (int j = 0; j < s->n; j++)
			if (j != i && s->at[j].live && s->at[j].kind == VALUE_TENSOR &&
			    s->at[j].same_as != i && s->at[i].same_as != j &&
			    s->at[j].value.tensor->memory->storage ==
				s->at[i].value.tensor->memory->storage)
				return true;
	}
	return false;
}

/* A piece that must end early but computes next to nothing is not worth it. */
static bool is_worth(const struct attempt *a)
{
	return !a->rest_eager || a->trace.n_ops >= 2;
}

/* What only shows at the end of a capture stands at the frame's place. */
static enum verdict give_up(struct entry_break *brk, const struct entry_source *from,
			    enum break_id id, const char *message)
{
	const struct frame *f = from->frame;
	struct fusion_line line = { .line = f->inst->line, .function = f->code->name };

	if (brk->at.id == BREAK_NONE) {
		brk->at.id = id;
		snprintf(brk->at.message, sizeof(brk->at.message), "%s", message);
		VEC_PUSH(&brk->at.stack, line);
	}
	brk->outcome = OUTCOME_SKIP;
	return GIVE_UP_POINT;
}

/* As torch: a method of an object that the piece made cannot wait on the stack. */
static bool holds_new_method(const struct attempt *a)
{
	const struct frame *f = a->trace.base;

	for (struct value *v = f->stack; a->stopped && !a->trace.native && v < f->top; v++)
		if (v->kind == VALUE_METHOD && v->method->self.kind == VALUE_INSTANCE &&
		    !v->method->self.instance->class->hidden &&
		    world_slot(&a->trace, v->method->self) < 0)
			return true;
	return false;
}

static enum verdict conclude(struct attempt *a, struct entry *e,
			     const struct entry_options *options, const struct entry_source *from,
			     struct entry_break *brk, struct err *err)
{
	struct err why = { 0 };

	if (!is_worth(a)) {
		brk->outcome = OUTCOME_SKIP;
		return GIVE_UP_POINT;
	}
	if (overlaps(&a->trace))
		return give_up(brk, from, BREAK_OVERLAP, "");
	if (holds_new_method(a))
		return give_up(brk, from, BREAK_UNSUPPORTED,
			       "a method of an object that is made here is called at a break");
	if (entry_describe(e, a, options, &why))
		return STANDS;
	if (why.code != ERR_MEMORY && why.code != ERR_INTERNAL)
		return give_up(brk, from, BREAK_UNSUPPORTED, why.message);
	if (err)
		*err = why;
	return FAILED;
}

static enum verdict capture(struct attempt *a, struct entry *e, const struct entry_options *options,
			    const struct entry_source *from, struct entry_break *brk,
			    struct err *err)
{
	for (int left = MAX_ATTEMPTS; left > 0; left--) {
		struct err why = { 0 };
		enum verdict verdict;

		if (run(a, &e->arena, from, &why))
			verdict = conclude(a, e, options, from, brk, err);
		else
			verdict = after_failure(a, from, brk, &why);
		if (verdict == FAILED && err && err->code == ERR_NONE)
			*err = why;
		unwind(&a->trace, from);
		value_unref(a->result);
		a->result = value_none();
		if (verdict != TRY_AGAIN)
			return verdict;
	}
	err_set(err, ERR_INTERNAL, "the capture does not settle on its sizes");
	return FAILED;
}

/* As torch: the graph ends where the block begins, so the break stands there. */
static void place_before(struct entry_break *brk, const struct frame *f, int stop)
{
	const struct lang_inst *inst = &f->code->insts[stop];
	struct fusion_line line = { .line = inst->line, .function = f->code->name };

	if (brk->at.stack.len == 0)
		return;
	brk->cause = (struct break_cause){ .at = brk->at.stack.at[0],
					   .column = brk->at.column,
					   .end_column = brk->at.end_column };
	brk->at.column = inst->column;
	brk->at.end_column = inst->end_column;
	for (int i = 0; i < f->code->n_handlers; i++) { /* the outermost is last */
		const struct lang_handler *h = &f->code->handlers[i];

		if (h->start == stop && h->line > 0) {
			line.line = h->line;
			brk->at.column = h->column;
			brk->at.end_column = h->column + (int)strlen("try");
		}
	}
	brk->at.stack.at[0] = line;
	brk->at.stack.len = 1;
}

enum entry_fate entry_create(const struct entry_options *options, struct entry *e,
			     const struct entry_source *from, struct entry_break *brk,
			     struct err *err)
{
	struct attempt a = { .stop = -1, .result = value_none() };
	int64_t begin = clock_ns();
	enum verdict verdict;
	bool ok;

	e->graph = -1;
	e->slots = (struct slots){ .arena = &e->arena, .code = from->frame->code };
	trace_init(&a.trace, options->names, options->operators, &e->slots, from->memory,
		   options->mode);
	a.trace.native = a.trace.host.is_late = options->policy == FUSION_NATIVE;
	if (a.trace.native && from->frame->inst > from->frame->code->insts)
		a.stop = decide_round_end(from->frame->code,
					  (int)(from->frame->inst - from->frame->code->insts));
	a.trace.in_round = a.stop >= 0 && !options->constants;
	verdict = capture(&a, e, options, from, brk, err);
	trace_finish(&a.trace);
	e->capture_ns = clock_ns() - begin;
	if (verdict == GIVE_UP_POINT)
		return ENTRY_SKIP;
	if (verdict == GIVE_UP_CALL)
		return ENTRY_EAGER;
	if (verdict == FAILED)
		return ENTRY_FAILED;
	brk->ended = e->stop >= 0;
	if (brk->ended && brk->outcome == OUTCOME_STEP && !a.trace.native)
		place_before(brk, from->frame, e->stop);
	ok = entry_compile(e, options, err);
	if (ok && !slots_release(&e->slots))
		ok = entry_no_memory(err);
	e->compile_ns = clock_ns() - begin;
	return ok ? ENTRY_MADE : ENTRY_FAILED;
}
