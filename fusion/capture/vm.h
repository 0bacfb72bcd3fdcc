/* fusion/capture/vm.h -- runs code objects.
 *
 * One interpreter serves both purposes: what happens to tensors (and symbolic
 * sizes) is the HOST's affair.  The eager host computes at once, the capturing
 * host appends to a graph.  All else -- numbers, tuples, loops, calls -- the VM
 * does itself, the same way for both.
 *
 * Limits make every run end: steps, call depth, object memory.  An error has
 * the line and column of the instruction that raised it.
 */
#ifndef FUSION_CAPTURE_VM_H
#define FUSION_CAPTURE_VM_H

#include "fusion/capture/value.h"
#include "fusion/lang/lang.h"

struct vm;
struct keywords { /* names of the last n arguments of a call */
	int n;
	const struct value *names; /* VALUE_STR */
};

/* Every function: true, or false with *err (line and column are filled in by
 * the VM where the host leaves them 0).  `self` is the host's context. */
struct vm_host {
	void *self;
	/* `import name`: whether the module exists. */
	bool (*has_module)(void *self, const char *name);
	/* module.name; NAME error with a suggestion where there is none.  The VM
	 * asks once for each place in the program and keeps the answer until
	 * vm_set_host(). */
	bool (*module_attr)(void *self, const struct module *m, const char *name, struct value *out,
			    struct err *err);
	/* tensor.name: shape, ndim, dtype, T, or a bound method (VALUE_NATIVE). */
	bool (*tensor_attr)(void *self, struct value t, const char *name, struct value *out,
			    struct err *err);
	/* A call of a VALUE_NATIVE that is not a builtin. */
	bool (*call)(void *self, const struct native *f, const struct value *args, int n,
		     const struct keywords *kw, struct value *out, struct err *err);
	/* At least one operand is a TENSOR or SYMINT.  inplace: `a op= b`, the
	 * result is a itself where a is a tensor. */
	bool (*binary)(void *self, enum binop op, bool inplace, struct value a, struct value b,
		       struct value *out, struct err *err);
	bool (*unary)(void *self, enum unop op, struct value a, struct value *out, struct err *err);
	bool (*compare)(void *self, enum cmpop op, struct value a, struct value b,
			struct value *out, struct err *err);
	/* Truth of a TENSOR or SYMINT, as `if` wants it. */
	bool (*truth)(void *self, struct value a, bool *out, struct err *err);
	/* t[index]; t[index] = v. */
	bool (*subscript)(void *self, struct value t, struct value index, struct value *out,
			  struct err *err);
	bool (*store_subscript)(void *self, struct value t, struct value index, struct value v,
				struct err *err);
	/* len(t) and iteration over dim 0. */
	bool (*length)(void *self, struct value t, struct value *out, struct err *err);
	/* int(), float(), bool() of a TENSOR or SYMINT. */
	bool (*to_number)(void *self, enum value_kind kind, struct value a, struct value *out,
			  struct err *err);
	/* repr() of a tensor, appended to `text`.  May be NULL: "tensor(...)". */
	bool (*repr)(void *self, struct value t, struct buf *text, struct err *err);
	/* print(): text with its newline.  May be NULL: dropped. */
	void (*print)(void *self, const char *text, size_t len);
	/* Where the instruction that runs stands; set by the VM before each host
	 * call, so that graph nodes and errors know their line. */
	int line, column;
};

struct vm_limits {
	int64_t steps;       /* instructions per vm_call; 0: 50,000,000 */
	int depth;           /* nested calls; 0: 1,000, as CPython */
	size_t object_bytes; /* memory of lists, strings, ...; 0: 256 MiB */
};

/* `program` is borrowed.  NULL when out of memory. */
struct vm *vm_create(const struct lang_program *program, struct vm_host *host,
		     const struct vm_limits *limits);
void vm_destroy(struct vm *vm);

/* Runs the module's code: defines its globals.  Once, before vm_call. */
bool vm_run_module(struct vm *vm, struct err *err);

/* A module global; false if there is none.  *out is borrowed. */
bool vm_global(const struct vm *vm, const char *name, struct value *out);

/* The VM may serve another host from here on (eager, then capture). */
void vm_set_host(struct vm *vm, struct vm_host *host);

/* Calls a function value.  Arguments are borrowed; *out is the caller's.
 * Errors: TYPE (arguments), NAME, VALUE, STEPS, RECURSION, MEMORY, or the
 * host's. */
bool vm_call(struct vm *vm, struct value callee, const struct value *args, int n,
	     const struct keywords *kw, struct value *out, struct err *err);

/* Checks without running: names that no scope defines, attributes of modules
 * that the host does not have (`torch.sinn`), wherever they stand in the
 * program.  For POST, where only what can be seen without running counts. */
bool vm_check_names(const struct lang_program *program, struct vm_host *host, struct err *err);

#endif
