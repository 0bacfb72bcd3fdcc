/* fusion/backends/cuda/library/attention.c -- attention in one kernel: cuDNN's for much work in
 * float16 and bfloat16, else our own (attention.cu).  cuDNN's keeps scores in float32 where ops on
 * them were written out, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/cuda/library/dnn.h"

enum { ARG_Q, ARG_K, ARG_V, ARG_MASK, ARG_SCALE, ARG_FILL, ARG_HOW, ARG_OUT };
enum { ARG_G = ARG_FILL }; /* of attention_back, which fills with -inf */

/* Rows of a warp by tensor cores, of half a warp without: twice as many read the keys
 * half as often, and want blocks enough to keep a device busy. */
enum { SHARED_ROWS = 0, FEW_ROWS = 1, MANY_ROWS = 2, ENOUGH_BLOCKS = 96 };

/* Keys are shared by blocks where these would be few: from so many keys on, so many tiles of them
 * for a block at least.  Of so few rows that takes the time of reading the keys, and cuDNN's more.
 */
enum {
	SPLIT_BLOCKS = 264,
	SPLIT_KEYS = 512,
	SPLIT_TILES = 3,
	SPLIT_AT_ONCE = 4, /* blocks of a multiprocessor */
	SPLIT_ROWS = 16    /* that four warps share */
};

/* So few keys are one tile of our own: cuDNN's has 128 or 256 of them.  A warp has many rows where
 * their scores and sums fit into registers. */
enum { FEW_KEYS = 96, FEW_KEYS_WIDTH = 128, FEW_KEYS_MANY = 144 };

/* Products of elements from which cuDNN's kernel makes up for its longer launch. */
static const double MUCH_WORK = 1 << 27;
/* The widest heads of its gradients. */
enum { DNN_WIDTH = 128 };

struct attend {
	struct dnn_graph *graph; /* NULL: our own */
	CUfunction function;
	struct attention_args args;
	int64_t blocks;
	unsigned shared_bytes;
	size_t left_bytes, arrived_bytes; /* of args.left and args.arrived */
};

static int64_t width_of(const struct graph *g, const struct node *n)
{
	const struct shape *q = &g->nodes[n->args[ARG_Q].node]->shape;

	return q->size[q->rank - 1]->value;
}

static bool by_tensor_cores(enum dtype dtype)
{
	return dtype_wide(dtype) != dtype;
}

/* Rows of a block; `many`, few or shared. */
static int tile_rows(enum dtype dtype, int many)
{
	if (many == SHARED_ROWS)
		return SPLIT_ROWS;
	return by_tensor_cores(dtype) ? 64 * many : ATTEND_THREADS / 16 * 2 * many;
}

/* The keys where these are known to be few; else 0. */
static int few_keys(const struct graph *g, const struct node *n)
{
	const struct shape *k = &g->nodes[n->args[ARG_K].node]->shape;
	const struct sym *keys = k->size[k->rank - 2];

	return by_tensor_cores(n->dtype) && sym_is_const(keys) && keys->value > 0 &&
		       keys->value <= FEW_KEYS && width_of(g, n) <= FEW_KEYS_WIDTH
		   ? (int)keys->value
		   : 0;
}

/* By the sizes of the capture, since the text has it. */
static int rows_of_warps(const struct graph *g, const struct node *n)
{
	const struct shape *q = &g->nodes[n->args[ARG_Q].node]->shape;
	int64_t rows = sym_hint(g->syms, q->size[q->rank - 2]), matrices = 1, tiles;

	for (int d = 0; d < q->rank - 2; d++)
		matrices *= sym_hint(g->syms, q->size[d]);
	tiles = (rows + tile_rows(n->dtype, MANY_ROWS) - 1) / tile_rows(n->dtype, MANY_ROWS);
	if (few_keys(g, n) + width_of(g, n) > FEW_KEYS_MANY && few_keys(g, n) > 0)
		return FEW_ROWS;
	return rows > tile_rows(n->dtype, FEW_ROWS) && tiles * matrices >= ENOUGH_BLOCKS ? MANY_ROWS
											 : FEW_ROWS;
}

/* Whether keys are shared by blocks; likewise. */
static bool splits(const struct graph *g, const struct node *n)
{
	const struct shape *q = &g->nodes[n->args[ARG_Q].node]->shape;
	const struct shape *k = &g->nodes[n->args[ARG_K].node]->shape;
	int64_t blocks = (sym_hint(g->syms, q->size[q->rank - 2]) + 63) / 64;

	for (int d = 0; d < q->rank - 2; d++)
		blocks *= sym_hint(g->syms, q->size[d]);
	return by_tensor_cores(n->dtype) && blocks <= SPLIT_BLOCKS &&
	       rows_of_warps(g, n) == FEW_ROWS &&
	       sym_hint(g->syms, k->size[k->rank - 2]) >= SPLIT_KEYS &&
	       !(n->args[ARG_HOW].sym->value & ATTENTION_CAUSAL);
}

static int rows_of_blocks(const struct graph *g, const struct node *n)
{
	const struct shape *q = &g->nodes[n->args[ARG_Q].node]->shape;

	return splits(g, n) && sym_hint(g->syms, q->size[q->rank - 2]) <= SPLIT_ROWS
		   ? SHARED_ROWS
		   : rows_of_warps(g, n);
}

static const char *mask_of(const struct graph *g, const struct node *n)
{
	if (n->args[ARG_MASK].kind != ARG_NODE)
		return "ATTEND_NO_MASK";
	if (g->nodes[n->args[ARG_MASK].node]->dtype != DTYPE_BOOL)
		return "ATTEND_ADDS";
	return n->args[ARG_HOW].sym->value & ATTENTION_FILLS ? "ATTEND_FILLS" : "ATTEND_KEEPS";
}

static void emit(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	int64_t how = n->args[ARG_HOW].sym->value, width = width_of(g, n);
	const char *causal = how & ATTENTION_CAUSAL ? "true" : "false";
	const char *empty = how & ATTENTION_EMPTY ? "true" : "false";
	int many = rows_of_blocks(g, n);

	buf_printf(out,
		   "extern \"C\" __global__ void __launch_bounds__(%d, %d) "
		   "l%d_attend(const __grid_constant__ attention_args a)\n{\n\t",
		   ATTEND_THREADS, many == SHARED_ROWS ? SPLIT_AT_ONCE : 2, kernel);
	if (by_tensor_cores(n->dtype))
		buf_printf(out, "attend_tiles<%s, %d, %d, %s, %s, %s, %s, %s, %d>(a);\n}\n",
			   cuda_element(n->dtype), (int)width, many, mask_of(g, n), causal,
			   how & ATTENTION_ROUNDS ? "true" : "false", empty,
			   splits(g, n) ? "true" : "false", few_keys(g, n));
	else
		buf_printf(out, "attend_rows<%d, %d, %s, %s, %s>(a);\n}\n", (int)width, 2 * many,
			   mask_of(g, n), causal, empty);
}

/* From one to the next of a mask's dim, counted from the last; 0: it broadcasts. */
static int64_t mask_step(const struct operand *mask, int from_last)
{
	int d = mask->rank - 1 - from_last;

	return mask->buffer < 0 || d < 0 || mask->size[d] == 1 ? 0 : mask->stride[d];
}

static void fill_batch(struct walk_args *w, const struct library_call *call)
{
	const struct operand *q = &call->arg[ARG_Q];
	bool turned = call->number[ARG_HOW] & ATTENTION_TURNED;

	w->rank = q->rank - 2;
	w->points = 1;
	for (int d = 0; d < w->rank; d++) {
		w->size[d] = q->size[d];
		w->points *= q->size[d];
		for (int a = ARG_Q; a <= ARG_V; a++)
			w->stride[a][d] = call->arg[a].size[d] == 1 ? 0 : call->arg[a].stride[d];
		w->stride[3][d] = mask_step(&call->arg[ARG_MASK], q->rank - 1 - d);
		w->stride[4][d] = call->out.stride[turned && d == 1 ? 2 : d];
	}
	cuda_walk_fold(w, 5);
}

static struct attention_operand matrix_of(const struct operand *x, int row)
{
	return (struct attention_operand){ .row = x->stride[row],
					   .column = x->stride[x->rank - 1] };
}

/* Whether its rows are multiples of 16 bytes apart. */
static bool has_even_rows(const struct operand *x)
{
	int64_t all = x->size[x->rank - 1];

	for (int d = 0; d < x->rank - 1; d++)
		all |= x->size[d] == 1 ? 0 : x->stride[d];
	return all % (16 / (int64_t)dtype_bytes(x->dtype)) == 0 && x->stride[x->rank - 1] == 1;
}

/* Those of q, k, v and another one. */
static bool have_even_rows(const struct library_call *call, const struct operand *other)
{
	return has_even_rows(&call->arg[ARG_Q]) && has_even_rows(&call->arg[ARG_K]) &&
	       has_even_rows(&call->arg[ARG_V]) && has_even_rows(other);
}

/* Shared memory of a tile with so many keys. */
static unsigned room_of(const struct library_call *call, int rows, int keys)
{
	const struct operand *q = &call->arg[ARG_Q];
	unsigned bytes = (unsigned)dtype_bytes(q->dtype);
	unsigned columns = ((unsigned)q->size[q->rank - 1] + 15) / 16 * 16 + 16 / bytes;
	unsigned lines = (unsigned)(rows + 2 * keys);

	return columns * lines * bytes +
	       (by_tensor_cores(q->dtype) ? 0 : (unsigned)rows * (ATTEND_KEYS + 4) * bytes);
}

static float rounded(enum dtype dtype, double x)
{
	double at;

	dtype_put_double(dtype, &at, 0, x);
	return (float)dtype_get_double(dtype, &at, 0);
}

/* ---- cuDNN's: softmax(q @ k.T * scale + mask) @ v, fused into one engine */

enum { ID_Q = 1, ID_K, ID_V, ID_MASK, ID_OUT, ID_SCALE, ID_LOWEST, ID_ROWS };

/* An operand as [batch, head, row, column]; k as its transpose.  `rows` names the dim of rows. */
static struct dnn_shape shape_of(const struct operand *x, int head, int rows, bool turned)
{
	int last = x->rank - 1;
	struct dnn_shape s = { .rank = 4,
			       .size = { x->size[0], head < 0 ? 1 : x->size[head], x->size[rows],
					 x->size[last] },
			       .stride = { x->stride[0], head < 0 ? x->stride[0] : x->stride[head],
					   x->stride[rows], x->stride[last] } };

	if (turned) {
		s.size[2] = x->size[last];
		s.size[3] = x->size[rows];
		s.stride[2] = x->stride[last];
		s.stride[3] = x->stride[rows];
	}
	return s;
}

static bool is_masked_whole(const struct library_call *call)
{
	const struct operand *mask = &call->arg[ARG_MASK], *q = &call->arg[ARG_Q];
	const struct operand *k = &call->arg[ARG_K];
	int last = mask->rank - 1;

	return mask->buffer < 0 ||
	       (mask->dtype == q->dtype && mask->rank >= 2 && mask->stride[last] == 1 &&
		mask->size[last] == k->size[k->rank - 2] &&
		mask->size[last - 1] == q->size[q->rank - 2] && mask->stride[last - 1] % 8 == 0 &&
		mask->offset % 8 == 0);
}

/* Of [batch, group, head, row, column], where the heads of a group share keys, one head after the
 * other: [batch, head, row, column], with fewer heads of keys. */
static void fold_groups(struct library_call *call)
{
	struct operand *const all[] = { &call->arg[ARG_Q], &call->arg[ARG_K], &call->arg[ARG_V],
					&call->out };

	if (all[0]->rank != 5 || all[1]->size[2] != 1 || all[2]->size[2] != 1 ||
	    call->arg[ARG_MASK].buffer >= 0 || call->number[ARG_HOW] & ATTENTION_TURNED)
		return;
	for (int i = 0; i < 4; i += 3)
		if (all[i]->stride[1] != all[i]->size[2] * all[i]->stride[2])
			return;
	for (int i = 0; i < 4; i++) {
		struct operand *x = all[i];

		x->size[1] *= x->size[2];
		x->stride[1] = i == 0 || i == 3 ? x->stride[2] : x->stride[1];
		memmove(x->size + 2, x->size + 3, 2 * sizeof(*x->size));
		memmove(x->stride + 2, x->stride + 3, 2 * sizeof(*x->stride));
		x->rank = 4;
	}
}

/* Whether cuDNN will take it, by the sizes of the capture; `grouped`: heads may share keys. */
static bool is_for_dnn(const struct graph *g, const struct node *n, bool grouped)
{
	const struct shape *q = &g->nodes[n->args[ARG_Q].node]->shape;
	const struct shape *k = &g->nodes[n->args[ARG_K].node]->shape;
	double work = (double)sym_hint(g->syms, k->size[k->rank - 2]);
	bool alike = q->rank == k->rank && q->rank >= 3 && q->rank <= 4 + grouped;

	for (int d = 0; d < q->rank; d++)
		work *= (double)sym_hint(g->syms, q->size[d]);
	for (int d = 0; alike && d < q->rank - 2; d++)
		alike = q->rank == 5 && d == 2
			    ? sym_is(k->size[d], 1)
			    : sym_hint(g->syms, q->size[d]) == sym_hint(g->syms, k->size[d]);
	return alike && by_tensor_cores(n->dtype) && work >= MUCH_WORK && width_of(g, n) % 8 == 0 &&
	       rows_of_blocks(g, n) != SHARED_ROWS &&
	       (n->args[ARG_MASK].kind != ARG_NODE ||
		g->nodes[n->args[ARG_MASK].node]->dtype == n->dtype);
}

static bool is_ahead_for_dnn(const struct graph *g, const struct node *n)
{
	return few_keys(g, n) == 0 && is_for_dnn(g, n, true);
}

static bool suits_dnn(const struct library_call *call)
{
	const struct operand *q = &call->arg[ARG_Q], *k = &call->arg[ARG_K];
	const struct operand *v = &call->arg[ARG_V];
	int last = q->rank - 1;
	double work = (double)q->numel * (double)k->size[last - 1];

	if (splits(call->graph, call->node) && q->size[last - 1] <= SPLIT_ROWS)
		return false;
	if (!by_tensor_cores(q->dtype) || (q->rank != 4 && q->rank != 3) || work < MUCH_WORK ||
	    q->size[last] % 8 != 0 || !is_masked_whole(call))
		return false;
	for (int a = ARG_Q; a <= ARG_V; a++)
		for (int d = 0; d <= last; d++)
			if ((d == last ? call->arg[a].stride[d] != 1
				       : call->arg[a].stride[d] % 8 != 0) ||
			    call->arg[a].offset % 8 != 0)
				return false;
	for (int d = 0; d < last - 1; d++)
		if (v->size[d] != k->size[d] ||
		    (k->size[d] != q->size[d] &&
		     (d != 1 || k->size[d] == 0 || q->size[d] % k->size[d] != 0)))
			return false;
	return true;
}

struct scores {
	struct dnn_graph *g;
	struct dnn_shape all, row, one; /* of the scores, of a number a row, of one number */
	bool leaves;                    /* the log of a row's sum of powers goes to memory */
	bool back; /* all is computed as float32: engines of gradients want it so */
};

static dnn_item between(const struct scores *s, const struct dnn_shape *shape, enum dnn_type type)
{
	return dnn_add_tensor(s->g, type, shape, DNN_BETWEEN, 0);
}

static void point(const struct scores *s, enum dnn_mode mode, dnn_item x, dnn_item b, dnn_item y)
{
	dnn_add_op(s->g,
		   &(struct dnn_op){ .mode = mode, .math = DNN_FLOAT, .x = x, .b = b, .y = y });
}

static void fold(const struct scores *s, enum dnn_mode mode, dnn_item x, dnn_item y)
{
	dnn_add_op(s->g, &(struct dnn_op){ .kind = DNN_REDUCTION, .mode = mode, .x = x, .y = y });
}

static void multiply(const struct scores *s, dnn_item x, dnn_item b, dnn_item y)
{
	dnn_add_op(s->g, &(struct dnn_op){ .kind = DNN_PRODUCT, .x = x, .b = b, .y = y });
}

/* A new tensor; of the scores' shape. */
static dnn_item compute_as(const struct scores *s, const struct dnn_shape *shape,
			   enum dnn_mode mode, dnn_item x, dnn_item b)
{
	dnn_item y = between(s, shape, DNN_FLOAT);

	point(s, mode, x, b, y);
	return y;
}

static dnn_item compute(const struct scores *s, enum dnn_mode mode, dnn_item x, dnn_item b)
{
	return compute_as(s, &s->all, mode, x, b);
}

/* -inf where the key comes after the row. */
static dnn_item hide_later(const struct scores *s, dnn_item x)
{
	dnn_item lowest = dnn_add_tensor(s->g, DNN_FLOAT, &s->one, DNN_NUMBER, ID_LOWEST);
	dnn_item index[2], seen = between(s, &s->all, DNN_BOOL), y;

	for (int i = 0; i < 2; i++) {
		index[i] = between(s, &s->all, DNN_INT32);
		dnn_add_op(s->g, &(struct dnn_op){ .mode = DNN_INDEX,
						   .math = s->back ? DNN_FLOAT : DNN_INT32,
						   .x = x,
						   .y = index[i],
						   .axis = 2 + i });
	}
	dnn_add_op(s->g, &(struct dnn_op){ .mode = DNN_GREATER_EQUAL,
					   .math = s->back ? DNN_FLOAT : DNN_BOOL,
					   .x = index[0],
					   .b = index[1],
					   .y = seen });
	y = between(s, &s->all, DNN_FLOAT);
	dnn_add_op(
	    s->g,
	    &(struct dnn_op){
		.mode = DNN_SELECT, .math = DNN_FLOAT, .x = x, .b = lowest, .t = seen, .y = y });
	return y;
}

static dnn_item add_softmax(const struct scores *s, dnn_item x, enum dnn_type type)
{
	dnn_item most = between(s, &s->row, DNN_FLOAT), sum = between(s, &s->row, DNN_FLOAT), y;

	fold(s, DNN_MAX_ALL, x, most);
	x = compute(s, DNN_EXP, compute(s, DNN_SUB, x, most), NULL);
	fold(s, DNN_SUM_ALL, x, sum);
	/* The log of the row's sum, which cuDNN's engines know a softmax by. */
	y = compute_as(s, &s->row, DNN_LOG, sum, NULL);
	point(s, DNN_ADD, most, y,
	      s->leaves ? dnn_add_tensor(s->g, DNN_FLOAT, &s->row, DNN_IN_MEMORY, ID_ROWS)
			: between(s, &s->row, DNN_FLOAT));
	y = between(s, &s->all, type);
	point(s, DNN_DIV, x, sum, y);
	return y;
}

/* The scores of q and k with scale and masks on them. */
static dnn_item add_scores(const struct scores *s, const struct library_call *call, dnn_item q,
			   dnn_item k)
{
	const struct operand *mask = &call->arg[ARG_MASK];
	dnn_item x = between(s, &s->all, DNN_FLOAT);

	multiply(s, q, k, x);
	x = compute(s, DNN_MUL, x, dnn_add_tensor(s->g, DNN_FLOAT, &s->one, DNN_NUMBER, ID_SCALE));
	if (mask->buffer >= 0) {
		struct dnn_shape m = { .rank = 4, .size = { 1, 1, 1, 1 } };

		for (int d = mask->rank - 1, to = 3; d >= 0 && to >= 0; d--, to--) {
			/* Of rank 3 the first dim is the batch. */
			int at = call->arg[ARG_Q].rank == 3 && to == 1 ? 0 : to;

			m.size[at] = mask->size[d];
			m.stride[at] = mask->stride[d];
		}
		for (int d = 1; d >= 0; d--)
			if (m.size[d] == 1)
				m.stride[d] = m.size[d + 1] * m.stride[d + 1];
		x = compute(
		    s, DNN_ADD, x,
		    dnn_add_tensor(s->g, dnn_type_of(mask->dtype), &m, DNN_IN_MEMORY, ID_MASK));
	}
	return call->number[ARG_HOW] & ATTENTION_CAUSAL ? hide_later(s, x) : x;
}

/* Begins a graph of scores; s->g is NULL where cuDNN will not take the call. */
static void begin_scores(const struct cuda_call *c, struct scores *s)
{
	const struct library_call *call = c->call;
	const struct operand *q = &call->arg[ARG_Q], *k = &call->arg[ARG_K];
	int head = q->rank == 4 ? 1 : -1, last = q->rank - 1;
	int64_t step = 1, line = 1;

	s->g = suits_dnn(call) ? dnn_begin(dnn_open(c->device), c->device) : NULL;
	s->all = s->row = s->one = shape_of(q, head, last - 1, false);
	s->all.size[3] = k->size[last - 1];
	s->row.size[3] = 1;
	for (int d = 3; d >= 0; d--) {
		s->all.stride[d] = step;
		s->row.stride[d] = line;
		s->one.size[d] = s->one.stride[d] = 1;
		step *= s->all.size[d];
		line *= s->row.size[d];
	}
}

/* Operand `arg`, whose rows are its dim before the last, in memory with that id. */
static dnn_item add_matrix(const struct scores *s, const struct library_call *call, int arg,
			   bool turned, int64_t id)
{
	const struct operand *x = &call->arg[arg];
	struct dnn_shape shape = shape_of(x, x->rank == 4 ? 1 : -1, x->rank - 2, turned);

	return dnn_add_tensor(s->g, dnn_type_of(x->dtype), &shape, DNN_IN_MEMORY, id);
}

static struct dnn_graph *finish_scores(const struct scores *s)
{
	if (dnn_finish(s->g, NULL))
		return s->g;
	dnn_drop(s->g);
	return NULL;
}

/* The result lies as `out` says; NULL: as the call's does. */
static struct dnn_graph *attention_graph(const struct cuda_call *original,
					 const struct dnn_shape *out, bool leaves)
{
	struct library_call folded = *original->call;
	struct cuda_call with_folded = *original;
	const struct cuda_call *c = &with_folded;
	const struct library_call *call = &folded;
	int rank;
	struct dnn_shape own;
	enum dnn_type type = dnn_type_of(call->arg[ARG_Q].dtype);
	struct scores s = { .leaves = leaves };
	dnn_item q, k, v, y;

	fold_groups(&folded);
	with_folded.call = &folded;
	rank = folded.arg[ARG_Q].rank;
	own = folded.number[ARG_HOW] & ATTENTION_TURNED
		  ? shape_of(&folded.out, 2, 1, false)
		  : shape_of(&folded.out, rank == 4 ? 1 : -1, rank - 2, false);
	begin_scores(c, &s);
	if (!s.g)
		return NULL;
	q = add_matrix(&s, call, ARG_Q, false, ID_Q);
	k = add_matrix(&s, call, ARG_K, true, ID_K);
	v = add_matrix(&s, call, ARG_V, false, ID_V);
	y = dnn_add_tensor(s.g, type, out ? out : &own, DNN_IN_MEMORY, ID_OUT);
	multiply(&s, add_softmax(&s, add_scores(&s, call, q, k), type), v, y);
	return finish_scores(&s);
}

static void run_graph(const struct cuda_call *c, const struct attend *s, void *const *buffers)
{
	const struct library_call *call = c->call;
	float scale = s->args.scale, lowest = -INFINITY;
	const int64_t ids[] = { ID_Q, ID_K, ID_V, ID_OUT, ID_SCALE, ID_LOWEST, ID_MASK };
	void *at[7] = { operand_start(&call->arg[ARG_Q], buffers),
			operand_start(&call->arg[ARG_K], buffers),
			operand_start(&call->arg[ARG_V], buffers),
			operand_start(&call->out, buffers),
			&scale,
			&lowest };
	int64_t have[7];
	int n = 0;

	for (int i = 0; i < 7; i++) {
		if ((ids[i] == ID_LOWEST && !(call->number[ARG_HOW] & ATTENTION_CAUSAL)) ||
		    (ids[i] == ID_MASK && call->arg[ARG_MASK].buffer < 0))
			continue;
		have[n] = ids[i];
		at[n++] = ids[i] == ID_MASK ? operand_start(&call->arg[ARG_MASK], buffers) : at[i];
	}
	if (!dnn_run(s->graph, have, at, n))
		cuda_check(c->device, CUDA_ERROR_UNKNOWN, "cuDNN's attention");
}

/* ---- */

/* How many blocks share the keys of a tile, and room for what they leave. */
static bool plan_parts(const struct cuda_call *c, struct attend *s, int64_t rows, struct err *err)
{
	struct attention_args *a = &s->args;
	int64_t tiles = (a->keys + ATTEND_KEYS - 1) / ATTEND_KEYS, most = tiles / SPLIT_TILES;
	int64_t parts = c->device->multiprocessors * SPLIT_AT_ONCE / (s->blocks ? s->blocks : 1);
	int64_t width = c->call->arg[ARG_Q].size[c->call->arg[ARG_Q].rank - 1], held;

	parts = parts < most ? parts : most;
	parts = parts < ATTEND_PARTS ? parts : ATTEND_PARTS;
	parts = parts > 1 ? parts : 1;
	a->span = (tiles + parts - 1) / parts * ATTEND_KEYS;
	a->parts = (unsigned)(a->span > 0 ? (a->keys + a->span - 1) / a->span : 1);
	if (a->parts <= 1)
		a->parts = 1;
	if (a->parts == 1 && rows != SPLIT_ROWS)
		return true;
	held = a->rows < rows ? a->rows : rows;
	s->left_bytes = (size_t)(s->blocks * a->parts * held * (width + 2)) * sizeof(float);
	s->arrived_bytes = (size_t)s->blocks * sizeof(unsigned);
	s->blocks *= a->parts;
	a->left = (float *)cuda_take(c->device, s->left_bytes);
	a->arrived = (unsigned *)cuda_take(c->device, s->arrived_bytes);
	if (!a->left || !a->arrived)
		return err_set(err, ERR_MEMORY,
			       "There is no memory left on the device for %s; use smaller inputs.",
			       c->call->node->fx);
	c->device->memory.clear(c->device, a->arrived, s->arrived_bytes);
	return true;
}

static bool share(const struct cuda_call *c, CUfunction f, unsigned bytes)
{
	return cuda_check(c->device,
			  c->device->api.cuFuncSetAttribute(
			      f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes),
			  "cuFuncSetAttribute");
}

/* How both walk, and what of their operands both read. */
static void fill_matrices(struct attention_args *a, const struct library_call *call, int rows)
{
	const struct operand *q = &call->arg[ARG_Q], *mask = &call->arg[ARG_MASK];
	int last = q->rank - 1;

	fill_batch(&a->batch, call);
	a->q = matrix_of(q, last - 1);
	a->k = matrix_of(&call->arg[ARG_K], last - 1);
	a->v = matrix_of(&call->arg[ARG_V], last - 1);
	a->mask_row = mask_step(mask, 1);
	a->mask_column = mask_step(mask, 0);
	a->rows = q->size[last - 1];
	a->keys = call->arg[ARG_K].size[last - 1];
	a->tiles = (unsigned)((a->rows + rows - 1) / rows);
	a->scale = (float)call->node->args[ARG_SCALE].f;
}

/* Where they are: all bits of the addresses of matrices. */
static uintptr_t place_matrices(struct attention_args *a, const struct library_call *call,
				void *const *buffers)
{
	a->q.at = operand_start(&call->arg[ARG_Q], buffers);
	a->k.at = operand_start(&call->arg[ARG_K], buffers);
	a->v.at = operand_start(&call->arg[ARG_V], buffers);
	a->mask = call->arg[ARG_MASK].buffer < 0 ? NULL
						 : operand_start(&call->arg[ARG_MASK], buffers);
	a->out.at = operand_start(&call->out, buffers);
	return (uintptr_t)a->q.at | (uintptr_t)a->k.at | (uintptr_t)a->v.at;
}

static enum placing bind(const struct cuda_call *c, void **state, struct err *err)
{
	const struct library_call *call = c->call;
	const struct operand *q = &call->arg[ARG_Q];
	int rows = tile_rows(q->dtype, rows_of_blocks(call->graph, call->node)), last = q->rank - 1;
	int few = few_keys(call->graph, call->node);
	struct attend *s = cuda_state(sizeof(*s), err);
	struct attention_args *a;

	*state = s;
	if (!s)
		return NOWHERE;
	s->args.scale = (float)call->node->args[ARG_SCALE].f;
	s->graph = few > 0 ? NULL : attention_graph(c, NULL, false);
	if (s->graph)
		return ON_DEVICE;
	if (!c->module)
		return WANTS_KERNELS;
	if (!cuda_function(c, "attend", &s->function, err))
		return NOWHERE;
	a = &s->args;
	fill_matrices(a, call, rows);
	a->out = matrix_of(&call->out, call->number[ARG_HOW] & ATTENTION_TURNED ? 1 : last - 1);
	a->fill = rounded(q->dtype, call->node->args[ARG_FILL].f);
	a->wide = have_even_rows(call, &call->out);
	s->blocks = a->batch.points * a->tiles;
	if (splits(call->graph, call->node) && !plan_parts(c, s, rows, err))
		return NOWHERE;
	s->shared_bytes = room_of(call, rows, few > 0 ? (few + 15) / 16 * 16 : ATTEND_KEYS);
	return share(c, s->function, s->shared_bytes) || cuda_device_fault(c->device, err)
		   ? ON_DEVICE
		   : NOWHERE;
}

static void run(const struct cuda_call *c, void *state, void *const *buffers)
{
	const struct attend *s = state;
	const struct library_call *call = c->call;
	struct attention_args a = s->args;
	uintptr_t all;

	if (s->graph) {
		run_graph(c, s, buffers);
		return;
	}
	all = place_matrices(&a, call, buffers) | (uintptr_t)a.out.at;
	a.wide = a.wide && all % 16 == 0;
	cuda_start_shared(c, s->function, s->blocks, ATTEND_THREADS, s->shared_bytes, &a);
}

static void drop(struct device *d, void *state)
{
	struct attend *s = state;

	if (!s)
		return;
	dnn_drop(s->graph);
	if (s->args.left)
		cuda_release(d, (uint64_t)s->args.left, s->left_bytes);
	if (s->args.arrived)
		cuda_release(d, (uint64_t)s->args.arrived, s->arrived_bytes);
	free(s);
}

const struct cuda_library cuda_attention = { .part = PART_ATTENTION,
					     .late_for = is_ahead_for_dnn,
					     .emit = emit,
					     .bind = bind,
					     .run = run,
					     .drop = drop };

/* ---- its gradients */

/* cuDNN's way: the forward pass once more for what it leaves of each row (its result goes to where
 * the gradient of q will lie), then all gradients in one engine, whose sums come in any order. */
struct dnn_back {
	struct dnn_graph *ahead, *back; /* NULL: our own kernels */
	void *room;                     /* rows' logs, rows' slopes, the gradient of q in float32 */
	size_t row_bytes, sum_bytes, taken_bytes; /* taken: not cuBLAS's memory */
};

struct attend_back {
	struct dnn_back dnn;
	CUfunction rows, keys;
	struct attention_back_args args;
	int64_t row_blocks, key_blocks;
	unsigned shared_bytes;
	size_t left_bytes; /* of shift and slope together */
};

enum { ID_G = ID_ROWS + 1, ID_SLOPE, ID_ONE, ID_SUM, ID_DQ, ID_DK, ID_DV };

static bool is_back_for_dnn(const struct graph *g, const struct node *n)
{
	return !g->ordered && n->args[ARG_MASK].kind != ARG_NODE && width_of(g, n) <= DNN_WIDTH &&
	       is_for_dnn(g, n, false);
}

static bool suits_back(const struct library_call *call)
{
	const struct operand *q = &call->arg[ARG_Q];
	const int args[] = { ARG_G, ARG_OUT };

	if (!is_back_for_dnn(call->graph, call->node) ||
	    call->number[ARG_HOW] & (ATTENTION_TURNED | ATTENTION_ROUNDS))
		return false;
	for (int i = 0; i < 2; i++) {
		const struct operand *x = &call->arg[args[i]];

		for (int d = 0; d < x->rank; d++)
			if (x->rank != q->rank ||
			    (d == x->rank - 1 ? x->stride[d] != 1 : x->stride[d] % 8 != 0) ||
			    x->offset % 8 != 0)
				return false;
	}
	return true;
}

/* What the result has of q (part 0), of k and of v: rows of its own, one below the other. */
static struct dnn_shape part_of(const struct library_call *call, int part)
{
	const struct operand *out = &call->out;
	struct dnn_shape s = shape_of(out, out->rank == 4 ? 1 : -1, out->rank - 2, false);

	s.size[2] = call->arg[part == 0 ? ARG_Q : ARG_K].size[out->rank - 2];
	return s;
}

static dnn_item reorder(const struct scores *s, dnn_item x, const struct dnn_shape *shape,
			enum dnn_type type)
{
	dnn_item y = between(s, shape, type);

	dnn_add_op(s->g, &(struct dnn_op){ .kind = DNN_RESHAPE, .x = x, .y = y });
	return y;
}

/* Of each row the sum of gradient times result. */
static dnn_item add_slope(const struct scores *s, dnn_item g, dnn_item o,
			  const struct dnn_shape *rows)
{
	dnn_item sum = between(s, &s->row, DNN_FLOAT);
	dnn_item y = dnn_add_tensor(s->g, DNN_FLOAT, &s->row, DNN_IN_MEMORY, ID_SLOPE);

	fold(s, DNN_SUM_ALL, compute_as(s, rows, DNN_MUL, g, o), sum);
	point(s, DNN_MUL, sum, dnn_add_tensor(s->g, DNN_FLOAT, &s->one, DNN_NUMBER, ID_ONE), y);
	return y;
}

/* As cuDNN's engines know it, op by op. */
static struct dnn_graph *gradients_graph(const struct cuda_call *c)
{
	const struct library_call *call = c->call;
	const struct operand *own = &call->arg[ARG_K];
	enum dnn_type type = dnn_type_of(own->dtype);
	struct scores s = { .back = true };
	struct dnn_shape part[3], turned, rows,
	    key = shape_of(own, own->rank == 4 ? 1 : -1, own->rank - 2, false);
	dnn_item q, k, v, g, o, scale, slope, x, power, sum;

	begin_scores(c, &s);
	if (!s.g)
		return NULL;
	s.g->varies = true;
	for (int i = 0; i < 3; i++)
		part[i] = part_of(call, i);
	turned = s.all;
	turned.size[2] = s.all.size[3];
	turned.size[3] = s.all.size[2];
	turned.stride[2] = 1;
	turned.stride[3] = s.all.size[3];
	rows = part[0];
	for (int d = 3, step = 1; d >= 0; step *= (int)rows.size[d--])
		rows.stride[d] = step;
	q = add_matrix(&s, call, ARG_Q, false, ID_Q);
	k = add_matrix(&s, call, ARG_K, true, ID_K);
	v = add_matrix(&s, call, ARG_V, true, ID_V);
	g = add_matrix(&s, call, ARG_G, false, ID_G);
	o = add_matrix(&s, call, ARG_OUT, false, ID_OUT);
	scale = dnn_add_tensor(s.g, DNN_FLOAT, &s.one, DNN_NUMBER, ID_SCALE);
	slope = add_slope(&s, g, o, &rows);
	x = between(&s, &s.all, DNN_FLOAT);
	multiply(&s, q, k, x);
	x = compute(&s, DNN_SUB, compute(&s, DNN_MUL, x, scale),
		    dnn_add_tensor(s.g, DNN_FLOAT, &s.row, DNN_IN_MEMORY, ID_ROWS));
	if (call->number[ARG_HOW] & ATTENTION_CAUSAL)
		x = hide_later(&s, x);
	power = compute(&s, DNN_EXP, x, NULL);
	multiply(&s, reorder(&s, power, &turned, type), g,
		 dnn_add_tensor(s.g, type, &part[2], DNN_IN_MEMORY, ID_DV));
	x = between(&s, &s.all, DNN_FLOAT);
	multiply(&s, g, v, x);
	x = compute(&s, DNN_MUL, compute(&s, DNN_SUB, x, slope), power);
	x = compute(&s, DNN_MUL, x, scale);
	multiply(&s, reorder(&s, x, &turned, type), q,
		 dnn_add_tensor(s.g, type, &part[1], DNN_IN_MEMORY, ID_DK));
	sum = dnn_add_tensor(s.g, DNN_FLOAT, &rows, DNN_IN_MEMORY, ID_SUM);
	multiply(&s, x, reorder(&s, k, &key, DNN_FLOAT), sum);
	point(&s, DNN_IDENTITY, sum, NULL,
	      dnn_add_tensor(s.g, type, &part[0], DNN_IN_MEMORY, ID_DQ));
	return finish_scores(&s);
}

static void drop_dnn_back(struct device *d, struct dnn_back *s)
{
	dnn_drop(s->ahead);
	dnn_drop(s->back);
	if (s->taken_bytes)
		cuda_release(d, (uint64_t)s->room, s->taken_bytes);
	*s = (struct dnn_back){ 0 };
}

/* False: cuDNN has no engine for it, or there is no memory for its way. */
static bool bind_dnn_back(const struct cuda_call *c, struct dnn_back *s)
{
	const struct library_call *call = c->call;
	const struct operand *q = &call->arg[ARG_Q];
	struct dnn_shape out = part_of(call, 0);
	size_t numbers = (size_t)(q->numel / q->size[q->rank - 1]), all;

	if (!suits_back(call))
		return false;
	s->row_bytes = (numbers * sizeof(float) + 255) / 256 * 256;
	s->sum_bytes = (size_t)q->numel * sizeof(float);
	all = 2 * s->row_bytes + s->sum_bytes;
	s->ahead = attention_graph(c, &out, true);
	s->back = s->ahead ? gradients_graph(c) : NULL;
	if (s->back && c->device->workspace_bytes >= all)
		s->room = (void *)c->device->workspace;
	if (s->back && !s->room) {
		s->room = (void *)cuda_take(c->device, all);
		s->taken_bytes = s->room ? all : 0;
	}
	if (s->room)
		return true;
	drop_dnn_back(c->device, s);
	return false;
}

static void run_dnn_back(const struct cuda_call *c, const struct dnn_back *s, void *const *buffers)
{
	const struct library_call *call = c->call;
	const struct operand *q = &call->arg[ARG_Q], *k = &call->arg[ARG_K];
	int width = (int)q->size[q->rank - 1], causal = call->number[ARG_HOW] & ATTENTION_CAUSAL;
	size_t line = (size_t)width * dtype_bytes(q->dtype);
	float scale = (float)call->node->args[ARG_SCALE].f, lowest = -INFINITY, one = 1;
	char *dq = operand_start(&call->out, buffers);
	char *dk = dq + (size_t)q->size[q->rank - 2] * line;
	char *dv = dk + (size_t)k->size[k->rank - 2] * line;
	char *rows = s->room, *slope = rows + s->row_bytes, *sum = slope + s->row_bytes;
	int64_t ids[] = { ID_Q,     ID_K,   ID_V,   ID_OUT, ID_ROWS, ID_SCALE, ID_G,
			  ID_SLOPE, ID_ONE, ID_SUM, ID_DQ,  ID_DK,   ID_DV,    ID_LOWEST };
	void *q_at = operand_start(&call->arg[ARG_Q], buffers);
	void *k_at = operand_start(&call->arg[ARG_K], buffers);
	void *v_at = operand_start(&call->arg[ARG_V], buffers);
	void *at[] = { q_at,  k_at, v_at, dq, rows, &scale, &lowest,
		       slope, &one, sum,  dq, dk,   dv,     &lowest };
	bool ok;

	ids[6] = ID_LOWEST;
	ok = dnn_run(s->ahead, ids, at, causal ? 7 : 6);
	ids[6] = ID_G;
	at[6] = operand_start(&call->arg[ARG_G], buffers);
	at[3] = operand_start(&call->arg[ARG_OUT], buffers);
	c->device->memory.clear(c->device, sum, s->sum_bytes);
	if (!ok || !dnn_run(s->back, ids, at, causal ? 14 : 13))
		cuda_check(c->device, CUDA_ERROR_UNKNOWN, "cuDNN's gradients of attention");
}

static void emit_back(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	static const char *const parts[] = { "rows", "keys" };

	for (int i = 0; i < 2 && by_tensor_cores(n->dtype); i++)
		buf_printf(out,
			   "extern \"C\" __global__ void __launch_bounds__(%d, 2) "
			   "l%d_attend_back_%s(const __grid_constant__ attention_back_args b)\n"
			   "{\n\tattend_back_%s<%s, %d, %s, %s>(b);\n}\n",
			   ATTEND_THREADS, kernel, parts[i], parts[i], cuda_element(n->dtype),
			   (int)width_of(g, n), mask_of(g, n),
			   n->args[ARG_HOW].sym->value & ATTENTION_CAUSAL ? "true" : "false");
}

static void fill_more(struct walk_args *w, const struct library_call *call)
{
	const struct operand *g = &call->arg[ARG_G], *out = &call->arg[ARG_OUT];

	w->rank = g->rank - 2;
	w->points = 1;
	for (int d = 0; d < w->rank; d++) {
		w->size[d] = g->size[d];
		w->points *= g->size[d];
		w->stride[0][d] = g->stride[d];
		w->stride[1][d] = out->stride[d];
	}
	cuda_walk_fold(w, 2);
}

static bool take_left(const struct cuda_call *c, struct attend_back *s, struct err *err)
{
	struct attention_back_args *b = &s->args;
	int64_t numbers = b->a.batch.points * b->a.rows;

	s->left_bytes = (size_t)(2 * numbers) * sizeof(float);
	if (s->left_bytes == 0)
		return true;
	b->shift = (float *)cuda_take(c->device, s->left_bytes);
	if (!b->shift)
		return err_set(err, ERR_MEMORY,
			       "There is no memory left on the device for %s; use smaller inputs.",
			       c->call->node->fx);
	b->slope = b->shift + numbers;
	return true;
}

static enum placing bind_back(const struct cuda_call *c, void **state, struct err *err)
{
	const struct library_call *call = c->call;
	const struct operand *q = &call->arg[ARG_Q];
	int last = q->rank - 1, rows = tile_rows(q->dtype, FEW_ROWS);
	struct attend_back *s;
	struct attention_args *a;

	if (!by_tensor_cores(q->dtype)) /* eager's reference in float64 asks for it */
		return ON_HOST;
	*state = s = cuda_state(sizeof(*s), err);
	if (s && bind_dnn_back(c, &s->dnn))
		return ON_DEVICE;
	if (s && !c->module)
		return WANTS_KERNELS;
	if (!s || !cuda_function(c, "attend_back_rows", &s->rows, err) ||
	    !cuda_function(c, "attend_back_keys", &s->keys, err))
		return NOWHERE;
	a = &s->args.a;
	fill_matrices(a, call, rows);
	fill_more(&s->args.more, call);
	s->args.g = matrix_of(&call->arg[ARG_G], last - 1);
	s->args.o = matrix_of(&call->arg[ARG_OUT], last - 1);
	s->args.key_tiles = (unsigned)((a->keys + ATTEND_KEYS - 1) / ATTEND_KEYS);
	a->fill = -INFINITY;
	a->wide = have_even_rows(call, &call->arg[ARG_G]);
	s->args.out_wide = q->size[last] * (int64_t)dtype_bytes(q->dtype) % 16 == 0;
	s->row_blocks = a->batch.points * a->tiles;
	s->key_blocks = a->batch.points * s->args.key_tiles;
	s->shared_bytes = room_of(call, 2 * rows, ATTEND_KEYS);
	return take_left(c, s, err) && share(c, s->rows, s->shared_bytes) &&
		       share(c, s->keys, s->shared_bytes)
		   ? ON_DEVICE
		   : NOWHERE;
}

static void run_back(const struct cuda_call *c, void *state, void *const *buffers)
{
	const struct attend_back *s = state;
	const struct library_call *call = c->call;
	struct attention_back_args b = s->args;
	uintptr_t all;

	if (s->dnn.back) {
		run_dnn_back(c, &s->dnn, buffers);
		return;
	}
	all = place_matrices(&b.a, call, buffers);
	b.g.at = operand_start(&call->arg[ARG_G], buffers);
	b.o.at = operand_start(&call->arg[ARG_OUT], buffers);
	all |= (uintptr_t)b.g.at;
	b.a.wide = b.a.wide && all % 16 == 0;
	b.out_wide = b.out_wide && (uintptr_t)b.a.out.at % 16 == 0;
	if (s->row_blocks > 0)
		cuda_start_shared(c, s->rows, s->row_blocks, ATTEND_THREADS, s->shared_bytes, &b);
	if (s->key_blocks > 0)
		cuda_start_shared(c, s->keys, s->key_blocks, ATTEND_THREADS, s->shared_bytes, &b);
}

static void drop_back(struct device *d, void *state)
{
	struct attend_back *s = state;

	if (s)
		drop_dnn_back(d, &s->dnn);
	if (s && s->args.shift)
		cuda_release(d, (uint64_t)s->args.shift, s->left_bytes);
	free(s);
}

const struct cuda_library cuda_attention_back = { .part = PART_ATTENTION,
						  .late_for = is_back_for_dnn,
						  .emit = emit_back,
						  .bind = bind_back,
						  .run = run_back,
						  .drop = drop_back };
