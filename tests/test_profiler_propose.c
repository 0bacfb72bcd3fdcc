/* tests/test_profiler_propose.c -- inputs that a program's own text tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/base/buf.h"
#include "profiler/profiler.h"

/* "ENTRY(x=..., y=...) line N" of the first proposal; "" where there is none. */
static char *proposed(const char *source, const char *entry)
{
	json_t *workload = json_pack("{s:s}", "source", source), *list, *first, *input;
	struct buf out;
	size_t i;

	if (entry)
		json_object_set_new(workload, "entry", json_string(entry));
	list = workload_proposals(workload, NULL, false);
	first = json_array_get(list, 0);
	buf_init(&out, 0);
	buf_puts(&out, "");
	if (first)
		buf_printf(&out, "%s", json_string_value(json_object_get(first, "entry")));
	json_array_foreach(json_object_get(first, "inputs"), i, input)
	{
		buf_printf(&out, " %s=%s", json_string_value(json_object_get(input, "name")),
			   json_string_value(json_object_get(input, "text")));
	}
	json_decref(list);
	json_decref(workload);
	return buf_steal(&out);
}

struct propose_case {
	const char *source, *entry, *want;
};

static void check(const struct propose_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *said = proposed(cases[i].source, cases[i].entry);

		if (strcmp(said, cases[i].want) != 0)
			print_error("%s\n", cases[i].source);
		assert_string_equal(said, cases[i].want);
		free(said);
	}
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof((cases)[0]))
#define TORCH "import torch\nimport torch.nn as nn\n"
#define NET                                                                                        \
	TORCH "class Net(nn.Module):\n"                                                            \
	      "    def __init__(self, width, depth=2):\n"                                          \
	      "        super().__init__()\n"                                                       \
	      "        self.first = nn.Linear(width, 8)\n"                                         \
	      "    def forward(self, x, scale=1.0):\n"                                             \
	      "        return self.first(x) * scale\n"
#define PAIR TORCH "def model(x, y):\n    return x + y\n"
#define MAIN "if __name__ == '__main__':\n"

static void a_call_of_the_program_is_spelled_out(void **state)
{
	static const struct propose_case cases[] = {
		{ PAIR MAIN "    n = 4\n    x = torch.randn(n, 2 * n)\n    model(x, x + 1)\n", NULL,
		  "model x=torch.randn(4, 2 * 4) y=torch.randn(4, 2 * 4) + 1" },
		{ PAIR MAIN "    a, b = torch.ones(2), torch.ones(\n        2,  # two\n    )\n"
			    "    print(model(y=a, x=b).sum())\n",
		  NULL, "model x=torch.ones(2,) y=torch.ones(2)" },
		{ PAIR MAIN "    shape = 2, 3\n    for i in range(5):\n"
			    "        model(torch.zeros(shape), i)\n",
		  NULL, "model x=torch.zeros((2, 3)) y=0" },
		{ PAIR "def get(n=3):\n    return torch.ones(n), 1\n" MAIN
		       "    for step, (x, y) in enumerate([get()]):\n        model(x, y)\n",
		  NULL, "model x=get()[0] y=get()[1]" },
		{ PAIR "x = torch.ones(3)\nmodel(x, [1, 2][0])\n", NULL, "model x=x y=[1, 2][0]" },
		{ PAIR MAIN
		  "    x = torch.ones(3)\n    x += 1\n    x.mul_(2)\n    model(x.to(device), 1)\n",
		  NULL, "model x=(torch.ones(3) + 1).mul_(2) y=1" },
		{ PAIR "def main(n, m=2):\n    model(torch.ones(n), torch.ones(m))\n" MAIN
		       "    main(5)\n",
		  NULL, "model x=torch.ones(5) y=torch.ones(2)" },
		{ PAIR "def timed(f, *args):\n    return f(*args)\n" MAIN
		       "    x = torch.ones(3)\n    timed(model, x, 2, runs=3)\n",
		  NULL, "model x=torch.ones(3) y=2" },
		{ PAIR MAIN "    f = lambda n: n\n    n = 7\n    model(torch.ones(n), [n for n in "
			    "(1,)][0])\n",
		  NULL, "model x=torch.ones(7) y=[n for n in (1,)][0]" },
	};

	(void)state;
	CHECK(cases);
}

static void what_makes_a_module_becomes_the_entry(void **state)
{
	static const struct propose_case cases[] = {
		{ NET MAIN
		  "    net = Net(4).to('cuda')\n    net.eval()\n    out = net(torch.randn(2, 4))\n",
		  NULL, "Net(4).eval() x=torch.randn(2, 4)" },
		{ NET MAIN "    model = Net(width=4)\n    model = torch.compile(model)\n"
			   "    model(torch.randn(2, 4), scale=3)\n",
		  NULL, "Net(width=4) x=torch.randn(2, 4) scale=3" },
		{ NET "net = Net(4)\nnet(torch.randn(2, 4))\n", "net", "net x=torch.randn(2, 4)" },
		{ NET MAIN "    Net(4)\n", "Net", "Net(4) x=float32[8,4]" },
		{ NET, NULL, "Net(width=16) x=float32[8,16]" },
		{ NET "def test_net():\n    net = Net(6)\n    assert net(torch.ones(1, 6)).shape\n",
		  NULL, "Net(6) x=torch.ones(1, 6)" },
	};

	(void)state;
	CHECK(cases);
}

static void options_of_a_parser_have_their_defaults(void **state)
{
	static const struct propose_case cases[] = {
		{ NET "import argparse\n"
		      "def train(args):\n"
		      "    Net(args.layer_width)(torch.ones(args.n, args.layer_width), "
		      "args.fast)\n" MAIN "    p = argparse.ArgumentParser()\n"
		      "    p.add_argument('-w', '--layer-width', type=int, default=12)\n"
		      "    p.add_argument('--number', dest='n', default=2 + 1)\n"
		      "    p.add_argument('--fast', action='store_true')\n"
		      "    args = p.parse_args()\n"
		      "    train(args)\n",
		  NULL, "Net(12) x=torch.ones(2 + 1, 12) scale=False" },
	};

	(void)state;
	CHECK(cases);
}

static void annotations_and_docstrings_tell_shapes(void **state)
{
	static const struct propose_case cases[] = {
		{ "def model(x: Float[Tensor, \"b c h w\"], i: Int[Tensor, 'b 7']):\n    return "
		  "x\n",
		  NULL, "model x=float32[2,3,32,32] i=int64[2,7]<10" },
		{ "def model(x: TensorType['batch', 5], m: Bool[Tensor, '*b 5']):\n    return x\n",
		  NULL, "model x=float32[2,5] m=bool[2,5]" },
		{ "def model(x: Tensor, n: int, p: float, on: bool, y=3):\n    return x\n", NULL,
		  "model x=float32[8,16] n=4 p=0.1 on=True" },
		{ "def model(x, y):\n    '''Adds.\n\n    x: (B, T, C)\n    y (Tensor): a shape of "
		  "[T, C].\n"
		  "    '''\n    return x + y\n",
		  NULL, "model x=float32[2,16,3] y=float32[16,3]" },
		{ "def model(ids):\n    \"\"\"Shape:\n    - Input: :math:`(N, L)`\n    \"\"\"\n    "
		  "return ids\n",
		  NULL, "model ids=int64[2,16]<10" },
		{ "def model(q, k):\n    b, h, t, d = q.shape\n    return q @ k.mT\n", NULL,
		  "model q=float32[2,32,16,64] k=float32[2,32,16,64]" },
		{ "from dataclasses import dataclass\n@dataclass\nclass Options:\n    rate: float\n"
		  "    n: int = 3\ndef model(o: Options):\n    return o.n\n",
		  NULL, "model o=Options(rate=0.1)" },
	};

	(void)state;
	CHECK(cases);
}

#define MODULE(init, forward)                                                                      \
	TORCH "class M(nn.Module):\n    def __init__(self, c, dim=24):\n"                          \
	      "        super().__init__()\n" init "    def forward(self, x):\n" forward

static void layers_tell_sizes(void **state)
{
	static const struct propose_case cases[] = {
		{ MODULE("        self.a = nn.Conv2d(c, 8, 3)\n", "        return self.a(x)\n"),
		  "M", "M(c=3) x=float32[2,3,32,32]" },
		{ MODULE("        self.a = nn.Sequential(nn.Flatten(), nn.Linear(dim * 2, 3))\n",
			 "        return self.a(torch.relu(x))\n"),
		  "M", "" },
		{ MODULE("        self.a = nn.Sequential(nn.Flatten(), nn.Linear(dim * 2, 3))\n",
			 "        return self.a(x)\n"),
		  "M", "M(c=3) x=torch.randn(8, 24 * 2)" },
		{ MODULE("        self.dim = dim\n        self.a = nn.Embedding(90, self.dim)\n",
			 "        b, t = x.shape\n        h = self.a(x)\n        return h\n"),
		  "M", "M(c=3) x=int64[2,16]<90" },
		{ MODULE(
		      "        self.a = nn.ModuleList([nn.Linear(dim, dim) for _ in range(c)])\n",
		      "        for layer in self.a:\n            x = layer(x)\n        return x\n"),
		  "M", "M(c=3) x=float32[8,24]" },
		{ MODULE("        self.a = Part(c, dim)\n",
			 "        return self.a(x)\n") "class Part(nn.Module):\n    def "
						       "__init__(self, n, m):\n"
						       "        super().__init__()\n        self.p "
						       "= nn.Linear(m, n)\n"
						       "    def forward(self, y):\n        return "
						       "self.p(y)\n",
		  "M", "M(c=3) x=float32[8,24]" },
		{ MODULE("        self.a = nn.LSTM(dim, 4)\n",
			 "        return self.run(x)\n    def run(self, z):\n        return "
			 "self.a(z)\n"),
		  "M", "M(c=3) x=float32[2,16,24]" },
	};

	(void)state;
	CHECK(cases);
}

static void nothing_is_proposed_where_nothing_tells(void **state)
{
	static const struct propose_case cases[] = {
		{ "def model(a, b):\n    return a + b\n", NULL, "" },
		{ PAIR MAIN "    import random\n    model(random.random(), 1)\n", NULL, "" },
		{ PAIR MAIN "    xs = []\n    xs.append(torch.ones(2))\n    model(xs[0], 1)\n",
		  NULL, "" },
		{ PAIR "def use(x):\n    return model(x, 1)\n", NULL, "" },
		{ PAIR MAIN "    model(torch.nothing(3), 1)\n", NULL, "" },
		{ "def model(:\n", NULL, "" },
		{ "", NULL, "" },
		{ "class A:\n    pass\n", "A", "" },
	};

	(void)state;
	CHECK(cases);
}

/* `before`, then `open` and `close` n times around a 1, then `after`. */
static char *nested(const char *before, const char *open, int n, const char *close,
		    const char *after)
{
	struct buf text;

	buf_init(&text, 0);
	buf_puts(&text, before);
	for (int i = 0; i < n; i++)
		buf_puts(&text, open);
	buf_puts(&text, "1");
	for (int i = 0; i < n; i++)
		buf_puts(&text, close);
	buf_puts(&text, after);
	return buf_steal(&text);
}

/* Texts that grow with each step, and constructions within constructions, come to an end. */
static void a_text_that_would_grow_without_end_is_given_up(void **state)
{
	char *sources[] = {
		nested(PAIR MAIN "    x = torch.ones(2)\n", "    x = x + x + x + x\n", 60, "",
		       "\n    model(x, 1)\n"),
		nested(TORCH "class M(nn.Module):\n    def __init__(self):\n        self.a = ",
		       "nn.Sequential(", 60, ")",
		       "\n    def forward(self, x):\n        return self.a(x)\n"),
		nested(PAIR MAIN "    model(", "model(", 60, ", 1)", ", 1)\n"),
		nested(PAIR "def a():\n    b()\ndef b():\n    a()\n" MAIN "    a()\n    y = ", "-",
		       90, "", "\n    model(y, y)\n"),
		nested(TORCH
		       "class A:\n    b: B\nclass B:\n    a: A\ndef model(x: A):\n    return ",
		       "", 1, "", "\n"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		assert_non_null(sources[i]);
		free(proposed(sources[i], i == 1 ? "M" : NULL));
		free(sources[i]);
	}
}

static void a_proposal_of_a_program_of_files_names_its_file(void **state)
{
	json_t *workload = json_pack("{s:{s:s, s:s}, s:s}", "files", "train.py",
				     NET MAIN "    print(Net(3)(torch.ones(1, 3)))\n", "other.py",
				     "x = 1\n", "entry", "train.py:Net");
	json_t *list = workload_proposals(workload, NULL, false), *first = json_array_get(list, 0);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(first, "entry")), "train.py:Net(3)");
	assert_int_equal(json_integer_value(json_object_get(first, "line")), 10);
	assert_true(json_is_true(json_object_get(first, "needed")));
	assert_int_equal(json_array_size(json_object_get(first, "calls")), 1);
	json_decref(list);
	json_decref(workload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_of_the_program_is_spelled_out),
		cmocka_unit_test(what_makes_a_module_becomes_the_entry),
		cmocka_unit_test(options_of_a_parser_have_their_defaults),
		cmocka_unit_test(annotations_and_docstrings_tell_shapes),
		cmocka_unit_test(layers_tell_sizes),
		cmocka_unit_test(nothing_is_proposed_where_nothing_tells),
		cmocka_unit_test(a_text_that_would_grow_without_end_is_given_up),
		cmocka_unit_test(a_proposal_of_a_program_of_files_names_its_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
