/* tests/test_fusion_native.c -- policy native: few breaks, and what eager does.
 *
 * Each program runs on several inputs, natively and in eager; results, what is
 * printed and what is written to the argument are the same, and the breaks are as
 * many as the table says.
 */
#include "tests/native_programs.h"

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
	{ "any, all",
	  "def model(x):\n"
	  "    if any([x.sum() > 0, False, None, x.max() > 1]) or all([]):\n"
	  "        x = x + 1\n"
	  "    assert all((x.abs().sum() < 500, True)), 'large'\n"
	  "    b, c = any([x.sum() > 3, x[0].item()]), all([t < 2 for t in x])\n"
	  "    return x * 2 if not c and any(x) else x + b\n",
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

static void programs_do_as_eager_does(void **state)
{
	(void)state;
	check_programs(programs, sizeof(programs) / sizeof(programs[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_do_as_eager_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
