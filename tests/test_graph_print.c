/* tests/test_graph_print.c -- building, printing, copying and verifying graphs. */
#include "tests/graph_help.h"

#include <math.h>

/* x of [s0, 16] and a program over it that shows every kind of argument. */
static void build(struct world *w)
{
	struct arg x = input(w, DTYPE_F32, SIZES(-1, 16)), y, z;
	const float data[3] = { 1, 2.5, -0.1f };
	int id;

	assert_true(graph_set_name(w->g, x.node, "x"));
	id = graph_add(w->g, &(struct node_spec){ OP_mul, ARGS(x, arg_float(1.1)), 4, 9 }, &w->err);
	y = ADD(w, OP_sum, arg_node(id), ints(w, SIZES(-1)), arg_bool(true), arg_dtype(DTYPE_F64));
	z = ADD(w, OP_add, y, arg_sym(size_of(w, -1)));
	z = ADD(w, OP_add, z, arg_float(2));
	y = ADD(w, OP_gelu, x, arg_str("tanh"));
	y = ADD(w, OP_layer_norm, y, number(w, 16), arg_none(), arg_none(), arg_float(1e-6));
	RETURN(w, z, y, z, constant(w, DTYPE_F32, SIZES(3), data));
}

static void a_graph_prints_one_line_a_node(void **state)
{
	struct world *w = *state;

	build(w);
	assert_graph(w->g,
		     "%x: float32[s0, 16] = input(0)\n"
		     "%mul: float32[s0, 16] = mul(%x, 1.1)  # line 4\n"
		     "%sum: float64[s0, 1] = sum(%mul, dim=(-1,), keepdim=True, dtype=float64)\n"
		     "%add: float64[s0, 1] = add(%sum, s0)\n"
		     "%add_1: float64[s0, 1] = add(%add, 2.0)\n"
		     "%gelu: float32[s0, 16] = gelu(%x, approximate='tanh')\n"
		     "%layer_norm: float32[s0, 16] = layer_norm(%gelu, normalized_shape=(16,), "
		     "eps=1e-06)\n"
		     "%tensor: float32[3] = tensor(1, 2.5, -0.100000001)\n"
		     "return %add_1, %layer_norm, %add_1, %tensor\n");
}

static void special_numbers_and_strides_print_too(void **state)
{
	struct world *w = *state;
	const struct sym *stride[2] = { size_of(w, 1), size_of(w, 2) };
	const int64_t many[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	const uint8_t bools[2] = { 1, 0 };
	struct shape s = shape_of(w, SIZES(2, 3));
	struct arg x = arg_node(graph_input(w->g, DTYPE_F64, &s, stride));

	x = ADD(w, OP_mul, x, arg_float(-INFINITY));
	x = ADD(w, OP_where, constant(w, DTYPE_BOOL, SIZES(2, 1), bools), x, arg_float(NAN));
	RETURN(w, x, constant(w, DTYPE_I64, SIZES(10), many), ADD(w, OP_logical_not, x));
	assert_graph(w->g, "%arg0: float64[2, 3] = input(0, strides=[1, 2])\n"
			   "%mul: float64[2, 3] = mul(%arg0, -inf)\n"
			   "%tensor: bool[2, 1] = tensor(True, False)\n"
			   "%where: float64[2, 3] = where(%tensor, %mul, nan)\n"
			   "%tensor_1: int64[10] = tensor(0, 1, 2, 3, 4, 5, 6, 7, ...)\n"
			   "%logical_not: bool[2, 3] = logical_not(%where)\n"
			   "return %where, %tensor_1, %logical_not\n");
}

static void names_stay_unique_whatever_the_inputs_are_called(void **state)
{
	struct world *w = *state;
	static const char *const names[] = { "add", "add_1", "arg7", "x", "x", "x1" };
	static const char *const want[] = { "add_", "add_1_", "arg7_", "x", "x_", "x1" };

	for (int i = 0; i < 6; i++) {
		struct arg x = input(w, DTYPE_F32, SIZES(2));

		assert_true(graph_set_name(w->g, x.node, names[i]));
		assert_string_equal(w->g->nodes[x.node]->name, want[i]);
	}
}

static void a_copy_is_equal_and_independent(void **state)
{
	struct world *w = *state;
	struct arena arena = { 0 };
	struct graph *copy;
	struct buf text;

	build(w);
	copy = graph_copy(w->g, &arena);
	assert_non_null(copy);
	buf_init(&text, 0);
	graph_print(&text, w->g);
	world_end(w); /* the copy must not need it */
	assert_true(graph_verify(copy, &w->err));
	assert_graph(copy, text.data);
	assert_int_equal(sym_var_hint(copy->syms, 0), 8);
	buf_finish(&text);
	arena_finish(&arena);
	world_begin(w);
}

static void the_fx_name_can_be_the_user_s(void **state)
{
	struct world *w = *state;
	struct arg x = ADD(w, OP_mul, input(w, DTYPE_F32, SIZES(2)), arg_float(2));

	assert_string_equal(w->g->nodes[x.node]->fx, "mul");
	assert_true(graph_set_fx(w->g, x.node, "multiply"));
	assert_string_equal(w->g->nodes[x.node]->fx, "multiply");
}

static void assert_broken(struct world *w, const char *part)
{
	struct err err = { 0 };

	assert_false(graph_verify(w->g, &err));
	assert_int_equal(err.code, ERR_INTERNAL);
	if (!strstr(err.message, part))
		fail_msg("no \"%s\" in \"%s\"", part, err.message);
}

static void the_verifier_finds_what_is_broken(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(2, 3)), y = ADD(w, OP_sin, x);
	struct arg z = ADD(w, OP_add, y, x), c = constant(w, DTYPE_F32, SIZES(1), (float[]){ 1 });
	struct node *sin = w->g->nodes[y.node], *add = w->g->nodes[z.node];
	const struct sym *size = sin->shape.size[0];
	const void *data = w->g->nodes[c.node]->data;

	assert_broken(w, "no outputs");
	RETURN(w, z);
	sin->dtype = DTYPE_F64;
	assert_broken(w, "node 1 (sin): its dtype");
	sin->dtype = DTYPE_F32;
	sin->compute = DTYPE_I64;
	assert_broken(w, "its dtype");
	sin->compute = DTYPE_F32;
	sin->shape.size[0] = size_of(w, 5);
	assert_broken(w, "its shape");
	sin->shape.size[0] = size;
	sin->args[0].node = z.node;
	assert_broken(w, "does not come before its use");
	sin->args[0].node = x.node;
	add->args[1] = arg_str("x");
	assert_broken(w, "`other` is a str");
	add->args[1] = x;
	add->n_args = 1;
	assert_broken(w, "number of arguments");
	add->n_args = 2;
	add->id = 7;
	assert_broken(w, "its id");
	add->id = z.node;
	w->g->outputs[0] = 99;
	assert_broken(w, "output 0 is node 99");
	w->g->outputs[0] = z.node;
	w->g->inputs[0] = y.node;
	assert_broken(w, "not at its place among the inputs");
	w->g->inputs[0] = x.node;
	w->g->nodes[c.node]->data = NULL;
	assert_broken(w, "a constant without elements");
	w->g->nodes[c.node]->data = data;
	assert_true(graph_verify(w->g, &w->err));
}

static void out_of_memory_is_said_and_not_crashed_on(void **state)
{
	struct err err = { 0 };
	bool done = false;

	(void)state;
	for (size_t limit = 256; !done; limit += 256) {
		struct arena arena;
		struct graph *g;
		struct shape s = { .rank = 1 };
		int x = -1;

		arena_init(&arena, limit);
		g = graph_create(&arena);
		s.size[0] = g ? sym_const(g->syms, 4) : NULL;
		if (s.size[0])
			x = graph_input(g, DTYPE_F32, &s, NULL);
		for (int i = 0; x >= 0 && i < 40; i++) {
			x = graph_add(
			    g, &(struct node_spec){ OP_add, ARGS(arg_node(x), arg_float(i)), 0, 0 },
			    &err);
			done = i == 39 && x >= 0;
		}
		if (g && s.size[0] && g->n_inputs && !done) {
			assert_int_equal(err.code, ERR_MEMORY);
			assert_non_null(strstr(err.message, "out of memory"));
		}
		arena_finish(&arena);
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		CASE(a_graph_prints_one_line_a_node),
		CASE(special_numbers_and_strides_print_too),
		CASE(names_stay_unique_whatever_the_inputs_are_called),
		CASE(a_copy_is_equal_and_independent),
		CASE(the_fx_name_can_be_the_user_s),
		CASE(the_verifier_finds_what_is_broken),
		CASE(out_of_memory_is_said_and_not_crashed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
