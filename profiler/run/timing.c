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

/* ---- the samples of a point: this process', then those of others.
 *
 * Where code and pages lie makes a process as a whole quicker or slower by 1 to 2 %, which no
 * number of its own samples shows.  So others, which begin as new processes, take some too, one
 * after the other. They take a part of this one's time, so that a run takes hardly longer for them.
 */

/* Seconds of sampling: for a point, and for all of them together. */
static const double point_budget_s = 2, total_budget_s = 30;

/* ---- how many others there are */

/* Each holds as much again of memory as this one does meanwhile. */
static const int64_t most_held_bytes = INT64_C(1) << 30;
/* Of a point's time: what may go to getting all of them ready; where it is more, one may take as
 * much as `most_for_one` of the time for samples. */
static const double ready_share = 0.15, most_for_one = 0.25;
/* On a GPU processes differ more, by where the pages of its memory lie, and each starts the device
 * again: two where one takes at most this part of the time for samples, one where it takes as long
 * as that: what it took then, which is less than what the first did, says whether more fit. */
static const double most_for_each_gpu = 0.35, most_for_one_gpu = 1;
/* To start one that has nothing to make ready: a fork, an exec, a sandbox. */
static const double start_s = 0.03;
enum { MOST_OTHERS = 2, OTHERS_ROUNDS = 3, OTHERS_LEAST_ROUNDS = 24 };

/* Of a point's time, this process' part; each of the others takes a third of it. */
static const double own_share[1 + MOST_OTHERS] = { 1, 0.75, 0.6 };

static bool held_too_much(const struct run *r, const struct candidate *candidates)
{
	int64_t held = 0;

	for (int k = 0; k < r->w->n_modes; k++)
		held += candidates[k].held_bytes + candidates[k].peak_bytes;
	return held > most_held_bytes;
}

/* Seconds that a process needs to be where this one is; compiling apart, since kernels are kept.
 * Later points of a GPU have it started already, a process of its own starts it again. */
static double ready_s(struct run *r)
{
	int64_t ns;

	wall_to(&r->wall, r->wall.part);
	ns = r->wall.ns[WALL_SETUP] + r->wall.ns[WALL_WARM_UP];
	r->most_ready_ns = ns - r->ready_ns > r->most_ready_ns ? ns - r->ready_ns
							       : r->most_ready_ns;
	return (double)r->most_ready_ns * 1e-9;
}

/* Where there is none, the report says why. */
static int others_of(struct run *r, const struct candidate *candidates,
		     const struct autocast_effect *autocast, double budget_s)
{
	double each_s = ready_s(r) + start_s;
	double fit = floor(ready_share * (each_s + budget_s) / each_s);

	if (!r->options->again)
		return 0;
	if (autocast->n)
		r->one_process = "each mode was timed with autocast and without, in one process";
	else if (held_too_much(r, candidates))
		r->one_process = "the modes hold more than 1 GiB, which a second process would "
				 "hold again";
	else if (workload_on_device(r->w) && each_s <= most_for_one_gpu * budget_s)
		return each_s <= most_for_each_gpu * budget_s ? MOST_OTHERS : 1;
	else if (fit < 1 && each_s > most_for_one * budget_s)
		r->one_process = "to make a second process ready takes too long beside the samples";
	else
		return (int)fmin(fmax(fit, 1), MOST_OTHERS);
	return 0;
}

/* ---- what they give */

/* Its samples of a mode; NULL: not of as many rounds as those of the other modes. */
static const struct report_latency *latency_of(const struct report_run *again,
					       enum fusion_mode mode, size_t rounds)
{
	const struct report_point *at = again->points.n ? again->points.at : NULL;
	const struct report_mode *m = report_get(at ? at->modes : again->modes,
						 fusion_mode_name(mode));

	if (!m || !m->latency || (rounds && m->latency->samples_ns.n != rounds))
		return NULL;
	return m->latency;
}

static bool append_samples(struct candidate *c, const struct report_latency *from, int process)
{
	size_t n = from->samples_ns.n;
	double *all = realloc(c->sample_us, ((size_t)c->n_samples + n) * sizeof(*all));

	if (!all)
		return false;
	c->sample_us = all;
	for (size_t i = 0; i < n; i++)
		c->sample_us[c->n_samples++] = fmax((double)from->samples_ns.at[i] / 1000, 1e-3);
	c->of_process[process] = (int)n;
	return true;
}

/* All modes or none, so that samples stay pairs.  *why: what keeps them from being used; NULL:
 * nothing. */
static bool join_samples(struct run *r, struct candidate *candidates, int process,
			 const struct report_run *again, const char **why)
{
	const struct report_latency *of[FUSION_MODE_COUNT];
	size_t rounds = 0;

	*why = NULL;
	for (int k = 0; k < r->w->n_modes; k++) {
		of[k] = latency_of(again, candidates[k].mode, rounds);
		if (!of[k] || of[k]->samples_ns.n < STATS_MIN_SAMPLES) {
			*why = "another process took too few samples in its time";
			return true;
		}
		rounds = of[k]->samples_ns.n;
	}
	for (int k = 0; k < r->w->n_modes; k++)
		if (!append_samples(&candidates[k], of[k], process))
			return false;
	machine_join(&r->machine, again->control, process);
	return true;
}

/* The process that comes next of them; *why as above. */
static bool time_again(struct run *r, struct candidate *candidates, int process, const char **why,
		       struct err *err)
{
	int rounds = candidates[0].of_process[0] / OTHERS_ROUNDS;
	const struct profiler_again what = { r->w->sweep.kind != SWEEP_NONE,
					     r->w->points[r->point].n,
					     rounds < OTHERS_LEAST_ROUNDS ? OTHERS_LEAST_ROUNDS
									  : rounds };
	struct err said = { 0 };
	const struct report_run *again = r->options->again(r->options->self, &what, r->draft,
							   &said);

	if (again)
		return join_samples(r, candidates, process, again, why) ||
		       err_set(err, ERR_MEMORY, "out of memory for the run");
	if (said.code == ERR_CANCELLED)
		return err_set(err, said.code, "%s", said.message);
	*why = arena_printf(&r->draft->arena, "another process failed: %s", said.message);
	return true;
}

/* ---- more of them, where these do not tell enough
 *
 * Where processes differ much (a program that waits for its launches differs by 2 % from one to the
 * next), three of them leave a wider interval than a comparison wants.  So one more takes samples,
 * and one more, until the interval is narrow or the time for them is up. */

/* Half of the interval of what two runs are judged by, relative: of two like it the ratio's is
 * narrow enough to lie within the usual margin of 5 %, mostly. */
static const double wanted_half = 0.017;
/* It shrinks as the root of their number: past this at the most of them, more help nobody. */
static const double hopeless_half = 0.034;
/* Of the point's time for samples. */
static const double more_share = 1.5;

struct spending {
	double most_s, each_s; /* that a process takes */
	const char *why;       /* none is asked; NULL: they are */
};

struct widest {
	double half;
	const char *mode;
};

/* Of the modes; false when out of memory. */
static bool find_widest(const struct run *r, const struct candidate *candidates, struct widest *out)
{
	double sd = workload_on_device(r->w) ? STATS_PROCESS_SD_GPU : STATS_PROCESS_SD;

	*out = (struct widest){ 0 };
	for (int k = 0; k < r->w->n_modes; k++) {
		const struct candidate *c = &candidates[k];
		struct interval i;
		double half;

		if (!stats_judged(c->sample_us,
				  &(struct judged_processes){ c->of_process, NULL, sd }, &i))
			return false;
		half = log(i.high / i.low) / 2;
		if (half > out->half)
			*out = (struct widest){ half, fusion_mode_name(c->mode) };
	}
	return true;
}

/* Why no more are asked though it is wide; NULL: they are. */
static const char *enough(const struct spending *s, int process, double spent_s, double half)
{
	if (s->why)
		return s->why;
	if (half * sqrt((double)process / STATS_PROCESSES) > hopeless_half)
		return "more processes would not narrow it enough";
	if (process == STATS_PROCESSES)
		return "no more processes take part";
	return spent_s + s->each_s > s->most_s ? "the time for more processes was up" : NULL;
}

static double seconds_since(int64_t begin_ns)
{
	return (double)(clock_ns() - begin_ns) * 1e-9;
}

/* From `process` on, of those before which there are samples; where it stays wide, the report says
 * why. */
static bool time_more(struct run *r, struct candidate *candidates, int process, struct spending *s,
		      struct err *err)
{
	int64_t begin_ns = clock_ns();

	for (;;) {
		struct widest widest;
		const char *why;

		if (!find_widest(r, candidates, &widest))
			return err_set(err, ERR_MEMORY, "out of memory for the run");
		if (widest.half <= wanted_half)
			return true;
		why = enough(s, process, seconds_since(begin_ns), widest.half);
		if (why) {
			r->wide = arena_printf(
			    &r->draft->arena,
			    "%s is known to %.1f %% each way, by %d processes: %s", widest.mode,
			    100 * widest.half, process, why);
			return true;
		}
		if (!time_again(r, candidates, process, &s->why, err))
			return false;
		process += !s->why;
	}
}

/* ---- all of them */

static bool on_tick(void *self, const struct candidate *candidate, int round, double share)
{
	return run_tell(self, fusion_mode_name(candidate->mode), round,
			RUN_CALLS_SHARE + (1 - RUN_CALLS_SHARE) * share);
}

/* Those after one that gave nothing are not asked. */
static bool time_others(struct run *r, struct candidate *candidates, double budget_s, int others,
			struct err *err)
{
	const char *why = NULL;
	int64_t begin_ns = clock_ns();
	int process = 1;

	if (others && candidates[0].n_samples < STATS_MIN_SAMPLES)
		why = "the time was up";
	while (process <= others && !why) {
		if (!time_again(r, candidates, process, &why, err))
			return false;
		process += !why;
	}
	if (why && process == 1)
		r->one_process = why;
	if (process == 1)
		return true;
	return time_more(r, candidates, process,
			 &(struct spending){ .most_s = more_share * budget_s,
					     .each_s = seconds_since(begin_ns) / (process - 1),
					     .why = why },
			 err);
}

/* Samples of all modes of the point at work, by this process and others. */
static bool run_take_samples(struct run *r, struct candidate *candidates,
			     const struct autocast_effect *autocast, struct err *err)
{
	struct measure_watch watch = { .tick = on_tick,
				       .self = r,
				       .wall = &r->wall,
				       .machine = &r->machine,
				       .most_rounds = r->options->rounds };
	int n = r->w->n_modes, all = n + autocast->n, others;
	double budget_s = r->w->seconds > 0
			      ? r->w->seconds
			      : fmin(point_budget_s, total_budget_s / (r->end - r->first));

	others = others_of(r, candidates, autocast, budget_s);
	watch.share = own_share[others] / (r->options->rounds ? OTHERS_ROUNDS : 1);
	wall_to(&r->wall, WALL_WARM_UP);
	for (int k = 0; k < all; k++)
		if (!candidate_forget(&candidates[k], err))
			return false;
	if (!measure_candidates(candidates, all, budget_s * all / n, &watch, err))
		return false;
	r->rounds_aside += watch.rounds_aside;
	return time_others(r, candidates, budget_s, others, err);
}

/* ---- */

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

	for (int i = 0; i < fusion_counts(candidate->session).n_graphs; i++) {
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

	if (!measure_copies(r, candidates, err) || !run_is_whole(r, err))
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
	if (!run_is_whole(r, err) || !compare_modes(r, candidates, n, err) ||
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
