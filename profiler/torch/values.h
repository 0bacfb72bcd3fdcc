/* profiler/torch/values.h -- private: what another engine gave, against what ours gives.
 *
 * Numbers agree when |ours - theirs| <= 1e-5 + 1e-4 |theirs| for float32 and float64,
 * 1e-2 + 1e-2 |theirs| for float16 and bfloat16; integers, bools, texts and shapes
 * exactly: the bounds by which recorded programs are checked (tests/oracle).
 */
#ifndef PROFILER_TORCH_VALUES_H
#define PROFILER_TORCH_VALUES_H

#include <jansson.h>
#include <stdint.h>

#include "profiler/measure/lane.h"

/* Zeroed is empty. */
struct compared {
	int64_t elements, outside; /* numbers that were compared; those beyond the bounds */
	int64_t left_out;          /* values that only one side can write down, or too large */
	double max_abs;            /* of finite pairs */
	double max_rel;            /* of tensors: the largest error over the largest |theirs| */
	bool stdout_same;
	char first[192]; /* where they part first, in words; "" where nowhere */
};

/* Compares call i of a lane, which has just made it, with {"output", "inputs_after",
 * "grads", "stdout"} of the other.  A tensor there is {"shape", "dtype", "at"}: its bytes
 * stand at that offset of `bytes`. */
void compare_call(struct compared *c, const struct lane *lane, int call, const json_t *theirs,
		  const void *bytes, size_t n_bytes);

/* {"agree", "elements", "outside", "left_out", "max_abs_error", "max_rel_error",
 * "stdout_same", "first"}.  New. */
json_t *compared_json(const struct compared *c);

#endif
