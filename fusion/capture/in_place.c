/* fusion/capture/in_place.c -- results that are written where they belong at once.
 *
 * What an in-place op makes is an output of the graph, which is copied into the
 * argument behind the kernels.  The step of an optimiser is made of such outputs:
 * held together they are more than all activations.  Where the kernel that makes one
 * is the last to read the argument, each element at its own point, it writes into the
 * argument's memory.  Nothing may go wrong behind that: so not in a graph with an
 * assertion, or an index that may be out of bounds.
 */
#include "fusion/capture/entry.h"
#include "fusion/tensor/keep.h"

enum { LEAST_BYTES = 4096 }; /* less is copied as fast as it is looked at */

/* A kernel of another kind may find a fault when some have been written. */
static bool cannot_fail(const struct exec *x)
{
	for (int k = 0; k < x->lowered->n_kernels; k++)
		if (x->lowered->kernels[k].library &&
		    !op_is_product(x->lowered->kernels[k].library->op))
			return false;
	return true;
}

static bool is_given_back(const struct exec *x, int buffer)
{
	for (int i = 0; i < x->n_outputs; i++)
		if (x->outputs[i].buffer == buffer)
			return true;
	return false;
}

/* Whether output `o` may lie in the memory of input `in`; -1: no kernel reads it. */
static bool may_replace(const struct exec *x, int in, int o)
{
	const struct buffer *buffers = x->lowered->buffers, *to = &buffers[x->outputs[o].buffer];
	int from = in < 0 ? -1 : x->inputs[in];

	if (x->outputs[o].copy || to->first_kernel < 0 || x->over[x->outputs[o].buffer] >= 0)
		return false;
	if (from < 0)
		return true;
	return buffers[from].dtype == to->dtype && buffers[from].numel == to->numel &&
	       !is_given_back(x, from) && buffers[from].last_kernel <= to->first_kernel &&
	       (buffers[from].last_kernel < to->first_kernel ||
		kernel_overwrites(&x->lowered->kernels[to->first_kernel], from,
				  x->outputs[o].buffer));
}

static struct tensor *target_of(const struct entry *e, const struct entry_write *w)
{
	struct value to = w->slot >= 0 ? e->guards.values[w->slot] : w->lifted;

	return to.tensor->memory;
}

/* The graph's input that is the argument of a write; -1. */
static int input_of(const struct entry *e, const struct entry_write *w)
{
	for (int i = 0; i < e->n_inputs; i++)
		if (w->slot >= 0 ? e->inputs[i].slot == w->slot
				 : e->inputs[i].slot < 0 && e->lifted[i].kind == VALUE_TENSOR &&
				       e->lifted[i].tensor == w->lifted.tensor)
			return i;
	return -1;
}

void in_place_plan(struct entry *e)
{
	const struct exec *x = e->exec;

	if (!x || x->parts || e->grad || e->n_asserts > 0 || !cannot_fail(x))
		return;
	e->given = ARENA_ARRAY(&e->arena, struct tensor *, (size_t)e->n_outputs + 1);
	for (int i = 0; i < e->n_writes; i++) {
		struct entry_write *w = &e->writes[i];

		w->input = input_of(e, w);
		w->in_place = e->given && may_replace(x, w->input, w->output);
	}
}

/* Whether the memory is of the output's form, and nobody else's in this call. */
static bool fits(const struct entry *e, const struct entry_write *w, const struct tensor *t)
{
	const struct exec_output *out = &e->exec->outputs[w->output];

	size_t bytes = (size_t)tensor_numel(t) * dtype_bytes(t->dtype);

	/* All of its storage: vectors write beyond the end. */
	if (t->dtype != out->dtype || t->rank != out->rank || !tensor_contiguous(t) ||
	    bytes != t->storage->bytes || bytes < LEAST_BYTES)
		return false;
	for (int d = 0; d < t->rank; d++)
		if (t->size[d] != out->size[d])
			return false;
	for (int i = 0; i < e->n_inputs; i++)
		if (i != w->input && e->input_tensors[i]->storage == t->storage)
			return false;
	for (int i = 0; i < e->n_writes; i++)
		if (&e->writes[i] != w && target_of(e, &e->writes[i])->storage == t->storage)
			return false;
	return true;
}

bool in_place_find(struct entry *e, struct tensor *const **given, struct err *err)
{
	bool any = false;

	for (int i = 0; i < e->n_writes && e->given; i++) {
		struct entry_write *w = &e->writes[i];
		struct tensor *t = w->in_place ? target_of(e, w) : NULL;

		e->given[w->output] = t && fits(e, w, t) ? t : NULL;
		if (!e->given[w->output])
			continue;
		any = true;
		if (!storage_before_write(t->storage, err))
			return false;
	}
	*given = any ? e->given : NULL;
	return true;
}
