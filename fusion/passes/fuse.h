/* fusion/passes/fuse.h -- the state of pass fuse; private to fuse*.c. */
#ifndef FUSION_PASSES_FUSE_H
#define FUSION_PASSES_FUSE_H

#include "fusion/base/arena.h"
#include "fusion/graph/domain.h"
#include "fusion/graph/graph.h"

enum {
	FUSE_MAX_NODES = 512, /* of one kernel: bounds compile time */
	FUSE_MAX_ROUNDS = 4,
	/* Costs, in cheap ops on one element that is in the first cache: about 0.03 ns.
	 * tests/bench/bench_fusion.c on AVX2: 10 sines on 2^20 elements take 4.4 ns an
	 * element; 10 kernels on 16 elements 207 ns, and the one they make 23 ns. */
	UNITS_HEAVY = 15,    /* one transcendental, root or quotient */
	UNITS_LAUNCH = 1000, /* one kernel more: launch, buffer, lost locality */
	/* Kernels of no more points share a launch though they share no value.  Past
	 * that a launch is less than a third of the work, and what the first of them
	 * read would be held for the last. */
	FEW_POINTS = 2048,
	SIBLING_TRIES = 4,
	SMALL_REST = 4, /* bytes of an element of which a bool is little */
};

/* Nodes that become one kernel; named by the id of its first producer. */
struct cluster {
	int *nodes; /* ascending */
	int n, cap; /* n is 0 once it was merged into another */
	struct domain domain;
	bool alone;  /* library calls, fills, masks that free what they are made of: never fused */
	int product; /* a product of matrices that it begins with, see lower.h; else -1 */
	bool joins;  /* reads several tensors as one: in no kernel that reduces */
	bool last;   /* its channels lie last: in no kernel that reduces, or joins */
	bool looks_up; /* reads what indices name: in no kernel that begins with a product */
	bool scans;    /* makes a running sum on its way: the same, and there is one */
	int repeats;   /* a product that is alone since so many operands after it repeat; 0 */
};

struct fuse {
	const struct graph *g;
	const bool *given_up; /* by input, see passes.h; NULL */
	struct arena scratch;
	int *group; /* node -> cluster, -1: none */
	struct cluster *clusters;
	struct domain_place *places; /* by node: in its cluster's domain */
	int *base;                   /* by node: where its elements lie; a node that is no view */
	/* Users of node i, and of views of it: uses[first_use[i] .. first_use[i+1]) */
	int *uses, *first_use;
	bool *is_output;
	int *seen, *stack; /* by cluster: for depends() */
	int epoch;
	int *merged; /* nodes of the merge under trial */
	int rounds;
	bool calls;  /* the device has calls of its own: a GPU, whose blocks share no row of several
			walks */
	bool off;    /* every node its own kernel */
	bool failed; /* out of memory */
};

/* What keeps two clusters apart. */
enum fuse_limit {
	LIMIT_NONE,
	LIMIT_ALONE,     /* one is a library call, or a fill that memory needs */
	LIMIT_PRODUCT,   /* `node`, a product of matrices, is not what the kernel can begin with */
	LIMIT_WHOLE_ROW, /* a product's blocks would be `count` columns, all of them */
	LIMIT_JOIN,      /* a join in a kernel that reduces, or out of step with the walk */
	LIMIT_MEMORY,    /* one reads the other's result through a view */
	LIMIT_ORDER,     /* a third kernel lies between */
	LIMIT_SPACE,     /* no iteration space holds both */
	LIMIT_STORED,    /* `node` is stored, and smaller than the walk would be */
	LIMIT_RECOMPUTE, /* `node` would be computed `count` times for each element */
	LIMIT_LONG_ROW,  /* all threads share a row of `count` points: one walk only */
	LIMIT_NODES,     /* bounds of a kernel: `count` is what there would be */
	LIMIT_ACCESSES,
	LIMIT_REDUCTIONS,
	LIMIT_LIVE,
};

struct fuse_verdict {
	enum fuse_limit limit;
	int node;
	/* units: the cost of what is computed again; WHOLE_ROW: the rows */
	double count, units;
};

/* fuse_cost.c: whether clusters a and b, now f->merged[0..n) placed as cluster a of
 * `domain`, make a kernel that is correct to store from and not slower than two.  If
 * not, *why. */
bool fuse_pays(const struct fuse *f, int a, int b, const struct domain *domain, int n,
	       struct fuse_verdict *why);

/* fuse_cost.c: how many operands of the ops after a product repeat along the last
 * dim, if they make it cheaper to do these ops in a kernel of their own; else 0. */
int fuse_product_repeats(const struct fuse *f, const struct node *product);

/* fuse.c: why b, which reads from a, is not one kernel with it. */
struct fuse_verdict fuse_verdict_of(struct fuse *f, int a, int b);

/* The cluster that makes the elements of argument k; -1: none does. */
static inline int fuse_producer(const struct fuse *f, const struct node *n, int k)
{
	return n->args[k].kind == ARG_NODE ? f->group[f->base[n->args[k].node]] : -1;
}

/* fuse_why.c: for each cluster that is left a sentence in the graph's arena, by
 * number[cluster].  NULL: out of memory. */
const char **fuse_why(struct fuse *f, const int *number, int n_groups);

#endif
