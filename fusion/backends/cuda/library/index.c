/* fusion/backends/cuda/library/index.c -- gather, x[i], scatter and the like on the device.
 *
 * Where points of an index name one place the last one counts, as on the host: points
 * claim their places first.  Sums are made by atomic additions, to the target or to what a block
 * holds of it.  Where torch.use_deterministic_algorithms() asks for it, and of dtypes without
 * atomic additions or with few bits, they are made in the order of the indices, so that they
 * can be repeated: a line has one thread, or one warp, which holds the line's sums in its
 * block's memory where there is room for them.  Where one index is that of a whole row, the rows of
 * each place are listed first.
 */
#include <stdlib.h>

#include "fusion/backends/cuda/library/library.h"
#include "fusion/backends/library/library.h"

enum { WIDE_BYTES = 16, SECTOR_BYTES = 32, MANY_LINES = 2048, OWN_SHARED_BYTES = 16384 };

/* Points that write, of a target so many times as large: it is not read for them. */
enum { FEW_POINTS = 8 };

/* Sums of whole rows: from so many rows of so many elements on, with so many warps. */
enum { LEAST_ROWS = 128, LEAST_WIDTH = 32, ROWS_ALL_WARPS = 16384 };

/* So many rows are one place's where teams of lanes have places: more are sorted faster by warps.
 */
enum { ROWS_OFTEN = 8 };

struct indexing {
	CUfunction copy, copy_wide, move, move_wide, claim, put, add;
	CUfunction count, start, list, rows, rows_wide, crowds; /* of whole rows; NULL */
	CUfunction far, far_wide;                               /* in any order; NULL */
	struct lookup_args input; /* x into the result, of ops that write into a copy */
	struct lookup_args args;
	int64_t wide; /* elements of a wide access; 0: none of these sizes can be */
	int64_t input_wide;
	bool whole;               /* x lies as the result does */
	bool warps, held, covers; /* covers: the lines are all of the result */
	bool near;                /* in any order, in the memory of blocks: `add` */
	int64_t near_blocks;
	size_t winner_bytes, shared_bytes;
};

static const char *index_type(const struct graph *g, const struct node *n, int arg)
{
	const struct arg *a = &n->args[arg];

	switch (a->kind == ARG_NODE ? g->nodes[a->node]->dtype : DTYPE_I64) {
	case DTYPE_I32:
		return "int";
	case DTYPE_I16:
		return "short";
	case DTYPE_I8:
		return "signed char";
	case DTYPE_U8:
	case DTYPE_BOOL:
		return "unsigned char";
	default:
		return "i64";
	}
}

/* Its tensors from argument `first` on. */
static int count_indices(const struct node *n, int first)
{
	int count = 0;

	while (first + count < n->n_args && count < 3 && n->args[first + count].kind == ARG_NODE)
		count++;
	return count;
}

static int first_index(const struct node *n)
{
	return n->op == OP_index_put ? 3 : 2;
}

static int indices_of(const struct node *n)
{
	bool several = n->op == OP_index || n->op == OP_lookup || n->op == OP_index_put;

	return several ? count_indices(n, first_index(n)) : 1;
}

static void emit_copy(struct buf *out, const struct node *n, int kernel)
{
	size_t bytes = dtype_bytes(n->dtype);

	cuda_emit_function(out, (struct cuda_function_name){ kernel, "copy", ARGS_THREADS },
			   "lookup_args", "look_up<%s, i64, 0>", cuda_bits(bytes));
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "copy_wide", ARGS_THREADS },
			   "lookup_args", "look_up<%s, i64, 0>", cuda_bits(WIDE_BYTES));
}

static void emit_lookup(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	const char *index = index_type(g, n, first_index(n));

	cuda_emit_function(out, (struct cuda_function_name){ kernel, "move", ARGS_THREADS },
			   "lookup_args", "look_up<%s, %s, %d>", cuda_bits(dtype_bytes(n->dtype)),
			   index, indices_of(n));
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "move_wide", ARGS_THREADS },
			   "lookup_args", "look_up<%s, %s, %d>", cuda_bits(WIDE_BYTES), index,
			   indices_of(n));
}

static void emit_put(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	const char *index = index_type(g, n, first_index(n));

	emit_copy(out, n, kernel);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "claim", ARGS_THREADS },
			   "lookup_args", "claim<%s, %d>", index, indices_of(n));
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "put", ARGS_THREADS },
			   "lookup_args", "put_claimed<%s, %s, %d>",
			   cuda_bits(dtype_bytes(n->dtype)), index, indices_of(n));
}

/* Whether there may be rows enough, by the sizes of the index: its kernels are left out otherwise.
 */
static bool may_add_rows(const struct graph *g, const struct node *n)
{
	const struct shape *index = &g->nodes[n->args[2].node]->shape;
	int64_t points = 1;

	for (int d = 0; d < index->rank; d++) {
		if (!sym_is_const(index->size[d]))
			return true;
		points *= index->size[d]->value;
	}
	return points >= (int64_t)LEAST_ROWS * LEAST_WIDTH;
}

static void emit_rows(struct buf *out, const char *element, const char *index, int kernel)
{
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "count", ARGS_THREADS },
			   "lookup_args", "count_rows<%s>", index);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "start", ARGS_THREADS },
			   "lookup_args", "start_rows");
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "list", ARGS_THREADS },
			   "lookup_args", "list_rows<%s>", index);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "rows", 32 * ROWS_WARPS },
			   "lookup_args", "add_rows<%s>", element);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "rows_wide", 32 * ROWS_WARPS },
			   "lookup_args", "add_rows_wide<%s>", element);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "crowds", 32 * ROWS_WARPS },
			   "lookup_args", "add_crowds<%s, %s>", element, index);
}

/* Whether sums may come in any order, and the dtype has atomic additions. */
static bool in_any_order(const struct graph *g, const struct node *n)
{
	switch (n->dtype) {
	case DTYPE_F32:
	case DTYPE_F64:
		return !g->ordered;
	case DTYPE_I32:
	case DTYPE_I64:
		return true;
	default:
		return false;
	}
}

static void emit_any_order(struct buf *out, const char *element, const char *index, int kernel,
			   int lanes)
{
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "add_near", NEAR_THREADS },
			   "lookup_args", "add_near<%s, %s>", element, index);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "add_far", ARGS_THREADS },
			   "lookup_args", "add_far<%s, %s, 1>", element, index);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "add_far_wide", ARGS_THREADS },
			   "lookup_args", "add_far<%s, %s, %d>", element, index, lanes);
}

static void emit_add(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	const char *index = index_type(g, n, 2), *element = cuda_element(n->dtype);

	emit_copy(out, n, kernel);
	if (in_any_order(g, n)) {
		emit_any_order(out, element, index, kernel,
			       WIDE_BYTES / (int)dtype_bytes(n->dtype));
		return;
	}
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "add", ARGS_THREADS },
			   "lookup_args", "add_lines<%s, %s>", element, index);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "add_warps", 0 },
			   "lookup_args", "add_warps<%s, %s, false>", element, index);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "add_held", 0 }, "lookup_args",
			   "add_warps<%s, %s, true>", element, index);
	if (may_add_rows(g, n))
		emit_rows(out, element, index, kernel);
}

static void emit_view(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	(void)g;
	emit_copy(out, n, kernel);
}

static void fill_walk(struct walk_args *w, const struct odometer *o)
{
	w->rank = o->rank;
	w->points = 1;
	for (int d = 0; d < o->rank; d++) {
		w->size[d] = o->size[d];
		w->points *= o->size[d];
		for (int k = 0; k < o->n; k++)
			w->stride[k][d] = o->stride[k][d];
	}
}

/* How many elements may be moved at once: neighbours lie side by side in both, and
 * all other steps are multiples of it.  0: one alone. */
static int64_t widen(struct lookup_args *a, int indices, enum dtype dtype)
{
	struct walk_args *w = &a->walk;
	int last = w->rank - 1;
	int64_t lanes = WIDE_BYTES / (int64_t)dtype_bytes(dtype);
	bool fits = last >= 0 && w->stride[0][last] == 1 && w->stride[1][last] == 1 &&
		    w->size[last] % lanes == 0 && lanes > 1;

	for (int k = 0; k < indices; k++)
		fits = fits && w->stride[2 + k][last] == 0 && a->stride[k] % lanes == 0;
	for (int d = 0; d < last && fits; d++)
		fits = w->stride[0][d] % lanes == 0 && w->stride[1][d] % lanes == 0;
	return fits ? lanes : 0;
}

/* The same walk over elements that are so many together. */
static struct lookup_args widened(const struct lookup_args *a, int64_t lanes)
{
	struct lookup_args w = *a;
	int last = w.walk.rank - 1;

	w.walk.size[last] /= lanes;
	w.walk.points /= lanes;
	for (int k = 0; k < 3; k++)
		w.stride[k] /= lanes;
	for (int d = 0; d < last; d++) {
		w.walk.stride[0][d] /= lanes;
		w.walk.stride[1][d] /= lanes;
	}
	return w;
}

/* Whether offsets and points fit into 31 bits; then what divides by the sizes. */
static void measure(struct lookup_args *a, int indices)
{
	const struct walk_args *w = &a->walk;

	a->near = w->points > 0 && w->points < INT32_MAX;
	for (int k = 0; k < 2 + indices; k++) {
		int64_t span = k < 2 ? 0 : a->size[k - 2] * llabs(a->stride[k - 2]);

		for (int d = 0; d < w->rank; d++)
			span += w->size[d] * llabs(w->stride[k][d]);
		a->near = a->near && span < INT32_MAX / 4;
	}
	for (int d = 0; d < w->rank && a->near; d++) {
		int bits = 0;

		while (1LL << bits < w->size[d])
			bits++;
		/* Rounded up by less than 2^bits, times a point below 2^31: under one. */
		a->shift[d] = 31 + bits;
		a->magic[d] = (unsigned)(((1ULL << a->shift[d]) + (uint64_t)w->size[d] - 1) /
					 (uint64_t)w->size[d]);
	}
}

static void run_moves(const struct cuda_call *c, CUfunction narrow, CUfunction wide,
		      const struct lookup_args *a, int64_t lanes, int indices)
{
	bool aligned = ((uintptr_t)a->from | (uintptr_t)a->to) % WIDE_BYTES == 0;
	struct lookup_args args = lanes && aligned ? widened(a, lanes) : *a;
	int64_t points = args.walk.points;

	measure(&args, indices);
	if (args.near)
		points = (points + LOOKUP_STEPS - 1) / LOOKUP_STEPS;
	cuda_start(c, lanes && aligned ? wide : narrow, cuda_blocks(c, points), ARGS_THREADS,
		   &args);
}

/* to[...] = from[...], shapes alike. */
static void plan_copy(struct lookup_args *a, int64_t *lanes, const struct operand *to,
		      const struct operand *from)
{
	a->walk.rank = to->rank;
	a->walk.points = to->numel;
	for (int d = 0; d < to->rank; d++)
		a->walk.size[d] = to->size[d];
	cuda_walk_dims(&a->walk, 0, 0, from, 0, from->rank);
	cuda_walk_dims(&a->walk, 0, 1, to, 0, to->rank);
	cuda_walk_fold(&a->walk, 2);
	*lanes = widen(a, 0, to->dtype);
}

static struct indexing *start(const struct cuda_call *c, void **state, struct err *err)
{
	struct indexing *s = cuda_state(sizeof(*s), err);

	*state = s;
	if (s) {
		s->args.fault = c->device->fault;
		s->args.call = c->call;
	}
	return s;
}

static void fill_lookup(struct lookup_args *a, const struct lookup *l)
{
	fill_walk(&a->walk, &l->walk);
	for (int k = 0; k < l->n; k++) {
		a->least[k] = l->least[k];
		a->size[k] = l->size[k];
		a->stride[k] = l->stride[k];
	}
}

static enum placing bind_lookup(const struct cuda_call *c, void **state, struct err *err)
{
	const struct lookup *l = c->call->state;
	struct indexing *s = start(c, state, err);

	if (!s || !cuda_function(c, "move", &s->move, err) ||
	    !cuda_function(c, "move_wide", &s->move_wide, err))
		return NOWHERE;
	fill_lookup(&s->args, l);
	cuda_walk_fold(&s->args.walk, 2 + l->n);
	s->wide = widen(&s->args, l->n, c->call->out.dtype);
	return ON_DEVICE;
}

static void point_at(struct lookup_args *a, const struct lookup *l, void *const *buffers)
{
	a->from = l->from ? operand_start(l->from, buffers) : NULL;
	a->to = operand_start(l->to, buffers);
	for (int k = 0; k < l->n; k++)
		a->index[k] = operand_start(l->index[k], buffers);
}

static void run_lookup(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct indexing *s = state;

	point_at(&s->args, c->call->state, buffers);
	run_moves(c, s->move, s->move_wide, &s->args, s->wide,
		  ((const struct lookup *)c->call->state)->n);
}

const struct cuda_library cuda_lookups = { .part = PART_INDEX,
					   .emit = emit_lookup,
					   .bind = bind_lookup,
					   .run = run_lookup,
					   .looks_up = true };

/* ---- ops that write into a copy of x */

static bool bind_input(const struct cuda_call *c, struct indexing *s, struct err *err)
{
	const struct operand *x = &c->call->arg[0], *out = &c->call->out;

	plan_copy(&s->input, &s->input_wide, out, x);
	s->whole = s->input.walk.rank == 0 ||
		   (s->input.walk.rank == 1 && s->input.walk.stride[0][0] == 1);
	return cuda_function(c, "copy", &s->copy, err) &&
	       cuda_function(c, "copy_wide", &s->copy_wide, err);
}

static void copy_input(const struct cuda_call *c, struct indexing *s, void *const *buffers)
{
	const struct operand *x = &c->call->arg[0], *out = &c->call->out;
	struct device *d = c->device;

	s->input.from = operand_start(x, buffers);
	s->input.to = operand_start(out, buffers);
	if (out->numel == 0 || s->input.from == s->input.to)
		return;
	if (s->whole)
		d->memory.copy(d, s->input.to, s->input.from,
			       (size_t)out->numel * dtype_bytes(out->dtype));
	else
		run_moves(c, s->copy, s->copy_wide, &s->input, s->input_wide, 0);
}

static long long bits_of(const struct arg *value, int64_t number, enum dtype dtype)
{
	long long bits = 0;

	if (value->kind == ARG_FLOAT)
		dtype_put_double(dtype, &bits, 0, value->f);
	else
		dtype_put_int(dtype, &bits, 0, number);
	return bits;
}

/* Room of so many numbers for args.winner; false with MEMORY. */
static bool take_winner(const struct cuda_call *c, struct indexing *s, size_t n, struct err *err)
{
	s->winner_bytes = n * sizeof(unsigned);
	if (s->winner_bytes)
		s->args.winner = (unsigned *)cuda_take(c->device, s->winner_bytes);
	return !s->winner_bytes || s->args.winner ||
	       err_set(err, ERR_MEMORY,
		       "There is no memory left on the device for %s; use smaller inputs.",
		       c->call->node->fx);
}

/* Whether no two points name one place: those of two indices along the dim alone do. */
static bool are_apart(const struct library_call *call)
{
	const struct operand *index = &call->arg[2];

	return call->node->op == OP_scatter && index->rank > 0 &&
	       index->size[library_dim(call, 1, index->rank)] == 1;
}

static enum placing bind_put(const struct cuda_call *c, void **state, struct err *err)
{
	const struct lookup *l = c->call->state;
	const struct operand *out = &c->call->out;
	struct indexing *s = start(c, state, err);

	if (!s || !bind_input(c, s, err) || !cuda_function(c, "claim", &s->claim, err) ||
	    !cuda_function(c, "put", &s->put, err))
		return NOWHERE;
	fill_lookup(&s->args, l);
	cuda_walk_fold(&s->args.walk, 2 + l->n);
	if (s->args.walk.points >= UINT32_MAX)
		return ON_HOST;
	if (!l->from)
		s->args.bits = bits_of(&c->call->node->args[3], c->call->number[3], out->dtype);
	return take_winner(c, s, are_apart(c->call) ? 0 : (size_t)out->numel, err) ? ON_DEVICE
										   : NOWHERE;
}

/* Of few points the places are made ready, of many all are. */
static void claim_places(const struct cuda_call *c, struct indexing *s)
{
	struct lookup_args args = s->args;
	int64_t blocks = cuda_blocks(c, args.walk.points);

	args.fresh = 1;
	if (args.walk.points * FEW_POINTS < c->call->out.numel)
		cuda_start(c, s->claim, blocks, ARGS_THREADS, &args);
	else
		c->device->memory.clear(c->device, args.winner, s->winner_bytes);
	cuda_start(c, s->claim, blocks, ARGS_THREADS, &s->args);
}

static void run_put(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct indexing *s = state;

	copy_input(c, s, buffers);
	if (c->call->out.numel == 0 || s->args.walk.points == 0)
		return;
	point_at(&s->args, c->call->state, buffers);
	if (s->args.winner)
		claim_places(c, s);
	cuda_start(c, s->put, cuda_blocks(c, s->args.walk.points), ARGS_THREADS, &s->args);
}

static void drop_room(struct device *d, void *state)
{
	struct indexing *s = state;

	if (s && s->args.winner)
		cuda_release(d, (uint64_t)s->args.winner, s->winner_bytes);
	free(s);
}

const struct cuda_library cuda_puts = { .part = PART_INDEX,
					.emit = emit_put,
					.bind = bind_put,
					.run = run_put,
					.drop = drop_room,
					.looks_up = true };

/* So many parts of a line are added up apart: one where sums of few bits would lose more, or
 * the device is full of lines. */
static int parts_of(const struct cuda_call *c, const struct indexing *s, int64_t held, int64_t room)
{
	int64_t blocks = (s->args.walk.points + ADD_LINES - 1) / ADD_LINES;
	enum dtype dtype = c->call->out.dtype;
	int threads = 0, parts = 1;

	if (dtype == DTYPE_F16 || dtype == DTYPE_BF16 || blocks > 2 * c->device->multiprocessors)
		return 1;
	c->device->api.cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
					  s->add);
	while (parts < ADD_PARTS && (parts + 1) * held <= room &&
	       (parts + 1) * ADD_STAGE <= threads && (parts + 1) * ADD_STAGE <= s->args.length)
		parts++;
	return parts;
}

/* The function that adds: with a line's sums in its block's memory, if they fit. */
static bool choose_add(const struct cuda_call *c, struct indexing *s, struct err *err)
{
	const struct lookup_args *a = &s->args;
	int64_t room = c->device->shared_bytes - OWN_SHARED_BYTES;
	int64_t element = (int64_t)dtype_bytes(c->call->out.dtype);
	int64_t stage = (ADD_LINES * (ADD_STAGE + 1) * (element + 4) + 31) / 16 * 16;
	int64_t held = stage + a->size[0] * ADD_LINES * element;
	const char *name = "add";

	s->held = held <= room;
	s->warps = s->held || a->walk.points < MANY_LINES;
	if (s->warps)
		name = s->held ? "add_held" : "add_warps";
	if (!cuda_function(c, name, &s->add, err))
		return false;
	s->args.parts = s->held ? parts_of(c, s, held, room) : 1;
	s->shared_bytes = (size_t)(s->held ? held * s->args.parts : stage);
	return !s->held ||
	       cuda_check(c->device,
			  c->device->api.cuFuncSetAttribute(
			      s->add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)room),
			  "cuFuncSetAttribute") ||
	       cuda_device_fault(c->device, err);
}

/* Whether each index is that of a whole row. */
static bool adds_rows(const struct indexing *s)
{
	const struct lookup_args *a = &s->args;
	bool one = a->length >= LEAST_ROWS && a->walk.points >= LEAST_WIDTH;

	for (int d = 0; d < a->walk.rank; d++)
		one = one && (a->walk.stride[2][d] == 0 || a->walk.size[d] == 1);
	return one && a->length < INT32_MAX && a->size[0] > 0 && a->size[0] < INT32_MAX;
}

/* How many lanes share a row, 16 bytes each; 0: rows do not lie together, or many are one place's.
 */
static int team_of(const struct lookup_args *a, enum dtype dtype)
{
	const struct walk_args *w = &a->walk;
	int64_t lanes = WIDE_BYTES / (int64_t)dtype_bytes(dtype), width = w->points / lanes;
	int team = 1;

	if (w->rank != 1 || w->stride[0][0] != 1 || w->stride[1][0] != 1 ||
	    w->points % lanes != 0 || a->along[0] % lanes != 0 || a->stride[0] % lanes != 0 ||
	    a->size[0] * (width / 32 + 1) >= INT32_MAX || a->length > ROWS_OFTEN * a->size[0])
		return 0;
	while (team < 32 && team < width)
		team *= 2;
	return team;
}

/* The functions that add whole rows, and room for their lists. */
static enum placing bind_rows(const struct cuda_call *c, struct indexing *s, struct err *err)
{
	int64_t places = s->args.size[0], tile = 32 * ROWS_LANES;
	int64_t tiles = (s->args.walk.points + tile - 1) / tile;
	int64_t wanted = 1 + ROWS_ALL_WARPS / places;

	s->args.tiles = (int)(tiles < wanted ? tiles : wanted);
	s->args.team = team_of(&s->args, c->call->out.dtype);
	return take_winner(
		   c, s, (size_t)(4 + 3 * places + 2 * s->args.length + s->args.length / ROWS_FEW),
		   err) &&
		       cuda_function(c, "count", &s->count, err) &&
		       cuda_function(c, "start", &s->start, err) &&
		       cuda_function(c, "list", &s->list, err) &&
		       cuda_function(c, "rows", &s->rows, err) &&
		       cuda_function(c, "rows_wide", &s->rows_wide, err) &&
		       cuda_function(c, "crowds", &s->crowds, err)
		   ? ON_DEVICE
		   : NOWHERE;
}

static bool is_aligned(const struct lookup_args *a)
{
	return ((uintptr_t)a->from | (uintptr_t)a->to | (uintptr_t)a->base) % WIDE_BYTES == 0;
}

static void run_rows(const struct cuda_call *c, struct indexing *s)
{
	int64_t rows = s->args.length, places = s->args.size[0];
	int64_t most = (int64_t)c->device->multiprocessors * 16;
	int64_t blocks = (places * s->args.tiles + ROWS_WARPS - 1) / ROWS_WARPS;
	int64_t bytes = (int64_t)dtype_bytes(c->call->out.dtype);
	struct device *d = c->device;

	d->memory.clear(d, s->args.winner, sizeof(unsigned) * (size_t)(4 + places));
	cuda_start(c, s->count, cuda_blocks(c, rows), ARGS_THREADS, &s->args);
	cuda_start(c, s->start, cuda_blocks(c, places), ARGS_THREADS, &s->args);
	cuda_start(c, s->list, cuda_blocks(c, rows), ARGS_THREADS, &s->args);
	if (s->args.team && is_aligned(&s->args)) {
		struct lookup_args wide = s->args;
		int64_t teams = 32 * ROWS_WARPS / wide.team;

		wide.tiles = (int)((wide.walk.points * bytes + 32 * WIDE_BYTES - 1) /
				   (32 * WIDE_BYTES));
		blocks = (places * wide.tiles + teams - 1) / teams;
		cuda_start(c, s->rows_wide, blocks < most ? blocks : most, 32 * ROWS_WARPS, &wide);
	} else {
		cuda_start(c, s->rows, blocks < most ? blocks : most, 32 * ROWS_WARPS, &s->args);
	}
	if (rows > ROWS_FEW)
		cuda_start(c, s->crowds, d->multiprocessors * 2, 32 * ROWS_WARPS, &s->args);
}

/* How many lines' sums a block has room for: as many as make whole sectors of neighbours. */
static int lines_near(const struct cuda_call *c, const struct lookup_args *a)
{
	int64_t room = c->device->shared_bytes - OWN_SHARED_BYTES;
	int64_t line = a->size[0] * (int64_t)dtype_bytes(c->call->out.dtype);
	int64_t lines = a->across ? SECTOR_BYTES / (int64_t)dtype_bytes(c->call->arg[2].dtype) : 1;

	while (lines > 1 && (lines * line > room || lines / 2 >= a->walk.points))
		lines /= 2;
	return lines * line > room || (a->across && lines == 1 && a->walk.points > 1) ? 0
										      : (int)lines;
}

/* Sums in the memory of blocks, if they are enough to keep the device busy and what they begin
 * and end with is no more than the sums. */
static bool plan_near(const struct cuda_call *c, struct indexing *s)
{
	struct lookup_args *a = &s->args;
	int64_t busy = c->device->multiprocessors, groups, parts = 1;

	a->lines = lines_near(c, a);
	if (a->lines == 0 || a->size[0] > a->length)
		return false;
	groups = (a->walk.points + a->lines - 1) / a->lines;
	while (groups * parts < busy && a->length / (2 * parts) >= 4 * a->size[0] &&
	       a->length / (2 * parts) >= NEAR_THREADS)
		parts *= 2;
	a->parts = (int)parts;
	s->near_blocks = groups * parts;
	s->shared_bytes = (size_t)a->size[0] * (size_t)a->lines * dtype_bytes(c->call->out.dtype);
	return s->near_blocks >= busy / 3 && s->near_blocks < INT32_MAX;
}

/* The functions that add in any order; `far` walks all elements, s->args the lines. */
static enum placing bind_any_order(const struct cuda_call *c, struct indexing *s,
				   const struct lookup_args *far, struct err *err)
{
	struct device *d = c->device;
	int64_t lanes;

	s->args.across = s->args.walk.rank > 0 && s->args.along[0] > 1 &&
			 s->args.walk.stride[0][s->args.walk.rank - 1] == 1;
	s->near = s->args.walk.points > 0 && plan_near(c, s);
	lanes = widen(&(struct lookup_args){ .walk = far->walk, .stride = { far->stride[0] } }, 1,
		      c->call->out.dtype);
	if (lanes || !s->near) {
		s->near = false;
		s->args = *far;
		s->wide = lanes;
		return cuda_function(c, "add_far", &s->far, err) &&
			       cuda_function(c, "add_far_wide", &s->far_wide, err)
			   ? ON_DEVICE
			   : NOWHERE;
	}
	if (!cuda_function(c, "add_near", &s->add, err))
		return NOWHERE;
	return cuda_check(d,
			  d->api.cuFuncSetAttribute(s->add,
						    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
						    (int)s->shared_bytes),
			  "cuFuncSetAttribute") ||
		       cuda_device_fault(d, err)
		   ? ON_DEVICE
		   : NOWHERE;
}

static enum placing bind_add(const struct cuda_call *c, void **state, struct err *err)
{
	const struct lookup *l = c->call->state;
	const struct operand *out = &c->call->out;
	struct indexing *s = start(c, state, err);
	int rank = l->walk.rank, dim = library_dim(c->call, 1, rank ? rank : 1);
	struct lookup_args far;
	struct walk_args *w;

	if (!s || !bind_input(c, s, err))
		return NOWHERE;
	w = &s->args.walk;
	fill_lookup(&s->args, l);
	far = s->args;
	cuda_walk_fold(&far.walk, 3);
	s->args.length = rank ? w->size[dim] : 1;
	w->points = s->args.length ? w->points / s->args.length : 0;
	for (int k = 0; k < 3; k++)
		s->args.along[k] = rank ? w->stride[k][dim] : 0;
	if (rank)
		w->size[dim] = 1;
	s->covers = s->whole && w->points * s->args.size[0] == out->numel;
	cuda_walk_fold(w, 3);
	if (in_any_order(c->call->graph, c->call->node))
		return bind_any_order(c, s, &far, err);
	if (may_add_rows(c->call->graph, c->call->node) && adds_rows(s))
		return bind_rows(c, s, err);
	s->args.across = w->rank > 0 && w->stride[0][w->rank - 1] == 1 && s->args.along[0] > 1;
	return choose_add(c, s, err) ? ON_DEVICE : NOWHERE;
}

/* As many as have some elements each, of a power of 2. */
static unsigned near_threads(const struct lookup_args *a)
{
	int64_t elements = a->length / a->parts * a->lines;
	unsigned threads = 128;

	while (threads < NEAR_THREADS && threads * NEAR_STEPS < elements)
		threads *= 2;
	return threads;
}

static void add_far(const struct cuda_call *c, const struct indexing *s)
{
	if (s->args.walk.points > 0)
		run_moves(c, s->far, s->far_wide, &s->args, s->wide, 1);
}

static void run_add(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct indexing *s = state;
	int64_t lines = s->args.walk.points, blocks = (lines + ADD_LINES - 1) / ADD_LINES;
	bool alone = s->held || s->rows || (s->near && s->args.parts == 1);
	bool direct = alone && s->covers && s->args.length > 0;

	if (!direct)
		copy_input(c, s, buffers);
	point_at(&s->args, c->call->state, buffers);
	s->args.base = direct ? operand_start(&c->call->arg[0], buffers) : s->args.to;
	if (s->far)
		add_far(c, s);
	else if (s->near)
		cuda_start_shared(c, s->add, s->near_blocks, near_threads(&s->args),
				  (unsigned)s->shared_bytes, &s->args);
	else if (s->rows)
		run_rows(c, s);
	else if (s->args.length > 0 && s->warps)
		cuda_start_shared(c, s->add, blocks, (unsigned)(ADD_STAGE * s->args.parts),
				  (unsigned)s->shared_bytes, &s->args);
	else if (s->args.length > 0)
		cuda_start(c, s->add, cuda_blocks(c, lines), ARGS_THREADS, &s->args);
}

const struct cuda_library cuda_adds = { .part = PART_INDEX,
					.emit = emit_add,
					.bind = bind_add,
					.run = run_add,
					.drop = drop_room,
					.looks_up = true };

static enum placing bind_view(const struct cuda_call *c, void **state, struct err *err)
{
	const struct operand *part = c->call->state;
	struct indexing *s = start(c, state, err);

	if (!s || !bind_input(c, s, err))
		return NOWHERE;
	plan_copy(&s->args, &s->wide, part, &c->call->arg[1]);
	return ON_DEVICE;
}

static void run_view(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct indexing *s = state;

	copy_input(c, s, buffers);
	s->args.from = operand_start(&c->call->arg[1], buffers);
	s->args.to = operand_start(c->call->state, buffers);
	run_moves(c, s->copy, s->copy_wide, &s->args, s->wide, 0);
}

const struct cuda_library cuda_put_view = {
	.part = PART_INDEX, .emit = emit_view, .bind = bind_view, .run = run_view
};
