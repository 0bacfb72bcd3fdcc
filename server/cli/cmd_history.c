/* server/cli/cmd_history.c -- `breakeven history WORKLOAD`: one figure over the runs of a workload.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profiler/findings/sentence.h"
#include "server/api/api.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/text/text.h"

enum { LIMIT = 40, LIMIT_MOST = 1000, COMMIT_SHOWN = 9, WHEN_BYTES = 24 };

struct history_flags {
	const char *metric, *n, *limit, *db;
	bool json;
	struct history_asked asked;
};

static bool read_n(struct history_flags *f)
{
	char *end;

	f->asked.query.n = NAN;
	if (!f->n)
		return true;
	f->asked.query.n = strtod(f->n, &end);
	return (end != f->n && !*end && isfinite(f->asked.query.n)) ||
	       flags_refuse("history", "--n is a point of the sweep, a number, not ", f->n);
}

static bool check_flags(struct history_flags *f)
{
	long long limit = LIMIT;
	struct err err = { 0 };

	f->asked.metric = METRIC_COUNT;
	if (f->metric && !metric_from_name(f->metric, &f->asked.metric, &err))
		return flags_refuse("history", err.message, "");
	if (!read_n(f) || !flags_integer("history", "--limit", f->limit, 1, LIMIT_MOST, &limit))
		return false;
	f->asked.query.limit = (int)limit;
	f->asked.reads_only = true;
	return true;
}

static int read_flags(int argc, char **argv, struct history_flags *f)
{
	const struct flag table[] = {
		{ "--db", .value = &f->db },
		{ "--metric", .value = &f->metric },
		{ "--mode", .value = &f->asked.query.mode },
		{ "--n", .value = &f->n },
		{ "--project", .value = &f->asked.query.project },
		{ "--limit", .value = &f->limit },
		{ "--json", .on = &f->json },
	};
	struct flags flags = {
		.command = "history",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = &f->asked.query.name,
			   .most = 1,
			   .over = "one workload at a time, not also " },
	};
	int status = flags_read(&flags, argc, argv);

	return status >= 0 || check_flags(f) ? status : EXIT_USAGE;
}

/* ---- as text ---- */

static void print_names(const struct report_workload_name_list *names)
{
	if (!names->n)
		puts("no workload has runs in this store");
	for (size_t i = 0; i < names->n; i++)
		printf("%6lld run%s  %s\n", (long long)names->at[i].runs,
		       names->at[i].runs == 1 ? " " : "s", names->at[i].name);
}

static void write_when(char out[WHEN_BYTES], int64_t ns)
{
	time_t at = (time_t)(ns / 1000000000);
	struct tm tm;

	out[0] = '\0';
	if (ns > 0 && gmtime_r(&at, &tm))
		strftime(out, WHEN_BYTES, "%Y-%m-%d %H:%M", &tm);
}

static void print_point(const struct report_history_point *p)
{
	const struct report_figure *f = p->shown;
	char when[WHEN_BYTES], figure[200] = "not measured";

	write_when(when, p->run->created_ns);
	if (f && f->low)
		snprintf(figure, sizeof(figure), "%s (%s-%s)", f->text, f->low, f->high);
	else if (f)
		snprintf(figure, sizeof(figure), "%s", f->text);
	printf("%7lld  %-16s  %-9.*s  %*s  %11s  %s\n", (long long)p->run->id, when, COMMIT_SHOWN,
	       report_text(p->run->commit), text_width(-28, figure), figure,
	       report_text(p->of_baseline), report_text(p->parting));
}

/* Where any figure of the workload stepped, the newest first. */
static void print_changes(const struct report_history_change_list *changes)
{
	for (size_t i = 0; i < changes->n; i++) {
		const struct report_history_change *c = &changes->at[i];
		struct buf sentence = { 0 };

		sentence_say(&sentence, &c->sentence);
		printf("#%-6lld %-9s %s%s%s%s\n", (long long)c->after->run, c->verdict,
		       sentence.data ? sentence.data : "",
		       strcmp(c->state, "open") == 0 ? "" : " (",
		       strcmp(c->state, "open") == 0 ? "" : c->state,
		       strcmp(c->state, "open") == 0 ? "" : ")");
		buf_finish(&sentence);
	}
	if (changes->n)
		putchar('\n');
}

static void print_history(const struct report_history *h)
{
	struct buf sentence = { 0 };

	sentence_say(&sentence, &h->sentence);
	printf("%s\n\n", sentence.data ? sentence.data : "");
	buf_finish(&sentence);
	if (h->points.n)
		printf("%7s  %-16s  %-9s  %-28s  %11s  %s\n", "run", "posted, UTC", "commit",
		       h->title, "of baseline", "since the one before");
	for (size_t i = 0; i < h->points.n; i++)
		print_point(&h->points.at[i]);
	if (h->points.n)
		putchar('\n');
	print_changes(&h->changes);
	for (size_t i = 0; i < h->how.n; i++)
		puts(h->how.at[i]);
}

static bool print_json(const struct report_history *h, struct err *err)
{
	json_t *json = report_write_history(h);
	bool ok = json && json_dumpf(json, stdout, JSON_COMPACT) == 0;

	json_decref(json);
	putchar('\n');
	return ok || err_set(err, ERR_MEMORY, "out of memory for a history");
}

static bool print(const struct history_flags *f, struct err *err)
{
	struct app app = { .db = db_open_reading(f->db ? f->db : "breakeven.db", err) };
	struct report_draft draft = { 0 };
	const struct report_history *h = app.db ? history_answer(&app, &f->asked, &draft, err)
						: NULL;
	bool ok = h != NULL;

	if (h && f->json)
		ok = print_json(h, err);
	else if (h && !h->workload)
		print_names(&h->workloads);
	else if (h && h->total == 0)
		ok = err_set(err, ERR_NOT_FOUND, "no run of %.200s has ended in this store",
			     h->workload);
	else if (h)
		print_history(h);
	report_draft_finish(&draft);
	db_close(app.db);
	return ok;
}

int cmd_history(int argc, char **argv, const struct registry *registry)
{
	struct history_flags f = { 0 };
	struct err err = { 0 };
	int status = read_flags(argc, argv, &f);

	(void)registry;
	if (status >= 0)
		return status;
	if (print(&f, &err))
		return EXIT_DONE;
	fprintf(stderr, "breakeven history: %s\n", err.message);
	return EXIT_FAILED;
}
