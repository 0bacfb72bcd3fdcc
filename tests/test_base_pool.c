/* tests/test_base_pool.c -- every iteration runs once, whatever the threads. */
#include <pthread.h>
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
	int calls[8]; /* of each thread: one writer each */
};

static void count_hits(void *context, int64_t begin, int64_t end, int thread)
{
	struct loop *loop = context;

	for (int64_t i = begin; i < end; i++)
		loop->hits[i]++;
	loop->calls[thread]++;
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
			for (int t = threads; t < 8; t++)
				assert_int_equal(loop.calls[t], 0);
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
	assert_int_equal(loop.calls[0], 1);
	assert_int_equal(loop.calls[1], 0);
	pool_destroy(pool);
}

enum { CALLERS = 3, ROUNDS = 200 };

/* An owner of a pool of its own, as far as it knows. */
static void *run_many(void *argument)
{
	struct loop *loop = argument;
	struct pool *pool = pool_create(3);

	for (int i = 0; pool && i < ROUNDS; i++)
		pool_run(pool, 100, 1, count_hits, loop);
	pool_destroy(pool);
	return NULL;
}

static void pools_of_one_size_are_one_and_serve_callers_by_turns(void **state)
{
	struct pool *a = pool_create(3), *b = pool_create(3), *c = pool_create(2);
	struct loop loops[CALLERS] = { 0 };
	pthread_t threads[CALLERS];

	(void)state;
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	pool_destroy(c);
	pool_destroy(b);
	for (int i = 0; i < CALLERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_many, &loops[i]), 0);
	for (int i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CALLERS; i++)
		for (int k = 0; k < 100; k++)
			assert_int_equal(loops[i].hits[k], ROUNDS);
	pool_destroy(a);
}

static void no_pool_means_the_callers_thread(void **state)
{
	struct loop loop = { 0 };

	(void)state;
	assert_int_equal(pool_threads(NULL), 1);
	pool_run(NULL, 1000, 1, count_hits, &loop);
	assert_int_equal(loop.calls[0], 1);
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
	pool_destroy(pool);
}

/* What a thread meets, in the order in which it does. */
struct order {
	int64_t last[4]; /* -1: none yet */
	_Atomic bool wrong;
	bool backward;
};

static void note_order(void *context, int64_t begin, int64_t end, int thread)
{
	struct order *o = context;

	if (o->last[thread] >= 0 && begin / 250 == o->last[thread] / 250)
		o->wrong = o->wrong || (begin < o->last[thread]) != o->backward;
	o->last[thread] = begin;
	(void)end;
}

static void a_part_is_walked_in_the_order_asked_for(void **state)
{
	struct pool *pool = pool_create(4);

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct order o = { .last = { -1, -1, -1, -1 }, .backward = round % 2 };

		pool_run_towards(pool, 1000, 1, round % 2, note_order, &o);
		assert_false(o.wrong);
	}
	pool_destroy(pool);
}

/* One helper waits in its first range until all others are done: somebody else does
 * the rest of its part. */
struct stuck {
	_Atomic int left;
	_Atomic bool entered;
};

static void wait_for_the_rest(void *context, int64_t begin, int64_t end, int thread)
{
	struct stuck *s = context;
	bool first = false;

	if (thread == 1 && !s->entered) {
		s->entered = true;
		first = true;
	}
	while (thread == 0 && !s->entered) /* the caller leaves the helper its chance */
		usleep(10);
	while (first && s->left > end - begin)
		usleep(10);
	s->left -= (int)(end - begin);
}

static void what_a_helper_leaves_is_done_by_others(void **state)
{
	struct pool *pool = pool_create(2);

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct stuck s = { .left = 1600 };

		pool_run(pool, 1600, 1, wait_for_the_rest, &s);
		assert_int_equal(s.left, 0);
		assert_true(s.entered);
	}
	pool_destroy(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_iteration_runs_exactly_once),
		cmocka_unit_test(a_small_loop_is_a_plain_call),
		cmocka_unit_test(pools_of_one_size_are_one_and_serve_callers_by_turns),
		cmocka_unit_test(no_pool_means_the_callers_thread),
		cmocka_unit_test(many_rounds_lose_no_wake_up),
		cmocka_unit_test(a_part_is_walked_in_the_order_asked_for),
		cmocka_unit_test(what_a_helper_leaves_is_done_by_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
