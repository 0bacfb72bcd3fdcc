/* profiler/measure/candidate.c -- sets up a mode's world and takes it down again. */
#include "profiler/measure/candidate.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/workload/call.h"
#include "profiler/workload/value_json.h"

static const size_t snapshot_bytes = (size_t)256 << 20; /* of gradients of parameters */

static bool out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for the run");
}

/* A session whose module has run, to evaluate expressions in. */
static bool open_session(struct inputs *in, const struct workload *w, const struct point *p,
			 struct err *err)
{
	struct fusion_options options = { .backend = "interp",
					  .threads = 1,
					  .leaves = w->leaves,
					  .registry = w->registry,
					  .files = { w->weights, w->n_weights } };

	if (!w->evaluates && !w->leaves)
		return true;
	in->engine = workload_weights_there(w, err) ? fusion_create(&options, err) : NULL;
	in->session = in->engine
			  ? fusion_session(in->engine, point_program(w, p), FUSION_EAGER, err)
			  : NULL;
	return in->session != NULL;
}

/* Argument k of call i as the session has it. */
static struct value make_arg(const struct inputs *in, struct fusion_session *session,
			     struct allocator *a, int i, int k, struct err *err)
{
	const json_t *call = json_array_get(in->calls, (size_t)i);
	char label[CALL_PATH_BYTES];
	struct value_scope scope = { .session = session,
				     .label = label,
				     .seed = call_seed(i, k),
				     .with_n = in->w->n_is_size,
				     .n = in->p->n };

	call_path(call, i, (size_t)k, label);
	return value_in_scope(call_spec(call, (size_t)k), a, session ? &scope : NULL, err);
}

static bool make_call(struct inputs *in, int i, struct err *err)
{
	const json_t *call = json_array_get(in->calls, (size_t)i);
	size_t n = call_length(call);

	in->args[i] = calloc(n + 1, sizeof(**in->args));
	in->own[i] = calloc(n + 1, sizeof(**in->own));
	in->names[i] = calloc(n + 1, sizeof(**in->names));
	in->summed[i] = calloc(n + 1, sizeof(**in->summed));
	if (!in->args[i] || !in->own[i] || !in->names[i] || !in->summed[i])
		return out_of_memory(err);
	for (int k = 0; k < (int)n; k++) {
		const char *name = call_name(call, (size_t)k);
		struct value v = make_arg(in, in->session, in->allocator, i, k, err);

		if (v.kind == VALUE_UNSET)
			return false;
		in->args[i][in->n_args[i]++] = v;
		in->own[i][k] = !value_is_plain(v) || value_shares_tensor(v);
		if (name)
			in->names[i][in->n_named[i]++] = name;
	}
	return true;
}

bool inputs_create(struct inputs *in, const struct workload *w, const struct point *p,
		   struct err *err)
{
	size_t rows;
	bool ok;

	*in = (struct inputs){ .w = w, .p = p, .calls = workload_calls(w, p, err) };
	if (!in->calls)
		return false;
	in->n_calls = (int)json_array_size(in->calls);
	rows = (size_t)in->n_calls + 1;
	in->allocator = allocator_create((size_t)2 << WORKLOAD_MAX_INPUT_BYTES_LOG2, NULL);
	in->n_args = calloc(rows, sizeof(*in->n_args));
	in->n_named = calloc(rows, sizeof(*in->n_named));
	in->names = calloc(rows, sizeof(*in->names));
	in->args = calloc(rows, sizeof(*in->args));
	in->own = calloc(rows, sizeof(*in->own));
	in->summed = calloc(rows, sizeof(*in->summed));
	ok = (in->allocator && in->n_args && in->n_named && in->names && in->args && in->own &&
	      in->summed) ||
	     out_of_memory(err);
	ok = ok && open_session(in, w, p, err);
	for (int i = 0; ok && i < in->n_calls; i++)
		ok = make_call(in, i, err);
	if (!ok)
		inputs_destroy(in);
	return ok;
}

/* Frees the arguments of each call; NULL entries are fine. */
static void drop_args(struct value **args, const struct inputs *in)
{
	for (int i = 0; args && i < in->n_calls; i++) {
		for (int k = 0; args[i] && k < in->n_args[i]; k++)
			value_unref(args[i][k]);
		free(args[i]);
	}
	free(args);
}

void inputs_destroy(struct inputs *in)
{
	for (int i = 0; i < in->n_calls; i++) {
		for (int k = 0; in->summed && in->summed[i] && k < in->n_args[i]; k++)
			json_decref(in->summed[i][k]);
		if (in->summed)
			free(in->summed[i]);
		if (in->own)
			free(in->own[i]);
		if (in->names)
			free(in->names[i]);
	}
	free(in->summed);
	free(in->own);
	free(in->names);
	drop_args(in->args, in);
	free(in->n_args);
	free(in->n_named);
	fusion_session_destroy(in->session);
	fusion_destroy(in->engine);
	if (in->allocator)
		allocator_destroy(in->allocator);
	json_decref(in->calls);
	*in = (struct inputs){ 0 };
}

struct value candidate_argument(const struct candidate *candidate, int call, int k,
				struct value from, struct err *err)
{
	const struct inputs *in = candidate->originals;
	struct allocator *a = fusion_allocator(candidate->engine);
	struct value v = in->own[call][k] ? make_arg(in, candidate->session, a, call, k, err)
					  : value_copy(from, a, err);
	bool ok = v.kind != VALUE_UNSET;

	if (ok && in->own[call][k] && !value_refill(v, in->args[call][k]))
		ok = err_set(
		    err, ERR_WORKLOAD,
		    "calls[%d], argument %d: the expression gives another value each time; "
		    "write one that does not depend on what was called before",
		    call, k);
	ok = ok &&
	     (!in->w->leaves || value_mark_leaves(candidate->session, v, in->args[call][k], err));
	if (ok && (!candidate->grad || fusion_require_grad(candidate->session, v, err)))
		return v;
	value_unref(v);
	return (struct value){ .kind = VALUE_UNSET };
}

static bool copy_args(struct candidate *candidate, struct err *err)
{
	const struct inputs *in = candidate->originals;

	candidate->args = calloc((size_t)in->n_calls + 1, sizeof(*candidate->args));
	if (!candidate->args)
		return out_of_memory(err);
	for (int i = 0; i < in->n_calls; i++) {
		candidate->args[i] = calloc((size_t)in->n_args[i] + 1, sizeof(**candidate->args));
		if (!candidate->args[i])
			return out_of_memory(err);
		for (int k = 0; k < in->n_args[i]; k++) {
			candidate->args[i][k] = candidate_argument(candidate, i, k, in->args[i][k],
								   err);
			if (candidate->args[i][k].kind == VALUE_UNSET)
				return false;
		}
	}
	return true;
}

static bool choose_timed(struct candidate *candidate, const struct workload *w, struct err *err)
{
	candidate->timed = w->timed[candidate->mode];
	candidate->n_timed = w->n_timed[candidate->mode];
	if (candidate->timed)
		return true;
	candidate->all = calloc((size_t)w->n_calls, sizeof(*candidate->all));
	if (!candidate->all)
		return out_of_memory(err);
	for (int i = 0; i < w->n_calls; i++)
		candidate->all[i] = i;
	candidate->timed = candidate->all;
	candidate->n_timed = w->n_calls;
	return true;
}

/* The workload's values in place of those that the module was made with. */
static bool set_params(struct candidate *candidate, const json_t *params, struct err *err)
{
	const char *name;
	json_t *spec;

	json_object_foreach((json_t *)params, name, spec)
	{
		struct value v = value_from_json(spec, fusion_allocator(candidate->engine), err);
		bool ok = v.kind == VALUE_TENSOR &&
			  fusion_set_parameter(candidate->session, name, fusion_tensor(v), err);

		value_unref(v);
		if (!ok)
			return false;
	}
	return true;
}

/* All but the engine. */
static bool fill(struct candidate *candidate, const struct workload *w, const struct point *p,
		 struct err *err)
{
	candidate->outputs = calloc((size_t)w->n_calls, sizeof(*candidate->outputs));
	candidate->param_grads = calloc((size_t)w->n_calls, sizeof(*candidate->param_grads));
	if (!candidate->outputs || !candidate->param_grads)
		return out_of_memory(err);
	if (!choose_timed(candidate, w, err))
		return false;
	candidate->program = point_program(w, p);
	candidate->session = fusion_session(candidate->engine, candidate->program, candidate->mode,
					    err);
	return candidate->session && set_params(candidate, w->params, err) &&
	       copy_args(candidate, err);
}

bool candidate_create(struct candidate *candidate, const struct candidate_spec *spec,
		      struct err *err)
{
	const struct workload *w = spec->w;
	struct fusion_options options = {
		.backend = w->backend,
		.threads = w->threads,
		.cache_dir = spec->cache.dir,
		.cache_rebuild = spec->cache.again,
		.memory_bytes = spec->memory_bytes,
		.references = spec->references,
		.policy = w->policy,
		.autotune = w->autotune,
		.deny = w->deny,
		.n_deny = w->n_deny,
		.grad = w->grad,
		.leaves = w->leaves,
		.registry = w->registry,
		.passes_disabled = w->passes_disabled,
		.autocast = w->autocast,
		.poison = w->poison,
		.files = { w->weights, w->n_weights },
	};

	*candidate =
	    (struct candidate){ .mode = spec->mode, .originals = spec->originals, .grad = w->grad };
	candidate->engine = workload_weights_there(w, err) ? fusion_create(&options, err) : NULL;
	return candidate->engine && fill(candidate, w, spec->p, err);
}

bool candidate_create_beside(struct candidate *candidate, const struct candidate *with,
			     const struct workload *w, const struct point *p, struct err *err)
{
	*candidate = (struct candidate){ .mode = with->mode,
					 .originals = with->originals,
					 .engine = with->engine,
					 .shares_engine = true };
	return fill(candidate, w, p, err);
}

void candidate_drop_results(struct candidate *candidate)
{
	static const struct value unset = { .kind = VALUE_UNSET };

	for (int i = 0; candidate->outputs && i < candidate->originals->n_calls; i++) {
		value_unref(candidate->outputs[i]);
		candidate->outputs[i] = unset;
	}
	for (int i = 0; candidate->param_grads && i < candidate->originals->n_calls; i++) {
		value_unref(candidate->param_grads[i]);
		candidate->param_grads[i] = unset;
	}
	if (candidate->snapshots)
		allocator_destroy(candidate->snapshots);
	candidate->snapshots = NULL;
}

/* restore.c; of candidate_destroy(). */
static void candidate_drop_pristine(struct candidate *candidate)
{
	const struct inputs *in = candidate->originals;

	for (int i = 0; i < in->n_calls; i++) {
		for (int k = 0; candidate->pristine && k < in->n_args[i]; k++)
			value_unref(candidate->pristine[i][k]);
		if (candidate->pristine)
			free(candidate->pristine[i]);
		if (candidate->use)
			free(candidate->use[i]);
	}
	free(candidate->pristine);
	free(candidate->use);
	if (candidate->pristine_memory)
		allocator_destroy(candidate->pristine_memory);
	candidate->pristine = NULL;
	candidate->use = NULL;
	candidate->pristine_memory = NULL;
}

void candidate_destroy(struct candidate *candidate)
{
	if (!candidate->engine)
		return;
	candidate_drop_results(candidate);
	free(candidate->outputs);
	free(candidate->param_grads);
	candidate_drop_sets(candidate);
	candidate_drop_pristine(candidate);
	drop_args(candidate->args, candidate->originals);
	fusion_session_destroy(candidate->session);
	if (!candidate->shares_engine)
		fusion_destroy(candidate->engine);
	free(candidate->sample_us);
	free(candidate->aside_us);
	free(candidate->all);
	*candidate = (struct candidate){ 0 };
}

static void drop_grad(void *self, const char *name, struct value t)
{
	(void)self, (void)name;
	fusion_drop_grad(t);
}

/* The gradients of a call, and not those of the calls before it too. */
static bool call_back(struct candidate *candidate, int call, struct value out, struct err *err)
{
	for (int k = 0; k < candidate->originals->n_args[call]; k++)
		fusion_drop_grad(candidate->args[call][k]);
	fusion_parameters(candidate->session, drop_grad, NULL);
	return fusion_backward(candidate->session, out, err);
}

bool candidate_start(struct candidate *candidate, int call, struct value *out, struct err *err)
{
	const struct inputs *in = candidate->originals;
	struct fusion_arguments args = { candidate->args[call], in->n_args[call], in->names[call],
					 in->n_named[call] };

	if (!fusion_call_named(candidate->session, &args, out, err))
		return false;
	if (!candidate->grad || call_back(candidate, call, *out, err))
		return true;
	value_unref(*out);
	*out = (struct value){ .kind = VALUE_UNSET };
	return false;
}

bool candidate_call(struct candidate *candidate, int call, struct value *out, struct err *err)
{
	if (!candidate_start(candidate, call, out, err))
		return false;
	if (fusion_wait(candidate->engine, err))
		return true;
	value_unref(*out);
	*out = (struct value){ .kind = VALUE_UNSET };
	return false;
}

bool candidate_reportable(const struct candidate *candidate, int call, struct err *err)
{
	char what[128];

	snprintf(what, sizeof(what), "the output of calls[%d]", call);
	if (!value_walkable(candidate->outputs[call], what, err))
		return false;
	for (int k = 0; k < candidate->originals->n_args[call]; k++) {
		snprintf(what, sizeof(what), "argument %d of calls[%d], as left by the program,", k,
			 call);
		if (!value_walkable(candidate->args[call][k], what, err))
			return false;
	}
	return true;
}

/* Where gradients of parameters go. */
struct grads {
	struct value dict;
	struct allocator *copies; /* NULL: they are kept themselves */
	struct err *err;
	bool ok;
};

static void keep_grad(void *self, const char *name, struct value t)
{
	struct grads *g = self;
	struct value grad = fusion_grad(t), key;

	if (!g->ok || grad.kind != VALUE_TENSOR)
		return;
	key = value_str(name, strlen(name));
	grad = g->copies ? value_copy(grad, g->copies, g->err) : value_ref(grad);
	g->ok = key.kind != VALUE_UNSET && grad.kind != VALUE_UNSET &&
		value_dict_set(g->dict.dict, key, grad);
	value_unref(key);
	value_unref(grad);
}

bool candidate_keep_grads(struct candidate *candidate, int call, bool themselves, struct err *err)
{
	struct err why = { 0 };
	struct grads g = { .ok = true, .err = &why };

	if (!candidate->grad)
		return true;
	if (!themselves && !candidate->snapshots)
		candidate->snapshots = allocator_create(snapshot_bytes, NULL);
	g.copies = themselves ? NULL : candidate->snapshots;
	g.dict = value_dict();
	if ((!themselves && !g.copies) || g.dict.kind == VALUE_UNSET)
		return out_of_memory(err);
	fusion_parameters(candidate->session, keep_grad, &g);
	if (g.ok)
		candidate->param_grads[call] = g.dict;
	else /* too large: of this call they are not compared */
		value_unref(g.dict);
	return true;
}

bool candidate_burst(struct candidate *candidate, int cycles, struct err *err)
{
	for (int c = 0; c < cycles; c++)
		for (int i = 0; i < candidate->originals->n_calls; i++) {
			struct value out;

			if (!candidate_start(candidate, i, &out, err))
				return false;
			value_unref(candidate->outputs[i]);
			candidate->outputs[i] = out;
		}
	if (!fusion_wait(candidate->engine, err))
		return false;
	for (int i = 0; candidate->use && i < candidate->originals->n_calls; i++)
		if (!candidate_note_writes(candidate, i,
					   err)) /* they may write what they had not */
			return false;
	return true;
}

bool candidate_forget(struct candidate *candidate, struct err *err)
{
	candidate_drop_results(candidate);
	for (int i = 0; candidate->writes && i < candidate->originals->n_calls; i++)
		if (!candidate_restore(candidate, i, err))
			return false;
	return true;
}
