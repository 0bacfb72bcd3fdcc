/* profiler/measure/wall.h -- private: what the wall time of a run goes to.
 *
 * At any moment one part is under way; wall_to() says which from now on.  So the parts add up.
 */
#ifndef PROFILER_MEASURE_WALL_H
#define PROFILER_MEASURE_WALL_H

#include <stdint.h>

#include "profiler/fields/fields.h"
#include "fusion/base/clock.h"

enum wall_part {
	WALL_OTHER,     /* what is none of the others: the environment, JSON */
	WALL_SETUP,     /* engines, sessions, inputs and their copies */
	WALL_COMPILE,   /* capture to kernels, in first calls or later ones */
	WALL_WARM_UP,   /* calls before any that is timed, compiling apart */
	WALL_MEASURING, /* samples; calls that are watched; what breaks and memory cost */
	WALL_COMPARING, /* values of one mode with another's, and their sums and hashes */
	WALL_STORING,   /* timelines, and the report where it is posted */
	WALL_PARTS
};

struct wall {
	enum wall_part part;
	int64_t since_ns;
	int64_t ns[WALL_PARTS];
};

static inline void wall_begin(struct wall *wall)
{
	*wall = (struct wall){ .since_ns = clock_ns() };
}

/* The part from now on; returns the one that it was.  NULL: nobody counts. */
enum wall_part wall_to(struct wall *wall, enum wall_part part);

/* So much of what the part under way has taken so far was the other's; all of it at most. */
void wall_move(struct wall *wall, enum wall_part other, int64_t ns);

void wall_report(struct wall *wall, struct report_wall *to);

#endif
