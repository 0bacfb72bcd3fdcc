/* tests/test_graph_sym.c -- symbolic sizes: canonical form, bounds, printing. */
#include "fusion/graph/symreal.h"
#include "tests/graph_help.h"

struct syms {
	struct arena arena;
	struct symtab *t;
	const struct sym *x, *y, *one, *two;
};

static int begin(void **state)
{
	struct syms *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->t = symtab_create(&s->arena);
	s->x = sym_var(s->t, 8);
	s->y = sym_var(s->t, 16);
	s->one = sym_const(s->t, 1);
	s->two = sym_const(s->t, 2);
	*state = s;
	return 0;
}

static int end(void **state)
{
	struct syms *s = *state;

	arena_finish(&s->arena);
	free(s);
	return 0;
}

static void assert_prints(const struct sym *s, const char *want)
{
	struct buf text;

	assert_non_null(s);
	buf_init(&text, 0);
	sym_print(&text, s);
	assert_string_equal(text.data, want);
	buf_finish(&text);
}

static void sums_are_one_pointer_whatever_their_order(void **state)
{
	struct syms *s = *state;
	const struct sym *a = sym_add(s->t, sym_add(s->t, s->x, s->one), s->x);
	const struct sym *b = sym_add(s->t, sym_mul(s->t, s->x, s->two), s->one);

	assert_ptr_equal(a, b);
	assert_prints(a, "2*s0 + 1");
	assert_ptr_equal(sym_add(s->t, s->x, s->y), sym_add(s->t, s->y, s->x));
	assert_ptr_equal(sym_sub(s->t, sym_add(s->t, s->x, s->y), s->y), s->x);
	assert_true(sym_is(sym_sub(s->t, s->x, s->x), 0));
}

static void products_are_multiplied_out(void **state)
{
	struct syms *s = *state;
	const struct sym *sum = sym_add(s->t, s->y, s->one);
	const struct sym *a = sym_mul(s->t, s->x, sum);

	assert_prints(a, "s0*s1 + s0");
	assert_ptr_equal(a, sym_mul(s->t, sum, s->x));
	assert_ptr_equal(sym_mul(s->t, s->x, s->one), s->x);
	assert_true(sym_is(sym_mul(s->t, s->x, sym_const(s->t, 0)), 0));
	assert_prints(sym_mul(s->t, sum, sum), "s1*s1 + 2*s1 + 1");
}

static void exact_division_cancels(void **state)
{
	struct syms *s = *state;
	const struct sym *xy = sym_mul(s->t, s->x, s->y);
	const struct sym *sum = sym_add(s->t, s->y, s->one);

	assert_ptr_equal(sym_floordiv(s->t, xy, s->y), s->x);
	assert_ptr_equal(sym_floordiv(s->t, s->x, s->x), s->one);
	assert_ptr_equal(sym_floordiv(s->t, sym_mul(s->t, sum, s->x), sum), s->x);
	assert_true(sym_is(sym_mod(s->t, xy, s->x), 0));
	assert_ptr_equal(sym_floordiv(s->t, s->x, s->one), s->x);
	assert_true(sym_is(sym_mod(s->t, s->x, s->one), 0));
}

static void division_takes_out_what_divides(void **state)
{
	struct syms *s = *state;
	const struct sym *odd = sym_add(s->t, sym_mul(s->t, s->x, s->two), s->one);
	const struct sym *five = sym_add(s->t, s->x, sym_const(s->t, 5));

	assert_ptr_equal(sym_floordiv(s->t, odd, s->two), s->x);
	assert_ptr_equal(sym_mod(s->t, odd, s->two), s->one);
	assert_prints(sym_floordiv(s->t, five, s->two), "(s0 + 1)//2 + 2");
	assert_prints(sym_mod(s->t, five, s->two), "(s0 + 1)%2");
	assert_ptr_equal(sym_floordiv(s->t, sym_floordiv(s->t, s->x, s->two), s->two),
			 sym_floordiv(s->t, s->x, sym_const(s->t, 4)));
	assert_true(sym_is(sym_floordiv(s->t, s->one, s->x), 0)); /* a size is 2 or more */
}

static void division_rounds_down_like_python(void **state)
{
	struct syms *s = *state;
	const struct sym *a = sym_const(s->t, -7), *b = sym_const(s->t, 2);

	assert_true(sym_is(sym_floordiv(s->t, a, b), -4));
	assert_true(sym_is(sym_mod(s->t, a, b), 1));
	assert_true(sym_is(sym_floordiv(s->t, b, sym_const(s->t, -7)), -1));
	assert_true(sym_is(sym_floordiv(s->t, a, sym_const(s->t, 0)), 0));
}

static void simplified_expressions_keep_their_value(void **state)
{
	struct syms *s = *state;
	const struct sym *e[4] = { s->x, s->y, sym_const(s->t, 3), sym_const(s->t, -2) };
	const int64_t points[][2] = { { 2, 2 }, { 2, 9 }, { 7, 3 }, { 12, 5 }, { 6, 6 } };
	uint32_t random = 12345;

	for (int round = 0; round < 2000; round++) {
		const struct sym *a, *b, *r[6];
		int64_t want[6];

		random = random * 1664525u + 1013904223u;
		a = e[random >> 8 & 3];
		b = e[random >> 12 & 3];
		r[0] = sym_add(s->t, a, b);
		r[1] = sym_sub(s->t, a, b);
		r[2] = sym_mul(s->t, a, b);
		r[3] = sym_max(s->t, a, b);
		r[4] = sym_floordiv(s->t, a, b);
		r[5] = sym_mod(s->t, a, b);
		for (size_t p = 0; p < sizeof(points) / sizeof(points[0]); p++) {
			int64_t x = sym_eval(a, points[p]), y = sym_eval(b, points[p]);

			if (llabs(x) > 1 << 20 || llabs(y) > 1 << 20 || y == 0)
				continue;
			want[0] = x + y;
			want[1] = x - y;
			want[2] = x * y;
			want[3] = x > y ? x : y;
			want[4] = x / y - (x % y != 0 && (x < 0) != (y < 0));
			want[5] = x - want[4] * y;
			for (int k = 0; k < 6; k++)
				if (r[k])
					assert_int_equal(sym_eval(r[k], points[p]), want[k]);
		}
		/* Build on the result, and start again when it has grown. */
		e[round & 3] = r[random >> 16 & 3] && r[random >> 16 & 3]->nodes < 40
				   ? r[random >> 16 & 3]
				   : s->x;
	}
}

static void max_and_min_use_that_sizes_are_at_least_two(void **state)
{
	struct syms *s = *state;
	const struct sym *free_int = sym_var_from(s->t, 0, INT64_MIN);

	assert_ptr_equal(sym_max(s->t, s->one, s->x), s->x);
	assert_ptr_equal(sym_min(s->t, s->one, s->x), s->one);
	assert_ptr_equal(sym_max(s->t, s->x, sym_add(s->t, s->x, s->one)),
			 sym_add(s->t, s->x, s->one));
	assert_ptr_equal(sym_max(s->t, s->x, s->x), s->x);
	assert_ptr_equal(sym_max(s->t, s->x, s->y), sym_max(s->t, s->y, s->x));
	assert_ptr_equal(sym_max(s->t, s->x, sym_max(s->t, s->x, s->y)), sym_max(s->t, s->x, s->y));
	assert_prints(sym_max(s->t, free_int, s->one), "max(1, s2)");
	assert_true(sym_at_least(s->t, sym_mul(s->t, s->x, s->y), s->two));
	assert_false(sym_at_least(s->t, s->x, s->y));
}

static void quotients_and_remainders_are_bounded(void **state)
{
	struct syms *s = *state;
	const struct sym *half = sym_floordiv(s->t, s->x, s->two);
	const struct sym *up = sym_floordiv(s->t, sym_add(s->t, s->x, s->one), s->two);
	const struct sym *rest = sym_mod(s->t, s->x, sym_const(s->t, 4));

	assert_true(sym_at_least(s->t, s->x, half));
	assert_true(sym_at_least(s->t, s->x, up));
	assert_true(sym_at_least(s->t, sym_mul(s->t, s->two, up), s->x));
	assert_false(sym_at_least(s->t, sym_mul(s->t, s->two, half), s->x)); /* of 3: 2 */
	assert_true(sym_at_least(s->t, sym_const(s->t, 3), rest));
	assert_false(sym_at_least(s->t, s->two, rest));
	assert_false(sym_at_least(s->t, half, s->two));
}

static void assert_prints_real(const struct symreal *r, const char *want)
{
	struct buf out;

	buf_init(&out, 0);
	symreal_print(&out, r, NULL);
	assert_string_equal(out.data, want);
	buf_finish(&out);
}

static void floats_of_sizes_print_and_compute_as_python(void **state)
{
	struct syms *s = *state;
	const int64_t vars[2] = { 9, 4 };
	const struct symreal *x = symreal_int(s->t, s->x), *half = symreal_const(s->t, 0.5);
	const struct symreal *root = symreal_call(s->t, symreal_function("sqrt", 1), x, NULL);
	const struct symreal *sum = symreal_binary(s->t, REAL_ADD, root, half);
	const struct symreal *ratio = symreal_ratio(s->t, sym_add(s->t, s->x, s->one), s->y);

	assert_ptr_equal(root, symreal_call(s->t, symreal_function("sqrt", 1), x, NULL));
	assert_prints_real(x, "float(s0)");
	assert_prints_real(symreal_binary(s->t, REAL_MUL, sum, half), "(math.sqrt(s0) + 0.5)*0.5");
	assert_prints_real(symreal_binary(s->t, REAL_SUB, x, sum), "s0 - (math.sqrt(s0) + 0.5)");
	assert_prints_real(ratio, "(s0 + 1)/s1");
	assert_prints_real(symreal_round(s->t, ratio, 2), "round((s0 + 1)/s1, 2)");
	assert_prints_real(symreal_binary(s->t, REAL_POW, x, symreal_const(s->t, 2)), "s0**2.0");
	assert_true(symreal_eval(sum, vars) == 3.5);
	assert_true(symreal_eval(ratio, vars) == 2.5);
	assert_false(symreal_may_fail(root));
	assert_false(symreal_may_fail(ratio));
	assert_true(symreal_may_fail(symreal_ratio(s->t, s->x, sym_sub(s->t, s->y, s->two))));
	assert_true(symreal_may_fail(symreal_binary(s->t, REAL_POW, sum, x)));
}

static void ints_of_floats_are_quotients_where_that_is_exact(void **state)
{
	struct syms *s = *state;
	const int64_t vars[2] = { 9, 4 };
	const struct symreal *ratio = symreal_ratio(s->t, s->x, s->two);
	const struct symreal *part = symreal_binary(s->t, REAL_MUL, symreal_int(s->t, s->x),
						    symreal_const(s->t, 0.75));
	const struct sym *whole = symreal_whole(s->t, WHOLE_TRUNC, part);
	struct arena arena = { 0 };
	struct symtab *to = symtab_create(&arena);

	assert_ptr_equal(symreal_whole(s->t, WHOLE_FLOOR, ratio), sym_floordiv(s->t, s->x, s->two));
	assert_int_equal(sym_eval(symreal_whole(s->t, WHOLE_CEIL, ratio), vars), 5);
	assert_int_equal(sym_eval(symreal_whole(s->t, WHOLE_ROUND, ratio), vars), 4);
	assert_prints(whole, "int(s0*0.75)");
	assert_ptr_equal(whole, symreal_whole(s->t, WHOLE_TRUNC, part));
	assert_int_equal(sym_eval(sym_add(s->t, whole, s->y), vars), 10);
	assert_true(sym_at_least(s->t, whole, s->one));
	sym_var(to, 9);
	sym_var(to, 4);
	assert_int_equal(sym_eval(sym_copy(to, sym_mul(s->t, whole, s->y)), vars), 24);
	arena_finish(&arena);
}

static void overflow_saturates(void **state)
{
	struct syms *s = *state;
	const struct sym *big = sym_const(s->t, INT64_MAX);
	const int64_t vars[2] = { INT64_MAX / 2, 5 };

	assert_true(sym_is(sym_mul(s->t, big, s->two), INT64_MAX));
	assert_true(sym_is(sym_add(s->t, big, s->one), INT64_MAX));
	assert_int_equal(sym_eval(sym_mul(s->t, s->x, s->y), vars), INT64_MAX);
}

static void an_expression_cannot_grow_without_end(void **state)
{
	struct syms *s = *state;
	const struct sym *a = s->x;
	int rounds = 0;

	while (a && rounds < 1000) {
		a = sym_mul(s->t, sym_add(s->t, sym_floordiv(s->t, a, sym_const(s->t, 3)), s->y),
			    a);
		rounds++;
	}
	assert_null(a);
	assert_null(sym_add(s->t, a, s->x)); /* NULL goes through */
}

static void people_can_read_them(void **state)
{
	struct syms *s = *state;
	const struct sym *five = sym_const(s->t, 5);
	const struct sym *half = sym_floordiv(s->t, s->x, s->two);

	assert_prints(sym_sub(s->t, five, s->x), "5 - s0");
	assert_prints(sym_sub(s->t, s->x, five), "s0 - 5");
	assert_prints(sym_mul(s->t, s->two, half), "2*(s0//2)");
	assert_prints(sym_sub(s->t, s->y, sym_mul(s->t, s->two, s->x)), "s1 - 2*s0");
	assert_prints(sym_floordiv(s->t, s->x, sym_add(s->t, s->y, s->one)), "s0//(s1 + 1)");
	assert_prints(sym_floordiv(s->t, s->x, sym_mul(s->t, s->y, s->two)), "s0//(2*s1)");
	assert_prints(sym_sub(s->t, sym_const(s->t, 0), s->x), "-s0");
}

static void a_copy_in_another_table_is_canonical_there(void **state)
{
	struct syms *s = *state;
	struct arena arena = { 0 };
	struct symtab *to = symtab_create(&arena);
	const struct sym *x = sym_var(to, 8), *y = sym_var(to, 16);
	const struct sym *e = sym_add(s->t, sym_mul(s->t, s->y, s->x), s->one);

	assert_ptr_equal(sym_copy(to, e), sym_add(to, sym_const(to, 1), sym_mul(to, x, y)));
	assert_int_equal(sym_hint(s->t, e), 8 * 16 + 1);
	arena_finish(&arena);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(sums_are_one_pointer_whatever_their_order),
		CASE(products_are_multiplied_out),
		CASE(exact_division_cancels),
		CASE(division_takes_out_what_divides),
		CASE(division_rounds_down_like_python),
		CASE(simplified_expressions_keep_their_value),
		CASE(max_and_min_use_that_sizes_are_at_least_two),
		CASE(quotients_and_remainders_are_bounded),
		CASE(floats_of_sizes_print_and_compute_as_python),
		CASE(ints_of_floats_are_quotients_where_that_is_exact),
		CASE(overflow_saturates),
		CASE(an_expression_cannot_grow_without_end),
		CASE(people_can_read_them),
		CASE(a_copy_in_another_table_is_canonical_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
