/* profiler/torch/values.h -- private: what another engine gave, against what ours gives.
 *
 * Element by element over whole tensors, by the rule for our modes
 * (profiler/allclose/difference.h): torch's numbers are to lie as near to float64 as rounding of
 * their dtype explains, our eager's errors included.
 */
#ifndef PROFILER_TORCH_VALUES_H
#define PROFILER_TORCH_VALUES_H

#include <jansson.h>
#include <stdint.h>

#include "profiler/allclose/reference.h"
#include "profiler/fields/fields.h"
#include "profiler/measure/candidate.h"

/* Zeroed is empty. */
struct compared {
	int64_t elements, outside; /* numbers that were compared; those that are wrong */
	int64_t differing;         /* those that are not the same */
	int64_t left_out;          /* values that only one side can write down, or too large */
	double max_abs;            /* of finite pairs */
	double max_rel;            /* of tensors: the largest error over |ours| there */
	double over_allowed;       /* the largest distance over what is allowed */
	bool by_float64;           /* the verdict is by float64 */
	bool stdout_same;
	char first[240]; /* where they part first, in words; "" where nowhere */
};

/* A call that our candidate has just made, and what that of the other gave.  A tensor there is
 * {"shape", "dtype", "at"}: its bytes stand at that offset of `bytes`; an argument is {"unchanged"}
 * where it was not written. */
struct compared_call {
	const struct candidate *candidate;
	int index;
	const struct report_torch_sent_call *theirs;
	const void *bytes;
	size_t n_bytes;
	struct reference *reference;
};

void compare_call(struct compared *c, const struct compared_call *call);

void compared_report(const struct compared *c, struct report_torch_values *to,
		     struct report_draft *draft);

#endif
