/* profiler/workload/bulk.c -- loops over the elements of large tensors, by all threads. */
#include "profiler/workload/bulk.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "fusion/base/narrow.h"

/* To start threads takes as long as this many blocks. */
enum { FEW_BLOCKS = 4 };

/* Threads that this process may have: one for each core. */
static int threads_here(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

void bulk_run(int threads, int64_t elements, int64_t count, pool_fn *fn, void *context)
{
	struct pool *pool = NULL;

	if (elements > FEW_BLOCKS * (int64_t)BULK_BLOCK)
		pool = pool_create(threads > 0 ? threads : threads_here());
	pool_run(pool, count, 1, fn, context);
	pool_destroy(pool);
}

static int64_t blocks_of(int64_t n)
{
	return (n + BULK_BLOCK - 1) / BULK_BLOCK;
}

static int64_t block_end(int64_t block, int64_t n)
{
	return (block + 1) * BULK_BLOCK < n ? (block + 1) * BULK_BLOCK : n;
}

/* ---- bytes */

struct bulk_bytes {
	const char *a, *b;
	int64_t n;
	atomic_bool differ;
};

static void compare_bytes(void *context, int64_t begin, int64_t end, int thread)
{
	struct bulk_bytes *x = context;
	int64_t from = begin * BULK_BLOCK, to = block_end(end - 1, x->n);

	(void)thread;
	if (!atomic_load(&x->differ) && memcmp(x->a + from, x->b + from, (size_t)(to - from)) != 0)
		atomic_store(&x->differ, true);
}

bool bulk_same(const void *a, const void *b, int64_t bytes, int threads)
{
	struct bulk_bytes x = { .a = a, .b = b, .n = bytes };

	if (bytes > 0)
		bulk_run(threads, bytes / 4, blocks_of(bytes), compare_bytes, &x);
	return !atomic_load(&x.differ);
}

/* ---- summaries */

struct summing {
	const struct tensor *t;
	const char *at; /* NULL: it does not lie row by row */
	int64_t n;
	struct bulk_summary *blocks;
};

static double element(const struct summing *s, int64_t i)
{
	switch (s->at ? s->t->dtype : DTYPE_BOOL) {
	case DTYPE_F32:
		return (double)((const float *)s->at)[i];
	case DTYPE_F64:
		return ((const double *)s->at)[i];
	case DTYPE_BF16:
		return (double)bfloat_to_float(((const uint16_t *)s->at)[i]);
	default:
		return s->at ? dtype_get_double(s->t->dtype, s->at, i) : tensor_get_double(s->t, i);
	}
}

static void sum_blocks(void *context, int64_t begin, int64_t end, int thread)
{
	struct summing *s = context;

	(void)thread;
	for (int64_t block = begin; block < end; block++) {
		struct bulk_summary sum = { 0 };

		for (int64_t i = block * BULK_BLOCK; i < block_end(block, s->n); i++) {
			double x = element(s, i);

			sum.sum += x;
			sum.hash = hash_bytes(&x, sizeof(x), sum.hash);
		}
		s->blocks[block] = sum;
	}
}

bool bulk_summarise(const struct tensor *t, int threads, struct bulk_summary *out)
{
	int64_t n = tensor_numel(t), blocks = blocks_of(n);
	struct summing s = { .t = t, .n = n };

	*out = (struct bulk_summary){ 0 };
	if (n == 0)
		return true;
	s.blocks = malloc((size_t)blocks * sizeof(*s.blocks));
	if (!s.blocks)
		return false;
	s.at = fusion_tensor_read(t); /* before threads do */
	if (!tensor_contiguous(t))
		s.at = NULL;
	bulk_run(threads, n, blocks, sum_blocks, &s);
	*out = s.blocks[0];
	for (int64_t k = 1; k < blocks; k++) {
		out->sum += s.blocks[k].sum;
		out->hash = hash_bytes(&s.blocks[k].hash, sizeof(s.blocks[k].hash), out->hash);
	}
	free(s.blocks);
	return true;
}
