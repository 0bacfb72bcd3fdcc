/* tests/bench/bench_nvrtc.c -- what a cold compile for a GPU costs, and NVRTC's part of it.
 *
 * The sweep's chain of n statements over [8, 16] and a sum, static and dynamic, over and
 * over in one process whose first compile is left out: milliseconds, the median and the
 * quartiles.  Without a GPU the stand-in driver of tests/cuda will do (kernels are compiled,
 * not run): LD_LIBRARY_PATH=build/tests/cuda.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/cuda/device/device.h"
#include "fusion/base/clock.h"
#include "fusion/session/fusion_private.h"
#include "server/cli/heap.h"
#include "tests/bench/chain.h"

enum { ROUNDS = 9, MOST = 30 };

static struct {
	typeof(&nvrtcCompileProgram) real;
	int64_t ns;
} nvrtc;

static nvrtcResult timed(nvrtcProgram program, int n_options, const char *const *options)
{
	int64_t begin = clock_ns();
	nvrtcResult result = nvrtc.real(program, n_options, options);

	nvrtc.ns += clock_ns() - begin;
	return result;
}

static void die(const struct err *err)
{
	fprintf(stderr, "bench_nvrtc: %s\n", err->message);
	exit(1);
}

static struct fusion_program *parsed(int n)
{
	char source[4096];
	struct fusion_program *program;
	struct err err = { 0 };

	chain(source, sizeof(source), n);
	program = fusion_parse(source, strlen(source), "model", &err);
	if (!program)
		die(&err);
	return program;
}

/* A first call of the chain: ms of its compile, and of NVRTC in it. */
static void compile(struct fusion *f, const struct fusion_program *program, enum fusion_mode mode,
		    double *all, double *part)
{
	struct tensor *t = tensor_create(fusion_allocator(f), DTYPE_F32, 2, (int64_t[]){ 8, 16 },
					 NULL);
	struct value x = fusion_value(t), out;
	struct fusion_session *session;
	struct err err = { 0 };

	tensor_unref(t);
	nvrtc.ns = 0;
	session = fusion_session(f, program, mode, &err);
	if (!session || !fusion_call(session, &x, 1, &out, &err))
		die(&err);
	*all = (double)fusion_graph(session, 0).compile_ns / 1e6;
	*part = (double)nvrtc.ns / 1e6;
	value_unref(out);
	value_unref(x);
	fusion_session_destroy(session);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(double *ms)
{
	qsort(ms, ROUNDS, sizeof(*ms), by_size);
	printf("  %6.1f (%5.1f - %5.1f)", ms[ROUNDS / 2], ms[ROUNDS / 4], ms[ROUNDS * 3 / 4]);
}

static void row(struct fusion *f, int n)
{
	static const enum fusion_mode modes[] = { FUSION_STATIC, FUSION_DYNAMIC };
	struct fusion_program *program = parsed(n);
	double all[ROUNDS], part[ROUNDS];

	printf("%4d", n);
	for (int m = 0; m < 2; m++) {
		for (int r = 0; r < ROUNDS; r++)
			compile(f, program, modes[m], &all[r], &part[r]);
		print(all);
		print(part);
	}
	puts("");
	fusion_program_destroy(program);
}

int main(void)
{
	struct fusion_options options = { .backend = "cuda", .threads = 1 };
	struct fusion_program *first;
	struct err err = { 0 };
	struct fusion *f;
	double unused;

	heap_take(); /* as the commands do */
	f = fusion_create(&options, &err);
	if (!f) {
		printf("skipped: %s\n", err.message);
		return 0;
	}
	nvrtc.real = f->env.backend_env.device->api.nvrtcCompileProgram;
	f->env.backend_env.device->api.nvrtcCompileProgram = timed;
	first = parsed(1);
	compile(f, first, FUSION_STATIC, &unused, &unused);
	fusion_program_destroy(first);
	puts("ms to compile n statements: static, NVRTC's part; dynamic, NVRTC's part");
	for (int n = 1; n <= MOST; n += n == 1 ? 4 : 5)
		row(f, n);
	fusion_destroy(f);
	return 0;
}
