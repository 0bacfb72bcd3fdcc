/* fusion/backends/library_number.c -- functions of Python's floats, to the bit. */
#include "fusion/backends/library.h"
#include "fusion/graph/symreal.h"

static void run(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *x = &call->arg[0], *y = &call->arg[1];
	const double *a = operand_start(x, buffers), *b = operand_start(y, buffers);
	double *out = operand_start(&call->out, buffers);

	(void)pool;
	for (int64_t i = 0; i < x->numel; i++)
		out[i] = real_apply((enum symreal_kind)call->number[2], (int)call->number[3],
				    a[library_offset(x, 0, x->rank, i)],
				    b[library_offset(y, 0, y->rank, i)]);
}

const struct library_op library_number = { .run = run };
