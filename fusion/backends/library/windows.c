/* fusion/backends/library/windows.c -- ops over windows of an image: convolution, pools,
 * columns.
 */
#define FUNCTION_windows(id) &library_##id
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

/* ---- convolutions whose groups have few channels, as depthwise ones
 *
 * A product of matrices would have as few rows.  Here vectors lie along the windows of a
 * row, and a tile of rows stays in registers while the kernel's elements go by: a task is
 * one group of a sample.  Its planes are padded into the thread's room, the columns of a
 * row apart by their place in a step, so that neighbouring windows read neighbours at any
 * stride.  Where that fills more of the vectors, a plane is one row with its padding, and
 * what lies between the rows is dropped.
 */

enum {
	FEW_OUTPUTS = 16,        /* channels of a group */
	GROUP_ROOM = 64,         /* floats between what a thread has: vectors read there */
	GROUP_FLOPS = 1 << 16,   /* what is worth a thread */
	GROUP_PRODUCTS = 1 << 14 /* of a window, at most */
};

struct grouped {
	int64_t pad[2], step[2], out[2]; /* rows, columns */
	int64_t part, row, plane;        /* floats: of the columns of one place, padded */
	int64_t inputs, outputs, products;
	int64_t chain, apart; /* window_sums */
	int64_t line;         /* windows of a plane that is one row; 0: rows on their own */
	int64_t room, weights, sums, cast; /* floats of a thread, and where its parts begin */
	int64_t tasks, grain;
	float *rooms;
	int64_t where[]; /* of each product */
};

static bool is_grouped(const struct library_call *call)
{
	const struct operand *w = &call->arg[1], *y = &call->out;
	int64_t groups = call->number[5];
	bool narrow = y->dtype == DTYPE_F16 || y->dtype == DTYPE_BF16;

	return groups > 1 && (narrow || y->dtype == DTYPE_F32) && call->arg[0].dtype == y->dtype &&
	       w->dtype == y->dtype && y->size[1] / groups < FEW_OUTPUTS && y->numel > 0 &&
	       w->numel > 0 && w->size[1] * w->size[2] * w->size[3] <= GROUP_PRODUCTS;
}

/* How the planes of a group lie, and where a window's elements are in them. */
static void lay_planes(const struct library_call *call, struct grouped *g)
{
	const struct operand *x = &call->arg[0], *w = &call->arg[1];
	int64_t dilation[2], n = 0;

	for (int i = 0; i < 2; i++) {
		g->pad[i] = library_entry(call, "padding", i, 0);
		g->step[i] = library_entry(call, "stride", i, 1);
		g->out[i] = call->out.size[2 + i];
		dilation[i] = library_entry(call, "dilation", i, 1);
	}
	g->part = (x->size[3] + 2 * g->pad[1] + g->step[1] - 1) / g->step[1];
	g->row = g->part * g->step[1];
	g->plane = g->row * (x->size[2] + 2 * g->pad[0]);
	if (g->step[0] == 1 && dilation[0] == 1)
		g->chain = w->size[2];
	g->apart = w->size[3];
	for (int64_t c = 0; c < g->inputs; c++)
		for (int64_t i = 0; i < w->size[2]; i++)
			for (int64_t j = 0; j < w->size[3]; j++) {
				int64_t column = j * dilation[1];

				g->where[n++] = c * g->plane + i * dilation[0] * g->row +
						column % g->step[1] * g->part + column / g->step[1];
			}
}

static int64_t whole_vectors(const struct library_call *call, int64_t points)
{
	int64_t lanes = call->kernels->vector_bytes / (int64_t)sizeof(float);

	return (points + lanes - 1) / lanes;
}

static void lay_rooms(const struct library_call *call, struct grouped *g)
{
	int64_t line = (g->out[0] - 1) * g->row + g->out[1];

	/* Rows of chains read less often. */
	if (g->step[0] == 1 && g->step[1] == 1 &&
	    (g->chain > 1 ? 3 : 2) * whole_vectors(call, line) <=
		2 * g->out[0] * whole_vectors(call, g->out[1]))
		g->line = line;
	g->weights = g->inputs * g->plane + GROUP_ROOM;
	g->sums = g->weights + g->outputs * g->products;
	g->cast = g->sums + (g->line ? g->line : g->out[0] * g->out[1]) + GROUP_ROOM;
	g->room = g->cast + g->row + g->out[1] + GROUP_ROOM;
}

static bool bind_grouped(struct library_call *call, struct err *err)
{
	const struct operand *x = &call->arg[0], *w = &call->arg[1];
	int64_t groups = call->number[5], products = w->size[1] * w->size[2] * w->size[3];
	struct grouped *g, head = { .inputs = w->size[1],
				    .outputs = call->out.size[1] / groups,
				    .products = products,
				    .tasks = x->size[0] * groups };
	int64_t flops;
	size_t bytes;

	g = malloc(sizeof(*g) + sizeof(int64_t) * (size_t)products);
	if (!g)
		return library_no_memory(err);
	*g = head;
	lay_planes(call, g);
	lay_rooms(call, g);
	flops = 2 * products * g->outputs * g->out[0] * g->out[1];
	g->grain = GROUP_FLOPS / flops + 1;
	if (g->grain < (g->tasks + GEMM_THREADS - 1) / GEMM_THREADS)
		g->grain = (g->tasks + GEMM_THREADS - 1) / GEMM_THREADS;
	call->threads = (int)((g->tasks + g->grain - 1) / g->grain);
	bytes = sizeof(*g) + sizeof(int64_t) * (size_t)products;
	bytes = (bytes + sizeof(float) * GROUP_ROOM) & ~(size_t)63;
	head = *g;
	call->state = realloc(g, bytes + (size_t)call->threads * (size_t)head.room * sizeof(float));
	if (!call->state) {
		free(g);
		return library_no_memory(err);
	}
	g = call->state;
	g->rooms = (float *)(void *)((char *)g + bytes);
	memset(g->rooms, 0, (size_t)call->threads * (size_t)g->room * sizeof(float));
	return true;
}

struct grouped_run {
	const struct library_call *call;
	const struct grouped *g;
	const char *x, *w;
	char *y;
	void *const *buffers;
};

/* Rows are short: a call of memcpy() is much. */
static inline void copy_floats(float *to, const float *from, int64_t n)
{
	typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));

	if (n < 4) {
		for (int64_t i = 0; i < n; i++)
			to[i] = from[i];
		return;
	}
	for (int64_t i = 0; i + 4 < n; i += 4)
		*(quad *)(to + i) = *(const quad *)(from + i);
	*(quad *)(to + n - 4) = *(const quad *)(from + n - 4);
}

/* A row of the image as floats side by side, in `room`. */
static const float *widen_columns(const struct library_call *call, const char *row, float *room)
{
	const struct operand *x = &call->arg[0];
	int64_t bytes = (int64_t)dtype_bytes(x->dtype), n = x->size[3];

	if (x->stride[3] == 1)
		call->kernels->cast[DTYPE_F32][x->dtype](room, row, NULL, NULL, n, 0);
	for (int64_t j = 0; x->stride[3] != 1 && j < n; j++)
		room[j] = (float)dtype_get_double(x->dtype, row + j * x->stride[3] * bytes, 0);
	return room;
}

/* Columns apart by their place in a step. */
static inline void part_columns(const struct grouped *g, float *to, const float *from, int64_t n)
{
	int64_t step = g->step[1];

	if (step == 1) {
		copy_floats(to + g->pad[1], from, n);
		return;
	}
	for (int64_t first = 0; first < step && first < n; first++) {
		int64_t column = g->pad[1] + first;
		float *part = to + column % step * g->part + column / step;

		for (int64_t j = first; j < n; j += step)
			*part++ = from[j];
	}
}

static void pad_group(const struct grouped_run *r, int64_t sample, int64_t group, float *room)
{
	const struct operand *x = &r->call->arg[0];
	const struct grouped *g = r->g;
	int64_t bytes = (int64_t)dtype_bytes(x->dtype), rows = x->size[2], columns = x->size[3];
	bool lies = x->stride[3] == 1 && x->dtype == DTYPE_F32;

	for (int64_t c = 0; c < g->inputs; c++) {
		const char *in =
		    r->x + (sample * x->stride[0] + (group * g->inputs + c) * x->stride[1]) * bytes;
		float *to = room + c * g->plane + g->pad[0] * g->row;

		for (int64_t i = 0; i < rows; i++) {
			const char *row = in + i * x->stride[2] * bytes;

			part_columns(g, to + i * g->row,
				     lies ? (const float *)(const void *)row
					  : widen_columns(r->call, row, room + g->cast),
				     columns);
		}
	}
}

/* The weights of a group side by side: where they lie, or copied to `room`. */
static const float *open_weights(const struct grouped_run *r, int64_t group, float *room)
{
	const struct operand *w = &r->call->arg[1];
	int64_t n = r->g->products, first = group * r->g->outputs * n, step = 1;
	bool dense = true;

	for (int d = w->rank - 1; d >= 0; step *= w->size[d--])
		dense &= w->size[d] == 1 || w->stride[d] == step;
	if (dense && w->dtype == DTYPE_F32)
		return (const float *)(const void *)r->w + first;
	for (int64_t i = 0; i < r->g->outputs * n; i++)
		room[i] = (float)dtype_get_double(w->dtype, r->w,
						  library_offset(w, 0, 4, first + i));
	return room;
}

/* The sums of one channel into its plane of the result. */
static void sum_plane(const struct grouped_run *r, float *room, const float *weight, char *to)
{
	const struct grouped *g = r->g;
	const struct kernel_table *kernels = r->call->kernels;
	enum dtype dtype = r->call->out.dtype;
	int64_t bytes = (int64_t)dtype_bytes(dtype), rows = g->out[0], n = g->out[1];
	bool direct = dtype == DTYPE_F32 && (!g->line || rows == 1);
	float *out = direct ? (float *)(void *)to : room + g->sums;
	struct window_sums s = { .in = room,
				 .weight = weight,
				 .where = g->where,
				 .n = g->products,
				 .out = out,
				 .in_step = g->step[0] * g->row,
				 .out_step = n,
				 .chain = g->line ? 0 : g->chain,
				 .apart = g->apart };
	int64_t run = 2 * kernels->vector_bytes / (int64_t)sizeof(float);

	if (g->line) {
		s.in_step = s.out_step = run;
		kernels->window_f32(&s, g->line / run, run);
		s.in += g->line / run * run;
		s.out += g->line / run * run;
		kernels->window_f32(&s, 1, g->line % run);
	} else {
		kernels->window_f32(&s, rows, n);
	}
	for (int64_t i = 0; i < rows && !direct; i++) {
		const float *row = out + i * (g->line ? g->row : n);

		if (dtype == DTYPE_F32) {
			copy_floats((float *)(void *)to + i * n, row, n);
			continue;
		}
		kernels->cast[dtype][DTYPE_F32](room + g->cast, row, NULL, NULL, n, 0);
		memcpy(to + i * n * bytes, room + g->cast, (size_t)(n * bytes));
	}
}

static void group_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct grouped_run *r = context;
	const struct grouped *g = r->g;
	int64_t groups = r->call->number[5], plane = g->out[0] * g->out[1];
	int64_t bytes = (int64_t)dtype_bytes(r->call->out.dtype);
	float *room = g->rooms + thread * g->room;
	const float *weights;

	for (int64_t task = begin; task < end; task++) {
		pad_group(r, task / groups, task % groups, room);
		weights = open_weights(r, task % groups, room + g->weights);
		for (int64_t c = 0; c < g->outputs; c++) {
			int64_t at = (task * g->outputs + c) * plane;

			sum_plane(r, room, weights + c * g->products, r->y + at * bytes);
			if (r->call->epilogue)
				plan_run_block(
				    r->call->epilogue, r->buffers,
				    &(struct plan_block){
					.begin = at, .rows = 1, .step = plane, .n = plane },
				    thread);
		}
	}
}

static void run_grouped(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct grouped *g = call->state;
	struct grouped_run r = { .call = call,
				 .g = g,
				 .x = operand_start(&call->arg[0], buffers),
				 .w = operand_start(&call->arg[1], buffers),
				 .y = operand_start(&call->out, buffers),
				 .buffers = buffers };

	if (call->epilogue)
		plan_begin_blocks(call->epilogue, buffers);
	pool_run(pool, g->tasks, g->grain, group_range, &r);
}

static const struct library_op grouped_convolution = { bind_grouped, run_grouped };

static bool bind_convolution(struct library_call *call, struct err *err)
{
	const struct operand *x = &call->arg[0];
	struct library_convolution c = { 0 };
	struct gemm *g;
	size_t bytes = sizeof(c);

	if (is_grouped(call)) {
		call->op = &grouped_convolution;
		return bind_grouped(call, err);
	}
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
	call->room_bytes = g->room_bytes;
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

static const struct library_op library_conv_windows = { bind_convolution, run_convolution };

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

static const struct library_op library_im2col = { NULL, run_columns };

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

/* ---- pools of floats of up to 32 bits: the rows of a window first, vector by vector, then
 * along the row that is left
 *
 * Sums of POOL_RUN rows are of float32, and those of such sums of float64.
 */

enum { POOL_COLUMNS = 1024, POOL_WINDOWS = 256, POOL_RUN = 32, POOL_SLACK = 16 };

struct pool_strip {
	const struct window_rows *w;
	const char *in; /* the plane */
	bool largest;
	int64_t first, columns; /* of the input */
	int64_t windows;
	struct window_range range[POOL_WINDOWS]; /* of their columns */
	float row[POOL_COLUMNS + POOL_SLACK], room[POOL_COLUMNS + POOL_SLACK];
	double sum[POOL_COLUMNS + POOL_SLACK], wide[POOL_COLUMNS + POOL_SLACK];
};

/* As many windows from j on as there is room for; false: not even one.  In the padding a later
 * window may begin before an earlier one: each begins with the first element that it has. */
static bool open_strip(struct pool_strip *s, int64_t j)
{
	int64_t first = INT64_MAX, end = 0;

	s->windows = 0;
	for (; j < s->w->out_size[1] && s->windows < POOL_WINDOWS; j++) {
		struct window_range r = range_of(s->w, 1, j);
		int64_t least = r.begin < first ? r.begin : first;
		int64_t most = r.end > end ? r.end : end;

		if (most - least > POOL_COLUMNS)
			break;
		first = least;
		end = most;
		s->range[s->windows++] = r;
	}
	s->first = first;
	s->columns = end - first;
	return s->windows > 0;
}

/* The strip's columns of row i. */
static const float *open_pool_row(struct pool_strip *s, int64_t i)
{
	const struct window_rows *w = s->w;
	enum dtype dtype = w->call->arg[0].dtype;
	int64_t bytes = (int64_t)dtype_bytes(dtype), step = w->in_stride[1];
	const char *from = s->in + (i * w->in_stride[0] + s->first * step) * bytes;

	if (step == 1 && dtype == DTYPE_F32)
		return (const float *)(const void *)from;
	if (step == 1)
		w->call->kernels->cast[DTYPE_F32][dtype](s->room, from, NULL, NULL, s->columns, 0);
	for (int64_t j = 0; step != 1 && j < s->columns; j++)
		s->room[j] = (float)dtype_get_double(dtype, from, j * step);
	return s->room;
}

static void add_pool_row(struct pool_strip *s)
{
	const struct kernel_table *kernels = s->w->call->kernels;

	kernels->cast[DTYPE_F64][DTYPE_F32](s->wide, s->row, NULL, NULL, s->columns, 0);
	kernels->point[OP_add][DTYPE_F64](s->sum, s->sum, s->wide, NULL, s->columns, 0);
}

/* The rows of a window as one. */
static void join_rows(struct pool_strip *s, struct window_range r)
{
	const struct kernel_table *kernels = s->w->call->kernels;
	point_fn *join = kernels->point[s->largest ? OP_maximum : OP_add][DTYPE_F32];
	int64_t n = 0;

	memset(s->sum, 0, (size_t)s->columns * sizeof(*s->sum));
	for (int64_t j = 0; j < s->columns; j++)
		s->row[j] = s->largest ? -INFINITY : 0;
	for (int64_t i = r.begin; i < r.end; i += r.step) {
		join(s->row, s->row, open_pool_row(s, i), NULL, s->columns, 0);
		if (s->largest || ++n % POOL_RUN != 0)
			continue;
		add_pool_row(s);
		memset(s->row, 0, (size_t)s->columns * sizeof(*s->row));
	}
	if (!s->largest)
		add_pool_row(s);
}

static double join_columns(const struct pool_strip *s, struct window_range r, struct window_range c)
{
	int64_t count = (r.end - r.begin + r.step - 1) / r.step;
	double sum = 0;
	float most = -INFINITY;
	int unordered = 0;

	c.begin -= s->first;
	c.end -= s->first;
	for (int64_t j = c.begin; j < c.end && s->largest; j += c.step) {
		most = s->row[j] > most ? s->row[j] : most; /* one instruction */
		unordered |= s->row[j] != s->row[j];
	}
	if (s->largest)
		return unordered ? NAN : most;
	for (int64_t j = c.begin; j < c.end; j += c.step)
		sum += s->sum[j];
	count *= (c.end - c.begin + c.step - 1) / c.step;
	return sum / (double)(s->w->all ? r.padded * c.padded : count);
}

/* Plane `plane` from element `from` of the input on; false: its windows are too wide. */
static bool pool_strips(struct pool_strip *s, int64_t plane, int64_t from)
{
	const struct window_rows *w = s->w;
	enum dtype dtype = w->call->out.dtype;
	int64_t to = plane * w->out_size[0] * w->out_size[1];

	s->in = w->in + from * (int64_t)dtype_bytes(dtype);
	for (int64_t first = 0; first < w->out_size[1]; first += s->windows) {
		if (!open_strip(s, first))
			return false;
		for (int64_t i = 0; i < w->out_size[0]; i++) {
			struct window_range r = range_of(w, 0, i);
			int64_t at = to + i * w->out_size[1] + first;

			join_rows(s, r);
			for (int64_t j = 0; j < s->windows; j++) {
				double value = join_columns(s, r, s->range[j]);

				if (dtype == DTYPE_F32)
					((float *)(void *)w->out)[at + j] = (float)value;
				else
					dtype_put_double(dtype, w->out, at + j, value);
			}
		}
	}
	return true;
}

static void pool_planes(const struct window_rows *w, int64_t begin, int64_t end, bool largest)
{
	const struct operand *x = &w->call->arg[0];
	struct pool_strip strip = { .w = w, .largest = largest };
	bool strips = dtype_category(x->dtype) == CATEGORY_FLOAT && dtype_bytes(x->dtype) <= 4 &&
		      x->dtype == w->call->out.dtype;

	for (int64_t plane = begin; plane < end; plane++) {
		int64_t from = library_offset(x, 0, x->rank - 2, plane);
		int64_t to = plane * w->out_size[0] * w->out_size[1];

		if (strips && pool_strips(&strip, plane, from))
			continue;
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

static const struct library_op library_max_pool2d = { NULL, run_pool };
static const struct library_op library_avg_pool2d = { NULL, run_pool };
static const struct library_op library_adaptive_avg_pool2d = { NULL, run_pool };
static const struct library_op library_adaptive_max_pool2d = { NULL, run_pool };

const struct library_op *const windows_functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...)                             \
	[OP_##id] = FUNCTION_##file(id),
#include "fusion/graph/ops_some.h"
};
