/* server/cli/cmd_show.c -- `breakeven show RUN`: a run of the store, as `breakeven run` printed it.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "db/db.h"
#include "profiler/fields/fields.h"
#include "server/api/texts.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/text/text.h"

struct show_flags {
	const char *run, *db, *find, *compile, *text;
	bool json, texts;
	int64_t id, n; /* `run` and `text`, read */
};

static int read_flags(int argc, char **argv, struct show_flags *f)
{
	const struct flag table[] = {
		{ "--db", .value = &f->db },           { "--json", .on = &f->json },
		{ "--texts", .on = &f->texts },        { "--find", .value = &f->find },
		{ "--compile", .value = &f->compile }, { "--text", .value = &f->text }
	};
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
	if (f->text && !flags_integer("show", "--text", f->text, 0, LLONG_MAX, &id))
		return EXIT_USAGE;
	f->n = id;
	if (f->text && (f->texts || f->find || f->compile || f->json) &&
	    !flags_refuse("show", "--text prints one text, whole", ""))
		return EXIT_USAGE;
	f->texts |= f->find || f->compile;
	return -1;
}

/* ---- texts of a compile log ---- */

static const char *text_at(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

static long long number_at(const json_t *row, const char *key)
{
	return json_integer_value(json_object_get(row, key));
}

/* What belongs to a row: its lines that have what was looked for. */
static void print_row(const json_t *row)
{
	static const char *const more[] = { "name", "part" };
	const json_t *line;
	const char *compile = text_at(row, "compile");
	size_t i;

	printf("%6lld  %-8s %-32s %10lld  %s", number_at(row, "n"), *compile ? compile : "none",
	       text_at(row, "kind"), number_at(row, "bytes"), text_at(row, "what"));
	for (size_t k = 0; k < sizeof(more) / sizeof(more[0]); k++)
		if (*text_at(row, more[k]))
			printf(", %s", text_at(row, more[k]));
	putchar('\n');
	json_array_foreach(json_object_get(row, "found"), i, line)
		printf("        %lld:%lld: %s\n", number_at(line, "line"),
		       number_at(line, "column"), text_at(line, "text"));
}

static bool print_texts(const struct show_flags *f, const json_t *answer, struct err *err)
{
	const json_t *row, *rows = json_object_get(answer, "artifacts");
	size_t i;

	if (f->json) {
		json_dumpf(answer, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		json_array_foreach(rows, i, row)
			print_row(row);
	}
	if (!json_array_size(rows))
		fprintf(stderr, "breakeven show: run %lld has no such text\n", (long long)f->id);
	if (json_is_true(json_object_get(answer, "cut")) ||
	    json_is_integer(json_object_get(answer, "next")))
		fprintf(stderr, "breakeven show: there are more; --compile narrows it\n");
	return (fflush(stdout) == 0 && !ferror(stdout)) ||
	       err_set(err, ERR_IO, "the result could not be written: %s", strerror(errno));
}

static bool show_texts(struct db *db, const struct show_flags *f, struct err *err)
{
	const struct texts_asked asked = { .compile = f->compile,
					   .q = f->find,
					   .process = -1,
					   .resets = -1,
					   .limit = TEXTS_LIST_MOST };
	json_t *answer = texts_list(db, f->id, &asked, err);
	bool ok = answer && print_texts(f, answer, err);

	if (!answer && err->code == ERR_NONE)
		err_set(err, ERR_MEMORY, "out of memory for a list");
	json_decref(answer);
	return ok;
}

static bool show_text(struct db *db, const struct show_flags *f, struct err *err)
{
	const struct text_asked asked = { .n = f->n, .most = TEXTS_MOST_BYTES };
	struct buf text = { 0 };
	bool ok = text_of_run(db, f->id, &asked, &text, err);

	if (ok && (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout)))
		ok = err_set(err, ERR_IO, "the text could not be written: %s", strerror(errno));
	buf_finish(&text);
	return ok;
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
			     "what was found, --texts lists the texts of a compile log, and "
			     "`breakeven export` writes it for other tools",
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
	bool is_text = f->texts || f->text,
	     ok = db && db_report_get(db, f->id, &report, &environment, err);
	json_t *json = ok && !is_text ? json_loadb(report.data, report.len, 0, NULL) : NULL;

	if (ok && is_text) {
		*agrees = true;
		ok = f->text ? show_text(db, f, err) : show_texts(db, f, err);
	}
	ok = ok &&
	     (is_text || json ||
	      err_set(err, ERR_JSON, "the report of run %lld is no JSON", (long long)f->id)) &&
	     (is_text || print(f, json, agrees, err));
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
