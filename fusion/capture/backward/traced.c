/* fusion/capture/backward/traced.c -- backward passes that a captured function makes itself. */
#include "fusion/capture/backward/backward.h"

#include <stdio.h>

#include "fusion/capture/backward/function.h"
#include "fusion/capture/backward/joint.h"
#include "fusion/capture/backward/sweep.h"
#include "fusion/torch/torch_host.h"

/* A loop of training steps is no graph without end: after so many nodes its rounds are
 * pieces of their own, which share what is compiled. */
enum { MAX_NODES_BEFORE = 4000 };

static const struct value unset = { .kind = VALUE_UNSET };

struct traced_pass {
	struct trace *t;
	const struct native *f;
	struct backward_call c;
	struct gradient_sweep s;
	int *roots;   /* by root: its node */
	int *inputs;  /* by input: its node; -1: a leaf, all whose values count */
	int n_inputs; /* of the graph, as s.leaf counts them: a gradient may be one more */
	bool *spent;
	struct err *err;
};

/* What eager refuses, it words; the rest it can do. */
static bool give_up(struct traced_pass *p, const char *why)
{
	enum break_id id = p->c.grad ? BREAK_UNSUPPORTED : BREAK_BACKWARD;

	trace_break(p->t, id, p->f->name, p->err);
	snprintf(p->t->brk.message, sizeof(p->t->brk.message), "%s: %s", p->f->name, why);
	return false;
}

static bool no_memory(struct traced_pass *p)
{
	return trace_no_memory(p->err);
}

/* The tensor of the call that a graph input is; None for a number. */
static struct value real_of(const struct trace *t, int input)
{
	const struct trace_input *in = &t->inputs.at[input];

	if (in->source >= 0)
		return t->sources->at[in->source].value;
	return in->lifted >= 0 ? t->lifted.at[in->lifted].value : value_none();
}

static bool input_requires(const struct trace *t, int input)
{
	struct value real = real_of(t, input);

	return real.kind == VALUE_TENSOR && autograd_requires(real);
}

static struct value stand_in_of(const struct trace *t, int input)
{
	const struct trace_input *in = &t->inputs.at[input];

	return in->source >= 0 ? t->sources->at[in->source].stand_in
			       : t->lifted.at[in->lifted].value;
}

/* All inputs that the graph has now are looked at: whether they require a gradient is
 * guarded. */
static bool find_nodes(struct traced_pass *p)
{
	const struct graph *g = p->t->graph;
	const struct backward *b = &p->c.b;

	p->roots = ARENA_ARRAY(g->arena, int, (size_t)b->n + 1);
	p->inputs = ARENA_ARRAY(g->arena, int, (size_t)b->n_inputs + 1);
	if (!p->roots || !p->inputs)
		return no_memory(p);
	for (int i = 0; i < b->n; i++)
		if ((p->roots[i] = trace_node(p->t, b->roots[i], p->err)) < 0)
			return false;
	for (int i = 0; i < b->n_inputs; i++) {
		if ((p->inputs[i] = trace_node(p->t, b->inputs[i], p->err)) < 0)
			return false;
		if (trace_is_leaf(p->t, b->inputs[i]))
			p->inputs[i] = -1;
		else if (!p->c.grad)
			return give_up(p, "inputs= holds a tensor that is no leaf");
	}
	for (size_t i = 0; i < p->t->inputs.len; i++)
		if (p->t->inputs.at[i].source >= 0)
			p->t->sources->at[p->t->inputs.at[i].source].grad_read = true;
	return true;
}

static bool is_asked(const struct traced_pass *p, struct value leaf)
{
	const struct backward *b = &p->c.b;

	for (int i = 0; i < b->n_inputs; i++)
		if (b->inputs[i].tensor == leaf.tensor)
			return true;
	return b->inputs == NULL;
}

/* The leaves' values; s->leaf is -1 for all other nodes. */
static bool find_leaves(struct traced_pass *p, bool *tracked)
{
	struct trace *t = p->t;
	int *leaf = trace_leaf_map(t, t->graph);

	if (!leaf)
		return no_memory(p);
	for (int i = 0; i < t->graph->n_inputs; i++) {
		int node = t->graph->inputs[i];

		if (!input_requires(t, i) ||
		    dtype_category(t->graph->nodes[node]->dtype) != CATEGORY_FLOAT)
			continue;
		if (autograd_has_hooks(real_of(t, i)))
			return give_up(p, "a leaf has hooks");
		if (autograd_is_leaf(real_of(t, i)))
			leaf[node] = i;
		tracked[node] = !p->c.b.inputs || is_asked(p, stand_in_of(t, i));
	}
	for (size_t i = 0; i < t->leaf_values.len; i++)
		if (leaf[t->leaf_values.at[i].node] >= 0)
			tracked[t->leaf_values.at[i].node] = is_asked(p, t->leaf_values.at[i].of);
	p->s.leaf = leaf;
	p->n_inputs = t->graph->n_inputs;
	return true;
}

/* Another step of the tape is after an input, or a loop of the graph on the way. */
static bool leads_out(const struct traced_pass *p, const bool *tracked)
{
	const struct graph *g = p->t->graph;

	for (int i = 0; !p->c.b.inputs && i < g->n_inputs; i++)
		if (tracked[g->inputs[i]] && p->s.leaf[g->inputs[i]] < 0 &&
		    p->s.given[g->inputs[i]].kind == VALUE_TENSOR)
			return true;
	return false;
}

static bool has_loop(const struct traced_pass *p, const bool *tracked)
{
	const struct graph *g = p->t->graph;

	for (int id = 0; id < p->s.n; id++)
		for (int i = 0;
		     op_info(g->nodes[id]->op)->kind == KIND_CONTROL && i < g->nodes[id]->n_args;
		     i++)
			if (g->nodes[id]->args[i].kind == ARG_NODE &&
			    tracked[g->nodes[id]->args[i].node])
				return true;
	return false;
}

static bool sweep(struct traced_pass *p);

static bool prepare(struct traced_pass *p)
{
	struct trace *t = p->t;
	size_t n;
	bool *tracked;
	int *map;

	if (t->cond)
		return give_up(p, "it is in a branch that the graph holds both sides of");
	if (t->graph->n_nodes > MAX_NODES_BEFORE)
		return give_up(p, "the graph before it is long, so that it ends here");
	if (!find_nodes(p))
		return false;
	n = (size_t)t->graph->n_nodes + 1;
	tracked = ARENA_ARRAY(t->graph->arena, bool, n);
	map = ARENA_ARRAY(t->graph->arena, int, n);
	p->s = (struct gradient_sweep){ .t = t,
					.a = t->autograd,
					.from = t->graph,
					.n = t->graph->n_nodes,
					.map = map,
					.tracked = tracked,
					.given = ARENA_ARRAY(t->graph->arena, struct value, n),
					.ran = ARENA_ARRAY(t->graph->arena, bool, n),
					.err = p->err };
	p->spent = ARENA_ARRAY(t->graph->arena, bool, n);
	if (!tracked || !map || !p->s.given || !p->s.ran || !p->spent)
		return no_memory(p);
	for (size_t i = 0; i < t->spent.len; i++)
		p->spent[t->spent.at[i]] = true;
	for (int i = 0; i < p->s.n; i++) {
		map[i] = i;
		p->s.given[i] = unset;
	}
	if (!find_leaves(p, tracked))
		return false;
	for (int i = 0; i < p->c.b.n_inputs; i++)
		if (p->inputs[i] >= 0)
			tracked[p->inputs[i]] = true;
	if (!sweep_spread(t, t->graph, tracked, NULL, p->err))
		return false;
	return !has_loop(p, tracked) || give_up(p, "a loop of the graph is on the way");
}

static bool seed(struct traced_pass *p, int index)
{
	struct trace *t = p->t;
	struct value root = p->c.b.roots[index], g = p->c.b.seeds ? p->c.b.seeds[index] : unset;
	struct shape shape, given;
	enum dtype dtype, other;
	bool ok;

	if (!trace_shape(t, root, &shape, &dtype, p->err))
		return false;
	if (!p->s.tracked[p->roots[index]])
		return give_up(p, "a tensor does not require a gradient");
	if (g.kind == VALUE_TENSOR) {
		if (!trace_shape(t, g, &given, &other, p->err))
			return false;
		return shape_equal(&shape, &given) && dtype == other
			   ? sweep_give(&p->s, p->roots[index], g)
			   : give_up(p, "a gradient has another shape than its tensor");
	}
	for (int d = 0; d < shape.rank; d++)
		if (!sym_is(shape.size[d], 1))
			return give_up(p, "a tensor of more than one element needs a gradient");
	if (!trace_op(t, &(struct op_call){ OP_ones_like, "fx:ones_like", false, &root, 1, NULL },
		      &g, p->err))
		return false;
	ok = sweep_give(&p->s, p->roots[index], g);
	value_unref(g);
	return ok;
}

static bool note_function(struct traced_pass *p, const struct traced_function *f)
{
	struct trace *t = p->t;
	bool saves = f->n_saved > 0;

	for (int id = f->first; id < f->end; id++)
		for (int i = 0; i < t->graph->nodes[id]->n_args; i++)
			saves |= t->graph->nodes[id]->args[i].kind == ARG_NODE &&
				 function_saves(t->graph, f, t->graph->nodes[id]->args[i].node);
	for (int i = 0; saves && i < f->n_results; i++) {
		if (f->results[i] < 0)
			continue;
		if (p->spent[f->results[i]])
			return give_up(p, "the backward pass has been run");
		if (!p->c.b.keep && !VEC_PUSH(&t->spent, f->results[i]))
			return no_memory(p);
	}
	return true;
}

/* A rule that reads elements runs once, unless retain_graph says otherwise. */
static bool note_spent(struct traced_pass *p)
{
	struct trace *t = p->t;

	for (int id = 0; id < p->s.n; id++) {
		const struct node *n = t->graph->nodes[id];
		unsigned wanted = 0, kept = 1u << MAX_ARGS, needs;
		bool known;

		if (!p->s.ran[id])
			continue;
		if (n->function >= 0) {
			if (!note_function(p, &t->functions.at[n->function]))
				return false;
			continue;
		}
		for (int i = 0; i < n->n_args; i++) {
			if (op_info(n->op)->params[i].kind == PARAM_TENSOR_SCALAR)
				kept |= 1u << i; /* a number too, as torch */
			if (n->args[i].kind == ARG_NODE) {
				kept |= 1u << i;
				wanted |= (unsigned)p->s.tracked[n->args[i].node] << i;
			}
		}
		if (!grad_rule_needs(t->autograd, n->op, wanted, &known, &needs, p->err))
			return false;
		needs &= kept;
		if (needs && p->spent[id])
			return give_up(p, "the backward pass has been run");
		if (needs && !p->c.b.keep && !VEC_PUSH(&t->spent, id))
			return no_memory(p);
	}
	return true;
}

static bool sweep(struct traced_pass *p)
{
	uint64_t *reached = ARENA_ARRAY(p->t->graph->arena, uint64_t, (size_t)p->s.n + 1);
	bool spoiled;

	if (!reached)
		return no_memory(p);
	for (int i = 0; i < p->c.b.n; i++) {
		reached[p->roots[i]] = 1;
		if (!seed(p, i))
			return false;
	}
	if (!sweep_spoiled(&p->s, reached, NULL, &spoiled, p->err))
		return false;
	if (spoiled)
		return give_up(p, "a value that it needs was written in place");
	if (!sweep_run(&p->s))
		return false;
	if (leads_out(p, p->s.tracked))
		return give_up(p, "a gradient leads to what was computed before the graph");
	return note_spent(p);
}

/* ---- what becomes of the gradients */

/* A tensor of its own: what is written to it changes no other. */
static bool own(struct traced_pass *p, struct value g, struct value *out)
{
	int node = trace_node(p->t, g, p->err);

	return node >= 0 && trace_wrap(p->t, node, out, p->err);
}

/* That whose elements share no memory: a leaf's gradient is written when there is more of it. */
static bool dense(struct traced_pass *p, struct value g, struct value *out)
{
	struct view_layout layout;
	struct value same;
	bool ok;

	if (!own(p, g, &same))
		return false;
	if (!trace_expanded(p->t, same, &layout)) {
		*out = same;
		return true;
	}
	ok = trace_op(p->t, &(struct op_call){ OP_clone, "fx:clone", false, &same, 1, NULL }, out,
		      p->err);
	value_unref(same);
	return ok;
}

static bool accumulate(struct traced_pass *p, struct value leaf, struct value g)
{
	struct value pair[2] = { unset, g }, made;
	bool ok;

	if (!trace_read_grad(p->t, leaf, &pair[0], p->err))
		return false;
	if (pair[0].kind != VALUE_TENSOR) {
		ok = dense(p, g, &made) && trace_write_grad(p->t, leaf, made, p->err);
	} else {
		ok = trace_op(p->t,
			      &(struct op_call){ OP_add, "op:+", !p->c.b.create, pair, 2, NULL },
			      &made, p->err);
		ok = ok && (!p->c.b.create || trace_write_grad(p->t, leaf, made, p->err));
	}
	if (ok)
		value_unref(made);
	return ok;
}

/* The gradients of all values of a leaf, as one; UNSET: there is none. */
static bool gather(struct traced_pass *p, struct value leaf, struct value *out)
{
	struct trace *t = p->t;
	struct value sum = unset, pair[2];

	*out = unset;
	for (int id = 0; id < p->s.n; id++) {
		int of = p->s.leaf[id];
		struct value g = p->s.given[id], whose;

		if (of < 0 || g.kind != VALUE_TENSOR || !p->s.tracked[id])
			continue;
		whose = of < p->n_inputs ? stand_in_of(t, of) : t->leaves.at[of - p->n_inputs];
		if (whose.tensor != leaf.tensor)
			continue;
		pair[0] = *out;
		pair[1] = g;
		if (out->kind == VALUE_UNSET) {
			*out = value_ref(g);
			continue;
		}
		if (!trace_op(t, &(struct op_call){ OP_add, "op:+", false, pair, 2, NULL }, &sum,
			      p->err))
			return false;
		value_unref(*out);
		*out = sum;
	}
	return true;
}

static bool settle(struct traced_pass *p, struct value leaf)
{
	struct value g;
	bool ok = gather(p, leaf, &g) && (g.kind != VALUE_TENSOR || accumulate(p, leaf, g));

	value_unref(g);
	return ok;
}

static bool settle_all(struct traced_pass *p)
{
	struct trace *t = p->t;

	if (p->c.b.inputs) {
		for (int i = 0; i < p->c.b.n_inputs; i++)
			if (!settle(p, p->c.b.inputs[i]))
				return false;
		return true;
	}
	for (int i = 0; i < p->n_inputs; i++)
		if (p->s.leaf[t->graph->inputs[i]] == i && !settle(p, stand_in_of(t, i)))
			return false;
	for (size_t i = 0; i < t->leaves.len; i++)
		if (!settle(p, t->leaves.at[i]))
			return false;
	return true;
}

static bool zeros(struct traced_pass *p, int index, struct value *out)
{
	struct value of = p->c.b.inputs[index];

	*out = value_none();
	if (!p->c.unused)
		return give_up(p, "an input was not used");
	return !p->c.zeros ||
	       trace_op(p->t,
			&(struct op_call){ OP_zeros_like, "fx:zeros_like", false, &of, 1, NULL },
			out, p->err);
}

static bool hand_out(struct traced_pass *p, struct value *out)
{
	const struct backward *b = &p->c.b;

	*out = value_sequence(VALUE_TUPLE, b->n_inputs);
	if (out->kind == VALUE_UNSET)
		return no_memory(p);
	for (int i = 0; i < b->n_inputs; i++) {
		struct value g, *made = &out->list->at[i];
		bool ok = true;

		if (p->inputs[i] < 0)
			ok = gather(p, b->inputs[i], &g);
		else
			g = value_ref(p->s.given[p->inputs[i]]);
		if (ok)
			ok = g.kind == VALUE_TENSOR ? own(p, g, made) : zeros(p, i, made);
		value_unref(g);
		if (!ok) {
			value_unref(*out);
			return false;
		}
		out->list->len++;
	}
	return true;
}

static bool traced_call(struct trace *t, const struct native *f, const struct arguments *args,
			struct value *out, struct err *err)
{
	struct traced_pass p = { .t = t, .f = f, .err = err };
	bool off = t->grad_off, ok;
	unsigned autocast = t->autocast_mode;
	int line = t->host.line, column = t->host.column;

	if (!torch_grad_is_pass(f->id) || !backward_parse(f, args, &p.c, err) || !prepare(&p))
		return false;
	*out = value_none();
	t->grad_off = !p.c.b.create;
	t->autocast_mode = 0;
	ok = sweep(&p) && (p.c.grad ? hand_out(&p, out) : settle_all(&p));
	for (int i = 0; i < p.s.n; i++)
		value_unref(p.s.given[i]);
	t->grad_off = off;
	t->autocast_mode = autocast;
	t->host.line = line;
	t->host.column = column;
	return ok;
}

const struct trace_backward backward_in_trace = {
	.call = traced_call,
	.tracked = joint_tracked,
	.functions = &functions_in_trace,
};
