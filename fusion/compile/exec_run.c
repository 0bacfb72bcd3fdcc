/* fusion/compile/exec_run.c -- runs an exec: memory for its buffers, and one launch after
 * another.
 *
 * A run takes one block for all temporaries.  Where that would be large it takes memory by the
 * steps of exec.c, kernel by kernel.
 */
#include "fusion/compile/exec_run.h"

#include <string.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/base/clock.h"
#include "fusion/compile/exec_watch.h"
#include "fusion/compile/pieces.h"
#include "fusion/compile/record.h"

/* What a value that no kernel wrote to its own memory is copied from. */
void exec_copy_output(const struct exec *e, int index, const struct exec_call *call)
{
	const struct exec_output *out = &e->outputs[index];
	const struct buffer *b = &e->lowered->buffers[out->buffer];
	struct tensor *to = call->outputs[index];
	const struct device_memory *device = allocator_device(e->env->allocator);
	size_t bytes = (size_t)tensor_numel(to) * dtype_bytes(to->dtype);
	void *at;

	if (b->kind == BUFFER_INPUT) {
		tensor_copy(to, call->inputs[b->index]);
		return;
	}
	at = tensor_kernel_writes(to);
	if (!device)
		memmove(at, e->buffers[out->buffer], bytes);
	else if (at != e->buffers[out->buffer])
		device->copy(device->self, at, e->buffers[out->buffer], bytes);
}

static int64_t own_launches(const struct exec *e)
{
	return e->backend->launches ? e->backend->launches(e->env->backend_env.device) : 0;
}

/* Tells the observer that a launch begins; the result is for ran(). */
static int64_t launching(const struct exec *e, int kernel, const struct fusion_observer *observer)
{
	if (observer->launching)
		observer->launching(observer->self, e->lowered->kernels[kernel].library != NULL);
	return own_launches(e);
}

/* Tells the observer how many launches of the backend's own a launch took. */
static void ran(const struct exec *e, int64_t before, const struct fusion_observer *observer)
{
	if (observer->ran && e->backend->launches)
		observer->ran(observer->self, (int)(own_launches(e) - before));
}

static inline void launch(struct exec *e, struct recording *recording, int kernel, bool backward)
{
	if (recording)
		e->backend->replay(recording, kernel, e->env->pool, backward);
	else
		e->backend->launch(e->executable, kernel, e->buffers, e->env->pool, backward);
}

/* The kernel's time apart from what surrounds it. */
static void launch_observed(struct exec *e, struct recording *recording, int kernel, bool backward,
			    const struct exec_call *call)
{
	const struct fusion_observer *observer = call->observer;
	int64_t before = clock_ns(), had = launching(e, kernel, observer), begin, end;

	begin = clock_ns();
	launch(e, recording, kernel, backward);
	end = clock_ns();
	ran(e, had, observer);
	if (observer->launched)
		observer->launched(observer->self, call->graph, e->first_kernel + kernel, begin,
				   end);
	if (observer->phase) {
		observer->phase(observer->self, PHASE_KERNEL, begin, end);
		observer->phase(observer->self, PHASE_LAUNCH, before, begin);
	}
}

void exec_launch(struct exec *e, struct recording *recording, int kernel, bool backward,
		 const struct exec_call *call)
{
	if (call->observer)
		launch_observed(e, recording, kernel, backward, call);
	else
		launch(e, recording, kernel, backward);
}

/* The failure to make an output happens where the program computes it. */
static bool at_output(const struct exec *e, int index, struct err *err)
{
	const struct node *n = e->graph->nodes[e->graph->outputs[index]];

	if (err && !err->line) {
		err->line = n->line;
		err->column = n->column;
	}
	return false;
}

struct tensor *exec_output_tensor(const struct exec *e, int index, int graph, struct err *err)
{
	const struct exec_output *out = &e->outputs[index];
	struct tensor *t;

	exec_label(e, out->buffer, USE_OUTPUT, graph);
	t = tensor_create(e->env->allocator, out->dtype, out->rank, out->size, err);
	if (!t)
		at_output(e, index, err);
	return t;
}

void exec_place_given(const struct exec *e, const struct exec_call *call)
{
	for (int i = 0; i < e->n_outputs; i++)
		call->outputs[i] = call->given && call->given[i] ? tensor_ref(call->given[i])
								 : NULL;
	if (call->into)
		call->outputs[0] = tensor_ref(call->into);
}

/* Memory of outputs and temporaries; fills in the table of buffers. */
static inline bool take_memory(struct exec *e, const struct exec_call *call, void **temps,
			       struct err *err)
{
	struct tensor **outputs = call->outputs;

	exec_place_given(e, call);
	for (int i = 0; i < e->n_outputs; i++) {
		const struct exec_output *out = &e->outputs[i];

		if (!outputs[i])
			outputs[i] = exec_output_tensor(e, i, call->graph, err);
		if (!outputs[i])
			return false;
		if (!out->copy)
			e->buffers[out->buffer] = tensor_kernel_writes(outputs[i]);
	}
	if (e->n_temps > 0) {
		exec_label(e, e->n_temps == 1 ? e->temps[0].buffer : -1, USE_TEMPORARY,
			   call->graph);
		*temps = allocator_get(e->env->allocator, e->temp_bytes, err);
		if (!*temps)
			return false;
		for (int i = 0; i < e->n_temps; i++)
			e->buffers[e->temps[i].buffer] = (char *)*temps + e->temps[i].offset;
	}
	for (int i = 0; i < e->n_inputs; i++)
		if (e->inputs[i] >= 0)
			e->buffers[e->inputs[i]] = tensor_kernel_reads(call->inputs[i]);
	return true;
}

void exec_drop_outputs(const struct exec *e, struct tensor **outputs)
{
	for (int i = 0; i < e->n_outputs; i++) {
		tensor_unref(outputs[i]);
		outputs[i] = NULL;
	}
}

/* A kernel begins at the end of its first input that was written last, and each
 * further kernel the other way round: of large tensors that part is still in
 * the cache.  (Reductions keep to one order, which their rounding depends on.) */
bool exec_starts_backward(const struct exec *e, struct tensor *const *inputs)
{
	for (int i = 0; i < e->n_inputs; i++)
		if (e->inputs[i] >= 0)
			return inputs[i]->storage->last_write == WALK_FORWARD;
	return false;
}

void exec_note_order(const struct exec *e, struct tensor *const *outputs, bool backward)
{
	bool last = e->lowered->n_kernels % 2 ? backward : !backward;

	for (int i = 0; i < e->n_outputs; i++)
		outputs[i]->storage->last_write = last ? WALK_BACKWARD : WALK_FORWARD;
}

/* ---- a run by the steps */

struct step_run {
	struct exec *e;
	const struct exec_call *call;
	struct tensor **owned; /* call->inputs, where the run gives them up; else NULL */
	int at;                /* of the steps */
	struct err *err;
};

static void drop_input(struct step_run *r, int index)
{
	if (!r->owned)
		return;
	tensor_unref(r->owned[index]);
	r->owned[index] = NULL;
}

/* Bytes of a temporary's own memory. */
static size_t temp_bytes(const struct exec *e, int index)
{
	return exec_fence(e) ? e->temps[index].size : e->temps[index].bytes;
}

static void drop_temp(struct exec *e, int index)
{
	if (e->taken[index])
		allocator_put(e->env->allocator, e->taken[index], temp_bytes(e, index));
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

static bool take_output(struct step_run *r, int index)
{
	struct tensor **out = &r->call->outputs[index];

	if (!*out) /* else it is written into what the caller gave */
		*out = exec_output_tensor(r->e, index, r->call->graph, r->err);
	if (*out)
		place_chain(r->e, r->e->outputs[index].buffer, tensor_kernel_writes(*out));
	return *out != NULL;
}

/* The input at the beginning of the chain, where nobody else has a part in it. */
static struct tensor *input_of(const struct step_run *r, int buffer)
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

static bool take_temp(struct step_run *r, int index)
{
	struct exec *e = r->e;
	int buffer = e->temps[index].buffer;
	struct tensor *input = input_of(r, buffer);

	if (input) {
		e->held[index] = tensor_ref(input);
		place_chain(e, buffer, tensor_kernel_writes(input));
		return true;
	}
	exec_label(e, buffer, USE_TEMPORARY, r->call->graph);
	e->taken[index] = allocator_get(e->env->allocator, temp_bytes(e, index), r->err);
	place_chain(e, buffer, e->taken[index]);
	return e->taken[index] != NULL;
}

static bool take_step(struct step_run *r, const struct exec_step *step)
{
	return step->kind == STEP_TAKE_OUTPUT ? take_output(r, step->index)
					      : take_temp(r, step->index);
}

static bool before(struct step_run *r, int kernel)
{
	const struct exec *e = r->e;

	for (; r->at < e->n_steps; r->at++) {
		const struct exec_step *step = &e->steps[r->at];

		if (step->kernel > kernel || !exec_step_takes(step->kind))
			break;
		if (!take_step(r, step))
			return false;
	}
	return true;
}

static void after(struct step_run *r, int kernel)
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

static void prepare(struct step_run *r)
{
	struct exec *e = r->e;

	exec_place_given(e, r->call);
	for (int i = 0; i < e->n_inputs; i++) {
		if (e->inputs[i] >= 0)
			e->buffers[e->inputs[i]] = tensor_kernel_reads(r->call->inputs[i]);
		else
			drop_input(r, i);
	}
}

static bool launch_steps(struct step_run *r, bool backward)
{
	for (int k = 0; k < r->e->lowered->n_kernels; k++, backward = !backward) {
		if (!before(r, k))
			return false;
		exec_launch(r->e, NULL, k, backward, r->call);
		exec_fence_wrote(r->e, k, r->call->graph);
		after(r, k);
	}
	return true;
}

/* Outputs that no kernel writes to memory of their own. */
static bool copy_outputs(struct step_run *r)
{
	const struct exec *e = r->e;

	for (int i = 0; i < e->n_outputs; i++) {
		if (!e->outputs[i].copy)
			continue;
		if (!r->call->outputs[i])
			r->call->outputs[i] = exec_output_tensor(e, i, r->call->graph, r->err);
		if (!r->call->outputs[i])
			return false;
		exec_copy_output(e, i, r->call);
	}
	return true;
}

/* Runs it with memory that is there while kernels need it, and no longer.  `owned`: the
 * inputs' references go with their last kernel; NULL: they are the caller's. */
static bool run_stepwise(struct exec *e, const struct exec_call *call, struct tensor **owned,
			 struct err *err)
{
	struct step_run r = { .e = e, .call = call, .owned = owned, .err = err };
	bool backward = exec_starts_backward(e, call->inputs), ok;

	prepare(&r);
	ok = launch_steps(&r, backward) && copy_outputs(&r);
	for (int i = 0; i < e->n_temps; i++) /* of a run that was given up */
		drop_temp(e, i);
	for (int i = 0; i < e->n_inputs; i++)
		drop_input(&r, i);
	ok = ok && (!e->executable || e->backend->fault(e->executable, err));
	if (!ok)
		exec_drop_outputs(e, call->outputs);
	else
		exec_note_order(e, call->outputs, backward);
	return ok;
}

/* ---- a run with all temporaries in one block */

static void begin_temps(struct exec *e, int kernel)
{
	for (int i = 0; i < e->n_temps; i++) {
		int buffer = e->temps[i].buffer;

		if (e->lowered->buffers[buffer].first_kernel != kernel)
			continue;
		e->buffers[buffer] = fence_open(exec_fence(e), e->buffers[buffer],
						e->temps[i].size);
		exec_fence_describe(e, buffer);
	}
}

static void end_temps(struct exec *e, int kernel)
{
	for (int i = 0; i < e->n_temps; i++) {
		int buffer = e->temps[i].buffer;

		if (e->lowered->buffers[buffer].last_kernel == kernel)
			fence_close(exec_fence(e), e->buffers[buffer]);
	}
}

/* Memory is watched: a temporary is as fresh before its first kernel, and freed after its
 * last one, though all of them are in one block. */
static void launch_fenced(struct exec *e, bool backward, const struct exec_call *call)
{
	for (int k = 0; k < e->lowered->n_kernels; k++, backward = !backward) {
		begin_temps(e, k);
		exec_launch(e, NULL, k, backward, call);
		exec_fence_wrote(e, k, call->graph);
		end_temps(e, k);
	}
}

static void launch_all(struct exec *e, bool backward, const struct exec_call *call)
{
	if (__builtin_expect(exec_fence(e) != NULL, 0)) {
		launch_fenced(e, backward, call);
	} else if (__builtin_expect(call->observer != NULL, 0)) {
		for (int k = 0; k < e->lowered->n_kernels; k++, backward = !backward)
			launch_observed(e, NULL, k, backward, call);
	} else {
		for (int k = 0; k < e->lowered->n_kernels; k++, backward = !backward)
			e->backend->launch(e->executable, k, e->buffers, e->env->pool, backward);
	}
}

bool exec_run(struct exec *e, const struct exec_call *call, struct err *err)
{
	bool watched = __builtin_expect(call->observer != NULL, 0), backward;
	int64_t begin = watched ? clock_ns() : 0;
	void *temps = NULL;

	if (__builtin_expect(e->parts != NULL, 0))
		return pieces_run(e, call, err);
	if (e->record)
		return record_run(e->record, call, err);
	if (e->stepwise)
		return run_stepwise(e, call, NULL, err);
	if (!take_memory(e, call, &temps, err)) {
		exec_drop_outputs(e, call->outputs);
		return false;
	}
	backward = exec_starts_backward(e, call->inputs);
	exec_note_order(e, call->outputs, backward);
	if (watched && call->observer->phase)
		call->observer->phase(call->observer->self, PHASE_ALLOC, begin, clock_ns());
	launch_all(e, backward, call);
	for (int i = 0; i < e->n_outputs; i++)
		if (e->outputs[i].copy)
			exec_copy_output(e, i, call);
	if (temps)
		allocator_put(e->env->allocator, temps, e->temp_bytes);
	if (e->executable && !e->backend->fault(e->executable, err)) {
		exec_drop_outputs(e, call->outputs);
		return false;
	}
	return true;
}

bool exec_run_last(struct exec *e, struct tensor **inputs, struct tensor **outputs,
		   const struct fusion_observer *observer, int graph, struct err *err)
{
	const struct exec_call call = {
		.inputs = inputs, .outputs = outputs, .observer = observer, .graph = graph
	};
	bool ok;

	if (!e->parts && !e->record)
		return run_stepwise(e, &call, inputs, err);
	ok = exec_run(e, &call, err);
	for (int i = 0; i < e->n_inputs; i++) {
		tensor_unref(inputs[i]);
		inputs[i] = NULL;
	}
	return ok;
}
