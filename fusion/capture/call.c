/* fusion/capture/call.c -- a call of the entry's function that an entry serves at once.
 *
 * Where the arguments fit an entry of the function's start, and that returns, the virtual
 * machine is not touched: no frame is pushed, nothing is bound.  In mode graphs most guards
 * need not be checked either (struct entry_replay).
 */
#include "fusion/capture/capture.h"

#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/capture/frames.h"
#include "fusion/capture/reconstruction.h"

/* ---- what an entry allows */

static bool has_numbers(const struct entry *e)
{
	for (int i = 0; i < e->n_inputs; i++)
		if (e->numbers[i])
			return true;
	return false;
}

static bool is_plain(const struct entry *e)
{
	const struct reconstruction *r = &e->reconstruction;

	return e->exec && e->exec->record && e->n_outputs == 1 && e->n_writes == 0 &&
	       e->n_asserts == 0 && e->prints.n == 0 && !has_numbers(e) && e->result == 0 &&
	       r->n == 1 && r->steps[0].kind == RECONSTRUCT_OUTPUT && r->steps[0].index == 0 &&
	       !r->steps[0].n && !r->steps[0].leaf && !(e->spent && e->spent[0]);
}

static bool find_inputs(struct entry_replay *r, struct entry *e, int self)
{
	r->inputs = ARENA_ARRAY(&e->arena, int, (size_t)e->n_inputs + 1);
	for (int i = 0; r->inputs && i < e->n_inputs; i++)
		if (e->inputs[i].source >= 0 &&
		    guards_is_of_call(&e->guards, e->inputs[i].source, self))
			r->inputs[r->n_inputs++] = i;
	return r->inputs != NULL;
}

/* Local `self`, where there is one, is the same object in each call. */
static void look(struct entry_replay *r, struct entry *e, int self)
{
	r->ready = true;
	r->possible = !entry_why_guarded(e) &&
		      guards_of_arguments(&e->guards, self, &e->arena, &r->steps, &r->n_steps) &&
		      find_inputs(r, e, self);
	r->plain = r->possible && is_plain(e);
}

/* The entry has served a call whose guards all held: the next one may be a replay.
 * True where running it changes no object of a program. */
static bool replay_note(struct session *s, struct entry *e)
{
	struct entry_replay *r = &e->replay;

	if (!s->options.env->changes)
		return false;
	if (!r->ready)
		look(r, e, s->self.kind != VALUE_UNSET ? 0 : -1);
	if (!r->possible)
		return false;
	r->changes = *s->options.env->changes;
	s->replayed = e;
	return true;
}

/* ---- a call */

/* The entry that serves these arguments, where it served the last call and nothing has
 * changed since; NULL: look for one. */
static struct entry *replay_find(struct session *s, const struct roots *roots, int n)
{
	struct entry *e = s->replayed;

	if (!e || e->replay.changes != *s->options.env->changes ||
	    n != e->sources.code->n_positional ||
	    !guards_hold_among(&e->guards, roots, e->replay.steps, e->replay.n_steps))
		return NULL;
	e->replay.left_out++;
	return e;
}

/* The last result, where only the recording and `kept` refer to it: it can be
 * the next one. */
static struct tensor *last_result(const struct entry_replay *r, const struct exec *exec)
{
	const struct vtensor *v = r->kept.tensor;
	struct tensor *t = exec_recorded_output(exec);

	if (r->kept.kind != VALUE_TENSOR || !t || v->memory != t || t->refs != 2 ||
	    t->storage->refs != 1 || v->head.refs != 1 || v->head.heap || v->grad || v->owner ||
	    v->is_parameter || v->written || v->dynamic_dims)
		return NULL;
	storage_renew(t->storage);
	return t;
}

/* Wraps what was made (the reference is taken), and keeps it if the recording does. */
static bool keep_result(struct entry_replay *r, const struct exec *exec, struct tensor *made,
			struct value *out)
{
	struct value old = r->kept;

	*out = tensor_wrap(made);
	if (out->kind == VALUE_UNSET)
		return false;
	r->kept = (struct value){ .kind = VALUE_UNSET };
	if (exec_recorded_output(exec) == out->tensor->memory)
		r->kept = value_ref(*out);
	if (old.kind == VALUE_TENSOR)
		value_unref(old);
	return true;
}

/* entry_run() of what replay_find() has found, where its replay is `plain`. */
static bool replay_run(struct entry *e, struct value *out, const struct fusion_observer *observer,
		       struct err *err)
{
	struct entry_replay *r = &e->replay;
	struct tensor *into = last_result(r, e->exec), *made;

	e->uses++;
	for (int i = 0; i < r->n_inputs; i++) { /* the others are where they were */
		int input = r->inputs[i];

		e->input_tensors[input] = e->guards.values[e->inputs[input].source].tensor->memory;
	}
	if (!exec_run(e->exec,
		      &(struct exec_call){ .inputs = e->input_tensors,
					   .outputs = &made,
					   .into = into,
					   .observer = observer,
					   .graph = e->graph },
		      err))
		return false;
	if (into) {
		tensor_unref(made);
		*out = value_ref(r->kept);
		return true;
	}
	return keep_result(r, e->exec, made, out) ||
	       err_set(err, ERR_MEMORY, "out of memory for the result");
}

/* ---- a call */

/* Only plain parameters, each with its argument: then arguments are locals. */
static bool are_locals(const struct code *code, int n)
{
	return n == code->n_positional && code->n_keyword_only == 0 && !code->has_varargs &&
	       !code->has_kwargs;
}

static struct roots roots_of(const struct session *s, const struct function *f,
			     const struct value *args)
{
	struct roots roots = { .locals = args, .first_cell = f->code->n_own_cells, .vm = s->vm };

	if (f->closure)
		roots.cells = f->closure->at;
	return roots;
}

/* What serves a call. */
struct found {
	struct entry *entry; /* NULL: none does */
	bool replay;         /* it served the last call, and its guards need not all be checked */
};

static struct found find_entry(struct session *s, const struct function *f,
			       const struct value *args, int n)
{
	struct resume_point *p = s->start;
	struct roots roots = roots_of(s, f, args);
	struct found found = { .entry = s->replayed ? replay_find(s, &roots, n) : NULL };

	if (__builtin_expect(autograd_hooks_saved(&s->eager.autograd), 0))
		return (struct found){ 0 };
	found.replay = found.entry != NULL;
	if (found.replay)
		return found;
	if (!p)
		p = s->start = resume_point_at(&s->resume_points, NULL, f->code, f->code->insts);
	if (!p || p->skip || p->n_entries == 0 || !are_locals(f->code, n) || f->disabled ||
	    f->grad != GRAD_AS_IS) /* its frame sets the mode that guards ask for */
		return found;
	found.entry = resume_point_find(p, &roots, &s->report.counts.guard_checks);
	return found;
}

static bool run_entry(struct session *s, struct found found, const struct function *f,
		      const struct value *args, struct value *out, struct err *err)
{
	struct entry *e = found.entry;
	struct roots roots = roots_of(s, f, args);
	bool watched = __builtin_expect(s->report.observer && s->report.observer->piece, 0), ok;
	int64_t begin = watched ? clock_ns() : 0;

	if (found.replay && e->replay.plain)
		ok = replay_run(e, out, s->report.observer, err);
	else
		ok = entry_run(e, &roots, s->vm, out, s->report.observer, err);
	if (watched)
		s->report.observer->piece(s->report.observer->self, e->graph, begin, clock_ns());
	if (e->exec)
		s->report.counts.launches += e->exec->launched;
	if (ok && e->sets_modes)
		entry_set_modes(e, s->vm, &s->eager.autocast);
	if (ok && s->options.mode == FUSION_GRAPHS)
		s->unchanged = found.replay || replay_note(s, e);
	return ok;
}

/* The same call in eager, which raises what the entry found out. */
static bool call_refuted(struct session *s, const struct value *args, int n, struct value *out,
			 struct err *err)
{
	bool ok;

	*err = (struct err){ 0 };
	s->eager_depth++;
	ok = frames_call(s, &(struct arguments){ args, n, NULL }, (struct frames_found){ 0 }, out,
			 err);
	s->eager_depth--;
	return ok;
}

enum { NUMBERS_DEPTH = 16 };

/* A number of the prelude's numpy that a piece left for the next one, and eager code returned. */
static void leave_as_numbers(struct value *v, int depth)
{
	bool sequence = v->kind == VALUE_TUPLE || v->kind == VALUE_LIST;
	struct value *items = sequence                ? v->list->at
			      : v->kind == VALUE_DICT ? v->dict->values
						      : NULL;
	int n = sequence ? v->list->len : v->kind == VALUE_DICT ? v->dict->len : 0;
	struct value number;

	for (int i = 0; i < n && depth < NUMBERS_DEPTH; i++)
		leave_as_numbers(&items[i], depth + 1);
	if (!value_is_array_number(*v) || !v->instance->attributes)
		return;
	number = reconstruction_number(*v);
	if (number.kind == VALUE_UNSET)
		return;
	value_unref(*v);
	*v = number;
}

/* The call that the caller sees the result of. */
static bool whole_call(struct session *s, const struct arguments *args, struct frames_found found,
		       struct value *out, struct err *err)
{
	if (!frames_call(s, args, found, out, err))
		return false;
	leave_as_numbers(out, 0);
	return true;
}

bool capture_call(struct session *s, const struct value *args, int n, struct value *out,
		  struct err *err)
{
	bool watched = __builtin_expect(s->report.observer && s->report.observer->phase, 0);
	int64_t begin = watched ? clock_ns() : 0;
	const struct function *f = s->function.function;
	struct value with_self[MAX_SELF_ARGS];
	const struct value *all = args;
	struct frames_found first;
	struct found found;
	struct entry *e;

	if (s->self.kind != VALUE_UNSET) {
		if (n >= MAX_SELF_ARGS)
			return whole_call(s, &(struct arguments){ args, n, NULL },
					  (struct frames_found){ 0 }, out, err);
		with_self[0] = s->self;
		memcpy(with_self + 1, args, sizeof(*args) * (size_t)n);
		all = with_self;
		n++;
	}
	found = find_entry(s, f, all, n);
	e = found.entry;
	if (watched)
		s->report.observer->phase(s->report.observer->self, PHASE_GUARDS, begin,
					  clock_ns());
	if (e && entry_returns(e)) {
		if (run_entry(s, found, f, all, out, err))
			return true;
		return entry_refuted(err) &&
		       call_refuted(s, args, s->self.kind != VALUE_UNSET ? n - 1 : n, out, err);
	}
	first.entry = e;
	first.none = !e && s->start && are_locals(f->code, n) && f->grad == GRAD_AS_IS;
	return whole_call(
	    s, &(struct arguments){ args, s->self.kind != VALUE_UNSET ? n - 1 : n, NULL }, first,
	    out, err);
}

bool capture_call_named(struct session *s, const struct arguments *args, struct value *out,
			struct err *err)
{
	return whole_call(s, args, (struct frames_found){ 0 }, out, err);
}

/* ---- would a call find an entry?  Nothing is run. */

enum { MOST_ARGS = 256 };

/* The first guard that does not hold, of the entry used last.  After an entry that
 * ends at a break others follow, for values that are not there yet. */
static enum capture_found first_failure(struct resume_point *p, const struct roots *roots,
					struct buf *why)
{
	for (int i = 0; i < p->n_entries; i++) {
		struct guards *g = &p->entries[i]->guards;
		int failed = guards_check(g, roots);

		if (failed >= g->n)
			return entry_returns(p->entries[i]) ? CAPTURE_FOUND : CAPTURE_UNKNOWN;
		if (i == 0)
			guards_reason(g, failed, roots, why);
	}
	return CAPTURE_MISSED;
}

enum capture_found capture_probe(struct session *s, const struct value *args, int n,
				 struct buf *why)
{
	const struct function *f = s->function.kind == VALUE_FUNCTION ? s->function.function : NULL;
	int self = s->self.kind != VALUE_UNSET;
	struct value all[MOST_ARGS];
	struct roots roots = { .locals = all, .vm = s->vm };

	if (!f || !s->start || s->start->skip || s->start->n_entries == 0 || n + self > MOST_ARGS ||
	    n + self != f->code->n_positional || f->code->has_varargs || f->code->has_kwargs ||
	    f->code->n_keyword_only > 0)
		return CAPTURE_UNKNOWN;
	if (self)
		all[0] = s->self;
	memcpy(all + self, args, sizeof(*args) * (size_t)n);
	roots.first_cell = f->code->n_own_cells;
	if (f->closure)
		roots.cells = f->closure->at;
	return first_failure(s->start, &roots, why);
}
