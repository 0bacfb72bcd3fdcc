/* fusion/backends/cuda/library/blas.c -- products of matrices by cuBLAS. */
#include <cublas_v2.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/cuda/device/device.h"
#include "fusion/backends/cuda/library/library.h"
#include "fusion/backends/cuda/library/lt.h"
#include "fusion/backends/gemm/gemm.h"

struct cuda_blas {
	cublasHandle_t handle;
	typeof(&cublasGemmStridedBatchedEx) gemm;
	typeof(&cublasDestroy) destroy;
};

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)

static void *find(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

/* As large as cuBLAS's own would be, which it takes from the stream where it is
 * captured: a graph with memory of its own cannot be part of another.  Without memory for
 * it cuBLAS does as it likes. */
static void give_workspace(struct cuda_blas *b, struct device *d, void *set)
{
	typeof(&cublasSetWorkspace) set_workspace;

	memcpy(&set_workspace, &set, sizeof(set));
	d->workspace_bytes = (size_t)(d->architecture >= 90 ? 32 : 4) << 20;
	d->workspace = cuda_take(d, d->workspace_bytes);
	if (d->workspace)
		set_workspace(b->handle, (void *)d->workspace, d->workspace_bytes);
}

static bool start(struct cuda_blas *b, struct device *d, struct err *err)
{
	void *library = cuda_open_library("libcublas.so");
	typeof(&cublasCreate) create;
	typeof(&cublasSetStream) set_stream;
	void *found[] = { find(library, TEXT(cublasCreate)), find(library, TEXT(cublasSetStream)),
			  find(library, TEXT(cublasGemmStridedBatchedEx)),
			  find(library, TEXT(cublasDestroy)),
			  find(library, TEXT(cublasSetWorkspace)) };

	for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		if (!found[i])
			return err_set(err, ERR_UNSUPPORTED,
				       "products of matrices want cuBLAS: libcublas.so is neither "
				       "on the library path nor in CUDA_HOME/lib64");
	memcpy(&create, &found[0], sizeof(create));
	memcpy(&set_stream, &found[1], sizeof(set_stream));
	memcpy(&b->gemm, &found[2], sizeof(b->gemm));
	memcpy(&b->destroy, &found[3], sizeof(b->destroy));
	if (create(&b->handle) != CUBLAS_STATUS_SUCCESS ||
	    set_stream(b->handle, d->stream) != CUBLAS_STATUS_SUCCESS)
		return err_set(err, ERR_DEVICE, "cuBLAS does not start on %s", d->name);
	give_workspace(b, d, found[4]);
	return true;
}

static void close_blas(struct device *d)
{
	if (d->blas && d->blas->handle)
		d->blas->destroy(d->blas->handle);
	free(d->blas);
	d->blas = NULL;
}

/* The library of a device, on its stream; NULL with UNSUPPORTED: what is missing. */
static const struct cuda_blas *open_blas(struct device *d, struct err *err)
{
	if (d->blas)
		return d->blas;
	d->blas = calloc(1, sizeof(*d->blas));
	if (!d->blas) {
		err_set(err, ERR_MEMORY, "The system has no memory left for cuBLAS.");
		return NULL;
	}
	if (start(d->blas, d, err)) {
		cuda_on_close(d, close_blas);
		return d->blas;
	}
	close_blas(d);
	return NULL;
}

/* One operand as cuBLAS wants it: columns side by side. */
struct matrix {
	cublasOperation_t turn;
	int64_t lead;
};

/* A product of matrices in the terms of cuBLAS, which counts by columns: the
 * result's columns are its rows.  `first` is 1 where operands change places. */
struct product {
	int first;
	int rows, columns, summed, inner_batch;
	int64_t outer_batch;
	int64_t inner_step[3], outer_step[3]; /* of both operands and the result */
	struct matrix a, b;
	int64_t lead;
	cudaDataType type;
	cublasComputeType_t compute;
	const struct cuda_blas *blas;
};

static int64_t step_of(const struct axis_dims *a, int which)
{
	return a->n ? a->at[0].stride[which] : 0;
}

static bool side_by_side(const struct axis_dims *a, int which)
{
	return a->size <= 1 || step_of(a, which) == 1;
}

/* `along`: the axis that the operand shares with the rows (or columns) of the
 * result.  False: neither of its axes is side by side. */
static bool describe(struct matrix *m, const struct axis_dims *along,
		     const struct axis_dims *summed, int which, bool left)
{
	int64_t lead;

	if (side_by_side(along, which)) {
		m->turn = left ? CUBLAS_OP_N : CUBLAS_OP_T;
		lead = step_of(summed, which);
		m->lead = lead > along->size ? lead : along->size;
		return summed->size <= 1 || lead >= along->size;
	}
	if (!side_by_side(summed, which))
		return false;
	m->turn = left ? CUBLAS_OP_T : CUBLAS_OP_N;
	lead = step_of(along, which);
	m->lead = lead > summed->size ? lead : summed->size;
	return lead >= summed->size;
}

static bool type_of(struct product *p, enum dtype dtype)
{
	p->compute = dtype == DTYPE_F64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
	p->type = dtype == DTYPE_F64   ? CUDA_R_64F
		  : dtype == DTYPE_F32 ? CUDA_R_32F
		  : dtype == DTYPE_F16 ? CUDA_R_16F
				       : CUDA_R_16BF;
	return dtype_category(dtype) == CATEGORY_FLOAT;
}

/* False: the host's way is the only one. */
static bool plan(struct product *p, const struct axis_dims axes[KINDS])
{
	const struct axis_dims *rows = &axes[ROW], *columns = &axes[COLUMN];
	const struct axis_dims *summed = &axes[SUMMED], *batch = &axes[BATCH];

	for (int i = ROW; i < KINDS; i++)
		if (axes[i].n > 1 || axes[i].size > INT32_MAX)
			return false;
	if (batch->n > 2)
		return false;
	if (!side_by_side(columns, 2)) { /* the result is turned */
		p->first = 1;
		rows = &axes[COLUMN];
		columns = &axes[ROW];
	}
	p->lead = rows->size > 1 ? step_of(rows, 2) : columns->size;
	if (!side_by_side(columns, 2) || p->lead < columns->size ||
	    !describe(&p->a, columns, summed, 1 - p->first, true) ||
	    !describe(&p->b, rows, summed, p->first, false))
		return false;
	p->rows = (int)columns->size;
	p->columns = (int)rows->size;
	p->summed = (int)summed->size;
	p->inner_batch = 1;
	p->outer_batch = 1;
	if (batch->n > 0)
		p->inner_batch = (int)batch->at[batch->n - 1].size;
	if (batch->n > 1)
		p->outer_batch = batch->at[0].size;
	for (int i = 0; i < 3; i++) {
		p->inner_step[i] = batch->n > 0 ? batch->at[batch->n - 1].stride[i] : 0;
		p->outer_step[i] = batch->n > 1 ? batch->at[0].stride[i] : 0;
	}
	return true;
}

/* Rows or columns that no one step walks, as those of a picture whose channels are summed: all but
 * their innermost dim are a batch, through which the other operand stays.  False: too many dims. */
static bool plan_in_batches(struct product *p, const struct axis_dims axes[KINDS])
{
	struct axis_dims cut[KINDS], *batch = &cut[BATCH];

	memcpy(cut, axes, sizeof(cut));
	for (int kind = 0; kind < KINDS; kind++)
		while ((kind == ROW || kind == COLUMN) && cut[kind].n > 1) {
			struct axis_dims *from = &cut[kind];

			if (batch->n == AXIS_DIMS || from->at[0].size == 0)
				return false;
			batch->at[batch->n++] = from->at[0];
			batch->size *= from->at[0].size;
			from->size /= from->at[0].size;
			memmove(from->at, from->at + 1, (size_t)--from->n * sizeof(*from->at));
		}
	return plan(p, cut);
}

/* Multiplications: without a trial 8 rows of 96 by 96 of float32 took 52 us on an H200. */
enum { WORTH_TRIALS = 1 << 14 };

/* What cuBLAS has no call for is added up by a kernel of our own. */
struct blas_contraction {
	struct product product;
	struct cuda_lt_product *sum; /* with what the kernel adds after it; NULL: it does not */
	struct cuda_lt_product *lt;  /* biased: with its bias */
	/* biased: for memory at odd addresses, made when it is wanted; without a way of
	 * cuBLASLt `bias` adds to the product. */
	struct cuda_lt_product *odd;
	struct cuda_lt_product *alone; /* the product, where a way for it was tried for */
	CUfunction bias;
	struct create_args biases;
	int64_t bias_at, rest_at; /* elements into their buffers */
	CUfunction function;      /* NULL: the product */
	struct sum_args sums;
};

static enum dtype operand_type(const struct graph *g, const struct node *n, int arg)
{
	return arg < n->n_args && n->args[arg].kind == ARG_NODE ? g->nodes[n->args[arg].node]->dtype
								: n->dtype;
}

static void emit(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	int first = n->op == OP_einsum;

	if (n->op == OP_biased)
		cuda_emit_function(out, (struct cuda_function_name){ kernel, "bias", ARGS_THREADS },
				   "create_args", "add_bias<%s>", cuda_element(n->dtype));
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "sums", ARGS_THREADS },
			   "sum_args", "add_products<%s, %s, %s, %s>",
			   cuda_element(operand_type(g, n, first)),
			   cuda_element(operand_type(g, n, first + 1)), cuda_element(n->dtype),
			   dtype_category(n->dtype) == CATEGORY_FLOAT ? "f64" : "i64");
}

/* False: more dims than the kernel has room for. */
static bool fill_sums(struct sum_args *s, const struct axis_dims axes[KINDS])
{
	s->points = s->terms = 1;
	for (int kind = 0; kind < KINDS; kind++) {
		bool summed = kind == SUMMED;

		*(summed ? &s->terms : &s->points) *= axes[kind].size;
		for (int d = 0; d < axes[kind].n; d++) {
			const struct axis_dim *dim = &axes[kind].at[d];
			int at = summed ? s->summed++ : s->rank++;

			if (at >= SUM_DIMS)
				return false;
			(summed ? s->sum_size : s->size)[at] = dim->size;
			for (int i = 0; i < (summed ? 2 : 3); i++)
				(summed ? s->sum_stride[i] : s->stride[i])[at] = dim->stride[i];
		}
	}
	return true;
}

static struct cuda_lt_shape shape_of(const struct product *p, int aligned)
{
	return (struct cuda_lt_shape){ .type = p->type,
				       .aligned = aligned,
				       .turn_a = p->a.turn,
				       .turn_b = p->b.turn,
				       .rows = p->rows,
				       .columns = p->columns,
				       .summed = p->summed,
				       .lead_a = p->a.lead,
				       .lead_b = p->b.lead,
				       .lead = p->lead };
}

static bool is_one(const struct cuda_call *c, const struct product *p)
{
	return !p->first && p->inner_batch == 1 && p->outer_batch == 1 && p->summed > 0 &&
	       c->call->out.numel > 0;
}

/* Where sizes do not change, a large product is worth some milliseconds once. */
static bool is_tried(const struct cuda_call *c, const struct product *p)
{
	return sym_var_count(c->call->graph->syms) == 0 &&
	       (double)p->rows * p->columns * p->summed >= WORTH_TRIALS;
}

static void bind_alone(const struct cuda_call *c, struct blas_contraction *s)
{
	struct cuda_lt_shape shape = shape_of(&s->product, CUDA_LT_ALIGNED);

	if (s->product.type != CUDA_R_64F && s->product.inner_batch == 1 &&
	    s->product.outer_batch == 1 &&
	    (is_tried(c, &s->product) || cuda_lt_is_tried(c->device, &shape)))
		s->alone = cuda_lt_create(c->device, &shape, false, false, true);
}

/* A linear layer: by cuBLASLt, or the product and a kernel that adds. */
static void bind_bias(const struct cuda_call *c, struct blas_contraction *s, bool planned)
{
	const struct operand *bias = &c->call->arg[2];
	struct cuda_lt_shape shape = shape_of(&s->product, CUDA_LT_ALIGNED);

	if (planned && is_one(c, &s->product) && bias->stride[0] == 1)
		s->lt = cuda_lt_create(c->device, &shape, true, false, is_tried(c, &s->product));
	s->biases = (struct create_args){ .points = c->call->out.numel,
					  .columns = bias->size[0],
					  .height = c->call->out.rank > 1
							? c->call->out.stride[c->call->out.rank - 2]
							: bias->size[0],
					  .step = bias->stride[0] };
}

/* The product has the rows and columns of its epilogue, which it can do too. */
static void bind_sum(const struct cuda_call *c, struct blas_contraction *s)
{
	const struct product *p = &s->product;
	const struct cuda_sum *sum = c->sum;
	const int64_t *vars = c->call->vars;
	struct cuda_lt_shape shape = shape_of(p, CUDA_LT_ALIGNED);
	bool biased = c->call->node->op == OP_biased;
	int64_t line = p->rows;

	if (!sum || !is_one(c, p) || p->type == CUDA_R_64F || p->lead != p->rows ||
	    (biased && (!s->lt || sum->bias >= 0)))
		return;
	if (!sum->rows)
		line *= p->columns;
	else if (sym_eval(sum->rows, vars) != p->columns)
		return;
	if (sym_eval(sum->columns, vars) != line)
		return;
	s->sum = cuda_lt_create(c->device, &shape, biased || sum->bias >= 0, sum->rest >= 0,
				is_tried(c, p));
	s->bias_at = sum->bias >= 0 ? sym_eval(sum->bias_offset, vars) : 0;
	s->rest_at = sum->rest >= 0 ? sym_eval(sum->rest_offset, vars) : 0;
	*c->takes_sum = s->sum != NULL;
}

static enum placing bind(const struct cuda_call *c, void **state, struct err *err)
{
	const struct library_call *call = c->call;
	bool einsum = call->node->op == OP_einsum;
	const struct operand *x = &call->arg[einsum], *y = &call->arg[einsum + 1];
	struct axis_dims axes[KINDS];
	struct blas_contraction *s = cuda_state(sizeof(*s), err);
	struct product *p;
	bool planned;

	*state = s;
	if (!s || !library_contraction(call, axes, err))
		return NOWHERE;
	p = &s->product;
	planned = y->buffer >= 0 && x->dtype == call->out.dtype && y->dtype == call->out.dtype &&
		  type_of(p, call->out.dtype) && (plan(p, axes) || plan_in_batches(p, axes));
	if (planned && !(p->blas = open_blas(c->device, err)))
		return NOWHERE;
	if (call->node->op == OP_biased)
		bind_bias(c, s, planned);
	if (planned)
		bind_sum(c, s);
	if (planned && call->node->op != OP_biased && !s->sum)
		bind_alone(c, s);
	if (call->node->op == OP_biased ? s->lt != NULL : planned)
		return ON_DEVICE;
	if (!planned && !fill_sums(&s->sums, axes))
		return ON_HOST;
	if (!c->module)
		return WANTS_KERNELS;
	if ((!planned && !cuda_function(c, "sums", &s->function, err)) ||
	    (call->node->op == OP_biased && !cuda_function(c, "bias", &s->bias, err)))
		return NOWHERE;
	return ON_DEVICE;
}

static void run_sums(const struct cuda_call *c, struct blas_contraction *s, void *const *buffers)
{
	bool einsum = c->call->node->op == OP_einsum;
	const struct operand *y = &c->call->arg[einsum + 1];

	s->sums.a = operand_start(&c->call->arg[einsum], buffers);
	s->sums.b = y->buffer >= 0 ? operand_start(y, buffers) : NULL;
	s->sums.out = operand_start(&c->call->out, buffers);
	cuda_start(c, s->function, cuda_blocks(c, s->sums.points), ARGS_THREADS, &s->sums);
}

static void *move(void *at, int64_t elements, enum dtype dtype)
{
	return (char *)at + elements * (int64_t)dtype_bytes(dtype);
}

static const void *term_at(int buffer, int64_t elements, enum dtype dtype, void *const *buffers)
{
	return buffer >= 0 ? move(buffers[buffer], elements, dtype) : NULL;
}

/* False: memory lies such that the product is made without what comes after it. */
static bool run_with_sum(const struct cuda_call *c, const struct blas_contraction *s,
			 void *const *buffers)
{
	const struct library_call *call = c->call;
	const struct cuda_sum *sum = c->sum;
	enum dtype dtype = call->out.dtype;
	bool einsum = call->node->op == OP_einsum, biased = call->node->op == OP_biased;
	/* By columns the operands change places. */
	struct cuda_lt_places at = {
		.a = operand_start(&call->arg[einsum + 1], buffers),
		.b = operand_start(&call->arg[einsum], buffers),
		.bias = biased ? operand_start(&call->arg[2], buffers)
			       : term_at(sum->bias, s->bias_at, dtype, buffers),
		.rest = term_at(sum->rest, s->rest_at, dtype, buffers),
		.out = buffers[sum->out],
	};

	if (((uintptr_t)at.a | (uintptr_t)at.b | (uintptr_t)at.bias | (uintptr_t)at.rest |
	     (uintptr_t)at.out) %
	    CUDA_LT_ALIGNED)
		return false;
	cuda_lt_run(c->device, s->sum, &at);
	return true;
}

static void run_product(const struct cuda_call *c, void *state, void *const *buffers)
{
	const struct library_call *call = c->call;
	struct device *d = c->device;
	bool einsum = call->node->op == OP_einsum;
	struct blas_contraction *s = state;
	const struct product *p = &s->product;
	enum dtype dtype = call->out.dtype;
	const double one[2] = { 1, 0 };
	const float one_f[2] = { 1, 0 };
	const void *alpha = dtype == DTYPE_F64 ? (const void *)&one[0] : &one_f[0];
	const void *beta = dtype == DTYPE_F64 ? (const void *)&one[1] : &one_f[1];
	void *at[3] = { operand_start(&call->arg[einsum], buffers),
			operand_start(&call->arg[einsum + 1], buffers),
			operand_start(&call->out, buffers) };
	int a = 1 - p->first, b = p->first;

	if (call->out.numel == 0)
		return;
	if (s->function) {
		run_sums(c, s, buffers);
		return;
	}
	if (p->summed == 0) {
		d->memory.clear(d, at[2], (size_t)call->out.numel * dtype_bytes(dtype));
		return;
	}
	if (s->alone &&
	    ((uintptr_t)at[0] | (uintptr_t)at[1] | (uintptr_t)at[2]) % CUDA_LT_ALIGNED == 0) {
		cuda_lt_run(d, s->alone,
			    &(struct cuda_lt_places){ at[a], at[b], NULL, NULL, at[2] });
		return;
	}
	for (int64_t i = 0; i < p->outer_batch; i++) {
		cublasStatus_t status = p->blas->gemm(
		    p->blas->handle, p->a.turn, p->b.turn, p->rows, p->columns, p->summed, alpha,
		    move(at[a], i * p->outer_step[a], dtype), p->type, (int)p->a.lead,
		    p->inner_step[a], move(at[b], i * p->outer_step[b], dtype), p->type,
		    (int)p->b.lead, p->inner_step[b], beta,
		    move(at[2], i * p->outer_step[2], dtype), p->type, (int)p->lead,
		    p->inner_step[2], p->inner_batch, p->compute, CUBLAS_GEMM_DEFAULT);

		if (status != CUBLAS_STATUS_SUCCESS)
			cuda_check(d, CUDA_ERROR_UNKNOWN, call->node->fx);
	}
}

static void run_biased(const struct cuda_call *c, struct blas_contraction *s, void *const *buffers)
{
	const struct library_call *call = c->call;
	const void *a = operand_start(&call->arg[1], buffers);
	const void *b = operand_start(&call->arg[0], buffers);
	const void *bias = operand_start(&call->arg[2], buffers);
	void *out = operand_start(&call->out, buffers);
	uintptr_t all = (uintptr_t)a | (uintptr_t)b | (uintptr_t)bias | (uintptr_t)out;
	struct cuda_lt_shape shape = shape_of(&s->product, (int)dtype_bytes(call->out.dtype));

	if (!s->lt) {
		run_product(c, s, buffers);
		s->biases.in = bias;
		s->biases.out = out;
		cuda_start(c, s->bias, cuda_blocks(c, s->biases.points), ARGS_THREADS, &s->biases);
		return;
	}
	if (all % CUDA_LT_ALIGNED == 0) {
		cuda_lt_run(c->device, s->lt, &(struct cuda_lt_places){ a, b, bias, NULL, out });
		return;
	}
	if (!s->odd)
		s->odd = cuda_lt_create(c->device, &shape, true, false, false);
	if (s->odd)
		cuda_lt_run(c->device, s->odd, &(struct cuda_lt_places){ a, b, bias, NULL, out });
	else
		cuda_check(c->device, CUDA_ERROR_NOT_SUPPORTED, "cuBLASLt's product");
}

static void run(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct blas_contraction *s = state;

	if (s->sum && run_with_sum(c, s, buffers))
		return;
	if (c->call->node->op == OP_biased)
		run_biased(c, s, buffers);
	else
		run_product(c, state, buffers);
	if (s->sum)
		c->walk(c->exe, c->kernel, buffers, false);
}

static void drop(struct device *d, void *state)
{
	struct blas_contraction *s = state;

	if (s) {
		cuda_lt_destroy(d, s->sum);
		cuda_lt_destroy(d, s->lt);
		cuda_lt_destroy(d, s->odd);
		cuda_lt_destroy(d, s->alone);
	}
	free(s);
}

const struct cuda_library cuda_contraction = {
	.part = PART_CREATE, .late = true, .emit = emit, .bind = bind, .run = run, .drop = drop
};
