/* fusion/tensor/tensor_print.h -- a tensor as text. */
#ifndef FUSION_RUNTIME_TENSOR_PRINT_H
#define FUSION_RUNTIME_TENSOR_PRINT_H

#include "fusion/base/buf.h"
#include "fusion/tensor/tensor.h"

/* Appends what print(t) shows in PyTorch, without a newline.  `last`: what stands
 * behind its dtype, as grad_fn=<AddBackward0>; may be empty. */
void tensor_print(struct buf *out, const struct tensor *t, const char *last);

#endif
