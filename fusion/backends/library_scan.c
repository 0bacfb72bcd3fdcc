/* fusion/backends/library_scan.c -- running sums and products: cumsum, cumprod, logcumsumexp.
 *
 * A running sum of float32 is kept in float64 and rounded at each element, as
 * PyTorch does on the CPU.
 */
#include <math.h>
#include <string.h>

#include "fusion/backends/library.h"

enum { BLOCK = 256 }; /* running sums side by side: they share cache lines */

/* A call cut into lines along the dim. */
struct scan {
	const struct library_call *call;
	const char *in;
	char *out;
	int dim;
	int64_t length, inner; /* of the result: elements along the dim, and after it */
	bool product, powers;  /* powers: sums of exp(x), kept as logarithms */
};

static double log_sum(double a, double b)
{
	double most = a > b || isnan(a) ? a : b;

	return isinf(most) ? most : most + log(exp(a - most) + exp(b - most));
}

static void join(const struct scan *s, union number *sum, double value)
{
	sum->f = s->powers ? log_sum(sum->f, value) : s->product ? sum->f * value : sum->f + value;
}

static void join_int(union number *sum, int64_t value, bool product)
{
	sum->u = product ? sum->u * (uint64_t)value : sum->u + (uint64_t)value;
}

/* Elements `from` and `to`, 0 <= j < n apart by `step` and 1, of one position
 * along the dim: adds to the sums and writes them. */
static void add_line(const struct scan *s, int64_t from, int64_t step, int64_t to, int64_t n,
		     union number *sum)
{
	enum dtype in = s->call->arg[0].dtype, out = s->call->out.dtype;

	for (int64_t j = 0; j < n; j++) {
		int64_t at = from + j * step;

		if (dtype_category(out) != CATEGORY_FLOAT) {
			join_int(&sum[j], dtype_get_int(in, s->in, at), s->product);
			dtype_put_int(out, s->out, to + j, sum[j].i);
			continue;
		}
		if (out == DTYPE_F64)
			join(s, &sum[j], dtype_get_double(in, s->in, at));
		else
			join(s, &sum[j], (double)(float)dtype_get_double(in, s->in, at));
		dtype_put_double(out, s->out, to + j, sum[j].f);
	}
}

/* The common case: float32 elements side by side. */
static void add_floats(const float *in, float *out, int64_t n, union number *sum)
{
	for (int64_t j = 0; j < n; j++) {
		sum[j].f += (double)in[j];
		out[j] = (float)sum[j].f;
	}
}

/* One running sum of float32: its own loop, where the sum stays in a register. */
static void run_floats(const float *in, int64_t in_step, float *out, int64_t out_step, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++) {
		sum += (double)in[i * in_step];
		out[i * out_step] = (float)sum;
	}
}

static void clear(const struct scan *s, union number *sum)
{
	bool floats = dtype_category(s->call->out.dtype) == CATEGORY_FLOAT;

	for (int j = 0; j < BLOCK; j++)
		if (floats)
			sum[j].f = s->powers ? -INFINITY : s->product;
		else
			sum[j].i = s->product;
}

/* Blocks of sums: the dims after `dim`, BLOCK positions at a time. */
static void run_blocks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct scan *s = context;
	const struct operand *x = &s->call->arg[0];
	int last = x->rank ? x->rank - 1 : 0;
	int64_t along = x->rank ? x->stride[s->dim] : 0;
	/* Only the last dim's positions are a fixed step apart. */
	int64_t width = s->dim < last ? x->size[last] : 1,
		step = s->dim < last ? x->stride[last] : 0;
	int64_t blocks = (width + BLOCK - 1) / BLOCK, runs = s->inner / width;

	(void)thread;
	for (int64_t item = begin; item < end; item++) {
		int64_t first = item % blocks * BLOCK, run = item / blocks % runs;
		int64_t o = item / blocks / runs, n = width - first < BLOCK ? width - first : BLOCK;
		int64_t from = library_offset(x, 0, s->dim, o) +
			       library_offset(x, s->dim + 1, last, run) + first * step;
		int64_t to = o * s->length * s->inner + run * width + first;
		bool floats = !s->product && !s->powers && x->dtype == DTYPE_F32 &&
			      s->call->out.dtype == DTYPE_F32;
		union number sum[BLOCK];

		if (floats && n == 1) {
			run_floats((const float *)s->in + from, along, (float *)s->out + to,
				   s->inner, s->length);
			continue;
		}
		clear(s, sum);
		for (int64_t i = 0; i < s->length; i++, from += along, to += s->inner)
			if (floats && step == 1)
				add_floats((const float *)s->in + from, (float *)s->out + to, n,
					   sum);
			else
				add_line(s, from, step, to, n, sum);
	}
}

static void run(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *x = &call->arg[0];
	struct scan s = { .call = call,
			  .in = operand_start(x, buffers),
			  .out = operand_start(&call->out, buffers),
			  .dim = library_dim(call, 1, x->rank ? x->rank : 1),
			  .length = 1,
			  .inner = 1,
			  .product = call->node->op == OP_cumprod,
			  .powers = call->node->op == OP_logcumsumexp };
	int last = x->rank ? x->rank - 1 : 0;
	int64_t outer = 1, width = s.dim < last ? x->size[last] : 1;
	int64_t blocks = (width + BLOCK - 1) / BLOCK, points;

	for (int d = 0; d < x->rank; d++)
		*(d < s.dim ? &outer : d == s.dim ? &s.length : &s.inner) *= x->size[d];
	points = s.length * (width < BLOCK ? width : BLOCK);
	if (x->numel > 0)
		pool_run(pool, outer * (s.inner / width) * blocks, 32 * 1024 / (points + 1) + 1,
			 run_blocks, &s);
}

const struct library_op library_cumsum = { .run = run };
const struct library_op library_cumprod = { .run = run };
const struct library_op library_logcumsumexp = { .run = run };
