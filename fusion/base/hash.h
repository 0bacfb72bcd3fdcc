/* fusion/base/hash.h -- hashes for tables and cache keys (xxHash).
 *
 * Not cryptographic: whoever trusts a hit across users compares the content.
 */
#ifndef FUSION_BASE_HASH_H
#define FUSION_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { HASH_HEX_BYTES = 33 };

/* 64 bits over `len` bytes; `seed` chains several pieces. */
uint64_t hash_bytes(const void *bytes, size_t len, uint64_t seed);

/* 128 bits as 32 hex digits and a NUL. */
void hash_hex(const void *bytes, size_t len, char out[HASH_HEX_BYTES]);

#endif
