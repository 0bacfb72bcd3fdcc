/* fusion/backends/library/create.c -- elements by their place: arange, eye, tril. */
#define FUNCTION_create(id) &library_##id
#include <string.h>

#include "fusion/backends/library/library.h"

enum { GRAIN = 16 * 1024 };

struct create_job {
	const struct library_call *call;
	void *const *buffers;
};

static double number(const struct library_call *call, int i)
{
	const struct arg *arg = &call->node->args[i];

	return arg->kind == ARG_FLOAT ? arg->f : (double)call->number[i];
}

static void run_items(const struct library_call *call, void *const *buffers, struct pool *pool,
		      pool_fn *fn, int64_t n, int64_t each)
{
	struct create_job job = { call, buffers };

	if (n > 0)
		pool_run(pool, n, GRAIN / (each + 1) + 1, fn, &job);
}

static void arange_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct create_job *job = context;
	const struct library_call *c = job->call;
	void *out = operand_start(&c->out, job->buffers);
	bool exact = c->node->args[0].kind != ARG_FLOAT && c->node->args[1].kind != ARG_FLOAT;

	(void)thread;
	for (int64_t i = begin; i < end; i++) {
		if (exact)
			dtype_put_int(c->out.dtype, out, i,
				      (int64_t)((uint64_t)c->number[0] +
						(uint64_t)c->number[1] * (uint64_t)i));
		else
			dtype_put_double(c->out.dtype, out, i,
					 number(c, 0) + number(c, 1) * (double)i);
	}
}

static void run_arange(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	run_items(call, buffers, pool, arange_range, call->out.numel, 1);
}

static const struct library_op library_arange = { NULL, run_arange };

/* From both ends, as PyTorch counts: the last element is the end itself. */
static void run_linspace(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	int64_t n = call->out.numel;
	double start = number(call, 0), end = number(call, 1);
	double step = n > 1 ? (end - start) / (double)(n - 1) : 0;
	void *out = operand_start(&call->out, buffers);

	(void)pool;
	for (int64_t i = 0; i < n; i++)
		dtype_put_double(call->out.dtype, out, i,
				 i < (n + 1) / 2 ? start + step * (double)i
						 : end - step * (double)(n - 1 - i));
}

static const struct library_op library_linspace = { NULL, run_linspace };

static void run_eye(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	void *out = operand_start(&call->out, buffers);
	int64_t columns = call->out.size[1];

	(void)pool;
	memset(out, 0, (size_t)call->out.numel * dtype_bytes(call->out.dtype));
	for (int64_t i = 0; i < call->out.size[0] && i < columns; i++)
		dtype_put_int(call->out.dtype, out, i * columns + i, 1);
}

static const struct library_op library_eye = { NULL, run_eye };

static void copy_elements(char *to, const char *from, int64_t step, int64_t n, size_t bytes)
{
	if (step == 1 || n <= 0) {
		memcpy(to, from, (size_t)(n > 0 ? n : 0) * bytes);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		memcpy(to + i * (int64_t)bytes, from + i * step * (int64_t)bytes, bytes);
}

static int64_t clamp(int64_t x, int64_t most)
{
	return x < 0 ? 0 : x > most ? most : x;
}

/* Rows of all matrices: the part of each on one side of the diagonal stays. */
static void triangle_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct create_job *job = context;
	const struct library_call *c = job->call;
	const struct operand *x = &c->arg[0];
	int rank = x->rank;
	int64_t rows = x->size[rank - 2], columns = x->size[rank - 1], step = x->stride[rank - 1];
	size_t bytes = dtype_bytes(x->dtype);
	bool lower = c->node->op == OP_tril;

	(void)thread;
	for (int64_t r = begin; r < end; r++) {
		const char *in = (const char *)operand_start(x, job->buffers) +
				 library_offset(x, 0, rank - 1, r) * (int64_t)bytes;
		char *out = (char *)operand_start(&c->out, job->buffers) +
			    r * columns * (int64_t)bytes;
		int64_t at = clamp(r % rows + c->number[1] + (lower ? 1 : 0), columns);
		int64_t from = lower ? 0 : at, to = lower ? at : columns;

		memset(out, 0, (size_t)columns * bytes);
		copy_elements(out + from * (int64_t)bytes, in + from * step * (int64_t)bytes, step,
			      to - from, bytes);
	}
}

static void run_triangle(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	int64_t columns = call->out.size[call->out.rank - 1];

	if (call->out.numel > 0)
		run_items(call, buffers, pool, triangle_range, call->out.numel / columns, columns);
}

static const struct library_op library_tril = { NULL, run_triangle };
static const struct library_op library_triu = { NULL, run_triangle };

/* Bytes one after the other, whatever they are called. */
static void run_bits(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *x = &call->arg[0];
	size_t bytes = dtype_bytes(x->dtype);
	const char *from = operand_start(x, buffers);
	char *out = operand_start(&call->out, buffers);

	(void)pool;
	for (int64_t i = 0; i < x->numel; i++)
		memcpy(out + (size_t)i * bytes,
		       from + library_offset(x, 0, x->rank, i) * (int64_t)bytes, bytes);
}

static const struct library_op library_bits = { .run = run_bits };

const struct library_op *const create_functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...)                             \
	[OP_##id] = FUNCTION_##file(id),
#include "fusion/graph/ops_some.h"
};
