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
	{ "an op in place on a tensor of two names",
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

/* Branches in generators that are consumed inside, and in comprehensions. */
static const struct program generators[] = {
	{ "an expression",
	  "def model(x):\n"
	  "    return sum(t if t > 0 else t * 3 for t in x)\n",
	  0 },
	{ "sides that yield",
	  "def g(ts):\n"
	  "    for t in ts:\n"
	  "        if t > 0:\n"
	  "            yield t * 2\n"
	  "        else:\n"
	  "            yield t - 1\n"
	  "def model(x):\n"
	  "    return sum(g(x))\n",
	  1 },
	{ "sides that meet before the yield",
	  "import torch\n"
	  "def g(ts):\n"
	  "    n = 0\n"
	  "    for t in ts:\n"
	  "        if t > 0:\n"
	  "            t = t * 2\n"
	  "            n += 1\n"
	  "        yield t + n\n"
	  "def model(x):\n"
	  "    return torch.stack(list(g(x)))\n",
	  0 },
	{ "branches inside and outside",
	  "def g(ts):\n"
	  "    for t in ts:\n"
	  "        yield t if t > 0 else -t\n"
	  "def model(x):\n"
	  "    s = 0\n"
	  "    for i, t in enumerate(g(x)):\n"
	  "        if t > 1:\n"
	  "            s = s + t * i\n"
	  "        else:\n"
	  "            s = s - t\n"
	  "    return x + s\n",
	  0 },
	{ "a side that prints and writes",
	  "def g(ts, o):\n"
	  "    for t in ts:\n"
	  "        if t > 0:\n"
	  "            print('pos', t)\n"
	  "            o[0] = o[0] + t\n"
	  "        yield t\n"
	  "def model(x):\n"
	  "    o = [x.sum()]\n"
	  "    y = [a * 2 for a in g(x, o)]\n"
	  "    return y[0] + o[0]\n",
	  0 },
	{ "a side that ends it",
	  "def g(ts):\n"
	  "    for t in ts:\n"
	  "        if t > 2:\n"
	  "            return\n"
	  "        yield t\n"
	  "def model(x):\n"
	  "    return sum(g(x))\n",
	  1 },
	{ "a side that raises",
	  "def g(ts):\n"
	  "    for t in ts:\n"
	  "        if t > 1.5:\n"
	  "            raise ValueError('large')\n"
	  "        yield t\n"
	  "def model(x):\n"
	  "    try:\n"
	  "        return sum(g(x))\n"
	  "    except ValueError as e:\n"
	  "        print(e)\n"
	  "    return x\n",
	  0 },
	{ "a loop in it",
	  "def g(x):\n"
	  "    x = x.abs() + 1\n"
	  "    n = 0\n"
	  "    while n < 4:\n"
	  "        if x.sum() > 10:\n"
	  "            x = x * 0.5\n"
	  "        n += 1\n"
	  "        yield x\n"
	  "def model(x):\n"
	  "    return sum(g(x))\n",
	  0 },
	{ "comprehensions",
	  "import torch\n"
	  "def model(x):\n"
	  "    o = [a if a > 0 else a * 2 for a in x]\n"
	  "    d = {i: (t if t > 0 else t * 2) for i, t in enumerate(x)}\n"
	  "    return torch.stack(o) + d[1] + max(o[0].item(), 2.0)\n",
	  0 },
	{ "a filter",
	  "def model(x):\n"
	  "    return x + len([t for t in x if t > 0])\n",
	  1 },
	{ "next()",
	  "def g(x):\n"
	  "    for t in x:\n"
	  "        if t > 0:\n"
	  "            t = t + 5\n"
	  "        yield t\n"
	  "def model(x):\n"
	  "    it = g(x)\n"
	  "    a = next(it)\n"
	  "    if a > 1:\n"
	  "        x = x * 2\n"
	  "    return x + a + next(it)\n",
	  0 },
	{ "a side that takes the next item",
	  "def g(x):\n"
	  "    for t in x:\n"
	  "        yield t\n"
	  "def model(x):\n"
	  "    it = g(x)\n"
	  "    if x.sum() > 0:\n"
	  "        a = next(it)\n"
	  "    else:\n"
	  "        a = x[1]\n"
	  "    return x + a + next(it)\n",
	  1 },
};

static void generators_do_as_eager_does(void **state)
{
	(void)state;
	check_programs(generators, sizeof(generators) / sizeof(generators[0]));
}

static void programs_do_as_eager_does(void **state)
{
	(void)state;
	check_programs(programs, sizeof(programs) / sizeof(programs[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_do_as_eager_does),
		cmocka_unit_test(generators_do_as_eager_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
