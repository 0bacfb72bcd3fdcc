/* fusion/base/clock.h -- the clocks that Breakeven uses. */
#ifndef FUSION_BASE_CLOCK_H
#define FUSION_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Nanoseconds of CLOCK_MONOTONIC: for durations. */
static inline int64_t clock_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* Nanoseconds of processor time that the process has used: for budgets, which shall
 * not depend on who else works. */
static inline int64_t clock_cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Nanoseconds since 1970 (CLOCK_REALTIME): for dates alone. */
static inline int64_t clock_wall_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

#endif
