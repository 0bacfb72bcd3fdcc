/* db/bundle_take.c -- the runs and suites of a bundle (bundle.c) into a store: all of it, or
 * nothing.
 *
 * A bundle is a stranger's: its hash says that it is as it was written, not that it was written
 * well.  Names of tables and columns are those of this store, ids are new ones, texts have
 * bounds, what is packed is unpacked once, and a report has to be one.
 */
#include "db/environment.h"
#include "db/bundle.h"

#include <stdlib.h>

#include "db/packed.h"
#include "db/search.h"
#include "fusion/base/clock.h"
#include "fusion/base/vec.h"

enum { COLUMNS_MOST = 64, CELL_NAME = 64 };

struct id_pair {
	int64_t was, now;
};

struct bundle_taker {
	struct db *db;
	const struct bundle_take *as;
	const char *at, *end; /* what is not read yet */
	int64_t line;
	json_t *columns[BUNDLE_TABLES];         /* of this store, a set; NULL: not looked up yet */
	VEC(struct id_pair) ids[BUNDLE_TABLES]; /* ascending */
	int64_t now_ns;
};

/* What is wrong, and where. */
static bool wrong(const struct bundle_taker *t, struct err *err, const char *what, const char *name)
{
	return err_set(err, ERR_BAD_REQUEST, "line %lld of the bundle: %s%.80s", (long long)t->line,
		       what, name);
}

/* ---- the file ---- */

/* Whether it is as it was written; *end: where its rows end. */
static bool look_at_hash(const void *bytes, size_t len, const char **end, struct err *err)
{
	const char *text = bytes;
	char hex[SHA_HEX_BYTES];
	struct sha256_ctx sha;

	if (len < sizeof(BUNDLE_MAGIC) - 1 ||
	    memcmp(text, BUNDLE_MAGIC, sizeof(BUNDLE_MAGIC) - 1) != 0)
		return err_set(err, ERR_BAD_REQUEST,
			       "this is no bundle: one begins with \"breakeven-bundle 1\"");
	if (len < sizeof(BUNDLE_MAGIC) - 1 + BUNDLE_LAST_BYTES ||
	    memcmp(text + len - BUNDLE_LAST_BYTES, BUNDLE_SHA, sizeof(BUNDLE_SHA) - 1) != 0)
		return err_set(err, ERR_BAD_REQUEST,
			       "the bundle is cut off: its last line has to be its SHA-256");
	*end = text + len - BUNDLE_LAST_BYTES;
	sha256_init(&sha);
	sha256_update(&sha, (size_t)(*end - text), (const uint8_t *)text);
	piece_hex(&sha, hex);
	return memcmp(*end + sizeof(BUNDLE_SHA) - 1, hex, SHA_HEX_BYTES - 1) == 0 ||
	       err_set(err, ERR_BAD_REQUEST,
		       "the bundle is not as it was written: its SHA-256 is %s, and its last line "
		       "says %.64s",
		       hex, *end + sizeof(BUNDLE_SHA) - 1);
}

/* The next line as JSON; new.  NULL with what is wrong. */
static json_t *next_line(struct bundle_taker *t, struct err *err)
{
	const char *nl = memchr(t->at, '\n', (size_t)(t->end - t->at));
	json_t *json;

	t->line++;
	if (!nl || nl - t->at > BUNDLE_LINE_BYTES) {
		wrong(t, err, nl ? "it is longer than 64 MiB" : "it has no end", "");
		return NULL;
	}
	json = json_loadb(t->at, (size_t)(nl - t->at), JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL,
			  NULL);
	t->at = nl + 1;
	if (!json_is_object(json)) {
		json_decref(json);
		wrong(t, err, "it is no JSON object", "");
		return NULL;
	}
	return json;
}

/* ---- cells ---- */

struct bundle_cell {
	const char *column;
	const json_t *json; /* NULL: a blob */
	const char *blob;
	size_t len;
};

struct bundle_row {
	int table;
	const char *name; /* of the table */
	struct bundle_cell at[COLUMNS_MOST];
	int n;
	int64_t was, now; /* its own id; was 0: it has none */
};

static struct bundle_cell *cell_of(struct bundle_row *r, const char *column)
{
	for (int i = 0; i < r->n; i++)
		if (strcmp(r->at[i].column, column) == 0)
			return &r->at[i];
	return NULL;
}

static const char *text_of(struct bundle_row *r, const char *column)
{
	const struct bundle_cell *c = cell_of(r, column);
	const char *text = c ? json_string_value(c->json) : NULL;

	return text ? text : "";
}

static size_t most_of(const char *table, const char *column)
{
	static const struct {
		const char *table, *column;
		size_t bytes;
	} most[] = {
#define BUNDLE_MOST(table, column, bytes) { #table, #column, bytes },
#include "db/bundle.def"
#undef BUNDLE_MOST
	};

	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++)
		if (strcmp(table, most[i].table) == 0 && strcmp(column, most[i].column) == 0)
			return most[i].bytes;
	return BUNDLE_TEXT_BYTES;
}

static bool is_json(const char *text)
{
	json_t *json = *text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : json_object();
	bool is = json != NULL;

	json_decref(json);
	return is;
}

static bool check_text(struct bundle_taker *t, const struct bundle_row *r,
		       const struct bundle_cell *c, struct err *err)
{
	static const struct {
		const char *table, *column;
	} of_json[] = {
#define BUNDLE_JSON(table, column) { #table, #column },
#include "db/bundle.def"
#undef BUNDLE_JSON
	};
	size_t len = json_string_length(c->json);

	if (len > most_of(r->name, c->column))
		return wrong(t, err, "it has too long a ", c->column);
	if (strlen(json_string_value(c->json)) != len)
		return wrong(t, err, "there is a zero byte in ", c->column);
	for (size_t i = 0; i < sizeof(of_json) / sizeof(of_json[0]); i++)
		if (strcmp(r->name, of_json[i].table) == 0 &&
		    strcmp(c->column, of_json[i].column) == 0 &&
		    !is_json(json_string_value(c->json)))
			return wrong(t, err, "there is no JSON in ", c->column);
	return true;
}

/* [n]: so many bytes follow, and a newline. */
static bool read_blob(struct bundle_taker *t, struct bundle_cell *c, struct err *err)
{
	const json_t *size = json_array_get(c->json, 0);
	json_int_t n = json_integer_value(size);

	if (json_array_size(c->json) != 1 || !json_is_integer(size) || n < 0 ||
	    n >= t->end - t->at || t->at[n] != '\n')
		return wrong(t, err, "so many bytes do not follow: ", c->column);
	c->json = NULL;
	c->blob = t->at;
	c->len = (size_t)n;
	t->at += n + 1;
	return true;
}

/* The columns that this store has of a table. */
static bool know_columns(struct bundle_taker *t, const struct bundle_row *r, struct err *err)
{
	char sql[CELL_NAME + 32];
	struct sql_statement *s;

	if (t->columns[r->table])
		return true;
	snprintf(sql, sizeof(sql), "SELECT * FROM %s LIMIT 0", r->name);
	s = db_prepare(t->db->writer, err, sql, "");
	if (!s)
		return false;
	t->columns[r->table] = json_object();
	for (int i = 0; i < sql_columns(s); i++)
		json_object_set_new(t->columns[r->table], sql_name(s, i), json_true());
	sql_finalize(s);
	return true;
}

static bool read_cells(struct bundle_taker *t, json_t *json, struct bundle_row *r, struct err *err)
{
	const char *column;
	json_t *value;
	bool ok = know_columns(t, r, err);

	json_object_foreach(json, column, value)
	{
		struct bundle_cell *c = &r->at[r->n];

		if (!ok)
			break;
		if (!json_object_get(t->columns[r->table], column))
			ok = wrong(t, err, "this version knows no column ", column);
		else if (bundle_omits(r->name, column))
			ok = wrong(t, err, "a bundle has no ", column);
		else if (r->n + 1 == COLUMNS_MOST)
			ok = wrong(t, err, "it has too many columns", "");
		if (!ok)
			break;
		*c = (struct bundle_cell){ .column = column, .json = value };
		r->n++;
		if (json_is_array(value))
			ok = read_blob(t, c, err);
		else if (json_is_string(value))
			ok = check_text(t, r, c, err);
		else if (!json_is_number(value))
			ok = wrong(t, err, "there is neither a text nor a number in ", column);
	}
	return ok;
}

/* ---- ids ---- */

static int64_t mapped(const struct bundle_taker *t, int table, int64_t was)
{
	size_t low = 0, high = t->ids[table].len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->ids[table].at[mid].was < was)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->ids[table].len && t->ids[table].at[low].was == was
		   ? t->ids[table].at[low].now
		   : 0;
}

/* Puts this store's ids into the row; its own is left to the store. */
static bool map_ids(struct bundle_taker *t, struct bundle_row *r, struct err *err)
{
	static const struct {
		int table;
		const char *column;
		int of;
	} ids[] = {
#define BUNDLE_ID(table, column, of) { BUNDLE_AT_##table, #column, BUNDLE_AT_##of },
#include "db/bundle.def"
#undef BUNDLE_ID
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct bundle_cell *c = ids[i].table == r->table ? cell_of(r, ids[i].column) : NULL;
		size_t n = t->ids[r->table].len;
		int64_t now;

		if (ids[i].table != r->table)
			continue;
		if (!c || !json_is_integer(c->json))
			return wrong(t, err, "it has no number in ", ids[i].column);
		if (ids[i].of == r->table) {
			r->was = json_integer_value(c->json);
			if (r->was < 1 || (n && t->ids[r->table].at[n - 1].was >= r->was))
				return wrong(t, err, "rows are out of order", "");
			*c = r->at[--r->n];
			continue;
		}
		now = mapped(t, ids[i].of, json_integer_value(c->json));
		if (!now)
			return wrong(t, err, "it names what the bundle has not: ", ids[i].column);
		json_integer_set((json_t *)c->json, now);
	}
	return true;
}

/* ---- rows ---- */

static bool bind(struct sql_statement *s, int i, const struct bundle_cell *c)
{
	if (!c->json)
		return sql_bind_blob(s, i, c->blob, c->len);
	if (json_is_string(c->json))
		return sql_bind_text(s, i, json_string_value(c->json), json_string_length(c->json));
	if (json_is_real(c->json))
		return sql_bind_double(s, i, json_real_value(c->json));
	return sql_bind_int64(s, i, json_integer_value(c->json));
}

static struct sql_statement *prepare_insert(struct bundle_taker *t, const struct bundle_row *r,
					    struct err *err)
{
	struct sql_statement *s = NULL;
	struct buf sql = { 0 };

	buf_printf(&sql, "INSERT INTO %s(", r->name);
	for (int i = 0; i < r->n; i++)
		buf_printf(&sql, "%s\"%s\"", i ? ", " : "", r->at[i].column);
	buf_puts(&sql, ") VALUES(");
	for (int i = 0; i < r->n; i++)
		buf_printf(&sql, "%s?%d", i ? ", " : "", i + 1);
	buf_puts(&sql, ")");
	if (!sql.failed)
		s = db_prepare(t->db->writer, err, sql.data, "");
	else
		err_set(err, ERR_MEMORY, "out of memory for a bundle");
	buf_finish(&sql);
	return s;
}

static bool insert(struct bundle_taker *t, struct bundle_row *r, struct err *err)
{
	struct sql_statement *s = prepare_insert(t, r, err);
	bool ok = s != NULL;

	for (int i = 0; ok && i < r->n; i++)
		ok = bind(s, i + 1, &r->at[i]);
	ok = ok && sql_step(s) == SQL_DONE;
	if (s && !ok && sql_trouble(t->db->writer) == SQL_REFUSED)
		wrong(t, err, "it cannot be stored: ", sql_message(t->db->writer));
	else if (s && !ok)
		db_fail(t->db->writer, "store a row of a bundle", err);
	sql_finalize(s);
	r->now = ok ? sql_last_id(t->db->writer) : 0;
	return ok;
}

/* A machine may be known here. */
static bool take_environment(struct bundle_taker *t, struct bundle_row *r, struct err *err)
{
	return environment_id(t->db, text_of(r, "json"), &r->now, err);
}

/* A report that can be read, and what its run is found by. */
static bool check_report(struct bundle_taker *t, struct bundle_row *r, char **reasons,
			 struct err *err)
{
	const struct bundle_cell *codec = cell_of(r, "codec"), *bytes = cell_of(r, "bytes");
	const struct bundle_cell *data = cell_of(r, "data");
	struct buf text = { 0 };
	struct err why = { 0 };
	json_int_t len = bytes ? json_integer_value(bytes->json) : -1;
	json_t *json;

	if (!codec || !data || data->json || len < 0 || len > BUNDLE_REPORT_BYTES)
		return wrong(t, err, "it is no report", "");
	if (!packed_unpack((int)json_integer_value(codec->json), (size_t)len, data->blob, data->len,
			   &text, &why)) {
		buf_finish(&text);
		return wrong(t, err, "its report cannot be read: ", why.message);
	}
	json = json_loadb(text.data ? text.data : "", text.len, 0, NULL);
	*reasons = json_is_object(json) && text.len == (size_t)len
		       ? t->as->reasons(text.data, text.len)
		       : NULL;
	json_decref(json);
	buf_finish(&text);
	return *reasons || wrong(t, err, "its report is none", "");
}

static bool check_block(struct bundle_taker *t, struct bundle_row *r, struct err *err)
{
	static const char *const heads[] = { "kind", "events", "t0_ns", "t1_ns" };
	const struct bundle_cell *data = cell_of(r, "data"), *c;
	struct timeline_row row = { 0 };
	int64_t *const to[] = { &row.kind, &row.events, &row.t0_ns, &row.t1_ns };
	struct err why = { 0 };

	if (!data || data->json)
		return wrong(t, err, "it is no part of a timeline", "");
	row.data = data->blob;
	row.len = data->len;
	for (int i = 0; i < 4; i++) {
		c = cell_of(r, heads[i]);
		*to[i] = c ? json_integer_value(c->json) : -1;
	}
	return t->as->block(&row, &why) || wrong(t, err, "a timeline: ", why.message);
}

/* Only runs that have ended are in a bundle: no queue takes one up. */
static bool check_run(struct bundle_taker *t, struct bundle_row *r, struct err *err)
{
	enum run_status status;

	return (run_status_from_name(text_of(r, "status"), &status) && status > RUN_RUNNING) ||
	       wrong(t, err, "its run has not ended: ", text_of(r, "status"));
}

/* Where it came, and whose it is now. */
static bool finish_head(struct bundle_taker *t, const struct bundle_row *r, struct err *err)
{
	const char *project = t->as->project;
	bool is_run = r->table == BUNDLE_AT_run_row;

	if (is_run && !db_step_once(t->db->writer,
				    db_prepare(t->db->writer, err,
					       "UPDATE run_row SET arrived_ns = ?2, author = ?3"
					       " WHERE id = ?1",
					       "iit", r->now, t->now_ns, t->as->author),
				    "store a run of a bundle", err))
		return false;
	return !project ||
	       db_step_once(t->db->writer,
			    db_prepare(t->db->writer, err,
				       is_run ? "UPDATE run_row SET project = ?2 WHERE id = ?1"
					      : "UPDATE suite_row SET project = ?2 WHERE id = ?1",
				       "it", r->now, project),
			    "store a run of a bundle", err);
}

static bool take_row(struct bundle_taker *t, struct bundle_row *r, struct err *err)
{
	char *reasons = NULL;
	bool ok = map_ids(t, r, err);

	if (ok && r->table == BUNDLE_AT_environment)
		ok = take_environment(t, r, err);
	else if (ok)
		ok = (r->table != BUNDLE_AT_run_row || check_run(t, r, err)) &&
		     (r->table != BUNDLE_AT_report || check_report(t, r, &reasons, err)) &&
		     (r->table != BUNDLE_AT_timeline_block || check_block(t, r, err)) &&
		     insert(t, r, err);
	if (ok && (r->table == BUNDLE_AT_run_row || r->table == BUNDLE_AT_suite_row))
		ok = finish_head(t, r, err);
	if (ok && reasons)
		ok = search_put(t->db, json_integer_value(cell_of(r, "run")->json), reasons, err);
	if (ok && r->was && !VEC_PUSH(&t->ids[r->table], ((struct id_pair){ r->was, r->now })))
		ok = err_set(err, ERR_MEMORY, "out of memory for a bundle");
	free(reasons);
	return ok;
}

/* A BUNDLE_AT; -1: a bundle has no rows of it. */
static int table_of(const char *name)
{
	for (int i = 0; i < BUNDLE_TABLES; i++)
		if (strcmp(name, bundle_names[i]) == 0)
			return i;
	return -1;
}

static bool take_line(struct bundle_taker *t, struct err *err)
{
	json_t *json = next_line(t, err);
	const char *name = json_object_iter_key(json_object_iter(json));
	struct bundle_row r = { .table = name ? table_of(name) : -1, .name = name };
	json_t *cells = name ? json_object_get(json, name) : NULL;
	bool ok = json != NULL;

	if (ok && (json_object_size(json) != 1 || r.table < 0 || !json_is_object(cells)))
		ok = wrong(t, err, "it is no row of a table that a bundle has: ", name ? name : "");
	ok = ok && read_cells(t, cells, &r, err) && take_row(t, &r, err);
	json_decref(json);
	return ok;
}

/* Its first line: what it says of itself, of which the version counts. */
static bool take_head(struct bundle_taker *t, struct err *err)
{
	json_t *json = next_line(t, err);
	json_int_t version = json_integer_value(json_object_get(json, "version"));
	bool ok = json != NULL;

	json_decref(json);
	return ok &&
	       (version == BUNDLE_VERSION || wrong(t, err, "this version reads bundles 1", ""));
}

/* Names, sources and notes, once all of a run is there. */
static bool put_names(struct bundle_taker *t, struct err *err)
{
	bool ok = true;

	for (size_t i = 0; ok && i < t->ids[BUNDLE_AT_run_row].len; i++)
		ok = search_put(t->db, t->ids[BUNDLE_AT_run_row].at[i].now, NULL, err);
	return ok;
}

static json_t *pairs_json(const struct bundle_taker *t, int table)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->ids[table].len; i++)
		json_array_append_new(list, json_pack("{s:I, s:I}", "was",
						      (json_int_t)t->ids[table].at[i].was, "id",
						      (json_int_t)t->ids[table].at[i].now));
	return list;
}

json_t *db_bundle_take(struct db *db, const void *bytes, size_t len, const struct bundle_take *as,
		       struct err *err)
{
	struct bundle_taker t = { .db = db, .as = as, .now_ns = clock_wall_ns() };
	json_t *said = NULL;
	bool ok = look_at_hash(bytes, len, &t.end, err);

	if (!ok || !db_write_begin(db, err))
		return NULL;
	t.at = (const char *)bytes + sizeof(BUNDLE_MAGIC) - 1;
	t.line = 1;
	ok = take_head(&t, err);
	while (ok && t.at < t.end)
		ok = take_line(&t, err);
	ok = ok && (t.ids[BUNDLE_AT_run_row].len || wrong(&t, err, "it has no run", "")) &&
	     put_names(&t, err);
	ok = db_write_end(db, ok, err);
	if (ok)
		said = json_pack("{s:o, s:o}", "runs", pairs_json(&t, BUNDLE_AT_run_row), "suites",
				 pairs_json(&t, BUNDLE_AT_suite_row));
	if (ok && !said)
		err_set(err, ERR_MEMORY, "out of memory for an answer");
	for (int i = 0; i < BUNDLE_TABLES; i++) {
		json_decref(t.columns[i]);
		VEC_FREE(&t.ids[i]);
	}
	return said;
}
