/* tests/test_db_history.c -- figures over the runs of a workload, notes and baselines. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <sqlite3.h>

#include "tests/db_fixture.h"

/* A run that is done on `machine`. */
static int64_t done(struct fixture *f, const char *name, const char *commit, const char *machine)
{
	struct run_row row = { .name = name,
			       .project = "p",
			       .device = "cpu",
			       .workload = "{}",
			       .modes = "static",
			       .commit = commit };
	const struct run_outcome outcome = { .report = "{}",
					     .report_len = 2,
					     .environment = machine };
	struct err err = { 0 };
	struct run_row claimed;
	int64_t id = 0;
	bool found;

	assert_true(db_run_insert(f->db, &row, &id, &err));
	assert_true(db_run_claim(f->db, 0, &f->arena, &claimed, &found, &err) && found);
	assert_true(db_run_finish(f->db, id, &outcome, &err));
	return id;
}

static void put(struct fixture *f, int64_t run, const char *source, double at_5, double at_30)
{
	const struct run_figure figures[] = {
		{ "latency", "static", 5, at_5, at_5 - 1, at_5 + 1, 30 },
		{ "latency", "static", 30, at_30, at_30 - 1, at_30 + 1, 30 },
		{ "launches", "static", 30, 1, NAN, NAN, 0 },
	};
	struct err err = { 0 };

	assert_true(
	    db_figures_put(f->db, run, &(struct run_figures){ source, "feed", figures, 3 }, &err));
}

static struct history_query latency_of(const char *name)
{
	return (struct history_query){
		.name = name, .metric = "latency", .mode = "static", .n = NAN, .limit = 10
	};
}

static int history(struct fixture *f, struct history_query filter, struct history_point **points,
		   int64_t *total)
{
	struct err err = { 0 };
	struct history found;

	if (!db_history(f->db, &filter, &f->arena, &found, &err))
		fail_msg("%s", err.message);
	*points = found.points;
	*total = found.total;
	return found.n;
}

static void runs_come_oldest_first_with_the_figure_asked_for(void **state)
{
	struct fixture *f = *state;
	struct history_query filter = latency_of("chain");
	int64_t a = done(f, "chain", "c1", "{}"), b = done(f, "chain", "c2", "{}"), total;
	struct history_point *p;

	done(f, "other", "", "{}");
	put(f, a, "abc1", 10, 40);
	put(f, b, "abc2", 11, 41);
	assert_int_equal(history(f, filter, &p, &total), 2);
	assert_int_equal(total, 2);
	assert_int_equal(p[0].run.id, a);
	assert_string_equal(p[1].run.commit, "c2");
	assert_float_equal(p[0].figure.value, 40, 0); /* the last point */
	assert_float_equal(p[0].figure.lo, 39, 0);
	filter.n = 5;
	assert_int_equal(history(f, filter, &p, &total), 2);
	assert_float_equal(p[1].figure.value, 11, 0);
	filter.n = 7;
	assert_int_equal(history(f, filter, &p, &total), 2);
	assert_true(isnan(p[1].figure.value));
	filter.n = NAN;
	filter.limit = 1; /* the newest */
	assert_int_equal(history(f, filter, &p, &total), 1);
	assert_int_equal(p[0].run.id, b);
	assert_int_equal(total, 2);
	filter.limit = 10;
	filter.source_hash = "abc1";
	assert_int_equal(history(f, filter, &p, &total), 1);
	filter.source_hash = "abc";
	assert_int_equal(history(f, filter, &p, &total), 2);
	filter.project = "q";
	assert_int_equal(history(f, filter, &p, &total), 0);
}

/* ---- commits ---- */

static void tell(struct fixture *f, const char *id, int64_t at, const char *parent,
		 const char *other)
{
	const struct known_commit c = { .id = id,
					.subject = "s",
					.author = "a",
					.committed_ns = at,
					.parents = { parent, other },
					.n_parents = !!parent + !!other };
	struct err err = { 0 };
	int added;

	assert_true(db_commits_put(f->db, "p", &c, 1, &added, &err));
	assert_int_equal(added, 1);
}

/* The commits of the history, one after another. */
static const char *order_of(struct fixture *f)
{
	static char text[64];
	struct history_point *p;
	int64_t total;
	int n = history(f, latency_of("chain"), &p, &total);

	text[0] = 0;
	for (int i = 0; i < n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
			 *p[i].run.commit ? p[i].run.commit : "-");
	return text;
}

/* c0 - c1 - c2 - m, and c1 - d - m; d is older than c1 by its clock. */
static void a_commit_stands_after_those_that_it_comes_from(void **state)
{
	static const char *const posted[] = { "c2", "", "m", "c0", "alone", "d", "c1" };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(posted) / sizeof(posted[0]); i++)
		put(f, done(f, "chain", posted[i], "{}"), "abc", 10, 40);
	assert_string_equal(order_of(f), "c2 - m c0 alone d c1 "); /* as they came */
	tell(f, "m", 40, "c2", "d");
	tell(f, "c2", 30, "c1", NULL);
	tell(f, "d", 5, "c1", NULL);
	/* The rest is not told of: three change places among themselves. */
	assert_string_equal(order_of(f), "d - c2 c0 alone m c1 ");
	tell(f, "c1", 20, "c0", NULL);
	tell(f, "c0", 10, "gone", NULL);
	assert_string_equal(order_of(f), "c0 - c1 d alone c2 m ");
}

static void commits_in_a_ring_end_nothing(void **state)
{
	struct fixture *f = *state;

	put(f, done(f, "chain", "b", "{}"), "abc", 10, 40);
	put(f, done(f, "chain", "a", "{}"), "abc", 10, 40);
	tell(f, "a", 1, "b", NULL);
	tell(f, "b", 2, "a", NULL);
	assert_string_equal(order_of(f), "a b "); /* by their clocks */
}

/* change_find_fn: keeps what it was given. */
static int64_t seen[8];
static int n_seen;

static bool see(const struct scope_figure *figures, int n, struct arena *arena,
		struct change_list *out, struct err *err)
{
	(void)arena, (void)err;
	n_seen = 0;
	for (int i = 0; i < n; i++)
		if (strcmp(figures[i].figure.metric, "latency") == 0 && figures[i].figure.n == 5) {
			assert_int_equal(figures[i].place, n_seen);
			seen[n_seen++] = figures[i].run;
		}
	*out = (struct change_list){ 0 };
	return true;
}

static void changes_are_looked_for_in_the_order_of_commits(void **state)
{
	struct fixture *f = *state;
	int64_t c, a, b;
	struct err err = { 0 };
	bool more;

	c = done(f, "chain", "c", "{}");
	a = done(f, "chain", "a", "{}"); /* an older one, measured later */
	b = done(f, "chain", "", "{}");
	put(f, c, "abc", 12, 40);
	put(f, a, "abc", 10, 40);
	put(f, b, "abc", 11, 40);
	tell(f, "a", 1, NULL, NULL);
	tell(f, "c", 2, "a", NULL);
	assert_true(db_changes_look(f->db, "chain", 4, see, &more, &err));
	assert_int_equal(n_seen, 3);
	assert_int_equal(seen[0], a);
	assert_int_equal(seen[1], c);
	assert_int_equal(seen[2], b);
}

static void a_run_without_figures_is_asked_for_once(void **state)
{
	struct fixture *f = *state;
	int64_t a = done(f, "chain", "", "{}"), b = done(f, "chain", "", "{}"), runs[4];
	struct err err = { 0 };

	assert_int_equal(db_figures_missing(f->db, "chain", runs, 4, &err), 2);
	assert_int_equal(runs[0], b);
	assert_true(db_figures_put(f->db, b, &(struct run_figures){ "abc", "feed", NULL, 0 },
				   &err)); /* it measured nothing */
	assert_int_equal(db_figures_missing(f->db, "chain", runs, 4, &err), 1);
	assert_int_equal(runs[0], a);
	assert_int_equal(db_figures_missing(f->db, "other", runs, 4, &err), 0);
}

static void figures_are_replaced_and_go_with_their_run(void **state)
{
	struct fixture *f = *state;
	int64_t a = done(f, "chain", "", "{}"), total;
	struct figure_list known;
	struct history_point *p;
	struct err err = { 0 };

	put(f, a, "abc", 10, 40);
	put(f, a, "abc", 12, 42);
	assert_int_equal(history(f, latency_of("chain"), &p, &total), 1);
	assert_float_equal(p[0].figure.value, 42, 0);
	assert_true(db_figures_known(f->db, "chain", &f->arena, &known, &err));
	assert_int_equal(known.n, 3);
	assert_string_equal(known.at[0].metric, "latency");
	assert_float_equal(known.at[0].n, 5, 0);
	assert_true(db_run_delete(f->db, a, &err));
	assert_true(db_figures_known(f->db, "chain", &f->arena, &known, &err));
	assert_int_equal(known.n, 0);
}

/* Another commit, source or machine is another thing. */
static void repeats_are_runs_of_the_same_on_the_same(void **state)
{
	struct fixture *f = *state;
	int64_t a = done(f, "chain", "c1", "{}"), b = done(f, "chain", "c1", "{}");
	int64_t other[] = { done(f, "chain", "c2", "{}"), done(f, "chain", "c1", "{\"cpu\": 1}"),
			    done(f, "other", "c1", "{}") };
	struct figure_list rows;
	struct err err = { 0 };

	put(f, a, "abc", 10, 40);
	put(f, b, "abc", 12, 42);
	for (size_t i = 0; i < 3; i++)
		put(f, other[i], "abc", 99, 99);
	assert_true(db_repeats(f->db, a, &f->arena, &rows, &err));
	assert_int_equal(rows.n, 4); /* latency at two points, of two runs */
	assert_float_equal(rows.at[0].n, 5, 0);
	assert_float_equal(rows.at[1].n, 5, 0);
	assert_float_equal(rows.at[0].value + rows.at[1].value, 22, 0);
	put(f, b, "abd", 12, 42); /* another source now */
	assert_true(db_repeats(f->db, a, &f->arena, &rows, &err));
	assert_int_equal(rows.n, 2);
}

static struct run_row get(struct fixture *f, int64_t id)
{
	struct err err = { 0 };
	struct run_row run;

	assert_true(db_run_get(f->db, id, &f->arena, &run, &err));
	return run;
}

static void notes_and_tags_are_changed_one_by_one(void **state)
{
	struct fixture *f = *state;
	int64_t a = done(f, "chain", "", "{}");
	struct err err = { 0 };

	assert_string_equal(get(f, a).note, "");
	assert_true(
	    db_run_annotate(f->db, a, &(struct run_notes){ .note = "<b>new</b> driver" }, &err));
	assert_true(db_run_annotate(f->db, a, &(struct run_notes){ .tags = "x\ny" }, &err));
	assert_string_equal(get(f, a).note, "<b>new</b> driver");
	assert_string_equal(get(f, a).tags, "x\ny");
	assert_true(db_run_annotate(f->db, a, &(struct run_notes){ .tags = "" }, &err));
	assert_string_equal(get(f, a).tags, "");
	assert_false(db_run_annotate(f->db, 99, &(struct run_notes){ .note = "x" }, &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void a_workload_has_one_baseline(void **state)
{
	const struct run_notes on = { .sets_baseline = true, .baseline = true };
	const struct run_notes off = { .sets_baseline = true };
	struct fixture *f = *state;
	int64_t a = done(f, "chain", "", "{}"), b = done(f, "chain", "", "{}");
	int64_t c = done(f, "other", "", "{}");
	struct err err = { 0 };

	assert_true(db_run_annotate(f->db, a, &on, &err));
	assert_true(db_run_annotate(f->db, c, &on, &err));
	assert_true(get(f, a).baseline && !get(f, b).baseline && get(f, c).baseline);
	assert_true(db_run_annotate(f->db, b, &on, &err));
	assert_true(!get(f, a).baseline && get(f, b).baseline && get(f, c).baseline);
	assert_true(db_run_annotate(f->db, a, &off, &err)); /* takes nothing from the other */
	assert_true(get(f, b).baseline);
	assert_true(db_run_annotate(f->db, b, &off, &err));
	assert_false(get(f, b).baseline);
}

static void names_come_by_their_newest_run(void **state)
{
	struct fixture *f = *state;
	struct workload_name *names;
	struct err err = { 0 };
	int n;

	done(f, "chain", "", "{}");
	done(f, "other", "", "{}");
	done(f, "chain", "", "{}");
	assert_true(db_workload_names(f->db, 5, &f->arena, &names, &n, &err));
	assert_int_equal(n, 2);
	assert_string_equal(names[0].name, "chain");
	assert_int_equal(names[0].runs, 2);
}

static void a_store_of_another_version_is_not_read(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	sqlite3 *h;

	only_a_file();
	assert_int_equal(sqlite3_open(f->path, &h), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h, "PRAGMA user_version = 4", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(h);
	assert_null(db_open_reading(f->path, &err));
	assert_int_equal(err.code, ERR_STORAGE);
	assert_non_null(strstr(err.message, "is of version 4"));
	assert_non_null(strstr(err.message, "breakeven serve --db brings it up to date"));
}

/* What a process finds that may write neither the store nor its folder, as an exit status: 0, the
 * run; 1, an error; 2, the error that says where the rest lies. */
static int read_as_stranger(const struct fixture *f)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		struct err err = { 0 };
		struct run_row run;
		struct arena arena = { 0 };
		struct db *db;
		int found = 1;

		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(9);
		db = db_open_reading(f->path, &err);
		if (db && db_run_get(db, 1, &arena, &run, &err) && strcmp(run.name, "chain") == 0)
			found = 0;
		else if (strstr(err.message, "store.db-wal, that are not read"))
			found = 2;
		db_close(db);
		arena_finish(&arena);
		_exit(found);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

static void a_store_is_read_where_nothing_may_be_written(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	char log[160];
	FILE *file;

	only_a_file();
	done(f, "chain", "", "{}");
	db_close(f->db);
	f->db = NULL;
	assert_int_equal(chmod(f->path, 0444), 0);
	assert_int_equal(chmod(f->folder, 0555), 0);
	assert_int_equal(read_as_stranger(f), 0);
	/* what a server that was killed left: the store alone is not all */
	assert_int_equal(chmod(f->folder, 0755), 0);
	snprintf(log, sizeof(log), "%s-wal", f->path);
	file = fopen(log, "w");
	assert_non_null(file);
	assert_int_equal(fwrite("x", 1, 1, file), 1);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(f->folder, 0555), 0);
	assert_int_equal(read_as_stranger(f), 2);
	assert_int_equal(chmod(f->folder, 0755), 0);
	assert_int_equal(chmod(f->path, 0644), 0);
	assert_int_equal(unlink(log), 0);
	f->db = db_open(f->path, &err);
	assert_non_null(f->db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_store_is_read_where_nothing_may_be_written,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(runs_come_oldest_first_with_the_figure_asked_for,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_commit_stands_after_those_that_it_comes_from,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(commits_in_a_ring_end_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(changes_are_looked_for_in_the_order_of_commits,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_run_without_figures_is_asked_for_once, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(figures_are_replaced_and_go_with_their_run, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(repeats_are_runs_of_the_same_on_the_same, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(notes_and_tags_are_changed_one_by_one, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_workload_has_one_baseline, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_come_by_their_newest_run, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_store_of_another_version_is_not_read, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
