/* tests/bench/bench_gemm.c -- products of matrices: our kernel and OpenBLAS.
 *
 *	bench_gemm [THREADS [own]]
 *
 * GFLOP/s of the shapes that models have: the best of some rounds, in which the
 * ways take turns.  "chosen" is what a graph gets: OpenBLAS, one thread a
 * block, where gemm.c wants it.  With "own" only OpenBLAS runs, with threads of its
 * own: these look for work long after, and would disturb the others.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/backends.h"
#include "fusion/backends/gemm/gemm.h"
#include "fusion/base/clock.h"

enum { ROUNDS = 9, WAYS = 3 };

/* c[batch, m, n] = a[batch, m, k] b, which lies as [batch, k, n] or, `nt`, [batch, n, k]. */
static const struct shape_of_product {
	const char *what;
	int batch, m, n, k;
	bool nt;
} shapes[] = {
	{ "MLP 1", 1, 512, 4096, 1024, true },
	{ "MLP 2", 1, 512, 1024, 4096, true },
	{ "square", 1, 1024, 1024, 1024, false },
	{ "small square", 1, 128, 128, 128, false },
	{ "transformer qkv", 1, 64, 768, 256, true },
	{ "transformer out", 1, 64, 256, 256, true },
	{ "transformer up", 1, 64, 1024, 256, true },
	{ "transformer down", 1, 64, 256, 1024, true },
	{ "attention scores", 8, 64, 64, 32, true },
	{ "attention values", 8, 64, 32, 64, false },
	{ "LSTM gates", 1, 16, 1024, 256, true },
	{ "one row", 1, 1, 1024, 1024, true },
	{ "one column", 1, 1024, 1, 1024, false },
	{ "GPT head", 1, 64, 8192, 256, true },
	{ "gradient", 1, 1024, 4096, 512, false },
	{ "conv 64x56x56", 1, 64, 3136, 576, false },
	{ "conv 256x14x14", 1, 256, 196, 2304, false },
};

struct bench {
	const struct shape_of_product *shape;
	enum dtype dtype;
	const struct blas_calls *calls; /* NULL: no OpenBLAS here */
	void (*set_threads)(int);
	void *a, *b, *c, *room;
	struct gemm *gemm, *by_blas;
	struct pool *pool;
	int threads;
	bool own;
};

static void fill(const struct bench *x, void *p, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		dtype_put_double(x->dtype, p, i, (double)(rand() % 2001 - 1000) / 1000);
}

static void blas_whole(const struct bench *x, int batch)
{
	const struct shape_of_product *s = x->shape;
	int64_t a = (int64_t)batch * s->m * s->k, b = (int64_t)batch * s->n * s->k;
	int64_t c = (int64_t)batch * s->m * s->n;
	int turn = s->nt ? BLAS_TURNED : BLAS_AS_IS, ldb = s->nt ? s->k : s->n;

	if (x->dtype == DTYPE_F32)
		x->calls->sgemm(BLAS_ROW_MAJOR, BLAS_AS_IS, turn, s->m, s->n, s->k, 1,
				(float *)x->a + a, s->k, (float *)x->b + b, ldb, 0,
				(float *)x->c + c, s->n);
	else
		x->calls->dgemm(BLAS_ROW_MAJOR, BLAS_AS_IS, turn, s->m, s->n, s->k, 1,
				(double *)x->a + a, s->k, (double *)x->b + b, ldb, 0,
				(double *)x->c + c, s->n);
}

static void run_way(const struct bench *x, int way)
{
	const struct shape_of_product *s = x->shape;
	const struct gemm_matrices m = { .a = x->a, .b = x->b, .c = x->c, .room = x->room };

	if (way == 0) {
		gemm_run(x->gemm, &m, x->pool);
	} else if (way == 1) {
		gemm_run(x->by_blas, &m, x->pool);
	} else {
		for (int i = 0; i < s->batch; i++)
			blas_whole(x, i);
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct bench *x)
{
	const struct shape_of_product *s = x->shape;
	double flops = 2.0 * s->batch * s->m * s->n * s->k, ns[WAYS][ROUNDS];
	int first = x->own ? 2 : 0,
	    ways = x->own     ? 3
		   : x->calls ? 2
			      : 1,
	    times = 1 + (int)(2e8 / flops / 10);

	for (int r = 0; r < ROUNDS; r++)
		for (int w = first; w < ways; w++) {
			int64_t begin;

			if (x->own)
				x->set_threads(x->threads);
			run_way(x, w);
			begin = clock_ns();
			for (int i = 0; i < times; i++)
				run_way(x, w);
			ns[w][r] = (double)(clock_ns() - begin) / times;
		}
	printf("%-18s %-8s %2d %5d %5d %5d %5d", s->what, dtype_name(x->dtype), x->threads,
	       s->batch, s->m, s->n, s->k);
	for (int w = first; w < ways; w++) {
		qsort(ns[w], ROUNDS, sizeof(double), by_size);
		printf("  %8.1f us %7.1f", ns[w][0] / 1000, flops / ns[w][0]);
	}
	printf("\n");
}

static void open_gemm(struct bench *x)
{
	const struct shape_of_product *s = x->shape;
	int64_t m = s->m, n = s->n, k = s->k;
	struct axis_dims batch = { 1, s->batch, { { s->batch, { m * k, k * n, m * n } } } };
	struct axis_dims row = { 1, m, { { m, { k, 0, n } } } };
	struct axis_dims column = { 1, n, { { n, { 0, s->nt ? k : 1, 1 } } } };
	struct axis_dims summed = { 1, k, { { k, { 1, s->nt ? 1 : n, 0 } } } };
	struct gemm like = { .kernels = kernels_here(), .dtype = x->dtype };

	x->gemm = gemm_create(&like, &batch, &row, &column, &summed);
	like.blas = x->calls;
	x->by_blas = gemm_create(&like, &batch, &row, &column, &summed);
	if (posix_memalign(&x->room, 64, x->gemm->room_bytes + x->by_blas->room_bytes + 64) != 0)
		exit(1);
}

static void bench_shape(struct bench *x)
{
	const struct shape_of_product *s = x->shape;
	size_t bytes = dtype_bytes(x->dtype);
	int64_t a = (int64_t)s->batch * s->m * s->k, b = (int64_t)s->batch * s->n * s->k;
	int64_t c = (int64_t)s->batch * s->m * s->n;

	x->a = aligned_alloc(64, ((size_t)a * bytes + 191) / 64 * 64);
	x->b = aligned_alloc(64, ((size_t)b * bytes + 191) / 64 * 64);
	x->c = aligned_alloc(64, ((size_t)c * bytes + 191) / 64 * 64);
	fill(x, x->a, a);
	fill(x, x->b, b);
	open_gemm(x);
	measure(x);
	free(x->gemm);
	free(x->by_blas);
	free(x->room);
	free(x->a);
	free(x->b);
	free(x->c);
}

int main(int argc, char **argv)
{
	struct bench x = { .threads = argc > 1 ? atoi(argv[1]) : 1 };
	struct blas *blas = backend_blas_create();
	void *library;

	x.calls = blas_calls(blas);
	printf("%s\n", backend_blas_note(blas));
	library = x.calls ? dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL) : NULL;
	if (library)
		*(void **)&x.set_threads = dlsym(library, "openblas_set_num_threads");
	x.own = argc > 2 && x.set_threads;
	x.pool = pool_create(x.own ? 1 : x.threads);
	printf("%-18s %-8s %2s %5s %5s %5s %5s  us and GFLOP/s: %s\n", "product", "dtype", "th",
	       "batch", "m", "n", "k", x.own ? "blas" : "ours, chosen");
	for (int d = 0; d < 2; d++)
		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
			x.dtype = d ? DTYPE_F64 : DTYPE_F32;
			x.shape = &shapes[i];
			bench_shape(&x);
		}
	pool_destroy(x.pool);
	backend_blas_destroy(blas);
	return 0;
}
