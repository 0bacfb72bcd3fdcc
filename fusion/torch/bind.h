/* fusion/torch/bind.h -- from a call to an op's arguments.
 *
 * The user writes torch.sum(x, dim=1); a node wants one argument for each
 * parameter of the op's row in ops.def.  Binding matches positions and names,
 * fills in defaults, checks types, and words what is wrong as the user spelt
 * it.  Both hosts bind through here, so they accept the same calls.
 */
#ifndef FUSION_TORCH_BIND_H
#define FUSION_TORCH_BIND_H

#include "fusion/vm/value.h"
#include "fusion/vm/vm.h"
#include "fusion/graph/graph.h"

/* Where the op goes.  node() gives the id of a tensor value in `graph`, or -1
 * with *err. */
struct bind_target {
	struct graph *graph;
	bool reals; /* a SYMREAL is a symbol, and becomes a number; else a tensor of node() */
	int (*node)(void *self, struct value tensor, struct err *err);
	void *self;
};

/* Binds a call of `op`, spelt `name` ("torch.sum", "Tensor.sum", "op:+"), into
 * args[0..op_info(op)->n_params).  Errors: TYPE, BOUND, MEMORY, or node()'s;
 * their place is the caller's to add.  Arguments that were left out are ARG_NONE:
 * graph_add() puts their defaults. */
bool bind_call(const struct bind_target *target, enum op op, const char *name,
	       const struct arguments *call, struct arg args[MAX_ARGS], struct err *err);

/* The index of the parameter that a keyword names, by any name that it has; -1: none. */
int bind_parameter(const struct op_info *info, const char *key);

/* The same arguments as values, by parameter; references, UNSET where left out.  Of
 * a call that bind_call() takes.  False when out of memory. */
bool bind_by_parameter(enum op op, const struct arguments *args, struct value out[MAX_ARGS]);

/* x op= y: the node `result` as the new value of the tensor of node `target`, in
 * the dtype that x has.  -1 with SHAPE or TYPE where the shape would change or
 * the dtype would lose its category. */
int bind_inplace(struct graph *g, int target, int result, int line, int column, struct err *err);

/* The numbers of torch.tensor(data): shape, and elements in row-major order in
 * the graph's or caller's arena.  `dtype` is DTYPE_COUNT where the user gave
 * none, and becomes what PyTorch would choose. */
struct bound_literal {
	enum dtype dtype;
	enum dtype real; /* the default dtype, which floats are */
	int rank;
	int64_t size[MAX_RANK];
	void *elements;
};
bool bind_literal(struct arena *arena, struct value data, struct bound_literal *l, struct err *err);

/* The arguments of torch.tensor(data, dtype=None, ...): *data is borrowed. */
bool bind_tensor_call(const struct arguments *args, struct value *data, enum dtype *dtype,
		      struct err *err);

#endif
