/* fusion/backends/cuda/library/window.c -- pools and columns on the device. */
#include <stdlib.h>

#include "fusion/backends/cuda/library/library.h"

struct cuda_windows {
	CUfunction function;
	struct window_args args;
	int64_t points;
};

enum { MOST_TAPS = 16, MANY_WINDOWS = 1 << 20, LANE_BYTES = 16 };

/* A window's size along an axis, if it is small: its loads are unrolled; 0: it is not. */
static int known_window(const struct node *n, int axis)
{
	const struct arg *size = node_arg(n, "kernel_size");
	int64_t of[2];

	if (n->op != OP_max_pool2d || !size || size->kind != ARG_INTS || size->n == 0)
		return 0;
	for (int i = 0; i < 2; i++)
		of[i] = size->ints[size->n == 1 ? 0 : i]->value; /* inference wants constants */
	return of[0] > 0 && of[1] > 0 && of[0] <= MOST_TAPS && of[0] * of[1] <= MOST_TAPS
		   ? (int)of[axis]
		   : 0;
}

static void emit(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	bool largest = n->op == OP_max_pool2d || n->op == OP_adaptive_max_pool2d;

	(void)g;
	if (n->op == OP_im2col)
		cuda_emit_function(out,
				   (struct cuda_function_name){ kernel, "windows", ARGS_THREADS },
				   "window_args", "columns<%s>", cuda_element(n->dtype));
	else if (n->channels_last)
		cuda_emit_function(out,
				   (struct cuda_function_name){ kernel, "windows", ARGS_THREADS },
				   "window_args", "pool_channels_last<%s, %d, %d>",
				   cuda_element(n->dtype), known_window(n, 0), known_window(n, 1));
	else
		cuda_emit_function(
		    out, (struct cuda_function_name){ kernel, "windows", ARGS_THREADS },
		    "window_args", "pool<%s, %s, %d, %d>", cuda_element(n->dtype),
		    largest ? "true" : "false", known_window(n, 0), known_window(n, 1));
}

static void fill_planes(struct walk_args *w, const struct operand *x)
{
	w->rank = x->rank - 2;
	w->points = 1;
	for (int d = 0; d < w->rank; d++) {
		w->size[d] = x->size[d];
		w->points *= x->size[d];
	}
	cuda_walk_dims(w, 0, 0, x, 0, w->rank);
	cuda_walk_fold(w, 1);
}

static bool is_near(const struct window_args *w, int64_t points)
{
	int64_t span = 0, most = INT32_MAX / 4;

	for (int i = 0; i < 2; i++) {
		span += (w->in_size[i] + w->padding[i]) * llabs(w->in_stride[i]);
		if (w->padding[i] + w->kernel[i] * w->dilation[i] + w->out_size[i] * w->stride[i] >
		    most)
			return false;
	}
	return points < most && span < most;
}

static enum placing bind(const struct cuda_call *c, void **state, struct err *err)
{
	const struct library_call *call = c->call;
	const struct operand *x = &call->arg[0], *y = &call->out;
	struct cuda_windows *s = cuda_state(sizeof(*s), err);
	struct window_args *w;
	enum op op = call->node->op;

	*state = s;
	if (!s || !cuda_function(c, "windows", &s->function, err))
		return NOWHERE;
	w = &s->args;
	fill_planes(&w->planes, x);
	for (int i = 0; i < 2; i++) {
		w->in_size[i] = x->size[x->rank - 2 + i];
		w->in_stride[i] = x->stride[x->rank - 2 + i];
		w->out_size[i] = y->size[y->rank - 2 + i];
		w->kernel[i] = library_entry(call, "kernel_size", i, 1);
		w->stride[i] = library_entry(call, "stride", i, w->kernel[i]);
		w->padding[i] = library_entry(call, "padding", i, 0);
		w->dilation[i] = library_entry(call, "dilation", i, 1);
		if (op == OP_adaptive_avg_pool2d || op == OP_adaptive_max_pool2d)
			w->kernel[i] = 0;
		if (op == OP_im2col)
			w->out_size[i] = (w->in_size[i] + 2 * w->padding[i] -
					  w->dilation[i] * (w->kernel[i] - 1) - 1) /
					     w->stride[i] +
					 1;
	}
	w->all = op == OP_avg_pool2d && call->number[5];
	s->points = y->numel;
	w->near = is_near(w, s->points) ? 1 + (s->points >= MANY_WINDOWS) : 0;
	if (call->node->channels_last) {
		w->near = x->numel < INT32_MAX && y->numel < INT32_MAX;
		s->points /= LANE_BYTES / (int64_t)dtype_bytes(y->dtype);
	}
	return ON_DEVICE;
}

static void run(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct cuda_windows *s = state;

	s->args.in = operand_start(&c->call->arg[0], buffers);
	s->args.out = operand_start(&c->call->out, buffers);
	cuda_start(c, s->function, cuda_blocks(c, s->points), ARGS_THREADS, &s->args);
}

const struct cuda_library cuda_windows = {
	.part = PART_WINDOW, .emit = emit, .bind = bind, .run = run
};
