/* tests/test_profiler_bisect.c -- a commit is placed on one side of a change, whatever the noise.
 */
#include "profiler/bisect/bisect.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { COMMITS = 64, TRIES = 400, MOST = 400 };

static uint64_t seed;

/* Between 0 and 1: splitmix64. */
static double uniform(void)
{
	uint64_t z = (seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

/* What a process takes on a shared machine: 4 % of noise, a tail of neighbours in one of ten, and a
 * drift that the round has in common. */
static double taken(double what, double drift)
{
	double normal = sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979 * uniform());
	double tail = uniform() < 0.1 ? -0.3 * log(uniform()) : 0;

	return what * exp(drift + 0.04 * normal + tail);
}

static struct bisect_round round_of(double good, double candidate, double bad, int at)
{
	double drift = 0.3 * sin(at / 9.0);

	return (struct bisect_round){ .good = taken(good, drift),
				      .candidate = taken(candidate, drift),
				      .bad = taken(bad, drift) };
}

struct rounds {
	struct bisect_round at[8 * MOST];
	int n;
	struct bisect_change change;
};

/* Rounds until the change is told; false where it never is. */
static bool change_of(struct rounds *r, double good, double bad, double margin)
{
	for (r->n = 0; r->n < MOST;) {
		r->at[r->n] = round_of(good, good, bad, r->n);
		r->n++;
		assert_true(bisect_measure_change(r->at, r->n, margin, &r->change));
		if (r->change.differs || r->change.same)
			return true;
	}
	return false;
}

static enum bisect_verdict place_of(struct rounds *r, double good, double it, double bad)
{
	const struct bisect_round *own = r->at + r->n;
	struct bisect_place place;

	for (int n = 1; n <= MOST; n++) {
		r->at[r->n] = round_of(good, it, bad, r->n);
		r->n++;
		assert_true(bisect_measure_change(r->at, r->n, 0.02, &r->change));
		assert_true(bisect_place(&r->change, own, n, &place));
		if (place.verdict != BISECT_OPEN)
			return place.verdict;
	}
	return BISECT_OPEN;
}

/* How many of TRIES bisections name the commit that makes `ratio`. */
static int found_of(double ratio, int *most_steps, int *n_rounds)
{
	static struct rounds r;
	int found = 0;

	for (int i = 0; i < TRIES; i++) {
		int first = 1 + (int)(uniform() * COMMITS), low = 0, high = COMMITS, steps = 0;

		if (!change_of(&r, 10, 10 * ratio, 0.02) || !r.change.differs)
			continue;
		while (high - low > 1) {
			int at = (low + high) / 2;
			enum bisect_verdict v = place_of(&r, 10, at >= first ? 10 * ratio : 10,
							 10 * ratio);

			steps++;
			if (v == BISECT_OPEN)
				break;
			*(v == BISECT_BAD ? &high : &low) = at;
		}
		found += high == first && low == first - 1;
		*n_rounds += r.n;
		*most_steps = steps > *most_steps ? steps : *most_steps;
	}
	return found;
}

static void a_planted_change_is_found_in_19_of_20_tries_and_8_steps(void **state)
{
	static const double ratios[] = { 1.08, 1 / 1.08, 1.5 };

	(void)state;
	for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++) {
		int steps = 0, n_rounds = 0, found;

		seed = 1 + i;
		found = found_of(ratios[i], &steps, &n_rounds);
		print_message("%.3f: %d of %d found, at most %d steps, %.0f rounds a bisection\n",
			      ratios[i], found, TRIES, steps, (double)n_rounds / TRIES);
		assert_true(found >= TRIES * 19 / 20);
		assert_true(steps <= 8);
	}
}

static void equal_commits_are_the_same_and_never_differ_more_than_seldom(void **state)
{
	static struct rounds r;
	int differs = 0, same = 0;

	(void)state;
	seed = 7;
	for (int i = 0; i < TRIES; i++) {
		change_of(&r, 10, 10, 0.05);
		differs += r.change.differs;
		same += r.change.same;
	}
	print_message("%d of %d differ, %d are the same\n", differs, TRIES, same);
	assert_true(differs <= TRIES / 50);
	assert_true(same >= TRIES * 9 / 10);
}

static void what_is_counted_is_told_at_once(void **state)
{
	struct bisect_round rounds[BISECT_LEAST_CHANGE];
	struct bisect_change change;
	struct bisect_place place;

	(void)state;
	for (int i = 0; i < BISECT_LEAST_CHANGE; i++)
		rounds[i] = (struct bisect_round){ 40, i % 2 ? 40 : 41, 41 };
	assert_true(bisect_measure_change(rounds, BISECT_LEAST_CHANGE - 1, 0.02, &change));
	assert_false(change.differs || change.same);
	assert_true(bisect_measure_change(rounds, BISECT_LEAST_CHANGE, 0.02, &change));
	assert_true(change.differs);
	for (int i = 0; i < BISECT_LEAST_CHANGE; i++)
		rounds[i].candidate = 41;
	assert_true(bisect_place(&change, rounds, BISECT_LEAST_PLACE - 1, &place));
	assert_int_equal(place.verdict, BISECT_OPEN);
	assert_true(bisect_place(&change, rounds, BISECT_LEAST_PLACE, &place));
	assert_int_equal(place.verdict, BISECT_BAD);
	assert_true(fabs(place.ratio.mid - 1.025) < 1e-9);
	for (int i = 0; i < BISECT_LEAST_CHANGE; i++)
		rounds[i].candidate = 40;
	assert_true(bisect_place(&change, rounds, BISECT_LEAST_PLACE, &place));
	assert_int_equal(place.verdict, BISECT_GOOD);
}

/* One round that a neighbour disturbed does not decide. */
static void an_outlier_decides_nothing(void **state)
{
	struct bisect_change change = { .ratio = { 1.05, 1.08, 1.11 },
					.deviation = 0.02,
					.differs = true };
	struct bisect_round rounds[] = {
		{ 10, 10.1, 10.8 }, { 10, 90, 10.8 },   { 10, 9.9, 10.8 },
		{ 10, 10, 10.8 },   { 10, 10.2, 10.8 }, { 10, 9.8, 10.8 }
	};
	struct bisect_place place;

	(void)state;
	assert_true(bisect_place(&change, rounds, 6, &place));
	assert_int_equal(place.verdict, BISECT_GOOD);
}

/* 4 of 7 as BAD is, 3 as GOOD: of more than half alike nothing is known to be certain. */
static void one_that_is_now_good_now_bad_is_not_placed(void **state)
{
	struct bisect_change change = { .ratio = { 1.08, 1.08, 1.08 }, .deviation = 1e-4 };
	struct bisect_round rounds[41];
	struct bisect_place place;

	(void)state;
	for (int n = 1; n <= 41; n++) {
		rounds[n - 1] = (struct bisect_round){ 100, n % 2 ? 108 : 100, 108 };
		assert_true(bisect_place(&change, rounds, n, &place));
		assert_int_equal(place.verdict, BISECT_OPEN);
		assert_false(place.between);
	}
}

/* Two candidates' times by turns, around the middle of the two ends. */
static bool lies_between(double bad, double one, double other)
{
	const struct bisect_change change = { .ratio = { bad / 100, bad / 100, bad / 100 },
					      .deviation = 1e-4 };
	struct bisect_round rounds[20];
	struct bisect_place place;

	for (int i = 0; i < 20; i++)
		rounds[i] = (struct bisect_round){ 100, i % 2 ? one : other, bad };
	assert_true(bisect_place(&change, rounds, 20, &place));
	return place.between;
}

static void what_has_a_part_of_the_change_lies_between(void **state)
{
	(void)state;
	assert_true(lies_between(108, 103, 105));
	assert_false(lies_between(108, 100, 105));
	assert_false(lies_between(108, 103, 108));
	assert_true(lies_between(92, 95, 97));
	assert_false(lies_between(92, 92, 97));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_planted_change_is_found_in_19_of_20_tries_and_8_steps),
		cmocka_unit_test(equal_commits_are_the_same_and_never_differ_more_than_seldom),
		cmocka_unit_test(what_is_counted_is_told_at_once),
		cmocka_unit_test(an_outlier_decides_nothing),
		cmocka_unit_test(one_that_is_now_good_now_bad_is_not_placed),
		cmocka_unit_test(what_has_a_part_of_the_change_lies_between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
