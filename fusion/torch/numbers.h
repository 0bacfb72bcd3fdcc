/* fusion/torch/numbers.h -- tensors where a function takes
 * numbers, as x.narrow(0, start, 2) or torch.zeros(n) of tensors. */
#ifndef FUSION_TORCH_NUMBERS_H
#define FUSION_TORCH_NUMBERS_H

#include "fusion/torch/decomposition.h"

/* Whether an argument of the call is a tensor that is to be read as a number; of an op of
 * one tensor, torch.relu(x), that is seen without a look at the others. */
bool numbers_among(const struct native *f, const struct arguments *args);
static inline bool numbers_wanted(const struct native *f, const struct arguments *args)
{
	if (args->n == 1 && args->at[0].kind == VALUE_TENSOR && f->self.kind != VALUE_TENSOR &&
	    f->id > 0 && f->id < OP_COUNT && op_info((enum op)f->id)->n_params > 0 &&
	    op_info((enum op)f->id)->params[0].kind == PARAM_TENSOR && !args->kw)
		return false;
	return args->n > 0 && numbers_among(f, args);
}

/* The host's call of the same with numbers.  A read that a capture cannot do is a break. */
bool numbers_call(const struct decomposer *c, const struct native *f, const struct arguments *args,
		  struct value *out, struct err *err);

#endif
