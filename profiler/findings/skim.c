/* profiler/findings/skim.c -- a stored report, read for its findings alone. */
#include "profiler/findings/skim.h"

#include <stdbool.h>
#include <string.h>

#include "fusion/base/buf.h"

/* Lists of objects that findings do not need.  A list of other things of that name is kept: a pair
 * of counts, the arguments of calls. */
static const char *const left_out[] = { "graphs",     "breaks", "guards",    "tree",
					"recompiles", "calls",  "samples_ns" };
enum { N_LEFT_OUT = sizeof(left_out) / sizeof(left_out[0]), SAMPLES = N_LEFT_OUT - 1 };

/* After the string that begins at `at`, or the end. */
static const char *after_string(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\';
	return at < end ? at + 1 : end;
}

static const char *after_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
		at++;
	return at;
}

/* After the list that begins at `at`, or the end. */
static const char *after_list(const char *at, const char *end)
{
	int depth = 0;

	while (at < end) {
		if (*at == '"') {
			at = after_string(at, end);
			continue;
		}
		depth += (*at == '[' || *at == '{') - (*at == ']' || *at == '}');
		at++;
		if (depth == 0)
			break;
	}
	return at;
}

/* Whether the key, in its quotes, names a list at `value` that is left out. */
static bool is_left_out(const char *key, size_t len, const char *value, const char *end)
{
	const char *first;

	if (value >= end || *value != '[')
		return false;
	first = after_blanks(value + 1, end);
	for (int i = 0; i < N_LEFT_OUT; i++)
		if (len == strlen(left_out[i]) + 2 && memcmp(key + 1, left_out[i], len - 2) == 0)
			return i == SAMPLES || (first < end && *first == '{');
	return false;
}

json_t *report_skim(const char *text, size_t len)
{
	const char *end = text + len, *kept = text, *at = text, *key, *value;
	struct buf out = { 0 };
	json_t *json;

	while ((key = at < end ? memchr(at, '"', (size_t)(end - at)) : NULL)) {
		at = after_string(key, end);
		value = after_blanks(at, end);
		if (value >= end || *value != ':')
			continue;
		value = after_blanks(value + 1, end);
		if (!is_left_out(key, (size_t)(at - key), value, end))
			continue;
		buf_add(&out, kept, (size_t)(value - kept));
		buf_puts(&out, "[]");
		kept = at = after_list(value, end);
	}
	buf_add(&out, kept, (size_t)(end - kept));
	json = out.failed ? NULL : json_loadb(out.data ? out.data : "", out.len, 0, NULL);
	buf_finish(&out);
	return json;
}
