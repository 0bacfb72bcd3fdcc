/* db/check.c -- is a store whole: pages, references, what is packed, and the files beside it.
 *
 * It looks at tables by name, so that stores of earlier versions and copies are looked at too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "db/internal.h"
#include "db/packed.h"
#include "db/pieces.h"
#include "db/shared.h"
#include "fusion/base/buf.h"
#include "fusion/base/hash.h"

enum { PROBLEMS_MOST = 100 };

struct checked {
	struct sql *h;
	json_t *problems;
	int64_t more; /* problems that are not listed */
	bool failed;  /* something could not be looked at: without a problem that is an error */
};

static void problem(struct checked *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void problem(struct checked *c, const char *format, ...)
{
	va_list args;

	if (json_array_size(c->problems) == PROBLEMS_MOST) {
		c->more++;
		return;
	}
	va_start(args, format);
	c->failed |= json_array_append_new(c->problems, json_vsprintf(format, args)) != 0;
	va_end(args);
}

static struct sql_statement *prepare(struct checked *c, const char *sql)
{
	struct err ignored = { 0 };
	struct sql_statement *s = db_prepare(c->h, &ignored, sql, "");

	c->failed |= !s;
	return s;
}

static bool next(struct checked *c, struct sql_statement *s)
{
	int code = s ? sql_step(s) : SQL_DONE;

	c->failed |= code != SQL_ROW && code != SQL_DONE;
	return code == SQL_ROW;
}

/* The first column of each row of a PRAGMA that finds faults. */
static void pragma_finds(struct checked *c, const char *pragma, const char *fine)
{
	struct sql_statement *s = prepare(c, pragma);
	const char *name = pragma + strlen("PRAGMA ");

	while (next(c, s))
		if (!fine || strcmp(db_text(s, 0), fine) != 0)
			problem(c, "%s: %s%s%s", name, db_text(s, 0),
				fine ? "" : " refers to no row of ", fine ? "" : db_text(s, 2));
	/* A page that cannot be read ends the search, and is a fault itself. */
	if (sql_trouble(c->h) == SQL_DAMAGED)
		problem(c, "%s: %s", name, sql_message(c->h));
	sql_finalize(s);
}

static int64_t number_of(struct checked *c, const char *sql)
{
	struct sql_statement *s = prepare(c, sql);
	int64_t n = next(c, s) ? sql_int64(s, 0) : -1;

	c->failed |= n < 0;
	sql_finalize(s);
	return n;
}

static int64_t rows_of(struct checked *c, const char *table)
{
	char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\"", table);
	int64_t n = sql ? number_of(c, sql) : -1;

	c->failed |= !sql;
	sqlite3_free(sql);
	return n;
}

/* Rows of each table. */
static json_t *count_rows(struct checked *c)
{
	json_t *counts = json_object();
	struct sql_statement *s = prepare(
	    c, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name "
	       "NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name");

	while (next(c, s))
		c->failed |= json_object_set_new(counts, db_text(s, 0),
						 json_integer(rows_of(c, db_text(s, 0)))) != 0;
	sql_finalize(s);
	return counts;
}

/* What is packed comes out as long as it was; a store of an earlier version may not have it. */
static void check_packed(struct checked *c, const char *table)
{
	char sql[128];
	struct err err = { 0 };
	struct buf out = { 0 };
	struct sql_statement *s;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM sqlite_schema WHERE name = '%s'", table);
	if (number_of(c, sql) <= 0)
		return;
	snprintf(sql, sizeof(sql), "SELECT run, codec, bytes, data FROM %s ORDER BY run", table);
	s = prepare(c, sql);
	while (next(c, s)) {
		err = (struct err){ 0 };
		if (!packed_read(s, 1, &out, &err))
			problem(c, "%s of run %lld: %s", table, (long long)sql_int64(s, 0),
				err.message);
	}
	sql_finalize(s);
	buf_finish(&out);
}

static void check_environments(struct checked *c)
{
	struct sql_statement *s = prepare(c, "SELECT id, hash, json FROM environment");

	while (next(c, s)) {
		const char *json = db_text(s, 2);
		char hash[HASH_HEX_BYTES];

		hash_hex(json, strlen(json), hash);
		if (strcmp(hash, db_text(s, 1)) != 0)
			problem(c, "environment %lld: it has another hash than is stored with it",
				(long long)sql_int64(s, 0));
	}
	sql_finalize(s);
}

/* ---- the files beside it ---- */

static void check_file(struct checked *c, int folder, const char *name, json_t *files)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct sha256_ctx sha;
	char hex[SHA_HEX_BYTES];
	struct stat at;

	if (fd < 0 && errno == ENOENT)
		return; /* it was deleted meanwhile */
	sha256_init(&sha);
	if (fd < 0 || fstat(fd, &at) != 0 || !piece_pass(fd, -1, -1, &sha)) {
		problem(c, "file sha256:%s: %s", name, strerror(errno));
	} else {
		piece_hex(&sha, hex);
		if (strcmp(hex, name) != 0)
			problem(c, "file sha256:%s: its SHA-256 is %s", name, hex);
		c->failed |= json_object_set_new(files, name, json_integer(at.st_size)) != 0;
	}
	if (fd >= 0)
		close(fd);
}

static json_t *check_files(struct checked *c, const char *path)
{
	json_t *files = json_object();
	char folder[4096];
	const struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s.files", path);
	dir = opendir(folder);
	if (!dir && errno != ENOENT && errno != ENOTDIR)
		problem(c, "the folder of files %s: %s", folder, strerror(errno));
	while (dir && (entry = readdir(dir)) != NULL)
		if (piece_is_hash(entry->d_name))
			check_file(c, dirfd(dir), entry->d_name, files);
	if (dir)
		closedir(dir);
	return files;
}

/* ---- */

static json_t *describe(struct checked *c, const char *path, struct err *err)
{
	int64_t page = number_of(c, "PRAGMA page_size");
	int64_t pages = number_of(c, "PRAGMA page_count");
	int64_t unused = number_of(c, "PRAGMA freelist_count");
	int64_t version = number_of(c, "PRAGMA user_version");
	json_t *tables = count_rows(c), *files = check_files(c, path), *out;

	if (c->more > 0)
		json_array_append_new(c->problems,
				      json_sprintf("and %lld more", (long long)c->more));
	out = json_pack("{s:s, s:b, s:I, s:I, s:I, s:o, s:o, s:O}", "store", path, "ok",
			json_array_size(c->problems) == 0, "version", (json_int_t)version, "bytes",
			(json_int_t)(page * pages), "free_bytes", (json_int_t)(page * unused),
			"tables", tables, "files", files, "problems", c->problems);
	if (!out)
		err_set(err, ERR_MEMORY, "out of memory while checking %.200s", path);
	if (out && c->failed && json_array_size(c->problems) == 0) {
		err_set(err, ERR_STORAGE, "%.200s could not be looked at whole: %s", path,
			sql_trouble(c->h) == SQL_NONE ? "out of memory" : sql_message(c->h));
		json_decref(out);
		out = NULL;
	}
	return out;
}

/* All of it is of one moment, whoever writes meanwhile. */
/* What is counted as runs change equals what there is; an earlier version counts nothing. */
static void check_counts(struct checked *c)
{
	struct sql_statement *s;

	if (number_of(c, "SELECT count(*) FROM sqlite_schema WHERE name = 'run_counted'") <= 0)
		return;
	s = prepare(c,
		    "WITH here AS (SELECT kind, value, project, count(*) AS n FROM run_counted"
		    " GROUP BY 1, 2, 3) SELECT kind, value, project, sum(counted), sum(n) FROM"
		    " (SELECT kind, value, project, n AS counted, 0 AS n FROM run_count UNION ALL"
		    " SELECT kind, value, project, 0, n FROM here) GROUP BY 1, 2, 3"
		    " HAVING sum(counted) <> sum(n)");
	while (next(c, s))
		problem(c,
			"run_count: %s %s of project \"%s\" counts %lld runs, and there are %lld; "
			"`breakeven vacuum` counts again",
			db_text(s, 0), db_text(s, 1), db_text(s, 2), (long long)sql_int64(s, 3),
			(long long)sql_int64(s, 4));
	sql_finalize(s);
}

static json_t *check(struct checked *c, const char *path, struct err *err)
{
	static const char *const packed[] = { "report", "findings", "timeline_answer" };

	if (!sql_exec(c->h, "BEGIN"))
		return db_fail(c->h, "begin", err), NULL;
	if (number_of(c, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'run%'") <= 0) {
		bool no_data = sql_trouble(c->h) == SQL_NO_DATA;

		err_set(err, ERR_STORAGE, "%.300s is no store of Breakeven: %s", path,
			no_data     ? "it is no database"
			: c->failed ? sql_message(c->h)
				    : "it has no runs");
		return NULL;
	}
	pragma_finds(c, "PRAGMA integrity_check", "ok");
	pragma_finds(c, "PRAGMA foreign_key_check", NULL);
	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++)
		check_packed(c, packed[i]);
	check_environments(c);
	check_counts(c);
	return describe(c, path, err);
}

json_t *db_check(const char *path, struct err *err)
{
	struct checked c = { 0 };
	json_t *out = NULL;

	if (db_path_is_shared(path)) {
		err_set(err, ERR_STORAGE,
			"check looks at a file; of a store on PostgreSQL the server "
			"itself checks the pages (pg_amcheck)");
		return NULL;
	}
	c.h = db_connect(path, SQL_READ, err);
	if (!c.h)
		return NULL;
	c.problems = json_array();
	c.failed = !c.problems;
	out = check(&c, path, err);
	json_decref(c.problems);
	sql_close(c.h);
	if (out && db_stopped()) {
		err_set(err, ERR_CANCELLED, "interrupted");
		json_decref(out);
		out = NULL;
	}
	return out;
}
