/* server/cli/suite_text.c -- a suite as a terminal shows it. */
#include "server/cli/suite_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/numbers.h"

static long long count_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static const char *share(char *out, size_t bytes, double x)
{
	snprintf(out, bytes, isnan(x) ? "none ended" : "%.0f %%", 100 * x);
	return out;
}

static void columns_table(struct buf *out, const json_t *report)
{
	json_t *c;
	size_t i;

	buf_printf(out, "\n%-10s %-7s %-8s %9s %11s  %-22s %7s %7s %7s %12s %8s %9s\n", "engine",
		   "policy", "mode", "passed", "pass rate", "geomean, common set", "min", "median",
		   "max", "compile ms", "captures", "lowerings");
	json_array_foreach(json_object_get(report, "columns"), i, c) {
		const json_t *q = json_object_get(c, "quantiles"),
			     *b = json_object_get(c, "breaks");
		char ratio[4 * NUMBER_BYTES], rate[16],
		    min[NUMBER_BYTES] = "", median[NUMBER_BYTES] = "", max[NUMBER_BYTES] = "",
		    ms[NUMBER_BYTES], passed[32];

		number_interval(ratio, json_object_get(json_object_get(c, "geomean"), "common"),
				"speedup", "speedup_ci", "x");
		if (json_is_object(q)) {
			number_short(min, number_field(q, "min"));
			number_short(median, number_field(q, "median"));
			number_short(max, number_field(q, "max"));
		}
		number_short(ms, number_field(c, "compile_ms"));
		snprintf(passed, sizeof(passed), "%lld/%lld", count_of(c, "pass"),
			 count_of(c, "workloads"));
		buf_printf(out, "%-10s %-7s %-8s %9s %11s  %-22s %7s %7s %7s %12s %8lld %9lld\n",
			   text_of(c, "engine"), text_of(c, "policy"), text_of(c, "mode"), passed,
			   share(rate, sizeof(rate), number_field(c, "pass_rate")), ratio, min,
			   median, max, ms, count_of(b, "capture"), count_of(b, "lowering"));
	}
}

/* Our result in mode static under the policy, or the first that is not eager. */
static const json_t *shown_result(const json_t *workload, const char *policy)
{
	const json_t *found = NULL;
	json_t *r;
	size_t i;

	json_array_foreach(json_object_get(workload, "results"), i, r) {
		if (strcmp(text_of(r, "engine"), "breakeven") != 0 ||
		    strcmp(text_of(r, "policy"), policy) != 0 ||
		    strcmp(text_of(r, "mode"), "eager") == 0)
			continue;
		if (!found || strcmp(text_of(r, "mode"), "static") == 0)
			found = r;
	}
	return found;
}

/* "2+0": breaks of capture, and of lowering. */
static void breaks_print(char *out, size_t bytes, const json_t *result)
{
	const json_t *b = json_object_get(result, "breaks");

	if (result && json_is_integer(json_object_get(b, "capture")))
		snprintf(out, bytes, "%lld+%lld", count_of(b, "capture"), count_of(b, "lowering"));
	else
		snprintf(out, bytes, "%s", result ? "unknown" : "");
}

static void speedup_cells(struct buf *out, const json_t *workload, const json_t *columns)
{
	json_t *c, *r;
	size_t i, k;

	json_array_foreach((json_t *)columns, i, c) {
		char cell[4 * NUMBER_BYTES] = "";

		if (strcmp(text_of(c, "mode"), "eager") == 0)
			continue;
		json_array_foreach(json_object_get(workload, "results"), k, r) {
			if (strcmp(text_of(r, "policy"), text_of(c, "policy")) != 0 ||
			    strcmp(text_of(r, "engine"), text_of(c, "engine")) != 0 ||
			    strcmp(text_of(r, "mode"), text_of(c, "mode")) != 0)
				continue;
			if (strcmp(text_of(r, "status"), "pass") == 0)
				number_interval(cell, r, "speedup", "speedup_ci", "x");
			else
				snprintf(cell, sizeof(cell), "%s", text_of(r, "status"));
		}
		buf_printf(out, "  %-20s", cell);
	}
}

static void workloads_table(struct buf *out, const json_t *report)
{
	const json_t *columns = json_object_get(report, "columns");
	json_t *c, *w;
	size_t i;

	buf_printf(out, "\n%-28s", "workload");
	json_array_foreach((json_t *)columns, i, c) {
		bool ours = strcmp(text_of(c, "engine"), "breakeven") == 0;
		char head[64];

		snprintf(head, sizeof(head), "%s, %s", text_of(c, "mode"),
			 text_of(c, ours ? "policy" : "engine"));
		if (strcmp(text_of(c, "mode"), "eager") != 0)
			buf_printf(out, "  %-20s", head);
	}
	buf_printf(out, "  breaks dynamo  native\n");
	json_array_foreach(json_object_get(report, "workloads"), i, w) {
		char dynamo[24], native[24];

		breaks_print(dynamo, sizeof(dynamo), shown_result(w, "dynamo"));
		breaks_print(native, sizeof(native), shown_result(w, "native"));
		buf_printf(out, "%-28s", text_of(w, "name"));
		speedup_cells(out, w, columns);
		buf_printf(out, "  %13s  %6s\n", dynamo, native);
	}
	buf_puts(out, "\nBreaks are those of capture + those of lowering, in mode static where it "
		      "ran.\n");
}

static bool said_together(const json_t *a, const json_t *b)
{
	static const char *const fields[] = { "engine", "policy", "status", "reason" };

	for (size_t i = 0; b && i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcmp(text_of(a, fields[i]), text_of(b, fields[i])) != 0)
			return false;
	return b != NULL;
}

/* Modes that failed alike share a line. */
static void reasons(struct buf *out, const json_t *report)
{
	json_t *w, *r;
	size_t i, k;

	json_array_foreach(json_object_get(report, "workloads"), i, w) {
		const json_t *results = json_object_get(w, "results"), *last = NULL;

		json_array_foreach((json_t *)results, k, r) {
			const char *status = text_of(r, "status");

			if (strcmp(status, "pass") == 0 || strcmp(status, "waiting") == 0)
				continue;
			if (said_together(r, last))
				buf_printf(out, ", %s", text_of(r, "mode"));
			else
				buf_printf(out, "%s%s: %s, %s, %s: %s", last ? "\n" : "", status,
					   text_of(w, "name"), text_of(r, "engine"),
					   text_of(r, "policy"), text_of(r, "mode"));
			last = r;
			if (!said_together(r, json_array_get(results, k + 1)))
				buf_printf(out, ": %s", text_of(r, "reason"));
		}
		buf_puts(out, last ? "\n" : "");
	}
}

void suite_text(struct buf *out, const json_t *report)
{
	const json_t *common = json_object_get(report, "common");
	long long n = count_of(common, "of");

	buf_printf(out,
		   "Suite %s: %lld workload%s.  Geomeans are over the common set, the %lld that "
		   "have a speedup in every\ncolumn that has any; pass: it ran, and its values "
		   "agree with eager's.\n",
		   text_of(report, "name"), n, n == 1 ? "" : "s", count_of(common, "n"));
	columns_table(out, report);
	workloads_table(out, report);
	reasons(out, report);
	if (json_is_real(json_object_get(report, "seconds")))
		buf_printf(out, "%s; %.0f s in all\n",
			   text_of(json_object_get(report, "environment"), "cpu"),
			   number_field(report, "seconds"));
}
