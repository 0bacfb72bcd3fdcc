/* fusion/backends/cuda/library/conv.c -- convolutions by cuDNN; without it by a kernel of our own.
 *
 * Sums of float32 are of float32: TF32 stays off.  Backward passes are convolutions as well
 * (grads_matrix.py), so that forward is all there is.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/cuda/device/device.h"
#include "fusion/backends/cuda/library/library.h"

/* ---- cuDNN 9, loaded when a convolution wants it
 *
 * CUDA's toolkit does not bring cudnn.h, so what is used of it is declared here, as
 * cudnn_graph_v9.h, cudnn_ops_v9.h and cudnn_cnn_v9.h of cuDNN 9 have it.
 */

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
#include "fusion/backends/cuda/library/dnn.def"
#undef DNN
};

static bool start(struct cuda_dnn *n, struct device *d)
{
	void *library = cuda_open_library("libcudnn.so.9"), *found;

	if (!library)
		return false;
#define DNN(name, ...)                                                                             \
	found = dlsym(library, #name);                                                             \
	if (!found)                                                                                \
		return false;                                                                      \
	memcpy(&n->name, &found, sizeof(found));
#include "fusion/backends/cuda/library/dnn.def"
#undef DNN
	if (n->cudnnCreate(&n->handle) != DNN_DONE)
		n->handle = NULL;
	return n->handle && n->cudnnSetStream(n->handle, d->stream) == DNN_DONE;
}

static void close_dnn(struct device *d)
{
	if (d->dnn->handle)
		d->dnn->cudnnDestroy(d->dnn->handle);
	free(d->dnn);
	d->dnn = NULL;
}

/* The library of a device, on its stream.  NULL: it is not installed, or does not start. */
static const struct cuda_dnn *open_dnn(struct device *d)
{
	if (!d->dnn) {
		d->dnn = calloc(1, sizeof(*d->dnn));
		if (d->dnn) {
			d->dnn->missing = !start(d->dnn, d);
			cuda_on_close(d, close_dnn);
		}
	}
	return d->dnn && !d->dnn->missing ? d->dnn : NULL;
}

/* ---- convolutions */

struct cudnn_convolution {
	CUfunction function; /* our own */
	struct conv_args args;
	const struct cuda_dnn *dnn; /* NULL: our own kernel */
	dnn_tensor x, y;
	dnn_filter w;
	dnn_convolution how;
	int algorithm;
	void *room;
	size_t room_bytes;
};

static void emit(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	(void)g;
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "convolve", ARGS_THREADS },
			   "conv_args", "convolve<%s>", cuda_element(n->dtype));
}

/* What cuDNN takes: sizes that are ints, no size of 0, no step of 0. */
static bool suits(const struct library_call *call)
{
	const struct operand *x = &call->arg[0], *w = &call->arg[1];

	if (dtype_category(call->out.dtype) != CATEGORY_FLOAT || x->dtype != call->out.dtype ||
	    w->dtype != call->out.dtype || call->out.numel == 0 || x->numel == 0 || w->numel == 0 ||
	    !cuda_row_by_row(w) || call->out.numel > INT32_MAX || x->numel > INT32_MAX)
		return false;
	for (int d = 0; d < 4; d++)
		if (x->stride[d] <= 0 && x->size[d] > 1)
			return false;
	return true;
}

static enum dnn_type type_of(enum dtype dtype)
{
	return dtype == DTYPE_F64   ? DNN_DOUBLE
	       : dtype == DTYPE_F32 ? DNN_FLOAT
	       : dtype == DTYPE_F16 ? DNN_HALF
				    : DNN_BFLOAT16;
}

static int describe_tensor(const struct cuda_dnn *n, dnn_tensor *to, const struct operand *x)
{
	int status = n->cudnnCreateTensorDescriptor(to);
	int size[4], stride[4];

	for (int d = 3; d >= 0; d--) {
		size[d] = (int)x->size[d];
		/* A dim of one element has any step: such that it looks packed. */
		stride[d] = x->size[d] > 1 ? (int)x->stride[d]
			    : d == 3       ? 1
					   : size[d + 1] * stride[d + 1];
	}
	if (status != DNN_DONE)
		return status;
	return n->cudnnSetTensor4dDescriptorEx(*to, type_of(x->dtype), size[0], size[1], size[2],
					       size[3], stride[0], stride[1], stride[2], stride[3]);
}

static int describe(const struct cuda_dnn *n, struct cudnn_convolution *s,
		    const struct library_call *call)
{
	const struct operand *w = &call->arg[1];
	enum dtype dtype = call->out.dtype;
	bool narrow = dtype == DTYPE_F16 || dtype == DTYPE_BF16;
	const struct conv_args *a = &s->args;
	int status = describe_tensor(n, &s->x, &call->arg[0]);

	if (status == DNN_DONE)
		status = describe_tensor(n, &s->y, &call->out);
	if (status == DNN_DONE)
		status = n->cudnnCreateFilterDescriptor(&s->w);
	if (status == DNN_DONE)
		status = n->cudnnSetFilter4dDescriptor(s->w, type_of(dtype), DNN_NCHW,
						       (int)w->size[0], (int)w->size[1],
						       (int)w->size[2], (int)w->size[3]);
	if (status == DNN_DONE)
		status = n->cudnnCreateConvolutionDescriptor(&s->how);
	if (status == DNN_DONE)
		status = n->cudnnSetConvolution2dDescriptor(
		    s->how, (int)a->padding[0], (int)a->padding[1], (int)a->stride[0],
		    (int)a->stride[1], (int)a->dilation[0], (int)a->dilation[1],
		    DNN_CROSS_CORRELATION, dtype == DTYPE_F64 ? DNN_DOUBLE : DNN_FLOAT);
	if (status == DNN_DONE)
		status = n->cudnnSetConvolutionGroupCount(s->how, (int)a->groups);
	if (status == DNN_DONE)
		status = n->cudnnSetConvolutionMathType(s->how, narrow ? DNN_TENSOR_OP : DNN_FMA);
	return status;
}

/* The first way of those that cuDNN thinks fastest for which there is memory. */
static bool choose(const struct cuda_call *c, struct cudnn_convolution *s)
{
	struct dnn_way found[DNN_FORWARD_WAYS];
	const struct cuda_dnn *n = s->dnn;
	int count = 0;

	if (n->cudnnGetConvolutionForwardAlgorithm_v7(n->handle, s->x, s->w, s->how, s->y,
						      DNN_FORWARD_WAYS, &count, found) != DNN_DONE)
		return false;
	for (int i = 0; i < count; i++) {
		size_t bytes = 0;

		if (found[i].status != DNN_DONE || n->cudnnGetConvolutionForwardWorkspaceSize(
						       n->handle, s->x, s->w, s->how, s->y,
						       found[i].algorithm, &bytes) != DNN_DONE)
			continue;
		s->room = bytes ? (void *)cuda_take(c->device, bytes) : NULL;
		if (bytes && !s->room)
			continue;
		s->room_bytes = bytes;
		s->algorithm = found[i].algorithm;
		return true;
	}
	return false;
}

static void drop_descriptors(struct cudnn_convolution *s)
{
	const struct cuda_dnn *n = s->dnn;

	if (n && s->x)
		n->cudnnDestroyTensorDescriptor(s->x);
	if (n && s->y)
		n->cudnnDestroyTensorDescriptor(s->y);
	if (n && s->w)
		n->cudnnDestroyFilterDescriptor(s->w);
	if (n && s->how)
		n->cudnnDestroyConvolutionDescriptor(s->how);
	s->dnn = NULL;
}

static void fill(struct conv_args *a, const struct library_call *call)
{
	const struct operand *x = &call->arg[0], *w = &call->arg[1], *y = &call->out;

	a->batch = x->size[0];
	a->channels = w->size[1];
	a->groups = call->number[5];
	a->out_channels = y->size[1];
	for (int i = 0; i < 2; i++) {
		a->in_size[i] = x->size[2 + i];
		a->out_size[i] = y->size[2 + i];
		a->kernel[i] = w->size[2 + i];
		a->stride[i] = library_entry(call, "stride", i, 1);
		a->padding[i] = library_entry(call, "padding", i, 0);
		a->dilation[i] = library_entry(call, "dilation", i, 1);
	}
	for (int d = 0; d < 4; d++) {
		a->x_stride[d] = x->stride[d];
		a->w_stride[d] = w->stride[d];
	}
}

static enum placing bind(const struct cuda_call *c, void **state, struct err *err)
{
	struct cudnn_convolution *s = cuda_state(sizeof(*s), err);

	*state = s;
	if (!s)
		return NOWHERE;
	fill(&s->args, c->call);
	s->dnn = suits(c->call) ? open_dnn(c->device) : NULL;
	if (s->dnn && (describe(s->dnn, s, c->call) != DNN_DONE || !choose(c, s)))
		drop_descriptors(s);
	if (s->dnn)
		return ON_DEVICE;
	if (!c->module)
		return WANTS_KERNELS;
	return cuda_function(c, "convolve", &s->function, err) ? ON_DEVICE : NOWHERE;
}

static void run(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct cudnn_convolution *s = state;
	struct conv_args *a = &s->args;
	const double one = 1, zero = 0;
	const float one_f = 1, zero_f = 0;
	bool wide = c->call->out.dtype == DTYPE_F64;

	a->x = operand_start(&c->call->arg[0], buffers);
	a->w = operand_start(&c->call->arg[1], buffers);
	a->out = operand_start(&c->call->out, buffers);
	if (!s->dnn)
		cuda_start(c, s->function, cuda_blocks(c, c->call->out.numel), ARGS_THREADS, a);
	else if (s->dnn->cudnnConvolutionForward(
		     s->dnn->handle, wide ? (const void *)&one : &one_f, s->x, a->x, s->w, a->w,
		     s->how, s->algorithm, s->room, s->room_bytes,
		     wide ? (const void *)&zero : &zero_f, s->y, a->out) != DNN_DONE)
		cuda_check(c->device, CUDA_ERROR_UNKNOWN, "cuDNN's convolution");
}

static void drop(struct device *d, void *state)
{
	struct cudnn_convolution *s = state;

	if (!s)
		return;
	drop_descriptors(s);
	if (s->room)
		cuda_release(d, (uint64_t)s->room, s->room_bytes);
	free(s);
}

const struct cuda_library cuda_convolution = {
	.part = PART_WINDOW, .late = true, .emit = emit, .bind = bind, .run = run, .drop = drop
};
