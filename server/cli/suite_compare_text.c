/* server/cli/suite_compare_text.c -- a suite against an earlier one, as a terminal shows it. */
#include "server/cli/suite_compare_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/fields/fields.h"
#include "profiler/numbers/numbers.h"

enum { CELL = 4 * NUMBER_BYTES };

static void name_suite(struct buf *out, const char *label, const struct report_compared_suite *s)
{
	buf_printf(out, "%s: %s", label, s->name);
	if (s->id)
		buf_printf(out, " #%lld", (long long)s->id);
	else
		buf_printf(out, ", %s", report_text(s->file));
	buf_puts(out, "\n");
}

/* How many workloads turned so in some column. */
static int turned(const struct report_suite_workload_change_list *workloads, const char *turn)
{
	int n = 0;

	for (size_t i = 0; i < workloads->n; i++) {
		const struct report_suite_result_change_list *results = &workloads->at[i].results;
		bool any = false;

		for (size_t k = 0; k < results->n; k++)
			any = any || strcmp(results->at[k].turn, turn) == 0;
		n += any;
	}
	return n;
}

static void rates(char *out, size_t bytes, double before, double after)
{
	if (isnan(before) || isnan(after))
		snprintf(out, bytes, "none ended");
	else
		snprintf(out, bytes, "%.0f to %.0f %%", 100 * before, 100 * after);
}

static void columns(struct buf *out, const struct report_suite_column_change_list *columns)
{
	buf_printf(out, "\n%-10s %-7s %-8s %12s %7s %6s  %-22s %-10s %7s %5s %5s\n", "engine",
		   "policy", "mode", "passed", "broken", "fixed", "speedup, after/before",
		   "verdict", "of", "rose", "fell");
	for (size_t i = 0; i < columns->n; i++) {
		const struct report_suite_column_change *c = &columns->at[i];
		const struct report_suite_change *mean = c->geomean;
		char ratio[CELL], passed[32];

		rates(passed, sizeof(passed), c->pass_rate_before, c->pass_rate_after);
		number_interval(ratio, mean->ratio, mean->ratio_ci, "x");
		buf_printf(out, "%-10s %-7s %-8s %12s %7lld %6lld  %-22s %-10s %7lld %5lld %5lld\n",
			   c->engine, c->policy, c->mode, passed, (long long)c->broken,
			   (long long)c->fixed, ratio, report_text(mean->verdict),
			   (long long)mean->n, (long long)c->FASTER, (long long)c->SLOWER);
	}
}

/* A line of a result: `word` is its turn or its verdict. */
static void result(struct buf *out, const char *word, const char *workload,
		   const struct report_suite_result_change *r)
{
	buf_printf(out, "%s: %s, %s, %s, %s", word, workload, r->mode, r->policy, r->engine);
}

/* The results that turned so, a line each. */
static void turns(struct buf *out, const struct report_suite_workload_change *w, const char *turn)
{
	for (size_t k = 0; k < w->results.n; k++) {
		const struct report_suite_result_change *r = &w->results.at[k];

		if (strcmp(r->turn, turn) != 0)
			continue;
		result(out, turn, w->name, r);
		if (strcmp(turn, "broken") == 0 && *report_text(r->reason))
			buf_printf(out, ": %s", r->reason);
		buf_puts(out, "\n");
	}
}

/* The results with that verdict, a line each. */
static void verdicts(struct buf *out, const struct report_suite_workload_change *w,
		     const char *verdict)
{
	for (size_t k = 0; k < w->results.n; k++) {
		const struct report_suite_result_change *r = &w->results.at[k];
		char ratio[CELL], before[NUMBER_BYTES], after[NUMBER_BYTES];

		if (strcmp(report_text(r->verdict), verdict) != 0)
			continue;
		result(out, verdict, w->name, r);
		number_interval(ratio, r->ratio, r->ratio_ci, "x");
		number_short(before, r->speedup_before);
		number_short(after, r->speedup);
		if (*ratio)
			buf_printf(out, ": %sx to %sx, %s", before, after, ratio);
		buf_puts(out, "\n");
	}
}

static void names(struct buf *out, const char *what, const struct report_texts *list)
{
	if (list->n)
		buf_printf(out, "%s: ", what);
	for (size_t i = 0; i < list->n; i++)
		buf_printf(out, "%s%s", i ? ", " : "", list->at[i]);
	if (list->n)
		buf_puts(out, "\n");
}

void suite_compare_text(struct buf *out, const struct report_suite_comparison *comparison)
{
	const struct report_suite_workload_change_list *workloads = &comparison->workloads;
	int broken = turned(workloads, "broken"), fixed = turned(workloads, "fixed");

	name_suite(out, "A", comparison->before);
	name_suite(out, "B", comparison->after);
	if (broken)
		buf_printf(out, "\n%d workload%s passed in A and %s not in B", broken,
			   broken == 1 ? "" : "s", broken == 1 ? "does" : "do");
	else
		buf_puts(out, "\nNothing that passed in A is broken in B");
	buf_printf(out, "; %d %s fixed.\n", fixed, fixed == 1 ? "is" : "are");
	columns(out, &comparison->columns);
	buf_puts(out, "\n");
	for (size_t i = 0; i < workloads->n; i++)
		turns(out, &workloads->at[i], "broken");
	for (size_t i = 0; i < workloads->n; i++)
		turns(out, &workloads->at[i], "fixed");
	for (size_t i = 0; i < workloads->n; i++)
		verdicts(out, &workloads->at[i], "SLOWER");
	for (size_t i = 0; i < workloads->n; i++)
		verdicts(out, &workloads->at[i], "FASTER");
	names(out, "Only in A", &comparison->only_before);
	names(out, "Only in B", &comparison->only_after);
	buf_puts(out,
		 "A speedup is over the eager of its own suite, so that the pace of the "
		 "machine cancels out.  A verdict\nneeds its whole 95 % interval beyond 2 %; of "
		 "single workloads one in twenty misses by chance.\n");
}
