/* tests/cuda/driver.c -- a libcuda.so.1 for machines without a GPU.
 *
 * Memory is the host's and copies are copies; kernels are loaded and launched, and
 * do nothing.  So all that backend cuda does on the host runs, under a sanitizer
 * too, and NVRTC compiles what it generates; the values of such a run mean nothing.
 * STAND_IN_ARCHITECTURE is the GPU's, 90 unless it is set.
 */
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUresult cuInit(unsigned flags)
{
	(void)flags;
	return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = 13000;
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **text)
{
	*text = error ? "CUDA_ERROR" : "CUDA_SUCCESS";
	return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
	*text = error ? "an error" : "no error";
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int index)
{
	*device = index;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	*count = 1;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
	(void)device;
	snprintf(name, (size_t)bytes, "stand-in GPU");
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	(void)device;
	*bytes = (size_t)16 << 30;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
	const char *set = getenv("STAND_IN_ARCHITECTURE");
	int architecture = set ? atoi(set) : 90;

	(void)device;
	*value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? architecture / 10
		 : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? architecture % 10
		 : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT     ? 132
									 : 163 * 1024;
	return CUDA_SUCCESS;
}

/* Handles are never looked into. */
static int something;

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	(void)device;
	*context = (CUcontext)&something;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	(void)device;
	return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
	(void)context;
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
	(void)flags;
	*stream = (CUstream)&something;
	return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream)
{
	(void)stream;
	return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream)
{
	(void)stream;
	return CUDA_SUCCESS;
}

/* Zeros, so that runs can be repeated. */
CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes)
{
	void *block = NULL;

	if (posix_memalign(&block, 256, bytes) != 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memset(block, 0, bytes);
	*memory = (CUdeviceptr)(uintptr_t)block;
	return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr memory)
{
	free((void *)(uintptr_t)memory);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	(void)stream;
	memcpy((void *)(uintptr_t)to, from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	(void)stream;
	memcpy(to, (void *)(uintptr_t)from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	(void)stream;
	memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
	(void)stream;
	memset((void *)(uintptr_t)to, value, bytes);
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	*module = (CUmodule)&something;
	return memcmp(image,
		      "\x7f"
		      "ELF",
		      4) == 0
		   ? CUDA_SUCCESS
		   : CUDA_ERROR_INVALID_IMAGE;
}

CUresult cuModuleUnload(CUmodule module)
{
	(void)module;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	(void)module, (void)name;
	*function = (CUfunction)&something;
	return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value)
{
	(void)function, (void)which, (void)value;
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
			CUstream stream, void **params, void **extra)
{
	(void)function, (void)stream, (void)params, (void)extra;
	if (!grid_x || !grid_y || grid_y > 65535 || !grid_z || !block_x || !block_y || !block_z ||
	    block_x * block_y * block_z > 1024 || shared > 163 * 1024)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}
