/* tests/test_vm_limits.c -- every program ends, and every call gives its
 * memory back. */
#include "tests/vm_host.h"

#include "fusion/vm/value.h"

static void recursion_ends_at_a_depth_of_1000_at_the_call(void **state)
{
	(void)state;
	assert_runs(
	    "def f(n):\n"
	    "    if n == 0:\n"
	    "        return 0\n"
	    "    return 1 + f(n - 1)\n"
	    "def model():\n"
	    "    return f(10000)\n",
	    "recursion 4:16 maximum recursion depth exceeded: 1000 calls are open and f() is "
	    "called again; it may call itself without an end");
	assert_runs("def f(n):\n"
		    "    if n == 0:\n"
		    "        return 0\n"
		    "    return 1 + f(n - 1)\n"
		    "def model():\n"
		    "    return f(990)\n",
		    "990");
}

static void recursion_through_a_callback_ends_too(void **state)
{
	char *got = session_run(
	    "def f(n):\n    return max([n], key=f)\ndef model():\n    return f(1)\n", NULL);

	(void)state;
	assert_non_null(strstr(got, "recursion 2:12 maximum recursion depth exceeded"));
	free(got);
}

static void an_endless_loop_ends_at_the_step_limit_in_its_line(void **state)
{
	char *got = session_run("def model():\n    n = 0\n    while True:\n        n = n + 1\n",
				&(struct vm_limits){ .steps = 1234567 });

	(void)state;
	assert_non_null(strstr(got, "step-limit 4:"));
	assert_non_null(strstr(got, "the program ran 1,234,567 steps in one call without an end; "
				    "line 4 is in a loop that may never end"));
	free(got);
}

static void a_builtin_that_never_ends_ends_at_the_step_limit(void **state)
{
	static const char *const expressions[] = {
		"sum(range(10 ** 18))",          "max(range(10 ** 18))",
		"all(range(1, 10 ** 18))",       "any(map(bool, [0] * 10 ** 6))",
		"5.5 in range(10 ** 18)",        "math.prod(map(len, ['a'] * 10 ** 6))",
		"sorted(range(10 ** 6, 0, -1))", "[1] * 10 ** 6 == [1.0] * 10 ** 6",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(expressions) / sizeof(expressions[0]); i++) {
		struct buf source = { 0 };
		char *got;

		buf_printf(&source, "import math\ndef model():\n    return %s\n", expressions[i]);
		got = session_run(source.data, &(struct vm_limits){ .steps = 500000 });
		if (strncmp(got, "step-limit 3:", 13) != 0)
			fail_msg("%s gives %.200s", expressions[i], got);
		free(got);
		buf_finish(&source);
	}
}

static void the_step_limit_starts_again_with_each_call(void **state)
{
	struct session s;
	struct value v;

	(void)state;
	assert_true(
	    session_open(&s,
			 "def model():\n    n = 0\n    for i in range(1000):\n        n += i\n"
			 "    return n\n",
			 &(struct vm_limits){ .steps = 10000 }));
	for (int i = 0; i < 10; i++)
		assert_true(session_call(&s, "model", NULL, 0, &v));
	session_close(&s);
}

static void memory_beyond_the_limit_is_an_error(void **state)
{
	static const char *const bodies[] = {
		"    return [0] * 10 ** 9\n",
		"    return 'a' * 10 ** 9\n",
		"    return list(range(10 ** 9))\n",
		"    a = [1]\n    while True:\n        a = a + a\n",
		"    a = [1]\n    while True:\n        a += a\n",
		"    a = [1]\n    while True:\n        a.append(a[:])\n",
		"    a = 'x'\n    while True:\n        a = a + a\n",
		"    a = 'x' * 1000\n    return a.replace('x', a).replace('x', a)\n",
		"    d = {}\n    i = 0\n    while True:\n        d[i] = i\n        i += 1\n",
		"    a = ()\n    while True:\n        a = (a, 'x' * 100000)\n",
		"    a = 'x' * 100000\n    return str([a] * 1000)\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		struct buf source = { 0 };
		char *got;

		buf_printf(&source, "def model():\n%s", bodies[i]);
		got = session_run(source.data, &(struct vm_limits){ .object_bytes = 8 << 20 });
		if (strncmp(got, "memory ", 7) != 0 || !strstr(got, "more than 8 MiB"))
			fail_msg("%s gives %.200s", bodies[i], got);
		free(got);
		buf_finish(&source);
	}
}

static void a_list_from_outside_counts_once_it_grows(void **state)
{
	struct session s;
	struct value list = value_list(NULL, 0), v;

	(void)state;
	assert_true(session_open(&s, "def model(a):\n    while True:\n        a.append(1)\n",
				 &(struct vm_limits){ .object_bytes = 8 << 20 }));
	assert_false(session_call(&s, "model", &list, 1, &v));
	assert_int_equal(s.err.code, ERR_MEMORY);
	assert_int_equal(s.err.line, 3);
	value_unref(list);
	session_close(&s);
}

/* Each round drops a cycle of a megabyte: without a collector the third round
 * would be the last. */
static void cycles_are_collected_when_memory_runs_short(void **state)
{
	char *got = session_run("def model():\n"
				"    for i in range(100):\n"
				"        a = [0] * 65536\n"
				"        a.append(a)\n"
				"    return i\n",
				&(struct vm_limits){ .object_bytes = 4 << 20 });

	(void)state;
	assert_string_equal(got, "99");
	free(got);
}

static void calls_that_leave_cycles_do_not_pile_up(void **state)
{
	struct session s;
	struct value v;

	(void)state;
	assert_true(session_open(&s,
				 "def model():\n"
				 "    def f(n):\n"
				 "        if n == 0:\n            return 0\n"
				 "        return f(n - 1)\n"
				 "    d = {}\n"
				 "    d['f'] = [f, d]\n"
				 "    return f(2)\n",
				 &(struct vm_limits){ .object_bytes = 4 << 20 }));
	for (int i = 0; i < 20000; i++)
		assert_true(session_call(&s, "model", NULL, 0, &v));
	session_close(&s);
}

static void what_is_in_use_survives_a_collection(void **state)
{
	struct session s;
	struct value v;

	(void)state;
	assert_true(session_open(&s,
				 "keep = [1, {'k': (2, [3])}]\n"
				 "keep.append(keep)\n"
				 "def model():\n"
				 "    mine = [keep, 'x']\n"
				 "    for i in range(200):\n"
				 "        a = [0] * 65536\n"
				 "        a.append((a, mine))\n"
				 "    return mine[0][1]['k'][1][0] + mine[0][2][0]\n",
				 &(struct vm_limits){ .object_bytes = 4 << 20 }));
	assert_true(session_call(&s, "model", NULL, 0, &v));
	assert_int_equal(v.i, 4);
	session_close(&s);
}

static void deep_nesting_is_freed_printed_and_compared_without_recursion(void **state)
{
	static const char *const source = "def nest(n):\n"
					  "    a = ()\n"
					  "    for i in range(n):\n"
					  "        a = (a,)\n"
					  "    return a\n"
					  "def model():\n"
					  "    return len(str(nest(1000000))) < 1000\n"
					  "def same():\n"
					  "    return nest(100000) == nest(100000)\n"
					  "def key():\n"
					  "    return {nest(100000): 1}\n"
					  "def iterators():\n"
					  "    a = [1]\n"
					  "    for i in range(100000):\n"
					  "        a = zip(a)\n"
					  "    return list(a)\n";
	struct session s;
	struct value v;

	(void)state;
	assert_true(session_open(&s, source, NULL));
	assert_true(session_call(&s, "model", NULL, 0, &v));
	assert_true(v.kind == VALUE_BOOL && v.b);
	assert_false(session_call(&s, "same", NULL, 0, &v));
	assert_int_equal(s.err.code, ERR_RECURSION);
	assert_false(session_call(&s, "key", NULL, 0, &v));
	assert_int_equal(s.err.code, ERR_TYPE);
	assert_false(session_call(&s, "iterators", NULL, 0, &v));
	assert_int_equal(s.err.code, ERR_RECURSION);
	session_close(&s);
}

/* 2 ** 60 paths through 60 tuples: printing and comparing must give up. */
static void shared_structure_does_not_explode(void **state)
{
	char *got = session_run("def model():\n    a = (1,)\n    b = (1,)\n"
				"    for i in range(60):\n        a = (a, a)\n        b = (b, b)\n"
				"    return a == b\n",
				&(struct vm_limits){ .steps = 100000 });

	(void)state;
	assert_int_equal(strncmp(got, "step-limit", 10), 0);
	free(got);
	got = session_run("def model():\n    a = (1,)\n"
			  "    for i in range(60):\n        a = (a, a)\n    return len(str(a))\n",
			  &(struct vm_limits){ .object_bytes = 8 << 20 });
	assert_int_equal(strncmp(got, "memory", 6), 0);
	free(got);
}

static void a_vm_goes_on_after_an_error(void **state)
{
	struct session s;
	struct value v;

	(void)state;
	assert_true(session_open(&s,
				 "def f(n):\n    return f(n + 1)\n"
				 "def model():\n    return f(0)\n"
				 "def fine():\n    return 7\n",
				 NULL));
	for (int i = 0; i < 3; i++) {
		assert_false(session_call(&s, "model", NULL, 0, &v));
		assert_int_equal(s.err.code, ERR_RECURSION);
		assert_int_equal(s.err.line, 2);
		assert_true(session_call(&s, "fine", NULL, 0, &v));
		assert_int_equal(v.i, 7);
	}
	session_close(&s);
}

static void an_error_at_module_level_has_its_place(void **state)
{
	struct session s;

	(void)state;
	assert_false(session_open(&s, "a = 1\nb = a // 0\n", NULL));
	assert_int_equal(s.err.code, ERR_VALUE);
	assert_int_equal(s.err.line, 2);
	assert_int_equal(s.err.column, 5);
	session_close(&s);
}

/* Programs that would run on and on through exceptions and generators. */
static const struct {
	const char *body, *wanted;
} endless[] = {
	{ "while True:\n"
	  "        try:\n"
	  "            raise ValueError('again')\n"
	  "        except ValueError:\n"
	  "            pass\n",
	  "step-limit" },
	{ "try:\n"
	  "        while True:\n"
	  "            pass\n"
	  "    except BaseException:\n"
	  "        return 1\n",
	  "step-limit" },
	{ "def f():\n"
	  "        try:\n"
	  "            f()\n"
	  "        finally:\n"
	  "            f()\n"
	  "    f()\n",
	  "step-limit" },
	{ "def g():\n"
	  "        while True:\n"
	  "            yield 1\n"
	  "    return sum(g())\n",
	  "step-limit" },
	{ "def g():\n"
	  "        yield from g()\n"
	  "    return list(g())\n",
	  "recursion" },
	{ "g = iter([1])\n"
	  "    for i in range(5000):\n"
	  "        g = (x for x in g)\n"
	  "    return list(g)\n",
	  "recursion" },
	{ "class C:\n"
	  "        def __iter__(self):\n"
	  "            return self\n"
	  "        def __next__(self):\n"
	  "            return next(self)\n"
	  "    return list(C())\n",
	  "recursion" },
	{ "class C:\n"
	  "        def __enter__(self):\n"
	  "            with self:\n"
	  "                return 1\n"
	  "        def __exit__(self, a, b, c):\n"
	  "            return True\n"
	  "    with C():\n"
	  "        pass\n",
	  "recursion" },
	{ "def f(*a):\n"
	  "        return f(*a, *a)\n"
	  "    return f(1)\n",
	  "memory" },
	{ "def g(n):\n"
	  "        a = [n] * 1000\n"
	  "        yield a\n"
	  "    made = []\n"
	  "    while True:\n"
	  "        made.append(g(1))\n"
	  "        next(made[-1])\n",
	  "memory" },
	{ "s = 'a'\n"
	  "    while True:\n"
	  "        s = f'{s}{s}'\n",
	  "memory" },
};

static void no_handler_and_no_generator_outlives_the_limits(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(endless) / sizeof(endless[0]); i++) {
		struct vm_limits limits = { .steps = 2000000, .object_bytes = 16 << 20 };
		struct buf source = { 0 };
		char *got;

		buf_printf(&source, "def model():\n    %s", endless[i].body);
		got = session_run(source.data, &limits);
		if (strncmp(got, endless[i].wanted, strlen(endless[i].wanted)) != 0)
			fail_msg("%s gives %.200s", source.data, got);
		free(got);
		buf_finish(&source);
	}
}

static void what_a_program_catches_of_the_limits_it_may_go_on_from(void **state)
{
	(void)state;
	assert_runs("def f(n):\n"
		    "    return f(n + 1)\n"
		    "def model():\n"
		    "    seen = 0\n"
		    "    for i in range(3):\n"
		    "        try:\n"
		    "            f(0)\n"
		    "        except RecursionError:\n"
		    "            seen += 1\n"
		    "    return seen\n",
		    "3");
}

static void an_error_that_nobody_catches_says_what_and_where(void **state)
{
	static const struct {
		const char *body, *wanted;
	} rows[] = {
		{ "raise ValueError('bad', 1)", "value 2:5 ValueError: ('bad', 1)" },
		{ "raise KeyError('k')", "value 2:5 KeyError: 'k'" },
		{ "raise ValueError", "value 2:5 ValueError" },
		{ "raise RuntimeError('x')", "value 2:5 RuntimeError: x" },
		{ "raise 1", "type 2:5 exceptions must derive from BaseException" },
		{ "raise", "value 2:5 No active exception to reraise" },
		{ "assert 1 == 2, 'no'", "value 2:5 AssertionError: no" },
		{ "try:\n        raise TypeError('t')\n    finally:\n        pass",
		  "type 3:9 TypeError: t" },
		{ "try:\n        1 + 'a'\n    finally:\n        x = 1",
		  "type 3:9 unsupported operand type(s) for +: 'int' and 'str'" },
		{ "try:\n        1 + 'a'\n    except ValueError:\n        x = 1",
		  "type 3:9 unsupported operand type(s) for +: 'int' and 'str'" },
		{ "try:\n        raise KeyError(1)\n    except ValueError():\n        x = 1",
		  "type 4:5 catching classes that do not inherit from BaseException is not "
		  "allowed" },
		{ "try:\n        [][0]\n    except IndexError:\n        next(iter([]))",
		  "value 5:9 StopIteration" },
		{ "del x\n    x = 1",
		  "unknown-name 2:9 cannot access local variable 'x' where it is not associated "
		  "with a value" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf source = { 0 };
		char *got;

		buf_printf(&source, "def model():\n    %s\n", rows[i].body);
		got = session_run(source.data, NULL);
		if (strcmp(got, rows[i].wanted) != 0)
			fail_msg("%s gives %s, not %s", rows[i].body, got, rows[i].wanted);
		free(got);
		buf_finish(&source);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recursion_ends_at_a_depth_of_1000_at_the_call),
		cmocka_unit_test(recursion_through_a_callback_ends_too),
		cmocka_unit_test(an_endless_loop_ends_at_the_step_limit_in_its_line),
		cmocka_unit_test(a_builtin_that_never_ends_ends_at_the_step_limit),
		cmocka_unit_test(the_step_limit_starts_again_with_each_call),
		cmocka_unit_test(memory_beyond_the_limit_is_an_error),
		cmocka_unit_test(a_list_from_outside_counts_once_it_grows),
		cmocka_unit_test(cycles_are_collected_when_memory_runs_short),
		cmocka_unit_test(calls_that_leave_cycles_do_not_pile_up),
		cmocka_unit_test(what_is_in_use_survives_a_collection),
		cmocka_unit_test(deep_nesting_is_freed_printed_and_compared_without_recursion),
		cmocka_unit_test(shared_structure_does_not_explode),
		cmocka_unit_test(a_vm_goes_on_after_an_error),
		cmocka_unit_test(an_error_at_module_level_has_its_place),
		cmocka_unit_test(no_handler_and_no_generator_outlives_the_limits),
		cmocka_unit_test(what_a_program_catches_of_the_limits_it_may_go_on_from),
		cmocka_unit_test(an_error_that_nobody_catches_says_what_and_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
