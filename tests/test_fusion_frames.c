/* tests/test_fusion_frames.c -- programs that break, write, restart and resume.
 *
 * Each program runs in eager and in every compiled mode: what it returns, what
 * it prints and what it leaves must be the same, call by call.  Graphs
 * of each call and breaks are PyTorch's where PyTorch was asked; the others say
 * what the rules of capture give.
 */
#include <stdlib.h>

#include "tests/engine.h"

struct program {
	const char *name, *source;
	const char *graphs; /* of the calls in mode static; NULL: not looked at */
	const char *breaks; /* "kind@line outcome", apart by semicolons */
};

#define PRELUDE "import torch\nimport torch._dynamo\n"

static const struct program programs[] = {
	{ "branch",
	  PRELUDE "def model(x):\n"
		  "    y = x * 2\n"
		  "    if y.sum() > 0:\n"
		  "        return y + 1\n"
		  "    return y - 1\n",
	  "2 0 1", "data-dependent-branch@5 jump" },
	{ "break_in_callee",
	  PRELUDE "def helper(y):\n"
		  "    y = y + 1\n"
		  "    print('in')\n"
		  "    return y * 2\n"
		  "def model(x):\n"
		  "    x = x * 2\n"
		  "    x = helper(x)\n"
		  "    return x * 3\n",
	  "4 0 0", "host-call@5 inline; host-call@5 resume" },
	{ "parameter_exchanged_after_a_break",
	  PRELUDE "class M(torch.nn.Module):\n"
		  "    def __init__(self):\n"
		  "        super().__init__()\n"
		  "        self.w = torch.nn.Parameter(torch.ones(3))\n"
		  "    def forward(self, x, p):\n"
		  "        y = x.sin()\n"
		  "        print('in')\n"
		  "        self.w = p\n"
		  "        return y.sum() + self.w\n"
		  "m = M()\n"
		  "q = torch.nn.Parameter(torch.zeros(3))\n"
		  "def model(x):\n"
		  "    return m(x, q)\n",
	  NULL, "host-call@9 inline; host-call@9 resume" },
	{ "skipped_loop",
	  PRELUDE "def inner(x):\n"
		  "    return x * 2 + 1\n"
		  "def model(x):\n"
		  "    for i in range(3):\n"
		  "        print(i)\n"
		  "        x = inner(x)\n"
		  "    return x\n",
	  "1 0 0", "host-call@7 skip" },
	{ "try_steps",
	  PRELUDE "def model(x):\n"
		  "    x = x + 1\n"
		  "    x = x * 2\n"
		  "    try:\n"
		  "        x = x - 3\n"
		  "        print('try')\n"
		  "        raise ValueError('no')\n"
		  "    except ValueError as e:\n"
		  "        print(e)\n"
		  "    finally:\n"
		  "        print('done')\n"
		  "    return x + 1\n",
	  "1 0 0", "host-call@8 step before 6" },
	{ "lists_change_behind_the_graph",
	  PRELUDE "seen = [0]\n"
		  "def model(x):\n"
		  "    y = x + 1\n"
		  "    seen.append(len(seen))\n"
		  "    print(seen)\n"
		  "    seen[0] = seen[0] + 2\n"
		  "    z = y * seen[0]\n"
		  "    return z, list(seen)\n",
	  NULL, "host-call@7 resume" },
	{ "aliases_live_over_a_break",
	  PRELUDE "def model(x):\n"
		  "    a = [x * 2]\n"
		  "    b = a\n"
		  "    c = (a, b)\n"
		  "    print('cut')\n"
		  "    b.append(x + 1)\n"
		  "    t = a[0]\n"
		  "    t += 1\n"
		  "    return len(a), c[0] is c[1], a[0] is b[0], a[0], c\n",
	  "2 0 0", "host-call@7 resume" },
	{ "globals_count",
	  PRELUDE "calls = 0\n"
		  "def model(x):\n"
		  "    global calls\n"
		  "    calls += 1\n"
		  "    y = x * calls\n"
		  "    print(calls)\n"
		  "    calls += 10\n"
		  "    return y + calls\n",
	  NULL, "host-call@8 resume" },
	{ "closures_over_a_break",
	  PRELUDE "def model(x):\n"
		  "    n = 1\n"
		  "    def add(k):\n"
		  "        nonlocal n\n"
		  "        n += k\n"
		  "        return x * n\n"
		  "    a = add(1)\n"
		  "    print('cut', n)\n"
		  "    b = add(2)\n"
		  "    return a + b, n, add(0)\n",
	  "2 0 0", "host-call@10 resume" },
	{ "recursive_closure_over_a_break",
	  PRELUDE "def model(x):\n"
		  "    def down(k):\n"
		  "        return x if k == 0 else down(k - 1) + 1\n"
		  "    a = down(2)\n"
		  "    print('cut')\n"
		  "    return a + down(3)\n",
	  "2 0 0", "host-call@7 resume" },
	{ "instances_made_and_changed",
	  PRELUDE "class Box:\n"
		  "    kept = []\n"
		  "    def __init__(self, v):\n"
		  "        self.v = v\n"
		  "        self.n = 0\n"
		  "    def put(self, v):\n"
		  "        self.v = v\n"
		  "        self.n += 1\n"
		  "        return self\n"
		  "shared = Box(1)\n"
		  "def model(x):\n"
		  "    b = Box(x + 1)\n"
		  "    shared.put(b.v * 2)\n"
		  "    print(shared.n)\n"
		  "    b.put(b.v * 3)\n"
		  "    Box.kept.append(b.n)\n"
		  "    shared.n += 1\n"
		  "    return b.v + shared.v, b.n, shared.n, len(Box.kept)\n",
	  NULL, "host-call@16 resume" },
	{ "writes_to_arguments",
	  PRELUDE "def model(x):\n"
		  "    y = x\n"
		  "    y += 1\n"
		  "    print('cut')\n"
		  "    x *= 2\n"
		  "    return y - 1, y is x\n",
	  "2 0 0", "host-call@6 resume" },
	{ "iterators_over_a_break",
	  PRELUDE "def model(x):\n"
		  "    it = iter([x, x + 1, x + 2])\n"
		  "    a = next(it)\n"
		  "    print('cut')\n"
		  "    b = next(it)\n"
		  "    return a + b, [t * 2 for t in it]\n",
	  "2 0 0", "host-call@6 resume" },
	{ "operands_wait_over_a_break",
	  PRELUDE "def show(v):\n"
		  "    print('show')\n"
		  "    return v\n"
		  "def model(x):\n"
		  "    y = x * 2\n"
		  "    return (y + 1) * show(y) + [3, 4][1]\n",
	  "2 0 0", NULL },
	{ "unset_locals",
	  PRELUDE "def model(x):\n"
		  "    if x.sum() > 0:\n"
		  "        y = x + 1\n"
		  "    try:\n"
		  "        return y * 2\n"
		  "    except UnboundLocalError:\n"
		  "        return x\n",
	  NULL, NULL },
	{ "generators_run_inside",
	  PRELUDE "def parts(x):\n"
		  "    for i in range(3):\n"
		  "        yield x * i\n"
		  "def model(x):\n"
		  "    y = sum(parts(x))\n"
		  "    print('cut')\n"
		  "    return y + sum(t for t in parts(y))\n",
	  "2 0 0", "host-call@8 resume" },
	{ "generator_held_over_a_break",
	  PRELUDE "def parts(x):\n"
		  "    for i in range(3):\n"
		  "        yield x * i\n"
		  "def model(x):\n"
		  "    g = parts(x + 1)\n"
		  "    a = next(g)\n"
		  "    print('cut')\n"
		  "    return a + next(g) + next(g)\n",
	  NULL, NULL },
	{ "item_becomes_a_number",
	  PRELUDE "def model(x):\n"
		  "    n = int((x * 0 + 2).sum().item())\n"
		  "    for i in range(n):\n"
		  "        x = x + i\n"
		  "    return x, n\n",
	  "2 0 0", "scalar-read@4 resume" },
	{ "breaks_in_a_row",
	  PRELUDE "def model(x):\n"
		  "    print('a')\n"
		  "    print('b')\n"
		  "    x = x + 1\n"
		  "    torch._dynamo.graph_break()\n"
		  "    torch._dynamo.graph_break()\n"
		  "    return x * 2\n",
	  "2 0 0", NULL },
	{ "disabled",
	  PRELUDE "def deep(x):\n"
		  "    return x * 3\n"
		  "@torch._dynamo.disable\n"
		  "def opaque(x):\n"
		  "    return deep(x) - 1\n"
		  "def model(x):\n"
		  "    return opaque(x + 1) * 2\n",
	  "2 0 0", "disabled-function@9 resume" },
	{ "disabled_but_not_what_it_calls",
	  PRELUDE "def deep(x):\n"
		  "    return x * 3 + 1\n"
		  "@torch.compiler.disable(recursive=False)\n"
		  "def opaque(x):\n"
		  "    return deep(x) - 1\n"
		  "def model(x):\n"
		  "    return opaque(x + 1) * 2\n",
	  "3 0 0", "disabled-function@9 resume" },
	{ "no_grad_is_no_obstacle",
	  PRELUDE "def model(x):\n"
		  "    with torch.no_grad():\n"
		  "        x = x * 2\n"
		  "        print('in')\n"
		  "        x = x * 3\n"
		  "    return x + 1\n",
	  "2 0 0", "host-call@6 resume" },
	{ "grad_modes_nest_and_break",
	  PRELUDE "@torch.no_grad()\n"
		  "def helper(x, k=2):\n"
		  "    x = x * k\n"
		  "    print('in')\n"
		  "    return x + k\n"
		  "@torch.no_grad\n"
		  "def plain(x):\n"
		  "    with torch.enable_grad():\n"
		  "        x = x - 1\n"
		  "    return x * 3\n"
		  "@torch.set_grad_enabled(False)\n"
		  "def model(x):\n"
		  "    try:\n"
		  "        with torch.no_grad(), torch.set_grad_enabled(True):\n"
		  "            y = plain(x) + helper(x, k=3)\n"
		  "            raise ValueError('out')\n"
		  "    except ValueError:\n"
		  "        pass\n"
		  "    return helper(x) + 1, plain(x)\n",
	  NULL, NULL },
	{ "grad_mode_is_no_graph",
	  PRELUDE "def model(x):\n"
		  "    with torch.no_grad():\n"
		  "        print('only')\n"
		  "    print('then')\n"
		  "    return x + 1\n",
	  "1 0 0", NULL },
	{ "break_in_except_that_raise_leads_to",
	  PRELUDE "def model(x):\n"
		  "    y = x * 2\n"
		  "    y = y + 1\n"
		  "    try:\n"
		  "        assert y.shape[0] == 3, 'size'\n"
		  "    except AssertionError as e:\n"
		  "        print(e)\n"
		  "    try:\n"
		  "        try:\n"
		  "            raise ValueError(1)\n"
		  "        finally:\n"
		  "            y = y - 1\n"
		  "    except ValueError as e:\n"
		  "        print(repr(e))\n"
		  "    return y + 1\n",
	  "1 0 0", "host-call@9 step before 6" },
	{ "break_in_except_before_any_op",
	  PRELUDE "def model(x):\n"
		  "    try:\n"
		  "        assert x.shape[0] == 3, 'size'\n"
		  "    except AssertionError as e:\n"
		  "        print(e)\n"
		  "    return x + 1\n",
	  "0 0 0", "host-call@7 skip" },
	{ "modules_made_inside",
	  PRELUDE "import torch.nn as nn\n"
		  "class M(nn.Module):\n"
		  "    def __init__(self):\n"
		  "        super().__init__()\n"
		  "        self.w = nn.Parameter(torch.ones(4))\n"
		  "        self.inner = nn.ModuleDict({'a': nn.LayerNorm(4)})\n"
		  "        self.register_buffer('b', torch.zeros(4))\n"
		  "    def forward(self, x):\n"
		  "        return self.inner['a'](x) * self.w + self.b\n"
		  "def model(x):\n"
		  "    m = M()\n"
		  "    print([n for n, _ in m.named_parameters()], sorted(m.state_dict()))\n"
		  "    y = m(x)\n"
		  "    print(isinstance(m.w, nn.Parameter), isinstance(m.b, nn.Parameter))\n"
		  "    return y, len(list(m.parameters()))\n",
	  NULL, NULL },
	{ "properties_are_set",
	  PRELUDE "class Box:\n"
		  "    def __init__(self, v):\n"
		  "        self.v = v\n"
		  "    @property\n"
		  "    def half(self):\n"
		  "        return self.v / 2\n"
		  "    @half.setter\n"
		  "    def half(self, v):\n"
		  "        self.v = v * 2\n"
		  "kept = Box(1.0)\n"
		  "def model(x):\n"
		  "    b = Box(x)\n"
		  "    b.half = x + 1\n"
		  "    kept.half += 1\n"
		  "    return b.v, kept.v, kept.half\n",
	  NULL, NULL },
	{ "functions_have_attributes",
	  PRELUDE "def scale(x):\n"
		  "    scale.calls += 1\n"
		  "    return x * scale.calls\n"
		  "scale.calls = 0\n"
		  "def first(x):\n"
		  "    if not hasattr(first, 'seen'):\n"
		  "        first.seen = 0\n"
		  "    first.seen += 1\n"
		  "    return x + first.seen\n"
		  "def model(x):\n"
		  "    return first(scale(scale(x)) + 1), scale.calls, first.seen\n",
	  NULL, NULL },
	{ "view_and_base_over_a_break",
	  PRELUDE "def model(x):\n"
		  "    y = x[1:]\n"
		  "    print('cut')\n"
		  "    y += 1\n"
		  "    w = y[1:]\n"
		  "    print('again')\n"
		  "    w *= 2\n"
		  "    x += 1\n"
		  "    return y.sum(), w, x\n",
	  "3 0 0", NULL },
	{ "transpose_and_base_over_a_break",
	  PRELUDE "def model(x):\n"
		  "    x = x.reshape(2, 2).clone()\n"
		  "    t = x.t()\n"
		  "    print('cut')\n"
		  "    t[0] = 5\n"
		  "    x += 1\n"
		  "    return t, x, t * x\n",
	  "2 0 0", "host-call@6 resume" },
	{ "views_that_overlap_over_a_break",
	  PRELUDE "def model(x):\n"
		  "    c = x.clone()\n"
		  "    vs = [c[i:i + 2] for i in range(3)]\n"
		  "    print('cut')\n"
		  "    for i, v in enumerate(vs):\n"
		  "        v += i\n"
		  "    return c, vs\n",
	  "2 0 0", "host-call@6 resume" },
	{ "halves_over_a_break",
	  PRELUDE "def model(x):\n"
		  "    a, b = (x * 1).chunk(2)\n"
		  "    print('cut')\n"
		  "    a.mul_(3)\n"
		  "    b += a\n"
		  "    return a, b\n",
	  "2 0 0", "host-call@5 resume" },
	{ "dicts_and_sets",
	  PRELUDE "state = {'n': 1, 'log': []}\n"
		  "tags = {'a'}\n"
		  "def model(x):\n"
		  "    state['n'] += 1\n"
		  "    state['y'] = x * state['n']\n"
		  "    tags.add('b')\n"
		  "    print(sorted(tags), list(state))\n"
		  "    state['log'].append(state['n'])\n"
		  "    del state['y']\n"
		  "    tags.discard('b')\n"
		  "    return x + len(state['log']), sorted(state), sorted(tags)\n",
	  NULL, "host-call@9 resume" },
	{ "recursion",
	  PRELUDE "def f(x, n):\n"
		  "    if n == 0:\n"
		  "        print('bottom')\n"
		  "        return x\n"
		  "    return f(x * 2, n - 1) + 1\n"
		  "def model(x):\n"
		  "    return f(x, 3)\n",
	  NULL, NULL },
	{ "assertion_holds",
	  PRELUDE "def model(x):\n"
		  "    y = x * x\n"
		  "    assert (y >= 0).all(), 'negative'\n"
		  "    return y + 1\n",
	  "1 0 0", "" },
	{ "assertion_fails",
	  PRELUDE "log = []\n"
		  "def f(x):\n"
		  "    log.append(1)\n"
		  "    assert (x > 100).all(), 'small'\n"
		  "    return x\n"
		  "def model(x):\n"
		  "    try:\n"
		  "        return f(x + 1)\n"
		  "    except AssertionError as e:\n"
		  "        return x, str(e), len(log)\n",
	  NULL, NULL },
	{ "nested_skip_and_callees",
	  PRELUDE "def leaf(x):\n"
		  "    return torch.sin(x) + 1\n"
		  "def body(x, i):\n"
		  "    if x.sum() > i:\n"
		  "        x = leaf(x)\n"
		  "    return x * 2\n"
		  "def model(x):\n"
		  "    i = 0\n"
		  "    while i < 3:\n"
		  "        x = body(x, i)\n"
		  "        i += 1\n"
		  "    return x\n",
	  NULL, NULL },
	{ "keywords_defaults_and_stars",
	  PRELUDE "def f(x, *rest, k=2, **kw):\n"
		  "    print(len(rest), sorted(kw))\n"
		  "    return x * k + sum(rest) + kw.get('z', 0)\n"
		  "def model(x):\n"
		  "    return f(x, x + 1, x + 2, k=3, z=4) + f(x) + f(x, *[x], **{'k': 1})\n",
	  NULL, NULL },
};

/* Values of two runs, which must not differ. */
static void assert_same(struct value a, struct value b, const char *where)
{
	if (a.kind != b.kind)
		fail_msg("%s: %s instead of %s", where, value_type_name(a), value_type_name(b));
	switch (a.kind) {
	case VALUE_TENSOR:
		assert_int_equal(tensor_numel(a.tensor->memory), tensor_numel(b.tensor->memory));
		for (int64_t i = 0; i < tensor_numel(a.tensor->memory); i++)
			engine_near(a, i, engine_at(b, i));
		return;
	case VALUE_TUPLE:
	case VALUE_LIST:
		assert_int_equal(a.list->len, b.list->len);
		for (int i = 0; i < a.list->len; i++)
			assert_same(a.list->at[i], b.list->at[i], where);
		return;
	default:
		if (!value_equal(a, b))
			fail_msg("%s: values differ", where);
	}
}

static void add_breaks(struct engine *e, struct buf *out)
{
	for (int i = 0; i < fusion_counts(e->session).n_breaks; i++) {
		struct fusion_break b = fusion_break(e->session, i);

		int line = b.stack[b.n_stack - 1].line;

		buf_printf(out, "%s%s@%d %s", i ? "; " : "", b.kind,
			   b.cause.line ? b.cause.line : line, b.outcome);
		if (b.cause.line)
			buf_printf(out, " before %d", line);
	}
}

static void run(const struct program *p, enum fusion_mode mode)
{
	struct engine eager = engine_open("interp", FUSION_EAGER, p->source);
	struct engine e = engine_open("interp", mode, p->source);
	struct buf graphs, breaks;

	buf_init(&graphs, 256);
	buf_init(&breaks, 4096);
	for (int call = 0; call < 3; call++) {
		/* of the first two calls one goes each way */
		struct value x = FLOATS(&e, 1 + 2 * call, 4), y = FLOATS(&eager, 1 + 2 * call, 4);
		int before = fusion_counts(e.session).n_graphs;
		struct value got = engine_call(&e, &x, 1), want = engine_call(&eager, &y, 1);

		assert_same(got, want, p->name);
		assert_same(x, y, p->name);
		buf_printf(&graphs, "%s%d", call ? " " : "",
			   fusion_counts(e.session).n_graphs - before);
		if (call == 0)
			add_breaks(&e, &breaks);
		value_unref(got);
		value_unref(want);
		value_unref(x);
		value_unref(y);
	}
	if (fusion_stdout(eager.session)->data)
		assert_string_equal(fusion_stdout(e.session)->data,
				    fusion_stdout(eager.session)->data);
	if (mode == FUSION_STATIC && p->graphs && strcmp(graphs.data, p->graphs) != 0)
		fail_msg("%s: graphs %s, not %s", p->name, graphs.data, p->graphs);
	if (p->breaks && strcmp(breaks.data ? breaks.data : "", p->breaks) != 0)
		fail_msg("%s: breaks %s, not %s", p->name, breaks.data ? breaks.data : "",
			 p->breaks);
	buf_finish(&graphs);
	buf_finish(&breaks);
	engine_close(&e);
	engine_close(&eager);
}

static void all_programs(enum fusion_mode mode)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		run(&programs[i], mode);
}

static void pieces_do_what_eager_does_in_mode_static(void **state)
{
	(void)state;
	all_programs(FUSION_STATIC);
}

static void pieces_do_what_eager_does_in_mode_auto(void **state)
{
	(void)state;
	all_programs(FUSION_AUTO);
}

static void pieces_do_what_eager_does_in_mode_dynamic(void **state)
{
	(void)state;
	all_programs(FUSION_DYNAMIC);
}

static void runs_in_eager(const struct fusion_frame_info *f, const int *lines, int n)
{
	assert_int_equal(f->n_lines, n);
	for (int i = 0; i < n; i++)
		assert_int_equal(f->lines[i], lines[i]);
}

/* Of a frame that is skipped each line is told that has code of its own: no empty one, no comment,
 * no other function's; of one that is compiled no more those from where it is resumed. */
static void a_frame_knows_which_of_its_lines_run_in_eager(void **state)
{
	static const char source[] = PRELUDE "def gate(x, i):\n"
					     "    print(i)\n"
					     "    return x * i\n"
					     "\n"
					     "def model(x):\n"
					     "    y = x + 1\n"
					     "    # each round breaks\n"
					     "    for i in range(4):\n"
					     "        y = gate(y, i)\n"
					     "        y = (y *\n"
					     "             2)\n"
					     "    f = lambda z: z\n"
					     "    return f(y)\n";
	static const int model[] = { 8, 10, 11, 12, 13, 14, 15 }, gate[] = { 4, 5 };
	struct engine e = engine_limited("interp", FUSION_STATIC, source, 2);
	struct value x = FLOATS(&e, 1, 2, 3);
	int skipped = 0, full = 0;

	(void)state;
	value_unref(engine_call(&e, &x, 1));
	for (int i = 0; i < fusion_counts(e.session).n_frames; i++) {
		struct fusion_frame_info f = fusion_frame(e.session, i);

		if (f.skipped) {
			skipped++;
			runs_in_eager(&f, model, 7);
			assert_string_equal(fusion_break(e.session, f.broke).outcome, "skip");
		} else if (f.run_only) {
			full++;
			runs_in_eager(&f, gate + (f.line == 5), 2 - (f.line == 5));
		} else {
			runs_in_eager(&f, NULL, 0);
		}
	}
	assert_int_equal(skipped, 1);
	assert_true(full > 0);
	value_unref(x);
	engine_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_do_what_eager_does_in_mode_static),
		cmocka_unit_test(pieces_do_what_eager_does_in_mode_auto),
		cmocka_unit_test(pieces_do_what_eager_does_in_mode_dynamic),
		cmocka_unit_test(a_frame_knows_which_of_its_lines_run_in_eager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
