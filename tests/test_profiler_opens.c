/* tests/test_profiler_opens.c -- which part of a timeline a page shows first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/timeline/opens.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

static void add(struct opens *o, enum timeline_kind kind, int64_t from_ns, int64_t to_ns)
{
	struct timeline_event e = { .start_ns = from_ns,
				    .duration_ns = to_ns - from_ns,
				    .kind = kind };

	opens_add(o, &e, from_ns, to_ns);
}

/* Ends within `off_ns` of those.  Takes *o with it. */
static void assert_opens_near(struct opens *o, bool sampled, const char *of, int64_t t0_ns,
			      int64_t t1_ns, int64_t off_ns)
{
	json_t *json = opens_json(o, 0, sampled);

	assert_non_null(json);
	assert_string_equal(json_string_value(json_object_get(json, "of")), of);
	assert_in_range(json_integer_value(json_object_get(json, "t0_ns")) - (t0_ns - off_ns), 0,
			2 * off_ns);
	assert_in_range(json_integer_value(json_object_get(json, "t1_ns")) - (t1_ns - off_ns), 0,
			2 * off_ns);
	json_decref(json);
	opens_destroy(o);
}

static void assert_opens(struct opens *o, bool sampled, const char *of, int64_t t0_ns,
			 int64_t t1_ns)
{
	assert_opens_near(o, sampled, of, t0_ns, t1_ns, 0);
}

static void kernels_of_microseconds_are_found_in_seconds_of_nothing(void **state)
{
	struct opens *o = opens_create(0, 19 * SECOND);

	(void)state;
	add(o, TIMELINE_RANGE, 0, 18 * SECOND); /* the compiler: of no device */
	for (int i = 0; i < 13; i++)
		add(o, TIMELINE_KERNEL, 18 * SECOND + i * 20000, 18 * SECOND + i * 20000 + 20000);
	assert_opens(o, false, "device", 18 * SECOND - 13000, 18 * SECOND + 260000 + 13000);
}

static void a_copy_far_from_the_kernels_is_left_out(void **state)
{
	struct opens *o = opens_create(0, 10 * SECOND);

	(void)state;
	add(o, TIMELINE_COPY, 10 * MS, 10 * MS + 1000);
	for (int i = 0; i < 100; i++)
		add(o, TIMELINE_KERNEL, 5 * SECOND + i * MS, 5 * SECOND + (i + 1) * MS);
	assert_opens_near(o, true, "device", 4995 * MS, 5105 * MS, 6 * MS);
}

static void what_is_busy_throughout_opens_whole(void **state)
{
	struct opens *o = opens_create(0, 1000);

	(void)state;
	for (int i = 0; i < 10; i++)
		add(o, TIMELINE_KERNEL, i * 100, i * 100 + 50);
	assert_opens(o, false, "whole", 0, 1000);
	assert_opens(opens_create(5, 5), false, "whole", 5, 5);
	assert_opens(opens_create(0, 1000), false, "whole", 0, 1000);
}

static void without_a_device_it_is_the_host(void **state)
{
	struct opens *o = opens_create(0, 100 * SECOND);

	(void)state;
	add(o, TIMELINE_OP, 40 * SECOND, 41 * SECOND); /* through many bins */
	add(o, TIMELINE_OP, 99 * SECOND, 99 * SECOND + 1);
	assert_opens_near(o, false, "host", 39950 * MS, 41050 * MS, 60 * MS);
}

static void calls_open_on_the_last_where_each_event_has_a_row(void **state)
{
	for (int sampled = 0; sampled < 2; sampled++) {
		struct opens *o = opens_create(0, 1000);

		(void)state;
		add(o, TIMELINE_CALL, 0, 300);
		add(o, TIMELINE_CALL, 400, 700);
		add(o, TIMELINE_KERNEL, 410, 420);
		assert_opens(o, sampled, sampled ? "whole" : "call", sampled ? 0 : 400,
			     sampled ? 1000 : 700);
	}
}

/* Beside every span that is looked through one by one. */
static void no_shorter_span_of_whole_bins_holds_as_much(void **state)
{
	(void)state;
	srand(3);
	for (int round = 0; round < 50; round++) {
		struct opens *o = opens_create(0, OPENS_BINS); /* a bin for each ns */
		int64_t at[OPENS_BINS] = { 0 }, all = 0, best = OPENS_BINS;
		json_t *json;
		int64_t length;

		for (int i = 0; i < 40; i++) {
			int from = rand() % 300, to = from + 1 + rand() % 20;

			add(o, TIMELINE_KERNEL, from, to);
			all += to - from;
			for (int k = from; k < to; k++)
				at[k]++;
		}
		for (int i = 0; i < 330; i++) {
			int64_t held = 0;

			for (int k = i; k < 330; k++) {
				held += at[k];
				if (held * 100 >= all * OPENS_PERCENT && k + 1 - i < best)
					best = k + 1 - i;
			}
		}
		json = opens_json(o, 0, true);
		length = json_integer_value(json_object_get(json, "t1_ns")) -
			 json_integer_value(json_object_get(json, "t0_ns"));
		/* the room on both sides, where there is as much */
		assert_in_range(length, best, best + 2 * (best / 20));
		json_decref(json);
		opens_destroy(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_microseconds_are_found_in_seconds_of_nothing),
		cmocka_unit_test(a_copy_far_from_the_kernels_is_left_out),
		cmocka_unit_test(what_is_busy_throughout_opens_whole),
		cmocka_unit_test(without_a_device_it_is_the_host),
		cmocka_unit_test(calls_open_on_the_last_where_each_event_has_a_row),
		cmocka_unit_test(no_shorter_span_of_whole_bins_holds_as_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
