/* fusion/capture/backward/split.c -- makes the forward and the backward part of an entry.
 *
 * The captured graph is differentiated (joint.h); a minimum cut of the joint graph says what
 * the forward part hands to the backward part.
 */
#include <string.h>

#include "fusion/capture/attempt.h"
#include "fusion/capture/backward/backward.h"
#include "fusion/capture/backward/joint.h"
#include "fusion/capture/backward/sweep.h"
#include "fusion/graph/graph.h"
#include "fusion/passes/passes.h"

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while compiling the call");
}

/* ---- What the program may not write to before backward (struct watched_memory). */

static void add(struct entry_grad *g, enum back_kind kind, int index, uint64_t by)
{
	if (by)
		g->watched[g->n_watched++] = (struct watched_memory){ kind, index, by };
}

/* Whether the graph's input is a tensor of the program, and no number. */
static bool is_tensor(const struct trace *t, int input)
{
	const struct trace_input *in = &t->inputs.at[input];

	if (in->source >= 0)
		return t->sources->at[in->source].value.kind == VALUE_TENSOR;
	return in->lifted >= 0;
}

/* For which outputs something that lies in the node's memory is saved: in either side's, of a
 * merged one. */
static uint64_t saved_in(const struct graph *g, const uint64_t *saved, int node)
{
	int memory = graph_memory(g, node);
	const struct node *n = g->nodes[memory];
	uint64_t by = saved[memory];

	for (int i = 1; n->merged && i <= 2; i++)
		by |= saved_in(g, saved, n->args[i].node);
	return by;
}

/* Whether eager's backward pass fails, whatever gradient comes, once it is written. */
static bool is_always_watched(const struct entry_grad *g, int input)
{
	uint64_t all = 0;

	for (int i = 0; i < g->n_results_of; i++)
		if (g->result_of[i] >= 0)
			all |= grad_bit(i);
	for (int i = 0; i < g->n_watched; i++)
		if (g->watched[i].kind == BACK_INPUT && g->watched[i].index == input)
			return (g->watched[i].by & all) == all;
	return false;
}

/* Finds the memory that the backward pass needs as it is, when the piece is captured; `saved`
 * as joint.h has it. */
static bool watch_make(const struct entry *e, struct entry_grad *g, const struct trace *t,
		       const uint64_t *saved)
{
	const struct graph *c = e->captured;

	g->watched = ARENA_ARRAY(g->arena, struct watched_memory,
				 (size_t)c->n_inputs + (size_t)c->n_outputs + 1);
	g->keeps = ARENA_ARRAY(g->arena, bool, (size_t)g->n_reads + 1);
	if (!g->watched || !g->keeps)
		return false;
	for (int i = 0; i < c->n_inputs; i++)
		if (is_tensor(t, i))
			add(g, BACK_INPUT, i, saved[c->inputs[i]]);
	for (int i = 0; i < c->n_outputs; i++) {
		int memory = graph_memory(c, c->outputs[i]);

		if (c->nodes[memory]->op != OP_input)
			add(g, BACK_SAVED, i, saved_in(c, saved, memory));
	}
	for (int i = 0; i < g->n_reads; i++)
		g->keeps[i] = g->reads[i].kind == BACK_INPUT &&
			      !is_always_watched(g, g->reads[i].index);
	return true;
}

/* ---- The joint graph. */

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

/* The place of a node among the inputs. */
static int input_place(const struct graph *g, int node)
{
	int place = 0;

	while (g->inputs[place] != node)
		place++;
	return place;
}

/* Composites become what they are made of, so that min_cut() sees what of them is
 * dear: the sums of a layer norm, not the norm. */
static bool joint_decompose(struct joint *j, const struct graph *captured, struct err *err)
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

struct joint_sort {
	const struct graph *from;
	struct graph *to;
	int *map;   /* by node of `from`: its id in `to`, -1: not there yet */
	int *stack; /* of nodes that wait for their arguments */
	bool *needs_tangent;
};

static bool emit_one(struct joint_sort *o, int id)
{
	struct node *copy;

	if (!graph_copy_node(o->to, o->from->nodes[id]))
		return false;
	copy = o->to->nodes[o->to->n_nodes - 1];
	for (int i = 0; i < copy->n_args; i++)
		if (copy->args[i].kind == ARG_NODE)
			copy->args[i].node = o->map[copy->args[i].node];
	o->map[id] = copy->id;
	return true;
}

/* The first argument that is not there yet, -1: all are. */
static int missing(const struct joint_sort *o, int id)
{
	const struct node *n = o->from->nodes[id];

	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE && o->map[n->args[i].node] < 0)
			return n->args[i].node;
	return -1;
}

static bool emit(struct joint_sort *o, int id)
{
	int depth = 0;

	if (o->map[id] >= 0)
		return true;
	o->stack[depth++] = id;
	while (depth > 0) {
		int next = missing(o, o->stack[depth - 1]);

		if (next >= 0)
			o->stack[depth++] = next;
		else if (!emit_one(o, o->stack[--depth]))
			return false;
	}
	return true;
}

static bool begin_order(struct joint_sort *o, const bool *needs_tangent)
{
	const struct graph *g = o->from;
	int *inputs = ARENA_ARRAY(g->arena, int, (size_t)g->n_inputs + 1);

	if (!o->to || !o->map || !o->stack || !o->needs_tangent || !inputs ||
	    !graph_copy_symbols(o->to, g))
		return false;
	memcpy(o->to->name_counts, g->name_counts, sizeof(int) * OP_COUNT);
	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];

		o->map[id] = -1;
		for (int i = 0; i < n->n_args; i++)
			o->needs_tangent[id] |= n->args[i].kind == ARG_NODE &&
						o->needs_tangent[n->args[i].node];
		if (n->op == OP_input)
			o->needs_tangent[id] = needs_tangent[n->input];
	}
	for (int i = 0; i < g->n_inputs; i++) {
		if (!emit_one(o, g->inputs[i]))
			return false;
		inputs[i] = o->map[g->inputs[i]];
	}
	o->to->inputs = inputs;
	o->to->n_inputs = g->n_inputs;
	return true;
}

/* The same graph, in which what waits for no tangent comes right before its first
 * use: computed again close by, it is held for a short time.  `needs_tangent` says of the
 * inputs which are tangents.  Inputs keep their places.  NULL when out of memory. */
static struct graph *joint_order(const struct graph *g, const bool *needs_tangent)
{
	size_t n = (size_t)g->n_nodes + 1;
	struct joint_sort o = { .from = g,
				.to = graph_create(g->arena),
				.map = ARENA_ARRAY(g->arena, int, n),
				.stack = ARENA_ARRAY(g->arena, int, n),
				.needs_tangent = ARENA_ARRAY(g->arena, bool, n) };
	int *outputs = ARENA_ARRAY(g->arena, int, (size_t)g->n_outputs + 1);

	if (!outputs || !begin_order(&o, needs_tangent))
		return NULL;
	for (int id = 0; id < g->n_nodes; id++)
		if (o.needs_tangent[id] && !emit(&o, id))
			return NULL;
	for (int i = 0; i < g->n_outputs; i++) {
		if (!emit(&o, g->outputs[i]))
			return NULL;
		outputs[i] = o.map[g->outputs[i]];
	}
	return graph_set_outputs(o.to, outputs, g->n_outputs) ? o.to : NULL;
}

/* A gradient that is an expanded tensor in eager is one here: q.sum() gives each element of q
 * the same memory, which may not be written.  Makes such outputs those that they repeat; by
 * output: how it lies in that one, NULL where it is a tensor of its own.  NULL when out of
 * memory. */
static const struct view_layout **joint_repeats(struct graph *g, struct arena *arena)
{
	int *outputs = ARENA_ARRAY(arena, int, (size_t)g->n_outputs + 1);
	const struct view_layout **made = ARENA_ARRAY(arena, const struct view_layout *,
						      (size_t)g->n_outputs + 1);

	if (!made || !outputs)
		return NULL;
	for (int i = 0; i < g->n_outputs; i++) {
		const struct node *n = g->nodes[g->outputs[i]];
		struct view_layout *layout = ARENA_NEW(arena, struct view_layout);

		if (!layout)
			return NULL;
		outputs[i] = n->id;
		if ((n->op != OP_expand && n->op != OP_expand_as) ||
		    !view_layout_in(g, n->id, n->args[0].node, layout) || !view_repeats(layout))
			continue;
		made[i] = layout;
		outputs[i] = n->args[0].node;
	}
	return graph_set_outputs(g, outputs, g->n_outputs) ? made : NULL;
}

/* ---- The two parts. */

static struct value input_value(const struct trace *t, int input)
{
	const struct trace_input *in = &t->inputs.at[input];

	if (in->source >= 0)
		return t->sources->at[in->source].value;
	return in->lifted >= 0 ? t->lifted.at[in->lifted].value : value_none();
}

static bool requires(struct value v)
{
	return v.kind == VALUE_TENSOR && v.tensor->memory && autograd_requires(v);
}

/* A leaf that is written to, or a view whose base would have to be told: eager
 * raises the error, or does it. */
static bool writes_are_plain(const struct entry *e, const struct trace *t, const bool *tracked,
			     const int *leaf)
{
	for (int i = 0; i < e->n_writes; i++) {
		const struct entry_write *w = &e->writes[i];
		struct value v = w->source >= 0 ? t->sources->at[w->source].value : w->lifted;
		const struct tensor_grad *r = v.tensor->grad;
		int node = e->captured->outputs[w->output];

		if (leaf[node] >= 0 || sweep_detaches(e->captured->nodes[node]))
			continue;
		if (r && (r->leaf || (r->base.kind == VALUE_TENSOR && tracked[node])))
			return false;
	}
	return true;
}

/* Of which results' gradients each is made; of all where none is known. */
static bool find_made_of(const struct entry *e, struct entry_grad *g, const struct joint *j)
{
	const struct graph *c = e->captured;

	g->made_of = ARENA_ARRAY(g->arena, uint64_t, (size_t)g->n_wanted + 1);
	if (!g->made_of)
		return false;
	for (int i = 0; i < g->n_wanted; i++) {
		uint64_t by = j->reached[c->inputs[g->wanted[i]]], of = 0;

		for (int k = 0; k < c->n_outputs; k++)
			if ((by & grad_bit(k)) && g->result_of[k] >= 0)
				of |= grad_bit(g->result_of[k]);
		g->made_of[i] = of ? of : ~(uint64_t)0;
	}
	return true;
}

static bool make_maps(struct entry *e, struct entry_grad *g, const struct joint *j)
{
	const struct graph *c = e->captured;

	g->n_results_of = c->n_outputs;
	g->result_of = ARENA_ARRAY(g->arena, int, (size_t)c->n_outputs + 1);
	g->wanted = ARENA_ARRAY(g->arena, int, (size_t)c->n_inputs + 1);
	if (!g->result_of || !g->wanted)
		return false;
	for (int i = 0; i < c->n_outputs; i++)
		g->result_of[i] = j->tangents[i] >= 0 ? g->n_results++ : -1;
	for (int i = 0; i < c->n_inputs; i++)
		if (j->grads[i] >= 0)
			g->wanted[g->n_wanted++] = i;
	return find_made_of(e, g, j);
}

/* Which of the entry's inputs a node is, -1: none.  After those of the captured
 * graph come numbers that the rules alone compute with. */
int entry_grad_input(const struct entry *e, const struct joint *j, int node)
{
	int index = 0;

	for (int i = 0; i < j->g->n_inputs; i++) {
		bool tangent = false;

		for (int k = 0; k < e->captured->n_outputs && i >= e->captured->n_inputs; k++)
			tangent |= j->tangents[k] == j->g->inputs[i];
		if (j->g->inputs[i] == node)
			return tangent ? -1 : index;
		index += !tangent;
	}
	return -1;
}

static int tangent_index(const struct entry *e, const struct entry_grad *g, const struct joint *j,
			 int node)
{
	for (int i = 0; i < e->captured->n_outputs; i++)
		if (j->tangents[i] == node)
			return g->result_of[i];
	return -1;
}

static bool is_written(const struct entry *e, const struct trace *t, int input)
{
	for (int i = 0; i < e->n_writes; i++)
		if (e->writes[i].source >= 0
			? e->writes[i].source == t->inputs.at[input].source
			: e->writes[i].lifted.tensor == input_value(t, input).tensor)
			return true;
	return false;
}

/* The nodes that the forward part hands to the backward part. */
struct handed {
	int *nodes;
	int n;
};

/* Which results' gradients meet each of what the backward part reads. */
static bool find_needs(struct entry_grad *g)
{
	const struct graph *b = g->backward;
	uint64_t *of = ARENA_ARRAY(g->arena, uint64_t, (size_t)b->n_nodes + 1);
	uint64_t *after = ARENA_ARRAY(g->arena, uint64_t, (size_t)b->n_nodes + 1);

	if (!of || !after)
		return false;
	for (int i = 0; i < g->n_reads; i++)
		if (g->reads[i].kind == BACK_TANGENT)
			of[b->inputs[i]] = grad_bit(g->reads[i].index);
	for (int id = 0; id < b->n_nodes; id++)
		for (int k = 0; k < b->nodes[id]->n_args; k++)
			if (b->nodes[id]->args[k].kind == ARG_NODE)
				of[id] |= of[b->nodes[id]->args[k].node];
	for (int id = b->n_nodes - 1; id >= 0; id--)
		for (int k = 0; k < b->nodes[id]->n_args; k++)
			if (b->nodes[id]->args[k].kind == ARG_NODE)
				after[b->nodes[id]->args[k].node] |= of[id] | after[id];
	for (int i = 0; i < g->n_reads; i++)
		g->reads[i].by = after[b->inputs[i]];
	return true;
}

/* The backward part, and what it reads. */
static bool make_backward(struct entry *e, const struct trace *t, struct entry_grad *g,
			  const struct joint *j, const bool *save, struct handed *handed)
{
	bool *inside = ARENA_ARRAY(g->arena, bool, (size_t)j->g->n_nodes + 1);
	int *grads = ARENA_ARRAY(g->arena, int, (size_t)g->n_wanted + 1), *reads = NULL;

	if (!inside || !grads)
		return false;
	for (int id = 0; id < j->g->n_nodes; id++) /* random numbers were drawn before */
		inside[id] = !save[id] && !graph_draws(j->g->nodes[id]);
	for (int i = 0; i < g->n_wanted; i++)
		grads[i] = j->grads[g->wanted[i]];
	g->backward = graph_extract(j->g, inside, grads, g->n_wanted, g->arena, &reads);
	if (!g->backward)
		return false;
	g->n_reads = g->backward->n_inputs;
	g->reads = ARENA_ARRAY(g->arena, struct back_input, (size_t)g->n_reads + 1);
	if (!g->reads)
		return false;
	for (int i = 0; i < g->n_reads; i++) {
		struct back_input *read = &g->reads[i];
		int input = entry_grad_input(e, j, reads[i]),
		    tangent = tangent_index(e, g, j, reads[i]);

		if (tangent >= 0) {
			*read = (struct back_input){ BACK_TANGENT, tangent, 0 };
			continue;
		}
		g->n_saved++;
		if (input >= 0 && !is_written(e, t, input)) {
			*read = (struct back_input){ BACK_INPUT, input, 0 };
			continue;
		}
		*read = (struct back_input){ BACK_SAVED, e->captured->n_outputs + handed->n, 0 };
		handed->nodes[handed->n++] = reads[i];
	}
	if (g->autograd->twice &&
	    !(g->double_backward = double_backward_make(e, g, j, save, reads)))
		return false;
	for (int i = 0; i < g->n_reads; i++)
		inside[i] = g->reads[i].kind == BACK_TANGENT;
	g->backward = joint_order(g->backward, inside);
	g->repeats = g->backward ? joint_repeats(g->backward, g->arena) : NULL;
	return g->repeats && find_needs(g);
}

static bool make_forward(struct entry *e, struct entry_grad *g, const struct joint *j,
			 const struct handed *handed)
{
	const struct graph *c = e->captured;
	int *outputs = ARENA_ARRAY(g->arena, int, (size_t)(c->n_outputs + handed->n) + 1), *reads;

	if (!outputs)
		return false;
	for (int i = 0; i < c->n_outputs; i++)
		outputs[i] = j->outputs[i];
	for (int i = 0; i < handed->n; i++)
		outputs[c->n_outputs + i] = handed->nodes[i];
	g->n_outputs = c->n_outputs + handed->n;
	g->forward = graph_extract(j->g, NULL, outputs, g->n_outputs, g->arena, &reads);
	g->outputs = ARENA_ARRAY(g->arena, struct tensor *, (size_t)g->n_outputs + 1);
	if (!g->forward || !g->outputs)
		return false;
	g->inputs = ARENA_ARRAY(g->arena, struct tensor *, (size_t)g->forward->n_inputs + 1);
	g->forward_inputs = ARENA_ARRAY(g->arena, int, (size_t)g->forward->n_inputs + 1);
	if (!g->inputs || !g->forward_inputs)
		return false;
	for (int i = 0; i < g->forward->n_inputs; i++)
		g->forward_inputs[i] = entry_grad_input(e, j, reads[i]);
	return true;
}

static bool split(struct entry *e, const struct trace *t, struct entry_grad *g, struct joint *j,
		  struct err *err)
{
	struct handed handed = { .nodes = ARENA_ARRAY(g->arena, int, (size_t)j->g->n_nodes + 1) };
	bool *save;

	/* a convolution of 16 bits stays one where a device has it */
	j->g->calls = g->backend->has_calls && g->backend->has_calls(g->env->backend_env.device);
	/* what a backend leaves to others, or the workload denies, keeps its name */
	if (partition_is_whole(g->backend, j->g, &g->lowering) &&
	    !joint_decompose(j, e->captured, err))
		return false;
	if (!min_cut(j, e->captured, &save, err))
		return false;
	if (!handed.nodes || !make_maps(e, g, j) || !make_backward(e, t, g, j, save, &handed) ||
	    !make_forward(e, g, j, &handed))
		return no_memory(err);
	return true;
}

/* Results whose backward pass the piece has run: eager says so where another one is
 * asked for.  *leaf_has_grad: one has a gradient for a leaf
 * that the piece makes, which an entry cannot hand out. */
struct tracking {
	bool *wanted;  /* by input of the graph: it requires a gradient */
	bool *tracked; /* by node: so does it */
	int *leaf;     /* by node: trace_leaf_map() */
};

static bool find_spent(struct entry *e, struct trace *t, const struct tracking *by,
		       bool *leaf_has_grad, struct err *err)
{
	const struct graph *c = e->captured;
	bool *fresh = ARENA_ARRAY(&e->arena, bool, (size_t)c->n_nodes + 1), *stops;
	bool *whole = joint_tracked(t, c, by->wanted, true, err);

	if (!whole)
		return false;
	stops = ARENA_ARRAY(&e->arena, bool, (size_t)c->n_nodes + 1);
	e->spent = ARENA_ARRAY(&e->arena, bool, (size_t)c->n_outputs + 1);
	if (!fresh || !stops || !e->spent)
		return no_memory(err);
	for (size_t i = 0; i < t->spent.len; i++)
		stops[t->spent.at[i]] = true;
	for (int id = 0; id < c->n_nodes; id++)
		fresh[id] = by->leaf[id] >= c->n_inputs;
	if (!sweep_spread(t, c, fresh, stops, err))
		return false;
	for (int i = 0; i < c->n_outputs; i++) {
		int of = c->outputs[i];

		e->spent[i] = by->leaf[of] < 0 && whole[of] && !by->tracked[of];
		*leaf_has_grad |= by->leaf[of] < 0 && fresh[of];
	}
	return true;
}

static struct entry_grad *new_grad(struct entry *e, const struct entry_options *options)
{
	struct entry_grad *g = ARENA_NEW(&e->arena, struct entry_grad);

	if (!g)
		return NULL;
	g->autograd = options->autograd;
	g->arena = &e->arena;
	g->env = options->env;
	g->backend = options->backend;
	g->passes_disabled = options->passes_disabled;
	g->lowering = options->lowering;
	g->record = options->record;
	return g;
}

bool entry_grad_make(struct entry *e, struct attempt *a, const struct entry_options *options,
		     struct err *err)
{
	struct trace *t = &a->trace;
	const struct graph *c = e->captured;
	bool any = false, leaf_has_grad = false;
	struct tracking by = { 0 };
	struct entry_grad *g;
	struct joint j;

	if (!options->autograd->recording || c->n_outputs == 0)
		return true;
	by.wanted = ARENA_ARRAY(&e->arena, bool, (size_t)c->n_inputs + 1);
	by.leaf = trace_leaf_map(t, c);
	if (!by.wanted || !by.leaf)
		return no_memory(err);
	for (int i = 0; i < c->n_inputs; i++)
	by.wanted[i] = requires(input_value(t, i)) &&
		       dtype_category(c->nodes[c->inputs[i]]->dtype) == CATEGORY_FLOAT;
	by.tracked = joint_tracked(t, c, by.wanted, false, err);
	if (!by.tracked || !find_spent(e, t, &by, &leaf_has_grad, err))
		return false;
	if (leaf_has_grad) {
		t->restart = t->no_leaves = true;
		return err_set(err, ERR_BREAK, "a leaf is made outside of the graph");
	}
	if (!writes_are_plain(e, t, by.tracked, by.leaf))
		return err_set(err, ERR_UNSUPPORTED,
			       "a tensor that requires a gradient is written in place");
	for (int i = 0; i < c->n_outputs; i++)
		any |= by.tracked[c->outputs[i]] && by.leaf[c->outputs[i]] < 0;
	if (!any)
		return true;
	g = new_grad(e, options);
	if (!g)
		return no_memory(err);
	if (!joint_build(&j, t, c, by.wanted, err) || !split(e, t, g, &j, err))
		return false;
	if (!watch_make(e, g, t, j.saved))
		return no_memory(err);
	g->n_vars = sym_var_count(j.g->syms);
	e->grad = g;
	return true;
}
