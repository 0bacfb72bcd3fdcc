/* fusion/session/values.c -- tensors, and tensors as values, for callers of the engine. */
#include "fusion/tensor.h"

#include <stdlib.h>

#include "fusion/tensor/tensor.h"

const void *fusion_tensor_read(const struct tensor *t)
{
	return tensor_read(t);
}

void *fusion_tensor_data(const struct tensor *t)
{
	return tensor_data(t);
}

bool fusion_tensor_as_given(const struct tensor *t)
{
	return tensor_as_given(t);
}

size_t fusion_tensor_bytes(const struct tensor *t)
{
	return t->storage->bytes;
}

const struct allocator *fusion_tensor_allocator(const struct tensor *t)
{
	return t->storage->allocator;
}

/* Both in one piece of memory. */
struct tensor_over {
	struct tensor tensor;
	struct storage storage;
};

struct tensor *fusion_tensor_over(const void *elements, enum dtype dtype, int rank,
				  const int64_t *size)
{
	struct tensor_over *o = calloc(1, sizeof(*o));
	int64_t stride = 1;

	if (!o)
		return NULL;
	o->tensor =
	    (struct tensor){ .storage = &o->storage, .refs = 1, .dtype = dtype, .rank = rank };
	for (int d = rank - 1; d >= 0; d--) {
		o->tensor.size[d] = size[d];
		o->tensor.stride[d] = stride;
		stride *= size[d];
	}
	o->storage = (struct storage){ .data = (void *)elements,
				       .image = (void *)elements,
				       .bytes = (size_t)stride * dtype_bytes(dtype) };
	return &o->tensor;
}

void fusion_tensor_end(struct tensor *t)
{
	free(t);
}

struct value fusion_value(struct tensor *t)
{
	return tensor_wrap(tensor_ref(t));
}

struct tensor *fusion_tensor(struct value v)
{
	return v.kind == VALUE_TENSOR ? v.tensor->memory : NULL;
}

bool fusion_is_parameter(struct value v)
{
	return v.tensor->is_parameter;
}

unsigned *fusion_dynamic_dims(struct value v)
{
	return &v.tensor->dynamic_dims;
}
