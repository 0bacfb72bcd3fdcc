/* fusion/session/fusion_engine.c -- an engine: what its sessions share.
 *
 * The allocator, the thread pool, the choice of backend and of the device that its
 * kernels run on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fusion/vm/prelude.h"
#include "fusion/session/fusion_private.h"
#include "fusion/session/plugin_private.h"

enum { COMPILE_TIMEOUT_MS = 300000, MAX_THREADS = 256 };

static const size_t DEFAULT_MEMORY_BYTES = (size_t)4 << 30;

enum { STEPS_A_ROUND = 4 }; /* of eager, at the least: a test and a jump */

static bool known_backend(struct fusion *f, const char *name, struct err *err)
{
	struct buf names;

	f->backend = registry_backend(f->options.registry, name);
	if (f->backend)
		return true;
	buf_init(&names, 256);
	registry_backend_names(f->options.registry, &names);
	err_set(err, ERR_NAME, "there is no backend %.64s; there are %s", name,
		names.data ? names.data : "none");
	buf_finish(&names);
	return false;
}

/* A backend that was asked for must work; else cpu where it does, or interp. */
static bool choose_backend(struct fusion *f, const char *name, struct err *err)
{
	char why[192] = "";

	if (!known_backend(f, name ? name : "cpu", err))
		return false;
	if (backend_available(f->backend, &f->env.backend_env, why, sizeof(why)))
		return true;
	if (name && f->backend->on_device)
		return err_set(err, ERR_NO_DEVICE,
			       "the device %s does not work here: %s; leave the device out, or "
			       "choose cpu",
			       name, why);
	if (name)
		return err_set(err, ERR_COMPILER, "the backend %s does not work here: %s", name,
			       why);
	snprintf(f->note, sizeof(f->note), "backend interp instead of cpu: %s", why);
	return known_backend(f, "interp", err);
}

/* 0: the cache's own bound. */
static size_t cache_bytes(const struct fusion_options *options)
{
	const char *mib = getenv("BREAKEVEN_CACHE_MIB");
	long n = mib && !options->cache_bytes ? strtol(mib, NULL, 10) : 0;

	return n > 0 && n < 1 << 24 ? (size_t)n << 20 : options->cache_bytes;
}

/* Where the backend's kernels run. */
static bool take_memory(struct fusion *f, struct err *err)
{
	const struct backend *backend = f->backend;
	const struct device_memory *memory = NULL;
	size_t bytes = f->options.memory_bytes ? f->options.memory_bytes : DEFAULT_MEMORY_BYTES,
	       has;

	if (backend->open) {
		f->env.backend_env.device = backend->open(err);
		if (!f->env.backend_env.device)
			return false;
		memory = backend->memory(f->env.backend_env.device);
		has = memory->free_bytes(memory->self);
		if (!f->options.memory_bytes && has > bytes)
			bytes = has; /* what a device has is for the program alone */
		f->env.device = backend;
		f->random.gpu.threads = backend->draw_threads(f->env.backend_env.device);
	}
	f->env.allocator = allocator_create(bytes, memory);
	if (!f->env.allocator)
		return err_set(err, ERR_MEMORY, "out of memory for an engine");
	if (f->env.backend_env.fence)
		allocator_set_fence(f->env.allocator, f->env.backend_env.fence);
	return true;
}

struct fusion *fusion_create(const struct fusion_options *options, struct err *err)
{
	struct fusion *f = calloc(1, sizeof(*f));
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (!f) {
		err_set(err, ERR_MEMORY, "out of memory for an engine");
		return NULL;
	}
	f->options = *options;
	if (f->options.references > FUSION_MOST_REFERENCES)
		f->options.references = FUSION_MOST_REFERENCES;
	f->threads = options->threads > 0 ? options->threads : cores > 0 ? (int)cores : 1;
	if (f->threads > MAX_THREADS)
		f->threads = MAX_THREADS;
	if (f->options.recompile_limit <= 0)
		f->options.recompile_limit = RECOMPILE_LIMIT;
	f->cache_dir = options->cache_dir ? strdup(options->cache_dir) : NULL;
	f->env.backend_env = (struct backend_env){ .cache_dir = f->cache_dir,
						   .cache_bytes = cache_bytes(options),
						   .cache_rebuild = options->cache_rebuild,
						   .autotune = options->autotune,
						   .compile_timeout_ms = COMPILE_TIMEOUT_MS,
						   .random = &f->random,
						   .blas = backend_blas_create() };
	generators_seed(&f->random, TWISTER_SEED);
	f->env.pool = pool_create(f->threads);
	f->env.passes = registry_passes(options->registry);
	f->env.custom = registry_ops(options->registry);
	f->env.backend_env.builder = options->registry ? options->registry->builder : NULL;
	f->env.files = &f->options.files;
	f->env.changes = &f->changes;
	f->env.rounds = options->steps / STEPS_A_ROUND;
	f->env.preludes = prelude_programs_create();
	if (options->poison)
		f->env.backend_env.fence = fence_create();
	if (!f->env.pool || !f->env.backend_env.blas || !f->env.preludes ||
	    (options->poison && !f->env.backend_env.fence) ||
	    (options->cache_dir && !f->cache_dir)) {
		err_set(err, ERR_MEMORY, "out of memory for an engine of %d threads", f->threads);
		fusion_destroy(f);
		return NULL;
	}
	if (!choose_backend(f, options->backend, err) || !take_memory(f, err)) {
		fusion_destroy(f);
		return NULL;
	}
	return f;
}

bool registry_builder_start(const struct registry *r, const char *cache_dir,
			    void (*confine)(void *self), void *self, struct err *err)
{
	const struct fusion_options options = { 0 };
	const struct kernel_builder_options start = { .cache_dir = cache_dir,
						      .cache_bytes = cache_bytes(&options),
						      .confine = confine,
						      .self = self };

	return !r || kernel_builder_start(r->builder, &start, err);
}

void fusion_destroy(struct fusion *f)
{
	if (!f)
		return;
	prelude_programs_destroy(f->env.preludes);
	pool_destroy(f->env.pool);
	backend_blas_destroy(f->env.backend_env.blas);
	allocator_destroy(f->env.allocator);
	if (f->env.backend_env.device)
		f->backend->close(f->env.backend_env.device);
	fence_destroy(f->env.backend_env.fence);
	free(f->cache_dir);
	free(f);
}

struct fusion_facts fusion_facts(const struct fusion *f)
{
	const struct device_memory *device = allocator_device(f->env.allocator);

	return (struct fusion_facts){ .backend = f->backend->name,
				      .backend_note = f->note[0] ? f->note : NULL,
				      .threads = f->threads,
				      .device = device ? device->name : NULL,
				      .device_cache_bytes = device ? device->cache_bytes : 0,
				      .device_own_bytes = device ? device->own_bytes : 0 };
}

const char *fusion_blas_note(struct fusion *f)
{
	return backend_blas_note(f->env.backend_env.blas);
}

struct allocator *fusion_allocator(struct fusion *f)
{
	return f->env.allocator;
}

const char *fusion_vector_unit(void)
{
	return backend_vector_unit();
}

bool fusion_device_order(const struct fusion *f, struct device_order *out)
{
	if (!f->env.device || !f->env.device->order)
		return false;
	*out = f->env.device->order(f->env.backend_env.device);
	return true;
}

bool fusion_launch_nothing(struct fusion *f, int n)
{
	return f->env.device && f->env.device->launch_nothing &&
	       f->env.device->launch_nothing(f->env.backend_env.device, n);
}

struct fence_counts fusion_fence_counts(const struct fusion *f)
{
	const struct fence *fence = f->env.backend_env.fence;

	return fence ? fence_counts(fence) : (struct fence_counts){ 0 };
}

bool fusion_wait(struct fusion *f, struct err *err)
{
	const struct device_memory *device = allocator_device(f->env.allocator);

	if (!device)
		return true;
	device->wait(device->self);
	return device->check(device->self, err);
}
