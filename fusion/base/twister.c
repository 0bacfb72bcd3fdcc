/* fusion/base/twister.c -- mt19937 of Matsumoto and Nishimura. */
#include "fusion/base/twister.h"

#include <math.h>

void twister_seed(struct twister *g, uint64_t seed)
{
	g->word[0] = (uint32_t)seed;
	for (int i = 1; i < TWISTER_WORDS; i++)
		g->word[i] = 1812433253u * (g->word[i - 1] ^ g->word[i - 1] >> 30) + (uint32_t)i;
	g->at = TWISTER_WORDS;
	g->kept = false;
}

static uint32_t twist(uint32_t high, uint32_t low)
{
	uint32_t bits = (high & 0x80000000u) | (low & 0x7fffffffu);

	return bits >> 1 ^ (low & 1 ? 0x9908b0dfu : 0);
}

void twister_renew(struct twister *g)
{
	enum { N = TWISTER_WORDS, M = 397 };
	uint32_t *w = g->word;
	int i = 0;

	for (; i < N - M; i++)
		w[i] = w[i + M] ^ twist(w[i], w[i + 1]);
	for (; i < N - 1; i++)
		w[i] = w[i + M - N] ^ twist(w[i], w[i + 1]);
	w[i] = w[M - 1] ^ twist(w[i], w[0]);
	g->at = 0;
}

static double uniform(struct twister *g)
{
	return (double)(twister_next64(g) & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
}

double twister_normal(struct twister *g)
{
	double angle, radius;

	if (g->kept) {
		g->kept = false;
		return g->normal;
	}
	angle = 2 * M_PI * uniform(g);
	radius = sqrt(-2 * log1p(-uniform(g)));
	g->normal = radius * sin(angle);
	g->kept = true;
	return radius * cos(angle);
}
