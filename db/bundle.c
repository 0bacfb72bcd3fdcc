/* db/bundle.c -- runs and suites as one file, for another store.
 *
 *	breakeven-bundle 1
 *	{"version":1,"runs":[7],"suites":[],"left_out":0}
 *	{"run_row":{"id":7,"name":"mlp",...}}
 *	{"report":{"run":7,"codec":1,"bytes":5120,"data":[803]}}
 *	803 bytes
 *	sha256 HEX
 *
 * Lines: rows of tables as JSON, in the order of bundle.def; what is a list of one number is so
 *many bytes, which follow the line, and a newline after them.  What is null is left out.  The last
 *line has the SHA-256 of all before it.  This file writes them; bundle_take.c takes them.
 */
#include "db/bundle.h"

#include <stdlib.h>

enum { KEPT_BYTES = 1 << 20 };

static const char *const table_rows[] = {
#define BUNDLE(table, rows) rows,
#include "db/bundle.def"
#undef BUNDLE
};

/* ---- the file ---- */

struct bundle_writer {
	int fd;
	struct sha256_ctx sha;
	struct buf kept; /* not written yet */
	int64_t bytes;
};

static bool flush(struct bundle_writer *w, struct err *err)
{
	bool ok = !w->kept.failed || err_set(err, ERR_MEMORY, "out of memory for a bundle");

	sha256_update(&w->sha, w->kept.len, (const uint8_t *)w->kept.data);
	if (ok && !write_all(w->fd, w->kept.data, w->kept.len))
		ok = piece_failed("the bundle", "cannot be written", err);
	w->bytes += (int64_t)w->kept.len;
	buf_clear(&w->kept);
	return ok;
}

/* What is given goes into the line as JSON, which takes it over. */
static bool put_line(struct bundle_writer *w, json_t *json, struct err *err)
{
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;

	json_decref(json);
	if (!text)
		return err_set(err, ERR_MEMORY, "out of memory for a bundle");
	buf_puts(&w->kept, text);
	buf_putc(&w->kept, '\n');
	free(text);
	return w->kept.len < KEPT_BYTES || flush(w, err);
}

/* ---- rows ---- */

static json_t *cell_json(struct sql_statement *s, int i)
{
	const char *text;

	switch (sql_type_of(s, i)) {
	case SQL_INTEGER:
		return json_integer(sql_int64(s, i));
	case SQL_REAL:
		return json_real(sql_double(s, i));
	case SQL_BYTES:
		return json_pack("[I]", (json_int_t)sql_bytes(s, i));
	case SQL_TEXT:
		break;
	}
	text = sql_text(s, i);
	return text ? json_stringn(text, sql_bytes(s, i)) : NULL;
}

static bool put_row(struct bundle_writer *w, const char *table, struct sql_statement *s,
		    struct err *err)
{
	json_t *row = json_object();
	bool ok = true;

	for (int i = 0; ok && i < sql_columns(s); i++) {
		const char *column = sql_name(s, i);

		if (!sql_is_null(s, i) && !bundle_omits(table, column) &&
		    json_object_set_new(row, column, cell_json(s, i)) != 0)
			ok = err_set(err, ERR_STORAGE, "%s.%s has what is no text or number", table,
				     column);
	}
	row = json_pack("{s:o}", table, row);
	ok = (ok && put_line(w, json_incref(row), err));
	json_decref(row);
	for (int i = 0; ok && i < sql_columns(s); i++)
		if (!sql_is_null(s, i) && sql_type_of(s, i) == SQL_BYTES) {
			buf_add(&w->kept, sql_blob(s, i), sql_bytes(s, i));
			buf_putc(&w->kept, '\n');
		}
	return ok && (w->kept.len < KEPT_BYTES || flush(w, err));
}

struct bundled {
	const char *runs, *suites; /* JSON lists */
	int64_t left_out;          /* runs that have not ended */
};

static bool put_table(struct bundle_writer *w, struct sql *h, int table, const struct bundled *c,
		      struct err *err)
{
	struct buf sql = { 0 };
	struct sql_statement *s;
	int code = SQL_FAILED;
	bool ok = true;

	buf_printf(&sql,
		   "WITH runs AS MATERIALIZED (SELECT value FROM json_each(?1)),"
		   " suites AS MATERIALIZED (SELECT value FROM json_each(?2))"
		   " SELECT * FROM %s WHERE %s ORDER BY 1, 2",
		   bundle_names[table], table_rows[table]);
	s = sql.failed ? NULL : db_prepare(h, err, sql.data, "tt", c->runs, c->suites);
	while (ok && s && (code = sql_step(s)) == SQL_ROW)
		ok = put_row(w, bundle_names[table], s, err);
	if (ok && s && code != SQL_DONE)
		db_fail(h, "read what is bundled", err);
	if (sql.failed)
		err_set(err, ERR_MEMORY, "out of memory for a bundle");
	sql_finalize(s);
	buf_finish(&sql);
	return ok && code == SQL_DONE;
}

/* ---- what goes into it ---- */

#define ENDED " status IN ('done', 'failed', 'cancelled') "
#define ASKED                                                                                      \
	" FROM run WHERE (?1 = 0 OR id = ?1)"                                                      \
	" AND (?2 = 0 OR id IN (SELECT run FROM suite_run WHERE suite = ?2 UNION ALL"              \
	" SELECT run FROM suite_kept WHERE suite = ?2))"                                           \
	" AND (?3 = '' OR project = ?3) "
static const char choose_sql[] =
    "SELECT (SELECT json_group_array(id) FROM (SELECT id" ASKED "AND" ENDED "ORDER BY id) AS a),"
    " (SELECT json_group_array(id) FROM (SELECT id FROM suite WHERE ?1 = 0 AND (id = ?2 OR"
    " (?2 = 0 AND (?3 = '' OR project = ?3))) ORDER BY id) AS b),"
    " (SELECT count(*)" ASKED "AND NOT" ENDED ")";

static bool choose(struct sql *h, const struct bundle_of *of, struct arena *arena,
		   struct bundled *out, struct err *err)
{
	struct sql_statement *s = db_prepare(h, err, choose_sql, "iit", of->run, of->suite,
					     of->project);
	bool ok = s && (sql_step(s) == SQL_ROW || db_fail(h, "look what is bundled", err));

	if (ok)
		*out = (struct bundled){ text_at(s, 0, arena), text_at(s, 1, arena),
					 sql_int64(s, 2) };
	sql_finalize(s);
	if (!ok)
		return false;
	if (of->suite && strcmp(out->suites, "[]") == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no suite %lld", (long long)of->suite);
	if (strcmp(out->runs, "[]") != 0)
		return true;
	if (of->run && !out->left_out)
		return err_set(err, ERR_NOT_FOUND, "there is no run %lld", (long long)of->run);
	return err_set(err, ERR_CONFLICT, "there is no run that has ended, which a bundle takes");
}

static json_t *loaded(const char *list)
{
	return json_loads(list, 0, NULL);
}

static json_t *said_of(const struct bundled *c)
{
	return json_pack("{s:i, s:o, s:o, s:I}", "version", BUNDLE_VERSION, "runs", loaded(c->runs),
			 "suites", loaded(c->suites), "left_out", (json_int_t)c->left_out);
}

static bool write_with(struct sql *h, const struct bundle_of *of, struct arena *arena,
		       struct bundle_writer *w, json_t **said, struct err *err)
{
	struct bundled c;
	char hex[SHA_HEX_BYTES];
	bool ok = choose(h, of, arena, &c, err);

	buf_puts(&w->kept, BUNDLE_MAGIC);
	*said = ok ? said_of(&c) : NULL;
	ok = ok && put_line(w, json_incref(*said), err);
	for (int i = 0; ok && i < BUNDLE_TABLES; i++)
		ok = put_table(w, h, i, &c, err);
	if (!ok || !flush(w, err))
		return false;
	piece_hex(&w->sha, hex);
	buf_printf(&w->kept, BUNDLE_SHA "%s\n", hex);
	json_object_set_new(*said, "sha256", json_string(hex));
	return flush(w, err) && (json_object_set_new(*said, "bytes", json_integer(w->bytes)) == 0 ||
				 err_set(err, ERR_MEMORY, "out of memory for a bundle"));
}

json_t *db_bundle_write(struct db *db, const struct bundle_of *of, int fd, struct err *err)
{
	struct bundle_writer w = { .fd = fd };
	struct arena arena = { 0 };
	struct sql *h = db_reader_take(db);
	json_t *said = NULL;
	bool ok;

	sha256_init(&w.sha);
	ok = db_exec(h, "BEGIN", "read what is bundled", err); /* all of one moment */
	if (ok) {
		ok = write_with(h, of, &arena, &w, &said, err);
		sql_exec(h, "ROLLBACK");
	}
	db_reader_give(db, h);
	buf_finish(&w.kept);
	arena_finish(&arena);
	if (!ok) {
		json_decref(said);
		said = NULL;
	}
	return said;
}
