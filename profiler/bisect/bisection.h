/* profiler/bisect/bisection.h -- what a bisection has found so far, and its log.
 *
 * The log (profiler/fields/bisect.def) has all that was measured, so that a bisection goes on from
 * it.  For one thread.
 */
#ifndef PROFILER_BISECT_BISECTION_H
#define PROFILER_BISECT_BISECTION_H

#include <jansson.h>

#include "fusion/base/vec.h"
#include "profiler/bisect/bisect.h"
#include "profiler/bisect/repository.h"
#include "profiler/fields/fields.h"

/* Commits that no rounds place: after so many of them others are not tried, for they are as noisy.
 */
enum { BISECTION_MOST_OPEN = 2 };

enum bisection_verdict { STEP_GOOD, STEP_BAD, STEP_NOT_ENOUGH, STEP_SKIPPED };

struct bisection_step {
	struct commit commit;
	enum bisection_verdict verdict;
	char why[ERR_MESSAGE_BYTES]; /* why it was skipped; else "" */
	int position, left;
	size_t first, n;       /* its rounds, of those of the bisection */
	struct interval ratio; /* its figure over GOOD's; of 0 rounds NAN */
};

enum bisection_state { BISECT_RUNNING, BISECT_FOUND, BISECT_AMONG, BISECT_SAME, BISECT_UNDECIDED };

struct bisection {
	struct repository repository;
	const struct report_bisect_request *request; /* borrowed */
	struct commit good, bad;
	int commits;
	enum bisection_state state;
	VEC(struct bisect_round) rounds; /* the first n_change are of GOOD and BAD alone */
	size_t n_change;
	struct bisect_change change; /* of all rounds; ratio.mid 0: none yet */
	VEC(struct bisection_step) steps;
	VEC(struct commit) suspects;
	double share; /* NAN: not known */
	/* Of wall: seconds that the timed programs took, and of those that they waited for a core
	 * that others had, which figures are without. */
	double passed_s, waited_s;
};

/* Frees what it holds; zeroed is fine. */
void bisection_finish(struct bisection *b);

/* The log, as JSON; NULL when out of memory. */
json_t *bisection_write(const struct bisection *b);

/* Of a log; what is borrowed lives in the arena and in `log`.  WORKLOAD: it is none, or of another
 * version. */
bool bisection_read(const json_t *log, struct arena *arena, struct bisection *b, struct err *err);

/* What is left between the commits that are known to be good and the one known to be bad; where
 * nothing is left to try, or too many could not be placed, sets the state, the suspects and the
 * share. */
bool bisection_next(struct bisection *b, struct repository_left *left, struct err *err);

/* "a1b2c3d4e5f6, 2026-11-02, Ann: Use a list", in at most `bytes`. */
void bisection_name(const struct commit *c, char *out, size_t bytes);

#endif
