/* fusion/capture/backward/double_backward.c -- the gradient of a compiled piece's gradient.
 *
 * Where a backward pass has a gradient itself (create_graph), the joint graph is
 * run op by op from the piece's inputs and tangents, under the tape: so each
 * result knows how it was made, to any order.  What random numbers alone made is
 * read back, not drawn again.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/graph/loop.h"
#include "fusion/eager/eager.h"
#include "fusion/capture/entry.h"
#include "fusion/capture/backward/joint.h"
#include "fusion/capture/backward/sweep.h"

static bool out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while compiling the call");
}

static const struct value unset = { .kind = VALUE_UNSET };

struct double_backward {
	struct graph *g;          /* outputs: gradients of the inputs that have one */
	struct back_input *reads; /* by input of g; SAVED: the index among what is saved */
	bool whole;               /* all of them are there, and it has no loop */
};

/* ---- making */

/* Nodes that are saved and made of random numbers alone. */
static bool *find_drawn(const struct joint *j, const bool *save)
{
	size_t n = (size_t)j->g->n_nodes + 1;
	bool *drawn = ARENA_ARRAY(j->g->arena, bool, n), *fixed = ARENA_ARRAY(j->g->arena, bool, n);
	bool *reads_input = ARENA_ARRAY(j->g->arena, bool, n);

	if (!drawn || !fixed || !reads_input)
		return NULL;
	for (int id = 0; id < j->g->n_nodes; id++) {
		const struct node *node = j->g->nodes[id];

		drawn[id] = graph_draws(node);
		reads_input[id] = node->op == OP_input;
		for (int i = 0; i < node->n_args; i++) {
			if (node->args[i].kind != ARG_NODE)
				continue;
			drawn[id] |= drawn[node->args[i].node];
			reads_input[id] |= reads_input[node->args[i].node];
		}
		fixed[id] = save[id] && drawn[id] && !reads_input[id];
	}
	return fixed;
}

static bool is_whole(const struct double_backward *double_backward)
{
	for (int id = 0; id < double_backward->g->n_nodes; id++)
		if (op_info(double_backward->g->nodes[id]->op)->kind == KIND_CONTROL)
			return false;
	for (int i = 0; i < double_backward->g->n_inputs; i++)
		if (double_backward->reads[i].index < 0)
			return false; /* it was drawn, and not saved */
	return true;
}

/* What input `node` of the graph is read from. */
static struct back_input source_of(const struct entry *e, const struct entry_grad *g,
				   const struct joint *j, const int *saved, int node)
{
	int at = 0;

	for (int i = 0; i < e->captured->n_outputs; i++)
		if (j->tangents[i] == node)
			return (struct back_input){ BACK_TANGENT, g->result_of[i], 0 };
	for (int i = 0; i < g->n_reads; i++) {
		if (g->reads[i].kind == BACK_TANGENT)
			continue;
		if (saved[i] == node && g->reads[i].kind == BACK_SAVED)
			return (struct back_input){ BACK_SAVED, at, 0 };
		at++;
	}
	return (struct back_input){ BACK_INPUT, entry_grad_input(e, j, node), 0 };
}

struct double_backward *double_backward_make(const struct entry *e, const struct entry_grad *g,
					     const struct joint *j, const bool *save,
					     const int *reads)
{
	struct double_backward *double_backward = ARENA_NEW(g->arena, struct double_backward);
	bool *inside = find_drawn(j, save);
	int *grads = ARENA_ARRAY(g->arena, int, (size_t)g->n_wanted + 1), *inputs;

	if (!double_backward || !inside || !grads)
		return NULL;
	for (int id = 0; id < j->g->n_nodes; id++)
		inside[id] = !inside[id] && !graph_draws(j->g->nodes[id]);
	for (int i = 0; i < g->n_wanted; i++)
		grads[i] = j->grads[g->wanted[i]];
	double_backward->g = graph_extract(j->g, inside, grads, g->n_wanted, g->arena, &inputs);
	if (!double_backward->g)
		return NULL;
	double_backward->reads = ARENA_ARRAY(g->arena, struct back_input,
					     (size_t)double_backward->g->n_inputs + 1);
	if (!double_backward->reads)
		return NULL;
	for (int i = 0; i < double_backward->g->n_inputs; i++)
		double_backward->reads[i] = source_of(e, g, j, reads, inputs[i]);
	double_backward->whole = is_whole(double_backward);
	return double_backward;
}

/* ---- what a call keeps */

bool double_backward_note(struct double_backward_call *call, const struct entry *e, struct err *err)
{
	call->inputs = calloc((size_t)e->n_inputs + 1, sizeof(*call->inputs));
	call->versions = calloc((size_t)e->n_inputs + 1, sizeof(*call->versions));
	if (!call->inputs || !call->versions)
		return out_of_memory(err);
	for (; call->n < e->n_inputs; call->n++) {
		struct value v = entry_call_value(e, call->n), *kept = &call->inputs[call->n];
		struct tensor *copy;

		*kept = unset;
		if (v.kind == VALUE_TENSOR) {
			*kept = value_ref(v);
			call->versions[call->n] = v.tensor->memory->storage->version;
			continue;
		}
		/* a number: its place is the next call's, too */
		copy = entry_grad_copy(e->grad, e->input_tensors[call->n], err);
		if (!copy)
			return false;
		*kept = tensor_wrap(copy);
		if (kept->kind == VALUE_UNSET)
			return out_of_memory(err);
	}
	return true;
}

void double_backward_forget(struct double_backward_call *call)
{
	for (int i = 0; i < call->n; i++)
		value_unref(call->inputs[i]);
	free(call->inputs);
	free(call->versions);
	*call = (struct double_backward_call){ 0 };
}

/* ---- running */

struct double_backward_state {
	const struct double_backward_run *run;
	const struct entry_grad *g;
	struct value *values; /* by node of the graph: references */
	struct err *err;
};

static bool no_memory(struct double_backward_state *r)
{
	return out_of_memory(r->err);
}

static bool wrap(struct double_backward_state *r, struct tensor *t, struct value *out)
{
	if (!t)
		return false;
	*out = tensor_wrap(t);
	return out->kind != VALUE_UNSET || no_memory(r);
}

static bool read_input(struct double_backward_state *r, const struct back_input *from,
		       struct value *out)
{
	struct autograd *a = r->g->autograd;
	const struct grad_arg *saved = &r->run->node->args[r->g->n_wanted + from->index];

	switch (from->kind) {
	case BACK_TANGENT:
		if (r->run->given[from->index].kind != VALUE_TENSOR)
			return wrap(r, entry_grad_zeros(r->g, r->run->node, from->index, r->err),
				    out);
		*out = value_ref(r->run->given[from->index]);
		return true;
	case BACK_SAVED:
		return grad_check(a, saved, r->err) && wrap(r, tensor_ref(saved->saved), out);
	default:
		*out = value_ref(r->run->call->inputs[from->index]);
		if (r->run->call->versions[from->index] != out->tensor->memory->storage->version)
			return autograd_error(a, r->err,
					      "one of the variables needed for gradient "
					      "computation has been modified "
					      "by an inplace operation: a tensor that a compiled "
					      "piece of the program "
					      "has read; its gradient is to have a gradient, which "
					      "needs it as it was");
		return true;
	}
}

static bool ints_value(struct double_backward_state *r, const struct arg *arg, struct value *out)
{
	struct value items[MAX_RANK];

	for (int i = 0; i < arg->n; i++)
		items[i] = value_int(sym_eval(arg->ints[i], r->run->vars));
	*out = value_tuple(items, arg->n);
	return out->kind != VALUE_UNSET || no_memory(r);
}

static bool argument(struct double_backward_state *r, const struct arg *arg, struct value *out)
{
	switch (arg->kind) {
	case ARG_NODE:
		*out = value_ref(r->values[arg->node]);
		return true;
	case ARG_INT:
		*out = value_int(sym_eval(arg->sym, r->run->vars));
		return true;
	case ARG_INTS:
		return ints_value(r, arg, out);
	default:
		*out = sweep_literal(arg);
		return out->kind != VALUE_UNSET || no_memory(r);
	}
}

static bool constant(struct double_backward_state *r, const struct node *n, struct value *out)
{
	int64_t size[MAX_RANK];
	struct tensor *t;

	for (int d = 0; d < n->shape.rank; d++)
		size[d] = sym_eval(n->shape.size[d], r->run->vars);
	t = tensor_create(r->g->env->allocator, n->dtype, n->shape.rank, size, r->err);
	if (t)
		memcpy(tensor_host_writes(t), n->data, t->storage->bytes);
	return wrap(r, t, out);
}

/* Positions first, then the rest by their names. */
static bool run_op(struct double_backward_state *r, const struct node *n, struct value *args,
		   struct value *out)
{
	const struct op_info *info = op_info(n->op);
	struct value names[MAX_ARGS];
	struct keywords kw = { .names = names };
	struct op_call call = {
		.op = n->op, .name = info->id, .values = args, .n = n->n_args, .kw = &kw
	};
	bool ok = true, enabled = autograd_enabled(r->g->autograd);

	while (call.n > 0 && args[call.n - 1].kind == VALUE_NONE)
		call.n--;
	for (int i = 0; ok && i < call.n; i++) {
		if (!info->params[i].keyword_only)
			continue;
		names[kw.n] = value_str(info->params[i].name, strlen(info->params[i].name));
		ok = names[kw.n].kind != VALUE_UNSET || no_memory(r);
		kw.n += ok;
	}
	if (n->detached)
		autograd_enable(r->g->autograd, false);
	ok = ok && autograd_run(r->g->autograd, &call, out, r->err);
	autograd_enable(r->g->autograd, enabled);
	for (int i = 0; i < kw.n; i++)
		value_unref(names[i]);
	return ok;
}

static bool compute(struct double_backward_state *r, const struct node *n, struct value *out)
{
	struct value args[MAX_ARGS];
	bool ok = true;
	int k = 0;

	if (n->op == OP_input)
		return read_input(r, &r->g->double_backward->reads[n->input], out);
	if (n->data)
		return constant(r, n, out);
	for (; ok && k < n->n_args; k++)
		ok = argument(r, &n->args[k], &args[k]);
	ok = ok && run_op(r, n, args, out);
	while (k-- > 0)
		value_unref(args[k]);
	return ok;
}

bool double_backward_run(const struct double_backward_run *run, struct value *made, struct err *err)
{
	const struct entry_grad *g = run->g;
	struct double_backward_state r = { run, g, NULL, err };
	const struct graph *graph = g->double_backward ? g->double_backward->g : NULL;
	bool ok = true;
	int n = 0;

	if (!graph)
		return autograd_error(g->autograd, err,
				      "the gradient of a compiled piece has no gradient here: say "
				      "create_graph=True where it is asked for");
	if (!g->double_backward->whole)
		return autograd_error(
		    g->autograd, err,
		    "the gradient of a compiled piece that draws random numbers, or "
		    "has a loop of its own, has no gradient so far; compute it "
		    "outside of torch.compile");
	r.values = calloc((size_t)graph->n_nodes + 1, sizeof(*r.values));
	if (!r.values)
		return out_of_memory(err);
	for (; ok && n < graph->n_nodes; n++) {
		r.values[n] = unset;
		ok = compute(&r, graph->nodes[n], &r.values[n]);
	}
	for (int i = 0; ok && i < g->n_wanted; i++)
		made[i] = value_ref(r.values[graph->outputs[i]]);
	while (n-- > 0)
		value_unref(r.values[n]);
	free(r.values);
	return ok;
}
