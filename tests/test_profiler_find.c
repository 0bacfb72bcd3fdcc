/* tests/test_profiler_find.c -- events that are looked for: counted, gone through in order, shown
 * before others, and joined with their launches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/base/buf.h"
#include "profiler/timeline/timeline.h"

static bool keep(void *self, const void *block, size_t len, struct err *err)
{
	(void)err;
	buf_add(self, block, len);
	return true;
}

static void add_event(struct timeline_writer *w, struct timeline_event e)
{
	struct err err = { 0 };

	assert_true(timeline_writer_add(w, &e, &err));
}

/* Kind, lane, start, duration, name and correlation of an event. */
#define ADD(w, k, l, start, ns, n, c)                                                              \
	add_event(w, (struct timeline_event){ .kind = (k),                                         \
					      .lane = (l),                                         \
					      .start_ns = (start),                                 \
					      .duration_ns = (ns),                                 \
					      .name = (n),                                         \
					      .correlation = (c) })

/* Two processes with a host and a stream each; both use the number 9 for a launch. */
static void write_two_processes(struct buf *out)
{
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, out, &err);
	uint32_t lanes[4], matmul, fused, launch;

	for (int i = 0; i < 4; i++)
		lanes[i] = timeline_writer_lane(
		    w, json_pack("{s:s, s:s, s:i}", "name", i % 2 ? "stream" : "host", "role",
				 i % 2 ? "kernels" : "host", "pid", i / 2 + 1));
	matmul = timeline_writer_name(
	    w, json_pack("{s:s, s:s}", "name", "product", "symbol", "sm90_MatMul_128"));
	fused = timeline_writer_name(w,
				     json_pack("{s:s, s:[s]}", "name", "fused_1", "ops", "relu"));
	launch = timeline_writer_name(w, json_pack("{s:s}", "name", "launch"));
	ADD(w, TIMELINE_LAUNCH, lanes[0], 1000, 5, launch, 9);
	ADD(w, TIMELINE_KERNEL, lanes[1], 1010, 100, matmul, 9);
	ADD(w, TIMELINE_LAUNCH, lanes[2], 1020, 5, launch, 9);
	ADD(w, TIMELINE_KERNEL, lanes[3], 1030, 40, matmul, 9);
	ADD(w, TIMELINE_KERNEL, lanes[3], 1050, 60, matmul, 10); /* over the one before */
	ADD(w, TIMELINE_KERNEL, lanes[1], 1200, 30, fused, 11);
	ADD(w, TIMELINE_KERNEL, lanes[3], 1200, 20, matmul, 12); /* begins with the next */
	ADD(w, TIMELINE_KERNEL, lanes[3], 1200, 10, matmul, 13);
	ADD(w, TIMELINE_COUNTER, lanes[3], 1300, 10, matmul,
	    0); /* takes no time: not one of them */
	assert_true(timeline_writer_finish(w, NULL, &err));
	timeline_writer_destroy(w);
}

static struct timeline_view *fill(const struct buf *b, const struct timeline_query *q)
{
	struct err err = { 0 };
	struct timeline_view *v = timeline_view_create(q, &err);

	for (int kind = TIMELINE_TABLES; kind >= TIMELINE_CHUNK; kind--)
		for (size_t at = 0; at < b->len;) {
			struct timeline_block block;

			assert_true(timeline_block_read(b->data + at, b->len - at, &block, &err));
			if ((int)block.kind == kind && kind == TIMELINE_TABLES)
				assert_true(
				    timeline_view_tables(v, b->data + at, block.block_bytes, &err));
			if ((int)block.kind == kind && kind == TIMELINE_CHUNK)
				assert_true(
				    timeline_view_chunk(v, b->data + at, block.block_bytes, &err));
			at += block.block_bytes;
		}
	return v;
}

static json_int_t at(const json_t *json, const char *key)
{
	assert_true(json_is_integer(json_object_get(json, key)));
	return json_integer_value(json_object_get(json, key));
}

static json_t *found(const struct buf *b, const char *text, struct timeline_seek seek)
{
	struct timeline_query q = { .t1_ns = -1, .px = 16, .find = text, .seek = seek };
	struct err err = { 0 };
	struct timeline_view *v;
	json_t *out;

	q.seek.wanted = true;
	v = fill(b, &q);
	out = timeline_view_found(v, &err);
	assert_non_null(out);
	timeline_view_destroy(v);
	return out;
}

static void what_is_found_is_counted_with_overlaps_once(void **state)
{
	struct buf b = { 0 };
	json_t *f;

	(void)state;
	write_two_processes(&b);
	f = found(&b, "matmul",
		  (struct timeline_seek){ .lane = -1 }); /* in the symbol, in any case */
	assert_int_equal(at(f, "events"), 5);
	assert_int_equal(at(f, "sum_ns"), 100 + 40 + 60 + 20 + 10);
	assert_int_equal(at(f, "busy_ns"), 100 + 80 + 20);
	json_decref(f);
	f = found(&b, "RELU", (struct timeline_seek){ .lane = -1 }); /* one of its ops */
	assert_int_equal(at(f, "events"), 1);
	json_decref(f);
	f = found(&b, "softmax", (struct timeline_seek){ .lane = -1 });
	assert_int_equal(at(f, "events"), 0);
	assert_true(json_is_null(json_object_get(f, "event")));
	json_decref(f);
	buf_finish(&b);
}

/* The place of an event that was found, to go on from. */
static struct timeline_seek from(const json_t *event, bool back)
{
	return (struct timeline_seek){ .at_ns = at(event, "start_ns"),
				       .lane = at(event, "lane"),
				       .duration_ns = at(event, "duration_ns"),
				       .name = at(event, "name"),
				       .back = back };
}

static void each_is_reached_from_the_one_before_and_back(void **state)
{
	static const int64_t starts[] = { 10, 30, 50, 200, 200 }, ns[] = { 100, 40, 60, 20, 10 };
	struct timeline_seek seek = { .lane = -1 };
	struct buf b = { 0 };
	json_t *f;

	(void)state;
	write_two_processes(&b);
	for (int i = 0; i < 5; i++) {
		f = found(&b, "matmul", seek);
		assert_int_equal(at(f, "index"), i + 1);
		assert_int_equal(at(json_object_get(f, "event"), "start_ns"), starts[i]);
		assert_int_equal(at(json_object_get(f, "event"), "duration_ns"), ns[i]);
		seek = from(json_object_get(f, "event"), false);
		json_decref(f);
	}
	f = found(&b, "matmul", seek); /* after the last */
	assert_true(json_is_null(json_object_get(f, "event")));
	json_decref(f);
	for (int i = 3; i >= 0; i--) {
		seek.back = true;
		f = found(&b, "matmul", seek);
		assert_int_equal(at(f, "index"), i + 1);
		assert_int_equal(at(json_object_get(f, "event"), "start_ns"), starts[i]);
		seek = from(json_object_get(f, "event"), true);
		json_decref(f);
	}
	buf_finish(&b);
}

static void the_events_of_a_launch_are_those_of_its_process(void **state)
{
	struct buf b = { 0 };
	json_t *f, *joined;

	(void)state;
	write_two_processes(&b);
	f = found(&b, NULL, (struct timeline_seek){ .lane = 3, .correlation = 9 });
	joined = json_object_get(f, "joined");
	assert_int_equal(json_array_size(joined), 2);
	assert_int_equal(at(json_array_get(joined, 0), "lane"), 2);
	assert_int_equal(at(json_array_get(joined, 1), "lane"), 3);
	json_decref(f);
	buf_finish(&b);
}

/* 20,000 long events, and a short one among them that is looked for. */
static void what_is_found_is_shown_before_what_is_longer(void **state)
{
	struct timeline_query q = { .t1_ns = -1, .px = 100, .find = "needle" };
	struct err err = { 0 };
	struct buf b = { 0 }, out = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, &b, &err);
	uint32_t lane = timeline_writer_lane(w, json_pack("{s:s}", "name", "lane"));
	uint32_t hay = timeline_writer_name(w, json_pack("{s:s}", "name", "hay"));
	uint32_t needle = timeline_writer_name(w, json_pack("{s:s}", "name", "needle"));
	struct timeline_view *v;
	uint32_t len, rows, names = 0;
	json_t *head, *f;

	(void)state;
	for (int i = 0; i < 20000; i++)
		ADD(w, TIMELINE_KERNEL, lane, 100 * i, i == 12345 ? 1 : 90,
		    i == 12345 ? needle : hay, 0);
	assert_true(timeline_writer_finish(w, NULL, &err));
	timeline_writer_destroy(w);
	v = fill(&b, &q);
	assert_true(timeline_view_columns(v, &out, &err));
	assert_true(timeline_view_is_sampled(v));
	timeline_view_destroy(v);
	memcpy(&len, out.data + 4, sizeof(len));
	head = json_loadb(out.data + 8, len, 0, NULL);
	rows = (uint32_t)at(head, "rows");
	f = json_object_get(head, "found");
	assert_int_equal(at(f, "events"), 1);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(f, "names"), 0)),
			 needle);
	assert_int_equal(at(json_array_get(json_object_get(head, "lanes"), 0), "found"), 1);
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t name, half = (4 * rows + 7) / 8 * 8;

		memcpy(&name, out.data + 8 + len + 3 * 8 * rows + 2 * half + 4 * i, sizeof(name));
		names += name == needle;
	}
	assert_int_equal(names, 1);
	json_decref(head);
	buf_finish(&out);
	buf_finish(&b);
}

/* Its time is over before the first chunk. */
static void a_search_whose_time_is_up_says_so_and_how_to_narrow_it(void **state)
{
	struct timeline_query q = { .t1_ns = -1, .px = 16, .find = "matmul", .find_until_ns = 1 };
	struct err err = { 0 };
	struct buf b = { 0 }, out = { 0 };
	struct timeline_view *v;
	uint32_t len;
	json_t *f, *head;

	(void)state;
	write_two_processes(&b);
	q.seek.wanted = true;
	q.seek.lane = -1;
	v = fill(&b, &q);
	assert_false(timeline_view_wants_more(v));
	f = timeline_view_found(v, &err);
	assert_int_equal(at(f, "events"), 0);
	assert_int_equal(at(f, "looked_at"), 0);
	assert_true(json_is_true(json_object_get(f, "busy_at_least")));
	assert_non_null(strstr(json_string_value(json_object_get(f, "cut")), "mode="));
	json_decref(f);
	timeline_view_destroy(v);
	q.seek.wanted = false; /* a window is shown all the same */
	v = fill(&b, &q);
	assert_true(timeline_view_wants_more(v));
	assert_true(timeline_view_columns(v, &out, &err));
	timeline_view_destroy(v);
	memcpy(&len, out.data + 4, sizeof(len));
	head = json_loadb(out.data + 8, len, 0, NULL);
	assert_int_equal(at(head, "events"), 9);
	assert_true(json_is_string(json_object_get(json_object_get(head, "found"), "cut")));
	json_decref(head);
	buf_finish(&out);
	f = found(&b, "matmul", (struct timeline_seek){ .lane = -1 });
	assert_true(json_is_null(json_object_get(f, "cut")));
	assert_int_equal(at(f, "looked_at"), 9);
	json_decref(f);
	buf_finish(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_found_is_counted_with_overlaps_once),
		cmocka_unit_test(each_is_reached_from_the_one_before_and_back),
		cmocka_unit_test(the_events_of_a_launch_are_those_of_its_process),
		cmocka_unit_test(what_is_found_is_shown_before_what_is_longer),
		cmocka_unit_test(a_search_whose_time_is_up_says_so_and_how_to_narrow_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
