/* fusion/capture/backward/entry_watch.c -- what the program may not write to before backward.
 *
 * Eager saves what the rules of its ops read.  A backward part reads other values, and
 * computes the rest again: that a saved value was written would go unnoticed.
 */
#include <stdlib.h>

#include "fusion/graph/graph.h"
#include "fusion/capture/entry.h"
#include "fusion/capture/backward/entry_grad.h"
#include "fusion/capture/backward/joint.h"

static void add(struct entry_grad *g, enum back_kind kind, int index, uint64_t by)
{
	if (by)
		g->watched[g->n_watched++] = (struct watched_memory){ kind, index, by };
}

/* Whether the graph's input is a tensor of the program, and no number. */
static bool is_tensor(const struct trace *t, int input)
{
	const struct trace_input *in = &t->inputs.at[input];

	if (in->slot >= 0)
		return t->slots->at[in->slot].value.kind == VALUE_TENSOR;
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

bool watch_make(const struct entry *e, struct entry_grad *g, const struct trace *t,
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

bool watch_note(struct watch_call *call, const struct entry *e, struct err *err)
{
	const struct entry_grad *g = e->grad;

	call->storages = calloc((size_t)g->n_watched + 1, sizeof(struct storage_watch *));
	call->versions = calloc((size_t)g->n_watched + 1, sizeof(*call->versions));
	if (!call->storages || !call->versions)
		return entry_no_memory(err);
	for (; call->n < g->n_watched; call->n++) {
		const struct watched_memory *w = &g->watched[call->n];
		struct tensor *t = w->kind == BACK_INPUT ? e->input_tensors[w->index]
							 : e->output_tensors[w->index];

		if (!t) /* written back: the input that it was written to is watched */
			continue;
		call->versions[call->n] = t->storage->version;
		call->storages[call->n] = storage_watch(t->storage);
		if (!call->storages[call->n])
			return entry_no_memory(err);
	}
	return true;
}

bool watch_check(const struct watch_call *call, const struct entry_grad *g, uint64_t came,
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

void watch_forget(struct watch_call *call)
{
	for (int i = 0; i < call->n; i++)
		storage_unwatch(call->storages[i]);
	free(call->storages);
	free(call->versions);
	*call = (struct watch_call){ 0 };
}
