/* fusion/backends/cuda/lt.c -- see lt.h. */
#include "fusion/backends/cuda/lt.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_BYTES = 8 << 20 }; /* for partial sums, of all products: they run in order */

struct cuda_lt {
	bool missing; /* it was looked for */
	cublasLtHandle_t handle;
	uint64_t room;
#define LT(name) typeof(&name) name;
#include "fusion/backends/cuda/lt.def"
#undef LT
};

struct cuda_lt_product {
	cublasLtMatmulDesc_t how;
	cublasLtMatrixLayout_t a, b, out;
	cublasLtMatmulAlgo_t way;
	size_t room_bytes;
	bool bias, rest;
};

/* ---- what stands behind a product */

static bool is_whole(const struct kernel *k, const struct access *at)
{
	return sym_is(at->stride[1], 1) && at->stride[0] == k->extent[1];
}

static bool is_bias(const struct access *at)
{
	return sym_is(at->stride[1], 1) && sym_is(at->stride[0], 0);
}

/* One more term of the sum; false: it is none. */
static bool take_term(struct cuda_sum *sum, const struct kernel *k, const struct inst *load)
{
	const struct access *at = &load->at;

	if (is_bias(at) && sum->bias < 0) {
		sum->bias = at->buffer;
		sum->bias_offset = at->offset;
		return true;
	}
	if (!is_whole(k, at) || sum->rest >= 0)
		return false;
	sum->rest = at->buffer;
	sum->rest_offset = at->offset;
	return true;
}

static const struct inst *writer(const struct stage *s, int reg)
{
	for (int i = 0; i < s->n_body; i++)
		if (s->body[i].dst == reg && s->body[i].kind == INST_LOAD && !s->body[i].join &&
		    s->body[i].dtype == DTYPE_F32)
			return &s->body[i];
	return NULL;
}

bool cuda_sum_behind(const struct lowered *l, int kernel, struct cuda_sum *sum)
{
	const struct kernel *k = &l->kernels[kernel];
	const struct stage *s = k->stages;
	const struct buffer *product = k->library ? &l->buffers[k->out_buffer] : NULL;
	int total = -1; /* the register of the sum so far */

	*sum = (struct cuda_sum){ .out = -1, .bias = -1, .rest = -1 };
	if (!k->library || k->form != FORM_MAP || k->n_dims != 2 || k->n_setup || k->n_stages != 1)
		return false;
	for (int i = 0; i < s->n_body; i++) {
		const struct inst *inst = &s->body[i];
		const struct inst *x = inst->kind == INST_OP ? writer(s, inst->src[0]) : NULL;
		const struct inst *y = inst->kind == INST_OP ? writer(s, inst->src[1]) : NULL;

		if (inst->kind == INST_LOAD) {
			if (!inst->join && inst->at.buffer == k->out_buffer && total < 0 &&
			    is_whole(k, &inst->at) && inst->dtype == DTYPE_F32)
				total = inst->dst;
		} else if (inst->kind == INST_OP && inst->op == OP_add && inst->src[0] == total &&
			   y) {
			total = take_term(sum, k, y) ? inst->dst : -2;
		} else if (inst->kind == INST_OP && inst->op == OP_add && inst->src[1] == total &&
			   x) {
			total = take_term(sum, k, x) ? inst->dst : -2;
		} else if (inst->kind == INST_STORE && inst->src[0] == total && sum->out < 0 &&
			   is_whole(k, &inst->at) && sym_is(inst->at.offset, 0)) {
			sum->out = inst->at.buffer;
		} else {
			return false;
		}
	}
	sum->rows = k->extent[0];
	sum->columns = k->extent[1];
	return sum->out >= 0 && (sum->bias >= 0 || sum->rest >= 0) && sum->rest != k->out_buffer &&
	       sum->bias != k->out_buffer &&
	       (k->out_buffer == sum->out ||
		(product->kind == BUFFER_TEMP && product->last_kernel == kernel));
}

/* ---- the library */

static bool start(struct cuda_lt *t, struct device *d)
{
	void *library = cuda_open_library("libcublasLt.so"), *found;

	if (!library)
		return false;
#define LT(name)                                                                                   \
	found = dlsym(library, #name);                                                             \
	if (!found)                                                                                \
		return false;                                                                      \
	memcpy(&t->name, &found, sizeof(found));
#include "fusion/backends/cuda/lt.def"
#undef LT
	if (t->cublasLtCreate(&t->handle) != CUBLAS_STATUS_SUCCESS)
		t->handle = NULL;
	t->room = t->handle ? cuda_take(d, ROOM_BYTES) : 0;
	return t->room != 0;
}

static struct cuda_lt *library(struct device *d)
{
	if (!d->lt) {
		d->lt = calloc(1, sizeof(*d->lt));
		if (d->lt)
			d->lt->missing = !start(d->lt, d);
	}
	return d->lt && !d->lt->missing ? d->lt : NULL;
}

void cuda_lt_close(struct device *d)
{
	if (!d->lt)
		return;
	if (d->lt->handle)
		d->lt->cublasLtDestroy(d->lt->handle);
	if (d->lt->room)
		cuda_release(d, d->lt->room, ROOM_BYTES);
	free(d->lt);
	d->lt = NULL;
}

static bool describe(const struct cuda_lt *t, struct cuda_lt_product *p,
		     const struct cuda_lt_shape *s)
{
	const int32_t turn_a = s->turn_a, turn_b = s->turn_b;
	const uint32_t epilogue = p->bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
	const uint64_t m = (uint64_t)s->rows, n = (uint64_t)s->columns, k = (uint64_t)s->summed;
	bool flat_a = s->turn_a == CUBLAS_OP_N, flat_b = s->turn_b == CUBLAS_OP_N;

	/* COMPUTE_32F, and not its kin with TF32: sums of float32 are of float32. */
	return t->cublasLtMatmulDescCreate(&p->how, CUBLAS_COMPUTE_32F, CUDA_R_32F) == 0 &&
	       t->cublasLtMatmulDescSetAttribute(p->how, CUBLASLT_MATMUL_DESC_TRANSA, &turn_a,
						 sizeof(turn_a)) == 0 &&
	       t->cublasLtMatmulDescSetAttribute(p->how, CUBLASLT_MATMUL_DESC_TRANSB, &turn_b,
						 sizeof(turn_b)) == 0 &&
	       t->cublasLtMatmulDescSetAttribute(p->how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
						 sizeof(epilogue)) == 0 &&
	       t->cublasLtMatrixLayoutCreate(&p->a, CUDA_R_32F, flat_a ? m : k, flat_a ? k : m,
					     s->lead_a) == 0 &&
	       t->cublasLtMatrixLayoutCreate(&p->b, CUDA_R_32F, flat_b ? k : n, flat_b ? n : k,
					     s->lead_b) == 0 &&
	       t->cublasLtMatrixLayoutCreate(&p->out, CUDA_R_32F, m, n, s->lead) == 0;
}

/* The way that cuBLASLt thinks fastest. */
static bool choose(const struct cuda_lt *t, struct cuda_lt_product *p)
{
	static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
	};
	const uint64_t most = ROOM_BYTES;
	const uint32_t aligned = CUDA_LT_ALIGNED;
	cublasLtMatmulPreference_t wish = NULL;
	cublasLtMatmulHeuristicResult_t found;
	int count = 0;
	bool ok = t->cublasLtMatmulPreferenceCreate(&wish) == 0 &&
		  t->cublasLtMatmulPreferenceSetAttribute(
		      wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most)) == 0;

	for (int i = 0; i < 4 && ok; i++)
		ok = t->cublasLtMatmulPreferenceSetAttribute(wish, alignments[i], &aligned,
							     sizeof(aligned)) == 0;
	ok = ok &&
	     t->cublasLtMatmulAlgoGetHeuristic(t->handle, p->how, p->a, p->b, p->out, p->out, wish,
					       1, &found, &count) == 0 &&
	     count == 1 && found.state == CUBLAS_STATUS_SUCCESS;
	if (wish)
		t->cublasLtMatmulPreferenceDestroy(wish);
	if (ok) {
		p->way = found.algo;
		p->room_bytes = found.workspaceSize;
	}
	return ok;
}

struct cuda_lt_product *cuda_lt_create(struct device *d, const struct cuda_lt_shape *shape,
				       bool bias, bool rest)
{
	struct cuda_lt *t = library(d);
	struct cuda_lt_product *p = t ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->bias = bias;
	p->rest = rest;
	if (describe(t, p, shape) && choose(t, p))
		return p;
	cuda_lt_destroy(d, p);
	return NULL;
}

void cuda_lt_destroy(struct device *d, struct cuda_lt_product *p)
{
	const cublasLtMatrixLayout_t layouts[] = { p ? p->a : NULL, p ? p->b : NULL,
						   p ? p->out : NULL };

	for (int i = 0; i < 3; i++)
		if (layouts[i])
			d->lt->cublasLtMatrixLayoutDestroy(layouts[i]);
	if (p && p->how)
		d->lt->cublasLtMatmulDescDestroy(p->how);
	free(p);
}

void cuda_lt_run(struct device *d, const struct cuda_lt_product *p, const void *a, const void *b,
		 const void *bias, const void *rest, void *out)
{
	const struct cuda_lt *t = d->lt;
	const float one = 1, beta = p->rest ? 1 : 0;
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

	if (p->bias)
		status = t->cublasLtMatmulDescSetAttribute(
		    p->how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
	if (status == CUBLAS_STATUS_SUCCESS)
		status = t->cublasLtMatmul(t->handle, p->how, &one, a, p->a, b, p->b, &beta,
					   p->rest ? rest : out, p->out, out, p->out, &p->way,
					   (void *)t->room, p->room_bytes, (cudaStream_t)d->stream);
	if (status != CUBLAS_STATUS_SUCCESS)
		cuda_check(d, CUDA_ERROR_UNKNOWN, "cuBLASLt's product");
}
