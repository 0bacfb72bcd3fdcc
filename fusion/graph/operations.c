/* fusion/graph/operations.c -- counts the operations of nodes: multiplications and additions. */
#include "fusion/graph/operations.h"

#include "fusion/graph/einsum.h"

static int64_t size_of(const struct graph *g, const struct node *n, int dim)
{
	return sym_hint(g->syms, n->shape.size[dim]);
}

static int64_t elements(const struct graph *g, const struct node *n)
{
	int64_t product = 1;

	for (int d = 0; d < n->shape.rank; d++)
		product *= size_of(g, n, d);
	return product;
}

static const struct node *operand_of(const struct graph *g, const struct node *n, int arg)
{
	return arg < n->n_args && n->args[arg].kind == ARG_NODE ? g->nodes[n->args[arg].node]
								: NULL;
}

/* Two for each pair that meets: all labels' sizes multiplied. */
static int64_t of_contraction(const struct graph *g, const struct node *n)
{
	int64_t size[EINSUM_LABELS] = { 0 }, product = 1;
	struct contraction c = { 0 };
	struct err ignored = { 0 };
	int first = n->op == OP_einsum ? 1 : 0;

	if (!einsum_of(g, n->op, n->args, &c, &ignored))
		return -1;
	for (int i = 0; i < c.n; i++) {
		const struct node *x = operand_of(g, n, first + i);

		for (int d = 0; x && d < c.in[i].rank; d++) {
			int64_t dim = size_of(g, x, d);

			if (dim > size[c.in[i].at[d]]) /* of size 1: it is repeated */
				size[c.in[i].at[d]] = dim;
		}
	}
	for (int l = 0; l < EINSUM_LABELS; l++)
		product *= size[l] > 0 ? size[l] : 1;
	return (c.n == 2 ? 2 : 1) * product;
}

static int64_t of_convolution(const struct graph *g, const struct node *n)
{
	bool back = n->op == OP_conv_x || n->op == OP_conv_weight; /* of the windows' gradient */
	const struct node *windows = back ? operand_of(g, n, 0) : n;
	const struct node *weight = n->op == OP_conv_weight ? n : operand_of(g, n, 1);
	int64_t channels = weight ? size_of(g, weight, 0) : 0;

	return channels > 0 && windows ? 2 * elements(g, windows) * (elements(g, weight) / channels)
				       : -1;
}

static int64_t of_attention(const struct graph *g, const struct node *n)
{
	const struct node *query = operand_of(g, n, 0), *key = operand_of(g, n, 1);
	int rank = key ? key->shape.rank : 0;

	if (!query || rank < 2 || query->shape.rank < 2)
		return -1;
	return 2 * size_of(g, key, rank - 2) * (elements(g, query) + elements(g, n));
}

static int64_t of_node(const struct graph *g, const struct node *n)
{
	const struct node *x = operand_of(g, n, 0);

	if (op_has(n->op, FACT_CONTRACTION))
		return of_contraction(g, n);
	if (op_has(n->op, FACT_CONVOLUTION))
		return of_convolution(g, n);
	if (op_has(n->op, FACT_ATTENTION))
		return of_attention(g, n);
	if (op_has(n->op, FACT_COPY))
		return 0;
	switch (op_info(n->op)->kind) {
	case KIND_POINTWISE:
		return elements(g, n);
	case KIND_REDUCE:
		return x ? elements(g, x) : -1;
	case KIND_LIBRARY:
	case KIND_COMPOSITE:
	case KIND_CONTROL:
		return -1;
	default:
		return 0;
	}
}

int64_t graph_operations(const struct graph *g, const int *nodes, int n)
{
	int64_t total = 0;

	for (int i = 0; i < n; i++) {
		int64_t of = nodes[i] >= 0 && nodes[i] < g->n_nodes ? of_node(g, g->nodes[nodes[i]])
								    : -1;

		if (of < 0)
			return -1;
		total += of;
	}
	return total;
}
