/* fusion/passes/fuse.h -- the state of pass fuse; private to fuse.c and
 * fuse_cost.c.
 */
#ifndef FUSION_PASSES_FUSE_H
#define FUSION_PASSES_FUSE_H

#include "fusion/base/arena.h"
#include "fusion/graph/domain.h"
#include "fusion/graph/graph.h"

enum {
	FUSE_MAX_NODES = 512, /* of one kernel: bounds compile time */
	FUSE_MAX_ROUNDS = 4,
};

/* Nodes that become one kernel; named by the id of its first producer. */
struct cluster {
	int *nodes; /* ascending */
	int n, cap; /* n is 0 once it was merged into another */
	struct domain domain;
	bool alone; /* library calls and fills: never fused */
	bool joins; /* reads several tensors as one: in no kernel that reduces */
};

struct fuse {
	const struct graph *g;
	struct arena scratch;
	int *group; /* node -> cluster, -1: none */
	struct cluster *clusters;
	struct place *places; /* by node: in its cluster's domain */
	int *base;            /* by node: where its elements lie; a node that is no view */
	/* Users of node i, and of views of it: uses[first_use[i] .. first_use[i+1]) */
	int *uses, *first_use;
	bool *is_output;
	int *seen, *stack; /* by cluster: for depends() */
	int epoch;
	int *merged; /* nodes of the merge under trial */
	int rounds;
	bool failed; /* out of memory */
};

/* Whether nodes[0..n), placed as cluster `a` of `domain`, make a kernel that is
 * correct to store from and not slower than two. */
bool fuse_pays(const struct fuse *f, int a, const struct domain *domain, const int *nodes, int n);

#endif
