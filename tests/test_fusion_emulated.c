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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_on_the_device_is_compared_there),
		cmocka_unit_test(what_cannot_be_compared_there_is_not_said_to_be_the_same),
		cmocka_unit_test(a_graph_follows_what_moves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
