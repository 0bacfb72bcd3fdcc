/* tests/test_base_pool.c -- every iteration runs once, whatever the threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "fusion/base/pool.h"

enum { MOST = 5000 };

struct loop {
	int hits[MOST];
	int thread_of[8]; /* which part ran on which thread: one writer each */
};

static void count_hits(void *context, int64_t begin, int64_t end, int thread)
{
	struct loop *loop = context;

	for (int64_t i = begin; i < end; i++)
		loop->hits[i]++;
	loop->thread_of[thread]++;
}

static void every_iteration_runs_exactly_once(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 4; threads++) {
		struct pool *pool = pool_create(threads);

		assert_int_equal(pool_threads(pool), threads);
		for (int64_t count = 0; count < MOST; count = count * 2 + 1) {
			struct loop loop = { 0 };

			pool_run(pool, count, 3, count_hits, &loop);
			for (int64_t i = 0; i < MOST; i++)
				assert_int_equal(loop.hits[i], i < count);
			for (int t = 0; t < 8; t++)
				assert_true(loop.thread_of[t] <= (t < threads));
		}
		pool_destroy(pool);
	}
}

static void a_small_loop_is_a_plain_call(void **state)
{
	struct pool *pool = pool_create(4);
	struct loop loop = { 0 };

	(void)state;
	pool_run(pool, 100, 64, count_hits, &loop);
	assert_int_equal(loop.thread_of[0], 1);
	assert_int_equal(loop.thread_of[1], 0);
	pool_destroy(pool);
}

static void no_pool_means_the_callers_thread(void **state)
{
	struct loop loop = { 0 };

	(void)state;
	assert_int_equal(pool_threads(NULL), 1);
	pool_run(NULL, 1000, 1, count_hits, &loop);
	assert_int_equal(loop.thread_of[0], 1);
	assert_int_equal(loop.hits[999], 1);
	pool_destroy(NULL);
}

/* Sleeping and spinning helpers alike: some rounds come at once, some late. */
static void many_rounds_lose_no_wake_up(void **state)
{
	struct pool *pool = pool_create(4);
	static struct loop loop;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		pool_run(pool, 64, 1, count_hits, &loop);
		if (round % 500 == 0)
			usleep(2000);
	}
	for (int i = 0; i < 64; i++)
		assert_int_equal(loop.hits[i], 3000);
	for (int t = 0; t < 4; t++)
		assert_int_equal(loop.thread_of[t], 3000);
	pool_destroy(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_iteration_runs_exactly_once),
		cmocka_unit_test(a_small_loop_is_a_plain_call),
		cmocka_unit_test(no_pool_means_the_callers_thread),
		cmocka_unit_test(many_rounds_lose_no_wake_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
