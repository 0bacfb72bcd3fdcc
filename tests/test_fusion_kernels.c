/* tests/test_fusion_kernels.c -- how few kernels blocks are with their gradients. */
#include "tests/engine.h"

struct block {
	const char *name, *body;
	int most; /* kernels of both directions */
};

/* Forward, backward; each gradient of a vector of weights folds other dims than the
 * gradient of x does. */
static const struct block blocks[] = {
	{ "softmax", "    y = F.softmax(x, 1)\n    return y, torch.autograd.grad(y, x, x)\n", 2 },
	{ "log_softmax",
	  "    y = F.log_softmax(x, 1)\n    return y, torch.autograd.grad(y, x, x)\n", 2 },
	{ "layer norm",
	  "    y = F.layer_norm(x, (8, 5), w, v)\n"
	  "    return y, torch.autograd.grad(y, (x, w, v), x)\n",
	  3 },
	{ "rms norm",
	  "    y = F.rms_norm(x, (8, 5), w)\n    return y, torch.autograd.grad(y, (x, w), x)\n",
	  3 },
	{ "group norm",
	  "    y = F.group_norm(x, 4, c, d)\n    return y, torch.autograd.grad(y, (x, c, d), x)\n",
	  3 },
	{ "batch norm",
	  "    y = F.batch_norm(x, None, None, c, d, True)\n"
	  "    return y, torch.autograd.grad(y, (x, c, d), x)\n",
	  2 },
	{ "cross entropy",
	  "    y = F.cross_entropy(x, t)\n    return y, torch.autograd.grad(y, x, one)\n", 4 },
	{ "cross entropy, smooth",
	  "    y = F.cross_entropy(x, t, label_smoothing=0.1)\n"
	  "    return y, torch.autograd.grad(y, x, one)\n",
	  4 },
};

static int64_t launches_of(const struct block *b)
{
	char source[1200];
	struct engine e;
	struct value x, out;
	int64_t before, n;

	snprintf(
	    source, sizeof(source),
	    "import torch\nimport torch.nn.functional as F\n"
	    "w, v = torch.ones(8, 5, requires_grad=True), torch.ones(8, 5, requires_grad=True)\n"
	    "c, d = torch.ones(8, requires_grad=True), torch.ones(8, requires_grad=True)\n"
	    "one = torch.ones(())\n"
	    "t = torch.arange(30).reshape(6, 5) %% 8\n"
	    "def model(x):\n    x = x.detach().requires_grad_()\n%s",
	    b->body);
	e = engine_open("interp", FUSION_STATIC, source);
	x = FLOATS(&e, 1, 6, 8, 5);
	value_unref(engine_call(&e, &x, 1));
	before = fusion_counts(e.session).launches;
	out = engine_call(&e, &x, 1);
	n = fusion_counts(e.session).launches - before;
	value_unref(out);
	value_unref(x);
	engine_close(&e);
	return n;
}

static void norms_and_losses_are_few_kernels_with_their_gradients(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		int64_t n = launches_of(&blocks[i]);

		if (n > blocks[i].most)
			fail_msg("%s: %d kernels, and %d are enough", blocks[i].name, (int)n,
				 blocks[i].most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(norms_and_losses_are_few_kernels_with_their_gradients),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
