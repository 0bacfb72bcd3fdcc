/* fusion/backends/cuda/compile.h -- the texts of a graph's kernels as modules.
 *
 * Kernels of one text are one function, however many there are of them (the steps of an
 * optimiser, the layers of a model).  The functions that are left are shared out to as many
 * programs as pay, and NVRTC compiles these side by side: it reads them one after the other, and
 * does the rest at once.  Which program a function is in depends on the texts and on the number
 * of threads alone.
 */
#ifndef FUSION_BACKENDS_CUDA_COMPILE_H
#define FUSION_BACKENDS_CUDA_COMPILE_H

#include "fusion/backends/cache/cache.h"
#include "fusion/backends/cuda/module.h"

/* A kernel; `text` is empty where it does not walk. */
struct cuda_text {
	const char *name;
	struct buf text; /* cuda_kernel_emit() */
	int block;       /* threads */
	/* Filled in: the first kernel of this text, whose number its function has, k<first>, and
	 * which module that is in. */
	int first, module;
};

struct cuda_texts {
	struct buf head;  /* what all of them call */
	struct buf calls; /* functions of ops, for the first module */
	struct cuda_text *kernels;
	int n;
};

/* The text of a planned kernel, in place of one that was there.  False: out of memory. */
bool cuda_text_write(struct cuda_text *to, struct cuda_kernel *k);

/* A key of the cache for what was made from a text here: by NVRTC, its options and the device's
 * architecture.  False: out of memory. */
bool cuda_text_key(const struct executable *exe, const struct buf *text, char key[HASH_HEX_BYTES]);

/* The cache's folder of this name. */
void cuda_cache_open(const struct executable *exe, const char *folder, struct cache *cache);

/* Modules of the texts, from the cache or compiled and kept there.  False with the error of the
 * first program that has one, DEVICE or MEMORY; what is in *out is the caller's to unload. */
bool cuda_compile_texts(struct executable *exe, struct cuda_texts *t, struct cuda_modules *out,
			struct err *err);

#endif
