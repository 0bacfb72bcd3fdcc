/* tests/test_db_retain.c -- what retention takes, and what it never does. */
#include <string.h>
#include <sys/stat.h>

#include "db/archive.h"
#include "tests/db_fixture.h"

enum { REPORT_BYTES = 200000, BLOCK_BYTES = 300000 };

/* Bytes that do not compress. */
static void noise(char *out, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1103515245u + 12345u;
		out[i] = (char)('!' + (seed >> 16) % 90);
	}
	out[n] = '\0';
}

static int64_t measured(struct fixture *f, const char *name, const char *project)
{
	char *report = malloc(REPORT_BYTES + 1), *block = malloc(BLOCK_BYTES + 1);
	const struct run_figure figure = { "latency", "static", 1, 2, 1, 3, 100 };
	struct timeline_row row = { 1, 10, 0, 100, block, BLOCK_BYTES };
	struct err err = { 0 };
	struct run_row run;
	int64_t id = 0;
	bool found;

	noise(report, REPORT_BYTES, 1);
	noise(block, BLOCK_BYTES, 2);
	assert_true(db_run_insert(f->db,
				  &(struct run_row){ .name = name,
						     .project = project,
						     .device = "cpu",
						     .modes = "eager",
						     .workload = "{}" },
				  &id, &err));
	assert_true(db_run_claim(f->db, 0, &f->arena, &run, &found, &err));
	assert_true(db_run_finish(f->db, id,
				  &(struct run_outcome){ .report = report,
							 .report_len = REPORT_BYTES,
							 .environment = "{}",
							 .findings = "{}",
							 .version = "1",
							 .figures = { "s", "t", &figure, 1 },
							 .blocks = &row,
							 .n_blocks = 1 },
				  &err));
	free(report);
	free(block);
	return id;
}

static struct retain_list plan(struct fixture *f, int64_t before_ns, const char *project)
{
	struct err err = { 0 };
	struct retain_list list;

	assert_true(db_retain_list(
	    f->db, &(struct retain_query){ .before_ns = before_ns, .project = project, .limit = 9 },
	    &f->arena, &list, &err));
	return list;
}

static int64_t thin(struct fixture *f, int64_t id, bool dry_run)
{
	struct err err = { 0 };
	int64_t freed = 0;

	if (!db_run_thin(f->db, id, &(struct run_thinned){ "{\"thin\":1}", 10, 5, dry_run }, &freed,
			 &err))
		fail_msg("%s", err.message);
	return freed;
}

static void old_runs_are_listed_and_pinned_and_baseline_and_new_ones_are_not(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	int64_t old = measured(f, "a", "p"), pinned = measured(f, "b", "p"),
		baseline = measured(f, "c", "p"), queued = 0;
	struct retain_list list;

	measured(f, "d", "q");
	assert_true(db_run_insert(
	    f->db, &(struct run_row){ .name = "e", .device = "cpu", .workload = "{}" }, &queued,
	    &err));
	assert_true(db_run_annotate(
	    f->db, pinned, &(struct run_notes){ .sets_pinned = true, .pinned = true }, &err));
	assert_true(db_run_annotate(
	    f->db, baseline, &(struct run_notes){ .sets_baseline = true, .baseline = true }, &err));
	list = plan(f, INT64_MAX, "p");
	assert_int_equal(list.total, 1);
	assert_int_equal(list.at[0].id, old);
	assert_int_equal(list.at[0].timeline_bytes, BLOCK_BYTES);
	assert_true(list.at[0].report_bytes > REPORT_BYTES / 2);
	assert_int_equal(plan(f, INT64_MAX, "").total, 2);
	assert_int_equal(plan(f, 1000, "").total, 0);
	/* Asked for by id they keep all too: somebody may pin one meanwhile. */
	assert_int_equal(thin(f, pinned, false), -1);
	assert_int_equal(thin(f, baseline, false), -1);
	assert_int_equal(thin(f, queued, false), -1);
}

static void a_dry_run_says_what_is_freed_and_takes_nothing(void **state)
{
	struct fixture *f = *state;
	struct buf report = { 0 }, environment = { 0 };
	struct err err = { 0 };
	int64_t id = measured(f, "a", ""), would = thin(f, id, true), n = 0;
	struct figure_list known;

	assert_true(would > BLOCK_BYTES + REPORT_BYTES / 2);
	assert_true(db_report_get(f->db, id, &report, &environment, &err));
	assert_int_equal(report.len, REPORT_BYTES);
	assert_int_equal(thin(f, id, false), would);
	assert_true(db_report_get(f->db, id, &report, &environment, &err));
	assert_string_equal(report.data, "{\"thin\":1}");
	assert_true(db_timeline_count(f->db, id, 1, &n, &err));
	assert_int_equal(n, 0);
	assert_true(db_figures_known(f->db, "a", &f->arena, &known, &err));
	assert_int_equal(known.n, 1);
	assert_int_equal(thin(f, id, false), -1);
	assert_int_equal(plan(f, INT64_MAX, "").total, 0);
	buf_finish(&report);
	buf_finish(&environment);
}

static void the_file_shrinks_by_what_is_freed(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	struct stat before, after;
	int64_t freed = 0;
	bool more;

	only_a_file();
	for (int i = 0; i < 12; i++)
		measured(f, "a", "");
	db_close(f->db); /* which writes the log into the file */
	f->db = db_open(f->path, &err);
	assert_int_equal(stat(f->path, &before), 0);
	for (int64_t id = 1; id <= 12; id++)
		freed += thin(f, id, false);
	for (more = true; more;)
		assert_true(db_give_back(f->db, true, &more, &err));
	assert_int_equal(stat(f->path, &after), 0);
	assert_true(before.st_size - after.st_size > freed * 9 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(old_runs_are_listed_and_pinned_and_baseline_and_new_ones_are_not),
		TEST(a_dry_run_says_what_is_freed_and_takes_nothing),
		TEST(the_file_shrinks_by_what_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
