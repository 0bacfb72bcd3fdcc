/* fusion/graph/lay.c -- the rules of PyTorch's TensorIterator and of its memory formats.
 *
 * They compare strides as numbers: those of the sizes that the graph is made at.
 */
#include "fusion/graph/lay.h"

#include <string.h>

#include "fusion/graph/view.h"

/* How a result lies. */
enum lies {
	LIES_IN_ROWS,
	LIES_AS_OPERANDS, /* as what is pointwise */
	LIES_AS_PICTURE,  /* channels last where those of its first operand are */
	LIES_AS_WINDOWS,  /* likewise, or where those of its second are */
};

static enum lies lies_of(enum op op)
{
	static const unsigned char own[OP_COUNT] = {
#define LIES(id, how) [OP_##id] = LIES_##how,
#include "fusion/graph/ops_some.h"
#undef LIES
	};

	if (op == OP_contiguous)
		return LIES_IN_ROWS;
	return op_info(op)->kind == KIND_POINTWISE ? LIES_AS_OPERANDS : (enum lies)own[op];
}

struct lay {
	int rank;
	int64_t size[MAX_RANK], stride[MAX_RANK];
};

/* What needs no look: a node of its own memory, row by row. */
static bool is_plain(const struct node *n)
{
	return n->order == 0 && n->op != OP_input && op_info(n->op)->kind != KIND_VIEW;
}

static void in_rows(struct lay *l)
{
	int64_t step = 1;

	for (int d = l->rank - 1; d >= 0; d--) {
		l->stride[d] = step;
		step *= l->size[d] > 1 ? l->size[d] : 1;
	}
}

/* A reshape that has to copy lies row by row. */
static void lay_of(const struct graph *g, int node, struct lay *l)
{
	const struct shape *s = &g->nodes[node]->shape;
	struct view_layout layout;

	l->rank = s->rank;
	for (int d = 0; d < s->rank; d++)
		l->size[d] = sym_hint(g->syms, s->size[d]);
	in_rows(l);
	if (is_plain(g->nodes[node]) || !view_layout(g, node, &layout))
		return;
	for (int d = 0; d < s->rank; d++)
		l->stride[d] = sym_hint(g->syms, layout.stride[d]);
}

static bool lies_in_rows(const struct lay *l)
{
	int64_t step = 1;

	for (int d = l->rank - 1; d >= 0; d--) {
		if (l->size[d] == 0)
			return true;
		if (l->size[d] == 1)
			continue;
		if (l->stride[d] != step)
			return false;
		step *= l->size[d];
	}
	return true;
}

/* Under the sizes of the result: a dim that it repeats has stride 0. */
static void broadcast(struct lay *l, const struct lay *to)
{
	int shift = to->rank - l->rank;

	for (int d = to->rank - 1; d >= 0; d--) {
		int from = d - shift;

		l->stride[d] = from < 0 || (l->size[from] == 1 && to->size[d] != 1)
				   ? 0
				   : l->stride[from];
	}
	memcpy(l->size, to->size, sizeof(l->size));
	l->rank = to->rank;
}

/* Whether dim a lies outside of dim b: 1, or inside: -1; 0 where nothing says so. */
static int compare(const struct lay *operands, int n, int a, int b)
{
	for (int i = 0; i < n; i++) {
		const struct lay *l = &operands[i];

		if (l->stride[a] == 0 || l->stride[b] == 0)
			continue;
		if (l->stride[a] != l->stride[b])
			return l->stride[a] < l->stride[b] ? -1 : 1;
		if (l->size[a] > l->size[b])
			return 1;
	}
	return 0;
}

/* The dims, the innermost first: a sort by insertion that leaves what is not told apart. */
static void sort_dims(const struct lay *operands, int n, int rank, int dims[MAX_RANK])
{
	for (int d = 0; d < rank; d++)
		dims[d] = rank - 1 - d;
	for (int i = 1; i < rank; i++)
		for (int at = i, k = i - 1; k >= 0; k--) {
			int found = compare(operands, n, dims[k], dims[at]), kept = dims[k];

			if (found < 0)
				break;
			if (found == 0)
				continue;
			dims[k] = dims[at];
			dims[at] = kept;
			at = k;
		}
}

static uint32_t order_of(const struct lay *operands, int n, int rank)
{
	int dims[MAX_RANK];
	uint32_t order = 0;
	bool moved = false;

	sort_dims(operands, n, rank, dims);
	for (int place = 0; place < rank; place++) {
		int dim = dims[rank - 1 - place];

		moved |= dim != place;
		order |= (uint32_t)(dim + 1) << (4 * place);
	}
	return moved ? order : 0;
}

/* Whether its elements take up all of the run that they lie in, each alone. */
static bool is_dense(const struct lay *l)
{
	int dims[MAX_RANK];
	int64_t step = 1;

	sort_dims(l, 1, l->rank, dims);
	for (int i = 0; i < l->rank; i++) {
		int d = dims[i];

		if (l->size[d] == 1)
			continue;
		if (l->stride[d] != step)
			return false;
		step *= l->size[d];
	}
	return true;
}

static uint32_t channels_last(int rank)
{
	return rank == 4 ? 0x2431 : 0x25431;
}

/* What PyTorch takes for channels last: strides alone tell, and of sizes 1 not always. */
static bool has_channels_last(const struct lay *l)
{
	static const int inside_4[] = { 1, 3, 2, 0 }, inside_5[] = { 1, 4, 3, 2, 0 };
	const int *dims = l->rank == 4 ? inside_4 : inside_5;
	int64_t least = 0;

	if ((l->rank != 4 && l->rank != 5) || l->stride[1] == 0)
		return false;
	for (int i = 0; i < l->rank; i++) {
		int d = dims[i];

		if (l->size[d] == 0 || l->stride[d] < least || (d == 0 && least == l->stride[1]))
			return false;
		least = l->stride[d] * (l->size[d] > 1 ? l->size[d] : 1);
	}
	return true;
}

/* The operands of a node that decide, under its sizes; false: all lie row by row. */
static bool find_operands(const struct graph *g, const struct node *n, struct lay *operands,
			  int *count)
{
	struct lay own = { .rank = n->shape.rank };
	bool rows = true, alike = true;

	*count = 0;
	for (int d = 0; d < own.rank; d++)
		own.size[d] = sym_hint(g->syms, n->shape.size[d]);
	for (int i = 0; i < n->n_args; i++) {
		struct lay *l = &operands[*count];

		if (n->args[i].kind != ARG_NODE || g->nodes[n->args[i].node]->shape.rank > own.rank)
			continue;
		lay_of(g, n->args[i].node, l);
		rows &= lies_in_rows(l);
		alike &= l->rank == own.rank &&
			 memcmp(l->size, own.size, sizeof(int64_t) * (size_t)own.rank) == 0;
		broadcast(l, &own);
		(*count)++;
	}
	return !(rows && alike);
}

static bool any_moved(const struct graph *g, const struct node *n)
{
	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE && !is_plain(g->nodes[n->args[i].node]))
			return true;
	return false;
}

static uint32_t order_as_operands(const struct graph *g, const struct node *n)
{
	struct lay operands[MAX_ARGS];
	int count;

	if (!find_operands(g, n, operands, &count) || count == 0)
		return 0;
	return order_of(operands, count, n->shape.rank);
}

static uint32_t order_as_picture(const struct graph *g, const struct node *n, int operands)
{
	struct lay l;

	for (int i = 0; i < operands; i++) {
		if (n->args[i].kind != ARG_NODE)
			continue;
		lay_of(g, n->args[i].node, &l);
		if (l.rank == n->shape.rank && has_channels_last(&l))
			return channels_last(l.rank);
	}
	return 0;
}

void graph_lay(struct graph *g, int node)
{
	struct node *n = g->nodes[node];

	n->order = 0;
	if (n->shape.rank < 2 || !any_moved(g, n))
		return;
	switch (lies_of(n->op)) {
	case LIES_AS_OPERANDS:
		n->order = order_as_operands(g, n);
		return;
	case LIES_AS_PICTURE:
		n->order = order_as_picture(g, n, 1);
		return;
	case LIES_AS_WINDOWS:
		n->order = order_as_picture(g, n, 2);
		return;
	default:
		return;
	}
}

void graph_lay_as(struct graph *g, int to, int from)
{
	struct lay l;

	if (to == from || is_plain(g->nodes[from]) || op_info(g->nodes[to]->op)->kind == KIND_VIEW)
		return;
	lay_of(g, from, &l);
	g->nodes[to]->order = is_dense(&l) && !lies_in_rows(&l) ? order_of(&l, 1, l.rank) : 0;
}

/* The node with its dims as they lie. */
static int turn(struct graph *g, int node, uint32_t order)
{
	const struct node *n = g->nodes[node];
	const struct sym *dims[MAX_RANK];
	struct arg args[2] = { arg_node(node) };

	for (int place = 0; place < n->shape.rank; place++)
		dims[place] = sym_const(g->syms, lay_dim(order, place));
	args[1] = arg_ints(dims, n->shape.rank);
	node = graph_add(g, &(struct node_spec){ OP_permute, args, 2, n->line, n->column }, NULL);
	if (node < 0)
		return -1;
	args[0] = arg_node(node);
	return graph_add(g, &(struct node_spec){ OP_contiguous, args, 1, n->line, n->column },
			 NULL);
}

bool graph_lay_outputs(struct graph *g, const uint32_t *orders, int n)
{
	int *outputs = ARENA_ARRAY(g->arena, int, (size_t)g->n_outputs + 1);
	bool any = false;

	if (!outputs)
		return false;
	for (int i = 0; i < g->n_outputs; i++) {
		outputs[i] = g->outputs[i];
		if (i >= n || !orders[i])
			continue;
		outputs[i] = turn(g, outputs[i], orders[i]);
		if (outputs[i] < 0)
			return false;
		any = true;
	}
	return !any || graph_set_outputs(g, outputs, g->n_outputs);
}
