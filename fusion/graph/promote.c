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

enum { NO_BOOL = 1, NO_FLOAT = 2, ONLY_FLOAT = 4 };

/* What each op refuses; 0: nothing. */
static const unsigned char refused[OP_COUNT] = {
	[OP_neg] = NO_BOOL,
	[OP_abs] = NO_BOOL,
	[OP_relu] = NO_BOOL,
	[OP_floor] = NO_BOOL,
	[OP_ceil] = NO_BOOL,
	[OP_round] = NO_BOOL,
	[OP_trunc] = NO_BOOL,
	[OP_frac] = NO_BOOL,
	[OP_fmod] = NO_BOOL,
	[OP_clamp_min] = NO_BOOL,
	[OP_clamp_max] = NO_BOOL,
	[OP_rsub] = NO_BOOL,
	[OP_sub] = NO_BOOL,
	[OP_sub_alpha] = NO_BOOL,
	[OP_floordiv] = NO_BOOL,
	[OP_mod] = NO_BOOL,
	[OP_pow] = NO_BOOL,
	[OP_clamp] = NO_BOOL,
	[OP_invert] = NO_FLOAT,
	[OP_and_] = NO_FLOAT,
	[OP_or_] = NO_FLOAT,
	[OP_xor_] = NO_FLOAT,
	[OP_lshift] = NO_FLOAT | NO_BOOL,
	[OP_rshift] = NO_FLOAT | NO_BOOL,
	[OP_gcd] = NO_FLOAT | NO_BOOL,
	[OP_mean] = ONLY_FLOAT,
	[OP_var] = ONLY_FLOAT,
	[OP_std] = ONLY_FLOAT,
	[OP_norm] = ONLY_FLOAT,
	[OP_softmax] = ONLY_FLOAT,
	[OP_log_softmax] = ONLY_FLOAT,
	[OP_layer_norm] = ONLY_FLOAT,
	[OP_rms_norm] = ONLY_FLOAT,
	[OP_gelu] = ONLY_FLOAT,
	[OP_silu] = ONLY_FLOAT,
	[OP_leaky_relu] = ONLY_FLOAT,
	[OP_elu] = ONLY_FLOAT,
	[OP_celu] = ONLY_FLOAT,
	[OP_selu] = ONLY_FLOAT,
	[OP_softplus] = ONLY_FLOAT,
	[OP_hardtanh] = ONLY_FLOAT,
	[OP_hardswish] = ONLY_FLOAT,
	[OP_hardsigmoid] = ONLY_FLOAT,
	[OP_mish] = ONLY_FLOAT,
	[OP_logsigmoid] = ONLY_FLOAT,
	[OP_softsign] = ONLY_FLOAT,
	[OP_tanhshrink] = ONLY_FLOAT,
	[OP_glu] = ONLY_FLOAT,
	[OP_dropout] = ONLY_FLOAT,
	[OP_lerp] = ONLY_FLOAT,
	[OP_hypot] = ONLY_FLOAT,
	[OP_logaddexp] = ONLY_FLOAT,
	[OP_logit] = ONLY_FLOAT,
	[OP_normalize] = ONLY_FLOAT,
	[OP_instance_norm] = ONLY_FLOAT,
	[OP_conv1d] = ONLY_FLOAT,
	[OP_conv2d] = ONLY_FLOAT,
	[OP_conv_windows] = ONLY_FLOAT,
	[OP_avg_pool1d] = ONLY_FLOAT,
	[OP_avg_pool2d] = ONLY_FLOAT,
	[OP_adaptive_avg_pool2d] = ONLY_FLOAT,
	[OP_logcumsumexp] = ONLY_FLOAT,
	[OP_cdist] = ONLY_FLOAT,
	[OP_vector_norm] = ONLY_FLOAT,
	[OP_linalg_norm] = ONLY_FLOAT,
	[OP_cosine_similarity] = ONLY_FLOAT,
	[OP_batch_norm] = ONLY_FLOAT,
	[OP_group_norm] = ONLY_FLOAT,
	[OP_scaled_dot_product_attention] = ONLY_FLOAT,
	[OP_attention] = ONLY_FLOAT,
	[OP_biased] = ONLY_FLOAT,
	[OP_softmin] = ONLY_FLOAT,
	[OP_mse_loss] = ONLY_FLOAT,
	[OP_l1_loss] = ONLY_FLOAT,
	[OP_smooth_l1_loss] = ONLY_FLOAT,
	[OP_huber_loss] = ONLY_FLOAT,
	[OP_binary_cross_entropy] = ONLY_FLOAT,
	[OP_binary_cross_entropy_with_logits] = ONLY_FLOAT,
	[OP_kl_div] = ONLY_FLOAT,
	[OP_nll_loss] = ONLY_FLOAT,
	[OP_cross_entropy] = ONLY_FLOAT,
};

/* How many of each op's first parameters must have one dtype, where others promote. */
static const unsigned char alike[OP_COUNT] = {
	[OP_isclose] = 2, [OP_heaviside] = 2, [OP_cdist] = 2, [OP_binary_cross_entropy] = 2,
	[OP_lerp] = 3,
};

int op_alike(enum op op)
{
	return alike[op];
}

bool op_accepts(enum op op, enum dtype dtype, struct err *err)
{
	enum dtype_category category = dtype_category(dtype);
	const char *fx = op_info(op)->fx, *name = dtype_name(dtype);
	int rule = refused[op];

	if (rule & ONLY_FLOAT && category != CATEGORY_FLOAT)
		return err_set(err, ERR_DTYPE,
			       "%s: the tensor is %s, and a floating point one is needed; call "
			       "x.to(torch.float32) first",
			       fx, name);
	if (rule & NO_FLOAT && category == CATEGORY_FLOAT)
		return err_set(
		    err, ERR_DTYPE,
		    "%s: bitwise ops take ints and bools, and this is %s; compare first, as "
		    "in (x > 0), or use torch.logical_and and its like",
		    fx, name);
	if (rule & NO_BOOL && category == CATEGORY_BOOL) {
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
