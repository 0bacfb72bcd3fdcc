/* fusion/graph/sym.h -- symbolic integers: the sizes of a graph.
 *
 * A size is a constant, or an expression over symbols (s0, s1, ...), each
 * bound to one dimension of one input when a graph is called.  Expressions are
 * kept in a canonical form (sums of products, multiplied out) and interned per
 * table, so equal ones are the same pointer and `a == b` is a proof of equality
 * (not the other way round): s0 + 1 + s0 is 2*s0 + 1.
 *
 * A symbol made by sym_var() is at least 2.  Sizes 0 and 1 are never symbols:
 * they broadcast, or are empty, and capture specialises to them by a guard.
 */
#ifndef FUSION_GRAPH_SYM_H
#define FUSION_GRAPH_SYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/buf.h"

enum sym_kind {
	SYM_CONST,
	SYM_VAR,
	SYM_ADD,
	SYM_MUL,
	SYM_FLOORDIV,
	SYM_MOD,
	SYM_MAX,
	SYM_MIN,
	SYM_WHOLE /* an int made of a float: symreal.h */
};

struct symreal;

/* Immutable.  Read `kind` and the members that belong to it; make new ones
 * with the functions below alone. */
struct sym {
	enum sym_kind kind;
	int64_t value; /* SYM_CONST: the number; SYM_VAR: the symbol's index */
	const struct sym *a, *b;
	const struct symreal *real; /* SYM_WHOLE */
	int64_t lower;              /* proved: never below it; INT64_MIN: nothing is known */
	int nodes;                  /* of the expression written out */
};

/* An expression has no more nodes than this, so that a program that keeps
 * multiplying sizes cannot grow one without end. */
enum { SYM_MAX_NODES = 512 };

struct symtab; /* interns expressions; lives in an arena */

struct symtab *symtab_create(struct arena *arena);

const struct sym *sym_const(struct symtab *t, int64_t value);

/* A new symbol, never below `lower`; `hint` is the number at capture, for printing and
 * heuristics. */
const struct sym *sym_var_from(struct symtab *t, int64_t hint, int64_t lower);

/* One that is a size. */
static inline const struct sym *sym_var(struct symtab *t, int64_t hint)
{
	return sym_var_from(t, hint, 2);
}

/* The symbol of an index below sym_var_count(). */
const struct sym *sym_var_at(const struct symtab *t, int index);
int sym_var_count(const struct symtab *t);
int64_t sym_var_hint(const struct symtab *t, int index);

/* Arithmetic folds constants and simplifies (x+0, x*1, x*0, (x*y)//y, ...).
 * Division and remainder round down, as Python's; by 0 both are 0 (whoever
 * takes them from a program refuses a zero divisor first).  NULL when out of
 * memory or past SYM_MAX_NODES; NULL as an operand gives NULL. */
const struct sym *sym_add(struct symtab *t, const struct sym *a, const struct sym *b);
const struct sym *sym_sub(struct symtab *t, const struct sym *a, const struct sym *b);
const struct sym *sym_mul(struct symtab *t, const struct sym *a, const struct sym *b);
const struct sym *sym_floordiv(struct symtab *t, const struct sym *a, const struct sym *b);
const struct sym *sym_mod(struct symtab *t, const struct sym *a, const struct sym *b);
const struct sym *sym_max(struct symtab *t, const struct sym *a, const struct sym *b);
const struct sym *sym_min(struct symtab *t, const struct sym *a, const struct sym *b);

static inline bool sym_is_const(const struct sym *s)
{
	return s->kind == SYM_CONST;
}
static inline bool sym_is(const struct sym *s, int64_t value)
{
	return s->kind == SYM_CONST && s->value == value;
}

/* The value under given symbols; `vars` has sym_var_count() entries.
 * Overflow saturates at INT64_MAX, so that a bound check still catches it. */
int64_t sym_eval(const struct sym *s, const int64_t *vars);

/* Whether no step of that passes 64 bits. */
bool sym_fits(const struct sym *s, const int64_t *vars);
bool sym_hint_fits(const struct symtab *t, const struct sym *s);

/* Whether a symbol of it is a number, not a size: it has no lower bound. */
bool sym_has_number(const struct sym *s);

/* The value at the hints of the capture. */
int64_t sym_hint(const struct symtab *t, const struct sym *s);

/* Whether a >= b whatever the symbols are; false where it is not known. */
bool sym_at_least(struct symtab *t, const struct sym *a, const struct sym *b);

/* Rebuilds an expression of one table in another, which has the same symbols. */
const struct sym *sym_copy(struct symtab *to, const struct sym *s);

/* Calls visit() for each symbol in the expression, as often as it is there. */
void sym_each_var(const struct sym *s, void (*visit)(void *self, int var), void *self);
void symreal_each_var(const struct symreal *r, void (*visit)(void *self, int var), void *self);

/* How symbols are called in a text; NULL: s0, s1, ... */
struct sym_namer {
	void *self;
	void (*name)(void *self, struct buf *out, int var);
};

/* "(s0*s1 + s0)//2", as a person writes it. */
void sym_print_named(struct buf *out, const struct sym *s, const struct sym_namer *namer);

static inline void sym_print(struct buf *out, const struct sym *s)
{
	sym_print_named(out, s, NULL);
}

#endif
