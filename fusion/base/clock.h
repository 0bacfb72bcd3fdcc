/* fusion/base/clock.h -- the clocks that Breakeven uses. */
#ifndef FUSION_BASE_CLOCK_H
#define FUSION_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC: for durations. */
int64_t clock_ns(void);

/* Nanoseconds of processor time that the process has used: for budgets, which shall
 * not depend on who else works. */
int64_t clock_cpu_ns(void);

/* Nanoseconds since 1970 (CLOCK_REALTIME): for dates alone. */
int64_t clock_wall_ns(void);

#endif
