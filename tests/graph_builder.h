/* tests/graph_builder.h -- graphs for tests, with little to write.
 *
 *	struct builder b = builder_create();
 *	int x = INPUT(&b, DTYPE_F32, SYM(&b, 8), NUM(&b, 16));
 *	int y = ADD(&b, OP_add, T(x), F(0.1));
 *	RETURN(&b, y);
 *	...
 *	builder_destroy(&b);
 *
 * Whatever fails, fails the test with the engine's message.
 */
#ifndef TESTS_GRAPH_BUILDER_H
#define TESTS_GRAPH_BUILDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/graph/graph.h"

struct builder {
	struct arena *arena;
	struct graph *g;
	int64_t vars[16]; /* the value of each symbol */
};

static inline struct builder builder_create(void)
{
	struct builder b = { .arena = calloc(1, sizeof(struct arena)) };
	b.g = graph_create(b.arena);
	assert_non_null(b.g);
	return b;
}

static inline void builder_destroy(struct builder *b)
{
	arena_finish(b->arena);
	free(b->arena);
}

/* Sizes: a number, or a new symbol whose hint and value is `value`. */
#define NUM(b, value) sym_const((b)->g->syms, value)
static inline const struct sym *SYM(struct builder *b, int64_t value)
{
	const struct sym *s = sym_var(b->g->syms, value);
	b->vars[s->value] = value;
	return s;
}

/* Arguments. */
#define T(id) arg_node(id)
#define F(value) arg_float(value)
#define I(b, value) arg_int((b)->g, value)
#define NONE arg_none()
#define DIMS(b, ...)                                                                               \
	arg_ints((const struct sym *[]){ __VA_ARGS__ },                                            \
		 sizeof((const struct sym *[]){ __VA_ARGS__ }) / sizeof(const struct sym *))
#define DIM(b, d) DIMS(b, NUM(b, d))

static inline int builder_input(struct builder *b, enum dtype dtype, const struct sym **sizes,
				int rank)
{
	struct shape shape = { .rank = rank };
	for (int d = 0; d < rank; d++)
		shape.size[d] = sizes[d];
	int id = graph_input(b->g, dtype, &shape, NULL);
	assert_true(id >= 0);
	return id;
}
#define INPUT(b, dtype, ...)                                                                       \
	builder_input(b, dtype, (const struct sym *[]){ NULL, ##__VA_ARGS__ } + 1,                 \
		      sizeof((const struct sym *[]){ NULL, ##__VA_ARGS__ }) / sizeof(void *) - 1)

static inline int builder_add(struct builder *b, enum op op, const struct arg *args, int n)
{
	struct err err = { 0 };
	int id = graph_add(b->g, &(struct node_spec){ op, args, n, 0, 0 }, &err);
	if (id < 0)
		fail_msg("%s: %s", op_info(op)->id, err.message);
	return id;
}
#define ADD(b, op, ...)                                                                            \
	builder_add(b, op, (const struct arg[]){ __VA_ARGS__ },                                    \
		    sizeof((const struct arg[]){ __VA_ARGS__ }) / sizeof(struct arg))

#define RETURN(b, ...)                                                                             \
	assert_true(graph_set_outputs((b)->g, (const int[]){ __VA_ARGS__ },                        \
				      sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)))

#endif
