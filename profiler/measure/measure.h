/* profiler/measure/measure.h -- times the candidates of a point against each other.
 *
 * A round takes one sample of every candidate, in an order drawn each time, so drift of
 * the machine hits all alike and sample i of two candidates forms a pair.  A sample
 * is the mean of a call over a batch that lasts about half a millisecond and
 * holds whole cycles of the timed calls; one call before it, outside the
 * clock, brings the candidate's code and data back into the caches.  On a device it
 * lasts about five: to begin and to wait for the last call takes some 20 us once.  Programs
 * that write their inputs have sets of them on a device, that take turns and are restored
 * before the clock starts; on the host each call has its inputs restored before it.
 */
#ifndef PROFILER_MEASURE_MEASURE_H
#define PROFILER_MEASURE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "profiler/measure/candidate.h"
#include "profiler/measure/machine.h"
#include "profiler/measure/stats.h"
#include "profiler/measure/wall.h"

/* Each mode with autocast and without. */
enum { MEASURE_MAX_CANDIDATES = 2 * FUSION_MODE_COUNT };

struct measure_watch {
	/* Between samples; `share` of the point's time, 0..1.  False: cancel. */
	bool (*tick)(void *self, const struct candidate *candidate, int round, double share);
	void *self;
	struct wall *wall; /* NULL: nobody counts */
	/* Looked at between rounds: those in which a GPU ran below its clocks are set aside, unless
	 * fewer than STATS_MIN_SAMPLES would be left.  NULL: nobody looks. */
	struct machine_watch *machine;
	int most_rounds;  /* of another process that is asked for them; 0: MEASURE_MAX_ROUNDS */
	double share;     /* of the time and of what is asked of the intervals: others do the
			   * rest; 0: all of it */
	int rounds_aside; /* set by measure_candidates() */
};

enum {
	MEASURE_MIN_ROUNDS = 30, /* unless the time is up */
	MEASURE_MAX_ROUNDS = 400,
	MEASURE_TARGET_SAMPLE_NS = 500 * 1000,
	MEASURE_DEVICE_SAMPLE_NS = 5 * 1000 * 1000,
	MEASURE_MAX_SETS = 256,     /* of arguments that take turns, where a device's are written */
	MEASURE_MIN_POINT_MS = 350, /* shorter would see one moment of the machine */
	MEASURE_PATIENCE_S = 5,     /* for few rounds on a machine that is busy, at least */
};

/* The relative half-width of every latency's and every ratio's interval at
 * which a point is done. */
#define MEASURE_TARGET_HALF_WIDTH 0.01

/* Warms up, then samples until every interval is narrow enough or `budget_s`
 * is spent; fewer than STATS_MIN_SAMPLES rounds only where three budgets, and
 * MEASURE_PATIENCE_S, did not hold them.  Fills each candidate's samples and launches.
 * candidates[0] is the baseline of the ratios.  False with the program's error, or CANCELLED. */
bool measure_candidates(struct candidate *candidates, int n_candidates, double budget_s,
			struct measure_watch *watch, struct err *err);

/* What two readings of the clock with nothing between them differ by. */
double measure_clock_cost_ns(void);

/* What an observer's phase() costs whoever calls it: two readings of the clock and the
 * call, in a row.  *kept, which counts what `self` keeps of the calls, is set back to 0;
 * there is to be room for a hundred. */
double measure_reporting_ns(void (*phase)(void *self, enum fusion_phase, int64_t begin_ns,
					  int64_t end_ns),
			    void *self, int *kept);

/* CPU, cores, compiler, ... (profiler.h); the version is borrowed.  NULL when out of memory. */
struct report_environment *environment_find(const char *version, struct report_draft *draft);

#endif
