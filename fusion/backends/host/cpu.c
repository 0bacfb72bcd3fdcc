/* fusion/backends/host/cpu.c -- generated C through the system compiler, loaded.
 *
 * One translation unit a graph.  Sizes are no part of the C: an entry of the
 * cache serves every size of the same program.
 */
#include "fusion/backends/host/host.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/host/builder.h"
#include "fusion/backends/host/emit.h"
#include "fusion/backends/host/executable.h"
#include "fusion/base/clock.h"

bool cpu_available(const struct backend_env *env, char *why, size_t why_bytes)
{
	struct toolchain t;
	struct err err = { 0 };

	if (toolchain_find(&t, env ? env->compiler : NULL, &err))
		return true;
	snprintf(why, why_bytes, "%s", err.message);
	return false;
}

/* A part of constants that nobody reads, where pass dce was left out. */
static void run_nothing(const void *code, const struct tile *t)
{
	(void)code, (void)t;
}

/* Points the plans at the functions of the loaded object. */
static bool bind_functions(struct executable *exe, struct err *err)
{
	for (int k = 0; k < exe->lowered->n_kernels; k++) {
		struct plan *plan = exe->plans[k];

		for (int i = 0; plan && i < plan->n_parts; i++) {
			char name[32];
			void *function;

			plan->code[i].run = run_nothing;
			if (!part_has_code(&plan->parts[i]))
				continue;
			snprintf(name, sizeof(name), "k%dp%d", k, i);
			function = dlsym(exe->handle, name);
			if (!function)
				return err_set(err, ERR_COMPILER,
					       "The compiled kernel has no function %s.", name);
			memcpy(&plan->code[i].run, &function, sizeof(function));
		}
	}
	return true;
}

static bool has_kernels(const struct executable *exe)
{
	for (int k = 0; k < exe->lowered->n_kernels; k++)
		if (exe->plans[k])
			return true;
	return false;
}

static bool load(const struct backend_env *env, struct executable *exe, const struct buf *source,
		 struct compile_stats *stats, struct err *err)
{
	struct cpu_build b = { .source = source->data,
			       .len = source->len,
			       .vector_bytes = exe->kernels->vector_bytes,
			       .timeout_ms = env->compile_timeout_ms,
			       .builder = env->builder };

	if (!toolchain_find(&b.toolchain, env->compiler, err))
		return false;
	cache_open(&b.cache, env->cache_dir, env->cache_bytes);
	b.cache.rebuild = env->cache_rebuild;
	exe->handle = build_load(&b, &stats->cached, err);
	if (b.cache.note[0])
		exe->note = strdup(b.cache.note);
	cache_close(&b.cache);
	return exe->handle && bind_functions(exe, err);
}

struct executable *cpu_compile(const struct backend_env *env, const struct lowered *l,
			       struct compile_stats *stats, struct err *err)
{
	int64_t begin = clock_ns();
	struct compile_stats unused;
	struct executable *exe = executable_create(env, l, err);
	struct buf source;

	if (!exe)
		return NULL;
	stats = stats ? stats : &unused;
	*stats = (struct compile_stats){ 0 };
	buf_init(&source, 0);
	if (has_kernels(exe) &&
	    (!emit_source(&source, exe->plans, l->n_kernels, exe->kernels->vector_bytes, err) ||
	     !load(env, exe, &source, stats, err))) {
		buf_finish(&source);
		executable_destroy(exe);
		return NULL;
	}
	exe->source = has_kernels(exe) ? buf_steal(&source) : NULL;
	stats->source = exe->source;
	stats->note = exe->note;
	stats->kernels_built = stats->cached || !exe->handle ? 0 : l->n_kernels;
	stats->compile_ns = clock_ns() - begin;
	return exe;
}
