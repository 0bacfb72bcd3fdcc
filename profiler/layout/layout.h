/* profiler/layout/layout.h -- where the boxes of a graph go, and the way of each edge: in layers
 * from what is read down to what reads it, groups around what they hold.  Exports and the page
 * (POST /api/v1/layout) draw what it says.
 *
 * Thread-safe.  Work grows with boxes, edges and the layers that edges pass. */
#ifndef PROFILER_LAYOUT_LAYOUT_H
#define PROFILER_LAYOUT_LAYOUT_H

#include "fusion/base/buf.h"

enum { LAYOUT_HEAD_PX = 22 }; /* of a group, for its title */

struct layout_rect {
	double x, y, width, height; /* of its upper left corner, pixels */
};

struct layout_box {
	double width, height;
	int group; /* the innermost; -1: none */
};

struct layout_group {
	int parent;         /* comes before it; -1: none */
	double least_width; /* for its title */
};

/* One to a box that stands further ahead is drawn, and does not decide on layers. */
struct layout_edge {
	int from, to; /* boxes */
};

/* Borrowed until layout_free(). */
struct layout_graph {
	const struct layout_box *boxes;
	const struct layout_group *groups;
	const struct layout_edge *edges;
	int n_boxes, n_groups, n_edges;
	/* What is higher continues at the top, to the right, unless it would become much wider than
	 * high; 0: whatever the height. */
	double band_height;
};

struct layout_level;
struct layout {
	const struct layout_graph *graph;
	struct layout_rect *boxes;
	struct layout_rect *groups; /* width 0: it holds nothing */
	double width, height;
	struct layout_level *levels; /* private */
	int *item_of_box, *item_of_group;
};

/* NULL when out of memory. */
struct layout *layout_make(const struct layout_graph *graph);
void layout_free(struct layout *layout);

/* Appends the edge as data of an SVG path: from the lower side of its first box to the upper side
 * of its last, beside the boxes in the layers that it passes. */
void layout_edge_path(const struct layout *layout, int edge, struct buf *out);

#endif
