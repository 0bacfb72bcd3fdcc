/* profiler/findings/sentence.c -- sentences and figures as they are shown. */
#include "profiler/findings/sentence.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profiler/numbers/numbers.h"

enum { MOST_PARTS = 24 };

const char *wording_number(struct wording *w, double x)
{
	char text[NUMBER_BYTES];

	number_short(text, x);
	return wording_text(w, "%s", text);
}

const char *wording_bytes(struct wording *w, int64_t bytes)
{
	char text[NUMBER_BYTES];

	number_bytes(text, (double)bytes);
	return wording_text(w, "%s", text);
}

const char *wording_step(struct wording *w, double x, double step)
{
	char text[NUMBER_BYTES];

	number_print(text, x, step);
	return wording_text(w, "%s", text);
}

const char *wording_plural(struct wording *w, int64_t n, const char *one, const char *many)
{
	char count[NUMBER_BYTES];

	number_print(count, (double)n, 1);
	return wording_text(w, "%s %s", count, n == 1 ? one : many);
}

const char *wording_at(struct wording *w, double n)
{
	char text[NUMBER_BYTES];

	if (isnan(n))
		return "";
	number_plain(text, n);
	return wording_text(w, " at n = %s", text);
}

struct report_figure *wording_figure(struct wording *w, const struct interval *x,
				     const char *suffix)
{
	struct report_figure *f = report_new_figure(1, w->arena);
	struct number_triple t;

	w->failed |= !f;
	if (!f)
		return NULL;
	number_triple(&t, x->mid, x->low, x->high, number_pole(suffix));
	REPORT_SET(f, text, wording_text(w, "%s%s", t.mid, suffix));
	if (isfinite(x->low) && isfinite(x->high)) {
		REPORT_SET(f, low, wording_text(w, "%s", t.low));
		REPORT_SET(f, high, wording_text(w, "%s", t.high));
	}
	return w->failed ? NULL : f;
}

/* A figure that is exact. */
static struct report_figure *exact(struct wording *w, const char *text)
{
	struct report_figure *f = report_new_figure(1, w->arena);

	w->failed |= !f;
	if (f)
		REPORT_SET(f, text, text);
	return w->failed ? NULL : f;
}

struct report_figure *wording_figure_in(struct wording *w, const struct interval *x,
					const char *unit, double most)
{
	struct number_unit time = number_time_unit(most);
	char text[NUMBER_BYTES];

	if (!isfinite(x->mid))
		return exact(w, "unknown");
	if (strcmp(unit, "x") == 0)
		return wording_figure(w, x, "x");
	if (strcmp(unit, "us") == 0)
		return wording_figure(w,
				      &(struct interval){ x->low / time.scale, x->mid / time.scale,
							  x->high / time.scale },
				      wording_text(w, " %s", time.name));
	if (strcmp(unit, "B") == 0) {
		number_bytes(text, x->mid);
		return exact(w, wording_text(w, "%s", text));
	}
	number_short(text, x->mid);
	return exact(w, wording_text(w, "%s%s%s", text, *unit ? " " : "", unit));
}

struct sentence sentence_begin(struct wording *w, struct report_sentence_part_list *to)
{
	*to = (struct report_sentence_part_list){ report_new_sentence_part(MOST_PARTS, w->arena),
						  0 };
	w->failed |= to->at == NULL;
	return (struct sentence){ w, to };
}

void sentence_add(struct sentence *s, enum sentence_part as, const char *format, ...)
{
	static const char *const kinds[] = { [PART_CLAIM] = "claim", [PART_INTERVAL] = "interval" };
	struct report_sentence_part *part;
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	part = s->parts->n ? &s->parts->at[s->parts->n - 1] : NULL;
	if (s->wording->failed || !*text)
		return;
	if (part && as == PART_PLAIN && !part->has.as) { /* they are one */
		part->text = wording_text(s->wording, "%s%s", part->text, text);
		return;
	}
	if (s->parts->n == MOST_PARTS)
		return;
	part = &s->parts->at[s->parts->n++];
	REPORT_SET(part, text, wording_text(s->wording, "%s", text));
	if (as != PART_PLAIN)
		REPORT_SET(part, as, kinds[as]);
}

void sentence_interval(struct sentence *s, const struct report_figure *f)
{
	if (f && f->low)
		sentence_add(s, PART_INTERVAL, " (%s%s%s)", f->low, f->low[0] == '-' ? " to " : "–",
			     f->high);
}

void sentence_say(struct buf *out, const struct report_sentence_part_list *sentence)
{
	for (size_t i = 0; i < sentence->n; i++)
		buf_puts(out, sentence->at[i].text);
}
