/* server/text/columns.c -- columns of tables on a terminal, whose characters may be of several
 * bytes. */
#include <string.h>

#include "fusion/base/utf8.h"
#include "server/text/text.h"

int text_width(int columns, const char *text)
{
	const char *end = text + strlen(text);
	int more = (int)(end - text) - utf8_count(text, end);

	return columns < 0 ? columns - more : columns + more;
}
