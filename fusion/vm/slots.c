/* fusion/vm/slots.c -- special methods of Python's own types, asked for by name:
 * [].__len__, (1).__add__, str.__contains__.  slots.def is their table. */
#include "fusion/vm/slots.h"

#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

enum how {
	BINARY,
	REFLECTED,
	INPLACE,
	COMPARE,
	UNARY,
	FUNCTION, /* of scope "", which gets the value first */
	MATH,     /* the same of the module math */
	CONTAINS,
	ITEM,
	SET_ITEM,
	DELETE_ITEM,
	CALL,
	NOTHING,
};

static const struct slot_row {
	const char *name;
	enum how how;
	intptr_t what; /* an operator, or the name of a function */
	const char *types;
} slots[] = {
#define SLOT(name, how, what, types) { name, how, (intptr_t)(what), types },
#include "fusion/vm/slots.def"
#undef SLOT
};

static const struct slot_row *find(const char *name)
{
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		if (strcmp(slots[i].name, name) == 0)
			return &slots[i];
	return NULL;
}

static char letter_of(struct value v)
{
	switch (v.kind) {
	case VALUE_BOOL:
	case VALUE_INT:
		return 'i';
	case VALUE_FLOAT:
		return 'f';
	case VALUE_NONE:
		return 'n';
	case VALUE_STR:
		return 's';
	case VALUE_LIST:
		return 'l';
	case VALUE_TUPLE:
		return 't';
	case VALUE_DICT:
		return 'd';
	case VALUE_SET:
		return v.dict->frozen ? 'F' : 'S';
	case VALUE_RANGE:
		return 'r';
	case VALUE_GENERATOR:
		return 'g';
	case VALUE_ITER:
		return !v.iter->view ? 'I' : v.iter->iter_kind == ITER_VALUES ? 'v' : 'k';
	case VALUE_FUNCTION:
	case VALUE_NATIVE:
	case VALUE_METHOD:
		return 'c';
	case VALUE_TENSOR:
		return 'T';
	default:
		return '?';
	}
}

/* The letter of the values that a type's maker makes; 0: no such type. */
static char letter_of_type(const struct native *type)
{
	static const struct {
		const char *name;
		char letter;
	} types[] = { { "int", 'i' },       { "bool", 'i' },  { "float", 'f' }, { "str", 's' },
		      { "list", 'l' },      { "tuple", 't' }, { "dict", 'd' },  { "set", 'S' },
		      { "frozenset", 'F' }, { "range", 'r' } };

	for (size_t i = 0; type->builtin && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, type->name) == 0)
			return types[i].letter;
	return 0;
}

static bool has(const struct slot_row *slot, char letter)
{
	return slot && (slot->types[0] == '*' || strchr(slot->types, letter));
}

bool slot_attribute(struct vm *vm, struct value o, const char *name, struct value *out, bool *found,
		    struct err *err)
{
	const struct slot_row *slot = name[0] == '_' && name[1] == '_' ? find(name) : NULL;
	bool of_type = o.kind == VALUE_NATIVE && native_is_type(o.native) &&
		       letter_of_type(o.native) && !has(slot, 'c');

	*found = has(slot, of_type ? letter_of_type(o.native) : letter_of(o));
	if (!*found)
		return true;
	if (strcmp(name, "__hash__") == 0 && !of_type && !value_hashable(o)) {
		*out = value_none();
		return true;
	}
	return vm_keep(vm,
		       builtin_value(builtin_find("slot", name),
				     of_type ? (struct value){ .kind = VALUE_UNSET } : o),
		       out, err);
}

/* NotImplemented in place of a TypeError, which is for the operator to raise. */
static bool or_not_implemented(struct vm *vm, bool ok, const struct err *why, struct value *out,
			       struct err *err)
{
	if (ok)
		return true;
	if (!vm_failed_with(vm, why, CLASS_TYPE_ERROR) && why->code != ERR_TYPE) {
		if (err)
			*err = *why;
		return false;
	}
	vm_forget_raised(vm);
	return vm_keep(vm,
		       builtin_value(builtin_find("", "NotImplemented"),
				     (struct value){ .kind = VALUE_UNSET }),
		       out, err);
}

static bool compare(struct vm *vm, enum cmpop op, struct value a, struct value b, struct value *out,
		    struct err *err)
{
	struct err why = { 0 };
	bool equals = op == CMP_EQ || op == CMP_NE;

	if (equals && a.kind != b.kind && !(value_is_number(a) && value_is_number(b)))
		return or_not_implemented(vm, false, &(struct err){ .code = ERR_TYPE }, out, err);
	return or_not_implemented(vm, op_compare(vm, op, a, b, out, &why), &why, out, err);
}

/* An int leaves what it does with a float to the float. */
static bool leaves_it(struct value a, struct value b)
{
	return value_is_integer(a) && b.kind == VALUE_FLOAT;
}

/* The builtin of that name, of the value and what was given besides. */
static bool function(struct vm *vm, const char *scope, const struct method_call *m,
		     struct value *out, struct err *err)
{
	struct native f = { .name = m->name, .id = builtin_find(scope, m->name), .builtin = true };
	struct value all[3] = { *m->self };

	for (int i = 0; i < m->n; i++)
		all[i + 1] = m->args[i];
	return builtin_call(vm, &f, &(struct arguments){ all, m->n + 1, NULL }, out, err);
}

/* Of a bound method the value is call->self, else the first argument. */
static bool run(struct vm *vm, const struct slot_row *slot, const struct builtin_call *call,
		struct value *out, struct err *err)
{
	bool bound = call->self.kind != VALUE_UNSET;
	struct value v = bound ? call->self : call->args[0];
	const struct value *args = call->args + !bound;
	int n = call->n - !bound;
	struct err why = { 0 };
	bool held;

	*out = value_none();
	if (slot->how <= COMPARE && leaves_it(v, args[0]))
		return or_not_implemented(vm, false, &(struct err){ .code = ERR_TYPE }, out, err);
	switch (slot->how) {
	case BINARY:
	case INPLACE:
		return or_not_implemented(vm,
					  (slot->how == INPLACE ? op_inplace : op_binary)(
					      vm, (enum binop)slot->what, v, args[0], out, &why),
					  &why, out, err);
	case REFLECTED:
		return or_not_implemented(
		    vm, op_binary(vm, (enum binop)slot->what, args[0], v, out, &why), &why, out,
		    err);
	case COMPARE:
		return compare(vm, (enum cmpop)slot->what, v, args[0], out, err);
	case UNARY:
		return op_unary(vm, (enum unop)slot->what, v, out, err);
	case FUNCTION:
	case MATH:
		return function(vm, slot->how == MATH ? "math" : "",
				&(struct method_call){ &v, (const char *)slot->what, args, n }, out,
				err);
	case CONTAINS:
		if (!op_contains(vm, v, args[0], &held, err))
			return false;
		*out = value_bool(held);
		return true;
	case ITEM:
		return op_subscript(vm, v, args[0], out, err);
	case SET_ITEM:
		return op_store_subscript(vm, v, args[0], args[1], err);
	case DELETE_ITEM:
		return op_delete_subscript(vm, v, args[0], err);
	case NOTHING:
		return true;
	case CALL:
		return vm_invoke(
		    vm, v, &(struct arguments){ args, n + (call->kw ? call->kw->n : 0), call->kw },
		    out, err);
	}
	return err_set(err, ERR_INTERNAL, "a slot of no kind");
}

bool slot_call(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	const struct slot_row *slot = find(call->row->name);
	bool bound = call->self.kind != VALUE_UNSET,
	     exact = slot->how != FUNCTION && slot->how != MATH && slot->how != NOTHING &&
		     slot->how != CALL;

	if (exact && call->n != call->row->least + !bound)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "expected %d argument%s, got %d",
				call->row->least, call->row->least == 1 ? "" : "s",
				call->n - !bound);
	if (slot->how == FUNCTION && bound && call->n >= call->row->most && call->row->most == 1)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "expected 0 arguments, got %d", call->n);
	if (!bound && call->n < 1 + (call->row->least > 0))
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "unbound method %s() needs an argument",
				call->row->name);
	return run(vm, slot, call, out, err);
}
