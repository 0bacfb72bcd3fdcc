/* fusion/eager/eager.h -- the host that computes at once.
 *
 * Every op runs as one kernel when the VM reaches it, of the interpreter or of the
 * backend whose memory tensors are in.  A tensor value holds memory; an in-place op writes through
 * it, so every name and the caller's argument see the change.
 */
#ifndef FUSION_EAGER_EAGER_H
#define FUSION_EAGER_EAGER_H

#include "fusion/vm/frame.h"
#include "fusion/vm/vm.h"
#include "fusion/eager/autograd.h"
#include "fusion/torch/autocast.h"
#include "fusion/torch/decomposition.h"
#include "fusion/compile/compile.h"
#include "fusion/eager/plan.h"
#include "fusion/torch/torch_host.h"

enum { EAGER_METHODS = 32 };

struct eager {
	struct vm_host host; /* for vm_create(), vm_set_host() */
	const struct exec_env *env;
	const struct backend *backend;
	uint64_t passes_disabled;
	const struct fusion_observer *observer; /* NULL: nobody watches */
	int64_t launches;
	int64_t compile_ns; /* that kernels of ops took to compile, or to be found */
	struct torch_names *names;
	struct { /* of tensors, found last, by where the program has the name */
		const char *spelling; /* "Tensor.clone", of `names` */
		int id;
	} methods[EAGER_METHODS];
	struct torch_operators operators;
	struct decomposer decomposer;
	struct plans plans;
	bool any_number[OP_COUNT]; /* op_takes_any_number() */
	struct buf *out;           /* what print() writes; borrowed */
	struct torch_modes *modes; /* the VM's modes; borrowed */
	struct autocast autocast;
	struct autograd autograd;
	int shadows;           /* in which each op is computed too: reference.h; 0: none */
	uint64_t disturbances; /* a seed for the next */
	bool in_rows;          /* results lie row by row, whatever PyTorch does: rules of gradients
				* count on it */
};

/* `e` is zeroed first; env, names and out are borrowed.  The env's allocator
 * gives all memory. */
void eager_init(struct eager *e, const struct exec_env *env, uint64_t passes_disabled,
		struct torch_names *names, struct buf *out);
void eager_set_modes(struct eager *e, struct torch_modes *modes); /* before the first op */
static inline void eager_finish(struct eager *e)
{
	autocast_finish(&e->autocast);
	autograd_finish(&e->autograd);
	plans_finish(&e->plans);
}

/* Whether any number in its place computes the same way, so that it may be an argument of
 * the kernel.  A number scaled by a number is one that capture computes. */
static inline bool eager_takes_any_number(const struct eager *e, const struct op_call *c)
{
	if (c->op == OP_add_alpha || c->op == OP_sub_alpha)
		return c->n > 1 && c->values[1].kind == VALUE_TENSOR;
	return e->any_number[c->op];
}

/* Runs it under autocast; *out is the caller's (for an in-place op: values[0] again). */
bool eager_run(struct eager *e, const struct op_call *c, struct value *out, struct err *err);
/* Its operands as they are given: autocast has cast them. */
bool eager_run_given(struct eager *e, const struct op_call *c, struct value *out, struct err *err);

/* The same without a record for gradients (autograd.h). */
bool eager_run_op(struct eager *e, const struct op_call *c, struct value *out, struct err *err);

/* The one element of a tensor as a Python number of the tensor's own kind; VALUE
 * where it has more or none. */
bool eager_item(struct value v, struct value *out, struct err *err);

#endif
