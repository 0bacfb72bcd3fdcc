/* fusion/vm/dunder.c -- operators that a program's classes define. */
#include "fusion/vm/dunder.h"

#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

static const char *const binary_names[BIN_COUNT][3] = {
	[BIN_ADD] = { "__add__", "__radd__", "__iadd__" },
	[BIN_SUB] = { "__sub__", "__rsub__", "__isub__" },
	[BIN_MUL] = { "__mul__", "__rmul__", "__imul__" },
	[BIN_TRUEDIV] = { "__truediv__", "__rtruediv__", "__itruediv__" },
	[BIN_FLOORDIV] = { "__floordiv__", "__rfloordiv__", "__ifloordiv__" },
	[BIN_MOD] = { "__mod__", "__rmod__", "__imod__" },
	[BIN_POW] = { "__pow__", "__rpow__", "__ipow__" },
	[BIN_MATMUL] = { "__matmul__", "__rmatmul__", "__imatmul__" },
	[BIN_AND] = { "__and__", "__rand__", "__iand__" },
	[BIN_OR] = { "__or__", "__ror__", "__ior__" },
	[BIN_XOR] = { "__xor__", "__rxor__", "__ixor__" },
	[BIN_LSHIFT] = { "__lshift__", "__rlshift__", "__ilshift__" },
	[BIN_RSHIFT] = { "__rshift__", "__rrshift__", "__irshift__" },
};

/* Each comparison, and what the other operand is asked for in its place. */
static const char *const compare_names[CMP_COUNT][2] = {
	[CMP_LT] = { "__lt__", "__gt__" }, [CMP_LE] = { "__le__", "__ge__" },
	[CMP_EQ] = { "__eq__", "__eq__" }, [CMP_NE] = { "__ne__", "__ne__" },
	[CMP_GT] = { "__gt__", "__lt__" }, [CMP_GE] = { "__ge__", "__le__" },
};

static bool is_not_implemented(struct value v)
{
	return v.kind == VALUE_NATIVE && v.native->builtin &&
	       strcmp(builtin_row(v.native->id)->name, "NotImplemented") == 0;
}

/* a.name(b); not *found where there is no such method, or it declines. */
static bool ask(struct vm *vm, struct value a, const char *name, struct value b, struct value *out,
		bool *found, struct err *err)
{
	if (!instance_call(vm, a, name, &b, 1, out, found, err)) {
		*found = false;
		return false;
	}
	if (*found && is_not_implemented(*out)) {
		value_unref(*out);
		*found = false;
	}
	return true;
}

bool dunder_binary(struct vm *vm, enum binop op, bool inplace, struct value a, struct value b,
		   struct value *out, bool *found, struct err *err)
{
	const char *const *names = binary_names[op];
	bool reflected_first = a.kind == VALUE_INSTANCE && b.kind == VALUE_INSTANCE &&
			       a.instance->class != b.instance->class &&
			       class_derives(b.instance->class, a.instance->class);

	*found = false;
	if (inplace && (!ask(vm, a, names[2], b, out, found, err) || *found))
		return *found;
	if (reflected_first && (!ask(vm, b, names[1], a, out, found, err) || *found))
		return *found;
	if (!ask(vm, a, names[0], b, out, found, err) || *found)
		return *found;
	return reflected_first || ask(vm, b, names[1], a, out, found, err);
}

bool dunder_compare(struct vm *vm, enum cmpop op, struct value a, struct value b, struct value *out,
		    bool *found, struct err *err)
{
	bool truth;

	*found = false;
	if (!ask(vm, a, compare_names[op][0], b, out, found, err) || *found)
		return *found;
	if (!ask(vm, b, compare_names[op][1], a, out, found, err) || *found)
		return *found;
	if (op != CMP_NE)
		return true;
	if (!dunder_compare(vm, CMP_EQ, a, b, out, found, err))
		return false;
	if (!*found)
		return true;
	*found = op_truth(vm, *out, &truth, err);
	value_unref(*out);
	*out = value_bool(*found && !truth);
	return *found;
}

bool dunder_unary(struct vm *vm, enum unop op, struct value a, struct value *out, bool *found,
		  struct err *err)
{
	const char *name = op == UN_NEG ? "__neg__" : op == UN_POS ? "__pos__" : "__invert__";

	return instance_call(vm, a, name, NULL, 0, out, found, err);
}

/* bool() by __bool__, else by __len__, else true. */
bool dunder_truth(struct vm *vm, struct value v, bool *out, struct err *err)
{
	struct value r;
	bool found, ok;

	*out = true;
	if (!instance_call(vm, v, "__bool__", NULL, 0, &r, &found, err))
		return false;
	if (!found && !class_lookup(v.instance->class, "__len__"))
		return true;
	if (!found)
		return op_length(vm, v, &r, err) && op_truth(vm, r, out, err);
	ok = strcmp(value_type_name(r), "bool") == 0 ||
	     vm_raise(vm, CLASS_TYPE_ERROR, err, "__bool__ should return bool, returned %s",
		      value_type_name(r));
	ok = ok && op_truth(vm, r, out, err);
	value_unref(r);
	return ok;
}

/* Sets with sets, and types that | joins: int | None. */
static bool is_type(struct value v)
{
	return v.kind == VALUE_CLASS || v.kind == VALUE_NONE ||
	       (v.kind == VALUE_NATIVE &&
		(native_is_type(v.native) ||
		 (v.native->builtin && strcmp(builtin_row(v.native->id)->scope, "typing") == 0)));
}

/* A type, or what | made of several: a pair, whose first may be a pair again. */
static bool is_type_or_union(struct value v)
{
	while (v.kind == VALUE_TUPLE && v.list->len == 2 && is_type(v.list->at[1]))
		v = v.list->at[0];
	return is_type(v);
}

bool set_binary(struct vm *vm, enum binop op, bool inplace, struct value a, struct value b,
		struct value *out, struct err *err)
{
	enum set_op set = op == BIN_OR    ? SET_UNION
			  : op == BIN_AND ? SET_INTERSECTION
			  : op == BIN_SUB ? SET_DIFFERENCE
					  : SET_SYMMETRIC;
	bool ok;

	if (!set_combine(vm, set, a, b, out, err))
		return false;
	if (!inplace || a.dict->frozen)
		return true;
	ok = set_replace(vm, a.dict, out->dict, err);
	value_unref(*out);
	*out = value_ref(a);
	return ok;
}

bool set_or_type_binary(struct vm *vm, enum binop op, bool inplace, struct value a, struct value b,
			struct value *out, bool *found, struct err *err)
{
	struct value pair[] = { a, b };

	*found = true;
	if (a.kind == VALUE_SET && b.kind == VALUE_SET &&
	    (op == BIN_OR || op == BIN_AND || op == BIN_SUB || op == BIN_XOR))
		return set_binary(vm, op, inplace, a, b, out, err);
	if ((is_set_view(a) || is_set_view(b)) &&
	    (op == BIN_OR || op == BIN_AND || op == BIN_SUB || op == BIN_XOR))
		return view_binary(vm, op, a, b, out, err);
	if (op == BIN_OR && is_type_or_union(a) && is_type(b) &&
	    (a.kind != VALUE_NONE || b.kind != VALUE_NONE))
		return vm_keep(vm, value_tuple(pair, 2), out, err);
	*found = false;
	return true;
}

/* Order of sets is being a part of one another. */
bool set_order(enum cmpop op, const struct dict *a, const struct dict *b)
{
	switch (op) {
	case CMP_LE:
		return set_within(a, b);
	case CMP_LT:
		return a->len < b->len && set_within(a, b);
	case CMP_GE:
		return set_within(b, a);
	default:
		return b->len < a->len && set_within(b, a);
	}
}
