/* tests/test_vm_expressions.c -- values and operators against Python's. */
#include "tests/vm_host.h"

#include <stdio.h>

static const struct {
	const char *expression, *wanted;
} rows[] = {
#define ROW(expression, wanted) { expression, wanted },
#include "tests/vm_expressions.def"
#undef ROW
};

static char *run_expression(const char *expression)
{
	struct buf source = { 0 };
	char *got;

	buf_printf(&source, "import math\ndef model():\n    return %s\n", expression);
	got = session_run(source.data, NULL);
	buf_finish(&source);
	return got;
}

static void every_expression_prints_as_python_prints_it(void **state)
{
	int differ = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *got = run_expression(rows[i].expression);

		if (strcmp(got, rows[i].wanted) != 0) {
			print_error("%s\n  gives  %s\n  wanted %s\n", rows[i].expression, got,
				    rows[i].wanted);
			differ++;
		}
		free(got);
	}
	assert_int_equal(differ, 0);
}

/* The same operands, but through locals, where nothing is folded. */
static void operators_on_variables_agree_with_constants(void **state)
{
	static const char *const operators[] = { "+", "-",  "*",  "/",  "//", "%",
						 "<", "<=", "==", "!=", ">",  ">=" };
	static const char *const operands[] = { "7", "-7", "2", "-2", "7.5", "-2.5", "True" };
	const size_t n = sizeof(operands) / sizeof(operands[0]);

	(void)state;
	for (size_t o = 0; o < sizeof(operators) / sizeof(operators[0]); o++)
		for (size_t i = 0; i < n * n; i++) {
			const char *a = operands[i / n], *b = operands[i % n], *op = operators[o];
			struct buf source = { 0 };
			char *folded, *run;

			buf_printf(&source, "(%s) %s (%s)", a, op, b);
			folded = run_expression(source.data);
			buf_clear(&source);
			buf_printf(&source, "(lambda a, b: a %s b)(%s, %s)", op, a, b);
			run = run_expression(source.data);
			assert_string_equal(run, folded);
			buf_finish(&source);
			free(folded);
			free(run);
		}
}

/* What it says follows the line and column of the operator. */
static const struct {
	const char *expression, *wanted;
} errors[] = {
	{ "1 / (1 - 1)", "value 3:12 division by zero" },
	{ "1 // len(())", "value 3:12 division by zero" },
	{ "1.0 % len(())", "value 3:12 division by zero" },
	{ "0 ** -len('a')", "value 3:12 0.0 cannot be raised to a negative power" },
	{ "len('a') + 'a'", "type 3:12 unsupported operand type(s) for +: 'int' and 'str'" },
	{ "str() + len('')", "type 3:12 can only concatenate str (not \"int\") to str" },
	{ "[] + ()", "type 3:12 can only concatenate list (not \"tuple\") to list" },
	{ "[] * 1.5", "type 3:12 can't multiply sequence by non-int of type 'float'" },
	{ "-str()", "type 3:12 bad operand type for unary -: 'str'" },
	{ "~float()", "type 3:12 bad operand type for unary ~: 'float'" },
	{ "str() < int()", "type 3:12 '<' not supported between instances of 'str' and 'int'" },
	{ "(1, 'a') < (1, int())",
	  "type 3:12 '<' not supported between instances of 'str' and 'int'" },
	{ "3 in int()", "type 3:12 argument of type 'int' is not iterable" },
	{ "3 in str()", "type 3:12 'in <string>' requires string as left operand, not int" },
	{ "[1, 2][2]", "value 3:12 list index out of range: index 2, but the length is 2" },
	{ "(1, 2)[-3]", "value 3:12 tuple index out of range: index -3, but the length is 2" },
	{ "str()[0]", "value 3:12 string index out of range: index 0, but the length is 0" },
	{ "[1]['a']", "type 3:12 list indices must be integers or slices, not str" },
	{ "int()[0]", "type 3:12 'int' object is not subscriptable" },
	{ "{'a': 1}['b']", "value 3:12 the dict has no key 'b'" },
	{ "{[]: 1}", "type 3:12 unhashable type: 'list'" },
	{ "len(3)", "type 3:12 object of type 'int' has no len()" },
	{ "[1][::0]", "value 3:12 slice step cannot be zero" },
	{ "int('x1')", "value 3:12 invalid literal for int() with base 10: 'x1'" },
	{ "float('1e')", "value 3:12 could not convert string to float: '1e'" },
	{ "float('0x10')", "value 3:12 could not convert string to float: '0x10'" },
	{ "int(math.nan)", "value 3:12 cannot convert float NaN to integer" },
	{ "int(math.inf)", "value 3:12 cannot convert float infinity to integer" },
	{ "range(1, 2, 0)", "value 3:12 range() arg 3 must not be zero" },
	{ "range(1.0)", "type 3:12 'float' object cannot be interpreted as an integer" },
	{ "max([])", "value 3:12 max() arg is an empty sequence" },
	{ "sum(['a'])", "type 3:12 unsupported operand type(s) for +: 'int' and 'str'" },
	{ "sum([], 'a')", "type 3:12 sum() can't sum strings [use ''.join(seq) instead]" },
	{ "list(3)", "type 3:12 'int' object is not iterable" },
	{ "sorted([1, 'a'])", "type 3:12 '<' not supported between instances of 'str' and 'int'" },
	{ "len()", "type 3:12 len() takes exactly 1 argument (0 given)" },
	{ "len([], 1)", "type 3:12 len() takes exactly 1 argument (2 given)" },
	{ "sorted([], ky=1)", "type 3:12 sorted() got an unexpected keyword argument 'ky'" },
	{ "isinstance(1, 2)",
	  "type 3:12 isinstance() arg 2 must be a type, a tuple of types, or a union" },
	{ "(3)(4)", "type 3:12 'int' object is not callable" },
	{ "math.sqrt(-1)", "value 3:12 math domain error" },
	{ "math.log(0)", "value 3:12 math domain error" },
	{ "math.exp(1000)", "value 3:12 math range error" },
	{ "math.sqrt('a')", "type 3:12 must be real number, not str" },
	{ "[].appendd(1)",
	  "unknown-name 3:12 'list' object has no attribute 'appendd'; did you mean "
	  "'append'?" },
	{ "(1, 2).numel()", "unknown-name 3:12 'tuple' object has no attribute 'numel'" },
	{ "math.sqr(2)", "unknown-name 3:12 math has no function sqr; did you mean math.sqrt?" },
	{ "', '.join([1])", "type 3:12 sequence item 0: expected str instance, int found" },
	{ "[].pop()", "value 3:12 pop from empty list" },
	{ "[1].index(2)", "value 3:12 2 is not in list" },
	{ "divmod(1, 0)", "value 3:12 division by zero" },
	{ "(lambda x: x)()", "type 3:12 <lambda>() missing 1 required positional argument: 'x'" },
};

static void impossible_operations_say_what_and_where(void **state)
{
	int differ = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		char *got = run_expression(errors[i].expression);

		if (strcmp(got, errors[i].wanted) != 0) {
			print_error("%s\n  gives  %s\n  wanted %s\n", errors[i].expression, got,
				    errors[i].wanted);
			differ++;
		}
		free(got);
	}
	assert_int_equal(differ, 0);
}

static void ints_beyond_64_bits_are_errors_and_never_wrap(void **state)
{
	static const char *const expressions[] = {
		"(lambda a: a + 1)(9223372036854775807)",
		"(lambda a: -a - 2)(9223372036854775807)",
		"(lambda a: a * a)(4294967296)",
		"(lambda a: a ** 63)(2)",
		"(lambda a: a << 63)(1)",
		"(lambda a: (-a - 1) // -1)(9223372036854775807)",
		"(lambda a: -(-a - 1))(9223372036854775807)",
		"sum([9223372036854775807, 1])",
		"math.prod(range(1, 30))",
		"math.factorial(21)",
		"int(1e19)",
		"round(1e19)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(expressions) / sizeof(expressions[0]); i++) {
		char *got = run_expression(expressions[i]);

		if (strncmp(got, "value 3:", 8) != 0 || !strstr(got, "64 bits"))
			fail_msg("%s gives %s", expressions[i], got);
		free(got);
	}
	assert_runs("def model():\n    a = 9223372036854775807\n    return -a - 1\n",
		    "-9223372036854775808");
}

static void sums_of_floats_are_compensated_as_in_python_3_12(void **state)
{
	(void)state;
	assert_runs("def model():\n    return sum([0.1] * 10)\n", "1.0");
	assert_runs("def model():\n    return sum([1e16, 1.0, -1e16])\n", "1.0");
}

static void complex_results_are_refused(void **state)
{
	char *got = run_expression("(lambda a: a ** 0.5)(-8)");

	(void)state;
	assert_non_null(strstr(got, "complex numbers are not supported"));
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_expression_prints_as_python_prints_it),
		cmocka_unit_test(operators_on_variables_agree_with_constants),
		cmocka_unit_test(impossible_operations_say_what_and_where),
		cmocka_unit_test(ints_beyond_64_bits_are_errors_and_never_wrap),
		cmocka_unit_test(sums_of_floats_are_compensated_as_in_python_3_12),
		cmocka_unit_test(complex_results_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
