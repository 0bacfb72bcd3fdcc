/* tests/test_backends_epilogue.c -- what is computed after a product of matrices, block
 * by block: the bits are those of one kernel an op, on both backends, with any number
 * of threads.
 */
#include "tests/backends_help.h"

enum { MOST_INPUTS = 8, MOST_OUTPUTS = 3 };

/* A program, and what it is run on. */
struct program {
	struct builder b;
	int n_inputs, n_outputs;
	int64_t numel[MOST_INPUTS];
	enum dtype dtype[MOST_INPUTS];
};

static int input(struct program *p, enum dtype dtype, int rank, const int64_t *size)
{
	struct shape shape = { .rank = rank };
	int64_t numel = 1;

	for (int d = 0; d < rank; d++) {
		shape.size[d] = NUM(&p->b, size[d]);
		numel *= size[d];
	}
	p->numel[p->n_inputs] = numel;
	p->dtype[p->n_inputs++] = dtype;
	return graph_input(p->b.g, dtype, &shape, NULL);
}
#define IN(p, dtype, ...)                                                                          \
	input(p, dtype, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),               \
	      (int64_t[]){ __VA_ARGS__ })

typedef void build_fn(struct program *p, unsigned trial);

struct results {
	unsigned char *out[MOST_OUTPUTS];
	size_t bytes[MOST_OUTPUTS];
	int n;
};

/* A lowered program with its inputs. */
struct ready {
	struct program p;
	const struct lowered *l;
	const void *inputs[MOST_INPUTS];
};

static struct ready prepare(build_fn *build, unsigned trial, bool no_fusion)
{
	struct ready r = { .p = { .b = builder_create() } };

	build(&r.p, trial);
	r.l = lower_passed(&r.p.b, no_fusion);
	for (int i = 0; i < r.p.n_inputs; i++) {
		void *x = help_alloc((size_t)r.p.numel[i] * dtype_bytes(r.p.dtype[i]));

		for (int64_t j = 0; j < r.p.numel[i]; j++)
			dtype_put_double(r.p.dtype[i], x, j, (double)ref_sample(j * 7 + 31 * i));
		r.inputs[i] = x;
	}
	return r;
}

static void finish(struct ready *r)
{
	for (int i = 0; i < r->p.n_inputs; i++)
		help_free((void *)(uintptr_t)r->inputs[i],
			  (size_t)r->p.numel[i] * dtype_bytes(r->p.dtype[i]));
	builder_destroy(&r->p.b);
}

static struct results run(const char *name, const struct ready *r, struct executable *exe,
			  struct pool *pool)
{
	struct results out = { .n = r->l->n_outputs };

	for (int i = 0; i < out.n; i++) {
		const struct buffer *to = &r->l->buffers[r->l->outputs[i]];

		out.bytes[i] = (size_t)sym_eval(to->numel, r->p.b.vars) * dtype_bytes(to->dtype);
		out.out[i] = calloc(out.bytes[i] + 64, 1);
	}
	help_run(backend_find(name), exe, r->l, r->p.b.vars, r->inputs, (void *const *)out.out,
		 pool);
	return out;
}

static void drop(struct results *r)
{
	for (int i = 0; i < r->n; i++)
		free(r->out[i]);
}

static void compare(const char *name, const struct ready *r, const struct results *want,
		    unsigned trial)
{
	struct backend_env env = { .cache_dir = shared_kernels(), .compile_timeout_ms = 600000 };
	struct executable *exe = help_compile(backend_find(name), &env, r->l);

	for (int threads = 1; threads <= 5; threads += 2) {
		struct pool *pool = pool_create(threads);
		struct results got = run(name, r, exe, pool);

		for (int i = 0; i < want->n; i++)
			if (memcmp(got.out[i], want->out[i], want->bytes[i]) != 0)
				fail_msg("trial %u, %s, %d threads: output %d differs", trial, name,
					 threads, i);
		drop(&got);
		pool_destroy(pool);
	}
	backend_find(name)->destroy(exe);
}

/* Fused, on both backends and with 1 to 5 threads, against one kernel an op. */
static void check(build_fn *build, unsigned trial, int kernels)
{
	struct ready apart = prepare(build, trial, true), fused = prepare(build, trial, false);
	struct backend_env env = { 0 };
	struct executable *exe = help_compile(backend_find("interp"), &env, apart.l);
	struct results want = run("interp", &apart, exe, NULL);

	if (kernels > 0)
		assert_int_equal(fused.l->n_kernels, kernels);
	compare("interp", &fused, &want, trial);
	compare("cpu", &fused, &want, trial);
	drop(&want);
	backend_find("interp")->destroy(exe);
	finish(&apart);
	finish(&fused);
}

/* Sizes of rows, summed and columns: below and past blocks, even and odd. */
static const int64_t sizes[][3] = {
	{ 1, 8, 16 },     { 5, 3, 7 },     { 64, 32, 64 },  { 33, 17, 65 },
	{ 64, 256, 128 }, { 100, 40, 31 }, { 13, 300, 48 }, { 260, 24, 100 },
	{ 40, 16, 560 },  { 1, 64, 1 },    { 96, 32, 1 },
};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void build_linear(struct program *p, unsigned trial)
{
	const int64_t *s = sizes[trial % SIZES];
	int x = IN(p, DTYPE_F32, s[0], s[1]), w = IN(p, DTYPE_F32, s[2], s[1]);
	int bias = IN(p, DTYPE_F32, s[2]), rest = IN(p, DTYPE_F32, s[0], s[2]);
	int y = ADD(&p->b, OP_linear, T(x), T(w), T(bias));

	y = ADD(&p->b, OP_gelu, T(y), arg_str("none"));
	RETURN(&p->b, ADD(&p->b, OP_add, T(rest), T(y)));
}

static void bias_activation_and_residual_are_one_kernel(void **state)
{
	(void)state;
	for (unsigned trial = 0; trial < SIZES; trial++)
		check(build_linear, trial, 1);
}

static void build_cast(struct program *p, unsigned trial)
{
	const int64_t *s = sizes[trial % SIZES];
	int x = IN(p, DTYPE_BF16, s[0], s[1]), w = IN(p, DTYPE_BF16, s[1], s[2]);
	int y = ADD(&p->b, OP_matmul, T(x), T(w));

	y = ADD(&p->b, OP_mul, T(y), F(0.125));
	RETURN(&p->b, ADD(&p->b, OP_to, T(ADD(&p->b, OP_silu, T(y))), arg_dtype(DTYPE_F32)));
}

static void scale_and_cast_are_in_the_kernel_of_the_product(void **state)
{
	(void)state;
	for (unsigned trial = 0; trial < SIZES; trial++)
		check(build_cast, trial, 1);
}

static void build_scores(struct program *p, unsigned trial)
{
	const int64_t heads = 1 + trial % 3 * 24, n = 17 + 16 * (trial % 5);
	int q = IN(p, DTYPE_F32, heads, n, 8), k = IN(p, DTYPE_F32, heads, n, 8);
	int y = ADD(&p->b, OP_matmul, T(q),
		    T(ADD(&p->b, OP_transpose, T(k), I(&p->b, 1), I(&p->b, 2))));

	y = ADD(&p->b, OP_mul, T(y), F(0.25));
	/* A softmax whose sum is of whole numbers, which no order of adding changes. */
	y = ADD(&p->b, OP_sub, T(y), T(ADD(&p->b, OP_amax, T(y), DIM(&p->b, 2), arg_bool(true))));
	y = ADD(&p->b, OP_floor, T(ADD(&p->b, OP_mul, T(ADD(&p->b, OP_exp, T(y))), F(1024))));
	RETURN(&p->b, ADD(&p->b, OP_truediv, T(y),
			  T(ADD(&p->b, OP_sum, T(y), DIM(&p->b, 2), arg_bool(true)))));
}

static void softmax_of_scores(void **state)
{
	(void)state;
	for (unsigned trial = 0; trial < 15; trial++)
		check(build_scores, trial, trial % 3 == 0 ? 2 : 1);
}

static void build_conv(struct program *p, unsigned trial)
{
	int64_t in = 1 + trial % 4, out = 3 + 15 * (trial % 3), edge = 6 + 5 * (trial % 5);
	int pad = (int)(trial % 2);
	int x = IN(p, DTYPE_F32, 2, in, edge, edge), w = IN(p, DTYPE_F32, out, in, 3, 3);
	int bias = IN(p, DTYPE_F32, out);
	int y = ADD(&p->b, OP_conv2d, T(x), T(w), T(bias),
		    DIMS(&p->b, NUM(&p->b, 1), NUM(&p->b, 1)),
		    DIMS(&p->b, NUM(&p->b, pad), NUM(&p->b, pad)),
		    DIMS(&p->b, NUM(&p->b, 1), NUM(&p->b, 1)), I(&p->b, 1));

	RETURN(&p->b, ADD(&p->b, OP_relu, T(y)));
}

static void bias_and_relu_behind_a_convolution(void **state)
{
	(void)state;
	for (unsigned trial = 0; trial < 20; trial++)
		check(build_conv, trial, 1);
}

/* What others read too is stored: the product, and a value after it. */
static void build_stored(struct program *p, unsigned trial)
{
	const int64_t *s = sizes[trial % SIZES];
	int x = IN(p, DTYPE_F32, s[0], s[1]), w = IN(p, DTYPE_F32, s[1], s[2]);
	int y = ADD(&p->b, OP_matmul, T(x), T(w)), z = ADD(&p->b, OP_tanh, T(y));

	RETURN(&p->b, y, z, ADD(&p->b, OP_mul, T(z), T(ADD(&p->b, OP_add, T(y), F(1)))));
}

static void a_product_that_others_read_is_stored_as_it_is(void **state)
{
	(void)state;
	for (unsigned trial = 0; trial < SIZES; trial++)
		check(build_stored, trial, 1);
}

/* An operand of the product is the residual, and what the product reads is made by
 * another kernel. */
static void build_square(struct program *p, unsigned trial)
{
	int64_t n = 1 + 24 * (trial % 6);
	int x = IN(p, DTYPE_F32, n, n), y = ADD(&p->b, OP_sin, T(x));

	y = ADD(&p->b, OP_add, T(y), T(ADD(&p->b, OP_matmul, T(y), T(y))));
	RETURN(&p->b, ADD(&p->b, OP_add, T(y), T(ADD(&p->b, OP_matmul, T(x), T(y)))));
}

static void an_operand_may_be_the_residual(void **state)
{
	(void)state;
	for (unsigned trial = 0; trial < 6; trial++)
		check(build_square, trial, 3);
}

/* Any mix of pointwise ops, broadcasts, views and reductions after products. */
static void build_random(struct program *p, unsigned trial)
{
	static const enum op unary[] = { OP_sin, OP_relu, OP_exp, OP_sigmoid, OP_neg, OP_tanh };
	unsigned seed = trial;
	int64_t n = 1 + (int64_t)(rand_r(&seed) % 70), ids[32], count = 0;
	int x = IN(p, DTYPE_F32, n, n), row = IN(p, DTYPE_F32, n), column = IN(p, DTYPE_F32, n, 1);

	ids[count++] = x;
	ids[count++] = ADD(&p->b, OP_matmul, T(x), T(x));
	while (count < 14) {
		int a = (int)ids[(size_t)rand_r(&seed) % (size_t)count];
		int c = (int)ids[(size_t)rand_r(&seed) % (size_t)count], y;

		switch (rand_r(&seed) % 8) {
		case 0:
			y = ADD(&p->b, OP_tanh, T(ADD(&p->b, OP_matmul, T(a), T(c))));
			break;
		case 1:
			y = ADD(&p->b, OP_transpose, T(a), I(&p->b, 0), I(&p->b, 1));
			break;
		case 2:
			y = ADD(&p->b, OP_add, T(a), T(rand_r(&seed) % 2 ? row : column));
			break;
		case 3:
			y = ADD(&p->b, OP_amax, T(a), DIM(&p->b, (int)(rand_r(&seed) % 2)),
				arg_bool(true));
			y = ADD(&p->b, OP_sub, T(c), T(y));
			break;
		case 4:
			y = ADD(&p->b, OP_maximum, T(a), T(c));
			break;
		default:
			y = ADD(&p->b, unary[rand_r(&seed) % 6], T(ADD(&p->b, OP_sin, T(a))));
		}
		ids[count++] = y;
	}
	RETURN(&p->b, (int)ids[count - 1], (int)ids[count - 2], (int)ids[6]);
}

static void random_programs(void **state)
{
	(void)state;
	for (unsigned trial = 0; trial < 40; trial++)
		check(build_random, trial, 0);
}

static void the_report_says_what_is_behind(void **state)
{
	struct program p = { .b = builder_create() };
	const struct lowered *l;

	(void)state;
	build_linear(&p, 4);
	l = lower_passed(&p.b, false);
	assert_int_equal(l->n_kernels, 1);
	assert_non_null(strstr(l->kernels[0].name, "fused_matmul_nt_add_"));
	assert_string_equal(l->kernels[0].why,
			    "matmul_nt is a library call; the 7 ops after it are computed block by "
			    "block of its result, while that is in the cache");
	/* x, w, bias and rest; one result, and no memory between. */
	assert_int_equal(l->kernels[0].read_bytes, (64 * 256 + 128 * 256 + 128 + 64 * 128) * 4);
	assert_int_equal(l->kernels[0].written_bytes, 64 * 128 * 4);
	builder_destroy(&p.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bias_activation_and_residual_are_one_kernel),
		cmocka_unit_test(scale_and_cast_are_in_the_kernel_of_the_product),
		cmocka_unit_test(softmax_of_scores),
		cmocka_unit_test(bias_and_relu_behind_a_convolution),
		cmocka_unit_test(a_product_that_others_read_is_stored_as_it_is),
		cmocka_unit_test(an_operand_may_be_the_residual),
		cmocka_unit_test(random_programs),
		cmocka_unit_test(the_report_says_what_is_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
