/* fusion/backends/cuda/compile.h -- CUDA C to a cubin.  Private to backends/cuda. */
#ifndef FUSION_BACKENDS_CUDA_COMPILE_H
#define FUSION_BACKENDS_CUDA_COMPILE_H

#include "fusion/backends/cuda/api.h"

/* What a cubin depends on beside source and architecture: NVRTC's version and our
 * options, as text; part of the cache's key. */
void cuda_compiler_identity(const struct cuda_api *api, char *text, size_t bytes);

/* The machine code for an architecture (90: sm_90), malloc'd.  NULL with COMPILER
 * and what NVRTC says, or MEMORY. */
char *cuda_compile(const struct cuda_api *api, int architecture, const char *source, size_t *bytes,
		   struct err *err);

#endif
