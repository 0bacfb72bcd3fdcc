/* server/text/change_text.c -- see change_text.h. */
#include "server/text/change_text.h"

#include "profiler/numbers.h"

static void print_counts(struct buf *out, const json_t *change, const char *what)
{
	const json_t *pair = json_object_get(change, what);

	buf_printf(out, "; %s %" JSON_INTEGER_FORMAT " -> %" JSON_INTEGER_FORMAT, what,
		   json_integer_value(json_array_get(pair, 0)),
		   json_integer_value(json_array_get(pair, 1)));
}

static void print_mode(struct buf *out, const char *mode, const json_t *change)
{
	const json_t *error = json_object_get(change, "error");
	const char *why = json_string_value(json_object_get(change, "disagreement"));
	const char *verdict = json_string_value(json_object_get(change, "verdict"));
	char ratio[4 * NUMBER_BYTES];

	buf_printf(out, "before the change, %s: ", mode);
	if (error) {
		buf_printf(out, "it fails: %s\n",
			   json_string_value(json_object_get(error, "message")));
		return;
	}
	buf_puts(out, why ? why : "the same values");
	print_counts(out, change, "breaks");
	print_counts(out, change, "graphs");
	if (verdict) {
		number_interval(ratio, change, "speedup", "speedup_ci", "x");
		buf_printf(out, "; %s as fast now: %s", ratio, verdict);
	}
	buf_putc(out, '\n');
}

void change_text_print(struct buf *out, const json_t *report)
{
	const json_t *points = json_object_get(report, "points");
	size_t n = json_array_size(points), began = out->len;

	for (size_t i = 0; i == 0 || i < n; i++) {
		const json_t *at = n ? json_array_get(points, i) : report;
		const char *mode;
		json_t *m;

		json_object_foreach(json_object_get(at, "modes"), mode, m)
		{
			if (json_object_get(m, "change"))
				print_mode(out, mode, json_object_get(m, "change"));
		}
	}
	if (out->len > began)
		buf_putc(out, '\n');
}
