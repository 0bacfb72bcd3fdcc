/* server/cli/cmd_compare.c -- `breakeven compare A B`: a gate for CI, and an answer for people. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/cli/commands.h"
#include "server/api/compare_load.h"
#include "server/api/compare_suites.h"
#include "server/cli/compare_text.h"
#include "server/cli/flags.h"
#include "server/cli/suite_text.h"

#define DEFAULT_DB "breakeven.db"

struct compare_flags {
	const char *runs[COMPARE_MAX_RUNS], *db, *margin;
	int n;
	bool json, suites;
	struct compare_options options;
};

static bool check_margin(struct compare_flags *f)
{
	char *end;

	if (!f->margin)
		return true;
	f->options.margin = strtod(f->margin, &end) / 100;
	return (end != f->margin && !*end && f->options.margin > 0 && f->options.margin <= 1) ||
	       flags_refuse("compare", "--margin takes percents above 0 and up to 100, not ",
			    f->margin);
}

/* How many there are, and of suites that nothing is asked for that is of runs alone. */
static bool check_words(const struct compare_flags *f)
{
	const char *of_runs = f->margin           ? "--margin"
			      : f->options.metric ? "--metric"
			      : f->options.force  ? "--force"
						  : NULL;

	if (f->n < 2 && f->suites)
		return flags_refuse("compare", "two suites are needed, the earlier first", "");
	if (f->n < 2)
		return flags_refuse("compare",
				    f->n ? "a second run is missing" : "two runs are missing", "");
	if (f->suites && f->n > 2)
		return flags_refuse("compare", "two suites at once, not also ", f->runs[2]);
	return !f->suites || !of_runs ||
	       flags_refuse("compare", "--suites compares by its own rules, without ", of_runs);
}

static int read_flags(int argc, char **argv, struct compare_flags *f)
{
	static const char *const metrics[] = { "latency", "speedup", NULL };
	const struct flag table[] = {
		{ "--db", .value = &f->db },
		{ "--margin", .value = &f->margin },
		{ "--metric", .value = &f->options.metric },
		{ "--json", .on = &f->json },
		{ "--force", .on = &f->options.force },
		{ "--suites", .on = &f->suites },
	};
	struct flags flags = {
		.command = "compare",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = f->runs,
			   .most = COMPARE_MAX_RUNS,
			   .over = "at most 8 runs at once, not also " },
	};
	int status = flags_read(&flags, argc, argv);

	f->n = flags.words.n;
	if (status >= 0)
		return status;
	return check_words(f) && check_margin(f) &&
		       flags_one_of("compare", "--metric", f->options.metric, metrics)
		   ? -1
		   : EXIT_USAGE;
}

static bool load(const struct compare_flags *f, struct loaded_runs *runs, struct err *err)
{
	struct db *db = NULL;
	bool ok = true;

	for (int i = 0; ok && i < f->n; i++) {
		int64_t id = loaded_id(f->runs[i]);

		if (!id) {
			ok = loaded_add_file(runs, f->runs[i], err);
			continue;
		}
		if (!db)
			db = db_open_reading(f->db ? f->db : DEFAULT_DB, err);
		ok = db && loaded_add_run(runs, db, id, err);
	}
	db_close(db);
	return ok;
}

/* The comparison that was asked for; NULL with why there is none. */
static json_t *compare(const struct compare_flags *f, struct err *err)
{
	const char *db = f->db ? f->db : DEFAULT_DB;
	struct loaded_runs runs = { 0 };
	json_t *comparison = NULL;

	if (f->suites)
		return compare_suites(f->runs[0], f->runs[1], db, err);
	if (load(f, &runs, err))
		comparison = compare_runs(runs.at, runs.n, &f->options, err);
	loaded_finish(&runs);
	return comparison;
}

/* Whether B lost what A had, or cannot be told. */
static bool lost(const struct compare_flags *f, const json_t *comparison)
{
	const char *verdict = json_string_value(json_object_get(comparison, "verdict"));

	return f->suites ? compare_suites_lost(comparison)
			 : strcmp(verdict, "SLOWER") == 0 || strcmp(verdict, "REFUSED") == 0 ||
			       strcmp(verdict, "DISAGREES") == 0;
}

static bool print(const struct compare_flags *f, const json_t *comparison)
{
	struct buf text;
	bool ok;

	if (f->json)
		return json_dumpf(comparison, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF &&
		       fflush(stdout) == 0;
	buf_init(&text, 0);
	if (f->suites)
		suite_compare_text(&text, comparison);
	else
		compare_text_print(&text, comparison);
	ok = text.data && fputs(text.data, stdout) != EOF && fflush(stdout) == 0;
	buf_finish(&text);
	return ok;
}

int cmd_compare(int argc, char **argv, const struct registry *registry)
{
	struct compare_flags f = { 0 };
	struct err err = { 0 };
	json_t *comparison;
	int status;

	(void)registry;
	status = read_flags(argc, argv, &f);
	if (status >= 0)
		return status;
	status = EXIT_FAILED;
	comparison = compare(&f, &err);
	if (!comparison)
		fprintf(stderr, "breakeven compare: %s\n", err.message);
	else if (!print(&f, comparison))
		fprintf(stderr, "breakeven compare: the result could not be written: %s\n",
			strerror(errno));
	else if (!lost(&f, comparison))
		status = EXIT_DONE;
	json_decref(comparison);
	return status;
}
