/* fusion/graph/loop.c -- the nodes of a loop: operands in chunks, results. */
#include "fusion/graph/loop.h"

#include "fusion/graph/infer.h"

enum { CHUNK = 7 }; /* operands of a node; the last argument is the next node */

int loop_operands(struct graph *g, const int *nodes, int n, int line, int column, struct err *err)
{
	int more = -1;

	for (int first = (n - 1) / CHUNK * CHUNK; first >= 0; first -= CHUNK) {
		struct arg args[MAX_ARGS] = { arg_none() };

		for (int i = 0; i < CHUNK; i++)
			args[i] = first + i < n ? arg_node(nodes[first + i]) : arg_none();
		args[CHUNK] = more >= 0 ? arg_node(more) : arg_none();
		more = graph_add(
		    g, &(struct node_spec){ OP_loop_operands, args, CHUNK + 1, line, column }, err);
		if (more < 0)
			return -1;
		if (!graph_set_fx(g, more, "")) {
			err_set(err, ERR_MEMORY, "out of memory while building a graph");
			return -1;
		}
	}
	return more;
}

int loop_operand_list(const struct graph *g, const struct node *loop, int *out)
{
	const struct node *chunk = g->nodes[loop->args[1].node];
	int n = 0;

	while (chunk->op == OP_loop_operands) {
		for (int i = 0; i < CHUNK && chunk->args[i].kind == ARG_NODE; i++, n++)
			if (out)
				out[n] = chunk->args[i].node;
		if (chunk->args[CHUNK].kind != ARG_NODE)
			break;
		chunk = g->nodes[chunk->args[CHUNK].node];
	}
	return n;
}

int loop_operand(const struct graph *g, const struct node *loop, int index)
{
	const struct node *chunk = g->nodes[loop->args[1].node];

	for (; chunk->op == OP_loop_operands; index -= CHUNK) {
		if (index >= 0 && index < CHUNK)
			return chunk->args[index].kind == ARG_NODE ? chunk->args[index].node : -1;
		if (chunk->args[CHUNK].kind != ARG_NODE)
			break;
		chunk = g->nodes[chunk->args[CHUNK].node];
	}
	return -1;
}

static bool infer_loop_result(struct infer *in)
{
	const struct node *loop = infer_tensor(in, 0), *x;
	int at = -1;

	if (loop->op == OP_while_loop && sym_is_const(in->args[1].sym))
		at = loop_operand(in->g, loop, (int)in->args[1].sym->value);
	if (at < 0)
		return err_set(in->err, ERR_INTERNAL, "loop_result: no such operand");
	x = in->g->nodes[at];
	in->out->dtype = in->out->compute = x->dtype;
	in->out->shape = x->shape;
	return true;
}

/* What its first operand is. */
static bool infer_loop_part(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);

	in->out->dtype = in->out->compute = x->dtype;
	in->out->shape = x->shape;
	return true;
}

static bool infer_while_loop(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0);

	if (x->dtype != DTYPE_BOOL || x->shape.rank != 0)
		return err_set(in->err, ERR_INTERNAL, "while_loop: the condition is no bool");
	return infer_loop_part(in);
}

infer_fn *const loop_rules[OP_COUNT] = {
#define RULE_loop(word) infer_##word
#include "fusion/graph/infer_rules.h"
};
