/* tests/bench/bench_launch.c -- what a launch costs on a GPU, and what we add to it.
 *
 * The sweep's chain of n statements over [8, 16] and a sum: a call in each mode, and
 * the same kernel of static launched by hand in a loop with the driver's function, the
 * sides in turn.  Then CUDA graphs of m such kernels against m launches, and what it
 * costs to give a node new arguments.  Microseconds, the median of 15 batches.
 * Without a GPU it says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/cuda/device/device.h"
#include "fusion/base/clock.h"
#include "fusion/session/fusion_private.h"
#include "server/cli/heap.h"
#include "tests/bench/chain.h"

enum { BATCHES = 15, CALLS = 400, SIDES = 6, MAX_PARAMS = 16, INPUTS = 4 };

/* The first launch of a call, with its parameters. */
static struct {
	typeof(&cuLaunchKernel) real;
	CUDA_KERNEL_NODE_PARAMS launch;
	int n_params;
	uint64_t value[MAX_PARAMS];
	void *params[MAX_PARAMS];
} seen;

static CUresult spy(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
		    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
		    CUstream stream, void **params, void **extra)
{
	if (!seen.launch.func) {
		seen.launch = (CUDA_KERNEL_NODE_PARAMS){ .func = function,
							 .gridDimX = grid_x,
							 .gridDimY = grid_y,
							 .gridDimZ = grid_z,
							 .blockDimX = block_x,
							 .blockDimY = block_y,
							 .blockDimZ = block_z,
							 .sharedMemBytes = shared,
							 .kernelParams = seen.params };
		for (int i = 0; i < seen.n_params; i++) {
			memcpy(&seen.value[i], params[i], sizeof(seen.value[i]));
			seen.params[i] = &seen.value[i];
		}
	}
	return seen.real(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
			 stream, params, extra);
}

static double median(double *us, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && us[k] < us[k - 1]; k--) {
			double swap = us[k];

			us[k] = us[k - 1];
			us[k - 1] = swap;
		}
	return us[n / 2];
}

static void die(const char *what, const struct err *err)
{
	fprintf(stderr, "bench_launch: %s: %s\n", what, err->message);
	exit(1);
}

struct side {
	const char *name;
	struct fusion *engine;
	struct fusion_session *session;
	struct value inputs[INPUTS];
	int n_inputs; /* that are cycled over */
	double us[BATCHES];
	double compile_ms;
};

static struct value input(struct fusion *f, int64_t rows)
{
	struct tensor *t = tensor_create(fusion_allocator(f), DTYPE_F32, 2, (int64_t[]){ rows, 16 },
					 NULL);
	struct value v = fusion_value(t);

	for (int64_t i = 0; i < rows * 16; i++)
		((float *)tensor_data(t))[i] = (float)(i % 7) - 3;
	tensor_unref(t);
	return v;
}

static void call(struct side *s, int i)
{
	struct err err = { 0 };
	struct value out;

	if (!fusion_call(s->session, &s->inputs[i % s->n_inputs], 1, &out, &err))
		die(s->name, &err);
	value_unref(out);
}

static void open_side(struct side *s, const char *name, enum fusion_mode mode, const char *source,
		      int n_inputs, bool other_sizes)
{
	struct fusion_options options = { .backend = "cuda", .threads = 1 };
	struct fusion_program *program;
	struct err err = { 0 };

	*s = (struct side){ .name = name, .n_inputs = n_inputs };
	s->engine = fusion_create(&options, &err);
	program = s->engine ? fusion_parse(source, strlen(source), "model", &err) : NULL;
	s->session = program ? fusion_session(s->engine, program, mode, &err) : NULL;
	if (!s->session)
		die(name, &err);
	for (int i = 0; i < n_inputs; i++)
		s->inputs[i] = input(s->engine, other_sizes ? 4 + i : 8);
	for (int i = 0; i < 2 * INPUTS; i++)
		call(s, i);
	if (fusion_counts(s->session).n_graphs > 0)
		s->compile_ms = (double)fusion_graph(s->session, 0).compile_ns / 1e6;
}

static void see_launch(struct side *s)
{
	struct device *d = s->engine->env.backend_env.device;
	const char *source = fusion_graph(s->session, 0).source;
	const char *at = strstr(source, " k0(");

	seen.launch.func = NULL;
	seen.real = d->api.cuLaunchKernel;
	seen.n_params = 1;
	for (; at && *at != ')'; at++)
		seen.n_params += *at == ',';
	d->api.cuLaunchKernel = spy;
	call(s, 0);
	d->api.cuLaunchKernel = seen.real;
}

static double batch(struct side *s)
{
	struct device *d = s->engine->env.backend_env.device;
	int64_t begin;

	d->memory.wait(d);
	begin = clock_ns();
	for (int i = 0; i < CALLS; i++)
		call(s, i);
	d->memory.wait(d);
	return (double)(clock_ns() - begin) / 1000 / CALLS;
}

static double by_hand(struct device *d)
{
	const CUDA_KERNEL_NODE_PARAMS *l = &seen.launch;
	int64_t begin;

	d->memory.wait(d);
	begin = clock_ns();
	for (int i = 0; i < CALLS; i++)
		seen.real(l->func, l->gridDimX, l->gridDimY, 1, l->blockDimX, l->blockDimY, 1,
			  l->sharedMemBytes, d->stream, l->kernelParams, NULL);
	d->memory.wait(d);
	return (double)(clock_ns() - begin) / 1000 / CALLS;
}

/* ---- graphs of m kernels */

static void graphs_of(struct device *d, int m)
{
	CUgraphNode nodes[64];
	CUgraph graph;
	CUgraphExec run;
	double one_by_one[BATCHES], replay[BATCHES], moved[BATCHES];
	const int n = CALLS / m + 1;

	d->api.cuGraphCreate(&graph, 0);
	for (int i = 0; i < m; i++)
		d->api.cuGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i > 0,
					    &seen.launch);
	d->api.cuGraphInstantiate(&run, graph, 0);
	d->api.cuGraphUpload(run, d->stream);
	for (int b = 0; b < BATCHES; b++) {
		int64_t begin = clock_ns(), middle, end;

		for (int i = 0; i < n; i++)
			d->api.cuGraphLaunch(run, d->stream);
		d->memory.wait(d);
		middle = clock_ns();
		for (int i = 0; i < n; i++) {
			for (int k = 0; k < m; k++)
				d->api.cuGraphExecKernelNodeSetParams(run, nodes[k], &seen.launch);
			d->api.cuGraphLaunch(run, d->stream);
		}
		d->memory.wait(d);
		end = clock_ns();
		replay[b] = (double)(middle - begin) / 1000 / n;
		moved[b] = (double)(end - middle) / 1000 / n;
		one_by_one[b] = by_hand(d) * m;
	}
	d->api.cuGraphExecDestroy(run);
	d->api.cuGraphDestroy(graph);
	printf("%4d  %9.2f %9.2f %9.2f\n", m, median(one_by_one, BATCHES), median(replay, BATCHES),
	       median(moved, BATCHES));
}

static void row(int n, bool with_graphs)
{
	static const int sizes[] = { 1, 2, 3, 4, 5, 8, 10, 30 };
	struct side sides[SIDES];
	double hand[BATCHES], us[SIDES];
	char source[2048];
	struct device *d;

	chain(source, sizeof(source), n);
	open_side(&sides[0], "eager", FUSION_EAGER, source, 1, false);
	open_side(&sides[1], "static", FUSION_STATIC, source, 1, false);
	open_side(&sides[2], "dynamic", FUSION_DYNAMIC, source, 1, false);
	open_side(&sides[3], "graphs", FUSION_GRAPHS, source, 1, false);
	open_side(&sides[4], "dynamic, 4 sizes", FUSION_DYNAMIC, source, INPUTS, true);
	open_side(&sides[5], "graphs, 4 inputs", FUSION_GRAPHS, source, INPUTS, false);
	see_launch(&sides[1]);
	d = sides[1].engine->env.backend_env.device;
	for (int b = 0; b < BATCHES; b++) {
		hand[b] = by_hand(d);
		for (int i = 0; i < SIDES; i++)
			sides[i].us[b] = batch(&sides[i]);
	}
	printf("%4d  %9.2f", n, median(hand, BATCHES));
	for (int i = 0; i < SIDES; i++)
		printf(" %9.2f", us[i] = median(sides[i].us, BATCHES));
	printf(" %9.2f %9.2f %9.1f\n", us[1] / median(hand, BATCHES), us[2] / us[1],
	       sides[1].compile_ms);
	if (with_graphs) {
		printf("\nm kernels of that, one after the other: launched, as a CUDA graph, with "
		       "new arguments for each\n");
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			graphs_of(d, sizes[i]);
	}
}

int main(void)
{
	struct fusion_options options = { .backend = "cuda" };
	struct err err = { 0 };
	struct fusion *f;

	heap_take(); /* as the commands do */
	f = fusion_create(&options, &err);
	if (!f) {
		printf("skipped: %s\n", err.message);
		return 0;
	}
	printf("us a call of n statements: by hand, eager, static, dynamic, graphs, dynamic over 4 "
	       "sizes, graphs over 4 inputs; static / hand, dynamic / static, static's ms to "
	       "compile\n");
	for (int n = 1; n <= 30; n += n < 5 ? 1 : 5)
		row(n, n == 30);
	row(1, true);
	fusion_destroy(f);
	return 0;
}
