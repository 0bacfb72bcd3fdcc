/* profiler/export/graph.c -- see graph.h. */
#include "profiler/export/graph.h"

#include <stdlib.h>
#include <string.h>

void graph_finish(struct drawn_graph *g)
{
	VEC_FREE(&g->nodes);
	VEC_FREE(&g->edges);
	json_decref(g->title);
}

/* ---- which ---- */

struct sought {
	const struct export_query *query;
	const json_t *graph, *n;
	const char *mode;
	struct buf there; /* modes that have graphs */
};

static bool seek(void *self, const struct job_mode *at)
{
	struct sought *s = self;
	const json_t *graphs = json_object_get(at->report, "graphs"), *graph;
	size_t i;

	if (at->engine || json_array_size(graphs) == 0)
		return true;
	if (!s->there.data || !strstr(s->there.data, at->mode))
		buf_printf(&s->there, "%s%s", s->there.len ? ", " : "", at->mode);
	json_array_foreach(graphs, i, graph)
	{
		if (json_integer_value(json_object_get(graph, "id")) != s->query->graph ||
		    json_array_size(json_object_get(graph, "nodes")) == 0)
			continue;
		s->graph = graph;
		s->n = at->n;
		s->mode = at->mode;
		return false;
	}
	return true;
}

static json_t *title_of(const struct sought *s)
{
	const char *frame = json_string_value(json_object_get(s->graph, "frame"));
	long long id = (long long)json_integer_value(json_object_get(s->graph, "id"));

	if (s->n)
		return json_sprintf("%s, n = %lld: graph %lld of %s", s->mode,
				    (long long)json_integer_value(s->n), id, frame ? frame : "?");
	return json_sprintf("%s: graph %lld of %s", s->mode, id, frame ? frame : "?");
}

/* ---- nodes and edges ---- */

static int find_node(const struct drawn_graph *g, json_int_t id)
{
	/* Ids are places, mostly. */
	if (id >= 0 && id < (json_int_t)g->nodes.len && g->nodes.at[id].id == id)
		return (int)id;
	for (size_t i = 0; i < g->nodes.len; i++)
		if (g->nodes.at[i].id == id)
			return (int)i;
	return -1;
}

static bool add_edges(struct drawn_graph *g, const json_t *args, int to)
{
	const json_t *item, *node;
	size_t i;

	json_array_foreach(args, i, item)
	{
		int from;

		node = json_object_get(item, "node");
		if (json_is_array(item) && !add_edges(g, item, to))
			return false;
		from = json_is_integer(node) ? find_node(g, json_integer_value(node)) : -1;
		/* Only what stands before can be read. */
		if (from >= 0 && from < to && g->edges.len < GRAPH_MAX_EDGES &&
		    !VEC_PUSH(&g->edges, (struct graph_edge){ from, to }))
			return false;
	}
	return true;
}

static bool fill(struct drawn_graph *g, const json_t *nodes)
{
	const json_t *node;
	size_t i;

	json_array_foreach(nodes, i, node)
	{
		const char *op = json_string_value(json_object_get(node, "op"));
		struct graph_node row = { .json = node,
					  .id = json_integer_value(json_object_get(node, "id")),
					  .is_input = op && strcmp(op, "placeholder") == 0 };

		if (!VEC_PUSH(&g->nodes, row))
			return false;
	}
	for (i = 0; i < g->nodes.len; i++)
		if (!add_edges(g, json_object_get(g->nodes.at[i].json, "args"), (int)i))
			return false;
	return true;
}

bool graph_load(const struct export_job *job, struct drawn_graph *g, struct err *err)
{
	struct sought s = { .query = job->query };
	const json_t *nodes;
	bool ok;

	*g = (struct drawn_graph){ 0 };
	buf_init(&s.there, 0);
	job_modes(job, seek, &s);
	nodes = json_object_get(s.graph, "nodes");
	if (!s.graph)
		err_set(err, ERR_NOT_FOUND, "run %lld has no graph %lld to draw there%s%.200s",
			(long long)job->run->id, (long long)job->query->graph,
			s.there.len ? "; modes with graphs: " : ": no mode captured any",
			s.there.len ? s.there.data : "");
	else if (json_array_size(nodes) > GRAPH_MAX_NODES)
		err_set(err, ERR_TOO_LARGE, "the graph has %zu nodes; at most %d are drawn",
			json_array_size(nodes), GRAPH_MAX_NODES);
	else if (!fill(g, nodes))
		err_set(err, ERR_MEMORY, "out of memory for a graph");
	else
		g->title = title_of(&s);
	ok = g->title != NULL;
	buf_finish(&s.there);
	return ok;
}

static const char *text_of(const json_t *json, const char *key)
{
	const char *text = json_string_value(json_object_get(json, key));

	return text ? text : "";
}

json_t *graph_about(const struct graph_node *node)
{
	return json_sprintf("%s %s", text_of(node->json, "dtype"), text_of(node->json, "shape"));
}

/* ---- DOT ---- */

/* Within quotes; a backslash would begin one of DOT's own escapes. */
static void dot_text(struct out *o, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			out_add(o, "\\", 1);
		out_add(o, *text == '\n' ? " " : text, 1);
	}
}

static void dot_node(struct out *o, const struct graph_node *node, size_t i)
{
	json_t *about = graph_about(node);
	json_int_t line = json_integer_value(json_object_get(node->json, "line"));

	out_printf(o, "  n%zu [label=\"", i);
	dot_text(o, text_of(node->json, "name"));
	if (!node->is_input &&
	    strcmp(text_of(node->json, "op"), text_of(node->json, "name")) != 0) {
		out_puts(o, " = ");
		dot_text(o, text_of(node->json, "op"));
	}
	out_puts(o, "\\n");
	dot_text(o, json_string_value(about));
	if (line > 0)
		out_printf(o, "\\nline %lld", (long long)line);
	out_printf(o, "\"%s];\n", node->is_input ? ", shape=ellipse" : "");
	json_decref(about);
}

bool export_dot(struct export_job *job, struct err *err)
{
	struct out *o = &job->out;
	struct drawn_graph g;
	bool ok = graph_load(job, &g, err);

	if (ok) {
		out_puts(o, "digraph \"");
		dot_text(o, json_string_value(g.title));
		out_puts(o, "\" {\n  label=\"");
		dot_text(o, json_string_value(g.title));
		out_puts(o, "\";\n  node [shape=box, fontname=\"sans-serif\", fontsize=11];\n");
		for (size_t i = 0; i < g.nodes.len; i++)
			dot_node(o, &g.nodes.at[i], i);
		for (size_t i = 0; i < g.edges.len; i++)
			out_printf(o, "  n%d -> n%d;\n", g.edges.at[i].from, g.edges.at[i].to);
		out_puts(o, "}\n");
	}
	graph_finish(&g);
	return ok;
}

bool export_svg(struct export_job *job, struct err *err)
{
	struct drawn_graph g;
	bool ok = graph_load(job, &g, err) && graph_draw(&g, &job->out, err);

	graph_finish(&g);
	return ok;
}
