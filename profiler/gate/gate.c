/* profiler/gate/gate.c -- do workloads pass beside a baseline? */
#include "profiler/gate/gate.h"

#include <math.h>
#include <string.h>

#include "profiler/compare/ratio.h"
#include "profiler/findings/sentence.h"

enum { MOST_FINDINGS = 200, EXIT_PASSED = 0, EXIT_REGRESSION = 1, EXIT_NOT_ENOUGH = 3 };

static const struct {
	const char *name;
	enum gate_kind kind;
} kinds[] = {
	{ "values", GATE_VALUES }, { "times", GATE_TIMES },       { "graphs", GATE_GRAPHS },
	{ "breaks", GATE_BREAKS }, { "launches", GATE_LAUNCHES },
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

bool gate_kinds_read(const char *text, unsigned *out, struct err *err)
{
	*out = 0;
	while (*text) {
		size_t len = strcspn(text, ","), i = 0;

		while (i < KINDS &&
		       (strlen(kinds[i].name) != len || memcmp(kinds[i].name, text, len) != 0))
			i++;
		if (i == KINDS)
			return err_set(
			    err, ERR_BAD_REQUEST,
			    "%.*s: of values, times, graphs, breaks, launches, joined by "
			    "commas",
			    (int)(len < 40 ? len : 40), text);
		*out |= kinds[i].kind;
		text += len + (text[len] == ',');
	}
	return *out ||
	       err_set(err, ERR_BAD_REQUEST, "values, times, graphs, breaks or launches is needed");
}

/* ---- one workload ---- */

struct judging {
	const struct gate_options *options;
	const struct gate_pair *pair;
	struct wording wording;
	struct report_gate_row *row;
	const struct report_run *now; /* the report that is judged */
	bool failed, unknown;
};

static struct report_gate_finding *add(struct judging *j, const char *kind, bool fails,
				       const char *text)
{
	struct report_gate_finding_list *list = &j->row->findings;
	struct report_gate_finding *f;

	j->failed |= fails;
	if (!list->at || list->n == MOST_FINDINGS)
		return NULL;
	f = &list->at[list->n++];
	REPORT_SET(f, kind, kind);
	REPORT_SET(f, fails, fails);
	REPORT_SET(f, text, text);
	REPORT_SET_OR_NULL(f, rule, false, NULL);
	REPORT_SET_OR_NULL(f, file, false, NULL);
	REPORT_SET_OR_NULL(f, line, false, 0);
	return f;
}

static bool counts(const struct judging *j, enum gate_kind kind)
{
	return j->options->fails_on & kind;
}

static const char *figure_name(struct wording *w, const struct report_compared_figure *f)
{
	return wording_text(w, "%s %s%s", f->mode, f->title, wording_at(w, f->has.n ? f->n : NAN));
}

static const char *interval_text(struct wording *w, const struct report_figure *f)
{
	if (!f)
		return NULL;
	return f->low ? wording_text(w, "%s (%s–%s)", f->text, f->low, f->high) : f->text;
}

/* A mode whose values differ from eager's in the run that is judged. */
static bool disagrees(struct judging *j)
{
	bool any = false;

	for (size_t i = 0; i < figures_points(j->now); i++) {
		struct report_point point = figures_point(j->now, i);

		for (size_t k = 0; k < point.modes.n; k++) {
			const struct report_mode *m = &point.modes.at[k];

			if (!m->has.agrees || m->agrees)
				continue;
			any = true;
			add(j, "values", counts(j, GATE_VALUES),
			    wording_text(&j->wording, "the values of %s%s are not eager's",
					 point.modes.keys[k], wording_at(&j->wording, point.n)));
		}
	}
	return any;
}

static const struct {
	const char *metric;
	enum gate_kind kind;
} counted_kinds[] = { { "graphs", GATE_GRAPHS },
		      { "breaks", GATE_BREAKS },
		      { "launches", GATE_LAUNCHES } };
enum { COUNTED = sizeof(counted_kinds) / sizeof(counted_kinds[0]), NOT_COUNTED = COUNTED };

/* Its place in that table. */
static size_t counted_kind(const struct report_compared_figure *f)
{
	size_t k = 0;

	while (k < COUNTED && strcmp(f->metric, counted_kinds[k].metric) != 0)
		k++;
	return k;
}

static bool is_judged(const struct report_compared_figure *f)
{
	return counted_kind(f) != NOT_COUNTED;
}

/* What is counted and is more than it was. */
static void counted(struct judging *j, const struct report_compared *c)
{
	for (size_t i = 0; i < c->figures.n; i++) {
		const struct report_compared_figure *f = &c->figures.at[i];

		if (is_judged(f) && strcmp(f->verdict, "MORE") == 0)
			add(j, f->metric, counts(j, counted_kinds[counted_kind(f)].kind),
			    wording_text(&j->wording, "%s: %s, were %s",
					 figure_name(&j->wording, f), f->b->shown->text,
					 f->a->shown->text));
	}
}

static bool is_python(const char *file)
{
	size_t len = file ? strlen(file) : 0;

	return len > 3 && strcmp(file + len - 3, ".py") == 0;
}

/* Breaks that came, at their lines: they explain a count. */
static void new_breaks(struct judging *j, const struct report_compared *c)
{
	for (size_t i = 0; i < c->breaks.n; i++) {
		const struct report_break_change *b = &c->breaks.at[i];
		const char *file = b->b && b->b->file ? b->b->file : j->pair->file;
		struct report_gate_finding *f;

		if (strcmp(b->change, "added") != 0 || !b->b)
			continue;
		f = add(j, "breaks", false,
			wording_text(&j->wording, "%s: a new break (%s, %s) at line %lld: %s",
				     b->mode, b->stage, b->kind, (long long)b->b->line, b->text));
		if (!f)
			return;
		REPORT_SET(f, rule, b->kind);
		/* The lines of a workload in JSON are those of its source, not of the file. */
		REPORT_SET_OR_NULL(f, file, file != NULL, file);
		REPORT_SET_OR_NULL(f, line, (b->b->file || is_python(file)) && b->b->line > 0,
				   b->b->line);
	}
}

static bool is_timed(const struct report_compared_figure *f)
{
	return strcmp(f->kind, "timed") == 0;
}

/* Whether a figure was timed in both. */
static bool has_times(const struct report_compared *c)
{
	for (size_t i = 0; i < c->figures.n; i++)
		if (is_timed(&c->figures.at[i]))
			return true;
	return false;
}

static void judge_times(struct judging *j, const struct report_compared *c)
{
	const char *figure = j->row->figure ? j->row->figure : "";
	const char *times = j->row->times ? j->row->times : "";

	if (strcmp(c->verdict, "SLOWER") == 0)
		add(j, "times", counts(j, GATE_TIMES),
		    wording_text(&j->wording, "SLOWER: %s %s", figure, times));
	else if (strcmp(c->verdict, "NOT ENOUGH") == 0) {
		add(j, "times", false, "NOT ENOUGH: too few rounds to tell whether it is slower");
		j->unknown |= counts(j, GATE_TIMES);
	}
}

/* What the run itself says of its times, where the baseline has none. */
static void own_times(struct judging *j)
{
	struct report_point point = figures_point(j->now, figures_points(j->now) - 1);
	struct report_gate_row *row = j->row;

	for (size_t i = 0; i < point.break_even.n; i++) {
		const struct report_comparison *b = &point.break_even.at[i];
		struct interval x = { b->speedup_ci.low, b->speedup, b->speedup_ci.high };

		if (!isfinite(x.mid))
			continue;
		REPORT_SET(row, figure,
			   wording_text(&j->wording, "%s over eager in this run%s",
					point.break_even.keys[i],
					wording_at(&j->wording, point.n)));
		REPORT_SET(row, times,
			   interval_text(&j->wording, wording_figure(&j->wording, &x, "x")));
		return;
	}
}

/* Where one of both has no times: what is counted speaks, of what may fail. */
static void judge_counts_alone(struct judging *j, const struct report_compared *c)
{
	bool more = false, less = false;

	for (size_t i = 0; i < c->figures.n; i++) {
		const struct report_compared_figure *f = &c->figures.at[i];

		more |= is_judged(f) && strcmp(f->verdict, "MORE") == 0;
		less |= is_judged(f) && strcmp(f->verdict, "LESS") == 0;
	}
	REPORT_SET(j->row, verdict, more ? "MORE" : less ? "LESS" : "SAME");
	own_times(j);
	if (counts(j, GATE_TIMES)) {
		add(j, "times", false, "times are not on both sides: slower or not is not known");
		j->unknown = true;
	}
}

/* Modes and points of the baseline that were not run. */
static void left_out(struct judging *j, const struct report_compared *c)
{
	for (size_t i = 0; c->only && i < c->only->a.n; i++)
		add(j, "baseline", false,
		    wording_text(&j->wording, "%s is in the baseline alone: it was not run",
				 c->only->a.at[i]));
}

static void put_headline(struct judging *j, const struct report_compared_figure *f)
{
	struct report_gate_row *row = j->row;

	REPORT_SET(row, figure, figure_name(&j->wording, f));
	REPORT_SET_OR_NULL(row, times, f->times != NULL, interval_text(&j->wording, f->times));
	REPORT_SET_OR_NULL(row, ratio, f->has.ratio, f->ratio);
	REPORT_SET_OR_NULL(row, ci, f->has.ci, f->ci);
}

static void judge_compared(struct judging *j, const struct report_compared *c)
{
	REPORT_SET(j->row, verdict, c->verdict);
	if (c->refused) {
		add(j, "baseline", false, c->refused);
		j->unknown = true;
		return;
	}
	if (c->headline)
		put_headline(j, c->headline);
	if (disagrees(j))
		REPORT_SET(j->row, verdict, "DISAGREES");
	else if (has_times(c))
		judge_times(j, c);
	else
		judge_counts_alone(j, c);
	counted(j, c);
	new_breaks(j, c);
	left_out(j, c);
}

static const struct report_compared *compared(struct judging *j, struct report_draft *draft,
					      struct err *err)
{
	const struct compared_run runs[2] = { *j->pair->a, *j->pair->b };
	const struct compare_options options = { .margin = j->options->margin };
	json_t *json = report_draft_value(draft, compare_runs(runs, 2, &options, err));
	const struct report_compare *all = json ? report_read_compare(json, &draft->arena, err)
						: NULL;

	if (!all || all->comparisons.n != 1)
		return NULL;
	REPORT_SET(j->row, a, &all->runs.at[0]);
	REPORT_SET(j->row, b, &all->runs.at[1]);
	return &all->comparisons.at[0];
}

static bool judge_pair(struct judging *j, struct report_draft *draft, struct err *err)
{
	struct report_gate_row *row = j->row;
	const struct report_compared *c = NULL;

	REPORT_SET(row, workload, j->pair->name);
	REPORT_SET_OR_NULL(row, file, j->pair->file != NULL, j->pair->file);
	REPORT_SET_OR_NULL(row, a, false, NULL);
	REPORT_SET_OR_NULL(row, b, false, NULL);
	REPORT_SET_OR_NULL(row, figure, false, NULL);
	REPORT_SET_OR_NULL(row, times, false, NULL);
	REPORT_SET_OR_NULL(row, ratio, false, 0);
	REPORT_SET_OR_NULL(row, ci, false, (struct report_interval){ 0 });
	REPORT_SET(row, findings,
		   (struct report_gate_finding_list){
		       report_new_gate_finding(MOST_FINDINGS, &draft->arena), 0 });
	if (!j->pair->b) { /* it ran before, or never did: it does not now */
		REPORT_SET(row, verdict, "NO RUN");
		add(j, "run", true, j->pair->why);
	} else if (!j->pair->a) {
		REPORT_SET(row, verdict, "NO BASELINE");
		add(j, "baseline", false, j->pair->why);
		j->unknown = true;
	} else {
		c = compared(j, draft, err);
		j->now = c ? report_read_run(j->pair->b->report, &draft->arena, err) : NULL;
		if (!j->now)
			return false;
		judge_compared(j, c);
	}
	REPORT_SET(row, outcome, j->failed ? "failed" : j->unknown ? "not enough" : "passed");
	return true;
}

/* ---- all of them ---- */

static struct report_texts kinds_of(unsigned fails_on, struct arena *arena)
{
	struct report_texts list = { ARENA_ARRAY(arena, const char *, KINDS), 0 };

	for (int i = 0; list.at && i < KINDS; i++)
		if (fails_on & kinds[i].kind)
			list.at[list.n++] = kinds[i].name;
	return list;
}

static void conclude(struct report_gate *gate, int failed, int unknown, struct wording *w)
{
	int n = (int)gate->rows.n, exit = failed    ? EXIT_REGRESSION
					  : unknown ? EXIT_NOT_ENOUGH
						    : EXIT_PASSED;
	const char *verdict = failed ? "FAILED" : unknown ? "NOT ENOUGH" : "PASSED";

	REPORT_SET(gate, verdict, verdict);
	REPORT_SET(gate, exit, exit);
	REPORT_SET(gate, sentence,
		   wording_text(w, "%s beside %s: %d passed, %d failed, %d could not be judged.",
				wording_plural(w, n, "workload", "workloads"), gate->baseline,
				n - failed - unknown, failed, unknown));
}

struct report_gate *gate_judge(const struct gate_pair *pairs, int n, const struct gate_options *o,
			       struct report_draft *draft, struct err *err)
{
	struct report_gate *gate = report_new_gate(1, &draft->arena);
	struct report_gate_row *rows = report_new_gate_row((size_t)n, &draft->arena);
	struct wording w = { .arena = &draft->arena };
	int failed = 0, unknown = 0;

	for (int i = 0; gate && rows && i < n; i++) {
		struct judging j = {
			.options = o, .pair = &pairs[i], .wording = w, .row = &rows[i]
		};

		if (!judge_pair(&j, draft, err))
			return NULL;
		failed += j.failed;
		unknown += !j.failed && j.unknown;
	}
	if (!gate || !rows) {
		err_set(err, ERR_MEMORY, "out of memory for a gate");
		return NULL;
	}
	REPORT_SET(gate, breakeven_gate, 1);
	REPORT_SET(gate, baseline, o->baseline);
	REPORT_SET(gate, margin, o->margin > 0 ? o->margin : RATIO_MARGIN);
	REPORT_SET(gate, fails_on, kinds_of(o->fails_on, &draft->arena));
	REPORT_SET(gate, rows, (struct report_gate_row_list){ rows, (size_t)n });
	conclude(gate, failed, unknown, &w);
	return gate;
}
