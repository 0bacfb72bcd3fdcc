/* fusion/backends/library/random.c -- rand, randn, randint, randperm from the run's generator.
 *
 * From the CPU's generator numbers are drawn one after the other, as PyTorch draws them
 * there, so they do not depend on threads; for a GPU's see library.h.
 */
#define FUNCTION_random(id) &library_##id
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/library/library.h"
#include "fusion/base/generators.h"
#include "fusion/base/philox.h"

/* ---- the numbers of a GPU's generator, made on the host: what
 * cuda/library/random.cu does.  Sines and logarithms of float32 are the host's, which differ in the
 * last digits from the fast ones that PyTorch takes there.
 */

/* Above 0 and up to 1. */
static float open_unit(uint32_t x)
{
	return fmaf((float)x, 2.3283064e-10f, 2.3283064e-10f / 2);
}

static double open_unit_wide(const uint32_t *w)
{
	return (double)(w[0] ^ (uint64_t)w[1] << 21) * 0x1p-53 + 0x1p-54;
}

/* Two normal numbers of two words, or of four. */
static void box_muller(const uint32_t *w, double out[2])
{
	const float turn = 2.3283064e-10f * 6.2831855f;
	float v = fmaf((float)w[1], turn, turn / 2);
	float s = sqrtf(-2 * logf(open_unit(w[0])));

	out[0] = sinf(v) * s;
	out[1] = cosf(v) * s;
}

static void box_muller_wide(const uint32_t *w, double out[2])
{
	double v = (double)(w[2] ^ (uint64_t)w[3] << 21) * 0x1p-52 + 0x1p-53;
	double s = sqrt(-2 * log(open_unit_wide(w)));

	out[0] = sin(M_PI * v) * s;
	out[1] = cos(M_PI * v) * s;
}

static double scaled(const struct draw_args *a, double x)
{
	return a->wide ? fma(x, a->b, a->a) : fmaf((float)x, (float)a->b, (float)a->a);
}

/* 1 and what is next to it have a logarithm, too: exponential_() is never 0. */
static double log_of(const struct draw_args *a, double x)
{
	double least = a->wide ? 0x1p-53 : 0x1p-24;

	if (x >= 1 - least)
		return -least;
	return a->wide ? log(x) : (double)logf((float)x);
}

/* What is made of a number from 0 to 1, or of a normal one. */
static double made_of(const struct draw_args *a, double x)
{
	const double least = 0x1p-23, turn = x - 0.5;

	switch (a->how) {
	case DRAW_KEEP:
	case DRAW_DROP:
		return x < a->a ? a->b : 0;
	case DRAW_LOG:
		return scaled(a, log_of(a, x));
	case DRAW_CAUCHY:
		if (a->wide)
			return scaled(a, tan(M_PI * turn));
		x = x > 1 - least ? 1 - least : x < least ? least : x;
		return scaled(a, tanf((float)M_PI * (float)(x - 0.5)));
	case DRAW_GEOMETRIC:
		return a->wide ? ceil(log(x) / log1p(-a->a))
			       : ceilf(logf((float)x) / logf(1 - (float)a->a));
	case DRAW_EXP:
		return a->wide ? exp(scaled(a, x)) : expf((float)scaled(a, x));
	case DRAW_OPEN:
		return x;
	default:
		return scaled(a, x);
	}
}

/* The numbers of one call; how many. */
static int numbers(const struct draw_args *a, const uint32_t *w, double out[PHILOX_WORDS])
{
	int n = a->wide ? PHILOX_WORDS / 2 : PHILOX_WORDS;

	bool normal = a->how == DRAW_NORMAL || a->how == DRAW_EXP;

	if (normal && a->wide) {
		box_muller_wide(w, out);
	} else if (normal) {
		box_muller(w, out);
		box_muller(w + 2, out + 2);
	} else {
		for (int i = 0; i < n; i++)
			out[i] = a->wide ? open_unit_wide(w + 2 * i) : (double)open_unit(w[i]);
	}
	for (int i = 0; i < n; i++)
		out[i] = made_of(a, out[i]);
	return n;
}

static int64_t int_of(const struct draw_args *a, const uint32_t *w, int lane)
{
	uint64_t x = a->wide ? (uint64_t)w[2 * lane] << 32 | w[2 * lane + 1] : w[lane];

	return (int64_t)((uint64_t)a->low + (a->range ? x % a->range : x));
}

static void store(const struct draw_args *a, enum dtype dtype, int64_t i, double x)
{
	if (a->how == DRAW_DROP)
		x *= dtype_get_double(dtype, a->x, i);
	dtype_put_double(dtype, a->out, i, x);
	if (a->how == DRAW_UNIT && dtype_get_double(dtype, a->out, i) == a->end)
		dtype_put_double(dtype, a->out, i, a->start);
}

/* Which element value `lane` of call `call` is; -1: none. */
static int64_t place(const struct draw_args *a, int64_t call, int lane)
{
	int64_t round = call / a->threads, thread = call % a->threads;
	int values = a->wide ? PHILOX_WORDS / 2 : PHILOX_WORDS, parts = a->side / PHILOX_WORDS;

	if (a->row)
		return lane == 0 ? call : -1;
	if (a->side == 0)
		return (round * values + lane) * a->threads + thread;
	if (parts == 0)
		return lane < a->side ? (round * a->threads + thread) * a->side + lane : -1;
	return (round / parts * a->threads + thread) * a->side + round % parts * PHILOX_WORDS +
	       lane;
}

static void thread_words(const struct draw_args *a, int64_t call, uint32_t *out)
{
	if (a->row)
		philox(a->key, a->first, (uint64_t)(call / a->row * a->pitch + call % a->row), out);
	else
		philox(a->key, a->first + (uint64_t)(call / a->threads),
		       (uint64_t)(call % a->threads), out);
}

static void draw_run(const struct draw_args *a, enum dtype dtype)
{
	for (int64_t call = 0; call < a->calls; call++) {
		double values[PHILOX_WORDS];
		uint32_t words[PHILOX_WORDS];
		int n;

		thread_words(a, call, words);
		n = numbers(a, words, values);
		for (int lane = 0; lane < n; lane++) {
			int64_t i = place(a, call, lane);

			if (i < 0 || i >= a->points)
				continue;
			if (a->how == DRAW_INTS)
				dtype_put_int(dtype, a->out, i, int_of(a, words, lane));
			else
				store(a, dtype, i, values[lane]);
		}
	}
}

/* ---- an order */

struct keyed {
	uint64_t key;
	int64_t at;
};

/* So many bits that two keys seldom are one. */
static int key_bits(int64_t n)
{
	double x = (double)n;
	double bits = ceil(log2(x - (6 * x * x + 1) / (log(0.9) * 12)));

	return bits < 64 ? (int)bits : 64;
}

/* By the lowest digit first, so that those of one key stay in order. */
static struct keyed *sort(struct keyed *from, struct keyed *to, int64_t n, int bits)
{
	for (int shift = 0; shift < bits; shift += 8) {
		int64_t count[256] = { 0 }, before = 0;
		struct keyed *made = to;

		for (int64_t i = 0; i < n; i++)
			count[from[i].key >> shift & 255]++;
		for (int digit = 0; digit < 256; digit++) {
			int64_t own = count[digit];

			count[digit] = before;
			before += own;
		}
		for (int64_t i = 0; i < n; i++)
			to[count[from[i].key >> shift & 255]++] = from[i];
		to = from;
		from = made;
	}
	return from;
}

/* Those of one key are exchanged at random, by words of their first one's thread. */
static void shuffle_equal(const struct gpu_generator *g, struct keyed *all, int64_t n)
{
	for (int64_t first = 0, size; first < n; first += size) {
		uint32_t words[PHILOX_WORDS];

		for (size = 1; first + size < n && all[first + size].key == all[first].key;)
			size++;
		for (int64_t i = size - 1, drawn = 0; i > 0; i--, drawn++) {
			int64_t other;
			struct keyed kept = all[first + i];

			if (drawn % PHILOX_WORDS == 0)
				philox(g->seed, g->offset / 4 + (uint64_t)drawn / PHILOX_WORDS,
				       (uint64_t)first, words);
			other = first + words[drawn % PHILOX_WORDS] % (uint64_t)(i + 1);
			all[first + i] = all[other];
			all[other] = kept;
		}
	}
}

/* Keys of 64 bits, whatever the dtype that PyTorch sorts: their range is more than 2^28. */
static void draw_keys(struct generators *g, struct keyed *all, int64_t n, int bits)
{
	int64_t most = g->gpu.threads, threads = (n + 255) / 256 * 256;
	bool ints = bits <= 32;
	uint64_t range = ints ? UINT32_MAX : UINT64_MAX,
		 low = (uint64_t)(ints ? INT32_MIN : INT64_MIN);
	uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
	int64_t rounds;

	threads = threads < most ? threads : most;
	rounds = (n + 2 * threads - 1) / (2 * threads);
	for (int64_t i = 0; i < n; i++) {
		int64_t rest = i % (2 * threads);
		const int lane = rest >= threads ? 2 : 0;
		uint32_t w[PHILOX_WORDS];
		uint64_t x;

		philox(g->gpu.seed, g->gpu.offset / 4 + (uint64_t)(i / (2 * threads)),
		       (uint64_t)(rest % threads), w);
		x = ((uint64_t)w[lane] << 32 | w[lane + 1]) % range + low;
		/* A signed key is sorted by its value, where all of its bits count. */
		if (bits == 64 || (ints && bits == 32))
			x ^= UINT64_C(1) << (bits - 1);
		all[i] = (struct keyed){ x & mask, i };
	}
	g->gpu.offset += (uint64_t)rounds * 4;
}

/* On the host: what the kernel does. */
static void draw_permutation(struct generators *g, enum dtype dtype, void *out, int64_t n)
{
	struct keyed *all = malloc(2 * (size_t)n * sizeof(*all)), *sorted = all;
	int bits = key_bits(n);

	if (n == 0 || !all) {
		free(all);
		return;
	}
	draw_keys(g, all, n, bits);
	sorted = sort(all, all + n, n, bits);
	shuffle_equal(&g->gpu, sorted, n);
	g->gpu.offset += (uint64_t)(n + 3) / 4 * 4;
	for (int64_t i = 0; i < n; i++)
		dtype_put_int(dtype, out, i, sorted[i].at);
	free(all);
}

/* ---- the ops */

enum { FILLED = 256 }; /* words that are drawn at once */

/* As many bits as the dtype's significand has. */
static double uniform(struct twister *g, enum dtype dtype)
{
	switch (dtype) {
	case DTYPE_F64:
		return (double)(twister_next64(g) & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
	case DTYPE_F16:
		return (double)(twister_next(g) & 0x7ff) * 0x1p-11;
	case DTYPE_BF16:
		return (double)(twister_next(g) & 0xff) * 0x1p-8;
	default:
		return (double)(twister_next(g) & 0xffffff) * 0x1p-24;
	}
}

static bool is_set(const struct library_call *call, const char *name)
{
	const struct arg *arg = node_arg(call->node, name);

	return arg && arg->kind == ARG_BOOL && arg->b;
}

static void draw_numbers(struct twister *g, enum dtype dtype, void *out, int64_t n)
{
	uint32_t words[FILLED];

	for (int64_t i = 0, some; dtype == DTYPE_F32 && i < n; i += some) {
		float *to = (float *)out + i;

		some = n - i < FILLED ? n - i : FILLED;
		twister_fill(g, words, some);
		for (int64_t k = 0; k < some; k++)
			to[k] = (float)(int)(words[k] & 0xffffff) * 0x1p-24f;
	}
	if (dtype == DTYPE_F32)
		return;
	for (int64_t i = 0; i < n; i++)
		dtype_put_double(dtype, out, i, uniform(g, dtype));
}

static double rounded(enum dtype dtype, double x)
{
	double room = 0;

	dtype_put_double(dtype, &room, 0, x);
	return dtype_get_double(dtype, &room, 0);
}

/* Box and Muller, in place on 16 uniform numbers. */
static void make_normal(enum dtype dtype, void *out, int64_t first)
{
	for (int64_t j = first; j < first + 8; j++) {
		double radius = sqrt(-2 * log(1 - dtype_get_double(dtype, out, j)));
		double angle = 2 * M_PI * dtype_get_double(dtype, out, j + 8);

		if (dtype == DTYPE_F16 || dtype == DTYPE_BF16) { /* torch rounds both */
			radius = rounded(dtype, radius);
			angle = rounded(dtype, angle);
		}
		dtype_put_double(dtype, out, j, radius * cos(angle));
		dtype_put_double(dtype, out, j + 8, radius * sin(angle));
	}
}

static void draw_uniform(struct twister *g, const struct library_call *call, void *out)
{
	draw_numbers(g, call->out.dtype, out, call->out.numel);
}

/* `each`: one by one, as PyTorch draws what does not lie in a row. */
static void draw_normal(struct twister *g, const struct library_call *call, void *out)
{
	enum dtype dtype = call->out.dtype;
	int64_t n = call->out.numel;

	if (n < 16 || is_set(call, "each")) {
		for (int64_t i = 0; i < n; i++)
			dtype_put_double(dtype, out, i, twister_normal(g));
		return;
	}
	draw_numbers(g, dtype, out, n);
	for (int64_t i = 0; i + 15 < n; i += 16)
		make_normal(dtype, out, i);
	if (n % 16 == 0)
		return;
	for (int64_t i = n - 16; i < n; i++) /* the last 16 again */
		dtype_put_double(dtype, out, i, uniform(g, dtype));
	make_normal(dtype, out, n - 16);
}

static void draw_ints(struct twister *g, const struct library_call *call, void *out)
{
	int64_t low = call->number[0];
	uint64_t range = (uint64_t)call->number[1] - (uint64_t)low;

	bool narrow = is_set(call, "narrow"); /* random_(): by the dtype, not the range */

	for (int64_t i = 0; i < call->out.numel; i++) {
		uint64_t x = (narrow ? range > UINT64_C(1) << 32 : range >= 1u << 28)
				 ? twister_next64(g)
				 : twister_next(g);

		dtype_put_int(call->out.dtype, out, i,
			      (int64_t)((uint64_t)low + (range ? x % range : 0)));
	}
}

/* Each place in turn is exchanged with one of those from it on (Fisher and Yates), as
 * torch's randperm_cpu() does below 2^32 / 20 elements. */
static void draw_order(struct twister *g, const struct library_call *call, void *out)
{
	enum dtype dtype = call->out.dtype;
	int64_t n = call->out.numel;

	for (int64_t i = 0; i < n; i++)
		dtype_put_int(dtype, out, i, i);
	for (int64_t i = 0; i < n - 1; i++) {
		int64_t other = i + (int64_t)(twister_next(g) % (uint64_t)(n - i));
		int64_t kept = dtype_get_int(dtype, out, i);

		dtype_put_int(dtype, out, i, dtype_get_int(dtype, out, other));
		dtype_put_int(dtype, out, other, kept);
	}
}

/* Elements from `first` on, at most FILLED / 2: where each is kept.  A number of 53 bits is drawn
 * for each, as bernoulli_() does, and is below 1 - p. */
static int draw_where(struct twister *g, const struct library_call *call, int64_t first,
		      bool kept[FILLED / 2])
{
	uint64_t below = (uint64_t)ceil((1 - node_arg(call->node, "p")->f) * 0x1p53);
	int64_t left = call->out.numel - first;
	int n = left < FILLED / 2 ? (int)left : FILLED / 2;
	uint32_t words[FILLED];

	twister_fill(g, words, 2 * n);
	for (int i = 0; i < n; i++)
		kept[i] = ((uint64_t)(words[2 * i] & 0x1fffff) << 32 | words[2 * i + 1]) < below;
	return n;
}

/* For each element whether it is kept: 1 / (1 - p), or 0; with `times` the product of the element,
 * which is there before, with that. */
static inline void draw_dropout(struct twister *g, const struct library_call *call, void *out,
				bool times)
{
	enum dtype dtype = call->out.dtype;
	const double of[2] = { 0, rounded(dtype, 1 / (1 - node_arg(call->node, "p")->f)) };
	const float narrow[2] = { 0, (float)of[1] };
	bool kept[FILLED / 2];
	int n;

	for (int64_t first = 0; first < call->out.numel; first += n) {
		float *to = (float *)out + first;

		n = draw_where(g, call, first, kept);
		for (int i = 0; dtype == DTYPE_F32 && i < n; i++)
			to[i] = times ? to[i] * narrow[kept[i]] : narrow[kept[i]];
		for (int i = 0; dtype != DTYPE_F32 && i < n; i++) {
			double x = times ? dtype_get_double(dtype, out, first + i) : 1;

			dtype_put_double(dtype, out, first + i, x * of[kept[i]]);
		}
	}
}

static void draw_kept(struct twister *g, const struct library_call *call, void *out)
{
	draw_dropout(g, call, out, false);
}

static void draw_dropped(struct twister *g, const struct library_call *call, void *out)
{
	draw_dropout(g, call, out, true);
}

static void run(const struct library_call *call, void *const *buffers,
		void (*draw_as_cpu)(struct twister *g, const struct library_call *call, void *out))
{
	void *out = operand_start(&call->out, buffers);
	struct generators own;
	struct draw d;

	if (draw_on_gpu(call) && call->node->op == OP_permutation) {
		draw_permutation(call->random, call->out.dtype, out, call->out.numel);
	} else if (draw_on_gpu(call)) {
		draw_plan(call, &d);
		draw_take(&d, call->random, out);
		if (call->node->op == OP_drop)
			d.args.x = operand_start(&call->arg[0], buffers);
		draw_run(&d.args, call->out.dtype);
	} else if (call->random) {
		draw_as_cpu(&call->random->cpu, call, out);
	} else {
		generators_seed(&own, TWISTER_SEED);
		draw_as_cpu(&own.cpu, call, out);
	}
}

static void run_uniform(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	(void)pool;
	run(call, buffers, draw_uniform);
}

static void run_normal(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	(void)pool;
	run(call, buffers, draw_normal);
}

static void run_random_ints(const struct library_call *call, void *const *buffers,
			    struct pool *pool)
{
	(void)pool;
	run(call, buffers, draw_ints);
}

static void run_permutation(const struct library_call *call, void *const *buffers,
			    struct pool *pool)
{
	(void)pool;
	run(call, buffers, draw_order);
}

static void run_keep(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	(void)pool;
	run(call, buffers, draw_kept);
}

static void run_drop(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	void *out = operand_start(&call->out, buffers);
	const void *x = operand_start(&call->arg[0], buffers);

	(void)pool;
	if (!draw_on_gpu(call) && out != x)
		memcpy(out, x, (size_t)call->out.numel * dtype_bytes(call->out.dtype));
	run(call, buffers, draw_dropped);
}

static const struct library_op library_uniform = { NULL, run_uniform };
static const struct library_op library_normal = { NULL, run_normal };
static const struct library_op library_random_ints = { NULL, run_random_ints };
static const struct library_op library_permutation = { NULL, run_permutation };
static const struct library_op library_keep = { NULL, run_keep };
static const struct library_op library_drop = { NULL, run_drop };

const struct library_op *const random_functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...)                             \
	[OP_##id] = FUNCTION_##file(id),
#include "fusion/graph/ops_some.h"
};
