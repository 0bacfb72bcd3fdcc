/* tests/test_db_list.c -- runs as a list: what it is of, in what order, a page at a time. */
#include "tests/db_fixture.h"

#include <math.h>

static struct run_row *list(struct fixture *f, struct run_query filter, int *n, int64_t *next,
			    int64_t *total)
{
	struct err err = { 0 };
	struct run_page page;

	if (!db_run_list(f->db, &filter, &f->arena, &page, &err))
		fail_msg("%s", err.message);
	*n = page.n;
	*next = page.next;
	*total = page.total;
	return page.runs;
}

static void a_list_is_filtered_and_paged(void **state)
{
	struct fixture *f = *state;
	int64_t next, total;
	struct run_row *runs;
	int n;

	insert_run(f, "chain", "search", "nightly\nmain");
	insert_run(f, "norm", "search", "main");
	insert_run(f, "chain_b", "vision", "");
	runs = list(f, (struct run_query){ .limit = 2, .status = -1 }, &n, &next, &total);
	assert_int_equal(n, 2);
	assert_int_equal(total, 3);
	assert_string_equal(runs[0].name, "chain_b");
	runs = list(f, (struct run_query){ .limit = 2, .status = -1, .before_id = next }, &n, &next,
		    &total);
	assert_int_equal(n, 1);
	assert_int_equal(next, 0);
	assert_string_equal(runs[0].name, "chain");
	assert_non_null(strstr(runs[0].tags, "nightly"));
	list(f, (struct run_query){ .limit = 9, .status = -1, .project = "search" }, &n, &next,
	     &total);
	assert_int_equal(n, 2);
	list(f, (struct run_query){ .limit = 9, .status = -1, .tag = "nightly" }, &n, &next,
	     &total);
	assert_int_equal(n, 1);
	list(f, (struct run_query){ .limit = 9, .status = -1, .text = "CHAIN" }, &n, &next, &total);
	assert_int_equal(n, 2);
	list(f, (struct run_query){ .limit = 9, .status = RUN_DONE }, &n, &next, &total);
	assert_int_equal(n, 0);
	list(f, (struct run_query){ .limit = 9, .status = -1, .text = "'; DROP TABLE run; --" }, &n,
	     &next, &total);
	assert_int_equal(n, 0);
}

/* A run that is done, so much faster than eager. */
static void measured(struct fixture *f, const char *name, double speedup, double repay)
{
	struct run_summary summary = { .mode = "static",
				       .verdict = speedup > 1 ? "FASTER" : "SLOWER",
				       .speedup = speedup,
				       .median_us = 100 / speedup,
				       .calls_to_repay = repay,
				       .crossover_n = NAN,
				       .at_n = NAN,
				       .breaks = speedup > 1 ? -1 : 3 };
	struct err err = { 0 };

	insert_run(f, name, "bench", "t");
	assert_true(db_run_finish(
	    f->db, claim_run(f, true).id,
	    &(struct run_outcome){
		.report = "{}", .report_len = 2, .environment = "{}", .summary = summary },
	    &err));
}

static void check_order(struct fixture *f, struct run_query filter, const char *names)
{
	struct buf got = { 0 };
	int64_t next, total;
	struct run_row *runs;
	int n;

	filter.status = -1;
	filter.limit = 9;
	runs = list(f, filter, &n, &next, &total);
	for (int i = 0; i < n; i++)
		buf_printf(&got, "%s%s", i ? " " : "", runs[i].name);
	assert_string_equal(got.len ? got.data : "", names);
	assert_int_equal(next, 0);
	buf_finish(&got);
}

static void a_text_is_looked_for_in_all_that_names_a_run(void **state)
{
	struct fixture *f = *state;
	struct run_row run = { .name = "chain", .commit = "Abc1234def", .branch = "faster-exp" };
	const struct run_notes notes = { .note = "New driver" };
	struct err err = { 0 };
	int64_t id;

	insert_run(f, "norm", "", "");
	run.workload = run.project = run.device = run.modes = run.tags = "";
	assert_true(db_run_insert(f->db, &run, &id, &err));
	assert_int_equal(id, 2);
	assert_true(db_run_annotate(f->db, id, &notes, &err));
	check_order(f, (struct run_query){ .text = "abc12" }, "chain");
	check_order(f, (struct run_query){ .text = "c1234" }, "");
	check_order(f, (struct run_query){ .text = "EXP" }, "chain");
	check_order(f, (struct run_query){ .text = "driver" }, "chain");
	check_order(f, (struct run_query){ .text = "#2" }, "chain");
	check_order(f, (struct run_query){ .text = "1" }, "norm");
}

static void a_list_is_filtered_by_where_runs_come_from(void **state)
{
	const struct run_row rows[] = {
		{ .name = "chain",
		  .device = "cpu",
		  .workload = "{}",
		  .modes = "eager",
		  .commit = "ab12",
		  .branch = "main" },
		{ .name = "chain_b",
		  .device = "cpu",
		  .workload = "{}",
		  .modes = "eager",
		  .commit = "ab34",
		  .branch = "main" },
		{ .name = "chain",
		  .device = "cpu",
		  .workload = "{}",
		  .modes = "eager",
		  .commit = "12ab",
		  .branch = "next" },
	};
	const struct {
		struct run_query asked;
		int n;
	} cases[] = {
		{ { .name = "chain" }, 2 },
		{ { .commit = "ab" }, 2 },
		{ { .commit = "ab1" }, 1 },
		{ { .commit = "b1" }, 0 },
		{ { .branch = "main" }, 2 },
		{ { .branch = "mai" }, 0 },
		{ { .name = "chain", .branch = "main", .commit = "ab12" }, 1 },
		{ { .baseline = true }, 1 },
		{ { .baseline = true, .branch = "next" }, 0 },
		{ { .branch = "main", .fold = true }, 2 },
	};
	struct fixture *f = *state;
	struct err err = { 0 };
	int64_t id, next, total;
	int n;

	for (size_t i = 0; i < 3; i++)
		assert_true(db_run_insert(f->db, &rows[i], &id, &err));
	assert_true(db_run_annotate(
	    f->db, 2, &(struct run_notes){ .sets_baseline = true, .baseline = true }, &err));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run_query asked = cases[i].asked;

		asked.limit = 9;
		asked.status = -1;
		list(f, asked, &n, &next, &total);
		assert_int_equal(n, cases[i].n);
		assert_int_equal(total, cases[i].n);
		asked.offset = 5; /* past the end it still says how many there are */
		list(f, asked, &n, &next, &total);
		assert_int_equal(n, 0);
		assert_int_equal(total, cases[i].n);
	}
}

static void a_list_is_filtered_by_verdict(void **state)
{
	struct fixture *f = *state;
	struct err why = { 0 }, err = { 0 };

	measured(f, "fast", 2, 40);
	measured(f, "slow", 0.5, INFINITY);
	insert_run(f, "fails", "", "");
	err_set(&why, ERR_WORKLOAD, "no");
	assert_true(db_run_end(f->db, claim_run(f, true).id, RUN_FAILED, &why, NULL, &err));
	insert_run(f, "waits", "", "");
	check_order(f, (struct run_query){ .verdict = "faster" }, "fast");
	check_order(f, (struct run_query){ .verdict = "slower" }, "slow");
	check_order(f, (struct run_query){ .verdict = "broken" }, "fails");
	check_order(f, (struct run_query){ .verdict = "not-enough" }, "");
	assert_true(run_verdict_is("not-enough") && !run_verdict_is("FASTER"));
}

/* 15 runs, some alike, some without a summary; the sixth is removed, the eighth pinned. */
static void insert_mixed(struct fixture *f)
{
	struct err err = { 0 }, why = { .code = ERR_WORKLOAD };

	for (int i = 0; i < 15; i++) {
		if (i % 4 != 3) {
			measured(f, i % 2 ? "m" : "n", 0.5 + i % 5, i % 3 ? 40 + i % 2 : INFINITY);
			continue;
		}
		insert_run(f, "fails", "bench", "t");
		assert_true(db_run_end(f->db, claim_run(f, true).id, RUN_FAILED, &why, NULL, &err));
	}
	assert_true(db_run_delete(f->db, 6, &err));
	assert_true(db_run_annotate(
	    f->db, 8, &(struct run_notes){ .sets_pinned = true, .pinned = true }, &err));
}

/* Pages of four, one after the other, are the whole. */
static void check_pages(struct fixture *f, struct run_query q, int runs)
{
	int64_t next, total;
	int n, some;
	struct run_row *whole, *page;

	q.status = -1;
	q.limit = 99;
	whole = list(f, q, &n, &next, &total);
	assert_int_equal(n, runs);
	assert_int_equal(total, runs);
	q.limit = 4;
	for (int64_t at = 0; at < n + 4; at += 4) {
		q.offset = at;
		page = list(f, q, &some, &next, &total);
		assert_int_equal(total, runs);
		assert_int_equal(some, n < at ? 0 : n < at + 4 ? n - at : 4);
		for (int i = 0; i < some; i++)
			assert_int_equal(page[i].id, whole[at + i].id);
	}
}

/* What is counted as runs change is what there is. */
static void check_counts(struct fixture *f)
{
	assert_int_equal(
	    ask_store(f,
		      "SELECT count(*) FROM (SELECT kind, value, project, sum(counted) AS counted,"
		      " sum(n) AS n FROM (SELECT kind, value, project, n AS counted, 0 AS n"
		      " FROM run_count UNION ALL SELECT kind, value, project, 0, 1 FROM"
		      " run_counted) AS both_of GROUP BY kind, value, project) AS differ"
		      " WHERE counted <> n"),
	    0);
}

static void runs_are_counted_as_they_change(void **state)
{
	const struct run_notes moved = { .project = "other", .tags = "t\nu" },
			       bare = { .tags = "" };
	struct fixture *f = *state;
	struct err err = { 0 };
	int64_t total, next;
	bool more = true;
	int n;

	insert_mixed(f);
	check_counts(f);
	assert_true(db_run_annotate(f->db, 2, &moved, &err));
	assert_true(db_run_annotate(f->db, 3, &bare, &err));
	check_counts(f);
	list(f, (struct run_query){ .project = "other", .tag = "u", .status = -1, .limit = 9 }, &n,
	     &next, &total);
	assert_int_equal(total, 1);
	assert_true(db_run_annotate(f->db, 2, &bare, &err)); /* of another project now */
	assert_true(db_run_delete(f->db, 2, &err) && db_run_delete(f->db, 3, &err));
	assert_true(db_run_restore(f->db, 6, &err) && db_run_restore(f->db, 3, &err));
	check_counts(f);
	while (more)
		assert_true(db_run_purge(f->db, INT64_MAX, &more, &err));
	check_counts(f);
	tell_store(f, "DELETE FROM run_row WHERE id IN (5, 7, 8)"); /* as no statement of db does */
	check_counts(f);
	list(f, (struct run_query){ .status = -1, .limit = 99 }, &n, &next, &total);
	assert_int_equal(total, 11);
	assert_int_equal(n, 11);
}

static void pages_of_an_order_are_the_order(void **state)
{
	static const struct {
		struct run_query of;
		int runs;
	} filters[] = {
		{ { 0 }, 14 },
		{ { .project = "bench" }, 14 },
		{ { .name = "m" }, 3 },
		{ { .text = "bench" }, 14 },
		{ { .tag = "t", .text = "-fails" }, 11 },
		{ { .pinned = true }, 1 },
		{ { .verdict = "broken" }, 3 },
	};

	insert_mixed(*state);
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		for (int sort = 0; sort < 2 * RUN_SORT_COUNT; sort++) {
			struct run_query q = filters[i].of;

			q.sort = (enum run_sort)(sort / 2);
			q.up = sort % 2;
			check_pages(*state, q, filters[i].runs);
		}
}

static void a_list_has_an_order_and_what_has_no_value_comes_last(void **state)
{
	struct fixture *f = *state;
	enum run_sort sort;

	measured(f, "b", 2, 40);
	measured(f, "c", 0.5, INFINITY);
	measured(f, "A", 8, 10);
	insert_run(f, "waits", "", "");
	check_order(f, (struct run_query){ 0 }, "waits A c b");
	check_order(f, (struct run_query){ .up = true }, "b c A waits");
	check_order(f, (struct run_query){ .sort = RUN_SORT_NAME, .up = true }, "A b c waits");
	check_order(f, (struct run_query){ .sort = RUN_SORT_SPEEDUP }, "A b c waits");
	check_order(f, (struct run_query){ .sort = RUN_SORT_SPEEDUP, .up = true }, "c b A waits");
	check_order(f, (struct run_query){ .sort = RUN_SORT_REPAID, .up = true }, "A b c waits");
	check_order(f, (struct run_query){ .sort = RUN_SORT_BREAKS }, "c waits A b");
	check_order(f, (struct run_query){ .sort = RUN_SORT_MEDIAN, .offset = 1 }, "b A waits");
	assert_true(run_sort_from_name("median", &sort) && sort == RUN_SORT_MEDIAN);
	assert_false(run_sort_from_name("id; DROP TABLE run", &sort));
}

static void a_run_of_a_list_has_the_runs_before_it(void **state)
{
	struct fixture *f = *state;
	int64_t next, total;
	struct run_row *runs;
	int n;

	for (int i = 0; i < RUN_RECENT + 3; i++) {
		measured(f, "chain", 1 + i, 10);
		measured(f, "other", 50, 10);
	}
	runs = list(f, (struct run_query){ .limit = 4, .status = -1 }, &n, &next, &total);
	assert_string_equal(runs[1].name, "chain");
	assert_int_equal(runs[1].n_recent, RUN_RECENT);
	assert_true(runs[1].recent[0] == RUN_RECENT + 3 && runs[1].recent[1] == RUN_RECENT + 2);
	assert_true(runs[3].recent[0] == RUN_RECENT + 2);
}

static void runs_are_counted_by_what_they_can_be_filtered_by(void **state)
{
	struct fixture *f = *state;
	struct run_facet *facets;
	struct err err = { 0 };
	struct buf got = { 0 };
	int n;

	measured(f, "a", 2, 1);
	measured(f, "b", 2, 1);
	insert_run(f, "c", "search", "u");
	assert_true(db_run_facets(f->db, NULL, &f->arena, &facets, &n, &err));
	for (int i = 0; i < n; i++)
		buf_printf(&got, "%s=%s:%d ", facets[i].kind, facets[i].value, (int)facets[i].runs);
	assert_string_equal(got.data,
			    "device=cpu:3 project=bench:2 status=done:2 verdict=faster:2 tag=t:2 "
			    "status=queued:1 project=search:1 tag=u:1 ");
	buf_finish(&got);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_list_is_filtered_and_paged),
		TEST(a_text_is_looked_for_in_all_that_names_a_run),
		TEST(a_list_is_filtered_by_where_runs_come_from),
		TEST(a_list_is_filtered_by_verdict),
		TEST(runs_are_counted_as_they_change),
		TEST(pages_of_an_order_are_the_order),
		TEST(a_list_has_an_order_and_what_has_no_value_comes_last),
		TEST(a_run_of_a_list_has_the_runs_before_it),
		TEST(runs_are_counted_by_what_they_can_be_filtered_by),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
