/* tests/backends_help.h -- runs a lowered graph on a backend, as compile/ would.
 *
 * Buffers have the 64 bytes of slack that backends.h asks for and a guard
 * after it: who writes further fails the test.
 */
#ifndef TESTS_BACKENDS_HELP_H
#define TESTS_BACKENDS_HELP_H

#include "fusion/backends/backends.h"
#include "tests/lower_passed.h"
#include "tests/shared_kernels.h"

enum { HELP_SLACK = 64, HELP_GUARD = 64, HELP_GUARD_BYTE = 0x5c };

static inline void *help_alloc(size_t bytes)
{
	size_t all = (bytes + HELP_SLACK + HELP_GUARD + 63) / 64 * 64;
	unsigned char *memory = aligned_alloc(64, all);

	assert_non_null(memory);
	memset(memory, 0xa5, all);
	memset(memory + bytes + HELP_SLACK, HELP_GUARD_BYTE, HELP_GUARD);
	return memory;
}

static inline void help_free(void *memory, size_t bytes)
{
	const unsigned char *guard = (unsigned char *)memory + bytes + HELP_SLACK;

	for (int i = 0; i < HELP_GUARD; i++)
		assert_int_equal(guard[i], HELP_GUARD_BYTE);
	free(memory);
}

static inline struct executable *
help_compile(const struct backend *backend, const struct backend_env *env, const struct lowered *l)
{
	struct compile_stats stats;
	struct err err = { 0 };
	struct executable *exe = backend->compile(env, l, &stats, &err);

	if (!exe)
		fail_msg("%s: %s", backend->name, err.message);
	return exe;
}

/* Launches all kernels; as ref_execute() otherwise.  outputs[i] has slack. */
static inline void help_run(const struct backend *backend, struct executable *exe,
			    const struct lowered *l, const int64_t *vars, const void *const *inputs,
			    void *const *outputs, struct pool *pool)
{
	void **memory = calloc((size_t)l->n_buffers + 1, sizeof(*memory));
	struct err err = { 0 };

	for (int i = 0; i < l->n_buffers; i++) {
		const struct buffer *b = &l->buffers[i];
		size_t bytes = (size_t)sym_eval(b->numel, vars) * dtype_bytes(b->dtype);

		if (b->kind == BUFFER_INPUT)
			memory[i] = (void *)(uintptr_t)inputs[b->index];
		else if (b->kind == BUFFER_CONST)
			memory[i] = (void *)(uintptr_t)b->data;
		else
			memory[i] = help_alloc(bytes);
	}
	if (!backend->bind(exe, vars, &err))
		fail_msg("%s", err.message);
	for (int k = 0; k < l->n_kernels; k++)
		backend->launch(exe, k, memory, pool, k % 2);
	for (int i = 0; i < l->n_outputs; i++) {
		const struct buffer *b = &l->buffers[l->outputs[i]];

		memcpy(outputs[i], memory[l->outputs[i]],
		       (size_t)sym_eval(b->numel, vars) * dtype_bytes(b->dtype));
	}
	for (int i = 0; i < l->n_buffers; i++) {
		const struct buffer *b = &l->buffers[i];

		if (b->kind != BUFFER_INPUT && b->kind != BUFFER_CONST)
			help_free(memory[i],
				  (size_t)sym_eval(b->numel, vars) * dtype_bytes(b->dtype));
	}
	free(memory);
}

/* Compiles, runs once, destroys. */
static inline void help_execute(const char *name, const struct lowered *l, const int64_t *vars,
				const void *const *inputs, void *const *outputs, struct pool *pool)
{
	const struct backend *backend = backend_find(name);
	struct backend_env env = { .cache_dir = shared_kernels(), .compile_timeout_ms = 600000 };
	struct executable *exe = help_compile(backend, &env, l);

	help_run(backend, exe, l, vars, inputs, outputs, pool);
	backend->destroy(exe);
}

#endif
