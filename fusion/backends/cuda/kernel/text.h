/* fusion/backends/cuda/kernel/text.h -- numbers, addresses and steps of the tile program as CUDA C.
 *
 * Values are named r<register>, buffers b<parameter>, coordinates x<dim>, numbers that are
 * parameters z<i>.
 */
#ifndef FUSION_BACKENDS_CUDA_KERNEL_TEXT_H
#define FUSION_BACKENDS_CUDA_KERNEL_TEXT_H

#include "fusion/backends/cuda/kernel/kernel.h"

struct emit_text {
	struct buf *out;
	struct cuda_kernel *c;
	bool before_scan; /* of a body what its scan is of */
	int told;         /* sites of faults that text_sites_end() has asked */
	bool any_size;    /* text_number() makes known numbers parameters too */
};

/* An element in memory, as a type; what intrinsics.cu has a short name for is called so. */
const char *text_element(enum dtype dtype);

/* "f32", "bool": a value, as a type. */
static inline const char *text_value(enum dtype dtype)
{
	return dtype == DTYPE_BOOL ? "bool" : text_element(dtype);
}

/* A literal, or the parameter that it becomes. */
void text_number(struct emit_text *t, const struct sym *s);

/* b<parameter> + where the access lies at <name>0, <name>1, ... */
void text_address(struct emit_text *t, const struct access *at, int n_dims, const char *name);

/* `inst` (IMM, OP, CAST) as the declaration of its register. */
void text_compute(struct emit_text *t, const struct inst *inst);

/* `op` of two values as a call of intrinsics: of the partial results of a reduction; and what
 * it begins with. */
void text_join(struct emit_text *t, enum op op, enum dtype dtype, const char *a, const char *b);
void text_first(struct emit_text *t, enum op op, enum dtype dtype);

/* What it is joined in, what threads and blocks have found: a wide type, rounded once.  And
 * struct j<register>: the reduction as a type that intrinsics.cu takes. */
const char *text_wide(const struct inst *inst);
void text_joiner(struct emit_text *t, const struct inst *inst);

/* Setup, a prologue, or a post: once a row (COLS: once a column).  The thread that is
 * `first_of_team` and `live` stores. */
void text_once(struct emit_text *t, const struct inst *insts, int n);

/* lookup.c: a load of a join, or by indices: l<load>[lanes], which is declared; -1: its register,
 * once a row. */
void text_lookup(struct emit_text *t, const struct inst *inst, int load);
/* Tells of indices out of bounds, which w<site> keep: at the end of the loops that they are in. */
void text_sites_end(struct emit_text *t);

/* pairs.c: the function's body for a COLS of pairs. */
void cuda_pairs_emit(struct emit_text *t);

/* staged.c: rows that pass through shared memory come there (`in`), or what is stored of them goes.
 */
void cuda_staged_emit(struct emit_text *t, bool in);

#endif
