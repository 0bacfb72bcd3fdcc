/* tests/test_fusion_print.c -- the text of tensors, as PyTorch gives it. */
#include "tests/engine.h"

static void prints(const char *expression, const char *wanted)
{
	char source[512];
	struct engine e;
	struct err err = { 0 };
	struct value out;

	snprintf(source, sizeof(source), "import torch\ndef model():\n    return repr(%s)\n",
		 expression);
	e = engine_open("interp", FUSION_EAGER, source);
	if (!fusion_call(e.session, NULL, 0, &out, &err))
		fail_msg("%s: %s", expression, err.message);
	assert_string_equal(out.str->text, wanted);
	value_unref(out);
	engine_close(&e);
}

static void one_form_serves_all_elements(void **state)
{
	(void)state;
	prints("torch.tensor(3)", "tensor(3)");
	prints("torch.tensor(True)", "tensor(True)");
	prints("torch.tensor([1.0, 2.5])", "tensor([1.0000, 2.5000])");
	prints("torch.tensor([1.0, -20.0])", "tensor([  1., -20.])");
	prints("torch.tensor([1.0, float('inf'), float('nan')])", "tensor([1., inf, nan])");
	prints("torch.tensor([1e9, 1.0])", "tensor([1.0000e+09, 1.0000e+00])");
	prints("torch.tensor([0.00001])", "tensor([1.0000e-05])");
	prints("torch.tensor([0.5, 2000.0])", "tensor([5.0000e-01, 2.0000e+03])");
	prints("torch.tensor([1, -20, 300])", "tensor([  1, -20, 300])");
	prints("torch.tensor([0.0, 0.0])", "tensor([0., 0.])");
	prints("[torch.tensor(1.5)]", "[tensor(1.5000)]");
}

static void rows_and_blocks_stand_below_one_another(void **state)
{
	(void)state;
	prints("torch.arange(4).view(2, 2)", "tensor([[0, 1],\n        [2, 3]])");
	prints("torch.arange(4).view(2, 2).t()", "tensor([[0, 2],\n        [1, 3]])");
	prints("torch.zeros(2, 1, 2)", "tensor([[[0., 0.]],\n\n        [[0., 0.]]])");
	prints("torch.arange(20)",
	       "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, "
	       "14, 15, 16, 17,\n        18, 19])");
	prints("torch.arange(2000)", "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])");
}

static void what_is_not_float32_says_so(void **state)
{
	(void)state;
	prints("torch.zeros(2).double()", "tensor([0., 0.], dtype=torch.float64)");
	prints("torch.zeros(0)", "tensor([])");
	prints("torch.zeros(2, 0).long()", "tensor([], size=(2, 0), dtype=torch.int64)");
	prints("torch.ones(18).double()",
	       "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.],\n"
	       "       dtype=torch.float64)");
}

static void a_tensor_without_dims_is_formatted_as_its_number(void **state)
{
	(void)state;
	prints("f'{torch.tensor(True)} {torch.tensor(7)} {torch.tensor(0.1)}'",
	       "'True 7 0.10000000149011612'");
	prints("'{} {:.2f} {!r}'.format(torch.tensor(2.5), torch.tensor(2.5), torch.tensor(2.5))",
	       "'2.5 2.50 tensor(2.5000)'");
	prints("f'{torch.ones(1)} ' + format(torch.tensor(3))", "'tensor([1.]) 3'");
	prints("f'{torch.nn.Parameter(torch.tensor(2.))}'[:9]", "'Parameter'");
}

/* Of a program that asks for no gradient, in eager and after a compiled piece. */
static void texts_say_what_gradients_go_to(void **state)
{
	static const struct {
		const char *lines, *eager, *compiled;
	} programs[] = {
		{ "    return '%s' % nn.Parameter(x * 2)\n",
		  "Parameter containing:\ntensor([2., 4.], requires_grad=True)",
		  "Parameter containing:\ntensor([2., 4.], requires_grad=True)" },
		{ "    y = net(x) * 2\n    return f'{y}'\n",
		  "tensor([6., 6.], grad_fn=<MulBackward0>)",
		  "tensor([6., 6.], grad_fn=<CompiledFunctionBackward>)" },
		{ "    y = (net(x) * 2)[:1]\n    return str(y)\n",
		  "tensor([6.], grad_fn=<SliceBackward0>)",
		  "tensor([6.], grad_fn=<AsStridedBackward0>)" },
		{ "    y = net(x).detach() * 2\n    return repr(y)\n", "tensor([6., 6.])",
		  "tensor([6., 6.])" },
		{ "    with torch.no_grad():\n        y = net(x) * 2\n    return repr(y)\n",
		  "tensor([6., 6.])", "tensor([6., 6.])" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(programs) / sizeof(*programs); i++) {
		bool compiled = i % 2;
		char source[512];
		struct engine e;
		struct value x, text;

		snprintf(source, sizeof(source),
			 "import torch\nfrom torch import nn\nnet = nn.Linear(2, 2, bias=False)\n"
			 "nn.init.ones_(net.weight)\ndef model(x):\n%s",
			 programs[i / 2].lines);
		e = engine_open("interp", compiled ? FUSION_STATIC : FUSION_EAGER, source);
		x = FLOATS(&e, 0, 2);
		((float *)tensor_data(x.tensor->memory))[0] = 1;
		((float *)tensor_data(x.tensor->memory))[1] = 2;
		text = engine_call(&e, &x, 1);
		assert_string_equal(text.str->text,
				    compiled ? programs[i / 2].compiled : programs[i / 2].eager);
		value_unref(text);
		value_unref(x);
		engine_close(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_form_serves_all_elements),
		cmocka_unit_test(rows_and_blocks_stand_below_one_another),
		cmocka_unit_test(what_is_not_float32_says_so),
		cmocka_unit_test(a_tensor_without_dims_is_formatted_as_its_number),
		cmocka_unit_test(texts_say_what_gradients_go_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
