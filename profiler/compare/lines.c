/* profiler/compare/lines.c -- two texts line by line. */
#include "profiler/compare/lines.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 2000 };

struct source_line {
	const char *text;
	size_t len;
};

/* At most `most` lines; returns how many the text has. */
static int split(const char *text, struct source_line *out, int most)
{
	int n = 0;

	while (*text) {
		size_t len = strcspn(text, "\n");

		if (n < most)
			out[n] = (struct source_line){ text, len };
		n++;
		text += len + (text[len] == '\n');
	}
	return n;
}

static bool same(const struct source_line *a, const struct source_line *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

/* common[i * (n_b + 1) + j]: lines in common from a[i] and b[j] on. */
static void fill(uint16_t *common, const struct source_line *a, int n_a,
		 const struct source_line *b, int n_b)
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

/* Two texts, cut into lines. */
struct line_cut {
	const struct source_line *a, *b;
	int n_a, n_b;
};

static bool put(struct lines *out, struct line_change change, const struct source_line *l,
		struct arena *arena)
{
	change.text = arena_strndup(arena, l->text, l->len);
	out->at[out->n++] = change;
	return change.text != NULL;
}

static bool walk(const uint16_t *common, const struct line_cut *c, struct arena *arena,
		 struct lines *out)
{
	int row = c->n_b + 1, i = 0, j = 0;
	bool ok = true;

	while (ok && (i < c->n_a || j < c->n_b)) {
		if (i < c->n_a && j < c->n_b && same(&c->a[i], &c->b[j])) {
			ok = put(out, (struct line_change){ " ", i + 1, j + 1, NULL }, &c->b[j],
				 arena);
			i++, j++;
		} else if (i < c->n_a &&
			   (j == c->n_b || common[(i + 1) * row + j] >= common[i * row + j + 1])) {
			ok = put(out, (struct line_change){ "-", i + 1, 0, NULL }, &c->a[i], arena);
			i++, out->gone++;
		} else {
			ok = put(out, (struct line_change){ "+", 0, j + 1, NULL }, &c->b[j], arena);
			j++, out->added++;
		}
	}
	return ok;
}

static bool compare(const struct line_cut *c, struct arena *arena, struct lines *out)
{
	uint16_t *common = calloc((size_t)(c->n_a + 1) * (size_t)(c->n_b + 1), sizeof(*common));
	bool ok = common != NULL;

	out->at = ARENA_ARRAY(arena, struct line_change, (size_t)(c->n_a + c->n_b));
	ok = ok && out->at;
	if (ok) {
		fill(common, c->a, c->n_a, c->b, c->n_b);
		ok = walk(common, c, arena, out);
	}
	free(common);
	return ok;
}

bool lines_compare(const char *a, const char *b, struct arena *arena, struct lines *out)
{
	struct source_line *lines = calloc(2 * MOST_LINES, sizeof(*lines));
	struct line_cut c = { .a = lines, .b = lines + MOST_LINES };
	bool ok = lines != NULL;

	*out = (struct lines){ 0 };
	if (ok) {
		c.n_a = split(a, lines, MOST_LINES);
		c.n_b = split(b, lines + MOST_LINES, MOST_LINES);
		out->counted = strcmp(a, b) == 0 || (c.n_a <= MOST_LINES && c.n_b <= MOST_LINES);
		if (out->counted && strcmp(a, b) != 0)
			ok = compare(&c, arena, out);
	}
	free(lines);
	return ok;
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
