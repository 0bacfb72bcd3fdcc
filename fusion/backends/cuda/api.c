/* fusion/backends/cuda/api.c -- loads the driver and NVRTC. */
#include "fusion/backends/cuda/api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cuda.h names the current version of a function by a macro: cuMemAlloc_v2. */
#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

/* RTLD_NODELETE: NVRTC 13.0 crashes in the process where it was loaded a second time. */
void *cuda_open_library(const char *name)
{
	static const char *const endings[] = { ".13", ".12", "" };
	const char *home = getenv("CUDA_HOME");
	void *handle = NULL;

	for (int i = 0; !handle && i < 6; i++) {
		char path[512];

		if (i < 3)
			snprintf(path, sizeof(path), "%.100s%s", name, endings[i]);
		else
			snprintf(path, sizeof(path), "%.300s/lib64/%.100s%s",
				 home ? home : "/usr/local/cuda", name, endings[i - 3]);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	}
	return handle;
}

const char *cuda_lacks(int i)
{
	static const struct {
		const char *library, *line;
	} parts[] = {
		{ "libcublas.so",
		  "no cuBLAS: libcublas.so is not on the library path; products of matrices "
		  "fail" },
		{ "libcublasLt.so",
		  "no cuBLASLt: libcublasLt.so is not on the library path; what follows a product "
		  "is a kernel of its own" },
		{ "libcudnn.so.9",
		  "no cuDNN: libcudnn.so.9 is not on the library path; convolutions run in a "
		  "plain kernel, which is slower" },
	};

	for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
		void *library = cuda_open_library(parts[k].library);

		if (library)
			dlclose(library);
		else if (i-- == 0)
			return parts[k].line;
	}
	return NULL;
}

static bool find(void *handle, const char *name, void *function, struct err *err)
{
	void *found = dlsym(handle, name);

	if (!found)
		return err_set(err, ERR_UNSUPPORTED,
			       "the CUDA libraries here have no %s; install a newer driver", name);
	memcpy(function, &found, sizeof(found));
	return true;
}

bool cuda_api_load(struct cuda_api *api, bool device, struct err *err)
{
	*api = (struct cuda_api){ 0 };
	if (device) {
		api->driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
		if (!api->driver)
			return err_set(err, ERR_UNSUPPORTED,
				       "no NVIDIA driver: libcuda.so.1 is not installed");
	}
	api->nvrtc = cuda_open_library("libnvrtc.so");
	if (!api->nvrtc) {
		cuda_api_unload(api);
		return err_set(
		    err, ERR_UNSUPPORTED,
		    "no NVRTC: libnvrtc.so.13 is neither on the library path nor in "
		    "CUDA_HOME/lib64 or /usr/local/cuda/lib64; install the CUDA Toolkit");
	}
#define DRIVER(name)                                                                               \
	if (device && !find(api->driver, TEXT(name), &api->name, err))                             \
		goto fail;
#define NVRTC(name)                                                                                \
	if (!find(api->nvrtc, TEXT(name), &api->name, err))                                        \
		goto fail;
#include "fusion/backends/cuda/driver.def"
#undef DRIVER
#undef NVRTC
	return true;
fail:
	cuda_api_unload(api);
	return false;
}

void cuda_api_unload(struct cuda_api *api)
{
	if (api->nvrtc)
		dlclose(api->nvrtc);
	if (api->driver)
		dlclose(api->driver);
	*api = (struct cuda_api){ 0 };
}
