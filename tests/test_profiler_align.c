/* tests/test_profiler_align.c -- two timelines aligned: names, sequences, units, shares, rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "fusion/base/sanitized.h"

#include "profiler/align/align.h"
#include "profiler/align/rows.h"
#include "profiler/align/say.h"
#include "profiler/align/sequence.h"

/* ---- names ---- */

static double likeness(const char *a, const char *b)
{
	struct name_words of_a, of_b;

	name_words_of(&of_a, a);
	name_words_of(&of_b, b);
	return name_likeness(&of_a, &of_b);
}

static void names_count(void **state)
{
	static const char *const same[][2] = {
		{ "triton_poi_fused_add_0", "triton_poi_fused_add_12" },
		{ "ProfilerStep#3", "ProfilerStep#14" },
		{ "fused_add_9f3c01ab", "fused_add_77ab01fe" },
		{ "f(0x7f12ab)", "f(0x7e00cd)" },
		{ "void k<4, sin_kernel>(int)", "void k<8, sin_kernel>(int)" },
		{ "## Call CompiledFxGraph fgrxfkboljutot7omvdovkauovpk5oub ##",
		  "## Call CompiledFxGraph fabrfkboljutot9omvdovkauovpk5oub ##" },
	};
	static const char *const other[][2] = {
		{ "triton_poi_fused_add_0", "triton_poi_fused_mul_0" },
		{ "void k<4, sin_kernel>(int)", "void k<4, cos_kernel>(int)" },
		{ "gemm_128x64_nn", "gemm_64x64_nn" },
		{ "accadeddecade", "beefcafe" }, /* words, though of hex digits */
	};
	struct name_ids ids = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		assert_int_equal(name_ids_find(&ids, same[i][0]), name_ids_find(&ids, same[i][1]));
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		assert_int_not_equal(name_ids_find(&ids, other[i][0]),
				     name_ids_find(&ids, other[i][1]));
	name_ids_finish(&ids);
	assert_true(likeness("triton_poi_fused_add_mul_0", "triton_poi_fused_add_0") > 0.8);
	assert_true(likeness("gemm<float>(int)", "gemm<half>(int)") == 1);
	assert_true(likeness("gemm", "softmax") == 0);
	assert_true(likeness("add add mul", "mul add") == 0.8);
}

/* ---- sequences ---- */

static void make(uint32_t *out, const char *text)
{
	for (size_t i = 0; text[i]; i++)
		out[i] = (uint32_t)text[i];
}

/* How many of a's elements are matched; checks that they are equal and rise. */
static int matched(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
	int64_t *to = calloc(n + 1, sizeof(*to)), last = -1;
	int count = 0;

	assert_true(sequence_match(a, n, b, m, to));
	for (size_t i = 0; i < n; i++) {
		if (to[i] == SEQUENCE_NONE)
			continue;
		assert_true(to[i] > last && to[i] < (int64_t)m);
		assert_int_equal(a[i], b[to[i]]);
		last = to[i];
		count++;
	}
	free(to);
	return count;
}

static int matched_texts(const char *a, const char *b)
{
	uint32_t of_a[64], of_b[64];

	make(of_a, a);
	make(of_b, b);
	return matched(of_a, strlen(a), of_b, strlen(b));
}

/* The longest common subsequence, by the table. */
static int longest(const uint32_t *a, int n, const uint32_t *b, int m)
{
	int best[41][41] = { 0 };

	for (int i = n - 1; i >= 0; i--)
		for (int k = m - 1; k >= 0; k--)
			best[i][k] = a[i] == b[k]                      ? best[i + 1][k + 1] + 1
				     : best[i + 1][k] > best[i][k + 1] ? best[i + 1][k]
								       : best[i][k + 1];
	return best[0][0];
}

static void sequences_match(void **state)
{
	(void)state;
	assert_int_equal(matched_texts("abcabba", "cbabac"), 4);
	assert_int_equal(matched_texts("", "abc"), 0);
	assert_int_equal(matched_texts("abc", "abc"), 3);
	assert_int_equal(matched_texts("abc", "xyz"), 0);
	srand(7);
	for (int round = 0; round < 2000; round++) {
		uint32_t a[40], b[40];
		int n = rand() % 41, m = rand() % 41, letters = 1 + rand() % 6;

		for (int i = 0; i < n; i++)
			a[i] = (uint32_t)(rand() % letters);
		for (int i = 0; i < m; i++)
			b[i] = (uint32_t)(rand() % letters);
		assert_int_equal(matched(a, (size_t)n, b, (size_t)m), longest(a, n, b, m));
	}
}

/* Half a million elements with little in common take no time to speak of. */
static void long_sequences_are_bounded(void **state)
{
	enum { N = 500000 };
	uint32_t *a = calloc(N, sizeof(*a)), *b = calloc(N, sizeof(*b));

	(void)state;
	for (int i = 0; i < N; i++) {
		a[i] = (uint32_t)rand() % 1000;
		b[i] = i % 3 ? (uint32_t)rand() % 1000 : a[i];
	}
	assert_true(matched(a, N, b, N) > N / 100);
	free(a);
	free(b);
}

/* ---- work is bounded ---- */

static double processor_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Where the ways from one end go far and those from the other do not. */
static void one_sided_sequences_are_bounded(void **state)
{
	enum { N = 400000 };
	uint32_t *a = calloc(N, sizeof(*a)), *b = calloc(N, sizeof(*b));
	double begin;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < N; i++) {
			bool alike = round ? i < N / 2 : i >= N / 2;

			a[i] = alike ? 1 : 3 + 2 * i;
			b[i] = alike ? 1 : 4 + 2 * i;
		}
		a[round ? 0 : N - 1] = 2 * N + 9;
		b[round ? 0 : N - 1] = 2 * N + 10;
		begin = processor_s();
		assert_int_equal(matched(a, N, b, N), N / 2 - 1);
		assert_true(processor_s() - begin < (ADDRESS_SANITIZED ? 30 : 5));
	}
	free(a);
	free(b);
}

static size_t period_of(const char *text, size_t *from)
{
	uint32_t a[64];
	size_t period;

	make(a, text);
	assert_true(sequence_period(a, strlen(text), &period, from));
	return period;
}

static void periods_are_found(void **state)
{
	size_t from;

	(void)state;
	assert_int_equal(period_of("wwxabcdefabcdefabcdefabcdef", &from), 6);
	assert_int_equal(from, 3);
	assert_int_equal(period_of("hababchababchababchababc", &from), 6);
	assert_int_equal(period_of("abcdefghijklmnop", &from), 0);
	assert_int_equal(period_of("aaaa", &from), 1);
	assert_int_equal(period_of("a", &from), 0);
}

/* ---- timelines ---- */

struct made {
	struct timeline_events events;
	json_t *head;
	uint32_t correlation;
};

static void make_begin(struct made *m, const char *name)
{
	struct timeline_tables *t = &m->events.tables;

	*m = (struct made){ .head = json_pack("{s:s}", "name", name) };
	t->lanes = json_pack("[{s:s, s:s}, {s:s, s:s, s:i}, {s:s, s:s, s:i}]", "name", "thread",
			     "role", "host", "name", "stream 7", "role", "kernels", "device", 0,
			     "name", "stream 20", "role", "kernels", "device", 0);
	t->names = json_array();
	t->shapes = json_array();
	t->facts = json_object();
}

static uint32_t name_of(struct made *m, const char *name)
{
	json_t *names = m->events.tables.names;

	for (size_t i = 0; i < json_array_size(names); i++)
		if (strcmp(json_string_value(json_object_get(json_array_get(names, i), "name")),
			   name) == 0)
			return (uint32_t)i;
	json_array_append_new(names, json_pack("{s:s}", "name", name));
	return (uint32_t)json_array_size(names) - 1;
}

static void put(struct made *m, struct timeline_event e, const char *name)
{
	e.name = name_of(m, name);
	assert_true(VEC_PUSH(&m->events.list, e));
}

/* A launch at `at`, its kernel so much later on a lane. */
static void kernel(struct made *m, const char *name, uint32_t lane, int64_t at, int64_t start,
		   int64_t ns)
{
	uint32_t correlation = ++m->correlation;

	put(m, (struct timeline_event){ at, 10, 0, 0, TIMELINE_API, 0, 0, correlation },
	    "cudaLaunchKernel");
	put(m, (struct timeline_event){ start, ns, 0, lane, TIMELINE_KERNEL, 0, 0, correlation },
	    name);
}

/* Units of 10,000 ns of three kernels, of which the second takes `ns`; each unit differs a bit. */
static void make_units(struct made *m, const char *name, int units, int64_t ns)
{
	make_begin(m, name);
	for (int u = 0; u < units; u++) {
		int64_t t = 10000 * u;

		kernel(m, "first_0", 1, t, t + 100, 1000 + u % 3);
		kernel(m, "second_1", 1, t + 1000, t + 2000, ns + (u + 1) % 3);
		kernel(m, "third_2", 1, t + 2000, t + 7000, 1000 + (u + 2) % 3);
	}
}

static void made_finish(struct made *m)
{
	timeline_events_finish(&m->events);
	json_decref(m->head);
}

static struct align_run run_of(const struct made *m)
{
	return (struct align_run){ .head = m->head, .events = &m->events };
}

static void read_side(struct align_side *s, const struct align_run *run, struct name_ids *ids)
{
	struct err err = { 0 };

	assert_true(side_read(s, run, ids, false, &err));
	assert_true(side_share(s, &err));
	assert_true(side_find_units(s, &err));
}

static void units_are_found(void **state)
{
	struct name_ids ids = { 0 };
	struct align_side s;
	struct made m;
	struct align_run run;

	(void)state;
	make_units(&m, "a", 8, 3000);
	run = run_of(&m);
	read_side(&s, &run, &ids);
	assert_string_equal(s.how, "period of 3");
	assert_int_equal(s.units.len, 8);
	assert_int_equal(s.used, 7); /* before the first nothing is known */
	assert_false(s.units.at[0].whole);
	/* From the end of the unit before, whose last kernel takes 1 ns less. */
	assert_true(fabs(s.units.at[3].wall_ns - 9999) < 3);
	assert_true(fabs(s.units.at[3].busy_ns + s.units.at[3].idle_ns - s.units.at[3].wall_ns) <
		    1e-6);
	assert_int_equal(side_key(&s, s.items.at[0].event), s.items.at[3].key);
	side_finish(&s);
	name_ids_finish(&ids);
	made_finish(&m);
}

/* Two streams at once have half of the time each; what one does alone is its own. */
static void streams_share(void **state)
{
	struct name_ids ids = { 0 };
	struct align_side s;
	struct made m;
	struct align_run run;

	(void)state;
	make_begin(&m, "a");
	kernel(&m, "left", 1, 0, 100, 1000);
	kernel(&m, "right", 2, 50, 600, 1000);
	run = run_of(&m);
	read_side(&s, &run, &ids);
	assert_true(s.items.at[0].busy_ns == 750 && s.items.at[1].busy_ns == 750);
	assert_true(s.units.at[0].busy_ns == 1500);
	side_finish(&s);
	name_ids_finish(&ids);
	made_finish(&m);
}

static void rows_add_up(void **state)
{
	struct name_ids ids = { 0 };
	struct align_side a, b;
	struct align_rows rows;
	struct align_run run_a, run_b;
	struct matches matches = { 0 };
	struct made m, n;
	double sum[2] = { 0, 0 };
	int changed = 0;

	(void)state;
	make_units(&m, "a", 9, 3000);
	make_units(&n, "b", 9, 3600);
	run_a = run_of(&m);
	run_b = run_of(&n);
	read_side(&a, &run_a, &ids);
	read_side(&b, &run_b, &ids);
	assert_true(match_units(&a, &b, &matches));
	assert_int_equal(matches.list.len, 3);
	assert_true(rows_make(&a, &b, &rows));
	for (size_t i = 0; i < rows.list.len; i++) {
		const struct align_row *row = &rows.list.at[i];

		for (int part = 0; part < 2; part++)
			sum[part] += row->change[part].delta;
		if (!row->change[ROW_DEVICE].changed)
			continue;
		changed++;
		assert_true(fabs(row->change[ROW_DEVICE].delta - 600) < 1e-6);
	}
	assert_int_equal(changed, 1);
	for (int part = 0; part < 2; part++)
		assert_true(fabs(sum[part] - rows.part[part].delta) < 1e-6);
	assert_false(rows.wall.changed);
	matches_finish(&matches);
	rows_finish(&rows);
	side_finish(&a);
	side_finish(&b);
	name_ids_finish(&ids);
	made_finish(&m);
	made_finish(&n);
}

static json_t *align(const struct made *m, const struct made *n)
{
	struct align_run a = run_of(m), b = run_of(n);
	struct err err = { 0 };
	json_t *json = align_timelines(&a, &b, &err);

	if (!json)
		fail_msg("%s", err.message);
	return json;
}

static const json_t *row_at(const json_t *json, size_t i)
{
	return json_array_get(json_object_get(json, "rows"), i);
}

static const char *text_at(const json_t *json, const char *key)
{
	return json_string_value(json_object_get(json, key));
}

/* One kernel became two, another is gone, a third is launched elsewhere. */
/* A kernel every 10,000 ns, on `n` that have these names by their turn. */
static void make_many(struct made *m, const char *name, uint32_t n, uint32_t (*turn)(uint32_t))
{
	uint32_t known = 0;

	make_begin(m, name);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t of = turn(i);
		struct timeline_event e = {
			10000 * (int64_t)i, 10, 0, 0, TIMELINE_API, of, 0, i + 1
		};

		for (; known <= of; known++) {
			char text[32];

			/* by letters: numbers alone say nothing */
			snprintf(text, sizeof(text), "%c%c%c%c", (int)('a' + known % 26),
				 (int)('a' + known / 26 % 26), (int)('a' + known / 676 % 26),
				 (int)('a' + known / 17576));
			json_array_append_new(m->events.tables.names,
					      json_pack("{s:s}", "name", text));
		}
		assert_true(VEC_PUSH(&m->events.list, e));
		e = (struct timeline_event){ e.start_ns + 100, 1000 + i % 7, 0, 1,
					     TIMELINE_KERNEL,  of,           0, i + 1 };
		assert_true(VEC_PUSH(&m->events.list, e));
	}
}

static uint32_t always_one(uint32_t i)
{
	return 0 * i;
}

static uint32_t all_others(uint32_t i)
{
	return i % 30000;
}

/* Few of 30,000 begin again as the first do, and none is the first again. */
static uint32_t near_misses(uint32_t i)
{
	return i % 8 == 7 || i >= 60000 ? (i * 7919 + i / 30000 * (i % 5 == 0)) % 30000 : 1;
}

static double align_s(uint32_t (*a)(uint32_t), uint32_t (*b)(uint32_t), uint32_t n)
{
	struct made of_a, of_b;
	struct align_run run_a, run_b;
	struct err err = { 0 };
	double begin;
	json_t *answer;

	make_many(&of_a, "a", n, a);
	make_many(&of_b, "b", n, b);
	run_a = run_of(&of_a);
	run_b = run_of(&of_b);
	begin = processor_s();
	answer = align_timelines(&run_a, &run_b, &err);
	begin = processor_s() - begin;
	assert_non_null(answer);
	json_decref(answer);
	made_finish(&of_a);
	made_finish(&of_b);
	return begin;
}

/* Many units of one kernel beside many kernels of few units: no row looks at all units of the
 * other; what nearly begins again is not looked at to its end each time. */
static void made_to_hurt_is_bounded(void **state)
{
	enum { N = 120000 };
	double most = ADDRESS_SANITIZED ? 60 : 6;

	(void)state;
	assert_true(align_s(always_one, all_others, N) < most);
	assert_true(align_s(all_others, always_one, N) < most);
	assert_true(align_s(near_misses, near_misses, N) < most);
	assert_true(align_s(near_misses, all_others, N) < most);
}

static void changes_have_words(void **state)
{
	struct made m, n;
	json_t *json;
	int split = 0, gone = 0, moved = 0;

	(void)state;
	make_begin(&m, "a");
	make_begin(&n, "b");
	for (int u = 0; u < 8; u++) {
		int64_t t = 10000 * u;

		kernel(&m, "embed", 1, t, t + 100, 500 + u % 2);
		kernel(&m, "whole", 1, t + 100, t + 1000, 3000 + u % 2);
		kernel(&m, "copy", 1, t + 200, t + 5000, 200 + u % 2);
		kernel(&m, "lost", 1, t + 300, t + 6000, 900 + u % 2);
		kernel(&m, "end", 1, t + 400, t + 8000, 700 + u % 2);
		kernel(&n, "copy", 1, t, t + 50, 200 + u % 2);
		kernel(&n, "embed", 1, t + 10, t + 400, 500 + u % 2);
		kernel(&n, "part_one", 1, t + 100, t + 1000, 1000 + u % 2);
		kernel(&n, "part_two", 1, t + 200, t + 2500, 1100 + u % 2);
		kernel(&n, "end", 1, t + 400, t + 8000, 700 + u % 2);
	}
	json = align(&m, &n);
	for (size_t i = 0; row_at(json, i); i++) {
		const json_t *row = row_at(json, i);

		if (strcmp(text_at(row, "part"), "device") != 0)
			continue;
		split += strcmp(text_at(row, "change"), "split") == 0 ||
			 strcmp(text_at(row, "change"), "replaced") == 0;
		gone += strcmp(text_at(row, "change"), "gone") == 0;
		moved += json_is_true(json_object_get(row, "moved"));
	}
	assert_int_equal(split, 1);
	assert_int_equal(moved, 1);
	assert_int_equal(gone, 1);
	json_decref(json);
	made_finish(&m);
	made_finish(&n);
}

static void nothing_to_align_is_said(void **state)
{
	struct made m, n;
	struct err err = { 0 };
	struct align_run a, b;

	(void)state;
	make_units(&m, "a", 3, 3000);
	make_begin(&n, "b");
	a = run_of(&m);
	b = run_of(&n);
	assert_null(align_timelines(&a, &b, &err));
	assert_non_null(strstr(err.message, "nothing to align"));
	a.mode = "static";
	err = (struct err){ 0 };
	assert_null(align_timelines(&a, &a, &err));
	assert_non_null(strstr(err.message, "no lanes of mode static"));
	made_finish(&m);
	made_finish(&n);
}

static void figures_have_signs(void **state)
{
	struct arena arena = { 0 };
	struct wording w = { .arena = &arena };
	struct unit_change c = { { 1000, 10, 9 }, { 3000, 10, 9 }, 2000, 1900, 2100, 0, true };

	(void)state;
	assert_string_equal(align_time(&w, 1500)->text, "1.50 µs");
	assert_string_equal(align_signed(&w, 2000, 1900, 2100)->text, "+2.0 µs");
	assert_string_equal(align_signed(&w, -2000, -2100, 1900)->high, "+2");
	assert_string_equal(align_change(&w, &c)->delta->low, "+1.9");
	assert_string_equal(align_title(&w, "void at::native::(anonymous namespace)::k<4, f>(int)"),
			    "k");
	assert_string_equal(align_title(&w, "Memset (Device)"), "Memset (Device)");
	assert_string_equal(align_title(&w, "triton_poi_0"), "triton_poi_0");
	assert_false(w.failed);
	arena_finish(&arena);
}

static void alike_is_said(void **state)
{
	struct made m, n;
	struct arena arena = { 0 };
	struct wording w = { .arena = &arena };
	struct err err = { 0 };
	struct report_alignment *read;
	json_t *json;

	(void)state;
	make_units(&m, "a", 9, 3000);
	make_units(&n, "b", 9, 3000);
	json = align(&m, &n);
	assert_string_equal(text_at(json, "leads"), "none");
	read = report_read_alignment(json, &arena, &err);
	assert_non_null(read);
	align_say(read, &w);
	assert_non_null(strstr(read->sentence.at[0].text, "No difference"));
	json_decref(json);
	arena_finish(&arena);
	made_finish(&m);
	made_finish(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_count),
		cmocka_unit_test(sequences_match),
		cmocka_unit_test(long_sequences_are_bounded),
		cmocka_unit_test(one_sided_sequences_are_bounded),
		cmocka_unit_test(periods_are_found),
		cmocka_unit_test(units_are_found),
		cmocka_unit_test(streams_share),
		cmocka_unit_test(rows_add_up),
		cmocka_unit_test(made_to_hurt_is_bounded),
		cmocka_unit_test(changes_have_words),
		cmocka_unit_test(nothing_to_align_is_said),
		cmocka_unit_test(figures_have_signs),
		cmocka_unit_test(alike_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
