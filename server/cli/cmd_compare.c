/* server/cli/cmd_compare.c -- `breakeven compare A B`: a gate for CI, and an answer for people. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fusion/fusion.h"
#include "profiler/fields/fields.h"
#include "profiler/findings/sentence.h"
#include "profiler/import/import.h"
#include "profiler/numbers/numbers.h"
#include "profiler/suite/suite.h"
#include "server/api/api.h"
#include "server/api/timelines.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/report_file.h"
#include "server/queue/queue.h"
#include "server/text/text.h"

#define DEFAULT_DB "breakeven.db"

struct compare_flags {
	const char *runs[COMPARE_MAX_RUNS], *db, *margin, *mode, *mode_b, *point, *point_b;
	int n;
	bool json, suites, timelines;
	struct compare_options options;
	struct timelines_asked lanes;
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
	if (f->suites && f->timelines)
		return flags_refuse(
		    "compare",
		    "suites have no timelines: --suites and --timelines exclude each other", "");
	if (f->timelines && f->n > 2)
		return flags_refuse("compare", "two timelines at once, not also ", f->runs[2]);
	if (f->suites && f->n > 2)
		return flags_refuse("compare", "two suites at once, not also ", f->runs[2]);
	return !(f->suites || f->timelines) || !of_runs ||
	       flags_refuse("compare",
			    f->suites ? "--suites compares by its own rules, without "
				      : "timelines are compared by their own rules, without ",
			    of_runs);
}

/* Which lanes of a run: of timelines alone. */
static bool check_lanes(struct compare_flags *f)
{
	const char *given = f->mode      ? "--mode"
			    : f->mode_b  ? "--mode-b"
			    : f->point   ? "--n"
			    : f->point_b ? "--n-b"
					 : NULL;
	const char *modes[] = { f->mode, f->mode_b ? f->mode_b : f->mode };
	const char *points[] = { f->point, f->point_b ? f->point_b : f->point };

	if (given && !f->timelines)
		return flags_refuse("compare", "with --timelines alone: ", given);
	for (int i = 0; i < 2; i++) {
		long long n = 0;
		enum fusion_mode known;

		if (modes[i] && !fusion_mode_from_name(modes[i], &known))
			return flags_refuse("compare", "no mode is named ", modes[i]);
		if (!flags_integer("compare", i && f->point_b ? "--n-b" : "--n", points[i],
				   INT64_MIN / 2, INT64_MAX / 2, &n))
			return false;
		f->lanes.mode[i] = modes[i];
		f->lanes.has_n[i] = points[i] != NULL;
		f->lanes.n[i] = n;
	}
	return true;
}

/* Whether a file is a log with a timeline, by how it begins: packed, a list, or with events. */
static bool is_log(const char *path)
{
	enum { LOOK_BYTES = 1 << 20 };
	char *bytes = malloc(LOOK_BYTES + 1);
	FILE *file = bytes ? fopen(path, "rb") : NULL;
	size_t n = file ? fread(bytes, 1, LOOK_BYTES, file) : 0;
	bool log = false;

	if (file) {
		bytes[n] = '\0';
		log = (n > 2 && memcmp(bytes, "\x1f\x8b", 2) == 0) ||
		      bytes[strspn(bytes, " \t\r\n")] == '[' || strstr(bytes, "\"traceEvents\"");
		fclose(file);
	}
	free(bytes);
	return log;
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
		{ "--timelines", .on = &f->timelines },
		{ "--mode", .value = &f->mode },
		{ "--mode-b", .value = &f->mode_b },
		{ "--n", .value = &f->point },
		{ "--n-b", .value = &f->point_b },
	};
	struct flags flags = {
		.command = "compare",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = f->runs,
			   .most = COMPARE_MAX_RUNS,
			   .over = "at most 8 runs at once, not also " },
	};
	int status = flags_read(&flags, argc, argv), log = 0;

	f->n = flags.words.n;
	if (status >= 0)
		return status;
	while (log < f->n && (f->suites || !is_log(f->runs[log])))
		log++;
	if (log < f->n && f->n > 2) {
		flags_refuse("compare",
			     "logs are compared by their timelines, two at once, and this is one: ",
			     f->runs[log]);
		return EXIT_USAGE;
	}
	f->timelines |= log < f->n && f->n == 2;
	return check_words(f) && check_margin(f) && check_lanes(f) &&
		       flags_one_of("compare", "--metric", f->options.metric, metrics)
		   ? -1
		   : EXIT_USAGE;
}

/* ---- runs and suites, by number or file ---- */

/* The number of a run or a suite; 0 where the text is none: a file. */
static int64_t id_of(const char *text)
{
	char *end;
	long long id;

	errno = 0;
	id = strtoll(text, &end, 10);
	return errno || end == text || *end || id <= 0 ? 0 : id;
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

/* Its report; the file's own, where that is one.  NULL: it has none. */
static const json_t *report_of_suite(const struct report_suite_file *file, struct arena *arena,
				     struct err *err)
{
	const struct report_suite_file *report =
	    json_is_object(file->report) ? report_read_suite_file(file->report, arena, err) : file;

	return report && json_is_array(report->columns) ? report->json : NULL;
}

/* The report that a file is, or has; its name is the suite's. */
static json_t *suite_of_file(const char *path, json_t **head, struct err *err)
{
	json_t *json = report_file_read(path, "suite", err), *found = NULL;
	const struct report_suite_file *file = NULL;
	struct arena arena = { 0 };
	const json_t *report;

	if (!json)
		return NULL;
	if (json_is_object(json))
		file = report_read_suite_file(json, &arena, err);
	if (err->code != ERR_NONE)
		report_file_name(path, err);
	report = file ? report_of_suite(file, &arena, err) : NULL;
	if (report) {
		*head = json_pack("{s:s, s:s}", "file", path, "name",
				  file->name ? file->name : "suite");
		found = json_incref((json_t *)report);
	} else if (err->code == ERR_NONE) {
		err_set(err, ERR_WORKLOAD,
			"%.300s is not a report of a suite: write one with "
			"breakeven suite FOLDER --json",
			path);
	}
	arena_finish(&arena);
	json_decref(json);
	return found;
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
static bool compare_suites_lost(const struct report_suite_comparison *comparison)
{
	for (size_t i = 0; i < comparison->columns.n; i++) {
		const struct report_suite_column_change *c = &comparison->columns.at[i];

		if (c->broken > 0 || strcmp(report_text(c->geomean->verdict), "SLOWER") == 0)
			return true;
	}
	return false;
}

/* ---- runs as text ---- */

enum { CELL = 4 * NUMBER_BYTES, NAME_WIDTH = 34 };

static bool is(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

/* ---- the sentence */

static void name_run(struct buf *out, const struct report_compare *all, const char *label)
{
	for (size_t i = 0; i < all->runs.n; i++) {
		const struct report_compared_run *run = &all->runs.at[i];

		if (!is(report_text(run->label), label))
			continue;
		buf_printf(out, "%s: %s", label, report_text(run->name));
		if (run->id)
			buf_printf(out, " #%lld", (long long)run->id);
		if (*report_text(run->commit))
			buf_printf(out, ", commit %.12s", run->commit);
		if (*report_text(run->file))
			buf_printf(out, ", %s", run->file);
		buf_puts(out, "\n");
	}
}

static void name_figure(struct buf *out, const struct report_compared_figure *f)
{
	char text[NUMBER_BYTES];

	buf_printf(out, "%s %s", f->mode, f->title);
	if (f->has.n) {
		number_short(text, f->n);
		buf_printf(out, " at n = %s", text);
	}
	if (f->points)
		buf_printf(out, " of %lld points", (long long)f->points);
}

/* The verdict with its figures. */
static void sentence(struct buf *out, const struct report_compared *c)
{
	buf_printf(out, "%s. ", c->verdict);
	sentence_say(out, &c->sentence);
	if (is(c->verdict, "REFUSED"))
		buf_puts(out, " --force compares them all the same.");
	buf_puts(out, "\n");
}

/* ---- figures */

/* "25.6 µs (25.0-26.1)" of a figure as it is shown. */
static void cell(char out[CELL], const struct report_figure *f)
{
	if (f && f->low)
		snprintf(out, CELL, "%s (%s-%s)", f->text, f->low, report_text(f->high));
	else
		snprintf(out, CELL, "%s", f ? f->text : "");
}

static bool shown(const struct report_compared_figure *f)
{
	return is(f->kind, "counted") ? !is(f->verdict, "SAME")
				      : !is(f->verdict, "NOT ENOUGH") || is(f->kind, "timed");
}

/* A latency where speedups decide. */
static bool set_aside(const struct report_compared *c, const struct report_compared_figure *f)
{
	return is(report_text(c->judged_by), "speedup") && is(f->metric, "latency");
}

static void figure(struct buf *out, const struct report_compared *c,
		   const struct report_compared_figure *f)
{
	char a[CELL], b[CELL], ratio[CELL], name[128];
	bool aside = set_aside(c, f);
	struct buf text;

	buf_init(&text, sizeof(name));
	name_figure(&text, f);
	snprintf(name, sizeof(name), "%s", text.data ? text.data : "");
	buf_finish(&text);
	cell(a, f->a->shown);
	cell(b, f->b->shown);
	cell(ratio, f->times);
	buf_printf(out, "%-*s  %*s  %*s  %20s  %s%s%s\n", NAME_WIDTH, name, text_width(22, a), a,
		   text_width(22, b), b, ratio, aside ? "(" : "", f->verdict, aside ? ")" : "");
}

static void figures(struct buf *out, const struct report_compared *c)
{
	int hidden = 0;

	buf_printf(out, "\n%-*s  %22s  %22s  %20s  %s\n", NAME_WIDTH, "", "A", c->b, "ratio",
		   "verdict");
	for (size_t i = 0; i < c->figures.n; i++) {
		if (shown(&c->figures.at[i]))
			figure(out, c, &c->figures.at[i]);
		else
			hidden++;
	}
	if (is(report_text(c->judged_by), "speedup"))
		buf_puts(out, "In brackets: what does not count toward the verdict.\n");
	if (hidden)
		buf_printf(out, "%d more figures are the same, or measured once: --json has them\n",
			   hidden);
}

/* ---- what changed */

/* NAN: it has no points. */
static void where(struct buf *out, const char *mode, double n)
{
	buf_puts(out, mode);
	if (!isnan(n))
		buf_printf(out, " at n = %lld", (long long)n);
}

static void breaks(struct buf *out, const struct report_break_change_list *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct report_break_change *row = &rows->at[i];
		const struct report_compared_break *at = is(row->change, "gone") ? row->a : row->b;
		char cost[CELL] = "";

		if (is(row->change, "kept"))
			continue;
		buf_printf(out, "break %s, ", row->change);
		where(out, row->mode, row->n);
		buf_printf(out, ": %s, %s%sline %lld: %s", row->kind,
			   at ? report_text(at->file) : "", at && at->file ? ", " : "",
			   at ? (long long)at->line : 0, row->text);
		if (at)
			number_interval(cost, at->cost_us, at->ci_us, " µs");
		buf_printf(out, "%s%s\n", *cost ? ", " : "", cost);
	}
}

static void kernel_time(char out[CELL], const struct report_compared_kernel *kernel)
{
	out[0] = '\0';
	if (kernel)
		number_interval(out, kernel->us, kernel->ci_us, "");
}

static void kernels(struct buf *out, const struct report_kernel_change_list *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct report_kernel_change *row = &rows->at[i];
		char a[CELL], b[CELL];

		kernel_time(a, row->a);
		kernel_time(b, row->b);
		buf_printf(out, "kernel %s, ", row->change);
		where(out, row->mode, row->n);
		buf_printf(out, ": %s", row->name);
		if (*a || *b)
			buf_printf(out, ", %s%s%s µs", a, *a && *b ? " to " : "", b);
		buf_puts(out, "\n");
	}
}

static void differences(struct buf *out, const struct report_compared *c)
{
	for (size_t i = 0; i < c->differences.n; i++) {
		const struct report_setting_difference *d = &c->differences.at[i];

		buf_printf(out, "%s: %s in A, %s in %s%s\n", d->title, d->a, d->b, c->b,
			   d->matters ? " (matters)" : "");
	}
}

static void print_pair(struct buf *out, const struct report_compare *all,
		       const struct report_compared *c)
{
	name_run(out, all, "A");
	name_run(out, all, c->b);
	buf_puts(out, "\n");
	sentence(out, c);
	if (c->forced)
		buf_printf(out, "Compared by force; they are %s.\n", report_text(c->refused));
	if (c->figures.n)
		figures(out, c);
	for (size_t i = 0; i < c->how.n; i++)
		buf_printf(out, "%s\n", c->how.at[i]);
	if (c->breaks.n + c->kernels.n + c->differences.n)
		buf_puts(out, "\n");
	breaks(out, &c->breaks);
	kernels(out, &c->kernels);
	differences(out, c);
}

static void print_runs(struct buf *out, const struct report_compare *comparison)
{
	for (size_t i = 0; i < comparison->comparisons.n; i++) {
		if (i)
			buf_puts(out, "\n");
		print_pair(out, comparison, &comparison->comparisons.at[i]);
	}
}

/* ---- suites as text ---- */

static void name_suite(struct buf *out, const char *label, const struct report_compared_suite *s)
{
	buf_printf(out, "%s: %s", label, s->name);
	if (s->id)
		buf_printf(out, " #%lld", (long long)s->id);
	else
		buf_printf(out, ", %s", report_text(s->file));
	buf_puts(out, "\n");
}

static void suite_columns(struct buf *out, const struct report_suite_column_change_list *columns)
{
	buf_printf(out, "\n%-10s %-7s %-8s %14s %7s %6s  %-22s %-10s %7s %5s %5s\n", "engine",
		   "policy", "mode", "passed", "broken", "fixed", "speedup, after/before",
		   "verdict", "of", "rose", "fell");
	for (size_t i = 0; i < columns->n; i++) {
		const struct report_suite_column_change *c = &columns->at[i];
		const struct report_suite_change *mean = c->geomean;
		char ratio[CELL];

		number_interval(ratio, mean->ratio, mean->ratio_ci, "x");
		buf_printf(out, "%-10s %-7s %-8s %14s %7lld %6lld  %-22s %-10s %7lld %5lld %5lld\n",
			   c->engine, c->policy, c->mode, report_text(c->pass_rates),
			   (long long)c->broken, (long long)c->fixed, ratio,
			   report_text(mean->verdict), (long long)mean->n, (long long)c->FASTER,
			   (long long)c->SLOWER);
	}
}

/* A line of a result: `word` is its turn or its verdict. */
static void suite_result(struct buf *out, const char *word, const char *workload,
			 const struct report_suite_result_change *r)
{
	buf_printf(out, "%s: %s, %s, %s, %s", word, workload, r->mode, r->policy, r->engine);
}

/* The results that turned so, a line each. */
static void suite_turns(struct buf *out, const struct report_suite_workload_change *w,
			const char *turn)
{
	for (size_t k = 0; k < w->results.n; k++) {
		const struct report_suite_result_change *r = &w->results.at[k];

		if (strcmp(r->turn, turn) != 0)
			continue;
		suite_result(out, turn, w->name, r);
		if (strcmp(turn, "broken") == 0 && *report_text(r->reason))
			buf_printf(out, ": %s", r->reason);
		buf_puts(out, "\n");
	}
}

/* The results with that verdict, a line each. */
static void suite_verdicts(struct buf *out, const struct report_suite_workload_change *w,
			   const char *verdict)
{
	for (size_t k = 0; k < w->results.n; k++) {
		const struct report_suite_result_change *r = &w->results.at[k];
		char ratio[CELL], before[NUMBER_BYTES], after[NUMBER_BYTES];

		if (strcmp(report_text(r->verdict), verdict) != 0)
			continue;
		suite_result(out, verdict, w->name, r);
		number_interval(ratio, r->ratio, r->ratio_ci, "x");
		number_short(before, r->speedup_before);
		number_short(after, r->speedup);
		if (*ratio)
			buf_printf(out, ": %sx to %sx, %s", before, after, ratio);
		buf_puts(out, "\n");
	}
}

static void suite_names(struct buf *out, const char *what, const struct report_texts *list)
{
	if (list->n)
		buf_printf(out, "%s: ", what);
	for (size_t i = 0; i < list->n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", list->at[i]);
	if (list->n)
		buf_puts(out, "\n");
}

static void print_suites(struct buf *out, const struct report_suite_comparison *comparison)
{
	const struct report_suite_workload_change_list *workloads = &comparison->workloads;

	name_suite(out, "A", comparison->before);
	name_suite(out, "B", comparison->after);
	buf_puts(out, "\n");
	sentence_say(out, &comparison->sentence);
	buf_puts(out, "\n");
	suite_columns(out, &comparison->columns);
	buf_puts(out, "\n");
	for (size_t i = 0; i < workloads->n; i++)
		suite_turns(out, &workloads->at[i], "broken");
	for (size_t i = 0; i < workloads->n; i++)
		suite_turns(out, &workloads->at[i], "fixed");
	for (size_t i = 0; i < workloads->n; i++)
		suite_verdicts(out, &workloads->at[i], "SLOWER");
	for (size_t i = 0; i < workloads->n; i++)
		suite_verdicts(out, &workloads->at[i], "FASTER");
	suite_names(out, "Only in A", &comparison->only_before);
	suite_names(out, "Only in B", &comparison->only_after);
	buf_puts(out,
		 "A speedup is over the eager of its own suite, so that the pace of the "
		 "machine cancels out.  A verdict\nneeds its whole 95 % interval beyond 2 %; of "
		 "single workloads one in twenty misses by chance.\n");
}

/* ---- timelines ---- */

static int64_t count_of(const struct report_total *total)
{
	return total ? total->count : 0;
}

/* What is aligned, or which file has none of it. */
static bool has_items(const char *path, const json_t *report, struct err *err)
{
	struct arena arena = { 0 };
	const struct report_import *read = report_read_import(report, &arena, err);
	bool ok = read != NULL;

	if (ok && read->files.n == 0)
		ok = err_set(err, ERR_UNSUPPORTED, "%.300s is empty", path);
	else if (ok && count_of(read->kernels) + count_of(read->copies) + count_of(read->sets) +
			       count_of(read->ops) ==
			   0)
		ok = err_set(err, ERR_UNSUPPORTED,
			     "%.300s has neither kernels nor ops, so there is nothing to align",
			     path);
	arena_finish(&arena);
	return ok;
}

static bool load_timeline(struct loaded_timeline *t, const char *text, const char *store,
			  struct err *err)
{
	int64_t id = id_of(text);
	struct db *db = id ? db_open_reading(store, err) : NULL;
	struct import *im = id ? NULL : import_create(timeline_events_block, &t->events, 0, err);
	json_t *report = NULL;
	bool ok = false;

	if (db)
		ok = loaded_timeline_of_run(t, db, id, err);
	else if (im && import_named(im, text, text, err))
		report = import_finish(im, err);
	if (report && has_items(text, report, err)) {
		t->head = json_pack("{s:s, s:s}", "file", text, "name", text);
		ok = t->head || err_set(err, ERR_BAD_REQUEST, "the name of a file must be UTF-8");
	}
	json_decref(report);
	import_destroy(im);
	db_close(db);
	return ok;
}

static json_t *compare_timelines(const struct compare_flags *f, const char *db, struct err *err)
{
	struct loaded_timeline t[2] = { LOADED_TIMELINE, LOADED_TIMELINE };
	json_t *aligned = NULL;

	if (load_timeline(&t[0], f->runs[0], db, err) && load_timeline(&t[1], f->runs[1], db, err))
		aligned = loaded_timelines_align(t, &f->lanes, err);
	loaded_timeline_finish(&t[0]);
	loaded_timeline_finish(&t[1]);
	return aligned;
}

enum { NAME_COLUMNS = 56, MOST_APART = 4 };

static void print_change(struct buf *out, const char *title, const struct report_aligned_change *c)
{
	const struct report_figure *d = c->delta;

	buf_printf(out, "%-*s  %*s  %*s  %*s", NAME_WIDTH, title, text_width(10, c->a->text),
		   c->a->text, text_width(10, c->b->text), c->b->text, text_width(11, d->text),
		   d->text);
	if (d->low)
		buf_printf(out, " (%s to %s)", d->low, report_text(d->high));
	if (c->rest && c->rest_us != 0)
		buf_printf(out, ", of that unexplained %s", c->rest->text);
	buf_puts(out, "\n");
}

static void print_apart(struct buf *out, const char *letter, const struct report_aligned_side *side)
{
	for (size_t i = 0; i < side->apart.n && i < MOST_APART; i++) {
		const struct report_aligned_apart *u = &side->apart.at[i];

		buf_printf(out, "set apart in %s: unit %lld, %s, %s", letter, (long long)u->index,
			   u->why, u->wall->text);
		if (u->cause)
			buf_printf(out, ", of that %s in %.*s", u->cause_time->text, NAME_COLUMNS,
				   u->cause);
		buf_puts(out, "\n");
	}
	if (side->units - side->used > MOST_APART)
		buf_printf(out, "  and %lld more\n",
			   (long long)(side->units - side->used - MOST_APART));
}

static void print_row(struct buf *out, const struct report_aligned_row *row)
{
	const struct report_aligned_change *t = row->time;

	buf_printf(out, "%*s  %-6s  %-8s  %4lld  %4lld  ", text_width(11, t->delta->text),
		   t->delta->text, row->part, row->change, (long long)row->n_a,
		   (long long)row->n_b);
	buf_puts(out, row->title);
	if (row->op)
		buf_printf(out, " of %s", row->op);
	if (row->causes.n)
		buf_printf(out, " (%s)", row->causes.at[0].label);
	if (row->from.n)
		buf_printf(out, " from %.*s%s", NAME_COLUMNS, row->from.at[0],
			   row->from.n > 1 ? " and more" : "");
	buf_puts(out, "\n");
}

/* Rows within their noise are counted, not listed. */
static void print_timelines(struct buf *out, const struct report_alignment *c)
{
	int64_t quiet = 0;

	sentence_say(out, &c->sentence);
	buf_printf(out, "\n\n%-*s  %10s  %10s  %11s\n", NAME_WIDTH, "a unit", "A", "B", "B - A");
	print_change(out, "wall", c->wall);
	print_change(out, c->a->on_host && c->b->on_host ? "  ops" : "  device", c->device);
	print_change(out, "  idle", c->idle);
	if (c->host)
		print_change(out, "ops of the host", c->host);
	buf_printf(out, "\n%11s  %-6s  %-8s  %4s  %4s\n", "B - A", "part", "change", "A", "B");
	for (size_t i = 0; i < c->rows.n; i++) {
		if (c->rows.at[i].stands)
			print_row(out, &c->rows.at[i]);
		else
			quiet++;
	}
	if (c->noise_rows)
		buf_printf(out, "%lld more within their noise, together %s\n",
			   (long long)c->noise_rows, c->noise->text);
	if (c->others->rows > c->noise_rows - quiet)
		buf_printf(out, "%lld smaller ones that are not listed\n",
			   (long long)(c->others->rows - (c->noise_rows - quiet)));
	for (size_t i = 0; i < c->host_rows.n; i++)
		print_row(out, &c->host_rows.at[i]);
	buf_puts(out, "\n");
	for (size_t i = 0; i < c->how.n; i++)
		buf_printf(out, "%s\n", c->how.at[i]);
	print_apart(out, "A", c->a);
	print_apart(out, "B", c->b);
}

/* ---- the command ---- */

static bool load(const struct compare_flags *f, struct loaded_runs *runs, struct err *err)
{
	struct db *db = NULL;
	bool ok = true;

	for (int i = 0; ok && i < f->n; i++) {
		int64_t id = id_of(f->runs[i]);

		if (!id) {
			ok = report_file_add(runs, f->runs[i], NULL, err);
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
	if (f->timelines)
		return compare_timelines(f, db, err);
	if (load(f, &runs, err))
		comparison = compare_runs(runs.at, runs.n, &f->options, err);
	loaded_finish(&runs);
	return comparison;
}

/* As it was read: one of the two, and its JSON. */
struct comparison_read {
	const json_t *json;
	const struct report_compare *runs;
	const struct report_suite_comparison *suites;
	const struct report_alignment *timelines;
};

static bool read_comparison(const struct compare_flags *f, const json_t *json, struct arena *arena,
			    struct comparison_read *c, struct err *err)
{
	c->json = json;
	if (f->suites)
		c->suites = report_read_suite_comparison(json, arena, err);
	else if (f->timelines)
		c->timelines = report_read_alignment(json, arena, err);
	else
		c->runs = report_read_compare(json, arena, err);
	return c->suites || c->timelines || c->runs;
}

/* Whether B lost what A had, or cannot be told: of timelines, whether its units take longer. */
static bool lost(const struct comparison_read *c)
{
	if (c->timelines)
		return strcmp(c->timelines->leads, "wall") == 0 && c->timelines->wall->delta_us > 0;
	return c->suites ? compare_suites_lost(c->suites)
			 : is(c->runs->verdict, "SLOWER") || is(c->runs->verdict, "REFUSED") ||
			       is(c->runs->verdict, "DISAGREES");
}

static bool print(const struct compare_flags *f, const struct comparison_read *c)
{
	struct buf text;
	bool ok;

	if (f->json)
		return json_dumpf(c->json, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF &&
		       fflush(stdout) == 0;
	buf_init(&text, 0);
	if (c->suites)
		print_suites(&text, c->suites);
	else if (c->timelines)
		print_timelines(&text, c->timelines);
	else
		print_runs(&text, c->runs);
	ok = text.data && fputs(text.data, stdout) != EOF && fflush(stdout) == 0;
	buf_finish(&text);
	return ok;
}

int cmd_compare(int argc, char **argv, const struct registry *registry)
{
	struct compare_flags f = { 0 };
	struct comparison_read c = { 0 };
	struct arena arena = { 0 };
	struct err err = { 0 };
	json_t *json;
	int status;

	(void)registry;
	status = read_flags(argc, argv, &f);
	if (status >= 0)
		return status;
	status = EXIT_FAILED;
	json = compare(&f, &err);
	if (!json || !read_comparison(&f, json, &arena, &c, &err))
		fprintf(stderr, "breakeven compare: %s\n", err.message);
	else if (!print(&f, &c))
		fprintf(stderr, "breakeven compare: the result could not be written: %s\n",
			strerror(errno));
	else if (!lost(&c))
		status = EXIT_DONE;
	arena_finish(&arena);
	json_decref(json);
	return status;
}
