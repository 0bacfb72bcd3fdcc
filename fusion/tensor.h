/* fusion/tensor.h -- tensors in memory, as callers of the engine make and read them.
 *
 * A tensor is a dtype, sizes and strides over a storage.  Storage comes from an allocator
 * that counts bytes in use and their peak; an allocator and its tensors belong to one thread,
 * but any number of threads may read elements between two calls of the engine, once
 * fusion_tensor_read() has brought them to the host.
 */
#ifndef FUSION_TENSOR_H
#define FUSION_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/dtype.h"
#include "fusion/value.h"

struct allocator;     /* private */
struct device_memory; /* private */
struct err;           /* fusion/base/err.h */
struct storage;       /* private; two tensors with one storage share memory */

/* ---- allocators ---- */

/* `limit_bytes`: largest total in use; MEMORY error beyond it.  `device`: where
 * the memory is, borrowed; NULL: here, which is all that a caller of the engine can say. */
struct allocator *allocator_create(size_t limit_bytes, const struct device_memory *device);
/* One whose memory is where that of `of` is, and counts apart: what its tensors take is none of
 * the other's.  To be destroyed before the other. */
struct allocator *allocator_create_beside(const struct allocator *of, size_t limit_bytes);
const struct device_memory *allocator_device(const struct allocator *a);
void allocator_destroy(struct allocator *a); /* frees cached blocks; all tensors must be gone */
size_t allocator_used_bytes(const struct allocator *a);
/* The most that was in use at once, what a device's backend has for its kernels
 * included; from now on: what is in use. */
size_t allocator_peak_bytes(struct allocator *a);
void allocator_reset_peak(struct allocator *a);

/* ---- tensors ---- */

struct tensor {
	struct storage *storage;
	int refs;
	enum dtype dtype;
	int rank;
	int64_t size[MAX_RANK];
	int64_t stride[MAX_RANK]; /* in elements */
	int64_t offset;           /* in elements */
	bool kept;                /* for the engine: it is of its storage's list */
	struct tensor *next_kept;
};

/* Row-major, not zeroed; refs 1.  BOUND where the element count overflows or
 * exceeds 1 << TENSOR_MAX_LOG2, with the shape in the message. */
enum { TENSOR_MAX_LOG2 = 31 };
struct tensor *tensor_create(struct allocator *a, enum dtype dtype, int rank, const int64_t *size,
			     struct err *err);

static inline struct tensor *tensor_ref(struct tensor *t)
{
	t->refs++;
	return t;
}

void tensor_unref(struct tensor *t); /* NULL is fine */

int64_t tensor_numel(const struct tensor *t);
bool tensor_contiguous(const struct tensor *t);

/* The first element for the host: fetched where kernels run on a device.  From there on
 * `stride` and `size` say where the others lie. */
const void *fusion_tensor_read(const struct tensor *t);
void *fusion_tensor_data(const struct tensor *t); /* to be written, too */

/* Whether it is known without a copy to the host that two large tensors on one device hold the
 * same bytes, row by row.  False: they may. */
bool tensor_same_on_device(const struct tensor *a, const struct tensor *b);

/* One element as a number; `index` in row-major order. */
double tensor_get_double(const struct tensor *t, int64_t index);
int64_t tensor_get_int(const struct tensor *t, int64_t index);

/* Copies values, whatever the strides; shapes and dtypes must be equal.  `to` has no
 * references (fusion_reference()) then. */
void tensor_copy(struct tensor *to, const struct tensor *from);

/* Whether it lies on a device as tensor_copy() brought it there from the host, and nobody has
 * written it since; to know that reads nothing. */
bool fusion_tensor_as_given(const struct tensor *t);

/* Bytes of its storage, which other tensors may share, and whose they are. */
size_t fusion_tensor_bytes(const struct tensor *t);
const struct allocator *fusion_tensor_allocator(const struct tensor *t);

/* A tensor over memory of the caller's, row by row, to be read; NULL when out of memory.
 * It has no allocator: fusion_tensor_end() alone may be called to free it. */
struct tensor *fusion_tensor_over(const void *elements, enum dtype dtype, int rank,
				  const int64_t *size);
void fusion_tensor_end(struct tensor *t); /* NULL is fine; the memory stays the caller's */

/* ---- tensors as values ---- */

/* A tensor value around t (takes a reference of its own); for arguments.
 * VALUE_UNSET when out of memory. */
struct value fusion_value(struct tensor *t);

/* The tensor of a VALUE_TENSOR, borrowed; NULL of any other value, and where it has no memory:
 * it outlived its capture. */
struct tensor *fusion_tensor(struct value v);

/* Whether nn.Parameter() marked a VALUE_TENSOR. */
bool fusion_is_parameter(struct value v);

/* Of a VALUE_TENSOR: bit d as torch._dynamo.mark_dynamic(t, d). */
unsigned *fusion_dynamic_dims(struct value v);

#endif
