/* server/text/mixed_text.c -- see mixed_text.h. */
#include "server/text/mixed_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/numbers.h"

/* "1,200"; "" for what there is not. */
static void figure(char out[NUMBER_BYTES], const json_t *object, const char *key, double unit)
{
	double value = number_field(object, key);

	out[0] = '\0';
	if (!isnan(value))
		number_short(out, value / unit);
}

static void print_row(struct buf *out, const char *mode, const json_t *m)
{
	const json_t *with = json_object_get(m, "with"), *without = json_object_get(m, "without");
	const char *verdict = json_string_value(json_object_get(m, "verdict"));
	char time[2][NUMBER_BYTES], rate[2][NUMBER_BYTES], bytes[2][NUMBER_BYTES];
	char ratio[4 * NUMBER_BYTES], error[32];
	const json_t *sides[2] = { with, without };

	for (int i = 0; i < 2; i++) {
		figure(time[i], sides[i], "median_us", 1);
		figure(rate[i], sides[i], "samples_per_s", 1);
		figure(bytes[i], sides[i], "activation_bytes", 1000);
	}
	number_interval(ratio, m, "speedup", "speedup_ci", "x");
	if (json_is_number(json_object_get(m, "max_abs_error")))
		snprintf(error, sizeof(error), "%.2g", number_field(m, "max_abs_error"));
	else
		strcpy(error, "nan");
	buf_printf(out, "%-8s  %8s  %8s  %-18s  %-10s  %10s  %10s  %9s  %9s  %9s\n", mode, time[0],
		   time[1], ratio, verdict ? verdict : "", rate[0], rate[1], bytes[0], bytes[1],
		   error);
}

static void print_point(struct buf *out, const json_t *at, const json_t *section)
{
	const char *error = json_string_value(json_object_get(section, "error")), *mode;
	json_int_t batch = json_integer_value(json_object_get(section, "batch"));
	json_t *m;

	buf_printf(out, "autocast to %s", json_string_value(json_object_get(section, "dtype")));
	if (json_object_get(at, "n"))
		buf_printf(out, " at n = %" JSON_INTEGER_FORMAT,
			   json_integer_value(json_object_get(at, "n")));
	if (error) {
		buf_printf(out, ": without it the program fails, so nothing is compared: %s\n\n",
			   error);
		return;
	}
	buf_puts(out, ", each mode with it and without, side by side");
	if (batch)
		buf_printf(out, "; a call has %" JSON_INTEGER_FORMAT " sample%s", batch,
			   batch == 1 ? "" : "s");
	buf_printf(out, "\n%-8s  %8s  %8s  %-18s  %-10s  %10s  %10s  %9s  %9s  %9s\n", "mode", "us",
		   "without", "speedup", "verdict", "samples/s", "without", "act. kB", "without",
		   "max error");
	json_object_foreach(json_object_get(section, "modes"), mode, m)
	{
		print_row(out, mode, m);
	}
	buf_putc(out, '\n');
}

void mixed_text_print(struct buf *out, const json_t *report)
{
	const json_t *points = json_object_get(report, "points");
	size_t n = json_array_size(points);

	for (size_t i = 0; i == 0 || i < n; i++) {
		const json_t *at = n ? json_array_get(points, i) : report;
		const json_t *section = json_object_get(at, "autocast");

		if (section)
			print_point(out, at, section);
	}
}
