/* tests/lower_passed.h -- a graph through all the passes and the lowering. */
#ifndef TESTS_LOWER_PASSED_H
#define TESTS_LOWER_PASSED_H

#include "fusion/passes/passes.h"
#include "tests/graph_builder.h"
#include "tests/lower_reference.h"

static inline const struct lowered *lower_passed(struct builder *b, bool no_fusion)
{
	struct pass_options options = { .verify = true, .no_fusion = no_fusion };
	struct pass_result result = { 0 };
	struct err err = { 0 };

	if (!passes_run(b->g, &options, &result, &err))
		fail_msg("%s", err.message);
	const struct lowered *l = lower_graph(result.graph, result.group, result.why, false,
					      b->arena, &err);
	if (!l)
		fail_msg("%s", err.message);
	assert_int_equal(l->n_kernels, result.n_groups);
	return l;
}

/* `n` values that live as long as the builder. */
static inline float *samples(struct builder *b, int64_t n, int64_t shift)
{
	float *x = arena_array(b->arena, (size_t)n + 1, sizeof(*x));
	for (int64_t i = 0; i < n; i++)
		x[i] = ref_sample(i + shift);
	return x;
}

#endif
