/* fusion/torch/torch_grad.h -- what a program may call of gradients: names alone, the host runs
 * them. */
#ifndef FUSION_TORCH_GRAD_H
#define FUSION_TORCH_GRAD_H

#include <stdbool.h>

enum grad_native {
	GRAD_FIRST = 1 << 13,
	GRAD_BACKWARD,
	GRAD_BACKWARD_ALL,
	GRAD_GRAD,
	GRAD_RETAIN,
	GRAD_DETACH_,
	GRAD_HOOKS,
	GRAD_FUNCTION,
	GRAD_END
};

int torch_grad_find(const char *spelling); /* -1: none */

/* Whether it runs a backward pass. */
bool torch_grad_is_pass(int id);

/* Whether the native is one of these. */
bool torch_grad_wants(int id);

#endif
