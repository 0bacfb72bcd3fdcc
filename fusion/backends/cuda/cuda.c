/* fusion/backends/cuda/cuda.c -- the backend: a graph as one module of kernels.
 *
 * A kernel is compiled as wide as its sizes allow.  Where memory lies at an odd
 * address (a view of a tensor that begins in its middle), the graph's kernels
 * are compiled once more for any address.
 */
#include "fusion/backends/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/cuda/compile.h"
#include "fusion/backends/cuda/tune.h"
#include "fusion/backends/cuda/module.h"
#include "fusion/backends/cuda/device/device.h"
#include "fusion/base/clock.h"

/* The .cu files, see Makefile. */
extern const char cuda_intrinsics_text[], cuda_args_text[], cuda_library_text[], cuda_index_text[],
    cuda_scan_text[], cuda_sort_text[], cuda_window_text[], cuda_create_text[],
    cuda_attention_text[], cuda_random_text[];

static void walk(struct executable *exe, int kernel, void *const *buffers, bool backward);

static const char *const part_texts[PARTS] = {
	[PART_INDEX] = cuda_index_text,   [PART_SCAN] = cuda_scan_text,
	[PART_SORT] = cuda_sort_text,     [PART_WINDOW] = cuda_window_text,
	[PART_CREATE] = cuda_create_text, [PART_ATTENTION] = cuda_attention_text,
	[PART_RANDOM] = cuda_random_text
};

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "The system has no memory left to prepare calls.");
}

/* ---- ops with a function of their own
 *
 * Where an op has no function here it runs on the host, between two copies: slow, and correct.
 */

static const struct cuda_library *library_of(const struct executable *exe, int kernel)
{
	return cuda_calls(exe, kernel) ? cuda_library_find(exe->lowered->kernels[kernel].op) : NULL;
}

static bool is_late(const struct executable *exe, int kernel)
{
	const struct cuda_library *library = library_of(exe, kernel);

	return library->late ||
	       (library->late_for &&
		library->late_for(exe->lowered->graph, exe->lowered->kernels[kernel].library));
}

/* Whether the graph's module has functions for the op that a kernel begins with. */
static bool has_functions(const struct executable *exe, int kernel)
{
	const struct cuda_library *library = library_of(exe, kernel);

	return library && library->emit && !is_late(exe, kernel);
}

static bool prepare_calls(struct executable *exe, struct err *err)
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

static void drop_modules(struct executable *exe, struct cuda_modules *m)
{
	for (int i = 0; i < m->n; i++)
		exe->device->api.cuModuleUnload(m->at[i]);
	free(m->source);
	*m = (struct cuda_modules){ 0 };
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

/* Room for all of them; the functions' text, after intrinsics.cu. */
static void drop_calls(struct executable *exe)
{
	for (int i = 0; i < exe->lowered->n_kernels; i++) {
		if (exe->libraries)
			free(exe->libraries[i].state);
		if (exe->states)
			drop_state(exe, i);
		if (exe->late)
			drop_modules(exe, &exe->late[i]);
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
		if ((wanted[i] || (i == PART_SCAN && wanted[PART_SORT])) && part_texts[i])
			buf_puts(out, part_texts[i]);
}

static void emit_calls(struct buf *out, const struct executable *exe)
{
	bool wanted[PARTS] = { false }, any = false;

	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (has_functions(exe, i))
			any = wanted[library_of(exe, i)->part] = true;
	if (any)
		emit_texts(out, wanted);
	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (has_functions(exe, i))
			library_of(exe, i)->emit(out, exe->lowered->graph,
						 exe->lowered->kernels[i].library, i);
}

static void begin_texts(struct cuda_texts *t)
{
	buf_init(&t->head, 0);
	buf_init(&t->calls, 0);
	buf_puts(&t->head, cuda_intrinsics_text);
}

static void finish_texts(struct cuda_texts *t)
{
	for (int i = 0; i < t->n; i++)
		buf_finish(&t->kernels[i].text);
	free(t->kernels);
	buf_finish(&t->head);
	buf_finish(&t->calls);
}

/* The functions of one op as a module of their own. */
static bool make_late(struct executable *exe, int kernel, struct err *err)
{
	const struct cuda_library *library = library_of(exe, kernel);
	bool wanted[PARTS] = { false }, ok;
	struct cuda_texts t = { .kernels = NULL };

	wanted[library->part] = true;
	begin_texts(&t);
	emit_texts(&t.calls, wanted);
	library->emit(&t.calls, exe->lowered->graph, exe->lowered->kernels[kernel].library, kernel);
	drop_modules(exe, &exe->late[kernel]);
	ok = cuda_compile_texts(exe, &t, &exe->late[kernel], err);
	finish_texts(&t);
	return ok;
}

static bool bind_call(struct executable *exe, int kernel, struct err *err)
{
	const struct lowered *l = exe->lowered;
	struct library_call *call = &exe->libraries[kernel];
	const struct cuda_library *library = library_of(exe, kernel);
	enum placing placing = ON_HOST;
	struct cuda_call *c = &exe->calls[kernel];

	drop_state(exe, kernel);
	free(call->state);
	if (!library_bind(call,
			  &(struct library_site){ .lowered = l,
						  .kernel = &l->kernels[kernel],
						  .kernels = exe->table,
						  .random = exe->random,
						  .vars = exe->vars },
			  err))
		return false;
	call->fault = &exe->fault;
	*c = (struct cuda_call){ .call = call,
				 .device = exe->device,
				 .kernel = kernel,
				 .exe = exe,
				 .walk = walk,
				 .takes_sum = &exe->takes_sum[kernel] };
	exe->takes_sum[kernel] = false;
	if (cuda_epilogue_sum(l, kernel, &exe->sums[kernel]))
		c->sum = &exe->sums[kernel];
	if (library) {
		c->module = is_late(exe, kernel) ? exe->late[kernel].at[0]
						 : exe->wide.modules.at[0];
		placing = library->bind(c, &exe->states[kernel], err);
	}
	if (placing == WANTS_KERNELS) {
		drop_state(exe, kernel);
		if (!make_late(exe, kernel, err))
			return false;
		c->module = exe->late[kernel].at[0];
		placing = library->bind(c, &exe->states[kernel], err);
	}
	exe->on_device[kernel] = placing == ON_DEVICE ? library : NULL;
	exe->looks_up |= placing == ON_DEVICE && library->looks_up;
	if (placing == ON_HOST)
		return library_take_room(call, &exe->room, err);
	return placing != NOWHERE;
}

static void call_function(struct executable *exe, int kernel, void *const *buffers)
{
	exe->device->calls++;
	exe->on_device[kernel]->run(&exe->calls[kernel], exe->states[kernel], buffers);
	cuda_check_launch(exe->device, CUDA_SUCCESS, exe->lowered, kernel);
}

/* Whether a kernel of the version reads what indices name. */
static bool version_looks_up(const struct executable *exe, const struct version *v)
{
	bool any = false;

	for (int i = 0; v->made && i < exe->lowered->n_kernels && !any; i++)
		any = v->kernels[i].sites.len > 0;
	return any;
}

/* False with VALUE: an index was out of bounds.  Waits for the device where ops that look
 * something up have run. */
static bool call_faulted(struct executable *exe, struct err *err)
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
static void call_on_host(struct executable *exe, int kernel, void *const *buffers,
			 struct pool *pool)
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

/* ---- modules */

static bool no_memory_for_kernels(struct err *err)
{
	return err_set(err, ERR_MEMORY, "The system has no memory left to prepare kernels.");
}

/* Plans the kernels and writes their texts. */
static bool write_texts(struct executable *exe, struct version *v, int lanes, struct cuda_texts *t,
			struct err *err)
{
	const struct lowered *l = exe->lowered;

	begin_texts(t);
	cuda_kernel_words(&t->head, l->kernels, l->n_kernels);
	if (v == &exe->wide)
		emit_calls(&t->calls, exe);
	t->kernels = calloc((size_t)l->n_kernels + 1, sizeof(*t->kernels));
	t->n = t->kernels ? l->n_kernels : 0;
	for (int i = 0; i < t->n; i++)
		if (cuda_walks(exe, i) &&
		    (!cuda_kernel_plan(&v->kernels[i], l, i, lanes, CHOICE_PLANNED) ||
		     !cuda_text_write(&t->kernels[i], &v->kernels[i])))
			return no_memory_for_kernels(err);
	return t->kernels || no_memory_for_kernels(err);
}

static bool find_functions(struct executable *exe, struct version *v, const struct cuda_texts *t,
			   struct err *err)
{
	struct device *d = exe->device;

	for (int i = 0; i < exe->lowered->n_kernels; i++) {
		struct cuda_launch *l = &v->launches[i];
		CUfunction function;
		char name[32];

		if (!cuda_walks(exe, i))
			continue;
		snprintf(name, sizeof(name), "k%d", t->kernels[i].first);
		if (!cuda_check(d,
				d->api.cuModuleGetFunction(
				    &function, v->modules.at[t->kernels[i].module], name),
				"cuModuleGetFunction"))
			return cuda_device_fault(d, err);
		if (!cuda_launch_create(l, &v->kernels[i], function, d, &exe->fault, err))
			return false;
		if (exe->lowered->kernels[i].n_slots > 0 && !v->kernels[i].registers)
			cuda_check(d,
				   d->api.cuFuncSetAttribute(
				       l->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       d->shared_bytes - 16384),
				   "cuFuncSetAttribute");
	}
	return true;
}

/* Makes the kernels for addresses that are multiples of `lanes` elements. */
static bool make(struct executable *exe, struct version *v, int lanes, struct err *err)
{
	size_t n = (size_t)exe->lowered->n_kernels + 1;
	struct cuda_texts t = { .kernels = NULL };
	bool ok;

	v->made = true;
	v->kernels = calloc(n, sizeof(*v->kernels));
	v->launches = calloc(n, sizeof(*v->launches));
	if (!v->kernels || !v->launches)
		return no_memory_for_kernels(err);
	ok = write_texts(exe, v, lanes, &t, err) && cuda_tune(exe, v, lanes, &t, err) &&
	     cuda_compile_texts(exe, &t, &v->modules, err) && find_functions(exe, v, &t, err);
	finish_texts(&t);
	return ok;
}

static bool bind_version(struct executable *exe, struct version *v, struct err *err)
{
	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (cuda_walks(exe, i) &&
		    !cuda_launch_bind(&v->launches[i], exe->device, &v->scratch, exe->vars, err))
			return false;
	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (cuda_walks(exe, i))
			cuda_launch_use_scratch(&v->launches[i], &v->scratch);
	return true;
}

static void drop_version(struct executable *exe, struct version *v)
{
	if (!v->made)
		return;
	for (int i = 0; i < exe->lowered->n_kernels; i++) {
		if (v->kernels)
			cuda_kernel_finish(&v->kernels[i]);
		if (v->launches)
			cuda_launch_finish(&v->launches[i]);
	}
	cuda_scratch_finish(&v->scratch, exe->device);
	drop_modules(exe, &v->modules);
	free(v->tried);
	free(v->kernels);
	free(v->launches);
}

static void destroy(struct executable *exe)
{
	if (!exe)
		return;
	cuda_settle(exe->device);
	cuda_keep_fault(exe->device);
	drop_calls(exe);
	drop_version(exe, &exe->wide);
	drop_version(exe, &exe->narrow);
	free(exe->room.at);
	free(exe->vars);
	free(exe->note);
	free(exe);
}

static bool has_kernels(const struct executable *exe)
{
	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (cuda_walks(exe, i) || has_functions(exe, i))
			return true;
	return false;
}

static bool prepare(struct executable *exe, struct err *err)
{
	size_t n_vars = (size_t)sym_var_count(exe->lowered->graph->syms) + 1;

	exe->vars = calloc(n_vars, sizeof(*exe->vars));
	if (!exe->vars)
		return no_memory_for_kernels(err);
	if (!prepare_calls(exe, err))
		return false;
	return !has_kernels(exe) || make(exe, &exe->wide, CUDA_MAX_LANES, err);
}

static struct executable *compile(const struct backend_env *env, const struct lowered *l,
				  struct compile_stats *stats, struct err *err)
{
	struct executable *exe = calloc(1, sizeof(*exe));
	int64_t begin = clock_ns();
	struct compile_stats unused;

	if (!exe) {
		no_memory_for_kernels(err);
		return NULL;
	}
	stats = stats ? stats : &unused;
	*stats = (struct compile_stats){ 0 };
	exe->lowered = l;
	exe->device = env->device;
	exe->device->fence = env->fence;
	exe->table = kernels_here();
	exe->random = env->random;
	exe->cache_dir = env->cache_dir;
	exe->cache_bytes = env->cache_bytes;
	exe->cache_rebuild = env->cache_rebuild;
	exe->autotune = env->autotune;
	if (!prepare(exe, err)) {
		destroy(exe);
		return NULL;
	}
	stats->source = exe->wide.modules.source;
	stats->note = exe->note;
	stats->cached = exe->wide.modules.cached;
	stats->kernels_built = exe->wide.made && !exe->wide.modules.cached ? l->n_kernels : 0;
	stats->compile_ns = clock_ns() - begin;
	return exe;
}

static bool bind(struct executable *exe, const int64_t *vars, struct err *err)
{
	const struct lowered *l = exe->lowered;
	size_t n_vars = (size_t)sym_var_count(l->graph->syms);

	if (n_vars)
		memcpy(exe->vars, vars, n_vars * sizeof(*vars));
	/* Both versions read the same. */
	exe->looks_up = version_looks_up(exe, &exe->wide) || version_looks_up(exe, &exe->narrow);
	for (int i = 0; i < l->n_kernels; i++)
		if (cuda_calls(exe, i) && !bind_call(exe, i, err))
			return false;
	return (!exe->wide.made || bind_version(exe, &exe->wide, err)) &&
	       (!exe->narrow.made || bind_version(exe, &exe->narrow, err));
}

/* The kernels for any address, once one needs them. */
static struct version *narrow(struct executable *exe)
{
	struct err err = { 0 };

	if (!exe->narrow.made &&
	    (!make(exe, &exe->narrow, 1, &err) || !bind_version(exe, &exe->narrow, &err)))
		cuda_check(exe->device, CUDA_ERROR_INVALID_SOURCE, err.message);
	return &exe->narrow;
}

struct cuda_launch *cuda_launch_for(struct executable *exe, int kernel, void *const *buffers)
{
	struct cuda_launch *l = &exe->wide.launches[kernel];

	return __builtin_expect(cuda_launch_fits(l, buffers), 1) ? l
								 : &narrow(exe)->launches[kernel];
}

static void walk(struct executable *exe, int kernel, void *const *buffers, bool backward)
{
	struct cuda_launch *l = cuda_launch_for(exe, kernel, buffers);

	if (l->function)
		cuda_launch_run(l, exe->device, buffers, backward);
}

/* What no launch finds as another left it (counts of blocks are zeros between two). */
static void poison_scratch(const struct device *d, const struct cuda_scratch *s)
{
	const struct {
		uint64_t at;
		size_t bytes;
	} all[] = { { s->parts, s->parts_bytes },
		    { s->slots, s->slots_bytes },
		    { d->workspace, d->workspace_bytes } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].at)
			fence_poison(d->fence, (void *)all[i].at, all[i].bytes);
}

void cuda_launch(struct executable *exe, int kernel, void *const *buffers, struct pool *pool,
		 bool backward)
{
	if (__builtin_expect(exe->device->fence != NULL, 0)) {
		poison_scratch(exe->device, &exe->wide.scratch);
		poison_scratch(exe->device, &exe->narrow.scratch);
	}
	if (exe->on_device[kernel])
		call_function(exe, kernel, buffers);
	else if (cuda_calls(exe, kernel))
		call_on_host(exe, kernel, buffers, pool);
	if (cuda_walks(exe, kernel) && !exe->takes_sum[kernel])
		walk(exe, kernel, buffers, backward);
}

static bool on_host(const struct graph *g, const struct node *n)
{
	(void)g;
	return op_info(n->op)->kind == KIND_LIBRARY && !cuda_library_find(n->op);
}

/* Tensor cores as attention.cu wants them, and copies past the registers. */
static bool has_calls(const struct device *d)
{
	return d->architecture >= 80;
}

static bool fault(struct executable *exe, struct err *err)
{
	return call_faulted(exe, err) && cuda_device_fault(exe->device, err);
}

/* Of the version that is launched unless memory lies oddly. */
static bool use(struct executable *exe, int kernel, struct kernel_use *out)
{
	const struct version *v = exe->wide.made ? &exe->wide : &exe->narrow;

	if (!v->made || !cuda_walks(exe, kernel) || !v->launches[kernel].function ||
	    !cuda_launch_use(&v->launches[kernel], exe->device, out))
		return false;
	out->tried = v->tried ? v->tried[kernel] : (struct kernel_tried){ 0 };
	return true;
}

static bool available(const struct backend_env *env, char *why, size_t why_bytes)
{
	struct err err = { 0 };

	(void)env;
	if (cuda_device_present(&err))
		return true;
	snprintf(why, why_bytes, "%s", err.message);
	return false;
}

static const struct device_memory *memory(struct device *d)
{
	return &d->memory;
}

static int64_t launches(const struct device *d)
{
	return d->launches;
}

/* Blocks of 256, as many as the multiprocessors have room for. */
static int64_t draw_threads(const struct device *d)
{
	return (int64_t)d->multiprocessors * (d->threads_each / 256) * 256;
}

/* Libraries are given the stream too: library/blas.c, lt.c, conv.c. */
static struct device_order order(const struct device *d)
{
	return (struct device_order){ .streams = 1,
				      .launches = d->launches,
				      .graphs = d->graphs,
				      .calls = d->calls,
				      .copies = d->copies,
				      .sets = d->sets,
				      .waits = d->waits };
}

static bool launch_nothing(struct device *d, int n)
{
	if (!d->nothing)
		d->nothing = d->memory.get(d, sizeof(uint32_t));
	for (int i = 0; d->nothing && i < n; i++)
		cuda_check(d, d->api.cuMemsetD32Async((CUdeviceptr)d->nothing, 0, 1, d->stream),
			   "setting a word");
	cuda_check(d, d->api.cuStreamSynchronize(d->stream), "waiting for the device");
	return d->nothing && d->failed == CUDA_SUCCESS;
}

const struct backend backend_cuda = {
	.name = "cuda",
	.purpose = "CUDA C through NVRTC on an NVIDIA GPU, a kernel for each group of ops",
	.on_device = true,
	.available = available,
	.lacks = cuda_lacks,
	.open = cuda_device_open,
	.close = cuda_device_close,
	.memory = memory,
	.launches = launches,
	.draw_threads = draw_threads,
	.launch_nothing = launch_nothing,
	.order = order,
	.on_host = on_host,
	.has_calls = has_calls,
	.compile = compile,
	.bind = bind,
	.launch = cuda_launch,
	.fault = fault,
	.destroy = destroy,
	.record = cuda_record,
	.point = cuda_point,
	.replay = cuda_replay,
	.whole = cuda_whole,
	.why_direct = cuda_why_direct,
	.erase = cuda_erase,
	.use = use,
};
