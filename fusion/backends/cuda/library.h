/* fusion/backends/cuda/library.h -- ops with a function of their own, on the device.
 * Private to backends/cuda.
 */
#ifndef FUSION_BACKENDS_CUDA_LIBRARY_H
#define FUSION_BACKENDS_CUDA_LIBRARY_H

#include "fusion/backends/cuda/device.h"
#include "fusion/backends/library.h"

enum placing { ON_DEVICE, ON_HOST, NOWHERE };

struct cuda_library {
	/* Once for a set of symbol values: ON_HOST where these operands are not for it;
	 * NOWHERE with *err.  *state is freed by the caller. */
	enum placing (*bind)(const struct library_call *call, struct device *d, void **state,
			     struct err *err);
	void (*run)(const struct library_call *call, struct device *d, const void *state,
		    void *const *buffers);
};

/* Whether there is a function for the op with a result of such a dtype. */
bool cuda_library_takes(const struct node *n);

/* NULL: the op runs on the host. */
const struct cuda_library *cuda_library_find(enum op op);

extern const struct cuda_library cuda_contraction; /* matmul, matmul_nt, einsum */

#endif
