/* tests/test_profiler_allclose.c -- whether a mode gives eager's values, and who says so.
 *
 * Modes are made wrong by programs that ask whether they are being compiled. */
#include <math.h>

#include "fusion/tensor/tensor.h"
#include "profiler/allclose/texts.h"
#include "tests/report_help.h"

/* ---- the judge */

struct bench {
	struct allocator *a;
	struct tensor *ours, *theirs, *exact, *disturbed;
};

static struct bench bench_open(enum dtype dtype, int64_t rows, int64_t columns)
{
	struct bench b = { .a = allocator_create((size_t)4 << 30, NULL) };
	int64_t size[2] = { rows, columns };
	struct err err = { 0 };

	b.ours = tensor_create(b.a, dtype, 2, size, &err);
	b.theirs = tensor_create(b.a, dtype, 2, size, &err);
	b.exact = tensor_create(b.a, DTYPE_F64, 2, size, &err);
	b.disturbed = tensor_create(b.a, DTYPE_F64, 2, size, &err);
	assert_non_null(b.disturbed);
	return b;
}

static void bench_close(struct bench *b)
{
	tensor_unref(b->ours);
	tensor_unref(b->theirs);
	tensor_unref(b->exact);
	tensor_unref(b->disturbed);
	allocator_destroy(b->a);
}

static void put(struct tensor *t, int64_t i, double x)
{
	dtype_put_double(t->dtype, tensor_data(t), i, x);
}

/* Element i as float64 has it, and what each side is off. */
static void set(struct bench *b, int64_t i, double exact, double ours, double theirs,
		double disturbed)
{
	put(b->exact, i, exact);
	put(b->ours, i, exact + ours);
	put(b->theirs, i, exact + theirs);
	put(b->disturbed, i, exact + disturbed);
}

static struct difference judge(const struct bench *b, bool reference)
{
	struct difference_pair pair = { .ours = b->ours,
					.theirs = b->theirs,
					.reference = { b->exact, b->disturbed },
					.n_references = reference ? 2 : 0,
					.threads = 2 };

	return difference_of_tensors(&pair);
}

/* The sign of a step that rounding decides: one number in a thousand leaps on each side, nowhere
 * on two, and its neighbours lie where float64 has them. */
static void leaps_that_others_have_too_are_allowed(void **state)
{
	struct bench b = bench_open(DTYPE_F32, 256, 256);
	struct difference found;

	(void)state;
	for (int64_t i = 0; i < 256 * 256; i++)
		set(&b, i, 0.5, i % 1000 == 7 ? -2e-3 : 0x1p-25, i % 1000 == 507 ? 2e-3 : 0,
		    0x1p-25);
	found = judge(&b, true);
	assert_true(found.excess <= 1 && found.outside == 0);
	put(b.ours, 77, 0.51); /* farther than any */
	found = judge(&b, true);
	assert_true(found.excess > 1 && found.outside > 0);
	for (int64_t i = 0; i < 256 * 256; i += 64) /* more often than others */
		put(b.ours, i, 0.502);
	found = judge(&b, true);
	assert_true(found.excess > 1 && found.outside > 1000);
	put(b.ours, 77, NAN);
	assert_true(isinf(judge(&b, true).excess));
	bench_close(&b);
}

/* Last bits over 16 million elements; one element off by more is found where it lies. */
static void large_tensors_are_compared_where_they_lie(void **state)
{
	struct bench b = bench_open(DTYPE_F32, 4096, 4096);
	struct difference found;

	(void)state;
	for (int64_t i = 0; i < 4096 * 4096; i++) {
		double x = sin((double)(i % 1000)) * 3, unit = 0x1p-23 * fabs(x);

		set(&b, i, x, i % 3 ? 0 : unit, 0, unit / 2);
	}
	found = judge(&b, false);
	assert_true(found.rule == DIFFERENCE_BOUND && found.excess < 1);
	assert_true(found.differing > 4096 * 4096 / 4);
	found = judge(&b, true);
	assert_true(found.rule == DIFFERENCE_FLOAT64 && found.excess < 1);
	put(b.ours, 4096 * 1234 + 77, 2.5);
	found = judge(&b, true);
	assert_true(found.excess > 1000);
	assert_int_equal(found.worst.index, 4096 * 1234 + 77);
	assert_true(found.worst.ours == 2.5);
	bench_close(&b);
}

/* Sums of numbers of 4e4 in bfloat16 end up hundreds apart; where they lie near each other
 * in float64 the same distance is a fault. */
static void large_numbers_of_bfloat16_have_large_errors(void **state)
{
	struct bench b = bench_open(DTYPE_BF16, 4, 16);

	(void)state;
	for (int i = 0; i < 64; i++)
		set(&b, i, i % 2 ? 40000 : 3.5, i % 2 ? 256 : 120, i % 2 ? -256 : -60,
		    i % 3 ? 200 : -150);
	assert_true(judge(&b, true).excess < 1);
	for (int i = 0; i < 64; i++)
		set(&b, i, i % 2 ? 400 : 3.5, i % 2 ? 256 : 120, 0, i % 3 ? 0.2 : -0.1);
	assert_true(judge(&b, true).excess > 10);
	bench_close(&b);
}

static void infinities_and_nan_are_values(void **state)
{
	struct bench b = bench_open(DTYPE_F16, 1, 4);

	(void)state;
	for (int i = 0; i < 4; i++)
		set(&b, i, 1, 0, 0, 0);
	for (int i = 0; i < 2; i++) { /* both overflow; both are NaN */
		put(b.ours, i, i ? (double)NAN : INFINITY);
		put(b.theirs, i, i ? (double)NAN : INFINITY);
		put(b.exact, i, i ? (double)NAN : 70000);
		put(b.disturbed, i, i ? (double)NAN : 70001);
	}
	assert_int_equal(judge(&b, true).differing, 0);
	put(b.ours, 0, -INFINITY);
	assert_true(isinf(judge(&b, true).excess));
	put(b.ours, 0, INFINITY);
	put(b.ours, 3, (double)NAN);
	assert_true(isinf(judge(&b, true).excess) && judge(&b, true).worst.index == 3);
	/* Eager overflows where float64 does not, and the mode does not either. */
	put(b.ours, 3, 1);
	put(b.ours, 0, 65504);
	put(b.exact, 0, 65510);
	put(b.disturbed, 0, 65511);
	assert_true(judge(&b, true).excess <= 1);
	bench_close(&b);
}

static void ints_and_shapes_have_no_rounding(void **state)
{
	struct bench b = bench_open(DTYPE_I64, 2, 2), c = bench_open(DTYPE_I64, 4, 1);
	struct difference found;

	(void)state;
	for (int i = 0; i < 4; i++)
		dtype_put_int(DTYPE_I64, tensor_data(b.ours), i, INT64_MAX - i);
	memcpy(tensor_data(b.theirs), tensor_data(b.ours), 32);
	dtype_put_int(DTYPE_I64, tensor_data(b.ours), 2, INT64_MAX);
	found = judge(&b, false);
	assert_true(found.rule == DIFFERENCE_BITS && found.differing == 1 && found.excess > 1);
	tensor_unref(b.ours);
	b.ours = tensor_ref(c.ours);
	assert_string_equal(judge(&b, false).kind, "shape");
	tensor_unref(b.ours);
	b.ours = NULL;
	bench_close(&c);
	tensor_unref(b.theirs);
	tensor_unref(b.exact);
	tensor_unref(b.disturbed);
	allocator_destroy(b.a);
}

static void printed_numbers_are_numbers(void **state)
{
	static const struct {
		const char *ours, *theirs;
		bool same_words;
		double excess; /* at most 1: may be */
	} rows[] = {
		{ "loss 0.25000001 at step 3\n", "loss 0.25 at step 3\n", true, 1 },
		{ "loss 0.26 at step 3\n", "loss 0.25 at step 3\n", true, 1 },
		{ "loss 0.27 at step 3\n", "loss 0.25 at step 3\n", true, 100 },
		{ "loss 0.25 at step 4\n", "loss 0.25 at step 3\n", false, 0 },
		{ "x", "", false, 0 },
		{ "tensor([ 1.0000, -2.0001])", "tensor([ 1.0000, -2.0000])", true, 1 },
		{ "1.2346e-05", "1.2345e-05", true, 1 },
		{ "1.3e-05 nan", "1.2e-05 nan", true, 1 },
		{ "tensor([1.0], grad_fn=<CompiledFunctionBackward>)",
		  "tensor([1.0],\n       grad_fn=<MulBackward0>)", true, 0 },
		{ "tensor([1.0], grad_fn=<MulBackward0>)", "tensor([2.0])", true, 100 },
		{ "grad_fn=<a b>", "grad_fn=<c d>", false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct difference found;
		bool same = texts_differ_none(rows[i].ours, rows[i].theirs, &found);

		if (same != rows[i].same_words ||
		    (same && (found.excess > 1) != (rows[i].excess > 1)))
			fail_msg("%s: %d, %g", rows[i].ours, same, found.excess);
	}
}

/* ---- modes that are wrong */

static json_t *of_source(const char *body, const char *settings, bool timing)
{
	json_t *json = load("{'name': 'agree', 'seconds': 0.05, 'modes': ['eager', 'static'],"
			    " 'threads': 1, 'calls': [[{'random': {'shape': [8, 16], 'dtype':"
			    " 'float32', 'kind': 'randn', 'seed': 3}}]]}");
	json_t *more = load(settings);
	char source[2000];

	snprintf(source, sizeof(source), "import torch\nimport torch.nn.functional as F\n\n%s",
		 body);
	json_object_set_new(json, "source", json_string(source));
	json_object_update(json, more);
	json_decref(more);
	return run_whole(json, timing);
}

struct wanted {
	const char *body, *settings, *verdict, *judge, *when, *what;
};

static void check(const struct wanted *w, bool timing)
{
	json_t *report = of_source(w->body, w->settings, timing);
	json_t *a = at(report, "modes.static.agreement");
	const char *verdict = json_string_value(at(a, "verdict"));

	if (strcmp(verdict, w->verdict) != 0 ||
	    strcmp(json_string_value(at(a, "judge")), w->judge) != 0)
		fail_msg("%s: %s", w->body, json_dumps(a, 0));
	if (w->what && (strcmp(json_string_value(at(a, "where.what")), w->what) != 0 ||
			strcmp(json_string_value(at(a, "where.when")), w->when) != 0))
		fail_msg("%s: %s", w->body, json_dumps(a, 0));
	if (strcmp(verdict, "disagrees") == 0) {
		assert_true(json_is_false(at(report, "modes.static.agrees")));
		assert_non_null(json_object_get(at(report, "modes.static"), "disagreement"));
	}
	if (timing && strcmp(verdict, "disagrees") == 0) {
		json_t *even = at(report, "break_even.static");

		assert_string_equal(json_string_value(at(even, "verdict")), "DISAGREES");
		assert_true(json_is_null(at(even, "speedup")));
		assert_true(json_is_null(at(even, "calls_to_repay")));
	}
	json_decref(report);
}

#define COMPILING "torch.compiler.is_compiling()"

static void every_part_of_a_call_is_compared(void **state)
{
	static const char with_grad[] = "{'grad': true}", plain[] = "{}";
	static const struct wanted rows[] = {
		{ "def model(x):\n    return {'a': [x, x + (1e-3 if " COMPILING " else 0)]}\n",
		  plain, "disagrees", "float64", "in order", "output['a'][1]" },
		{ "def model(x):\n    x[3] += 2 if " COMPILING " else 1\n    return x.sum() * 0\n",
		  plain, "disagrees", "float64", "in order", "x after the call" },
		{ "def model(x):\n    return x.detach() * 2 + x * 0 if " COMPILING " else x * 2\n",
		  with_grad, "disagrees", "float64", "in order", "grad of x" },
		{ "def model(x):\n    print(2 if " COMPILING " else 1)\n    return x\n", plain,
		  "disagrees", "bits", "in order", "what was printed" },
		{ "class M(torch.nn.Module):\n"
		  "    def __init__(self):\n"
		  "        super().__init__()\n"
		  "        self.up = torch.nn.Linear(16, 4)\n"
		  "    def forward(self, x):\n"
		  "        w = self.up.weight\n"
		  "        return F.linear(x, w.detach() * 0.5 + w * 0.5 if " COMPILING
		  " else w, self.up.bias)\n"
		  "model = M()\n",
		  with_grad, "disagrees", "float64", "in order", "param_grad['up.weight']" },
		{ "w = torch.ones(16, requires_grad=True)\n"
		  "opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)\n"
		  "def model(x):\n"
		  "    opt.zero_grad()\n"
		  "    loss = (x * w).sum()\n"
		  "    (loss * (1.5 if " COMPILING " else 1)).backward()\n"
		  "    opt.step()\n"
		  "    return loss\n",
		  plain, "disagrees", "float64", "in order", "grad of w" },
		{ "n = torch.zeros(4)\ndef model(x):\n    n.add_(2 if " COMPILING
		  " else 1)\n    return x\n",
		  plain, "disagrees", "float64", "in order", "state n" },
		{ "def model(x):\n    return (x + 1).long() if " COMPILING " else x + 1\n", plain,
		  "disagrees", "bits", "in order", "output" },
		{ "def model(x):\n    return x * 2\n", plain, "exact", "bits", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i], false);
}

/* The backward pass of a piece gives zeros to what the result has not read, as PyTorch's. */
static void zeros_are_the_gradient_of_what_has_none(void **state)
{
#define TWO_LAYERS(forward)                                                                        \
	"class M(torch.nn.Module):\n"                                                              \
	"    def __init__(self):\n"                                                                \
	"        super().__init__()\n"                                                             \
	"        self.up = torch.nn.Linear(16, 4)\n"                                               \
	"        self.more = torch.nn.Linear(16, 4)\n"                                             \
	"    def forward(self, x):\n"                                                              \
	"        y, z = self.up(x), self.more(x)\n" forward "model = M()\n"
	static const struct wanted rows[] = {
		{ TWO_LAYERS("        if y.sum() > -1e9:\n"
			     "            return y\n"
			     "        return z\n"),
		  "{'grad': true}", "exact", "bits", NULL, NULL },
		{ TWO_LAYERS("        return y + 2 * (z if " COMPILING " else z.detach())\n"),
		  "{'grad': true}", "disagrees", "bits", "in order", "param_grad['more.weight']" },
		{ TWO_LAYERS("        return y + 2 * (z.detach() if " COMPILING " else z)\n"),
		  "{'grad': true}", "disagrees", "bits", "in order", "param_grad['more.weight']" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i], false);
}

/* The same numbers summed in another order, and what a recurrence makes of the last bit:
 * nothing is wrong, though what comes out is far apart.  Memory that is one step old is
 * wrong, though the numbers are near. */
static void a_recurrence_that_amplifies_is_no_fault(void **state)
{
	static const struct wanted rows[] = {
		{ "def model(x):\n"
		  "    s = x.flip(0).cumsum(0)[-1] if " COMPILING " else x.sum(0)\n"
		  "    h = torch.sigmoid(s)\n"
		  "    for i in range(45):\n"
		  "        h = 3.9 * h * (1 - h)\n"
		  "    return h\n",
		  "{}", "within_dtype", "float64", "in order", "output" },
		{ "def model(x):\n"
		  "    old = h = torch.sigmoid(x)\n"
		  "    for i in range(6):\n"
		  "        stale = old if " COMPILING " and i == 5 else h\n"
		  "        old = h\n"
		  "        h = 0.999 * stale + 0.0001 * x\n"
		  "    return h\n",
		  "{}", "disagrees", "float64", "in order", "output" },
		{ "def model(x):\n"
		  "    y = x.to(torch.bfloat16) * 40000\n"
		  "    y = y.view(8, 4, 4).sum(2).sum(1) if " COMPILING " else y.sum(1)\n"
		  "    return y - x.sum(1).bfloat16() * 30000\n",
		  "{}", "within_dtype", "float64", "in order", "output" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i], false);
}

/* Two sums that are one number but for their last bit, compared: either answer will do.  A
 * comparison with another number will not. */
static void choices_that_rounding_decides_are_no_fault(void **state)
{
	static const struct wanted rows[] = {
		{ "def model(x):\n"
		  "    a = (x * 100).sum(0)\n"
		  "    s = (x * 100).flip(0).cumsum(0)[-1] if " COMPILING " else a\n"
		  "    return s >= a * 1.0\n",
		  "{}", "within_dtype", "float64", "in order", "output" },
		{ "def model(x):\n    return x > (0.5 if " COMPILING " else 0.4)\n", "{}",
		  "disagrees", "bits", "in order", "output" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&rows[i], false);
}

/* Wrong from the fourth call on, and from the hundredth. */
static void calls_that_follow_each_other_are_compared(void **state)
{
	static const char program[] = "n = torch.zeros(1)\n"
				      "def model(x):\n"
				      "    n.add_(1)\n"
				      "    if %s:\n"
				      "        return x + (n > %d)\n"
				      "    return x + 0 * n\n";
	static const struct {
		int calls;
		const char *when;
	} rows[] = { { 3, "one after another" }, { 100, "after timing" } };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct wanted w = { .settings = "{}", .verdict = "disagrees", .judge = "float64" };
		char body[400];

		snprintf(body, sizeof(body), program, COMPILING, rows[i].calls);
		w.body = body;
		w.when = rows[i].when;
		w.what = "output";
		check(&w, true);
	}
}

/* Each call gives other numbers, the same in both modes. */
static void what_changes_with_each_call_is_compared_before_timing(void **state)
{
	json_t *report = of_source("def model(x):\n    return x + torch.rand(8, 16)\n", "{}", true);
	json_t *a = at(report, "modes.static.agreement");

	(void)state;
	assert_string_equal(json_string_value(at(a, "verdict")), "exact");
	assert_int_equal(json_integer_value(at(a, "calls.one_behind_another")), 1);
	assert_int_equal(json_integer_value(at(a, "calls.after_timing")), 0);
	assert_non_null(strstr(json_string_value(at(a, "not_timed")), "changes what"));
	json_decref(report);
}

/* A state that stops growing while calls are timed; in which call it stops differs by mode. */
static void what_changed_before_timing_is_not_compared_after_it(void **state)
{
	json_t *report = of_source("class C:\n"
				   "    n = 0\n"
				   "c = C()\n"
				   "def model(x):\n"
				   "    c.n = min(c.n + 1, 16)\n"
				   "    return x + c.n\n",
				   "{}", true);
	json_t *a = at(report, "modes.static.agreement");

	(void)state;
	assert_int_equal(json_integer_value(at(a, "calls.after_timing")), 0);
	assert_non_null(strstr(json_string_value(at(a, "not_timed")), "changes what"));
	json_decref(report);
}

/* A sweep has no crossover where the mode is wrong at one of its points. */
static void a_sweep_with_a_wrong_point_has_no_crossover(void **state)
{
	json_t *report = of_source(
	    "def model(x):\n"
	    "    return x + (0.01 if " COMPILING " and x.size(0) == 16 else 0)\n",
	    "{'sweep': {'input': {'arg': 0, 'dim': 0, 'sizes': [8, 16]}}}", true);

	(void)state;
	assert_string_equal(json_string_value(at(report, "break_even.static.side")), "disagrees");
	assert_true(json_is_null(at(report, "break_even.static.crossover_n")));
	assert_string_equal(json_string_value(at(report, "points.1.break_even.static.verdict")),
			    "DISAGREES");
	assert_true(json_is_number(at(report, "points.0.break_even.static.speedup")));
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaps_that_others_have_too_are_allowed),
		cmocka_unit_test(large_tensors_are_compared_where_they_lie),
		cmocka_unit_test(large_numbers_of_bfloat16_have_large_errors),
		cmocka_unit_test(infinities_and_nan_are_values),
		cmocka_unit_test(ints_and_shapes_have_no_rounding),
		cmocka_unit_test(printed_numbers_are_numbers),
		cmocka_unit_test(every_part_of_a_call_is_compared),
		cmocka_unit_test(zeros_are_the_gradient_of_what_has_none),
		cmocka_unit_test(a_recurrence_that_amplifies_is_no_fault),
		cmocka_unit_test(choices_that_rounding_decides_are_no_fault),
		cmocka_unit_test(calls_that_follow_each_other_are_compared),
		cmocka_unit_test(what_changes_with_each_call_is_compared_before_timing),
		cmocka_unit_test(what_changed_before_timing_is_not_compared_after_it),
		cmocka_unit_test(a_sweep_with_a_wrong_point_has_no_crossover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
