/* fusion/backends/cuda/dnn.h -- cuDNN 9, loaded when a convolution wants it.
 *
 * CUDA's toolkit does not bring cudnn.h, so what is used of it is declared here, as
 * cudnn_graph_v9.h, cudnn_ops_v9.h and cudnn_cnn_v9.h of cuDNN 9 have it.
 * Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_DNN_H
#define FUSION_BACKENDS_CUDA_DNN_H

#include "fusion/backends/cuda/device.h"

enum dnn_type { DNN_FLOAT = 0, DNN_DOUBLE = 1, DNN_HALF = 2, DNN_BFLOAT16 = 9 };
enum dnn_math { DNN_TENSOR_OP = 1, DNN_FMA = 3 };
enum { DNN_DONE = 0, DNN_NCHW = 0, DNN_CROSS_CORRELATION = 1, DNN_FORWARD_WAYS = 8 };

typedef struct dnn_handle *dnn_handle;
typedef struct dnn_tensor *dnn_tensor;
typedef struct dnn_filter *dnn_filter;
typedef struct dnn_convolution *dnn_convolution;

/* cudnnConvolutionFwdAlgoPerf_t */
struct dnn_way {
	int algorithm, status;
	float milliseconds;
	size_t bytes;
	int determinism, math, reserved[3];
};

struct cuda_dnn {
	bool missing; /* it was looked for */
	dnn_handle handle;
#define DNN(name, ...) int (*name)(__VA_ARGS__);
#include "fusion/backends/cuda/dnn.def"
#undef DNN
};

/* The library of a device, on its stream.  NULL: it is not installed, or does not start. */
const struct cuda_dnn *cuda_dnn(struct device *d);
void cuda_dnn_close(struct cuda_dnn *n); /* NULL is fine */

#endif
