/* profiler/cost/turnaround.h -- private: what a device takes from one kernel to the next.
 *
 * Where a kernel's launch was done before the kernel in front of it was over, the device
 * had it at hand: the time between the two is the device's own, and one kernel less saves
 * it too.
 */
#ifndef PROFILER_COST_TURNAROUND_H
#define PROFILER_COST_TURNAROUND_H

#include "profiler/timeline/lanes_view.h"

struct turnaround { /* zeroed is unknown */
	double ns;  /* the median */
	int seen;   /* kernels that were at hand */
};

/* Of a set whose launches are filled in, beside a device.  False: out of memory. */
bool turnaround_find(const struct lanes_view *v, struct turnaround *out);

/* The one of two that was seen more often. */
struct turnaround turnaround_of_both(struct turnaround a, struct turnaround b);

#endif
