/* fusion/lang/caret.c -- a message with its line and a caret; see fusion/source.h.
 *
 * The source may be anything, so nothing of it is passed to a terminal but
 * printable text; of a long line only the part around the column is shown.
 */
#include <string.h>

#include "fusion/source.h"
#include "fusion/lang/lang.h"
#include "fusion/base/utf8.h"

enum { BEFORE = 60, AFTER = 60 }; /* characters of a long line around the column */

/* The start of a line, or NULL; lines end in \n, \r or both. */
static const char *find_line(const char *source, int line)
{
	for (; line > 1; line--) {
		source += strcspn(source, "\r\n");
		if (!*source)
			return NULL;
		source += source[0] == '\r' && source[1] == '\n' ? 2 : 1;
	}
	return source;
}

/* One character, or a question mark for what is not printable text. */
static size_t put_character(struct buf *out, const char *text, size_t len)
{
	uint32_t point = 0;
	int n = utf8_decode(text, len, &point);

	if (n && (point >= 0xa0 || (point >= ' ' && point < 0x7f) || point == '\t'))
		buf_add(out, text, (size_t)n);
	else
		buf_putc(out, '?');
	return n ? (size_t)n : 1;
}

static size_t character_bytes(const char *text, size_t len)
{
	uint32_t point;
	int n = utf8_decode(text, len, &point);

	return n ? (size_t)n : 1;
}

static void put_source(struct buf *out, const char *text, size_t len, int line, int column,
		       int end_column)
{
	size_t at = 0;
	int n = utf8_count(text, text + len), first, i;

	if (column > n + 1) /* not of this source */
		column = n + 1;
	if (end_column > n + 1) /* goes on in the next line */
		end_column = n + 1;
	if (end_column > column + AFTER)
		end_column = column + AFTER;
	first = column > BEFORE ? column - BEFORE : 1;
	if (first > 1 && first <= 4)
		first = 1; /* no shorter with the dots */
	buf_printf(out, "%5d | %s", line, first > 1 ? "..." : "");
	for (i = 1; at < len && i < first; i++)
		at += character_bytes(text + at, len - at);
	for (; at < len && i < column + AFTER; i++)
		at += put_character(out, text + at, len - at);
	buf_puts(out, at < len ? "...\n" : "\n");
	buf_printf(out, "      | %s", first > 1 ? "   " : "");
	at = 0;
	for (i = 1; i < column; i++) {
		if (i >= first)
			buf_putc(out, at < len && text[at] == '\t' ? '\t' : ' ');
		at += at < len ? character_bytes(text + at, len - at) : 0;
	}
	buf_putc(out, '^');
	for (i = column + 1; i < end_column; i++)
		buf_putc(out, '~');
	buf_putc(out, '\n');
}

void lang_underline(struct buf *out, const char *source, int line, int column, int end_column)
{
	const char *text = line > 0 && column > 0 ? find_line(source, line) : NULL;

	if (text)
		put_source(out, text, strcspn(text, "\r\n"), line, column, end_column);
}

void lang_caret(struct buf *out, const char *file, const char *source, const struct err *err)
{
	buf_puts(out, file);
	if (err->line > 0)
		buf_printf(out, ":%d", err->line);
	if (err->line > 0 && err->column > 0)
		buf_printf(out, ":%d", err->column);
	buf_printf(out, ": %s\n", err->message);
	lang_underline(out, source, err->line, err->column, 0);
}
