/* server/cli/suite_compare_text.c -- a suite against an earlier one, as a terminal shows it. */
#include "server/cli/suite_compare_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/fields/json.h"
#include "profiler/findings/sentence.h"
#include "profiler/numbers/numbers.h"

enum { CELL = 4 * NUMBER_BYTES };

static void name_suite(struct buf *out, const char *label, const json_t *head)
{
	buf_printf(out, "%s: %s", label, text_field(head, "name"));
	if (whole_field(head, "id"))
		buf_printf(out, " #%lld", whole_field(head, "id"));
	else
		buf_printf(out, ", %s", text_field(head, "file"));
	buf_puts(out, "\n");
}

static void rates(char *out, size_t bytes, const json_t *c)
{
	double before = number_field(c, "pass_rate_before"),
	       after = number_field(c, "pass_rate_after");

	if (isnan(before) || isnan(after))
		snprintf(out, bytes, "none ended");
	else
		snprintf(out, bytes, "%.0f to %.0f %%", 100 * before, 100 * after);
}

static void columns(struct buf *out, const json_t *comparison)
{
	const json_t *c;
	size_t i;

	buf_printf(out, "\n%-10s %-7s %-8s %12s %7s %6s  %-22s %-10s %7s %5s %5s\n", "engine",
		   "policy", "mode", "passed", "broken", "fixed", "speedup, after/before",
		   "verdict", "of", "rose", "fell");
	json_array_foreach(json_object_get(comparison, "columns"), i, c) {
		const json_t *mean = json_object_get(c, "geomean");
		char ratio[CELL], passed[32];

		rates(passed, sizeof(passed), c);
		number_interval(ratio, mean, "ratio", "ratio_ci", "x");
		buf_printf(out, "%-10s %-7s %-8s %12s %7lld %6lld  %-22s %-10s %7lld %5lld %5lld\n",
			   text_field(c, "engine"), text_field(c, "policy"), text_field(c, "mode"),
			   passed, whole_field(c, "broken"), whole_field(c, "fixed"), ratio,
			   text_field(mean, "verdict"), whole_field(mean, "n"),
			   whole_field(c, "FASTER"), whole_field(c, "SLOWER"));
	}
}

/* The results with one value of a field, a line each. */
static void results(struct buf *out, const json_t *comparison, const char *field, const char *value)
{
	const json_t *w, *r;
	size_t i, k;

	json_array_foreach(json_object_get(comparison, "workloads"), i, w) {
		json_array_foreach(json_object_get(w, "results"), k, r) {
			char ratio[CELL], before[NUMBER_BYTES], after[NUMBER_BYTES];

			if (strcmp(text_field(r, field), value) != 0)
				continue;
			buf_printf(out, "%s: %s, %s, %s, %s", value, text_field(w, "name"),
				   text_field(r, "mode"), text_field(r, "policy"),
				   text_field(r, "engine"));
			if (strcmp(value, "broken") == 0 && *text_field(r, "reason"))
				buf_printf(out, ": %s", text_field(r, "reason"));
			number_interval(ratio, r, "ratio", "ratio_ci", "x");
			number_short(before, number_field(r, "speedup_before"));
			number_short(after, number_field(r, "speedup"));
			if (*ratio && strcmp(field, "verdict") == 0)
				buf_printf(out, ": %sx to %sx, %s", before, after, ratio);
			buf_puts(out, "\n");
		}
	}
}

static void names(struct buf *out, const char *what, const json_t *list)
{
	const json_t *name;
	size_t i;

	if (json_array_size(list))
		buf_printf(out, "%s: ", what);
	json_array_foreach(list, i, name)
		buf_printf(out, "%s%s", i ? ", " : "", json_string_value(name));
	if (json_array_size(list))
		buf_puts(out, "\n");
}

void suite_compare_text(struct buf *out, const json_t *comparison)
{
	name_suite(out, "A", json_object_get(comparison, "before"));
	name_suite(out, "B", json_object_get(comparison, "after"));
	buf_puts(out, "\n");
	sentence_say_json(out, json_object_get(comparison, "sentence"));
	buf_puts(out, "\n");
	columns(out, comparison);
	buf_puts(out, "\n");
	results(out, comparison, "turn", "broken");
	results(out, comparison, "turn", "fixed");
	results(out, comparison, "verdict", "SLOWER");
	results(out, comparison, "verdict", "FASTER");
	names(out, "Only in A", json_object_get(comparison, "only_before"));
	names(out, "Only in B", json_object_get(comparison, "only_after"));
	buf_puts(out,
		 "A speedup is over the eager of its own suite, so that the pace of the "
		 "machine cancels out.  A verdict\nneeds its whole 95 % interval beyond 2 %; of "
		 "single workloads one in twenty misses by chance.\n");
}
