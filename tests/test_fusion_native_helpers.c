/* tests/test_fusion_native_helpers.c -- policy native: breaks in functions that are
 * called split only what they must.
 *
 * Each program runs on several inputs, natively in each mode and in eager: results
 * or errors with their places, what is printed and what is written to the argument
 * are the same.  The first call makes as many graphs as the table says, and breaks
 * no more often than TorchDynamo.
 */
#include "tests/native_programs.h"

struct helper {
	const char *name, *source;
	int graphs;
};

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
	  "    k = (x + 1).tolist()\n"
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
	  "        s = y.tolist()\n"
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
	  "        t = x.tolist()\n"
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
	  "    if y.tolist()[0] > 0:\n"
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
	  "    s = sorted([3, 1, 2], key=lambda k: len(h(x * k).tolist()) * k)\n"
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

static const struct helper errors[] = {
	{ "in what runs between",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    k = [1, 2, 3].index(len(y.tolist()) + 5)\n"
	  "    return y * k\n"
	  "def model(x):\n"
	  "    x += 1\n"
	  "    y = h(x) * 2\n"
	  "    return y\n",
	  1 },
	{ "behind it, further in",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    y = y * 2\n"
	  "    raise ValueError('no')\n"
	  "def model(x):\n"
	  "    x += 1\n"
	  "    return h(x) * 2\n",
	  0 },
	{ "behind it, when it has returned",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y * 2\n"
	  "def model(x):\n"
	  "    x += 1\n"
	  "    y = h(x)\n"
	  "    x += 1\n"
	  "    return y + [y][3]\n",
	  0 },
	{ "caught further out",
	  "def g(x, n):\n"
	  "    y = x * 2\n"
	  "    k = [0, 1].index(len(y.tolist()) - n)\n"
	  "    return y + k\n"
	  "def h(x, n):\n"
	  "    return g(x + 1, n) * 2\n"
	  "def model(x):\n"
	  "    y = x\n"
	  "    for n in range(5):\n"
	  "        try:\n"
	  "            y = h(y, n)\n"
	  "        except ValueError as e:\n"
	  "            print(n, e)\n"
	  "            y = y - 1\n"
	  "        finally:\n"
	  "            y = y / 2\n"
	  "    return y * 3\n",
	  0 },
	{ "raised behind it, caught further out",
	  "def g(x, n):\n"
	  "    y = x * 2\n"
	  "    torch._dynamo.graph_break()\n"
	  "    y = y + 1\n"
	  "    if n == 1:\n"
	  "        raise ValueError('one')\n"
	  "    return y\n"
	  "def model(x):\n"
	  "    y = x\n"
	  "    for n in range(3):\n"
	  "        try:\n"
	  "            y = g(y, n) + 1\n"
	  "        except ValueError as e:\n"
	  "            print(n, e)\n"
	  "            y = y - 1\n"
	  "    return y * 3\n",
	  0 },
	{ "a manager around the call",
	  "class M:\n"
	  "    def __enter__(self):\n"
	  "        print('in')\n"
	  "        return 2\n"
	  "    def __exit__(self, kind, e, tb):\n"
	  "        print('out', kind is None, e)\n"
	  "        return True\n"
	  "def h(x, n):\n"
	  "    y = x * 2\n"
	  "    y = y + [1, 2, 3][len(y.tolist()) - 3 + n]\n"
	  "    return y - 1\n"
	  "def model(x):\n"
	  "    for n in (1, 5):\n"
	  "        with M() as k:\n"
	  "            x = h(x * k, n) + 1\n"
	  "        with torch.no_grad():\n"
	  "            x = h(x, 0)\n"
	  "    return x\n",
	  0 },
	{ "called while an exception is handled",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    try:\n"
	  "        raise\n"
	  "    except ValueError as e:\n"
	  "        print('again', e)\n"
	  "    return y * 2\n"
	  "def model(x):\n"
	  "    try:\n"
	  "        x = x * 2\n"
	  "        raise ValueError('first')\n"
	  "    except ValueError:\n"
	  "        x = h(x) - 1\n"
	  "    return x * 2\n",
	  0 },
	{ "calls without an end",
	  "def f(x, n):\n"
	  "    x = x + n\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return f(x * 2, n + 1) - n\n"
	  "def model(x):\n"
	  "    try:\n"
	  "        return f(x, 0)\n"
	  "    except RecursionError as e:\n"
	  "        print(e)\n"
	  "    return x + 1\n",
	  0 },
	{ "a local that is not set",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    if len(y.tolist()) > 5:\n"
	  "        z = y\n"
	  "    return y * 2\n"
	  "def model(x):\n"
	  "    y = h(x)\n"
	  "    if len(y) > 5:\n"
	  "        w = y\n"
	  "    y = h(y)\n"
	  "    return y + w\n",
	  0 },
	{ "an assertion behind it",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    print('h')\n"
	  "    assert y.sum() > 3, 'small'\n"
	  "    return y * 2\n"
	  "def model(x):\n"
	  "    x += 1\n"
	  "    y = h(x)\n"
	  "    x += 1\n"
	  "    assert y.max() < 5\n"
	  "    return y\n",
	  0 },
};

static struct engine begin(const char *source, enum fusion_mode mode, enum fusion_policy policy)
{
	struct fusion_options options = { .backend = "interp", .threads = 1, .policy = policy };
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct err err = { 0 };
	char text[4096];

	snprintf(text, sizeof(text), "import torch\n%s", source);
	e.program = fusion_parse(text, strlen(text), "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	return e;
}

static void same_text(const char *name, struct buf *said, struct buf *wanted)
{
	if (said->len != wanted->len ||
	    (said->len > 0 && memcmp(said->data, wanted->data, said->len) != 0))
		fail_msg("%s: printed %.*s, not %.*s", name, (int)said->len,
			 said->data ? said->data : "", (int)wanted->len,
			 wanted->data ? wanted->data : "");
	buf_clear(said);
	buf_clear(wanted);
}

/* One call in both: a result, or an error, of the same place and words. */
static void same_call(const char *name, struct engine *native, struct engine *eager, int seed,
		      int size)
{
	struct value a = FLOATS(native, seed, size), b = FLOATS(eager, seed, size);
	struct value x = value_none(), y = value_none();
	struct err why = { 0 }, wanted = { 0 };
	bool ok = fusion_call(native->session, &a, 1, &x, &why);

	if (ok != fusion_call(eager->session, &b, 1, &y, &wanted))
		fail_msg("%s: %s; in eager: %s", name, why.message, wanted.message);
	if (ok)
		same_tensors(name, x, y);
	else if (why.code != wanted.code || why.line != wanted.line ||
		 why.column != wanted.column || strcmp(why.message, wanted.message) != 0)
		fail_msg("%s: %d:%d: %s; in eager: %d:%d: %s", name, why.line, why.column,
			 why.message, wanted.line, wanted.column, wanted.message);
	same_tensors(name, a, b);
	same_text(name, fusion_stdout(native->session), fusion_stdout(eager->session));
	if (ok) {
		value_unref(x);
		value_unref(y);
	}
	value_unref(a);
	value_unref(b);
}

static void check_counts(const struct helper *p, enum fusion_mode mode)
{
	struct engine native = begin(p->source, mode, FUSION_NATIVE);
	struct engine dynamo = begin(p->source, mode, FUSION_DYNAMO);
	struct value a = FLOATS(&native, 0, 3), b = FLOATS(&dynamo, 0, 3), x, y;
	struct err err = { 0 };

	if (fusion_call(native.session, &a, 1, &x, &err))
		value_unref(x);
	if (fusion_call(dynamo.session, &b, 1, &y, &err))
		value_unref(y);
	if (p->graphs > 0 && fusion_graph_count(native.session) != p->graphs)
		fail_msg("%s: %d graphs", p->name, fusion_graph_count(native.session));
	if (fusion_break_count(native.session) > fusion_break_count(dynamo.session))
		fail_msg("%s: %d breaks, of TorchDynamo %d", p->name,
			 fusion_break_count(native.session), fusion_break_count(dynamo.session));
	value_unref(a);
	value_unref(b);
	engine_close(&native);
	engine_close(&dynamo);
}

static void check_helpers(const struct helper *programs, size_t n)
{
	static const enum fusion_mode modes[] = { FUSION_STATIC, FUSION_AUTO, FUSION_DYNAMIC };

	for (size_t i = 0; i < n; i++)
		for (int m = 0; m < 3; m++) {
			struct engine native = begin(programs[i].source, modes[m], FUSION_NATIVE);
			struct engine eager = begin(programs[i].source, FUSION_EAGER, 0);

			check_counts(&programs[i], modes[m]);
			for (int seed = 0; seed < 5; seed++)
				same_call(programs[i].name, &native, &eager, seed, 3);
			for (int size = 4; size < 8; size++)
				same_call(programs[i].name, &native, &eager, 3, size);
			same_call(programs[i].name, &native, &eager, 2, 3);
			engine_close(&native);
			engine_close(&eager);
		}
}

static void helpers_are_split_once(void **state)
{
	(void)state;
	check_helpers(plain, sizeof(plain) / sizeof(plain[0]));
}

static void errors_are_those_of_eager(void **state)
{
	(void)state;
	check_helpers(errors, sizeof(errors) / sizeof(errors[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(helpers_are_split_once),
		cmocka_unit_test(errors_are_those_of_eager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
