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

#include "profiler/allclose/difference.h"
#include "profiler/allclose/reference.h"
#include "profiler/fields/fields.h"
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

/* Compares what both candidates still have of the calls made once in order; `ours` and `theirs`
 * are those calls in the report. */
void allclose_in_order(struct allclose *a, const struct allclose_pair *pair,
		       struct report_call_list ours, struct report_call_list theirs);

/* Compares outputs and all else of the calls that both candidates have just made, in this state
 * of the reference. */
void allclose_later(struct allclose *a, const struct allclose_pair *pair,
		    enum reference_stage stage);

/* What a report has of it, under these names.  `disagreement`, a sentence, is NULL where there is
 * none. */
struct allclose_found {
	struct report_agreement *agreement;
	double max_abs_error;
	bool agrees;
	const char *disagreement;
};
struct allclose_found allclose_report(const struct allclose *a, const char *whose,
				      struct report_draft *draft);

/* Sets these fields of a mode, or of a change. */
#define ALLCLOSE_SET(to, found)                                                                    \
	(REPORT_SET(to, agreement, (found).agreement),                                             \
	 REPORT_SET(to, max_abs_error, (found).max_abs_error),                                     \
	 REPORT_SET(to, agrees, (found).agrees), (to)->has.disagreement = false,                   \
	 REPORT_SET_IF(to, disagreement, (found).disagreement, (found).disagreement))

#endif
