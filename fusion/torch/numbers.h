/* fusion/torch/numbers.h -- private to torch/: tensors where a function takes
 * numbers, as x.narrow(0, start, 2) or torch.zeros(n) of tensors. */
#ifndef FUSION_RUNTIME_NUMBERS_H
#define FUSION_RUNTIME_NUMBERS_H

#include "fusion/torch/decomposition.h"

/* Whether an argument of the call is a tensor that is to be read as a number. */
bool numbers_wanted(const struct native *f, const struct arguments *args);

/* The host's call of the same with numbers.  A read that a capture cannot do is a break. */
bool numbers_call(const struct decomposer *c, const struct native *f, const struct arguments *args,
		  struct value *out, struct err *err);

#endif
