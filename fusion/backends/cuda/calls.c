/* fusion/backends/cuda/calls.c -- ops with a function of their own, of an executable.
 *
 * Where an op has no function here it runs on the host, between two copies: slow, and
 * correct.
 */
#include "fusion/backends/cuda/calls.h"

#include <string.h>

/* See Makefile. */
extern const char cuda_words_text[], cuda_args_text[], cuda_library_text[], cuda_index_text[],
    cuda_line_text[], cuda_sort_text[], cuda_window_text[], cuda_create_text[],
    cuda_attention_text[], cuda_random_text[];

static const char *const part_texts[PARTS] = {
	[PART_INDEX] = cuda_index_text,   [PART_LINE] = cuda_line_text,
	[PART_SORT] = cuda_sort_text,     [PART_WINDOW] = cuda_window_text,
	[PART_CREATE] = cuda_create_text, [PART_ATTENTION] = cuda_attention_text,
	[PART_RANDOM] = cuda_random_text
};

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "The system has no memory left to prepare calls.");
}

static const struct cuda_library *library_of(const struct executable *exe, int kernel)
{
	return cuda_calls(exe, kernel) ? cuda_library_find(exe->lowered->kernels[kernel].op) : NULL;
}

bool cuda_has_functions(const struct executable *exe, int kernel)
{
	const struct cuda_library *library = library_of(exe, kernel);

	return library && library->emit && !library->late;
}

bool cuda_prepare_calls(struct executable *exe, struct err *err)
{
	size_t n = (size_t)exe->lowered->n_kernels + 1;

	exe->libraries = calloc(n, sizeof(*exe->libraries));
	exe->on_device = calloc(n, sizeof(*exe->on_device));
	exe->calls = calloc(n, sizeof(*exe->calls));
	exe->states = calloc(n, sizeof(*exe->states));
	exe->late = calloc(n, sizeof(*exe->late));
	exe->takes_sum = calloc(n, sizeof(*exe->takes_sum));
	exe->sums = calloc(n, sizeof(*exe->sums));
	if (!exe->takes_sum || !exe->sums || !exe->libraries || !exe->on_device || !exe->calls ||
	    !exe->states || !exe->late)
		return no_memory(err);
	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (cuda_calls(exe, i) && !library_check(&exe->lowered->kernels[i], err))
			return false;
	return true;
}

static void drop_state(struct executable *exe, int kernel)
{
	const struct cuda_library *library = library_of(exe, kernel);

	if (library && library->drop)
		library->drop(exe->device, exe->states[kernel]);
	else
		free(exe->states[kernel]);
	exe->states[kernel] = NULL;
}

void cuda_drop_calls(struct executable *exe)
{
	for (int i = 0; i < exe->lowered->n_kernels; i++) {
		if (exe->libraries)
			free(exe->libraries[i].state);
		if (exe->states)
			drop_state(exe, i);
		if (exe->late && exe->late[i])
			exe->device->api.cuModuleUnload(exe->late[i]);
	}
	free(exe->libraries);
	free(exe->on_device);
	free(exe->calls);
	free(exe->states);
	free(exe->late);
	free(exe->takes_sum);
	free(exe->sums);
}

static void emit_texts(struct buf *out, const bool wanted[PARTS])
{
	buf_puts(out, cuda_args_text);
	buf_puts(out, cuda_library_text);
	for (int i = 0; i < PARTS; i++)
		if ((wanted[i] || (i == PART_LINE && wanted[PART_SORT])) && part_texts[i])
			buf_puts(out, part_texts[i]);
}

void cuda_emit_calls(struct buf *out, const struct executable *exe)
{
	bool wanted[PARTS] = { false }, any = false;

	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (cuda_has_functions(exe, i))
			any = wanted[library_of(exe, i)->part] = true;
	if (any)
		emit_texts(out, wanted);
	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (cuda_has_functions(exe, i))
			library_of(exe, i)->emit(out, exe->lowered->graph,
						 exe->lowered->kernels[i].library, i);
}

/* The functions of one op as a module of their own. */
static bool make_late(struct executable *exe, int kernel, struct err *err)
{
	const struct cuda_library *library = library_of(exe, kernel);
	bool wanted[PARTS] = { false }, cached, ok;
	struct buf out;

	wanted[library->part] = true;
	buf_init(&out, 0);
	buf_puts(&out, cuda_words_text);
	emit_texts(&out, wanted);
	library->emit(&out, exe->lowered->graph, exe->lowered->kernels[kernel].library, kernel);
	ok = out.failed ? no_memory(err)
			: cuda_load(exe, out.data, &exe->late[kernel], &cached, err);
	buf_finish(&out);
	return ok;
}

bool cuda_bind_call(struct executable *exe, int kernel, struct err *err)
{
	const struct lowered *l = exe->lowered;
	struct library_call *call = &exe->libraries[kernel];
	const struct cuda_library *library = library_of(exe, kernel);
	enum placing placing = ON_HOST;
	struct cuda_call *c = &exe->calls[kernel];

	drop_state(exe, kernel);
	free(call->state);
	if (!library_bind(call, l, &l->kernels[kernel], exe->table, NULL, exe->random, exe->vars,
			  err))
		return false;
	call->fault = &exe->fault;
	*c = (struct cuda_call){ .call = call,
				 .device = exe->device,
				 .kernel = kernel,
				 .exe = exe,
				 .takes_sum = &exe->takes_sum[kernel] };
	exe->takes_sum[kernel] = false;
	if (cuda_sum_behind(l, kernel, &exe->sums[kernel]))
		c->sum = &exe->sums[kernel];
	if (library) {
		c->module = library->late ? exe->late[kernel] : exe->wide.module;
		placing = library->bind(c, &exe->states[kernel], err);
	}
	if (placing == WANTS_KERNELS) {
		drop_state(exe, kernel);
		if (!make_late(exe, kernel, err))
			return false;
		c->module = exe->late[kernel];
		placing = library->bind(c, &exe->states[kernel], err);
	}
	exe->on_device[kernel] = placing == ON_DEVICE ? library : NULL;
	exe->looks_up |= placing == ON_DEVICE && library->looks_up;
	return placing != NOWHERE;
}

void cuda_call(struct executable *exe, int kernel, void *const *buffers)
{
	exe->device->calls++;
	exe->on_device[kernel]->run(&exe->calls[kernel], exe->states[kernel], buffers);
	cuda_check_launch(exe->device, CUDA_SUCCESS, exe->lowered, kernel);
}

bool cuda_call_faulted(struct executable *exe, struct err *err)
{
	struct device *d = exe->device;

	/* A program may catch the error: it comes before what the program does next. */
	if (exe->looks_up && !d->late)
		d->memory.wait(d);
	return cuda_index_fault(d, err) && library_faulted(&exe->fault, err);
}

/* Bytes from an operand's memory to its last element. */
static size_t span_bytes(const struct operand *x)
{
	int64_t last = x->offset;

	if (x->numel == 0)
		return 0;
	for (int d = 0; d < x->rank; d++)
		last += x->stride[d] > 0 ? (x->size[d] - 1) * x->stride[d] : 0;
	return (size_t)(last + 1) * dtype_bytes(x->dtype);
}

static void *fetch(struct executable *exe, const struct operand *x, void *const *buffers)
{
	size_t bytes = span_bytes(x);
	void *host = malloc(bytes + 64);

	if (host && bytes)
		exe->device->memory.read(exe->device, host, buffers[x->buffer], bytes);
	return host;
}

/* Between two copies; what has no memory is a failure of the device. */
void cuda_call_on_host(struct executable *exe, int kernel, void *const *buffers, struct pool *pool)
{
	const struct library_call *call = &exe->libraries[kernel];
	void **host = calloc((size_t)exe->lowered->n_buffers + 1, sizeof(*host));
	bool ok = host != NULL;

	for (int i = 0; i < call->node->n_args && ok; i++)
		if (call->arg[i].buffer >= 0 && !host[call->arg[i].buffer])
			ok = (host[call->arg[i].buffer] = fetch(exe, &call->arg[i], buffers));
	if (ok && !host[call->out.buffer])
		ok = (host[call->out.buffer] = malloc(span_bytes(&call->out) + 64));
	if (ok) {
		call->op->run(call, host, pool);
		exe->device->memory.write(exe->device, buffers[call->out.buffer],
					  host[call->out.buffer], span_bytes(&call->out));
	} else {
		cuda_check(exe->device, CUDA_ERROR_OUT_OF_MEMORY,
			   exe->lowered->kernels[kernel].name);
	}
	for (int i = 0; host && i < exe->lowered->n_buffers; i++)
		free(host[i]);
	free(host);
}
