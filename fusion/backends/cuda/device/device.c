/* fusion/backends/cuda/device/device.c -- one GPU: its context and stream, its memory, what
 * fails there.
 */
#include "fusion/backends/cuda/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/cuda/library/args.h"
#include "fusion/backends/library/library.h"
#include "fusion/base/buf.h"

/* ---- whether two places of the device hold the same bytes
 *
 * Each block says that it has looked, and whether what it saw differs: a device that did not
 * run the kernel says neither, and its memory is compared on the host.
 */

enum { THREADS = 256, MAX_BLOCKS = 2048, SEEN = 2 };

static const char source[] =
    "extern \"C\" __global__ void same(const unsigned char *a, const unsigned char *b, "
    "unsigned long long bytes, unsigned *seen)\n"
    "{\n"
    "	const unsigned *x = (const unsigned *)a, *y = (const unsigned *)b;\n"
    "	unsigned long long words = bytes / 4;\n"
    "	unsigned long long first = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "	bool differ = false;\n"
    "	for (unsigned long long i = first; i < words; i += (unsigned long long)gridDim.x * "
    "blockDim.x)\n"
    "		if (x[i] != y[i])\n"
    "			differ = true;\n"
    "	if (first == 0)\n"
    "		for (unsigned long long i = 4 * words; i < bytes; i++)\n"
    "			if (a[i] != b[i])\n"
    "				differ = true;\n"
    "	if (differ)\n"
    "		atomicAdd(seen + 1, 1u);\n"
    "	if (threadIdx.x == 0)\n"
    "		atomicAdd(seen, 1u);\n"
    "}\n";

struct cuda_same {
	CUmodule module;
	CUfunction function; /* NULL: it could not be made */
	uint64_t seen;
};

static void close_same(struct device *d)
{
	struct cuda_same *s = d->same;

	if (!s)
		return;
	cuda_release(d, s->seen, SEEN * sizeof(unsigned));
	if (s->module)
		d->api.cuModuleUnload(s->module);
	free(s);
	d->same = NULL;
}

/* Made when it is first wanted; what fails here is no failure of the device. */
static const struct cuda_same *open_same(struct device *d)
{
	struct err ignored = { 0 };
	size_t bytes;
	char *cubin;

	if (d->same)
		return d->same;
	d->same = calloc(1, sizeof(*d->same));
	if (!d->same)
		return NULL;
	cubin = cuda_compile(&d->api, d->architecture, source, &bytes, &ignored);
	if (cubin && d->api.cuModuleLoadData(&d->same->module, cubin) == CUDA_SUCCESS &&
	    d->api.cuModuleGetFunction(&d->same->function, d->same->module, "same") == CUDA_SUCCESS)
		d->same->seen = cuda_take(d, SEEN * sizeof(unsigned));
	free(cubin);
	return d->same;
}

static bool memory_same(void *self, const void *a, const void *b, size_t bytes)
{
	struct device *d = self;
	const struct cuda_same *s = open_same(d);
	unsigned seen[SEEN] = { 0 };
	unsigned long long n = bytes, blocks = (n / 4 + THREADS - 1) / THREADS;
	unsigned grid = blocks < 1 ? 1 : blocks > MAX_BLOCKS ? MAX_BLOCKS : (unsigned)blocks;
	uint64_t left = (uint64_t)a, right = (uint64_t)b, out = s ? s->seen : 0;
	void *params[] = { &left, &right, &n, &out };

	if (!out || left % 4 || right % 4 || d->failed != CUDA_SUCCESS)
		return false;
	d->memory.clear(d, (void *)out, sizeof(seen));
	if (!cuda_check(d,
			d->api.cuLaunchKernel(s->function, grid, 1, 1, THREADS, 1, 1, 0, d->stream,
					      params, NULL),
			"a comparison on the device"))
		return false;
	d->memory.read(d, seen, (void *)out, sizeof(seen));
	return d->failed == CUDA_SUCCESS && seen[0] == grid && seen[1] == 0;
}

/* ---- memory, failures */

/* Whether it is a kernel that ran into it, and not the call that says so. */
static bool happened_in_kernel(CUresult result)
{
	switch (result) {
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_TIMEOUT:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_ECC_UNCORRECTABLE:
		return true;
	default:
		return false;
	}
}

/* "fused_sin_sum (lines 3 to 5)"; where its first op is to *at, which may be NULL. */
static void name_kernel(struct buf *out, const struct suspect *s, struct device *at)
{
	const struct kernel *k = &s->lowered->kernels[s->kernel];
	int first = 0, last = 0;

	for (int i = 0; i < k->n_nodes; i++) {
		const struct node *n = s->lowered->graph->nodes[k->nodes[i]];

		if (n->line <= 0)
			continue;
		if (!first && at) {
			at->line = n->line;
			at->column = n->column;
		}
		first = !first || n->line < first ? n->line : first;
		last = n->line > last ? n->line : last;
	}
	buf_printf(out, "%.120s", k->name);
	if (first == last && first)
		buf_printf(out, " (line %d)", first);
	else if (first)
		buf_printf(out, " (lines %d to %d)", first, last);
}

static void name_suspects(struct device *d)
{
	unsigned n = d->launched < CUDA_SUSPECTS ? d->launched : CUDA_SUSPECTS;
	struct buf out;

	buf_init(&out, 0);
	if (d->launched == 1)
		buf_puts(&out, "the kernel ");
	else
		buf_printf(&out,
			   "one of the last %u kernels (CUDA_LAUNCH_BLOCKING=1 tells which): ",
			   d->launched);
	for (unsigned i = 1; i <= n; i++) {
		const struct suspect *s = &d->suspects[(d->launched - i) % CUDA_SUSPECTS];

		if (i > 1)
			buf_puts(&out, ", ");
		name_kernel(&out, s, d->launched == 1 ? d : NULL);
	}
	if (n < d->launched)
		buf_puts(&out, ", ...");
	snprintf(d->what, sizeof(d->what), "%s", out.failed ? "a kernel" : out.data);
	buf_finish(&out);
}

bool cuda_check(struct device *d, CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return true;
	if (d->failed != CUDA_SUCCESS)
		return false;
	d->failed = result;
	if (happened_in_kernel(result) && d->launched > 0)
		name_suspects(d);
	else
		snprintf(d->what, sizeof(d->what), "%s", what);
	return false;
}

bool cuda_check_launch(struct device *d, CUresult result, const struct lowered *l, int kernel)
{
	const struct suspect s = { l, kernel };
	struct buf out;

	if (result == CUDA_SUCCESS) {
		cuda_suspect(d, l, kernel);
		if (d->blocking)
			d->memory.wait(d);
		return d->failed == CUDA_SUCCESS;
	}
	if (happened_in_kernel(result) || d->failed != CUDA_SUCCESS)
		return cuda_check(d, result, "a launch");
	buf_init(&out, 0);
	buf_puts(&out, "the launch of ");
	name_kernel(&out, &s, d);
	cuda_check(d, result, out.failed ? "a launch" : out.data);
	buf_finish(&out);
	return false;
}

void cuda_settle(struct device *d)
{
	if (d->launched > 0 && d->failed == CUDA_SUCCESS)
		d->memory.wait(d);
	d->launched = 0;
}

bool cuda_device_fault(struct device *d, struct err *err)
{
	const char *name = NULL, *text = NULL;

	if (d->failed == CUDA_SUCCESS)
		return true;
	d->api.cuGetErrorName(d->failed, &name);
	d->api.cuGetErrorString(d->failed, &text);
	return err_at(err, ERR_DEVICE, d->line, d->column, "%s failed on %s: %s (%s)%s", d->what,
		      d->name, text ? text : "no text", name ? name : "unknown",
		      happened_in_kernel(d->failed)
			  ? "; this process has lost the device, another one can go on"
			  : "");
}

void cuda_keep_fault(struct device *d)
{
	const struct library_call *call;

	if (!d->fault || !*(volatile int *)&d->fault->raised)
		return;
	call = d->fault->call;
	library_fault(call, d->fault->index, d->fault->size);
	library_faulted(call->fault, d->index_fault.code ? NULL : &d->index_fault);
	*d->fault = (struct cuda_fault){ 0 };
}

bool cuda_index_fault(struct device *d, struct err *err)
{
	cuda_keep_fault(d);
	if (__builtin_expect(d->index_fault.code == ERR_NONE, 1))
		return true;
	if (err)
		*err = d->index_fault;
	d->index_fault = (struct err){ 0 };
	return false;
}

static bool memory_check(void *self, struct err *err)
{
	return cuda_device_fault(self, err) && cuda_index_fault(self, err);
}

static void memory_late(void *self, bool late)
{
	struct device *d = self;

	d->late = late;
}

static void memory_on_shortage(void *self, void (*give_back)(void *owner), void *owner)
{
	struct device *d = self;

	d->give_back = give_back;
	d->owner = owner;
}

static size_t memory_free_bytes(void *self)
{
	struct device *d = self;
	size_t left = 0, total;

	d->api.cuMemGetInfo(&left, &total);
	return left;
}

static void *memory_get(void *self, size_t bytes)
{
	struct device *d = self;
	CUdeviceptr memory = 0;
	CUresult result = d->api.cuMemAlloc(&memory, bytes ? bytes : 1);

	if (result == CUDA_ERROR_OUT_OF_MEMORY && d->give_back) {
		d->give_back(d->owner);
		result = d->api.cuMemAlloc(&memory, bytes ? bytes : 1);
	}
	/* To run out of memory is no failure of the device. */
	if (result != CUDA_ERROR_OUT_OF_MEMORY)
		cuda_check(d, result, "cuMemAlloc");
	return result == CUDA_SUCCESS ? (void *)memory : NULL;
}

uint64_t cuda_take(struct device *d, size_t bytes)
{
	void *memory = d->memory.get(d, d->fence ? fence_room(bytes) : bytes);

	if (!memory)
		return 0;
	d->memory.own_bytes += bytes;
	if (d->fence) {
		memory = fence_open(d->fence, memory, bytes);
		fence_describe(d->fence, memory, "memory that kernels take for themselves");
	}
	return (uint64_t)memory;
}

void cuda_release(struct device *d, uint64_t memory, size_t bytes)
{
	if (!memory)
		return;
	d->memory.own_bytes -= bytes;
	d->memory.put(d, d->fence ? fence_close(d->fence, (void *)memory) : (void *)memory);
}

static void memory_put(void *self, void *memory)
{
	struct device *d = self;

	cuda_check(d, d->api.cuMemFree((CUdeviceptr)memory), "cuMemFree"); /* it waits */
}

static void memory_wait(void *self)
{
	struct device *d = self;

	d->waits++;
	if (cuda_check(d, d->api.cuStreamSynchronize(d->stream), "waiting for the device"))
		d->launched = 0;
}

static void memory_read(void *self, void *host, const void *memory, size_t bytes)
{
	struct device *d = self;

	d->copies++;
	if (cuda_check(d, d->api.cuMemcpyDtoHAsync(host, (CUdeviceptr)memory, bytes, d->stream),
		       "a copy from the device"))
		memory_wait(d);
	if (d->failed != CUDA_SUCCESS) /* until it is reported: the same each time */
		memset(host, 0, bytes);
}

/* The host's memory may be reused when this returns: of pageable memory the
 * driver takes a copy first. */
static void memory_write(void *self, void *memory, const void *host, size_t bytes)
{
	struct device *d = self;

	d->copies++;
	cuda_check(d, d->api.cuMemcpyHtoDAsync((CUdeviceptr)memory, host, bytes, d->stream),
		   "a copy to the device");
}

static void memory_copy(void *self, void *to, const void *from, size_t bytes)
{
	struct device *d = self;

	d->copies++;
	cuda_check(d,
		   d->api.cuMemcpyDtoDAsync((CUdeviceptr)to, (CUdeviceptr)from, bytes, d->stream),
		   "a copy on the device");
}

static void memory_clear(void *self, void *memory, size_t bytes)
{
	struct device *d = self;

	d->sets++;
	cuda_check(d, d->api.cuMemsetD8Async((CUdeviceptr)memory, 0, bytes, d->stream),
		   "clearing memory");
}

static void memory_fill(void *self, void *memory, uint32_t word, size_t bytes)
{
	struct device *d = self;

	if (bytes == 0)
		return;
	d->sets++;
	cuda_check(
	    d, d->api.cuMemsetD32Async((CUdeviceptr)memory, word, bytes / sizeof(word), d->stream),
	    "filling memory");
}

static int attribute(struct device *d, CUdevice_attribute which)
{
	int value = 0;

	cuda_check(d, d->api.cuDeviceGetAttribute(&value, which, d->handle),
		   "cuDeviceGetAttribute");
	return value;
}

static bool no_gpu(struct err *err)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	if (!visible)
		return err_set(err, ERR_UNSUPPORTED, "the NVIDIA driver finds no GPU");
	return err_set(
	    err, ERR_UNSUPPORTED,
	    "the NVIDIA driver finds no GPU under CUDA_VISIBLE_DEVICES='%.60s', which the "
	    "environment or --device cuda:N sets; nvidia-smi lists those there are",
	    visible);
}

static bool find_gpu(struct device *d, struct err *err)
{
	CUresult begun = d->api.cuInit(0);
	int count = 0;

	if (begun != CUDA_ERROR_NO_DEVICE &&
	    (!cuda_check(d, begun, "cuInit") ||
	     !cuda_check(d, d->api.cuDeviceGetCount(&count), "cuDeviceGetCount")))
		return cuda_device_fault(d, err);
	if (count == 0)
		return no_gpu(err);
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

/* Under unified addressing, which every 64-bit system has, kernels use the host's pointer. */
static bool take_fault(struct device *d)
{
	void *memory = NULL;

	if (!cuda_check(d,
			d->api.cuMemHostAlloc(&memory, sizeof(*d->fault),
					      CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
			"cuMemHostAlloc"))
		return false;
	d->fault = memory;
	*d->fault = (struct cuda_fault){ 0 };
	return true;
}

static bool start(struct device *d, struct err *err)
{
	if (!find_gpu(d, err))
		return false;
	d->multiprocessors = attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	d->threads_each = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
	d->architecture = 10 * attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
			  attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
	d->memory.cache_bytes = (size_t)attribute(d, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
	d->shared_bytes = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	if (!cuda_check(d, d->api.cuDevicePrimaryCtxRetain(&d->context, d->handle),
			"cuDevicePrimaryCtxRetain") ||
	    !cuda_check(d, d->api.cuCtxSetCurrent(d->context), "cuCtxSetCurrent") ||
	    !cuda_check(d, d->api.cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING),
			"cuStreamCreate") ||
	    !take_fault(d))
		return cuda_device_fault(d, err);
	return true;
}

struct device *cuda_device_open(struct err *err)
{
	struct device *d = calloc(1, sizeof(*d));
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");

	if (!d) {
		err_set(err, ERR_MEMORY, "The system has no memory left for a device.");
		return NULL;
	}
	snprintf(d->name, sizeof(d->name), "the GPU");
	d->blocking = blocking && strcmp(blocking, "1") == 0;
	d->memory = (struct device_memory){ .self = d,
					    .name = d->name,
					    .get = memory_get,
					    .put = memory_put,
					    .free_bytes = memory_free_bytes,
					    .on_shortage = memory_on_shortage,
					    .read = memory_read,
					    .write = memory_write,
					    .copy = memory_copy,
					    .clear = memory_clear,
					    .fill = memory_fill,
					    .same = memory_same,
					    .wait = memory_wait,
					    .late = memory_late,
					    .check = memory_check };
	if (cuda_api_load(&d->api, true, err) && start(d, err))
		return d;
	cuda_device_close(d);
	return NULL;
}

void cuda_device_close(struct device *d)
{
	if (!d)
		return;
	for (int i = 0; i < d->n_closers; i++)
		d->closers[i](d);
	close_same(d);
	if (d->fault)
		d->api.cuMemFreeHost(d->fault);
	cuda_release(d, d->workspace, d->workspace_bytes);
	if (d->nothing)
		d->api.cuMemFree((CUdeviceptr)d->nothing);
	if (d->stream)
		d->api.cuStreamDestroy(d->stream);
	if (d->context)
		d->api.cuDevicePrimaryCtxRelease(d->handle);
	cuda_api_unload(&d->api);
	free(d);
}
