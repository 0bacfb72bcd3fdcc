/* profiler/torch/engine.c -- the workload by real PyTorch, for the same report. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "profiler/report/places.h"
#include "profiler/breaks/change.h"
#include "profiler/fields/json.h"
#include "profiler/import/import.h"
#include "profiler/report/report.h"
#include "profiler/run/run.h"
#include "profiler/torch/child.h"
#include "profiler/torch/host.h"
#include "profiler/torch/values.h"

/* ---- what the process sent, as the report has it. ---- */

struct samples {
	double *us;
	int n;
};

static bool samples_read(const json_t *row, struct samples *out)
{
	const json_t *list = json_object_get(row, "samples_ns");

	out->n = (int)json_array_size(list);
	out->us = calloc((size_t)out->n + 1, sizeof(*out->us));
	for (int i = 0; out->us && i < out->n; i++)
		out->us[i] = fmax(json_number_value(json_array_get(list, (size_t)i)) / 1000, 1e-3);
	return out->us != NULL;
}

/* Its median over ours; the interval is as wide as both allow, for the two were not
 * measured in one round.  Null where ours was not measured. */
static json_t *over_ours(const struct report_latency *theirs, const struct report_latency *ours)
{
	struct report_over_ours to = { 0 };

	if (!ours || !(ours->median_us > 0) || !(ours->ci_us.low > 0))
		return json_null();
	REPORT_SET(&to, ratio, theirs->median_us / ours->median_us);
	REPORT_SET(&to, ci,
		   (struct report_interval){ theirs->ci_us.low / ours->ci_us.high,
					     theirs->ci_us.high / ours->ci_us.low });
	return report_write_over_ours(&to);
}

static json_t *comparison_json(const struct comparison *c, double compile_us)
{
	struct report_comparison to = { 0 };

	report_comparison(&to, c, compile_us);
	return report_write_comparison(&to);
}

static json_t *crossover_json(const struct crossover *c)
{
	struct report_comparison to = { 0 };

	report_crossover(&to, c);
	return report_write_comparison(&to);
}

/* The row of a mode as the process sent it, and the same mode of Breakeven at
 * that point (NULL: not measured), as the report has it.  New. */
static json_t *torch_mode_json(const json_t *row, const struct report_mode *ours)
{
	static const char *const same[] = { "compile_ms", "peak_bytes", "first_call_ms",
					    "frames",     "draws",      "error" };
	struct report_draft draft = { 0 };
	json_t *m = json_object();
	struct samples s;

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (json_object_get(row, same[i]))
			json_object_set(m, same[i], json_object_get(row, same[i]));
	if (json_object_get(row, "samples_ns") && samples_read(row, &s)) {
		const struct report_samples samples = { .us = s.us,
							.n = s.n,
							.calls_a_sample = whole_field(
							    row, "calls_a_sample"),
							.compiled = whole_field(row, "compiled") };
		const struct report_latency *latency = report_latency_of(&samples, &draft);

		json_object_set_new(m, "latency", report_write_latency(latency));
		if (latency)
			json_object_set_new(m, "over_ours",
					    over_ours(latency, ours ? ours->latency : NULL));
		free(s.us);
	}
	report_draft_finish(&draft);
	return m;
}

/* ---- is compiling worth it there */

/* Adds `break_even` against torch's eager: of a point to `out`, from its rows; of a sweep,
 * from the messages of its points.  False when out of memory. */
static bool torch_point_even(const json_t *rows, json_t *out)
{
	const json_t *row, *eager_row = json_object_get(rows, "eager");
	struct samples eager = { 0 };
	const char *mode;
	bool ok = samples_read(eager_row, &eager);

	json_object_foreach((json_t *)rows, mode, row)
	{
		double compile_us = 1000 * json_number_value(json_object_get(row, "compile_ms"));
		struct samples s = { 0 };
		struct comparison c;

		if (!ok || row == eager_row || eager.n == 0 || !json_object_get(row, "samples_ns"))
			continue;
		ok = samples_read(row, &s) &&
		     (s.n != eager.n || s.n == 0 ||
		      break_even_compare(eager.us, s.us, s.n, compile_us, &c));
		if (ok && s.n == eager.n && s.n > 0)
			json_object_set_new(out, mode, comparison_json(&c, compile_us));
		free(s.us);
	}
	free(eager.us);
	return ok;
}

/* One mode's crossover over the points that have both; `all` has room for their samples. */
static bool mode_even(const json_t *messages, const char *mode, struct samples (*all)[2],
		      struct curve_point *curve, json_t *out)
{
	const json_t *message;
	struct crossover c;
	bool ok = true;
	int n = 0;
	size_t i;

	json_array_foreach((json_t *)messages, i, message)
	{
		const json_t *rows = json_object_get(message, "modes");

		ok = ok && samples_read(json_object_get(rows, "eager"), &all[i][0]) &&
		     samples_read(json_object_get(rows, mode), &all[i][1]);
		if (!ok || all[i][0].n == 0 || all[i][0].n != all[i][1].n)
			continue;
		curve[n++] = (struct curve_point){
			.n = json_number_value(json_object_get(message, "n")),
			.eager_us = all[i][0].us,
			.mode_us = all[i][1].us,
			.rounds = all[i][0].n,
		};
	}
	if (ok && n > 0 && (ok = break_even_crossover(curve, n, &c)))
		json_object_set_new(out, mode, crossover_json(&c));
	for (i = 0; i < json_array_size(messages); i++) {
		free(all[i][0].us);
		free(all[i][1].us);
	}
	return ok;
}

/* Adds `break_even` against torch's eager: of a point to `out`, from its rows; of a sweep,
 * from the messages of its points.  False when out of memory. */
static bool torch_sweep_even(const json_t *messages, json_t *out)
{
	size_t n = json_array_size(messages);
	const json_t *first = json_object_get(json_array_get(messages, 0), "modes"), *row;
	struct curve_point *curve = calloc(n + 1, sizeof(*curve));
	bool ok = curve != NULL;
	const char *mode;

	json_object_foreach((json_t *)first, mode, row)
	{
		struct samples(*all)[2] = ok ? calloc(n + 1, sizeof(*all)) : NULL;

		ok = ok && all &&
		     (strcmp(mode, "eager") == 0 || mode_even(messages, mode, all, curve, out));
		free(all);
	}
	free(curve);
	return ok;
}

/* A mode whose values are not ours is neither FASTER nor SLOWER: `even`, of a point or of a
 * sweep with this point. */
static void torch_mark_disagreeing(json_t *modes, json_t *even)
{
	static const struct comparison no_comparison = { .verdict = VERDICT_DISAGREES };
	static const struct crossover no_crossover = { .side = SIDE_DISAGREES };
	json_t *m;
	const char *mode;

	json_object_foreach(modes, mode, m)
	{
		const json_t *old = json_object_get(even, mode);
		double compile_ms = json_number_value(json_object_get(old, "compile_ms"));

		if (!json_is_false(json_object_get(json_object_get(m, "values"), "agree")))
			continue;
		json_object_set_new(m, "over_ours", json_null());
		if (json_object_get(old, "side"))
			json_object_set_new(even, mode, crossover_json(&no_crossover));
		else if (old)
			json_object_set_new(even, mode,
					    comparison_json(&no_comparison, compile_ms * 1000));
	}
}

/* ---- TORCH_TRACE and the Chrome trace of the watched process, joined. ---- */

/* Reads what the second process left in the folder, and gives each mode the breaks
 * that are its own.  NULL with *err. */
static json_t *torch_log_read(const char *folder, struct err *err)
{
	struct import *im = import_create(NULL, NULL, 0, err);
	json_t *log = NULL;
	char path[320];

	snprintf(path, sizeof(path), "%s/torch_trace", folder);
	/* The compile logs of all its processes. */
	if (im && import_folder(im, path, 0, err)) {
		snprintf(path, sizeof(path), "%s/trace.json", folder);
		if (import_named(im, path, "trace.json", err))
			log = import_finish(im, err);
	}
	import_destroy(im);
	return log;
}

/* worker.py names a lane's source "<static, n = 30>". */
static bool is_of(const char *file, const char *name)
{
	return file && strcmp(file, name) == 0;
}

/* Reads what the second process left in the folder, and gives each mode the breaks
 * that are its own.  NULL with *err. */
static json_t *torch_log_breaks(const json_t *log, const char *mode, const int64_t *n)
{
	json_t *list = json_array(), *item;
	char name[64], of_point[40] = "";
	size_t i;

	if (n)
		snprintf(of_point, sizeof(of_point), ", n = %lld", (long long)*n);
	snprintf(name, sizeof(name), "<%.20s%s>", mode, of_point);
	json_array_foreach(json_object_get(log, "breaks"), i, item)
	{
		if (is_of(json_string_value(json_object_get(item, "file")), name))
			json_array_append(list, item);
	}
	return list;
}

enum {
	TORCH_WALL_S = 300, /* of both processes together, where the run has no limit */
	TRACE_WALL_S = 120, /* of the second */
	LEAST_WALL_S = 10,  /* less is not begun */
	PROBE_WALL_S = 60,
	CPU_PER_WALL = 16, /* processor seconds: its compilers use all cores */
};
static const int64_t most_file_bytes = INT64_C(4) << 30;
static const int64_t most_value_bytes = INT64_C(3) << 30, point_value_bytes = INT64_C(2) << 30;
/* Of the progress of a run with two engines, what ours has; of torch's, the first process. */
static const double ours_share = 0.5, timed_share = 0.85;

struct engine {
	const struct workload *w;
	const struct profiler_options *options;
	const struct report_run *ours;
	const char *socket; /* of the host */
	struct scratch folder;
	struct torch_limits limits;
	int64_t begin_ns;
	json_t *report;   /* of the engine: what is returned */
	json_t *messages; /* a list: its points */
	bool watched;     /* the second process is under way */
	double share;     /* told so far */
	char what[160];
	char stderr_text[TORCH_STDERR_BYTES + 1];
};

static bool tell(void *self)
{
	struct engine *e = self;
	double from = e->watched ? timed_share : 0, to = e->watched ? 1 : timed_share;
	double share = ours_share + (1 - ours_share) * (from + (to - from) * e->share);

	return !e->options->progress ||
	       e->options->progress(e->options->self, fmin(share, 0.99), e->what, -1);
}

static bool hear(void *self, const json_t *message, struct err *err)
{
	struct engine *e = self;
	json_t *part;

	(void)err;
	if ((part = json_object_get(message, "hello")))
		json_object_update(e->report, part);
	if ((part = json_object_get(message, "progress"))) {
		const char *what = json_string_value(json_object_get(part, "what"));

		e->share = json_number_value(json_object_get(part, "share"));
		snprintf(e->what, sizeof(e->what), "%s", what ? what : "torch");
	}
	if ((part = json_object_get(message, "point")))
		json_array_append(e->messages, part);
	if ((part = json_object_get(message, "trace")))
		json_object_set(e->report, "trace", part);
	if ((part = json_object_get(message, "done")))
		json_object_update(e->report, part);
	return true;
}

/* Three quarters of what the machine has. */
static int64_t memory_limit(void)
{
	return (int64_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * (int64_t)sysconf(_SC_PAGESIZE);
}

static int left_s(const struct engine *e, int wall_s)
{
	return wall_s - (int)((clock_ns() - e->begin_ns) / 1000000000);
}

static bool run_child(struct engine *e, const char *role, int wall_s, struct err *err)
{
	int64_t values = most_value_bytes / e->w->n_points;
	json_t *options = json_pack(
	    "{s:b, s:s, s:I, s:f}", "timing", e->options->timing, "folder", e->folder.path,
	    "value_bytes", (json_int_t)(values < point_value_bytes ? values : point_value_bytes),
	    "device_share", 0.9);
	struct torch_child child = {
		.python = e->options->torch_python,
		.socket = e->socket,
		.folder = &e->folder,
		.limits = &e->limits,
		.role = role,
		.options = options,
		.hear = hear,
		.tick = tell,
		.self = e,
		.stderr_text = e->stderr_text,
	};
	bool ok;

	if (e->options->only)
		json_object_set_new(options, "only", json_integer(e->options->at));
	e->limits = (struct torch_limits){ .wall_s = wall_s,
					   .cpu_s = wall_s * CPU_PER_WALL,
					   .memory_bytes = memory_limit(),
					   .file_bytes = most_file_bytes };
	ok = torch_child_run(&child, err);
	json_decref(options);
	return ok;
}

static json_t *error_json(const struct engine *e, const struct err *why)
{
	json_t *message = json_string(why->message), *detail = json_string(e->stderr_text);

	return json_pack("{s:s, s:o, s:o}", "code", err_name(why->code), "message",
			 message ? message : json_string("a message that is no UTF-8"), "detail",
			 detail ? detail : json_string(""));
}

/* ---- values */

/* The bytes of a point's values; NULL: there are none. */
static void *map_values(const json_t *message, size_t *n_bytes)
{
	const char *path = json_string_value(json_object_get(message, "values"));
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat info;
	void *bytes = MAP_FAILED;

	*n_bytes = 0;
	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0)
		bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return NULL;
	*n_bytes = (size_t)info.st_size;
	return bytes;
}

/* Our eager calls once more, each against that of every mode of torch. */
static bool compare_calls(struct candidate *candidate, const json_t *rows, struct compared *all,
			  const struct compared_call *what, struct err *err)
{
	for (int i = 0; i < candidate->originals->n_calls; i++) {
		const json_t *row;
		const char *mode;
		int k = 0;

		buf_clear(fusion_stdout(candidate->session));
		if (!candidate_call(candidate, i, &candidate->outputs[i], err) ||
		    !candidate_keep_grads(candidate, i, true, err))
			return false;
		json_object_foreach((json_t *)rows, mode, row)
		{
			const json_t *call = json_array_get(json_object_get(row, "calls"),
							    (size_t)i);

			if (call && k < FUSION_MODE_COUNT) {
				struct compared_call one = *what;

				one.index = i;
				one.theirs = call;
				compare_call(&all[k], &one);
			}
			k++;
		}
	}
	return true;
}

/* Adds `values` to each mode of the point. */
static bool compare_point(const struct engine *e, const struct point *p, const json_t *message,
			  json_t *modes, struct err *err)
{
	const json_t *rows = json_object_get(message, "modes"), *row;
	struct compared all[FUSION_MODE_COUNT] = { 0 };
	struct candidate candidate = { 0 };
	struct inputs inputs;
	struct reference reference = {
		.w = e->w, .p = p, .inputs = &inputs, .cache_dir = e->options->cache_dir
	};
	struct compared_call what = { .candidate = &candidate, .reference = &reference };
	void *bytes;
	const char *mode;
	bool ok;
	int k = 0;

	for (int i = 0; i < FUSION_MODE_COUNT; i++)
		all[i].stdout_same = true;
	if (!inputs_create(&inputs, e->w, p, err))
		return false;
	what.bytes = bytes = map_values(message, &what.n_bytes);
	ok = candidate_create(&candidate,
			      &(struct candidate_spec){ .w = e->w,
							.p = p,
							.mode = FUSION_EAGER,
							.originals = &inputs,
							.cache = { .dir = e->options->cache_dir } },
			      err) &&
	     compare_calls(&candidate, rows, all, &what, err);
	if (bytes)
		munmap(bytes, what.n_bytes);
	reference_finish(&reference);
	candidate_destroy(&candidate);
	inputs_destroy(&inputs);
	json_object_foreach((json_t *)rows, mode, row)
	{
		if (ok && json_object_get(row, "calls") && k < FUSION_MODE_COUNT)
			json_object_set_new(json_object_get(modes, mode), "values",
					    compared_json(&all[k]));
		k++;
	}
	return ok;
}

/* ---- the report */

static const struct point *point_of(const struct engine *e, const json_t *message)
{
	for (int i = 0; i < e->w->n_points && e->w->sweep.kind != SWEEP_NONE; i++)
		if (e->w->points[i].n == json_integer_value(json_object_get(message, "n")))
			return &e->w->points[i];
	return &e->w->points[0];
}

/* Our modes at the point; none where it was not measured. */
static struct report_mode_map ours_at(const struct engine *e, const struct point *p)
{
	if (e->w->sweep.kind == SWEEP_NONE)
		return e->ours->modes;
	for (size_t i = 0; i < e->ours->points.n; i++)
		if (e->ours->points.at[i].n == (double)p->n)
			return e->ours->points.at[i].modes;
	return (struct report_mode_map){ 0 };
}

static bool add_point(struct engine *e, const json_t *message, struct err *err)
{
	const json_t *rows = json_object_get(message, "modes"), *row;
	const struct point *p = point_of(e, message);
	json_t *modes = json_object_get(e->report, "modes");
	json_t *even = json_object_get(e->report, "break_even");
	struct report_mode_map ours = ours_at(e, p);
	const char *mode;

	if (e->w->sweep.kind != SWEEP_NONE) {
		modes = json_object();
		even = json_object();
		json_array_append_new(json_object_get(e->report, "points"),
				      json_pack("{s:I, s:o, s:o}", "n", (json_int_t)p->n, "modes",
						modes, "break_even", even));
	}
	json_object_foreach((json_t *)rows, mode, row)
	    json_object_set_new(modes, mode, torch_mode_json(row, report_get(ours, mode)));
	if (!torch_point_even(rows, even))
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	if (!compare_point(e, p, message, modes, err))
		return false;
	torch_mark_disagreeing(modes, even);
	return true;
}

static bool add_points(struct engine *e, struct err *err)
{
	const json_t *message;
	size_t i;

	json_array_foreach(e->messages, i, message)
	{
		if (!add_point(e, message, err))
			return false;
	}
	if (e->w->sweep.kind == SWEEP_NONE || !e->options->timing)
		return true;
	if (!torch_sweep_even(e->messages, json_object_get(e->report, "break_even")))
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	json_array_foreach(json_object_get(e->report, "points"), i, message) torch_mark_disagreeing(
	    json_object_get(message, "modes"), json_object_get(e->report, "break_even"));
	return true;
}

/* Each mode's breaks, where its point was watched. */
static void add_breaks(const struct engine *e, const json_t *log)
{
	const json_t *watched = json_object_get(json_object_get(e->report, "trace"), "points");
	json_t *n, *m;
	const char *mode;
	size_t i, k;

	json_array_foreach((json_t *)watched, i, n)
	{
		int64_t at = json_integer_value(n);
		json_t *modes = json_object_get(e->report, "modes"), *point;

		json_array_foreach(json_object_get(e->report, "points"), k, point)
		{
			if (json_integer_value(json_object_get(point, "n")) == at)
				modes = json_object_get(point, "modes");
		}
		json_object_foreach(modes, mode, m) json_object_set_new(
		    m, "breaks", torch_log_breaks(log, mode, json_is_integer(n) ? &at : NULL));
	}
}

/* The second process, and its logs.  False where the run was cancelled. */
static bool watch(struct engine *e, int wall_s, struct err *err)
{
	json_t *log = NULL;
	struct err why = { 0 };

	e->watched = true;
	e->share = 0;
	if (wall_s < LEAST_WALL_S)
		err_set(&why, ERR_WORKER, "there was no time left for it");
	else if (run_child(e, "trace", wall_s < TRACE_WALL_S ? wall_s : TRACE_WALL_S, &why))
		log = torch_log_read(e->folder.path, &why);
	if (why.code == ERR_CANCELLED)
		return err_set(err, ERR_CANCELLED, "%s", why.message);
	if (!log) {
		json_object_set_new(e->report, "log_error", error_json(e, &why));
		return true;
	}
	add_breaks(e, log);
	json_object_set_new(e->report, "log", log);
	return true;
}

static bool run_both(struct engine *e, int wall_s, struct err *err)
{
	char *script = workload_torch_script(e->w, err);
	struct err why = { 0 };
	bool ok = script && scratch_create(&e->folder, "torch", err) &&
		  torch_folder_write(&e->folder, "experiment.py", script, err);

	free(script);
	if (!ok)
		return false;
	run_child(e, "run", wall_s, &why);
	if (why.code == ERR_CANCELLED)
		return err_set(err, ERR_CANCELLED, "%s", why.message);
	if (why.code != ERR_NONE)
		json_object_set_new(e->report, "error", error_json(e, &why));
	/* What it measured before it failed is kept. */
	if (!add_points(e, err))
		return false;
	return why.code != ERR_NONE || !e->options->timing || watch(e, left_s(e, wall_s), err);
}

/* By the host that runs already; else by one for this run alone. */
static bool run_hosted(struct engine *e, int wall_s, struct err *err)
{
	struct torch_host *own = NULL;
	struct err why = { 0 };
	bool ok = true;

	e->socket = e->options->torch_host;
	if (!e->socket) {
		own = torch_host_start(e->options->torch_python, &why);
		e->socket = own ? torch_host_socket(own) : NULL;
	}
	if (e->socket)
		ok = run_both(e, wall_s, err);
	else
		json_object_set_new(e->report, "error", error_json(e, &why));
	torch_host_stop(own);
	return ok;
}

/* `engines.torch` of the report `ours`.  A failure of torch is no failure of the run: it is
 * reported there.  NULL with CANCELLED or MEMORY. */
static json_t *torch_engine_run(const struct workload *w, const struct profiler_options *options,
				const struct report_run *ours, int wall_s, struct err *err)
{
	struct engine e = { .w = w,
			    .options = options,
			    .ours = ours,
			    .begin_ns = clock_ns(),
			    .what = "torch starts",
			    .messages = json_array() };
	struct err off = { 0 };
	bool ok = true;

	e.report = json_pack("{s:n, s:{}, s:[], s:{}, s:n, s:n, s:n}", "error", "modes", "points",
			     "break_even", "log", "log_error", "trace");
	if (!options->torch_python)
		err_set(&off, ERR_NO_DEVICE, TORCH_SWITCHED_OFF);
	else if (wall_s < LEAST_WALL_S)
		err_set(&off, ERR_WORKER,
			"our engine left torch no time: measure fewer points, or start the server "
			"with a larger --run-seconds");
	if (off.code != ERR_NONE)
		json_object_set_new(e.report, "error", error_json(&e, &off));
	else
		ok = run_hosted(&e, wall_s < TORCH_WALL_S ? wall_s : TORCH_WALL_S, err);
	scratch_destroy(&e.folder);
	json_decref(e.messages);
	json_object_set_new(e.report, "seconds",
			    json_real((double)(clock_ns() - e.begin_ns) * 1e-9));
	if (ok)
		return e.report;
	json_decref(e.report);
	return NULL;
}

/* ---- both engines */

struct halved {
	const struct profiler_options *options;
};

static bool tell_half(void *self, double share, const char *what, double left)
{
	const struct halved *h = self;

	(void)left; /* torch's part is not known */
	return h->options->progress(h->options->self, ours_share * share, what, -1);
}

static bool put_block(void *self, const void *block, size_t len, struct err *err)
{
	const struct halved *h = self;

	return h->options->timeline(h->options->self, block, len, err);
}

static bool run_torch(const struct workload *w, const struct profiler_options *options,
		      struct report_run *report, struct report_draft *draft, struct err *err)
{
	struct report_engines *engines = report_new_engines(1, &draft->arena);
	int64_t ours_ns = (int64_t)(report->seconds * 1e9);
	int wall_s = options->wall_s ? options->wall_s - (int)(ours_ns / 1000000000) : TORCH_WALL_S;
	json_t *torch = torch_engine_run(w, options, report, wall_s, err);

	if (!torch)
		return false;
	torch = report_draft_value(draft, torch);
	if (!torch || !engines)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	REPORT_SET(engines, torch, report_read_torch(torch, &draft->arena, err));
	REPORT_SET(report, engines, engines);
	return engines->torch != NULL;
}

static struct report_run *run_engines(const struct workload *w,
				      const struct profiler_options *options,
				      struct report_draft *draft, struct err *err)
{
	struct halved half = { options };
	struct profiler_options first = *options;
	int64_t begin_ns = clock_ns();
	struct report_run *report;

	if (!w->torch)
		return run_workload(w, options, draft, err);
	first.self = &half;
	first.progress = options->progress ? tell_half : NULL;
	first.timeline = options->timeline ? put_block : NULL;
	report = run_workload(w, &first, draft, err);
	if (!report || !run_torch(w, options, report, draft, err))
		return NULL;
	REPORT_SET(report, seconds, (double)(clock_ns() - begin_ns) * 1e-9);
	return report;
}

json_t *profiler_run_engines(const struct workload *w, const struct profiler_options *options,
			     struct err *err)
{
	struct report_draft draft = { 0 };
	struct changes_made changes = { 0 };
	struct report_run *report = NULL;
	json_t *json = NULL;

	/* First: once CUPTI is in the process a launch costs more. */
	if (change_run(w, options, &changes, err))
		report = run_engines(w, options, &draft, err);
	if (report) {
		change_put(report, &changes);
		json = report_write_run(report);
		if (json)
			report_places_of_run(json, w);
		if (!json)
			err_set(err, ERR_MEMORY, "out of memory for the report");
	}
	change_finish(&changes);
	report_draft_finish(&draft);
	return json;
}

/* ---- is it there */

static bool hear_probe(void *self, const json_t *message, struct err *err)
{
	json_t *found = json_object_get(message, "hello");

	(void)err;
	if (found)
		json_object_update(self, found);
	return true;
}

json_t *profiler_torch_probe(const char *python, struct err *err)
{
	struct torch_limits limits = { .wall_s = PROBE_WALL_S,
				       .cpu_s = PROBE_WALL_S * CPU_PER_WALL,
				       .memory_bytes = memory_limit(),
				       .file_bytes = most_file_bytes };
	struct scratch folder = { 0 };
	struct torch_host *host = torch_host_start(python, err);
	json_t *found = json_object();
	struct torch_child child = { .python = python,
				     .folder = &folder,
				     .limits = &limits,
				     .role = "probe",
				     .hear = hear_probe,
				     .self = found };
	bool ok = host != NULL;

	if (ok) {
		child.socket = torch_host_socket(host);
		ok = scratch_create(&folder, "torch", err) && torch_child_run(&child, err);
	}
	scratch_destroy(&folder);
	torch_host_stop(host);
	if (ok)
		return found;
	json_decref(found);
	return NULL;
}
