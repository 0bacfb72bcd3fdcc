/* fusion/graph/sympoly.h -- between sym.c and sympoly.c; private to them. */
#ifndef FUSION_GRAPH_SYMPOLY_H
#define FUSION_GRAPH_SYMPOLY_H

#include "fusion/graph/sym.h"

/* The expression with exactly these members; the caller has made them
 * canonical.  NULL when out of memory or past SYM_MAX_NODES. */
const struct sym *sym_intern(struct symtab *t, enum sym_kind kind, int64_t value,
			     const struct sym *a, const struct sym *b);

/* The lower bound that follows from the members' bounds. */
int64_t sym_lower_bound(const struct sym *s);

/* Python's // and %; 0 where b is 0. */
int64_t int_floordiv(int64_t a, int64_t b);
int64_t int_mod(int64_t a, int64_t b);

#endif
