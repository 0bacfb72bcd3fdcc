/* fusion/backends/library/conv_back.c -- gradients of convolutions, one sum after the other.
 *
 * Programs on the CPU have convolutions of their own instead (grads_matrix.py): these are for a
 * graph of a GPU's that runs on the host.
 */
#define FUNCTION_conv_back(id) &library_##id
#include "fusion/backends/library/library.h"

enum { ARG_GROUPS = 6 };

/* y has the windows of x with the filters w: the operands by what they are, and a thread's work. */
struct conv_back {
	const struct library_call *call;
	const struct operand *x, *w, *y;
	const void *at[2];
	void *out;
	int64_t stride[2], padding[2], dilation[2], groups;
};

static struct conv_back open_back(const struct library_call *call, void *const *buffers)
{
	struct conv_back b = { .call = call,
			       .y = &call->arg[0],
			       .at = { operand_start(&call->arg[0], buffers),
				       operand_start(&call->arg[1], buffers) },
			       .out = operand_start(&call->out, buffers),
			       .groups = call->number[ARG_GROUPS] };
	bool for_x = call->node->op == OP_conv_x;

	b.x = for_x ? &call->out : &call->arg[1];
	b.w = for_x ? &call->arg[1] : &call->out;
	for (int i = 0; i < 2; i++) {
		b.stride[i] = library_entry(call, "stride", i, 1);
		b.padding[i] = library_entry(call, "padding", i, 0);
		b.dilation[i] = library_entry(call, "dilation", i, 1);
	}
	return b;
}

static double element(const struct operand *x, const void *at, const int64_t place[4])
{
	int64_t offset = 0;

	for (int d = 0; d < 4; d++)
		offset += place[d] * x->stride[d];
	return dtype_get_double(x->dtype, at, offset);
}

/* Which window has the element at `place` of x by its element `tap`; -1: none has. */
static int64_t window_of(const struct conv_back *b, int i, int64_t place, int64_t tap)
{
	int64_t from = place + b->padding[i] - tap * b->dilation[i];

	return from >= 0 && from % b->stride[i] == 0 && from / b->stride[i] < b->y->size[2 + i]
		   ? from / b->stride[i]
		   : -1;
}

static double sum_for_x(const struct conv_back *b, const int64_t at[4])
{
	int64_t outputs = b->y->size[1] / b->groups, inputs = b->w->size[1];
	double sum = 0;

	for (int64_t i = 0; i < b->w->size[2]; i++)
		for (int64_t j = 0; j < b->w->size[3]; j++) {
			int64_t row = window_of(b, 0, at[2], i), column = window_of(b, 1, at[3], j);

			for (int64_t o = 0; row >= 0 && column >= 0 && o < outputs; o++) {
				int64_t of = at[1] / inputs * outputs + o;

				sum += element(b->y, b->at[0],
					       (int64_t[]){ at[0], of, row, column }) *
				       element(b->w, b->at[1],
					       (int64_t[]){ of, at[1] % inputs, i, j });
			}
		}
	return sum;
}

static double sum_for_weight(const struct conv_back *b, const int64_t at[4])
{
	int64_t outputs = b->y->size[1] / b->groups;
	int64_t channel = at[0] / outputs * b->w->size[1] + at[1];
	double sum = 0;

	for (int64_t n = 0; n < b->y->size[0]; n++)
		for (int64_t r = 0; r < b->y->size[2]; r++)
			for (int64_t s = 0; s < b->y->size[3]; s++) {
				int64_t y = r * b->stride[0] - b->padding[0] +
					    at[2] * b->dilation[0];
				int64_t z = s * b->stride[1] - b->padding[1] +
					    at[3] * b->dilation[1];

				if (y < 0 || y >= b->x->size[2] || z < 0 || z >= b->x->size[3])
					continue;
				sum += element(b->x, b->at[1], (int64_t[]){ n, channel, y, z }) *
				       element(b->y, b->at[0], (int64_t[]){ n, at[0], r, s });
			}
	return sum;
}

static void back_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct conv_back *b = context;
	const struct operand *out = &b->call->out;
	bool for_x = out == b->x;

	(void)thread;
	for (int64_t p = begin; p < end; p++) {
		int64_t at[4], rest = p;

		for (int d = 3; d >= 0; d--) {
			at[d] = rest % out->size[d];
			rest /= out->size[d];
		}
		dtype_put_double(out->dtype, b->out, p,
				 for_x ? sum_for_x(b, at) : sum_for_weight(b, at));
	}
}

static void run_back(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	struct conv_back b = open_back(call, buffers);

	pool_run(pool, call->out.numel, 1, back_range, &b);
}

static const struct library_op library_conv_x = { NULL, run_back };
static const struct library_op library_conv_weight = { NULL, run_back };

const struct library_op *const conv_back_functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...)                             \
	[OP_##id] = FUNCTION_##file(id),
#include "fusion/graph/ops_some.h"
};
