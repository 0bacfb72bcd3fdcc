/* tests/exec_fixture.h -- what an exec needs of an engine, for suites of compile/. */
#ifndef TESTS_EXEC_FIXTURE_H
#define TESTS_EXEC_FIXTURE_H

#include "fusion/compile/compile.h"
#include "tests/graph_builder.h"

struct fixture {
	struct exec_env env;
};

static inline int begin(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->env.allocator = allocator_create((size_t)1 << 30, NULL);
	f->env.pool = pool_create(1);
	*state = f;
	return f->env.allocator && f->env.pool ? 0 : -1;
}

static inline int end(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(allocator_used_bytes(f->env.allocator), 0);
	pool_destroy(f->env.pool);
	allocator_destroy(f->env.allocator);
	free(f);
	return 0;
}

#endif
