/* fusion/passes/passes.h -- the list of passes, and the pass manager.
 *
 * passes.def gives order, name and purpose of each; one file a pass.  In debug
 * and test builds graph_verify() runs after every one.
 */
#ifndef FUSION_PASSES_PASSES_H
#define FUSION_PASSES_PASSES_H

#include <stdbool.h>

#include "fusion/base/arena.h"
#include "fusion/base/err.h"
#include "fusion/graph/graph.h"

struct pass_info {
	const char *name;    /* "cse" */
	const char *purpose; /* one line for people */
};

/* The table, in the order of execution. */
int passes_count(void);
const struct pass_info *passes_info(int index);

struct pass_options {
	uint64_t disabled; /* bit i: pass i is left out (decompose, views and fuse never are) */
	bool verify;       /* check the graph after every pass */
	bool no_fusion;    /* one group a node: what eager does for an op */
};

struct pass_result {
	struct graph *graph; /* the input graph, changed in place and compacted */
	int *group;          /* group[node id]: its kernel, numbered in an order in
			      * which every producer's group is not later; -1 for
			      * inputs, constants and views */
	int n_groups;
	bool *changed; /* per pass: whether it changed anything */
};

/* Runs the table over g.  Results live in g's arena.  false with *err: an
 * invariant was broken (INTERNAL) or memory is out. */
bool passes_run(struct graph *g, const struct pass_options *options, struct pass_result *out,
		struct err *err);

#endif
