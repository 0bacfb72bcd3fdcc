/* fusion/backends/library_random.c -- rand, randn, randint, randperm from the run's generator.
 *
 * From the CPU's generator numbers are drawn one after the other, as PyTorch draws them
 * there, so they do not depend on threads; from a GPU's see draw.h.
 */
#include <math.h>

#include "fusion/backends/draw.h"
#include "fusion/base/generators.h"

/* As many bits as the dtype's significand has. */
static double uniform(struct twister *g, enum dtype dtype)
{
	switch (dtype) {
	case DTYPE_F64:
		return (double)(twister_next64(g) & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
	case DTYPE_F16:
		return (double)(twister_next(g) & 0x7ff) * 0x1p-11;
	case DTYPE_BF16:
		return (double)(twister_next(g) & 0xff) * 0x1p-8;
	default:
		return (double)(twister_next(g) & 0xffffff) * 0x1p-24;
	}
}

static bool is_set(const struct library_call *call, const char *name)
{
	const struct arg *arg = node_arg(call->node, name);

	return arg && arg->kind == ARG_BOOL && arg->b;
}

static void draw_numbers(struct twister *g, enum dtype dtype, void *out, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		dtype_put_double(dtype, out, i, uniform(g, dtype));
}

static double rounded(enum dtype dtype, double x)
{
	double room = 0;

	dtype_put_double(dtype, &room, 0, x);
	return dtype_get_double(dtype, &room, 0);
}

/* Box and Muller, in place on 16 uniform numbers. */
static void make_normal(enum dtype dtype, void *out, int64_t first)
{
	for (int64_t j = first; j < first + 8; j++) {
		double radius = sqrt(-2 * log(1 - dtype_get_double(dtype, out, j)));
		double angle = 2 * M_PI * dtype_get_double(dtype, out, j + 8);

		if (dtype == DTYPE_F16 || dtype == DTYPE_BF16) { /* torch rounds both */
			radius = rounded(dtype, radius);
			angle = rounded(dtype, angle);
		}
		dtype_put_double(dtype, out, j, radius * cos(angle));
		dtype_put_double(dtype, out, j + 8, radius * sin(angle));
	}
}

static void draw_uniform(struct twister *g, const struct library_call *call, void *out)
{
	draw_numbers(g, call->out.dtype, out, call->out.numel);
}

/* `each`: one by one, as PyTorch draws what does not lie in a row. */
static void draw_normal(struct twister *g, const struct library_call *call, void *out)
{
	enum dtype dtype = call->out.dtype;
	int64_t n = call->out.numel;

	if (n < 16 || is_set(call, "each")) {
		for (int64_t i = 0; i < n; i++)
			dtype_put_double(dtype, out, i, twister_normal(g));
		return;
	}
	draw_numbers(g, dtype, out, n);
	for (int64_t i = 0; i + 15 < n; i += 16)
		make_normal(dtype, out, i);
	if (n % 16 == 0)
		return;
	for (int64_t i = n - 16; i < n; i++) /* the last 16 again */
		dtype_put_double(dtype, out, i, uniform(g, dtype));
	make_normal(dtype, out, n - 16);
}

static void draw_ints(struct twister *g, const struct library_call *call, void *out)
{
	int64_t low = call->number[0];
	uint64_t range = (uint64_t)call->number[1] - (uint64_t)low;

	bool narrow = is_set(call, "narrow"); /* random_(): by the dtype, not the range */

	for (int64_t i = 0; i < call->out.numel; i++) {
		uint64_t x = (narrow ? range > UINT64_C(1) << 32 : range >= 1u << 28)
				 ? twister_next64(g)
				 : twister_next(g);

		dtype_put_int(call->out.dtype, out, i,
			      (int64_t)((uint64_t)low + (range ? x % range : 0)));
	}
}

/* Each place in turn is exchanged with one of those from it on (Fisher and Yates), as
 * torch's randperm_cpu() does below 2^32 / 20 elements. */
static void draw_order(struct twister *g, const struct library_call *call, void *out)
{
	enum dtype dtype = call->out.dtype;
	int64_t n = call->out.numel;

	for (int64_t i = 0; i < n; i++)
		dtype_put_int(dtype, out, i, i);
	for (int64_t i = 0; i < n - 1; i++) {
		int64_t other = i + (int64_t)(twister_next(g) % (uint64_t)(n - i));
		int64_t kept = dtype_get_int(dtype, out, i);

		dtype_put_int(dtype, out, i, dtype_get_int(dtype, out, other));
		dtype_put_int(dtype, out, other, kept);
	}
}

/* Kept where a number of 53 bits, as bernoulli_() draws it, is below 1 - p. */
static void draw_kept(struct twister *g, const struct library_call *call, void *out)
{
	double p = 1 - node_arg(call->node, "p")->f;

	for (int64_t i = 0; i < call->out.numel; i++)
		dtype_put_double(call->out.dtype, out, i, uniform(g, DTYPE_F64) < p ? 1 / p : 0);
}

static void run(const struct library_call *call, void *const *buffers,
		void (*draw_as_cpu)(struct twister *g, const struct library_call *call, void *out))
{
	void *out = operand_start(&call->out, buffers);
	struct generators own;
	struct draw d;

	if (draw_on_gpu(call) && call->node->op == OP_permutation) {
		draw_permutation(call->random, call->out.dtype, out, call->out.numel);
	} else if (draw_on_gpu(call)) {
		draw_plan(call, &d);
		draw_take(&d, call->random, out);
		draw_run(&d.args, call->out.dtype);
	} else if (call->random) {
		draw_as_cpu(&call->random->cpu, call, out);
	} else {
		generators_seed(&own, TWISTER_SEED);
		draw_as_cpu(&own.cpu, call, out);
	}
}

static void run_uniform(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	(void)pool;
	run(call, buffers, draw_uniform);
}

static void run_normal(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	(void)pool;
	run(call, buffers, draw_normal);
}

static void run_random_ints(const struct library_call *call, void *const *buffers,
			    struct pool *pool)
{
	(void)pool;
	run(call, buffers, draw_ints);
}

static void run_permutation(const struct library_call *call, void *const *buffers,
			    struct pool *pool)
{
	(void)pool;
	run(call, buffers, draw_order);
}

static void run_keep(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	(void)pool;
	run(call, buffers, draw_kept);
}

const struct library_op library_uniform = { NULL, run_uniform };
const struct library_op library_normal = { NULL, run_normal };
const struct library_op library_random_ints = { NULL, run_random_ints };
const struct library_op library_permutation = { NULL, run_permutation };
const struct library_op library_keep = { NULL, run_keep };
