/* fusion/backends/cuda/cuda.h -- NVIDIA GPUs: CUDA C through NVRTC. */
#ifndef FUSION_BACKENDS_CUDA_CUDA_H
#define FUSION_BACKENDS_CUDA_CUDA_H

#include "fusion/backends/backends.h"

extern const struct backend backend_cuda;

#endif
