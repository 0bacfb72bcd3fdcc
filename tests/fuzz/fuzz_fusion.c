/* tests/fuzz/fuzz_fusion.c -- libFuzzer entry of the engine.
 *
 * Any program that compiles is called twice in eager and twice in another mode,
 * which its own text chooses, under small limits.  Where eager has a result the
 * mode must have one, and print the same; no invariant may break and all memory
 * comes back.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/tensor/tensor.h"
#include "fusion/base/hash.h"
#include "fusion/fusion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 2, ARGUMENTS = 2, ELEMENTS = 4, STEPS = 20000 };
static const size_t MEMORY_BYTES = (size_t)64 << 20;

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* A limit that one mode meets and the other does not is no fault. */
static bool is_limit(enum err_code code)
{
	return code == ERR_STEPS || code == ERR_MEMORY || code == ERR_BOUND ||
	       code == ERR_RECURSION;
}

static struct value argument(struct fusion *f, int seed)
{
	int64_t sizes[1] = { ELEMENTS };
	struct tensor *t = tensor_create(fusion_allocator(f), DTYPE_F32, 1, sizes, NULL);
	struct value v;

	require(t != NULL);
	for (int i = 0; i < ELEMENTS; i++)
		((float *)tensor_data(t))[i] = (float)(i - seed) * 0.5f;
	v = fusion_value(t);
	tensor_unref(t);
	return v;
}

struct outcome {
	enum err_code code; /* of the last call */
	struct buf text;
};

static void call(struct fusion *f, struct fusion_session *s, struct outcome *o)
{
	struct value args[ARGUMENTS], v;
	struct err err = { 0 };
	int n = 0;

	while (n < ARGUMENTS && fusion_parameter_name(s, n))
		n++;
	for (int c = 0; c < CALLS && o->code == ERR_NONE; c++) {
		for (int i = 0; i < ARGUMENTS; i++)
			args[i] = argument(f, c + i);
		if (fusion_call(s, args, n, &v, &err))
			value_unref(v);
		o->code = err.code;
		require(err.code != ERR_INTERNAL && err.code != ERR_BREAK);
		for (int i = 0; i < ARGUMENTS; i++)
			value_unref(args[i]);
	}
	buf_add(&o->text, fusion_stdout(s)->data, fusion_stdout(s)->len);
}

static struct outcome run(const char *source, size_t size, enum fusion_mode mode,
			  enum fusion_policy policy)
{
	struct fusion_options options = { .backend = "interp",
					  .threads = 1,
					  .memory_bytes = MEMORY_BYTES,
					  .steps = STEPS,
					  .policy = policy };
	struct outcome o = { .text = { .limit = 1 << 21 } };
	struct err err = { 0 };
	struct fusion *f = fusion_create(&options, &err);
	struct fusion_program *p;
	struct fusion_session *s = NULL;

	require(f != NULL);
	p = fusion_parse(source, size, "model", &err);
	if (p)
		s = fusion_session(f, p, mode, &err);
	o.code = err.code;
	require(err.code != ERR_INTERNAL);
	if (s)
		call(f, s, &o);
	fusion_session_destroy(s);
	require(allocator_used_bytes(fusion_allocator(f)) == 0);
	fusion_program_destroy(p);
	fusion_destroy(f);
	return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum fusion_mode modes[] = { FUSION_AUTO, FUSION_DYNAMIC, FUSION_STATIC,
						  FUSION_LAZY };
	uint64_t h = hash_bytes(data, size, 0);
	struct outcome eager = run((const char *)data, size, FUSION_EAGER, FUSION_DYNAMO), other;

	if (eager.code == ERR_NONE) {
		other = run((const char *)data, size, modes[h % 4],
			    h / 4 % 2 ? FUSION_NATIVE : FUSION_DYNAMO);
		if (!is_limit(other.code)) {
			require(other.code == ERR_NONE);
			require(other.text.len == eager.text.len);
			require(eager.text.len == 0 ||
				memcmp(other.text.data, eager.text.data, eager.text.len) == 0);
		}
		buf_finish(&other.text);
	}
	buf_finish(&eager.text);
	return 0;
}
