/* fusion/compile/watch.h -- what the passes did to a graph that was compiled.
 *
 * Compiling keeps nothing of it.  Whoever wants to see it has the passes run again,
 * over a copy of the graph as it was: they are the same and so is what they do.
 */
#ifndef FUSION_COMPILE_WATCH_H
#define FUSION_COMPILE_WATCH_H

#include "fusion/base/vec.h"
#include "fusion/passes/passes.h"

struct exec;

/* A graph may be run in parts: lowered pieces, bodies of loops, a forward and a
 * backward part. */
struct watched_part {
	const char *name; /* "" where there is one, else "piece 0", "backward", ... */
	const char *loop; /* the while_loop whose body it is or is of; NULL: it is of none */
	/* What its inputs and outputs are in the graph that is run in parts: names of nodes. */
	const char **takes, **gives;
	int n_takes, n_gives;
	int first_kernel, n_kernels; /* of those of the whole */
	struct pass_log log;
};

/* Zeroed with its bound set, it is ready. */
struct watched {
	size_t max_bytes; /* of texts of graphs, in all parts */
	VEC(struct watched_part) parts;
	struct arena arena;
	size_t bytes; /* of the texts that are kept */
};

/* Adds the parts of `e`, which was made of `source` (as it was before the passes).
 * False with MEMORY, or what a pass failed with. */
bool watch_exec(struct watched *w, const struct exec *e, const struct graph *source,
		const char *name, struct err *err);

/* zeroed is fine */
static inline void watched_finish(struct watched *w)
{
	for (size_t i = 0; i < w->parts.len; i++)
		pass_log_finish(&w->parts.at[i].log);
	VEC_FREE(&w->parts);
	arena_finish(&w->arena);
	memset(w, 0, sizeof(*w));
}

#endif
