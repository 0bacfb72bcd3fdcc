/* tests/test_fusion_graphs.c -- mode graphs: launches recorded once, replayed with other
 * memory (test_fusion_replay.c: what is looked at again before).
 *
 * What a replay gives is compared with mode static, bit by bit, or with numbers
 * computed here.
 */
#include <math.h>
#include <stdlib.h>

#include "fusion/tensor/view.h"
#include "tests/engine.h"

static const char CHAIN[] = "import torch\n"
			    "def model(x):\n"
			    "    y = torch.sin(x + 0.1) * 2\n"
			    "    return y\n";

static const char *const backends[] = { "interp", "cpu" };
enum { BACKENDS = 2 };

static struct engine open_threads(const char *backend, enum fusion_mode mode, const char *source,
				  int threads)
{
	struct fusion_options options = { .backend = backend,
					  .cache_dir = shared_kernels(),
					  .threads = threads };
	struct err err = { 0 };
	struct engine e = { .f = fusion_create(&options, &err) };

	if (e.f)
		e.program = fusion_parse(source, strlen(source), "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	return e;
}

static struct fusion_recording recording(const struct engine *e, int graph)
{
	assert_true(graph < fusion_counts(e->session).n_graphs);
	return fusion_graph(e->session, graph).recording;
}

static void same_bits(struct value a, struct value b)
{
	const struct tensor *x = a.tensor->memory, *y = b.tensor->memory;

	assert_int_equal(x->dtype, y->dtype);
	assert_int_equal(tensor_numel(x), tensor_numel(y));
	assert_true(tensor_contiguous(x) && tensor_contiguous(y));
	assert_memory_equal(tensor_data(x), tensor_data(y),
			    (size_t)tensor_numel(x) * dtype_bytes(x->dtype));
}

/* ---- the same launches */

/* One for each form of kernel, and for what is around it. */
static const char *const bodies[] = {
	"y = torch.sin(x + 0.1) * 2",                      /* MAP */
	"y = (x.t() + x.t().contiguous()).contiguous()",   /* MAP that gathers */
	"y = torch.cat([x, x * 2, torch.cos(x)], dim=1)",  /* of a join */
	"y = x.sum()",                                     /* ROWS, one */
	"y = torch.softmax(x, dim=1)",                     /* ROWS with several passes */
	"y = (x - x.mean(dim=1, keepdim=True)) * x.sum()", /* with a setup */
	"y = x.sum(dim=0)",                                /* COLS */
	"y = torch.softmax(x, dim=0)",                     /* COLS with several passes */
	"y = torch.relu(x @ x.t()).sum(dim=1)",            /* LIBRARY and what follows it */
	"y = torch.sort(x, dim=1)[0].cumsum(1)",
	"y = (x > 0).any(dim=1)",
	"y = torch.arange(5) * 2", /* no input */
	"y = x.half() * 2",
	"y = torch.exp(torch.sin(x).sum(dim=1, keepdim=True) / 1000 + x).sum(dim=0)",
	"y = x * 1",
};

static void replays_equal_static(const char *backend, const char *body, int64_t rows,
				 int64_t columns, int threads)
{
	char source[512];
	struct engine graphs, plain;
	int64_t replays;

	snprintf(source, sizeof(source), "import torch\ndef model(x):\n    %s\n    return y\n",
		 body);
	graphs = open_threads(backend, FUSION_GRAPHS, source, threads);
	plain = open_threads(backend, FUSION_STATIC, source, threads);
	for (int i = 0; i < 5; i++) { /* the third and on: the same tensor again */
		static struct value x, held;
		struct value y, z;

		if (i < 3)
			x = FLOATS(&graphs, i, rows, columns);
		y = engine_call(&graphs, &x, 1);
		z = engine_call(&plain, &x, 1);
		same_bits(y, z);
		value_unref(z);
		if (i == 2)
			held = y;
		else
			value_unref(y);
		if (i == 4)
			value_unref(held);
		if (i != 2 && i != 3)
			value_unref(x);
	}
	replays = recording(&graphs, 0).replays;
	assert_true(replays > 0 || fusion_graph(graphs.session, 0).n_kernels == 0);
	assert_int_equal(replays, 5 * recording(&graphs, 0).made);
	assert_int_equal(recording(&graphs, 0).refused, 0);
	engine_close(&graphs);
	engine_close(&plain);
}

static void every_form_of_kernel_is_replayed(void **state)
{
	static const int64_t sizes[][2] = { { 8, 16 }, { 3, 5 }, { 1, 1 }, { 70, 129 }, { 0, 4 } };

	(void)state;
	for (int b = 0; b < BACKENDS; b++)
		for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
			for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
				if (engine_has(backends[b]))
					replays_equal_static(backends[b], bodies[i], sizes[s][0],
							     sizes[s][1], 1);
}

static void threads_share_replays_as_they_share_launches(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		replays_equal_static("interp", bodies[i], 256, 600, 4);
}

/* ---- what escapes */

static void held_results_are_not_overwritten(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS, CHAIN);
	struct value x = FLOATS(&e, 0, 4, 4), held[6];

	(void)state;
	for (int i = 0; i < 6; i++) {
		((float *)tensor_data(x.tensor->memory))[0] = (float)i;
		held[i] = engine_call(&e, &x, 1);
	}
	for (int i = 0; i < 6; i++)
		engine_near(held[i], 0, 2 * sin(i + 0.1));
	engine_drop(held, 6);
	value_unref(x);
	engine_close(&e);
}

/* A view that outlives its tensor has its elements still. */
static void views_of_results_are_not_overwritten(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS,
				      "import torch\n"
				      "def model(x):\n"
				      "    y = x + 1\n"
				      "    return y.view(2, 8)[1]\n");
	struct value x = FLOATS(&e, 0, 4, 4), first, second;
	float *at = tensor_data(x.tensor->memory);
	double want = at[8] + 1.0f;

	(void)state;
	first = engine_call(&e, &x, 1);
	at[8] = 100;
	second = engine_call(&e, &x, 1);
	engine_near(first, 0, want);
	engine_near(second, 0, 101);
	value_unref(first);
	value_unref(second);
	value_unref(x);
	engine_close(&e);
}

/* Memory that the caller holds without the value around it. */
static void memory_that_is_held_is_not_overwritten(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS, CHAIN);
	struct value x = FLOATS(&e, 0, 4), y;
	struct tensor *held[8], *t;

	(void)state;
	for (int i = 0; i < 8; i++) {
		((float *)tensor_data(x.tensor->memory))[0] = (float)i;
		y = engine_call(&e, &x, 1);
		t = y.tensor->memory;
		held[i] = i < 4 ? tensor_ref(t)
				: tensor_view(t, 1, (int64_t[]){ 1 }, (int64_t[]){ 1 }, 0, NULL);
		value_unref(y);
	}
	for (int i = 0; i < 8; i++) {
		assert_true(fabs(tensor_get_double(held[i], 0) - 2 * sin(i + 0.1)) < 1e-5);
		tensor_unref(held[i]);
	}
	value_unref(x);
	engine_close(&e);
}

/* The next call's input is the last one's result: x = f(x). */
static void results_may_be_the_next_inputs(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS,
				      "import torch\n"
				      "def model(x):\n"
				      "    return x * 2 + 1\n");
	struct value x = FLOATS(&e, 0, 3);
	double want = engine_at(x, 0);

	(void)state;
	for (int i = 0; i < 12; i++) {
		struct value y = engine_call(&e, &x, 1);

		want = want * 2 + 1;
		engine_near(y, 0, want);
		value_unref(x);
		x = y;
	}
	value_unref(x);
	engine_close(&e);
}

/* What somebody did to a result is not done to the next one. */
static void a_result_that_was_marked_is_not_made_again(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS, CHAIN);
	struct value x = FLOATS(&e, 0, 3), y;

	(void)state;
	for (int i = 0; i < 9; i++) {
		y = engine_call(&e, &x, 1);
		assert_null(y.tensor->grad);
		engine_near(y, 0, 2 * sin(engine_at(x, 0) + 0.1));
		if (i % 3 == 2)
			assert_true(fusion_require_grad(e.session, y, NULL));
		value_unref(y);
	}
	value_unref(x);
	engine_close(&e);
}

/* A result that nobody has is made again in its place, without new memory. */
static void dropped_results_make_room(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS, CHAIN);
	struct value x = FLOATS(&e, 0, 4, 4), y;
	const void *place;
	size_t used;

	(void)state;
	for (int i = 0; i < 3; i++) {
		y = engine_call(&e, &x, 1);
		place = tensor_data(y.tensor->memory);
		value_unref(y);
	}
	used = allocator_used_bytes(fusion_allocator(e.f));
	allocator_reset_peak(fusion_allocator(e.f));
	y = engine_call(&e, &x, 1);
	assert_ptr_equal(tensor_data(y.tensor->memory), place);
	assert_int_equal(allocator_peak_bytes(fusion_allocator(e.f)), used);
	value_unref(y);
	value_unref(x);
	engine_close(&e);
}

/* ---- what a replay has to do besides */

static void an_index_out_of_bounds_is_an_error_in_a_replay(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS,
				      "import torch\n"
				      "def model(x, i):\n"
				      "    return x[i] * 2\n");
	struct value args[2] = { FLOATS(&e, 0, 4),
				 engine_tensor(&e, DTYPE_I64, 1, (int64_t[]){ 2 }) };
	int64_t *index = tensor_data(args[1].tensor->memory);

	(void)state;
	for (int i = 0; i < 8; i++) {
		index[0] = 1;
		index[1] = i % 3 == 2 ? 9 : 3;
		if (i % 3 == 2) {
			struct err err = engine_fails(&e, args, 2);

			assert_non_null(strstr(err.message, "index 9 is out of bounds"));
		} else {
			struct value y = engine_call(&e, args, 2);

			engine_near(y, 1, 2 * engine_at(args[0], 3));
			value_unref(y);
		}
	}
	engine_drop(args, 2);
	engine_close(&e);
}

/* Graphs of a session share the memory of temporaries; a later one may need more. */
static void temporaries_are_shared(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS,
				      "import torch\n"
				      "def model(x):\n"
				      "    y = torch.softmax(x @ x.t(), dim=1)\n"
				      "    return (y @ y).sum()\n");
	struct engine eager = engine_open("interp", FUSION_EAGER,
					  "import torch\n"
					  "def model(x):\n"
					  "    y = torch.softmax(x @ x.t(), dim=1)\n"
					  "    return (y @ y).sum()\n");
	struct value x[3] = { FLOATS(&e, 0, 4, 3), FLOATS(&e, 1, 40, 3), FLOATS(&e, 2, 90, 3) };
	size_t most = 0;

	(void)state;
	for (int i = 0; i < 12; i++) {
		struct value y = engine_call(&e, &x[i % 4 % 3], 1);
		struct value z = engine_call(&eager, &x[i % 4 % 3], 1);

		engine_near(y, 0, engine_at(z, 0));
		value_unref(y);
		value_unref(z);
	}
	assert_int_equal(fusion_counts(e.session).n_graphs, 3);
	for (int i = 0; i < 3; i++)
		most = recording(&e, i).held_bytes > most ? recording(&e, i).held_bytes : most;
	assert_int_equal(recording(&e, 2).held_bytes, most);
	engine_drop(x, 3);
	engine_close(&eager);
	engine_close(&e);
}

struct watcher {
	int kernels, launched, phases[PHASE_COUNT];
};

static void on_launched(void *self, int graph, int kernel, int64_t begin_ns, int64_t end_ns)
{
	struct watcher *w = self;

	assert_int_equal(graph, 0);
	assert_int_equal(kernel, w->launched % w->kernels);
	assert_true(end_ns >= begin_ns);
	w->launched++;
}

static void on_phase(void *self, enum fusion_phase phase, int64_t begin_ns, int64_t end_ns)
{
	struct watcher *w = self;

	assert_true(end_ns >= begin_ns);
	w->phases[phase]++;
}

static void replays_are_watched_kernel_by_kernel(void **state)
{
	struct engine e = engine_open("interp", FUSION_GRAPHS,
				      "import torch\n"
				      "def model(x):\n"
				      "    return torch.relu((x @ x) @ x + 1) @ x\n");
	struct watcher w = { 0 };
	struct fusion_observer observer = { .self = &w,
					    .launched = on_launched,
					    .phase = on_phase };
	struct value x = FLOATS(&e, 0, 4, 4), y = engine_call(&e, &x, 1), z;
	int kernels = fusion_graph(e.session, 0).n_kernels;

	(void)state;
	assert_true(kernels > 1);
	w.kernels = kernels;
	fusion_observe(e.session, &observer);
	for (int i = 0; i < 2; i++) {
		z = engine_call(&e, &x, 1);
		same_bits(y, z);
		value_unref(z);
	}
	assert_int_equal(w.launched, 2 * kernels);
	assert_int_equal(w.phases[PHASE_KERNEL], 2 * kernels);
	assert_int_equal(w.phases[PHASE_GUARDS], 2);
	assert_int_equal(w.phases[PHASE_ALLOC], 2);
	value_unref(y);
	value_unref(x);
	engine_close(&e);
}

/* Pieces between ops that are not lowered, and rounds of a loop, are recorded each. */
static void pieces_are_recorded(void **state)
{
	static const char *const deny[] = { "sort" };
	static const char SOURCE[] = "import torch\n"
				     "def model(x):\n"
				     "    y = torch.sort(torch.sin(x), dim=0)[0]\n"
				     "    return torch.cos(y) + 1\n";
	struct fusion_options options = {
		.backend = "interp", .threads = 1, .deny = deny, .n_deny = 1
	};
	struct engine e = { .f = fusion_create(&options, NULL) }, plain;
	struct value x;

	(void)state;
	plain = engine_open("interp", FUSION_STATIC, SOURCE);
	e.program = fusion_parse(SOURCE, strlen(SOURCE), "model", NULL);
	e.session = fusion_session(e.f, e.program, FUSION_GRAPHS, NULL);
	x = FLOATS(&e, 0, 6, 5);
	for (int i = 0; i < 4; i++) {
		struct value y = engine_call(&e, &x, 1), z = engine_call(&plain, &x, 1);

		for (int64_t k = 0; k < 30; k++)
			engine_near(y, k, engine_at(z, k));
		value_unref(y);
		value_unref(z);
	}
	assert_true(recording(&e, 0).made >= 3);
	assert_int_equal(recording(&e, 0).replays, 4 * recording(&e, 0).made);
	value_unref(x);
	engine_close(&plain);
	engine_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_kernel_is_replayed),
		cmocka_unit_test(threads_share_replays_as_they_share_launches),
		cmocka_unit_test(held_results_are_not_overwritten),
		cmocka_unit_test(views_of_results_are_not_overwritten),
		cmocka_unit_test(memory_that_is_held_is_not_overwritten),
		cmocka_unit_test(results_may_be_the_next_inputs),
		cmocka_unit_test(a_result_that_was_marked_is_not_made_again),
		cmocka_unit_test(dropped_results_make_room),
		cmocka_unit_test(an_index_out_of_bounds_is_an_error_in_a_replay),
		cmocka_unit_test(temporaries_are_shared),
		cmocka_unit_test(replays_are_watched_kernel_by_kernel),
		cmocka_unit_test(pieces_are_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
