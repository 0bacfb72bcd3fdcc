/* tests/test_fusion_lazy.c -- mode lazy: barriers, the cache of traces, effects. */
#include "tests/engine.h"

#define PROGRAM(...) "import torch\n" __VA_ARGS__

/* One call in eager and in lazy: results, arguments afterwards and text agree. */
static void same_tensor(struct value got, struct value want)
{
	const struct tensor *a, *b;

	assert_int_equal(got.kind, want.kind);
	if (want.kind == VALUE_TUPLE || want.kind == VALUE_LIST) {
		assert_int_equal(got.list->len, want.list->len);
		for (int i = 0; i < want.list->len; i++)
			same_tensor(got.list->at[i], want.list->at[i]);
		return;
	}
	if (want.kind != VALUE_TENSOR) {
		assert_true(value_equal(got, want));
		return;
	}
	a = got.tensor->memory;
	b = want.tensor->memory;
	assert_non_null(a);
	assert_int_equal(a->dtype, b->dtype);
	assert_int_equal(tensor_numel(a), tensor_numel(b));
	for (int64_t i = 0; i < tensor_numel(a); i++)
		assert_true(tensor_get_double(a, i) == tensor_get_double(b, i));
}

struct pair {
	struct engine lazy, eager;
};

static struct pair pair_open(const char *source)
{
	return (struct pair){ engine_open("cpu", FUSION_LAZY, source),
			      engine_open("cpu", FUSION_EAGER, source) };
}

static void pair_close(struct pair *p)
{
	engine_close(&p->lazy);
	engine_close(&p->eager);
}

static struct fusion_counts pair_call(struct pair *p, int64_t n, double seed)
{
	struct value x = FLOATS(&p->lazy, seed, n), y = FLOATS(&p->lazy, seed + 1, n);
	struct value u = FLOATS(&p->eager, seed, n), v = FLOATS(&p->eager, seed + 1, n);
	struct value got = engine_call(&p->lazy, (struct value[]){ x, y }, 2);
	struct value want = engine_call(&p->eager, (struct value[]){ u, v }, 2);
	struct buf *text = fusion_stdout(p->lazy.session), *other = fusion_stdout(p->eager.session);

	same_tensor(got, want);
	same_tensor(x, u);
	same_tensor(y, v);
	assert_int_equal(text->len, other->len);
	if (text->len)
		assert_memory_equal(text->data, other->data, text->len);
	value_unref(got);
	value_unref(want);
	value_unref(x);
	value_unref(y);
	value_unref(u);
	value_unref(v);
	return fusion_counts(p->lazy.session);
}

static void a_step_is_one_graph_and_is_found_again(void **state)
{
	struct pair p = pair_open(PROGRAM("def model(x, y):\n"
					  "    a = torch.sin(x) * 2 + y\n"
					  "    unused = torch.exp(a)\n"
					  "    return a, a.sum()\n"));
	struct fusion_counts c;

	(void)state;
	for (int i = 0; i < 4; i++)
		c = pair_call(&p, 5, i);
	assert_int_equal(c.graphs, 1);
	assert_int_equal(c.executions, 4);
	assert_int_equal(c.cache_hits, 3);
	c = pair_call(&p, 6, 9); /* shapes are part of the key */
	assert_int_equal(c.graphs, 2);
	c = pair_call(&p, 5, 9);
	assert_int_equal(c.graphs, 2);
	assert_int_equal(fusion_counts(p.lazy.session).n_graphs, 2);
	assert_int_equal(fusion_graph(p.lazy.session, 0).uses, 5);
	for (int i = 0; i < fusion_graph(p.lazy.session, 0).captured->n_nodes; i++)
		assert_string_not_equal(fusion_graph(p.lazy.session, 0).captured->nodes[i]->fx,
					"exp"); /* nobody reads it */
	assert_int_equal(fusion_counts(p.lazy.session).n_breaks, 0);
	pair_close(&p);
}

static void a_python_number_is_part_of_the_graph(void **state)
{
	struct pair p = pair_open(PROGRAM("n = 0\n"
					  "def model(x, y):\n"
					  "    global n\n"
					  "    n += 1\n"
					  "    return x * n\n"));
	struct fusion_counts c;

	(void)state;
	for (int i = 0; i < 3; i++)
		c = pair_call(&p, 4, i);
	assert_int_equal(c.graphs, 3);
	assert_int_equal(c.cache_hits, 0);
	pair_close(&p);
}

static void reading_a_value_runs_what_it_is_made_of(void **state)
{
	struct pair p = pair_open(PROGRAM("def model(x, y):\n"
					  "    a = torch.sin(x)\n"
					  "    s = a.sum()\n"
					  "    b = torch.cos(y)\n"
					  "    if s.item() > 100:\n"
					  "        return b\n"
					  "    if b.sum() > 100:\n"
					  "        return a\n"
					  "    return a + float(b.sum()), s * 2\n"));
	struct fusion_counts c = pair_call(&p, 5, 1);
	struct fusion_break b;

	(void)state;
	assert_int_equal(c.executions, 4); /* item, if, float, step end */
	assert_int_equal(fusion_counts(p.lazy.session).n_breaks, 3);
	b = fusion_break(p.lazy.session, 0);
	assert_string_equal(b.stage, "capture");
	assert_string_equal(b.kind, "scalar-read");
	assert_string_equal(b.outcome, "barrier");
	assert_string_equal(b.subject, ".item()");
	assert_int_equal(b.stack[0].line, 6);
	assert_int_equal(b.graph, 0);
	b = fusion_break(p.lazy.session, 1);
	assert_string_equal(b.kind, "data-dependent-branch");
	assert_int_equal(b.stack[0].line, 8);
	b = fusion_break(p.lazy.session, 2);
	assert_string_equal(b.subject, "float()");
	assert_int_equal(b.stack[0].line, 10);
	c = pair_call(&p, 5, 1);
	assert_int_equal(fusion_counts(p.lazy.session).n_breaks, 3);
	assert_int_equal(fusion_break(p.lazy.session, 0).count, 2);
	pair_close(&p);
}

/* The sum that was read is an input of the second graph, not computed again. */
static void what_was_read_is_not_computed_twice(void **state)
{
	struct pair p = pair_open(PROGRAM("def model(x, y):\n"
					  "    s = (torch.exp(x) + y).sum()\n"
					  "    if s > 0:\n"
					  "        return s * x\n"
					  "    return s - x\n"));
	const struct graph *g;

	(void)state;
	pair_call(&p, 5, 1);
	assert_int_equal(fusion_counts(p.lazy.session).n_graphs, 2);
	g = fusion_graph(p.lazy.session, 1).captured;
	assert_int_equal(g->n_inputs, 2);
	assert_int_equal(g->n_nodes, 3);
	pair_close(&p);
}

static void writes_reach_arguments_at_the_end_of_the_step(void **state)
{
	struct pair p = pair_open(PROGRAM("def model(x, y):\n"
					  "    old = x * 1\n"
					  "    x += y\n"
					  "    x *= 2\n"
					  "    y -= x\n"
					  "    return old, x, x + old\n"));
	struct fusion_counts c;

	(void)state;
	for (int i = 0; i < 3; i++)
		c = pair_call(&p, 7, i);
	assert_int_equal(c.graphs, 1);
	assert_int_equal(c.executions, 3);
	pair_close(&p);
}

static void a_written_argument_that_is_read_is_written_first(void **state)
{
	struct pair p = pair_open(PROGRAM("def model(x, y):\n"
					  "    a = x + 1\n"
					  "    x += y\n"
					  "    if x.sum() > 0:\n"
					  "        x += 1\n"
					  "    return a, x * a\n"));

	(void)state;
	for (int i = 0; i < 4; i++)
		pair_call(&p, 5, i);
	pair_close(&p);
}

/* Writes through views, of arguments and of pending tensors, with and without
 * barriers between. */
static const char *const aliases[] = {
	PROGRAM("def model(x, y):\n"
		"    a = x[1:3]\n"
		"    x += y\n"
		"    a *= 2\n"
		"    return x, a\n"),
	PROGRAM("def model(x, y):\n"
		"    z = x + y\n"
		"    z[0] = 5.0\n"
		"    z[1:] -= 2\n"
		"    return z, z[0], z.reshape(2, -1).t()\n"),
	PROGRAM("def model(x, y):\n"
		"    a = y[1:3]\n"
		"    a.add_(a)\n"
		"    if y.sum() > -100:\n"
		"        y += 1\n"
		"    b = a[0]\n"
		"    del a\n"
		"    if b.sum() > -100:\n"
		"        b += 1\n"
		"    return x, y, b\n"),
	PROGRAM("def model(x, y):\n"
		"    a, b = (x * y).chunk(2)\n"
		"    a += 1\n"
		"    s = a.sum().item()\n"
		"    b *= s\n"
		"    a[0] = b[0]\n"
		"    return a, b, torch.cat([a, b])\n"),
	PROGRAM("def model(x, y):\n"
		"    x[y > 0] = 0\n"
		"    return x, y[y > 0], torch.nonzero(x)\n"),
	/* Where something is recorded for a backward pass views are made at once. */
	PROGRAM("def model(x, y):\n"
		"    w = torch.ones(3).requires_grad_()\n"
		"    n = torch.ones(4)\n"
		"    one = torch.ones(1)\n"
		"    n[0:2].mul_(2)\n"
		"    one[0:].add_(x[0:1])\n"
		"    print(n)\n"
		"    one[0:].add_(1)\n"
		"    m = [one.item(), float(one)]\n"
		"    one[0:].add_(100)\n"
		"    return x * 10 if one > 50 else x, m\n"),
	PROGRAM("kept = None\n"
		"def model(x, y):\n"
		"    global kept\n"
		"    if kept is not None:\n"
		"        kept += 1\n"
		"    z = x * 2\n"
		"    kept = z[1:]\n"
		"    kept.mul_(3)\n"
		"    return z.clone(), kept.clone()\n"),
};

static void writes_through_views_are_seen_by_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		struct pair p = pair_open(aliases[i]);

		for (int call = 0; call < 3; call++)
			pair_call(&p, 4, call);
		pair_close(&p);
	}
}

static void a_write_through_a_view_is_no_barrier(void **state)
{
	struct pair p = pair_open(aliases[1]);
	struct fusion_counts c = pair_call(&p, 4, 1);

	(void)state;
	assert_int_equal(c.executions, 1);
	assert_int_equal(fusion_counts(p.lazy.session).n_breaks, 0);
	pair_close(&p);
}

static void one_tensor_under_two_names_is_one(void **state)
{
	const char *source = PROGRAM("def model(x, y):\n"
				     "    x += 1\n"
				     "    y += x\n"
				     "    return x + y\n");
	struct engine lazy = engine_open("interp", FUSION_LAZY, source);
	struct engine eager = engine_open("interp", FUSION_EAGER, source);
	struct value a = FLOATS(&lazy, 1, 4), b = FLOATS(&eager, 1, 4), got, want;
	/* and two objects over one memory */
	struct value c = fusion_value(a.tensor->memory), d = fusion_value(b.tensor->memory);

	(void)state;
	for (int i = 0; i < 2; i++) {
		got = engine_call(&lazy, (struct value[]){ a, i ? c : a }, 2);
		want = engine_call(&eager, (struct value[]){ b, i ? d : b }, 2);
		same_tensor(got, want);
		same_tensor(a, b);
		value_unref(got);
		value_unref(want);
	}
	assert_int_equal(fusion_counts(lazy.session).n_breaks, 1);
	assert_string_equal(fusion_break(lazy.session, 0).outcome, "barrier");
	value_unref(a);
	value_unref(b);
	value_unref(c);
	value_unref(d);
	engine_close(&lazy);
	engine_close(&eager);
}

static void a_global_keeps_its_value_across_steps(void **state)
{
	struct pair p = pair_open(PROGRAM("total = torch.zeros(4)\n"
					  "last = None\n"
					  "def model(x, y):\n"
					  "    global total, last\n"
					  "    total = total + x\n"
					  "    out = total * y if last is None else total * last\n"
					  "    last = y + 1\n"
					  "    return out\n"));
	struct fusion_counts c;

	(void)state;
	for (int i = 0; i < 5; i++)
		c = pair_call(&p, 4, i);
	assert_int_equal(c.graphs, 2);
	assert_int_equal(c.executions, 5);
	pair_close(&p);
}

/* A learning rate that falls, a number that was read, one that is twice the same. */
static void a_float_that_changes_is_an_argument_of_the_kernel(void **state)
{
	struct pair p = pair_open(PROGRAM("rate = 0.5\n"
					  "def model(x, y):\n"
					  "    global rate\n"
					  "    rate = rate * 0.9\n"
					  "    a = torch.add(x, y, alpha=rate) * rate + 0.25\n"
					  "    x.mul_(1 - rate)\n"
					  "    b = a / a.sum().item()\n"
					  "    return b, torch.where(y > rate, a, -1.5 * b)\n"));
	struct fusion_counts c;

	(void)state;
	for (int i = 0; i < 6; i++)
		c = pair_call(&p, 5, i + 1);
	assert_int_equal(c.graphs, 2); /* up to item(), and after it */
	assert_int_equal(c.executions, 12);
	assert_int_equal(c.cache_hits, 10);
	pair_close(&p);
}

/* Two floats that are the same one call and not the next are another graph; 0.0 is a
 * number of its own; what computes otherwise for other floats is compiled for each. */
static void floats_that_are_part_of_the_graph(void **state)
{
	struct pair p = pair_open(
			PROGRAM("n = 0\n"
				"def model(x, y):\n"
				"    global n\n"
				"    n += 1\n"
				"    return x * (1.5 * n) + y * (1.5 if n == 1 else 0.5)\n")),
		    q = pair_open(PROGRAM("n = 0\n"
					  "def model(x, y):\n"
					  "    global n\n"
					  "    n += 1\n"
					  "    return torch.full((4,), n / 2) + x * (n - 1.0)\n"));
	struct fusion_counts c;

	(void)state;
	for (int i = 0; i < 4; i++)
		c = pair_call(&p, 4, i);
	assert_int_equal(c.graphs, 2);
	pair_close(&p);
	for (int i = 0; i < 3; i++)
		c = pair_call(&q, 4, i);
	assert_int_equal(c.graphs, 3);
	pair_close(&q);
}

/* More floats than are taken as arguments. */
static void a_trace_of_many_floats_computes_the_same(void **state)
{
	struct pair p = pair_open(PROGRAM("n = 0.0\n"
					  "def model(x, y):\n"
					  "    global n\n"
					  "    n += 0.125\n"
					  "    for i in range(80):\n"
					  "        x = x * 0.99 + (n + i / 8)\n"
					  "    return x - y\n"));

	(void)state;
	for (int i = 0; i < 3; i++)
		pair_call(&p, 3, i);
	pair_close(&p);
}

/* On the interpreter: no compiler has to take 4,000 ops. */
static void a_long_trace_is_run_in_parts(void **state)
{
	const char *source = PROGRAM("def model(x, y):\n"
				     "    for i in range(3000):\n"
				     "        x = x + y * 0.001\n"
				     "    return x\n");
	struct pair p = { engine_open("interp", FUSION_LAZY, source),
			  engine_open("interp", FUSION_EAGER, source) };

	(void)state;
	assert_int_equal(pair_call(&p, 3, 1).executions, 2);
	assert_int_equal(fusion_counts(p.lazy.session).n_breaks, 1);
	assert_string_equal(fusion_break(p.lazy.session, 0).kind, "step-end");
	pair_close(&p);
}

static void an_error_keeps_what_was_written_before_it(void **state)
{
	const char *source = PROGRAM("def model(x, y):\n"
				     "    x += 1\n"
				     "    z = x * 2\n"
				     "    return z + torch.zeros(3)\n");
	struct engine e = engine_open("interp", FUSION_LAZY, source);
	struct value x = FLOATS(&e, 1, 4), y = FLOATS(&e, 1, 4);
	struct err err = engine_fails(&e, (struct value[]){ x, y }, 2);

	(void)state;
	assert_int_equal(err.line, 5);
	for (int i = 0; i < 4; i++)
		assert_true(engine_at(x, i) == (double)(float)(engine_at(y, i) + 1));
	value_unref(x);
	value_unref(y);
	engine_close(&e);
}

static void denied_ops_fall_back_within_a_step(void **state)
{
	static const char *const deny[] = { "exp" };
	const char *source = PROGRAM("def model(x, y):\n"
				     "    return torch.exp(x * 2) + y\n");
	struct fusion_options options = {
		.backend = "interp", .threads = 1, .deny = deny, .n_deny = 1
	};
	struct err err = { 0 };
	struct engine e = { .f = fusion_create(&options, &err) };
	struct value x, y;

	(void)state;
	e.program = fusion_parse(source, strlen(source), "model", &err);
	e.session = fusion_session(e.f, e.program, FUSION_LAZY, &err);
	assert_non_null(e.session);
	x = FLOATS(&e, 1, 4);
	y = FLOATS(&e, 2, 4);
	value_unref(engine_call(&e, (struct value[]){ x, y }, 2));
	assert_int_equal(fusion_counts(e.session).graphs, 1);
	assert_int_equal(fusion_counts(e.session).lowered, 2);
	assert_int_equal(fusion_counts(e.session).n_breaks, 1);
	assert_string_equal(fusion_break(e.session, 0).kind, "denied-op");
	value_unref(x);
	value_unref(y);
	engine_close(&e);
}

static void the_log_says_what_was_run_and_why(void **state)
{
	struct pair p = pair_open(PROGRAM("def model(x, y):\n"
					  "    s = x.sum()\n"
					  "    return x * s.item()\n"));
	struct buf log;

	(void)state;
	pair_call(&p, 4, 1);
	buf_init(&log, 0);
	fusion_lazy_log(p.lazy.session, &log);
	assert_non_null(log.data);
	assert_non_null(strstr(log.data, "Compilation Analysis: Compilation Cause\n"));
	assert_non_null(strstr(log.data, "Execution Analysis:   most likely user code trying to "
					 "access tensor value before torch_xla.sync\n"));
	assert_non_null(strstr(log.data, "Execution Analysis:   user torch_xla.sync"));
	assert_non_null(strstr(log.data, "Number of Graph Inputs: 1\n"));
	assert_non_null(strstr(log.data, "  model (line 4)\n"));
	buf_finish(&log);
	pair_close(&p);
}

static void a_barrier_in_a_helper_has_the_calls_that_lead_to_it(void **state)
{
	struct engine e = engine_open("interp", FUSION_LAZY,
				      PROGRAM("def half(y):\n"
					      "    return y / y.sum().item()\n"
					      "def model(x):\n"
					      "    return half(x + 1)\n"));
	struct value x = FLOATS(&e, 1, 4), out = engine_call(&e, &x, 1);
	struct fusion_break b;

	(void)state;
	assert_int_equal(fusion_counts(e.session).n_breaks, 1);
	b = fusion_break(e.session, 0);
	assert_int_equal(b.n_stack, 2);
	assert_string_equal(b.stack[0].function, "model");
	assert_string_equal(b.stack[1].function, "half");
	assert_int_equal(b.stack[1].line - b.stack[0].line, -2);
	assert_int_equal(b.end_column - b.column, (int)strlen("y.sum().item()"));
	assert_int_equal(fusion_counts(e.session).n_barriers, 2);
	assert_string_equal(fusion_barrier(e.session, 0).function, "half");
	assert_true(fusion_barrier(e.session, 1).compiled);
	value_unref(x);
	value_unref(out);
	engine_close(&e);
}

static void a_result_outlives_its_session(void **state)
{
	struct engine e = engine_open("interp", FUSION_LAZY,
				      PROGRAM("def model(x):\n    return x + 1\n"));
	struct value x = FLOATS(&e, 1, 4), out = engine_call(&e, &x, 1);

	(void)state;
	fusion_session_destroy(e.session);
	e.session = NULL;
	assert_true(engine_at(out, 2) == (double)(float)(engine_at(x, 2) + 1));
	value_unref(x);
	value_unref(out);
	engine_close(&e);
}

/* Whose call a node is part of is looked for only until calls compile nothing more: what is
 * compiled later learns it from the next trace of its kind. */
static void a_program_that_is_compiled_late_learns_its_modules(void **state)
{
	struct engine e = engine_open(
	    "interp", FUSION_LAZY,
	    PROGRAM("import torch.nn as nn\n"
		    "class Net(nn.Module):\n"
		    "    def forward(self, x):\n        return torch.sin(x) * 2\n"
		    "net = Net()\n"
		    "def model(x):\n    return net(x) + 1\n"));
	const struct graph *g;

	(void)state;
	for (int i = 0; i < 22; i++) {
		struct value x = FLOATS(&e, 1, i < 20 ? 4 : 5), out = engine_call(&e, &x, 1);

		value_unref(x);
		value_unref(out);
		assert_int_equal(fusion_counts(e.session).n_graphs, i < 20 ? 1 : 2);
		if (i == 20) /* nobody looked */
			assert_null(fusion_graph(e.session, 1).captured->nodes[1]->module);
	}
	for (int i = 0; i < 2; i++) {
		g = fusion_graph(e.session, i).captured;
		assert_string_equal(g->nodes[1]->fx, "sin");
		assert_string_equal(g->nodes[1]->module, "Net");
		assert_string_equal(g->nodes[2]->module, "Net");
		assert_null(g->nodes[3]->module);
	}
	engine_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_one_graph_and_is_found_again),
		cmocka_unit_test(a_python_number_is_part_of_the_graph),
		cmocka_unit_test(a_float_that_changes_is_an_argument_of_the_kernel),
		cmocka_unit_test(floats_that_are_part_of_the_graph),
		cmocka_unit_test(a_trace_of_many_floats_computes_the_same),
		cmocka_unit_test(reading_a_value_runs_what_it_is_made_of),
		cmocka_unit_test(what_was_read_is_not_computed_twice),
		cmocka_unit_test(writes_reach_arguments_at_the_end_of_the_step),
		cmocka_unit_test(a_written_argument_that_is_read_is_written_first),
		cmocka_unit_test(writes_through_views_are_seen_by_all),
		cmocka_unit_test(a_write_through_a_view_is_no_barrier),
		cmocka_unit_test(one_tensor_under_two_names_is_one),
		cmocka_unit_test(a_global_keeps_its_value_across_steps),
		cmocka_unit_test(a_long_trace_is_run_in_parts),
		cmocka_unit_test(an_error_keeps_what_was_written_before_it),
		cmocka_unit_test(denied_ops_fall_back_within_a_step),
		cmocka_unit_test(the_log_says_what_was_run_and_why),
		cmocka_unit_test(a_barrier_in_a_helper_has_the_calls_that_lead_to_it),
		cmocka_unit_test(a_result_outlives_its_session),
		cmocka_unit_test(a_program_that_is_compiled_late_learns_its_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
