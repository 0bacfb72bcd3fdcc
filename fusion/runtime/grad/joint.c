/* fusion/runtime/grad/joint.c -- differentiates a captured graph: see joint.h. */
#include "fusion/runtime/grad/joint.h"

#include <string.h>

#include "fusion/capture/frame.h"
#include "fusion/passes/passes.h"
#include "fusion/runtime/grad/autograd.h"

static const struct value unset = { .kind = VALUE_UNSET };

bool joint_detaches(const struct node *n)
{
	return n->detached || n->op == OP_detach;
}

bool *joint_tracked(struct autograd *a, const struct graph *g, const bool *wanted,
		    struct arena *arena, struct err *err)
{
	bool *tracked = ARENA_ARRAY(arena, bool, (size_t)g->n_nodes + 1), known;
	unsigned needs;

	if (!tracked) {
		trace_no_memory(err);
		return NULL;
	}
	for (int i = 0; i < g->n_inputs; i++)
		tracked[g->inputs[i]] = wanted[i];
	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];
		bool any = false;

		for (int i = 0; i < n->n_args; i++)
			any |= n->args[i].kind == ARG_NODE && tracked[n->args[i].node];
		if (!any || joint_detaches(n) || dtype_category(n->dtype) != CATEGORY_FLOAT)
			continue;
		if (!grad_rule_needs(a, n->op, ~0u, &known, &needs, err))
			return NULL;
		tracked[id] = known;
	}
	return tracked;
}

/* ---- the copy */

static bool draws(const struct node *n)
{
	const struct arg *p = &n->args[1], *training = &n->args[2];

	return n->op == OP_dropout && !(training->kind == ARG_BOOL && !training->b) &&
	       !(p->kind == ARG_FLOAT && p->f == 0);
}

/* Dropout draws its mask by an op of its own, which can be kept. */
static int copy_dropout(struct graph *g, const struct node *n, int x, struct err *err)
{
	struct arg args[MAX_ARGS];
	int mask;

	args[0] = arg_node(x);
	mask = graph_add(g, OP_ones_like, args, 1, n->line, n->column, err);
	if (mask < 0)
		return -1;
	memcpy(args, n->args, sizeof(args));
	args[0] = arg_node(mask);
	mask = graph_add(g, OP_dropout, args, n->n_args, n->line, n->column, err);
	if (mask < 0)
		return -1;
	args[0] = arg_node(x);
	args[1] = arg_node(mask);
	return graph_add(g, OP_mul, args, 2, n->line, n->column, err);
}

static bool copy_nodes(struct joint *j, const struct graph *from, struct err *err)
{
	int *inputs = ARENA_ARRAY(j->g->arena, int, (size_t)from->n_inputs + 1);

	if (!inputs || !graph_copy_symbols(j->g, from))
		return trace_no_memory(err);
	memcpy(j->g->name_counts, from->name_counts, sizeof(int) * OP_COUNT);
	for (int id = 0; id < from->n_nodes; id++) {
		const struct node *n = from->nodes[id];
		struct node *copy;

		if (draws(n)) {
			j->map[id] = copy_dropout(j->g, n, j->map[n->args[0].node], err);
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

/* ---- rules over nodes */

struct sweep {
	struct joint *j;
	struct trace *t;
	struct autograd *a;
	const bool *tracked; /* by node of the captured graph */
	const bool *wanted;
	struct value *given;  /* by node of the captured graph: its gradient, UNSET */
	struct cover *covers; /* by node of the captured graph */
	const struct node *n; /* of the joint graph: whose rule runs */
	int n_tangents;
	struct err *err;
};

static bool tuple_of(const struct sym *const *ints, int n, bool is_size, struct value *out,
		     struct err *err)
{
	struct value items[MAX_RANK];

	for (int i = 0; i < n; i++)
		items[i] = trace_size_value(ints[i]);
	*out = value_tuple(items, n);
	if (out->kind == VALUE_UNSET)
		return trace_no_memory(err);
	out->list->is_size = is_size;
	return true;
}

static bool give_value(void *self, int index, struct value *out, struct err *err)
{
	const struct sweep *s = self;
	const struct arg *arg = index < 0 ? NULL : &s->n->args[index];

	if (!arg)
		return trace_wrap(s->t, s->n->id, out, err);
	switch (arg->kind) {
	case ARG_NODE:
		return trace_wrap(s->t, arg->node, out, err);
	case ARG_INT:
		*out = trace_size_value(arg->sym);
		return true;
	case ARG_FLOAT:
		*out = value_float(arg->f);
		return true;
	case ARG_BOOL:
		*out = value_bool(arg->b);
		return true;
	case ARG_DTYPE:
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = arg->dtype };
		return true;
	case ARG_INTS:
		return tuple_of(arg->ints, arg->n, false, out, err);
	case ARG_STR:
		*out = value_str(arg->str, strlen(arg->str));
		return out->kind != VALUE_UNSET || trace_no_memory(err);
	default:
		*out = value_none();
		return true;
	}
}

static const struct node *tensor_at(const struct sweep *s, int index)
{
	const struct arg *arg = &s->n->args[index < 0 ? 0 : index];

	if (index < 0)
		return s->n;
	return arg->kind == ARG_NODE ? s->j->g->nodes[arg->node] : NULL;
}

static bool give_shape(void *self, int index, struct value *out, struct err *err)
{
	const struct node *n = tensor_at(self, index);

	*out = value_none();
	return !n || tuple_of(n->shape.size, n->shape.rank, true, out, err);
}

static bool give_dtype(void *self, int index, struct value *out, struct err *err)
{
	const struct node *n = tensor_at(self, index);

	(void)err;
	*out = n ? (struct value){ .kind = VALUE_DTYPE, .dtype = n->dtype } : value_none();
	return true;
}

static bool add_to(struct sweep *s, struct value *to, struct value g)
{
	struct value pair[2] = { *to, g }, sum;

	if (to->kind == VALUE_UNSET) {
		*to = value_ref(g);
		return true;
	}
	if (!trace_op(s->t, OP_add, "op:+", false, pair, 2, NULL, &sum, s->err))
		return false;
	value_unref(*to);
	*to = sum;
	return true;
}

/* In the shape and dtype of the node. */
static bool fit(struct sweep *s, const struct node *to, struct value *g)
{
	struct value shape, dtype = { .kind = VALUE_DTYPE, .dtype = to->dtype };
	struct shape have;
	enum dtype had;
	bool ok;

	if (!trace_shape(s->t, *g, &have, &had, s->err))
		return false;
	if (had == to->dtype && shape_equal(&have, &to->shape))
		return true;
	if (!tuple_of(to->shape.size, to->shape.rank, true, &shape, s->err))
		return false;
	ok = grad_fit(s->a, g, shape, dtype, s->err);
	value_unref(shape);
	return ok;
}

static bool run_node(struct sweep *s, const struct node *n, struct value g)
{
	struct grad_giver giver = { s, give_value, give_shape, give_dtype };
	struct value made[MAX_ARGS];
	unsigned wanted = 0;
	bool ok;

	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE && s->tracked[n->args[i].node])
			wanted |= 1u << i;
	s->n = s->j->g->nodes[s->j->map[n->id]];
	ok = grad_rule_run(s->a, s->n->op, &giver, wanted, g, made, s->err);
	for (int i = 0; i < MAX_ARGS; i++) {
		if (ok && made[i].kind == VALUE_TENSOR) {
			int at = n->args[i].node;

			ok = fit(s, s->j->g->nodes[s->j->map[at]], &made[i]) &&
			     add_to(s, &s->given[at], made[i]);
		}
		value_unref(made[i]);
	}
	return ok;
}

/* ---- slices: where all that reads a value are slices that lie side by side and
 * leave nothing out, its gradient is theirs, side by side, and no sum of tensors
 * that are mostly zeros */

enum { MAX_SLICES = MAX_ARGS - 1 }; /* of a cat */

struct cover {
	int dim;
	int n;
	int slices[MAX_SLICES]; /* nodes, by where they begin */
};

static bool is_number(const struct arg *arg)
{
	return arg->kind == ARG_INT && sym_is_const(arg->sym);
}

/* Puts the slice behind those that begin before it. */
static bool add_slice(struct cover *c, const struct graph *g, const struct node *n)
{
	int at = c->n;

	if (n->op != OP_slice || c->n == MAX_SLICES || !is_number(&n->args[1]) ||
	    !is_number(&n->args[2]) || !is_number(&n->args[3]) || !is_number(&n->args[4]) ||
	    n->args[4].sym->value != 1 || (c->n && n->args[1].sym->value != c->dim))
		return false;
	c->dim = (int)n->args[1].sym->value;
	for (; at > 0 && g->nodes[c->slices[at - 1]]->args[2].sym->value > n->args[2].sym->value;
	     at--)
		c->slices[at] = c->slices[at - 1];
	c->slices[at] = n->id;
	c->n++;
	return true;
}

static bool reads(const struct node *n, int id)
{
	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE && n->args[i].node == id)
			return true;
	return false;
}

/* The slices of node `id`; n is 0 where something else reads it, or they leave
 * elements out, or share some. */
static struct cover find_cover(const struct graph *g, int id)
{
	const struct cover none = { 0 };
	struct cover c = { 0 };
	int64_t end = 0;

	for (int i = 0; i < g->n_outputs; i++)
		if (g->outputs[i] == id)
			return none;
	for (int user = id + 1; user < g->n_nodes; user++)
		if (reads(g->nodes[user], id) && !add_slice(&c, g, g->nodes[user]))
			return none;
	if (c.dim < 0)
		c.dim += g->nodes[id]->shape.rank;
	for (int i = 0; i < c.n; i++) {
		const struct node *n = g->nodes[c.slices[i]];

		if (n->args[2].sym->value != end)
			return none;
		end = n->args[3].sym->value;
	}
	return c.n > 1 && sym_is(g->nodes[id]->shape.size[c.dim], end) ? c : none;
}

/* Which values are read so, by node of the captured graph. */
static bool find_covers(struct sweep *s, const struct graph *g)
{
	s->covers = ARENA_ARRAY(g->arena, struct cover, (size_t)g->n_nodes + 1);
	for (int id = 0; s->covers && id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];

		if (n->op == OP_slice && s->tracked[id] && !s->covers[n->args[0].node].n)
			s->covers[n->args[0].node] = find_cover(g, n->args[0].node);
	}
	return s->covers || trace_no_memory(s->err);
}

/* The gradients of the slices as that of the whole; one by one where some have none. */
static bool join_slices(struct sweep *s, const struct graph *g, int id)
{
	const struct cover *c = &s->covers[id];
	struct value parts[MAX_ARGS] = { value_int(c->dim) }, whole;
	int n = 1;
	bool ok = true;

	for (int i = 0; i < c->n; i++)
		if (s->given[c->slices[i]].kind == VALUE_TENSOR)
			parts[n++] = s->given[c->slices[i]];
	if (n <= c->n) {
		for (int i = 0; ok && i < c->n; i++)
			if (s->given[c->slices[i]].kind == VALUE_TENSOR)
				ok = run_node(s, g->nodes[c->slices[i]], s->given[c->slices[i]]);
		return ok;
	}
	if (!trace_op(s->t, OP_cat, "torch.cat", false, parts, n, NULL, &whole, s->err))
		return false;
	ok = add_to(s, &s->given[id], whole);
	value_unref(whole);
	return ok;
}

/* The trace counts its inputs; a tangent is none of them in the end. */
static void drop_tangents(struct sweep *s, int first)
{
	size_t from = (size_t)first + (size_t)s->n_tangents, left = s->t->inputs.len - from;

	memmove(s->t->inputs.at + first, s->t->inputs.at + from, left * sizeof(s->t->inputs.at[0]));
	s->t->inputs.len -= (size_t)s->n_tangents;
}

/* An input for the gradient of each output that has one. */
static bool add_tangents(struct sweep *s, const struct graph *captured)
{
	struct trace_input none = { .slot = -1, .lifted = -1 };

	for (int i = 0; i < captured->n_outputs; i++) {
		int of = captured->outputs[i];
		const struct node *n = s->j->g->nodes[s->j->map[of]];
		struct value g;

		s->j->tangents[i] = -1;
		if (!s->tracked[of])
			continue;
		s->j->tangents[i] = graph_input(s->j->g, n->dtype, &n->shape, NULL);
		if (s->j->tangents[i] < 0 || !VEC_PUSH(&s->t->inputs, none) ||
		    !graph_set_name(s->j->g, s->j->tangents[i], "gradient"))
			return trace_no_memory(s->err);
		s->n_tangents++;
		if (!trace_wrap(s->t, s->j->tangents[i], &g, s->err))
			return false;
		if (!add_to(s, &s->given[of], g)) {
			value_unref(g);
			return false;
		}
		value_unref(g);
	}
	return true;
}

static bool sweep(struct sweep *s, const struct graph *captured)
{
	if (!add_tangents(s, captured) || !find_covers(s, captured))
		return false;
	for (int id = captured->n_nodes - 1; id >= 0; id--) {
		const struct node *n = captured->nodes[id];

		if (s->covers[id].n && s->tracked[id] && !join_slices(s, captured, id))
			return false;
		if (n->op == OP_slice && s->covers[n->args[0].node].n)
			continue; /* comes with the others */
		if (!s->tracked[id] || s->given[id].kind != VALUE_TENSOR || n->op == OP_input)
			continue;
		s->t->host.line = n->line;
		s->t->host.column = n->column;
		if (!run_node(s, n, s->given[id]))
			return false;
	}
	for (int i = 0; i < captured->n_inputs; i++) {
		struct value g = s->given[captured->inputs[i]];

		s->j->grads[i] = -1;
		if (!s->wanted[i] || g.kind != VALUE_TENSOR)
			continue;
		s->j->grads[i] = trace_node(s->t, g, s->err);
		if (s->j->grads[i] < 0)
			return false;
		s->j->any = true;
	}
	return true;
}

bool joint_build(struct joint *j, struct trace *t, const struct graph *captured, const bool *wanted,
		 struct err *err)
{
	struct sweep s = { .j = j, .t = t, .a = t->autograd, .wanted = wanted, .err = err };
	struct graph *graph = t->graph;
	void *serial = t->serial;
	size_t n_floats = t->float_operands.len;
	int n_ops = t->n_ops, line = t->host.line, column = t->host.column;
	bool ok, off = t->grad_off;
	unsigned autocast = t->autocast_mode;

	if (!begin(j, captured, err) || !copy_nodes(j, captured, err))
		return false;
	s.tracked = joint_tracked(s.a, captured, wanted, captured->arena, err);
	s.given = ARENA_ARRAY(captured->arena, struct value, (size_t)captured->n_nodes + 1);
	if (!s.tracked || !s.given)
		return s.tracked && trace_no_memory(err);
	for (int i = 0; i < captured->n_nodes; i++)
		s.given[i] = unset;
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
	ok = sweep(&s, captured);
	for (int i = 0; i < captured->n_nodes; i++)
		value_unref(s.given[i]);
	drop_tangents(&s, captured->n_inputs);
	t->graph = graph;
	t->serial = serial;
	t->n_ops = n_ops;
	t->grad_off = off;
	t->autocast_mode = autocast;
	t->host.line = line;
	t->host.column = column;
	return ok;
}

/* Results and gradients as outputs, so that a pass keeps track of them. */
static int list_outputs(const struct joint *j, const struct graph *captured, int *ids)
{
	int n = 0;

	for (int i = 0; i < captured->n_outputs; i++)
		ids[n++] = j->outputs[i];
	for (int i = 0; i < captured->n_inputs; i++)
		if (j->grads[i] >= 0)
			ids[n++] = j->grads[i];
	return n;
}

static void read_outputs(struct joint *j, const struct graph *captured)
{
	int n = 0;

	for (int i = 0; i < captured->n_outputs; i++)
		j->outputs[i] = j->g->outputs[n++];
	for (int i = 0; i < captured->n_inputs; i++)
		if (j->grads[i] >= 0)
			j->grads[i] = j->g->outputs[n++];
}

/* Where among the inputs a node stands. */
static int input_place(const struct graph *g, int node)
{
	int place = 0;

	while (g->inputs[place] != node)
		place++;
	return place;
}

bool joint_decompose(struct joint *j, const struct graph *captured, struct err *err)
{
	struct arena *arena = j->g->arena;
	int n = captured->n_outputs + captured->n_inputs + 1;
	int *ids = ARENA_ARRAY(arena, int, (size_t)n), *places = ARENA_ARRAY(arena, int, (size_t)n);

	if (!ids || !places || !graph_set_outputs(j->g, ids, list_outputs(j, captured, ids)))
		return trace_no_memory(err);
	for (int i = 0; i < captured->n_outputs; i++)
		if (j->tangents[i] >= 0)
			places[i] = input_place(j->g, j->tangents[i]);
	if (!passes_decompose(j->g, err))
		return false;
	read_outputs(j, captured);
	j->n_forward = j->g->n_nodes;
	for (int i = 0; i < captured->n_outputs; i++) {
		if (j->tangents[i] < 0)
			continue;
		j->tangents[i] = j->g->inputs[places[i]];
		if (j->tangents[i] < j->n_forward)
			j->n_forward = j->tangents[i];
	}
	return true;
}
