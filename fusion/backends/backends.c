/* fusion/backends/backends.c -- the table of backends, and what the processor has. */
#include <string.h>

#include "fusion/backends/cpu.h"
#include "fusion/backends/cuda/cuda.h"
#include "fusion/backends/interp.h"

static const struct backend *const backends[] = { &backend_interp, &backend_cpu, &backend_cuda };

enum { BACKENDS = sizeof(backends) / sizeof(backends[0]) };

const struct backend *backend_find(const char *name)
{
	for (int i = 0; i < BACKENDS; i++)
		if (strcmp(backends[i]->name, name) == 0)
			return backends[i];
	return NULL;
}

bool backend_available(const struct backend *backend, const struct backend_env *env, char *why,
		       size_t why_bytes)
{
	struct backend_env mine = *env;

	mine.backend = backend;
	return backend->available(&mine, why, why_bytes);
}

struct executable *backend_compile(const struct backend *backend, const struct backend_env *env,
				   const struct lowered *l, struct compile_stats *stats,
				   struct err *err)
{
	struct backend_env mine = *env;

	mine.backend = backend;
	return backend->compile(&mine, l, stats, err);
}

int backend_count(void)
{
	return BACKENDS;
}

const struct backend *backend_at(int index)
{
	return backends[index];
}

/* What the flags that simd/kernels.c is compiled with (Makefile) ask for. */
const struct kernel_table *kernels_named(const char *unit)
{
	bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
	bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
		      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
		      __builtin_cpu_supports("avx512vl");

	if (avx512 && (!unit || !strcmp(unit, kernels_avx512.unit)))
		return &kernels_avx512;
	if (avx2 && (!unit || !strcmp(unit, kernels_avx2.unit)))
		return &kernels_avx2;
	return !unit || !strcmp(unit, kernels_sse.unit) ? &kernels_sse : NULL;
}

const struct kernel_table *kernels_here(void)
{
	return kernels_named(NULL);
}

const char *backend_vector_unit(void)
{
	return kernels_here()->unit;
}
