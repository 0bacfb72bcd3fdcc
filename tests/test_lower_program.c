/* tests/test_lower_program.c -- tile programs mean what their graphs mean.
 *
 * Each graph is one kernel, lowered and run by the reference of
 * lower_reference.h, and its values are compared with a formula.
 */
#include "tests/graph_builder.h"
#include "tests/lower_reference.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Every node that computes in kernel 0. */
static const struct lowered *lower_all(struct builder *b)
{
	int group[64];
	struct err err = { 0 };

	assert_true(b->g->n_nodes <= (int)N_OF(group));
	for (int id = 0; id < b->g->n_nodes; id++) {
		enum op_kind kind = op_info(b->g->nodes[id]->op)->kind;
		bool computes = kind == KIND_POINTWISE || kind == KIND_REDUCE ||
				kind == KIND_LIBRARY;
		group[id] = computes ? 0 : -1;
	}
	const struct lowered *l = lower_graph(b->g, group, NULL, false, b->arena, &err);
	if (!l)
		fail_msg("%s", err.message);
	return l;
}

static void fill(float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		x[i] = ref_sample(i);
}

static void assert_text(const struct lowered *l, const char *want)
{
	struct buf text = { 0 };
	lower_print(&text, l);
	assert_string_equal(text.data, want);
	buf_finish(&text);
}

static void a_chain_over_a_contiguous_input_is_one_flat_map(void **state)
{
	struct builder b = builder_create();
	float x[24], y[24];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, SYM(&b, 4), NUM(&b, 6));
	int add = ADD(&b, OP_add, T(in), F(0.5));
	RETURN(&b, ADD(&b, OP_sin, T(add)));
	const struct lowered *l = lower_all(&b);
	assert_text(l, "%0 = input 0 arg0: float32[s0, 6]\n"
		       "%1 = output 0 sin: float32[s0, 6]\n"
		       "kernel 0 fused_add_sin: map [6*s0]\n"
		       "  setup\n"
		       "    u1 = float32 0.5\n"
		       "  stage 0\n"
		       "    p0 = float32 load arg0[i0]\n"
		       "    p2 = float32 add p0, u1\n"
		       "    p3 = float32 sin p2\n"
		       "    store sin[i0] = p3\n"
		       "return %1\n");
	fill(x, 24);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y });
	for (int i = 0; i < 24; i++)
		assert_near(y[i], sin(x[i] + 0.5), 1e-6);
	builder_destroy(&b);
}

static void a_kernel_has_the_lines_of_its_nodes_each_once(void **state)
{
	struct builder b = builder_create();

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 6));
	int add = ADD(&b, OP_add, T(in), F(0.5)), sin = ADD(&b, OP_sin, T(add));
	int made = ADD(&b, OP_mul, T(sin), F(2));
	RETURN(&b, ADD(&b, OP_relu, T(made)));
	b.g->nodes[in]->line = 1;
	b.g->nodes[add]->line = 7;
	b.g->nodes[sin]->line = 3;
	b.g->nodes[made]->line = 0; /* nowhere */
	b.g->nodes[made + 1]->line = 7;
	const struct kernel *k = &lower_all(&b)->kernels[0];
	assert_int_equal(k->n_lines, 2);
	assert_int_equal(k->lines[0], 7);
	assert_int_equal(k->lines[1], 3);
	builder_destroy(&b);
}

static void a_broadcast_operand_keeps_the_dims_apart(void **state)
{
	struct builder b = builder_create();
	float x[15], bias[5], y[15];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, SYM(&b, 3), SYM(&b, 5));
	int add = INPUT(&b, DTYPE_F32, b.g->nodes[in]->shape.size[1]);
	RETURN(&b, ADD(&b, OP_add, T(in), T(add)));
	const struct lowered *l = lower_all(&b);
	assert_int_equal(l->kernels[0].n_dims, 2);
	fill(x, 15);
	fill(bias, 5);
	ref_execute(l, b.vars, (const void *[]){ x, bias }, (void *[]){ y });
	for (int i = 0; i < 15; i++)
		assert_near(y[i], x[i] + bias[i % 5], 1e-6);
	builder_destroy(&b);
}

/* softmax over dim `dim` of [4, 6, 5], keepdim or not by `squeeze`. */
static void softmax(int dim, enum kernel_form form)
{
	struct builder b = builder_create();
	float x[120], y[120];
	int size[3] = { 4, 6, 5 };

	int in = INPUT(&b, DTYPE_F32, SYM(&b, 4), SYM(&b, 6), SYM(&b, 5));
	int m = ADD(&b, OP_amax, T(in), DIM(&b, dim), arg_bool(true));
	int e = ADD(&b, OP_exp, T(ADD(&b, OP_sub, T(in), T(m))));
	int s = ADD(&b, OP_sum, T(e), DIM(&b, dim), arg_bool(true));
	RETURN(&b, ADD(&b, OP_truediv, T(e), T(s)));
	const struct lowered *l = lower_all(&b);
	assert_int_equal(l->kernels[0].form, form);
	assert_int_equal(l->kernels[0].n_stages, 3);
	assert_int_equal(l->kernels[0].n_slots, 1); /* exp is kept, x - m is not needed again */
	fill(x, 120);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y });

	int stride = dim == 2 ? 1 : dim == 1 ? 5 : 30, n = size[dim];
	for (int i = 0; i < 120; i++) {
		int first = i - i / stride % n * stride;
		double sum = 0;
		for (int j = 0; j < n; j++)
			sum += exp(x[first + j * stride]);
		assert_near(y[i], exp(x[i]) / sum, 2e-6);
	}
	builder_destroy(&b);
}

static void softmax_over_the_last_dim_walks_rows(void **state)
{
	(void)state;
	softmax(2, FORM_ROWS);
}

static void softmax_over_an_earlier_dim_takes_columns_as_vector_axis(void **state)
{
	(void)state;
	softmax(1, FORM_COLS);
	softmax(0, FORM_COLS);
}

static void a_squeezed_row_value_and_its_consumers_share_the_kernel(void **state)
{
	struct builder b = builder_create();
	float x[16], w[4], y[4];

	(void)state;
	/* [4, 4], so that a shape alone does not say which dim is meant. */
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 4));
	int weight = INPUT(&b, DTYPE_F32, NUM(&b, 4));
	int shift = ADD(&b, OP_add, T(weight), F(1));
	int sum = ADD(&b, OP_sum, T(in), DIM(&b, 1));
	RETURN(&b, ADD(&b, OP_mul, T(sum), T(shift)));
	const struct lowered *l = lower_all(&b);
	assert_int_equal(l->kernels[0].n_stages, 1);
	fill(x, 16);
	fill(w, 4);
	ref_execute(l, b.vars, (const void *[]){ x, w }, (void *[]){ y });
	for (int i = 0; i < 4; i++) {
		double s = x[4 * i] + x[4 * i + 1] + x[4 * i + 2] + x[4 * i + 3];
		assert_near(y[i], s * (w[i] + 1), 1e-6);
	}
	builder_destroy(&b);
}

static void a_mean_divides_by_a_symbolic_size(void **state)
{
	struct builder b = builder_create();
	float x[21], y[3];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, SYM(&b, 3), SYM(&b, 7));
	int sum = ADD(&b, OP_sum, T(in), DIM(&b, 1));
	RETURN(&b, ADD(&b, OP_truediv, T(sum), arg_sym(b.g->nodes[in]->shape.size[1])));
	const struct lowered *l = lower_all(&b);
	fill(x, 21);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y });
	for (int i = 0; i < 3; i++) {
		double sum_of_row = 0;
		for (int j = 0; j < 7; j++)
			sum_of_row += x[7 * i + j];
		assert_near(y[i], sum_of_row / 7, 1e-6);
	}
	builder_destroy(&b);
}

static void reductions_of_nothing_give_the_first_value(void **state)
{
	struct builder b = builder_create();
	float y[4] = { 9, 9, 9, 9 }, mean[1];
	uint8_t all[1] = { 9 };

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 0), NUM(&b, 4));
	int sum = ADD(&b, OP_sum, T(in), DIM(&b, 0));
	RETURN(&b, sum);
	ref_execute(lower_all(&b), b.vars, (const void *[]){ NULL }, (void *[]){ y });
	for (int i = 0; i < 4; i++)
		assert_true(y[i] == 0);
	builder_destroy(&b);

	b = builder_create();
	in = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 0));
	int total = ADD(&b, OP_sum, T(in));
	RETURN(&b, ADD(&b, OP_truediv, T(total), I(&b, 0)), ADD(&b, OP_all, T(in)));
	ref_execute(lower_all(&b), b.vars, (const void *[]){ NULL }, (void *[]){ mean, all });
	assert_true(isnan(mean[0]));
	assert_int_equal(all[0], 1);
	builder_destroy(&b);
}

static void tensors_without_dims_are_one_point(void **state)
{
	struct builder b = builder_create();
	float x = 0.5f, y, total;

	(void)state;
	int in = INPUT(&b, DTYPE_F32);
	int e = ADD(&b, OP_exp, T(in));
	RETURN(&b, e, ADD(&b, OP_sum, T(e)));
	const struct lowered *l = lower_all(&b);
	assert_int_equal(l->kernels[0].form, FORM_MAP);
	assert_int_equal(l->kernels[0].n_dims, 0);
	ref_execute(l, b.vars, (const void *[]){ &x }, (void *[]){ &y, &total });
	assert_near(y, exp(0.5), 1e-6);
	assert_true(total == y);
	builder_destroy(&b);
}

static void a_reduction_over_dims_of_size_one_only_casts(void **state)
{
	struct builder b = builder_create();
	uint8_t x[3] = { 1, 0, 1 };
	int64_t y[3];

	(void)state;
	int in = INPUT(&b, DTYPE_BOOL, NUM(&b, 3), NUM(&b, 1));
	RETURN(&b, ADD(&b, OP_sum, T(in), DIM(&b, 1)));
	const struct lowered *l = lower_all(&b);
	assert_int_equal(l->kernels[0].form, FORM_MAP);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y });
	for (int i = 0; i < 3; i++)
		assert_int_equal(y[i], x[i]);
	builder_destroy(&b);
}

static void operands_are_cast_to_the_compute_dtype(void **state)
{
	struct builder b = builder_create();
	int64_t x[3] = { -2, 0, 5 }, sum[1];
	float half[3];
	uint8_t less[3], both[3], more[3];

	(void)state;
	int in = INPUT(&b, DTYPE_I64, NUM(&b, 3));
	int lt = ADD(&b, OP_lt, T(in), F(0.5));
	int nonzero = ADD(&b, OP_logical_and, T(in), T(lt));
	RETURN(&b, ADD(&b, OP_truediv, T(in), I(&b, 2)), lt, nonzero,
	       ADD(&b, OP_add, T(lt), T(nonzero)), ADD(&b, OP_sum, T(lt)));
	ref_execute(lower_all(&b), b.vars, (const void *[]){ x },
		    (void *[]){ half, less, both, more, sum });
	for (int i = 0; i < 3; i++) {
		assert_true(half[i] == (float)x[i] / 2);
		assert_int_equal(less[i], x[i] < 0.5);
		assert_int_equal(both[i], x[i] != 0 && x[i] < 0.5);
		assert_int_equal(more[i], less[i] || both[i]); /* bool + bool is a bool */
	}
	assert_int_equal(sum[0], 2);
	builder_destroy(&b);
}

static void where_takes_its_mask_as_it_is(void **state)
{
	struct builder b = builder_create();
	float x[6], y[6], z[6];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 6));
	int gt = ADD(&b, OP_gt, T(in), I(&b, 0));
	int cast = ADD(&b, OP_to, T(gt), arg_dtype(DTYPE_F32));
	RETURN(&b, ADD(&b, OP_where, T(gt), T(in), F(-1)), cast);
	fill(x, 6);
	ref_execute(lower_all(&b), b.vars, (const void *[]){ x }, (void *[]){ y, z });
	for (int i = 0; i < 6; i++) {
		assert_true(y[i] == (x[i] > 0 ? x[i] : -1));
		assert_true(z[i] == (x[i] > 0));
	}
	builder_destroy(&b);
}

static void constants_of_one_element_are_immediates_and_others_have_memory(void **state)
{
	struct builder b = builder_create();
	float x[2] = { 1, 2 }, y[2];
	struct shape one = { .rank = 1, .size = { NUM(&b, 1) } };
	struct shape two = { .rank = 1, .size = { NUM(&b, 2) } };

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 2));
	int c = graph_constant(b.g, DTYPE_F32, &one, (const float[]){ 10 });
	int d = graph_constant(b.g, DTYPE_F32, &two, (const float[]){ 100, 200 });
	int zeros = ADD(&b, OP_full, DIMS(&b, NUM(&b, 2)), I(&b, 3));
	int sum = ADD(&b, OP_add, T(ADD(&b, OP_add, T(in), T(c))), T(d));
	RETURN(&b, ADD(&b, OP_add, T(sum), T(zeros)));
	const struct lowered *l = lower_all(&b);
	int constants = 0;
	for (int i = 0; i < l->n_buffers; i++)
		constants += l->buffers[i].kind == BUFFER_CONST;
	assert_int_equal(constants, 1);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y });
	assert_true(y[0] == 114 && y[1] == 215);
	builder_destroy(&b);
}

static void an_output_may_be_an_input_a_constant_or_stand_twice(void **state)
{
	struct builder b = builder_create();
	struct shape two = { .rank = 1, .size = { NUM(&b, 2) } };

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 2));
	int c = graph_constant(b.g, DTYPE_F32, &two, (const float[]){ 100, 200 });
	int neg = ADD(&b, OP_neg, T(in));
	RETURN(&b, neg, in, c, neg);
	const struct lowered *l = lower_all(&b);
	assert_int_equal(l->n_outputs, 4);
	assert_int_equal(l->buffers[l->outputs[0]].kind, BUFFER_OUTPUT);
	assert_int_equal(l->buffers[l->outputs[1]].kind, BUFFER_INPUT);
	assert_int_equal(l->buffers[l->outputs[2]].kind, BUFFER_CONST);
	assert_int_equal(l->outputs[3], l->outputs[0]);
	builder_destroy(&b);
}

static void a_graph_without_ops_has_no_kernels(void **state)
{
	struct builder b = builder_create();

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 2));
	RETURN(&b, in);
	assert_int_equal(lower_all(&b)->n_kernels, 0);
	builder_destroy(&b);
}

static void strided_inputs_are_read_by_their_strides(void **state)
{
	struct builder b = builder_create();
	float x[12], y[12];
	const struct sym *stride[2] = { NUM(&b, 1), NUM(&b, 3) };
	struct shape shape = { .rank = 2, .size = { NUM(&b, 3), NUM(&b, 4) } };

	(void)state;
	int in = graph_input(b.g, DTYPE_F32, &shape, stride); /* a transposed [4, 3] */
	RETURN(&b, ADD(&b, OP_neg, T(in)));
	fill(x, 12);
	ref_execute(lower_all(&b), b.vars, (const void *[]){ x }, (void *[]){ y });
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 4; j++)
			assert_true(y[4 * i + j] == -x[3 * j + i]);
	builder_destroy(&b);
}

static void many_short_rows_are_walked_by_columns(void **state)
{
	struct builder b = builder_create();
	float x[300], y[100];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, SYM(&b, 100), SYM(&b, 3));
	RETURN(&b, ADD(&b, OP_amax, T(in), DIM(&b, -1)));
	const struct lowered *l = lower_all(&b);
	assert_int_equal(l->kernels[0].form, FORM_COLS);
	fill(x, 300);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ y });
	for (int i = 0; i < 100; i++)
		assert_true(y[i] == fmaxf(x[3 * i], fmaxf(x[3 * i + 1], x[3 * i + 2])));
	builder_destroy(&b);
}

static void a_stored_value_is_loaded_again_where_a_later_stage_needs_it(void **state)
{
	struct builder b = builder_create();
	float x[10], e[10], y[10];

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 10));
	int ex = ADD(&b, OP_exp, T(in));
	int sum = ADD(&b, OP_sum, T(ex));
	RETURN(&b, ex, ADD(&b, OP_truediv, T(ex), T(sum)));
	const struct lowered *l = lower_all(&b);
	assert_int_equal(l->kernels[0].n_slots, 0);
	assert_int_equal(l->kernels[0].n_stages, 2);
	fill(x, 10);
	ref_execute(l, b.vars, (const void *[]){ x }, (void *[]){ e, y });
	double total = 0;
	for (int i = 0; i < 10; i++)
		total += exp(x[i]);
	for (int i = 0; i < 10; i++) {
		assert_near(e[i], exp(x[i]), 1e-6);
		assert_near(y[i], exp(x[i]) / total, 1e-6);
	}
	builder_destroy(&b);
}

static void a_group_without_a_common_space_is_refused(void **state)
{
	struct builder b = builder_create();
	int group[8] = { -1, 0, 0, 0 };
	struct err err = { 0 };

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 2), NUM(&b, 3));
	int rows = ADD(&b, OP_sum, T(in), DIM(&b, 1));
	int columns = ADD(&b, OP_sum, T(in), DIM(&b, 0));
	RETURN(&b, rows, columns);
	assert_null(lower_graph(b.g, group, NULL, false, b.arena, &err));
	assert_int_equal(err.code, ERR_INTERNAL);
	builder_destroy(&b);
}

static void rows_walk_stage_by_stage_and_keep_what_is_costly(void **state)
{
	struct builder b = builder_create();

	(void)state;
	int in = INPUT(&b, DTYPE_F32, SYM(&b, 4), SYM(&b, 50));
	int bias = INPUT(&b, DTYPE_F32, b.g->nodes[in]->shape.size[0], NUM(&b, 1));
	int e = ADD(&b, OP_exp, T(ADD(&b, OP_sub, T(in), T(bias))));
	int s = ADD(&b, OP_sum, T(e), DIM(&b, 1), arg_bool(true));
	RETURN(&b, ADD(&b, OP_truediv, T(e), T(s)), s);
	assert_text(lower_all(&b), "%0 = input 0 arg0: float32[s0, s1]\n"
				   "%1 = input 1 arg1: float32[s0, 1]\n"
				   "%2 = output 0 truediv: float32[s0, s1]\n"
				   "%3 = output 1 sum: float32[s0, 1]\n"
				   "kernel 0 fused_sub_exp_sum_truediv: rows [s0 | s1]\n"
				   "  prologue\n"
				   "    r1 = float32 load arg1[i0]\n"
				   "  stage 0\n"
				   "    p0 = float32 load arg0[i0*s1 + i1]\n"
				   "    p2 = float32 sub p0, r1\n"
				   "    p3 = float32 exp p2\n"
				   "    save slot 0 = p3\n"
				   "    r4 = float32 reduce sum p3\n"
				   "  post 0\n"
				   "    store sum[i0] = r4\n"
				   "  stage 1\n"
				   "    p5 = float32 restore slot 0\n"
				   "    p6 = float32 truediv p5, r4\n"
				   "    store truediv[i0*s1 + i1] = p6\n"
				   "return %2, %3\n");
	builder_destroy(&b);
}

static void a_result_arena_that_is_too_small_is_an_error_not_a_crash(void **state)
{
	struct builder b = builder_create();
	bool done = false;

	(void)state;
	int in = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 50));
	int s = ADD(&b, OP_sum, T(ADD(&b, OP_sin, T(in))), DIM(&b, 1), arg_bool(true));
	RETURN(&b, ADD(&b, OP_truediv, T(in), T(s)));
	const int group[] = { -1, 0, 0, 0 };
	for (size_t limit = 16; !done; limit += 16) {
		struct arena arena;
		struct err err = { 0 };
		arena_init(&arena, limit);
		done = lower_graph(b.g, group, NULL, false, &arena, &err) != NULL;
		assert_int_equal(err.code, done ? ERR_NONE : ERR_MEMORY);
		arena_finish(&arena);
	}
	builder_destroy(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_over_a_contiguous_input_is_one_flat_map),
		cmocka_unit_test(a_kernel_has_the_lines_of_its_nodes_each_once),
		cmocka_unit_test(a_broadcast_operand_keeps_the_dims_apart),
		cmocka_unit_test(softmax_over_the_last_dim_walks_rows),
		cmocka_unit_test(softmax_over_an_earlier_dim_takes_columns_as_vector_axis),
		cmocka_unit_test(a_squeezed_row_value_and_its_consumers_share_the_kernel),
		cmocka_unit_test(a_mean_divides_by_a_symbolic_size),
		cmocka_unit_test(reductions_of_nothing_give_the_first_value),
		cmocka_unit_test(tensors_without_dims_are_one_point),
		cmocka_unit_test(a_reduction_over_dims_of_size_one_only_casts),
		cmocka_unit_test(operands_are_cast_to_the_compute_dtype),
		cmocka_unit_test(where_takes_its_mask_as_it_is),
		cmocka_unit_test(constants_of_one_element_are_immediates_and_others_have_memory),
		cmocka_unit_test(an_output_may_be_an_input_a_constant_or_stand_twice),
		cmocka_unit_test(a_graph_without_ops_has_no_kernels),
		cmocka_unit_test(strided_inputs_are_read_by_their_strides),
		cmocka_unit_test(many_short_rows_are_walked_by_columns),
		cmocka_unit_test(a_stored_value_is_loaded_again_where_a_later_stage_needs_it),
		cmocka_unit_test(a_group_without_a_common_space_is_refused),
		cmocka_unit_test(rows_walk_stage_by_stage_and_keep_what_is_costly),
		cmocka_unit_test(a_result_arena_that_is_too_small_is_an_error_not_a_crash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
