/* fusion/vm/operators.c -- operators on any values: who computes, and
 * in what order sequences are compared. */
#include "fusion/vm/modules.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/call_host.h"
#include "fusion/vm/absent_modules.h"

#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/format.h"

/* ---- operators that a program's classes define. ---- */

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
static bool ask(struct vm *vm, const struct method_call *method, struct value *out, bool *found,
		struct err *err)
{
	if (!instance_call(vm, method, out, found, err)) {
		*found = false;
		return false;
	}
	if (*found && is_not_implemented(*out)) {
		value_unref(*out);
		*found = false;
	}
	return true;
}

static bool dunder_binary(struct vm *vm, const struct binary *x, struct value *out, bool *found,
			  struct err *err)
{
	const char *const *names = binary_names[x->op];
	const struct value *a = &x->a, *b = &x->b;
	const struct method_call reflected = { b, names[1], a, 1 };
	bool reflected_first = a->kind == VALUE_INSTANCE && b->kind == VALUE_INSTANCE &&
			       a->instance->class != b->instance->class &&
			       class_derives(b->instance->class, a->instance->class);

	*found = false;
	if (x->inplace &&
	    (!ask(vm, &(struct method_call){ a, names[2], b, 1 }, out, found, err) || *found))
		return *found;
	if (reflected_first && (!ask(vm, &reflected, out, found, err) || *found))
		return *found;
	if (!ask(vm, &(struct method_call){ a, names[0], b, 1 }, out, found, err) || *found)
		return *found;
	return reflected_first || ask(vm, &reflected, out, found, err);
}

static bool dunder_compare(struct vm *vm, const struct value_comparison *c, struct value *out,
			   bool *found, struct err *err)
{
	const char *const *names = compare_names[c->op];
	bool truth;

	*found = false;
	if (!ask(vm, &(struct method_call){ &c->a, names[0], &c->b, 1 }, out, found, err) || *found)
		return *found;
	if (!ask(vm, &(struct method_call){ &c->b, names[1], &c->a, 1 }, out, found, err) || *found)
		return *found;
	if (c->op != CMP_NE)
		return true;
	if (!dunder_compare(vm, &(struct value_comparison){ CMP_EQ, c->a, c->b }, out, found, err))
		return false;
	if (!*found)
		return true;
	*found = op_truth(vm, *out, &truth, err);
	value_unref(*out);
	*out = value_bool(*found && !truth);
	return *found;
}

static const char *unary_name(enum unop op)
{
	return op == UN_NEG ? "__neg__" : op == UN_POS ? "__pos__" : "__invert__";
}

static bool dunder_unary(struct vm *vm, enum unop op, struct value a, struct value *out,
			 bool *found, struct err *err)
{
	const char *name = unary_name(op);

	return instance_call(vm, &(struct method_call){ &a, name, NULL, 0 }, out, found, err);
}

/* bool() by __bool__, else by __len__, else true. */
static bool dunder_truth(struct vm *vm, struct value v, bool *out, struct err *err)
{
	struct value r;
	bool found, ok;

	*out = true;
	if (!instance_call(vm, &(struct method_call){ &v, "__bool__", NULL, 0 }, &r, &found, err))
		return false;
	if (!found && !class_lookup(v.instance->class, "__len__"))
		return true;
	if (!found)
		return op_length(vm, v, &r, err) && op_truth(vm, r, out, err);
	ok = r.kind == VALUE_BOOL || strcmp(value_type_name(r), "bool") == 0 ||
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
	       (v.kind == VALUE_NATIVE && (native_is_type(v.native) || native_is_typing(v.native)));
}

bool set_binary(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
		struct err *err)
{
	enum set_op set = op == BIN_OR    ? SET_UNION
			  : op == BIN_AND ? SET_INTERSECTION
			  : op == BIN_SUB ? SET_DIFFERENCE
					  : SET_SYMMETRIC;

	return set_combine(vm, set, a, b, out, err);
}

/* a op= b: a set keeps its identity, a frozenset does not. */
static bool set_inplace(struct vm *vm, enum binop op, struct value a, struct value b,
			struct value *out, struct err *err)
{
	bool ok;

	if (!set_binary(vm, op, a, b, out, err))
		return false;
	if (a.dict->frozen)
		return true;
	ok = set_replace(vm, a.dict, out->dict, err);
	value_unref(*out);
	*out = value_ref(a);
	return ok;
}

/* a op b of two sets, or of two types (a | b: a tuple of them). */
static bool set_or_type_binary(struct vm *vm, const struct binary *x, struct value *out,
			       bool *found, struct err *err)
{
	struct value a = x->a, b = x->b, pair[] = { a, b };
	enum binop op = x->op;

	*found = true;
	if (a.kind == VALUE_SET && b.kind == VALUE_SET &&
	    (op == BIN_OR || op == BIN_AND || op == BIN_SUB || op == BIN_XOR))
		return x->inplace ? set_inplace(vm, op, a, b, out, err)
				  : set_binary(vm, op, a, b, out, err);
	if ((is_set_view(a) || is_set_view(b)) &&
	    (op == BIN_OR || op == BIN_AND || op == BIN_SUB || op == BIN_XOR))
		return view_binary(vm, op, a, b, out, err);
	if (op == BIN_OR && is_type(a) && is_type(b) &&
	    (a.kind != VALUE_NONE || b.kind != VALUE_NONE))
		return typing_ask(vm, "type_joined", pair, 2, out, err);
	*found = false;
	return true;
}

/* Order of sets is being a part of one another. */
static bool set_order(struct vm *vm, const struct value_comparison *c, bool *out, struct err *err)
{
	bool turned = c->op == CMP_GE || c->op == CMP_GT;
	const struct dict *a = turned ? c->b.dict : c->a.dict, *b = turned ? c->a.dict : c->b.dict;

	*out = false;
	if ((c->op == CMP_LT || c->op == CMP_GT) && a->len >= b->len)
		return true;
	return set_within(vm, a, b, out, err);
}

static bool is_sequence(struct value v)
{
	return v.kind == VALUE_STR || v.kind == VALUE_TUPLE || v.kind == VALUE_LIST;
}

static bool unsupported(struct vm *vm, enum binop op, bool inplace, struct value a, struct value b,
			struct err *err)
{
	return absent_module_refused(vm, a, err) && absent_module_refused(vm, b, err) &&
	       err_set(err, ERR_TYPE, "unsupported operand type(s) for %s%s: '%s' and '%s'",
		       binop_symbol(op),
		       inplace         ? "="
		       : op == BIN_POW ? " or pow()"
				       : "",
		       value_type_name(a), value_type_name(b));
}

static bool concat_strings(struct vm *vm, const struct str *a, const struct str *b,
			   struct value *out, struct err *err)
{
	struct value v;

	if (!vm_room(vm, (int64_t)(a->len + b->len), 1, err))
		return false;
	v = value_str(NULL, a->len + b->len);
	if (v.kind == VALUE_STR) {
		memcpy(v.str->text, a->text, a->len);
		memcpy(v.str->text + a->len, b->text, b->len);
	}
	return vm_keep(vm, v, out, err);
}

/* Of which one is made when the graph has run. */
static bool concat_deferred(struct vm *vm, struct value a, struct value b, struct value *out,
			    struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };

	if (text_append(vm, a, &text, err) && text_append(vm, b, &text, err))
		return builtin_take_text(vm, &text, out, err);
	buf_finish(&text);
	return false;
}

static void append_all(struct list *to, const struct list *from)
{
	for (int i = 0; i < from->len; i++)
		to->at[to->len++] = value_ref(from->at[i]);
}

static bool concat(struct vm *vm, struct value a, struct value b, struct value *out,
		   struct err *err)
{
	int64_t n;
	struct value v;

	if (a.kind == VALUE_STR)
		return concat_strings(vm, a.str, b.str, out, err);
	n = (int64_t)a.list->len + b.list->len;
	if (!vm_room(vm, n, sizeof(struct value), err))
		return false;
	v = value_sequence(a.kind, (int)n);
	if (v.kind == a.kind) {
		append_all(v.list, a.list);
		append_all(v.list, b.list);
		v.list->is_size = a.list->is_size;
	}
	return vm_keep(vm, v, out, err);
}

static bool repeat_string(struct vm *vm, const struct str *s, int64_t times, struct value *out,
			  struct err *err)
{
	struct value v;

	if (s->len == 0 || times <= 0)
		return vm_keep(vm, value_str("", 0), out, err);
	if (times > INT32_MAX / (int64_t)s->len)
		return vm_out_of_memory(vm, err);
	if (!vm_room(vm, times * (int64_t)s->len, 1, err))
		return false;
	v = value_str(NULL, (size_t)times * s->len);
	for (int64_t i = 0; v.kind == VALUE_STR && i < times; i++)
		memcpy(v.str->text + (size_t)i * s->len, s->text, s->len);
	return vm_keep(vm, v, out, err);
}

static bool repeat(struct vm *vm, struct value s, struct value count, struct value *out,
		   struct err *err)
{
	struct value v;
	int64_t times;

	if (!op_index(vm, count, "the count of a repetition", &times, err))
		return false;
	if (s.kind == VALUE_STR)
		return repeat_string(vm, s.str, times, out, err);
	if (times < 0 || s.list->len == 0)
		times = 0;
	if (times > 0 && times > INT32_MAX / s.list->len)
		return vm_out_of_memory(vm, err);
	if (!vm_room(vm, times * s.list->len, sizeof(struct value), err))
		return false;
	v = value_sequence(s.kind, (int)times * s.list->len);
	for (int64_t i = 0; v.kind == s.kind && i < times; i++)
		append_all(v.list, s.list);
	return vm_keep(vm, v, out, err);
}

static bool merge_dicts(struct vm *vm, bool inplace, struct value a, struct value b,
			struct value *out, struct err *err)
{
	const struct dict *parts[] = { a.dict, b.dict };
	struct value v, key;
	bool ok = true;

	if (!vm_spend(vm, (int64_t)a.dict->len + b.dict->len, err))
		return false;
	if (inplace)
		v = value_ref(a);
	else if (!vm_keep(vm, value_dict(), &v, err))
		return false;
	for (int k = inplace; ok && k < 2; k++)
		for (int i = 0; ok && i < parts[k]->len; i++) {
			key = parts[k]->keys[i];
			ok = op_make_key(vm, v.dict, &key, err) &&
			     (value_dict_set(v.dict, key, parts[k]->values[i]) ||
			      vm_out_of_memory(vm, err));
		}
	if (ok)
		*out = v;
	else
		value_unref(v);
	return ok;
}

/* Lists and dicts change in place; all else makes a new value. */
static bool inplace_list(struct vm *vm, enum binop op, struct value a, struct value b,
			 struct value *out, struct err *err)
{
	struct value v;
	int64_t times;

	if (op == BIN_ADD) {
		if (!op_extend(vm, a.list, b, err))
			return false;
		*out = value_ref(a);
		return true;
	}
	if (!op_index(vm, b, "the count of a repetition", &times, err))
		return false;
	if (times <= 0) {
		object_clear(&a.list->head);
	} else {
		if (!repeat(vm, a, value_int(times - 1), &v, err))
			return false;
		if (!op_extend(vm, a.list, v, err)) {
			value_unref(v);
			return false;
		}
		value_unref(v);
	}
	*out = value_ref(a);
	return true;
}

/* Of a repetition: what may have an __index__. */
static bool may_count(struct value v)
{
	return value_is_integer(v) || v.kind == VALUE_SYMINT || v.kind == VALUE_DEFERRED_INT ||
	       v.kind == VALUE_TENSOR;
}

/* What a graph computes has no type of NumPy's: beside one that has, it is read. */
static bool untyped(struct vm *vm, struct value *a, struct value *b, struct err *err)
{
	struct value *v = a->scalar ? b : a;
	struct vm_host *host = vm_host_here(vm);

	return (!a->scalar && !b->scalar) || v->kind == VALUE_TENSOR || !value_is_hosted(*v) ||
	       host->to_number(host->self, value_plain_kind(*v), *v, v, err);
}

static bool hosted_binary(struct vm *vm, const struct binary *x, struct value *out, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct binary read = *x;

	if ((x->a.kind == VALUE_TENSOR || x->b.kind == VALUE_TENSOR) && in_function_mode(vm))
		return call_host_operator(vm, binary_names[x->op][x->inplace ? 2 : 0],
					  (struct value[]){ x->a, x->b }, 2, out, err);
	if (!untyped(vm, &read.a, &read.b, err))
		return false;
	if (value_is_number(read.a) && value_is_number(read.b))
		return number_binary(vm, x->op, read.a, read.b, out, err);
	return host->binary(host->self, x, out, err);
}

/* All but two numbers, and a tensor with a tensor or a number. */
static bool binary(struct vm *vm, const struct binary *x, struct value *out, struct err *err)
{
	struct value a = x->a, b = x->b;
	enum binop op = x->op;
	bool inplace = x->inplace, found;

	if (op == BIN_MOD && a.kind == VALUE_STR)
		return format_percent(vm, a.str, b, out, err);
	if (a.kind == VALUE_DEFERRED_TEXT || b.kind == VALUE_DEFERRED_TEXT) {
		if (op == BIN_ADD && value_is_text(a) && value_is_text(b))
			return concat_deferred(vm, a, b, out, err);
		if (a.kind != VALUE_INSTANCE && b.kind != VALUE_INSTANCE)
			return text_needed(vm, a.kind == VALUE_DEFERRED_TEXT ? a : b, err);
	}
	if (a.kind == VALUE_INSTANCE || b.kind == VALUE_INSTANCE) {
		if (!dunder_binary(vm, x, out, &found, err))
			return false;
		return found || unsupported(vm, op, inplace, a, b, err);
	}
	if (inplace && a.kind == VALUE_LIST &&
	    (op == BIN_MUL || (op == BIN_ADD && b.kind != VALUE_TENSOR)))
		return inplace_list(vm, op, a, b, out, err);
	if (op == BIN_MUL && is_sequence(a) && may_count(b))
		return repeat(vm, a, b, out, err);
	if (op == BIN_MUL && is_sequence(b) && may_count(a))
		return repeat(vm, b, a, out, err);
	if (a.kind == VALUE_TENSOR || b.kind == VALUE_TENSOR ||
	    (value_is_hosted(a) && (value_is_hosted(b) || value_is_number(b))) ||
	    (value_is_hosted(b) && value_is_number(a))) {
		return hosted_binary(vm, x, out, err);
	}
	if (op == BIN_ADD && is_sequence(a)) {
		if (a.kind == b.kind)
			return concat(vm, a, b, out, err);
		return err_set(err, ERR_TYPE, "can only concatenate %s (not \"%s\") to %s",
			       value_type_name(a), value_type_name(b), value_type_name(a));
	}
	if (op == BIN_MUL && (is_sequence(a) || is_sequence(b)))
		return err_set(err, ERR_TYPE, "can't multiply sequence by non-int of type '%s'",
			       value_type_name(is_sequence(a) ? b : a));
	if (op == BIN_OR && a.kind == VALUE_DICT && b.kind == VALUE_DICT)
		return merge_dicts(vm, inplace, a, b, out, err);
	if (op == BIN_OR && inplace && a.kind == VALUE_DICT) {
		struct native update = { .name = "update", .builtin = true, .self = a };

		update.id = builtin_find("dict", "update");
		if (!builtin_call(vm, &update, &(struct arguments){ &b, 1, NULL }, out, err))
			return false;
		*out = value_ref(a);
		return true;
	}
	if (!set_or_type_binary(vm, x, out, &found, err))
		return false;
	if (found)
		return true;
	return unsupported(vm, op, inplace, a, b, err);
}

/* A tensor with a tensor or a number: the host's at once. */
static inline bool is_of_tensors(struct value a, struct value b)
{
	return (a.kind == VALUE_TENSOR && (b.kind == VALUE_TENSOR || value_is_number(b))) ||
	       (b.kind == VALUE_TENSOR && value_is_number(a));
}

static inline bool apply(struct vm *vm, const struct binary *x, struct value *out, struct err *err)
{
	struct vm_host *host;

	if (is_of_tensors(x->a, x->b) && !in_function_mode(vm)) {
		host = vm_host_here(vm);
		return host->binary(host->self, x, out, err);
	}
	if (value_is_number(x->a) && value_is_number(x->b))
		return number_binary(vm, x->op, x->a, x->b, out, err);
	return binary(vm, x, out, err);
}

bool op_binary(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
	       struct err *err)
{
	return apply(vm, &(struct binary){ op, false, a, b }, out, err);
}

bool op_inplace(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
		struct err *err)
{
	return apply(vm, &(struct binary){ op, true, a, b }, out, err);
}

bool op_unary(struct vm *vm, enum unop op, struct value a, struct value *out, struct err *err)
{
	bool truth;

	if (op == UN_NOT && !(vm->host->branch && value_is_hosted(a))) {
		if (!op_truth(vm, a, &truth, err))
			return false;
		*out = value_bool(!truth);
		return true;
	}
	if (value_is_number(a))
		return number_unary(vm, op, a, out, err);
	if (value_is_hosted(a)) {
		struct vm_host *host = vm_host_here(vm);

		if (a.kind == VALUE_TENSOR && in_function_mode(vm))
			return call_host_operator(vm, unary_name(op), &a, 1, out, err);
		return host->unary(host->self, op, a, out, err);
	}
	if (!dunder_unary(vm, op, a, out, &truth, err))
		return false;
	if (truth)
		return true;
	return err_set(err, ERR_TYPE, "bad operand type for unary %s: '%s'", unop_symbol(op),
		       value_type_name(a));
}

bool op_truth(struct vm *vm, struct value v, bool *out, struct err *err)
{
	switch (v.kind) {
	case VALUE_NONE:
		*out = false;
		return true;
	case VALUE_BOOL:
		*out = v.b;
		return true;
	case VALUE_INT:
		*out = v.i != 0;
		return true;
	case VALUE_FLOAT:
		*out = v.f != 0;
		return true;
	case VALUE_STR:
		*out = v.str->len > 0;
		return true;
	case VALUE_TUPLE:
	case VALUE_LIST:
		*out = v.list->len > 0;
		return true;
	case VALUE_DICT:
	case VALUE_SET:
		*out = v.dict->len > 0;
		return true;
	case VALUE_INSTANCE:
		return dunder_truth(vm, v, out, err);
	case VALUE_RANGE:
		*out = range_length(v.range) > 0;
		return true;
	case VALUE_ITER:
		*out = !v.iter->view || v.iter->over.dict->len > 0;
		return true;
	case VALUE_TENSOR:
	case VALUE_SYMFLOAT:
	case VALUE_DEFERRED_INT:
	case VALUE_DEFERRED_BOOL:
	case VALUE_DEFERRED_TEXT:
	case VALUE_SYMBOOL:
	case VALUE_SYMREAL:
	case VALUE_SYMINT: {
		struct vm_host *host = vm_host_here(vm);

		return host->truth(host->self, v, out, err);
	}
	default:
		*out = true;
		return true;
	}
}

bool op_same(struct value a, struct value b)
{
	if (a.head != b.head)
		return false;
	if (a.kind == VALUE_STR || a.kind == VALUE_NATIVE || a.kind == VALUE_MODULE)
		return value_equal(a, b); /* one object each in CPython, mostly */
	if (value_counted(a))
		return a.object == b.object;
	return value_equal(a, b);
}

bool op_is(struct vm *vm, struct value a, struct value b)
{
	bool same = op_same(a, b);
	const struct vm_host *host = same || !value_counted(a) ? NULL : vm_host_here(vm);

	if (host && host->found_distinct && a.kind == b.kind)
		host->found_distinct(host->self, a, b);
	return same;
}

static bool hosted_compare(struct vm *vm, enum cmpop op, struct value a, struct value b, bool *out,
			   struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct value v;
	bool ok;

	if (!host->compare(host->self, op, a, b, &v, err))
		return false;
	ok = op_truth(vm, v, out, err);
	value_unref(v);
	return ok;
}

/* a op b by the methods of an instance, as a truth; *found as in operators.h. */
static bool object_compare(struct vm *vm, const struct value_comparison *c, bool *out, bool *found,
			   struct err *err)
{
	struct value v;
	bool ok;

	if (!dunder_compare(vm, c, &v, found, err))
		return false;
	if (!*found)
		return true;
	ok = op_truth(vm, v, out, err);
	value_unref(v);
	*found = ok;
	return ok;
}

static bool comparable_by_host(struct value a, struct value b)
{
	return (value_is_hosted(a) && (value_is_hosted(b) || value_is_number(b))) ||
	       (value_is_hosted(b) && value_is_number(a));
}

/* One is made when the graph has run; *found: and how they compare is not known. */
static bool deferred_compare(struct vm *vm, struct value a, struct value b, bool *found,
			     struct err *err)
{
	*found = (a.kind == VALUE_DEFERRED_TEXT && value_is_text(b)) ||
		 (b.kind == VALUE_DEFERRED_TEXT && value_is_text(a));
	return !*found || text_needed(vm, a.kind == VALUE_DEFERRED_TEXT ? a : b, err);
}

enum { DEEPEST = 100 };

static bool equal_in(struct vm *vm, struct value a, struct value b, int depth, bool *out,
		     struct err *err);

/* Of containers that are compared; identity comes before ==, as in Python. */
static bool equal_item(struct vm *vm, struct value *a, struct value *b, int depth, bool *out,
		       struct err *err)
{
	*out = true;
	if (!realize(vm, a, err) || !realize(vm, b, err))
		return false;
	return (op_is(vm, *a, *b) && a->kind != VALUE_FLOAT) ||
	       equal_in(vm, *a, *b, depth + 1, out, err);
}

static bool equal_lists(struct vm *vm, const struct list *a, const struct list *b, int depth,
			bool *out, struct err *err)
{
	*out = a->len == b->len;
	for (int i = 0, n = a->len; i < n && *out; i++)
		if (!equal_item(vm, &a->at[i], &b->at[i], depth, out, err))
			return false;
	return true;
}

static bool equal_dicts(struct vm *vm, struct dict *a, struct dict *b, int depth, bool *out,
			struct err *err)
{
	*out = a->len == b->len;
	for (int i = 0; i < a->len && *out; i++) {
		struct value key = a->keys[i], *other;

		if (!op_make_key(vm, b, &key, err))
			return false;
		other = value_dict_place(b, key);
		if (!other)
			*out = false;
		else if (!equal_item(vm, &a->values[i], other, depth, out, err))
			return false;
	}
	return true;
}

static bool equal_in(struct vm *vm, struct value a, struct value b, int depth, bool *out,
		     struct err *err)
{
	bool found = false;

	if (depth > DEEPEST)
		return err_set(err, ERR_RECURSION,
			       "maximum recursion depth exceeded in comparison: the values are "
			       "nested more than %d deep",
			       DEEPEST);
	if (!vm_spend(vm, 1, err))
		return false;
	if (comparable_by_host(a, b))
		return hosted_compare(vm, CMP_EQ, a, b, out, err);
	if (!deferred_compare(vm, a, b, &found, err))
		return false;
	if (a.kind == VALUE_INSTANCE || b.kind == VALUE_INSTANCE) {
		if (!object_compare(vm, &(struct value_comparison){ CMP_EQ, a, b }, out, &found,
				    err))
			return false;
		if (found)
			return true;
	}
	if (a.kind == b.kind && (a.kind == VALUE_TUPLE || a.kind == VALUE_LIST))
		return equal_lists(vm, a.list, b.list, depth, out, err);
	if (a.kind == b.kind && a.kind == VALUE_DICT)
		return equal_dicts(vm, a.dict, b.dict, depth, out, err);
	if (is_set_view(a) || is_set_view(b)) {
		if (!view_compare(vm, &(struct value_comparison){ CMP_EQ, a, b }, out, &found, err))
			return false;
		if (found)
			return true;
	}
	if (a.kind == VALUE_SET && b.kind == VALUE_SET && a.dict->len == b.dict->len)
		return set_within(vm, a.dict, b.dict, out, err);
	*out = value_equal(a, b);
	return true;
}

bool op_equal(struct vm *vm, struct value a, struct value b, bool *out, struct err *err)
{
	return equal_in(vm, a, b, 0, out, err);
}

static bool order_holds(enum cmpop op, int order)
{
	switch (op) {
	case CMP_LT:
		return order == -1;
	case CMP_LE:
		return order == -1 || order == 0;
	case CMP_GT:
		return order == 1;
	case CMP_GE:
		return order == 1 || order == 0;
	default:
		return false;
	}
}

/* False: they are not two numbers. */
static inline bool order_numbers(enum cmpop op, struct value a, struct value b, bool *out)
{
	if (!value_is_number(a) || !value_is_number(b))
		return false;
	*out = order_holds(op, number_order(a, b));
	return true;
}

static int order_strings(const struct str *a, const struct str *b)
{
	/* UTF-8 bytes compare as their code points do */
	int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);

	if (order == 0)
		return a->len < b->len ? -1 : a->len > b->len;
	return order < 0 ? -1 : 1;
}

static bool ordered(struct vm *vm, const struct value_comparison *c, int depth, bool *out,
		    struct err *err);

/* Of two sequences: the first items that differ decide, else the lengths. */
static bool order_items(struct vm *vm, const struct value_comparison *c, int depth, bool *out,
			struct err *err)
{
	const struct list *a = c->a.list, *b = c->b.list;
	int n = a->len < b->len ? a->len : b->len;
	bool same = true;

	for (int i = 0; i < n; i++) {
		if (!equal_item(vm, &a->at[i], &b->at[i], depth, &same, err))
			return false;
		if (!same)
			return ordered(vm, &(struct value_comparison){ c->op, a->at[i], b->at[i] },
				       depth + 1, out, err);
	}
	*out = order_holds(c->op, a->len < b->len ? -1 : a->len > b->len);
	return true;
}

static bool ordered(struct vm *vm, const struct value_comparison *c, int depth, bool *out,
		    struct err *err)
{
	struct value a = c->a, b = c->b;
	enum cmpop op = c->op;
	bool found;

	if (order_numbers(op, a, b, out))
		return true;
	if (comparable_by_host(a, b))
		return hosted_compare(vm, op, a, b, out, err);
	if (!deferred_compare(vm, a, b, &found, err))
		return false;
	if (a.kind == VALUE_INSTANCE || b.kind == VALUE_INSTANCE) {
		if (!object_compare(vm, c, out, &found, err))
			return false;
		if (found)
			return true;
	}
	if (!view_compare(vm, c, out, &found, err))
		return false;
	if (found)
		return true;
	if (a.kind == VALUE_SET && b.kind == VALUE_SET)
		return set_order(vm, c, out, err);
	if (a.kind == VALUE_STR && b.kind == VALUE_STR) {
		*out = order_holds(op, order_strings(a.str, b.str));
		return true;
	}
	if (a.kind == b.kind && (a.kind == VALUE_TUPLE || a.kind == VALUE_LIST))
		return order_items(vm, c, depth, out, err);
	return err_set(err, ERR_TYPE, "'%s' not supported between instances of '%s' and '%s'",
		       cmpop_symbol(op), value_type_name(a), value_type_name(b));
}

bool op_less(struct vm *vm, struct value a, struct value b, bool *out, struct err *err)
{
	return order_numbers(CMP_LT, a, b, out) ||
	       ordered(vm, &(struct value_comparison){ CMP_LT, a, b }, 0, out, err);
}

static double compared(struct value v, struct value with)
{
	return v.scalar ? value_as_double(v) : scalar_round(value_as_double(v), with.scalar);
}

/* Numbers of which one is NumPy's: a float of Python's is compared in the other's type. */
static bool scalar_compare(enum cmpop op, struct value a, struct value b, struct value *out)
{
	int order;

	if (!value_is_number(a) || !value_is_number(b))
		return false;
	if (a.kind == VALUE_FLOAT && b.kind == VALUE_FLOAT)
		order = number_order(value_float(compared(a, b)), value_float(compared(b, a)));
	else
		order = number_order(a, b);
	*out = value_bool(op == CMP_EQ   ? order == 0
			  : op == CMP_NE ? order != 0
					 : order_holds(op, order));
	out->scalar = SCALAR_BOOL;
	return true;
}

bool op_compare(struct vm *vm, enum cmpop op, struct value a, struct value b, struct value *out,
		struct err *err)
{
	struct vm_host *host;
	bool holds = false, ok = true;

	switch (op) {
	case CMP_IS:
	case CMP_IS_NOT:
		if (!deferred_compare(vm, a, b, &holds, err))
			return false;
		holds = op_is(vm, a, b) == (op == CMP_IS);
		break;
	case CMP_IN:
	case CMP_NOT_IN:
		ok = op_contains(vm, b, a, &holds, err);
		holds = holds == (op == CMP_IN);
		break;
	default:
		if (__builtin_expect(a.scalar | b.scalar, 0)) {
			if (!untyped(vm, &a, &b, err))
				return false;
			if (scalar_compare(op, a, b, out))
				return true;
		}
		if (comparable_by_host(a, b)) {
			if ((a.kind == VALUE_TENSOR || b.kind == VALUE_TENSOR) &&
			    in_function_mode(vm))
				return call_host_operator(vm, compare_names[op][0],
							  (struct value[]){ a, b }, 2, out, err);
			host = vm_host_here(vm);
			return host->compare(host->self, op, a, b, out, err);
		}
		if (a.kind == VALUE_INSTANCE || b.kind == VALUE_INSTANCE) {
			if (!dunder_compare(vm, &(struct value_comparison){ op, a, b }, out, &holds,
					    err))
				return false;
			if (holds)
				return true;
		}
		if (op == CMP_EQ || op == CMP_NE) {
			ok = op_equal(vm, a, b, &holds, err);
			holds = holds == (op == CMP_EQ);
		} else if (!order_numbers(op, a, b, &holds)) {
			ok = ordered(vm, &(struct value_comparison){ op, a, b }, 0, &holds, err);
		}
	}
	if (ok)
		*out = value_bool(holds);
	return ok;
}
