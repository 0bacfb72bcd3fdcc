/* fusion/backends/cuda/device.h -- one GPU: its context, its stream, its memory.
 *
 * All launches and copies of an engine go through one stream, in order.  An
 * error of the driver is kept (the first one counts) and reported where the
 * caller can fail: see device_fault().  Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_DEVICE_H
#define FUSION_BACKENDS_CUDA_DEVICE_H

#include "fusion/backends/cuda/api.h"
#include "fusion/backends/memory.h"

struct device {
	struct device_memory memory; /* .self is this struct */
	struct cuda_api api;
	CUdevice handle;
	CUcontext context;
	CUstream stream;
	int multiprocessors, architecture; /* 90: sm_90 */
	int shared_bytes;                  /* that a block may have, on request */
	char name[96];
	struct cuda_blas *blas; /* blas.h; NULL: not wanted yet */
	CUresult failed;        /* the first error; CUDA_SUCCESS: none */
	char what[96];          /* the call, or the kernel, that failed */
};

/* Whether there is a driver, a GPU and NVRTC; opens nothing. */
bool cuda_device_present(struct err *err);

struct device *cuda_device_open(struct err *err);
void cuda_device_close(struct device *d); /* NULL is fine */

/* Notes a failure; true if there was none. */
bool cuda_check(struct device *d, CUresult result, const char *what);

/* False with DEVICE (and the failure's name) if anything has failed. */
bool cuda_device_fault(struct device *d, struct err *err);

#endif
