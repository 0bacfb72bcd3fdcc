/* tests/bench/bench_fusion.c -- what the constants of fuse_cost.c stand for, and
 * whether fused kernels win.
 *
 * Blocks of models and made-up programs run fused and one kernel an op, in
 * generated C, one thread.  A figure is the smallest of many rounds: a neighbour on
 * the machine adds time and never takes any.  A block that is slower fused than in
 * parts is marked: that is a fault of the cost model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/backends.h"
#include "fusion/base/clock.h"
#include "fusion/passes/passes.h"

enum { ROUNDS = 40, MOST_INPUTS = 3 };

/* Makes a graph's outputs from its inputs; the last node. */
typedef int build_fn(struct graph *g, const int *inputs);

struct block {
	const char *name;
	build_fn *build;
	int64_t inputs[MOST_INPUTS][2]; /* rows, columns; rows 0: one dim; both 0: no more */
};

static void stop(const struct err *err)
{
	fprintf(stderr, "bench_fusion: %s\n", err->message);
	exit(1);
}

static int add(struct graph *g, enum op op, const struct arg *args, int n)
{
	struct err err = { 0 };
	int id = graph_add(g, &(struct node_spec){ op, args, n, 0, 0 }, &err);

	if (id < 0)
		stop(&err);
	return id;
}
#define ADD(g, op, ...)                                                                            \
	add(g, op, (const struct arg[]){ __VA_ARGS__ },                                            \
	    sizeof((const struct arg[]){ __VA_ARGS__ }) / sizeof(struct arg))
#define T(id) arg_node(id)
#define F(x) arg_float(x)

#define DIM(g, dim) arg_ints((const struct sym *[]){ sym_const((g)->syms, dim) }, 1)

static int softmax(struct graph *g, const int *in)
{
	return ADD(g, OP_softmax, T(in[0]), arg_int(g, -1));
}

static int layer_norm(struct graph *g, const int *in)
{
	const struct sym *columns = g->nodes[in[1]]->shape.size[0];

	return ADD(g, OP_layer_norm, T(in[0]), arg_ints(&columns, 1), T(in[1]), T(in[2]));
}

static int layer_norm_gelu(struct graph *g, const int *in)
{
	return ADD(g, OP_gelu, T(layer_norm(g, in)));
}

static int rms_norm(struct graph *g, const int *in)
{
	int square = ADD(g, OP_mul, T(in[0]), T(in[0]));
	int mean = ADD(g, OP_mean, T(square), DIM(g, 1), arg_bool(true));
	int scale = ADD(g, OP_rsqrt, T(ADD(g, OP_add, T(mean), F(1e-6))));

	return ADD(g, OP_mul, T(ADD(g, OP_mul, T(in[0]), T(scale))), T(in[1]));
}

static int bias_gelu(struct graph *g, const int *in)
{
	return ADD(g, OP_gelu, T(ADD(g, OP_add, T(in[0]), T(in[1]))));
}

static int full_sum(struct graph *g, const int *in)
{
	return ADD(g, OP_sum, T(ADD(g, OP_mul, T(in[0]), T(in[0]))));
}

static int column_sum(struct graph *g, const int *in)
{
	return ADD(g, OP_sum, T(in[0]), DIM(g, 0));
}

static int cheap_chain(struct graph *g, const int *in)
{
	int x = in[0];

	for (int i = 0; i < 10; i++)
		x = ADD(g, i % 2 ? OP_add : OP_mul, T(x), F(1.5));
	return x;
}

static int sines(struct graph *g, const int *in)
{
	int x = in[0];

	for (int i = 0; i < 10; i++)
		x = ADD(g, OP_sin, T(x));
	return x;
}

/* A small operand's exp, wanted at every point: what LIMIT_RECOMPUTE is about. */
static int small_exp(struct graph *g, const int *in)
{
	return ADD(g, OP_mul, T(in[0]), T(ADD(g, OP_exp, T(in[1]))));
}

static int small_adds(struct graph *g, const int *in)
{
	int x = in[1];

	for (int i = 0; i < 4; i++)
		x = ADD(g, OP_add, T(x), F(0.5));
	return ADD(g, OP_mul, T(in[0]), T(x));
}

/* 120 values that are all alive at once. */
static int many_alive(struct graph *g, const int *in)
{
	int alive[120], x = in[0];

	for (int i = 0; i < 120; i++)
		x = alive[i] = ADD(g, OP_mul, T(x), F(1.0 + i * 1e-3));
	for (int i = 119; i >= 0; i--)
		x = ADD(g, OP_add, T(x), T(alive[i]));
	return x;
}

static const struct block blocks[] = {
	{ "launch: 10 cheap ops on 16 elements", cheap_chain, { { 0, 16 } } },
	{ "10 cheap ops, 2^20", cheap_chain, { { 1024, 1024 } } },
	{ "10 sines, 2^20", sines, { { 1024, 1024 } } },
	{ "120 values alive at once, 2^20", many_alive, { { 1024, 1024 } } },
	{ "x * exp(row), [512, 1024]", small_exp, { { 512, 1024 }, { 0, 1024 } } },
	{ "x * exp(row), [4, 64]", small_exp, { { 4, 64 }, { 0, 64 } } },
	{ "x * (row + 4 numbers), [512, 1024]", small_adds, { { 512, 1024 }, { 0, 1024 } } },
	{ "softmax [4096, 1024]", softmax, { { 4096, 1024 } } },
	{ "softmax [4096, 64]", softmax, { { 4096, 64 } } },
	{ "layer_norm [4096, 1024]", layer_norm, { { 4096, 1024 }, { 0, 1024 }, { 0, 1024 } } },
	{ "layer_norm + gelu [4096, 1024]",
	  layer_norm_gelu,
	  { { 4096, 1024 }, { 0, 1024 }, { 0, 1024 } } },
	{ "rms_norm [4096, 1024]", rms_norm, { { 4096, 1024 }, { 0, 1024 } } },
	{ "bias + gelu [4096, 1024]", bias_gelu, { { 4096, 1024 }, { 0, 1024 } } },
	{ "sum of squares, 2^22", full_sum, { { 2048, 2048 } } },
	{ "column sum [4096, 1024]", column_sum, { { 4096, 1024 } } },
};

struct way {
	struct arena arena;
	const struct lowered *l;
	struct executable *exe;
	void **buffers;
	double ns;
};

static void open_way(struct way *w, const struct block *block, bool fused)
{
	struct pass_options options = { .no_fusion = !fused };
	struct backend_env env = { .compile_timeout_ms = 20000 };
	struct graph *g = graph_create(&w->arena);
	struct pass_result result;
	struct err err = { 0 };
	int inputs[MOST_INPUTS], out, n = 0;

	for (; n < MOST_INPUTS && block->inputs[n][1]; n++) {
		struct shape shape = { .rank = block->inputs[n][0] ? 2 : 1 };

		shape.size[0] = sym_const(g->syms, block->inputs[n][shape.rank == 1]);
		shape.size[1] = sym_const(g->syms, block->inputs[n][1]);
		inputs[n] = graph_input(g, DTYPE_F32, &shape, NULL);
	}
	out = block->build(g, inputs);
	if (!graph_set_outputs(g, &out, 1) || !passes_run(g, &options, &result, &err))
		stop(&err);
	w->l = lower_graph(result.graph, result.group, result.why, false, &w->arena, &err);
	w->exe = w->l ? backend_find("cpu")->compile(&env, w->l, NULL, &err) : NULL;
	if (!w->exe || !backend_find("cpu")->bind(w->exe, (int64_t[]){ 0 }, &err))
		stop(&err);
	w->buffers = calloc((size_t)w->l->n_buffers, sizeof(*w->buffers));
	for (int i = 0; i < w->l->n_buffers; i++) {
		int64_t size = sym_eval(w->l->buffers[i].numel, NULL);
		float *memory = aligned_alloc(64, (size_t)(size * 4 + 127) / 64 * 64);

		for (int64_t j = 0; j < size; j++)
			memory[j] = (float)(j % 200) / 100 - 1;
		w->buffers[i] = memory;
	}
}

static void close_way(struct way *w)
{
	for (int i = 0; i < w->l->n_buffers; i++)
		free(w->buffers[i]);
	free(w->buffers);
	backend_find("cpu")->destroy(w->exe);
	arena_finish(&w->arena);
}

static void measure(struct way *w, int calls)
{
	int64_t begin = clock_ns();
	double ns;

	for (int c = 0; c < calls; c++)
		for (int k = 0; k < w->l->n_kernels; k++)
			backend_find("cpu")->launch(w->exe, k, w->buffers, NULL, k % 2);
	ns = (double)(clock_ns() - begin) / calls;
	if (w->ns == 0 || ns < w->ns)
		w->ns = ns;
}

int main(int argc, char **argv)
{
	char why[512];

	if (!backend_find("cpu")->available(&(struct backend_env){ 0 }, why, sizeof(why))) {
		puts(why);
		return 0;
	}
	printf("vector unit %s; ns a call, smallest of %d rounds\n", backend_vector_unit(), ROUNDS);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		const struct block *block = &blocks[i];
		double points = (double)(block->inputs[0][0] ? block->inputs[0][0] : 1) *
				(double)block->inputs[0][1];
		struct way fused = { 0 }, parts = { 0 };

		if (argc > 1 && !strstr(block->name, argv[1]))
			continue;
		open_way(&fused, block, true);
		open_way(&parts, block, false);
		for (int r = 0; r < ROUNDS; r++) {
			measure(&fused, points < 4096 ? 1000 : 1);
			measure(&parts, points < 4096 ? 1000 : 1);
		}
		printf("%-36s %2d kernels %12.0f (%.3f a point), parts %2d %12.0f: x %.2f%s\n",
		       block->name, fused.l->n_kernels, fused.ns, fused.ns / points,
		       parts.l->n_kernels, parts.ns, parts.ns / fused.ns,
		       fused.ns > 1.05 * parts.ns ? "  SLOWER FUSED" : "");
		close_way(&fused);
		close_way(&parts);
	}
	return 0;
}
