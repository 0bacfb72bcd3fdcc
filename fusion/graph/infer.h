/* fusion/graph/infer.h -- between the files of this folder; private to it. */
#ifndef FUSION_GRAPH_INFER_H
#define FUSION_GRAPH_INFER_H

#include "fusion/graph/graph.h"

enum { SHAPE_TEXT_BYTES = 128 };

/* The shape as text, cut to fit; returns `out`. */
const char *shape_text(const struct shape *s, char out[SHAPE_TEXT_BYTES]);

/* Completes and checks arguments against the op's signature: see graph_add(). */
bool args_bind(struct graph *g, enum op op, const struct arg *args, int n, struct arg out[MAX_ARGS],
	       struct err *err);

/* Whether complete arguments have the kinds that the signature says. */
bool args_check(const struct graph *g, enum op op, const struct arg *args, struct err *err);

/* The dtype that numbers and tensors have in common; -1: no operand yet.
 * Tensors with dims decide within their category, then 0-d tensors, then
 * Python numbers: each only where its category is higher. */
struct promotion {
	int dim, zero, wrapped;
};
#define PROMOTION_NONE                                                                             \
	{                                                                                          \
		-1, -1, -1                                                                         \
	}
void promotion_add(struct promotion *p, const struct graph *g, const struct arg *arg);
enum dtype promotion_result(const struct promotion *p);

/* Whether the op takes operands that are computed in this dtype. */
bool op_accepts(enum op op, enum dtype dtype, struct err *err);

#endif
