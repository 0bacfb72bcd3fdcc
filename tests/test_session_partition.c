/* tests/test_session_partition.c -- graphs cut into pieces: how many, and the same bits. */
#include <math.h>
#include <stdio.h>

#include "fusion/compile/partition.h"
#include "tests/exec_fixture.h"

static struct exec *compile(struct fixture *f, struct builder *b, const char *const *deny,
			    int n_deny)
{
	const struct compile_options options = { .env = &f->env,
						 .backend = backend_find("interp"),
						 .passes = { .verify = true },
						 .lowering = { .deny = deny, .n_deny = n_deny } };
	struct err err = { 0 };
	struct graph *g = graph_copy(b->g, b->arena);
	struct exec *e;

	assert_non_null(g);
	e = compile_graph(&options, g, b->arena, &err);
	if (!e)
		fail_msg("%s", err.message);
	return e;
}
#define COMPILE(f, b, ...)                                                                         \
	compile(f, b, (const char *const[]){ NULL, ##__VA_ARGS__ } + 1,                            \
		sizeof((const char *const[]){ NULL, ##__VA_ARGS__ }) / sizeof(char *) - 1)

static struct tensor *floats(struct fixture *f, int64_t rows, int64_t cols, double seed)
{
	struct err err = { 0 };
	struct tensor *t = tensor_create(f->env.allocator, DTYPE_F32, 2, (int64_t[]){ rows, cols },
					 &err);
	float *at;

	assert_non_null(t);
	at = tensor_data(t);
	for (int64_t i = 0; i < rows * cols; i++)
		at[i] = (float)(1.5 * sin(seed + 1.3 * (double)i));
	return t;
}

static void run(struct exec *e, const int64_t *vars, struct tensor *const *inputs,
		struct tensor **outputs)
{
	struct err err = { 0 };

	if (!exec_bind(e, vars, &err) ||
	    !exec_run(e, &(struct exec_call){ .inputs = inputs, .outputs = outputs }, &err))
		fail_msg("%s", err.message);
}

static void same_bits(const struct tensor *a, const struct tensor *b)
{
	assert_int_equal(a->dtype, b->dtype);
	assert_int_equal(a->rank, b->rank);
	assert_memory_equal(a->size, b->size, sizeof(a->size[0]) * (size_t)a->rank);
	assert_memory_equal(tensor_data(a), tensor_data(b),
			    (size_t)tensor_numel(a) * dtype_bytes(a->dtype));
}

/* Runs both on the same inputs, twice, and compares every output. */
static void same_results(struct fixture *f, struct builder *b, struct exec *whole,
			 struct exec *parts)
{
	struct tensor *inputs[8], *want[8], *got[8];
	int n = b->g->n_inputs;

	for (int i = 0; i < n; i++)
		inputs[i] = floats(
		    f, sym_eval(b->g->nodes[b->g->inputs[i]]->shape.size[0], b->vars),
		    sym_eval(b->g->nodes[b->g->inputs[i]]->shape.size[1], b->vars), i + 0.5);
	for (int round = 0; round < 2; round++) {
		run(whole, b->vars, inputs, want);
		run(parts, b->vars, inputs, got);
		for (int i = 0; i < b->g->n_outputs; i++) {
			same_bits(got[i], want[i]);
			for (int j = 0; j < i; j++)
				assert_ptr_not_equal(got[i], got[j]);
			for (int j = 0; j < n; j++)
				assert_ptr_not_equal(got[i]->storage, inputs[j]->storage);
			tensor_unref(want[i]);
		}
		for (int i = 0; i < b->g->n_outputs; i++)
			tensor_unref(got[i]);
	}
	for (int i = 0; i < n; i++)
		tensor_unref(inputs[i]);
}

static void finish(struct builder *b, struct exec *whole, struct exec *parts)
{
	exec_destroy(whole);
	exec_destroy(parts);
	builder_destroy(b);
}

static void nothing_denied_is_one_piece(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 4), NUM(&b, 5));
	struct exec *e;

	RETURN(&b, ADD(&b, OP_sin, T(ADD(&b, OP_exp, T(x)))));
	e = COMPILE(*state, &b);
	assert_null(e->parts);
	assert_int_equal(exec_lowered_count(e), 1);
	finish(&b, NULL, e);
}

static void a_denied_op_lies_between_two_pieces(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, SYM(&b, 7), NUM(&b, 5));
	int y = ADD(&b, OP_exp, T(ADD(&b, OP_add, T(x), F(0.25))));
	int z = ADD(&b, OP_softmax, T(y), I(&b, -1));
	struct exec *whole, *e;

	RETURN(&b, ADD(&b, OP_mul, T(ADD(&b, OP_sin, T(z))), T(y)));
	whole = COMPILE(*state, &b);
	e = COMPILE(*state, &b, "softmax");
	assert_non_null(e->parts);
	assert_int_equal(e->parts->n_lowered, 2);
	assert_int_equal(e->parts->n_fallbacks, 1);
	assert_int_equal(e->parts->pieces[1].kind, PIECE_FALLBACK);
	assert_int_equal(e->parts->pieces[1].cause, FALLBACK_DENIED);
	assert_int_equal(e->parts->pieces[1].node->op, OP_softmax);
	assert_int_equal(e->lowered->n_kernels, e->parts->pieces[0].exec->lowered->n_kernels +
						    e->parts->pieces[1].exec->lowered->n_kernels +
						    e->parts->pieces[2].exec->lowered->n_kernels);
	same_results(*state, &b, whole, e);
	for (b.vars[0] = 3; b.vars[0] < 6; b.vars[0]++) /* other sizes, the same pieces */
		same_results(*state, &b, whole, e);
	finish(&b, whole, e);
}

/* relu(x) + erf(y): erf first, then one piece for all else. */
static void what_does_not_depend_on_a_fallback_joins_what_follows_it(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 3), NUM(&b, 4));
	int y = INPUT(&b, DTYPE_F32, NUM(&b, 3), NUM(&b, 4));
	int r = ADD(&b, OP_relu, T(x)), s = ADD(&b, OP_erf, T(y));
	struct exec *whole, *e;

	RETURN(&b, ADD(&b, OP_add, T(r), T(s)));
	whole = COMPILE(*state, &b);
	e = COMPILE(*state, &b, "torch.erf");
	assert_int_equal(e->parts->n_pieces, 2);
	assert_int_equal(e->parts->n_lowered, 1);
	assert_int_equal(e->parts->pieces[0].kind, PIECE_FALLBACK);
	same_results(*state, &b, whole, e);
	finish(&b, whole, e);
}

/* Merging {exp, mul} across sin would make a cycle. */
static void no_piece_waits_for_itself(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 3), NUM(&b, 4));
	int e0 = ADD(&b, OP_exp, T(x)), s = ADD(&b, OP_sin, T(e0));
	int other = ADD(&b, OP_cos, T(x)), t = ADD(&b, OP_sin, T(other));
	struct exec *whole, *e;

	RETURN(&b, ADD(&b, OP_mul, T(e0), T(s)), T(t).node, other);
	whole = COMPILE(*state, &b);
	e = COMPILE(*state, &b, "sin");
	assert_int_equal(e->parts->n_lowered, 2);
	assert_int_equal(e->parts->n_fallbacks, 2);
	same_results(*state, &b, whole, e);
	finish(&b, whole, e);
}

/* 1 - x is read after the fallback alone: it is computed there, with its reader. */
static void a_cheap_node_sinks_to_its_reader(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 3), NUM(&b, 4));
	int early = ADD(&b, OP_exp, T(x)), late = ADD(&b, OP_neg, T(x));
	int s = ADD(&b, OP_sin, T(early));
	struct exec *whole, *e;

	RETURN(&b, ADD(&b, OP_add, T(s), T(late)));
	whole = COMPILE(*state, &b);
	e = COMPILE(*state, &b, "sin");
	assert_int_equal(e->parts->n_lowered, 2);
	assert_int_equal(e->parts->pieces[0].n_outputs, 1);
	same_results(*state, &b, whole, e);
	finish(&b, whole, e);
}

static void outputs_are_tensors_of_their_own(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 3), NUM(&b, 4));
	int s = ADD(&b, OP_sin, T(x));
	const float ones[2] = { 1, 2 };
	struct shape two = { .rank = 1, .size = { NUM(&b, 2) } };
	int c = graph_constant(b.g, DTYPE_F32, &two, ones);
	struct exec *whole, *e;

	RETURN(&b, s, x, s, c);
	whole = COMPILE(*state, &b);
	e = COMPILE(*state, &b, "sin");
	same_results(*state, &b, whole, e);
	finish(&b, whole, e);
}

static void everything_denied_is_eager(void **state)
{
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 3), NUM(&b, 4));
	struct exec *whole, *e;

	RETURN(&b, ADD(&b, OP_exp, T(ADD(&b, OP_sin, T(x)))));
	whole = COMPILE(*state, &b);
	e = COMPILE(*state, &b, "sin", "exp");
	assert_int_equal(e->parts->n_lowered, 0);
	assert_int_equal(e->parts->n_fallbacks, 2);
	assert_int_equal(exec_lowered_count(e), 0);
	same_results(*state, &b, whole, e);
	finish(&b, whole, e);
}

struct watched {
	int launches, expected;
};

static void launched(void *self, int graph, int kernel, int64_t begin_ns, int64_t end_ns)
{
	struct watched *w = self;

	assert_int_equal(graph, 7);
	assert_int_equal(kernel, w->launches++);
	assert_true(begin_ns <= end_ns);
}

static void an_observer_sees_one_graph_with_numbered_kernels(void **state)
{
	struct fixture *f = *state;
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 3), NUM(&b, 4));
	struct watched w = { 0 };
	const struct fusion_observer observer = { .self = &w, .launched = launched };
	struct tensor *input = floats(f, 3, 4, 1), *output;
	struct err err = { 0 };
	struct exec *e;

	RETURN(&b, ADD(&b, OP_exp, T(ADD(&b, OP_sin, T(ADD(&b, OP_exp, T(x)))))));
	e = COMPILE(f, &b, "sin");
	assert_true(exec_bind(e, b.vars, &err));
	assert_true(
	    exec_run(e,
		     &(struct exec_call){
			 .inputs = &input, .outputs = &output, .observer = &observer, .graph = 7 },
		     &err));
	assert_int_equal(w.launches, 3);
	assert_int_equal(e->lowered->n_kernels, 3);
	tensor_unref(input);
	tensor_unref(output);
	finish(&b, NULL, e);
}

static void a_full_memory_leaves_nothing_behind(void **state)
{
	struct fixture *f = *state;
	struct builder b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 64), NUM(&b, 64));
	struct fixture small = *f;
	struct tensor *input, *outputs[2];
	struct err err = { 0 };
	struct exec *e;

	small.env.allocator = allocator_create(3 * 64 * 64 * sizeof(float), NULL);
	RETURN(&b, ADD(&b, OP_sum, T(ADD(&b, OP_sin, T(ADD(&b, OP_exp, T(x)))))),
	       ADD(&b, OP_sin, T(ADD(&b, OP_cos, T(x)))));
	e = COMPILE(&small, &b, "sin");
	input = floats(&small, 64, 64, 1);
	assert_true(exec_bind(e, b.vars, &err));
	assert_false(
	    exec_run(e, &(struct exec_call){ .inputs = &input, .outputs = outputs }, &err));
	assert_null(outputs[0]);
	tensor_unref(input);
	finish(&b, NULL, e);
	assert_int_equal(allocator_used_bytes(small.env.allocator), 0);
	allocator_destroy(small.env.allocator);
}

/* Random graphs over two inputs, with a random set of denied ops. */
static int random_node(struct builder *b, const int *nodes, int n)
{
	static const enum op unary[] = { OP_sin, OP_exp, OP_tanh, OP_relu, OP_neg, OP_abs };
	static const enum op binary[] = { OP_add, OP_mul, OP_sub, OP_maximum };
	int p = nodes[rand() % n], q = nodes[rand() % n];

	switch (rand() % 4) {
	case 0:
		return ADD(b, OP_softmax, T(p), I(b, rand() % 2));
	case 1:
		return ADD(b, unary[rand() % 6], T(p));
	case 2:
		return ADD(b, OP_sub, T(p), T(ADD(b, OP_mean, T(q), DIM(b, 1), arg_bool(true))));
	default:
		return ADD(b, binary[rand() % 4], T(p), T(q));
	}
}

static void random_graphs_give_the_same_bits(void **state)
{
	static const char *const names[] = { "sin", "exp",     "tanh", "relu", "softmax",
					     "mul", "maximum", "mean", "sub" };

	srand(7);
	for (int round = 0; round < 60; round++) {
		struct builder b = builder_create();
		const struct sym *rows = round % 2 ? SYM(&b, 6) : NUM(&b, 6);
		const char *deny[9];
		int nodes[40], n = 0, n_deny = 0;
		struct exec *whole, *e;

		nodes[n++] = INPUT(&b, DTYPE_F32, rows, NUM(&b, 5));
		nodes[n++] = INPUT(&b, DTYPE_F32, rows, NUM(&b, 5));
		while (n < 20) {
			nodes[n] = random_node(&b, nodes, n);
			n++;
		}
		RETURN(&b, nodes[n - 1], nodes[n - 3], nodes[rand() % n]);
		for (int i = 0; i < 9; i++)
			if (rand() % 3 == 0)
				deny[n_deny++] = names[i];
		whole = COMPILE(*state, &b);
		e = compile(*state, &b, deny, n_deny);
		same_results(*state, &b, whole, e);
		finish(&b, whole, e);
	}
}

int main(void)
{
#define CUT_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		CUT_TEST(nothing_denied_is_one_piece),
		CUT_TEST(a_denied_op_lies_between_two_pieces),
		CUT_TEST(what_does_not_depend_on_a_fallback_joins_what_follows_it),
		CUT_TEST(no_piece_waits_for_itself),
		CUT_TEST(a_cheap_node_sinks_to_its_reader),
		CUT_TEST(outputs_are_tensors_of_their_own),
		CUT_TEST(everything_denied_is_eager),
		CUT_TEST(an_observer_sees_one_graph_with_numbered_kernels),
		CUT_TEST(a_full_memory_leaves_nothing_behind),
		CUT_TEST(random_graphs_give_the_same_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
