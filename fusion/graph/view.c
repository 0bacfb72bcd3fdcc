/* fusion/graph/view.c -- the layout of views, one step of a chain at a time.
 *
 * Inference has checked the arguments; here they only become strides.
 */
#include "fusion/graph/view.h"

#include <string.h>

#include "fusion/graph/lay.h"

static bool is_view(const struct node *n)
{
	return op_info(n->op)->kind == KIND_VIEW;
}

int view_base(const struct graph *g, int node)
{
	while (is_view(g->nodes[node]))
		node = g->nodes[node]->args[0].node;
	return node;
}

bool view_row_major(const struct graph *g, const struct shape *s,
		    const struct sym *stride[MAX_RANK])
{
	const struct sym *step = sym_const(g->syms, 1);

	for (int d = s->rank - 1; d >= 0; d--) {
		stride[d] = step;
		step = sym_mul(g->syms, step, s->size[d]);
	}
	return step != NULL;
}

struct shape view_memory(const struct graph *g, const struct node *n,
			 const struct sym *stride[MAX_RANK])
{
	struct shape s = n->shape;

	if (n->pitch && s.rank > 0)
		s.size[s.rank - 1] = sym_const(g->syms, n->pitch);
	view_row_major(g, &s, stride);
	if (n->order) {
		const struct sym *step = sym_const(g->syms, 1);

		for (int place = s.rank - 1; place >= 0; place--) {
			int d = lay_dim(n->order, place);

			stride[d] = step;
			step = step ? sym_mul(g->syms, step, s.size[d]) : NULL;
		}
	}
	if (n->channels_last) {
		stride[1] = sym_const(g->syms, 1);
		for (int d = 2; d < s.rank; d++)
			stride[d] = stride[d] ? sym_mul(g->syms, stride[d], s.size[1]) : NULL;
	}
	return s;
}

bool view_contiguous(const struct graph *g, const struct view_layout *l)
{
	const struct sym *step = sym_const(g->syms, 1);

	for (int d = l->shape.rank - 1; step && d >= 0; d--) {
		if (sym_is(l->shape.size[d], 0))
			return true;
		if (sym_is(l->shape.size[d], 1))
			continue;
		if (l->stride[d] != step)
			return false;
		step = sym_mul(g->syms, step, l->shape.size[d]);
	}
	return step != NULL;
}

bool view_repeats(const struct view_layout *l)
{
	bool repeats = false;

	for (int d = 0; d < l->shape.rank; d++) {
		if (sym_is(l->shape.size[d], 0))
			return false; /* it has no element */
		repeats |= sym_is(l->stride[d], 0) && !sym_is(l->shape.size[d], 1);
	}
	return repeats;
}

static int wrap(const struct sym *dim, int rank)
{
	return (int)(dim->value < 0 ? dim->value + rank : dim->value);
}

static const struct sym *wrap_index(const struct graph *g, const struct sym *index,
				    const struct sym *size)
{
	if (sym_is_const(index) && index->value < 0)
		return sym_add(g->syms, index, size);
	return index;
}

/* Whether a run of `made` elements needs the next size to become one of `had`.  A
 * size that is 1 at the capture alone belongs to a run that is not complete. */
static bool needs_more(const struct graph *g, const struct sym *made, const struct sym *had,
		       const struct sym *next)
{
	int64_t a = sym_hint(g->syms, made), b = sym_hint(g->syms, had);

	if (b == 0) /* empty at the capture: the numbers say nothing */
		return sym_is(next, 1) || made != had;
	return sym_is(next, 1) ||
	       (made != had && (a < b || (a == b && sym_hint(g->syms, next) == 1)));
}

/* Walks both shapes from the end: each run of old dims that is one in memory
 * must be a run of new dims.  Where sizes are symbols one run may be equal by
 * the fact that both shapes have as many elements; two may not. */
static bool reshape_strides(const struct graph *g, struct view_layout *l, const struct shape *to)
{
	const struct sym *stride[MAX_RANK], *step, *had, *made, *one = sym_const(g->syms, 1);
	int at = to->rank - 1, assumed = 0;

	if (l->shape.rank == 0) {
		for (int d = 0; d < to->rank; d++)
			l->stride[d] = one;
		return true;
	}
	step = l->stride[l->shape.rank - 1];
	had = made = one;
	for (int d = l->shape.rank - 1; d >= 0; d--) {
		had = sym_mul(g->syms, had, l->shape.size[d]);
		if (d > 0 && (sym_is(l->shape.size[d - 1], 1) ||
			      l->stride[d - 1] == sym_mul(g->syms, had, step)))
			continue;
		while (at >= 0 && had && made && needs_more(g, made, had, to->size[at])) {
			stride[at] = sym_mul(g->syms, made, step);
			made = sym_mul(g->syms, made, to->size[at--]);
		}
		if (!had || !made || sym_hint(g->syms, had) != sym_hint(g->syms, made))
			return false;
		assumed += had != made;
		if (d > 0)
			step = l->stride[d - 1];
		had = made = one;
	}
	if (at >= 0 || assumed > 1)
		return false;
	for (int d = 0; d < to->rank; d++) {
		l->stride[d] = stride[d];
		if (!stride[d])
			return false;
	}
	return true;
}

/* Nothing is read of an empty view, and any strides do.  What lies row by row does so in
 * every shape, whatever symbols tell of its runs. */
static bool reshape(const struct graph *g, struct view_layout *l, const struct shape *to)
{
	for (int d = 0; d < to->rank; d++)
		if (sym_is(to->size[d], 0))
			return view_row_major(g, to, l->stride);
	return reshape_strides(g, l, to) ||
	       (view_contiguous(g, l) && view_row_major(g, to, l->stride));
}

static void permute(struct view_layout *l, const int *order, int rank)
{
	const struct sym *stride[MAX_RANK];

	for (int d = 0; d < rank; d++)
		stride[d] = l->stride[order[d]];
	memcpy(l->stride, stride, sizeof(stride[0]) * (size_t)rank);
}

/* Dims as the user moved them: `to` first get their dims, the rest follows. */
static bool layout_movedim(const struct graph *g, const struct node *n, struct view_layout *l)
{
	int rank = l->shape.rank, order[MAX_RANK], next = 0;
	bool taken[MAX_RANK] = { false };

	(void)g;
	for (int d = 0; d < rank; d++)
		order[d] = -1;
	for (int i = 0; i < n->args[1].n; i++) {
		int from = wrap(n->args[1].ints[i], rank);

		order[wrap(n->args[2].ints[i], rank)] = from;
		taken[from] = true;
	}
	for (int d = 0; d < rank; d++) {
		if (order[d] >= 0)
			continue;
		while (taken[next])
			next++;
		order[d] = next++;
	}
	permute(l, order, rank);
	return true;
}

static bool layout_reorder(const struct graph *g, const struct node *n, struct view_layout *l)
{
	int rank = l->shape.rank, order[MAX_RANK], a = 0, b = 1;

	(void)g;
	for (int d = 0; d < rank; d++)
		order[d] = n->op == OP_permute ? wrap(n->args[1].ints[d], rank) : d;
	if (n->op == OP_transpose) {
		a = wrap(n->args[1].sym, rank);
		b = wrap(n->args[2].sym, rank);
	}
	if (n->op != OP_permute && rank > 1) {
		order[a] = b;
		order[b] = a;
	}
	permute(l, order, rank);
	return true;
}

static bool layout_expand(const struct graph *g, const struct node *n, struct view_layout *l)
{
	const struct sym *stride[MAX_RANK], *zero = sym_const(g->syms, 0);
	int shift = n->shape.rank - l->shape.rank;

	for (int d = 0; d < n->shape.rank; d++)
		stride[d] = d < shift || l->shape.size[d - shift] != n->shape.size[d]
				? zero
				: l->stride[d - shift];
	memcpy(l->stride, stride, sizeof(stride[0]) * (size_t)n->shape.rank);
	return true;
}

static void move(const struct graph *g, struct view_layout *l, const struct sym *steps, int dim)
{
	l->offset = sym_add(g->syms, l->offset, sym_mul(g->syms, steps, l->stride[dim]));
}

static void drop_dim(struct view_layout *l, int dim)
{
	memmove(l->stride + dim, l->stride + dim + 1,
		sizeof(l->stride[0]) * (size_t)(l->shape.rank - dim - 1));
}

/* A dim of size 1 may have any stride. */
static bool layout_unsqueeze(const struct graph *g, const struct node *n, struct view_layout *l)
{
	int dim = wrap(n->args[1].sym, n->shape.rank);
	const struct sym *stride = sym_const(g->syms, 1);

	if (dim < l->shape.rank)
		stride = sym_mul(g->syms, l->shape.size[dim], l->stride[dim]);
	memmove(l->stride + dim + 1, l->stride + dim,
		sizeof(l->stride[0]) * (size_t)(n->shape.rank - dim - 1));
	l->stride[dim] = stride;
	return true;
}

static bool layout_squeeze(const struct graph *g, const struct node *n, struct view_layout *l)
{
	const struct arg *dims = &n->args[1];
	unsigned mask = dims->kind == ARG_INTS ? 0 : ~0u;
	int kept = 0;

	for (int i = 0; dims->kind == ARG_INTS && i < dims->n && l->shape.rank; i++)
		mask |= 1u << wrap(dims->ints[i], l->shape.rank);
	for (int d = 0; d < l->shape.rank; d++)
		if (!(mask >> d & 1) || sym_hint(g->syms, l->shape.size[d]) != 1)
			l->stride[kept++] = l->stride[d];
	return true;
}

static bool layout_reverse(const struct graph *g, const struct node *n, struct view_layout *l)
{
	const struct sym *one = sym_const(g->syms, 1), *minus = sym_const(g->syms, -1);

	for (int i = 0; i < n->args[1].n; i++) {
		int d = wrap(n->args[1].ints[i], l->shape.rank);

		move(g, l, sym_sub(g->syms, l->shape.size[d], one), d);
		l->stride[d] = sym_mul(g->syms, l->stride[d], minus);
	}
	return true;
}

static bool layout_diagonal(const struct graph *g, const struct node *n, struct view_layout *l)
{
	int rank = l->shape.rank, a = wrap(n->args[2].sym, rank), b = wrap(n->args[3].sym, rank);
	int64_t offset = n->args[1].sym->value;
	const struct sym *both = sym_add(g->syms, l->stride[a], l->stride[b]);

	if (offset >= 0)
		move(g, l, sym_const(g->syms, offset), b);
	else
		move(g, l, sym_const(g->syms, -offset), a);
	drop_dim(l, a > b ? a : b);
	l->shape.rank--;
	drop_dim(l, a > b ? b : a);
	l->stride[rank - 2] = both;
	return true;
}

/* The dim that argument 1 names; 0 where it names none. */
static int named_dim(const struct node *n, const struct view_layout *l)
{
	return n->n_args > 1 && n->args[1].kind == ARG_INT && l->shape.rank
		   ? wrap(n->args[1].sym, l->shape.rank)
		   : 0;
}

static bool layout_select(const struct graph *g, const struct node *n, struct view_layout *l)
{
	int dim = named_dim(n, l);

	move(g, l, wrap_index(g, n->args[2].sym, l->shape.size[dim]), dim);
	drop_dim(l, dim);
	return true;
}

static bool layout_narrow(const struct graph *g, const struct node *n, struct view_layout *l)
{
	int dim = named_dim(n, l);

	move(g, l, wrap_index(g, n->args[2].sym, l->shape.size[dim]), dim);
	return true;
}

static bool layout_slice(const struct graph *g, const struct node *n, struct view_layout *l)
{
	int dim = named_dim(n, l);

	move(g, l, n->args[2].sym, dim);
	l->stride[dim] = sym_mul(g->syms, l->stride[dim], n->args[4].sym);
	return true;
}

static bool layout_strided(const struct graph *g, const struct node *n, struct view_layout *l)
{
	if (!view_contiguous(g, l))
		return false;
	l->offset = sym_add(g->syms, l->offset, n->args[3].sym);
	memcpy(l->stride, n->args[2].ints, sizeof(l->stride[0]) * (size_t)n->args[2].n);
	return true;
}

static bool layout_unfold(const struct graph *g, const struct node *n, struct view_layout *l)
{
	int dim = named_dim(n, l);

	l->stride[n->shape.rank - 1] = l->stride[dim];
	l->stride[dim] = sym_mul(g->syms, l->stride[dim], n->args[3].sym);
	return true;
}

static bool layout_same(const struct graph *g, const struct node *n, struct view_layout *l)
{
	(void)g, (void)n, (void)l;
	return true;
}

static bool layout_reshape(const struct graph *g, const struct node *n, struct view_layout *l)
{
	return reshape(g, l, &n->shape);
}

/* Column `layout` of ops.def: what one view does to the layout of its operand.  False
 * where it has no strides. */
static bool (*const layouts[OP_COUNT])(const struct graph *g, const struct node *n,
				       struct view_layout *l) = {
#define VIEW(id, spellings, signature, doc, infer, layout, ...) [OP_##id] = layout_##layout,
#include "fusion/graph/ops_some.h"
};

static bool layout(const struct graph *g, int node, int stop, bool strided, struct view_layout *l)
{
	const struct node *n = g->nodes[node];

	if (node == stop || (stop < 0 && !is_view(n))) {
		*l = (struct view_layout){ .base = node,
					   .shape = n->shape,
					   .offset = sym_const(g->syms, 0) };
		if (!strided)
			return view_row_major(g, &n->shape, l->stride) && l->offset;
		if (n->op == OP_input)
			memcpy(l->stride, n->stride, sizeof(l->stride));
		else
			view_memory(g, n, l->stride);
		for (int d = 0; d < l->shape.rank; d++)
			if (!l->stride[d])
				return false;
		return l->offset != NULL;
	}
	if (!is_view(n) || !layout(g, n->args[0].node, stop, strided, l) ||
	    !layouts[n->op](g, n, l))
		return false;
	l->shape = n->shape;
	for (int d = 0; d < l->shape.rank; d++)
		if (!l->stride[d])
			return false;
	return l->offset != NULL;
}

bool view_layout(const struct graph *g, int node, struct view_layout *out)
{
	return layout(g, node, -1, true, out);
}

/* As reshape_strides(), on numbers. */
static bool reshape_fits(const int64_t *size, const int64_t *stride, int rank, const int64_t *to,
			 int to_rank)
{
	int at = to_rank - 1;

	for (int d = rank - 1; d >= 0; d--) {
		int64_t step = stride[d], had = size[d], made = 1;

		while (d > 0 && (size[d - 1] == 1 || stride[d - 1] == had * step))
			had *= size[--d];
		while (at >= 0 && (made < had || to[at] == 1))
			made *= to[at--];
		if (made != had)
			return false;
	}
	return at < 0;
}

bool view_at_hints(const struct graph *g, int node)
{
	const struct node *n = g->nodes[node];
	int64_t size[MAX_RANK] = { 0 }, stride[MAX_RANK] = { 0 }, to[MAX_RANK] = { 0 };
	struct view_layout l;

	if (!is_view(n) || !view_layout(g, n->args[0].node, &l))
		return false;
	for (int d = 0; d < l.shape.rank; d++) {
		size[d] = sym_hint(g->syms, l.shape.size[d]);
		stride[d] = sym_hint(g->syms, l.stride[d]);
		if (size[d] == 0)
			return true;
	}
	for (int d = 0; d < n->shape.rank; d++)
		to[d] = sym_hint(g->syms, n->shape.size[d]);
	return reshape_fits(size, stride, l.shape.rank, to, n->shape.rank);
}

int view_seams(const struct graph *g, int node, struct view_seam seams[MAX_RANK])
{
	const struct sym *had = sym_const(g->syms, 1), *step, *next;
	struct view_layout l;
	int n = 0;

	if (!is_view(g->nodes[node]) || !view_layout(g, g->nodes[node]->args[0].node, &l) ||
	    l.shape.rank == 0)
		return 0;
	step = l.stride[l.shape.rank - 1];
	for (int d = l.shape.rank - 1; d > 0; d--) {
		had = sym_mul(g->syms, had, l.shape.size[d]);
		next = sym_mul(g->syms, had, step);
		if (!next || l.stride[d - 1] == next || sym_is(l.shape.size[d - 1], 1))
			continue;
		if (!sym_is_const(l.stride[d - 1]) || !sym_is_const(next))
			seams[n++] = (struct view_seam){ l.stride[d - 1], next };
		step = l.stride[d - 1];
		had = sym_const(g->syms, 1);
	}
	return n;
}

bool view_layout_in(const struct graph *g, int node, int base, struct view_layout *out)
{
	return layout(g, node, base, false, out);
}
