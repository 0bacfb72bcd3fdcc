/* profiler/align/say.c -- an alignment in words and figures. */
#include "profiler/align/say.h"

#include <math.h>
#include <string.h>

#include "profiler/numbers/numbers.h"

enum { MOST_HOW = 8, MOST_SAID = 3, NAME_CHARS = 64 };

/* ---- figures ---- */

struct report_figure *align_time(struct wording *w, double ns)
{
	struct interval x = { NAN, ns / 1e3, NAN };

	return isnan(ns) ? wording_figure_in(w, &(struct interval){ NAN, 0, NAN }, "us", 0)
			 : wording_figure_in(w, &x, "us", ns / 1e3);
}

static const char *with_sign(struct wording *w, double x, double step, const char *unit)
{
	char text[NUMBER_BYTES];

	number_print(text, fabs(x), step);
	return wording_text(w, "%s%s%s",
			    strcmp(text, "0") == 0 ? ""
			    : x < 0                ? "−"
						   : "+",
			    text, unit);
}

struct report_figure *align_signed(struct wording *w, double ns, double low_ns, double high_ns)
{
	struct report_figure *f = report_new_figure(1, w->arena);
	double most = fmax(fabs(ns), isnan(low_ns) ? 0 : fmax(fabs(low_ns), fabs(high_ns)));
	struct number_unit unit = number_time_unit(most / 1e3);
	double scale = 1e3 * unit.scale, step;

	w->failed |= !f;
	if (!f)
		return NULL;
	step = number_step(fabs(ns) / scale, low_ns / scale, high_ns / scale);
	REPORT_SET(f, text, with_sign(w, ns / scale, step, wording_text(w, " %s", unit.name)));
	if (!isnan(low_ns) && !isnan(high_ns)) {
		REPORT_SET(f, low, with_sign(w, low_ns / scale, step, ""));
		REPORT_SET(f, high, with_sign(w, high_ns / scale, step, ""));
	}
	return f;
}

struct report_aligned_change *align_change(struct wording *w, const struct unit_change *c)
{
	struct report_aligned_change *to = report_new_aligned_change(1, w->arena);
	struct report_interval ci = { c->low / 1e3, c->high / 1e3 };

	w->failed |= !to;
	if (!to)
		return NULL;
	REPORT_SET_OR_NULL(to, a_us, c->a.n, c->a.mean / 1e3);
	REPORT_SET_OR_NULL(to, b_us, c->b.n, c->b.mean / 1e3);
	REPORT_SET(to, delta_us, c->delta / 1e3);
	REPORT_SET_OR_NULL(to, ci_us, !isnan(c->low), ci);
	REPORT_SET(to, changed, c->changed);
	REPORT_SET(to, a, align_time(w, c->a.mean));
	REPORT_SET(to, b, align_time(w, c->b.mean));
	REPORT_SET(to, delta, align_signed(w, c->delta, c->low, c->high));
	return to;
}

/* ---- the sentence ---- */

/* "12.3 µs" of "+12.3 µs". */
static const char *without_sign(const char *text)
{
	if (*text == '+')
		return text + 1;
	return strncmp(text, "−", strlen("−")) == 0 ? text + strlen("−") : text;
}

/* Ends have signs, so no dash stands between them. */
static void say_interval(struct sentence *s, const struct report_figure *f)
{
	if (f->low && f->high)
		sentence_add(s, PART_INTERVAL, " (%s to %s)", f->low, f->high);
}

const char *align_title(struct wording *w, const char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *from = strncmp(name, "void ", 5) == 0 ? name + 5 : name, *end = from;
	size_t len;

	while (*end && *end != '<' &&
	       (*end != '(' || strncmp(end, anonymous, sizeof(anonymous) - 1) == 0))
		end += *end == '(' ? sizeof(anonymous) - 1 : 1;
	if (end == from || end[-1] == ' ') /* "Memset (Device)" is no call */
		end = from + strlen(from);
	for (const char *at = from; at + 2 < end; at++)
		if (at[0] == ':' && at[1] == ':')
			from = at + 2;
	len = (size_t)(end - from);
	if (len > NAME_CHARS)
		for (len = NAME_CHARS; len && (from[len] & 0xc0) == 0x80;) /* no half of a letter */
			len--;
	return wording_text(w, "%.*s", (int)len, from);
}

static void say_row(struct sentence *s, const struct report_aligned_row *row)
{
	const char *name = row->title;

	if (strcmp(row->part, "idle") == 0)
		sentence_add(s, PART_PLAIN, "idle before %s %s", name, row->time->delta->text);
	else if (row->from.n > 1 || row->to.n > 1)
		sentence_add(s, PART_PLAIN, "%s, %s, %s", name,
			     wording_text(s->wording, "%lld %s %lld", (long long)row->n_a,
					  row->n_a > row->n_b ? "fused to" : "made",
					  (long long)row->n_b),
			     row->time->delta->text);
	else
		sentence_add(s, PART_PLAIN, "%s %s %s", name, row->change, row->time->delta->text);
}

/* The rows that make most of it, after `before`; where nothing leads, those of the device that
 * changed all the same. */
static void say_rows(struct sentence *s, const struct report_alignment *to, const char *before)
{
	bool wall = strcmp(to->leads, "wall") == 0, none = strcmp(to->leads, "none") == 0;
	int said = 0;

	for (size_t i = 0; i < to->rows.n && said < MOST_SAID; i++) {
		const struct report_aligned_row *row = &to->rows.at[i];

		if (!row->time->changed || (!wall && strcmp(row->part, "device") != 0) ||
		    (!none && fabs(row->has.share ? row->share : 0) < 0.05))
			continue;
		sentence_add(s, PART_PLAIN, "%s", said++ ? ", " : before);
		say_row(s, row);
	}
	sentence_add(s, PART_PLAIN, ".");
}

static void say(struct report_alignment *to, struct wording *w)
{
	struct sentence s = sentence_begin(w, &to->sentence);
	const struct report_aligned_change *c = strcmp(to->leads, "wall") == 0 ? to->wall
									       : to->device;
	const char *much = without_sign(c->delta->text);

	to->has.sentence = true;
	if (strcmp(to->leads, "wall") == 0) {
		sentence_add(&s, PART_CLAIM, "A unit of B takes %s %s than one of A", much,
			     c->delta_us > 0 ? "longer" : "less");
		say_interval(&s, c->delta);
		sentence_add(&s, PART_PLAIN, ", %s against %s", c->b->text, c->a->text);
		say_rows(&s, to, ": ");
	} else if (strcmp(to->leads, "device") == 0) {
		sentence_add(&s, PART_CLAIM, "In a unit of B %s busy %s %s than in one of A",
			     to->b->on_host ? "ops are" : "the device is", much,
			     c->delta_us > 0 ? "longer" : "less");
		say_interval(&s, c->delta);
		sentence_add(&s, PART_PLAIN,
			     ", while the unit's own time differs by no more than its noise");
		say_rows(&s, to, ": ");
	} else if (to->wall->has.ci_us) {
		sentence_add(&s, PART_CLAIM, "No difference beyond noise");
		sentence_add(&s, PART_PLAIN, " of the unit: it takes %s in B against %s in A, %s",
			     to->wall->b->text, to->wall->a->text, to->wall->delta->text);
		say_interval(&s, to->wall->delta);
		say_rows(&s, to, "; yet ");
	} else {
		sentence_add(&s, PART_CLAIM, "A unit takes %s in B against %s in A",
			     to->wall->b->text, to->wall->a->text);
		sentence_add(
		    &s, PART_PLAIN,
		    "; with fewer than two units on a side nobody can tell that from noise.");
	}
}

/* ---- what it rests on ---- */

static const char *side_said(struct wording *w, const char *letter,
			     const struct report_aligned_side *side)
{
	const char *what = side->on_host ? "ops" : "kernels and copies";
	int64_t apart = side->units - side->used;
	const char *left = apart ? wording_text(w, ", %lld set apart", (long long)apart) : "";

	return wording_text(w, "%s: %s of %s %s (%s)%s.", letter,
			    wording_plural(w, side->used, "unit", "units"),
			    wording_number(w, (double)side->items), what, side->unit, left);
}

static void say_how(struct report_alignment *to, struct wording *w)
{
	const char **how = ARENA_ARRAY(w->arena, const char *, MOST_HOW);
	const struct report_aligned_side *sides[] = { to->a, to->b };
	size_t n = 0;

	w->failed |= !how;
	if (!how)
		return;
	for (int i = 0; i < 2; i++) {
		how[n++] = side_said(w, i ? "B" : "A", sides[i]);
		if (sides[i]->left_out)
			how[n++] = wording_text(
			    w, "Of %s the first %d events were looked at, %lld were not.",
			    i ? "B" : "A", ALIGN_MOST_EVENTS, (long long)sides[i]->left_out);
		if (sides[i]->has.device)
			how[n++] = wording_text(
			    w, "Of the devices of %s number %lld, which ran most, is looked at.",
			    i ? "B" : "A", (long long)sides[i]->device);
	}
	how[n++] = "Times are means over the units that count; rows add up to their part.";
	REPORT_SET(to, how, (struct report_texts){ how, n });
}

void align_say(struct report_alignment *to, struct wording *w)
{
	say(to, w);
	say_how(to, w);
}
