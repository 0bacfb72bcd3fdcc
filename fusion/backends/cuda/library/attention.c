/* fusion/backends/cuda/library/attention.c -- attention in one kernel: see attention.cu. */
#include "fusion/backends/cuda/library/library.h"

enum { ARG_Q, ARG_K, ARG_V, ARG_MASK, ARG_SCALE, ARG_FILL, ARG_HOW };

/* Rows of a warp by tensor cores, of half a warp without: twice as many read the keys
 * half as often, and want blocks enough to keep a device busy. */
enum { FEW_ROWS = 1, MANY_ROWS = 2, ENOUGH_BLOCKS = 96 };

struct attend {
	CUfunction function;
	struct attention_args args;
	int64_t blocks;
	unsigned shared_bytes;
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

/* Rows of a block; `many` or few. */
static int tile_rows(enum dtype dtype, int many)
{
	return by_tensor_cores(dtype) ? 64 * many : ATTEND_THREADS / 16 * 2 * many;
}

/* By the sizes of the capture, since the text has it. */
static int rows_of_warps(const struct graph *g, const struct node *n)
{
	const struct shape *q = &g->nodes[n->args[ARG_Q].node]->shape;
	int64_t rows = sym_hint(g->syms, q->size[q->rank - 2]), matrices = 1, tiles;

	for (int d = 0; d < q->rank - 2; d++)
		matrices *= sym_hint(g->syms, q->size[d]);
	tiles = (rows + tile_rows(n->dtype, MANY_ROWS) - 1) / tile_rows(n->dtype, MANY_ROWS);
	return rows > tile_rows(n->dtype, FEW_ROWS) && tiles * matrices >= ENOUGH_BLOCKS ? MANY_ROWS
											 : FEW_ROWS;
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
	int many = rows_of_warps(g, n);

	buf_printf(out,
		   "extern \"C\" __global__ void __launch_bounds__(%d, 2) "
		   "l%d_attend(const __grid_constant__ attention_args a)\n{\n\t",
		   ATTEND_THREADS, kernel);
	if (by_tensor_cores(n->dtype))
		buf_printf(out, "attend_tiles<%s, %d, %d, %s, %s, %s, %s>(a);\n}\n",
			   cuda_element(n->dtype), (int)width, many, mask_of(g, n), causal,
			   how & ATTENTION_ROUNDS ? "true" : "false", empty);
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

/* Whether rows of all matrices are multiples of 16 bytes apart. */
static bool even_rows(const struct attend *s, const struct library_call *call)
{
	const struct attention_args *a = &s->args;
	const struct operand *q = &call->arg[ARG_Q];
	int64_t bytes = (int64_t)dtype_bytes(q->dtype), side = 16 / bytes, all;

	all = a->q.row | a->k.row | a->v.row | a->out.row | q->size[q->rank - 1];
	for (int d = 0; d < a->batch.rank; d++)
		for (int i = 0; i < 5; i++)
			all |= i == 3 ? 0 : a->batch.stride[i][d];
	return all % side == 0 && a->q.column == 1 && a->k.column == 1 && a->v.column == 1;
}

static unsigned room_of(const struct library_call *call, int rows)
{
	const struct operand *q = &call->arg[ARG_Q];
	unsigned bytes = (unsigned)dtype_bytes(q->dtype);
	unsigned columns = ((unsigned)q->size[q->rank - 1] + 15) / 16 * 16 + 16 / bytes;
	unsigned lines = (unsigned)rows + 2 * ATTEND_KEYS;

	return columns * lines * bytes +
	       (by_tensor_cores(q->dtype) ? 0 : (unsigned)rows * (ATTEND_KEYS + 4) * bytes);
}

static float rounded(enum dtype dtype, double x)
{
	double at;

	dtype_put_double(dtype, &at, 0, x);
	return (float)dtype_get_double(dtype, &at, 0);
}

static enum placing bind(const struct cuda_call *c, void **state, struct err *err)
{
	const struct library_call *call = c->call;
	const struct operand *q = &call->arg[ARG_Q], *k = &call->arg[ARG_K];
	const struct operand *mask = &call->arg[ARG_MASK];
	int rows = tile_rows(q->dtype, rows_of_warps(call->graph, call->node)), last = q->rank - 1;
	struct attend *s = cuda_state(sizeof(*s), err);
	struct attention_args *a;

	*state = s;
	if (!s || !cuda_function(c, "attend", &s->function, err))
		return NOWHERE;
	a = &s->args;
	fill_batch(&a->batch, call);
	a->q = matrix_of(q, last - 1);
	a->k = matrix_of(k, last - 1);
	a->v = matrix_of(&call->arg[ARG_V], last - 1);
	a->out = matrix_of(&call->out, call->number[ARG_HOW] & ATTENTION_TURNED ? 1 : last - 1);
	a->mask_row = mask_step(mask, 1);
	a->mask_column = mask_step(mask, 0);
	a->rows = q->size[last - 1];
	a->keys = k->size[last - 1];
	a->tiles = (unsigned)((a->rows + rows - 1) / rows);
	a->scale = (float)call->node->args[ARG_SCALE].f;
	a->fill = rounded(q->dtype, call->node->args[ARG_FILL].f);
	a->wide = even_rows(s, call);
	s->blocks = a->batch.points * a->tiles;
	s->shared_bytes = room_of(call, rows);
	return cuda_check(c->device,
			  c->device->api.cuFuncSetAttribute(
			      s->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
			      (int)s->shared_bytes),
			  "cuFuncSetAttribute") ||
		       cuda_device_fault(c->device, err)
		   ? ON_DEVICE
		   : NOWHERE;
}

static void run(const struct cuda_call *c, void *state, void *const *buffers)
{
	const struct attend *s = state;
	const struct library_call *call = c->call;
	struct attention_args a = s->args;
	uintptr_t all;

	a.q.at = operand_start(&call->arg[ARG_Q], buffers);
	a.k.at = operand_start(&call->arg[ARG_K], buffers);
	a.v.at = operand_start(&call->arg[ARG_V], buffers);
	a.mask = call->arg[ARG_MASK].buffer < 0 ? NULL
						: operand_start(&call->arg[ARG_MASK], buffers);
	a.out.at = operand_start(&call->out, buffers);
	all = (uintptr_t)a.q.at | (uintptr_t)a.k.at | (uintptr_t)a.v.at | (uintptr_t)a.out.at;
	a.wide = a.wide && all % 16 == 0;
	cuda_start_shared(c, s->function, s->blocks, ATTEND_THREADS, s->shared_bytes, &a);
}

const struct cuda_library cuda_attention = {
	.part = PART_ATTENTION, .emit = emit, .bind = bind, .run = run
};
