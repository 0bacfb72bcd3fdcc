/* profiler/run/timing.c -- what the calls of a point take, and what watching them tells.
 *
 * The modes are timed against each other; then each is watched in a run of its own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/measure/memory.h"
#include "profiler/report/passes.h"
#include "profiler/report/report.h"
#include "profiler/run/run.h"
#include "profiler/workload/value_json.h"

/* Functions without their breaks are timed as long as that has taken less. */
static const int64_t most_checks_ns = INT64_C(8) * 1000 * 1000 * 1000;
/* The same for each second of sampling, where the workload gives those. */
static const double checks_a_second = 2;

/* ---- whether modes give what eager gives when calls follow each other
 *
 * A fault of memory or of order shows only where a call begins while another is under way,
 * so calls that are waited for one by one do not show it. */

/* Cycles over the calls, one after another. */
static int burst_of(double calls_s)
{
	static const struct {
		double below_s;
		int cycles;
	} rows[] = { { 0.02, 8 }, { 0.2, 3 }, { 1, 2 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (calls_s < rows[i].below_s)
			return rows[i].cycles;
	return 0;
}

static bool burst(struct candidate *candidate, int cycles, struct err *err)
{
	candidate_drop_results(candidate);
	buf_clear(fusion_stdout(candidate->session));
	return candidate_burst(candidate, cycles, err);
}

static struct allclose_pair pair_of(struct run *r, struct candidate *candidates, int k)
{
	return (struct allclose_pair){ &candidates[k], &candidates[0], "eager's", &r->reference };
}

/* The timed calls, one after another, from inputs as they were. */
static bool make_timed(struct candidate *candidate, struct err *err)
{
	candidate_drop_results(candidate);
	for (int i = 0; candidate->writes && i < candidate->n_timed; i++)
		if (!candidate_restore(candidate, candidate->timed[i], err))
			return false;
	for (int i = 0; i < candidate->n_timed; i++)
		if (!candidate_start(candidate, candidate->timed[i],
				     &candidate->outputs[candidate->timed[i]], err))
			return false;
	return fusion_wait(candidate->engine, err);
}

enum { KEPT_BYTES = 64 << 20 };

static int64_t bytes_of(struct value v)
{
	int64_t bytes = 0;

	if (fusion_tensor(v))
		return tensor_numel(fusion_tensor(v)) *
		       (int64_t)dtype_bytes(fusion_tensor(v)->dtype);
	if (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST)
		for (int i = 0; i < value_length(v); i++)
			bytes += bytes_of(value_item(v, i));
	for (int i = 0; v.kind == VALUE_DICT && i < value_length(v); i++)
		bytes += bytes_of(value_item(v, i));
	return bytes;
}

/* What a program returns may be what its next call writes: a sum of gradients, a buffer.  Copies
 * of outputs that are not too large; the others stay. */
static bool keep_outputs(struct candidate *candidate, struct err *err)
{
	for (int i = 0; i < candidate->n_timed; i++) {
		struct value *v = &candidate->outputs[candidate->timed[i]], copy;

		if (!value_walkable(*v, "an output", NULL) || bytes_of(*v) > KEPT_BYTES)
			continue;
		copy = value_copy(*v, fusion_allocator(candidate->engine), err);
		if (copy.kind == VALUE_UNSET)
			return false;
		value_unref(*v);
		*v = copy;
	}
	return true;
}

/* Eager's timed calls, twice: whether the second time gave the same. */
static bool repeats(struct candidate *eager, bool *same, struct err *err)
{
	struct candidate first = *eager;
	struct allclose found = { 0 };
	struct allclose_pair pair = { eager, &first, "the first's", NULL };
	bool ok;

	if (!make_timed(eager, err) || !keep_outputs(eager, err))
		return false;
	first.outputs = eager->outputs;
	eager->outputs = calloc((size_t)eager->originals->n_calls, sizeof(*eager->outputs));
	if (!eager->outputs) {
		eager->outputs = first.outputs;
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	}
	ok = make_timed(eager, err);
	if (ok)
		allclose_later(&found, &pair, STAGE_TIMED);
	*same = found.differing == 0;
	for (int i = 0; i < eager->originals->n_calls; i++)
		value_unref(first.outputs[i]);
	free(first.outputs);
	return ok;
}

/* Calls that follow each other without a wait, before anything is timed: they add to the
 * agreements and to what the report has. */
static bool run_agree_before(struct run *r, struct candidate *candidates, struct err *err)
{
	int cycles = r->reference.burst = burst_of(candidates[0].calls_s);
	struct err ignored = { 0 };

	r->repeats = true;
	/* A program may not be one that can be called again and again. */
	if (candidates[0].mode != FUSION_EAGER || cycles == 0 || r->w->n_modes < 2 ||
	    !burst(&candidates[0], cycles, &ignored))
		return true;
	for (int k = 1; k < r->w->n_modes; k++) {
		struct allclose_pair pair = pair_of(r, candidates, k);

		if (!burst(&candidates[k], cycles, err))
			return false;
		allclose_later(&r->agreements[candidates[k].mode], &pair, STAGE_BURST);
		candidate_drop_results(&candidates[k]);
		buf_clear(fusion_stdout(candidates[k].session));
	}
	reference_rest(&r->reference);
	if (!repeats(&candidates[0], &r->repeats, err))
		return false;
	candidate_drop_results(&candidates[0]);
	buf_clear(fusion_stdout(candidates[0].session));
	return true;
}

/* The timed calls once more after it; adds to them too. */
static bool run_agree_after(struct run *r, struct candidate *candidates, struct err *err)
{
	bool same = false;

	if (candidates[0].mode != FUSION_EAGER || r->w->n_modes < 2)
		return true;
	if (r->repeats && !repeats(&candidates[0], &same, err))
		return false;
	for (int k = 1; k < r->w->n_modes; k++) {
		struct allclose_pair pair = pair_of(r, candidates, k);
		enum fusion_mode mode = candidates[k].mode;
		struct allclose *a = &r->agreements[mode];
		struct allclose_found found;

		if (same && !make_timed(&candidates[k], err))
			return false;
		if (same)
			allclose_later(a, &pair, STAGE_TIMED);
		else
			snprintf(a->not_timed, sizeof(a->not_timed),
				 "each call changes what the next one gives");
		candidate_drop_results(&candidates[k]);
		found = allclose_report(a, pair.whose, r->draft);
		if (run_mode(r, mode))
			ALLCLOSE_SET(run_mode(r, mode), found);
		r->kept[r->point].disagrees[mode] = !found.agrees;
	}
	reference_rest(&r->reference);
	candidate_drop_results(&candidates[0]);
	for (int k = 0; k < r->w->n_modes; k++)
		for (int i = 0; candidates[k].writes && i < r->reference.inputs->n_calls; i++)
			if (!candidate_restore(&candidates[k], i, err))
				return false;
	return true;
}

/* ---- what the rounds tell */

static bool compare_modes(const struct run *r, const struct candidate *candidates, int n,
			  struct err *err)
{
	struct report_comparison_map *break_even = &run_place(r)->break_even;

	for (int k = 1; k < n && candidates[0].mode == FUSION_EAGER; k++) {
		double compile_us = candidates[k].timed_compile_us;
		struct comparison c = { .verdict = VERDICT_DISAGREES };
		const struct paired_samples pairs = { candidates[0].sample_us,
						      candidates[k].sample_us,
						      candidates[0].of_process };

		if (compile_us <= 0) /* they found what other calls had compiled */
			compile_us = report_compile_us(&candidates[k]);
		if (r->kept[r->point].disagrees[candidates[k].mode]) {
			report_comparison(run_comparison(break_even, candidates[k].mode), &c,
					  compile_us);
			continue;
		}
		if (!break_even_compare(&pairs, compile_us, &c))
			return err_set(err, ERR_MEMORY, "out of memory for the run");
		report_comparison(run_comparison(break_even, candidates[k].mode), &c, compile_us);
	}
	return true;
}

/* Takes the samples over from the candidates. */
static void keep_samples(struct run *r, struct candidate *candidates, int n)
{
	struct kept_point *kept = &r->kept[r->point];

	kept->n = (double)r->w->points[r->point].n;
	kept->rounds = candidates[0].n_samples;
	for (int k = 0; k < n; k++) {
		kept->sample_us[candidates[k].mode] = candidates[k].sample_us;
		candidates[k].sample_us = NULL;
	}
}

bool run_record_point(struct run *r, struct candidate *candidates, struct err *err)
{
	const struct point *p = &r->w->points[r->point];

	for (int k = 0; k < r->w->n_modes; k++)
		if (!recorder_watch(r->recorder, &candidates[k],
				    r->w->sweep.kind != SWEEP_NONE ? &p->n : NULL, err))
			return false;
	return true;
}

/* The functions without their breaks, as long as there is time for that. */
static bool check_breaks(struct run *r, struct candidate *candidates, struct err *err)
{
	struct break_run run = { .w = r->w, .p = &r->w->points[r->point] };
	int64_t most_ns = r->w->seconds > 0 ? (int64_t)(checks_a_second * r->w->seconds * 1e9)
					    : most_checks_ns;

	for (int k = 0; k < r->w->n_modes && r->checks_ns < most_ns; k++) {
		int64_t begin = clock_ns();

		if (!break_check_time(&run, &candidates[k],
				      &r->kept[r->point].checks[candidates[k].mode], err))
			return false;
		r->checks_ns += clock_ns() - begin;
	}
	return true;
}

/* What a kernel of the candidate moves at most. */
static int64_t largest_kernel(const struct candidate *candidate)
{
	int64_t most_bytes = 0;

	for (int i = 0; i < fusion_graph_count(candidate->session); i++) {
		struct fusion_graph_info info = fusion_graph(candidate->session, i);

		for (int k = 0; k < info.n_kernels; k++) {
			struct fusion_kernel at = fusion_kernel(&info, k);
			int64_t bytes = at.read_bytes + at.written_bytes;

			most_bytes = bytes > most_bytes ? bytes : most_bytes;
		}
	}
	return most_bytes;
}

static bool measure_copies(struct run *r, const struct candidate *candidates, struct err *err)
{
	int64_t most_bytes = 0;

	for (int k = 0; k < r->w->n_modes; k++) {
		int64_t bytes = largest_kernel(&candidates[k]);

		most_bytes = bytes > most_bytes ? bytes : most_bytes;
	}
	return r->curve.blind || copy_curve_reaches(&r->curve, most_bytes) ||
	       copy_curve_measure(&r->curve, r->w, most_bytes,
				  copy_cache_bytes(candidates[0].engine), err);
}

bool run_watch_point(struct run *r, struct candidate *candidates, struct err *err)
{
	struct break_run run = {
		.w = r->w, .p = &r->w->points[r->point], .curve = &r->curve, .draft = r->draft
	};

	if (!measure_copies(r, candidates, err))
		return false;
	for (int k = 0; k < r->w->n_modes; k++) {
		struct report_mode *m = run_mode(r, candidates[k].mode);

		if (!m)
			continue;
		if (!break_run_report(&run, &candidates[k],
				      &r->kept[r->point].checks[candidates[k].mode], m, err) ||
		    !roofline_report(&r->curve, &candidates[k], m->graphs, &r->draft->arena, err))
			return false;
	}
	return true;
}

/* What a call of the mode goes to, in time and in memory. */
static bool watch_calls(struct run *r, struct candidate *candidate, struct err *err)
{
	int n = (r->end - r->first) * r->w->n_modes;
	struct report_mode *m = run_mode(r, candidate->mode);
	struct split split;

	if (!m)
		return true;
	if (!split_measure(candidate, &split, err))
		return false;
	REPORT_SET(m, memory, memory_report(candidate, n, r->draft, err));
	if (!m->memory)
		return false;
	if (!report_latency(m, candidate, &split, r->draft))
		return err_set(err, ERR_MEMORY, "out of memory for the report");
	if (r->options->passes) /* of graphs that timed calls compiled */
		report_passes(m->graphs, candidate, &r->passes_bytes, r->draft);
	REPORT_SET(m, reproduce,
		   report_reproduce(r->w, &r->w->points[r->point], candidate->mode, r->draft));
	return true;
}

/* What a second process is for: the samples alone. */
static bool run_only_samples(struct run *r, struct candidate *candidates,
			     const struct autocast_effect *autocast, struct err *err)
{
	if (!run_take_samples(r, candidates, autocast, err))
		return false;
	for (int k = 0; k < r->w->n_modes; k++) {
		struct report_mode *m = run_mode(r, candidates[k].mode);
		const struct report_samples samples = { .us = candidates[k].sample_us,
							.n = candidates[k].n_samples };
		struct report_latency *latency = report_latency_of(&samples, r->draft);

		if (!m || !latency)
			return err_set(err, ERR_MEMORY, "out of memory for the run");
		*m = (struct report_mode){ 0 };
		REPORT_SET(m, graphs, (struct report_graph_list){ 0 });
		REPORT_SET(m, breaks, (struct report_break_list){ 0 });
		REPORT_SET(m, recompiles, (struct report_recompile_list){ 0 });
		REPORT_SET(m, latency, latency);
	}
	return true;
}

bool run_time_point(struct run *r, struct candidate *candidates, struct autocast_effect *autocast,
		    struct err *err)
{
	int n = r->w->n_modes;

	if (r->options->rounds)
		return run_only_samples(r, candidates, autocast, err);
	wall_to(&r->wall, WALL_COMPARING);
	if (!run_agree_before(r, candidates, err))
		return false;
	if (!run_take_samples(r, candidates, autocast, err))
		return false;
	wall_to(&r->wall, WALL_COMPARING);
	if (!run_agree_after(r, candidates, err))
		return false;
	wall_to(&r->wall, WALL_MEASURING);
	for (int k = 0; k < n; k++)
		if (!watch_calls(r, &candidates[k], err))
			return false;
	if (!compare_modes(r, candidates, n, err) ||
	    !autocast_effect_report(autocast, candidates, r->draft, err))
		return false;
	keep_samples(r, candidates, n);
	if (!check_breaks(r, candidates, err))
		return false;
	if (workload_on_device(r->w)) /* CUPTI comes when all is measured */
		return true;
	return run_watch_point(r, candidates, err) &&
	       (!r->recorder || run_record_point(r, candidates, err));
}
