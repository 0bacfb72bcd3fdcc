/* fusion/backends/cuda/library/conv.h -- convolutions and their gradients: y has the windows of x
 * with the filters w.
 */
#ifndef FUSION_BACKENDS_CUDA_LIBRARY_CONV_H
#define FUSION_BACKENDS_CUDA_LIBRARY_CONV_H

#include "fusion/backends/cuda/library/dnn.h"

/* Which of them is computed of the others. */
enum conv_result { CONV_Y, CONV_X, CONV_W };

struct conv_operands {
	const struct operand *x, *w, *y;
	int64_t groups;
	enum conv_result result;
	bool varies;        /* sums may come in another order each time */
	bool channels_last; /* of all three */
};

void cuda_conv_fill(struct conv_args *a, const struct library_call *call,
		    const struct conv_operands *o);

/* What cuDNN takes: sizes that are ints, no size of 0, no step of 0. */
bool cuda_conv_suits(const struct conv_operands *o);

/* As a graph of cuDNN, whose filters lie row by row, or with their channels last; float32 stays
 * float32.  NULL: it has no engine. */
struct dnn_graph *cuda_conv_graph(const struct cuda_call *c, const struct conv_args *a,
				  const struct conv_operands *o);
void cuda_conv_run(const struct cuda_call *c, const struct dnn_graph *g, const void *x,
		   const void *w, const void *y);

#endif
