/* fusion/graph/loop.h -- a loop whose test is a tensor, as nodes of a graph.
 *
 *   %c = loop_carried(%x)           the body's place for what goes round
 *   ...                             the body, once; only the loop's own graph computes it
 *   %o = loop_operands(%x, %y)      x goes round, y is only read
 *   %w = while_loop(%condition, %o)
 *   %r = loop_result(%w, 0)         what x is after the loop
 *
 * The condition is a bool of no dims: whether there is a first round.  The body's
 * own graph has the operands as inputs; its outputs are whether there is another
 * round, and then what each carried operand is in that one.
 */
#ifndef FUSION_GRAPH_LOOP_H
#define FUSION_GRAPH_LOOP_H

#include "fusion/graph/graph.h"

struct loop {
	const struct graph *body;
	int n_carried;    /* the first operands */
	const int *reads; /* by input of the body: its operand */
	/* By input of the body: the name, in the graph that the loop was captured in, of the node
	 * whose value it has.  Nodes of the body have the names that they have there. */
	const char *const *names;
};

/* Adds loop_operands nodes for n > 0 of them; the first one's id, or -1. */
int loop_operands(struct graph *g, const int *nodes, int n, int line, int column, struct err *err);

/* The node of one operand; -1 where there is none. */
int loop_operand(const struct graph *g, const struct node *loop, int index);

/* The operands of a loop in order, into `out` (NULL: only counted). */
int loop_operand_list(const struct graph *g, const struct node *loop, int *out);

#endif
