/* profiler/export/html_graph.c -- captured graphs, drawn in the page of a run.
 *
 * Of one mode at one point: static where it was measured, else the first compiled one that
 * captured any; a sweep's last point.  The drawing is that of the svg export.
 */
#include <string.h>

#include "profiler/export/graph.h"
#include "profiler/export/html.h"

enum { PAGE_GRAPHS = 12, PAGE_GRAPH_NODES = 400 };

struct chosen {
	const char *mode;
	const json_t *n, *graphs;
};

static bool has_nodes(const json_t *graphs)
{
	const json_t *graph;
	size_t i;

	json_array_foreach((json_t *)graphs, i, graph)
	{
		if (json_array_size(json_object_get(graph, "nodes")) > 0)
			return true;
	}
	return false;
}

static bool choose(void *self, const struct job_mode *at)
{
	const json_t *graphs = json_object_get(at->report, "graphs");
	struct chosen *c = self;

	if (at->engine)
		return false; /* ours come first */
	/* The last point of the sweep; there static, where it is. */
	if (has_nodes(graphs) && (!c->mode || at->n != c->n || strcmp(at->mode, "static") == 0))
		*c = (struct chosen){ at->mode, at->n, graphs };
	return true;
}

/* One graph, of its own heading; a table's row of text alone would not show its shape. */
static bool draw_one(const struct export_job *job, const struct chosen *c, json_int_t id, int place,
		     struct out *o, struct err *err)
{
	struct export_query query = *job->query;
	struct export_job of = *job;
	struct drawn_graph g;
	bool ok;

	query.mode = c->mode;
	query.has_n = json_is_integer(c->n);
	query.n = json_integer_value(c->n);
	query.graph = id;
	of.query = &query;
	ok = graph_load(&of, &g, err);
	if (ok) {
		g.in_page = place + 1;
		out_printf(o, "<details%s><summary>", place == 0 ? " open" : "");
		out_xml(o, json_string_value(g.title));
		out_printf(o,
			   ", %zu nodes</summary>\n<div class=\"well\" role=\"region\" "
			   "aria-label=\"Graph %d\" tabindex=\"0\">\n",
			   g.nodes.len, place + 1);
		ok = graph_draw(&g, o, err);
		out_puts(o, "</div></details>\n");
	}
	graph_finish(&g);
	return ok;
}

bool html_graphs(struct export_job *job, struct err *err)
{
	struct chosen c = { 0 };
	struct out *o = &job->out;
	const json_t *graph;
	int drawn = 0, left = 0;
	bool ok = true;
	size_t i;

	job_modes(job, choose, &c);
	if (!c.mode)
		return true;
	out_puts(o, "<section><h2>Graphs <span class=\"note\">as mode ");
	out_xml(o, c.mode);
	out_puts(o, " captured them, in boxes by module, loop and kernel</span></h2>\n");
	json_array_foreach((json_t *)c.graphs, i, graph)
	{
		size_t nodes = json_array_size(json_object_get(graph, "nodes"));

		if (!ok || nodes == 0)
			continue;
		if (drawn == PAGE_GRAPHS || nodes > PAGE_GRAPH_NODES)
			left++;
		else
			ok = draw_one(job, &c, json_integer_value(json_object_get(graph, "id")),
				      drawn++, o, err);
	}
	if (left)
		out_printf(
		    o,
		    "<p class=\"note\">%d more %s not drawn here, which has at most %d of %d "
		    "nodes: the exports svg and dot have each.</p>\n",
		    left, left == 1 ? "is" : "are", PAGE_GRAPHS, PAGE_GRAPH_NODES);
	out_puts(o, "</section>\n");
	return ok;
}
