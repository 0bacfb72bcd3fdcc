/* fusion/backends/library_custom.c -- kernels that plugins bring. */
#include "fusion/backends/library.h"
#include "fusion/graph/custom.h"

static void describe(const struct library_call *call, int i, void *const *buffers,
		     struct custom_operand *out)
{
	const struct operand *x = &call->arg[i];
	const struct arg *arg = &call->node->args[i];

	*out = (struct custom_operand){ .is_tensor = x->buffer >= 0 };
	if (!out->is_tensor) {
		out->i = call->number[i];
		out->f = arg->kind == ARG_FLOAT ? arg->f : (double)out->i;
		return;
	}
	out->dtype = x->dtype;
	out->rank = x->rank;
	out->data = operand_start(x, buffers);
	for (int d = 0; d < x->rank; d++) {
		out->size[d] = x->size[d];
		out->stride[d] = x->stride[d];
	}
}

static void run(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct custom_op *op = custom_of(call->graph, call->node);
	struct custom_operand operands[MAX_CUSTOM_ARGS], out = { .is_tensor = true };

	(void)pool;
	for (int i = 0; i < op->info.n_params; i++)
		describe(call, i + 1, buffers, &operands[i]);
	out.dtype = call->out.dtype;
	out.rank = call->out.rank;
	out.data = operand_start(&call->out, buffers);
	for (int d = 0; d < out.rank; d++) {
		out.size[d] = call->out.size[d];
		out.stride[d] = call->out.stride[d];
	}
	op->compute(op, operands, op->info.n_params, &out);
}

const struct library_op library_custom_kernel = { .run = run };
