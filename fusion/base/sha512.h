/* fusion/base/sha512.h -- SHA-512 (FIPS 180-4): what random.seed() makes of a text. */
#ifndef FUSION_BASE_SHA512_H
#define FUSION_BASE_SHA512_H

#include <stddef.h>
#include <stdint.h>

enum { SHA512_BYTES = 64 };

void sha512(const void *data, size_t len, uint8_t digest[SHA512_BYTES]);

#endif
