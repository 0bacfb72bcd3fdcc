/* profiler/allclose/allclose.h -- whether a mode gives what eager gives.
 *
 * All that a call gives is compared, element by element over whole tensors: its output,
 * what it left in its arguments, gradients of arguments and parameters, what it printed;
 * and what the program keeps between calls: parameters, buffers, gradients, the state of
 * optimisers.  Calls are compared three times:
 *
 *	in order           each call once, waited for one by one
 *	one after another  several times without waiting, before anything is timed
 *	after timing       the timed calls once more, where a call leaves nothing after
 *
 * What is not the same to the bit is judged as difference.h says.
 */
#ifndef PROFILER_ALLCLOSE_ALLCLOSE_H
#define PROFILER_ALLCLOSE_ALLCLOSE_H

#include <jansson.h>

#include "profiler/allclose/difference.h"
#include "profiler/allclose/reference.h"
#include "profiler/measure/candidate.h"

enum allclose_verdict { ALLCLOSE_EXACT, ALLCLOSE_WITHIN_DTYPE, ALLCLOSE_NOT };

/* Where the worst of what was found lies. */
struct allclose_where {
	int call;         /* -1: after all calls */
	const char *when; /* "in order" */
	char what[160];   /* "output[0]", "grad of x", "state opt.state[0].exp_avg" */
	int rank;
	int64_t index[MAX_RANK], size[MAX_RANK];
	struct difference_place at; /* index -1: no element of a tensor */
	enum dtype dtype;
	char why[120]; /* "is missing", "has another shape"; "": numbers differ */
};

/* Zeroed is empty. */
struct allclose {
	enum allclose_verdict verdict;
	enum difference_rule rule;
	int64_t values, elements, differing;
	double error, theirs_error; /* the largest |ours - theirs|, |theirs - reference| */
	double output_error; /* the largest of outputs alone; NaN: they have other structures */
	double excess;
	struct allclose_where where;
	char no_reference[200]; /* why the bound had to do; "" */
	int calls[3];           /* that were compared: in order, one after another, after timing */
	char not_timed[120];    /* why those after timing were not; "" */
};

struct allclose_pair {
	const struct candidate *ours, *theirs;
	const char *whose; /* "eager's" */
	struct reference *reference;
};

/* Compares what both candidates still have of the calls made once in order; `m` and `other_m`
 * are the modes of the report, with their calls. */
void allclose_in_order(struct allclose *a, const struct allclose_pair *pair, const json_t *m,
		       const json_t *other_m);

/* Compares outputs and all else of the calls that both candidates have just made, in this state
 * of the reference. */
void allclose_later(struct allclose *a, const struct allclose_pair *pair,
		    enum reference_stage stage);

/* Sets `agreement`, `agrees` and max_abs_error of the mode m and, where it disagrees,
 * `disagreement`, a sentence. */
void allclose_report(const struct allclose *a, const char *whose, json_t *m);

#endif
