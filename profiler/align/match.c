/* profiler/align/match.c -- the model units of two sides, item by item.
 *
 * What has the same name is matched in order, as few as possible left over; what is then left over
 * on both sides was moved.  Between two that are matched in order, what is alike is paired: by the
 * words of its name, the op that launched it, and its shape.  What then stands at the same place on
 * both sides is one made of the other: renamed, fused or split.
 */
#include "profiler/align/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "profiler/align/sequence.h"

enum { MOST_COMPARED = 1 << 14, MOST_COMPARED_IN_ALL = 1 << 22 };

/* Scores from which on two items are one: where as many stand on both sides the place speaks for
 * it too. */
static const double alike_in_place = 0.4, alike_anywhere = 0.9, of_op = 0.2, of_shape = 0.2;

/* Shapes of a side's tables as numbers. */
struct shape_numbers {
	const json_t *rows;
	uint64_t *of; /* 0: not looked at */
	size_t n;
};

struct matching {
	const struct align_side *a, *b;
	struct shape_numbers shapes[2];
	const struct align_item *of_a, *of_b; /* items of the model units */
	struct matches *out;
	size_t compared; /* pairs so far */
	bool failed;
};

/* Items of either side, by number. */
struct some {
	const uint32_t *a, *b;
	size_t n, m;
};

static void add(struct matching *m, struct some items, bool moved)
{
	struct matches *out = m->out;
	struct match row = { out->a.len, out->b.len, (uint32_t)items.n, (uint32_t)items.m, moved };

	for (size_t i = 0; i < items.n; i++)
		m->failed |= !VEC_PUSH(&out->a, items.a[i]);
	for (size_t i = 0; i < items.m; i++)
		m->failed |= !VEC_PUSH(&out->b, items.b[i]);
	m->failed |= !VEC_PUSH(&out->list, row);
}

/* What an item is compared by, read once for all pairs that it may be one of. */
struct looks {
	struct name_words words;
	uint32_t op;
	uint64_t shape; /* of its text; 0: not known */
};

/* A shape's text as a number, which is made once. */
static uint64_t shape_of(const struct shape_numbers *known, const struct timeline_event *e)
{
	uint64_t *number = e->shape && e->shape <= known->n ? &known->of[e->shape - 1] : NULL;
	char *text;

	if (!number || *number)
		return number ? *number : 0;
	text = json_dumps(json_array_get(known->rows, e->shape - 1), JSON_COMPACT | JSON_SORT_KEYS);
	if (text)
		*number = hash_bytes(text, strlen(text), 0) | 1;
	free(text);
	return *number;
}

static void look_at(const struct matching *m, bool of_b, size_t at, struct looks *to)
{
	const struct align_item *item = of_b ? &m->of_b[at] : &m->of_a[at];

	name_words_of(&to->words, side_name(of_b ? m->b : m->a, item->event));
	to->op = item->op;
	to->shape = shape_of(&m->shapes[of_b], item->event);
}

static double likeness(const struct looks *a, const struct looks *b)
{
	return name_likeness(&a->words, &b->words) + (a->op && a->op == b->op ? of_op : 0) +
	       (a->shape && a->shape == b->shape ? of_shape : 0);
}

/* What is left of a gap once pairs are out of it: a group, or what one side alone has. */
static void add_rest(struct matching *m, struct some g)
{
	if (g.n && g.m) {
		add(m, g, false);
		return;
	}
	for (size_t i = 0; i < g.n; i++)
		add(m, (struct some){ .a = &g.a[i], .n = 1 }, false);
	for (size_t k = 0; k < g.m; k++)
		add(m, (struct some){ .b = &g.b[k], .m = 1 }, false);
}

/* The items of a gap, as they are compared, and the best sums of what follows each pair of them. */
struct compared_gap {
	struct looks *a, *b;
	double *best; /* (n + 1) rows of m + 1 */
	size_t m;
};

static double *best_at(const struct compared_gap *c, size_t i, size_t k)
{
	return &c->best[i * (c->m + 1) + k];
}

static void sum_gap(const struct compared_gap *c, struct some g)
{
	double least = g.n == g.m ? alike_in_place : alike_anywhere;

	for (size_t i = g.n; i-- > 0;)
		for (size_t k = g.m; k-- > 0;) {
			double with = likeness(&c->a[i], &c->b[k]) - least +
				      *best_at(c, i + 1, k + 1);
			double skip = fmax(*best_at(c, i + 1, k), *best_at(c, i, k + 1));

			*best_at(c, i, k) = fmax(with, skip);
		}
}

/* The pairs of the best sum, in order. */
static void pair_gap(struct matching *m, struct some g, const struct compared_gap *c)
{
	size_t i = 0, k = 0, from_a = 0, from_b = 0;

	while (i < g.n && k < g.m) {
		if (*best_at(c, i, k) == *best_at(c, i + 1, k)) {
			i++;
		} else if (*best_at(c, i, k) == *best_at(c, i, k + 1)) {
			k++;
		} else {
			add_rest(
			    m, (struct some){ g.a + from_a, g.b + from_b, i - from_a, k - from_b });
			add(m, (struct some){ g.a + i++, g.b + k++, 1, 1 }, false);
			from_a = i;
			from_b = k;
		}
	}
	add_rest(m, (struct some){ g.a + from_a, g.b + from_b, g.n - from_a, g.m - from_b });
}

static void compare_gap(struct matching *m, struct some g)
{
	struct compared_gap c = { calloc(g.n, sizeof(*c.a)), calloc(g.m, sizeof(*c.b)),
				  calloc((g.n + 1) * (g.m + 1), sizeof(*c.best)), g.m };

	m->failed |= !c.a || !c.b || !c.best;
	for (size_t i = 0; !m->failed && i < g.n; i++)
		look_at(m, false, g.a[i], &c.a[i]);
	for (size_t k = 0; !m->failed && k < g.m; k++)
		look_at(m, true, g.b[k], &c.b[k]);
	if (!m->failed) {
		sum_gap(&c, g);
		pair_gap(m, g, &c);
	}
	free(c.a);
	free(c.b);
	free(c.best);
}

static void match_gap(struct matching *m, struct some g)
{
	if (g.n && g.m && g.n <= MOST_COMPARED / g.m &&
	    m->compared + g.n * g.m <= MOST_COMPARED_IN_ALL) {
		m->compared += g.n * g.m;
		compare_gap(m, g);
	} else {
		add_rest(m, g);
	}
}

/* ---- what was moved ---- */

struct alone {
	uint32_t key, item;
	bool of_b;
};

static int by_key(const void *x, const void *y)
{
	const struct alone *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->of_b != b->of_b)
		return a->of_b - b->of_b;
	return (a->item > b->item) - (a->item < b->item);
}

/* What each item of either side is: matched in order, moved, or left. */
enum item_state { ITEM_LEFT, ITEM_MATCHED, ITEM_MOVED };

struct states {
	uint8_t *a, *b;
	size_t n, m;
};

/* Of one key the first of A with the first of B, and so on. */
static void join_moved(struct matching *m, const struct alone *list, size_t n, struct states *of)
{
	size_t of_a = 0;

	while (of_a < n && !list[of_a].of_b)
		of_a++;
	for (size_t i = 0; i < of_a && of_a + i < n; i++) {
		const struct alone *a = &list[i], *b = &list[of_a + i];

		of->a[a->item] = of->b[b->item] = ITEM_MOVED;
		add(m, (struct some){ &a->item, &b->item, 1, 1 }, true);
	}
}

static void find_moved(struct matching *m, struct states *of)
{
	struct alone *list = calloc(of->n + of->m + 1, sizeof(*list));
	size_t n = 0;

	m->failed |= !list;
	for (size_t i = 0; list && i < of->n; i++)
		if (of->a[i] == ITEM_LEFT)
			list[n++] = (struct alone){ m->of_a[i].key, (uint32_t)i, false };
	for (size_t k = 0; list && k < of->m; k++)
		if (of->b[k] == ITEM_LEFT)
			list[n++] = (struct alone){ m->of_b[k].key, (uint32_t)k, true };
	if (n)
		qsort(list, n, sizeof(*list), by_key);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && list[end].key == list[i].key;)
			end++;
		join_moved(m, &list[i], end - i, of);
	}
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

/* Numbers of the items in [from, to) that are left, after those before. */
static size_t list_left(const uint8_t *state, size_t from, size_t to, uint32_t *out)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		if (state[i] == ITEM_LEFT)
			out[n++] = (uint32_t)i;
	return n;
}

/* `room`: for the numbers of all items of both sides. */
static void match_all(struct matching *m, const int64_t *to, const struct states *of,
		      uint32_t *room)
{
	size_t from_a = 0, from_b = 0;

	for (size_t i = 0; i <= of->n; i++) {
		size_t k = i < of->n ? (size_t)to[i] : of->m;
		uint32_t item[2] = { (uint32_t)i, (uint32_t)k };
		struct some left = { room, room + of->n, 0, 0 };

		if (i < of->n && to[i] == SEQUENCE_NONE)
			continue;
		left.n = list_left(of->a, from_a, i, room);
		left.m = list_left(of->b, from_b, k, room + of->n);
		match_gap(m, left);
		if (i == of->n)
			break;
		add(m, (struct some){ &item[0], &item[1], 1, 1 }, false);
		from_a = i + 1;
		from_b = k + 1;
	}
}

static void match_keys(struct matching *m, const int64_t *to, struct states *of)
{
	uint32_t *room = calloc(of->n + of->m + 1, sizeof(*room));

	of->a = calloc(of->n + 1, 1);
	of->b = calloc(of->m + 1, 1);
	m->failed |= !room || !of->a || !of->b;
	for (size_t i = 0; !m->failed && i < of->n; i++)
		if (to[i] != SEQUENCE_NONE)
			of->a[i] = of->b[to[i]] = ITEM_MATCHED;
	if (!m->failed)
		find_moved(m, of);
	if (!m->failed)
		match_all(m, to, of, room);
	free(of->a);
	free(of->b);
	free(room);
}

static struct shape_numbers shapes_of(const struct align_side *s)
{
	const json_t *rows = s->run->events->tables.shapes;
	size_t n = json_array_size(rows);

	return (struct shape_numbers){ rows, calloc(n + 1, sizeof(uint64_t)), n };
}

bool match_units(const struct align_side *a, const struct align_side *b, struct matches *out)
{
	const struct align_unit *u = &a->units.at[a->model], *v = &b->units.at[b->model];
	struct matching m = { .a = a,
			      .b = b,
			      .shapes = { shapes_of(a), shapes_of(b) },
			      .of_a = &a->items.at[u->first],
			      .of_b = &b->items.at[v->first],
			      .out = out };
	struct states of = { NULL, NULL, u->n, v->n };
	uint32_t *of_a = keys_of(m.of_a, u->n), *of_b = keys_of(m.of_b, v->n);
	int64_t *to = calloc(u->n + 1, sizeof(*to));

	m.failed = !m.shapes[0].of || !m.shapes[1].of || !of_a || !of_b || !to ||
		   !sequence_match(of_a, u->n, of_b, v->n, to);
	if (!m.failed)
		match_keys(&m, to, &of);
	free(of_a);
	free(of_b);
	free(to);
	free(m.shapes[0].of);
	free(m.shapes[1].of);
	return !m.failed;
}
