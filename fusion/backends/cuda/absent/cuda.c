/* fusion/backends/cuda/absent/cuda.c -- backend cuda of a build without CUDA's headers. */
#include "fusion/backends/cuda/cuda.h"

#include <stdio.h>

static bool available(const struct backend_env *env, char *why, size_t why_bytes)
{
	(void)env;
	snprintf(why, why_bytes,
		 "this program was built without the headers of the CUDA Toolkit: install it, and "
		 "build again with CUDA_HOME set to its folder");
	return false;
}

const struct backend backend_cuda = {
	.name = "cuda",
	.purpose = "CUDA C through NVRTC on an NVIDIA GPU, a kernel for each group of ops",
	.on_device = true,
	.available = available,
};
