/* profiler/run/fit_try.c -- a call made once in eager, by the interpreter, to see how far it
 * comes. */
#include <stdio.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/run/fit.h"
#include "profiler/workload/call.h"
#include "profiler/workload/value_json.h"

static const size_t most_bytes = (size_t)512 << 20;
static const int64_t most_steps = 2000000;

static void count_op(void *self, const char *name, int line)
{
	(void)name;
	(void)line;
	(*(int64_t *)self)++;
}

static struct fusion_session *open_session(const struct fit_program *f, struct err *err)
{
	return fusion_session(f->engine, f->w->points[0].program, FUSION_EAGER, err);
}

bool fit_open(struct fit_program *f, const struct workload *w, struct err *err)
{
	struct fusion_options options = { .backend = "interp",
					  .threads = 1,
					  .memory_bytes = most_bytes,
					  .steps = most_steps,
					  .autocast = w->autocast,
					  .leaves = true,
					  .registry = w->registry,
					  .files = { w->weights, w->n_weights } };
	const json_t *call = json_array_get(w->calls, 0);
	struct fusion_session *session = NULL;
	bool ok;

	*f = (struct fit_program){ .w = w, .call = call, .n = (int)call_length(call) };
	if (f->n > FIT_INPUTS)
		return false;
	f->engine = fusion_create(&options, err);
	session = f->engine ? open_session(f, err) : NULL;
	ok = session != NULL;
	for (int k = 0; ok && k < f->n; k++) {
		const char *name = call_name(call, (size_t)k);

		name = name ? name : fusion_parameter_name(session, k);
		snprintf(f->names[k], sizeof(f->names[k]), "%s", name ? name : "");
	}
	fusion_session_destroy(session);
	if (!ok)
		fit_close(f);
	return ok;
}

/* The arguments of a call, made one after another. */
struct made {
	struct value at[FIT_INPUTS];
	int n;
};

static bool make_arguments(const struct fit_program *f, struct fusion_session *session,
			   uint64_t seed, struct fit_state *s, struct made *made)
{
	struct allocator *a = fusion_allocator(f->engine);

	for (int k = 0; k < f->n; k++) {
		char label[CALL_PATH_BYTES];
		struct value_scope scope = { .session = session,
					     .label = label,
					     .seed = seed + call_seed(0, k) };
		json_t *spec = fit_input_spec(&s->at[k], scope.seed);

		call_path(f->call, 0, (size_t)k, label);
		made->at[k] = value_in_scope(spec, a, &scope, &s->err);
		json_decref(spec);
		if (made->at[k].kind == VALUE_UNSET)
			return false;
		made->n++;
	}
	return true;
}

static bool make_call(const struct fit_program *f, struct fusion_session *session, uint64_t seed,
		      struct fit_state *s)
{
	struct fusion_observer observer = { .self = &s->ops, .eager_op = count_op };
	struct made made = { .n = 0 };
	struct value out = { .kind = VALUE_UNSET };
	const char *names[FIT_INPUTS];
	struct fusion_arguments call = { .at = made.at, .n = f->n, .names = names };
	bool ok = make_arguments(f, session, seed, s, &made);
	int64_t begin_ns = clock_ns();

	for (int k = 0; k < f->n; k++)
		if (call_name(f->call, (size_t)k))
			names[call.n_named++] = f->names[k];
	if (ok) {
		fusion_observe(session, &observer);
		ok = fusion_call_named(session, &call, &out, &s->err);
		fusion_observe(session, NULL);
	}
	s->ns = clock_ns() - begin_ns;
	value_unref(out);
	for (int k = 0; k < made.n; k++)
		value_unref(made.at[k]);
	return ok;
}

void fit_try(const struct fit_program *f, uint64_t seed, struct fit_state *s)
{
	struct fusion_session *session;

	s->ops = 0;
	s->err = (struct err){ 0 };
	session = open_session(f, &s->err);
	s->ok = session && make_call(f, session, seed, s);
	fusion_session_destroy(session);
}
