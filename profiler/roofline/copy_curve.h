/* profiler/roofline/copy_curve.h -- how long this device takes to move bytes.
 *
 * A kernel `y = x + 1` reads and writes as many bytes as a copy does; it is compiled
 * and launched as any other of the run, by the same backend, with the same threads.
 * Its time over its bytes is what memory allows, from the smallest caches up: a
 * kernel that takes longer for the same bytes is held up by something else.  (STREAM,
 * McCalpin 1995, calls such a kernel SCALE; a copy proper may bypass the cache.)
 */
#ifndef PROFILER_ROOFLINE_COPY_CURVE_H
#define PROFILER_ROOFLINE_COPY_CURVE_H

#include "profiler/workload/workload.h"

enum { COPY_POINTS = 11 };

/* A copy that moves so many times what the last cache holds is one of memory. */
enum { COPY_BEYOND = 4 };

struct copy_curve {
	int n;               /* 0: not measured */
	bool blind;          /* ... since the kernels were not seen: no CUPTI */
	bool whole;          /* up to a size that no cache holds: COPY_BEYOND of the last */
	int64_t cache_bytes; /* of the last cache; what it is taken for where that is unknown */
	int64_t bytes[COPY_POINTS]; /* read and written together, ascending */
	double ns[COPY_POINTS];     /* of the kernel alone, undisturbed: the first decile */
};

/* On the backend, device and with the threads of `w`, up to the first size that moves
 * `reach_bytes` and, where these are more than the last cache holds, to one of memory: fresh memory
 * is what takes long, on a virtual machine a second for the largest size, and on a device a
 * compilation for each.  False with the error of whatever failed; that kernels are not seen is
 * none. */
bool copy_curve_measure(struct copy_curve *c, const struct workload *w, int64_t reach_bytes,
			int64_t cache_bytes, struct err *err);

/* What the last cache before the memory of an engine's kernels holds. */
int64_t copy_cache_bytes(struct fusion *engine);

/* Whether a kernel that moves so many bytes has a copy to be held against: one of as many, or
 * both are of memory. */
static inline bool copy_curve_reaches(const struct copy_curve *c, int64_t bytes)
{
	return c->whole || (c->n > 0 && bytes <= c->bytes[c->n - 1]);
}

/* The kernel that moves so many bytes, in nanoseconds: between two points as a power
 * of the bytes, beyond the last at its bandwidth, before the first as that. */
double copy_curve_ns(const struct copy_curve *c, double bytes);

/* Bytes a second at the last point; of memory, where the curve is whole. */
static inline double copy_curve_bandwidth(const struct copy_curve *c)
{
	return c->n ? (double)c->bytes[c->n - 1] / c->ns[c->n - 1] * 1e9 : 0;
}

#endif
