/* tests/test_graph_op.c -- the op table as data: signatures, spellings, dtypes. */
#include "tests/graph_help.h"

#include <pthread.h>

static void every_row_is_complete(void **state)
{
	(void)state;
	for (int op = 0; op < OP_COUNT; op++) {
		const struct op_info *info = op_info((enum op)op);
		bool computes = info->kind == KIND_POINTWISE || info->kind == KIND_REDUCE;

		assert_non_null(info->id);
		assert_non_null(info->fx);
		assert_true(strlen(info->doc) > 0);
		assert_int_equal(computes && op != OP_to, info->value != NULL);
		assert_int_equal(info->kind == KIND_REDUCE, info->first != NULL);
		assert_in_range(info->n_params, 0, MAX_ARGS);
	}
}

static void a_signature_becomes_parameters(void **state)
{
	const struct op_info *sum = op_info(OP_sum), *gelu = op_info(OP_gelu);

	(void)state;
	assert_int_equal(sum->n_params, 4);
	assert_string_equal(sum->params[0].name, "x");
	assert_int_equal(sum->params[0].kind, PARAM_TENSOR);
	assert_false(sum->params[0].optional);
	assert_string_equal(sum->params[1].name, "dim");
	assert_int_equal(sum->params[1].kind, PARAM_INTS);
	assert_true(sum->params[1].optional);
	assert_true(sum->params[1].nullable);
	assert_string_equal(sum->params[2].fallback, "False");
	assert_false(sum->params[2].nullable);
	assert_false(sum->params[2].keyword_only);
	assert_true(sum->params[3].keyword_only);
	assert_string_equal(gelu->params[1].fallback, "none");
	assert_int_equal(op_info(OP_mul)->params[1].kind, PARAM_TENSOR_SCALAR);
}

static void every_spelling_finds_its_own_row(void **state)
{
	char text[1024], *spelling, *rest;
	enum op found;

	(void)state;
	for (int op = 0; op < OP_COUNT; op++) {
		strcpy(text, op_info((enum op)op)->spellings);
		for (spelling = strtok_r(text, " ", &rest); spelling;
		     spelling = strtok_r(NULL, " ", &rest)) {
			if (!op_find(spelling, &found) || (int)found != op)
				fail_msg("%s is not found, or in two rows", spelling);
		}
	}
	assert_false(op_find("torch.sinn", &found));
	assert_false(op_find("", &found));
}

static void a_misspelt_name_has_a_neighbour(void **state)
{
	(void)state;
	assert_string_equal(op_nearest("torch.sinn"), "torch.sin");
	assert_string_equal(op_nearest("Tensor.sigmiod"), "Tensor.sigmoid");
	assert_string_equal(op_nearest("torch.nn.functional.geluu"), "torch.nn.functional.gelu");
	assert_null(op_nearest("torch.bartholomew"));
	assert_null(op_nearest("numpy.sin"));
	assert_null(op_nearest("torch."));
	assert_null(op_nearest("x"));
}

static void the_fx_name_is_the_spelling_s_last_word(void **state)
{
	(void)state;
	assert_string_equal(op_fx_name("torch.multiply", OP_mul), "multiply");
	assert_string_equal(op_fx_name("torch.nn.functional.relu", OP_relu), "relu");
	assert_string_equal(op_fx_name("op:/", OP_truediv), "truediv");
	assert_string_equal(op_fx_name("op:**", OP_pow), "pow");
	assert_string_equal(op_info(OP_add_alpha)->fx, "add");
	assert_string_equal(op_info(OP_sub_alpha)->fx, "sub");
}

static void *read_table(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)(op_info(OP_sum)->n_params == 4 && op_nearest("torch.sun"));
}

static void threads_may_read_the_table_at_once(void **state)
{
	pthread_t threads[8];
	void *ok;

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_table, NULL), 0);
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], &ok);
		assert_non_null(ok);
	}
}

static void dtypes_have_torch_names_and_sizes(void **state)
{
	enum dtype dtype;

	(void)state;
	assert_true(dtype_from_name("float32", &dtype));
	assert_int_equal(dtype, DTYPE_F32);
	assert_true(dtype_from_name("long", &dtype));
	assert_int_equal(dtype, DTYPE_I64);
	assert_true(dtype_from_name("double", &dtype));
	assert_int_equal(dtype, DTYPE_F64);
	assert_false(dtype_from_name("float33", &dtype));
	assert_string_equal(dtype_name(DTYPE_BOOL), "bool");
	assert_int_equal(dtype_bytes(DTYPE_BOOL), 1);
	assert_int_equal(dtype_bytes(DTYPE_I64), 8);
	assert_int_equal(dtype_category(DTYPE_F64), CATEGORY_FLOAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    threads_may_read_the_table_at_once), /* first: it fills the table */
		cmocka_unit_test(every_row_is_complete),
		cmocka_unit_test(a_signature_becomes_parameters),
		cmocka_unit_test(every_spelling_finds_its_own_row),
		cmocka_unit_test(a_misspelt_name_has_a_neighbour),
		cmocka_unit_test(the_fx_name_is_the_spelling_s_last_word),
		cmocka_unit_test(dtypes_have_torch_names_and_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
