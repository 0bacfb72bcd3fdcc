/* fusion/runtime/exec/exec_step.c -- runs kernels with memory that comes and goes.
 *
 * One block for all temporaries is the fastest, but it is held from the first
 * kernel to the last, as are the outputs.  Where that is much, each buffer is taken
 * before the kernel that writes it first, and given back behind the last that
 * reads it; so are inputs that the caller has given up.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/runtime/exec/exec.h"

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

/* An input that becomes an output as it is is read behind the last kernel. */
static bool is_copied(const struct exec *e, int buffer)
{
	for (int i = 0; i < e->n_outputs; i++)
		if (e->outputs[i].buffer == buffer)
			return true;
	return false;
}

bool step_plan(struct exec *e)
{
	const struct buffer *buffers = e->lowered->buffers;
	int n = e->n_inputs + e->n_outputs + 2 * e->n_temps;

	e->steps = ARENA_ARRAY(e->arena, struct exec_step, (size_t)n + 1);
	if (!e->steps)
		return false;
	for (int i = 0; i < e->n_outputs; i++)
		if (!e->outputs[i].copy)
			add(e, STEP_TAKE_OUTPUT, i, buffers[e->outputs[i].buffer].first_kernel);
	for (int i = 0; i < e->n_temps; i++) {
		const struct buffer *b = &buffers[e->temps[i].buffer];

		if (b->first_kernel < 0)
			continue;
		add(e, STEP_TAKE_TEMP, i, b->first_kernel);
		add(e, STEP_DROP_TEMP, i, b->last_kernel);
	}
	for (int i = 0; i < e->n_inputs; i++)
		if (e->inputs[i] >= 0 && buffers[e->inputs[i]].last_kernel >= 0 &&
		    !is_copied(e, e->inputs[i]))
			add(e, STEP_DROP_INPUT, i, buffers[e->inputs[i]].last_kernel);
	qsort(e->steps, (size_t)e->n_steps, sizeof(*e->steps), compare);
	return true;
}

/* ---- a run */

struct run {
	struct exec *e;
	struct tensor **owned, **outputs;
	int at; /* of the steps */
	struct err *err;
};

static void drop_input(struct run *r, int index)
{
	if (!r->owned)
		return;
	tensor_unref(r->owned[index]);
	r->owned[index] = NULL;
}

static void drop_temp(struct exec *e, const struct exec_temp *t)
{
	allocator_put(e->env->allocator, e->buffers[t->buffer], t->bytes);
	e->buffers[t->buffer] = NULL;
}

static bool take(struct run *r, const struct exec_step *step)
{
	struct exec *e = r->e;

	if (step->kind == STEP_TAKE_OUTPUT) {
		struct tensor **out = &r->outputs[step->index];

		if (!*out) /* else it is written into what the caller gave */
			*out = exec_output_tensor(e, step->index, r->err);
		if (*out)
			e->buffers[e->outputs[step->index].buffer] = tensor_data(*out);
		return *out != NULL;
	}
	e->buffers[e->temps[step->index].buffer] =
	    allocator_get(e->env->allocator, e->temps[step->index].bytes, r->err);
	return e->buffers[e->temps[step->index].buffer] != NULL;
}

static bool before(struct run *r, int kernel)
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

static void behind(struct run *r, int kernel)
{
	const struct exec *e = r->e;

	for (; r->at < e->n_steps && e->steps[r->at].kernel == kernel; r->at++) {
		const struct exec_step *step = &e->steps[r->at];

		if (step->kind == STEP_DROP_TEMP)
			drop_temp(r->e, &e->temps[step->index]);
		else
			drop_input(r, step->index);
	}
}

static void prepare(struct run *r, struct tensor *const *inputs, struct tensor *into)
{
	struct exec *e = r->e;

	for (int i = 0; i < e->n_outputs; i++)
		r->outputs[i] = NULL;
	if (into)
		r->outputs[0] = tensor_ref(into);
	for (int i = 0; i < e->n_temps; i++)
		e->buffers[e->temps[i].buffer] = NULL;
	for (int i = 0; i < e->n_inputs; i++) {
		if (e->inputs[i] >= 0)
			e->buffers[e->inputs[i]] = tensor_data(inputs[i]);
		else
			drop_input(r, i);
	}
}

static bool launch_all(struct run *r, bool backward, const struct fusion_observer *observer,
		       int graph)
{
	for (int k = 0; k < r->e->lowered->n_kernels; k++, backward = !backward) {
		if (!before(r, k))
			return false;
		exec_launch(r->e, k, backward, observer, graph);
		behind(r, k);
	}
	return true;
}

/* Outputs that no kernel writes to memory of their own. */
static bool copy_outputs(struct run *r, struct tensor *const *inputs)
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
	struct run r = { .e = e, .owned = owned, .outputs = outputs, .err = err };
	bool backward = exec_starts_backward(e, inputs), ok;

	prepare(&r, inputs, into);
	ok = launch_all(&r, backward, observer, graph) && copy_outputs(&r, inputs);
	for (int i = 0; i < e->n_temps; i++) /* of a run that was given up */
		if (e->buffers[e->temps[i].buffer])
			drop_temp(e, &e->temps[i]);
	for (int i = 0; i < e->n_inputs; i++)
		drop_input(&r, i);
	ok = ok && (!e->executable || e->backend->fault(e->executable, err));
	if (!ok)
		exec_drop_outputs(e, outputs);
	else
		exec_note_order(e, outputs, backward);
	return ok;
}
