/* tests/test_fusion_grad_steps.c -- training steps in compiled modes.
 *
 * Each program runs in every mode under both policies: results and what is printed
 * are eager's, call by call.  Under policy native a whole step is one graph; under
 * dynamo the optimiser's step is a frame of its own, as TorchDynamo has it.
 */
#include <stdlib.h>

#include "tests/engine.h"

struct step {
	const char *name, *source;
	int native;  /* graphs of the first call in mode static; -1: not looked at */
	int breaks;  /* ... and breaks */
	int dynamo;  /* graphs of the first call; -1 */
	int repeats; /* graphs of the third call, native */
};

#define HEAD "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"

static const struct step steps[] = {
	{ "reads and sets of .grad",
	  HEAD "w = torch.full((3, 2), 0.5, requires_grad=True)\n"
	       "def update(lr):\n"
	       "    with torch.no_grad():\n"
	       "        if w.grad is not None:\n"
	       "            w.sub_(lr * w.grad)\n"
	       "            old = w.grad\n"
	       "            w.grad = None\n"
	       "            return old\n"
	       "    return w * 0\n"
	       "def model(x):\n"
	       "    first = update(0.1)\n"
	       "    ((x @ w) ** 2).mean().backward()\n"
	       "    print(w.grad.shape, w.grad is None)\n"
	       "    return first.detach().clone(), w.grad.clone(), w.detach().clone()\n",
	  1, 0, -1, 0 },
	{ "gradients add up",
	  HEAD "w = torch.full((3, 2), 0.5, requires_grad=True)\n"
	       "def model(x):\n"
	       "    for k in range(3):\n"
	       "        (x @ w * k).sum().backward()\n"
	       "    return w.grad.clone()\n",
	  1, 0, 0, 0 },
	{ "a step of SGD in a loop",
	  HEAD "def model(x):\n"
	       "    w = torch.full((3, 2), 0.5, requires_grad=True)\n"
	       "    b = torch.zeros(2, requires_grad=True)\n"
	       "    opt = torch.optim.SGD([w, b], lr=0.1, momentum=0.9)\n"
	       "    for _ in range(3):\n"
	       "        opt.zero_grad()\n"
	       "        loss = ((x @ w + b - 1) ** 2).mean()\n"
	       "        loss.backward()\n"
	       "        opt.step()\n"
	       "    return w.detach() + b.detach(), loss.detach()\n",
	  1, 0, 2, 0 },
	{ "AdamW on a module, a step each call",
	  HEAD "net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))\n"
	       "for i, p in enumerate(net.parameters()):\n"
	       "    nn.init.constant_(p, 0.1 * (i + 1))\n"
	       "opt = torch.optim.AdamW(net.parameters(), lr=0.05)\n"
	       "def model(x):\n"
	       "    opt.zero_grad()\n"
	       "    loss = F.mse_loss(net(x), x.sum(1, keepdim=True))\n"
	       "    loss.backward()\n"
	       "    opt.step()\n"
	       "    return loss.detach(), net[0].weight.detach().clone()\n",
	  1, 0, -1, 0 },
	{ "RMSprop and Adagrad with a rate that falls, clipped gradients",
	  HEAD "w = torch.full((3, 2), 0.5, requires_grad=True)\n"
	       "v = torch.full((2,), 0.5, requires_grad=True)\n"
	       "a = torch.optim.RMSprop([w], lr=0.01, momentum=0.5, centered=True)\n"
	       "b = torch.optim.Adagrad([v], lr=0.1, lr_decay=0.5)\n"
	       "def model(x):\n"
	       "    a.zero_grad()\n"
	       "    b.zero_grad()\n"
	       "    loss = (x @ w * v).square().mean()\n"
	       "    loss.backward()\n"
	       "    torch.nn.utils.clip_grad_norm_([w, v], 0.5)\n"
	       "    a.step()\n"
	       "    b.step()\n"
	       "    return loss.detach(), w.detach().clone(), v.detach().clone()\n",
	  1, 0, -1, 0 },
	{ "a leaf that is written goes on being one",
	  HEAD "w = torch.full((3,), 0.5, requires_grad=True)\n"
	       "def model(x):\n"
	       "    y = (x * w).sum()\n"
	       "    with torch.no_grad():\n"
	       "        w.mul_(0.5)\n"
	       "    z = (x * w * 3).sum()\n"
	       "    w.data.add_(1)\n"
	       "    (y + z + (w * x).sum()).backward()\n"
	       "    got = w.grad\n"
	       "    w.grad = None\n"
	       "    return got, w.detach().clone()\n",
	  1, 0, -1, 0 },
	{ "gradients of gradients in a graph",
	  HEAD "def model(x):\n"
	       "    x = x.detach().clone().requires_grad_()\n"
	       "    y = (x ** 3).sum()\n"
	       "    g, = torch.autograd.grad(y, x, create_graph=True)\n"
	       "    h, n = torch.autograd.grad((g ** 2).sum(), [x, y], allow_unused=True)\n"
	       "    z, = torch.autograd.grad(x.sum() * 2, [x], torch.tensor(3.0))\n"
	       "    print(n)\n"
	       "    return g.detach(), h, z\n",
	  1, 0, -1, 0 },
	{ "what was run backward is spent",
	  HEAD "w = torch.full((3,), 0.5, requires_grad=True)\n"
	       "def model(x):\n"
	       "    y = (x * w * w).sum()\n"
	       "    y.backward()\n"
	       "    print(y.requires_grad, w.requires_grad, w.is_leaf, y.is_leaf)\n"
	       "    return helper(y)\n"
	       "def helper(y):\n"
	       "    try:\n"
	       "        y.backward()\n"
	       "    except RuntimeError as e:\n"
	       "        print(str(e)[:40])\n"
	       "    return y\n",
	  -1, -1, -1, -1 },
	{ "a second pass over a graph that is kept",
	  HEAD "w = torch.full((3,), 0.5, requires_grad=True)\n"
	       "def model(x):\n"
	       "    w.grad = None\n"
	       "    y = (x * w * w).sum()\n"
	       "    y.backward(retain_graph=True)\n"
	       "    y.backward()\n"
	       "    return w.grad.clone()\n",
	  1, 0, -1, 0 },
	{ "a leaf of the piece whose results outlive it",
	  HEAD "@torch._dynamo.disable\n"
	       "def outside(y):\n"
	       "    y.sum().backward()\n"
	       "def model(x):\n"
	       "    w = torch.ones(3, requires_grad=True)\n"
	       "    y = x * w\n"
	       "    outside(y)\n"
	       "    return w.grad.clone()\n",
	  -1, -1, -1, -1 },
	{ "the .grad of a leaf that is handed out",
	  HEAD "@torch._dynamo.disable\n"
	       "def show(w):\n"
	       "    print(w.requires_grad, w.is_leaf, w.grad is None)\n"
	       "    return w.grad\n"
	       "def model(x):\n"
	       "    w = torch.ones(3, requires_grad=True)\n"
	       "    (x * w).sum().backward()\n"
	       "    g = show(w)\n"
	       "    return g * 2\n",
	  -1, -1, -1, -1 },
	{ "weights of an autocast",
	  HEAD "def model(x):\n"
	       "    w = torch.linspace(-1, 1, 6).reshape(3, 2).requires_grad_()\n"
	       "    with torch.autocast('cpu', dtype=torch.bfloat16):\n"
	       "        y = x @ w + (x * 2) @ w\n"
	       "    y.float().sum().backward()\n"
	       "    return w.grad\n",
	  1, 0, -1, 0 },
	{ "leaves that are views",
	  HEAD "def model(x):\n"
	       "    y = x * 2\n"
	       "    w = y.detach().requires_grad_()\n"
	       "    a = (w * 2).sum()\n"
	       "    with torch.no_grad():\n"
	       "        y.add_(1)\n"
	       "        w[0].mul_(2)\n"
	       "    b = (w * 3).sum()\n"
	       "    (a * 0 + b).backward()\n"
	       "    return w.grad, w, y\n",
	  -1, -1, -1, -1 },
	{ "masks of dropouts, in attention too",
	  HEAD "w = torch.full((3, 4), 0.1, requires_grad=True)\n"
	       "def model(x):\n"
	       "    w.grad = None\n"
	       "    torch.manual_seed(1)\n"
	       "    return run(x)\n"
	       "def run(x):\n"
	       "    h = F.dropout(x @ w, 0.3, True)\n"
	       "    q = h.reshape(2, 2, 4)\n"
	       "    mask = torch.tensor([[True, False], [False, False]])\n"
	       "    a = F.scaled_dot_product_attention(q, q, q, mask, 0.2)\n"
	       "    b = F.scaled_dot_product_attention(q, q, q, None, 0.5, True)\n"
	       "    (a * q + b).sum().backward()\n"
	       "    return w.grad.clone(), a.detach(), b.detach()\n",
	  -1, -1, -1, -1 },
	{ "functions with gradients of their own",
	  HEAD "class Step(torch.autograd.Function):\n"
	       "    @staticmethod\n"
	       "    def forward(ctx, x, s):\n"
	       "        ctx.save_for_backward(x)\n"
	       "        ctx.s = s\n"
	       "        return (x / s).round() * s, x.view_as(x)\n"
	       "    @staticmethod\n"
	       "    def backward(ctx, g, h):\n"
	       "        x, = ctx.saved_tensors\n"
	       "        g = g * (x.abs() < 2)\n"
	       "        g[x > 1] = ctx.s\n"
	       "        return g + h, None\n"
	       "w = torch.full((3, 2), 0.5, requires_grad=True)\n"
	       "opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)\n"
	       "def model(x):\n"
	       "    for k in range(2):\n"
	       "        opt.zero_grad()\n"
	       "        a, b = Step.apply(x @ w, 0.25)\n"
	       "        c = Step.apply(w, 0.5)[0] if b.sum() > 0 else w * 2\n"
	       "        loss = (a * 2 - 1).square().mean() + b.sin().sum() + c.sum()\n"
	       "        loss.backward(retain_graph=True)\n"
	       "        loss.backward()\n"
	       "        opt.step()\n"
	       "    return w.detach().clone(), loss.detach(), a.requires_grad, b.is_leaf\n",
	  1, 0, -1, 0 },
	{ "functions whose gradient is left to eager",
	  HEAD "class Printed(torch.autograd.Function):\n"
	       "    @staticmethod\n"
	       "    def forward(ctx, x):\n"
	       "        return x * 2\n"
	       "    @staticmethod\n"
	       "    def backward(ctx, g):\n"
	       "        print('back', g.shape)\n"
	       "        return g * 3\n"
	       "class Same(torch.autograd.Function):\n"
	       "    @staticmethod\n"
	       "    def forward(ctx, x):\n"
	       "        return x\n"
	       "    @staticmethod\n"
	       "    def backward(ctx, g):\n"
	       "        return g * 3\n"
	       "w = torch.full((3, 2), 0.5, requires_grad=True)\n"
	       "def model(x):\n"
	       "    w.grad = None\n"
	       "    h = x @ w\n"
	       "    y = Same.apply(h.detach())\n"
	       "    h = h * 2\n"
	       "    z = Same.apply(h)\n"
	       "    with torch.no_grad():\n"
	       "        h.mul_(2)\n"
	       "    (Printed.apply(z) * y).sum().backward()\n"
	       "    return w.grad.clone(), z.detach().clone()\n",
	  -1, -1, -1, -1 },
	{ "functions with gradients of their own, and hooks",
	  HEAD "class Square(torch.autograd.Function):\n"
	       "    @staticmethod\n"
	       "    def forward(ctx, x, k):\n"
	       "        ctx.save_for_backward(x)\n"
	       "        ctx.k = k\n"
	       "        return x * x * k\n"
	       "    @staticmethod\n"
	       "    def backward(ctx, g):\n"
	       "        x, = ctx.saved_tensors\n"
	       "        print('back', ctx.needs_input_grad)\n"
	       "        return g * 2 * x * ctx.k, None\n"
	       "class Straight(torch.autograd.Function):\n"
	       "    @staticmethod\n"
	       "    def forward(x, y):\n"
	       "        return x.round(), x\n"
	       "    @staticmethod\n"
	       "    def setup_context(ctx, inputs, output):\n"
	       "        ctx.set_materialize_grads(False)\n"
	       "    @staticmethod\n"
	       "    def backward(ctx, g, h):\n"
	       "        print(g is None, h is None)\n"
	       "        return g, None\n"
	       "w = torch.full((3,), 0.5, requires_grad=True)\n"
	       "def model(x):\n"
	       "    w.grad = None\n"
	       "    a = Square.apply(w * x, 3)\n"
	       "    b, c = Straight.apply(a, 2.0)\n"
	       "    print(c is a, b.requires_grad)\n"
	       "    seen = []\n"
	       "    h = a.register_hook(lambda g: seen.append(g.sum().item()))\n"
	       "    k = w.register_hook(lambda g: g * 2)\n"
	       "    after = w.register_post_accumulate_grad_hook(lambda p: print('after', "
	       "p.grad.shape))\n"
	       "    (b * x).sum().backward()\n"
	       "    h.remove()\n"
	       "    k.remove()\n"
	       "    after.remove()\n"
	       "    g, = torch.autograd.grad(Square.apply(w, 2).sum(), w, create_graph=True)\n"
	       "    g2, = torch.autograd.grad(g.sum(), w)\n"
	       "    y = Square.apply(w, 2)\n"
	       "    y.sum().backward()\n"
	       "    try:\n"
	       "        y.sum().backward()\n"
	       "    except RuntimeError as e:\n"
	       "        print(str(e)[:30])\n"
	       "    try:\n"
	       "        torch.ones(3).register_hook(print)\n"
	       "    except RuntimeError as e:\n"
	       "        print(e)\n"
	       "    v = torch.ones(2, requires_grad=True)\n"
	       "    print(torch.autograd.grad((w * 2).sum(), [w, v], allow_unused=True, "
	       "materialize_grads=True)[1])\n"
	       "    return w.grad.clone(), g.detach(), g2, len(seen)\n",
	  -1, -1, -1, -1 },
	{ "a tensor and its memory without a gradient",
	  HEAD "w = torch.full((3,), 0.5, requires_grad=True)\n"
	       "def f(a, b, x):\n"
	       "    return (a * b * x).sum()\n"
	       "def g(a, b, x):\n"
	       "    with torch.no_grad():\n"
	       "        b.mul_(2)\n"
	       "    return (a * b * x).sum()\n"
	       "def model(x):\n"
	       "    w.grad = None\n"
	       "    d = w.detach()\n"
	       "    print(d is w, d.requires_grad)\n"
	       "    f(w, d, x).backward()\n"
	       "    one = w.grad.clone()\n"
	       "    f(w, w, x).backward()\n"
	       "    two = w.grad.clone()\n"
	       "    g(w, d, x).backward()\n"
	       "    return one, two, w.grad.clone(), w.detach().clone()\n",
	  -1, -1, -1, -1 },
	{ "states by parameter",
	  HEAD "w = torch.full((3,), 0.5, requires_grad=True)\n"
	       "v = torch.full((3,), 0.25, requires_grad=True)\n"
	       "state = {}\n"
	       "def model(x):\n"
	       "    (x * w * v).sum().backward()\n"
	       "    with torch.no_grad():\n"
	       "        for p in (w, v):\n"
	       "            if p not in state:\n"
	       "                state[p] = torch.zeros_like(p)\n"
	       "            state[p].mul_(0.9).add_(p.grad)\n"
	       "            p.sub_(0.1 * state[p])\n"
	       "            p.grad = None\n"
	       "    return w.detach().clone(), v.detach().clone(), len(state)\n",
	  1, 0, -1, 0 },
	{ "a copy of the state of an optimiser",
	  HEAD
	  "w = torch.full((3,), 0.5, requires_grad=True)\n"
	  "opt = torch.optim.Adam([w], lr=0.1, amsgrad=True)\n"
	  "def model(x):\n"
	  "    for _ in range(2):\n"
	  "        opt.zero_grad()\n"
	  "        (x * w).square().sum().backward()\n"
	  "        opt.step()\n"
	  "    kept = opt.state_dict()\n"
	  "    print(sorted(kept['state'][0]), kept['param_groups'][0]['lr'], len(opt.state))\n"
	  "    opt.load_state_dict(kept)\n"
	  "    return w.detach().clone(), opt.state[w]['step'].clone()\n",
	  -1, -1, -1, -1 },
};

static struct engine open_step(const struct step *s, enum fusion_mode mode,
			       enum fusion_policy policy)
{
	struct fusion_options options = { .backend = "interp", .threads = 1, .policy = policy };
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct err err = { 0 };

	e.program = fusion_parse(s->source, strlen(s->source), "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%s: %d:%d: %s", s->name, err.line, err.column, err.message);
	return e;
}

static void same_value(const char *name, struct value a, struct value b)
{
	assert_int_equal(a.kind, b.kind);
	if (a.kind == VALUE_TUPLE) {
		assert_int_equal(a.list->len, b.list->len);
		for (int i = 0; i < a.list->len; i++)
			same_value(name, a.list->at[i], b.list->at[i]);
	}
	if (a.kind == VALUE_INT)
		assert_int_equal(a.i, b.i);
	if (a.kind != VALUE_TENSOR)
		return;
	assert_int_equal(tensor_numel(a.tensor->memory), tensor_numel(b.tensor->memory));
	for (int64_t i = 0; i < tensor_numel(a.tensor->memory); i++) {
		double x = engine_at(a, i), y = engine_at(b, i);

		if (!(fabs(x - y) <= 1e-5 * (1 + fabs(y))))
			fail_msg("%s: element %d is %g, not %g", name, (int)i, x, y);
	}
}

static void same_text(const char *name, struct engine *a, struct engine *b)
{
	struct buf *said = fusion_stdout(a->session), *wanted = fusion_stdout(b->session);

	if (said->len != wanted->len || (said->len && memcmp(said->data, wanted->data, said->len)))
		fail_msg("%s: printed %.*s, not %.*s", name, (int)said->len,
			 said->len ? said->data : "", (int)wanted->len,
			 wanted->len ? wanted->data : "");
	buf_clear(said);
	buf_clear(wanted);
}

static void check_graphs(const struct step *s, struct engine *e, enum fusion_policy policy,
			 int call, int before)
{
	int made = (int)fusion_counts(e->session).graphs - before;
	int want = policy == FUSION_NATIVE ? s->native : s->dynamo;

	if (call == 2)
		want = policy == FUSION_NATIVE ? s->repeats : -1;
	if ((call != 0 && call != 2) || want < 0)
		return;
	if (made != want)
		fail_msg("%s: call %d made %d graphs, not %d", s->name, call, made, want);
	if (call == 0 && policy == FUSION_NATIVE)
		assert_int_equal(fusion_counts(e->session).n_breaks, s->breaks);
}

static void check_step(const struct step *s, enum fusion_mode mode, enum fusion_policy policy)
{
	struct engine e = open_step(s, mode, policy), eager = open_step(s, FUSION_EAGER, policy);

	for (int call = 0; call < 4; call++) {
		struct value a = FLOATS(&e, call, 4, 3), b = FLOATS(&eager, call, 4, 3), x, y;
		int before = (int)fusion_counts(e.session).graphs;

		x = engine_call(&e, &a, 1);
		y = engine_call(&eager, &b, 1);
		same_value(s->name, x, y);
		same_text(s->name, &e, &eager);
		if (mode == FUSION_STATIC)
			check_graphs(s, &e, policy, call, before);
		value_unref(x);
		value_unref(y);
		value_unref(a);
		value_unref(b);
	}
	engine_close(&e);
	engine_close(&eager);
}

static void steps_are_as_in_eager(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
			check_step(&steps[i], (enum fusion_mode)mode, FUSION_DYNAMO);
			check_step(&steps[i], (enum fusion_mode)mode, FUSION_NATIVE);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(steps_are_as_in_eager) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
