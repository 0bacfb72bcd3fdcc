/* fusion/vm/pcg.c -- the generators of numpy.random.default_rng: PCG64 of O'Neill, seeded as numpy
 * does.
 *
 * As those of the module random (random.c) they are the VM's, known by number
 * (prelude/numpy_generator.py has the rest). */
#include <math.h>
#include <string.h>

#include "fusion/base/twister.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

enum { MOST_WORDS = 64, POOL = 4, LAYERS = 256 };

typedef unsigned __int128 wide;

/* A generator of the VM has 624 words for mt19937; these are the first of them. */
struct pcg {
	wide state, increment;
	uint32_t kept; /* 1: `high` is left of the last 64 bits, which numpy takes half by half */
	uint32_t high;
};

/* How numpy spreads the words of a seed: each word is mixed with a number that changes each time.
 */
static uint32_t hashed(uint32_t word, uint32_t *with, uint32_t step)
{
	word ^= *with;
	*with *= step;
	word *= *with;
	return word ^ word >> 16;
}

static uint32_t mixed(uint32_t a, uint32_t b)
{
	uint32_t x = 0xca01f9ddu * a - 0x4973f715u * b;

	return x ^ x >> 16;
}

static void fill_pool(uint32_t pool[POOL], const uint32_t *words, int n)
{
	uint32_t with = 0x43b0d7e5u;
	const uint32_t step = 0x931e8875u;

	for (int i = 0; i < POOL; i++)
		pool[i] = hashed(i < n ? words[i] : 0, &with, step);
	for (int from = 0; from < POOL; from++)
		for (int to = 0; to < POOL; to++)
			if (from != to)
				pool[to] = mixed(pool[to], hashed(pool[from], &with, step));
	for (int from = POOL; from < n; from++)
		for (int to = 0; to < POOL; to++)
			pool[to] = mixed(pool[to], hashed(words[from], &with, step));
}

static void step(struct pcg *g)
{
	const wide by = (wide)UINT64_C(0x2360ed051fc65da4) << 64 | UINT64_C(0x4385df649fccf645);

	g->state = g->state * by + g->increment;
}

static uint64_t next64(struct pcg *g)
{
	uint64_t both;
	int turn;

	step(g);
	both = (uint64_t)(g->state >> 64) ^ (uint64_t)g->state;
	turn = (int)(g->state >> 122);
	return both >> turn | both << (-turn & 63);
}

static uint32_t next32(struct pcg *g)
{
	uint64_t both;

	g->kept ^= 1;
	if (!g->kept)
		return g->high;
	both = next64(g);
	g->high = (uint32_t)(both >> 32);
	return (uint32_t)both;
}

static double unit(struct pcg *g)
{
	return (double)(next64(g) >> 11) / 9007199254740992.0;
}

static void begin(struct pcg *g, const uint32_t *words, int n)
{
	uint32_t pool[POOL], with = 0x8b51f9ddu, made[8];
	uint64_t part[4];

	fill_pool(pool, words, n);
	for (int i = 0; i < 8; i++)
		made[i] = hashed(pool[i % POOL], &with, 0x58f38dedu);
	for (int i = 0; i < 4; i++)
		part[i] = (uint64_t)made[2 * i + 1] << 32 | made[2 * i];
	*g = (struct pcg){ .increment = ((wide)part[2] << 64 | part[3]) << 1 | 1 };
	step(g);
	g->state += (wide)part[0] << 64 | part[1];
	step(g);
}

/* The layers of a ziggurat: `edge` of each, its height, and which part of a layer's width lies
 * under the next. */
struct ziggurat {
	double width[LAYERS], height[LAYERS];
	uint64_t inside[LAYERS];
};

static long double normal_height(long double x)
{
	return expl(-0.5L * x * x);
}

static long double normal_edge(long double y)
{
	return sqrtl(-2 * logl(y));
}

static long double exponential_height(long double x)
{
	return expl(-x);
}

static long double exponential_edge(long double y)
{
	return -logl(y);
}

/* From the outermost edge and the area of every layer; `bits` are drawn for a place in one. */
static void build(struct ziggurat *z, long double last, long double area, int bits, bool normal)
{
	long double (*height)(long double) = normal ? normal_height : exponential_height;
	long double (*edge)(long double) = normal ? normal_edge : exponential_edge;
	long double scale = ldexpl(1, bits), x = last;

	z->width[0] = (double)(area / height(last) / scale);
	z->inside[0] = (uint64_t)(last * height(last) / area * scale);
	z->height[0] = 1;
	for (int i = LAYERS - 1; i > 0; i--) {
		long double inner = i > 1 ? edge(area / x + height(x)) : 0;

		z->width[i] = (double)(x / scale);
		z->height[i] = (double)height(x);
		z->inside[i] = (uint64_t)(inner / x * scale);
		x = inner;
	}
}

/* The edges where 256 layers have the same area: the outermost one ends there, and has the tail. */
static const long double normal_last = 3.6541528853610087963519472518L;
static const long double exponential_last = 7.6971174701310497140446280481L;

static long double normal_area(void)
{
	return normal_last * normal_height(normal_last) +
	       sqrtl(acosl(-1) / 2) * erfcl(normal_last / sqrtl(2));
}

static long double exponential_area(void)
{
	return (exponential_last + 1) * exponential_height(exponential_last);
}

static double normal_beyond(struct pcg *g, bool below)
{
	double x, y;

	do {
		x = -log1p(-unit(g)) / (double)normal_last;
		y = -log1p(-unit(g));
	} while (y + y <= x * x);
	x += (double)normal_last;
	return below ? -x : x;
}

static double normal(struct pcg *g, const struct ziggurat *z)
{
	for (;;) {
		uint64_t bits = next64(g), place = bits >> 9 & UINT64_C(0xfffffffffffff);
		int i = bits & 0xff;
		double x = (double)place * z->width[i];

		if (bits >> 8 & 1)
			x = -x;
		if (place < z->inside[i])
			return x;
		if (i == 0)
			return normal_beyond(g, place >> 8 & 1);
		if ((z->height[i - 1] - z->height[i]) * unit(g) + z->height[i] < exp(-0.5 * x * x))
			return x;
	}
}

static double exponential(struct pcg *g, const struct ziggurat *z)
{
	for (;;) {
		uint64_t bits = next64(g) >> 3, place = bits >> 8;
		int i = bits & 0xff;
		double x = (double)place * z->width[i];

		if (place < z->inside[i])
			return x;
		if (i == 0)
			return (double)exponential_last - log1p(-unit(g));
		if ((z->height[i - 1] - z->height[i]) * unit(g) + z->height[i] < exp(-x))
			return x;
	}
}

/* A whole number up to `most`, by the multiplication of Lemire. */
static uint64_t below(struct pcg *g, uint64_t most)
{
	uint64_t n = most + 1;
	wide product;

	if (most == 0)
		return 0;
	if (most == UINT32_MAX)
		return next32(g);
	if (n == 0)
		return next64(g);
	if (most < UINT32_MAX) {
		uint64_t small = next32(g) * n, least = ((uint64_t)UINT32_MAX + 1) % n;

		while ((uint32_t)small < least)
			small = next32(g) * n;
		return small >> 32;
	}
	do
		product = (wide)next64(g) * n;
	while ((uint64_t)product < -n % n);
	return (uint64_t)(product >> 64);
}

_Static_assert(sizeof(struct pcg) <= sizeof(((struct twister *)0)->word), "it fits");

static struct pcg generator(struct vm *vm, const struct builtin_call *call)
{
	struct pcg g;

	memcpy(&g, vm->generators.at[call->args[0].i].word, sizeof(g));
	return g;
}

static void keep(struct vm *vm, const struct builtin_call *call, const struct pcg *g)
{
	memcpy(vm->generators.at[call->args[0].i].word, g, sizeof(*g));
}

static bool pcg_seed(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	struct value words = call->args[1];
	uint32_t word[MOST_WORDS];
	struct pcg fresh;
	int64_t n;

	*out = value_none();
	if ((words.kind != VALUE_TUPLE && words.kind != VALUE_LIST) || words.list->len > MOST_WORDS)
		return vm_raise(vm, CLASS_VALUE_ERROR, err,
				"a seed of numpy.random has at most %d words of 32 bits here",
				MOST_WORDS);
	for (int i = 0; i < (int)words.list->len; i++) {
		if (!op_index(vm, words.list->at[i], "a word of a seed", &n, err))
			return false;
		word[i] = (uint32_t)n;
	}
	begin(&fresh, word, (int)words.list->len);
	keep(vm, call, &fresh);
	return true;
}

static bool pcg_unit(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	struct pcg g = generator(vm, call);

	(void)err;
	*out = value_float(unit(&g));
	keep(vm, call, &g);
	return true;
}

static bool pcg_bits(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	struct pcg g = generator(vm, call);

	(void)err;
	*out = value_int(next32(&g));
	keep(vm, call, &g);
	return true;
}

static bool pcg_below(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	struct pcg g = generator(vm, call);
	int64_t most;

	if (!op_index(vm, call->args[1], "the most", &most, err))
		return false;
	*out = value_int((int64_t)below(&g, (uint64_t)most));
	keep(vm, call, &g);
	return true;
}

static bool pcg_normal(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	static _Thread_local struct ziggurat z;
	struct pcg g = generator(vm, call);

	(void)err;
	if (z.height[0] == 0)
		build(&z, normal_last, normal_area(), 52, true);
	*out = value_float(normal(&g, &z));
	keep(vm, call, &g);
	return true;
}

static bool pcg_exponential(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	static _Thread_local struct ziggurat z;
	struct pcg g = generator(vm, call);

	(void)err;
	if (z.height[0] == 0)
		build(&z, exponential_last, exponential_area(), 53, false);
	*out = value_float(exponential(&g, &z));
	keep(vm, call, &g);
	return true;
}

#define BUILTINS_OF_PCG
const struct builtin pcg_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
