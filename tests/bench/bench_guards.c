/* tests/bench/bench_guards.c -- nanoseconds of the search for an entry.
 *
 *	bench_guards
 *	bench_guards --count 0|1|2
 *
 * What a call pays before its kernels: guards of one and of twenty tensors that
 * hold, and a miss over eight entries.  A figure is the median over rounds with
 * the quartiles beside it; the bar is what the design allows.
 *
 * --count does one of the three searches COUNTED times and times nothing.  Instructions
 * do not depend on what else a machine does; valgrind, which nothing else here
 * needs, counts those of the searches alone:
 *
 *	valgrind --tool=callgrind --callgrind-out-file=/dev/null \
 *	    --collect-atstart=no --toggle-collect=count_searches bench_guards --count 0
 *
 * and "Collected" divided by COUNTED is instructions a search.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/err.h"
#include "fusion/tensor/tensor.h"
#include "fusion/backends/backends.h"
#include "fusion/base/buf.h"
#include "fusion/base/clock.h"
#include "fusion/fusion.h"
#include "fusion/session/session.h"

enum { ROUNDS = 41, SEARCHES = 20000, COUNTED = 1000, MOST = 20 };

struct inside { /* a session, seen from inside */
	struct exec_env env;
	struct lang_program *program;
	struct session session;
};

static void stop(const char *what, const struct err *err)
{
	fprintf(stderr, "bench_guards: %s: %s\n", what, err->message);
	exit(1);
}

static void open_inside(struct inside *w, int tensors)
{
	struct session_options options = { .env = &w->env,
					   .backend = backend_find("interp"),
					   .recompile_limit = RECOMPILE_LIMIT,
					   .mode = FUSION_STATIC,
					   .compiled = true };
	struct err err = { 0 };
	struct buf source;

	memset(w, 0, sizeof(*w));
	w->env.allocator = allocator_create((size_t)1 << 30, NULL);
	w->env.pool = pool_create(1);
	buf_init(&source, 0);
	buf_puts(&source, "def model(x0");
	for (int i = 1; i < tensors; i++)
		buf_printf(&source, ", x%d", i);
	buf_puts(&source, "):\n    return x0");
	for (int i = 1; i < tensors; i++)
		buf_printf(&source, " + x%d", i);
	buf_puts(&source, " + 1\n");
	w->program = lang_compile(source.data, source.len, NULL, &err);
	buf_finish(&source);
	if (!w->program || !session_init(&w->session, &options, w->program, "model", &err))
		stop("model", &err);
}

static void close_inside(struct inside *w)
{
	session_finish(&w->session);
	lang_destroy(w->program);
	pool_destroy(w->env.pool);
	allocator_destroy(w->env.allocator);
}

static void make_args(struct inside *w, struct value *args, int n, int64_t rows)
{
	int64_t size[2] = { rows, 16 };

	for (int i = 0; i < n; i++)
		args[i] = tensor_wrap(tensor_create(w->env.allocator, DTYPE_F32, 2, size, NULL));
}

static void drop_args(struct value *args, int n)
{
	for (int i = 0; i < n; i++)
		value_unref(args[i]);
}

static void call(struct inside *w, int n, int64_t rows)
{
	struct value args[MOST], out;
	struct err err = { 0 };

	make_args(w, args, n, rows);
	for (int i = 0; i < n; i++)
		memset(tensor_data(args[i].tensor->memory), 0, (size_t)rows * 16 * sizeof(float));
	if (!session_call(&w->session, args, n, &out, &err))
		stop("call", &err);
	value_unref(out);
	drop_args(args, n);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool report(const char *what, double *ns, double bar)
{
	qsort(ns, ROUNDS, sizeof(*ns), by_size);
	printf("%-34s %7.1f ns  (%.1f to %.1f)   bar %.0f ns%s\n", what, ns[ROUNDS / 2],
	       ns[ROUNDS / 4], ns[3 * ROUNDS / 4], bar, ns[ROUNDS / 2] <= bar ? "" : "  MISSED");
	return ns[ROUNDS / 2] <= bar;
}

/* `entries` compiled versions; the search is for a call that the last one made
 * serves, or for one that none does. */
static const struct {
	const char *what;
	int tensors, entries;
	bool hit;
	double bar;
} cases[] = {
	{ "1 tensor, hit", 1, 1, true, 25 },
	{ "20 tensors, hit", 20, 1, true, 200 },
	{ "1 tensor, miss over 8 entries", 1, 8, false, 300 },
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static bool search(struct inside *w, const struct roots *roots, int n, bool hit)
{
	int64_t checks = 0;
	bool ok = true;

	for (int i = 0; i < n; i++)
		ok &= (resume_point_find(w->session.start, roots, &checks) != NULL) == hit;
	return ok;
}

/* What valgrind counts: a function of its own that nothing inlines. */
__attribute__((noinline)) static bool count_searches(struct inside *w, const struct roots *roots,
						     bool hit)
{
	return search(w, roots, COUNTED, hit);
}

static bool measure(int index, bool counted)
{
	bool hit = cases[index].hit, ok;
	int tensors = cases[index].tensors, entries = cases[index].entries;
	struct inside w;
	struct value args[MOST];
	double ns[ROUNDS];
	struct roots roots;

	open_inside(&w, tensors);
	for (int i = 0; i < entries; i++)
		call(&w, tensors, 4 + i);
	make_args(&w, args, tensors, hit ? 3 + entries : 100);
	roots = (struct roots){ .locals = args, .vm = w.session.vm };
	ok = !counted || count_searches(&w, &roots, hit);
	for (int r = 0; !counted && r < ROUNDS; r++) {
		int64_t begin = clock_ns();

		ok &= search(&w, &roots, SEARCHES, hit);
		ns[r] = (double)(clock_ns() - begin) / SEARCHES;
	}
	if (!ok)
		stop(cases[index].what, &(struct err){ .message = "the search went wrong" });
	ok = counted || report(cases[index].what, ns, cases[index].bar);
	drop_args(args, tensors);
	close_inside(&w);
	return ok;
}

int main(int argc, char **argv)
{
	int index = argc == 3 && strcmp(argv[1], "--count") == 0 ? atoi(argv[2]) : -1;
	bool ok = true;

	if (argc > 1 && (index < 0 || index >= CASES)) {
		fprintf(stderr, "usage: bench_guards [--count 0|1|2]\n");
		return 2;
	}
	if (index >= 0) {
		printf("%s: %d searches\n", cases[index].what, COUNTED);
		return measure(index, true) ? 0 : 1;
	}
	for (int i = 0; i < CASES; i++)
		ok &= measure(i, false);
	return ok ? 0 : 1;
}
