/* fusion/passes/views.c -- makes every view an offset and strides into memory.
 *
 * A reshape of what does not lie in order has to copy: the copy becomes a node,
 * which a kernel computes like any other.  A join reads its parts as they lie,
 * so they get its dtype first.  A write to a run of one dim's indices is a join
 * of what lies before it, the value, and the rest: that fuses, a write does not.
 *
 * Rows of 16 bits that a product of a GPU reads or writes begin at multiples of 16 bytes: units for
 * matrices load that many at once, and of odd rows they would load elements one by one.
 *
 * Between convolutions of 16 bits on a GPU channels lie last, the order that cuDNN's kernels for
 * matrix units have; in the other one it turns what each reads and writes.
 */
#include "fusion/graph/view.h"
#include "fusion/passes/fold.h"
#include "fusion/passes/pass.h"

static int add(struct rewrite *rw, const struct node *n, enum op op, struct arg x, struct arg y,
	       struct err *err)
{
	return graph_add(rw->g,
			 &(struct node_spec){ op, (struct arg[]){ x, y }, op_info(op)->n_params,
					      n->line, n->column },
			 err);
}

static int settle_view(struct rewrite *rw, struct node *n, struct err *err)
{
	struct view_layout layout;
	int id = graph_append(rw->g, n), copy;
	bool settled;

	if (id < 0) {
		pass_out_of_memory(err);
		return REWRITE_FAILED;
	}
	settled = view_layout(rw->g, id, &layout);
	rw->g->n_nodes--; /* it was there to be looked at */
	if (settled)
		return REWRITE_KEEP;
	copy = add(rw, n, OP_contiguous, n->args[0], arg_none(), err);
	if (copy < 0)
		return REWRITE_FAILED;
	n->args[0].node = copy;
	rw->changed = true;
	pass_fired(rw->g, "a reshape that has to copy", n, rw->g->nodes[copy]);
	return REWRITE_KEEP;
}

static int settle_join(struct rewrite *rw, struct node *n, struct err *err)
{
	for (int a = 1; a < n->n_args; a++) {
		if (n->args[a].kind != ARG_NODE || rw->g->nodes[n->args[a].node]->dtype == n->dtype)
			continue;
		n->args[a].node = add(rw, n, OP_to, n->args[a], arg_dtype(n->dtype), err);
		if (n->args[a].node < 0)
			return REWRITE_FAILED;
		rw->changed = true;
		pass_fired(rw->g, "parts of one dtype", n, rw->g->nodes[n->args[a].node]);
	}
	return REWRITE_KEEP;
}

/* A number in a join has to lie in memory: as a constant, not as a kernel's work. */
static int number_in_memory(struct rewrite *rw, const struct node *fill, struct err *err)
{
	struct shape none = { 0 };
	struct known_value known;
	struct arg x;
	int id;

	x = arg_node(fill->id);
	if (!known_arg(rw->g, &x, &known) || !known.uniform)
		return fill->id;
	id = graph_constant(rw->g, fill->dtype, &none, &known.element);
	if (id < 0) {
		pass_out_of_memory(err);
		return REWRITE_FAILED;
	}
	return add(rw, fill, OP_expand, arg_node(id), arg_ints(fill->shape.size, fill->shape.rank),
		   err);
}

/* The run of indices of x's dim `dim` that the strides of a put_view name. */
static bool is_run(struct rewrite *rw, const struct node *n, int dim, const struct sym **start)
{
	const struct shape *x = &rw->g->nodes[n->args[0].node]->shape;
	const struct arg *size = &n->args[2], *stride = &n->args[3];
	const struct sym *own[MAX_RANK];
	bool drops = size->n == x->rank - 1;

	if (!view_row_major(rw->g, x, own))
		return false;
	for (int d = 0; d < x->rank; d++) {
		int at = drops && d > dim ? d - 1 : d;

		if (d == dim && drops)
			continue;
		if (stride->ints[at] != own[d] || (d != dim && size->ints[at] != x->size[d]))
			return false;
	}
	*start = sym_floordiv(rw->g->syms, n->args[4].sym, own[dim]);
	return *start && !sym_is(own[dim], 0) &&
	       sym_mul(rw->g->syms, *start, own[dim]) == n->args[4].sym;
}

static int slice(struct rewrite *rw, const struct node *n, int dim, const struct sym *start,
		 const struct sym *end, struct err *err)
{
	return graph_add(rw->g,
			 &(struct node_spec){ OP_slice,
					      (struct arg[]){ n->args[0], arg_int(rw->g, dim),
							      arg_sym(start), arg_sym(end) },
					      4, n->line, n->column },
			 err);
}

/* x[:start], value, x[start + length:] along `dim`, where not empty. */
static int join_run(struct rewrite *rw, const struct node *n, int dim, const struct sym *start,
		    struct err *err)
{
	const struct node *x = rw->g->nodes[n->args[0].node];
	struct arg parts[4] = { arg_int(rw->g, dim) };
	const struct sym *length = sym_const(rw->g->syms, 1), *end;
	int count = 1, value = n->args[1].node;

	if (n->args[2].n == x->shape.rank)
		length = n->args[2].ints[dim];
	end = sym_add(rw->g->syms, start, length);
	if (!sym_is(start, 0))
		parts[count++] = arg_node(slice(rw, n, dim, sym_const(rw->g->syms, 0), start, err));
	if (op_info(rw->g->nodes[value]->op)->kind == KIND_CREATE)
		value = number_in_memory(rw, rw->g->nodes[value], err);
	if (value >= 0 && n->args[2].n < x->shape.rank)
		value = add(rw, n, OP_unsqueeze, arg_node(value), arg_int(rw->g, dim), err);
	parts[count++] = arg_node(value);
	if (end != x->shape.size[dim])
		parts[count++] = arg_node(slice(rw, n, dim, end, x->shape.size[dim], err));
	for (int i = 1; i < count; i++)
		if (parts[i].node < 0)
			return REWRITE_FAILED;
	return graph_add(rw->g, &(struct node_spec){ OP_cat, parts, count, n->line, n->column },
			 err);
}

/* All other parts stay with the function that writes by strides. */
static int settle_put(struct rewrite *rw, struct node *n, struct err *err)
{
	const struct shape *x = &rw->g->nodes[n->args[0].node]->shape;
	const struct sym *start;
	int id;

	if (n->args[2].n != x->rank && n->args[2].n != x->rank - 1)
		return REWRITE_KEEP;
	for (int dim = 0; dim < x->rank; dim++) {
		if (!is_run(rw, n, dim, &start))
			continue;
		id = join_run(rw, n, dim, start, err);
		if (id < 0)
			return REWRITE_FAILED;
		if (!shape_equal(&rw->g->nodes[id]->shape,
				 x)) /* by sizes that only a guard knows */
			return REWRITE_KEEP;
		pass_fired(rw->g, "a write to a run is a join", n, NULL);
		rw->g->nodes[id]->name = n->name;
		return id;
	}
	return REWRITE_KEEP;
}

/* What walks pictures by rows reads a copy of one whose channels lie last, and a convolution to
 * whose result that happens one of a picture whose channels do not. */
static int settle_channels(struct rewrite *rw, struct node *n, struct err *err)
{
	if (n->channels_last && n->op == OP_conv_windows &&
	    !rw->g->nodes[n->args[0].node]->channels_last) {
		n->args[0].node = add(rw, n, OP_contiguous, n->args[0], arg_none(), err);
		if (n->args[0].node < 0)
			return REWRITE_FAILED;
		rw->g->nodes[n->args[0].node]->channels_last = rw->changed = true;
		return REWRITE_KEEP;
	}
	for (int a = 0; a < n->n_args && !op_is_product(n->op) && !n->channels_last; a++) {
		if (n->args[a].kind != ARG_NODE || !rw->g->nodes[n->args[a].node]->channels_last)
			continue;
		n->args[a].node = add(rw, n, OP_contiguous, n->args[a], arg_none(), err);
		if (n->args[a].node < 0)
			return REWRITE_FAILED;
		rw->changed = true;
	}
	return REWRITE_KEEP;
}

static int settle(struct rewrite *rw, struct node *n, struct err *err)
{
	if (n->op == OP_put_view)
		return settle_put(rw, n, err);
	switch (op_info(n->op)->kind) {
	case KIND_VIEW:
		return settle_view(rw, n, err);
	case KIND_JOIN:
		return settle_join(rw, n, err);
	case KIND_LIBRARY:
		return settle_channels(rw, n, err);
	default:
		return REWRITE_KEEP;
	}
}

/* ---- rows of products */

enum { ROW_BYTES = 16, LEAST_ROW = 32, LEAST_ELEMENTS = 1 << 14 };

static bool is_narrow_product(const struct node *n)
{
	return (n->op == OP_matmul || n->op == OP_matmul_nt || n->op == OP_biased) &&
	       n->dtype != dtype_wide(n->dtype);
}

/* Whether it has memory of its own in which rows of an odd length lie. */
static bool has_odd_rows(const struct graph *g, const struct node *n)
{
	const struct shape *s = &n->shape;
	int64_t all = 1, lanes = ROW_BYTES / (int64_t)dtype_bytes(n->dtype);

	for (int d = 0; d < s->rank; d++)
		all *= sym_hint(g->syms, s->size[d]);
	return n->dtype != dtype_wide(n->dtype) && s->rank >= 2 && all >= LEAST_ELEMENTS &&
	       sym_is_const(s->size[s->rank - 1]) && s->size[s->rank - 1]->value >= LEAST_ROW &&
	       s->size[s->rank - 1]->value % lanes != 0 &&
	       (is_narrow_product(n) || op_info(n->op)->kind == KIND_POINTWISE);
}

/* By node: whether a product writes it or reads a view of it, and no output of the graph is one. */
static bool *find_rows(const struct graph *g)
{
	bool *odd = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1);

	for (int i = 0; odd && i < g->n_nodes; i++) {
		const struct node *n = g->nodes[i];

		odd[i] |= is_narrow_product(n) && has_odd_rows(g, n);
		for (int a = 0; op_is_product(n->op) && a < n->n_args; a++) {
			int base = n->args[a].kind == ARG_NODE ? view_base(g, n->args[a].node) : -1;

			if (base >= 0 && has_odd_rows(g, g->nodes[base]))
				odd[base] = true;
		}
	}
	for (int i = 0; odd && i < g->n_outputs; i++)
		odd[view_base(g, g->outputs[i])] = false;
	return odd;
}

static void set_pitch(struct node *n)
{
	int64_t lanes = ROW_BYTES / (int64_t)dtype_bytes(n->dtype);

	n->pitch = (n->shape.size[n->shape.rank - 1]->value + lanes - 1) / lanes * lanes;
}

/* Where no view has to copy because of it. */
static bool lay_rows(struct graph *g, struct err *err)
{
	bool *odd = g->calls ? find_rows(g) : NULL;
	struct view_layout l;

	if (!odd)
		return !g->calls || pass_out_of_memory(err);
	for (int i = 0; i < g->n_nodes; i++) {
		int base = view_base(g, i);

		if (base == i || !odd[base] || !view_layout(g, i, &l))
			continue;
		set_pitch(g->nodes[base]);
		odd[base] = view_layout(g, i, &l);
		g->nodes[base]->pitch = 0;
	}
	for (int i = 0; i < g->n_nodes; i++) {
		if (!odd[i])
			continue;
		set_pitch(g->nodes[i]);
		pass_fired(g, "rows begin at multiples of 16 bytes", g->nodes[i], NULL);
	}
	return true;
}

/* ---- channels between convolutions */

enum { CHANNEL_LANES = 8, MOST_TAPS = 1024 };

static bool has_channels(const struct node *n)
{
	const struct shape *s = &n->shape;

	return s->rank == 4 && sym_is_const(s->size[1]) && s->size[1]->value > 0 &&
	       s->size[1]->value % CHANNEL_LANES == 0;
}

/* Taps of the filters of a convolution whose channels may lie last; 0: it is none. */
static int64_t taps_of(const struct graph *g, const struct node *n)
{
	const struct sym *const *size;

	if (n->op != OP_conv_windows || n->dtype == dtype_wide(n->dtype) ||
	    !sym_is(n->args[5].sym, 1) || !has_channels(n))
		return 0;
	size = g->nodes[n->args[1].node]->shape.size;
	if (!sym_is_const(size[2]) || !sym_is_const(size[3]) ||
	    size[2]->value * size[3]->value > MOST_TAPS)
		return 0;
	return size[2]->value * size[3]->value;
}

static bool is_pool(const struct node *n)
{
	return n->op == OP_max_pool2d && n->dtype != dtype_wide(n->dtype) && has_channels(n);
}

/* Whether its elements are those of a picture, and not of its rows or of its channels alone. */
static bool is_picture(const struct node *x)
{
	return x->shape.rank == 4 && !sym_is(x->shape.size[1], 1) &&
	       !(sym_is(x->shape.size[2], 1) && sym_is(x->shape.size[3], 1));
}

/* Whether node x may be read in any order as well: it is in memory as it is in any case. */
static bool lies_anyhow(const struct node *x)
{
	enum op_kind kind = op_info(x->op)->kind;

	return kind == KIND_INPUT || kind == KIND_CONSTANT || kind == KIND_CREATE ||
	       (kind == KIND_LIBRARY && !op_is_product(x->op));
}

/* Whether node n, whose argument a is one whose channels lie last, does so as well. */
static bool takes_channels(struct graph *g, const bool *last, const struct node *n, int a)
{
	const struct node *x = g->nodes[n->args[a].node];
	struct view_layout l;

	switch (op_info(n->op)->kind) {
	case KIND_POINTWISE:
		return last[n->id] || op_info(x->op)->kind == KIND_LIBRARY;
	case KIND_VIEW:
		return (n->op == OP_expand || n->op == OP_permute || n->op == OP_transpose) &&
		       view_layout(g, n->id, &l);
	case KIND_REDUCE:
		return n->shape.rank >= 2 && n->shape.size[0] == x->shape.size[0] &&
		       n->shape.size[1] == x->shape.size[1];
	case KIND_LIBRARY: /* or it reads a copy (settle_channels) */
		return n->op != OP_conv_windows || (last[n->id] && a == 0);
	default:
		return false;
	}
}

/* Whether what node n reads lies so too, or is read for nothing in that order. */
static bool has_operands_last(const struct graph *g, const bool *last, const struct node *n)
{
	if (n->op == OP_conv_windows) /* with one tap it is a product, fast in either order */
		return taps_of(g, n) > 1 || last[n->args[0].node];
	if (n->op == OP_max_pool2d)
		return last[n->args[0].node];
	for (int a = 0; a < n->n_args; a++) {
		const struct node *x = n->args[a].kind == ARG_NODE ? g->nodes[n->args[a].node]
								   : NULL;

		if (x && is_picture(x) && !last[x->id] &&
		    !lies_anyhow(g->nodes[view_base(g, x->id)]))
			return false;
	}
	return true;
}

/* One round: false where nothing changed. */
static bool drop_channels(struct graph *g, bool *last)
{
	bool changed = false;

	for (int i = 0; i < g->n_nodes; i++) {
		const struct node *n = g->nodes[i];
		bool keeps = !last[i] || has_operands_last(g, last, n);

		for (int a = 0; a < n->n_args; a++) {
			int x = n->args[a].kind == ARG_NODE ? n->args[a].node : -1;

			if (x < 0 || !last[x] || takes_channels(g, last, n, a))
				continue;
			last[x] = false;
			changed = true;
		}
		changed |= !keeps;
		last[i] &= keeps;
	}
	return changed;
}

/* By node: whether its channels may lie last, whatever its neighbours do. */
static bool *find_pictures(const struct graph *g)
{
	bool *last = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1), any = false;

	for (int i = 0; last && i < g->n_nodes; i++) {
		const struct node *n = g->nodes[i];

		last[i] = taps_of(g, n) > 0 || is_pool(n) ||
			  (op_info(n->op)->kind == KIND_POINTWISE && has_channels(n) &&
			   is_picture(n));
		any |= taps_of(g, n) > 0;
	}
	for (int i = 0; last && i < g->n_outputs; i++)
		last[view_base(g, g->outputs[i])] = false;
	return any ? last : NULL;
}

/* Where ops on elements alone are left of a chain, as where no convolution reads them, they stay
 * as they are. */
static void drop_chains(const struct graph *g, bool *last, bool *of_convolution)
{
	bool more = true;

	for (int i = 0; i < g->n_nodes; i++)
		of_convolution[i] = last[i] && g->nodes[i]->op == OP_conv_windows;
	while (more) {
		more = false;
		for (int i = 0; i < g->n_nodes; i++) {
			const struct node *n = g->nodes[i];

			for (int a = 0; last[i] && a < n->n_args; a++) {
				int x = n->args[a].kind == ARG_NODE ? n->args[a].node : -1;

				if (x < 0 || !last[x] || of_convolution[i] == of_convolution[x])
					continue;
				of_convolution[i] = of_convolution[x] = more = true;
			}
		}
	}
	for (int i = 0; i < g->n_nodes; i++)
		last[i] &= of_convolution[i];
}

static bool lay_channels(struct graph *g, struct err *err)
{
	bool *last = g->calls ? find_pictures(g) : NULL;
	bool *of_convolution = last ? ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1) : NULL;

	if (!last)
		return true;
	if (!of_convolution)
		return pass_out_of_memory(err);
	while (drop_channels(g, last))
		;
	drop_chains(g, last, of_convolution);
	for (int i = 0; i < g->n_nodes; i++) {
		g->nodes[i]->channels_last = last[i];
		if (last[i])
			g->nodes[i]->pitch = 0;
		if (last[i] && g->nodes[i]->op == OP_conv_windows)
			pass_fired(g, "channels lie last", g->nodes[i], NULL);
	}
	return true;
}

/* needs: nothing; keeps: values; makes: a graph where view_layout() holds for
 * every node */
bool pass_views(struct pass_run *run, bool *changed, struct err *err)
{
	return lay_rows(run->g, err) && lay_channels(run->g, err) &&
	       rewrite_run(run->g, settle, NULL, changed, err);
}
