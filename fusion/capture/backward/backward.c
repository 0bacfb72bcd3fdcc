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

void entry_grad_finish(struct entry_grad *g)
{
	if (g)
		exec_destroy(g->exec);
}

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

struct tensor *entry_grad_copy(const struct entry_grad *g, const struct tensor *t, struct err *err)
{
	struct tensor *copy = tensor_create(g->env->allocator, t->dtype, t->rank, t->size, err);

	if (copy)
		tensor_copy(copy, t);
	return copy;
}

/* A gradient that did not come is zero everywhere. */
struct tensor *entry_grad_zeros(const struct entry_grad *g, const struct grad_node *node,
				int result, struct err *err)
{
	const struct grad_arg *like = &node->args[g->n_wanted + g->n_saved + result];
	struct tensor *t = tensor_create(g->env->allocator, like->dtype, like->rank, like->size,
					 err);

	if (t)
		memset(tensor_host_writes(t), 0, t->storage->bytes);
	return t;
}

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

struct value entry_call_value(const struct entry *e, int input)
{
	const struct trace_input *in = &e->inputs[input];

	return in->source >= 0 ? e->guards.values[in->source] : e->lifted[input];
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
