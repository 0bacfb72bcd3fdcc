/* db/query.c -- SQL over what is known of one run, in memory, that reads and nothing else.
 *
 * Who writes the statement is a stranger.  Nothing but SELECT over the tables of query.def is
 * compiled: the authorizer says no to every other step, and SQLite's own limits hold what is left:
 * the time, the memory, and the sizes of texts, expressions and answers.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "fusion/base/clock.h"

enum {
	STEPS = 10000,
	/* of the virtual machine, between two looks at the clock */ QUERY_TABLES =
	    QUERY_TABLE_COUNT
};

struct query {
	sqlite3 *h;
	sqlite3_stmt *insert[QUERY_TABLES];
	struct query_limits limits;
	int64_t until_ns;
	bool late;
	char denied[160]; /* what the authorizer refused first */
};

static const struct {
	const char *name, *columns;
} tables[] = {
#define TABLE(id, name, columns) [QUERY_##id] = { name, columns },
#include "db/query.def"
#undef TABLE
};

static const char *const readable[] = {
#define TABLE(id, name, columns) name,
#include "db/query.def"
#undef TABLE
#define VIEW(name, text) name,
#include "db/query.def"
#undef VIEW
	"json_each", "json_tree", /* functions that are tables */
};

static int deny(struct query *q, const char *what, const char *name)
{
	if (!q->denied[0])
		snprintf(q->denied, sizeof(q->denied), "%s%s%.80s", what, name ? " " : "",
			 name ? name : "");
	return SQLITE_DENY;
}

static int authorize(void *self, int action, const char *a, const char *b, const char *db,
		     const char *view)
{
	struct query *q = self;

	(void)db;
	(void)view;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return sqlite3_stricmp(b, "load_extension") && sqlite3_stricmp(b, "fts3_tokenizer")
			   ? SQLITE_OK
			   : deny(q, "the function", b);
	case SQLITE_READ:
		for (size_t i = 0; i < sizeof(readable) / sizeof(readable[0]); i++)
			if (sqlite3_stricmp(a, readable[i]) == 0)
				return SQLITE_OK;
		/* a table that the statement itself names (WITH) has no columns of the schema */
		return !*b ? SQLITE_OK : deny(q, "the table", a);
	case SQLITE_PRAGMA:
		return deny(q, "PRAGMA", a);
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
		return deny(q, "ATTACH and DETACH", NULL);
	default:
		return deny(q, "a statement that changes something", NULL);
	}
}

static int look_at_clock(void *self)
{
	struct query *q = self;

	q->late = clock_ns() >= q->until_ns;
	return q->late;
}

static bool fail(struct query *q, struct err *err)
{
	return err_set(err, ERR_STORAGE, "the tables of a query: %s",
		       q->h ? sqlite3_errmsg(q->h) : "out of memory");
}

static bool exec(struct query *q, const char *sql, struct err *err)
{
	return sqlite3_exec(q->h, sql, NULL, NULL, NULL) == SQLITE_OK || fail(q, err);
}

/* INSERT INTO name VALUES (?, ?, ...) */
static bool prepare_insert(struct query *q, int table, struct err *err)
{
	char sql[256];
	int n = 1;

	for (const char *c = tables[table].columns; *c; c++)
		n += *c == ',';
	snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", tables[table].name);
	while (--n)
		strcat(sql, ",?");
	strcat(sql, ")");
	return sqlite3_prepare_v2(q->h, sql, -1, &q->insert[table], NULL) == SQLITE_OK ||
	       fail(q, err);
}

static bool make_tables(struct query *q, struct err *err)
{
	char sql[512];

	for (int i = 0; i < QUERY_TABLES; i++) {
		snprintf(sql, sizeof(sql), "CREATE TABLE %s (%s)", tables[i].name,
			 tables[i].columns);
		if (!exec(q, sql, err) || !prepare_insert(q, i, err))
			return false;
	}
#define VIEW(name, text)                                                                           \
	if (!exec(q, "CREATE VIEW " name " AS " text, err))                                        \
		return false;
#include "db/query.def"
#undef VIEW
	return true;
}

struct query *query_create(const struct query_limits *limits, struct err *err)
{
	struct query *q = calloc(1, sizeof(*q));

	if (!q) {
		err_set(err, ERR_MEMORY, "out of memory for a query");
		return NULL;
	}
	q->limits = *limits;
	if (limits->memory_bytes)
		sqlite3_hard_heap_limit64(limits->memory_bytes);
	if (sqlite3_open_v2(":memory:", &q->h,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK ||
	    sqlite3_db_config(q->h, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) != SQLITE_OK ||
	    !exec(q, "PRAGMA temp_store = MEMORY; PRAGMA journal_mode = OFF; BEGIN", err) ||
	    !make_tables(q, err)) {
		if (!err || err->code == ERR_NONE)
			fail(q, err);
		query_destroy(q);
		return NULL;
	}
	return q;
}

void query_destroy(struct query *q)
{
	if (!q)
		return;
	for (int i = 0; i < QUERY_TABLES; i++)
		sqlite3_finalize(q->insert[i]);
	sqlite3_close(q->h);
	free(q);
}

bool query_add(struct query *q, enum query_table table, const struct query_cell *cells, int n,
	       struct err *err)
{
	sqlite3_stmt *s = q->insert[table];
	bool ok;

	for (int i = 0; i < n; i++) {
		const struct query_cell *c = &cells[i];

		if (c->kind == QUERY_TEXT && c->text)
			sqlite3_bind_text(s, i + 1, c->text, -1, SQLITE_STATIC);
		else if (c->kind == QUERY_INTEGER)
			sqlite3_bind_int64(s, i + 1, c->integer);
		else if (c->kind == QUERY_REAL && isfinite(c->real))
			sqlite3_bind_double(s, i + 1, c->real);
		else
			sqlite3_bind_null(s, i + 1);
	}
	ok = sqlite3_step(s) == SQLITE_DONE;
	sqlite3_reset(s);
	if (!ok && sqlite3_errcode(q->h) == SQLITE_NOMEM)
		return err_set(err, ERR_TOO_LARGE,
			       "the events do not fit into %lld MiB; ask for a part of them with "
			       "t0, t1, mode or n",
			       (long long)(q->limits.memory_bytes >> 20));
	return ok || fail(q, err);
}

/* ---- the statement ---- */

/* From here on the database only reads. */
static bool close_tables(struct query *q, struct err *err)
{
	static const struct {
		int what, most;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, 1 << 16 },
		{ SQLITE_LIMIT_SQL_LENGTH, QUERY_SQL_BYTES },
		{ SQLITE_LIMIT_COLUMN, 200 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 100 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 50 },
		{ SQLITE_LIMIT_VDBE_OP, 100000 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 50 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 500 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 1 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (int i = 0; i < QUERY_TABLES; i++) {
		sqlite3_finalize(q->insert[i]);
		q->insert[i] = NULL;
	}
	if (!exec(q,
		  "CREATE INDEX by_correlation ON event_rows (correlation) WHERE correlation <> 0; "
		  "COMMIT; PRAGMA query_only = ON",
		  err))
		return false;
	sqlite3_db_config(q->h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		sqlite3_limit(q->h, limits[i].what, limits[i].most);
	sqlite3_set_authorizer(q->h, authorize, q);
	q->until_ns = clock_ns() + q->limits.ms * 1000000;
	sqlite3_progress_handler(q->h, STEPS, look_at_clock, q);
	return true;
}

/* What SQLite says of the statement, with the line and column where it knows them. */
static bool wrong(struct query *q, const char *sql, struct err *err)
{
	int at = sqlite3_error_offset(q->h), code = sqlite3_errcode(q->h), line = 1, column = 1;

	if (q->late)
		return err_set(
		    err, ERR_BAD_REQUEST,
		    "the query takes longer than %.1f s; ask for less: fewer rows to join, "
		    "or a window t0, t1",
		    (double)q->limits.ms / 1000);
	if (code == SQLITE_NOMEM)
		return err_set(err, ERR_BAD_REQUEST, "the query needs more than %lld MiB of memory",
			       (long long)(q->limits.memory_bytes >> 20));
	if (q->denied[0])
		return err_set(
		    err, ERR_BAD_REQUEST,
		    "%s is not allowed: a query only reads the tables events, lanes, names, "
		    "kernels, breaks, compiles, counters and links",
		    q->denied);
	if (at < 0)
		return err_set(err, ERR_BAD_REQUEST, "%s", sqlite3_errmsg(q->h));
	for (int i = 0; i < at && sql[i]; i++) {
		column = sql[i] == '\n' ? 1 : column + ((sql[i] & 0xc0) != 0x80);
		line += sql[i] == '\n';
	}
	return err_at(err, ERR_BAD_REQUEST, line, column, "%s", sqlite3_errmsg(q->h));
}

static bool is_blank(const char *text)
{
	return strspn(text, " \t\r\n;") == strlen(text);
}

static json_t *cell_json(sqlite3_stmt *s, int i)
{
	switch (sqlite3_column_type(s, i)) {
	case SQLITE_INTEGER:
		return json_integer(sqlite3_column_int64(s, i));
	case SQLITE_FLOAT:
		return isfinite(sqlite3_column_double(s, i))
			   ? json_real(sqlite3_column_double(s, i))
			   : json_null();
	case SQLITE_TEXT: {
		const char *text = (const char *)sqlite3_column_text(s, i);
		json_t *json = json_stringn(text ? text : "", (size_t)sqlite3_column_bytes(s, i));

		return json ? json : json_string("(a text that is no UTF-8)");
	}
	case SQLITE_BLOB:
		return json_sprintf("(%d bytes)", sqlite3_column_bytes(s, i));
	default:
		return json_null();
	}
}

/* *bytes: about what the row takes in the answer. */
static json_t *row_json(sqlite3_stmt *s, int n, int64_t *bytes)
{
	json_t *row = json_array();

	for (int i = 0; i < n; i++) {
		int type = sqlite3_column_type(s, i);

		*bytes += type == SQLITE_TEXT ? sqlite3_column_bytes(s, i) + 4 : 20;
		if (json_array_append_new(row, cell_json(s, i)) != 0) {
			json_decref(row);
			return NULL;
		}
	}
	return row;
}

static bool read_rows(struct query *q, sqlite3_stmt *s, const char *sql, json_t *out,
		      struct err *err)
{
	int n = sqlite3_column_count(s), step;
	json_t *columns = json_array(), *rows = json_array();
	const char *cut = NULL;
	int64_t bytes = 0;

	json_object_set_new(out, "columns", columns);
	json_object_set_new(out, "rows", rows);
	for (int i = 0; i < n; i++) {
		const char *name = sqlite3_column_name(s, i);
		json_t *text = json_string(name ? name : "");

		json_array_append_new(columns, text ? text : json_string(""));
	}
	while (!cut && (step = sqlite3_step(s)) == SQLITE_ROW) {
		if ((int64_t)json_array_size(rows) >= q->limits.rows)
			cut = "rows";
		else if (bytes >= q->limits.bytes)
			cut = "bytes";
		else if (json_array_append_new(rows, row_json(s, n, &bytes)) != 0)
			return err_set(err, ERR_MEMORY, "out of memory for the answer");
	}
	json_object_set_new(out, "cut", cut ? json_string(cut) : json_null());
	return cut || step == SQLITE_DONE || wrong(q, sql, err);
}

/* Whether nothing but blanks and comments is left. */
static bool says_nothing(struct query *q, const char *rest)
{
	sqlite3_stmt *more = NULL;
	bool nothing = sqlite3_prepare_v2(q->h, rest, -1, &more, NULL) == SQLITE_OK && !more;

	sqlite3_finalize(more);
	return nothing;
}

json_t *query_run(struct query *q, const char *sql, struct err *err)
{
	json_t *out = json_object();
	sqlite3_stmt *s = NULL;
	const char *rest = "";
	bool ok = false;

	if (!out || !close_tables(q, err)) {
		json_decref(out);
		return NULL;
	}
	if (strlen(sql) > QUERY_SQL_BYTES)
		err_set(err, ERR_BAD_REQUEST, "the statement has %zu bytes; at most %d are read",
			strlen(sql), QUERY_SQL_BYTES);
	else if (is_blank(sql))
		err_set(err, ERR_BAD_REQUEST, "a statement is needed: SELECT ...");
	else if (sqlite3_prepare_v2(q->h, sql, -1, &s, &rest) != SQLITE_OK)
		wrong(q, sql, err);
	else if (!s)
		err_set(err, ERR_BAD_REQUEST, "a statement is needed: SELECT ...");
	else if (!says_nothing(q, rest))
		err_set(err, ERR_BAD_REQUEST, "one statement is run, but another follows: %.60s",
			rest);
	else if (!sqlite3_stmt_readonly(s) || !sqlite3_column_count(s) || sqlite3_stmt_isexplain(s))
		err_set(err, ERR_BAD_REQUEST, "a statement that reads is needed: SELECT ...");
	else
		ok = read_rows(q, s, sql, out, err);
	sqlite3_finalize(s);
	if (ok)
		return out;
	json_decref(out);
	return NULL;
}
