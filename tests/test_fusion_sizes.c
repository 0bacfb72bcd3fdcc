/* tests/test_fusion_sizes.c -- what programs do with sizes that are symbols.
 *
 * Each expression runs at several sizes in every mode; results are eager's, and
 * in mode dynamic it is compiled as often as the row says.
 */
#include "tests/engine.h"

#include <stdlib.h>

#include "fusion/tensor/tensor.h"

enum { N_SIZES = 4 };
static const int64_t sizes[N_SIZES][2] = { { 4, 3 }, { 9, 5 }, { 6, 2 }, { 12, 7 } };

/* x has n rows and k columns; f is a float and i an int of the call, which change. */
static const struct {
	const char *expression;
	int graphs; /* in mode dynamic, over all sizes; 0: not counted */
} rows[] = {
	/* floats of sizes */
	{ "x / math.sqrt(n), n / k, float(n), n * 0.5, 1.5 - n", 1 },
	{ "math.log(n), math.log2(n), math.log(n, k), math.exp(-n), math.pow(n, 0.5)", 1 },
	{ "n ** 0.5, n ** -1, n ** 2, 2.0 ** n, n ** 0", 1 },
	{ "math.sin(n), math.atan2(n, k), math.hypot(n, k), math.degrees(n)", 1 },
	{ "x * (1.0 / (n * k)) + n / 7", 1 },
	{ "round(n / 3, 2), round(n / 7), round(n), round(n / 7, 0)", 1 },
	{ "math.floor(n / 2), math.ceil(n / 5), math.trunc(n / 3), int(n / k), int(-n / 2)", 1 },
	{ "math.floor(-n / 5), math.ceil(n * 0.3), int(n * 0.75), n // 2.5, n % 2.5", 1 },
	{ "divmod(n, 2), divmod(n, 2.5), n // k, n % k, -n // 4, -n % 4", 1 },
	{ "abs(-n), -n, +n, ~n, n << 2, n >> 1, pow(n, 3), int(n), bool(n)", 1 },
	{ "n / (n - 20), n % (k - 20), n // (k - 20)", 1 },
	/* floats and ints of the call */
	{ "x * (f * 2), f / n, math.sqrt(f) * n, f ** 2, round(f, 1), int(f * n)", 1 },
	{ "x * math.exp(f), -f, f // 0.3, f % 0.3, f > n, float(f), i / 3, i * f", 1 },
	{ "x + i, x * (i / n), torch.zeros(i + 2).shape, torch.full((2,), i)", 1 },
	/* comparisons are no guards as long as nothing branches on them */
	{ "n > 5, n == 9, n % 2 == 0, not n > 5, n != k, n / k > 2, bool(n - 4)", 1 },
	{ "x + 1 if n > 2 else x", 1 },
	{ "x + 1 if n % 2 == 0 else x - 1", 2 },
	{ "x + 1 if n / k > 1.5 else x - 1", 2 },
	{ "x * (n > 5)", 2 },
	{ "x + 1 if f > 1 else x - 1", 2 },
	{ "(n > 5) + 1, (n > 5) * 2.5, int(n > 5)", 2 },
	{ "x.sum(0, keepdim=n > 5)", 2 },
	/* more and less */
	{ "max(n, k), min(n, k), max(n, 5), min(x.shape), max(n, k, 6), sum(x.shape)", 1 },
	{ "max(n, 5.5), min(n / 2, k)", 0 },
	{ "math.prod(x.shape), x.numel(), x.shape.numel(), len(x), x.size(-1)", 1 },
	/* tensors of sizes */
	{ "torch.zeros(n, k) + x, torch.full((k,), n), torch.ones(n // 2), torch.eye(k)", 1 },
	{ "torch.arange(n), torch.arange(1, n + 1), torch.arange(0, n, 3)", 1 },
	{ "torch.arange(n - 1, -1, -1), torch.arange(n, 2 * n, 2)", 1 },
	{ "torch.tensor(n), torch.tensor([n, k]), torch.tensor([[n, 1], [2.5, n / k]])", 1 },
	{ "x * torch.tensor(1.0 * n), torch.tensor(n, dtype=torch.float64)", 1 },
	{ "torch.tensor([n > 5, True])", 2 },
	{ "x.new_zeros(n, 2), x.new_full((k,), n), torch.empty(n, 2).fill_(n)", 1 },
	{ "torch.zeros(torch.Size((n, 2))), torch.Size([n, k]).numel(), x.shape[1:]", 1 },
	{ "x.shape == torch.Size([4, 3]), x.shape == (9, 5)", 0 },
	/* views */
	{ "x[: n // 2], x[-2:], x[1:-1], x[::2], x[n - 1], x[n // 2 - 1], x[:, : k - 1]", 1 },
	{ "x.view(-1), x.view(n * k), x.reshape(-1, n), x.view(k, -1), x.reshape(n, 1, k)", 1 },
	{ "x.expand(n, k), x[None].expand(2, n, k), x.repeat(2, 1), x.repeat(1, n)", 1 },
	{ "x.split(n // 2)", 2 },
	{ "x.chunk(2), x.flatten(), x.T[k - 1], x.unsqueeze(0).squeeze(0)", 1 },
	{ "torch.cat([x, torch.zeros(n, 2)], 1), torch.cat([x, x[:2]], 0)", 1 },
	{ "x.narrow(0, 1, n - 1), x.tril(n - 2), x.diagonal()", 0 },
	{ "[row.sum() for row in x]", 4 },
	{ "[x * j for j in range(k)]", 4 },
	/* text */
	{ "f'{n} rows', '%d' % k, '{:>4}'.format(n), str(n), repr((n, k))", 0 },
	{ "f'{n / k:.2f}', f'{f:.1f}', str(f)", 0 },
};

static void print_tensor_value(void *context, struct buf *out, struct value v)
{
	(void)context;
	if (v.kind == VALUE_TENSOR)
		tensor_print(out, v.tensor->memory,
			     &(struct tensor_form){ DTYPE_F32, "", &PRINT_DEFAULTS });
	else
		buf_puts(out, value_type_name(v));
}

static char *text_of(struct value v)
{
	struct buf out;
	char *text;

	buf_init(&out, 0);
	value_print_with(&out, v, false, print_tensor_value, NULL);
	text = strdup(out.data ? out.data : "");
	buf_finish(&out);
	return text;
}

static char *call(struct engine *e, int at)
{
	struct value in[3] = { FLOATS(e, 1, sizes[at][0], sizes[at][1]), value_float(0.75 + at),
			       value_int(3 + at) };
	struct value out = engine_call(e, in, 3);
	char *text = text_of(out);

	value_unref(out);
	value_unref(in[0]);
	return text;
}

static void run(const char *expression, enum fusion_mode mode, int graphs)
{
	char source[1024];
	struct engine eager, e;

	snprintf(source, sizeof(source),
		 "import torch\nimport math\ndef model(x, f, i):\n    n, k = x.shape\n"
		 "    return %s\n",
		 expression);
	eager = engine_open("interp", FUSION_EAGER, source);
	e = engine_open("interp", mode, source);
	for (int i = 0; i < 2 * N_SIZES; i++) { /* each version is used, too */
		char *want = call(&eager, i % N_SIZES), *got = call(&e, i % N_SIZES);

		if (strcmp(want, got) != 0)
			fail_msg("%s, mode %d, call %d: %s, not %s", expression, (int)mode, i, got,
				 want);
		free(want);
		free(got);
	}
	if (mode == FUSION_DYNAMIC && graphs > 0 && fusion_counts(e.session).n_graphs != graphs)
		fail_msg("%s: %d graphs, not %d", expression, fusion_counts(e.session).n_graphs,
			 graphs);
	engine_close(&eager);
	engine_close(&e);
}

static void sizes_are_computed_with_as_eager_does(void **state)
{
	static const enum fusion_mode modes[] = { FUSION_STATIC, FUSION_DYNAMIC, FUSION_AUTO };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int m = 0; m < 3; m++)
			run(rows[i].expression, modes[m], rows[i].graphs);
}

/* Where Python raises at some sizes, it does so at these alone. */
static void errors_are_raised_where_eager_raises(void **state)
{
	static const struct {
		const char *expression, *says;
	} faults[] = {
		{ "1 / (n - 6)", "division by zero" },
		{ "k % (n - 6)", "division by zero" },
		{ "f // (n - 6)", "division by zero" },
		{ "math.log(n - 6)", "math domain error" },
		{ "math.sqrt(5.5 - n)", "math domain error" },
		{ "math.exp(n * n * 20.0)", "math range error" },
		{ "int(float('inf') * (n - 5))", "infinity" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		char source[512];
		struct engine e;
		struct value in[3] = { value_none(), value_float(2.5), value_int(2) };
		struct err err;

		snprintf(
		    source, sizeof(source),
		    "import math\ndef model(x, f, i):\n    n, k = x.shape\n    return x.sum(), "
		    "%s\n",
		    faults[i].expression);
		e = engine_open("interp", FUSION_DYNAMIC, source);
		in[0] = FLOATS(&e, 1,
			       strstr(source, "5.5")    ? 5
			       : strstr(source, "- 5)") ? 5
							: 7,
			       3);
		if (!strstr(source, "- 5)") && !strstr(source, "exp"))
			value_unref(engine_call(&e, in, 3));
		value_unref(in[0]);
		in[0] = FLOATS(&e, 1, 6, 3);
		err = engine_fails(&e, in, 3);
		if (!strstr(err.message, faults[i].says))
			fail_msg("%s: %s", faults[i].expression, err.message);
		value_unref(in[0]);
		engine_close(&e);
	}
}

/* The reason names the guard that failed, what is and what was. */
static void a_condition_says_what_is_and_what_was(void **state)
{
	static const struct {
		const char *test, *reason;
	} of[] = {
		{ "n % 2 == 0", "x.size(0)%2 == 0 no longer holds: x.size(0) is 9, was 4" },
		{ "n // 2 < k", "x.size(0)//2 < x.size(1) no longer holds: x.size(0) is 9, was 4" },
		{ "n * 2 + 1 < 10", "2*x.size(0) + 1 < 10 no longer holds: x.size(0) is 9, was 4" },
		{ "n / k < 1.5",
		  "x.size(0)/x.size(1) < 1.5 no longer holds: x.size(0) is 9, was 4" },
		{ "math.sqrt(n) * f <= 1.5",
		  "math.sqrt(x.size(0))*f <= 1.5 no longer holds: x.size(0) is 9, was 4" },
		{ "i - n < 0 and f < 9", "f < 9.0 no longer holds: f is 9.5, was 0.75" },
		{ "i > 100 or i < 7", "i < 7 no longer holds: i is 8, was 3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		char source[512];
		struct engine e;
		struct value in[3] = { value_none(), value_float(0.75), value_int(3) };
		bool by_f = strstr(of[i].reason, "f is"), by_i = strstr(of[i].reason, "i is");

		snprintf(
		    source, sizeof(source),
		    "import math\ndef model(x, f, i):\n    n, k = x.shape\n    return x + 1 if "
		    "%s else x - 1\n",
		    of[i].test);
		e = engine_open("interp", FUSION_DYNAMIC, source);
		in[0] = FLOATS(&e, 1, 4, 3);
		value_unref(engine_call(&e, in, 3));
		if (!by_f && !by_i) {
			value_unref(in[0]);
			in[0] = FLOATS(&e, 1, 9, 3);
		}
		in[1] = value_float(by_f ? 9.5 : 0.75);
		in[2] = value_int(by_i ? 8 : 3);
		value_unref(engine_call(&e, in, 3));
		assert_int_equal(fusion_counts(e.session).n_recompiles, 1);
		assert_string_equal(fusion_recompile(e.session, 0).reason, of[i].reason);
		value_unref(in[0]);
		engine_close(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_are_computed_with_as_eager_does),
		cmocka_unit_test(errors_are_raised_where_eager_raises),
		cmocka_unit_test(a_condition_says_what_is_and_what_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
