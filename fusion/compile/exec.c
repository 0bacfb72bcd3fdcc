/* fusion/compile/exec.c -- plans where the buffers of a graph's kernels lie, and binds sizes.
 *
 * Kernels may read and write any buffer but must not write an input or a
 * constant: an output whose value is one of those (`return x * 1`, or one value
 * returned twice) is copied after the kernels, so that no two results share
 * memory by accident.
 *
 * Temporaries have two plans.  One block for all of them is the fastest, but a run holds it,
 * and its outputs, from the first kernel to the last.  By the steps, a run takes each buffer
 * before the kernel that writes it first, and gives it back after the last kernel that reads
 * it; so it does with inputs that the caller has given up.  A buffer takes over the memory of
 * one that ends where it begins, if the kernel allows that: a CHAIN of buffers then has one
 * memory, that of the output at its end, else of the input at its beginning, if the caller
 * has given that up.
 */
#include "fusion/compile/exec.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/compile/pieces.h"
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

/* ---- names for memory
 *
 * An allocator knows bytes alone; whoever takes them knows the value of the graph that will
 * lie there.  An eager op's plan serves many lines of the program, so it names none:
 * eager_op() of the observer has the line. */

static void label_value(const struct exec *e, int buffer, struct fusion_memory *what)
{
	const struct buffer *b = &e->lowered->buffers[buffer];
	const struct node *n = e->graph->nodes[b->node];

	what->kernel = b->first_kernel < 0 ? -1 : e->first_kernel + b->first_kernel;
	what->dtype = b->dtype;
	what->rank = b->shape.rank;
	for (int d = 0; d < b->shape.rank; d++)
		what->size[d] = sym_eval(b->shape.size[d], e->vars);
	if (e->eager || what->use == USE_CONSTANT)
		return;
	what->op = n->fx && n->fx[0] ? n->fx : op_info(n->op)->id;
	what->line = n->line;
}

void exec_label(const struct exec *e, int buffer, enum fusion_use use, int graph)
{
	struct fusion_memory *what = allocator_label(e->env->allocator);

	if (!what)
		return;
	what->use = use;
	what->eager = e->eager;
	what->graph = graph;
	if (buffer >= 0)
		label_value(e, buffer, what);
	else
		what->values = e->n_temps;
}

/* ---- buffers */

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
		exec_label(e, i, USE_CONSTANT, -1);
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

/* ---- the steps */

static int compare(const void *x, const void *y)
{
	const struct exec_step *a = x, *b = y;

	if (a->kernel != b->kernel)
		return a->kernel - b->kernel;
	if (exec_step_takes(a->kind) != exec_step_takes(b->kind))
		return exec_step_takes(a->kind) ? -1 : 1;
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

/* Of a buffer that ends at kernel k: a temporary, or an input that may be given up. */
static bool may_go(const struct exec *e, int buffer, int k)
{
	const struct buffer *b = &e->lowered->buffers[buffer];

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

/* The buffers that a kernel is the last to use, as a list: the first for each kernel, and the next
 * after each buffer; n_buffers ends it. */
static bool list_last(const struct lowered *l, struct arena *arena, int **first, int **next)
{
	*first = ARENA_ARRAY(arena, int, (size_t)l->n_kernels + 1);
	*next = ARENA_ARRAY(arena, int, (size_t)l->n_buffers + 1);
	if (!*first || !*next)
		return false;
	for (int k = 0; k <= l->n_kernels; k++)
		(*first)[k] = l->n_buffers;
	for (int b = l->n_buffers - 1; b >= 0; b--) {
		int last = l->buffers[b].last_kernel;

		if (last < 0)
			continue;
		(*next)[b] = (*first)[last];
		(*first)[last] = b;
	}
	return true;
}

/* By buffer: whether another takes over its memory.  NULL when out of memory. */
static bool *find_overwritten(struct exec *e)
{
	const struct lowered *l = e->lowered;
	bool *gone = ARENA_ARRAY(e->arena, bool, (size_t)l->n_buffers + 1);
	int *first, *next;

	e->over = ARENA_ARRAY(e->arena, int, (size_t)l->n_buffers + 1);
	if (!gone || !e->over || !list_last(l, e->arena, &first, &next))
		return NULL;
	for (int b = 0; b < l->n_buffers; b++)
		e->over[b] = -1;
	for (int b = 0; b < l->n_buffers; b++) {
		int k = l->buffers[b].first_kernel;

		if (k < 0 ||
		    (l->buffers[b].kind != BUFFER_TEMP && l->buffers[b].kind != BUFFER_OUTPUT))
			continue;
		for (int a = first[k]; a < l->n_buffers && e->over[b] < 0; a = next[a])
			if (!gone[a] && may_go(e, a, k) && may_follow(e, a, b)) {
				e->over[b] = a;
				gone[a] = true;
			}
	}
	return gone;
}

/* Where the memory of a chain is taken: its first buffer that is no input. */
static int first_kernel(const struct exec *e, int buffer)
{
	const struct buffer *buffers = e->lowered->buffers;

	while (e->over[buffer] >= 0 && buffers[e->over[buffer]].kind != BUFFER_INPUT)
		buffer = e->over[buffer];
	return buffers[buffer].first_kernel;
}

static void plan_temp(struct exec *e, int index, bool gone)
{
	int buffer = e->temps[index].buffer;

	if (e->lowered->buffers[buffer].first_kernel < 0 || gone)
		return;
	add(e, STEP_TAKE_TEMP, index, first_kernel(e, buffer));
	add(e, STEP_DROP_TEMP, index, e->lowered->buffers[buffer].last_kernel);
}

static bool step_plan(struct exec *e)
{
	const struct buffer *buffers = e->lowered->buffers;
	int n = e->n_inputs + e->n_outputs + 2 * e->n_temps;
	const bool *gone;

	e->steps = ARENA_ARRAY(e->arena, struct exec_step, (size_t)n + 1);
	e->taken = ARENA_ARRAY(e->arena, void *, (size_t)e->n_temps + 1);
	e->held = ARENA_ARRAY(e->arena, struct tensor *, (size_t)e->n_temps + 1);
	if (!e->steps || !e->taken || !e->held || !(gone = find_overwritten(e)))
		return false;
	for (int i = 0; i < e->n_outputs; i++)
		if (!e->outputs[i].copy)
			add(e, STEP_TAKE_OUTPUT, i, first_kernel(e, e->outputs[i].buffer));
	for (int i = 0; i < e->n_temps; i++)
		plan_temp(e, i, gone[e->temps[i].buffer]);
	for (int i = 0; i < e->n_inputs; i++)
		if (e->inputs[i] >= 0 && buffers[e->inputs[i]].last_kernel >= 0 &&
		    !is_copied(e, e->inputs[i]))
			add(e, STEP_DROP_INPUT, i, buffers[e->inputs[i]].last_kernel);
	qsort(e->steps, (size_t)e->n_steps, sizeof(*e->steps), compare);
	return true;
}

/* ---- an exec */

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
	pieces_destroy(e->parts);
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

static bool bind_pieces(const struct partition *p, const int64_t *vars, struct err *err)
{
	for (int i = 0; i < p->n_pieces; i++)
		if (!exec_bind(p->pieces[i].exec, vars, err))
			return false;
	return true;
}

bool exec_rebind(struct exec *e, const int64_t *vars, struct err *err)
{
	const struct exec_layout *kept;

	e->bound = false;
	if (e->n_vars > 0)
		memcpy(e->vars, vars, sizeof(*vars) * (size_t)e->n_vars);
	if (e->parts) {
		e->bound = bind_pieces(e->parts, e->vars, err);
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
