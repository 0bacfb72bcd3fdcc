/* tests/test_vm_host.c -- what the VM leaves to its host, and with what
 * place in the program. */
#include "tests/vm_host.h"

#include <stdio.h>

/* model(tensor 5) of a program, printed. */
static char *run_with_tensor(const char *source)
{
	struct session s;
	struct buf text = { 0 };
	struct value x, v;

	if (session_open(&s, source, NULL)) {
		x = host_tensor(&s.host, 5);
		if (session_call(&s, "model", &x, 1, &v)) {
			struct value f, t;

			/* str() in the program's own words: through the host */
			assert_true(vm_global(s.vm, "text", &f));
			assert_true(
			    vm_call(s.vm, f, &(struct arguments){ &v, 1, NULL }, &t, &s.err));
			buf_add(&text, t.str->text, t.str->len);
			value_unref(t);
			value_unref(v);
		}
		value_unref(x);
	}
	if (s.err.code != ERR_NONE)
		buf_printf(&text, "%s %d:%d %s", err_name(s.err.code), s.err.line, s.err.column,
			   s.err.message);
	session_close(&s);
	return buf_steal(&text);
}

#define assert_tensor_runs(body, wanted)                                                           \
	do {                                                                                       \
		char *got_ = run_with_tensor("import torch\nimport torch.nn.functional as F\n"     \
					     "def text(v):\n    return str(v)\n"                   \
					     "def model(x):\n" body);                              \
		assert_string_equal(got_, (wanted));                                               \
		free(got_);                                                                        \
	} while (0)

static void operators_with_a_tensor_are_the_hosts(void **state)
{
	(void)state;
	assert_tensor_runs("    return x + 1, 2 * x, x - x, -x\n",
			   "(tensor(6), tensor(10), tensor(0), tensor(-5))");
	assert_tensor_runs("    return x > 3, x == 5\n", "(tensor(1), tensor(1))");
	assert_tensor_runs("    return x[2], x.sin(), torch.sin(x), F.relu(x)\n",
			   "(tensor(7), tensor(105), tensor(105), tensor(205))");
}

static void comparing_a_tensor_with_none_stays_in_the_vm(void **state)
{
	(void)state;
	assert_tensor_runs("    return x is None, x == None, x != 'a', x is x\n",
			   "(False, False, True, True)");
}

static void in_place_operators_write_the_tensor_itself(void **state)
{
	(void)state;
	assert_tensor_runs("    y = x\n    y += 1\n    return x, y\n", "(tensor(6), tensor(6))");
	assert_tensor_runs("    y = x\n    y = y + 1\n    return x, y\n", "(tensor(5), tensor(6))");
	assert_tensor_runs("    x[1] = 3\n    return x\n", "tensor(13)");
	assert_tensor_runs("    x.add_(1, alpha=2)\n    return x\n", "tensor(2006)");
}

static void truth_and_numbers_of_a_tensor_are_asked_for(void **state)
{
	(void)state;
	assert_tensor_runs("    if x > 3:\n        return 'yes'\n    return 'no'\n", "yes");
	assert_tensor_runs("    return int(x), float(x), bool(x), x.item(), not x\n",
			   "(5, 5.0, True, 5, False)");
	assert_tensor_runs("    return abs(-x), max(x, x + 1), [1, 2, 3, 4, 5, 6][x]\n",
			   "(tensor(5), tensor(6), 6)");
}

static void iterating_a_tensor_asks_for_its_rows(void **state)
{
	(void)state;
	assert_tensor_runs("    a, b, c = x\n    return a, c, len(x)\n",
			   "(tensor(5), tensor(7), 3)");
	assert_tensor_runs("    r = []\n    for row in x:\n        r.append(row)\n    return r\n",
			   "[tensor(5), tensor(6), tensor(7)]");
	assert_tensor_runs("    return sum(x), list(zip(x, 'ab'))\n",
			   "(tensor(18), [(tensor(5), 'a'), (tensor(6), 'b')])");
}

static void sizes_print_as_torch_size_and_behave_as_tuples(void **state)
{
	(void)state;
	assert_tensor_runs(
	    "    return x.shape, x.shape[1], x.shape.numel(), x.shape[:1], len(x.shape)\n",
	    "(torch.Size([3, 5]), 5, 15, torch.Size([3]), 2)");
	assert_tensor_runs("    return x.shape == (3, 5), isinstance(x.shape, tuple)\n",
			   "(True, True)");
}

static void symbolic_sizes_become_numbers_where_python_needs_one(void **state)
{
	(void)state;
	assert_tensor_runs(
	    "    n = x.dim()\n    return list(range(n)), [0] * n, [9, 8, 7, 6, 5][n]\n",
	    "([0, 1, 2, 3], [0, 0, 0, 0], 5)");
	assert_tensor_runs("    n = x.dim()\n    return n + 1, abs(n) is n, 'abcdef'[:n]\n",
			   "(tensor(5), False, 'abcd')");
}

static void tensors_in_lists_are_equal_by_identity_first(void **state)
{
	(void)state;
	assert_tensor_runs("    return x in [1, x], [x] == [x], [x].index(x), (x, 1) == (x, 2)\n",
			   "(True, True, 0, False)");
}

static void isinstance_knows_tensors(void **state)
{
	(void)state;
	assert_tensor_runs("    return isinstance(x, torch.Tensor), isinstance(1, torch.Tensor), "
			   "isinstance(x, (int, torch.Tensor))\n",
			   "(True, False, True)");
}

static void host_errors_get_the_place_of_the_instruction(void **state)
{
	(void)state;
	assert_tensor_runs("    y = x\n    return y + (x / y)\n",
			   "shape 7:17 shapes [3] and [4] do not broadcast");
	assert_tensor_runs("    return x.sinn()\n",
			   "unknown-name 6:12 Tensor has no attribute sinn");
	assert_tensor_runs("    return torch.relu(3)\n", "type 6:12 torch.relu wants a tensor");
}

static void an_error_in_a_callee_has_the_callees_place(void **state)
{
	(void)state;
	assert_tensor_runs("    return helper(x)\n"
			   "def helper(y):\n"
			   "    return 1 + y.sinn\n",
			   "unknown-name 8:16 Tensor has no attribute sinn");
}

static void the_host_knows_the_line_that_runs(void **state)
{
	struct session s;
	struct value x, v;

	(void)state;
	assert_true(session_open(
	    &s, "import torch\ndef model(x):\n    x = x + 1\n    return torch.sin(x)\n", NULL));
	x = host_tensor(&s.host, 1);
	assert_true(session_call(&s, "model", &x, 1, &v));
	assert_int_equal(s.host.line, 4);
	assert_int_equal(s.host.column, 12);
	value_unref(v);
	value_unref(x);
	session_close(&s);
}

static void a_module_attribute_is_looked_up_once(void **state)
{
	struct session s;
	struct host other;
	struct value x, v;
	int before;

	(void)state;
	assert_true(session_open(&s,
				 "import torch\ndef model(x):\n"
				 "    for i in range(10):\n"
				 "        x = torch.nn.functional.relu(x)\n    return x\n",
				 NULL));
	x = host_tensor(&s.host, 1);
	before = s.host.attr_lookups;
	for (int i = 0; i < 3; i++) {
		assert_true(session_call(&s, "model", &x, 1, &v));
		value_unref(v);
	}
	assert_int_equal(s.host.attr_lookups - before, 3); /* nn, functional, relu */
	host_init(&other);
	vm_set_host(s.vm, &other.vm);
	assert_true(session_call(&s, "model", &x, 1, &v));
	assert_int_equal(other.attr_lookups, 3); /* another host is asked again */
	value_unref(v);
	value_unref(x);
	session_close(&s);
	assert_int_equal(other.live, 0);
}

static void every_temporary_tensor_is_freed_when_it_is_replaced(void **state)
{
	struct session s;
	struct value x, v;

	(void)state;
	assert_true(session_open(&s,
				 "def model(x):\n    y = x + 1\n    y = y * 2\n    y = y - 3\n"
				 "    return y\n",
				 NULL));
	x = host_tensor(&s.host, 1);
	for (int i = 0; i < 100; i++) {
		assert_true(session_call(&s, "model", &x, 1, &v));
		assert_int_equal(v.tensor->node, 1);
		assert_int_equal(s.host.live, 2);
		value_unref(v);
	}
	value_unref(x);
	session_close(&s);
}

static void a_result_outlives_its_vm(void **state)
{
	struct session s;
	struct value x, v;

	(void)state;
	assert_true(session_open(&s, "def model(x):\n    return [x, {'k': (x, 'text')}]\n", NULL));
	x = host_tensor(&s.host, 1);
	assert_true(session_call(&s, "model", &x, 1, &v));
	value_unref(x);
	vm_destroy(s.vm);
	s.vm = NULL;
	assert_int_equal(v.list->at[0].tensor->node, 1);
	assert_true(value_list_push(v.list, value_int(7)));
	value_unref(v);
	session_close(&s);
}

static void natives_can_be_called_from_outside(void **state)
{
	struct session s;
	struct value f, x, v, names[1];
	struct keywords kw = { 1, names };

	(void)state;
	assert_true(session_open(&s,
				 "import torch\nsin = torch.sin\nlength = len\n"
				 "def f(a, b):\n    return a - b\n",
				 NULL));
	x = host_tensor(&s.host, 1);
	assert_true(vm_global(s.vm, "sin", &f));
	assert_true(vm_call(s.vm, f, &(struct arguments){ &x, 1, NULL }, &v, &s.err));
	assert_int_equal(v.tensor->node, 101);
	value_unref(v);
	assert_true(vm_global(s.vm, "length", &f));
	assert_false(vm_call(s.vm, f, &(struct arguments){ NULL, 0, NULL }, &v, &s.err));
	assert_int_equal(s.err.code, ERR_TYPE);
	assert_true(vm_global(s.vm, "f", &f));
	names[0] = value_str("b", 1);
	assert_true(vm_call(
	    s.vm, f, &(struct arguments){ (struct value[]){ value_int(5), value_int(3) }, 2, &kw },
	    &v, &s.err));
	assert_int_equal(v.i, 2);
	assert_false(vm_call(s.vm, value_int(3), &(struct arguments){ NULL, 0, NULL }, &v, &s.err));
	assert_string_equal(s.err.message, "'int' object is not callable");
	value_unref(names[0]);
	value_unref(x);
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_with_a_tensor_are_the_hosts),
		cmocka_unit_test(comparing_a_tensor_with_none_stays_in_the_vm),
		cmocka_unit_test(in_place_operators_write_the_tensor_itself),
		cmocka_unit_test(truth_and_numbers_of_a_tensor_are_asked_for),
		cmocka_unit_test(iterating_a_tensor_asks_for_its_rows),
		cmocka_unit_test(sizes_print_as_torch_size_and_behave_as_tuples),
		cmocka_unit_test(symbolic_sizes_become_numbers_where_python_needs_one),
		cmocka_unit_test(tensors_in_lists_are_equal_by_identity_first),
		cmocka_unit_test(isinstance_knows_tensors),
		cmocka_unit_test(host_errors_get_the_place_of_the_instruction),
		cmocka_unit_test(an_error_in_a_callee_has_the_callees_place),
		cmocka_unit_test(the_host_knows_the_line_that_runs),
		cmocka_unit_test(a_module_attribute_is_looked_up_once),
		cmocka_unit_test(every_temporary_tensor_is_freed_when_it_is_replaced),
		cmocka_unit_test(a_result_outlives_its_vm),
		cmocka_unit_test(natives_can_be_called_from_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
