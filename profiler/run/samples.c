/* profiler/run/samples.c -- the samples of a point: this process', then those of others.
 *
 * Where code and pages lie makes a process as a whole quicker or slower by 1 to 2 %, which no
 * number of its own samples shows.  So others, which begin as new processes, take some too, one
 * after the other. They take a part of this one's time, so that a run takes hardly longer for them.
 */
#include <math.h>
#include <stdlib.h>

#include "profiler/run/run.h"

/* Seconds of sampling: for a point, and for all of them together. */
static const double point_budget_s = 2, total_budget_s = 30;

/* ---- how many others there are */

/* Each holds as much again of memory as this one does meanwhile. */
static const int64_t most_held_bytes = INT64_C(1) << 30;
/* Of a point's time: what may go to getting all of them ready; where it is more, one may take as
 * much as `most_for_one` of the time for samples. */
static const double ready_share = 0.15, most_for_one = 0.25;
/* To start one that has nothing to make ready: a fork, an exec, a sandbox. */
static const double start_s = 0.03;
enum { OTHERS_ROUNDS = 3, OTHERS_LEAST_ROUNDS = 24 };

/* Of a point's time, this process' part; each of the others takes a third of it. */
static const double own_share[STATS_PROCESSES] = { 1, 0.75, 0.6 };

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
	else if (fit < 1 && each_s > most_for_one * budget_s)
		r->one_process = "to make a second process ready takes too long beside the samples";
	else
		return (int)fmin(fmax(fit, 1), STATS_PROCESSES - 1);
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

/* ---- all of them */

static bool on_tick(void *self, const struct candidate *candidate, int round, double share)
{
	return run_tell(self, fusion_mode_name(candidate->mode), round,
			RUN_CALLS_SHARE + (1 - RUN_CALLS_SHARE) * share);
}

/* Those after one that gave nothing are not asked. */
static bool time_others(struct run *r, struct candidate *candidates, int others, struct err *err)
{
	const char *why = NULL;

	if (others && candidates[0].n_samples < STATS_MIN_SAMPLES)
		why = "the time was up";
	for (int p = 1; p <= others && !why; p++)
		if (!time_again(r, candidates, p, &why, err))
			return false;
	if (why && candidates[0].of_process[1] == 0)
		r->one_process = why;
	return true;
}

bool run_take_samples(struct run *r, struct candidate *candidates,
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
	return time_others(r, candidates, others, err);
}
