/* profiler/suite/compare.c -- two suites, workload by workload: see suite.h.
 *
 * What is compared is the speedup over eager, each suite's against its own eager: the pace
 * of the machine, which both share, cancels out.  Its change has an interval: half-widths
 * of independent logs add up in quadrature, as in stats.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/findings/sentence.h"
#include "profiler/measure/break_even.h"
#include "profiler/suite/suite.h"
#include "profiler/suite/stats.h"

/* A speedup that a suite's report has was of enough rounds. */
enum { ENOUGH_ROUNDS = 1000 };

/* A column of a suite, or of a result in it. */
struct change_column {
	const char *engine, *policy, *mode;
};

#define COLUMN_OF(x) ((struct change_column){ (x)->engine, (x)->policy, (x)->mode })

static bool same_column(struct change_column a, struct change_column b)
{
	return strcmp(a.engine, b.engine) == 0 && strcmp(a.policy, b.policy) == 0 &&
	       strcmp(a.mode, b.mode) == 0;
}

/* Of several workloads of one name the last. */
static const struct report_suite_workload *find_named(const struct report_suite *s,
						      const char *name)
{
	for (size_t i = s->workloads.n; i-- > 0;)
		if (strcmp(s->workloads.at[i].name, name) == 0)
			return &s->workloads.at[i];
	return NULL;
}

static const struct report_suite_result *find_result(const struct report_suite_workload *w,
						     struct change_column of)
{
	for (size_t i = 0; w && i < w->results.n; i++)
		if (same_column(COLUMN_OF(&w->results.at[i]), of))
			return &w->results.at[i];
	return NULL;
}

static const struct report_suite_column *find_column(const struct report_suite *s,
						     struct change_column of)
{
	for (size_t i = 0; i < s->columns.n; i++)
		if (same_column(COLUMN_OF(&s->columns.at[i]), of))
			return &s->columns.at[i];
	return NULL;
}

static enum suite_status status_of(const struct report_suite_result *r)
{
	enum suite_status status = SUITE_WAITING;

	suite_status_from_name(r->status, &status);
	return status;
}

static bool has_ended(enum suite_status status)
{
	return status == SUITE_PASS || status == SUITE_DISAGREES || status == SUITE_FAILED;
}

/* Pass to not pass, and back; "" where neither, or where one has not ended. */
static const char *turn_of(enum suite_status before, enum suite_status after)
{
	if (!has_ended(before) || !has_ended(after))
		return "unknown";
	if (before == SUITE_PASS)
		return after == SUITE_PASS ? "passes" : "broken";
	return after == SUITE_PASS ? "fixed" : "still-bad";
}

/* A result's speedup; false where it has none with an interval. */
static bool speedup_of(const struct report_suite_result *r, struct interval *out)
{
	*out = (struct interval){ r->speedup_ci.low, r->speedup, r->speedup_ci.high };
	return status_of(r) == SUITE_PASS && out->low > 0 && out->mid >= out->low &&
	       out->high >= out->mid;
}

/* After over before. */
static struct interval ratio_of(const struct interval *before, const struct interval *after)
{
	double mid = log(after->mid / before->mid);
	double below = hypot(log(after->mid / after->low), log(before->high / before->mid));
	double above = hypot(log(after->high / after->mid), log(before->mid / before->low));

	return (struct interval){ exp(mid - below), exp(mid), exp(mid + above) };
}

static const char *word_of(const struct interval *ratio)
{
	return verdict_word(verdict_of(ratio, ENOUGH_ROUNDS));
}

/* The change of a workload in a column; false where it has none. */
static bool change_of(const struct report_suite_result *old, const struct report_suite_result *new,
		      struct interval *out)
{
	struct interval a, b;

	if (!speedup_of(old, &a) || !speedup_of(new, &b))
		return false;
	*out = ratio_of(&a, &b);
	return true;
}

/* Two suites on their way to a comparison. */
struct suites {
	const struct report_suite *before, *after;
	struct report_draft draft;
	struct wording wording; /* texts, in the draft's arena */
};

/* The geomean of the changes that were seen, and how many. */
static struct report_suite_change *geomean_of(struct suites *s, const struct interval *ratios,
					      int n)
{
	struct report_suite_change *to = report_new_suite_change(1, &s->draft.arena);
	struct interval mean;

	if (!to)
		return NULL;
	REPORT_SET(to, n, n);
	if (n == 0)
		return to;
	mean = suite_geomean(ratios, n);
	REPORT_SET(to, ratio, mean.mid);
	REPORT_SET(to, ratio_ci, (struct report_interval){ mean.low, mean.high });
	REPORT_SET(to, verdict, word_of(&mean));
	REPORT_SET(to, figure, wording_figure(&s->wording, &mean, "x"));
	return to;
}

static int64_t *count_of(struct report_suite_column_change *to, const char *word)
{
	const struct {
		const char *word;
		int64_t *count;
	} rows[] = { { "broken", &to->broken }, { "fixed", &to->fixed },
		     { "FASTER", &to->FASTER }, { "SLOWER", &to->SLOWER },
		     { "SAME", &to->SAME },     { "AMBIGUOUS", &to->AMBIGUOUS } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].word, word) == 0)
			return rows[i].count;
	return NULL;
}

static void count(struct report_suite_column_change *to, const char *word)
{
	int64_t *n = count_of(to, word);

	if (n)
		++*n;
}

/* One column of both: counts of what turned, and of the ratios. */
static bool fill_column(struct report_suite_column_change *to, struct suites *s,
			const struct report_suite_column *old,
			const struct report_suite_column *column)
{
	struct report_suite_workload_list workloads = s->after->workloads;
	struct interval *ratios = ARENA_ARRAY(&s->draft.arena, struct interval, workloads.n + 1);
	int n = 0;

	REPORT_SET(to, engine, column->engine);
	REPORT_SET(to, policy, column->policy);
	REPORT_SET(to, mode, column->mode);
	REPORT_SET_IF(to, pass_rate_before, old->has.pass_rate, old->pass_rate);
	REPORT_SET_IF(to, pass_rate_after, column->has.pass_rate, column->pass_rate);
	REPORT_SET(to, pass_rates,
		   wording_text(&s->wording, "%s to %s",
				suite_rate_text(&s->wording, old->pass_rate),
				suite_rate_text(&s->wording, column->pass_rate)));
	REPORT_SET(to, broken, 0);
	REPORT_SET(to, fixed, 0);
	REPORT_SET(to, FASTER, 0);
	REPORT_SET(to, SLOWER, 0);
	REPORT_SET(to, SAME, 0);
	REPORT_SET(to, AMBIGUOUS, 0);
	for (size_t i = 0; ratios && i < workloads.n; i++) {
		const struct report_suite_workload *w = &workloads.at[i];
		const struct report_suite_result *was = find_result(find_named(s->before, w->name),
								    COLUMN_OF(column)),
						 *now = find_result(w, COLUMN_OF(column));

		if (!was || !now)
			continue;
		count(to, turn_of(status_of(was), status_of(now)));
		if (change_of(was, now, &ratios[n]))
			count(to, word_of(&ratios[n++]));
	}
	REPORT_SET(to, geomean, geomean_of(s, ratios, n));
	return ratios != NULL;
}

/* A result of both suites. */
static void fill_result(struct report_suite_result_change *to, struct suites *s,
			const struct report_suite_result *old,
			const struct report_suite_result *new)
{
	struct interval ratio;

	REPORT_SET(to, engine, new->engine);
	REPORT_SET(to, policy, new->policy);
	REPORT_SET(to, mode, new->mode);
	REPORT_SET(to, before, suite_status_name(status_of(old)));
	REPORT_SET(to, after, suite_status_name(status_of(new)));
	REPORT_SET(to, turn, turn_of(status_of(old), status_of(new)));
	REPORT_SET_IF(to, reason, new->reason, new->reason);
	REPORT_SET_IF(to, run_before, old->has.run, old->run);
	REPORT_SET_IF(to, run, new->has.run, new->run);
	REPORT_SET_IF(to, speedup, new->has.speedup, new->speedup);
	REPORT_SET_IF(to, speedup_before, old->has.speedup, old->speedup);
	if (!change_of(old, new, &ratio))
		return;
	REPORT_SET(to, ratio, ratio.mid);
	REPORT_SET(to, ratio_ci, (struct report_interval){ ratio.low, ratio.high });
	REPORT_SET(to, verdict, word_of(&ratio));
	REPORT_SET(to, figure, wording_figure(&s->wording, &ratio, "x"));
	REPORT_SET(to, shown_before,
		   wording_text(&s->wording, "%sx", wording_number(&s->wording, old->speedup)));
	REPORT_SET(to, shown,
		   wording_text(&s->wording, "%sx", wording_number(&s->wording, new->speedup)));
}

static void fill_workload(struct report_suite_workload_change *to, struct suites *s,
			  const struct report_suite_workload *old,
			  const struct report_suite_workload *new)
{
	struct report_suite_result_change *results = report_new_suite_result_change(
	    new->results.n, &s->draft.arena);
	size_t n = 0;

	for (size_t i = 0; results && i < new->results.n; i++) {
		const struct report_suite_result *now = &new->results.at[i];
		const struct report_suite_result *was = find_result(old, COLUMN_OF(now));

		if (was)
			fill_result(&results[n++], s, was, now);
	}
	REPORT_SET(to, name, new->name);
	REPORT_SET(to, results, (struct report_suite_result_change_list){ results, n });
}

/* Names of workloads that the other suite has not. */
static struct report_texts only_in(struct suites *s, const struct report_suite *x,
				   const struct report_suite *other)
{
	const char **names = ARENA_ARRAY(&s->draft.arena, const char *, x->workloads.n + 1);
	size_t n = 0;

	for (size_t i = 0; names && i < x->workloads.n; i++)
		if (!find_named(other, x->workloads.at[i].name))
			names[n++] = x->workloads.at[i].name;
	return (struct report_texts){ names, names ? n : 1 };
}

static struct report_suite_column_change_list columns_of(struct suites *s)
{
	struct report_suite_column_list columns = s->after->columns;
	struct report_suite_column_change *all = report_new_suite_column_change(columns.n,
										&s->draft.arena);
	size_t n = 0;

	for (size_t i = 0; all && i < columns.n; i++) {
		const struct report_suite_column *old = find_column(s->before,
								    COLUMN_OF(&columns.at[i]));

		if (old && !fill_column(&all[n++], s, old, &columns.at[i]))
			all = NULL;
	}
	return (struct report_suite_column_change_list){ all, all ? n : 1 };
}

static struct report_suite_workload_change_list workloads_of(struct suites *s)
{
	struct report_suite_workload_list workloads = s->after->workloads;
	struct report_suite_workload_change *all = report_new_suite_workload_change(
	    workloads.n, &s->draft.arena);
	size_t n = 0;

	for (size_t i = 0; all && i < workloads.n; i++) {
		const struct report_suite_workload *old = find_named(s->before,
								     workloads.at[i].name);

		if (old)
			fill_workload(&all[n++], s, old, &workloads.at[i]);
	}
	return (struct report_suite_workload_change_list){ all, all ? n : 1 };
}

/* ---- in words */

/* How many workloads turned so in some column. */
static int64_t turned(const struct report_suite_comparison *c, const char *turn)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->workloads.n; i++) {
		struct report_suite_result_change_list results = c->workloads.at[i].results;
		bool any = false;

		for (size_t k = 0; k < results.n; k++)
			any |= strcmp(results.at[k].turn, turn) == 0;
		n += any;
	}
	return n;
}

/* The column whose speedups changed most; NULL: none has a change. */
static const struct report_suite_column_change *
changed_most(const struct report_suite_comparison *c)
{
	const struct report_suite_column_change *most = NULL;

	for (size_t i = 0; i < c->columns.n; i++) {
		const struct report_suite_column_change *x = &c->columns.at[i];

		if (x->geomean->has.ratio &&
		    (!most || fabs(log(x->geomean->ratio)) > fabs(log(most->geomean->ratio))))
			most = x;
	}
	return most;
}

/* How many results have a change with that verdict; NULL: with any. */
static int64_t with_verdict(const struct report_suite_comparison *c, const char *verdict)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->workloads.n; i++) {
		struct report_suite_result_change_list results = c->workloads.at[i].results;

		for (size_t k = 0; k < results.n; k++)
			n += results.at[k].has.ratio &&
			     (!verdict || strcmp(results.at[k].verdict, verdict) == 0);
	}
	return n;
}

static void say_turns(struct sentence *s, const struct report_suite_comparison *c)
{
	int64_t broken = turned(c, "broken"), fixed = turned(c, "fixed");

	if (broken)
		sentence_add(s, PART_CLAIM, "%s passed before and %s not now",
			     wording_plural(s->wording, broken, "workload", "workloads"),
			     broken == 1 ? "does" : "do");
	else
		sentence_add(s, PART_CLAIM, "Nothing that passed is broken");
	if (fixed)
		sentence_add(s, PART_CLAIM, ", and %s %s fixed",
			     wording_plural(s->wording, fixed, "workload", "workloads"),
			     fixed == 1 ? "is" : "are");
	sentence_add(s, PART_CLAIM, ".");
}

static void say_speedups(struct sentence *s, const struct report_suite_comparison *c)
{
	const struct report_suite_column_change *most = changed_most(c);
	struct report_figure *times;

	if (!most) {
		sentence_add(s, PART_PLAIN, " There is no speedup in both to compare.");
		return;
	}
	times = wording_figure(s->wording,
			       &(struct interval){ most->geomean->ratio_ci.low,
						   most->geomean->ratio,
						   most->geomean->ratio_ci.high },
			       "x");
	sentence_add(s, PART_PLAIN, " The speedup of %s is %s",
		     suite_column_name(s->wording, most->engine, most->policy, most->mode),
		     times ? times->text : "");
	sentence_interval(s, times);
	sentence_add(s, PART_PLAIN,
		     " of what it was, the geometric mean of %s. Of %s %lld rose and %lld fell by "
		     "more than their intervals and 2 %%.",
		     wording_plural(s->wording, most->geomean->n, "workload", "workloads"),
		     wording_plural(s->wording, with_verdict(c, NULL), "speedup", "speedups"),
		     (long long)with_verdict(c, verdict_word(VERDICT_FASTER)),
		     (long long)with_verdict(c, verdict_word(VERDICT_SLOWER)));
}

static bool say(struct report_suite_comparison *to, struct arena *arena)
{
	struct wording w = { .arena = arena };
	struct report_sentence_part_list parts;
	struct sentence s = sentence_begin(&w, &parts);

	if (w.failed || !to->columns.at || !to->workloads.at)
		return false;
	say_turns(&s, to);
	say_speedups(&s, to);
	REPORT_SET(to, sentence, parts);
	return !w.failed;
}

static json_t *compare(struct suites *s)
{
	struct report_suite_comparison *to = report_new_suite_comparison(1, &s->draft.arena);

	if (!to)
		return NULL;
	REPORT_SET(to, breakeven_suites, 1);
	REPORT_SET(to, columns, columns_of(s));
	REPORT_SET(to, workloads, workloads_of(s));
	REPORT_SET(to, only_before, only_in(s, s->before, s->after));
	REPORT_SET(to, only_after, only_in(s, s->after, s->before));
	return !s->wording.failed && say(to, &s->draft.arena) ? report_write_suite_comparison(to)
							      : NULL;
}

json_t *suite_compare(const json_t *before, const json_t *after, struct err *err)
{
	struct suites s = { 0 };
	struct err why = { 0 };
	json_t *json = NULL;

	s.wording.arena = &s.draft.arena;
	s.before = report_read_suite(before, &s.draft.arena, &why);
	s.after = s.before ? report_read_suite(after, &s.draft.arena, &why) : NULL;
	if (!s.after) {
		err_set(err, ERR_JSON, "no report of a suite: %.400s", why.message);
	} else {
		json = compare(&s);
		if (!json)
			err_set(err, ERR_MEMORY, "out of memory for a comparison of suites");
	}
	report_draft_finish(&s.draft);
	return json;
}
