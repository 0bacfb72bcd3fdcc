/* profiler/layout/layout.c -- where the boxes of a graph go: levels from the inside out, layers,
 * order and places within each, then the whole. */
#include "profiler/layout/layout.h"

#include <math.h>
#include <stdlib.h>

#include "fusion/base/vec.h"

enum {
	LAYER_GAP = 36,
	GAP = 16,
	BAND_GAP = 56,
	LEAST_BAND = 240,
	TURN = 24,      /* over and under bands, for edges that go from one to the next */
	PAD = 12,       /* within a group */
	LINE_WIDTH = 6, /* of an edge that passes */
	SWEEPS = 4,
	MAX_PLACES = 100000,
	WAY_LEVELS = 160, /* that an edge is followed through */
	LANES = 5,        /* of edges that go back up, side by side */
};

/* A box, or a group as one box. */
struct item {
	int box, group; /* one of them is -1; items stand in the order of their first boxes */
	double width, height;
	int layer;
};

/* An item, or where an edge passes a layer. */
struct layout_place {
	int item; /* -1: none */
	int layer;
	double x, width, wanted; /* x of its middle */
	int next;                /* of the same edge, in the next layer; -1: its end */
};

/* Between items of a level, from above it (from: ABOVE) or to below it (to: BELOW);
 * `first`: where it passes first, -1: nowhere. */
struct join {
	int from, to, first;
};
enum { ABOVE = -1, CLOSES = -2, BELOW = 1 << 30 }; /* CLOSES a cycle: dropped */

struct link {
	int upper, lower; /* places, of neighbouring layers */
};

struct layer {
	int first_place, first_link; /* in `order`; in `links`, of those that leave it */
	double top, height;
	double band; /* left edge of its band */
};

/* What is in a group, or in none. */
struct layout_level {
	VEC(struct item) items;
	VEC(struct join) joins;
	VEC(struct layout_place) places;
	VEC(struct link) links; /* by the layer of `upper` once they are sorted */
	int *order;             /* places, layer by layer */
	struct layer *layers;   /* n_layers + 1 of them */
	int n_layers;
	double width, height, x, y;
};

/* ---- items and joins */

static double group_width(const struct layout *l, int group)
{
	double head = l->graph->groups[group].least_width;
	double within = l->levels[group + 1].width + 2 * PAD;

	return within > head ? within : head;
}

/* The group's child of the level that the box is in; -1: the box itself is. */
static int child_of(const struct layout_graph *g, int level, int box)
{
	int child = -1, at = g->boxes[box].group;

	for (; at >= 0 && at != level; at = g->groups[at].parent)
		child = at;
	return child;
}

static bool holds(const struct layout_graph *g, int level, int box)
{
	int at = g->boxes[box].group;

	while (at >= 0 && at != level)
		at = g->groups[at].parent;
	return at == level;
}

/* In the level; it must hold the box. */
static int item_of(const struct layout *l, int level, int box)
{
	int child = child_of(l->graph, level, box);

	return child < 0 ? l->item_of_box[box] : l->item_of_group[child];
}

static bool add_items(struct layout *l, int level)
{
	const struct layout_graph *g = l->graph;
	struct layout_level *at = &l->levels[level + 1];

	for (int i = 0; i < g->n_boxes; i++) {
		struct item item = { .box = -1 };

		if (!holds(g, level, i))
			continue;
		item.group = child_of(g, level, i);
		if (item.group < 0) {
			item.box = i;
			item.width = g->boxes[i].width;
			item.height = g->boxes[i].height;
			l->item_of_box[i] = (int)at->items.len;
		} else if (l->item_of_group[item.group] < 0) {
			item.width = group_width(l, item.group);
			item.height = l->levels[item.group + 1].height + LAYOUT_HEAD_PX + PAD;
			l->item_of_group[item.group] = (int)at->items.len;
		} else {
			continue;
		}
		if (!VEC_PUSH(&at->items, item))
			return false;
	}
	return true;
}

static int compare_joins(const void *a, const void *b)
{
	const struct join *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Each once, by where they end. */
static bool add_joins(struct layout *l, int level)
{
	const struct layout_graph *g = l->graph;
	struct layout_level *at = &l->levels[level + 1];
	size_t n = 0;

	for (int e = 0; e < g->n_edges; e++) {
		int from = g->edges[e].from, to = g->edges[e].to;
		bool starts = holds(g, level, from), ends = holds(g, level, to);
		struct join join = { starts ? item_of(l, level, from) : ABOVE,
				     ends ? item_of(l, level, to) : BELOW, -1 };

		if ((starts || ends) && join.from != join.to && !VEC_PUSH(&at->joins, join))
			return false;
	}
	if (at->joins.len)
		qsort(at->joins.at, at->joins.len, sizeof(*at->joins.at), compare_joins);
	for (size_t i = 0; i < at->joins.len; i++)
		if (n == 0 || compare_joins(&at->joins.at[n - 1], &at->joins.at[i]) != 0)
			at->joins.at[n++] = at->joins.at[i];
	at->joins.len = n;
	return true;
}

/* ---- layers */

/* By item: the first join that ends at it, the next to be followed, and how far it is. */
struct order_search {
	int *first, *next, *stack;
	enum { UNSEEN, OPEN, DONE } * state;
};

/* From the item to all that it reads, in turn; each gets its layer once those have theirs.  A join
 * that closes a cycle, as two kernels may that read of each other, is marked: it ends nowhere. */
static void search_from(struct layout_level *d, struct order_search *s, int item)
{
	int n = 0;

	s->stack[n++] = item;
	while (n > 0) {
		int at = s->stack[n - 1];
		struct join *join;

		s->state[at] = OPEN;
		if (s->next[at] == s->first[at + 1]) {
			s->state[at] = DONE;
			n--;
			for (int i = s->first[at]; i < s->first[at + 1]; i++) {
				int from = d->joins.at[i].from;

				if (from >= 0 && d->items.at[at].layer <= d->items.at[from].layer)
					d->items.at[at].layer = d->items.at[from].layer + 1;
			}
			continue;
		}
		join = &d->joins.at[s->next[at]++];
		if (join->from >= 0 && s->state[join->from] == OPEN)
			join->from = CLOSES;
		else if (join->from >= 0 && s->state[join->from] == UNSEEN)
			s->stack[n++] = join->from;
	}
}

static bool search_all(struct layout_level *d)
{
	size_t n = d->items.len + 2, kept = 0;
	struct order_search s = { calloc(n, sizeof(int)), calloc(n, sizeof(int)),
				  calloc(n, sizeof(int)), calloc(n, sizeof(*s.state)) };
	bool ok = s.first && s.next && s.stack && s.state;

	for (size_t i = 0; ok && i < d->joins.len; i++)
		if (d->joins.at[i].to != BELOW)
			s.first[d->joins.at[i].to + 1]++;
	for (size_t i = 0; ok && i < d->items.len; i++)
		s.next[i + 1] = s.first[i + 1] += s.first[i];
	/* From the last: of a cycle, what goes back in their order is left out. */
	for (size_t i = d->items.len; ok && i-- > 0;)
		if (s.state[i] == UNSEEN)
			search_from(d, &s, (int)i);
	for (size_t i = 0; ok && i < d->joins.len; i++)
		if (d->joins.at[i].from != CLOSES)
			d->joins.at[kept++] = d->joins.at[i];
	d->joins.len = ok ? kept : 0;
	free(s.first);
	free(s.next);
	free(s.stack);
	free(s.state);
	return ok;
}

/* What reads nothing is placed just above what reads it first. */
static bool find_layers(struct layout_level *d)
{
	int *least = calloc(d->items.len + 1, sizeof(*least));

	if (!least || !search_all(d)) {
		free(least);
		return false;
	}
	for (size_t i = 0; i < d->joins.len; i++) {
		const struct join *e = &d->joins.at[i];

		if (e->from != ABOVE && e->to != BELOW &&
		    (!least[e->from] || d->items.at[e->to].layer < least[e->from]))
			least[e->from] = d->items.at[e->to].layer;
	}
	for (size_t i = 0; i < d->items.len; i++) {
		struct item *item = &d->items.at[i];

		if (item->layer == 0 && least[i] > 0)
			item->layer = least[i] - 1;
		if (item->layer >= d->n_layers)
			d->n_layers = item->layer + 1;
	}
	free(least);
	return true;
}

/* A place in each layer that the join passes, linked with what is above and below. */
static bool add_way(struct layout_level *d, struct join *e)
{
	int upper = e->from;
	int layer = e->from == ABOVE ? 0 : d->items.at[e->from].layer + 1;
	int end = e->to == BELOW ? d->n_layers : d->items.at[e->to].layer;

	for (; layer < end && d->places.len < MAX_PLACES; layer++) {
		int lower = (int)d->places.len;
		struct layout_place place = {
			.item = -1, .layer = layer, .width = LINE_WIDTH, .next = -1
		};

		if (!VEC_PUSH(&d->places, place) ||
		    (upper != ABOVE && !VEC_PUSH(&d->links, (struct link){ upper, lower })))
			return false;
		if (upper == e->from)
			e->first = lower;
		else
			d->places.at[upper].next = lower;
		upper = lower;
	}
	return upper == ABOVE || e->to == BELOW || layer < end ||
	       VEC_PUSH(&d->links, (struct link){ upper, e->to });
}

static bool add_places(struct layout_level *d)
{
	for (size_t i = 0; i < d->items.len; i++)
		if (!VEC_PUSH(&d->places, (struct layout_place){ .item = (int)i,
								 .layer = d->items.at[i].layer,
								 .width = d->items.at[i].width,
								 .next = -1 }))
			return false;
	for (size_t i = 0; i < d->joins.len; i++)
		if (!add_way(d, &d->joins.at[i]))
			return false;
	return true;
}

static int layer_of_link(const struct layout_level *d, const struct link *link)
{
	return d->places.at[link->upper].layer;
}

/* Places and links by their layers, as they came within each. */
static bool sort_by_layer(struct layout_level *d)
{
	struct link *links = calloc(d->links.len + 1, sizeof(*links));

	d->order = calloc(d->places.len + 1, sizeof(*d->order));
	d->layers = calloc((size_t)d->n_layers + 2, sizeof(*d->layers));
	if (!links || !d->order || !d->layers) {
		free(links);
		return false;
	}
	/* Counted two further, so that filling in leaves each first where it belongs. */
	for (size_t i = 0; i < d->places.len; i++)
		d->layers[d->places.at[i].layer + 2].first_place++;
	for (size_t i = 0; i < d->links.len; i++)
		d->layers[layer_of_link(d, &d->links.at[i]) + 2].first_link++;
	for (int k = 2; k <= d->n_layers + 1; k++) {
		d->layers[k].first_place += d->layers[k - 1].first_place;
		d->layers[k].first_link += d->layers[k - 1].first_link;
	}
	for (size_t i = 0; i < d->places.len; i++)
		d->order[d->layers[d->places.at[i].layer + 1].first_place++] = (int)i;
	for (size_t i = 0; i < d->links.len; i++)
		links[d->layers[layer_of_link(d, &d->links.at[i]) + 1].first_link++] =
		    d->links.at[i];
	free(d->links.at);
	d->links.at = links;
	d->links.cap = d->links.len + 1;
	return true;
}

/* ---- order and places within a layer */

/* Side by side, in their order, with their middle at 0. */
static void pack_layer(struct layout_level *d, const struct layer *layer)
{
	double sum = 0, at;

	for (int i = layer->first_place; i < layer[1].first_place; i++)
		sum += d->places.at[d->order[i]].width + GAP;
	at = -sum / 2;
	for (int i = layer->first_place; i < layer[1].first_place; i++) {
		struct layout_place *p = &d->places.at[d->order[i]];

		p->x = at + (p->width + GAP) / 2;
		at += p->width + GAP;
	}
}

/* The mean of what each place of a layer is linked to in the one above (or below). */
static void find_wanted(struct layout_level *d, int layer, bool above, int *counts)
{
	int from = above ? layer - 1 : layer;

	for (int i = d->layers[layer].first_place; i < d->layers[layer + 1].first_place; i++) {
		counts[d->order[i]] = 0;
		d->places.at[d->order[i]].wanted = 0;
	}
	for (int i = from < 0 ? 0 : d->layers[from].first_link;
	     from >= 0 && i < d->layers[from + 1].first_link; i++) {
		const struct link *link = &d->links.at[i];
		int of = above ? link->lower : link->upper;

		d->places.at[of].wanted += d->places.at[above ? link->upper : link->lower].x;
		counts[of]++;
	}
	for (int i = d->layers[layer].first_place; i < d->layers[layer + 1].first_place; i++) {
		struct layout_place *p = &d->places.at[d->order[i]];

		p->wanted = counts[d->order[i]] ? p->wanted / counts[d->order[i]] : p->x;
	}
}

/* A few of a layer are moved each time: insertion keeps those that want the same. */
static void sort_layer(struct layout_level *d, const struct layer *layer)
{
	for (int i = layer->first_place + 1; i < layer[1].first_place; i++) {
		int moved = d->order[i], k = i;

		while (k > layer->first_place &&
		       d->places.at[d->order[k - 1]].wanted > d->places.at[moved].wanted) {
			d->order[k] = d->order[k - 1];
			k--;
		}
		d->order[k] = moved;
	}
}

/* As near to what they want as those to the left let them; then all by the mean of what
 * is left. */
static void place_layer(struct layout_level *d, const struct layer *layer)
{
	int from = layer->first_place, to = layer[1].first_place;
	double edge = -1e9, off = 0;

	for (int i = from; i < to; i++) {
		struct layout_place *p = &d->places.at[d->order[i]];
		double least = edge + GAP + p->width / 2;

		p->x = i == from || p->wanted > least ? p->wanted : least;
		edge = p->x + p->width / 2;
		off += p->wanted - p->x;
	}
	for (int i = from; i < to; i++)
		d->places.at[d->order[i]].x += off / (to - from);
}

static bool sweep(struct layout_level *d)
{
	int *counts = calloc(d->places.len + 1, sizeof(*counts));

	for (int layer = 0; layer < d->n_layers; layer++)
		pack_layer(d, &d->layers[layer]);
	for (int i = 0; counts && i < SWEEPS; i++) {
		for (int k = 0; k < d->n_layers; k++) {
			int layer = i % 2 == 0 ? k : d->n_layers - 1 - k;

			find_wanted(d, layer, i % 2 == 0, counts);
			sort_layer(d, &d->layers[layer]);
			place_layer(d, &d->layers[layer]);
		}
	}
	free(counts);
	return counts != NULL;
}

/* ---- bands */

/* From layer `from` up to `to`, their left edge at `left`; returns their width. */
static double place_band(struct layout_level *d, int from, int to, double left)
{
	int first = d->layers[from].first_place, end = d->layers[to].first_place;
	double low = 0, high = 0;

	for (int i = first; i < end; i++) {
		const struct layout_place *p = &d->places.at[d->order[i]];

		low = i == first || p->x - p->width / 2 < low ? p->x - p->width / 2 : low;
		high = i == first || p->x + p->width / 2 > high ? p->x + p->width / 2 : high;
	}
	for (int i = first; i < end; i++)
		d->places.at[d->order[i]].x += left - low;
	for (int k = from; k < to; k++)
		d->layers[k].band = left;
	return high - low;
}

/* What of the height asked for is left within the groups around the level; 0: none was. */
static double band_height(const struct layout_graph *g, int level)
{
	double left = g->band_height;

	for (; level >= 0; level = g->groups[level].parent)
		left -= LAYOUT_HEAD_PX + PAD;
	return g->band_height > 0 ? fmax(left, LEAST_BAND) : 0;
}

/* So high that what is cut in bands is about twice as wide as high, or as high as asked for. */
static double band_limit(const struct layout_level *d, double asked)
{
	double area = 0;

	if (asked <= 0)
		return INFINITY;
	for (size_t i = 0; i < d->items.len; i++)
		area += (d->items.at[i].width + BAND_GAP) * (d->items.at[i].height + LAYER_GAP);
	return asked * asked > area / 2 ? asked : sqrt(area / 2);
}

static void place_layers(struct layout_level *d, double asked)
{
	double limit = band_limit(d, asked), y = 0, left = 0, top, whole = 0;
	int begin = 0;

	for (size_t i = 0; i < d->items.len; i++) {
		struct layer *of = &d->layers[d->items.at[i].layer];

		of->height = fmax(of->height, d->items.at[i].height);
	}
	for (int k = 0; k < d->n_layers; k++)
		whole += d->layers[k].height + (k ? LAYER_GAP : 0);
	limit = whole > limit ? limit - 2 * TURN : limit;
	for (int k = 0; k < d->n_layers; k++) {
		if (y > 0 && y + d->layers[k].height > limit) {
			left += place_band(d, begin, k, left) + BAND_GAP;
			begin = k;
			y = 0;
		}
		d->layers[k].top = y;
		y += d->layers[k].height;
		d->height = fmax(d->height, y);
		y += LAYER_GAP;
	}
	d->width = left + (d->n_layers ? place_band(d, begin, d->n_layers, left) : 0);
	top = begin > 0 ? TURN : 0;
	for (int k = 0; k < d->n_layers; k++)
		d->layers[k].top += top;
	d->height += 2 * top;
}

/* ---- the whole */

/* Groups stand after those that they are in: from the last, all sizes are known. */
static bool place_levels(struct layout *l)
{
	for (int level = l->graph->n_groups - 1; level >= -1; level--) {
		struct layout_level *d = &l->levels[level + 1];

		if (!add_items(l, level))
			return false;
		if (d->items.len == 0)
			continue;
		if (!add_joins(l, level))
			return false;
		if (!find_layers(d) || !add_places(d) || !sort_by_layer(d) || !sweep(d))
			return false;
		place_layers(d, band_height(l->graph, level));
	}
	return true;
}

static void spread(struct layout *l)
{
	for (int level = -1; level < l->graph->n_groups; level++) {
		const struct layout_level *d = &l->levels[level + 1];

		for (size_t i = 0; i < d->items.len; i++) {
			const struct item *item = &d->items.at[i];
			struct layout_rect rect = { d->x + d->places.at[i].x - item->width / 2,
						    d->y + d->layers[item->layer].top, item->width,
						    item->height };

			if (item->group < 0) {
				l->boxes[item->box] = rect;
				continue;
			}
			l->groups[item->group] = rect;
			l->levels[item->group + 1].x =
			    rect.x + (rect.width - l->levels[item->group + 1].width) / 2;
			l->levels[item->group + 1].y = rect.y + LAYOUT_HEAD_PX;
		}
	}
	l->width = l->levels[0].width;
	l->height = l->levels[0].height;
}

struct layout *layout_make(const struct layout_graph *graph)
{
	size_t n_boxes = (size_t)graph->n_boxes + 1, n_groups = (size_t)graph->n_groups + 1;
	struct layout *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->graph = graph;
	l->levels = calloc(n_groups, sizeof(*l->levels));
	l->boxes = calloc(n_boxes, sizeof(*l->boxes));
	l->groups = calloc(n_groups, sizeof(*l->groups));
	l->item_of_box = calloc(n_boxes, sizeof(*l->item_of_box));
	l->item_of_group = calloc(n_groups, sizeof(*l->item_of_group));
	for (size_t i = 0; l->item_of_group && i < n_groups; i++)
		l->item_of_group[i] = -1;
	if (l->levels && l->boxes && l->groups && l->item_of_box && l->item_of_group &&
	    place_levels(l)) {
		spread(l);
		return l;
	}
	layout_free(l);
	return NULL;
}

void layout_free(struct layout *l)
{
	if (!l)
		return;
	for (int i = 0; l->levels && i < l->graph->n_groups + 1; i++) {
		struct layout_level *d = &l->levels[i];

		VEC_FREE(&d->items);
		VEC_FREE(&d->joins);
		VEC_FREE(&d->places);
		VEC_FREE(&d->links);
		free(d->order);
		free(d->layers);
	}
	free(l->levels);
	free(l->boxes);
	free(l->groups);
	free(l->item_of_box);
	free(l->item_of_group);
	free(l);
}

/* ---- edges */

/* The layers that an edge passes on its way, from above: on its way out of groups and into
 * others it passes what is in them, too. */
struct way {
	struct {
		const struct layout_level *level;
		int place;
	} legs[WAY_LEVELS];
	int n;
	int common;        /* the innermost level that holds both ends */
	double x, y;       /* how far it has come */
	double band, turn; /* of the band that it goes to, the left edge and the top */
	bool turns;        /* that is another one */
	int lane;
	struct buf *out;
};

/* Where a join of the level passes first. */
static void add_leg(const struct layout *l, int level, const struct layout_edge *e, struct way *way)
{
	const struct layout_graph *g = l->graph;
	const struct layout_level *d = &l->levels[level + 1];
	struct join key = { holds(g, level, e->from) ? item_of(l, level, e->from) : ABOVE,
			    holds(g, level, e->to) ? item_of(l, level, e->to) : BELOW, -1 };
	const struct join *found;

	if (way->n == WAY_LEVELS || d->joins.len == 0)
		return;
	found = bsearch(&key, d->joins.at, d->joins.len, sizeof(key), compare_joins);
	if (!found || found->first < 0)
		return;
	way->legs[way->n].level = d;
	way->legs[way->n++].place = found->first;
}

static void find_way(const struct layout *l, const struct layout_edge *e, struct way *way)
{
	const struct layout_graph *g = l->graph;
	int at = g->boxes[e->from].group, into[WAY_LEVELS], n = 0;

	for (; !holds(g, at, e->to); at = g->groups[at].parent)
		add_leg(l, at, e, way);
	add_leg(l, at, e, way);
	way->common = at;
	for (int k = g->boxes[e->to].group; k != at && n < WAY_LEVELS; k = g->groups[k].parent)
		into[n++] = k;
	while (n > 0)
		add_leg(l, into[--n], e, way);
}

/* In a curve down to a point; in another band or up, left of where that band begins. */
static void go_to(struct way *way, double x, double y)
{
	double half = (way->y + y) / 2;

	if (y >= way->y && !way->turns) {
		buf_printf(way->out, "C%.1f %.1f %.1f %.1f %.1f %.1f", way->x, half, x, half, x, y);
	} else {
		double between = way->band - BAND_GAP / 2.0 + (way->lane - LANES / 2) * 6;

		buf_printf(way->out, "V%.1fH%.1fV%.1fH%.1fV%.1f", way->y + 5 + way->lane * 3,
			   between, way->turn - 9 - way->lane * 3, x, y);
	}
	way->turns = false;
	way->x = x;
	way->y = y;
}

/* Straight down beside what else is in the layer before `next`. */
static void leave_layer(struct way *way, const struct layout_level *d, int next)
{
	const struct layer *before = &d->layers[next - 1];
	double bottom = d->y + before->top + before->height;

	if (bottom <= way->y)
		return;
	buf_printf(way->out, "V%.1f", bottom);
	way->y = bottom;
}

/* The edge goes on to a layer of the level; the first it reaches from outside. */
static void enter_layer(struct way *way, const struct layout_level *d, int layer)
{
	if (layer <= 0 || layer >= d->n_layers)
		return;
	leave_layer(way, d, layer);
	way->turns = d->layers[layer].band > d->layers[layer - 1].band;
	way->band = d->x + d->layers[layer].band;
	way->turn = d->y + d->layers[layer].top;
}

void layout_edge_path(const struct layout *l, int edge, struct buf *out)
{
	const struct layout_edge *e = &l->graph->edges[edge];
	const struct layout_rect *from = &l->boxes[e->from], *to = &l->boxes[e->to];
	struct way way = { .x = from->x + from->width / 2,
			   .y = from->y + from->height,
			   .lane = edge % LANES,
			   .out = out };
	const struct layout_level *common, *at;
	int next, last;

	find_way(l, e, &way);
	at = common = &l->levels[way.common + 1];
	last = next = common->items.at[item_of(l, way.common, e->to)].layer;
	way.band = common->x + common->layers[last].band;
	way.turn = common->y + common->layers[last].top;
	buf_printf(out, "M%.1f %.1f", way.x, way.y);
	for (int i = 0; i < way.n; i++) {
		const struct layout_level *d = way.legs[i].level;

		for (int k = way.legs[i].place; k >= 0; k = d->places.at[k].next) {
			const struct layout_place *p = &d->places.at[k];

			if (p->layer > 0)
				enter_layer(&way, d, p->layer);
			else
				enter_layer(&way, at, next); /* in which that level's group is */
			go_to(&way, d->x + p->x, d->y + d->layers[p->layer].top);
			leave_layer(&way, d, p->layer + 1);
			at = d;
			next = p->layer + 1;
		}
		if (next >= at->n_layers) {
			at = common;
			next = last;
		}
	}
	if (common->items.at[item_of(l, way.common, e->from)].layer < last || at != common)
		enter_layer(&way, at, next);
	go_to(&way, to->x + to->width / 2, to->y);
}
