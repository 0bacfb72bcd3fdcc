/* fusion/vm/value.h -- the objects that values refer to: see fusion/value.h first.
 *
 * A tensor object is what a variable names.  Its payload belongs to the host
 * that made it (vm.h): memory when running, a node when capturing.  In-place
 * ops change the payload of the object, so every name for it sees the change.
 */
#ifndef FUSION_VM_VALUE_H
#define FUSION_VM_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/lang/lang.h"
#include "fusion/value.h"

/* In bytes that are on the way to a DEFERRED_TEXT: a gap, which the host knows by the
 * hexadecimal digits that follow.  No UTF-8 text has this byte. */
enum { TEXT_GAP = 0xff, TEXT_GAP_BYTES = 9 };

/* What a row of scalars.def says. */
struct scalar_info {
	const char *name;
	char letter;
	int bytes;
	enum dtype dtype;
};
extern const struct scalar_info scalar_infos[SCALAR_COUNT];

struct str {
	struct object head;
	size_t len;
	bool is_device; /* what torch.device() makes: the text is its name; its maker sets it */
	char text[];    /* NUL terminated */
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
	/* Bits of the text keys that it has had: most searches for a name end here. */
	uint64_t texts;
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
	ITER_FILTER,    /* over: a tuple of a function, or None, and an iterator */
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
	DISABLED_FOR_SYMBOLS, /* TorchDynamo traces it where its arguments are constants */
	DISABLED_DRAWS,       /* draws random numbers of Python's: under no policy captured */
};
enum grad_mark { GRAD_AS_IS, GRAD_OFF, GRAD_ON };

struct function {
	struct object head;
	const struct code *code;
	struct list *defaults;      /* tuple; may be NULL */
	struct dict *kwdefaults;    /* may be NULL */
	struct list *closure;       /* tuple of cells; may be NULL */
	struct unit *unit;          /* the VM's: constants and caches of `code` */
	struct dict *attributes;    /* f.name = v; NULL: none */
	enum disable_mark disabled; /* torch.compiler.disable: runs as written, never captured */
	enum grad_mark grad;        /* torch.no_grad() and its kin decorate it */
	struct native *op;          /* most calls are this one (vm_host.as_op); NULL: none */
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
	const char *name;     /* "torch.nn.functional" */
	struct vm_file *file; /* files.h: it is the program's own; NULL */
};

struct tensor;
struct traced_view;
struct tensor_grad;
struct vtensor {
	struct object head;
	struct tensor *memory; /* running: the host holds one reference; else NULL */
	int node;              /* capturing: the node that is its value now; else -1 */
	int input;             /* index among the graph's inputs, -1: none */
	bool is_parameter;     /* nn.Parameter() marked it */
	bool is_buffer;        /* nn.Buffer() did, and whether a state_dict() has it */
	bool persistent;
	bool written;             /* an in-place op changed it */
	unsigned dynamic_dims;    /* bit d: torch._dynamo.mark_dynamic(t, d) */
	int writes;               /* capturing: which write was the last, views' included */
	int birth;                /* capturing: how many were made before */
	struct traced_view *view; /* capturing: what it is a view of; NULL */
	struct dict *attributes;  /* what the program has set, x.foo = 1; NULL: none */
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
	struct class *meta;      /* the program's class that it is an instance of; NULL: type */
	struct dict *attributes; /* by name; never NULL */
	enum class_id builtin;
	bool hidden;              /* of the prelude: stacks and guards leave it out */
	uint64_t data;            /* name_bit() of each property, and attribute with __set__ or
				   * __delete__, of it and its bases: asked before the instance */
	bool has_getattribute;    /* it or a base has __getattribute__ */
	bool is_module;           /* nn.Module or derived: what its own attributes are */
	bool has_getattr;         /* it or a base has __getattr__ */
	bool has_setattr;         /* ... __setattr__ */
	bool has_slots;           /* it and its bases have __slots__: no other attributes */
	bool annotated;           /* its __annotations__ are no texts any more */
	const struct unit *body;  /* whose globals its annotations read; NULL: of no `class` */
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
	bool hashed;             /* `hash` is what its __hash__ said when it became a key */
	int64_t hash;
};

/* An array of the prelude's numpy; a number of one that a graph computes, and keeps. */
static inline bool value_is_array_number(struct value v)
{
	return v.kind == VALUE_INSTANCE && v.instance->class->hidden &&
	       strcmp(v.instance->class->name, "_Scalar") == 0;
}

static inline bool value_is_array(struct value v)
{
	return value_is_array_number(v) ||
	       (v.kind == VALUE_INSTANCE && strcmp(v.instance->class->name, "ndarray") == 0);
}

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

static inline struct value value_of(void *object) /* any counted object; takes no reference */
{
	struct object *o = (struct object *)object;

	return (struct value){ .kind = o->kind, .object = o };
}
/* New objects, refs 1; kind VALUE_UNSET when out of memory.  A `text` of NULL
 * and value_sequence() leave the filling to the caller, who has it alone. */
struct value value_sequence(enum value_kind kind, int room); /* tuple or list, len 0 */
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

/* Takes a new reference; false when out of memory, with nothing changed. */
bool value_list_push(struct list *list, struct value v);

/* Where the entry of a key lies; NULL where there is none. */
struct value *value_dict_place(struct dict *dict, struct value key);
struct value *value_dict_find(struct dict *dict, const char *text); /* of the key `text` */
/* One of 64 bits, by the text's length and the character in its middle. */
static inline uint64_t name_bit(const char *text, size_t len)
{
	return UINT64_C(1) << (((unsigned char)text[len / 2] * 3 + len) & 63);
}

/* Drops an entry; false where there is none. */
bool value_dict_remove(struct dict *dict, struct value key);

/* Whether a value may be the key of a dict: all but lists, dicts, sets that are
 * not frozen, slices and tuples that hold one of them. */
bool value_hashable(struct value v);

/* What a dict finds a hashable value by. */
uint64_t value_hash_of(struct value v);

/* "int", "tuple", "Tensor": for messages. */
const char *value_type_name(struct value v);

/* value_print(), but what `tensor` prints in place of tensors and SYMINTs. */
typedef void value_print_fn(void *context, struct buf *out, struct value tensor);
void value_print_with(struct buf *out, struct value v, bool plain, value_print_fn *tensor,
		      void *context);

/* ---- The heap of a VM: counts its objects and frees their cycles.
 *
 * Reference counts free all but objects that hold one another (a local function that calls
 * itself is in its own closure).  A collection finds those by trial deletion, as CPython does: an
 * object whose references all come from objects of the heap, none of which is held from outside,
 * is dead.  So any C code that holds a reference keeps its object alive, and collecting is safe
 * at any time. */
struct heap {
	size_t used_bytes, limit_bytes;
	int objects;     /* adopted and alive */
	unsigned births; /* adopted so far */
	int threshold;   /* heap_collect_if_due() collects beyond this many */
	bool closed;     /* the VM is gone; the last object frees the heap */
	bool collecting;
	struct vm *vm;      /* NULL: it runs no more */
	struct object list; /* sentinel of the ring of objects */
};

struct heap *heap_create(size_t limit_bytes); /* NULL: out of memory */

/* The VM's part ends.  What a caller still holds lives on. */
void heap_close(struct heap *heap);

/* Counts `bytes` more; false where the limit forbids it even after a
 * collection.  heap_uncharge() takes them back. */
bool heap_charge(struct heap *heap, size_t bytes);

static inline void heap_uncharge(struct heap *heap, size_t bytes)
{
	heap->used_bytes -= bytes;
}

/* The attributes of an instance, a function or a tensor.  Where it has none, new ones, in its own
 * heap: a ring that goes through them is found.  NULL: out of memory. */
struct dict *object_attributes(struct value object);

/* Takes an object in and charges its size; one that is in a heap stays there. */
bool heap_adopt(struct heap *heap, struct object *object);

/* The same of a tensor, which comes into the heap: that frees one that holds itself. */
static inline struct dict *tensor_attributes(struct heap *heap, struct value tensor)
{
	return heap_adopt(heap, tensor.object) ? object_attributes(tensor) : NULL;
}

/* Collects where many objects came since the last time. */
void heap_collect_if_due(struct heap *heap);

/* Bytes of an object with what it owns alone; drops the values of a list, dict or cell. */
size_t object_bytes(const struct object *object);
void object_clear(struct object *object);

/* For what has a part in an object: calls `visit` on every value that it references. */
typedef void object_visit_fn(struct value v, void *context);

#endif
