/* fusion/torch/torch_control.h -- how a program steers its capture.
 *
 * torch.compile, torch.compiler and torch._dynamo: functions that compute
 * nothing.  A program marks functions and tensors with them, or asks for a
 * break.
 */
#ifndef FUSION_TORCH_TORCH_CONTROL_H
#define FUSION_TORCH_TORCH_CONTROL_H

#include "fusion/vm/frame.h"
#include "fusion/vm/value.h"
#include "fusion/vm/vm.h"

enum torch_control {
	CONTROL_FIRST = 1 << 14,
	CONTROL_GRAPH_BREAK,
	CONTROL_DISABLE,
	CONTROL_DISABLE_ONCE, /* the same with recursive=False */
	CONTROL_SKIP,         /* our prelude marks methods with it */
	CONTROL_READS,        /* ... and functions with this one */
	CONTROL_IDENTITY,     /* torch.compile(f): f, which is compiled anyway */
	CONTROL_MARK_DYNAMIC,
	CONTROL_NOTHING,
	CONTROL_IS_COMPILING,
	CONTROL_IS_TRACED,      /* our prelude asks: no op runs at once */
	CONTROL_FOLLOWS_DYNAMO, /* ... captured as Dynamo does: no functools cache, numbers of NumPy
				 * are tensors */
	CONTROL_GRAD_MODE,      /* our prelude calls it; answers the mode before */
	CONTROL_IS_GRAD,        /* torch.is_grad_enabled() */
	CONTROL_GRAD_FUNCTION,  /* f, with the mode in which it runs */
	CONTROL_DERIVATIVE,     /* torch.func says that one begins (True), or ends */
	CONTROL_FUNCTION_CONTEXT, /* torch.autograd.Function makes its ctx: a node of FX */
	CONTROL_BODY, /* (f, *args): a capture calls f as the body of a function of functions */
	CONTROL_PURE_BODY,      /* the same, where f may not write to older tensors */
	CONTROL_AUTOCAST_ENTER, /* our prelude calls these: (device, dtype, enabled, cache); */
	CONTROL_AUTOCAST_EXIT,  /* what the first answered, */
	CONTROL_AUTOCAST_MODE,  /* ("enabled" | "dtype" | "cache", device) */
	CONTROL_END,
};

/* The id of a spelling, -1: none. */
int torch_control_find(const char *spelling);

static inline bool torch_control_wants(const struct native *f)
{
	return f->id > CONTROL_FIRST && f->id < CONTROL_END;
}

/* Calls it; a capture answers GRAPH_BREAK, IS_COMPILING and the grad mode itself; it and
 * mode lazy IS_TRACED; a capture SKIPS_CACHES too. */
bool torch_control_call(const struct native *f, const struct arguments *args,
			struct torch_modes *modes, struct value *out, struct err *err);

/* *depth is the mode of the host: it is one more, or less, and *out what it was. */
bool torch_control_derivative(const struct native *f, const struct arguments *args,
			      unsigned char *depth, struct value *out, struct err *err);

/* The calls of autocast; *mode is the mode of the host. */
bool torch_control_autocast(const struct native *f, const struct value *args, int n, unsigned *mode,
			    struct value *out, struct err *err);
static inline bool torch_control_is_autocast(const struct native *f)
{
	return f->id >= CONTROL_AUTOCAST_ENTER && f->id <= CONTROL_AUTOCAST_MODE;
}

#endif
