/* profiler/measure/candidate.c -- sets up a mode's world and takes it down again. */
#include "profiler/measure/candidate.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/workload/value_json.h"

static const size_t snapshot_bytes = (size_t)256 << 20; /* of gradients of parameters */

static bool out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for the run");
}

static struct value *make_args(const json_t *specs, struct allocator *a, struct err *err)
{
	size_t n = json_array_size(specs);
	struct value *args = calloc(n + 1, sizeof(*args));

	if (!args) {
		out_of_memory(err);
		return NULL;
	}
	for (size_t k = 0; k < n; k++) {
		args[k] = value_from_json(json_array_get(specs, k), a, err);
		if (args[k].kind == VALUE_UNSET) {
			for (size_t i = 0; i < k; i++)
				value_unref(args[i]);
			free(args);
			return NULL;
		}
	}
	return args;
}

bool inputs_create(struct inputs *in, const struct workload *w, const struct point *p,
		   struct err *err)
{
	json_t *calls = workload_calls(w, p, err);

	*in = (struct inputs){ 0 };
	if (!calls)
		return false;
	in->n_calls = (int)json_array_size(calls);
	in->allocator = allocator_create((size_t)2 << WORKLOAD_MAX_INPUT_BYTES_LOG2, NULL);
	in->n_args = calloc((size_t)in->n_calls + 1, sizeof(*in->n_args));
	in->args = calloc((size_t)in->n_calls + 1, sizeof(*in->args));
	in->summed = calloc((size_t)in->n_calls + 1, sizeof(*in->summed));
	if (!in->allocator || !in->n_args || !in->args || !in->summed) {
		out_of_memory(err);
		goto fail;
	}
	for (int i = 0; i < in->n_calls; i++) {
		const json_t *specs = json_array_get(calls, (size_t)i);

		in->args[i] = make_args(specs, in->allocator, err);
		if (!in->args[i])
			goto fail;
		in->n_args[i] = (int)json_array_size(specs);
		in->summed[i] = calloc((size_t)in->n_args[i] + 1, sizeof(**in->summed));
		if (!in->summed[i]) {
			out_of_memory(err);
			goto fail;
		}
	}
	json_decref(calls);
	return true;
fail:
	json_decref(calls);
	inputs_destroy(in);
	return false;
}

/* Frees what make_args() made for each call; NULL entries are fine. */
static void drop_args(struct value **args, const struct inputs *in)
{
	for (int i = 0; args && i < in->n_calls; i++) {
		for (int k = 0; args[i] && k < in->n_args[i]; k++)
			value_unref(args[i][k]);
		free(args[i]);
	}
	free(args);
}

json_t *inputs_summed(const struct inputs *in, int call, int arg)
{
	json_t **at = &in->summed[call][arg];

	if (!*at)
		*at = value_to_json(in->args[call][arg], false);
	return json_incref(*at);
}

void inputs_destroy(struct inputs *in)
{
	for (int i = 0; in->summed && i < in->n_calls; i++) {
		for (int k = 0; in->summed[i] && k < in->n_args[i]; k++)
			json_decref(in->summed[i][k]);
		free(in->summed[i]);
	}
	free(in->summed);
	drop_args(in->args, in);
	free(in->n_args);
	if (in->allocator)
		allocator_destroy(in->allocator);
	*in = (struct inputs){ 0 };
}

static bool copy_args(struct candidate *candidate, struct err *err)
{
	const struct inputs *in = candidate->originals;
	struct allocator *a = fusion_allocator(candidate->engine);

	candidate->args = calloc((size_t)in->n_calls + 1, sizeof(*candidate->args));
	if (!candidate->args)
		return out_of_memory(err);
	for (int i = 0; i < in->n_calls; i++) {
		candidate->args[i] = calloc((size_t)in->n_args[i] + 1, sizeof(**candidate->args));
		if (!candidate->args[i])
			return out_of_memory(err);
		for (int k = 0; k < in->n_args[i]; k++) {
			candidate->args[i][k] = value_copy(in->args[i][k], a, err);
			if (candidate->args[i][k].kind == VALUE_UNSET)
				return false;
			if (candidate->grad &&
			    !fusion_require_grad(candidate->session, candidate->args[i][k], err))
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
	/* Points of an input sweep share the first one's program. */
	const struct fusion_program *program = p->program ? p->program : w->points[0].program;

	candidate->outputs = calloc((size_t)w->n_calls, sizeof(*candidate->outputs));
	candidate->param_grads = calloc((size_t)w->n_calls, sizeof(*candidate->param_grads));
	if (!candidate->outputs || !candidate->param_grads)
		return out_of_memory(err);
	if (!choose_timed(candidate, w, err))
		return false;
	candidate->session = fusion_session(candidate->engine, program, candidate->mode, err);
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
		.deny = w->deny,
		.n_deny = w->n_deny,
		.grad = w->grad,
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
	if (!fusion_call(candidate->session, candidate->args[call],
			 candidate->originals->n_args[call], out, err))
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
