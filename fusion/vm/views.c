/* fusion/vm/views.c -- d.keys() and d.items() as sets. */
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

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

#define BUILTINS_OF_VIEWS
const struct builtin views_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
