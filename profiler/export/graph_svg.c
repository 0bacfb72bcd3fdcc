/* profiler/export/graph_svg.c -- a graph as SVG: groups, edges, nodes, where the layout puts them.
 */
#include <stdlib.h>
#include <string.h>

#include "profiler/export/graph.h"
#include "profiler/layout/layout.h"

enum {
	MARGIN = 16,
	TITLE_HEIGHT = 28,
	LEAST_WIDTH = 320,
	NODE_HEIGHT = 38,
	CHAR_WIDTH = 7, /* of the widest usual font at 11 px */
	MOST_TITLE = 40,
};

struct drawing {
	const struct drawn_graph *g;
	const struct layout *l;
};

/* As much of it as there is room for: in ASCII, but for what a redacted one says. */
static void draw_label(struct out *o, const char *title, double width)
{
	size_t room = (size_t)(width / CHAR_WIDTH), len = strlen(title);
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

static void draw_group(const struct drawing *d, size_t i, struct out *o)
{
	const struct node_group *group = &d->g->groups.all.at[i];
	const struct layout_rect *r = &d->l->groups[i];

	out_printf(o, "<g class=\"%s\"><title>", group_kind_name(group->kind));
	out_xml(o, group->title);
	out_printf(o,
		   "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
		   "rx=\"3\"/></g>\n",
		   r->x, r->y, r->width, r->height);
}

static void draw_group_title(const struct drawing *d, size_t i, struct out *o)
{
	const struct layout_rect *r = &d->l->groups[i];

	out_printf(o, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\">", r->x + 8, r->y + 14);
	draw_label(o, d->g->groups.all.at[i].title, r->width - 16);
	out_puts(o, "</text>\n");
}

static void draw_edge(const struct drawing *d, size_t e, struct out *o)
{
	struct buf path = { 0 };

	layout_edge_path(d->l, (int)e, &path);
	out_printf(o, "<path class=\"edge\" d=\"%s\" marker-end=\"url(#tip%d)\"/>\n",
		   path.failed ? "" : path.data, d->g->in_page);
	buf_finish(&path);
}

static void draw_node(const struct drawing *d, size_t i, struct out *o)
{
	const struct graph_node *node = &d->g->nodes.at[i];
	const struct layout_rect *r = &d->l->boxes[i];
	json_t *about = graph_about(node);

	out_printf(o, "<g class=\"%s\"><title>", node->is_input ? "input" : "op");
	out_xml(o, node->of->op);
	if (node->of->line > 0)
		out_printf(o, ", line %lld", (long long)node->of->line);
	out_printf(o,
		   "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" rx=\"%d\"/>"
		   "<text x=\"%.1f\" y=\"%.1f\">",
		   r->x, r->y, r->width, r->height, node->is_input ? 19 : 3, r->x + r->width / 2,
		   r->y + 16);
	out_xml(o, node->of->name);
	out_printf(o, "</text><text class=\"about\" x=\"%.1f\" y=\"%.1f\">", r->x + r->width / 2,
		   r->y + 30);
	out_xml(o, json_string_value(about));
	out_puts(o, "</text></g>\n");
	json_decref(about);
}

/* Of a file of its own; a page has one for all (html.c). */
static const char style[] =
    "<style>svg{background:#fff;color:#16181b}text{font:11px ui-monospace,monospace;"
    "text-anchor:middle;fill:currentColor}.about{fill:#666a72}"
    ".head{font:600 12px system-ui,sans-serif;text-anchor:start}rect{fill:#fff;stroke:#85888c}"
    ".input rect{fill:#f1f1ee}.edge{fill:none;stroke:#85888c}marker path{fill:#85888c}"
    ".label{font:11px system-ui,sans-serif;text-anchor:start;fill:#4d5158;paint-order:stroke;"
    "stroke:#fff;stroke-width:4px}"
    ".module rect{fill:#16181b;fill-opacity:.04}.kernel rect{fill:#2f7d95;fill-opacity:.1;"
    "stroke:#2f7d95;stroke-width:1.5}.loop rect{fill:none;stroke:#4d5158;stroke-width:1.5;"
    "stroke-dasharray:7 3}"
    "@media(prefers-color-scheme:dark){svg{background:#17191c;color:#eceef0}"
    ".about{fill:#90949c}rect{fill:#17191c;stroke:#6d727a}.input rect{fill:#1d2024}"
    ".edge{stroke:#6d727a}marker path{fill:#6d727a}.label{fill:#b3b7be;stroke:#17191c}"
    ".module rect{fill:#eceef0}.kernel rect{fill:#5db4cd;stroke:#5db4cd}"
    ".loop rect{stroke:#b3b7be}}</style>\n";

/* Groups from the outside in, over them edges, over these the groups' titles and nodes. */
static void draw_all(const struct drawing *d, struct out *o)
{
	const struct drawn_graph *g = d->g;

	out_printf(o, "<g transform=\"translate(%d %d)\">\n", MARGIN, TITLE_HEIGHT);
	for (size_t i = 0; i < g->groups.all.len; i++)
		if (g->held[i] > 0)
			draw_group(d, i, o);
	for (size_t e = 0; e < g->edges.len; e++)
		draw_edge(d, e, o);
	for (size_t i = 0; i < g->groups.all.len; i++)
		if (g->held[i] > 0)
			draw_group_title(d, i, o);
	for (size_t i = 0; i < g->nodes.len; i++)
		draw_node(d, i, o);
	out_puts(o, "</g>\n");
}

static void draw(const struct drawing *d, struct out *o)
{
	double height = TITLE_HEIGHT + d->l->height + MARGIN, width = d->l->width + 2 * MARGIN;
	int place = d->g->in_page;

	width = width > LEAST_WIDTH ? width : LEAST_WIDTH;
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
	draw_all(d, o);
	out_puts(o, "</svg>\n");
}

static double node_width(const struct graph_node *node)
{
	json_t *about = graph_about(node);
	size_t len = strlen(node->of->name);
	size_t more = strlen(report_text(json_string_value(about)));

	json_decref(about);
	return (double)((len > more ? len : more) * CHAR_WIDTH + 2 * MARGIN);
}

static double title_width(const char *title)
{
	size_t len = strlen(title);

	return (double)((len < MOST_TITLE ? len : MOST_TITLE) * CHAR_WIDTH + 2 * MARGIN);
}

bool graph_draw(struct drawn_graph *g, struct out *out, struct err *err)
{
	struct layout_box *boxes = calloc(g->nodes.len + 1, sizeof(*boxes));
	struct layout_group *groups = calloc(g->groups.all.len + 1, sizeof(*groups));
	struct layout_edge *edges = calloc(g->edges.len + 1, sizeof(*edges));
	struct layout_graph graph = {
		boxes, groups, edges, (int)g->nodes.len, (int)g->groups.all.len, (int)g->edges.len,
		0
	};
	struct layout *l = NULL;

	if (boxes && groups && edges) {
		for (size_t i = 0; i < g->nodes.len; i++)
			boxes[i] = (struct layout_box){ node_width(&g->nodes.at[i]), NODE_HEIGHT,
							g->groups.of[i] };
		for (size_t i = 0; i < g->groups.all.len; i++)
			groups[i] = (struct layout_group){ g->groups.all.at[i].parent,
							   title_width(g->groups.all.at[i].title) };
		for (size_t i = 0; i < g->edges.len; i++)
			edges[i] = (struct layout_edge){ g->edges.at[i].from, g->edges.at[i].to };
		l = layout_make(&graph);
	}
	if (l)
		draw(&(struct drawing){ g, l }, out);
	else
		err_set(err, ERR_MEMORY, "out of memory for a graph");
	layout_free(l);
	free(boxes);
	free(groups);
	free(edges);
	return l != NULL;
}
