/* fusion/graph/infer_window.c -- dtype and shape of convolutions and pools. */
#include "fusion/graph/infer.h"

/* Entry i of an int[] that may hold one for all; `otherwise` where it is (). */
static const struct sym *entry(const struct infer *in, const char *name, int i,
			       const struct sym *otherwise)
{
	const struct arg *arg = infer_arg(in, name);

	if (!arg || arg->kind != ARG_INTS || arg->n == 0)
		return otherwise;
	return arg->ints[arg->n == 1 ? 0 : i];
}

/* (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1 */
static bool window_size(struct infer *in, const struct sym *size, const struct sym *kernel, int i,
			const struct sym **out)
{
	struct symtab *t = in->g->syms;
	const struct sym *one = sym_const(t, 1);
	const struct sym *stride = entry(in, "stride", i, kernel);
	const struct sym *padding = entry(in, "padding", i, sym_const(t, 0));
	const struct sym *dilation = entry(in, "dilation", i, one);
	const struct arg *ceil = infer_arg(in, "ceil_mode");
	const struct sym *span;

	if (!sym_is_const(kernel) || !sym_is_const(stride) || !sym_is_const(padding) ||
	    !sym_is_const(dilation) || kernel->value < 1 || stride->value < 1 ||
	    padding->value < 0 || dilation->value < 1)
		return err_set(
		    in->err, ERR_OP,
		    "%s: kernel size, stride and dilation must be positive ints, padding "
		    "not negative",
		    in->info->fx);
	span = sym_const(t, 2 * padding->value - dilation->value * (kernel->value - 1) - 1 +
				(ceil && ceil->b ? stride->value - 1 : 0));
	if (sym_is_const(size) &&
	    size->value + 2 * padding->value < dilation->value * (kernel->value - 1) + 1)
		return err_set(in->err, ERR_SHAPE,
			       "%s: the window is larger than the input, which is %lld wide there",
			       in->info->fx, (long long)size->value);
	*out = sym_add(t, sym_floordiv(t, sym_add(t, size, span), stride), one);
	if (ceil && ceil->b && sym_is_const(*out) && sym_is_const(size) &&
	    ((*out)->value - 1) * stride->value >= size->value + padding->value)
		*out = sym_const(t, (*out)->value - 1); /* it would lie in the padding alone */
	return true;
}

/* The last `dims` dims of x, windowed by the kernel sizes. */
static bool window_shape(struct infer *in, int dims, const struct sym *const *kernel,
			 const struct sym **out)
{
	const struct shape *x = &infer_tensor(in, 0)->shape;

	for (int i = 0; i < dims; i++)
		if (!window_size(in, x->size[x->rank - dims + i], kernel[i], i, &out[i]))
			return false;
	return true;
}

static bool check_lists(struct infer *in, int dims)
{
	for (int i = 0; i < in->info->n_params; i++) {
		const struct arg *arg = infer_arg(in, in->info->params[i].name);

		if (arg && arg->kind == ARG_INTS && arg->n > 1 && arg->n != dims)
			return err_set(in->err, ERR_OP,
				       "%s: %s must be one int or %d, not %d of them", in->info->fx,
				       in->info->params[i].name, dims, arg->n);
	}
	return true;
}

static bool check_rank(struct infer *in, int dims)
{
	const struct shape *x = &infer_tensor(in, 0)->shape;
	char text[SHAPE_TEXT_BYTES];

	if (!check_lists(in, dims))
		return false;
	in->out->dtype = in->out->compute = infer_tensor(in, 0)->dtype;
	in->out->shape = *x;
	if (!op_accepts(in->op, in->out->dtype, in->err))
		return false;
	return x->rank == dims + 1 || x->rank == dims + 2 ||
	       err_set(in->err, ERR_SHAPE, "%s: sizes %s; %d or %d dims are needed", in->info->fx,
		       shape_text(x, text), dims + 1, dims + 2);
}

/* Every window of a pool has an element. */
static bool check_padding(struct infer *in, int64_t kernel, int i)
{
	const struct sym *one = sym_const(in->g->syms, 1);
	int64_t padding = entry(in, "padding", i, sym_const(in->g->syms, 0))->value;
	int64_t dilation = entry(in, "dilation", i, one)->value;

	return 2 * padding <= dilation * (kernel - 1) + 1 ||
	       err_set(in->err, ERR_OP,
		       "%s: pad should be at most half of effective kernel size, but got pad=%lld, "
		       "kernel_size=%lld and dilation=%lld",
		       in->info->fx, (long long)padding, (long long)kernel, (long long)dilation);
}

static bool pool(struct infer *in, int dims)
{
	struct shape *out = &in->out->shape;
	const struct sym *kernel[2] = { NULL };

	if (!check_rank(in, dims))
		return false;
	for (int i = 0; i < dims; i++)
		kernel[i] = entry(in, "kernel_size", i, sym_const(in->g->syms, 0));
	if (!window_shape(in, dims, kernel, out->size + out->rank - dims))
		return false;
	for (int i = 0; i < dims; i++)
		if (!check_padding(in, kernel[i]->value, i))
			return false;
	return true;
}

static bool infer_pool1d(struct infer *in)
{
	return pool(in, 1);
}

static bool infer_pool2d(struct infer *in)
{
	return pool(in, 2);
}

static bool infer_adaptive_pool(struct infer *in)
{
	struct shape *out = &in->out->shape;

	if (!check_rank(in, 2))
		return false;
	for (int i = 0; i < 2; i++)
		out->size[out->rank - 2 + i] = entry(in, "output_size", i,
						     sym_const(in->g->syms, 1));
	return true;
}

static bool conv(struct infer *in, int dims)
{
	const struct node *x = infer_tensor(in, 0), *w = infer_tensor(in, 1);
	const struct node *bias = in->op == OP_conv_windows ? NULL : infer_tensor(in, 2);
	const struct sym *groups = infer_arg(in, "groups")->sym;
	struct shape *out = &in->out->shape;
	int channels = x->shape.rank - dims - 1;
	struct symtab *t = in->g->syms;

	if (!check_rank(in, dims))
		return false;
	if (w->dtype != x->dtype || (bias && bias->dtype != x->dtype))
		return err_set(in->err, ERR_DTYPE, "%s: input, weight and bias must have one dtype",
			       in->info->fx);
	if (w->shape.rank != dims + 2 || !sym_is_const(groups) || groups->value < 1 ||
	    !infer_same_size(in, x->shape.size[channels], sym_mul(t, w->shape.size[1], groups)) ||
	    (groups->value > 1 &&
	     !infer_same_size(in, w->shape.size[0],
			      sym_mul(t, sym_floordiv(t, w->shape.size[0], groups), groups))))
		return err_set(in->err, ERR_SHAPE,
			       "%s: the weight must be [out, in / groups, ...] with the input's "
			       "channels, and groups must divide both",
			       in->info->fx);
	if (bias &&
	    (bias->shape.rank != 1 || !infer_same_size(in, bias->shape.size[0], w->shape.size[0])))
		return err_set(in->err, ERR_SHAPE,
			       "%s: the bias must have a number for each output channel",
			       in->info->fx);
	out->size[channels] = w->shape.size[0];
	return window_shape(in, dims, w->shape.size + 2, out->size + channels + 1);
}

static bool infer_conv1d(struct infer *in)
{
	return conv(in, 1);
}

static bool infer_conv2d(struct infer *in)
{
	return conv(in, 2);
}

/* Two tensors of a batch and one dtype, which the result has; its last two sizes. */
static bool conv_back(struct infer *in, const struct sym *first, const struct sym *second)
{
	struct shape *out = &in->out->shape;

	for (int i = 0; i < 2; i++)
		out->size[2 + i] = entry(in, "size", i, sym_const(in->g->syms, 1));
	out->rank = 4;
	out->size[0] = first;
	out->size[1] = second;
	return true;
}

static bool check_back(struct infer *in)
{
	const struct node *g = infer_tensor(in, 0), *other = infer_tensor(in, 1);
	const struct sym *groups = infer_arg(in, "groups")->sym;

	in->out->dtype = in->out->compute = g->dtype;
	return check_lists(in, 2) && op_accepts(in->op, g->dtype, in->err) &&
	       ((g->shape.rank == 4 && other->shape.rank == 4 && g->dtype == other->dtype &&
		 sym_is_const(groups) && groups->value > 0) ||
		err_set(in->err, ERR_SHAPE, "%s: two tensors of 4 dims and one dtype are needed",
			in->info->fx));
}

static bool infer_conv_x(struct infer *in)
{
	return check_back(in) && conv_back(in, infer_tensor(in, 0)->shape.size[0],
					   sym_mul(in->g->syms, infer_tensor(in, 1)->shape.size[1],
						   infer_arg(in, "groups")->sym));
}

static bool infer_conv_weight(struct infer *in)
{
	return check_back(in) &&
	       conv_back(in, infer_tensor(in, 0)->shape.size[1],
			 sym_floordiv(in->g->syms, infer_tensor(in, 1)->shape.size[1],
				      infer_arg(in, "groups")->sym));
}

/* [N, C, H, W] -> [N, C * kernel, windows] */
static bool infer_columns(struct infer *in)
{
	const struct shape *x = &infer_tensor(in, 0)->shape;
	struct shape *out = &in->out->shape;
	const struct sym *kernel[2], *windows[2];
	struct symtab *t = in->g->syms;

	if (!check_rank(in, 2))
		return false;
	for (int i = 0; i < 2; i++)
		kernel[i] = entry(in, "kernel_size", i, sym_const(t, 0));
	if (!window_shape(in, 2, kernel, windows))
		return false;
	out->rank = x->rank - 1;
	out->size[out->rank - 2] = sym_mul(t, x->size[x->rank - 3],
					   sym_mul(t, kernel[0], kernel[1]));
	out->size[out->rank - 1] = sym_mul(t, windows[0], windows[1]);
	return true;
}

infer_fn *const window_rules[OP_COUNT] = {
#define RULE_window(word) infer_##word
#include "fusion/graph/infer_rules.h"
};
