/* tests/test_fusion_cuda.c -- backend cuda on a GPU that does nothing: what it launches.
 *
 * A recording's CUDA graph is compared with the launches of the same recording one by
 * one: functions, grids and every parameter.
 */
#include <stdlib.h>

#include "fusion/fusion_private.h"
#include "fusion/runtime/record/record.h"
#include "fusion/runtime/tensor/view.h"
#include "tests/cuda_stand_in.h"

static struct fusion_recording recording(const struct engine *e)
{
	assert_int_equal(fusion_graph_count(e->session), 1);
	return fusion_graph(e->session, 0).recording;
}

static struct engine open_graphs(const char *body)
{
	char source[2048];

	snprintf(source, sizeof(source), "import torch\ndef model(x, w):\n    %s\n    return y\n",
		 body);
	return engine_open("cuda", FUSION_GRAPHS, source);
}

/* What the call launched, and what the same recording launches kernel by kernel. */
static void same_launches(struct stand_in *gpu, const struct engine *e, int graphs)
{
	const struct exec *x = e->session->session.graphs.at[0]->exec;
	char *of_call = strdup(gpu->log());

	assert_int_equal(gpu->graphs(), graphs);
	assert_true(strlen(of_call) > 0);
	gpu->clear();
	for (int k = 0; k < x->lowered->n_kernels; k++)
		x->backend->replay(x->record->recording, k, NULL, false);
	assert_string_equal(of_call, gpu->log());
	free(of_call);
}

static const char *const long_bodies[] = {
	"y = (torch.sin(x).sum(dim=1) * torch.cos(x).sum(dim=0)).sum() + torch.exp(x).sum(dim=0)",
	"y = torch.relu(x @ w) @ w - (x @ x).sum()",
	"y = torch.softmax(torch.softmax(torch.softmax(x, 0), 1), 0).sum(0)",
};

static void a_graph_launches_what_its_kernels_launch(void **state)
{
	struct stand_in gpu = stand_in_open();

	(void)state;
	for (size_t b = 0; b < sizeof(long_bodies) / sizeof(*long_bodies); b++) {
		struct engine e = open_graphs(long_bodies[b]);
		struct value x = FLOATS(&e, 0, 8, 8), other = FLOATS(&e, 1, 8, 8), held[4];

		for (int i = 0; i < 4; i++) { /* results are held: outputs move, inputs too */
			struct value args[] = { i % 2 ? x : other, i < 2 ? x : other };

			gpu.clear();
			held[i] = engine_call(&e, args, 2);
			same_launches(&gpu, &e, 1);
		}
		assert_int_equal(recording(&e).made, 1);
		assert_int_equal(recording(&e).direct, 0);
		assert_int_equal(recording(&e).replays, 4);
		assert_null(recording(&e).why_direct);
		engine_drop(held, 4);
		value_unref(x);
		value_unref(other);
		engine_close(&e);
	}
}

/* Memory at an odd address has kernels of its own. */
static void a_graph_follows_memory_to_odd_addresses(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = open_graphs(long_bodies[0]);
	struct value base = FLOATS(&e, 0, 10, 8), w = FLOATS(&e, 1, 8, 8);

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct tensor *t = tensor_view(base.tensor->memory, 2, (int64_t[]){ 8, 8 },
					       (int64_t[]){ 8, 1 }, i % 2, NULL);
		struct value args[] = { fusion_value(t), w }, y;
		char first[32];

		tensor_unref(t);
		gpu.clear();
		y = engine_call(&e, args, 2);
		snprintf(first, sizeof(first), "%llx", (unsigned long long)tensor_kernel_reads(t));
		assert_non_null(strstr(gpu.log(), first));
		same_launches(&gpu, &e, 1);
		value_unref(y);
		value_unref(args[0]);
	}
	engine_drop((struct value[]){ base, w }, 2);
	engine_close(&e);
}

static void what_would_not_pay_is_launched_directly(void **state)
{
	struct stand_in gpu = stand_in_open();
	static const struct {
		const char *body, *why;
	} cases[] = {
		{ "y = torch.sin(x + 0.1).sum()", "a CUDA graph of one kernel takes longer" },
		{ "y = torch.softmax(x, 1).sum(0)", "a CUDA graph of two kernels takes longer" },
		{ "y = torch.cumprod(x, 1).exp().sum(0).cumprod(0).exp()", "runs on the host" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct engine e = open_graphs(cases[i].body);
		struct value args[] = { FLOATS(&e, 0, 8, 8), FLOATS(&e, 1, 8, 8) }, y;

		gpu.clear();
		y = engine_call(&e, args, 2);
		assert_int_equal(gpu.graphs(), 0);
		assert_int_equal(recording(&e).made, 1);
		assert_int_equal(recording(&e).direct, 1);
		assert_non_null(strstr(recording(&e).why_direct, cases[i].why));
		value_unref(y);
		engine_drop(args, 2);
		engine_close(&e);
	}
}

/* The stand-in takes 64 nodes. */
static void what_the_driver_makes_no_graph_of_is_launched_directly(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = open_graphs("y = x\n    for i in range(70):\n        y = y @ w");
	struct value args[] = { FLOATS(&e, 0, 8, 8), FLOATS(&e, 1, 8, 8) }, y;

	(void)state;
	for (int i = 0; i < 2; i++) {
		gpu.clear();
		y = engine_call(&e, args, 2);
		same_launches(&gpu, &e, 0);
		value_unref(y);
	}
	assert_non_null(strstr(recording(&e).why_direct, "CUDA_ERROR_INVALID_VALUE"));
	engine_drop(args, 2);
	engine_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_launches_what_its_kernels_launch),
		cmocka_unit_test(a_graph_follows_memory_to_odd_addresses),
		cmocka_unit_test(what_would_not_pay_is_launched_directly),
		cmocka_unit_test(what_the_driver_makes_no_graph_of_is_launched_directly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
