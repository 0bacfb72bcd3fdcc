/* profiler/export/kernels.h -- private: what ran on the device, added up by name. */
#ifndef PROFILER_EXPORT_KERNELS_H
#define PROFILER_EXPORT_KERNELS_H

#include "profiler/export/job.h"

struct kernel_total {
	int64_t events, sum_ns, most_ns, bytes;
	uint32_t lane, name, kind;
};

/* Zeroed is empty. */
struct kernels {
	struct export_job *job;
	struct kernel_total *slots; /* the first `n`, once they are gathered: the longest first */
	size_t n, cap;
	int64_t events, sum_ns; /* of all */
};

/* Kernels, copies and sets of the wanted lanes, by lane, name and kind. */
bool kernels_gather(struct kernels *k, struct export_job *job, struct err *err);

static inline void kernels_finish(struct kernels *k)
{
	free(k->slots);
}

#endif
