/* profiler/compare/lines.c -- two texts line by line. */
#include "profiler/compare/lines.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 2000 };

struct line {
	const char *text;
	size_t len;
};

/* At most `most` lines; returns how many the text has. */
static int split(const char *text, struct line *out, int most)
{
	int n = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (n < most)
			out[n] = (struct line){ text, len };
		n++;
		text += len + (text[len] == '\n');
	}
	return n;
}

static bool same(const struct line *a, const struct line *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static void put(json_t *list, const char *sign, int a, int b, const struct line *l)
{
	json_t *text = json_stringn(l->text, l->len);

	json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "sign", sign, "a",
					      a ? json_integer(a) : json_null(), "b",
					      b ? json_integer(b) : json_null(), "text",
					      text ? text : json_string("")));
}

/* common[i * (n_b + 1) + j]: lines in common from a[i] and b[j] on. */
static void fill(uint16_t *common, const struct line *a, int n_a, const struct line *b, int n_b)
{
	int row = n_b + 1;

	for (int i = n_a - 1; i >= 0; i--)
		for (int j = n_b - 1; j >= 0; j--) {
			uint16_t *at = &common[i * row + j];

			if (same(&a[i], &b[j]))
				*at = (uint16_t)(at[row + 1] + 1);
			else
				*at = at[row] >= at[1] ? at[row] : at[1];
		}
}

static json_t *walk(const uint16_t *common, const struct line *a, int n_a, const struct line *b,
		    int n_b)
{
	json_t *list = json_array();
	int row = n_b + 1, i = 0, j = 0, gone = 0, added = 0;

	while (i < n_a || j < n_b) {
		if (i < n_a && j < n_b && same(&a[i], &b[j])) {
			put(list, " ", i + 1, j + 1, &b[j]);
			i++, j++;
		} else if (i < n_a &&
			   (j == n_b || common[(i + 1) * row + j] >= common[i * row + j + 1])) {
			put(list, "-", i + 1, 0, &a[i]);
			i++, gone++;
		} else {
			put(list, "+", 0, j + 1, &b[j]);
			j++, added++;
		}
	}
	return json_pack("{s:i, s:i, s:o}", "added", added, "gone", gone, "lines", list);
}

json_t *lines_compare(const char *a, const char *b)
{
	struct line *lines = calloc(2 * MOST_LINES, sizeof(*lines));
	uint16_t *common = NULL;
	json_t *json = NULL;

	if (lines) {
		int n_a = split(a, lines, MOST_LINES),
		    n_b = split(b, lines + MOST_LINES, MOST_LINES);

		if (strcmp(a, b) == 0) {
			json = json_pack("{s:i, s:i, s:n}", "added", 0, "gone", 0, "lines");
		} else if (n_a > MOST_LINES || n_b > MOST_LINES) {
			json = json_pack("{s:n, s:n, s:n}", "added", "gone", "lines");
		} else {
			common = calloc((size_t)(n_a + 1) * (size_t)(n_b + 1), sizeof(*common));
			if (common) {
				fill(common, lines, n_a, lines + MOST_LINES, n_b);
				json = walk(common, lines, n_a, lines + MOST_LINES, n_b);
			}
		}
	}
	free(common);
	free(lines);
	return json;
}

const char *lines_at(const char *text, int number, int *len)
{
	const char *end;

	*len = 0;
	for (int at = 1; text && at < number; at++) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	if (!text || number < 1)
		return "";
	text += strspn(text, " \t");
	end = text + strcspn(text, "\r\n");
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*len = (int)(end - text);
	return text;
}
