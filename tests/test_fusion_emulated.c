/* tests/test_fusion_emulated.c -- backend cuda on a GPU whose kernels run on the host. */
#include "fusion/tensor/view.h"
#include "tests/cuda_emulated.h"

static const char SOURCE[] = "def model(x, y):\n    return x + y\n";

/* A tensor of bytes that lies on the device alone. */
static struct tensor *bytes_on(struct engine *e, int64_t n)
{
	struct err err = { 0 };
	struct tensor *t = tensor_create(fusion_allocator(e->f), DTYPE_U8, 1, &n, &err);
	unsigned char *data;

	assert_non_null(t);
	data = tensor_data(t);
	for (int64_t i = 0; i < n; i++)
		data[i] = (unsigned char)(i * 7 + i / 251);
	tensor_kernel_reads(t);
	return t;
}

static void change(struct tensor *t, int64_t at)
{
	((unsigned char *)tensor_data(t))[at] ^= 1;
}

/* Of whole words, and with a rest: each byte counts. */
static void what_lies_on_the_device_is_compared_there(void **state)
{
	struct engine e;

	(void)state;
	emulate();
	e = engine_open("cuda", FUSION_EAGER, SOURCE);
	for (int rest = 0; rest < 4; rest += 3) {
		const int64_t n = TENSOR_LARGE_BYTES + 4096 + rest;
		const int64_t places[] = { 0, n / 2, n - 4, n - 1 };
		struct tensor *a = bytes_on(&e, n), *b = bytes_on(&e, n);

		assert_true(tensor_same_on_device(a, b));
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
			change(b, places[i]);
			assert_false(tensor_same_on_device(a, b));
			change(b, places[i]);
			assert_true(tensor_same_on_device(a, b));
		}
		tensor_unref(a);
		tensor_unref(b);
	}
	engine_close(&e);
}

/* What is not compared there is no more than unknown: of another size, small, with gaps, at an
 * odd address, or the host's. */
static void what_cannot_be_compared_there_is_not_said_to_be_the_same(void **state)
{
	const int64_t n = TENSOR_LARGE_BYTES + 64;
	struct tensor *a, *b, *view;
	struct engine e;

	(void)state;
	emulate();
	e = engine_open("cuda", FUSION_EAGER, SOURCE);
	a = bytes_on(&e, 2 * n);
	b = bytes_on(&e, n);
	assert_false(tensor_same_on_device(a, b));
	view = tensor_view(a, 1, &n, (int64_t[]){ 2 }, 0, NULL);
	assert_false(tensor_same_on_device(view, b));
	tensor_unref(view);
	view = tensor_view(a, 1, &n, (int64_t[]){ 1 }, 1, NULL);
	assert_false(tensor_same_on_device(view, b));
	tensor_unref(view);
	view = tensor_view(a, 1, &n, (int64_t[]){ 1 }, 0, NULL);
	assert_true(tensor_same_on_device(view, b));
	tensor_unref(view);
	tensor_unref(a);
	tensor_unref(b);
	a = bytes_on(&e, 64);
	assert_false(tensor_same_on_device(a, a));
	tensor_unref(a);
	engine_close(&e);
}

/* ---- a graph whose memory moves */

static const char WRITES[] = "import torch\n"
			     "def model(x, y):\n"
			     "    x.mul_(0.5).add_(y)\n"
			     "    return torch.softmax(x @ y, 1).sum(0)\n";

enum { SIDE = 40, CALLS = 6 };

static struct value filled(struct engine *e, double from)
{
	return FLOATS(e, from, SIDE, SIDE);
}

/* Calls over two sets of tensors in turn, the results of some held: outputs move too. */
static void calls_in_turn(const char *backend, enum fusion_mode mode, double *seen)
{
	struct engine e = engine_open(backend, mode, WRITES);
	struct value x[2] = { filled(&e, 1), filled(&e, 2) }, y = filled(&e, 3), held[CALLS];

	for (int i = 0; i < CALLS; i++) {
		struct value args[] = { x[i / 2 % 2], y };

		held[i] = engine_call(&e, args, 2);
		if (i % 3 == 2) {
			value_unref(held[i]);
			held[i] = value_ref(held[i - 1]);
		}
	}
	for (int i = 0; i < CALLS; i++)
		*seen++ = engine_at(held[i], 7);
	*seen++ = engine_at(x[0], 123);
	*seen++ = engine_at(x[1], 123);
	if (mode == FUSION_GRAPHS) {
		struct fusion_recording r = fusion_graph(e.session, 0).recording;

		assert_int_equal(r.made, 1);
		assert_int_equal(r.direct, 0);
		assert_int_equal(r.replays, CALLS);
	}
	engine_drop(held, CALLS);
	engine_drop(x, 2);
	value_unref(y);
	engine_close(&e);
}

static void a_graph_follows_what_moves(void **state)
{
	double want[CALLS + 2], have[CALLS + 2];

	(void)state;
	emulate();
	calls_in_turn("interp", FUSION_EAGER, want);
	calls_in_turn("cuda", FUSION_GRAPHS, have);
	for (int i = 0; i < CALLS + 2; i++)
		if (!(fabs(have[i] - want[i]) <= 1e-4 * (1 + fabs(want[i]))))
			fail_msg("%d: %g, and eager has %g", i, have[i], want[i]);
}

/* ---- ways of a product */

static const char LINEAR[] = "import torch.nn.functional as F\n"
			     "def model(x, w, b):\n"
			     "    return F.linear(x, w, b)\n";
static const char PRODUCT[] = "def model(x, w, b):\n"
			      "    return x @ w.t()\n";

enum { ROWS = 128, TERMS = 64, ELEMENTS = ROWS * ROWS };

/* Another program and session of the same engine, which is what remembers ways. */
static struct engine beside(struct fusion *f, enum fusion_mode mode, const char *source)
{
	struct err err = { 0 };
	struct engine e = { .f = f };

	e.program = fusion_parse(source, strlen(source), "model", &err);
	if (e.program)
		e.session = fusion_session(f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%s", err.message);
	return e;
}

static void product_of(struct engine *e, double out[ELEMENTS])
{
	struct value of[] = { FLOATS(e, 1, ROWS, TERMS), FLOATS(e, 2, ROWS, TERMS),
			      engine_tensor(e, DTYPE_F32, 1, (int64_t[]){ ROWS }) };
	struct value got;

	memset(tensor_data(of[2].tensor->memory), 0, ROWS * sizeof(float));
	got = engine_call(e, of, 3);
	for (int i = 0; i < ELEMENTS; i++)
		out[i] = engine_at(got, i);
	value_unref(got);
	engine_drop(of, 3);
}

/* cuBLASLt has ways that add in another order, and the fastest is looked for: all products of a
 * shape take one that gives the bits of its first. */
static void products_of_a_shape_have_the_same_bits(void **state)
{
	static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_DYNAMIC };
	static double first[ELEMENTS], out[ELEMENTS];
	const char *sources[] = { LINEAR, PRODUCT };
	struct engine e = { 0 };

	(void)state;
	emulate();
	e = engine_open("cuda", FUSION_EAGER, LINEAR);
	product_of(&e, first);
	for (int i = 1; i < 6; i++) {
		struct engine other = beside(e.f, modes[i / 2], sources[i % 2]);

		product_of(&other, out);
		for (int at = 0; at < ELEMENTS; at++)
			if (out[at] != first[at])
				fail_msg("mode %d, %s: element %d is %.9g, was %.9g", i / 2,
					 i % 2 ? "alone" : "biased", at, out[at], first[at]);
		fusion_session_destroy(other.session);
		fusion_program_destroy(other.program);
	}
	engine_close(&e);
}

/* ---- dropout */

static const char DROPS[] = "import torch\n"
			    "import torch.nn.functional as F\n"
			    "def model(x):\n"
			    "    torch.manual_seed(7)\n"
			    "    y = F.dropout(x, 0.5)\n"
			    "    F.dropout(x, 0.25, inplace=True)\n"
			    "    return x + y\n";

/* In eager a dropout is one kernel, in place too; in a graph its product goes with the sum.  Both
 * draw the same numbers. */
static void a_dropout_by_itself_is_one_kernel(void **state)
{
	double eager[SIDE * SIDE];

	(void)state;
	emulate();
	for (int mode = FUSION_EAGER; mode <= FUSION_STATIC; mode++) {
		struct engine e = engine_open("cuda", (enum fusion_mode)mode, DROPS);
		struct value x = filled(&e, 1), out = engine_call(&e, &x, 1);
		int dropped = 0;

		assert_int_equal(fusion_counts(e.session).launches, 3);
		for (int i = 0; i < SIDE * SIDE; i++) {
			dropped += engine_at(x, i) == 0;
			if (mode == FUSION_EAGER)
				eager[i] = engine_at(out, i);
			else
				assert_true(engine_at(out, i) == eager[i]);
		}
		assert_in_range(dropped, SIDE * SIDE / 6, SIDE * SIDE / 3);
		value_unref(out);
		value_unref(x);
		engine_close(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_on_the_device_is_compared_there),
		cmocka_unit_test(what_cannot_be_compared_there_is_not_said_to_be_the_same),
		cmocka_unit_test(a_graph_follows_what_moves),
		cmocka_unit_test(products_of_a_shape_have_the_same_bits),
		cmocka_unit_test(a_dropout_by_itself_is_one_kernel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
