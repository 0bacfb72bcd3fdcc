/* fusion/passes/fold.h -- known values and the evaluation of ops on them;
 * private to fold.c, evaluate.c and simplify.c.
 */
#ifndef FUSION_PASSES_FOLD_H
#define FUSION_PASSES_FOLD_H

#include "fusion/passes/pass.h"

/* One element of any dtype. */
union element {
	float f32;
	double f64;
	int64_t i64;
	uint8_t b;
};

/* A value known while compiling.  A uniform one has one element for all. */
struct known {
	enum dtype dtype;
	bool uniform;
	union element element; /* uniform */
	const void *data;      /* else: row-major, of the shape below */
	struct shape shape;
};

/* Whether an argument is a number, a constant or a filled tensor; a constant
 * of one element counts as uniform. */
bool known_arg(const struct graph *g, const struct arg *arg, struct known *out);

/* The same element as an argument: ARG_FLOAT, ARG_INT or ARG_BOOL. */
struct arg known_number(const struct graph *g, enum dtype dtype, const union element *element);

/* Converts as Tensor.to does. */
void element_convert(enum dtype to, union element *out, enum dtype from, const void *data,
		     int64_t index);

/* A pointwise op on operands that were converted to what n->compute is computed
 * in (dtype_wide(); the mask of where: to bool); the result has n->dtype. */
void evaluate_element(const struct node *n, const union element operands[3], union element *out);

/* A reduction: the value of the empty set, one step, the result.  The
 * accumulator is f64 for floats and i64 for all else. */
void evaluate_first(const struct node *n, union element *acc);
void evaluate_step(const struct node *n, union element *acc, enum dtype dtype, const void *data,
		   int64_t index);
void evaluate_last(const struct node *n, const union element *acc, union element *out);

/* Puts an element of that dtype into row-major memory. */
void element_store(enum dtype dtype, void *data, int64_t index, const union element *element);

#endif
