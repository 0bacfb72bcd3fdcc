/* tests/test_fusion_native_text.c -- policy native: text and numbers of tensors.
 *
 * What eager gives, prints, writes and raises, to the bit, on inputs of all
 * kinds (NaN, infinities, -0.0, numbers beyond 64 bits); and how many graphs and
 * breaks that takes.
 */
#include "tests/engine.h"

#include "fusion/base/buf.h"

struct program {
	const char *name, *source;
	int graphs, breaks; /* graphs -1: one for each text that comes out */
};

static const float inputs[][3] = {
	{ 0.5f, -1.25f, 3 },   { 2, 7, 1 },         { -3, 0.1f, -0.0f }, { 0, 0, 0 },
	{ -0.0f, -0.0f, 0 },   { NAN, 1, 2 },       { INFINITY, 1, -1 }, { 1e30f, 3e20f, 1 },
	{ -7, -0.0f, 4.75f },  { 1e-30f, 0.5f, 1 }, { 9, 16, 25 },       { -INFINITY, 2, 2 },
	{ 4e9f, 1e9f, 6e18f },
};
enum { N_INPUTS = sizeof(inputs) / sizeof(inputs[0]) };

static struct engine open(const char *source, enum fusion_mode mode)
{
	struct fusion_options options = {
		.backend = "interp", .threads = 1, .recompile_limit = 100, .policy = FUSION_NATIVE
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

/* All bits of it. */
static void show_tensor(void *context, struct buf *out, struct value v)
{
	(void)context;
	if (v.kind != VALUE_TENSOR) {
		buf_puts(out, "?");
		return;
	}
	buf_printf(out, "%s[", dtype_name(v.tensor->memory->dtype));
	for (int d = 0; d < v.tensor->memory->rank; d++)
		buf_printf(out, "%d;", (int)v.tensor->memory->size[d]);
	for (int64_t i = 0; i < tensor_numel(v.tensor->memory); i++)
		buf_printf(out, " %a", engine_at(v, i));
	buf_puts(out, "]");
}

/* What a call gives, or raises; what it prints, and leaves in its argument. */
static void run(struct engine *e, const float *input, struct buf *text)
{
	int64_t size = 3;
	struct value x = engine_tensor(e, DTYPE_F32, 1, &size), out;
	struct buf *printed = fusion_stdout(e->session);
	struct err err = { 0 };

	memcpy(tensor_data(x.tensor->memory), input, sizeof(inputs[0]));
	if (fusion_call(e->session, &x, 1, &out, &err)) {
		value_print_with(text, out, false, show_tensor, NULL);
		value_unref(out);
	} else {
		buf_printf(text, "%d:%d: %d: %s", err.line, err.column, err.code, err.message);
	}
	buf_puts(text, "\nx: ");
	show_tensor(NULL, text, x);
	buf_puts(text, "\n");
	buf_add(text, printed->data ? printed->data : "", printed->len);
	buf_clear(printed);
	value_unref(x);
}

static void same_calls(const char *name, struct engine *native, struct engine *eager)
{
	for (int i = 0; i < 2 * N_INPUTS; i++) {
		struct buf got = { 0 }, wanted = { 0 };

		run(native, inputs[i % N_INPUTS], &got);
		run(eager, inputs[i % N_INPUTS], &wanted);
		if (got.len != wanted.len || memcmp(got.data, wanted.data, got.len) != 0)
			fail_msg("%s: input %d:\n%s\nis not\n%s", name, i % N_INPUTS, got.data,
				 wanted.data);
		buf_finish(&got);
		buf_finish(&wanted);
	}
}

static void check(const struct program *programs, size_t n)
{
	static const enum fusion_mode modes[] = { FUSION_STATIC, FUSION_AUTO, FUSION_DYNAMIC };

	for (size_t i = 0; i < n; i++)
		for (int m = 0; m < 3; m++) {
			const struct program *p = &programs[i];
			struct engine native = open(p->source, modes[m]);
			struct engine eager = open(p->source, FUSION_EAGER);
			int graphs, breaks;

			same_calls(p->name, &native, &eager);
			graphs = fusion_counts(native.session).n_graphs;
			breaks = fusion_counts(native.session).n_breaks;
			if ((p->graphs >= 0 && graphs != p->graphs) || breaks != p->breaks) {
				struct buf why = { 0 };

				for (int b = 0; b < breaks; b++) {
					fusion_break_message(native.session, b, &why);
					buf_puts(&why, "\n");
				}
				fail_msg("%s: %d graphs, %d breaks: %s", p->name, graphs, breaks,
					 why.data ? why.data : "");
			}
			engine_close(&native);
			engine_close(&eager);
		}
}

/* ---- text ---- */

static const struct program texts[] = {
	{ "f-strings that are returned",
	  "def model(x):\n"
	  "    s = x.sum()\n"
	  "    return x + 1, f'{s.item():.3f} {s:.4f} {s.item()} {s} {s!r:>20}|', f'{x}'\n",
	  1, 0 },
	{ "all ways to make text",
	  "def model(x):\n"
	  "    n = x.sum().item()\n"
	  "    k = (x > 0).sum().item()\n"
	  "    b = bool(x[0] > 0)\n"
	  "    return ['loss: ' + str(n), '%.3f|%10.2e|%-8g|' % (n, n, n), '%d %5d %x' % (k, k, "
	  "k),\n"
	  "            '{:.2f} {!r} {k:>4} {}'.format(n, b, n, k=k), format(n, '+.1f'), repr(n),\n"
	  "            '%s and %r' % (n, [k, b]), '%6s|%-6s|%.2s' % (k, b, n), str([n, (k,), {'b': "
	  "b}]),\n"
	  "            ', '.join([str(n), 'a', f'{b:>7}']), f'{k:05d}{b!s:>6}{n:,.1f}'] + [f'{x * "
	  "2}']\n",
	  1, 0 },
	{ "text of text",
	  "def model(x):\n"
	  "    a = f'<{x.max().item():.2f}>'\n"
	  "    b = f'{a:>12}|{a!r}|{[a]}|{a:.3}'\n"
	  "    a += b\n"
	  "    return x * 2, a, {'text': a, 'both': (a, b)}, f'{a}{b}'\n",
	  1, 0 },
	{ "printed by helpers",
	  "last = ['']\n"
	  "def log(message, *args):\n"
	  "    line = '[log] ' + message % args if args else message\n"
	  "    last[0] = line\n"
	  "    print(line)\n"
	  "class Meter:\n"
	  "    def __init__(self):\n"
	  "        self.value = 0.0\n"
	  "    def __str__(self):\n"
	  "        return f'Meter({self.value:.3f})'\n"
	  "    def __repr__(self):\n"
	  "        return '<' + str(self) + '>'\n"
	  "def model(x):\n"
	  "    m = Meter()\n"
	  "    log('begin')\n"
	  "    m.value = x.sum().item()\n"
	  "    log('sum %.2f of %s', m.value, x)\n"
	  "    print(m, [m], f'{m}')\n"
	  "    y = x * m.value\n"
	  "    log(f'{y.max():.3f}')\n"
	  "    return y, last\n",
	  1, 0 },
	{ "in order, with all options",
	  "def show(*args):\n"
	  "    print(*args, sep='; ', end='.\\n', flush=True)\n"
	  "def model(x):\n"
	  "    seen = []\n"
	  "    print('before', x)\n"
	  "    x[0] = 5\n"
	  "    seen.append(f'{x}')\n"
	  "    x += 1\n"
	  "    show(x, x.sum().item(), seen)\n"
	  "    for i in range(2):\n"
	  "        x *= 2\n"
	  "        seen.append(str(x[i]))\n"
	  "        print(i, seen[-1], end=' ')\n"
	  "    print()\n"
	  "    return seen\n",
	  1, 0 },
	{ "text on the sides of a branch",
	  "def model(x):\n"
	  "    if x.sum() > 1:\n"
	  "        s, t = f'large {x.sum():.2f}', 'a'\n"
	  "    else:\n"
	  "        s, t = 'small', 'bc'\n"
	  "    word = 'up' if x[0] > x[1] else 'down'\n"
	  "    print(s, t, word)\n"
	  "    return x + 1, s + t, f'{word:>6}', [word]\n",
	  1, 0 },
	{ "a text that is chosen, then looked at",
	  "def model(x):\n"
	  "    word = 'up' if x.sum() > 0 else 'down'\n"
	  "    if word == 'up':\n"
	  "        x = x + 1\n"
	  "    return x * 2, word\n",
	  3, 1 },
	{ "digits after numbers",
	  "def model(x):\n"
	  "    n = x.sum().item()\n"
	  "    s = f'{n}0{n}a{x}1e5{n:.2f}9'\n"
	  "    for c in 'a7':\n"
	  "        if x.sum() > 1:\n"
	  "            s += c\n"
	  "        else:\n"
	  "            s = c + s + 'b0'\n"
	  "    print(s, 'ff', n, 'ace')\n"
	  "    return x + 1, s + '1', f'{s}2{n}3'\n",
	  1, 0 },
	{ "the truth of a text",
	  "def model(x):\n"
	  "    s = str(x.sum().item())\n"
	  "    return (1 if s else 2), not s, s or 'none', bool(s and x.shape), s is None, type(s) "
	  "is str\n",
	  1, 0 },
	{ "a text is compared",
	  "def model(x):\n"
	  "    s = f'{x.sum().item():.1f}'\n"
	  "    y = x + 1\n"
	  "    same = s == '3.2'\n"
	  "    return y * 2, same\n",
	  2, 1 },
	{ "a text as a key",
	  "def count(s):\n"
	  "    return len({s: 1})\n"
	  "def model(x):\n"
	  "    s = f'{x.max().item():.0f}'\n"
	  "    n = count(s)\n"
	  "    return x + n\n",
	  2, 1 },
	{ "length, parts, methods, members of a text",
	  "def a(x):\n"
	  "    return len(str(x.sum().item()))\n"
	  "def b(x):\n"
	  "    return str(x.sum().item())[0]\n"
	  "def c(x):\n"
	  "    return str(x.sum().item()).split('.')\n"
	  "def d(x):\n"
	  "    return '1' in str(x.sum().item())\n"
	  "def model(x):\n"
	  "    return x + 1, a(x), b(x), c(x), d(x)\n",
	  5, 4 },
	{ "an error that an except would take for the text's",
	  "def model(x):\n"
	  "    s = str(x.sum().item())\n"
	  "    try:\n"
	  "        s = s[0] + s.upper() + ascii(s)\n"
	  "    except (TypeError, AttributeError) as e:\n"
	  "        s = 'wrong'\n"
	  "    return x * 2, s\n",
	  -1, 1 },
	{ "a specification that does not fit",
	  "def model(x):\n"
	  "    try:\n"
	  "        return x + 1, f'{x.sum().item():d}'\n"
	  "    except ValueError as e:\n"
	  "        return x, str(e)\n",
	  1, 0 },
	{ "numbers of the call in text",
	  "def model(x):\n"
	  "    n = x.shape[0]\n"
	  "    names = {f'size_{n}': n * 2}\n"
	  "    return x + names['size_3'], f'{n} {n:4d} %d %s' % (n, n)\n",
	  1, 0 },
};

static void text_is_made_behind_the_graph(void **state)
{
	(void)state;
	check(texts, sizeof(texts) / sizeof(texts[0]));
}

/* ---- numbers ---- */

static const struct program numbers[] = {
	{ "functions of math",
	  "import math\n"
	  "def model(x):\n"
	  "    a, b, c = abs(x[0].item()), x[1].item(), float(x[2])\n"
	  "    return (x + 1, math.sqrt(a), math.exp(-a), math.log(a + 1), math.log2(a + 2), "
	  "math.log10(a + 1),\n"
	  "            math.log1p(a), math.log(a + 2, 3), math.log(a + 2, a + 3), math.sin(a / (a "
	  "+ 1)), math.cos(b * 0),\n"
	  "            math.tanh(b), math.atan2(b, a), math.copysign(a, b), math.fabs(b), "
	  "math.degrees(math.atan(b)),\n"
	  "            math.erf(b), math.isnan(c), math.isinf(c), math.isfinite(c), math.hypot(3, "
	  "math.tanh(c)))\n",
	  1, 0 },
	{ "where math raises",
	  "import math\n"
	  "def f(x, i):\n"
	  "    v = x[i].item()\n"
	  "    return [math.sqrt, math.log, math.exp][i](v)\n"
	  "def model(x):\n"
	  "    out = []\n"
	  "    for i in range(3):\n"
	  "        try:\n"
	  "            out.append(f(x, i))\n"
	  "        except (ValueError, OverflowError) as e:\n"
	  "            out.append(str(e))\n"
	  "    return x + 1, out\n",
	  -1, 0 },
	{ "what is not caught",
	  "import math\n"
	  "def model(x):\n"
	  "    return x + math.floor(x[2].item()) + math.exp(x[0].item()) + 1 / x[1].item()\n",
	  1, 0 },
	{ "whole numbers of floats",
	  "import math\n"
	  "def model(x):\n"
	  "    v = (x.nan_to_num(0.0, 9.0, -9.0) % 1000).sum().item() - 3.5\n"
	  "    n, b = int(v), v > 0\n"
	  "    return (math.floor(v), math.ceil(v), math.trunc(v), round(v), round(v, 2), round(v, "
	  "ndigits=-1),\n"
	  "            round(n), round(n, 1), abs(v), abs(n), abs(b), math.floor(n), math.ceil(b), "
	  "int(b), bool(n), float(b))\n",
	  1, 0 },
	{ "operators of floats",
	  "def model(x):\n"
	  "    a, b = x[0].item(), x[1].item() + 0.75\n"
	  "    return (x * a, a + b, a - b, a * b, a / b, a // b, a % b, b // 3, b % -3, 7 % b, "
	  "-a, +a, a ** 2, b ** 2.0,\n"
	  "            abs(a) ** 0.5, 2 ** b, divmod(b, 2.5), pow(b, 3))\n",
	  1, 0 },
	{ "operators of ints and bools",
	  "def model(x):\n"
	  "    n = int(x.clamp(-50, 50).nan_to_num().sum()) + 7\n"
	  "    k = (x > 0).sum().item()\n"
	  "    b, c = k > 1, n > k\n"
	  "    return (x * k, n + k, n - k, n * k, n / 3, n // 3, n % 3, n // -4, n % -4, 100 // "
	  "(k + 1), -n, +b, ~n, ~k,\n"
	  "            n ** 2, n ** k, 2 ** k, n ** 0, divmod(n, 5), n & k, n | 8, n ^ k, b & c, b "
	  "| c, b ^ c, b + c, b * n,\n"
	  "            not b, n > k, n == k, n != 1.5, n <= 2.5, b == c, True + b, n * 1.5, k / (n "
	  "* n + 1))\n",
	  1, 0 },
	{ "beyond 64 bits",
	  "def model(x):\n"
	  "    n = x.nan_to_num(0.0, 0.0, 0.0).clamp(-4e18, 4e18).max().long().item()\n"
	  "    return n + n + n, n * n, n / 7, n - 3\n",
	  1, 0 },
	{ "a float beside a large int",
	  "def model(x):\n"
	  "    n = x.nan_to_num(0.0, 0.0, 0.0).clamp(-4e18, 4e18).long().sum().item()\n"
	  "    return n == float(x[0]), n < 0.5, n > float(x.max()), x + 1\n",
	  1, 0 },
	{ "the largest and the smallest",
	  "def model(x):\n"
	  "    a, b, c = x[0].item(), x[1].item(), x[2].item()\n"
	  "    n, k = (x > 0).sum().item(), (x > 2).sum().item()\n"
	  "    return max(a, b), min(a, b, c), max([a, 0.0]), min(c, -0.0), max(n, k, 2), min([n, "
	  "1]), max(a, 1.5) * x\n",
	  1, 0 },
	{ "sums of floats are compensated",
	  "def model(x):\n"
	  "    v = [x[0].item() / 3, x[1].item() * 0.1, 1e10, x[2].item() / 7, -1e10]\n"
	  "    n = [int(x.isnan().sum()), 2, x.argmin().item()]\n"
	  "    return sum(v), sum(v[:1]), sum(v, 0.1), sum([0.1, v[0], 3, n[0], v[1]]), sum(n), "
	  "sum(n, 1.5), sum([x, v[0]])\n",
	  1, 0 },
	{ "either, both, chains",
	  "def model(x):\n"
	  "    a, b = x[0].item(), x.max().item()\n"
	  "    c = a > 0 and b < 5\n"
	  "    d = a > 1 or b > 2\n"
	  "    e = not c and d\n"
	  "    f = 0 < a < b <= 7.0\n"
	  "    y = a if c else b\n"
	  "    z = 1.5 if a == b else a * 2\n"
	  "    return x * y, c, d, e, f, y, z, bool(a), {'y': y, 'c': [c]}, a or b, a and b\n",
	  1, 0 },
	{ "numbers as operands of ops",
	  "import torch\n"
	  "def model(x):\n"
	  "    a, n, b = x[0].item(), (x > 1).sum().item(), bool(x[1] > 0)\n"
	  "    y = x.clone()\n"
	  "    y[0] = a\n"
	  "    y.mul_(n)\n"
	  "    return (torch.clamp(x, max=a), torch.clamp(x, min=n), torch.full((2,), a), "
	  "torch.full((2, 1), n),\n"
	  "            torch.full((), b), torch.full((1,), a, dtype=torch.float64), "
	  "torch.full_like(x, a), torch.where(x > a, x, n),\n"
	  "            torch.maximum(x, x * 0 + a), x > n, x == b, x ** n, a - x, n / (x * x + 1), "
	  "y, x.pow(2) + b)\n",
	  1, 0 },
	{ "lists of elements",
	  "def model(x):\n"
	  "    s, most = 0.0, -1.0\n"
	  "    for v in x.tolist():\n"
	  "        s += v * v\n"
	  "        most = max(most, v)\n"
	  "    a, b, c = x.tolist()\n"
	  "    y = x + a\n"
	  "    y[0] = c\n"
	  "    grid = (y.view(3, 1) > 0).tolist()\n"
	  "    counts = x.isnan().long().tolist()\n"
	  "    print(grid, [f'{v:.2f}' for v in y.tolist()], sum(counts))\n"
	  "    return y * s, most, x.tolist(), y[0].tolist(), x[:0].tolist(), grid, [v > 1 for v "
	  "in x.tolist()], dict(zip('abc', x.tolist()))\n",
	  1, 0 },
	{ "a longer list ends the graph",
	  "def model(x):\n"
	  "    return x + 1, x.repeat(30).tolist()\n",
	  1, 1 },
	{ "sizes and indices are breaks",
	  "import torch\n"
	  "def model(x):\n"
	  "    n = (x > 0).sum().item()\n"
	  "    y = torch.zeros(n)\n"
	  "    z = [10, 20, 30, 40][n]\n"
	  "    return y, z, x + 1\n",
	  -1, 1 },
};

static void numbers_are_nodes(void **state)
{
	(void)state;
	check(numbers, sizeof(numbers) / sizeof(numbers[0]));
}

/* ---- assertions and exceptions ---- */

static const struct program errors[] = {
	{ "assertions with texts",
	  "def model(x):\n"
	  "    assert x.max().item() < 100, f'largest is {x.max().item():.1f} of {x}'\n"
	  "    y = x * 2\n"
	  "    x += 1\n"
	  "    assert (y == y).all(), 'NaN in ' + str(y)\n"
	  "    assert y.sum() > -12, ('sum', y.sum())\n"
	  "    print('all hold', y)\n"
	  "    return y\n",
	  1, 0 },
	{ "a text that is raised and caught",
	  "class Bad(ValueError):\n"
	  "    pass\n"
	  "def check(x):\n"
	  "    if x.sum() > 3:\n"
	  "        raise Bad(f'too large: {x.sum().item():.2f} of {x}')\n"
	  "    if x.min() < -2:\n"
	  "        raise ValueError('too small: %.3f' % x.min().item(), x.shape)\n"
	  "    return x + 1\n"
	  "def model(x):\n"
	  "    try:\n"
	  "        y = check(x)\n"
	  "        print('fine', y)\n"
	  "    except Bad as e:\n"
	  "        print('caught', e, repr(e))\n"
	  "        y = x - 1\n"
	  "    except ValueError as e:\n"
	  "        y = x * len(e.args)\n"
	  "    return y\n",
	  1, 0 },
	{ "a text that leaves the function",
	  "def check(x, name):\n"
	  "    if x.isnan().any():\n"
	  "        raise ValueError(f'{name} has {x.isnan().sum().item()} NaN: {x}')\n"
	  "    if (x.abs() > 1e10).any():\n"
	  "        raise OverflowError(name + ' is ' + str(x.abs().max().item()))\n"
	  "    return x\n"
	  "def model(x):\n"
	  "    x += 1\n"
	  "    y = check(x, 'x') * 2\n"
	  "    print(f'mean {y.mean():.4f}')\n"
	  "    return check(y, 'y')\n",
	  1, 0 },
	{ "an exception that is made, and not raised",
	  "def model(x):\n"
	  "    e = ValueError(f'sum {x.sum().item()}', 1)\n"
	  "    print(e, [e])\n"
	  "    return x + 1, str(e), e.args\n",
	  1, 0 },
	{ "raised in any case",
	  "def model(x):\n"
	  "    y = x + 1\n"
	  "    raise ValueError(f'{y}')\n",
	  -1, 1 },
};

static void errors_are_eager_s(void **state)
{
	(void)state;
	check(errors, sizeof(errors) / sizeof(errors[0]));
}

/* Found by the fuzzer: policy dynamo, where the number is a symbol of the next call. */
static void a_symbol_that_math_refuses(void **state)
{
	static const char source[] = "import math\n"
				     "def f(x, i):\n"
				     "    v = x[i].item()\n"
				     "    return [math.sqrt, math.log, math.exp][i](v)\n"
				     "def model(x):\n"
				     "    return [f(x, i) for i in range(3)], x + 1\n";
	struct engine compiled = engine_open("interp", FUSION_AUTO, source);
	struct engine eager = engine_open("interp", FUSION_EAGER, source);

	(void)state;
	same_calls("math", &compiled, &eager);
	engine_close(&compiled);
	engine_close(&eager);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_made_behind_the_graph),
		cmocka_unit_test(numbers_are_nodes),
		cmocka_unit_test(errors_are_eager_s),
		cmocka_unit_test(a_symbol_that_math_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
