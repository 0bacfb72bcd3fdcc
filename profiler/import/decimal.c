/* profiler/import/decimal.c -- numbers of a log, from their digits. */
#include "profiler/import/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 18, NUMBER_CHARS = 64 };

/* 1.5e+15, and what has more digits than fit. */
static bool rounded(const char *text, size_t len, int places, int64_t *out)
{
	char copy[NUMBER_CHARS + 1], *end;
	long double value;

	if (len == 0 || len > NUMBER_CHARS)
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	value = strtold(copy, &end);
	if (*end || !isfinite(value))
		return false;
	while (places-- > 0)
		value *= 10;
	if (fabsl(value) >= 9.2e18L)
		return false;
	*out = (int64_t)roundl(value);
	return true;
}

bool decimal_scaled(const char *text, size_t len, int places, int64_t *out)
{
	size_t at = len > 0 && *text == '-';
	int64_t value = 0;
	int digits = 0, behind = 0;

	for (; at < len && text[at] >= '0' && text[at] <= '9'; at++, digits++)
		value = digits < MAX_DIGITS ? value * 10 + (text[at] - '0') : value;
	if (digits == 0 || digits + places > MAX_DIGITS)
		return rounded(text, len, places, out);
	at += at < len && text[at] == '.';
	for (; at < len && text[at] >= '0' && text[at] <= '9'; at++, behind++) {
		if (behind < places)
			value = value * 10 + (text[at] - '0');
		else if (behind == places)
			value += text[at] >= '5';
	}
	if (at != len)
		return rounded(text, len, places, out);
	for (; behind < places; behind++)
		value *= 10;
	*out = *text == '-' ? -value : value;
	return true;
}
