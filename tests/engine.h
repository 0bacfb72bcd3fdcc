/* tests/engine.h -- programs in, numbers out: helpers for tests of fusion/fusion.h.
 *
 * A struct engine is one source in one mode on one backend; with TEST_POISON in the
 * environment its memory is watched (backends/memory/memory.h).  Helpers fail the
 * test where the engine fails; engine_fails() expects it to.
 */
#ifndef TESTS_ENGINE_H
#define TESTS_ENGINE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/backends/backends.h"
#include "fusion/graph/graph.h"
#include "fusion/tensor/tensor.h"
#include "fusion/vm/value.h"
#include "fusion/fusion.h"
#include "tests/shared_kernels.h"

struct engine {
	struct fusion *f;
	struct fusion_program *program;
	struct fusion_session *session;
};

static inline struct engine engine_limited(const char *backend, enum fusion_mode mode,
					   const char *source, int recompile_limit)
{
	/* Suites of backend cuda count what is compiled. */
	bool shared = strcmp(backend, "cuda") != 0;
	struct fusion_options options = { .backend = backend,
					  .poison = getenv("TEST_POISON") != NULL,
					  .cache_dir = shared ? shared_kernels() : NULL,
					  .threads = 1,
					  .recompile_limit = recompile_limit,
					  .steps = 200000 };
	struct err err = { 0 };
	struct engine e = { 0 };

	e.f = fusion_create(&options, &err);
	if (e.f)
		e.program = fusion_parse(source, strlen(source), "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	return e;
}

static inline struct engine engine_open(const char *backend, enum fusion_mode mode,
					const char *source)
{
	return engine_limited(backend, mode, source, 0);
}

/* Every tensor must be gone by now: the allocator says so. */
static inline void engine_close(struct engine *e)
{
	fusion_session_destroy(e->session);
	assert_int_equal(allocator_used_bytes(fusion_allocator(e->f)), 0);
	fusion_program_destroy(e->program);
	fusion_destroy(e->f);
}

static inline struct value engine_tensor(struct engine *e, enum dtype dtype, int rank,
					 const int64_t *size)
{
	struct err err = { 0 };
	struct tensor *t = tensor_create(fusion_allocator(e->f), dtype, rank, size, &err);
	struct value v;

	if (!t)
		fail_msg("%s", err.message);
	v = fusion_value(t);
	tensor_unref(t);
	return v;
}

/* float32, elements sin(seed + i): bounded, of both signs, no two alike. */
static inline struct value engine_floats(struct engine *e, int rank, const int64_t *size,
					 double seed)
{
	struct value v = engine_tensor(e, DTYPE_F32, rank, size);
	float *at = tensor_data(v.tensor->memory);

	for (int64_t i = 0; i < tensor_numel(v.tensor->memory); i++)
		at[i] = (float)(2 * sin(seed + 1.7 * (double)i));
	return v;
}
#define FLOATS(e, seed, ...)                                                                       \
	engine_floats(e, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),              \
		      (int64_t[]){ __VA_ARGS__ }, seed)

static inline struct value engine_call(struct engine *e, const struct value *args, int n)
{
	struct err err = { 0 };
	struct value out = value_none();

	if (!fusion_call(e->session, args, n, &out, &err))
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	return out;
}

static inline struct err engine_fails(struct engine *e, const struct value *args, int n)
{
	struct err err = { 0 };
	struct value out = value_none();

	if (fusion_call(e->session, args, n, &out, &err))
		fail_msg("the call was expected to fail");
	return err;
}

static inline double engine_at(struct value v, int64_t index)
{
	assert_int_equal(v.kind, VALUE_TENSOR);
	return tensor_get_double(v.tensor->memory, index);
}

static inline void engine_near(struct value v, int64_t index, double want)
{
	double got = engine_at(v, index);

	if (!(fabs(got - want) <= 1e-5 + 1e-4 * fabs(want)) && !(isnan(got) && isnan(want)))
		fail_msg("element %lld is %.9g, not %.9g", (long long)index, got, want);
}

static inline void engine_drop(struct value *values, int n)
{
	for (int i = 0; i < n; i++)
		value_unref(values[i]);
}

/* Whether this machine has a compiler for the backend. */
static inline bool engine_has(const char *backend)
{
	struct fusion_options options = { .backend = backend, .threads = 1 };
	struct fusion *f = fusion_create(&options, NULL);

	fusion_destroy(f);
	return f != NULL;
}

#endif
