/* profiler/measure/gpu_state.h -- clocks, temperature and power of a GPU, by NVML.
 *
 * libnvidia-ml.so.1 comes with the driver and is loaded at run time; where it is not there, or
 * knows no GPU, that is said and nothing else changes.
 */
#ifndef PROFILER_MEASURE_GPU_STATE_H
#define PROFILER_MEASURE_GPU_STATE_H

#include "profiler/fields/fields.h"

struct gpu_state;

/* The first GPU that CUDA_VISIBLE_DEVICES names (a number or a UUID), else the first.  NULL when
 * out of memory. */
struct gpu_state *gpu_state_open(void);
void gpu_state_close(struct gpu_state *g); /* NULL is fine */

/* Looks once.  Whether it runs below its clocks since it is too hot, draws too much, or is slowed
 * down by what it is plugged into.  A clock that an operator or the absence of work set is none of
 * these. */
bool gpu_state_look(struct gpu_state *g);

/* What was seen; NULL with *unknown, a sentence, where nothing could be. */
struct report_gpu_state *gpu_state_report(const struct gpu_state *g, const char **unknown,
					  struct report_draft *draft);

#endif
