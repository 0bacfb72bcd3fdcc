/* fusion/base/philox.h -- Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random
 * numbers: as easy as 1, 2, 3", SC 2011): four words that depend on key and counter alone.
 */
#ifndef FUSION_BASE_PHILOX_H
#define FUSION_BASE_PHILOX_H

#include <stdint.h>

enum { PHILOX_ROUNDS = 10, PHILOX_WORDS = 4 };

static inline void philox(uint64_t key, uint64_t low, uint64_t high, uint32_t out[PHILOX_WORDS])
{
	uint32_t c0 = (uint32_t)low, c1 = (uint32_t)(low >> 32);
	uint32_t c2 = (uint32_t)high, c3 = (uint32_t)(high >> 32);
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);

	for (int round = 0; round < PHILOX_ROUNDS; round++) {
		uint64_t p0 = UINT64_C(0xD2511F53) * c0, p1 = UINT64_C(0xCD9E8D57) * c2;

		c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
		c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
		c1 = (uint32_t)p1;
		c3 = (uint32_t)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

#endif
