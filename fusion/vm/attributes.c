/* fusion/vm/attributes.c -- reads, stores and deletes an attribute of a value.
 *
 * Modules answer once for each place in the program (struct attr_site); the
 * methods of lists, dicts and strings are rows of builtins.def. */
#include <string.h>

#include "fusion/vm/placement.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/modules.h"
#include "fusion/vm/files.h"
#include "fusion/vm/namedtuple.h"
#include "fusion/base/nearest.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"

/* ---- Special methods of Python's own types, asked for by name: [].__len__, (1).__add__,
 * str.__contains__.  slots.def is their table. */

enum slot_how {
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
	enum slot_how how;
	intptr_t what; /* an operator, or the name of a function */
	const char *types;
} slots[] = {
#define SLOT(name, how, what, types) { name, how, (intptr_t)(what), types },
#include "fusion/vm/slots.def"
#undef SLOT
};

static const struct slot_row *slot_find(const char *name)
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

	if (!type->builtin && strcmp(type->name, "torch.Tensor") == 0)
		return 'T';
	for (size_t i = 0; type->builtin && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, type->name) == 0)
			return types[i].letter;
	return 0;
}

static bool slot_has(const struct slot_row *slot, char letter)
{
	return slot && (slot->types[0] == '*' || strchr(slot->types, letter));
}

static bool slot_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			   bool *found, struct err *err)
{
	const struct slot_row *slot = name[0] == '_' && name[1] == '_' ? slot_find(name) : NULL;
	bool of_type = o.kind == VALUE_NATIVE && letter_of_type(o.native) && !slot_has(slot, 'c');

	*found = slot_has(slot, of_type ? letter_of_type(o.native) : letter_of(o));
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

static bool slot_compare(struct vm *vm, enum cmpop op, struct value a, struct value b,
			 struct value *out, struct err *err)
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
static bool slot_function(struct vm *vm, const char *scope, const struct method_call *m,
			  struct value *out, struct err *err)
{
	struct native f = { .name = m->name, .id = builtin_find(scope, m->name), .builtin = true };
	struct value all[3] = { *m->self };

	for (int i = 0; i < m->n; i++)
		all[i + 1] = m->args[i];
	return builtin_call(vm, &f, &(struct arguments){ all, m->n + 1, NULL }, out, err);
}

/* Of a bound method the value is call->self, else the first argument. */
static bool slot_run(struct vm *vm, const struct slot_row *slot, const struct builtin_call *call,
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
		return slot_compare(vm, (enum cmpop)slot->what, v, args[0], out, err);
	case UNARY:
		return op_unary(vm, (enum unop)slot->what, v, out, err);
	case FUNCTION:
	case MATH:
		return slot_function(vm, slot->how == MATH ? "math" : "",
				     &(struct method_call){ &v, (const char *)slot->what, args, n },
				     out, err);
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

static bool slot_call(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	const struct slot_row *slot = slot_find(call->row->name);
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
	return slot_run(vm, slot, call, out, err);
}

/* ---- Attributes. */

static bool no_attribute(struct vm *vm, const char *type, const char *scope, const char *name,
			 struct err *err)
{
	struct nearest n = nearest_to(name);

	for (int i = 0; i < builtin_count(); i++)
		if (strcmp(builtin_row(i)->scope, scope) == 0)
			nearest_offer(&n, builtin_row(i)->name);
	if (n.best)
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err,
				"'%s' object has no attribute '%s'; did you mean '%s'?", type, name,
				n.best);
	return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err, "'%s' object has no attribute '%s'", type,
			name);
}

/* What a module of the host has. */
static bool host_attribute(struct vm *vm, const struct module *m, const char *name,
			   struct value *out, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	bool found;

	if (!module_type(vm, m->name, name, out, &found, err))
		return false;
	if (!found && !prelude_attribute(vm, module_real(m->name), name, out, &found, err))
		return false;
	return found || host->module_attr(host->self, m, name, out, err);
}

/* Whether the program has imported module.name, or a module in it. */
static bool is_imported(const struct vm *vm, const char *module, const char *name)
{
	size_t len = strlen(module), more = strlen(name);

	for (size_t i = 0; i < vm->modules.len; i++) {
		const char *have = vm->modules.at[i].module->name;

		if (strncmp(have, module, len) == 0 && have[len] == '.' &&
		    strncmp(have + len + 1, name, more) == 0 &&
		    (have[len + 1 + more] == '\0' || have[len + 1 + more] == '.'))
			return true;
	}
	return false;
}

/* from module import name, as take_names() of compile.c writes it. */
static bool is_from_import(const struct frame *f)
{
	return f && f->inst > f->code->insts && f->inst->op == CODE_LOAD_ATTR &&
	       f->inst[-1].op == CODE_COPY;
}

/* module.name is not there, as *err says: the program may import it all the same, and fails
 * where it uses it. */
static bool absent_attribute(struct vm *vm, const char *module, const char *name, struct value *out,
			     struct err *err)
{
	struct err why = *err;

	if (why.code != ERR_NAME && why.code != ERR_UNSUPPORTED)
		return false;
	*err = (struct err){ 0 };
	if (is_from_import(vm->frame) && frame_is_tried(vm->frame))
		return vm_raise(vm, CLASS_IMPORT_ERROR, err, "cannot import name '%s' from '%s'",
				name, module);
	if (is_from_import(vm->frame) || is_imported(vm, module, name))
		return module_file(vm, module, name, out, err);
	if (why.code == ERR_NAME && vm->frame && frame_is_tried(vm->frame))
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err, "module '%s' has no attribute '%s'",
				module, name);
	*err = why;
	return false;
}

static bool module_attribute(struct vm *vm, struct attr_site *site, struct value o,
			     const char *name, struct value *out, struct err *err)
{
	const char *module = o.module->name;
	struct err why = { 0 };
	struct value v;
	bool ok;

	if (!module_stored(vm, o.module, name, out, err))
		return false;
	if (out->kind != VALUE_UNSET)
		return true;
	if (strcmp(name, "__name__") == 0)
		return vm_keep(vm, value_str(module, strlen(module)), out, err);
	if (module_is_file(module, name) || !vm_has_module(vm, module))
		ok = module_file(vm, module, name, &v, &why);
	else if (module_is_native(module))
		ok = native_attribute(vm, module, name, &v, &why);
	else
		ok = host_attribute(vm, o.module, name, &v, &why);
	if (!ok && vm->raised.kind == VALUE_UNSET)
		ok = absent_attribute(vm, module, name, &v, &why);
	if (!ok) {
		if (err)
			*err = why;
		return false;
	}
	if (site) {
		value_unref(site->module);
		value_unref(site->value);
		site->module = value_ref(o);
		site->value = value_ref(v);
		site->epoch = vm->epoch;
	}
	*out = v;
	return true;
}

/* with torch.device("cuda"): */
static bool device_context(struct vm *vm, struct value o, bool enter, struct value *out,
			   struct err *err)
{
	struct value f;
	bool found, ok;

	if (!prelude_attribute(vm, "torch", enter ? "enter_device" : "leave_device", &f, &found,
			       err))
		return false;
	ok = found && vm_keep(vm, value_method(f, o), out, err);
	value_unref(f);
	return ok;
}

static bool method(struct vm *vm, struct attr_site *site, struct value o, const char *name,
		   struct value *out, struct err *err)
{
	const char *scope = o.kind == VALUE_TUPLE ? "tuple" : value_type_name(o);
	int id;

	if (o.kind == VALUE_SET || o.kind == VALUE_ITER)
		site = NULL; /* a frozenset has other methods, a view of items others than one of
				keys */
	if (site && site->kind == o.kind)
		return vm_keep(vm, builtin_value(site->builtin, o), out, err);
	if (o.kind == VALUE_STR && o.str->is_device &&
	    (strcmp(name, "__enter__") == 0 || strcmp(name, "__exit__") == 0))
		return device_context(vm, o, name[2] == 'e' && name[3] == 'n', out, err);
	if (o.kind == VALUE_STR && strcmp(name, "type") == 0) /* of a device, which is its name */
		return vm_keep(vm, value_str(o.str->text, strcspn(o.str->text, ":")), out, err);
	if (o.kind == VALUE_STR && strcmp(name, "index") == 0 && placement_device(o.str->text, out))
		return true;
	id = builtin_find(scope, name);
	if (id >= 0 && o.kind == VALUE_TUPLE && strcmp(name, "numel") == 0) {
		if (!o.list->is_size) /* torch.Size alone has it */
			return no_attribute(vm, scope, scope, name, err);
		site = NULL; /* the next tuple here may be none */
	}
	if (id < 0)
		return no_attribute(vm, scope, scope, name, err);
	if (site) {
		site->kind = o.kind;
		site->builtin = id;
	}
	return vm_keep(vm, builtin_value(id, o), out, err);
}

static bool range_attribute(const struct range *r, const char *name, struct value *out)
{
	if (strcmp(name, "start") == 0)
		*out = value_int(r->start);
	else if (strcmp(name, "stop") == 0)
		*out = value_int(r->stop);
	else if (strcmp(name, "step") == 0)
		*out = value_int(r->step);
	else
		return false;
	return true;
}

static bool slice_attribute(const struct slice *s, const char *name, struct value *out)
{
	if (strcmp(name, "start") == 0)
		*out = value_ref(s->start);
	else if (strcmp(name, "stop") == 0)
		*out = value_ref(s->stop);
	else if (strcmp(name, "step") == 0)
		*out = value_ref(s->step);
	else
		return false;
	return true;
}

static bool dtype_attribute(enum dtype dtype, const char *name, struct value *out)
{
	if (strcmp(name, "is_floating_point") == 0)
		*out = value_bool(dtype_category(dtype) == CATEGORY_FLOAT);
	else if (strcmp(name, "is_complex") == 0)
		*out = value_bool(false);
	else if (strcmp(name, "is_signed") == 0)
		*out = value_bool(dtype != DTYPE_BOOL && dtype != DTYPE_U8);
	else if (strcmp(name, "itemsize") == 0)
		*out = value_int((int64_t)dtype_bytes(dtype));
	else
		return false;
	return true;
}

static bool names_itself(const char *name)
{
	return strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0;
}

static bool text(struct vm *vm, const char *t, struct value *out, struct err *err)
{
	return vm_keep(vm, value_str(t, strlen(t)), out, err);
}

static bool function_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			       bool *found, struct err *err)
{
	struct function *f = o.function;
	struct value *place = f->attributes ? value_dict_find(f->attributes, name) : NULL, fresh;

	*found = true;
	if (place) {
		if (!realize(vm, place, err))
			return false;
		*out = value_ref(*place);
		return true;
	}
	if (names_itself(name))
		return text(vm, f->code->name, out, err);
	if (strcmp(name, "__module__") == 0)
		return text(vm, "__main__", out, err);
	if (strcmp(name, "__doc__") == 0 || strcmp(name, "__defaults__") == 0) {
		if (name[2] == 'd' && name[3] == 'o' && f->code->doc)
			return text(vm, f->code->doc, out, err);
		*out = name[3] == 'o' || !f->defaults || f->defaults->len == 0
			   ? value_none()
			   : value_ref(value_of(f->defaults));
		return true;
	}
	if (strcmp(name, "__annotations__") == 0)
		return typing_annotations(vm, o, out, err);
	if (strcmp(name, "__kwdefaults__") == 0) {
		*out = f->kwdefaults ? value_ref(value_of(f->kwdefaults)) : value_none();
		return true;
	}
	if (strcmp(name, "__dict__") == 0) {
		if (!f->attributes) {
			if (!vm_keep(vm, value_dict(), &fresh, err))
				return false;
			f->attributes = fresh.dict;
		}
		*out = value_ref(value_of(f->attributes));
		return true;
	}
	*found = false;
	return true;
}

/* list.append, dict.fromkeys, str.lower: rows by the type's name, unbound. */
/* torch.Tensor.add, as a function of all its operands; *found false: tensors have no such method.
 */
static bool method_of_tensors(struct vm *vm, const char *name, struct value *out, bool *found,
			      struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct err e = { 0 };

	if (prelude_defines("torch.Tensor", name))
		return prelude_attribute(vm, "torch.Tensor", name, out, found, err);
	*found = host->tensor_attr(host->self, (struct value){ .kind = VALUE_UNSET }, name, out,
				   &e);
	if (*found || e.code == ERR_NAME)
		return true;
	*err = e;
	return false;
}

/* type.__new__ and its like, of which a metaclass asks. */
static bool attribute_of_type(struct vm *vm, const char *name, struct value *out, bool *found,
			      struct err *err)
{
	struct value class, *place;

	if (!prelude_attribute(vm, "_bases", "Type", &class, found, err))
		return false;
	place = class_lookup(class.class, name);
	*found = place != NULL;
	if (place)
		*out = value_ref(place->kind == VALUE_DESCRIPTOR ? place->descriptor->get : *place);
	value_unref(class);
	return true;
}

static bool native_own(struct vm *vm, struct value o, const char *name, struct value *out,
		       bool *found, struct err *err)
{
	const char *dot = strrchr(o.native->name, '.');
	int id = -1;

	*found = true;
	if (names_itself(name))
		return text(vm, dot ? dot + 1 : o.native->name, out, err);
	if (strcmp(name, "__module__") == 0)
		return text(vm,
			    native_is_typing(o.native) ? "typing"
			    : o.native->builtin        ? "builtins"
						       : "torch",
			    out, err);
	if (strcmp(name, "__self__") == 0 && o.native->self.kind != VALUE_UNSET) {
		*out = value_ref(o.native->self);
		return true;
	}
	if (strcmp(name, "__self__") == 0 && o.native->builtin && !native_is_type(o.native))
		return vm_keep(vm, value_module("builtins"), out, err);
	if (strcmp(name, "__doc__") == 0) {
		*out = value_none();
		return true;
	}
	if (!o.native->builtin && strcmp(o.native->name, "torch.Tensor") == 0)
		return method_of_tensors(vm, name, out, found, err);
	if (o.native->builtin && native_is_type(o.native))
		id = builtin_find(o.native->name, name);
	*found = id >= 0;
	if (!*found && o.native->builtin && strcmp(o.native->name, "type") == 0)
		return attribute_of_type(vm, name, out, found, err);
	return !*found || vm_keep(vm, builtin_value(id, (struct value){ 0 }), out, err);
}

static bool bound_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			    struct err *err)
{
	if (strcmp(name, "__self__") == 0 || strcmp(name, "__func__") == 0) {
		*out = value_ref(name[2] == 's' ? o.method->self : o.method->function);
		return true;
	}
	return op_attribute(vm, NULL, o.method->function, name, out, err);
}

static bool descriptor_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
				 struct err *err)
{
	if (o.descriptor->descriptor_kind == DESCRIPTOR_SUPER)
		return super_attribute(vm, o, name, out, err);
	if (o.descriptor->descriptor_kind == DESCRIPTOR_PROPERTY) {
		if (strcmp(name, "fget") == 0) {
			*out = value_ref(o.descriptor->get);
			return true;
		}
		return method(vm, NULL, o, name, out, err);
	}
	if (strcmp(name, "__func__") == 0) {
		*out = value_ref(o.descriptor->get);
		return true;
	}
	return op_attribute(vm, NULL, o.descriptor->get, name, out, err);
}

/* What a number of NumPy's has: a.mean().astype(int).  *found false: its arrays have no such
 * attribute. */
static bool numpy_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			    bool *found, struct err *err)
{
	struct value args[2] = { o, { .kind = VALUE_UNSET } }, f;
	bool ok;

	*found = false;
	if (name[0] == '_')
		return true;
	if (!prelude_attribute(vm, "numpy", "attribute_of_number", &f, found, err))
		return false;
	ok = vm_keep(vm, value_str(name, strlen(name)), &args[1], err) &&
	     vm_invoke(vm, f, &(struct arguments){ args, 2, NULL }, out, err);
	value_unref(args[1]);
	value_unref(f);
	*found = ok && out->kind != VALUE_NONE;
	return ok;
}

static bool number_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			     struct err *err)
{
	const char *scope = o.kind == VALUE_FLOAT ? "float" : "int";
	bool found = false;

	if (o.scalar && !numpy_attribute(vm, o, name, out, &found, err))
		return false;
	if (found)
		return true;
	if (strcmp(name, "real") == 0 ||
	    (strcmp(name, "numerator") == 0 && o.kind != VALUE_FLOAT)) {
		*out = o.kind == VALUE_BOOL ? value_int(o.b) : o;
		return true;
	}
	if (strcmp(name, "imag") == 0 ||
	    (strcmp(name, "denominator") == 0 && o.kind != VALUE_FLOAT)) {
		*out = name[0] == 'd'          ? value_int(1)
		       : o.kind == VALUE_FLOAT ? value_float(0)
					       : value_int(0);
		return true;
	}
	if (builtin_find(scope, name) >= 0)
		return vm_keep(vm, builtin_value(builtin_find(scope, name), o), out, err);
	return no_attribute(vm, value_type_name(o), scope, name, err);
}

static bool host_number_attribute(struct vm *vm, struct value o, const char *name,
				  struct value *out, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	return host->to_number(host->self, value_plain_kind(o), o, &o, err) &&
	       number_attribute(vm, o, name, out, err);
}

/* What a host does not know of a tensor is an AttributeError. */
/* A method of tensors that the prelude has: x.bernoulli_(). */
static bool prelude_method(struct vm *vm, struct value o, const char *name, struct value *out,
			   struct err *err)
{
	struct value f;
	bool found, ok;

	if (!prelude_attribute(vm, "torch.Tensor", name, &f, &found, err))
		return false;
	ok = vm_keep(vm, value_method(f, o), out, err);
	value_unref(f);
	return ok;
}

static bool tensor_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			     struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct value *own;
	struct err e = { 0 };

	if (o.tensor->attributes && (own = value_dict_find(o.tensor->attributes, name))) {
		if (!realize(vm, own, err))
			return false;
		*out = value_ref(*own);
		return true;
	}
	if (host->tensor_attr(host->self, o, name, out, &e))
		return true;
	if (e.code == ERR_NAME && prelude_defines("torch.Tensor", name))
		return prelude_method(vm, o, name, out, err);
	if (e.code == ERR_NAME && vm->raised.kind == VALUE_UNSET)
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err, "%s", e.message);
	if (err)
		*err = e;
	return false;
}

/* __class__ of all, and what only some objects have; *found false: neither. */
static bool common_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
			     bool *found, struct err *err)
{
	*found = true;
	if (strcmp(name, "__class__") == 0)
		return value_type(vm, o, out, err);
	switch (o.kind) {
	case VALUE_TUPLE:
		return namedtuple_attribute(vm, o.list, name, out, found, err);
	case VALUE_FUNCTION:
		return function_attribute(vm, o, name, out, found, err);
	case VALUE_NATIVE:
		return native_own(vm, o, name, out, found, err);
	case VALUE_GENERATOR:
		if (strcmp(name, "__name__") == 0 || strcmp(name, "__qualname__") == 0)
			return text(vm, o.generator->code->name, out, err);
		*found = strcmp(name, "__doc__") == 0;
		*out = value_none();
		return true;
	case VALUE_RANGE:
		*found = range_attribute(o.range, name, out);
		return true;
	case VALUE_SLICE:
		*found = slice_attribute(o.slice, name, out);
		return true;
	case VALUE_DTYPE:
		*found = dtype_attribute(o.dtype, name, out);
		return true;
	default:
		*found = false;
		return true;
	}
}

static bool has_slots(struct value o)
{
	if (value_is_hosted(o))
		return o.kind == VALUE_TENSOR;
	return o.kind != VALUE_MODULE && o.kind != VALUE_INSTANCE && o.kind != VALUE_CLASS &&
	       (o.kind != VALUE_DESCRIPTOR || o.descriptor->descriptor_kind != DESCRIPTOR_SUPER);
}

bool op_attribute(struct vm *vm, struct attr_site *site, struct value o, const char *name,
		  struct value *out, struct err *err)
{
	bool found;

	if (o.kind == VALUE_INSTANCE)
		return o.instance->class->has_getattribute
			   ? instance_getattribute(vm, o, name, out, err)
			   : instance_attribute(vm, o, name, out, err);
	if (name[0] == '_' && has_slots(o)) {
		if (!slot_attribute(vm, o, name, out, &found, err))
			return false;
		if (found)
			return true;
	}
	switch (o.kind) {
	case VALUE_MODULE:
		return o.module->file ? files_attribute(vm, site, o, name, out, err)
				      : module_attribute(vm, site, o, name, out, err);
	case VALUE_TENSOR:
		if (strcmp(name, "__class__") != 0)
			return tensor_attribute(vm, o, name, out, err);
		break;
	case VALUE_CLASS:
		return class_attribute(vm, o, name, out, err);
	case VALUE_METHOD:
		return bound_attribute(vm, o, name, out, err);
	case VALUE_DESCRIPTOR:
		return descriptor_attribute(vm, o, name, out, err);
	case VALUE_INT:
	case VALUE_BOOL:
	case VALUE_FLOAT:
		if (strcmp(name, "__class__") != 0)
			return number_attribute(vm, o, name, out, err);
		break;
	case VALUE_SYMINT:
	case VALUE_SYMBOOL:
	case VALUE_SYMREAL:
	case VALUE_SYMFLOAT:
	case VALUE_DEFERRED_INT:
	case VALUE_DEFERRED_BOOL:
		if (strcmp(name, "__class__") != 0)
			return host_number_attribute(vm, o, name, out, err);
		break;
	default:
		break;
	}
	if (o.kind != VALUE_TUPLE || o.list->fields || name[0] == '_') {
		if (!common_attribute(vm, o, name, out, &found, err))
			return false;
		if (found)
			return true;
	}
	if (value_is_text(o) || o.kind == VALUE_TUPLE || o.kind == VALUE_LIST ||
	    o.kind == VALUE_DICT || o.kind == VALUE_SET || o.kind == VALUE_GENERATOR ||
	    o.kind == VALUE_RANGE || (o.kind == VALUE_ITER && o.iter->view))
		return method(vm, site, o, name, out, err);
	return no_attribute(vm, value_type_name(o), "-", name, err);
}

bool op_find_attribute(struct vm *vm, struct value o, const char *name, struct value *out,
		       bool *found, struct err *err)
{
	struct err e = { 0 };
	const struct class *class = o.kind == VALUE_INSTANCE ? o.instance->class : NULL;
	bool is_plain = class && !class->has_getattribute && !class->has_getattr;

	*found = true;
	if (is_plain ? instance_find_attribute(vm, o, name, out, found, &e)
		     : op_attribute(vm, NULL, o, name, out, &e))
		return true;
	*found = false;
	if (vm_failed_with(vm, &e, CLASS_ATTRIBUTE_ERROR)) {
		vm_forget_raised(vm);
		return true;
	}
	if (err)
		*err = e;
	return false;
}

#define BUILTINS_OF_ATTRIBUTES
const struct builtin attributes_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
