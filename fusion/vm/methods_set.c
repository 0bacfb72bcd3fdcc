/* fusion/vm/methods_set.c -- set, frozenset and their methods.
 *
 * A set is a dict whose values are None; it iterates in order of insertion. */
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

static bool set_insert(struct vm *vm, struct dict *set, struct value item, struct err *err)
{
	if (!op_make_key(vm, set, &item, err))
		return false;
	if (!heap_adopt(vm->heap, &set->head) || !value_dict_set(set, item, value_none()))
		return vm_out_of_memory(vm, err);
	return vm_spend(vm, 1, err);
}

static bool set_extend(struct vm *vm, struct dict *set, struct value items, struct err *err)
{
	struct value it, item;
	bool more, ok = true;

	if (!op_iter(vm, items, &it, err))
		return false;
	while (ok) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = realize(vm, &item, err) && set_insert(vm, set, item, err);
		value_unref(item);
	}
	value_unref(it);
	return ok;
}

static bool make_set(struct vm *vm, bool frozen, struct value items, struct value *out,
		     struct err *err)
{
	struct value v;

	if (!vm_keep(vm, value_set(frozen), &v, err))
		return false;
	if (items.kind != VALUE_UNSET && !set_extend(vm, v.dict, items, err)) {
		value_unref(v);
		return false;
	}
	*out = v;
	return true;
}

static bool builtin_set(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return make_set(vm, false, call->n ? call->args[0] : (struct value){ 0 }, out, err);
}

static bool builtin_frozenset(struct vm *vm, const struct builtin_call *call, struct value *out,
			      struct err *err)
{
	return make_set(vm, true, call->n ? call->args[0] : (struct value){ 0 }, out, err);
}

static bool set_copy(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	return make_set(vm, call->self.dict->frozen, call->self, out, err);
}

static bool set_add(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	*out = value_none();
	return set_insert(vm, call->self.dict, call->args[0], err);
}

static bool set_discard(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct value key = call->args[0];

	*out = value_none();
	if (!op_make_key(vm, call->self.dict, &key, err) ||
	    !vm_spend(vm, call->self.dict->len / 4, err))
		return false;
	value_dict_remove(call->self.dict, key);
	return true;
}

static bool set_remove(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	struct value key = call->args[0];
	struct buf text = { .limit = 200 };

	*out = value_none();
	if (!op_make_key(vm, call->self.dict, &key, err) ||
	    !vm_spend(vm, call->self.dict->len / 4, err))
		return false;
	if (value_dict_remove(call->self.dict, key))
		return true;
	value_print(&text, key, false);
	vm_raise_key(vm, key, err, text.data ? text.data : "no such item");
	buf_finish(&text);
	return false;
}

static bool set_pop(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	struct dict *set = call->self.dict;

	if (set->len == 0)
		return vm_raise(vm, CLASS_KEY_ERROR, err, "pop from an empty set");
	*out = value_ref(set->keys[0]);
	value_dict_remove(set, *out);
	return vm_spend(vm, set->len / 4, err);
}

/* Those of `a` that are (wanted) or are not in `b`, a set. */
static bool pick(struct vm *vm, const struct dict *a, const struct dict *b, bool wanted,
		 struct dict *to, struct err *err)
{
	struct value none, key;

	for (int i = 0; i < a->len; i++) {
		key = a->keys[i];
		if (!op_make_key(vm, b, &key, err))
			return false;
		if (value_dict_get(b, key, &none) == wanted &&
		    !value_dict_set(to, a->keys[i], value_none()))
			return vm_out_of_memory(vm, err);
	}
	return vm_spend(vm, a->len, err);
}

/* `v` as a set: itself, or a new one of its items. */
static bool as_set(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	if (v.kind != VALUE_SET)
		return make_set(vm, false, v, out, err);
	*out = value_ref(v);
	return true;
}

bool set_combine(struct vm *vm, enum set_op op, struct value a, struct value b, struct value *out,
		 struct err *err)
{
	struct value other, v;
	bool ok;

	if (!as_set(vm, b, &other, err))
		return false;
	ok = vm_keep(vm, value_set(a.dict->frozen), &v, err);
	if (ok) {
		switch (op) {
		case SET_UNION:
			ok = set_extend(vm, v.dict, a, err) && set_extend(vm, v.dict, other, err);
			break;
		case SET_INTERSECTION:
			ok = pick(vm, a.dict, other.dict, true, v.dict, err);
			break;
		case SET_DIFFERENCE:
			ok = pick(vm, a.dict, other.dict, false, v.dict, err);
			break;
		case SET_SYMMETRIC:
			ok = pick(vm, a.dict, other.dict, false, v.dict, err) &&
			     pick(vm, other.dict, a.dict, false, v.dict, err);
			break;
		}
		if (ok)
			*out = v;
		else
			value_unref(v);
	}
	value_unref(other);
	return ok;
}

/* self with each argument in turn. */
static bool fold(struct vm *vm, const struct builtin_call *call, enum set_op op, struct value *out,
		 struct err *err)
{
	struct value v, next;

	if (!set_copy(vm, call, &v, err))
		return false;
	for (int i = 0; i < call->n; i++) {
		if (!set_combine(vm, op, v, call->args[i], &next, err)) {
			value_unref(v);
			return false;
		}
		value_unref(v);
		v = next;
	}
	*out = v;
	return true;
}

bool set_replace(struct vm *vm, struct dict *set, const struct dict *items, struct err *err)
{
	object_clear(&set->head);
	for (int i = 0; i < items->len; i++)
		if (!value_dict_set(set, items->keys[i], value_none()))
			return vm_out_of_memory(vm, err);
	return vm_spend(vm, items->len, err);
}

static bool fold_in_place(struct vm *vm, const struct builtin_call *call, enum set_op op,
			  struct value *out, struct err *err)
{
	struct value v;
	bool ok;

	*out = value_none();
	if (!fold(vm, call, op, &v, err))
		return false;
	ok = set_replace(vm, call->self.dict, v.dict, err);
	value_unref(v);
	return ok;
}

#define METHOD(name, how, op)                                                                      \
	static bool name(struct vm *vm, const struct builtin_call *call, struct value *out,        \
			 struct err *err)                                                          \
	{                                                                                          \
		return how(vm, call, op, out, err);                                                \
	}
METHOD(set_union, fold, SET_UNION)
METHOD(set_intersection, fold, SET_INTERSECTION)
METHOD(set_difference, fold, SET_DIFFERENCE)
METHOD(set_symmetric_difference, fold, SET_SYMMETRIC)
METHOD(set_intersection_update, fold_in_place, SET_INTERSECTION)
METHOD(set_difference_update, fold_in_place, SET_DIFFERENCE)
METHOD(set_symmetric_difference_update, fold_in_place, SET_SYMMETRIC)
#undef METHOD

static bool set_update(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	*out = value_none();
	for (int i = 0; i < call->n; i++)
		if (!set_extend(vm, call->self.dict, call->args[i], err))
			return false;
	return true;
}

/* How many of a's keys b has. */
static bool count_common(struct vm *vm, const struct dict *a, const struct dict *b, int *out,
			 struct err *err)
{
	struct value none, key;

	*out = 0;
	for (int i = 0; i < a->len; i++) {
		key = a->keys[i];
		if (!op_make_key(vm, b, &key, err))
			return false;
		*out += value_dict_get(b, key, &none);
	}
	return vm_spend(vm, a->len, err);
}

bool set_within(struct vm *vm, const struct dict *a, const struct dict *b, bool *out,
		struct err *err)
{
	int common;

	if (!count_common(vm, a, b, &common, err))
		return false;
	*out = common == a->len;
	return true;
}

static bool relation(struct vm *vm, const struct builtin_call *call, int which, struct value *out,
		     struct err *err)
{
	struct value other;
	struct dict *self = call->self.dict;
	int common = 0;
	bool ok;

	if (!as_set(vm, call->args[0], &other, err))
		return false;
	if (which == 1)
		ok = count_common(vm, other.dict, self, &common, err);
	else
		ok = count_common(vm, self, other.dict, &common, err);
	*out = value_bool(common == (which == 2 ? 0 : which == 1 ? other.dict->len : self->len));
	value_unref(other);
	return ok;
}

static bool set_issubset(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	return relation(vm, call, 0, out, err);
}

static bool set_issuperset(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	return relation(vm, call, 1, out, err);
}

static bool set_isdisjoint(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	return relation(vm, call, 2, out, err);
}

/* ---- views of dicts ---- */

bool view_binary(struct vm *vm, enum binop op, struct value a, struct value b, struct value *out,
		 struct err *err)
{
	struct value pair[2] = { a, b }, sets[2];
	bool ok = true;
	int n = 0;

	for (; ok && n < 2; n += ok) {
		ok = vm_keep(vm, value_set(false), &sets[n], err);
		if (ok && !set_extend(vm, sets[n].dict, pair[n], err)) {
			value_unref(sets[n]);
			ok = false;
		}
	}
	ok = ok && set_binary(vm, op, sets[0], sets[1], out, err);
	while (n > 0)
		value_unref(sets[--n]);
	return ok;
}

bool view_contains(struct vm *vm, const struct iter *view, struct value item, bool *out,
		   struct err *err)
{
	struct dict *dict = view->over.dict;
	struct value key = item, *place;

	*out = false;
	if (view->iter_kind == ITER_ITEMS) {
		if (item.kind != VALUE_TUPLE || item.list->len != 2)
			return true;
		if (!realize(vm, &item.list->at[0], err) || !realize(vm, &item.list->at[1], err))
			return false;
		key = item.list->at[0];
	}
	if (!op_make_key(vm, dict, &key, err))
		return false;
	place = value_dict_place(dict, key);
	if (!place || view->iter_kind != ITER_ITEMS) {
		*out = place != NULL;
		return true;
	}
	if (!realize(vm, place, err))
		return false;
	*out = op_same(*place, item.list->at[1]);
	return *out || op_equal(vm, *place, item.list->at[1], out, err);
}

/* Whether all that is in `a` is in `b`. */
static bool within(struct vm *vm, struct value a, struct value b, bool *out, struct err *err)
{
	struct value it, item;
	bool more = true, ok;

	*out = true;
	if (!op_iter(vm, a, &it, err))
		return false;
	do {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = vm_spend(vm, 1, err) && op_contains(vm, b, item, out, err);
		value_unref(item);
	} while (ok && *out);
	value_unref(it);
	return ok;
}

/* *found false: one of them is no view, or the other no set. */
bool view_compare(struct vm *vm, const struct value_comparison *c, bool *out, bool *found,
		  struct err *err)
{
	struct value a = c->a, b = c->b, n, m;
	enum cmpop op = c->op;
	bool swapped = op == CMP_GT || op == CMP_GE;

	*found = (is_set_view(a) && (is_set_view(b) || b.kind == VALUE_SET)) ||
		 (is_set_view(b) && a.kind == VALUE_SET);
	if (!*found)
		return true;
	if (!op_length(vm, swapped ? b : a, &n, err) || !op_length(vm, swapped ? a : b, &m, err))
		return false;
	*out = op == CMP_EQ || op == CMP_NE   ? n.i == m.i
	       : op == CMP_LT || op == CMP_GT ? n.i < m.i
					      : n.i <= m.i;
	if (*out && !within(vm, swapped ? b : a, swapped ? a : b, out, err))
		return false;
	*out = *out == (op != CMP_NE);
	return true;
}

static bool view_isdisjoint(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	struct value it, item;
	bool more = true, ok, held = false;

	if (!op_iter(vm, call->args[0], &it, err))
		return false;
	do {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = vm_spend(vm, 1, err) && op_contains(vm, call->self, item, &held, err);
		value_unref(item);
	} while (ok && !held);
	value_unref(it);
	*out = value_bool(!held);
	return ok;
}

#define BUILTINS_OF_METHODS_SET
const struct builtin methods_set_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
