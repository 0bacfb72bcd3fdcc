/* profiler/export/graph.h -- private: a captured graph of a report, to be drawn. */
#ifndef PROFILER_EXPORT_GRAPH_H
#define PROFILER_EXPORT_GRAPH_H

#include "fusion/base/vec.h"
#include "profiler/export/job.h"
#include "profiler/layout/groups.h"

enum { GRAPH_MAX_NODES = 2000, GRAPH_MAX_EDGES = 20000 };

struct graph_node {
	const struct report_node *of;
	bool is_input;
	int instead[2]; /* nodes that it reads instead of its arguments; -1: none */
};

struct drawn_graph {
	VEC(struct graph_node) nodes;
	VEC(struct grouped_read) edges; /* from comes first */
	struct node_groups groups;
	int *held; /* by each group, and by what it holds: nodes */
	json_t *title;
	int in_page; /* 0: a file of its own; else its place, from 1, in a page with its style */
};

/* The graph that the query names, else the first: of its mode and its point.  False with
 * NOT_FOUND that says what there is, or TOO_LARGE. */
bool graph_load(const struct export_job *job, struct drawn_graph *g, struct err *err);
void graph_finish(struct drawn_graph *g);

/* Its number within the mode. */
static inline int64_t graph_id(const struct report_graph *graph)
{
	return graph->has.id ? (int64_t)graph->id : 0;
}

/* "float32 [8, 16]", of a node.  New. */
static inline json_t *graph_about(const struct graph_node *node)
{
	return json_sprintf("%s %s", node->of->dtype ? node->of->dtype : "",
			    node->of->shape ? node->of->shape : "");
}

/* As an SVG element, in layers from the inputs down, groups as boxes around what they hold;
 * `out` gets nothing else. */
bool graph_draw(struct drawn_graph *g, struct out *out, struct err *err);

#endif
