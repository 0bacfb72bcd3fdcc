/* fusion/passes/decompose.c -- COMPOSITE rows become primitive ops.
 *
 * decompose_<id>() for each COMPOSITE row of ops.def.  The formulas are those
 * of PyTorch's CPU kernels, so that results agree within float rounding: var is
 * two-pass, softmax subtracts the largest first.  Counts of elements may be
 * symbolic: they are int operands.
 */
#define FORMULA_decompose(id) decompose_##id
#include <float.h>
#include <math.h>
#include <string.h>

#include "fusion/graph/custom.h"
#include "fusion/graph/view.h"
#include "fusion/passes/decompose.h"

struct arg expand_op(struct expand *e, enum op op, const struct arg *args, int n)
{
	int id = e->failed
		     ? -1
		     : graph_add(e->g, &(struct node_spec){ op, args, n, e->n->line, e->n->column },
				 e->err);

	e->failed = id < 0;
	return e->failed ? arg_none() : arg_node(id);
}

struct arg expand_divisor(struct expand *e, struct arg y)
{
	if (e->failed || e->g->divides_freely || y.kind != ARG_NODE ||
	    dtype_category(e->n->dtype) != CATEGORY_INT || e->g->nodes[y.node]->op == OP_divisor)
		return y;
	return expand_unary(e, OP_divisor, y);
}

struct arg expand_cast(struct expand *e, struct arg x, enum dtype dtype)
{
	if (e->failed || e->g->nodes[x.node]->dtype == dtype)
		return x;
	return expand_op(e, OP_to, (struct arg[]){ x, arg_dtype(dtype) }, 2);
}

double expand_number(struct arg p)
{
	if (p.kind == ARG_FLOAT)
		return p.f;
	return p.kind == ARG_BOOL ? p.b : sym_is_const(p.sym) ? (double)p.sym->value : NAN;
}

/* An op of a plugin: as the plugin writes it, or by the plugin's kernel. */
static struct arg decompose_custom(struct expand *e)
{
	const struct custom_op *op = custom_of(e->g, e->n);
	int id;

	if (!op->expand)
		return expand_op(e, OP_custom_kernel, e->n->args, e->n->n_args);
	id = op->expand(op, e->g, e->n, e->err);
	e->failed = id < 0;
	return e->failed ? arg_none() : arg_node(id);
}

static decompose_fn *const decompose_formulas[OP_COUNT] = {
#define COMPOSITE(id, spellings, signature, doc, infer, file, ...) [OP_##id] = FORMULA_##file(id),
#include "fusion/graph/ops_some.h"
};

static decompose_fn *const *const formulas[OP_COUNT] = {
#define COMPOSITE(id, spellings, signature, doc, infer, file, ...) [OP_##id] = file##_formulas,
#include "fusion/graph/ops_some.h"
};

/* Composites of float16 and bfloat16 are computed in float32 and rounded once,
 * but for products, which sum in float32 anyway (convolutions on a GPU),
 * and what only moves elements. */
static bool computes_wide(const struct graph *g, const struct node *n)
{
	enum dtype wide = dtype_wide(n->dtype);

	if (g->calls && op_has(n->op, FACT_CONVOLUTION))
		return false;
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
	e->widened = true;
	return !e->failed;
}

/* A call of attention whose gradients are one call too stays one: its scores are in no memory. */
static bool is_kept(const struct rewrite *rw, const struct node *n)
{
	const bool *kept = rw->state;

	return kept && kept[n->id];
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
	if (!formulas[n->op] || is_kept(rw, n))
		return REWRITE_KEEP;
	if (computes_wide(rw->g, n) && !widen(&e, &wide))
		return REWRITE_FAILED;
	value = expand_cast(&e, formulas[n->op][n->op](&e), n->dtype);
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

/* ---- products with odd columns, of 16 bits on a GPU
 *
 * Units for matrices want sizes that are multiples of 16 bytes, whatever lies between rows.  So
 * such a product is one with a few columns more, which repeat some, and its result a part of that.
 * One whose sums have an odd count of terms is two: of an even count, and of the few that are left.
 */

enum { ROW_BYTES = 16, LEAST_ROW = 32, LEAST_ELEMENTS = 1 << 14, LEAST_TERMS = 512 };
/* Multiplications that are worth a launch more. */
static const double LEAST_WORK = 1 << 28;

/* How many columns to add; 0: the result's rows are even, or few beside the weight's. */
static int64_t missing_columns(const struct graph *g, const struct node *n)
{
	const struct shape *s = &n->shape;
	const struct sym *columns = s->rank ? s->size[s->rank - 1] : NULL;
	int64_t lanes = ROW_BYTES / (int64_t)dtype_bytes(n->dtype), rows = 1;
	const struct shape *x, *weight;

	if ((n->op != OP_matmul && n->op != OP_matmul_nt && n->op != OP_biased) ||
	    n->dtype == dtype_wide(n->dtype) || !columns || !sym_is_const(columns) ||
	    columns->value < LEAST_ROW)
		return 0;
	x = &g->nodes[n->args[0].node]->shape;
	weight = &g->nodes[n->args[1].node]->shape;
	for (int d = 0; d < s->rank - 1; d++)
		rows *= sym_hint(g->syms, s->size[d]);
	if (weight->rank != 2 || x->rank < 2 || rows * columns->value < LEAST_ELEMENTS ||
	    rows < sym_hint(g->syms, x->size[x->rank - 1]))
		return 0;
	return (lanes - columns->value % lanes) % lanes;
}

static int add_node(struct rewrite *rw, const struct node *n, enum op op, const struct arg *args,
		    int n_args, struct err *err)
{
	int id = graph_add(rw->g, &(struct node_spec){ op, args, n_args, n->line, n->column }, err);

	if (id >= 0)
		rw->g->nodes[id]->detached |= n->detached;
	return id;
}

static int slice_to(struct rewrite *rw, const struct node *n, int x, int dim, int64_t end,
		    struct err *err)
{
	return add_node(rw, n, OP_slice,
			(struct arg[]){ arg_node(x), arg_int(rw->g, dim), arg_int(rw->g, 0),
					arg_int(rw->g, end) },
			4, err);
}

/* An operand with a few more along a dim. */
static int repeat_some(struct rewrite *rw, const struct node *n, int x, int dim, int64_t more,
		       struct err *err)
{
	int some = slice_to(rw, n, x, dim, more, err);
	const struct arg args[] = { arg_int(rw->g, dim), arg_node(x), arg_node(some) };

	return some < 0 ? some : add_node(rw, n, OP_cat, args, 3, err);
}

/* Whether a weight's rows are what is summed along. */
static bool sums_along_rows(const struct node *n)
{
	return n->op == OP_matmul_nt || n->op == OP_biased;
}

/* How many terms of a product's sums to add up first, so many that units for matrices load 16 bytes
 * at a time; 0: all at once, as where it is little work, or where the rows of x are an input's,
 * which begin anywhere. */
static int64_t even_terms(const struct graph *g, const struct node *n)
{
	const struct node *x = n->n_args > 0 && n->args[0].kind == ARG_NODE
				   ? g->nodes[n->args[0].node]
				   : NULL;
	const struct sym *terms = x && x->shape.rank ? x->shape.size[x->shape.rank - 1] : NULL;
	double work = 1;

	if ((n->op != OP_matmul && !sums_along_rows(n)) || n->dtype == dtype_wide(n->dtype) ||
	    !terms || !sym_is_const(terms) || terms->value < LEAST_TERMS || x->dtype != n->dtype ||
	    g->nodes[n->args[1].node]->shape.rank != 2 ||
	    g->nodes[view_base(g, x->id)]->op == OP_input)
		return 0;
	for (int d = 0; d < n->shape.rank; d++)
		work *= (double)sym_hint(g->syms, n->shape.size[d]);
	if (work * (double)terms->value < LEAST_WORK)
		return 0;
	return terms->value % (ROW_BYTES / (int64_t)dtype_bytes(n->dtype)) == 0
		   ? 0
		   : terms->value / (ROW_BYTES / (int64_t)dtype_bytes(n->dtype)) *
			 (ROW_BYTES / (int64_t)dtype_bytes(n->dtype));
}

/* The product of x and `weight` of terms [begin, end), as float32; the last ones have the bias. */
static int some_terms(struct rewrite *rw, const struct node *n, int weight, const int64_t terms[2],
		      struct err *err)
{
	const struct shape *x = &rw->g->nodes[n->args[0].node]->shape;
	struct arg args[3] = { n->args[0], arg_node(weight), n->args[2] };
	bool biased = n->op == OP_biased && terms[1] == x->size[x->rank - 1]->value;
	enum op op = biased ? OP_biased : sums_along_rows(n) ? OP_matmul_nt : OP_matmul;
	int id = 0;

	for (int a = 0; a < 2 && id >= 0; a++) {
		int dim = a == 0 ? x->rank - 1 : sums_along_rows(n);

		id = add_node(rw, n, OP_slice,
			      (struct arg[]){ args[a], arg_int(rw->g, dim),
					      arg_int(rw->g, terms[0]), arg_int(rw->g, terms[1]) },
			      4, err);
		args[a] = arg_node(id);
	}
	if (id >= 0)
		id = add_node(rw, n, op, args, biased ? 3 : 2, err);
	return id < 0 ? id
		      : add_node(rw, n, OP_to, (struct arg[]){ arg_node(id), arg_dtype(DTYPE_F32) },
				 2, err);
}

/* The few last terms are a product of their own, which is added in the other one's call.  The rows
 * of a weight that is an input begin anywhere: it is copied, with a few columns more. */
static int split_sum(struct rewrite *rw, struct node *n, int64_t even, struct err *err)
{
	const struct node *x = rw->g->nodes[n->args[0].node];
	int64_t all = x->shape.size[x->shape.rank - 1]->value;
	int64_t lanes = ROW_BYTES / (int64_t)dtype_bytes(n->dtype);
	int weight = n->args[1].node, rest, id;

	if (sums_along_rows(n) && rw->g->nodes[view_base(rw->g, weight)]->op == OP_input)
		weight = repeat_some(rw, n, weight, 1, even + lanes - all, err);
	rest = id = weight < 0 ? weight : some_terms(rw, n, weight, (int64_t[]){ even, all }, err);
	if (id >= 0)
		id = some_terms(rw, n, weight, (int64_t[]){ 0, even }, err);
	if (id >= 0)
		id = add_node(rw, n, OP_add, (struct arg[]){ arg_node(id), arg_node(rest) }, 2,
			      err);
	if (id >= 0)
		id = add_node(rw, n, OP_to, (struct arg[]){ arg_node(id), arg_dtype(n->dtype) }, 2,
			      err);
	if (id < 0)
		return REWRITE_FAILED;
	rw->g->nodes[id]->name = n->name;
	return id;
}

static int widen_product(struct rewrite *rw, struct node *n, struct err *err)
{
	int64_t more = missing_columns(rw->g, n), even = even_terms(rw->g, n);
	struct arg args[3] = { n->args[0], n->args[1], n->args[2] };
	int last = n->shape.rank - 1, operands = n->op == OP_biased ? 3 : 2, id = 0;

	if (more == 0)
		return even > 0 ? split_sum(rw, n, even, err) : REWRITE_KEEP;
	for (int a = 1; a < operands && id >= 0; a++) {
		id = repeat_some(rw, n, n->args[a].node, n->op == OP_matmul, more, err);
		args[a] = arg_node(id);
	}
	if (id >= 0)
		id = add_node(rw, n, n->op, args, operands, err);
	even = id >= 0 ? even_terms(rw->g, rw->g->nodes[id]) : 0;
	if (even > 0)
		id = split_sum(rw, rw->g->nodes[id], even, err);
	if (id >= 0)
		id = slice_to(rw, n, id, last, n->shape.size[last]->value, err);
	if (id < 0)
		return REWRITE_FAILED;
	rw->g->nodes[id]->name = n->name;
	return id;
}

/* needs: nothing; keeps: values within float rounding; makes: a graph without
 * COMPOSITE nodes */
bool pass_decompose(struct pass_run *run, bool *changed, struct err *err)
{
	bool widened = false;

	if (!rewrite_run(run->g, expand_node, NULL, changed, err) ||
	    (run->g->calls && !rewrite_run(run->g, widen_product, NULL, &widened, err)))
		return false;
	*changed |= widened;
	return true;
}

bool passes_decompose(struct graph *g, struct err *err)
{
	bool *kept = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1), changed;

	if (!kept)
		return pass_out_of_memory(err);
	for (int i = 0; i < g->n_nodes; i++) {
		const struct arg *out = node_arg(g->nodes[i], "out");

		if (g->nodes[i]->op == OP_attention_back)
			kept[out->node] = g->nodes[out->node]->op ==
					  OP_scaled_dot_product_attention;
	}
	return rewrite_run(g, expand_node, kept, &changed, err) &&
	       (!g->calls || rewrite_run(g, widen_product, NULL, &changed, err));
}
