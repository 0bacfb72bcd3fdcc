/* fusion/passes/pattern_match.c -- several ops that the device does in one call.
 *
 * ATTENTION  softmax(q @ k.transpose(-2, -1) * scale, -1) @ v, with a mask added to the
 * scores or deciding which are a number, as it is written out or as one op.  The scores
 * stay in the device's registers.  Only where nobody else reads what is between: a
 * training step that keeps the softmax for its gradient does all of it as before.
 * Written out, each op on the scores rounds to its dtype, and so does the call.  The
 * softmax it rounds before the division by the row's sum, not after it.
 *
 * BIASED  a linear layer of float16 or bfloat16.  One op rounds once, as PyTorch's does.
 */
#include <math.h>

#include "fusion/passes/pass.h"

enum {
	MOST_WIDTH = 128, /* of a head */
	/* float32 has no tensor cores: of many scores the library's products are faster,
	 * unless there is no room for the scores. */
	MOST_PLAIN_WORK = 1 << 28, /* multiplications and additions */
	LEAST_SPARED_BYTES = 1 << 30,
};

/* By id before the pass, or after it where it says so. */
struct calls {
	int *uses;    /* by what is needed; outputs count */
	bool *turned; /* the one use is a transpose(1, 2) */
	int *was;     /* by id after the pass: the id before, -1: a new node */
	int n_was;
};

/* Ids are those after the pass. */
struct attention {
	int q, k, v, mask; /* mask -1: none */
	double scale, fill;
	int how;
};

/* ---- who reads what */

static bool turns(const struct node *n)
{
	const struct arg *a = n->args;

	if (n->shape.rank != 4)
		return false;
	if (n->op == OP_transpose)
		return ((a[1].sym->value + 4) % 4 == 1 && (a[2].sym->value + 4) % 4 == 2) ||
		       ((a[1].sym->value + 4) % 4 == 2 && (a[2].sym->value + 4) % 4 == 1);
	return n->op == OP_permute && a[1].n == 4 && sym_is(a[1].ints[0], 0) &&
	       sym_is(a[1].ints[1], 2) && sym_is(a[1].ints[2], 1) &&
	       (sym_is(a[1].ints[3], 3) || sym_is(a[1].ints[3], -1));
}

static void count_uses(const struct graph *g, struct calls *c)
{
	for (int i = 0; i < g->n_outputs; i++)
		c->uses[g->outputs[i]] += 2;
	for (int i = g->n_nodes - 1; i >= 0; i--) {
		const struct node *n = g->nodes[i];

		for (int a = 0; (c->uses[i] || graph_draws(n)) && a < n->n_args; a++)
			if (n->args[a].kind == ARG_NODE)
				c->uses[n->args[a].node]++;
	}
	for (int i = 0; i < g->n_nodes; i++)
		if (c->uses[i] && turns(g->nodes[i]))
			c->turned[g->nodes[i]->args[0].node] = c->uses[g->nodes[i]->args[0].node] ==
							       1;
}

/* The node of an argument that nobody else reads; NULL. */
static const struct node *only(const struct rewrite *rw, const struct arg *arg)
{
	const struct calls *c = rw->state;

	if (arg->kind != ARG_NODE || arg->node >= c->n_was || c->was[arg->node] < 0 ||
	    c->uses[c->was[arg->node]] != 1)
		return NULL;
	return rw->g->nodes[arg->node];
}

/* ---- attention */

static bool number_of(const struct arg *arg, double *out)
{
	if (arg->kind == ARG_FLOAT)
		*out = arg->f;
	else if (arg->kind == ARG_INT && sym_is_const(arg->sym))
		*out = (double)arg->sym->value;
	else
		return false;
	return true;
}

/* What a cast between float32 and the scores' dtype casts, else n itself. */
static const struct node *past_cast(const struct rewrite *rw, const struct node *n, enum dtype from,
				    enum dtype to)
{
	const struct node *x;

	if (!n || n->op != OP_to || n->dtype != to || from == to)
		return n;
	x = only(rw, &n->args[0]);
	return x && x->dtype == from ? x : n;
}

static bool swaps_last(const struct node *n)
{
	int64_t rank = n->shape.rank, a, b;

	if (n->op != OP_transpose || rank < 2)
		return false;
	a = (n->args[1].sym->value + rank) % rank;
	b = (n->args[2].sym->value + rank) % rank;
	return a + b == 2 * rank - 3 && a != b && (a == rank - 1 || b == rank - 1);
}

/* q @ k.transpose(-2, -1), perhaps scaled. */
static bool is_scores(const struct rewrite *rw, const struct node *n, struct attention *out)
{
	double number = 1;
	const struct node *turned;

	out->scale = 1;
	if (n && (n->op == OP_mul || n->op == OP_truediv)) {
		bool first = n->op == OP_mul && number_of(&n->args[0], &number);

		if (!first && !number_of(&n->args[1], &number))
			return false;
		out->scale = n->op == OP_mul ? number : 1 / number;
		n = only(rw, &n->args[first]);
	}
	if (!n || n->op != OP_matmul)
		return false;
	turned = rw->g->nodes[n->args[1].node];
	if (!swaps_last(turned))
		return false;
	out->q = n->args[0].node;
	out->k = turned->args[0].node;
	return true;
}

/* The scores with a mask on them, or without. */
static bool is_masked(const struct rewrite *rw, const struct node *n, struct attention *out)
{
	const struct node *x = n;

	out->mask = -1;
	if (n->op == OP_masked_fill || n->op == OP_where) {
		bool keeps = n->op == OP_where && n->args[2].kind != ARG_NODE;
		int scores = n->op == OP_masked_fill ? 0 : keeps ? 1 : 2;

		if (!number_of(&n->args[n->op == OP_masked_fill || keeps ? 2 : 1], &out->fill))
			return false;
		out->mask = n->args[n->op == OP_masked_fill].node;
		out->how |= keeps ? 0 : ATTENTION_FILLS;
		x = only(rw, &n->args[scores]);
	} else if (n->op == OP_add && n->args[0].kind == ARG_NODE && n->args[1].kind == ARG_NODE) {
		for (int i = 0; i < 2; i++) {
			x = only(rw, &n->args[i]);
			out->mask = n->args[1 - i].node;
			if (x && shape_equal(&x->shape, &n->shape) && is_scores(rw, x, out))
				return rw->g->nodes[out->mask]->dtype == x->dtype;
		}
		return false;
	}
	return x && shape_equal(&x->shape, &n->shape) && is_scores(rw, x, out) &&
	       (out->mask < 0 || rw->g->nodes[out->mask]->dtype == DTYPE_BOOL);
}

static bool written_out(const struct rewrite *rw, const struct node *n, struct attention *out)
{
	const struct node *p = only(rw, &n->args[0]);
	const struct arg *dim;

	*out = (struct attention){ .v = n->args[1].node, .how = ATTENTION_ROUNDS };
	p = past_cast(rw, p, DTYPE_F32, n->dtype);
	if (!p || p->op != OP_softmax || p->shape.rank != n->shape.rank)
		return false;
	dim = &p->args[1];
	if (dim->kind != ARG_INT ||
	    (!sym_is(dim->sym, -1) && !sym_is(dim->sym, p->shape.rank - 1)) ||
	    (p->dtype != n->dtype && p->dtype != DTYPE_F32))
		return false;
	p = past_cast(rw, only(rw, &p->args[0]), n->dtype, DTYPE_F32);
	return p && p->dtype == n->dtype && is_masked(rw, p, out);
}

static bool one_op(const struct rewrite *rw, const struct node *n, struct attention *out)
{
	const struct arg *mask = node_arg(n, "attn_mask"), *scale = node_arg(n, "scale");
	const struct sym *width = n->shape.size[n->shape.rank - 1];

	*out = (struct attention){ .q = n->args[0].node,
				   .k = n->args[1].node,
				   .v = n->args[2].node,
				   .mask = mask->kind == ARG_NODE ? mask->node : -1,
				   .fill = -INFINITY };
	if (!sym_is_const(width) || node_arg(n, "dropout_p")->f != 0)
		return false;
	if (!number_of(scale, &out->scale))
		out->scale = 1 / sqrt((double)width->value);
	if (node_arg(n, "is_causal")->b)
		out->how |= ATTENTION_CAUSAL;
	if (out->mask < 0)
		return true;
	out->how |= ATTENTION_EMPTY;
	return rw->g->nodes[out->mask]->dtype == DTYPE_BOOL ||
	       rw->g->nodes[out->mask]->dtype == n->dtype;
}

static double hint_of(const struct graph *g, const struct sym *s)
{
	return (double)sym_hint(g->syms, s);
}

/* Sizes that the call takes, and for which it is the faster way. */
static bool pays(const struct rewrite *rw, const struct node *n, const struct attention *a)
{
	const struct graph *g = rw->g;
	const struct shape *q = &g->nodes[a->q]->shape, *k = &g->nodes[a->k]->shape;
	const struct shape *v = &g->nodes[a->v]->shape;
	int rank = n->shape.rank;
	double scores = 1;

	if (n->dtype == DTYPE_F64 || q->rank != rank || k->rank != rank || v->rank != rank ||
	    !sym_is_const(q->size[rank - 1]) || q->size[rank - 1]->value < 1 ||
	    q->size[rank - 1]->value > MOST_WIDTH || v->size[rank - 1] != q->size[rank - 1] ||
	    k->size[rank - 2] != v->size[rank - 2] || !(a->scale > 0) || isinf(a->scale))
		return false;
	for (int d = 0; d < rank - 2; d++) {
		if (q->size[d] != n->shape.size[d] ||
		    (k->size[d] != q->size[d] && !sym_is(k->size[d], 1)) ||
		    (v->size[d] != q->size[d] && !sym_is(v->size[d], 1)))
			return false;
		scores *= hint_of(g, q->size[d]);
	}
	scores *= hint_of(g, q->size[rank - 2]) * hint_of(g, k->size[rank - 2]);
	return n->dtype != DTYPE_F32 ||
	       4 * scores * hint_of(g, q->size[rank - 1]) <= MOST_PLAIN_WORK ||
	       4 * scores >= LEAST_SPARED_BYTES;
}

static int attend(struct rewrite *rw, const struct node *n, struct attention *a, struct err *err)
{
	const struct calls *c = rw->state;
	struct graph *g = rw->g;
	struct arg args[7], swap[3];
	int id;

	if (c->turned[n->id])
		a->how |= ATTENTION_TURNED;
	args[0] = arg_node(a->q);
	args[1] = arg_node(a->k);
	args[2] = arg_node(a->v);
	args[3] = a->mask < 0 ? arg_none() : arg_node(a->mask);
	args[4] = arg_float(a->scale);
	args[5] = arg_float(a->fill);
	args[6] = arg_int(g, a->how);
	id = graph_add(g, &(struct node_spec){ OP_attention, args, 7, n->line, n->column }, err);
	if (id < 0)
		return REWRITE_FAILED;
	pass_fired(g, "scores are not kept in memory", n, g->nodes[id]);
	if (!c->turned[n->id])
		return id;
	swap[0] = arg_node(id);
	swap[1] = arg_int(g, 1);
	swap[2] = arg_int(g, 2);
	id = graph_add(g, &(struct node_spec){ OP_transpose, swap, 3, n->line, n->column }, err);
	return id < 0 ? REWRITE_FAILED : id;
}

/* ---- linear layers */

static bool takes_bias(const struct rewrite *rw, const struct node *n)
{
	const struct node *w = rw->g->nodes[n->args[1].node], *bias;

	if (n->args[2].kind != ARG_NODE || dtype_wide(n->dtype) == n->dtype || w->shape.rank != 2)
		return false;
	bias = rw->g->nodes[n->args[2].node];
	/* It has one size with the weight, or capture guards it to have. */
	return bias->shape.rank == 1 &&
	       (bias->shape.size[0] == w->shape.size[0] || !sym_is(bias->shape.size[0], 1));
}

static int add_bias(struct rewrite *rw, const struct node *n, struct err *err)
{
	int id = graph_add(rw->g, &(struct node_spec){ OP_biased, n->args, 3, n->line, n->column },
			   err);

	if (id < 0)
		return REWRITE_FAILED;
	pass_fired(rw->g, "the product adds its bias", n, rw->g->nodes[id]);
	return id;
}

/* ---- the pass */

static void note_kept(struct rewrite *rw, const struct node *n)
{
	struct calls *c = rw->state;

	if (rw->g->n_nodes < c->n_was)
		c->was[rw->g->n_nodes] = n->id;
}

static int call(struct rewrite *rw, struct node *n, struct err *err)
{
	struct attention found;

	if (n->op == OP_linear && takes_bias(rw, n))
		return add_bias(rw, n, err);
	if (((n->op == OP_matmul && written_out(rw, n, &found)) ||
	     (n->op == OP_scaled_dot_product_attention && one_op(rw, n, &found))) &&
	    pays(rw, n, &found))
		return attend(rw, n, &found, err);
	note_kept(rw, n);
	return REWRITE_KEEP;
}

/* needs: nothing; keeps: values, but for what the head of this file says; breaks: leaves
 * nodes that nothing reads */
bool pass_pattern_match(struct pass_run *run, bool *changed, struct err *err)
{
	struct graph *g = run->g;
	struct calls c = { .n_was = 3 * g->n_nodes + 1 };

	*changed = false;
	if (!run->options->calls)
		return true;
	g->divides_freely = g->calls = true;
	c.uses = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes);
	c.turned = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes);
	c.was = ARENA_ARRAY(g->arena, int, (size_t)c.n_was);
	if (!c.uses || !c.turned || !c.was)
		return pass_out_of_memory(err);
	for (int i = 0; i < c.n_was; i++)
		c.was[i] = -1;
	count_uses(g, &c);
	return rewrite_run(g, call, &c, changed, err);
}
