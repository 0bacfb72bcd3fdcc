/* fusion/backends/host/builder.h -- kernels made by the system compiler: here, or by a process
 * that does it for one whose rights are too few (backends.h).
 */
#ifndef FUSION_BACKENDS_HOST_BUILDER_H
#define FUSION_BACKENDS_HOST_BUILDER_H

#include <limits.h>

#include "fusion/backends/backends.h"
#include "fusion/backends/cache/cache.h"
#include "fusion/backends/host/toolchain.h"

/* The C of a graph's kernels, and what compiles and keeps it. */
struct cpu_build {
	const char *source;
	size_t len;
	int vector_bytes, timeout_ms;
	struct toolchain toolchain;
	struct cache cache;
	struct kernel_builder *builder; /* who compiles; NULL: this process */
	char key[HASH_HEX_BYTES];       /* in the cache */
	char workshop[PATH_MAX];        /* "": none */
};

/* A handle of dlopen(): from the cache (*cached), or compiled and then kept there.  NULL with
 * COMPILER or MEMORY. */
void *build_load(struct cpu_build *b, bool *cached, struct err *err);

#endif
