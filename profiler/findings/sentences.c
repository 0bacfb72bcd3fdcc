/* profiler/findings/sentences.c -- what a run says in words.  Nothing claims more than its interval
 * holds. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profiler/findings/maker.h"
#include "profiler/measure/break_even.h"

enum { MOST_PARTS = 24 };

struct sentence sentence_begin(struct maker *m, struct report_sentence_part_list *to)
{
	*to = (struct report_sentence_part_list){ report_new_sentence_part(MOST_PARTS, m->arena),
						  0 };
	m->failed |= to->at == NULL;
	return (struct sentence){ m, to };
}

void sentence_add(struct sentence *s, enum part as, const char *format, ...)
{
	static const char *const kinds[] = { [PART_CLAIM] = "claim", [PART_INTERVAL] = "interval" };
	struct report_sentence_part *part;
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	part = s->parts->n ? &s->parts->at[s->parts->n - 1] : NULL;
	if (s->maker->failed || !*text)
		return;
	if (part && as == PART_PLAIN && !part->has.as) { /* they are one */
		part->text = maker_text(s->maker, "%s%s", part->text, text);
		return;
	}
	if (s->parts->n == MOST_PARTS)
		return;
	part = &s->parts->at[s->parts->n++];
	REPORT_SET(part, text, maker_copy(s->maker, text));
	if (as != PART_PLAIN)
		REPORT_SET(part, as, kinds[as]);
}

const char *place_at(struct maker *m, const struct report_point *p)
{
	char n[NUMBER_BYTES];

	if (!p->has.n)
		return "";
	number_plain(n, p->n);
	return maker_text(m, " at n = %s", n);
}

/* ---- a verdict ---- */

static bool is(const char *word, enum verdict verdict)
{
	return word && strcmp(word, verdict_word(verdict)) == 0;
}

const char *verdict_at(const struct report_point *p, const char *mode)
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

/* " (3.54–3.55)"; nothing where no interval was measured. */
static void add_interval(struct sentence *s, const struct number_triple *t, double low)
{
	if (!isnan(low))
		sentence_add(s, PART_INTERVAL, " (%s–%s)", t->low, t->high);
}

static void say_repaid(struct sentence *s, const struct report_comparison *b)
{
	const char *unit = s->maker->compile.name, *repay = b->has.repay ? b->repay : "";
	char compile[NUMBER_BYTES], calls[NUMBER_BYTES];

	number_short(compile, b->compile_ms * 1e3 / s->maker->compile.scale);
	number_short(calls, b->calls_to_repay);
	if (strcmp(repay, repay_word(REPAY_NEVER)) == 0) {
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
	struct number_triple t;

	if (faster)
		number_triple(&t, b->speedup, low, high);
	else
		number_triple(&t, 1 / b->speedup, 1 / high, 1 / low);
	sentence_add(s, PART_CLAIM, "%s is %sx", mode, t.mid);
	add_interval(s, &t, low);
	sentence_add(s, PART_CLAIM, faster ? " faster" : " slower");
	sentence_add(s, PART_PLAIN, " than eager");
}

static void say_open(struct sentence *s, const char *mode, const struct report_comparison *b,
		     bool same)
{
	struct number_triple t;

	number_triple(&t, b->speedup, b->speedup_ci.low, b->speedup_ci.high);
	sentence_add(s, PART_CLAIM,
		     same ? "%s is as fast as eager"
			  : "Whether %s is faster than eager cannot be told",
		     mode);
	sentence_add(s, PART_PLAIN, ", %sx", t.mid);
	add_interval(s, &t, b->speedup_ci.low);
}

void say_verdict(struct sentence *s, const struct report_point *p, const char *mode)
{
	const struct report_comparison *b = report_get(p->break_even, mode);
	const char *verdict = verdict_at(p, mode);

	if (!verdict)
		return;
	if (is(verdict, VERDICT_DISAGREES)) {
		sentence_add(s, PART_CLAIM, "%s DISAGREES", mode);
		sentence_add(s, PART_PLAIN, ": its values are not eager's%s.",
			     place_at(s->maker, p));
		return;
	}
	if (is(verdict, VERDICT_FASTER) || is(verdict, VERDICT_SLOWER))
		say_faster(s, mode, b, is(verdict, VERDICT_FASTER));
	else if (is(verdict, VERDICT_SAME) || is(verdict, VERDICT_AMBIGUOUS))
		say_open(s, mode, b, is(verdict, VERDICT_SAME));
	else
		sentence_add(s, PART_CLAIM, "There are not enough samples to compare %s with eager",
			     mode);
	sentence_add(s, PART_PLAIN, "%s", place_at(s->maker, p));
	say_repaid(s, b);
	sentence_add(s, PART_PLAIN, ".");
}

void say_crossing(struct sentence *s, const struct report_comparison *whole, size_t points)
{
	const char *side = whole && whole->has.side ? whole->side : NULL;
	struct number_triple t;
	bool above;

	if (!side || points < 2 || strcmp(side, side_word(SIDE_DISAGREES)) == 0)
		return;
	if (strcmp(side, side_word(SIDE_ALWAYS)) == 0 || strcmp(side, side_word(SIDE_NEVER)) == 0) {
		sentence_add(s, PART_PLAIN, " It is not %s at any n of the sweep.",
			     strcmp(side, side_word(SIDE_ALWAYS)) == 0 ? "slower" : "faster");
		return;
	}
	above = strcmp(side, side_word(SIDE_ABOVE)) == 0;
	number_triple(&t, whole->crossover_n, whole->crossover_ci.low, whole->crossover_ci.high);
	if (whole->meetings > 1)
		sentence_add(s, PART_PLAIN, " The two cross %lld times; from n = %s",
			     (long long)whole->meetings, t.mid);
	else
		sentence_add(s, PART_PLAIN, " %s n = %s", above ? "Below" : "Above", t.mid);
	add_interval(s, &t, whole->crossover_ci.low);
	if (whole->meetings > 1)
		sentence_add(s, PART_PLAIN, " on %s is faster.", above ? "it" : "eager");
	else
		sentence_add(s, PART_PLAIN, " stay with eager.");
}

void say_alone(struct sentence *s, const struct report_point *p, const char *mode)
{
	const struct report_mode *m = mode ? report_get(p->modes, mode) : NULL;
	const struct report_mode *eager = report_get(p->modes, "eager");
	const char *who = m && m->latency ? mode : "eager", *unit = s->maker->time.name;
	double scale = s->maker->time.scale;
	const struct report_latency *l;
	struct number_triple t;

	m = m && m->latency ? m : eager;
	if (!m || !m->latency) {
		sentence_add(s, PART_CLAIM, "Nothing was timed in this run");
		sentence_add(s, PART_PLAIN, ": it compares values and graphs only.");
		return;
	}
	l = m->latency;
	number_triple(&t, l->median_us / scale, l->ci_us.low / scale, l->ci_us.high / scale);
	sentence_add(s, PART_CLAIM, "%s takes %s %s", who, t.mid, unit);
	add_interval(s, &t, l->ci_us.low);
	sentence_add(s, PART_PLAIN, " a call%s. %s, so nothing is compared.", place_at(s->maker, p),
		     m == eager ? "No compiled mode was measured" : "Eager was not measured");
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

void say_wrong(struct sentence *s)
{
	const char *names = NULL, *name;
	size_t n = 0;

	for (size_t i = 0; i < s->maker->n_points; i++)
		for (size_t k = 0; k < s->maker->points[i].modes.n; k++) {
			const struct report_mode *m = &s->maker->points[i].modes.at[k];
			bool known = false;

			name = s->maker->points[i].modes.keys[k];
			for (size_t j = 0; j < i && !known; j++) {
				const struct report_mode *before = report_get(
				    s->maker->points[j].modes, name);

				known = before && before->has.agrees && !before->agrees;
			}
			if (known || !m->has.agrees || m->agrees)
				continue;
			gather(s->maker, &names, name);
			n++;
		}
	if (!n)
		return;
	sentence_add(s, PART_CLAIM, "%s %s with eager", names, n == 1 ? "DISAGREES" : "DISAGREE");
	sentence_add(s, PART_PLAIN, ": %s values are wrong, so how quick %s is not compared.",
		     n == 1 ? "its" : "their", n == 1 ? "it is" : "they are");
}

/* ---- autocast ---- */

/* "Autocast is faster in static and slower in auto." */
static const char *autocast_speed(struct maker *m, const struct report_mixed *mixed)
{
	const char *faster = NULL, *slower = NULL, *open = NULL, *text = "";

	for (size_t i = 0; i < mixed->modes.n; i++) {
		const struct report_mixed_mode *at = &mixed->modes.at[i];

		if (!at->has.verdict)
			continue;
		gather(m,
		       is(at->verdict, VERDICT_FASTER)   ? &faster
		       : is(at->verdict, VERDICT_SLOWER) ? &slower
							 : &open,
		       mixed->modes.keys[i]);
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
static const char *autocast_memory(struct maker *m, const struct report_mixed *mixed)
{
	const char *less = NULL, *more = NULL;

	for (size_t i = 0; i < mixed->modes.n; i++) {
		double ratio = mixed->modes.at[i].activation_ratio;

		if (ratio < 1)
			gather(m, &less, mixed->modes.keys[i]);
		else if (ratio > 1)
			gather(m, &more, mixed->modes.keys[i]);
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

const char *say_autocast(struct maker *m, const struct report_mixed *mixed)
{
	const char *speed = autocast_speed(m, mixed), *memory = autocast_memory(m, mixed);

	return maker_text(m, "%s%s%s", speed, *speed && *memory ? " " : "", memory);
}

/* ---- how it was measured ---- */

/* Of modes whose agreement was judged; "" where none was. */
static const char *values_judged(struct maker *m, const struct report_point *p)
{
	const char *wrong = NULL, *near = NULL;
	bool any = false, by_float64 = true;

	for (size_t i = 0; i < p->modes.n; i++) {
		const struct report_agreement *a = p->modes.at[i].agreement;

		if (!p->modes.at[i].latency || !a)
			continue;
		any = true;
		if (strcmp(a->verdict, "disagrees") == 0)
			gather(m, &wrong, p->modes.keys[i]);
		if (strcmp(a->verdict, "within_dtype") != 0)
			continue;
		gather(m, &near, p->modes.keys[i]);
		by_float64 &= strcmp(a->judge, "float64") == 0;
	}
	if (wrong)
		return maker_text(m, " %s: other values than eager's.", wrong);
	if (near)
		return maker_text(m, " %s: within what the dtype allows%s.", near,
				  by_float64 ? ", as float64 judges" : "");
	return any ? " Every mode gives eager's bits." : "";
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
	       : most == 0 ? " Every mode gives eager's bits."
			   : maker_text(m, " Every mode agrees with eager within %s.", text);
}

const char *say_how(struct maker *m, const struct report_point *p)
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
	return maker_text(m, "Median%s, modes in turn in each; 95 %% intervals.%s", rounds,
			  *values ? values : values_within(m, p));
}
