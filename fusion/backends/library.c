/* fusion/backends/library.c -- ops with a function of their own: cumsum.
 *
 * library_<id> of an op in ops.def with kind LIBRARY.  A running sum of float32
 * is kept in float64 and rounded at each element, as PyTorch does on the CPU.
 */
#include <string.h>

#include "fusion/backends/executable.h"

bool library_check(const struct lowered *l, const struct kernel *k, struct err *err)
{
	const struct node *n = k->library;

	(void)l;
	if (k->op != OP_cumsum)
		return err_set(err, ERR_UNSUPPORTED, "No library function for %s.",
			       op_info(k->op)->id);
	if (n->n_args < 2 || n->args[1].kind != ARG_INT)
		return err_set(err, ERR_INTERNAL, "cumsum without a dim.");
	return true;
}

void library_bind(struct library_call *call, const struct lowered *l, const struct kernel *k,
		  const int64_t *vars)
{
	const struct buffer *in = &l->buffers[k->arg_buffer[0]];
	const struct node *input = l->graph->nodes[in->node];
	int64_t row_major = 1;

	*call = (struct library_call){ .from = in->dtype,
				       .to = l->buffers[k->out_buffer].dtype,
				       .in = k->arg_buffer[0],
				       .out = k->out_buffer,
				       .rank = in->shape.rank,
				       .dim = (int)sym_eval(k->library->args[1].sym, vars),
				       .outer = 1,
				       .length = 1,
				       .inner = 1 };
	if (call->dim < 0)
		call->dim += call->rank;
	for (int d = call->rank - 1; d >= 0; d--) {
		bool strided = in->kind == BUFFER_INPUT && input->stride[d];

		call->size[d] = sym_eval(in->shape.size[d], vars);
		call->in_stride[d] = strided ? sym_eval(input->stride[d], vars) : row_major;
		row_major *= call->size[d];
		if (d < call->dim)
			call->outer *= call->size[d];
		else if (d == call->dim)
			call->length = call->size[d];
		else
			call->inner *= call->size[d];
	}
}

static double get_float(enum dtype dtype, const void *in, int64_t at)
{
	switch (dtype) {
	case DTYPE_F32:
		return ((const float *)in)[at];
	case DTYPE_F64:
		return ((const double *)in)[at];
	case DTYPE_I64:
		return (double)((const int64_t *)in)[at];
	default:
		return ((const uint8_t *)in)[at];
	}
}

static uint64_t get_int(enum dtype dtype, const void *in, int64_t at)
{
	switch (dtype) {
	case DTYPE_F32:
		return (uint64_t)(int64_t)((const float *)in)[at];
	case DTYPE_F64:
		return (uint64_t)(int64_t)((const double *)in)[at];
	case DTYPE_I64:
		return ((const uint64_t *)in)[at];
	default:
		return ((const uint8_t *)in)[at];
	}
}

enum { BLOCK = 256 }; /* running sums side by side: they share cache lines */

/* Elements `from` and `to`, 0 <= j < n apart by `step` and 1, of one position
 * along the dim: adds to the sums and writes them. */
static void add_line(const struct library_call *c, const void *in, int64_t from, int64_t step,
		     void *out, int64_t to, int64_t n, union number *sum)
{
	for (int64_t j = 0; j < n; j++) {
		int64_t at = from + j * step;

		if (c->to == DTYPE_I64) {
			sum[j].u += get_int(c->from, in, at);
			((uint64_t *)out)[to + j] = sum[j].u;
		} else if (c->to == DTYPE_F32) {
			sum[j].f += (double)(float)get_float(c->from, in, at);
			((float *)out)[to + j] = (float)sum[j].f;
		} else {
			sum[j].f += get_float(c->from, in, at);
			((double *)out)[to + j] = sum[j].f;
		}
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

struct lines {
	const struct library_call *call;
	void *const *buffers;
};

/* Where the element at an index of the dims before (or after) `dim` lies. */
static int64_t offset_of(const struct library_call *c, int first, int last, int64_t index)
{
	int64_t at = 0;

	for (int d = last - 1; d >= first; d--) {
		at += index % c->size[d] * c->in_stride[d];
		index /= c->size[d];
	}
	return at;
}

/* Blocks of sums: the dims after `dim`, BLOCK positions at a time. */
static void run_blocks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct lines *lines = context;
	const struct library_call *c = lines->call;
	const void *in = lines->buffers[c->in];
	void *out = lines->buffers[c->out];
	int last = c->rank ? c->rank - 1 : 0;
	int64_t along = c->rank ? c->in_stride[c->dim] : 0;
	/* Only the last dim's positions are a fixed step apart. */
	int64_t width = c->dim < last ? c->size[last] : 1,
		step = c->dim < last ? c->in_stride[last] : 0;
	int64_t blocks = (width + BLOCK - 1) / BLOCK, runs = c->inner / width;

	(void)thread;
	for (int64_t item = begin; item < end; item++) {
		int64_t first = item % blocks * BLOCK, run = item / blocks % runs;
		int64_t o = item / blocks / runs, n = width - first < BLOCK ? width - first : BLOCK;
		int64_t from = offset_of(c, 0, c->dim, o) + offset_of(c, c->dim + 1, last, run) +
			       first * step;
		int64_t to = o * c->length * c->inner + run * width + first;
		bool floats = c->from == DTYPE_F32 && c->to == DTYPE_F32;
		union number sum[BLOCK];

		if (floats && n == 1) {
			run_floats((const float *)in + from, along, (float *)out + to, c->inner,
				   c->length);
			continue;
		}
		memset(sum, 0, sizeof(sum));
		for (int64_t i = 0; i < c->length; i++, from += along, to += c->inner)
			if (floats && step == 1)
				add_floats((const float *)in + from, (float *)out + to, n, sum);
			else
				add_line(c, in, from, step, out, to, n, sum);
	}
}

void library_launch(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	struct lines lines = { call, buffers };
	int last = call->rank ? call->rank - 1 : 0;
	int64_t width = call->dim < last ? call->size[last] : 1;
	int64_t blocks = (width + BLOCK - 1) / BLOCK;
	int64_t points = call->length * (width < BLOCK ? width : BLOCK);

	if (call->outer * call->inner * call->length == 0)
		return;
	pool_run(pool, call->outer * (call->inner / width) * blocks, 32 * 1024 / (points + 1) + 1,
		 run_blocks, &lines);
}
