/* fusion/backends/cuda/library/dnn.h -- cuDNN 9, loaded when a call wants it, and graphs of its
 * ops.
 *
 * A graph is what cuDNN fuses into one engine: tensors, ops on them, then dnn_finish(),
 * which takes the first engine that cuDNN's heuristics name and that runs here.  CUDA's
 * toolkit does not bring cudnn.h, so what is used of it is declared here, as
 * cudnn_graph_v9.h, cudnn_ops_v9.h and cudnn_cnn_v9.h of cuDNN 9 have it.
 */
#ifndef FUSION_BACKENDS_CUDA_LIBRARY_DNN_H
#define FUSION_BACKENDS_CUDA_LIBRARY_DNN_H

#include "fusion/backends/cuda/device/device.h"
#include "fusion/backends/cuda/library/library.h"

enum dnn_type {
	DNN_FLOAT = 0,
	DNN_DOUBLE = 1,
	DNN_HALF = 2,
	DNN_INT32 = 4,
	DNN_BFLOAT16 = 9,
	DNN_BOOL = 11
};
enum dnn_math { DNN_TENSOR_OP = 1, DNN_FMA = 3 };
enum { DNN_DONE = 0, DNN_NCHW = 0, DNN_CROSS_CORRELATION = 1, DNN_FORWARD_WAYS = 8 };

typedef struct dnn_handle *dnn_handle;
typedef struct dnn_tensor *dnn_tensor;
typedef struct dnn_filter *dnn_filter;
typedef struct dnn_convolution *dnn_convolution;
typedef struct dnn_item *dnn_item; /* cudnnBackendDescriptor_t */

/* cudnnConvolutionFwdAlgoPerf_t */
struct dnn_way {
	int algorithm, status;
	float milliseconds;
	size_t bytes;
	int determinism, math, reserved[3];
};

/* Which engine of those that cuDNN's heuristics name is the fastest of a graph. */
struct dnn_kept {
	uint64_t key;
	int mode, index;
};

enum { DNN_MOST_KEPT = 128 };

struct cuda_dnn {
	bool missing; /* it was looked for */
	dnn_handle handle;
	struct dnn_kept kept[DNN_MOST_KEPT];
	unsigned n_kept;
	int64_t tried_ns;
	struct dnn_shared *shared; /* plans of graphs that are alive */
#define DNN(name, ...) int (*name)(__VA_ARGS__);
#include "fusion/backends/cuda/library/dnn.def"
#undef DNN
};

/* The library of a device, on its stream.  NULL: it is not installed, or does not start. */
const struct cuda_dnn *dnn_open(struct device *d);

enum dnn_type dnn_type_of(enum dtype dtype);

/* ---- graphs */

enum { DNN_RANK = 5, DNN_ITEMS = 96, DNN_OPS = 24 };

/* cudnnPointwiseMode_t and cudnnReduceTensorOp_t */
enum dnn_mode {
	DNN_ADD = 0,
	DNN_MUL = 1,
	DNN_DIV = 6,
	DNN_SUB = 9,
	DNN_EXP = 13,
	DNN_LOG = 15,
	DNN_IDENTITY = 21,
	DNN_RELU = 100,
	DNN_GREATER_EQUAL = 303,
	DNN_INDEX = 501,
	DNN_SELECT = 601,
	DNN_SUM_ALL = 0,
	DNN_MAX_ALL = 3
};

enum dnn_place { DNN_IN_MEMORY, DNN_BETWEEN, DNN_NUMBER }; /* NUMBER: read on the host */

struct dnn_shape {
	int rank;
	int64_t size[DNN_RANK], stride[DNN_RANK];
};

struct dnn_plan {
	dnn_item item;
	void *room;
	size_t room_bytes;
};

/* The plan of all graphs with one content, as the layers of a model have: cuDNN compiles it for a
 * third of a second.  Its engine's memory is one too, since all calls run in order. */
struct dnn_shared {
	uint64_t key[2];
	int graphs; /* that have it */
	struct dnn_plan plan;
	dnn_item items[DNN_ITEMS]; /* what it was made of */
	int n_items;
	struct dnn_shared *next;
};

struct dnn_graph {
	const struct cuda_dnn *dnn;
	struct device *device;
	dnn_item items[DNN_ITEMS], ops[DNN_OPS];
	int n_items, n_ops, n_tensors;
	bool failed;
	/* Set before dnn_finish(): float32 is not rounded to TF32 or less on the way; sums may
	 * come in another order each time. */
	bool exact, varies;
	struct dnn_plan plan;
	struct dnn_shared *shared; /* whose plan it is; NULL: its own */
	uint64_t key[2];           /* of all that was set */
};

/* On a device's cuDNN (NULL: there is none).  NULL: that, or no memory. */
struct dnn_graph *dnn_begin(const struct cuda_dnn *dnn, struct device *d);

/* A tensor; its number is `id` where it has memory or is a number of the host. */
dnn_item dnn_add_tensor(struct dnn_graph *g, enum dnn_type type, const struct dnn_shape *shape,
			enum dnn_place place, int64_t id);

struct dnn_windows {
	int64_t stride[2], padding[2], dilation[2];
};

/* POINTWISE    y = mode(x, b), computed in `math`; SELECT: t says which; INDEX: along `axis`
 * PRODUCT      y = x @ b
 * RESHAPE      y = x in another order, or as another type
 * REDUCTION    y = mode of x over the dims of which y has one element
 * CONVOLUTION  y = x in windows with the filters b; FOR_X, FOR_FILTERS: x or b is what
 *              the gradient y of such a y gives it */
enum dnn_kind {
	DNN_POINTWISE,
	DNN_PRODUCT,
	DNN_REDUCTION,
	DNN_CONVOLUTION,
	DNN_FOR_X,
	DNN_FOR_FILTERS,
	DNN_RESHAPE
};
struct dnn_op {
	enum dnn_kind kind;
	enum dnn_mode mode;
	enum dnn_type math; /* of POINTWISE and convolutions; others sum in float32 */
	dnn_item x, b, t, y;
	int64_t axis;
	const struct dnn_windows *windows;
};
void dnn_add_op(struct dnn_graph *g, const struct dnn_op *op);

/* Engines are tried on memory of so many bytes for each tensor with an id.  Graphs of one key
 * have the same engine, so that the first of them decides the bits. */
enum { DNN_MOST_TENSORS = 4 };
struct dnn_trial {
	uint64_t key;
	int n;
	int64_t id[DNN_MOST_TENSORS];
	size_t bytes[DNN_MOST_TENSORS];
};

/* With a trial the fastest of the first engines, of those that round no more than the very
 * first; else the first one.  False: cuDNN has no engine for it. */
bool dnn_finish(struct dnn_graph *g, const struct dnn_trial *trial);

/* Where the tensors with these ids are.  False: cuDNN refused. */
bool dnn_run(const struct dnn_graph *g, const int64_t *ids, void *const *at, int n);

void dnn_drop(struct dnn_graph *g); /* NULL is fine */

#endif
