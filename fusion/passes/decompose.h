/* fusion/passes/decompose.h -- how a COMPOSITE node is written as other ops; private
 * to decompose*.c.
 *
 * decompose_<id>() of a row of ops.def gives the value that replaces the node; a file of them
 * defines FORMULA_<file>(id) before it includes this, and has a table of its own at its end.
 * After a failure every step does nothing, so formulas need no checks.
 */
#ifndef FUSION_PASSES_DECOMPOSE_H
#define FUSION_PASSES_DECOMPOSE_H

#include "fusion/passes/pass.h"

struct expand {
	struct graph *g;
	const struct node *n;
	struct err *err;
	bool failed;  /* *err is set; what follows does nothing */
	bool widened; /* n is a copy on float32, whose result will be rounded to the node's dtype */
};

typedef struct arg decompose_fn(struct expand *e);

struct arg expand_op(struct expand *e, enum op op, const struct arg *args, int n);

static inline struct arg expand_unary(struct expand *e, enum op op, struct arg x)
{
	return expand_op(e, op, &x, 1);
}

static inline struct arg expand_binary(struct expand *e, enum op op, struct arg x, struct arg y)
{
	return expand_op(e, op, (struct arg[]){ x, y }, 2);
}

/* `dims` as the node has them: ARG_INT, ARG_INTS or none for all. */
static inline struct arg expand_reduce(struct expand *e, enum op op, struct arg x, struct arg dims,
				       bool keepdim)
{
	return expand_op(e, op, (struct arg[]){ x, dims, arg_bool(keepdim) }, 3);
}

struct arg expand_cast(struct expand *e, struct arg x, enum dtype dtype);

/* What ints are divided by, through the op that refuses 0; of floats y itself. */
struct arg expand_divisor(struct expand *e, struct arg y);

/* of the node */
static inline struct arg expand_arg(const struct expand *e, const char *name)
{
	return *node_arg(e->n, name);
}

/* the first */
static inline const struct node *expand_operand(const struct expand *e)
{
	return e->g->nodes[e->n->args[0].node];
}

double expand_number(struct arg p); /* NaN where it is symbolic */

/* decompose_<id>() of each COMPOSITE row whose formula is in that file, by op; else NULL. */
extern decompose_fn *const activation_formulas[OP_COUNT],
    *const loss_formulas[OP_COUNT], *const matrix_formulas[OP_COUNT],
					*const norm_formulas[OP_COUNT],
					    *const view_formulas[OP_COUNT];
#ifndef FORMULA_activation
#define FORMULA_activation(id) NULL
#endif
#ifndef FORMULA_decompose
#define FORMULA_decompose(id) NULL
#endif
#ifndef FORMULA_loss
#define FORMULA_loss(id) NULL
#endif
#ifndef FORMULA_matrix
#define FORMULA_matrix(id) NULL
#endif
#ifndef FORMULA_norm
#define FORMULA_norm(id) NULL
#endif
#ifndef FORMULA_view
#define FORMULA_view(id) NULL
#endif

#endif
