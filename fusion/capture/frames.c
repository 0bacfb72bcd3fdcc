/* fusion/capture/frames.c -- runs a frame: pieces, and what stands between them. */
#include "fusion/capture/frames.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/capture/decide.h"

bool call_roots_init(struct call_roots *r, const struct frame *f, const struct vm *vm)
{
	const struct code *code = f->code;
	int n = code->n_locals;

	r->roots = (struct roots){
		.locals = f->locals, .cells = f->cells, .stack = f->stack, .frame = f, .vm = vm
	};
	r->values = r->few;
	if (f->inst != code->insts || code->n_own_cells == 0)
		return true;
	/* at the start a parameter is a local, wherever it is kept */
	if (n > (int)(sizeof(r->few) / sizeof(r->few[0])))
		r->values = malloc(sizeof(struct value) * (size_t)n);
	if (!r->values)
		return false;
	memcpy(r->values, f->locals, sizeof(struct value) * (size_t)n);
	for (int i = 0; i < code->n_own_cells; i++)
		if (code->cell_local[i] >= 0)
			r->values[code->cell_local[i]] = f->cells[i].cell->content;
	r->roots.locals = r->values;
	return true;
}

void call_roots_finish(struct call_roots *r)
{
	if (r->values != r->few)
		free(r->values);
}

void capture_set_modes(struct session *s, const struct entry *e)
{
	struct world *world = &s->vm->world;

	/* the outermost block ends, or begins, where eager does not see it */
	if (world->autocast < AUTOCAST_BLOCK)
		autocast_forget(&s->eager.autocast);
	world->grad_off = e->grad_off_after;
	world->autocast = e->autocast_after;
	autocast_settle(&s->eager.autocast, world->autocast);
}

static struct entry *find_entry(struct session *s, struct point *p, const struct roots *roots)
{
	bool watched = __builtin_expect(s->report.observer && s->report.observer->phase, 0);
	int64_t begin = watched ? clock_ns() : 0;
	struct entry *e = point_find(p, roots, &s->report.counts.guard_checks);

	if (watched)
		s->report.observer->phase(s->report.observer->self, PHASE_GUARDS, begin,
					  clock_ns());
	return e;
}

/* An entry that fits, or a new one; NULL: eager goes on (*fate), or an error. */
static struct entry *entry_for(struct session *s, struct point *p, struct frame *base,
			       const struct roots *roots, enum entry_fate *fate, struct err *err)
{
	struct entry *e = s->ready;
	bool missed = s->missed && p == s->start;

	s->ready = NULL;
	s->missed = false;
	if (!e && !missed)
		e = find_entry(s, p, roots);
	if (e)
		return e;
	e = session_compile(s, p, base, roots, fate, err);
	if (e && !guards_hold(&e->guards, roots)) { /* gathers values */
		*fate = ENTRY_FAILED;
		err_set(err, ERR_INTERNAL, "the guards of a new entry do not hold: %s",
			e->guards.texts[guards_check(&e->guards, roots)]);
		return NULL;
	}
	return e;
}

/* The piece that begins at point p, where the frames from `base` on stand.  *ran
 * false: eager goes on. */
static bool run_piece(struct session *s, struct point *p, struct frame *base, bool *ran,
		      struct entry **entry, struct value *out, struct err *err)
{
	enum entry_fate fate = ENTRY_SKIP;
	struct call_roots roots;
	bool ok = true;

	*ran = false;
	if (!p || !call_roots_init(&roots, s->vm->frame, s->vm))
		return err_set(err, ERR_MEMORY, "out of memory for a call");
	*entry = p->skip ? NULL : entry_for(s, p, base, &roots.roots, &fate, err);
	if (*entry) {
		bool watched = __builtin_expect(s->report.observer && s->report.observer->piece, 0);
		int64_t begin;

		crossing_enter(s, *entry);
		begin = watched ? clock_ns() : 0;
		ok = entry_run(*entry, &roots.roots, s->vm, out, s->report.observer, err);
		*ran = true;
		if (watched)
			s->report.observer->piece(s->report.observer->self, (*entry)->graph, begin,
						  clock_ns());
		if ((*entry)->exec)
			s->report.counts.launches += (*entry)->exec->launched;
		if (!ok && entry_refuted(err)) {
			*err = (struct err){ 0 };
			*ran = false;
			ok = true;
		}
	} else {
		ok = fate != ENTRY_FAILED;
	}
	call_roots_finish(&roots);
	return ok;
}

/* What is left of the frame, without pieces of its own. */
static bool run_rest(struct session *s, struct frame *f, struct value *out, struct err *err)
{
	bool stopped;

	return vm_run_until(s->vm, f, -1, &stopped, out, err);
}

/* What ended a piece, in eager: an instruction, or a whole comprehension. */
static bool run_between(struct session *s, struct frame *f, bool *returned, struct value *out,
			struct err *err)
{
	int end = decide_comprehension_end(f->code, (int)(f->inst - f->code->insts));
	enum vm_step how;
	bool stopped, ok;

	if (end >= 0) {
		ok = vm_run_until(s->vm, f, end, &stopped, out, err);
		*returned = ok && !stopped;
		return ok;
	}
	ok = vm_step(s->vm, f, &how, out, err);
	*returned = ok && how == VM_RETURNED;
	return ok;
}

/* Past the limit of entries the frames below are not compiled either. */
static bool run_frozen(struct session *s, struct frame *f, struct value *out, struct err *err)
{
	bool ok;

	s->frozen++;
	ok = run_rest(s, f, out, err);
	s->frozen--;
	return ok;
}

/* The innermost frame in eager: to its end, or past what ended the piece `e`
 * (NULL: there is none). */
static bool run_unwatched(struct session *s, const struct point *p, const struct entry *e,
			  bool *returned, struct value *out, struct err *err)
{
	struct frame *f = s->vm->frame;

	if (e && !e->rest_eager)
		return run_between(s, f, returned, out, err);
	*returned = true;
	return !e && p && p->run_only ? run_frozen(s, f, out, err) : run_rest(s, f, out, err);
}

static bool run_eager(struct session *s, const struct point *p, const struct entry *e,
		      bool *returned, struct value *out, struct err *err)
{
	int index = e ? e->broke : p ? p->broke : -1;
	bool watched = __builtin_expect(s->report.observer && s->report.observer->broke, 0) &&
		       index >= 0,
	     ok;
	int64_t begin;

	crossing_leave(s, index);
	begin = watched ? clock_ns() : 0;
	ok = run_unwatched(s, p, e, returned, out, err);
	if (watched)
		s->report.observer->broke(s->report.observer->self, index, begin, clock_ns());
	return ok;
}

/* What a frame returned goes to the one that waits for it, and is no result of the call. */
static void return_to(struct frame *f, struct value *v)
{
	*f->top++ = *v;
	v->kind = VALUE_UNSET;
	f->inst++;
}

/* A call of a program's function: `base`, and natively what pieces leave standing
 * in calls from there. */
static bool run_frame(struct session *s, struct frame *base, struct value *out, struct err *err)
{
	struct vm *vm = s->vm;

	for (;;) {
		struct frame *f = vm->frame, *up;
		struct point *p = NULL;
		struct entry *e = NULL;
		bool ran = false, returned = false;

		/* our own classes are captured as entries, else only inlined */
		if (f == base || !f->unit->hidden) {
			p = points_of(&s->points, base, f);
			if (!run_piece(s, p, base, &ran, &e, out, err))
				return false;
		}
		if (!ran || !entry_returns(e)) /* what follows runs in the function's grad mode */
			frame_mark(vm, base);
		if (ran && e->sets_modes)
			capture_set_modes(s, e);
		if (ran && entry_returns(e)) {
			vm_unwind(vm, base);
			return true;
		}
		if (ran && e->at_return)
			continue;
		f = vm->frame;
		up = f->up;
		if (!run_eager(s, p, ran ? e : NULL, &returned, out, err)) {
			if (f == base || !vm_catch(vm, base, err))
				return false;
		} else if (returned && f == base) {
			return true;
		} else if (returned) {
			return_to(up, out);
		}
	}
}

static bool run_disabled(struct session *s, struct frame *f, struct value *out, struct err *err)
{
	bool ok;

	if (f->function->disabled != DISABLED)
		return run_rest(s, f, out, err);
	s->eager_depth++;
	frame_mark(s->vm, f);
	ok = run_rest(s, f, out, err);
	s->eager_depth--;
	return ok;
}

/* Our own classes are captured as entries, else only inlined; but for what torch has as
 * a frame, as the step of an optimiser: its text begins with "A frame". */
static bool is_frame(const struct frame *f)
{
	const char *doc = f->code->doc;

	return !f->unit->hidden || !f->up ||
	       (doc && strncmp(doc, "A frame", strlen("A frame")) == 0);
}

static bool evaluate(void *self, struct vm *vm, struct frame *f, bool *done, struct value *out,
		     struct err *err)
{
	struct session *s = self;

	(void)vm;
	*done = false;
	if (s->eager_depth > 0 || !f->function || !is_frame(f))
		return true;
	*done = true;
	if (f->function->disabled)
		return run_disabled(s, f, out, err);
	return run_frame(s, f, out, err);
}

void frames_watch(struct session *s)
{
	struct vm_evaluator evaluator = { .self = s, .evaluate = evaluate };

	vm_set_evaluator(s->vm, &evaluator);
}
