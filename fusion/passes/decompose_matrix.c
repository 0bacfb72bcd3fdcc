/* fusion/passes/decompose_matrix.c -- products of matrices as matmul and sums. */
#include "fusion/passes/decompose.h"

struct arg decompose_mm(struct expand *e)
{
	return expand_binary(e, OP_matmul, e->n->args[0], e->n->args[1]);
}

struct arg decompose_bmm(struct expand *e)
{
	return decompose_mm(e);
}

struct arg decompose_mv(struct expand *e)
{
	return decompose_mm(e);
}

struct arg decompose_dot(struct expand *e)
{
	return decompose_mm(e);
}

struct arg decompose_outer(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);
	struct arg y = expand_cast(e, e->n->args[1], e->n->dtype);

	return expand_binary(e, OP_mul, expand_binary(e, OP_unsqueeze, x, arg_int(e->g, 1)),
			     expand_binary(e, OP_unsqueeze, y, arg_int(e->g, 0)));
}

/* The bias is added by whatever kernel comes next. */
struct arg decompose_linear(struct expand *e)
{
	struct arg y = expand_binary(e, OP_matmul_nt, e->n->args[0], e->n->args[1]);
	struct arg bias = expand_arg(e, "bias");

	return bias.kind == ARG_NODE ? expand_binary(e, OP_add, y, bias) : y;
}

/* beta * x + alpha * product; by 1 nothing is multiplied, and x is not read
 * where beta is 0. */
static struct arg add_product(struct expand *e)
{
	struct arg y = expand_binary(e, OP_matmul, e->n->args[1], e->n->args[2]);
	struct arg beta = expand_arg(e, "beta"), alpha = expand_arg(e, "alpha"), x = e->n->args[0];

	if (expand_number(alpha) != 1)
		y = expand_binary(e, OP_mul, y, alpha);
	if (expand_number(beta) == 0)
		return y;
	if (expand_number(beta) != 1)
		x = expand_binary(e, OP_mul, x, beta);
	return expand_binary(e, OP_add, y, x);
}

struct arg decompose_addmm(struct expand *e)
{
	return add_product(e);
}

struct arg decompose_baddbmm(struct expand *e)
{
	return add_product(e);
}

struct arg decompose_addmv(struct expand *e)
{
	return add_product(e);
}
