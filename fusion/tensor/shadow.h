/* fusion/tensor/shadow.h -- a tensor's elements in float64, beside it.
 *
 * Where a program runs as a reference, a storage of floating point elements has
 * SHADOWS, storages of as many float64 elements: shadow 0 holds what the program would
 * have computed in float64, the others the same disturbed: each element of each result is
 * off by up to half a unit in the last place of the program's own dtype.  A view has the
 * shadows of its storage, under its own sizes and strides.
 */
#ifndef FUSION_TENSOR_SHADOW_H
#define FUSION_TENSOR_SHADOW_H

#include "fusion/tensor/tensor.h"

enum { MAX_SHADOWS = 4 };

struct shadow {
	struct storage *of[MAX_SHADOWS]; /* references; NULL: not made */
};

/* t's elements in one of its shadows; a storage without one gets one that holds its own
 * elements.  The caller's; NULL with *err. */
struct tensor *shadow_view(struct tensor *t, int which, struct err *err);

/* From now on `wide`, which has t's sizes, is t in that shadow. */
bool shadow_set(struct tensor *t, int which, struct tensor *wide, struct err *err);

/* Moves each element by up to half a unit in the last place of `dtype`; integers stay. */
void shadow_disturb(struct tensor *wide, enum dtype dtype, uint64_t seed);

/* The shadows of a copy: those of the original. */
bool shadow_copy(struct tensor *to, struct tensor *from, struct err *err);

/* The storage was written without them: they are made again from its elements. */
void shadow_drop(struct storage *s);

#endif
