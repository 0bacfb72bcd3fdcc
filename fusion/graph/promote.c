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

static int refused(enum op op)
{
	switch (op) {
	case OP_neg:
	case OP_abs:
	case OP_relu:
	case OP_floor:
	case OP_ceil:
	case OP_round:
	case OP_trunc:
	case OP_frac:
	case OP_fmod:
	case OP_clamp_min:
	case OP_clamp_max:
	case OP_rsub:
	case OP_sub:
	case OP_sub_alpha:
	case OP_floordiv:
	case OP_mod:
	case OP_pow:
	case OP_clamp:
		return NO_BOOL;
	case OP_invert:
	case OP_and_:
	case OP_or_:
	case OP_xor_:
		return NO_FLOAT;
	case OP_mean:
	case OP_var:
	case OP_std:
	case OP_norm:
	case OP_softmax:
	case OP_log_softmax:
	case OP_layer_norm:
	case OP_rms_norm:
	case OP_gelu:
	case OP_silu:
	case OP_leaky_relu:
	case OP_elu:
	case OP_celu:
	case OP_selu:
	case OP_softplus:
	case OP_hardtanh:
	case OP_hardswish:
	case OP_hardsigmoid:
	case OP_mish:
	case OP_logsigmoid:
	case OP_softsign:
	case OP_tanhshrink:
	case OP_glu:
	case OP_dropout:
	case OP_lerp:
	case OP_hypot:
	case OP_logaddexp:
	case OP_logit:
	case OP_logsumexp:
	case OP_normalize:
	case OP_instance_norm:
	case OP_conv1d:
	case OP_conv2d:
	case OP_avg_pool1d:
	case OP_avg_pool2d:
	case OP_adaptive_avg_pool2d:
	case OP_logcumsumexp:
	case OP_cdist:
	case OP_vector_norm:
	case OP_linalg_norm:
	case OP_sinc:
	case OP_cosine_similarity:
	case OP_batch_norm:
	case OP_group_norm:
	case OP_scaled_dot_product_attention:
	case OP_softmin:
	case OP_mse_loss:
	case OP_l1_loss:
	case OP_smooth_l1_loss:
	case OP_huber_loss:
	case OP_binary_cross_entropy:
	case OP_binary_cross_entropy_with_logits:
	case OP_kl_div:
	case OP_nll_loss:
	case OP_cross_entropy:
		return ONLY_FLOAT;
	default:
		return 0;
	}
}

bool op_accepts(enum op op, enum dtype dtype, struct err *err)
{
	enum dtype_category category = dtype_category(dtype);
	const char *fx = op_info(op)->fx, *name = dtype_name(dtype);
	int rule = refused(op);

	if (rule == ONLY_FLOAT && category != CATEGORY_FLOAT)
		return err_set(err, ERR_TYPE,
			       "%s: the tensor is %s, and a floating point one is needed; call "
			       "x.to(torch.float32) first",
			       fx, name);
	if (rule == NO_FLOAT && category == CATEGORY_FLOAT)
		return err_set(
		    err, ERR_TYPE,
		    "%s: bitwise ops take ints and bools, and this is %s; compare first, as "
		    "in (x > 0), or use torch.logical_and and its like",
		    fx, name);
	if (rule == NO_BOOL && category == CATEGORY_BOOL) {
		if (op == OP_sub || op == OP_sub_alpha)
			return err_set(err, ERR_TYPE,
				       "%s: `-` is not defined on a bool tensor; use x ^ y for two "
				       "masks, ~x to invert one, or x.to(torch.int64)",
				       fx);
		return err_set(err, ERR_TYPE,
			       "%s: a bool tensor is not accepted; call x.to(torch.int64) first",
			       fx);
	}
	return true;
}
