/* profiler/roofline/roofline.h -- how far kernels are from what the machine allows.
 *
 * OPERATIONS are those of fusion_kernel_operations().
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

#include <jansson.h>

#include "profiler/roofline/copy_curve.h"
#include "profiler/measure/candidate.h"

/* Adds to each of m's graphs' `kernel_details` what is known: `operations`, `intensity`,
 * `median_us`, `ci_us`, `seen`, `bandwidth_gbps`, `rate_gflops`, `copy_share`, and of a
 * GPU `registers`, `shared_bytes`, `local_bytes`, `block_threads`, `occupancy`.  Records
 * a few calls of the candidate.  False with *err. */
bool roofline_report(const struct copy_curve *curve, struct candidate *candidate, json_t *m,
		     struct err *err);

/* Adds to the report's device what copying takes: `copy_gbps`, and `copy_curve`, pairs of
 * bytes (read and written) and microseconds. */
void report_copy(json_t *device, const struct copy_curve *curve);

#endif
