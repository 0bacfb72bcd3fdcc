/* fusion/base/clock.c -- the clocks that Breakeven uses. */
#include "fusion/base/clock.h"

#include <time.h>

static int64_t read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t clock_wall_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}
