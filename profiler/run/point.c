/* profiler/run/point.c -- a point of a run: the calls of every mode, once and in order.
 *
 * That gives the outputs and the effects, which are compared with eager's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/allclose/allclose.h"
#include "profiler/breaks/rewrites.h"
#include "profiler/report/passes.h"
#include "profiler/report/report.h"
#include "profiler/run/run.h"
#include "profiler/workload/value_json.h"

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
static json_t *memory_checks(const struct candidate *candidate)
{
	struct fence_counts counts = fusion_fence_counts(candidate->engine);

	return json_pack("{s:I, s:I}", "blocks", (json_int_t)counts.blocks, "looks",
			 (json_int_t)counts.looks);
}

/* The calls once in order. */
static bool run_calls(struct run *r, struct candidate *candidate, const struct candidate *eager,
		      json_t *modes, json_t *m, struct err *err)
{
	const json_t *eager_calls = json_object_get(json_object_get(modes, "eager"), "calls");
	struct allocator *a = fusion_allocator(candidate->engine);
	bool whole = !r->options->timing && !r->options->brief;
	json_t *calls = json_array();

	json_object_set_new(m, "calls", calls);
	candidate->held_bytes = (int64_t)allocator_used_bytes(a);
	allocator_reset_peak(a);
	for (int i = 0; i < candidate->originals->n_calls; i++) {
		struct fusion_counts before = fusion_counts(candidate->session), after;
		double compiled_us = report_compile_us(candidate);
		int64_t begin = clock_ns();

		if (!run_tell(r, fusion_mode_name(candidate->mode), 0, 0))
			return err_set(err, ERR_CANCELLED, "the run was cancelled");
		wall_to(&r->wall, WALL_WARM_UP);
		if (!candidate_call(candidate, i, &candidate->outputs[i], err))
			return false;
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
		json_array_append_new(calls,
				      report_call(&(struct report_of_call){
					  .candidate = candidate,
					  .call = i,
					  .before = before,
					  .after = after,
					  .whole = whole,
					  .like = eager,
					  .like_entry = json_array_get(eager_calls, (size_t)i) }));
		buf_clear(fusion_stdout(candidate->session));
		if (!fusion_wait(candidate->engine, err)) /* all that was read is so */
			return false;
	}
	candidate->peak_bytes = (int64_t)allocator_peak_bytes(a);
	if (r->w->poison)
		json_object_set_new(m, "memory_checks", memory_checks(candidate));
	report_order(m, candidate->engine);
	json_object_set_new(m, "peak_bytes", json_integer(candidate->peak_bytes));
	json_object_set_new(m, "launches", json_integer((json_int_t)candidate->launches));
	return true;
}

struct candidate_cache run_kernel_cache(const struct run *r, bool timed)
{
	return (struct candidate_cache){ .dir = r->options->cache_dir, .again = timed };
}

/* Candidates with autocast have others beside them, without it; `place` gets the section. */
static bool run_mixed(struct run *r, struct mixed *mixed, const struct candidate *candidates,
		      const struct inputs *inputs, json_t *place, struct err *err)
{
	bool ok;

	if (!r->w->autocast)
		return true;
	ok = mixed_create(mixed, r->w, &r->w->points[r->point], candidates, inputs,
			  run_kernel_cache(r, r->options->timing), err);
	if (mixed->json)
		json_object_set_new(place, "autocast", mixed->json);
	return ok;
}

/* The calls of one mode, and what capture and compiling made of them. */
static bool run_candidate(struct run *r, struct candidate *candidates, int k,
			  const struct inputs *inputs, json_t *modes, struct err *err)
{
	const struct point *p = &r->w->points[r->point];
	enum fusion_mode mode = r->w->modes[k];
	const struct candidate *eager = k > 0 && candidates[0].mode == FUSION_EAGER ? candidates
										    : NULL;
	int64_t begin = clock_cpu_ns(); /* the C compiler is another process */
	json_t *m = json_object();

	json_object_set_new(modes, fusion_mode_name(mode), m);
	wall_to(&r->wall, WALL_SETUP);
	if (!candidate_create(&candidates[k], r->w, p, mode, inputs,
			      run_kernel_cache(r, r->options->timing), err) ||
	    !run_calls(r, &candidates[k], eager, modes, m, err))
		return false;
	wall_to(&r->wall, WALL_COMPARING);
	if (mode == FUSION_EAGER)
		r->reference.calls_s = candidates[k].calls_s;
	if (eager) {
		struct allclose_pair pair = { &candidates[k], eager, "eager's", &r->reference };

		allclose_in_order(&r->agreements[mode], &pair, m, json_object_get(modes, "eager"));
		allclose_report(&r->agreements[mode], pair.whose, m);
	}
	wall_to(&r->wall, WALL_OTHER);
	report_graphs(m, &candidates[k], false);
	if (r->options->passes)
		report_passes(m, &candidates[k], &r->passes_bytes);
	if (clock_cpu_ns() - begin < quick_calls_ns)
		rewrites_offer_run(json_object_get(m, "breaks"), &candidates[k], r->w, p,
				   rewrites_ms);
	return true;
}

/* Where the workload wants that: a mode that fails, eager having passed, is left out
 * with its error.  A device that failed serves no other mode either. */
static bool leave_out(struct run *r, struct candidate *candidate, int k, json_t *place,
		      json_t *modes, struct err *err)
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
	candidate_destroy(candidate);
	*candidate = (struct candidate){ 0 };
	for (int i = k + 1; i < r->own.n_modes; i++)
		r->own.modes[i - 1] = r->own.modes[i];
	r->own.n_modes--;
	*err = (struct err){ 0 };
	return true;
}

static bool run_candidates(struct run *r, struct candidate *candidates, const struct inputs *inputs,
			   json_t *place, json_t *modes, json_t *break_even, struct err *err)
{
	struct mixed mixed = { 0 };

	for (int k = 0; k < r->w->n_modes; k++) {
		if (run_candidate(r, candidates, k, inputs, modes, err))
			continue;
		if (!leave_out(r, &candidates[k], k, place, modes, err))
			return false;
		k--;
	}
	mixed.plain = candidates + r->w->n_modes;
	wall_to(&r->wall, WALL_WARM_UP);
	if (!run_mixed(r, &mixed, candidates, inputs, place, err))
		return false;
	return r->options->timing ? run_time_point(r, candidates, &mixed, modes, break_even, err)
				  : mixed_report(&mixed, candidates, err);
}

bool run_point(struct run *r, json_t *place, json_t *modes, json_t *break_even, json_t *device,
	       struct err *err)
{
	struct candidate candidates[MEASURE_MAX_CANDIDATES] = { { 0 } };
	const struct point *p = &r->w->points[r->point];
	const struct inputs *inputs;
	bool ok;

	wall_to(&r->wall, WALL_SETUP);
	inputs = run_inputs(r, err);
	if (!inputs)
		return false;
	memset(r->agreements, 0, sizeof(r->agreements));
	r->reference = (struct reference){
		.w = r->w, .p = p, .inputs = inputs, .cache_dir = r->options->cache_dir
	};
	ok = run_candidates(r, candidates, inputs, place, modes, break_even, err);
	if (!ok)
		sweep_locate(r->w, p, err);
	if (candidates[0].engine)
		report_device(device, candidates[0].engine);
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) /* they are for these inputs */
		break_check_drop_candidate(&r->kept[r->point].checks[mode]);
	reference_finish(&r->reference);
	wall_to(&r->wall, WALL_SETUP); /* and what is taken down of it */
	for (int k = 0; k < MEASURE_MAX_CANDIDATES; k++)
		candidate_destroy(&candidates[k]);
	wall_to(&r->wall, WALL_OTHER);
	return ok;
}
