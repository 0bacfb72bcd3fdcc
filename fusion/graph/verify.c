/* fusion/graph/verify.c -- what holds of every graph, checked.
 *
 * A fault found here is ours, never the user's: the code is INTERNAL, and the
 * message says which node broke which rule.
 */
#include "fusion/graph/infer.h"

static bool broken(struct err *err, const struct node *n, const char *rule)
{
	return err_set(err, ERR_INTERNAL, "graph: node %d (%s): %s", n->id,
		       n->name ? n->name : "no name", rule);
}

static bool verify_data(const struct node *n, struct err *err)
{
	if (!n->data)
		return broken(err, n, "a constant without elements");
	for (int i = 0; i < n->shape.rank; i++)
		if (!sym_is_const(n->shape.size[i]))
			return broken(err, n, "a constant of symbolic size");
	return true;
}

static bool verify_input(const struct graph *g, const struct node *n, struct err *err)
{
	if (n->input < 0 || n->input >= g->n_inputs || g->inputs[n->input] != n->id)
		return broken(err, n, "not at its place among the inputs");
	for (int i = 0; i < n->shape.rank; i++)
		if (!n->stride[i])
			return broken(err, n, "an input without strides");
	return true;
}

static bool verify_result(const struct graph *g, const struct node *n, struct err *err)
{
	struct op_result want;
	struct err why = { 0 };

	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE &&
		    (n->args[i].node < 0 || n->args[i].node >= n->id))
			return broken(err, n, "an argument does not come before its use");
	if (!args_check(g, n->op, n->args, &why) || !op_infer(g, n->op, n->args, &want, &why))
		return broken(err, n, why.message);
	if (n->op == OP_while_loop && !n->loop)
		return broken(err, n, "a loop without a body");
	if (want.dtype != n->dtype || want.compute != n->compute)
		return broken(err, n, "its dtype is not what inference gives");
	if (!shape_equal(&want.shape, &n->shape))
		return broken(err, n, "its shape is not what inference gives");
	return true;
}

static bool verify_node(const struct graph *g, int id, struct err *err)
{
	const struct node *n = g->nodes[id];

	if (n->id != id)
		return broken(err, n, "its id is not its place in the list");
	if ((unsigned)n->op >= OP_COUNT)
		return broken(err, n, "an op that is not in the table");
	if (!n->name || !n->fx)
		return broken(err, n, "it has no name");
	if (n->n_args != op_info(n->op)->n_params)
		return broken(err, n, "the number of arguments is not the signature's");
	if (n->op == OP_input)
		return verify_input(g, n, err);
	if (op_info(n->op)->kind == KIND_CONSTANT)
		return verify_data(n, err);
	return verify_result(g, n, err);
}

bool graph_verify(const struct graph *g, struct err *err)
{
	for (int i = 0; i < g->n_nodes; i++)
		if (!verify_node(g, i, err))
			return false;
	for (int i = 0; i < g->n_inputs; i++)
		if (g->inputs[i] < 0 || g->inputs[i] >= g->n_nodes ||
		    g->nodes[g->inputs[i]]->input != i)
			return err_set(err, ERR_INTERNAL, "graph: input %d is no input node", i);
	if (g->n_outputs == 0)
		return err_set(err, ERR_INTERNAL, "graph: no outputs");
	for (int i = 0; i < g->n_outputs; i++)
		if (g->outputs[i] < 0 || g->outputs[i] >= g->n_nodes)
			return err_set(err, ERR_INTERNAL, "graph: output %d is node %d of %d", i,
				       g->outputs[i], g->n_nodes);
	return true;
}
