/* fusion/compile/exec_run.c -- runs an exec: memory for its buffers, and one launch after
 * another.
 *
 * A run takes one block for all temporaries.  Where that would be large it takes memory by the
 * steps of exec.c, kernel by kernel.  An exec that is recorded is replayed (record.h).
 */
#include <inttypes.h>
#include <string.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/base/buf.h"
#include "fusion/base/clock.h"
#include "fusion/compile/exec.h"
#include "fusion/compile/pieces.h"
#include "fusion/compile/record.h"

/* What a value that no kernel wrote to its own memory is copied from. */
static void copy_output(const struct exec *e, int index, const struct exec_call *call)
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

/* ---- memory that is watched by a fence (backends/memory/memory.h)
 *
 * What the allocator gives is fenced there.  Temporaries that share a block are fenced here: by
 * the plan, the life of each begins before its first kernel and ends after its last.  Where the
 * plan is wrong, one that is still read is poisoned. */

static void fence_temp(const struct exec *e, int buffer)
{
	const struct buffer *b = &e->lowered->buffers[buffer];
	struct buf text;

	buf_init(&text, 0);
	buf_printf(&text, "%s [", dtype_name(b->dtype));
	for (int d = 0; d < b->shape.rank; d++)
		buf_printf(&text, "%s%" PRId64, d ? ", " : "", sym_eval(b->shape.size[d], e->vars));
	buf_puts(&text, "], a temporary of a graph");
	if (text.data)
		fence_describe(exec_fence(e), e->buffers[buffer], text.data);
	buf_finish(&text);
}

/* "the kernel fused_add of graph 0, for torch.add (line 3)"; an eager op's kernel serves
 * any line. */
static void note_writer(const struct exec *e, int buffer, int kernel, int graph)
{
	const struct node *n = e->graph->nodes[e->lowered->buffers[buffer].node];
	struct buf text;

	buf_init(&text, 0);
	buf_printf(&text, "the kernel %.80s", e->lowered->kernels[kernel].name);
	if (graph >= 0)
		buf_printf(&text, " of graph %d", graph);
	buf_printf(&text, ", for %.60s", n->fx && n->fx[0] ? n->fx : op_info(n->op)->id);
	if (!e->eager && n->line > 0)
		buf_printf(&text, " (line %d)", n->line);
	if (text.data)
		fence_wrote(exec_fence(e), e->buffers[buffer], text.data);
	buf_finish(&text);
}

/* Written by that kernel, perhaps not for the first time. */
static bool may_write(const struct buffer *b, int kernel)
{
	return (b->kind == BUFFER_OUTPUT || b->kind == BUFFER_TEMP) && b->first_kernel <= kernel &&
	       b->last_kernel >= kernel;
}

/* On the host the kernel is done, and whatever it has overwritten is its own doing. */
static void fence_wrote_by(const struct exec *e, int kernel, int graph)
{
	struct fence *g = exec_fence(e);

	for (int b = 0; g && b < e->lowered->n_buffers; b++) {
		const struct buffer *at = &e->lowered->buffers[b];

		if (!e->buffers[b] || !may_write(at, kernel))
			continue;
		if (at->first_kernel == kernel)
			note_writer(e, b, kernel, graph);
		if (!fence_on_device(g))
			fence_look(g, e->buffers[b]);
	}
}

/* ---- launches */

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

static void launch_one(struct exec *e, struct recording *recording, int kernel, bool backward,
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

static struct tensor *output_tensor(const struct exec *e, int index, int graph, struct err *err)
{
	const struct exec_output *out = &e->outputs[index];
	struct tensor *t;

	exec_label(e, out->buffer, USE_OUTPUT, graph);
	t = tensor_create(e->env->allocator, out->dtype, out->rank, out->size, err);
	if (!t)
		at_output(e, index, err);
	return t;
}

static void place_given(const struct exec *e, const struct exec_call *call)
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

	place_given(e, call);
	for (int i = 0; i < e->n_outputs; i++) {
		const struct exec_output *out = &e->outputs[i];

		if (!outputs[i])
			outputs[i] = output_tensor(e, i, call->graph, err);
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

static void drop_outputs(const struct exec *e, struct tensor **outputs)
{
	for (int i = 0; i < e->n_outputs; i++) {
		tensor_unref(outputs[i]);
		outputs[i] = NULL;
	}
}

/* A kernel begins at the end of its first input that was written last, and each
 * further kernel the other way round: of large tensors that part is still in
 * the cache.  (Reductions keep to one order, which their rounding depends on.) */
static bool starts_backward(const struct exec *e, struct tensor *const *inputs)
{
	for (int i = 0; i < e->n_inputs; i++)
		if (e->inputs[i] >= 0)
			return inputs[i]->storage->last_write == WALK_FORWARD;
	return false;
}

static void note_order(const struct exec *e, struct tensor *const *outputs, bool backward)
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
		*out = output_tensor(r->e, index, r->call->graph, r->err);
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
	return *t && (*t)->refs == 1 && (*t)->storage->refs == 1 && !(*t)->storage->mapping &&
		       tensor_contiguous(*t)
		   ? *t
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

	place_given(e, r->call);
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
		launch_one(r->e, NULL, k, backward, r->call);
		fence_wrote_by(r->e, k, r->call->graph);
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
			r->call->outputs[i] = output_tensor(e, i, r->call->graph, r->err);
		if (!r->call->outputs[i])
			return false;
		copy_output(e, i, r->call);
	}
	return true;
}

/* Runs it with memory that is there while kernels need it, and no longer.  `owned`: the
 * inputs' references go with their last kernel; NULL: they are the caller's. */
static bool run_stepwise(struct exec *e, const struct exec_call *call, struct tensor **owned,
			 struct err *err)
{
	struct step_run r = { .e = e, .call = call, .owned = owned, .err = err };
	bool backward = starts_backward(e, call->inputs), ok;

	prepare(&r);
	ok = launch_steps(&r, backward) && copy_outputs(&r);
	for (int i = 0; i < e->n_temps; i++) /* of a run that was given up */
		drop_temp(e, i);
	for (int i = 0; i < e->n_inputs; i++)
		drop_input(&r, i);
	ok = ok && (!e->executable || e->backend->fault(e->executable, err));
	if (!ok)
		drop_outputs(e, call->outputs);
	else
		note_order(e, call->outputs, backward);
	return ok;
}

/* ---- a replay */

enum {
	KEPT_BYTES = 1 << 20
}; /* of a tensor that is kept for the next run: making a larger one
    * costs little beside filling it */

/* After its guard words, where there are any. */
static char *temp_at(const struct record *r, const struct record_temp *temp)
{
	return (char *)r->memory->block + temp->offset + (exec_fence(r->exec) ? FENCE_BYTES : 0);
}

static void point_temps(struct record *r)
{
	const struct backend *b = r->exec->backend;

	for (int i = 0; i < r->n_temps; i++)
		b->point(r->recording, r->temps[i].buffer, temp_at(r, &r->temps[i]));
	r->moves = r->memory->moves;
}

static bool may_keep(const struct tensor *t)
{
	return t->storage->bytes <= KEPT_BYTES;
}

/* One that is written again as a whole, by a replay. */
static struct tensor *as_fresh(const struct record *r, struct tensor *t)
{
	struct fence *fence = exec_fence(r->exec);

	if (__builtin_expect(fence != NULL, 0))
		fence_poison(fence, t->storage->data, t->storage->bytes);
	return t;
}

/* The tensor of the last run where nobody else has a part in it, else a new one. */
static struct tensor *renew_output(struct record *r, int index, int graph, struct err *err)
{
	struct record_output *out = &r->outputs[index];
	struct tensor *t = out->kept;

	if (t && t->refs == 1 && t->storage->refs == 1) {
		storage_renew(t->storage);
		return tensor_ref(as_fresh(r, t));
	}
	tensor_unref(t);
	out->kept = NULL;
	t = output_tensor(r->exec, index, graph, err);
	if (t && may_keep(t))
		out->kept = tensor_ref(t);
	return t;
}

static inline void point_output(struct record *r, struct record_output *out, void *memory)
{
	if (out->at == memory)
		return;
	for (int k = 0; k < out->n; k++)
		r->exec->backend->point(r->recording, out->chain[k], memory);
	r->pointed += out->n;
	out->at = memory;
}

static inline bool take_replayed(struct record *r, const struct exec_call *call, struct err *err)
{
	struct tensor **outputs = call->outputs;
	int n = r->exec->n_outputs;

	place_given(r->exec, call);
	if (call->into)
		as_fresh(r, call->into);
	for (int i = 0; i < n; i++) {
		if (!outputs[i])
			outputs[i] = renew_output(r, i, call->graph, err);
		if (!outputs[i])
			return false;
		if (r->outputs[i].chain)
			point_output(r, &r->outputs[i], tensor_kernel_writes(outputs[i]));
	}
	return true;
}

static inline void point_inputs(struct record *r, struct tensor *const *inputs)
{
	for (int i = 0; i < r->n_inputs; i++) {
		struct record_input *in = &r->inputs[i];
		void *memory = tensor_kernel_reads(inputs[in->index]);

		if (in->at == memory)
			continue;
		r->exec->backend->point(r->recording, in->buffer, memory);
		in->at = memory;
		r->pointed++;
	}
}

/* As one launch, if it is one. */
static bool replay_whole(struct record *r, bool backward, const struct exec_call *call)
{
	const struct fusion_observer *observer = call->observer;
	struct exec *e = r->exec;
	int64_t begin = clock_ns(), end;

	if ((observer->launched && !observer->replayed) || !e->backend->whole ||
	    !e->backend->whole(r->recording, r->counts))
		return false;
	e->backend->replay(r->recording, -1, e->env->pool, backward);
	end = clock_ns();
	if (observer->replayed)
		observer->replayed(observer->self,
				   &(struct fusion_replay){ call->graph, e->first_kernel, r->counts,
							    e->lowered->n_kernels, begin, end });
	if (observer->phase)
		observer->phase(observer->self, PHASE_KERNEL, begin, end);
	return true;
}

static void replay_all(struct record *r, bool backward, const struct exec_call *call)
{
	struct exec *e = r->exec;

	if (!call->observer) {
		e->backend->replay(r->recording, -1, e->env->pool, backward);
		return;
	}
	if (replay_whole(r, backward, call))
		return;
	for (int k = 0; k < e->lowered->n_kernels; k++, backward = !backward)
		launch_one(e, r->recording, k, backward, call);
}

/* Where this replay has its buffers: fence_wrote_by() looks there. */
static void place_buffers(struct record *r)
{
	for (int i = 0; i < r->exec->n_outputs; i++)
		for (int k = 0; k < r->outputs[i].n; k++)
			r->exec->buffers[r->outputs[i].chain[k]] = r->outputs[i].at;
	for (int i = 0; i < r->n_temps; i++)
		r->exec->buffers[r->temps[i].buffer] = temp_at(r, &r->temps[i]);
}

/* Temporaries that are taken before a kernel begin, those that are dropped after it end. */
static void turn_temps(struct record *r, int kernel, enum step_kind kind)
{
	struct exec *e = r->exec;
	struct fence *fence = exec_fence(e);

	for (int i = 0; i < e->n_steps; i++) {
		const struct exec_temp *temp = &e->temps[e->steps[i].index];
		char *memory;

		if (e->steps[i].kernel != kernel || e->steps[i].kind != kind)
			continue;
		memory = e->buffers[temp->buffer];
		if (kind == STEP_TAKE_TEMP) {
			fence_open(fence, memory - FENCE_BYTES, temp->size);
			fence_temp(e, temp->buffer);
		} else {
			fence_close(fence, memory);
		}
	}
}

/* By turns kernel by kernel, so that each temporary is as fresh before its first kernel and
 * freed after its last one, and all at once, as it is without guard words. */
static void replay_fenced(struct record *r, bool backward, const struct exec_call *call)
{
	struct exec *e = r->exec;

	place_buffers(r);
	if (r->replays % 2 == 1) {
		if (r->temp_bytes > 0)
			fence_poison(exec_fence(e), r->memory->block, r->temp_bytes);
		replay_all(r, backward, call);
		for (int k = 0; k < e->lowered->n_kernels; k++)
			fence_wrote_by(e, k, call->graph);
		return;
	}
	for (int k = 0; k < e->lowered->n_kernels; k++, backward = !backward) {
		turn_temps(r, k, STEP_TAKE_TEMP);
		launch_one(e, r->recording, k, backward, call);
		fence_wrote_by(e, k, call->graph);
		turn_temps(r, k, STEP_DROP_TEMP);
	}
}

/* Constants do not move, and inputs are the caller's: what copies are made of is known. */
static void copy_replayed(const struct record *r, const struct exec_call *call)
{
	const struct exec *e = r->exec;

	for (int i = 0; i < e->n_outputs; i++) {
		const struct exec_output *out = &e->outputs[i];

		if (!out->copy)
			continue;
		if (e->lowered->buffers[out->buffer].kind == BUFFER_OUTPUT) {
			int from = 0;

			while (e->outputs[from].buffer != out->buffer)
				from++;
			e->buffers[out->buffer] = tensor_kernel_writes(call->outputs[from]);
		}
		copy_output(e, i, call);
	}
}

static bool run_recording(struct record *r, const struct exec_call *call, struct err *err)
{
	const struct fusion_observer *observer = call->observer;
	struct tensor *const *inputs = call->inputs, **outputs = call->outputs;
	struct exec *e = r->exec;
	bool watched = __builtin_expect(observer != NULL, 0), backward = false;
	int64_t begin = watched ? clock_ns() : 0;

	if (!take_replayed(r, call, err)) {
		drop_outputs(e, outputs);
		return false;
	}
	if (__builtin_expect(r->moves != r->memory->moves, 0))
		point_temps(r);
	point_inputs(r, inputs);
	if (r->alternates) {
		backward = starts_backward(e, inputs);
		note_order(e, outputs, backward);
	}
	if (watched && observer->phase)
		observer->phase(observer->self, PHASE_ALLOC, begin, clock_ns());
	if (__builtin_expect(exec_fence(e) != NULL, 0))
		replay_fenced(r, backward, call);
	else
		replay_all(r, backward, call);
	r->replays++;
	if (r->copies)
		copy_replayed(r, call);
	if (!e->backend->fault(e->executable, err)) {
		drop_outputs(e, outputs);
		return false;
	}
	return true;
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
		fence_temp(e, buffer);
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
		launch_one(e, NULL, k, backward, call);
		fence_wrote_by(e, k, call->graph);
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
		return run_recording(e->record, call, err);
	if (e->stepwise)
		return run_stepwise(e, call, NULL, err);
	if (!take_memory(e, call, &temps, err)) {
		drop_outputs(e, call->outputs);
		return false;
	}
	backward = starts_backward(e, call->inputs);
	note_order(e, call->outputs, backward);
	if (watched && call->observer->phase)
		call->observer->phase(call->observer->self, PHASE_ALLOC, begin, clock_ns());
	launch_all(e, backward, call);
	for (int i = 0; i < e->n_outputs; i++)
		if (e->outputs[i].copy)
			copy_output(e, i, call);
	if (temps)
		allocator_put(e->env->allocator, temps, e->temp_bytes);
	if (e->executable && !e->backend->fault(e->executable, err)) {
		drop_outputs(e, call->outputs);
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
