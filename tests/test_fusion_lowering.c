/* tests/test_fusion_lowering.c -- denied ops: the same values, two counts, a break each; what is
 * a kernel of its own. */
#include "tests/engine.h"

static const char *const source = "import torch\n"
				  "import torch.nn.functional as F\n"
				  "def model(x, y):\n"
				  "    a = torch.sin(x) + y\n"
				  "    b = torch.softmax(a, dim=-1)\n"
				  "    c = b * y\n"
				  "    c += 1\n"
				  "    return c, torch.cumsum(c * 2, 0), a\n";

static struct engine open_source(const char *text, const char *backend, enum fusion_mode mode,
				 const char *const *deny, int n_deny)
{
	struct fusion_options options = { .backend = backend,
					  .cache_dir = shared_kernels(),
					  .threads = 1,
					  .deny = deny,
					  .n_deny = n_deny };
	struct err err = { 0 };
	struct engine e = { .f = fusion_create(&options, &err) };

	if (e.f)
		e.program = fusion_parse(text, strlen(text), "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%s", err.message);
	return e;
}

static struct engine open_denying(const char *backend, enum fusion_mode mode,
				  const char *const *deny, int n_deny)
{
	return open_source(source, backend, mode, deny, n_deny);
}

static void compare(struct value got, struct value want)
{
	for (int i = 0; i < want.list->len; i++) {
		const struct tensor *a = got.list->at[i].tensor->memory,
				    *b = want.list->at[i].tensor->memory;

		assert_int_equal(tensor_numel(a), tensor_numel(b));
		assert_memory_equal(tensor_data(a), tensor_data(b),
				    (size_t)tensor_numel(a) * dtype_bytes(a->dtype));
	}
	value_unref(got);
	value_unref(want);
}

static void same_values_with(const char *backend, enum fusion_mode mode, const char *const *deny,
			     int n_deny, int lowered)
{
	struct engine whole = open_denying(backend, mode, NULL, 0);
	struct engine cut = open_denying(backend, mode, deny, n_deny);

	for (int64_t n = 3; n < 6; n++) {
		struct value x = FLOATS(&whole, 1, n, 4), y = FLOATS(&whole, 2, n, 4);
		struct value u = FLOATS(&cut, 1, n, 4), v = FLOATS(&cut, 2, n, 4);

		compare(engine_call(&cut, (struct value[]){ u, v }, 2),
			engine_call(&whole, (struct value[]){ x, y }, 2));
		value_unref(x);
		value_unref(y);
		value_unref(u);
		value_unref(v);
	}
	assert_int_equal(fusion_counts(cut.session).graphs, fusion_counts(whole.session).graphs);
	assert_int_equal(fusion_counts(cut.session).lowered,
			 lowered * fusion_counts(cut.session).graphs);
	assert_int_equal(fusion_graph(cut.session, 0).n_pieces, lowered);
	assert_int_equal(fusion_graph(whole.session, 0).n_pieces, 1);
	engine_close(&whole);
	engine_close(&cut);
}

static void values_are_equal_bit_for_bit(void **state)
{
	static const char *const softmax[] = { "softmax" }, *const two[] = { "softmax", "add" },
				 *const spelt[] = { "torch.cumsum" }, *const fx[] = { "iadd" };

	(void)state;
	for (int mode = FUSION_STATIC; mode <= FUSION_DYNAMIC; mode++) {
		same_values_with("interp", (enum fusion_mode)mode, softmax, 1, 2);
		same_values_with("cpu", (enum fusion_mode)mode, softmax, 1, 2);
		same_values_with("cpu", (enum fusion_mode)mode, two, 2, 3);
		same_values_with("interp", (enum fusion_mode)mode, spelt, 1, 1);
		same_values_with("interp", (enum fusion_mode)mode, fx, 1, 2);
	}
}

static void each_fallback_is_a_break_with_its_line(void **state)
{
	static const char *const deny[] = { "softmax", "cumsum" };
	struct engine e = open_denying("interp", FUSION_STATIC, deny, 2);
	struct value x = FLOATS(&e, 1, 3, 4), y = FLOATS(&e, 2, 3, 4);
	struct fusion_break b;

	(void)state;
	for (int i = 0; i < 3; i++)
		value_unref(engine_call(&e, (struct value[]){ x, y }, 2));
	assert_int_equal(fusion_counts(e.session).n_breaks, 2);
	b = fusion_break(e.session, 0);
	assert_string_equal(b.stage, "lowering");
	assert_string_equal(b.kind, "denied-op");
	assert_string_equal(b.outcome, "fallback");
	assert_int_equal(b.n_stack, 1);
	assert_int_equal(b.stack[0].line, 5);
	assert_string_equal(b.subject, "softmax");
	assert_non_null(b.hint);
	assert_int_equal(fusion_break(e.session, 1).stack[0].line, 8);
	assert_int_equal(fusion_counts(e.session).graphs, 1);
	assert_int_equal(fusion_counts(e.session).lowered, 2);
	value_unref(x);
	value_unref(y);
	engine_close(&e);
}

/* How many kernels of the first graph are of this name. */
static int kernels_named(const struct engine *e, const char *name)
{
	struct fusion_graph_info info = fusion_graph(e->session, 0);
	int n = 0;

	for (int k = 0; k < info.n_kernels; k++)
		n += strcmp(fusion_kernel(&info, k).name, name) == 0;
	return n;
}

/* Without any denial: a search for order is a call between two pieces. */
static void sort_and_topk_lie_between_pieces(void **state)
{
	static const char *const text = "import torch\n"
					"def model(x):\n"
					"    y = torch.sin(x) * 2\n"
					"    v, i = torch.sort(y, dim=0)\n"
					"    t = torch.topk(y, 2, dim=0)\n"
					"    return v + 1, i, t[0] * 2, t[1]\n";
	struct engine e = open_source(text, "cpu", FUSION_STATIC, NULL, 0);
	struct engine eager = open_source(text, "cpu", FUSION_EAGER, NULL, 0);
	struct value x = FLOATS(&e, 1, 5, 4), u = FLOATS(&eager, 1, 5, 4);

	(void)state;
	compare(engine_call(&e, &x, 1), engine_call(&eager, &u, 1));
	assert_int_equal(fusion_counts(e.session).graphs, 1);
	assert_int_equal(fusion_counts(e.session).lowered, 2);
	assert_int_equal(fusion_counts(e.session).n_breaks, 2);
	assert_string_equal(fusion_break(e.session, 0).kind, "unsupported-op");
	assert_string_equal(fusion_break(e.session, 0).subject, "sort");
	assert_int_equal(fusion_break(e.session, 0).stack[0].line, 4);
	assert_int_equal(fusion_break(e.session, 1).stack[0].line, 5);
	/* Values and indices of the same elements are one search. */
	assert_int_equal(kernels_named(&e, "library_argsort"), 1);
	assert_int_equal(kernels_named(&e, "library_sort"), 0);
	assert_int_equal(kernels_named(&e, "library_topk_indices"), 1);
	assert_int_equal(kernels_named(&e, "library_topk_values"), 0);
	value_unref(x);
	value_unref(u);
	engine_close(&e);
	engine_close(&eager);
}

/* A view that leaves the graph is written in its order by the kernel that computes it. */
static void a_view_that_leaves_is_no_kernel_of_its_own(void **state)
{
	static const char *const programs[] = {
		"import torch\n"
		"def model(x, y):\n"
		"    return (x.t() * y + 1.0,)\n",
		"import torch\n"
		"def model(x, y):\n"
		"    return (((x - x * x) / 2).permute(1, 0).contiguous(),)\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		struct engine e = open_source(programs[i], "cpu", FUSION_STATIC, NULL, 0);
		struct engine eager = open_source(programs[i], "cpu", FUSION_EAGER, NULL, 0);
		struct value args[] = { FLOATS(&e, 1, 9, 6), FLOATS(&e, 2, 6, 9) };
		struct value same[] = { FLOATS(&eager, 1, 9, 6), FLOATS(&eager, 2, 6, 9) };
		struct value got = engine_call(&e, args, 2), want = engine_call(&eager, same, 2);

		compare(got, want);
		assert_int_equal(fusion_graph(e.session, 0).n_kernels, 1);
		for (int k = 0; k < 2; k++) {
			value_unref(args[k]);
			value_unref(same[k]);
		}
		engine_close(&e);
		engine_close(&eager);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_equal_bit_for_bit),
		cmocka_unit_test(sort_and_topk_lie_between_pieces),
		cmocka_unit_test(a_view_that_leaves_is_no_kernel_of_its_own),
		cmocka_unit_test(each_fallback_is_a_break_with_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
