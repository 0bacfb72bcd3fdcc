/* profiler/workload/arguments.c -- what a workload's calls are made with: parameters, calls, values
 * and their expressions, and which calls are timed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/workload/call.h"
#include "profiler/workload/python_input.h"
#include "profiler/workload/spec.h"
#include "profiler/workload/workload.h"

/* Parameters and buffers of an nn.Module, by qualified name. */
static bool read_params(struct workload *w, struct err *err)
{
	const json_t *params = json_object_get(w->json, "params");
	int64_t bytes = 0;
	const char *name;
	json_t *spec;

	if (!field_given(params))
		return true;
	if (!json_is_object(params) || json_object_size(params) > WORKLOAD_MAX_PARAMS)
		return err_set(err, ERR_WORKLOAD,
			       "params must be an object of at most %d tensors by name, as "
			       "{\"up.weight\": {\"tensor\": ...}}",
			       WORKLOAD_MAX_PARAMS);
	json_object_foreach((json_t *)params, name, spec)
	{
		char path[160];

		snprintf(path, sizeof(path), "params.%.120s", name);
		workload_take(w,
			      spec_is_tensor(spec)
				  ? spec_check(spec, path, &bytes, err)
				  : err_set(err, ERR_WORKLOAD,
					    "%s must be {\"tensor\": ...} or {\"random\": ...}",
					    path),
			      err);
	}
	if (bytes > (int64_t)1 << WORKLOAD_MAX_INPUT_BYTES_LOG2)
		return err_set(err, ERR_BOUND, "params take more than 1 GiB, the limit");
	w->params = params;
	return true;
}

/* ---- expressions ---- */

/* In place of {"python": "float32[8]"} what it stands for; of a container, within it. */
static bool make_plain(json_t **at, uint64_t seed, const char *path, struct err *err)
{
	json_t *text = json_object_get(*at, "python"), *spec = NULL, *item, *list;
	const char *key;
	size_t i;

	if (json_is_string(text)) {
		if (strlen(json_string_value(text)) == json_string_length(text) &&
		    !input_plain(json_string_value(text), seed, path, &spec, err))
			return false;
		*at = spec ? spec : json_incref(*at);
		return true;
	}
	list = json_object_get(*at, "list");
	list = list ? list : json_object_get(*at, "tuple");
	json_array_foreach(list, i, item)
	{
		if (!make_plain(&item, seed, path, err))
			return false;
		json_array_set_new(list, i, item);
	}
	json_object_foreach(json_object_get(*at, "dict"), key, item)
	{
		if (!make_plain(&item, seed, path, err))
			return false;
		json_object_set_new(json_object_get(*at, "dict"), key, item);
	}
	json_incref(*at);
	return true;
}

static void make_call_plain(struct workload *w, int i, json_t *call)
{
	for (size_t k = 0; k < call_length(call); k++) {
		json_t *spec = (json_t *)call_spec(call, k);
		char path[CALL_PATH_BYTES];
		struct err err = { 0 };

		call_path(call, i, k, path);
		if (!workload_take(w, make_plain(&spec, call_seed(i, (int)k), path, &err), &err))
			spec = json_pack("{s:n}", "value"); /* what is wrong is said once */
		call_set(call, k, spec);
	}
}

struct each_python {
	struct workload *w;
	const struct fusion_program *program; /* NULL: only the syntax is looked at */
	uint64_t seed;
	int n;
};

static void take_problem(void *self, const struct err *problem, bool certain)
{
	struct err copy = *problem;

	(void)certain;
	workload_take(self, false, &copy);
}

static bool check_expression(void *self, const char *text, const char *path)
{
	struct each_python *e = self;
	struct fusion_expression expression = { .text = text,
						.label = path,
						.with_n = e->w->n_is_size };

	fusion_expression_problems(e->program, e->w->registry, &expression, take_problem, e->w);
	return true;
}

static void check_expressions(struct workload *w, const struct fusion_program *program)
{
	struct each_python each = { .w = w, .program = program };

	for (int i = 0; i < w->n_calls; i++) {
		const json_t *call = json_array_get(w->calls, (size_t)i);

		for (size_t k = 0; k < call_length(call); k++) {
			char path[CALL_PATH_BYTES];

			call_path(call, i, k, path);
			spec_each_python(call_spec(call, k), path, check_expression, &each);
		}
	}
}

/* ---- calls ---- */

/* Whether call number i has one of the two forms, and no more arguments than are allowed. */
static bool check_call(const json_t *call, int i, struct err *err)
{
	static const char forms[] =
	    "a list of values, or {\"args\": [...], \"kwargs\": {\"name\": ...}}";
	const char *key;
	json_t *value;

	if (!json_is_array(call) && !json_is_object(call))
		return err_set(err, ERR_WORKLOAD, "calls[%d] must be %s", i, forms);
	json_object_foreach((json_t *)call, key, value)
	{
		bool args = strcmp(key, "args") == 0;

		if (!args && strcmp(key, "kwargs") != 0)
			return err_set(
			    err, ERR_WORKLOAD,
			    "calls[%d] has an unknown field '%.40s'; it has args, a list, "
			    "and kwargs, an object",
			    i, key);
		if (args ? !json_is_array(value) : !json_is_object(value))
			return err_set(err, ERR_WORKLOAD, "calls[%d].%s must be %s", i, key,
				       args ? "a list of values" : "an object of values by name");
	}
	if (call_length(call) > WORKLOAD_MAX_ARGS)
		return err_set(err, ERR_BOUND, "calls[%d] has %zu arguments; the limit is %d", i,
			       call_length(call), WORKLOAD_MAX_ARGS);
	return true;
}

static void note_kinds(struct workload *w, const json_t *call)
{
	for (size_t k = 0; k < call_length(call); k++) {
		w->evaluates = w->evaluates || spec_has_python(call_spec(call, k));
		w->leaves = w->leaves || spec_has_leaf(call_spec(call, k));
	}
}

static bool read_calls(struct workload *w, struct err *err)
{
	json_t *calls = json_object_get(w->json, "calls");
	bool read = true;

	if (!json_is_array(calls) || json_array_size(calls) == 0)
		return err_set(err, ERR_WORKLOAD,
			       "calls must be a list of calls, each a list of values, as "
			       "[[{\"python\": \"torch.randn(8, 16)\"}]]");
	if (json_array_size(calls) > WORKLOAD_MAX_CALLS)
		return err_set(err, ERR_BOUND, "calls has %zu entries; the limit is %d",
			       json_array_size(calls), WORKLOAD_MAX_CALLS);
	w->n_calls = (int)json_array_size(calls);
	for (int i = 0; i < w->n_calls; i++) {
		json_t *call = json_array_get(calls, (size_t)i);

		if (workload_take(w, check_call(call, i, err), err)) {
			make_call_plain(w, i, call);
			note_kinds(w, call);
		} else {
			read = false;
		}
	}
	w->calls = calls;
	w->calls_read = read;
	return true;
}

/* The values of a point's calls, each by itself. */
static void check_point(struct workload *w, const json_t *calls)
{
	const int64_t most = (int64_t)1 << WORKLOAD_MAX_INPUT_BYTES_LOG2;
	int64_t bytes = 0;

	for (size_t i = 0; i < json_array_size(calls); i++) {
		const json_t *call = json_array_get(calls, i);

		for (size_t k = 0; k < call_length(call); k++) {
			char path[CALL_PATH_BYTES];
			struct err err = { 0 };
			bool ok;

			call_path(call, (int)i, k, path);
			ok = spec_check(call_spec(call, k), path, &bytes, &err);
			if (ok && bytes > most) {
				workload_take(w,
					      err_set(&err, ERR_BOUND,
						      "calls: the tensors up to %s take more than "
						      "1 GiB together, the limit; use fewer calls "
						      "or smaller shapes",
						      path),
					      &err);
				return;
			}
			workload_take(w, ok, &err);
		}
	}
}

static void check_values(struct workload *w)
{
	bool resized = w->sweep.kind == SWEEP_INPUT && !w->n_is_size && w->n_points;
	int before = w->n_problems;

	if (!resized)
		check_point(w, w->calls);
	for (int p = 0; resized && p < w->n_points && w->n_problems == before; p++) {
		struct err err = { 0 };
		json_t *calls = workload_calls(w, &w->points[p], &err);

		check_point(w, workload_take(w, calls != NULL, &err) ? calls : w->calls);
		json_decref(calls);
	}
}

static bool read_timed(struct workload *w, const char *name, const json_t *list, struct err *err)
{
	enum fusion_mode mode;
	size_t n = json_array_size(list);

	if (!fusion_mode_from_name(name, &mode))
		return err_set(err, ERR_WORKLOAD,
			       "time.%.40s: no such mode; there are " FUSION_MODE_LIST, name);
	if (!json_is_array(list) || n == 0 || n > WORKLOAD_MAX_CALLS)
		return err_set(err, ERR_WORKLOAD,
			       "time.%s must be a list of 1 to %d indices of calls", name,
			       WORKLOAD_MAX_CALLS);
	w->timed[mode] = calloc(n, sizeof(int));
	if (!w->timed[mode])
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	w->n_timed[mode] = (int)n;
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(list, i);

		if (json_is_integer(item) && json_integer_value(item) >= 0 &&
		    json_integer_value(item) < w->n_calls)
			w->timed[mode][i] = (int)json_integer_value(item);
		else
			workload_take(w,
				      err_set(err, ERR_WORKLOAD,
					      "time.%s[%zu] must be the index of a call, 0 to %d",
					      name, i, w->n_calls - 1),
				      err);
	}
	return true;
}

static bool read_time(struct workload *w, struct err *err)
{
	const json_t *time = json_object_get(w->json, "time");
	const char *mode;
	json_t *list;

	if (field_given(time) && !json_is_object(time))
		return err_set(err, ERR_WORKLOAD, "time must be an object, as {\"static\": [0]}");
	json_object_foreach((json_t *)time, mode, list)
	{
		workload_take(w, read_timed(w, mode, list, err), err);
	}
	return true;
}

void arguments_read(struct workload *w)
{
	struct err err = { 0 };

	workload_take(w, read_params(w, &err), &err);
	if (workload_take(w, read_calls(w, &err), &err))
		workload_take(w, read_time(w, &err), &err);
}

void arguments_check(struct workload *w, const struct fusion_program *program)
{
	check_values(w);
	check_expressions(w, program);
}
