/* fusion/backends/cuda/library/lt.c -- products by cuBLASLt, with a bias and a tensor added in the
 * same kernel. */
#include "fusion/backends/cuda/library/lt.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/hash.h"

enum {
	WAYS = 8,        /* of a product, that are tried */
	MOST_KEPT = 512, /* products whose way is kept */
	TRIAL_NS = 200000,
	MOST_RUNS = 20,
	NUMBERS = 1 << 20,           /* bytes of them that a trial's operands repeat */
	PARTS = 3,                   /* of a trial's result that are compared, */
	PART = 1 << 14,              /* bytes of each */
	MOST_TRIALS_NS = 1000000000, /* of all shapes: then they have what is thought fastest */
};

/* What was chosen for a shape and an epilogue. */
struct kept_way {
	struct cuda_lt_shape shape;
	bool bias, rest;
	bool tried; /* false: the way that cuBLASLt thinks fastest */
	uint64_t
	    bits; /* tried: the hash of what it gives for a trial's numbers, without epilogue */
	cublasLtMatmulAlgo_t way;
	size_t room_bytes;
};

struct cuda_lt {
	bool missing; /* it was looked for */
	cublasLtHandle_t handle;
	struct kept_way kept[MOST_KEPT]; /* the last ones, in a ring */
	unsigned n_kept;
	int64_t tried_ns;
#define LT(name) typeof(&name) name;
#include "fusion/backends/cuda/library/lt.def"
#undef LT
};

struct cuda_lt_product {
	cublasLtMatmulDesc_t how;
	cublasLtMatrixLayout_t a, b, out;
	cublasLtMatmulAlgo_t way;
	size_t room_bytes;
	bool bias, rest;
};

/* ---- the library */

static bool start(struct cuda_lt *t)
{
	void *library = cuda_open_library("libcublasLt.so"), *found;

	if (!library)
		return false;
#define LT(name)                                                                                   \
	found = dlsym(library, #name);                                                             \
	if (!found)                                                                                \
		return false;                                                                      \
	memcpy(&t->name, &found, sizeof(found));
#include "fusion/backends/cuda/library/lt.def"
#undef LT
	if (t->cublasLtCreate(&t->handle) != CUBLAS_STATUS_SUCCESS)
		t->handle = NULL;
	return t->handle != NULL;
}

static void close_lt(struct device *d)
{
	if (d->lt->handle)
		d->lt->cublasLtDestroy(d->lt->handle);
	free(d->lt);
	d->lt = NULL;
}

static struct cuda_lt *library(struct device *d)
{
	if (!d->lt) {
		d->lt = calloc(1, sizeof(*d->lt));
		if (d->lt) {
			d->lt->missing = !start(d->lt);
			cuda_on_close(d, close_lt);
		}
	}
	return d->lt && !d->lt->missing ? d->lt : NULL;
}

static bool describe(const struct cuda_lt *t, struct cuda_lt_product *p,
		     const struct cuda_lt_shape *s)
{
	const int32_t turn_a = s->turn_a, turn_b = s->turn_b;
	const uint32_t epilogue = p->bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
	const uint64_t m = (uint64_t)s->rows, n = (uint64_t)s->columns, k = (uint64_t)s->summed;
	bool flat_a = s->turn_a == CUBLAS_OP_N, flat_b = s->turn_b == CUBLAS_OP_N;

	/* COMPUTE_32F, and not the one with TF32: sums of float32 are of float32. */
	return t->cublasLtMatmulDescCreate(&p->how, CUBLAS_COMPUTE_32F, CUDA_R_32F) == 0 &&
	       t->cublasLtMatmulDescSetAttribute(p->how, CUBLASLT_MATMUL_DESC_TRANSA, &turn_a,
						 sizeof(turn_a)) == 0 &&
	       t->cublasLtMatmulDescSetAttribute(p->how, CUBLASLT_MATMUL_DESC_TRANSB, &turn_b,
						 sizeof(turn_b)) == 0 &&
	       t->cublasLtMatmulDescSetAttribute(p->how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
						 sizeof(epilogue)) == 0 &&
	       t->cublasLtMatrixLayoutCreate(&p->a, s->type, flat_a ? m : k, flat_a ? k : m,
					     s->lead_a) == 0 &&
	       t->cublasLtMatrixLayoutCreate(&p->b, s->type, flat_b ? k : n, flat_b ? n : k,
					     s->lead_b) == 0 &&
	       t->cublasLtMatrixLayoutCreate(&p->out, s->type, m, n, s->lead) == 0;
}

static void forget(const struct cuda_lt *t, struct cuda_lt_product *p)
{
	const cublasLtMatrixLayout_t layouts[] = { p->a, p->b, p->out };

	for (int i = 0; i < 3; i++)
		if (layouts[i])
			t->cublasLtMatrixLayoutDestroy(layouts[i]);
	if (p->how)
		t->cublasLtMatmulDescDestroy(p->how);
}

/* Up to WAYS of them, what cuBLASLt thinks fastest first.  Partial sums are float32: others
 * would round in between.  They lie in cuBLAS's memory, since all products run in order. */
static int list_ways(const struct cuda_lt *t, const struct device *d,
		     const struct cuda_lt_product *p, int aligned_bytes,
		     cublasLtMatmulHeuristicResult_t ways[WAYS])
{
	static const cublasLtMatmulPreferenceAttributes_t alignments[] = {
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
		CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
	};
	const uint64_t most = d->workspace ? d->workspace_bytes : 0;
	const uint32_t aligned = (uint32_t)aligned_bytes;
	const uint32_t joins = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
	cublasLtMatmulPreference_t wish = NULL;
	int count = 0, usable = 0;
	bool ok = t->cublasLtMatmulPreferenceCreate(&wish) == 0 &&
		  t->cublasLtMatmulPreferenceSetAttribute(
		      wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof(most)) == 0 &&
		  t->cublasLtMatmulPreferenceSetAttribute(
		      wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &joins, sizeof(joins)) == 0;

	for (int i = 0; i < 4 && ok; i++)
		ok = t->cublasLtMatmulPreferenceSetAttribute(wish, alignments[i], &aligned,
							     sizeof(aligned)) == 0;
	if (ok && t->cublasLtMatmulAlgoGetHeuristic(t->handle, p->how, p->a, p->b, p->out, p->out,
						    wish, WAYS, ways, &count) != 0)
		count = 0;
	for (int i = 0; i < count; i++)
		if (ways[i].state == CUBLAS_STATUS_SUCCESS)
			ways[usable++] = ways[i];
	if (wish)
		t->cublasLtMatmulPreferenceDestroy(wish);
	return usable;
}

static void take_way(struct cuda_lt_product *p, const cublasLtMatmulHeuristicResult_t *way)
{
	p->way = way->algo;
	p->room_bytes = way->workspaceSize;
}

static cublasStatus_t launch(const struct device *d, const struct cuda_lt_product *p,
			     const struct cuda_lt_places *at)
{
	const struct cuda_lt *t = d->lt;
	const float one = 1, beta = p->rest ? 1 : 0;
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

	if (p->bias)
		status = t->cublasLtMatmulDescSetAttribute(
		    p->how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &at->bias, sizeof(at->bias));
	if (status == CUBLAS_STATUS_SUCCESS)
		status = t->cublasLtMatmul(t->handle, p->how, &one, at->a, p->a, at->b, p->b, &beta,
					   p->rest ? at->rest : at->out, p->out, at->out, p->out,
					   &p->way, (void *)d->workspace, p->room_bytes,
					   (cudaStream_t)d->stream);
	return status;
}

/* Nanoseconds of a product, launched `runs` times; -1: it is refused. */
static int64_t time_of(struct device *d, const struct cuda_lt_product *p,
		       const struct cuda_lt_places *at, int runs)
{
	int64_t begin = clock_ns();

	for (int i = 0; i < runs; i++)
		if (launch(d, p, at) != CUBLAS_STATUS_SUCCESS)
			return -1;
	d->memory.wait(d);
	return (clock_ns() - begin) / runs;
}

static size_t room_for(int64_t lead, int64_t lines, size_t element_bytes)
{
	return ((size_t)lead * (size_t)lines * element_bytes + 255) / 256 * 256;
}

/* Numbers between -1 and 1 over all of the operands: the sums of a trial are rounded as those
 * of a program are. */
static bool fill_with_numbers(struct device *d, uint64_t memory, size_t bytes, cudaDataType_t type)
{
	const size_t len = bytes < NUMBERS ? bytes : NUMBERS; /* a multiple of 256 */
	unsigned char *numbers = malloc(len);
	uint32_t state = 1;

	if (!numbers)
		return false;
	for (size_t i = 0; i < len / 4; i++) {
		uint32_t bits, half;
		float f;

		state = state * 1664525 + 1013904223;
		f = (float)(int32_t)state * 0x1p-31f;
		memcpy(&bits, &f, sizeof(bits));
		half = type == CUDA_R_16BF ? bits >> 16 : (state >> 16 & 0x83ff) | 0x3800;
		bits = type == CUDA_R_32F ? bits : half << 16 | (half ^ 0x8001);
		memcpy(numbers + 4 * i, &bits, sizeof(bits));
	}
	for (size_t done = 0; done < bytes; done += len)
		d->memory.write(d, (void *)(memory + done), numbers,
				bytes - done < len ? bytes - done : len);
	free(numbers);
	return true;
}

/* Of parts of a result: its beginning, its middle and its end. */
static uint64_t hash_parts(struct device *d, const void *out, size_t bytes)
{
	unsigned char part[PART];
	const size_t len = bytes < PART ? bytes : PART;
	const size_t at[PARTS] = { 0, (bytes - len) / 2 / 16 * 16, bytes - len };
	uint64_t hash = 0;

	for (int i = 0; i < PARTS; i++) {
		d->memory.read(d, part, (const char *)out + at[i], len);
		hash = hash_bytes(part, len, hash);
	}
	return hash;
}

/* The ways of a product, and which of them may be taken. */
struct trial {
	const struct cuda_lt_product *alone; /* the product without its epilogue */
	const cublasLtMatmulHeuristicResult_t *ways;
	int n;
	const struct kept_way *other; /* the same shape's with another epilogue; NULL */
	struct cuda_lt_places at;
	size_t out_bytes;
	bool chosen;
	uint64_t bits; /* of the chosen way */
};

/* Whether way i gives the bits that the shape's first product gave; *bits: what it gives. */
static bool has_its_bits(struct device *d, const struct trial *t, int i, uint64_t *bits)
{
	struct cuda_lt_product alone = *t->alone;

	take_way(&alone, &t->ways[i]);
	if (time_of(d, &alone, &t->at, 1) < 0) /* which loads it */
		return false;
	*bits = hash_parts(d, t->at.out, t->out_bytes);
	return !t->other ||
	       (t->other->tried ? *bits == t->other->bits : i == 0 || *bits == t->bits);
}

/* The first product of a shape decides its bits, whatever comes after it in any mode: a recurrence
 * makes much of a last bit.  Another way than the first has to be clearly faster. */
static void choose_fastest(struct device *d, struct cuda_lt_product *p, struct trial *t)
{
	int64_t best = -1;

	for (int i = 0; i < t->n; i++) {
		struct cuda_lt_product trial = *p;
		int64_t once, ns;
		uint64_t bits;
		int runs;

		take_way(&trial, &t->ways[i]);
		if (!has_its_bits(d, t, i, &bits) || time_of(d, &trial, &t->at, 1) < 0) {
			if (i == 0 && t->other && !t->other->tried)
				return;
			continue;
		}
		once = time_of(d, &trial, &t->at, 1);
		if (once < 0 || (best >= 0 && once > 2 * best + TRIAL_NS))
			continue;
		runs = (int)(TRIAL_NS / (once + 1)) + 2;
		ns = time_of(d, &trial, &t->at, runs < MOST_RUNS ? runs : MOST_RUNS);
		if (ns < 0 || (best >= 0 && ns > best - best / 32))
			continue;
		best = ns;
		take_way(p, &t->ways[i]);
		t->chosen = true;
		t->bits = bits;
	}
}

/* On memory of its own: what a product is given may be in use.  Without it none is chosen. */
static void try_ways(struct device *d, struct cuda_lt_product *p, const struct cuda_lt_shape *s,
		     struct trial *t)
{
	const size_t bytes = s->type == CUDA_R_32F ? 4 : 2;
	const size_t a = room_for(s->lead_a, s->turn_a == CUBLAS_OP_N ? s->summed : s->rows, bytes);
	const size_t b = room_for(s->lead_b, s->turn_b == CUBLAS_OP_N ? s->columns : s->summed,
				  bytes);
	const size_t out = room_for(s->lead, s->columns, bytes), all = a + b + 2 * out;
	struct cuda_lt_product alone = { 0 };
	uint64_t memory = cuda_take(d, all);

	if (!memory)
		return;
	t->out_bytes = out;
	t->at = (struct cuda_lt_places){ .a = (void *)memory,
					 .b = (void *)(memory + a),
					 .out = (void *)(memory + a + b),
					 .rest = (void *)(memory + a + b + out),
					 .bias = (void *)(memory + a + b + out) };
	t->alone = &alone;
	if (describe(d->lt, &alone, s) && fill_with_numbers(d, memory, all, s->type))
		choose_fastest(d, p, t);
	forget(d->lt, &alone);
	cuda_release(d, memory, all);
}

static bool same_shape(const struct cuda_lt_shape *a, const struct cuda_lt_shape *b)
{
	return a->type == b->type && a->aligned == b->aligned && a->turn_a == b->turn_a &&
	       a->turn_b == b->turn_b && a->rows == b->rows && a->columns == b->columns &&
	       a->summed == b->summed && a->lead_a == b->lead_a && a->lead_b == b->lead_b &&
	       a->lead == b->lead;
}

/* What is kept of the shape: with the product's epilogue, or NULL: with any. */
static const struct kept_way *find_kept(const struct cuda_lt *t, const struct cuda_lt_shape *s,
					const struct cuda_lt_product *p)
{
	for (unsigned i = 0; i < t->n_kept && i < MOST_KEPT; i++) {
		const struct kept_way *k = &t->kept[i];

		if ((!p || (k->bias == p->bias && k->rest == p->rest)) && same_shape(&k->shape, s))
			return k;
	}
	return NULL;
}

static void keep(struct cuda_lt *t, const struct cuda_lt_product *p, const struct cuda_lt_shape *s,
		 const struct trial *trial)
{
	t->kept[t->n_kept++ % MOST_KEPT] = (struct kept_way){ .shape = *s,
							      .bias = p->bias,
							      .rest = p->rest,
							      .tried = trial->chosen,
							      .bits = trial->bits,
							      .way = p->way,
							      .room_bytes = p->room_bytes };
}

/* False: there is no way, or none that gives the bits of the shape's first product. */
static bool choose(struct device *d, struct cuda_lt_product *p, const struct cuda_lt_shape *s,
		   bool tries)
{
	struct cuda_lt *t = d->lt;
	const struct kept_way *kept = find_kept(t, s, p);
	cublasLtMatmulHeuristicResult_t ways[WAYS];
	struct trial trial = { .ways = ways };

	if (kept) {
		p->way = kept->way;
		p->room_bytes = kept->room_bytes;
		return true;
	}
	trial.other = find_kept(t, s, NULL);
	trial.n = list_ways(t, d, p, s->aligned, ways);
	if (trial.n == 0)
		return false;
	take_way(p, &ways[0]);
	if ((tries && trial.n > 1 && t->tried_ns <= MOST_TRIALS_NS) ||
	    (trial.other && trial.other->tried)) {
		int64_t begin = clock_ns();

		try_ways(d, p, s, &trial);
		t->tried_ns += clock_ns() - begin;
	}
	if (trial.other && trial.other->tried && !trial.chosen)
		return false;
	keep(t, p, s, &trial);
	return true;
}

bool cuda_lt_is_tried(const struct device *d, const struct cuda_lt_shape *shape)
{
	const struct kept_way *kept = d->lt ? find_kept(d->lt, shape, NULL) : NULL;

	return kept && kept->tried;
}

struct cuda_lt_product *cuda_lt_create(struct device *d, const struct cuda_lt_shape *shape,
				       bool bias, bool rest, bool tries)
{
	struct cuda_lt *t = library(d);
	struct cuda_lt_product *p = t ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	p->bias = bias;
	p->rest = rest;
	if (describe(t, p, shape) && choose(d, p, shape, tries))
		return p;
	cuda_lt_destroy(d, p);
	return NULL;
}

void cuda_lt_destroy(struct device *d, struct cuda_lt_product *p)
{
	if (p)
		forget(d->lt, p);
	free(p);
}

void cuda_lt_run(struct device *d, const struct cuda_lt_product *p, const struct cuda_lt_places *at)
{
	if (launch(d, p, at) != CUBLAS_STATUS_SUCCESS)
		cuda_check(d, CUDA_ERROR_UNKNOWN, "cuBLASLt's product");
}
