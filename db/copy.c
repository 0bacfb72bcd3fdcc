/* db/copy.c -- a store into another one, of the same kind or not: row by row, in one transaction.
 */
#include "db/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "db/pieces.h"
#include "db/shared.h"
#include "fusion/base/buf.h"

enum { COLUMNS_MOST = 48, ROWS_AT_ONCE = 200, PATH_BYTES = 4096 };

/* Each after those that it refers to.  What a search finds is indexed again; what a server notes of
 * itself stays where it is. */
static const struct {
	const char *name;
	bool numbered; /* its ids are never given again */
} tables[] = {
	{ "run_row", true },
	{ "run_workload", false },
	{ "run_tag", false },
	{ "environment", true },
	{ "report", false },
	{ "run_summary", false },
	{ "timeline_block", false },
	{ "suite_row", true },
	{ "suite_run", false },
	{ "suite_kept", false },
	{ "run_result", false },
	{ "run_figure", false },
	{ "timeline_answer", false },
	{ "token", true },
	{ "session", false },
	{ "audit", true },
	{ "findings", false },
	{ "change", true },
	{ "change_step", false },
	{ "change_look", false },
	{ "hook", true },
	{ "hook_delivery", true },
	{ "change_alert", false },
	{ "hook_mark", false },
	{ "known_commit", false },
	{ "commit_parent", false },
	{ "request_key", false },
	{ "search_text", true },
	{ "search_run", false },
	{ "saved_view", true },
	{ "placement", false },
};
enum { N_TABLES = sizeof(tables) / sizeof(tables[0]) };

struct copied_column {
	char name[64];
	enum sql_type type;
};

struct copied_table {
	const char *name;
	struct copied_column columns[COLUMNS_MOST];
	int n;
};

/* ---- what a table has ---- */

static bool type_from(const char *name, enum sql_type *out)
{
	static const struct {
		const char *name;
		enum sql_type type;
	} types[] = {
		{ "INTEGER", SQL_INTEGER }, { "bigint", SQL_INTEGER },
		{ "REAL", SQL_REAL },       { "double precision", SQL_REAL },
		{ "TEXT", SQL_TEXT },       { "text", SQL_TEXT },
		{ "BLOB", SQL_BYTES },      { "bytea", SQL_BYTES },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, name) == 0) {
			*out = types[i].type;
			return true;
		}
	return false;
}

/* Which server has a row, and the place of a row that SQLite gives every one, are not copied. */
#define COLUMNS_OF_FILE "SELECT name, type FROM pragma_table_info(?1) ORDER BY cid"
#define COLUMNS_OF_SHARED                                                                          \
	"SELECT column_name::text, data_type::text FROM information_schema.columns WHERE"          \
	" table_schema = current_schema() AND table_name = ?1 AND column_name NOT IN ('server',"   \
	" 'rowid') ORDER BY ordinal_position"

static bool read_columns(struct db *db, struct sql *h, struct copied_table *t, struct err *err)
{
	struct sql_statement *s = db_prepare(
	    h, err, db->is_shared ? COLUMNS_OF_SHARED : COLUMNS_OF_FILE, "t", t->name);
	int code = SQL_FAILED;
	bool ok = s != NULL;

	t->n = 0;
	while (ok && (code = sql_step(s)) == SQL_ROW) {
		struct copied_column *c = &t->columns[t->n];

		ok = t->n < COLUMNS_MOST && type_from(db_text(s, 1), &c->type);
		snprintf(c->name, sizeof(c->name), "%s", db_text(s, 0));
		t->n += ok;
	}
	if (ok && code != SQL_DONE)
		ok = db_fail(h, "read the columns of a table", err);
	else if (s && !ok)
		err_set(err, ERR_STORAGE, "a column of %s is of no type that is copied", t->name);
	else if (ok && t->n == 0)
		ok = err_set(err, ERR_STORAGE, "the store has no table %s", t->name);
	sql_finalize(s);
	return ok;
}

/* ---- rows ---- */

/* The rows of a table; of a server they come in parts, so that not all are in memory at once. */
struct copied_rows {
	struct sql *h;
	bool in_parts;
	struct sql_statement *s;
	int seen; /* of the part */
};

static bool open_rows(struct copied_rows *r, const struct copied_table *t, struct err *err)
{
	struct buf sql = { 0 };
	bool ok;

	buf_puts(&sql, r->in_parts ? "DECLARE copied NO SCROLL CURSOR FOR SELECT " : "SELECT ");
	for (int i = 0; i < t->n; i++)
		buf_printf(&sql, "%s\"%s\"", i ? ", " : "", t->columns[i].name);
	buf_printf(&sql, " FROM %s%s", t->name,
		   strcmp(t->name, "change_step") == 0 ? " ORDER BY rowid" : "");
	ok = !sql.failed || err_set(err, ERR_MEMORY, "out of memory while copying a store");
	if (ok && r->in_parts)
		ok = db_exec(r->h, sql.data, "read a table", err);
	r->seen = 0;
	r->s = ok ? db_prepare(r->h, err, r->in_parts ? "FETCH FORWARD 200 FROM copied" : sql.data,
			       "")
		  : NULL;
	buf_finish(&sql);
	return r->s != NULL;
}
_Static_assert(ROWS_AT_ONCE == 200, "the statement names it");

static enum sql_step next_row(struct copied_rows *r)
{
	enum sql_step step = sql_step(r->s);

	if (step == SQL_DONE && r->in_parts && r->seen == ROWS_AT_ONCE) {
		sql_reset(r->s);
		r->seen = 0;
		step = sql_step(r->s);
	}
	r->seen++;
	return step;
}

static void close_rows(struct copied_rows *r)
{
	sql_finalize(r->s);
	if (r->in_parts)
		sql_exec(r->h, "CLOSE copied");
}

static struct sql_statement *prepare_insert(struct sql *to, const struct copied_table *t,
					    struct err *err)
{
	struct buf sql = { 0 };
	struct sql_statement *s = NULL;

	buf_printf(&sql, "INSERT INTO %s(", t->name);
	for (int i = 0; i < t->n; i++)
		buf_printf(&sql, "%s\"%s\"", i ? ", " : "", t->columns[i].name);
	buf_puts(&sql, ") VALUES(");
	for (int i = 0; i < t->n; i++)
		buf_printf(&sql, "%s?%d", i ? ", " : "", i + 1);
	buf_puts(&sql, ")");
	if (sql.failed)
		err_set(err, ERR_MEMORY, "out of memory while copying a store");
	else
		s = db_prepare(to, err, sql.data, "");
	buf_finish(&sql);
	return s;
}

static bool bind_column(struct sql_statement *to, struct sql_statement *from, int i,
			enum sql_type type)
{
	const char *text;

	if (sql_is_null(from, i))
		return sql_bind_null(to, i + 1, type);
	switch (type) {
	case SQL_INTEGER:
		return sql_bind_int64(to, i + 1, sql_int64(from, i));
	case SQL_REAL:
		return sql_bind_double(to, i + 1, sql_double(from, i));
	case SQL_TEXT:
		text = sql_text(from, i);
		return text && sql_bind_text(to, i + 1, text, sql_bytes(from, i));
	default:
		text = sql_blob(from, i);
		return sql_bind_blob(to, i + 1, text ? text : "", sql_bytes(from, i));
	}
}

static bool copy_row(struct sql *to, struct sql_statement *insert, struct sql_statement *from,
		     const struct copied_table *t, struct err *err)
{
	bool ok = true;

	for (int i = 0; ok && i < t->n; i++)
		ok = bind_column(insert, from, i, t->columns[i].type);
	ok = ok && sql_step(insert) == SQL_DONE;
	if (!ok)
		db_fail(to, t->name, err);
	sql_reset(insert);
	return ok;
}

static bool copy_table(struct db *from, struct db *to, const char *name, int64_t *rows,
		       struct err *err)
{
	struct copied_table t = { .name = name };
	struct copied_rows r = { .h = from->readers[0], .in_parts = from->is_shared };
	struct sql_statement *insert;
	int code = SQL_FAILED;
	bool ok;

	*rows = 0;
	if (!read_columns(from, r.h, &t, err) || !open_rows(&r, &t, err))
		return false;
	insert = prepare_insert(to->writer, &t, err);
	ok = insert != NULL;
	while (ok && (code = next_row(&r)) == SQL_ROW) {
		ok = !db_stopped() ? copy_row(to->writer, insert, r.s, &t, err)
				   : err_set(err, ERR_CANCELLED, "interrupted");
		*rows += ok;
	}
	if (ok && code != SQL_DONE)
		ok = db_fail(r.h, "read a table", err);
	sql_finalize(insert);
	close_rows(&r);
	return ok;
}

/* ---- numbers that are never given again ---- */

static bool ask(struct sql *h, const char *sql, int64_t *n, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, sql, "");
	int code = s ? sql_step(s) : SQL_FAILED;
	bool ok = code == SQL_ROW || code == SQL_DONE || (s && db_fail(h, "read a number", err));

	*n = code == SQL_ROW ? sql_int64(s, 0) : 0;
	sql_finalize(s);
	return ok;
}

/* The last id that the table gave. */
static bool last_given(struct db *db, const char *table, int64_t *last, struct err *err)
{
	char sql[300];
	int64_t most = 0;

	snprintf(sql, sizeof(sql), "SELECT coalesce(max(id), 0) FROM %s", table);
	if (!ask(db->readers[0], sql, &most, err))
		return false;
	if (db->is_shared)
		snprintf(sql, sizeof(sql),
			 "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('%s', "
			 "'id')::regclass), 0)",
			 table);
	else
		snprintf(sql, sizeof(sql), "SELECT seq FROM sqlite_sequence WHERE name = '%s'",
			 table);
	if (!ask(db->readers[0], sql, last, err))
		return false;
	*last = *last > most ? *last : most;
	return true;
}

static bool go_on_after(struct db *db, const char *table, int64_t last, struct err *err)
{
	char sql[300];

	if (last == 0)
		return true;
	if (db->is_shared)
		snprintf(sql, sizeof(sql),
			 "SELECT setval(pg_get_serial_sequence('%s', 'id'), %lld)", table,
			 (long long)last);
	else
		snprintf(sql, sizeof(sql),
			 "UPDATE sqlite_sequence SET seq = %lld WHERE name = '%s'; INSERT INTO"
			 " sqlite_sequence(name, seq) SELECT '%s', %lld WHERE (SELECT sql FROM"
			 " sqlite_schema WHERE name = '%s') LIKE '%%AUTOINCREMENT%%' AND NOT EXISTS"
			 " (SELECT 1 FROM sqlite_sequence WHERE name = '%s')",
			 (long long)last, table, table, (long long)last, table, table);
	return db_exec(db->writer, sql, "store the last number of a table", err);
}

static bool copy_rows(struct db *from, struct db *to, json_t *counts, struct err *err)
{
	bool ok = true;

	for (int i = 0; ok && i < N_TABLES; i++) {
		int64_t rows, last = 0;

		ok = copy_table(from, to, tables[i].name, &rows, err) &&
		     (!tables[i].numbered || (last_given(from, tables[i].name, &last, err) &&
					      go_on_after(to, tables[i].name, last, err))) &&
		     (json_object_set_new(counts, tables[i].name, json_integer(rows)) == 0 ||
		      err_set(err, ERR_MEMORY, "out of memory while copying a store"));
	}
	return ok && (to->is_shared ||
		      db_exec(to->writer,
			      "INSERT INTO search(rowid, body) SELECT id, body FROM search_text; "
			      "DELETE FROM request_key WHERE status = 0",
			      "index what runs are found by", err));
}

static bool is_empty(struct db *db, const char *path, struct err *err)
{
	int64_t n;

	if (!ask(db->writer,
		 "SELECT (SELECT count(*) FROM run_row) + (SELECT count(*) FROM suite_row) +"
		 " (SELECT count(*) FROM token)",
		 &n, err))
		return false;
	return n == 0 || err_set(err, ERR_CONFLICT,
				 "the store %.300s has runs or tokens already; name one that has "
				 "none",
				 path);
}

/* All of it of one moment. */
static bool copy_all(struct db *from, struct db *to, const char *path, json_t *counts,
		     struct err *err)
{
	bool ok = db_exec(from->readers[0],
			  from->is_shared ? "BEGIN ISOLATION LEVEL REPEATABLE READ" : "BEGIN",
			  "begin", err) &&
		  db_write_begin(to, err);

	if (!ok)
		return false;
	ok = is_empty(to, path, err) && copy_rows(from, to, counts, err);
	ok = db_write_end(to, ok, err);
	sql_exec(from->readers[0], "ROLLBACK");
	return ok;
}

/* ---- the files beside them ---- */

static bool copy_file(int from, int to, const char *name, json_t *files, struct err *err)
{
	char partial[SHA_HEX_BYTES + 16], hex[SHA_HEX_BYTES];
	int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), out;
	struct sha256_ctx sha;
	struct stat at;
	bool ok;

	if (in < 0)
		return errno == ENOENT || piece_failed(name, "cannot be read", err);
	snprintf(partial, sizeof(partial), "%s.partial", name);
	out = openat(to, partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	sha256_init(&sha);
	ok = (out >= 0 && fstat(in, &at) == 0 && piece_pass(in, -1, out, &sha) &&
	      fsync(out) == 0) ||
	     piece_failed(name, "cannot be copied", err);
	piece_hex(&sha, hex);
	if (ok && strcmp(hex, name) != 0)
		ok = err_set(err, ERR_STORAGE, "the file sha256:%s is damaged: its SHA-256 is %s",
			     name, hex);
	if (ok && renameat(to, partial, to, name) != 0)
		ok = piece_failed(name, "cannot be made", err);
	if (out >= 0)
		close(out);
	close(in);
	if (ok)
		json_object_set_new(files, name, json_integer(at.st_size));
	else if (out >= 0)
		unlinkat(to, partial, 0);
	return ok;
}

static bool copy_files(const struct store_copy *c, json_t *files, struct err *err)
{
	const struct dirent *entry;
	DIR *from = opendir(c->from_files);
	int to;
	bool ok = true;

	if (!from)
		return errno == ENOENT || piece_failed(c->from_files, "cannot be read", err);
	if (mkdir(c->to_files, 0700) != 0 && errno != EEXIST)
		ok = piece_failed(c->to_files, "cannot be made", err);
	to = ok ? open(c->to_files, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (ok && to < 0)
		ok = piece_failed(c->to_files, "cannot be opened", err);
	while (ok && (entry = readdir(from)) != NULL)
		if (piece_is_hash(entry->d_name))
			ok = copy_file(dirfd(from), to, entry->d_name, files, err);
	if (to >= 0) {
		fsync(to);
		close(to);
	}
	closedir(from);
	return ok;
}

json_t *db_copy(const struct store_copy *c, struct err *err)
{
	struct db *from = db_open_reading(c->from, err);
	struct db *to = from ? db_open(c->to, err) : NULL;
	json_t *counts = json_object(), *files = json_object(), *out = NULL;

	/* Files first: what refers to one finds it. */
	if (to && copy_files(c, files, err) && copy_all(from, to, c->to, counts, err)) {
		out = json_pack("{s:s, s:s, s:O, s:O}", "from", c->from, "to", c->to, "tables",
				counts, "files", files);
		if (!out)
			err_set(err, ERR_MEMORY, "out of memory while copying a store");
	}
	json_decref(counts);
	json_decref(files);
	db_close(to);
	db_close(from);
	return out;
}
