/* profiler/export/graph_svg.c -- a graph in layers, as SVG.
 *
 * Sugiyama's way: layers by the longest path from the inputs, edges that pass layers get
 * a place in each, places within a layer are ordered by the mean of what they are joined
 * to, down and up, and put as near to that mean as their neighbours let them.
 */
#include <stdlib.h>
#include <string.h>

#include "profiler/export/graph.h"

enum {
	BOX_HEIGHT = 38,
	LAYER_HEIGHT = 74,
	GAP = 16,
	MARGIN = 16,
	TITLE_HEIGHT = 28,
	CHAR_WIDTH = 7, /* of the widest usual font at 11 px */
	LINE_WIDTH = 6, /* of an edge that passes */
	SWEEPS = 4,
	MAX_PLACES = 100000,
};

/* A node, or where an edge passes a layer. */
struct place {
	int node; /* -1: none */
	int layer;
	double x, width, wanted; /* x of its middle */
};

struct link {
	int upper, lower; /* places, of neighbouring layers */
};

struct drawing {
	struct drawn_graph *g;
	VEC(struct place) places;
	VEC(struct link) links;
	VEC(int) order; /* places, layer by layer */
	int n_layers;
	int *first; /* of a layer in `order`; n_layers + 1 of them */
	double width;
};

static const char *text_of(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? text : "";
}

/* Inputs stand just above what reads them first. */
static void find_layers(struct drawing *d)
{
	struct drawn_graph *g = d->g;

	for (size_t i = 0; i < g->edges.len; i++) {
		const struct graph_edge *e = &g->edges.at[i];
		int below = g->nodes.at[e->from].layer + 1;

		if (g->nodes.at[e->to].layer < below)
			g->nodes.at[e->to].layer = below;
	}
	for (size_t i = 0; i < g->nodes.len; i++) {
		int least = -1;

		for (size_t k = 0; g->nodes.at[i].is_input && k < g->edges.len; k++) {
			int to = g->nodes.at[g->edges.at[k].to].layer;

			if (g->edges.at[k].from == (int)i && (least < 0 || to < least))
				least = to;
		}
		if (least > 0)
			g->nodes.at[i].layer = least - 1;
		if (g->nodes.at[i].layer >= d->n_layers)
			d->n_layers = g->nodes.at[i].layer + 1;
	}
}

static double width_of(const struct graph_node *node)
{
	json_t *about = graph_about(node);
	size_t name = strlen(text_of(node->json, "name")), more = strlen(json_string_value(about));

	json_decref(about);
	return (double)((name > more ? name : more) * CHAR_WIDTH + 2 * GAP);
}

static bool add_places(struct drawing *d)
{
	struct drawn_graph *g = d->g;

	for (size_t i = 0; i < g->nodes.len; i++)
		if (!VEC_PUSH(&d->places, (struct place){ .node = (int)i,
							  .layer = g->nodes.at[i].layer,
							  .width = width_of(&g->nodes.at[i]) }))
			return false;
	for (size_t i = 0; i < g->edges.len; i++) {
		int upper = g->edges.at[i].from, to = g->edges.at[i].to;

		for (int layer = g->nodes.at[upper].layer + 1;
		     layer < g->nodes.at[to].layer && d->places.len < MAX_PLACES; layer++) {
			int lower = (int)d->places.len;

			if (!VEC_PUSH(&d->places, (struct place){ .node = -1,
								  .layer = layer,
								  .width = LINE_WIDTH }) ||
			    !VEC_PUSH(&d->links, (struct link){ upper, lower }))
				return false;
			upper = lower;
		}
		if (!VEC_PUSH(&d->links, (struct link){ upper, to }))
			return false;
	}
	return true;
}

static bool order_places(struct drawing *d)
{
	d->first = calloc((size_t)d->n_layers + 1, sizeof(*d->first));
	if (!d->first)
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
static void pack_layer(struct drawing *d, int layer, double middle)
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
static void find_wanted(struct drawing *d, bool above)
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
static void sort_layer(struct drawing *d, int layer)
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
static void place_layer(struct drawing *d, int layer)
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

static void lay_out(struct drawing *d)
{
	double left = 0, right = 0;

	for (int layer = 0; layer < d->n_layers; layer++)
		pack_layer(d, layer, 0);
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		bool down = sweep % 2 == 0;

		for (int k = 0; k < d->n_layers; k++) {
			int layer = down ? k : d->n_layers - 1 - k;

			if (k == 0 || d->places.len * (size_t)d->n_layers < 1 << 22)
				find_wanted(d, down);
			sort_layer(d, layer);
			place_layer(d, layer);
		}
	}
	for (size_t i = 0; i < d->places.len; i++) {
		const struct place *p = &d->places.at[i];

		left = i == 0 || p->x - p->width / 2 < left ? p->x - p->width / 2 : left;
		right = i == 0 || p->x + p->width / 2 > right ? p->x + p->width / 2 : right;
	}
	for (size_t i = 0; i < d->places.len; i++)
		d->places.at[i].x += MARGIN - left;
	d->width = right - left + 2 * MARGIN;
}

/* ---- drawing ---- */

static double top_of(const struct place *p)
{
	return TITLE_HEIGHT + p->layer * LAYER_HEIGHT;
}

/* Where an edge passes a layer it goes straight, beside the boxes. */
static void draw_link(const struct drawing *d, const struct link *l, struct out *o)
{
	const struct place *upper = &d->places.at[l->upper], *lower = &d->places.at[l->lower];
	double top = top_of(upper), from = top + BOX_HEIGHT, to = top_of(lower),
	       middle = (from + to) / 2;

	out_printf(o, "<path class=\"edge\" d=\"M%.1f %.1fV%.1fC%.1f %.1f %.1f %.1f %.1f %.1f",
		   upper->x, upper->node < 0 ? top : from, from, upper->x, middle, lower->x, middle,
		   lower->x, to);
	if (lower->node < 0)
		out_puts(o, "\"/>\n");
	else
		out_printf(o, "\" marker-end=\"url(#tip%d)\"/>\n", d->g->in_page);
}

static void draw_node(const struct drawing *d, const struct place *p, struct out *o)
{
	const struct graph_node *node = &d->g->nodes.at[p->node];
	json_int_t line = json_integer_value(json_object_get(node->json, "line"));
	json_t *about = graph_about(node);
	double top = top_of(p);

	out_printf(o, "<g class=\"%s\"><title>", node->is_input ? "input" : "op");
	out_xml(o, text_of(node->json, "op"));
	if (line > 0)
		out_printf(o, ", line %lld", (long long)line);
	out_printf(o,
		   "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"%d\"/>"
		   "<text x=\"%.1f\" y=\"%.1f\">",
		   p->x - p->width / 2, top, p->width, BOX_HEIGHT, node->is_input ? 19 : 3, p->x,
		   top + 16);
	out_xml(o, text_of(node->json, "name"));
	out_printf(o, "</text><text class=\"about\" x=\"%.1f\" y=\"%.1f\">", p->x, top + 30);
	out_xml(o, json_string_value(about));
	out_puts(o, "</text></g>\n");
	json_decref(about);
}

/* Of a file that stands alone; a page has one for all (html.c). */
static const char style[] =
    "<style>svg{background:#fff;color:#16181b}text{font:11px ui-monospace,monospace;"
    "text-anchor:middle;fill:currentColor}.about{font-size:10px;fill:#666a72}"
    ".head{font:600 12px system-ui,sans-serif;text-anchor:start}rect{fill:#fff;stroke:#85888c}"
    ".input rect{fill:#f1f1ee}.edge{fill:none;stroke:#85888c}marker path{fill:#85888c}"
    "@media(prefers-color-scheme:dark){svg{background:#17191c;color:#eceef0}"
    ".about{fill:#90949c}rect{fill:#17191c;stroke:#6d727a}.input rect{fill:#1d2024}"
    ".edge{stroke:#6d727a}marker path{fill:#6d727a}}</style>\n";

static void draw(const struct drawing *d, struct out *o)
{
	double height = TITLE_HEIGHT + d->n_layers * LAYER_HEIGHT;
	double width = d->width > 320 ? d->width : 320;
	int place = d->g->in_page;

	out_printf(o,
		   "<svg%s width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n"
		   "<title>",
		   place ? " class=\"gr\"" : " xmlns=\"http://www.w3.org/2000/svg\"", width, height,
		   width, height);
	out_xml(o, json_string_value(d->g->title));
	out_puts(o, "</title>\n");
	if (!place)
		out_puts(o, style);
	out_printf(o,
		   "<defs><marker id=\"tip%d\" markerWidth=\"7\" markerHeight=\"7\" refX=\"6\" "
		   "refY=\"3\" orient=\"auto\"><path d=\"M0 0L6 3L0 6z\"/></marker></defs>\n"
		   "<text class=\"head\" x=\"16\" y=\"17\">",
		   place);
	out_xml(o, json_string_value(d->g->title));
	out_puts(o, "</text>\n");
	for (size_t i = 0; i < d->links.len; i++)
		draw_link(d, &d->links.at[i], o);
	for (size_t i = 0; i < d->g->nodes.len; i++)
		draw_node(d, &d->places.at[i], o);
	out_puts(o, "</svg>\n");
}

bool graph_draw(struct drawn_graph *g, struct out *out, struct err *err)
{
	struct drawing d = { .g = g };
	bool ok;

	find_layers(&d);
	ok = add_places(&d) && order_places(&d);
	if (ok) {
		lay_out(&d);
		draw(&d, out);
	} else {
		err_set(err, ERR_MEMORY, "out of memory for a graph");
	}
	VEC_FREE(&d.places);
	VEC_FREE(&d.links);
	VEC_FREE(&d.order);
	free(d.first);
	return ok;
}
