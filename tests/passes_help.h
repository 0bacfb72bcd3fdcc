/* tests/passes_help.h -- running passes over small graphs, and their values.
 *
 * A graph is evaluated by putting constants in place of its inputs and folding:
 * test_passes_fold.c checks that evaluation against plain C.
 */
#ifndef TESTS_PASSES_HELP_H
#define TESTS_PASSES_HELP_H

#include "tests/graph_help.h"

#include <math.h>

#include "fusion/passes/fold.h"

#define RUN_PASS(w, pass)                                                                          \
	do {                                                                                       \
		struct pass_run run_ = { .g = (w)->g };                                            \
		bool changed_;                                                                     \
		if (!(pass)(&run_, &changed_, &(w)->err))                                          \
			fail_msg("%s", (w)->err.message);                                          \
		if (!graph_verify((w)->g, &(w)->err))                                              \
			fail_msg("%s", (w)->err.message);                                          \
	} while (0)

/* The ops of a graph but its inputs, in order: "sum mul". */
UNUSED_ static void assert_ops(const struct graph *g, const char *want)
{
	struct buf text;

	buf_init(&text, 0);
	buf_puts(&text, "");
	for (int i = 0; i < g->n_nodes; i++)
		if (g->nodes[i]->op != OP_input)
			buf_printf(&text, "%s%s", text.len ? " " : "",
				   op_info(g->nodes[i]->op)->id);
	assert_string_equal(text.data ? text.data : "", want);
	buf_finish(&text);
}

UNUSED_ static int64_t element_count(const struct node *n)
{
	int64_t count = 1;

	for (int i = 0; i < n->shape.rank; i++)
		count *= n->shape.size[i]->value;
	return count;
}

/* The elements of output `i` where input k has the elements inputs[k]; sizes
 * must be fixed.  Freed by the caller. */
UNUSED_ static void *values_of(struct world *w, int output, const void *const *inputs)
{
	struct arena arena = { 0 };
	struct graph *g = graph_copy(w->g, &arena);
	struct known_value value;
	struct pass_run run = { .g = g };
	struct node *n;
	bool changed;
	char *out;

	assert_non_null(g);
	for (int i = 0; i < g->n_inputs; i++) {
		n = g->nodes[g->inputs[i]];
		n->op = OP_tensor;
		n->data = inputs[i];
	}
	g->n_inputs = 0;
	if (!pass_decompose(&run, &changed, &w->err) || !pass_fold(&run, &changed, &w->err))
		fail_msg("%s", w->err.message);
	n = g->nodes[g->outputs[output]];
	assert_true(known_arg(g, &(struct arg){ .kind = ARG_NODE, .node = n->id }, &value));
	out = malloc((size_t)element_count(n) * dtype_bytes(n->dtype) + 1);
	assert_non_null(out);
	for (int64_t i = 0; i < element_count(n); i++) {
		union element e = value.element;

		if (!value.uniform)
			element_convert(n->dtype, &e, n->dtype, value.data, i);
		element_store(n->dtype, out, i, &e);
	}
	arena_finish(&arena);
	return out;
}

/* The same bits, but for which NaN a NaN is. */
UNUSED_ static void assert_same_values(enum dtype dtype, const void *a, const void *b, int64_t n)
{
	size_t bytes = dtype_bytes(dtype);

	for (int64_t i = 0; i < n; i++) {
		const char *x = (const char *)a + (size_t)i * bytes;
		const char *y = (const char *)b + (size_t)i * bytes;
		union element e, f;

		element_convert(DTYPE_F64, &e, dtype, a, i);
		element_convert(DTYPE_F64, &f, dtype, b, i);
		if (memcmp(x, y, bytes) && !(isnan(e.f64) && isnan(f.f64)))
			fail_msg("element %d: %.17g became %.17g", (int)i, e.f64, f.f64);
	}
}

/* Within `bound` of the larger of 1 and the value wanted. */
UNUSED_ static void assert_near(double got, double want, double bound)
{
	if (isnan(want)   ? !isnan(got)
	    : isinf(want) ? got != want
			  : !(fabs(got - want) <= bound * fmax(1, fabs(want))))
		fail_msg("%.17g, and %.17g is wanted", got, want);
}

#endif
