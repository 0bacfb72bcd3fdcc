/* fusion/graph/infer.c -- dtype and shape of every op's result, as PyTorch has them.
 *
 * Column `infer` of ops.def names the function of each op, here or in a file beside
 * this one; pointwise rows and reductions have one for all.  Messages are the user's: they name the
 * op, the sizes and what would fit.
 */
#include "fusion/graph/infer.h"

#include <stdio.h>
#include <string.h>

#include "fusion/graph/custom.h"

/* ---- which dtype several operands are computed in
 *
 * PyTorch's rule (torch.result_type): a 0-d tensor or a Python number changes
 * the dtype only where its category (bool < int < float) is above that of the
 * tensors with dims; a Python float is then the default dtype. */

/* The dtype that numbers and tensors have in common; -1: no operand yet.
 * Tensors with dims decide within their category, then 0-d tensors, then
 * Python numbers: each only where its category is higher. */
struct promotion {
	int dim, zero, wrapped;
};
#define PROMOTION_NONE                                                                             \
	{                                                                                          \
		-1, -1, -1                                                                         \
	}

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

static enum dtype wrapped_dtype(const struct graph *g, enum dtype dtype)
{
	return dtype_category(dtype) == CATEGORY_FLOAT ? g->real : dtype;
}

static void promotion_add(struct promotion *p, const struct graph *g, const struct arg *arg)
{
	const struct node *n;

	switch (arg->kind) {
	case ARG_NODE:
		n = g->nodes[arg->node];
		if (n->weak)
			p->wrapped = join(p->wrapped, (int)wrapped_dtype(g, n->dtype));
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
		p->wrapped = join(p->wrapped, (int)g->real);
		break;
	case ARG_BOOL:
		p->wrapped = join(p->wrapped, DTYPE_BOOL);
		break;
	default:
		break;
	}
}

static enum dtype promotion_result(const struct promotion *p, const struct graph *g)
{
	int dtype = join_by_category(p->dim, join_by_category(p->zero, p->wrapped));

	return dtype < 0 ? g->real : (enum dtype)dtype;
}

static int op_alike(enum op op)
{
	unsigned facts = op_info(op)->facts;

	return facts & FACT_ALIKE_3 ? 3 : facts & FACT_ALIKE_2 ? 2 : 0;
}

bool op_accepts(enum op op, enum dtype dtype, struct err *err)
{
	enum dtype_category category = dtype_category(dtype);
	const char *fx = op_info(op)->fx, *name = dtype_name(dtype);
	unsigned facts = op_info(op)->facts;

	if (facts & FACT_ONLY_FLOAT && category != CATEGORY_FLOAT)
		return err_set(err, ERR_DTYPE,
			       "%s: the tensor is %s, and a floating point one is needed; call "
			       "x.to(torch.float32) first",
			       fx, name);
	if (facts & FACT_NO_FLOAT && category == CATEGORY_FLOAT)
		return err_set(
		    err, ERR_DTYPE,
		    "%s: bitwise ops take ints and bools, and this is %s; compare first, as "
		    "in (x > 0), or use torch.logical_and and its like",
		    fx, name);
	if (facts & FACT_NO_BOOL && category == CATEGORY_BOOL) {
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

/* Fails with "add: ..." around a message of shape.c, and the sizes that met. */
static bool broadcast_error(struct infer *in, const struct shape *a, const struct shape *b)
{
	const struct sym *pair[2];
	struct err why = { 0 };
	struct shape none;

	shape_broadcast(in->g->syms, a, b, &none, &why);
	if (shape_conflict(a, b, pair) && !(sym_is_const(pair[0]) && sym_is_const(pair[1])))
		memcpy(in->out->conflict, pair, sizeof(pair));
	return err_set(in->err, why.code, "%s: %s", in->info->fx, why.message);
}

bool infer_broadcast(struct infer *in, struct shape *into, const struct shape *x)
{
	return shape_broadcast(in->g->syms, into, x, into, NULL) || broadcast_error(in, into, x);
}

bool infer_same_size(struct infer *in, const struct sym *a, const struct sym *b)
{
	if (a != b && !(sym_is_const(a) && sym_is_const(b))) {
		in->out->conflict[0] = a;
		in->out->conflict[1] = b;
	}
	return a == b;
}

/* out->shape = the broadcast of the tensors among the first n arguments. */
static bool broadcast_args(struct infer *in, int n)
{
	struct shape *shape = &in->out->shape;
	const struct node *x;

	for (int i = 0; i < n; i++) {
		x = infer_tensor(in, i);
		if (!x)
			continue;
		if (!infer_broadcast(in, shape, &x->shape))
			return false;
	}
	return true;
}

enum dtype infer_promote(const struct infer *in, int first, int end)
{
	struct promotion p = PROMOTION_NONE;

	for (int i = first; i < end; i++)
		promotion_add(&p, in->g, &in->args[i]);
	return promotion_result(&p, in->g);
}

static bool zero_divisor(const struct infer *in, enum dtype dtype)
{
	return op_divides(in->op) && dtype_category(dtype) == CATEGORY_INT &&
	       in->args[1].kind == ARG_INT && sym_is(in->args[1].sym, 0);
}

static bool negative_power(const struct infer *in, enum dtype dtype)
{
	return in->op == OP_pow && dtype_category(dtype) == CATEGORY_INT &&
	       in->args[1].kind == ARG_INT && sym_is_const(in->args[1].sym) &&
	       in->args[1].sym->value < 0;
}

/* `x - y` refuses a bool on either side, whatever the other is. */
static bool subtracts_bool(const struct infer *in)
{
	const struct node *x;

	if (in->op != OP_sub && in->op != OP_sub_alpha)
		return false;
	for (int i = 0; i < 2; i++) {
		x = infer_tensor(in, i);
		if (in->args[i].kind == ARG_BOOL || (x && x->dtype == DTYPE_BOOL))
			return true;
	}
	return false;
}

static bool infer_pointwise(struct infer *in)
{
	int n = in->info->n_params;
	enum dtype dtype = infer_promote(in, 0, n);

	if (!op_accepts(in->op, subtracts_bool(in) ? DTYPE_BOOL : dtype, in->err))
		return false;
	if (zero_divisor(in, dtype))
		return err_set(in->err, ERR_SHAPE, "ZeroDivisionError"); /* as PyTorch says it */
	if (negative_power(in, dtype))
		return err_set(in->err, ERR_OP,
			       "pow: ints to a negative int power are not ints; write "
			       "x.to(torch.float32) ** %lld",
			       (long long)in->args[1].sym->value);
	if (in->info->rule == RULE_FLOAT && dtype_category(dtype) != CATEGORY_FLOAT)
		dtype = in->g->real;
	if (in->op == OP_square && dtype == DTYPE_BOOL)
		dtype = DTYPE_I64;
	in->out->compute = dtype;
	in->out->dtype = in->info->rule == RULE_BOOL || in->info->rule == RULE_LOGIC ? DTYPE_BOOL
										     : dtype;
	return broadcast_args(in, n);
}

static bool infer_where(struct infer *in)
{
	const struct node *mask = infer_tensor(in, 0);

	if (mask->dtype != DTYPE_BOOL)
		return err_set(in->err, ERR_DTYPE,
			       "where: the condition is %s, and a bool tensor is needed; write a "
			       "comparison such as x > 0, or x.to(torch.bool)",
			       dtype_name(mask->dtype));
	in->out->dtype = in->out->compute = infer_promote(in, 1, 3);
	return broadcast_args(in, 3);
}

/* What cannot be proved of sizes but holds at the capture becomes a fact, which capture guards. */
static bool add_fact(struct infer *in, bool equal, const struct sym *a, const struct sym *b)
{
	struct op_result *out = in->out;

	if (out->n_facts == MAX_FACTS) {
		out->conflict[0] = a;
		out->conflict[1] = b;
		return false;
	}
	out->facts[out->n_facts++] = (struct size_fact){ equal, a, b };
	return true;
}

bool infer_at_least(struct infer *in, const struct sym *a, const struct sym *b)
{
	struct symtab *syms = in->g->syms;

	if (!a || !b)
		return false;
	if (sym_at_least(syms, a, b))
		return true;
	if (sym_is_const(a) && sym_is_const(b))
		return false;
	if (sym_hint(syms, a) >= sym_hint(syms, b))
		return add_fact(in, false, a, b);
	in->out->conflict[0] = a;
	in->out->conflict[1] = b;
	return false;
}

bool infer_equal(struct infer *in, const struct sym *a, const struct sym *b)
{
	struct symtab *syms = in->g->syms;

	if (a == b || !a || !b)
		return a && b;
	if (sym_is_const(a) && sym_is_const(b))
		return false;
	if (sym_hint(syms, a) == sym_hint(syms, b))
		return add_fact(in, true, a, b);
	in->out->conflict[0] = a;
	in->out->conflict[1] = b;
	return false;
}

/* One dim as the user wrote it -> 0 .. rank - 1. */
bool infer_dim(const struct infer *in, const struct shape *x, const struct sym *dim, int *out)
{
	int rank = x->rank ? x->rank : 1; /* a 0-d tensor has dim 0 and -1, as in torch */
	char text[SHAPE_TEXT_BYTES];

	if (!sym_is_const(dim))
		return err_set(in->err, ERR_TYPE,
			       "%s: a dim depends on a size; name dims by fixed ints",
			       in->info->fx);
	if (dim->value < -rank || dim->value >= rank)
		return err_set(in->err, ERR_INDEX,
			       "%s: dimension out of range (expected %d to %d, but got %lld): the "
			       "tensor's sizes are %s",
			       in->info->fx, -rank, rank - 1, (long long)dim->value,
			       shape_text(x, text));
	*out = (int)(dim->value < 0 ? dim->value + rank : dim->value);
	return true;
}

/* None and () mean all dims. */
static bool dims_mask(const struct infer *in, const struct shape *x, const struct arg *dims,
		      unsigned *mask)
{
	int count = dims->kind == ARG_INTS ? dims->n : dims->kind == ARG_INT;
	int dim;

	*mask = 0;
	for (int i = 0; i < count; i++) {
		if (!infer_dim(in, x, dims->kind == ARG_INT ? dims->sym : dims->ints[i], &dim))
			return false;
		if (*mask & 1u << dim)
			return err_set(in->err, ERR_OP,
				       "%s: dim %d appears twice in `dim`; name each dim once",
				       in->info->fx, dim);
		*mask |= 1u << dim;
	}
	if (count == 0)
		*mask = ~0u;
	*mask &= (1u << x->rank) - 1; /* a 0-d tensor has no dim to reduce */
	return true;
}

static void reduced_shape(const struct infer *in, const struct shape *x, unsigned mask,
			  bool keepdim)
{
	struct shape *out = &in->out->shape;

	out->rank = 0;
	for (int i = 0; i < x->rank; i++) {
		if (!(mask & 1u << i))
			out->size[out->rank++] = x->size[i];
		else if (keepdim)
			out->size[out->rank++] = sym_const(in->g->syms, 1);
	}
}

static const struct arg *arg_named(const struct op_info *info, const struct arg *args,
				   const char *name)
{
	for (int i = 0; i < info->n_params; i++)
		if (!strcmp(info->params[i].name, name))
			return &args[i];
	return NULL;
}

/* Shape of a reduction, or of a composite that ends in one. */
static bool infer_reduced_shape(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);
	const struct arg *dims = arg_named(in->info, in->args, "dim");
	const struct arg *keepdim = arg_named(in->info, in->args, "keepdim");
	const struct arg all = arg_none();
	bool extreme = in->op == OP_amax || in->op == OP_amin || in->op == OP_max ||
		       in->op == OP_min;
	unsigned mask;

	if (!dims_mask(in, &x->shape, dims ? dims : &all, &mask))
		return false;
	for (int i = 0; extreme && i < x->shape.rank; i++)
		if (mask & 1u << i && sym_is(x->shape.size[i], 0))
			return err_set(
			    in->err, ERR_SHAPE,
			    "%s: dim %d has size 0: it is empty, and nothing has no %s element",
			    in->info->fx, i,
			    in->op == OP_amax || in->op == OP_max ? "largest" : "smallest");
	reduced_shape(in, &x->shape, mask, keepdim && keepdim->b);
	return true;
}

const struct arg *infer_arg(const struct infer *in, const char *name)
{
	return arg_named(in->info, in->args, name);
}

/* `dtype=` where it is given, else `otherwise`. */
enum dtype infer_dtype_arg(const struct infer *in, enum dtype otherwise)
{
	const struct arg *arg = arg_named(in->info, in->args, "dtype");

	return arg && arg->kind == ARG_DTYPE ? arg->dtype : otherwise;
}

static enum dtype summed(enum dtype dtype)
{
	return dtype_category(dtype) == CATEGORY_FLOAT ? dtype : DTYPE_I64;
}

static bool infer_reduce(struct infer *in)
{
	enum dtype x = infer_tensor(in, 0)->dtype;

	in->out->compute = in->info->rule == RULE_INTSUM ? infer_dtype_arg(in, summed(x)) : x;
	in->out->dtype = in->info->rule != RULE_LOGIC ? in->out->compute
			 : x == DTYPE_U8              ? DTYPE_U8 /* as torch */
						      : DTYPE_BOOL;
	return infer_reduced_shape(in);
}

/* mean, var, std, norm, max, min. */
static bool infer_statistic(struct infer *in)
{
	in->out->dtype = in->out->compute = infer_dtype_arg(in, infer_tensor(in, 0)->dtype);
	if (in->op == OP_var || in->op == OP_std) {
		const struct arg *unbiased = arg_named(in->info, in->args, "unbiased");
		const struct arg *correction = arg_named(in->info, in->args, "correction");

		if (unbiased->kind != ARG_NONE && correction->kind != ARG_NONE)
			return err_set(in->err, ERR_OP,
				       "%s: give `unbiased` or `correction`, not both",
				       in->info->fx);
	}
	if (in->op == OP_norm && in->args[1].kind == ARG_INT && !sym_is_const(in->args[1].sym))
		return err_set(in->err, ERR_OP, "norm: `p` depends on a size; use a fixed number");
	return op_accepts(in->op, in->out->dtype, in->err) && infer_reduced_shape(in);
}

/* softmax, log_softmax, cumsum: along one dim, the shape stays. */
static bool infer_along_dim(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);
	bool cumulates = in->op == OP_cumsum || in->op == OP_cumprod;
	enum dtype dtype = infer_dtype_arg(in, cumulates ? summed(x->dtype) : x->dtype);
	int dim;

	in->out->dtype = in->out->compute = dtype;
	in->out->shape = x->shape;
	if (arg_named(in->info, in->args, "dim")->kind == ARG_NONE)
		return op_accepts(in->op, dtype, in->err);
	return op_accepts(in->op, dtype, in->err) &&
	       infer_dim(in, &x->shape, arg_named(in->info, in->args, "dim")->sym, &dim);
}

static bool infer_alpha(struct infer *in)
{
	const struct arg *alpha = &in->args[2];
	enum dtype dtype = infer_promote(in, 0, 2);

	if (!op_accepts(in->op, subtracts_bool(in) ? DTYPE_BOOL : dtype, in->err))
		return false;
	if ((alpha->kind == ARG_FLOAT || alpha->kind == ARG_REAL) &&
	    dtype_category(dtype) != CATEGORY_FLOAT)
		return err_set(in->err, ERR_DTYPE,
			       "%s: `alpha` is a float, and both operands are ints; use an int "
			       "alpha, or multiply first",
			       in->info->fx);
	if (alpha->kind == ARG_BOOL && dtype != DTYPE_BOOL)
		return err_set(in->err, ERR_DTYPE, "%s: `alpha` is a bool; use an int or a float",
			       in->info->fx);
	in->out->dtype = in->out->compute = dtype;
	return broadcast_args(in, 2);
}

static bool infer_clamp(struct infer *in)
{
	if (in->args[1].kind == ARG_NONE && in->args[2].kind == ARG_NONE)
		return err_set(in->err, ERR_OP, "clamp: give `min`, `max`, or both");
	in->out->dtype = in->out->compute = infer_promote(in, 0, 3);
	return op_accepts(in->op, in->out->dtype, in->err) && broadcast_args(in, 3);
}

/* gelu, silu */
static bool infer_activation(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);

	if (in->op == OP_gelu && strcmp(in->args[1].str, "none") != 0 &&
	    strcmp(in->args[1].str, "tanh") != 0)
		return err_set(in->err, ERR_OP,
			       "gelu: approximate='%.32s' is unknown; use 'none' or 'tanh'",
			       in->args[1].str);
	in->out->dtype = in->out->compute = x->dtype;
	in->out->shape = x->shape;
	return op_accepts(in->op, x->dtype, in->err);
}

bool infer_alike(struct infer *in, int first, int end)
{
	const struct node *x = NULL;

	for (int i = first; i < end; i++) {
		const struct node *y = infer_tensor(in, i);

		if (x && y && x->dtype != y->dtype)
			return err_set(in->err, ERR_DTYPE,
				       "%s: the operands are %s and %s, and must have one dtype; "
				       "call .to(torch.%s) on one",
				       in->info->fx, dtype_name(x->dtype), dtype_name(y->dtype),
				       dtype_name(dtype_promote(x->dtype, y->dtype)));
		x = x ? x : y;
	}
	return true;
}

static enum dtype number_dtype(const struct infer *in, const struct arg *arg)
{
	return arg->kind == ARG_FLOAT  ? in->g->real
	       : arg->kind == ARG_BOOL ? DTYPE_BOOL
				       : DTYPE_I64;
}

static bool infer_create(struct infer *in)
{
	const struct arg *sizes = &in->args[0];

	in->out->dtype = in->out->compute = infer_dtype_arg(
	    in, in->op == OP_full ? number_dtype(in, &in->args[1]) : in->g->real);
	if (sizes->n > MAX_RANK)
		return err_set(in->err, ERR_BOUND, "%s: %d dims; %d are the most", in->info->fx,
			       sizes->n, MAX_RANK);
	in->out->shape.rank = sizes->n;
	for (int i = 0; i < sizes->n; i++) {
		in->out->shape.size[i] = sizes->ints[i];
		if (sym_is_const(sizes->ints[i]) && sizes->ints[i]->value < 0)
			return err_set(in->err, ERR_OP, "%s: size %lld of dim %d is negative",
				       in->info->fx, (long long)sizes->ints[i]->value, i);
	}
	return true;
}

/* to, zeros_like, ones_like: the shape of x in another dtype. */
static bool infer_like(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);

	in->out->dtype = infer_dtype_arg(in, x->dtype);
	in->out->compute = in->op == OP_to ? x->dtype : in->out->dtype;
	in->out->shape = x->shape;
	return true;
}

/* The promoted dtype of the tensors, as the rule changes it. */
static bool custom_dtype(struct infer *in, const struct custom_op *op)
{
	struct promotion p = PROMOTION_NONE;
	enum dtype dtype;

	for (int i = 1; i <= op->info.n_params; i++)
		if (in->args[i].kind == ARG_NODE)
			promotion_add(&p, in->g, &in->args[i]);
	dtype = promotion_result(&p, in->g);
	if (op->info.rule == RULE_FLOAT && dtype_category(dtype) != CATEGORY_FLOAT)
		dtype = in->g->real;
	in->out->compute = dtype;
	in->out->dtype = op->info.rule == RULE_BOOL ? DTYPE_BOOL : dtype;
	return true;
}

/* An op of a plugin. */
static bool infer_custom(struct infer *in)
{
	const struct custom_op *op = custom_find(in->g->custom, in->args[0].str);

	if (!op)
		return err_set(in->err, ERR_INTERNAL, "there is no op '%.64s' of a plugin",
			       in->args[0].str);
	if (op->shape == CUSTOM_FIRST)
		in->out->shape = in->g->nodes[in->args[1].node]->shape;
	for (int i = 1; op->shape == CUSTOM_BROADCAST && i <= op->info.n_params; i++)
		if (in->args[i].kind == ARG_NODE &&
		    !infer_broadcast(in, &in->out->shape, &in->g->nodes[in->args[i].node]->shape))
			return false;
	return custom_dtype(in, op);
}

/* The rules of this file. */
static infer_fn *const rules[OP_COUNT] = {
#define UNARY(id, ...) [OP_##id] = infer_pointwise,
#define BINARY(id, ...) [OP_##id] = infer_pointwise,
#define REDUCE(id, ...) [OP_##id] = infer_reduce,
#define RULE_infer(word) infer_##word
#include "fusion/graph/infer_rules.h"
};

/* Where the others are. */
static infer_fn *const *const others[OP_COUNT] = {
#define TABLE(file) file##_rules
#define RULE_einsum(word) TABLE(einsum)
#define RULE_index(word) TABLE(index)
#define RULE_library(word) TABLE(library)
#define RULE_loop(word) TABLE(loop)
#define RULE_loss(word) TABLE(loss)
#define RULE_view(word) TABLE(view)
#define RULE_window(word) TABLE(window)
#include "fusion/graph/infer_rules.h"
};

static bool infer_op(struct infer *in)
{
	infer_fn *rule = others[in->op] ? others[in->op][in->op] : rules[in->op];

	if (!rule)
		return err_set(in->err, ERR_INTERNAL, "%s: no rule of inference", in->info->id);
	if (in->info->kind == KIND_VIEW)
		in->out->dtype = in->out->compute = infer_tensor(in, 0)->dtype;
	return rule(in);
}

bool op_infer(const struct graph *g, enum op op, const struct arg *args, struct op_result *out,
	      struct err *err)
{
	struct infer in = { g, op_info(op), op, args, out, err };

	*out = (struct op_result){ .dtype = DTYPE_F32 };
	if (!infer_alike(&in, 0, op_alike(op)) || !infer_op(&in))
		return false;
	for (int i = 0; i < out->shape.rank; i++)
		if (!out->shape.size[i])
			return err_set(err, ERR_MEMORY, "out of memory while building a graph");
	return true;
}

const struct arg *node_arg(const struct node *n, const char *name)
{
	return arg_named(op_info(n->op), n->args, name);
}

unsigned node_reduced(const struct graph *g, const struct node *n)
{
	const struct arg *dims = node_arg(n, "dim");
	const struct arg all = arg_none();
	struct infer in = { .g = g, .info = op_info(n->op), .op = n->op, .args = n->args };
	unsigned mask = 0;

	dims_mask(&in, &g->nodes[n->args[0].node]->shape, dims ? dims : &all, &mask);
	return mask;
}

bool node_keepdim(const struct node *n)
{
	const struct arg *keepdim = node_arg(n, "keepdim");

	return keepdim && keepdim->b;
}
