/* fusion/passes/fold.h -- values that are known while compiling; private to this folder. */
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
struct known_value {
	enum dtype dtype;
	bool uniform;
	union element element; /* uniform */
	const void *data;      /* else: row-major, of the shape below */
	struct shape shape;
};

/* Whether an argument is a number, a constant or a filled tensor; a constant
 * of one element counts as uniform. */
bool known_arg(const struct graph *g, const struct arg *arg, struct known_value *out);

/* The same element as an argument: ARG_FLOAT, ARG_INT or ARG_BOOL. */
static inline struct arg known_number(const struct graph *g, enum dtype dtype,
				      const union element *element)
{
	if (dtype_category(dtype) == CATEGORY_FLOAT)
		return arg_float(dtype_get_double(dtype, element, 0));
	if (dtype == DTYPE_BOOL)
		return arg_bool(element->b);
	return arg_int(g, dtype_get_int(dtype, element, 0));
}

/* Converts as Tensor.to does. */
void element_convert(enum dtype to, union element *out, enum dtype from, const void *data,
		     int64_t index);

/* Puts an element of that dtype into row-major memory. */
void element_store(enum dtype dtype, void *data, int64_t index, const union element *element);

#endif
