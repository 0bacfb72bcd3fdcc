/* fusion/graph/op.h -- what ops.def says, as data.
 *
 * ops.def is the one table of tensor ops.  The enum, the parser's binding of
 * torch spellings, inference, eager kernels, generated C, documentation and
 * the API's op list are all readers of it.
 */
#ifndef FUSION_GRAPH_OP_H
#define FUSION_GRAPH_OP_H

#include <stdbool.h>

#include "fusion/graph/dtype.h"

/* How an op computes, which decides its shape rule and how it is lowered. */
enum op_kind {
	KIND_INPUT,     /* a graph's placeholder */
	KIND_CONSTANT,  /* elements known when the graph is made */
	KIND_POINTWISE, /* one result element from one element of each operand */
	KIND_REDUCE,    /* folds dims with an associative step */
	KIND_VIEW,      /* the same elements under another shape */
	KIND_CREATE,    /* new elements from sizes (zeros, full, arange) */
	KIND_COMPOSITE, /* expands into other ops: pass decompose */
	KIND_LIBRARY,   /* an own kernel function, never fused (cumsum) */
};

enum op {
#define OP_ANY(id) OP_##id,
#include "fusion/graph/ops_all.h"
#undef OP_ANY
	OP_COUNT
};

/* The kinds of a parameter in a signature. */
enum param_kind {
	PARAM_TENSOR,        /* Tensor */
	PARAM_TENSOR_SCALAR, /* Tensor|Scalar: a tensor or a Python number */
	PARAM_SCALAR,        /* Scalar: int, float or bool */
	PARAM_INT,
	PARAM_FLOAT,
	PARAM_BOOL,
	PARAM_INTS,  /* int[]: an int or a tuple/list of ints */
	PARAM_DTYPE,
	PARAM_STR,
};

struct op_param {
	const char *name;
	enum param_kind kind;
	bool optional;        /* may be None or left out */
	bool keyword_only;    /* after `*` in the signature */
	const char *fallback; /* text of the default: "False", "1", "None"; NULL: required */
};

struct op_info {
	const char *id;        /* "truediv": also the FX target name in reports */
	enum op_kind kind;
	const char *signature; /* "Tensor x, int[]? dim=None, bool keepdim=False" */
	const char *spellings; /* "torch.sum Tensor.sum": see ops.def */
	const char *value;     /* KIND_POINTWISE, KIND_REDUCE: source text of the element */
	const char *doc;       /* one line */
	bool transcendental;   /* calls the vector math library */
	int n_params;
	const struct op_param *params;
};

/* The row; valid for every op below OP_COUNT.  Thread-safe, immutable. */
const struct op_info *op_info(enum op op);

/* The op that a spelling reaches: "torch.relu", "Tensor.relu", "F.relu" is
 * spelt "torch.nn.functional.relu", operators are "op:+", "op:@", "op:neg".
 * false where there is none. */
bool op_find(const char *spelling, enum op *out);

/* The spelling nearest to an unknown one, for "did you mean"; NULL if far. */
const char *op_nearest(const char *spelling);

#endif
