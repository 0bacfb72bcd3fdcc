/* tests/test_fusion_native_raises.c -- policy native: errors in and after breaks of
 * functions that are called are those of eager, with their places.
 */
#include "tests/native_helpers.h"

static const struct helper errors[] = {
	{ "in what runs between",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    k = place(y, 8)\n"
	  "    return y * k\n"
	  "def model(x):\n"
	  "    x += 1\n"
	  "    y = h(x) * 2\n"
	  "    return y\n",
	  1 },
	{ "after it, further in",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    y = y * 2\n"
	  "    raise ValueError('no')\n"
	  "def model(x):\n"
	  "    x += 1\n"
	  "    return h(x) * 2\n",
	  0 },
	{ "after it, when it has returned",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return y * 2\n"
	  "def model(x):\n"
	  "    x += 1\n"
	  "    y = h(x)\n"
	  "    x += 1\n"
	  "    return y + [y][3]\n",
	  0 },
	{ "caught further out",
	  "def g(x, n):\n"
	  "    y = x * 2\n"
	  "    k = place(y, n - 1)\n"
	  "    return y + k\n"
	  "def h(x, n):\n"
	  "    return g(x + 1, n) * 2\n"
	  "def model(x):\n"
	  "    y = x\n"
	  "    for n in range(5):\n"
	  "        try:\n"
	  "            y = h(y, n)\n"
	  "        except ValueError as e:\n"
	  "            print(n, e)\n"
	  "            y = y - 1\n"
	  "        finally:\n"
	  "            y = y / 2\n"
	  "    return y * 3\n",
	  0 },
	{ "raised after it, caught further out",
	  "def g(x, n):\n"
	  "    y = x * 2\n"
	  "    torch._dynamo.graph_break()\n"
	  "    y = y + 1\n"
	  "    if n == 1:\n"
	  "        raise ValueError('one')\n"
	  "    return y\n"
	  "def model(x):\n"
	  "    y = x\n"
	  "    for n in range(3):\n"
	  "        try:\n"
	  "            y = g(y, n) + 1\n"
	  "        except ValueError as e:\n"
	  "            print(n, e)\n"
	  "            y = y - 1\n"
	  "    return y * 3\n",
	  0 },
	{ "a manager around the call",
	  "class M:\n"
	  "    def __enter__(self):\n"
	  "        print('in')\n"
	  "        return 2\n"
	  "    def __exit__(self, kind, e, tb):\n"
	  "        print('out', kind is None, e)\n"
	  "        return True\n"
	  "def h(x, n):\n"
	  "    y = x * 2\n"
	  "    y = y + [1, 2, 3][len(values(y)) - 3 + n]\n"
	  "    return y - 1\n"
	  "def model(x):\n"
	  "    for n in (1, 5):\n"
	  "        with M() as k:\n"
	  "            x = h(x * k, n) + 1\n"
	  "        with torch.no_grad():\n"
	  "            x = h(x, 0)\n"
	  "    return x\n",
	  0 },
	{ "called while an exception is handled",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    try:\n"
	  "        raise\n"
	  "    except ValueError as e:\n"
	  "        print('again', e)\n"
	  "    return y * 2\n"
	  "def model(x):\n"
	  "    try:\n"
	  "        x = x * 2\n"
	  "        raise ValueError('first')\n"
	  "    except ValueError:\n"
	  "        x = h(x) - 1\n"
	  "    return x * 2\n",
	  0 },
	{ "calls without an end",
	  "def f(x, n):\n"
	  "    x = x + n\n"
	  "    torch._dynamo.graph_break()\n"
	  "    return f(x * 2, n + 1) - n\n"
	  "def model(x):\n"
	  "    try:\n"
	  "        return f(x, 0)\n"
	  "    except RecursionError as e:\n"
	  "        print(e)\n"
	  "    return x + 1\n",
	  0 },
	{ "a local that is not set",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    if len(values(y)) > 5:\n"
	  "        z = y\n"
	  "    return y * 2\n"
	  "def model(x):\n"
	  "    y = h(x)\n"
	  "    if len(y) > 5:\n"
	  "        w = y\n"
	  "    y = h(y)\n"
	  "    return y + w\n",
	  0 },
	{ "an assertion after it",
	  "def h(x):\n"
	  "    y = x + 1\n"
	  "    torch._dynamo.graph_break()\n"
	  "    print('h')\n"
	  "    assert y.sum() > 3, 'small'\n"
	  "    return y * 2\n"
	  "def model(x):\n"
	  "    x += 1\n"
	  "    y = h(x)\n"
	  "    x += 1\n"
	  "    assert y.max() < 5\n"
	  "    return y\n",
	  0 },
};

static void errors_are_those_of_eager(void **state)
{
	(void)state;
	check_helpers(errors, sizeof(errors) / sizeof(errors[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_those_of_eager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
