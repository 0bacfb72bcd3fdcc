/* profiler/measure/lane.c -- sets up a mode's world and takes it down again. */
#include "profiler/measure/lane.h"

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

static bool copy_args(struct lane *lane, struct err *err)
{
	const struct inputs *in = lane->originals;
	struct allocator *a = fusion_allocator(lane->engine);

	lane->args = calloc((size_t)in->n_calls + 1, sizeof(*lane->args));
	if (!lane->args)
		return out_of_memory(err);
	for (int i = 0; i < in->n_calls; i++) {
		lane->args[i] = calloc((size_t)in->n_args[i] + 1, sizeof(**lane->args));
		if (!lane->args[i])
			return out_of_memory(err);
		for (int k = 0; k < in->n_args[i]; k++) {
			lane->args[i][k] = value_copy(in->args[i][k], a, err);
			if (lane->args[i][k].kind == VALUE_UNSET)
				return false;
			if (lane->grad &&
			    !fusion_require_grad(lane->session, lane->args[i][k], err))
				return false;
		}
	}
	return true;
}

static bool choose_timed(struct lane *lane, const struct workload *w, struct err *err)
{
	lane->timed = w->timed[lane->mode];
	lane->n_timed = w->n_timed[lane->mode];
	if (lane->timed)
		return true;
	lane->all = calloc((size_t)w->n_calls, sizeof(*lane->all));
	if (!lane->all)
		return out_of_memory(err);
	for (int i = 0; i < w->n_calls; i++)
		lane->all[i] = i;
	lane->timed = lane->all;
	lane->n_timed = w->n_calls;
	return true;
}

/* The workload's values in place of those that the module was made with. */
static bool set_params(struct lane *lane, const json_t *params, struct err *err)
{
	const char *name;
	json_t *spec;

	json_object_foreach((json_t *)params, name, spec)
	{
		struct value v = value_from_json(spec, fusion_allocator(lane->engine), err);
		bool ok = v.kind == VALUE_TENSOR &&
			  fusion_set_parameter(lane->session, name, fusion_tensor(v), err);

		value_unref(v);
		if (!ok)
			return false;
	}
	return true;
}

/* All but the engine. */
static bool fill(struct lane *lane, const struct workload *w, const struct point *p,
		 struct err *err)
{
	/* Points of an input sweep share the first one's program. */
	const struct fusion_program *program = p->program ? p->program : w->points[0].program;

	lane->outputs = calloc((size_t)w->n_calls, sizeof(*lane->outputs));
	lane->param_grads = calloc((size_t)w->n_calls, sizeof(*lane->param_grads));
	if (!lane->outputs || !lane->param_grads)
		return out_of_memory(err);
	if (!choose_timed(lane, w, err))
		return false;
	lane->session = fusion_session(lane->engine, program, lane->mode, err);
	return lane->session && set_params(lane, w->params, err) && copy_args(lane, err);
}

bool lane_create(struct lane *lane, const struct workload *w, const struct point *p,
		 enum fusion_mode mode, const struct inputs *originals, struct lane_cache cache,
		 struct err *err)
{
	struct lane_options options = { .cache = cache };

	return lane_create_with(lane, w, p, mode, originals, &options, err);
}

bool lane_create_with(struct lane *lane, const struct workload *w, const struct point *p,
		      enum fusion_mode mode, const struct inputs *originals,
		      const struct lane_options *with, struct err *err)
{
	struct fusion_options options = {
		.backend = w->backend,
		.threads = w->threads,
		.cache_dir = with->cache.dir,
		.cache_anew = with->cache.anew,
		.memory_bytes = with->memory_bytes,
		.references = with->references,
		.policy = w->policy,
		.deny = w->deny,
		.n_deny = w->n_deny,
		.grad = w->grad,
		.registry = w->registry,
		.passes_disabled = w->passes_disabled,
		.autocast = w->autocast,
		.poison = w->poison,
	};

	*lane = (struct lane){ .mode = mode, .originals = originals, .grad = w->grad };
	lane->engine = fusion_create(&options, err);
	return lane->engine && fill(lane, w, p, err);
}

bool lane_create_beside(struct lane *lane, const struct lane *with, const struct workload *w,
			const struct point *p, struct err *err)
{
	*lane = (struct lane){ .mode = with->mode,
			       .originals = with->originals,
			       .engine = with->engine,
			       .shares_engine = true };
	return fill(lane, w, p, err);
}

void lane_drop_results(struct lane *lane)
{
	static const struct value unset = { .kind = VALUE_UNSET };

	for (int i = 0; lane->outputs && i < lane->originals->n_calls; i++) {
		value_unref(lane->outputs[i]);
		lane->outputs[i] = unset;
	}
	for (int i = 0; lane->param_grads && i < lane->originals->n_calls; i++) {
		value_unref(lane->param_grads[i]);
		lane->param_grads[i] = unset;
	}
	if (lane->snapshots)
		allocator_destroy(lane->snapshots);
	lane->snapshots = NULL;
}

void lane_destroy(struct lane *lane)
{
	if (!lane->engine)
		return;
	lane_drop_results(lane);
	free(lane->outputs);
	free(lane->param_grads);
	lane_drop_sets(lane);
	lane_drop_pristine(lane);
	drop_args(lane->args, lane->originals);
	fusion_session_destroy(lane->session);
	if (!lane->shares_engine)
		fusion_destroy(lane->engine);
	free(lane->sample_us);
	free(lane->all);
	*lane = (struct lane){ 0 };
}

static void drop_grad(void *self, const char *name, struct value t)
{
	(void)self, (void)name;
	fusion_drop_grad(t);
}

/* The gradients of a call, and not those of the calls before it too. */
static bool call_back(struct lane *lane, int call, struct value out, struct err *err)
{
	for (int k = 0; k < lane->originals->n_args[call]; k++)
		fusion_drop_grad(lane->args[call][k]);
	fusion_parameters(lane->session, drop_grad, NULL);
	return fusion_backward(lane->session, out, err);
}

bool lane_start(struct lane *lane, int call, struct value *out, struct err *err)
{
	if (!fusion_call(lane->session, lane->args[call], lane->originals->n_args[call], out, err))
		return false;
	if (!lane->grad || call_back(lane, call, *out, err))
		return true;
	value_unref(*out);
	*out = (struct value){ .kind = VALUE_UNSET };
	return false;
}

bool lane_call(struct lane *lane, int call, struct value *out, struct err *err)
{
	if (!lane_start(lane, call, out, err))
		return false;
	if (fusion_wait(lane->engine, err))
		return true;
	value_unref(*out);
	*out = (struct value){ .kind = VALUE_UNSET };
	return false;
}

bool lane_reportable(const struct lane *lane, int call, struct err *err)
{
	char what[128];

	snprintf(what, sizeof(what), "the output of calls[%d]", call);
	if (!value_walkable(lane->outputs[call], what, err))
		return false;
	for (int k = 0; k < lane->originals->n_args[call]; k++) {
		snprintf(what, sizeof(what), "argument %d of calls[%d], as left by the program,", k,
			 call);
		if (!value_walkable(lane->args[call][k], what, err))
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

bool lane_keep_grads(struct lane *lane, int call, bool themselves, struct err *err)
{
	struct err why = { 0 };
	struct grads g = { .ok = true, .err = &why };

	if (!lane->grad)
		return true;
	if (!themselves && !lane->snapshots)
		lane->snapshots = allocator_create(snapshot_bytes, NULL);
	g.copies = themselves ? NULL : lane->snapshots;
	g.dict = value_dict();
	if ((!themselves && !g.copies) || g.dict.kind == VALUE_UNSET)
		return out_of_memory(err);
	fusion_parameters(lane->session, keep_grad, &g);
	if (g.ok)
		lane->param_grads[call] = g.dict;
	else /* too large: of this call they are not compared */
		value_unref(g.dict);
	return true;
}

bool lane_burst(struct lane *lane, int cycles, struct err *err)
{
	for (int c = 0; c < cycles; c++)
		for (int i = 0; i < lane->originals->n_calls; i++) {
			struct value out;

			if (!lane_start(lane, i, &out, err))
				return false;
			value_unref(lane->outputs[i]);
			lane->outputs[i] = out;
		}
	if (!fusion_wait(lane->engine, err))
		return false;
	for (int i = 0; lane->use && i < lane->originals->n_calls; i++)
		if (!lane_note_writes(lane, i, err)) /* they may write what they had not */
			return false;
	return true;
}

bool lane_forget(struct lane *lane, struct err *err)
{
	lane_drop_results(lane);
	for (int i = 0; lane->writes && i < lane->originals->n_calls; i++)
		if (!lane_restore(lane, i, err))
			return false;
	return true;
}
