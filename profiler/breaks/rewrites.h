/* profiler/breaks/rewrites.h -- breaks that a change of the source takes away. */
#ifndef PROFILER_BREAKS_REWRITES_H
#define PROFILER_BREAKS_REWRITES_H

#include <jansson.h>

#include "fusion/source.h"
#include "profiler/measure/candidate.h"

/* Gives each break of `breaks` (as breaks_to_json() makes them) the fields
 * `rewrite`, the whole source with the change made, or null, and where there is
 * one `rewrite_gain` {"graphs": [before, after], "breaks": [before, after]}.  A
 * change is offered only if the calls of `candidate`, already made, come out the same
 * with it: outputs, inputs, printed text, with fewer graphs or breaks.
 *
 * Trying ends after `limit_ms` (negative: no limit).  A try takes about as long
 * as the candidate's own calls did (`base_ns`); where there is no time for each change
 * they are made at once, and the gain says how many there are: `together`.  False
 * where not even that was tried. */
bool rewrites_offer(json_t *breaks, const struct candidate *candidate, const struct workload *w,
		    const struct point *p, double limit_ms, int64_t base_ns);

/* The same for a candidate of another backend than the interpreter's, where to compile
 * every change would take too long: its calls are made again by the interpreter. */
void rewrites_offer_run(json_t *breaks, const struct candidate *candidate, const struct workload *w,
			const struct point *p, double limit_ms);

/* The calls of `candidate` once more, by the interpreter: `quick` is workload_quick().  Also
 * where it is false, the candidate is to be destroyed. */
bool rewrites_again(struct candidate *again, const struct candidate *candidate,
		    const struct workload *quick, const struct point *p);

/* The program `source` in place of that of `before` (of rewrites_again()): its
 * rewrite_gain; NULL where it does not do the same, or gains nothing.  `printed`: the
 * printed text is to be the same too. */
json_t *rewrites_try(char *source, size_t len, const struct candidate *before,
		     const struct workload *w, bool printed);

/* The change for a kind of break; false: there is none. */
bool rewrites_kind(const char *kind, enum lang_rewrite *out);

#endif
