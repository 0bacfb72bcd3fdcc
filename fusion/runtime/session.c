/* fusion/runtime/session.c -- one call: find the entry whose guards hold, or make it.
 *
 * Order of the search is most recently used first, so a steady caller pays for
 * one set of guards.  Past the limit of entries a call that fits none runs in
 * eager, as PyTorch's does.
 */
#include "fusion/runtime/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/runtime/lazy.h"

static bool find_callee(struct session *s, const char *entry, struct err *err)
{
	if (!vm_global(s->vm, entry, &s->callee))
		return err_set(err, ERR_NAME, "the source defines no %s", entry);
	if (s->callee.kind != VALUE_FUNCTION)
		return err_set(err, ERR_TYPE,
			       "%s is of type %s; the entry of a workload is a function", entry,
			       value_type_name(s->callee));
	value_ref(s->callee);
	return true;
}

/* From here on the program's ops wait: the module's own ran at once. */
static bool start_lazy(struct session *s, struct err *err)
{
	if (s->options.mode != FUSION_LAZY)
		return true;
	s->lazy = lazy_create(s, err);
	if (s->lazy)
		vm_set_host(s->vm, &s->lazy->host);
	return s->lazy != NULL;
}

bool session_init(struct session *s, const struct session_options *options,
		  const struct lang_program *program, const char *entry, struct err *err)
{
	struct vm_limits limits = { .steps = options->steps };

	s->options = *options;
	s->frame = entry;
	s->callee = value_none();
	buf_init(&s->out, MAX_STDOUT);
	torch_names_init(&s->names);
	eager_init(&s->eager, options->env, options->passes_disabled, &s->names, &s->out);
	s->entries = calloc((size_t)options->recompile_limit + 1, sizeof(struct entry *));
	s->vm = vm_create(program, &s->eager.host, &limits);
	if (!s->vm || !s->entries) {
		session_finish(s);
		return err_set(err, ERR_MEMORY, "out of memory for a session");
	}
	if (vm_run_module(s->vm, err) && find_callee(s, entry, err) && start_lazy(s, err))
		return true;
	session_finish(s);
	return false;
}

void session_finish(struct session *s)
{
	for (int i = 0; i < s->n_entries; i++)
		entry_destroy(s->entries[i]);
	free(s->entries);
	value_unref(s->callee);
	vm_destroy(s->vm);
	lazy_destroy(s->lazy);
	eager_finish(&s->eager);
	torch_names_finish(&s->names);
	for (size_t i = 0; i < s->recompiles.len; i++)
		free(s->recompiles.at[i].reason);
	VEC_FREE(&s->recompiles);
	VEC_FREE(&s->graphs);
	session_finish_seen(s);
	session_report_finish(&s->report);
	buf_finish(&s->out);
	memset(s, 0, sizeof(*s));
}

void session_observe(struct session *s, const struct fusion_observer *observer)
{
	s->observer = observer;
	s->eager.observer = observer;
}

static bool call_eagerly(struct session *s, const struct value *args, int n, struct value *out,
			 struct err *err)
{
	bool ok = vm_call(s->vm, s->callee, args, n, NULL, out, err);

	s->counts.launches += s->eager.launches;
	s->eager.launches = 0;
	return ok;
}

/* The first entry that fits, moved to the front; NULL: none. */
static inline struct entry *find_entry(struct session *s, const struct value *args, int n)
{
	for (int i = 0; i < s->n_entries; i++) {
		struct entry *e = s->entries[i];

		s->counts.guard_checks++;
		if (guards_check(&e->guards, args, n) < e->guards.n)
			continue;
		if (i > 0) {
			memmove(&s->entries[1], &s->entries[0], sizeof(e) * (size_t)i);
			s->entries[0] = e;
		}
		return e;
	}
	return NULL;
}

static bool fall_back(struct session *s, const struct value *args, int n, struct value *out,
		      struct err *err)
{
	char reason[128];

	snprintf(reason, sizeof(reason),
		 "the limit of %d compiled versions is reached: calls that fit none run in eager",
		 s->options.recompile_limit);
	if (!s->limit_reached && !session_note(s, reason))
		return err_set(err, ERR_MEMORY, "out of memory for a session");
	s->limit_reached = true;
	s->counts.eager_fallbacks++;
	return call_eagerly(s, args, n, out, err);
}

static bool run_entry(struct session *s, struct entry *e, const struct value *args,
		      struct value *out, struct err *err)
{
	if (!entry_run(e, args, out, s->observer, err))
		return false;
	if (e->exec)
		s->counts.launches += e->exec->lowered->n_kernels;
	return true;
}

/* Nothing fits: compile, or fall back to eager. */
static bool call_anew(struct session *s, const struct value *args, int n, struct value *out,
		      struct err *err)
{
	struct entry *e;

	if (s->n_entries >= s->options.recompile_limit)
		return fall_back(s, args, n, out, err);
	e = session_compile(s, args, n, err);
	if (!e)
		return false;
	guards_check(&e->guards, args, n); /* gathers the symbols' values */
	return run_entry(s, e, args, out, err);
}

bool session_call(struct session *s, const struct value *args, int n, struct value *out,
		  struct err *err)
{
	bool watched = __builtin_expect(s->observer && s->observer->phase, 0);
	int64_t begin;
	struct entry *e;

	s->calls++;
	if (s->lazy)
		return lazy_call(s->lazy, args, n, out, err);
	if (!s->options.compiled)
		return call_eagerly(s, args, n, out, err);
	begin = watched ? clock_ns() : 0;
	e = find_entry(s, args, n);
	if (watched)
		s->observer->phase(s->observer->self, PHASE_GUARDS, begin, clock_ns());
	if (__builtin_expect(!e, 0))
		return call_anew(s, args, n, out, err);
	return run_entry(s, e, args, out, err);
}
