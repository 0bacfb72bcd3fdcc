/* fusion/backends/cuda/line.c -- running sums, extremes and sorting on the device.
 *
 * Sorting is our own: the templates of CUB want the toolkit's headers where the
 * program runs, and NVRTC finds none.  A block sorts SORT_RUN elements in its own
 * memory; longer lines are merged from such runs, each element finding its place.
 */
#include <stdio.h>

#include "fusion/backends/cuda/library.h"

enum { MANY_LINES = 8192, SHORT_LINE = 64, WARP = 32, MOST_THREADS = 1024 };

struct lines {
	CUfunction by_block, by_thread;     /* scans, extremes */
	CUfunction sort, runs, merge, take; /* sorts */
	struct line_args args;
	bool few_side_by_side;            /* by_block */
	int64_t keys_bytes, places_bytes; /* of one room; 0: lines are short */
};

static void emit_pair(struct buf *out, int kernel, const char *body, enum dtype in, enum dtype to,
		      const char *join)
{
	cuda_emit_function(out, kernel, "block", "line_args", "%s<%s, %s, %s>", body,
			   cuda_element(in), cuda_element(to), join);
	cuda_emit_function(out, kernel, "thread", "line_args", "%s_lines<%s, %s, %s>", body,
			   cuda_element(in), cuda_element(to), join);
}

static enum dtype operand_dtype(const struct graph *g, const struct node *n)
{
	return g->nodes[n->args[0].node]->dtype;
}

static void emit_scan(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	enum dtype in = operand_dtype(g, n);
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
	enum dtype in = operand_dtype(g, n);
	char join[64];

	snprintf(join, sizeof(join), "extreme<%s, %s, %s>", cuda_element(in),
		 n->op == OP_argmax ? "true" : "false", cuda_element(n->dtype));
	emit_pair(out, kernel, "reduce", in, n->dtype, join);
}

static bool gives_indices(enum op op)
{
	return op == OP_argsort || op == OP_topk_indices;
}

static void emit_sort(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	const char *x = cuda_element(operand_dtype(g, n)), *y = cuda_element(n->dtype);
	const char *indices = gives_indices(n->op) ? "true" : "false";

	cuda_emit_function(out, kernel, "sort", "line_args", "sort_short<%s, %s, %s>", x, y,
			   indices);
	cuda_emit_function(out, kernel, "runs", "line_args", "sort_runs<%s>", x);
	cuda_emit_function(out, kernel, "merge", "line_args", "merge_runs");
	cuda_emit_function(out, kernel, "take", "line_args", "take_sorted<%s, %s, %s>", x, y,
			   indices);
}

/* Lines along a dim of the operand; dim -1: all elements are one. */
static void fill_lines(struct line_args *a, const struct operand *x, int dim)
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
	bool scan = a->taken == a->length;

	a->in = operand_start(&c->call->arg[0], buffers);
	a->out = operand_start(&c->call->out, buffers);
	if (c->call->arg[0].numel == 0)
		return;
	if (s->few_side_by_side)
		cuda_start(c, s->by_block, a->walk.points,
			   threads_for(scan ? a->length / SCAN_ITEMS : a->length / 2), a);
	else
		cuda_start(c, s->by_thread, cuda_blocks(c, a->walk.points), ARGS_THREADS, a);
}

static enum placing bind_scan(const struct cuda_call *c, void **state, struct err *err)
{
	const struct operand *x = &c->call->arg[0];
	struct lines *s = start(state, err);

	if (!s)
		return NOWHERE;
	fill_lines(&s->args, x, library_dim(c->call, 1, x->rank ? x->rank : 1));
	return bind_lines(c, s, err);
}

const struct cuda_library cuda_scans = {
	.part = PART_LINE, .emit = emit_scan, .bind = bind_scan, .run = run_lines
};

static enum placing bind_extreme(const struct cuda_call *c, void **state, struct err *err)
{
	const struct operand *x = &c->call->arg[0];
	bool all = c->call->node->args[1].kind == ARG_NONE;
	struct lines *s = start(state, err);

	if (!s)
		return NOWHERE;
	fill_lines(&s->args, x, all ? -1 : library_dim(c->call, 1, x->rank ? x->rank : 1));
	s->args.taken = 1;
	return bind_lines(c, s, err);
}

const struct cuda_library cuda_extremes = {
	.part = PART_LINE, .emit = emit_extreme, .bind = bind_extreme, .run = run_lines
};

static bool is_topk(enum op op)
{
	return op == OP_topk_values || op == OP_topk_indices;
}

static bool take_rooms(const struct cuda_call *c, struct lines *s, struct err *err)
{
	struct line_args *a = &s->args;
	int64_t elements = a->walk.points * a->length;

	s->keys_bytes = elements * (int64_t)sizeof(*a->keys[0]);
	s->places_bytes = elements * (int64_t)sizeof(*a->places[0]);
	for (int i = 0; i < 2; i++) {
		a->keys[i] = (unsigned long long *)cuda_take(c->device, (size_t)s->keys_bytes);
		a->places[i] = (unsigned *)cuda_take(c->device, (size_t)s->places_bytes);
		if (!a->keys[i] || !a->places[i])
			return err_set(
			    err, ERR_MEMORY,
			    "There is no memory left on the device to sort; use smaller inputs.");
	}
	return true;
}

static enum placing bind_sort(const struct cuda_call *c, void **state, struct err *err)
{
	const struct library_call *call = c->call;
	const struct operand *x = &call->arg[0];
	bool top = is_topk(call->node->op);
	struct lines *s = start(state, err);
	struct line_args *a;

	if (!s)
		return NOWHERE;
	a = &s->args;
	fill_lines(a, x, library_dim(call, top ? 2 : 1, x->rank ? x->rank : 1));
	a->descending = (int)call->number[top ? 3 : 2];
	a->taken = top && x->rank ? call->number[1] : a->length;
	if (a->length > UINT32_MAX)
		return ON_HOST;
	for (a->width = 2; a->width < a->length && a->width < SORT_RUN;)
		a->width *= 2;
	if (a->length > SORT_RUN && !take_rooms(c, s, err))
		return NOWHERE;
	return cuda_function(c, "sort", &s->sort, err) && cuda_function(c, "runs", &s->runs, err) &&
		       cuda_function(c, "merge", &s->merge, err) &&
		       cuda_function(c, "take", &s->take, err)
		   ? ON_DEVICE
		   : NOWHERE;
}

static void run_sort(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct lines *s = state;
	struct line_args a = s->args;
	int64_t lines = a.walk.points, elements = lines * a.length;

	a.in = operand_start(&c->call->arg[0], buffers);
	a.out = operand_start(&c->call->out, buffers);
	if (elements == 0 || a.taken == 0)
		return;
	if (!s->keys_bytes) {
		cuda_start(c, s->sort, lines, threads_for(a.width / 2), &a);
		return;
	}
	cuda_start(c, s->runs, lines * ((a.length + SORT_RUN - 1) / SORT_RUN), MOST_THREADS, &a);
	for (a.width = SORT_RUN; a.width < a.length; a.width *= 2, a.room = 1 - a.room)
		cuda_start(c, s->merge, cuda_blocks(c, elements), ARGS_THREADS, &a);
	cuda_start(c, s->take, cuda_blocks(c, lines * a.taken), ARGS_THREADS, &a);
}

static void drop_sort(struct device *d, void *state)
{
	struct lines *s = state;

	for (int i = 0; s && i < 2; i++) {
		if (s->args.keys[i])
			cuda_release(d, (uint64_t)s->args.keys[i], (size_t)s->keys_bytes);
		if (s->args.places[i])
			cuda_release(d, (uint64_t)s->args.places[i], (size_t)s->places_bytes);
	}
	free(s);
}

const struct cuda_library cuda_sorts = {
	.part = PART_LINE, .emit = emit_sort, .bind = bind_sort, .run = run_sort, .drop = drop_sort
};
