/* server/text/csv.c -- rows of an answer as CSV. */
#include "server/text/text.h"

void csv_row(struct buf *out, const json_t *row)
{
	const json_t *cell;
	size_t i;

	json_array_foreach(row, i, cell)
	{
		if (i)
			buf_putc(out, ',');
		if (json_is_string(cell))
			buf_csv(out, json_string_value(cell));
		else if (json_is_integer(cell))
			buf_printf(out, "%lld", (long long)json_integer_value(cell));
		else if (json_is_real(cell))
			buf_printf(out, "%.15g", json_real_value(cell));
		else if (json_is_boolean(cell))
			buf_puts(out, json_is_true(cell) ? "true" : "false");
	}
	buf_puts(out, "\r\n");
}
