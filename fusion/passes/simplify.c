/* fusion/passes/simplify.c -- cheaper ops for the same values.
 *
 * A rule that looks at one node may round differently from the vector library
 * (x ** 0.5 becomes sqrt, as PyTorch does it), because eager runs this pass
 * over each op too: all modes still agree bit for bit.  A rule that looks at
 * several nodes must keep every bit, but for which NaN a NaN is.  So x + 0
 * stays for floats (it turns -0.0 into 0.0), and x * 0 stays (inf, NaN).
 */
#include <math.h>
#include <string.h>

#include "fusion/passes/fold.h"

struct rule {
	struct graph *g;
	struct node *n;
	struct err *err;
	const char **name; /* of the rule that fired, for who watches */
};

static int by(const struct rule *r, const char *name, int id)
{
	*r->name = name;
	return id;
}

static const struct node *operand(const struct rule *r, int i)
{
	return r->n->args[i].kind == ARG_NODE ? r->g->nodes[r->n->args[i].node] : NULL;
}

/* Operand i where it is computed by `op`, else NULL. */
static const struct node *operand_by(const struct rule *r, int i, enum op op)
{
	const struct node *x = operand(r, i);

	return x && x->op == op ? x : NULL;
}

static bool is_float(enum dtype dtype)
{
	return dtype_category(dtype) == CATEGORY_FLOAT;
}

/* A number among the arguments, as a double. */
static bool number(const struct rule *r, int i, double *out)
{
	const struct arg *arg = &r->n->args[i];

	if (arg->kind == ARG_FLOAT)
		*out = arg->f;
	else if (arg->kind == ARG_INT && sym_is_const(arg->sym))
		*out = (double)arg->sym->value;
	else
		return false;
	return true;
}

static bool is_number(const struct rule *r, int i, double value)
{
	double x;

	return number(r, i, &x) && x == value;
}

/* Argument i itself, where it has the dtype and shape of the result. */
static int forward(const struct rule *r, int i)
{
	const struct node *x = operand(r, i);

	return x && x->dtype == r->n->dtype && shape_equal(&x->shape, &r->n->shape) ? x->id
										    : REWRITE_KEEP;
}

static int make(const struct rule *r, enum op op, const struct arg *args, int n)
{
	return graph_add(r->g, &(struct node_spec){ op, args, n, r->n->line, r->n->column },
			 r->err);
}

static int make_unary(const struct rule *r, enum op op, int x)
{
	struct arg arg = arg_node(x);

	return x < 0 ? x : make(r, op, &arg, 1);
}

static int make_binary(const struct rule *r, enum op op, struct arg x, struct arg y)
{
	return make(r, op, (struct arg[]){ x, y }, 2);
}

/* Argument 0 in the dtype that the node computes in. */
static int computed_operand(const struct rule *r)
{
	const struct node *x = operand(r, 0);

	if (x->dtype == r->n->compute)
		return x->id;
	return make(r, OP_to, (struct arg[]){ arg_node(x->id), arg_dtype(r->n->compute) }, 2);
}

/* neg(neg(x)) and not(not(x)) are x. */
static int simplify_undo(const struct rule *r)
{
	const struct node *x = operand_by(r, 0, r->n->op);
	const struct node *inner = x ? r->g->nodes[x->args[0].node] : NULL;

	return by(r, "f(f(x)) is x",
		  inner && inner->dtype == r->n->dtype ? inner->id : REWRITE_KEEP);
}

static int simplify_not(const struct rule *r)
{
	const struct node *x = operand(r, 0);

	if (x->dtype == DTYPE_BOOL && (x->op == OP_eq || x->op == OP_ne)) /* NaN too */
		return by(r, "not x == y is x != y",
			  make_binary(r, x->op == OP_eq ? OP_ne : OP_eq, x->args[0], x->args[1]));
	return simplify_undo(r);
}

/* f(f(x)) is f(x); so is f(g(x)) where g leaves only what f does not change. */
static int simplify_idempotent(const struct rule *r)
{
	const struct node *x = operand(r, 0);
	enum op outer = r->n->op, inner = x->op;
	bool rounds = outer == OP_floor || outer == OP_ceil || outer == OP_round;
	bool positive = inner == OP_abs || inner == OP_square;

	if (rounds && !is_float(x->dtype))
		return by(r, "an int is round", x->id);
	if (inner == outer ||
	    (rounds && (inner == OP_floor || inner == OP_ceil || inner == OP_round)))
		return by(r, "f(f(x)) is f(x)", x->id);
	if ((outer == OP_relu || outer == OP_abs) && positive && is_float(x->dtype))
		return by(r, "x is positive already", x->id);
	if (outer == OP_abs && inner == OP_neg)
		return by(r, "abs(-x) is abs(x)", make_unary(r, OP_abs, x->args[0].node));
	return REWRITE_KEEP;
}

static int simplify_square(const struct rule *r)
{
	const struct node *x = operand(r, 0);

	if ((x->op == OP_neg || x->op == OP_abs) && x->dtype == r->n->dtype)
		return by(r, "square(-x) is square(x)", make_unary(r, OP_square, x->args[0].node));
	return REWRITE_KEEP;
}

/* 1 / sqrt(x): the value text of rsqrt is the same. */
static int simplify_reciprocal(const struct rule *r)
{
	const struct node *x = operand_by(r, 0, OP_sqrt);

	return by(r, "1 / sqrt(x) is rsqrt(x)",
		  x && x->dtype == r->n->dtype ? make_unary(r, OP_rsqrt, x->args[0].node)
					       : REWRITE_KEEP);
}

static int simplify_to(const struct rule *r)
{
	const struct node *x = operand(r, 0);
	enum dtype from;

	if (x->dtype == r->n->dtype)
		return by(r, "x has that dtype", x->id);
	if (x->op != OP_to)
		return REWRITE_KEEP;
	/* to(to(x, wide), t): the first step loses nothing from a bool, and from
	 * float32 to float64. */
	from = x->compute;
	if (from != DTYPE_BOOL && !(from == DTYPE_F32 && x->dtype == DTYPE_F64))
		return REWRITE_KEEP;
	if (from == r->n->dtype)
		return by(r, "to and back", x->args[0].node);
	return by(r, "two casts in one",
		  make(r, OP_to, (struct arg[]){ x->args[0], arg_dtype(r->n->dtype) }, 2));
}

/* x + 0 of ints; x + -0.0 of floats. */
static int simplify_add(const struct rule *r)
{
	double y;

	if (!number(r, 1, &y) || y != 0)
		return REWRITE_KEEP;
	if (!is_float(r->n->compute) || (r->n->args[1].kind == ARG_FLOAT && signbit(y)))
		return by(r, "x + 0 is x", forward(r, 0));
	return REWRITE_KEEP;
}

/* x - 0, but not x - -0.0 */
static int simplify_sub(const struct rule *r)
{
	double y;

	return by(r, "x - 0 is x",
		  number(r, 1, &y) && y == 0 && !signbit(y) ? forward(r, 0) : REWRITE_KEEP);
}

static int simplify_mul(const struct rule *r)
{
	const struct node *x = operand(r, 0);

	if (is_number(r, 1, 1))
		return by(r, "x * 1 is x", forward(r, 0));
	if (x && arg_equal(&r->n->args[0], &r->n->args[1]) && x->dtype != DTYPE_BOOL)
		return by(r, "x * x is square(x)", make_unary(r, OP_square, x->id));
	return REWRITE_KEEP;
}

/* Whether 1 / y is exact and normal: then x / y and x * (1 / y) round the same
 * real number. */
static bool has_exact_inverse(double y, enum dtype dtype)
{
	double least = dtype_wide(dtype) == DTYPE_F32 ? 0x1p-126 : 0x1p-1022;
	int exponent;

	return fabs(y) >= least && fabs(y) <= 1 / least && fabs(frexp(y, &exponent)) == 0.5;
}

static int simplify_truediv(const struct rule *r)
{
	const struct node *x;
	double y;

	if (is_number(r, 0, 1)) {
		x = operand(r, 1);
		if (!x || x->dtype != r->n->dtype)
			return REWRITE_KEEP;
		if (x->op == OP_sqrt)
			return by(r, "1 / sqrt(x) is rsqrt(x)",
				  make_unary(r, OP_rsqrt, x->args[0].node));
		return by(r, "1 / x is reciprocal(x)", make_unary(r, OP_reciprocal, x->id));
	}
	if (!number(r, 1, &y) || !operand(r, 0))
		return REWRITE_KEEP;
	if (y == 1)
		return by(r, "x / 1 is x", forward(r, 0));
	if (has_exact_inverse(y, r->n->compute))
		return by(r, "x / 2 is x * 0.5",
			  make_binary(r, OP_mul, r->n->args[0], arg_float(1 / y)));
	return REWRITE_KEEP;
}

static int ones(const struct rule *r)
{
	const struct shape *s = &r->n->shape;

	return make(r, OP_ones,
		    (struct arg[]){ arg_ints(s->size, s->rank), arg_dtype(r->n->dtype) }, 2);
}

/* x ** 2 or x ** 3 as products, as torch has them; exact for ints. */
static int power_by_products(const struct rule *r, double y)
{
	int x = computed_operand(r), square = make_unary(r, OP_square, x);

	if (square < 0 || y == 2)
		return square;
	return make_binary(r, OP_mul, arg_node(square), arg_node(x));
}

static int simplify_pow(const struct rule *r)
{
	double y;

	if (!operand(r, 0) || !number(r, 1, &y) ||
	    !shape_equal(&operand(r, 0)->shape, &r->n->shape))
		return REWRITE_KEEP;
	if (y == 0)
		return by(r, "x ** 0 is 1", ones(r)); /* of NaN too */
	if (y == 1)
		return by(r, "x ** 1 is x", computed_operand(r));
	if (y == 2 || y == 3)
		return by(r, "x ** 2, x ** 3 by products", power_by_products(r, y));
	if (!is_float(r->n->compute))
		return REWRITE_KEEP;
	if (y == 0.5)
		return by(r, "x ** 0.5 is sqrt(x)", make_unary(r, OP_sqrt, computed_operand(r)));
	if (y == -0.5)
		return by(r, "x ** -0.5 is rsqrt(x)", make_unary(r, OP_rsqrt, computed_operand(r)));
	if (y == -1)
		return by(r, "x ** -1 is reciprocal(x)",
			  make_unary(r, OP_reciprocal, computed_operand(r)));
	if (y == -2)
		return by(r, "x ** -2 is reciprocal(square(x))",
			  make_unary(r, OP_reciprocal, power_by_products(r, 2)));
	return REWRITE_KEEP;
}

/* f(x, x) is x. */
static int simplify_same(const struct rule *r)
{
	return by(r, "f(x, x) is x",
		  arg_equal(&r->n->args[0], &r->n->args[1]) ? forward(r, 0) : REWRITE_KEEP);
}

static int simplify_where(const struct rule *r)
{
	struct known_value mask;

	if (arg_equal(&r->n->args[1], &r->n->args[2]))
		return by(r, "where(m, x, x) is x", forward(r, 1));
	if (!known_arg(r->g, &r->n->args[0], &mask) || !mask.uniform)
		return REWRITE_KEEP;
	return by(r, "a mask that is the same everywhere", forward(r, mask.element.b ? 1 : 2));
}

/* An operand that is the same everywhere becomes a number, where dtype and
 * shape of the result stay what they are. */
static bool number_operand(const struct rule *r, int i)
{
	struct arg old = r->n->args[i];
	struct op_result result;
	struct known_value known;

	if (r->n->op == OP_pow) /* eager has a tensor there, and a rounding of its own */
		return false;
	if (old.kind != ARG_NODE || op_info(r->n->op)->params[i].kind != PARAM_TENSOR_SCALAR ||
	    !known_arg(r->g, &old, &known) || !known.uniform)
		return false;
	r->n->args[i] = known_number(r->g, known.dtype, &known.element);
	if (op_infer(r->g, r->n->op, r->n->args, &result, NULL) && result.dtype == r->n->dtype &&
	    result.compute == r->n->compute && shape_equal(&result.shape, &r->n->shape))
		return true;
	r->n->args[i] = old;
	return false;
}

/* 2 * x becomes x * 2. */
static bool number_last(const struct rule *r)
{
	struct arg *args = r->n->args, spare = args[0];

	if ((r->n->op != OP_add && r->n->op != OP_mul) || args[0].kind == ARG_NODE ||
	    args[1].kind != ARG_NODE)
		return false;
	args[0] = args[1];
	args[1] = spare;
	return true;
}

/* Pass outputs gives outputs memory of their own. */
static int simplify_copy(const struct rule *r)
{
	return by(r, "a copy that nobody writes to", forward(r, 0));
}

static int simplify_view(const struct rule *r)
{
	return by(r, "a view that changes nothing", forward(r, 0));
}

/* A view that only asks a tensor for its sizes should not keep it alive. */
static int simplify_by_sizes(const struct rule *r)
{
	const struct shape *s = &r->n->shape;
	int before = r->g->n_nodes;
	int id = make(r, r->n->op == OP_view_as ? OP_reshape : OP_expand,
		      (struct arg[]){ r->n->args[0], arg_ints(s->size, s->rank) }, 2);

	if (id >= before)
		r->g->nodes[id]->name = r->n->name;
	return by(r, "a view by sizes", id);
}

/* Column `simplify` of ops.def. */
#define simplify_none NULL
static int (*const rules[OP_COUNT])(const struct rule *r) = {
#define UNARY(id, heavy, rule, spellings, value, doc, simplify, ...)                               \
	[OP_##id] = simplify_##simplify,
#define BINARY(id, heavy, rule, spellings, value, doc, simplify, ...)                              \
	[OP_##id] = simplify_##simplify,
#define TERNARY(id, heavy, spellings, signature, value, doc, infer, simplify, ...)                 \
	[OP_##id] = simplify_##simplify,
#define CAST(id, spellings, signature, doc, infer, simplify, ...) [OP_##id] = simplify_##simplify,
#define VIEW(id, spellings, signature, doc, infer, layout, simplify)                               \
	[OP_##id] = simplify_##simplify,
#include "fusion/graph/ops_some.h"
};

/* Arguments in a form that later rules know. */
static void tidy_args(struct rewrite *rw, const struct rule *r)
{
	for (int i = 0; i < r->n->n_args; i++)
		if (number_operand(r, i)) {
			pass_fired(r->g, "one value is a number", r->n, NULL);
			rw->changed = true;
		}
	if (number_last(r)) {
		pass_fired(r->g, "2 * x is x * 2", r->n, NULL);
		rw->changed = true;
	}
}

static int simplify(struct rewrite *rw, struct node *n, struct err *err)
{
	const char *name = "";
	struct rule r = { rw->g, n, err, &name };
	int before = rw->g->n_nodes, id;

	if (op_info(n->op)->kind == KIND_VIEW) {
		id = rules[n->op] ? rules[n->op](&r) : REWRITE_KEEP;
	} else if (op_info(n->op)->kind != KIND_POINTWISE || n->weak) {
		return REWRITE_KEEP;
	} else {
		tidy_args(rw, &r);
		id = rules[n->op] ? rules[n->op](&r) : REWRITE_KEEP;
		if (id >= before) /* a new node has the name of the one it replaces */
			rw->g->nodes[id]->name = n->name;
	}
	if (id >= 0)
		pass_fired(rw->g, name, n, id < before ? rw->g->nodes[id] : NULL);
	return id;
}

/* needs: no COMPOSITE nodes (they are left alone); keeps: values, as said
 * above; breaks: may leave nodes that nothing reads */
bool pass_simplify(struct pass_run *run, bool *changed, struct err *err)
{
	return rewrite_run(run->g, simplify, NULL, changed, err);
}
