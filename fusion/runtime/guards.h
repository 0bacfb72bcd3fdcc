/* fusion/runtime/guards.h -- private to runtime/: may this entry serve this call?
 *
 * Guards are a flat list of small tests over the slots of a call.  The order is
 * by safety first (a size is read only after the rank was checked), then by
 * what differs most often.  Checking also gathers the symbols' values.
 */
#ifndef FUSION_RUNTIME_GUARDS_H
#define FUSION_RUNTIME_GUARDS_H

#include "fusion/runtime/slots.h"
#include "fusion/runtime/trace.h"

enum guard_kind {
	GUARD_ARGUMENTS, /* as many arguments */
	GUARD_TYPE,      /* slot is of the kind (tensors, untouched too) */
	GUARD_LENGTH,    /* tuple, list */
	GUARD_KEYS,      /* dict: the same keys in the same order */
	GUARD_VALUE,     /* None, bool, number, str, dtype: type and value */
	GUARD_RANK,
	GUARD_SIZE,      /* size(dim) == number */
	GUARD_SYMBOL,    /* size(dim) >= 2; its value is symbol `number` */
	GUARD_SAME_SIZE, /* size(dim) == symbol `number` */
	GUARD_DTYPE,
	GUARD_CONTIGUOUS,
	GUARD_STRIDE,    /* stride(dim) == number */
	GUARD_IDENTICAL, /* the same tensor as slot `other` */
	GUARD_DISJOINT,  /* shares no memory with slot `other` */
	GUARD_CONDITION, /* a comparison of sizes, number: its index */
};

struct guard {
	enum guard_kind kind;
	int slot, dim, other;
	int64_t number;
};

struct guards {
	const struct slots *slots;
	struct guard *at;
	int n;
	const char **texts; /* "x.size(0) == 8", one each */
	struct size_condition *conditions;
	int *homes;                  /* by symbol: the dim that it is named for */
	const struct value **values; /* by slot, of the call being checked */
	int64_t *vars;               /* by symbol, of the call being checked */
	int n_vars;
};

/* From a capture that has succeeded; everything lives in `arena`.  False when
 * out of memory. */
bool guards_create(struct guards *g, const struct trace *t, struct arena *arena);

/* The index of the first guard that does not hold; g->n: all hold, and g->vars
 * are the symbols' values. */
int guards_check(struct guards *g, const struct value *args, int n);

/* "x.size(0) is 5, was 4": why guard `index` failed for these arguments. */
void guards_reason(const struct guards *g, int index, const struct value *args, int n,
		   struct buf *out);

/* guards_text.c: the guard as a condition. */
const char *guard_text(const struct guards *g, const struct guard *guard, struct arena *arena);

#endif
