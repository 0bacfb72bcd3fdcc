/* tests/test_fusion_streams.c -- several engines on one GPU, each with its stream; skipped
 * where there is none.  tests/cuda/sanitize.py --streams runs it under compute-sanitizer.
 *
 * A recurrence takes and frees memory at each step, and nobody waits between two calls: all
 * of them must give the bits that the first one gave, which ran alone.
 */
#include <pthread.h>

#include "tests/engine.h"

static const char recurrence[] =
    "import torch\n"
    "import torch.nn.functional as F\n"
    "def model(x, wx, wh):\n"
    "    h = c = torch.zeros(16, 32)\n"
    "    for t in range(8):\n"
    "        i, f, g, o = (F.linear(x[:, t], wx) + F.linear(h, wh)).chunk(4, 1)\n"
    "        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)\n"
    "        h = torch.sigmoid(o) * torch.tanh(c)\n"
    "    return h + torch.softmax(c, 1).cumsum(1)\n";

enum { ENGINES = 4, CALLS = 12, BYTES = 16 * 32 * sizeof(float) };

static const enum fusion_mode modes[ENGINES] = { FUSION_EAGER, FUSION_STATIC, FUSION_LAZY,
						 FUSION_GRAPHS };

/* An engine with its inputs, and what its first call gave. */
struct lane {
	int index; /* of its mode */
	struct engine engine;
	struct value args[3];
	float want[BYTES / sizeof(float)];
	struct value held[CALLS];
	int differ; /* calls whose bits are others */
};

static void lane_begin(struct lane *l, int index)
{
	struct err err = { 0 };
	struct value first;

	l->engine = engine_open("cuda", modes[index], recurrence);
	l->args[0] = FLOATS(&l->engine, index, 16, 8, 24);
	l->args[1] = FLOATS(&l->engine, index + 1, 128, 24);
	l->args[2] = FLOATS(&l->engine, index + 2, 128, 32);
	first = engine_call(&l->engine, l->args, 3);
	assert_true(fusion_wait(l->engine.f, &err));
	memcpy(l->want, tensor_read(first.tensor->memory), BYTES);
	value_unref(first);
}

static void lane_look(struct lane *l)
{
	for (int i = 0; i < CALLS; i++)
		l->differ += memcmp(tensor_read(l->held[i].tensor->memory), l->want, BYTES) != 0;
	engine_drop(l->held, CALLS);
}

static void lane_end(struct lane *l)
{
	engine_drop(l->args, 3);
	engine_close(&l->engine);
}

/* Results are held and let go by turns: memory that is let go is taken by what follows. */
static void call(struct lane *l, int i)
{
	value_unref(engine_call(&l->engine, l->args, 3));
	l->held[i] = engine_call(&l->engine, l->args, 3);
}

static void calls_of_engines_by_turns_give_the_same_bits(void **state)
{
	static struct lane lanes[ENGINES];

	(void)state;
	if (!engine_has("cuda"))
		skip();
	for (int e = 0; e < ENGINES; e++)
		lane_begin(&lanes[e], e);
	for (int i = 0; i < CALLS; i++)
		for (int e = 0; e < ENGINES; e++)
			call(&lanes[e], i);
	for (int e = 0; e < ENGINES; e++) {
		lane_look(&lanes[e]);
		assert_int_equal(lanes[e].differ, 0);
		lane_end(&lanes[e]);
	}
}

/* The whole of an engine's life: it belongs to its thread. */
static void *live(void *self)
{
	struct lane *l = self;

	lane_begin(l, l->index);
	for (int i = 0; i < CALLS; i++)
		call(l, i);
	lane_look(l);
	lane_end(l);
	return NULL;
}

static void engines_of_several_threads_give_the_same_bits(void **state)
{
	static struct lane lanes[ENGINES];
	pthread_t threads[ENGINES];

	(void)state;
	if (!engine_has("cuda"))
		skip();
	for (int e = 0; e < ENGINES; e++) {
		lanes[e].index = e;
		assert_int_equal(pthread_create(&threads[e], NULL, live, &lanes[e]), 0);
	}
	for (int e = 0; e < ENGINES; e++)
		assert_int_equal(pthread_join(threads[e], NULL), 0);
	for (int e = 0; e < ENGINES; e++)
		assert_int_equal(lanes[e].differ, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_engines_by_turns_give_the_same_bits),
		cmocka_unit_test(engines_of_several_threads_give_the_same_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
