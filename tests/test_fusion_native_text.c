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
			graphs = fusion_graph_count(native.session);
			breaks = fusion_break_count(native.session);
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
	  "            '{:.2f} {!r} {k:>4} {0}'.format(n, b, k=k), format(n, '+.1f'), repr(n),\n"
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
	  5, 8 },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_made_behind_the_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
