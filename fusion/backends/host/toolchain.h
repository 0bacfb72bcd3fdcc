/* fusion/backends/host/toolchain.h -- the system compiler as a child process. */
#ifndef FUSION_BACKENDS_HOST_TOOLCHAIN_H
#define FUSION_BACKENDS_HOST_TOOLCHAIN_H

#include <limits.h>
#include <stdbool.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"

struct toolchain {
	char path[PATH_MAX];
	char identity[PATH_MAX + 64]; /* changes when another compiler is installed there */
	bool clang;
};

/* `wanted` NULL: gcc, cc or clang on PATH, whichever comes first in that order.
 * False with COMPILER, which says what to install. */
bool toolchain_find(struct toolchain *t, const char *wanted, struct err *err);

/* The arguments that all kernels of a vector unit are compiled with, blank
 * separated: part of the cache's key. */
const char *toolchain_flags(const struct toolchain *t, int vector_bytes);

/* Compiles folder/kernel.c to folder/kernel.so.  Files that the compiler needs
 * for itself go to the folder as well.  False with COMPILER: what it said, that
 * it took too long, or which signal ended it. */
bool toolchain_compile(const struct toolchain *t, const char *folder, int vector_bytes,
		       int timeout_ms, struct err *err);

#endif
