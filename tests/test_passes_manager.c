/* tests/test_passes_manager.c -- cse, dce, and all passes in their order. */
#include "tests/passes_help.h"

static struct pass_result run_all(struct world *w, uint64_t disabled)
{
	const struct pass_options options = { .disabled = disabled, .verify = true };
	struct pass_result result;

	if (!passes_run(w->g, &options, &result, &w->err))
		fail_msg("%s", w->err.message);
	return result;
}

static int pass_named(const char *name)
{
	for (int i = 0; i < pass_list_default()->n; i++)
		if (!strcmp(pass_list_default()->passes[i].name, name))
			return i;
	fail_msg("no pass %s", name);
	return -1;
}

static void cse_shares_equal_nodes_in_either_order(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4)), y = input(w, DTYPE_F32, SIZES(4));
	struct arg a = ADD(w, OP_add, x, y), b = ADD(w, OP_add, y, x);
	struct arg c = ADD(w, OP_sub, x, y), d = ADD(w, OP_sub, y, x);

	RETURN(w, ADD(w, OP_mul, ADD(w, OP_sin, a), ADD(w, OP_sin, b)), ADD(w, OP_mul, c, d));
	RUN_PASS(w, pass_cse);
	assert_ops(w->g, "add sub sub sin mul mul");
	assert_int_equal(w->g->nodes[w->g->outputs[0]]->args[0].node,
			 w->g->nodes[w->g->outputs[0]]->args[1].node);
}

static void cse_tells_arguments_apart(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4, 4));
	const float one[2] = { 1, 2 }, two[2] = { 1, 3 };
	const double wide[1] = { 1 };

	RETURN(w, ADD(w, OP_sum, x, number(w, 0)), ADD(w, OP_sum, x, number(w, 1)),
	       ADD(w, OP_sum, x, number(w, 1), arg_bool(true)), ADD(w, OP_mul, x, arg_float(0.0)),
	       ADD(w, OP_mul, x, arg_float(-0.0)), ADD(w, OP_mul, x, number(w, 0)),
	       ADD(w, OP_to, x, arg_dtype(DTYPE_F64)), ADD(w, OP_to, x, arg_dtype(DTYPE_I64)),
	       constant(w, DTYPE_F32, SIZES(2), one), constant(w, DTYPE_F32, SIZES(2), two),
	       constant(w, DTYPE_F32, SIZES(2, 1), one), constant(w, DTYPE_F64, SIZES(1), wide));
	RUN_PASS(w, pass_cse);
	assert_int_equal(w->g->n_nodes, 13);
}

static void cse_shares_equal_constants(void **state)
{
	struct world *w = *state;
	const float data[2] = { 1, NAN };

	RETURN(w, ADD(w, OP_add, constant(w, DTYPE_F32, SIZES(2), data),
		      constant(w, DTYPE_F32, SIZES(2), data)));
	RUN_PASS(w, pass_cse);
	assert_ops(w->g, "tensor add");
}

static void dce_drops_what_nothing_reads_but_inputs(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4)), y = input(w, DTYPE_F32, SIZES(4));
	struct arg kept = ADD(w, OP_sin, x);
	struct pass_run run = { .g = w->g };
	bool changed = false;

	ADD(w, OP_exp, ADD(w, OP_cos, y));
	RETURN(w, kept);
	assert_true(pass_dce(&run, &changed, &w->err));
	assert_true(changed);
	assert_ops(w->g, "sin");
	assert_int_equal(w->g->n_inputs, 2);
	assert_true(pass_dce(&run, &changed, &w->err));
	assert_false(changed);
}

static void the_seed_s_constant_becomes_a_number(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(-1, -2));
	const float one = 1;
	struct pass_result r;

	RETURN(w, ADD(w, OP_add, x, constant(w, DTYPE_F32, SIZES(1), &one)));
	r = run_all(w, 0);
	assert_graph(w->g, "%arg0: float32[s0, s1] = input(0)\n"
			   "%add: float32[s0, s1] = add(%arg0, 1.0)\n"
			   "return %add\n");
	assert_int_equal(r.n_groups, 1);
	assert_true(r.changed[pass_named("simplify")]);
	assert_true(r.changed[pass_named("dce")]);
	assert_false(r.changed[pass_named("decompose")]);
	assert_false(r.changed[pass_named("fold")]);
	assert_false(r.changed[pass_named("cse")]);
	assert_false(r.changed[pass_named("fuse")]);
}

static void a_block_of_ops_goes_through_all_passes(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(-1, 64)), g = input(w, DTYPE_F32, SIZES(64));
	struct arg h = ADD(w, OP_layer_norm, x, number(w, 64), g, g);
	struct pass_result r;
	int computed = 0;

	RETURN(w, ADD(w, OP_gelu, h), ADD(w, OP_pow, x, number(w, 2)));
	r = run_all(w, 0);
	assert_true(r.changed[pass_named("decompose")]);
	assert_true(r.changed[pass_named("fuse")]);
	for (int i = 0; i < w->g->n_nodes; i++) {
		assert_int_not_equal(op_info(w->g->nodes[i]->op)->kind, KIND_COMPOSITE);
		assert_in_range(r.group[i] + 1, 0, r.n_groups);
		computed += r.group[i] >= 0;
	}
	assert_true(r.n_groups < computed);
}

static void a_disabled_pass_changes_nothing_and_decompose_is_never_left_out(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4));
	struct pass_result r;

	ADD(w, OP_cos, x);
	RETURN(w, ADD(w, OP_mul, ADD(w, OP_silu, x), arg_float(1)));
	r = run_all(w, ~(uint64_t)0);
	assert_ops(w->g, "cos neg exp add truediv mul");
	for (int i = 0; i < pass_list_default()->n; i++)
		if (i != pass_named("decompose") && i != pass_named("fuse"))
			assert_false(r.changed[i]);
}

static void an_output_never_becomes_an_input(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4));

	RETURN(w, ADD(w, OP_mul, x, arg_float(1)), x, ADD(w, OP_clone, x));
	run_all(w, 0);
	assert_graph(w->g, "%arg0: float32[4] = input(0)\n"
			   "%clone_1: float32[4] = clone(%arg0)\n"
			   "%clone_2: float32[4] = clone(%arg0)\n"
			   "return %clone_1, %arg0, %clone_2\n");
}

static void outputs_that_were_two_tensors_stay_two(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4));
	struct arg a = ADD(w, OP_sin, x), b = ADD(w, OP_sin, x);

	RETURN(w, a, b, a, b);
	run_all(w, 0);
	assert_graph(w->g, "%arg0: float32[4] = input(0)\n"
			   "%sin: float32[4] = sin(%arg0)\n"
			   "%clone: float32[4] = clone(%sin)\n"
			   "return %sin, %clone, %sin, %clone\n");
}

static void a_constant_that_is_returned_is_copied(void **state)
{
	struct world *w = *state;
	const float data[2] = { 1, 2 };

	RETURN(w, ADD(w, OP_add, constant(w, DTYPE_F32, SIZES(2), data), arg_float(1)));
	run_all(w, 0);
	assert_graph(w->g, "%add: float32[2] = constant(2, 3)\n"
			   "%clone: float32[2] = clone(%add)\n"
			   "return %clone\n");
}

static void the_table_has_names_and_purposes(void **state)
{
	(void)state;
	assert_string_equal(pass_list_default()->passes[0].name, "pattern_match");
	assert_string_equal(pass_list_default()->passes[pass_list_default()->n - 1].name, "fuse");
	for (int i = 0; i < pass_list_default()->n; i++)
		assert_true(strlen(pass_list_default()->passes[i].purpose) > 10);
}

static void out_of_memory_is_said_at_every_allocation(void **state)
{
	const struct pass_options options = { .verify = true };
	bool done = false;

	(void)state;
	for (size_t spare = 0; !done; spare += 64) {
		struct world w;
		struct arg x;
		struct pass_result r;

		world_begin(&w);
		x = input(&w, DTYPE_F32, SIZES(-1, 8));
		x = ADD(&w, OP_softmax, ADD(&w, OP_pow, x, number(&w, 2)), number(&w, -1));
		RETURN(&w, x, ADD(&w, OP_mul, x, arg_float(1)));
		w.arena.limit_bytes = w.arena.used_bytes + spare;
		done = passes_run(w.g, &options, &r, &w.err);
		if (!done)
			assert_true(w.err.code == ERR_MEMORY || w.err.code == ERR_BOUND);
		world_end(&w);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(cse_shares_equal_nodes_in_either_order),
		CASE(cse_tells_arguments_apart),
		CASE(cse_shares_equal_constants),
		CASE(dce_drops_what_nothing_reads_but_inputs),
		CASE(the_seed_s_constant_becomes_a_number),
		CASE(a_block_of_ops_goes_through_all_passes),
		CASE(a_disabled_pass_changes_nothing_and_decompose_is_never_left_out),
		CASE(an_output_never_becomes_an_input),
		CASE(outputs_that_were_two_tensors_stay_two),
		CASE(a_constant_that_is_returned_is_copied),
		CASE(the_table_has_names_and_purposes),
		CASE(out_of_memory_is_said_at_every_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
