/* tests/test_fusion_native_carried.c -- policy native: what goes round in loops on
 * tensors, how they end, and loops that are denied.
 */
#include "tests/native_programs.h"

static const struct program programs[] = {
	{ "set for the first time",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        y = x * 3\n"
	  "        k = 2\n"
	  "        x = x * 2\n"
	  "    return x + y + k\n",
	  0 },
	{ "set for the first time, or not",
	  "def model(x):\n"
	  "    while x.sum() < 0:\n"
	  "        y = x * 3\n"
	  "        x = x + 2\n"
	  "    try:\n"
	  "        return x + y\n"
	  "    except NameError:\n"
	  "        return x\n",
	  0 },
	{ "set for the first time, and read by the next round",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    n = 0\n"
	  "    while x.sum() < 100:\n"
	  "        if n > 0:\n"
	  "            x = x + y\n"
	  "        y = x * 3\n"
	  "        n += 1\n"
	  "        x = x * 2\n"
	  "    return x + y\n",
	  1 },
	{ "attributes",
	  "import torch\n"
	  "class S:\n"
	  "    def __init__(self):\n"
	  "        self.n = 0\n"
	  "        self.h = torch.ones(3)\n"
	  "    def step(self, x):\n"
	  "        self.h = self.h * 2 + x\n"
	  "        self.n += 1\n"
	  "        return x + self.h\n"
	  "s = S()\n"
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    n = s.n\n"
	  "    while x.sum() < 100 + n:\n"
	  "        x = s.step(x)\n"
	  "    return x + s.h + s.n\n",
	  0 },
	{ "attributes of an object made here",
	  "class S:\n"
	  "    def __init__(self, x):\n"
	  "        self.n = 0\n"
	  "        self.h = x\n"
	  "def model(x):\n"
	  "    s = S(x.abs() + 1)\n"
	  "    while s.h.sum() < 100:\n"
	  "        s.h = s.h * 2\n"
	  "        s.n += 1\n"
	  "    return s.h + s.n\n",
	  0 },
	{ "buffers and attributes of a module",
	  "import torch\n"
	  "class M(torch.nn.Module):\n"
	  "    def __init__(self):\n"
	  "        super().__init__()\n"
	  "        self.register_buffer('h', torch.ones(3))\n"
	  "        self.count = 0\n"
	  "    def forward(self, x):\n"
	  "        x = x.abs() + 1\n"
	  "        while x.sum() < 100:\n"
	  "            x = x * 2 + self.h\n"
	  "            self.h = self.h + 1\n"
	  "            self.count += 1\n"
	  "        return x + self.h + self.count\n"
	  "m = M()\n"
	  "def model(x):\n"
	  "    return m(x)\n",
	  0 },
	{ "cells",
	  "def model(x):\n"
	  "    n = 0\n"
	  "    t = x.abs() + 1\n"
	  "    def step():\n"
	  "        nonlocal n, t\n"
	  "        n += 1\n"
	  "        t = t * 2\n"
	  "    while t.sum() < 100:\n"
	  "        step()\n"
	  "    return t + n\n",
	  0 },
	{ "globals",
	  "import torch\n"
	  "g = 1\n"
	  "h = torch.ones(3)\n"
	  "def model(x):\n"
	  "    global g, h\n"
	  "    x = x.abs() + 1\n"
	  "    h = h / h.max()\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2 + h\n"
	  "        h = h + 1\n"
	  "        g += 1\n"
	  "    return x + h + g\n",
	  0 },
	{ "items",
	  "def model(x):\n"
	  "    o = [x.abs() + 1, 0, x * 2]\n"
	  "    d = {'a': x * 1, 'n': 0}\n"
	  "    while o[0].sum() < 100:\n"
	  "        o[0] = o[0] * 2\n"
	  "        o[1] += 1\n"
	  "        d['a'] = d['a'] + o[2]\n"
	  "        d['n'] += 2\n"
	  "    return o[0] + o[1] + d['a'] + d['n']\n",
	  0 },
	{ "a list that grows",
	  "def model(x):\n"
	  "    o = []\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2\n"
	  "        o.append(x)\n"
	  "    return x + len(o)\n",
	  2 },
	{ "a round that raises",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    try:\n"
	  "        while x.sum() < 100:\n"
	  "            x = x * 2\n"
	  "            if x.max() > 35:\n"
	  "                raise ValueError('large')\n"
	  "    except ValueError as e:\n"
	  "        print(e)\n"
	  "        return x - 1\n"
	  "    return x\n",
	  2 },
	{ "a division that may fail",
	  "def model(x):\n"
	  "    n = 0.5\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2\n"
	  "        n = n + 1 / x.sum().item()\n"
	  "    return x * n\n",
	  0 },
	{ "assertions, a loop in a loop",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    y = x * 1\n"
	  "    while x.sum() < 100:\n"
	  "        while y.max() < 20:\n"
	  "            y = y * 2\n"
	  "            assert y.min() > 0\n"
	  "        x = x + y\n"
	  "        z = y\n"
	  "    return x + z\n",
	  0 },
	{ "an assertion that holds",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2\n"
	  "        assert x.max() < 4000, 'too large'\n"
	  "        assert x.sum() > 0\n"
	  "    return x\n",
	  0 },
	{ "an assertion that does not",
	  "def model(x):\n"
	  "    try:\n"
	  "        return f(x)\n"
	  "    except AssertionError as e:\n"
	  "        print(e)\n"
	  "    return x\n"
	  "def f(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2\n"
	  "        assert x.max() < 50, 'too large'\n"
	  "    return x\n",
	  0 },
};

static void what_changes_goes_round(void **state)
{
	(void)state;
	check_programs(programs, sizeof(programs) / sizeof(programs[0]));
}

/* Nothing reads what it leaves, and yet it does not end. */
static void a_loop_is_run_though_nobody_reads_it(void **state)
{
#define HALVES(bound)                                                                              \
	"def model(x):\n"                                                                          \
	"    y = x.abs()\n"                                                                        \
	"    while y.sum() > " bound ":\n"                                                         \
	"        y = y * 0.5\n"                                                                    \
	"    return x\n"
	static const char *const sources[] = { HALVES("1"), HALVES("-1") };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct engine e = open(sources[i], FUSION_STATIC);
		struct value x = FLOATS(&e, 1, 2), out = { .kind = VALUE_UNSET };
		struct err err = { 0 };

		assert_int_equal(fusion_call(e.session, &x, 1, &out, &err), i == 0);
		assert_int_equal(err.code, i == 0 ? ERR_NONE : ERR_STEPS);
		assert_int_equal(fusion_counts(e.session).graphs, 1);
		value_unref(out);
		value_unref(x);
		engine_close(&e);
	}
}

static void a_denied_loop_is_a_fallback(void **state)
{
	const char *source = "import torch\n"
			     "def model(x):\n"
			     "    x = x.abs() + 1\n"
			     "    while x.sum() < 100:\n"
			     "        x = torch.sin(x) + x * 2 + 1\n"
			     "    return torch.exp(-x)\n";
	static const char *const deny[] = { "while_loop" };

	(void)state;
	for (int n = 0; n < 2; n++) {
		struct engine eager = open(source, FUSION_EAGER), e;
		struct value a, b, x, y;

		e = open_denying(source, FUSION_STATIC, deny, n);
		a = FLOATS(&e, 1, 2);
		b = FLOATS(&eager, 1, 2);
		x = engine_call(&e, &a, 1);
		y = engine_call(&eager, &b, 1);
		same_tensors("denied", x, y);
		assert_int_equal(fusion_counts(e.session).n_breaks, n);
		if (n > 0) {
			assert_string_equal(fusion_break(e.session, 0).kind, "denied-op");
			assert_string_equal(fusion_break(e.session, 0).outcome, "fallback");
			assert_int_equal(fusion_break(e.session, 0).stack[0].line, 4);
		}
		value_unref(a);
		value_unref(b);
		value_unref(x);
		value_unref(y);
		engine_close(&e);
		engine_close(&eager);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changes_goes_round),
		cmocka_unit_test(a_loop_is_run_though_nobody_reads_it),
		cmocka_unit_test(a_denied_loop_is_a_fallback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
