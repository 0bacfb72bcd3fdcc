/* fusion/backends/library_conv.c -- convolutions as products of matrices without columns.
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
#include <string.h>

#include "fusion/backends/gemm.h"
#include "fusion/backends/library.h"

enum {
	SLACK = 64,               /* bytes behind the padded copy: vectors read there */
	WORTH_A_THREAD = 1 << 13, /* elements to copy */
	FEW_CHANNELS = 16,        /* of the output: fewer leave vectors empty */
	FEW_WINDOWS = 4,          /* in a row: fewer are no strip */
};

/* What the product's memory has room for, besides. */
struct convolution {
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
static bool is_direct(const struct library_call *call, const struct convolution *c)
{
	const struct operand *w = &call->arg[1], *y = &call->out;
	int64_t groups = call->number[5];

	return y->dtype == DTYPE_F32 && groups == 1 && !call->rows && c->stride[3] == 1 &&
	       w->size[2] * w->size[3] > 1 && y->size[1] >= FEW_CHANNELS &&
	       y->size[3] >= FEW_WINDOWS;
}

/* Windows by channels: the image is the first operand. */
static struct gemm *create_direct(const struct library_call *call, const struct convolution *c,
				  struct gemm *like)
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

static struct gemm *create_product(const struct library_call *call, const struct convolution *c,
				   size_t extra_bytes)
{
	const struct operand *x = &call->arg[0], *w = &call->arg[1], *y = &call->out;
	struct axis_dims batch = { .size = 1 }, row = batch, column = batch, k = batch;
	struct gemm like = { .kernels = call->kernels,
			     .dtype = y->dtype,
			     .whole_rows = call->rows,
			     .behind_cost = call->cost,
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
	struct convolution c = { 0 };
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
	struct convolution *c;
	const char *in;
};

static void pad_planes(void *context, int64_t begin, int64_t end, int thread)
{
	const struct padding *p = context;
	const struct operand *x = &p->call->arg[0];
	const struct convolution *c = p->c;
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
	struct convolution *c = g->extra;
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
