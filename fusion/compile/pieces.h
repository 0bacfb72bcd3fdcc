/* fusion/compile/pieces.h -- private to compile/: an exec that runs in pieces.
 *
 * Its exec->parts is not NULL: each piece of that partition has an exec of its own.
 */
#ifndef FUSION_COMPILE_PIECES_H
#define FUSION_COMPILE_PIECES_H

#include "fusion/compile/partition.h"

/* An exec of pieces that have theirs: the kernels of all in one list; NULL when out of memory. */
struct exec *pieces_join(const struct compile_options *options, struct graph *g,
			 struct partition *p, struct arena *arena);

/* exec_run() of such an exec. */
bool pieces_run(struct exec *e, const struct exec_call *call, struct err *err);

/* NULL is fine */
static inline void pieces_destroy(struct partition *p)
{
	for (int i = 0; p && i < p->n_pieces; i++)
		exec_destroy(p->pieces[i].exec);
}

#endif
