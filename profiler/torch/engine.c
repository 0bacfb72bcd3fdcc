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
#include "fusion/base/refused.h"
#include "profiler/report/places.h"
#include "profiler/breaks/change.h"
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

static bool samples_read(const struct report_torch_sent_mode *row, struct samples *out)
{
	out->n = row ? (int)row->samples_ns.n : 0;
	out->us = calloc((size_t)out->n + 1, sizeof(*out->us));
	for (int i = 0; out->us && i < out->n; i++)
		out->us[i] = fmax(row->samples_ns.at[i] / 1000, 1e-3);
	return out->us != NULL;
}

/* Its median over ours; the interval is as wide as both allow, for the two were not
 * measured in one round.  NULL where ours was not measured. */
static struct report_over_ours *over_ours(const struct report_latency *theirs,
					  const struct report_latency *ours,
					  struct report_draft *draft)
{
	struct report_over_ours *to;

	if (!ours || !(ours->median_us > 0) || !(ours->ci_us.low > 0) ||
	    !(to = report_new_over_ours(1, &draft->arena)))
		return NULL;
	REPORT_SET(to, ratio, theirs->median_us / ours->median_us);
	REPORT_SET(to, ci,
		   (struct report_interval){ theirs->ci_us.low / ours->ci_us.high,
					     theirs->ci_us.high / ours->ci_us.low });
	return to;
}

/* A field that two records have alike: with its value, or without one. */
#define SAME(to, from, field)                                                                      \
	((to)->field = (from)->field, (to)->has.field = (from)->has.field,                         \
	 (to)->written.field = (from)->written.field)

/* A mode as the process sent it, and the same mode of Breakeven at that point (NULL: not
 * measured), as the report has it. */
static void fill_mode(struct report_torch_mode *to, const struct report_torch_sent_mode *row,
		      const struct report_mode *ours, struct report_draft *draft)
{
	const struct report_latency *theirs;
	struct report_over_ours *over;
	struct samples s;

	SAME(to, row, compile_ms);
	SAME(to, row, peak_bytes);
	SAME(to, row, first_call_ms);
	SAME(to, row, frames);
	SAME(to, row, draws);
	SAME(to, row, error);
	if (!row->has.samples_ns || !samples_read(row, &s))
		return;
	theirs = report_latency_of(&(struct report_samples){ .us = s.us,
							     .n = s.n,
							     .calls_a_sample = row->calls_a_sample,
							     .compiled = row->compiled },
				   draft);
	free(s.us);
	if (!theirs)
		return;
	over = over_ours(theirs, ours ? ours->latency : NULL, draft);
	REPORT_SET(to, latency, (struct report_latency *)theirs);
	REPORT_SET_OR_NULL(to, over_ours, over, over);
}

/* ---- is compiling worth it there */

/* Room for so many modes; false without memory. */
static bool even_begin(struct report_comparison_map *even, size_t most, struct report_draft *draft)
{
	*even = (struct report_comparison_map){ .at = report_new_comparison(most, &draft->arena),
						.keys = ARENA_ARRAY(&draft->arena, const char *,
								    most + 1) };
	return even->at && even->keys;
}

static struct report_comparison *even_add(struct report_comparison_map *even, const char *mode)
{
	even->keys[even->n] = mode;
	return &even->at[even->n++];
}

/* Fills in `break_even` of a point against torch's eager.  False when out of memory. */
static bool torch_point_even(const struct report_torch_sent_mode_map *rows,
			     struct report_comparison_map *out)
{
	const struct report_torch_sent_mode *eager_row = report_get(*rows, "eager");
	struct samples eager = { 0 };
	bool ok = samples_read(eager_row, &eager);

	for (size_t i = 0; i < rows->n; i++) {
		const struct report_torch_sent_mode *row = &rows->at[i];
		double compile_us = row->has.compile_ms ? 1000 * row->compile_ms : 0;
		struct samples s = { 0 };
		struct comparison c;

		if (!ok || row == eager_row || eager.n == 0 || !row->has.samples_ns)
			continue;
		ok = samples_read(row, &s) &&
		     (s.n != eager.n || s.n == 0 ||
		      break_even_compare(
			  &(struct paired_samples){ eager.us, s.us, (int[STATS_PROCESSES]){ s.n } },
			  compile_us, &c));
		if (ok && s.n == eager.n && s.n > 0)
			report_comparison(even_add(out, rows->keys[i]), &c, compile_us);
		free(s.us);
	}
	free(eager.us);
	return ok;
}

/* What the process sent of each point. */
struct sent {
	const struct report_torch_sent_point *const *at;
	size_t n;
};

/* One mode's crossover over the points that have both; `all` has room for their samples. */
static bool mode_even(struct sent sent, const char *mode, struct samples (*all)[2],
		      struct curve_point *curve, struct report_comparison_map *out)
{
	struct crossover c;
	bool ok = true;
	int n = 0;

	for (size_t i = 0; i < sent.n; i++) {
		const struct report_torch_sent_mode_map *rows = &sent.at[i]->modes;

		ok = ok && samples_read(report_get(*rows, "eager"), &all[i][0]) &&
		     samples_read(report_get(*rows, mode), &all[i][1]);
		if (!ok || all[i][0].n == 0 || all[i][0].n != all[i][1].n)
			continue;
		curve[n++] = (struct curve_point){
			.n = (double)sent.at[i]->n,
			.eager_us = all[i][0].us,
			.mode_us = all[i][1].us,
			.rounds = all[i][0].n,
		};
	}
	if (ok && n > 0 && (ok = break_even_crossover(curve, n, &c)))
		report_crossover(even_add(out, mode), &c);
	for (size_t i = 0; i < sent.n; i++) {
		free(all[i][0].us);
		free(all[i][1].us);
	}
	return ok;
}

/* Fills in `break_even` of a sweep against torch's eager.  False when out of memory. */
static bool torch_sweep_even(struct sent sent, struct report_comparison_map *out)
{
	const struct report_torch_sent_mode_map none = { 0 };
	const struct report_torch_sent_mode_map *first = sent.n ? &sent.at[0]->modes : &none;
	struct curve_point *curve = calloc(sent.n + 1, sizeof(*curve));
	bool ok = curve != NULL;

	for (size_t k = 0; k < first->n; k++) {
		const char *mode = first->keys[k];
		struct samples(*all)[2] = ok ? calloc(sent.n + 1, sizeof(*all)) : NULL;

		ok = ok && all &&
		     (strcmp(mode, "eager") == 0 || mode_even(sent, mode, all, curve, out));
		free(all);
	}
	free(curve);
	return ok;
}

/* A mode whose values are not ours is neither FASTER nor SLOWER: `even`, of a point or of a
 * sweep with this point. */
static void torch_mark_disagreeing(struct report_torch_mode_map *modes,
				   struct report_comparison_map *even)
{
	static const struct comparison no_comparison = { .verdict = VERDICT_DISAGREES };
	static const struct crossover no_crossover = { .side = SIDE_DISAGREES };

	for (size_t i = 0; i < modes->n; i++) {
		struct report_torch_mode *m = &modes->at[i];
		struct report_comparison *old = report_get(*even, modes->keys[i]);
		struct report_comparison was = old ? *old : (struct report_comparison){ 0 };

		if (!m->values || m->values->agree)
			continue;
		REPORT_SET_OR_NULL(m, over_ours, false, NULL);
		m->has.over_ours = false;
		if (!old)
			continue;
		*old = (struct report_comparison){ 0 };
		if (was.side)
			report_crossover(old, &no_crossover);
		else
			report_comparison(old, &no_comparison,
					  was.has.compile_ms ? was.compile_ms * 1000 : 0);
	}
}

/* ---- TORCH_TRACE and the Chrome trace of the watched process, joined. ---- */

/* Reads what the second process left in the folder.  NULL with *err. */
static struct report_import *torch_log_read(const char *folder, struct report_draft *draft,
					    struct err *err)
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
	log = report_draft_value(draft, log);
	return log ? report_read_import(log, &draft->arena, err) : NULL;
}

/* `file` of a log as the program has it, where it is of the lane `name`; else NULL.  script.py
 * names a lane's source "<static, n = 30>", and writes files into a folder of that name. */
static const char *file_of_lane(const char *file, const char *name)
{
	const char *at = file ? strstr(file, name) : NULL;

	if (!at)
		return NULL;
	at += strlen(name);
	return *at == '/' ? at + 1 : at == file + strlen(name) && !*at ? file : NULL;
}

/* The breaks of a mode. */
static struct report_import_break_list torch_log_breaks(const struct report_import *log,
							const char *mode, const int64_t *n,
							struct report_draft *draft)
{
	struct report_import_break_list list = {
		.at = ARENA_ARRAY(&draft->arena, struct report_import_break, log->breaks.n + 1)
	};
	char name[64], of_point[40] = "";

	if (n)
		snprintf(of_point, sizeof(of_point), ", n = %lld", (long long)*n);
	snprintf(name, sizeof(name), "<%.20s%s>", mode, of_point);
	for (size_t i = 0; list.at && i < log->breaks.n; i++) {
		const struct report_import_break *b = &log->breaks.at[i];
		const char *file = file_of_lane(b->file, name);

		if (!file)
			continue;
		list.at[list.n] = *b;
		list.at[list.n++].file = file;
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
	struct report_draft *draft;
	struct report_torch *report; /* of the engine: what is returned */
	VEC(const struct report_torch_sent_point *) points;
	bool watched; /* the second process is under way */
	double share; /* told so far */
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

static void note_hello(struct report_torch *to, const struct report_torch_hello *hello)
{
	SAME(to, hello, version);
	SAME(to, hello, python);
	SAME(to, hello, executable);
	SAME(to, hello, cuda);
	SAME(to, hello, device_name);
	SAME(to, hello, threads);
	SAME(to, hello, build);
}

static bool on_message(void *self, const struct report_torch_message *m, struct err *err)
{
	struct engine *e = self;

	if (m->hello)
		note_hello(e->report, m->hello);
	if (m->progress) {
		e->share = m->progress->share;
		snprintf(e->what, sizeof(e->what), "%s",
			 m->progress->what ? m->progress->what : "torch");
	}
	if (m->trace)
		REPORT_SET(e->report, trace, m->trace);
	if (m->done && (m->done->has.first_compile_ms || m->done->written.first_compile_ms))
		SAME(e->report, m->done, first_compile_ms);
	return !m->point || VEC_PUSH(&e->points, m->point) ||
	       err_set(err, ERR_MEMORY, "out of memory for what torch measured");
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

static const char places_file[] = "weights.json";

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
		.messages = e->draft,
		.on_message = on_message,
		.tick = tell,
		.self = e,
		.stderr_text = e->stderr_text,
	};
	bool ok;

	if (e->options->only)
		json_object_set_new(options, "only", json_integer(e->options->at));
	if (e->w->n_weights)
		json_object_set_new(options, "weights",
				    json_sprintf("%s/%s", e->folder.path, places_file));
	e->limits = (struct torch_limits){ .wall_s = wall_s,
					   .cpu_s = wall_s * CPU_PER_WALL,
					   .memory_bytes = memory_limit(),
					   .file_bytes = most_file_bytes };
	ok = torch_child_run(&child, err);
	json_decref(options);
	return ok;
}

/* A copy, where the text is UTF-8. */
static const char *utf8_or(const char *text, const char *otherwise, struct report_draft *draft)
{
	json_t *json = json_string(text);
	const char *copy = report_draft_text(draft, json ? text : otherwise);

	json_decref(json);
	return copy;
}

static struct report_failure *failure_of(const struct engine *e, const struct err *why)
{
	struct report_failure *f = report_new_failure(1, &e->draft->arena);

	if (!f)
		return NULL;
	REPORT_SET(f, code, err_name(why->code));
	REPORT_SET(f, message, utf8_or(why->message, "a message that is no UTF-8", e->draft));
	REPORT_SET(f, detail, utf8_or(e->stderr_text, "", e->draft));
	return f;
}

/* ---- values */

/* The bytes of a point's values; NULL: there are none. */
static void *map_values(const char *path, size_t *n_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
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
static bool compare_calls(struct candidate *candidate,
			  const struct report_torch_sent_mode_map *rows, struct compared *all,
			  const struct compared_call *what, struct err *err)
{
	for (int i = 0; i < candidate->originals->n_calls; i++) {
		buf_clear(fusion_stdout(candidate->session));
		if (!candidate_call(candidate, i, &candidate->outputs[i], err) ||
		    !candidate_keep_grads(candidate, i, true, err))
			return false;
		for (size_t k = 0; k < rows->n && k < FUSION_MODE_COUNT; k++) {
			struct compared_call one = *what;

			if ((size_t)i >= rows->at[k].calls.n)
				continue;
			one.index = i;
			one.theirs = &rows->at[k].calls.at[i];
			compare_call(&all[k], &one);
		}
	}
	return true;
}

/* Adds `values` to each mode of the point. */
static bool compare_point(const struct engine *e, const struct point *p,
			  const struct report_torch_sent_point *sent,
			  struct report_torch_mode_map *modes, struct err *err)
{
	const struct report_torch_sent_mode_map *rows = &sent->modes;
	struct compared all[FUSION_MODE_COUNT] = { 0 };
	struct candidate candidate = { 0 };
	struct inputs inputs;
	struct reference reference = {
		.w = e->w, .p = p, .inputs = &inputs, .cache_dir = e->options->cache_dir
	};
	struct compared_call what = { .candidate = &candidate, .reference = &reference };
	void *bytes;
	bool ok;

	for (int i = 0; i < FUSION_MODE_COUNT; i++)
		all[i].stdout_same = true;
	if (!inputs_create(&inputs, e->w, p, err))
		return false;
	what.bytes = bytes = map_values(sent->values, &what.n_bytes);
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
	for (size_t k = 0; ok && k < rows->n && k < FUSION_MODE_COUNT; k++) {
		struct report_torch_values *values;

		if (!rows->at[k].has.calls)
			continue;
		values = report_new_torch_values(1, &e->draft->arena);
		if (!values)
			return err_set(err, ERR_MEMORY, "out of memory for the run");
		compared_report(&all[k], values, e->draft);
		REPORT_SET(&modes->at[k], values, values);
	}
	return ok;
}

/* ---- the report */

static const struct point *point_of(const struct engine *e, int64_t n)
{
	for (int i = 0; i < e->w->n_points && e->w->sweep.kind != SWEEP_NONE; i++)
		if (e->w->points[i].n == n)
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

/* Fills in what each mode did at a point, and how it compares. */
static bool fill_point(const struct engine *e, const struct report_torch_sent_point *sent,
		       struct report_torch_mode_map *modes, struct report_comparison_map *even,
		       struct err *err)
{
	const struct point *p = point_of(e, sent->n);
	struct report_mode_map ours = ours_at(e, p);

	*modes = (struct report_torch_mode_map){
		.at = report_new_torch_mode(sent->modes.n, &e->draft->arena),
		.n = sent->modes.n,
		.keys = sent->modes.keys,
	};
	if (!modes->at || !even_begin(even, sent->modes.n, e->draft))
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	for (size_t k = 0; k < modes->n; k++)
		fill_mode(&modes->at[k], &sent->modes.at[k], report_get(ours, modes->keys[k]),
			  e->draft);
	if (!torch_point_even(&sent->modes, even))
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	if (!compare_point(e, p, sent, modes, err))
		return false;
	torch_mark_disagreeing(modes, even);
	return true;
}

static bool add_point(struct engine *e, const struct report_torch_sent_point *sent, struct err *err)
{
	struct report_torch *to = e->report;
	struct report_torch_point *point = &to->points.at[to->points.n];
	struct report_torch_mode_map modes;
	struct report_comparison_map even;

	if (!fill_point(e, sent, &modes, &even, err))
		return false;
	if (e->w->sweep.kind == SWEEP_NONE) {
		REPORT_SET(to, modes, modes);
		REPORT_SET(to, break_even, even);
		return true;
	}
	REPORT_SET(point, n, (double)point_of(e, sent->n)->n);
	REPORT_SET(point, modes, modes);
	REPORT_SET(point, break_even, even);
	to->points.n++;
	return true;
}

static bool add_points(struct engine *e, struct err *err)
{
	const struct sent sent = { e->points.at, e->points.len };
	struct report_torch *to = e->report;

	to->points.at = report_new_torch_point(sent.n, &e->draft->arena);
	if (!to->points.at)
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	for (size_t i = 0; i < sent.n; i++)
		if (!add_point(e, sent.at[i], err))
			return false;
	if (e->w->sweep.kind == SWEEP_NONE || !e->options->timing)
		return true;
	if (!even_begin(&to->break_even, sent.n ? sent.at[0]->modes.n : 0, e->draft) ||
	    !torch_sweep_even(sent, &to->break_even))
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	for (size_t i = 0; i < to->points.n; i++)
		torch_mark_disagreeing(&to->points.at[i].modes, &to->break_even);
	return true;
}

/* Each mode's breaks, where its point was watched. */
static void add_breaks(const struct engine *e, const struct report_import *log)
{
	const json_t *watched = e->report->trace ? e->report->trace->points : NULL;
	json_t *n;
	size_t i;

	json_array_foreach((json_t *)watched, i, n)
	{
		int64_t at = json_integer_value(n);
		struct report_torch_mode_map *modes = &e->report->modes;

		for (size_t k = 0; k < e->report->points.n; k++)
			if (e->report->points.at[k].n == (double)at)
				modes = &e->report->points.at[k].modes;
		for (size_t k = 0; k < modes->n; k++)
			REPORT_SET(&modes->at[k], breaks,
				   torch_log_breaks(log, modes->keys[k],
						    json_is_integer(n) ? &at : NULL, e->draft));
	}
}

/* The second process, and its logs.  False where the run was cancelled. */
static bool watch(struct engine *e, int wall_s, struct err *err)
{
	struct report_import *log = NULL;
	struct err why = { 0 };

	e->watched = true;
	e->share = 0;
	if (wall_s < LEAST_WALL_S)
		err_set(&why, ERR_WORKER, "there was no time left for it");
	else if (run_child(e, "trace", wall_s < TRACE_WALL_S ? wall_s : TRACE_WALL_S, &why))
		log = torch_log_read(e->folder.path, e->draft, &why);
	if (why.code == ERR_CANCELLED)
		return err_set(err, ERR_CANCELLED, "%s", why.message);
	if (!log) {
		REPORT_SET(e->report, log_error, failure_of(e, &why));
		return true;
	}
	add_breaks(e, log);
	REPORT_SET(e->report, log, log);
	return true;
}

/* Where the files lie that the program reads, for a process of another current folder. */
static bool write_places(const struct engine *e, struct err *err)
{
	json_t *places = json_object();
	char *text;
	bool ok;

	for (int i = 0; i < e->w->n_weights; i++) {
		const struct fusion_data *file = &e->w->weights[i];
		char *path = realpath(file->path, NULL);

		json_object_set_new(places, file->name, json_string(path ? path : file->path));
		free(path);
	}
	text = json_dumps(places, JSON_COMPACT);
	ok = text ? torch_folder_write(&e->folder, places_file, text, err)
		  : err_set(err, ERR_MEMORY, "out of memory for the run");
	free(text);
	json_decref(places);
	return ok;
}

static bool run_both(struct engine *e, int wall_s, struct err *err)
{
	char *script = workload_torch_script(e->w, err), base[320];
	struct err why = { 0 };
	bool ok;

	torch_host_folder(e->socket, base, sizeof(base));
	ok = script && scratch_create_in(&e->folder, base, "torch", err) &&
	     torch_folder_write(&e->folder, "experiment.py", script, err) && write_places(e, err);

	free(script);
	if (!ok)
		return false;
	run_child(e, "run", wall_s, &why);
	if (why.code == ERR_CANCELLED)
		return err_set(err, ERR_CANCELLED, "%s", why.message);
	if (why.code != ERR_NONE)
		REPORT_SET(e->report, error, failure_of(e, &why));
	/* What it measured before it failed is kept. */
	if (!add_points(e, err))
		return false;
	return why.code != ERR_NONE || !e->options->timing || watch(e, left_s(e, wall_s), err);
}

/* By the host that runs already; else by one for this run alone. */
static bool run_hosted(struct engine *e, int wall_s, struct err *err)
{
	const struct torch_reads reads = { .weights = e->w->weights, .n_weights = e->w->n_weights };
	struct torch_host *own = NULL;
	struct err why = { 0 };
	bool ok = true;

	e->socket = e->options->torch_host;
	if (!e->socket) {
		own = torch_host_start(e->options->torch_python,
				       e->options->torch_confined ? &reads : NULL, &why);
		e->socket = own ? torch_host_socket(own) : NULL;
	}
	if (e->socket)
		ok = run_both(e, wall_s, err);
	else
		REPORT_SET(e->report, error, failure_of(e, &why));
	torch_host_stop(own);
	return ok;
}

/* What `engines.torch` begins with; NULL without memory. */
static struct report_torch *begin_report(struct report_draft *draft)
{
	struct report_torch *to = report_new_torch(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET_OR_NULL(to, error, false, NULL);
	REPORT_SET_OR_NULL(to, log, false, NULL);
	REPORT_SET_OR_NULL(to, log_error, false, NULL);
	REPORT_SET_OR_NULL(to, trace, false, NULL);
	to->has.modes = to->has.points = to->has.break_even = true; /* empty */
	return to;
}

/* `engines.torch` of the report `ours`.  A failure of torch is no failure of the run: it is
 * reported there.  NULL with CANCELLED or MEMORY. */
static struct report_torch *torch_engine_run(const struct workload *w,
					     const struct profiler_options *options,
					     const struct report_run *ours, int wall_s,
					     struct report_draft *draft, struct err *err)
{
	struct engine e = { .w = w,
			    .options = options,
			    .ours = ours,
			    .begin_ns = clock_ns(),
			    .what = "torch starts",
			    .draft = draft,
			    .report = begin_report(draft) };
	struct err off = { 0 };
	bool ok = true;

	if (!e.report) {
		err_set(err, ERR_MEMORY, "out of memory for the report");
		return NULL;
	}
	if (!options->torch_python)
		err_set(&off, ERR_NO_DEVICE, TORCH_SWITCHED_OFF);
	else if (wall_s < LEAST_WALL_S)
		err_set(&off, ERR_WORKER,
			"our engine left torch no time: measure fewer points, or start the server "
			"with a larger --run-seconds");
	if (off.code != ERR_NONE)
		REPORT_SET(e.report, error, failure_of(&e, &off));
	else
		ok = run_hosted(&e, wall_s < TORCH_WALL_S ? wall_s : TORCH_WALL_S, err);
	scratch_destroy(&e.folder);
	VEC_FREE(&e.points);
	REPORT_SET(e.report, seconds, (double)(clock_ns() - e.begin_ns) * 1e-9);
	return ok ? e.report : NULL;
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

static bool give_point(void *self, const struct report_run *run, const struct report_point *point)
{
	const struct halved *h = self;

	return h->options->point(h->options->self, run, point);
}

static bool put_block(void *self, const void *block, size_t len, struct err *err)
{
	const struct halved *h = self;

	return h->options->timeline(h->options->self, block, len, err);
}

static const struct report_run *ask_again(void *self, const struct profiler_again *what,
					  struct report_draft *draft, struct err *err)
{
	const struct halved *h = self;

	return h->options->again(h->options->self, what, draft, err);
}

static bool run_torch(const struct workload *w, const struct profiler_options *options,
		      struct report_run *report, struct report_draft *draft, struct err *err)
{
	struct report_engines *engines = report_new_engines(1, &draft->arena);
	int64_t ours_ns = (int64_t)(report->seconds * 1e9);
	int wall_s = options->wall_s ? options->wall_s - (int)(ours_ns / 1000000000) : TORCH_WALL_S;
	struct report_torch *torch = torch_engine_run(w, options, report, wall_s, draft, err);

	if (!torch)
		return false;
	if (!engines)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	REPORT_SET(engines, torch, torch);
	REPORT_SET(report, engines, engines);
	return true;
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
	first.point = options->point ? give_point : NULL;
	first.timeline = options->timeline ? put_block : NULL;
	first.again = options->again ? ask_again : NULL;
	report = run_workload(w, &first, draft, err);
	if (!report || !run_torch(w, options, report, draft, err))
		return NULL;
	REPORT_SET(report, seconds, (double)(clock_ns() - begin_ns) * 1e-9);
	return report;
}

struct report_run *profiler_run_engines(const struct workload *w,
					const struct profiler_options *options,
					struct report_draft *draft, struct err *err)
{
	struct changes_made changes = { 0 };
	struct report_run *report = NULL;
	uint64_t refused = memory_refused();

	/* First: once CUPTI is in the process a launch costs more. */
	if (change_run(w, options, draft, &changes, err))
		report = run_engines(w, options, draft, err);
	if (!report)
		return NULL;
	change_put(report, &changes);
	if (!report_places_of_run(report, w, draft) || memory_refused() != refused) {
		memory_refused_error(err, "the report");
		return NULL;
	}
	return report;
}

/* ---- is it there */

static bool take_probe(void *self, const struct report_torch_message *message, struct err *err)
{
	(void)err;
	if (message->hello)
		json_object_update(self, (json_t *)message->hello->json);
	return true;
}

json_t *profiler_torch_probe(const char *python, bool confined, struct err *err)
{
	struct torch_limits limits = { .wall_s = PROBE_WALL_S,
				       .cpu_s = PROBE_WALL_S * CPU_PER_WALL,
				       .memory_bytes = memory_limit(),
				       .file_bytes = most_file_bytes };
	struct report_draft draft = { 0 };
	struct scratch folder = { 0 };
	const struct torch_reads none = { 0 };
	struct torch_host *host = torch_host_start(python, confined ? &none : NULL, err);
	char base[320];
	json_t *found = json_object();
	struct torch_child child = { .python = python,
				     .folder = &folder,
				     .limits = &limits,
				     .role = "probe",
				     .messages = &draft,
				     .on_message = take_probe,
				     .self = found };
	bool ok = host != NULL;

	if (ok) {
		child.socket = torch_host_socket(host);
		torch_host_folder(child.socket, base, sizeof(base));
		ok = scratch_create_in(&folder, base, "torch", err) && torch_child_run(&child, err);
	}
	scratch_destroy(&folder);
	torch_host_stop(host);
	report_draft_finish(&draft);
	if (ok)
		return found;
	json_decref(found);
	return NULL;
}
