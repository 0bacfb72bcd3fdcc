/* fusion/graph/domain.h -- the iteration space that several nodes can share.
 *
 * A kernel walks one space.  Each of its nodes lies in it: dim d of the node is
 * dim map[d] of the space.  Two frames occur: a value aligned to the space as
 * broadcasting aligns it (from the right), and a value aligned to what is left
 * of the space without the reduced dims, as `x.mean(1)` and its consumers are.
 * Shared by pass fuse, which asks whether nodes fit, and by lower/, which needs
 * to know how.  Thread-safe: nothing here writes to a graph.
 */
#ifndef FUSION_GRAPH_DOMAIN_H
#define FUSION_GRAPH_DOMAIN_H

#include "fusion/graph/graph.h"

/* The most stages (walks over one row) that a kernel may have. */
enum { DOMAIN_MAX_STAGES = 8 };

struct domain {
	struct shape full;
	uint32_t reduced; /* bit d: dim d is reduced; never a dim of size 1 */
	bool reduces;     /* has a reduction; else every dim is parallel */
	bool squeezed;    /* where both frames fit a value, it is the one without `reduced` */
};

struct domain_place {
	int8_t map[MAX_RANK]; /* node's dim -> dim of the domain; -1: size 1 */
	bool row;             /* one value for a row, else one for each point */
	/* A point value: the first stage that can compute it.  A row value: the
	 * stage whose end yields it, -1 where it depends on no reduction. */
	int stage;
};

/* Whether `small` broadcasts to exactly `big`. */
bool domain_shape_fits(const struct shape *small, const struct shape *big);

/* The bits of dims whose size is not the constant 1. */
uint32_t domain_varying_dims(const struct shape *s);

/* Whether the node is a search that a kernel of a GPU answers while it walks, as a reduction: of
 * floats of at most 32 bits, whose order and place fit into one word. */
static inline bool domain_searches(const struct graph *g, const struct node *n)
{
	const struct node *x = op_is_search(n->op) ? g->nodes[n->args[0].node] : NULL;

	return x && (x->dtype == DTYPE_F32 || x->dtype == DTYPE_F16 || x->dtype == DTYPE_BF16) &&
	       (node_reduced(g, n) & domain_varying_dims(&x->shape)) != 0;
}

/* The space of some nodes (pointwise and reductions): that of the reductions'
 * operand, else the largest shape.  false when they have no common one. */
bool domain_find(const struct graph *g, const int *nodes, int n, struct domain *out);

/* Nodes of a graph; ids ascend.  A node u belongs to the set if member[u] == stamp. */
struct domain_set {
	const struct graph *g;
	const int *nodes;
	int n;
	const int *member;
	int stamp;
};

/* Places nodes[from..n) of the set in `domain`; those before `from` are placed
 * already.  places[] is indexed by node id.  false when one does not fit: then
 * entries of nodes[from..n) are undefined.  With from == 0 it chooses
 * domain->squeezed. */
bool domain_place(const struct domain_set *set, struct domain *domain, int from,
		  struct domain_place *places);

/* Where a value outside the set lies that `consumer` reads as an operand. */
void domain_place_operand(const struct node *consumer, const struct domain_place *at,
			  const struct node *operand, int8_t map[MAX_RANK]);

/* The bits of the domain's dims along which a placed value varies. */
uint32_t domain_place_dims(const struct node *n, const int8_t map[MAX_RANK]);

#endif
