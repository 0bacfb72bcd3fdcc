/* tests/test_fusion_native.c -- policy native: few breaks, and what eager does.
 *
 * Each program runs on several inputs, natively and in eager; results, what is
 * printed and what is written to the argument are the same, and the breaks are as
 * many as the table says.
 */
#include <stdlib.h>

#include "tests/engine.h"

struct program {
	const char *name, *source;
	int breaks;
};

static const struct program programs[] = {
	{ "both sides",
	  "def model(x):\n"
	  "    if x.sum() > 0:\n"
	  "        y = x * 2\n"
	  "    else:\n"
	  "        y = x - 1\n"
	  "    return y + 1\n",
	  0 },
	{ "one side keeps the argument",
	  "def model(x):\n"
	  "    y = x\n"
	  "    if x.sum() > 0:\n"
	  "        y = x * 2\n"
	  "    return y\n",
	  0 },
	{ "an op in place behind two names",
	  "def model(x):\n"
	  "    y = x\n"
	  "    if x.sum() > 0:\n"
	  "        y = x * 2\n"
	  "    y += 1\n"
	  "    return y + x\n",
	  1 },
	{ "a view of what a side writes",
	  "def model(x):\n"
	  "    v = x[0]\n"
	  "    if x.sum() > 0:\n"
	  "        v.add_(1)\n"
	  "    else:\n"
	  "        x *= 3\n"
	  "    return v + x\n",
	  0 },
	{ "sides that return",
	  "def h(y):\n"
	  "    for i in range(3):\n"
	  "        y = y * 0.5\n"
	  "        if y.abs().sum() < 2:\n"
	  "            return y + i\n"
	  "    return y - 1\n"
	  "def model(x):\n"
	  "    return h(x * 2) * 3\n",
	  0 },
	{ "state of an object",
	  "class S:\n"
	  "    def __init__(self):\n"
	  "        self.n = 0\n"
	  "        self.last = None\n"
	  "    def step(self, x):\n"
	  "        self.last = x + 0\n"
	  "        if x.sum() > 0:\n"
	  "            self.n += 1\n"
	  "            self.last = x * 2\n"
	  "        return self.last * self.n\n"
	  "s = S()\n"
	  "def model(x):\n"
	  "    return s.step(x) + s.n\n",
	  0 },
	{ "a longer list",
	  "def model(x):\n"
	  "    o = [x]\n"
	  "    if x.sum() > 0:\n"
	  "        o.append(x * 2)\n"
	  "    return o[-1] + len(o)\n",
	  1 },
	{ "and, or, not, chains",
	  "def model(x):\n"
	  "    if x.sum() > 0 and not x.max() > 1.5:\n"
	  "        x = x + 1\n"
	  "    if 0 < x.sum() < 5 or x.min() > -1:\n"
	  "        x = x * 3\n"
	  "    return x\n",
	  0 },
	{ "a side that raises",
	  "def check(x):\n"
	  "    if x.sum() > 1:\n"
	  "        raise ValueError('large')\n"
	  "    return x + 1\n"
	  "def model(x):\n"
	  "    try:\n"
	  "        y = check(x)\n"
	  "    except ValueError as e:\n"
	  "        print(e)\n"
	  "        y = x - 1\n"
	  "    return y * 3\n",
	  0 },
	{ "prints in order",
	  "def model(x):\n"
	  "    print('a', x.shape, x)\n"
	  "    if x.sum() > 0:\n"
	  "        print('b', x.max().item(), [x, 1])\n"
	  "        x += 1\n"
	  "    print('c', x, end='!')\n"
	  "    return x\n",
	  0 },
	{ "numbers",
	  "def model(x):\n"
	  "    s = x.sum().item()\n"
	  "    n = int(s)\n"
	  "    print(s, n, n // 2, n % 3, s > 1, -s, isinstance(n, int))\n"
	  "    if n == 0:\n"
	  "        return x\n"
	  "    return x * s / n\n",
	  0 },
	{ "a number that Python needs",
	  "def model(x):\n"
	  "    for i in range(int(x.max().abs())):\n"
	  "        x = x + i\n"
	  "    return x\n",
	  1 },
};

static struct engine open(const char *source, enum fusion_mode mode)
{
	struct fusion_options options = { .backend = "interp",
					  .threads = 1,
					  .policy = FUSION_NATIVE };
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct err err = { 0 };

	e.program = fusion_parse(source, strlen(source), "model", &err);
	if (!e.program)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	return e;
}

static void same_tensors(const char *name, struct value a, struct value b)
{
	assert_int_equal(tensor_numel(a.tensor->memory), tensor_numel(b.tensor->memory));
	for (int64_t i = 0; i < tensor_numel(a.tensor->memory); i++) {
		double x = engine_at(a, i), y = engine_at(b, i);

		if (fabs(x - y) > 1e-5 * (1 + fabs(y)))
			fail_msg("%s: element %d is %g, not %g", name, (int)i, x, y);
	}
}

static void same_calls(const struct program *p, struct engine *native, struct engine *eager)
{
	for (int seed = 0; seed < 7; seed++) {
		struct value a = FLOATS(native, seed, 3), b = FLOATS(eager, seed, 3);
		struct value x = engine_call(native, &a, 1), y = engine_call(eager, &b, 1);
		struct buf *said = fusion_stdout(native->session);
		struct buf *wanted = fusion_stdout(eager->session);

		same_tensors(p->name, x, y);
		same_tensors(p->name, a, b);
		assert_int_equal(said->len, wanted->len);
		if (said->len > 0)
			assert_memory_equal(said->data, wanted->data, said->len);
		buf_clear(said);
		buf_clear(wanted);
		value_unref(x);
		value_unref(y);
		value_unref(a);
		value_unref(b);
	}
}

static void programs_do_as_eager_does(void **state)
{
	static const enum fusion_mode modes[] = { FUSION_STATIC, FUSION_AUTO, FUSION_DYNAMIC };

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (int m = 0; m < 3; m++) {
			struct engine native = open(programs[i].source, modes[m]);
			struct engine eager = open(programs[i].source, FUSION_EAGER);

			same_calls(&programs[i], &native, &eager);
			if (fusion_break_count(native.session) != programs[i].breaks)
				fail_msg("%s: %d breaks", programs[i].name,
					 fusion_break_count(native.session));
			engine_close(&native);
			engine_close(&eager);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_do_as_eager_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
