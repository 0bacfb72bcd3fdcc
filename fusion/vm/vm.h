/* fusion/vm/vm.h -- runs code objects.
 *
 * One interpreter serves both purposes: what happens to tensors (and symbolic
 * sizes) is the HOST's affair.  The eager host computes at once, the capturing
 * host appends to a graph.  All else -- numbers, tuples, loops, calls -- the VM
 * does itself, the same way for both.
 *
 * Limits make every run end: steps, call depth, object memory.  An error has
 * the line and column of the instruction that raised it.
 */
#ifndef FUSION_VM_VM_H
#define FUSION_VM_VM_H

#include "fusion/vm/value.h"
#include "fusion/lang/lang.h"

struct vm;
struct frame;       /* frame.h */
struct format_spec; /* format.h */
struct keywords {   /* names of the last n arguments of a call */
	int n;
	const struct value *names; /* VALUE_STR */
};
struct arguments { /* of a call, borrowed */
	const struct value *at;
	int n;                     /* all of them; the last kw->n are given by name */
	const struct keywords *kw; /* NULL: none is */
};

struct binary { /* a op b, or a op= b */
	enum binop op;
	bool inplace;
	struct value a, b;
};
struct host_choice { /* a where the condition holds, else b */
	struct value condition, a, b;
};
struct any_call { /* any(), or all(), that has come to an item of an iterator */
	bool any;
	struct value it, item;
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
	/* tensor.name: shape, ndim, dtype, T, or a bound method (VALUE_NATIVE); of an
	 * UNSET value: the method, unbound. */
	bool (*tensor_attr)(void *self, struct value t, const char *name, struct value *out,
			    struct err *err);
	/* A call of a VALUE_NATIVE that is not a builtin. */
	bool (*call)(void *self, const struct native *f, const struct arguments *args,
		     struct value *out, struct err *err);
	/* A call of a function of the prelude that is `f` in most cases.  *known: this is one of
	 * them, and was carried out; else the function runs.  NULL: it always does. */
	bool (*as_op)(void *self, const struct native *f, const struct arguments *args, bool *known,
		      struct value *out, struct err *err);
	/* At least one operand is a TENSOR or a number of the host.  Where x is in place and
	 * x->a a tensor, the result is x->a itself. */
	bool (*binary)(void *self, const struct binary *x, struct value *out, struct err *err);
	bool (*unary)(void *self, enum unop op, struct value a, struct value *out, struct err *err);
	bool (*compare)(void *self, enum cmpop op, struct value a, struct value b,
			struct value *out, struct err *err);
	/* Truth of what is the host's, as `if` wants it. */
	bool (*truth)(void *self, struct value a, bool *out, struct err *err);
	/* tensor.name = v.  NULL: no attribute of a tensor can be set. */
	bool (*store_attr)(void *self, struct value t, const char *name, struct value v,
			   struct err *err);
	/* t[index]; t[index] = v. */
	bool (*subscript)(void *self, struct value t, struct value index, struct value *out,
			  struct err *err);
	bool (*store_subscript)(void *self, struct value t, struct value index, struct value v,
				struct err *err);
	/* What an iterator over t gives; NULL: t[index]. */
	bool (*row)(void *self, struct value t, struct value index, struct value *out,
		    struct err *err);
	/* len(t) and iteration over dim 0. */
	bool (*length)(void *self, struct value t, struct value *out, struct err *err);
	/* A plain number for one of the host's, or for a TENSOR. */
	bool (*to_number)(void *self, enum value_kind kind, struct value a, struct value *out,
			  struct err *err);
	/* The same where the program writes it, and any number may come out; NULL:
	 * to_number(), which gives a plain one. */
	bool (*cast)(void *self, enum value_kind kind, struct value a, struct value *out,
		     struct err *err);
	/* repr() of a tensor, appended to `text`.  May be NULL: "tensor(...)". */
	bool (*repr)(void *self, struct value t, struct buf *text, struct err *err);
	/* The same of a number that is hosted, or of a DEFERRED_TEXT; *known false, or
	 * NULL: to_number() gives it. */
	bool (*number_text)(void *self, struct value v, bool *known, struct buf *text,
			    struct err *err);
	/* Text that is made when the graph has run: what the two above, and
	 * format() of a number or text that is not there yet, append are gaps.  A
	 * text with gaps becomes a DEFERRED_TEXT (deferred_text), whose bytes, gaps and all,
	 * go into another one (deferred_bytes).  need_text: the program looks at one;
	 * always false.  NULL, as a *known of false: the number is asked for. */
	bool (*format)(void *self, const struct format_spec *spec, struct value v, bool *known,
		       struct buf *text, struct err *err);
	bool (*deferred_text)(void *self, const struct buf *text, struct value *out,
			      struct err *err);
	bool (*deferred_bytes)(void *self, struct value v, struct buf *text, struct err *err);
	bool (*need_text)(void *self, struct value v, struct err *err);
	/* print(): text with its newline.  May be NULL: dropped. */
	void (*print)(void *self, const char *text, size_t len);

	/* What capture alone answers; each may be NULL, the eager host's case.
	 *
	 * Puts the value that a VALUE_LAZY stands for in its place.  The same
	 * lazy gives the same object each time. */
	bool (*realize)(void *self, struct value *place, struct err *err);
	/* A global of the program: `real` is what the VM has there, UNSET for
	 * none; *out is a new reference, UNSET for none.  Builtins are not asked
	 * for.  NULL: `real` as it is. */
	bool (*load_global)(void *self, int slot, const char *name, struct value real,
			    struct value *out, struct err *err);
	/* An instance has no attribute `name` of its own, and the program learned so;
	 * false: out of memory.  NULL: it is not asked. */
	bool (*absent)(void *self, struct value o, const char *name, struct err *err);
	/* The program gets the dict of all that an instance holds.  NULL: it is not asked. */
	bool (*whole)(void *self, struct value o, struct err *err);
	/* UNSET deletes it.  NULL: the VM stores. */
	bool (*store_global)(void *self, int slot, const char *name, struct value v,
			     struct err *err);
	/* Before an attribute of a function is stored, or one of a tensor is deleted.  NULL: it may
	 * be. */
	bool (*may_store)(void *self, struct value of, struct err *err);
	/* Before a class statement of the program runs.  NULL: it may. */
	bool (*may_define)(void *self, const char *class, struct err *err);
	/* An instance of an nn.Module is made; as may_define. */
	bool (*makes_module)(void *self, struct err *err);
	/* Before a map or filter is asked for its next item; as may_define. */
	bool (*may_advance)(void *self, struct value it, struct err *err);
	/* An import of a module that is not there is about to raise; as may_define. */
	bool (*may_miss)(void *self, const char *module, struct err *err);
	/* The tuple of cells that a call of f gets, borrowed.  NULL: f->closure. */
	bool (*closure)(void *self, struct function *f, struct list **cells, struct err *err);
	/* A function of math, abs() or round(), with a number of the host among its
	 * arguments.  *known false, or NULL: they are turned into plain numbers. */
	bool (*math)(void *self, const struct native *f, const struct arguments *args, bool *known,
		     struct value *out, struct err *err);
	/* max() of two numbers or tensors (min() where `least`), one of them the host's; *known
	 * false, or NULL: they are compared. */
	bool (*extreme)(void *self, bool least, const struct value *two, bool *known,
			struct value *out, struct err *err);
	/* The condition is a DEFERRED_BOOL; *known false: they are no two numbers of one type. */
	bool (*pick)(void *self, const struct host_choice *c, bool *known, struct value *out,
		     struct err *err);
	/* Numbers may be the graph's results (DEFERRED_INT and so on): policy native. */
	bool defers_numbers;
	/* Before a builtin runs that builtins.def marks as impure (print, id):
	 * false is a graph break.  NULL: it may. */
	bool (*builtin_break)(void *self, const struct native *f, struct err *err);
	/* An operation on operands of the innermost frame failed: whether that is for
	 * what the host does not know yet.  Then *err is a break.  NULL: never. */
	bool (*not_known)(void *self, struct err *err);
	/* The program asked whether two objects are one, and they are not.  NULL: of no use. */
	void (*found_distinct)(void *self, struct value a, struct value b);
	/* A JUMP_IF_* whose condition, on top of f's stack, is a TENSOR, SYMFLOAT or
	 * deferred number.
	 * *handled: the host went both ways (vm_run_side), and f goes on at f->inst;
	 * else truth() is asked.  NULL: never. */
	bool (*branch)(void *self, struct vm *vm, struct frame *f, bool *handled, struct err *err);
	/* The item is a TENSOR or a deferred number.  *handled: *out is the answer, of this
	 * item and the ones after it; else truth() is asked.  NULL: never. */
	bool (*any)(void *self, const struct any_call *call, bool *handled, struct value *out,
		    struct err *err);
	/* The place of the instruction that runs; set by the VM before each host
	 * call, so that graph nodes and errors know their line. */
	int line, column;
};

struct vm_limits {
	int64_t steps;                     /* instructions per vm_call; 0: 50,000,000 */
	int depth;                         /* nested calls; 0: 1,000, as CPython */
	size_t object_bytes;               /* memory of lists, strings, ...; 0: 256 MiB */
	struct prelude_programs *preludes; /* prelude.h, borrowed; NULL: its own */
};

/* `program` is borrowed.  NULL when out of memory. */
struct vm *vm_create(const struct lang_program *program, struct vm_host *host,
		     const struct vm_limits *limits);
void vm_destroy(struct vm *vm);

/* Runs the module's code: defines its globals.  Once, before vm_call. */
bool vm_run_module(struct vm *vm, struct err *err);

/* An expression in the scope of the program's module, after vm_run_module().  `program` was
 * compiled as one (lang_limits.expression), and lives as long as the VM does; `with`: a name that
 * means an int while it runs, NULL: none does. */
struct vm_expression {
	const struct lang_program *program;
	const char *with;
	int64_t value;
};
bool vm_evaluate(struct vm *vm, const struct vm_expression *e, struct value *out, struct err *err);

/* A module global; false if there is none.  *out is borrowed. */
bool vm_global(const struct vm *vm, const char *name, struct value *out);

/* The VM may serve another host from here on (eager, then capture). */
void vm_set_host(struct vm *vm, struct vm_host *host);

/* Calls a function value.  Arguments are borrowed; *out is the caller's.
 * Errors: TYPE (arguments), NAME, VALUE, STEPS, RECURSION, MEMORY, or the
 * host's. */
bool vm_call(struct vm *vm, struct value callee, const struct arguments *args, struct value *out,
	     struct err *err);

/* Asked for the frame of each call of a program's function, from code or from
 * C, with its arguments bound; not for generators, class bodies and the module.
 * *done: it ran the frame, popped it, and *out is what it returned.  Else the VM
 * runs it from f->inst.  On failure the VM unwinds. */
struct vm_evaluator {
	void *self;
	bool (*evaluate)(void *self, struct vm *vm, struct frame *f, bool *done, struct value *out,
			 struct err *err);
};

/* Runs exactly one instruction of f, the innermost frame, with all calls inside
 * it.  VM_NEXT: f->inst is the next one (an exception that f handles leads to
 * its handler).  VM_RETURNED: f is popped, *out is its value. */
enum vm_step { VM_NEXT, VM_RETURNED };
bool vm_step(struct vm *vm, struct frame *f, enum vm_step *how, struct value *out, struct err *err);

/* Runs f from f->inst on.  Before instruction number `stop` of f itself (-1:
 * never), however often calls get there, it stops: f->inst is that instruction.
 * Else f is popped and *out is its value.
 *
 * On failure of either, f and what it called stay as they are, for a look at
 * where it failed, until vm_unwind(). */
bool vm_run_until(struct vm *vm, struct frame *f, int stop, bool *stopped, struct value *out,
		  struct err *err);

/* A PLACE in a chain of calls: before at[n - 1] of the innermost frame, while the
 * frames around it, outermost first, are in their calls at[0], at[1], ... */
enum { VM_MAX_PLACE = 32 };
struct vm_place {
	const struct lang_inst *at[VM_MAX_PLACE];
	int n;
};

/* The same from the innermost frame on, which is f or was called from it, to the
 * first of n places of which f is the outermost frame. */
struct vm_places {
	const struct vm_place *at;
	int n;
};
bool vm_run_to(struct vm *vm, struct frame *f, struct vm_places to, bool *stopped,
	       struct value *out, struct err *err);

/* After a failure of those: whether f, or a frame between it and the innermost,
 * handles the error.  Then that is the innermost one, at its handler, and *err is
 * clear; else all is as it was. */
bool vm_catch(struct vm *vm, const struct frame *f, struct err *err);

/* Runs f, the innermost frame, from f->inst on until it is before one of the
 * instructions that `stops` (by number) marks; f->inst is that one.  On failure
 * as vm_run_until(). */
bool vm_run_side(struct vm *vm, struct frame *f, const bool *stops, struct err *err);

/* Pops the innermost frames, the last of them f. */
void vm_unwind(struct vm *vm, struct frame *f);

/* What would fail where it is reached: a name that no scope defines, an attribute that a module
 * does not have (`torch.sinn`), a statement that is outside the language. */
struct vm_problem {
	struct err err;
	bool certain; /* it is reached: the module's own code and the entry's, but for branches,
		       * loops and what follows a return in one */
};
enum { VM_MOST_PROBLEMS = 64 };
struct vm_problems {
	int n;
	struct vm_problem at[VM_MOST_PROBLEMS]; /* the first ones, by line and column */
};

/* Those of an expression in the scope of the program's module, where `with` (NULL: none) is a name
 * too. */
bool vm_check_expression(const struct lang_program *program, const struct lang_program *expression,
			 const char *with, struct vm_host *host, struct vm_problems *out,
			 struct err *err);

/* Finds them without running.  What a try statement is around, or what a program that names
 * NameError may catch, is none.  False when out of memory. */
bool vm_check(const struct lang_program *program, struct vm_host *host, const char *entry,
	      struct vm_problems *out, struct err *err);

#endif
