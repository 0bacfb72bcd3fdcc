/* fusion/backends/cuda/library.c -- which ops have a function on the device. */
#include "fusion/backends/cuda/library.h"

bool cuda_library_takes(const struct node *n)
{
	const struct cuda_library *library = cuda_library_find(n->op);

	return library &&
	       (library != &cuda_contraction || dtype_category(n->dtype) == CATEGORY_FLOAT);
}

const struct cuda_library *cuda_library_find(enum op op)
{
	switch (op) {
	case OP_matmul:
	case OP_matmul_nt:
	case OP_einsum:
		return &cuda_contraction;
	default:
		return NULL;
	}
}
