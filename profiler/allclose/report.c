/* profiler/allclose/report.c -- an agreement as the report has it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "profiler/allclose/allclose.h"

static json_t *number(double x)
{
	if (isnan(x))
		return json_string("nan");
	if (isinf(x))
		return json_string(x > 0 ? "inf" : "-inf");
	return json_real(x);
}

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
	if (isfinite(a->excess) && a->excess > 1)
		buf_printf(out, ": %.3g times what %s allows", a->excess,
			   by_dtype ? dtype_name(w->dtype) : "its bound");
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

static json_t *where_json(const struct allclose_where *w)
{
	json_t *index = json_null(), *json;

	if (w->at.index >= 0 && w->rank >= 0 && !w->why[0]) {
		index = json_array();
		for (int d = 0; d < w->rank; d++)
			json_array_append_new(index, json_integer(w->index[d]));
	}
	json = json_pack("{s:o, s:s, s:s, s:o, s:s?}", "call",
			 w->call < 0 ? json_null() : json_integer(w->call), "when", w->when, "what",
			 w->what, "index", index, "why", w->why[0] ? w->why : NULL);
	if (json && w->at.index >= 0) {
		json_object_set_new(json, "ours", number(w->at.ours));
		json_object_set_new(json, "eager", number(w->at.theirs));
		json_object_set_new(json, "reference",
				    isnan(w->at.reference) ? json_null() : number(w->at.reference));
		json_object_set_new(json, "allowed", number(w->at.allowed));
	}
	return json;
}

static json_t *agreement_json(const struct allclose *a, const char *text)
{
	static const char *const verdicts[] = { "exact", "within_dtype", "disagrees" };
	static const char *const rules[] = { "bits", "bound", "float64" };
	bool exact = a->verdict == ALLCLOSE_EXACT;
	json_t *said = json_string(text);
	json_t *json = json_pack(
	    "{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:s?, s:{s:i, s:i, s:i}, s:s?}",
	    "verdict", verdicts[a->verdict], "judge", rules[a->rule], "values",
	    (json_int_t)a->values, "elements", (json_int_t)a->elements, "differing",
	    (json_int_t)a->differing, "largest_error", number(a->error), "eager_error",
	    a->rule == DIFFERENCE_FLOAT64 ? number(a->theirs_error) : json_null(), "over_allowed",
	    exact ? json_null() : number(a->excess), "where",
	    exact ? json_null() : where_json(&a->where), "text",
	    said && !exact ? json_incref(said) : json_null(), "no_reference",
	    a->no_reference[0] ? a->no_reference : NULL, "calls", "in_order",
	    a->calls[STAGE_IN_ORDER], "one_behind_another", a->calls[STAGE_BURST], "after_timing",
	    a->calls[STAGE_TIMED], "not_timed", a->not_timed[0] ? a->not_timed : NULL);

	json_decref(said);
	return json;
}

void allclose_report(const struct allclose *a, const char *whose, json_t *m)
{
	bool ok = a->verdict != ALLCLOSE_NOT;
	struct buf text;

	buf_init(&text, 1024);
	if (!ok)
		put_disagreement(&text, a, whose);
	else if (a->verdict == ALLCLOSE_WITHIN_DTYPE)
		put_within(&text, a, whose);
	json_object_set_new(m, "agreement", agreement_json(a, text.data ? text.data : ""));
	json_object_set_new(m, "max_abs_error", number(a->output_error));
	json_object_set_new(m, "agrees", json_boolean(ok));
	json_object_del(m, "disagreement");
	if (!ok) {
		json_t *said = json_string(text.data ? text.data : "");

		json_object_set_new(m, "disagreement",
				    said ? said : json_string("its values differ"));
	}
	buf_finish(&text);
}
