/* fusion/backends/cuda/library/conv.c -- convolutions by cuDNN; without it by a kernel of our own.
 *
 * Sums of float32 are of float32: TF32 stays off.  float64, and float32 of which a graph of cuDNN
 * has no engine, are its older function.
 */
#include <stdlib.h>

#include "fusion/backends/cuda/library/conv.h"

/* ---- convolutions */

struct cudnn_convolution {
	CUfunction function; /* our own */
	CUfunction pack;     /* of filters that do not lie row by row; NULL */
	size_t packed_bytes;
	bool own_filters;
	struct conv_args args;
	struct dnn_graph *graph;    /* float16 and bfloat16 by cuDNN; NULL */
	const struct cuda_dnn *dnn; /* float32 and float64 by cuDNN; NULL */
	dnn_tensor x, y;
	dnn_filter w;
	dnn_convolution how;
	int algorithm;
	void *room;
	size_t room_bytes;
};

enum { MOST_TAPS = 128, MOST_STEP = 3 };

static int64_t first_of(const struct node *n, const char *name, int64_t none)
{
	const struct arg *arg = node_arg(n, name);

	return arg->kind != ARG_INTS || arg->n == 0 ? none
	       : sym_is_const(arg->ints[0])         ? arg->ints[0]->value
						    : -1;
}

/* A filter for each channel, of a size that the text can have; one step both ways. */
static bool has_own_filters(const struct graph *g, const struct node *n)
{
	const struct shape *w = &g->nodes[n->args[1].node]->shape;
	const struct arg *stride = node_arg(n, "stride"), *dilation = node_arg(n, "dilation");
	int64_t step = first_of(n, "stride", 1);

	if (n->dtype == DTYPE_F64 || !sym_is(w->size[1], 1) || !sym_is_const(w->size[2]) ||
	    !sym_is_const(w->size[3]) || w->size[2]->value * w->size[3]->value > MOST_TAPS ||
	    step < 1 || step > MOST_STEP || w->size[2]->value < 1 || w->size[3]->value < 1)
		return false;
	for (int i = 0; i < stride->n; i++)
		if (!sym_is(stride->ints[i], step))
			return false;
	for (int i = 0; i < dilation->n; i++)
		if (!sym_is(dilation->ints[i], 1))
			return false;
	return true;
}

static void emit_pack(struct buf *out, const struct node *n, const struct shape *w, int kernel)
{
	const struct cuda_function_name name = { kernel, "pack", ARGS_THREADS };
	const char *bits = cuda_bits(dtype_bytes(n->dtype));

	if (n->channels_last) /* its sizes are constants (pass views) */
		cuda_emit_function(out, name, "conv_args", "pack_channels_last<%s, %d, %d>", bits,
				   (int)(w->size[2]->value * w->size[3]->value),
				   (int)w->size[3]->value);
	else
		cuda_emit_function(out, name, "conv_args", "pack_filters<%s>", bits);
}

static void emit(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	const struct shape *w = &g->nodes[n->args[1].node]->shape;

	if (has_own_filters(g, n))
		cuda_emit_function(
		    out, (struct cuda_function_name){ kernel, "convolve", DEPTHWISE_THREADS },
		    "conv_args", "depthwise<%s, %d, %d, %d>", cuda_element(n->dtype),
		    (int)w->size[2]->value, (int)w->size[3]->value, (int)first_of(n, "stride", 1));
	else {
		cuda_emit_function(out,
				   (struct cuda_function_name){ kernel, "convolve", ARGS_THREADS },
				   "conv_args", "convolve<%s>", cuda_element(n->dtype));
		emit_pack(out, n, w, kernel);
	}
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
	return n->cudnnSetTensor4dDescriptorEx(*to, dnn_type_of(x->dtype), size[0], size[1],
					       size[2], size[3], stride[0], stride[1], stride[2],
					       stride[3]);
}

static int describe(const struct cuda_dnn *n, struct cudnn_convolution *s,
		    const struct library_call *call)
{
	const struct operand *w = &call->arg[1];
	enum dtype dtype = call->out.dtype;
	const struct conv_args *a = &s->args;
	int status = describe_tensor(n, &s->x, &call->arg[0]);

	if (status == DNN_DONE)
		status = describe_tensor(n, &s->y, &call->out);
	if (status == DNN_DONE)
		status = n->cudnnCreateFilterDescriptor(&s->w);
	if (status == DNN_DONE)
		status = n->cudnnSetFilter4dDescriptor(s->w, dnn_type_of(dtype), DNN_NCHW,
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
		status = n->cudnnSetConvolutionMathType(s->how, DNN_FMA);
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

static struct conv_operands operands_of(const struct library_call *call)
{
	return (struct conv_operands){ .x = &call->arg[0],
				       .w = &call->arg[1],
				       .y = &call->out,
				       .groups = call->number[5],
				       .result = CONV_Y,
				       .channels_last = call->node->channels_last };
}

static bool is_narrow(enum dtype dtype)
{
	return dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

static enum placing no_room(const struct cuda_call *c, struct err *err)
{
	if (!err->code)
		err_set(err, ERR_MEMORY,
			"There is no memory left on the device for %s; use smaller inputs.",
			c->call->node->fx);
	return NOWHERE;
}

/* Filters that are turned around, as those of gradients and of transposed convolutions, are packed
 * before each call: cuDNN takes none of them.  So are those whose channels shall lie last. */
static bool is_packed(const struct conv_operands *o)
{
	return !cuda_row_by_row(o->w) || (o->channels_last && o->w->size[2] * o->w->size[3] > 1);
}

static bool find_pack(const struct cuda_call *c, struct cudnn_convolution *s,
		      const struct conv_operands *o, struct err *err)
{
	const struct operand *w = o->w;

	if (!is_packed(o))
		return true;
	s->packed_bytes = (size_t)w->numel * dtype_bytes(w->dtype);
	s->args.packed = (void *)cuda_take(c->device, s->packed_bytes);
	return s->args.packed && cuda_function(c, "pack", &s->pack, err);
}

static enum placing bind(const struct cuda_call *c, void **state, struct err *err)
{
	struct conv_operands o = operands_of(c->call);
	struct cudnn_convolution *s = cuda_state(sizeof(*s), err);
	bool suits;

	*state = s;
	if (!s)
		return NOWHERE;
	cuda_conv_fill(&s->args, c->call, &o);
	s->own_filters = has_own_filters(c->call->graph, c->call->node);
	suits = !s->own_filters && cuda_conv_suits(&o);
	if (suits && is_packed(&o) && !c->module)
		return WANTS_KERNELS;
	if (suits && c->call->out.dtype != DTYPE_F64)
		s->graph = cuda_conv_graph(c, &s->args, &o);
	if (suits && !s->graph && !is_narrow(c->call->out.dtype))
		s->dnn = dnn_open(c->device);
	if (s->dnn && (describe(s->dnn, s, c->call) != DNN_DONE || !choose(c, s)))
		drop_descriptors(s);
	if (s->dnn || s->graph)
		return find_pack(c, s, &o, err) ? ON_DEVICE : no_room(c, err);
	if (!c->module)
		return WANTS_KERNELS;
	return cuda_function(c, "convolve", &s->function, err) ? ON_DEVICE : NOWHERE;
}

static int64_t depthwise_blocks(const struct conv_args *a)
{
	const int across = 4 * 16, down = 2 * DEPTHWISE_THREADS / 16;

	return a->batch * a->out_channels * ((a->out_size[0] + down - 1) / down) *
	       ((a->out_size[1] + across - 1) / across);
}

static void run(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct cudnn_convolution *s = state;
	struct conv_args *a = &s->args;
	const double one = 1, zero = 0;
	const float one_f = 1, zero_f = 0;
	bool wide = c->call->out.dtype == DTYPE_F64;
	const void *w;

	a->x = operand_start(&c->call->arg[0], buffers);
	a->w = w = operand_start(&c->call->arg[1], buffers);
	a->out = operand_start(&c->call->out, buffers);
	if (s->pack) {
		cuda_start(c, s->pack, cuda_blocks(c, c->call->arg[1].numel), ARGS_THREADS, a);
		w = a->packed;
	}
	if (s->graph)
		cuda_conv_run(c, s->graph, a->x, w, a->out);
	else if (s->own_filters)
		cuda_start(c, s->function, depthwise_blocks(a), DEPTHWISE_THREADS, a);
	else if (!s->dnn)
		cuda_start(c, s->function, cuda_blocks(c, c->call->out.numel), ARGS_THREADS, a);
	else if (s->dnn->cudnnConvolutionForward(
		     s->dnn->handle, wide ? (const void *)&one : &one_f, s->x, a->x, s->w, w,
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
	dnn_drop(s->graph);
	if (s->room)
		cuda_release(d, (uint64_t)s->room, s->room_bytes);
	if (s->args.packed)
		cuda_release(d, (uint64_t)s->args.packed, s->packed_bytes);
	free(s);
}

const struct cuda_library cuda_convolution = {
	.part = PART_WINDOW, .late = true, .emit = emit, .bind = bind, .run = run, .drop = drop
};
