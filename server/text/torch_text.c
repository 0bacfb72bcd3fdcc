/* server/text/torch_text.c -- see torch_text.h. */
#include "server/text/torch_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/numbers.h"

static const json_t *torch_of(const json_t *report)
{
	return json_object_get(json_object_get(report, "engines"), "torch");
}

const char *torch_text_error(const json_t *report)
{
	return json_string_value(
	    json_object_get(json_object_get(torch_of(report), "error"), "message"));
}

static void print_values(struct buf *out, const json_t *m)
{
	const json_t *values = json_object_get(m, "values");
	const char *first = json_string_value(json_object_get(values, "first"));

	const char *judge = json_string_value(json_object_get(values, "judge"));

	if (json_is_true(json_object_get(values, "agree")))
		buf_printf(out, "agree within %.2g%s", number_field(values, "max_abs_error"),
			   judge && strcmp(judge, "float64") == 0 ? ", as float64 judges" : "");
	else if (values)
		buf_printf(out, "DISAGREES: %s%s", first ? first : "nothing could be compared",
			   json_is_true(json_object_get(m, "draws")) ? " (it draws numbers)" : "");
	if (values && json_is_false(json_object_get(values, "stdout_same")))
		buf_puts(out, "; prints differ");
}

static void print_row(struct buf *out, const json_t *at, bool sweep, const char *mode,
		      const json_t *m)
{
	const json_t *b = json_object_get(json_object_get(at, "break_even"), mode);
	const char *error = json_string_value(json_object_get(m, "error"));
	char time[4 * NUMBER_BYTES], speedup[4 * NUMBER_BYTES], ours[4 * NUMBER_BYTES];
	char compile[NUMBER_BYTES] = "";

	if (sweep)
		buf_printf(out, "%6" JSON_INTEGER_FORMAT "  ",
			   json_integer_value(json_object_get(at, "n")));
	if (error) {
		buf_printf(out, "%-8s  failed: %.*s\n", mode, (int)strcspn(error, "\n"), error);
		return;
	}
	number_interval(time, json_object_get(m, "latency"), "median_us", "ci_us", "");
	number_interval(speedup, b, "speedup", "speedup_ci", "x");
	number_interval(ours, json_object_get(m, "over_ours"), "ratio", "ci", "x");
	if (!isnan(number_field(m, "compile_ms")))
		number_short(compile, number_field(m, "compile_ms"));
	buf_printf(out, "%-8s  %-24s  %-20s  %-22s  %10s  ", mode, time, speedup, ours, compile);
	print_values(out, m);
	buf_putc(out, '\n');
}

void torch_text_print(struct buf *out, const json_t *report)
{
	const json_t *t = torch_of(report), *points = json_object_get(t, "points");
	const char *version = json_string_value(json_object_get(t, "version"));
	const char *device = json_string_value(json_object_get(t, "device_name"));
	const char *error = torch_text_error(report), *note;
	size_t n = json_array_size(points), i = 0;

	if (!t)
		return;
	if (error)
		buf_printf(out, "engine torch failed: %s\n", error);
	if (version)
		buf_printf(out, "PyTorch %s%s%s\n%s%-8s  %-24s  %-20s  %-22s  %10s  %s\n", version,
			   device ? ", " : "", device ? device : "", n ? "     n  " : "", "mode",
			   "us", "speedup over its eager", "its time over ours", "compile ms",
			   "values");
	note = json_string_value(json_object_get(json_object_get(t, "build"), "note"));
	do {
		const json_t *at = n ? json_array_get(points, i) : t;
		const char *mode;
		json_t *m;

		json_object_foreach(json_object_get(at, "modes"), mode, m)
		{
			print_row(out, at, n > 0, mode, m);
		}
	} while (++i < n);
	if (note)
		buf_printf(out, "note: %s\n", note);
	buf_putc(out, '\n');
}
