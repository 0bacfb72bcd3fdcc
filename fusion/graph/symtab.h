/* fusion/graph/symtab.h -- the table of sym.c, as symreal.c and symprint.c see it; private to them.
 */
#ifndef FUSION_GRAPH_SYMTAB_H
#define FUSION_GRAPH_SYMTAB_H

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

struct symtab {
	struct arena *arena;
	const struct sym **slots; /* open addressing, a power of two */
	size_t cap, len;
	const struct sym **vars;
	int64_t *hints;
	int n_vars, cap_vars;
	struct symreal_table reals;
};

/* Of a SYM_WHOLE. */
static inline enum symreal_whole symreal_way(const struct sym *s)
{
	return (enum symreal_whole)(s->value & 3);
}
int64_t symreal_eval_whole(const struct sym *s, const int64_t *vars);
const char *symreal_function_name(int function);

#endif
