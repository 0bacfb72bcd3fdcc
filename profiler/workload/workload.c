/* profiler/workload/workload.c -- JSON to struct workload, with a bound on everything.
 *
 * Whatever can be refused without running is refused here, since the server
 * calls this while the client still waits: fields, values, sizes, and the
 * source of every point.
 */
#include "profiler/workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "profiler/workload/settings.h"
#include "profiler/workload/spec.h"

static const char *const known_fields[] = {
	"name",       "source",     "entry",   "calls",   "params",   "modes",  "device",
	"backend",    "threads",    "policy",  "grad",    "autocast", "passes", "deny",
	"sweep",      "time",       "project", "tags",    "commit",   "branch", "title",
	"record_api", "keep_going", "seconds", "engines", "before",   "poison",
};
enum { N_FIELDS = sizeof(known_fields) / sizeof(known_fields[0]) };

static bool check_fields(const json_t *json, struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)json, key, value)
	{
		struct nearest near = nearest_to(key);
		bool known = false;

		for (int i = 0; i < N_FIELDS && !known; i++) {
			known = strcmp(key, known_fields[i]) == 0;
			nearest_offer(&near, known_fields[i]);
		}
		if (known)
			continue;
		if (near.best)
			return err_set(err, ERR_WORKLOAD,
				       "the field '%.40s' is unknown; did you mean '%s'?", key,
				       near.best);
		return err_set(err, ERR_WORKLOAD,
			       "the field '%.40s' is unknown; a workload has name, source, entry, "
			       "calls, modes, threads, backend, sweep, time and more",
			       key);
	}
	return true;
}

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
		if (!spec_is_tensor(spec))
			return err_set(err, ERR_WORKLOAD,
				       "%s must be {\"tensor\": ...} or {\"random\": ...}", path);
		if (!spec_check(spec, path, &bytes, err))
			return false;
	}
	if (bytes > (int64_t)1 << WORKLOAD_MAX_INPUT_BYTES_LOG2)
		return err_set(err, ERR_BOUND, "params take more than 1 GiB, the limit");
	w->params = params;
	return true;
}

static bool read_calls(struct workload *w, struct err *err)
{
	w->calls = json_object_get(w->json, "calls");
	if (!json_is_array(w->calls) || json_array_size(w->calls) == 0)
		return err_set(err, ERR_WORKLOAD,
			       "calls must be a list of calls, each a list of values, as "
			       "[[{\"random\": {\"shape\": [8, 16]}}]]");
	if (json_array_size(w->calls) > WORKLOAD_MAX_CALLS)
		return err_set(err, ERR_BOUND, "calls has %zu entries; the limit is %d",
			       json_array_size(w->calls), WORKLOAD_MAX_CALLS);
	w->n_calls = (int)json_array_size(w->calls);
	for (int i = 0; i < w->n_calls; i++) {
		const json_t *args = json_array_get(w->calls, (size_t)i);

		if (!json_is_array(args))
			return err_set(err, ERR_WORKLOAD, "calls[%d] must be a list of values", i);
		if (json_array_size(args) > WORKLOAD_MAX_ARGS)
			return err_set(err, ERR_BOUND,
				       "calls[%d] has %zu arguments; the limit is %d", i,
				       json_array_size(args), WORKLOAD_MAX_ARGS);
	}
	return true;
}

/* Every value of every point's calls. */
static bool check_values(const struct workload *w, struct err *err)
{
	const int64_t most = (int64_t)1 << WORKLOAD_MAX_INPUT_BYTES_LOG2;

	for (int p = 0; p < w->n_points; p++) {
		json_t *calls = workload_calls(w, &w->points[p], err);
		int64_t bytes = 0;
		size_t i, k;
		json_t *args, *value;

		if (!calls)
			return false;
		json_array_foreach(calls, i, args)
		{
			json_array_foreach(args, k, value)
			{
				char path[64];
				bool ok;

				snprintf(path, sizeof(path), "calls[%zu][%zu]", i, k);
				ok = spec_check(value, path, &bytes, err);
				if (ok && bytes > most)
					ok = err_set(err, ERR_BOUND,
						     "calls: the tensors up to %s take more than 1 "
						     "GiB together, the limit; use fewer calls or "
						     "smaller shapes",
						     path);
				if (!ok) {
					json_decref(calls);
					return false;
				}
			}
		}
		json_decref(calls);
		if (w->sweep.kind != SWEEP_INPUT)
			break; /* the other points have the same values */
	}
	return true;
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

		if (!json_is_integer(item) || json_integer_value(item) < 0 ||
		    json_integer_value(item) >= w->n_calls)
			return err_set(err, ERR_WORKLOAD,
				       "time.%s[%zu] must be the index of a call, 0 to %d", name, i,
				       w->n_calls - 1);
		w->timed[mode][i] = (int)json_integer_value(item);
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
		if (!read_timed(w, mode, list, err))
			return false;
	}
	return true;
}

static bool parse_programs(struct workload *w, struct err *err)
{
	for (int i = 0; i < w->n_points; i++) {
		struct point *p = &w->points[i];
		const char *source = point_source(w, p);

		if (i > 0 && !p->source)
			break; /* an input sweep: one program for all points */
		p->program = fusion_parse_in(w->registry, source, strlen(source), w->entry, err);
		if (!p->program) {
			sweep_locate(w, p, err);
			return false;
		}
	}
	return true;
}

/* Reads `before`, the program that this one is a change of; after the sweep. */
static bool parse_before(struct workload *w, const json_t *before, struct err *err)
{
	const char *source = json_string_value(before);

	if (!before || json_is_null(before))
		return true;
	if (!source || json_string_length(before) > WORKLOAD_MAX_SOURCE_BYTES)
		return err_set(err, ERR_WORKLOAD,
			       "before must be the source that this program is a change of, a "
			       "string of at most 1 MiB");
	if (w->sweep.kind == SWEEP_STATEMENTS)
		return err_set(err, ERR_WORKLOAD,
			       "before goes with no sweep of statements: post the program of one "
			       "point");
	w->before.source = strdup(source);
	w->before.program = fusion_parse_in(w->registry, source, strlen(source), w->entry, err);
	if (w->before.source && w->before.program)
		return true;
	return err_set(err, err->code ? err->code : ERR_MEMORY,
		       "the program before the change, line %d: %.300s", err->line, err->message);
}

static bool fill(struct workload *w, struct err *err)
{
	const json_t *json = w->json;

	if (!check_fields(json, err) ||
	    !field_string(json, "name", "workload", 200, &w->name, err) ||
	    !field_string(json, "entry", "model", 200, &w->entry, err) ||
	    !field_string(json, "source", NULL, WORKLOAD_MAX_SOURCE_BYTES, &w->source, err))
		return false;
	if (!w->source)
		return err_set(err, ERR_WORKLOAD,
			       "source is missing: the text of a program that defines %s",
			       w->entry);
	return settings_read(w, err) && read_params(w, err) && read_calls(w, err) &&
	       read_time(w, err) && sweep_parse(w, json_object_get(json, "sweep"), err) &&
	       check_values(w, err) && parse_programs(w, err) &&
	       parse_before(w, json_object_get(json, "before"), err);
}

struct workload *workload_parse(const json_t *json, struct err *err)
{
	return workload_parse_in(json, NULL, err);
}

struct workload *workload_parse_in(const json_t *json, const struct registry *registry,
				   struct err *err)
{
	struct workload *w;

	if (!json_is_object(json)) {
		err_set(err, ERR_WORKLOAD, "a workload is a JSON object with source and calls");
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		err_set(err, ERR_MEMORY, "out of memory for the workload");
		return NULL;
	}
	w->registry = registry;
	w->json = json_deep_copy(json);
	if (!w->json || !fill(w, err)) {
		workload_destroy(w);
		return NULL;
	}
	return w;
}

void workload_destroy(struct workload *w)
{
	if (!w)
		return;
	for (int i = 0; i < w->n_points; i++) {
		fusion_program_destroy(w->points[i].program);
		free(w->points[i].source);
	}
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++)
		free(w->timed[mode]);
	fusion_program_destroy(w->before.program);
	free(w->before.source);
	free(w->points);
	free(w->deny);
	json_decref(w->json);
	free(w);
}

struct workload workload_quick(const struct workload *w)
{
	struct workload quick = *w;

	quick.backend = "interp";
	quick.threads = 1;
	return quick;
}

bool workload_on_device(const struct workload *w)
{
	int b = w->backend ? fusion_backend_find(w->registry, w->backend) : -1;

	return b >= 0 && fusion_backend(w->registry, b).opens_device;
}

bool workload_wants_torch(const struct workload *w)
{
	return w->torch;
}

const char *workload_name(const struct workload *w)
{
	return w->name;
}

enum fusion_mode workload_explained_mode(const struct workload *w)
{
	bool given = field_given(json_object_get(w->json, "modes"));

	for (int i = 0; given && i < w->n_modes; i++)
		if (w->modes[i] != FUSION_EAGER)
			return w->modes[i];
	return FUSION_AUTO;
}
