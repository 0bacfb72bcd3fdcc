/* fusion/capture/backward/backward.c -- entries with a backward part, and backward passes
 * within a trace.
 */
#include "fusion/capture/backward/backward.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/capture/attempt.h"
#include "fusion/capture/backward/joint.h"
#include "fusion/capture/backward/sweep.h"
#include "fusion/capture/entry.h"
#include "fusion/eager/eager.h"
#include "fusion/graph/graph.h"
#include "fusion/graph/loop.h"
#include "fusion/tensor/keep.h"

/* ---- What the program may not write to before backward.
 *
 * Eager saves what the rules of its ops read.  A backward part reads other values, and
 * computes the rest again: that a saved value was written would go unnoticed. */

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while compiling the call");
}

static bool watch_note(struct watch_call *call, const struct entry *e, struct err *err)
{
	const struct entry_grad *g = e->grad;

	call->storages = calloc((size_t)g->n_watched + 1, sizeof(struct storage_watch *));
	call->versions = calloc((size_t)g->n_watched + 1, sizeof(*call->versions));
	if (!call->storages || !call->versions)
		return no_memory(err);
	for (; call->n < g->n_watched; call->n++) {
		const struct watched_memory *w = &g->watched[call->n];
		struct tensor *t = w->kind == BACK_INPUT ? e->input_tensors[w->index]
							 : e->output_tensors[w->index];

		if (!t) /* written back: the input that it was written to is watched */
			continue;
		call->versions[call->n] = t->storage->version;
		call->storages[call->n] = storage_watch(t->storage);
		if (!call->storages[call->n])
			return no_memory(err);
	}
	return true;
}

/* `came`: as grad_node.came. */
static bool watch_check(const struct watch_call *call, const struct entry_grad *g, uint64_t came,
			struct err *err)
{
	uint64_t by = 0;

	for (int i = 0; i < g->n_results_of; i++)
		if (g->result_of[i] >= 0 && (came & grad_bit(g->result_of[i])))
			by |= grad_bit(i);
	for (int i = 0; i < call->n; i++)
		if (call->storages[i] && (g->watched[i].by & by) &&
		    call->storages[i]->version != call->versions[i])
			return autograd_error(
			    g->autograd, err,
			    "one of the variables needed for gradient computation has been "
			    "modified by an inplace operation: a tensor that a compiled piece of "
			    "the program has read or made is at version %u; expected version %u "
			    "instead. Hint: write y = x + 1 instead of x += 1 where the old value "
			    "is still needed",
			    call->storages[i]->version, call->versions[i]);
	return true;
}

static void watch_forget(struct watch_call *call)
{
	for (int i = 0; i < call->n; i++)
		storage_unwatch(call->storages[i]);
	free(call->storages);
	free(call->versions);
	*call = (struct watch_call){ 0 };
}

static const struct value unset = { .kind = VALUE_UNSET };

/* ---- running */

bool entry_grad_run(struct entry *e, const struct fusion_observer *observer, struct err *err)
{
	struct entry_grad *g = e->grad;

	for (int i = 0; i < g->forward->n_inputs; i++)
		g->inputs[i] = e->input_tensors[g->forward_inputs[i]];
	if (!exec_run(e->exec,
		      &(struct exec_call){ .inputs = g->inputs,
					   .outputs = g->outputs,
					   .observer = observer,
					   .graph = e->graph },
		      err))
		return false;
	memcpy(e->output_tensors, g->outputs, sizeof(*g->outputs) * (size_t)e->n_outputs);
	memset(g->outputs, 0, sizeof(*g->outputs) * (size_t)e->n_outputs);
	return true;
}

struct call_data { /* of a node */
	struct grad_custom custom;
	struct entry_grad *g;
	struct double_backward_call double_backward;
	struct watch_call watch;
	int64_t vars[];
};

static bool compile_backward(struct entry_grad *g, struct err *err)
{
	struct compile_options how = { .env = g->env,
				       .backend = g->backend,
				       .passes = { .disabled = g->passes_disabled },
				       .lowering = g->lowering };
	struct graph *copy;
	int64_t begin = clock_ns();
	bool *given_up;

	if (g->exec)
		return true;
	copy = graph_copy(g->backward, g->arena);
	given_up = ARENA_ARRAY(g->arena, bool, (size_t)g->n_reads + 1);
	if (!copy || !given_up)
		return no_memory(err);
	for (int i = 0; i < g->n_reads; i++)
		given_up[i] = g->reads[i].kind != BACK_INPUT;
	how.passes.given_up = given_up;
	g->exec = compile_graph(&how, copy, g->arena, err);
	g->compile_ns = clock_ns() - begin;
	return g->exec != NULL;
}

static struct tensor *entry_grad_copy(const struct entry_grad *g, const struct tensor *t,
				      struct err *err)
{
	struct tensor *copy = tensor_create(g->env->allocator, t->dtype, t->rank, t->size, err);

	if (copy)
		tensor_copy(copy, t);
	return copy;
}

/* A gradient that did not come is zero everywhere. */
static struct tensor *entry_grad_zeros(const struct entry_grad *g, const struct grad_node *node,
				       int result, struct err *err)
{
	const struct grad_arg *like = &node->args[g->n_wanted + g->n_saved + result];
	struct tensor *t = tensor_create(g->env->allocator, like->dtype, like->rank, like->size,
					 err);

	if (t)
		memset(tensor_host_writes(t), 0, t->storage->bytes);
	return t;
}

/* An input of the call under way, as the program has it. */
static struct value entry_call_value(const struct entry *e, int input)
{
	const struct trace_input *in = &e->inputs[input];

	return in->source >= 0 ? e->guards.values[in->source] : e->lifted[input];
}

/* ---- the gradient of a compiled piece's gradient.
 *
 * Where a backward pass has a gradient itself (create_graph), the joint graph is
 * run op by op from the piece's inputs and tangents, under the tape: so each
 * result knows how it was made, to any order.  What random numbers alone made is
 * read back, not drawn again.
 */

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
static bool double_backward_note(struct double_backward_call *call, const struct entry *e,
				 struct err *err)
{
	call->inputs = calloc((size_t)e->n_inputs + 1, sizeof(*call->inputs));
	call->versions = calloc((size_t)e->n_inputs + 1, sizeof(*call->versions));
	if (!call->inputs || !call->versions)
		return no_memory(err);
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
			return no_memory(err);
	}
	return true;
}

static void double_backward_forget(struct double_backward_call *call)
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

static bool state_no_memory(struct double_backward_state *r)
{
	return no_memory(r->err);
}

static bool wrap(struct double_backward_state *r, struct tensor *t, struct value *out)
{
	if (!t)
		return false;
	*out = tensor_wrap(t);
	return out->kind != VALUE_UNSET || state_no_memory(r);
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
	return out->kind != VALUE_UNSET || state_no_memory(r);
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
		return out->kind != VALUE_UNSET || state_no_memory(r);
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
		ok = names[kw.n].kind != VALUE_UNSET || state_no_memory(r);
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

static bool double_backward_run(const struct double_backward_run *run, struct value *made,
				struct err *err)
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
		return no_memory(err);
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

/* ---- a call and its backward pass ---- */

/* What only results need that no gradient came to may have been written to, as in eager. */
static bool check_saved(const struct entry_grad *g, const struct grad_node *node, struct err *err)
{
	const struct grad_arg *saved = &node->args[g->n_wanted];

	for (int i = 0; i < g->n_reads; i++) {
		if (g->reads[i].kind == BACK_TANGENT)
			continue;
		if ((g->reads[i].by & node->came) && !grad_check(g->autograd, saved, err))
			return false;
		saved++;
	}
	return true;
}

/* What was saved, with the node's reference where it will not be asked for again. */
static struct tensor *take_saved(struct grad_node *node, struct grad_arg *arg)
{
	struct tensor *t = arg->saved;

	if (!node->last)
		return tensor_ref(t);
	arg->saved = NULL;
	node->released = true;
	return t;
}

/* References to what the backward part reads. */
static bool gather(const struct entry_grad *g, struct grad_node *node, const struct value *given,
		   struct tensor **inputs, struct err *err)
{
	struct grad_arg *saved = &node->args[g->n_wanted];

	for (int i = 0; i < g->n_reads; i++) {
		const struct back_input *read = &g->reads[i];

		if (read->kind != BACK_TANGENT) {
			inputs[i] = take_saved(node, saved++);
			continue;
		}
		if (given[read->index].kind != VALUE_TENSOR)
			inputs[i] = entry_grad_zeros(g, node, read->index, err);
		else if (tensor_contiguous(given[read->index].tensor->memory))
			inputs[i] = tensor_ref(given[read->index].tensor->memory);
		else
			inputs[i] = entry_grad_copy(g, given[read->index].tensor->memory, err);
		if (!inputs[i])
			return false;
	}
	return true;
}

static bool prepare(struct entry_grad *g, const int64_t *vars, struct err *err)
{
	if (!compile_backward(g, err) || !exec_bind(g->exec, vars, err))
		return false;
	if (g->record && !g->recorded.tried)
		exec_record(g->exec, g->record, &g->recorded);
	return true;
}

/* Takes the reference to `t`. */
static struct tensor *expanded(const struct entry_grad *g, int i, struct tensor *t,
			       const int64_t *vars, struct err *err)
{
	struct tensor *view;

	if (!g->repeats[i])
		return t;
	view = view_replay(t, g->repeats[i], vars, err);
	tensor_unref(t);
	return view;
}

static bool run_backward(struct grad_node *node, const struct value *given, struct value *made,
			 struct err *err)
{
	const struct call_data *data = node->custom->data;
	struct entry_grad *g = data->g;
	struct tensor **inputs, **outputs;
	bool ok;

	if (!watch_check(&data->watch, g, node->came, err))
		return false;
	if (autograd_enabled(g->autograd))
		return double_backward_run(&(struct double_backward_run){ g, &data->double_backward,
									  node, data->vars, given },
					   made, err);
	inputs = calloc((size_t)g->n_reads + (size_t)g->n_wanted + 1, sizeof(struct tensor *));
	if (!inputs)
		return no_memory(err);
	outputs = inputs + g->n_reads;
	ok = prepare(g, data->vars, err) && check_saved(g, node, err) &&
	     gather(g, node, given, inputs, err) &&
	     exec_run_last(g->exec, inputs, outputs, g->autograd->eager->observer, -1, err);
	if (ok) {
		g->uses++;
		g->autograd->eager->launches += g->exec->lowered->n_kernels;
	}
	for (int i = 0; i < g->n_reads; i++)
		tensor_unref(inputs[i]);
	for (int i = 0; ok && i < g->n_wanted; i++) {
		struct tensor *t = expanded(g, i, outputs[i], data->vars, err);

		made[i] = t ? tensor_wrap(t) : (struct value){ .kind = VALUE_UNSET };
		ok = made[i].kind != VALUE_UNSET || no_memory(err);
		for (int later = i + 1; !ok && later < g->n_wanted; later++)
			tensor_unref(outputs[later]);
	}
	free(inputs);
	return ok;
}

static void finish_call(struct grad_node *node)
{
	struct call_data *data = node->custom->data;

	double_backward_forget(&data->double_backward);
	watch_forget(&data->watch);
	free(data);
}

static void set_like(struct grad_arg *arg, const struct tensor *t)
{
	arg->dtype = t->dtype;
	arg->rank = t->rank;
	memcpy(arg->size, t->size, sizeof(arg->size));
}

/* The place of a number is the next call's, too. */
static bool save_number(const struct entry_grad *g, struct grad_arg *arg, const struct tensor *t,
			struct err *err)
{
	struct tensor *copy = entry_grad_copy(g, t, err);

	if (!copy)
		return false;
	grad_save(arg, copy);
	tensor_unref(copy);
	return true;
}

/* Arguments: inputs with a gradient; what is saved; the shapes of the results. */
static bool fill(struct entry *e, struct grad_node *node, struct err *err)
{
	struct entry_grad *g = e->grad;
	struct grad_arg *arg = node->args;

	for (int i = 0; i < g->n_wanted; i++, arg++) {
		struct value v = entry_call_value(e, g->wanted[i]);

		grad_arg_set(arg, v);
		if (!autograd_source(g->autograd, v, &arg->to, err))
			return false;
	}
	for (int i = 0; i < g->n_reads; i++) {
		const struct back_input *read = &g->reads[i];

		if (read->kind == BACK_INPUT && e->numbers[read->index]) {
			if (!save_number(g, arg++, e->numbers[read->index], err))
				return false;
		} else if (read->kind == BACK_INPUT) {
			struct tensor *t = e->input_tensors[read->index];

			if (!g->keeps[i])
				grad_save(arg++, t);
			else if (!grad_save_as_is(arg++, t, err))
				return false;
		}
		if (read->kind == BACK_SAVED)
			grad_save(arg++, g->outputs[read->index]);
	}
	for (int i = 0; i < e->n_outputs; i++)
		if (g->result_of[i] >= 0)
			set_like(&arg[g->result_of[i]], e->output_tensors[i]);
	return true;
}

struct grad_node *entry_grad_note(struct entry *e, struct err *err)
{
	struct entry_grad *g = e->grad;
	int n_args = g->n_wanted + g->n_saved + g->n_results;
	struct grad_node *node = autograd_node(g->autograd, n_args, g->n_results, err);
	struct call_data *data = calloc(1, sizeof(*data) + sizeof(int64_t) * (size_t)g->n_vars);

	if (!node || !data) {
		free(data);
		grad_node_unref(node);
		no_memory(err);
		return NULL;
	}
	data->g = g;
	data->custom = (struct grad_custom){ .made_of = g->made_of,
					     .run = run_backward,
					     .finish = finish_call,
					     .data = data,
					     .piece = true,
					     .name = "CompiledFunctionBackward" };
	memcpy(data->vars, e->guards.vars, sizeof(int64_t) * (size_t)g->n_vars);
	for (int i = 0; i < n_args; i++)
		node->args[i].value = node->args[i].to.leaf = unset;
	node->custom = &data->custom;
	node->saves = true;
	if (!fill(e, node, err) ||
	    (g->double_backward && !double_backward_note(&data->double_backward, e, err))) {
		grad_node_unref(node);
		return NULL;
	}
	return node;
}

bool entry_grad_watch(const struct entry *e, struct grad_node *node, struct err *err)
{
	struct call_data *data = node->custom->data;

	return watch_note(&data->watch, e, err);
}

bool entry_grad_give(const struct entry *e, struct grad_node *node, int output, struct value t,
		     struct err *err)
{
	int result = e->grad->result_of[output];

	return result < 0 || autograd_give(e->grad->autograd, node, result, t, err);
}
