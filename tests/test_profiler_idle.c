/* tests/test_profiler_idle.c -- when a device ran nothing, and what the host did meanwhile. */
#include "fusion/base/vec.h"
#include "profiler/timeline/idle.h"
#include "profiler/timeline/lanes_view.h"
#include "tests/report_help.h"

/* A timeline in memory, its chunks as they were given. */
struct made {
	struct timeline_tables tables;
	bool wanted[8];
	struct timeline_chunk chunk;
};

struct parts {
	VEC(struct idle_part) list;
};

static void keep(void *self, const struct idle_part *p)
{
	struct parts *to = self;

	assert_true(p->to_ns > p->from_ns);
	assert_true(VEC_PUSH(&to->list, *p));
}

static void open_made(struct made *m)
{
	struct err err = { 0 };

	*m = (struct made){ .tables = {
				.lanes = json_array(),
				.names = json_array(),
				.shapes = json_array(),
			    } };
	json_array_append_new(m->tables.names, json_pack("{s:s}", "name", "others"));
	assert_true(timeline_chunk_create(&m->chunk, &err));
	m->chunk.n = 0;
}

static void close_made(struct made *m)
{
	timeline_tables_finish(&m->tables);
	timeline_chunk_destroy(&m->chunk);
}

static uint32_t add_lane(struct made *m, json_t *row)
{
	size_t at = json_array_size(m->tables.lanes);

	json_array_append_new(m->tables.lanes, row);
	m->wanted[at] = true;
	return (uint32_t)at;
}

static uint32_t lane_of(struct made *m, const char *role)
{
	return add_lane(m, json_pack("{s:s, s:s}", "name", role, "role", role));
}

static uint32_t name_of(struct made *m, const char *name)
{
	json_array_append_new(m->tables.names, json_pack("{s:s}", "name", name));
	return (uint32_t)json_array_size(m->tables.names) - 1;
}

static void put(struct made *m, enum timeline_kind kind, uint32_t lane, uint32_t name, int64_t from,
		int64_t to)
{
	struct timeline_chunk *c = &m->chunk;
	int at = c->n++;

	while (at > 0 && c->start_ns[at - 1] > from) { /* as a writer does */
#define COLUMN(name, type) c->name[at] = c->name[at - 1];
		TIMELINE_COLUMNS(COLUMN)
#undef COLUMN
		at--;
	}
	c->start_ns[at] = from;
	c->duration_ns[at] = to - from;
	c->lane[at] = lane;
	c->kind[at] = kind;
	c->name[at] = name;
	c->bytes[at] = 0;
	c->shape[at] = c->correlation[at] = 0;
}

static struct idle *begin(struct made *m, int64_t t0, int64_t t1, struct parts *out)
{
	struct idle *d = idle_create(&m->tables, m->wanted, t0, t1, keep, out);

	assert_non_null(d);
	return d;
}

static void gaps_of(struct made *m, int64_t t0, int64_t t1, struct parts *out)
{
	struct idle *d = begin(m, t0, t1, out);

	assert_true(idle_chunk(d, &m->chunk));
	assert_int_equal(idle_finish(d), 0);
	idle_destroy(d);
}

struct expected {
	int64_t from, to;
	enum idle_cause cause;
};

static void expect(const struct parts *p, const struct expected *e, size_t n)
{
	for (size_t i = 0; i < p->list.len && i < n; i++) {
		assert_int_equal(p->list.at[i].from_ns, e[i].from);
		assert_int_equal(p->list.at[i].to_ns, e[i].to);
		assert_int_equal(p->list.at[i].cause, e[i].cause);
	}
	assert_int_equal(p->list.len, n);
}
#define EXPECT(parts, list) expect(parts, list, sizeof(list) / sizeof(list[0]))

/* Two calls of 1,000 ns at 0 and 1,100, each of two pieces with a break between. */
static void two_calls(struct made *m)
{
	uint32_t calls = lane_of(m, "calls"), breaks = lane_of(m, "breaks"),
		 graphs = lane_of(m, "graphs"), host = lane_of(m, "host"),
		 kernels = lane_of(m, "kernels"), brk = name_of(m, "line 4 print");

	for (int64_t t = 0; t <= 1100; t += 1100) {
		put(m, TIMELINE_CALL, calls, 0, t, t + 1000);
		put(m, TIMELINE_GUARDS, host, 0, t + 10, t + 50);
		put(m, TIMELINE_PIECE, graphs, 0, t + 60, t + 300);
		put(m, TIMELINE_ALLOC, host, 0, t + 70, t + 90);
		put(m, TIMELINE_LAUNCH, host, 0, t + 100, t + 110);
		put(m, TIMELINE_KERNEL, kernels, 0, t + 110, t + 290);
		put(m, TIMELINE_BREAK, breaks, brk, t + 320, t + 400);
		put(m, TIMELINE_DISPATCH, host, 0, t + 340, t + 360); /* of an op in it */
		put(m, TIMELINE_GUARDS, host, 0, t + 420, t + 450);
		put(m, TIMELINE_PIECE, graphs, 0, t + 450, t + 900);
		put(m, TIMELINE_KERNEL, kernels, 0, t + 500, t + 880);
	}
}

static void a_gap_is_cut_where_the_host_goes_on_to_the_next_thing(void **state)
{
	static const struct expected all[] = {
		{ 0, 10, IDLE_PYTHON },       { 10, 50, IDLE_GUARDS },
		{ 50, 60, IDLE_PYTHON },      { 60, 70, IDLE_PIECE },
		{ 70, 90, IDLE_ALLOC },       { 90, 100, IDLE_PIECE },
		{ 100, 110, IDLE_LAUNCH },    { 290, 300, IDLE_PIECE },
		{ 300, 320, IDLE_PYTHON },    { 320, 400, IDLE_BREAK },
		{ 400, 420, IDLE_PYTHON },    { 420, 450, IDLE_GUARDS },
		{ 450, 500, IDLE_PIECE },     { 880, 1000, IDLE_END },
		{ 1000, 1100, IDLE_BETWEEN }, { 1100, 1105, IDLE_PYTHON },
	};
	struct made m;
	struct parts parts = { 0 };

	(void)state;
	open_made(&m);
	two_calls(&m);
	gaps_of(&m, 0, 1105, &parts);
	EXPECT(&parts, all);
	assert_int_equal(parts.list.at[9].name, 1); /* which break */
	assert_int_equal(parts.list.at[8].name, 0);
	VEC_FREE(&parts.list);
	close_made(&m);
}

static void gaps_and_kernels_add_up_to_the_window(void **state)
{
	struct made m;

	(void)state;
	open_made(&m);
	two_calls(&m);
	for (int64_t t0 = 0; t0 < 2000; t0 += 130)
		for (int64_t t1 = t0 + 10; t1 <= 2300; t1 += 170) {
			struct parts parts = { 0 };
			int64_t sum = 0, last = t0;

			for (int64_t t = 0; t <= 1100; t += 1100)
				for (int k = 0; k < 2; k++) {
					int64_t from = t + (k ? 500 : 110),
						to = t + (k ? 880 : 290);

					from = from > t0 ? from : t0;
					to = to < t1 ? to : t1;
					sum += to > from ? to - from : 0;
				}
			gaps_of(&m, t0, t1, &parts);
			for (size_t i = 0; i < parts.list.len; i++) {
				assert_true(parts.list.at[i].from_ns >= last);
				last = parts.list.at[i].to_ns;
				sum += last - parts.list.at[i].from_ns;
			}
			assert_int_equal(sum, t1 - t0);
			VEC_FREE(&parts.list);
		}
	close_made(&m);
}

static void calls_that_touch_end_each_by_itself(void **state)
{
	static const struct expected all[] = { { 40, 50, IDLE_END },
					       { 50, 60, IDLE_PYTHON },
					       { 90, 100, IDLE_END } };
	struct made m;
	struct parts parts = { 0 };
	uint32_t calls, kernels;

	(void)state;
	open_made(&m);
	calls = lane_of(&m, "calls");
	kernels = lane_of(&m, "kernels");
	put(&m, TIMELINE_CALL, calls, 0, 0, 50);
	put(&m, TIMELINE_KERNEL, kernels, 0, 0, 40);
	put(&m, TIMELINE_CALL, calls, 0, 50, 100);
	put(&m, TIMELINE_KERNEL, kernels, 0, 60, 90);
	gaps_of(&m, 0, 100, &parts);
	EXPECT(&parts, all);
	VEC_FREE(&parts.list);
	close_made(&m);
}

/* A device with two streams beside one of another process; calls of the driver by name. */
static void a_device_is_idle_where_none_of_its_streams_runs(void **state)
{
	static const struct expected all[] = {
		{ 0, 10, IDLE_UNKNOWN },   { 30, 40, IDLE_UNKNOWN }, /* of process 2 */
		{ 0, 20, IDLE_LAUNCH },    { 60, 70, IDLE_WAIT },     { 70, 80, IDLE_ALLOC },
		{ 80, 90, IDLE_DISPATCH }, { 90, 100, IDLE_UNKNOWN },
	};
	struct made m;
	struct parts parts = { 0 }, sorted = { 0 };
	uint32_t api, streams[2], other;

	(void)state;
	open_made(&m);
	api = add_lane(&m, json_pack("{s:s, s:s, s:i}", "name", "a", "role", "host", "pid", 1));
	for (int i = 0; i < 2; i++)
		streams[i] = add_lane(&m,
				      json_pack("{s:s, s:s, s:i, s:i, s:i}", "name", "s", "role",
						"kernels", "pid", 1, "device", 0, "stream", i));
	other = add_lane(&m, json_pack("{s:s, s:s, s:i, s:i}", "name", "o", "role", "kernels",
				       "pid", 2, "device", 0));
	put(&m, TIMELINE_API, api, name_of(&m, "cuLaunchKernel"), 0, 25);
	put(&m, TIMELINE_KERNEL, streams[0], 0, 20, 50);
	put(&m, TIMELINE_COPY, streams[1], 0, 40, 60);
	put(&m, TIMELINE_API, api, name_of(&m, "cudaStreamSynchronize"), 55, 70);
	put(&m, TIMELINE_API, api, name_of(&m, "cudaMalloc"), 70, 80);
	put(&m, TIMELINE_API, api, name_of(&m, "cuCtxGetDevice"), 80, 90);
	put(&m, TIMELINE_KERNEL, other, 0, 10, 30);
	put(&m, TIMELINE_KERNEL, other, 0, 40, 100);
	gaps_of(&m, 0, 100, &parts);
	for (int device = 1; device >= 0; device--)
		for (size_t i = 0; i < parts.list.len; i++)
			if (parts.list.at[i].device == device)
				assert_true(VEC_PUSH(&sorted.list, parts.list.at[i]));
	EXPECT(&sorted, all);
	assert_int_equal(sorted.list.at[0].lane, other);
	assert_int_equal(sorted.list.at[2].lane, streams[0]);
	VEC_FREE(&parts.list);
	VEC_FREE(&sorted.list);
	close_made(&m);
}

static void a_chunk_that_reaches_back_is_laid_with_the_one_before(void **state)
{
	static const struct expected all[] = { { 0, 10, IDLE_PYTHON },
					       { 10, 20, IDLE_GUARDS },
					       { 60, 70, IDLE_PYTHON },
					       { 95, 100, IDLE_END } };
	struct made m;
	struct parts parts = { 0 };
	struct idle *d;
	uint32_t calls, host, kernels;

	(void)state;
	open_made(&m);
	calls = lane_of(&m, "calls");
	host = lane_of(&m, "host");
	kernels = lane_of(&m, "kernels");
	d = begin(&m, 0, 100, &parts);
	put(&m, TIMELINE_CALL, calls, 0, 0, 100);
	put(&m, TIMELINE_GUARDS, host, 0, 10, 20);
	put(&m, TIMELINE_KERNEL, kernels, 0, 70, 95);
	assert_true(idle_chunk(d, &m.chunk));
	m.chunk.n = 0;
	put(&m, TIMELINE_KERNEL, kernels, 0, 20, 60);
	assert_true(idle_chunk(d, &m.chunk));
	assert_int_equal(idle_finish(d), 0);
	EXPECT(&parts, all);
	idle_destroy(d);
	VEC_FREE(&parts.list);
	close_made(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_is_cut_where_the_host_goes_on_to_the_next_thing),
		cmocka_unit_test(gaps_and_kernels_add_up_to_the_window),
		cmocka_unit_test(calls_that_touch_end_each_by_itself),
		cmocka_unit_test(a_device_is_idle_where_none_of_its_streams_runs),
		cmocka_unit_test(a_chunk_that_reaches_back_is_laid_with_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
