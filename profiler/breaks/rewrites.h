/* profiler/breaks/rewrites.h -- breaks that a change of the source takes away. */
#ifndef PROFILER_BREAKS_REWRITES_H
#define PROFILER_BREAKS_REWRITES_H

#include "fusion/source.h"
#include "profiler/fields/fields.h"
#include "profiler/measure/candidate.h"

struct rewrites_of {
	const struct candidate *candidate; /* whose calls are made */
	const struct workload *w;
	const struct point *p;
	double limit_ms; /* negative: none */
	int64_t base_ns; /* what the candidate's own calls took */
};

/* Gives each break the fields `rewrite`, the whole source with the change made, or null, and where
 * there is one `rewrite_gain`.  A
 * change is offered only if the calls of `candidate`, already made, come out the same
 * with it: outputs, inputs, printed text, with fewer graphs or breaks.
 *
 * Trying ends after `limit_ms`.  A try takes about as long
 * as the candidate's own calls did; where there is no time for each change
 * they are made at once, and the gain says how many there are: `together`.  False
 * where not even that was tried. */
bool rewrites_offer(struct report_break_list breaks, const struct rewrites_of *of,
		    struct report_draft *draft);

/* The same for a candidate of another backend than the interpreter's, where to compile
 * every change would take too long: its calls are made again by the interpreter, which gives
 * `base_ns`. */
void rewrites_offer_run(struct report_break_list breaks, const struct rewrites_of *of,
			struct report_draft *draft);

/* The calls of `candidate` once more, by the interpreter: `quick` is workload_quick().  Also
 * where it is false, the candidate is to be destroyed. */
bool rewrites_again(struct candidate *again, const struct candidate *candidate,
		    const struct workload *quick, const struct point *p);

/* The program `source` in place of that of `before` (of rewrites_again()): what it gains.
 * False where it does not do the same, or gains nothing.  `printed`: the
 * printed text is to be the same too. */
struct rewrites_gain {
	struct report_counts graphs, breaks;
};
bool rewrites_try(const struct buf *source, const struct candidate *before,
		  const struct workload *w, bool printed, struct rewrites_gain *gain);

/* The change for a kind of break; false: there is none. */
bool rewrites_kind(const char *kind, enum lang_rewrite *out);

#endif
