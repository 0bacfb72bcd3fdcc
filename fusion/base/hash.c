/* fusion/base/hash.c -- xxHash, header-only, so that no other file includes it. */
#include "fusion/base/hash.h"

#include <stdio.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(bytes, len, seed);
}

void hash_hex(const void *bytes, size_t len, char out[HASH_HEX_BYTES])
{
	XXH128_hash_t h = XXH3_128bits(bytes, len);

	snprintf(out, HASH_HEX_BYTES, "%016llx%016llx", (unsigned long long)h.high64,
		 (unsigned long long)h.low64);
}
