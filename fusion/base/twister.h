/* fusion/base/twister.h -- the random numbers of torch on the CPU: mt19937.
 *
 * After the same seed the same calls give PyTorch's numbers: rand and randint
 * bit for bit, randn within rounding.
 */
#ifndef FUSION_BASE_TWISTER_H
#define FUSION_BASE_TWISTER_H

#include <stdbool.h>
#include <stdint.h>

enum { TWISTER_WORDS = 624 };

struct twister {
	uint32_t word[TWISTER_WORDS];
	int at;    /* of the next word; TWISTER_WORDS: all are used */
	bool kept; /* there is a normal number left of the last pair */
	double normal;
};

/* What torch begins with when nobody seeds it. */
#define TWISTER_SEED UINT64_C(67280421310721)

void twister_seed(struct twister *g, uint64_t seed);
/* All words again, when all are used: for twister_next(). */
void twister_renew(struct twister *g);

/* The number that is made of a word, or of each of a vector of words. */
#define TWISTER_TEMPER(x)                                                                          \
	((x) ^= (x) >> 11, (x) ^= (x) << 7 & 0x9d2c5680u, (x) ^= (x) << 15 & 0xefc60000u,          \
	 (x) ^ (x) >> 18)

static inline uint32_t twister_next(struct twister *g)
{
	uint32_t x;

	if (g->at == TWISTER_WORDS)
		twister_renew(g);
	x = g->word[g->at++];
	return TWISTER_TEMPER(x);
}

/* The next n, several at once. */
void twister_fill(struct twister *g, uint32_t *out, int64_t n);

static inline uint64_t twister_next64(struct twister *g)
{
	uint64_t high = twister_next(g);

	return high << 32 | twister_next(g);
}

/* One normal number of mean 0 and deviation 1, made two at a time. */
double twister_normal(struct twister *g);

#endif
