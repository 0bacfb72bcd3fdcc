/* fusion/graph/infer.h -- between the files of this folder; private to it. */
#ifndef FUSION_GRAPH_INFER_H
#define FUSION_GRAPH_INFER_H

#include "fusion/graph/graph.h"

enum { SHAPE_TEXT_BYTES = 128 };

/* The shape as text, cut to fit; returns `out`. */
const char *shape_text(const struct shape *s, char out[SHAPE_TEXT_BYTES]);

/* What one call of op_infer() works on; its rules are in infer*.c. */
struct infer {
	const struct graph *g;
	const struct op_info *info;
	enum op op;
	const struct arg *args;
	struct op_result *out;
	struct err *err;
};

/* The tensor of argument i; NULL where it is none. */
static inline const struct node *infer_tensor(const struct infer *in, int i)
{
	return in->args[i].kind == ARG_NODE ? in->g->nodes[in->args[i].node] : NULL;
}

/* The argument of that name; NULL where the op has none. */
const struct arg *infer_arg(const struct infer *in, const char *name);

/* `dtype=` where it is given, else `otherwise`. */
enum dtype infer_dtype_arg(const struct infer *in, enum dtype otherwise);

/* The dtype that arguments first .. end - 1 have in common. */
enum dtype infer_promote(const struct infer *in, int first, int end);

/* Whether the tensors among arguments first .. end - 1 have one dtype; else DTYPE error. */
bool infer_alike(struct infer *in, int first, int end);

/* One dim as the user wrote it -> 0 .. rank - 1; SHAPE or TYPE error. */
bool infer_dim(const struct infer *in, const struct shape *x, const struct sym *dim, int *out);

/* Broadcasts `x` into `into`; SHAPE error with the op's name, and conflict set. */
bool infer_broadcast(struct infer *in, struct shape *into, const struct shape *x);

/* Whether two sizes are one; else conflict is set and the caller words it. */
bool infer_same_size(struct infer *in, const struct sym *a, const struct sym *b);

/* The rules that ops.def names: each completes in->out, or says in in->err what is wrong.
 * Of a view the dtype is there already.  A file has those of its own, by op. */
typedef bool infer_fn(struct infer *in);
extern infer_fn *const einsum_rules[OP_COUNT], *const index_rules[OP_COUNT],
						   *const library_rules[OP_COUNT],
						       *const loop_rules[OP_COUNT],
							   *const loss_rules[OP_COUNT],
							       *const view_rules[OP_COUNT],
								   *const window_rules[OP_COUNT];

/* What must hold: proved, or taken for granted with a fact; else false, with
 * the conflict set and the message the caller's. */
bool infer_at_least(struct infer *in, const struct sym *a, const struct sym *b);
bool infer_equal(struct infer *in, const struct sym *a, const struct sym *b);

/* Whether the op takes operands that are computed in this dtype. */
bool op_accepts(enum op op, enum dtype dtype, struct err *err);

#endif
