/* fusion/session/session.c -- a mode's world, and a call of its entry.
 *
 * A call whose arguments fit an entry of the entry's own function at once does
 * not touch the VM: no frame is pushed, nothing is bound.
 */
#include "fusion/session/session.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/generators.h"
#include "fusion/vm/classes.h"
#include "fusion/capture/frames.h"
#include "fusion/lazy/lazy.h"

/* The function behind the entry: that of a module is its forward. */
static bool find_callee(struct session *s, const char *entry, struct err *err)
{
	if (!vm_global(s->vm, entry, &s->callee))
		return err_set(err, ERR_NAME, "the source defines no %s", entry);
	value_ref(s->callee);
	if (s->callee.kind == VALUE_CLASS) { /* a class of modules: one of them */
		struct value made;

		if (!class_call(s->vm, s->callee.class, NULL, 0, NULL, &made, err))
			return false;
		value_unref(s->callee);
		s->callee = made;
	}
	if (s->callee.kind == VALUE_FUNCTION) {
		s->function = value_ref(s->callee);
		return true;
	}
	if (vm_callable(s->vm, s->callee, &s->function, &s->self))
		return true;
	return err_set(err, ERR_TYPE,
		       "%s is of type %s; the entry of a workload is a function or an nn.Module",
		       entry, value_type_name(s->callee));
}

/* From here on the program's ops wait: the module's own ran at once. */
static bool start_lazy(struct session *s, struct err *err)
{
	if (s->options.mode != FUSION_LAZY)
		return true;
	s->lazy = lazy_create(&(struct lazy_options){ .eager = &s->eager,
						      .vm = s->vm,
						      .report = &s->report,
						      .callee = s->callee,
						      .backend = s->options.backend,
						      .passes_disabled = s->options.passes_disabled,
						      .deny = s->options.deny,
						      .n_deny = s->options.n_deny },
			      err);
	if (s->lazy)
		vm_set_host(s->vm, &s->lazy->host);
	return s->lazy != NULL;
}

/* Whether it cannot tell an error that comes at the end of a call from one that comes in time. */
static bool is_blind(const struct code *code)
{
	for (int i = 0; i < code->n_handlers; i++)
		if (code->handlers[i].kind != HANDLER_CLEANUP)
			return false;
	for (int i = 0; i < code->n_names; i++)
		if (strcmp(code->names[i], "print") == 0)
			return false;
	for (int i = 0; i < code->n_nested; i++)
		if (!is_blind(code->nested[i]))
			return false;
	return true;
}

bool session_init(struct session *s, const struct session_options *options,
		  const struct lang_program *program, const char *entry, struct err *err)
{
	struct vm_limits limits = { .steps = options->steps, .preludes = options->env->preludes };

	s->options = *options;
	s->record.allocator = options->env->allocator;
	s->report.frame = entry;
	s->blind = is_blind(program->module);
	s->callee = s->function = value_none();
	s->self = (struct value){ .kind = VALUE_UNSET };
	buf_init(&s->out, MAX_STDOUT);
	torch_names_init(&s->names);
	s->names.custom = options->env->custom;
	if (options->env->backend_env.random) /* every mode draws the same numbers */
		generators_seed(options->env->backend_env.random, TWISTER_SEED);
	eager_init(&s->eager, options->env, options->passes_disabled, &s->names, &s->out);
	s->eager.shadows = options->shadows;
	s->vm = vm_create(program, &s->eager.host, &limits);
	if (!s->vm) {
		session_finish(s);
		return err_set(err, ERR_MEMORY, "out of memory for a session");
	}
	eager_set_world(&s->eager, &s->vm->world);
	s->vm->world.gpu = options->env->device ? GPU_NAMED : GPU_ABSENT;
	s->vm->world.autocast = autocast_none(options->autocast);
	s->eager.autograd.vm = s->vm;
	s->eager.autograd.recording = options->grad ||
				      autograd_asked(program->module, AUTOGRAD_GRADIENT);
	s->eager.autograd.twice = autograd_asked(program->module, AUTOGRAD_TWICE);
	s->eager.autograd.splits = autograd_asked(program->module, AUTOGRAD_SPLITS);
	if (vm_run_module(s->vm, err) && find_callee(s, entry, err) && start_lazy(s, err)) {
		s->eager.launches = 0; /* what the module ran is no call's */
		if (s->vm->world.gpu == GPU_NAMED)
			s->vm->world.gpu = GPU_DEFAULT;
		if (options->compiled)
			frames_watch(s);
		return true;
	}
	session_finish(s);
	return false;
}

void session_finish(struct session *s)
{
	if (s->report.observer)
		session_observe(s, NULL);
	autocast_finish(&s->eager.autocast);
	autograd_finish(&s->eager.autograd);
	points_finish(&s->points);
	crossing_finish(&s->crossing);
	record_memory_finish(&s->record);
	value_unref(s->callee);
	value_unref(s->function);
	value_unref(s->self);
	vm_destroy(s->vm);
	lazy_destroy(s->lazy);
	eager_finish(&s->eager);
	torch_names_finish(&s->names);
	for (size_t i = 0; i < s->recompiles.len; i++)
		free(s->recompiles.at[i].reason);
	VEC_FREE(&s->recompiles);
	VEC_FREE(&s->graphs);
	session_report_finish(&s->report);
	buf_finish(&s->out);
	memset(s, 0, sizeof(*s));
}

void session_observe(struct session *s, const struct fusion_observer *observer)
{
	s->report.observer = observer;
	s->eager.observer = observer;
	allocator_observe(s->options.env->allocator, observer);
}

/* Through the VM; in compiled modes the frames come back to us (frames.c). */
static bool call_vm(struct session *s, const struct value *args, int n, struct value *out,
		    struct err *err)
{
	bool ok = vm_call(s->vm, s->callee, args, n, NULL, out, err);

	s->report.counts.launches += s->eager.launches;
	s->eager.launches = 0;
	s->ready = NULL;
	s->missed = false;
	return ok;
}

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

/* *replay: it served the last call, and its guards need not all be checked. */
static struct entry *find_entry(struct session *s, const struct function *f,
				const struct value *args, int n, bool *replay)
{
	struct point *p = s->start;
	struct roots roots = roots_of(s, f, args);
	struct entry *e = s->replayed ? replay_find(s, &roots, n) : NULL;

	*replay = e != NULL;
	if (e)
		return e;
	if (!p)
		p = s->start = points_at(&s->points, NULL, f->code, f->code->insts);
	if (!p || p->skip || p->n_entries == 0 || !are_locals(f->code, n) || f->disabled ||
	    f->grad != GRAD_AS_IS) /* its frame sets the mode that guards ask for */
		return NULL;
	return point_find(p, &roots, &s->report.counts.guard_checks);
}

static bool run_entry(struct session *s, struct entry *e, bool replay, const struct function *f,
		      const struct value *args, struct value *out, struct err *err)
{
	struct roots roots = roots_of(s, f, args);
	bool watched = __builtin_expect(s->report.observer && s->report.observer->piece, 0), ok;
	int64_t begin = watched ? clock_ns() : 0;

	if (replay && e->replay.plain)
		ok = replay_run(e, out, s->report.observer, err);
	else
		ok = entry_run(e, &roots, s->vm, out, s->report.observer, err);
	if (watched)
		s->report.observer->piece(s->report.observer->self, e->graph, begin, clock_ns());
	if (e->exec)
		s->report.counts.launches += e->exec->launched;
	if (ok && e->sets_modes)
		capture_set_modes(s, e);
	if (ok && s->options.mode == FUSION_GRAPHS)
		s->unchanged = replay || replay_note(s, e);
	return ok;
}

/* The same call in eager, which raises what the entry found out. */
static bool call_refuted(struct session *s, const struct value *args, int n, struct value *out,
			 struct err *err)
{
	bool ok;

	*err = (struct err){ 0 };
	s->eager_depth++;
	ok = call_vm(s, args, n, out, err);
	s->eager_depth--;
	return ok;
}

static bool call_compiled(struct session *s, const struct value *args, int n, struct value *out,
			  struct err *err)
{
	bool watched = __builtin_expect(s->report.observer && s->report.observer->phase, 0);
	int64_t begin = watched ? clock_ns() : 0;
	const struct function *f = s->function.function;
	struct value with_self[MAX_SELF_ARGS];
	const struct value *all = args;
	struct entry *e;
	bool replay;

	if (s->self.kind != VALUE_UNSET) {
		if (n >= MAX_SELF_ARGS)
			return call_vm(s, args, n, out, err);
		with_self[0] = s->self;
		memcpy(with_self + 1, args, sizeof(*args) * (size_t)n);
		all = with_self;
		n++;
	}
	e = find_entry(s, f, all, n, &replay);
	if (watched)
		s->report.observer->phase(s->report.observer->self, PHASE_GUARDS, begin,
					  clock_ns());
	if (e && entry_returns(e)) {
		if (run_entry(s, e, replay, f, all, out, err))
			return true;
		return entry_refuted(err) &&
		       call_refuted(s, args, s->self.kind != VALUE_UNSET ? n - 1 : n, out, err);
	}
	s->ready = e;
	s->missed = !e && s->start && are_locals(f->code, n) && f->grad == GRAD_AS_IS;
	return call_vm(s, args, s->self.kind != VALUE_UNSET ? n - 1 : n, out, err);
}

bool session_call(struct session *s, const struct value *args, int n, struct value *out,
		  struct err *err)
{
	bool ok;

	s->report.calls++;
	s->unchanged = false;
	s->vm->world.autocast = s->options.autocast;
	crossing_begin(s, args, n);
	if (s->lazy)
		ok = lazy_call(s->lazy, args, n, out, err);
	else
		ok = s->options.compiled ? call_compiled(s, args, n, out, err)
					 : call_vm(s, args, n, out, err);
	if (!ok) /* a part of what failed may have left its result there */
		*out = (struct value){ .kind = VALUE_UNSET };
	s->vm->world.autocast = autocast_none(s->options.autocast);
	autocast_settle(&s->eager.autocast, 0);
	if (!s->unchanged && s->options.env->changes)
		++*s->options.env->changes;
	return ok;
}
