/* tests/test_fusion_native_helpers.c -- policy native: breaks in functions that are
 * called split only what they must.
 */
#include "tests/native_helpers.h"

static const struct helper plain[] = {
	{ "one call deep",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y * 2\n"
	  "def model(x):\n"
	  "    return h(x * 3) - 1\n",
	  2 },
	{ "two calls deep",
	  "def g(x):\n"
	  "    k = values(x + 1)\n"
	  "    return x * len(k)\n"
	  "def h(x):\n"
	  "    y = x * 2\n"
	  "    return y - g(y)\n"
	  "def model(x):\n"
	  "    a = x - 3\n"
	  "    a = a * h(a)\n"
	  "    return a + x\n",
	  2 },
	{ "three calls deep, twice",
	  "def f(x, n):\n"
	  "    x = x + n\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return x * n\n"
	  "def g(x):\n"
	  "    return f(x + 1, 3) - x\n"
	  "def h(x):\n"
	  "    return g(x * 2) / 2\n"
	  "def model(x):\n"
	  "    y = h(x)\n"
	  "    return y + h(y) + x\n",
	  3 },
	{ "modules in a module",
	  "class Act(torch.nn.Module):\n"
	  "    def __init__(self, scale):\n"
	  "        super().__init__()\n"
	  "        self.scale = scale\n"
	  "    def forward(self, x):\n"
	  "        y = torch.sin(x) * self.scale\n"
	  "        s = values(y)\n"
	  "        print('act', len(s), self.scale)\n"
	  "        return y + len(s)\n"
	  "class Block(torch.nn.Module):\n"
	  "    def __init__(self):\n"
	  "        super().__init__()\n"
	  "        self.a = Act(2)\n"
	  "        self.b = Act(3)\n"
	  "    def forward(self, x):\n"
	  "        x = self.a(x + 1)\n"
	  "        return self.b(x * 0.5) - 1\n"
	  "class Net(torch.nn.Module):\n"
	  "    def __init__(self):\n"
	  "        super().__init__()\n"
	  "        self.block = Block()\n"
	  "    def forward(self, x):\n"
	  "        return self.block(x) * 2\n"
	  "model = Net()\n",
	  3 },
	{ "a container of modules",
	  "class Act(torch.nn.Module):\n"
	  "    def __init__(self, scale):\n"
	  "        super().__init__()\n"
	  "        self.scale = scale\n"
	  "    def forward(self, x):\n"
	  "        y = x * self.scale\n"
	  "        torch._dynamo.graph_break()\n"
	  "        return y + 1\n"
	  "net = torch.nn.Sequential(Act(2), torch.nn.ReLU(), Act(3))\n"
	  "def model(x):\n"
	  "    return net(x + 1) * 2\n",
	  3 },
	{ "hooks around forward",
	  "class Act(torch.nn.Module):\n"
	  "    def forward(self, x):\n"
	  "        y = x + 1\n"
	  "        torch._dynamo.graph_break()\n"
	  "        return y * 2\n"
	  "act = Act()\n"
	  "act.register_forward_hook(lambda m, args, y: y - args[0])\n"
	  "def model(x):\n"
	  "    return act(x * 3) + x\n",
	  2 },
	{ "cells of callers, written",
	  "def model(x):\n"
	  "    n = 1\n"
	  "    seen = []\n"
	  "    def inner(y):\n"
	  "        nonlocal n, x\n"
	  "        n += 1\n"
	  "        x = x + n\n"
	  "        seen.append(y)\n"
	  "        torch._dynamo.graph_break()\n"
	  "        n *= 2\n"
	  "        x = x * n\n"
	  "        seen.append(y + n)\n"
	  "        return x + y\n"
	  "    z = inner(x * 2)\n"
	  "    n += 10\n"
	  "    return z * n + seen[0] + seen[1] + x\n",
	  2 },
	{ "a closure that is made on the way",
	  "def make(k):\n"
	  "    total = k * 2\n"
	  "    def add(x):\n"
	  "        nonlocal total\n"
	  "        total = total + x\n"
	  "        torch._dynamo.graph_break()\n"
	  "        total = total * 2\n"
	  "        return total + k\n"
	  "    def get():\n"
	  "        return total\n"
	  "    return add, get\n"
	  "def model(x):\n"
	  "    add, get = make(x)\n"
	  "    y = add(x + 1)\n"
	  "    return y - get() * 3\n",
	  2 },
	{ "writes to the argument",
	  "def h(x, y):\n"
	  "    x += 1\n"
	  "    y *= 2\n"
	  "    torch._dynamo.graph_break()\n"
	  "    x *= 3\n"
	  "    y -= x\n"
	  "    return x + y\n"
	  "def model(x):\n"
	  "    y = x + 5\n"
	  "    x -= 1\n"
	  "    z = h(x, y)\n"
	  "    x *= 2\n"
	  "    return z + y + x\n",
	  2 },
	{ "writes to views",
	  "def h(v, y):\n"
	  "    v += 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    v *= 3\n"
	  "    return v + y\n"
	  "def model(x):\n"
	  "    v = x[1:]\n"
	  "    z = h(v, x[0])\n"
	  "    x *= 2\n"
	  "    v -= 7\n"
	  "    return z.sum() + x\n",
	  0 },
	{ "the same function twice, and again",
	  "def h(x, n):\n"
	  "    y = x * n\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y + n\n"
	  "def model(x):\n"
	  "    return h(x, 2) * h(x + 1, 3) - h(x, 2)\n",
	  4 },
	{ "in the loop of the caller",
	  "def h(x, i):\n"
	  "    y = x * 2 + i\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y - 1\n"
	  "def model(x):\n"
	  "    for i in range(9):\n"
	  "        x = h(x, 3) * 0.5\n"
	  "    return x + 1\n",
	  4 },
	{ "in the loop of the caller, which collects",
	  "def h(x, i):\n"
	  "    y = x * 2 + i\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y - 1\n"
	  "def model(x):\n"
	  "    out = []\n"
	  "    for i in range(12):\n"
	  "        x = h(x, i) * 0.5\n"
	  "        out.append(x)\n"
	  "    return out[0] + out[-1] + x\n",
	  0 },
	{ "in a loop of its own",
	  "def h(x):\n"
	  "    for k in range(5):\n"
	  "        x = x * 2\n"
	  "        torch._dynamo.graph_break()\n"
	  "        x = x - 1\n"
	  "    return x / 3\n"
	  "def model(x):\n"
	  "    y = h(x + 1)\n"
	  "    return y * y\n",
	  4 },
	{ "loops on all floors, left early",
	  "def g(x, i):\n"
	  "    for k, w in enumerate([1.5, 2.5, 0.5]):\n"
	  "        x = x * w\n"
	  "        t = values(x)\n"
	  "        if k == i:\n"
	  "            break\n"
	  "        x = x + len(t)\n"
	  "    return x - i\n"
	  "def h(x):\n"
	  "    for i in range(3):\n"
	  "        x = g(x, i)\n"
	  "    return x\n"
	  "def model(x):\n"
	  "    for i in range(2):\n"
	  "        x = h(x) / 4\n"
	  "    return x\n",
	  0 },
	{ "operands wait",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y * 2\n"
	  "def model(x):\n"
	  "    a = x * 2\n"
	  "    y = a * 3 + [a, x, (a + 1) * h(a - h(x))][2] / max(1, len([a]))\n"
	  "    return {'k': (y, a * h(y))}['k'][1] + y\n",
	  4 },
	{ "keywords, stars and defaults",
	  "def h(x, *rest, k=2, **kw):\n"
	  "    y = x + rest[0] * k + kw['z']\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y * k + rest[1] - kw['z'] + len(kw)\n"
	  "def model(x):\n"
	  "    a = h(x, x * 2, 3, z=x + 1)\n"
	  "    args, kw = (a, a * 2, 5), {'z': a + 1, 'k': 4}\n"
	  "    return a + h(*args, **kw) * h(x, *args[1:], z=2)\n",
	  4 },
	{ "recursion",
	  "def f(x, n):\n"
	  "    x = x + n\n"
	  "    torch._dynamo.graph_break()\n"
	  "    if n > 0:\n"
	  "        x = f(x * 2, n - 1) - n\n"
	  "    return x / 2\n"
	  "def model(x):\n"
	  "    return f(x + 1, 4) * 3\n",
	  0 },
	{ "functions that call one another",
	  "def even(x, n):\n"
	  "    if n == 0:\n"
	  "        return x * 2\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return odd(x + 1, n - 1) + 1\n"
	  "def odd(x, n):\n"
	  "    y = even(x * 0.5, n - 1)\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y - x\n"
	  "def model(x):\n"
	  "    return even(x, 6) + x\n",
	  0 },
	{ "a disabled function, called further in",
	  "@torch._dynamo.disable\n"
	  "def off(x):\n"
	  "    print('off', x.shape)\n"
	  "    return x * 2 + 1\n"
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    return off(y * 2) - y\n"
	  "def model(x):\n"
	  "    return h(x - 1) * x\n",
	  2 },
	{ "a branch that eager takes",
	  "def h(x):\n"
	  "    y = x * 2\n"
	  "    if values(y)[0] > 0:\n"
	  "        return y + 1\n"
	  "    y = y - 1\n"
	  "    return y / 2\n"
	  "def model(x):\n"
	  "    return h(x) + h(x * -1)\n",
	  3 },
	{ "a comprehension further in",
	  "def g(x, i):\n"
	  "    y = x * i\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y + i\n"
	  "def h(x):\n"
	  "    x = x + 1\n"
	  "    return sum([g(x, i) for i in (1, 2, 3)]) * 2\n"
	  "def model(x):\n"
	  "    return h(x * 3) - x\n",
	  0 },
	{ "methods and attributes",
	  "class S:\n"
	  "    def __init__(self):\n"
	  "        self.n, self.last = 0, None\n"
	  "    def step(self, x):\n"
	  "        self.n += 1\n"
	  "        self.last = x * self.n\n"
	  "        torch._dynamo.graph_break()\n"
	  "        self.n += 10\n"
	  "        self.last = self.last + self.n\n"
	  "        return self.last\n"
	  "    def __call__(self, x):\n"
	  "        return self.step(x + 1) - self.n\n"
	  "def model(x):\n"
	  "    s = S()\n"
	  "    y = s(x) * 2\n"
	  "    return y + s.last * s.n\n",
	  2 },
	{ "an argument that is a list, changed on both sides",
	  "def h(xs, d):\n"
	  "    xs.append(xs[0] + 1)\n"
	  "    d['n'] = len(xs)\n"
	  "    torch._dynamo.graph_break()\n"
	  "    xs.append(xs[-1] * d['n'])\n"
	  "    d['k'] = xs\n"
	  "    return xs\n"
	  "def model(x):\n"
	  "    xs, d = [x, x * 2], {}\n"
	  "    ys = h(xs, d)\n"
	  "    assert ys is xs and d['k'] is xs\n"
	  "    return sum(ys) + d['n']\n",
	  2 },
	{ "globals",
	  "state = {'n': 1}\n"
	  "count = 0\n"
	  "def h(x):\n"
	  "    global count\n"
	  "    count += 1\n"
	  "    state['n'] += count\n"
	  "    torch._dynamo.graph_break()\n"
	  "    count += 1\n"
	  "    return x * state['n'] + count\n"
	  "def model(x):\n"
	  "    global count\n"
	  "    y = h(x + 1)\n"
	  "    count = count % 3\n"
	  "    return y - count\n",
	  2 },
	{ "a generator of the caller",
	  "def h(x):\n"
	  "    y = x * 2\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y + 1\n"
	  "def rows(x):\n"
	  "    for i in range(3):\n"
	  "        yield x + i\n"
	  "def model(x):\n"
	  "    for r in rows(x):\n"
	  "        x = x + h(r) * 2\n"
	  "    return x\n",
	  0 },
	{ "C code calls it",
	  "def h(x):\n"
	  "    y = x * 2\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y + 1\n"
	  "class P:\n"
	  "    def __init__(self, x):\n"
	  "        self.x = h(x + 1)\n"
	  "    def __add__(self, other):\n"
	  "        return h(self.x) + other\n"
	  "def model(x):\n"
	  "    a, b = list(map(h, [x, x + 1]))\n"
	  "    s = sorted([3, 1, 2], key=lambda k: len(values(h(x * k))) * k)\n"
	  "    return (P(a) + b) * s[0]\n",
	  0 },
	{ "a loop that ends when a tensor says so",
	  "def h(x):\n"
	  "    y = x * 2\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y + 1\n"
	  "def model(x):\n"
	  "    x = x.abs() + 1\n"
	  "    n = 0\n"
	  "    while x.sum() < 50:\n"
	  "        x = h(x)\n"
	  "        n += 1\n"
	  "    return x + n\n",
	  0 },
	{ "what follows the return cannot be captured",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return torch.relu(y) * 2 - 1\n"
	  "def model(x):\n"
	  "    y = h(x) + 1\n"
	  "    n = 0\n"
	  "    while n < 4:\n"
	  "        y = y * 2\n"
	  "        torch._dynamo.graph_break()\n"
	  "        n += 1\n"
	  "    return y\n",
	  2 },
	{ "an iterator of a called function",
	  "def h(x, rows):\n"
	  "    it = iter(rows)\n"
	  "    y = next(it) + x\n"
	  "    torch._dynamo.graph_break()\n"
	  "    for r in it:\n"
	  "        y = y + r\n"
	  "    return y\n"
	  "def model(x):\n"
	  "    return h(x, [x, x * 2, x * 3]) - 1\n",
	  2 },
	{ "a generator that a called function holds",
	  "def rows(x):\n"
	  "    for i in range(3):\n"
	  "        yield x * i\n"
	  "def h(x):\n"
	  "    it = rows(x)\n"
	  "    y = next(it) + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y + next(it)\n"
	  "def model(x):\n"
	  "    a = x * 2\n"
	  "    return h(a) - 1\n",
	  0 },
};

static void helpers_are_split_once(void **state)
{
	(void)state;
	check_helpers(plain, sizeof(plain) / sizeof(plain[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(helpers_are_split_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
