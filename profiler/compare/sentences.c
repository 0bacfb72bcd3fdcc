/* profiler/compare/sentences.c -- a comparison in words. */
#include "profiler/compare/sentences.h"

#include <math.h>
#include <string.h>

#include "profiler/findings/sentence.h"
#include "profiler/measure/break_even.h"
#include "profiler/numbers/numbers.h"

enum { MOST_HOW = 8, MOST_NAMES = 6 };

static bool is(const char *word, enum verdict verdict)
{
	return strcmp(word, verdict_word(verdict)) == 0;
}

static const char *at(struct wording *w, const struct report_compared_figure *f)
{
	return wording_at(w, f->has.n ? f->n : NAN);
}

/* ---- what it says */

/* Both sides, "77.2 µs against 25.8 µs": where that is another ratio than the one before, what
 * that is of. */
static void say_sides(struct sentence *s, const struct report_compared_figure *f)
{
	const struct report_figure *a = f->a->judged, *b = f->b->judged;

	if (!a || !b)
		sentence_add(s, PART_PLAIN, ": %s against %s.", f->b->shown->text,
			     f->a->shown->text);
	else if (f->has.felt)
		sentence_add(s, PART_PLAIN,
			     ": %s against %s, of which the machine's drift is taken out.", b->text,
			     a->text);
	else
		sentence_add(s, PART_PLAIN, ": %s against %s at their lower deciles.", b->text,
			     a->text);
}

static void say_slower(struct sentence *s, const struct report_compared_figure *f, const char *b)
{
	sentence_add(s, PART_CLAIM, "%s takes %s", b, f->times->text);
	sentence_interval(s, f->times);
	sentence_add(s, PART_CLAIM, " as long as A");
	sentence_add(s, PART_PLAIN, " under %s%s", f->mode, at(s->wording, f));
	say_sides(s, f);
}

static void say_faster(struct sentence *s, const struct report_compared_figure *f, const char *b)
{
	struct interval speed = { 1 / f->ci.high, 1 / f->ratio, 1 / f->ci.low };
	const struct report_figure *times = wording_figure(s->wording, &speed, "x");

	sentence_add(s, PART_CLAIM, "%s is %s", b, times ? times->text : "");
	sentence_interval(s, times);
	sentence_add(s, PART_CLAIM, " faster than A");
	sentence_add(s, PART_PLAIN, " under %s%s", f->mode, at(s->wording, f));
	say_sides(s, f);
}

static void say_latency(struct sentence *s, const struct report_compared_figure *f, const char *b)
{
	if (is(f->verdict, VERDICT_SLOWER)) {
		say_slower(s, f, b);
	} else if (is(f->verdict, VERDICT_FASTER)) {
		say_faster(s, f, b);
	} else if (is(f->verdict, VERDICT_SAME)) {
		sentence_add(s, PART_CLAIM, "%s is as fast as A", b);
		sentence_add(s, PART_PLAIN, " under %s%s: %s", f->mode, at(s->wording, f),
			     f->times->text);
		sentence_interval(s, f->times);
		sentence_add(s, PART_PLAIN, ".");
	} else {
		sentence_add(s, PART_CLAIM, "%s may take anywhere from %sx to %sx", b,
			     f->times->low, f->times->high);
		sentence_add(s, PART_PLAIN, " as long as A under %s%s, so no verdict is given.",
			     f->mode, at(s->wording, f));
	}
}

static void say_speedup(struct sentence *s, const struct report_compared_figure *f, const char *b)
{
	sentence_add(s, PART_CLAIM, "The speedup of %s over eager", f->mode);
	if (is(f->verdict, VERDICT_SAME)) {
		sentence_add(s, PART_CLAIM, " is the same in %s as in A", b);
		sentence_add(s, PART_PLAIN, "%s: %s", at(s->wording, f), f->times->text);
		sentence_interval(s, f->times);
		sentence_add(s, PART_PLAIN, ".");
	} else if (is(f->verdict, VERDICT_AMBIGUOUS)) {
		sentence_add(s, PART_CLAIM, " in %s may be anywhere from %sx to %sx of A's", b,
			     f->times->low, f->times->high);
		sentence_add(s, PART_PLAIN, "%s, so no verdict is given.", at(s->wording, f));
	} else {
		sentence_add(s, PART_CLAIM, " in %s is %s", b, f->times->text);
		sentence_interval(s, f->times);
		sentence_add(s, PART_CLAIM, " of A's");
		sentence_add(s, PART_PLAIN, "%s", at(s->wording, f));
		say_sides(s, f);
	}
}

/* ---- eager, the control */

static bool moved(const struct report_compared_figure *f)
{
	return is(f->verdict, VERDICT_FASTER) || is(f->verdict, VERDICT_SLOWER);
}

static bool by_speedup(const struct report_compared *c)
{
	return c->judged_by && strcmp(c->judged_by, "speedup") == 0;
}

static bool differs(const struct report_compared *c, const char *key)
{
	for (size_t i = 0; i < c->differences.n; i++)
		if (strcmp(c->differences.at[i].key, key) == 0)
			return true;
	return false;
}

/* What may have moved eager. */
static const char *drift_of(const struct report_compared *c)
{
	return differs(c, "breakeven")
		   ? "with the same source under another version of Breakeven, so the machine or "
		     "that may have changed it"
		   : "with the same source and version, so the machine may have changed";
}

/* " (0.66x)": of the latency that the headline's speedup has been taken for. */
static const char *latency_beside(struct wording *w, const struct report_compared *c)
{
	const struct report_compared_figure *h = c->headline;

	for (size_t i = 0; i < c->figures.n; i++) {
		const struct report_compared_figure *f = &c->figures.at[i];

		if (strcmp(f->metric, "latency") == 0 && strcmp(f->mode, h->mode) == 0 &&
		    f->has.n == h->has.n && (!f->has.n || f->n == h->n) && f->times)
			return wording_text(w, " (%s)", f->times->text);
	}
	return "";
}

/* Why the speedup decides, where eager moved or may have. */
static void say_control(struct sentence *s, const struct report_compared *c)
{
	const struct report_compared_figure *eager = c->control;
	struct wording *w = s->wording;

	if (!eager || !by_speedup(c) || !(moved(eager) || is(eager->verdict, VERDICT_AMBIGUOUS)))
		return;
	if (moved(eager)) {
		sentence_add(s, PART_PLAIN, " Eager moved too%s, to %s", at(w, eager),
			     eager->times->text);
		sentence_interval(s, eager->times);
	} else {
		sentence_add(s, PART_PLAIN, " Eager may have moved too%s, to between %sx and %sx",
			     at(w, eager), eager->times->low, eager->times->high);
	}
	sentence_add(s, PART_PLAIN, " of A's time, %s: the speedup decides, not the latency%s.",
		     drift_of(c), latency_beside(w, c));
}

/* How many breaks of the mode came or went, and what they cost a call; NAN: not all are known. */
static int64_t breaks_that(const struct report_compared *c, const char *mode, const char *change,
			   double *cost_us)
{
	int64_t n = 0;

	*cost_us = 0;
	for (size_t i = 0; i < c->breaks.n; i++) {
		const struct report_break_change *row = &c->breaks.at[i];
		const struct report_compared_break *side = row->b ? row->b : row->a;

		if (strcmp(row->mode, mode) != 0 || strcmp(row->change, change) != 0)
			continue;
		n++;
		*cost_us += side && side->has.cost_us ? side->cost_us : NAN;
	}
	return n;
}

static void say_breaks(struct sentence *s, const struct report_compared *c, const char *mode)
{
	static const struct {
		const char *change, *one, *many, *cost;
	} rows[] = { { "added", "new break", "new breaks", " cost" },
		     { "gone", "break gone", "breaks gone", ", which cost" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char cost[NUMBER_BYTES];
		double us;
		int64_t n = breaks_that(c, mode, rows[i].change, &us);

		if (!n)
			continue;
		number_duration(cost, us);
		sentence_add(s, PART_CLAIM, " %s",
			     wording_plural(s->wording, n, rows[i].one, rows[i].many));
		if (isnan(us))
			sentence_add(s, PART_PLAIN, ".");
		else
			sentence_add(s, PART_PLAIN, "%s %s a call.", rows[i].cost, cost);
	}
}

static int64_t kernels_that(const struct report_compared *c, const char *mode, const char *change)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->kernels.n; i++)
		n += strcmp(c->kernels.at[i].mode, mode) == 0 &&
		     strcmp(c->kernels.at[i].change, change) == 0;
	return n;
}

/* What else came with a run that is quicker or slower than A, its kernels first. */
static void say_causes(struct sentence *s, const struct report_compared *c, const char *mode)
{
	bool slower = is(c->verdict, VERDICT_SLOWER);
	const struct {
		int64_t n;
		const char *one, *many;
	} parts[] = {
		{ kernels_that(c, mode, "added"), "new kernel", "new kernels" },
		{ kernels_that(c, mode, "gone"), "kernel gone", "kernels gone" },
		{ kernels_that(c, mode, slower ? "slower" : "faster"),
		  slower ? "slower kernel" : "faster kernel",
		  slower ? "slower kernels" : "faster kernels" },
		{ c->source ? c->source->added + c->source->gone : 0, "line of source",
		  "lines of source" },
	};
	const char *all = "";

	if (!slower && !is(c->verdict, VERDICT_FASTER))
		return;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].n)
			all = wording_text(
			    s->wording, "%s%s%s", all, *all ? ", " : "",
			    wording_plural(s->wording, parts[i].n, parts[i].one, parts[i].many));
	if (*all)
		sentence_add(s, PART_PLAIN, " Changed with it: %s.", all);
}

static void say_refusal(struct sentence *s, const struct report_compared *c)
{
	size_t len = strcspn(c->refused, ":");

	sentence_add(s, PART_CLAIM, "%s and A are %.*s", c->b, (int)len, c->refused);
	sentence_add(s, PART_PLAIN, "%.800s.", c->refused + len);
}

static void say_verdict(struct sentence *s, const struct report_compared *c)
{
	const struct report_compared_figure *f = c->headline;

	if (strcmp(c->verdict, "REFUSED") == 0) {
		say_refusal(s, c);
	} else if (!f) {
		sentence_add(s, PART_CLAIM, "%s and A have no timed figure in common", c->b);
		sentence_add(s, PART_PLAIN, ": there is nothing to judge.");
	} else if (is(c->verdict, VERDICT_DISAGREES)) {
		sentence_add(s, PART_CLAIM, "%s has nothing to compare with", f->mode);
		sentence_add(s, PART_PLAIN, "%s: %s.", at(s->wording, f), f->why);
	} else if (is(c->verdict, VERDICT_NOT_ENOUGH) || !f->times || !f->times->low) {
		sentence_add(s, PART_CLAIM, "Too few rounds to tell %s from A", c->b);
		sentence_add(s, PART_PLAIN, " under %s%s", f->mode, at(s->wording, f));
		say_sides(s, f);
	} else {
		if (strcmp(f->metric, "speedup") == 0)
			say_speedup(s, f, c->b);
		else
			say_latency(s, f, c->b);
		say_control(s, c);
		say_breaks(s, c, f->mode);
		say_causes(s, c, f->mode);
	}
}

/* ---- how far it reaches */

struct how {
	struct wording *w;
	const char **at;
	size_t n;
};

static void add(struct how *h, const char *text)
{
	if (h->n < MOST_HOW && *text)
		h->at[h->n++] = text;
}

/* "Of 7 latencies 6 are SLOWER, 1 is SAME." */
static const char *verdicts_counted(struct wording *w, const struct report_compared *c)
{
	bool speedup = c->headline && strcmp(c->headline->metric, "speedup") == 0;
	const char *list = "";
	int64_t all = 0;

	for (size_t i = 0; i < c->counts.n; i++) {
		int64_t n = (int64_t)c->counts.at[i];
		const char *word = c->counts.keys[i];

		if (!n)
			continue;
		all += n;
		list = wording_text(w, "%s%s%lld %s", list, *list ? ", " : "", (long long)n,
				    is(word, VERDICT_DISAGREES)
					? n == 1 ? "disagrees with eager" : "disagree with eager"
					: wording_text(w, "%s %s", n == 1 ? "is" : "are", word));
	}
	return all < 2 ? ""
		       : wording_text(w, "Of %s %s.",
				      speedup ? wording_plural(w, all, "speedup", "speedups")
					      : wording_plural(w, all, "latency", "latencies"),
				      list);
}

static bool matters(const struct report_compared *c)
{
	for (size_t i = 0; i < c->differences.n; i++)
		if (c->differences.at[i].matters)
			return true;
	return false;
}

static bool timed_in_eager(const struct report_compared *c)
{
	for (size_t i = 0; i < c->figures.n; i++)
		if (strcmp(c->figures.at[i].metric, "latency") == 0 &&
		    strcmp(c->figures.at[i].mode, "eager") == 0)
			return true;
	return false;
}

/* Why eager tells nothing of the machine. */
static const char *no_control_said(struct wording *w, const struct report_compared *c)
{
	if (!c->headline)
		return "";
	if (!timed_in_eager(c))
		return "Eager was not timed in both, so nothing tells whether the machine changed.";
	return wording_text(w, "%s, so eager is no control of the machine: %s.",
			    matters(c) ? "The settings differ" : "The programs differ",
			    by_speedup(c) ? "each speedup is over its own" : "the latency decides");
}

static const char *control_said(struct wording *w, const struct report_compared *c)
{
	const struct report_compared_figure *eager = c->control;
	bool alone = c->headline && strcmp(c->headline->mode, "eager") == 0;

	if (!eager)
		return no_control_said(w, c);
	if (is(eager->verdict, VERDICT_SAME))
		return alone ? "" : "Eager, the control, is the same in both.";
	if (moved(eager) && alone)
		return wording_text(w, "Eager alone was timed, %s.", drift_of(c));
	if (moved(eager) && !by_speedup(c))
		return wording_text(w,
				    "Eager, the control, moved too (%s) %s: latency decides "
				    "because it was asked for.",
				    eager->times->text, drift_of(c));
	return "";
}

/* What the intervals hold. */
static const char *spread_said(struct wording *w, const struct report_compared_figure *headline)
{
	int64_t a, b;

	if (!headline)
		return "";
	a = headline->a->repeats;
	b = headline->b->repeats;
	if (a || b)
		return wording_text(w, "The intervals include how %s of the same workload differ.",
				    wording_plural(w, a > b ? a : b, "run", "runs"));
	a = headline->a->processes;
	b = headline->b->processes;
	a = a < b ? a : b;
	return wording_text(
	    w,
	    "Ratios of latencies are of lower deciles, since what else runs on "
	    "a machine makes samples longer only. %s of each run took samples: the "
	    "intervals hold what %s by, and what processes of the same are known to "
	    "differ by.",
	    wording_plural(w, a > 1 ? a : 1, "process", "processes"),
	    a > 1 ? "they differ" : "its rounds differ");
}

static const char *rule_said(struct wording *w, const struct report_compared *c, double margin)
{
	char percent[NUMBER_BYTES];

	number_plain(percent, 100 * margin);
	return wording_text(w,
			    "SAME is an interval within %s %%; FASTER or SLOWER, one that reaches "
			    "beyond and does not hold 1, among the %s judged (Holm, 5 %%).",
			    percent, wording_plural(w, c->family, "figure", "figures"));
}

static const char *only_said(struct wording *w, const char *side, struct report_texts names)
{
	const char *list = "";

	for (size_t i = 0; i < names.n && i < MOST_NAMES; i++)
		list = wording_text(w, "%s%s%s", list, i ? ", " : "", names.at[i]);
	if (names.n > MOST_NAMES)
		list = wording_text(w, "%s and %zu more", list, names.n - MOST_NAMES);
	return names.n ? wording_text(w, "Only in %s: %s.", side, list) : "";
}

static void say_how(struct how *h, const struct report_compared *c, double margin)
{
	add(h, verdicts_counted(h->w, c));
	add(h, control_said(h->w, c));
	add(h, c->drift ? c->drift->text : "");
	add(h, spread_said(h->w, c->headline));
	add(h, rule_said(h->w, c, margin));
	if (!c->only)
		return;
	add(h, only_said(h->w, "A", c->only->a));
	add(h, only_said(h->w, c->b, c->only->b));
}

bool compared_say(struct report_compared *to, double margin, struct arena *arena)
{
	struct wording w = { .arena = arena };
	struct how how = { &w, ARENA_ARRAY(arena, const char *, MOST_HOW), 0 };
	struct report_sentence_part_list parts;
	struct sentence s = sentence_begin(&w, &parts);

	if (w.failed || !how.at)
		return false;
	say_verdict(&s, to);
	if (to->has.figures)
		say_how(&how, to, margin);
	REPORT_SET(to, sentence, parts);
	REPORT_SET(to, how, (struct report_texts){ how.at, how.n });
	return !w.failed;
}
