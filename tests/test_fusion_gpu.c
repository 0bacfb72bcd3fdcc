/* tests/test_fusion_gpu.c -- what only a real GPU can show; skipped where there is none. */
#include <stdlib.h>

#include "tests/engine.h"

static const char TWO[] = "import torch\n"
			  "def model(x):\n"
			  "    y = torch.softmax(x, 1)\n"
			  "    return y.sum(0)\n";

static const char LONG[] = "import torch\n"
			   "def model(x):\n"
			   "    y = torch.softmax(torch.softmax(x, 1) * 2, 0)\n"
			   "    return (y @ y).sum(0) + torch.softmax(y, 1).sum(0)\n";

/* Heads of 32, 64 and 128, rows that are no multiple of a tile's, strided operands. */
#define ATTENTION(body)                                                                            \
	"import torch\n"                                                                           \
	"import torch.nn.functional as F\n"                                                        \
	"def heads(x, n, dtype):\n"                                                                \
	"    x = x.to(dtype)\n"                                                                    \
	"    return x.view(2, 150, n, 256 // n).transpose(1, 2)\n"                                 \
	"def model(x, y, z):\n"                                                                    \
	"    out = []\n"                                                                           \
	"    for dtype in (torch.float32, torch.float16, torch.bfloat16):\n"                       \
	"        for n in (2, 4, 8):\n"                                                            \
	"            q, k, v = heads(x, n, dtype), heads(y, n, dtype), heads(z, n, dtype)\n"       \
	"            r = " body "\n"                                                               \
	"            out.append(r.transpose(1, 2).reshape(300, 256).float())\n"                    \
	"    return torch.cat(out)\n"

static const char *const attentions[] = {
	ATTENTION("torch.softmax(q @ k.transpose(-2, -1) * 0.2, -1) @ v"),
	ATTENTION("F.scaled_dot_product_attention(q, k, v, is_causal=True)"),
	ATTENTION("F.scaled_dot_product_attention(q[:, :, 1:], k, v, q[:, :1, 1:, :1] > 0)"
		  ".repeat(1, 1, 2, 1)[:, :, :150]"),
	ATTENTION("torch.softmax((q @ k.transpose(-2, -1) / 8).masked_fill(k[:, :, :, 0]"
		  ".unsqueeze(2) > 0.9, -10), -1) @ v"),
};

/* Their tensor cores are what the emulator has no say about. */
static void attention_has_the_values_of_its_ops(void **state)
{
	(void)state;
	if (!engine_has("cuda"))
		skip();
	for (size_t p = 0; p < sizeof(attentions) / sizeof(attentions[0]); p++) {
		struct engine e[2] = { engine_open("cuda", FUSION_STATIC, attentions[p]),
				       engine_open("interp", FUSION_STATIC, attentions[p]) };
		const float *have[2];
		struct value out[2];

		for (int i = 0; i < 2; i++) {
			struct value in[3];

			for (int k = 0; k < 3; k++)
				in[k] = FLOATS(&e[i], 1.5 * k, 300, 256);
			out[i] = engine_call(&e[i], in, 3);
			engine_drop(in, 3);
			have[i] = tensor_read(out[i].tensor->memory);
		}
		for (int i = 0; i < 9 * 300 * 256; i++) {
			const float bound = i < 3 * 300 * 256   ? 2e-5f
					    : i < 6 * 300 * 256 ? 4e-3f
								: 3e-2f;

			if (!(fabsf(have[0][i] - have[1][i]) <= bound))
				fail_msg("program %d, element %d: %g for %g", (int)p, i,
					 (double)have[0][i], (double)have[1][i]);
		}
		engine_drop(out, 2);
		engine_close(&e[0]);
		engine_close(&e[1]);
	}
}

/* Results are held while the next call runs, and inputs move. */
static void graphs_give_the_bits_of_static(void **state)
{
	struct engine graphs, plain;
	struct value held[6], want[6];

	(void)state;
	if (!engine_has("cuda"))
		skip();
	graphs = engine_open("cuda", FUSION_GRAPHS, LONG);
	plain = engine_open("cuda", FUSION_STATIC, LONG);
	for (int i = 0; i < 6; i++) {
		struct value x = FLOATS(&graphs, i, 32, 32), y = FLOATS(&plain, i, 32, 32);

		held[i] = engine_call(&graphs, &x, 1);
		want[i] = engine_call(&plain, &y, 1);
		value_unref(x);
		value_unref(y);
	}
	if (fusion_graph(graphs.session, 0).recording.why_direct)
		fail_msg("%s", fusion_graph(graphs.session, 0).recording.why_direct);
	for (int i = 0; i < 6; i++)
		assert_memory_equal(tensor_read(held[i].tensor->memory),
				    tensor_read(want[i].tensor->memory), 32 * sizeof(float));
	engine_drop(held, 6);
	engine_drop(want, 6);
	engine_close(&graphs);
	engine_close(&plain);
}

/* The last test: no other may use the GPU in this process after it. */
static void a_wild_address_is_the_failure_of_its_kernel(void **state)
{
	struct engine e;
	struct value x, y = value_none();
	struct storage *storage;
	struct err err = { 0 };
	void *data;

	(void)state;
	if (!engine_has("cuda"))
		skip();
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	e = engine_open("cuda", FUSION_STATIC, TWO);
	x = FLOATS(&e, 0, 8, 8);
	value_unref(engine_call(&e, &x, 1));
	storage = x.tensor->memory->storage;
	data = storage->data;
	storage->data = (char *)data + ((size_t)1 << 44);
	assert_false(fusion_call(e.session, &x, 1, &y, &err) && fusion_wait(e.f, &err));
	storage->data = data;
	assert_int_equal(err.code, ERR_DEVICE);
	assert_int_equal(err.line, 3);
	assert_non_null(strstr(err.message, "(line 3) failed on "));
	assert_non_null(strstr(err.message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
	value_unref(y);
	value_unref(x);
	engine_close(&e);
	unsetenv("CUDA_LAUNCH_BLOCKING");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_give_the_bits_of_static),
		cmocka_unit_test(attention_has_the_values_of_its_ops),
		cmocka_unit_test(a_wild_address_is_the_failure_of_its_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
