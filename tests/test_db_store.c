/* tests/test_db_store.c -- the store: queue, reports, recovery, migrations. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tests/db_fixture.h"

static const struct run_outcome empty = { .report = "{}", .report_len = 2, .environment = "{}" };

static struct run_row get(struct fixture *f, int64_t id)
{
	struct err err = { 0 };
	struct run_row run = { 0 };

	assert_true(db_run_get(f->db, id, &f->arena, &run, &err));
	return run;
}

static void runs_are_claimed_oldest_first_and_once(void **state)
{
	struct fixture *f = *state;
	int64_t first = insert_run(f, "a", "", ""), second = insert_run(f, "b", "", "");
	struct run_row run = claim_run(f, true);

	assert_int_equal(run.id, first);
	assert_int_equal(run.status, RUN_RUNNING);
	assert_int_equal(run.attempts, 1);
	assert_string_equal(run.workload, "{\"name\": \"n\"}");
	assert_int_equal(claim_run(f, true).id, second);
	claim_run(f, false);
}

static void a_report_comes_back_as_it_was_stored(void **state)
{
	struct fixture *f = *state;
	struct run_summary summary = { .mode = "static",
				       .verdict = "FASTER",
				       .speedup = 4.1,
				       .speedup_lo = 3.9,
				       .speedup_hi = 4.3,
				       .median_us = 1.5,
				       .calls_to_repay = INFINITY,
				       .crossover_n = NAN,
				       .at_n = 30,
				       .breaks = 3 };
	struct buf report = { 0 }, environment = { 0 };
	struct err err = { 0 };
	struct run_row run;
	char *text = malloc(100001);

	for (int i = 0; i < 100000; i++)
		text[i] = (char)('a' + i % 7);
	text[100000] = '\0';
	insert_run(f, "a", "", "");
	run = claim_run(f, true);
	assert_true(db_run_finish(f->db, run.id,
				  &(struct run_outcome){ .report = text,
							 .report_len = 100000,
							 .environment = "{\"cpu\":\"x\"}",
							 .summary = summary },
				  &err));
	assert_true(db_report_get(f->db, run.id, &report, &environment, &err));
	assert_int_equal(report.len, 100000);
	assert_memory_equal(report.data, text, 100000);
	assert_string_equal(environment.data, "{\"cpu\":\"x\"}");
	run = get(f, run.id);
	assert_int_equal(run.status, RUN_DONE);
	assert_string_equal(run.summary.mode, "static");
	assert_true(run.summary.speedup == 4.1 && isinf(run.summary.calls_to_repay));
	assert_true(isnan(run.summary.crossover_n) && run.summary.at_n == 30);
	assert_int_equal(run.summary.breaks, 3);
	buf_finish(&report);
	buf_finish(&environment);
	free(text);
}

static void an_ended_run_does_not_end_twice(void **state)
{
	struct fixture *f = *state;
	struct err why = { 0 }, err = { 0 };
	int64_t id = insert_run(f, "a", "", "");

	err_at(&why, ERR_SHAPE, 4, 9, "sizes do not fit");
	assert_true(db_run_end(f->db, id, RUN_FAILED, &why, NULL, &err));
	assert_false(db_run_end(f->db, id, RUN_CANCELLED, NULL, NULL, &err));
	assert_int_equal(err.code, ERR_CONFLICT);
	assert_int_equal(get(f, id).error.code, ERR_SHAPE);
	assert_int_equal(get(f, id).error.line, 4);
	assert_int_equal(get(f, id).error.column, 9);
	assert_string_equal(get(f, id).error.message, "sizes do not fit");
	assert_false(db_run_finish(f->db, id, &empty, &err));
	assert_int_equal(err.code, ERR_CONFLICT);
}

static void what_was_running_is_queued_again_and_failed_the_third_time(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	int64_t id = insert_run(f, "a", "", "");
	int n;

	for (int attempt = 1; attempt <= 3; attempt++) {
		assert_int_equal(claim_run(f, true).attempts, attempt);
		db_close(f->db);
		f->db = db_open(f->path, &err);
		assert_non_null(f->db);
		assert_true(db_run_recover(f->db, &n, &err));
		assert_int_equal(n, 1);
	}
	assert_int_equal(get(f, id).status, RUN_FAILED);
	assert_int_equal(get(f, id).error.code, ERR_WORKER);
	claim_run(f, false);
}

static void a_requeued_run_has_lost_no_attempt(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	int64_t id = insert_run(f, "a", "", "");

	claim_run(f, true);
	assert_true(db_run_requeue(f->db, id, &err));
	assert_int_equal(get(f, id).status, RUN_QUEUED);
	assert_int_equal(claim_run(f, true).attempts, 1);
}

static void remove_for_good(struct fixture *f, int64_t id)
{
	struct err err = { 0 };
	bool more = true;

	assert_true(db_run_delete(f->db, id, &err));
	while (more)
		assert_true(db_run_purge(f->db, INT64_MAX, &more, &err));
}

static void removing_a_run_removes_all_of_it_but_only_once_ended(void **state)
{
	struct fixture *f = *state;
	struct buf report = { 0 }, environment = { 0 };
	struct err err = { 0 };
	struct run_row run;
	int64_t id = insert_run(f, "a", "", "t");

	assert_false(db_run_delete(f->db, id, &err));
	assert_int_equal(err.code, ERR_CONFLICT);
	run = claim_run(f, true);
	assert_true(db_run_finish(f->db, id, &empty, &err));
	remove_for_good(f, id);
	assert_false(db_run_get(f->db, id, &f->arena, &run, &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_false(db_report_get(f->db, id, &report, &environment, &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_true(insert_run(f, "b", "", "") > id); /* ids are never used again */
}

static void a_second_server_on_the_same_file_is_refused(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };

	only_a_file();
	assert_null(db_open(f->path, &err));
	assert_int_equal(err.code, ERR_STORAGE);
	assert_non_null(strstr(err.message, "in use by another server"));
}

static void a_store_locked_by_another_program_is_named(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	sqlite3 *other;

	only_a_file();
	db_close(f->db);
	assert_int_equal(sqlite3_open(f->path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	f->db = db_open(f->path, &err);
	assert_null(f->db);
	assert_non_null(strstr(err.message, "locked by another program"));
	sqlite3_close(other);
}

extern const char *const migration_texts[]; /* of db/db.c */

/* A store as version `version` left it, with a run. */
static void make_old(const char *path, int version)
{
	enum { RUN_IS_A_VIEW = 15, WORKLOADS_STAND_BESIDE = 26 };
	bool beside = version >= WORKLOADS_STAND_BESIDE;
	char pragma[64], made[256];
	sqlite3 *h;

	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	for (int i = 0; i < version; i++)
		assert_int_equal(sqlite3_exec(h, migration_texts[i], NULL, NULL, NULL), SQLITE_OK);
	snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", version);
	assert_int_equal(sqlite3_exec(h, pragma, NULL, NULL, NULL), SQLITE_OK);
	snprintf(made, sizeof(made),
		 "INSERT INTO %s(name, project, device, %sworkload_hash, modes, status, "
		 "created_ns) VALUES('old', 'p', 'cpu', %s'', '', 'done', 5)",
		 version < RUN_IS_A_VIEW ? "run" : "run_row", beside ? "" : "workload, ",
		 beside ? "" : "'{}', ");
	assert_int_equal(sqlite3_exec(h, made, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(h);
}

static void stores_of_every_earlier_version_are_brought_up_to_date(void **state)
{
	struct fixture *f = *state;
	bool has = true;

	only_a_file();
	for (int version = 1; migration_texts[version]; version++) {
		struct err err = { 0 };
		struct run_row run;
		char wal[160];

		db_close(f->db);
		unlink(f->path);
		snprintf(wal, sizeof(wal), "%s-wal", f->path);
		unlink(wal);
		make_old(f->path, version);
		f->db = db_open(f->path, &err);
		if (!f->db)
			fail_msg("version %d: %s", version, err.message);
		run = get(f, 1);
		assert_string_equal(run.name, "old");
		assert_string_equal(run.author, "");
		assert_string_equal(run.note_by, "");
		assert_true(db_has_tokens(f->db, &has, &err));
		assert_false(has);
	}
}

static void the_audit_log_keeps_the_newest(void **state)
{
	struct fixture *f = *state;
	struct audit_row *rows, row = { .who = "ci",
					.address = "::1",
					.route = "POST /api/v1/runs",
					.subject = insert_run(f, "a", "", "") };
	struct err err = { 0 };
	sqlite3 *h;
	int n;

	only_a_file();
	assert_true(db_audit_add(f->db, &row, &err));
	assert_int_equal(sqlite3_open(f->path, &h), SQLITE_OK);
	sqlite3_exec(h, "UPDATE sqlite_sequence SET seq = 100001 WHERE name = 'audit'", NULL, NULL,
		     NULL);
	sqlite3_close(h);
	row.who = "later";
	assert_true(db_audit_add(f->db, &row, &err));
	assert_true(db_audit_list(f->db, 10, &f->arena, &rows, &n, &err));
	assert_int_equal(n, 1);
	assert_string_equal(rows[0].who, "later");
}

static void a_token_counts_until_it_is_revoked_or_expires(void **state)
{
	struct fixture *f = *state;
	struct token_row token = { .name = "ci", .project = "p", .scope = SCOPE_SUBMIT }, got;
	struct token_secret secret = { .hash = { 1 } };
	struct err err = { 0 };
	bool found;

	assert_true(db_token_add(f->db, &token, secret.hash, &err));
	assert_true(db_token_find(f->db, &secret, &f->arena, &got, &found, &err));
	assert_true(found);
	assert_string_equal(got.name, "ci");
	assert_int_equal(got.scope, SCOPE_SUBMIT);
	secret.session = true;
	assert_true(db_token_find(f->db, &secret, &f->arena, &got, &found, &err));
	assert_false(found);
	secret.session = false;
	assert_true(db_token_revoke(f->db, "ci", &err));
	assert_true(db_token_find(f->db, &secret, &f->arena, &got, &found, &err));
	assert_false(found);
	token.name = "old";
	token.expires_ns = 1;
	secret.hash[0] = 2;
	assert_true(db_token_add(f->db, &token, secret.hash, &err));
	assert_true(db_token_find(f->db, &secret, &f->arena, &got, &found, &err));
	assert_false(found);
	assert_false(db_token_add(f->db, &token, (uint8_t[SECRET_HASH_BYTES]){ 3 }, &err));
	assert_int_equal(err.code, ERR_CONFLICT);
}

static void what_is_no_database_or_too_new_is_refused(void **state)
{
	struct fixture *f = *state;
	struct err err = { 0 };
	sqlite3 *h;
	FILE *file;

	only_a_file();
	db_close(f->db);
	f->db = NULL;
	assert_int_equal(sqlite3_open(f->path, &h), SQLITE_OK);
	sqlite3_exec(h, "PRAGMA user_version = 99", NULL, NULL, NULL);
	sqlite3_close(h);
	assert_null(db_open(f->path, &err));
	assert_non_null(strstr(err.message, "version 99"));
	file = fopen(f->path, "w");
	for (int i = 0; i < 500; i++)
		fputs("this is a text file", file);
	fclose(file);
	assert_null(db_open(f->path, &err));
	assert_non_null(strstr(err.message, "cannot use"));
	assert_null(db_open("/nonexistent/folder/x.db", &err));
	assert_non_null(strstr(err.message, "--db"));
}

static void a_damaged_report_is_an_error_not_a_crash(void **state)
{
	struct fixture *f = *state;
	struct buf report = { 0 }, environment = { 0 };
	struct err err = { 0 };
	char text[4096];
	int64_t id = insert_run(f, "a", "", "");

	memset(text, 'x', sizeof(text));
	claim_run(f, true);
	assert_true(db_run_finish(f->db, id,
				  &(struct run_outcome){ .report = text,
							 .report_len = sizeof(text),
							 .environment = "{}" },
				  &err));
	tell_store(f, "UPDATE report SET bytes = 100");
	assert_false(db_report_get(f->db, id, &report, &environment, &err));
	assert_int_equal(err.code, ERR_STORAGE);
	tell_store(f, "UPDATE report SET codec = 9");
	assert_false(db_report_get(f->db, id, &report, &environment, &err));
	buf_finish(&report);
	buf_finish(&environment);
}

static bool add_block(void *self, const struct timeline_row *row, struct err *err)
{
	(void)err;
	buf_printf(self, "%.*s@%lld ", (int)row->len, (const char *)row->data,
		   (long long)row->t0_ns);
	return true;
}

/* The blocks of a kind that reach into [t0, t1]. */
static void expect_blocks(struct fixture *f, int64_t id, int64_t kind, int64_t t0, int64_t t1,
			  const char *wanted)
{
	struct buf seen = { 0 };
	struct err err = { 0 };

	buf_puts(&seen, "");
	assert_true(db_timeline_each(f->db, id, (struct block_range){ kind, t0, t1 }, add_block,
				     &seen, &err));
	assert_string_equal(seen.data ? seen.data : "", wanted);
	buf_finish(&seen);
}

/* As an older version did, which stored what a run left one by one. */
static void store_block_alone(struct fixture *f, int64_t id)
{
	char sql[200];

	snprintf(sql, sizeof(sql),
		 "INSERT INTO timeline_block SELECT id, 0, 1, 3, 10, 20, data FROM run_row JOIN"
		 " (SELECT %s AS data) AS old ON TRUE WHERE id = %lld",
		 is_shared() ? "'old'::bytea" : "x'6f6c64'", (long long)id);
	tell_store(f, sql);
}

static void timelines_are_found_by_time_replaced_and_go_with_their_run(void **state)
{
	struct fixture *f = *state;
	int64_t id = insert_run(f, "a", "p", "");
	const struct timeline_row blocks[] = { { 2, 0, 0, 0, "names", 5 },
					       { 1, 3, 10, 20, "one", 3 },
					       { 1, 3, 15, 30, "two", 3 },
					       { 1, 3, 40, 50, "three", 5 } };
	struct run_outcome outcome = empty;
	struct err err = { 0 };

	outcome.blocks = blocks;
	outcome.n_blocks = 4;
	store_block_alone(f, id);
	expect_blocks(f, id, 1, 0, 100, "old@10 ");
	claim_run(f, true);
	assert_true(db_run_finish(f->db, id, &outcome, &err));
	expect_blocks(f, id, 2, INT64_MIN, INT64_MAX, "names@0 ");
	expect_blocks(f, id, 1, 20, 39, "one@10 two@15 ");
	expect_blocks(f, id, 1, 31, 40, "three@40 ");
	expect_blocks(f, id + 1, 1, 0, 100, "");
	remove_for_good(f, id);
	expect_blocks(f, id, 1, 0, 100, "");
}

static void expect_answer(struct fixture *f, int64_t id, const char *lanes, int64_t version,
			  const char *wanted)
{
	struct buf out = { 0 };
	struct err err = { 0 };
	bool found = false;

	assert_true(db_timeline_answer_get(f->db, &(struct answer_key){ id, lanes, version }, &out,
					   &found, &err));
	assert_int_equal(found, wanted != NULL);
	if (wanted)
		assert_memory_equal(out.data, wanted, strlen(wanted) + 1);
	buf_finish(&out);
}

static bool keep_answer(struct fixture *f, int64_t id, const char *lanes, const char *text,
			size_t len)
{
	const struct answer_key key = { id, lanes, 1 };
	struct err err = { 0 };

	return db_timeline_answer_put(f->db, &key, text, len, &err);
}

static void an_answer_is_kept_by_lanes_and_version_and_goes_with_its_blocks(void **state)
{
	struct fixture *f = *state;
	int64_t id = insert_run(f, "a", "p", "");
	const struct timeline_row block = { 1, 3, 10, 20, "one", 3 };
	struct run_outcome outcome = empty;
	struct err err = { 0 };
	char text[2001];

	outcome.blocks = &block;
	outcome.n_blocks = 1;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	expect_answer(f, id, "static", 1, NULL);
	assert_true(keep_answer(f, id, "static", "old", 4));
	assert_true(keep_answer(f, id, "static", text, sizeof(text)));
	assert_true(keep_answer(f, id, "", "all", 4));
	expect_answer(f, id, "static", 1, text);
	expect_answer(f, id, "", 1, "all");
	expect_answer(f, id, "static", 2, NULL);
	expect_answer(f, id + 1, "", 1, NULL);
	claim_run(f, true);
	assert_true(db_run_finish(f->db, id, &outcome, &err));
	expect_answer(f, id, "static", 1, NULL);
	assert_true(keep_answer(f, id, "", "all", 4));
	remove_for_good(f, id);
	expect_answer(f, id, "", 1, NULL);
	assert_false(keep_answer(f, id, "", "all", 4)); /* of no run */
}

static int64_t begin_trace(struct fixture *f)
{
	const struct run_row run = {
		.name = "t", .device = "cuda", .workload = "{}", .trace = true
	};
	struct err err = { 0 };
	int64_t id = 0;

	assert_true(db_run_insert(f->db, &run, &id, &err));
	return id;
}

static void blocks_of_a_trace_come_in_order_and_each_once(void **state)
{
	struct fixture *f = *state;
	int64_t id = begin_trace(f), job = insert_run(f, "a", "p", "");
	const struct timeline_row blocks[] = { { 1, 3, 10, 20, "one", 3 },
					       { 1, 3, 15, 30, "two", 3 },
					       { 1, 3, 40, 50, "three", 5 } };
	struct err err = { 0 };
	struct run_row run;

	assert_true(db_run_get(f->db, id, &f->arena, &run, &err));
	assert_true(run.trace && run.status == RUN_RUNNING && run.started_ns > 0);
	assert_int_equal(claim_run(f, true).id, job); /* a trace is no job */
	assert_true(
	    db_trace_append(f->db, id, &(struct trace_post){ 0, blocks, 2, 100, 1000 }, &err));
	/* The answer was lost: the same again, and one more. */
	assert_true(
	    db_trace_append(f->db, id, &(struct trace_post){ 0, blocks, 3, 100, 1000 }, &err));
	expect_blocks(f, id, 1, 0, 100, "one@10 two@15 three@40 ");
	assert_false(
	    db_trace_append(f->db, id, &(struct trace_post){ 4, blocks, 1, 100, 1000 }, &err));
	assert_int_equal(err.code, ERR_CONFLICT);
	assert_false(
	    db_trace_append(f->db, id, &(struct trace_post){ 3, blocks, 1, 12, 1000 }, &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
	assert_false(
	    db_trace_append(f->db, id, &(struct trace_post){ 3, blocks, 1, 100, 11 }, &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
	assert_non_null(strstr(err.message, "at most 11 events"));
	assert_false(
	    db_trace_append(f->db, job, &(struct trace_post){ 0, blocks, 1, 100, 1000 }, &err));
	assert_int_equal(err.code, ERR_CONFLICT);
	expect_blocks(f, id, 1, 0, 100, "one@10 two@15 three@40 ");
}

static int64_t forward_s; /* how far the wall clock has been set */

/* In the place of the C library's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	long code = syscall(SYS_clock_gettime, id, t);

	if (id == CLOCK_REALTIME)
		t->tv_sec += forward_s;
	return (int)code;
}

static void a_clock_that_is_set_forward_ends_no_trace(void **state)
{
	struct fixture *f = *state;
	int64_t trace = begin_trace(f);
	struct err err = { 0 };

	forward_s = 24 * 3600;
	assert_true(db_trace_expire(f->db, INT64_C(3600) * 1000000000, &err));
	forward_s = 0;
	assert_int_equal(get(f, trace).status, RUN_RUNNING);
}

static int64_t bytes_of(const char *path)
{
	struct stat at;

	return stat(path, &at) == 0 ? (int64_t)at.st_size : 0;
}

static void what_is_deleted_goes_back_to_the_disk(void **state)
{
	enum { RUNS = 40, BYTES = 200000 };
	struct fixture *f = *state;
	char *source = NULL;
	struct run_row row = { .name = "a", .device = "cpu", .modes = "" };
	struct err err = { 0 };
	int64_t id[RUNS], full;
	bool more = true;
	int turns = 0;

	only_a_file();
	row.workload = source = calloc(1, BYTES + 1);
	memset(source, 'x', BYTES);
	for (int i = 0; i < RUNS; i++)
		assert_true(db_run_insert(f->db, &row, &id[i], &err));
	assert_true(db_give_back(f->db, false, &more, &err));
	assert_false(more);
	db_close(f->db); /* the log goes into the store */
	f->db = db_open(f->path, &err);
	full = bytes_of(f->path);
	assert_true(full > RUNS * BYTES);
	for (int i = 0; i < RUNS; i++) {
		assert_true(db_run_end(f->db, id[i], RUN_CANCELLED, &err, NULL, &err));
		remove_for_good(f, id[i]);
	}
	do
		assert_true(db_give_back(f->db, false, &more, &err));
	while (more && ++turns < 100);
	db_close(f->db);
	f->db = db_open(f->path, &err);
	assert_true(bytes_of(f->path) < full / 2);
	free(source);
}

static void a_trace_that_is_silent_or_cut_off_has_failed_with_what_came(void **state)
{
	struct fixture *f = *state;
	int64_t silent = begin_trace(f), cut;
	const struct timeline_row block = { 1, 3, 10, 20, "one", 3 };
	struct err err = { 0 };
	struct run_row run;
	int n = 0;

	assert_true(
	    db_trace_append(f->db, silent, &(struct trace_post){ 0, &block, 1, 100, 1000 }, &err));
	assert_true(db_trace_expire(f->db, INT64_C(3600) * 1000000000, &err));
	assert_true(db_run_get(f->db, silent, &f->arena, &run, &err));
	assert_int_equal(run.status, RUN_RUNNING);
	assert_true(db_trace_expire(f->db, -1, &err));
	assert_true(db_run_get(f->db, silent, &f->arena, &run, &err));
	assert_int_equal(run.status, RUN_FAILED);
	assert_non_null(strstr(run.error.message, "does not speak any more"));
	expect_blocks(f, silent, 1, 0, 100, "one@10 ");
	assert_false(
	    db_trace_append(f->db, silent, &(struct trace_post){ 1, &block, 1, 100, 1000 }, &err));
	cut = begin_trace(f);
	db_close(f->db); /* the server ends */
	f->db = db_open(f->path, &err);
	assert_true(db_run_recover(f->db, &n, &err));
	assert_int_equal(n, 0); /* nothing to take up again */
	assert_true(db_run_get(f->db, cut, &f->arena, &run, &err));
	assert_int_equal(run.status, RUN_FAILED);
	claim_run(f, false);
}

static void expect_findings(struct fixture *f, int64_t id, const char *version, const char *wanted)
{
	struct buf out = { 0 };
	struct err err = { 0 };
	bool found;

	assert_true(db_findings_get(f->db, id, version, &out, &found, &err));
	assert_int_equal(found, wanted != NULL);
	if (wanted)
		assert_string_equal(out.data, wanted);
	buf_finish(&out);
}

static void findings_are_kept_by_version_and_go_with_their_run(void **state)
{
	struct fixture *f = *state;
	int64_t id = insert_run(f, "a", "p", "");
	struct run_outcome outcome = empty;
	struct err err = { 0 };
	char longer[4000];

	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	outcome.findings = "{\"answer\":[]}";
	outcome.version = "0.1.0+a";
	claim_run(f, true);
	assert_true(db_run_finish(f->db, id, &outcome, &err));
	expect_findings(f, id, "0.1.0+a", outcome.findings);
	expect_findings(f, id, "0.1.0+b", NULL);
	assert_true(db_findings_put(f->db, id, "0.1.0+b", longer, &err));
	expect_findings(f, id, "0.1.0+b", longer);
	expect_findings(f, id, "0.1.0+a", NULL);
	remove_for_good(f, id);
	expect_findings(f, id, "0.1.0+b", NULL);
	assert_true(db_findings_put(f->db, id, "0.1.0+b", "{}", &err)); /* it is gone meanwhile */
	expect_findings(f, id, "0.1.0+b", NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(runs_are_claimed_oldest_first_and_once),
		TEST(a_report_comes_back_as_it_was_stored),
		TEST(an_ended_run_does_not_end_twice),
		TEST(what_was_running_is_queued_again_and_failed_the_third_time),
		TEST(a_requeued_run_has_lost_no_attempt),
		TEST(removing_a_run_removes_all_of_it_but_only_once_ended),
		TEST(a_second_server_on_the_same_file_is_refused),
		TEST(a_store_locked_by_another_program_is_named),
		TEST(stores_of_every_earlier_version_are_brought_up_to_date),
		TEST(the_audit_log_keeps_the_newest),
		TEST(a_token_counts_until_it_is_revoked_or_expires),
		TEST(a_clock_that_is_set_forward_ends_no_trace),
		TEST(what_is_deleted_goes_back_to_the_disk),
		TEST(what_is_no_database_or_too_new_is_refused),
		TEST(a_damaged_report_is_an_error_not_a_crash),
		TEST(blocks_of_a_trace_come_in_order_and_each_once),
		TEST(a_trace_that_is_silent_or_cut_off_has_failed_with_what_came),
		TEST(an_answer_is_kept_by_lanes_and_version_and_goes_with_its_blocks),
		TEST(findings_are_kept_by_version_and_go_with_their_run),
		TEST(timelines_are_found_by_time_replaced_and_go_with_their_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
