/* fusion/vm/store.c -- o[index] = v and del o[index]. */
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

/* Items [from, from + gone) become the n items at `at`, which are referenced. */
static bool splice(struct vm *vm, struct list *list, int from, int gone, const struct value *at,
		   int n, struct err *err)
{
	struct value *old;
	int tail = list->len - from - gone;

	if (!heap_adopt(vm->heap, &list->head) || !vm_spend(vm, n + tail / 16, err))
		return vm_out_of_memory(vm, err);
	old = malloc(sizeof(*old) * (size_t)(gone + 1));
	if (!old)
		return vm_out_of_memory(vm, err);
	if (gone > 0) /* an empty list has no memory */
		memcpy(old, list->at + from, sizeof(*old) * (size_t)gone);
	for (int i = gone; i < n; i++)
		if (!value_list_push(list,
				     value_none())) { /* room, with items that count nothing */
			list->len -= i - gone;
			free(old);
			return vm_out_of_memory(vm, err);
		}
	list->len = from + n + tail;
	if (tail > 0)
		memmove(list->at + from + n, list->at + from + gone, sizeof(*old) * (size_t)tail);
	for (int i = 0; i < n; i++)
		list->at[from + i] = value_ref(at[i]);
	for (int i = 0; i < gone; i++) /* last: what they free may look at the list */
		value_unref(old[i]);
	free(old);
	return true;
}

static bool store_stepped(struct vm *vm, struct list *list, const struct cut *cut,
			  const struct list *items, struct err *err)
{
	if (items->len != cut->count)
		return vm_raise(vm, CLASS_VALUE_ERROR, err,
				"attempt to assign sequence of size %d to extended slice of size "
				"%lld",
				items->len, (long long)cut->count);
	for (int i = 0; i < items->len; i++) {
		struct value *place = &list->at[cut->start + i * cut->step], old = *place;

		*place = value_ref(items->at[i]);
		value_unref(old);
	}
	return vm_spend(vm, items->len, err);
}

static bool store_slice(struct vm *vm, struct list *list, const struct slice *s, struct value v,
			struct err *err)
{
	struct value items;
	struct cut cut;
	bool ok;

	if (!vm_keep(vm, value_list(NULL, 0), &items, err))
		return false;
	ok = op_extend(vm, items.list, v, err) && op_cut(vm, s, list->len, &cut, err);
	if (ok && cut.step != 1)
		ok = store_stepped(vm, list, &cut, items.list, err);
	else if (ok)
		ok = splice(vm, list, (int)cut.start, (int)cut.count, items.list->at,
			    items.list->len, err);
	value_unref(items);
	return ok;
}

static bool no_assignment(struct vm *vm, struct value o, const char *what, struct err *err)
{
	return vm_raise(vm, CLASS_TYPE_ERROR, err, "'%s' object does not support item %s",
			value_type_name(o), what);
}

static bool store_list(struct vm *vm, struct list *list, struct value index, struct value v,
		       struct err *err)
{
	struct value old;
	int64_t at;

	if (index.kind == VALUE_SLICE)
		return store_slice(vm, list, index.slice, v, err);
	if (!op_position(vm, index, "list assignment", list->len, &at, err))
		return false;
	old = list->at[at];
	list->at[at] = value_ref(v);
	value_unref(old);
	return true;
}

bool op_store_subscript(struct vm *vm, struct value o, struct value index, struct value v,
			struct err *err)
{
	struct value args[] = { index, v }, none;
	struct vm_host *host;
	bool found;

	switch (o.kind) {
	case VALUE_TENSOR:
		host = vm_host_here(vm);
		return host->store_subscript(host->self, o, index, v, err);
	case VALUE_LIST:
		return store_list(vm, o.list, index, v, err);
	case VALUE_DICT:
		if (!op_make_key(vm, &index, err))
			return false;
		if (!heap_adopt(vm->heap, o.object) || !value_dict_set(o.dict, index, v))
			return vm_out_of_memory(vm, err);
		return true;
	default:
		if (!instance_call(vm, o, "__setitem__", args, 2, &none, &found, err))
			return false;
		if (!found)
			return no_assignment(vm, o, "assignment", err);
		value_unref(none);
		return true;
	}
}

static bool delete_from_list(struct vm *vm, struct list *list, struct value index, struct err *err)
{
	struct cut cut;
	int64_t at;

	if (index.kind != VALUE_SLICE)
		return op_position(vm, index, "list assignment", list->len, &at, err) &&
		       splice(vm, list, (int)at, 1, NULL, 0, err);
	if (!op_cut(vm, index.slice, list->len, &cut, err))
		return false;
	if (cut.step == 1)
		return splice(vm, list, (int)cut.start, (int)cut.count, NULL, 0, err);
	for (int64_t i = 0; i < cut.count; i++) { /* from the end, so that places stay */
		int64_t k = cut.step > 0 ? cut.count - 1 - i : i;

		if (!splice(vm, list, (int)(cut.start + k * cut.step), 1, NULL, 0, err))
			return false;
	}
	return true;
}

bool op_delete_subscript(struct vm *vm, struct value o, struct value index, struct err *err)
{
	struct value none;
	bool found;

	switch (o.kind) {
	case VALUE_LIST:
		return delete_from_list(vm, o.list, index, err);
	case VALUE_DICT:
		if (!op_make_key(vm, &index, err) || !vm_spend(vm, o.dict->len / 4, err))
			return false;
		return value_dict_remove(o.dict, index) || op_no_key(vm, index, err);
	default:
		if (!instance_call(vm, o, "__delitem__", &index, 1, &none, &found, err))
			return false;
		if (!found)
			return no_assignment(vm, o, "deletion", err);
		value_unref(none);
		return true;
	}
}
