/* fusion/vm/classes.h -- classes, instances and exceptions at work.
 *
 * Operands are borrowed, *out is the caller's reference, as in operators.h.
 */
#ifndef FUSION_VM_CLASSES_H
#define FUSION_VM_CLASSES_H

#include "fusion/vm/frame.h"
#include "fusion/vm/realize.h"
#include "fusion/vm/builtins.h"

/* The class of a row of classes.def, made at its first use; borrowed.  NULL
 * with MEMORY. */
struct class *class_builtin(struct vm *vm, enum class_id id, struct err *err);

/* The row of that name, CLASS_PROGRAM where there is none. */
enum class_id class_named(const char *name);

/* Frees what the VM keeps of them. */
void classes_release(struct vm *vm);

/* `class name(bases): body` whose body left `attributes`; TYPE, UNSUPPORTED. */
struct class_parts {
	struct value name;
	const struct value *bases;
	int n_bases;
	struct dict *attributes;
	const struct dict
	    *keywords;      /* class C(B, name=value): for __init_subclass__; may be NULL */
	struct class *meta; /* for class_make(); NULL: type */
};
/* The same as the metaclass of its keywords or bases has it. */
bool class_build(struct vm *vm, const struct class_parts *parts, struct value *out,
		 struct err *err);
bool class_make(struct vm *vm, const struct class_parts *parts, struct value *out, struct err *err);

/* Looks again at what the class defines, after a change of its attributes. */
void class_note(struct class *class);

/* Whether an attribute of a class with that value comes before the instance's own: a
 * property, or an object with __set__ or __delete__. */
bool is_data_descriptor(struct value v);

/* nn.Module's __call__, which runs forward. */
bool is_module_call(struct value f);

/* The method that runs where the module `o` is called: forward, or what runs its hooks too. */
static inline const char *module_call_name(struct value o)
{
	struct dict *own = o.instance->attributes;

	return own && value_dict_find(own, "_hooks") ? "_call_impl" : "forward";
}

/* Whether a class may have a data descriptor of that name. */
static inline bool class_data(const struct class *c, const char *name)
{
	return c->data && c->data & name_bit(name, strlen(name));
}

/* Whether the value may be a submodule, a parameter, a buffer or the place of one. */
static inline bool class_may_hold_child(struct value v)
{
	return v.kind == VALUE_INSTANCE || v.kind == VALUE_TENSOR || v.kind == VALUE_NONE;
}

/* An attribute of the class or of its bases; NULL where there is none.  The
 * place is good until the class changes. */
struct value *class_lookup(struct class *class, const char *name);

/* The same with the value at hand (a capture realizes it); *place NULL: there is none. */
static inline bool class_find(struct vm *vm, struct class *class, const char *name,
			      struct value **place, struct err *err)
{
	*place = class_lookup(class, name);
	return !*place || realize(vm, *place, err);
}

/* Whether `class` is `base` or one of its bases is; and the same by row. */
bool class_derives(const struct class *class, const struct class *base);
bool class_derives_from(const struct class *class, enum class_id id);

/* class(args): what its metaclass's __call__ gives; else a new instance after its __init__. */
bool class_call_plain(struct vm *vm, struct class *class, const struct arguments *args,
		      struct value *out, struct err *err);
bool class_call(struct vm *vm, struct class *class, const struct arguments *args, struct value *out,
		struct err *err);

/* The program's function that a call of `callee` runs, and what comes before
 * the arguments (UNSET: nothing): of functions, bound methods, instances with
 * __call__ and modules with forward.  Both are new references.  False: callee
 * is something else (a class, a native, not callable), for vm_call_native(). */
bool vm_callable(struct vm *vm, struct value callee, struct value *function, struct value *self);

/* o.name of an instance, a class, a super(). */
bool instance_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			struct err *err);
/* The same of an instance, without __getattr__; *found false, and no error, where nothing has it:
 * an exception that nobody would look at is not made. */
bool instance_find_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			     bool *found, struct err *err);
/* The same of a class with __getattribute__: by that. */
bool instance_getattribute(struct vm *vm, struct value o, const char *name, struct value *out,
			   struct err *err);
bool class_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
		     struct err *err);
bool super_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
		     struct err *err);

/* o.name = v past a __setattr__ of the class; and of any dict by name. */
bool instance_store(struct vm *vm, struct value o, const char *name, struct value v,
		    struct err *err);
bool module_begin(struct vm *vm, struct value o, struct err *err); /* it may hold children */
bool instance_delete(struct vm *vm, struct value o, const char *name, struct err *err);
bool store_named(struct vm *vm, struct dict *dict, const char *name, struct value v,
		 struct err *err);

/* f(self, args): `self` UNSET stands for none. */
bool call_with_self(struct vm *vm, struct value f, struct value self, const struct arguments *args,
		    struct value *out, struct err *err);

/* self.name(args); all borrowed.  A pointer to the value, for a copy would wait for the stores
 * that wrote it. */
struct method_call {
	const struct value *self;
	const char *name;
	const struct value *args;
	int n;
};
/* Calls that method; *found false where there is none. */
bool instance_call(struct vm *vm, const struct method_call *m, struct value *out, bool *found,
		   struct err *err);

/* What an instance is where a plain value is wanted: of a numpy array the tensor that it is around,
 * of a class derived from list, dict and their like that; any other value is itself.  *out is the
 * caller's. */
bool instance_argument(struct vm *vm, struct value v, struct value *out, struct err *err);

/* isinstance(v, type), type a class, a builtin type or a tuple; TYPE. */
bool value_is_instance(struct vm *vm, struct value v, struct value type, bool *out,
		       struct err *err);

/* type(v). */
bool value_type(struct vm *vm, struct value v, struct value *out, struct err *err);

/* Whether a native stands for a type: int, torch.Tensor. */
bool native_is_type(const struct native *f);
/* typing.List, Generic, T of T = TypeVar("T"): they stand for types. */
static inline bool native_is_typing(const struct native *f)
{
	return f->builtin && strcmp(builtin_row(f->id)->scope, "typing") == 0;
}

/* hash(v). */
bool value_hash(struct vm *vm, struct value v, struct value *out, struct err *err);

/* A new exception with one argument, the text. */
bool exception_new(struct vm *vm, enum class_id id, const char *text, struct value *out,
		   struct err *err);

bool exception_with(struct vm *vm, struct class *class, const struct value *args, int n,
		    struct value *out, struct err *err);

/* What a raise statement's operand becomes: an instance as it is, a class
 * called without arguments; TYPE for all else. */
bool exception_from(struct vm *vm, struct value v, struct value *out, struct err *err);

/* Appends str(e): "", the argument, or the tuple of them. */
bool exception_realize(struct vm *vm, struct value e, struct err *err); /* its arguments are read */
bool exception_text(struct vm *vm, struct value e, struct buf *text, struct err *err);

/* Fails with an error of a row of classes.def: *err gets the code that belongs
 * to it, vm->raised what an except clause may catch. */
bool vm_raise(struct vm *vm, enum class_id id, struct err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool vm_raise_key(struct vm *vm, struct value key, struct err *err, const char *text);
#ifdef TOLD /* what the analyzer is told of them (tests/analyzer.h) */
#define vm_raise(...) (vm_raise(__VA_ARGS__), false)
TOLD vm_raise_key(struct vm *vm, struct value key, struct err *err, const char *text)
{
	return (void)vm, (void)key, err_set(err, ERR_VALUE, "%s", text);
}
#endif

/* The code of struct err for an exception of that class. */
enum err_code class_error(const struct class *class);

/* Whether the error that was just set is one of that row; where it is caught
 * in C, vm->raised must be forgotten. */
bool vm_failed_with(const struct vm *vm, const struct err *err, enum class_id id);
void vm_forget_raised(struct vm *vm);

#endif
