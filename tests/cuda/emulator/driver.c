/* tests/cuda/emulator/driver.c -- a libcuda.so.1 that runs kernels on the host.
 *
 * With the NVRTC of nvrtc.c, whose cubins are shared objects: memory is the host's, copies
 * are copies, and a launch runs at once, a thread after the other.  So the values of what
 * backend cuda generates are tested where there is no GPU.  CUDA graphs: graph.c.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/emulator/work.h"

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

/* What is done within the device's memory, and may be captured. */
struct change {
	CUdeviceptr to, from;
	size_t n;
	unsigned value;
};

static void move(const void *state)
{
	const struct change *c = state;

	memmove((void *)(uintptr_t)c->to, (void *)(uintptr_t)c->from, c->n);
}

static void set_bytes(const void *state)
{
	const struct change *c = state;

	memset((void *)(uintptr_t)c->to, (int)c->value, c->n);
}

static void set_words(const void *state)
{
	const struct change *c = state;

	for (size_t i = 0; i < c->n; i++)
		memcpy((void *)(uintptr_t)(c->to + 4 * i), &c->value, sizeof(c->value));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	const struct change c = { to, from, bytes, 0 };

	(void)stream;
	return emulated_do(move, &c, sizeof(c));
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
	const struct change c = { to, 0, bytes, value };

	(void)stream;
	return emulated_do(set_bytes, &c, sizeof(c));
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t words, CUstream stream)
{
	const struct change c = { to, 0, words, value };

	(void)stream;
	return emulated_do(set_words, &c, sizeof(c));
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

enum { MAX_PARAMETERS = 4096 };

struct function {
	caller *kernel;
	launcher *launch;
	int threads;         /* of a block, at most */
	const size_t *sizes; /* of the parameters, to a 0 */
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
	snprintf(full, sizeof(full), "sizes_%s", name);
	f->sizes = dlsym(module, full);
	if (getenv("STAND_IN_NOTES"))
		fprintf(stderr, "a function %s\n", name);
	f->next = functions;
	functions = f;
	*function = (CUfunction)f;
	return f->kernel && f->launch && f->sizes ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
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

struct shape {
	struct function *function;
	unsigned grid[3], block[3], shared;
};

struct launch {
	struct shape shape;
	char values[]; /* of the parameters, one after the other */
};

static CUresult check(const struct shape *l)
{
	const unsigned *grid = l->grid, *block = l->block;
	unsigned threads = block[0] * block[1] * block[2];

	if (!grid[0] || !grid[1] || grid[1] > 65535 || !grid[2] || !threads || threads > 1024 ||
	    l->shared > 227 * 1024)
		return CUDA_ERROR_INVALID_VALUE;
	return threads > (unsigned)l->function->threads ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
							: CUDA_SUCCESS;
}

static size_t padded(size_t bytes)
{
	return (bytes + 15) / 16 * 16;
}

static struct launch *note(const struct shape *shape, void **params, size_t *bytes)
{
	const size_t *size = shape->function->sizes;
	struct launch *l;
	char *to;

	*bytes = sizeof(*l);
	for (int i = 0; size[i]; i++)
		*bytes += padded(size[i]);
	l = malloc(*bytes);
	l->shape = *shape;
	to = l->values;
	for (int i = 0; size[i]; to += padded(size[i++]))
		memcpy(to, params[i], size[i]);
	return l;
}

void emulated_launch_run(const void *state)
{
	const struct launch *l = state;
	const struct function *f = l->shape.function;
	char *from = (char *)l->values;
	void *params[MAX_PARAMETERS];

	for (int i = 0; f->sizes[i]; from += padded(f->sizes[i++]))
		params[i] = from;
	f->launch(f->kernel, params, l->shape.grid, l->shape.block, l->shape.shared);
}

void *emulated_launch_of(const CUDA_KERNEL_NODE_PARAMS *p, size_t *bytes, CUresult *why)
{
	const struct shape shape = { (struct function *)p->func,
				     { p->gridDimX, p->gridDimY, p->gridDimZ },
				     { p->blockDimX, p->blockDimY, p->blockDimZ },
				     p->sharedMemBytes };

	*why = check(&shape);
	return *why == CUDA_SUCCESS ? note(&shape, p->kernelParams, bytes) : NULL;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
			CUstream stream, void **params, void **extra)
{
	const CUDA_KERNEL_NODE_PARAMS p = { .func = function,
					    .gridDimX = grid_x,
					    .gridDimY = grid_y,
					    .gridDimZ = grid_z,
					    .blockDimX = block_x,
					    .blockDimY = block_y,
					    .blockDimZ = block_z,
					    .sharedMemBytes = shared,
					    .kernelParams = params };
	CUresult result;
	size_t bytes;
	void *state = emulated_launch_of(&p, &bytes, &result);

	(void)stream, (void)extra;
	if (state)
		result = emulated_do(emulated_launch_run, state, bytes);
	free(state);
	return result;
}
