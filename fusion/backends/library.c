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

/* One running sum: `length` elements, in_step and out_step elements apart. */
static void run_line(const struct library_call *c, const void *in, int64_t from, int64_t in_step,
		     void *out, int64_t to, int64_t out_step)
{
	double sum = 0;
	uint64_t whole = 0; /* wraps */

	for (int64_t i = 0; i < c->length; i++, from += in_step, to += out_step) {
		if (c->to == DTYPE_I64) {
			whole += get_int(c->from, in, from);
			((uint64_t *)out)[to] = whole;
			continue;
		}
		if (c->to == DTYPE_F32) {
			sum += c->from == DTYPE_F64 ? (float)get_float(c->from, in, from)
						    : get_float(c->from, in, from);
			((float *)out)[to] = (float)sum;
		} else {
			sum += get_float(c->from, in, from);
			((double *)out)[to] = sum;
		}
	}
}

struct lines {
	const struct library_call *call;
	void *const *buffers;
};

static void run_lines(void *context, int64_t begin, int64_t end, int thread)
{
	const struct lines *lines = context;
	const struct library_call *c = lines->call;
	int64_t in_step = c->rank ? c->in_stride[c->dim] : 1;

	(void)thread;
	for (int64_t line = begin; line < end; line++) {
		int64_t rest = line, from = 0;

		for (int d = c->rank - 1; d >= 0; d--) {
			if (d == c->dim)
				continue;
			from += rest % c->size[d] * c->in_stride[d];
			rest /= c->size[d];
		}
		run_line(c, lines->buffers[c->in], from, in_step, lines->buffers[c->out],
			 line / c->inner * c->length * c->inner + line % c->inner, c->inner);
	}
}

void library_launch(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	struct lines lines = { call, buffers };
	int64_t grain = 32 * 1024 / (call->length + 1) + 1;

	pool_run(pool, call->outer * call->inner, grain, run_lines, &lines);
}
