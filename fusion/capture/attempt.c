/* fusion/capture/attempt.c -- runs a piece under the capturing host, again until a capture
 * succeeds.
 *
 * An attempt that fails has taught something: a size is pinned, two are equal,
 * or the piece has to end before some instruction.  The next one starts again,
 * on fresh stand-ins.
 */
#include "fusion/capture/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/refused.h"
#include "fusion/capture/control/control.h"
#include "fusion/capture/decide.h"
#include "fusion/capture/trace/trace.h"
#include "fusion/vm/call_path.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/generator.h"

/* ---- The frames on which a piece is tried.
 *
 * A piece goes on in the innermost of one or more frames, each of which is in
 * a call of the next.  All of them get stand-ins, so that the capture returns into
 * the callers as the program does. */

struct standing {
	struct trace *t;
	const struct frame *real;
	struct frame *f;
	int calls; /* from the real frame in to the innermost */
	bool starts;
};

/* The source of a root: made by the first attempt. */
static int root_source(const struct standing *on, enum source_access access, int index,
		       struct value real)
{
	struct sources *s = on->t->sources;
	struct value none = { .kind = VALUE_UNSET };
	int made;

	for (int i = 0; i < s->n; i++)
		if (source_is_root(&s->at[i], access, on->calls, index))
			return i;
	made = sources_add(s, -1, source_root_access(access, on->calls), index, none, real);
	if (made >= 0)
		s->at[made].frame = on->calls;
	return made;
}

/* A local that is not set is guarded as such: the program may ask. */
static bool shadow_local(const struct standing *on, int index)
{
	struct value real = on->real->locals[index], *place = &on->f->locals[index];
	int source = root_source(on, SOURCE_LOCAL, index, real);
	struct sources *s = on->t->sources;
	const struct frame *f = on->f;
	bool may_be_unset = !on->starts && real.kind != VALUE_UNSET &&
			    local_may_be_unset(f->code, (int)(f->inst - f->code->insts), index);

	if (source < 0 || (real.kind == VALUE_UNSET && !sources_describe(s, source)))
		return false;
	s->at[source].live = real.kind == VALUE_UNSET;
	s->at[source].may_be_unset = may_be_unset;
	*place = real;
	return real.kind == VALUE_UNSET || variables_lazy(on->t, source, place);
}

/* The frame's start: its own cells are new, with parameters in some of them. */
static bool shadow_fresh_cell(const struct standing *on, int index)
{
	struct trace *t = on->t;
	struct value none = { .kind = VALUE_UNSET }, *place = &on->f->cells[index];
	int local = on->f->code->cell_local[index],
	    source = root_source(on, SOURCE_CELL, index, none);
	int from = -1;

	if (local >= 0)
		from = root_source(on, SOURCE_LOCAL, local, on->real->cells[index].cell->content);
	if (source < 0 || (local >= 0 && from < 0) || !sources_describe(t->sources, source))
		return false;
	if (!vm_keep(t->vm, value_cell(none), place, NULL))
		return false;
	if (from >= 0)
		variables_lazy(t, from, &place->cell->content);
	t->sources->at[source].first_child = from;
	return variables_claim(t, source, *place);
}

static bool shadow_cells(const struct standing *on, struct err *err)
{
	const struct code *code = on->f->code;

	for (int i = 0; i < code->n_cells; i++) {
		struct value v;
		int source;

		if (on->starts && i < code->n_own_cells) {
			if (!shadow_fresh_cell(on, i))
				return trace_no_memory(err);
			continue;
		}
		source = root_source(on, SOURCE_CELL, i, on->real->cells[i]);
		if (source < 0)
			return trace_no_memory(err);
		if (!variables_read(on->t, source, &v, err))
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

/* As torch: what a call that ended the last piece gave is looked at when it is stored. */
static bool is_stored(const struct standing *on, int operand)
{
	const struct frame *f = on->real;

	return !on->t->native && f->inst->op == CODE_STORE_FAST && operand == f->top - f->stack - 1;
}

/* Callables, iterators and managers are in use already, and read at once. */
static bool shadow_operands(const struct standing *on, struct err *err)
{
	const struct frame *real = on->real;

	for (int i = 0; i < real->top - real->stack; i++) {
		int source = root_source(on, SOURCE_STACK, i, real->stack[i]);
		struct value v;

		if (source < 0)
			return trace_no_memory(err);
		if ((is_plain(real->stack[i]) && !is_stored(on, i)) ||
		    (on->t->native && real->stack[i].kind == VALUE_ITER)) {
			if (!variables_lazy(on->t, source, on->f->top))
				return trace_no_memory(err);
			on->f->top++;
			continue;
		}
		if (!variables_read(on->t, source, &v, err))
			return false;
		*on->f->top++ = value_ref(v);
	}
	return true;
}

static bool push_shadow_frame(struct trace *t, const struct frame *real, int calls, int number,
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
	f->shadow_of = number;
	call_path_keep(f, real);
	f->inst = real->inst;
	live = live_locals(f->code, (int)(f->inst - f->code->insts), t->graph->arena);
	if (!live)
		return trace_no_memory(err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (live[i] && !(on.starts && real->locals[i].kind == VALUE_UNSET) &&
		    !shadow_local(&on, i))
			return trace_no_memory(err);
	return shadow_cells(&on, err) && shadow_operands(&on, err);
}

/* Outermost first. */
static bool stand_in(struct trace *t, const struct entry_source *from, const struct frame *real,
		     int calls, int *number, struct err *err)
{
	return (real == from->base || stand_in(t, from, real->up, calls + 1, number, err)) &&
	       push_shadow_frame(t, real, calls, ++*number, err);
}

/* pushes the frames on which the piece is tried. */
static bool push_shadow_frames(struct trace *t, const struct entry_source *from, struct err *err)
{
	int number = 0;

	return stand_in(t, from, from->frame, 0, &number, err);
}

/* Each attempt pins or merges something, or moves the end: their number is
 * bounded; this is for an engine that errs. */
enum { MAX_ATTEMPTS = 1000 };

/* The frame of the call that number `n` stands for. */
static struct frame *real_frame(const struct attempt *a, const struct entry_source *from, int n)
{
	struct frame *f = from->frame;

	for (int i = a->n_frames; i > n; i--)
		f = f->up;
	return f;
}

/* Before an instruction of frame n of the call. */
static struct vm_place place_in(const struct attempt *a, const struct entry_source *from, int n,
				const struct lang_inst *inst)
{
	struct vm_place place = { .n = n };

	place.at[n - 1] = inst;
	for (int i = 1; i < n; i++)
		place.at[i - 1] = real_frame(a, from, i)->inst;
	return place;
}

static void set_stop(struct attempt *a, const struct vm_place *place)
{
	a->stops[a->n_rounds] = *place;
	a->n_stops = a->n_rounds + 1;
}

/* Natively what follows a break in a loop ends with the round. */
static void stop_at_rounds(struct attempt *a, const struct entry_source *from)
{
	for (int n = a->n_frames; n > 0; n--) {
		const struct frame *f = real_frame(a, from, n);
		int end = decide_round_end(f->code, (int)(f->inst - f->code->insts));

		if (end >= 0 && f->inst > f->code->insts && !f->unit->hidden)
			a->stops[a->n_stops++] = place_in(a, from, n, f->code->insts + end);
	}
	a->n_rounds = a->n_stops;
}

static bool takes_symbol(const struct frame *f)
{
	for (int i = 0; i < f->code->n_locals; i++)
		if (f->locals[i].kind >= VALUE_SYMINT && f->locals[i].kind <= VALUE_SYMFLOAT)
			return true;
	return false;
}

/* Runs a frame whose function torch.no_grad() decorates; an evaluator's answer. */
static bool trace_call_marked(struct trace *t, struct vm *vm, struct frame *f, struct value *out,
			      struct err *err)
{
	bool before = !t->grad_off, stopped;

	if (!trace_mark_grad(t, f->function->grad == GRAD_ON, err))
		return false;
	if (vm_run_until(vm, f, -1, &stopped, out, err))
		return trace_mark_grad(t, before, err);
	if (t->brk.id == BREAK_NONE) /* an exception leaves the function, the graph goes on */
		trace_mark_grad(t, before, NULL);
	return false;
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
	if (!f->function || !f->function->disabled ||
	    (t->native && f->function->disabled != DISABLED_DRAWS &&
	     (f->function->disabled >= DISABLED_SKIP || f->unit->hidden)))
		return true;
	if (f->function->disabled == DISABLED_FOR_SYMBOLS) {
		if (!takes_symbol(f))
			return true;
		trace_break_at(t, BREAK_UNSUPPORTED, "a lookup by a number that is a symbol",
			       f->up);
		return err_set(err, ERR_BREAK, "the graph ends here");
	}
	if (f->function->disabled >= DISABLED_SKIP) {
		char name[64];

		snprintf(name, sizeof(name), "%s%s()",
			 f->function->disabled == DISABLED_DRAWS ? "random." : "", f->code->name);
		trace_break_at(
		    t, f->function->disabled == DISABLED_READS ? BREAK_VALUE_CHECK : BREAK_SKIPPED,
		    name, f->up);
		return err_set(err, ERR_BREAK, "the graph ends here");
	}
	trace_break_at(
	    t, f->function->disabled == DISABLED_ONCE ? BREAK_DISABLED_ONCE : BREAK_DISABLED,
	    f->code->name, f->up);
	return err_set(err, ERR_BREAK, "the graph ends here");
}

/* An operand where the piece found it: torch reads it, but for iterators. */
static bool stays(const struct trace *t, const struct source *s, int calls, int operand)
{
	return source_is_root(s, SOURCE_STACK, calls, operand) &&
	       (t->native || s->value.kind == VALUE_ITER);
}

/* As torch: what a break finds in another place than the piece did is read, and
 * guarded; what stayed where it was, and what the piece returns, is not. */
static bool read_state(struct attempt *a, struct err *err)
{
	struct trace *t = &a->trace;
	int calls;
	struct frame *f = attempt_last(a, &calls);
	const bool *live = live_locals(f->code, (int)(f->inst - f->code->insts), t->graph->arena);

	if (!live)
		return trace_no_memory(err);
	for (int i = 0; i < f->code->n_locals; i++)
		if (live[i] && f->locals[i].kind == VALUE_LAZY &&
		    !source_is_root(&t->sources->at[f->locals[i].i], SOURCE_LOCAL, calls, i) &&
		    !variables_realize(t, &f->locals[i], err))
			return false;
	for (struct value *v = f->stack; v < f->top; v++)
		if (v->kind == VALUE_LAZY &&
		    !stays(t, &t->sources->at[v->i], calls, (int)(v - f->stack)) &&
		    !variables_realize(t, v, err))
			return false;
	return true;
}

/* Up to where it has to end, returns, or fails.  If nothing is computed yet when the
 * innermost frame returns, the piece ends there: what follows has guards on the
 * result alone, not on what led to it. */
static bool run_piece(struct attempt *a, const struct entry_source *from, struct err *err)
{
	struct trace *t = &a->trace;
	int waits = a->n_frames - 1, n = a->n_stops, before = t->n_ops;
	bool may_idle = t->native && !a->never_idle && waits > 0;
	const struct frame *f = may_idle ? real_frame(a, from, waits) : NULL;

	if (f && !f->unit->hidden)
		a->stops[n++] = place_in(a, from, waits, f->inst + 1);
	a->idle = false;
	if (!vm_run_to(from->vm, t->base, (struct vm_places){ a->stops, n }, &a->stopped,
		       &a->result, err))
		return false;
	if (a->stopped && n > a->n_stops && from->vm->frame->shadow_of == waits &&
	    from->vm->frame->inst == f->inst + 1) {
		a->idle = t->n_ops == before && !t->computes_sizes;
		if (!a->idle &&
		    !vm_run_to(from->vm, t->base, (struct vm_places){ a->stops, a->n_stops },
			       &a->stopped, &a->result, err))
			return false;
	}
	if (a->stopped && generators_wait(from->vm))
		return err_set(err, ERR_UNSUPPORTED,
			       "a generator is kept, whose finally block waits");
	return !a->stopped || read_state(a, err);
}

static bool run(struct attempt *a, struct arena *arena, const struct entry_source *from,
		struct err *err)
{
	struct trace *t = &a->trace;
	struct vm_evaluator evaluator = { .self = t, .evaluate = refuse };

	a->has_shadow_frames = false;
	t->base = NULL;
	if (!trace_begin(t, arena, from->vm))
		return trace_no_memory(err);
	vm_set_host(from->vm, &t->host);
	vm_set_evaluator(from->vm, &evaluator);
	t->base = from->base; /* a break before there is a stand-in */
	a->has_shadow_frames = push_shadow_frames(t, from, err);
	return a->has_shadow_frames && trace_marks_begin(t, from->frame, from->base, err) &&
	       run_piece(a, from, err) && trace_marks_end(t, a->stopped, err);
}

static void unwind(struct trace *t, const struct entry_source *from)
{
	if (from->vm->frame != from->frame && t->base && t->base != from->base)
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

/* The place of what runs in eager as a whole: that of its frame f, not one in a
 * function that is called there, which breaks again in a frame of its own. */
static void place_outside(struct trace *t, const struct frame *f)
{
	struct trace_break *brk = &t->brk;
	size_t n = 0;

	for (const struct frame *at = f; at != t->base->up; at = at->up)
		n += !at->unit->hidden;
	if (n == 0)
		n = 1;
	if (brk->stack.len <= n)
		return;
	memmove(brk->stack.at, brk->stack.at + brk->stack.len - n, n * sizeof(*brk->stack.at));
	brk->stack.len = n;
	brk->column = f->inst->column;
	brk->end_column = f->inst->end_column;
}

/* Keeps the first break as what the piece ends at. */
static void keep_break(struct entry_break *brk, struct trace *t, const struct decision *d)
{
	if (d->as_a_whole)
		place_outside(t, d->frame);
	free(brk->at.stack.at);
	brk->at = t->brk;
	brk->outcome = d->outcome;
	brk->because = d->because;
	memset(&t->brk, 0, sizeof(t->brk));
}

enum attempt_verdict { TRY_AGAIN, SUCCEEDED, GIVE_UP_POINT, GIVE_UP_CALL, FAILED };

/* What cannot be captured is after a return to a frame in which the piece
 * began: what is before the return can. */
static bool end_at_return(struct attempt *a, const struct entry_source *from)
{
	struct vm_place place;
	int calls;
	const struct frame *f = attempt_last(a, &calls);

	if (calls == 0 || a->ends_at_return)
		return false;
	place = place_in(a, from, f->shadow_of, real_frame(a, from, f->shadow_of)->inst + 1);
	set_stop(a, &place);
	a->ends_at_return = true;
	a->rest_eager = false;
	return true;
}

/* The piece does not get to the break: the next one does. */
static enum attempt_verdict drop_break(struct entry_break *brk, struct trace *t)
{
	free(brk->at.stack.at);
	memset(brk, 0, sizeof(*brk));
	t->brk.id = BREAK_NONE;
	return TRY_AGAIN;
}

/* An exception led past the last attempt's stop, to the same break: a piece that ends
 * before the try statement gets to its end.  True where there is no such place. */
static bool repeats(const struct attempt *a, struct decision *d)
{
	const struct vm_place *last = &a->stops[a->n_rounds];
	const struct lang_inst **at = &d->place.at[d->place.n - 1], *insts = d->frame->code->insts;
	bool step = d->outcome == OUTCOME_STEP;

	if (a->n_stops == a->n_rounds || last->n != d->place.n ||
	    memcmp(last->at, d->place.at, sizeof(*at) * (size_t)(last->n - 1)) != 0)
		return d->stop < 0;
	if (*at == last->at[last->n - 1] ||
	    (step && a->rest_eager && *at > last->at[last->n - 1])) {
		d->stop = step ? decide_before_try(d->frame->code,
						   (int)(last->at[last->n - 1] - insts))
			       : -1;
		*at = insts + (d->stop < 0 ? 0 : d->stop);
	}
	return d->stop < 0 || *at == last->at[last->n - 1];
}

static enum attempt_verdict after_break(struct attempt *a, const struct entry_source *from,
					struct entry_break *brk)
{
	struct decision d = decide_break(&a->trace, a->most_frames);

	if (repeats(a, &d))
		d.outcome = OUTCOME_SKIP;
	if (d.outcome == OUTCOME_STEP &&
	    d.place.at[d.place.n - 1] <= real_frame(a, from, d.frame->shadow_of)->inst)
		d.outcome = OUTCOME_SKIP;
	if (d.outcome == OUTCOME_SKIP && end_at_return(a, from))
		return drop_break(brk, &a->trace);
	keep_break(brk, &a->trace, &d);
	if (d.outcome == OUTCOME_SKIP)
		return GIVE_UP_POINT;
	set_stop(a, &d.place);
	a->trace.computes_sizes &= a->trace.specialises; /* what is before the stop is met again */
	a->rest_eager = d.outcome == OUTCOME_STEP;
	return TRY_AGAIN;
}

/* An exception that the program raises leaves the frame: torch gives up on the
 * code; a fault of an op it only reports. */
static enum attempt_verdict after_error(struct attempt *a, const struct entry_source *from,
					struct entry_break *brk, const struct err *why)
{
	struct trace *t = &a->trace;
	const struct frame *f = t->vm->frame;
	struct decision d = { .outcome = OUTCOME_SKIP };
	bool raised = f->inst->op == CODE_RAISE || f->inst->op == CODE_RERAISE;
	bool too_large = why->code == ERR_BOUND || why->code == ERR_STEPS;

	if (a->has_shadow_frames && (raised || too_large) && end_at_return(a, from))
		return drop_break(brk, t);
	trace_break_at(t, too_large ? BREAK_TOO_LARGE : BREAK_EXCEPTION, why->message, f);
	keep_break(brk, t, &d);
	return raised || too_large ? GIVE_UP_POINT : GIVE_UP_CALL;
}

static enum attempt_verdict after_failure(struct attempt *a, const struct entry_source *from,
					  struct entry_break *brk, struct err *why)
{
	const struct decision never = { .outcome = OUTCOME_SKIP };
	struct trace *t = &a->trace;

	if (t->restart && t->brk.id == BREAK_NONE)
		return TRY_AGAIN;
	note_unsupported(t, why);
	if (t->brk.id != BREAK_NONE && a->has_shadow_frames && t->brk.depth > 0)
		return after_break(a, from, brk);
	if (t->brk.id != BREAK_NONE) {
		if (t->brk.depth > 0)
			keep_break(brk, t, &never);
		return GIVE_UP_POINT;
	}
	if (why->code == ERR_MEMORY || why->code == ERR_INTERNAL || why->code == ERR_CANCELLED)
		return FAILED;
	return after_error(a, from, brk, why);
}

/* A piece that must end early but computes next to nothing is not worth it. */
static bool is_worth(const struct attempt *a)
{
	return !a->rest_eager || a->trace.n_ops + a->trace.n_number_ops >= 2;
}

/* What only shows at the end of a capture is at the frame's place. */
static enum attempt_verdict give_up(struct entry_break *brk, const struct entry_source *from,
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
		    variables_source(&a->trace, v->method->self) < 0)
			return true;
	return false;
}

/* What a called function holds cannot be kept: the piece ends before its call. */
static bool end_further_out(struct attempt *a, struct entry *e)
{
	int calls, n = a->stops[a->n_stops > 0 ? a->n_stops - 1 : 0].n;

	if (a->idle && !a->never_idle) {
		entry_undescribe(e);
		a->never_idle = true;
		return true;
	}
	if (!a->stopped || a->n_stops == a->n_rounds || n <= attempt_last(a, &calls)->shadow_of)
		return false;
	entry_undescribe(e);
	a->most_frames = n - 1;
	a->n_stops = a->n_rounds;
	return true;
}

static enum attempt_verdict conclude(struct attempt *a, struct entry *e,
				     const struct entry_options *options,
				     const struct entry_source *from, struct entry_break *brk,
				     struct err *err)
{
	struct err why = { 0 };

	if (!is_worth(a)) {
		brk->outcome = OUTCOME_SKIP;
		return GIVE_UP_POINT;
	}
	switch (overlap_find(&a->trace)) {
	case OVERLAP_COVERED:
		return TRY_AGAIN;
	case OVERLAP_UNKNOWN:
		return give_up(brk, from, BREAK_OVERLAP, "");
	default:
		break;
	}
	if (holds_new_method(a))
		return give_up(brk, from, BREAK_UNSUPPORTED,
			       "a method of an object that is made here is called at a break");
	if (entry_describe(e, a, options, &why))
		return SUCCEEDED;
	if (a->trace.restart) {
		entry_undescribe(e);
		return TRY_AGAIN;
	}
	if (why.code != ERR_MEMORY && why.code != ERR_INTERNAL && end_further_out(a, e))
		return drop_break(brk, &a->trace);
	if (why.code != ERR_MEMORY && why.code != ERR_INTERNAL)
		return give_up(brk, from, BREAK_UNSUPPORTED, why.message);
	if (err)
		*err = why;
	return FAILED;
}

static enum attempt_verdict capture(struct attempt *a, struct entry *e,
				    const struct entry_options *options,
				    const struct entry_source *from, struct entry_break *brk,
				    struct err *err)
{
	unsigned char function_modes = from->vm->modes.function_modes;

	for (int left = MAX_ATTEMPTS; left > 0; left--) {
		struct err why = { 0 };
		uint64_t refused = memory_refused_here();
		enum attempt_verdict verdict;

		if (run(a, &e->arena, from, &why))
			verdict = conclude(a, e, options, from, brk, err);
		else
			verdict = after_failure(a, from, brk, &why);
		if (verdict == SUCCEEDED && memory_refused_here() != refused) {
			memory_refused_error(&why, "what was captured");
			verdict = FAILED;
		}
		if (verdict == FAILED && err && err->code == ERR_NONE)
			*err = why;
		unwind(&a->trace, from);
		from->vm->modes.function_modes = function_modes;
		vm_forget_raised(from->vm); /* by an attempt that is given up */
		value_unref(a->result);
		a->result = value_none();
		generators_forget(from->vm, false); /* while what they hold is there */
		if (verdict != TRY_AGAIN)
			return verdict;
	}
	err_set(err, ERR_INTERNAL, "the capture does not settle on its sizes");
	return FAILED;
}

/* As torch: the graph ends where the block begins, so the break is there. */
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

/* As torch: a frame that returns, and has computed nothing, is never compiled again. */
static bool has_no_content(const struct entry *e, const struct trace *t,
			   const struct entry_source *from)
{
	if (t->native || t->told_of_capture || e->graph >= 0 || !entry_returns(e))
		return false;
	for (int i = 0; i < from->frame->code->n_locals; i++) {
		struct value v = from->frame->locals[i];

		if (v.kind == VALUE_CLASS && v.class->is_module)
			return false;
	}
	return true;
}

enum entry_fate attempt_entry(const struct entry_options *options, struct entry *e,
			      const struct entry_source *from, struct entry_break *brk,
			      struct err *err)
{
	struct attempt a = { .trace = { .control = &control_flow, .backward = &backward_in_trace },
			     .most_frames = VM_MAX_PLACE,
			     .result = value_none() };
	int64_t begin = clock_ns();
	enum attempt_verdict verdict;
	bool ok;

	e->graph = -1;
	e->sources =
	    (struct sources){ .arena = &e->arena, .code = from->frame->code, .frame = from->frame };
	for (const struct frame *f = from->frame; f != from->base->up; f = f->up)
		a.n_frames++;
	trace_init(&a.trace, options->names, options->operators, &e->sources, from->memory,
		   options->mode);
	a.trace.autograd = options->autograd;
	a.trace.native = a.trace.host.defers_numbers = options->policy == FUSION_NATIVE;
	if (a.trace.native)
		stop_at_rounds(&a, from);
	a.trace.in_round = a.n_rounds > 0 && !options->constants;
	verdict = capture(&a, e, options, from, brk, err);
	trace_finish(&a.trace);
	e->sources.frame = NULL;
	e->capture_ns = clock_ns() - begin;
	if (verdict == GIVE_UP_POINT || (verdict == SUCCEEDED && has_no_content(e, &a.trace, from)))
		return ENTRY_SKIP;
	if (verdict == GIVE_UP_CALL)
		return ENTRY_EAGER;
	if (verdict == FAILED)
		return ENTRY_FAILED;
	brk->ended = !entry_returns(e);
	if (brk->ended && brk->outcome == OUTCOME_STEP && !a.trace.native && a.n_frames == 1)
		place_before(brk, from->frame, (int)(e->frames[0].inst - from->frame->code->insts));
	ok = entry_compile(e, options, err);
	if (ok && !sources_release(&e->sources))
		ok = entry_no_memory(err);
	e->compile_ns = clock_ns() - begin;
	return ok ? ENTRY_MADE : ENTRY_FAILED;
}
