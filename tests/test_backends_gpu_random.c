/* tests/test_backends_gpu_random.c -- what is drawn from a GPU's generator is what PyTorch draws
 * there.
 *
 * Made on the host, as where a kernel of a run on a GPU stays there.  Sines and logarithms of
 * float32 are other functions than the GPU's fast ones, which differ by rounding.
 */
#include "fusion/base/generators.h"
#include "tests/backends_help.h"

#include <math.h>
#include <stdlib.h>

enum { H200_THREADS = 132 * 2048 };

struct row {
	enum op op;
	const char *draws;
	enum dtype dtype;
	int64_t n;
	double a, b;
	uint64_t offset;
	struct {
		int64_t at;
		double value;
	} some[3];
};

static const struct row rows[] = {
#define DRAW(op, draws, dtype, n, a, b, offset, i, x, j, y, k, z)                                  \
	{ op, draws, dtype, n, (double)(a), (double)(b), offset, { { i, x }, { j, y }, { k, z } } },
#include "tests/gpu_random.def"
#undef DRAW
};

static bool is_whole(const struct row *r)
{
	return r->op == OP_random_ints || r->op == OP_permutation;
}

static int add(struct builder *b, const struct row *r)
{
	const struct sym *size = NUM(b, r->n);
	struct arg sizes = arg_ints(&size, 1), dtype = arg_dtype(r->dtype);
	struct arg draws = arg_str(r->draws);

	switch (r->op) {
	case OP_uniform:
		return ADD(b, OP_uniform, sizes, dtype, draws, F(r->a), F(r->b));
	case OP_normal:
		return ADD(b, OP_normal, sizes, dtype, arg_bool(false), draws, F(r->a), F(r->b));
	case OP_keep:
		return ADD(b, OP_keep, sizes, F(r->a), dtype);
	case OP_permutation:
		return ADD(b, OP_permutation, sizes, dtype, draws);
	default:
		return ADD(b, OP_random_ints, I(b, (int64_t)r->a), I(b, (int64_t)r->b), sizes,
			   dtype, arg_bool(false), draws);
	}
}

static double tolerance(const struct row *r, double x)
{
	if (is_whole(r))
		return 0;
	switch (r->dtype) {
	case DTYPE_F64:
		return 1e-14 * fmax(fabs(x), 1);
	case DTYPE_F16:
		return 0x1p-10 * fabs(x);
	case DTYPE_BF16:
		return 0x1p-7 * fabs(x);
	default:
		return (r->op == OP_normal || strcmp(r->draws, "log") == 0 ? 3e-6 : 1e-7) *
		       fmax(fabs(x), 1);
	}
}

static void check(const struct row *r, const char *backend_name)
{
	const struct backend *backend = backend_find(backend_name);
	struct generators random = { .gpu.threads = H200_THREADS };
	struct backend_env env = { .cache_dir = shared_kernels(),
				   .compile_timeout_ms = 600000,
				   .random = &random };
	struct builder b = builder_create();
	const struct lowered *l;
	struct executable *exe;
	enum dtype dtype;
	void *out;

	generators_seed(&random, is_whole(r) ? 77 : 1234);
	RETURN(&b, add(&b, r));
	l = lower_passed(&b, false);
	dtype = l->buffers[l->outputs[0]].dtype;
	out = help_alloc((size_t)r->n * dtype_bytes(dtype));
	exe = help_compile(backend, &env, l);
	help_run(backend, exe, l, NULL, NULL, &out, NULL);
	for (int i = 0; i < 3; i++) {
		double x = dtype_get_double(dtype, out, r->some[i].at), want = r->some[i].value;

		if (r->op == OP_keep) { /* ones of the dtype times a factor */
			double room = 0;

			dtype_put_double(r->dtype, &room, 0, x);
			x = dtype_get_double(r->dtype, &room, 0);
		}
		if (!(fabs(x - want) <= tolerance(r, want)))
			fail_msg("%s of %lld, %s, '%s': [%lld] is %.17g, not %.17g",
				 op_info(r->op)->id, (long long)r->n, dtype_name(r->dtype),
				 r->draws, (long long)r->some[i].at, x, want);
	}
	if (random.gpu.offset != r->offset)
		fail_msg("%s of %lld, %s, '%s': the offset is %llu, not %llu", op_info(r->op)->id,
			 (long long)r->n, dtype_name(r->dtype), r->draws,
			 (unsigned long long)random.gpu.offset, (unsigned long long)r->offset);
	backend->destroy(exe);
	help_free(out, (size_t)r->n * dtype_bytes(dtype));
	builder_destroy(&b);
}

static void draws_as_pytorch_on_a_gpu(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i], "interp");
}

/* Where there is no GPU, the CPU's generator draws, whatever the op asks for. */
static void draws_from_the_cpu_without_a_gpu(void **state)
{
	static const struct row asked = { OP_uniform, "gpu", DTYPE_F32, 100, 0, 1, 0, { { 0 } } },
				as_ever = { OP_uniform, "cpu", DTYPE_F32, 100, 0, 1, 0, { { 0 } } };
	const struct row *both[] = { &asked, &as_ever };
	float out[2][100 + HELP_SLACK];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct generators random = { .gpu.threads = 0 };
		struct backend_env env = { .cache_dir = shared_kernels(),
					   .compile_timeout_ms = 600000,
					   .random = &random };
		struct builder b = builder_create();
		void *to = out[i];
		const struct lowered *l;
		struct executable *exe;

		generators_seed(&random, 5);
		RETURN(&b, add(&b, both[i]));
		l = lower_passed(&b, false);
		exe = help_compile(backend_find("interp"), &env, l);
		help_run(backend_find("interp"), exe, l, NULL, NULL, &to, NULL);
		backend_find("interp")->destroy(exe);
		builder_destroy(&b);
	}
	assert_memory_equal(out[0], out[1], 100 * sizeof(float));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_as_pytorch_on_a_gpu),
		cmocka_unit_test(draws_from_the_cpu_without_a_gpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
