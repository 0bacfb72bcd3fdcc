/* fusion/backends/library_window.c -- windows over the last two dims: columns and pools. */
#include <math.h>
#include <string.h>

#include "fusion/backends/library.h"

/* How windows lie: [0] down, [1] across. */
struct windows {
	const struct library_call *call;
	const char *in;
	char *out;
	int64_t in_size[2], in_stride[2], out_size[2];
	int64_t kernel[2], stride[2], padding[2], dilation[2];
	bool all; /* avg_pool2d: padding counts */
};

static struct windows open_windows(const struct library_call *call, void *const *buffers)
{
	const struct operand *x = &call->arg[0], *y = &call->out;
	struct windows w = { .call = call,
			     .in = operand_start(x, buffers),
			     .out = operand_start(y, buffers) };

	for (int i = 0; i < 2; i++) {
		w.in_size[i] = x->size[x->rank - 2 + i];
		w.in_stride[i] = x->stride[x->rank - 2 + i];
		w.out_size[i] = y->size[y->rank - 2 + i];
		w.kernel[i] = library_entry(call, "kernel_size", i, 1);
		w.stride[i] = library_entry(call, "stride", i, w.kernel[i]);
		w.padding[i] = library_entry(call, "padding", i, 0);
		w.dilation[i] = library_entry(call, "dilation", i, 1);
	}
	return w;
}

/* One plane of im2col: a channel of a sample. */
static void columns_plane(void *context, int64_t begin, int64_t end, int thread)
{
	const struct windows *w = context;
	const struct operand *x = &w->call->arg[0];
	size_t bytes = dtype_bytes(x->dtype);
	int64_t count = w->out_size[0] * w->out_size[1];

	(void)thread;
	for (int64_t plane = begin; plane < end; plane++) {
		const char *in = w->in + library_offset(x, 0, x->rank - 2, plane) * (int64_t)bytes;
		char *to = w->out + plane * w->kernel[0] * w->kernel[1] * count * (int64_t)bytes;

		for (int64_t k = 0; k < w->kernel[0] * w->kernel[1]; k++)
			for (int64_t i = 0; i < count; i++, to += bytes) {
				int64_t r = i / w->out_size[1] * w->stride[0] - w->padding[0] +
					    k / w->kernel[1] * w->dilation[0];
				int64_t c = i % w->out_size[1] * w->stride[1] - w->padding[1] +
					    k % w->kernel[1] * w->dilation[1];

				if (r < 0 || r >= w->in_size[0] || c < 0 || c >= w->in_size[1])
					memset(to, 0, bytes);
				else
					memcpy(to,
					       in + (r * w->in_stride[0] + c * w->in_stride[1]) *
							(int64_t)bytes,
					       bytes);
			}
	}
}

static int64_t planes(const struct operand *x)
{
	int64_t n = 1;

	for (int d = 0; d < x->rank - 2; d++)
		n *= x->size[d];
	return n;
}

static void run_columns(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	struct windows w = open_windows(call, buffers);

	for (int i = 0; i < 2; i++)
		w.out_size[i] = (w.in_size[i] + 2 * w.padding[i] -
				 w.dilation[i] * (w.kernel[i] - 1) - 1) /
				    w.stride[i] +
				1;
	if (call->out.numel > 0)
		pool_run(pool, planes(&call->arg[0]), 1, columns_plane, &w);
}

const struct library_op library_im2col = { NULL, run_columns };

/* The rows (or columns) of a window that lie in the input: [begin, end) by step. */
struct range {
	int64_t begin, end, step, padded; /* padded: with those in the padding */
};

static struct range range_of(const struct windows *w, int axis, int64_t index)
{
	struct range r = { .step = w->dilation[axis] };
	int64_t last;

	if (w->kernel[axis] == 0) { /* adaptive: as many windows as asked for */
		r.begin = index * w->in_size[axis] / w->out_size[axis];
		r.end = ((index + 1) * w->in_size[axis] + w->out_size[axis] - 1) /
			w->out_size[axis];
		r.padded = r.end - r.begin;
		return r;
	}
	r.begin = index * w->stride[axis] - w->padding[axis];
	r.end = r.begin + (w->kernel[axis] - 1) * r.step + 1;
	last = w->in_size[axis] + w->padding[axis];
	r.padded = (r.end < last ? r.end : last) - r.begin;
	while (r.begin < 0)
		r.begin += r.step;
	if (r.end > w->in_size[axis])
		r.end = w->in_size[axis];
	return r;
}

static void pool_one(const struct windows *w, bool largest, int64_t from, int64_t to,
		     struct range r, struct range c)
{
	const struct operand *x = &w->call->arg[0];
	bool floats = dtype_category(x->dtype) == CATEGORY_FLOAT;
	double sum = largest ? -INFINITY : 0;
	int64_t most = INT64_MIN, count = 0;

	for (int64_t i = r.begin; i < r.end; i += r.step)
		for (int64_t j = c.begin; j < c.end; j += c.step, count++) {
			int64_t at = from + i * w->in_stride[0] + j * w->in_stride[1];
			double value;

			if (!floats) {
				int64_t v = dtype_get_int(x->dtype, w->in, at);

				most = v > most ? v : most;
				continue;
			}
			value = dtype_get_double(x->dtype, w->in, at);
			if (!largest)
				sum += value;
			else if (value > sum || isnan(value))
				sum = value;
		}
	if (!floats)
		dtype_put_int(x->dtype, w->out, to, most);
	else if (largest)
		dtype_put_double(x->dtype, w->out, to, sum);
	else
		dtype_put_double(x->dtype, w->out, to,
				 sum / (double)(w->all ? r.padded * c.padded : count));
}

static void pool_planes(const struct windows *w, int64_t begin, int64_t end, bool largest)
{
	const struct operand *x = &w->call->arg[0];
	int64_t to = begin * w->out_size[0] * w->out_size[1];

	for (int64_t plane = begin; plane < end; plane++) {
		int64_t from = library_offset(x, 0, x->rank - 2, plane);

		for (int64_t i = 0; i < w->out_size[0]; i++)
			for (int64_t j = 0; j < w->out_size[1]; j++)
				pool_one(w, largest, from, to++, range_of(w, 0, i),
					 range_of(w, 1, j));
	}
}

static void max_planes(void *context, int64_t begin, int64_t end, int thread)
{
	(void)thread;
	pool_planes(context, begin, end, true);
}

static void mean_planes(void *context, int64_t begin, int64_t end, int thread)
{
	(void)thread;
	pool_planes(context, begin, end, false);
}

static void run_pool(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	struct windows w = open_windows(call, buffers);
	enum op op = call->node->op;
	bool largest = op == OP_max_pool2d || op == OP_adaptive_max_pool2d;

	w.all = op == OP_avg_pool2d && call->number[5];
	if (op == OP_adaptive_avg_pool2d || op == OP_adaptive_max_pool2d)
		w.kernel[0] = w.kernel[1] = 0;
	if (call->out.numel > 0)
		pool_run(pool, planes(&call->arg[0]), 1, largest ? max_planes : mean_planes, &w);
}

const struct library_op library_max_pool2d = { NULL, run_pool };
const struct library_op library_avg_pool2d = { NULL, run_pool };
const struct library_op library_adaptive_avg_pool2d = { NULL, run_pool };
const struct library_op library_adaptive_max_pool2d = { NULL, run_pool };
