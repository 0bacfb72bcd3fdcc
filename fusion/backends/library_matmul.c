/* fusion/backends/library_matmul.c -- matmul and einsum: dims sorted into a matrix product.
 *
 * Each label of the contraction is a dim of the batch, a row, a column or
 * summed over.  Dims of one kind are walked as one AXIS: by a step where they
 * are linear in memory, else by tables of offsets.  So transposed and strided
 * operands are read where they lie.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/gemm.h"
#include "fusion/backends/library.h"
#include "fusion/graph/einsum.h"

/* A label: its size, and its strides in the operands and the result. */
struct dim {
	int64_t size, stride[3];
	bool in[3];
};

static void add_labels(struct dim *dims, const struct labels *labels, const struct operand *x,
		       int which)
{
	for (int d = 0; d < labels->rank; d++) {
		struct dim *dim = &dims[labels->at[d]];

		dim->in[which] = true;
		if (x->size[d] == 1) { /* it may broadcast */
			if (dim->size < 0)
				dim->size = 1;
			continue;
		}
		if (dim->size < 0 || dim->size == 1)
			dim->size = x->size[d];
		dim->stride[which] += x->stride[d]; /* "ii": the diagonal */
	}
}

static enum axis_kind kind_of(const struct dim *dim)
{
	if (!dim->in[2])
		return SUMMED;
	if (dim->stride[0] && dim->stride[1])
		return BATCH;
	return dim->stride[1] ? COLUMN : ROW;
}

/* Appends a dim, as one with the last where both are linear. */
static void add_dim(struct axis_dims *a, const struct dim *dim)
{
	struct axis_dim *last = a->n ? &a->at[a->n - 1] : NULL;
	bool linear = last != NULL;

	a->size *= dim->size;
	if (dim->size == 1)
		return;
	for (int i = 0; i < 3 && linear; i++)
		linear = last->stride[i] == dim->stride[i] * dim->size;
	if (!linear) {
		last = &a->at[a->n++];
		last->size = 1;
	}
	last->size *= dim->size;
	memcpy(last->stride, dim->stride, sizeof(last->stride));
}

/* In the order of the result, then of the first operand, then of the second. */
static void sort_dims(struct dim *dims, const struct contraction *c, struct axis_dims axes[KINDS])
{
	const struct labels *lists[3] = { &c->out, &c->in[0], &c->in[1] };
	bool done[EINSUM_LABELS] = { false };

	for (int i = 0; i < KINDS; i++)
		axes[i] = (struct axis_dims){ .size = 1 };
	for (int i = 0; i < (c->n == 2 ? 3 : 2); i++)
		for (int d = 0; d < lists[i]->rank; d++) {
			int label = lists[i]->at[d];

			if (!done[label])
				add_dim(&axes[kind_of(&dims[label])], &dims[label]);
			done[label] = true;
		}
}

bool library_contraction(const struct library_call *call, struct axis_dims *axes, struct err *err)
{
	bool einsum = call->node->op == OP_einsum;
	const struct operand *x = &call->arg[einsum], *y = &call->arg[einsum + 1];
	struct dim dims[EINSUM_LABELS] = { { 0 } };
	struct contraction c;

	if (!einsum_of(call->graph, call->node->op, call->node->args, &c, err))
		return false;
	for (int i = 0; i < EINSUM_LABELS; i++)
		dims[i].size = -1; /* not met yet */
	add_labels(dims, &c.in[0], x, 0);
	if (c.n == 2)
		add_labels(dims, &c.in[1], y, 1);
	add_labels(dims, &c.out, &call->out, 2);
	sort_dims(dims, &c, axes);
	return true;
}

void library_gemm_rooms(struct library_call *call, const struct gemm *g)
{
	call->room[0].at = g->packed;
	call->room[0].bytes = g->shared_bytes;
	call->room[1].at = g->scratch;
	call->room[1].bytes = (size_t)gemm_threads(g) * g->thread_bytes;
}

static bool bind_contraction(struct library_call *call, struct err *err)
{
	struct axis_dims axes[KINDS];
	struct gemm g = { .kernels = call->kernels, .dtype = call->out.dtype };
	struct blas *blas = dtype_category(g.dtype) == CATEGORY_FLOAT ? call->blas : NULL;

	if (!library_contraction(call, axes, err))
		return false;
	if ((double)axes[ROW].size * (double)axes[COLUMN].size * (double)axes[SUMMED].size >=
	    GEMM_WORTH_BLAS)
		g.blas = blas_calls(blas);
	g.whole_rows = call->rows;
	g.behind_cost = call->cost;
	call->state = gemm_create(&g, &axes[BATCH], &axes[ROW], &axes[COLUMN], &axes[SUMMED]);
	if (!call->state)
		return library_no_memory(err);
	library_gemm_rooms(call, call->state);
	if (gemm_tells_blocks(call->state))
		call->threads = gemm_threads(call->state);
	return true;
}

/* What is behind the product, on a block of it. */
struct behind {
	struct plan *plan;
	void *const *buffers;
};

static void run_behind(void *context, const struct gemm_written *w, int thread)
{
	const struct behind *behind = context;

	plan_run_block(behind->plan, behind->buffers,
		       &(struct plan_block){ w->start, w->rows, w->step, w->columns }, thread);
}

void library_product(const struct library_call *call, const void *a, const void *b,
		     void *const *buffers, struct pool *pool)
{
	struct behind behind = { call->behind, buffers };

	if (call->behind)
		plan_begin_blocks(call->behind, buffers);
	gemm_run(call->state, a, b, operand_start(&call->out, buffers),
		 call->behind ? run_behind : NULL, &behind, pool);
}

static void run_contraction(const struct library_call *call, void *const *buffers,
			    struct pool *pool)
{
	bool einsum = call->node->op == OP_einsum;
	const struct operand *x = &call->arg[einsum], *y = &call->arg[einsum + 1];

	library_product(call, operand_start(x, buffers),
			y->buffer >= 0 ? operand_start(y, buffers) : NULL, buffers, pool);
}

/* The bias is added to what the product has rounded; a device's call rounds once. */
static void run_biased(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *bias = &call->arg[2], *out = &call->out;
	void *to = operand_start(out, buffers);
	int64_t columns = bias->size[0];

	run_contraction(call, buffers, pool);
	for (int64_t i = 0; i < out->numel; i++)
		dtype_put_double(out->dtype, to, i,
				 dtype_get_double(out->dtype, to, i) +
				     dtype_get_double(bias->dtype, operand_start(bias, buffers),
						      i % columns * bias->stride[0]));
}

const struct library_op library_biased = { bind_contraction, run_biased };
const struct library_op library_matmul = { bind_contraction, run_contraction };
const struct library_op library_matmul_nt = { bind_contraction, run_contraction };
const struct library_op library_einsum = { bind_contraction, run_contraction };
