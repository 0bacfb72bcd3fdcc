/* tests/test_graph_views.c -- shapes, facts and layouts of views.
 *
 * Shapes are PyTorch's; sizes below 0 in SIZES() are symbols, see graph_help.h.
 */
#include "tests/graph_help.h"

#include "fusion/graph/view.h"

static void views_have_torchs_shapes(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4, 1, 6));
	struct arg dims = ints(w, 3, (int64_t[]){ 2, 0, -2 });

	assert_value(w, ADD(w, OP_reshape, x, ints(w, 2, (int64_t[]){ -1, 8 })), DTYPE_F32,
		     "[3, 8]");
	assert_value(w, ADD(w, OP_permute, x, dims), DTYPE_F32, "[6, 4, 1]");
	assert_value(w, ADD(w, OP_transpose, x, number(w, 0), number(w, -1)), DTYPE_F32,
		     "[6, 1, 4]");
	assert_value(w, ADD(w, OP_flatten, x, number(w, 1)), DTYPE_F32, "[4, 6]");
	assert_value(w, ADD(w, OP_squeeze, x), DTYPE_F32, "[4, 6]");
	assert_value(w, ADD(w, OP_squeeze, x, ints(w, 1, (int64_t[]){ 0 })), DTYPE_F32,
		     "[4, 1, 6]");
	assert_value(w, ADD(w, OP_unsqueeze, x, number(w, -1)), DTYPE_F32, "[4, 1, 6, 1]");
	assert_value(w, ADD(w, OP_expand, x, ints(w, 4, (int64_t[]){ 2, -1, 5, 6 })), DTYPE_F32,
		     "[2, 4, 5, 6]");
	assert_value(w, ADD(w, OP_select, x, number(w, 0), number(w, -1)), DTYPE_F32, "[1, 6]");
	assert_value(w, ADD(w, OP_narrow, x, number(w, 2), number(w, 1), number(w, 3)), DTYPE_F32,
		     "[4, 1, 3]");
	assert_value(w, ADD(w, OP_slice, x, number(w, 2), number(w, 1), number(w, 6), number(w, 2)),
		     DTYPE_F32, "[4, 1, 3]");
	assert_value(w, ADD(w, OP_diagonal, x, number(w, 1), number(w, 0), number(w, 2)), DTYPE_F32,
		     "[1, 4]");
	assert_value(w, ADD(w, OP_unfold, x, number(w, 2), number(w, 4), number(w, 2)), DTYPE_F32,
		     "[4, 1, 2, 4]");
	assert_value(w, ADD(w, OP_repeat, x, ints(w, 4, (int64_t[]){ 2, 1, 3, 1 })), DTYPE_F32,
		     "[2, 4, 3, 6]");
	assert_value(w, ADD(w, OP_cat, number(w, 1), x, x, x), DTYPE_F32, "[4, 3, 6]");
}

static void views_that_do_not_fit_are_refused(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4, 6));
	struct arg y = input(w, DTYPE_F32, SIZES(4, 5));

	assert_refused(w, OP_reshape, ARGS(x, ints(w, 2, (int64_t[]){ 5, -1 })), ERR_SHAPE,
		       "as many elements");
	assert_refused(w, OP_select, ARGS(x, number(w, 0), number(w, 4)), ERR_INDEX,
		       "index 4 is out of bounds for dim 0");
	assert_refused(w, OP_narrow, ARGS(x, number(w, 1), number(w, 4), number(w, 3)), ERR_OP,
		       "out of bounds");
	assert_refused(w, OP_permute, ARGS(x, ints(w, 2, (int64_t[]){ 1, 1 })), ERR_OP,
		       "appears twice");
	assert_refused(w, OP_expand, ARGS(x, ints(w, 2, (int64_t[]){ 4, 7 })), ERR_SHAPE,
		       "do not expand");
	assert_refused(w, OP_cat, ARGS(number(w, 0), x, y), ERR_SHAPE, "differ in another dim");
	assert_refused(w, OP_gather, ARGS(x, number(w, 0), y), ERR_DTYPE, "int tensor");
}

/* s0 is 8 at the capture. */
static void what_symbols_do_not_prove_is_a_fact(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(-1, 6));
	const struct sym *s = size_of(w, -1), *half;

	ADD(w, OP_select, x, number(w, 0), number(w, 1)); /* a symbol is at least 2 */
	assert_int_equal(w->g->n_facts, 0);
	ADD(w, OP_select, x, number(w, 0), number(w, 5));
	assert_int_equal(w->g->n_facts, 1);
	assert_false(w->g->facts[0].equal);
	assert_ptr_equal(w->g->facts[0].a, s);
	assert_int_equal(w->g->facts[0].b->value, 6);
	half = sym_floordiv(w->g->syms, s, size_of(w, 2));
	ADD(w, OP_reshape, x,
	    arg_ints((const struct sym *[]){ size_of(w, 2), half, size_of(w, 6) }, 3));
	assert_int_equal(w->g->n_facts, 1);
	assert_true(w->g->facts[0].equal);
	assert_refused(w, OP_select, ARGS(x, number(w, 0), number(w, 9)), ERR_INDEX,
		       "out of bounds");
}

static struct view_layout layout_of(struct world *w, struct arg x)
{
	struct view_layout l;

	assert_true(view_layout(w->g, x.node, &l));
	return l;
}

static void a_chain_of_views_has_one_layout(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4, 6));
	struct arg t = ADD(w, OP_t, x);
	struct arg part = ADD(w, OP_slice, t, number(w, 0), number(w, 1), number(w, 6),
			      number(w, 2));
	struct arg row = ADD(w, OP_select, part, number(w, 1), number(w, 3));
	struct view_layout l = layout_of(w, part);

	assert_int_equal(l.base, x.node);
	assert_int_equal(l.offset->value, 1);
	assert_int_equal(l.stride[0]->value, 2);
	assert_int_equal(l.stride[1]->value, 6);
	l = layout_of(w, row);
	assert_int_equal(l.offset->value, 19);
	assert_int_equal(l.shape.rank, 1);
	assert_false(view_contiguous(w->g, &l));
	l = layout_of(w, ADD(w, OP_reverse, x, ints(w, 1, (int64_t[]){ 1 })));
	assert_int_equal(l.offset->value, 5);
	assert_int_equal(l.stride[1]->value, -1);
}

static void a_reshape_of_what_does_not_lie_in_order_has_no_layout(void **state)
{
	struct world *w = *state;
	struct arg x = input(w, DTYPE_F32, SIZES(4, 6)), t = ADD(w, OP_t, x);
	struct arg flat = ADD(w, OP_flatten, t);
	struct arg split = ADD(w, OP_reshape, t, ints(w, 3, (int64_t[]){ 2, 3, 4 }));
	struct view_layout l;

	assert_false(view_layout(w->g, flat.node, &l));
	l = layout_of(w, split); /* a dim cut in two needs no order */
	assert_int_equal(l.stride[0]->value, 3);
	assert_int_equal(l.stride[1]->value, 1);
	assert_int_equal(l.stride[2]->value, 6);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(views_have_torchs_shapes),
		CASE(views_that_do_not_fit_are_refused),
		CASE(what_symbols_do_not_prove_is_a_fact),
		CASE(a_chain_of_views_has_one_layout),
		CASE(a_reshape_of_what_does_not_lie_in_order_has_no_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
