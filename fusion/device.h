/* fusion/device.h -- what is known of the device that kernels run on, as plain structs.
 *
 * fusion_kernel_use(), fusion_device_order() and fusion_fence_counts() fill them in.
 */
#ifndef FUSION_DEVICE_H
#define FUSION_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/* How much is tried on a device before a kernel's schedule is chosen: nothing; a few schedules of
 * kernels that move much, for a tenth of a second; all that there are, for two seconds a graph. */
enum autotune { AUTOTUNE_OFF, AUTOTUNE_FAST, AUTOTUNE_MAX };

/* Schedules of a kernel that were tried, the planned one first. */
enum { KERNEL_MOST_TRIED = 5 };
struct kernel_tried {
	int n, chosen; /* n 0: none */
	struct {
		char what[64]; /* "as planned: 128 threads, 4 lanes" */
		double us;     /* of a launch, the median of three batches */
	} at[KERNEL_MOST_TRIED];
	bool kept; /* the times are those of an earlier process */
};

/* What a kernel takes of its device. */
struct kernel_use {
	int registers;    /* of a thread */
	int shared_bytes; /* of a block, static and on request */
	int local_bytes;  /* of a thread: what registers could not hold */
	int block_threads;
	double occupancy; /* threads that a multiprocessor holds of it over the most it can */
	struct kernel_tried tried;
};

/* How what was asked of a device so far is ordered: by its streams, each in the order of
 * the calls, and by events that one stream waits for in another. */
struct device_order {
	int streams, events;
	int64_t launches; /* of kernels of its own, one by one */
	int64_t graphs;   /* launches of CUDA graphs */
	int64_t calls;    /* of libraries, and of ops with functions of their own */
	int64_t copies, sets;
	int64_t waits; /* of the host, for all of it */
};

/* Blocks opened and guard words looked at so far. */
struct fence_counts {
	int64_t blocks, looks;
};

#endif
