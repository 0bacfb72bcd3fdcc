/* fusion/torch/convert.h -- x.to(), x.type(), x.half() and their
 * like, and how a dtype is spelt: torch.float16, int, torch.LongTensor, "torch.LongTensor".
 */
#ifndef FUSION_TORCH_CONVERT_H
#define FUSION_TORCH_CONVERT_H

#include "fusion/torch/natives.h"

/* A dtype as functions take it: torch.float32, or Python's int, float and bool. */
bool convert_is_dtype(struct value v, enum dtype *dtype);

/* The argument dtype= of `name`: None leaves *dtype as it is; TYPE for another thing. */
bool convert_dtype(const char *name, struct value v, enum dtype *dtype, struct err *err);

/* Calls of these natives, args with self in front. */
bool convert_knows(int id);
bool convert_call(const struct decomposer *c, int id, const char *name,
		  const struct arguments *args, struct value *out, struct err *err);

#endif
