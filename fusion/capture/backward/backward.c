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

/*  Backward fails where eager's does: the program has written to what eager
 * would have saved, whatever the backward part reads.  watch_make() finds it when the piece
 * is captured, `saved` as joint.h has it. */
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

/* ---- making */

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
 * graph stand numbers that the rules alone compute with. */
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

/* The backward part, and what it reads; *handed are the nodes that the forward part
 * hands over, n of them. */
static bool make_backward(struct entry *e, const struct trace *t, struct entry_grad *g,
			  const struct joint *j, const bool *save, int *handed, int *n)
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
			*read = (struct back_input){ BACK_TANGENT, tangent };
			continue;
		}
		g->n_saved++;
		if (input >= 0 && !is_written(e, t, input)) {
			*read = (struct back_input){ BACK_INPUT, input };
			continue;
		}
		*read = (struct back_input){ BACK_SAVED, e->captured->n_outputs + *n };
		handed[(*n)++] = reads[i];
	}
	if (g->autograd->twice &&
	    !(g->double_backward = double_backward_make(e, g, j, save, reads)))
		return false;
	for (int i = 0; i < g->n_reads; i++)
		inside[i] = g->reads[i].kind == BACK_TANGENT;
	g->backward = joint_order(g->backward, inside);
	g->repeats = g->backward ? joint_repeats(g->backward, g->arena) : NULL;
	return g->repeats != NULL;
}

static bool make_forward(struct entry *e, struct entry_grad *g, const struct joint *j,
			 const int *handed, int n)
{
	const struct graph *c = e->captured;
	int *outputs = ARENA_ARRAY(g->arena, int, (size_t)(c->n_outputs + n) + 1), *reads;

	if (!outputs)
		return false;
	for (int i = 0; i < c->n_outputs; i++)
		outputs[i] = j->outputs[i];
	for (int i = 0; i < n; i++)
		outputs[c->n_outputs + i] = handed[i];
	g->n_outputs = c->n_outputs + n;
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
	int *handed = ARENA_ARRAY(g->arena, int, (size_t)j->g->n_nodes + 1), n = 0;
	bool *save;

	/* what a backend leaves to others, or the workload denies, keeps its name */
	if (partition_is_whole(g->backend, j->g, &g->lowering) &&
	    !joint_decompose(j, e->captured, err))
		return false;
	if (!min_cut(j, e->captured, &save, err))
		return false;
	if (!handed || !make_maps(e, g, j) || !make_backward(e, t, g, j, save, handed, &n) ||
	    !make_forward(e, g, j, handed, n))
		return no_memory(err);
	return true;
}

/* Results whose backward pass the piece has run: eager says so where another one is
 * asked for.  *again: one has a gradient for a leaf that the piece makes, which an
 * entry cannot hand out. */
static bool find_spent(struct entry *e, struct trace *t, const bool *wanted, const bool *tracked,
		       const int *leaf, bool *double_backward, struct err *err)
{
	const struct graph *c = e->captured;
	bool *fresh = ARENA_ARRAY(&e->arena, bool, (size_t)c->n_nodes + 1), *stops;
	bool *whole = joint_tracked(t, c, wanted, true, err);

	if (!whole)
		return false;
	stops = ARENA_ARRAY(&e->arena, bool, (size_t)c->n_nodes + 1);
	e->spent = ARENA_ARRAY(&e->arena, bool, (size_t)c->n_outputs + 1);
	if (!fresh || !stops || !e->spent)
		return no_memory(err);
	for (size_t i = 0; i < t->spent.len; i++)
		stops[t->spent.at[i]] = true;
	for (int id = 0; id < c->n_nodes; id++)
		fresh[id] = leaf[id] >= c->n_inputs;
	if (!sweep_spread(t->autograd, c, fresh, stops, err))
		return false;
	for (int i = 0; i < c->n_outputs; i++) {
		int of = c->outputs[i];

		e->spent[i] = leaf[of] < 0 && whole[of] && !tracked[of];
		*double_backward |= leaf[of] < 0 && fresh[of];
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
	bool *wanted, *tracked, any = false, double_backward = false;
	struct entry_grad *g;
	struct joint j;
	int *leaf;

	if (!options->autograd->recording || c->n_outputs == 0)
		return true;
	wanted = ARENA_ARRAY(&e->arena, bool, (size_t)c->n_inputs + 1);
	leaf = trace_leaf_map(t, c);
	if (!wanted || !leaf)
		return no_memory(err);
	for (int i = 0; i < c->n_inputs; i++)
	wanted[i] = requires(input_value(t, i)) &&
		    dtype_category(c->nodes[c->inputs[i]]->dtype) == CATEGORY_FLOAT;
	tracked = joint_tracked(t, c, wanted, false, err);
	if (!tracked || !find_spent(e, t, wanted, tracked, leaf, &double_backward, err))
		return false;
	if (double_backward) {
		t->restart = t->no_leaves = true;
		return err_set(err, ERR_BREAK, "a leaf is made outside of the graph");
	}
	if (!writes_are_plain(e, t, tracked, leaf))
		return err_set(err, ERR_UNSUPPORTED,
			       "a tensor that requires a gradient is written in place");
	for (int i = 0; i < c->n_outputs; i++)
		any |= tracked[c->outputs[i]] && leaf[c->outputs[i]] < 0;
	if (!any)
		return true;
	g = new_grad(e, options);
	if (!g)
		return no_memory(err);
	if (!joint_build(&j, t, c, wanted, err) || !split(e, t, g, &j, err))
		return false;
	if (!watch_make(e, g, t, j.saved))
		return no_memory(err);
	g->n_vars = sym_var_count(j.g->syms);
	e->grad = g;
	return true;
}

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
	if (!exec_run(e->exec, g->inputs, g->outputs, NULL, observer, e->graph, err))
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

static bool check_saved(const struct entry_grad *g, const struct grad_node *node, struct err *err)
{
	for (int i = 0; i < g->n_saved; i++)
		if (!grad_check(g->autograd, &node->args[g->n_wanted + i], err))
			return false;
	return true;
}

/* What was saved, with the node's reference where nobody will ask for it again. */
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
		return double_backward_run(g, &data->double_backward, node, data->vars, given, made,
					   err);
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
