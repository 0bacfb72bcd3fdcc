/* tests/test_fusion_binding.c -- what a call gives is read, or refused by name, in every mode.
 *
 * tests/binding tries each parameter of each callable; here are conversions, reductions
 * as PyTorch spelt them before, integer division by zero, and where a refusal points to.
 */
#include "tests/engine.h"

static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_DYNAMIC,
					  FUSION_LAZY };

enum { MODES = sizeof(modes) / sizeof(modes[0]) };

#define HEAD "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"

static void gives(const char *expression, const char *wanted)
{
	char source[1024];

	snprintf(source, sizeof(source), HEAD "def model():\n    return str(%s)\n", expression);
	for (int i = 0; i < MODES; i++) {
		struct engine e = engine_open("interp", modes[i], source);
		struct err err = { 0 };
		struct value out;

		if (!fusion_call(e.session, NULL, 0, &out, &err))
			fail_msg("%s: %s", expression, err.message);
		assert_int_equal(out.kind, VALUE_STR);
		assert_string_equal(out.str->text, wanted);
		value_unref(out);
		engine_close(&e);
	}
}

/* The line is that of the call in the program, not one of the prelude. */
static void refuses(const char *expression, const char *words)
{
	char source[1024];

	snprintf(source, sizeof(source), HEAD "def model():\n    return %s\n", expression);
	for (int i = 0; i < MODES; i++) {
		struct engine e = engine_open("interp", modes[i], source);
		struct err err = engine_fails(&e, NULL, 0);

		if (!strstr(err.message, words))
			fail_msg("%s: %s", expression, err.message);
		assert_int_equal(err.line, 5);
		engine_close(&e);
	}
}

static void types_are_named_as_pytorch_ever_did(void **state)
{
	(void)state;
	gives("torch.ones(2).type()", "torch.FloatTensor");
	gives("torch.ones(2).half().type()", "torch.HalfTensor");
	gives("torch.ones(2).type(torch.LongTensor)", "tensor([1, 1])");
	gives("torch.ones(2).type(torch.HalfTensor).dtype", "torch.float16");
	gives("torch.ones(2).type('torch.DoubleTensor').dtype", "torch.float64");
	gives("torch.ones(2).type('torch.cuda.LongTensor').dtype", "torch.int64");
	gives("torch.ones(2).type(dtype=torch.float16).dtype", "torch.float16");
	gives("(torch.ones(2) * 1.5).to(int)", "tensor([1, 1])");
	gives("torch.ones(2).to(float).dtype", "torch.float64");
	gives("torch.ones(2).to(bool)", "tensor([True, True])");
	gives("torch.ones(2).to('cpu', torch.float64, True).dtype", "torch.float64");
	gives("torch.zeros(2, dtype=int)", "tensor([0, 0])");
	gives("torch.arange(3, dtype=float).dtype", "torch.float64");
	gives("nn.Linear(2, 2).type(torch.DoubleTensor).weight.dtype", "torch.float64");
	gives("nn.LayerNorm(2, dtype=torch.float64).weight.dtype", "torch.float64");
	gives("torch.ones(2).device.index", "None");
	gives("torch.device('cuda', 1).index", "1");
}

static void reductions_may_be_spelt_as_before(void **state)
{
	(void)state;
	gives("F.mse_loss(torch.ones(2), torch.zeros(2), reduce=False)", "tensor([1., 1.])");
	gives("F.mse_loss(torch.ones(2), torch.zeros(2), size_average=False)", "tensor(2.)");
	gives("F.mse_loss(torch.ones(2), torch.zeros(2), True, True, 'sum')", "tensor(1.)");
	gives("nn.CrossEntropyLoss(reduce=False)(torch.zeros(2, 3), torch.tensor([0, 1]))",
	      "tensor([1.0986, 1.0986])");
	gives("nn.SoftMarginLoss(size_average=False)(torch.zeros(2), torch.ones(2))",
	      "tensor(1.3863)");
	gives("F.hinge_embedding_loss(torch.tensor([0.5, 2.0]), torch.zeros(2), reduction='none')",
	      "tensor([1., 2.])");
}

static void ints_are_not_divided_by_zero(void **state)
{
	(void)state;
	refuses("torch.arange(3) // torch.arange(3)", "ZeroDivisionError");
	refuses("torch.arange(3) % torch.arange(3)", "ZeroDivisionError");
	refuses("torch.fmod(torch.arange(3), torch.arange(3))", "ZeroDivisionError");
	refuses("torch.div(torch.arange(3), torch.arange(3), rounding_mode='trunc')",
		"ZeroDivisionError");
	refuses("torch.arange(3) // 0", "ZeroDivisionError");
	gives("torch.arange(3) // torch.tensor([1, 2, 2])", "tensor([0, 0, 1])");
	gives("torch.arange(3.0) // torch.zeros(3)", "tensor([nan, inf, inf])");
}

static void refusals_name_the_parameter_and_the_place(void **state)
{
	(void)state;
	refuses("torch.sin(torch.ones(2), device='cpu')", "torch.sin has no parameter device");
	refuses("torch.zeros(2, device='meta')", "device='meta'");
	refuses("torch.rand(2, generator=1)",
		"torch.rand: the generator is a torch.Generator, not int");
	refuses("nn.init.normal_(torch.zeros(2), generator=1)",
		"generator must be a torch.Generator, not int");
	refuses("torch.set_printoptions(precision=300)",
		"precision is a number from 0 to 40, not 300");
	refuses("torch.inner(torch.ones(2), torch.ones(2), out=torch.ones(2, dtype=torch.bool))",
		"can't be cast to the desired output type bool");
	refuses("torch.masked_select(torch.ones(2), torch.ones(2).bool(), more=1)",
		"has no parameter more");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_named_as_pytorch_ever_did),
		cmocka_unit_test(reductions_may_be_spelt_as_before),
		cmocka_unit_test(ints_are_not_divided_by_zero),
		cmocka_unit_test(refusals_name_the_parameter_and_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
