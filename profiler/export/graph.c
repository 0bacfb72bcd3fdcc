/* profiler/export/graph.c -- a captured graph of a report, to be drawn. */
#include "profiler/export/graph.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/export/graph_groups.h"

void graph_finish(struct drawn_graph *g)
{
	VEC_FREE(&g->nodes);
	VEC_FREE(&g->edges);
	groups_finish(&g->groups);
	free(g->held);
	json_decref(g->title);
}

/* ---- which ---- */

struct sought_graph {
	const struct export_query *query;
	const struct report_graph *graph;
	bool has_n;
	int64_t n;
	const char *mode;
	struct buf there; /* modes that have graphs */
};

static bool seek(void *self, const struct job_mode *at)
{
	struct sought_graph *s = self;
	struct report_graph_list graphs = at->m->graphs;

	if (at->engine || graphs.n == 0)
		return true;
	if (!s->there.data || !strstr(s->there.data, at->mode))
		buf_printf(&s->there, "%s%s", s->there.len ? ", " : "", at->mode);
	for (size_t i = 0; i < graphs.n; i++) {
		if (graph_id(&graphs.at[i]) != s->query->graph || graphs.at[i].nodes.n == 0)
			continue;
		s->graph = &graphs.at[i];
		s->has_n = at->has_n;
		s->n = at->n;
		s->mode = at->mode;
		return false;
	}
	return true;
}

static json_t *title_of(const struct sought_graph *s)
{
	const char *frame = s->graph->frame ? s->graph->frame : "?";
	long long id = (long long)graph_id(s->graph);

	if (s->has_n)
		return json_sprintf("%s, n = %lld: graph %lld of %s", s->mode, (long long)s->n, id,
				    frame);
	return json_sprintf("%s: graph %lld of %s", s->mode, id, frame);
}

/* ---- nodes and edges ---- */

int graph_find(const struct drawn_graph *g, int64_t id)
{
	/* Ids are places, mostly. */
	if (id >= 0 && id < (int64_t)g->nodes.len && g->nodes.at[id].of->id == id)
		return (int)id;
	for (size_t i = 0; i < g->nodes.len; i++)
		if (g->nodes.at[i].of->id == id)
			return (int)i;
	return -1;
}

/* Only what comes before can be read. */
static bool add_edge(struct drawn_graph *g, int from, int to)
{
	return from < 0 || from >= to || g->edges.len >= GRAPH_MAX_EDGES ||
	       VEC_PUSH(&g->edges, (struct grouped_read){ from, to });
}

/* Arguments are free JSON: tensors as {"node": id}, in lists too. */
static bool add_edges(struct drawn_graph *g, const json_t *args, int to)
{
	const json_t *item, *node;
	size_t i;

	json_array_foreach(args, i, item)
	{
		node = json_object_get(item, "node");
		if (json_is_array(item) && !add_edges(g, item, to))
			return false;
		if (json_is_integer(node) &&
		    !add_edge(g, graph_find(g, json_integer_value(node)), to))
			return false;
	}
	return true;
}

/* The node with that id reads others instead of its arguments; -1: no other. */
static void read_instead(struct drawn_graph *g, int node, int first, int second)
{
	if (node < 0 || !g->nodes.at)
		return;
	g->nodes.at[node].instead[0] = first;
	if (second >= 0)
		g->nodes.at[node].instead[1] = second;
}

/* What a loop leaves is what its body makes; the loop itself represents its tests. */
static void join_loops(struct drawn_graph *g, struct report_subgraph_list loops)
{
	for (size_t i = 0; i < loops.n; i++) {
		const struct report_subgraph *loop = &loops.at[i];

		read_instead(g, graph_find(g, loop->node), graph_find(g, loop->first),
			     graph_find(g, loop->again));
		for (size_t k = 0; k < loop->carried.n; k++) {
			const struct report_carried *c = &loop->carried.at[k];

			if (c->has.result)
				read_instead(g, graph_find(g, c->result), graph_find(g, c->next),
					     -1);
		}
	}
}

static bool fill(struct drawn_graph *g, const struct report_graph *graph)
{
	for (size_t i = 0; i < graph->nodes.n; i++) {
		const struct report_node *node = &graph->nodes.at[i];
		struct graph_node row = { .of = node,
					  .is_input = strcmp(node->op, "placeholder") == 0,
					  .instead = { -1, -1 } };

		if (strcmp(node->op, "loop_operands") == 0)
			continue;
		if (!VEC_PUSH(&g->nodes, row))
			return false;
	}
	join_loops(g, graph->subgraphs);
	for (size_t i = 0; i < g->nodes.len; i++) {
		const struct graph_node *n = &g->nodes.at[i];

		if (n->instead[0] < 0 ? !add_edges(g, n->of->args, (int)i)
				      : !add_edge(g, n->instead[0], (int)i) ||
					    !add_edge(g, n->instead[1], (int)i))
			return false;
	}
	return graph_group(g, graph);
}

bool graph_load(const struct export_job *job, struct drawn_graph *g, struct err *err)
{
	struct sought_graph s = { .query = job->query };
	size_t nodes;
	bool ok;

	*g = (struct drawn_graph){ 0 };
	buf_init(&s.there, 0);
	job_modes(job, seek, &s);
	nodes = s.graph ? s.graph->nodes.n : 0;
	if (!s.graph)
		err_set(err, ERR_NOT_FOUND, "run %lld has no graph %lld to draw there%s%.200s",
			(long long)job->run->id, (long long)job->query->graph,
			s.there.len ? "; modes with graphs: " : ": no mode captured any",
			s.there.len ? s.there.data : "");
	else if (nodes > GRAPH_MAX_NODES)
		err_set(err, ERR_TOO_LARGE, "the graph has %zu nodes; at most %d are drawn", nodes,
			GRAPH_MAX_NODES);
	else if (!fill(g, s.graph))
		err_set(err, ERR_MEMORY, "out of memory for a graph");
	else
		g->title = title_of(&s);
	ok = g->title != NULL;
	buf_finish(&s.there);
	return ok;
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

static void indent(struct out *o, int depth)
{
	for (int i = 0; i <= depth; i++)
		out_puts(o, "  ");
}

static void dot_node(struct out *o, const struct graph_node *node, size_t i, int depth)
{
	json_t *about = graph_about(node);
	const struct report_node *of = node->of;

	indent(o, depth);
	out_printf(o, "n%zu [label=\"", i);
	dot_text(o, of->name);
	if (!node->is_input && strcmp(of->op, of->name) != 0) {
		out_puts(o, " = ");
		dot_text(o, of->op);
	}
	out_puts(o, "\\n");
	dot_text(o, json_string_value(about));
	if (of->line > 0)
		out_printf(o, "\\nline %lld", (long long)of->line);
	out_printf(o, "\"%s];\n", node->is_input ? ", shape=ellipse" : "");
	json_decref(about);
}

/* A group with what is in it, or (-1) all that is in none. */
static void dot_group(struct out *o, const struct drawn_graph *g, int group, int depth)
{
	static const char *const looks[] = {
		[GROUP_MODULE] = "style=solid, color=\"#85888c\"",
		[GROUP_LOOP] = "style=dashed, color=\"#16181b\"",
		[GROUP_KERNEL] = "style=filled, color=\"#2f7d95\", fillcolor=\"#eaf2f4\"",
	};

	if (group >= 0) {
		const struct node_group *of = &g->groups.all.at[group];

		indent(o, depth - 1);
		out_printf(o, "subgraph cluster_%d {\n", group);
		indent(o, depth);
		out_puts(o, "graph [label=\"");
		dot_text(o, of->title);
		out_printf(o, "\", class=%s, %s];\n", group_kind_name(of->kind), looks[of->kind]);
	}
	for (size_t i = 0; i < g->nodes.len; i++)
		if (g->groups.of[i] == group)
			dot_node(o, &g->nodes.at[i], i, depth);
	for (size_t k = 0; k < g->groups.all.len; k++)
		if (g->groups.all.at[k].parent == group && g->held[k] > 0)
			dot_group(o, g, (int)k, depth + 1);
	if (group >= 0) {
		indent(o, depth - 1);
		out_puts(o, "}\n");
	}
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
		out_puts(o,
			 "\";\n  graph [fontname=\"sans-serif\", fontsize=12];\n  node [shape=box, "
			 "fontname=\"sans-serif\", fontsize=11, style=filled, fillcolor=white];\n");
		dot_group(o, &g, -1, 0);
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
