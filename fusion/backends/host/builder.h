/* fusion/backends/host/builder.h -- kernels made by the system compiler: here, or by a process
 * that does it for one whose rights are too few (backends.h).
 *
 * A kernel is made in three steps, since only who loads it knows that it can be kept:
 *
 *	build_begin(&b, object, &err) && (handle = dlopen(object, ...));
 *	build_end(&b, handle != NULL);
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
	struct builder *builder;  /* who compiles; NULL: this process */
	char key[HASH_HEX_BYTES]; /* in the cache: build_key() */
	char workshop[PATH_MAX];  /* "": none is open */
};

/* The key says all that the object depends on, and nothing else.  False without memory. */
bool build_key(struct cpu_build *b);

/* Compiles; the path of the object to load.  False with COMPILER; build_end() in any case. */
bool build_begin(struct cpu_build *b, char object[PATH_MAX + 16], struct err *err);

/* The object goes into the cache, or nowhere. */
void build_end(struct cpu_build *b, bool keep);

#endif
