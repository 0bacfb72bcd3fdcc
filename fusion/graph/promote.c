/* fusion/graph/promote.c -- which dtype several operands are computed in.
 *
 * PyTorch's rule (torch.result_type): a 0-d tensor or a Python number changes
 * the dtype only where its category (bool < int < float) is above that of the
 * tensors with dims; a Python float is then the default dtype, float32.
 */
#include "fusion/graph/infer.h"

static int join(int a, int b)
{
	return a < 0 ? b : b < 0 ? a : (int)dtype_promote((enum dtype)a, (enum dtype)b);
}

/* `lower` counts only where its category is above that of `higher`. */
static int join_by_category(int higher, int lower)
{
	if (higher < 0 || lower < 0)
		return join(higher, lower);
	if (dtype_category((enum dtype)lower) > dtype_category((enum dtype)higher))
		return join(higher, lower);
	return higher;
}

static enum dtype number_dtype(enum dtype dtype)
{
	return dtype_category(dtype) == CATEGORY_FLOAT ? DTYPE_F32 : dtype;
}

void promotion_add(struct promotion *p, const struct graph *g, const struct arg *arg)
{
	const struct node *n;

	switch (arg->kind) {
	case ARG_NODE:
		n = g->nodes[arg->node];
		if (n->weak)
			p->wrapped = join(p->wrapped, (int)number_dtype(n->dtype));
		else if (n->shape.rank > 0)
			p->dim = join(p->dim, (int)n->dtype);
		else
			p->zero = join(p->zero, (int)n->dtype);
		break;
	case ARG_INT:
		p->wrapped = join(p->wrapped, DTYPE_I64);
		break;
	case ARG_FLOAT:
	case ARG_REAL:
		p->wrapped = join(p->wrapped, DTYPE_F32);
		break;
	case ARG_BOOL:
		p->wrapped = join(p->wrapped, DTYPE_BOOL);
		break;
	default:
		break;
	}
}

enum dtype promotion_result(const struct promotion *p)
{
	int dtype = join_by_category(p->dim, join_by_category(p->zero, p->wrapped));

	return dtype < 0 ? DTYPE_F32 : (enum dtype)dtype;
}

int op_alike(enum op op)
{
	return op_has(op, FACT_ALIKE_3) ? 3 : op_has(op, FACT_ALIKE_2) ? 2 : 0;
}

bool op_accepts(enum op op, enum dtype dtype, struct err *err)
{
	enum dtype_category category = dtype_category(dtype);
	const char *fx = op_info(op)->fx, *name = dtype_name(dtype);

	if (op_has(op, FACT_ONLY_FLOAT) && category != CATEGORY_FLOAT)
		return err_set(err, ERR_DTYPE,
			       "%s: the tensor is %s, and a floating point one is needed; call "
			       "x.to(torch.float32) first",
			       fx, name);
	if (op_has(op, FACT_NO_FLOAT) && category == CATEGORY_FLOAT)
		return err_set(
		    err, ERR_DTYPE,
		    "%s: bitwise ops take ints and bools, and this is %s; compare first, as "
		    "in (x > 0), or use torch.logical_and and its like",
		    fx, name);
	if (op_has(op, FACT_NO_BOOL) && category == CATEGORY_BOOL) {
		if (op == OP_sub || op == OP_sub_alpha)
			return err_set(err, ERR_DTYPE,
				       "%s: `-` is not defined on a bool tensor; use x ^ y for two "
				       "masks, ~x to invert one, or x.to(torch.int64)",
				       fx);
		return err_set(err, ERR_DTYPE,
			       "%s: a bool tensor is not accepted; call x.to(torch.int64) first",
			       fx);
	}
	return true;
}
