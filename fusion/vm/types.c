/* fusion/vm/types.c -- what type a value has: isinstance, type, and text.
 *
 * The types of Python itself are the builtins that make their values (int,
 * list), rows of scope "type" where there is no such function, and torch's
 * names for its own.  All others are struct class. */
#include <stdio.h>
#include <string.h>

#include "fusion/vm/absent_modules.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

static const char *const makers[] = { "int",       "float",     "bool",  "str",    "list",
				      "tuple",     "dict",      "range", "set",    "frozenset",
				      "slice",     "enumerate", "zip",   "map",    "reversed",
				      "type",      "property",  "super", "filter", "bytes",
				      "bytearray", "complex" };

bool native_is_type(const struct native *f)
{
	const struct builtin *row;

	if (!f->builtin)
		return strcmp(f->name, "torch.device") == 0 ||
		       (strncmp(f->name, "torch.", 6) == 0 && f->name[6] >= 'A' &&
			f->name[6] <= 'Z');
	row = builtin_row(f->id);
	if (f->self.kind != VALUE_UNSET)
		return false;
	if (strcmp(row->name, "Parameter") == 0)
		return true;
	if (strcmp(row->scope, "type") == 0)
		return true;
	for (size_t i = 0; row->scope[0] == '\0' && i < sizeof(makers) / sizeof(makers[0]); i++)
		if (strcmp(makers[i], row->name) == 0)
			return true;
	return false;
}

static const char *last_word(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* The name of the type whose maker or row is the native `f`. */
static bool is_of_native(struct value v, const struct native *f)
{
	const char *type = value_type_name(v), *name = last_word(f->name);

	if (v.scalar) /* numpy.float64 derives from float */
		return v.scalar == SCALAR_FLOAT64 && strcmp(name, "float") == 0;
	if (strcmp(name, "Parameter") == 0)
		return v.kind == VALUE_TENSOR && v.tensor->is_parameter;
	if (strcmp(name, "Size") == 0)
		return v.kind == VALUE_TUPLE && v.list->is_size;
	if (strcmp(name, "FloatTensor") == 0 || strcmp(name, "LongTensor") == 0)
		return v.kind == VALUE_TENSOR;
	if (strcmp(f->name, "torch.device") == 0)
		return v.kind == VALUE_STR && v.str->is_device;
	if (v.kind == VALUE_STR && v.str->is_device)
		return false;
	if (strcmp(name, "int") == 0 && (v.kind == VALUE_BOOL || v.kind == VALUE_SYMINT ||
					 v.kind == VALUE_SYMBOOL || v.kind == VALUE_DEFERRED_BOOL))
		return true;
	if (strcmp(name, "tuple") == 0 && v.kind == VALUE_TUPLE)
		return true;
	if (strcmp(name, "dict") == 0 && v.kind == VALUE_DICT)
		return true;
	if (strcmp(name, "type") == 0 && v.kind == VALUE_NATIVE)
		return native_is_type(v.native);
	return strcmp(type, name) == 0;
}

/* The promises of typing and collections.abc that isinstance() can look at: bits of
 * what the kinds of values are. */
enum {
	ITERABLE = 1,
	SEQUENCE = 2,
	MAPPING = 4,
	SETS = 8,
	CALLABLE = 16,
	NUMBER = 32,
	SIZED = 64,
	INTEGRAL = 128,
	ITERATOR = 256,
	HASHABLE = 512,
	CHANGEABLE = 1024, /* a sequence whose items can be set */
};

static int promises_of(struct value v)
{
	int hashable = value_hashable(v) ? HASHABLE : 0;

	switch (v.kind) {
	case VALUE_STR:
	case VALUE_TUPLE:
	case VALUE_RANGE:
		return ITERABLE | SEQUENCE | SIZED | hashable;
	case VALUE_LIST:
		return ITERABLE | SEQUENCE | SIZED | CHANGEABLE;
	case VALUE_DICT:
		return ITERABLE | MAPPING | SIZED;
	case VALUE_SET:
		return ITERABLE | SETS | SIZED | hashable;
	case VALUE_GENERATOR:
		return ITERABLE | ITERATOR | HASHABLE;
	case VALUE_ITER:
		return v.iter->view ? ITERABLE | SIZED : ITERABLE | ITERATOR | HASHABLE;
	case VALUE_TENSOR:
		return ITERABLE | SIZED | HASHABLE;
	case VALUE_FUNCTION:
	case VALUE_METHOD:
	case VALUE_CLASS:
	case VALUE_NATIVE:
		return CALLABLE | HASHABLE;
	case VALUE_INT:
	case VALUE_BOOL:
	case VALUE_SYMINT:
		return NUMBER | INTEGRAL | HASHABLE;
	case VALUE_FLOAT:
	case VALUE_SYMREAL:
		return NUMBER | HASHABLE;
	default:
		return hashable;
	}
}

static const struct {
	const char *type;
	int what;
} promised[] = {
	{ "dict", MAPPING }, { "list", SEQUENCE },   { "tuple", SEQUENCE },
	{ "str", SEQUENCE }, { "set", SETS },        { "int", NUMBER | INTEGRAL },
	{ "float", NUMBER }, { "Mapping", MAPPING }, { "Sequence", SEQUENCE },
};

static const struct {
	const char *name, *method; /* an instance's, that shows the promise; NULL: none does */
	int promise;
} promises[] = {
	{ "Iterable", "__iter__", ITERABLE },
	{ "Collection", "__iter__", ITERABLE },
	{ "Sequence", NULL, SEQUENCE },
	{ "List", NULL, SEQUENCE },
	{ "Tuple", NULL, SEQUENCE },
	{ "Mapping", NULL, MAPPING },
	{ "MutableMapping", NULL, MAPPING },
	{ "Dict", NULL, MAPPING },
	{ "Set", NULL, SETS },
	{ "Callable", "__call__", CALLABLE },
	{ "Number", NULL, NUMBER },
	{ "Complex", NULL, NUMBER },
	{ "Real", NULL, NUMBER },
	{ "Rational", NULL, INTEGRAL },
	{ "Integral", NULL, INTEGRAL },
	{ "Sized", "__len__", SIZED },
	{ "Container", "__contains__", SIZED },
	{ "Iterator", "__next__", ITERATOR },
	{ "MutableSequence", NULL, CHANGEABLE },
	{ "Hashable", "__hash__", HASHABLE },
};

/* What the type promises that an instance's class derives from. */
static bool keeps_by_type(struct vm *vm, struct value v, int promise, bool *out, struct err *err)
{
	struct value *place;

	if (!class_find(vm, v.instance->class, "__builtin__", &place, err))
		return false;
	*out = false;
	for (size_t i = 0;
	     place && place->kind == VALUE_NATIVE && i < sizeof(promised) / sizeof(promised[0]);
	     i++)
		if (strcmp(promised[i].type, place->native->name) == 0)
			*out = (promised[i].what & promise) != 0;
	return true;
}

/* isinstance(v, Iterable) and its like; *known false for another name. */
static bool keeps_promise(struct vm *vm, struct value v, const struct native *f, bool *known,
			  bool *out, struct err *err)
{
	struct value *place = NULL;

	*known = false;
	if (!f->builtin || strcmp(builtin_row(f->id)->scope, "typing") != 0)
		return true;
	for (size_t i = 0; i < sizeof(promises) / sizeof(promises[0]); i++) {
		if (strcmp(promises[i].name, f->name) != 0)
			continue;
		*known = true;
		*out = (promises_of(v) & promises[i].promise) != 0;
		if (strcmp(f->name, "List") == 0 || strcmp(f->name, "Tuple") == 0)
			*out = v.kind == (f->name[0] == 'L' ? VALUE_LIST : VALUE_TUPLE);
		if (v.kind == VALUE_INSTANCE && !promises[i].method)
			return keeps_by_type(vm, v, promises[i].promise, out, err);
		if (v.kind != VALUE_INSTANCE)
			return true;
		if (!class_find(vm, v.instance->class, promises[i].method, &place, err))
			return false;
		*out = place != NULL;
		return true;
	}
	return true;
}

/* Whether the class, or one that it derives from, stands for the type: class C(dict). */
static bool stands_in(struct vm *vm, struct class *class, struct value type, bool *out,
		      struct err *err)
{
	struct value *place;

	if (!class_find(vm, class, "__builtin__", &place, err))
		return false;
	*out = place && value_equal(*place, type);
	return true;
}

static bool not_a_type(struct vm *vm, struct err *err)
{
	return vm_raise(vm, CLASS_TYPE_ERROR, err,
			"isinstance() arg 2 must be a type, a tuple of types, or a union");
}

/* isinstance() as the metaclass has it. */
static bool ask_meta(struct vm *vm, struct value type, struct value v, bool *out, struct err *err)
{
	struct value answer;
	bool found, ok;

	if (!instance_call(vm, &(struct method_call){ &type, "__instancecheck__", &v, 1 }, &answer,
			   &found, err))
		return false;
	*out = false;
	ok = !found || op_truth(vm, answer, out, err);
	if (found)
		value_unref(answer);
	return ok;
}

/* A number of NumPy's beside a class. */
static bool of_numpy(struct vm *vm, struct value v, const struct class *class, bool *out,
		     struct err *err)
{
	struct value own;

	if (!value_type(vm, v, &own, err))
		return false;
	*out = class->builtin == CLASS_OBJECT ||
	       (own.kind == VALUE_CLASS && class_derives(own.class, class));
	value_unref(own);
	return true;
}

static bool is_instance(struct vm *vm, struct value v, struct value type, int depth, bool *out,
			struct err *err)
{
	bool known;

	*out = false;
	switch (type.kind) {
	case VALUE_TUPLE:
		for (int i = 0; depth < 100 && i < type.list->len && !*out; i++)
			if (!realize(vm, &type.list->at[i], err) ||
			    !is_instance(vm, v, type.list->at[i], depth + 1, out, err))
				return false;
		return true;
	case VALUE_CLASS:
		if (v.kind == VALUE_INSTANCE && v.instance->class == type.class) {
			*out = true;
			return true;
		}
		if (type.class->meta && class_lookup(type.class->meta, "__instancecheck__"))
			return ask_meta(vm, type, v, out, err);
		if (v.scalar)
			return of_numpy(vm, v, type.class, out, err);
		if (v.kind == VALUE_INSTANCE)
			*out = class_derives(v.instance->class, type.class);
		else if (v.kind == VALUE_CLASS && v.class->meta)
			*out = class_derives(v.class->meta, type.class) ||
			       type.class->builtin == CLASS_OBJECT;
		else if (v.kind == VALUE_TUPLE && v.list->class)
			*out = class_derives(v.list->class, type.class);
		else
			*out = type.class->builtin == CLASS_OBJECT;
		return true;
	case VALUE_NONE: /* of int | None */
		*out = v.kind == VALUE_NONE && depth > 0;
		return depth > 0 || not_a_type(vm, err);
	case VALUE_NATIVE:
		if (!keeps_promise(vm, v, type.native, &known, out, err))
			return false;
		if (known)
			return true;
		if (!native_is_type(type.native))
			return not_a_type(vm, err);
		*out = is_of_native(v, type.native);
		return *out || v.kind != VALUE_INSTANCE ||
		       stands_in(vm, v.instance->class, type, out, err);
	case VALUE_INSTANCE:
		return class_lookup(type.instance->class, "__instancecheck__")
			   ? ask_meta(vm, type, v, out, err)
			   : not_a_type(vm, err);
	default: /* nothing is an instance of what is not there */
		return absent_module_is(vm, type) || not_a_type(vm, err);
	}
}

bool value_is_instance(struct vm *vm, struct value v, struct value type, bool *out, struct err *err)
{
	return is_instance(vm, v, type, 0, out, err);
}

static bool builtin_isinstance(struct vm *vm, const struct builtin_call *call, struct value *out,
			       struct err *err)
{
	bool r;

	if (!is_instance(vm, call->args[0], call->args[1], 0, &r, err))
		return false;
	*out = value_bool(r);
	return true;
}

static bool is_subclass(struct vm *vm, struct value class, struct value base, int depth, bool *out,
			struct err *err)
{
	*out = false;
	if (base.kind == VALUE_TUPLE && depth < 100) {
		for (int i = 0; i < base.list->len && !*out; i++)
			if (!is_subclass(vm, class, base.list->at[i], depth + 1, out, err))
				return false;
		return true;
	}
	if (class.kind == VALUE_CLASS && base.kind == VALUE_CLASS) {
		*out = class_derives(class.class, base.class);
		return true;
	}
	if (class.kind == VALUE_NATIVE && native_is_type(class.native)) {
		*out = value_equal(class, base) ||
		       (base.kind == VALUE_CLASS && base.class->builtin == CLASS_OBJECT) ||
		       (base.kind == VALUE_NATIVE && strcmp(class.native->name, "bool") == 0 &&
			strcmp(base.native->name, "int") == 0);
		return true;
	}
	*out = false;
	if (class.kind == VALUE_CLASS && base.kind == VALUE_NATIVE && native_is_type(base.native))
		return stands_in(vm, class.class, base, out, err);
	return vm_raise(vm, CLASS_TYPE_ERROR, err, "issubclass() arg 1 must be a class");
}

static bool builtin_issubclass(struct vm *vm, const struct builtin_call *call, struct value *out,
			       struct err *err)
{
	bool r;

	if (!is_subclass(vm, call->args[0], call->args[1], 0, &r, err))
		return false;
	*out = value_bool(r);
	return true;
}

static bool torch_type(struct vm *vm, const char *name, struct value *out, struct err *err)
{
	struct value torch;

	return vm_module(vm, "torch", &torch, err) && op_attribute(vm, NULL, torch, name, out, err);
}

static bool numpy_type(struct vm *vm, enum scalar_type type, struct value *out, struct err *err)
{
	const char *name = type == SCALAR_BOOL ? "bool_" : last_word(scalar_infos[type].name);
	struct value numpy;

	return vm_module(vm, "numpy", &numpy, err) && op_attribute(vm, NULL, numpy, name, out, err);
}

bool value_type(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	struct class *class = v.kind == VALUE_INSTANCE ? v.instance->class : NULL;
	const char *name = value_type_name(v);
	struct value *builtin = NULL;
	int id;

	if (v.scalar)
		return numpy_type(vm, v.scalar, out, err);
	if (v.kind == VALUE_TUPLE)
		class = v.list->class;
	if (class && class->hidden) /* bytes, which the prelude has */
		builtin = value_dict_find(class->attributes, "__builtin__");
	if (v.kind == VALUE_CLASS)
		class = v.class->meta;
	if (class) {
		*out = value_ref(builtin ? *builtin : value_of(class));
		return true;
	}
	if (v.kind == VALUE_TENSOR)
		return torch_type(vm, "Tensor", out, err);
	if (v.kind == VALUE_TUPLE && v.list->is_size)
		name = "Size";
	if (v.kind == VALUE_STR && v.str->is_device)
		return torch_type(vm, "device", out, err);
	if (v.kind == VALUE_NATIVE && native_is_type(v.native))
		name = "type";
	id = builtin_find("", name);
	if (id < 0)
		id = builtin_find("type", name);
	if (id < 0) /* an iterator of some kind */
		id = builtin_find("type", "generator");
	return vm_keep(vm, builtin_value(id, (struct value){ .kind = VALUE_UNSET }), out, err);
}

static bool builtin_type(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	if (call->n == 1)
		return value_type(vm, call->args[0], out, err);
	if (call->n != 3 || call->args[0].kind != VALUE_STR || call->args[1].kind != VALUE_TUPLE ||
	    call->args[2].kind != VALUE_DICT)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"type() takes an object, or a name, a tuple of bases and a dict of "
				"attributes");
	return class_build(vm,
			   &(struct class_parts){ call->args[0], call->args[1].list->at,
						  call->args[1].list->len, call->args[2].dict, NULL,
						  NULL },
			   out, err);
}

static bool builtin_not_a_function(struct vm *vm, const struct builtin_call *call,
				   struct value *out, struct err *err)
{
	(void)out;
	return vm_raise(vm, CLASS_TYPE_ERROR, err, "%s cannot be called", call->row->name);
}

#define BUILTINS_OF_TYPES
const struct builtin types_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
