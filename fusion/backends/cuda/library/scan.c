/* fusion/backends/cuda/library/scan.c -- what runs along one dim, on the device: running sums,
 * extremes, sorting.
 */
#include <stdio.h>

#include "fusion/backends/cuda/library/library.h"

/* ---- running sums and extremes on the device */

enum { MANY_LINES = 8192, SHORT_LINE = 64, WARP = 32, MOST_THREADS = 1024, BLOCK_SHARE = 4096 };

struct cuda_scan_lines {
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

/* The dtype of a node's first operand. */
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
	const char *x = cuda_element(operand_dtype(g, n)), *y = cuda_element(n->dtype);
	const char *largest = n->op == OP_argmax ? "true" : "false";

	cuda_emit_function(out, (struct cuda_function_name){ kernel, "block", MOST_THREADS },
			   "line_args", "extreme<%s, %s, %s>", x, y, largest);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "thread", ARGS_THREADS },
			   "line_args", "extreme_lines<%s, %s, %s>", x, y, largest);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "join", MOST_THREADS },
			   "line_args", "join_shares<%s, %s>", x, y);
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

static struct cuda_scan_lines *start(void **state, struct err *err)
{
	*state = cuda_state(sizeof(struct cuda_scan_lines), err);
	return *state;
}

static enum placing bind_lines(const struct cuda_call *c, struct cuda_scan_lines *s,
			       struct err *err)
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
	struct cuda_scan_lines *s = state;
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
	struct cuda_scan_lines *s = start(state, err);

	if (!s)
		return NOWHERE;
	fill_lines(&s->args, x, library_dim(c->call, 1, x->rank ? x->rank : 1));
	return bind_lines(c, s, err);
}

const struct cuda_library cuda_scans = {
	.part = PART_SCAN, .emit = emit_scan, .bind = bind_scan, .run = run_lines
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

static bool take_found(const struct cuda_call *c, struct cuda_scan_lines *s, struct err *err)
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
	struct cuda_scan_lines *s = start(state, err);
	struct line_args *a;

	if (!s)
		return NOWHERE;
	a = &s->args;
	fill_lines(a, x, all ? -1 : library_dim(c->call, 1, x->rank ? x->rank : 1));
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
	struct cuda_scan_lines *s = state;
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
	struct cuda_scan_lines *s = state;

	for (int i = 0; s && i < 2; i++)
		if (s->args.keys[i])
			cuda_release(d, (uint64_t)s->args.keys[i], s->found_bytes);
	free(s);
}

const struct cuda_library cuda_extremes = { .part = PART_SCAN,
					    .emit = emit_extreme,
					    .bind = bind_extreme,
					    .run = run_extreme,
					    .drop = drop_extreme };

/* ---- sorting on the device
 *
 * Our own: the templates of CUB want the toolkit's headers where the program runs, and
 * NVRTC finds none.
 */

enum {
	CHUNK_THREADS = 1024,
	SORT_MOST = 1 << 30,
	/* A block chooses a few of a line, where it is no longer or there are lines enough. */
	TOP_LENGTH = 1 << 17,
	TOP_LINES = 64,
};

/* Elements of a lane, for lines of up to 32 times so many. */
static const int widths[] = { 2, 8, SORT_SHORT / WARP };
enum { WIDTHS = sizeof(widths) / sizeof(widths[0]) };

struct sort {
	CUfunction of_warps, count, pass; /* of_warps: lines are short */
	CUfunction top;                   /* chooses a few of each long line */
	struct line_args args;
	int digits;
	size_t keys_bytes, places_bytes, notes_bytes; /* of a room; counts, said, tickets */
};

static bool is_topk(enum op op)
{
	return op == OP_topk_values || op == OP_topk_indices;
}

static int width_of(int64_t length)
{
	int i = 0;

	while (i < WIDTHS - 1 && (int64_t)widths[i] * WARP < length)
		i++;
	return i;
}

/* The length of lines where the text of the graph says it; -1: it does not. */
static int64_t known_length(const struct graph *g, const struct node *n)
{
	const struct shape *x = &g->nodes[n->args[0].node]->shape;
	const struct arg *dim = &n->args[is_topk(n->op) ? 2 : 1];
	int64_t at;

	if (x->rank == 0)
		return 1;
	if (dim->kind != ARG_INT || !sym_is_const(dim->sym))
		return -1;
	at = dim->sym->value < 0 ? dim->sym->value + x->rank : dim->sym->value;
	return sym_is_const(x->size[at]) ? x->size[at]->value : -1;
}

/* Whether a few of a line can be chosen without sorting it. */
static bool may_choose(const struct graph *g, const struct node *n)
{
	return is_topk(n->op) && dtype_bytes(g->nodes[n->args[0].node]->dtype) <= 4;
}

static void emit_sort(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	const char *x = cuda_element(operand_dtype(g, n)), *y = cuda_element(n->dtype);
	bool indices = n->op == OP_argsort || n->op == OP_topk_indices;
	int64_t length = known_length(g, n);

	for (int i = 0; i < WIDTHS; i++) {
		char name[24];

		if (length >= 0 && (length > SORT_SHORT || i != width_of(length)))
			continue;
		snprintf(name, sizeof(name), "short%d", i);
		cuda_emit_function(out,
				   (struct cuda_function_name){ kernel, name, SORT_WARPS * WARP },
				   "line_args", "sort_short<%s, %s, %s, %d>", x, y,
				   indices ? "true" : "false", widths[i]);
	}
	if (length >= 0 && length <= SORT_SHORT)
		return;
	if (may_choose(g, n))
		cuda_emit_function(out, (struct cuda_function_name){ kernel, "top", TOP_THREADS },
				   "line_args", "top_long<%s, %s, %s>", x, y,
				   indices ? "true" : "false");
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "count", CHUNK_THREADS },
			   "line_args", "sort_count<%s>", x);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "pass", SORT_RADIX },
			   "line_args", "sort_pass<%s, %s, %s>", x, y, indices ? "true" : "false");
}

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY,
		       "There is no memory left on the device to sort; use smaller inputs.");
}

static bool take_rooms(const struct cuda_call *c, struct sort *s, struct err *err)
{
	struct line_args *a = &s->args;
	size_t lines = (size_t)a->walk.points, elements = lines * (size_t)a->length;
	size_t counts = lines * (size_t)s->digits * SORT_RADIX;
	size_t said = (size_t)s->digits * lines * (size_t)a->tiles * SORT_RADIX;

	s->keys_bytes = elements * sizeof(*a->keys[0]);
	s->places_bytes = s->digits == 8 ? elements * sizeof(*a->places[0]) : 0;
	s->notes_bytes = (counts + said + (size_t)s->digits) * sizeof(*a->counts);
	for (int i = 0; i < 2; i++) {
		a->keys[i] = (unsigned long long *)cuda_take(c->device, s->keys_bytes);
		if (s->places_bytes)
			a->places[i] = (unsigned *)cuda_take(c->device, s->places_bytes);
		if (!a->keys[i] || (s->places_bytes && !a->places[i]))
			return no_memory(err);
	}
	a->counts = (unsigned *)cuda_take(c->device, s->notes_bytes);
	if (!a->counts)
		return no_memory(err);
	a->said = a->counts + counts;
	a->tickets = a->said + said;
	return true;
}

static enum placing bind_long(const struct cuda_call *c, struct sort *s, struct err *err)
{
	s->args.tiles = (s->args.length + SORT_TILE - 1) / SORT_TILE;
	return take_rooms(c, s, err) && cuda_function(c, "count", &s->count, err) &&
		       cuda_function(c, "pass", &s->pass, err)
		   ? ON_DEVICE
		   : NOWHERE;
}

static enum placing bind_sort(const struct cuda_call *c, void **state, struct err *err)
{
	const struct library_call *call = c->call;
	const struct operand *x = &call->arg[0];
	bool top = is_topk(call->node->op);
	struct sort *s = cuda_state(sizeof(*s), err);
	struct line_args *a;
	char name[16];

	*state = s;
	if (!s)
		return NOWHERE;
	a = &s->args;
	fill_lines(a, x, library_dim(call, top ? 2 : 1, x->rank ? x->rank : 1));
	a->descending = (int)call->number[top ? 3 : 2];
	a->taken = top && x->rank ? call->number[1] : a->length;
	s->digits = (int)dtype_bytes(x->dtype);
	if (a->length >= SORT_MOST)
		return ON_HOST;
	if (a->length > SORT_SHORT && may_choose(call->graph, call->node) &&
	    a->taken <= TOP_THREADS && (a->length <= TOP_LENGTH || a->walk.points >= TOP_LINES))
		return cuda_function(c, "top", &s->top, err) ? ON_DEVICE : NOWHERE;
	if (a->length > SORT_SHORT && a->walk.points > 0)
		return bind_long(c, s, err);
	snprintf(name, sizeof(name), "short%d", width_of(a->length));
	return a->length > SORT_SHORT || cuda_function(c, name, &s->of_warps, err) ? ON_DEVICE
										   : NOWHERE;
}

static void run_sort(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct sort *s = state;
	struct line_args a = s->args;
	struct device *d = c->device;
	int64_t lines = a.walk.points;

	a.in = operand_start(&c->call->arg[0], buffers);
	a.out = operand_start(&c->call->out, buffers);
	if (lines == 0 || a.length == 0 || a.taken == 0)
		return;
	if (s->of_warps) {
		cuda_start(c, s->of_warps, (lines + SORT_WARPS - 1) / SORT_WARPS, SORT_WARPS * WARP,
			   &a);
		return;
	}
	if (s->top) {
		cuda_start(c, s->top, lines, TOP_THREADS, &a);
		return;
	}
	d->memory.clear(d, a.counts, s->notes_bytes);
	cuda_start(c, s->count, lines * ((a.tiles + SORT_CHUNK - 1) / SORT_CHUNK), CHUNK_THREADS,
		   &a);
	for (a.digit = 0; a.digit < s->digits; a.digit++)
		cuda_start(c, s->pass, lines * a.tiles, SORT_RADIX, &a);
}

static void drop_sort(struct device *d, void *state)
{
	struct sort *s = state;

	for (int i = 0; s && i < 2; i++) {
		if (s->args.keys[i])
			cuda_release(d, (uint64_t)s->args.keys[i], s->keys_bytes);
		if (s->args.places[i])
			cuda_release(d, (uint64_t)s->args.places[i], s->places_bytes);
	}
	if (s && s->args.counts)
		cuda_release(d, (uint64_t)s->args.counts, s->notes_bytes);
	free(s);
}

const struct cuda_library cuda_sorts = {
	.part = PART_SORT, .emit = emit_sort, .bind = bind_sort, .run = run_sort, .drop = drop_sort
};
