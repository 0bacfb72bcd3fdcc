/* tests/test_fusion_capture.c -- entries: graphs, guards, recompiles, effects.
 *
 * Counts and texts are what a report shows, so they are compared exactly; the
 * counts are PyTorch's (tests/oracle/cases.json).
 */
#include "tests/engine.h"

static const char MEAN[] = "import torch\n"
			   "def model(x):\n"
			   "    return x.mean(dim=1)\n";
static const char RELU[] = "import torch\n"
			   "def model(x):\n"
			   "    return torch.relu(x) * 2\n";
static const char ADD[] = "import torch\n"
			  "def model(x, y):\n"
			  "    return x + y\n";

/* Calls with a fresh [a, b] tensor; how many graphs that captured. */
static int graphs_for(struct engine *e, int64_t a, int64_t b)
{
	int before = fusion_counts(e->session).n_graphs;
	struct value x = FLOATS(e, 1, a, b), out = engine_call(e, &x, 1);

	value_unref(out);
	value_unref(x);
	return fusion_counts(e->session).n_graphs - before;
}

static int graphs_for_two(struct engine *e, int64_t a, int64_t b, int64_t c, int64_t d)
{
	int before = fusion_counts(e->session).n_graphs;
	struct value in[2] = { FLOATS(e, 1, a, b), FLOATS(e, 2, c, d) };
	struct value out = engine_call(e, in, 2);

	engine_near(out, 0, engine_at(in[0], 0) + engine_at(in[1], 0));
	value_unref(out);
	engine_drop(in, 2);
	return fusion_counts(e->session).n_graphs - before;
}

static void static_mode_compiles_each_size_again(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC, MEAN);

	(void)state;
	assert_int_equal(graphs_for(&e, 4, 7), 1);
	assert_int_equal(graphs_for(&e, 4, 9), 1);
	assert_int_equal(graphs_for(&e, 6, 11), 1);
	assert_int_equal(graphs_for(&e, 4, 7), 0);
	assert_int_equal(fusion_graph(e.session, 0).n_placeholders, 1);
	engine_close(&e);
}

static void dynamic_mode_compiles_sizes_once(void **state)
{
	struct engine e = engine_open("interp", FUSION_DYNAMIC, MEAN);

	(void)state;
	assert_int_equal(graphs_for(&e, 4, 7), 1);
	assert_int_equal(graphs_for(&e, 4, 9), 0);
	assert_int_equal(graphs_for(&e, 6, 11), 0);
	assert_int_equal(fusion_graph(e.session, 0).n_placeholders, 3);
	engine_close(&e);
}

static void dynamic_mode_specialises_sizes_zero_and_one(void **state)
{
	struct engine e = engine_open("interp", FUSION_DYNAMIC, RELU);

	(void)state;
	assert_int_equal(graphs_for(&e, 4, 16), 1);
	assert_int_equal(graphs_for(&e, 1, 16), 1);
	assert_int_equal(graphs_for(&e, 5, 16), 0);
	assert_int_equal(graphs_for(&e, 0, 16), 1);
	assert_int_equal(graphs_for(&e, 6, 17), 0);
	engine_close(&e);
}

static void broadcast_sizes_follow_the_oracle(void **state)
{
	struct engine e = engine_open("interp", FUSION_DYNAMIC, ADD);
	const int placeholders[] = { 4, 4, 4 };

	(void)state;
	assert_int_equal(graphs_for_two(&e, 4, 8, 4, 8), 1);
	assert_int_equal(graphs_for_two(&e, 1, 8, 4, 8), 1);
	assert_int_equal(graphs_for_two(&e, 5, 8, 5, 8), 0);
	assert_int_equal(graphs_for_two(&e, 5, 1, 5, 8), 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fusion_graph(e.session, i).n_placeholders, placeholders[i]);
	engine_close(&e);
}

static int graphs_for_rank(struct engine *e, int rank)
{
	int before = fusion_counts(e->session).n_graphs;
	struct value x = engine_floats(e, rank, (int64_t[]){ 4, 4, 4 }, 1);
	struct value out = engine_call(e, &x, 1);

	value_unref(out);
	value_unref(x);
	return fusion_counts(e->session).n_graphs - before;
}

static void a_change_of_rank_gives_each_dim_its_own_symbol(void **state)
{
	struct engine e = engine_open("interp", FUSION_DYNAMIC,
				      "import torch\n"
				      "def model(x):\n"
				      "    return x.sum(-1) + 1\n");

	(void)state;
	assert_int_equal(graphs_for_rank(&e, 1), 1);
	assert_int_equal(graphs_for_rank(&e, 2), 1);
	assert_int_equal(graphs_for_rank(&e, 3), 1);
	assert_int_equal(graphs_for_rank(&e, 1), 0);
	assert_int_equal(fusion_graph(e.session, 0).n_placeholders, 2);
	assert_int_equal(fusion_graph(e.session, 1).n_placeholders, 3);
	assert_int_equal(fusion_graph(e.session, 2).n_placeholders, 4);
	engine_close(&e);
}

static void a_size_that_meets_a_constant_is_specialised(void **state)
{
	struct engine e = engine_open("interp", FUSION_DYNAMIC,
				      "import torch\n"
				      "import torch.nn.functional as F\n"
				      "def model(x, g):\n"
				      "    return F.layer_norm(x, (64,), g)\n");
	struct value in[2] = { FLOATS(&e, 1, 7, 64), FLOATS(&e, 2, 64) };
	struct value out = engine_call(&e, in, 2);

	(void)state;
	assert_int_equal(fusion_graph(e.session, 0).n_placeholders, 3);
	value_unref(out);
	engine_drop(in, 2);
	engine_close(&e);
}

static void assert_guards(struct engine *e, const char *const *want, int n)
{
	struct fusion_graph_info info = fusion_graph(e->session, 0);

	assert_int_equal(info.n_guards, n);
	for (int i = 0; i < n; i++)
		assert_string_equal(info.guards[i], want[i]);
}

static void static_guards_name_sizes_and_dtype(void **state)
{
	const char *const want[] = { "x is a Tensor",
				     "x.dim() == 2",
				     "x.size(0) == 8",
				     "x.size(1) == 16",
				     "x.dtype == float32",
				     "x.is_contiguous()",
				     "torch is the module torch",
				     "torch.is_grad_enabled() is True" };
	struct engine e = engine_open("interp", FUSION_STATIC, RELU);

	(void)state;
	graphs_for(&e, 8, 16);
	assert_guards(&e, want, 8);
	engine_close(&e);
}

static void dynamic_guards_name_bounds_and_equal_sizes(void **state)
{
	const char *const want[] = { "x is a Tensor",
				     "y is a Tensor",
				     "x.dim() == 2",
				     "y.dim() == 2",
				     "2 <= x.size(0)",
				     "2 <= x.size(1)",
				     "y.size(0) == x.size(0)",
				     "y.size(1) == x.size(1)",
				     "x.dtype == float32",
				     "x.is_contiguous()",
				     "y.dtype == float32",
				     "y.is_contiguous()",
				     "x is not y",
				     "torch.is_grad_enabled() is True" };
	struct engine e = engine_open("interp", FUSION_DYNAMIC, ADD);

	(void)state;
	graphs_for_two(&e, 4, 8, 4, 8);
	assert_guards(&e, want, 14);
	engine_close(&e);
}

static void a_recompile_says_what_is_and_what_was(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC, RELU);

	(void)state;
	graphs_for(&e, 4, 16);
	graphs_for(&e, 5, 16);
	assert_int_equal(fusion_counts(e.session).n_recompiles, 1);
	assert_string_equal(fusion_recompile(e.session, 0).reason, "x.size(0) is 5, was 4");
	assert_string_equal(fusion_recompile(e.session, 0).frame, "model");
	assert_int_equal(fusion_recompile(e.session, 0).call, 1);
	engine_close(&e);
}

static void past_the_limit_calls_run_in_eager(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC, RELU);

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(graphs_for(&e, 2 + i, 4), 1);
	assert_int_equal(fusion_counts(e.session).eager_fallbacks, 0);
	assert_int_equal(graphs_for(&e, 20, 4), 0);
	assert_int_equal(graphs_for(&e, 21, 4), 0);
	assert_int_equal(fusion_counts(e.session).eager_fallbacks, 2);
	assert_int_equal(graphs_for(&e, 2, 4), 0);
	assert_int_equal(fusion_counts(e.session).eager_fallbacks, 2);
	engine_close(&e);
}

static void the_entry_used_last_is_tried_first(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC, RELU);
	int64_t checks;

	(void)state;
	graphs_for(&e, 4, 4);
	graphs_for(&e, 5, 4);
	graphs_for(&e, 6, 4);
	graphs_for(&e, 4, 4);
	checks = fusion_counts(e.session).guard_checks;
	graphs_for(&e, 4, 4);
	assert_int_equal(fusion_counts(e.session).guard_checks, checks + 1);
	engine_close(&e);
}

static void plain_arguments_are_burned_in_and_guarded(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC,
				      "import torch\n"
				      "def model(x, k):\n"
				      "    return x * k\n");
	const struct value scalars[] = { value_int(2), value_int(3), value_float(3), value_int(2) };
	const int graphs[] = { 1, 2, 3, 3 };
	struct value in[2] = { FLOATS(&e, 1, 4), value_none() }, out;

	(void)state;
	for (int i = 0; i < 4; i++) {
		in[1] = scalars[i];
		out = engine_call(&e, in, 2);
		engine_near(out, 1, engine_at(in[0], 1) * (i == 1 || i == 2 ? 3 : 2));
		assert_int_equal(fusion_counts(e.session).n_graphs, graphs[i]);
		value_unref(out);
	}
	assert_string_equal(fusion_recompile(e.session, 0).reason, "k is 3, was 2");
	assert_string_equal(fusion_recompile(e.session, 1).reason,
			    "0/1: k is a float, was an int; 0/0: k is a float, was an int");
	value_unref(in[0]);
	engine_close(&e);
}

static struct value config(const char *act, struct value gain)
{
	struct value dict = value_dict(), key = value_str("act", 3),
		     text = value_str(act, strlen(act));

	value_dict_set(dict.dict, key, text);
	value_unref(key);
	value_unref(text);
	key = value_str("gain", 4);
	value_dict_set(dict.dict, key, gain);
	value_unref(key);
	return dict;
}

static void containers_are_guarded_by_structure_and_content(void **state)
{
	struct engine e = engine_open("interp", FUSION_DYNAMIC,
				      "import torch\n"
				      "def model(xs, cfg):\n"
				      "    y = xs[0] + xs[1] * cfg['gain']\n"
				      "    if cfg['act'] == 'relu':\n"
				      "        y = torch.relu(y)\n"
				      "    return {'y': y, 'n': len(xs)}\n");
	struct value parts[2] = { FLOATS(&e, 1, 6), FLOATS(&e, 2, 6) };
	struct value in[2] = { value_list(parts, 2), config("relu", parts[1]) }, out, y, key;

	(void)state;
	for (int i = 0; i < 2; i++) {
		out = engine_call(&e, in, 2);
		assert_int_equal(out.kind, VALUE_DICT);
		key = value_str("y", 1);
		assert_true(value_dict_get(out.dict, key, &y));
		value_unref(key);
		engine_near(y, 3, fmax(engine_at(parts[0], 3) + pow(engine_at(parts[1], 3), 2), 0));
		assert_int_equal(fusion_counts(e.session).n_graphs, 1);
		value_unref(out);
	}
	value_unref(in[1]);
	in[1] = config("none", parts[1]);
	value_unref(engine_call(&e, in, 2));
	assert_int_equal(fusion_counts(e.session).n_graphs, 2);
	assert_string_equal(fusion_recompile(e.session, 0).reason,
			    "cfg['act'] is 'none', was 'relu'");
	engine_drop(in, 2);
	engine_drop(parts, 2);
	engine_close(&e);
}

static void a_branch_on_a_size_is_a_guard(void **state)
{
	struct engine e = engine_open("interp", FUSION_DYNAMIC,
				      "import torch\n"
				      "def model(x):\n"
				      "    if x.dim() == 2 and x.shape[0] > 5:\n"
				      "        return x.sum(0)\n"
				      "    return x * 2\n");
	const struct fusion_graph_info *info;
	struct fusion_graph_info first;

	(void)state;
	assert_int_equal(graphs_for(&e, 8, 3), 1);
	assert_int_equal(graphs_for(&e, 9, 3), 0);
	assert_int_equal(graphs_for(&e, 4, 3), 1);
	assert_int_equal(graphs_for(&e, 5, 7), 0);
	assert_int_equal(graphs_for(&e, 6, 7), 0);
	first = fusion_graph(e.session, 0);
	info = &first;
	assert_string_equal(info->guards[info->n_guards - 2], "x.size(0) > 5");
	assert_string_equal(fusion_recompile(e.session, 0).reason,
			    "x.size(0) > 5 no longer holds: x.size(0) is 4, was 8");
	engine_close(&e);
}

static void sizes_compute_symbolically(void **state)
{
	struct engine e = engine_open("interp", FUSION_DYNAMIC,
				      "import torch\n"
				      "def model(x):\n"
				      "    n = x.shape[0] * 2 + x.size(1) // 2\n"
				      "    return x.sum() / x.numel() * n, n\n");
	const int64_t sizes[][2] = { { 4, 6 }, { 5, 9 } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		int64_t rows = sizes[i][0], columns = sizes[i][1], n = rows * 2 + columns / 2;
		struct value x = FLOATS(&e, 1, rows, columns), out = engine_call(&e, &x, 1);
		double sum = 0;

		for (int64_t k = 0; k < rows * columns; k++)
			sum += engine_at(x, k);
		engine_near(out.list->at[0], 0, sum / (double)(rows * columns) * (double)n);
		assert_int_equal(out.list->at[1].i, n);
		value_unref(out);
		value_unref(x);
	}
	assert_int_equal(fusion_counts(e.session).n_graphs, 1);
	engine_close(&e);
}

/* Both inputs and the result after `x += 1; x *= y; return x`. */
static void mutate(enum fusion_mode mode, bool same)
{
	struct engine e = engine_open("interp", mode,
				      "import torch\n"
				      "def model(x, y):\n"
				      "    z = x\n"
				      "    x += 1\n"
				      "    z *= y\n"
				      "    return x, x + 0\n");
	struct value in[2] = { FLOATS(&e, 1, 5), FLOATS(&e, 2, 5) }, out;

	if (same) {
		value_unref(in[1]);
		in[1] = value_ref(in[0]);
	}
	for (int call = 0; call < 2; call++) {
		double x = engine_at(in[0], 2) + 1, y = same ? x : engine_at(in[1], 2);

		out = engine_call(&e, in, 2);
		engine_near(in[0], 2, x * y);
		engine_near(out.list->at[1], 2, x * y);
		assert_ptr_equal(out.list->at[0].tensor->memory, in[0].tensor->memory);
		value_unref(out);
	}
	engine_drop(in, 2);
	engine_close(&e);
}

static void in_place_operators_write_to_the_argument(void **state)
{
	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++)
		mutate((enum fusion_mode)mode, false);
}

static void an_argument_given_twice_is_one_tensor(void **state)
{
	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++)
		mutate((enum fusion_mode)mode, true);
}

static void the_same_tensor_twice_is_one_placeholder_with_a_guard(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC, ADD);
	struct value x = FLOATS(&e, 1, 4), y = FLOATS(&e, 2, 4), out;

	(void)state;
	out = engine_call(&e, (struct value[]){ x, x }, 2);
	engine_near(out, 1, 2 * engine_at(x, 1));
	value_unref(out);
	assert_int_equal(fusion_graph(e.session, 0).n_placeholders, 1);
	out = engine_call(&e, (struct value[]){ x, y }, 2);
	engine_near(out, 1, engine_at(x, 1) + engine_at(y, 1));
	value_unref(out);
	assert_string_equal(fusion_recompile(e.session, 0).reason,
			    "y is another tensor than x, was the same");
	value_unref(x);
	value_unref(y);
	engine_close(&e);
}

static void results_share_no_memory_unless_they_are_one_object(void **state)
{
	struct engine e = engine_open(
	    "interp", FUSION_STATIC,
	    "import torch\n"
	    "def model(x):\n"
	    "    a = x + 1\n"
	    "    return a, a, x + 1, x, x * 1, torch.tensor([1.0, 2.0])\n");
	struct value x = FLOATS(&e, 1, 2), out, *at;

	(void)state;
	for (int call = 0; call < 2; call++) {
		out = engine_call(&e, &x, 1);
		at = out.list->at;
		assert_ptr_equal(at[0].tensor, at[1].tensor);
		assert_ptr_not_equal(at[0].tensor->memory->storage, at[2].tensor->memory->storage);
		assert_ptr_equal(at[3].tensor, x.tensor);
		assert_ptr_not_equal(at[4].tensor->memory->storage, x.tensor->memory->storage);
		engine_near(at[2], 1, engine_at(x, 1) + 1);
		engine_near(at[4], 1, engine_at(x, 1));
		engine_near(at[5], 1, 2);
		((float *)tensor_data(at[5].tensor->memory))[1] = 7; /* is not the constant's */
		value_unref(out);
	}
	value_unref(x);
	engine_close(&e);
}

static void a_function_without_ops_makes_no_graph(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC, "def model(x):\n    return x, 3\n");
	struct value x = FLOATS(&e, 1, 4), out = engine_call(&e, &x, 1);

	(void)state;
	assert_ptr_equal(out.list->at[0].tensor, x.tensor);
	assert_int_equal(out.list->at[1].i, 3);
	assert_int_equal(fusion_counts(e.session).n_graphs, 0);
	value_unref(out);
	value_unref(x);
	engine_close(&e);
}

static void an_argument_that_is_not_looked_at_may_change(void **state)
{
	struct engine e = engine_open("interp", FUSION_DYNAMIC,
				      "def model(u, x):\n"
				      "    return x + 1\n");

	(void)state;
	for (int64_t n = 4; n < 7; n++) {
		struct value in[2] = { FLOATS(&e, 1, n), FLOATS(&e, 2, 4) };

		value_unref(engine_call(&e, in, 2));
		engine_drop(in, 2);
	}
	assert_int_equal(fusion_counts(e.session).n_graphs, 1);
	assert_int_equal(fusion_graph(e.session, 0).n_placeholders, 2);
	engine_close(&e);
}

static void a_tensor_of_the_module_is_an_input_of_the_graph(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC,
				      "import torch\n"
				      "W = torch.tensor([1.0, 2.0, 3.0])\n"
				      "def model(x):\n"
				      "    return x * W, W\n");
	struct value x = FLOATS(&e, 1, 3), out;

	(void)state;
	for (int call = 0; call < 2; call++) {
		out = engine_call(&e, &x, 1);
		engine_near(out.list->at[0], 2, engine_at(x, 2) * 3);
		engine_near(out.list->at[1], 2, 3);
		value_unref(out);
	}
	assert_int_equal(fusion_graph(e.session, 0).n_placeholders, 2);
	value_unref(x);
	engine_close(&e);
}

static void no_cast_gives_the_tensor_itself(void **state)
{
	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = engine_open("interp", (enum fusion_mode)mode,
					      "import torch\n"
					      "def model(x):\n"
					      "    y = x.float()\n"
					      "    z = x.to(dtype=torch.float32)\n"
					      "    y += 1\n"
					      "    z += 1\n"
					      "    return x.double()\n");
		struct value x = FLOATS(&e, 1, 3);
		double before = engine_at(x, 1);
		struct value out = engine_call(&e, &x, 1);

		engine_near(x, 1, before + 2);
		engine_near(out, 1, before + 2);
		assert_int_equal(out.tensor->memory->dtype, DTYPE_F64);
		value_unref(out);
		value_unref(x);
		engine_close(&e);
	}
}

static void dtypes_promote_alike_in_every_mode(void **state)
{
	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = engine_open(
		    "interp", (enum fusion_mode)mode,
		    "import torch\n"
		    "def model(x, i):\n"
		    "    return x + i * 2, i / 2, (i > 1).float().sum(), i.sum()\n");
		struct value in[2] = { FLOATS(&e, 1, 4),
				       engine_tensor(&e, DTYPE_I64, 1, (int64_t[]){ 4 }) };
		struct value out, *at;

		for (int k = 0; k < 4; k++)
			((int64_t *)tensor_data(in[1].tensor->memory))[k] = k;
		out = engine_call(&e, in, 2);
		at = out.list->at;
		assert_int_equal(at[0].tensor->memory->dtype, DTYPE_F32);
		assert_int_equal(at[1].tensor->memory->dtype, DTYPE_F32);
		assert_int_equal(at[3].tensor->memory->dtype, DTYPE_I64);
		engine_near(at[0], 3, engine_at(in[0], 3) + 6);
		engine_near(at[1], 3, 1.5);
		engine_near(at[2], 0, 2);
		engine_near(at[3], 0, 6);
		value_unref(out);
		engine_drop(in, 2);
		engine_close(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(static_mode_compiles_each_size_again),
		cmocka_unit_test(dynamic_mode_compiles_sizes_once),
		cmocka_unit_test(dynamic_mode_specialises_sizes_zero_and_one),
		cmocka_unit_test(broadcast_sizes_follow_the_oracle),
		cmocka_unit_test(a_change_of_rank_gives_each_dim_its_own_symbol),
		cmocka_unit_test(a_size_that_meets_a_constant_is_specialised),
		cmocka_unit_test(static_guards_name_sizes_and_dtype),
		cmocka_unit_test(dynamic_guards_name_bounds_and_equal_sizes),
		cmocka_unit_test(a_recompile_says_what_is_and_what_was),
		cmocka_unit_test(past_the_limit_calls_run_in_eager),
		cmocka_unit_test(the_entry_used_last_is_tried_first),
		cmocka_unit_test(plain_arguments_are_burned_in_and_guarded),
		cmocka_unit_test(containers_are_guarded_by_structure_and_content),
		cmocka_unit_test(a_branch_on_a_size_is_a_guard),
		cmocka_unit_test(sizes_compute_symbolically),
		cmocka_unit_test(in_place_operators_write_to_the_argument),
		cmocka_unit_test(an_argument_given_twice_is_one_tensor),
		cmocka_unit_test(the_same_tensor_twice_is_one_placeholder_with_a_guard),
		cmocka_unit_test(results_share_no_memory_unless_they_are_one_object),
		cmocka_unit_test(a_function_without_ops_makes_no_graph),
		cmocka_unit_test(an_argument_that_is_not_looked_at_may_change),
		cmocka_unit_test(a_tensor_of_the_module_is_an_input_of_the_graph),
		cmocka_unit_test(no_cast_gives_the_tensor_itself),
		cmocka_unit_test(dtypes_promote_alike_in_every_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
