/* fusion/backends/backends.c -- the table of backends. */
#include "fusion/backends/backends.h"

#include <string.h>

#include "fusion/backends/cuda/cuda.h"
#include "fusion/backends/host/host.h"
#include "fusion/backends/simd/simd.h"

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

const struct backend *backend_at(int index)
{
	return index < BACKENDS ? backends[index] : NULL;
}

const char *backend_vector_unit(void)
{
	return kernels_here()->unit;
}
