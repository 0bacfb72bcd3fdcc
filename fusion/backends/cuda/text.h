/* fusion/backends/cuda/text.h -- the parts of generated CUDA C.  Private to backends/cuda. */
#ifndef FUSION_BACKENDS_CUDA_TEXT_H
#define FUSION_BACKENDS_CUDA_TEXT_H

#include "fusion/backends/cuda/kernel.h"

struct text {
	struct buf *out;
	struct cuda_kernel *c;
};

/* "float", "unsigned short": an element in memory; "f32", "bool": a value. */
const char *text_element(enum dtype dtype);
const char *text_value(enum dtype dtype);
/* How words of ops.def are called for it: "f32", "f64", "i64" or "mask". */
const char *text_suffix(enum dtype dtype);

static inline bool text_is_float(enum dtype dtype)
{
	return dtype_category(dtype) == CATEGORY_FLOAT;
}

/* A literal, or the parameter that it becomes. */
void text_number(struct text *t, const struct sym *s);

/* x<first>.. x<last - 1>: where `flat` lies in the dims [first, last). */
void text_coordinates(struct text *t, const struct sym *const *extent, int first, int last,
		      const char *flat, const char *name);

/* b<buffer> + where the access lies at x0, x1, ... */
void text_address(struct text *t, const struct access *at, int n_dims, const char *name);

/* bounds.c: whether a float32 can be no farther from 0 than sines without a reduction
 * of their own go, by what computes it; it may be NaN. */
bool text_is_near(const struct kernel *k, int reg);

/* `inst` (IMM, OP, CAST) as the declaration of its register. */
void text_compute(struct text *t, const struct inst *inst);

/* One element: LOAD above LEVEL_POINT, and STORE of such a register. */
void text_load_one(struct text *t, const struct inst *inst);
void text_store_one(struct text *t, const struct inst *inst);

/* The value of element expression `from`, as it is in a register. */
void text_from_memory(struct text *t, enum dtype dtype, const char *from);

/* `op` of two values as a call of words: of the partial results of a reduction. */
void text_join(struct text *t, enum op op, enum dtype dtype, const char *a, const char *b);
void text_first(struct text *t, enum op op, enum dtype dtype);

/* emit_reduce.c: the reductions of a stage.  What they begin with, */
void text_accumulators(struct text *t, const struct stage *stage);
/* what a thread does behind the lanes of each step, */
void text_steps(struct text *t, const struct stage *stage);
/* and lanes, threads and perhaps blocks joined: the registers of a row or a column. */
void text_results(struct text *t, const struct stage *stage);

#endif
