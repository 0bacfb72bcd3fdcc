/* fusion/passes/decompose_matrix.c -- products of matrices as matmul and sums; convolutions and
 * pools of one dim as those of two. */
#define FORMULA_matrix(id) decompose_##id
#include "fusion/passes/decompose.h"

static struct arg decompose_mm(struct expand *e)
{
	return expand_binary(e, OP_matmul, e->n->args[0], e->n->args[1]);
}

static struct arg decompose_bmm(struct expand *e)
{
	return decompose_mm(e);
}

static struct arg decompose_mv(struct expand *e)
{
	return decompose_mm(e);
}

static struct arg decompose_dot(struct expand *e)
{
	return decompose_mm(e);
}

static struct arg decompose_outer(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);
	struct arg y = expand_cast(e, e->n->args[1], e->n->dtype);

	return expand_binary(e, OP_mul, expand_binary(e, OP_unsqueeze, x, arg_int(e->g, 1)),
			     expand_binary(e, OP_unsqueeze, y, arg_int(e->g, 0)));
}

/* The bias is added by whatever kernel comes next. */
static struct arg decompose_linear(struct expand *e)
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

static struct arg decompose_addmm(struct expand *e)
{
	return add_product(e);
}

static struct arg decompose_baddbmm(struct expand *e)
{
	return add_product(e);
}

static struct arg decompose_addmv(struct expand *e)
{
	return add_product(e);
}

static struct arg reshape(struct expand *e, struct arg x, const struct sym *const *sizes, int n)
{
	return expand_op(e, OP_reshape, (struct arg[]){ x, arg_ints(sizes, n) }, 2);
}

/* The int[] of the node with an entry for a further dim in front. */
static struct arg before(struct expand *e, const char *name, int64_t first)
{
	struct arg arg = expand_arg(e, name);
	const struct sym **ints;

	if (arg.n == 0)
		return arg;
	ints = ARENA_ARRAY(e->g->arena, const struct sym *, 2);
	if (!ints) {
		e->failed = !pass_out_of_memory(e->err);
		return arg;
	}
	ints[0] = sym_const(e->g->syms, first);
	ints[1] = arg.ints[arg.n - 1];
	return arg_ints(ints, 2);
}

/* Both entries of an int[] that may hold one for all. */
static struct arg both(struct expand *e, const char *name)
{
	struct arg arg = expand_arg(e, name);

	return arg.n == 1 ? before(e, name, arg.ints[0]->value) : arg;
}

static struct arg convolve(struct expand *e, struct arg x, struct arg w, struct arg stride,
			   struct arg padding, struct arg dilation)
{
	return expand_op(e, OP_conv_windows,
			 (struct arg[]){ x, w, stride, padding, dilation, expand_arg(e, "groups") },
			 6);
}

/* The bias, one number for each channel, over the dims after it. */
static struct arg with_bias(struct expand *e, struct arg x, int dims)
{
	struct arg bias = expand_arg(e, "bias");

	if (bias.kind != ARG_NODE)
		return x;
	for (int i = 0; i < dims; i++)
		bias = expand_binary(e, OP_unsqueeze, bias, arg_int(e->g, -1));
	return expand_binary(e, OP_add, x, bias);
}

/* One sample has no dim of its own. */
static struct arg batched(struct expand *e, int dims)
{
	struct arg x = e->n->args[0];

	return e->n->shape.rank == dims + 2 ? x
					    : expand_binary(e, OP_unsqueeze, x, arg_int(e->g, 0));
}

static struct arg decompose_conv2d(struct expand *e)
{
	struct arg x = convolve(e, batched(e, 2), e->n->args[1], both(e, "stride"),
				both(e, "padding"), both(e, "dilation"));

	if (e->n->shape.rank == 3)
		x = expand_binary(e, OP_squeeze, x, arg_int(e->g, 0));
	return with_bias(e, x, 2);
}

static struct arg decompose_conv1d(struct expand *e)
{
	struct arg x = expand_binary(e, OP_unsqueeze, batched(e, 1), arg_int(e->g, 2));
	struct arg w = expand_binary(e, OP_unsqueeze, e->n->args[1], arg_int(e->g, 2));

	x = convolve(e, x, w, before(e, "stride", 1), before(e, "padding", 0),
		     before(e, "dilation", 1));
	x = reshape(e, x, e->n->shape.size, e->n->shape.rank);
	return with_bias(e, x, 1);
}

static struct arg pool_lines(struct expand *e, enum op op)
{
	struct arg x = expand_binary(e, OP_unsqueeze, e->n->args[0], arg_int(e->g, -2));
	struct arg args[6] = { x, before(e, "kernel_size", 1), before(e, "stride", 1),
			       before(e, "padding", 0) };

	if (op == OP_max_pool2d)
		args[4] = before(e, "dilation", 1);
	else
		args[4] = expand_arg(e, "ceil_mode");
	args[5] = op == OP_max_pool2d ? expand_arg(e, "ceil_mode")
				      : expand_arg(e, "count_include_pad");
	return expand_binary(e, OP_squeeze, expand_op(e, op, args, 6), arg_int(e->g, -2));
}

static struct arg decompose_max_pool1d(struct expand *e)
{
	return pool_lines(e, OP_max_pool2d);
}

static struct arg decompose_avg_pool1d(struct expand *e)
{
	return pool_lines(e, OP_avg_pool2d);
}

decompose_fn *const matrix_formulas[OP_COUNT] = {
#define COMPOSITE(id, spellings, signature, doc, infer, file, ...) [OP_##id] = FORMULA_##file(id),
#include "fusion/graph/ops_some.h"
};
