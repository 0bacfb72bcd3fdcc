/* tests/test_profiler_ratio.c -- intervals of ratios, and many of them together.  Every draw
 * is seeded, so a pass stays a pass. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/compare/ratio.h"
#include "profiler/workload/random.h"

static double uniform(uint64_t *position)
{
	return ((double)(random_next(7, position) >> 11) + 0.5) * 0x1p-53;
}

/* A time as machines give them: a floor, and a tail that is seldom long. */
static double time_us(uint64_t *position, double floor_us)
{
	return floor_us * (1 + 0.05 * -log(uniform(position)));
}

static struct interval median_of(uint64_t *position, double floor_us, int n)
{
	struct interval out;
	double x[64];

	for (int i = 0; i < n; i++)
		x[i] = time_us(position, floor_us);
	assert_true(stats_median(x, n, &out));
	return out;
}

static void the_interval_of_a_ratio_covers_it_19_times_in_20(void **state)
{
	static const int sizes[][2] = { { 6, 6 }, { 8, 30 }, { 15, 15 }, { 60, 20 } };
	enum { DRAWS = 2000 };
	uint64_t position = 0;

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		int covered = 0;

		for (int i = 0; i < DRAWS; i++) {
			struct interval a = median_of(&position, 20, sizes[s][0]), r;
			struct interval b = median_of(&position, 30, sizes[s][1]);

			assert_true(ratio_of(&a, &b, &r));
			assert_true(r.low <= r.mid && r.mid <= r.high);
			covered += r.low <= 1.5 && 1.5 <= r.high;
		}
		assert_true(covered >= 0.94 * DRAWS);
	}
}

static void a_ratio_turned_round_is_its_reciprocal(void **state)
{
	struct interval a = { 9, 10, 12 }, b = { 18, 20, 21 }, r, s, zero = { 0, 1, 2 };

	(void)state;
	assert_true(ratio_of(&a, &b, &r) && ratio_of(&b, &a, &s));
	assert_float_equal(r.mid, 2, 1e-12);
	assert_float_equal(r.low * s.high, 1, 1e-12);
	assert_float_equal(r.high * s.low, 1, 1e-12);
	/* by hand: log 2 - sqrt(log(20/18)^2 + log(12/10)^2) */
	assert_float_equal(log(r.low), log(2) - hypot(log(20.0 / 18), log(1.2)), 1e-12);
	assert_false(ratio_of(&zero, &b, &r));
}

static void a_chance_meets_5_percent_where_the_interval_meets_the_margin(void **state)
{
	struct interval edge = { 1.05, 1.2, 1.4 }, below = { 0.7, 0.8, 1 / 1.05 };
	struct interval within = { 0.9, 1.04, 1.2 }, exact = { 1.2, 1.2, 1.2 };

	(void)state;
	assert_float_equal(ratio_chance(&edge, 0.05), 0.05, 1e-4);
	assert_float_equal(ratio_chance(&below, 0.05), 0.05, 1e-4);
	assert_float_equal(ratio_chance(&within, 0.05), 1, 0);
	assert_float_equal(ratio_chance(&exact, 0.05), 0, 0);
}

/* Holm's own way down: 0.01 <= 0.05/4, 0.013 <= 0.05/3, 0.03 > 0.05/2 and nothing after. */
static void holm_stops_at_the_first_that_does_not_stand(void **state)
{
	double chance[] = { 0.03, 0.01, 0.04, 0.013 };
	bool stands[4];

	(void)state;
	assert_true(ratio_holm(chance, 4, 0.05, stands));
	assert_false(stands[0]);
	assert_true(stands[1]);
	assert_false(stands[2]);
	assert_true(stands[3]);
	assert_true(ratio_holm(chance, 0, 0.05, stands));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_of_a_ratio_covers_it_19_times_in_20),
		cmocka_unit_test(a_ratio_turned_round_is_its_reciprocal),
		cmocka_unit_test(a_chance_meets_5_percent_where_the_interval_meets_the_margin),
		cmocka_unit_test(holm_stops_at_the_first_that_does_not_stand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
