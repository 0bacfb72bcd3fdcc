/* fusion/torch/torch_grad.c -- the spellings of what a program calls of gradients. */
#include "fusion/torch/torch_grad.h"

#include <string.h>

static const struct {
	const char *spelling;
	int id;
} rows[] = {
	{ "Tensor.backward", GRAD_BACKWARD },    { "torch.autograd.backward", GRAD_BACKWARD_ALL },
	{ "torch.autograd.grad", GRAD_GRAD },    { "Tensor.retain_grad", GRAD_RETAIN },
	{ "Tensor.detach_", GRAD_DETACH_ },      { "torch._C._hooks", GRAD_HOOKS },
	{ "torch._C._function", GRAD_FUNCTION },
};

int torch_grad_find(const char *spelling)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].spelling, spelling) == 0)
			return rows[i].id;
	return -1;
}

bool torch_grad_is_pass(int id)
{
	return id == GRAD_BACKWARD || id == GRAD_BACKWARD_ALL || id == GRAD_GRAD;
}

bool torch_grad_wants(int id)
{
	return id > GRAD_FIRST && id < GRAD_END;
}
