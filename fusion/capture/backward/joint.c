/* fusion/capture/backward/joint.c -- differentiates a captured graph: see joint.h. */
#include "fusion/capture/backward/joint.h"

#include <string.h>

#include "fusion/capture/backward/sweep.h"
#include "fusion/eager/autograd.h"
#include "fusion/passes/passes.h"
#include "fusion/vm/frame.h"

static const struct value unset = { .kind = VALUE_UNSET };

bool *joint_tracked(struct trace *t, const struct graph *g, const bool *wanted, bool whole,
		    struct err *err)
{
	bool *tracked = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1);
	bool *stops = ARENA_ARRAY(g->arena, bool, (size_t)g->n_nodes + 1);
	int *leaf = trace_leaf_map(t, g);

	if (!tracked || !stops || !leaf) {
		trace_no_memory(err);
		return NULL;
	}
	for (int i = 0; i < g->n_inputs; i++)
		tracked[g->inputs[i]] = wanted[i];
	for (int id = 0; id < g->n_nodes; id++)
		if (leaf[id] >= 0)
			tracked[id] = leaf[id] < g->n_inputs ? wanted[leaf[id]] : whole;
	for (size_t i = 0; !whole && i < t->spent.len; i++)
		stops[t->spent.at[i]] = true;
	return sweep_spread(t, g, tracked, stops, err) ? tracked : NULL;
}

/* ---- the copy */

static bool copy_nodes(struct joint *j, const struct graph *from, struct err *err)
{
	int *inputs = ARENA_ARRAY(j->g->arena, int, (size_t)from->n_inputs + 1);
	struct arg args[MAX_ARGS];

	if (!inputs || !graph_copy_symbols(j->g, from))
		return trace_no_memory(err);
	memcpy(j->g->name_counts, from->name_counts, sizeof(int) * OP_COUNT);
	for (int id = 0; id < from->n_nodes; id++) {
		const struct node *n = from->nodes[id];
		struct node *copy;

		if (n->op == OP_dropout && trace_dropout_draws(n->args) &&
		    from->nodes[n->args[0].node]->op != OP_ones_like) {
			memcpy(args, n->args, sizeof(args));
			args[0].node = j->map[args[0].node];
			j->map[id] = trace_dropout_mask(j->g, args, n->n_args, n->line, n->column,
							err);
			if (j->map[id] < 0)
				return false;
			continue;
		}
		if (!graph_copy_node(j->g, n))
			return trace_no_memory(err);
		copy = j->g->nodes[j->g->n_nodes - 1];
		for (int i = 0; i < copy->n_args; i++)
			if (copy->args[i].kind == ARG_NODE)
				copy->args[i].node = j->map[copy->args[i].node];
		j->map[id] = copy->id;
	}
	for (int i = 0; i < from->n_inputs; i++)
		inputs[i] = j->map[from->inputs[i]];
	j->g->inputs = inputs;
	j->g->n_inputs = from->n_inputs;
	return true;
}

static bool begin(struct joint *j, const struct graph *captured, struct err *err)
{
	struct arena *arena = captured->arena;
	size_t n = (size_t)captured->n_nodes + 1;

	*j = (struct joint){ .g = graph_create(arena),
			     .map = ARENA_ARRAY(arena, int, n),
			     .outputs = ARENA_ARRAY(arena, int, (size_t)captured->n_outputs + 1),
			     .tangents = ARENA_ARRAY(arena, int, (size_t)captured->n_outputs + 1),
			     .grads = ARENA_ARRAY(arena, int, (size_t)captured->n_inputs + 1) };
	return (j->g && j->map && j->outputs && j->tangents && j->grads) || trace_no_memory(err);
}

/* ---- gradients */

struct tangents {
	struct joint *j;
	struct gradient_sweep s;
	int n;
};

/* The trace counts its inputs; a tangent is none of them in the end. */
static void drop_tangents(struct trace *t, int first, int n)
{
	size_t from = (size_t)first + (size_t)n, left = t->inputs.len - from;

	memmove(t->inputs.at + first, t->inputs.at + from, left * sizeof(t->inputs.at[0]));
	t->inputs.len -= (size_t)n;
}

static bool sweep(struct tangents *of_joint, const struct graph *captured, const bool *wanted);

/* An input for the gradient of each output that has one; a leaf that was written is no
 * result of ops. */
static bool add_tangents(struct tangents *of_joint, const struct graph *captured)
{
	struct joint *j = of_joint->j;
	struct gradient_sweep *s = &of_joint->s;
	struct trace_input none = { .source = -1, .lifted = -1 };

	for (int i = 0; i < captured->n_outputs; i++) {
		int of = captured->outputs[i];
		const struct node *n = j->g->nodes[j->map[of]];
		struct value g;

		j->tangents[i] = -1;
		if (!s->tracked[of] || s->leaf[of] >= 0)
			continue;
		j->tangents[i] = graph_input(j->g, n->dtype, &n->shape, NULL);
		if (j->tangents[i] < 0 || !VEC_PUSH(&s->t->inputs, none) ||
		    !graph_set_name(j->g, j->tangents[i], "gradient"))
			return trace_no_memory(s->err);
		of_joint->n++;
		if (!trace_wrap(s->t, j->tangents[i], &g, s->err))
			return false;
		if (!sweep_give(s, of, g)) {
			value_unref(g);
			return false;
		}
		value_unref(g);
	}
	return true;
}

static bool sweep(struct tangents *of_joint, const struct graph *captured, const bool *wanted)
{
	struct joint *j = of_joint->j;
	struct gradient_sweep *s = &of_joint->s;

	if (!add_tangents(of_joint, captured) || !sweep_run(s))
		return false;
	for (int id = 0; id < captured->n_nodes; id++) /* a leaf before and after a write */
		if (s->leaf[id] >= 0 && s->given[id].kind == VALUE_TENSOR &&
		    !sweep_give(s, captured->inputs[s->leaf[id]], s->given[id]))
			return false;
	for (int i = 0; i < captured->n_inputs; i++) {
		struct value g = s->given[captured->inputs[i]];

		j->grads[i] = -1;
		if (!wanted[i] || g.kind != VALUE_TENSOR)
			continue;
		j->grads[i] = trace_node(s->t, g, s->err);
		if (j->grads[i] < 0)
			return false;
		j->any = true;
	}
	return true;
}

/* Eager raises the error, where the backward pass comes there at all. */
static bool refuse_spoiled(struct joint *j, const struct gradient_sweep *s, struct err *err)
{
	bool spoiled;

	j->reached = ARENA_ARRAY(s->from->arena, uint64_t, (size_t)s->n + 1);
	j->saved = ARENA_ARRAY(s->from->arena, uint64_t, (size_t)s->n + 1);
	if (!j->reached || !j->saved)
		return trace_no_memory(err);
	for (int i = 0; i < s->from->n_outputs; i++)
		j->reached[s->from->outputs[i]] |= grad_bit(i);
	if (!sweep_spoiled(s, j->reached, j->saved, &spoiled, err))
		return false;
	return !spoiled ||
	       err_set(err, ERR_UNSUPPORTED, "a value that a gradient needs is written in place");
}

bool joint_build(struct joint *j, struct trace *t, const struct graph *captured, const bool *wanted,
		 struct err *err)
{
	struct tangents of_joint = { .j = j };
	struct gradient_sweep *s = &of_joint.s;
	struct graph *graph = t->graph;
	void *serial = t->serial;
	size_t n_floats = t->float_operands.len;
	int n_ops = t->n_ops, line = t->host.line, column = t->host.column;
	bool ok, off = t->grad_off;
	unsigned autocast = t->autocast_mode;

	if (!begin(j, captured, err) || !copy_nodes(j, captured, err))
		return false;
	*s = (struct gradient_sweep){ .t = t,
				      .a = t->autograd,
				      .from = captured,
				      .n = captured->n_nodes,
				      .map = j->map,
				      .leaf = trace_leaf_map(t, captured),
				      .err = err };
	s->tracked = joint_tracked(t, captured, wanted, false, err);
	s->given = ARENA_ARRAY(captured->arena, struct value, (size_t)captured->n_nodes + 1);
	if (!s->tracked || !s->given || !s->leaf)
		return s->tracked && trace_no_memory(err);
	for (int i = 0; i < captured->n_nodes; i++)
		s->given[i] = unset;
	if (!refuse_spoiled(j, s, err))
		return false;
	for (size_t i = 0; i < n_floats; i++) { /* they were nodes of the captured graph */
		struct float_operand *f = &t->float_operands.at[i];

		*f = (struct float_operand){ j->map[f->node], j->map[f->operand] };
	}
	for (int i = 0; i < captured->n_outputs; i++)
		j->outputs[i] = j->map[captured->outputs[i]];
	j->n_forward = j->g->n_nodes;
	t->graph = j->g;
	t->serial = j->g;
	t->grad_off = false;
	t->autocast_mode = 0;
	ok = sweep(&of_joint, captured, wanted);
	for (int i = 0; i < captured->n_nodes; i++)
		value_unref(s->given[i]);
	drop_tangents(t, captured->n_inputs, of_joint.n);
	t->graph = graph;
	t->serial = serial;
	t->n_ops = n_ops;
	t->grad_off = off;
	t->autocast_mode = autocast;
	t->host.line = line;
	t->host.column = column;
	return ok;
}
