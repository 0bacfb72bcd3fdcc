/* profiler/export/graph_groups.c -- loops and kernels of a captured graph, for its groups. */
#include "profiler/export/graph_groups.h"

#include <stdlib.h>
#include <string.h>

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

static bool make(struct export_grouper *gr)
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

bool graph_group(struct drawn_graph *g, const struct report_graph *graph)
{
	struct export_grouper gr = { .g = g, .graph = graph };
	bool ok;

	gr.nodes = calloc(g->nodes.len + 1, sizeof(*gr.nodes));
	for (size_t i = 0; gr.nodes && i < g->nodes.len; i++) {
		const struct graph_node *n = &g->nodes.at[i];

		gr.nodes[i] = (struct grouped_node){ n->of->module ? n->of->module : "", -1, -1,
						     is_given(n) };
	}
	ok = gr.nodes && find_loops(&gr) && find_kernels(&gr) && make(&gr);
	free(gr.nodes);
	VEC_FREE(&gr.loops);
	return ok;
}
