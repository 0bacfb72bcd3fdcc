/* fusion/passes/decompose.c -- COMPOSITE rows become primitive ops.
 *
 * decompose_<id>() for each COMPOSITE row of ops.def.  The formulas are those
 * of PyTorch's CPU kernels, so that results agree within float rounding: var is
 * two-pass, softmax subtracts the largest first.  Counts of elements may be
 * symbolic: they stand as int operands.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "fusion/graph/custom.h"
#include "fusion/passes/decompose.h"

struct arg expand_op(struct expand *e, enum op op, const struct arg *args, int n)
{
	int id = e->failed ? -1 : graph_add(e->g, op, args, n, e->n->line, e->n->column, e->err);

	e->failed = id < 0;
	return e->failed ? arg_none() : arg_node(id);
}

struct arg expand_unary(struct expand *e, enum op op, struct arg x)
{
	return expand_op(e, op, &x, 1);
}

struct arg expand_binary(struct expand *e, enum op op, struct arg x, struct arg y)
{
	return expand_op(e, op, (struct arg[]){ x, y }, 2);
}

struct arg expand_divisor(struct expand *e, struct arg y)
{
	if (e->failed || e->g->divides_freely || y.kind != ARG_NODE ||
	    dtype_category(e->n->dtype) != CATEGORY_INT || e->g->nodes[y.node]->op == OP_divisor)
		return y;
	return expand_unary(e, OP_divisor, y);
}

/* `dims` as the node has them: ARG_INT, ARG_INTS or none for all. */
struct arg expand_reduce(struct expand *e, enum op op, struct arg x, struct arg dims, bool keepdim)
{
	return expand_op(e, op, (struct arg[]){ x, dims, arg_bool(keepdim) }, 3);
}

struct arg expand_cast(struct expand *e, struct arg x, enum dtype dtype)
{
	if (e->failed || e->g->nodes[x.node]->dtype == dtype)
		return x;
	return expand_op(e, OP_to, (struct arg[]){ x, arg_dtype(dtype) }, 2);
}

struct arg expand_arg(const struct expand *e, const char *name)
{
	return *node_arg(e->n, name);
}

const struct node *expand_operand(const struct expand *e)
{
	return e->g->nodes[e->n->args[0].node];
}

/* How many elements one result of the node is made of. */
const struct sym *expand_count(const struct expand *e)
{
	const struct shape *x = &expand_operand(e)->shape;
	const struct sym *count = sym_const(e->g->syms, 1);
	unsigned mask = node_reduced(e->g, e->n);

	for (int i = 0; i < x->rank; i++)
		if (mask & 1u << i)
			count = sym_mul(e->g->syms, count, x->size[i]);
	return count;
}

struct arg expand_mean(struct expand *e, struct arg x, struct arg dims, bool keepdim,
		       const struct sym *count)
{
	return expand_binary(e, OP_truediv, expand_reduce(e, OP_sum, x, dims, keepdim),
			     arg_sym(count));
}

struct arg decompose_mean(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);

	return expand_mean(e, x, expand_arg(e, "dim"), node_keepdim(e->n), expand_count(e));
}

/* max(0, count - correction), as torch divides by. */
static struct arg degrees_of_freedom(struct expand *e)
{
	struct symtab *t = e->g->syms;
	struct arg unbiased = expand_arg(e, "unbiased"), correction = expand_arg(e, "correction");
	const struct sym *count = expand_count(e);
	const struct sym *minus = sym_const(t, 1);

	if (unbiased.kind == ARG_BOOL)
		minus = sym_const(t, unbiased.b);
	else if (correction.kind == ARG_BOOL)
		minus = sym_const(t, correction.b);
	else if (correction.kind == ARG_INT)
		minus = correction.sym;
	if (correction.kind != ARG_FLOAT)
		return arg_sym(sym_max(t, sym_const(t, 0), sym_sub(t, count, minus)));
	if (count && sym_is_const(count))
		return arg_float(fmax(0, (double)count->value - correction.f));
	/* A symbolic count less a fraction: a 0-d tensor. */
	return expand_binary(
	    e, OP_maximum,
	    expand_binary(e, OP_sub,
			  expand_op(e, OP_full,
				    (struct arg[]){ arg_ints(NULL, 0), arg_sym(count),
						    arg_dtype(e->n->dtype) },
				    3),
			  correction),
	    arg_float(0));
}

struct arg decompose_var(struct expand *e)
{
	struct arg x = e->n->args[0], dims = expand_arg(e, "dim");
	struct arg mean = expand_mean(e, x, dims, true, expand_count(e));
	struct arg square = expand_unary(e, OP_square, expand_binary(e, OP_sub, x, mean));

	return expand_binary(e, OP_truediv,
			     expand_reduce(e, OP_sum, square, dims, node_keepdim(e->n)),
			     degrees_of_freedom(e));
}

struct arg decompose_std(struct expand *e)
{
	return expand_unary(e, OP_sqrt, decompose_var(e));
}

double expand_number(struct arg p)
{
	if (p.kind == ARG_FLOAT)
		return p.f;
	return p.kind == ARG_BOOL ? p.b : sym_is_const(p.sym) ? (double)p.sym->value : NAN;
}

struct arg decompose_norm(struct expand *e)
{
	struct arg x = e->n->args[0], dims = expand_arg(e, "dim");
	bool keepdim = node_keepdim(e->n);
	double p = expand_number(expand_arg(e, "p"));
	struct arg sum;

	if (p == 2)
		return expand_unary(
		    e, OP_sqrt,
		    expand_reduce(e, OP_sum, expand_unary(e, OP_square, x), dims, keepdim));
	if (p == 0)
		return expand_reduce(
		    e, OP_sum,
		    expand_cast(e, expand_binary(e, OP_ne, x, arg_float(0)), e->n->dtype), dims,
		    keepdim);
	x = expand_unary(e, OP_abs, x);
	if (isinf(p))
		return expand_reduce(e, p > 0 ? OP_amax : OP_amin, x, dims, keepdim);
	if (p == 1)
		return expand_reduce(e, OP_sum, x, dims, keepdim);
	sum = expand_reduce(e, OP_sum, expand_binary(e, OP_pow, x, arg_float(p)), dims, keepdim);
	return expand_binary(e, OP_pow, sum, arg_float(1 / p));
}

struct arg decompose_max(struct expand *e)
{
	return expand_reduce(e, OP_amax, e->n->args[0], arg_none(), false);
}

struct arg decompose_min(struct expand *e)
{
	return expand_reduce(e, OP_amin, e->n->args[0], arg_none(), false);
}

/* The dim of softmax; None is the one that old programs meant by it. */
static struct arg softmax_dim(const struct expand *e)
{
	struct arg dim = expand_arg(e, "dim");
	int rank = e->n->shape.rank;

	return dim.kind == ARG_NONE ? arg_int(e->g, rank > 1 && rank != 3) : dim;
}

/* x less its largest along dim: no exp() of it overflows. */
static struct arg less_largest(struct expand *e, struct arg x)
{
	return expand_binary(e, OP_sub, x, expand_reduce(e, OP_amax, x, softmax_dim(e), true));
}

bool expand_is_empty(const struct shape *s)
{
	for (int i = 0; i < s->rank; i++)
		if (sym_is(s->size[i], 0))
			return true;
	return false;
}

struct arg decompose_softmax(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);
	struct arg power;

	if (expand_is_empty(&e->n->shape)) /* there is no largest of nothing */
		return x;
	power = expand_unary(e, OP_exp, less_largest(e, x));
	return expand_binary(e, OP_truediv, power,
			     expand_reduce(e, OP_sum, power, softmax_dim(e), true));
}

struct arg decompose_softmin(struct expand *e)
{
	struct arg x = expand_unary(e, OP_neg, expand_cast(e, e->n->args[0], e->n->dtype));
	struct arg power;

	if (expand_is_empty(&e->n->shape))
		return x;
	power = expand_unary(e, OP_exp, less_largest(e, x));
	return expand_binary(e, OP_truediv, power,
			     expand_reduce(e, OP_sum, power, softmax_dim(e), true));
}

struct arg decompose_log_softmax(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);
	struct arg sum;

	if (expand_is_empty(&e->n->shape))
		return x;
	x = less_largest(e, x);
	sum = expand_reduce(e, OP_sum, expand_unary(e, OP_exp, x), softmax_dim(e), true);
	return expand_binary(e, OP_sub, x, expand_unary(e, OP_log, sum));
}

/* The dims of normalized_shape, counted from the last. */
static struct arg last_dims(struct expand *e, const struct sym **count)
{
	const struct arg *sizes = &e->n->args[1];
	const struct sym **dims = ARENA_ARRAY(e->g->arena, const struct sym *, (size_t)sizes->n);

	*count = sym_const(e->g->syms, 1);
	if (!dims) {
		e->failed = !pass_out_of_memory(e->err);
		return arg_none();
	}
	for (int i = 0; i < sizes->n; i++) {
		dims[i] = sym_const(e->g->syms, i - sizes->n);
		*count = sym_mul(e->g->syms, *count, sizes->ints[i]);
	}
	return arg_ints(dims, sizes->n);
}

/* x * 1 / sqrt(mean(x * x) + eps) over `dims` */
static struct arg scaled(struct expand *e, struct arg x, struct arg dims, const struct sym *count,
			 double eps)
{
	struct arg mean = expand_mean(e, expand_unary(e, OP_square, x), dims, true, count);

	return expand_binary(
	    e, OP_mul, x,
	    expand_unary(e, OP_rsqrt, expand_binary(e, OP_add, mean, arg_float(eps))));
}

static struct arg affine(struct expand *e, struct arg x)
{
	const struct arg *weight = node_arg(e->n, "weight"), *bias = node_arg(e->n, "bias");

	if (weight && weight->kind == ARG_NODE)
		x = expand_binary(e, OP_mul, x, *weight);
	if (bias && bias->kind == ARG_NODE)
		x = expand_binary(e, OP_add, x, *bias);
	return x;
}

struct arg decompose_layer_norm(struct expand *e)
{
	const struct sym *count;
	struct arg dims = last_dims(e, &count), x = e->n->args[0];

	x = expand_binary(e, OP_sub, x, expand_mean(e, x, dims, true, count));
	return affine(e, scaled(e, x, dims, count, expand_arg(e, "eps").f));
}

struct arg decompose_rms_norm(struct expand *e)
{
	const struct sym *count;
	struct arg dims = last_dims(e, &count), eps = expand_arg(e, "eps");

	if (eps.kind == ARG_NONE)
		eps = arg_float(e->n->dtype == DTYPE_F64 ? DBL_EPSILON : (double)FLT_EPSILON);
	return affine(e, scaled(e, e->n->args[0], dims, count, eps.f));
}

struct arg decompose_gelu(struct expand *e)
{
	struct arg x = e->n->args[0], half = expand_binary(e, OP_mul, x, arg_float(0.5)), inner;

	if (strcmp(e->n->args[1].str, "tanh") != 0) {
		inner = expand_unary(e, OP_erf, expand_binary(e, OP_mul, x, arg_float(M_SQRT1_2)));
	} else {
		inner = expand_binary(e, OP_mul, expand_unary(e, OP_square, x), x);
		inner = expand_binary(e, OP_add, x,
				      expand_binary(e, OP_mul, inner, arg_float(0.044715)));
		inner = expand_binary(e, OP_mul, inner, arg_float(M_SQRT2 * M_2_SQRTPI * 0.5));
		inner = expand_unary(e, OP_tanh, inner);
	}
	return expand_binary(e, OP_mul, half, expand_binary(e, OP_add, inner, arg_float(1)));
}

/* x / (1 + exp(-x)): at -inf it is NaN in torch too. */
struct arg decompose_silu(struct expand *e)
{
	struct arg x = e->n->args[0], power = expand_unary(e, OP_exp, expand_unary(e, OP_neg, x));

	return expand_binary(e, OP_truediv, x, expand_binary(e, OP_add, power, arg_float(1)));
}

struct arg decompose_clamp(struct expand *e)
{
	struct arg x = expand_cast(e, e->n->args[0], e->n->dtype);
	struct arg min = expand_arg(e, "min"), max = expand_arg(e, "max");

	if (min.kind != ARG_NONE)
		x = expand_binary(e, OP_maximum, x, min);
	if (max.kind != ARG_NONE)
		x = expand_binary(e, OP_minimum, x, max);
	return x;
}

/* alpha * other, where other is a number and x the tensor. */
static struct arg scaled_number(struct expand *e, struct arg other, struct arg alpha)
{
	double product = expand_number(other) * expand_number(alpha);

	if (other.kind == ARG_INT && alpha.kind == ARG_INT)
		return arg_sym(sym_mul(e->g->syms, other.sym, alpha.sym));
	if (other.kind == ARG_BOOL && alpha.kind == ARG_BOOL)
		return arg_bool(other.b && alpha.b);
	if ((other.kind == ARG_INT && !sym_is_const(other.sym)) ||
	    (alpha.kind == ARG_INT && !sym_is_const(alpha.sym)))
		return expand_binary(
		    e, OP_mul,
		    expand_op(e, OP_full,
			      (struct arg[]){ arg_ints(NULL, 0), other, arg_dtype(e->n->dtype) },
			      3),
		    alpha);
	if (other.kind == ARG_FLOAT || alpha.kind == ARG_FLOAT)
		return arg_float(product);
	return arg_int(e->g, (int64_t)product);
}

static struct arg with_alpha(struct expand *e, enum op op)
{
	struct arg x = e->n->args[0], other = e->n->args[1], alpha = e->n->args[2];

	if (other.kind == ARG_NODE)
		other = expand_binary(e, OP_mul, expand_cast(e, other, e->n->dtype), alpha);
	else
		other = scaled_number(e, other, alpha);
	return expand_binary(e, op, x, other);
}

struct arg decompose_add_alpha(struct expand *e)
{
	return with_alpha(e, OP_add);
}

struct arg decompose_sub_alpha(struct expand *e)
{
	return with_alpha(e, OP_sub);
}

static struct arg filled(struct expand *e, enum op op)
{
	return expand_op(
	    e, op,
	    (struct arg[]){ arg_ints(e->n->shape.size, e->n->shape.rank), arg_dtype(e->n->dtype) },
	    2);
}

struct arg decompose_zeros_like(struct expand *e)
{
	return filled(e, OP_zeros);
}

struct arg decompose_ones_like(struct expand *e)
{
	return filled(e, OP_ones);
}

/* An op of a plugin: as the plugin writes it, or by the plugin's kernel. */
struct arg decompose_custom(struct expand *e)
{
	const struct custom_op *op = custom_of(e->g, e->n);
	int id;

	if (!op->expand)
		return expand_op(e, OP_custom_kernel, e->n->args, e->n->n_args);
	id = op->expand(op, e->g, e->n, e->err);
	e->failed = id < 0;
	return e->failed ? arg_none() : arg_node(id);
}

static decompose_fn *const functions[OP_COUNT] = {
#define COMPOSITE(id, spellings, signature, ...) [OP_##id] = decompose_##id,
#include "fusion/graph/ops_some.h"
};

/* Composites of float16 and bfloat16 are computed in float32 and rounded once,
 * but for products, which sum in float32 anyway, and what only moves elements. */
static bool computes_wide(const struct node *n)
{
	enum dtype wide = dtype_wide(n->dtype);

	return wide != n->dtype && dtype_category(wide) == CATEGORY_FLOAT &&
	       !op_has(n->op, FACT_KEEPS_DTYPE) && n->args[0].kind == ARG_NODE;
}

/* A copy of n on float32. */
static bool widen(struct expand *e, struct node *wide)
{
	*wide = *e->n;
	wide->dtype = wide->compute = dtype_wide(e->n->dtype);
	for (int i = 0; i < wide->n_args; i++) {
		struct arg *arg = &wide->args[i];
		enum dtype dtype;

		if (arg->kind != ARG_NODE)
			continue;
		dtype = e->g->nodes[arg->node]->dtype;
		if (dtype_category(dtype) == CATEGORY_FLOAT)
			*arg = expand_cast(e, *arg, dtype_wide(dtype));
	}
	e->n = wide;
	return !e->failed;
}

static int expand_node(struct rewrite *rw, struct node *n, struct err *err)
{
	struct expand e = { .g = rw->g, .n = n, .err = err };
	int before = rw->g->n_nodes;
	struct node *made, wide;
	struct arg value;

	if (op_divides(n->op)) {
		value = expand_divisor(&e, n->args[1]);
		n->args[1] = value;
		return e.failed ? REWRITE_FAILED : REWRITE_KEEP;
	}
	if (!functions[n->op])
		return REWRITE_KEEP;
	if (computes_wide(n) && !widen(&e, &wide))
		return REWRITE_FAILED;
	value = expand_cast(&e, functions[n->op](&e), n->dtype);
	if (e.failed)
		return REWRITE_FAILED;
	made = rw->g->nodes[value.node];
	if (made->dtype != n->dtype || !shape_equal(&made->shape, &n->shape)) {
		err_set(err, ERR_INTERNAL, "decompose: %s becomes %s of another shape or dtype",
			n->name, made->name);
		return REWRITE_FAILED;
	}
	pass_fired(rw->g, n->op == OP_custom ? n->args[0].str : op_info(n->op)->id, n, NULL);
	if (value.node >= before)
		made->name = n->name;
	for (int id = before; id < e.g->n_nodes; id++)
		e.g->nodes[id]->detached |= n->detached;
	return value.node;
}

/* needs: nothing; keeps: values within float rounding; makes: a graph without
 * COMPOSITE nodes */
bool pass_decompose(struct graph *g, bool *changed, struct err *err)
{
	return rewrite_run(g, expand_node, NULL, changed, err);
}
