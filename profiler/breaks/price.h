/* profiler/breaks/price.h -- private: a mode's breaks as its timelines have them.
 *
 * Lanes are watched in turn, a few milliseconds each time, in one recording: what changes
 * from one moment to the next changes for both.
 */
#ifndef PROFILER_BREAKS_PRICE_H
#define PROFILER_BREAKS_PRICE_H

#include "profiler/breaks/cost.h"
#include "profiler/measure/lane.h"

enum {
	GROUPS = 48, /* short ones: whoever else works comes and goes in milliseconds */
	LEAST_GROUPS = 6,
	GROUP_CALLS = 100,
	GROUP_NS = 1000 * 1000,
	BATCH_CALLS = 10, /* 1 where a call is long beside a reading of the clock */
	LONG_NS = 5000
};

/* Of a break, by number: sums over `calls`. */
struct bytes {
	int64_t kept, moved, met;
};

/* `call_ns`: of a call that nobody watches, by lane and group. */
struct break_sides {
	struct lane *lane[2];
	int n;
	struct timeline_events seen;
	bool of_host; /* its pace is the recording's: kernels of a device have their own */
	double call_ns[2][GROUPS];
	int groups; /* fewer where calls are long */
};

/* Watches s->lane[0] to [n - 1].  `cupti`: kernels of a device too, where launches cost
 * more.  False with *err; s is to be finished in any case. */
bool break_sides_record(struct break_sides *s, bool cupti, struct err *err);
void break_sides_finish(struct break_sides *s); /* zeroed is fine */

/* A lane's breaks as its timelines have them. */
struct priced {
	struct break_costs costs;
	struct bytes *bytes;
	double *moved_bytes;
	int *guards; /* by graph */
	bool *reads;
	bool *gone; /* by break: the function is known without it; NULL: none is */
};

/* What is known of the lane's breaks without a clock.  False with *err; p is to be finished
 * in any case. */
bool priced_init(struct priced *p, struct lane *lane, struct err *err);

/* Costs of side `at` as it was recorded; borrows s.  `curve`: NULL where none is known. */
bool priced_read(const struct copy_curve *curve, const struct break_sides *s, int at,
		 struct priced *p, struct err *err);
void priced_finish(struct priced *p); /* zeroed is fine */

#endif
