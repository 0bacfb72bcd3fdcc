/* fusion/capture/guards/guards.h -- private to capture/: may this entry serve this call?
 *
 * Guards are a flat list of small tests over the sources of a call.  The order is
 * by safety first (a size is read only after the rank was checked), then by
 * what differs most often.  Checking also gathers the symbols' values.
 */
#ifndef FUSION_CAPTURE_GUARDS_GUARDS_H
#define FUSION_CAPTURE_GUARDS_GUARDS_H

#include "fusion/observer.h" /* struct fusion_symbol */
#include "fusion/capture/sources/sources.h"
#include "fusion/capture/trace/trace.h"

enum guard_kind {
	/* these load the source first */
	GUARD_LOAD,     /* nothing more: its kind is sure */
	GUARD_TYPE,     /* it is a tensor with memory; number: dims that may be marked dynamic */
	GUARD_KIND,     /* it is of the kind `number` */
	GUARD_UNSET,    /* a local or global has no value */
	GUARD_SET,      /* a local has one, whatever it is */
	GUARD_LENGTH,   /* tuple, list */
	GUARD_KEYS,     /* dict: the same keys in the same order */
	GUARD_VALUE,    /* None, bool, number, str, dtype: type and value */
	GUARD_EQUAL,    /* range, slice, set: equal */
	GUARD_INT,      /* an int; its value is symbol `number` */
	GUARD_FLOAT,    /* a float; its bits are symbol `number`, -1: none */
	GUARD_OBJECT,   /* this very object: class, property */
	GUARD_FUNCTION, /* its code is `pointer`, plain defaults as they were */
	GUARD_NATIVE,   /* a function of the engine, by name */
	GUARD_MODULE,   /* by name */
	GUARD_INSTANCE, /* of the class `pointer`; NULL: another source checks it; number - 1: its
			   birth */
	GUARD_ITERATOR, /* of kind `dim`, at position `number`, length `other` */
	/* these need it loaded */
	GUARD_RANK,
	GUARD_SIZE,      /* size(dim) == number */
	GUARD_SYMBOL,    /* size(dim) >= 2; its value is symbol `number` */
	GUARD_SAME_SIZE, /* size(dim) == symbol `number` */
	GUARD_DTYPE,
	GUARD_CONTIGUOUS,
	GUARD_GRAD,      /* it requires a gradient, or not: number */
	GUARD_LEAF,      /* it is a leaf, or not: number */
	GUARD_STRIDE,    /* stride(dim) == number */
	GUARD_IDENTICAL, /* the same tensor or object as source `other` */
	GUARD_WITHIN, /* lies in the memory of source `other`, `number` elements after its first */
	GUARD_DISJOINT,  /* another object than that of source `other`; not of tensors */
	GUARD_APART,     /* those of g->apart: what is written shares no memory with another */
	GUARD_ALIAS,     /* the same elements, sizes and strides as source `other` */
	GUARD_OTHER,     /* another object than that of source `other` */
	GUARD_CONDITION, /* a comparison of symbols, number: its index */
	GUARD_MODES,     /* of no source: the grad mode and that of autocast are as they were */
};

struct guard {
	enum guard_kind kind;
	int source, dim, other;
	int64_t number;
	const void *pointer;
};

/* The guards as they are run: all that is asked of a tensor is one step, with
 * nothing to look up.  A step without a rank is one guard of the list. */
/* Which tuple it is: a plain one, a torch.Size, or one of a class, which has a guard of its own. */
static inline int guard_sequence_type(const struct list *list)
{
	return list->class ? 2 : list->is_size;
}

struct guard_step {
	int source;
	int local; /* where the source is a local: its index; -1 */
	int guard; /* -1: a tensor */
	int8_t rank;
	int8_t dtype;
	bool contiguous; /* it has to be */
	bool fixed;      /* no size is a symbol */
	unsigned marked; /* dims that may be marked dynamic, a bit each */
	int sizes; /* of g->sizes: a number each, or ~(2 * symbol + (known: 1)); then row-major
		    * strides, where all are numbers */
};

struct guards {
	const struct sources *sources;
	struct guard *at;
	int n;
	struct guard_step *steps;
	int n_steps;
	int64_t *sizes;
	int *apart; /* sources of tensors: the first n_written are written; none, or two or more */
	int n_apart, n_written;
	const char **texts; /* "x.size(0) == 8", one each */
	struct size_condition *conditions;
	struct guard_home *homes; /* by symbol: what it is named for */
	struct value *values;     /* by source, of the call being checked; borrowed */
	int64_t *vars;            /* by symbol, of the call being checked */
	const int64_t *was;       /* ... and at the capture */
	int n_vars;
	bool grad_off; /* the grad mode at the capture */
	unsigned char derivatives, function_modes;
	enum dtype real;   /* the default dtype */
	bool ordered;      /* torch.are_deterministic_algorithms_enabled() */
	unsigned autocast; /* ... and that of autocast, without its blocks */
};

struct guard_home {
	int source; /* -1: none */
	int dim;    /* -1: the source is an int */
};

/* From a capture that has succeeded; everything lives in `arena`.  False when
 * out of memory. */
bool guards_create(struct guards *g, const struct trace *t, struct arena *arena);

/* The index of the first guard that does not hold; g->n: all hold, and g->vars
 * are the symbols' values. */
int guards_check(struct guards *g, const struct roots *roots);

/* Whether all hold; as guards_check(), but quick. */
bool guards_hold(struct guards *g, const struct roots *roots);

/* Whether a source may be another object in the next call though no program has run: a part
 * of local variables but local `self` (-1: none), or a gradient. */
bool guards_is_of_call(const struct guards *g, int source, int self);

/* The steps that another call's arguments may fail, in order: of what is read from
 * locals but local `self` (-1: none).  The others hold while no object of the
 * program changes.  False when out of memory. */
bool guards_of_arguments(const struct guards *g, int self, struct arena *arena, int **steps,
			 int *n);

/* Whether the modes are as they were and these steps hold; where all others held in the
 * check before, all do. */
bool guards_hold_among(struct guards *g, const struct roots *roots, const int *steps, int n);

/* Of GUARD_APART: two sources that share memory, although one of them is written. */
bool guards_find_shared(const struct guards *g, int *a, int *b);

/* "x.size(0) is 5, was 4": why guard `index` failed for this call. */
void guards_reason(const struct guards *g, int index, const struct roots *roots, struct buf *out);

/* guards.c: the symbols and what they are named for; false when out of
 * memory. */
bool guards_symbols(const struct guards *g, struct arena *arena, struct fusion_symbol **out,
		    int *n);

/* guards/text.c: the guard as a condition. */
const char *guard_text(const struct guards *g, const struct guard *guard, struct arena *arena);

#endif
