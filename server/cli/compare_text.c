/* server/cli/compare_text.c -- see compare_text.h. */
#include "server/cli/compare_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/numbers.h"

enum { CELL = 4 * NUMBER_BYTES, NAME_WIDTH = 34 };

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool is(const json_t *object, const char *key, const char *word)
{
	return strcmp(text_at(object, key), word) == 0;
}

/* ---- the sentence */

static const json_t *run_of(const json_t *all, const char *label)
{
	const json_t *run;
	size_t i;

	json_array_foreach(json_object_get(all, "runs"), i, run) {
		if (is(run, "label", label))
			return run;
	}
	return NULL;
}

static void name_run(struct buf *out, const json_t *run)
{
	json_int_t id = json_integer_value(json_object_get(run, "id"));

	buf_printf(out, "%s: %s", text_at(run, "label"), text_at(run, "name"));
	if (id)
		buf_printf(out, " #%" JSON_INTEGER_FORMAT, id);
	if (*text_at(run, "commit"))
		buf_printf(out, ", commit %.12s", text_at(run, "commit"));
	if (*text_at(run, "file"))
		buf_printf(out, ", %s", text_at(run, "file"));
	buf_puts(out, "\n");
}

static void name_figure(struct buf *out, const json_t *f)
{
	const json_t *n = json_object_get(f, "n");
	json_int_t points = json_integer_value(json_object_get(f, "points"));
	char text[NUMBER_BYTES];

	buf_printf(out, "%s %s", text_at(f, "mode"), text_at(f, "title"));
	if (json_is_number(n)) {
		number_short(text, json_number_value(n));
		buf_printf(out, " at n = %s", text);
	}
	if (points)
		buf_printf(out, " of %" JSON_INTEGER_FORMAT " points", points);
}

/* "is 2.99x (2.94-3.05) of A's": what can be claimed of the headline. */
static void sentence(struct buf *out, const json_t *c)
{
	const json_t *f = json_object_get(c, "headline");
	const char *verdict = text_at(c, "verdict"), *b = text_at(c, "b");
	char ratio[CELL];

	if (strcmp(verdict, "REFUSED") == 0) {
		buf_printf(out, "REFUSED. %s and A are %s. --force compares them all the same.\n",
			   b, text_at(c, "refused"));
		return;
	}
	if (!f) {
		buf_printf(out, "%s. %s and A have no timed figure in common.\n", verdict, b);
		return;
	}
	number_interval(ratio, f, "ratio", "ci", "x");
	buf_printf(out, "%s. ", verdict);
	if (strcmp(verdict, "DISAGREES") == 0) {
		buf_printf(out, "%s compares with nothing: %s.\n", text_at(f, "mode"),
			   text_at(f, "why"));
		return;
	}
	name_figure(out, f);
	if (strcmp(verdict, "AMBIGUOUS") == 0)
		buf_printf(out, " of %s may be as in A or not: %s of A's.\n", b, ratio);
	else if (strcmp(verdict, "NOT ENOUGH") == 0)
		buf_puts(out, " rests on too few rounds.\n");
	else
		buf_printf(out, " of %s is %s of A's.\n", b, ratio);
}

static void control(struct buf *out, const json_t *c)
{
	const json_t *f = json_object_get(c, "control");
	char ratio[CELL];

	if (!is(f, "verdict", "SLOWER") && !is(f, "verdict", "FASTER"))
		return;
	number_interval(ratio, f, "ratio", "ci", "x");
	buf_printf(out,
		   "Eager, the control, moved too: %s of A's with the same source and version, so "
		   "the machine may have. The speedups are measured within each run.\n",
		   ratio);
}

/* ---- figures */

static void side(char out[CELL], const json_t *figure, const char *key)
{
	const json_t *s = json_object_get(figure, key);

	if (is(figure, "kind", "counted"))
		number_short(out, number_field(s, "value"));
	else
		number_interval(out, s, "value", "ci", "");
}

static bool shown(const json_t *f)
{
	return is(f, "kind", "counted") ? !is(f, "verdict", "SAME")
					: !is(f, "verdict", "NOT ENOUGH") || is(f, "kind", "timed");
}

static void figures(struct buf *out, const json_t *c)
{
	const json_t *f;
	int hidden = 0;
	size_t i;

	buf_printf(out, "\n%-*s  %22s  %22s  %20s  %s\n", NAME_WIDTH, "", "A", text_at(c, "b"),
		   "ratio", "verdict");
	json_array_foreach(json_object_get(c, "figures"), i, f) {
		char a[CELL], b[CELL], ratio[CELL], name[128];
		struct buf text;

		if (!shown(f)) {
			hidden++;
			continue;
		}
		buf_init(&text, sizeof(name));
		name_figure(&text, f);
		if (*text_at(f, "unit") && !is(f, "unit", "x"))
			buf_printf(&text, ", %s", text_at(f, "unit"));
		snprintf(name, sizeof(name), "%s", text.data ? text.data : "");
		buf_finish(&text);
		side(a, f, "a");
		side(b, f, "b");
		number_interval(ratio, f, "ratio", "ci", "x");
		buf_printf(out, "%-*s  %22s  %22s  %20s  %s\n", NAME_WIDTH, name, a, b, ratio,
			   text_at(f, "verdict"));
	}
	if (hidden)
		buf_printf(out, "%d more figures are the same, or measured once: --json has them\n",
			   hidden);
}

/* ---- what changed */

static void where(struct buf *out, const json_t *row)
{
	const json_t *n = json_object_get(row, "n");

	buf_printf(out, "%s", text_at(row, "mode"));
	if (json_is_integer(n))
		buf_printf(out, " at n = %" JSON_INTEGER_FORMAT, json_integer_value(n));
}

static void breaks(struct buf *out, const json_t *c)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(c, "breaks"), i, row) {
		const json_t *at = json_object_get(row, is(row, "change", "gone") ? "a" : "b");
		char cost[CELL];

		if (is(row, "change", "kept"))
			continue;
		buf_printf(out, "break %s, ", text_at(row, "change"));
		where(out, row);
		buf_printf(out, ": %s, line %" JSON_INTEGER_FORMAT ": %s", text_at(row, "kind"),
			   json_integer_value(json_object_get(at, "line")), text_at(row, "text"));
		number_interval(cost, at, "cost_us", "ci_us", " us");
		buf_printf(out, "%s%s\n", *cost ? ", " : "", cost);
	}
}

static void kernels(struct buf *out, const json_t *c)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(c, "kernels"), i, row) {
		char a[CELL], b[CELL];

		number_interval(a, json_object_get(row, "a"), "us", "ci_us", "");
		number_interval(b, json_object_get(row, "b"), "us", "ci_us", "");
		buf_printf(out, "kernel %s, ", text_at(row, "change"));
		where(out, row);
		buf_printf(out, ": %s", text_at(row, "name"));
		if (*a || *b)
			buf_printf(out, ", %s%s%s us", a, *a && *b ? " to " : "", b);
		buf_puts(out, "\n");
	}
}

static void differences(struct buf *out, const json_t *c)
{
	const json_t *d;
	size_t i;

	json_array_foreach(json_object_get(c, "differences"), i, d)
		buf_printf(out, "%s: %s in A, %s in %s%s\n", text_at(d, "title"), text_at(d, "a"),
			   text_at(d, "b"), text_at(c, "b"),
			   json_is_true(json_object_get(d, "matters")) ? " (matters)" : "");
}

/* What the intervals hold. */
static void spread(struct buf *out, const json_t *c)
{
	const json_t *f = json_object_get(c, "headline");
	json_int_t a = json_integer_value(json_object_get(json_object_get(f, "a"), "repeats")),
		   b = json_integer_value(json_object_get(json_object_get(f, "b"), "repeats"));

	if (f && (a || b))
		buf_printf(out,
			   "The intervals of ratios hold what %" JSON_INTEGER_FORMAT
			   " runs of the same differ by.\n",
			   a > b ? a : b);
	else if (f)
		buf_puts(out, "One run a side: what differs from process to process is not in the "
			      "intervals; the margin stands for it.\n");
}

static void print_pair(struct buf *out, const json_t *all, const json_t *c)
{
	name_run(out, run_of(all, "A"));
	name_run(out, run_of(all, text_at(c, "b")));
	buf_puts(out, "\n");
	sentence(out, c);
	if (json_is_true(json_object_get(c, "forced")))
		buf_printf(out, "Compared by force; they are %s.\n", text_at(c, "refused"));
	control(out, c);
	if (json_array_size(json_object_get(c, "figures")))
		figures(out, c);
	spread(out, c);
	if (json_array_size(json_object_get(c, "breaks")) +
	    json_array_size(json_object_get(c, "kernels")) +
	    json_array_size(json_object_get(c, "differences")))
		buf_puts(out, "\n");
	breaks(out, c);
	kernels(out, c);
	differences(out, c);
}

void compare_text_print(struct buf *out, const json_t *comparison)
{
	const json_t *c;
	size_t i;

	json_array_foreach(json_object_get(comparison, "comparisons"), i, c) {
		if (i)
			buf_puts(out, "\n");
		print_pair(out, comparison, c);
	}
	buf_printf(out,
		   "\nA verdict needs its whole 95 %% interval beyond %.3g %%, and to stand among "
		   "all (Holm, 5 %%).\n",
		   100 * number_field(comparison, "margin"));
}
