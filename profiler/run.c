/* profiler/run.c -- profiler_run(): every point, every mode, one report.
 *
 * Each mode of a point first makes the calls once, in order: that gives the
 * outputs and the effects.  Then the modes of the point are timed against each
 * other, and watched in a run of their own.  Points come one after the other.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/backend.h"
#include "fusion/base/clock.h"
#include "profiler/measure/agree.h"
#include "profiler/breaks/run.h"
#include "profiler/measure/measure.h"
#include "profiler/measure/memory.h"
#include "profiler/measure/mixed.h"
#include "profiler/recorder/recorder.h"
#include "profiler/report/report.h"
#include "profiler/report/passes.h"
#include "profiler/breaks/rewrites.h"
#include "profiler/measure/roofline.h"
#include "profiler/workload/value_json.h"
#include "profiler/workload/workload.h"

/* Seconds of sampling: for a point, and for all of them together. */
static const double point_budget_s = 2, total_budget_s = 30;
/* Of a point's time, the calls in order and compiling: a guess, for the progress bar. */
static const double calls_share = 0.25;
enum { TELL_EVERY_NS = 100 * 1000 * 1000 };
/* Changes of the source are tried where a mode's first calls were that quick, for
 * so many milliseconds. */
static const int64_t quick_calls_ns = 300 * 1000 * 1000;
static const double rewrites_ms = 200;
/* Functions without their breaks are timed as long as that has taken less. */
static const int64_t most_checks_ns = INT64_C(8) * 1000 * 1000 * 1000;
/* The same for each second of sampling, where the workload gives those. */
static const double checks_a_second = 2;

/* What is kept of a point for the crossover. */
struct kept {
	double n;
	int rounds;
	double *sample_us[FUSION_MODE_COUNT]; /* NULL: mode not in the run */
	struct break_check checks[FUSION_MODE_COUNT];
};

struct run {
	const struct workload *w; /* of `own` */
	struct workload own;      /* borrows all; without the modes that failed */
	const struct profiler_options *options;
	int first, end; /* points to run */
	int point;      /* the one at work */
	int64_t begin_ns, told_ns;
	struct kept *kept;
	struct recorder *recorder; /* NULL: nobody wants a timeline */
	int64_t checks_ns;         /* that pricing breaks has taken */
	struct copy_curve curve;   /* of the device; n is 0: not needed so far */
	size_t passes_bytes;       /* of texts of graphs that the report may still hold */
};

/* Reports progress, at most ten times a second; false to cancel. */
static bool tell(struct run *r, const char *mode, int round, double share)
{
	const struct point *p = &r->w->points[r->point];
	int64_t now = clock_ns();
	double all, elapsed = (double)(now - r->begin_ns) * 1e-9;
	char what[160], place[48] = "";

	if (!r->options->progress || now - r->told_ns < TELL_EVERY_NS)
		return true;
	r->told_ns = now;
	all = (r->point - r->first + share) / (r->end - r->first);
	if (r->w->sweep.kind != SWEEP_NONE)
		snprintf(place, sizeof(place), " at n = %lld", (long long)p->n);
	if (round > 0)
		snprintf(what, sizeof(what), "%s%s, round %d", mode, place, round);
	else
		snprintf(what, sizeof(what), "%s%s, first calls", mode, place);
	return r->options->progress(r->options->self, all, what,
				    all > 0.04 ? elapsed / all - elapsed : -1);
}

static bool on_tick(void *self, const struct lane *lane, int round, double share)
{
	return tell(self, fusion_mode_name(lane->mode), round,
		    calls_share + (1 - calls_share) * share);
}

/* Adds what call i compiled to the cost that its mode has to repay. */
static void charge_compile(struct lane *lane, int call, double us)
{
	for (int k = 0; k < lane->n_timed; k++)
		if (lane->timed[k] == call) {
			lane->timed_compile_us += us;
			return;
		}
}

/* The calls once in order.  `eager` (NULL: none) is what outputs are compared
 * with; the largest difference goes to m as max_abs_error. */
static bool run_calls(struct run *r, struct lane *lane, const struct lane *eager, json_t *m,
		      struct err *err)
{
	struct allocator *a = fusion_allocator(lane->engine);
	bool whole = !r->options->timing && !r->options->brief;
	json_t *calls = json_array();
	double error = 0;

	json_object_set_new(m, "calls", calls);
	lane->held_bytes = (int64_t)allocator_used_bytes(a);
	allocator_reset_peak(a);
	for (int i = 0; i < lane->originals->n_calls; i++) {
		struct fusion_counts before = fusion_counts(lane->session), after;
		double compiled_us = report_compile_us(lane);

		if (!tell(r, fusion_mode_name(lane->mode), 0, 0))
			return err_set(err, ERR_CANCELLED, "the run was cancelled");
		if (!lane_call(lane, i, &lane->outputs[i], err) || !lane_reportable(lane, i, err))
			return false;
		after = fusion_counts(lane->session);
		charge_compile(lane, i, report_compile_us(lane) - compiled_us);
		lane->launches = (double)(after.launches - before.launches);
		json_array_append_new(calls, report_call(lane, i, &before, &after, whole));
		buf_clear(fusion_stdout(lane->session));
		lane->writes = lane->writes || lane_wrote(lane, i);
		if (eager)
			error = fmax(error, value_distance(lane->outputs[i], eager->outputs[i]));
		if (!fusion_wait(lane->engine, err)) /* all that was read is so */
			return false;
	}
	lane->peak_bytes = (int64_t)allocator_peak_bytes(a);
	json_object_set_new(m, "peak_bytes", json_integer(lane->peak_bytes));
	json_object_set_new(m, "launches", json_integer((json_int_t)lane->launches));
	if (eager)
		json_object_set_new(m, "max_abs_error",
				    isnan(error) ? json_string("nan") : json_real(error));
	return true;
}

static bool compare_modes(const struct lane *lanes, int n, json_t *break_even, struct err *err)
{
	for (int k = 1; k < n && lanes[0].mode == FUSION_EAGER; k++) {
		double compile_us = lanes[k].timed_compile_us;
		struct comparison c;

		if (compile_us <= 0) /* they found what other calls had compiled */
			compile_us = report_compile_us(&lanes[k]);
		if (!break_even_compare(lanes[0].sample_us, lanes[k].sample_us, lanes[0].n_samples,
					compile_us, &c))
			return err_set(err, ERR_MEMORY, "out of memory for the run");
		json_object_set_new(break_even, fusion_mode_name(lanes[k].mode),
				    report_comparison(&c, compile_us));
	}
	return true;
}

/* Takes the samples over from the lanes. */
static void keep_samples(struct run *r, struct lane *lanes, int n)
{
	struct kept *kept = &r->kept[r->point];

	kept->n = (double)r->w->points[r->point].n;
	kept->rounds = lanes[0].n_samples;
	for (int k = 0; k < n; k++) {
		kept->sample_us[lanes[k].mode] = lanes[k].sample_us;
		lanes[k].sample_us = NULL;
	}
}

/* The timelines of a point, once nothing of it is measured any more. */
static bool record_point(struct run *r, struct lane *lanes, struct err *err)
{
	const struct point *p = &r->w->points[r->point];

	for (int k = 0; k < r->w->n_modes; k++)
		if (!recorder_lane(r->recorder, &lanes[k],
				   r->w->sweep.kind != SWEEP_NONE ? &p->n : NULL, err))
			return false;
	return true;
}

/* The functions without their breaks, as long as there is time for that. */
static bool check_breaks(struct run *r, struct lane *lanes, struct err *err)
{
	struct break_run run = { .w = r->w, .p = &r->w->points[r->point] };
	int64_t most_ns = r->w->seconds > 0 ? (int64_t)(checks_a_second * r->w->seconds * 1e9)
					    : most_checks_ns;

	for (int k = 0; k < r->w->n_modes && r->checks_ns < most_ns; k++) {
		int64_t begin = clock_ns();

		if (!break_check_time(&run, &lanes[k], &r->kept[r->point].checks[lanes[k].mode],
				      err))
			return false;
		r->checks_ns += clock_ns() - begin;
	}
	return true;
}

/* What a kernel of the point may move at most: it reads and writes what there is, once. */
static bool measure_copies(struct run *r, const struct lane *lanes, struct err *err)
{
	int64_t most_bytes = 0;

	for (int k = 0; k < r->w->n_modes; k++)
		if (lanes[k].peak_bytes > most_bytes)
			most_bytes = lanes[k].peak_bytes;
	return r->curve.blind || copy_curve_reaches(&r->curve, most_bytes) ||
	       copy_curve_measure(&r->curve, r->w, most_bytes, err);
}

/* What breaks cost and how far kernels are from what memory allows, by timelines. */
static bool watch_point(struct run *r, struct lane *lanes, json_t *modes, struct err *err)
{
	struct break_run run = { .w = r->w, .p = &r->w->points[r->point], .curve = &r->curve };

	if (!measure_copies(r, lanes, err))
		return false;
	for (int k = 0; k < r->w->n_modes; k++) {
		json_t *m = json_object_get(modes, fusion_mode_name(lanes[k].mode));

		if (!break_run_report(&run, &lanes[k], &r->kept[r->point].checks[lanes[k].mode], m,
				      err) ||
		    !roofline_report(&r->curve, &lanes[k], m, err))
			return false;
	}
	return true;
}

static bool time_point(struct run *r, struct lane *lanes, struct mixed *mixed, json_t *modes,
		       json_t *break_even, struct err *err)
{
	struct measure_watch watch = { .tick = on_tick, .self = r };
	int n = r->w->n_modes, all = n + mixed->n;
	double budget_s = r->w->seconds > 0
			      ? r->w->seconds
			      : fmin(point_budget_s, total_budget_s / (r->end - r->first));

	for (int k = 0; k < all; k++)
		if (!lane_forget(&lanes[k], err))
			return false;
	if (!measure_lanes(lanes, all, budget_s * all / n, &watch, err))
		return false;
	for (int k = 0; k < n; k++) {
		json_t *m = json_object_get(modes, fusion_mode_name(lanes[k].mode));
		struct split split;

		if (!split_measure(&lanes[k], &split, err) ||
		    !memory_report(&lanes[k], (r->end - r->first) * n, m, err))
			return false;
		report_latency(m, &lanes[k], &split);
		json_object_set_new(m, "reproduce",
				    report_reproduce(r->w, &r->w->points[r->point], lanes[k].mode));
	}
	if (!compare_modes(lanes, n, break_even, err) || !mixed_report(mixed, lanes, err))
		return false;
	keep_samples(r, lanes, n);
	if (!check_breaks(r, lanes, err))
		return false;
	if (workload_on_device(r->w)) /* CUPTI comes when all is measured */
		return true;
	return watch_point(r, lanes, modes, err) && (!r->recorder || record_point(r, lanes, err));
}

/* A timed run compiles cold: compile_ms is what a first user pays. */
static struct lane_cache kernel_cache(const struct run *r, bool timed)
{
	return (struct lane_cache){ .dir = r->options->cache_dir, .anew = timed };
}

/* Lanes with autocast have others beside them, without it; `place` gets the section. */
static bool run_mixed(struct run *r, struct mixed *mixed, const struct lane *lanes,
		      const struct inputs *inputs, json_t *place, struct err *err)
{
	bool ok;

	if (!r->w->autocast)
		return true;
	ok = mixed_create(mixed, r->w, &r->w->points[r->point], lanes, inputs,
			  kernel_cache(r, r->options->timing), err);
	if (mixed->json)
		json_object_set_new(place, "autocast", mixed->json);
	return ok;
}

/* The calls of one mode, and what capture and compiling made of them. */
static bool run_lane(struct run *r, struct lane *lanes, int k, const struct inputs *inputs,
		     json_t *modes, struct err *err)
{
	const struct point *p = &r->w->points[r->point];
	enum fusion_mode mode = r->w->modes[k];
	const struct lane *eager = k > 0 && lanes[0].mode == FUSION_EAGER ? lanes : NULL;
	int64_t begin = clock_cpu_ns(); /* the C compiler is another process */
	json_t *m = json_object();

	json_object_set_new(modes, fusion_mode_name(mode), m);
	if (!lane_create(&lanes[k], r->w, p, mode, inputs, kernel_cache(r, r->options->timing),
			 err) ||
	    !run_calls(r, &lanes[k], eager, m, err))
		return false;
	if (eager)
		agree_report(&lanes[k], eager, "eager's", m, json_object_get(modes, "eager"));
	report_graphs(m, &lanes[k], false);
	if (r->options->passes)
		report_passes(m, &lanes[k], &r->passes_bytes);
	if (clock_cpu_ns() - begin < quick_calls_ns)
		rewrites_offer_run(json_object_get(m, "breaks"), &lanes[k], r->w, p, rewrites_ms);
	return true;
}

/* Where the workload wants that: a mode that fails, eager having passed, is left out
 * with its error.  A device that failed serves no other mode either. */
static bool leave_out(struct run *r, struct lane *lane, int k, json_t *place, json_t *modes,
		      struct err *err)
{
	const char *name = fusion_mode_name(r->w->modes[k]);
	json_t *failed = json_object_get(place, "failed");

	if (!r->w->keep_going || k == 0 || r->w->sweep.kind != SWEEP_NONE ||
	    err->code == ERR_CANCELLED || err->code == ERR_DEVICE)
		return false;
	if (!failed) {
		failed = json_object();
		json_object_set_new(place, "failed", failed);
	}
	json_object_set_new(failed, name, report_error(err));
	json_object_del(modes, name);
	lane_destroy(lane);
	*lane = (struct lane){ 0 };
	for (int i = k + 1; i < r->own.n_modes; i++)
		r->own.modes[i - 1] = r->own.modes[i];
	r->own.n_modes--;
	*err = (struct err){ 0 };
	return true;
}

static bool run_lanes(struct run *r, struct lane *lanes, const struct inputs *inputs, json_t *place,
		      json_t *modes, json_t *break_even, struct err *err)
{
	struct mixed mixed = { 0 };

	for (int k = 0; k < r->w->n_modes; k++) {
		if (run_lane(r, lanes, k, inputs, modes, err))
			continue;
		if (!leave_out(r, &lanes[k], k, place, modes, err))
			return false;
		k--;
	}
	mixed.plain = lanes + r->w->n_modes;
	if (!run_mixed(r, &mixed, lanes, inputs, place, err))
		return false;
	return r->options->timing ? time_point(r, lanes, &mixed, modes, break_even, err)
				  : mixed_report(&mixed, lanes, err);
}

static bool run_point(struct run *r, json_t *place, json_t *modes, json_t *break_even,
		      json_t *device, struct err *err)
{
	struct lane lanes[MEASURE_MAX_LANES] = { { 0 } };
	const struct point *p = &r->w->points[r->point];
	struct inputs inputs;
	bool ok;

	if (!inputs_create(&inputs, r->w, p, err))
		return false;
	ok = run_lanes(r, lanes, &inputs, place, modes, break_even, err);
	if (!ok)
		sweep_locate(r->w, p, err);
	if (lanes[0].engine)
		report_device(device, lanes[0].engine);
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) /* they are for these inputs */
		break_check_drop_lane(&r->kept[r->point].checks[mode]);
	for (int k = 0; k < MEASURE_MAX_LANES; k++)
		lane_destroy(&lanes[k]);
	inputs_destroy(&inputs);
	return ok;
}

/* The crossover of every mode against eager, over the points that were run. */
static bool sweep_break_even(struct run *r, json_t *break_even, struct err *err)
{
	struct curve_point curve[WORKLOAD_MAX_POINTS];
	int n = r->end - r->first;

	for (int mode = FUSION_EAGER + 1; mode < FUSION_MODE_COUNT; mode++) {
		struct crossover c;

		if (!r->kept[r->first].sample_us[FUSION_EAGER] ||
		    !r->kept[r->first].sample_us[mode])
			continue;
		for (int i = 0; i < n; i++) {
			const struct kept *kept = &r->kept[r->first + i];

			curve[i] = (struct curve_point){
				.n = kept->n,
				.eager_us = kept->sample_us[FUSION_EAGER],
				.mode_us = kept->sample_us[mode],
				.rounds = kept->rounds,
			};
		}
		if (!break_even_crossover(curve, n, &c))
			return err_set(err, ERR_MEMORY, "out of memory for the run");
		json_object_set_new(break_even, fusion_mode_name((enum fusion_mode)mode),
				    report_crossover(&c));
	}
	return true;
}

static bool run_points(struct run *r, json_t *report, json_t *device, struct err *err)
{
	json_t *points = json_object_get(report, "points");
	json_t *top = json_object_get(report, "break_even");

	for (r->point = r->first; r->point < r->end; r->point++) {
		const struct point *p = &r->w->points[r->point];
		json_t *modes = json_object_get(report, "modes"), *break_even = top;
		json_t *place = report;

		if (r->w->sweep.kind != SWEEP_NONE) {
			modes = json_object();
			break_even = json_object();
			json_array_append_new(points, json_pack("{s:I, s:s, s:o, s:o}", "n",
								(json_int_t)p->n, "source",
								point_source(r->w, p), "modes",
								modes, "break_even", break_even));
			place = json_array_get(points, json_array_size(points) - 1);
		}
		if (!run_point(r, place, modes, break_even, device, err))
			return false;
		if (r->w->modes[0] != FUSION_EAGER)
			json_object_del(json_array_get(points, json_array_size(points) - 1),
					"break_even");
	}
	if (r->w->modes[0] != FUSION_EAGER) {
		json_object_del(report, "break_even"); /* there is nothing to compare with */
		return true;
	}
	if (r->w->sweep.kind == SWEEP_NONE || !r->options->timing)
		return true;
	return sweep_break_even(r, top, err);
}

/* A lane that has made its calls once, nothing of which is measured. */
static bool warm_lane(struct run *r, struct lane *lane, enum fusion_mode mode,
		      const struct inputs *inputs, struct err *err)
{
	const struct point *p = &r->w->points[r->point];

	if (r->options->progress &&
	    !r->options->progress(r->options->self, 0.99, "timelines of the device", -1))
		return err_set(err, ERR_CANCELLED, "the run was cancelled");
	if (!lane_create(lane, r->w, p, mode, inputs, kernel_cache(r, false), err))
		return false;
	for (int i = 0; i < inputs->n_calls; i++) {
		if (!lane_call(lane, i, &lane->outputs[i], err))
			return false;
		lane->writes = lane->writes || lane_wrote(lane, i);
	}
	return lane_forget(lane, err);
}

static json_t *modes_of_point(const struct run *r, json_t *report)
{
	const json_t *points = json_object_get(report, "points");

	return json_object_get(r->w->sweep.kind == SWEEP_NONE
				   ? report
				   : json_array_get(points, (size_t)(r->point - r->first)),
			       "modes");
}

/* On a GPU CUPTI is in the process from here on, and a launch costs more: a run of its
 * own, behind all that is measured. */
static bool each_on_device(struct run *r,
			   bool (*watch)(struct run *r, struct lane *lanes, json_t *modes,
					 struct err *err),
			   json_t *report, struct err *err)
{
	bool ok = true;

	for (r->point = r->first; ok && r->point < r->end; r->point++) {
		struct lane lanes[MEASURE_MAX_LANES] = { { 0 } };
		struct inputs inputs;

		if (!inputs_create(&inputs, r->w, &r->w->points[r->point], err))
			return false;
		for (int k = 0; ok && k < r->w->n_modes; k++)
			ok = warm_lane(r, &lanes[k], r->w->modes[k], &inputs, err);
		ok = ok && watch(r, lanes, modes_of_point(r, report), err);
		for (int k = 0; k < MEASURE_MAX_LANES; k++)
			lane_destroy(&lanes[k]);
		inputs_destroy(&inputs);
	}
	return ok;
}

static bool record_lanes(struct run *r, struct lane *lanes, json_t *modes, struct err *err)
{
	(void)modes;
	return record_point(r, lanes, err);
}

static bool watch_device(struct run *r, json_t *report, struct err *err)
{
	if (r->recorder) {
		recorder_begin_device(r->recorder, r->w->record_api);
		if (!each_on_device(r, record_lanes, report, err))
			return false;
	}
	return true;
}

static bool choose_points(struct run *r, struct err *err)
{
	const struct workload *w = r->w;

	r->first = 0;
	r->end = w->n_points;
	if (!r->options->only)
		return true;
	for (int i = 0; i < w->n_points && w->sweep.kind != SWEEP_NONE; i++)
		if (w->points[i].n == r->options->at) {
			r->first = i;
			r->end = i + 1;
			return true;
		}
	return err_set(err, ERR_VALUE, "the workload's sweep has no point at n = %lld",
		       (long long)r->options->at);
}

static void run_finish(struct run *r)
{
	for (int i = 0; r->kept && i < r->w->n_points; i++)
		for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
			free(r->kept[i].sample_us[mode]);
			break_check_finish(&r->kept[i].checks[mode]);
		}
	free(r->kept);
	recorder_destroy(r->recorder);
}

json_t *profiler_run(const struct workload *w, const struct profiler_options *options,
		     struct err *err)
{
	struct run r = { .w = &r.own,
			 .own = *w,
			 .options = options,
			 .begin_ns = clock_ns(),
			 .passes_bytes = PASSES_REPORT_BYTES };
	json_t *environment, *device, *report = NULL;

	if (!choose_points(&r, err))
		return NULL;
	environment = profiler_environment(options->version);
	device = json_pack("{s:s, s:O, s:O}", "kind", "cpu", "name",
			   json_object_get(environment, "cpu"), "vector_unit",
			   json_object_get(environment, "vector_unit"));
	report = json_pack("{s:i, s:O, s:o, s:o, s:{}, s:[], s:{}}", "breakeven", 1, "workload",
			   w->json, "device", device, "environment", environment, "modes", "points",
			   "break_even");
	r.kept = calloc((size_t)w->n_points, sizeof(*r.kept));
	if (!report || !r.kept) {
		err_set(err, ERR_MEMORY, "out of memory for the report");
		goto fail;
	}
	if (options->timing && options->timeline) {
		r.recorder = recorder_create(options->timeline, options->self,
					     (r.end - r.first) * w->n_modes, err);
		if (!r.recorder)
			goto fail;
	}
	if (!run_points(&r, report, device, err) ||
	    (workload_on_device(w) && !watch_device(&r, report, err)) ||
	    (r.recorder && !recorder_finish(r.recorder, err)))
		goto fail;
	/* CUPTI has one subscriber: the recorder above is done with it */
	if (options->timing && workload_on_device(w) &&
	    !each_on_device(&r, watch_point, report, err))
		goto fail;
	report_copy(device, &r.curve);
	json_object_set_new(report, "seconds", json_real((double)(clock_ns() - r.begin_ns) * 1e-9));
	run_finish(&r);
	return report;
fail:
	json_decref(report);
	run_finish(&r);
	return NULL;
}
