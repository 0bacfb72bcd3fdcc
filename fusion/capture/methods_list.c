/* fusion/capture/methods_list.c -- methods of lists, tuples and dicts. */
#include <string.h>

#include "fusion/capture/builtins.h"
#include "fusion/capture/operators.h"

/* A list or dict that a host made joins the VM's heap when it may grow. */
static bool adopt(struct vm *vm, const struct builtin_call *call, struct err *err)
{
	return heap_adopt(vm->heap, call->self.object) || vm_out_of_memory(vm, err);
}

bool list_append(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	*out = value_none();
	if (!adopt(vm, call, err))
		return false;
	return value_list_push(call->self.list, call->args[0]) || vm_out_of_memory(vm, err);
}

bool list_clear(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	(void)vm, (void)err;
	object_clear(call->self.object);
	*out = value_none();
	return true;
}

bool list_copy(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	const struct list *list = call->self.list;

	return vm_room(vm, list->len, sizeof(struct value), err) &&
	       vm_keep(vm, value_list(list->at, list->len), out, err);
}

bool list_extend(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	*out = value_none();
	return op_extend(vm, call->self.list, call->args[0], err);
}

bool list_insert(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct list *list = call->self.list;
	int64_t at;

	if (!op_index(vm, call->args[0], "the place of insert()", &at, err) ||
	    !adopt(vm, call, err) || !vm_spend(vm, list->len / 16, err))
		return false;
	if (!value_list_push(list, call->args[1]))
		return vm_out_of_memory(vm, err);
	if (at < 0)
		at += list->len - 1;
	at = at < 0 ? 0 : at > list->len - 1 ? list->len - 1 : at;
	memmove(list->at + at + 1, list->at + at,
		sizeof(struct value) * (size_t)(list->len - 1 - at));
	list->at[at] = call->args[1]; /* the reference that push took */
	*out = value_none();
	return true;
}

static struct value take_out(struct list *list, int64_t at)
{
	struct value v = list->at[at];

	list->len--;
	memmove(list->at + at, list->at + at + 1, sizeof(struct value) * (size_t)(list->len - at));
	return v;
}

bool list_pop(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct list *list = call->self.list;
	int64_t at = -1;

	if (call->n == 1 && !op_index(vm, call->args[0], "the place of pop()", &at, err))
		return false;
	if (list->len == 0)
		return err_set(err, ERR_VALUE, "pop from empty list");
	if (at < -list->len || at >= list->len)
		return err_set(err, ERR_VALUE,
			       "pop index out of range: index %lld, but the length is %d",
			       (long long)at, list->len);
	if (!vm_spend(vm, list->len / 16, err))
		return false;
	*out = take_out(list, at < 0 ? at + list->len : at);
	return true;
}

/* The place of the first equal item from `from` on, -1 where there is none. */
static bool search(struct vm *vm, const struct list *list, struct value item, int from, int *at,
		   struct err *err)
{
	bool same = false;

	for (int i = from; i < list->len; i++) {
		if (!op_same(list->at[i], item) && !op_equal(vm, list->at[i], item, &same, err))
			return false;
		if (same || op_same(list->at[i], item)) {
			*at = i;
			return vm_spend(vm, i - from, err);
		}
	}
	*at = -1;
	return vm_spend(vm, list->len - from, err);
}

static bool absent(const struct builtin_call *call, struct err *err)
{
	struct buf text = { .limit = 120 };

	value_print(&text, call->args[0], false);
	err_set(err, ERR_VALUE, "%s is not in the %s", text.data ? text.data : "it",
		value_type_name(call->self));
	buf_finish(&text);
	return false;
}

bool list_index(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	int at;

	if (!search(vm, call->self.list, call->args[0], 0, &at, err))
		return false;
	if (at < 0)
		return absent(call, err);
	*out = value_int(at);
	return true;
}

bool list_count(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	int at = -1, n = 0;

	do {
		if (!search(vm, call->self.list, call->args[0], at + 1, &at, err))
			return false;
		n += at >= 0;
	} while (at >= 0);
	*out = value_int(n);
	return true;
}

bool list_remove(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	int at;

	if (!search(vm, call->self.list, call->args[0], 0, &at, err))
		return false;
	if (at < 0)
		return absent(call, err);
	value_unref(take_out(call->self.list, at));
	*out = value_none();
	return true;
}

bool list_reverse(struct vm *vm, const struct builtin_call *call, struct value *out,
		  struct err *err)
{
	struct list *list = call->self.list;

	for (int i = 0, j = list->len - 1; i < j; i++, j--) {
		struct value t = list->at[i];

		list->at[i] = list->at[j];
		list->at[j] = t;
	}
	*out = value_none();
	return vm_spend(vm, list->len / 16, err);
}

bool size_numel(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct value args[] = { call->self };
	struct builtin_call product = { .row = call->row, .args = args, .n = 1 };

	return math_prod(vm, &product, out, err);
}

bool dict_clear(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct dict *dict = call->self.dict;

	(void)vm, (void)err;
	while (dict->len > 0) /* from the end: nothing moves */
		value_dict_remove(dict, dict->keys[dict->len - 1]);
	*out = value_none();
	return true;
}

static bool merge_entries(struct vm *vm, struct dict *to, const struct dict *from, struct err *err)
{
	for (int i = 0; i < from->len; i++)
		if (!value_dict_set(to, from->keys[i], from->values[i]))
			return vm_out_of_memory(vm, err);
	return vm_spend(vm, from->len, err);
}

bool dict_copy(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct value v;

	if (!vm_keep(vm, value_dict(), &v, err))
		return false;
	if (!merge_entries(vm, v.dict, call->self.dict, err)) {
		value_unref(v);
		return false;
	}
	*out = v;
	return true;
}

bool dict_get(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct value found, key = call->args[0];

	if (!op_make_key(vm, &key, err))
		return false;
	if (!value_dict_get(call->self.dict, key, &found))
		found = call->n == 2 ? call->args[1] : value_none();
	*out = value_ref(found);
	return true;
}

static bool view(struct vm *vm, const struct builtin_call *call, enum iter_kind kind,
		 struct value *out, struct err *err)
{
	if (!vm_keep(vm, value_iter(kind, call->self), out, err))
		return false;
	out->iter->view = true;
	return true;
}

bool dict_items(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return view(vm, call, ITER_ITEMS, out, err);
}

bool dict_keys(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return view(vm, call, ITER_SEQUENCE, out, err);
}

bool dict_values(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return view(vm, call, ITER_VALUES, out, err);
}

bool dict_pop(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct dict *dict = call->self.dict;
	struct value found, key = call->args[0];

	if (!op_make_key(vm, &key, err) || !vm_spend(vm, dict->len / 4, err))
		return false;
	if (value_dict_get(dict, key, &found)) {
		*out = value_ref(found);
		value_dict_remove(dict, key);
		return true;
	}
	if (call->n == 1)
		return absent(call, err);
	*out = value_ref(call->args[1]);
	return true;
}

bool dict_setdefault(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	struct value v = call->n == 2 ? call->args[1] : value_none(), key = call->args[0];

	if (!op_make_key(vm, &key, err) || !adopt(vm, call, err))
		return false;
	if (!value_dict_get(call->self.dict, key, &v) && !value_dict_set(call->self.dict, key, v))
		return vm_out_of_memory(vm, err);
	*out = value_ref(v);
	return true;
}

/* Pairs from an iterable: dict([("a", 1)]). */
static bool update_from_pairs(struct vm *vm, struct dict *dict, struct value pairs, struct err *err)
{
	struct value it, item, pair[2];
	bool more = true, ok = true;

	if (!op_iter(vm, pairs, &it, err))
		return false;
	while (ok) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = vm_spend(vm, 1, err) && op_unpack(vm, item, 2, pair, err);
		value_unref(item);
		if (!ok)
			break;
		ok = op_make_key(vm, &pair[0], err);
		if (ok && !value_dict_set(dict, pair[0], pair[1]))
			ok = vm_out_of_memory(vm, err);
		value_unref(pair[0]);
		value_unref(pair[1]);
	}
	value_unref(it);
	return ok;
}

static bool update(struct vm *vm, struct dict *dict, const struct builtin_call *call,
		   struct err *err)
{
	if (call->n == 1 && call->args[0].kind == VALUE_DICT) {
		if (call->args[0].dict != dict && !merge_entries(vm, dict, call->args[0].dict, err))
			return false;
	} else if (call->n == 1 && !update_from_pairs(vm, dict, call->args[0], err)) {
		return false;
	}
	for (int i = 0; call->kw && i < call->kw->n; i++)
		if (!value_dict_set(dict, call->kw->names[i], call->args[call->n + i]))
			return vm_out_of_memory(vm, err);
	return true;
}

bool dict_update(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	*out = value_none();
	return adopt(vm, call, err) && update(vm, call->self.dict, call, err);
}

bool builtin_dict(struct vm *vm, const struct builtin_call *call, struct value *out,
		  struct err *err)
{
	struct value v;

	if (!vm_keep(vm, value_dict(), &v, err))
		return false;
	if (!update(vm, v.dict, call, err)) {
		value_unref(v);
		return false;
	}
	*out = v;
	return true;
}
