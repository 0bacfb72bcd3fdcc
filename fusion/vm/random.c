/* fusion/vm/random.c -- the generators of Python's module random: mt19937.
 *
 * They are the VM's, known by number: what draws from one is never captured, so that
 * no guard looks at 624 words (prelude/random.py has the rest). */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/sha512.h"
#include "fusion/base/twister.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

enum { MOST_GENERATORS = 1000 };

static bool random_draws(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	(void)vm, (void)err;
	call->args[0].function->disabled = DISABLED_DRAWS;
	*out = value_ref(call->args[0]);
	return true;
}

/* From `n` words, one at least: what Python's random.seed() begins with. */
static void twister_seed_words(struct twister *g, const uint32_t *words, int n)
{
	enum { N = TWISTER_WORDS };
	uint32_t *w = g->word;
	int i = 1, k = 0;

	twister_seed(g, 19650218);
	for (int left = n > N ? n : N; left > 0; left--) {
		w[i] = (w[i] ^ (w[i - 1] ^ w[i - 1] >> 30) * 1664525u) + words[k] + (uint32_t)k;
		k = k + 1 < n ? k + 1 : 0;
		if (++i == N) {
			w[0] = w[N - 1];
			i = 1;
		}
	}
	for (int left = N - 1; left > 0; left--) {
		w[i] = (w[i] ^ (w[i - 1] ^ w[i - 1] >> 30) * 1566083941u) - (uint32_t)i;
		if (++i == N) {
			w[0] = w[N - 1];
			i = 1;
		}
	}
	w[0] = 0x80000000u;
}

static bool random_new(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	struct twister fresh;

	(void)call;
	if (vm->generators.len >= MOST_GENERATORS)
		return err_set(
		    err, ERR_BOUND,
		    "a program makes at most %d objects of random.Random; seed one again",
		    MOST_GENERATORS);
	twister_seed_words(&fresh, &(uint32_t){ 0 }, 1);
	*out = value_int((int64_t)vm->generators.len);
	return VEC_PUSH(&vm->generators, fresh) || vm_out_of_memory(vm, err);
}

/* The one whose number is the first argument; the prelude gives no other. */
static struct twister *generator(struct vm *vm, const struct builtin_call *call)
{
	return &vm->generators.at[call->args[0].i];
}

/* The words of a whole number, the lowest first, one at least. */
static int words_of_int(uint64_t n, uint32_t words[2])
{
	words[0] = (uint32_t)n;
	words[1] = (uint32_t)(n >> 32);
	return words[1] ? 2 : 1;
}

/* A text and its hash, read as one number of which the first byte is the highest. */
static bool seed_text(struct vm *vm, const struct str *text, struct twister *g, struct err *err)
{
	struct buf all = { .limit = vm->limits.object_bytes };
	uint8_t digest[SHA512_BYTES];
	VEC(uint32_t) words = { 0 };
	size_t first = 0;
	bool ok = true;

	sha512(text->text, text->len, digest);
	buf_add(&all, text->text, text->len);
	buf_add(&all, (const char *)digest, sizeof(digest));
	ok = !all.failed && vm_spend(vm, (int64_t)text->len / 4, err);
	while (ok && first < all.len && all.data[first] == 0)
		first++;
	for (size_t end = all.len; ok && end > first; end -= end - first < 4 ? end - first : 4) {
		uint32_t word = 0;

		for (size_t i = end - first < 4 ? first : end - 4; i < end; i++)
			word = word << 8 | (uint8_t)all.data[i];
		ok = VEC_PUSH(&words, word);
	}
	if (ok)
		twister_seed_words(g, words.at, (int)words.len);
	VEC_FREE(&words);
	buf_finish(&all);
	return ok || vm_out_of_memory(vm, err);
}

static bool seed(struct vm *vm, struct value v, struct twister *g, struct err *err)
{
	struct value n = value_int(0);
	uint32_t words[2];

	if (v.kind == VALUE_STR)
		return seed_text(vm, v.str, g, err);
	if (v.kind == VALUE_FLOAT) {
		if (!value_hash(vm, v, &n, err))
			return false;
	} else if (value_is_integer(v)) {
		n.i = value_as_int(v);
		if (n.i < 0)
			n.i = n.i == INT64_MIN ? n.i : -n.i;
	} else if (v.kind != VALUE_NONE) { /* a run is the same each time: None is 0 */
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"The only supported seed types are: None,\n"
				"int, float, str, bytes, and bytearray.");
	}
	twister_seed_words(g, words, words_of_int((uint64_t)n.i, words));
	return true;
}

static bool random_seed(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct value v = call->args[1];
	struct vm_host *host;

	*out = value_none();
	if (value_is_hosted(v)) {
		host = vm_host_here(vm);
		if (!host->to_number(host->self, value_plain_kind(v), v, &v, err))
			return false;
	}
	return seed(vm, v, generator(vm, call), err);
}

static bool random_unit(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct twister *g = generator(vm, call);
	uint32_t high = twister_next(g) >> 5;

	(void)err;
	*out = value_float((high * 67108864.0 + (twister_next(g) >> 6)) / 9007199254740992.0);
	return true;
}

static bool random_bits(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct twister *g = generator(vm, call);
	uint64_t bits = 0;
	int64_t n;

	if (!op_index(vm, call->args[1], "the number of bits", &n, err))
		return false;
	if (n < 0)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "number of bits must be non-negative");
	if (n > 63)
		return err_set(
		    err, ERR_UNSUPPORTED,
		    "%lld random bits need more than 64 bits; whole numbers have 64 bits "
		    "here, draw at most 63 at a time",
		    (long long)n);
	for (int place = 0; n > 0; place += 32, n -= 32)
		bits |= (uint64_t)(twister_next(g) >> (n < 32 ? 32 - n : 0)) << place;
	*out = value_int((int64_t)bits);
	return true;
}

static bool random_keep(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct twister *g = generator(vm, call);

	*out = value_none();
	g->kept = call->args[1].kind != VALUE_NONE;
	return !g->kept || builtin_double(vm, call->args[1], &g->normal, err);
}

static bool random_kept(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct twister *g = generator(vm, call);

	(void)err;
	*out = g->kept ? value_float(g->normal) : value_none();
	g->kept = false;
	return true;
}

static bool random_state(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	const struct twister *g = generator(vm, call);
	struct value words[TWISTER_WORDS + 1];

	for (int i = 0; i < TWISTER_WORDS; i++)
		words[i] = value_int(g->word[i]);
	words[TWISTER_WORDS] = value_int(g->at);
	return vm_keep(vm, value_tuple(words, TWISTER_WORDS + 1), out, err);
}

static bool random_restore(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	struct twister *g = generator(vm, call), state = { .kept = g->kept, .normal = g->normal };
	struct value words = call->args[1];
	int64_t word;

	*out = value_none();
	if ((words.kind != VALUE_TUPLE && words.kind != VALUE_LIST) ||
	    words.list->len != TWISTER_WORDS + 1)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "state vector is the wrong size");
	for (int i = 0; i <= TWISTER_WORDS; i++) {
		if (!op_index(vm, words.list->at[i], "a word of a state", &word, err))
			return false;
		if (i < TWISTER_WORDS)
			state.word[i] = (uint32_t)word;
		else if (word < 0 || word > TWISTER_WORDS)
			return vm_raise(vm, CLASS_VALUE_ERROR, err, "invalid state");
		else
			state.at = (int)word;
	}
	*g = state;
	return true;
}

#define BUILTINS_OF_RANDOM
const struct builtin random_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
