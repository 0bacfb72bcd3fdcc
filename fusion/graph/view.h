/* fusion/graph/view.h -- where the elements of a view lie.
 *
 * A view is a node of KIND_VIEW: the elements of its first argument under
 * another shape.  A chain of views ends at a BASE, which has memory; the layout
 * says where each element of the view lies in there.  Shared by fusion,
 * lowering, eager views and recipes.
 */
#ifndef FUSION_GRAPH_VIEW_H
#define FUSION_GRAPH_VIEW_H

#include "fusion/graph/graph.h"

struct view_layout {
	int base;           /* the node with memory; the node itself where it is none */
	struct shape shape; /* of the view */
	const struct sym *stride[MAX_RANK]; /* in elements of the base's memory */
	const struct sym *offset;
};

/* The end of the chain: an id of a node that is no view. */
int view_base(const struct graph *g, int node);

/* The layout of a node in the memory of its base: inputs have their strides,
 * all else lies row by row.  False where a step has no strides (a reshape that
 * has to copy), and when out of memory. */
bool view_layout(const struct graph *g, int node, struct view_layout *out);

/* The same in the elements of the node `base` counted row by row, whatever its
 * strides are; false also where `base` is not in the chain. */
bool view_layout_in(const struct graph *g, int node, int base, struct view_layout *out);

/* Where two neighbouring dims of what a reshape copies do not lie as one as far as
 * symbols tell: they do where a and b are equal.  Returns how many. */
struct view_seam {
	const struct sym *a, *b;
};
int view_seams(const struct graph *g, int node, struct view_seam seams[MAX_RANK]);

/* Whether a reshape needs no copy at the sizes of the capture, whatever symbols
 * may prove of others. */
bool view_at_hints(const struct graph *g, int node);

/* Whether the elements lie row by row, without gaps. */
bool view_contiguous(const struct graph *g, const struct view_layout *l);

/* Whether several elements are one in memory, as of x.expand(). */
bool view_repeats(const struct view_layout *l);

/* Strides of a shape that lies row by row; false when out of memory. */
bool view_row_major(const struct graph *g, const struct shape *s,
		    const struct sym *stride[MAX_RANK]);

/* The shape that a node's own memory has, and the strides there: of its own shape, row by row, but
 * for rows that lie apart, channels that lie last and nodes with an order (lay.h).  An input's are
 * those of a tensor that lies row by row.  A stride is NULL where memory ran out. */
struct shape view_memory(const struct graph *g, const struct node *n,
			 const struct sym *stride[MAX_RANK]);

#endif
