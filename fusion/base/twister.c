/* fusion/base/twister.c -- mt19937 of Matsumoto and Nishimura. */
#include "fusion/base/twister.h"

#include <math.h>
#include <string.h>

void twister_seed(struct twister *g, uint64_t seed)
{
	g->word[0] = (uint32_t)seed;
	for (int i = 1; i < TWISTER_WORDS; i++)
		g->word[i] = 1812433253u * (g->word[i - 1] ^ g->word[i - 1] >> 30) + (uint32_t)i;
	g->at = TWISTER_WORDS;
	g->kept = false;
}

/* Words side by side. */
typedef uint32_t words __attribute__((vector_size(16)));
enum { SIDE = sizeof(words) / sizeof(uint32_t) };

static words load(const uint32_t *from)
{
	words x;

	memcpy(&x, from, sizeof(x));
	return x;
}

#define TWIST(high, low)                                                                           \
	((((high)&0x80000000u) | ((low)&0x7fffffffu)) >> 1 ^ (-((low)&1) & 0x9908b0dfu))

/* w[i] for i from `from` to `to`, each of itself, the next one and the one `apart` from it, which
 * is more than a vector away. */
static void twist(uint32_t *w, int from, int to, int apart)
{
	int i = from;

	for (; i + SIDE <= to; i += SIDE) {
		words own = load(w + i), next = load(w + i + 1);
		words x = load(w + i + apart) ^ TWIST(own, next);

		memcpy(w + i, &x, sizeof(x));
	}
	for (; i < to; i++)
		w[i] = w[i + apart] ^ TWIST(w[i], w[i + 1]);
}

void twister_renew(struct twister *g)
{
	enum { N = TWISTER_WORDS, M = 397 };
	uint32_t *w = g->word;

	twist(w, 0, N - M, M);
	twist(w, N - M, N - 1, M - N);
	w[N - 1] = w[M - 1] ^ TWIST(w[N - 1], w[0]);
	g->at = 0;
}

void twister_fill(struct twister *g, uint32_t *out, int64_t n)
{
	while (n > 0) {
		const uint32_t *from;
		int64_t run, i = 0;

		if (g->at == TWISTER_WORDS)
			twister_renew(g);
		from = g->word + g->at;
		run = TWISTER_WORDS - g->at < n ? TWISTER_WORDS - g->at : n;
		for (; i + SIDE <= run; i += SIDE) {
			words x = load(from + i);

			x = TWISTER_TEMPER(x);
			memcpy(out + i, &x, sizeof(x));
		}
		for (; i < run; i++) {
			uint32_t x = from[i];

			out[i] = TWISTER_TEMPER(x);
		}
		g->at += (int)run;
		out += run;
		n -= run;
	}
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
