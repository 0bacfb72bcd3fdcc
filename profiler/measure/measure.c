/* profiler/measure/measure.c -- warm-up, batch size, rounds, and when to stop.
 *
 * Nothing is taken out of a sample but the clock's own cost, and no sample is
 * thrown away: what disturbs the machine shows in the interval.
 */
#include "profiler/measure/measure.h"

#include <math.h>
#include <stdlib.h>

#include "fusion/base/clock.h"
#include "profiler/workload/random.h"

enum {
	WARM_UP_NS = 25 * 1000 * 1000,
	WARM_UP_AGAIN_NS = 5 * 1000 * 1000, /* where the machine has just done the same */
	SLOW_CYCLE_NS = 500 * 1000 * 1000,  /* one cycle warms enough */
	SLOW_CALL_NS = 50 * 1000 * 1000,    /* needs no call to warm the caches */
	/* Calls that each meet a new value compile until their frame has as many versions
	 * as it may have (8). */
	COMPILING_CYCLES = 12,
	MAX_CYCLES = 100 * 1000,
	CHECK_EVERY = 5,
	SHUFFLE_SEED = 7,
};

double measure_clock_cost_ns(void)
{
	enum { BATCHES = 20, N = 100 };
	double best = INFINITY; /* of several: an interrupt must not count as cost */

	for (int b = 0; b < BATCHES; b++) {
		int64_t begin = clock_ns(), last = begin;

		for (int i = 0; i < N; i++)
			last = clock_ns();
		best = fmin(best, (double)(last - begin) / N);
	}
	return best;
}

double measure_reporting_ns(void (*phase)(void *self, enum fusion_phase, int64_t begin_ns,
					  int64_t end_ns),
			    void *self, int *kept)
{
	enum { BATCHES = 20, N = 100 };
	void (*volatile tell)(void *, enum fusion_phase, int64_t, int64_t) = phase;
	double best = INFINITY;

	for (int b = 0; b < BATCHES; b++) {
		int64_t begin = clock_ns();

		for (int i = 0; i < N; i++) {
			int64_t from = clock_ns();

			tell(self, PHASE_DISPATCH, from, clock_ns());
		}
		best = fmin(best, (double)(clock_ns() - begin) / N);
		*kept = 0;
	}
	return best;
}

static bool one_call(struct candidate *candidate, int call, struct err *err)
{
	struct value out;

	if (!candidate_start(candidate, call, &out, err))
		return false;
	value_unref(out);
	return true;
}

static bool restore_sets(struct candidate *candidate, int64_t n, struct err *err)
{
	for (int64_t s = 0; s < n; s++) {
		candidate_use_set(candidate, (int)s);
		for (int k = 0; k < candidate->n_timed; k++)
			if (!candidate_restore(candidate, candidate->timed[k], err))
				return false;
	}
	return fusion_wait(candidate->engine, err);
}

/* A cycle on each of the sets of arguments in turn, all of which are restored before the clock
 * starts: calls follow each other as those of programs that write nothing. */
static bool cycles_on_sets(struct candidate *candidate, int64_t cycles, double clock_cost,
			   double *ns, struct err *err)
{
	*ns = 0;
	for (int64_t done = 0, n; done < cycles; done += n) {
		int64_t begin;

		n = cycles - done < candidate->n_sets ? cycles - done : candidate->n_sets;
		if (!restore_sets(candidate, n, err))
			return false;
		begin = clock_ns();
		for (int64_t s = 0; s < n; s++) {
			candidate_use_set(candidate, (int)s);
			for (int k = 0; k < candidate->n_timed; k++)
				if (!one_call(candidate, candidate->timed[k], err))
					return false;
		}
		if (!fusion_wait(candidate->engine, err))
			return false;
		*ns += (double)(clock_ns() - begin) - clock_cost;
	}
	candidate_use_set(candidate, 0);
	return true;
}

/* Calls over timed cycles with the inputs restored before each. */
static bool cycles_restoring(struct candidate *candidate, int64_t cycles, double clock_cost,
			     double *ns, struct err *err)
{
	*ns = 0;
	for (int64_t c = 0; c < cycles; c++)
		for (int k = 0; k < candidate->n_timed; k++) {
			int64_t begin;

			if (!candidate_restore(candidate, candidate->timed[k], err))
				return false;
			if (!fusion_wait(candidate->engine, err))
				return false;
			begin = clock_ns();
			if (!one_call(candidate, candidate->timed[k], err) ||
			    !fusion_wait(candidate->engine, err))
				return false;
			*ns += (double)(clock_ns() - begin) - clock_cost;
		}
	return true;
}

static bool run_cycles(struct candidate *candidate, int64_t cycles, double clock_cost, double *ns,
		       struct err *err)
{
	int64_t begin;

	buf_clear(fusion_stdout(candidate->session));
	if (candidate->sets)
		return cycles_on_sets(candidate, cycles, clock_cost, ns, err);
	if (candidate->writes)
		return cycles_restoring(candidate, cycles, clock_cost, ns, err);
	if (!fusion_wait(candidate->engine, err))
		return false;
	begin = clock_ns();
	for (int64_t c = 0; c < cycles; c++)
		for (int k = 0; k < candidate->n_timed; k++)
			if (!one_call(candidate, candidate->timed[k], err))
				return false;
	if (!fusion_wait(candidate->engine, err))
		return false;
	*ns = (double)(clock_ns() - begin) - clock_cost;
	return true;
}

static const int64_t compiling_ns = 15 * INT64_C(1000000000);

/* Graphs and kernels that the candidate has compiled so far. */
static int64_t compiled(const struct candidate *candidate)
{
	struct fusion_counts counts = fusion_counts(candidate->session);

	return counts.graphs + counts.kernels_built;
}

/* Whether what it writes can wait for the end of a batch: no call is in a cycle twice. */
static bool takes_sets(const struct candidate *candidate)
{
	if (!candidate->writes || !fusion_facts(candidate->engine).device)
		return false;
	for (int i = 0; i < candidate->n_timed; i++)
		for (int k = 0; k < i; k++)
			if (candidate->timed[i] == candidate->timed[k])
				return false;
	return true;
}

/* Makes the sets and runs once over them: what is recorded by address is so for each. */
static bool use_sets(struct candidate *candidate, double clock_cost, struct err *err)
{
	int wanted = candidate->cycles < MEASURE_MAX_SETS ? (int)candidate->cycles
							  : MEASURE_MAX_SETS;
	double ns;

	return candidate_make_sets(candidate, wanted, err) &&
	       run_cycles(candidate, candidate->n_sets, clock_cost, &ns, err);
}

/* Runs until nothing is compiled any more, and caches, branch predictors and clock
 * speed have settled; sets how many cycles make a sample. */
static bool warm_up(struct candidate *candidate, int64_t warm_up_ns, double clock_cost,
		    struct err *err)
{
	int64_t begin = clock_ns(), settled = begin;
	double best = INFINITY, sample_ns = MEASURE_TARGET_SAMPLE_NS;
	struct fusion_counts before, after;

	before = fusion_counts(candidate->session);
	for (int cycle = 0;; cycle++) {
		int64_t had = compiled(candidate);
		double ns;

		if (!run_cycles(candidate, 1, clock_cost, &ns, err))
			return false;
		if (cycle == 0) {
			after = fusion_counts(candidate->session);
			candidate->launches = (double)(after.launches - before.launches) /
					      candidate->n_timed;
		}
		best = fmin(best, ns);
		if (compiled(candidate) > had && cycle < COMPILING_CYCLES &&
		    clock_ns() - begin < compiling_ns) {
			settled = clock_ns();
			continue;
		}
		if (ns > SLOW_CYCLE_NS || (cycle > 0 && clock_ns() - settled > warm_up_ns))
			break;
	}
	best = fmax(best, 1);
	if (fusion_facts(candidate->engine).device)
		sample_ns = MEASURE_DEVICE_SAMPLE_NS;
	candidate->cycles = (int64_t)fmin(fmax(ceil(sample_ns / best), 1), MAX_CYCLES);
	return !takes_sets(candidate) || use_sets(candidate, clock_cost, err);
}

/* Nanoseconds that capture to kernels has taken of this candidate. */
static int64_t compile_ns(const struct candidate *candidate)
{
	int64_t ns = 0;

	for (int i = 0; i < fusion_counts(candidate->session).n_graphs; i++)
		ns += fusion_graph(candidate->session, i).compile_ns;
	return ns;
}

static bool take_sample(struct candidate *candidate, double clock_cost, struct err *err)
{
	double ns, calls = (double)candidate->cycles * candidate->n_timed;
	double last = candidate->n_samples ? candidate->sample_us[candidate->n_samples - 1] : 0;
	int64_t had;

	if (last * 1000 < SLOW_CALL_NS) {
		if (candidate->writes && !candidate_restore(candidate, candidate->timed[0], err))
			return false;
		if (!one_call(candidate, candidate->timed[0], err))
			return false;
	}
	had = compiled(candidate);
	if (!run_cycles(candidate, candidate->cycles, clock_cost, &ns, err))
		return false;
	candidate->compiled += compiled(candidate) - had;
	candidate->sample_us[candidate->n_samples++] = fmax(ns, 1) / 1000 / calls;
	return true;
}

static void shuffle(int *order, int n, uint64_t *position)
{
	for (int i = n - 1; i > 0; i--) {
		int k = (int)(random_next(SHUFFLE_SEED, position) % (uint64_t)(i + 1));
		int swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
}

static double share_of(const struct measure_watch *watch)
{
	return watch->share > 0 ? watch->share : 1;
}

/* Half the interval's width over its median. */
static double stats_half_width(const struct interval *i)
{
	return i->mid > 0 ? (i->high - i->low) / 2 / i->mid : INFINITY;
}

/* Whether every interval has the wanted half-width. */
static bool narrow(const struct candidate *candidates, int n_candidates, double wanted)
{
	int n = candidates[0].n_samples;
	double ratio[MEASURE_MAX_ROUNDS];
	struct interval i;

	for (int k = 0; k < n_candidates; k++) {
		if (!stats_median(candidates[k].sample_us, n, &i) || stats_half_width(&i) > wanted)
			return false;
		for (int r = 0; r < n; r++)
			ratio[r] = candidates[0].sample_us[r] / candidates[k].sample_us[r];
		if (!stats_median(ratio, n, &i) || stats_half_width(&i) > wanted)
			return false;
	}
	return true;
}

/* Another process takes the rounds that it is asked for, or the time is up. */
static bool done(const struct candidate *candidates, int n_candidates,
		 const struct measure_watch *watch, double elapsed_s, double budget_s)
{
	int rounds = candidates[0].n_samples;

	if (rounds >= (watch->most_rounds ? watch->most_rounds : MEASURE_MAX_ROUNDS))
		return true;
	if (elapsed_s >= budget_s)
		return rounds >= STATS_MIN_SAMPLES ||
		       elapsed_s >= fmax(3 * budget_s, MEASURE_PATIENCE_S);
	return !watch->most_rounds && rounds >= MEASURE_MIN_ROUNDS && rounds % CHECK_EVERY == 0 &&
	       elapsed_s * 1000 >= MEASURE_MIN_POINT_MS * share_of(watch) &&
	       narrow(candidates, n_candidates, MEASURE_TARGET_HALF_WIDTH / sqrt(share_of(watch)));
}

/* The samples of rounds that are set aside go to aside_us of each candidate. */
static bool set_aside(struct candidate *candidates, int n_candidates, const bool *aside,
		      int n_aside, struct err *err)
{
	for (int k = 0; k < n_candidates; k++) {
		struct candidate *c = &candidates[k];
		int kept = 0;

		c->aside_us = calloc((size_t)n_aside + 1, sizeof(*c->aside_us));
		if (!c->aside_us)
			return err_set(err, ERR_MEMORY, "out of memory for the run");
		for (int i = 0; i < c->n_samples; i++)
			if (aside[i])
				c->aside_us[c->n_aside++] = c->sample_us[i];
			else
				c->sample_us[kept++] = c->sample_us[i];
		c->n_samples = kept;
	}
	return true;
}

/* What the rounds leave once all are taken. */
static bool settle(struct candidate *candidates, int n_candidates, const bool *aside,
		   struct measure_watch *watch, struct err *err)
{
	int rounds = candidates[0].n_samples, n_aside = 0;

	for (int i = 0; i < rounds; i++)
		n_aside += aside[i];
	watch->rounds_aside = 0;
	if (n_aside && rounds - n_aside >= STATS_MIN_SAMPLES) {
		if (!set_aside(candidates, n_candidates, aside, n_aside, err))
			return false;
		watch->rounds_aside = n_aside;
	}
	if (watch->machine)
		machine_leave(watch->machine, watch->rounds_aside ? aside : NULL, rounds);
	for (int k = 0; k < n_candidates; k++) {
		candidates[k].of_process[0] = candidates[k].n_samples;
		candidate_drop_sets(&candidates[k]);
	}
	return true;
}

/* Rounds until there are enough; *aside of each. */
static bool take_rounds(struct candidate *candidates, int n_candidates, double budget_s,
			struct measure_watch *watch, bool *aside, struct err *err)
{
	double clock_cost = measure_clock_cost_ns(), elapsed = 0;
	int order[MEASURE_MAX_CANDIDATES] = { 0 };
	uint64_t position = 0;
	int64_t begin = clock_ns();

	for (int k = 0; k < n_candidates; k++)
		order[k] = k;
	for (int round = 0; !done(candidates, n_candidates, watch, elapsed, budget_s); round++) {
		if (watch->machine && machine_look(watch->machine, candidates[0].engine))
			aside[round] = aside[round ? round - 1 : 0] = true;
		shuffle(order, n_candidates, &position);
		for (int k = 0; k < n_candidates; k++) {
			double share = fmax(elapsed / budget_s, (double)round / MEASURE_MAX_ROUNDS);

			if (!watch->tick(watch->self, &candidates[order[k]], round + 1,
					 fmin(share, 1)))
				return err_set(err, ERR_CANCELLED, "the run was cancelled");
			if (!take_sample(&candidates[order[k]], clock_cost, err))
				return false;
		}
		elapsed = (double)(clock_ns() - begin) * 1e-9;
	}
	return true;
}

bool measure_candidates(struct candidate *candidates, int n_candidates, double budget_s,
			struct measure_watch *watch, struct err *err)
{
	bool aside[MEASURE_MAX_ROUNDS] = { false }, ok;
	double clock_cost = measure_clock_cost_ns();
	int64_t had_ns;

	for (int k = 0; k < n_candidates; k++) {
		candidates[k].sample_us = calloc(MEASURE_MAX_ROUNDS, sizeof(double));
		if (!candidates[k].sample_us)
			return err_set(err, ERR_MEMORY, "out of memory for the run");
		if (!watch->tick(watch->self, &candidates[k], 0, 0))
			return err_set(err, ERR_CANCELLED, "the run was cancelled");
		had_ns = compile_ns(&candidates[k]);
		if (!warm_up(&candidates[k], watch->most_rounds ? WARM_UP_AGAIN_NS : WARM_UP_NS,
			     clock_cost, err))
			return false;
		wall_move(watch->wall, WALL_COMPILE, compile_ns(&candidates[k]) - had_ns);
	}
	wall_to(watch->wall, WALL_MEASURING);
	ok = take_rounds(candidates, n_candidates, budget_s * share_of(watch), watch, aside, err);
	if (!ok && watch->machine)
		machine_leave(watch->machine, NULL, 0);
	return ok && settle(candidates, n_candidates, aside, watch, err);
}
