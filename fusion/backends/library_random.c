/* fusion/backends/library_random.c -- random numbers: a counter through a hash.
 *
 * Element i of the n-th call under a seed depends on (seed, n, i) alone, so
 * threads, modes and backends give the same numbers.  They are not PyTorch's.
 */
#include <math.h>

#include "fusion/backends/library.h"

/* splitmix64's last steps: every bit of the input reaches every bit out. */
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

struct draw {
	const struct library_call *call;
	void *out;
	uint64_t key;
	enum op op;
};

static uint64_t bits(const struct draw *d, int64_t i)
{
	return mix(mix(d->key + (uint64_t)i * 0x9e3779b97f4a7c15u) + d->key);
}

/* In [0, 1), exact in float32: 24 bits. */
static double uniform(uint64_t x)
{
	return (double)(x >> 40) * 0x1p-24;
}

static void draw_numbers(void *context, int64_t begin, int64_t end, int thread)
{
	const struct draw *d = context;
	enum dtype dtype = d->call->out.dtype;
	int64_t low = d->call->number[0];
	uint64_t span = (uint64_t)d->call->number[1] - (uint64_t)low;

	(void)thread;
	for (int64_t i = begin; i < end; i++) {
		uint64_t x = bits(d, i);

		if (d->op == OP_uniform)
			dtype_put_double(dtype, d->out, i, uniform(x));
		else if (d->op == OP_normal) /* Box and Muller */
			dtype_put_double(dtype, d->out, i,
					 sqrt(-2 * log(1 - uniform(x))) *
					     cos(2 * M_PI * uniform(x << 24)));
		else
			dtype_put_int(dtype, d->out, i,
				      (int64_t)((uint64_t)low + (span ? x % span : 0)));
	}
}

static void run(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	struct draw d = { .call = call,
			  .out = operand_start(&call->out, buffers),
			  .op = call->node->op };
	uint64_t *random = call->random;

	if (random) {
		d.key = mix(random[0] ^ mix(random[1]));
		random[1] += 0x9e3779b97f4a7c15u;
	}
	pool_run(pool, call->out.numel, 4096, draw_numbers, &d);
}

const struct library_op library_uniform = { NULL, run };
const struct library_op library_normal = { NULL, run };
const struct library_op library_random_ints = { NULL, run };
