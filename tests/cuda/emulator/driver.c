/* tests/cuda/emulator/driver.c -- a libcuda.so.1 that runs kernels on the host.
 *
 * With the NVRTC of nvrtc.c, whose cubins are shared objects: memory is the host's, copies
 * are copies, and a launch runs at once, a thread after the other.  So the values of what
 * backend cuda generates are tested where there is no GPU.  CUDA graphs are not supported:
 * mode graphs launches kernel by kernel here.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	snprintf(name, (size_t)bytes, "emulated GPU");
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
	const char *multiprocessors = getenv("STAND_IN_MULTIPROCESSORS");
	int architecture = set ? atoi(set) : 90;

	(void)device;
	*value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? architecture / 10
		 : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? architecture % 10
		 : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
		     ? (multiprocessors ? atoi(multiprocessors) : 2)
		 : which == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR ? 2048
									       : 227 * 1024;
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

CUresult cuMemGetInfo(size_t *left, size_t *all)
{
	*left = *all = (size_t)16 << 30;
	return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
	(void)flags;
	*memory = calloc(1, bytes);
	return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *memory)
{
	free(memory);
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

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t words, CUstream stream)
{
	(void)stream;
	for (size_t i = 0; i < words; i++)
		memcpy((void *)(uintptr_t)(to + 4 * i), &value, sizeof(value));
	return CUDA_SUCCESS;
}

/* The image's size is not told: a shared object ends with its table of sections. */
CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	const Elf64_Ehdr *elf = image;
	char path[] = "/tmp/emulated-XXXXXX.so";
	size_t bytes = elf->e_shoff + (size_t)elf->e_shentsize * elf->e_shnum;
	int file = mkstemps(path, 3);
	void *object = NULL;

	if (file < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	if (write(file, image, bytes) == (ssize_t)bytes)
		object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	close(file);
	unlink(path);
	if (!object)
		fprintf(stderr, "emulator: %s\n", dlerror());
	*module = object;
	return object ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

CUresult cuModuleUnload(CUmodule module)
{
	dlclose(module);
	return CUDA_SUCCESS;
}

typedef void caller(void **params);
typedef void launcher(caller *kernel, void **params, const unsigned *grid, const unsigned *block,
		      unsigned shared);

struct function {
	caller *kernel;
	launcher *launch;
	int threads; /* of a block, at most */
	struct function *next;
};
static struct function *functions; /* all there are, to the end */

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	struct function *f = calloc(1, sizeof(*f));
	const int *most;
	char full[80];

	if (!f)
		return CUDA_ERROR_OUT_OF_MEMORY;
	snprintf(full, sizeof(full), "call_%s", name);
	*(void **)&f->kernel = dlsym(module, full);
	*(void **)&f->launch = dlsym(module, "emulated_launch");
	snprintf(full, sizeof(full), "most_%s", name);
	most = dlsym(module, full);
	f->threads = most ? *most : 0;
	if (getenv("STAND_IN_NOTES"))
		fprintf(stderr, "a function %s\n", name);
	f->next = functions;
	functions = f;
	*function = (CUfunction)f;
	return f->kernel && f->launch ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value)
{
	(void)function, (void)which, (void)value;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function)
{
	const struct function *f = (const struct function *)function;

	*value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? f->threads : 0;
	return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
						     size_t shared)
{
	(void)function, (void)shared;
	*blocks = 2048 / threads;
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
			CUstream stream, void **params, void **extra)
{
	struct function *f = (struct function *)function;
	unsigned grid[] = { grid_x, grid_y, grid_z }, block[] = { block_x, block_y, block_z };

	(void)stream, (void)extra;
	if (!grid_x || !grid_y || grid_y > 65535 || !grid_z || !block_x || !block_y || !block_z ||
	    block_x * block_y * block_z > 1024 || shared > 227 * 1024)
		return CUDA_ERROR_INVALID_VALUE;
	if (block_x * block_y * block_z > (unsigned)f->threads)
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	f->launch(f->kernel, params, grid, block, shared);
	return CUDA_SUCCESS;
}

/* ---- CUDA graphs: none */

#define NONE(name, ...)                                                                            \
	CUresult name(__VA_ARGS__)                                                                 \
	{                                                                                          \
		return CUDA_ERROR_NOT_SUPPORTED;                                                   \
	}
NONE(cuStreamBeginCapture, CUstream stream, CUstreamCaptureMode mode)
NONE(cuStreamEndCapture, CUstream stream, CUgraph *graph)
NONE(cuGraphCreate, CUgraph *graph, unsigned flags)
NONE(cuGraphDestroy, CUgraph graph)
NONE(cuGraphAddKernelNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
     const CUDA_KERNEL_NODE_PARAMS *params)
NONE(cuGraphAddChildGraphNode, CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
     CUgraph child)
NONE(cuGraphInstantiate, CUgraphExec *run, CUgraph graph, unsigned long long flags)
NONE(cuGraphExecDestroy, CUgraphExec run)
NONE(cuGraphExecKernelNodeSetParams, CUgraphExec run, CUgraphNode node,
     const CUDA_KERNEL_NODE_PARAMS *params)
NONE(cuGraphExecChildGraphNodeSetParams, CUgraphExec run, CUgraphNode node, CUgraph child)
NONE(cuGraphUpload, CUgraphExec run, CUstream stream)
NONE(cuGraphGetNodes, CUgraph graph, CUgraphNode *nodes, size_t *n)
NONE(cuGraphNodeGetType, CUgraphNode node, CUgraphNodeType *type)
NONE(cuGraphChildGraphNodeGetGraph, CUgraphNode node, CUgraph *graph)
NONE(cuGraphLaunch, CUgraphExec run, CUstream stream)
