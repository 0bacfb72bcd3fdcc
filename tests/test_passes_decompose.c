/* tests/test_passes_decompose.c -- composite ops against their definitions.
 *
 * The definitions are computed in double; 1e-6 relative is the bound.
 */
#include "tests/passes_help.h"

enum { ROWS = 4, COLS = 8, ALL = ROWS * COLS };

static float data[ALL], weight[COLS], bias[COLS];
static const void *const inputs[] = { data, weight, bias };

static int begin(void **state)
{
	for (int i = 0; i < ALL; i++)
		data[i] = (float)(sin(i * 1.7) * 3 + 0.25);
	for (int i = 0; i < COLS; i++) {
		weight[i] = (float)(1 + 0.1 * i);
		bias[i] = (float)(0.5 - 0.2 * i);
	}
	return world_setup(state);
}

/* Values of a float32 or float64 node as doubles, after decompose. */
static void values(struct world *w, struct arg x, double *out)
{
	const struct node *n = w->g->nodes[x.node];
	int64_t count = element_count(n);
	enum dtype dtype = n->dtype;
	union element e;
	void *raw;

	RETURN(w, x);
	RUN_PASS(w, pass_decompose);
	for (int i = 0; i < w->g->n_nodes; i++)
		assert_int_not_equal(op_info(w->g->nodes[i]->op)->kind, KIND_COMPOSITE);
	raw = values_of(w, 0, inputs);
	for (int64_t i = 0; i < count; i++) {
		element_convert(DTYPE_F64, &e, dtype, raw, i);
		out[i] = e.f64;
	}
	free(raw);
	world_end(w);
	world_begin(w);
}

static struct arg matrix(struct world *w)
{
	return input(w, DTYPE_F32, SIZES(ROWS, COLS));
}

static double mean_of_row(int r)
{
	double sum = 0;

	for (int c = 0; c < COLS; c++)
		sum += (double)data[r * COLS + c];
	return sum / COLS;
}

static double squares_of_row(int r, double centre)
{
	double sum = 0;

	for (int c = 0; c < COLS; c++)
		sum += pow((double)data[r * COLS + c] - centre, 2);
	return sum;
}

static void mean_is_the_sum_over_the_count(void **state)
{
	struct world *w = *state;
	double got[ALL];

	values(w, ADD(w, OP_mean, matrix(w), number(w, 1)), got);
	for (int r = 0; r < ROWS; r++)
		assert_near(got[r], mean_of_row(r), 1e-6);
	values(w, ADD(w, OP_mean, matrix(w), arg_none(), arg_bool(false), arg_dtype(DTYPE_F64)),
	       got);
	assert_near(got[0], (mean_of_row(0) + mean_of_row(1) + mean_of_row(2) + mean_of_row(3)) / 4,
		    1e-12);
}

static void var_and_std_know_unbiased_and_correction(void **state)
{
	static const double wanted[] = { 1, 1, 0, 0, 3, 2.5, COLS, COLS + 5 };
	struct world *w = *state;
	double got[ALL];

	for (int k = 0; k < 8; k++) {
		const struct arg none = arg_none();
		const struct arg unbiased = k == 1   ? arg_bool(true)
					    : k == 2 ? arg_bool(false)
						     : none;
		const struct arg correction = k < 3    ? none
					      : k == 5 ? arg_float(wanted[k])
						       : number(w, (int64_t)wanted[k]);

		values(
		    w,
		    ADD(w, OP_var, matrix(w), number(w, 1), unbiased, arg_bool(false), correction),
		    got);
		for (int r = 0; r < ROWS; r++)
			assert_near(got[r],
				    squares_of_row(r, mean_of_row(r)) / fmax(0, COLS - wanted[k]),
				    1e-6);
	}
	values(w, ADD(w, OP_std, matrix(w), number(w, -1)), got);
	assert_near(got[2], sqrt(squares_of_row(2, mean_of_row(2)) / (COLS - 1)), 1e-6);
}

static void norms_of_every_order(void **state)
{
	static const double orders[] = { 2, 1, 0, 3, 2.5, INFINITY, -INFINITY };
	struct world *w = *state;
	double got[ALL];

	for (int k = 0; k < 7; k++) {
		values(w, ADD(w, OP_norm, matrix(w), arg_float(orders[k]), number(w, 1)), got);
		for (int r = 0; r < ROWS; r++) {
			double sum = 0, most = 0, least = INFINITY;

			for (int c = 0; c < COLS; c++) {
				double x = fabs((double)data[r * COLS + c]);

				sum += orders[k] == 0 ? x != 0 : pow(x, orders[k]);
				most = fmax(most, x);
				least = fmin(least, x);
			}
			assert_near(got[r],
				    isinf(orders[k]) ? (orders[k] > 0 ? most : least)
				    : orders[k] == 0 ? sum
						     : pow(sum, 1 / orders[k]),
				    2e-6);
		}
	}
}

static void softmax_sums_to_one_and_does_not_overflow(void **state)
{
	struct world *w = *state;
	double got[ALL], logs[ALL], sum;

	data[3] = 1000; /* exp() of it is inf */
	values(w, ADD(w, OP_softmax, matrix(w), number(w, 1)), got);
	values(w, ADD(w, OP_log_softmax, matrix(w), number(w, 1)), logs);
	for (int r = 0; r < ROWS; r++) {
		double most = -INFINITY, below = 0;

		sum = 0;
		for (int c = 0; c < COLS; c++)
			most = fmax(most, (double)data[r * COLS + c]);
		for (int c = 0; c < COLS; c++)
			below += exp((double)data[r * COLS + c] - most);
		for (int c = 0; c < COLS; c++) {
			double log_p = (double)data[r * COLS + c] - most - log(below);

			sum += got[r * COLS + c];
			assert_near(got[r * COLS + c], exp(log_p), 1e-6);
			assert_near(logs[r * COLS + c], log_p, 1e-6);
		}
		assert_near(sum, 1, 1e-6);
	}
}

static void softmax_of_nothing_is_nothing(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(3, 0));

	RETURN(w, ADD(w, OP_softmax, x, number(w, 1)), ADD(w, OP_log_softmax, x, number(w, 1)));
	RUN_PASS(w, pass_decompose);
	assert_ops(w->g, "");
}

static void layer_norm_has_mean_zero_and_variance_one(void **state)
{
	struct world *w = *state;
	double got[ALL], plain[ALL];
	struct arg x = matrix(w), g = input(w, DTYPE_F32, SIZES(COLS));
	struct arg b = input(w, DTYPE_F32, SIZES(COLS));

	values(w, ADD(w, OP_layer_norm, x, number(w, COLS), g, b), got);
	values(w, ADD(w, OP_layer_norm, matrix(w), number(w, COLS)), plain);
	for (int i = 0; i < ALL; i++) {
		double mean = mean_of_row(i / COLS);
		double want = ((double)data[i] - mean) /
			      sqrt(squares_of_row(i / COLS, mean) / COLS + 1e-5);

		assert_near(plain[i], want, 1e-6);
		assert_near(got[i], want * (double)weight[i % COLS] + (double)bias[i % COLS], 1e-6);
	}
}

static void layer_norm_over_two_dims_counts_both(void **state)
{
	struct world *w = *state;
	double got[ALL], mean = 0, squares = 0;

	values(w, ADD(w, OP_layer_norm, matrix(w), ints(w, SIZES(ROWS, COLS))), got);
	for (int i = 0; i < ALL; i++)
		mean += (double)data[i] / ALL;
	for (int i = 0; i < ALL; i++)
		squares += pow((double)data[i] - mean, 2);
	for (int i = 0; i < ALL; i++)
		assert_near(got[i], ((double)data[i] - mean) / sqrt(squares / ALL + 1e-5), 1e-6);
}

static void rms_norm_scales_by_the_root_of_the_mean_square(void **state)
{
	struct world *w = *state;
	double got[ALL];
	struct arg x = matrix(w), g = input(w, DTYPE_F32, SIZES(COLS));

	values(w, ADD(w, OP_rms_norm, x, number(w, COLS), g), got);
	for (int i = 0; i < ALL; i++)
		assert_near(got[i],
			    (double)data[i] * (double)weight[i % COLS] /
				sqrt(squares_of_row(i / COLS, 0) / COLS + 0x1p-23),
			    1e-6);
}

static void activations_match_their_formulas(void **state)
{
	struct world *w = *state;
	double erf_form[ALL], tanh_form[ALL], silu[ALL];

	values(w, ADD(w, OP_gelu, matrix(w)), erf_form);
	values(w, ADD(w, OP_gelu, matrix(w), arg_str("tanh")), tanh_form);
	values(w, ADD(w, OP_silu, matrix(w)), silu);
	for (int i = 0; i < ALL; i++) {
		double x = (double)data[i];

		assert_near(erf_form[i], x * 0.5 * (1 + erf(x * M_SQRT1_2)), 1e-6);
		assert_near(tanh_form[i],
			    0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))),
			    1e-6);
		assert_near(silu[i], x / (1 + exp(-x)), 1e-6);
	}
}

static void clamp_holds_and_keeps_nan(void **state)
{
	struct world *w = *state;
	double both[ALL], low[ALL];

	data[5] = NAN;
	values(w, ADD(w, OP_clamp, matrix(w), arg_float(-0.5), arg_float(0.5)), both);
	values(w, ADD(w, OP_clamp, matrix(w), number(w, 0)), low);
	for (int i = 0; i < ALL; i++) {
		double x = (double)data[i];

		assert_near(both[i], isnan(x) ? NAN : fmin(fmax(x, -0.5), 0.5), 0);
		assert_near(low[i], isnan(x) ? NAN : fmax(x, 0), 0);
	}
}

static void clamp_of_ints_by_a_float_is_a_float(void **state)
{
	struct world *w = *state;
	const int64_t k[3] = { -3, 0, 9 };
	double got[3];

	values(w,
	       ADD(w, OP_clamp, constant(w, DTYPE_I64, SIZES(3), k), number(w, -1), arg_float(2.5)),
	       got);
	assert_near(got[0], -1, 0);
	assert_near(got[1], 0, 0);
	assert_near(got[2], 2.5, 0);
}

static void largest_smallest_and_alpha(void **state)
{
	struct world *w = *state;
	double most = -INFINITY, least = INFINITY, got[ALL];
	struct arg x;

	for (int i = 0; i < ALL; i++) {
		most = fmax(most, (double)data[i]);
		least = fmin(least, (double)data[i]);
	}
	values(w, ADD(w, OP_max, matrix(w)), got);
	assert_near(got[0], most, 0);
	values(w, ADD(w, OP_min, matrix(w)), got);
	assert_near(got[0], least, 0);
	x = matrix(w);
	values(w, ADD(w, OP_add_alpha, x, x, arg_float(0.5)), got);
	assert_near(got[7], (double)(data[7] + 0.5f * data[7]), 1e-6);
	values(w, ADD(w, OP_sub_alpha, matrix(w), arg_float(3), number(w, 2)), got);
	assert_near(got[7], (double)(data[7] - 6), 1e-6);
	values(w, ADD(w, OP_sub_alpha, number(w, 1), matrix(w), number(w, 2)), got);
	assert_near(got[7], (double)(1 - 2 * data[7]), 1e-6);
}

static void symbolic_counts_stand_as_int_operands(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(-1, 16));

	RETURN(w, ADD(w, OP_var, x));
	RUN_PASS(w, pass_decompose);
	assert_graph(w->g, "%arg0: float32[s0, 16] = input(0)\n"
			   "%sum: float32[1, 1] = sum(%arg0, keepdim=True)\n"
			   "%truediv: float32[1, 1] = truediv(%sum, 16*s0)\n"
			   "%sub: float32[s0, 16] = sub(%arg0, %truediv)\n"
			   "%square: float32[s0, 16] = square(%sub)\n"
			   "%sum_1: float32[] = sum(%square)\n"
			   "%var: float32[] = truediv(%sum_1, 16*s0 - 1)\n"
			   "return %var\n");
}

static void every_composite_expands_on_symbolic_sizes(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F64, SIZES(-1, -2)), none = arg_none();
	struct arg size = arg_sym(size_of(w, -2)), half = arg_float(0.5);

	RETURN(w, ADD(w, OP_mean, x, number(w, 0)),
	       ADD(w, OP_var, x, none, none, arg_bool(true), half), ADD(w, OP_std, x, number(w, 1)),
	       ADD(w, OP_norm, x), ADD(w, OP_max, x), ADD(w, OP_min, x),
	       ADD(w, OP_softmax, x, number(w, 1)), ADD(w, OP_log_softmax, x, number(w, 0)),
	       ADD(w, OP_layer_norm, x, size), ADD(w, OP_rms_norm, x, size), ADD(w, OP_gelu, x),
	       ADD(w, OP_silu, x), ADD(w, OP_clamp, x, half), ADD(w, OP_zeros_like, x),
	       ADD(w, OP_add_alpha, x, size, half), ADD(w, OP_sub_alpha, x, x, half));
	RUN_PASS(w, pass_decompose);
	for (int i = 0; i < w->g->n_nodes; i++)
		assert_int_not_equal(op_info(w->g->nodes[i]->op)->kind, KIND_COMPOSITE);
}

/* How many products a GPU makes of one over so many terms, of an input's rows or of computed ones;
 * *terms: of the last of them. */
static int products_of(struct world *w, int terms_of, bool computed, int64_t *terms)
{
	struct arg x = input(w, DTYPE_BF16, SIZES(1024, terms_of));
	struct arg y = input(w, DTYPE_BF16, SIZES(terms_of, 512));
	int count = 0;

	w->g->calls = true;
	RETURN(w, ADD(w, OP_matmul, computed ? ADD(w, OP_relu, x) : x, y));
	RUN_PASS(w, pass_decompose);
	for (int i = 0; i < w->g->n_nodes; i++) {
		const struct node *n = w->g->nodes[i];

		if (n->op != OP_matmul)
			continue;
		*terms = w->g->nodes[n->args[0].node]->shape.size[1]->value;
		count++;
	}
	world_end(w);
	world_begin(w);
	return count;
}

static void an_odd_sum_on_a_gpu_is_an_even_one_and_the_rest(void **state)
{
	int64_t terms = 0;

	assert_int_equal(products_of(*state, 1027, true, &terms), 2);
	assert_int_equal(terms, 1024);
	assert_int_equal(products_of(*state, 1024, true, &terms), 1);
	assert_int_equal(terms, 1024);
	assert_int_equal(products_of(*state, 1027, false, &terms), 1);
	assert_int_equal(products_of(*state, 37, true, &terms), 1);
}

/* The weight of a layer is an input, whose rows begin anywhere: even ones are a copy's.  What it
 * adds is added once, and columns that are odd too are made even. */
static void odd_rows_of_a_weight_are_copied(void **state)
{
	struct world *w = *state;
	struct arg x = ADD(w, OP_relu, input(w, DTYPE_BF16, SIZES(2048, 1027)));
	int copies = 0, biased = 0, products = 0;

	w->g->calls = true;
	RETURN(w, ADD(w, OP_biased, x, input(w, DTYPE_BF16, SIZES(515, 1027)),
		      input(w, DTYPE_BF16, SIZES(515))));
	RUN_PASS(w, pass_decompose);
	for (int i = 0; i < w->g->n_nodes; i++) {
		const struct node *n = w->g->nodes[i];
		const struct shape *of = n->n_args > 1 && n->args[1].kind == ARG_NODE
					     ? &w->g->nodes[n->args[1].node]->shape
					     : NULL;

		copies += n->op == OP_cat;
		if (n->op == OP_biased && of->size[1]->value == 3)
			biased++;
		if (n->op == OP_matmul_nt && of->size[0]->value == 520 &&
		    of->size[1]->value == 1024)
			products++;
	}
	assert_int_equal(copies, 2); /* of the bias, and of the weight in both dims */
	assert_int_equal(biased, 1);
	assert_int_equal(products, 1);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(mean_is_the_sum_over_the_count),
		CASE(var_and_std_know_unbiased_and_correction),
		CASE(norms_of_every_order),
		CASE(softmax_sums_to_one_and_does_not_overflow),
		CASE(softmax_of_nothing_is_nothing),
		CASE(layer_norm_has_mean_zero_and_variance_one),
		CASE(layer_norm_over_two_dims_counts_both),
		CASE(rms_norm_scales_by_the_root_of_the_mean_square),
		CASE(activations_match_their_formulas),
		CASE(clamp_holds_and_keeps_nan),
		CASE(clamp_of_ints_by_a_float_is_a_float),
		CASE(largest_smallest_and_alpha),
		CASE(symbolic_counts_stand_as_int_operands),
		CASE(every_composite_expands_on_symbolic_sizes),
		CASE(an_odd_sum_on_a_gpu_is_an_even_one_and_the_rest),
		CASE(odd_rows_of_a_weight_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
