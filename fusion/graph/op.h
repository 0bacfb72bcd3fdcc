/* fusion/graph/op.h -- what ops.def says, as data.
 *
 * ops.def is the one table of tensor ops.  The enum, the parser's binding of
 * torch spellings, inference, eager kernels, generated C, documentation and
 * the API's op list are all readers of it.
 *
 * torch.add and torch.sub take an `alpha`, the operators do not: the spelling
 * reaches OP_add_alpha, and graph_add() makes it OP_add where alpha is 1.  So a
 * binder takes what op_find() says and need not look at the arguments.
 */
#ifndef FUSION_GRAPH_OP_H
#define FUSION_GRAPH_OP_H

#include <stdbool.h>

#include "fusion/base/err.h"
#include "fusion/dtype.h"

/* How an op computes, which decides its shape rule and how it is lowered. */
enum op_kind {
	KIND_INPUT,     /* a graph's placeholder */
	KIND_CONSTANT,  /* elements known when the graph is made */
	KIND_POINTWISE, /* one result element from one element of each operand */
	KIND_REDUCE,    /* folds dims with an associative step */
	KIND_VIEW,      /* the same elements under another shape */
	KIND_JOIN,      /* tensors side by side along a dim: cat */
	KIND_CREATE,    /* new elements from sizes (zeros, full, arange) */
	KIND_COMPOSITE, /* expands into other ops: pass decompose */
	KIND_LIBRARY,   /* an own kernel function (cumsum) */
	KIND_CONTROL,   /* a loop and what belongs to it: no kernel, see loop.h */
};

/* The facts at the top of ops.def, as bits. */
enum op_fact_bit {
#define FACT(name, meaning) FACT_BIT_##name,
#include "fusion/graph/ops_some.h"
#undef FACT
	OP_FACTS
};
enum op_fact {
#define FACT(name, meaning) FACT_##name = 1u << FACT_BIT_##name,
#include "fusion/graph/ops_some.h"
#undef FACT
};
_Static_assert(OP_FACTS <= 32, "facts fit into an unsigned");

/* The dtype rules at the top of ops.def.  RULE_NONE: the op's function of infer*.c knows. */
enum dtype_rule { RULE_NONE, RULE_SAME, RULE_FLOAT, RULE_BOOL, RULE_LOGIC, RULE_INTSUM };

/* The autocast classes of ops.def, and the devices that have lists of their own. */
enum autocast_class {
	AUTOCAST_NONE,
	AUTOCAST_LOWER,
	AUTOCAST_FLOAT32,
	AUTOCAST_PROMOTE,
	AUTOCAST_BANNED,
};
enum autocast_device { AUTOCAST_CPU, AUTOCAST_CUDA, AUTOCAST_DEVICES };

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
	PARAM_INTS, /* int[]: an int or a tuple/list of ints */
	PARAM_DTYPE,
	PARAM_STR,
};

struct op_param {
	const char *name;
	enum param_kind kind;
	bool optional;        /* may be left out: fallback is not NULL */
	bool nullable;        /* None is accepted: `?` after the type */
	bool keyword_only;    /* after `*` in the signature */
	const char *fallback; /* text of the default: False, 1, None, none (a str has
			       * no quotes); NULL: required */
};

struct op_info {
	const char *id; /* "truediv" */
	const char *fx; /* FX target name where no spelling gives another: id but for add_alpha */
	enum op_kind kind;
	enum dtype_rule rule;
	const char *signature; /* "Tensor x, int[]? dim=None, bool keepdim=False" */
	const char *spellings; /* "torch.sum Tensor.sum": see ops.def */
	const char *value;     /* KIND_POINTWISE: text of the element; KIND_REDUCE: of the step */
	const char *first;     /* KIND_REDUCE: text of the value of an empty set */
	const char *doc;       /* one line */
	bool transcendental;   /* calls the vector math library */
	unsigned facts;        /* bits of enum op_fact */
	enum autocast_class autocast[AUTOCAST_DEVICES];
	int n_params; /* at most MAX_ARGS of graph.h */
	const struct op_param *params;
};

/* The row; valid for every op below OP_COUNT.  Thread-safe, immutable.  The first call
 * reads the signatures; hosts ask for each op that they run. */
extern struct op_rows {
	bool ready; /* read by op_rows_read(); atomic */
	struct op_info at[OP_COUNT];
} op_rows;
void op_rows_read(void);
static inline const struct op_info *op_info(enum op op)
{
	if (__builtin_expect(!__atomic_load_n(&op_rows.ready, __ATOMIC_ACQUIRE), 0))
		op_rows_read();
	return &op_rows.at[op];
}

static inline bool op_has(enum op op, enum op_fact fact)
{
	return op_info(op)->facts & fact;
}

/* "lower", "float32", "promote", "banned", "none". */
const char *autocast_class_name(enum autocast_class c);

/* Whether autocast to `lower` changes the dtypes of an op's tensor operands, of the
 * dtypes `operands`, on that device; if so *to is what those that float become, but
 * for float64.  UNSUPPORTED in *err (and false) for an op that is banned. */
struct autocast_operands {
	enum dtype lower; /* autocast's own */
	const enum dtype *dtypes;
	int n;
};
bool autocast_target(enum op op, enum autocast_device device, const struct autocast_operands *of,
		     enum dtype *to, struct err *err);

/* Whether an equation of einsum sums over a dim of two operands.  Others torch only
 * multiplies, and on the CPU autocast leaves them as they are. */
bool autocast_sums(const char *equation);

/* How many of the first arguments an op may read values of: view_as() and expand_as() read only
 * the sizes of the second, which gets no gradient. */
static inline int op_n_read(enum op op, int n)
{
	return op_info(op)->kind == KIND_VIEW && op != OP_native_batch_norm && n > 1 ? 1 : n;
}

static inline bool op_draws(enum op op)
{
	return op_has(op, FACT_DRAWS);
}

static inline bool op_is_product(enum op op)
{
	return op_has(op, FACT_PRODUCT);
}

static inline bool op_is_scan(enum op op)
{
	return op_has(op, FACT_SCAN);
}

static inline bool op_is_search(enum op op)
{
	return op_has(op, FACT_SEARCH);
}

/* Whether a kernel that has it folds dims: a search does where domain_searches() says so. */
static inline bool op_folds(enum op op)
{
	return op_info(op)->kind == KIND_REDUCE || op_is_search(op);
}

/* Whether a kernel can read what the op gives, point by point, by the indices themselves. */
static inline bool op_is_lookup(enum op op)
{
	return op_has(op, FACT_LOOKUP);
}

static inline bool op_divides(enum op op)
{
	return op_has(op, FACT_DIVIDES);
}

/* `how` of an attention node. */
enum attention_how {
	ATTENTION_CAUSAL = 1, /* a row sees the keys up to its own number */
	ATTENTION_ROUNDS = 2, /* product, scale and mask are ops: each rounds to its dtype */
	ATTENTION_TURNED = 4, /* [B, H, L, E] lies as [B, L, H, E], which is the node's shape */
	ATTENTION_EMPTY = 8,  /* a row without any key is 0, not NaN */
	ATTENTION_FILLS = 16, /* scores are `fill` where the mask is true, not where it is false */
};

/* Reads a signature, as in ops.def, and cuts `text` up, where names and defaults
 * then are; the number of parameters, -1 where it cannot be read. */
int op_parse_signature(char *text, struct op_param *params);

/* Whether an op's FX name is these `len` bytes. */
bool op_has_fx(const char *name, size_t len);

/* The op that a spelling reaches: "torch.relu", "Tensor.relu", "F.relu" is
 * spelt "torch.nn.functional.relu", operators are "op:+", "op:@", "op:neg".
 * Each spelling is in one row.  false where there is none. */
bool op_find(const char *spelling, enum op *out);

/* The name that an FX graph gives to a call by this spelling: "multiply" for
 * torch.multiply, "truediv" for "op:/".  Points into the spelling or the table. */
const char *op_fx_name(const char *spelling, enum op op);

/* The spelling nearest to an unknown one under the same module ("torch.sin"
 * for "torch.sinn"), for "did you mean"; NULL if far. */
const char *op_nearest(const char *spelling);

/* Offers what ops are called in a module, of len characters: "torch", "Tensor". */
struct nearest;
void op_offer(const char *module, size_t len, struct nearest *n);

#endif
