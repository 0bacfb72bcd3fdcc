/* profiler/align/match.c -- the model units of two sides, item by item.
 *
 * What has the same name is matched in order, as few as possible left over.  Between two of those,
 * what is alike is paired: by the words of its name, the op that launched it, and its shape.  What
 * then stands at the same place on both sides is one made of the other: renamed, fused or split.
 * What one side alone has and the other has elsewhere was moved.
 */
#include "profiler/align/match.h"

#include <stdlib.h>

#include "profiler/align/sequence.h"

enum { MOST_COMPARED = 1 << 14 };

/* Scores from which on two items are one: where as many stand on both sides the place speaks for
 * it too. */
static const double alike_in_place = 0.4, alike_anywhere = 0.9, of_op = 0.2, of_shape = 0.2;

struct matching {
	const struct align_side *a, *b;
	const struct align_item *of_a, *of_b; /* items of the model units */
	struct matches *out;
	bool failed;
};

static void add(struct matching *m, struct match row)
{
	if ((row.n || row.m) && !VEC_PUSH(&m->out->list, row))
		m->failed = true;
}

static const json_t *shape_of(const struct align_side *s, const struct align_item *item)
{
	const struct timeline_event *e = item->event;

	return e->shape ? json_array_get(s->run->events->tables.shapes, e->shape - 1) : NULL;
}

static double likeness(const struct matching *m, size_t i, size_t k)
{
	const struct align_item *a = &m->of_a[i], *b = &m->of_b[k];
	const json_t *shape_a = shape_of(m->a, a), *shape_b = shape_of(m->b, b);
	double like = name_likeness(side_name(m->a, a->event), side_name(m->b, b->event));

	return like + (a->op && a->op == b->op ? of_op : 0) +
	       (shape_a && shape_b && json_equal(shape_a, shape_b) ? of_shape : 0);
}

/* Items of either side between two that are matched. */
struct gap {
	size_t a0, a1, b0, b1;
};

/* What is left of a gap once pairs are out of it: a group, or what one side alone has. */
static void add_rest(struct matching *m, const struct gap *g)
{
	if (g->a1 > g->a0 && g->b1 > g->b0) {
		add(m, (struct match){ g->a0, g->b0, (uint32_t)(g->a1 - g->a0),
				       (uint32_t)(g->b1 - g->b0), false });
		return;
	}
	for (size_t i = g->a0; i < g->a1; i++)
		add(m, (struct match){ i, g->b0, 1, 0, false });
	for (size_t k = g->b0; k < g->b1; k++)
		add(m, (struct match){ g->a0, k, 0, 1, false });
}

/* The pairs of the best sum, in order.  best[i][k]: of what follows i and k. */
static void pair_gap(struct matching *m, const struct gap *g, double *best)
{
	size_t n = g->a1 - g->a0, width = g->b1 - g->b0, i = 0, k = 0;
	double least = n == width ? alike_in_place : alike_anywhere;
	struct gap rest = *g;

#define BEST(i, k) best[(i) * (width + 1) + (k)]
	for (size_t x = n; x-- > 0;)
		for (size_t y = width; y-- > 0;) {
			double with = likeness(m, g->a0 + x, g->b0 + y) - least +
				      BEST(x + 1, y + 1);
			double skip = BEST(x + 1, y) > BEST(x, y + 1) ? BEST(x + 1, y)
								      : BEST(x, y + 1);

			BEST(x, y) = with > skip ? with : skip;
		}
	while (i < n && k < width) {
		if (BEST(i, k) == BEST(i + 1, k)) {
			i++;
		} else if (BEST(i, k) == BEST(i, k + 1)) {
			k++;
		} else {
			rest.a1 = g->a0 + i;
			rest.b1 = g->b0 + k;
			add_rest(m, &rest);
			add(m, (struct match){ g->a0 + i++, g->b0 + k++, 1, 1, false });
			rest.a0 = g->a0 + i;
			rest.b0 = g->b0 + k;
		}
	}
#undef BEST
	rest.a1 = g->a1;
	rest.b1 = g->b1;
	add_rest(m, &rest);
}

static void match_gap(struct matching *m, const struct gap *g)
{
	size_t n = g->a1 - g->a0, width = g->b1 - g->b0;
	double *best = NULL;

	if (n && width && n <= MOST_COMPARED / width) {
		best = calloc((n + 1) * (width + 1), sizeof(*best));
		m->failed |= !best;
	}
	if (best)
		pair_gap(m, g, best);
	else
		add_rest(m, g);
	free(best);
}

/* ---- what was moved ---- */

struct alone {
	uint32_t key;
	bool of_b;
	size_t row;
};

static int by_key(const void *x, const void *y)
{
	const struct alone *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->of_b != b->of_b)
		return a->of_b - b->of_b;
	return (a->row > b->row) - (a->row < b->row);
}

/* Of one key the first of A with the first of B, and so on. */
static void join_moved(struct matching *m, const struct alone *list, size_t n)
{
	size_t of_a = 0;

	while (of_a < n && !list[of_a].of_b)
		of_a++;
	for (size_t i = 0; i < of_a && of_a + i < n; i++) {
		struct match *a = &m->out->list.at[list[i].row],
			     *b = &m->out->list.at[list[of_a + i].row];

		*a = (struct match){ a->a, b->b, 1, 1, true };
		b->m = 0;
	}
}

static void find_moved(struct matching *m)
{
	struct matches *rows = m->out;
	struct alone *list = calloc(rows->list.len + 1, sizeof(*list));
	size_t n = 0, kept = 0;

	m->failed |= !list;
	for (size_t i = 0; list && i < rows->list.len; i++) {
		const struct match *row = &rows->list.at[i];

		if (row->n + row->m == 1)
			list[n++] = (struct alone){ row->n ? m->of_a[row->a].key
							   : m->of_b[row->b].key,
						    row->m == 1, i };
	}
	if (n)
		qsort(list, n, sizeof(*list), by_key);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end].key == list[i].key;)
			end++;
		join_moved(m, &list[i], end - i);
	}
	for (size_t i = 0; i < rows->list.len; i++)
		if (rows->list.at[i].n || rows->list.at[i].m)
			rows->list.at[kept++] = rows->list.at[i];
	rows->list.len = kept;
	free(list);
}

/* ---- all of it ---- */

/* Of a model unit the keys; new. */
static uint32_t *keys_of(const struct align_item *items, size_t n)
{
	uint32_t *keys = calloc(n + 1, sizeof(*keys));

	for (size_t i = 0; keys && i < n; i++)
		keys[i] = items[i].key;
	return keys;
}

static void match_all(struct matching *m, const int64_t *to, size_t n, size_t width)
{
	struct gap g = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (to[i] == SEQUENCE_NONE)
			continue;
		g.a1 = i;
		g.b1 = (size_t)to[i];
		match_gap(m, &g);
		add(m, (struct match){ i, (size_t)to[i], 1, 1, false });
		g.a0 = i + 1;
		g.b0 = (size_t)to[i] + 1;
	}
	g.a1 = n;
	g.b1 = width;
	match_gap(m, &g);
}

bool match_units(const struct align_side *a, const struct align_side *b, struct matches *out)
{
	const struct align_unit *u = &a->units.at[a->model], *v = &b->units.at[b->model];
	struct matching m = { a, b, &a->items.at[u->first], &b->items.at[v->first], out, false };
	uint32_t *of_a = keys_of(m.of_a, u->n), *of_b = keys_of(m.of_b, v->n);
	int64_t *to = calloc(u->n + 1, sizeof(*to));

	m.failed = !of_a || !of_b || !to || !sequence_match(of_a, u->n, of_b, v->n, to);
	if (!m.failed)
		match_all(&m, to, u->n, v->n);
	if (!m.failed)
		find_moved(&m);
	free(of_a);
	free(of_b);
	free(to);
	return !m.failed;
}
