/* tests/test_fusion_replay.c -- mode graphs: what is looked at again before a replay.
 *
 * Guards are left out while nothing has changed; here something has, each time
 * something else, and the values are those of the numbers computed here.
 */
#include <math.h>

#include "tests/engine.h"

static const char CHAIN[] = "import torch\n"
			    "def model(x):\n"
			    "    y = torch.sin(x + 0.1) * 2\n"
			    "    return y\n";

static struct fusion_recording recording(const struct engine *e, int graph)
{
	assert_true(graph < fusion_counts(e->session).n_graphs);
	return fusion_graph(e->session, graph).recording;
}

static void another_size_is_another_recording(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS, CHAIN);
	struct value x[2] = { FLOATS(&e, 0, 4), FLOATS(&e, 1, 5) };

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct value y = engine_call(&e, &x[i % 3 == 2], 1);

		engine_near(y, 3, 2 * sin(engine_at(x[i % 3 == 2], 3) + 0.1));
		value_unref(y);
	}
	assert_int_equal(fusion_counts(e.session).n_graphs, 2);
	assert_null(recording(&e, 0).because);
	assert_string_equal(recording(&e, 1).because, "x.size(0) is 5, was 4");
	assert_int_equal(recording(&e, 0).replays + recording(&e, 1).replays, 8);
	engine_drop(x, 2);
	engine_close(&e);
}

/* Other memory is pointed at; the recording stays. */
static void other_tensors_are_pointed_at(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS, CHAIN);
	struct value x[3] = { FLOATS(&e, 0, 4), FLOATS(&e, 1, 4), FLOATS(&e, 2, 4) };

	(void)state;
	for (int i = 0; i < 9; i++) {
		struct value y = engine_call(&e, &x[i * 7 % 3], 1);

		engine_near(y, 1, 2 * sin(engine_at(x[i * 7 % 3], 1) + 0.1));
		value_unref(y);
	}
	assert_int_equal(fusion_counts(e.session).n_graphs, 1);
	assert_true(recording(&e, 0).pointed >= 9);
	engine_drop(x, 3);
	engine_close(&e);
}

/* Two arguments that are one tensor, then two, then one: written in place. */
static void aliases_are_seen(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS,
				      "import torch\n"
				      "def model(x, y):\n"
				      "    x.add_(1)\n"
				      "    return y * 2\n");
	struct value a = FLOATS(&e, 0, 4), b = FLOATS(&e, 1, 4);

	(void)state;
	for (int i = 0; i < 12; i++) {
		bool one = i / 2 % 2;
		struct value args[2] = { a, one ? a : b }, out;
		double x = engine_at(a, 2), y = engine_at(b, 2);

		out = engine_call(&e, args, 2);
		engine_near(a, 2, x + 1);
		engine_near(out, 2, one ? 2 * (x + 1) : 2 * y);
		value_unref(out);
	}
	value_unref(a);
	value_unref(b);
	engine_close(&e);
}

static void numbers_of_the_call_are_checked(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS,
				      "import torch\n"
				      "def model(x, n, s):\n"
				      "    return (x if n > 2 else -x) * s\n");
	struct value x = FLOATS(&e, 0, 4);

	(void)state;
	for (int i = 0; i < 10; i++) {
		double s = i / 5 + 1;
		struct value args[3] = { x, value_int(i % 5), value_float(s) }, out;

		out = engine_call(&e, args, 3);
		engine_near(out, 0, engine_at(x, 0) * (i % 5 > 2 ? s : -s));
		value_unref(out);
	}
	value_unref(x);
	engine_close(&e);
}

/* The function itself changes what its guards look at. */
static void globals_that_change_are_seen(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS,
				      "import torch\n"
				      "state = {'last': 0}\n"
				      "def model(x, n):\n"
				      "    before = state['last']\n"
				      "    state['last'] = n\n"
				      "    return x + before\n");
	struct value x = FLOATS(&e, 0, 4);
	int before = 0;

	(void)state;
	for (int i = 0; i < 32; i++) { /* 0 after 0, 1 after 0, 1 after 1, 0 after 1, again */
		struct value args[2] = { x, value_int(i / 4 % 2) }, y = engine_call(&e, args, 2);

		engine_near(y, 0, engine_at(x, 0) + before);
		before = i / 4 % 2;
		value_unref(y);
	}
	assert_int_equal(recording(&e, 1).left_out, 0); /* 1 after 0 */
	assert_string_equal(recording(&e, 1).why_guards, "it changes objects of the program");
	assert_true(recording(&e, 0).left_out > 0); /* 0 after 0 is as before */
	value_unref(x);
	engine_close(&e);
}

/* One call in three changes the module by way of what runs in eager. */
static void a_module_that_changes_is_seen(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS,
				      "import torch\n"
				      "class Model(torch.nn.Module):\n"
				      "    def __init__(self):\n"
				      "        super().__init__()\n"
				      "        self.scale = 2\n"
				      "    def forward(self, x, change):\n"
				      "        if change:\n"
				      "            torch._dynamo.graph_break()\n"
				      "            self.scale += 1\n"
				      "        return x * self.scale\n"
				      "model = Model()\n");
	struct value x = FLOATS(&e, 0, 4);
	double scale = 2;

	(void)state;
	for (int i = 0; i < 12; i++) {
		struct value args[2] = { x, value_bool(i % 3 == 2) }, y;

		scale += i % 3 == 2;
		y = engine_call(&e, args, 2);
		engine_near(y, 1, engine_at(x, 1) * scale);
		value_unref(y);
	}
	value_unref(x);
	engine_close(&e);
}

static const char LAYER[] =
    "import torch\n"
    "class Model(torch.nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.w = torch.nn.Parameter(torch.ones(3), requires_grad=False)\n"
    "    def forward(self, x, get):\n"
    "        return (self.w, x + 1) if get else x * self.w\n"
    "model = Model()\n";

static void parameters_that_are_set_are_seen(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS, LAYER);
	struct value x = FLOATS(&e, 0, 3), w = engine_tensor(&e, DTYPE_F32, 1, (int64_t[]){ 3 });
	struct value args[2] = { x, value_bool(false) };

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct value y;

		for (int k = 0; k < 3; k++)
			((float *)tensor_data(w.tensor->memory))[k] = (float)(i / 2 + k);
		assert_true(fusion_set_parameter(e.session, "w", w.tensor->memory, NULL));
		y = engine_call(&e, args, 2);
		engine_near(y, 2, engine_at(x, 2) * (i / 2 + 2));
		value_unref(y);
	}
	value_unref(x);
	value_unref(w);
	engine_close(&e);
}

/* A parameter that was handed out gets other memory in another session. */
static void other_sessions_that_change_objects_are_seen(void **state)
{
	static const char OTHER[] = "import torch\n"
				    "def model(w, x):\n"
				    "    w.data = x\n"
				    "    return x\n";
	struct engine e = engine_open("interp", FUSION_GRAPHS, LAYER);
	struct fusion_program *program = fusion_parse(OTHER, strlen(OTHER), "model", NULL);
	struct fusion_session *other = fusion_session(e.f, program, FUSION_EAGER, NULL);
	struct value x = FLOATS(&e, 0, 3), args[2] = { x, value_bool(true) }, w, out;

	(void)state;
	out = engine_call(&e, args, 2);
	w = value_ref(out.list->at[0]);
	value_unref(out);
	args[1] = value_bool(false);
	for (int i = 0; i < 6; i++) {
		struct value set[2] = { w, FLOATS(&e, i + 10, 3) };

		if (i % 2 == 0) {
			assert_true(fusion_call(other, set, 2, &out, NULL));
			value_unref(out);
		}
		for (int k = 0; k < 3; k++) {
			out = engine_call(&e, args, 2);
			engine_near(out, 1, engine_at(x, 1) * engine_at(w, 1));
			value_unref(out);
		}
		value_unref(set[1]);
	}
	assert_true(recording(&e, fusion_counts(e.session).n_graphs - 1).left_out > 6);
	value_unref(w);
	value_unref(x);
	fusion_session_destroy(other);
	fusion_program_destroy(program);
	engine_close(&e);
}

static void the_grad_mode_is_seen(void **state)
{
	struct fusion_options options = { .backend = "interp", .threads = 1, .grad = true };
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct value x;

	(void)state;
	e.program = fusion_parse(CHAIN, strlen(CHAIN), "model", NULL);
	e.session = fusion_session(e.f, e.program, FUSION_GRAPHS, NULL);
	x = FLOATS(&e, 0, 3);
	for (int i = 0; i < 6; i++) {
		struct value y;

		if (i == 3)
			assert_true(fusion_require_grad(e.session, x, NULL));
		y = engine_call(&e, &x, 1);
		engine_near(y, 1, 2 * sin(engine_at(x, 1) + 0.1));
		if (i >= 3) {
			fusion_drop_grad(x);
			assert_true(fusion_backward(e.session, y, NULL));
			engine_near(fusion_grad(x), 1, 2 * cos(engine_at(x, 1) + 0.1));
		} else {
			assert_null(y.tensor->grad);
		}
		value_unref(y);
	}
	assert_int_equal(fusion_counts(e.session).n_graphs, 2);
	assert_string_equal(recording(&e, 1).why_guards,
			    "gradients are recorded, which may change what is guarded");
	assert_int_equal(fusion_graph(e.session, 1).backward.replays, 3);
	value_unref(x);
	engine_close(&e);
}

/* Whoever has a tensor may drop its gradient: no session is asked for it. */
static void gradients_that_are_dropped_are_seen(void **state)
{
	struct fusion_options options = { .backend = "interp", .threads = 1, .grad = true };
	static const char SOURCE[] = "import torch\n"
				     "w = torch.ones(3, requires_grad=True)\n"
				     "def model(x, what):\n"
				     "    if what == 0:\n"
				     "        return w\n"
				     "    if what == 1:\n"
				     "        return (x * w).sum()\n"
				     "    with torch.no_grad():\n"
				     "        return x + 1 if w.grad is None else x - w.grad\n";
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct value args[2], w, out;

	(void)state;
	e.program = fusion_parse(SOURCE, strlen(SOURCE), "model", NULL);
	e.session = fusion_session(e.f, e.program, FUSION_GRAPHS, NULL);
	args[0] = FLOATS(&e, 0, 3);
	args[1] = value_int(0);
	w = engine_call(&e, args, 2);
	for (int i = 0; i < 9; i++) {
		bool given = i % 3 == 1;

		if (given) {
			args[1] = value_int(1);
			out = engine_call(&e, args, 2);
			assert_true(fusion_backward(e.session, out, NULL));
			value_unref(out);
		}
		args[1] = value_int(2);
		for (int k = 0; k < 4; k++) {
			if (k == 3)
				fusion_drop_grad(w);
			out = engine_call(&e, args, 2);
			engine_near(out, 1, given && k < 3 ? 0 : engine_at(args[0], 1) + 1);
			value_unref(out);
		}
	}
	value_unref(w);
	value_unref(args[0]);
	engine_close(&e);
}

static void guards_of_objects_are_left_out(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS, LAYER);
	struct value args[2] = { FLOATS(&e, 0, 3), value_bool(false) };
	int64_t checks = 0, launches = 0;

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct value y = engine_call(&e, args, 2);

		if (i == 1)
			launches = fusion_counts(e.session).launches;
		if (i == 1)
			checks = fusion_counts(e.session).guard_checks;
		value_unref(y);
	}
	assert_int_equal(fusion_counts(e.session).guard_checks, checks);
	assert_true(recording(&e, 0).left_out >= 8);
	assert_int_equal(fusion_counts(e.session).launches - launches, 8);
	value_unref(args[0]);
	engine_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_size_is_another_recording),
		cmocka_unit_test(other_tensors_are_pointed_at),
		cmocka_unit_test(aliases_are_seen),
		cmocka_unit_test(numbers_of_the_call_are_checked),
		cmocka_unit_test(globals_that_change_are_seen),
		cmocka_unit_test(a_module_that_changes_is_seen),
		cmocka_unit_test(parameters_that_are_set_are_seen),
		cmocka_unit_test(other_sessions_that_change_objects_are_seen),
		cmocka_unit_test(the_grad_mode_is_seen),
		cmocka_unit_test(gradients_that_are_dropped_are_seen),
		cmocka_unit_test(guards_of_objects_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
