/* fusion/backends/library/products.c -- ops that are products of matrices: matmul, einsum,
 * attention.
 */
#define FUNCTION_products(id) &library_##id
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/gemm/gemm.h"
#include "fusion/backends/library/library.h"
#include "fusion/graph/einsum.h"

/* ---- matmul and einsum: dims sorted into a matrix product
 *
 * Each label of the contraction is a dim of the batch, a row, a column or
 * summed over.  Dims of one kind are walked as one AXIS: by a step where they
 * are linear in memory, else by tables of offsets.  So transposed and strided
 * operands are read where they lie.
 */

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
	g.epilogue_cost = call->cost;
	call->state = gemm_create(&g, &axes[BATCH], &axes[ROW], &axes[COLUMN], &axes[SUMMED]);
	if (!call->state)
		return library_no_memory(err);
	call->room_bytes = ((const struct gemm *)call->state)->room_bytes;
	if (gemm_tells_blocks(call->state))
		call->threads = gemm_threads(call->state);
	return true;
}

/* What the kernel does after its product, on a block of it. */
struct epilogue {
	struct plan *plan;
	void *const *buffers;
};

static void run_epilogue(void *context, const struct gemm_written *w, int thread)
{
	const struct epilogue *epilogue = context;

	plan_run_block(epilogue->plan, epilogue->buffers,
		       &(struct plan_block){
			   .begin = w->start, .rows = w->rows, .step = w->step, .n = w->columns },
		       thread);
}

void library_product(const struct library_call *call, const void *a, const void *b,
		     void *const *buffers, struct pool *pool)
{
	struct epilogue epilogue = { call->epilogue, buffers };

	if (call->epilogue)
		plan_begin_blocks(call->epilogue, buffers);
	gemm_run(call->state,
		 &(struct gemm_matrices){ .a = a,
					  .b = b,
					  .c = operand_start(&call->out, buffers),
					  .epilogue = call->epilogue ? run_epilogue : NULL,
					  .context = &epilogue,
					  .room = call->room->at },
		 pool);
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

static const struct library_op library_biased = { bind_contraction, run_biased };
static const struct library_op library_matmul = { bind_contraction, run_contraction };
static const struct library_op library_matmul_nt = { bind_contraction, run_contraction };
static const struct library_op library_einsum = { bind_contraction, run_contraction };

/* ---- attention on the host, row by row
 *
 * What a device's call is held against; the host itself is given the ops that it is
 * made of.  Sums are of float64.
 */

enum { ARG_Q, ARG_K, ARG_V, ARG_MASK, ARG_SCALE, ARG_FILL, ARG_HOW, ARG_OUT };
enum { ARG_G = ARG_FILL }; /* of attention_back, which fills with -inf */

struct product_row {
	const struct library_call *call;
	void *const *buffers;
	int64_t at[ARG_MASK + 1], out; /* of the row, and of the first key */
	int64_t row;
};

static double element(const struct product_row *r, int arg, int64_t at)
{
	const struct operand *x = &r->call->arg[arg];

	return dtype_get_double(x->dtype, operand_start(x, r->buffers), at);
}

static double rounded(enum dtype dtype, double x)
{
	double at;

	dtype_put_double(dtype, &at, 0, x);
	return dtype_get_double(dtype, &at, 0);
}

/* From one to the next of a mask's dim, counted from the last; 0: it broadcasts. */
static int64_t mask_step(const struct operand *mask, int from_last)
{
	int d = mask->rank - 1 - from_last;

	return d < 0 || mask->size[d] == 1 ? 0 : mask->stride[d];
}

static double score_of(const struct product_row *r, int64_t key)
{
	const struct operand *q = &r->call->arg[ARG_Q], *k = &r->call->arg[ARG_K];
	const struct operand *mask = &r->call->arg[ARG_MASK];
	int last = q->rank - 1, how = (int)r->call->number[ARG_HOW];
	const struct arg *given = &r->call->node->args[ARG_FILL];
	double sum = 0, of_mask, fill = given->kind == ARG_FLOAT ? given->f : -INFINITY;

	if ((how & ATTENTION_CAUSAL) && key > r->row)
		return -INFINITY;
	for (int64_t i = 0; i < q->size[last]; i++)
		sum += element(r, ARG_Q, r->at[ARG_Q] + i * q->stride[last]) *
		       element(r, ARG_K,
			       r->at[ARG_K] + key * k->stride[last - 1] + i * k->stride[last]);
	if (how & ATTENTION_ROUNDS)
		sum = rounded(q->dtype, sum);
	sum *= r->call->node->args[ARG_SCALE].f;
	if (how & ATTENTION_ROUNDS)
		sum = rounded(q->dtype, sum);
	if (mask->buffer < 0)
		return sum;
	of_mask = element(r, ARG_MASK, r->at[ARG_MASK] + key * mask_step(mask, 0));
	if (mask->dtype != DTYPE_BOOL)
		return how & ATTENTION_ROUNDS ? rounded(q->dtype, sum + of_mask) : sum + of_mask;
	return (of_mask != 0) == ((how & ATTENTION_FILLS) == 0) ? sum : rounded(q->dtype, fill);
}

static void attend(const struct product_row *r, double *powers)
{
	const struct operand *v = &r->call->arg[ARG_V], *out = &r->call->out;
	int last = v->rank - 1;
	int64_t keys = v->size[last - 1];
	double most = -INFINITY, sum = 0;

	for (int64_t key = 0; key < keys; key++) {
		powers[key] = score_of(r, key);
		most = powers[key] > most ? powers[key] : most;
	}
	for (int64_t key = 0; key < keys; key++)
		sum += powers[key] = exp(powers[key] - (most == -INFINITY ? 0 : most));
	if (sum == 0 && (keys == 0 || (r->call->number[ARG_HOW] & ATTENTION_EMPTY)))
		sum = 1;
	for (int64_t i = 0; i < v->size[last]; i++) {
		double all = 0;

		for (int64_t key = 0; key < keys; key++)
			all += powers[key] * element(r, ARG_V,
						     r->at[ARG_V] + key * v->stride[last - 1] +
							 i * v->stride[last]);
		dtype_put_double(out->dtype, operand_start(out, r->buffers), r->out + i, all / sum);
	}
}

/* Row `index` of all matrices' rows. */
static void seek(struct product_row *r, int64_t index)
{
	const struct library_call *c = r->call;
	const struct operand *q = &c->arg[ARG_Q], *mask = &c->arg[ARG_MASK];
	bool turned = c->number[ARG_HOW] & ATTENTION_TURNED;
	int rows = q->rank - 2;

	r->row = index % q->size[rows];
	index /= q->size[rows];
	r->at[ARG_Q] = r->row * q->stride[rows];
	r->at[ARG_K] = r->at[ARG_V] = 0;
	r->at[ARG_MASK] = mask->buffer < 0 ? 0 : r->row * mask_step(mask, 1);
	r->out = r->row * c->out.stride[turned ? 1 : rows];
	for (int d = rows - 1; d >= 0; d--) {
		int64_t i = index % q->size[d];

		index /= q->size[d];
		r->at[ARG_Q] += i * q->stride[d];
		for (int a = ARG_K; a <= ARG_V; a++)
			r->at[a] += c->arg[a].size[d] == 1 ? 0 : i * c->arg[a].stride[d];
		r->at[ARG_MASK] += mask->buffer < 0 ? 0 : i * mask_step(mask, q->rank - 1 - d);
		r->out += i * c->out.stride[turned && d == 1 ? 2 : d];
	}
}

static bool bind_attention(struct library_call *call, struct err *err)
{
	const struct operand *k = &call->arg[ARG_K];

	(void)err;
	call->room_bytes = ((size_t)k->size[k->rank - 2] + 1) * sizeof(double);
	return true;
}

static void run_attention(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *q = &call->arg[ARG_Q];
	struct product_row row = { .call = call, .buffers = buffers };
	int64_t width = q->size[q->rank - 1];

	(void)pool;
	for (int64_t i = 0; width > 0 && i < call->out.numel / width; i++) {
		seek(&row, i);
		attend(&row, call->room->at);
	}
}

static const struct library_op library_attention = { bind_attention, run_attention };

/* Its gradients, matrix by matrix: sums of all rows, as the result has them. */
static bool bind_attention_back(struct library_call *call, struct err *err)
{
	const struct operand *k = &call->arg[ARG_K], *out = &call->out;
	int last = k->rank - 1;
	int64_t numbers = k->size[last - 1] + out->size[last - 1] * out->size[last];

	(void)err;
	call->room_bytes = ((size_t)numbers + 1) * sizeof(double);
	return true;
}

/* Where a row of g or of the result of attention begins. */
static int64_t row_start(const struct product_row *r, int arg, int64_t index)
{
	const struct operand *x = &r->call->arg[arg];
	int64_t at = 0;

	for (int d = x->rank - 2; d >= 0; d--) {
		at += index % x->size[d] * x->stride[d];
		index /= x->size[d];
	}
	return at;
}

/* The product of two rows; of g with o or v. */
static double meet(const struct product_row *r, int64_t g, int arg, int64_t at)
{
	const struct operand *x = &r->call->arg[ARG_G], *y = &r->call->arg[arg];
	int last = x->rank - 1;
	double sum = 0;

	for (int64_t i = 0; i < x->size[last]; i++)
		sum += element(r, ARG_G, g + i * x->stride[last]) *
		       element(r, arg, at + i * y->stride[last]);
	return sum;
}

static void share_out(const struct product_row *r, int64_t g, double slope, const double *share,
		      double *sums)
{
	const struct operand *q = &r->call->arg[ARG_Q], *k = &r->call->arg[ARG_K];
	const struct operand *v = &r->call->arg[ARG_V], *of = &r->call->arg[ARG_G];
	int last = q->rank - 1;
	int64_t keys = k->size[last - 1], width = q->size[last];
	double *rows = sums + r->row * width, *for_k = sums + q->size[last - 1] * width;
	double scale = r->call->node->args[ARG_SCALE].f;

	for (int64_t key = 0; key < keys; key++) {
		int64_t k_at = r->at[ARG_K] + key * k->stride[last - 1];
		double change =
		    share[key] == 0
			? 0
			: share[key] * scale *
			      (meet(r, g, ARG_V, r->at[ARG_V] + key * v->stride[last - 1]) - slope);

		for (int64_t i = 0; share[key] != 0 && i < width; i++) {
			rows[i] += change * element(r, ARG_K, k_at + i * k->stride[last]);
			for_k[key * width + i] +=
			    change * element(r, ARG_Q, r->at[ARG_Q] + i * q->stride[last]);
			for_k[(keys + key) * width + i] +=
			    share[key] * element(r, ARG_G, g + i * of->stride[last]);
		}
	}
}

/* The shares of a row's keys. */
static void share_row(const struct product_row *r, double *share, int64_t keys)
{
	double most = -INFINITY, sum = 0;

	for (int64_t key = 0; key < keys; key++) {
		share[key] = score_of(r, key);
		most = share[key] > most ? share[key] : most;
	}
	for (int64_t key = 0; key < keys; key++)
		sum += share[key] = exp(share[key] - (most == -INFINITY ? 0 : most));
	for (int64_t key = 0; key < keys; key++)
		share[key] /= sum == 0 ? 1 : sum;
}

static void run_attention_back(const struct library_call *call, void *const *buffers,
			       struct pool *pool)
{
	const struct operand *q = &call->arg[ARG_Q], *k = &call->arg[ARG_K], *out = &call->out;
	struct product_row row = { .call = call, .buffers = buffers };
	int last = q->rank - 1;
	int64_t keys = k->size[last - 1], rows = q->size[last - 1];
	int64_t each = out->size[last - 1] * out->size[last];
	double *share = call->room->at, *sums = share + keys;

	(void)pool;
	for (int64_t m = 0; each > 0 && m < out->numel / each; m++) {
		memset(sums, 0, (size_t)each * sizeof(*sums));
		for (int64_t i = m * rows; i < (m + 1) * rows; i++) {
			int64_t g = row_start(&row, ARG_G, i);

			seek(&row, i);
			share_row(&row, share, keys);
			share_out(&row, g, meet(&row, g, ARG_OUT, row_start(&row, ARG_OUT, i)),
				  share, sums);
		}
		for (int64_t i = 0; i < each; i++)
			dtype_put_double(out->dtype, operand_start(out, buffers), m * each + i,
					 sums[i]);
	}
}

static const struct library_op library_attention_back = { bind_attention_back, run_attention_back };

const struct library_op *const products_functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...)                             \
	[OP_##id] = FUNCTION_##file(id),
#include "fusion/graph/ops_some.h"
};
