/* server/cli/cmd_compare.c -- `breakeven compare A B`: a gate for CI, and an answer for people. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profiler/fields/json.h"
#include "profiler/findings/sentence.h"
#include "profiler/numbers/numbers.h"
#include "profiler/suite/suite.h"
#include "server/api/api.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/queue/queue.h"

enum { MAX_FILE_BYTES = 256 << 20 };

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

/* ---- runs and suites, by number or file ---- */

/* Of an export the run's own words; of a bare report its workload's. */
static json_t *head_of_file(const char *path, const json_t *file, const json_t *report)
{
	const json_t *workload = json_object_get(report, "workload");
	const json_t *run = json_object_get(file, "run"), *id;
	const json_t *from = json_is_object(run)               ? run
			     : json_object_get(file, "report") ? file
							       : workload;
	json_t *head = json_pack(
	    "{s:s, s:s, s:s, s:s, s:s, s:s}", "file", path, "name",
	    text_field_or(from, "name", "workload"), "project", text_field_or(from, "project", ""),
	    "device", text_field_or(from, "device", "cpu"), "commit",
	    text_field_or(from, "commit", ""), "branch", text_field_or(from, "branch", ""));

	id = json_object_get(from, "id");
	if (head && json_is_integer(id))
		json_object_set(head, "id", (json_t *)id);
	return head;
}

/* The number of a run or a suite; 0 where the text is none: a file. */
static int64_t id_of(const char *text)
{
	char *end;
	long long id;

	errno = 0;
	id = strtoll(text, &end, 10);
	return errno || end == text || *end || id <= 0 ? 0 : id;
}

/* A file as JSON, which is said to be no `what` ("run") of the store where there is no such
 * file.  New; NULL with IO, TOO_LARGE or JSON. */
static json_t *read_json(const char *path, const char *what, struct err *err)
{
	json_error_t at;
	struct stat st;
	json_t *file = NULL;

	if (stat(path, &st) != 0)
		err_set(err, ERR_IO,
			"%.300s cannot be opened: %s; a %s of the store is named by its number",
			path, strerror(errno), what);
	else if (st.st_size > MAX_FILE_BYTES)
		err_set(err, ERR_TOO_LARGE, "%.300s is over %d MiB", path, MAX_FILE_BYTES >> 20);
	else if (!(file = json_load_file(path, JSON_REJECT_DUPLICATES, &at)))
		err_set(err, ERR_JSON, "%.300s is not JSON: line %d, column %d: %s", path, at.line,
			at.column, at.text);
	return file;
}

/* What `breakeven run --json` prints, `export --format json` writes, or GET /runs/{id} answers. */
static bool add_file(struct loaded_runs *l, const char *path, struct err *err)
{
	json_t *file = read_json(path, "run", err), *report;
	bool ok;

	if (!file)
		return false;
	report = json_object_get(file, "report");
	report = json_is_object(report) ? report : file;
	if (!json_is_object(json_object_get(report, "workload")) ||
	    !json_is_object(json_object_get(report, "modes")))
		ok = err_set(err, ERR_WORKLOAD,
			     "%.300s is no report of a workload: write one with "
			     "breakeven run FILE --json, or breakeven export RUN --format json",
			     path);
	else
		ok = loaded_add(l, head_of_file(path, file, report), json_incref(report), err);
	json_decref(file);
	return ok;
}

static json_t *suite_of_store(const char *path, int64_t id, json_t **head, struct err *err)
{
	struct db *db = db_open_reading(path, err);
	struct arena arena = { 0 };
	json_t *report = NULL;
	struct suite suite;

	if (db && db_suite_get(db, id, &arena, &suite, err))
		report = suite_stored_report(db, &suite, &arena, err);
	if (report)
		*head = json_pack("{s:I, s:s, s:I}", "id", (json_int_t)id, "name", suite.name,
				  "created_ns", (json_int_t)suite.created_ns);
	arena_finish(&arena);
	db_close(db);
	return report;
}

/* The report that a file is, or has; its name is the suite's. */
static json_t *suite_of_file(const char *path, json_t **head, struct err *err)
{
	json_t *file = read_json(path, "suite", err);
	json_t *inner = json_object_get(file, "report"), *report = inner ? inner : file;
	const char *name = json_string_value(json_object_get(file, "name"));

	if (!file)
		return NULL;
	if (!json_is_array(json_object_get(report, "columns"))) {
		err_set(err, ERR_WORKLOAD,
			"%.300s is no report of a suite: write one with "
			"breakeven suite FOLDER --json",
			path);
		json_decref(file);
		return NULL;
	}
	*head = json_pack("{s:s, s:s}", "file", path, "name", name ? name : "suite");
	json_incref(report);
	json_decref(file);
	return report;
}

static json_t *load_suite(const char *text, const char *db, json_t **head, struct err *err)
{
	int64_t id = id_of(text);

	return id ? suite_of_store(db, id, head, err) : suite_of_file(text, head, err);
}

/* suite_compare() with "before" and "after", each {"name"} and its "id" or "file". */
static json_t *compare_suites(const char *before, const char *after, const char *db,
			      struct err *err)
{
	json_t *heads[2] = { NULL, NULL };
	json_t *old = load_suite(before, db, &heads[0], err);
	json_t *new = old ? load_suite(after, db, &heads[1], err) : NULL;
	json_t *comparison = new ? suite_compare(old, new, err) : NULL;

	if (comparison) {
		json_object_set(comparison, "before", heads[0]);
		json_object_set(comparison, "after", heads[1]);
	}
	json_decref(heads[0]);
	json_decref(heads[1]);
	json_decref(old);
	json_decref(new);
	return comparison;
}

/* Whether a workload that passed does not, or the speedups of a column are SLOWER together. */
static bool compare_suites_lost(const json_t *comparison)
{
	const json_t *c;
	size_t i;

	json_array_foreach(json_object_get(comparison, "columns"), i, c) {
		const char *verdict = json_string_value(
		    json_object_get(json_object_get(c, "geomean"), "verdict"));

		if (json_integer_value(json_object_get(c, "broken")) > 0 ||
		    (verdict && strcmp(verdict, "SLOWER") == 0))
			return true;
	}
	return false;
}

/* ---- runs as text ---- */

enum { CELL = 4 * NUMBER_BYTES, NAME_WIDTH = 34 };

static bool is(const json_t *object, const char *key, const char *word)
{
	return strcmp(text_field(object, key), word) == 0;
}

/* ---- the sentence */

static const json_t *run_of(const json_t *all, const char *label)
{
	const json_t *run;
	size_t i;

	json_array_foreach(json_object_get(all, "runs"), i, run) {
		if (is(run, "label", label))
			return run;
	}
	return NULL;
}

static void name_run(struct buf *out, const json_t *run)
{
	json_int_t id = json_integer_value(json_object_get(run, "id"));

	buf_printf(out, "%s: %s", text_field(run, "label"), text_field(run, "name"));
	if (id)
		buf_printf(out, " #%" JSON_INTEGER_FORMAT, id);
	if (*text_field(run, "commit"))
		buf_printf(out, ", commit %.12s", text_field(run, "commit"));
	if (*text_field(run, "file"))
		buf_printf(out, ", %s", text_field(run, "file"));
	buf_puts(out, "\n");
}

static void name_figure(struct buf *out, const json_t *f)
{
	const json_t *n = json_object_get(f, "n");
	json_int_t points = json_integer_value(json_object_get(f, "points"));
	char text[NUMBER_BYTES];

	buf_printf(out, "%s %s", text_field(f, "mode"), text_field(f, "title"));
	if (json_is_number(n)) {
		number_short(text, json_number_value(n));
		buf_printf(out, " at n = %s", text);
	}
	if (points)
		buf_printf(out, " of %" JSON_INTEGER_FORMAT " points", points);
}

/* The verdict with its figures. */
static void sentence(struct buf *out, const json_t *c)
{
	buf_printf(out, "%s. ", text_field(c, "verdict"));
	sentence_say_json(out, json_object_get(c, "sentence"));
	if (is(c, "verdict", "REFUSED"))
		buf_puts(out, " --force compares them all the same.");
	buf_puts(out, "\n");
}

/* What it rests on. */
static void how(struct buf *out, const json_t *c)
{
	const json_t *line;
	size_t i;

	json_array_foreach(json_object_get(c, "how"), i, line)
		buf_printf(out, "%s\n", json_string_value(line));
}

/* ---- figures */

/* "25.6 us (25.0-26.1)" of a figure as it is shown. */
static void cell(char out[CELL], const json_t *figure)
{
	const char *low = text_field(figure, "low");

	snprintf(out, CELL, *low ? "%s (%s-%s)" : "%s", text_field(figure, "text"), low,
		 text_field(figure, "high"));
}

static bool shown(const json_t *f)
{
	return is(f, "kind", "counted") ? !is(f, "verdict", "SAME")
					: !is(f, "verdict", "NOT ENOUGH") || is(f, "kind", "timed");
}

static void figures(struct buf *out, const json_t *c)
{
	const json_t *f;
	int hidden = 0;
	size_t i;

	buf_printf(out, "\n%-*s  %22s  %22s  %20s  %s\n", NAME_WIDTH, "", "A", text_field(c, "b"),
		   "ratio", "verdict");
	json_array_foreach(json_object_get(c, "figures"), i, f) {
		char a[CELL], b[CELL], ratio[CELL], name[128];
		struct buf text;

		if (!shown(f)) {
			hidden++;
			continue;
		}
		buf_init(&text, sizeof(name));
		name_figure(&text, f);
		snprintf(name, sizeof(name), "%s", text.data ? text.data : "");
		buf_finish(&text);
		cell(a, json_object_get(json_object_get(f, "a"), "shown"));
		cell(b, json_object_get(json_object_get(f, "b"), "shown"));
		cell(ratio, json_object_get(f, "times"));
		buf_printf(out, "%-*s  %22s  %22s  %20s  %s\n", NAME_WIDTH, name, a, b, ratio,
			   text_field(f, "verdict"));
	}
	if (hidden)
		buf_printf(out, "%d more figures are the same, or measured once: --json has them\n",
			   hidden);
}

/* ---- what changed */

static void where(struct buf *out, const json_t *row)
{
	const json_t *n = json_object_get(row, "n");

	buf_printf(out, "%s", text_field(row, "mode"));
	if (json_is_integer(n))
		buf_printf(out, " at n = %" JSON_INTEGER_FORMAT, json_integer_value(n));
}

static void breaks(struct buf *out, const json_t *c)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(c, "breaks"), i, row) {
		const json_t *at = json_object_get(row, is(row, "change", "gone") ? "a" : "b");
		char cost[CELL];

		if (is(row, "change", "kept"))
			continue;
		buf_printf(out, "break %s, ", text_field(row, "change"));
		where(out, row);
		buf_printf(out, ": %s, line %" JSON_INTEGER_FORMAT ": %s", text_field(row, "kind"),
			   json_integer_value(json_object_get(at, "line")),
			   text_field(row, "text"));
		number_interval(cost, at, "cost_us", "ci_us", " us");
		buf_printf(out, "%s%s\n", *cost ? ", " : "", cost);
	}
}

static void kernels(struct buf *out, const json_t *c)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(c, "kernels"), i, row) {
		char a[CELL], b[CELL];

		number_interval(a, json_object_get(row, "a"), "us", "ci_us", "");
		number_interval(b, json_object_get(row, "b"), "us", "ci_us", "");
		buf_printf(out, "kernel %s, ", text_field(row, "change"));
		where(out, row);
		buf_printf(out, ": %s", text_field(row, "name"));
		if (*a || *b)
			buf_printf(out, ", %s%s%s us", a, *a && *b ? " to " : "", b);
		buf_puts(out, "\n");
	}
}

static void differences(struct buf *out, const json_t *c)
{
	const json_t *d;
	size_t i;

	json_array_foreach(json_object_get(c, "differences"), i, d)
		buf_printf(out, "%s: %s in A, %s in %s%s\n", text_field(d, "title"),
			   text_field(d, "a"), text_field(d, "b"), text_field(c, "b"),
			   json_is_true(json_object_get(d, "matters")) ? " (matters)" : "");
}

static void print_pair(struct buf *out, const json_t *all, const json_t *c)
{
	name_run(out, run_of(all, "A"));
	name_run(out, run_of(all, text_field(c, "b")));
	buf_puts(out, "\n");
	sentence(out, c);
	if (json_is_true(json_object_get(c, "forced")))
		buf_printf(out, "Compared by force; they are %s.\n", text_field(c, "refused"));
	if (json_array_size(json_object_get(c, "figures")))
		figures(out, c);
	how(out, c);
	if (json_array_size(json_object_get(c, "breaks")) +
	    json_array_size(json_object_get(c, "kernels")) +
	    json_array_size(json_object_get(c, "differences")))
		buf_puts(out, "\n");
	breaks(out, c);
	kernels(out, c);
	differences(out, c);
}

static void print_runs(struct buf *out, const json_t *comparison)
{
	const json_t *c;
	size_t i;

	json_array_foreach(json_object_get(comparison, "comparisons"), i, c) {
		if (i)
			buf_puts(out, "\n");
		print_pair(out, comparison, c);
	}
}

/* ---- suites as text ---- */

static void name_suite(struct buf *out, const char *label, const json_t *head)
{
	buf_printf(out, "%s: %s", label, text_field(head, "name"));
	if (whole_field(head, "id"))
		buf_printf(out, " #%lld", whole_field(head, "id"));
	else
		buf_printf(out, ", %s", text_field(head, "file"));
	buf_puts(out, "\n");
}

static void pass_rates(char *out, size_t bytes, const json_t *c)
{
	double before = number_field(c, "pass_rate_before"),
	       after = number_field(c, "pass_rate_after");

	if (isnan(before) || isnan(after))
		snprintf(out, bytes, "none ended");
	else
		snprintf(out, bytes, "%.0f to %.0f %%", 100 * before, 100 * after);
}

static void suite_columns(struct buf *out, const json_t *comparison)
{
	const json_t *c;
	size_t i;

	buf_printf(out, "\n%-10s %-7s %-8s %12s %7s %6s  %-22s %-10s %7s %5s %5s\n", "engine",
		   "policy", "mode", "passed", "broken", "fixed", "speedup, after/before",
		   "verdict", "of", "rose", "fell");
	json_array_foreach(json_object_get(comparison, "columns"), i, c) {
		const json_t *mean = json_object_get(c, "geomean");
		char ratio[CELL], passed[32];

		pass_rates(passed, sizeof(passed), c);
		number_interval(ratio, mean, "ratio", "ratio_ci", "x");
		buf_printf(out, "%-10s %-7s %-8s %12s %7lld %6lld  %-22s %-10s %7lld %5lld %5lld\n",
			   text_field(c, "engine"), text_field(c, "policy"), text_field(c, "mode"),
			   passed, whole_field(c, "broken"), whole_field(c, "fixed"), ratio,
			   text_field(mean, "verdict"), whole_field(mean, "n"),
			   whole_field(c, "FASTER"), whole_field(c, "SLOWER"));
	}
}

/* The results with one value of a field, a line each. */
static void suite_results(struct buf *out, const json_t *comparison, const char *field,
			  const char *value)
{
	const json_t *w, *r;
	size_t i, k;

	json_array_foreach(json_object_get(comparison, "workloads"), i, w) {
		json_array_foreach(json_object_get(w, "results"), k, r) {
			char ratio[CELL], before[NUMBER_BYTES], after[NUMBER_BYTES];

			if (strcmp(text_field(r, field), value) != 0)
				continue;
			buf_printf(out, "%s: %s, %s, %s, %s", value, text_field(w, "name"),
				   text_field(r, "mode"), text_field(r, "policy"),
				   text_field(r, "engine"));
			if (strcmp(value, "broken") == 0 && *text_field(r, "reason"))
				buf_printf(out, ": %s", text_field(r, "reason"));
			number_interval(ratio, r, "ratio", "ratio_ci", "x");
			number_short(before, number_field(r, "speedup_before"));
			number_short(after, number_field(r, "speedup"));
			if (*ratio && strcmp(field, "verdict") == 0)
				buf_printf(out, ": %sx to %sx, %s", before, after, ratio);
			buf_puts(out, "\n");
		}
	}
}

static void suite_names(struct buf *out, const char *what, const json_t *list)
{
	const json_t *name;
	size_t i;

	if (json_array_size(list))
		buf_printf(out, "%s: ", what);
	json_array_foreach(list, i, name)
		buf_printf(out, "%s%s", i ? ", " : "", json_string_value(name));
	if (json_array_size(list))
		buf_puts(out, "\n");
}

static void print_suites(struct buf *out, const json_t *comparison)
{
	name_suite(out, "A", json_object_get(comparison, "before"));
	name_suite(out, "B", json_object_get(comparison, "after"));
	buf_puts(out, "\n");
	sentence_say_json(out, json_object_get(comparison, "sentence"));
	buf_puts(out, "\n");
	suite_columns(out, comparison);
	buf_puts(out, "\n");
	suite_results(out, comparison, "turn", "broken");
	suite_results(out, comparison, "turn", "fixed");
	suite_results(out, comparison, "verdict", "SLOWER");
	suite_results(out, comparison, "verdict", "FASTER");
	suite_names(out, "Only in A", json_object_get(comparison, "only_before"));
	suite_names(out, "Only in B", json_object_get(comparison, "only_after"));
	buf_puts(out,
		 "A speedup is over the eager of its own suite, so that the pace of the "
		 "machine cancels out.  A verdict\nneeds its whole 95 % interval beyond 2 %; of "
		 "single workloads one in twenty misses by chance.\n");
}

/* ---- the command ---- */

static bool load(const struct compare_flags *f, struct loaded_runs *runs, struct err *err)
{
	struct db *db = NULL;
	bool ok = true;

	for (int i = 0; ok && i < f->n; i++) {
		int64_t id = id_of(f->runs[i]);

		if (!id) {
			ok = add_file(runs, f->runs[i], err);
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
		print_suites(&text, comparison);
	else
		print_runs(&text, comparison);
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
