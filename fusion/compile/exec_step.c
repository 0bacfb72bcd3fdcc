/* fusion/compile/exec_step.c -- runs kernels with memory that comes and goes.
 *
 * One block for all temporaries is the fastest, but it is held from the first
 * kernel to the last, as are the outputs.  Where that is much, each buffer is taken
 * before the kernel that writes it first, and given back after the last that
 * reads it; so are inputs that the caller has given up.  A buffer takes over the
 * memory of one that ends where it begins, if the kernel allows that: a CHAIN of
 * buffers then has one memory, that of the output at its end, else of the input
 * at its beginning, if that may be had.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/compile/exec.h"

/* ---- the plan */

static bool takes(enum step_kind kind)
{
	return kind == STEP_TAKE_TEMP || kind == STEP_TAKE_OUTPUT;
}

static int compare(const void *x, const void *y)
{
	const struct exec_step *a = x, *b = y;

	if (a->kernel != b->kernel)
		return a->kernel - b->kernel;
	if (takes(a->kind) != takes(b->kind))
		return takes(a->kind) ? -1 : 1;
	return a->kind != b->kind ? (int)a->kind - (int)b->kind : a->index - b->index;
}

static void add(struct exec *e, enum step_kind kind, int index, int kernel)
{
	e->steps[e->n_steps++] = (struct exec_step){ kernel, kind, index };
}

/* An input that becomes an output as it is is read after the last kernel. */
static bool is_copied(const struct exec *e, int buffer)
{
	for (int i = 0; i < e->n_outputs; i++)
		if (e->outputs[i].buffer == buffer)
			return true;
	return false;
}

/* A temporary that ends, or an input that may be given up, at kernel k. */
static bool may_go(const struct exec *e, int buffer, int k)
{
	const struct buffer *b = &e->lowered->buffers[buffer];

	if (b->last_kernel != k)
		return false;
	return b->kind == BUFFER_TEMP ? b->first_kernel < k
				      : b->kind == BUFFER_INPUT && !is_copied(e, buffer);
}

/* Whether the memory of `from`, and of what it has taken over, can be that of `to`:
 * an input's is no output's, which has a shape of its own. */
static bool may_follow(const struct exec *e, int from, int to)
{
	const struct buffer *a = &e->lowered->buffers[from], *b = &e->lowered->buffers[to];
	int first = from;

	while (e->over[first] >= 0)
		first = e->over[first];
	if (b->kind == BUFFER_OUTPUT && e->lowered->buffers[first].kind == BUFFER_INPUT)
		return false;
	return a->dtype == b->dtype && a->numel == b->numel &&
	       kernel_overwrites(&e->lowered->kernels[b->first_kernel], from, to);
}

static bool find_overwritten(struct exec *e)
{
	const struct lowered *l = e->lowered;
	bool *gone = ARENA_ARRAY(e->arena, bool, (size_t)l->n_buffers + 1);

	e->over = ARENA_ARRAY(e->arena, int, (size_t)l->n_buffers + 1);
	if (!gone || !e->over)
		return false;
	for (int b = 0; b < l->n_buffers; b++)
		e->over[b] = -1;
	for (int b = 0; b < l->n_buffers; b++) {
		int k = l->buffers[b].first_kernel;

		if (k < 0 ||
		    (l->buffers[b].kind != BUFFER_TEMP && l->buffers[b].kind != BUFFER_OUTPUT))
			continue;
		for (int a = 0; a < l->n_buffers && e->over[b] < 0; a++)
			if (!gone[a] && may_go(e, a, k) && may_follow(e, a, b)) {
				e->over[b] = a;
				gone[a] = true;
			}
	}
	return true;
}

/* Where the memory of a chain is taken: its first buffer that is no input. */
static int first_kernel(const struct exec *e, int buffer)
{
	const struct buffer *buffers = e->lowered->buffers;

	while (e->over[buffer] >= 0 && buffers[e->over[buffer]].kind != BUFFER_INPUT)
		buffer = e->over[buffer];
	return buffers[buffer].first_kernel;
}

static bool is_taken_over(const struct exec *e, int buffer)
{
	for (int b = 0; b < e->lowered->n_buffers; b++)
		if (e->over[b] == buffer)
			return true;
	return false;
}

static void plan_temp(struct exec *e, int index)
{
	int buffer = e->temps[index].buffer;

	if (e->lowered->buffers[buffer].first_kernel < 0 || is_taken_over(e, buffer))
		return;
	add(e, STEP_TAKE_TEMP, index, first_kernel(e, buffer));
	add(e, STEP_DROP_TEMP, index, e->lowered->buffers[buffer].last_kernel);
}

bool step_plan(struct exec *e)
{
	const struct buffer *buffers = e->lowered->buffers;
	int n = e->n_inputs + e->n_outputs + 2 * e->n_temps;

	e->steps = ARENA_ARRAY(e->arena, struct exec_step, (size_t)n + 1);
	e->taken = ARENA_ARRAY(e->arena, void *, (size_t)e->n_temps + 1);
	e->held = ARENA_ARRAY(e->arena, struct tensor *, (size_t)e->n_temps + 1);
	if (!e->steps || !e->taken || !e->held || !find_overwritten(e))
		return false;
	for (int i = 0; i < e->n_outputs; i++)
		if (!e->outputs[i].copy)
			add(e, STEP_TAKE_OUTPUT, i, first_kernel(e, e->outputs[i].buffer));
	for (int i = 0; i < e->n_temps; i++)
		plan_temp(e, i);
	for (int i = 0; i < e->n_inputs; i++)
		if (e->inputs[i] >= 0 && buffers[e->inputs[i]].last_kernel >= 0 &&
		    !is_copied(e, e->inputs[i]))
			add(e, STEP_DROP_INPUT, i, buffers[e->inputs[i]].last_kernel);
	qsort(e->steps, (size_t)e->n_steps, sizeof(*e->steps), compare);
	return true;
}

/* ---- a run */

struct exec_run {
	struct exec *e;
	struct tensor **owned, **outputs;
	int at; /* of the steps */
	struct err *err;
};

static void drop_input(struct exec_run *r, int index)
{
	if (!r->owned)
		return;
	tensor_unref(r->owned[index]);
	r->owned[index] = NULL;
}

static void drop_temp(struct exec *e, int index)
{
	if (e->taken[index])
		allocator_put(e->env->allocator, e->taken[index], exec_temp_bytes(e, index));
	tensor_unref(e->held[index]);
	e->taken[index] = NULL;
	e->held[index] = NULL;
}

/* The buffer, and all in whose place it will be, lie here. */
static void place_chain(struct exec *e, int buffer, void *at)
{
	for (; buffer >= 0 && e->lowered->buffers[buffer].kind != BUFFER_INPUT;
	     buffer = e->over[buffer])
		e->buffers[buffer] = at;
}

static bool take_output(struct exec_run *r, int index)
{
	struct tensor **out = &r->outputs[index];

	if (!*out) /* else it is written into what the caller gave */
		*out = exec_output_tensor(r->e, index, r->err);
	if (*out)
		place_chain(r->e, r->e->outputs[index].buffer, tensor_kernel_writes(*out));
	return *out != NULL;
}

/* The input at the beginning of the chain, where nobody else has a part in it. */
static struct tensor *input_of(const struct exec_run *r, int buffer)
{
	const struct exec *e = r->e;
	struct tensor **t;

	while (e->over[buffer] >= 0)
		buffer = e->over[buffer];
	if (!r->owned || e->lowered->buffers[buffer].kind != BUFFER_INPUT)
		return NULL;
	t = &r->owned[e->lowered->buffers[buffer].index];
	return *t && (*t)->refs == 1 && (*t)->storage->refs == 1 && tensor_contiguous(*t) ? *t
											  : NULL;
}

static bool take_temp(struct exec_run *r, int index)
{
	struct exec *e = r->e;
	int buffer = e->temps[index].buffer;
	struct tensor *input = input_of(r, buffer);

	if (input) {
		e->held[index] = tensor_ref(input);
		place_chain(e, buffer, tensor_kernel_writes(input));
		return true;
	}
	exec_label(e, buffer, USE_TEMPORARY);
	e->taken[index] = allocator_get(e->env->allocator, exec_temp_bytes(e, index), r->err);
	place_chain(e, buffer, e->taken[index]);
	return e->taken[index] != NULL;
}

static bool take(struct exec_run *r, const struct exec_step *step)
{
	return step->kind == STEP_TAKE_OUTPUT ? take_output(r, step->index)
					      : take_temp(r, step->index);
}

static bool before(struct exec_run *r, int kernel)
{
	const struct exec *e = r->e;

	for (; r->at < e->n_steps; r->at++) {
		const struct exec_step *step = &e->steps[r->at];

		if (step->kernel > kernel || !takes(step->kind))
			break;
		if (!take(r, step))
			return false;
	}
	return true;
}

static void after(struct exec_run *r, int kernel)
{
	const struct exec *e = r->e;

	for (; r->at < e->n_steps && e->steps[r->at].kernel == kernel; r->at++) {
		const struct exec_step *step = &e->steps[r->at];

		if (step->kind == STEP_DROP_TEMP)
			drop_temp(r->e, step->index);
		else
			drop_input(r, step->index);
	}
}

static void prepare(struct exec_run *r, struct tensor *const *inputs, struct tensor *into)
{
	struct exec *e = r->e;

	exec_place_given(e, r->outputs, into);
	for (int i = 0; i < e->n_inputs; i++) {
		if (e->inputs[i] >= 0)
			e->buffers[e->inputs[i]] = tensor_kernel_reads(inputs[i]);
		else
			drop_input(r, i);
	}
}

static bool launch_all(struct exec_run *r, bool backward, const struct fusion_observer *observer,
		       int graph)
{
	for (int k = 0; k < r->e->lowered->n_kernels; k++, backward = !backward) {
		if (!before(r, k))
			return false;
		exec_launch(r->e, k, backward, observer, graph);
		exec_fence_wrote(r->e, k, graph);
		after(r, k);
	}
	return true;
}

/* Outputs that no kernel writes to memory of their own. */
static bool copy_outputs(struct exec_run *r, struct tensor *const *inputs)
{
	const struct exec *e = r->e;

	for (int i = 0; i < e->n_outputs; i++) {
		if (!e->outputs[i].copy)
			continue;
		if (!r->outputs[i])
			r->outputs[i] = exec_output_tensor(e, i, r->err);
		if (!r->outputs[i])
			return false;
		exec_copy_output(e, i, inputs, r->outputs);
	}
	return true;
}

bool step_run(struct exec *e, struct tensor *const *inputs, struct tensor **owned,
	      struct tensor **outputs, struct tensor *into, const struct fusion_observer *observer,
	      int graph, struct err *err)
{
	struct exec_run r = { .e = e, .owned = owned, .outputs = outputs, .err = err };
	bool backward = exec_starts_backward(e, inputs), ok;

	prepare(&r, inputs, into);
	ok = launch_all(&r, backward, observer, graph) && copy_outputs(&r, inputs);
	for (int i = 0; i < e->n_temps; i++) /* of a run that was given up */
		drop_temp(e, i);
	for (int i = 0; i < e->n_inputs; i++)
		drop_input(&r, i);
	ok = ok && (!e->executable || e->backend->fault(e->executable, err));
	if (!ok)
		exec_drop_outputs(e, outputs);
	else
		exec_note_order(e, outputs, backward);
	return ok;
}
