/* fusion/backends/cache.h -- compiled kernels on disk.
 *
 * An entry is three files, key.c, key.so and key.ok.  A hit trusts nothing but
 * their owner: the folder must be ours alone, the source is compared byte by
 * byte, and the object's hash with the one in key.ok, so that a torn or
 * damaged entry is a miss.  A cache that does not work is no error: kernels
 * are then compiled each time, and `note` says why.
 */
#ifndef FUSION_BACKENDS_CACHE_H
#define FUSION_BACKENDS_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/hash.h"

struct cache {
	int folder; /* descriptor, -1: no cache */
	char path[PATH_MAX];
	char note[256]; /* why there is none; empty where there is, or none was asked for */
};

/* `path` NULL: no cache.  Makes the folder (and its parents) where missing. */
void cache_open(struct cache *c, const char *path);
void cache_close(struct cache *c);

/* Loads the object of `key` if its source is `source`: a dlopen() handle or NULL. */
void *cache_load(const struct cache *c, const char *key, const char *source, size_t len);

/* A new folder for the compiler, in the cache or in the system's temporary
 * folder; false with errno. */
bool cache_workshop(const struct cache *c, char path[PATH_MAX]);

/* Moves kernel.c and kernel.so from a workshop into the cache as `key`.  Fails
 * silently: the kernel is already loaded. */
void cache_store(const struct cache *c, const char *key, const char *workshop);

/* Deletes a workshop and all files in it. */
void cache_sweep(const char *workshop);

#endif
