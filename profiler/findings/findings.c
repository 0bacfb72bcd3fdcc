/* profiler/findings/findings.c -- what a run's figures say, made from its report. */
#include "profiler/findings/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profiler/findings/maker.h"
#include "profiler/measure/break_even.h"

const char *maker_copy(struct maker *m, const char *text)
{
	char *copy = arena_strdup(m->arena, text);

	m->failed |= !copy;
	return copy ? copy : "";
}

const char *maker_text(struct maker *m, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = len < 0 ? NULL : arena_alloc(m->arena, (size_t)len + 1);
	m->failed |= !text;
	if (!text)
		return "";
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return text;
}

/* ---- units, which all points share ---- */

/* What a column holds. */
struct span {
	double least, most; /* least: of those above 0 */
};

static void widen(struct span *s, double value)
{
	if (!isfinite(value))
		return;
	s->most = fmax(s->most, value);
	if (value > 0)
		s->least = fmin(s->least, value);
}

struct columns {
	struct span time, compile, bytes;
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

static void choose_units(struct maker *m, const struct report_torch *torch)
{
	struct columns c = { { INFINITY, 0 }, { INFINITY, 0 }, { INFINITY, 0 } };

	for (size_t i = 0; i < m->n_points; i++)
		for (size_t k = 0; k < m->points[i].modes.n; k++) {
			const struct report_mode *at = &m->points[i].modes.at[k];
			const struct report_comparison *b = report_get(m->points[i].break_even,
								       m->points[i].modes.keys[k]);

			widen(&c.time, at->latency ? at->latency->median_us : NAN);
			widen(&c.compile, b ? b->compile_ms : at->compile_ms);
			widen(&c.bytes, at->has.peak_bytes ? (double)at->peak_bytes : NAN);
		}
	if (torch && !torch->points.n)
		widen_torch(&c, &torch->modes, &torch->break_even);
	for (size_t i = 0; torch && i < torch->points.n; i++)
		widen_torch(&c, &torch->points.at[i].modes, &torch->points.at[i].break_even);
	m->time = number_time_unit(c.time.most);
	m->compile = number_time_unit(fmax(c.compile.most * 1e3, 10e3)); /* never us */
	m->bytes = number_bytes_unit(c.bytes.least, c.bytes.most);
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
	REPORT_SET(f, low, maker_copy(m, t.low));
	REPORT_SET(f, high, maker_copy(m, t.high));
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
	return maker_copy(m, text);
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
	REPORT_SET(to, error, maker_copy(m, text));
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
		REPORT_SET(to, autocast, say_autocast(m, p->autocast));
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

	REPORT_SET(out, warnings, find_warnings(m));
	REPORT_SET(out, wrong, (struct report_sentence_part_list){ 0 });
	s = sentence_begin(m, &out->wrong);
	say_wrong(&s);
	REPORT_SET(out, wrong_modes, find_wrong(m));
	REPORT_SET(out, wrong_torch, find_wrong_torch(m));
	REPORT_SET(out, time_unit, m->time.name);
	REPORT_SET(out, compile_unit, m->compile.name);
	REPORT_SET(out, bytes_unit, m->bytes.name);
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
