/* fusion/capture/deferred_text.h -- private to capture/: text that shows what the graph computes.
 *
 * Policy native.  The text of a tensor, or of a number that the graph computes,
 * does not end the graph.  While capturing it is a text with GAPS; each is a
 * value, and how it is shown.  What the piece leaves, and what it prints, is
 * filled in when the graph has run.
 *
 * A text that is another one on each side of a branch is one gap: a choice.
 */
#ifndef FUSION_RUNTIME_LATE_TEXT_H
#define FUSION_RUNTIME_LATE_TEXT_H

#include "fusion/vm/format.h"
#include "fusion/capture/trace.h"

enum { MAX_GAPS = 10000, MAX_TEXT_BYTES = 1 << 20, MAX_TEXTS_BYTES = 16 << 20 };

enum gap_kind {
	GAP_STR,    /* str(value) */
	GAP_REPR,   /* repr(value) */
	GAP_FORMAT, /* format(value, spec) */
	GAP_CHOICE, /* one of two texts */
};

struct text_gap {
	enum gap_kind kind;
	struct value value; /* a reference; CHOICE: a LATEBOOL */
	struct value of[2]; /* CHOICE: references */
	bool leaf;          /* of a tensor: it is one that requires a gradient */
	bool is_parameter;
	const struct format_spec *spec;
	const struct lang_inst *branch; /* CHOICE: where the sides begin */
};

struct late_text {
	const char *bytes; /* in the graph's arena */
	size_t len;
	bool filled; /* it is not empty, whatever the gaps turn out to be */
};

/* One of two texts. */
bool late_text_choose(struct trace *t, struct value condition, struct value a, struct value b,
		      const struct lang_inst *branch, struct value *out, struct err *err);
/* The program needs it now: pins what numbers of the call it shows, gives up a
 * branch, or is a break.  Always false. */
bool late_text_need(struct trace *t, struct value v, struct err *err);
void late_text_forget(struct trace *t); /* at an attempt's end */

void late_text_host(struct vm_host *host); /* fills in what is about text */

/* As the entry keeps it: `gaps` in order of their places, without values. */
struct entry_text {
	const char *bytes;
	size_t len;
	const struct text_gap *gaps;
	int n_gaps;
};
const struct entry_text *late_text_keep(const struct trace *t, struct value v,
					const struct text_gap **gaps);
/* Appends what the gap shows of the value. */
bool late_text_show(const struct text_gap *gap, struct value v, struct autograd *a, struct vm *vm,
		    struct buf *text);

/* ---- print() inside a piece.
 *
 * Policy native: print() does not end the graph.  Its text is made while
 * capturing, with gaps for what the graph computes (deferred_text.h); when the graph
 * has run, the texts are written, in order, and only where the side of a branch
 * that one stands in was taken. */

struct recipe;
struct recipe_builder;

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
