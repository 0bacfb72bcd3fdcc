/* tests/test_profiler_overlap.c -- how long a lane was busy, in whatever order its events come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/base/buf.h"
#include "profiler/timeline/overlap.h"
#include "profiler/timeline/timeline.h"

static int64_t ns_of(struct overlap *o, struct overlap_room *room)
{
	int64_t ns = -1;

	assert_true(overlap_ns(o, room, &ns));
	return ns;
}

/* Spans at random over a few moments: as many as a table of the moments has. */
static void the_union_is_exact_in_any_order(void **state)
{
	enum { MOMENTS = 500 };

	(void)state;
	srand(7);
	for (int round = 0; round < 200; round++) {
		struct overlap o = { 0 };
		struct overlap_room room = { 0 };
		bool busy[MOMENTS] = { false };
		int n = 1 + rand() % 60, all = 0;

		for (int i = 0; i < n; i++) {
			int from = rand() % MOMENTS, to = from + rand() % 20;

			to = to < MOMENTS ? to : MOMENTS;
			for (int k = from; k < to; k++)
				busy[k] = true;
			assert_true(overlap_add(&o, &room, from, to));
			if (rand() % 10 == 0)
				ns_of(&o, &room); /* asked in between */
		}
		for (int k = 0; k < MOMENTS; k++)
			all += busy[k];
		assert_int_equal(ns_of(&o, &room), all);
		assert_false(o.at_least);
		assert_int_equal(room.used, o.spans.len);
		overlap_finish(&o);
	}
}

/* More spans than there is room for: exact in order, and said where it may be too small. */
static void what_is_not_kept_is_a_sum_and_a_span_among_it_is_told(void **state)
{
	struct overlap o = { 0 };
	struct overlap_room room = { .most = 8 };

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_true(overlap_add(&o, &room, 10 * i, 10 * i + 4));
	assert_true(room.used <= 8);
	assert_int_equal(ns_of(&o, &room), 400);
	assert_true(overlap_add(&o, &room, 985, 988)); /* late, among those that are kept */
	assert_int_equal(ns_of(&o, &room), 403);
	assert_false(o.at_least);
	assert_true(overlap_add(&o, &room, 5, 8));
	assert_int_equal(ns_of(&o, &room), 403);
	assert_true(o.at_least);
	overlap_finish(&o);
}

static bool keep(void *self, const void *block, size_t len, struct err *err)
{
	(void)err;
	buf_add(self, block, len);
	return true;
}

static void add(struct timeline_writer *w, uint32_t lane, int64_t start, int64_t ns, uint32_t name)
{
	const struct timeline_event e = { .kind = TIMELINE_KERNEL,
					  .lane = lane,
					  .start_ns = start,
					  .duration_ns = ns,
					  .name = name };
	struct err err = { 0 };

	assert_true(timeline_writer_add(w, &e, &err));
}

/* The blocks of a kind, in the order in which they were written. */
static void give(struct timeline_view *v, const struct buf *b, int kind)
{
	struct err err = { 0 };

	for (size_t at = 0; at < b->len;) {
		struct timeline_block block;

		assert_true(timeline_block_read(b->data + at, b->len - at, &block, &err));
		if ((int)block.kind == kind)
			assert_true(
			    kind == TIMELINE_TABLES
				? timeline_view_tables(v, b->data + at, block.block_bytes, &err)
				: timeline_view_chunk(v, b->data + at, block.block_bytes, &err));
		at += block.block_bytes;
	}
}

/* What came first is in the file after 70,000 events of later: more than one chunk holds. */
static void events_far_out_of_order_count_in_a_lane_and_in_a_search(void **state)
{
	struct timeline_query q = { .t1_ns = -1, .px = 16, .find = "kernel" };
	struct err err = { 0 };
	struct buf b = { 0 }, out = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, &b, &err);
	uint32_t lane = timeline_writer_lane(w, json_pack("{s:s}", "name", "stream"));
	uint32_t name = timeline_writer_name(w, json_pack("{s:s}", "name", "kernel"));
	struct timeline_view *v;
	json_t *head, *row, *found;
	uint32_t len;

	(void)state;
	for (int i = 0; i < 70000; i++)
		add(w, lane, 1000 + 10 * i, 6, name);
	for (int i = 0; i < 50; i++) /* 3 of each lie in a gap */
		add(w, lane, 1005 + 10 * i, 4, name);
	add(w, lane, 100, 300, name);
	assert_true(timeline_writer_finish(w, NULL, &err));
	timeline_writer_destroy(w);
	v = timeline_view_create(&q, &err);
	give(v, &b, TIMELINE_TABLES);
	give(v, &b, TIMELINE_CHUNK);
	assert_true(timeline_view_columns(v, &out, &err));
	timeline_view_destroy(v);
	memcpy(&len, out.data + 4, sizeof(len));
	head = json_loadb(out.data + 8, len, 0, NULL);
	row = json_array_get(json_object_get(head, "lanes"), 0);
	found = json_object_get(head, "found");
	assert_int_equal(json_integer_value(json_object_get(row, "sum_ns")), 420000 + 200 + 300);
	assert_int_equal(json_integer_value(json_object_get(row, "busy_ns")), 420000 + 150 + 300);
	assert_true(json_is_false(json_object_get(row, "busy_at_least")));
	assert_int_equal(json_integer_value(json_object_get(found, "busy_ns")), 420000 + 150 + 300);
	json_decref(head);
	buf_finish(&out);
	buf_finish(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_union_is_exact_in_any_order),
		cmocka_unit_test(what_is_not_kept_is_a_sum_and_a_span_among_it_is_told),
		cmocka_unit_test(events_far_out_of_order_count_in_a_lane_and_in_a_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
