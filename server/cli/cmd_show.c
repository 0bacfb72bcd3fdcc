/* server/cli/cmd_show.c -- `breakeven show RUN`: a run of the store, as `breakeven run` printed it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "db/db.h"
#include "profiler/fields/fields.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/text/text.h"

struct show_flags {
	const char *run, *db;
	bool json;
	int64_t id; /* `run`, read */
};

static int read_flags(int argc, char **argv, struct show_flags *f)
{
	const struct flag table[] = { { "--db", .value = &f->db }, { "--json", .on = &f->json } };
	struct flags flags = {
		.command = "show",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = &f->run, .most = 1, .over = "one run at a time, not also " },
	};
	int status = flags_read(&flags, argc, argv);
	long long id = 0;

	if (status >= 0)
		return status;
	if (!f->run && !flags_refuse("show", "a run is missing", ""))
		return EXIT_USAGE;
	if (!flags_integer("show", "RUN", f->run, 1, LLONG_MAX, &id))
		return EXIT_USAGE;
	f->id = id;
	return -1;
}

/* A recording and an import have no modes that a table could hold. */
static bool print(const struct show_flags *f, const json_t *json, bool *agrees, struct err *err)
{
	struct arena arena = { 0 };
	const struct report_run *run = report_read_run(json, &arena, err);
	bool ok = run != NULL;

	if (run && !f->json && !run->modes.n && !run->points.n)
		ok = err_set(err, ERR_CONFLICT,
			     "run %lld was recorded or imported and has no modes; --json prints "
			     "what was found, and `breakeven export` writes it for other tools",
			     (long long)f->id);
	if (ok)
		ok = run_table_show(run, f->json) ||
		     err_set(err, ERR_IO, "the result could not be written: %s", strerror(errno));
	*agrees = ok && run_table_agrees(run);
	arena_finish(&arena);
	return ok;
}

static bool show(const struct show_flags *f, bool *agrees, struct err *err)
{
	struct db *db = db_open_reading(f->db ? f->db : "breakeven.db", err);
	struct buf report = { 0 }, environment = { 0 };
	bool ok = db && db_report_get(db, f->id, &report, &environment, err);
	json_t *json = ok ? json_loadb(report.data, report.len, 0, NULL) : NULL;

	ok = ok &&
	     (json ||
	      err_set(err, ERR_JSON, "the report of run %lld is no JSON", (long long)f->id)) &&
	     print(f, json, agrees, err);
	json_decref(json);
	buf_finish(&report);
	buf_finish(&environment);
	db_close(db);
	return ok;
}

int cmd_show(int argc, char **argv, const struct registry *registry)
{
	struct show_flags f = { 0 };
	struct err err = { 0 };
	bool agrees = false;
	int status = read_flags(argc, argv, &f);

	(void)registry;
	if (status >= 0)
		return status;
	if (show(&f, &agrees, &err))
		return agrees ? EXIT_DONE : EXIT_FAILED;
	fprintf(stderr, "breakeven show: %s\n", err.message);
	return EXIT_FAILED;
}
