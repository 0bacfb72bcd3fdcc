/* tests/test_profiler_layout.c -- where the boxes of a graph go: none over another, groups around
 * what they hold, edges beside the boxes that they pass. */
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "profiler/layout/layout.h"

enum { N_BOXES = 60, N_GROUPS = 4, MOST_EDGES = 200 };

struct case_ {
	struct layout_box boxes[N_BOXES];
	struct layout_group groups[N_GROUPS];
	struct layout_edge edges[MOST_EDGES];
	struct layout_graph graph;
};

static unsigned next_random(unsigned *seed)
{
	return *seed = (unsigned)((unsigned long long)*seed * 48271 % 2147483647);
}

/* Boxes in runs that stand in groups, the second in the first; edges mostly ahead, some back. */
static void make_case(struct case_ *c, unsigned seed, double band_height)
{
	int n = 0;

	for (int i = 0; i < N_GROUPS; i++)
		c->groups[i] = (struct layout_group){ i == 1 ? 0 : -1, 60 };
	for (int i = 0; i < N_BOXES; i++)
		c->boxes[i] = (struct layout_box){ 60 + next_random(&seed) % 100, 40,
						   i % 15 < 6 ? i / 15 : -1 };
	for (int i = 1; i < N_BOXES; i++) {
		int from = i - 1 - (int)(next_random(&seed) % 4);

		c->edges[n++] = (struct layout_edge){ from < 0 ? 0 : from, i };
		if (next_random(&seed) % 10 == 0 && i > 5)
			c->edges[n++] = (struct layout_edge){ i, i - 4 };
	}
	c->graph = (struct layout_graph){ c->boxes, c->groups, c->edges,   N_BOXES,
					  N_GROUPS, n,         band_height };
}

static bool apart(const struct layout_rect *a, const struct layout_rect *b)
{
	return a->x + a->width <= b->x || b->x + b->width <= a->x || a->y + a->height <= b->y ||
	       b->y + b->height <= a->y;
}

static bool inside(const struct layout_rect *a, const struct layout_rect *b)
{
	return a->x >= b->x && a->y >= b->y && a->x + a->width <= b->x + b->width &&
	       a->y + a->height <= b->y + b->height;
}

static bool stands_in(const struct layout_graph *g, int box, int group)
{
	int at = g->boxes[box].group;

	while (at >= 0 && at != group)
		at = g->groups[at].parent;
	return at == group;
}

static void check_boxes(const struct layout *l)
{
	const struct layout_graph *g = l->graph;

	for (int i = 0; i < g->n_boxes; i++) {
		assert_true(l->boxes[i].x >= 0 && l->boxes[i].y >= 0);
		assert_true(l->boxes[i].x + l->boxes[i].width <= l->width + 1e-6);
		assert_true(l->boxes[i].y + l->boxes[i].height <= l->height + 1e-6);
		for (int k = 0; k < i; k++)
			assert_true(apart(&l->boxes[i], &l->boxes[k]));
		for (int k = 0; k < g->n_groups; k++)
			assert_true(stands_in(g, i, k) ? inside(&l->boxes[i], &l->groups[k])
						       : apart(&l->boxes[i], &l->groups[k]));
	}
}

static void no_box_lies_over_another_and_groups_hold_theirs(void **state)
{
	struct case_ c;

	(void)state;
	for (unsigned seed = 1; seed < 25; seed++) {
		struct layout *l;

		make_case(&c, seed, seed % 2 ? 0 : 400);
		l = layout_make(&c.graph);
		assert_non_null(l);
		check_boxes(l);
		assert_true(inside(&l->groups[1], &l->groups[0]));
		layout_free(l);
	}
}

/* Whether a straight way down, at x from y to end, crosses a box. */
static bool crosses(const struct layout *l, double x, double y, double end)
{
	for (int i = 0; i < l->graph->n_boxes; i++) {
		const struct layout_rect *r = &l->boxes[i];

		if (x > r->x && x < r->x + r->width && y < r->y + r->height - 1e-3 &&
		    end > r->y + 1e-3)
			return true;
	}
	return false;
}

/* Straight ways lie beside boxes; each edge begins below its first box and ends on its last. */
static void check_edge(const struct layout *l, int edge)
{
	const struct layout_rect *from = &l->boxes[l->graph->edges[edge].from];
	const struct layout_rect *to = &l->boxes[l->graph->edges[edge].to];
	struct buf path = { 0 };
	double x, y, n[6];
	char *at;

	layout_edge_path(l, edge, &path);
	assert_int_equal(path.data[0], 'M');
	x = strtod(path.data + 1, &at);
	y = strtod(at, &at);
	assert_true(fabs(x - from->x - from->width / 2) < 0.1);
	assert_true(fabs(y - from->y - from->height) < 0.1);
	while (*at) {
		char command = *at++;

		for (int i = 0; i < (command == 'C' ? 6 : 1); i++)
			n[i] = strtod(at, &at);
		if (command == 'V') {
			assert_false(crosses(l, x, y, n[0]));
			y = n[0];
		} else if (command == 'H') {
			x = n[0];
		} else {
			x = n[4];
			y = n[5];
		}
	}
	assert_true(fabs(x - to->x - to->width / 2) < 0.1);
	assert_true(fabs(y - to->y) < 0.1);
	buf_finish(&path);
}

static void edges_go_down_beside_boxes(void **state)
{
	struct case_ c;

	(void)state;
	for (unsigned seed = 1; seed < 25; seed++) {
		struct layout *l;
		int n = 0;

		make_case(&c, seed, 0);
		for (int i = 0; i < c.graph.n_edges; i++)
			if (c.edges[i].from < c.edges[i].to)
				c.edges[n++] = c.edges[i];
		c.graph.n_edges = n;
		l = layout_make(&c.graph);
		assert_non_null(l);
		for (int i = 0; i < n; i++)
			check_edge(l, i);
		layout_free(l);
	}
}

static void what_reads_stands_below(void **state)
{
	/* The last is read by the first: order in the list decides nothing. */
	struct layout_box boxes[] = { { 50, 40, -1 }, { 50, 40, -1 }, { 50, 40, -1 } };
	struct layout_edge edges[] = { { 2, 0 }, { 0, 1 }, { 2, 1 } };
	struct layout_graph graph = { boxes, NULL, edges, 3, 0, 3, 0 };
	struct layout *l = layout_make(&graph);

	(void)state;
	assert_non_null(l);
	assert_true(l->boxes[2].y < l->boxes[0].y && l->boxes[0].y < l->boxes[1].y);
	layout_free(l);
}

static void a_cycle_ends(void **state)
{
	struct layout_box boxes[] = { { 50, 40, -1 }, { 50, 40, -1 } };
	struct layout_edge edges[] = { { 0, 1 }, { 1, 0 } };
	struct layout_graph graph = { boxes, NULL, edges, 2, 0, 2, 0 };
	struct layout *l = layout_make(&graph);

	(void)state;
	assert_non_null(l);
	assert_true(l->boxes[0].y < l->boxes[1].y);
	check_edge(l, 0);
	layout_free(l);
}

static void a_long_chain_is_cut_in_bands(void **state)
{
	enum { N = 100 };
	struct layout_box boxes[N];
	struct layout_edge edges[N - 1];
	struct layout_graph graph = { boxes, NULL, edges, N, 0, N - 1, 0 };
	struct layout *l;

	(void)state;
	for (int i = 0; i < N; i++) {
		boxes[i] = (struct layout_box){ 100, 40, -1 };
		if (i)
			edges[i - 1] = (struct layout_edge){ i - 1, i };
	}
	l = layout_make(&graph);
	assert_true(l->width == 100 && l->height > 7000);
	layout_free(l);
	graph.band_height = 500;
	l = layout_make(&graph);
	assert_true(l->height > 500 && l->height < 1500); /* its area is too large for 500 */
	assert_true(l->width > l->height && l->width < 3 * l->height);
	layout_free(l);
	graph.n_boxes = 10;
	graph.n_edges = 9;
	l = layout_make(&graph);
	assert_true(l->height <= 500);
	for (int i = 0; i < 9; i++)
		check_edge(l, i);
	layout_free(l);
	graph.n_boxes = graph.n_edges = 0;
	l = layout_make(&graph);
	assert_true(l->width == 0 && l->height == 0);
	layout_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_box_lies_over_another_and_groups_hold_theirs),
		cmocka_unit_test(edges_go_down_beside_boxes),
		cmocka_unit_test(what_reads_stands_below),
		cmocka_unit_test(a_cycle_ends),
		cmocka_unit_test(a_long_chain_is_cut_in_bands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
