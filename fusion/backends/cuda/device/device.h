/* fusion/backends/cuda/device/device.h -- one GPU: its context, its stream, its memory.
 *
 * All launches and copies of an engine go through one stream, in order.  An
 * error of the driver is kept (the first one counts) and reported where the
 * caller can fail: see cuda_device_fault().
 *
 * A kernel fails while it runs, and the driver says so later, to whatever is asked of
 * it next: any kernel since the last wait may be the one.  With CUDA_LAUNCH_BLOCKING=1
 * in the environment, as the driver has it, each launch is waited for, and the one is
 * known.  After such a failure the context is of no use, until the process ends.
 */
#ifndef FUSION_BACKENDS_CUDA_DEVICE_DEVICE_H
#define FUSION_BACKENDS_CUDA_DEVICE_DEVICE_H

#include <cuda.h>
#include <nvrtc.h>
#include <stdbool.h>
#include <stddef.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/base/err.h"
#include "fusion/lower/lower.h"

/* ---- the driver and NVRTC, loaded when first wanted
 *
 * One binary serves hosts with and without a GPU: nothing of CUDA is linked.
 */

struct cuda_api {
	void *driver, *nvrtc; /* of dlopen */
#define DRIVER(name) typeof(&name) name;
#define NVRTC(name) typeof(&name) name;
#include "fusion/backends/cuda/device/driver.def"
#undef DRIVER
#undef NVRTC
};

/* dlopen() of "libnvrtc.so", say: on the library path under its name of CUDA 13 or
 * 12, or in CUDA_HOME (/usr/local/cuda).  NULL: it is nowhere. */
void *cuda_open_library(const char *name);

/* False with UNSUPPORTED: which library or function is missing.  `device` false:
 * NVRTC alone, which compiles without a GPU. */
bool cuda_api_load(struct cuda_api *api, bool device, struct err *err);
/* backend.lacks: libraries that are loaded when something wants them. */
const char *cuda_lacks(int i);

void cuda_api_unload(struct cuda_api *api); /* zeroed is fine */

/* ---- CUDA C to a cubin */

/* What a cubin depends on beside source and architecture: NVRTC's version and our
 * options, as text; part of the cache's key. */
void cuda_compiler_identity(const struct cuda_api *api, char *text, size_t bytes);

/* The machine code for an architecture (90: sm_90), malloc'd.  NULL with COMPILER
 * and what NVRTC says, or MEMORY. */
char *cuda_compile(const struct cuda_api *api, int architecture, const char *source, size_t *bytes,
		   struct err *err);

/* ---- a device */

enum { CUDA_SUSPECTS = 8, CUDA_CLOSERS = 3 };
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
	/* Libraries, opened when one is first wanted (NULL before), and what closes them. */
	struct cuda_blas *blas;
	struct cuda_dnn *dnn;
	struct cuda_lt *lt;
	void (*closers[CUDA_CLOSERS])(struct device *d);
	int n_closers;
	struct cuda_fault *fault; /* memory of the host that kernels write to */
	struct err index_fault;   /* what it said, until it is reported; .code 0: nothing */
	bool late;                /* memory.late() */
	struct cuda_same *same;   /* comparisons; NULL: not wanted yet */
	uint64_t workspace;       /* of cuBLAS */
	size_t workspace_bytes;
	void *nothing;                          /* a word that backend->launch_nothing() sets; no
						 * program's, so it counts nowhere */
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

/* A library is closed before its device is. */
static inline void cuda_on_close(struct device *d, void (*close)(struct device *d))
{
	d->closers[d->n_closers++] = close;
}

/* Notes a failure; true if there was none. */
bool cuda_check(struct device *d, CUresult result, const char *what);

/* The same for the launch of a kernel, which is a suspect from now on.  (Those of a
 * library are named too.) */
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
