/* tests/test_fusion_reasons.c -- why a function is compiled again, in words.
 *
 * A reason names what the guard looked at, what it is now and what it was.  Each
 * program changes something after its graph, so that the second call misses.
 */
#include "tests/engine.h"

static const struct {
	const char *source, *reason;
} rows[] = {
	/* values */
	{ "K = 1\n"
	  "def model(x):\n    global K\n    y = x + K\n    K += 1\n    return y\n",
	  "K is 2, was 1" },
	{ "K = 0.5\n"
	  "def model(x):\n    global K\n    y = x + K\n    K = 1.5\n    return y\n",
	  "K is 1.5, was 0.5" },
	{ "K = 'a'\n"
	  "def model(x):\n    global K\n    y = x + len(K)\n    K = \"it's\"\n    return y\n",
	  "K is \"it's\", was 'a'" },
	{ "K = True\n"
	  "def model(x):\n    global K\n    y = x + 1 if K else x\n    K = False\n    return y\n",
	  "K is False, was True" },
	{ "K = None\n"
	  "def model(x):\n    global K\n    y = x + 1 if K is None else x\n    K = 2\n"
	  "    return y\n",
	  "K is an int, was None" },
	{ "K = 2\n"
	  "def model(x):\n    global K\n    y = x + K\n    K = 2.0\n    return y\n",
	  "K is a float, was an int" },
	{ "D = torch.float32\n"
	  "def model(x):\n    global D\n    y = x.to(D) + 1\n    D = torch.float64\n"
	  "    return y\n",
	  "D is torch.float64, was torch.float32" },
	{ "R = range(3)\n"
	  "def model(x):\n    global R\n    for i in R:\n        x = x + i\n    R = range(4)\n"
	  "    return x\n",
	  "R is range(0, 4), was range(0, 3)" },
	{ "R = slice(0, 2)\n"
	  "def model(x):\n    global R\n    y = x[R]\n    R = slice(0, 3)\n    return y\n",
	  "R is slice(0, 3, None), was slice(0, 2, None)" },
	{ "S = {1, 2}\n"
	  "def model(x):\n    global S\n    y = x + len(S)\n    S = {3}\n    return y\n",
	  "S is {3}, was {1, 2}" },
	/* containers */
	{ "L = [1]\n"
	  "def model(x):\n    y = x + len(L)\n    L.append(2)\n    return y\n",
	  "len(L) is 2, was 1" },
	{ "L = [1]\n"
	  "def model(x):\n    y = x + L[0]\n    L[0] = 5\n    return y\n",
	  "L[0] is 5, was 1" },
	{ "L = [1]\n"
	  "def model(x):\n    global L\n    y = x + len(L)\n    L = (1,)\n    return y\n",
	  "L is a tuple, was a list" },
	{ "D = {'a': 1}\n"
	  "def model(x):\n    y = x + len(D)\n    D['b'] = 2\n    return y\n",
	  "list(D) is ['a', 'b'], was ['a']" },
	{ "D = {'a': 1}\n"
	  "def model(x):\n    y = x + D['a']\n    D['a'] = 2\n    return y\n",
	  "D['a'] is 2, was 1" },
	{ "it = iter([1, 2, 3])\n"
	  "def model(x):\n    return x + next(it)\n",
	  "it is at item 1, was at 0" },
	/* functions and classes */
	{ "def f(x):\n    return x + 1\n"
	  "def g(x):\n    return x + 2\n"
	  "G = f\n"
	  "def model(x):\n    global G\n    y = G(x)\n    G = g\n    return y\n",
	  "G is the function g (line 4), was the function f (line 2)" },
	{ "def make(n):\n    def f(x, k=n):\n        return x + k\n    return f\n"
	  "G, H = make(1), make(2)\n"
	  "def model(x):\n    global G\n    y = G(x)\n    G = H\n    return y\n",
	  "G is f with other defaults than before" },
	{ "G = torch.sin\n"
	  "def model(x):\n    global G\n    y = G(x)\n    G = torch.cos\n    return y\n",
	  "G is torch.cos, was torch.sin" },
	{ "G = len\n"
	  "def model(x):\n    global G\n    y = x + G([1])\n    G = sum\n    return y\n",
	  "G is sum, was len" },
	{ "def make(k):\n    def f(x):\n        nonlocal k\n        k += 1\n        return x + k\n"
	  "    return f\n"
	  "f = make(1)\n"
	  "def model(x):\n    return f(x)\n",
	  "k is 2, was 1" },
	{ "class A:\n    k = 1\n"
	  "class B:\n    k = 2\n"
	  "C = A\n"
	  "def model(x):\n    global C\n    y = x + C.k\n    C = B\n    return y\n",
	  "C is the class B, was A" },
	{ "class A:\n    k = 1\n"
	  "def model(x):\n    y = x + A.k\n    A.k = 5\n    return y\n",
	  "A.k is 5, was 1" },
	/* objects */
	{ "class A:\n    def __init__(self):\n        self.k = 1\n"
	  "class B(A):\n    pass\n"
	  "o = A()\n"
	  "def model(x):\n    global o\n    y = x + o.k\n    o = B()\n    return y\n",
	  "o is an object of class B, was one of A" },
	{ "class A:\n    def __init__(self):\n        self.k = 1\n"
	  "o = A()\n"
	  "def model(x):\n    y = x + o.k\n    o.k += 1\n    return y\n",
	  "o.k is 2, was 1" },
	{ "class A:\n    k = 1\n"
	  "o = A()\n"
	  "def model(x):\n    y = x + o.k\n    o.k = 5\n    return y\n",
	  "o.k is 5, was not set on the object" },
	{ "class A:\n    pass\n"
	  "o = A()\n"
	  "def model(x):\n    y = x + getattr(o, 'k', 0)\n    o.k = 5\n    return y\n",
	  "o.k is 5, was not set on the object" },
	{ "def model(x):\n    global Q\n    try:\n        y = x + Q\n"
	  "    except NameError:\n        y = x + 7\n    Q = 1\n    return y\n",
	  "Q is 1, had no value" },
	{ "m = torch.nn.Dropout(0.0)\n"
	  "def model(x):\n    y = m(x) + 1\n    m.eval()\n    return y\n",
	  "m.training is False, was True" },
	/* memory */
	{ "T, U = torch.ones(8), torch.ones(4)\n"
	  "def model(x):\n    global U\n    T.add_(1)\n    y = x + T[:4] * U\n    U = T[2:6]\n"
	  "    return y\n",
	  "T shares memory with U, did not before" },
	{ "T = [torch.ones(4), torch.ones(4), torch.ones(8)]\n"
	  "def model(x):\n    T[0].add_(1)\n    T[1].mul_(2)\n    y = x + T[0] * T[1] + T[2][:4]\n"
	  "    T[1] = T[2][:4]\n    return y\n",
	  "T[1] shares memory with T[2], did not before" },
	/* the grad mode */
	{ "def model(x):\n    torch.set_grad_enabled(False)\n    return x * 2\n",
	  "torch.is_grad_enabled() is False, was True" },
};

static void each_kind_says_what_is_and_what_was(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char source[1024];
		struct engine eager, e;

		snprintf(source, sizeof(source), "import torch\n%s", rows[i].source);
		eager = engine_open("interp", FUSION_EAGER, source);
		e = engine_open("interp", FUSION_STATIC, source);
		for (int call = 0; call < 2; call++) {
			struct value x = FLOATS(&e, 1, 4), y = FLOATS(&eager, 1, 4);
			struct value got = engine_call(&e, &x, 1);
			struct value want = engine_call(&eager, &y, 1);

			engine_near(got, 0, engine_at(want, 0));
			value_unref(got);
			value_unref(want);
			value_unref(x);
			value_unref(y);
		}
		if (fusion_counts(e.session).n_recompiles < 1)
			fail_msg("no recompile, but: %s", rows[i].reason);
		if (strcmp(fusion_recompile(e.session, 0).reason, rows[i].reason) != 0)
			fail_msg("\"%s\" for \"%s\"", fusion_recompile(e.session, 0).reason,
				 rows[i].reason);
		engine_close(&eager);
		engine_close(&e);
	}
}

/* Two calls of model(x). */
static void assert_tensor_reason(const char *body, struct value (*make)(struct engine *, int),
				 const char *reason)
{
	char source[256];
	struct engine e;

	snprintf(source, sizeof(source), "import torch\ndef model(x):\n%s", body);
	e = engine_open("interp", FUSION_STATIC, source);
	for (int call = 0; call < 2; call++) {
		struct value x = make(&e, call);

		value_unref(engine_call(&e, &x, 1));
		value_unref(x);
	}
	assert_string_equal(fusion_recompile(e.session, 0).reason, reason);
	engine_close(&e);
}

static struct value other_size(struct engine *e, int call)
{
	return FLOATS(e, 1, 4 + call, 3);
}

static struct value other_rank(struct engine *e, int call)
{
	return call ? FLOATS(e, 1, 4) : FLOATS(e, 1, 4, 3);
}

static struct value other_dtype(struct engine *e, int call)
{
	struct value x = engine_tensor(e, call ? DTYPE_F64 : DTYPE_F32, 1, (int64_t[]){ 4 });

	memset(tensor_data(x.tensor->memory), 0, call ? 32 : 16);
	return x;
}

static struct value same_sizes(struct engine *e, int call)
{
	(void)call;
	return FLOATS(e, 1, 4, 4);
}

static void tensors_say_what_is_and_what_was(void **state)
{
	(void)state;
	assert_tensor_reason("    return x + 1\n", other_size, "x.size(0) is 5, was 4");
	assert_tensor_reason("    return x + 1\n", other_rank, "x.dim() is 1, was 2");
	assert_tensor_reason("    return x + 1\n", other_dtype, "x.dtype is float64, was float32");
	assert_tensor_reason("    global n\n    y = x if n == 0 else x.t()\n    n += 1\n"
			     "    torch._dynamo.graph_break()\n    return y * 2\nn = 0\n",
			     same_sizes, "n is 1, was 0");
}

/* The layout shows where a frame goes on after a break. */
static void layouts_say_what_is_and_what_was(void **state)
{
	static const struct {
		const char *first, *then, *reason;
	} of[] = {
		{ "x", "x.t()", "y is not contiguous, was contiguous" },
		{ "x[:, ::2]", "x[:, :2]", "y.stride(1) is 1, was 2" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		char source[512];
		struct engine e;

		snprintf(source, sizeof(source),
			 "import torch\nn = 0\ndef model(x):\n    global n\n"
			 "    y = %s if n == 0 else %s\n    n += 1\n"
			 "    torch._dynamo.graph_break()\n    return y * 2\n",
			 of[i].first, of[i].then);
		e = engine_open("interp", FUSION_STATIC, source);
		for (int call = 0; call < 2; call++) {
			struct value x = same_sizes(&e, call);

			value_unref(engine_call(&e, &x, 1));
			value_unref(x);
		}
		assert_int_equal(fusion_counts(e.session).n_recompiles, 2);
		assert_string_equal(fusion_recompile(e.session, 1).reason, of[i].reason);
		engine_close(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_says_what_is_and_what_was),
		cmocka_unit_test(tensors_say_what_is_and_what_was),
		cmocka_unit_test(layouts_say_what_is_and_what_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
