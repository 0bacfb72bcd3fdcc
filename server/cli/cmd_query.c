/* server/cli/cmd_query.c -- `breakeven query RUN "SELECT ..."`: SQL over a run of the store. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "server/api/api.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/queue/query.h"

struct query_flags {
	const char *words[2]; /* the run, and the statement */
	const char *db, *mode, *n, *t0, *t1, *limit;
	bool json;
	long long run, at, from_ns, to_ns, rows;
};

static int read_flags(int argc, char **argv, struct query_flags *f)
{
	const struct flag table[] = {
		{ "--db", .value = &f->db },  { "--mode", .value = &f->mode },
		{ "--n", .value = &f->n },    { "--t0", .value = &f->t0 },
		{ "--t1", .value = &f->t1 },  { "--limit", .value = &f->limit },
		{ "--json", .on = &f->json },
	};
	struct flags flags = {
		.command = "query",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = f->words,
			   .most = 2,
			   .over = "one statement at a time, not also " },
	};
	int status = flags_read(&flags, argc, argv);

	if (status >= 0)
		return status;
	if (!f->words[1]) {
		flags_refuse("query", f->words[0] ? "a statement is missing" : "a run is missing",
			     "");
		return EXIT_USAGE;
	}
	f->to_ns = -1;
	f->rows = QUERY_ROWS;
	return flags_integer("query", "RUN", f->words[0], 1, LLONG_MAX, &f->run) &&
		       flags_integer("query", "--n", f->n, LLONG_MIN, LLONG_MAX, &f->at) &&
		       flags_integer("query", "--t0", f->t0, 0, LLONG_MAX, &f->from_ns) &&
		       flags_integer("query", "--t1", f->t1, 0, LLONG_MAX, &f->to_ns) &&
		       flags_integer("query", "--limit", f->limit, 1, QUERY_MOST_ROWS, &f->rows)
		   ? status
		   : EXIT_USAGE;
}

static bool put(void *self, const void *bytes, size_t len, struct err *err)
{
	return export_to_file(self, bytes, len, err);
}

static bool answer(const struct query_flags *f, struct err *err)
{
	struct db *db = db_open_reading(f->db ? f->db : "breakeven.db", err);
	json_t *order = json_pack("{s:s, s:s, s:s*, s:I, s:I, s:I}", "sql", f->words[1], "format",
				  f->json ? "json" : "csv", "mode", f->mode, "t0",
				  (json_int_t)f->from_ns, "t1", (json_int_t)f->to_ns, "limit",
				  (json_int_t)f->rows);
	struct stored_run s = { 0 };
	struct arena arena = { 0 };
	int out = STDOUT_FILENO;
	bool ok = db != NULL;

	if (order && f->n)
		json_object_set_new(order, "n", json_integer(f->at));
	if (ok && !order)
		ok = err_set(err, ERR_BAD_REQUEST, "the statement is no UTF-8");
	ok = ok && stored_run_load(&s, db, f->run, &arena, err) &&
	     query_write(&s.run, order, put, &out, err);
	stored_run_finish(&s);
	arena_finish(&arena);
	db_close(db);
	json_decref(order);
	return ok;
}

int cmd_query(int argc, char **argv, const struct registry *registry)
{
	struct query_flags f = { 0 };
	struct err err = { 0 };
	int status = read_flags(argc, argv, &f);

	(void)registry;
	if (status >= 0)
		return status;
	if (answer(&f, &err))
		return EXIT_DONE;
	if (err.line)
		fprintf(stderr, "breakeven query: %d:%d: %s\n", err.line, err.column, err.message);
	else
		fprintf(stderr, "breakeven query: %s\n", err.message);
	return EXIT_FAILED;
}
