/* fusion/backends/cuda/line.c -- running sums and extremes on the device. */
#include <stdio.h>

#include "fusion/backends/cuda/library.h"

enum { MANY_LINES = 8192, SHORT_LINE = 64, WARP = 32, MOST_THREADS = 1024, BLOCK_SHARE = 4096 };

struct lines {
	CUfunction by_block, by_thread;
	struct line_args args;
	bool few_side_by_side; /* by_block */
	CUfunction join;       /* extremes, of lines with several shares */
	size_t found_bytes;    /* of keys, and of places */
};

static void emit_pair(struct buf *out, int kernel, const char *body, enum dtype in, enum dtype to,
		      const char *join)
{
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "block", MOST_THREADS },
			   "line_args", "%s<%s, %s, %s>", body, cuda_element(in), cuda_element(to),
			   join);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "thread", ARGS_THREADS },
			   "line_args", "%s_lines<%s, %s, %s>", body, cuda_element(in),
			   cuda_element(to), join);
}

enum dtype cuda_operand_dtype(const struct graph *g, const struct node *n)
{
	return g->nodes[n->args[0].node]->dtype;
}

static void emit_scan(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	enum dtype in = cuda_operand_dtype(g, n);
	const char *x = cuda_element(in), *y = cuda_element(n->dtype);
	bool floats = dtype_category(n->dtype) == CATEGORY_FLOAT;
	bool largest = n->op == OP_cummax_values || n->op == OP_cummax_indices;
	bool indices = n->op == OP_cummax_indices || n->op == OP_cummin_indices;
	struct buf join;

	buf_init(&join, 0);
	if (n->op == OP_logcumsumexp)
		buf_printf(&join, "log_sums<%s, %s>", x, y);
	else if (n->op == OP_cumsum || n->op == OP_cumprod)
		buf_printf(&join, "%s<%s, %s, %s>", floats ? "sums" : "int_sums", x, y,
			   n->op == OP_cumprod ? "true" : "false");
	else
		buf_printf(&join, "best<%s, %s, %s, %s>", x, largest ? "true" : "false",
			   indices ? "true" : "false", y);
	if (join.failed)
		out->failed = true;
	else
		emit_pair(out, kernel, "scan", in, n->dtype, join.data);
	buf_finish(&join);
}

static void emit_extreme(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	const char *x = cuda_element(cuda_operand_dtype(g, n)), *y = cuda_element(n->dtype);
	const char *largest = n->op == OP_argmax ? "true" : "false";

	cuda_emit_function(out, (struct cuda_function_name){ kernel, "block", MOST_THREADS },
			   "line_args", "extreme<%s, %s, %s>", x, y, largest);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "thread", ARGS_THREADS },
			   "line_args", "extreme_lines<%s, %s, %s>", x, y, largest);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "join", MOST_THREADS },
			   "line_args", "join_shares<%s, %s>", x, y);
}

void cuda_fill_lines(struct line_args *a, const struct operand *x, int dim)
{
	struct walk_args *w = &a->walk;

	a->inner = 1;
	w->points = 1;
	a->rank = 1;
	a->length = 1;
	if (x->rank > 0 && dim >= 0) {
		a->length = x->size[dim];
		a->stride[0] = x->stride[dim];
		a->size[0] = a->length;
		for (int d = 0; d < x->rank; d++) {
			if (d == dim)
				continue;
			w->size[w->rank] = x->size[d];
			w->stride[0][w->rank++] = x->stride[d];
			w->points *= x->size[d];
			a->inner *= d > dim ? x->size[d] : 1;
		}
		cuda_walk_fold(w, 1);
	} else if (x->rank > 0) {
		struct walk_args all = { .rank = x->rank };

		for (int d = 0; d < x->rank; d++)
			all.size[d] = x->size[d];
		cuda_walk_dims(&all, 0, 0, x, 0, x->rank);
		cuda_walk_fold(&all, 1);
		a->length = x->numel;
		a->rank = all.rank ? all.rank : 1;
		a->stride[0] = 1;
		for (int d = 0; d < all.rank; d++) {
			a->size[d] = all.size[d];
			a->stride[d] = all.stride[0][d];
		}
	}
	a->taken = a->length;
}

static struct lines *start(void **state, struct err *err)
{
	*state = cuda_state(sizeof(struct lines), err);
	return *state;
}

static enum placing bind_lines(const struct cuda_call *c, struct lines *s, struct err *err)
{
	/* Lines beside each other are read together by threads. */
	s->few_side_by_side = s->args.walk.points < MANY_LINES && s->args.length >= SHORT_LINE;
	if (s->args.inner == 1 && s->args.length >= SHORT_LINE)
		s->few_side_by_side = true;
	return cuda_function(c, "block", &s->by_block, err) &&
		       cuda_function(c, "thread", &s->by_thread, err)
		   ? ON_DEVICE
		   : NOWHERE;
}

static unsigned threads_for(int64_t length)
{
	unsigned threads = WARP;

	while (threads < MOST_THREADS && threads * 2 <= length)
		threads *= 2;
	return threads;
}

static void run_lines(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct lines *s = state;
	struct line_args *a = &s->args;

	a->in = operand_start(&c->call->arg[0], buffers);
	a->out = operand_start(&c->call->out, buffers);
	if (c->call->arg[0].numel == 0)
		return;
	if (s->few_side_by_side)
		cuda_start(c, s->by_block, a->walk.points, threads_for(a->length / SCAN_ITEMS), a);
	else
		cuda_start(c, s->by_thread, cuda_blocks(c, a->walk.points), ARGS_THREADS, a);
}

static enum placing bind_scan(const struct cuda_call *c, void **state, struct err *err)
{
	const struct operand *x = &c->call->arg[0];
	struct lines *s = start(state, err);

	if (!s)
		return NOWHERE;
	cuda_fill_lines(&s->args, x, library_dim(c->call, 1, x->rank ? x->rank : 1));
	return bind_lines(c, s, err);
}

const struct cuda_library cuda_scans = {
	.part = PART_LINE, .emit = emit_scan, .bind = bind_scan, .run = run_lines
};

/* So many shares of a line that the device is full, and none is short. */
static int64_t shares_of(const struct cuda_call *c, const struct line_args *a, bool by_block)
{
	int64_t wanted = c->device->multiprocessors * (int64_t)(by_block ? 4 : 1024);
	int64_t least = by_block ? BLOCK_SHARE : SHORT_LINE;
	int64_t shares = (wanted + a->walk.points - 1) / a->walk.points, most = a->length / least;

	shares = shares < most ? shares : most;
	/* Places in a share are of 32 bits. */
	most = a->length / INT32_MAX + 1;
	return shares > most ? shares : most;
}

static bool take_found(const struct cuda_call *c, struct lines *s, struct err *err)
{
	struct line_args *a = &s->args;

	s->found_bytes = (size_t)(a->walk.points * a->tiles) * sizeof(*a->keys[0]);
	for (int i = 0; i < 2; i++) {
		a->keys[i] = (unsigned long long *)cuda_take(c->device, s->found_bytes);
		if (!a->keys[i])
			return err_set(err, ERR_MEMORY,
				       "There is no memory left on the device for %s; use smaller "
				       "inputs.",
				       c->call->node->fx);
	}
	return true;
}

static enum placing bind_extreme(const struct cuda_call *c, void **state, struct err *err)
{
	const struct operand *x = &c->call->arg[0];
	bool all = c->call->node->args[1].kind == ARG_NONE;
	struct lines *s = start(state, err);
	struct line_args *a;

	if (!s)
		return NOWHERE;
	a = &s->args;
	cuda_fill_lines(a, x, all ? -1 : library_dim(c->call, 1, x->rank ? x->rank : 1));
	a->taken = 1;
	s->few_side_by_side = (a->inner == 1 || a->walk.points < WARP) && a->length >= SHORT_LINE;
	a->tiles = a->walk.points > 0 ? shares_of(c, a, s->few_side_by_side) : 1;
	if (a->tiles > 1 && !take_found(c, s, err))
		return NOWHERE;
	return cuda_function(c, s->few_side_by_side ? "block" : "thread", &s->by_block, err) &&
		       cuda_function(c, "join", &s->join, err)
		   ? ON_DEVICE
		   : NOWHERE;
}

static void run_extreme(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct lines *s = state;
	struct line_args *a = &s->args;
	int64_t shares = a->walk.points * a->tiles;

	a->in = operand_start(&c->call->arg[0], buffers);
	a->out = operand_start(&c->call->out, buffers);
	if (c->call->arg[0].numel == 0)
		return;
	if (s->few_side_by_side)
		cuda_start(c, s->by_block, shares, threads_for(a->length / a->tiles / 16), a);
	else
		cuda_start(c, s->by_block, cuda_blocks(c, shares), ARGS_THREADS, a);
	if (a->tiles > 1)
		cuda_start(c, s->join, a->walk.points, threads_for(a->tiles), a);
}

static void drop_extreme(struct device *d, void *state)
{
	struct lines *s = state;

	for (int i = 0; s && i < 2; i++)
		if (s->args.keys[i])
			cuda_release(d, (uint64_t)s->args.keys[i], s->found_bytes);
	free(s);
}

const struct cuda_library cuda_extremes = { .part = PART_LINE,
					    .emit = emit_extreme,
					    .bind = bind_extreme,
					    .run = run_extreme,
					    .drop = drop_extreme };
