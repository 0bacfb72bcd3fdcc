/* db/sql/postgres.c -- the engine of a store that several servers share: PostgreSQL, by libpq,
 * which is loaded when the first such store is opened.
 *
 * Values go both ways in their binary form: integers as int8, numbers as float8, texts and bytes as
 * they are.  A statement is prepared on the server when it first runs, once for a connection and
 * its types; all rows of its answer come at once.  A connection that broke is made again where no
 * transaction was open on it.
 */
#include <dlfcn.h>
#include <endian.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/sql/sql.h"
#include "db/sql/translate.h"
#include "fusion/base/hash.h"

/* ---- libpq ---- */

struct pg_conn;
struct pg_result;

static struct {
#define LIBPQ(result, name, parameters) result(*name) parameters;
#include "db/sql/libpq.def"
#undef LIBPQ
} pq;
static const char *missing; /* what libpq lacks, or is not there itself; NULL: nothing */

/* As libpq and the catalog of the server number them. */
enum { CONNECTION_OK = 0, TUPLES_NONE = 1, TUPLES_OK = 2, IN_NO_TURN = 0, TURN_UNKNOWN = 4 };
enum { FIELD_SQLSTATE = 'C' };
enum pg_type {
	PG_ANY = 0,
	PG_BOOL = 16,
	PG_BYTES = 17,
	PG_INT8 = 20,
	PG_INT2 = 21,
	PG_INT4 = 23,
	PG_TEXT = 25,
	PG_FLOAT4 = 700,
	PG_FLOAT8 = 701,
	PG_NUMERIC = 1700,
};

static void load(void)
{
	void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);

	missing = library ? NULL : "libpq.so.5";
#define LIBPQ(result, name, parameters)                                                            \
	if (!missing && !(*(void **)&pq.name = dlsym(library, #name)))                             \
		missing = #name;
#include "db/sql/libpq.def"
#undef LIBPQ
}

/* ---- a connection ---- */

enum { STATEMENTS_KEPT = 256, KEY_BYTES = 32, MESSAGE_BYTES = 1024, PARAMETERS_MOST = 64 };

struct pg_connection {
	struct sql base;
	struct pg_conn *c;
	char message[MESSAGE_BYTES];
	enum sql_trouble trouble;
	int64_t changes;
	struct buf session;                            /* what each new session runs first */
	char prepared[STATEMENTS_KEPT][KEY_BYTES + 1]; /* hashes of what the server has prepared:
							* s0, s1, ... */
	int n_prepared;
};

struct pg_value {
	enum pg_type type;
	bool is_null;
	uint64_t bits; /* of a number, as it is sent */
	const void *at;
	size_t len;
};

struct pg_statement {
	struct sql_statement base;
	struct pg_connection *of;
	char *text;
	struct pg_value values[PARAMETERS_MOST];
	int n_values;
	struct pg_result *rows; /* NULL: it has not run */
	int row, n_rows;
	char as_text[32]; /* a number that is read as a text */
};

static struct pg_connection *connection(struct sql *h)
{
	return (struct pg_connection *)h;
}

/* Takes what the server said, on one line. */
static void note(struct pg_connection *c, const char *said, const char *state)
{
	size_t len;

	snprintf(c->message, sizeof(c->message), "%s", said && *said ? said : "no answer");
	if (strncmp(c->message, "ERROR:  ", 8) == 0)
		memmove(c->message, c->message + 8, strlen(c->message + 8) + 1);
	len = strlen(c->message);
	while (len && strchr("\r\n", c->message[len - 1]))
		c->message[--len] = '\0';
	for (char *at = c->message; *at; at++)
		*at = *at == '\n' || *at == '\r' ? ' ' : *at;
	c->trouble = !state                         ? SQL_OTHER
		     : strcmp(state, "53100") == 0  ? SQL_FULL
		     : strcmp(state, "55P03") == 0  ? SQL_LOCKED
		     : strncmp(state, "3D", 2) == 0 ? SQL_NO_DATA
		     : strncmp(state, "22", 2) == 0 ? SQL_REFUSED
		     : strncmp(state, "23", 2) == 0 ? SQL_REFUSED
						    : SQL_OTHER;
}

/* Whether an answer is one; what was wrong is noted.  `r` NULL fails. */
static bool is_well(struct pg_connection *c, struct pg_result *r)
{
	int status = r ? pq.PQresultStatus(r) : -1;

	if (status == TUPLES_NONE || status == TUPLES_OK) {
		c->trouble = SQL_NONE;
		return true;
	}
	note(c, r ? pq.PQresultErrorMessage(r) : pq.PQerrorMessage(c->c),
	     r ? pq.PQresultErrorField(r, FIELD_SQLSTATE) : NULL);
	return false;
}

static bool run_text(struct pg_connection *c, const char *text)
{
	struct pg_result *r = pq.PQexec(c->c, text);
	bool ok = is_well(c, r);

	if (ok)
		c->changes = atoll(pq.PQcmdTuples(r));
	pq.PQclear(r);
	return ok;
}

/* Makes a connection that broke again.  False where it did not break, or where it cannot be. */
static bool mend(struct pg_connection *c)
{
	if (pq.PQstatus(c->c) == CONNECTION_OK)
		return false;
	pq.PQreset(c->c);
	c->n_prepared = 0;
	return pq.PQstatus(c->c) == CONNECTION_OK && run_text(c, c->session.data);
}

static bool in_turn(struct sql *h)
{
	int status = pq.PQtransactionStatus(connection(h)->c);

	return status != IN_NO_TURN && status != TURN_UNKNOWN;
}

static bool exec(struct sql *h, const char *text)
{
	bool had_turn = in_turn(h);

	return run_text(connection(h), text) ||
	       (!had_turn && mend(connection(h)) && run_text(connection(h), text));
}

static void close_server(struct sql *h)
{
	struct pg_connection *c = connection(h);

	pq.PQfinish(c->c);
	buf_finish(&c->session);
	free(c);
}

static int64_t changes(struct sql *h)
{
	return connection(h)->changes;
}

static int64_t last_id(struct sql *h)
{
	struct pg_result *r = pq.PQexec(connection(h)->c, "SELECT lastval()");
	int64_t id = is_well(connection(h), r) ? atoll(pq.PQgetvalue(r, 0, 0)) : 0;

	pq.PQclear(r);
	return id;
}

static const char *message(struct sql *h)
{
	return connection(h)->message;
}

static enum sql_trouble trouble(struct sql *h)
{
	return connection(h)->trouble;
}

/* ---- statements ---- */

static const struct sql_engine engine;

static struct pg_statement *statement(struct sql_statement *s)
{
	return (struct pg_statement *)s;
}

static struct sql_statement *prepare(struct sql *h, const char *text)
{
	struct pg_statement *s = calloc(1, sizeof(*s));

	connection(h)->trouble = SQL_NONE;
	if (!s)
		return NULL;
	s->base.engine = &engine;
	s->of = connection(h);
	s->text = strdup(text);
	if (s->text)
		return &s->base;
	free(s);
	return NULL;
}

static bool bind(struct sql_statement *of, int at, struct pg_value value)
{
	struct pg_statement *s = statement(of);

	if (at < 1 || at > PARAMETERS_MOST) {
		note(s->of, "a statement has too many parameters", NULL);
		return false;
	}
	s->n_values = s->n_values < at ? at : s->n_values;
	s->values[at - 1] = value;
	return true;
}

static enum pg_type type_of(enum sql_type type)
{
	return type == SQL_INTEGER ? PG_INT8
	       : type == SQL_REAL  ? PG_FLOAT8
	       : type == SQL_TEXT  ? PG_TEXT
				   : PG_BYTES;
}

static bool bind_null(struct sql_statement *s, int at, enum sql_type type)
{
	return bind(s, at, (struct pg_value){ .type = type_of(type), .is_null = true });
}

static bool bind_int64(struct sql_statement *s, int at, int64_t value)
{
	return bind(s, at, (struct pg_value){ .type = PG_INT8, .bits = htobe64((uint64_t)value) });
}

static bool bind_double(struct sql_statement *s, int at, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bind(s, at, (struct pg_value){ .type = PG_FLOAT8, .bits = htobe64(bits) });
}

static bool bind_text(struct sql_statement *s, int at, const char *text, size_t len)
{
	return bind(s, at, (struct pg_value){ .type = PG_TEXT, .at = text, .len = len });
}

static bool bind_blob(struct sql_statement *s, int at, const void *bytes, size_t len)
{
	return bind(s, at,
		    (struct pg_value){ .type = PG_BYTES, .at = bytes ? bytes : "", .len = len });
}

/* Has the server prepare the statement with its types, unless it has; its name is "s" and *number.
 */
static bool have_prepared(struct pg_statement *s, int *number)
{
	struct pg_connection *c = s->of;
	unsigned types[PARAMETERS_MOST];
	struct buf text = { 0 };
	char key[HASH_HEX_BYTES], name[16];
	struct pg_result *r;
	int n;
	bool ok;

	for (int i = 0; i < s->n_values; i++)
		types[i] = s->values[i].type;
	buf_add(&text, types, (size_t)s->n_values * sizeof(*types));
	buf_puts(&text, s->text);
	hash_hex(text.data ? text.data : "", text.len, key);
	buf_clear(&text);
	for (*number = 0; *number < c->n_prepared; ++*number)
		if (memcmp(c->prepared[*number], key, KEY_BYTES) == 0) {
			buf_finish(&text);
			return true;
		}
	if (c->n_prepared == STATEMENTS_KEPT) {
		*number = c->n_prepared = 0;
		if (!run_text(c, "DEALLOCATE ALL")) {
			buf_finish(&text);
			return false;
		}
	}
	snprintf(name, sizeof(name), "s%d", *number);
	if (!sql_translate(s->text, &text, &n)) {
		note(c, "out of memory for a statement", NULL);
		buf_finish(&text);
		return false;
	}
	r = pq.PQprepare(c->c, name, text.data, s->n_values, types);
	ok = is_well(c, r);
	pq.PQclear(r);
	buf_finish(&text);
	if (ok)
		memcpy(c->prepared[c->n_prepared++], key, KEY_BYTES);
	return ok;
}

static bool run_once(struct pg_statement *s)
{
	const char *values[PARAMETERS_MOST];
	int lengths[PARAMETERS_MOST], formats[PARAMETERS_MOST], number;
	char name[16];

	if (!have_prepared(s, &number))
		return false;
	for (int i = 0; i < s->n_values; i++) {
		const struct pg_value *v = &s->values[i];
		bool is_number = v->type == PG_INT8 || v->type == PG_FLOAT8;

		values[i] = v->is_null ? NULL : is_number ? (const char *)&v->bits : v->at;
		lengths[i] = is_number ? (int)sizeof(v->bits) : (int)v->len;
		formats[i] = 1;
	}
	snprintf(name, sizeof(name), "s%d", number);
	pq.PQclear(s->rows);
	s->rows = pq.PQexecPrepared(s->of->c, name, s->n_values, values, lengths, formats, 1);
	return is_well(s->of, s->rows);
}

static void reset(struct sql_statement *of)
{
	struct pg_statement *s = statement(of);

	pq.PQclear(s->rows);
	s->rows = NULL;
}

/* Runs it, if it has not run. */
static bool have_run(struct sql_statement *of)
{
	struct pg_statement *s = statement(of);
	bool had_turn;

	if (s->rows)
		return true;
	had_turn = in_turn(&s->of->base);
	if (!run_once(s) && (had_turn || !mend(s->of) || !run_once(s))) {
		reset(of);
		return false;
	}
	s->of->changes = atoll(pq.PQcmdTuples(s->rows));
	s->n_rows = pq.PQntuples(s->rows);
	s->row = -1;
	return true;
}

static enum sql_step step(struct sql_statement *of)
{
	struct pg_statement *s = statement(of);

	if (!have_run(of))
		return SQL_FAILED;
	return ++s->row < s->n_rows ? SQL_ROW : SQL_DONE;
}

static void finalize(struct sql_statement *of)
{
	reset(of);
	free(statement(of)->text);
	free(of);
}

/* ---- columns ---- */

static int columns(struct sql_statement *of)
{
	return have_run(of) ? pq.PQnfields(statement(of)->rows) : 0;
}

static const char *name(struct sql_statement *of, int column)
{
	return have_run(of) ? pq.PQfname(statement(of)->rows, column) : NULL;
}

static bool is_null(struct sql_statement *of, int column)
{
	const struct pg_statement *s = statement(of);

	return pq.PQgetisnull(s->rows, s->row, column);
}

static size_t bytes(struct sql_statement *of, int column)
{
	const struct pg_statement *s = statement(of);

	return (size_t)pq.PQgetlength(s->rows, s->row, column);
}

static const void *blob(struct sql_statement *of, int column)
{
	const struct pg_statement *s = statement(of);

	return pq.PQgetvalue(s->rows, s->row, column);
}

static uint64_t big_endian(const void *at, size_t len)
{
	const unsigned char *from = at;
	uint64_t bits = 0;

	for (size_t i = 0; i < len && i < sizeof(bits); i++)
		bits = bits << 8 | from[i];
	return bits;
}

/* Of sums: digits of base 10,000, the first of 10,000 to the `weight`; what comes after the point
 * is left out. */
static int64_t integer_of_numeric(const void *at, size_t len)
{
	const unsigned char *from = at;
	int n = (int)big_endian(from, 2), weight = (int16_t)big_endian(from + 2, 2);
	bool negative = big_endian(from + 4, 2) == 0x4000;
	int64_t value = 0;

	for (int i = 0; i <= weight; i++)
		value = value * 10000 + (i < n && 8 + 2 * (size_t)i < len
					     ? (int64_t)big_endian(from + 8 + 2 * i, 2)
					     : 0);
	return negative ? -value : value;
}

static enum pg_type column_type(struct sql_statement *of, int column)
{
	return (enum pg_type)pq.PQftype(statement(of)->rows, column);
}

static enum sql_type type(struct sql_statement *of, int column)
{
	switch (column_type(of, column)) {
	case PG_BOOL:
	case PG_INT2:
	case PG_INT4:
	case PG_INT8:
	case PG_NUMERIC:
		return SQL_INTEGER;
	case PG_FLOAT4:
	case PG_FLOAT8:
		return SQL_REAL;
	case PG_BYTES:
		return SQL_BYTES;
	default:
		return SQL_TEXT;
	}
}

static double real(struct sql_statement *of, int column)
{
	uint64_t bits = big_endian(blob(of, column), bytes(of, column));
	uint32_t half = (uint32_t)bits;
	double value;
	float single;

	if (is_null(of, column))
		return 0;
	switch (column_type(of, column)) {
	case PG_FLOAT8:
		memcpy(&value, &bits, sizeof(value));
		return value;
	case PG_FLOAT4:
		memcpy(&single, &half, sizeof(single));
		return (double)single;
	case PG_TEXT:
		return strtod(blob(of, column), NULL);
	default:
		return (double)of->engine->int64(of, column);
	}
}

static int64_t int64(struct sql_statement *of, int column)
{
	const void *at = blob(of, column);
	size_t len = bytes(of, column);

	if (is_null(of, column))
		return 0;
	switch (column_type(of, column)) {
	case PG_BOOL:
		return *(const char *)at != 0;
	case PG_INT2:
		return (int16_t)big_endian(at, len);
	case PG_INT4:
		return (int32_t)big_endian(at, len);
	case PG_INT8:
		return (int64_t)big_endian(at, len);
	case PG_NUMERIC:
		return integer_of_numeric(at, len);
	case PG_TEXT:
		return atoll(at);
	default:
		return (int64_t)real(of, column);
	}
}

static const char *text(struct sql_statement *of, int column)
{
	struct pg_statement *s = statement(of);

	if (is_null(of, column))
		return NULL;
	switch (column_type(of, column)) {
	case PG_BOOL:
	case PG_INT2:
	case PG_INT4:
	case PG_INT8:
	case PG_NUMERIC:
		snprintf(s->as_text, sizeof(s->as_text), "%" PRId64, int64(of, column));
		return s->as_text;
	case PG_FLOAT4:
	case PG_FLOAT8:
		snprintf(s->as_text, sizeof(s->as_text), "%.17g", real(of, column));
		return s->as_text;
	default:
		return blob(of, column); /* libpq ends it with a NUL */
	}
}

static const struct sql_engine engine = {
	.begin = "BEGIN; SELECT pg_advisory_xact_lock(1114785650, 0)",
	.news = "SELECT n FROM store_turn",
	.close = close_server,
	.exec = exec,
	.in_turn = in_turn,
	.changes = changes,
	.last_id = last_id,
	.message = message,
	.trouble = trouble,
	.prepare = prepare,
	.bind_null = bind_null,
	.bind_int64 = bind_int64,
	.bind_double = bind_double,
	.bind_text = bind_text,
	.bind_blob = bind_blob,
	.step = step,
	.reset = reset,
	.finalize = finalize,
	.columns = columns,
	.name = name,
	.type = type,
	.is_null = is_null,
	.int64 = int64,
	.real = real,
	.text = text,
	.blob = blob,
	.bytes = bytes,
};

/* ---- opening ---- */

static void ignore_notice(void *unused, const char *said)
{
	(void)unused;
	(void)said;
}

bool sql_in_each_session(struct sql *h, const char *words)
{
	buf_puts(&connection(h)->session, words);
	return exec(h, words);
}

/* A server that hangs in a turn, or whose machine is gone, must not keep the others waiting for
 * ever. */
static const char session_words[] =
    "SET client_min_messages = warning; SET jit = off; SET lock_timeout = '20s';"
    " SET idle_in_transaction_session_timeout = '60s'; SET tcp_keepalives_idle = 10;"
    " SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;";
/* What a statement leaves open ("?2 = '' OR ...") is planned with what is asked for. */
static const char reading_words[] =
    "SET default_transaction_read_only = on; SET plan_cache_mode = force_custom_plan;";

struct sql *sql_open_server(const char *url, int access, struct err *err)
{
	static const char *const names[] = { "dbname", "client_encoding",
					     "fallback_application_name", "connect_timeout", NULL };
	const char *const values[] = { url, "UTF8", "breakeven", "10", NULL };
	static pthread_once_t loaded = PTHREAD_ONCE_INIT;
	struct pg_connection *c;

	pthread_once(&loaded, load);
	if (missing) {
		err_set(err, ERR_STORAGE,
			"a store of PostgreSQL needs its client library, and %s is not there; "
			"install libpq5",
			missing);
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (c) {
		c->base.engine = &engine;
		c->c = pq.PQconnectdbParams(names, values, 1);
	}
	if (!c || !c->c) {
		free(c);
		err_set(err, ERR_MEMORY, "out of memory while opening the database");
		return NULL;
	}
	pq.PQsetNoticeProcessor(c->c, ignore_notice, NULL);
	if (pq.PQstatus(c->c) == CONNECTION_OK && sql_in_each_session(&c->base, session_words) &&
	    (access & SQL_WRITE || sql_in_each_session(&c->base, reading_words)))
		return &c->base;
	if (c->trouble == SQL_OTHER && pq.PQstatus(c->c) != CONNECTION_OK)
		note(c, pq.PQerrorMessage(c->c), NULL);
	err_set(err, ERR_STORAGE, "cannot open the store on PostgreSQL: %s", c->message);
	close_server(&c->base);
	return NULL;
}
