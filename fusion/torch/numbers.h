/* fusion/torch/numbers.h -- tensors where a function takes
 * numbers, as x.narrow(0, start, 2) or torch.zeros(n) of tensors. */
#ifndef FUSION_TORCH_NUMBERS_H
#define FUSION_TORCH_NUMBERS_H

#include "fusion/torch/decomposition.h"

/* Whether an argument of the call is a tensor that is to be read as a number; where each is
 * in the place of a tensor, as in torch.relu(x), that is seen at once. */
bool numbers_among(const struct native *f, const struct arguments *args);
static inline bool numbers_wanted(const struct native *f, const struct arguments *args)
{
	int first = f->self.kind == VALUE_TENSOR, i = 0, n = args->n - (args->kw ? args->kw->n : 0);
	const struct op_info *info;

	if (f->id <= 0 || f->id >= OP_COUNT)
		return args->n > 0 && numbers_among(f, args);
	info = op_info((enum op)f->id);
	while (i < n && args->at[i].kind == VALUE_TENSOR && first + i < info->n_params &&
	       info->params[first + i].kind == PARAM_TENSOR &&
	       !info->params[first + i].keyword_only)
		i++;
	while (i < args->n && args->at[i].kind < VALUE_STR)
		i++;
	return i < args->n && numbers_among(f, args);
}

/* The host's call of the same with numbers.  A read that a capture cannot do is a break. */
bool numbers_call(const struct decomposer *c, const struct native *f, const struct arguments *args,
		  struct value *out, struct err *err);

#endif
