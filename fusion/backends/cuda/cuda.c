/* fusion/backends/cuda/cuda.c -- the backend: a graph as one module of kernels.
 *
 * A kernel is compiled as wide as its sizes allow.  Where memory lies at an odd
 * address (a view of a tensor that begins in its middle), the graph's kernels
 * are compiled once more for any address.
 *
 */
#include "fusion/backends/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/cache.h"
#include "fusion/backends/cuda/calls.h"
#include "fusion/backends/cuda/compile.h"
#include "fusion/backends/cuda/module.h"
#include "fusion/backends/cuda/recording.h"
#include "fusion/base/clock.h"

extern const char cuda_words_text[]; /* words.cu, see Makefile */

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "The system has no memory left to prepare kernels.");
}

/* Plans the kernels and writes the module's text. */
static bool write_source(struct executable *exe, struct version *v, int lanes, struct err *err)
{
	struct buf out;

	buf_init(&out, 0);
	buf_puts(&out, cuda_words_text);
	if (v == &exe->wide)
		cuda_emit_calls(&out, exe);
	for (int i = 0; i < exe->lowered->n_kernels; i++) {
		if (!cuda_walks(exe, i))
			continue;
		if (!cuda_kernel_plan(&v->kernels[i], exe->lowered, i, lanes))
			out.failed = true;
		else
			cuda_kernel_emit(&out, &v->kernels[i]);
	}
	v->source = out.failed ? NULL : buf_steal(&out);
	if (!v->source)
		buf_finish(&out);
	return v->source || no_memory(err);
}

static bool find_functions(struct executable *exe, struct version *v, struct err *err)
{
	struct device *d = exe->device;

	for (int i = 0; i < exe->lowered->n_kernels; i++) {
		struct launch *l = &v->launches[i];
		CUfunction function;
		char name[32];

		if (!cuda_walks(exe, i))
			continue;
		snprintf(name, sizeof(name), "k%d", i);
		if (!cuda_check(d, d->api.cuModuleGetFunction(&function, v->module, name),
				"cuModuleGetFunction"))
			return cuda_device_fault(d, err);
		if (!launch_create(l, &v->kernels[i], function, d, err))
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

/* From the cache, or compiled and kept there. */
static char *take_cubin(struct executable *exe, const char *source, bool *cached, size_t *bytes,
			struct err *err)
{
	struct device *d = exe->device;
	size_t len = strlen(source);
	char key[HASH_HEX_BYTES], identity[128];
	struct cache cache;
	struct buf all;
	char *cubin;

	buf_init(&all, 0);
	cuda_compiler_identity(&d->api, identity, sizeof(identity));
	buf_printf(&all, "%s sm_%d\n%s", identity, d->architecture, source);
	if (all.failed) {
		buf_finish(&all);
		no_memory(err);
		return NULL;
	}
	hash_hex(all.data, all.len, key);
	buf_finish(&all);
	cache_open(&cache, exe->cache_dir, exe->cache_bytes);
	cache.anew = exe->cache_anew;
	cubin = cache_read(&cache, key, source, len, bytes);
	*cached = cubin != NULL;
	if (!cubin) {
		cubin = cuda_compile(&d->api, d->architecture, source, bytes, err);
		if (cubin)
			cache_write(&cache, key, source, len, cubin, *bytes);
	}
	if (cache.note[0] && !exe->note)
		exe->note = strdup(cache.note);
	cache_close(&cache);
	return cubin;
}

bool cuda_load(struct executable *exe, const char *source, CUmodule *module, bool *cached,
	       struct err *err)
{
	struct device *d = exe->device;
	size_t bytes;
	char *cubin = take_cubin(exe, source, cached, &bytes, err);
	bool ok = cubin &&
		  (cuda_check(d, d->api.cuModuleLoadData(module, cubin), "cuModuleLoadData") ||
		   cuda_device_fault(d, err));

	free(cubin);
	return ok;
}

/* Makes the kernels for addresses that are multiples of `lanes` elements. */
static bool make(struct executable *exe, struct version *v, int lanes, struct err *err)
{
	size_t n = (size_t)exe->lowered->n_kernels + 1;

	v->made = true;
	v->kernels = calloc(n, sizeof(*v->kernels));
	v->launches = calloc(n, sizeof(*v->launches));
	if (!v->kernels || !v->launches)
		return no_memory(err);
	return write_source(exe, v, lanes, err) &&
	       cuda_load(exe, v->source, &v->module, &v->cached, err) &&
	       find_functions(exe, v, err);
}

static bool bind_version(struct executable *exe, struct version *v, struct err *err)
{
	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (cuda_walks(exe, i) &&
		    !launch_bind(&v->launches[i], exe->device, &v->scratch, exe->vars, err))
			return false;
	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (cuda_walks(exe, i))
			launch_use_scratch(&v->launches[i], &v->scratch);
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
			launch_finish(&v->launches[i]);
	}
	scratch_finish(&v->scratch, exe->device);
	if (v->module)
		exe->device->api.cuModuleUnload(v->module);
	free(v->kernels);
	free(v->launches);
	free(v->source);
}

static void destroy(struct executable *exe)
{
	if (!exe)
		return;
	cuda_settle(exe->device);
	cuda_keep_fault(exe->device);
	cuda_drop_calls(exe);
	drop_version(exe, &exe->wide);
	drop_version(exe, &exe->narrow);
	free(exe->vars);
	free(exe->note);
	free(exe);
}

static bool has_kernels(const struct executable *exe)
{
	for (int i = 0; i < exe->lowered->n_kernels; i++)
		if (cuda_walks(exe, i) || cuda_has_functions(exe, i))
			return true;
	return false;
}

static bool prepare(struct executable *exe, struct err *err)
{
	size_t n_vars = (size_t)sym_var_count(exe->lowered->graph->syms) + 1;

	exe->vars = calloc(n_vars, sizeof(*exe->vars));
	if (!exe->vars)
		return no_memory(err);
	if (!cuda_prepare_calls(exe, err))
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
		no_memory(err);
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
	exe->cache_anew = env->cache_anew;
	if (!prepare(exe, err)) {
		destroy(exe);
		return NULL;
	}
	stats->source = exe->wide.source;
	stats->note = exe->note;
	stats->cached = exe->wide.cached;
	stats->kernels_built = exe->wide.made && !exe->wide.cached ? l->n_kernels : 0;
	stats->compile_ns = clock_ns() - begin;
	return exe;
}

static bool bind(struct executable *exe, const int64_t *vars, struct err *err)
{
	const struct lowered *l = exe->lowered;
	size_t n_vars = (size_t)sym_var_count(l->graph->syms);

	if (n_vars)
		memcpy(exe->vars, vars, n_vars * sizeof(*vars));
	exe->looks_up = false;
	for (int i = 0; i < l->n_kernels; i++)
		if (cuda_calls(exe, i) && !cuda_bind_call(exe, i, err))
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

struct launch *cuda_launch_for(struct executable *exe, int kernel, void *const *buffers)
{
	struct launch *l = &exe->wide.launches[kernel];

	return __builtin_expect(launch_fits(l, buffers), 1) ? l : &narrow(exe)->launches[kernel];
}

void cuda_walk(struct executable *exe, int kernel, void *const *buffers, bool backward)
{
	struct launch *l = cuda_launch_for(exe, kernel, buffers);

	if (l->function)
		launch_run(l, exe->device, buffers, backward);
}

/* What no launch finds as another left it (counts of blocks are zeros between two). */
static void poison_scratch(const struct device *d, const struct scratch *s)
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
		cuda_call(exe, kernel, buffers);
	else if (cuda_calls(exe, kernel))
		cuda_call_on_host(exe, kernel, buffers, pool);
	if (cuda_walks(exe, kernel) && !exe->takes_sum[kernel])
		cuda_walk(exe, kernel, buffers, backward);
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
	return cuda_call_faulted(exe, err) && cuda_device_fault(exe->device, err);
}

/* Of the version that is launched unless memory lies oddly. */
static bool use(struct executable *exe, int kernel, struct kernel_use *out)
{
	const struct version *v = exe->wide.made ? &exe->wide : &exe->narrow;

	return v->made && cuda_walks(exe, kernel) && v->launches[kernel].function &&
	       launch_use(&v->launches[kernel], exe->device, out);
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

/* Libraries are given the stream too: blas.c, lt.c, dnn.c. */
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
