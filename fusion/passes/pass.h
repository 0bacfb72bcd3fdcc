/* fusion/passes/pass.h -- what the files of this folder share; private to it.
 *
 * A pass that changes nodes walks the graph once with rewrite_run(): the nodes
 * come in order, their arguments already rewired, and the pass says which node
 * of the new list replaces each.  So ids ascend at all times and nothing has
 * to be compacted.
 */
#ifndef FUSION_PASSES_PASS_H
#define FUSION_PASSES_PASS_H

#include "fusion/passes/passes.h"

/* What a pass works on. */
struct pass_run {
	struct graph *g;
	const struct pass_info *self; /* the pass that runs */
	const struct pass_options *options;
	struct pass_result *out;
	const struct pass_list *list;
	const struct pass_origin *origins; /* by output */
	bool no_fusion;
};

/* An output as the program made it: an id of the graph as it was, its type. */
struct pass_origin {
	int id;
	enum op_kind kind;
	enum dtype dtype;
	struct shape shape;
};

/* pass_<id>() of each row of passes.def. */
#define PROPERTY(id, text)
#define PASS(id, ...) pass_fn pass_##id;
#include "fusion/passes/passes.def"
#undef PROPERTY
#undef PASS

/* Whether each output has memory of its own; if not, *output is one that has none. */
bool pass_outputs_hold(const struct graph *g, const struct pass_origin *origins, int *output);

/* For fuse: the place of each of `n` groups in the order that holds the least
 * memory; group[node id] is its number in an order that is right.  False when out
 * of memory. */
bool order_groups(struct graph *g, const bool *given_up, const int *group, int n, int *place);

/* What a rewrite_fn answers beside the id of a node in the new list. */
enum {
	REWRITE_FAILED = -1, /* *err is set */
	REWRITE_KEEP = -2,   /* the node goes on as it is */
	REWRITE_DROP = -3,   /* nothing reads it */
};

struct rewrite {
	struct graph *g; /* g->nodes is the new list */
	void *state;     /* the pass's own */
	bool changed;    /* a pass that edits a node and keeps it sets this */
};

/* n->args are ids of the new list, n->id is of the old one. */
typedef int rewrite_fn(struct rewrite *rw, struct node *n, struct err *err);

/* Calls `fn` for every node but inputs, which stay.  Rewires the outputs. */
bool rewrite_run(struct graph *g, rewrite_fn *fn, void *state, bool *changed, struct err *err);

/* Always false. */
static inline bool pass_out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while optimising a graph");
}

#endif
