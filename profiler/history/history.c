/* profiler/history/history.c -- what one figure of a workload says over its runs, in words. */
#include "profiler/history/history.h"

#include <math.h>

#include "profiler/findings/sentence.h"

enum { MOST_HOW = 8 };

/* What is gathered over the runs. */
struct tally {
	const struct history_run *newest, *baseline, *last_step; /* with a value; NULL: none */
	int64_t measured, failed, disagree, unmeasured, steps, since_step;
};

static struct tally tally_of(const struct history_runs *h)
{
	struct tally t = { 0 };

	for (size_t i = 0; i < h->n; i++) {
		const struct history_run *r = &h->at[i];

		t.failed += r->lack == HISTORY_FAILED;
		t.disagree += r->lack == HISTORY_DISAGREES;
		t.unmeasured += r->lack == HISTORY_UNMEASURED;
		if (r->lack != HISTORY_LACKS_NOTHING)
			continue;
		t.measured++;
		t.steps += r->stepped;
		t.since_step = r->stepped ? 1 : t.since_step + 1;
		if (r->stepped)
			t.last_step = r;
		t.newest = r;
		if (r->baseline && !t.baseline)
			t.baseline = r;
	}
	return t;
}

static struct report_figure *shown(struct wording *w, const struct history_runs *h,
				   const struct history_run *r)
{
	return wording_figure_in(w, &r->value, h->metric->unit, r->value.mid);
}

static void say(struct sentence *s, const struct history_runs *h, const struct tally *t)
{
	struct report_figure *newest = t->newest ? shown(s->wording, h, t->newest) : NULL, *base;

	if (!newest) {
		sentence_add(s, PART_CLAIM, "No run of this workload has this figure");
		sentence_add(s, PART_PLAIN, ".");
		return;
	}
	sentence_add(s, PART_CLAIM, "%s %s%s: %s", h->mode, h->metric->title,
		     wording_at(s->wording, t->newest->n), newest->text);
	sentence_interval(s, newest);
	sentence_add(s, PART_PLAIN, " in the newest of %s",
		     wording_plural(s->wording, t->measured, "run", "runs"));
	if (t->last_step) {
		sentence_add(s, PART_PLAIN, ", on a level that ");
		sentence_add(s, PART_CLAIM, "began with run #%lld", (long long)t->last_step->id);
		sentence_add(s, PART_PLAIN, " and has held for %s",
			     wording_plural(s->wording, t->since_step, "run", "runs"));
	}
	if (t->baseline && t->baseline != t->newest) {
		base = shown(s->wording, h, t->baseline);
		sentence_add(s, PART_PLAIN, "; the baseline #%lld has ",
			     (long long)t->baseline->id);
		sentence_add(s, PART_CLAIM, "%s", base ? base->text : "");
		sentence_interval(s, base);
	}
	sentence_add(s, PART_PLAIN, t->baseline == t->newest ? ", which is the baseline." : ".");
}

static struct report_texts how(struct wording *w, const struct history_runs *h,
			       const struct tally *t)
{
	const char **at = ARENA_ARRAY(w->arena, const char *, MOST_HOW);
	size_t n = 0;

	w->failed |= !at;
	if (!at)
		return (struct report_texts){ 0 };
	if (t->newest)
		at[n++] =
		    t->steps
			? wording_text(w, "%s, seen in two runs at least.",
				       wording_plural(w, t->steps, "step", "steps"))
			: "No step: a change has to come back in a second run, and to be 2 % or "
			  "more, before it is told.";
	if (t->newest && !t->baseline)
		at[n++] = "No run is marked as the baseline.";
	if (t->failed)
		at[n++] = wording_text(w, "%s failed.",
				       wording_plural(w, t->failed, "run", "runs"));
	if (t->disagree)
		at[n++] = wording_text(
		    w, "%s with values that differ from eager's %s not on the line.",
		    wording_plural(w, t->disagree, "run", "runs"), t->disagree == 1 ? "is" : "are");
	if (t->unmeasured)
		at[n++] = wording_text(w, "%s did not measure this figure.",
				       wording_plural(w, t->unmeasured, "run", "runs"));
	if (h->total > (int64_t)h->n)
		at[n++] = wording_text(w, "The newest %zu of %s.", h->n,
				       wording_plural(w, h->total, "run", "runs"));
	if (h->pending)
		at[n++] = "Older runs are still being read: ask again for more.";
	return (struct report_texts){ at, n };
}

static struct report_history_shown_list points_of(struct wording *w, const struct history_runs *h,
						  const struct history_run *baseline)
{
	struct report_history_shown *all = report_new_history_shown(h->n, w->arena);

	w->failed |= !all;
	for (size_t i = 0; all && i < h->n; i++) {
		const struct history_run *r = &h->at[i];
		struct report_figure *times;

		if (r->lack != HISTORY_LACKS_NOTHING)
			continue;
		REPORT_SET(&all[i], shown, shown(w, h, r));
		if (!baseline || r == baseline || !(baseline->value.mid > 0))
			continue;
		times = wording_figure(
		    w, &(struct interval){ NAN, r->value.mid / baseline->value.mid, NAN }, "x");
		REPORT_SET_IF(&all[i], of_baseline, times, times->text);
	}
	return (struct report_history_shown_list){ all, all ? h->n : 0 };
}

struct report_history_findings *history_say(const struct history_runs *h, struct arena *arena,
					    struct err *err)
{
	struct report_history_findings *to = report_new_history_findings(1, arena);
	struct wording w = { .arena = arena };
	struct report_sentence_part_list parts;
	struct tally t = tally_of(h);
	struct sentence s = sentence_begin(&w, &parts);

	if (to && !w.failed) {
		say(&s, h, &t);
		REPORT_SET(to, sentence, parts);
		REPORT_SET(to, how, how(&w, h, &t));
		REPORT_SET(to, points, points_of(&w, h, t.baseline));
	}
	if (to && !w.failed)
		return to;
	err_set(err, ERR_MEMORY, "out of memory for a history");
	return NULL;
}
