/* profiler/layout/groups.h -- what the nodes of a graph are part of: modules within each other,
 * loops in the module whose call they are, and kernels.  Exports and the page (POST /api/v1/groups)
 * draw what it says.
 *
 * A module that is called again, with something else in between, is another group: none reads,
 * by way of others, what it made itself.  A kernel is in the innermost group that holds all of
 * its nodes, and holds what is left of their own.  What is given (inputs, constants) is in the
 * innermost module of all that read it, outside of loops and kernels: it comes once.
 *
 * Thread-safe. */
#ifndef PROFILER_LAYOUT_GROUPS_H
#define PROFILER_LAYOUT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/vec.h"

enum { GROUPS_MAX_KERNEL = 1000000 };

enum node_group_kind { GROUP_MODULE, GROUP_LOOP, GROUP_KERNEL };

struct grouped_node {
	const char *module; /* whose call it is part of, "Net/head:Linear"; "": none */
	int loop;           /* the innermost; -1: none */
	int kernel;         /* 0 to GROUPS_MAX_KERNEL; -1: none */
	bool given;         /* nothing is computed for it */
};

struct grouped_loop {
	int node;   /* that it is; -1: not there */
	int parent; /* the loop around it; -1: none */
	int line;
};

struct grouped_read {
	int from, to; /* nodes */
};

/* Borrowed. */
struct grouped_graph {
	const struct grouped_node *nodes; /* in the order in which they run */
	const struct grouped_loop *loops;
	const struct grouped_read *reads;
	size_t n_nodes, n_loops, n_reads;
	const char *const *kernel_names; /* added to their titles */
	size_t n_kernel_names;
};

/* Groups come after those that they are in. */
struct node_group {
	enum node_group_kind kind;
	int parent;  /* -1 */
	int number;  /* of the loop or kernel; of a module the call of its path, from 1 */
	char *title; /* "head Linear", "while loop, line 12", "k3" */
	char *path;  /* of a module and a loop: of those that it is in too, each once; else NULL */
};

struct node_groups {
	VEC(struct node_group) all;
	int *of; /* of each node: the innermost; -1: none */
};

enum { GROUP_BY_MODULE = 1, GROUP_BY_KERNEL = 2 }; /* loops are there in any case */

/* False when out of memory; finish in any case. */
bool groups_make(const struct grouped_graph *graph, int by, struct node_groups *out);
void groups_finish(struct node_groups *groups);

/* "module", "loop", "kernel". */
static inline const char *group_kind_name(enum node_group_kind kind)
{
	return kind == GROUP_MODULE ? "module" : kind == GROUP_LOOP ? "loop" : "kernel";
}

#endif
