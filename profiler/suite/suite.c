/* profiler/suite/suite.c -- many workloads measured as one: results in, a report out. */
#include "profiler/suite/suite.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "profiler/findings/sentence.h"
#include "profiler/measure/break_even.h"
#include "profiler/numbers/numbers.h"
#include "profiler/suite/stats.h"

enum { MAX_COLUMNS = 64 };

static const char *const status_names[SUITE_STATUS_COUNT] = { "pass", "disagrees", "failed",
							      "cancelled", "waiting" };

const char *suite_status_name(enum suite_status status)
{
	return status_names[status];
}

bool suite_status_from_name(const char *name, enum suite_status *out)
{
	for (int i = 0; i < SUITE_STATUS_COUNT; i++)
		if (strcmp(name, status_names[i]) == 0) {
			*out = (enum suite_status)i;
			return true;
		}
	return false;
}

struct column {
	const char *engine, *policy, *mode;
	const struct suite_result **results; /* by workload; NULL: none */
	int counts[SUITE_STATUS_COUNT];
};

struct table {
	struct column columns[MAX_COLUMNS];
	int n_columns, n_workloads;
	double *speedups; /* [column][workload]; NaN: none */
	bool *common;
	int n_common;
};

static double speedup_of(const struct suite_result *r)
{
	return r && r->status == SUITE_PASS ? r->speedup.mid : (double)NAN;
}

static struct column *column_of(struct table *t, const struct suite_result *r)
{
	struct column *c = t->columns;

	for (; c < t->columns + t->n_columns; c++)
		if (strcmp(c->engine, r->engine) == 0 && strcmp(c->policy, r->policy) == 0 &&
		    strcmp(c->mode, r->mode) == 0)
			return c;
	if (t->n_columns == MAX_COLUMNS)
		return NULL;
	*c = (struct column){ .engine = r->engine, .policy = r->policy, .mode = r->mode };
	c->results = calloc((size_t)t->n_workloads + 1, sizeof(struct suite_result *));
	t->n_columns += c->results != NULL;
	return c->results ? c : NULL;
}

static void table_finish(struct table *t)
{
	for (int c = 0; c < t->n_columns; c++)
		free(t->columns[c].results);
	free(t->speedups);
	free(t->common);
}

static bool table_fill(struct table *t, const struct suite_result *results, int n)
{
	for (int i = 0; i < n; i++) {
		struct column *c = column_of(t, &results[i]);

		if (!c)
			return false;
		c->results[results[i].workload] = &results[i];
	}
	t->speedups = calloc((size_t)t->n_workloads * (size_t)t->n_columns + 1, sizeof(double));
	t->common = calloc((size_t)t->n_workloads + 1, sizeof(bool));
	if (!t->speedups || !t->common)
		return false;
	for (int c = 0; c < t->n_columns; c++)
		for (int w = 0; w < t->n_workloads; w++) {
			const struct suite_result *r = t->columns[c].results[w];

			t->speedups[c * t->n_workloads + w] = speedup_of(r);
			if (r)
				t->columns[c].counts[r->status]++;
		}
	t->n_common = suite_common(t->speedups, t->n_columns, t->n_workloads, t->common);
	return true;
}

/* ---- the report ---- */

/* Of those with a speedup, of the common set alone or of all. */
static bool fill_geomean(const struct table *t, const struct column *c, bool common_only,
			 struct report_suite_geomean *to)
{
	struct interval *ratios = calloc((size_t)t->n_workloads + 1, sizeof(*ratios)), mean;
	int n = 0;

	if (!ratios)
		return false;
	for (int w = 0; w < t->n_workloads; w++)
		if (!isnan(speedup_of(c->results[w])) && (!common_only || t->common[w]))
			ratios[n++] = c->results[w]->speedup;
	mean = n ? suite_geomean(ratios, n) : (struct interval){ .mid = NAN };
	free(ratios);
	REPORT_SET(to, n, n);
	REPORT_SET_IF(to, speedup, isfinite(mean.mid), mean.mid);
	REPORT_SET_IF(to, speedup_ci,
		      isfinite(mean.mid) && isfinite(mean.low) && isfinite(mean.high),
		      (struct report_interval){ mean.low, mean.high });
	return true;
}

static bool fill_geomeans(const struct table *t, const struct column *c,
			  struct report_suite_column *to, struct arena *arena)
{
	struct report_suite_geomeans *both = report_new_suite_geomeans(1, arena);
	struct report_suite_geomean *each = report_new_suite_geomean(2, arena);

	if (!both || !each || !fill_geomean(t, c, true, &each[0]) ||
	    !fill_geomean(t, c, false, &each[1]))
		return false;
	REPORT_SET(both, common, &each[0]);
	REPORT_SET(both, own, &each[1]);
	REPORT_SET(to, geomean, both);
	return true;
}

static bool fill_distribution(const struct table *t, const struct column *c,
			      struct report_suite_column *to, struct arena *arena)
{
	struct report_suite_quantiles *q = report_new_suite_quantiles(1, arena);
	double *speedups = ARENA_ARRAY(arena, double, (size_t)t->n_workloads + 1);
	int64_t *bars = ARENA_ARRAY(arena, int64_t, SUITE_BUCKETS);
	int counts[SUITE_BUCKETS], n = 0;

	if (!q || !speedups || !bars)
		return false;
	for (int w = 0; w < t->n_workloads; w++)
		if (!isnan(speedup_of(c->results[w])))
			speedups[n++] = speedup_of(c->results[w]);
	if (n == 0)
		return true;
	suite_histogram(speedups, n, counts);
	for (int i = 0; i < SUITE_BUCKETS; i++)
		bars[i] = counts[i];
	stats_sort(speedups, n);
	REPORT_SET(q, min, stats_quantile(speedups, n, 0));
	REPORT_SET(q, q25, stats_quantile(speedups, n, 0.25));
	REPORT_SET(q, median, stats_quantile(speedups, n, 0.5));
	REPORT_SET(q, q75, stats_quantile(speedups, n, 0.75));
	REPORT_SET(q, max, stats_quantile(speedups, n, 1));
	REPORT_SET(to, quantiles, q);
	REPORT_SET(to, histogram, (struct report_integers){ bars, SUITE_BUCKETS });
	return true;
}

/* Sums over what ran. */
static bool fill_totals(const struct table *t, const struct column *c,
			struct report_suite_column *to, struct arena *arena)
{
	struct report_suite_breaks *breaks = report_new_suite_breaks(1, arena);
	int64_t capture = 0, lowering = 0, recompiles = 0;
	double compile_ms = 0;

	if (!breaks)
		return false;
	for (int w = 0; w < t->n_workloads; w++) {
		const struct suite_result *r = c->results[w];

		if (!r || r->status > SUITE_DISAGREES)
			continue;
		compile_ms += isfinite(r->compile_ms) ? r->compile_ms : 0;
		capture += r->capture_breaks > 0 ? r->capture_breaks : 0;
		lowering += r->lowering_breaks > 0 ? r->lowering_breaks : 0;
		recompiles += r->recompiles > 0 ? r->recompiles : 0;
	}
	REPORT_SET(breaks, capture, capture);
	REPORT_SET(breaks, lowering, lowering);
	REPORT_SET(to, compile_ms, compile_ms);
	REPORT_SET(to, breaks, breaks);
	REPORT_SET(to, recompiles, recompiles);
	return true;
}

static bool fill_column(const struct table *t, const struct column *c,
			struct report_suite_column *to, struct arena *arena)
{
	const int *n = c->counts;
	int ended = n[SUITE_PASS] + n[SUITE_DISAGREES] + n[SUITE_FAILED];

	REPORT_SET(to, engine, c->engine);
	REPORT_SET(to, policy, c->policy);
	REPORT_SET(to, mode, c->mode);
	REPORT_SET(to, workloads, t->n_workloads);
	REPORT_SET(to, pass, n[SUITE_PASS]);
	REPORT_SET(to, disagrees, n[SUITE_DISAGREES]);
	REPORT_SET(to, failed, n[SUITE_FAILED]);
	REPORT_SET(to, cancelled, n[SUITE_CANCELLED]);
	REPORT_SET(to, waiting, n[SUITE_WAITING]);
	if (ended)
		REPORT_SET(to, pass_rate, (double)n[SUITE_PASS] / ended);
	return fill_geomeans(t, c, to, arena) && fill_distribution(t, c, to, arena) &&
	       fill_totals(t, c, to, arena);
}

static bool fill_result(const struct suite_result *r, struct report_suite_result *to,
			struct arena *arena)
{
	struct report_suite_breaks *breaks = report_new_suite_breaks(1, arena);

	if (!breaks)
		return false;
	REPORT_SET_IF(breaks, capture, r->capture_breaks >= 0, r->capture_breaks);
	REPORT_SET_IF(breaks, lowering, r->lowering_breaks >= 0, r->lowering_breaks);
	REPORT_SET(to, engine, r->engine);
	REPORT_SET(to, policy, r->policy);
	REPORT_SET(to, mode, r->mode);
	REPORT_SET(to, status, status_names[r->status]);
	if (r->reason)
		REPORT_SET(to, reason, r->reason);
	if (r->run)
		REPORT_SET(to, run, r->run);
	if (r->kept_ns)
		REPORT_SET(to, kept_ns, r->kept_ns);
	REPORT_SET_IF(to, speedup, isfinite(r->speedup.mid), r->speedup.mid);
	REPORT_SET_IF(to, speedup_ci,
		      isfinite(r->speedup.mid) && isfinite(r->speedup.low) &&
			  isfinite(r->speedup.high),
		      (struct report_interval){ r->speedup.low, r->speedup.high });
	REPORT_SET_IF(to, median_us, isfinite(r->median_us), r->median_us);
	REPORT_SET_IF(to, compile_ms, isfinite(r->compile_ms), r->compile_ms);
	REPORT_SET_IF(to, launches, isfinite(r->launches), r->launches);
	REPORT_SET_IF(to, peak_bytes, isfinite(r->peak_bytes), r->peak_bytes);
	REPORT_SET_IF(to, max_abs_error, isfinite(r->max_abs_error), r->max_abs_error);
	REPORT_SET_IF(to, graphs, r->graphs >= 0, r->graphs);
	REPORT_SET(to, breaks, breaks);
	REPORT_SET_IF(to, recompiles, r->recompiles >= 0, r->recompiles);
	return true;
}

static bool fill_workload(const struct table *t, int w, struct report_suite_workload *to,
			  struct arena *arena)
{
	struct report_suite_result *results = report_new_suite_result((size_t)t->n_columns, arena);
	size_t n = 0;
	bool ok = results != NULL;

	for (int c = 0; ok && c < t->n_columns; c++)
		if (t->columns[c].results[w])
			ok = fill_result(t->columns[c].results[w], &results[n++], arena);
	REPORT_SET(to, common, t->common[w]);
	REPORT_SET(to, results, (struct report_suite_result_list){ results, n });
	return ok;
}

static bool fill_workloads(const struct table *t, const char *const *names, struct report_suite *to,
			   struct arena *arena)
{
	struct report_suite_workload *all = report_new_suite_workload((size_t)t->n_workloads,
								      arena);
	bool ok = all != NULL;

	for (int w = 0; ok && w < t->n_workloads; w++) {
		REPORT_SET(&all[w], name, names[w]);
		ok = fill_workload(t, w, &all[w], arena);
	}
	REPORT_SET(to, workloads,
		   (struct report_suite_workload_list){ all, (size_t)t->n_workloads });
	return ok;
}

static bool fill_columns(const struct table *t, struct report_suite *to, struct arena *arena)
{
	struct report_suite_column *all = report_new_suite_column((size_t)t->n_columns, arena);
	bool ok = all != NULL;

	for (int c = 0; ok && c < t->n_columns; c++)
		ok = fill_column(t, &t->columns[c], &all[c], arena);
	REPORT_SET(to, columns, (struct report_suite_column_list){ all, (size_t)t->n_columns });
	return ok;
}

/* Results by status, over all columns. */
static void fill_progress(const struct table *t, struct report_suite_progress *to)
{
	int n[SUITE_STATUS_COUNT] = { 0 };

	for (int c = 0; c < t->n_columns; c++)
		for (int s = 0; s < SUITE_STATUS_COUNT; s++)
			n[s] += t->columns[c].counts[s];
	REPORT_SET(to, pass, n[SUITE_PASS]);
	REPORT_SET(to, disagrees, n[SUITE_DISAGREES]);
	REPORT_SET(to, failed, n[SUITE_FAILED]);
	REPORT_SET(to, cancelled, n[SUITE_CANCELLED]);
	REPORT_SET(to, waiting, n[SUITE_WAITING]);
}

/* ---- causes ---- */

/* How much of `text` differs from program to program, and what stands for it; 0: nothing. */
static size_t differs(const char *text, bool named, const char **as)
{
	const char *end = *text == '\'' ? strchr(text + 1, '\'') : NULL;
	size_t n = 0;

	*as = end || named ? "'...'" : "N";
	if (end)
		return (size_t)(end - text) + 1;
	if (named)
		return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_.");
	while (isdigit((unsigned char)text[n]) ||
	       (n && text[n] == '.' && isdigit((unsigned char)text[n + 1])))
		n++;
	return n;
}

/* A reason without its line, names, numbers, and advice after a semicolon. */
static const char *cause_of(const char *reason, struct arena *arena)
{
	static const char before_name[] = " attribute ";
	const size_t mark = sizeof(before_name) - 1;
	struct buf text;
	const char *at = reason, *cause;

	if (strncmp(at, "line ", 5) == 0 && strstr(at, ": "))
		at = strstr(at, ": ") + 2;
	buf_init(&text, 0);
	buf_puts(&text, "");
	for (; *at && *at != ';';) {
		bool named = (size_t)(at - reason) >= mark &&
			     memcmp(at - mark, before_name, mark) == 0;
		const char *as;
		size_t n = differs(at, named, &as);

		if (n)
			buf_puts(&text, as);
		else
			buf_putc(&text, *at);
		at += n ? n : 1;
	}
	cause = text.failed ? NULL : arena_strdup(arena, text.data);
	buf_finish(&text);
	return cause;
}

/* The workload under its cause, once. */
static bool add_cause(struct report_suite_cause_list *list, const struct suite_result *r,
		      const char *name, size_t most, struct arena *arena)
{
	const char *reason = r->reason ? r->reason : "no reason was kept";
	const char *cause = cause_of(reason, arena), *status = status_names[r->status];
	struct report_suite_cause *at = list->at;
	const char **names;

	if (!cause)
		return false;
	while (at < list->at + list->n &&
	       (strcmp(at->cause, cause) != 0 || strcmp(at->status, status) != 0))
		at++;
	if (at == list->at + list->n) {
		names = ARENA_ARRAY(arena, const char *, most);
		if (!names)
			return false;
		list->n++;
		REPORT_SET(at, status, status);
		REPORT_SET(at, cause, cause);
		REPORT_SET(at, example, reason);
		REPORT_SET(at, workloads, (struct report_texts){ names, 0 });
	}
	if (!at->workloads.n || at->workloads.at[at->workloads.n - 1] != name)
		((const char **)at->workloads.at)[at->workloads.n++] = name;
	return true;
}

static int by_frequency(const void *a, const void *b)
{
	const struct report_suite_cause *x = a, *y = b;

	return x->workloads.n != y->workloads.n ? (x->workloads.n < y->workloads.n ? 1 : -1)
						: strcmp(x->cause, y->cause);
}

static bool fill_causes(const struct table *t, const char *const *names, struct report_suite *to,
			struct arena *arena)
{
	size_t results = (size_t)t->n_workloads * (size_t)t->n_columns;
	struct report_suite_cause_list list = { report_new_suite_cause(results, arena), 0 };
	bool ok = list.at != NULL || !results;

	for (int w = 0; ok && w < t->n_workloads; w++)
		for (int c = 0; ok && c < t->n_columns; c++) {
			const struct suite_result *r = t->columns[c].results[w];

			if (r && (r->status == SUITE_FAILED || r->status == SUITE_DISAGREES))
				ok = add_cause(&list, r, names[w], (size_t)t->n_workloads, arena);
		}
	if (list.n)
		qsort(list.at, list.n, sizeof(*list.at), by_frequency);
	REPORT_SET(to, causes, list);
	return ok;
}

/* ---- in words ---- */

const char *suite_column_name(struct wording *w, const char *engine, const char *policy,
			      const char *mode)
{
	return wording_text(w, "%s%s%s%s%s", strcmp(engine, "breakeven") == 0 ? "" : engine,
			    strcmp(engine, "breakeven") == 0 ? "" : " ", mode,
			    strcmp(policy, "dynamo") == 0 ? "" : ", ",
			    strcmp(policy, "dynamo") == 0 ? "" : policy);
}

/* The column with the greatest geomean over the common set; NULL: none has one. */
static const struct report_suite_column *fastest(const struct report_suite *suite)
{
	const struct report_suite_column *best = NULL;

	for (size_t i = 0; i < suite->columns.n; i++) {
		const struct report_suite_column *c = &suite->columns.at[i];
		const struct report_suite_geomean *mean = c->geomean->common;

		if (strcmp(c->mode, "eager") != 0 && mean->has.speedup &&
		    (!best || mean->speedup > best->geomean->common->speedup))
			best = c;
	}
	return best;
}

static const char *passing(struct wording *w, const struct report_suite *suite)
{
	int64_t bad = 0, most = 0, ran = INT64_MAX, waiting = 0;
	size_t n = suite->columns.n;

	for (size_t i = 0; i < n; i++) {
		const struct report_suite_column *c = &suite->columns.at[i];

		bad += c->failed + c->disagrees > 0;
		most = c->workloads > most ? c->workloads : most;
		ran = c->pass < ran ? c->pass : ran;
		waiting = c->waiting > waiting ? c->waiting : waiting;
	}
	if (bad)
		return wording_text(w, "Workloads did not pass in %lld of %s.", (long long)bad,
				    wording_plural(w, (int64_t)n, "mode", "modes"));
	if (most && ran == most)
		return "Every workload passes in every mode.";
	if (n && ran && waiting)
		return wording_text(
		    w, "Every workload that has ended passes; %lld of %lld %s to come.",
		    (long long)waiting, (long long)most, waiting == 1 ? "is" : "are");
	return n && most && ran
		   ? wording_text(w, "Every workload that ran passes; %lld of %lld did not run.",
				  (long long)(most - ran), (long long)most)
		   : "No workload has run in every mode.";
}

const char *suite_rate_text(struct wording *w, double rate)
{
	return isnan(rate) ? "none ended" : wording_text(w, "%.0f %%", 100 * rate);
}

/* A speedup without an interval: "1.32x". */
static const char *times_text(struct wording *w, double speedup)
{
	return wording_text(w, "%sx", wording_number(w, speedup));
}

static struct report_figure *times_of(struct wording *w, double speedup, struct report_interval ci)
{
	return wording_figure(w, &(struct interval){ ci.low, speedup, ci.high }, "x");
}

/* Of compiling: where every op broke, or eager alone ran, there is none. */
static const char *compiling_text(struct wording *w, double ms)
{
	char text[NUMBER_BYTES];

	number_duration(text, 1000 * ms);
	return ms > 0 ? wording_text(w, "%s", text) : "none";
}

/* "2 failed, 1 disagrees" */
static const char *not_passed(struct wording *w, const struct report_suite_column *c)
{
	const struct {
		int64_t n;
		const char *one, *many;
	} parts[] = { { c->failed, "failed", "failed" },
		      { c->disagrees, "disagrees", "disagree" },
		      { c->cancelled, "cancelled", "cancelled" },
		      { c->waiting, "to come", "to come" } };
	const char *text = "";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].n)
			text = wording_text(
			    w, "%s%s%s", text, *text ? ", " : "",
			    wording_plural(w, parts[i].n, parts[i].one, parts[i].many));
	return text;
}

/* By the rule of a run: what had too few rounds has no speedup here. */
static const char *verdict_word_of(double speedup, struct report_interval ci)
{
	return verdict_word(
	    verdict_of(&(struct interval){ ci.low, speedup, ci.high }, STATS_MIN_SAMPLES));
}

static void show_column(struct wording *w, struct report_suite_column *c)
{
	struct report_suite_shown *to = report_new_suite_shown(1, w->arena);
	const struct report_suite_geomean *mean = c->geomean->common, *own = c->geomean->own;
	const struct report_suite_quantiles *q = c->quantiles;

	w->failed |= !to;
	if (!to)
		return;
	REPORT_SET(to, passed,
		   wording_text(w, "%s of %s", wording_number(w, (double)c->pass),
				wording_number(w, (double)c->workloads)));
	REPORT_SET(to, not_passed, not_passed(w, c));
	REPORT_SET(to, pass_rate, suite_rate_text(w, c->pass_rate));
	REPORT_SET_IF(to, geomean, mean->has.speedup, times_of(w, mean->speedup, mean->speedup_ci));
	REPORT_SET_IF(to, verdict, mean->has.speedup,
		      verdict_word_of(mean->speedup, mean->speedup_ci));
	REPORT_SET_IF(to, own, own->has.speedup,
		      wording_text(w, "%s of %s", times_text(w, own->speedup),
				   wording_number(w, (double)own->n)));
	REPORT_SET_IF(to, min, q, times_text(w, q->min));
	REPORT_SET_IF(to, median, q, times_text(w, q->median));
	REPORT_SET_IF(to, max, q, times_text(w, q->max));
	REPORT_SET(to, compiling, compiling_text(w, c->compile_ms));
	REPORT_SET(c, shown, to);
}

static void show_result(struct wording *w, struct report_suite_result *r)
{
	struct report_suite_result_shown *to = report_new_suite_result_shown(1, w->arena);
	bool known = r->breaks->has.capture && r->breaks->has.lowering;

	w->failed |= !to;
	if (!to)
		return;
	REPORT_SET_IF(to, speedup, r->has.speedup, times_of(w, r->speedup, r->speedup_ci));
	REPORT_SET_IF(to, verdict, r->has.speedup, verdict_word_of(r->speedup, r->speedup_ci));
	REPORT_SET(to, breaks,
		   !known ? "unknown"
			  : wording_text(w, "%lld + %lld", (long long)r->breaks->capture,
					 (long long)r->breaks->lowering));
	REPORT_SET_IF(to, launches, r->has.launches, wording_number(w, r->launches));
	REPORT_SET_IF(to, peak, r->has.peak_bytes, wording_bytes(w, (int64_t)r->peak_bytes));
	REPORT_SET_IF(to, compiling, r->has.compile_ms, compiling_text(w, r->compile_ms));
	REPORT_SET(r, shown, to);
}

static bool show(const struct report_suite *suite, struct arena *arena)
{
	struct wording w = { .arena = arena };

	for (size_t i = 0; i < suite->columns.n; i++)
		show_column(&w, &suite->columns.at[i]);
	for (size_t i = 0; i < suite->workloads.n; i++)
		for (size_t k = 0; k < suite->workloads.at[i].results.n; k++)
			show_result(&w, &suite->workloads.at[i].results.at[k]);
	return !w.failed;
}

/* The columns whose interval reaches into that of `best`: "dynamic and static, native". */
static const char *as_fast(struct wording *w, const struct report_suite *suite,
			   const struct report_suite_column *best)
{
	const char *all = "", *last = "";

	for (size_t i = 0; i < suite->columns.n; i++) {
		const struct report_suite_column *c = &suite->columns.at[i];
		const struct report_suite_geomean *mean = c->geomean->common;

		if (c == best || strcmp(c->mode, "eager") == 0 || !mean->has.speedup ||
		    mean->speedup_ci.high < best->geomean->common->speedup_ci.low)
			continue;
		all = *last ? wording_text(w, "%s%s%s", all, *all ? "; " : "", last) : all;
		last = suite_column_name(w, c->engine, c->policy, c->mode);
	}
	return *all ? wording_text(w, "%s and %s", all, last) : last;
}

static bool say(struct report_suite *suite, struct arena *arena)
{
	struct wording w = { .arena = arena };
	struct report_sentence_part_list parts;
	struct sentence s = sentence_begin(&w, &parts);
	const struct report_suite_column *best = fastest(suite);
	const char *passes = passing(&w, suite), *others;
	struct report_figure *times;
	int64_t waiting = 0;

	for (size_t i = 0; i < suite->columns.n; i++)
		waiting += suite->columns.at[i].waiting;

	if (!best) {
		sentence_add(&s, PART_CLAIM,
			     waiting ? "No speedup to compare yet." : "No speedup to compare.");
		sentence_add(&s, PART_PLAIN, " %s", passes);
	} else {
		const struct report_suite_geomean *mean = best->geomean->common;

		times = times_of(&w, mean->speedup, mean->speedup_ci);
		others = as_fast(&w, suite, best);
		sentence_add(&s, PART_CLAIM, "%s %s: %s",
			     suite_column_name(&w, best->engine, best->policy, best->mode),
			     *others ? "has the highest speedup" : "is the fastest",
			     times ? times->text : "");
		sentence_interval(&s, times);
		sentence_add(&s, PART_CLAIM, " over eager");
		sentence_add(
		    &s, PART_PLAIN,
		    ", the geometric mean of the %s that all modes have in common%s%s%s. %s",
		    wording_plural(&w, suite->common->n, "workload", "workloads"),
		    *others ? "; " : "", others, *others ? " cannot be told apart from it" : "",
		    passes);
	}
	REPORT_SET(suite, sentence, parts);
	return !w.failed;
}

static bool fill(const struct table *t, const char *const *names, struct report_suite *to,
		 struct arena *arena)
{
	struct report_suite_common *common = report_new_suite_common(1, arena);
	struct report_suite_progress *progress = report_new_suite_progress(1, arena);
	double *edges = ARENA_ARRAY(arena, double, SUITE_BUCKETS);

	if (!common || !progress || !edges)
		return false;
	for (int i = 1; i < SUITE_BUCKETS; i++)
		edges[i - 1] = suite_edge(i);
	REPORT_SET(common, n, t->n_common);
	REPORT_SET(common, of, t->n_workloads);
	fill_progress(t, progress);
	REPORT_SET(to, breakeven_suite, 1);
	REPORT_SET(to, common, common);
	REPORT_SET(to, histogram_edges, (struct report_reals){ edges, SUITE_BUCKETS - 1 });
	REPORT_SET(to, results, progress);
	return fill_columns(t, to, arena) && fill_workloads(t, names, to, arena) &&
	       fill_causes(t, names, to, arena) && show(to, arena) && say(to, arena);
}

json_t *suite_report(const char *const *names, int n_workloads, const struct suite_result *results,
		     int n_results, struct err *err)
{
	struct table t = { .n_workloads = n_workloads };
	struct arena arena = { 0 };
	struct report_suite *to = report_new_suite(1, &arena);
	json_t *report = NULL;

	if (to && table_fill(&t, results, n_results) && fill(&t, names, to, &arena))
		report = report_write_suite(to);
	if (!report)
		err_set(err, ERR_MEMORY, "out of memory for the report of a suite");
	table_finish(&t);
	arena_finish(&arena);
	return report;
}
