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
			ok = put(out, (struct line_change){ " ", i + 1, j + 1, NULL, NULL },
				 &c->b[j], arena);
			i++, j++;
		} else if (i < c->n_a &&
			   (j == c->n_b || common[(i + 1) * row + j] >= common[i * row + j + 1])) {
			ok = put(out, (struct line_change){ "-", i + 1, 0, NULL, NULL }, &c->a[i],
				 arena);
			i++, out->gone++;
		} else {
			ok = put(out, (struct line_change){ "+", 0, j + 1, NULL, NULL }, &c->b[j],
				 arena);
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

static bool compare_texts(const char *a, const char *b, struct arena *arena, struct lines *out)
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

/* ---- programs ---- */

enum { MOST_FILES = 2000 }; /* of both */

static const char *find_file(const struct report_names *files, const char *name, size_t len)
{
	for (size_t i = 0; i < files->n; i++)
		if (strlen(files->keys[i]) == len && memcmp(files->keys[i], name, len) == 0)
			return files->at[i];
	return NULL;
}

/* "train.py" of the entry "train.py:model". */
static size_t entry_file(const struct report_workload *w)
{
	return w->entry ? strcspn(w->entry, ":") : 0;
}

const char *program_text(const struct compared_program *p, const char *file)
{
	const struct report_workload *w = p->workload;
	const char *text;

	if (!w || !w->files.n)
		text = p->source ? p->source : w ? w->source : NULL;
	else if (p->source &&
		 (!file || !*file ||
		  (strlen(file) == entry_file(w) && memcmp(file, w->entry, entry_file(w)) == 0)))
		text = p->source;
	else if (file && *file)
		text = find_file(&w->files, file, strlen(file));
	else
		text = w->entry ? find_file(&w->files, w->entry, entry_file(w)) : NULL;
	return text ? text : "";
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The files of both, each once, by name; of a program of one file NULL alone. */
static size_t files_of(const struct compared_program *a, const struct compared_program *b,
		       const char **out)
{
	const struct compared_program *const both[] = { a, b };
	size_t n = 0, kept = 0;

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; both[k]->workload && i < both[k]->workload->files.n; i++)
			if (n < MOST_FILES)
				out[n++] = both[k]->workload->files.keys[i];
	if (n == 0) {
		out[0] = NULL;
		return 1;
	}
	qsort(out, n, sizeof(*out), by_name);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || strcmp(out[kept - 1], out[i]) != 0)
			out[kept++] = out[i];
	return kept;
}

static bool add_lines(struct lines *all, const struct lines *of, const char *file,
		      struct arena *arena)
{
	struct line_change *at = ARENA_ARRAY(arena, struct line_change, all->n + of->n + 1);

	if (!at)
		return false;
	if (all->n)
		memcpy(at, all->at, all->n * sizeof(*at));
	for (size_t i = 0; i < of->n; i++) {
		at[all->n + i] = of->at[i];
		at[all->n + i].file = file;
	}
	all->at = all->n + of->n ? at : NULL;
	all->n += of->n;
	all->added += of->added;
	all->gone += of->gone;
	return true;
}

bool lines_compare(const struct compared_program *a, const struct compared_program *b,
		   struct arena *arena, struct lines *out)
{
	const char **files = calloc(MOST_FILES, sizeof(*files));
	size_t n = files ? files_of(a, b, files) : 0;
	bool ok = files != NULL;

	*out = (struct lines){ .counted = true };
	for (size_t i = 0; ok && i < n && out->counted; i++) {
		struct lines one;

		ok = compare_texts(program_text(a, files[i]), program_text(b, files[i]), arena,
				   &one);
		if (ok && !one.counted)
			*out = one;
		else if (ok)
			ok = add_lines(out, &one, files[i], arena);
	}
	free(files);
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
