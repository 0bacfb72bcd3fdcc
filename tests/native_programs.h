/* tests/native_programs.h -- programs under policy native, and what eager does.
 *
 * Each runs on several inputs, natively and in eager; results, what is printed
 * and what is written to the argument are the same, and the breaks are as many as
 * the table says.
 */
#ifndef TESTS_NATIVE_PROGRAMS_H
#define TESTS_NATIVE_PROGRAMS_H

#include <stdlib.h>

#include "tests/engine.h"

struct program {
	const char *name, *source;
	int breaks;
};

static inline struct engine open_denying(const char *source, enum fusion_mode mode,
					 const char *const *deny, int n_deny)
{
	struct fusion_options options = { .backend = "interp",
					  .threads = 1,
					  .steps = 200000,
					  .policy = FUSION_NATIVE,
					  .deny = deny,
					  .n_deny = n_deny };
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct err err = { 0 };

	e.program = fusion_parse(source, strlen(source), "model", &err);
	if (!e.program)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	return e;
}

static inline struct engine open(const char *source, enum fusion_mode mode)
{
	return open_denying(source, mode, NULL, 0);
}

static void same_tensors(const char *name, struct value a, struct value b)
{
	assert_int_equal(tensor_numel(a.tensor->memory), tensor_numel(b.tensor->memory));
	for (int64_t i = 0; i < tensor_numel(a.tensor->memory); i++) {
		double x = engine_at(a, i), y = engine_at(b, i);

		if (fabs(x - y) > 1e-5 * (1 + fabs(y)))
			fail_msg("%s: element %d is %g, not %g", name, (int)i, x, y);
	}
}

static inline void same_calls(const struct program *p, struct engine *native, struct engine *eager)
{
	for (int seed = 0; seed < 7; seed++) {
		struct value a = FLOATS(native, seed, 3), b = FLOATS(eager, seed, 3);
		struct value x = engine_call(native, &a, 1), y = engine_call(eager, &b, 1);
		struct buf *said = fusion_stdout(native->session);
		struct buf *wanted = fusion_stdout(eager->session);

		same_tensors(p->name, x, y);
		same_tensors(p->name, a, b);
		assert_int_equal(said->len, wanted->len);
		if (said->len > 0)
			assert_memory_equal(said->data, wanted->data, said->len);
		buf_clear(said);
		buf_clear(wanted);
		value_unref(x);
		value_unref(y);
		value_unref(a);
		value_unref(b);
	}
}

static inline void check_programs(const struct program *programs, size_t n)
{
	static const enum fusion_mode modes[] = { FUSION_STATIC, FUSION_AUTO, FUSION_DYNAMIC };

	for (size_t i = 0; i < n; i++)
		for (int m = 0; m < 3; m++) {
			struct engine native = open(programs[i].source, modes[m]);
			struct engine eager = open(programs[i].source, FUSION_EAGER);

			same_calls(&programs[i], &native, &eager);
			if (fusion_counts(native.session).n_breaks != programs[i].breaks)
				fail_msg("%s: %d breaks", programs[i].name,
					 fusion_counts(native.session).n_breaks);
			engine_close(&native);
			engine_close(&eager);
		}
}

#endif
