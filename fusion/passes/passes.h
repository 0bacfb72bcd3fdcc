/* fusion/passes/passes.h -- the list of passes, and the pass manager.
 *
 * passes.def gives order, purpose, needs and effects of each; one file a pass.
 * A list is data: plugins put passes of their own between these, and an order in
 * which a pass does not find what it needs is refused before anything runs.  In
 * debug and test builds graph_verify() runs after every one.
 *
 * Nothing is kept of what a pass did, since compile time is a feature.  Who
 * wants to see it runs the passes again over a copy, with a log (passes_watch()).
 */
#ifndef FUSION_PASSES_PASSES_H
#define FUSION_PASSES_PASSES_H

#include <stdbool.h>

#include "fusion/base/arena.h"
#include "fusion/base/err.h"
#include "fusion/base/vec.h"
#include "fusion/graph/graph.h"

/* What may hold of a graph: a bit each, in the order of passes.def. */
enum pass_property_id {
#define PROPERTY(id, text) PROPERTY_##id,
#define PASS(...)
#include "fusion/passes/passes.def"
#undef PROPERTY
#undef PASS
	PROPERTY_COUNT
};

struct pass_property {
	const char *name; /* "primitive" */
	const char *text; /* "no op that is made of others is left" */
};
const struct pass_property *pass_property(int index);

struct pass_run; /* pass.h */

/* What a pass is: changes the graph of the run in place, says whether it did.  false
 * with *err when memory is out or an invariant is broken; the graph is then not to be used. */
typedef bool pass_fn(struct pass_run *run, bool *changed, struct err *err);

/* A row of passes.def, or a plugin's pass. */
struct pass_info {
	const char *name;              /* "cse" */
	const char *purpose;           /* one line for people */
	unsigned needs, makes, breaks; /* bits of properties */
	const char *after;             /* names of passes, by blanks: they come before it */
	const char *plugin;            /* whose it is; NULL: ours */
	pass_fn *run;
	void *data; /* the plugin's own */
};

enum { MAX_PASSES = 48 };

struct pass_list {
	struct pass_info passes[MAX_PASSES]; /* in the order of execution */
	int n;
	uint64_t required; /* bit i: others need what pass i makes */
};

/* passes.def.  Immutable, thread-safe. */
const struct pass_list *pass_list_default(void);

/* Puts a pass before (or, with `after`, after) the one named `place`; strings
 * are borrowed.  False with NAME (taken, or no such place, with the nearest) or
 * PASS_ORDER, and the list as it was: the order would not satisfy a need. */
bool pass_list_insert(struct pass_list *list, const struct pass_info *pass, const char *place,
		      bool after, struct err *err);

/* Whether the order satisfies every need, that of the lowering too, where the
 * passes of `disabled` are left out.  PASS_ORDER names both passes and the
 * property. */
bool pass_list_check(const struct pass_list *list, uint64_t disabled, struct err *err);

/* Index by name, or by a name that the pass had before (passes.def); -1: none. */
int pass_list_find(const struct pass_list *list, const char *name);

/* Sets the bit of the pass `name`.  NAME, with the nearest, or PASS_ORDER for one
 * that others need. */
bool pass_list_disable(const struct pass_list *list, const char *name, uint64_t *disabled,
		       struct err *err);

struct pass_options {
	const struct pass_list *list; /* NULL: pass_list_default() */
	uint64_t disabled;            /* bit i: pass i is left out, if it can be */
	bool verify;                  /* check the graph after every pass */
	bool no_fusion;               /* one group a node: what eager does for an op */
	bool calls;                   /* the device has those of pass pattern_match */
	/* By input: the caller gives it up, so that its memory is free after the last
	 * kernel that reads it.  NULL: none is. */
	const bool *given_up;
};

struct pass_result {
	struct graph *graph; /* the input graph, changed in place and compacted */
	int *group;          /* group[node id]: its kernel, numbered in an order in
			      * which every producer's group is not later; -1 for
			      * inputs, constants and views */
	int n_groups;
	const char **why; /* of each group, a sentence: why it is a kernel of its own */
	bool *changed;    /* per pass: whether it changed anything */
};

/* Runs the list over g.  Results live in g's arena.  false with *err: an
 * invariant was broken (INTERNAL, or PLUGIN with the plugin's pass) or memory is
 * out. */
bool passes_run(struct graph *g, const struct pass_options *options, struct pass_result *out,
		struct err *err);

/* Where a rule fired. */
struct pass_firing {
	const char *rule; /* "x * 1 is x" */
	const char *node; /* name of what it was applied to */
	const char *with; /* name of what replaces it, or is in its kernel; NULL */
	int line, column; /* in the user's source; 0: nowhere */
};

struct pass_step {
	const char *name;
	const char *plugin; /* NULL: ours */
	bool off, changed;
	int n_nodes; /* after it */
	int64_t ns;
	const char *after; /* the graph after it, as graph_print() has it; NULL: not
			    * changed, or left out */
	VEC(struct pass_firing) firings;
	int64_t firings_left_out;
};

/* What each pass did to a graph, bounded.  A zeroed log with its bounds set is
 * ready. */
struct pass_log {
	size_t max_bytes; /* of texts of graphs */
	int max_firings;  /* of a step */
	struct arena arena;
	const char *before; /* the graph as it came; NULL: left out */
	int n_nodes;        /* in it */
	struct pass_step steps[MAX_PASSES];
	int n;
	size_t bytes;          /* of the texts that are kept */
	size_t left_out_bytes; /* of those that are not */
	struct pass_step *at;  /* while a pass runs */
	bool failed;           /* out of memory */
};

/* For passes that come from outside: what pass_info.run of one may call.  `visit` is
 * given the pass that runs, and asked for each node but inputs, in order; n's arguments are
 * already what replaced them in g, where it may add nodes; n itself is not in g yet.  It
 * answers the id that replaces n, PASS_KEEP, or PASS_FAILED with *err. */
enum { PASS_FAILED = -1, PASS_KEEP = -2 };
typedef int pass_visit_fn(const struct pass_info *pass, struct graph *g, const struct node *n,
			  struct err *err);
bool pass_visit_all(struct pass_run *run, pass_visit_fn *visit, bool *changed, struct err *err);

/* Notes that `rule` is applied to n; `with` (NULL: none) is what replaces it, or
 * what it goes together with.  Nothing happens where nobody watches. */
void pass_note(struct graph *g, const char *rule, const struct node *n, const struct node *with);
static inline void pass_fired(struct graph *g, const char *rule, const struct node *n,
			      const struct node *with)
{
	if (__builtin_expect(g->log != NULL, 0))
		pass_note(g, rule, n, with);
}

/* passes_run(), noting what each pass does; slower by the printing.  The log is
 * the caller's to finish, also after a failure. */
bool passes_watch(struct graph *g, const struct pass_options *options, struct pass_log *log,
		  struct err *err);
void pass_log_finish(struct pass_log *log); /* zeroed is fine */

/* Pass decompose alone, for who wants to see what composites are made of.  Inputs
 * and outputs keep their places. */
bool passes_decompose(struct graph *g, struct err *err);

#endif
