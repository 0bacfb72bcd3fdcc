/* tests/test_profiler_stats.c -- medians, intervals, verdicts and crossovers on
 * data whose truth is known.  Every draw is seeded, so a pass stays a pass. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/measure/break_even.h"
#include "profiler/measure/split.h"
#include "profiler/workload/random.h"
#include "profiler/measure/stats.h"

enum { DATASETS = 2000 };

static double uniform(uint64_t *position)
{
	return ((double)(random_next(42, position) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *position)
{
	double u = uniform(position);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * uniform(position));
}

/* Philox 4x32-10, counter and key 0, from the known answers of Random123. */
static void philox_gives_the_published_words(void **state)
{
	static const uint32_t want[4] = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 };
	uint32_t got[4];

	(void)state;
	random_philox(0, 0, got);
	assert_memory_equal(got, want, sizeof(want));
}

static void randn_has_mean_0_and_variance_1(void **state)
{
	enum { N = 200000 };
	static double x[N];
	struct random r = { .kind = RANDOM_RANDN, .seed = 3 };
	double sum = 0, squares = 0;

	(void)state;
	random_fill(&r, DTYPE_F64, x, N, 1);
	for (int i = 0; i < N; i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	assert_true(fabs(sum / N) < 0.01);
	assert_true(fabs(squares / N - 1) < 0.02);
}

static void randint_stays_in_its_range_and_reaches_both_ends(void **state)
{
	int64_t x[4000], low = 9, high = 0;
	struct random r = { .kind = RANDOM_RANDINT, .seed = 1, .low = -2, .high = 5 };

	(void)state;
	random_fill(&r, DTYPE_I64, x, 4000, 1);
	for (int i = 0; i < 4000; i++) {
		low = x[i] < low ? x[i] : low;
		high = x[i] > high ? x[i] : high;
	}
	assert_int_equal(low, -2);
	assert_int_equal(high, 4);
}

/* Ranks of the 95 % interval as tables of the sign test have them. */
static void median_rank_matches_the_tables(void **state)
{
	static const int want[][2] = { { 5, -1 }, { 6, 0 },  { 8, 0 },   { 9, 1 },
				       { 10, 1 }, { 20, 5 }, { 50, 17 }, { 100, 39 } };

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(stats_median_rank(want[i][0]), want[i][1]);
}

/* The share of datasets of n samples whose interval holds the true median. */
static double coverage(int n, double (*draw)(uint64_t *), double truth)
{
	uint64_t position = 0;
	double x[64];
	int hits = 0;

	for (int d = 0; d < DATASETS; d++) {
		struct interval i;

		for (int k = 0; k < n; k++)
			x[k] = draw(&position);
		assert_true(stats_median(x, n, &i));
		assert_true(i.low <= i.mid && i.mid <= i.high);
		hits += i.low <= truth && truth <= i.high;
	}
	return (double)hits / DATASETS;
}

static double exponential(uint64_t *position)
{
	return -log(uniform(position));
}

/* A latency: a floor, a long tail, and one in twenty disturbed. */
static double latency(uint64_t *position)
{
	double x = 10 + 0.3 * exponential(position);

	return uniform(position) < 0.05 ? x * 5 : x;
}

/* How often the interval that runs are judged by holds 10, of processes that differ by `sd`, where
 * 1 % is known of others; *half: of its width, relative, the mean. */
static double judged_coverage(int processes, double sd, double *half)
{
	uint64_t position = 0;
	int hits = 0, of[STATS_PROCESSES] = { 0 };

	*half = 0;
	for (int d = 0; d < DATASETS; d++) {
		double x[STATS_PROCESSES * 24];
		struct interval i;

		for (int p = 0; p < processes; p++) {
			double process = 10 * exp(sd * normal(&position));

			of[p] = 24;
			for (int k = 0; k < of[p]; k++) /* one in ten is shorter than the floor */
				x[24 * p + k] = process *
						(k < 3 ? 1 : 1 + 0.02 * exponential(&position));
		}
		assert_true(stats_judged(x, &(struct judged_processes){ of, NULL, 0.01 }, &i));
		assert_true(i.low < i.mid && i.mid < i.high);
		hits += i.low <= 10 && 10 <= i.high;
		*half += log(i.high / i.low) / 2 / DATASETS;
	}
	return (double)hits / DATASETS;
}

static void runs_are_judged_by_what_their_processes_differ_by_and_what_others_did(void **state)
{
	double known, one, three, eight, apart, alike;

	(void)state;
	known = judged_coverage(3, 0.01, &three);
	assert_true(known > 0.94);
	assert_true(judged_coverage(1, 0.01, &one) > 0.94);
	assert_true(judged_coverage(8, 0.01, &eight) > 0.94);
	assert_true(one > 0.022 && one < 0.03); /* one says nothing of what others differ by */
	assert_true(three < one / 1.5 && eight < three / 1.5);
	/* twice as far apart as is known: eight tell most of it */
	assert_true(judged_coverage(8, 0.02, &apart) > 0.86);
	assert_true(apart > 1.4 * eight);
	assert_true(judged_coverage(3, 0, &alike) > 0.99 && alike < three && alike > three / 1.5);
}

static void interval_covers_the_median_of_skewed_data_95_times_in_100(void **state)
{
	static const int sizes[] = { 6, 15, 31, 60 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		double c = coverage(sizes[i], exponential, log(2));

		/* At least 95 %; the exact rank of small n covers up to 97.9 %.
		 * 0.935 and 0.99 are three standard errors of 2,000 datasets away. */
		assert_true(c > 0.935 && c < 0.99);
		c = coverage(sizes[i], normal, 0);
		assert_true(c > 0.935 && c < 0.99);
	}
}

static void outliers_hardly_move_the_median(void **state)
{
	double x[41];
	uint64_t position = 0;
	struct interval i;

	(void)state;
	for (int k = 0; k < 41; k++)
		x[k] = latency(&position);
	assert_true(stats_median(x, 41, &i));
	assert_true(i.low > 10 && i.high < 10.6);
}

static void quiet_samples_carry_no_warning(void **state)
{
	double x[60];
	uint64_t position = 0;
	char text[256];

	(void)state;
	for (int k = 0; k < 60; k++)
		x[k] = 10 + 0.1 * normal(&position);
	assert_false(stats_noise(x, 60, text, sizeof(text)));
}

static void drift_spread_and_few_samples_are_named(void **state)
{
	double x[60];
	uint64_t position = 0;
	char text[256];

	(void)state;
	for (int k = 0; k < 60; k++)
		x[k] = (k < 30 ? 10 : 12) + 0.1 * normal(&position);
	assert_true(stats_noise(x, 60, text, sizeof(text)));
	assert_non_null(strstr(text, "slower than the first"));
	for (int k = 0; k < 60; k++)
		x[k] = 10 + 5 * uniform(&position);
	assert_true(stats_noise(x, 60, text, sizeof(text)));
	assert_non_null(strstr(text, "Noisy: IQR is "));
	assert_true(stats_noise(x, 8, text, sizeof(text)));
	assert_non_null(strstr(text, "Only 8 samples"));
}

/* Paired samples with a true ratio and a drift that both sides share. */
static void draw_pairs(double *eager, double *mode, int n, double ratio, uint64_t *position)
{
	for (int k = 0; k < n; k++) {
		double drift = 1 + 0.5 * k / n;

		eager[k] = 20 * ratio * drift * exp(0.02 * normal(position));
		mode[k] = 20 * drift * exp(0.02 * normal(position));
	}
}

/* Pairs of one process. */
static bool compared(const double *eager, const double *mode, int n, double compile_us,
		     struct comparison *out)
{
	return break_even_compare(
	    &(struct paired_samples){ eager, mode, (int[STATS_PROCESSES]){ n } }, compile_us, out);
}

static void speedup_interval_covers_the_true_ratio_under_common_drift(void **state)
{
	uint64_t position = 0;
	double eager[31], mode[31];
	int hits = 0;

	(void)state;
	for (int d = 0; d < DATASETS; d++) {
		struct comparison c;

		draw_pairs(eager, mode, 31, 1.3, &position);
		assert_true(compared(eager, mode, 31, 50000, &c));
		hits += c.speedup.low <= 1.3 && 1.3 <= c.speedup.high;
	}
	assert_in_range(hits, (int)(0.935 * DATASETS), (int)(0.99 * DATASETS));
}

static void verdict_follows_its_rule(void **state)
{
	static const struct {
		struct interval speedup;
		int rounds;
		enum verdict want;
	} cases[] = {
		{ { 1.30, 1.40, 1.50 }, 30, VERDICT_FASTER },
		{ { 1.01, 1.40, 1.80 }, 30, VERDICT_AMBIGUOUS },
		{ { 0.60, 0.70, 0.80 }, 30, VERDICT_SLOWER },
		{ { 0.99, 1.00, 1.01 }, 30, VERDICT_SAME },
		{ { 0.90, 1.00, 1.10 }, 30, VERDICT_AMBIGUOUS },
		{ { 1.30, 1.40, 1.50 }, 5, VERDICT_NOT_ENOUGH },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(verdict_of(&cases[i].speedup, cases[i].rounds), cases[i].want);
}

static void a_saving_within_the_margin_tells_nothing(void **state)
{
	static const struct {
		struct interval saved, want; /* of a call of 100 us: 5 are the margin */
	} cases[] = {
		{ { 6, 7, 8 }, { 6, 7, 8 } },
		{ { -8, -7, -6 }, { -8, -7, -6 } },
		{ { 0.1, 0.5, 0.7 }, { 0, 0.5, 5 } },
		{ { 1, 6, 9 }, { 0, 6, 9 } },
		{ { -4.3, -4, -3.7 }, { -4.3, -4, 5 } }, /* as two builds of one program were */
		{ { -9, 1, 11 }, { -9, 1, 11 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct interval got = saving_beyond_margin(&cases[i].saved, 100);

		assert_float_equal(got.low, cases[i].want.low, 1e-12);
		assert_float_equal(got.mid, cases[i].want.mid, 1e-12);
		assert_float_equal(got.high, cases[i].want.high, 1e-12);
	}
}

static void equal_modes_are_never_called_faster_or_slower(void **state)
{
	uint64_t position = 0;
	double eager[60], mode[60];

	(void)state;
	for (int d = 0; d < 500; d++) {
		struct comparison c;

		draw_pairs(eager, mode, 60, 1.0, &position);
		assert_true(compared(eager, mode, 60, 50000, &c));
		assert_true(c.verdict == VERDICT_SAME || c.verdict == VERDICT_AMBIGUOUS);
	}
}

static void calls_to_repay_is_compile_time_over_time_saved(void **state)
{
	double eager[10], mode[10];
	struct comparison c;

	(void)state;
	for (int k = 0; k < 10; k++) {
		eager[k] = 30 + 0.1 * k;
		mode[k] = 10 + 0.1 * k;
	}
	assert_true(compared(eager, mode, 10, 60010, &c));
	assert_int_equal(c.repay, REPAY_AFTER);
	assert_true(c.calls_to_repay == 3001); /* 60,010 us over 20 us, rounded up */
	assert_true(c.calls_ci[0] <= 3001 && 3001 <= c.calls_ci[1]);
	assert_true(compared(mode, eager, 10, 60000, &c));
	assert_int_equal(c.repay, REPAY_NEVER);
	assert_int_equal(c.verdict, VERDICT_SLOWER);
}

/* With an even number of rounds the medians may lie on two sides of none. */
static void whether_a_mode_repays_goes_by_the_ratio(void **state)
{
	double eager[10] = { 1, 1, 1, 1, 9, 1.2, 4, 4, 4, 4 };
	double mode[10] = { 9, 9, 9, 9, 10, 1, 1, 1, 1, 1 };
	struct comparison c;

	(void)state;
	assert_true(compared(eager, mode, 10, 60010, &c));
	assert_true(c.speedup.mid > 1 && c.saved_us.mid < 0);
	assert_int_equal(c.repay, REPAY_UNKNOWN);
}

static void saving_that_may_be_none_is_unknown(void **state)
{
	double eager[20], mode[20];
	struct comparison c;

	(void)state;
	for (int k = 0; k < 20; k++) {
		eager[k] = 10;
		mode[k] = k < 12 ? 9 : 11;
	}
	assert_true(compared(eager, mode, 20, 1000, &c));
	assert_int_equal(c.repay, REPAY_UNKNOWN);
}

enum { POINTS = 5, ROUNDS = 40 };

/* Eager costs 4 us a statement; compiled costs 20 us whatever n is: they meet
 * at n = 5. */
static void draw_curve(struct curve_point *points, double noise, uint64_t *position)
{
	static const double n[POINTS] = { 1, 4, 8, 16, 32 };
	static double eager[POINTS][ROUNDS], mode[POINTS][ROUNDS];

	for (int p = 0; p < POINTS; p++) {
		for (int k = 0; k < ROUNDS; k++) {
			eager[p][k] = 4 * n[p] * exp(noise * normal(position));
			mode[p][k] = 20 * exp(noise * normal(position));
		}
		points[p] = (struct curve_point){ n[p], eager[p], mode[p], ROUNDS };
	}
}

static void crossover_is_where_the_curves_meet(void **state)
{
	struct curve_point points[POINTS];
	struct crossover c;
	uint64_t position = 0;
	/* log-linear between 4 (ratio 0.8) and 8 (ratio 1.6) */
	double want = 4 + 4 * log(1 / 0.8) / log(1.6 / 0.8);

	(void)state;
	draw_curve(points, 0, &position);
	assert_true(break_even_crossover(points, POINTS, &c));
	assert_true(c.found);
	assert_int_equal(c.side, SIDE_ABOVE);
	assert_int_equal(c.meetings, 1);
	assert_true(fabs(c.n - want) < 1e-9);
	assert_true(c.low == c.n && c.high == c.n);
}

static void crossover_interval_covers_the_truth(void **state)
{
	struct curve_point points[POINTS];
	uint64_t position = 0;
	double want = 4 + 4 * log(1 / 0.8) / log(1.6 / 0.8);
	int hits = 0, tries = 200;

	(void)state;
	for (int t = 0; t < tries; t++) {
		struct crossover c;

		draw_curve(points, 0.1, &position);
		assert_true(break_even_crossover(points, POINTS, &c));
		assert_true(c.low <= c.n && c.n <= c.high);
		hits += c.low <= want && want <= c.high;
	}
	/* A percentile bootstrap of medians covers a little less or more. */
	assert_in_range(hits, tries * 88 / 100, tries);
}

static void crossover_is_none_where_one_side_always_wins(void **state)
{
	struct curve_point points[POINTS], swapped[POINTS];
	struct crossover c;
	uint64_t position = 0;

	(void)state;
	draw_curve(points, 0.01, &position);
	assert_true(break_even_crossover(points + 2, POINTS - 2, &c));
	assert_false(c.found);
	assert_int_equal(c.side, SIDE_ALWAYS);
	assert_true(break_even_crossover(points, 2, &c));
	assert_false(c.found);
	assert_int_equal(c.side, SIDE_NEVER);
	for (int p = 0; p < POINTS; p++)
		swapped[p] = (struct curve_point){ points[p].n, points[p].mode_us,
						   points[p].eager_us, ROUNDS };
	assert_true(break_even_crossover(swapped, POINTS, &c));
	assert_true(c.found);
	assert_int_equal(c.side, SIDE_BELOW);
}

/* Eager watched for 10.8 ms beside a median of 0.292: one call flattened the bars of all others. */
static void one_slow_call_is_in_no_part_of_a_split(void **state)
{
	struct split calls[20], out;
	double sum = 0;

	(void)state;
	for (int i = 0; i < 20; i++) {
		calls[i] = (struct split){ .observed_us = 290 + i % 5 };
		for (int p = 0; p < PHASE_COUNT; p++)
			calls[i].phase_us[p] = calls[i].observed_us / PHASE_COUNT;
	}
	calls[7].observed_us = 10800;
	calls[7].phase_us[0] += 10800 - 290;
	split_average(calls, 20, &out);
	for (int p = 0; p < PHASE_COUNT; p++)
		sum += out.phase_us[p];
	assert_true(out.observed_us >= 290 && out.observed_us <= 294);
	assert_true(fabs(sum - out.observed_us) < 1e-9);
	assert_int_equal(out.calls, 10);
	split_average(calls, 1, &out);
	assert_int_equal(out.calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_slow_call_is_in_no_part_of_a_split),
		cmocka_unit_test(philox_gives_the_published_words),
		cmocka_unit_test(randn_has_mean_0_and_variance_1),
		cmocka_unit_test(randint_stays_in_its_range_and_reaches_both_ends),
		cmocka_unit_test(median_rank_matches_the_tables),
		cmocka_unit_test(interval_covers_the_median_of_skewed_data_95_times_in_100),
		cmocka_unit_test(
		    runs_are_judged_by_what_their_processes_differ_by_and_what_others_did),
		cmocka_unit_test(outliers_hardly_move_the_median),
		cmocka_unit_test(quiet_samples_carry_no_warning),
		cmocka_unit_test(drift_spread_and_few_samples_are_named),
		cmocka_unit_test(speedup_interval_covers_the_true_ratio_under_common_drift),
		cmocka_unit_test(verdict_follows_its_rule),
		cmocka_unit_test(a_saving_within_the_margin_tells_nothing),
		cmocka_unit_test(equal_modes_are_never_called_faster_or_slower),
		cmocka_unit_test(calls_to_repay_is_compile_time_over_time_saved),
		cmocka_unit_test(whether_a_mode_repays_goes_by_the_ratio),
		cmocka_unit_test(saving_that_may_be_none_is_unknown),
		cmocka_unit_test(crossover_is_where_the_curves_meet),
		cmocka_unit_test(crossover_interval_covers_the_truth),
		cmocka_unit_test(crossover_is_none_where_one_side_always_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
