/* fusion/backends/cuda/same.c -- whether two places of the device hold the same bytes.
 *
 * Each block says that it has looked, and whether what it saw differs: a device that did not
 * run the kernel says neither, and its memory is compared on the host.
 */
#include "fusion/backends/cuda/same.h"

#include <stdio.h>
#include <stdlib.h>

#include "fusion/backends/cuda/compile.h"

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

void cuda_same_close(struct device *d)
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

bool cuda_same(void *self, const void *a, const void *b, size_t bytes)
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
