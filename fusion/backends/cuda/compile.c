/* fusion/backends/cuda/compile.c -- CUDA C to a cubin, by NVRTC. */
#include "fusion/backends/cuda/compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A fused kernel must give the bits of its ops one by one: no contraction.  Of what is
 * wrong only errors are told: a log is cut off.  The last two are of 12.9 and later:
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
