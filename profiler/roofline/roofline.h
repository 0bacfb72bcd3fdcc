/* profiler/roofline/roofline.h -- how far kernels are from what the machine allows.
 *
 * OPERATIONS are those of struct fusion_kernel.
 *
 * BYTES are those of struct fusion_kernel: each element that the kernel reaches counts once.
 * ARITHMETIC INTENSITY is operations over bytes (the roofline: Williams, Waterman and
 * Patterson, CACM 52:4, 2009).  BANDWIDTH and RATE are bytes and operations over the
 * median of the kernel's durations in a timeline.  COPY SHARE is the time that a kernel
 * takes that only moves as many bytes (copy_curve.h) over that median: near 1 the
 * kernel is as fast as memory, or the cache that holds so much, lets it be.
 *
 * OCCUPANCY is threads that a multiprocessor can hold of the kernel, by
 * cuOccupancyMaxActiveBlocksPerMultiprocessor, over the most it can hold at all.
 */
#ifndef PROFILER_ROOFLINE_ROOFLINE_H
#define PROFILER_ROOFLINE_ROOFLINE_H

#include "profiler/fields/fields.h"
#include "profiler/roofline/copy_curve.h"
#include "profiler/measure/candidate.h"

/* Sets of each kernel what is known: operations, and what it took in a few calls of the candidate
 * that it records; texts are in `arena`.  False with *err. */
bool roofline_report(const struct copy_curve *curve, struct candidate *candidate,
		     struct report_graph_list graphs, struct arena *arena, struct err *err);

#endif
