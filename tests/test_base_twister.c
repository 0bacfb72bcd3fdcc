/* tests/test_base_twister.c -- mt19937 against its published numbers and PyTorch's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fusion/base/twister.h"

static void test_published_numbers(void **state)
{
	struct twister t;
	uint32_t last = 0;

	(void)state;
	twister_seed(&t, 5489);
	assert_int_equal(twister_next(&t), 3499211612u);
	for (int i = 1; i < 10000; i++)
		last = twister_next(&t);
	assert_int_equal(last, 4123659995u);
}

/* Runs of any length, across the ends of blocks, are the numbers one by one. */
static void test_fill(void **state)
{
	static const int lengths[] = { 1, 3, 4, 7, 609, 1, 2, 1300, 0, 623, 5 };
	static uint32_t many[1300];
	struct twister one, several;

	(void)state;
	twister_seed(&one, 7);
	several = one;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		twister_fill(&several, many, lengths[i]);
		for (int k = 0; k < lengths[i]; k++)
			assert_int_equal(many[k], twister_next(&one));
	}
	assert_int_equal(several.at, one.at);
}

/* torch.manual_seed(0); torch.rand(2), and torch.randn(3) */
static void test_as_torch(void **state)
{
	static const double normal[] = { 1.5409961, -0.2934289, -2.1787894 };
	struct twister t;

	(void)state;
	twister_seed(&t, 0);
	assert_true(fabs((twister_next(&t) & 0xffffff) * 0x1p-24 - 0.4962566) < 1e-6);
	assert_true(fabs((twister_next(&t) & 0xffffff) * 0x1p-24 - 0.7682218) < 1e-6);
	twister_seed(&t, 0);
	for (int i = 0; i < 3; i++)
		assert_true(fabs(twister_normal(&t) - normal[i]) < 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_numbers),
		cmocka_unit_test(test_as_torch),
		cmocka_unit_test(test_fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
