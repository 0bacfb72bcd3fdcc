/* fusion/graph/einsum.h -- the equation of einsum, and of matmul, as labels.
 *
 * A contraction multiplies two operands and sums over what the result does not
 * have.  Every dim of an operand and of the result carries a label; dims with
 * one label run together.
 */
#ifndef FUSION_GRAPH_EINSUM_H
#define FUSION_GRAPH_EINSUM_H

#include "fusion/graph/graph.h"

enum { EINSUM_LABELS = 52 + MAX_RANK }; /* letters, then the dims of "..." */

struct labels {
	int rank;
	uint8_t at[2 * MAX_RANK]; /* of each dim: below EINSUM_LABELS */
};

struct contraction {
	int n; /* operands: 1 or 2 */
	struct labels in[2], out;
};

/* The contraction of a matmul, matmul_nt, biased or einsum node. */
bool einsum_of(const struct graph *g, enum op op, const struct arg *args, struct contraction *out,
	       struct err *err);

#endif
