/* profiler/allclose/reference.h -- the program in float64, made when something differs.
 *
 * It makes the calls that the candidates have made, in the same stages, so that what it keeps
 * between calls is what they keep.
 */
#ifndef PROFILER_ALLCLOSE_REFERENCE_H
#define PROFILER_ALLCLOSE_REFERENCE_H

#include "profiler/measure/candidate.h"

enum reference_stage { STAGE_IN_ORDER, STAGE_BURST, STAGE_TIMED };

struct reference {
	const struct workload *w;
	const struct point *p;
	const struct inputs *inputs;
	const char *cache_dir;
	int burst;      /* cycles over the calls, one after another */
	double calls_s; /* that eager's calls in order took */

	struct candidate candidate;
	int n; /* ways: fusion_options.references */
	bool made;
	enum reference_stage stage;
	char why_not[200]; /* "": there is one, or nobody has asked */
};

/* The candidate at that stage; NULL: there is none, see why_not. */
const struct candidate *reference_at(struct reference *r, enum reference_stage stage);

/* Its memory is given back; the next one who asks gets it made again. */
static inline void reference_rest(struct reference *r)
{
	candidate_destroy(&r->candidate);
	r->made = false;
	r->stage = STAGE_IN_ORDER;
}

/* zeroed is fine */
static inline void reference_finish(struct reference *r)
{
	candidate_destroy(&r->candidate);
	*r = (struct reference){ 0 };
}

#endif
