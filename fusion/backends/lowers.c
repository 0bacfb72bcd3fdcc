/* fusion/backends/lowers.c -- what the backends of this machine make kernels of.
 *
 * A search for order has no loop nest that could take in what stands before or
 * behind it: it is a call between two pieces, and is reported as one.  (Other
 * library kernels, as of matmul, are launched from within a piece.)
 */
#include "fusion/backends/executable.h"

bool executable_lowers(const struct backend *self, const struct graph *g, const struct node *n,
		       bool *by_type, const char **why)
{
	(void)self, (void)g, (void)by_type, (void)why;
	switch (n->op) {
	case OP_sort_values:
	case OP_argsort:
	case OP_topk_values:
	case OP_topk_indices:
		return false;
	default:
		return true;
	}
}
