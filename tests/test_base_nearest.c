/* tests/test_base_nearest.c -- what "did you mean" offers. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fusion/base/nearest.h"

static void near_words_are_found_and_far_ones_are_not(void **state)
{
	static const char *const words[] = { "softmax", "sigmoid", "sin", "relu", "x" };
	static const struct {
		const char *word, *wanted;
	} rows[] = {
		{ "sofmax", "softmax" },
		{ "softmaxx", "softmax" },
		{ "sotfmax", "softmax" },
		{ "sinn", "sin" },
		{ "rleu", "relu" },
		{ "tanh", NULL },
		{ "y", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nearest n = nearest_to(rows[i].word);

		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			nearest_offer(&n, words[k]);
		if (rows[i].wanted)
			assert_string_equal(n.best, rows[i].wanted);
		else
			assert_null(n.best);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_words_are_found_and_far_ones_are_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
