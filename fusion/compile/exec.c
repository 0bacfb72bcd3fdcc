/* fusion/compile/exec.c -- runs kernels: where their buffers lie, and one launch after another.
 *
 * Kernels may read and write any buffer but must not write an input or a
 * constant: an output whose value is one of those (`return x * 1`, or one value
 * returned twice) is copied after the kernels, so that no two results share
 * memory by accident.
 */
#include "fusion/compile/exec.h"

#include <string.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/base/clock.h"
#include "fusion/compile/partition.h"
#include "fusion/compile/record.h"

enum {
	ALIGN_BYTES = 64, /* of temporaries, and readable bytes past each */
	/* Less is taken at once: a call of small kernels has no time to spare. */
	STEPWISE_BYTES = 256 << 10,
};

static bool out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY,
		       "out of memory while compiling the graph: compile fewer functions "
		       "in one session");
}

/* Constants move to aligned memory with slack: kernels load whole vectors. */
static bool place_constants(struct exec *e, struct err *err)
{
	const struct device_memory *device = allocator_device(e->env->allocator);

	for (int i = 0; i < e->lowered->n_buffers; i++) {
		const struct buffer *b = &e->lowered->buffers[i];
		size_t bytes;

		if (b->kind != BUFFER_CONST)
			continue;
		bytes = (size_t)sym_eval(b->numel, NULL) * dtype_bytes(b->dtype);
		exec_label(e, i, USE_CONSTANT);
		e->buffers[i] = allocator_get(e->env->allocator, bytes, err);
		if (!e->buffers[i])
			return false;
		if (device)
			device->write(device->self, e->buffers[i], b->data, bytes);
		else
			memcpy(e->buffers[i], b->data, bytes);
	}
	return true;
}

static void free_constants(struct exec *e)
{
	for (int i = 0; i < e->lowered->n_buffers; i++) {
		const struct buffer *b = &e->lowered->buffers[i];

		if (b->kind == BUFFER_CONST && e->buffers[i])
			allocator_put(e->env->allocator, e->buffers[i],
				      (size_t)sym_eval(b->numel, NULL) * dtype_bytes(b->dtype));
	}
}

/* Which buffers are inputs, outputs and temporaries. */
static bool map_buffers(struct exec *e, struct arena *arena)
{
	const struct lowered *l = e->lowered;

	e->n_inputs = e->graph->n_inputs;
	e->n_outputs = l->n_outputs;
	e->n_vars = sym_var_count(e->graph->syms);
	e->buffers = ARENA_ARRAY(arena, void *, (size_t)l->n_buffers + 1);
	e->inputs = ARENA_ARRAY(arena, int, (size_t)e->n_inputs + 1);
	e->outputs = ARENA_ARRAY(arena, struct exec_output, (size_t)e->n_outputs + 1);
	e->temps = ARENA_ARRAY(arena, struct exec_temp, (size_t)l->n_buffers + 1);
	e->vars = ARENA_ARRAY(arena, int64_t, (size_t)e->n_vars + 1);
	if (!e->buffers || !e->inputs || !e->outputs || !e->temps || !e->vars)
		return false;
	for (int i = 0; i < e->n_inputs; i++)
		e->inputs[i] = -1;
	for (int i = 0; i < l->n_buffers; i++) {
		if (l->buffers[i].kind == BUFFER_INPUT)
			e->inputs[l->buffers[i].index] = i;
		else if (l->buffers[i].kind == BUFFER_TEMP)
			e->temps[e->n_temps++].buffer = i;
	}
	for (int i = 0; i < e->n_outputs; i++) {
		struct exec_output *out = &e->outputs[i];

		out->buffer = l->outputs[i];
		out->copy = l->buffers[out->buffer].kind != BUFFER_OUTPUT;
		for (int j = 0; j < i && !out->copy; j++)
			out->copy = e->outputs[j].buffer == out->buffer;
		out->dtype = e->graph->nodes[e->graph->outputs[i]]->dtype;
		out->rank = e->graph->nodes[e->graph->outputs[i]]->shape.rank;
	}
	return true;
}

static bool overlap_in_time(const struct buffer *a, const struct buffer *b)
{
	return a->first_kernel <= b->last_kernel && b->first_kernel <= a->last_kernel;
}

/* Sizes of outputs, and offsets of temporaries: a temporary takes the lowest
 * place that is free for all of its lifetime (first fit). */
static void lay_out(struct exec *e)
{
	const struct buffer *buffers = e->lowered->buffers;

	for (int i = 0; i < e->n_outputs; i++) {
		const struct shape *s = &e->graph->nodes[e->graph->outputs[i]]->shape;

		for (int d = 0; d < s->rank; d++)
			e->outputs[i].size[d] = sym_eval(s->size[d], e->vars);
	}
	e->temp_bytes = 0;
	for (int i = 0; i < e->n_temps; i++) {
		const struct buffer *b = &buffers[e->temps[i].buffer];
		size_t size = (size_t)sym_eval(b->numel, e->vars) * dtype_bytes(b->dtype);
		size_t bytes = exec_fence(e) ? fence_room(size) : size, offset = 0;

		bytes = (bytes + 2 * ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
		if (b->first_kernel < 0)
			bytes = 0;            /* no kernel uses it */
		for (int j = 0; j < i; j++) { /* restart past whatever overlaps */
			const struct exec_temp *o = &e->temps[j];

			if (overlap_in_time(&buffers[o->buffer], b) &&
			    offset < o->offset + o->bytes && o->offset < offset + bytes) {
				offset = o->offset + o->bytes;
				j = -1;
			}
		}
		e->temps[i].size = size;
		e->temps[i].offset = offset;
		e->temps[i].bytes = bytes;
		if (offset + bytes > e->temp_bytes)
			e->temp_bytes = offset + bytes;
	}
}

static bool has_fixed_sizes(const struct graph *g)
{
	for (int i = 0; i < g->n_nodes; i++)
		for (int d = 0; d < g->nodes[i]->shape.rank; d++)
			if (!sym_is_const(g->nodes[i]->shape.size[d]))
				return false;
	return true;
}

struct exec *exec_create(const struct compile_options *options, struct graph *g,
			 struct lowered *lowered, struct arena *arena, struct err *err)
{
	struct exec *e = ARENA_NEW(arena, struct exec);

	if (!e) {
		out_of_memory(err);
		return NULL;
	}
	e->env = options->env;
	e->arena = arena;
	e->graph = g;
	e->backend = options->backend;
	e->lowered = lowered;
	if (!map_buffers(e, arena) || !step_plan(e)) {
		out_of_memory(err);
		return NULL;
	}
	e->launched = lowered->n_kernels;
	e->fixed = has_fixed_sizes(g);
	if (place_constants(e, err))
		return e;
	exec_destroy(e);
	return NULL;
}

void exec_destroy(struct exec *e)
{
	if (!e)
		return;
	partition_destroy(e->parts);
	record_destroy(e->record);
	if (e->executable)
		e->backend->destroy(e->executable);
	free_constants(e);
}

/* Also what is fused away: a kernel over 10^12 points would not end. */
static bool check_sizes(const struct exec *e, struct err *err)
{
	for (int i = 0; i < e->graph->n_nodes; i++) {
		const struct node *n = e->graph->nodes[i];
		int64_t numel = 1;

		for (int d = 0; d < n->shape.rank; d++) {
			int64_t size = sym_eval(n->shape.size[d], e->vars);

			if (size < 0 ||
			    __builtin_mul_overflow(numel, size > 1 ? size : 1, &numel) ||
			    numel > (int64_t)1 << TENSOR_MAX_LOG2)
				return err_at(err, ERR_BOUND, n->line, n->column,
					      "the result of %s has more than 2^%d elements, or a "
					      "negative size; use smaller sizes",
					      n->fx, TENSOR_MAX_LOG2);
		}
	}
	return true;
}

/* What lay_out() found for these values before. */
static const struct exec_layout *find_layout(const struct exec *e)
{
	for (int i = 0; i < MAX_LAYOUTS; i++) {
		const struct exec_layout *kept = &e->layouts[i];

		if (kept->vars &&
		    memcmp(kept->vars, e->vars, sizeof(*e->vars) * (size_t)e->n_vars) == 0)
			return kept;
	}
	return NULL;
}

static void use_layout(struct exec *e, const struct exec_layout *kept)
{
	for (int i = 0; i < e->n_outputs; i++)
		memcpy(e->outputs[i].size, kept->size[i], sizeof(kept->size[i]));
	for (int i = 0; i < e->n_temps; i++)
		e->temps[i] = kept->temps[i];
	e->temp_bytes = kept->temp_bytes;
}

/* Without memory for it the layout is only made again the next time. */
static void keep_layout(struct exec *e)
{
	struct exec_layout *kept = &e->layouts[e->next_layout++ % MAX_LAYOUTS];

	if (!kept->vars) {
		kept->size = arena_array(e->arena, (size_t)e->n_outputs + 1, sizeof(*kept->size));
		kept->temps = ARENA_ARRAY(e->arena, struct exec_temp, (size_t)e->n_temps + 1);
		if (!kept->size || !kept->temps)
			return;
		kept->vars = ARENA_ARRAY(e->arena, int64_t, (size_t)e->n_vars + 1);
		if (!kept->vars)
			return;
	}
	memcpy(kept->vars, e->vars, sizeof(*e->vars) * (size_t)e->n_vars);
	for (int i = 0; i < e->n_outputs; i++)
		memcpy(kept->size[i], e->outputs[i].size, sizeof(kept->size[i]));
	for (int i = 0; i < e->n_temps; i++)
		kept->temps[i] = e->temps[i];
	kept->temp_bytes = e->temp_bytes;
}

bool exec_rebind(struct exec *e, const int64_t *vars, struct err *err)
{
	const struct exec_layout *kept;

	e->bound = false;
	if (e->n_vars > 0)
		memcpy(e->vars, vars, sizeof(*vars) * (size_t)e->n_vars);
	if (e->parts) {
		e->bound = partition_bind(e->parts, e->vars, err);
		return e->bound;
	}
	if (e->laid_out && e->fixed) {
		e->bound = !e->executable || e->backend->bind(e->executable, e->vars, err);
		return e->bound;
	}
	kept = e->n_vars > 0 ? find_layout(e) : NULL;
	if (!kept && !check_sizes(e, err))
		return false;
	if (e->executable && !e->backend->bind(e->executable, e->vars, err))
		return false;
	if (kept) {
		use_layout(e, kept);
	} else {
		lay_out(e);
		if (e->n_vars > 0 && !e->fixed)
			keep_layout(e);
	}
	e->laid_out = true;
	e->stepwise = e->temp_bytes >= STEPWISE_BYTES && e->lowered->n_kernels > 1;
	e->bound = true;
	return true;
}

/* What a value that no kernel wrote to its own memory is copied from. */
void exec_copy_output(const struct exec *e, int index, struct tensor *const *inputs,
		      struct tensor *const *outputs)
{
	const struct exec_output *out = &e->outputs[index];
	const struct buffer *b = &e->lowered->buffers[out->buffer];
	struct tensor *to = outputs[index];
	const struct device_memory *device = allocator_device(e->env->allocator);
	size_t bytes = (size_t)tensor_numel(to) * dtype_bytes(to->dtype);
	void *at;

	if (b->kind == BUFFER_INPUT) {
		tensor_copy(to, inputs[b->index]);
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

int64_t exec_launching(const struct exec *e, int kernel, const struct fusion_observer *observer)
{
	if (observer->launching)
		observer->launching(observer->self, e->lowered->kernels[kernel].library != NULL);
	return own_launches(e);
}

void exec_ran(const struct exec *e, int64_t before, const struct fusion_observer *observer)
{
	if (observer->ran && e->backend->launches)
		observer->ran(observer->self, (int)(own_launches(e) - before));
}

/* One watched launch: the kernel's time apart from what surrounds it. */
static void launch_observed(struct exec *e, int k, bool backward,
			    const struct fusion_observer *observer, int graph)
{
	int64_t before = clock_ns(), had = exec_launching(e, k, observer), begin, end;

	begin = clock_ns();
	e->backend->launch(e->executable, k, e->buffers, e->env->pool, backward);
	end = clock_ns();
	exec_ran(e, had, observer);
	if (observer->launched)
		observer->launched(observer->self, graph, e->first_kernel + k, begin, end);
	if (observer->phase) {
		observer->phase(observer->self, PHASE_KERNEL, begin, end);
		observer->phase(observer->self, PHASE_LAUNCH, before, begin);
	}
}

void exec_launch(struct exec *e, int kernel, bool backward, const struct fusion_observer *observer,
		 int graph)
{
	if (observer)
		launch_observed(e, kernel, backward, observer, graph);
	else
		e->backend->launch(e->executable, kernel, e->buffers, e->env->pool, backward);
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

struct tensor *exec_output_tensor(const struct exec *e, int index, struct err *err)
{
	const struct exec_output *out = &e->outputs[index];
	struct tensor *t;

	exec_label(e, out->buffer, USE_OUTPUT);
	t = tensor_create(e->env->allocator, out->dtype, out->rank, out->size, err);
	if (!t)
		at_output(e, index, err);
	return t;
}

void exec_place_given(const struct exec *e, struct tensor **outputs, struct tensor *into)
{
	for (int i = 0; i < e->n_outputs; i++)
		outputs[i] = e->given && e->given[i] ? tensor_ref(e->given[i]) : NULL;
	if (into)
		outputs[0] = tensor_ref(into);
}

/* Memory of outputs and temporaries; fills in the table of buffers. */
static inline bool take_memory(struct exec *e, struct tensor *const *inputs,
			       struct tensor **outputs, struct tensor *into, void **temps,
			       struct err *err)
{
	struct allocator *a = e->env->allocator;

	exec_place_given(e, outputs, into);
	for (int i = 0; i < e->n_outputs; i++) {
		const struct exec_output *out = &e->outputs[i];

		if (!outputs[i])
			outputs[i] = exec_output_tensor(e, i, err);
		if (!outputs[i])
			return false;
		if (!out->copy)
			e->buffers[out->buffer] = tensor_kernel_writes(outputs[i]);
	}
	if (e->n_temps > 0) {
		exec_label(e, e->n_temps == 1 ? e->temps[0].buffer : -1, USE_TEMPORARY);
		*temps = allocator_get(a, e->temp_bytes, err);
		if (!*temps)
			return false;
		for (int i = 0; i < e->n_temps; i++)
			e->buffers[e->temps[i].buffer] = (char *)*temps + e->temps[i].offset;
	}
	for (int i = 0; i < e->n_inputs; i++)
		if (e->inputs[i] >= 0)
			e->buffers[e->inputs[i]] = tensor_kernel_reads(inputs[i]);
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

bool exec_run(struct exec *e, struct tensor *const *inputs, struct tensor **outputs,
	      struct tensor *into, const struct fusion_observer *observer, int graph,
	      struct err *err)
{
	bool watched = __builtin_expect(observer != NULL, 0), backward;
	int64_t begin = watched ? clock_ns() : 0;
	void *temps = NULL;

	e->told_graph = graph;
	if (__builtin_expect(e->parts != NULL, 0))
		return partition_run(e, inputs, outputs, observer, graph, err);
	if (e->record)
		return record_run(e->record, inputs, outputs, into, observer, graph, err);
	if (e->stepwise)
		return step_run(e, inputs, NULL, outputs, into, observer, graph, err);
	if (!take_memory(e, inputs, outputs, into, &temps, err)) {
		exec_drop_outputs(e, outputs);
		return false;
	}
	backward = exec_starts_backward(e, inputs);
	exec_note_order(e, outputs, backward);
	if (watched && observer->phase)
		observer->phase(observer->self, PHASE_ALLOC, begin, clock_ns());
	if (__builtin_expect(exec_fence(e) != NULL, 0)) {
		exec_fenced_launches(e, backward, observer, graph);
	} else if (watched) {
		for (int k = 0; k < e->lowered->n_kernels; k++, backward = !backward)
			launch_observed(e, k, backward, observer, graph);
	} else {
		for (int k = 0; k < e->lowered->n_kernels; k++, backward = !backward)
			e->backend->launch(e->executable, k, e->buffers, e->env->pool, backward);
	}
	for (int i = 0; i < e->n_outputs; i++)
		if (e->outputs[i].copy)
			exec_copy_output(e, i, inputs, outputs);
	if (temps)
		allocator_put(e->env->allocator, temps, e->temp_bytes);
	if (e->executable && !e->backend->fault(e->executable, err)) {
		exec_drop_outputs(e, outputs);
		return false;
	}
	return true;
}

bool exec_run_last(struct exec *e, struct tensor **inputs, struct tensor **outputs,
		   const struct fusion_observer *observer, int graph, struct err *err)
{
	bool ok;

	e->told_graph = graph;
	if (!e->parts && !e->record)
		return step_run(e, inputs, inputs, outputs, NULL, observer, graph, err);
	ok = exec_run(e, inputs, outputs, NULL, observer, graph, err);
	for (int i = 0; i < e->n_inputs; i++) {
		tensor_unref(inputs[i]);
		inputs[i] = NULL;
	}
	return ok;
}
