/* tests/test_fusion_grad_views.c -- gradients of views over breaks.
 *
 * Each program is called twice, with 0 to 3 and with 1 to 4, in every mode under both
 * policies.  It prints what it finds; what it has to print was recorded with PyTorch's
 * eager (2.6, CPU).
 */
#include <stdlib.h>

#include "tests/engine.h"

struct program {
	const char *name, *source, *prints;
};

#define HEAD "import torch\nimport torch.nn as nn\n"

/* clang-format off */
static const struct program programs[] = {
	{ "a view of what was computed",
	  HEAD "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    y = (x * 2).view(2, 2)\n"
	  "    torch._dynamo.graph_break()\n"
	  "    (y * 3).sum().backward()\n"
	  "    print(x.grad.tolist(), y.requires_grad, y.is_leaf)\n",
	  "[6.0, 6.0, 6.0, 6.0] True False\n"
	  "[6.0, 6.0, 6.0, 6.0] True False\n" },
	{ "a training step whose layer is read through a view",
	  HEAD "lin = nn.Linear(2, 2)\n"
	  "for p in lin.parameters():\n"
	  "    nn.init.constant_(p, 0.5)\n"
	  "opt = torch.optim.SGD(lin.parameters(), lr=0.125)\n"
	  "def model(x):\n"
	  "    opt.zero_grad()\n"
	  "    h = lin(x.view(2, 2)).view(4)\n"
	  "    print(\"step\")\n"
	  "    loss = h.sum()\n"
	  "    loss.backward()\n"
	  "    opt.step()\n"
	  "    print(loss.item(), lin.weight.tolist(), lin.bias.grad.tolist())\n",
	  "step\n"
	  "8.0 [[0.25, 0.0], [0.25, 0.0]] [2.0, 2.0]\n"
	  "step\n"
	  "3.0 [[-0.25, -0.75], [-0.25, -0.75]] [2.0, 2.0]\n" },
	{ "views of a parameter",
	  HEAD "v = nn.Parameter(torch.arange(6.0).reshape(2, 3))\n"
	  "def model(x):\n"
	  "    v.grad = None\n"
	  "    a, b = v.t(), v.chunk(3, 1)[2]\n"
	  "    torch._dynamo.graph_break()\n"
	  "    print(a.requires_grad, a.is_leaf, b.requires_grad)\n"
	  "    (a.sum() + (b * b).sum()).backward()\n"
	  "    print(v.grad.tolist())\n",
	  "True False True\n"
	  "[[1.0, 1.0, 5.0], [1.0, 1.0, 11.0]]\n"
	  "True False True\n"
	  "[[1.0, 1.0, 5.0], [1.0, 1.0, 11.0]]\n" },
	{ "a chain of views over breaks, kept in a list and on an object",
	  HEAD "class Box:\n"
	  "    pass\n"
	  "box = Box()\n"
	  "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    y = x * 2\n"
	  "    kept = [y.view(2, 2)]\n"
	  "    torch._dynamo.graph_break()\n"
	  "    box.row = kept[0].transpose(0, 1)[1]\n"
	  "    torch._dynamo.graph_break()\n"
	  "    part = box.row.unsqueeze(0).expand(3, 2)\n"
	  "    print(\"deep\")\n"
	  "    (part * box.row).sum().backward()\n"
	  "    print(x.grad.tolist())\n",
	  "deep\n"
	  "[0.0, 24.0, 0.0, 72.0]\n"
	  "deep\n"
	  "[0.0, 48.0, 0.0, 96.0]\n" },
	{ "writes through a view after the break",
	  HEAD "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    y = x * 2\n"
	  "    v = y.view(2, 2)\n"
	  "    torch._dynamo.graph_break()\n"
	  "    v[0].mul_(3)\n"
	  "    torch._dynamo.graph_break()\n"
	  "    y.view(4)[1:3].add_(1)\n"
	  "    (y * y + v.reshape(4)).sum().backward()\n"
	  "    print(y.tolist(), x.grad.tolist())\n",
	  "[0.0, 7.0, 5.0, 6.0] [6.0, 90.0, 22.0, 26.0]\n"
	  "[6.0, 13.0, 7.0, 8.0] [78.0, 162.0, 30.0, 34.0]\n" },
	{ "a branch on a tensor, a Function, a print",
	  HEAD "class Twice(torch.autograd.Function):\n"
	  "    @staticmethod\n"
	  "    def forward(ctx, a):\n"
	  "        return a * 2\n"
	  "    @staticmethod\n"
	  "    def backward(ctx, g):\n"
	  "        return g * 2\n"
	  "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    a, b = (x * 3).split(2)\n"
	  "    if a.sum() > 100:\n"
	  "        a = a * 5\n"
	  "    c = Twice.apply(b.view(1, 2))\n"
	  "    print(c.tolist())\n"
	  "    (c.squeeze(0) * a).sum().backward()\n"
	  "    print(x.grad.tolist())\n",
	  "[[12.0, 18.0]]\n"
	  "[36.0, 54.0, 0.0, 18.0]\n"
	  "[[18.0, 24.0]]\n"
	  "[54.0, 72.0, 18.0, 36.0]\n" },
	{ "views without a gradient",
	  HEAD "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    y = x * 2\n"
	  "    d, e = y.detach().view(2, 2), y.view(2, 2).detach()\n"
	  "    v = y.view(2, 2)\n"
	  "    torch._dynamo.graph_break()\n"
	  "    print(d.requires_grad, e.requires_grad, v.requires_grad)\n"
	  "    (d * v * e).sum().backward()\n"
	  "    print(x.grad.tolist())\n",
	  "False False True\n"
	  "[0.0, 8.0, 32.0, 72.0]\n"
	  "False False True\n"
	  "[8.0, 32.0, 72.0, 128.0]\n" },
	{ "a view made before no_grad() begins",
	  HEAD "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    v = (x * 2).view(2, 2)\n"
	  "    with torch.no_grad():\n"
	  "        torch._dynamo.graph_break()\n"
	  "        w = v * 2\n"
	  "    print(v.requires_grad, w.requires_grad)\n"
	  "    (v * w).sum().backward()\n"
	  "    print(x.grad.tolist())\n",
	  "True False\n"
	  "[0.0, 8.0, 16.0, 24.0]\n"
	  "True False\n"
	  "[8.0, 16.0, 24.0, 32.0]\n" },
	{ "a view of a tensor that is made a leaf later",
	  HEAD "def model(x):\n"
	  "    y = x * 2\n"
	  "    v = y.view(2, 2)\n"
	  "    torch._dynamo.graph_break()\n"
	  "    y.requires_grad_()\n"
	  "    print(v.is_leaf, y.is_leaf)\n"
	  "    (y * 2).sum().backward()\n"
	  "    print(y.grad.tolist())\n",
	  "True True\n"
	  "[2.0, 2.0, 2.0, 2.0]\n"
	  "True True\n"
	  "[2.0, 2.0, 2.0, 2.0]\n" },
	{ "a leaf that is a view itself",
	  HEAD "def model(x):\n"
	  "    w = (x * 2).view(2, 2).detach().requires_grad_()\n"
	  "    v = w.view(4)\n"
	  "    torch._dynamo.graph_break()\n"
	  "    (v * v).sum().backward()\n"
	  "    print(w.grad.tolist())\n",
	  "[[0.0, 4.0], [8.0, 12.0]]\n"
	  "[[4.0, 8.0], [12.0, 16.0]]\n" },
	{ "retain_grad() and hooks on views",
	  HEAD "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    y = x * 2\n"
	  "    a, b = y.view(2, 2), y[1:3]\n"
	  "    torch._dynamo.graph_break()\n"
	  "    a.retain_grad()\n"
	  "    b.retain_grad()\n"
	  "    seen = []\n"
	  "    a.register_hook(lambda g: seen.append(g.sum().item()))\n"
	  "    b.register_hook(lambda g: g * 10)\n"
	  "    ((a * a).sum() + b.sum()).backward()\n"
	  "    print(a.grad.tolist(), b.grad.tolist(), seen, x.grad.tolist())\n",
	  "[[0.0, 4.0], [8.0, 12.0]] [10.0, 10.0] [24.0] [0.0, 28.0, 36.0, 24.0]\n"
	  "[[4.0, 8.0], [12.0, 16.0]] [10.0, 10.0] [40.0] [8.0, 36.0, 44.0, 32.0]\n" },
	{ "gradients of views, and gradients of gradients",
	  HEAD "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    v = (x * x).view(2, 2)\n"
	  "    torch._dynamo.graph_break()\n"
	  "    g, = torch.autograd.grad((v * v).sum(), v, create_graph=True)\n"
	  "    print(g.tolist())\n"
	  "    h, = torch.autograd.grad((v * v).sum(), x, create_graph=True)\n"
	  "    torch._dynamo.graph_break()\n"
	  "    k, = torch.autograd.grad(h.view(2, 2).sum(), x)\n"
	  "    print(h.tolist(), k.tolist())\n",
	  "[[0.0, 2.0], [8.0, 18.0]]\n"
	  "[0.0, 4.0, 32.0, 108.0] [0.0, 12.0, 48.0, 108.0]\n"
	  "[[2.0, 8.0], [18.0, 32.0]]\n"
	  "[4.0, 32.0, 108.0, 256.0] [12.0, 48.0, 108.0, 192.0]\n" },
	{ ".grad adds up from call to call, and a copy of it does not",
	  HEAD "w = torch.ones(4, requires_grad=True)\n"
	  "def model(x):\n"
	  "    (w.view(2, 2) * x.view(2, 2)).sum().backward()\n"
	  "    first = w.grad.clone()\n"
	  "    (w * x).sum().backward()\n"
	  "    print(first.tolist(), w.grad.tolist())\n",
	  "[0.0, 1.0, 2.0, 3.0] [0.0, 2.0, 4.0, 6.0]\n"
	  "[1.0, 4.0, 7.0, 10.0] [2.0, 6.0, 10.0, 14.0]\n" },
	{ "masked_select",
	  HEAD "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    y = torch.masked_select(x * 2, x > 1) * 3\n"
	  "    z = x.masked_select(torch.tensor([[True], [False], [True]]))\n"
	  "    (y.sum() + z.sum()).backward()\n"
	  "    print(y.tolist(), z.tolist(), x.grad.tolist())\n",
	  "[12.0, 18.0] [0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0] [2.0, 2.0, 8.0, 8.0]\n"
	  "[12.0, 18.0, 24.0] [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0] [2.0, 8.0, 8.0, 8.0]\n" },
	{ "writes under no_grad leave the way of a gradient",
	  HEAD "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    y = x * 2\n"
	  "    v = y.view(2, 2)\n"
	  "    with torch.no_grad():\n"
	  "        v[0].mul_(10)\n"
	  "        y.add_(1)\n"
	  "    y.detach().mul_(2)\n"
	  "    (y * 3 + v.view(4)).sum().backward()\n"
	  "    print(y.tolist(), x.grad.tolist())\n",
	  "[2.0, 42.0, 10.0, 14.0] [8.0, 8.0, 8.0, 8.0]\n"
	  "[42.0, 82.0, 14.0, 18.0] [8.0, 8.0, 8.0, 8.0]\n" },
	{ "what zero_() leaves",
	  HEAD "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    y = x * 2\n"
	  "    y.view(2, 2)[0].zero_()\n"
	  "    z = x * 3\n"
	  "    z.zero_()\n"
	  "    torch._dynamo.graph_break()\n"
	  "    print(y.requires_grad, z.requires_grad)\n"
	  "    (y + z).sum().backward()\n"
	  "    print(x.grad.tolist())\n",
	  "True True\n"
	  "[0.0, 0.0, 2.0, 2.0]\n"
	  "True True\n"
	  "[0.0, 0.0, 2.0, 2.0]\n" },
	{ "a saved value that is written",
	  HEAD "def square(x):\n"
	  "    y = x.exp()\n"
	  "    y.mul_(2)\n"
	  "    return y\n"
	  "def model(x):\n"
	  "    x = x.clone().requires_grad_()\n"
	  "    try:\n"
	  "        square(x).sum().backward()\n"
	  "        print(\"ran\")\n"
	  "    except RuntimeError as e:\n"
	  "        print(str(e)[:60])\n"
	  "    y = x * 2\n"
	  "    y.mul_(x)\n"
	  "    y.add_(1)\n"
	  "    y.sum().backward()\n"
	  "    print(x.grad.tolist())\n",
	  "one of the variables needed for gradient computation has bee\n"
	  "[0.0, 4.0, 8.0, 12.0]\n"
	  "one of the variables needed for gradient computation has bee\n"
	  "[4.0, 8.0, 12.0, 16.0]\n" },
	{ "modes of functions",
	  HEAD "w = torch.ones(2, requires_grad=True)\n"
	  "@torch.set_grad_enabled(False)\n"
	  "def off(a):\n"
	  "    return a * 2\n"
	  "@torch.inference_mode()\n"
	  "def inference(a):\n"
	  "    return a * 2\n"
	  "@torch.no_grad()\n"
	  "def fails(a):\n"
	  "    raise ValueError(\"no\")\n"
	  "@torch.enable_grad()\n"
	  "def on(a):\n"
	  "    return a * 2\n"
	  "def model(x):\n"
	  "    print(torch.is_grad_enabled(), off(w).requires_grad, inference(w).requires_grad)\n"
	  "    print(torch.is_grad_enabled(), (w * 2).requires_grad)\n"
	  "    try:\n"
	  "        fails(w)\n"
	  "    except ValueError:\n"
	  "        print(torch.is_grad_enabled())\n"
	  "    with torch.no_grad():\n"
	  "        print(on(w).requires_grad, torch.is_grad_enabled())\n"
	  "        with torch.inference_mode(False):\n"
	  "            print((w * 2).requires_grad)\n"
	  "    torch.set_grad_enabled(False)\n"
	  "    print(torch.is_grad_enabled())\n"
	  "    torch.set_grad_enabled(True)\n",
	  "True False False\n"
	  "True True\n"
	  "True\n"
	  "True False\n"
	  "True\n"
	  "False\n"
	  "True False False\n"
	  "True True\n"
	  "True\n"
	  "True False\n"
	  "True\n"
	  "False\n" },
};
/* clang-format on */

static void call(struct engine *e, const struct program *p, const char *how, double first)
{
	const int64_t size = 4;
	struct err err = { 0 };
	struct value x = engine_floats(e, 1, &size, 0), out;

	for (int i = 0; i < size; i++)
		((float *)tensor_data(x.tensor->memory))[i] = (float)(first + i);
	if (!fusion_call(e->session, &x, 1, &out, &err))
		fail_msg("%s, %s: %d:%d: %s", p->name, how, err.line, err.column, err.message);
	value_unref(out);
	value_unref(x);
}

static void check(const struct program *p, enum fusion_mode mode, enum fusion_policy policy)
{
	struct fusion_options options = { .backend = "interp", .threads = 1, .policy = policy };
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct err err = { 0 };
	struct buf *said;
	char how[64];

	snprintf(how, sizeof(how), "mode %d, policy %d", (int)mode, (int)policy);
	e.program = fusion_parse(p->source, strlen(p->source), "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%s: %d:%d: %s", p->name, err.line, err.column, err.message);
	call(&e, p, how, 0);
	call(&e, p, how, 1);
	said = fusion_stdout(e.session);
	if (!said->data || strcmp(said->data, p->prints) != 0)
		fail_msg("%s, %s printed\n%sand not\n%s", p->name, how,
			 said->data ? said->data : "", p->prints);
	engine_close(&e);
}

static void views_have_the_gradients_of_pytorch(void **state)
{
	static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_DYNAMIC,
						  FUSION_AUTO,  FUSION_GRAPHS, FUSION_LAZY };

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
			for (int policy = FUSION_DYNAMO; policy <= FUSION_NATIVE; policy++)
				check(&programs[i], modes[m], (enum fusion_policy)policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_have_the_gradients_of_pytorch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
