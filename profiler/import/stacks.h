/* profiler/import/stacks.h -- private: the stacks of a compile log, as one trie.
 *
 * Frames that were compiled are called from few places: a stack is the path from a node to the
 * root, and stacks that begin alike share their nodes.
 */
#ifndef PROFILER_IMPORT_STACKS_H
#define PROFILER_IMPORT_STACKS_H

#include <jansson.h>

enum { STACKS_MAX = 20000, STACKS_MAX_DEPTH = 1000 }; /* nodes; frames of a stack */

/* Zeroed is empty. */
struct stacks {
	json_t *nodes; /* a list of {"parent": its place in the list, -1: none, "function", "file",
			* "line", "code"} */
	json_t *known; /* {what tells a node: its place} */
};

static inline void stacks_finish(struct stacks *s)
{
	json_decref(s->nodes);
	json_decref(s->known);
}

/* The node where a stack ends, new where it is not known; `stack` is a list of {"line", "name",
 * "filename": a text, "loc"}, outermost first, without what Dynamo adds at its end.  -1: there is
 * no frame, or there are too many nodes. */
int stacks_add(struct stacks *s, const json_t *stack);

#endif
