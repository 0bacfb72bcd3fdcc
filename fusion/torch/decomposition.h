/* fusion/torch/decomposition.h -- calls that are several ops.
 *
 * x[1:, None], x[i] = v, torch.cat(list), x.chunk(2) do not fit a row of ops.def:
 * they are put together from rows here, once for all hosts.  The parts bear no
 * FX name but the last, which has the call's.
 */
#ifndef FUSION_TORCH_DECOMPOSITION_H
#define FUSION_TORCH_DECOMPOSITION_H

#include "fusion/vm/value.h"
#include "fusion/vm/vm.h"
#include "fusion/torch/torch_host.h"

/* What a host offers. */
struct decomposer {
	void *self;
	struct vm_host *host;     /* for arithmetic on symbolic sizes */
	const unsigned *autocast; /* the mode: autocast.h */
	enum gpu_use *gpu;        /* of the VM's modes */
	const enum dtype *real;   /* the default dtype, likewise */
	/* One op; its name is "fx:getitem", or "fx:" for a part without a name. */
	bool (*run)(void *self, const struct op_call *call, struct value *out, struct err *err);
	/* Size of a dim, an INT or SYMINT; rank and dtype of a tensor. */
	bool (*size)(void *self, struct value tensor, int dim, struct value *out, struct err *err);
	bool (*type)(void *self, struct value tensor, int *rank, enum dtype *dtype,
		     struct err *err);
	/* The indices where a mask holds, one int64 tensor a dim: only a host that
	 * has the elements can say.  false with *err: a break, where capturing. */
	bool (*places)(void *self, struct value mask, int rank, struct value *out, struct err *err);
};

bool decompose_subscript(const struct decomposer *c, struct value t, struct value index,
			 struct value *out, struct err *err);
/* Row `index` where rows are taken one after the other: unbind() of the tensor gave it. */
bool decompose_row(const struct decomposer *c, struct value t, struct value index,
		   struct value *out, struct err *err);
bool decompose_store(const struct decomposer *c, struct value t, struct value index, struct value v,
		     struct err *err);

/* Whether a native is put together here, and the call of it; args without self. */
static inline bool decompose_knows(int id)
{
	return id >= NATIVE_CAT && id <= NATIVE_ARANGE;
}

bool decompose_call(const struct decomposer *c, const struct native *f,
		    const struct arguments *args, struct value *out, struct err *err);

/* x.T, x.mT, x.H, x.data, x.grad and the like: false in *known for another name. */
bool decompose_attr(const struct decomposer *c, struct value t, const char *name, bool *known,
		    struct value *out, struct err *err);

/* The parameters of a function, of which the first `required` must be given. */
struct parameter_names {
	const char *const *at;
	int n, required;
};

/* Arguments by position or name into out[0..n); VALUE_UNSET where missing. */
bool decompose_args(const char *name, const struct parameter_names *parameters,
		    const struct arguments *args, struct value *out, struct err *err);

/* For a function that reads its arguments itself: whether it has each of these keywords. */
bool decompose_keywords(const char *name, const char *const *names, int n_names,
			const struct value *values, const struct keywords *kw, struct err *err);

/* Sizes: whether a op b, and a + b; both sides INT or SYMINT. */
bool decompose_compare(const struct decomposer *c, enum cmpop op, struct value a, struct value b,
		       bool *out, struct err *err);
bool decompose_add(const struct decomposer *c, struct value a, struct value b, struct value *out,
		   struct err *err);
/* The sizes of a tensor as a tuple, and its dtype. */
bool decompose_sizes(const struct decomposer *c, struct value x, struct value *out,
		     enum dtype *dtype, struct err *err);
/* The int that a tensor is as an index of Python, which any with one element is but floats. */
bool decompose_index(const struct decomposer *c, struct value t, struct value *out,
		     struct err *err);
/* The number of a size; a symbolic one is specialised, a tensor without dims read. */
bool decompose_number(const struct decomposer *c, struct value v, const char *what, int64_t *out,
		      struct err *err);

/* A native that is called on a tensor. */
struct tensor_call {
	const struct native *f;
	const char *name; /* what the last op is called */
	struct value t;
	const struct arguments *args; /* without the tensor */
};

/* index_ops.c: natives from NATIVE_INDEX_ADD on. */
bool decompose_index_op(const struct decomposer *c, const struct tensor_call *call,
			struct value *out, struct err *err);

#endif
