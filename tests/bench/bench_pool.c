/* tests/bench/bench_pool.c -- what it costs to share a loop.
 *
 *	bench_pool [THREADS]
 *
 * For 2, 4, ... THREADS threads: microseconds of a pool_run() whose parts do
 * nothing, one right after the other and with a pause of the caller between, as
 * between two kernels; then how much faster threads are than one at arithmetic
 * in registers, which is what the processor's cores allow (threads of one core
 * share its units).  Medians of some rounds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fusion/base/clock.h"
#include "fusion/base/pool.h"

enum { ROUNDS = 15, RUNS = 500, STEPS = 400 * 1000, MOST_THREADS = 256 };

static void nothing(void *context, int64_t begin, int64_t end, int thread)
{
	(void)context, (void)begin, (void)end, (void)thread;
}

static void pause_ns(int64_t ns)
{
	int64_t end = clock_ns() + ns;

	while (clock_ns() < end)
		;
}

static int compare(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

/* Microseconds of a loop of nothing. */
static double empty_us(struct pool *pool, int64_t gap_ns)
{
	double us[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		int64_t total = 0;

		for (int i = 0; i < RUNS; i++) {
			int64_t begin = clock_ns();

			pool_run(pool, pool_threads(pool), 1, nothing, NULL);
			total += clock_ns() - begin;
			pause_ns(gap_ns);
		}
		us[round] = (double)total * 1e-3 / RUNS;
	}
	return median(us);
}

typedef float vector __attribute__((vector_size(32)));

/* Work that only the units of a core bound: eight chains of multiplications. */
static void compute(void *context, int64_t begin, int64_t end, int thread)
{
	vector x[8], *out = context;

	for (int i = 0; i < 8; i++)
		x[i] = (vector){ 1, 1, 1, 1, 1, 1, 1, 1 } + (float)i;
	for (; begin < end; begin++)
		for (int i = 0; i < 8; i++)
			x[i] = x[i] * 0.999f + 0.5f;
	for (int i = 1; i < 8; i++)
		x[0] += x[i];
	out[thread * 8] = x[0]; /* a line each */
}

static double compute_us(struct pool *pool)
{
	static vector out[MOST_THREADS * 8];
	double us[ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		int64_t begin = clock_ns();

		pool_run(pool, STEPS, 1, compute, out);
		us[round] = (double)(clock_ns() - begin) * 1e-3;
	}
	return median(us);
}

int main(int argc, char **argv)
{
	int most = argc > 1 ? atoi(argv[1]) : 16;
	double one = compute_us(NULL);

	printf("%-8s %12s %12s %12s %12s %12s\n", "threads", "at once us", "2 us later",
	       "20 us later", "compute us", "x one");
	for (int threads = 2; threads <= most && threads <= MOST_THREADS; threads *= 2) {
		struct pool *pool = pool_create(threads);
		double us;

		if (!pool)
			return 1;
		us = compute_us(pool);
		printf("%-8d %12.2f %12.2f %12.2f %12.1f %12.2f\n", threads, empty_us(pool, 0),
		       empty_us(pool, 2000), empty_us(pool, 20000), us, one / us);
		pool_destroy(pool);
	}
	return 0;
}
