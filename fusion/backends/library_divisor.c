/* fusion/backends/library_divisor.c -- what ints are divided by: a copy, and a fault where it is 0.
 */
#include <string.h>

#include "fusion/backends/library.h"

static void run(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *x = &call->arg[0];
	size_t bytes = dtype_bytes(x->dtype);
	const char *from = operand_start(x, buffers);
	char *out = operand_start(&call->out, buffers);

	(void)pool;
	for (int64_t i = 0; i < x->numel; i++) {
		const char *at = from + library_offset(x, 0, x->rank, i) * (int64_t)bytes;

		if (dtype_get_int(x->dtype, at, 0) == 0)
			library_fault(call, 0, 0);
		memcpy(out + i * (int64_t)bytes, at, bytes);
	}
}

const struct library_op library_divisor = { .run = run };
