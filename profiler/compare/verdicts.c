/* profiler/compare/verdicts.c -- the figures of two reports side by side, and a verdict on each. */
#include "profiler/compare/verdicts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/findings/sentence.h"

static const double family_error = 0.05;

static const struct metric_info *info_of(const struct compared_figure *j)
{
	return metric_info(j->a.metric);
}

static bool has_interval(const struct compared_figure *j)
{
	return isfinite(j->ratio.low) && isfinite(j->ratio.high);
}

/* What is measured once stands for all points of a mode together: the points' ratios are
 * its sample. */
static struct compared_figure *once_of(struct verdicts *j, const struct figure *f)
{
	for (size_t i = 0; i < j->rows.len; i++) {
		struct compared_figure *row = &j->rows.at[i];

		if (row->a.metric == f->metric && strcmp(row->a.mode, f->mode) == 0)
			return row;
	}
	return NULL;
}

/* The interval of a run, with what others like it differ by. */
static struct interval widened(const struct figure *f, double spread)
{
	const struct interval *i = &f->judged;

	return (struct interval){ i->mid * exp(-hypot(log(i->mid / i->low), spread)), i->mid,
				  i->mid * exp(hypot(log(i->high / i->mid), spread)) };
}

/* What processes of the same differ by, where neither repeats nor its own samples say it. */
static double spread_of(const struct figure *f, const struct figure *other)
{
	if (f->repeats || other->repeats)
		return f->repeats ? f->spread : other->spread;
	return 1.96 * f->process_sd / sqrt(f->processes);
}

/* Where one side alone was repeated, the other is taken to spread as it does. */
static bool ratio_between(const struct figure *a, const struct figure *b, struct interval *out)
{
	struct interval x = widened(a, spread_of(a, b));
	struct interval y = widened(b, spread_of(b, a));

	return ratio_of(&x, &y, out);
}

/* With the machine's drift taken out, and without: nobody knows how much of it the program felt. */
static struct interval with_drift(const struct interval *r, const struct interval *drift,
				  double *least)
{
	struct interval out = *r, less;

	if (!ratio_of(drift, r, &less))
		return out;
	out.low = fmin(out.low, less.low);
	out.high = fmax(out.high, less.high);
	*least = fabs(log(less.mid)) < fabs(log(r->mid)) ? less.mid : r->mid;
	return out;
}

/* Whether a drift of the processor can be felt in a latency: a call that waits for the GPU takes as
 * long as before, unless what the processor does for it comes near to the whole at its slowest. */
static bool feels(const struct figure *a, const struct figure *b, const struct interval *drift)
{
	static const double near_whole = 0.6;
	double slowest = fmax(fmax(drift->high, 1 / drift->low), 1);

	return fmin(a->host_share, b->host_share) * slowest >= near_whole;
}

/* The part of a drift that a call can feel: the processor's share of it, at its slowest. */
static double most_felt(const struct figure *a, const struct figure *b,
			const struct interval *drift)
{
	double slowest = fmax(fmax(drift->high, 1 / drift->low), 1);

	return fmin(fmax(a->host_share, b->host_share) * slowest, 1);
}

/* Of what both sides are judged by. */
static bool ratio_judged(const struct compared_figure *row, const struct interval of[2],
			 struct interval *out)
{
	struct figure a = row->a, b = row->b;

	a.judged = of[0];
	b.judged = of[1];
	return ratio_between(&a, &b, out);
}

/* Rounds that show less of it tell nothing where the machine did not drift. */
static const double clear_part = 0.5;

/* Takes out what the rounds show to be the machine's; false where they do not. */
static bool take_pace_out(struct compared_figure *row, const struct drift *drift)
{
	double most = most_felt(&row->a, &row->b, &drift->ratio);
	struct pace_taken taken;
	struct interval x, y;

	if (!pace_take_out(&row->a, &row->b, most, &taken) ||
	    (!drift->moved && taken.part.least < clear_part) ||
	    !ratio_judged(row, taken.least, &x) || !ratio_judged(row, taken.most, &y))
		return false;
	row->ratio = (struct interval){ fmin(x.low, y.low), sqrt(x.mid * y.mid),
					fmax(x.high, y.high) };
	row->least = fabs(log(x.mid)) < fabs(log(y.mid)) ? x.mid : y.mid;
	row->felt = taken.part;
	return true;
}

static void use_control(struct compared_figure *row, const struct drift *drift)
{
	if (!feels(&row->a, &row->b, &drift->ratio))
		return;
	if (drift->same_machine && take_pace_out(row, drift))
		return;
	if (drift->moved) {
		row->felt = (struct pace_parts){ 0, 1 };
		row->ratio = with_drift(&row->ratio, &drift->ratio, &row->least);
	}
}

static struct compared_figure single(const struct figure *a, const struct figure *b,
				     const struct drift *drift)
{
	struct compared_figure row = {
		.a = *a, .b = *b, .ratio = { NAN, NAN, NAN }, .felt = { 0, NAN }
	};

	if (metric_info(a->metric)->kind == FIGURE_TIMED && !ratio_between(a, b, &row.ratio))
		row.ratio = (struct interval){ NAN, NAN, NAN };
	row.least = row.ratio.mid;
	if (drift && a->metric == METRIC_latency && has_interval(&row))
		use_control(&row, drift);
	if (!has_interval(&row) && a->value.mid > 0)
		row.ratio.mid = b->value.mid / a->value.mid;
	return row;
}

static void join_once(struct compared_figure *row, const struct figure *a, const struct figure *b)
{
	row->points = row->points ? row->points + 1 : 2;
	row->a.n = row->b.n = NAN;
	row->a.disagrees = row->a.disagrees || a->disagrees;
	row->b.disagrees = row->b.disagrees || b->disagrees;
	row->a.value.mid += a->value.mid;
	row->b.value.mid += b->value.mid;
	if (row->a.value.mid > 0)
		row->ratio.mid = row->b.value.mid / row->a.value.mid;
}

static bool pair_up(const struct figures *a, const struct figures *b, const struct drift *drift,
		    struct verdicts *out)
{
	for (size_t i = 0; i < a->rows.len; i++) {
		const struct figure *x = &a->rows.at[i], *y = figures_find(b, x);
		struct compared_figure *met;

		if (!y)
			continue;
		met = metric_info(x->metric)->kind == FIGURE_ONCE ? once_of(out, x) : NULL;
		if (met)
			join_once(met, x, y);
		else if (!VEC_PUSH(&out->rows, single(x, y, drift)))
			return false;
	}
	return true;
}

/* The interval of what was measured once at each of many points. */
static bool spread_once(struct compared_figure *row, const struct figures *a,
			const struct figures *b)
{
	double *ratios = calloc((size_t)row->points + 1, sizeof(*ratios));
	int n = 0;
	bool ok = ratios != NULL;

	for (size_t i = 0; ok && i < a->rows.len && n < row->points; i++) {
		const struct figure *x = &a->rows.at[i], *y;

		if (x->metric != row->a.metric || strcmp(x->mode, row->a.mode) != 0)
			continue;
		y = figures_find(b, x);
		if (y && x->value.mid > 0 && y->value.mid > 0)
			ratios[n++] = y->value.mid / x->value.mid;
	}
	if (ok && n >= STATS_MIN_SAMPLES) {
		ok = stats_median(ratios, n, &row->ratio);
		row->a.samples = row->b.samples = n;
	}
	free(ratios);
	return ok;
}

/* A time that grew is a speed that fell; a speedup that grew is one that grew. */
static struct interval gain_of(const struct compared_figure *j)
{
	const struct interval *r = &j->ratio;

	if (info_of(j)->more_is_better)
		return *r;
	return (struct interval){ 1 / r->high, 1 / r->mid, 1 / r->low };
}

static int rounds_of(const struct compared_figure *j)
{
	int least = j->a.samples < j->b.samples ? j->a.samples : j->b.samples;

	return has_interval(j) ? least : 0;
}

/* What gives other values than eager is neither faster nor slower than anything. */
static bool disagrees(const struct compared_figure *j)
{
	return j->a.disagrees || j->b.disagrees;
}

static bool in_family(const struct compared_figure *j)
{
	return info_of(j)->kind != FIGURE_COUNTED && !disagrees(j) &&
	       rounds_of(j) >= STATS_MIN_SAMPLES;
}

static bool within(const struct interval *gain, double margin)
{
	return gain->low >= 1 / (1 + margin) && gain->high <= 1 + margin;
}

/* Whether its interval does not hold 1, and the ratio is as far from 1 as half the margin. */
static bool stands_alone(const struct interval *gain, double least, double margin)
{
	return fabs(log(least)) >= log1p(margin) / 2 && (gain->low > 1 || gain->high < 1);
}

static enum verdict verdict_on(const struct compared_figure *row, double margin)
{
	struct interval gain;

	if (rounds_of(row) < STATS_MIN_SAMPLES)
		return VERDICT_NOT_ENOUGH;
	gain = gain_of(row);
	if (within(&gain, margin))
		return VERDICT_SAME;
	if (stands_alone(&gain, row->points ? gain.mid : row->least, margin))
		return gain.mid > 1 ? VERDICT_FASTER : VERDICT_SLOWER;
	return VERDICT_AMBIGUOUS;
}

/* Those that hold alone, and those of them that hold among all. */
static bool judge_all(struct verdicts *j, double margin)
{
	double *chance = calloc(j->rows.len + 1, sizeof(*chance));
	bool *holds = calloc(j->rows.len + 1, sizeof(*holds));
	bool ok = chance && holds;

	for (size_t i = 0; ok && i < j->rows.len; i++)
		if (in_family(&j->rows.at[i]))
			chance[j->family++] = ratio_chance(&j->rows.at[i].ratio, 0);
	ok = ok && ratio_holm(chance, j->family, family_error, holds);
	for (size_t i = 0, k = 0; ok && i < j->rows.len; i++) {
		struct compared_figure *row = &j->rows.at[i];
		bool among = in_family(row) && holds[k++];

		row->verdict = verdict_on(row, margin);
		row->alone = row->verdict == VERDICT_FASTER || row->verdict == VERDICT_SLOWER;
		if (row->alone && !among)
			row->verdict = VERDICT_AMBIGUOUS;
		if (disagrees(row) && info_of(row)->kind != FIGURE_COUNTED) {
			row->verdict = VERDICT_DISAGREES;
			row->alone = false;
		}
	}
	free(chance);
	free(holds);
	return ok;
}

bool verdicts_of(const struct figures *a, const struct figures *b, double margin,
		 const struct drift *drift, struct verdicts *out, struct err *err)
{
	bool ok = pair_up(a, b, drift, out);

	for (size_t i = 0; ok && i < out->rows.len; i++)
		if (out->rows.at[i].points)
			ok = spread_once(&out->rows.at[i], a, b);
	ok = ok && judge_all(out, margin);
	return ok || err_set(err, ERR_MEMORY, "out of memory for a comparison");
}

/* "FASTER", or of what is counted "LESS", "SAME", "MORE". */
static const char *word_of(const struct compared_figure *j)
{
	double a = j->a.value.mid, b = j->b.value.mid;

	if (info_of(j)->kind == FIGURE_COUNTED)
		return b > a ? "MORE" : b < a ? "LESS" : "SAME";
	return verdict_word(j->verdict);
}

/* Of logs: by less, a reader takes the values for the ratio's. */
static const double near_enough = 0.01;

/* A value is shown to as many digits as its interval leaves sure: of one as wide as this they say
 * no ratio any more. */
static bool is_vague(const struct interval *value)
{
	return value->high - value->low > 0.1 * value->mid;
}

/* Whether the values that are shown of both say another ratio than the one that is judged. */
static bool values_stray(const struct compared_figure *j)
{
	double shown = j->b.value.mid / j->a.value.mid;

	return j->a.metric == METRIC_latency && has_interval(j) &&
	       (is_vague(&j->a.value) || is_vague(&j->b.value) ||
		!(fabs(log(shown / j->ratio.mid)) <= near_enough)) &&
	       !(is_vague(&j->a.judged) || is_vague(&j->b.judged));
}

static bool is_without_drift(const struct compared_figure *j)
{
	return isfinite(j->felt.most);
}

/* Times are in the unit of `most`. */
static struct report_compared_value *side(const struct figure *f, double most, bool stray,
					  struct wording *w)
{
	struct report_compared_value *to = report_new_compared_value(1, w->arena);
	const struct interval *i = &f->value;

	if (!to)
		return NULL;
	REPORT_SET_IF(to, value, isfinite(i->mid), i->mid);
	REPORT_SET_IF(to, ci, isfinite(i->low) && isfinite(i->high),
		      (struct report_interval){ i->low, i->high });
	REPORT_SET(to, shown, wording_figure_in(w, i, metric_info(f->metric)->unit, most));
	REPORT_SET_IF(to, judged, stray,
		      wording_figure_in(w, &f->judged, metric_info(f->metric)->unit, most));
	REPORT_SET(to, samples, f->samples);
	REPORT_SET(to, processes, f->processes);
	REPORT_SET(to, repeats, f->repeats);
	return to;
}

/* Why the ratio is not that of the values beside it; "": it is. */
static const char *stray_said(const struct compared_figure *j, struct report_draft *draft)
{
	double shown = j->b.value.mid / j->a.value.mid;

	if (!values_stray(j))
		return "";
	return arena_printf(&draft->arena,
			    is_without_drift(j)
				? "%.2fx as measured; the machine's drift is taken out"
				: "of the medians %.2fx; busy moments lengthened them, and "
				  "lower deciles are judged",
			    shown);
}

/* Why there is no verdict, or another ratio than that of the values; "": neither. */
static const char *why(const struct compared_figure *j, int family, struct report_draft *draft)
{
	struct arena *arena = &draft->arena;

	if (info_of(j)->kind == FIGURE_COUNTED)
		return "";
	if (j->verdict == VERDICT_DISAGREES)
		return arena_printf(arena, "its values differ from eager's in %s",
				    j->a.disagrees && j->b.disagrees ? "both runs"
				    : j->a.disagrees                 ? "the first run"
								     : "the second run");
	if (j->overruled)
		return strcmp(j->a.mode, "eager") == 0 ? "the control" : "the speedup decides";
	if (j->verdict == VERDICT_NOT_ENOUGH && info_of(j)->kind == FIGURE_ONCE)
		return arena_printf(arena,
				    "measured once a run; an interval needs %d points of a sweep",
				    STATS_MIN_SAMPLES);
	if (j->verdict == VERDICT_NOT_ENOUGH)
		return arena_printf(arena, "at least %d rounds are needed on each side",
				    STATS_MIN_SAMPLES);
	if (j->verdict == VERDICT_AMBIGUOUS && j->alone)
		return arena_printf(
		    arena, "it would stand alone; among %d figures one like it may be chance",
		    family);
	if (j->verdict != VERDICT_AMBIGUOUS)
		return stray_said(j, draft);
	return arena_printf(arena,
			    "its interval reaches beyond the margin, and holds no change too%s%s",
			    values_stray(j) ? "; " : "", stray_said(j, draft));
}

void verdicts_fill(struct report_compared_figure *to, const struct compared_figure *j, int family,
		   struct report_draft *draft)
{
	static const char *const kinds[] = {
		[FIGURE_TIMED] = "timed", [FIGURE_ONCE] = "once", [FIGURE_COUNTED] = "counted"
	};
	const struct metric_info *m = info_of(j);
	const char *none = why(j, family, draft);
	bool known = j->verdict != VERDICT_DISAGREES;
	struct wording w = { .arena = &draft->arena };
	double most = fmax(j->a.value.mid, j->b.value.mid);
	bool stray = values_stray(j);

	REPORT_SET(to, metric, m->name);
	REPORT_SET(to, title, m->title);
	REPORT_SET(to, unit, m->unit);
	REPORT_SET(to, kind, kinds[m->kind]);
	REPORT_SET(to, mode, j->a.mode);
	REPORT_SET_IF(to, n, isfinite(j->a.n), j->a.n);
	REPORT_SET(to, points, j->points);
	REPORT_SET(to, a, side(&j->a, most, stray, &w));
	REPORT_SET(to, b, side(&j->b, most, stray, &w));
	REPORT_SET_IF(to, ratio, known && isfinite(j->ratio.mid), j->ratio.mid);
	REPORT_SET_IF(to, ci, known && has_interval(j),
		      (struct report_interval){ j->ratio.low, j->ratio.high });
	REPORT_SET_IF(to, times, known && isfinite(j->ratio.mid),
		      wording_figure(&w, &j->ratio, "x"));
	REPORT_SET_IF(to, felt, is_without_drift(j),
		      (struct report_interval){ j->felt.least, j->felt.most });
	REPORT_SET(to, verdict, word_of(j));
	REPORT_SET(to, decides, j->decides);
	REPORT_SET_IF(to, why, !none || *none, none);
}
