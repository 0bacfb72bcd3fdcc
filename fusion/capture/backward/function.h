/* fusion/capture/backward/function.h -- private to capture/: torch.autograd.Function in a graph.
 *
 * Function.apply (prelude/torch_autograd.py) runs forward() without record.  Each of its
 * tensors that may have a gradient gets a node of its own: a RESULT.  Then backward() runs at
 * once, as in TorchDynamo, on SEEDS in place of the gradients; what it makes of them are
 * nodes after the results, which nothing reads.  A sweep that comes to the results adds
 * those nodes again, on the gradients that it has.
 *
 * So backward() is guarded and breaks as the rest of the call does.  It may change nothing that
 * was there before, draw no random numbers and print nothing: else the graph ends where
 * the Function is called, and eager has its gradient.
 */
#ifndef FUSION_CAPTURE_BACKWARD_FUNCTION_H
#define FUSION_CAPTURE_BACKWARD_FUNCTION_H

#include "fusion/capture/backward/sweep.h"

extern const struct trace_functions functions_in_trace;

/* Whether backward() has the node, which it reads, from before. */
static inline bool function_saves(const struct graph *g, const struct traced_function *f, int node)
{
	return node < f->first || g->nodes[node]->op == OP_input;
}

#endif
