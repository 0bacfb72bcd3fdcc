/* fusion/backends/lookup.h -- what gather, x[i] and scatter walk over.
 *
 * bind() of these ops leaves a struct lookup as the call's state: library_index.c
 * walks it on the host, cuda/index.c has a kernel walk it.  Private to backends/.
 */
#ifndef FUSION_BACKENDS_LOOKUP_H
#define FUSION_BACKENDS_LOOKUP_H

#include "fusion/backends/library.h"

enum { MAX_WALKED = 5 };

/* A walk over a space with some operands' offsets. */
struct odometer {
	int rank, n;
	int64_t size[MAX_RANK], index[MAX_RANK];
	int64_t stride[MAX_WALKED][MAX_RANK], at[MAX_WALKED];
};

/* What an index op does, made ready by bind(). */
struct lookup {
	struct odometer walk; /* 0: the source's strides, 1: the target's, 2..: the indices' */
	int64_t points, run;  /* run: points at the end for which the indices are the same */
	int n;                /* indices */
	int64_t least[3];     /* that each may be; below 0: counts from the end of its dim */
	int64_t size[3], stride[3]; /* of the dims that they name */
	bool writes;                /* the indices are places of the target, else of the source */
	const struct operand *index[3], *from, *to;
};

#endif
