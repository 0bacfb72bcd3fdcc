/* tests/test_fusion_errors.c -- what a user reads when a program is wrong.
 *
 * Each row is a program, and the place and words of its error.  Errors that can
 * be seen without running come from fusion_parse(); the others must be the same
 * in every mode that refuses the program.
 */
#include "tests/engine.h"

enum { ALL = (1 << FUSION_MODE_COUNT) - 1 };

struct wrong {
	const char *body; /* of def model(x), after `import torch` */
	unsigned modes;   /* that refuse it */
	enum err_code code;
	int line, column;
	const char *words; /* part of the message */
};

static const struct wrong wrongs[] = {
	{ "    return x.sumn()\n", ALL, ERR_NAME, 3, 12, "did you mean Tensor.sum?" },
	{ "    return x.segment_reduce()\n", ALL, ERR_UNSUPPORTED, 3, 12,
	  "Tensor.segment_reduce is known" },
	{ "    return x @ x\n", ALL, ERR_SHAPE, 3, 12, "[8, 16] and [8, 16] do not fit together" },
	{ "    return torch.sum(x, dims=1)\n", ALL, ERR_TYPE, 3, 12,
	  "torch.sum has no parameter dims; did you mean dim? it takes x, dim, keepdim, dtype" },
	{ "    return torch.softmax(x, 1, hurry=1)\n", ALL, ERR_TYPE, 3, 12,
	  "torch.softmax has no parameter hurry; it takes x, dim, dtype" },
	{ "    return x.new_zeroes(3)\n", ALL, ERR_NAME, 3, 12, "did you mean Tensor.new_zeros?" },
	{ "    return x.masked_selct(x > 0)\n", ALL, ERR_NAME, 3, 12,
	  "did you mean Tensor.masked_select?" },
	{ "    def helper(alpha, *, beta=2):\n        return alpha\n    return helper(x, "
	  "betta=1)\n",
	  ALL, ERR_TYPE, 5, 12,
	  "helper() got an unexpected keyword argument 'betta'. Did you mean 'beta'?" },
	{ "    return torch.nn.Linear(16, 4, biass=False)(x)\n", ALL, ERR_TYPE, 3, 12,
	  "Linear.__init__() got an unexpected keyword argument 'biass'. Did you mean 'bias'?" },
	{ "    return torch.nn.Linear(16)\n", ALL, ERR_TYPE, 3, 12,
	  "Linear.__init__() missing 1 required positional argument: 'out_features'" },
	{ "    with torch.profiler.profile(activites=[1]):\n        return x\n", ALL, ERR_TYPE, 3,
	  10,
	  "profile.__init__() got an unexpected keyword argument 'activites'. Did you mean "
	  "'activities'?" },
	{ "    with torch.profiler.profile(with_stack=True) as p:\n        x + 1\n    return "
	  "p.key_averages()\n",
	  ALL, ERR_VALUE, 5, 12, "the run's own timeline has what ran" },
	{ "    return x.view(-1, 5)\n", ALL, ERR_SHAPE, 3, 12, "sizes [-1, 5] do not have" },
	{ "    return x.reshape(3, -1)\n", ALL, ERR_SHAPE, 3, 12, "sizes [3, -1] do not have" },
	{ "    return torch.sum(x, dim='a')\n", ALL, ERR_TYPE, 3, 12,
	  "dim must be an int or a tuple of ints or None, not str" },
	{ "    return torch.sum(x, 0, dim=1)\n", ALL, ERR_TYPE, 3, 12, "dim is given twice" },
	{ "    return torch.cumsum(x)\n", ALL, ERR_TYPE, 3, 12, "dim is missing" },
	{ "    return torch.relu(x, 1, 2)\n", ALL, ERR_TYPE, 3, 12, "3 positional arguments" },
	{ "    return x + 'a'\n", ALL, ERR_TYPE, 3, 12, "a tensor or a number, not str" },
	{ "    return torch.add(1, 2)\n", ALL, ERR_TYPE, 3, 12, "at least one tensor" },
	{ "    y = torch.zeros(5, 7)\n    return x + y\n", ALL, ERR_SHAPE, 4, 12,
	  "[8, 16] and [5, 7]" },
	{ "    x += torch.zeros(3, 8, 16)\n    return x\n", ALL, ERR_SHAPE, 3, 5,
	  "[3, 8, 16] does not fit into [8, 16]" },
	{ "    i = torch.tensor([1, 2])\n    i += 1.5\n    return i\n", ALL, ERR_DTYPE, 4, 5,
	  "the result is float32, the tensor int64" },
	{ "    return torch.zeros(100000, 1000000)\n", ALL, ERR_BOUND, 3, 12, "2^31 elements" },
	{ "    return torch.zeros(100000, 1000000).sum()\n", ALL, ERR_BOUND, 3, 12,
	  "2^31 elements" },
	{ "    return torch.tensor([[1, 2], [3]])\n", ALL, ERR_VALUE, 3, 12, "differ in length" },
	{ "    return x.sum(dim=5)\n", ALL, ERR_INDEX, 3, 12, "sizes are [8, 16]" },
	{ "    return x.size(2)\n", ALL, ERR_INDEX, 3, 12, "dim may be -2 to 1" },
	{ "    while True:\n        x = x + 1\n", ALL, ERR_STEPS, 4, 13, "steps" },
};

static void check_error(const struct wrong *w, const struct err *err)
{
	if (err->code != w->code || err->line != w->line || err->column != w->column ||
	    !strstr(err->message, w->words))
		fail_msg("%s: got %s at %d:%d: %s", w->body, err_name(err->code), err->line,
			 err->column, err->message);
}

static void run_wrong(const struct wrong *w, enum fusion_mode mode)
{
	char source[512];
	struct engine e;
	struct value x, out;
	struct err err;

	snprintf(source, sizeof(source), "import torch\ndef model(x):\n%s", w->body);
	e = engine_open("interp", mode, source);
	x = FLOATS(&e, 1, 8, 16);
	if (w->modes & 1u << mode) {
		err = engine_fails(&e, &x, 1);
		check_error(w, &err);
		err = engine_fails(&e, &x, 1); /* a failed call leaves nothing */
		check_error(w, &err);
	} else {
		out = engine_call(&e, &x, 1);
		value_unref(out);
	}
	value_unref(x);
	engine_close(&e);
}

static void a_wrong_program_is_refused_alike_at_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
		for (int mode = 0; mode < FUSION_MODE_COUNT; mode++)
			run_wrong(&wrongs[i], (enum fusion_mode)mode);
}

static void check_parse(const char *source, enum err_code code, int line, const char *words)
{
	struct err err = { 0 };
	struct fusion_program *p = fusion_parse(source, strlen(source), "model", &err);

	assert_null(p);
	if (err.code != code || err.line != line || !strstr(err.message, words))
		fail_msg("%s at %d: %s", err_name(err.code), err.line, err.message);
}

static void unknown_names_are_found_without_running(void **state)
{
	(void)state;
	check_parse("import torch\ndef model(x):\n    return torch.softmx(x, 0)\n", ERR_NAME, 3,
		    "torch has no attribute softmx; did you mean torch.softmax?");
	check_parse("import torch\ndef model(x):\n    return torch.segment_reduce(x)\n",
		    ERR_UNSUPPORTED, 3,
		    "torch.segment_reduce is known, but not in the language so far");
	check_parse("import torch\ndef model(x):\n    return x.to(torch.float8_e5m2)\n", ERR_NAME,
		    3, "float8_e5m2");
	check_parse("def model(x):\n    return y\n", ERR_NAME, 2, "y");
	check_parse("def modl(x):\n    return x\n", ERR_NAME, 0, "it defines modl");
	check_parse("def model(x:\n    return x\n", ERR_SYNTAX, 1, "");
}

/* A misspelt name, and what of the same module or type is meant; NULL: nothing is near. */
static void suggestions_come_from_the_same_namespace(void **state)
{
	static const struct {
		const char *written, *meant;
	} names[] = {
		{ "torch.rann", "torch.rand" },
		{ "torch.flot32", "torch.float32" },
		{ "torch.masked_selct", "torch.masked_select" },
		{ "torch.no_grd", "torch.no_grad" },
		{ "torch.nn.Linea", "torch.nn.Linear" },
		{ "torch.nn.functionl", "torch.nn.functional" },
		{ "torch.optim.Adm", "torch.optim.Adam" },
		{ "torch.optim.lr_scheduler.StepLr", "torch.optim.lr_scheduler.StepLR" },
		{ "torch.nn.functional.sofmax", "torch.nn.functional.softmax" },
		{ "torch.nn.functional.cross_entropi", "torch.nn.functional.cross_entropy" },
		{ "torch.linalg.nrom", "torch.linalg.norm" },
		{ "torch.cuda.is_avalable", "torch.cuda.is_available" },
		{ "torch.view", NULL },         /* a method alone */
		{ "torch.cross_entrop", NULL }, /* of torch.nn.functional */
		{ "torch.optim.Linear", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char source[200], words[200];
		const char *dot = strrchr(names[i].written, '.');

		snprintf(source, sizeof(source), "import torch\ndef model(x):\n    return %s(x)\n",
			 names[i].written);
		if (names[i].meant)
			snprintf(words, sizeof(words), "has no attribute %s; did you mean %s?",
				 dot + 1, names[i].meant);
		else
			snprintf(words, sizeof(words), "has no attribute %s", dot + 1);
		check_parse(source, ERR_NAME, 3, words);
		if (!names[i].meant) {
			struct err err = { 0 };

			fusion_parse(source, strlen(source), "model", &err);
			assert_null(strstr(err.message, "did you mean"));
		}
	}
}

static void an_entry_that_is_no_function_is_refused(void **state)
{
	const char source[] = "model = 3\n";
	struct fusion_options options = { .backend = "interp", .threads = 1 };
	struct fusion *f = fusion_create(&options, NULL);
	struct fusion_program *p = fusion_parse(source, strlen(source), "model", NULL);
	struct err err = { 0 };

	(void)state;
	assert_non_null(p);
	assert_null(fusion_session(f, p, FUSION_EAGER, &err));
	assert_int_equal(err.code, ERR_TYPE);
	fusion_program_destroy(p);
	fusion_destroy(f);
}

static void an_unknown_backend_is_refused_by_name(void **state)
{
	struct fusion_options options = { .backend = "tpu" };
	struct err err = { 0 };

	(void)state;
	assert_null(fusion_create(&options, &err));
	assert_int_equal(err.code, ERR_NAME);
	assert_non_null(strstr(err.message, "interp"));
}

static void memory_over_the_limit_is_an_error_not_a_crash(void **state)
{
	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		const char source[] = "import torch\ndef model(x):\n    return x + 1, x + 2\n";
		struct fusion_options options = { .backend = "interp",
						  .threads = 1,
						  .memory_bytes = 10000 };
		struct engine e = { .f = fusion_create(&options, NULL) };
		struct value x;
		struct err err;

		e.program = fusion_parse(source, strlen(source), "model", NULL);
		e.session = fusion_session(e.f, e.program, (enum fusion_mode)mode, NULL);
		x = FLOATS(&e, 1, 1000);
		err = engine_fails(&e, &x, 1);
		assert_int_equal(err.code, ERR_MEMORY);
		assert_int_equal(err.line, 3);
		value_unref(x);
		engine_close(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_program_is_refused_alike_at_its_place),
		cmocka_unit_test(unknown_names_are_found_without_running),
		cmocka_unit_test(suggestions_come_from_the_same_namespace),
		cmocka_unit_test(an_entry_that_is_no_function_is_refused),
		cmocka_unit_test(an_unknown_backend_is_refused_by_name),
		cmocka_unit_test(memory_over_the_limit_is_an_error_not_a_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
