/* tests/test_fusion_autocast.c -- torch.autocast in every mode: casts, gradients, guards.
 *
 * What PyTorch does with whole programs is in tests/oracle/autocast_cases.json.
 */
#include "tests/engine.h"

static struct engine open_with(enum fusion_mode mode, const char *source, enum dtype autocast,
			       bool grad)
{
	struct fusion_options options = {
		.backend = "interp", .threads = 1, .grad = grad, .autocast = autocast
	};
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct err err = { 0 };

	e.program = fusion_parse(source, strlen(source), "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	return e;
}

static const char blocks[] = "import torch\n"
			     "@torch.autocast('cpu', dtype=torch.float16)\n"
			     "def half(x, w):\n"
			     "    return x @ w\n"
			     "def model(x, w):\n"
			     "    with torch.autocast('cpu'):\n"
			     "        a = x @ w\n"
			     "        assert a.dtype == torch.bfloat16\n"
			     "        print(torch.is_autocast_enabled('cpu'))\n"
			     "        b = half(x, w)\n"
			     "        assert b.dtype == torch.float16\n"
			     "        with torch.autocast('cpu', enabled=False):\n"
			     "            c = x @ w\n"
			     "            print(c.dtype)\n"
			     "        d = torch.nn.functional.mse_loss(a, a * 2)\n"
			     "        e = a + x\n"
			     "    assert not torch.is_autocast_enabled('cpu')\n"
			     "    f = x @ w\n"
			     "    return a, b, c, d, e, f\n";

static void every_mode_casts_alike(void **state)
{
	const enum dtype dtypes[6] = { DTYPE_BF16, DTYPE_F16, DTYPE_F32,
				       DTYPE_F32,  DTYPE_F32, DTYPE_F32 };
	double eager[6] = { 0 };

	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = engine_open("interp", (enum fusion_mode)mode, blocks);
		struct value args[2] = { FLOATS(&e, 1, 3, 3), FLOATS(&e, 2, 3, 3) };

		for (int call = 0; call < 2; call++) {
			struct value out = engine_call(&e, args, 2);

			for (int i = 0; i < 6; i++) {
				struct value v = out.list->at[i];

				assert_int_equal(v.tensor->memory->dtype, dtypes[i]);
				if (mode == FUSION_EAGER)
					eager[i] = engine_at(v, 0);
				engine_near(v, 0, eager[i]);
			}
			value_unref(out);
		}
		engine_drop(args, 2);
		engine_close(&e);
	}
}

/* The workload's field: around each call, and not around the module's code. */
static void a_call_may_stand_in_a_block(void **state)
{
	const char *source = "import torch\n"
			     "outside = torch.ones(2, 2) @ torch.ones(2, 2)\n"
			     "def model(x):\n"
			     "    y = x @ outside\n"
			     "    print(y.dtype)\n"
			     "    return y @ outside, torch.is_autocast_enabled('cpu')\n";

	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = open_with((enum fusion_mode)mode, source, DTYPE_F16, false);
		struct value x = FLOATS(&e, 1, 2, 2), out = engine_call(&e, &x, 1);

		assert_int_equal(out.list->at[0].tensor->memory->dtype, DTYPE_F16);
		assert_true(out.list->at[1].b);
		assert_string_equal(fusion_stdout(e.session)->data, "torch.float16\n");
		value_unref(out);
		value_unref(x);
		engine_close(&e);
	}
}

/* As torch: one version with, one without. */
static void versions_are_guarded_by_the_mode(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC,
				      "import torch\n"
				      "def f(x):\n"
				      "    print('f')\n"
				      "    return x @ x\n"
				      "def model(x):\n"
				      "    y = f(x)\n"
				      "    with torch.autocast('cpu', dtype=torch.float16):\n"
				      "        z = f(x)\n"
				      "    return y + z\n");
	const char *want = "torch.is_autocast_enabled('cpu') is True, with torch.float16, but "
			   "torch.is_autocast_enabled('cpu') is False when it was captured";
	struct value x = FLOATS(&e, 1, 3, 3);
	bool found = false;

	(void)state;
	value_unref(engine_call(&e, &x, 1));
	for (int i = 0; i < fusion_counts(e.session).n_recompiles; i++)
		found = found || strcmp(fusion_recompile(e.session, i).reason, want) == 0;
	assert_true(found);
	assert_int_equal(fusion_counts(e.session).n_recompiles, 2);
	value_unref(engine_call(&e, &x, 1));
	assert_int_equal(fusion_counts(e.session).n_recompiles, 2);
	value_unref(x);
	engine_close(&e);
}

static const char module[] = "import torch\n"
			     "class Net(torch.nn.Module):\n"
			     "    def __init__(self):\n"
			     "        super().__init__()\n"
			     "        self.w = torch.nn.Parameter(torch.ones(3, 3))\n"
			     "    def forward(self, x):\n"
			     "        y = torch.tanh(x @ self.w) @ self.w\n"
			     "        return y.float().sum()\n"
			     "model = Net()\n";

struct given {
	double first;
	enum dtype dtype;
};

static void look(void *self, const char *name, struct value t)
{
	struct given *given = self;

	assert_string_equal(name, "w");
	given->first = engine_at(fusion_grad(t), 0);
	given->dtype = fusion_grad(t).tensor->memory->dtype;
}

static void a_parameters_gradient_is_float32(void **state)
{
	struct given eager = { 0 };

	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = open_with((enum fusion_mode)mode, module, DTYPE_BF16, true);
		struct value x = FLOATS(&e, 1, 2, 3), out = engine_call(&e, &x, 1);
		struct given given;
		struct err err = { 0 };

		if (!fusion_backward(e.session, out, &err))
			fail_msg("%s", err.message);
		fusion_parameters(e.session, look, &given);
		assert_int_equal(given.dtype, DTYPE_F32);
		if (mode == FUSION_EAGER)
			eager = given;
		/* both uses of the weight share a cast: bfloat16 rounds their sum in every mode */
		assert_true(given.first == eager.first);
		value_unref(out);
		value_unref(x);
		engine_close(&e);
	}
}

/* A gradient that has several steps is computed in float32 and rounded once, as torch's
 * kernels do: it is that of float32, to half a unit of bfloat16 and of what came in. */
static void gradients_of_composites_are_rounded_once(void **state)
{
	const char *source = "import torch\n"
			     "def gradient(x, w, g):\n"
			     "    x = x.detach().requires_grad_(True)\n"
			     "    y = torch.nn.functional.layer_norm(x, (64,), w)\n"
			     "    y.backward(g)\n"
			     "    return x.grad\n"
			     "def model(x, w, g):\n"
			     "    x, w, g = x.bfloat16(), w.bfloat16(), g.bfloat16()\n"
			     "    a = gradient(x, w, g)\n"
			     "    b = gradient(x.float(), w.float(), g.float())\n"
			     "    assert a.dtype == torch.bfloat16\n"
			     "    return (a == b.bfloat16()).all(), (a - b).abs().max()\n";

	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = engine_open("interp", (enum fusion_mode)mode, source);
		struct value args[3] = { FLOATS(&e, 1, 8, 64), FLOATS(&e, 2, 64),
					 FLOATS(&e, 3, 8, 64) };
		struct value out = engine_call(&e, args, 3);

		if (engine_at(out.list->at[0], 0) != 1)
			fail_msg("%s: %g off", fusion_mode_name((enum fusion_mode)mode),
				 engine_at(out.list->at[1], 0));
		value_unref(out);
		engine_drop(args, 3);
		engine_close(&e);
	}
}

static int64_t launches_of(const char *body)
{
	char source[800];
	struct engine e;
	struct value x, out;
	int64_t before, n;

	snprintf(source, sizeof(source),
		 "import torch\n"
		 "w = torch.nn.Parameter(torch.ones(3, 3))\n"
		 "def model(x):\n%s",
		 body);
	e = engine_open("interp", FUSION_EAGER, source);
	x = FLOATS(&e, 1, 3, 3);
	value_unref(engine_call(&e, &x, 1)); /* the module's code counts too */
	before = fusion_counts(e.session).launches;
	out = engine_call(&e, &x, 1);
	n = fusion_counts(e.session).launches - before;
	value_unref(out);
	value_unref(x);
	engine_close(&e);
	return n;
}

static void a_parameter_is_cast_once_a_block(void **state)
{
	(void)state;
	/* two products, the casts of x and of w */
	assert_int_equal(launches_of("    with torch.autocast('cpu'):\n"
				     "        return (x @ w) @ w\n"),
			 4);
	assert_int_equal(launches_of("    with torch.autocast('cpu', cache_enabled=False):\n"
				     "        return (x @ w) @ w\n"),
			 5);
	/* an activation is cast at each use, as in torch */
	assert_int_equal(launches_of("    with torch.autocast('cpu'):\n"
				     "        return (w @ x) @ x\n"),
			 5);
	assert_int_equal(launches_of("    with torch.autocast('cpu'):\n"
				     "        y = x @ w\n"
				     "    with torch.autocast('cpu'):\n"
				     "        return y @ w\n"),
			 5);
}

static void a_parameter_that_was_written_is_cast_again(void **state)
{
	const char *source = "import torch\n"
			     "w = torch.nn.Parameter(torch.ones(2, 2))\n"
			     "def model(x):\n"
			     "    with torch.autocast('cpu'), torch.no_grad():\n"
			     "        a = x @ w\n"
			     "        w.add_(1)\n"
			     "        b = x @ w\n"
			     "        w.sub_(1)\n"
			     "    return a, b\n";

	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = engine_open("interp", (enum fusion_mode)mode, source);
		struct value x = FLOATS(&e, 1, 2, 2), out = engine_call(&e, &x, 1);
		double a = engine_at(out.list->at[0], 0), b = engine_at(out.list->at[1], 0);

		assert_true(fabs(b - 2 * a) <= 0.02 * fabs(a));
		value_unref(out);
		value_unref(x);
		engine_close(&e);
	}
}

static void an_error_inside_ends_the_block(void **state)
{
	const char *source = "import torch\n"
			     "def model(x):\n"
			     "    try:\n"
			     "        with torch.autocast('cpu'):\n"
			     "            y = x @ x\n"
			     "            raise ValueError('no')\n"
			     "    except ValueError:\n"
			     "        pass\n"
			     "    if x.sum() > 1e9:\n"
			     "        with torch.autocast('cpu'):\n"
			     "            raise RuntimeError('never')\n"
			     "    return x @ x\n";

	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = engine_open("interp", (enum fusion_mode)mode, source);
		struct value x = FLOATS(&e, 1, 2, 2), out = engine_call(&e, &x, 1);

		assert_int_equal(out.tensor->memory->dtype, DTYPE_F32);
		value_unref(out);
		value_unref(x);
		engine_close(&e);
	}
}

/* A block that an error left open in one call is closed in the next. */
static void a_failed_call_leaves_no_block(void **state)
{
	const char *source = "import torch\n"
			     "def model(x, k):\n"
			     "    if k > 0:\n"
			     "        with torch.autocast('cpu'):\n"
			     "            raise RuntimeError('left')\n"
			     "    return x @ x\n";

	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = engine_open("interp", (enum fusion_mode)mode, source);
		struct value args[2] = { FLOATS(&e, 1, 2, 2), value_int(1) }, out;

		engine_fails(&e, args, 2);
		args[1] = value_int(0);
		out = engine_call(&e, args, 2);
		assert_int_equal(out.tensor->memory->dtype, DTYPE_F32);
		value_unref(out);
		value_unref(args[0]);
		engine_close(&e);
	}
}

/* The words are PyTorch's. */
static void a_scaler_says_what_is_called_too_early_or_twice(void **state)
{
	const char *source = "import torch\n"
			     "w = torch.nn.Parameter(torch.ones(4))\n"
			     "opt = torch.optim.SGD([w], lr=0.1)\n"
			     "def model(x):\n"
			     "    scaler = torch.amp.GradScaler('cpu')\n"
			     "    for early in [scaler.update, lambda: scaler.unscale_(opt)]:\n"
			     "        try:\n"
			     "            early()\n"
			     "        except AssertionError:\n"
			     "            print('early')\n"
			     "    scaler.scale((x * w).sum()).backward()\n"
			     "    scaler.unscale_(opt)\n"
			     "    try:\n"
			     "        scaler.unscale_(opt)\n"
			     "    except RuntimeError as e:\n"
			     "        print(e)\n"
			     "    scaler.step(opt)\n"
			     "    for late in [scaler.step, scaler.unscale_]:\n"
			     "        try:\n"
			     "            late(opt)\n"
			     "        except RuntimeError as e:\n"
			     "            print(e)\n"
			     "    return w.detach() - 1 + 0.1 * x\n";

	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = engine_open("interp", (enum fusion_mode)mode, source);
		struct value x = FLOATS(&e, 1, 4), out = engine_call(&e, &x, 1);

		for (int i = 0; i < 4; i++)
			assert_true(fabs(engine_at(out, i)) < 1e-6);
		assert_string_equal(
		    fusion_stdout(e.session)->data,
		    "early\nearly\n"
		    "unscale_() has already been called on this optimizer since the last "
		    "update().\n"
		    "step() has already been called since the last update().\n"
		    "unscale_() is being called after step().\n");
		value_unref(out);
		value_unref(x);
		engine_close(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mode_casts_alike),
		cmocka_unit_test(a_call_may_stand_in_a_block),
		cmocka_unit_test(versions_are_guarded_by_the_mode),
		cmocka_unit_test(a_parameters_gradient_is_float32),
		cmocka_unit_test(gradients_of_composites_are_rounded_once),
		cmocka_unit_test(a_parameter_is_cast_once_a_block),
		cmocka_unit_test(a_parameter_that_was_written_is_cast_again),
		cmocka_unit_test(a_scaler_says_what_is_called_too_early_or_twice),
		cmocka_unit_test(an_error_inside_ends_the_block),
		cmocka_unit_test(a_failed_call_leaves_no_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
