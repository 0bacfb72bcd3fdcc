/* profiler/run/run.c -- profiler_run(): every point, every mode, one report.
 *
 * Points come one after the other (point.c, timing.c); what watches a device comes
 * after all that is measured.
 */
#include "profiler/run/run.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/report/places.h"
#include "profiler/report/passes.h"
#include "profiler/report/report.h"

/* The crossover of every mode against eager, over the points that were run. */
static bool sweep_break_even(struct run *r, json_t *break_even, struct err *err)
{
	struct curve_point curve[WORKLOAD_MAX_POINTS];
	int n = r->end - r->first;

	for (int mode = FUSION_EAGER + 1; mode < FUSION_MODE_COUNT; mode++) {
		struct crossover c = { .side = SIDE_DISAGREES };
		bool disagrees = false;

		if (!r->kept[r->first].sample_us[FUSION_EAGER] ||
		    !r->kept[r->first].sample_us[mode])
			continue;
		for (int i = 0; i < n; i++) {
			const struct kept_point *kept = &r->kept[r->first + i];

			curve[i] = (struct curve_point){
				.n = kept->n,
				.eager_us = kept->sample_us[FUSION_EAGER],
				.mode_us = kept->sample_us[mode],
				.rounds = kept->rounds,
			};
			disagrees = disagrees || kept->disagrees[mode];
		}
		if (!disagrees && !break_even_crossover(curve, n, &c))
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

const struct inputs *run_inputs(struct run *r, struct err *err)
{
	if (r->inputs_of == r->point)
		return &r->inputs;
	inputs_destroy(&r->inputs);
	r->inputs_of = -1;
	if (!inputs_create(&r->inputs, r->w, &r->w->points[r->point], err))
		return NULL;
	r->inputs_of = r->point;
	return &r->inputs;
}

/* A candidate that has made its calls once, nothing of which is measured. */
static bool warm_candidate(struct run *r, struct candidate *candidate, enum fusion_mode mode,
			   const struct inputs *inputs, struct err *err)
{
	const struct point *p = &r->w->points[r->point];

	if (r->options->progress &&
	    !r->options->progress(r->options->self, 0.99, "timelines of the device", -1))
		return err_set(err, ERR_CANCELLED, "the run was cancelled");
	if (!candidate_create(candidate, r->w, p, mode, inputs, run_kernel_cache(r, false), err))
		return false;
	for (int i = 0; i < inputs->n_calls; i++) {
		if (!candidate_call(candidate, i, &candidate->outputs[i], err) ||
		    !candidate_note_writes(candidate, i, err))
			return false;
	}
	return candidate_forget(candidate, err);
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
 * own, after all that is measured. */
static bool each_on_device(struct run *r,
			   bool (*watch)(struct run *r, struct candidate *candidates, json_t *modes,
					 struct err *err),
			   json_t *report, struct err *err)
{
	bool ok = true;

	for (r->point = r->first; ok && r->point < r->end; r->point++) {
		struct candidate candidates[MEASURE_MAX_CANDIDATES] = { { 0 } };
		const struct inputs *inputs;

		wall_to(&r->wall, WALL_SETUP);
		inputs = run_inputs(r, err);
		ok = inputs != NULL;
		for (int k = 0; ok && k < r->w->n_modes; k++)
			ok = warm_candidate(r, &candidates[k], r->w->modes[k], inputs, err);
		wall_to(&r->wall, WALL_MEASURING);
		ok = ok && watch(r, candidates, modes_of_point(r, report), err);
		for (int k = 0; k < MEASURE_MAX_CANDIDATES; k++)
			candidate_destroy(&candidates[k]);
	}
	wall_to(&r->wall, WALL_OTHER);
	return ok;
}

static bool record_candidates(struct run *r, struct candidate *candidates, json_t *modes,
			      struct err *err)
{
	(void)modes;
	return run_record_point(r, candidates, err);
}

static bool watch_device(struct run *r, json_t *report, struct err *err)
{
	if (r->recorder) {
		recorder_begin_device(r->recorder, r->w->record_api);
		if (!each_on_device(r, record_candidates, report, err))
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
	inputs_destroy(&r->inputs);
	recorder_destroy(r->recorder);
}

/* What keeps the timeline is not measuring. */
static bool store_block(void *self, const void *block, size_t len, struct err *err)
{
	struct run *r = self;
	enum wall_part was = wall_to(&r->wall, WALL_STORING);
	bool ok = r->options->timeline(r->options->self, block, len, err);

	wall_to(&r->wall, was);
	return ok;
}

/* Last of all: what is measured goes by the engine's lines. */
static void place_all(const struct run *r, json_t *report)
{
	json_t *points = json_object_get(report, "points");

	for (int i = r->first; i < r->end; i++) {
		const struct point *p = &r->w->points[i];
		json_t *part = r->w->sweep.kind == SWEEP_NONE
				   ? report
				   : json_array_get(points, (size_t)(i - r->first));

		report_places(part, p->program ? p->program : r->w->points[0].program);
	}
}

json_t *profiler_run(const struct workload *w, const struct profiler_options *options,
		     struct err *err)
{
	struct run r = { .w = &r.own,
			 .own = *w,
			 .options = options,
			 .begin_ns = clock_ns(),
			 .inputs_of = -1,
			 .passes_bytes = PASSES_REPORT_BYTES };
	json_t *environment, *device, *report = NULL;

	if (w->poison && options->timing) {
		err_set(err, ERR_WORKLOAD,
			"poison is for a run that is not timed, since to watch memory takes most "
			"of the time: leave it out, or use breakeven run FILE --poison");
		return NULL;
	}
	wall_begin(&r.wall);
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
		r.recorder = recorder_create(store_block, &r, (r.end - r.first) * w->n_modes, err);
		if (!r.recorder)
			goto fail;
	}
	if (!run_points(&r, report, device, err) ||
	    (workload_on_device(w) && !watch_device(&r, report, err)) ||
	    (r.recorder && !recorder_finish(r.recorder, err)))
		goto fail;
	/* CUPTI has one subscriber: the recorder above is done with it */
	if (options->timing && workload_on_device(w) &&
	    !each_on_device(&r, run_watch_point, report, err))
		goto fail;
	place_all(&r, report);
	report_copy(device, &r.curve);
	wall_to(&r.wall, WALL_SETUP);
	run_finish(&r);
	json_object_set_new(report, "seconds", json_real((double)(clock_ns() - r.begin_ns) * 1e-9));
	json_object_set_new(report, "wall_ms", wall_json(&r.wall));
	return report;
fail:
	json_decref(report);
	run_finish(&r);
	return NULL;
}
