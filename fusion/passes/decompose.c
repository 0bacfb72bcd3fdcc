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

#include "fusion/passes/pass.h"

struct expand {
	struct graph *g;
	const struct node *n;
	struct err *err;
	bool failed; /* *err is set; what follows does nothing */
};

typedef struct arg decompose_fn(struct expand *e);

static struct arg put(struct expand *e, enum op op, const struct arg *args, int n)
{
	int id = e->failed ? -1 : graph_add(e->g, op, args, n, e->n->line, e->n->column, e->err);

	e->failed = id < 0;
	return e->failed ? arg_none() : arg_node(id);
}

static struct arg unary(struct expand *e, enum op op, struct arg x)
{
	return put(e, op, &x, 1);
}

static struct arg binary(struct expand *e, enum op op, struct arg x, struct arg y)
{
	return put(e, op, (struct arg[]){ x, y }, 2);
}

/* `dims` as the node has them: ARG_INT, ARG_INTS or none for all. */
static struct arg reduce(struct expand *e, enum op op, struct arg x, struct arg dims, bool keepdim)
{
	return put(e, op, (struct arg[]){ x, dims, arg_bool(keepdim) }, 3);
}

static struct arg cast(struct expand *e, struct arg x, enum dtype dtype)
{
	if (e->failed || e->g->nodes[x.node]->dtype == dtype)
		return x;
	return put(e, OP_to, (struct arg[]){ x, arg_dtype(dtype) }, 2);
}

static struct arg named(const struct expand *e, const char *name)
{
	return *node_arg(e->n, name);
}

static const struct node *operand(const struct expand *e)
{
	return e->g->nodes[e->n->args[0].node];
}

/* How many elements one result of the node is made of. */
static const struct sym *reduced_count(const struct expand *e)
{
	const struct shape *x = &operand(e)->shape;
	const struct sym *count = sym_const(e->g->syms, 1);
	unsigned mask = node_reduced(e->g, e->n);

	for (int i = 0; i < x->rank; i++)
		if (mask & 1u << i)
			count = sym_mul(e->g->syms, count, x->size[i]);
	return count;
}

static struct arg mean_of(struct expand *e, struct arg x, struct arg dims, bool keepdim,
			  const struct sym *count)
{
	return binary(e, OP_truediv, reduce(e, OP_sum, x, dims, keepdim), arg_sym(count));
}

static struct arg decompose_mean(struct expand *e)
{
	struct arg x = cast(e, e->n->args[0], e->n->dtype);

	return mean_of(e, x, named(e, "dim"), node_keepdim(e->n), reduced_count(e));
}

/* max(0, count - correction), as torch divides by. */
static struct arg degrees_of_freedom(struct expand *e)
{
	struct symtab *t = e->g->syms;
	struct arg unbiased = named(e, "unbiased"), correction = named(e, "correction");
	const struct sym *count = reduced_count(e);
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
	return binary(
	    e, OP_maximum,
	    binary(e, OP_sub,
		   put(e, OP_full,
		       (struct arg[]){ arg_ints(NULL, 0), arg_sym(count), arg_dtype(e->n->dtype) },
		       3),
		   correction),
	    arg_float(0));
}

static struct arg decompose_var(struct expand *e)
{
	struct arg x = e->n->args[0], dims = named(e, "dim");
	struct arg mean = mean_of(e, x, dims, true, reduced_count(e));
	struct arg square = unary(e, OP_square, binary(e, OP_sub, x, mean));

	return binary(e, OP_truediv, reduce(e, OP_sum, square, dims, node_keepdim(e->n)),
		      degrees_of_freedom(e));
}

static struct arg decompose_std(struct expand *e)
{
	return unary(e, OP_sqrt, decompose_var(e));
}

static double number(struct arg p)
{
	if (p.kind == ARG_FLOAT)
		return p.f;
	return p.kind == ARG_BOOL ? p.b : sym_is_const(p.sym) ? (double)p.sym->value : NAN;
}

static struct arg decompose_norm(struct expand *e)
{
	struct arg x = e->n->args[0], dims = named(e, "dim");
	bool keepdim = node_keepdim(e->n);
	double p = number(named(e, "p"));
	struct arg sum;

	if (p == 2)
		return unary(e, OP_sqrt, reduce(e, OP_sum, unary(e, OP_square, x), dims, keepdim));
	if (p == 0)
		return reduce(e, OP_sum, cast(e, binary(e, OP_ne, x, arg_float(0)), e->n->dtype),
			      dims, keepdim);
	x = unary(e, OP_abs, x);
	if (isinf(p))
		return reduce(e, p > 0 ? OP_amax : OP_amin, x, dims, keepdim);
	if (p == 1)
		return reduce(e, OP_sum, x, dims, keepdim);
	sum = reduce(e, OP_sum, binary(e, OP_pow, x, arg_float(p)), dims, keepdim);
	return binary(e, OP_pow, sum, arg_float(1 / p));
}

static struct arg decompose_max(struct expand *e)
{
	return reduce(e, OP_amax, e->n->args[0], arg_none(), false);
}

static struct arg decompose_min(struct expand *e)
{
	return reduce(e, OP_amin, e->n->args[0], arg_none(), false);
}

/* x less its largest along dim: no exp() of it overflows. */
static struct arg less_largest(struct expand *e, struct arg x)
{
	return binary(e, OP_sub, x, reduce(e, OP_amax, x, named(e, "dim"), true));
}

static bool is_empty(const struct shape *s)
{
	for (int i = 0; i < s->rank; i++)
		if (sym_is(s->size[i], 0))
			return true;
	return false;
}

static struct arg decompose_softmax(struct expand *e)
{
	struct arg x = cast(e, e->n->args[0], e->n->dtype);
	struct arg power;

	if (is_empty(&e->n->shape)) /* there is no largest of nothing */
		return x;
	power = unary(e, OP_exp, less_largest(e, x));
	return binary(e, OP_truediv, power, reduce(e, OP_sum, power, named(e, "dim"), true));
}

static struct arg decompose_log_softmax(struct expand *e)
{
	struct arg x = cast(e, e->n->args[0], e->n->dtype);
	struct arg sum;

	if (is_empty(&e->n->shape))
		return x;
	x = less_largest(e, x);
	sum = reduce(e, OP_sum, unary(e, OP_exp, x), named(e, "dim"), true);
	return binary(e, OP_sub, x, unary(e, OP_log, sum));
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
	struct arg mean = mean_of(e, unary(e, OP_square, x), dims, true, count);

	return binary(e, OP_mul, x, unary(e, OP_rsqrt, binary(e, OP_add, mean, arg_float(eps))));
}

static struct arg affine(struct expand *e, struct arg x)
{
	const struct arg *weight = node_arg(e->n, "weight"), *bias = node_arg(e->n, "bias");

	if (weight && weight->kind == ARG_NODE)
		x = binary(e, OP_mul, x, *weight);
	if (bias && bias->kind == ARG_NODE)
		x = binary(e, OP_add, x, *bias);
	return x;
}

static struct arg decompose_layer_norm(struct expand *e)
{
	const struct sym *count;
	struct arg dims = last_dims(e, &count), x = e->n->args[0];

	x = binary(e, OP_sub, x, mean_of(e, x, dims, true, count));
	return affine(e, scaled(e, x, dims, count, named(e, "eps").f));
}

static struct arg decompose_rms_norm(struct expand *e)
{
	const struct sym *count;
	struct arg dims = last_dims(e, &count), eps = named(e, "eps");

	if (eps.kind == ARG_NONE)
		eps = arg_float(e->n->dtype == DTYPE_F64 ? DBL_EPSILON : (double)FLT_EPSILON);
	return affine(e, scaled(e, e->n->args[0], dims, count, eps.f));
}

static struct arg decompose_gelu(struct expand *e)
{
	struct arg x = e->n->args[0], half = binary(e, OP_mul, x, arg_float(0.5)), inner;

	if (strcmp(e->n->args[1].str, "tanh")) {
		inner = unary(e, OP_erf, binary(e, OP_mul, x, arg_float(M_SQRT1_2)));
	} else {
		inner = binary(e, OP_mul, unary(e, OP_square, x), x);
		inner = binary(e, OP_add, x, binary(e, OP_mul, inner, arg_float(0.044715)));
		inner = binary(e, OP_mul, inner, arg_float(M_SQRT2 * M_2_SQRTPI * 0.5));
		inner = unary(e, OP_tanh, inner);
	}
	return binary(e, OP_mul, half, binary(e, OP_add, inner, arg_float(1)));
}

/* x / (1 + exp(-x)): at -inf it is NaN in torch too. */
static struct arg decompose_silu(struct expand *e)
{
	struct arg x = e->n->args[0], power = unary(e, OP_exp, unary(e, OP_neg, x));

	return binary(e, OP_truediv, x, binary(e, OP_add, power, arg_float(1)));
}

static struct arg decompose_clamp(struct expand *e)
{
	struct arg x = cast(e, e->n->args[0], e->n->dtype);
	struct arg min = named(e, "min"), max = named(e, "max");

	if (min.kind != ARG_NONE)
		x = binary(e, OP_maximum, x, min);
	if (max.kind != ARG_NONE)
		x = binary(e, OP_minimum, x, max);
	return x;
}

/* alpha * other, where other is a number and x the tensor. */
static struct arg scaled_number(struct expand *e, struct arg other, struct arg alpha)
{
	double product = number(other) * number(alpha);

	if (other.kind == ARG_INT && alpha.kind == ARG_INT)
		return arg_sym(sym_mul(e->g->syms, other.sym, alpha.sym));
	if (other.kind == ARG_BOOL && alpha.kind == ARG_BOOL)
		return arg_bool(other.b && alpha.b);
	if ((other.kind == ARG_INT && !sym_is_const(other.sym)) ||
	    (alpha.kind == ARG_INT && !sym_is_const(alpha.sym)))
		return binary(
		    e, OP_mul,
		    put(e, OP_full,
			(struct arg[]){ arg_ints(NULL, 0), other, arg_dtype(e->n->dtype) }, 3),
		    alpha);
	if (other.kind == ARG_FLOAT || alpha.kind == ARG_FLOAT)
		return arg_float(product);
	return arg_int(e->g, (int64_t)product);
}

static struct arg with_alpha(struct expand *e, enum op op)
{
	struct arg x = e->n->args[0], other = e->n->args[1], alpha = e->n->args[2];

	if (other.kind == ARG_NODE)
		other = binary(e, OP_mul, cast(e, other, e->n->dtype), alpha);
	else
		other = scaled_number(e, other, alpha);
	return binary(e, op, x, other);
}

static struct arg decompose_add_alpha(struct expand *e)
{
	return with_alpha(e, OP_add);
}

static struct arg decompose_sub_alpha(struct expand *e)
{
	return with_alpha(e, OP_sub);
}

static struct arg filled(struct expand *e, enum op op)
{
	return put(
	    e, op,
	    (struct arg[]){ arg_ints(e->n->shape.size, e->n->shape.rank), arg_dtype(e->n->dtype) },
	    2);
}

static struct arg decompose_zeros_like(struct expand *e)
{
	return filled(e, OP_zeros);
}

static struct arg decompose_ones_like(struct expand *e)
{
	return filled(e, OP_ones);
}

static decompose_fn *const functions[OP_COUNT] = {
#define UNARY(...)
#define BINARY(...)
#define TERNARY(...)
#define REDUCE(...)
#define COMPOSITE(id, spellings, signature, doc) [OP_##id] = decompose_##id,
#define CAST(...)
#define CONSTANT(...)
#define CREATE(...)
#define LIBRARY(...)
#define VIEW(...)
#define JOIN(...)
#define INTERNAL(...)
#include "fusion/graph/ops.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef REDUCE
#undef COMPOSITE
#undef CAST
#undef CONSTANT
#undef CREATE
#undef LIBRARY
#undef VIEW
#undef JOIN
#undef INTERNAL
};

static int expand_node(struct rewrite *rw, struct node *n, struct err *err)
{
	struct expand e = { .g = rw->g, .n = n, .err = err };
	int before = rw->g->n_nodes;
	struct node *made;
	struct arg value;

	if (!functions[n->op])
		return REWRITE_KEEP;
	value = cast(&e, functions[n->op](&e), n->dtype);
	if (e.failed)
		return REWRITE_FAILED;
	made = rw->g->nodes[value.node];
	if (made->dtype != n->dtype || !shape_equal(&made->shape, &n->shape)) {
		err_set(err, ERR_INTERNAL, "decompose: %s becomes %s of another shape or dtype",
			n->name, made->name);
		return REWRITE_FAILED;
	}
	if (value.node >= before)
		made->name = n->name;
	return value.node;
}

/* needs: nothing; keeps: values within float rounding; makes: a graph without
 * COMPOSITE nodes */
bool pass_decompose(struct graph *g, bool *changed, struct err *err)
{
	return rewrite_run(g, expand_node, NULL, changed, err);
}
