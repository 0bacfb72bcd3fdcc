/* fusion/capture/trace_leaf.c -- writes and leaves while capturing.
 *
 * An in-place op gives its tensor another node.  Where it is not recorded -- under
 * no_grad(), through x.data -- a leaf stays one: both nodes are values of it, and the
 * gradients of both go to it.  Of another tensor the new node takes over the gradient
 * of the one before.
 */
#include <string.h>

#include "fusion/capture/control/cond.h"
#include "fusion/eager/autograd.h"
#include "fusion/capture/trace.h"

static int fresh_leaf(const struct trace *t, struct value tensor)
{
	for (size_t i = 0; i < t->leaves.len; i++)
		if (t->leaves.at[i].tensor == tensor.tensor)
			return (int)i;
	return -1;
}

static struct value real_of(const struct trace *t, struct value tensor)
{
	int slot = trace_slot(t, tensor), lifted = slot < 0 ? trace_lifted(t, tensor) : -1;

	if (slot >= 0)
		return t->slots->at[slot].value;
	return lifted >= 0 ? t->lifted.at[lifted].value : value_none();
}

bool trace_is_leaf(const struct trace *t, struct value tensor)
{
	struct value real = real_of(t, tensor);

	if (real.kind != VALUE_TENSOR)
		return fresh_leaf(t, tensor) >= 0;
	return autograd_requires(real) && autograd_is_leaf(real);
}

bool trace_is_part(const struct trace *t, struct value tensor)
{
	struct value real = real_of(t, tensor);

	if (real.kind == VALUE_TENSOR)
		return autograd_is_part(real);
	return tensor.tensor->owner == t->serial && tensor.tensor->view &&
	       tensor.tensor->view->part;
}

bool trace_is_stale_part(const struct trace *t, struct value tensor)
{
	struct value real = real_of(t, tensor);

	return trace_is_part(t, tensor) &&
	       ((tensor.tensor->view && trace_view_stale(t, tensor)) ||
		(real.kind == VALUE_TENSOR && autograd_is_stale_part(real)));
}

bool trace_is_parameter(const struct trace *t, struct value tensor)
{
	struct value real = real_of(t, tensor);

	return (real.kind == VALUE_TENSOR ? real : tensor).tensor->is_parameter;
}

static int input_of(const struct trace *t, struct value tensor)
{
	int slot = trace_slot(t, tensor), lifted = slot < 0 ? trace_lifted(t, tensor) : -1;

	for (size_t i = 0; i < t->inputs.len; i++)
		if ((slot >= 0 && t->inputs.at[i].slot == slot) ||
		    (lifted >= 0 && t->inputs.at[i].lifted == lifted))
			return (int)i;
	return -1;
}

int *trace_leaf_map(const struct trace *t, const struct graph *g)
{
	int *map = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes + 1);

	for (int id = 0; map && id < g->n_nodes; id++)
		map[id] = -1;
	for (size_t i = 0; map && i < t->leaf_values.len; i++) {
		const struct leaf_value *v = &t->leaf_values.at[i];
		int fresh = fresh_leaf(t, v->of);

		if (v->node < g->n_nodes)
			map[v->node] = fresh >= 0 ? g->n_inputs + fresh : input_of(t, v->of);
	}
	return map;
}

static bool is_value_of(const struct trace *t, int node, struct value tensor)
{
	int input = input_of(t, tensor);

	if (input >= 0 && t->graph->inputs[input] == node)
		return true;
	for (size_t i = 0; i < t->leaf_values.len; i++)
		if (t->leaf_values.at[i].node == node &&
		    t->leaf_values.at[i].of.tensor == tensor.tensor)
			return true;
	return false;
}

/* What two sides of a branch have left of it: the one or the other. */
static bool joins(const struct trace *t, int node, struct value tensor)
{
	const struct node *n = t->graph->nodes[node];

	return n->op == OP_where && n->args[1].kind == ARG_NODE && n->args[2].kind == ARG_NODE &&
	       is_value_of(t, n->args[1].node, tensor) && is_value_of(t, n->args[2].node, tensor);
}

/* A node that is the value of this tensor alone: after x.copy_(y) y has one of its own. */
static bool own_node(struct trace *t, int *node, bool detached)
{
	const struct node *n = t->graph->nodes[*node];
	struct arg of[2] = { arg_node(*node), arg_dtype(n->dtype) };

	if (*node == t->graph->n_nodes - 1)
		return true;
	/* a number has a dtype of its own from here on */
	*node = graph_add(t->graph, n->weak ? OP_to : OP_clone, of, 1 + n->weak, t->host.line,
			  t->host.column, NULL);
	if (*node < 0 || !graph_set_fx(t->graph, *node, ""))
		return false;
	t->graph->nodes[*node]->detached = detached;
	return true;
}

static bool add_value(struct trace *t, struct value tensor, int *node)
{
	struct leaf_value v = { .of = tensor };

	if (!own_node(t, node, true))
		return false;
	v.node = *node;
	if (!VEC_PUSH(&t->leaf_values, v))
		return false;
	value_ref(tensor);
	return true;
}

bool trace_note_view(struct trace *t, struct value view, int *node)
{
	return fresh_leaf(t, view) < 0 || add_value(t, view, node);
}

/* Whether the tensor, which is no leaf, may have a gradient. */
static bool may_require(const struct trace *t, struct value tensor, int before)
{
	struct value real = real_of(t, tensor);
	const struct node *n = t->graph->nodes[before];

	if (dtype_category(n->dtype) != CATEGORY_FLOAT || (n->detached && n->takes_over < 0))
		return false;
	return n->op != OP_input || (real.kind == VALUE_TENSOR && autograd_requires(real));
}

bool trace_note_unrecorded(struct trace *t, struct value tensor, int before, int *node)
{
	bool unrecorded = t->grad_off || t->unrecorded;

	if (!t->autograd->recording && !t->autograd->splits)
		return true;
	if (trace_is_leaf(t, tensor))
		return !(unrecorded || joins(t, *node, tensor)) || add_value(t, tensor, node);
	if (!unrecorded || before < 0 || before == *node || !may_require(t, tensor, before))
		return true;
	if (!own_node(t, node, true))
		return false;
	t->graph->nodes[*node]->takes_over = before;
	return true;
}

/* The op has written there; into what two sides of a branch have left, into either. */
static void note_overwrite(const struct graph *g, int memory, int writer)
{
	const struct node *n = g->nodes[memory];

	g->nodes[memory]->overwrite = writer;
	for (int i = 1; n->merged && i <= 2; i++)
		note_overwrite(g, graph_memory(g, n->args[i].node), writer);
}

bool trace_note_memory(struct trace *t, int before, int *node, bool written)
{
	int memory;

	if (!t->autograd->recording || before < 0 || before == *node)
		return true;
	memory = graph_memory(t->graph, before);
	if (memory == *node || !own_node(t, node, t->grad_off))
		return memory == *node;
	t->graph->nodes[*node]->memory = memory;
	if (written)
		note_overwrite(t->graph, memory, t->writer);
	return true;
}

bool trace_keep_history(struct trace *t, enum op op, int before, int *result, struct err *err)
{
	struct arg args[2] = { arg_node(before), arg_node(*result) };
	bool known;
	unsigned needs;

	if (!t->autograd->recording || t->grad_off ||
	    dtype_category(t->graph->nodes[before]->dtype) != CATEGORY_FLOAT)
		return true;
	if (!grad_rule_needs(t->autograd, op, ~0u, &known, &needs, err))
		return false;
	if (known)
		return true;
	*result = graph_add(t->graph, OP_fill, args, 2, t->host.line, t->host.column, err);
	return *result >= 0 && (graph_set_fx(t->graph, *result, "") || trace_no_memory(err));
}

bool trace_expanded(const struct trace *t, struct value tensor, struct view_layout *out)
{
	const struct vtensor *v = tensor.tensor;
	const struct node *n = v->owner == t->serial && !v->view && v->node >= 0
				   ? t->graph->nodes[v->node]
				   : NULL;

	return n && (n->op == OP_expand || n->op == OP_expand_as) &&
	       view_layout_in(t->graph, n->id, n->args[0].node, out) && view_repeats(out);
}

bool trace_repeats(const struct trace *t, struct value tensor)
{
	struct value real = real_of(t, tensor);
	struct view_layout layout;

	if (trace_expanded(t, tensor, &layout))
		return true;
	return real.kind == VALUE_TENSOR && real.tensor->memory &&
	       tensor_repeats(real.tensor->memory);
}

bool trace_rewrite(struct trace *t, struct value tensor, int node, bool written)
{
	int lifted = trace_lifted(t, tensor), slot = trace_slot(t, tensor);
	int before = lifted >= 0 ? t->lifted.at[lifted].node : tensor.tensor->node;

	if (!fork_note_write(t, tensor) ||
	    !trace_note_unrecorded(t, tensor, written ? before : -1, &node) ||
	    !trace_note_memory(t, before, &node, written))
		return false;
	t->n_writes += written;
	if (lifted >= 0) {
		t->lifted.at[lifted].node = node;
		t->lifted.at[lifted].written |= written;
		if (written)
			t->lifted.at[lifted].writes = t->n_writes;
		return true;
	}
	tensor.tensor->node = node;
	tensor.tensor->written |= written;
	if (written)
		tensor.tensor->writes = t->n_writes;
	if (slot >= 0)
		t->slots->at[slot].written |= written;
	return true;
}

static bool may_make(struct trace *t, struct value tensor, int node)
{
	return t->native && !t->no_leaves && !t->fork && tensor.tensor->owner == t->serial &&
	       trace_slot(t, tensor) < 0 &&
	       dtype_category(t->graph->nodes[node]->dtype) == CATEGORY_FLOAT;
}

bool trace_make_leaf(struct trace *t, struct value tensor, struct err *err)
{
	int node;

	if (trace_is_leaf(t, tensor))
		return true;
	node = trace_node(t, tensor, err);
	if (node < 0)
		return false;
	if (!may_make(t, tensor, node))
		return trace_break(t, BREAK_REQUIRES_GRAD, NULL, err);
	if (!VEC_PUSH(&t->leaves, tensor))
		return trace_no_memory(err);
	value_ref(tensor);
	if (!add_value(t, tensor, &node))
		return trace_no_memory(err);
	tensor.tensor->node = node;
	return true;
}

bool trace_keeps_cast(void *self, struct value tensor)
{
	struct trace *t = self;
	int slot = trace_slot(t, tensor), lifted = slot < 0 ? trace_lifted(t, tensor) : -1;
	struct value real = slot >= 0     ? t->slots->at[slot].value
			    : lifted >= 0 ? t->lifted.at[lifted].value
					  : value_none();

	if (tensor.tensor->written)
		return false;
	if (real.kind != VALUE_TENSOR)
		return trace_is_leaf(t, tensor);
	return real.tensor->is_parameter || (autograd_requires(real) && autograd_is_leaf(real));
}

void trace_forget_leaves(struct trace *t)
{
	for (size_t i = 0; i < t->leaves.len; i++)
		value_unref(t->leaves.at[i]);
	for (size_t i = 0; i < t->leaf_values.len; i++)
		value_unref(t->leaf_values.at[i].of);
	t->leaves.len = t->leaf_values.len = t->spent.len = 0;
}
