/* fusion/backends/library/draw.c -- which numbers PyTorch's kernels draw on a GPU (library.h). */
#include "fusion/backends/library/library.h"

#include <math.h>
#include <string.h>

#include "fusion/base/generators.h"

enum {
	BLOCK = 256,       /* threads */
	ROW_BLOCK = 128,   /* of multinomial's kernel */
	WORDS = 4,         /* of 32 bits, of a call of Philox */
	VECTOR_BYTES = 16, /* that a dropout's kernel loads at most */
	BERNOULLI_TAKES = 12,
	KEEP_LOAD = 3, /* the argument */
	DROP_LOAD = 2,
};

enum draw_how draw_how(enum op op, const char *draws)
{
	static const struct {
		const char *draws;
		enum draw_how how;
	} numbers[] = {
		{ "gpu", DRAW_UNIT },
		{ "log", DRAW_LOG },
		{ "cauchy", DRAW_CAUCHY },
		{ "geometric", DRAW_GEOMETRIC },
	};

	if (op == OP_keep)
		return DRAW_KEEP;
	if (op == OP_drop)
		return DRAW_DROP;
	if (op == OP_random_ints)
		return DRAW_INTS;
	if (op == OP_normal)
		return strcmp(draws, "exp") == 0 ? DRAW_EXP : DRAW_NORMAL;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(draws, numbers[i].draws) == 0)
			return numbers[i].how;
	return DRAW_OPEN;
}

bool draw_on_gpu(const struct library_call *call)
{
	const struct arg *draws;

	if (!call->random || call->random->gpu.threads == 0)
		return false;
	draws = node_arg(call->node, "draws");
	return draw_is_dropout(call) || (draws && strcmp(draws->str, "cpu") != 0);
}

static int64_t ceil_of(int64_t n, int64_t by)
{
	return (n + by - 1) / by;
}

static int64_t grid(const struct library_call *call, int64_t n)
{
	int64_t wanted = ceil_of(n, BLOCK) * BLOCK, most = call->random->gpu.threads;

	return wanted < most ? wanted : most;
}

/* Numbers `threads` apart. */
static void plan_apart(const struct library_call *call, struct draw *d)
{
	struct draw_args *a = &d->args;
	int64_t values = a->wide ? WORDS / 2 : WORDS, rounds;

	a->threads = grid(call, a->points);
	rounds = ceil_of(a->points, a->threads * values);
	a->calls = rounds * a->threads;
	d->taken = (uint64_t)rounds * WORDS;
}

static double number_of(const struct library_call *call, const char *name)
{
	const struct arg *arg = node_arg(call->node, name);

	return arg->kind == ARG_FLOAT ? arg->f : (double)arg->sym->value;
}

static double rounded(enum dtype dtype, double x)
{
	double room = 0;

	dtype_put_double(dtype, &room, 0, x);
	return dtype_get_double(dtype, &room, 0);
}

/* As many elements side by side as a load has room for and as divide them all. */
static void plan_keep(const struct library_call *call, struct draw *d)
{
	struct draw_args *a = &d->args;
	const struct gpu_generator *g = &call->random->gpu;
	double p = 1 - number_of(call, "p");
	bool keep = call->node->op == OP_keep;
	enum dtype dtype = keep ? node_arg(call->node, "dtype")->dtype : call->node->dtype;
	int bytes = g->element_bytes ? g->element_bytes : (int)dtype_bytes(dtype);
	int64_t load = call->number[keep ? KEEP_LOAD : DROP_LOAD];
	int side;

	load = load < VECTOR_BYTES ? load : VECTOR_BYTES;
	side = load > bytes ? (int)load / bytes : 1;

	while (a->points % side != 0)
		side /= 2;
	a->how = keep ? DRAW_KEEP : DRAW_DROP;
	a->a = bytes == sizeof(double) ? p : (double)(float)p;
	a->b = rounded(dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32, 1 / a->a);
	plan_apart(call, d);
	if (side == 1)
		return;
	a->side = side;
	a->calls = ceil_of(a->points, a->threads * side) * a->threads * ceil_of(side, WORDS);
}

static void plan_ints(const struct library_call *call, const char *draws, struct draw *d)
{
	struct draw_args *a = &d->args;

	a->how = DRAW_INTS;
	a->low = call->number[0];
	a->range = (uint64_t)call->number[1] - (uint64_t)call->number[0];
	a->wide = strcmp(draws, "wide") == 0 ||
		  (strcmp(draws, "gpu") == 0 && a->range >= UINT64_C(1) << 28);
	plan_apart(call, d);
}

/* One thread a number, and whole blocks for a row. */
static void plan_rows(const struct library_call *call, struct draw *d)
{
	struct draw_args *a = &d->args;
	int rank = call->out.rank;

	a->row = rank > 0 ? call->out.size[rank - 1] : 1;
	a->pitch = ceil_of(a->row, ROW_BLOCK) * ROW_BLOCK;
	a->threads = a->calls = a->points;
	d->taken = WORDS;
}

static void plan_fours(struct draw *d)
{
	d->args.side = WORDS;
	d->args.threads = d->args.calls = ceil_of(d->args.points, WORDS);
	d->taken = BERNOULLI_TAKES;
}

/* One after the other, all of one thread. */
static void plan_line(struct draw *d)
{
	d->args.threads = 1;
	d->args.calls = ceil_of(d->args.points, WORDS);
	d->taken = (uint64_t)d->args.calls * WORDS;
}

static void plan_floats(const struct library_call *call, const char *draws, struct draw *d)
{
	struct draw_args *a = &d->args;
	enum dtype dtype = call->out.dtype, wide = dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;

	a->a = rounded(wide, number_of(call, "a"));
	a->b = rounded(wide, number_of(call, "b"));
	a->wide = dtype == DTYPE_F64;
	a->how = draw_how(call->node->op, draws);
	if (a->how == DRAW_UNIT) { /* the bounds are of the dtype */
		a->start = a->a = rounded(dtype, a->a);
		a->end = rounded(dtype, a->b);
		a->b = rounded(dtype, a->end - a->start);
	} else if (a->how == DRAW_LOG) {
		a->b = rounded(wide, -1 / a->b);
	}
	if (draw_alone(draws))
		a->wide = 0;
	if (strcmp(draws, "rows") == 0)
		plan_rows(call, d);
	else if (strcmp(draws, "fours") == 0)
		plan_fours(d);
	else if (strcmp(draws, "line") == 0)
		plan_line(d);
	else
		plan_apart(call, d);
}

void draw_plan(const struct library_call *call, struct draw *d)
{
	const struct arg *draws = node_arg(call->node, "draws");

	*d = (struct draw){ .args = { .points = call->out.numel } };
	if (call->out.numel == 0)
		return;
	if (draw_is_dropout(call))
		plan_keep(call, d);
	else if (call->node->op == OP_random_ints)
		plan_ints(call, draws->str, d);
	else
		plan_floats(call, draws->str, d);
}

void draw_take(struct draw *d, struct generators *g, void *out)
{
	d->args.key = g->gpu.seed;
	d->args.first = g->gpu.offset / WORDS;
	d->args.out = out;
	g->gpu.offset += d->taken;
}
