/* tests/cuda/emulator/work.h -- what is done on the emulated GPU's one stream (graph.c). */
#ifndef TESTS_CUDA_EMULATOR_WORK_H
#define TESTS_CUDA_EMULATOR_WORK_H

#include <cuda.h>
#include <stddef.h>

/* Does it, or notes it with a copy of `state` where the stream is captured. */
CUresult emulated_do(void (*run)(const void *state), const void *state, size_t bytes);

/* driver.c, for graph.c: a launch as a state, which is the caller's to free; NULL: *why. */
void *emulated_launch_of(const CUDA_KERNEL_NODE_PARAMS *p, size_t *bytes, CUresult *why);
void emulated_launch_run(const void *state);

#endif
