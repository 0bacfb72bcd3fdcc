/* fusion/runtime/prints.h -- private to runtime/: print() inside a piece.
 *
 * Policy native: print() does not end the graph.  Its text is made while
 * capturing, with gaps for tensors and for numbers that the graph computes; when
 * the graph has run, the gaps are filled and the text is written, in order, and
 * only where the side of a branch that it stands in was taken.
 */
#ifndef FUSION_RUNTIME_PRINTS_H
#define FUSION_RUNTIME_PRINTS_H

#include "fusion/runtime/recipe.h"

enum { MAX_PRINTS = 10000 };

struct print_gap {
	size_t at;          /* in the text */
	struct value value; /* a reference, while capturing */
	int step;           /* of the recipe */
};

struct traced_print {
	char *text; /* in the graph's arena */
	size_t len;
	size_t first_gap, n_gaps; /* of trace->gaps */
	int condition;            /* a bool node; -1: always */
};

/* Of the host.  *known false: print() is a break. */
bool prints_begin(struct trace *t, bool *known, struct err *err);
/* A gap for the value, if a print() of this frame asks for its text. */
bool prints_gap(struct trace *t, struct value v, size_t at, bool *known, struct err *err);
bool prints_end(struct trace *t, const char *text, size_t len);

/* Forgets those from number n on. */
void prints_drop(struct trace *t, size_t n);

struct entry_print {
	const char *text;
	size_t len;
	struct print_gap *gaps;
	int n_gaps;
	int condition; /* recipe step of a bool; -1: always */
};

struct prints {
	struct entry_print *at;
	int n;
};

/* The trace's, with gaps and conditions in the recipe. */
bool prints_describe(struct prints *p, struct recipe_builder *b, struct arena *arena);
/* Writes them; `made` by recipe_follow(). */
bool prints_write(const struct prints *p, const struct recipe *r, struct vm *vm, struct err *err);

#endif
