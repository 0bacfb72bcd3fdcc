/* fusion/backends/cuda/device/driver.c -- loads the driver and NVRTC, and runs NVRTC. */
#include "fusion/backends/cuda/device/device.h"

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
#include "fusion/backends/cuda/device/driver.def"
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

/* ---- CUDA C to a cubin, by NVRTC. */

/* The first lines of what NVRTC says. */
static void explain(const struct cuda_api *api, nvrtcProgram program, nvrtcResult result,
		    struct err *err)
{
	size_t bytes = 0;
	char *log;

	api->nvrtcGetProgramLogSize(program, &bytes);
	log = calloc(1, bytes + 1);
	if (log)
		api->nvrtcGetProgramLog(program, log);
	err_set(err, ERR_COMPILER, "NVRTC cannot compile a kernel (%s): %.400s",
		api->nvrtcGetErrorString(result), log ? log : "no memory for its log");
	free(log);
}

/* A fused kernel must give the bits of its ops one by one: no contraction.  Only errors
 * are reported: a log is cut off.  The last two are of 12.9 and later:
 * NVRTC's own cache gains nothing beside ours, and without textures and the like it has
 * less to read. */
static const char *const fixed_options[] = { "--fmad=false", "--std=c++17", "--disable-warnings",
					     "--no-cache", "--minimal" };
enum { N_OPTIONS = sizeof(fixed_options) / sizeof(*fixed_options), N_LATE = 2 };

void cuda_compiler_identity(const struct cuda_api *api, char *text, size_t bytes)
{
	int major = 0, minor = 0;

	api->nvrtcVersion(&major, &minor);
	snprintf(text, bytes, "nvrtc %d.%d %s %s", major, minor, fixed_options[0],
		 fixed_options[1]);
}

char *cuda_compile(const struct cuda_api *api, int architecture, const char *source, size_t *bytes,
		   struct err *err)
{
	char arch[48];
	const char *options[1 + N_OPTIONS] = { arch };
	int major = 0, minor = 0, n_options = 1 + N_OPTIONS;
	nvrtcProgram program = NULL;
	nvrtcResult result;
	char *cubin = NULL;

	snprintf(arch, sizeof(arch), "--gpu-architecture=sm_%d", architecture);
	api->nvrtcVersion(&major, &minor);
	if (major * 100 + minor < 1209)
		n_options -= N_LATE;
	memcpy(options + 1, fixed_options, sizeof(fixed_options));
	result = api->nvrtcCreateProgram(&program, source, "graph.cu", 0, NULL, NULL);
	if (result == NVRTC_SUCCESS)
		result = api->nvrtcCompileProgram(program, n_options, options);
	if (result == NVRTC_SUCCESS)
		result = api->nvrtcGetCUBINSize(program, bytes);
	if (result == NVRTC_SUCCESS && !(cubin = malloc(*bytes))) {
		err_set(err, ERR_MEMORY, "The system has no memory left for a kernel.");
	} else if (result == NVRTC_SUCCESS) {
		result = api->nvrtcGetCUBIN(program, cubin);
	}
	if (result != NVRTC_SUCCESS) {
		explain(api, program, result, err);
		free(cubin);
		cubin = NULL;
	}
	if (program)
		api->nvrtcDestroyProgram(&program);
	return cubin;
}
