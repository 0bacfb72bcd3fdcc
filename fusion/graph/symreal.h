/* fusion/graph/symreal.h -- symbolic floats: what a program computes of sizes and of
 * floats that it is given (math.sqrt(n), n / k, scale * 2).
 *
 * An expression over symbols, interned per table as sizes are (equal ones are
 * the same pointer), but not simplified: floats are neither associative nor
 * exact, and the value has to be Python's to the last bit.  A float of the call
 * is a symbol too; its value among the symbols' is its bits.
 *
 * Whoever builds one asks symreal_may_fail(): there Python may raise for other
 * values of the symbols, and the result is not finite then.
 */
#ifndef FUSION_GRAPH_SYMREAL_H
#define FUSION_GRAPH_SYMREAL_H

#include <string.h>

#include "fusion/graph/sym.h"

enum symreal_kind {
	REAL_CONST,
	REAL_VAR,   /* a float of the call */
	REAL_INT,   /* float(x) */
	REAL_RATIO, /* x / y of ints */
	REAL_ADD,
	REAL_SUB,
	REAL_MUL,
	REAL_DIV,
	REAL_FLOORDIV,
	REAL_MOD,
	REAL_POW,
	REAL_FUNCTION, /* of the module math, of a and perhaps b */
	REAL_ROUND     /* round(a, index) */
};

struct symreal { /* immutable, as struct sym */
	enum symreal_kind kind;
	int index;    /* VAR: the symbol's; FUNCTION: symreal_function(); ROUND: places */
	double value; /* CONST */
	const struct sym *x, *y;
	const struct symreal *a, *b;
	double lower; /* proved: never below it */
	double most;  /* proved: its size is never above it */
	int nodes;    /* of the expression written out */
	int serial;   /* among the table's */
};

/* Each: NULL when out of memory or past SYM_MAX_NODES; NULL operands give NULL. */
const struct symreal *symreal_const(struct symtab *t, double value);
const struct symreal *symreal_var(struct symtab *t, const struct sym *var);
const struct symreal *symreal_int(struct symtab *t, const struct sym *x);
const struct symreal *symreal_ratio(struct symtab *t, const struct sym *x, const struct sym *y);
/* ADD to POW. */
const struct symreal *symreal_binary(struct symtab *t, enum symreal_kind kind,
				     const struct symreal *a, const struct symreal *b);
const struct symreal *symreal_round(struct symtab *t, const struct symreal *a, int places);

/* A function of math of one or two floats by name; -1: not known.  b NULL: of one. */
int symreal_function(const char *name, int n_args);
const struct symreal *symreal_call(struct symtab *t, int function, const struct symreal *a,
				   const struct symreal *b);

/* An int of a float, as int(), math.floor(), math.ceil() and round() make it. */
enum symreal_whole { WHOLE_TRUNC, WHOLE_FLOOR, WHOLE_CEIL, WHOLE_ROUND };
const struct sym *symreal_whole(struct symtab *t, enum symreal_whole how, const struct symreal *r);

/* A float as the value of a symbol, and back. */
static inline int64_t real_bits(double f)
{
	int64_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}
static inline double real_of_bits(int64_t bits)
{
	double f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* `vars` as sym_eval() has them. */
double symreal_eval(const struct symreal *r, const int64_t *vars);
double symreal_hint(const struct symtab *t, const struct symreal *r);

/* The outermost operation may raise, which shows as a result that is not finite. */
bool symreal_may_fail(const struct symreal *r);

/* The same expression in another table with the same symbols. */
const struct symreal *symreal_copy(struct symtab *to, const struct symreal *r);

/* As Python writes it: "math.sqrt(s0)*0.5". */
void symreal_print(struct buf *out, const struct symreal *r, const struct sym_namer *namer);

/* The arithmetic that both this and the interpreter of programs do. */
double real_round(double f, int64_t places); /* to decimal places; inf: too large */
double real_ratio(int64_t x, int64_t y);     /* x / y of ints */
/* An operation of two floats, ROUND too; FUNCTION: of one or two. */
double real_apply(enum symreal_kind kind, int function, double a, double b);
void real_divmod(double a, double b, double *quotient, double *remainder); /* as divmod() */

#endif
