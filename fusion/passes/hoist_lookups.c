/* fusion/passes/hoist_lookups.c -- a value is computed where an index reads it.
 *
 * What index_select reads of a result has to lie in memory.  What it reads of the operands is
 * the same: so indices move from the result of an op to what the op is made of, and end at
 * tensors that lie in memory anyway.  An index of an index is one index; a cat of parts that
 * are known by number is, at each point, the part that this point is in.  So is a cat whose
 * parts are made of others (a pad of a roll): the kernel that reads it chooses, and none of
 * the parts is stored.
 *
 * For a GPU alone: a CPU stores and reads runs of a row sooner than it chooses at each point.
 */
#include <string.h>

#include "fusion/graph/view.h"
#include "fusion/passes/fold.h"
#include "fusion/passes/pass.h"

enum {
	MOST_AXES = 3,         /* of one lookup */
	MOST_NODES = 64,       /* made in place of one node, */
	MOST_LEAVES = 6,       /* of which as many read memory */
	DEEPEST = 16,          /* ops that are looked through */
	MOST_USERS = 4,        /* of a value that each of them computes for itself */
	MOST_CHEAP = 8,        /* times as many elements as there are, of cheap ops */
	MOST_LENGTH = 1 << 16, /* of a dim of which each place is known by number */
};

/* Indices along some dims of a value: `index` names, for each place of the result, one of
 * the value's; a node of one dim. */
struct look_axis {
	int dim, index;
};

struct look {
	int n;
	struct look_axis axis[MOST_AXES];
};

struct lookups {
	struct rewrite *rw;
	const int *uses, *looks;     /* by id of the old list: who reads it, and by an index */
	int *made_uses, *made_looks; /* by id of the new list */
	int *narrow;                 /* an index\'s numbers in 32 bits; 0: not made */
	const struct look **made;    /* what a lookup that was made here reads */
	int cap, left, leaves;
	struct err *err;
	bool failed; /* *err is set */
};

static struct graph *graph_of(const struct lookups *l)
{
	return l->rw->g;
}

static const struct node *node_of(const struct lookups *l, int id)
{
	return l->rw->g->nodes[id];
}

/* What was tried after so many nodes is not needed. */
static void forget(struct lookups *l, int before)
{
	for (int i = 0; i < l->cap; i++)
		if (l->narrow[i] >= before)
			l->narrow[i] = 0;
	graph_of(l)->n_nodes = before;
}

/* -1: there is no room for more, or *err is set. */
static int add(struct lookups *l, enum op op, const struct arg *args, int n, int like)
{
	const struct node *of = node_of(l, like);
	int id;

	if (l->left-- <= 0 || l->failed)
		return -1;
	id = graph_add(graph_of(l), &(struct node_spec){ op, args, n, of->line, of->column },
		       l->err);
	l->failed |= id < 0;
	return id;
}

/* ---- indices that are numbers */

/* The numbers of an index of one dim; NULL: they are not known. */
static int64_t *numbers_of(const struct lookups *l, int index, int64_t *n)
{
	const struct node *x = node_of(l, index);
	int64_t *to;

	if (op_info(x->op)->kind != KIND_CONSTANT || x->shape.rank != 1 ||
	    x->shape.size[0]->value > MOST_LENGTH)
		return NULL;
	*n = x->shape.size[0]->value;
	to = ARENA_ARRAY(graph_of(l)->arena, int64_t, (size_t)*n + 1);
	for (int64_t i = 0; to && i < *n; i++)
		to[i] = dtype_get_int(x->dtype, x->data, i);
	return to;
}

/* An index of these numbers; -1: out of memory. */
static int add_numbers(struct lookups *l, const int64_t *numbers, int64_t n)
{
	struct graph *g = graph_of(l);
	int32_t *data = ARENA_ARRAY(g->arena, int32_t, (size_t)n + 1);
	struct shape shape = { .rank = 1, .size = { sym_const(g->syms, n) } };
	int id = -1;

	for (int64_t i = 0; data && i < n; i++)
		data[i] = (int32_t)numbers[i];
	if (data && shape.size[0])
		id = graph_constant(g, DTYPE_I32, &shape, data);
	if (id < 0) {
		pass_out_of_memory(l->err);
		l->failed = true;
	}
	return id;
}

/* Which axis is of a dim; -1: none. */
static int axis_of(const struct look *look, int dim)
{
	for (int i = 0; i < look->n; i++)
		if (look->axis[i].dim == dim)
			return i;
	return -1;
}

static int64_t *count_up(const struct lookups *l, int64_t n)
{
	int64_t *to = ARENA_ARRAY(graph_of(l)->arena, int64_t, (size_t)n + 1);

	for (int64_t i = 0; to && i < n; i++)
		to[i] = i;
	return to;
}

/* The places of `dim` that the look reads of x, as numbers; NULL: they are not known, or
 * there are too many axes. */
static int64_t *places_of(const struct lookups *l, const struct look *look, const struct shape *x,
			  int dim, int64_t *n)
{
	int at = axis_of(look, dim);

	if (at >= 0)
		return numbers_of(l, look->axis[at].index, n);
	if (look->n == MOST_AXES || !sym_is_const(x->size[dim]) ||
	    x->size[dim]->value > MOST_LENGTH)
		return NULL;
	*n = x->size[dim]->value;
	return count_up(l, *n);
}

/* The look with other numbers along a dim.  False: no room, or *err is set. */
static bool with_numbers(struct lookups *l, const struct look *look, int dim,
			 const int64_t *numbers, int64_t n, struct look *out)
{
	int at = axis_of(look, dim);

	*out = *look;
	if (at < 0 && out->n == MOST_AXES)
		return false;
	if (at < 0)
		at = out->n++;
	out->axis[at] = (struct look_axis){ dim, add_numbers(l, numbers, n) };
	return out->axis[at].index >= 0;
}

/* Room for what is known of node `id` of the new list. */
static bool reserve(struct lookups *l, int id)
{
	struct graph *g = graph_of(l);
	int cap = 2 * id + 64;
	int *uses, *looks, *narrow;
	const struct look **made;

	if (id < l->cap)
		return true;
	uses = ARENA_ARRAY(g->arena, int, (size_t)cap);
	looks = ARENA_ARRAY(g->arena, int, (size_t)cap);
	narrow = ARENA_ARRAY(g->arena, int, (size_t)cap);
	made = arena_array(g->arena, (size_t)cap, sizeof(*made));
	if (!uses || !looks || !narrow || !made) {
		l->failed = true;
		return pass_out_of_memory(l->err);
	}
	for (int i = 0; i < cap; i++) {
		uses[i] = i < l->cap ? l->made_uses[i] : 1; /* made here: for one */
		looks[i] = i < l->cap ? l->made_looks[i] : 0;
		made[i] = i < l->cap ? l->made[i] : NULL;
		narrow[i] = i < l->cap ? l->narrow[i] : 0;
	}
	l->made_uses = uses;
	l->made_looks = looks;
	l->made = made;
	l->narrow = narrow;
	l->cap = cap;
	return true;
}

/* An index of numbers that are known has them in 32 bits, once. */
static int narrowed(struct lookups *l, int index)
{
	const struct node *n = node_of(l, index);
	int64_t count, *numbers;

	if (n->dtype != DTYPE_I64 || !reserve(l, index) || l->narrow[index])
		return n->dtype != DTYPE_I64 || l->failed ? index : l->narrow[index];
	numbers = numbers_of(l, index, &count);
	for (int64_t i = 0; numbers && i < count; i++)
		if (numbers[i] < INT32_MIN || numbers[i] > INT32_MAX)
			return index;
	if (!numbers)
		return index;
	count = add_numbers(l, numbers, count);
	l->narrow[index] = count < 0 ? 0 : (int)count;
	return (int)count;
}

/* ---- a lookup as a node */

/* Index i as one over the dims of n axes: [1, length, 1] expanded to [a, length, c]. */
static int spread(struct lookups *l, int index, int i, const struct sym *const *sizes, int n)
{
	struct arg args[2] = { arg_node(index), arg_ints(sizes, n) };
	const struct sym *own[MOST_AXES];

	for (int k = 0; k < n; k++)
		own[k] = k == i ? sizes[i] : sym_const(graph_of(l)->syms, 1);
	args[1] = arg_ints(own, n);
	args[0].node = add(l, OP_reshape, args, 2, index);
	args[1] = arg_ints(sizes, n);
	return args[0].node < 0 ? -1 : add(l, OP_expand, args, 2, index);
}

/* Axes side by side, in the order of their dims; those between them are walked as they are.
 * False: too many, or a size is not known. */
static bool fill_gaps(struct lookups *l, const struct look *look, const struct shape *x,
		      struct look *out)
{
	int first = MAX_RANK, last = -1;

	for (int i = 0; i < look->n; i++) {
		first = look->axis[i].dim < first ? look->axis[i].dim : first;
		last = look->axis[i].dim > last ? look->axis[i].dim : last;
	}
	*out = (struct look){ 0 };
	for (int d = first; d <= last; d++) {
		int at = axis_of(look, d);
		int64_t *numbers;

		if (out->n == MOST_AXES)
			return false;
		out->axis[out->n].dim = d;
		if (at >= 0) {
			out->axis[out->n].index = narrowed(l, look->axis[at].index);
			if (out->axis[out->n++].index < 0)
				return false;
			continue;
		}
		if (!sym_is_const(x->size[d]) || x->size[d]->value > MOST_LENGTH)
			return false;
		numbers = count_up(l, x->size[d]->value);
		out->axis[out->n].index = numbers ? add_numbers(l, numbers, x->size[d]->value) : -1;
		if (out->axis[out->n++].index < 0)
			return false;
	}
	return true;
}

static int note_look(struct lookups *l, int id, const struct look *look)
{
	struct look *copy;

	if (id < 0 || !reserve(l, id))
		return -1;
	copy = ARENA_NEW(graph_of(l)->arena, struct look);
	if (!copy) {
		pass_out_of_memory(l->err);
		l->failed = true;
		return -1;
	}
	*copy = *look;
	l->made[id] = copy;
	return id;
}

/* What the look reads of x, which lies in memory. */
static int add_lookup(struct lookups *l, int x, const struct look *look)
{
	struct arg args[2 + MOST_AXES] = { arg_node(x) };
	const struct sym *sizes[MOST_AXES];
	struct look all;

	if (look->n == 0)
		return x;
	if (l->leaves-- <= 0)
		return -1;
	if (!fill_gaps(l, look, &node_of(l, x)->shape, &all))
		return -1;
	args[1] = arg_int(graph_of(l), all.axis[0].dim);
	args[2] = arg_node(all.axis[0].index);
	if (all.n == 1)
		return add(l, OP_index_select, args, 3, x);
	for (int i = 0; i < all.n; i++)
		sizes[i] = node_of(l, all.axis[i].index)->shape.size[0];
	for (int i = 0; i < all.n; i++) {
		args[2 + i] = arg_node(spread(l, all.axis[i].index, i, sizes, all.n));
		if (args[2 + i].node < 0)
			return -1;
	}
	return note_look(l, add(l, OP_lookup, args, 2 + all.n, x), &all);
}

/* ---- what a look reads of an op's result */

static int look_at(struct lookups *l, int x, const struct look *look, int depth);

/* The sizes of what the look reads. */
static struct shape looked_shape(const struct lookups *l, const struct shape *x,
				 const struct look *look)
{
	struct shape to = *x;

	for (int i = 0; i < look->n; i++)
		to.size[look->axis[i].dim] = node_of(l, look->axis[i].index)->shape.size[0];
	return to;
}

static double hint_numel(const struct lookups *l, const struct shape *s)
{
	double n = 1;

	for (int d = 0; d < s->rank; d++)
		n *= (double)sym_hint(graph_of(l)->syms, s->size[d]);
	return n;
}

/* Whether who reads the value by an index may compute it for itself. */
static bool may_repeat(const struct lookups *l, int x, const struct look *look)
{
	const struct node *n = node_of(l, x);
	const struct shape to = looked_shape(l, &n->shape, look);
	bool slow = op_info(n->op)->transcendental || op_has(n->op, FACT_SLOW);
	double more = hint_numel(l, &to), most = hint_numel(l, &n->shape) * (slow ? 1 : MOST_CHEAP);

	if (op_info(n->op)->kind == KIND_CREATE)
		return true;
	if (more > most)
		return false;
	if (x >= l->cap || l->made_uses[x] == 1) /* made here, or read once */
		return true;
	return !slow && l->made_uses[x] <= MOST_USERS && l->made_looks[x] == l->made_uses[x];
}

/* An index of an index, along one dim: what `by` names of `of`.  False: it is not known by
 * number, or *err is set. */
static bool look_along(struct lookups *l, const struct look_axis *of, struct look *look)
{
	int at = axis_of(look, of->dim);
	int64_t inner, outer, *first, *then;

	if (at < 0) {
		if (look->n == MOST_AXES)
			return false;
		look->axis[look->n++] = *of;
		return true;
	}
	first = numbers_of(l, of->index, &inner);
	then = numbers_of(l, look->axis[at].index, &outer);
	for (int64_t i = 0; first && then && i < outer; i++) {
		if (then[i] < 0 || then[i] >= inner)
			return false; /* an error that comes when it runs */
		then[i] = first[then[i]];
	}
	return first && then && with_numbers(l, look, of->dim, then, outer, look);
}

/* What an index_select, or a lookup that was made here, reads; NULL: it is neither. */
static const struct look *look_of(const struct lookups *l, const struct node *n, struct look *own)
{
	int dim;

	if (n->op == OP_lookup && n->id < l->cap)
		return l->made[n->id];
	if (n->op != OP_index_select || n->args[2].kind != ARG_NODE ||
	    node_of(l, n->args[2].node)->shape.rank != 1)
		return NULL;
	dim = (int)n->args[1].sym->value;
	*own = (struct look){
		.n = 1, .axis = { { dim < 0 ? dim + n->shape.rank : dim, n->args[2].node } }
	};
	return own;
}

static int look_again(struct lookups *l, const struct node *n, const struct look *look, int depth)
{
	struct look own, next = *look;
	const struct look *of = look_of(l, n, &own);

	for (int i = 0; i < of->n; i++)
		if (!look_along(l, &of->axis[i], &next))
			return -1;
	return look_at(l, n->args[0].node, &next, depth);
}

/* An operand of a pointwise op of these sizes; fewer axes where it is the same along one. */
static int look_at_operand(struct lookups *l, int x, const struct node *of, const struct look *look,
			   int depth)
{
	const struct shape *s = &node_of(l, x)->shape;
	int shift = of->shape.rank - s->rank;
	struct look own = { 0 };

	for (int i = 0; i < look->n; i++) {
		int d = look->axis[i].dim - shift;

		if (d >= 0 && !sym_is(s->size[d], 1))
			own.axis[own.n++] = (struct look_axis){ d, look->axis[i].index };
	}
	return own.n ? look_at(l, x, &own, depth) : x;
}

static int look_at_operands(struct lookups *l, const struct node *of, int like,
			    const struct look *look, int depth)
{
	struct arg args[MAX_ARGS];

	for (int a = 0; a < of->n_args; a++) {
		args[a] = of->args[a];
		if (args[a].kind != ARG_NODE)
			continue;
		args[a].node = look_at_operand(l, args[a].node, of, look, depth);
		if (args[a].node < 0)
			return -1;
	}
	return add(l, of->op, args, of->n_args, like);
}

/* A tensor of one value. */
static int look_at_fill(struct lookups *l, int x, const struct look *look)
{
	const struct node *n = node_of(l, x);
	struct shape to = looked_shape(l, &n->shape, look);
	struct arg arg = arg_node(x), args[3];
	struct known_value known;

	if (!known_arg(graph_of(l), &arg, &known) || !known.uniform)
		return -1;
	args[0] = arg_ints(to.size, to.rank);
	args[1] = known_number(graph_of(l), known.dtype, &known.element);
	args[2] = arg_dtype(n->dtype);
	return add(l, OP_full, args, 3, x);
}

/* ---- cats */

struct cat_places {
	const struct node *cat;
	int dim, n;
	int part[MAX_ARGS];
	int64_t begin[MAX_ARGS + 1];
	const int64_t *place; /* along its dim, of each that is read */
	int64_t n_places;
};

/* False: a size is not known. */
static bool find_parts(const struct lookups *l, const struct node *cat, struct cat_places *out)
{
	*out = (struct cat_places){ .cat = cat, .dim = (int)cat->args[0].sym->value };
	out->dim += out->dim < 0 ? cat->shape.rank : 0;
	for (int a = 1; a < cat->n_args; a++) {
		const struct node *x;

		if (cat->args[a].kind != ARG_NODE)
			continue;
		x = node_of(l, cat->args[a].node);
		if (x->shape.rank != cat->shape.rank || !sym_is_const(x->shape.size[out->dim]) ||
		    x->dtype != cat->dtype)
			return false;
		out->part[out->n] = x->id;
		out->begin[out->n + 1] = out->begin[out->n] + x->shape.size[out->dim]->value;
		out->n++;
	}
	return out->n > 0;
}

/* Where a part that is a run of another tensor's indices begins there; -1: it is none. */
static int64_t run_of(const struct lookups *l, int part, int dim, int *of)
{
	const struct node *n = node_of(l, part);
	int own;

	if ((n->op != OP_slice && n->op != OP_narrow) || n->args[1].kind != ARG_INT ||
	    !sym_is_const(n->args[1].sym) || n->args[2].kind != ARG_INT ||
	    !sym_is_const(n->args[2].sym) || n->args[2].sym->value < 0)
		return -1;
	own = (int)n->args[1].sym->value;
	if ((own < 0 ? own + n->shape.rank : own) != dim ||
	    (n->op == OP_slice && !sym_is(n->args[4].sym, 1)))
		return -1;
	*of = n->args[0].node;
	return n->args[2].sym->value;
}

/* All parts are runs of one tensor, as those of a roll are: one index of it. */
static int look_at_runs(struct lookups *l, const struct cat_places *p, const struct look *look,
			int depth)
{
	int64_t *numbers = ARENA_ARRAY(graph_of(l)->arena, int64_t, (size_t)p->n_places + 1);
	int64_t begin[MAX_ARGS];
	struct look next;
	int of = -1, all = -1;
	bool once = true;

	for (int k = 0; k < p->n; k++) {
		begin[k] = run_of(l, p->part[k], p->dim, &of);
		if (begin[k] < 0 || (k > 0 && of != all))
			return -1;
		all = of;
		once &= p->part[k] >= l->cap || l->made_uses[p->part[k]] == 1;
	}
	if (once && all < l->cap && l->made_uses[all] == p->n)
		l->made_uses[all] = 1; /* by the cat, which goes */
	for (int64_t i = 0; numbers && i < p->n_places; i++) {
		int k = 0;

		while (p->place[i] >= p->begin[k + 1])
			k++;
		numbers[i] = begin[k] + p->place[i] - p->begin[k];
	}
	if (!numbers || !with_numbers(l, look, p->dim, numbers, p->n_places, &next))
		return -1;
	return look_at(l, all, &next, depth);
}

static bool is_place(const struct cat_places *p, int k, int64_t i)
{
	return p->place[i] >= p->begin[k] && p->place[i] < p->begin[k + 1];
}

/* Along the cat's dim, whether a place is one of the part. */
static int add_mask(struct lookups *l, const struct cat_places *p, int k)
{
	struct graph *g = graph_of(l);
	struct shape shape = { .rank = p->cat->shape.rank };
	bool *mask = ARENA_ARRAY(g->arena, bool, (size_t)p->n_places + 1);
	int id = -1;

	for (int d = 0; d < shape.rank; d++)
		shape.size[d] = sym_const(g->syms, d == p->dim ? p->n_places : 1);
	for (int64_t i = 0; mask && i < p->n_places; i++)
		mask[i] = is_place(p, k, i);
	if (mask)
		id = graph_constant(g, DTYPE_BOOL, &shape, mask);
	if (id < 0) {
		pass_out_of_memory(l->err);
		l->failed = true;
	}
	return id;
}

/* What the look reads of part k; where it reads another part, any of this one's places. */
static int look_at_part(struct lookups *l, const struct cat_places *p, int k,
			const struct look *look, int depth)
{
	int64_t *numbers = ARENA_ARRAY(graph_of(l)->arena, int64_t, (size_t)p->n_places + 1);
	int64_t size = p->begin[k + 1] - p->begin[k];
	struct look next;

	for (int64_t i = 0; numbers && i < p->n_places; i++) {
		int64_t at = p->place[i] - p->begin[k];

		numbers[i] = at < 0 ? 0 : at >= size ? size - 1 : at;
	}
	if (!numbers || !with_numbers(l, look, p->dim, numbers, p->n_places, &next))
		return -1;
	return look_at(l, p->part[k], &next, depth);
}

/* Part k beside those after it, whose value is *value (-1: none of them has a place).  False:
 * it cannot be said so, or *err is set. */
static bool choose_part(struct lookups *l, const struct cat_places *p, int k,
			const struct look *look, int *value, int depth)
{
	struct arg choice[3];
	int64_t here = 0;

	for (int64_t i = 0; i < p->n_places; i++)
		here += is_place(p, k, i);
	if (here == 0)
		return true;
	choice[1] = arg_node(look_at_part(l, p, k, look, depth));
	if (choice[1].node >= 0 && *value >= 0) {
		choice[0] = arg_node(add_mask(l, p, k));
		choice[2] = arg_node(*value);
		choice[1].node = choice[0].node < 0 ? -1 : add(l, OP_where, choice, 3, p->cat->id);
	}
	*value = choice[1].node;
	return *value >= 0;
}

static int look_at_cat(struct lookups *l, int x, const struct look *look, int depth)
{
	struct cat_places p;
	int value = -1, runs;

	if (!find_parts(l, node_of(l, x), &p))
		return -1;
	p.place = places_of(l, look, &p.cat->shape, p.dim, &p.n_places);
	for (int64_t i = 0; p.place && i < p.n_places; i++)
		if (p.place[i] < 0 || p.place[i] >= p.begin[p.n])
			return -1; /* an error that comes when it runs */
	if (!p.place || p.n_places == 0)
		return -1;
	runs = look_at_runs(l, &p, look, depth);
	if (runs >= 0 || l->failed)
		return runs;
	for (int k = p.n - 1; k >= 0; k--)
		if (!choose_part(l, &p, k, look, &value, depth))
			return -1;
	return value;
}

/* The node that has what the look reads of x; -1: it cannot be said so, or *err is set. */
static int look_at(struct lookups *l, int x, const struct look *look, int depth)
{
	const struct node *n = node_of(l, x);
	enum op_kind kind = op_info(n->op)->kind;
	int before = graph_of(l)->n_nodes, left = l->left, leaves = l->leaves, id = -1;
	struct look own;

	if (depth > 0 && !n->weak && may_repeat(l, x, look)) {
		if (look_of(l, n, &own))
			id = look_again(l, n, look, depth - 1);
		else if (kind == KIND_JOIN)
			id = look_at_cat(l, x, look, depth - 1);
		else if (kind == KIND_CREATE)
			id = look_at_fill(l, x, look);
		else if (kind == KIND_POINTWISE && !op_has(n->op, FACT_DRAWS))
			id = look_at_operands(l, n, x, look, depth - 1);
	}
	if (id >= 0 || l->failed)
		return id;
	forget(l, before);
	l->left = left;
	l->leaves = leaves;
	return add_lookup(l, x, look);
}

/* ---- where it begins */

/* The node that replaces n; REWRITE_KEEP where nothing comes of it. */
static int replaced(struct lookups *l, const struct node *n, int id, int before)
{
	if (l->failed)
		return REWRITE_FAILED;
	if (id >= 0 && node_of(l, id)->dtype == n->dtype &&
	    shape_equal(&node_of(l, id)->shape, &n->shape)) {
		if (id >= before)
			graph_of(l)->nodes[id]->name = n->name;
		return id;
	}
	forget(l, before);
	return REWRITE_KEEP;
}

/* An index_select of what is made of others. */
static int hoist_select(struct lookups *l, const struct node *n)
{
	const struct node *of = node_of(l, n->args[0].node);
	enum op_kind kind = op_info(of->op)->kind;
	int before = graph_of(l)->n_nodes, dim = (int)n->args[1].sym->value, id;
	struct look look = { .n = 1 };

	if (n->args[2].kind != ARG_NODE || node_of(l, n->args[2].node)->shape.rank != 1 ||
	    of->shape.rank == 0 ||
	    (of->op != OP_index_select && kind != KIND_JOIN && kind != KIND_POINTWISE))
		return REWRITE_KEEP;
	look.axis[0] = (struct look_axis){ dim < 0 ? dim + n->shape.rank : dim, n->args[2].node };
	id = replaced(l, n, look_at(l, of->id, &look, DEEPEST), before);
	if (id >= 0)
		pass_fired(graph_of(l), "an index of the operands", n, node_of(l, id));
	return id;
}

/* Whether a part of a cat is made of another cat, or of an index, by ops of one use. */
static bool is_made(const struct lookups *l, int x, int depth)
{
	const struct node *n = node_of(l, x);
	bool view = op_info(n->op)->kind == KIND_VIEW; /* of what its sisters are, too */

	if (x >= l->cap || l->made_uses[x] != 1 || depth == 0)
		return false;
	if (view)
		x = n->args[0].node;
	if (view && n->op != OP_slice && n->op != OP_narrow)
		return false;
	n = node_of(l, x);
	if (op_info(n->op)->kind == KIND_JOIN || n->op == OP_index_select || n->op == OP_lookup)
		return true;
	if (op_info(n->op)->kind != KIND_POINTWISE)
		return false;
	for (int a = 0; a < n->n_args; a++)
		if (n->args[a].kind == ARG_NODE && is_made(l, n->args[a].node, depth - 1))
			return true;
	return false;
}

/* A cat of cats. */
static int hoist_cat(struct lookups *l, struct node *n)
{
	const struct look none = { 0 };
	int before = graph_of(l)->n_nodes, id;
	bool made = false;

	for (int a = 1; a < n->n_args; a++)
		made |= n->args[a].kind == ARG_NODE && is_made(l, n->args[a].node, DEEPEST);
	if (!made)
		return REWRITE_KEEP;
	id = graph_append(graph_of(l), n);
	if (id < 0) {
		pass_out_of_memory(l->err);
		return REWRITE_FAILED;
	}
	id = replaced(l, n, look_at_cat(l, id, &none, DEEPEST), before);
	if (id >= 0)
		pass_fired(graph_of(l), "each point of a cat is of its part", n, node_of(l, id));
	return id;
}

/* ---- views of what an index reads are views of the index */

/* What the view does to the indices alone, as an argument of its op; `sizes` are its.  False where
 * it moves other dims of what it is a view of. */
static bool view_of_indices(const struct lookups *l, const struct node *view, const struct node *of,
			    struct arg *out, const struct sym **sizes)
{
	int rank = node_of(l, of->args[2].node)->shape.rank, first = (int)of->args[1].sym->value;
	int rest, own;
	bool reorders = view->op == OP_permute;

	first += first < 0 ? node_of(l, of->args[0].node)->shape.rank : 0;
	rest = of->shape.rank - first - rank;
	own = view->shape.rank - first - rest;
	if (rank == 0 || own < 1 || (!reorders && view->op != OP_reshape && view->op != OP_view))
		return false;
	for (int d = 0; d < first + rest; d++) {
		int to = d < first ? d : d + own, from = d < first ? d : d + rank;

		if (view->shape.size[to] != of->shape.size[from] ||
		    (reorders && view->args[1].ints[to]->value != from &&
		     view->args[1].ints[to]->value != from - of->shape.rank))
			return false;
	}
	for (int d = 0; d < own; d++) {
		sizes[d] = view->shape.size[first + d];
		if (reorders) {
			int64_t from = view->args[1].ints[first + d]->value;

			sizes[d] = sym_const(graph_of(l)->syms, from < 0
								    ? from + of->shape.rank - first
								    : from - first);
		}
	}
	*out = arg_ints(sizes, own);
	return true;
}

/* What the view reads of x at the places that the look names. */
static int hoist_view(struct lookups *l, const struct node *view)
{
	const struct node *of = node_of(l, view->args[0].node);
	int before = graph_of(l)->n_nodes, id;
	const struct sym *sizes[MAX_RANK];
	struct arg args[MAX_ARGS], index[2];

	if ((of->op != OP_lookup && of->op != OP_index_select) || of->id >= l->cap ||
	    l->made_uses[of->id] != 1)
		return REWRITE_KEEP;
	if (!view_of_indices(l, view, of, &index[1], sizes))
		return REWRITE_KEEP;
	for (int a = 0; a < of->n_args; a++) {
		struct view_layout layout;

		args[a] = of->args[a];
		if (a < 2 || args[a].kind != ARG_NODE)
			continue;
		index[0] = args[a];
		args[a].node = add(l, view->op, index, 2, view->args[0].node);
		if (args[a].node < 0 || !view_layout(graph_of(l), args[a].node, &layout))
			return replaced(l, view, -1, before);
	}
	id = add(l, OP_lookup, args, of->n_args, of->id);
	if (id >= 0 && id < l->cap)
		l->made[id] = NULL; /* its indices are views */
	return replaced(l, view, id, before);
}

/* ---- */

static int hoist_node(struct rewrite *rw, struct node *n, struct err *err)
{
	struct lookups *l = rw->state;
	int id = REWRITE_KEEP, uses = l->uses[n->id], looks = l->looks[n->id], at;

	l->rw = rw;
	l->err = err;
	l->left = MOST_NODES;
	l->leaves = MOST_LEAVES;
	if (n->op == OP_index_select)
		id = hoist_select(l, n);
	else if (n->op == OP_cat)
		id = hoist_cat(l, n);
	else if (op_info(n->op)->kind == KIND_VIEW)
		id = hoist_view(l, n);
	at = id == REWRITE_KEEP ? rw->g->n_nodes : id;
	if (id == REWRITE_FAILED || !reserve(l, at))
		return REWRITE_FAILED;
	if (id == REWRITE_KEEP)
		l->made[at] = NULL; /* of what was tried there */
	l->made_uses[at] = uses;
	l->made_looks[at] = looks;
	return id;
}

/* needs: no COMPOSITE nodes; keeps: values, bit for bit; breaks: leaves nodes that
 * nothing reads */
bool pass_hoist_lookups(struct pass_run *run, bool *changed, struct err *err)
{
	struct graph *g = run->g;
	int *uses = ARENA_ARRAY(g->arena, int, g->n_nodes + 1);
	int *looks = ARENA_ARRAY(g->arena, int, g->n_nodes + 1);
	struct lookups l = { .uses = uses, .looks = looks };

	if (!uses || !looks)
		return pass_out_of_memory(err);
	if (!g->calls)
		return true;
	for (int i = 0; i < g->n_outputs; i++)
		uses[g->outputs[i]] += 2; /* it stays in memory anyway */
	for (int id = g->n_nodes - 1; id >= 0; id--)
		for (int a = 0; a < g->nodes[id]->n_args && uses[id] > 0; a++) {
			const struct arg *arg = &g->nodes[id]->args[a];

			if (arg->kind != ARG_NODE)
				continue;
			uses[arg->node]++;
			looks[arg->node] += a == 0 && g->nodes[id]->op == OP_index_select;
		}
	return rewrite_run(g, hoist_node, &l, changed, err);
}
