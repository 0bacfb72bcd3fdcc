/* fusion/backends/library/windows.c -- ops over windows of an image: convolution, pools,
 * columns.
 */
#include <math.h>
#include <string.h>

#include "fusion/backends/gemm/gemm.h"
#include "fusion/backends/library/library.h"

/* ---- convolutions as products of matrices without columns
 *
 * The windows of an image are a matrix [channels * kernel, windows] in which an
 * element lies at the sum of two offsets, one of its row and one of its column:
 * gemm.c packs it from the image by two tables, so im2col's matrix, nine images
 * large for a kernel of 3 x 3, is never written.  Padding is a copy of the input
 * with zeros around it, whose borders are written once.
 *
 * Where windows that are neighbours lie so in memory, and there are channels enough to
 * fill vectors, the roles are changed: windows are the rows, each read where it lies by
 * the offsets of the kernel's elements, and the weights are packed, once for all images.
 *
 * Measured on 16 AVX-512 cores beside oneDNN through PyTorch (torch_blocks.py,
 * rows conv2d*); Winograd's transforms would give other sums than PyTorch's, and
 * oneDNN would be a second library with a pool of threads of its own.
 */

enum {
	SLACK = 64,               /* bytes after the padded copy: vectors read there */
	WORTH_A_THREAD = 1 << 13, /* elements to copy */
	FEW_CHANNELS = 16,        /* of the output: fewer leave vectors empty */
	FEW_WINDOWS = 4,          /* in a row: fewer are no strip */
};

/* What the product's memory has room for, besides. */
struct library_convolution {
	int64_t pad[2], size[2]; /* of the padded input */
	int64_t stride[4];       /* of what the product reads, in elements */
	bool pads;               /* the padded input follows */
	bool direct;             /* the image is the product's first operand */
	_Alignas(64) unsigned char padded[];
};

static void add(struct axis_dims *a, int64_t size, int64_t in_first, int64_t in_second,
		int64_t in_out)
{
	a->size *= size;
	if (size != 1)
		a->at[a->n++] = (struct axis_dim){ size, { in_first, in_second, in_out } };
}

/* Whether windows that are neighbours are read where they lie: a kernel over several
 * elements reads each often, and the vectors are full of channels. */
static bool is_direct(const struct library_call *call, const struct library_convolution *c)
{
	const struct operand *w = &call->arg[1], *y = &call->out;
	int64_t groups = call->number[5];

	return y->dtype == DTYPE_F32 && groups == 1 && !call->rows && c->stride[3] == 1 &&
	       w->size[2] * w->size[3] > 1 && y->size[1] >= FEW_CHANNELS &&
	       y->size[3] >= FEW_WINDOWS;
}

/* Windows by channels: the image is the first operand. */
static struct gemm *create_direct(const struct library_call *call,
				  const struct library_convolution *c, struct gemm *like)
{
	const struct operand *x = &call->arg[0], *w = &call->arg[1], *y = &call->out;
	struct axis_dims batch = { .size = 1 }, row = batch, column = batch, k = batch;
	int64_t windows = y->size[2] * y->size[3];

	like->run = y->size[3];
	like->run_step = library_entry(call, "stride", 1, 1);
	add(&batch, x->size[0], c->stride[0], 0, y->size[1] * windows);
	for (int i = 0; i < 2; i++)
		add(&row, y->size[2 + i], library_entry(call, "stride", i, 1) * c->stride[2 + i], 0,
		    i ? 1 : y->size[3]);
	add(&column, y->size[1], 0, w->stride[0], windows);
	add(&k, w->size[1], c->stride[1], w->stride[1], 0);
	for (int i = 0; i < 2; i++)
		add(&k, w->size[2 + i], library_entry(call, "dilation", i, 1) * c->stride[2 + i],
		    w->stride[2 + i], 0);
	return gemm_create(like, &batch, &row, &column, &k);
}

static struct gemm *create_product(const struct library_call *call,
				   const struct library_convolution *c, size_t extra_bytes)
{
	const struct operand *x = &call->arg[0], *w = &call->arg[1], *y = &call->out;
	struct axis_dims batch = { .size = 1 }, row = batch, column = batch, k = batch;
	struct gemm like = { .kernels = call->kernels,
			     .dtype = y->dtype,
			     .whole_rows = call->rows,
			     .epilogue_cost = call->cost,
			     .extra_bytes = extra_bytes };
	int64_t groups = call->number[5], windows = y->size[2] * y->size[3];
	int64_t out = groups ? y->size[1] / groups : 0, in = w->size[1];

	if (c->direct)
		return create_direct(call, c, &like);

	add(&batch, x->size[0], 0, c->stride[0], y->size[1] * windows);
	add(&batch, groups, out * w->stride[0], in * c->stride[1], out * windows);
	add(&row, out, w->stride[0], 0, windows);
	for (int i = 0; i < 2; i++)
		add(&column, y->size[2 + i], 0,
		    library_entry(call, "stride", i, 1) * c->stride[2 + i], i ? 1 : y->size[3]);
	add(&k, in, w->stride[1], c->stride[1], 0);
	for (int i = 0; i < 2; i++)
		add(&k, w->size[2 + i], w->stride[2 + i],
		    library_entry(call, "dilation", i, 1) * c->stride[2 + i], 0);
	return gemm_create(&like, &batch, &row, &column, &k);
}

static bool bind_convolution(struct library_call *call, struct err *err)
{
	const struct operand *x = &call->arg[0];
	struct library_convolution c = { 0 };
	struct gemm *g;
	size_t bytes = sizeof(c);

	for (int i = 0; i < 2; i++) {
		c.pad[i] = library_entry(call, "padding", i, 0);
		c.size[i] = x->size[2 + i] + 2 * c.pad[i];
		c.pads |= c.pad[i] > 0;
	}
	memcpy(c.stride, x->stride, sizeof(c.stride));
	if (c.pads) {
		c.stride[3] = 1;
		c.stride[2] = c.size[1];
		c.stride[1] = c.size[0] * c.size[1];
		c.stride[0] = x->size[1] * c.stride[1];
		bytes += (size_t)(x->size[0] * c.stride[0]) * dtype_bytes(x->dtype) + SLACK;
	}
	c.direct = is_direct(call, &c);
	g = create_product(call, &c, bytes);
	if (!g)
		return library_no_memory(err);
	memcpy(g->extra, &c, sizeof(c));
	call->state = g;
	library_gemm_rooms(call, g);
	if (gemm_tells_blocks(g))
		call->threads = gemm_threads(g);
	return true;
}

/* What the copy of a plane needs: the input's rows between zeros. */
struct padding {
	const struct library_call *call;
	struct library_convolution *c;
	const char *in;
};

static void pad_planes(void *context, int64_t begin, int64_t end, int thread)
{
	const struct padding *p = context;
	const struct operand *x = &p->call->arg[0];
	const struct library_convolution *c = p->c;
	size_t bytes = dtype_bytes(x->dtype);

	(void)thread;
	for (; begin < end; begin++) {
		const char *in = p->in + library_offset(x, 0, 2, begin) * (int64_t)bytes;
		unsigned char *to = p->c->padded + (size_t)(begin * c->stride[1] +
							    c->pad[0] * c->stride[2] + c->pad[1]) *
						       bytes;

		for (int64_t i = 0; i < x->size[2]; i++) {
			const char *row = in + i * x->stride[2] * (int64_t)bytes;
			unsigned char *at = to + (size_t)(i * c->stride[2]) * bytes;

			if (x->stride[3] == 1)
				memcpy(at, row, (size_t)x->size[3] * bytes);
			for (int64_t j = 0; j < x->size[3] && x->stride[3] != 1; j++)
				memcpy(at + (size_t)j * bytes,
				       row + j * x->stride[3] * (int64_t)bytes, bytes);
		}
	}
}

static void run_convolution(const struct library_call *call, void *const *buffers,
			    struct pool *pool)
{
	const struct operand *x = &call->arg[0];
	const struct gemm *g = call->state;
	struct library_convolution *c = g->extra;
	struct padding padding = { call, c, operand_start(x, buffers) };
	int64_t plane = x->size[2] * x->size[3];
	const void *image, *weight;

	if (c->pads && plane > 0)
		pool_run(pool, x->size[0] * x->size[1],
			 plane < WORTH_A_THREAD ? WORTH_A_THREAD / plane + 1 : 1, pad_planes,
			 &padding);
	image = c->pads ? (const void *)c->padded : padding.in;
	weight = operand_start(&call->arg[1], buffers);
	library_product(call, c->direct ? image : weight, c->direct ? weight : image, buffers,
			pool);
}

const struct library_op library_conv_windows = { bind_convolution, run_convolution };

/* ---- windows over the last two dims: columns and pools */

/* How windows lie: [0] down, [1] across. */
struct window_rows {
	const struct library_call *call;
	const char *in;
	char *out;
	int64_t in_size[2], in_stride[2], out_size[2];
	int64_t kernel[2], stride[2], padding[2], dilation[2];
	bool all; /* avg_pool2d: padding counts */
};

static struct window_rows open_windows(const struct library_call *call, void *const *buffers)
{
	const struct operand *x = &call->arg[0], *y = &call->out;
	struct window_rows w = { .call = call,
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
	const struct window_rows *w = context;
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
	struct window_rows w = open_windows(call, buffers);

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
struct window_range {
	int64_t begin, end, step, padded; /* padded: with those in the padding */
};

static struct window_range range_of(const struct window_rows *w, int axis, int64_t index)
{
	struct window_range r = { .step = w->dilation[axis] };
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

static void pool_one(const struct window_rows *w, bool largest, int64_t from, int64_t to,
		     struct window_range r, struct window_range c)
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

static void pool_planes(const struct window_rows *w, int64_t begin, int64_t end, bool largest)
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
	struct window_rows w = open_windows(call, buffers);
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
