/* tests/bench/bench_calls.c -- nanoseconds of one call, by mode and length of chain.
 *
 *	bench_calls [backend]     (default: interp, then cpu where it works)
 *
 * The chain is the seed's pool over [8,16] float32, one thread.  Modes take
 * turns in rounds, so that drift hits all alike; a figure is the median over
 * rounds with the quartiles beside it, a ratio is the median of the rounds'
 * ratios.  "floor" is a static call that computes nothing: guards and result.
 * Then what recording saves elsewhere: chains of 10 over larger tensors, and a
 * module of 8 Linear layers, whose parameters are guarded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/err.h"
#include "fusion/tensor/tensor.h"
#include "fusion/base/buf.h"
#include "fusion/base/clock.h"
#include "fusion/fusion.h"

enum {
	LAYERS = -1,
	/* instead of a length */ ROUNDS = 41,
	CALLS = 400,
	WARM_UP = 300,
	MODES = 4 /* eager, static, dynamic, graphs */
};

static const char *const pool[] = {
	"x = x + 0.1",       "x = torch.sin(x)",  "x = x * 1.1",          "x = torch.cos(x)",
	"x = x + 0.2",       "x = torch.relu(x)", "x = x - 0.1",          "x = x * 0.9",
	"x = torch.exp(x)",  "x = x + 0.3",       "x = torch.sigmoid(x)", "x = x * 1.2",
	"x = torch.sin(x)",  "x = x + 0.4",       "x = torch.cos(x)",     "x = x - 0.2",
	"x = torch.relu(x)", "x = x + 0.5",       "x = x * 0.8",          "x = torch.exp(x)",
};

static void stop(const char *what, const struct err *err)
{
	fprintf(stderr, "bench_calls: %s: %s\n", what, err->message);
	exit(1);
}

static void write_layers(struct buf *out)
{
	buf_puts(out,
		 "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n"
		 "    def __init__(self):\n        super().__init__()\n"
		 "        self.layers = nn.ModuleList([nn.Linear(16, 16) for i in range(8)])\n"
		 "    def forward(self, x):\n        for layer in self.layers:\n"
		 "            x = torch.relu(layer(x))\n        return x\n\nmodel = Model()\n");
}

static void write_source(struct buf *out, int n)
{
	if (n == LAYERS) {
		write_layers(out);
		return;
	}
	buf_puts(out, "import torch\ndef model(x):\n");
	for (int i = 0; i < n; i++)
		buf_printf(out, "    %s\n", pool[i % 20]);
	buf_puts(out, n ? "    return x.sum()\n" : "    return x\n");
}

struct subject {
	struct fusion_program *program;
	struct fusion_session *session;
	double ns[ROUNDS];
};

static struct subject open_subject(struct fusion *f, enum fusion_mode mode, int n)
{
	struct subject s = { 0 };
	struct err err = { 0 };
	struct buf source;

	buf_init(&source, 0);
	write_source(&source, n);
	s.program = fusion_parse(source.data, source.len, "model", &err);
	if (!s.program)
		stop("parse", &err);
	s.session = fusion_session(f, s.program, mode, &err);
	if (!s.session)
		stop("session", &err);
	buf_finish(&source);
	return s;
}

static void close_subject(struct subject *s)
{
	fusion_session_destroy(s->session);
	fusion_program_destroy(s->program);
}

static double time_calls(struct subject *s, struct value x, int calls)
{
	struct err err = { 0 };
	int64_t begin = clock_ns();

	for (int i = 0; i < calls; i++) {
		struct value out;

		if (!fusion_call(s->session, &x, 1, &out, &err))
			stop("call", &err);
		value_unref(out);
	}
	return (double)(clock_ns() - begin) / calls;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *values, double q)
{
	double sorted[ROUNDS];

	memcpy(sorted, values, sizeof(sorted));
	qsort(sorted, ROUNDS, sizeof(sorted[0]), ascending);
	return sorted[(int)(q * (ROUNDS - 1) + 0.5)];
}

static void ratio(const char *name, const double *a, const double *b)
{
	double r[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		r[i] = a[i] / b[i];
	printf("  %s %5.3f [%.3f %.3f]", name, quantile(r, 0.5), quantile(r, 0.25),
	       quantile(r, 0.75));
}

static void print_row(const char *label, const struct subject *s, int count)
{
	printf("%8s", label);
	for (int i = 0; i < count; i++)
		printf("  %7.0f [%.0f %.0f]", quantile(s[i].ns, 0.5), quantile(s[i].ns, 0.25),
		       quantile(s[i].ns, 0.75));
	if (count == MODES) {
		ratio("static/eager", s[1].ns, s[0].ns);
		ratio("dynamic/static", s[2].ns, s[1].ns);
		ratio("graphs/static", s[3].ns, s[1].ns);
	}
	printf("\n");
}

/* Rounds over the given modes of one chain. */
static void measure(struct fusion *f, struct value x, const char *label, int n,
		    const enum fusion_mode *modes, int count)
{
	struct subject s[MODES];

	for (int i = 0; i < count; i++) {
		s[i] = open_subject(f, modes[i], n);
		time_calls(&s[i], x, WARM_UP);
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < count; i++)
			s[i].ns[round] = time_calls(&s[i], x, CALLS);
	print_row(label, s, count);
	for (int i = 0; i < count; i++)
		close_subject(&s[i]);
}

static struct value make_tensor(struct fusion *f, int64_t rows, int64_t columns)
{
	struct err err = { 0 };
	struct tensor *t = tensor_create(fusion_allocator(f), DTYPE_F32, 2,
					 (int64_t[]){ rows, columns }, &err);
	struct value x;

	if (!t)
		stop("tensor", &err);
	for (int64_t i = 0; i < rows * columns; i++)
		((float *)tensor_data(t))[i] = (float)(i % 13) * 0.1f - 0.5f;
	x = fusion_value(t);
	tensor_unref(t);
	return x;
}

static void measure_elsewhere(struct fusion *f, struct value x, const enum fusion_mode *modes)
{
	const int64_t sides[] = { 32, 64, 128 };
	char label[16];

	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		struct value y = make_tensor(f, sides[i], sides[i]);

		snprintf(label, sizeof(label), "[%d,%d]", (int)sides[i], (int)sides[i]);
		measure(f, y, label, 10, modes, MODES);
		value_unref(y);
	}
	measure(f, x, "layers", LAYERS, modes, MODES);
}

static bool run(const char *backend)
{
	const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_DYNAMIC,
					   FUSION_GRAPHS };
	const int chains[] = { 1, 5, 10, 20, 30 };
	struct fusion_options options = { .backend = backend, .threads = 1 };
	struct err err = { 0 };
	struct fusion *f = fusion_create(&options, &err);
	struct value x;
	char label[16];

	if (!f) {
		printf("backend %s: left out: %s\n", backend, err.message);
		return false;
	}
	x = make_tensor(f, 8, 16);
	printf("backend %s, ns a call, median [quartiles] of %d rounds of %d calls\n", backend,
	       ROUNDS, CALLS);
	printf("%8s  %s\n", "n", "eager  static  dynamic  graphs");
	measure(f, x, "floor", 0, &modes[1], 1);
	for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
		snprintf(label, sizeof(label), "%d", chains[i]);
		measure(f, x, label, chains[i], modes, MODES);
	}
	measure_elsewhere(f, x, modes);
	value_unref(x);
	fusion_destroy(f);
	return true;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return run(argv[1]) ? 0 : 1;
	run("interp");
	run("cpu");
	return 0;
}
