/* fusion/capture/backward/traced.h -- private to capture/: a backward pass inside a capture.
 *
 * Policy native: what backward() computes are nodes of the graph that is being
 * captured, behind those of the forward pass; .grad is set when the piece has run.
 */
#ifndef FUSION_RUNTIME_TRACED_H
#define FUSION_RUNTIME_TRACED_H

#include "fusion/capture/trace.h"

/* backward(), torch.autograd.backward(), torch.autograd.grad().  False, with a break or
 * *err, where eager has to run it. */
bool traced_call(struct trace *t, const struct native *f, const struct value *args, int n,
		 const struct keywords *kw, struct value *out, struct err *err);

#endif
