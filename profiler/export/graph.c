/* profiler/export/graph.c -- a captured graph of a report, to be drawn. */
#include "profiler/export/graph.h"

#include <stdlib.h>
#include <string.h>

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

/* The place of the node with that id; -1. */
static int graph_find(const struct drawn_graph *g, int64_t id)
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

/* ---- what its nodes are part of ---- */

struct export_grouper {
	struct drawn_graph *g;
	const struct report_graph *graph;
	struct grouped_node *nodes;
	VEC(struct grouped_loop) loops;
};

/* ---- loops */

static int loop_depth(const struct export_grouper *gr, int loop)
{
	int depth = 0, most = (int)gr->loops.len;

	for (; gr->loops.at && loop >= 0 && depth <= most; loop = gr->loops.at[loop].parent)
		depth++;
	return depth;
}

static void note_member(struct export_grouper *gr, int64_t id, int loop)
{
	int node = graph_find(gr->g, id);

	if (node >= 0 && (gr->nodes[node].loop < 0 ||
			  loop_depth(gr, loop) > loop_depth(gr, gr->nodes[node].loop)))
		gr->nodes[node].loop = loop;
}

static void note_members(struct export_grouper *gr, const struct report_subgraph *s, int loop)
{
	note_member(gr, s->node, loop);
	for (size_t i = 0; i < s->nodes.n; i++)
		note_member(gr, s->nodes.at[i], loop);
	for (size_t i = 0; i < s->carried.n; i++) {
		const struct report_carried *c = &s->carried.at[i];

		if (c->has.node)
			note_member(gr, c->node, loop);
		if (c->has.result)
			note_member(gr, c->result, loop);
	}
}

static bool find_loops(struct export_grouper *gr)
{
	struct report_subgraph_list all = gr->graph->subgraphs;

	for (size_t i = 0; i < all.n; i++) {
		const struct report_subgraph *s = &all.at[i];
		int64_t up = s->has.parent ? s->parent : -1;
		struct grouped_loop loop = { graph_find(gr->g, s->node),
					     up < (int64_t)all.n ? (int)up : -1, (int)s->line };

		if (!VEC_PUSH(&gr->loops, loop))
			return false;
	}
	for (size_t i = 0; i < all.n; i++)
		note_members(gr, &all.at[i], (int)i);
	return true;
}

/* Nothing is computed for it: it is drawn with what reads it. */
static bool is_given(const struct graph_node *n)
{
	const char *op = n->of->op;

	return n->is_input || strcmp(op, "constant") == 0 || strcmp(op, "tensor") == 0;
}

/* ---- kernels */

/* "kernel 2: %sin, %mul" below the text of a piece, whose kernels begin with `first`. */
static void read_kernels(struct export_grouper *gr, const json_t *by_name, const char *text,
			 int first)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *end;
		long k;

		line += *line == '\n';
		if (strncmp(line, "kernel ", 7) != 0)
			continue;
		k = strtol(line + 7, NULL, 10);
		if (k < 0 || k > GROUPS_MAX_KERNEL)
			continue;
		end = line + strcspn(line, "\n");
		for (const char *p = memchr(line, '%', (size_t)(end - line)); p;
		     p = memchr(p, '%', (size_t)(end - p))) {
			size_t len = strcspn(++p, ",\n");
			const json_t *node = json_object_getn(by_name, p, len);

			if (node && gr->nodes[json_integer_value(node)].kernel < 0)
				gr->nodes[json_integer_value(node)].kernel = first + (int)k;
			p += len;
		}
	}
}

/* The graph after its last pass; NULL: unknown. */
static const char *last_text(const struct report_pass_part *part)
{
	for (size_t k = part->steps.n; k-- > 0;)
		if (part->steps.at[k].after)
			return part->steps.at[k].after;
	return NULL;
}

static bool find_kernels(struct export_grouper *gr)
{
	struct report_pass_part_list parts = gr->graph->passes;
	json_t *by_name = json_object();

	for (size_t i = 0; by_name && i < gr->g->nodes.len; i++)
		if (!is_given(&gr->g->nodes.at[i]))
			json_object_set_new(by_name, gr->g->nodes.at[i].of->name,
					    json_integer((json_int_t)i));
	for (size_t i = 0; by_name && i < parts.n; i++) {
		const struct report_pass_part *part = &parts.at[i];
		int64_t first = part->first_kernel;

		if (strncmp(part->part, "backward", 8) == 0 || first < 0 ||
		    first > GROUPS_MAX_KERNEL ||
		    (!part->has.first_kernel && parts.n > 1)) /* numbered by themselves */
			continue;
		if (last_text(part))
			read_kernels(gr, by_name, last_text(part), (int)first);
	}
	json_decref(by_name);
	return by_name != NULL;
}

static bool make_groups(struct export_grouper *gr)
{
	struct drawn_graph *g = gr->g;
	struct report_texts names = gr->graph->kernels;
	const struct grouped_graph whole = { gr->nodes,     gr->loops.at, g->edges.at, g->nodes.len,
					     gr->loops.len, g->edges.len, names.at,    names.n };

	if (!groups_make(&whole, GROUP_BY_MODULE | GROUP_BY_KERNEL, &g->groups))
		return false;
	g->held = calloc(g->groups.all.len + 1, sizeof(*g->held));
	for (size_t i = 0; g->held && i < g->nodes.len; i++)
		for (int k = g->groups.of[i]; k >= 0; k = g->groups.all.at[k].parent)
			g->held[k]++;
	return g->held != NULL;
}

/* Fills in g->groups and g->held: a kernel holds the ops of `graph` whose results it computes, as
 * its last pass tells.  False when out of memory. */
static bool graph_group(struct drawn_graph *g, const struct report_graph *graph)
{
	struct export_grouper gr = { .g = g, .graph = graph };
	bool ok;

	gr.nodes = calloc(g->nodes.len + 1, sizeof(*gr.nodes));
	for (size_t i = 0; gr.nodes && i < g->nodes.len; i++) {
		const struct graph_node *n = &g->nodes.at[i];

		gr.nodes[i] = (struct grouped_node){ n->of->module ? n->of->module : "", -1, -1,
						     is_given(n) };
	}
	ok = gr.nodes && find_loops(&gr) && find_kernels(&gr) && make_groups(&gr);
	free(gr.nodes);
	VEC_FREE(&gr.loops);
	return ok;
}

/* ---- all of it ---- */

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
