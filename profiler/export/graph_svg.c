/* profiler/export/graph_svg.c -- a graph as SVG: groups, edges, nodes in layers. */
#include <stdlib.h>

#include <string.h>

#include "profiler/export/graph.h"
#include "profiler/fields/json.h"

enum { GRAPH_BOX_HEIGHT = 38, GRAPH_HEAD_HEIGHT = 20 }; /* of a node; of a group's title */

struct graph_rect {
	double x, y, width, height; /* of its upper left corner, pixels */
};

/* Where an edge passes a layer it goes straight from `top` to `bottom`. */
struct graph_pass {
	double x, top, bottom;
};

struct graph_level;
struct graph_layout {
	const struct drawn_graph *g;
	struct graph_level *levels; /* by group + 1; the first: what is in no group */
	struct graph_rect *nodes, *groups;
	double width, height;
};

/* The layers that edge `e` passes on its way, from above: each once, then false.  On its way
 * out of groups and into others it passes what is in them, too. */
enum { GRAPH_WAY_LEVELS = 160 };
struct graph_way {
	struct {
		const struct graph_level *level;
		int place;
	} legs[GRAPH_WAY_LEVELS];
	int n, at;
};

enum {
	LAYER_GAP = 36,
	GAP = 16,
	PAD = 12,       /* within a group */
	CHAR_WIDTH = 7, /* of the widest usual font at 11 px */
	LINE_WIDTH = 6, /* of an edge that passes */
	MOST_TITLE = 40,
	SWEEPS = 4,
	MAX_PLACES = 100000,
};

/* A node, or a group as one box. */
struct item {
	int node, group; /* one of them is -1; items stand in the order of their first nodes */
	double width, height;
	int layer;
};

/* An item, or where an edge passes a layer. */
struct place {
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
enum { ABOVE = -1, BELOW = 1 << 30 };

struct link {
	int upper, lower; /* places, of neighbouring layers */
};

struct graph_level {
	VEC(struct item) items;
	VEC(struct join) joins;
	VEC(struct place) places;
	VEC(struct link) links;
	VEC(int) order; /* places, layer by layer */
	int n_layers;
	int *first;  /* of a layer in `order`; n_layers + 1 of them */
	double *top; /* of a layer; n_layers + 1 of them */
	double width, height, x, y;
};

/* ---- items and joins */

static size_t title_length(const char *title)
{
	size_t len = strlen(title);

	return len < MOST_TITLE ? len : MOST_TITLE;
}

static double node_width(const struct graph_node *node)
{
	const char *name = json_string_value(json_object_get(node->json, "name"));
	json_t *about = graph_about(node);
	size_t len = name ? strlen(name) : 0, more = strlen(json_string_value(about));

	json_decref(about);
	return (double)((len > more ? len : more) * CHAR_WIDTH + 2 * GAP);
}

static double group_width(const struct graph_layout *l, int group)
{
	double head = (double)(title_length(l->g->groups.at[group].title) * CHAR_WIDTH + 2 * PAD);
	double within = l->levels[group + 1].width + 2 * PAD;

	return within > head ? within : head;
}

/* The group's child of the level that the node is in; -1: the node itself is. */
static int child_of(const struct drawn_graph *g, int level, int node)
{
	int child = -1, at = g->nodes.at[node].group;

	for (; at >= 0 && at != level; at = g->groups.at[at].parent)
		child = at;
	return child;
}

static bool holds(const struct drawn_graph *g, int level, int node)
{
	int at = g->nodes.at[node].group;

	while (at >= 0 && at != level)
		at = g->groups.at[at].parent;
	return at == level;
}

static bool add_items(struct graph_layout *l, int level, int *item_of)
{
	const struct drawn_graph *g = l->g;
	struct graph_level *at = &l->levels[level + 1];

	for (size_t i = 0; i < g->nodes.len; i++) {
		struct item item = { .node = -1, .group = child_of(g, level, (int)i) };
		size_t k = 0;

		item_of[i] = -1;
		if (!holds(g, level, (int)i))
			continue;
		while (item.group >= 0 && k < at->items.len && at->items.at[k].group != item.group)
			k++;
		if (item.group >= 0 && k < at->items.len) {
			item_of[i] = (int)k;
			continue;
		}
		item_of[i] = (int)at->items.len;
		item.node = item.group >= 0 ? -1 : (int)i;
		item.width = item.group >= 0 ? group_width(l, item.group)
					     : node_width(&g->nodes.at[i]);
		item.height = item.group >= 0
				  ? l->levels[item.group + 1].height + GRAPH_HEAD_HEIGHT + PAD
				  : GRAPH_BOX_HEIGHT;
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

/* Each once, by where they end: what is read comes before what reads it.  What a group
 * reads of a later one, as two kernels may of each other's neighbours, is none. */
static bool add_joins(struct graph_level *at, const struct drawn_graph *g, const int *item_of)
{
	size_t n = 0;

	for (size_t e = 0; e < g->edges.len; e++) {
		int from = item_of[g->edges.at[e].from], to = item_of[g->edges.at[e].to];
		struct join join = { from < 0 ? ABOVE : from, to < 0 ? BELOW : to, -1 };

		if ((from >= 0 || to >= 0) && join.from < join.to && !VEC_PUSH(&at->joins, join))
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

/* What reads nothing is placed just above what reads it first. */
static void find_layers(struct graph_level *d)
{
	for (size_t i = 0; i < d->joins.len; i++) {
		const struct join *e = &d->joins.at[i];
		int below;

		if (e->from == ABOVE || e->to == BELOW)
			continue;
		below = d->items.at[e->from].layer + 1;
		if (d->items.at[e->to].layer < below)
			d->items.at[e->to].layer = below;
	}
	for (size_t i = 0; i < d->items.len; i++) {
		int least = -1;

		for (size_t k = 0; d->items.at[i].layer == 0 && k < d->joins.len; k++) {
			const struct join *e = &d->joins.at[k];

			if (e->from == (int)i && e->to != BELOW &&
			    (least < 0 || d->items.at[e->to].layer < least))
				least = d->items.at[e->to].layer;
		}
		if (least > 0)
			d->items.at[i].layer = least - 1;
		if (d->items.at[i].layer >= d->n_layers)
			d->n_layers = d->items.at[i].layer + 1;
	}
}

/* A place in each layer that the join passes, linked with what is above and below. */
static bool add_way(struct graph_level *d, struct join *e)
{
	int upper = e->from;
	int layer = e->from == ABOVE ? 0 : d->items.at[e->from].layer + 1;
	int end = e->to == BELOW ? d->n_layers : d->items.at[e->to].layer;

	for (; layer < end && d->places.len < MAX_PLACES; layer++) {
		int lower = (int)d->places.len;
		struct place place = {
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
	return upper == ABOVE || e->to == BELOW ||
	       VEC_PUSH(&d->links, (struct link){ upper, e->to });
}

static bool add_places(struct graph_level *d)
{
	for (size_t i = 0; i < d->items.len; i++)
		if (!VEC_PUSH(&d->places, (struct place){ .item = (int)i,
							  .layer = d->items.at[i].layer,
							  .width = d->items.at[i].width,
							  .next = -1 }))
			return false;
	for (size_t i = 0; i < d->joins.len; i++)
		if (!add_way(d, &d->joins.at[i]))
			return false;
	return true;
}

static bool order_places(struct graph_level *d)
{
	d->first = calloc((size_t)d->n_layers + 1, sizeof(*d->first));
	d->top = calloc((size_t)d->n_layers + 1, sizeof(*d->top));
	if (!d->first || !d->top)
		return false;
	for (int layer = 0; layer < d->n_layers; layer++) {
		d->first[layer] = (int)d->order.len;
		for (size_t i = 0; i < d->places.len; i++)
			if (d->places.at[i].layer == layer && !VEC_PUSH(&d->order, (int)i))
				return false;
	}
	d->first[d->n_layers] = (int)d->order.len;
	return true;
}

/* Side by side, in their order, with their middle at `middle`. */
static void pack_layer(struct graph_level *d, int layer, double middle)
{
	double sum = 0, at;

	for (int i = d->first[layer]; i < d->first[layer + 1]; i++)
		sum += d->places.at[d->order.at[i]].width + GAP;
	at = middle - sum / 2;
	for (int i = d->first[layer]; i < d->first[layer + 1]; i++) {
		struct place *p = &d->places.at[d->order.at[i]];

		p->x = at + (p->width + GAP) / 2;
		at += p->width + GAP;
	}
}

/* The mean of what each place of a layer is joined to above (or below). */
static void find_wanted(struct graph_level *d, bool above)
{
	double *sums = calloc(d->places.len + 1, 2 * sizeof(*sums));

	for (size_t i = 0; sums && i < d->links.len; i++) {
		int of = above ? d->links.at[i].lower : d->links.at[i].upper;
		int from = above ? d->links.at[i].upper : d->links.at[i].lower;

		sums[2 * of] += d->places.at[from].x;
		sums[2 * of + 1] += 1;
	}
	for (size_t i = 0; sums && i < d->places.len; i++)
		d->places.at[i].wanted = sums[2 * i + 1] > 0 ? sums[2 * i] / sums[2 * i + 1]
							     : d->places.at[i].x;
	free(sums);
}

/* A few of a layer are moved each time: insertion keeps those that want the same. */
static void sort_layer(struct graph_level *d, int layer)
{
	for (int i = d->first[layer] + 1; i < d->first[layer + 1]; i++) {
		int moved = d->order.at[i], k = i;

		while (k > d->first[layer] &&
		       d->places.at[d->order.at[k - 1]].wanted > d->places.at[moved].wanted) {
			d->order.at[k] = d->order.at[k - 1];
			k--;
		}
		d->order.at[k] = moved;
	}
}

/* As near to what they want as those to the left let them; then all by the mean of what
 * is left. */
static void place_layer(struct graph_level *d, int layer)
{
	int from = d->first[layer], to = d->first[layer + 1];
	double edge = -1e9, off = 0;

	for (int i = from; i < to; i++) {
		struct place *p = &d->places.at[d->order.at[i]];
		double least = edge + GAP + p->width / 2;

		p->x = i == from || p->wanted > least ? p->wanted : least;
		edge = p->x + p->width / 2;
		off += p->wanted - p->x;
	}
	for (int i = from; i < to; i++)
		d->places.at[d->order.at[i]].x += off / (to - from);
}

/* From the left edge, and from the top. */
static void measure(struct graph_level *d)
{
	double left = 0, right = 0;

	for (size_t i = 0; i < d->places.len; i++) {
		const struct place *p = &d->places.at[i];

		left = i == 0 || p->x - p->width / 2 < left ? p->x - p->width / 2 : left;
		right = i == 0 || p->x + p->width / 2 > right ? p->x + p->width / 2 : right;
	}
	for (size_t i = 0; i < d->places.len; i++)
		d->places.at[i].x -= left;
	d->width = right - left;
	for (size_t i = 0; i < d->items.len; i++) {
		double *below = &d->top[d->items.at[i].layer + 1];

		if (*below < d->items.at[i].height + LAYER_GAP)
			*below = d->items.at[i].height + LAYER_GAP;
	}
	for (int layer = 0; layer < d->n_layers; layer++)
		d->top[layer + 1] += d->top[layer];
	d->height = d->n_layers ? d->top[d->n_layers] - LAYER_GAP : 0;
}

static void sweep(struct graph_level *d)
{
	for (int layer = 0; layer < d->n_layers; layer++)
		pack_layer(d, layer, 0);
	for (int i = 0; i < SWEEPS; i++) {
		bool down = i % 2 == 0;

		for (int k = 0; k < d->n_layers; k++) {
			int layer = down ? k : d->n_layers - 1 - k;

			if (k == 0 || d->places.len * (size_t)d->n_layers < 1 << 22)
				find_wanted(d, down);
			sort_layer(d, layer);
			place_layer(d, layer);
		}
	}
}

/* ---- the whole */

/* Groups stand after those that they are in: from the last, all sizes are known. */
static bool lay_out_levels(struct graph_layout *l, int *item_of)
{
	for (int level = (int)l->g->groups.len - 1; level >= -1; level--) {
		struct graph_level *d = &l->levels[level + 1];

		if (level >= 0 && l->g->groups.at[level].n_nodes == 0)
			continue;
		if (!add_items(l, level, item_of) || !add_joins(d, l->g, item_of))
			return false;
		find_layers(d);
		if (!add_places(d) || !order_places(d))
			return false;
		sweep(d);
		measure(d);
	}
	return true;
}

static void spread(struct graph_layout *l)
{
	for (int level = -1; level < (int)l->g->groups.len; level++) {
		const struct graph_level *d = &l->levels[level + 1];

		for (size_t i = 0; i < d->items.len; i++) {
			const struct item *item = &d->items.at[i];
			struct graph_rect rect = { d->x + d->places.at[i].x - item->width / 2,
						   d->y + d->top[item->layer], item->width,
						   item->height };

			if (item->group < 0) {
				l->nodes[item->node] = rect;
				continue;
			}
			l->groups[item->group] = rect;
			l->levels[item->group + 1].x =
			    rect.x + (rect.width - l->levels[item->group + 1].width) / 2;
			l->levels[item->group + 1].y = rect.y + GRAPH_HEAD_HEIGHT;
		}
	}
	l->width = l->levels[0].width;
	l->height = l->levels[0].height;
}

/* False when out of memory; graph_layout_finish() in any case. */
static bool graph_lay_out(struct graph_layout *l, const struct drawn_graph *g)
{
	int *item_of = calloc(g->nodes.len + 1, sizeof(*item_of));
	bool ok;

	*l = (struct graph_layout){ .g = g };
	l->levels = calloc(g->groups.len + 1, sizeof(*l->levels));
	l->nodes = calloc(g->nodes.len + 1, sizeof(*l->nodes));
	l->groups = calloc(g->groups.len + 1, sizeof(*l->groups));
	ok = item_of && l->levels && l->nodes && l->groups && lay_out_levels(l, item_of);
	if (ok)
		spread(l);
	free(item_of);
	return ok;
}

/* False when out of memory; graph_layout_finish() in any case. */
static void graph_layout_finish(struct graph_layout *l)
{
	for (size_t i = 0; l->levels && i < l->g->groups.len + 1; i++) {
		struct graph_level *d = &l->levels[i];

		VEC_FREE(&d->items);
		VEC_FREE(&d->joins);
		VEC_FREE(&d->places);
		VEC_FREE(&d->links);
		VEC_FREE(&d->order);
		free(d->first);
		free(d->top);
	}
	free(l->levels);
	free(l->nodes);
	free(l->groups);
}

/* ---- edges */

static int item_at(const struct graph_level *d, int group, int node)
{
	for (size_t i = 0; i < d->items.len; i++)
		if (group >= 0 ? d->items.at[i].group == group : d->items.at[i].node == node)
			return (int)i;
	return -1;
}

/* Where a join of the level passes first. */
static void add_leg(const struct graph_layout *l, int level, int from, int to,
		    struct graph_way *way)
{
	const struct drawn_graph *g = l->g;
	const struct graph_level *d = &l->levels[level + 1];
	struct join key = { holds(g, level, from) ? item_at(d, child_of(g, level, from), from)
						  : ABOVE,
			    holds(g, level, to) ? item_at(d, child_of(g, level, to), to) : BELOW,
			    -1 };
	const struct join *found;

	if (key.from >= key.to || way->n == GRAPH_WAY_LEVELS)
		return;
	found = bsearch(&key, d->joins.at, d->joins.len, sizeof(key), compare_joins);
	if (!found || found->first < 0)
		return;
	way->legs[way->n].level = d;
	way->legs[way->n++].place = found->first;
}

static void graph_way_find(const struct graph_layout *l, size_t e, struct graph_way *out)
{
	const struct drawn_graph *g = l->g;
	int from = g->edges.at[e].from, to = g->edges.at[e].to, at = g->nodes.at[from].group;
	int into[GRAPH_WAY_LEVELS], n = 0;

	out->n = out->at = 0;
	for (; !holds(g, at, to); at = g->groups.at[at].parent)
		add_leg(l, at, from, to, out);
	add_leg(l, at, from, to, out);
	for (int k = g->nodes.at[to].group; k != at && n < GRAPH_WAY_LEVELS;
	     k = g->groups.at[k].parent)
		into[n++] = k;
	while (n > 0)
		add_leg(l, into[--n], from, to, out);
}

static bool graph_way_pass(struct graph_way *w, struct graph_pass *out)
{
	const struct graph_level *d;
	const struct place *p;

	if (w->at == w->n)
		return false;
	d = w->legs[w->at].level;
	p = &d->places.at[w->legs[w->at].place];
	*out = (struct graph_pass){ .x = d->x + p->x,
				    .top = d->y + d->top[p->layer],
				    .bottom = d->y + d->top[p->layer + 1] - LAYER_GAP };
	w->legs[w->at].place = p->next;
	w->at += p->next < 0;
	return true;
}

enum { MARGIN = 16, TITLE_HEIGHT = 28, LEAST_WIDTH = 320, LABEL_WIDTH = 7 };

/* As much of it as there is room for: in ASCII, but for what a redacted one says. */
static void draw_label(struct out *o, const char *title, double width)
{
	size_t room = (size_t)(width / LABEL_WIDTH), len = strlen(title);
	char *shown = strndup(title, len <= room ? len : room - 1);

	/* No character is cut in two. */
	for (size_t at = shown ? strlen(shown) : 0;
	     at > 0 && len > room && ((unsigned char)title[at] & 0xC0) == 0x80;)
		shown[--at] = '\0';
	out_xml(o, shown);
	if (len > room)
		out_puts(o, "\xe2\x80\xa6");
	free(shown);
}

static void draw_group(const struct graph_layout *l, size_t i, struct out *o)
{
	const struct graph_group *group = &l->g->groups.at[i];
	const struct graph_rect *r = &l->groups[i];

	out_printf(o, "<g class=\"%s\"><title>", graph_group_name(group->kind));
	out_xml(o, group->title);
	out_printf(o,
		   "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"3\"/>"
		   "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">",
		   r->x, r->y, r->width, r->height, r->x + 8, r->y + 14);
	draw_label(o, group->title, r->width - 16);
	out_puts(o, "</text></g>\n");
}

/* Beside the boxes where it passes a layer, else in a curve. */
static void draw_edge(const struct graph_layout *l, size_t e, struct out *o)
{
	const struct graph_edge *edge = &l->g->edges.at[e];
	const struct graph_rect *from = &l->nodes[edge->from], *to = &l->nodes[edge->to];
	struct graph_way way;
	struct graph_pass pass;
	double x = from->x + from->width / 2, y = from->y + from->height;
	double end = to->x + to->width / 2;

	graph_way_find(l, e, &way);
	out_printf(o, "<path class=\"edge\" d=\"M%.1f %.1f", x, y);
	while (graph_way_pass(&way, &pass)) {
		out_printf(o, "C%.1f %.1f %.1f %.1f %.1f %.1fV%.1f", x, (y + pass.top) / 2, pass.x,
			   (y + pass.top) / 2, pass.x, pass.top, pass.bottom);
		x = pass.x;
		y = pass.bottom;
	}
	out_printf(o, "C%.1f %.1f %.1f %.1f %.1f %.1f\" marker-end=\"url(#tip%d)\"/>\n", x,
		   (y + to->y) / 2, end, (y + to->y) / 2, end, to->y, l->g->in_page);
}

static void draw_node(const struct graph_layout *l, size_t i, struct out *o)
{
	const struct graph_node *node = &l->g->nodes.at[i];
	const struct graph_rect *r = &l->nodes[i];
	json_int_t line = json_integer_value(json_object_get(node->json, "line"));
	json_t *about = graph_about(node);

	out_printf(o, "<g class=\"%s\"><title>", node->is_input ? "input" : "op");
	out_xml(o, text_field(node->json, "op"));
	if (line > 0)
		out_printf(o, ", line %lld", (long long)line);
	out_printf(o,
		   "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" rx=\"%d\"/>"
		   "<text x=\"%.1f\" y=\"%.1f\">",
		   r->x, r->y, r->width, r->height, node->is_input ? 19 : 3, r->x + r->width / 2,
		   r->y + 16);
	out_xml(o, text_field(node->json, "name"));
	out_printf(o, "</text><text class=\"about\" x=\"%.1f\" y=\"%.1f\">", r->x + r->width / 2,
		   r->y + 30);
	out_xml(o, json_string_value(about));
	out_puts(o, "</text></g>\n");
	json_decref(about);
}

/* Of a file of its own; a page has one for all (html.c). */
static const char style[] =
    "<style>svg{background:#fff;color:#16181b}text{font:11px ui-monospace,monospace;"
    "text-anchor:middle;fill:currentColor}.about{font-size:10px;fill:#666a72}"
    ".head{font:600 12px system-ui,sans-serif;text-anchor:start}rect{fill:#fff;stroke:#85888c}"
    ".input rect{fill:#f1f1ee}.edge{fill:none;stroke:#85888c}marker path{fill:#85888c}"
    ".label{font:11px system-ui,sans-serif;text-anchor:start;fill:#4d5158}"
    ".module rect{fill:#16181b;fill-opacity:.04}.kernel rect{fill:#2f7d95;fill-opacity:.1;"
    "stroke:#2f7d95;stroke-width:1.5}.loop rect{fill:none;stroke:#4d5158;stroke-width:1.5;"
    "stroke-dasharray:7 3}"
    "@media(prefers-color-scheme:dark){svg{background:#17191c;color:#eceef0}"
    ".about{fill:#90949c}rect{fill:#17191c;stroke:#6d727a}.input rect{fill:#1d2024}"
    ".edge{stroke:#6d727a}marker path{fill:#6d727a}.label{fill:#b3b7be}"
    ".module rect{fill:#eceef0}.kernel rect{fill:#5db4cd;stroke:#5db4cd}"
    ".loop rect{stroke:#b3b7be}}</style>\n";

/* Groups from the outside in, over them edges, over these nodes. */
static void draw_all(const struct graph_layout *l, struct out *o)
{
	const struct drawn_graph *g = l->g;

	out_printf(o, "<g transform=\"translate(%d %d)\">\n", MARGIN, TITLE_HEIGHT);
	for (size_t i = 0; i < g->groups.len; i++)
		if (g->groups.at[i].n_nodes > 0)
			draw_group(l, i, o);
	for (size_t e = 0; e < g->edges.len; e++)
		draw_edge(l, e, o);
	for (size_t i = 0; i < g->nodes.len; i++)
		draw_node(l, i, o);
	out_puts(o, "</g>\n");
}

static void draw(const struct graph_layout *l, struct out *o)
{
	double height = TITLE_HEIGHT + l->height + MARGIN, width = l->width + 2 * MARGIN;
	int place = l->g->in_page;

	width = width > LEAST_WIDTH ? width : LEAST_WIDTH;
	out_printf(o,
		   "<svg%s width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n"
		   "<title>",
		   place ? " class=\"gr\"" : " xmlns=\"http://www.w3.org/2000/svg\"", width, height,
		   width, height);
	out_xml(o, json_string_value(l->g->title));
	out_puts(o, "</title>\n");
	if (!place)
		out_puts(o, style);
	out_printf(o,
		   "<defs><marker id=\"tip%d\" markerWidth=\"7\" markerHeight=\"7\" refX=\"6\" "
		   "refY=\"3\" orient=\"auto\"><path d=\"M0 0L6 3L0 6z\"/></marker></defs>\n"
		   "<text class=\"head\" x=\"16\" y=\"17\">",
		   place);
	out_xml(o, json_string_value(l->g->title));
	out_puts(o, "</text>\n");
	draw_all(l, o);
	out_puts(o, "</svg>\n");
}

bool graph_draw(struct drawn_graph *g, struct out *out, struct err *err)
{
	struct graph_layout l;
	bool ok = graph_lay_out(&l, g);

	if (ok)
		draw(&l, out);
	else
		err_set(err, ERR_MEMORY, "out of memory for a graph");
	graph_layout_finish(&l);
	return ok;
}
