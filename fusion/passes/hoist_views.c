/* fusion/passes/hoist_views.c -- views move from the result of a pointwise op to its operands.
 *
 * A view is read from memory, so what it is a view of ends a kernel.  The view of
 * x * 2 is the same as twice the view of x: then the product can be in the
 * kernel that reads it.  Only where nothing else reads the product, which would
 * be computed twice, or views of parts of it that are no more than all of it, and
 * where the view makes no element more of it.
 *
 * A cat is read from memory too.  What is done to its parts, each alone, may be done after it,
 * each element by the steps of its part: a GPU chooses between values sooner than it stores
 * one.  A stack of few parts that ops compute is computed where it is read: each place all of
 * them, of which it takes its own.
 *
 * What gather reads of a pointwise op is the op of what it reads of the operands: where that
 * is a few elements of many, they alone are computed.  So are the largest of windows, of an op
 * that never falls as its operand rises.
 */
#include <string.h>

#include "fusion/graph/view.h"
#include "fusion/passes/pass.h"

struct hoist {
	const int *uses;   /* by id of the old list */
	const bool *fuses; /* by id of the old list: a kernel reads it that may grow */
	int *made_uses;    /* by id of the new list */
	int cap;
};

static bool is_hoisted(const struct node *n)
{
	return op_info(n->op)->kind == KIND_VIEW && n->op != OP_expand && n->op != OP_expand_as &&
	       n->op != OP_unfold && n->op != OP_view_as && n->op != OP_as_strided;
}

/* Whether a view is of a part of the indices of some dims. */
static bool is_part(const struct node *view)
{
	return view->op == OP_select || view->op == OP_slice || view->op == OP_narrow;
}

/* Operands of the size of the result, or one element: their views are known.  So are parts of what
 * is broadcast; another shape of that would be no loop of the kernel that made it, as a norm. */
static bool takes_views(const struct graph *g, const struct node *of, const struct node *view)
{
	if (op_info(of->op)->kind != KIND_POINTWISE || of->weak)
		return false;
	for (int a = 0; a < of->n_args && !is_part(view); a++) {
		const struct node *x = of->args[a].kind == ARG_NODE ? g->nodes[of->args[a].node]
								    : NULL;

		if (x && x->shape.rank > 0 && !shape_equal(&x->shape, &of->shape))
			return false;
	}
	return true;
}

/* The view of operand x: an id, REWRITE_KEEP where it would have to copy. */
static int view_operand(struct rewrite *rw, const struct node *view, int x, struct err *err)
{
	struct arg args[MAX_ARGS];
	struct view_layout layout;
	int id;

	for (int a = 0; a < view->n_args; a++)
		args[a] = view->args[a];
	args[0] = arg_node(x);
	id = graph_add(
	    rw->g, &(struct node_spec){ view->op, args, view->n_args, view->line, view->column },
	    err);
	if (id < 0)
		return REWRITE_FAILED;
	return view_layout(rw->g, id, &layout) ? id : REWRITE_KEEP;
}

/* Operand x in the shape of the result. */
static int expand_operand(struct rewrite *rw, const struct node *of, int x, struct err *err)
{
	struct arg args[2] = { arg_node(x), arg_ints(of->shape.size, of->shape.rank) };

	if (shape_equal(&rw->g->nodes[x]->shape, &of->shape))
		return x;
	return graph_add(rw->g, &(struct node_spec){ OP_expand, args, 2, of->line, of->column },
			 err);
}

enum { VIEW_DEPTH = 8 };

static int view_pointwise(struct rewrite *rw, const struct node *view, int x, int depth,
			  struct err *err);

/* The view of node x, of its operands in turn where nothing else reads it. */
static int view_value(struct rewrite *rw, const struct node *view, int x, int depth,
		      struct err *err)
{
	const struct hoist *hoist = rw->state;
	int id = REWRITE_KEEP;

	if (depth > 0 && x < hoist->cap && hoist->made_uses[x] == 1 &&
	    takes_views(rw->g, rw->g->nodes[x], view))
		id = view_pointwise(rw, view, x, depth - 1, err);
	return id == REWRITE_KEEP ? view_operand(rw, view, x, err) : id;
}

/* The op of the views of its operands. */
static int view_pointwise(struct rewrite *rw, const struct node *view, int x, int depth,
			  struct err *err)
{
	const struct node *of = rw->g->nodes[x];
	struct arg args[MAX_ARGS];
	int before = rw->g->n_nodes, id;

	for (int a = 0; a < of->n_args; a++) {
		args[a] = of->args[a];
		if (args[a].kind != ARG_NODE || rw->g->nodes[args[a].node]->shape.rank == 0)
			continue;
		id = expand_operand(rw, of, args[a].node, err);
		args[a].node = id < 0 ? REWRITE_FAILED : view_value(rw, view, id, depth, err);
		if (args[a].node < 0) {
			rw->g->n_nodes = before; /* what was tried is not needed */
			return args[a].node;
		}
	}
	id = graph_add(rw->g, &(struct node_spec){ of->op, args, of->n_args, of->line, of->column },
		       err);
	if (id < 0)
		return REWRITE_FAILED;
	if (rw->g->nodes[id]->dtype == of->dtype &&
	    shape_equal(&rw->g->nodes[id]->shape, &view->shape))
		return id;
	rw->g->n_nodes = before;
	return REWRITE_KEEP;
}

static int hoist_view(struct rewrite *rw, const struct node *view, struct err *err)
{
	int x = view->args[0].node, id = view_pointwise(rw, view, x, VIEW_DEPTH, err);

	if (id >= 0) {
		pass_fired(rw->g, "view of the operands", view, rw->g->nodes[x]);
		rw->g->nodes[id]->name = view->name;
	}
	return id;
}

/* How often node `id` of the new list will be read. */
static bool note_uses(struct hoist *hoist, struct graph *g, int id, int uses)
{
	while (id >= hoist->cap) {
		int cap = 2 * hoist->cap + 64;
		int *grown = ARENA_ARRAY(g->arena, int, (size_t)cap);

		if (!grown)
			return false;
		for (int i = 0; i < hoist->cap; i++)
			grown[i] = hoist->made_uses[i];
		for (int i = hoist->cap; i < cap; i++)
			grown[i] = 2; /* not known: too many */
		hoist->made_uses = grown;
		hoist->cap = cap;
	}
	hoist->made_uses[id] = uses;
	return true;
}

/* Whether node id, an output, is a view that a kernel of its own would have to copy. */
static bool is_copied(const struct graph *g, int id)
{
	struct view_layout layout;

	return op_info(g->nodes[id]->op)->kind == KIND_VIEW &&
	       !(view_layout(g, id, &layout) && view_contiguous(g, &layout));
}

/* Which nodes are read by what a kernel may be made of.  A product of matrices reads
 * memory in any case, of which the view is one for nothing. */
static bool *find_fusing(const struct graph *g)
{
	bool *fuses = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1);

	for (int i = 0; fuses && i < g->n_outputs; i++)
		fuses[g->outputs[i]] = is_copied(g, g->outputs[i]);
	for (int id = g->n_nodes - 1; fuses && id >= 0; id--) {
		const struct node *n = g->nodes[id];
		enum op_kind kind = op_info(n->op)->kind;

		for (int a = 0; a < n->n_args; a++)
			if (n->args[a].kind == ARG_NODE)
				fuses[n->args[a].node] |= kind == KIND_VIEW
							      ? fuses[id]
							      : kind != KIND_LIBRARY ||
								    op_is_lookup(n->op);
	}
	return fuses;
}

/* ---- cat: steps on its parts come after it */

enum { MOST_STEPS = 6, MOST_FUNCTIONS = 3, MOST_MASK = 1 << 14 };

/* What is done to a part: from the last step to the first, ids of the new list; then the
 * part itself. */
struct part_steps {
	int step[MOST_STEPS], n, from;
};

/* The one tensor that a pointwise op of one operand, of one dtype, reads; -1. */
static int only_operand(const struct graph *g, const struct node *n)
{
	int x = -1;

	if (op_info(n->op)->kind != KIND_POINTWISE || n->weak || op_has(n->op, FACT_COPY))
		return -1;
	for (int a = 0; a < n->n_args; a++) {
		if (n->args[a].kind != ARG_NODE)
			continue;
		if (x >= 0)
			return -1;
		x = n->args[a].node;
	}
	return x >= 0 && g->nodes[x]->dtype == n->dtype && !g->nodes[x]->weak &&
		       shape_equal(&g->nodes[x]->shape, &n->shape)
		   ? x
		   : -1;
}

static void find_steps(const struct rewrite *rw, int part, struct part_steps *out)
{
	const struct hoist *hoist = rw->state;

	*out = (struct part_steps){ .from = part };
	while (out->n < MOST_STEPS && out->from < hoist->cap && hoist->made_uses[out->from] == 1) {
		int x = only_operand(rw->g, rw->g->nodes[out->from]);

		if (x < 0)
			return;
		out->step[out->n++] = out->from;
		out->from = x;
	}
}

static bool same_steps(const struct graph *g, const struct part_steps *a,
		       const struct part_steps *b)
{
	if (a->n != b->n)
		return false;
	for (int i = 0; i < a->n; i++) {
		const struct node *x = g->nodes[a->step[i]], *y = g->nodes[b->step[i]];

		if (x->op != y->op || x->n_args != y->n_args)
			return false;
		for (int k = 0; k < x->n_args; k++)
			if (x->args[k].kind == ARG_NODE ? y->args[k].kind != ARG_NODE
							: !arg_equal(&x->args[k], &y->args[k]))
				return false;
	}
	return true;
}

/* The steps of a part on all of x; -1 with *err. */
static int take_steps(struct rewrite *rw, const struct part_steps *steps, int x, struct err *err)
{
	for (int i = steps->n - 1; i >= 0 && x >= 0; i--) {
		const struct node *n = rw->g->nodes[steps->step[i]];
		struct arg args[MAX_ARGS];

		for (int a = 0; a < n->n_args; a++)
			args[a] = n->args[a].kind == ARG_NODE ? arg_node(x) : n->args[a];
		x = graph_add(
		    rw->g, &(struct node_spec){ n->op, args, n->n_args, n->line, n->column }, err);
	}
	return x;
}

struct cat_parts {
	const struct node *cat;
	int dim, n;
	struct part_steps part[MAX_ARGS];
};

/* Along the cat's dim, whether an element's part has the steps of part `like`. */
static int add_mask(struct graph *g, const struct cat_parts *c, int like)
{
	struct shape shape = { .rank = c->cat->shape.rank };
	bool mask[MOST_MASK];
	int64_t at = 0;

	for (int d = 0; d < shape.rank; d++)
		shape.size[d] = d == c->dim ? c->cat->shape.size[d] : sym_const(g->syms, 1);
	for (int i = 0; i < c->n; i++) {
		int64_t size = g->nodes[c->part[i].from]->shape.size[c->dim]->value;

		memset(mask + at, same_steps(g, &c->part[i], &c->part[like]), (size_t)size);
		at += size;
	}
	return graph_constant(g, DTYPE_BOOL, &shape, mask);
}

/* A cat, or a run of one's indices. */
static bool is_joined(const struct graph *g, const struct node *n)
{
	while (n->op == OP_slice || n->op == OP_narrow)
		n = g->nodes[n->args[0].node];
	return op_info(n->op)->kind == KIND_JOIN;
}

/* False where the cat stays as it is. */
static bool find_parts(const struct rewrite *rw, struct cat_parts *c)
{
	const struct graph *g = rw->g;
	const struct sym *size = c->cat->shape.size[c->dim];
	int different = 0;
	bool any = false;

	for (int a = 1; a < c->cat->n_args; a++) {
		const struct node *from;
		bool known = false;

		if (c->cat->args[a].kind != ARG_NODE)
			continue;
		find_steps(rw, c->cat->args[a].node, &c->part[c->n]);
		from = g->nodes[c->part[c->n].from];
		if (is_joined(g, from)) /* pass hoist_lookups chooses among all of them at once */
			return false;
		if (from->dtype != c->cat->dtype || from->shape.rank != c->cat->shape.rank ||
		    !sym_is_const(from->shape.size[c->dim]))
			return false;
		for (int i = 0; i < c->n; i++)
			known |= same_steps(g, &c->part[i], &c->part[c->n]);
		different += !known;
		any |= c->part[c->n++].n > 0;
	}
	return any && c->n > 1 && different <= MOST_FUNCTIONS && sym_is_const(size) &&
	       size->value <= MOST_MASK;
}

/* Whether a part after i has its steps. */
static bool comes_again(const struct graph *g, const struct cat_parts *c, int i)
{
	for (int k = i + 1; k < c->n; k++)
		if (same_steps(g, &c->part[i], &c->part[k]))
			return true;
	return false;
}

/* ---- stack: each element computes the parts of its place, and has its own of them */

/* Of more ops than that all parts are computed too often. */
enum { MOST_STACKED = 4, STACKED_DEPTH = 8, MOST_STACKED_OPS = 16 };

/* What a stack's parts are computed for: all places of the dim that it joins them along. */
struct stacked {
	const struct node *cat;
	int dim, n_ops; /* those that a part takes */
};

/* Whether node x of the new list is an op on elements that the stack alone reads. */
static bool is_own(const struct rewrite *rw, int x)
{
	const struct hoist *hoist = rw->state;
	const struct node *n = rw->g->nodes[x];

	return x < hoist->cap && hoist->made_uses[x] == 1 &&
	       op_info(n->op)->kind == KIND_POINTWISE && !n->weak && !op_has(n->op, FACT_COPY);
}

static int spread_op(struct rewrite *rw, struct stacked *s, int x, const struct node *view,
		     int depth, struct err *err);

/* The view of x (NULL: x itself) at all places of the stack; -1 with *err. */
static int spread(struct rewrite *rw, struct stacked *s, int x, const struct node *view, int depth,
		  struct err *err)
{
	struct arg to[2] = { { 0 }, arg_ints(s->cat->shape.size, s->cat->shape.rank) };

	if (!view && rw->g->nodes[x]->op == OP_unsqueeze &&
	    is_own(rw, rw->g->nodes[x]->args[0].node)) {
		view = rw->g->nodes[x];
		x = view->args[0].node;
	}
	if (depth > 0 && is_own(rw, x))
		return spread_op(rw, s, x, view, depth - 1, err);
	to[0] = arg_node(x);
	if (view) {
		struct arg args[MAX_ARGS];

		memcpy(args, view->args, (size_t)view->n_args * sizeof(*args));
		args[0] = arg_node(x);
		to[0].node = graph_add(
		    rw->g,
		    &(struct node_spec){ view->op, args, view->n_args, view->line, view->column },
		    err);
	}
	if (to[0].node < 0)
		return -1;
	return graph_add(
	    rw->g, &(struct node_spec){ OP_expand, to, 2, s->cat->line, s->cat->column }, err);
}

/* The op x of what its operands are at all places. */
static int spread_op(struct rewrite *rw, struct stacked *s, int x, const struct node *view,
		     int depth, struct err *err)
{
	const struct node *of = rw->g->nodes[x];
	struct arg args[MAX_ARGS];

	s->n_ops++;
	for (int a = 0; a < of->n_args; a++) {
		args[a] = of->args[a];
		if (args[a].kind != ARG_NODE || rw->g->nodes[args[a].node]->shape.rank == 0)
			continue;
		args[a].node = view ? expand_operand(rw, of, args[a].node, err) : args[a].node;
		if (args[a].node >= 0)
			args[a].node = spread(rw, s, args[a].node, view, depth, err);
		if (args[a].node < 0)
			return -1;
	}
	return graph_add(
	    rw->g, &(struct node_spec){ of->op, args, of->n_args, of->line, of->column }, err);
}

/* Whether all parts have one index along the dim, and one of them at least is computed for it. */
static bool is_stack(const struct rewrite *rw, const struct stacked *s, const int *part, int n)
{
	bool computed = false;

	for (int i = 0; i < n; i++) {
		const struct node *x = rw->g->nodes[part[i]];

		if (!sym_is(x->shape.size[s->dim], 1) || x->dtype != s->cat->dtype || x->weak)
			return false;
		computed |= is_own(rw, x->op == OP_unsqueeze ? x->args[0].node : part[i]);
	}
	return computed && n > 1 && n <= MOST_STACKED;
}

/* Place `place` of a stack of n. */
static int place_mask(struct graph *g, const struct stacked *s, int place)
{
	struct shape shape = { .rank = s->cat->shape.rank };
	bool mask[MOST_STACKED] = { false };

	for (int d = 0; d < shape.rank; d++)
		shape.size[d] = d == s->dim ? s->cat->shape.size[d] : sym_const(g->syms, 1);
	mask[place] = true;
	return graph_constant(g, DTYPE_BOOL, &shape, mask);
}

static int hoist_stack(struct rewrite *rw, const struct node *cat, int dim, struct err *err)
{
	struct stacked s = { cat, dim, 0 };
	int before = rw->g->n_nodes, part[MAX_ARGS], n = 0, value = -1;

	for (int a = 1; a < cat->n_args; a++)
		if (cat->args[a].kind == ARG_NODE)
			part[n++] = cat->args[a].node;
	if (!is_stack(rw, &s, part, n))
		return REWRITE_KEEP;
	for (int i = n - 1; i >= 0; i--) {
		struct arg choice[3] = { { 0 }, { 0 }, arg_node(value) };

		choice[1] = arg_node(spread(rw, &s, part[i], NULL, STACKED_DEPTH, err));
		if (choice[1].node < 0)
			return REWRITE_FAILED;
		if (i == n - 1) {
			value = choice[1].node;
			continue;
		}
		choice[0] = arg_node(place_mask(rw->g, &s, i));
		if (choice[0].node < 0)
			return REWRITE_FAILED;
		value = graph_add(
		    rw->g, &(struct node_spec){ OP_where, choice, 3, cat->line, cat->column }, err);
		if (value < 0)
			return REWRITE_FAILED;
	}
	if (s.n_ops > MOST_STACKED_OPS) {
		rw->g->n_nodes = before;
		return REWRITE_KEEP;
	}
	pass_fired(rw->g, "each place computes its part of a stack", cat, rw->g->nodes[value]);
	return value;
}

static int hoist_cat(struct rewrite *rw, const struct node *cat, struct err *err)
{
	struct cat_parts c = { .cat = cat, .dim = (int)cat->args[0].sym->value };
	struct arg args[MAX_ARGS];
	int raw, value;

	c.dim += c.dim < 0 ? cat->shape.rank : 0;
	value = hoist_stack(rw, cat, c.dim, err);
	if (value != REWRITE_KEEP)
		return value;
	if (!find_parts(rw, &c))
		return REWRITE_KEEP;
	args[0] = cat->args[0];
	for (int i = 0; i < c.n; i++)
		args[i + 1] = arg_node(c.part[i].from);
	raw = graph_add(rw->g, &(struct node_spec){ OP_cat, args, c.n + 1, cat->line, cat->column },
			err);
	value = raw < 0 ? -1 : take_steps(rw, &c.part[c.n - 1], raw, err);
	for (int i = c.n - 2; i >= 0 && value >= 0; i--) {
		struct arg choice[3];

		if (comes_again(rw->g, &c, i))
			continue;
		choice[0] = arg_node(add_mask(rw->g, &c, i));
		choice[1] = arg_node(take_steps(rw, &c.part[i], raw, err));
		choice[2] = arg_node(value);
		if (choice[0].node < 0 || choice[1].node < 0)
			return REWRITE_FAILED;
		value = graph_add(
		    rw->g, &(struct node_spec){ OP_where, choice, 3, cat->line, cat->column }, err);
	}
	if (value < 0)
		return REWRITE_FAILED;
	pass_fired(rw->g, "steps on parts come after their cat", cat, rw->g->nodes[value]);
	return value;
}

/* ---- gather: few elements of what ops on many make */

enum { GATHER_DEPTH = 6, GATHER_NODES = 16, GATHER_FEW = 4 };

struct few {
	struct rewrite *rw;
	const struct node *gather;
	int dim;
	int left; /* nodes that may still be made */
	struct err *err;
};

/* Whether the elements beside each other along the gather's dim have one value of x, and
 * x has those of all other dims that it has at all. */
static bool is_even(const struct few *f, const struct node *of, const struct node *x)
{
	int at = f->dim - (of->shape.rank - x->shape.rank);

	return at < 0 || sym_is(x->shape.size[at], 1);
}

/* Whether each operand is gathered as the result is, or the same for what is gathered. */
static bool gathers(const struct few *f, const struct node *of)
{
	const struct graph *g = f->rw->g;

	if (op_info(of->op)->kind != KIND_POINTWISE || of->weak)
		return false;
	for (int a = 0; a < of->n_args; a++) {
		const struct node *x = of->args[a].kind == ARG_NODE ? g->nodes[of->args[a].node]
								    : NULL;

		if (x && !shape_equal(&x->shape, &of->shape) && !is_even(f, of, x))
			return false;
	}
	return true;
}

static int gather_from(struct few *f, int x)
{
	const struct node *gather = f->gather;
	struct arg args[MAX_ARGS];

	for (int a = 0; a < gather->n_args; a++)
		args[a] = gather->args[a];
	args[0] = arg_node(x);
	f->left--;
	return graph_add(
	    f->rw->g,
	    &(struct node_spec){ gather->op, args, gather->n_args, gather->line, gather->column },
	    f->err);
}

/* What is gathered of x; -1 with *err. */
static int gather_few(struct few *f, int x, int depth)
{
	struct graph *g = f->rw->g;
	const struct node *of = g->nodes[x];
	struct arg args[MAX_ARGS];

	if (depth == 0 || f->left <= 0 || !gathers(f, of))
		return gather_from(f, x);
	for (int a = 0; a < of->n_args; a++) {
		const struct node *operand;

		args[a] = of->args[a];
		operand = args[a].kind == ARG_NODE ? g->nodes[args[a].node] : NULL;
		if (!operand || !shape_equal(&operand->shape, &of->shape))
			continue;
		args[a].node = gather_few(f, args[a].node, depth - 1);
		if (args[a].node < 0)
			return -1;
	}
	f->left--;
	return graph_add(g, &(struct node_spec){ of->op, args, of->n_args, of->line, of->column },
			 f->err);
}

static double hint_numel(const struct graph *g, const struct shape *s)
{
	double n = 1;

	for (int d = 0; d < s->rank; d++)
		n *= (double)sym_hint(g->syms, s->size[d]);
	return n;
}

static int hoist_gather(struct rewrite *rw, const struct node *n, struct err *err)
{
	struct graph *g = rw->g;
	const struct node *of = g->nodes[n->args[0].node];
	struct few few = { .rw = rw, .gather = n, .left = GATHER_NODES, .err = err };
	int before = g->n_nodes, id;

	few.dim = (int)n->args[1].sym->value;
	few.dim += few.dim < 0 ? n->shape.rank : 0;
	if (n->shape.rank == 0 || !gathers(&few, of) ||
	    GATHER_FEW * hint_numel(g, &n->shape) > hint_numel(g, &of->shape))
		return REWRITE_KEEP;
	for (int d = 0; d < n->shape.rank; d++)
		if (d != few.dim && n->shape.size[d] != of->shape.size[d])
			return REWRITE_KEEP;
	id = gather_few(&few, of->id, GATHER_DEPTH);
	if (id < 0)
		return REWRITE_FAILED;
	if (g->nodes[id]->dtype != n->dtype || !shape_equal(&g->nodes[id]->shape, &n->shape)) {
		g->n_nodes = before;
		return REWRITE_KEEP;
	}
	pass_fired(g, "gather of the operands", n, of);
	g->nodes[id]->name = n->name;
	return id;
}

/* ---- the largest of windows */

static int hoist_pool(struct rewrite *rw, const struct node *pool, struct err *err)
{
	struct graph *g = rw->g;
	const struct node *of = g->nodes[pool->args[0].node];
	struct arg args[MAX_ARGS];
	int id;

	if (!op_has(of->op, FACT_RISES) || of->weak ||
	    hint_numel(g, &pool->shape) >= hint_numel(g, &of->shape))
		return REWRITE_KEEP;
	for (int a = 0; a < pool->n_args; a++)
		args[a] = pool->args[a];
	args[0] = of->args[0];
	id = graph_add(
	    g, &(struct node_spec){ pool->op, args, pool->n_args, pool->line, pool->column }, err);
	if (id >= 0)
		id = graph_add(g,
			       &(struct node_spec){ of->op, (struct arg[]){ arg_node(id) }, 1,
						    of->line, of->column },
			       err);
	if (id < 0)
		return REWRITE_FAILED;
	pass_fired(g, "largest of windows of the operand", pool, of);
	g->nodes[id]->name = pool->name;
	return id;
}

/* A cast from 16 bits: the operand in memory is the smaller one, and to cast it again is less than
 * to read the result. */
static bool widens(const struct graph *g, int x)
{
	const struct node *n = g->nodes[x];

	return n->op == OP_to && n->dtype == DTYPE_F32 &&
	       dtype_bytes(g->nodes[n->args[0].node]->dtype) == 2;
}

static int hoist_node(struct rewrite *rw, struct node *n, struct err *err)
{
	struct hoist *hoist = rw->state;
	int id = REWRITE_KEEP, uses = hoist->uses[n->id], x = n->n_args ? n->args[0].node : -1;

	if (is_hoisted(n) && hoist->fuses[n->id] && x < hoist->cap &&
	    (hoist->made_uses[x] == 1 || widens(rw->g, x)) &&
	    takes_views(rw->g, rw->g->nodes[x], n))
		id = hoist_view(rw, n, err);
	else if (n->op == OP_cat && rw->g->calls)
		id = hoist_cat(rw, n, err);
	else if (n->op == OP_gather)
		id = hoist_gather(rw, n, err);
	else if ((n->op == OP_max_pool2d || n->op == OP_adaptive_max_pool2d) && x < hoist->cap &&
		 hoist->made_uses[x] == 1)
		id = hoist_pool(rw, n, err);
	if (id == REWRITE_FAILED)
		return id;
	if (note_uses(hoist, rw->g, id == REWRITE_KEEP ? rw->g->n_nodes : id, uses))
		return id;
	pass_out_of_memory(err);
	return REWRITE_FAILED;
}

/* Views of parts that have no more elements than what they are views of count as one use. */
static bool join_parts(const struct graph *g, const struct hoist *hoist, int *uses)
{
	double *elements = ARENA_ARRAY(g->arena, double, (size_t)g->n_nodes + 1);
	int *parts = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes + 1);

	if (!elements || !parts)
		return false;
	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];

		if (!is_hoisted(n) || !hoist->fuses[id])
			continue;
		elements[n->args[0].node] += hint_numel(g, &n->shape);
		parts[n->args[0].node]++;
	}
	for (int id = 0; id < g->n_nodes; id++)
		if (parts[id] > 1 && parts[id] == uses[id] &&
		    elements[id] <= hint_numel(g, &g->nodes[id]->shape))
			uses[id] = 1;
	return true;
}

/* needs: no COMPOSITE nodes; keeps: values, bit for bit; breaks: leaves nodes that
 * nothing reads */
bool pass_hoist_views(struct pass_run *run, bool *changed, struct err *err)
{
	struct graph *g = run->g;
	int *uses = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes + 1);
	struct hoist hoist = { .uses = uses, .fuses = find_fusing(g) };

	if (!uses || !hoist.fuses)
		return pass_out_of_memory(err);
	for (int id = 0; id < g->n_nodes; id++)
		for (int a = 0; a < g->nodes[id]->n_args; a++)
			if (g->nodes[id]->args[a].kind == ARG_NODE)
				uses[g->nodes[id]->args[a].node]++;
	for (int i = 0; i < g->n_outputs; i++)
		uses[g->outputs[i]] += 2; /* it stays in memory anyway */
	if (!join_parts(g, &hoist, uses))
		return pass_out_of_memory(err);
	return rewrite_run(g, hoist_node, &hoist, changed, err);
}
