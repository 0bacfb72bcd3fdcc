/* fusion/graph/custom.h -- ops that plugins add.
 *
 * A node of one is OP_custom, whose first argument is the op's name and whose
 * others are those of the op's own signature, up to MAX_CUSTOM_ARGS; so it is
 * copied, compared, hashed and printed as any node.  graph->custom has the ops that
 * the graph may use.  Pass decompose writes it as other ops, or as OP_custom_kernel,
 * a LIBRARY op with the same arguments.
 */
#ifndef FUSION_GRAPH_CUSTOM_H
#define FUSION_GRAPH_CUSTOM_H

#include "fusion/graph/graph.h"

enum { MAX_CUSTOM_OPS = 64, MAX_CUSTOM_ARGS = MAX_ARGS - 1, CUSTOM_TEXT_BYTES = 256 };

enum custom_shape { CUSTOM_FIRST, CUSTOM_BROADCAST, CUSTOM_SCALAR };

/* An operand while a kernel runs; strides in elements. */
struct custom_operand {
	bool is_tensor;
	enum dtype dtype;
	int rank;
	int64_t size[MAX_RANK], stride[MAX_RANK];
	void *data;
	double f; /* a number; and as an int, where it is one */
	int64_t i;
};

struct custom_op {
	struct op_info info; /* id, fx, signature, spellings, doc, params; kind COMPOSITE */
	struct op_param params[MAX_CUSTOM_ARGS];
	char text[CUSTOM_TEXT_BYTES]; /* the signature, cut up */
	enum custom_shape shape;
	const char *plugin;

	/* The id of the node that replaces n, made in g, or -1 with *err; NULL: it has
	 * a kernel. */
	int (*expand)(const struct custom_op *self, struct graph *g, const struct node *n,
		      struct err *err);
	/* Fills `out`, which lies row by row. */
	void (*compute)(const struct custom_op *self, const struct custom_operand *operands, int n,
			const struct custom_operand *out);
	const void *data; /* the plugin's */
};

struct custom_ops {
	struct custom_op at[MAX_CUSTOM_OPS];
	int n;
};

/* By id or spelling; NULL: none.  `ops` may be NULL. */
const struct custom_op *custom_find(const struct custom_ops *ops, const char *name);

/* Its index in `ops`, -1: none. */
int custom_index(const struct custom_ops *ops, const char *name);

/* That of an OP_custom or OP_custom_kernel node; NULL for every other, and where the
 * graph does not know it. */
static inline const struct custom_op *custom_of(const struct graph *g, const struct node *n)
{
	return n->op == OP_custom || n->op == OP_custom_kernel
		   ? custom_find(g->custom, n->args[0].str)
		   : NULL;
}

#endif
