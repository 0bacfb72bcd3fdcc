/* fusion/backends/cuda/device.h -- one GPU: its context, its stream, its memory.
 *
 * All launches and copies of an engine go through one stream, in order.  An
 * error of the driver is kept (the first one counts) and reported where the
 * caller can fail: see cuda_device_fault().
 *
 * A kernel fails while it runs, and the driver says so later, to whatever is asked of
 * it next: any kernel since the last wait may be the one.  With CUDA_LAUNCH_BLOCKING=1
 * in the environment, as the driver has it, each launch is waited for, and the one is
 * known.  After such a failure the context is of no use, until the process ends.
 * Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_DEVICE_H
#define FUSION_BACKENDS_CUDA_DEVICE_H

#include "fusion/backends/cuda/api.h"
#include "fusion/backends/fence.h"
#include "fusion/backends/memory.h"
#include "fusion/lower/lower.h"

enum { CUDA_SUSPECTS = 8 };
struct suspect { /* a kernel that was launched */
	const struct lowered *lowered;
	int kernel;
};

struct device {
	struct device_memory memory; /* .self is this struct */
	struct fence *fence;         /* of env->fence: memory is watched; NULL: it is not */
	struct cuda_api api;
	CUdevice handle;
	CUcontext context;
	CUstream stream;
	int64_t launches;      /* cuLaunchKernel() of our own */
	int64_t graphs, calls; /* cuGraphLaunch(); ops that have a cuda_library */
	int64_t copies, sets, waits;
	int multiprocessors, architecture; /* 90: sm_90 */
	int threads_each;                  /* that a multiprocessor has at once */
	int shared_bytes;                  /* that a block may have, on request */
	char name[96];
	struct cuda_blas *blas;   /* blas.h; NULL: not wanted yet */
	struct cuda_dnn *dnn;     /* dnn.h; NULL: not wanted yet */
	struct cuda_lt *lt;       /* lt.h; likewise */
	struct cuda_fault *fault; /* memory of the host that kernels write to */
	struct err index_fault;   /* what it said, until it is told; .code 0: nothing */
	bool late;                /* memory.late() */
	struct cuda_same *same;   /* same.h; likewise */
	uint64_t workspace;       /* of cuBLAS */
	size_t workspace_bytes;
	bool blocking;                          /* each launch is waited for */
	unsigned launched;                      /* kernels since the last wait */
	struct suspect suspects[CUDA_SUSPECTS]; /* the last of them, in a ring */
	CUresult failed;                        /* the first error; CUDA_SUCCESS: none */
	char what[320];                         /* the call, or the kernels, that failed */
	int line, column;                       /* of the kernel's first op; 0: not known */
	void (*give_back)(void *owner);         /* memory.on_shortage() */
	void *owner;
};

/* Whether there is a driver, a GPU and NVRTC; opens nothing. */
bool cuda_device_present(struct err *err);

struct device *cuda_device_open(struct err *err);
void cuda_device_close(struct device *d); /* NULL is fine */

/* Notes a failure; true if there was none. */
bool cuda_check(struct device *d, CUresult result, const char *what);

/* The same for the launch of a kernel, which is a suspect from now on.  (Those of a
 * library's are told too.) */
static inline void cuda_suspect(struct device *d, const struct lowered *l, int kernel)
{
	d->suspects[d->launched++ % CUDA_SUSPECTS] = (struct suspect){ l, kernel };
}
bool cuda_check_launch(struct device *d, CUresult result, const struct lowered *l, int kernel);

/* Before kernels go away that may have been launched: none is a suspect any more. */
void cuda_settle(struct device *d);

/* What kernels have noted of an index out of bounds, in words: before the call that it names
 * goes away. */
void cuda_keep_fault(struct device *d);
/* False with VALUE and the place, once, if one was noted that is known of. */
bool cuda_index_fault(struct device *d, struct err *err);

/* Memory for kernels themselves, which counts as the backend's own: freed by
 * cuda_release(), of the bytes that were taken.  0: there is none left. */
uint64_t cuda_take(struct device *d, size_t bytes);
void cuda_release(struct device *d, uint64_t memory, size_t bytes);

/* False with DEVICE (and the failure's name) if anything has failed. */
bool cuda_device_fault(struct device *d, struct err *err);

#endif
