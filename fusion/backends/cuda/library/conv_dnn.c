/* fusion/backends/cuda/library/conv_dnn.c -- convolutions and their gradients as graphs of cuDNN.
 *
 * Where much is to be computed the first call of a shape tries cuDNN's engines: the one that its
 * heuristics name first takes up to twice the time of another.
 */
#include "fusion/backends/cuda/library/conv.h"
#include "fusion/base/hash.h"

enum { ID_X = 1, ID_W, ID_Y, IDS = 3 };

/* Operations of a convolution that may be worth a trial of engines. */
static const double WORTH_TRIALS = 1 << 26;

void cuda_conv_fill(struct conv_args *a, const struct library_call *call,
		    const struct conv_operands *o)
{
	const struct operand *x = o->x, *w = o->w, *y = o->y;

	a->batch = x->size[0];
	a->channels = w->size[1];
	a->groups = o->groups;
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
		a->y_stride[d] = y->stride[d];
	}
}

static bool suits(const struct operand *x, enum dtype dtype)
{
	if (x->dtype != dtype || x->numel == 0 || x->numel > INT32_MAX)
		return false;
	for (int d = 0; d < 4; d++)
		if (x->stride[d] <= 0 && x->size[d] > 1)
			return false;
	return true;
}

bool cuda_conv_suits(const struct conv_operands *o)
{
	enum dtype dtype = o->y->dtype;

	return dtype_category(dtype) == CATEGORY_FLOAT && suits(o->x, dtype) &&
	       suits(o->y, dtype) && o->w->dtype == dtype && o->w->numel > 0;
}

static struct dnn_shape shape_of(const struct operand *x, bool channels_last)
{
	struct dnn_shape shape = { .rank = 4 };

	for (int d = 3; d >= 0; d--) {
		shape.size[d] = x->size[d];
		/* A dim of one element has any step: such that it looks packed. */
		shape.stride[d] = x->size[d] > 1 || channels_last ? x->stride[d]
				  : d == 3                        ? 1
					   : shape.size[d + 1] * shape.stride[d + 1];
	}
	return shape;
}

/* The filters, which lie so or are packed so. */
static struct dnn_shape filters_of(const struct operand *w, bool channels_last)
{
	struct dnn_shape shape = { .rank = 4 };
	int64_t step = 1;

	for (int d = 3; d >= 0; d--) {
		shape.size[d] = w->size[d];
		shape.stride[d] = step;
		step *= w->size[d];
	}
	for (int d = 1; channels_last && d < 4; d++)
		shape.stride[d] = d == 1 ? 1 : shape.stride[d] * w->size[1];
	return shape;
}

static struct dnn_windows windows_of(const struct conv_args *a)
{
	struct dnn_windows windows;

	for (int i = 0; i < 2; i++) {
		windows.stride[i] = a->stride[i];
		windows.padding[i] = a->padding[i];
		windows.dilation[i] = a->dilation[i];
	}
	return windows;
}

/* The same for all that are computed alike. */
static uint64_t key_of(const struct conv_args *a, const struct conv_operands *o)
{
	struct conv_args sizes = *a;

	sizes.x = sizes.w = sizes.y = sizes.out = sizes.packed = NULL;
	return hash_bytes(&sizes, sizeof(sizes),
			  ((uint64_t)o->result * 2 + o->varies) * DTYPE_COUNT + o->y->dtype);
}

/* Elements from the first to the last. */
static size_t reach_of(const struct dnn_shape *s)
{
	int64_t last = 0;

	for (int d = 0; d < s->rank; d++)
		last += (s->size[d] - 1) * s->stride[d];
	return (size_t)last + 1;
}

static bool is_worth_trials(const struct cuda_call *c, const struct conv_args *a)
{
	return sym_var_count(c->call->graph->syms) == 0 &&
	       2.0 * (double)a->batch * (double)a->out_channels * (double)a->channels *
		       (double)(a->out_size[0] * a->out_size[1]) *
		       (double)(a->kernel[0] * a->kernel[1]) >=
		   WORTH_TRIALS;
}

struct dnn_graph *cuda_conv_graph(const struct cuda_call *c, const struct conv_args *a,
				  const struct conv_operands *o)
{
	static const enum dnn_kind kinds[] = {
		[CONV_Y] = DNN_CONVOLUTION, [CONV_X] = DNN_FOR_X, [CONV_W] = DNN_FOR_FILTERS
	};
	enum dtype dtype = o->y->dtype;
	enum dnn_type type = dnn_type_of(dtype);
	const struct dnn_shape shapes[IDS] = { shape_of(o->x, o->channels_last),
					       filters_of(o->w, o->channels_last),
					       shape_of(o->y, o->channels_last) };
	struct dnn_windows windows = windows_of(a);
	struct dnn_graph *g = dnn_begin(dnn_open(c->device), c->device);
	struct dnn_trial trial = { .key = key_of(a, o), .n = IDS };
	dnn_item at[IDS];

	if (!g)
		return NULL;
	g->exact = dtype == DTYPE_F32;
	g->varies = o->varies;
	for (int i = 0; i < IDS; i++) {
		trial.id[i] = ID_X + i;
		trial.bytes[i] = reach_of(&shapes[i]) * dtype_bytes(dtype);
		at[i] = dnn_add_tensor(g, type, &shapes[i], DNN_IN_MEMORY, ID_X + i);
	}
	dnn_add_op(g, &(struct dnn_op){ .kind = kinds[o->result],
					.math = dtype == DTYPE_F64 ? DNN_DOUBLE : DNN_FLOAT,
					.x = at[0],
					.b = at[1],
					.y = at[2],
					.windows = &windows });
	if (dnn_finish(g, is_worth_trials(c, a) ? &trial : NULL))
		return g;
	dnn_drop(g);
	return NULL;
}

void cuda_conv_run(const struct cuda_call *c, const struct dnn_graph *g, const void *x,
		   const void *w, const void *y)
{
	const int64_t ids[] = { ID_X, ID_W, ID_Y };
	void *const at[] = { (void *)x, (void *)w, (void *)y };

	if (!dnn_run(g, ids, at, IDS))
		cuda_check(c->device, CUDA_ERROR_UNKNOWN, "cuDNN's convolution");
}
