/* tests/test_fusion_grad_mode.c -- no_grad(), set_grad_enabled() and what asks for them.
 *
 * No gradients are recorded; the grad mode is what is_grad_enabled() says, and
 * compiled versions are guarded by it, as torch's are.
 */
#include "tests/engine.h"

static const char everywhere[] = "import torch\n"
				 "@torch.no_grad()\n"
				 "def frozen(x):\n"
				 "    return x * 2, torch.is_grad_enabled()\n"
				 "@torch.no_grad()\n"
				 "def chatty(x):\n"
				 "    print('in', torch.is_grad_enabled())\n"
				 "    y = x + 1\n"
				 "    print('out', torch.is_grad_enabled())\n"
				 "    return y\n"
				 "def inner(x):\n"
				 "    print('inner', torch.is_grad_enabled())\n"
				 "    return x + 1\n"
				 "def fails(x):\n"
				 "    with torch.no_grad():\n"
				 "        print('fails')\n"
				 "        raise ValueError('no')\n"
				 "def model(x):\n"
				 "    assert torch.is_grad_enabled()\n"
				 "    with torch.no_grad():\n"
				 "        assert not torch.is_grad_enabled()\n"
				 "        x = inner(x)\n"
				 "        with torch.enable_grad():\n"
				 "            assert torch.is_grad_enabled()\n"
				 "            print('enabled', torch.is_grad_enabled())\n"
				 "        assert not torch.is_grad_enabled()\n"
				 "        x = x + 1\n"
				 "    assert torch.is_grad_enabled()\n"
				 "    y, mode = frozen(x)\n"
				 "    assert not mode and torch.is_grad_enabled()\n"
				 "    x = chatty(x)\n"
				 "    assert torch.is_grad_enabled()\n"
				 "    with torch.inference_mode():\n"
				 "        assert not torch.is_grad_enabled()\n"
				 "    try:\n"
				 "        fails(x)\n"
				 "    except ValueError:\n"
				 "        pass\n"
				 "    assert torch.is_grad_enabled()\n"
				 "    torch.set_grad_enabled(False)\n"
				 "    print(torch.is_grad_enabled())\n"
				 "    assert not torch.is_grad_enabled()\n"
				 "    torch.set_grad_enabled(True)\n"
				 "    for k in range(2):\n"
				 "        with torch.set_grad_enabled(k == 0):\n"
				 "            print(k, torch.is_grad_enabled())\n"
				 "    return x + y\n";

static void the_mode_is_right_in_every_mode(void **state)
{
	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = engine_open("interp", (enum fusion_mode)mode, everywhere);

		for (int64_t rows = 4; rows < 7; rows++) {
			struct value x = FLOATS(&e, 1, rows, 3), out;

			for (int i = 0; i < 2; i++) {
				out = engine_call(&e, &x, 1);
				engine_near(out, 0, 3 * engine_at(x, 0) + 7);
				value_unref(out);
			}
			value_unref(x);
		}
		engine_close(&e);
	}
}

/* As torch: one version with, one without. */
static void a_function_compiles_once_for_each_mode(void **state)
{
	struct engine e = engine_open("interp", FUSION_DYNAMIC,
				      "import torch\n"
				      "def f(x):\n"
				      "    print('f')\n"
				      "    return x * 2\n"
				      "def model(x):\n"
				      "    y = f(x)\n"
				      "    with torch.no_grad():\n"
				      "        z = f(x)\n"
				      "    return y + z\n");
	const char *want = "torch.is_grad_enabled() is False, was True";
	struct value x = FLOATS(&e, 1, 4, 3);
	int graphs;

	(void)state;
	value_unref(engine_call(&e, &x, 1));
	graphs = fusion_counts(e.session).n_graphs;
	assert_true(fusion_counts(e.session).n_recompiles >= 1);
	assert_string_equal(fusion_recompile(e.session, 0).reason, want);
	value_unref(engine_call(&e, &x, 1));
	assert_int_equal(fusion_counts(e.session).n_graphs, graphs);
	value_unref(x);
	engine_close(&e);
}

/* The mode that a call leaves is the next one's. */
static void a_mode_that_stays_is_guarded(void **state)
{
	static const struct {
		bool on;
		int graphs; /* so far */
	} calls[] = { { true, 1 },  { true, 1 }, { false, 2 }, { false, 3 },
		      { false, 3 }, { true, 4 }, { true, 4 },  { false, 4 } };
	struct engine e = engine_open("interp", FUSION_STATIC,
				      "import torch\n"
				      "def model(x, on):\n"
				      "    before = torch.is_grad_enabled()\n"
				      "    torch.set_grad_enabled(on)\n"
				      "    return x * 2, before, torch.is_grad_enabled()\n");
	bool before = true;

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct value in[2] = { FLOATS(&e, 1, 4), value_bool(calls[i].on) };
		struct value out = engine_call(&e, in, 2);

		assert_int_equal(out.list->at[1].b, before);
		assert_int_equal(out.list->at[2].b, calls[i].on);
		assert_int_equal(fusion_counts(e.session).n_graphs, calls[i].graphs);
		before = calls[i].on;
		value_unref(out);
		value_unref(in[0]);
	}
	engine_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mode_is_right_in_every_mode),
		cmocka_unit_test(a_function_compiles_once_for_each_mode),
		cmocka_unit_test(a_mode_that_stays_is_guarded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
