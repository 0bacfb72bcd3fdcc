/* profiler/export/graph_layout.h -- private: where the nodes, groups and edges of a graph go.
 *
 * What stands in a group is laid out by itself; the group is then one box among those that
 * it stands with.  Each such LEVEL is laid out in Sugiyama's way: layers by the longest path
 * from what reads nothing, edges that pass layers get a place in each, places within a layer
 * are ordered by the mean of what they are joined to, down and up, and put as near to that
 * mean as their neighbours let them.
 */
#ifndef PROFILER_EXPORT_GRAPH_LAYOUT_H
#define PROFILER_EXPORT_GRAPH_LAYOUT_H

#include "profiler/export/graph.h"

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

/* False when out of memory; graph_layout_finish() in any case. */
bool graph_lay_out(struct graph_layout *l, const struct drawn_graph *g);
void graph_layout_finish(struct graph_layout *l);

/* The layers that edge `e` passes on its way, from above: each once, then false.  On its way
 * out of groups and into others it passes what stands in them, too. */
enum { GRAPH_WAY_LEVELS = 160 };
struct graph_way {
	struct {
		const struct graph_level *level;
		int place;
	} legs[GRAPH_WAY_LEVELS];
	int n, at;
};
void graph_way_find(const struct graph_layout *l, size_t e, struct graph_way *out);
bool graph_way_pass(struct graph_way *w, struct graph_pass *out);

#endif
