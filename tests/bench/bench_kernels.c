/* tests/bench/bench_kernels.c -- what fusion and generated C are worth.
 *
 * A chain of 30 statements and a sum, float32, one thread: op by op through the
 * interpreter (as eager does), fused in the interpreter, fused in generated C.
 * The three take turns in rounds; a ratio is the median of the rounds' ratios
 * with the quartiles beside it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/backends.h"
#include "fusion/base/clock.h"
#include "fusion/passes/passes.h"

enum { ROUNDS = 31, WAYS = 3, STATEMENTS = 30 };

static const char *const way_names[WAYS] = { "op by op", "interp", "generated C" };

/* A statement: an op and its number, 0 where it has none. */
struct statement {
	enum op op;
	double number;
};

/* The chain of the seed's sweep at n = 30, and one of cheap ops alone. */
static const struct statement seed[] = {
	{ OP_add, 0.1 },   { OP_sin, 0 },     { OP_mul, 1.1 },   { OP_cos, 0 },   { OP_add, 0.2 },
	{ OP_relu, 0 },    { OP_sub, 0.1 },   { OP_mul, 0.5 },   { OP_exp, 0 },   { OP_add, 0.3 },
	{ OP_sigmoid, 0 }, { OP_mul, 1.2 },   { OP_sin, 0 },     { OP_add, 0.4 }, { OP_cos, 0 },
	{ OP_sub, 0.2 },   { OP_relu, 0 },    { OP_add, 0.5 },   { OP_mul, 0.4 }, { OP_exp, 0 },
	{ OP_mul, 1.3 },   { OP_sigmoid, 0 }, { OP_add, 0.1 },   { OP_sin, 0 },   { OP_mul, 1.1 },
	{ OP_cos, 0 },     { OP_add, 0.2 },   { OP_relu, 0 },    { OP_sub, 0.1 }, { OP_mul, 0.5 },
	{ OP_exp, 0 },     { OP_add, 0.3 },   { OP_sigmoid, 0 },
};
enum { N_SEED = sizeof(seed) / sizeof(*seed) };
static const struct statement cheap[] = { { OP_add, 0.1 }, { OP_mul, 1.1 }, { OP_relu, 0 } };

static void stop(const struct err *err)
{
	fprintf(stderr, "bench_kernels: %s\n", err->message);
	exit(1);
}

/* One way to run one program. */
struct way {
	struct arena arena;
	const struct backend *backend;
	const struct lowered *l;
	struct executable *exe;
	void **buffers;
	struct compile_stats stats;
	double ns[ROUNDS];
};

/* Statements one after the other, n of them over and over until there are `length`; on a
 * tensor of so many elements. */
struct chain {
	const struct statement *at;
	int n, length;
	int64_t size;
};

static struct graph *make_graph(struct arena *arena, const struct chain *c)
{
	struct graph *g = graph_create(arena);
	struct shape shape = { .rank = 1, .size = { sym_const(g->syms, c->size) } };
	int x = graph_input(g, DTYPE_F32, &shape, NULL);
	struct err err = { 0 };

	for (int i = 0; i < c->length && x >= 0; i++) {
		const struct statement *s = &c->at[i % c->n];
		struct arg args[2] = { arg_node(x), arg_float(s->number) };

		x = graph_add(g, &(struct node_spec){ s->op, args, s->number != 0 ? 2 : 1, 0, 0 },
			      &err);
	}
	x = x < 0 ? x
		  : graph_add(g,
			      &(struct node_spec){ OP_sum, (struct arg[]){ arg_node(x) }, 1, 0, 0 },
			      &err);
	if (x < 0 || !graph_set_outputs(g, &x, 1))
		stop(&err);
	return g;
}

static void open_way(struct way *w, const char *backend, bool fused, const struct chain *c)
{
	struct pass_options options = { .no_fusion = !fused };
	struct backend_env env = { .compile_timeout_ms = 20000 };
	struct pass_result result;
	struct err err = { 0 };

	*w = (struct way){ .backend = backend_find(backend) };
	if (!passes_run(make_graph(&w->arena, c), &options, &result, &err))
		stop(&err);
	w->l = lower_graph(result.graph, result.group, result.why, false, &w->arena, &err);
	if (!w->l)
		stop(&err);
	w->exe = w->backend->compile(&env, w->l, &w->stats, &err);
	if (!w->exe || !w->backend->bind(w->exe, (int64_t[]){ 0 }, &err))
		stop(&err);
	w->buffers = calloc((size_t)w->l->n_buffers, sizeof(*w->buffers));
	for (int i = 0; i < w->l->n_buffers; i++) {
		float *memory = aligned_alloc(64, (size_t)(c->size * 4 + 127) / 64 * 64);

		for (int64_t j = 0; j < c->size; j++)
			memory[j] = (float)(j % 200) / 100 - 1;
		w->buffers[i] = memory;
	}
}

static void close_way(struct way *w)
{
	for (int i = 0; i < w->l->n_buffers; i++)
		free(w->buffers[i]);
	free(w->buffers);
	w->backend->destroy(w->exe);
	arena_finish(&w->arena);
}

static void launch(struct way *w, int64_t calls)
{
	for (int64_t c = 0; c < calls; c++)
		for (int k = 0; k < w->l->n_kernels; k++)
			w->backend->launch(w->exe, k, w->buffers, NULL, k % 2);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_ratio(const struct way *w, const struct way *base, const char *name)
{
	double ratio[ROUNDS], ns[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		ratio[r] = base->ns[r] / w->ns[r];
		ns[r] = w->ns[r];
	}
	qsort(ratio, ROUNDS, sizeof(*ratio), by_value);
	qsort(ns, ROUNDS, sizeof(*ns), by_value);
	printf("  %-12s %3d launches %12.0f ns   x %.2f (%.2f - %.2f)\n", name, w->l->n_kernels,
	       ns[ROUNDS / 2], ratio[ROUNDS / 2], ratio[ROUNDS / 4], ratio[ROUNDS * 3 / 4]);
}

static void compare(const char *title, const struct chain *c)
{
	int64_t calls = c->size < 4096 ? 200 : 1;
	struct way ways[WAYS];

	open_way(&ways[0], "interp", false, c);
	open_way(&ways[1], "interp", true, c);
	open_way(&ways[2], "cpu", true, c);
	for (int w = 0; w < WAYS; w++)
		launch(&ways[w], 3);
	for (int r = 0; r < ROUNDS; r++)
		for (int w = 0; w < WAYS; w++) {
			int64_t begin = clock_ns();

			launch(&ways[w], calls);
			ways[w].ns[r] = (double)(clock_ns() - begin) / (double)calls;
		}
	printf("%s, %d statements, %lld elements (compiled in %.1f ms)\n", title, c->length,
	       (long long)c->size, (double)ways[2].stats.compile_ns / 1e6);
	for (int w = 0; w < WAYS; w++)
		print_ratio(&ways[w], &ways[0], way_names[w]);
	for (int w = 0; w < WAYS; w++)
		close_way(&ways[w]);
}

/* The compiler alone, over and over: the median. */
static void cold_compile(int times)
{
	double ms[ROUNDS];

	for (int i = 0; i < times; i++) {
		struct way w;

		open_way(&w, "cpu", true, &(struct chain){ seed, N_SEED, N_SEED, 128 });
		ms[i] = (double)w.stats.compile_ns / 1e6;
		if (i == 0 && getenv("SHOW_SOURCE"))
			puts(w.stats.source);
		close_way(&w);
	}
	qsort(ms, (size_t)times, sizeof(*ms), by_value);
	printf("cold compile of the seed's chain: %.1f ms (%.1f - %.1f)\n", ms[times / 2],
	       ms[times / 4], ms[times * 3 / 4]);
}

int main(void)
{
	static const int64_t sizes[] = { 16, 127, 128, 1024, 16 * 1024, 1 << 20 };
	char why[512];

	if (!backend_find("cpu")->available(&(struct backend_env){ 0 }, why, sizeof(why))) {
		puts(why);
		return 0;
	}
	printf("vector unit %s\n", backend_vector_unit());
	cold_compile(15);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		compare("seed's pool", &(struct chain){ seed, N_SEED, N_SEED, sizes[i] });
		compare("cheap pool", &(struct chain){ cheap, 3, STATEMENTS, sizes[i] });
		compare("one op", &(struct chain){ cheap, 3, 1, sizes[i] });
	}
	return 0;
}
