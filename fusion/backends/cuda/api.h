/* fusion/backends/cuda/api.h -- the driver and NVRTC, loaded when first wanted.
 *
 * One binary serves hosts with and without a GPU: nothing of CUDA is linked.
 * Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_API_H
#define FUSION_BACKENDS_CUDA_API_H

#include <cuda.h>
#include <nvrtc.h>
#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/err.h"

struct cuda_api {
	void *driver, *nvrtc; /* of dlopen */
#define DRIVER(name) typeof(&name) name;
#define NVRTC(name) typeof(&name) name;
#include "fusion/backends/cuda/driver.def"
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

#endif
