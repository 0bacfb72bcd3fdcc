/* profiler/findings/findings.c -- what a run's figures say, made from its report. */
#include "profiler/findings/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profiler/findings/maker.h"
#include "profiler/measure/break_even.h"

/* " at n = 30", or "" without a sweep. */
static const char *place_at(struct maker *m, const struct report_point *p)
{
	return wording_at(&m->wording, p->has.n ? p->n : NAN);
}

/* ---- a verdict ---- */

static bool is(const char *word, enum verdict verdict)
{
	return word && strcmp(word, verdict_word(verdict)) == 0;
}

/* NULL where the mode is held against nothing. */
static const char *verdict_at(const struct report_point *p, const char *mode)
{
	const struct report_mode *m = report_get(p->modes, mode);
	const struct report_comparison *b = report_get(p->break_even, mode);
	struct interval speedup;

	if (m && m->has.agrees && !m->agrees)
		return verdict_word(VERDICT_DISAGREES);
	if (!b)
		return NULL;
	if (b->has.verdict)
		return b->verdict;
	speedup = (struct interval){ b->speedup_ci.low, b->speedup, b->speedup_ci.high };
	return verdict_word(
	    verdict_of(&speedup, b->has.speedup_ci && m && m->latency ? (int)m->latency->n : 0));
}

static void say_repaid(struct maker *m, struct sentence *s, const struct report_comparison *b)
{
	const char *unit = m->compile.name, *repay = b->has.repay ? b->repay : "";
	char compile[NUMBER_BYTES], calls[NUMBER_BYTES];

	number_short(compile, b->compile_ms * 1e3 / m->compile.scale);
	number_short(calls, b->calls_to_repay);
	if (strcmp(repay, repay_word(REPAY_NEVER)) == 0 && b->has.compile_ms &&
	    b->compile_ms == 0) {
		sentence_add(s, PART_PLAIN, "; nothing was compiled");
	} else if (strcmp(repay, repay_word(REPAY_NEVER)) == 0) {
		sentence_add(s, PART_PLAIN, "; its ");
		sentence_add(s, PART_CLAIM, "%s %s of compiling are never repaid", compile, unit);
	} else if (strcmp(repay, repay_word(REPAY_AFTER)) == 0 && b->calls_to_repay < 1) {
		sentence_add(s, PART_PLAIN, "; it ");
		sentence_add(s, PART_CLAIM, "pays from the first call");
	} else if (strcmp(repay, repay_word(REPAY_AFTER)) == 0) {
		sentence_add(s, PART_PLAIN, "; it ");
		sentence_add(s, PART_CLAIM, "pays for its %s %s of compiling after %s calls",
			     compile, unit, calls);
	}
}

static void say_faster(struct sentence *s, const char *mode, const struct report_comparison *b,
		       bool faster)
{
	double low = b->speedup_ci.low, high = b->speedup_ci.high;
	struct interval ratio = { low, b->speedup, high };
	struct report_figure *f;

	if (!faster)
		ratio = (struct interval){ 1 / high, 1 / b->speedup, 1 / low };
	f = wording_figure(s->wording, &ratio, "x");
	sentence_add(s, PART_CLAIM, "%s is %s", mode, f ? f->text : "");
	sentence_interval(s, f);
	sentence_add(s, PART_CLAIM, faster ? " faster" : " slower");
	sentence_add(s, PART_PLAIN, " than eager");
}

static void say_open(struct sentence *s, const char *mode, const struct report_comparison *b,
		     bool same)
{
	struct interval ratio = { b->speedup_ci.low, b->speedup, b->speedup_ci.high };
	struct report_figure *f = wording_figure(s->wording, &ratio, "x");

	sentence_add(s, PART_CLAIM,
		     same ? "%s is as fast as eager" : "%s may or may not be faster than eager",
		     mode);
	sentence_add(s, PART_PLAIN, ": %s", f ? f->text : "");
	sentence_interval(s, f);
}

/* Why a mode is no faster, where calls ran op by op in it as they do in eager. */
static void say_eager_calls(struct sentence *s, const struct report_mode *at)
{
	for (size_t i = 0; at && i < at->breaks.n; i++) {
		const struct report_break *b = &at->breaks.at[i];

		if (strcmp(b->kind, "recompile-limit") != 0)
			continue;
		sentence_add(s, PART_PLAIN,
			     " %s hit the recompile limit: later calls ran in eager.",
			     b->subject ? b->subject : "A function");
		return;
	}
	if (at && at->graphs.n == 0 && at->breaks.n > 0)
		sentence_add(s, PART_PLAIN,
			     " It captured no graph: a break leaves the whole of it in eager.");
}

/* A mode against eager: the verdict with its figures, and when compiling is repaid. */
static void say_verdict(struct maker *m, struct sentence *s, const struct report_point *p,
			const char *mode)
{
	const struct report_comparison *b = report_get(p->break_even, mode);
	const char *verdict = verdict_at(p, mode);

	if (!verdict)
		return;
	if (is(verdict, VERDICT_DISAGREES)) {
		sentence_add(s, PART_CLAIM, "%s DISAGREES", mode);
		sentence_add(s, PART_PLAIN, ": its values differ from eager's%s.", place_at(m, p));
		return;
	}
	if (is(verdict, VERDICT_FASTER) || is(verdict, VERDICT_SLOWER))
		say_faster(s, mode, b, is(verdict, VERDICT_FASTER));
	else if (is(verdict, VERDICT_SAME) || is(verdict, VERDICT_AMBIGUOUS))
		say_open(s, mode, b, is(verdict, VERDICT_SAME));
	else
		sentence_add(s, PART_CLAIM, "There are not enough samples to compare %s with eager",
			     mode);
	sentence_add(s, PART_PLAIN, "%s", place_at(m, p));
	if (!is(verdict, VERDICT_SAME) && !is(verdict, VERDICT_AMBIGUOUS))
		say_repaid(m, s, b);
	sentence_add(s, PART_PLAIN, ".");
	if (!is(verdict, VERDICT_FASTER))
		say_eager_calls(s, report_get(p->modes, mode));
}

/* Where the curves of a sweep cross. */
static void say_crossing(struct sentence *s, const struct report_comparison *whole, size_t points)
{
	const char *side = whole && whole->has.side ? whole->side : NULL;
	struct report_figure *f;
	bool above;

	if (!side || points < 2 || strcmp(side, side_word(SIDE_DISAGREES)) == 0)
		return;
	if (strcmp(side, side_word(SIDE_ALWAYS)) == 0 || strcmp(side, side_word(SIDE_NEVER)) == 0) {
		sentence_add(s, PART_PLAIN, " It is not %s at any n of the sweep.",
			     strcmp(side, side_word(SIDE_ALWAYS)) == 0 ? "slower" : "faster");
		return;
	}
	above = strcmp(side, side_word(SIDE_ABOVE)) == 0;
	f = wording_figure(s->wording,
			   &(struct interval){ whole->crossover_ci.low, whole->crossover_n,
					       whole->crossover_ci.high },
			   "");
	if (!f)
		return;
	if (whole->meetings > 1)
		sentence_add(s, PART_PLAIN, " The two cross %lld times; from n = %s",
			     (long long)whole->meetings, f->text);
	else
		sentence_add(s, PART_PLAIN, " %s n = %s", above ? "Below" : "Above", f->text);
	sentence_interval(s, f);
	if (whole->meetings > 1)
		sentence_add(s, PART_PLAIN, " on %s is faster.", above ? "it" : "eager");
	else
		sentence_add(s, PART_PLAIN, " stay with eager.");
}

/* Of what another tool measured its first figure. */
static bool say_result(struct sentence *s, const struct report_run *run)
{
	const struct report_mode *first = run->result && run->modes.n ? run->modes.at : NULL;
	const char *shown = first && first->measure ? report_text(first->measure->shown) : "";

	if (!*shown)
		return false;
	sentence_add(s, PART_CLAIM, "%s: %s", run->modes.keys[0], shown);
	sentence_add(s, PART_PLAIN, ", measured by %s.", run->result->format);
	return true;
}

/* A median alone, where nothing can be compared, or that nothing was timed. */
static void say_alone(struct maker *m, struct sentence *s, const struct report_point *p,
		      const char *mode)
{
	const struct report_mode *of = mode ? report_get(p->modes, mode) : NULL;
	const struct report_mode *eager = report_get(p->modes, "eager");
	const char *who = of && of->latency ? mode : "eager";
	double scale = m->time.scale;
	const struct report_latency *l;
	struct report_figure *f;

	of = of && of->latency ? of : eager;
	if (!of || !of->latency) {
		sentence_add(s, PART_CLAIM, "Nothing was timed in this run");
		sentence_add(s, PART_PLAIN, ": it compares values and graphs only.");
		return;
	}
	l = of->latency;
	f = wording_figure(
	    s->wording,
	    &(struct interval){ l->ci_us.low / scale, l->median_us / scale, l->ci_us.high / scale },
	    "");
	sentence_add(s, PART_CLAIM, "%s takes %s %s", who, f ? f->text : "", m->time.name);
	sentence_interval(s, f);
	sentence_add(s, PART_PLAIN, " a call%s. %s, so nothing is compared.", place_at(m, p),
		     of == eager ? "No compiled mode was measured" : "Eager was not measured");
}

/* ---- lists of modes ---- */

/* "static", "static and auto", "static, auto and lazy": names are gathered with commas, and the
 * last of them is joined by a word. */
static const char *joined(struct maker *m, const char *names)
{
	const char *last = strrchr(names, ',');

	return last ? maker_text(m, "%.*s and%s", (int)(last - names), names, last + 1) : names;
}

static void gather(struct maker *m, const char **names, const char *name)
{
	*names = *names ? maker_text(m, "%s, %s", *names, name) : name;
}

/* Which modes give other values. */
static void say_wrong(struct maker *m, struct sentence *s)
{
	const char *names = NULL, *name;
	size_t n = 0;

	for (size_t i = 0; i < m->n_points; i++)
		for (size_t k = 0; k < m->points[i].modes.n; k++) {
			const struct report_mode *of = &m->points[i].modes.at[k];
			bool known = false;

			name = m->points[i].modes.keys[k];
			for (size_t j = 0; j < i && !known; j++) {
				const struct report_mode *before = report_get(m->points[j].modes,
									      name);

				known = before && before->has.agrees && !before->agrees;
			}
			if (known || !of->has.agrees || of->agrees)
				continue;
			gather(m, &names, name);
			n++;
		}
	if (!n)
		return;
	sentence_add(s, PART_CLAIM, "%s %s with eager", names, n == 1 ? "DISAGREES" : "DISAGREE");
	sentence_add(s, PART_PLAIN, ": %s values are wrong, so %s speed is not compared.",
		     n == 1 ? "its" : "their", n == 1 ? "its" : "their");
}

/* ---- autocast ---- */

/* "Autocast is faster in static and slower in auto." */
static const char *autocast_speed(struct maker *m, const struct report_autocast *autocast)
{
	const char *faster = NULL, *slower = NULL, *open = NULL, *text = "";

	for (size_t i = 0; i < autocast->modes.n; i++) {
		const struct report_autocast_mode *at = &autocast->modes.at[i];

		if (!at->has.verdict)
			continue;
		gather(m,
		       is(at->verdict, VERDICT_FASTER)   ? &faster
		       : is(at->verdict, VERDICT_SLOWER) ? &slower
							 : &open,
		       autocast->modes.keys[i]);
	}
	if (faster && slower)
		text = maker_text(m, "Autocast is faster in %s and slower in %s.",
				  joined(m, faster), joined(m, slower));
	else if (faster || slower)
		text = maker_text(m, "Autocast is %s in %s.", faster ? "faster" : "slower",
				  joined(m, faster ? faster : slower));
	return open ? maker_text(m, "%s%sIn %s no difference can be told.", text, *text ? " " : "",
				 joined(m, open))
		    : text;
}

/* "It takes less memory in static." */
static const char *autocast_memory(struct maker *m, const struct report_autocast *autocast)
{
	const char *less = NULL, *more = NULL;

	for (size_t i = 0; i < autocast->modes.n; i++) {
		double ratio = autocast->modes.at[i].activation_ratio;

		if (ratio < 1)
			gather(m, &less, autocast->modes.keys[i]);
		else if (ratio > 1)
			gather(m, &more, autocast->modes.keys[i]);
	}
	if (more)
		more = maker_text(m, "in %s: the copies that it casts outweigh the smaller results",
				  joined(m, more));
	if (less && more)
		return maker_text(m, "It takes less memory in %s and more %s.", joined(m, less),
				  more);
	return less   ? maker_text(m, "It takes less memory in %s.", joined(m, less))
	       : more ? maker_text(m, "It takes more memory %s.", more)
		      : "";
}

/* What autocast saved; "" where nothing is said. */
static const char *say_autocast(struct maker *m, const struct report_autocast *autocast)
{
	const char *speed = autocast_speed(m, autocast), *memory = autocast_memory(m, autocast);

	return maker_text(m, "%s%s%s", speed, *speed && *memory ? " " : "", memory);
}

/* ---- how it was measured ---- */

/* Of modes whose agreement was judged; "" where none was. */
static const char *values_judged(struct maker *m, const struct report_point *p)
{
	const char *wrong = NULL, *near = NULL, *same = NULL;
	bool all = true, by_float64 = true;

	for (size_t i = 0; i < p->modes.n; i++) {
		const struct report_agreement *a = p->modes.at[i].agreement;

		if (!p->modes.at[i].latency || !a) {
			all &= !p->modes.at[i].latency || strcmp(p->modes.keys[i], "eager") == 0;
			continue;
		}
		if (strcmp(a->verdict, "disagrees") == 0)
			gather(m, &wrong, p->modes.keys[i]);
		if (strcmp(a->verdict, "exact") == 0)
			gather(m, &same, p->modes.keys[i]);
		if (strcmp(a->verdict, "within_dtype") != 0)
			continue;
		gather(m, &near, p->modes.keys[i]);
		by_float64 &= strcmp(a->judge, "float64") == 0;
	}
	if (wrong)
		return maker_text(m, " %s: values differ from eager's.", wrong);
	if (near)
		return maker_text(m, " %s: within the dtype's tolerance%s.", near,
				  by_float64 ? ", judged by float64" : "");
	if (!same)
		return "";
	return all ? " All modes match eager bit for bit."
		   : maker_text(m, " %s: bit for bit as eager.", same);
}

/* Of a report from before agreements were kept. */
static const char *values_within(struct maker *m, const struct report_point *p)
{
	char text[NUMBER_BYTES];
	double most = -1;

	for (size_t i = 0; i < p->modes.n; i++) {
		const struct report_mode *at = &p->modes.at[i];

		if (!at->latency || !at->has.max_abs_error)
			continue;
		if (!isfinite(at->max_abs_error))
			return " A mode's values differ from eager's by NaN.";
		most = fmax(most, at->max_abs_error);
	}
	number_error(text, most);
	return most < 0    ? ""
	       : most == 0 ? " All modes give eager's values."
			   : maker_text(m, " All modes agree with eager within %s.", text);
}

/* And whether values agree. */
static const char *say_how(struct maker *m, const struct report_point *p)
{
	char few[NUMBER_BYTES], many[NUMBER_BYTES];
	const char *values = values_judged(m, p), *rounds = "";
	int64_t least = INT64_MAX, most = 0;
	bool any = false;

	for (size_t i = 0; i < p->modes.n; i++) {
		const struct report_latency *l = p->modes.at[i].latency;

		any |= l != NULL;
		if (!l || l->n <= 0)
			continue;
		least = l->n < least ? l->n : least;
		most = l->n > most ? l->n : most;
	}
	if (!any)
		return "";
	number_print(few, (double)least, 1);
	number_print(many, (double)most, 1);
	if (most > 0 && least == most)
		rounds = maker_text(m, " of %s round%s", few, least == 1 ? "" : "s");
	else if (most > 0)
		rounds = maker_text(m, " of %s to %s rounds", few, many);
	return maker_text(m, "Median%s, modes interleaved; 95 %% intervals.%s", rounds,
			  *values ? values : values_within(m, p));
}

/* ---- units, which all points share ---- */

/* What a column holds. */
struct finding_span {
	double least, most; /* least: of those above 0 */
};

static void widen(struct finding_span *s, double value)
{
	if (!isfinite(value))
		return;
	s->most = fmax(s->most, value);
	if (value > 0)
		s->least = fmin(s->least, value);
}

struct columns {
	struct finding_span time, compile, bytes, activations;
};

static void widen_torch(struct columns *c, const struct report_torch_mode_map *modes,
			const struct report_comparison_map *against)
{
	for (size_t i = 0; i < modes->n; i++) {
		const struct report_torch_mode *m = &modes->at[i];
		const struct report_comparison *b = report_get(*against, modes->keys[i]);

		widen(&c->time, m->latency ? m->latency->median_us : NAN);
		widen(&c->compile, b ? b->compile_ms : m->compile_ms);
		widen(&c->bytes, m->has.peak_bytes ? (double)m->peak_bytes : NAN);
	}
}

static void widen_autocast(struct columns *c, const struct report_autocast *autocast)
{
	for (size_t i = 0; autocast && i < autocast->modes.n; i++) {
		const struct report_autocast_mode *m = &autocast->modes.at[i];
		const struct report_autocast_side *sides[] = { m->with, m->without };

		for (int k = 0; k < 2; k++) {
			widen(&c->time, sides[k]->median_us);
			widen(&c->activations, (double)sides[k]->activation_bytes);
		}
	}
}

static void choose_units(struct maker *m, const struct report_torch *torch)
{
	struct columns c = { { INFINITY, 0 }, { INFINITY, 0 }, { INFINITY, 0 }, { INFINITY, 0 } };

	for (size_t i = 0; i < m->n_points; i++)
		for (size_t k = 0; k < m->points[i].modes.n; k++) {
			const struct report_mode *at = &m->points[i].modes.at[k];
			const struct report_comparison *b = report_get(m->points[i].break_even,
								       m->points[i].modes.keys[k]);

			widen(&c.time, at->latency ? at->latency->median_us : NAN);
			widen(&c.compile, b && b->has.compile_ms ? b->compile_ms : at->compile_ms);
			widen(&c.bytes, at->has.peak_bytes ? (double)at->peak_bytes : NAN);
		}
	for (size_t i = 0; i < m->n_points; i++)
		widen_autocast(&c, m->points[i].autocast);
	if (torch && !torch->points.n)
		widen_torch(&c, &torch->modes, &torch->break_even);
	for (size_t i = 0; torch && i < torch->points.n; i++)
		widen_torch(&c, &torch->points.at[i].modes, &torch->points.at[i].break_even);
	m->time = number_time_unit(c.time.most);
	m->compile = number_time_unit(fmax(c.compile.most * 1e3, 10e3)); /* never us */
	m->bytes = number_bytes_unit(c.bytes.least, c.bytes.most);
	m->activations = number_bytes_unit(c.activations.least, c.activations.most);
}

/* ---- a mode ---- */

/* What is said of a mode, ours or PyTorch's. */
struct facts {
	const struct report_latency *latency;
	const struct report_comparison *against; /* NULL: nothing */
	const char *verdict;
	double compile_ms, launches, peak_bytes; /* NAN: unknown */
};

static const char *short_text(struct maker *m, double x)
{
	char text[NUMBER_BYTES];

	number_short(text, x);
	return maker_text(m, "%s", text);
}

/* After how many calls, or a word; NULL: it is held against nothing. */
static const char *repaid(struct maker *m, const struct report_comparison *b)
{
	if (!b || !b->has.repay)
		return NULL;
	if (strcmp(b->repay, repay_word(REPAY_AFTER)) != 0)
		return b->repay;
	return b->calls_to_repay < 1 ? "at once" : short_text(m, b->calls_to_repay);
}

enum { NEARLY = 9 }; /* nine tenths of the speedup, where a tenth of the time is compiling's */

static struct report_figure *repaid_after(struct maker *m, const struct report_comparison *b)
{
	bool known = b->has.calls_to_repay;
	struct interval calls = {
		known && b->has.calls_to_repay_ci ? b->calls_to_repay_ci.low : NAN,
		known ? b->calls_to_repay : NAN,
		known && b->has.calls_to_repay_ci ? b->calls_to_repay_ci.high : NAN
	};
	struct report_figure *f = report_new_figure(1, m->wording.arena);

	m->wording.failed |= !f;
	if (!f)
		return NULL;
	if (!known) {
		REPORT_SET(f, text, b->has.repay ? b->repay : repay_word(REPAY_UNKNOWN));
		return f;
	}
	REPORT_SET(
	    f, text,
	    maker_text(m, "%s %s", figure_text(m, calls.mid), calls.mid == 1 ? "call" : "calls"));
	if (isfinite(calls.low) && isfinite(calls.high) &&
	    strcmp(figure_text(m, calls.low), figure_text(m, calls.high)) != 0) {
		REPORT_SET(f, low, figure_text(m, calls.low));
		REPORT_SET(f, high, figure_text(m, calls.high));
	}
	return f;
}

/* When compiling is repaid; nothing of a mode that compiled nothing, or was held against nothing.
 */
static void put_repay(struct maker *m, struct report_findings_mode *to, const struct facts *x)
{
	const struct report_comparison *b = x->against;
	double saved, nearly;
	struct report_findings_repay *r;
	char text[NUMBER_BYTES];

	if (!x->latency || !b || !b->has.speedup || !(x->compile_ms > 0))
		return;
	r = report_new_findings_repay(1, m->wording.arena);
	m->wording.failed |= !r;
	if (!r)
		return;
	saved = b->has.saved_us ? b->saved_us : 0;
	nearly = ceil(NEARLY * x->compile_ms * 1e3 / x->latency->median_us);
	number_duration(text, x->compile_ms * 1e3);
	REPORT_SET(r, compile, maker_text(m, "%s", text));
	if (saved > 0)
		REPORT_SET(r, saved,
			   wording_figure(&m->wording,
					  &(struct interval){
					      b->has.saved_ci_us ? b->saved_ci_us.low : NAN, saved,
					      b->has.saved_ci_us ? b->saved_ci_us.high : NAN },
					  ""));
	REPORT_SET(r, after, repaid_after(m, b));
	REPORT_SET_OR_NULL(r, nearly, saved > 0, (int64_t)nearly);
	REPORT_SET(r, nearly_after, saved > 0 ? figure_text(m, nearly) : "never");
	REPORT_SET(to, repay, r);
}

static void put_mode(struct maker *m, struct report_findings_mode *to, const struct facts *x)
{
	const struct report_latency *l = x->latency;
	const struct report_comparison *b = x->against;
	bool wrong = x->verdict && strcmp(x->verdict, verdict_word(VERDICT_DISAGREES)) == 0;
	double scale = m->time.scale;
	const char *calls;

	REPORT_SET(to, sentence, (struct report_sentence_part_list){ 0 });
	if (x->verdict)
		REPORT_SET(to, verdict, x->verdict);
	if (l)
		REPORT_SET(
		    to, median,
		    wording_figure(&m->wording,
				   &(struct interval){ l->ci_us.low / scale, l->median_us / scale,
						       l->ci_us.high / scale },
				   ""));
	if (b && b->has.speedup && !wrong)
		REPORT_SET(to, speedup,
			   wording_figure(&m->wording,
					  &(struct interval){ b->speedup_ci.low, b->speedup,
							      b->speedup_ci.high },
					  "x"));
	if (isfinite(x->compile_ms))
		REPORT_SET(to, compile, short_text(m, x->compile_ms * 1e3 / m->compile.scale));
	calls = wrong ? NULL : repaid(m, b);
	if (calls)
		REPORT_SET(to, repaid, calls);
	put_repay(m, to, x);
	if (isfinite(x->launches))
		REPORT_SET(to, launches, short_text(m, x->launches));
	if (isfinite(x->peak_bytes))
		REPORT_SET(to, peak, short_text(m, x->peak_bytes / m->bytes.scale));
}

static void put_error(struct maker *m, struct report_findings_mode *to, double error)
{
	char text[NUMBER_BYTES];

	number_error(text, error);
	REPORT_SET(to, error, maker_text(m, "%s", text));
}

static void put_own_mode(struct maker *m, const struct report_point *p, size_t i,
			 struct report_findings_mode *to)
{
	const struct report_mode *at = &p->modes.at[i];
	const char *mode = p->modes.keys[i];
	const struct report_comparison *b = report_get(p->break_even, mode);
	struct facts x = {
		at->latency,         b,
		verdict_at(p, mode), b && b->has.compile_ms ? b->compile_ms : at->compile_ms,
		at->launches,        at->has.peak_bytes ? (double)at->peak_bytes : NAN
	};
	struct sentence s;

	put_mode(m, to, &x);
	if (at->has.max_abs_error)
		put_error(m, to, at->max_abs_error);
	if (x.verdict) {
		s = sentence_begin(&m->wording, &to->sentence);
		say_verdict(m, &s, p, mode);
		if (p == &m->points[m->n_points - 1])
			say_crossing(&s, report_get(m->run->break_even, mode), m->run->points.n);
	}
}

/* ---- points ---- */

static bool begin_modes(struct maker *m, struct report_findings_point *to, const char **keys,
			size_t n)
{
	REPORT_SET(to, modes,
		   (struct report_findings_mode_map){ report_new_findings_mode(n, m->wording.arena),
						      n, keys });
	REPORT_SET(to, how, "");
	m->wording.failed |= !to->modes.at;
	return !m->wording.failed;
}

static struct report_findings_side *side(struct maker *m, const struct report_autocast_side *of)
{
	struct report_findings_side *to = report_new_findings_side(1, m->wording.arena);
	double scale = m->time.scale;

	m->wording.failed |= !to;
	if (!to)
		return NULL;
	if (of->has.median_us)
		REPORT_SET(
		    to, median,
		    wording_figure(&m->wording,
				   &(struct interval){ of->ci_us.low / scale, of->median_us / scale,
						       of->ci_us.high / scale },
				   ""));
	if (of->has.samples_per_s)
		REPORT_SET(to, rate, short_text(m, of->samples_per_s));
	REPORT_SET(to, activations,
		   short_text(m, (double)of->activation_bytes / m->activations.scale));
	return to;
}

static void put_cast(struct maker *m, const struct report_autocast_mode *of,
		     struct report_findings_cast *to)
{
	char error[NUMBER_BYTES];

	REPORT_SET(to, with, side(m, of->with));
	REPORT_SET(to, without, side(m, of->without));
	if (of->has.speedup)
		REPORT_SET(to, speedup,
			   wording_figure(&m->wording,
					  &(struct interval){ of->speedup_ci.low, of->speedup,
							      of->speedup_ci.high },
					  "x"));
	if (of->has.verdict)
		REPORT_SET(to, verdict, of->verdict);
	number_error(error, of->max_abs_error);
	REPORT_SET(to, error, maker_text(m, "%s", error));
}

static void put_autocast(struct maker *m, const struct report_autocast *autocast,
			 struct report_findings_point *to)
{
	struct report_findings_autocast *a = report_new_findings_autocast(1, m->wording.arena);
	struct report_findings_cast *modes = report_new_findings_cast(autocast->modes.n,
								      m->wording.arena);

	m->wording.failed |= !a || !modes;
	if (m->wording.failed)
		return;
	REPORT_SET(a, sentence, say_autocast(m, autocast));
	REPORT_SET(
	    a, modes,
	    (struct report_findings_cast_map){ modes, autocast->modes.n, autocast->modes.keys });
	for (size_t i = 0; i < autocast->modes.n; i++)
		put_cast(m, &autocast->modes.at[i], &modes[i]);
	REPORT_SET(to, autocast, a);
}

static void put_point(struct maker *m, const struct report_point *p,
		      struct report_findings_point *to)
{
	if (p->has.n)
		REPORT_SET(to, n, p->n);
	if (!begin_modes(m, to, p->modes.keys, p->modes.n))
		return;
	to->how = say_how(m, p);
	for (size_t i = 0; i < p->modes.n; i++)
		put_own_mode(m, p, i, &to->modes.at[i]);
	put_modes(m, p, to);
	if (p->autocast && !p->autocast->has.error)
		put_autocast(m, p->autocast, to);
}

static void put_torch_point(struct maker *m, const struct report_torch_point *p,
			    struct report_findings_point *to)
{
	if (p->has.n)
		REPORT_SET(to, n, p->n);
	if (!begin_modes(m, to, p->modes.keys, p->modes.n))
		return;
	for (size_t i = 0; i < p->modes.n; i++) {
		const struct report_torch_mode *at = &p->modes.at[i];
		const struct report_comparison *b = report_get(p->break_even, p->modes.keys[i]);
		bool wrong = at->values && !at->values->agree;
		struct facts x = {
			at->latency, b,
			NULL,        b && b->has.compile_ms ? b->compile_ms : at->compile_ms,
			NAN,         at->has.peak_bytes ? (double)at->peak_bytes : NAN
		};

		if (wrong)
			x.verdict = verdict_word(VERDICT_DISAGREES);
		else if (b)
			x.verdict = b->has.verdict ? b->verdict : verdict_word(VERDICT_NOT_ENOUGH);
		put_mode(m, &to->modes.at[i], &x);
		if (at->values && !wrong)
			put_error(m, &to->modes.at[i], at->values->max_abs_error);
		if (at->over_ours)
			REPORT_SET(&to->modes.at[i], over_ours,
				   wording_figure(&m->wording,
						  &(struct interval){ at->over_ours->ci.low,
								      at->over_ours->ratio,
								      at->over_ours->ci.high },
						  "x"));
	}
}

static void put_torch(struct maker *m, const struct report_torch *t, struct report_findings *out)
{
	struct report_torch_point whole = { 0 };
	size_t n = t && !t->points.n ? 1 : t ? t->points.n : 0;

	REPORT_SET(out, torch,
		   (struct report_findings_point_list){
		       report_new_findings_point(n, m->wording.arena), n });
	m->wording.failed |= !out->torch.at;
	if (t && !t->points.n) {
		whole.modes = t->modes;
		whole.break_even = t->break_even;
	}
	for (size_t i = 0; !m->wording.failed && i < n; i++)
		put_torch_point(m, t->points.n ? &t->points.at[i] : &whole, &out->torch.at[i]);
}

/* ---- the whole ---- */

/* Static where it was measured, else the first compiled mode in the page's order; NULL: none was.
 */
static const char *headline(const struct maker *m)
{
	static const char *const order[] = { "static", "lazy", "dynamic", "auto", "graphs" };

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		for (size_t k = 0; k < m->n_points; k++)
			if (report_get(m->points[k].modes, order[i]))
				return order[i];
	return NULL;
}

static void put_answer(struct maker *m, struct report_findings *out)
{
	const char *mode = headline(m);
	const struct report_point *last = &m->points[m->n_points - 1];
	const struct report_findings_mode *of =
	    mode ? report_get(out->points.at[m->n_points - 1].modes, mode) : NULL;
	struct sentence s;

	if (mode)
		REPORT_SET(out, mode, mode);
	REPORT_SET(out, answer, (struct report_sentence_part_list){ 0 });
	if (of && of->sentence.n) {
		out->answer = of->sentence;
		return;
	}
	s = sentence_begin(&m->wording, &out->answer);
	if (!say_result(&s, m->run))
		say_alone(m, &s, last, mode);
}

static void put_rest(struct maker *m, struct report_findings *out)
{
	struct sentence s;

	put_doubts(m, out);
	REPORT_SET(out, wrong, (struct report_sentence_part_list){ 0 });
	s = sentence_begin(&m->wording, &out->wrong);
	say_wrong(m, &s);
	REPORT_SET(out, time_unit, m->time.name);
	REPORT_SET(out, compile_unit, m->compile.name);
	REPORT_SET(out, bytes_unit, m->bytes.name);
	REPORT_SET(out, activations_unit, m->activations.name);
}

struct report_findings *findings_make(const struct report_run *run, struct arena *arena,
				      struct err *err)
{
	const struct report_torch *torch = run->engines ? run->engines->torch : NULL;
	const struct report_point whole = { .modes = run->modes,
					    .break_even = run->break_even,
					    .autocast = run->autocast };
	struct maker m = {
		.run = run, .wording = { .arena = arena }, .points = &whole, .n_points = 1
	};
	struct report_findings *out = report_new_findings(1, arena);

	if (run->points.n) {
		m.points = run->points.at;
		m.n_points = run->points.n;
	}
	if (out) {
		choose_units(&m, torch);
		REPORT_SET(out, points,
			   (struct report_findings_point_list){
			       report_new_findings_point(m.n_points, arena), m.n_points });
		m.wording.failed |= !out->points.at;
	}
	for (size_t i = 0; out && !m.wording.failed && i < m.n_points; i++)
		put_point(&m, &m.points[i], &out->points.at[i]);
	if (out && !m.wording.failed) {
		put_torch(&m, torch, out);
		put_answer(&m, out);
		put_rest(&m, out);
	}
	if (out && !m.wording.failed)
		return out;
	err_set(err, ERR_MEMORY, "out of memory for what a run's figures say");
	return NULL;
}

/* ---- as text ---- */

/* The i-th mode of the last point that has a sentence. */
static const struct report_sentence_part_list *compared(const struct report_findings *f, size_t i)
{
	const struct report_findings_point *last = &f->points.at[f->points.n - 1];

	for (size_t k = 0; k < last->modes.n; k++)
		if (last->modes.at[k].sentence.n && i-- == 0)
			return &last->modes.at[k].sentence;
	return NULL;
}

const struct report_sentence_part_list *findings_sentence(const struct report_findings *f, size_t i)
{
	return compared(f, 0) ? compared(f, i) : i == 0 ? &f->answer : NULL;
}
