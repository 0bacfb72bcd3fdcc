/* tests/test_profiler_timeline.c -- timelines: what is written is read again, windows
 * keep what can be seen, damage is found, and a run's own recording holds together. */
#include <zstd.h>

#include "fusion/base/hash.h"
#include "fusion/base/vec.h"
#include "profiler/timeline/format.h"
#include "profiler/timeline/timeline.h"
#include "tests/report_help.h"

struct block {
	char *data;
	size_t len;
};

struct blocks {
	VEC(struct block) list;
};

static bool keep(void *self, const void *block, size_t len, struct err *err)
{
	struct blocks *b = self;
	struct block copy = { malloc(len), len };

	(void)err;
	memcpy(copy.data, block, len);
	assert_true(VEC_PUSH(&b->list, copy));
	return true;
}

static void drop(struct blocks *b)
{
	for (size_t i = 0; i < b->list.len; i++)
		free(b->list.at[i].data);
	VEC_FREE(&b->list);
}

static struct timeline_event event_at(int64_t start, int64_t duration, uint32_t lane, uint32_t name)
{
	return (struct timeline_event){ .start_ns = start,
					.duration_ns = duration,
					.lane = lane,
					.name = name,
					.kind = TIMELINE_KERNEL };
}

/* Two lanes (static, dynamic) of n events each, 100 ns apart, 60 long; every
 * 1,000th of the first takes 90. */
static void write_two_lanes(struct blocks *b, int n)
{
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, b, &err);
	uint32_t lanes[2], name, shape;

	assert_non_null(w);
	lanes[0] = timeline_writer_lane(w, json_pack("{s:s, s:s}", "name", "a", "mode", "static"));
	lanes[1] = timeline_writer_lane(
	    w, json_pack("{s:s, s:s, s:i}", "name", "b", "mode", "dynamic", "n", 7));
	name = timeline_writer_name(w, json_pack("{s:s, s:[i]}", "name", "fused", "lines", 3));
	shape = timeline_writer_shape(w, json_pack("{s:[i, i, i]}", "grid", 8, 1, 1));
	assert_int_equal(shape, 1);
	for (int i = 0; i < n; i++)
		for (int k = 1; k >= 0; k--) {
			struct timeline_event e = event_at(5000 + 100 * (int64_t)i,
							   k == 0 && i % 1000 == 0 ? 90 : 60,
							   lanes[k], name);

			e.bytes = i;
			e.shape = shape;
			e.correlation = (uint32_t)i;
			assert_true(timeline_writer_add(w, &e, &err));
		}
	assert_true(timeline_writer_finish(w, json_pack("{s:i}", "dropped", 3), &err));
	timeline_writer_destroy(w);
}

static void every_event_comes_back_as_it_was(void **state)
{
	enum { N = 50000 };
	struct blocks b = { 0 };
	struct timeline_tables tables = { 0 };
	struct timeline_chunk chunk;
	struct err err = { 0 };
	int seen = 0, chunks = 0;

	(void)state;
	write_two_lanes(&b, N);
	assert_true(timeline_chunk_create(&chunk, &err));
	for (size_t i = 0; i < b.list.len; i++) {
		struct timeline_block block;

		assert_true(timeline_block_read(b.list.at[i].data, b.list.at[i].len, &block, &err));
		assert_int_equal(block.block_bytes, b.list.at[i].len);
		if (block.kind == TIMELINE_TABLES) {
			assert_true(timeline_tables_read(&tables, &block, &err));
			continue;
		}
		chunks++;
		assert_true(timeline_chunk_read(&chunk, NULL, &block, &err));
		assert_int_equal(chunk.start_ns[0], block.t0_ns);
		for (int k = 0; k < chunk.n; k++, seen++) {
			int64_t at = seen / 2;

			assert_int_equal(chunk.start_ns[k], 5000 + 100 * at);
			assert_int_equal(chunk.bytes[k], at);
			assert_int_equal(chunk.correlation[k], at);
			assert_int_equal(chunk.shape[k], 1);
			assert_int_equal(chunk.duration_ns[k],
					 chunk.lane[k] == 0 && at % 1000 == 0 ? 90 : 60);
		}
	}
	assert_int_equal(seen, 2 * N);
	assert_int_equal(chunks, (2 * N + TIMELINE_CHUNK_EVENTS - 1) / TIMELINE_CHUNK_EVENTS);
	assert_int_equal(json_array_size(tables.lanes), 2);
	assert_int_equal(json_array_size(tables.names), 2);
	assert_int_equal(json_integer_value(json_object_get(tables.facts, "events")), 2 * N);
	assert_int_equal(json_integer_value(json_object_get(tables.facts, "dropped")), 3);
	timeline_tables_finish(&tables);
	timeline_chunk_destroy(&chunk);
	drop(&b);
}

static void events_out_of_range_are_counted_and_left_out(void **state)
{
	struct blocks b = { 0 };
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, &b, &err);
	struct timeline_tables tables = { 0 };
	struct timeline_block block;
	uint32_t lane = timeline_writer_lane(w, json_pack("{s:s}", "name", "a"));
	struct timeline_event wrong[] = { event_at(TIMELINE_MAX_NS, 1, lane, 0),
					  event_at(INT64_MIN, 1, lane, 0), event_at(0, -1, lane, 0),
					  event_at(5, INT64_MAX, lane, 0),
					  event_at(0, 1, lane + 1, 0) };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_true(timeline_writer_add(w, &wrong[i], &err));
	assert_true(timeline_writer_finish(w, NULL, &err));
	assert_int_equal(b.list.len, 2); /* tables, and the last ones */
	for (size_t i = 0; i < b.list.len; i++) {
		assert_true(timeline_block_read(b.list.at[i].data, b.list.at[i].len, &block, &err));
		assert_true(timeline_tables_read(&tables, &block, &err));
	}
	assert_int_equal(json_integer_value(json_object_get(tables.facts, "out_of_range")), 5);
	timeline_tables_finish(&tables);
	timeline_writer_destroy(w);
	drop(&b);
}

/* The answer's head, and its columns after. */
static json_t *view_of(const struct blocks *b, const struct timeline_query *q, struct buf *out)
{
	struct err err = { 0 };
	struct timeline_view *v = timeline_view_create(q, &err);
	struct timeline_block block;
	int64_t t0, t1;
	uint32_t len;
	json_t *head;

	for (int kind = TIMELINE_TABLES; kind >= TIMELINE_CHUNK; kind--) {
		for (size_t i = 0; i < b->list.len; i++) {
			const struct block *x = &b->list.at[i];

			assert_true(timeline_block_read(x->data, x->len, &block, &err));
			if ((int)block.kind == TIMELINE_TABLES && kind == TIMELINE_TABLES)
				assert_true(timeline_view_tables(v, x->data, x->len, &err));
			if ((int)block.kind == TIMELINE_CHUNK && kind == TIMELINE_CHUNK &&
			    block.t0_ns <= t1 && block.t1_ns >= t0)
				assert_true(timeline_view_chunk(v, x->data, x->len, &err));
		}
		assert_true(timeline_view_range(v, &t0, &t1, &err));
	}
	assert_true(timeline_view_columns(v, out, &err));
	timeline_view_destroy(v);
	assert_memory_equal(out->data, "BETV", 4);
	memcpy(&len, out->data + 4, sizeof(len));
	head = json_loadb(out->data + 8, len, 0, NULL);
	assert_non_null(head);
	return head;
}

static json_int_t whole(const json_t *json, const char *key)
{
	assert_true(json_is_integer(json_object_get(json, key)));
	return json_integer_value(json_object_get(json, key));
}

/* Row i of the answer: its start and duration, as the head says they lie. */
static void row_times(const struct buf *out, const json_t *head, size_t i, double *start,
		      double *ns)
{
	size_t n = (size_t)whole(head, "rows");
	uint32_t len;

	memcpy(&len, out->data + 4, sizeof(len));
	memcpy(start, out->data + 8 + len + 8 * i, sizeof(*start));
	memcpy(ns, out->data + 8 + len + 8 * n + 8 * i, sizeof(*ns));
}

/* Two ranks, whose events come in turn, 100 ns apart: the second's clock is `ahead` ns ahead. */
static void write_two_ranks(struct blocks *b, int n, int64_t ahead)
{
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, b, &err);
	uint32_t name;

	for (int rank = 0; rank < 2; rank++)
		timeline_writer_lane(w, json_pack("{s:s, s:i}", "name", "lane", "rank", rank));
	name = timeline_writer_name(w, json_pack("{s:s}", "name", "kernel"));
	for (int i = 0; i < 2 * n; i++) {
		struct timeline_event e = event_at(5000 + 50 * (int64_t)i + (i % 2 ? ahead : 0), 30,
						   i % 2, name);

		assert_true(timeline_writer_add(w, &e, &err));
	}
	assert_true(timeline_writer_finish(
	    w, json_pack("{s:[[i, i, i], [i, I, i]]}", "clocks", 0, 0, 0, 1, (json_int_t)ahead, 7),
	    &err));
	timeline_writer_destroy(w);
}

static void clocks_that_are_apart_are_read_as_one(void **state)
{
	static const int64_t apart[] = { 1000, -1000, 5000000, -5000000 };
	enum { N = 50000 };

	(void)state;
	for (size_t k = 0; k < sizeof(apart) / sizeof(apart[0]); k++) {
		struct blocks b = { 0 };
		struct timeline_query q = { .t1_ns = -1, .px = 100 };
		struct buf out = { 0 };
		double start, ns;
		json_t *head, *lane;
		int64_t begin, end;

		write_two_ranks(&b, N, apart[k]);
		head = view_of(&b, &q, &out);
		assert_int_equal(whole(head, "span_ns"), 50 * (2 * N - 1) + 30);
		assert_int_equal(whole(head, "events"), 2 * N);
		assert_string_equal(json_string_value(json_object_get(head, "clocks")), "aligned");
		lane = json_array_get(json_object_get(head, "lanes"), 1);
		assert_int_equal(whole(lane, "ahead_ns"), apart[k]);
		assert_int_equal(whole(lane, "ahead_error_ns"), 7);
		json_decref(head);

		/* Wherever a window is, it has the events of both, in turn. */
		for (int64_t at = 0; at < 50 * 2 * N; at += 50 * 1237) {
			q.t0_ns = at;
			q.t1_ns = at + 1000;
			head = view_of(&b, &q, &out);
			assert_int_equal(whole(head, "events"),
					 at + 1000 > 100 * N ? 2 * N - at / 50 : 20);
			for (size_t i = 0; i < (size_t)whole(head, "rows"); i++) {
				row_times(&out, head, i, &start, &ns);
				assert_true(start == (double)at + 50 * (double)i && ns == 30);
			}
			json_decref(head);
		}

		q = (struct timeline_query){ .t1_ns = -1, .px = 100, .as_recorded = true };
		head = view_of(&b, &q, &out);
		begin = apart[k] < -50 ? 50 + apart[k] : 0;
		end = 100 * (N - 1) + 30 + (apart[k] < -50 ? 0 : 50 + apart[k]);
		assert_int_equal(whole(head, "span_ns"), end - begin);
		assert_string_equal(json_string_value(json_object_get(head, "clocks")), "recorded");
		json_decref(head);
		buf_finish(&out);
		drop(&b);
	}
}

static void clocks_of_strangers_are_looked_at(void **state)
{
	static const char *const wrong[] = {
		"1",
		"[1]",
		"[[0, 1]]",
		"[[0, 1, 2, 3]]",
		"[[-1, 1, 1]]",
		"[[4096, 1, 1]]",
		"[[0, 1, -1]]",
		"[[0, 4611686018427387904, 1]]",
		"[[0, -4611686018427387904, 1]]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct blocks b = { 0 };
		struct err err = { 0 };
		struct timeline_writer *w = timeline_writer_create(keep, &b, &err);
		struct timeline_tables tables = { 0 };
		struct timeline_block block;

		timeline_writer_lane(w, json_pack("{s:s}", "name", "lane"));
		assert_true(timeline_writer_finish(
		    w, json_pack("{s:o}", "clocks", json_loads(wrong[i], JSON_DECODE_ANY, NULL)),
		    &err));
		assert_true(timeline_block_read(b.list.at[b.list.len - 1].data,
						b.list.at[b.list.len - 1].len, &block, &err));
		assert_false(timeline_tables_read(&tables, &block, &err));
		assert_int_equal(err.code, ERR_TIMELINE);
		assert_null(tables.clocks);
		timeline_tables_finish(&tables);
		timeline_writer_destroy(w);
		drop(&b);
	}
}

static void a_small_window_has_a_row_an_event(void **state)
{
	struct blocks b = { 0 };
	struct timeline_query q = {
		.mode = "dynamic", .has_n = true, .n = 7, .t0_ns = 1000, .t1_ns = 1990, .px = 100
	};
	struct buf out = { 0 };
	double start, ns;
	json_t *head, *lane;

	(void)state;
	write_two_lanes(&b, 50000);
	head = view_of(&b, &q, &out);
	assert_int_equal(whole(head, "events"), 10);
	assert_int_equal(whole(head, "rows"), 10);
	assert_true(json_is_false(json_object_get(head, "sampled")));
	assert_int_equal(whole(head, "span_ns"), 49999 * 100 + 60);
	assert_int_equal(whole(head, "t0_ns"), 1000);
	row_times(&out, head, 3, &start, &ns);
	assert_true(start == 1300 && ns == 60);
	assert_int_equal(json_array_size(json_object_get(head, "lanes")), 1);
	lane = json_array_get(json_object_get(head, "lanes"), 0);
	assert_string_equal(json_string_value(json_object_get(lane, "name")), "b");
	assert_int_equal(whole(lane, "sum_ns"), 600);
	assert_int_equal(whole(lane, "busy_ns"), 600);
	assert_non_null(json_object_get(json_object_get(head, "names"), "1"));
	assert_non_null(json_object_get(json_object_get(head, "shapes"), "1"));
	json_decref(head);
	q.n = 8;
	head = view_of(&b, &q, &out);
	assert_int_equal(whole(head, "events"), 0);
	assert_int_equal(json_array_size(json_object_get(head, "lanes")), 0);
	json_decref(head);
	buf_finish(&out);
	drop(&b);
}

/* Kernels follow each other without a gap, as a CPU's clock has them: the window that one of them
 * fills holds that one, and what has no duration lies on an end too. */
static void a_window_holds_no_event_that_only_touches_it(void **state)
{
	struct blocks b = { 0 };
	struct err err = { 0 };
	struct timeline_query q = { .mode = "static", .t0_ns = 60, .t1_ns = 120, .px = 100 };
	struct timeline_writer *w = timeline_writer_create(keep, &b, &err);
	struct buf out = { 0 };
	uint32_t lane, name;
	json_t *head, *row;

	(void)state;
	assert_non_null(w);
	lane = timeline_writer_lane(w, json_pack("{s:s, s:s}", "name", "a", "mode", "static"));
	name = timeline_writer_name(w, json_pack("{s:s}", "name", "fused"));
	for (int i = 0; i < 3; i++) {
		struct timeline_event e = event_at(60 * i, 60, lane, name);

		assert_true(timeline_writer_add(w, &e, &err));
	}
	assert_true(timeline_writer_add(
	    w,
	    &(struct timeline_event){
		.start_ns = 120, .lane = lane, .name = name, .kind = TIMELINE_EAGER },
	    &err));
	assert_true(timeline_writer_finish(w, json_object(), &err));
	timeline_writer_destroy(w);
	head = view_of(&b, &q, &out);
	row = json_array_get(json_object_get(head, "lanes"), 0);
	assert_int_equal(whole(row, "events"), 2);
	assert_int_equal(whole(row, "busy_ns"), 60);
	json_decref(head);
	buf_finish(&out);
	drop(&b);
}

static void a_wide_window_keeps_the_longest_of_each_pixel_and_all_totals(void **state)
{
	enum { N = 50000, PX = 50 };
	struct blocks b = { 0 };
	struct timeline_query q = { .t1_ns = -1, .px = PX };
	struct buf out = { 0 };
	json_t *head, *total;
	int long_ones = 0;

	(void)state;
	write_two_lanes(&b, N);
	head = view_of(&b, &q, &out);
	assert_int_equal(whole(head, "events"), 2 * N);
	assert_true(json_is_true(json_object_get(head, "sampled")));
	assert_int_equal(whole(head, "rows"), 2 * PX);
	for (size_t i = 0; i < 2 * PX; i++) {
		double start, ns;

		row_times(&out, head, i, &start, &ns);
		long_ones += ns == 90;
	}
	assert_int_equal(long_ones, PX); /* one in each pixel of the first lane */
	total = json_array_get(json_object_get(head, "totals"), 0);
	assert_int_equal(json_integer_value(json_array_get(total, 2)), 2 * N);
	assert_int_equal(json_integer_value(json_array_get(total, 3)), 2 * N * 60 + N / 1000 * 30);
	assert_int_equal(json_integer_value(json_array_get(total, 4)), 90);
	assert_int_equal(whole(json_object_get(head, "facts"), "dropped"), 3);
	json_decref(head);
	buf_finish(&out);
	drop(&b);
}

/* Column `at` of the u32 ones, of row i. */
static uint32_t row_number(const struct buf *out, const json_t *head, size_t at, size_t i)
{
	size_t n = (size_t)whole(head, "rows"), narrow = (n * 4 + 7) / 8 * 8;
	uint32_t len, x;

	memcpy(&len, out->data + 4, sizeof(len));
	memcpy(&x, out->data + 8 + len + 3 * 8 * n + at * narrow + 4 * i, sizeof(x));
	return x;
}

static json_t *head_of(const struct buf *out)
{
	uint32_t len;

	memcpy(&len, out->data + 4, sizeof(len));
	return json_loadb(out->data + 8, len, 0, NULL);
}

static void expect_coarser(const struct blocks *b, const struct buf *finest, int px,
			   const char *lanes)
{
	struct timeline_query q = { .t1_ns = -1, .px = px, .lanes = lanes };
	struct buf direct = { 0 }, coarser = { 0 };
	struct err err = { 0 };
	bool fits;

	json_decref(view_of(b, &q, &direct));
	assert_true(timeline_coarser(finest, &q, &coarser, &fits, &err));
	assert_true(fits);
	assert_int_equal(coarser.len, direct.len);
	assert_memory_equal(coarser.data, direct.data, direct.len);
	buf_finish(&direct);
	buf_finish(&coarser);
}

/* All events are counted, each row in its own column, and what is longest is there. */
static void expect_all_events(const struct buf *finest, int px, json_int_t events)
{
	struct timeline_query q = { .t1_ns = -1, .px = px };
	struct buf out = { 0 };
	struct err err = { 0 };
	json_int_t counted = 0;
	int long_ones = 0, last = -1;
	json_t *head;
	bool fits;

	assert_true(timeline_coarser(finest, &q, &out, &fits, &err) && fits);
	head = head_of(&out);
	assert_int_equal(whole(head, "px"), px);
	for (size_t i = 0; i < (size_t)whole(head, "rows"); i++) {
		double start, ns;
		int column;

		row_times(&out, head, i, &start, &ns);
		column = (int)(start / (double)whole(head, "span_ns") * px);
		if (row_number(&out, head, 0, i) == 0) {
			assert_true(column > last);
			last = column;
		}
		long_ones += ns == 90;
		counted += row_number(&out, head, 5, i);
	}
	assert_int_equal(counted, events);
	assert_int_equal(long_ones, 50);
	json_decref(head);
	buf_finish(&out);
}

static void a_whole_timeline_in_any_width_comes_of_the_finest(void **state)
{
	enum { N = 50000 };
	struct timeline_query q = { .t1_ns = -1, .finest = true };
	struct buf finest = { 0 }, out = { 0 };
	struct err err = { 0 };
	struct blocks b = { 0 };
	bool fits;

	(void)state;
	write_two_lanes(&b, N);
	json_decref(view_of(&b, &q, &finest));
	for (int px = 50; px <= 1600; px *= 2) {
		expect_coarser(&b, &finest, px, NULL);
		expect_coarser(&b, &finest, px, "1");
	}
	expect_all_events(&finest, 333, 2 * N);
	expect_all_events(&finest, 1001, 2 * N);
	expect_all_events(&finest, 8192, 2 * N);
	finest.len -= 8;
	assert_false(timeline_coarser(&finest, &q, &out, &fits, &err));
	assert_int_equal(err.code, ERR_STORAGE);
	buf_clear(&finest);
	drop(&b);

	b = (struct blocks){ 0 };
	write_two_lanes(&b, 2000); /* each event has a row */
	json_decref(view_of(&b, &q, &finest));
	expect_coarser(&b, &finest, 100, NULL);
	expect_coarser(&b, &finest, 333, "0");
	buf_finish(&finest);
	buf_finish(&out);
	drop(&b);
}

/* A few events of one lane, many of another. */
static void lanes_with_few_events_are_not_had_of_columns(void **state)
{
	struct timeline_query q = { .t1_ns = -1, .finest = true };
	struct buf finest = { 0 }, out = { 0 };
	struct err err = { 0 };
	struct blocks b = { 0 };
	bool fits = true;

	(void)state;
	write_two_lanes(&b, 3500); /* 7,000 have no row each, 3,500 have */
	json_decref(view_of(&b, &q, &finest));
	q.lanes = "1";
	q.px = 100;
	assert_true(timeline_coarser(&finest, &q, &out, &fits, &err));
	assert_false(fits);
	buf_finish(&finest);
	buf_finish(&out);
	drop(&b);
}

/* A stranger's events may be longer together than 2^63 ns. */
static void a_name_says_what_an_event_is_drawn_as_where_its_kind_does_not(void **state)
{
	static const struct {
		enum timeline_kind kind;
		const char *name, *lane, *as;
	} cases[] = {
		{ TIMELINE_KERNEL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", NULL,
		  "collective" },
		{ TIMELINE_KERNEL, "triton_poi_fused_add_0", NULL, "kernel" },
		{ TIMELINE_RANGE, "nccl:all_reduce", NULL, "collective" },
		{ TIMELINE_RANGE, "gloo:all_reduce", NULL, "collective" },
		{ TIMELINE_OP, "c10d::allreduce_", NULL, "collective" },
		{ TIMELINE_OP, "dynamo", NULL, "compile" },
		{ TIMELINE_OP, "aten::dynamo_like", NULL, "op" },
		{ TIMELINE_RANGE, "compile_fx_inner (dynamo_timed)", NULL, "compile" },
		{ TIMELINE_RANGE, "torch/nn/modules/linear.py(114): forward", NULL, "python" },
		{ TIMELINE_RANGE, "nn.Module: Linear_0", "thread 7", "python" },
		{ TIMELINE_RANGE, "backend_compile 0/0", "compiling, process 7", "compile" },
		{ TIMELINE_OP, "aten::add", "compiling, process 7", "op" },
		{ TIMELINE_IDLE, "nccl", NULL, "idle" },
		{ TIMELINE_RANGE, NULL, NULL, "range" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(timeline_drawn_as(cases[i].kind, cases[i].name, cases[i].lane),
				    cases[i].as);
}

static void sums_of_times_stop_where_numbers_end(void **state)
{
	struct timeline_query q = { .t1_ns = -1, .px = 50 };
	struct timeline_event e;
	struct blocks b = { 0 };
	struct buf out = { 0 };
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, &b, &err);
	uint32_t lane, name;
	json_t *head, *total;

	(void)state;
	lane = timeline_writer_lane(w, json_pack("{s:s, s:s}", "name", "a", "mode", "static"));
	name = timeline_writer_name(w, json_pack("{s:s}", "name", "fused"));
	e = event_at(0, TIMELINE_MAX_NS / 2, lane, name);
	for (int i = 0; i < 5; i++)
		assert_true(timeline_writer_add(w, &e, &err));
	assert_true(timeline_writer_finish(w, json_object(), &err));
	timeline_writer_destroy(w);
	head = view_of(&b, &q, &out);
	total = json_array_get(json_object_get(head, "totals"), 0);
	assert_int_equal(json_integer_value(json_array_get(total, 2)), 5);
	assert_true(json_integer_value(json_array_get(total, 3)) == INT64_MAX);
	json_decref(head);
	buf_finish(&out);
	drop(&b);
}

static void damage_is_found_wherever_it_is(void **state)
{
	struct blocks b = { 0 };
	struct timeline_block block;
	struct err err = { 0 };

	(void)state;
	write_two_lanes(&b, 100);
	for (size_t i = 0; i < b.list.len; i++) {
		struct block *x = &b.list.at[i];

		for (size_t at = 48; at < x->len; at += 7) {
			x->data[at] ^= 0x20;
			assert_false(timeline_block_read(x->data, x->len, &block, &err));
			assert_int_equal(err.code, ERR_TIMELINE);
			x->data[at] ^= 0x20;
		}
		for (size_t len = 0; len < x->len; len += 5)
			assert_false(timeline_block_read(x->data, len, &block, &err));
		assert_true(timeline_block_read(x->data, x->len, &block, &err));
	}
	drop(&b);
}

/* Rows of an answer by kind; checks that each lies in its lane's role. */
static void count_kinds(const json_t *head, const struct buf *out, int kinds[TIMELINE_KIND_COUNT])
{
	size_t n = (size_t)whole(head, "rows");
	uint32_t len;
	const char *at;

	memcpy(&len, out->data + 4, sizeof(len));
	at = out->data + 8 + len + 3 * 8 * n + (4 * n + 7) / 8 * 8;
	memset(kinds, 0, sizeof(*kinds) * TIMELINE_KIND_COUNT);
	for (size_t i = 0; i < n; i++) {
		uint32_t kind;

		memcpy(&kind, at + 4 * i, sizeof(kind));
		assert_true(kind < TIMELINE_KIND_COUNT);
		kinds[kind]++;
	}
}

/* What the totals of a kind sum up to, in nanoseconds. */
static json_int_t sum_of(const json_t *head, enum timeline_kind kind)
{
	const json_t *row;
	json_int_t sum = 0;
	size_t i;

	json_array_foreach(json_object_get(head, "totals"), i, row)
	    sum += json_integer_value(json_array_get(row, 1)) == (json_int_t)kind
		       ? json_integer_value(json_array_get(row, 3))
		       : 0;
	return sum;
}

/* Bytes in use over time: a lane of the mode's own. */
static void check_memory(const json_t *head)
{
	const json_t *lane = json_array_get(json_object_get(head, "lanes"), 3);

	assert_string_equal(json_string_value(json_object_get(lane, "role")), "counter");
	assert_string_equal(json_string_value(json_object_get(lane, "unit")), "bytes");
	assert_string_equal(json_string_value(json_object_get(lane, "mode")), "static");
}

static bool has_kernel_of_three_lines(const json_t *head)
{
	const char *key;
	json_t *name;

	json_object_foreach(json_object_get(head, "names"), key, name)
	{
		if (json_array_size(json_object_get(name, "lines")) == 3 &&
		    json_array_size(json_object_get(name, "ops")) == 3)
			return true;
	}
	return false;
}

static void a_run_records_calls_kernels_and_phases_of_every_mode(void **state)
{
	struct blocks b = { 0 };
	struct profiler_options options = { .timing = true, .timeline = keep, .self = &b };
	json_t *json = load(
	    "{'name': 'chain', 'threads': 1, 'backend': 'interp', 'modes': ['eager', "
	    "'static'], 'source': 'import torch\\ndef model(x):\\n    x = x * 2\\n  "
	    "  x = torch.sin(x)\\n    return x.sum()\\n', 'calls': [[{'random': "
	    "{'shape': [4, 8], 'seed': 1}}]]}");
	struct err err = { 0 };
	struct workload *w = workload_parse(json, &err);
	struct report_draft draft = { 0 };
	const struct report_run *report = profiler_run(w, &options, &draft, &err);
	json_t *head, *name;
	struct buf out = { 0 };
	int kinds[TIMELINE_KIND_COUNT];
	const char *key;
	bool sin_at_4 = false;

	(void)state;
	assert_non_null(report);
	head = view_of(&b, &(struct timeline_query){ .mode = "static", .t1_ns = -1, .px = 100 },
		       &out);
	count_kinds(head, &out, kinds);
	assert_int_equal(json_array_size(json_object_get(head, "lanes")), 4);
	check_memory(head);
	/* an output is taken, and given back after the call */
	assert_true(kinds[TIMELINE_COUNTER] >= 2 * kinds[TIMELINE_CALL] - 1);
	assert_int_equal(whole(json_object_get(head, "idle"), "devices"), 1);
	assert_int_equal(whole(json_object_get(head, "idle"), "late"), 0);
	assert_int_equal(sum_of(head, TIMELINE_IDLE) + sum_of(head, TIMELINE_KERNEL),
			 whole(head, "span_ns"));
	assert_true(kinds[TIMELINE_CALL] >= 3);
	assert_int_equal(kinds[TIMELINE_KERNEL], kinds[TIMELINE_CALL]);
	assert_int_equal(kinds[TIMELINE_LAUNCH], kinds[TIMELINE_KERNEL]);
	assert_int_equal(kinds[TIMELINE_GUARDS], kinds[TIMELINE_CALL]);
	assert_int_equal(kinds[TIMELINE_EAGER], 0);
	assert_true(has_kernel_of_three_lines(head));
	json_decref(head);
	head = view_of(&b, &(struct timeline_query){ .mode = "eager", .t1_ns = -1, .px = 100 },
		       &out);
	count_kinds(head, &out, kinds);
	assert_int_equal(kinds[TIMELINE_EAGER], 3 * kinds[TIMELINE_CALL]);
	assert_int_equal(kinds[TIMELINE_KERNEL], 0);
	json_object_foreach(json_object_get(head, "names"), key, name)
	{
		sin_at_4 |= strcmp(json_string_value(json_object_get(name, "name")), "sin") == 0 &&
			    json_integer_value(json_array_get(json_object_get(name, "lines"), 0)) ==
				4;
	}
	assert_true(sin_at_4);
	assert_int_equal(whole(json_object_get(head, "facts"), "dropped"), 0);
	json_decref(head);
	report_draft_finish(&draft);
	json_decref(json);
	workload_destroy(w);
	buf_finish(&out);
	drop(&b);
}

static void files_lie_beside_the_events_in_pieces(void **state)
{
	struct timeline_block block;
	struct blocks b = { 0 };
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, &b, &err);
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct buf text = { 0 };

	(void)state;
	assert_true(timeline_writer_file(
	    w, &(struct timeline_piece){ TIMELINE_FILE, "rank_0.log", "first ", 6, 0, 0, 0 },
	    &err));
	assert_true(timeline_writer_file(
	    w, &(struct timeline_piece){ TIMELINE_FILE, "rank_0.log", "second", 6, 0, 0, 0 },
	    &err));
	assert_true(timeline_writer_finish(w, NULL, &err));
	timeline_writer_destroy(w);
	for (size_t i = 0; i < b.list.len; i++) {
		assert_true(timeline_block_read(b.list.at[i].data, b.list.at[i].len, &block, &err));
		if (block.kind != TIMELINE_FILE)
			continue;
		assert_true(timeline_file_read(&block, name, &text, &err));
		assert_string_equal(name, "rank_0.log");
	}
	assert_string_equal(text.data, "first second");
	/* A piece that says it is longer than any. */
	assert_true(timeline_block_read(b.list.at[0].data, b.list.at[0].len, &block, &err));
	((uint8_t *)b.list.at[0].data)[48 + 7] = 0x7f;
	assert_false(timeline_file_read(&block, name, &text, &err));
	assert_int_equal(err.code, ERR_TIMELINE);
	buf_finish(&text);
	drop(&b);
}

/* A part of a body: `raw` bytes of text again and again, which zstd makes a thousandth of. */
static void add_packed(struct buf *body, const char *text, size_t raw)
{
	size_t bound = ZSTD_compressBound(raw), n = strlen(text);
	char *plain = malloc(raw), *packed = malloc(bound);
	struct timeline_part part = { .codec = TIMELINE_ZSTD };

	for (size_t i = 0; i < raw; i++)
		plain[i] = n ? text[i % n] : '\0';
	part.bytes = (uint32_t)ZSTD_compress(packed, bound, plain, raw, TIMELINE_LEVEL);
	assert_true(part.bytes < raw / 100);
	buf_add(body, (const char *)&part, sizeof(part));
	buf_add(body, packed, part.bytes);
	free(plain);
	free(packed);
}

/* The body as a block, in `out`. */
static struct timeline_block block_of(uint32_t kind, uint32_t events, const struct buf *body,
				      struct buf *out)
{
	struct timeline_head head = { .magic = TIMELINE_MAGIC,
				      .kind = kind,
				      .events = events,
				      .version = TIMELINE_VERSION,
				      .body_bytes = body->len,
				      .hash = hash_bytes(body->data, body->len, 0) };
	struct timeline_block block;
	struct err err = { 0 };

	buf_add(out, (const char *)&head, sizeof(head));
	buf_add(out, body->data, body->len);
	assert_true(timeline_block_read(out->data, out->len, &block, &err));
	return block;
}

/* What a column or a piece of a file becomes is said by the block, not by what zstd makes of it. */
static void columns_and_pieces_that_grow_are_damaged(void **state)
{
	uint32_t sizes[] = { 1, TIMELINE_PIECE_BYTES };
	struct buf body = { 0 }, out = { 0 }, text;
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct timeline_chunk chunk;
	struct timeline_block b;
	struct err err = { 0 };

	(void)state;
	add_packed(&body, "", 64 << 20);
	b = block_of(TIMELINE_CHUNK, TIMELINE_CHUNK_EVENTS, &body, &out);
	assert_true(timeline_chunk_create(&chunk, &err));
	assert_false(timeline_chunk_read(&chunk, NULL, &b, &err));
	assert_int_equal(err.code, ERR_TIMELINE);
	timeline_chunk_destroy(&chunk);

	buf_clear(&body);
	buf_clear(&out);
	buf_add(&body, (const char *)sizes, sizeof(sizes));
	buf_add(&body, "f", 1);
	add_packed(&body, "line\n", TIMELINE_PIECE_BYTES);
	b = block_of(TIMELINE_FILE, 0, &body, &out);
	buf_init(&text, 10 << 20);
	err = (struct err){ 0 };
	for (int i = 0; i < 2; i++)
		assert_true(timeline_file_read(&b, name, &text, &err));
	assert_false(timeline_file_read(&b, name, &text, &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
	assert_string_equal(err.message, "the files of the run have more than 10 MiB");
	buf_finish(&text);
	buf_finish(&body);
	buf_finish(&out);
}

/* Tables in few bytes that memory would be needed for: many values, and many blocks of texts. */
static void tables_that_grow_are_refused_before_memory_is_taken(void **state)
{
	static const struct {
		const char *text;
		int refused; /* the block that is one too many */
	} rows[] = { { "[0],", 1 }, { "{\"a\":{}},", 1 }, { " ", 13 }, { "\"x\" ,", 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t raw = 32 << 20;
		struct timeline_tables tables = { 0 };
		struct buf body = { 0 }, out = { 0 };
		struct timeline_block b;
		struct err err = { 0 };
		int read = 0;

		buf_add(&body, (const char *)&raw, sizeof(raw));
		add_packed(&body, rows[i].text, raw);
		b = block_of(TIMELINE_TABLES, 0, &body, &out);
		while (!strstr(err.message, "over their limit") && read++ < rows[i].refused) {
			err = (struct err){ 0 };
			assert_false(timeline_tables_read(&tables, &b, &err));
			assert_int_equal(err.code, ERR_TIMELINE);
		}
		assert_int_equal(read, rows[i].refused);
		assert_non_null(strstr(err.message, "over their limit"));
		timeline_tables_finish(&tables);
		buf_finish(&body);
		buf_finish(&out);
	}
}

static void what_is_there_can_be_watched_before_the_end(void **state)
{
	const struct timeline_query q = { .t1_ns = -1, .px = 100 };
	struct blocks b = { 0 };
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, &b, &err);
	uint32_t lane = timeline_writer_lane(w, json_pack("{s:s}", "name", "lane"));
	uint32_t name = timeline_writer_name(w, json_pack("{s:s}", "name", "early"));
	struct timeline_event e = event_at(500, 60, lane, name);
	struct buf out = { 0 };
	json_t *head;

	(void)state;
	assert_true(timeline_writer_flush(w, &err));
	assert_int_equal(b.list.len, 0); /* nothing is no news */
	assert_true(timeline_writer_add(w, &e, &err));
	assert_true(timeline_writer_flush(w, &err));
	head = view_of(&b, &q, &out);
	assert_int_equal(whole(head, "span_ns"), 60);
	assert_int_equal(whole(head, "events"), 1);
	json_decref(head);
	buf_finish(&out);
	timeline_writer_destroy(w);
	drop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_comes_back_as_it_was),
		cmocka_unit_test(events_out_of_range_are_counted_and_left_out),
		cmocka_unit_test(clocks_that_are_apart_are_read_as_one),
		cmocka_unit_test(clocks_of_strangers_are_looked_at),
		cmocka_unit_test(a_small_window_has_a_row_an_event),
		cmocka_unit_test(a_window_holds_no_event_that_only_touches_it),
		cmocka_unit_test(a_wide_window_keeps_the_longest_of_each_pixel_and_all_totals),
		cmocka_unit_test(a_whole_timeline_in_any_width_comes_of_the_finest),
		cmocka_unit_test(lanes_with_few_events_are_not_had_of_columns),
		cmocka_unit_test(a_name_says_what_an_event_is_drawn_as_where_its_kind_does_not),
		cmocka_unit_test(sums_of_times_stop_where_numbers_end),
		cmocka_unit_test(damage_is_found_wherever_it_is),
		cmocka_unit_test(files_lie_beside_the_events_in_pieces),
		cmocka_unit_test(columns_and_pieces_that_grow_are_damaged),
		cmocka_unit_test(tables_that_grow_are_refused_before_memory_is_taken),
		cmocka_unit_test(what_is_there_can_be_watched_before_the_end),
		cmocka_unit_test(a_run_records_calls_kernels_and_phases_of_every_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
