/* tests/test_fusion_engine.c -- engines, sessions, observers: what a caller relies on. */
#include <pthread.h>

#include "tests/engine.h"

static const char CHAIN[] = "import torch\n"
			    "def model(x):\n"
			    "    x = torch.sin(x + 0.1)\n"
			    "    x = torch.cos(x * 1.1)\n"
			    "    return x.sum()\n";

static void *run_engine(void *context)
{
	enum fusion_mode mode = *(enum fusion_mode *)context;
	struct engine e = engine_open("interp", mode, CHAIN);

	for (int64_t n = 2; n < 60; n++) {
		struct value x = FLOATS(&e, 1, 4, n % 7 + 2), out = engine_call(&e, &x, 1);
		double want = 0;

		for (int64_t i = 0; i < tensor_numel(x.tensor->memory); i++)
			want += cos(sin(engine_at(x, i) + 0.1) * 1.1);
		engine_near(out, 0, want);
		value_unref(out);
		value_unref(x);
	}
	engine_close(&e);
	return NULL;
}

static void engines_of_two_threads_do_not_meet(void **state)
{
	enum fusion_mode modes[] = { FUSION_DYNAMIC, FUSION_STATIC };
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_engine, &modes[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

struct sharer {
	const struct fusion_program *program;
	double result;
};

static void *run_shared(void *context)
{
	struct sharer *s = context;
	struct fusion_options options = { .backend = "interp", .threads = 1 };
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct value x, out;

	e.session = fusion_session(e.f, s->program, FUSION_STATIC, NULL);
	x = FLOATS(&e, 1, 4, 4);
	out = engine_call(&e, &x, 1);
	s->result = engine_at(out, 0);
	value_unref(out);
	value_unref(x);
	engine_close(&e);
	return NULL;
}

static void threads_may_share_a_program(void **state)
{
	struct fusion_program *p = fusion_parse(CHAIN, strlen(CHAIN), "model", NULL);
	struct sharer sharers[2] = { { .program = p }, { .program = p } };
	pthread_t threads[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_shared, &sharers[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_true(sharers[0].result == sharers[1].result);
	fusion_program_destroy(p);
}

struct seen {
	int compiled, launching, launched, recompiled, phases[PHASE_COUNT];
	int64_t last_ns;
	bool ordered;
};

static void on_compiled(void *self, int graph, int64_t compile_ns, int kernels, bool cached)
{
	struct seen *seen = self;

	(void)cached;
	assert_int_equal(graph, seen->compiled);
	assert_true(compile_ns > 0);
	assert_true(kernels > 0);
	seen->compiled++;
}

static void on_launching(void *self, bool library)
{
	struct seen *seen = self;

	assert_int_equal(seen->launching, seen->launched);
	seen->launching++;
	assert_false(library);
}

static void on_launched(void *self, int graph, int kernel, int64_t begin_ns, int64_t end_ns)
{
	struct seen *seen = self;

	(void)graph, (void)kernel;
	seen->ordered &= begin_ns >= seen->last_ns && end_ns >= begin_ns;
	seen->last_ns = end_ns;
	seen->launched++;
}

static void on_phase(void *self, enum fusion_phase phase, int64_t begin_ns, int64_t end_ns)
{
	struct seen *seen = self;

	seen->ordered &= end_ns >= begin_ns;
	seen->phases[phase]++;
}

static void on_recompiled(void *self, const char *frame, const char *reason)
{
	struct seen *seen = self;

	assert_string_equal(frame, "model");
	assert_string_equal(reason, "x.size(0) is 5, was 4");
	seen->recompiled++;
}

static void an_observer_is_told_of_compiles_launches_and_phases(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC, CHAIN);
	struct seen seen = { .ordered = true };
	struct fusion_observer observer = { .self = &seen,
					    .compiled = on_compiled,
					    .launching = on_launching,
					    .launched = on_launched,
					    .phase = on_phase,
					    .recompiled = on_recompiled };

	(void)state;
	fusion_observe(e.session, &observer);
	for (int call = 0; call < 3; call++) {
		struct value x = FLOATS(&e, 1, call < 2 ? 4 : 5, 3), out = engine_call(&e, &x, 1);

		value_unref(out);
		value_unref(x);
	}
	assert_int_equal(seen.compiled, 2);
	assert_int_equal(seen.recompiled, 1);
	assert_int_equal(seen.launched, fusion_counts(e.session).launches);
	assert_int_equal(seen.launching, seen.launched);
	assert_int_equal(seen.phases[PHASE_GUARDS], 3);
	assert_int_equal(seen.phases[PHASE_ALLOC], 3);
	assert_int_equal(seen.phases[PHASE_KERNEL], seen.launched);
	assert_true(seen.ordered);
	fusion_observe(e.session, NULL);
	run_engine(&(enum fusion_mode){ FUSION_EAGER });
	assert_int_equal(seen.compiled, 2);
	engine_close(&e);
}

static void on_piece(void *self, int graph, int64_t begin_ns, int64_t end_ns)
{
	assert_true(end_ns >= begin_ns);
	buf_printf(self, "piece %d; ", graph);
}

static void on_broke(void *self, int index, int64_t begin_ns, int64_t end_ns)
{
	assert_true(end_ns >= begin_ns);
	buf_printf(self, "break %d; ", index);
}

static void on_crossed(void *self, int index, int64_t kept, int64_t moved)
{
	buf_printf(self, "break %d keeps %d, moves %d; ", index, (int)kept, (int)moved);
}

/* A break within a helper is met while that of its call is. */
static void an_observer_is_told_of_pieces_and_the_breaks_between_them(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC,
				      "import torch\n"
				      "def inner(x):\n"
				      "    x = x + 1\n"
				      "    torch._dynamo.graph_break()\n"
				      "    return x * x\n"
				      "def model(x):\n"
				      "    y = x * 2\n"
				      "    z = inner(y)\n"
				      "    return z + x\n");
	struct buf seen = { 0 };
	struct fusion_observer times = { .self = &seen, .piece = on_piece, .broke = on_broke };
	struct fusion_observer bytes = { .self = &seen, .crossed = on_crossed };
	struct value x = FLOATS(&e, 1, 4, 3);

	(void)state;
	value_unref(engine_call(&e, &x, 1));
	assert_int_equal(fusion_counts(e.session).n_breaks, 2);
	fusion_observe(e.session, &times);
	value_unref(engine_call(&e, &x, 1));
	assert_string_equal(seen.data, "piece 0; piece 1; break 1; piece 2; break 0; piece 3; ");
	buf_clear(&seen);
	fusion_observe(e.session, &bytes);
	value_unref(engine_call(&e, &x, 1));
	/* 48 bytes each: y, that inner reads; then x + 1 alone, nobody needs y any more */
	assert_string_equal(seen.data, "break 0 keeps 48, moves 0; break 0 keeps 0, moves 96; "
				       "break 1 keeps 48, moves 0; break 1 keeps 0, moves 96; ");
	fusion_observe(e.session, NULL);
	value_unref(x);
	buf_finish(&seen);
	engine_close(&e);
}

static void on_eager_op(void *self, const char *name, int line)
{
	buf_printf(self, "%s:%d ", name, line);
}

static void an_observer_is_told_of_eager_ops_and_their_lines(void **state)
{
	struct engine e = engine_open("interp", FUSION_EAGER,
				      "import torch\n"
				      "def model(x):\n"
				      "    y = torch.sin(x) + 1\n"
				      "    return y.sum()\n");
	struct buf seen = { 0 };
	struct fusion_observer observer = { .self = &seen, .eager_op = on_eager_op };
	struct value x = FLOATS(&e, 1, 4, 3), out;

	(void)state;
	fusion_observe(e.session, &observer);
	out = engine_call(&e, &x, 1);
	assert_string_equal(seen.data, "sin:3 add:3 sum:4 ");
	value_unref(out);
	value_unref(x);
	buf_finish(&seen);
	engine_close(&e);
}

struct seen_memory {
	struct buf text;
	const void *block[16];
	int n;
	int64_t used_bytes;
};

static void on_took(void *self, const struct fusion_memory *what, const void *block, int64_t bytes,
		    int64_t used_bytes, int64_t at_ns)
{
	static const char *const uses[USE_COUNT] = { "other", "output", "temporary", "constant",
						     "recording" };
	struct seen_memory *m = self;

	assert_true(at_ns > 0);
	m->used_bytes += bytes;
	assert_int_equal(m->used_bytes, used_bytes);
	m->block[m->n++ % 16] = block;
	buf_printf(&m->text, "+%lld %s g%d k%d %s:%d", (long long)bytes, uses[what->use],
		   what->graph, what->kernel, what->op ? what->op : "?", what->line);
	for (int d = 0; d < what->rank; d++)
		buf_printf(&m->text, "%s%lld", d ? "," : " ", (long long)what->size[d]);
	buf_puts(&m->text, "; ");
}

static void on_gave(void *self, const void *block, int64_t bytes, int64_t used_bytes, int64_t at_ns)
{
	struct seen_memory *m = self;
	int i = m->n - 1;

	assert_true(at_ns > 0);
	m->used_bytes -= bytes;
	assert_int_equal(m->used_bytes, used_bytes);
	while (i > 0 && m->block[i % 16] != block)
		i--;
	buf_printf(&m->text, "-%d; ", i);
}

/* The program's call in a mode, the second time: all is compiled. */
static void see_memory(const char *backend, enum fusion_mode mode, const char *source,
		       const char *want)
{
	struct engine e = engine_open(backend, mode, source);
	struct value x = FLOATS(&e, 1, 256, 256), out;
	struct seen_memory seen = { 0 };
	struct fusion_observer observer = { .self = &seen, .took = on_took, .gave = on_gave };

	value_unref(engine_call(&e, &x, 1));
	seen.used_bytes = (int64_t)allocator_used_bytes(fusion_allocator(e.f));
	fusion_observe(e.session, &observer);
	out = engine_call(&e, &x, 1);
	assert_string_equal(seen.text.len ? seen.text.data : "", want);
	fusion_observe(e.session, NULL);
	value_unref(out);
	assert_string_equal(seen.text.len ? seen.text.data : "",
			    want); /* nobody watches any more */
	value_unref(x);
	buf_finish(&seen.text);
	engine_close(&e);
}

static void an_observer_is_told_of_memory_and_what_it_is_for(void **state)
{
	static const char *const source = "import torch\n"
					  "def model(x):\n"
					  "    y = x @ x\n"
					  "    z = torch.sin(y @ x)\n"
					  "    return z.sum(dim=1)\n";

	(void)state;
	/* an eager op's line is eager_op()'s */
	see_memory("interp", FUSION_EAGER, source,
		   "+262144 output g-1 k0 ?:0 256,256; +262144 output g-1 k0 ?:0 256,256; "
		   "+262144 output g-1 k0 ?:0 256,256; -1; +1024 output g-1 k0 ?:0 256; -0; -2; ");
	see_memory("interp", FUSION_STATIC, source,
		   "+262208 temporary g0 k0 matmul:3 256,256; "
		   "+262208 temporary g0 k1 matmul:4 256,256; +1024 output g0 k1 sum:5 256; "
		   "-0; -1; ");
	/* its recording keeps the temporaries, and a result that nobody has any more */
	see_memory("cpu", FUSION_GRAPHS, source, "");
}

static void an_eager_session_launches_once_an_op(void **state)
{
	struct engine e = engine_open("interp", FUSION_EAGER, CHAIN);
	struct value x = FLOATS(&e, 1, 4, 3), out = engine_call(&e, &x, 1);

	(void)state;
	assert_int_equal(fusion_counts(e.session).launches, 5);
	assert_int_equal(fusion_counts(e.session).graphs, 0);
	value_unref(out);
	value_unref(x);
	engine_close(&e);
}

/* A module's weights are made before the first call, so no call launched them. */
static void what_the_module_ran_no_call_launched(void **state)
{
	static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_LAZY };

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct engine e = engine_open("interp", modes[i],
					      "import torch\n"
					      "w = torch.sin(torch.ones(3))\n"
					      "def model(x):\n"
					      "    return x * w\n");
		struct value x = FLOATS(&e, 1, 3), out = engine_call(&e, &x, 1);

		engine_near(out, 0, sin(1) * engine_at(x, 0));
		assert_int_equal(fusion_counts(e.session).launches, 1);
		value_unref(out);
		value_unref(x);
		engine_close(&e);
	}
}

static void a_compiled_chain_is_one_launch(void **state)
{
	struct engine e = engine_open("interp", FUSION_STATIC, CHAIN);
	struct value x = FLOATS(&e, 1, 4, 3), out = engine_call(&e, &x, 1);

	(void)state;
	assert_int_equal(fusion_counts(e.session).launches, 1);
	assert_int_equal(fusion_graph(e.session, 0).n_kernels, 1);
	value_unref(out);
	value_unref(x);
	engine_close(&e);
}

static void one_tensor_twice_and_two_tensors_are_different_calls(void **state)
{
	struct engine e = engine_open("interp", FUSION_EAGER,
				      "import torch\n"
				      "def model(x, y):\n"
				      "    return x + x, y + x, y + y, x + y\n");
	struct value in[2] = { FLOATS(&e, 1, 4), FLOATS(&e, 2, 4) };

	(void)state;
	for (int call = 0; call < 2; call++) {
		struct value out = engine_call(&e, in, 2);
		double x = engine_at(in[0], 1), y = engine_at(in[1], 1);
		const double want[] = { x + x, y + x, y + y, x + y };

		for (int i = 0; i < 4; i++)
			engine_near(out.list->at[i], 1, want[i]);
		value_unref(out);
	}
	engine_drop(in, 2);
	engine_close(&e);
}

static void eager_frees_intermediates_at_once(void **state)
{
	struct engine e = engine_open("interp", FUSION_EAGER,
				      "import torch\n"
				      "def model(x):\n"
				      "    for i in range(50):\n"
				      "        x = x + i\n"
				      "    return x\n");
	struct value x = FLOATS(&e, 1, 1000), out;
	struct allocator *a = fusion_allocator(e.f);

	(void)state;
	allocator_reset_peak(a);
	out = engine_call(&e, &x, 1);
	engine_near(out, 5, engine_at(x, 5) + 1225);
	assert_true(allocator_peak_bytes(a) <= 3 * 4000 + 100);
	value_unref(out);
	value_unref(x);
	engine_close(&e);
}

/* x.a = x, alone and through another tensor and a list: engine_close() finds what is left. */
static void a_tensor_that_holds_itself_is_freed(void **state)
{
	static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_LAZY };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct engine e = engine_open("interp", modes[i],
					      "def model(x):\n"
					      "    x.own = x\n"
					      "    y = x * 2\n"
					      "    z = y + 1\n"
					      "    y.other = [z]\n"
					      "    z.other = y\n"
					      "    return z.other.other[0] * x.own\n");
		struct value x = FLOATS(&e, 1, 4), out = engine_call(&e, &x, 1);

		engine_drop(&out, 1);
		engine_drop(&x, 1);
		engine_close(&e);
	}
}

static void print_writes_to_the_sessions_buffer(void **state)
{
	struct engine e = engine_open("interp", FUSION_EAGER,
				      "import torch\n"
				      "def model(x):\n"
				      "    print('sizes', x.shape, 1.5)\n"
				      "    return x\n");
	struct value x = FLOATS(&e, 1, 4, 3);

	(void)state;
	value_unref(engine_call(&e, &x, 1));
	assert_string_equal(fusion_stdout(e.session)->data, "sizes torch.Size([4, 3]) 1.5\n");
	value_unref(x);
	engine_close(&e);
}

static void modes_have_names(void **state)
{
	enum fusion_mode mode;

	(void)state;
	for (int i = 0; i < FUSION_MODE_COUNT; i++) {
		assert_true(fusion_mode_from_name(fusion_mode_name((enum fusion_mode)i), &mode));
		assert_int_equal(mode, i);
	}
	assert_false(fusion_mode_from_name("fast", &mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_of_two_threads_do_not_meet),
		cmocka_unit_test(threads_may_share_a_program),
		cmocka_unit_test(an_observer_is_told_of_compiles_launches_and_phases),
		cmocka_unit_test(an_observer_is_told_of_eager_ops_and_their_lines),
		cmocka_unit_test(an_observer_is_told_of_memory_and_what_it_is_for),
		cmocka_unit_test(an_observer_is_told_of_pieces_and_the_breaks_between_them),
		cmocka_unit_test(an_eager_session_launches_once_an_op),
		cmocka_unit_test(what_the_module_ran_no_call_launched),
		cmocka_unit_test(a_compiled_chain_is_one_launch),
		cmocka_unit_test(one_tensor_twice_and_two_tensors_are_different_calls),
		cmocka_unit_test(eager_frees_intermediates_at_once),
		cmocka_unit_test(a_tensor_that_holds_itself_is_freed),
		cmocka_unit_test(print_writes_to_the_sessions_buffer),
		cmocka_unit_test(modes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
