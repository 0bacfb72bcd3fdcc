/* tests/db_fixture.h -- a store in a folder of its own, for each test of db. */
#ifndef TESTS_DB_FIXTURE_H
#define TESTS_DB_FIXTURE_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/db.h"
#include "db/sql/sql.h"

struct fixture {
	char folder[64], path[128];
	struct db *db;
	struct arena arena;
};

/* The database of PostgreSQL that STORE names, emptied; NULL: stores are files. */
static const char *shared_store(void)
{
	const char *url = getenv("STORE");
	struct err err = { 0 };
	struct sql *h;

	if (!url || !*url)
		return NULL;
	h = sql_open_server(url, SQL_READ | SQL_WRITE, &err);
	if (!h || !sql_exec(h, "DROP SCHEMA public CASCADE; CREATE SCHEMA public"))
		fail_msg("%s", h ? sql_message(h) : err.message);
	sql_close(h);
	return url;
}

static inline bool is_shared(void)
{
	return getenv("STORE") && *getenv("STORE");
}

/* Of what a file alone has: nothing is tested where the store is another. */
static inline void only_a_file(void)
{
	if (is_shared())
		skip();
}

/* Statements of another program on the store. */
static inline void tell_store(const struct fixture *f, const char *sql)
{
	struct err err = { 0 };
	struct sql *h = (is_shared() ? sql_open_server(f->path, SQL_READ | SQL_WRITE, &err)
				     : sql_open_file(f->path, SQL_READ | SQL_WRITE, NULL, &err));

	if (!h || !sql_exec(h, sql))
		fail_msg("%s: %s", sql, h ? sql_message(h) : err.message);
	sql_close(h);
}

/* The one number of a statement. */
static inline int64_t ask_store(const struct fixture *f, const char *sql)
{
	struct err err = { 0 };
	struct sql *h = (is_shared() ? sql_open_server(f->path, SQL_READ | SQL_WRITE, &err)
				     : sql_open_file(f->path, SQL_READ | SQL_WRITE, NULL, &err));
	struct sql_statement *s = h ? sql_prepare(h, sql) : NULL;
	int64_t n = s && sql_step(s) == SQL_ROW ? sql_int64(s, 0) : 0;

	if (!s || sql_trouble(h) != SQL_NONE)
		fail_msg("%s: %s", sql, h ? sql_message(h) : err.message);
	sql_finalize(s);
	sql_close(h);
	return n;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const char *shared = shared_store();
	struct err err = { 0 };

	strcpy(f->folder, "/tmp/breakeven-db-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	if (shared)
		snprintf(f->path, sizeof(f->path), "%s", shared);
	else
		snprintf(f->path, sizeof(f->path), "%s/store.db", f->folder);
	f->db = db_open(f->path, &err);
	if (!f->db)
		fail_msg("%s", err.message);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	DIR *folder;

	db_close(f->db);
	folder = opendir(f->folder);
	for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(f->folder);
	arena_finish(&f->arena);
	free(f);
	return 0;
}

/* A workload that waits; tags are joined by '\n'. */
static inline int64_t insert_run(struct fixture *f, const char *name, const char *project,
				 const char *tags)
{
	struct err err = { 0 };
	int64_t id = 0;

	assert_true(db_run_insert(f->db,
				  &(struct run_row){ .name = name,
						     .project = project,
						     .device = "cpu",
						     .modes = "eager,static",
						     .tags = tags,
						     .workload = "{\"name\": \"n\"}" },
				  &id, &err));
	return id;
}

static inline struct run_row claim_run(struct fixture *f, bool wanted)
{
	struct err err = { 0 };
	struct run_row run = { 0 };
	bool found = false;

	assert_true(db_run_claim(f->db, 0, &f->arena, &run, &found, &err));
	assert_int_equal(found, wanted);
	return run;
}

#endif
