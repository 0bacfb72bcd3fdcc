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
#include "fusion/registry.h"
#include "profiler/workload/spec.h"

/* ---- how a workload is to be run. ---- */

static bool refuse_op(size_t i, const char *name, struct err *err)
{
	char spelling[128];
	const char *nearest;

	snprintf(spelling, sizeof(spelling), "torch.%s", name);
	nearest = fusion_op_nearest(spelling);
	return err_set(err, ERR_NAME,
		       "deny[%zu]: there is no op '%s'%s%s; `breakeven ops` lists them", i, name,
		       nearest ? ", but " : "", nearest ? nearest : "");
}

/* Fills in deny and n_deny from the workload's JSON, whose texts they borrow.  WORKLOAD where it
 * is no list of names, NAME where there is no such op. */
static bool deny_read(struct workload *w, struct err *err)
{
	const json_t *deny = json_object_get(w->json, "deny");
	size_t n = json_array_size(deny);

	if (!deny || json_is_null(deny))
		return true;
	if (!json_is_array(deny) || n > WORKLOAD_MAX_DENY)
		return err_set(err, ERR_WORKLOAD,
			       "deny must be a list of at most %d names of ops, as "
			       "[\"softmax\", \"layer_norm\"]",
			       WORKLOAD_MAX_DENY);
	w->deny = calloc(n + 1, sizeof(*w->deny));
	if (!w->deny)
		return err_set(err, ERR_MEMORY, "out of memory for the workload");
	for (size_t i = 0; i < n; i++) {
		w->deny[i] = json_string_value(json_array_get(deny, i));
		if (!w->deny[i] || strlen(w->deny[i]) > 64)
			return err_set(err, ERR_WORKLOAD,
				       "deny[%zu] must be the name of an op, at most 64 bytes", i);
		if (!fusion_op_known(w->registry, w->deny[i]))
			return refuse_op(i, w->deny[i], err);
	}
	w->n_deny = (int)n;
	return true;
}

bool field_given(const json_t *value)
{
	return value && !json_is_null(value);
}

bool field_string(const json_t *json, const char *field, const char *otherwise, size_t most,
		  const char **out, struct err *err)
{
	const json_t *value = json_object_get(json, field);
	const char *text = json_string_value(value);

	*out = otherwise;
	if (!field_given(value))
		return true;
	if (!text)
		return err_set(err, ERR_WORKLOAD, "%s must be a string", field);
	if (json_string_length(value) > most)
		return err_set(err, ERR_BOUND, "%s has %zu bytes; the limit is %zu", field,
			       json_string_length(value), most);
	if (strlen(text) != json_string_length(value))
		return err_set(err, ERR_WORKLOAD, "%s holds a zero byte", field);
	*out = text;
	return true;
}

/* A device has a backend of its own; that of the host is chosen by the engine. */
static bool read_device(struct workload *w, struct err *err)
{
	int backend;
	const char *device;

	if (!field_string(w->json, "device", "cpu", 40, &device, err))
		return false;
	if (strcmp(device, "cpu") != 0 && strcmp(device, "cuda") != 0)
		return err_set(err, ERR_WORKLOAD, "device '%s' is unknown; there are cpu and cuda",
			       device);
	if (strcmp(device, "cpu") == 0)
		return true;
	backend = w->backend ? fusion_backend_find(w->registry, w->backend) : -1;
	if (backend >= 0 && !fusion_backend(w->registry, backend).opens_device)
		return err_set(err, ERR_WORKLOAD,
			       "backend '%s' does not run on device cuda; leave backend out",
			       w->backend);
	w->backend = w->backend ? w->backend : "cuda";
	return true;
}

static bool read_policy(struct workload *w, struct err *err)
{
	const char *name;

	if (!field_string(w->json, "policy", "dynamo", 40, &name, err))
		return false;
	return fusion_policy_from_name(name, &w->policy) ||
	       err_set(err, ERR_WORKLOAD, "policy '%s' is unknown; there are dynamo and native",
		       name);
}

static bool read_flag(const struct workload *w, const char *field, const char *meaning, bool *out,
		      struct err *err)
{
	const json_t *value = json_object_get(w->json, field);

	*out = json_is_true(value);
	return !field_given(value) || json_is_boolean(value) ||
	       err_set(err, ERR_WORKLOAD, "%s must be true or false: %s", field, meaning);
}

static bool read_flags(struct workload *w, struct err *err)
{
	return read_flag(w, "grad", "whether the gradients of the inputs are taken", &w->grad,
			 err) &&
	       read_flag(w, "record_api",
			 "whether timelines of device cuda hold the calls of the driver and the "
			 "runtime, for 0.2 us more a launch",
			 &w->record_api, err) &&
	       read_flag(w, "keep_going", "whether the other modes are measured where one fails",
			 &w->keep_going, err) &&
	       read_flag(w, "poison",
			 "whether memory is watched, in a run that is not timed: what is fresh or "
			 "freed is filled with NaN, and what is written outside of a buffer is "
			 "found",
			 &w->poison, err);
}

/* Ours is always there: the others are laid over it. */
static bool read_engines(struct workload *w, struct err *err)
{
	const json_t *engines = json_object_get(w->json, "engines"), *item;
	bool ours = !field_given(engines);
	size_t i;

	if (field_given(engines) && !json_is_array(engines))
		return err_set(err, ERR_WORKLOAD,
			       "engines must be a list: [\"breakeven\"] or [\"breakeven\", "
			       "\"torch\"]");
	json_array_foreach((json_t *)engines, i, item)
	{
		const char *name = json_string_value(item);

		if (name && strcmp(name, "breakeven") == 0)
			ours = true;
		else if (name && strcmp(name, "torch") == 0)
			w->torch = true;
		else
			return err_set(err, ERR_WORKLOAD,
				       "engines[%zu] '%.40s' is unknown; there are breakeven and "
				       "torch",
				       i, name ? name : "(not a string)");
	}
	return ours || err_set(err, ERR_WORKLOAD,
			       "engines must hold breakeven: what torch measures is laid over it");
}

static bool read_seconds(struct workload *w, struct err *err)
{
	const json_t *seconds = json_object_get(w->json, "seconds");

	w->seconds = json_number_value(seconds);
	return !field_given(seconds) ||
	       (json_is_number(seconds) && w->seconds >= WORKLOAD_MIN_SECONDS &&
		w->seconds <= WORKLOAD_MAX_SECONDS) ||
	       err_set(err, ERR_WORKLOAD,
		       "seconds must be a number from %g to %g: how long each point is sampled",
		       WORKLOAD_MIN_SECONDS, WORKLOAD_MAX_SECONDS);
}

/* {"cse": false}: the pass is left out. */
static bool read_passes(struct workload *w, struct err *err)
{
	const json_t *passes = json_object_get(w->json, "passes");
	const char *name;
	json_t *on;

	if (!field_given(passes))
		return true;
	if (!json_is_object(passes))
		return err_set(err, ERR_WORKLOAD,
			       "passes must be an object that says which are switched off, as "
			       "{\"cse\": false}");
	json_object_foreach((json_t *)passes, name, on)
	{
		struct err why = { 0 };
		uint64_t ignored = 0;

		if (!json_is_boolean(on))
			return err_set(err, ERR_WORKLOAD,
				       "passes.%.64s must be true or false: whether the pass runs",
				       name);
		if (!fusion_pass_disable(w->registry, name,
					 json_is_true(on) ? &ignored : &w->passes_disabled, &why) &&
		    !(why.code == ERR_VALUE && json_is_true(on)))
			return err_set(err, ERR_WORKLOAD, "passes: %s", why.message);
	}
	return fusion_passes_check(w->registry, w->passes_disabled, err);
}

static bool read_autocast(struct workload *w, struct err *err)
{
	const char *name;

	if (!field_string(w->json, "autocast", NULL, 40, &name, err))
		return false;
	if (!name)
		return true;
	if (strncmp(name, "torch.", 6) == 0)
		name += 6;
	return (dtype_from_name(name, &w->autocast) &&
		(w->autocast == DTYPE_BF16 || w->autocast == DTYPE_F16)) ||
	       err_set(err, ERR_WORKLOAD,
		       "autocast '%s' is no dtype of torch.autocast; it takes bfloat16, float16 or "
		       "null",
		       name);
}

static bool read_backend(struct workload *w, struct err *err)
{
	const json_t *threads = json_object_get(w->json, "threads");

	if (!field_string(w->json, "backend", NULL, 40, &w->backend, err))
		return false;
	if (w->backend && fusion_backend_find(w->registry, w->backend) < 0) {
		struct buf names;

		buf_init(&names, 256);
		registry_backend_names(w->registry, &names);
		err_set(err, ERR_WORKLOAD,
			"backend '%s' is not available in this version; it has %s", w->backend,
			names.data ? names.data : "interp");
		buf_finish(&names);
		return false;
	}
	if (!field_given(threads))
		return true;
	if (!json_is_integer(threads) || json_integer_value(threads) < 0)
		return err_set(err, ERR_WORKLOAD,
			       "threads must be an integer >= 0 (0: one per core)");
	if (json_integer_value(threads) > WORKLOAD_MAX_THREADS)
		return err_set(err, ERR_BOUND,
			       "threads is %" JSON_INTEGER_FORMAT "; the limit is %d",
			       json_integer_value(threads), WORKLOAD_MAX_THREADS);
	w->threads = (int)json_integer_value(threads);
	return true;
}

static bool read_modes(struct workload *w, struct err *err)
{
	const json_t *modes = json_object_get(w->json, "modes");
	bool wanted[FUSION_MODE_COUNT] = { false };
	size_t i;
	json_t *item;

	if (field_given(modes) && (!json_is_array(modes) || json_array_size(modes) == 0))
		return err_set(err, ERR_WORKLOAD, "modes must be a list of " FUSION_MODE_LIST);
	json_array_foreach((json_t *)modes, i, item)
	{
		const char *name = json_string_value(item);
		enum fusion_mode mode;

		if (!name || !fusion_mode_from_name(name, &mode))
			return err_set(err, ERR_WORKLOAD,
				       "modes[%zu] '%.40s' is not available in this version; it "
				       "has " FUSION_MODE_LIST,
				       i, name ? name : "(not a string)");
		wanted[mode] = true;
	}
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++)
		if (wanted[mode] || (!field_given(modes) && mode <= FUSION_DYNAMIC))
			w->modes[w->n_modes++] = (enum fusion_mode)mode;
	return true;
}

/* project, tags, commit and branch are stored, not used; they are bounded all
 * the same. */
static bool check_labels(const json_t *json, struct err *err)
{
	static const char *const fields[] = { "project", "commit", "branch" };
	const json_t *tags = json_object_get(json, "tags");
	const char *text;
	size_t i;
	json_t *tag;

	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
		if (!field_string(json, fields[f], NULL, 200, &text, err))
			return false;
	if (!field_given(tags))
		return true;
	if (!json_is_array(tags) || json_array_size(tags) > 32)
		return err_set(err, ERR_WORKLOAD, "tags must be a list of at most 32 strings");
	json_array_foreach((json_t *)tags, i, tag)
	{
		if (!json_is_string(tag) || json_string_length(tag) > 64)
			return err_set(err, ERR_WORKLOAD,
				       "tags[%zu] must be a string of at most 64 bytes", i);
	}
	return true;
}

/* Reads from w->json where and how it is run and what it is filed under: labels, backend,
 * device, policy, modes, engines, passes, and flags.  WORKLOAD or BOUND. */
static bool settings_read(struct workload *w, struct err *err)
{
	return check_labels(w->json, err) && read_backend(w, err) && read_device(w, err) &&
	       read_policy(w, err) && read_flags(w, err) && read_engines(w, err) &&
	       read_seconds(w, err) && read_autocast(w, err) && read_passes(w, err) &&
	       deny_read(w, err) && read_modes(w, err);
}

static const char *const known_fields[] = {
	"name",    "source", "entry",  "calls",    "params",  "modes",      "device",     "backend",
	"threads", "policy", "grad",   "autocast", "passes",  "deny",       "sweep",      "time",
	"project", "tags",   "commit", "branch",   "title",   "record_api", "keep_going", "seconds",
	"engines", "before", "poison", "files",    "weights",
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
		p->program = workload_program(w, source, strlen(source), err);
		if (!p->program) {
			sweep_locate(w, p, err);
			return false;
		}
	}
	return true;
}

void workload_problems(const json_t *json, const struct registry *registry,
		       void (*each)(void *self, const struct err *problem, bool certain),
		       void *self)
{
	struct workload w = { .json = (json_t *)json, .registry = registry };
	struct err ignored;

	if (!json_object_get(json_object_get(json, "sweep"), "statements") &&
	    files_read(&w, &ignored))
		fusion_problems(registry, &w.files, w.entry, each, self);
	files_forget(&w);
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
	w->before.program = workload_program(w, source, strlen(source), err);
	if (w->before.source && w->before.program)
		return true;
	return err_set(err, err->code ? err->code : ERR_MEMORY,
		       "the program before the change, line %d: %.300s", err->line, err->message);
}

static bool fill(struct workload *w, struct err *err)
{
	const json_t *json = w->json;

	if (!check_fields(json, err) ||
	    !field_string(json, "name", "workload", 200, &w->name, err) || !files_read(w, err))
		return false;
	return settings_read(w, err) && weights_read(w, err) && read_params(w, err) &&
	       read_calls(w, err) && read_time(w, err) &&
	       sweep_parse(w, json_object_get(json, "sweep"), err) && check_values(w, err) &&
	       parse_programs(w, err) && parse_before(w, json_object_get(json, "before"), err);
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
	files_forget(w);
	weights_forget(w);
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
