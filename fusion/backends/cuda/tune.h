/* fusion/backends/cuda/tune.h -- which of a few schedules a kernel gets, by the time each takes.
 *
 * What the rules of kernel.c plan is one candidate; others differ in one choice (enum
 * cuda_choice).  All of a graph's are compiled side by side, each runs on memory of its own, in
 * batches between two waits, and the fastest is kept if it is clearly faster than the planned
 * one.  What was found lies in the cache on disk: by the kernel's text, which has its sizes, the
 * symbols' values, the device and its driver.  Kernels that load by indices, join tensors or
 * begin with a library's function are left as planned, as are those that move little: a launch
 * takes as long as they do.
 */
#ifndef FUSION_BACKENDS_CUDA_TUNE_H
#define FUSION_BACKENDS_CUDA_TUNE_H

#include "fusion/backends/cuda/compile.h"

/* Plans kernels of the version again where that pays, and writes their texts; fills in
 * v->tried.  Does nothing where exe->autotune is off, or for addresses of any kind (`lanes` 1).
 * False with MEMORY, or with the device's fault. */
bool cuda_tune(struct executable *exe, struct version *v, int lanes, struct cuda_texts *t,
	       struct err *err);

#endif
