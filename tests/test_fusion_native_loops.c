/* tests/test_fusion_native_loops.c -- policy native: loops on tensors, and breaks in
 * loops, try and with blocks.
 */
#include "tests/native_programs.h"

static const struct program loops[] = {
	{ "a tensor goes round",
	  "def model(x):\n"
	  "    while x.abs().sum() < 100:\n"
	  "        x = x * 2 + 1\n"
	  "    return x + 1\n",
	  0 },
	{ "the argument is written",
	  "def model(x):\n"
	  "    while x.abs().sum() < 100:\n"
	  "        x *= 2\n"
	  "        x += 1\n"
	  "    return x + 1\n",
	  0 },
	{ "a view is written",
	  "def model(x):\n"
	  "    v = x[1:3]\n"
	  "    while x.sum() < 50:\n"
	  "        v += 3\n"
	  "        x[0] = v[0]\n"
	  "    return v.sum() + x\n",
	  0 },
	{ "a loop in a loop, a branch in that",
	  "def model(x):\n"
	  "    y = x * 0\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        z = x\n"
	  "        while z.max() < 20:\n"
	  "            if z.min() > 3:\n"
	  "                z = z * 3\n"
	  "            else:\n"
	  "                z = z + 2\n"
	  "            y = y + z\n"
	  "        x = x * 2 + 1\n"
	  "    return x + y\n",
	  0 },
	{ "numbers that count",
	  "def model(x):\n"
	  "    n, k, x = 0, 0.5, x.abs() + 1\n"
	  "    while x.sum() < 100 and n < 4:\n"
	  "        x = x * 2\n"
	  "        n += 1\n"
	  "        k = k * 1.5\n"
	  "    print(n)\n"
	  "    return x * k + n\n",
	  0 },
	{ "an int that may get large",
	  "def model(x):\n"
	  "    n, x = 1, x.abs() + 1\n"
	  "    while x.sum() < 1000:\n"
	  "        x = x * 2\n"
	  "        n *= 3\n"
	  "    return x + n\n",
	  0 },
	{ "an int that gets too large",
	  "def model(x):\n"
	  "    n, x = 1, x.abs() + 1\n"
	  "    try:\n"
	  "        while x.sum() < 1e6:\n"
	  "            x = x * 1.5\n"
	  "            n *= 300\n"
	  "    except OverflowError:\n"
	  "        print('too large')\n"
	  "    return x\n",
	  0 },
	{ "tests with or and not",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while x.max() < 20 or not x.sum() > 70:\n"
	  "        x = x * 2\n"
	  "    return x\n",
	  0 },
	{ "left by break",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while True:\n"
	  "        x = x * 2\n"
	  "        if x.sum() > 50:\n"
	  "            break\n"
	  "        x = x - 1\n"
	  "    return x\n",
	  0 },
	{ "two ways out",
	  "def model(x):\n"
	  "    n = 0\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2\n"
	  "        if x.max() > 30:\n"
	  "            x = x + 100\n"
	  "            break\n"
	  "        n += 1\n"
	  "        if x.min() > 7:\n"
	  "            n = n + 10\n"
	  "            break\n"
	  "        x = x + 1\n"
	  "    return x + n\n",
	  0 },
	{ "continue",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    n = 0\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2\n"
	  "        if x.max() > 30:\n"
	  "            n += 5\n"
	  "            continue\n"
	  "        n += 1\n"
	  "        x = x + 1\n"
	  "    return x + n\n",
	  0 },
	{ "tests that are chains",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while 0 < x.sum() < 50 and x.max() < 20 or not x.min() > 1:\n"
	  "        x = x * 2\n"
	  "    return x\n",
	  0 },
	{ "any() as the test",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while any([x.sum() < 200, x.max() < 3]):\n"
	  "        x = x * 2\n"
	  "    return x\n",
	  0 },
	{ "while true two breaks",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    n = 0\n"
	  "    while True:\n"
	  "        x = x * 2\n"
	  "        if x.sum() > 60:\n"
	  "            break\n"
	  "        n += 1\n"
	  "        if x.max() > 30:\n"
	  "            x = x - 1\n"
	  "            break\n"
	  "    return x + n\n",
	  0 },
	{ "int test and tensor break",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    n = 0\n"
	  "    while n < 10:\n"
	  "        x = x * 2\n"
	  "        n += 1\n"
	  "        if x.sum() > 60:\n"
	  "            break\n"
	  "    return x + n\n",
	  0 },
	{ "nested",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 500:\n"
	  "        y = x\n"
	  "        while y.max() < 30:\n"
	  "            y = y * 2\n"
	  "            if y.min() > 9:\n"
	  "                break\n"
	  "        if y.sum() > 300:\n"
	  "            x = x + 100\n"
	  "            break\n"
	  "        x = x + y\n"
	  "    return x\n",
	  0 },
	{ "else, and a way past it",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2\n"
	  "        if x.max() > 30:\n"
	  "            break\n"
	  "    else:\n"
	  "        x = x + 1000\n"
	  "    return x\n",
	  1 },
	{ "else no break",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2\n"
	  "    else:\n"
	  "        x = x + 1000\n"
	  "    return x\n",
	  0 },
	{ "return inside",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2\n"
	  "        if x.max() > 30:\n"
	  "            return x - 1\n"
	  "    return x\n",
	  3 },
	{ "in if in while",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    n = 0\n"
	  "    while x.sum() < 100:\n"
	  "        if x.min() < 4:\n"
	  "            x = x + 1\n"
	  "            if x.max() > 30:\n"
	  "                break\n"
	  "        else:\n"
	  "            x = x * 2\n"
	  "        n += 1\n"
	  "    return x + n\n",
	  0 },
	{ "try",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    while x.sum() < 100:\n"
	  "        try:\n"
	  "            x = x * 2\n"
	  "            if x.max() > 30:\n"
	  "                break\n"
	  "        finally:\n"
	  "            x = x + 1\n"
	  "    return x\n",
	  0 },
	{ "while in for",
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    for k in range(3):\n"
	  "        while x.sum() < 50 * k:\n"
	  "            x = x * 2\n"
	  "            if x.max() > 30 + k:\n"
	  "                break\n"
	  "        x = x - k\n"
	  "    return x\n",
	  0 },
	{ "in a side that is not taken it would not end",
	  "def model(x):\n"
	  "    if x.sum() > 0:\n"
	  "        while x.sum() < 100:\n"
	  "            x = x * 2\n"
	  "    return x + 1\n",
	  0 },
	{ "after an exception it would not end",
	  "def model(x):\n"
	  "    try:\n"
	  "        if x.sum() <= 0:\n"
	  "            raise ValueError('no')\n"
	  "    except ValueError:\n"
	  "        return x - 1\n"
	  "    while x.sum() < 100:\n"
	  "        x = x * 2\n"
	  "    return x + 1\n",
	  1 },
	{ "an op in place after it is one on the argument",
	  "def model(x):\n"
	  "    y = x\n"
	  "    while y.abs().sum() < 100:\n"
	  "        y = y * 2 + 1\n"
	  "    y += 1\n"
	  "    return y\n",
	  2 },
	{ "a round that prints",
	  "def model(x):\n"
	  "    while x.abs().sum() < 100:\n"
	  "        x = x * 2 + 1\n"
	  "        print('round')\n"
	  "    return x\n",
	  2 },
	{ "no more operands than any",
	  "def model(x):\n"
	  "    a, b, c, d = x.abs() + 1, x * 2, x * 3, x * 4\n"
	  "    e, f, g, h, k = x + 5, x + 6, x + 7, x + 8, x + 9\n"
	  "    while a.sum() < 100:\n"
	  "        a, b, c, d, e = a + a, b + f, c + g, d + h, e + k\n"
	  "        f, g, h, k = g, h, k, f\n"
	  "    return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + k * 9\n",
	  0 },
};

static const struct program blocks[] = {
	{ "a round",
	  "def model(x):\n"
	  "    for i in range(12):\n"
	  "        x = x * 2 + i\n"
	  "        y = x.repeat(30).tolist()[:3]\n"
	  "        x = x / 3 - len(y)\n"
	  "    return x\n",
	  1 },
	{ "rounds of rounds",
	  "def model(x):\n"
	  "    for i in range(3):\n"
	  "        for k, w in enumerate([1.5, 2.5, 3.0]):\n"
	  "            x = x * w\n"
	  "            y = x.repeat(30).tolist()[:3]\n"
	  "            x = x + k + y[0]\n"
	  "        x = x / 10\n"
	  "    return x\n",
	  1 },
	{ "continue, break and else",
	  "def model(x):\n"
	  "    n = 0\n"
	  "    for k, t in zip('abc', x):\n"
	  "        n += t\n"
	  "        if t.repeat(65).tolist()[0] > 1:\n"
	  "            continue\n"
	  "        if k == 'b':\n"
	  "            break\n"
	  "        n += 1\n"
	  "    else:\n"
	  "        x = x + 100\n"
	  "    return x + n\n",
	  1 },
	{ "an exception after it",
	  "def model(x):\n"
	  "    try:\n"
	  "        x = x * 2\n"
	  "        y = x.repeat(30).tolist()[:3]\n"
	  "        if y[0] > 1:\n"
	  "            raise ValueError('large')\n"
	  "        x = x + 1\n"
	  "    except ValueError as e:\n"
	  "        x = x - 5\n"
	  "        print(e)\n"
	  "    finally:\n"
	  "        x = x * 3\n"
	  "    return x\n",
	  1 },
	{ "an exception of the break itself",
	  "def model(x):\n"
	  "    n = 0\n"
	  "    for i in range(4):\n"
	  "        try:\n"
	  "            x = x + 1\n"
	  "            n += [1, 2].index(int(x.repeat(30).tolist()[:3][0]) * 0 + i)\n"
	  "        except ValueError:\n"
	  "            n += 10\n"
	  "    return x + n\n",
	  1 }, /* numbers of tolist() change, and are symbols */
	{ "a manager of the program",
	  "class M:\n"
	  "    def __init__(self, k):\n"
	  "        self.k = k\n"
	  "    def __enter__(self):\n"
	  "        print('in', self.k)\n"
	  "        return self\n"
	  "    def __exit__(self, t, v, b):\n"
	  "        print('out', self.k, t is None)\n"
	  "        return True\n"
	  "def model(x):\n"
	  "    with M(3) as m:\n"
	  "        x = x * m.k\n"
	  "        y = x.repeat(30).tolist()[:3]\n"
	  "        x = x + y[1]\n"
	  "        if y[0] > 2:\n"
	  "            raise ValueError('large')\n"
	  "        x = x * 7\n"
	  "    return x * 2\n",
	  1 },
	{ "a callee in a loop",
	  "def h(x):\n"
	  "    x = x * 2\n"
	  "    n = x.repeat(30).tolist()[:3]\n"
	  "    return x + len(n)\n"
	  "def model(x):\n"
	  "    for i in range(5):\n"
	  "        x = x + 1\n"
	  "        x = h(x)\n"
	  "        x = x * 0.5\n"
	  "    return x\n",
	  1 },
};

/* Versions of a round: what rounds change is no reason for more and more of them. */
static const struct program rounds[] = {
	{ "an int that counts",
	  "def model(x):\n"
	  "    for i in range(12):\n"
	  "        x = x + i\n"
	  "        y = x.repeat(30).tolist()[:3]\n"
	  "        x = x - len(y) + i * 2\n"
	  "    return x\n",
	  1 },
	{ "numbers, in locals and elsewhere",
	  "g = 0\n"
	  "class S:\n"
	  "    n = 1\n"
	  "s = S()\n"
	  "def model(x):\n"
	  "    global g\n"
	  "    n, f, c = 0, 0.5, 1\n"
	  "    def inc():\n"
	  "        nonlocal c\n"
	  "        c += 2\n"
	  "    for i in range(11):\n"
	  "        y = x.repeat(30).tolist()[:3]\n"
	  "        g += 1\n"
	  "        n -= 1\n"
	  "        f = f * 1.5 + i\n"
	  "        s.n += i\n"
	  "        inc()\n"
	  "        x = (x * n * f + g + c * c) / (x.abs().sum() + s.n + 1) ** 2\n"
	  "    return x + n + g + s.n + c + f\n",
	  1 },
	{ "slices, items and sizes",
	  "import torch\n"
	  "def model(x):\n"
	  "    z = torch.cat([x, x * 2, x * 3, x * 4])\n"
	  "    for i in range(1, 11):\n"
	  "        y = x.repeat(30).tolist()[:3]\n"
	  "        x = x + z[:i].sum() - z[i:].mean() + z[i] + torch.ones(i).sum()\n"
	  "    return x\n",
	  1 },
	{ "branches on the number",
	  "def model(x):\n"
	  "    for i in range(12):\n"
	  "        y = x.repeat(30).tolist()[:3]\n"
	  "        if i % 3 == 0:\n"
	  "            x = x + i\n"
	  "        elif i > 7:\n"
	  "            x = x * 0.5\n"
	  "    return x\n",
	  1 },
	{ "other things: the limit is told",
	  "def model(x):\n"
	  "    for k in 'abcdefghijklm':\n"
	  "        y = x.repeat(30).tolist()[:3]\n"
	  "        x = x + (2 if k == 'c' else 3)\n"
	  "    return x\n",
	  2 },
};

/* An int of Python has no end; ours have 64 bits, and say so in every mode. */
static void an_int_that_is_too_large_is_refused(void **state)
{
	const char *source = "def model(x):\n"
			     "    n = 1\n"
			     "    for i in range(50):\n"
			     "        y = x.repeat(30).tolist()[:3]\n"
			     "        n = n * 3\n"
			     "    return x + n\n";
	static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_AUTO,
						  FUSION_DYNAMIC };

	(void)state;
	for (int m = 0; m < 4; m++) {
		struct engine e = open(source, modes[m]);
		struct value x = FLOATS(&e, 1, 2), out;
		struct err err = { 0 };

		assert_false(fusion_call(e.session, &x, 1, &out, &err));
		assert_non_null(strstr(err.message, "64 bits"));
		value_unref(x);
		engine_close(&e);
	}
}

static void rounds_have_few_versions(void **state)
{
	(void)state;
	check_programs(rounds, sizeof(rounds) / sizeof(rounds[0]));
}

static void loops_are_nodes_of_the_graph(void **state)
{
	(void)state;
	check_programs(loops, sizeof(loops) / sizeof(loops[0]));
}

static void blocks_are_gone_on_with(void **state)
{
	(void)state;
	check_programs(blocks, sizeof(blocks) / sizeof(blocks[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_are_nodes_of_the_graph),
		cmocka_unit_test(blocks_are_gone_on_with),
		cmocka_unit_test(rounds_have_few_versions),
		cmocka_unit_test(an_int_that_is_too_large_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
