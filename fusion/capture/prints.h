/* fusion/capture/prints.h -- private to capture/: print() inside a piece.
 *
 * Policy native: print() does not end the graph.  Its text is made while
 * capturing, with gaps for what the graph computes (deferred_text.h); when the graph
 * has run, the texts are written, in order, and only where the side of a branch
 * that one stands in was taken.
 */
#ifndef FUSION_RUNTIME_PRINTS_H
#define FUSION_RUNTIME_PRINTS_H

#include "fusion/capture/reconstruction.h"

enum { MAX_PRINTS = 10000 };

struct traced_print {
	struct value text; /* a reference: STR or LATETEXT */
	int condition;     /* a bool node; -1: always */
};

/* Of the host.  false: print() is a break. */
bool prints_may(const struct trace *t);
bool prints_add(struct trace *t, const char *text, size_t len);

/* Forgets those from number n on. */
void prints_drop(struct trace *t, size_t n);

struct entry_print {
	int text;      /* recipe step */
	int condition; /* recipe step of a bool; -1: always */
};

struct prints {
	struct entry_print *at;
	int n;
};

/* The trace's, with texts and conditions in the recipe. */
bool prints_describe(struct prints *p, struct recipe_builder *b, struct arena *arena);
/* Writes them; `made` by recipe_follow(). */
void prints_write(const struct prints *p, const struct recipe *r, struct vm *vm);

#endif
