/* fusion/passes/cse.c -- what is computed twice is computed once.
 *
 * Two nodes are one when op, arguments and dtype agree, the operands of a
 * commutative op in either order.  Every op of the table gives the same bits
 * for the same operands, so all may be shared; x + y and y + x differ at most
 * in which of two NaNs they give.
 */
#include <string.h>

#include "fusion/base/hash.h"
#include "fusion/passes/pass.h"

struct cse_table {
	int *slots; /* ids of the new list, -1: free */
	size_t mask;
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

static int share(struct rewrite *rw, struct node *n, struct err *err)
{
	struct cse_table *table = rw->state;
	size_t i = (size_t)hash_node(n) & table->mask;

	(void)err;
	if (graph_draws(n))
		return REWRITE_KEEP;
	for (; table->slots[i] >= 0; i = (i + 1) & table->mask)
		if (same_node(rw->g->nodes[table->slots[i]], n)) {
			pass_fired(rw->g, "computed before", n, rw->g->nodes[table->slots[i]]);
			return table->slots[i];
		}
	table->slots[i] = rw->g->n_nodes; /* where KEEP puts it */
	return REWRITE_KEEP;
}

/* needs: nothing; keeps: values, bit for bit; breaks: outputs may become one
 * node (passes.c takes them apart again) */
bool pass_cse(struct graph *g, bool *changed, struct err *err)
{
	size_t cap = 16;
	struct cse_table table;

	while (cap < (size_t)g->n_nodes * 2)
		cap *= 2;
	table.mask = cap - 1;
	table.slots = ARENA_ARRAY(g->arena, int, cap);
	if (!table.slots)
		return pass_out_of_memory(err);
	memset(table.slots, 0xff, sizeof(int) * cap);
	return rewrite_run(g, share, &table, changed, err);
}
