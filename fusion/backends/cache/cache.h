/* fusion/backends/cache/cache.h -- compiled kernels on disk.
 *
 * An entry is three files, key.c, key.so and key.ok.  A hit trusts nothing but
 * their owner: the folder must be ours (or root's) alone, the source is compared
 * byte by byte, and the object's hash with the one in key.ok, so that a torn or
 * damaged entry is a miss.  A cache that does not work is no error: kernels
 * are then compiled each time, and `note` says why.  One that cannot be written
 * still gives what it has.
 *
 * Processes share a cache: who reads or stores an entry holds a lock on the folder.
 * It keeps to so many bytes: entries that were used longest ago go first.
 */
#ifndef FUSION_BACKENDS_CACHE_CACHE_H
#define FUSION_BACKENDS_CACHE_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/hash.h"

enum { CACHE_DEFAULT_MIB = 256 };

struct cache {
	int folder; /* descriptor, -1: no cache */
	bool writable;
	bool rebuild;      /* set by who opened it: nothing is found */
	size_t most_bytes; /* of all entries */
	char path[PATH_MAX];
	char note[256]; /* why there is none, or what is wrong with it or an entry; or empty */
};

/* `path` NULL: no cache.  Makes the folder (and its parents) where missing.
 * `most_bytes` 0: CACHE_DEFAULT_MIB. */
void cache_open(struct cache *c, const char *path, size_t most_bytes);
void cache_close(struct cache *c);

/* Loads the object of `key` if its source is `source`; NULL where there is none.  With `bytes` NULL
 * a dlopen() handle; else code that is no shared object: its bytes, malloc'd, and how many.  An
 * entry that is there and damaged is noted. */
void *cache_read(struct cache *c, const char *key, const char *source, size_t len, size_t *bytes);

/* And keeps it, or does nothing. */
void cache_write(const struct cache *c, const char *key, const char *source, size_t len,
		 const void *object, size_t bytes);

/* A new folder for the compiler, in the cache or in the system's temporary
 * folder; false with errno. */
bool cache_workshop(const struct cache *c, char path[PATH_MAX]);

/* Moves kernel.c and kernel.so from a workshop into the cache as `key`, where another
 * process has not done so meanwhile; then drops what goes beyond the bound.  Fails
 * silently: the kernel is already loaded. */
void cache_store(const struct cache *c, const char *key, const char *workshop);

/* Deletes a workshop and all files in it. */
void cache_sweep(const char *workshop);

#endif
