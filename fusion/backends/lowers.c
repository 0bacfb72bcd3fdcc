/* fusion/backends/lowers.c -- what the backends of this machine make kernels of.
 *
 * A search for order (BETWEEN in ops.def) has no loop nest that could take in what
 * comes before or after it: it is a call between two pieces, and is reported as one.  (Other
 * library kernels, as of matmul, are launched from within a piece.)
 */
#include "fusion/backends/executable.h"

bool executable_lowers(const struct backend *self, const struct graph *g, const struct node *n,
		       bool *by_type, const char **why)
{
	(void)self, (void)g, (void)by_type, (void)why;
	return !op_has(n->op, FACT_BETWEEN);
}
