/* tests/test_backends_gemm.c -- products of matrices: values, and the same bits however
 * operands lie, with any number of threads; by our kernel and by OpenBLAS.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/backends.h"
#include "fusion/backends/gemm/gemm.h"

enum { BATCH = 2, PAD = 3, LAYOUTS = 8 };

/* A product; bits of a layout say which of a, b and c lie turned. */
struct product {
	int64_t m, n, k;
	enum dtype dtype;
	const struct blas_calls *blas;
	const char *unit;
};

/* Element (i, j) of matrix `batch`: numbers that rounding shows in. */
static double value(int64_t batch, int64_t i, int64_t j)
{
	int64_t x = (batch * 37 + i * 911 + j * 577 + i * j) % 2003;

	return (double)(x - 1001) / 700;
}

static void put(enum dtype dtype, void *to, int64_t at, double v)
{
	dtype_put_double(dtype, to, at, v);
}

/* Strides of an r x c matrix whose rows (columns, turned) have room to spare. */
static void strides(bool turned, int64_t r, int64_t c, int64_t *row, int64_t *column)
{
	*row = turned ? 1 : c + PAD;
	*column = turned ? r + PAD : 1;
}

static int64_t matrix_size(int64_t r, int64_t c)
{
	return (r + PAD) * (c + PAD);
}

static struct axis_dims dims(int64_t size, int64_t a, int64_t b, int64_t c)
{
	struct axis_dims d = { size != 1, size, { { size, { a, b, c } } } };

	return d;
}

static void *matrices(const struct product *p, int64_t r, int64_t c, bool turned, int64_t *row,
		      int64_t *column)
{
	void *memory = aligned_alloc(
	    64, ((size_t)(BATCH * matrix_size(r, c)) * dtype_bytes(p->dtype) + 191) / 64 * 64);

	strides(turned, r, c, row, column);
	for (int64_t b = 0; b < BATCH; b++)
		for (int64_t i = 0; i < r; i++)
			for (int64_t j = 0; j < c; j++)
				put(p->dtype, memory,
				    b * matrix_size(r, c) + i * *row + j * *column, value(b, i, j));
	return memory;
}

/* The result as [batch, m, n], whatever the layout; to be freed. */
static double *multiply(const struct product *p, int layout, int threads)
{
	struct gemm like = { .kernels = kernels_named(p->unit),
			     .blas = p->blas,
			     .dtype = p->dtype };
	int64_t ar, ac, br, bc, cr, cc, size = p->m * p->n;
	void *a = matrices(p, p->m, p->k, layout & 1, &ar, &ac);
	void *b = matrices(p, p->k, p->n, layout & 2, &br, &bc);
	void *c = matrices(p, p->m, p->n, layout & 4, &cr, &cc);
	struct axis_dims batch = dims(BATCH, matrix_size(p->m, p->k), matrix_size(p->k, p->n),
				      matrix_size(p->m, p->n));
	struct axis_dims row = dims(p->m, ar, 0, cr), column = dims(p->n, 0, bc, cc);
	struct axis_dims k = dims(p->k, ac, br, 0);
	struct gemm *g = gemm_create(&like, &batch, &row, &column, &k);
	struct pool *pool = pool_create(threads);
	double *out = calloc((size_t)(BATCH * size) + 1, sizeof(*out));
	void *room = NULL;

	assert_non_null(g);
	assert_int_equal(posix_memalign(&room, 64, g->room_bytes + 64), 0);
	gemm_run(g, &(struct gemm_matrices){ .a = a, .b = b, .c = c, .room = room }, pool);
	free(room);
	for (int64_t x = 0; x < BATCH; x++)
		for (int64_t i = 0; i < size; i++)
			out[x * size + i] = dtype_get_double(p->dtype, c,
							     x * matrix_size(p->m, p->n) +
								 i / p->n * cr + i % p->n * cc);
	pool_destroy(pool);
	free(g);
	free(a);
	free(b);
	free(c);
	return out;
}

/* Of an element, and of the operands before. */
static const double roundings[DTYPE_COUNT] = {
	[DTYPE_F16] = 2.5e-4, [DTYPE_BF16] = 2e-3, [DTYPE_F32] = 1.2e-7, [DTYPE_F64] = 2e-15
};
static const enum dtype floats[4] = { DTYPE_F32, DTYPE_F64, DTYPE_F16, DTYPE_BF16 };

static void check_values(const struct product *p, const double *got)
{
	double rounding = roundings[p->dtype];

	for (int64_t x = 0; x < BATCH; x++)
		for (int64_t i = 0; i < p->m; i++)
			for (int64_t j = 0; j < p->n; j += 1 + p->n / 50) {
				double sum = 0, most = 1;

				for (int64_t k = 0; k < p->k; k++) {
					sum += value(x, i, k) * value(x, k, j);
					most += fabs(value(x, i, k) * value(x, k, j));
				}
				if (!(fabs(got[(x * p->m + i) * p->n + j] - sum) <=
				      most * rounding * 8))
					fail_msg("%lld x %lld x %lld %s: (%lld, %lld) is %.17g, "
						 "not %.17g",
						 (long long)p->m, (long long)p->n, (long long)p->k,
						 dtype_name(p->dtype), (long long)i, (long long)j,
						 got[(x * p->m + i) * p->n + j], sum);
			}
}

/* Which layouts and numbers of threads must agree to the bit; OpenBLAS computes for
 * one thread alone. */
static void check(const struct product *p, int layouts)
{
	size_t bytes = (size_t)(BATCH * p->m * p->n) * sizeof(double);
	double *want = multiply(p, 0, 1);

	check_values(p, want);
	for (int layout = 0; layout < layouts; layout++)
		for (int threads = 1; threads <= (p->blas ? 1 : 3); threads += 2) {
			double *got = multiply(p, layout, threads);

			if (memcmp(got, want, bytes) != 0)
				fail_msg("%lld x %lld x %lld %s, layout %d, %d threads: other bits",
					 (long long)p->m, (long long)p->n, (long long)p->k,
					 dtype_name(p->dtype), layout, threads);
			free(got);
		}
	free(want);
}

/* Few rows, few columns, edges of every block, more than one block of k. */
static const int64_t sizes[][3] = {
	{ 1, 1, 1 },    { 1, 70, 300 },   { 70, 1, 300 },   { 5, 33, 7 },     { 16, 200, 256 },
	{ 64, 65, 17 }, { 63, 130, 520 }, { 130, 63, 300 }, { 241, 257, 31 },
};

static void test_our_kernel(void **state)
{
	static const char *const units[] = { "sse", "avx2", "avx512" };

	(void)state;
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && kernels_named(units[u]);
		     i++)
			for (int d = 0; d < 4; d++)
				check(&(struct product){ sizes[i][0], sizes[i][1], sizes[i][2],
							 floats[d], NULL, units[u] },
				      LAYOUTS);
}

/* Large enough for OpenBLAS where there is one thread, with blocks and edges of all kinds.  A
 * result that lies turned, which no graph has, is ours. */
static void test_blas(void **state)
{
	static const int64_t large[][3] = {
		{ 128, 128, 128 },
		{ 200, 131, 150 },
		{ 65, 500, 90 },
		{ 333, 222, 300 },
	};
	struct blas *blas = backend_blas_create();
	const struct blas_calls *calls = blas_calls(blas);

	(void)state;
	print_message("%s\n", backend_blas_note(blas));
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		for (int d = 0; d < 4; d++)
			check(&(struct product){ large[i][0], large[i][1], large[i][2], floats[d],
						 calls, NULL },
			      4);
	backend_blas_destroy(blas);
}

/* What is too small for it, or lies as no matrix of it does, is ours: bit by bit. */
static void test_who_computes(void **state)
{
	struct blas_calls none = { 0 }; /* a call would crash */
	struct axis_dims batch = dims(1, 0, 0, 0), row = dims(100, 400, 0, 100);
	struct axis_dims column = dims(100, 0, 2, 1), k = dims(200, 2, 200, 0);
	struct gemm like = { .kernels = kernels_here(), .blas = &none, .dtype = DTYPE_F32 };
	struct gemm *strided = gemm_create(&like, &batch, &row, &column, &k);
	struct product small = { 60, 300, 200, DTYPE_F32, &none, NULL };
	struct product ints = { 100, 100, 300, DTYPE_I64, &none, NULL };

	(void)state;
	assert_non_null(strided);
	assert_null(strided->blas);
	free(strided);
	free(multiply(&small, 0, 1));
	free(multiply(&ints, 0, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_our_kernel),
		cmocka_unit_test(test_blas),
		cmocka_unit_test(test_who_computes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
