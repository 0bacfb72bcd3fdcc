/* tests/test_lang_rewrite.c -- changes of a program that take a break away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/base/buf.h"
#include "fusion/source.h"

#define HEAD "import torch\n\ndef model(x):\n"

static void check(enum lang_rewrite kind, int line, const char *source, const char *want)
{
	struct lang_rewriter *w = lang_rewriter_create(source, strlen(source));
	struct buf out;
	bool ok;

	buf_init(&out, 0);
	ok = w && lang_rewrite(w, kind, line, &out);
	lang_rewriter_destroy(w);
	assert_int_equal(ok, want != NULL);
	if (want)
		assert_string_equal(out.data, want);
	else
		assert_int_equal(out.len, 0);
	buf_finish(&out);
}

static void a_branch_that_assigns_becomes_where(void **state)
{
	(void)state;
	check(REWRITE_WHERE, 4,
	      HEAD
	      "    if x.sum() > 0:\n        y = x * 2\n    else:\n        y = x\n    return y\n",
	      HEAD "    y = torch.where(x.sum() > 0, x * 2, x)\n    return y\n");
	check(REWRITE_WHERE, 4,
	      HEAD "    if x.sum() > 0:\n        x = x.clamp(0, 1)  # cut\n    return x\n",
	      HEAD "    x = torch.where(x.sum() > 0, x.clamp(0, 1), x)\n    return x\n");
	check(REWRITE_WHERE, 4, HEAD "    if x.any():\n        x += 1\n    return x\n",
	      HEAD "    x = torch.where((x.any()) != 0, x + (1), x)\n    return x\n");
}

static void several_names_share_the_condition(void **state)
{
	(void)state;
	check(REWRITE_WHERE, 6,
	      HEAD
	      "    a = x\n    b = x\n    if x.sum() > 0:\n        a = x + 1\n        b = x + 2\n"
	      "    return a * b\n",
	      HEAD "    a = x\n    b = x\n    condition = x.sum() > 0\n"
		   "    a = torch.where(condition, x + 1, a)\n"
		   "    b = torch.where(condition, x + 2, b)\n    return a * b\n");
}

static void a_branch_that_returns_becomes_where(void **state)
{
	(void)state;
	check(REWRITE_WHERE, 4,
	      HEAD "    if x.sum() > 0:\n        return x + 1\n    return x - 1\n",
	      HEAD "    return torch.where(x.sum() > 0, x + 1, x - 1)\n");
	check(REWRITE_WHERE, 4,
	      HEAD "    if x.sum() > 0:\n        return x + 1\n    else:\n        return x - 1\n",
	      HEAD "    return torch.where(x.sum() > 0, x + 1, x - 1)\n");
}

static void a_branch_with_effects_stays(void **state)
{
	(void)state;
	check(REWRITE_WHERE, 4, HEAD "    if x.sum() > 0:\n        x.add_(1)\n    return x\n",
	      NULL);
	check(REWRITE_WHERE, 4, HEAD "    if x.sum() > 0:\n        x = helper(x)\n    return x\n",
	      NULL);
	check(REWRITE_WHERE, 4, HEAD "    if x.sum() > 0:\n        y = x\n    return y\n", NULL);
	check(REWRITE_WHERE, 4,
	      HEAD "    if x.sum() > 0:\n        x = torch.rand(3)\n    return x\n", NULL);
	check(REWRITE_WHERE, 4, HEAD "    if x.sum() > 0:\n        print(x)\n    return x\n", NULL);
	check(REWRITE_WHERE, 4,
	      HEAD
	      "    if x.sum() > 0:\n        x = x + 1\n    elif x.sum() < 0:\n        x = x - 1\n"
	      "    return x\n",
	      NULL);
	check(REWRITE_WHERE, 5, HEAD "    if x.sum() > 0:\n        x = x + 1\n    return x\n",
	      NULL);
	check(REWRITE_WHERE, 2,
	      "def model(x):\n    if x.sum() > 0:\n        x = x + 1\n    return x\n", NULL);
}

static void an_item_is_dropped(void **state)
{
	(void)state;
	check(REWRITE_TENSOR, 4, HEAD "    s = x.std().item()  # one number\n    return x / s\n",
	      HEAD "    s = x.std()  # one number\n    return x / s\n");
	check(REWRITE_TENSOR, 4, HEAD "    return x * float(x.sum()) + x.max().item()\n",
	      HEAD "    return x * (x.sum()) + x.max()\n");
	check(REWRITE_TENSOR, 4, HEAD "    return x.float()\n", NULL);
}

static void a_print_moves_behind_the_result(void **state)
{
	(void)state;
	check(REWRITE_PRINT, 5,
	      HEAD "    y = x * 2\n    print(\"mean\", y.mean())\n    return y + 1\n",
	      HEAD "    y = x * 2\n    result = y + 1\n    print(\"mean\", y.mean())\n"
		   "    return result\n");
	check(REWRITE_PRINT, 4, HEAD "    print(\"begin\")\n    y = x * 2\n    return y\n",
	      HEAD "    y = x * 2\n    print(\"begin\")\n    return y\n");
	check(REWRITE_PRINT, 4, HEAD "    print(x)\n    return x\n", NULL);
	check(REWRITE_PRINT, 5, HEAD "    for i in range(2):\n        print(i)\n    return x\n",
	      NULL);
	check(REWRITE_PRINT, 4,
	      HEAD "    print(x)\n    if x.dim():\n        return x\n    return x + 1\n", NULL);
}

static void other_text_is_left_alone(void **state)
{
	(void)state;
	check(REWRITE_PRINT, 4, "not python (\n", NULL);
	check(REWRITE_WHERE, 1, "", NULL);
	check(REWRITE_TENSOR, 4, HEAD "    s = x.sum().item()\r\n    return s\r\n", NULL);
	check(REWRITE_TENSOR, 99, HEAD "    return x.item()\n", NULL);
}

static void a_graph_break_and_a_print_are_left_out(void **state)
{
	(void)state;
	check(REWRITE_DROP, 4, HEAD "    torch._dynamo.graph_break()  # here\n    return x\n",
	      HEAD "    return x\n");
	check(REWRITE_DROP, 5,
	      HEAD "    if x.dim() == 2:\n        print(\"a\",\n              x)\n    return x\n",
	      HEAD "    if x.dim() == 2:\n        pass\n    return x\n");
	check(REWRITE_DROP, 4, HEAD "    x.add_(1)\n    return x\n", NULL);
	check(REWRITE_DROP, 4, HEAD "    y = print(x)\n    return x\n", NULL);
	check(REWRITE_DROP, 4, HEAD "    y = 1; print(x)\n    return x\n", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_break_and_a_print_are_left_out),
		cmocka_unit_test(a_branch_that_assigns_becomes_where),
		cmocka_unit_test(several_names_share_the_condition),
		cmocka_unit_test(a_branch_that_returns_becomes_where),
		cmocka_unit_test(a_branch_with_effects_stays),
		cmocka_unit_test(an_item_is_dropped),
		cmocka_unit_test(a_print_moves_behind_the_result),
		cmocka_unit_test(other_text_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
