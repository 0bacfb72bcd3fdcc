/* fusion/vm/value.h -- the values of a running program.
 *
 * Numbers, None and bools are held in the struct; everything else is a
 * reference-counted object.  A value is passed by copy; value_ref() and
 * value_unref() keep the count.  Functions that return a value through `out`
 * give the caller a reference; arguments are borrowed.  Values and their VM
 * belong to one thread; they may outlive the VM.
 *
 * A tensor object is what a variable names.  Its payload belongs to the host
 * that made it (vm.h): memory when running, a node when capturing.  In-place
 * ops change the payload of the object, so every name for it sees the change.
 */
#ifndef FUSION_CAPTURE_VALUE_H
#define FUSION_CAPTURE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/graph/dtype.h"
#include "fusion/lang/lang.h"

struct sym;
struct symreal;
struct size_condition;

enum value_kind {
	VALUE_UNSET, /* a local before its first assignment; never on the stack */
	VALUE_NONE,
	VALUE_BOOL,
	VALUE_INT,
	VALUE_FLOAT,
	VALUE_ELLIPSIS,
	VALUE_DTYPE,         /* torch.float32 */
	VALUE_SYMINT,        /* a size whose value is not fixed; capture alone makes them */
	VALUE_SYMBOOL,       /* a comparison of such numbers; .condition is the host's */
	VALUE_SYMREAL,       /* a float computed of such numbers */
	VALUE_SYMFLOAT,      /* a Python float that capture did not fix; .i is the host's node */
	VALUE_DEFERRED_INT,  /* an int that a graph computes; .i is the host's node */
	VALUE_DEFERRED_BOOL, /* the same of a bool */
	VALUE_DEFERRED_TEXT, /* a str that shows such numbers, or tensors; .i is the host's */
	VALUE_LAZY,          /* not read yet; .i is the host's, which forces it (vm.h) */
	/* reference counted from here on: .object */
	VALUE_STR,
	VALUE_TUPLE,
	VALUE_LIST,
	VALUE_DICT,
	VALUE_SLICE,
	VALUE_RANGE,
	VALUE_ITER,
	VALUE_FUNCTION, /* of the program */
	VALUE_NATIVE,   /* a function that we define, perhaps bound to a self */
	VALUE_MODULE,   /* torch, torch.nn.functional, math */
	VALUE_CELL,
	VALUE_TENSOR,
	VALUE_GENERATOR,
	VALUE_SET, /* .dict: the items are its keys, the values None */
	VALUE_CLASS,
	VALUE_INSTANCE,   /* of a class, exceptions too */
	VALUE_METHOD,     /* a function of a class, bound to an instance */
	VALUE_DESCRIPTOR, /* property(), staticmethod(), classmethod(), super() */
};

struct heap; /* private: counts the bytes of the VM's objects, frees cycles */

struct object {
	int refs;
	enum value_kind kind;
	int mark;                   /* the collector's */
	unsigned birth;             /* how many objects the heap had taken in before it */
	struct heap *heap;          /* that counts it; NULL: made by a host */
	struct object *prev, *next; /* in the heap's list */
};

struct value {
	enum value_kind kind;
	union {
		bool b;
		int64_t i;
		double f;
		enum dtype dtype;
		const struct sym *sym;
		const struct size_condition *condition;
		const struct symreal *real;
		struct object *object;
		struct str *str;
		struct list *list; /* tuples and lists */
		struct dict *dict;
		struct slice *slice;
		struct range *range;
		struct iter *iter;
		struct function *function;
		struct native *native;
		struct module *module;
		struct cell *cell;
		struct vtensor *tensor;
		struct generator *generator;
		struct class *class;
		struct instance *instance;
		struct method *method;
		struct descriptor *descriptor;
	};
};

/* In bytes that are on the way to a DEFERRED_TEXT: a gap, which the host knows by the
 * hexadecimal digits that follow.  No UTF-8 text has this byte. */
enum { TEXT_GAP = 0xff, TEXT_GAP_BYTES = 9 };

struct str {
	struct object head;
	size_t len;
	char text[]; /* NUL terminated */
};

struct list { /* VALUE_TUPLE and VALUE_LIST */
	struct object head;
	struct value *at;
	int len, cap;
	bool is_size; /* a tuple that prints as torch.Size([..]); its maker sets it */
	/* A tuple whose items have names, `len` of them, and the type that it
	 * prints as: static, or of `class`, which is then referenced. */
	const char *const *fields;
	const char *type_name;
	struct class *class;
};

struct dict { /* in order of insertion; VALUE_DICT and VALUE_SET */
	struct object head;
	struct value *keys, *values;
	int len, cap;
	int *index;    /* positions by hash, -1: free; NULL while a scan is quicker */
	int index_cap; /* a power of two */
	bool frozen;   /* VALUE_SET: a frozenset */
};

struct slice {
	struct object head;
	struct value start, stop, step;
};

struct range {
	struct object head;
	int64_t start, stop, step;
};

enum iter_kind {
	ITER_SEQUENCE,  /* over: tuple, list, range, str, dict (its keys) or tensor */
	ITER_REVERSED,  /* over: tuple, list, range or str, from its end */
	ITER_ENUMERATE, /* over: an iterator; position: the next number */
	ITER_ZIP,       /* over: a tuple of iterators */
	ITER_MAP,       /* over: a tuple of a function and iterators */
	ITER_VALUES,    /* over: dict */
	ITER_ITEMS,     /* over: dict */
	ITER_NEXT,      /* over: a generator, or an instance with __next__ */
};

struct iter {
	struct object head;
	enum iter_kind iter_kind;
	bool view; /* d.keys() and its kin: iterating makes a fresh iterator */
	struct value over;
	int64_t position;
	int64_t length; /* of a range, dict or tensor when the iteration began; else -1 */
	int nested;     /* iterators inside iterators: bounded, for next() recurses */
};

struct frame;
struct generator {
	struct object head;
	struct frame *frame; /* in memory of its own; NULL when it has ended */
	size_t bytes;        /* of that memory */
	const struct code *code;
	struct value handled;  /* by its except blocks while it pauses; UNSET: none */
	struct value returned; /* by its return statement; UNSET: not yet, or None */
	bool running;
	const struct vm_host *capture; /* that was capturing when it was made; NULL: none */
	bool dropped;                  /* its finally blocks have run, or will */
	struct generator *next;        /* among those that the program dropped */
};

struct cell {
	struct object head;
	struct value content;
};

enum disable_mark {
	DISABLED_NOT,
	DISABLED,       /* and what it calls */
	DISABLED_ONCE,  /* recursive=False: not what it calls */
	DISABLED_SKIP,  /* of a file of torch's that TorchDynamo skips */
	DISABLED_READS, /* reads values of tensors: TorchDynamo calls it as an op, and fails */
	DISABLED_DRAWS, /* draws random numbers of Python's: under no policy captured */
};
enum grad_mark { GRAD_AS_IS, GRAD_OFF, GRAD_ON };

struct function {
	struct object head;
	const struct code *code;
	struct list *defaults;      /* tuple; may be NULL */
	struct dict *kwdefaults;    /* may be NULL */
	struct list *closure;       /* tuple of cells; may be NULL */
	const struct unit *unit;    /* the VM's: constants and caches of `code` */
	struct dict *attributes;    /* f.name = v; NULL: none */
	enum disable_mark disabled; /* torch.compiler.disable: runs as written, never captured */
	enum grad_mark grad;        /* torch.no_grad() and its kin decorate it */
};

struct native { /* torch.sin, x.sum, len: `id` is the host's or builtins' */
	struct object head;
	const char *name; /* as the user spells it, for messages; static or program lifetime */
	int id;
	bool builtin;      /* of builtins.c; else of the host */
	struct value self; /* VALUE_UNSET: unbound */
};

struct module {
	struct object head;
	const char *name; /* "torch.nn.functional" */
};

struct tensor;
struct traced_view;
struct tensor_grad;
struct vtensor {
	struct object head;
	struct tensor *memory;    /* running: the host holds one reference; else NULL */
	int node;                 /* capturing: the node that is its value now; else -1 */
	int input;                /* index among the graph's inputs, -1: none */
	bool is_parameter;        /* nn.Parameter() marked it */
	bool written;             /* an in-place op changed it */
	unsigned dynamic_dims;    /* bit d: torch._dynamo.mark_dynamic(t, d) */
	int writes;               /* capturing: which write was the last, views' included */
	int birth;                /* capturing: how many were made before */
	struct traced_view *view; /* capturing: what it is a view of; NULL */
	struct tensor_grad *grad; /* running: its place among gradients; NULL: none */
	void (*forget_grad)(struct vtensor *t); /* where there is `grad`: lets go of it */
	void (*release)(struct vtensor *t);     /* called before it is freed; may be NULL */
	void *owner;                            /* the host's */
};

enum class_id { /* which class of Python's; 0: one that a program defines */
		CLASS_PROGRAM,
#define CLASS(id, name, base) CLASS_##id,
#include "fusion/vm/classes.def"
#undef CLASS
		CLASS_COUNT
};

/* Attributes are looked up in the class, then in those of `mro`, in order. */
struct class
{
	struct object head;
	const char *name;        /* `text`'s, or static */
	struct value text;       /* keeps the name; may be UNSET */
	struct list *mro;        /* tuple of all its bases; NULL: none but object */
	struct dict *attributes; /* by name; never NULL */
	enum class_id builtin;
	bool hidden;              /* of our prelude: stacks and guards leave it out */
	bool has_data;            /* it or a base has a property, or an attribute with __set__
				   * or __delete__: asked before the instance */
	bool has_getattribute;    /* it or a base has __getattribute__ */
	bool is_module;           /* nn.Module or derived: what its own attributes are */
	bool has_getattr;         /* it or a base has __getattr__ */
	bool has_setattr;         /* ... __setattr__ */
	bool has_slots;           /* it and its bases have __slots__: no other attributes */
	const char *const *names; /* a namedtuple's fields, count_names of them; owned */
	int count_names;
	struct list *defaults; /* a namedtuple's, of its last fields; may be NULL */
};

struct instance {
	struct object head;
	struct class *class;
	struct dict *attributes; /* by name; NULL: none yet */
	struct value payload;    /* an exception's args, a tuple; UNSET otherwise */
	int line, column;        /* where an exception was raised, 0: not yet */
	enum err_code code;      /* of an exception that the VM raised itself */
};

struct method {
	struct object head;
	struct value function; /* FUNCTION or NATIVE */
	struct value self;
};

enum descriptor_kind { DESCRIPTOR_PROPERTY, DESCRIPTOR_STATIC, DESCRIPTOR_CLASS, DESCRIPTOR_SUPER };
struct descriptor {
	struct object head;
	enum descriptor_kind descriptor_kind;
	struct value get; /* a property's getter; the function; super(): the class */
	struct value set; /* UNSET: none; super(): the instance or class */
	struct value del; /* UNSET: none */
};

static inline struct value value_none(void)
{
	return (struct value){ .kind = VALUE_NONE };
}
static inline struct value value_bool(bool b)
{
	return (struct value){ .kind = VALUE_BOOL, .b = b };
}
static inline struct value value_int(int64_t i)
{
	return (struct value){ .kind = VALUE_INT, .i = i };
}
static inline struct value value_float(double f)
{
	return (struct value){ .kind = VALUE_FLOAT, .f = f };
}
static inline struct value value_of(void *object) /* any counted object, not referenced anew */
{
	struct object *o = (struct object *)object;

	return (struct value){ .kind = o->kind, .object = o };
}
static inline bool value_counted(struct value v)
{
	return v.kind >= VALUE_STR;
}

void value_free(struct value v); /* the last reference went: frees the object */
static inline struct value value_ref(struct value v)
{
	if (value_counted(v))
		v.object->refs++;
	return v;
}
static inline void value_unref(struct value v)
{
	if (value_counted(v) && --v.object->refs == 0)
		value_free(v);
}

/* New objects, refs 1; kind VALUE_UNSET when out of memory.  A `text` of NULL
 * and value_sequence() leave the filling to the caller, who has it alone. */
struct value value_str(const char *text, size_t len);
struct value value_sequence(enum value_kind kind, int room); /* tuple or list, len 0 */
struct value value_tuple(const struct value *items, int n);  /* takes new references */
struct value value_list(const struct value *items, int n);   /* takes new references */
struct value value_dict(void);
struct value value_range(int64_t start, int64_t stop, int64_t step);
int64_t range_length(const struct range *r);
struct value value_slice(struct value start, struct value stop, struct value step);
struct value value_iter(enum iter_kind kind, struct value over);
struct value value_cell(struct value content);
struct value value_generator(size_t bytes);           /* its frame to be set */
struct value value_function(const struct code *code); /* defaults and closure to be set */
struct value value_module(const char *name);
struct value value_native(const char *name, int id, bool builtin, struct value self);
struct value value_tensor(void); /* payload empty, node and input -1 */
struct value value_set(bool frozen);
/* `name`: VALUE_STR; `mro`: TUPLE or UNSET; attributes empty.  classes.h makes
 * the classes of programs. */
struct value value_class(struct value name, struct value mro);
struct value value_instance(struct class *class); /* without attributes */
struct value value_method(struct value function, struct value self);
struct value value_descriptor(enum descriptor_kind kind, struct value get, struct value set);

/* Each takes a new reference; false when out of memory, with nothing changed. */
bool value_list_push(struct list *list, struct value v);
bool value_dict_set(struct dict *dict, struct value key, struct value v);

/* The entry of a key, borrowed; false where there is none. */
bool value_dict_get(const struct dict *dict, struct value key, struct value *out);

/* Where the entry of a key lies; NULL where there is none. */
struct value *value_dict_place(struct dict *dict, struct value key);
struct value *value_dict_find(struct dict *dict, const char *text); /* of the key `text` */

/* Drops an entry; false where there is none. */
bool value_dict_remove(struct dict *dict, struct value key);

/* Whether a value may be the key of a dict: all but lists, dicts, sets that are
 * not frozen, slices and tuples that hold one of them. */
bool value_hashable(struct value v);

/* Equality of values without tensors, as ==: 1 == 1.0 == True.  Tensors,
 * functions and modules are equal to themselves alone. */
bool value_equal(struct value a, struct value b);

/* What a dict finds a hashable value by. */
uint64_t value_hash_of(struct value v);

/* "int", "tuple", "Tensor": for messages. */
const char *value_type_name(struct value v);

/* As Python's repr (str() where `plain`); floats print as Python prints them.
 * A tensor prints as "tensor(...)" and a SYMINT as "<size>"; `tensor`, where
 * given, prints them instead.
 * Values nested deeper than 100, and those inside themselves, print as "...". */
void value_print(struct buf *out, struct value v, bool plain);
typedef void value_print_fn(void *context, struct buf *out, struct value tensor);
void value_print_with(struct buf *out, struct value v, bool plain, value_print_fn *tensor,
		      void *context);

#endif
