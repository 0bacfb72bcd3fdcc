/* tests/cuda/nvrtc.c -- a libnvrtc.so.13 for tests of what driver.c launches: it takes
 * any source, at once.  In a folder of its own: elsewhere the real one is wanted. */
#include <nvrtc.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/driver.h"

static int compiles;

int stand_in_compiles(void)
{
	return compiles;
}

nvrtcResult nvrtcVersion(int *major, int *minor)
{
	*major = 13;
	*minor = 0;
	return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result)
{
	return result == NVRTC_SUCCESS ? "NVRTC_SUCCESS" : "NVRTC_ERROR";
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int n,
			       const char *const *headers, const char *const *names)
{
	*program = (nvrtcProgram)strdup(source);
	return *program ? NVRTC_SUCCESS : NVRTC_ERROR_OUT_OF_MEMORY;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
	free(*program);
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int n, const char *const *options)
{
	compiles++;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
	*bytes = 1;
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
	*log = '\0';
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
	*bytes = sizeof(STAND_IN_CUBIN) + strlen((const char *)program);
	return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin)
{
	strcpy(stpcpy(cubin, STAND_IN_CUBIN), (const char *)program);
	return NVRTC_SUCCESS;
}
