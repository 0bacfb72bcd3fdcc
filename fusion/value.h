/* fusion/value.h -- the values of a running program.
 *
 * Numbers, None and bools are held in the struct; everything else is a
 * reference-counted object.  A value is passed by copy; value_ref() and
 * value_unref() keep the count.  Functions that return a value through `out`
 * give the caller a reference; arguments are borrowed.  Values and their VM
 * belong to one thread; they may outlive the VM.
 */
#ifndef FUSION_VALUE_H
#define FUSION_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/dtype.h"

struct buf; /* fusion/base/buf.h */

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

/* The types of NumPy's numbers: what is taken out of an array. */
enum scalar_type {
	SCALAR_PYTHON, /* none of them */
#define SCALAR(id, name, letter, bytes, dtype) SCALAR_##id,
#include "fusion/scalars.def"
#undef SCALAR
	SCALAR_COUNT
};

struct heap; /* private: counts the bytes of the VM's objects, frees cycles */

/* What each object begins with; for the inline functions below, and for the VM. */
struct object {
	int refs;
	enum value_kind kind;
	int mark;                   /* the collector's */
	unsigned birth;             /* how many objects the heap had taken in before it */
	struct heap *heap;          /* that counts it; NULL: made by a host */
	struct object *prev, *next; /* in the heap's list */
};

/* Callers read `kind`, `b`, `i`, `f` and `dtype`; all else is the VM's. */
struct value {
	union {
		struct {
			enum value_kind kind;
			/* Of a bool, int or float: 0, it is Python's; else NumPy's, of that type.
			 */
			enum scalar_type scalar;
		};
		uint64_t head; /* both, compared and copied as one */
	};
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

/* New objects, of one reference; kind VALUE_UNSET when out of memory.  A `text` of NULL
 * leaves the filling to the VM, which has it alone. */
struct value value_str(const char *text, size_t len);
struct value value_tuple(const struct value *items, int n); /* takes new references */
struct value value_list(const struct value *items, int n);  /* takes new references */
struct value value_dict(void);

/* Takes new references; false when out of memory, with nothing changed. */
bool value_dict_set(struct dict *dict, struct value key, struct value v);

/* The entry of a key, borrowed; false where there is none. */
bool value_dict_get(const struct dict *dict, struct value key, struct value *out);

/* How many items a tuple or list has, or entries a dict; 0 of all else. */
int value_length(struct value v);

/* Item `index` of a tuple or list, or the value of entry `index` of a dict, in the order of
 * insertion; borrowed.  `index` is below value_length(). */
struct value value_item(struct value v, int index);
struct value value_key(struct value dict, int index); /* of that entry; borrowed */
/* The dict, list, ... that an instance of a class which derives from one keeps, and the tensor of
 * a NumPy array; any other value itself.  Borrowed. */
struct value value_plain(struct value v);

/* What an instance of a class has, by name: a dict, borrowed; UNSET of all else, and of one that
 * has nothing. */
struct value value_attributes(struct value v);

/* Whether v is made of tensors, numbers, texts, dtypes, None and of Python's own lists, tuples and
 * dicts of them: then nothing in it belongs to a session. */
bool value_is_plain(struct value v);

/* The bytes of a VALUE_STR, NUL terminated, and how many (`len` may be NULL); they live as
 * long as the value. */
const char *value_text(struct value v, size_t *len);

/* Equality of values without tensors, as ==: 1 == 1.0 == True.  Tensors,
 * functions and modules are equal to themselves alone. */
bool value_equal(struct value a, struct value b);

/* As Python's repr (str() where `plain`), appended; floats print as Python prints them.
 * A tensor prints as "tensor(...)" and a SYMINT as "<size>".
 * Values nested deeper than 100, and those inside themselves, print as "...". */
void value_print(struct buf *out, struct value v, bool plain);

#endif
