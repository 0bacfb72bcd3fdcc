/* tests/test_fusion_nn.c -- torch.nn's classes, in every mode.
 *
 * Each module is compared with the function that it calls, inside the
 * program: model() gives pairs of tensors that must be the same, bit by bit. */
#include "tests/engine.h"

static const char *const head = "import torch\n"
				"import torch.nn as nn\n"
				"import torch.nn.functional as F\n"
				"torch.manual_seed(1)\n";

static const struct {
	const char *name, *source;
} same[] = {
	{ "linear", "m = nn.Linear(4, 3)\n"
		    "def model(x):\n"
		    "    return m(x), F.linear(x, m.weight, m.bias)\n" },
	{ "no bias", "m = nn.Linear(4, 3, bias=False)\n"
		     "def model(x):\n"
		     "    return m(x), x @ m.weight.t()\n" },
	{ "layer norm", "m = nn.LayerNorm(4, eps=1e-3)\n"
			"def model(x):\n"
			"    return m(x), F.layer_norm(x, (4,), m.weight, m.bias, 1e-3)\n" },
	{ "rms norm", "m = nn.RMSNorm(4)\n"
		      "def model(x):\n"
		      "    return m(x), F.rms_norm(x, (4,), m.weight)\n" },
	{ "embedding", "m = nn.Embedding(6, 4, padding_idx=0)\n"
		       "def model(x):\n"
		       "    i = (x > 0).long()\n"
		       "    return m(i), F.embedding(i, m.weight), m.weight[0], torch.zeros(4)\n" },
	{ "activations",
	  "ms = nn.ModuleList([nn.ReLU(), nn.GELU(), nn.SiLU(), nn.Tanh(), nn.Sigmoid(),\n"
	  "    nn.LeakyReLU(0.2), nn.ELU(), nn.Softplus(), nn.Softmax(dim=-1)])\n"
	  "fs = [F.relu, F.gelu, F.silu, torch.tanh, torch.sigmoid,\n"
	  "    lambda x: F.leaky_relu(x, 0.2), F.elu, F.softplus, lambda x: F.softmax(x, -1)]\n"
	  "def model(x):\n"
	  "    out = []\n"
	  "    for m, f in zip(ms, fs):\n"
	  "        out.append(m(x))\n"
	  "        out.append(f(x))\n"
	  "    return tuple(out)\n" },
	{ "sequential",
	  "m = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.0), nn.Linear(8, 2))\n"
	  "def model(x):\n"
	  "    y = F.relu(F.linear(x, m[0].weight, m[0].bias))\n"
	  "    return m(x), F.linear(y, m[3].weight, m[3].bias), m[:2](x), y\n" },
	{ "a tree of modules",
	  "class Block(nn.Module):\n"
	  "    def __init__(self, d):\n"
	  "        super().__init__()\n"
	  "        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)\n"
	  "        self.scale = nn.Parameter(torch.full((d,), 0.5))\n"
	  "        self.register_buffer('shift', torch.ones(d))\n"
	  "    def forward(self, x):\n"
	  "        return x + self.scale * self.down(F.gelu(self.up(x))) + self.shift\n"
	  "class Net(nn.Module):\n"
	  "    def __init__(self, n):\n"
	  "        super().__init__()\n"
	  "        self.blocks = nn.ModuleList([Block(4) for _ in range(n)])\n"
	  "        self.head = nn.Linear(4, 1)\n"
	  "    def forward(self, x):\n"
	  "        for block in self.blocks:\n"
	  "            x = block(x)\n"
	  "        return self.head(x)\n"
	  "net = Net(2)\n"
	  "def by_hand(x):\n"
	  "    for b in [net.blocks[0], net.blocks[1]]:\n"
	  "        h = F.linear(x, b.up.weight, b.up.bias)\n"
	  "        x = x + b.scale * F.linear(F.gelu(h), b.down.weight, b.down.bias) + b.shift\n"
	  "    return F.linear(x, net.head.weight, net.head.bias)\n"
	  "def model(x):\n"
	  "    return net(x), by_hand(x)\n" },
	{ "batch norm in training and in evaluation",
	  "m = nn.BatchNorm1d(4)\n"
	  "def model(x):\n"
	  "    m.train()\n"
	  "    m.running_mean.fill_(0.0)\n"
	  "    y = m(x)\n"
	  "    m.eval()\n"
	  "    z = m(x)\n"
	  "    return (y, F.batch_norm(x, None, None, m.weight, m.bias, True),\n"
	  "        m.running_mean * 1.0, x.mean(0) * 0.1,\n"
	  "        z, F.batch_norm(x, m.running_mean, m.running_var, m.weight, m.bias))\n" },
	{ "hooks", "m = nn.Linear(4, 4)\n"
		   "m.register_forward_hook(lambda mod, args, out: out * 2)\n"
		   "m.register_forward_pre_hook(lambda mod, args: (args[0] + 1,))\n"
		   "def model(x):\n"
		   "    return m(x), F.linear(x + 1, m.weight, m.bias) * 2\n" },
	{ "hooks with keywords",
	  "class Scale(nn.Module):\n"
	  "    def forward(self, x, by=1.0):\n"
	  "        return x * by\n"
	  "m = Scale()\n"
	  "m.register_forward_pre_hook(lambda mod, args, kw: (args, {'by': kw['by'] + 1}), "
	  "with_kwargs=True)\n"
	  "h = m.register_forward_hook(lambda mod, args, kw, out: out - kw['by'], "
	  "with_kwargs=True)\n"
	  "def model(x):\n"
	  "    a = m(x, by=2.0)\n"
	  "    return a, x * 3 - 3\n" },
	{ "hooks of loading",
	  "class Joined(nn.Module):\n"
	  "    def __init__(self):\n"
	  "        super().__init__()\n"
	  "        self.both = nn.Linear(4, 2, bias=False)\n"
	  "        self._register_load_state_dict_pre_hook(self.join)\n"
	  "    def join(self, state, prefix, *args):\n"
	  "        if prefix + 'one.weight' in state:\n"
	  "            parts = [state.pop(prefix + k + '.weight') for k in ('one', 'two')]\n"
	  "            state[prefix + 'both.weight'] = torch.cat(parts)\n"
	  "m = nn.ModuleList([Joined()])\n"
	  "seen = []\n"
	  "m.register_load_state_dict_post_hook(lambda mod, keys: "
	  "seen.append(len(keys.missing_keys)))\n"
	  "old = {'0.one.weight': torch.ones(1, 4), '0.two.weight': torch.full((1, 4), 2.0)}\n"
	  "m.load_state_dict(old)\n"
	  "def model(x):\n"
	  "    assert seen == [0] and len(old) == 2\n"
	  "    return m[0].both.weight * 1, torch.tensor([[1.0] * 4, [2.0] * 4])\n" },
	{ "tensors of tensors",
	  "def model(x):\n"
	  "    return (torch.tensor([x[0, 0], x[1, 2], 3]),\n"
	  "        torch.stack([x[0, 0], x[1, 2], torch.tensor(3.0)]),\n"
	  "        torch.tensor([[x[0, 0]], [x[0, 1]]], dtype=torch.float64, device=x.device),\n"
	  "        x[0, :2].unsqueeze(1).double(), torch.tensor(x), x * 1,\n"
	  "        torch.as_tensor([1, 2], device='cpu'), torch.tensor([1, 2]))\n" },
	{ "constructors of old",
	  "def model(x):\n"
	  "    w = torch.Tensor(2, 3)\n"
	  "    w.fill_(1)\n"
	  "    return (w, torch.ones(2, 3), torch.Tensor([1, 2]), torch.tensor([1.0, 2.0]),\n"
	  "        torch.Tensor(x.size()) * 0, x * 0, torch.LongTensor([1, 2]), torch.tensor([1, "
	  "2]),\n"
	  "        torch.FloatTensor(1, 2) * 0, torch.zeros(1, 2), torch.BoolTensor([True]),\n"
	  "        torch.tensor([True]))\n" },
	{ "functions in place",
	  "def model(x):\n"
	  "    a, b, c, d = x * 1, x * 1, x * 1, x[:4, :4] * 1\n"
	  "    torch.relu_(a), F.leaky_relu_(b, 0.2), torch.clamp_(c, -0.5, 0.5)\n"
	  "    d.fill_diagonal_(2)\n"
	  "    n = d.shape[0]\n"
	  "    return (a, F.relu(x), b, F.leaky_relu(x, 0.2), c, x.clamp(-0.5, 0.5),\n"
	  "        d, torch.where(torch.eye(n, d.shape[1]).bool(), 2.0, x[:4, :4]))\n" },
	{ "losses", "ce, mse = nn.CrossEntropyLoss(), nn.MSELoss(reduction='sum')\n"
		    "def model(x):\n"
		    "    t = (x[:, 0] > 0).long()\n"
		    "    return ce(x, t), F.cross_entropy(x, t), mse(x, x + 1), F.mse_loss(x, x + "
		    "1, reduction='sum')\n" },
};

static void assert_same(const char *name, const struct list *parts)
{
	assert_true(parts->len > 0 && parts->len % 2 == 0);
	for (int i = 0; i < parts->len; i += 2) {
		const struct tensor *a = parts->at[i].tensor->memory;
		const struct tensor *b = parts->at[i + 1].tensor->memory;

		if (tensor_numel(a) != tensor_numel(b))
			fail_msg("%s: result %d has %lld elements, not %lld", name, i,
				 (long long)tensor_numel(a), (long long)tensor_numel(b));
		for (int64_t k = 0; k < tensor_numel(a); k++)
			if (fabs(tensor_get_double(a, k) - tensor_get_double(b, k)) > 1e-6)
				fail_msg("%s: element %lld of result %d is %g, not %g", name,
					 (long long)k, i, tensor_get_double(a, k),
					 tensor_get_double(b, k));
	}
}

static void run_same(enum fusion_mode mode, const char *name, const char *source)
{
	const int64_t size[] = { 3, 4 };
	char text[4096];
	struct engine e;
	struct value x, out;
	struct err err = { 0 };

	snprintf(text, sizeof(text), "%s%s", head, source);
	e = engine_open("interp", mode, text);
	x = engine_floats(&e, 2, size, 1);
	for (int call = 0; call < 2; call++) {
		if (!fusion_call(e.session, &x, 1, &out, &err))
			fail_msg("%s: %d:%d: %s", name, err.line, err.column, err.message);
		assert_int_equal(out.kind, VALUE_TUPLE);
		assert_same(name, out.list);
		value_unref(out);
	}
	value_unref(x);
	engine_close(&e);
}

static void modules_are_the_functions_they_stand_for(void **state)
{
	static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_DYNAMIC,
						  FUSION_AUTO };

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
			run_same(modes[m], same[i].name, same[i].source);
}

/* Each expression is 1 where it holds, given the modules that are before. */
static const char *const facts =
    "import torch\n"
    "import torch.nn as nn\n"
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.a = nn.Linear(2, 3)\n"
    "        self.b = nn.Sequential(nn.Linear(3, 1, bias=False), nn.ReLU())\n"
    "        self.register_buffer('k', torch.ones(2))\n"
    "        self.register_buffer('hidden', torch.ones(1), persistent=False)\n"
    "        self.tied = self.a.weight\n"
    "    def forward(self, x):\n"
    "        return self.b(self.a(x * self.k))\n"
    "net = Net()\n"
    "def caught(f):\n"
    "    try:\n"
    "        f()\n"
    "    except Exception as e:\n"
    "        return type(e).__name__ + ': ' + str(e)\n"
    "def facts():\n"
    "    names = [n for n, _ in net.named_parameters()]\n"
    "    yield names == ['tied', 'a.bias', 'b.0.weight']\n"
    "    yield [n for n, _ in net.named_modules()] == ['', 'a', 'b', 'b.0', 'b.1']\n"
    "    yield [n for n, _ in net.named_buffers()] == ['k', 'hidden']\n"
    "    yield list(net.state_dict()) == ['tied', 'k', 'a.weight', 'a.bias', 'b.0.weight']\n"
    "    yield len(list(net.parameters())) == 3\n"
    "    yield sum(p.numel() for p in net.parameters()) == 6 + 3 + 3\n"
    "    yield isinstance(net.a.weight, nn.Parameter) and isinstance(net.a.weight, torch.Tensor)\n"
    "    yield not isinstance(net.k, nn.Parameter)\n"
    "    yield isinstance(net.a, nn.Module) and not isinstance(3, nn.Module)\n"
    "    yield net.training and net.eval() is net and not net.b[0].training\n"
    "    yield net.train().training\n"
    "    yield repr(net.a) == 'Linear(in_features=2, out_features=3, bias=True)'\n"
    "    yield repr(net.b) == 'Sequential(\\n  (0): Linear(in_features=3, out_features=1, "
    "bias=False)\\n  (1): ReLU()\\n)'\n"
    "    yield caught(lambda: net.c) == \"AttributeError: 'Net' object has no attribute 'c'\"\n"
    "    yield caught(lambda: nn.Module()(1)).startswith('NotImplementedError: Module [Module]')\n"
    "    yield not hasattr(net, 'zz') and getattr(net, 'zz', 5) == 5\n"
    "    yield len(net.b) == 2 and net.b[-1] is list(net.b)[1]\n"
    "    yield caught(lambda: net.b[2]) == 'IndexError: index 2 is out of range'\n"
    "    yield 'a' in nn.ModuleDict({'a': nn.ReLU()})\n"
    "    yield net.get_submodule('b.0') is net.b[0]\n"
    "    yield net.double().a.weight.dtype == torch.float64\n"
    "    yield abs(net.a.weight).max().item() <= 1 / 2 ** 0.5\n"
    "def model(x):\n"
    "    return torch.tensor([1.0 if fact else 0.0 for fact in facts()])\n";

static void modules_know_their_parts(void **state)
{
	const int64_t size[] = { 3, 4 };
	struct engine e = engine_open("interp", FUSION_EAGER, facts);
	struct value x = engine_floats(&e, 2, size, 1), out;
	struct err err = { 0 };

	(void)state;
	if (!fusion_call(e.session, &x, 1, &out, &err))
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	for (int64_t i = 0; i < tensor_numel(out.tensor->memory); i++)
		if (tensor_get_double(out.tensor->memory, i) != 1)
			fail_msg("fact %lld does not hold", (long long)i);
	value_unref(out);
	value_unref(x);
	engine_close(&e);
}

/* With its seed, a module begins with PyTorch's own parameters (recorded). */
static void parameters_begin_as_in_pytorch(void **state)
{
	static const double wanted[] = { -0.00305648171, 0.219002187, -0.33600679, -0.300445855 };
	struct engine e = engine_open("interp", FUSION_EAGER,
				      "import torch\n"
				      "import torch.nn as nn\n"
				      "torch.manual_seed(0)\n"
				      "m = nn.Sequential(nn.Linear(6, 12), nn.ReLU())\n"
				      "def model():\n"
				      "    return m[0].weight\n");
	struct value out;
	struct err err = { 0 };

	(void)state;
	if (!fusion_call(e.session, NULL, 0, &out, &err))
		fail_msg("%s", err.message);
	for (int64_t i = 0; i < 4; i++)
		assert_true(fabs(tensor_get_double(out.tensor->memory, i) - wanted[i]) < 1e-8);
	value_unref(out);
	engine_close(&e);
}

/* An error inside a module's code is reported at the program's own line. */
static void errors_stand_in_the_program(void **state)
{
	struct engine e = engine_open("interp", FUSION_EAGER,
				      "import torch.nn as nn\n"
				      "m = nn.Linear(7, 2)\n"
				      "def model(x):\n"
				      "    y = x + 1\n"
				      "    return m(y)\n");
	const int64_t size[] = { 3, 4 };
	struct value x = engine_floats(&e, 2, size, 1), out;
	struct err err = { 0 };

	(void)state;
	assert_false(fusion_call(e.session, &x, 1, &out, &err));
	assert_int_equal(err.line, 5);
	value_unref(x);
	engine_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_are_the_functions_they_stand_for),
		cmocka_unit_test(modules_know_their_parts),
		cmocka_unit_test(parameters_begin_as_in_pytorch),
		cmocka_unit_test(errors_stand_in_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
