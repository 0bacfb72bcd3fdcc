/* profiler/findings/findings.c -- what a run's figures say, made from its report. */
#include "profiler/findings/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profiler/findings/maker.h"
#include "profiler/measure/break_even.h"

/* ---- sentences ---- */

/* Parts of a sentence, which are added one after another. */
struct sentence {
	struct maker *maker;
	struct report_sentence_part_list *parts;
};

enum sentence_part { PART_PLAIN, PART_CLAIM, PART_INTERVAL };
enum { MOST_PARTS = 24 };

static struct sentence sentence_begin(struct maker *m, struct report_sentence_part_list *to)
{
	*to = (struct report_sentence_part_list){ report_new_sentence_part(MOST_PARTS, m->arena),
						  0 };
	m->failed |= to->at == NULL;
	return (struct sentence){ m, to };
}

static void __attribute__((format(printf, 3, 4)))
sentence_add(struct sentence *s, enum sentence_part as, const char *format, ...)
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
	REPORT_SET(part, text, maker_text(s->maker, "%s", text));
	if (as != PART_PLAIN)
		REPORT_SET(part, as, kinds[as]);
}

/* " at n = 30", or "" without a sweep. */
static const char *place_at(struct maker *m, const struct report_point *p)
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

/* A mode against eager: the verdict with its figures, and when compiling is repaid. */
static void say_verdict(struct sentence *s, const struct report_point *p, const char *mode)
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

/* Where the curves of a sweep cross. */
static void say_crossing(struct sentence *s, const struct report_comparison *whole, size_t points)
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

/* A median alone, where nothing can be compared, or that nothing was timed. */
static void say_alone(struct sentence *s, const struct report_point *p, const char *mode)
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

/* Which modes give other values. */
static void say_wrong(struct sentence *s)
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

/* What autocast saved; "" where nothing is said. */
static const char *say_autocast(struct maker *m, const struct report_mixed *mixed)
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
	return maker_text(m, "Median%s, modes in turn in each; 95 %% intervals.%s", rounds,
			  *values ? values : values_within(m, p));
}

/* ---- memory of a call: bytes are exact, so they have no interval ---- */

static const char *size(struct maker *m, int64_t bytes)
{
	char text[NUMBER_BYTES];

	number_bytes(text, (double)bytes);
	return maker_text(m, "%s", text);
}

/* Beyond what is there before the call. */
static int64_t added(const struct report_memory *memory)
{
	return memory->peak_bytes > memory->held_bytes ? memory->peak_bytes - memory->held_bytes
						       : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_shape(const struct report_integers *a, const struct report_integers *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n * sizeof(*a->at)) == 0);
}

/* Of one statement, and alike. */
static bool alike(const struct report_memory_tensor *a, const struct report_memory_tensor *b)
{
	return a->bytes == b->bytes && a->values == b->values && a->has.line == b->has.line &&
	       a->line == b->line && a->has.graph == b->has.graph && a->graph == b->graph &&
	       same_text(a->op, b->op) && same_text(a->use, b->use) &&
	       same_text(a->dtype, b->dtype) && same_shape(&a->shape, &b->shape);
}

/* What takes most at the peak: the first of tensors that are alike, and what they take together. */
static const struct report_memory_tensor *largest(const struct report_memory *memory,
						  int64_t *bytes)
{
	const struct report_memory_tensor *found = NULL;

	*bytes = 0;
	for (size_t i = 0; i < memory->tensors.n; i++) {
		const struct report_memory_tensor *t = &memory->tensors.at[i];
		int64_t sum = 0;

		for (size_t k = 0; t->at_peak && k < memory->tensors.n; k++) {
			const struct report_memory_tensor *other = &memory->tensors.at[k];

			sum += other->at_peak && alike(t, other) ? other->bytes : 0;
		}
		if (sum > *bytes || (sum > 0 && sum == *bytes && t->from_us < found->from_us)) {
			*bytes = sum;
			found = t;
		}
	}
	return found;
}

static const char *what(struct maker *m, const struct report_memory_tensor *t)
{
	if (t->values > 1)
		return maker_text(m, "%lld temporaries in one block", (long long)t->values);
	if (t->op)
		return t->op;
	return same_text(t->use, "constant")    ? "a constant"
	       : same_text(t->use, "recording") ? "a recording"
	       : same_text(t->use, "temporary") ? "a temporary"
						: "no op";
}

static void say_own(struct sentence *s, const char *mode, const struct report_memory *memory,
		    const struct report_memory *eager)
{
	int64_t own = added(memory), bytes,
		more = eager ? memory->held_bytes - eager->held_bytes : 0;
	const struct report_memory_tensor *first = largest(memory, &bytes);

	if (!own) {
		sentence_add(s, PART_CLAIM,
			     "A call in %s needs no memory beyond what is held before it", mode);
	} else {
		sentence_add(s, PART_CLAIM, "A call in %s adds %s", mode, size(s->maker, own));
		sentence_add(s, PART_PLAIN, " at its peak to the %s held before it",
			     size(s->maker, memory->held_bytes));
		if (first)
			sentence_add(s, PART_PLAIN, "; the largest there is %s by %s%s",
				     size(s->maker, bytes), what(s->maker, first),
				     first->line > 0 ? maker_text(s->maker, ", line %lld",
								  (long long)first->line)
						     : "");
	}
	if (more > own / 100 && more > 0)
		sentence_add(s, PART_PLAIN, ", but between calls it keeps %s more than eager",
			     size(s->maker, more));
	sentence_add(s, PART_PLAIN, ".");
}

/* Beside eager's; NULL: it was not watched. */
static void say_memory(struct sentence *s, const char *mode, const struct report_memory *memory,
		       const struct report_memory *eager)
{
	int64_t own = added(memory), other = eager ? added(eager) : 0;
	char ratio[NUMBER_BYTES];

	say_own(s, mode, memory, eager);
	if (!eager || eager == memory)
		return;
	sentence_add(s, PART_PLAIN, own <= other ? " Eager adds " : " Eager adds only ");
	sentence_add(s, PART_CLAIM, "%s", own == other ? "as much" : size(s->maker, other));
	number_short(ratio,
		     own < other ? (double)other / (double)own : (double)own / (double)other);
	if (own < other && own)
		sentence_add(s, PART_PLAIN, ", %sx as much.", ratio);
	else if (own > other && other)
		sentence_add(s, PART_PLAIN, ": %s takes %sx as much.", mode, ratio);
	else
		sentence_add(s, PART_PLAIN, ".");
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

static void widen_autocast(struct columns *c, const struct report_mixed *mixed)
{
	for (size_t i = 0; mixed && i < mixed->modes.n; i++) {
		const struct report_mixed_mode *m = &mixed->modes.at[i];
		const struct report_mixed_side *sides[] = { m->with, m->without };

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
			widen(&c.compile, b ? b->compile_ms : at->compile_ms);
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

static struct report_figure *figure(struct maker *m, const struct interval *x, const char *suffix)
{
	struct report_figure *f = report_new_figure(1, m->arena);
	struct number_triple t;

	m->failed |= !f;
	if (!f)
		return NULL;
	number_triple(&t, x->mid, x->low, x->high);
	REPORT_SET(f, text, maker_text(m, "%s%s", t.mid, suffix));
	if (!isfinite(x->low) || !isfinite(x->high))
		return f;
	REPORT_SET(f, low, maker_text(m, "%s", t.low));
	REPORT_SET(f, high, maker_text(m, "%s", t.high));
	return f;
}

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
		REPORT_SET(to, median,
			   figure(m,
				  &(struct interval){ l->ci_us.low / scale, l->median_us / scale,
						      l->ci_us.high / scale },
				  ""));
	if (b && b->has.speedup && !wrong)
		REPORT_SET(
		    to, speedup,
		    figure(m,
			   &(struct interval){ b->speedup_ci.low, b->speedup, b->speedup_ci.high },
			   "x"));
	if (isfinite(x->compile_ms))
		REPORT_SET(to, compile, short_text(m, x->compile_ms * 1e3 / m->compile.scale));
	calls = wrong ? NULL : repaid(m, b);
	if (calls)
		REPORT_SET(to, repaid, calls);
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
	const struct report_mode *at = &p->modes.at[i], *eager = report_get(p->modes, "eager");
	const char *mode = p->modes.keys[i];
	const struct report_comparison *b = report_get(p->break_even, mode);
	struct facts x = { at->latency,         b,
			   verdict_at(p, mode), b ? b->compile_ms : at->compile_ms,
			   at->launches,        at->has.peak_bytes ? (double)at->peak_bytes : NAN };
	struct sentence s;

	put_mode(m, to, &x);
	if (at->has.max_abs_error)
		put_error(m, to, at->max_abs_error);
	if (x.verdict) {
		s = sentence_begin(m, &to->sentence);
		say_verdict(&s, p, mode);
		if (p == &m->points[m->n_points - 1])
			say_crossing(&s, report_get(m->run->break_even, mode), m->run->points.n);
	}
	if (at->memory) {
		REPORT_SET(to, memory, (struct report_sentence_part_list){ 0 });
		s = sentence_begin(m, &to->memory);
		say_memory(&s, mode, at->memory, eager ? eager->memory : NULL);
	}
}

/* ---- points ---- */

static bool begin_modes(struct maker *m, struct report_findings_point *to, const char **keys,
			size_t n)
{
	REPORT_SET(
	    to, modes,
	    (struct report_findings_mode_map){ report_new_findings_mode(n, m->arena), n, keys });
	REPORT_SET(to, how, "");
	m->failed |= !to->modes.at;
	return !m->failed;
}

static struct report_findings_side *side(struct maker *m, const struct report_mixed_side *of)
{
	struct report_findings_side *to = report_new_findings_side(1, m->arena);
	double scale = m->time.scale;

	m->failed |= !to;
	if (!to)
		return NULL;
	if (of->has.median_us)
		REPORT_SET(to, median,
			   figure(m,
				  &(struct interval){ of->ci_us.low / scale, of->median_us / scale,
						      of->ci_us.high / scale },
				  ""));
	if (of->has.samples_per_s)
		REPORT_SET(to, rate, short_text(m, of->samples_per_s));
	REPORT_SET(to, activations,
		   short_text(m, (double)of->activation_bytes / m->activations.scale));
	return to;
}

static void put_cast(struct maker *m, const struct report_mixed_mode *of,
		     struct report_findings_cast *to)
{
	char error[NUMBER_BYTES];

	REPORT_SET(to, with, side(m, of->with));
	REPORT_SET(to, without, side(m, of->without));
	if (of->has.speedup)
		REPORT_SET(to, speedup,
			   figure(m,
				  &(struct interval){ of->speedup_ci.low, of->speedup,
						      of->speedup_ci.high },
				  "x"));
	if (of->has.verdict)
		REPORT_SET(to, verdict, of->verdict);
	number_error(error, of->max_abs_error);
	REPORT_SET(to, error, maker_text(m, "%s", error));
}

static void put_autocast(struct maker *m, const struct report_mixed *mixed,
			 struct report_findings_point *to)
{
	struct report_findings_autocast *a = report_new_findings_autocast(1, m->arena);
	struct report_findings_cast *modes = report_new_findings_cast(mixed->modes.n, m->arena);

	m->failed |= !a || !modes;
	if (m->failed)
		return;
	REPORT_SET(a, sentence, say_autocast(m, mixed));
	REPORT_SET(a, modes,
		   (struct report_findings_cast_map){ modes, mixed->modes.n, mixed->modes.keys });
	for (size_t i = 0; i < mixed->modes.n; i++)
		put_cast(m, &mixed->modes.at[i], &modes[i]);
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
		struct facts x = { at->latency, b,
				   NULL,        b ? b->compile_ms : at->compile_ms,
				   NAN,         at->has.peak_bytes ? (double)at->peak_bytes : NAN };

		if (wrong)
			x.verdict = verdict_word(VERDICT_DISAGREES);
		else if (b)
			x.verdict = b->has.verdict ? b->verdict : verdict_word(VERDICT_NOT_ENOUGH);
		put_mode(m, &to->modes.at[i], &x);
		if (at->values && !wrong)
			put_error(m, &to->modes.at[i], at->values->max_abs_error);
		if (at->over_ours)
			REPORT_SET(
			    &to->modes.at[i], over_ours,
			    figure(m,
				   &(struct interval){ at->over_ours->ci.low, at->over_ours->ratio,
						       at->over_ours->ci.high },
				   "x"));
	}
}

static void put_torch(struct maker *m, const struct report_torch *t, struct report_findings *out)
{
	struct report_torch_point whole = { 0 };
	size_t n = t && !t->points.n ? 1 : t ? t->points.n : 0;

	REPORT_SET(
	    out, torch,
	    (struct report_findings_point_list){ report_new_findings_point(n, m->arena), n });
	m->failed |= !out->torch.at;
	if (t && !t->points.n) {
		whole.modes = t->modes;
		whole.break_even = t->break_even;
	}
	for (size_t i = 0; !m->failed && i < n; i++)
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
	s = sentence_begin(m, &out->answer);
	say_alone(&s, last, mode);
}

static void put_rest(struct maker *m, struct report_findings *out)
{
	struct sentence s;

	put_doubts(m, out);
	REPORT_SET(out, wrong, (struct report_sentence_part_list){ 0 });
	s = sentence_begin(m, &out->wrong);
	say_wrong(&s);
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
	struct maker m = { .run = run, .arena = arena, .points = &whole, .n_points = 1 };
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
		m.failed |= !out->points.at;
	}
	for (size_t i = 0; out && !m.failed && i < m.n_points; i++)
		put_point(&m, &m.points[i], &out->points.at[i]);
	if (out && !m.failed) {
		put_torch(&m, torch, out);
		put_answer(&m, out);
		put_rest(&m, out);
	}
	if (out && !m.failed)
		return out;
	err_set(err, ERR_MEMORY, "out of memory for what a run's figures say");
	return NULL;
}

/* ---- as text ---- */

void findings_say(struct buf *out, const struct report_sentence_part_list *sentence)
{
	for (size_t i = 0; i < sentence->n; i++)
		buf_puts(out, sentence->at[i].text);
}

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
