/* fusion/graph/infer_matrix.c -- dtype and shape of matrix products. */
#include "fusion/graph/einsum.h"
#include "fusion/graph/infer.h"

static bool same_dtypes(struct infer *in, int first, int end)
{
	const struct node *x = NULL;

	if (!infer_alike(in, first, end))
		return false;
	for (int i = first; !x && i < end; i++)
		x = infer_tensor(in, i);
	if (x && x->dtype == DTYPE_BOOL)
		return err_set(in->err, ERR_DTYPE,
			       "%s: a product of bool matrices is not defined; call "
			       "x.to(torch.float32) first",
			       in->info->fx);
	in->out->dtype = in->out->compute = x ? x->dtype : DTYPE_F32;
	return true;
}

static bool sizes_differ(struct infer *in, const struct node *x, const struct node *y)
{
	char a[SHAPE_TEXT_BYTES], b[SHAPE_TEXT_BYTES];

	return err_set(in->err, ERR_SHAPE, "%s: sizes %s and %s do not fit together%s",
		       in->info->fx, shape_text(&x->shape, a), shape_text(&y->shape, b),
		       in->op == OP_linear || in->op == OP_matmul_nt
			   ? ": the last size of the input must be that of the weight"
		       : in->op == OP_einsum
			   ? ": dims with one letter must have one size"
			   : ": the last size of the first must be the last but one of the second");
}

/* The size of each label, and so the shape of the result. */
static bool infer_contraction(struct infer *in, const struct contraction *c, const int *at)
{
	const struct sym *sizes[EINSUM_LABELS] = { NULL };
	struct shape *out = &in->out->shape;

	for (int i = 0; i < c->n && i < 2; i++) {
		const struct node *x = infer_tensor(in, at[i]);

		for (int d = 0; d < c->in[i].rank; d++) {
			int label = c->in[i].at[d];
			const struct sym **size = &sizes[label], *own = x->shape.size[d];
			/* Dims of a batch broadcast; those that are summed do not. */
			bool batch = label >= 52;

			if (!*size || (batch && sym_is(*size, 1)))
				*size = own;
			else if (!(batch && sym_is(own, 1)) && !infer_same_size(in, *size, own))
				return sizes_differ(in, infer_tensor(in, at[0]), x);
		}
	}
	if (c->out.rank > MAX_RANK)
		return err_set(in->err, ERR_BOUND, "%s: the result has over %d dims", in->info->fx,
			       MAX_RANK);
	out->rank = c->out.rank;
	for (int d = 0; d < out->rank; d++)
		out->size[d] = sizes[c->out.at[d]];
	return true;
}

bool infer_matmul(struct infer *in)
{
	static const int at[2] = { 0, 1 };
	const struct node *x = infer_tensor(in, 0), *y = infer_tensor(in, 1);
	struct contraction c;
	bool transposed = in->op == OP_matmul_nt || in->op == OP_biased || in->op == OP_linear;

	if (!same_dtypes(in, 0, 2))
		return false;
	if (x->shape.rank == 0 || y->shape.rank == 0)
		return err_set(in->err, ERR_SHAPE,
			       "%s: an operand has no dims; multiply by a number with *",
			       in->info->fx);
	einsum_matmul(x->shape.rank, y->shape.rank, transposed, &c);
	return infer_contraction(in, &c, at);
}

/* The operands of mm, bmm, mv and dot have fixed ranks. */
static bool check_ranks(struct infer *in, int first, int x_rank, int y_rank)
{
	const struct node *x = infer_tensor(in, first), *y = infer_tensor(in, first + 1);
	char a[SHAPE_TEXT_BYTES], b[SHAPE_TEXT_BYTES];

	return (x->shape.rank == x_rank && y->shape.rank == y_rank) ||
	       err_set(in->err, ERR_SHAPE,
		       "%s: operands of %d and %d dims are needed, and these have sizes %s and %s; "
		       "torch.matmul takes others",
		       in->info->fx, x_rank, y_rank, shape_text(&x->shape, a),
		       shape_text(&y->shape, b));
}

bool infer_mm(struct infer *in)
{
	return check_ranks(in, 0, 2, 2) && infer_matmul(in);
}

bool infer_bmm(struct infer *in)
{
	return check_ranks(in, 0, 3, 3) && infer_matmul(in);
}

bool infer_mv(struct infer *in)
{
	return check_ranks(in, 0, 2, 1) && infer_matmul(in);
}

bool infer_dot(struct infer *in)
{
	return check_ranks(in, 0, 1, 1) && infer_matmul(in);
}

bool infer_linear(struct infer *in)
{
	const struct node *w = infer_tensor(in, 1), *bias = infer_tensor(in, 2);

	if (!same_dtypes(in, 0, 3) || !infer_matmul(in))
		return false;
	if (w->shape.rank > 2)
		return err_set(in->err, ERR_SHAPE, "linear: the weight must have 2 dims, not %d",
			       w->shape.rank);
	if (bias &&
	    (bias->shape.rank > 1 ||
	     (bias->shape.rank == 1 && w->shape.rank == 2 && !sym_is(bias->shape.size[0], 1) &&
	      !infer_same_size(in, bias->shape.size[0], w->shape.size[0]))))
		return err_set(
		    in->err, ERR_SHAPE,
		    "linear: the bias must have one dim, of the first size of the weight");
	return true;
}

bool infer_einsum(struct infer *in)
{
	static const int at[2] = { 1, 2 };
	struct contraction c;

	return same_dtypes(in, 1, 3) && einsum_of(in->g, in->op, in->args, &c, in->err) &&
	       infer_contraction(in, &c, at);
}

/* addmm, baddbmm, addmv: beta * input + alpha * (a @ b) */
static bool add_product(struct infer *in, int a_rank, int b_rank)
{
	static const int at[2] = { 1, 2 };
	const struct node *x = infer_tensor(in, 0);
	struct contraction c;
	struct shape product;

	if (!same_dtypes(in, 0, 3) || !check_ranks(in, 1, a_rank, b_rank))
		return false;
	einsum_matmul(a_rank, b_rank, false, &c);
	if (!infer_contraction(in, &c, at))
		return false;
	product = in->out->shape;
	if (!infer_broadcast(in, &in->out->shape, &x->shape))
		return false;
	return shape_equal(&product, &in->out->shape) ||
	       err_set(in->err, ERR_SHAPE, "%s: the input does not broadcast to the product",
		       in->info->fx);
}

bool infer_addmm(struct infer *in)
{
	return add_product(in, 2, 2);
}

bool infer_baddbmm(struct infer *in)
{
	return add_product(in, 3, 3);
}

bool infer_addmv(struct infer *in)
{
	return add_product(in, 2, 1);
}

bool infer_outer(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0), *y = infer_tensor(in, 1);

	if (!check_ranks(in, 0, 1, 1))
		return false;
	in->out->dtype = in->out->compute = infer_promote(in, 0, 2);
	in->out->shape = (struct shape){ .rank = 2,
					 .size = { x->shape.size[0], y->shape.size[0] } };
	return true;
}
