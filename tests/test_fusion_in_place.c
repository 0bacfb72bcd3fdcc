/* tests/test_fusion_in_place.c -- in-place ops of compiled programs: where their results lie. */
#include "tests/engine.h"

enum { SIDE = 64, BYTES = SIDE * SIDE * 4, CALLS = 3, SEEN = CALLS * 81 };

static const enum fusion_mode modes[] = { FUSION_STATIC, FUSION_DYNAMIC, FUSION_GRAPHS };

static void needs_no_memory(enum fusion_mode mode)
{
	static const char source[] = "def model(x, g):\n    x.mul_(0.5).add_(g, alpha=0.1)\n";
	struct engine e = engine_open("interp", mode, source);
	struct allocator *a = fusion_allocator(e.f);
	struct value args[2] = { FLOATS(&e, 1, SIDE, SIDE), FLOATS(&e, 2, SIDE, SIDE) };
	double x = engine_at(args[0], 77), g = engine_at(args[1], 77);
	size_t used = allocator_used_bytes(a);

	for (int call = 0; call < 3; call++) {
		allocator_reset_peak(a);
		value_unref(engine_call(&e, args, 2));
		assert_true(allocator_peak_bytes(a) - used < BYTES);
		x = x * 0.5 + g * 0.1;
		engine_near(args[0], 77, x);
	}
	engine_drop(args, 2);
	engine_close(&e);
}

static void a_write_of_the_last_reader_needs_no_memory(void **state)
{
	(void)state;
	for (size_t m = 0; m < sizeof(modes) / sizeof(*modes); m++)
		needs_no_memory(modes[m]);
}

/* What a program writes to, when something else reads it too, in other orders, through
 * views, or twice. */
static const char *const programs[] = {
	"def model(x, y):\n    x.copy_(x.t() + y)\n    return x.sum()\n",
	"def model(x, y):\n    z = x.t() * 2\n    x.add_(y)\n    return z + x\n",
	"def model(x, y):\n    x.add_(y)\n    y.sub_(x)\n    return x * y\n",
	"def model(x, y):\n    v = x.view(-1)\n    v.mul_(3)\n    x.add_(v.flip(0).view(64, 64))\n",
	"def model(x, y):\n    x.sub_(x.mean(0))\n    x.div_(x.std() + y)\n",
	"def model(x, y):\n    x.add_(x @ y)\n    x.relu_()\n    return x[3]\n",
	"def model(x, y):\n    x[:32].add_(x[32:])\n    return y.zero_()\n",
};

/* `shared`: both arguments are one tensor. */
static void run(enum fusion_mode mode, const char *source, bool shared, double *seen)
{
	struct engine e = engine_open("interp", mode, source);
	struct value args[2] = { FLOATS(&e, 1, SIDE, SIDE), FLOATS(&e, 2, SIDE, SIDE) }, out;

	if (shared) {
		value_unref(args[1]);
		args[1] = value_ref(args[0]);
	}
	for (int call = 0; call < CALLS; call++) {
		out = engine_call(&e, args, 2);
		for (int i = 0; i < 40; i++) {
			*seen++ = engine_at(args[0], 101 * i);
			*seen++ = engine_at(args[1], 101 * i);
		}
		*seen++ = out.kind == VALUE_TENSOR ? engine_at(out, 0) : 0;
		value_unref(out);
	}
	engine_drop(args, 2);
	engine_close(&e);
}

static void what_is_written_in_place_is_what_eager_writes(void **state)
{
	(void)state;
	for (size_t p = 0; p < sizeof(programs) / sizeof(*programs); p++)
		for (int shared = 0; shared < 2; shared++)
			for (size_t m = 0; m < sizeof(modes) / sizeof(*modes); m++) {
				double eager[SEEN], ours[SEEN];

				run(FUSION_EAGER, programs[p], shared, eager);
				run(modes[m], programs[p], shared, ours);
				for (int i = 0; i < SEEN; i++)
					if (!(fabs(ours[i] - eager[i]) <=
					      1e-4 * (1 + fabs(eager[i]))))
						fail_msg(
						    "program %d, shared %d: %g at %d, and eager "
						    "has %g",
						    (int)p, shared, ours[i], i, eager[i]);
			}
}

/* An index out of bounds after a write: nothing was written. */
static void what_fails_has_written_nothing(void **state)
{
	static const char source[] = "import torch\n"
				     "def model(x, i):\n"
				     "    r = x[i]\n    x.mul_(2)\n    return r\n";
	struct engine e = engine_open("interp", FUSION_STATIC, source);
	struct value args[2] = { FLOATS(&e, 1, SIDE, SIDE),
				 engine_tensor(&e, DTYPE_I64, 1, (int64_t[]){ 1 }) };
	double x = engine_at(args[0], 5);

	(void)state;
	*(int64_t *)tensor_data(args[1].tensor->memory) = 3;
	value_unref(engine_call(&e, args, 2));
	engine_near(args[0], 5, 2 * x);
	*(int64_t *)tensor_data(args[1].tensor->memory) = SIDE;
	engine_fails(&e, args, 2);
	engine_near(args[0], 5, 2 * x);
	engine_drop(args, 2);
	engine_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_of_the_last_reader_needs_no_memory),
		cmocka_unit_test(what_is_written_in_place_is_what_eager_writes),
		cmocka_unit_test(what_fails_has_written_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
