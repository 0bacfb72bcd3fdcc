/* profiler/workload/settings.c -- how a workload is to be run, and what it is filed under.
 *
 * Each field is read by itself, and what is wrong with one does not hide what is wrong with the
 * next: workload_wrong().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "profiler/workload/workload.h"

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
	bool ok = true;

	if (!field_given(deny))
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
			ok = err_set(err, ERR_WORKLOAD,
				     "deny[%zu] must be the name of an op, at most 64 bytes", i);
		else if (!fusion_op_known(w->registry, w->deny[i]))
			ok = refuse_op(i, w->deny[i], err);
		ok = workload_take(w, ok, err);
	}
	w->n_deny = (int)n;
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

static bool read_autotune(struct workload *w, struct err *err)
{
	static const char *const names[] = {
		[AUTOTUNE_OFF] = "off", [AUTOTUNE_FAST] = "fast", [AUTOTUNE_MAX] = "max"
	};
	const char *name;

	if (!field_string(w->json, "autotune", "off", 40, &name, err))
		return false;
	for (int i = AUTOTUNE_OFF; i <= AUTOTUNE_MAX; i++)
		if (strcmp(name, names[i]) == 0) {
			w->autotune = (enum autotune)i;
			return i == AUTOTUNE_OFF ||
			       (w->backend && strcmp(w->backend, "cuda") == 0) ||
			       err_set(err, ERR_WORKLOAD,
				       "autotune tries kernels of a GPU: leave it out, or take "
				       "device cuda");
		}
	return err_set(err, ERR_WORKLOAD, "autotune '%s' is unknown; there are off, fast and max",
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
	static const char api[] = "whether timelines of device cuda hold the calls of the driver "
				  "and the runtime, for 0.2 µs more a launch",
			  poison[] =
			      "whether memory is watched, in a run that is not timed: what is "
			      "fresh or freed is filled with NaN, and what is written "
			      "outside of a buffer is found",
			  going[] = "whether the other modes are measured where one fails",
			  grad[] = "whether the gradients of the inputs are taken";

	workload_take(w, read_flag(w, "grad", grad, &w->grad, err), err);
	workload_take(w, read_flag(w, "record_api", api, &w->record_api, err), err);
	workload_take(w, read_flag(w, "keep_going", going, &w->keep_going, err), err);
	return read_flag(w, "poison", poison, &w->poison, err);
}

/* Ours is always there: the others are laid over it. */
static bool read_engines(struct workload *w, struct err *err)
{
	const json_t *engines = json_object_get(w->json, "engines"), *item;
	bool ours = !field_given(engines), wrong = false;
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
			wrong |= !err_set(err, ERR_WORKLOAD,
					  "engines[%zu] '%.40s' is unknown; there are breakeven "
					  "and torch",
					  i, name ? name : "(not a string)") &&
				 !workload_take(w, false, err);
	}
	if (wrong)
		return true;
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

		bool ok = true;

		if (!json_is_boolean(on))
			ok = err_set(err, ERR_WORKLOAD,
				     "passes.%.64s must be true or false: whether the pass runs",
				     name);
		else if (!fusion_pass_disable(w->registry, name,
					      json_is_true(on) ? &ignored : &w->passes_disabled,
					      &why) &&
			 !(why.code == ERR_VALUE && json_is_true(on)))
			ok = err_set(err, ERR_WORKLOAD, "passes: %s", why.message);
		workload_take(w, ok, err);
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

		if (name && fusion_mode_from_name(name, &mode))
			wanted[mode] = true;
		else
			workload_take(w,
				      err_set(err, ERR_WORKLOAD,
					      "modes[%zu] '%.40s' is not available in this "
					      "version; it has " FUSION_MODE_LIST,
					      i, name ? name : "(not a string)"),
				      err);
	}
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++)
		if (wanted[mode] || (!field_given(modes) && mode <= FUSION_DYNAMIC))
			w->modes[w->n_modes++] = (enum fusion_mode)mode;
	return true;
}

/* project, tags, commit, branch and host are stored, not used; they are bounded all
 * the same. */
static bool check_labels(struct workload *w, struct err *err)
{
	static const char *const fields[] = { "project", "commit", "branch", "host" };
	const json_t *tags = json_object_get(w->json, "tags");
	const char *text;
	size_t i;
	json_t *tag;

	for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
		workload_take(w, field_string(w->json, fields[f], NULL, 200, &text, err), err);
	if (!field_given(tags))
		return true;
	if (!json_is_array(tags) || json_array_size(tags) > 32)
		return err_set(err, ERR_WORKLOAD, "tags must be a list of at most 32 strings");
	json_array_foreach((json_t *)tags, i, tag)
	{
		if (!json_is_string(tag) || json_string_length(tag) > 64)
			workload_take(w,
				      err_set(err, ERR_WORKLOAD,
					      "tags[%zu] must be a string of at most 64 bytes", i),
				      err);
	}
	return true;
}

void settings_read(struct workload *w)
{
	static bool (*const readers[])(struct workload * w, struct err * err) = {
		check_labels, read_backend,  read_device, read_policy, read_flags, read_engines,
		read_seconds, read_autocast, read_passes, deny_read,   read_modes, read_autotune,
	};

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		struct err err = { 0 };

		workload_take(w, readers[i](w, &err), &err);
	}
}
