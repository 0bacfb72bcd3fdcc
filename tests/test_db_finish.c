/* tests/test_db_finish.c -- a finished run is stored whole or not at all: with a failure at each
 * statement, at the commit, and a process that is killed at each statement and at any moment. */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include <sqlite3.h>

#include "db/internal.h"
#include "tests/db_fixture.h"

enum { N_BLOCKS = 3, N_FIGURES = 2, N_RESULTS = 2, REPORT_BYTES = 5000, KILLS = 40 };

static char report[REPORT_BYTES];
static const struct timeline_row blocks[N_BLOCKS] = { { 2, 0, 0, 0, "names", 5 },
						      { 1, 3, 10, 20, "one", 3 },
						      { 1, 3, 15, 30, "two", 3 } };
static const struct run_figure figures[N_FIGURES] = {
	{ "latency", "static", NAN, 1.5, 1.4, 1.6, 30 },
	{ "speedup", "static", NAN, 4, 3.9, 4.1, 30 }
};
static const struct run_result results[N_RESULTS] = {
	{ .engine = "breakeven", .mode = "eager", .status = "pass", .speedup = NAN, .graphs = -1 },
	{ .engine = "breakeven", .mode = "static", .status = "pass", .speedup = 4, .graphs = 2 }
};
static const struct run_outcome outcome = { .report = report,
					    .report_len = REPORT_BYTES,
					    .environment = "{\"cpu\":\"x\"}",
					    .findings = "{}",
					    .version = "1",
					    .summary = { .mode = "static",
							 .verdict = "FASTER",
							 .speedup = 4,
							 .at_n = NAN,
							 .breaks = 3 },
					    .figures = { "source", "settings", figures, N_FIGURES },
					    .results = results,
					    .n_results = N_RESULTS,
					    .blocks = blocks,
					    .n_blocks = N_BLOCKS };

static struct db *open_store(const char *path)
{
	struct err err = { 0 };
	struct db *db = db_open(path, &err);

	if (!db)
		fail_msg("%s", err.message);
	return db;
}

/* A run of a suite that is running. */
static int64_t begin_run(struct db *db)
{
	struct suite suite = { .name = "s", .request = "{}", .workloads = "[\"a\"]" };
	struct suite_member member = {
		.run = { .name = "a", .device = "cpu", .modes = "eager,static", .workload = "{}" },
		.policy = "native"
	};
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct run_row run;
	bool found;

	assert_true(db_suite_insert(db, &suite, &member, 1, &err));
	assert_true(db_run_claim(db, 0, &arena, &run, &found, &err) && found);
	assert_int_equal(run.id, member.run.id);
	arena_finish(&arena);
	return member.run.id;
}

static long long count(struct db *db, const char *what, int64_t run)
{
	char sql[200];
	struct sql_statement *s;
	long long n;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s = %lld", what, (long long)run);
	s = sql_prepare(db->writer, sql);
	assert_true(s && sql_step(s) == SQL_ROW);
	n = sql_int64(s, 0);
	sql_finalize(s);
	return n;
}

/* Each part of a run that is done is there; of one that is not, none. */
static bool is_whole(struct db *db, int64_t id)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct run_row run;
	bool done;

	assert_true(db_run_get(db, id, &arena, &run, &err));
	done = run.status == RUN_DONE;
	assert_true(done || run.status == RUN_RUNNING);
	assert_int_equal(run.finished_ns > 0, done);
	assert_string_equal(run.source_hash, done ? "source" : "");
	assert_string_equal(run.settings_hash, done ? "settings" : "");
	assert_int_equal(run.summary.mode != NULL, done);
	assert_int_equal(run.summary.breaks, done ? 3 : -1);
	assert_int_equal(count(db, "report WHERE run", id), done);
	assert_int_equal(count(db, "findings WHERE run", id), done);
	assert_int_equal(count(db, "timeline_block WHERE run", id), done ? N_BLOCKS : 0);
	assert_int_equal(count(db, "run_figure WHERE run", id), done ? N_FIGURES : 0);
	assert_int_equal(count(db, "run_result WHERE run", id), done ? N_RESULTS : 0);
	if (done) {
		struct buf text = { 0 }, environment = { 0 };

		assert_true(db_report_get(db, id, &text, &environment, &err));
		assert_int_equal(text.len, REPORT_BYTES);
		assert_memory_equal(text.data, report, REPORT_BYTES);
		assert_string_equal(environment.data, outcome.environment);
		buf_finish(&text);
		buf_finish(&environment);
	}
	arena_finish(&arena);
	return done;
}

/* Counts the statements of the writer and does something at one of them. */
struct fault {
	struct db *db;
	int at, seen;
	bool kills;
};

static int on_statement(unsigned what, void *self, void *statement, void *text)
{
	struct fault *f = self;

	(void)what;
	(void)statement;
	(void)text;
	if (++f->seen != f->at)
		return 0;
	if (f->kills)
		kill(getpid(), SIGKILL);
	sqlite3_interrupt(sql_sqlite(f->db->writer));
	return 0;
}

static void watch(struct fault *f)
{
	if (is_shared())
		return; /* killed from outside alone */
	sqlite3_trace_v2(sql_sqlite(f->db->writer), f->at ? SQLITE_TRACE_STMT : 0, on_statement, f);
}

/* How many statements storing takes: those of a run that meets no fault. */
static int count_statements(struct db *db)
{
	struct fault none = { .db = db, .at = -1 };
	struct err err = { 0 };
	int64_t id = begin_run(db);

	watch(&none);
	assert_true(db_run_finish(db, id, &outcome, &err));
	none.at = 0;
	watch(&none);
	assert_true(is_whole(db, id));
	return none.seen;
}

static void a_failure_at_any_statement_leaves_the_run_as_it_was(void **state)
{
	struct fixture *f = *state;
	int64_t id;
	int n;

	only_a_file();
	n = count_statements(f->db);
	id = begin_run(f->db);
	assert_true(n >= 15); /* begin, commit, and a statement for each row */
	for (int at = 1; at <= n; at++) {
		struct fault fault = { .db = f->db, .at = at };
		struct err err = { 0 };

		watch(&fault);
		assert_false(db_run_finish(f->db, id, &outcome, &err));
		assert_int_equal(err.code, ERR_STORAGE);
		fault.at = 0;
		watch(&fault);
		assert_false(is_whole(f->db, id));
	}
	assert_true(db_run_finish(f->db, id, &outcome, &(struct err){ 0 }));
	assert_true(is_whole(f->db, id));
}

#define REFUSE                                                                                     \
	"CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF"      \
	" (SELECT count(*) FROM %s) >= %d THEN RAISE EXCEPTION 'no room'; END IF; RETURN new; END" \
	" $$; CREATE"

/* What has a table refuse a row that is one too many. */
static void write_refusal(char *sql, size_t bytes, const char *table, int most)
{
	if (is_shared())
		snprintf(sql, bytes,
			 REFUSE " TRIGGER refuse BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION"
				" refuse()",
			 table, most, table);
	else
		snprintf(sql, bytes,
			 "CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.%s WHEN (SELECT count(*)"
			 " FROM %s) >= %d BEGIN SELECT RAISE(FAIL, 'no room'); END",
			 table, table, most);
}

/* A table that refuses its second row: the statement fails, and not all that came before it. */
static void a_row_that_is_refused_leaves_the_run_as_it_was(void **state)
{
	static const char *const tables[] = { "report",     "run_summary", "timeline_block",
					      "run_result", "run_figure",  "environment",
					      "findings" };
	struct fixture *f = *state;
	int64_t id = begin_run(f->db);

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct err err = { 0 };
		char sql[400];

		write_refusal(sql, sizeof(sql), tables[i], i >= 2 && i <= 4);
		assert_true(sql_exec(f->db->writer, sql));
		assert_false(db_run_finish(f->db, id, &outcome, &err));
		assert_non_null(strstr(err.message, "no room"));
		snprintf(sql, sizeof(sql), "DROP TRIGGER refuse%s%s", is_shared() ? " ON " : "",
			 is_shared() ? tables[i] : "");
		assert_true(sql_exec(f->db->writer, sql));
		assert_false(is_whole(f->db, id));
	}
	assert_true(db_run_finish(f->db, id, &outcome, &(struct err){ 0 }));
	assert_true(is_whole(f->db, id));
}

static int refuse_commit(void *self)
{
	(void)self;
	return 1;
}

static void refuse_commits(struct fixture *f, bool on)
{
	char sql[400];

	if (!is_shared()) {
		sqlite3_commit_hook(sql_sqlite(f->db->writer), on ? refuse_commit : NULL, NULL);
		return;
	}
	snprintf(sql, sizeof(sql),
		 REFUSE " CONSTRAINT TRIGGER refuse AFTER INSERT ON report DEFERRABLE INITIALLY"
			" DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()",
		 "report", 0);
	tell_store(f, on ? sql : "DROP TRIGGER refuse ON report");
}

static void a_commit_that_fails_leaves_the_run_as_it_was(void **state)
{
	struct fixture *f = *state;
	int64_t id = begin_run(f->db);
	struct err err = { 0 };

	refuse_commits(f, true);
	assert_false(db_run_finish(f->db, id, &outcome, &err));
	assert_int_equal(err.code, ERR_STORAGE);
	refuse_commits(f, false);
	assert_false(is_whole(f->db, id));
	assert_true(db_run_finish(f->db, id, &outcome, &err));
	assert_true(is_whole(f->db, id));
}

/* The child stores runs until it is killed: at its statement `at`, or (0) from outside. */
static pid_t start_child(const char *path, int at, int announce)
{
	pid_t pid = fork();
	struct fault fault = { .at = at, .kills = true };

	if (pid != 0)
		return pid;
	fault.db = open_store(path);
	for (;;) {
		int64_t id = begin_run(fault.db);
		struct err err = { 0 };

		if (announce >= 0 && write(announce, "+", 1) < 0)
			_exit(1);
		watch(&fault);
		if (!db_run_finish(fault.db, id, &outcome, &err))
			_exit(2);
	}
}

static void reap(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* How many are taken up again.  A server notices a while later that the other end of a connection
 * is no more. */
static int recovered(struct db *db, int wanted)
{
	struct err err = { 0 };
	int all = 0, n = 0;

	for (int tries = 0; tries < 500; tries++) {
		assert_true(db_run_recover(db, &n, &err));
		all += n;
		if (all >= wanted)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	return all;
}

/* The file is sound; each run is done and whole, or is taken up again as it was.  How many are
 * done. */
static int check_store(const char *path)
{
	struct db *db = open_store(path);
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct run_page page;
	int done = 0, open = 0;

	if (!is_shared()) {
		struct sql_statement *s = sql_prepare(db->writer, "PRAGMA integrity_check");

		assert_true(s && sql_step(s) == SQL_ROW);
		assert_string_equal(sql_text(s, 0), "ok");
		sql_finalize(s);
	}
	assert_true(db_run_list(db, &(struct run_query){ .status = -1, .limit = 10000 }, &arena,
				&page, &err));
	for (int i = 0; i < page.n; i++) {
		if (page.runs[i].status == RUN_QUEUED)
			continue; /* it was killed ahead of its claim */
		if (is_whole(db, page.runs[i].id))
			done++;
		else
			open++;
	}
	assert_int_equal(recovered(db, open), open);
	assert_true(open <= 1);
	arena_finish(&arena);
	/* What is left is not in the way of the next child's claim. */
	assert_true(sql_exec(db->writer, "DELETE FROM run_row WHERE status <> 'done'"));
	db_close(db);
	return done;
}

static void a_process_killed_at_any_statement_leaves_the_run_whole_or_as_it_was(void **state)
{
	struct fixture *f = *state;
	int n;

	only_a_file();
	n = count_statements(f->db);
	db_close(f->db);
	f->db = NULL;
	for (int at = 1; at <= n; at++) {
		reap(start_child(f->path, at, -1));
		assert_int_equal(check_store(f->path), 1); /* that of count_statements() */
	}
	reap(start_child(f->path, n + 1, -1)); /* one was stored, and the next begins */
	assert_int_equal(check_store(f->path), 2);
}

static void a_process_killed_at_any_moment_leaves_each_run_whole_or_as_it_was(void **state)
{
	struct fixture *f = *state;
	int before = 0, kills = getenv("KILLS") ? atoi(getenv("KILLS")) : KILLS;

	db_close(f->db);
	f->db = NULL;
	srand(7);
	for (int i = 0; i < kills; i++) {
		int ends[2], now;
		char byte;
		pid_t pid;

		assert_int_equal(pipe(ends), 0);
		pid = start_child(f->path, 0, ends[1]);
		close(ends[1]);
		/* A run is about to be stored; in every other round one was before it. */
		for (int k = 0; k <= i % 2; k++)
			assert_int_equal(read(ends[0], &byte, 1), 1);
		nanosleep(&(struct timespec){ .tv_nsec = rand() % 4000000 }, NULL);
		kill(pid, SIGKILL);
		close(ends[0]);
		reap(pid);
		now = check_store(f->path);
		assert_true(now >= before); /* what was done is done */
		before = now;
	}
	assert_true(before > 0);
}

/* Of a file of results all runs are stored, done, or none: the second here has a figure that is no
 * number. */
static void what_was_measured_elsewhere_is_stored_whole(void **state)
{
	struct fixture *f = *state;
	struct run_figure both[] = { { "latency", "wall", NAN, 2, 1, 3, 7 },
				     { "latency", "wall", NAN, NAN, 1, 3, 7 } };
	struct suite_member members[] = { { .run = { .name = "a", .workload = "{}" } },
					  { .run = { .name = "b", .workload = "{}" } } };
	struct run_outcome outcomes[2];
	struct suite suite = { .name = "s", .workloads = "[]", .request = "{}" };
	struct err err = { 0 };
	struct run_page page;
	struct run_row run;

	for (int i = 0; i < 2; i++)
		outcomes[i] = (struct run_outcome){ .report = "{}",
						    .report_len = 2,
						    .environment = "{}",
						    .about = "{}",
						    .figures = { "source", "settings", &both[i],
								 1 } };
	assert_false(db_runs_measured(f->db, &suite, members, outcomes, 2, &err));
	assert_int_equal(err.code, ERR_STORAGE);
	err = (struct err){ 0 };
	assert_true(db_run_list(f->db, &(struct run_query){ .status = -1, .limit = 5 }, &f->arena,
				&page, &err));
	assert_int_equal(page.total, 0);
	both[1].value = 2;
	assert_true(db_runs_measured(f->db, &suite, members, outcomes, 2, &err));
	assert_true(db_run_get(f->db, members[1].run.id, &f->arena, &run, &err));
	assert_int_equal(run.status, RUN_DONE);
	assert_int_equal(run.suite, suite.id);
	assert_string_equal(run.about, "{}");
	assert_true(run.started_ns == run.created_ns && run.finished_ns >= run.created_ns);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_failure_at_any_statement_leaves_the_run_as_it_was),
		TEST(a_row_that_is_refused_leaves_the_run_as_it_was),
		TEST(a_commit_that_fails_leaves_the_run_as_it_was),
		TEST(a_process_killed_at_any_statement_leaves_the_run_whole_or_as_it_was),
		TEST(a_process_killed_at_any_moment_leaves_each_run_whole_or_as_it_was),
		TEST(what_was_measured_elsewhere_is_stored_whole),
	};

	for (size_t i = 0; i < REPORT_BYTES; i++)
		report[i] = (char)('a' + i * i % 23);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
