/* profiler/allclose/report.c -- an agreement as the report has it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "profiler/allclose/allclose.h"

/* As many digits as tell two numbers of the dtype apart. */
static void put_number(struct buf *out, double x, enum dtype dtype)
{
	int digits = dtype == DTYPE_F64 ? 15 : dtype == DTYPE_F32 ? 9 : 5;

	if (dtype_category(dtype) == CATEGORY_BOOL)
		buf_puts(out, x != 0 ? "True" : "False");
	else
		buf_printf(out, "%.*g", dtype_category(dtype) == CATEGORY_INT ? 19 : digits, x);
}

static void put_place(struct buf *out, const struct allclose_where *w)
{
	buf_puts(out, w->what);
	if (w->call >= 0)
		buf_printf(out, " of calls[%d]", w->call);
	if (w->rank > 0 && w->at.index >= 0) {
		buf_puts(out, " at [");
		for (int d = 0; d < w->rank; d++)
			buf_printf(out, "%s%lld", d ? ", " : "", (long long)w->index[d]);
		buf_puts(out, "]");
	}
	if (strcmp(w->when, "in order") != 0)
		buf_printf(out, ", of calls made %s,", w->when);
}

/* 3 digits, thousands with a comma: "12.5", "307,000"; an exponent from a billion on. */
static void put_times(struct buf *out, double x)
{
	double step = pow(10, floor(log10(x)) - 2);
	int64_t whole = (int64_t)(step * round(x / step));

	if (x < 1000 || x >= 1e9)
		buf_printf(out, "%.3g", x);
	else if (whole < 1000000)
		buf_printf(out, "%d,%03d", (int)(whole / 1000), (int)(whole % 1000));
	else
		buf_printf(out, "%d,%03d,%03d", (int)(whole / 1000000), (int)(whole / 1000 % 1000),
			   (int)(whole % 1000));
}

/* "output of calls[0] at [2, 3] is 0.273, eager's 0.287; float64 gives 0.28712: 12 times
 * what bfloat16 allows" */
static void put_disagreement(struct buf *out, const struct allclose *a, const char *whose)
{
	const struct allclose_where *w = &a->where;
	bool by_dtype = a->rule == DIFFERENCE_FLOAT64;

	put_place(out, w);
	if (w->why[0]) {
		buf_printf(out, " %s: it differs from %s", w->why, whose);
		return;
	}
	buf_puts(out, " is ");
	put_number(out, w->at.ours, w->dtype);
	buf_printf(out, ", %s ", whose);
	put_number(out, w->at.theirs, w->dtype);
	if (by_dtype) {
		buf_puts(out, ", float64's ");
		put_number(out, w->at.reference, w->dtype);
	}
	if (isfinite(a->excess) && a->excess > 1) {
		buf_puts(out, ": ");
		put_times(out, a->excess);
		buf_printf(out, " times what %s allows",
			   by_dtype ? dtype_name(w->dtype) : "its bound");
	}
}

static void put_within(struct buf *out, const struct allclose *a, const char *whose)
{
	const struct allclose_where *w = &a->where;

	put_place(out, w);
	if (dtype_category(w->dtype) != CATEGORY_FLOAT && a->rule == DIFFERENCE_FLOAT64) {
		buf_puts(out, " is ");
		put_number(out, w->at.ours, w->dtype);
		buf_printf(out, ", %s ", whose);
		put_number(out, w->at.theirs, w->dtype);
		buf_puts(out, ": rounding decides which, in float64 it may come out otherwise");
		return;
	}
	buf_printf(out, " is %.3g from %s", fabs(w->at.ours - w->at.theirs), whose);
	if (a->rule == DIFFERENCE_FLOAT64)
		buf_printf(out,
			   ": within what %s allows, there %.3g from float64, from which %s own "
			   "values are up to %.3g away",
			   dtype_name(w->dtype), w->at.allowed, whose, a->theirs_error);
	else
		buf_puts(out, ": within the bound of its dtype");
}

static struct report_difference *difference_of(const struct allclose_where *w,
					       struct report_draft *draft)
{
	struct report_difference *to = report_new_difference(1, &draft->arena);
	bool indexed = w->at.index >= 0 && w->rank >= 0 && !w->why[0];
	int64_t *index = ARENA_ARRAY(&draft->arena, int64_t, MAX_RANK);

	if (!to)
		return NULL;
	for (int d = 0; index && indexed && d < w->rank; d++)
		index[d] = w->index[d];
	REPORT_SET_OR_NULL(to, call, w->call >= 0, w->call);
	REPORT_SET(to, when, w->when);
	REPORT_SET(to, what, report_draft_text(draft, w->what));
	REPORT_SET_OR_NULL(to, index, indexed, (struct report_integers){ index, (size_t)w->rank });
	REPORT_SET_OR_NULL(to, why, w->why[0], report_draft_text(draft, w->why));
	if (w->at.index < 0)
		return to;
	REPORT_SET(to, ours, w->at.ours);
	REPORT_SET(to, eager, w->at.theirs);
	REPORT_SET_OR_NULL(to, reference, !isnan(w->at.reference), w->at.reference);
	REPORT_SET(to, allowed, w->at.allowed);
	return to;
}

static struct report_agreement_calls *calls_of(const struct allclose *a, struct report_draft *draft)
{
	struct report_agreement_calls *to = report_new_agreement_calls(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, in_order, a->calls[STAGE_IN_ORDER]);
	REPORT_SET(to, one_behind_another, a->calls[STAGE_BURST]);
	REPORT_SET(to, after_timing, a->calls[STAGE_TIMED]);
	return to;
}

static struct report_agreement *agreement_of(const struct allclose *a, const char *text,
					     struct report_draft *draft)
{
	static const char *const verdicts[] = { "exact", "within_dtype", "disagrees" };
	static const char *const rules[] = { "bits", "bound", "float64" };
	struct report_agreement *to = report_new_agreement(1, &draft->arena);
	bool exact = a->verdict == ALLCLOSE_EXACT, judged = a->rule == DIFFERENCE_FLOAT64;

	if (!to)
		return NULL;
	REPORT_SET(to, verdict, verdicts[a->verdict]);
	REPORT_SET(to, judge, rules[a->rule]);
	REPORT_SET(to, values, a->values);
	REPORT_SET(to, elements, a->elements);
	REPORT_SET(to, differing, a->differing);
	REPORT_SET(to, largest_error, a->error);
	REPORT_SET_IF(to, eager_error, judged, a->theirs_error);
	REPORT_SET_IF(to, over_allowed, !exact, a->excess);
	REPORT_SET_IF(to, where, !exact, difference_of(&a->where, draft));
	REPORT_SET_OR_NULL(to, text, !exact, text);
	REPORT_SET_OR_NULL(to, no_reference, a->no_reference[0],
			   report_draft_text(draft, a->no_reference));
	REPORT_SET(to, calls, calls_of(a, draft));
	REPORT_SET_OR_NULL(to, not_timed, a->not_timed[0], report_draft_text(draft, a->not_timed));
	return to;
}

struct allclose_found allclose_report(const struct allclose *a, const char *whose,
				      struct report_draft *draft)
{
	struct allclose_found found = { .agrees = a->verdict != ALLCLOSE_NOT,
					.max_abs_error = a->output_error };
	const char *said;
	struct buf text;

	buf_init(&text, 1024);
	if (!found.agrees)
		put_disagreement(&text, a, whose);
	else if (a->verdict == ALLCLOSE_WITHIN_DTYPE)
		put_within(&text, a, whose);
	said = report_draft_text(draft, text.data ? text.data : "");
	buf_finish(&text);
	found.agreement = agreement_of(a, said, draft);
	found.disagreement = found.agrees ? NULL : said;
	return found;
}
