/* fusion/backends/cuda/device.c -- opens a GPU; its memory. */
#include "fusion/backends/cuda/device.h"

#include "fusion/backends/cuda/blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cuda_check(struct device *d, CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return true;
	if (d->failed == CUDA_SUCCESS) {
		d->failed = result;
		snprintf(d->what, sizeof(d->what), "%s", what);
	}
	return false;
}

bool cuda_device_fault(struct device *d, struct err *err)
{
	const char *name = NULL, *text = NULL;

	if (d->failed == CUDA_SUCCESS)
		return true;
	d->api.cuGetErrorName(d->failed, &name);
	d->api.cuGetErrorString(d->failed, &text);
	return err_set(err, ERR_DEVICE, "%s on %s failed: %s (%s)", d->what, d->name,
		       text ? text : "no text", name ? name : "unknown");
}

static void *memory_get(void *self, size_t bytes)
{
	struct device *d = self;
	CUdeviceptr memory = 0;

	/* To run out of memory is no failure of the device. */
	if (d->api.cuMemAlloc(&memory, bytes ? bytes : 1) != CUDA_SUCCESS)
		return NULL;
	return (void *)memory;
}

static void memory_put(void *self, void *memory)
{
	struct device *d = self;

	cuda_check(d, d->api.cuMemFree((CUdeviceptr)memory), "cuMemFree");
}

static void memory_wait(void *self)
{
	struct device *d = self;

	cuda_check(d, d->api.cuStreamSynchronize(d->stream), "a kernel");
}

static void memory_read(void *self, void *host, const void *memory, size_t bytes)
{
	struct device *d = self;

	cuda_check(d, d->api.cuMemcpyDtoHAsync(host, (CUdeviceptr)memory, bytes, d->stream),
		   "a copy from the device");
	memory_wait(d);
}

/* The host's memory may be reused when this returns: of pageable memory the
 * driver takes a copy first. */
static void memory_write(void *self, void *memory, const void *host, size_t bytes)
{
	struct device *d = self;

	cuda_check(d, d->api.cuMemcpyHtoDAsync((CUdeviceptr)memory, host, bytes, d->stream),
		   "a copy to the device");
}

static void memory_copy(void *self, void *to, const void *from, size_t bytes)
{
	struct device *d = self;

	cuda_check(d,
		   d->api.cuMemcpyDtoDAsync((CUdeviceptr)to, (CUdeviceptr)from, bytes, d->stream),
		   "a copy on the device");
}

static void memory_clear(void *self, void *memory, size_t bytes)
{
	struct device *d = self;

	cuda_check(d, d->api.cuMemsetD8Async((CUdeviceptr)memory, 0, bytes, d->stream),
		   "clearing memory");
}

static int attribute(struct device *d, CUdevice_attribute which)
{
	int value = 0;

	cuda_check(d, d->api.cuDeviceGetAttribute(&value, which, d->handle),
		   "cuDeviceGetAttribute");
	return value;
}

static bool find_gpu(struct device *d, struct err *err)
{
	int count = 0;

	if (!cuda_check(d, d->api.cuInit(0), "cuInit") ||
	    !cuda_check(d, d->api.cuDeviceGetCount(&count), "cuDeviceGetCount"))
		return cuda_device_fault(d, err);
	if (count == 0)
		return err_set(err, ERR_UNSUPPORTED, "the NVIDIA driver finds no GPU");
	if (!cuda_check(d, d->api.cuDeviceGet(&d->handle, 0), "cuDeviceGet"))
		return cuda_device_fault(d, err);
	d->api.cuDeviceGetName(d->name, sizeof(d->name), d->handle);
	return true;
}

bool cuda_device_present(struct err *err)
{
	struct device d = { .name = "the GPU" };
	bool present = cuda_api_load(&d.api, true, err) && find_gpu(&d, err);

	cuda_api_unload(&d.api);
	return present;
}

static bool start(struct device *d, struct err *err)
{
	if (!find_gpu(d, err))
		return false;
	d->multiprocessors = attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	d->architecture = 10 * attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
			  attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	d->shared_bytes = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	if (!cuda_check(d, d->api.cuDevicePrimaryCtxRetain(&d->context, d->handle),
			"cuDevicePrimaryCtxRetain") ||
	    !cuda_check(d, d->api.cuCtxSetCurrent(d->context), "cuCtxSetCurrent") ||
	    !cuda_check(d, d->api.cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING),
			"cuStreamCreate"))
		return cuda_device_fault(d, err);
	return true;
}

struct device *cuda_device_open(struct err *err)
{
	struct device *d = calloc(1, sizeof(*d));

	if (!d) {
		err_set(err, ERR_MEMORY, "The system has no memory left for a device.");
		return NULL;
	}
	snprintf(d->name, sizeof(d->name), "the GPU");
	d->memory = (struct device_memory){ .self = d,
					    .name = d->name,
					    .get = memory_get,
					    .put = memory_put,
					    .read = memory_read,
					    .write = memory_write,
					    .copy = memory_copy,
					    .clear = memory_clear,
					    .wait = memory_wait };
	if (cuda_api_load(&d->api, true, err) && start(d, err))
		return d;
	cuda_device_close(d);
	return NULL;
}

void cuda_device_close(struct device *d)
{
	if (!d)
		return;
	cuda_blas_close(d->blas);
	if (d->stream)
		d->api.cuStreamDestroy(d->stream);
	if (d->context)
		d->api.cuDevicePrimaryCtxRelease(d->handle);
	cuda_api_unload(&d->api);
	free(d);
}
