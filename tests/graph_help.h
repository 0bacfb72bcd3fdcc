/* tests/graph_help.h -- short words for building graphs in tests.
 *
 * A size below 0 is a symbol: -1 is s0, -2 is s1, made on first use with the
 * hint 8, 9, ...
 */
#ifndef TESTS_GRAPH_HELP_H
#define TESTS_GRAPH_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/graph/graph.h"

#define UNUSED_ __attribute__((unused))

struct world {
	struct arena arena;
	struct graph *g;
	struct err err;
};

UNUSED_ static void world_begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->g = graph_create(&w->arena);
	assert_non_null(w->g);
}

UNUSED_ static void world_end(struct world *w)
{
	arena_finish(&w->arena);
}

/* Setup and teardown of a test whose *state is a struct world. */
UNUSED_ static int world_setup(void **state)
{
	struct world *w = malloc(sizeof(*w));

	assert_non_null(w);
	world_begin(w);
	*state = w;
	return 0;
}

UNUSED_ static int world_teardown(void **state)
{
	world_end(*state);
	free(*state);
	return 0;
}

UNUSED_ static const struct sym *size_of(struct world *w, int64_t size)
{
	if (size >= 0)
		return sym_const(w->g->syms, size);
	while (sym_var_count(w->g->syms) < -size)
		assert_non_null(sym_var(w->g->syms, 8 + sym_var_count(w->g->syms)));
	return sym_var_at(w->g->syms, (int)(-size - 1));
}

UNUSED_ static struct shape shape_of(struct world *w, int rank, const int64_t *sizes)
{
	struct shape s = { .rank = rank };

	for (int i = 0; i < rank; i++)
		s.size[i] = size_of(w, sizes[i]);
	return s;
}

#define SIZES(...)                                                                                 \
	(int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), (const int64_t[])             \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

UNUSED_ static struct arg input(struct world *w, enum dtype dtype, int rank, const int64_t *sizes)
{
	struct shape s = shape_of(w, rank, sizes);
	int id = graph_input(w->g, dtype, &s, NULL);

	assert_true(id >= 0);
	return arg_node(id);
}

UNUSED_ static struct arg constant(struct world *w, enum dtype dtype, int rank,
				   const int64_t *sizes, const void *data)
{
	struct shape s = shape_of(w, rank, sizes);
	int id = graph_constant(w->g, dtype, &s, data);

	assert_true(id >= 0);
	return arg_node(id);
}

UNUSED_ static struct arg ints(struct world *w, int n, const int64_t *values)
{
	const struct sym **list = ARENA_ARRAY(&w->arena, const struct sym *, (size_t)n);

	for (int i = 0; i < n; i++)
		list[i] = sym_const(w->g->syms, values[i]);
	return arg_ints(list, n);
}

UNUSED_ static struct arg number(struct world *w, int64_t i)
{
	return arg_int(w->g, i);
}

UNUSED_ static struct arg add_node(struct world *w, enum op op, const struct arg *args, int n)
{
	int id = graph_add(w->g, &(struct node_spec){ op, args, n, 0, 0 }, &w->err);

	if (id < 0)
		fail_msg("%s: %s", op_info(op)->id, w->err.message);
	return arg_node(id);
}

#define ARGS(...)                                                                                  \
	(const struct arg[]){ __VA_ARGS__ },                                                       \
	    (int)(sizeof((const struct arg[]){ __VA_ARGS__ }) / sizeof(struct arg))
#define ADD(w, op, ...) add_node(w, op, ARGS(__VA_ARGS__))

/* The op must be refused with this code; the message must hold `part`. */
UNUSED_ static void assert_refused(struct world *w, enum op op, const struct arg *args, int n,
				   enum err_code code, const char *part)
{
	struct err err = { 0 };

	if (graph_add(w->g, &(struct node_spec){ op, args, n, 3, 7 }, &err) >= 0)
		fail_msg("%s was accepted", op_info(op)->id);
	if (!strstr(err.message, part))
		fail_msg("no \"%s\" in \"%s\"", part, err.message);
	assert_int_equal(err.code, code);
	assert_int_equal(err.line, 3);
	assert_int_equal(err.column, 7);
}

UNUSED_ static void assert_value(struct world *w, struct arg x, enum dtype dtype, const char *shape)
{
	const struct node *n = w->g->nodes[x.node];
	struct buf text;

	buf_init(&text, 0);
	shape_print(&text, &n->shape);
	assert_string_equal(dtype_name(n->dtype), dtype_name(dtype));
	assert_string_equal(text.data, shape);
	buf_finish(&text);
}

UNUSED_ static void return_values(struct world *w, const struct arg *args, int n)
{
	int ids[16];

	for (int i = 0; i < n; i++)
		ids[i] = args[i].node;
	assert_true(graph_set_outputs(w->g, ids, n));
	if (!graph_verify(w->g, &w->err))
		fail_msg("%s", w->err.message);
}
#define RETURN(w, ...) return_values(w, ARGS(__VA_ARGS__))

UNUSED_ static void assert_graph(const struct graph *g, const char *want)
{
	struct buf text;

	buf_init(&text, 0);
	graph_print(&text, g);
	assert_string_equal(text.data, want);
	buf_finish(&text);
}

#endif
