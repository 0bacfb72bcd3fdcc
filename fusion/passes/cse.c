/* fusion/passes/cse.c -- what is computed twice is computed once.
 *
 * Two nodes are one when op, arguments and dtype agree, the operands of a
 * commutative op in either order.  Every op of the table gives the same bits
 * for the same operands, so all may be shared; x + y and y + x differ at most
 * in which of two NaNs they give.
 *
 * Two ops may also share their search: where the places of what sort and topk find are
 * wanted too, the elements are looked up there.
 */
#include <string.h>

#include "fusion/base/hash.h"
#include "fusion/passes/pass.h"

struct cse_table {
	int *slots; /* ids of the new list, -1: free */
	size_t mask;
	const bool *looked_up; /* by id before the pass: elements whose places are wanted too */
};

static size_t data_bytes(const struct node *n)
{
	size_t bytes = dtype_bytes(n->dtype);

	for (int i = 0; i < n->shape.rank; i++)
		bytes *= (size_t)n->shape.size[i]->value;
	return bytes;
}

static uint64_t hash_arg(const struct arg *arg)
{
	uint64_t bits = 0;

	switch (arg->kind) {
	case ARG_NODE:
		bits = (uint64_t)arg->node;
		break;
	case ARG_INT:
	case ARG_REAL:
		bits = (uintptr_t)arg->sym;
		break;
	case ARG_FLOAT:
		memcpy(&bits, &arg->f, sizeof(bits));
		break;
	case ARG_BOOL:
		bits = arg->b;
		break;
	case ARG_DTYPE:
		bits = (uint64_t)arg->dtype;
		break;
	case ARG_STR:
		bits = (uint64_t)strlen(arg->str);
		break;
	case ARG_INTS:
		for (int i = 0; i < arg->n; i++)
			bits = bits * 31 + (uintptr_t)arg->ints[i];
		break;
	case ARG_NONE:
		break;
	}
	return (bits + (uint64_t)arg->kind) * 0x9e3779b97f4a7c15u;
}

static uint64_t hash_node(const struct node *n)
{
	uint64_t args[MAX_ARGS + 1] = { (uint64_t)n->op << 8 | (uint64_t)n->dtype };

	for (int i = 0; i < n->n_args; i++)
		args[i + 1] = hash_arg(&n->args[i]);
	if (op_has(n->op, FACT_COMMUTES)) { /* the same for both orders */
		args[1] += args[2];
		args[2] = 0;
	}
	if (n->data)
		return hash_bytes(n->data, data_bytes(n), args[0]);
	return hash_bytes(args, sizeof(args[0]) * (size_t)(n->n_args + 1), 0);
}

static bool same_args(const struct node *a, const struct node *b)
{
	bool same = true;

	for (int i = 0; i < a->n_args; i++)
		same = same && arg_equal(&a->args[i], &b->args[i]);
	return same || (op_has(a->op, FACT_COMMUTES) && arg_equal(&a->args[0], &b->args[1]) &&
			arg_equal(&a->args[1], &b->args[0]));
}

static bool same_node(const struct node *a, const struct node *b)
{
	if (a->op != b->op || a->dtype != b->dtype || a->weak != b->weak)
		return false;
	if (a->data || b->data)
		return a->data && b->data && shape_equal(&a->shape, &b->shape) &&
		       !memcmp(a->data, b->data, data_bytes(a));
	return same_args(a, b);
}

/* The slot of a node like n, or the free one where it belongs. */
static int *slot_of(const struct graph *g, const struct cse_table *table, const struct node *n)
{
	size_t i = (size_t)hash_node(n) & table->mask;

	while (table->slots[i] >= 0 && !same_node(g->nodes[table->slots[i]], n))
		i = (i + 1) & table->mask;
	return &table->slots[i];
}

/* ---- elements and their places */

/* The op that gives the places of what `op` finds; `op` itself: there is none. */
static enum op places_of(enum op op)
{
	return op == OP_topk_values ? OP_topk_indices : op == OP_sort_values ? OP_argsort : op;
}

/* Which nodes give elements whose places an output needs too. */
static bool find_looked_up(const struct graph *g, bool *looked_up)
{
	bool *needed = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1);

	if (!needed)
		return false;
	for (int i = 0; i < g->n_outputs; i++)
		needed[g->outputs[i]] = true;
	for (int id = g->n_nodes - 1; id >= 0; id--)
		for (int a = 0; needed[id] && a < g->nodes[id]->n_args; a++)
			if (g->nodes[id]->args[a].kind == ARG_NODE)
				needed[g->nodes[id]->args[a].node] = true;
	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];
		enum op places = places_of(n->op);

		for (int k = 0; places != n->op && n->shape.rank > 0 && k < g->n_nodes; k++)
			if (needed[k] && g->nodes[k]->op == places && same_args(n, g->nodes[k]))
				looked_up[id] = true;
	}
	return true;
}

static int look_up(struct rewrite *rw, const struct node *n, struct err *err)
{
	struct node places = *n;
	struct arg args[3] = { n->args[0], *node_arg(n, "dim") };
	int *slot, id;

	places.op = places_of(n->op);
	places.dtype = DTYPE_I64;
	slot = slot_of(rw->g, rw->state, &places);
	if (*slot < 0) {
		id = graph_add(
		    rw->g, &(struct node_spec){ places.op, n->args, n->n_args, n->line, n->column },
		    err);
		if (id < 0)
			return REWRITE_FAILED;
		*slot = id;
	}
	args[2] = arg_node(*slot);
	id = graph_add(rw->g, &(struct node_spec){ OP_gather, args, 3, n->line, n->column }, err);
	if (id < 0)
		return REWRITE_FAILED;
	pass_fired(rw->g, "elements are looked up at their places", n, rw->g->nodes[args[2].node]);
	return id;
}

/* ---- */

static int share(struct rewrite *rw, struct node *n, struct err *err)
{
	struct cse_table *table = rw->state;
	int *slot;

	if (graph_draws(n))
		return REWRITE_KEEP;
	if (table->looked_up[n->id])
		return look_up(rw, n, err);
	slot = slot_of(rw->g, table, n);
	if (*slot >= 0) {
		pass_fired(rw->g, "computed before", n, rw->g->nodes[*slot]);
		return *slot;
	}
	*slot = rw->g->n_nodes; /* where KEEP puts it */
	return REWRITE_KEEP;
}

/* needs: nothing; keeps: values, bit for bit; breaks: outputs may become one
 * node (passes.c takes them apart again) */
bool pass_cse(struct pass_run *run, bool *changed, struct err *err)
{
	struct graph *g = run->g;
	size_t cap = 16;
	struct cse_table table;
	bool *looked_up = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1);

	if (!looked_up || !find_looked_up(g, looked_up))
		return pass_out_of_memory(err);
	table.looked_up = looked_up;
	while (cap < (size_t)g->n_nodes * 4)
		cap *= 2;
	table.mask = cap - 1;
	table.slots = ARENA_ARRAY(g->arena, int, cap);
	if (!table.slots)
		return pass_out_of_memory(err);
	memset(table.slots, 0xff, sizeof(int) * cap);
	return rewrite_run(g, share, &table, changed, err);
}
