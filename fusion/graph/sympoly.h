/* fusion/graph/sympoly.h -- between sym.c, sympoly.c and symreal.c; private to them. */
#ifndef FUSION_GRAPH_SYMPOLY_H
#define FUSION_GRAPH_SYMPOLY_H

#include "fusion/graph/symreal.h"

/* The expression with exactly these members; the caller has made them
 * canonical.  NULL when out of memory or past SYM_MAX_NODES. */
const struct sym *sym_intern(struct symtab *t, enum sym_kind kind, int64_t value,
			     const struct sym *a, const struct sym *b);

/* The floats of a table, by hash. */
enum { REAL_BUCKETS = 64 };
struct symreal_entry {
	struct symreal real;
	const struct sym *whole[WHOLE_ROUND + 1]; /* ints made of it, once asked for */
	struct symreal_entry *next;
};
struct symreal_table {
	struct symreal_entry *buckets[REAL_BUCKETS];
	int n;
};
struct symreal_table *sym_reals(struct symtab *t);
struct arena *sym_arena(struct symtab *t);
const int64_t *sym_hints(const struct symtab *t);

/* Of a SYM_WHOLE. */
static inline enum symreal_whole symreal_way(const struct sym *s)
{
	return (enum symreal_whole)(s->value & 3);
}
int64_t symreal_eval_whole(const struct sym *s, const int64_t *vars);
const char *symreal_function_name(int function);

/* The lower bound that follows from the members' bounds. */
int64_t sym_lower_bound(const struct sym *s);

/* Python's // and %; 0 where b is 0. */
int64_t int_floordiv(int64_t a, int64_t b);
int64_t int_mod(int64_t a, int64_t b);

#endif
