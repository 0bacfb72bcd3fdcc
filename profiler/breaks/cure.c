/* profiler/breaks/cure.c -- the same function without its breaks.
 *
 * A print is left out: moved to the end it would still end the frame's piece.  So the
 * text that is printed need not be the same.
 */
#include "profiler/breaks/cure.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/report/break.h"
#include "profiler/breaks/rewrites.h"

enum { MOST = 64 }; /* changes */

/* A line of the source as it is now, and which it was. */
struct line {
	const char *at;
	size_t len;
	int was; /* 0: a new one */
};

struct text {
	struct buf source;
	int *was; /* by line, from 1 */
	int n;
};

static int count_lines(const char *source)
{
	int n = 1;

	for (; *source; source++)
		n += *source == '\n';
	return n;
}

static struct line *cut_lines(const struct text *t)
{
	struct line *lines = calloc((size_t)t->n + 1, sizeof(*lines));
	const char *at = t->source.data;

	for (int i = 1; lines && i <= t->n; i++) {
		lines[i] = (struct line){ at, strcspn(at, "\n"), t->was[i] };
		at += lines[i].len + (at[lines[i].len] == '\n');
	}
	return lines;
}

static bool same_line(const struct line *a, const struct line *b)
{
	return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

/* Which lines those of `to` were: the ones around the change as they stand, within it
 * by their text. */
static void follow_lines(const struct line *old, int n, struct line *new, int m, int *was)
{
	int head = 1, tail = 0;

	while (head <= n && head <= m && same_line(&old[head], &new[head]))
		head++;
	while (tail < n - head + 1 && tail < m - head + 1 &&
	       same_line(&old[n - tail], &new[m - tail]))
		tail++;
	for (int i = 1; i <= m; i++) {
		if (i < head)
			was[i] = old[i].was;
		else if (i > m - tail)
			was[i] = old[n - (m - i)].was;
		for (int k = head; i >= head && i <= m - tail && k <= n - tail; k++)
			if (same_line(&old[k], &new[i]))
				was[i] = old[k].was;
	}
}

static bool text_create(struct text *t, const char *source, size_t len)
{
	buf_init(&t->source, WORKLOAD_MAX_SOURCE_BYTES);
	buf_add(&t->source, source, len);
	if (t->source.failed || !t->source.data)
		return false;
	t->n = count_lines(t->source.data);
	t->was = calloc((size_t)t->n + 2, sizeof(*t->was));
	for (int i = 1; t->was && i <= t->n; i++)
		t->was[i] = i;
	return t->was != NULL;
}

static void text_finish(struct text *t)
{
	buf_finish(&t->source);
	free(t->was);
	*t = (struct text){ 0 };
}

/* The text with the change of the line that was `line`; false, with nothing changed,
 * where that cannot be. */
static bool change(struct text *t, enum lang_rewrite kind, int line)
{
	struct text next = { 0 };
	struct lang_rewriter *rewriter;
	struct line *old, *new;
	struct buf out;
	int at = 1;
	bool ok;

	while (at <= t->n && t->was[at] != line)
		at++;
	rewriter = lang_rewriter_create(t->source.data, t->source.len);
	buf_init(&out, WORKLOAD_MAX_SOURCE_BYTES);
	ok = at <= t->n && rewriter && lang_rewrite(rewriter, kind, at, &out) &&
	     text_create(&next, out.data, out.len);
	lang_rewriter_destroy(rewriter);
	buf_finish(&out);
	old = ok ? cut_lines(t) : NULL;
	new = ok ? cut_lines(&next) : NULL;
	if (old && new) {
		memset(next.was, 0, sizeof(*next.was) * (size_t)(next.n + 1));
		follow_lines(old, t->n, new, next.n, next.was);
		text_finish(t);
		*t = next;
	} else {
		text_finish(&next);
		ok = false;
	}
	free(old);
	free(new);
	return ok;
}

struct wanted {
	enum lang_rewrite kind;
	int line;
	bool made;
};

static int by_line(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return x->line - y->line;
}

static int find_wanted(const struct lane *again, struct wanted *list)
{
	json_t *breaks = breaks_to_json(again->session), *item;
	int n = 0;
	size_t i;

	json_array_foreach(breaks, i, item)
	{
		struct wanted want = { .line = profiler_break_place(item).line };
		bool known = n == MOST ||
			     !rewrites_kind(json_string_value(json_object_get(item, "kind")),
					    &want.kind);

		for (int k = 0; k < n; k++)
			known |= list[k].line == want.line;
		if (want.kind == REWRITE_PRINT) /* moved, it would still be a break */
			want.kind = REWRITE_DROP;
		if (!known)
			list[n++] = want;
	}
	json_decref(breaks);
	qsort(list, (size_t)n, sizeof(*list), by_line);
	return n;
}

/* Makes these changes in `t` if the program then does the same with fewer breaks. */
static bool make(struct text *t, struct wanted *list, int n, const struct lane *again,
		 const struct workload *quick, int *left)
{
	struct text next = { 0 };
	json_t *gain = NULL;
	int made = 0;

	if (text_create(&next, t->source.data, t->source.len)) {
		memcpy(next.was, t->was, sizeof(*t->was) * (size_t)(t->n + 1));
		for (int i = 0; i < n; i++)
			made += list[i].made = change(&next, list[i].kind, list[i].line);
	}
	if (made)
		gain = rewrites_try(next.source.data, next.source.len, again, quick, false);
	for (int i = 0; i < n; i++)
		list[i].made &= gain != NULL;
	if (gain) {
		struct text old = *t;

		*left = (int)json_integer_value(json_array_get(json_object_get(gain, "breaks"), 1));
		*t = next;
		next = old;
	}
	text_finish(&next);
	json_decref(gain);
	return gain != NULL;
}

static bool note(struct cure *c, struct text *t, const struct wanted *list, int n)
{
	c->lines = calloc((size_t)n + 1, sizeof(*c->lines));
	if (!c->lines)
		return false;
	for (int i = 0; i < n; i++)
		if (list[i].made)
			c->lines[c->n++] = list[i].line;
	c->source = t->source;
	buf_init(&t->source, 1);
	return c->n > 0;
}

bool cure_find(struct cure *c, const struct lane *lane, const struct workload *w,
	       const struct point *p)
{
	const char *source = point_source(w, p);
	struct workload quick = workload_quick(w);
	struct wanted list[MOST];
	struct lane again = { 0 };
	struct text t = { 0 };
	bool ok = false;
	int n;

	*c = (struct cure){ 0 };
	if (rewrites_again(&again, lane, &quick, p) && text_create(&t, source, strlen(source))) {
		n = find_wanted(&again, list);
		ok = n > 0 && make(&t, list, n, &again, &quick, &c->left);
		for (int i = 0; n > 1 && !ok && i < n; i++) /* one by one, then */
			make(&t, &list[i], 1, &again, &quick, &c->left);
		ok = note(c, &t, list, n);
	}
	lane_destroy(&again);
	text_finish(&t);
	return ok;
}

void cure_finish(struct cure *c)
{
	buf_finish(&c->source);
	free(c->lines);
	*c = (struct cure){ 0 };
}
