/* profiler/workload/random.c -- Philox and what is made of its words.
 *
 * Arithmetic is in double and rounded once to the dtype; profiler/torch/script.c
 * holds the same steps in Python, so change both or neither.
 */
#include "profiler/workload/random.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "fusion/base/philox.h"
#include "profiler/workload/bulk.h"

static const char *const kind_names[] = { "randn", "rand", "randint", "zeros", "ones", "arange" };

bool random_kind_from_name(const char *name, enum random_kind *out)
{
	for (size_t i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++)
		if (strcmp(name, kind_names[i]) == 0) {
			*out = (enum random_kind)i;
			return true;
		}
	return false;
}

uint64_t random_next(uint64_t seed, uint64_t *position)
{
	uint32_t words[PHILOX_WORDS];
	uint64_t at = (*position)++;

	random_philox(seed, at / 2, words);
	return (uint64_t)words[2 * (at % 2)] << 32 | words[2 * (at % 2) + 1];
}

/* The four elements of one block, as doubles. */
static void random_block(const struct random *r, bool narrow, int64_t block, double out[4])
{
	uint32_t w[PHILOX_WORDS];

	random_philox(r->seed, (uint64_t)block, w);
	for (int i = 0; i < PHILOX_WORDS; i += 2) {
		if (r->kind == RANDOM_RANDN) {
			double radius = sqrt(-2.0 * log((w[i] + 0.5) * 0x1p-32));
			double angle = 2.0 * M_PI * ((w[i + 1] + 0.5) * 0x1p-32);

			out[i] = radius * cos(angle);
			out[i + 1] = radius * sin(angle);
			continue;
		}
		for (int k = i; k < i + 2; k++) {
			double unit = narrow ? (w[k] >> 8) * 0x1p-24 : w[k] * 0x1p-32;

			out[k] = r->low + unit * (r->high - r->low);
			if (r->kind == RANDOM_RANDINT)
				out[k] = r->low + floor(w[k] * 0x1p-32 * (r->high - r->low));
		}
	}
}

static double random_element(const struct random *r, bool narrow, int64_t i, double block[4])
{
	switch (r->kind) {
	case RANDOM_ZEROS:
		return 0;
	case RANDOM_ONES:
		return 1;
	case RANDOM_ARANGE:
		return r->low + (double)i;
	case RANDOM_RANDN:
	case RANDOM_RAND:
	case RANDOM_RANDINT:
		break;
	}
	if (i % PHILOX_WORDS == 0)
		random_block(r, narrow, i / PHILOX_WORDS, block);
	return block[i % PHILOX_WORDS];
}

struct filling {
	const struct random *r;
	enum dtype dtype;
	void *data;
	int64_t n;
};

/* Blocks of BULK_BLOCK elements, each a multiple of PHILOX_WORDS. */
static void fill_blocks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct filling *f = context;
	int64_t last = end * BULK_BLOCK < f->n ? end * BULK_BLOCK : f->n;
	bool narrow = f->dtype == DTYPE_F32;
	double block[PHILOX_WORDS] = { 0 };

	(void)thread;
	for (int64_t i = begin * BULK_BLOCK; i < last; i++)
		dtype_put_double(f->dtype, f->data, i, random_element(f->r, narrow, i, block));
}

void random_fill(const struct random *r, enum dtype dtype, void *data, int64_t n, int threads)
{
	struct filling f = { r, dtype, data, n };

	bulk_run(threads, n, (n + BULK_BLOCK - 1) / BULK_BLOCK, fill_blocks, &f);
}
