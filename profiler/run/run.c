/* profiler/run/run.c -- profiler_run(): every point, every mode, one report.
 *
 * Points come one after the other (timing.c); what watches a device comes
 * after all that is measured.
 */
#include "profiler/run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/allclose/allclose.h"
#include "profiler/breaks/rewrites.h"
#include "profiler/report/passes.h"
#include "profiler/report/places.h"
#include "profiler/report/report.h"
#include "profiler/workload/value_json.h"

/* ---- a point of a run: the calls of every mode, once and in order.
 *
 * That gives the outputs and the effects, which are compared with eager's.
 */

enum { TELL_EVERY_NS = 100 * 1000 * 1000 };
/* Changes of the source are tried where a mode's first calls were that quick, for
 * so many milliseconds. */
static const int64_t quick_calls_ns = 300 * 1000 * 1000;
static const double rewrites_ms = 200;

bool run_tell(struct run *r, const char *mode, int round, double share)
{
	const struct point *p = &r->w->points[r->point];
	int64_t now = clock_ns();
	double all, elapsed = (double)(now - r->begin_ns) * 1e-9;
	char what[160], place[48] = "";

	if (!r->options->progress || now - r->reported_ns < TELL_EVERY_NS)
		return true;
	r->reported_ns = now;
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

/* Adds what call i compiled to the cost that its mode has to repay. */
static void charge_compile(struct candidate *candidate, int call, double us)
{
	for (int k = 0; k < candidate->n_timed; k++)
		if (candidate->timed[k] == call) {
			candidate->timed_compile_us += us;
			return;
		}
}

/* Of all calls: none has found anything, or the run would have ended. */
static struct report_memory_checks *memory_checks(const struct candidate *candidate,
						  struct report_draft *draft)
{
	struct fence_counts counts = fusion_fence_counts(candidate->engine);
	struct report_memory_checks *to = report_new_memory_checks(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, blocks, (int64_t)counts.blocks);
	REPORT_SET(to, looks, (int64_t)counts.looks);
	return to;
}

/* What the report has of a call that was made. */
static void note_call(struct run *r, struct report_mode *m, struct report_of_call *made)
{
	const struct report_mode *eager = made->like ? run_mode(r, FUSION_EAGER) : NULL;

	made->whole = !r->options->timing && !r->options->brief;
	if (eager)
		made->like_entry = &eager->calls.at[made->call];
	report_call_fill(&m->calls.at[m->calls.n++], made, r->draft);
	buf_clear(fusion_stdout(made->candidate->session));
}

/* The calls once in order. */
static bool run_calls(struct run *r, struct candidate *candidate, const struct candidate *eager,
		      struct report_mode *m, struct err *err)
{
	int n = candidate->originals->n_calls;
	struct report_call *calls = report_new_call((size_t)n, &r->draft->arena);
	struct allocator *a = fusion_allocator(candidate->engine);

	if (!calls)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	REPORT_SET(m, calls, (struct report_call_list){ calls, 0 });
	candidate->held_bytes = (int64_t)allocator_used_bytes(a);
	allocator_reset_peak(a);
	for (int i = 0; i < n; i++) {
		struct fusion_counts before = fusion_counts(candidate->session), after;
		double compiled_us = report_compile_us(candidate);
		int64_t begin = clock_ns();

		if (!run_tell(r, fusion_mode_name(candidate->mode), 0, 0))
			return err_set(err, ERR_CANCELLED, "the run was cancelled");
		wall_to(&r->wall, WALL_WARM_UP);
		if (!candidate_call(candidate, i, &candidate->outputs[i], err))
			return false;
		after = fusion_counts(candidate->session);
		begin += after.eager_compile_ns - before.eager_compile_ns;
		candidate->calls_s += (double)(clock_ns() - begin) * 1e-9;
		compiled_us = report_compile_us(candidate) - compiled_us;
		wall_move(&r->wall, WALL_COMPILE, (int64_t)(compiled_us * 1000));
		wall_to(&r->wall, WALL_COMPARING);
		if (!candidate_reportable(candidate, i, err) ||
		    !candidate_keep_grads(candidate, i, false, err))
			return false;
		after = fusion_counts(candidate->session);
		charge_compile(candidate, i, compiled_us);
		candidate->launches = (double)(after.launches - before.launches);
		if (!candidate_note_writes(candidate, i, err))
			return false;
		note_call(r, m,
			  &(struct report_of_call){ .candidate = candidate,
						    .call = i,
						    .before = before,
						    .after = after,
						    .like = eager });
		if (!fusion_wait(candidate->engine, err)) /* all that was read is so */
			return false;
	}
	candidate->peak_bytes = (int64_t)allocator_peak_bytes(a);
	if (r->w->poison)
		REPORT_SET(m, memory_checks, memory_checks(candidate, r->draft));
	report_order(m, candidate->engine, r->draft);
	REPORT_SET(m, peak_bytes, candidate->peak_bytes);
	REPORT_SET(m, launches, floor(candidate->launches));
	return run_is_whole(r, err);
}

/* A timed run compiles cold: compile_ms is what a first user pays. */
static struct candidate_cache run_kernel_cache(const struct run *r, bool timed)
{
	return (struct candidate_cache){ .dir = r->options->cache_dir,
					 .again = timed && !r->options->rounds };
}

static struct candidate_spec spec_of(const struct run *r, enum fusion_mode mode,
				     const struct inputs *inputs)
{
	return (struct candidate_spec){ .w = r->w,
					.p = &r->w->points[r->point],
					.mode = mode,
					.originals = inputs,
					.cache = run_kernel_cache(r, r->options->timing) };
}

/* Candidates with autocast have others beside them, without it. */
static bool run_without_autocast(struct run *r, struct autocast_effect *autocast,
				 const struct candidate *candidates, const struct inputs *inputs,
				 struct err *err)
{
	const struct candidate_spec spec = spec_of(r, FUSION_EAGER, inputs);
	bool ok;

	if (!r->w->autocast)
		return true;
	ok = autocast_effect_create(autocast, &spec, candidates, r->draft, err);
	REPORT_SET_IF(run_place(r), autocast, autocast->section, autocast->section);
	return ok;
}

/* How the values of the calls in order lie to eager's. */
static void agree_in_order(struct run *r, const struct candidate *candidate,
			   const struct candidate *eager, struct report_mode *m)
{
	struct allclose *a = &r->agreements[candidate->mode];
	struct allclose_pair pair = { candidate, eager, "eager's", &r->reference };
	struct allclose_found found;

	allclose_in_order(a, &pair, m->calls, run_mode(r, FUSION_EAGER)->calls);
	found = allclose_report(a, pair.whose, r->draft);
	ALLCLOSE_SET(m, found);
}

/* The calls of one mode, and what capture and compiling made of them. */
static bool run_candidate(struct run *r, struct candidate *candidates, int k,
			  const struct inputs *inputs, struct err *err)
{
	struct candidate *candidate = &candidates[k];
	const struct candidate_spec spec = spec_of(r, r->w->modes[k], inputs);
	const struct candidate *eager = k > 0 && candidates[0].mode == FUSION_EAGER ? candidates
										    : NULL;
	int64_t begin = clock_cpu_ns(); /* the C compiler is another process */
	struct report_mode_map *modes = &run_place(r)->modes;
	struct report_mode *m = &modes->at[modes->n];

	modes->keys[modes->n++] = fusion_mode_name(spec.mode);
	wall_to(&r->wall, WALL_SETUP);
	if (!candidate_create(candidate, &spec, err) || !run_calls(r, candidate, eager, m, err))
		return false;
	wall_to(&r->wall, WALL_COMPARING);
	if (spec.mode == FUSION_EAGER)
		r->reference.calls_s = candidate->calls_s;
	if (eager)
		agree_in_order(r, candidate, eager, m);
	wall_to(&r->wall, WALL_OTHER);
	if (!report_graphs(m, candidate, false, r->draft))
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	if (r->options->passes)
		report_passes(m->graphs, candidate, &r->passes_bytes, r->draft);
	if (!r->options->rounds && clock_cpu_ns() - begin < quick_calls_ns)
		rewrites_offer_run(
		    m->breaks,
		    &(struct rewrites_of){
			.candidate = candidate, .w = r->w, .p = spec.p, .limit_ms = rewrites_ms },
		    r->draft);
	return true;
}

/* Adds the mode that failed to the report, in place of what it has of it. */
static bool note_failure(struct run *r, enum fusion_mode mode, const struct err *err)
{
	struct report_failure_map *failed = &r->report->failed;
	struct report_mode_map *modes = &run_place(r)->modes;

	if (!failed->at) {
		failed->at = report_new_failure(FUSION_MODE_COUNT, &r->draft->arena);
		failed->keys = ARENA_ARRAY(&r->draft->arena, const char *, FUSION_MODE_COUNT);
		r->report->has.failed = true;
	}
	modes->at[--modes->n] = modes->at[FUSION_MODE_COUNT]; /* which nothing ever fills in */
	if (!failed->at || !failed->keys)
		return false;
	failed->keys[failed->n] = fusion_mode_name(mode);
	report_error(&failed->at[failed->n++], err, r->draft);
	return true;
}

/* Where the workload wants that: a mode that fails, eager having passed, is left out
 * with its error.  A device that failed serves no other mode either. */
static bool leave_out(struct run *r, struct candidate *candidate, int k, struct err *err)
{
	if (!r->w->keep_going || k == 0 || r->w->sweep.kind != SWEEP_NONE ||
	    err->code == ERR_CANCELLED || err->code == ERR_DEVICE)
		return false;
	if (!note_failure(r, r->w->modes[k], err))
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	candidate_destroy(candidate);
	*candidate = (struct candidate){ 0 };
	for (int i = k + 1; i < r->own.n_modes; i++)
		r->own.modes[i - 1] = r->own.modes[i];
	r->own.n_modes--;
	*err = (struct err){ 0 };
	return true;
}

static bool run_candidates(struct run *r, struct candidate *candidates, const struct inputs *inputs,
			   struct err *err)
{
	struct autocast_effect autocast = { 0 };

	for (int k = 0; k < r->w->n_modes; k++) {
		if (run_candidate(r, candidates, k, inputs, err))
			continue;
		if (!leave_out(r, &candidates[k], k, err))
			return false;
		k--;
	}
	autocast.plain = candidates + r->w->n_modes;
	wall_to(&r->wall, WALL_WARM_UP);
	if (!run_without_autocast(r, &autocast, candidates, inputs, err))
		return false;
	return r->options->timing ? run_time_point(r, candidates, &autocast, err)
				  : autocast_effect_report(&autocast, candidates, r->draft, err);
}

/* Room for every mode, and for its comparison with eager where that is run. */
static bool open_place(struct run *r, struct err *err)
{
	struct arena *arena = &r->draft->arena;
	struct report_point *place = run_place(r);
	struct report_mode *modes = report_new_mode(FUSION_MODE_COUNT + 1, arena);
	const char **names = ARENA_ARRAY(arena, const char *, FUSION_MODE_COUNT);
	struct report_comparison *even = report_new_comparison(FUSION_MODE_COUNT, arena);
	const char **of = ARENA_ARRAY(arena, const char *, FUSION_MODE_COUNT);

	if (!modes || !names || !even || !of)
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	REPORT_SET(place, modes, (struct report_mode_map){ modes, 0, names });
	REPORT_SET_IF(place, break_even, r->w->modes[0] == FUSION_EAGER,
		      (struct report_comparison_map){ even, 0, of });
	return true;
}

/* The inputs of the point at work: made once, until another point's are wanted.  NULL with
 * *err. */
static const struct inputs *run_inputs(struct run *r, struct err *err)
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

/* The point at work: its calls in every mode and, where the run is timed, what they take.  Fills in
 * its place and the device. */
static bool run_point(struct run *r, struct err *err)
{
	struct candidate candidates[MEASURE_MAX_CANDIDATES] = { { 0 } };
	const struct point *p = &r->w->points[r->point];
	const struct inputs *inputs;
	bool ok;

	wall_to(&r->wall, WALL_SETUP);
	r->ready_ns = r->wall.ns[WALL_SETUP] + r->wall.ns[WALL_WARM_UP];
	inputs = run_inputs(r, err);
	if (!inputs || !open_place(r, err))
		return false;
	memset(r->agreements, 0, sizeof(r->agreements));
	r->reference = (struct reference){
		.w = r->w, .p = p, .inputs = inputs, .cache_dir = r->options->cache_dir
	};
	ok = run_candidates(r, candidates, inputs, err);
	if (!ok)
		sweep_locate(r->w, p, err);
	if (candidates[0].engine)
		report_device(r->report->device, candidates[0].engine, r->draft);
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) /* they are for these inputs */
		break_check_drop_candidate(&r->kept[r->point].checks[mode]);
	reference_finish(&r->reference);
	wall_to(&r->wall, WALL_SETUP); /* and what is taken down of it */
	for (int k = 0; k < MEASURE_MAX_CANDIDATES; k++)
		candidate_destroy(&candidates[k]);
	wall_to(&r->wall, WALL_OTHER);
	return ok;
}

/* ---- */

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
	REPORT_SET_IF(r->report, wide, r->wide, r->wide);
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
	return run_is_whole(r, err);
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
			 .draft = draft,
			 .refused = memory_refused_here() };
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
