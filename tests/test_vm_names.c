/* tests/test_vm_names.c -- what can be refused without running. */
#include "tests/vm_host.h"

#include <stdio.h>

#include "fusion/vm/builtins.h"

/* "CODE line:column message" of the first problem that is certain, or, `certain` false, that is
 * not; "" where there is none. */
static char *check(const char *source, bool certain)
{
	struct host host;
	struct err err = { 0 };
	struct lang_program *program;
	struct vm_problems *problems;
	struct buf text = { 0 };

	host_init(&host);
	program = lang_compile(source, strlen(source), NULL, &err);
	problems = malloc(sizeof(*problems));
	assert_non_null(problems);
	problems->n = 0;
	assert_true(!program || vm_check(program, &host.vm, "model", problems, &err));
	for (int i = 0; i < problems->n && err.code == ERR_NONE; i++)
		if (problems->at[i].certain == certain)
			err = problems->at[i].err;
	if (err.code != ERR_NONE)
		buf_printf(&text, "%s %d:%d %s", err_name(err.code), err.line, err.column,
			   err.message);
	free(problems);
	lang_destroy(program);
	return buf_steal(&text);
}

#define assert_checks(source, wanted)                                                              \
	do {                                                                                       \
		char *got_ = check(source, true);                                                  \
		assert_string_equal(got_, (wanted));                                               \
		free(got_);                                                                        \
	} while (0)

#define assert_warns(source, wanted)                                                               \
	do {                                                                                       \
		char *got_ = check(source, true);                                                  \
		assert_string_equal(got_, "");                                                     \
		free(got_);                                                                        \
		got_ = check(source, false);                                                       \
		assert_string_equal(got_, (wanted));                                               \
		free(got_);                                                                        \
	} while (0)

static void a_name_that_nothing_defines_is_refused_with_a_near_one(void **state)
{
	(void)state;
	assert_checks("import torch\ndef model(x):\n    return toch.sin(x)\n",
		      "unknown-name 3:12 name 'toch' is not defined; did you mean 'torch'?");
	assert_checks("def model(value):\n    return vlaue\n",
		      "unknown-name 2:12 name 'vlaue' is not defined; did you mean 'value'?");
	assert_warns(
	    "def model(x):\n    def inner():\n        return [prnt(x)]\n    return inner\n",
	    "unknown-name 3:17 name 'prnt' is not defined; did you mean 'print'?");
	assert_checks("x = qqqq\n", "unknown-name 1:5 name 'qqqq' is not defined");
}

static void what_need_not_run_is_only_a_warning(void **state)
{
	(void)state;
	assert_warns("def unused():\n    return missing_thing\ndef model(x):\n    return x\n",
		     "unknown-name 2:12 name 'missing_thing' is not defined");
	assert_warns("def model(x, flag=False):\n    if flag:\n        return missing_thing\n"
		     "    return x\n",
		     "unknown-name 3:16 name 'missing_thing' is not defined");
	assert_warns("def model(x):\n    for i in x:\n        return x\n    return missing_thing\n",
		     "unknown-name 4:12 name 'missing_thing' is not defined");
	assert_warns("class Unused:\n    def forward(self, x):\n        return input('f')\n"
		     "def model(x):\n    return x\n",
		     "unsupported 3:16 input is a builtin of Python that the workload language "
		     "leaves out");
	assert_warns(
	    "def unused(x):\n    return x, 99999999999999999999\ndef model(x):\n    return x\n",
	    "unsupported 2:15 this integer needs more than 64 bits; write it as a float, 1e20");
	assert_warns("async def f():\n    await g()\ndef model(x):\n    return x\n",
		     "unsupported 1:7 async is outside the language so far; write def");
}

static void what_runs_whenever_the_program_does_is_refused(void **state)
{
	(void)state;
	assert_checks("if 1 > 2:\n    x = 1\ny = missing_thing\ndef model(x):\n    return x\n",
		      "unknown-name 3:5 name 'missing_thing' is not defined");
	assert_checks("class model:\n    def forward(self, x):\n        return missing_thing\n",
		      "unknown-name 3:16 name 'missing_thing' is not defined");
	assert_checks("class A:\n    size = missing_thing\ndef model(x):\n    return x\n",
		      "unknown-name 2:12 name 'missing_thing' is not defined");
	assert_checks(
	    "def model(x):\n    y = x if x else missing_thing\n    return 99999999999999999999\n",
	    "unsupported 3:12 this integer needs more than 64 bits; write it as a float, 1e20");
}

static void names_that_the_program_may_catch_pass(void **state)
{
	(void)state;
	assert_checks("def f():\n    return missing_thing\ndef model(x):\n    try:\n"
		      "        return f()\n    except NameError:\n        return x\n",
		      "");
	assert_checks("import torch\ndef f(x):\n    return torch.sinn(x)\ndef model(x):\n    try:\n"
		      "        return f(x)\n    except AttributeError:\n        return x\n",
		      "");
	assert_warns("def f():\n    return missing_thing\ndef model(x):\n    try:\n"
		     "        return f()\n    except ValueError:\n        return x\n",
		     "unknown-name 2:12 name 'missing_thing' is not defined");
}

static void builtins_that_we_leave_out_are_named_as_such(void **state)
{
	(void)state;
	assert_checks("def model(x):\n    return input('f')\n",
		      "unsupported 2:12 input is a builtin of Python that the workload language "
		      "leaves out");
}

static void attributes_that_a_module_lacks_are_refused(void **state)
{
	(void)state;
	assert_checks("import torch\ndef model(x):\n    return torch.sinn(x)\n",
		      "unknown-name 3:12 torch has no function sinn");
	assert_checks("import torch\ndef model(x):\n    return torch.nn.functional.reluu(x)\n",
		      "unknown-name 3:12 torch.nn.functional has no function reluu");
	assert_checks("import torch.nn.functional as F\ndef model(x):\n    return F.sin(x)\n",
		      "unknown-name 3:12 torch.nn.functional has no function sin");
	assert_checks("from torch import nn\ndef model(x):\n    return nn.functionall\n",
		      "unknown-name 3:12 torch.nn has no function functionall");
	assert_checks("import math\ndef model(x):\n    return x * math.squrt(2)\n",
		      "unknown-name 3:16 math has no function squrt; did you mean math.sqrt?");
	assert_checks("from torch import sinn\ndef model(x):\n    return sinn(x)\n",
		      "unknown-name 3:12 torch has no function sinn");
	assert_checks("from torch import sinn\ndef model(x):\n    return x\n", "");
}

static void a_module_that_does_not_exist_is_refused_where_it_is_called(void **state)
{
	(void)state;
	assert_checks("import torhc as t\ndef model(x):\n    return t.sin(x)\n",
		      "unsupported 3:12 torhc.sin is not in the workload language; put the code "
		      "that is used into the source");
	assert_checks("import torhc as t\nt.seed(0)\ndef model(x):\n    return x\n", "");
	assert_checks("from .layers import *\nfrom .layers import Block\ndef model(x):\n"
		      "    return isinstance(x, Block)\n",
		      "");
	assert_warns("import torhc\ndef f(x):\n    return torhc.sin(x)\ndef model(x):\n"
		     "    return x\n",
		     "unsupported 3:12 torhc.sin is not in the workload language; put the code "
		     "that is used into the source");
}

/* Such a block never runs here, so what it names need not exist. */
static void what_only_a_script_would_run_is_not_checked(void **state)
{
	(void)state;
	assert_checks("def model(x):\n    return x\n"
		      "if __name__ == \"__main__\":\n    args = parse(open('x'))\n    main(args)\n",
		      "");
	assert_checks("def model(x):\n    return x\n"
		      "if __name__ == \"__main__\":\n    pass\nelse:\n    parse(1)\n",
		      "unknown-name 6:5 name 'parse' is not defined");
}

/* Files import what their models never use; the use is refused where it is. */
static void packages_that_are_left_out_may_be_imported(void **state)
{
	(void)state;
	assert_checks("import numpy as np\nfrom einops import rearrange, repeat\nimport os.path\n"
		      "import torchvision.transforms as T\n"
		      "def load(path):\n    return np.load(os.path.join(path, 'x'))\n"
		      "def model(x):\n    return x * np.pi\n",
		      "");
}

static void each_name_of_a_from_import_is_checked(void **state)
{
	(void)state;
	assert_checks("from torch import sin, nn, reluu\ndef model(x):\n    return reluu(sin(x))\n",
		      "unknown-name 3:12 torch has no function reluu");
	assert_checks("from torch import sin, nn as n, relu\ndef model(x):\n"
		      "    return relu(sin(n.functional.relu(x)))\n",
		      "");
}

static void what_would_run_is_never_refused(void **state)
{
	static const char *const sources[] = {
		/* all of it is known */
		"import torch\nimport math\nimport torch.nn.functional as F\n"
		"K = math.pi\ndef model(x):\n    return F.relu(torch.sin(x)) * K * math.sqrt(2)\n",
		/* attributes of tensors and of calls are not ours to know */
		"import torch\ndef model(x):\n    return torch.sin(x).anything.at_all\n",
		"import torch\ndef model(x):\n    return x.unknown_method()\n",
		/* defined later, or by a function */
		"def model(x):\n    return helper(x)\ndef helper(x):\n    return x\n",
		"def init():\n    global late\n    late = 1\ndef model(x):\n    return late\n",
		/* a parameter or local of the same name hides the module */
		"import torch\ndef model(torch):\n    return torch.whatever\n",
		"import torch\ndef model(x):\n    torch = x\n    return torch.whatever\n",
		/* a module's name that is assigned again */
		"import torch\ntorch = 5\ndef model(x):\n    return torch.whatever\n",
		"import torch\nimport torch.nn as torch\ndef model(x):\n    return "
		"torch.functional\n",
		/* what is not a module ends the chain */
		"import torch\nf = torch.sin\ndef model(x):\n    return torch.sin.anything\n",
		/* imported twice */
		"import torch\nimport torch\ndef model(x):\n    return torch.relu(x)\n",
		"import math\ndef model(x):\n    return math.__name__, __name__\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		assert_checks(sources[i], "");
}

/* A section that is not listed at the top of builtins.def would have rows that nobody joins. */
static void each_builtin_is_found_by_its_name(void **state)
{
	(void)state;
	for (int i = 0; i < builtin_count(); i++) {
		const struct builtin *row = builtin_row(i);

		assert_non_null(row);
		assert_int_equal(builtin_find(row->scope, row->name), i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_that_nothing_defines_is_refused_with_a_near_one),
		cmocka_unit_test(what_need_not_run_is_only_a_warning),
		cmocka_unit_test(what_runs_whenever_the_program_does_is_refused),
		cmocka_unit_test(names_that_the_program_may_catch_pass),
		cmocka_unit_test(builtins_that_we_leave_out_are_named_as_such),
		cmocka_unit_test(attributes_that_a_module_lacks_are_refused),
		cmocka_unit_test(a_module_that_does_not_exist_is_refused_where_it_is_called),
		cmocka_unit_test(what_only_a_script_would_run_is_not_checked),
		cmocka_unit_test(packages_that_are_left_out_may_be_imported),
		cmocka_unit_test(each_name_of_a_from_import_is_checked),
		cmocka_unit_test(what_would_run_is_never_refused),
		cmocka_unit_test(each_builtin_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
