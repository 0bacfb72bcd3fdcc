/* tests/test_profiler_numbers.c -- numbers as people read them, case by case of tests/numbers.json,
 * which tests/web/format.test.mjs holds the page against. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "profiler/numbers/numbers.h"

static int open_table(void **state)
{
	json_error_t why;

	*state = json_load_file("tests/numbers.json", 0, &why);
	if (!*state)
		print_error("tests/numbers.json:%d: %s\n", why.line, why.text);
	return *state == NULL;
}

static int close_table(void **state)
{
	json_decref(*state);
	return 0;
}

/* Of a row: a number, or NAN. */
static double at(const json_t *row, size_t i)
{
	const json_t *x = json_array_get(row, i);

	return json_is_number(x) ? json_number_value(x) : NAN;
}

static const char *text_at(const json_t *row, size_t i)
{
	const char *text = json_string_value(json_array_get(row, i));

	assert_non_null(text);
	return text;
}

static void put_count(char out[NUMBER_BYTES], double x)
{
	number_print(out, x, 1);
}

static void each_number(void **state, const char *kind, void (*print)(char *out, double x))
{
	const json_t *rows = json_object_get(*state, kind), *row;
	size_t i;

	assert_true(json_array_size(rows) > 0);
	json_array_foreach(rows, i, row)
	{
		char got[NUMBER_BYTES];

		print(got, at(row, 0));
		assert_string_equal(got, text_at(row, 1));
	}
}

static void a_number_alone_has_three_digits_and_commas(void **state)
{
	each_number(state, "short", number_short);
}

static void a_plain_number_has_no_zeros_that_say_nothing(void **state)
{
	each_number(state, "plain", number_plain);
}

static void counts_are_exact(void **state)
{
	each_number(state, "count", put_count);
}

static void errors_keep_their_exponent(void **state)
{
	each_number(state, "error", number_error);
}

static void times_and_bytes_have_their_own_unit(void **state)
{
	each_number(state, "duration", number_duration);
	each_number(state, "bytes", number_bytes);
}

static void columns_share_one_unit(void **state)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(*state, "time_unit"), i, row)
	    assert_string_equal(number_time_unit(at(row, 0)).name, text_at(row, 1));
	json_array_foreach(json_object_get(*state, "bytes_unit"), i, row)
	    assert_string_equal(number_bytes_unit(at(row, 0), at(row, 1)).name, text_at(row, 2));
}

static void no_digit_is_finer_than_the_interval(void **state)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(*state, "interval"), i, row)
	{
		struct number_triple t;

		number_triple(&t, at(row, 0), at(row, 1), at(row, 2), NAN);
		assert_string_equal(t.mid, text_at(row, 3));
		assert_string_equal(t.low, text_at(row, 4));
		assert_string_equal(t.high, text_at(row, 5));
	}
}

static void a_ratio_that_is_not_1_does_not_read_as_1(void **state)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(*state, "ratio"), i, row)
	{
		char got[4 * NUMBER_BYTES], want[4 * NUMBER_BYTES];

		number_interval(got, at(row, 0), (struct report_interval){ at(row, 1), at(row, 2) },
				"x");
		snprintf(want, sizeof(want), "%sx (%s-%s)", text_at(row, 3), text_at(row, 4),
			 text_at(row, 5));
		assert_string_equal(got, want);
	}
}

static void what_is_not_a_number_is_unknown(void **state)
{
	struct number_triple t;
	char got[NUMBER_BYTES];

	(void)state;
	number_short(got, NAN);
	assert_string_equal(got, "unknown");
	number_short(got, -INFINITY);
	assert_string_equal(got, "unknown");
	number_triple(&t, 2.5, NAN, NAN, 1);
	assert_string_equal(t.mid, "2.50");
	assert_string_equal(t.low, "unknown");
}

static void parts_add_up_to_their_rounded_sum(void **state)
{
	double parts[] = { 0.333, 0.333, 0.334 };

	(void)state;
	assert_float_equal(number_add_up(parts, 3, 1, 0.1), 1, 1e-9);
	assert_float_equal(parts[0] + parts[1] + parts[2], 1, 1e-9);
	assert_float_equal(parts[2], 0.4, 1e-9); /* the largest remainder */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_add_up_to_their_rounded_sum),
		cmocka_unit_test(a_number_alone_has_three_digits_and_commas),
		cmocka_unit_test(a_plain_number_has_no_zeros_that_say_nothing),
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(errors_keep_their_exponent),
		cmocka_unit_test(times_and_bytes_have_their_own_unit),
		cmocka_unit_test(columns_share_one_unit),
		cmocka_unit_test(no_digit_is_finer_than_the_interval),
		cmocka_unit_test(a_ratio_that_is_not_1_does_not_read_as_1),
		cmocka_unit_test(what_is_not_a_number_is_unknown),
	};

	return cmocka_run_group_tests_name("numbers", tests, open_table, close_table);
}
