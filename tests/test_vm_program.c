/* tests/test_vm_program.c -- functions, loops, scopes and calls. */
#include "tests/vm_host.h"

#include <stdio.h>

static void closures_keep_their_variables(void **state)
{
	(void)state;
	assert_runs("def outer(k):\n"
		    "    def inner(x):\n"
		    "        return x * k + SCALE\n"
		    "    return inner\n"
		    "SCALE = 3.0\n"
		    "def model():\n"
		    "    f = outer(2)\n"
		    "    g = outer(10)\n"
		    "    return f(1), g(1)\n",
		    "(5.0, 13.0)");
}

static void a_parameter_that_a_closure_uses_is_shared(void **state)
{
	(void)state;
	assert_runs("def model():\n"
		    "    def f(x):\n"
		    "        def g():\n"
		    "            return x\n"
		    "        x = x + 1\n"
		    "        return g()\n"
		    "    return f(1)\n",
		    "2");
}

static void a_local_function_may_call_itself(void **state)
{
	(void)state;
	assert_runs("def model():\n"
		    "    def fact(n):\n"
		    "        if n <= 1:\n"
		    "            return 1\n"
		    "        return n * fact(n - 1)\n"
		    "    return fact(10)\n",
		    "3628800");
}

static void arguments_bind_as_in_python(void **state)
{
	static const struct {
		const char *parameters, *call, *wanted;
	} rows[] = {
		{ "a, b=2", "1", "(1, 2)" },
		{ "a, b=2", "1, 3", "(1, 3)" },
		{ "a, b=2", "b=5, a=4", "(4, 5)" },
		{ "a, b", "1", "type 4:12 f() missing 1 required positional argument: 'b'" },
		{ "a, b", "",
		  "type 4:12 f() missing 2 required positional arguments: 'a' and 'b'" },
		{ "a, b, c", "",
		  "type 4:12 f() missing 3 required positional arguments: 'a', 'b', and 'c'" },
		{ "a, b", "1, 2, 3",
		  "type 4:12 f() takes 2 positional arguments but 3 were given" },
		{ "a, b=0", "1, 2, 3",
		  "type 4:12 f() takes from 1 to 2 positional arguments but 3 were given" },
		{ "a", "1, 2", "type 4:12 f() takes 1 positional argument but 2 were given" },
		{ "", "1", "type 4:12 f() takes 0 positional arguments but 1 was given" },
		{ "a, b", "1, a=2", "type 4:12 f() got multiple values for argument 'a'" },
		{ "a, b", "1, c=2", "type 4:12 f() got an unexpected keyword argument 'c'" },
		{ "a, *rest", "1, 2, 3", "(1, (2, 3))" },
		{ "a, *rest", "1", "(1, ())" },
		{ "*, a, b=2", "a=1", "(1, 2)" },
		{ "*, a, b=2", "b=1",
		  "type 4:12 f() missing 1 required keyword-only argument: 'a'" },
		{ "*, a, b=2", "1, a=1",
		  "type 4:12 f() takes 0 positional arguments but 1 positional argument (and 1 "
		  "keyword-only argument) were given" },
		{ "a, **more", "1, x=2, y=3", "(1, {'x': 2, 'y': 3})" },
		{ "*rest, **more", "1, x=2", "((1,), {'x': 2})" },
		{ "a, *rest, b=7, **more", "1, 2, c=3", "(1, (2,), 7, {'c': 3})" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char names[64] = "", source[256];
		size_t n = 0;

		/* the names of the parameters, for the tuple that is returned */
		for (const char *p = rows[i].parameters; *p;) {
			p += strspn(p, "*, ");
			while (*p && strchr("*,= 0123456789", *p) == NULL)
				names[n++] = *p++;
			p += strcspn(p, ",");
			if (n > 0 && names[n - 1] != ',')
				names[n++] = ',';
		}
		snprintf(source, sizeof(source),
			 "def f(%s):\n    return (%s)\ndef model():\n    return f(%s)\n",
			 rows[i].parameters, names, rows[i].call);
		assert_runs(source, rows[i].wanted);
	}
}

static void defaults_are_made_once(void **state)
{
	(void)state;
	assert_runs("def f(x, seen=[]):\n"
		    "    seen.append(x)\n"
		    "    return len(seen)\n"
		    "def model():\n"
		    "    return f(1), f(2), f(3)\n",
		    "(1, 2, 3)");
}

static void unpacking_counts_its_values(void **state)
{
	(void)state;
	assert_runs("def model():\n    a, b, c = 'xyz'\n    return c + b + a\n", "'zyx'");
	assert_runs("def model():\n    a, b = (1, 2)\n    b, a = a, b\n    return a, b\n",
		    "(2, 1)");
	assert_runs("def model():\n    a, (b, c) = 1, [2, 3]\n    return a, b, c\n", "(1, 2, 3)");
	assert_runs("def model():\n    t = (1, 2)\n    a, b, c = t\n    return a\n",
		    "value 3:5 not enough values to unpack (expected 3, got 2)");
	assert_runs("def model():\n    t = (1, 2)\n    a, = t\n    return a\n",
		    "value 3:5 too many values to unpack (expected 1)");
	assert_runs("def model():\n    t = range(2)\n    a, b, c = t\n    return a\n",
		    "value 3:5 not enough values to unpack (expected 3, got 2)");
	assert_runs("def model():\n    t = range(9)\n    a, b, c = t\n    return a\n",
		    "value 3:5 too many values to unpack (expected 3)");
	assert_runs("def model():\n    t = 5\n    a, b = t\n    return a\n",
		    "type 3:5 cannot unpack non-iterable int object");
}

static void loops_go_over_every_iterable(void **state)
{
	static const struct {
		const char *over, *wanted;
	} rows[] = {
		{ "range(4)", "[0, 1, 2, 3]" },
		{ "range(3, -2, -2)", "[3, 1, -1]" },
		{ "(5, 'a')", "[5, 'a']" },
		{ "[1, 2]", "[1, 2]" },
		{ "'h\u00e9'", "['h', '\u00e9']" },
		{ "{'a': 1, 'b': 2}", "['a', 'b']" },
		{ "{'a': 1, 'b': 2}.items()", "[('a', 1), ('b', 2)]" },
		{ "{'a': 1, 'b': 2}.values()", "[1, 2]" },
		{ "zip([1, 2], 'ab')", "[(1, 'a'), (2, 'b')]" },
		{ "enumerate('ab')", "[(0, 'a'), (1, 'b')]" },
		{ "map(abs, (-1, -2))", "[1, 2]" },
		{ "reversed([1, 2])", "[2, 1]" },
		{ "()", "[]" },
		{ "5", "type 3:5 'int' object is not iterable" },
		{ "None", "type 3:5 'NoneType' object is not iterable" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char source[256];
		char *got;

		snprintf(source, sizeof(source),
			 "def model():\n    r = []\n    for v in %s:\n        r.append(v)\n"
			 "    return r\n",
			 rows[i].over);
		got = session_run(source, NULL);
		if (strchr(rows[i].wanted, ':')) /* the column is the compiler's choice */
			assert_non_null(strstr(got, strstr(rows[i].wanted, " '")));
		else
			assert_string_equal(got, rows[i].wanted);
		free(got);
	}
}

static void a_dict_that_grows_under_its_loop_is_an_error(void **state)
{
	char *got = session_run("def model():\n    d = {1: 1}\n    for k in d:\n"
				"        d[k + 1] = 1\n    return d\n",
				NULL);

	(void)state;
	assert_non_null(strstr(got, "dictionary changed size during iteration"));
	free(got);
}

static void while_break_and_continue_work(void **state)
{
	(void)state;
	assert_runs("def model():\n"
		    "    n = 0\n"
		    "    r = []\n"
		    "    while True:\n"
		    "        n += 1\n"
		    "        if n % 2 == 0:\n"
		    "            continue\n"
		    "        if n > 7:\n"
		    "            break\n"
		    "        r.append(n)\n"
		    "    return r\n",
		    "[1, 3, 5, 7]");
}

static void lists_change_in_place_and_tuples_do_not(void **state)
{
	(void)state;
	assert_runs("def model():\n"
		    "    a = [1]\n    b = a\n    b += (2, 3)\n    b *= 2\n"
		    "    t = (1,)\n    u = t\n    u += (2,)\n"
		    "    return a, t, u\n",
		    "([1, 2, 3, 1, 2, 3], (1,), (1, 2))");
	assert_runs("def model():\n    a = [1, 2]\n    a += a\n    a *= 0\n    return a\n", "[]");
	assert_runs("def model():\n    a = [3, 1, 2]\n    a.sort()\n    a.reverse()\n"
		    "    a.insert(1, 9)\n    a.remove(2)\n    x = a.pop()\n    y = a.pop(0)\n"
		    "    a[0] = a[0] + 1\n    return a, x, y\n",
		    "([10], 1, 3)");
	assert_runs("def model():\n    t = (1, 2)\n    t[0] = 3\n    return t\n",
		    "type 3:5 'tuple' object does not support item assignment");
}

static void dicts_keep_the_order_of_insertion(void **state)
{
	(void)state;
	assert_runs("def model():\n"
		    "    d = {}\n"
		    "    for i in range(100):\n"
		    "        d[i * 7 % 100] = i\n"
		    "    for i in range(0, 100, 2):\n"
		    "        d.pop(i)\n"
		    "    d[0] = -1\n"
		    "    return len(d), d[49], d.get(2), list(d)[0], list(d)[50]\n",
		    "(51, 7, None, 7, 0)");
	assert_runs("def model():\n    d = {'b': 1}\n    d.update({'a': 2}, c=3)\n"
		    "    d.setdefault('b', 9)\n    d.setdefault('z', 9)\n"
		    "    return d, d.copy() == d, d.pop('q', 0)\n",
		    "({'b': 1, 'a': 2, 'c': 3, 'z': 9}, True, 0)");
}

static void a_list_inside_itself_prints_and_is_freed(void **state)
{
	(void)state;
	assert_runs("def model():\n    a = [1]\n    a.append(a)\n    return str(a)\n",
		    "'[1, [...]]'");
	assert_runs("def model():\n    d = {}\n    d['me'] = d\n    return str(d)\n",
		    "\"{'me': {...}}\"");
}

static void callbacks_run_program_functions(void **state)
{
	(void)state;
	assert_runs("def second(p):\n    return p[1]\n"
		    "def model():\n"
		    "    pairs = [(1, 'c'), (2, 'a'), (3, 'b')]\n"
		    "    return sorted(pairs, key=second), max(pairs, key=lambda p: -p[0])\n",
		    "([(2, 'a'), (3, 'b'), (1, 'c')], (1, 'c'))");
	assert_runs("def bad(p):\n    return p + 1\n"
		    "def model():\n    return sorted(['b', 'a'], key=bad)\n",
		    "type 2:12 can only concatenate str (not \"int\") to str");
}

static void globals_are_seen_as_they_are_now(void **state)
{
	struct session s;
	struct value v;

	(void)state;
	assert_true(session_open(&s,
				 "K = 1\n"
				 "def bump():\n    global K\n    K = K + 1\n"
				 "def model():\n    bump()\n    return K\n",
				 NULL));
	for (int i = 2; i < 5; i++) {
		assert_true(session_call(&s, "model", NULL, 0, &v));
		assert_int_equal(v.i, i);
	}
	assert_false(vm_global(s.vm, "len", &v));
	assert_true(vm_global(s.vm, "K", &v));
	assert_int_equal(v.i, 4);
	session_close(&s);
}

static void a_global_may_hide_a_builtin(void **state)
{
	(void)state;
	assert_runs("def abs(x):\n    return 'mine'\ndef model():\n    return abs(1), __name__\n",
		    "('mine', 'model')");
}

static void unknown_names_are_answered_with_a_near_one(void **state)
{
	(void)state;
	assert_runs("value = 1\ndef model():\n    return vlaue\n",
		    "unknown-name 3:12 name 'vlaue' is not defined; did you mean 'value'?");
	assert_runs("def model():\n    return rnage(3)\n",
		    "unknown-name 2:12 name 'rnage' is not defined; did you mean 'range'?");
	assert_runs("def model():\n    return qqqqq\n",
		    "unknown-name 2:12 name 'qqqqq' is not defined");
	assert_runs("def model():\n    return input('x')\n",
		    "unsupported 2:12 input is a builtin of Python that the workload language "
		    "leaves out");
	assert_runs("def model():\n    if len([]):\n        x = 1\n    return x\n",
		    "unknown-name 4:12 cannot access local variable 'x' where it is not associated "
		    "with a value");
	assert_runs("def model():\n    def f():\n        return x\n    if f():\n        x = 1\n"
		    "    return f()\n",
		    "unknown-name 3:16 cannot access free variable 'x' where it is not associated "
		    "with a value in enclosing scope");
}

/* absent_modules.def: where such a package is used, not where it is imported. */
static void a_package_that_is_left_out_is_refused_where_it_is_used(void **state)
{
	(void)state;
	assert_runs("from apex import fused\nimport math as np\ndef model():\n"
		    "    return np.pi > 3, fused(1, 'a')\n",
		    "unsupported 4:23 apex.fused is not in the workload language; write it "
		    "with torch.nn");
	assert_runs("import pytorch_lightning as pl\ndef model():\n"
		    "    class Net(pl.LightningModule):\n        pass\n",
		    "unsupported 3:5 pytorch_lightning.LightningModule is not in the workload "
		    "language; derive from nn.Module");
	assert_runs("from apex.normalization.fused import norm\ndef model():\n"
		    "    return norm(1)\n",
		    "unsupported 3:12 apex.normalization.fused.norm is not in the workload "
		    "language; write it with torch.nn");
}

static void print_writes_what_python_writes(void **state)
{
	struct session s;
	struct value v;

	(void)state;
	assert_true(session_open(&s,
				 "def model():\n"
				 "    print('a', 1, 2.0, None, [1, 'x'])\n"
				 "    print()\n"
				 "    print(1, 2, sep='-', end='!')\n",
				 NULL));
	assert_true(session_call(&s, "model", NULL, 0, &v));
	assert_int_equal(v.kind, VALUE_NONE);
	assert_string_equal(s.host.printed.data, "a 1 2.0 None [1, 'x']\n\n1-2!");
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closures_keep_their_variables),
		cmocka_unit_test(a_parameter_that_a_closure_uses_is_shared),
		cmocka_unit_test(a_local_function_may_call_itself),
		cmocka_unit_test(arguments_bind_as_in_python),
		cmocka_unit_test(defaults_are_made_once),
		cmocka_unit_test(unpacking_counts_its_values),
		cmocka_unit_test(loops_go_over_every_iterable),
		cmocka_unit_test(a_dict_that_grows_under_its_loop_is_an_error),
		cmocka_unit_test(while_break_and_continue_work),
		cmocka_unit_test(lists_change_in_place_and_tuples_do_not),
		cmocka_unit_test(dicts_keep_the_order_of_insertion),
		cmocka_unit_test(a_list_inside_itself_prints_and_is_freed),
		cmocka_unit_test(callbacks_run_program_functions),
		cmocka_unit_test(globals_are_seen_as_they_are_now),
		cmocka_unit_test(a_global_may_hide_a_builtin),
		cmocka_unit_test(unknown_names_are_answered_with_a_near_one),
		cmocka_unit_test(a_package_that_is_left_out_is_refused_where_it_is_used),
		cmocka_unit_test(print_writes_what_python_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
