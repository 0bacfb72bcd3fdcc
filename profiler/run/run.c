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
static bool sweep_break_even(struct run *r, struct err *err)
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
		report_crossover(run_comparison(&r->report->break_even, (enum fusion_mode)mode),
				 &c);
	}
	return true;
}

/* Room for the points, and for the crossovers of the modes. */
static bool open_places(struct run *r, struct err *err)
{
	struct arena *arena = &r->draft->arena;
	size_t n = (size_t)(r->end - r->first);
	struct report_comparison *even = report_new_comparison(FUSION_MODE_COUNT, arena);
	const char **of = ARENA_ARRAY(arena, const char *, FUSION_MODE_COUNT);

	r->places = report_new_point(n, arena);
	if (!r->places || !even || !of)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	REPORT_SET(r->report, modes, (struct report_mode_map){ 0 });
	REPORT_SET(r->report, points,
		   (struct report_point_list){ r->places, r->w->sweep.kind == SWEEP_NONE ? 0 : n });
	REPORT_SET_IF(r->report, break_even, r->w->modes[0] == FUSION_EAGER,
		      (struct report_comparison_map){ even, 0, of });
	return true;
}

/* Without a sweep the one point is the report itself. */
static void move_up(struct run *r)
{
	const struct report_point *place = &r->places[0];

	REPORT_SET(r->report, modes, place->modes);
	REPORT_SET_IF(r->report, break_even, place->has.break_even, place->break_even);
	REPORT_SET_IF(r->report, autocast, place->has.autocast, place->autocast);
}

/* The point at work as a report has it: what is measured later goes by the engine's lines. */
static const struct report_point *placed_point(struct run *r)
{
	const struct fusion_program *program = point_program(r->w, &r->w->points[r->point]);
	/* the copy borrows its texts */
	const json_t *json = report_draft_value(r->draft, report_write_point(run_place(r)));
	struct report_point *copy = report_read_point(json, &r->draft->arena, NULL);

	return copy && report_places(REPORT_RECORD(point), copy, program, r->draft) ? copy : NULL;
}

static bool tell_point(struct run *r, struct err *err)
{
	const struct report_point *point = run_place(r);
	int there;

	if (fusion_place(point_program(r->w, &r->w->points[r->point]), 1, &there))
		point = placed_point(r);
	if (!point)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	return r->options->point(r->options->self, r->report, point) ||
	       err_set(err, ERR_CANCELLED, "the run was cancelled");
}

static bool run_points(struct run *r, struct err *err)
{
	bool swept = r->w->sweep.kind != SWEEP_NONE;

	if (!open_places(r, err))
		return false;
	for (r->point = r->first; r->point < r->end; r->point++) {
		const struct point *p = &r->w->points[r->point];

		REPORT_SET(run_place(r), n, (double)p->n);
		REPORT_SET(run_place(r), source,
			   report_draft_text(r->draft, point_source(r->w, p)));
		if (!run_point(r, err))
			return false;
		if (swept && r->options->timing && r->options->point && !tell_point(r, err))
			return false;
	}
	if (!swept)
		move_up(r);
	return !swept || !r->options->timing || r->w->modes[0] != FUSION_EAGER ||
	       sweep_break_even(r, err);
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
	const struct candidate_spec spec = { .w = r->w,
					     .p = &r->w->points[r->point],
					     .mode = mode,
					     .originals = inputs,
					     .cache = run_kernel_cache(r, false) };

	if (r->options->progress &&
	    !r->options->progress(r->options->self, 0.99, "timelines of the device", -1))
		return err_set(err, ERR_CANCELLED, "the run was cancelled");
	if (!candidate_create(candidate, &spec, err))
		return false;
	for (int i = 0; i < inputs->n_calls; i++) {
		if (!candidate_call(candidate, i, &candidate->outputs[i], err) ||
		    !candidate_note_writes(candidate, i, err))
			return false;
	}
	return candidate_forget(candidate, err);
}

/* On a GPU CUPTI is in the process from here on, and a launch costs more: a run of its
 * own, after all that is measured. */
static bool each_on_device(struct run *r,
			   bool (*watch)(struct run *r, struct candidate *candidates,
					 struct err *err),
			   struct err *err)
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
		ok = ok && watch(r, candidates, err);
		for (int k = 0; k < MEASURE_MAX_CANDIDATES; k++)
			candidate_destroy(&candidates[k]);
	}
	wall_to(&r->wall, WALL_OTHER);
	return ok;
}

static bool watch_device(struct run *r, struct err *err)
{
	if (r->recorder) {
		recorder_begin_device(r->recorder, r->w->record_api);
		if (!each_on_device(r, run_record_point, err))
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

static struct report_device *device_of(const struct report_environment *environment,
				       struct report_draft *draft)
{
	struct report_device *device = report_new_device(1, &draft->arena);

	if (!device)
		return NULL;
	REPORT_SET(device, kind, "cpu");
	REPORT_SET(device, name, environment->cpu);
	REPORT_SET(device, vector_unit, environment->vector_unit);
	return device;
}

/* What the report says before anything is run. */
static bool open_report(struct run *r, struct err *err)
{
	struct report_run *to = r->report = report_new_run(1, &r->draft->arena);
	struct report_environment *environment = environment_find(r->options->version, r->draft);

	if (!to || !environment)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	REPORT_SET(to, breakeven, 1);
	REPORT_SET(to, workload, report_read_workload(r->w->json, &r->draft->arena, err));
	REPORT_SET(to, device, device_of(environment, r->draft));
	REPORT_SET(to, environment, environment);
	if (!to->workload)
		return false;
	return to->device || err_set(err, ERR_MEMORY, "out of memory for the report");
}

/* Sets what copying takes: pairs of bytes (read and written) and microseconds. */
static void report_copy(struct report_device *device, const struct copy_curve *curve,
			struct report_draft *draft)
{
	json_t *points;

	if (curve->n == 0)
		return;
	points = json_array();
	for (int i = 0; i < curve->n; i++)
		json_array_append_new(
		    points, json_pack("[I, f]", (json_int_t)curve->bytes[i], curve->ns[i] / 1000));
	REPORT_SET_IF(device, copy_gbps, curve->whole, copy_curve_bandwidth(curve) / 1e9);
	REPORT_SET(device, copy_curve, report_draft_value(draft, points));
	REPORT_SET(device, cache_bytes, curve->cache_bytes);
}

/* The control, and the machine's state, of a run that was timed. */
static void report_machine(struct run *r)
{
	struct report_control *control = machine_control(&r->machine, r->draft);
	struct report_machine *state = machine_state(&r->machine, r->draft);

	REPORT_SET_IF(r->report, control, control, control);
	REPORT_SET_IF(r->report, machine, state, state);
	if (state && state->gpu)
		REPORT_SET(state->gpu, aside, r->rounds_aside);
	REPORT_SET_IF(r->report, one_process, r->one_process, r->one_process);
}

static bool close_report(struct run *r, struct err *err)
{
	struct report_wall *wall = report_new_wall(1, &r->draft->arena);

	if (!wall)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	report_copy(r->report->device, &r->curve, r->draft);
	report_machine(r);
	wall_report(&r->wall, wall);
	REPORT_SET(r->report, seconds, (double)(clock_ns() - r->begin_ns) * 1e-9);
	REPORT_SET(r->report, wall_ms, wall);
	return true;
}

static bool run_all(struct run *r, struct err *err)
{
	const struct workload *w = r->w;
	bool timed = r->options->timing;

	wall_begin(&r->wall);
	if (!choose_points(r, err) || !open_report(r, err))
		return false;
	r->kept = calloc((size_t)w->n_points, sizeof(*r->kept));
	if (!r->kept)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	if (timed)
		machine_begin(&r->machine, "", workload_on_device(w));
	if (timed && r->options->timeline) {
		r->recorder = recorder_create(store_block, r, (r->end - r->first) * w->n_modes,
					      err);
		if (!r->recorder)
			return false;
	}
	/* CUPTI has one subscriber: breaks are watched when the recorder is done with it. */
	if (r->options->rounds)
		return run_points(r, err);
	return run_points(r, err) && (!workload_on_device(w) || watch_device(r, err)) &&
	       (!r->recorder || recorder_finish(r->recorder, err)) &&
	       (!timed || !workload_on_device(w) || each_on_device(r, run_watch_point, err));
}

struct report_run *run_workload(const struct workload *w, const struct profiler_options *options,
				struct report_draft *draft, struct err *err)
{
	struct run r = { .w = &r.own,
			 .own = *w,
			 .options = options,
			 .begin_ns = clock_ns(),
			 .inputs_of = -1,
			 .passes_bytes = PASSES_REPORT_BYTES,
			 .draft = draft };
	bool ok;

	if (w->poison && options->timing) {
		err_set(err, ERR_WORKLOAD,
			"poison is for a run that is not timed, since to watch memory takes most "
			"of the time: leave it out, or use breakeven run FILE --poison");
		return NULL;
	}
	ok = run_all(&r, err);
	wall_to(&r.wall, WALL_SETUP);
	run_finish(&r);
	ok = ok && close_report(&r, err);
	machine_finish(&r.machine);
	return ok ? r.report : NULL;
}

struct report_run *profiler_run(const struct workload *w, const struct profiler_options *options,
				struct report_draft *draft, struct err *err)
{
	struct report_run *report = run_workload(w, options, draft, err);

	if (!report || report_places_of_run(report, w, draft))
		return report;
	err_set(err, ERR_MEMORY, "out of memory for the report");
	return NULL;
}
