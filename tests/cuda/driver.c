/* tests/cuda/driver.c -- a libcuda.so.1 for machines without a GPU.
 *
 * Memory is the host's and copies are copies; kernels are loaded and launched, and
 * do nothing.  So all that backend cuda does on the host runs, under a sanitizer
 * too, and NVRTC compiles what it generates; the values of such a run mean nothing.
 * STAND_IN_ARCHITECTURE is the GPU's, 90 unless it is set.  It is number 0.
 *
 * What is launched is written down, graphs node by node: stand_in_log().  Faults come
 * by order: stand_in_fault(), or CUDA_STAND_IN_FAULT when the driver starts ("@FILE": what
 * is in it), which says
 *     kernel N CODE   the Nth kernel fails while it runs: every call after it says so
 *     launch N CODE   the Nth launch is refused, and nothing else
 *     memory BYTES    the device has no more than that
 */
#include "tests/cuda/driver_state.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

struct stand_in state;

/* ---- orders */

const char *stand_in_log(void)
{
	return state.log;
}

int stand_in_graphs(void)
{
	return state.graphs;
}

int stand_in_graph_at(size_t place)
{
	for (int i = 0; i < state.graphs && i < MAX_GRAPHS; i++)
		if (state.graph_from[i] <= place && place < state.graph_to[i])
			return i + 1;
	return 0;
}

void stand_in_clear(void)
{
	state.graphs = 0;
	state.log[0] = '\0';
	state.log_len = 0;
	state.launches = state.kernels = state.waits = state.strays = 0;
}

int stand_in_waits(void)
{
	return state.waits;
}

int stand_in_strays(void)
{
	return state.strays;
}

void stand_in_stream(CUstream stream)
{
	state.strays += !stream || stream != state.stream;
}

void stand_in_fault(const char *order)
{
	int code = 0;

	state.fault[0] = '\0';
	state.sticky = CUDA_SUCCESS;
	state.launches = state.kernels = 0;
	if (order)
		sscanf(order, "%15s %ld %d", state.fault, &state.left, &code);
	state.code = (CUresult)code;
}

static void read_orders(void)
{
	const char *order = getenv("CUDA_STAND_IN_FAULT");
	char text[64] = "";
	FILE *file;

	if (order && *order == '@') {
		file = fopen(order + 1, "r");
		if (file && !fgets(text, sizeof(text), file))
			text[0] = '\0';
		if (file)
			fclose(file);
		order = text;
	}
	if (order)
		stand_in_fault(order);
}

bool ordered(const char *kind)
{
	return strcmp(state.fault, kind) == 0;
}

/* ---- what the driver says of itself */

/* What the real one (580) does of the system and does not go on without: it names a thread, and
 * listens on a socket whose name is abstract. */
static bool uses_the_system(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), length;
	char path[64];
	FILE *comm;
	bool ok;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)syscall(SYS_gettid));
	comm = fopen(path, "w");
	ok = comm && fputs("cuda-stand-in", comm) >= 0;
	if (comm)
		ok = fclose(comm) == 0 && ok;
	length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "cuda-stand-in-%d",
			  (int)getpid());
	ok = ok && fd >= 0 &&
	     bind(fd, (struct sockaddr *)&address,
		  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0 &&
	     listen(fd, 16) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

CUresult cuInit(unsigned flags)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");

	read_orders();
	if (!uses_the_system())
		return CUDA_ERROR_OPERATING_SYSTEM;
	return visible && strcmp(visible, "0") != 0 ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = 13000;
	return CUDA_SUCCESS;
}

static const struct {
	CUresult code;
	const char *name, *text;
} errors[] = {
	{ CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
	{ CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
	{ CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
	{ CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
	  "an illegal memory access was encountered" },
	{ CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure" },
};

static CUresult error_text(CUresult error, const char **text, bool name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == error) {
			*text = name ? errors[i].name : errors[i].text;
			return CUDA_SUCCESS;
		}
	*text = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **text)
{
	return error_text(error, text, true);
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
	return error_text(error, text, false);
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
	snprintf(name, (size_t)bytes, "stand-in GPU");
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	*bytes = (size_t)16 << 30;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
	const char *set = getenv("STAND_IN_ARCHITECTURE");
	int architecture = set ? atoi(set) : 90;

	*value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR         ? architecture / 10
		 : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR       ? architecture % 10
		 : which == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT           ? 132
		 : which == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR ? 2048
									       : 163 * 1024;
	return CUDA_SUCCESS;
}

/* ---- what there is one of, and what nobody looks into */

static int something;

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	*context = (CUcontext)&something;
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
	*stream = state.stream = (CUstream)&something;
	return CUDA_SUCCESS;
}

#define SUCCEEDS(name, ...)                                                                        \
	CUresult name(__VA_ARGS__)                                                                 \
	{                                                                                          \
		return state.sticky;                                                               \
	}
SUCCEEDS(cuDevicePrimaryCtxRelease, CUdevice device)
SUCCEEDS(cuCtxSetCurrent, CUcontext context)
SUCCEEDS(cuStreamDestroy, CUstream stream)
SUCCEEDS(cuFuncSetAttribute, CUfunction function, CUfunction_attribute which, int value)

CUresult cuStreamSynchronize(CUstream stream)
{
	stand_in_stream(stream);
	state.waits++;
	return state.sticky;
}

/* Every kernel takes 40 registers. */
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function)
{
	(void)function;
	*value = which == CU_FUNC_ATTRIBUTE_NUM_REGS ? 40 : 0;
	return CUDA_SUCCESS;
}

SUCCEEDS(cuGraphUpload, CUgraphExec graph, CUstream stream)

/* ---- memory: of each block its size is in front; zeros, so that runs can be repeated */

enum { HEAD = 256 };

CUresult cuMemAlloc(CUdeviceptr *memory, size_t bytes)
{
	char *block;

	if (state.sticky)
		return state.sticky;
	if (ordered("memory") && state.at + (long)bytes > state.left)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block = aligned_alloc(HEAD, HEAD + (bytes + HEAD - 1) / HEAD * HEAD);
	if (!block)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memset(block, 0, HEAD + bytes);
	memcpy(block, &bytes, sizeof(bytes));
	state.at += (long)bytes;
	*memory = (CUdeviceptr)(uintptr_t)(block + HEAD);
	return CUDA_SUCCESS;
}

CUresult cuMemFree(CUdeviceptr memory)
{
	char *block = (char *)(uintptr_t)memory - HEAD;
	size_t bytes;

	memcpy(&bytes, block, sizeof(bytes));
	state.at -= (long)bytes;
	free(block);
	return state.sticky;
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total)
{
	*total = ordered("memory") ? (size_t)state.left : (size_t)16 << 30;
	*free_bytes = *total - (size_t)state.at;
	return state.sticky;
}

static CUresult copy(void *to, const void *from, size_t bytes)
{
	if (state.sticky == CUDA_SUCCESS)
		memmove(to, from, bytes);
	return state.sticky;
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
	stand_in_stream(stream);
	return copy((void *)(uintptr_t)to, from, bytes);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	stand_in_stream(stream);
	return copy(to, (void *)(uintptr_t)from, bytes);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	stand_in_stream(stream);
	return copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
	stand_in_stream(stream);
	if (state.sticky == CUDA_SUCCESS)
		memset((void *)(uintptr_t)to, value, bytes);
	return state.sticky;
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t words, CUstream stream)
{
	stand_in_stream(stream);
	for (size_t i = 0; i < words && state.sticky == CUDA_SUCCESS; i++)
		memcpy((void *)(uintptr_t)(to + 4 * i), &value, sizeof(value));
	return state.sticky;
}

/* ---- modules */

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	struct module *m;

	if (state.sticky)
		return state.sticky;
	if (memcmp(image, STAND_IN_ELF, 4) != 0)
		return CUDA_ERROR_INVALID_IMAGE;
	m = calloc(1, sizeof(*m));
	if (memcmp(image, STAND_IN_CUBIN, sizeof(STAND_IN_CUBIN) - 1) == 0)
		m->source = strdup((const char *)image + sizeof(STAND_IN_CUBIN) - 1);
	*module = (CUmodule)m;
	return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
	struct module *m = (struct module *)module;

	for (struct function *f = m->functions, *next; f; f = next) {
		next = f->next;
		free(f);
	}
	free((void *)m->source);
	free(m);
	return state.sticky;
}

/* " k0(f32 *b0, i64 z0)": commas and one. */
static int count_params(const char *source, const char *name)
{
	char head[40];
	const char *at;
	int n = 1;

	snprintf(head, sizeof(head), " %s(", name);
	at = source ? strstr(source, head) : NULL;
	if (!at || at[strlen(head)] == ')')
		return 0;
	for (; *at && *at != ')'; at++)
		n += *at == ',';
	return n;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	struct module *m = (struct module *)module;
	struct function *f = calloc(1, sizeof(*f));

	snprintf(f->name, sizeof(f->name), "%s", name);
	f->n_params = count_params(m->source, name);
	f->next = m->functions;
	m->functions = f;
	*function = (CUfunction)f;
	return state.sticky;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
						     size_t shared)
{
	*blocks = 2048 / threads;
	return state.sticky;
}

/* ---- launches */

static void note(const struct launch *l)
{
	char *to = state.log + state.log_len;
	size_t left = LOG_BYTES - state.log_len, n;

	n = (size_t)snprintf(to, left, "%s %ux%u %ux%u", l->function->name, l->grid[0], l->grid[1],
			     l->block[0], l->block[1]);
	for (int i = 0; i < l->function->n_params && n < left; i++)
		n += (size_t)snprintf(to + n, left - n, " %llx", (unsigned long long)l->param[i]);
	if (n + 2 < left) {
		state.log_len += n + 1;
		memcpy(to + n, "\n", 2);
	}
}

/* Runs it, or writes it down where the stream is captured. */
CUresult run(const struct launch *l)
{
	if (state.capture) {
		if (state.capture->n == MAX_NODES)
			return CUDA_ERROR_OUT_OF_MEMORY;
		state.capture->node[state.capture->n] = *l;
		state.capture->node[state.capture->n].index = state.capture->n;
		state.capture->n++;
		return CUDA_SUCCESS;
	}
	if (state.sticky)
		return state.sticky;
	for (int i = 0; l->within && i < l->within->n; i++)
		run(&l->within->node[i]);
	if (l->within)
		return CUDA_SUCCESS;
	note(l);
	if (ordered("kernel") && ++state.kernels == state.left)
		state.sticky = state.code;
	return CUDA_SUCCESS;
}

static bool fits(const unsigned grid[3], const unsigned block[3], unsigned shared)
{
	return grid[0] && grid[1] && grid[1] <= 65535 && grid[2] && block[0] && block[1] &&
	       block[2] && block[0] * block[1] * block[2] <= 1024 && shared <= 163 * 1024;
}

CUresult describe(struct launch *l, const CUDA_KERNEL_NODE_PARAMS *p)
{
	const unsigned grid[] = { p->gridDimX, p->gridDimY, p->gridDimZ };
	const unsigned block[] = { p->blockDimX, p->blockDimY, p->blockDimZ };

	*l = (struct launch){ .function = (const struct function *)p->func,
			      .grid = { grid[0], grid[1] },
			      .block = { block[0], block[1] } };
	for (int i = 0; i < l->function->n_params && i < MAX_PARAMS; i++)
		memcpy(&l->param[i], p->kernelParams[i], sizeof(l->param[i]));
	return fits(grid, block, p->sharedMemBytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
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
	struct launch l;

	stand_in_stream(stream);
	if (ordered("launch") && ++state.launches == state.left)
		return state.code;
	return describe(&l, &p) == CUDA_SUCCESS ? run(&l) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- for blas.c beside it: a product is a launch */

CUresult stand_in_product(const void *a, const void *b, void *c)
{
	static const struct function product = { .name = "product", .n_params = 3 };
	const struct launch l = { .function = &product,
				  .grid = { 1, 1 },
				  .block = { 1, 1 },
				  .param = { (uintptr_t)a, (uintptr_t)b, (uintptr_t)c } };

	return run(&l);
}
