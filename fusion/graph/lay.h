/* fusion/graph/lay.h -- in which order PyTorch lays a result in memory.
 *
 * Nodes are computed row by row.  In PyTorch the result of an op on elements lies as its
 * operands do, that of a convolution with its channels last where theirs are: what x.stride(),
 * x.is_contiguous() and x.view() say depends on it.  While a program is captured or traced, a node
 * has that ORDER, and what leaves the graph lies so; kernels know nothing of it.
 */
#ifndef FUSION_GRAPH_LAY_H
#define FUSION_GRAPH_LAY_H

#include "fusion/graph/graph.h"

/* An order is a dim for each place, the outermost first, 4 bits each and 1 more than the dim;
 * 0: row by row. */
static inline int lay_dim(uint32_t order, int place)
{
	return (int)(order >> (4 * place) & 15) - 1;
}

/* Gives a node that is no view the order that its op and what it reads make. */
void graph_lay(struct graph *g, int node);

/* Gives node `to`, which has the sizes of `from`, the order in which that one lies. */
void graph_lay_as(struct graph *g, int to, int from);

/* From now on outputs of g that have an order are computed as their memory is, dim after dim.
 * False when out of memory.  `orders`: of outputs 0..n. */
bool graph_lay_outputs(struct graph *g, const uint32_t *orders, int n);

#endif
