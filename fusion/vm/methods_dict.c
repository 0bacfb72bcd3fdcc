/* fusion/vm/methods_dict.c -- methods of dicts. */
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

/* A dict that a host made joins the VM's heap when it may grow. */
static bool adopt(struct vm *vm, const struct builtin_call *call, struct err *err)
{
	return heap_adopt(vm->heap, call->self.object) || vm_out_of_memory(vm, err);
}

static bool dict_clear(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
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
	struct value key;

	for (int i = 0; i < from->len; i++) {
		key = from->keys[i];
		if (!op_make_key(vm, to, &key, err))
			return false;
		if (!value_dict_set(to, key, from->values[i]))
			return vm_out_of_memory(vm, err);
	}
	return vm_spend(vm, from->len, err);
}

static bool dict_copy(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
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

static bool dict_get(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	struct value found, key = call->args[0];

	if (!op_make_key(vm, call->self.dict, &key, err))
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

static bool dict_items(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	return view(vm, call, ITER_ITEMS, out, err);
}

static bool dict_keys(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	return view(vm, call, ITER_SEQUENCE, out, err);
}

static bool dict_values(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return view(vm, call, ITER_VALUES, out, err);
}

static bool dict_pop(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	struct dict *dict = call->self.dict;
	struct value found, key = call->args[0];

	if (dict->len > 0 &&
	    (!op_make_key(vm, dict, &key, err) || !vm_spend(vm, dict->len / 4, err)))
		return false;
	if (dict->len > 0 && value_dict_get(dict, key, &found)) {
		*out = value_ref(found);
		value_dict_remove(dict, key);
		return true;
	}
	if (call->n == 1)
		return op_no_key(vm, key, err);
	*out = value_ref(call->args[1]);
	return true;
}

static bool dict_setdefault(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	struct value v = call->n == 2 ? call->args[1] : value_none(), key = call->args[0];

	if (!op_make_key(vm, call->self.dict, &key, err) || !adopt(vm, call, err))
		return false;
	if (!value_dict_get(call->self.dict, key, &v) && !value_dict_set(call->self.dict, key, v))
		return vm_out_of_memory(vm, err);
	*out = value_ref(v);
	return true;
}

/* An error names what has no length, or another one, by its number, as Python does. */
static bool is_pair(struct vm *vm, struct value item, int at, struct err *err)
{
	struct value n;

	if (value_is_number(item) || item.kind == VALUE_NONE)
		return vm_raise(
		    vm, CLASS_TYPE_ERROR, err,
		    "cannot convert dictionary update sequence element #%d to a sequence", at);
	if (item.kind != VALUE_TUPLE && item.kind != VALUE_LIST && item.kind != VALUE_STR)
		return true;
	if (!op_length(vm, item, &n, err))
		return false;
	return n.i == 2 || vm_raise(vm, CLASS_VALUE_ERROR, err,
				    "dictionary update sequence element #%d has length %lld; 2 is "
				    "required",
				    at, (long long)n.i);
}

/* Pairs from an iterable: dict([("a", 1)]). */
static bool update_from_pairs(struct vm *vm, struct dict *dict, struct value pairs, struct err *err)
{
	struct value it, item, pair[2], key;
	bool more = true, ok = true;
	int at = 0;

	if (!op_iter(vm, pairs, &it, err))
		return false;
	while (ok) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = vm_spend(vm, 1, err) && is_pair(vm, item, at++, err) &&
		     op_unpack(vm, item, 2, pair, err);
		value_unref(item);
		if (!ok)
			break;
		key = pair[0];
		ok = op_make_key(vm, dict, &key, err);
		if (ok && !value_dict_set(dict, key, pair[1]))
			ok = vm_out_of_memory(vm, err);
		value_unref(pair[0]);
		value_unref(pair[1]);
	}
	value_unref(it);
	return ok;
}

bool dict_update_by_keys(struct vm *vm, struct dict *dict, struct value o, bool *known,
			 struct err *err)
{
	struct value keys, it, item, key, v;
	bool more = true, ok;

	if (!instance_call(vm, &(struct method_call){ &o, "keys", NULL, 0 }, &keys, known, err))
		return false;
	if (!*known)
		return true;
	ok = op_iter(vm, keys, &it, err);
	value_unref(keys);
	if (!ok)
		return false;
	while (ok && op_next(vm, it.iter, &item, &more, err) && more) {
		key = item;
		ok = op_make_key(vm, dict, &key, err) && vm_spend(vm, 1, err) &&
		     op_subscript(vm, o, key, &v, err);
		if (ok) {
			ok = value_dict_set(dict, key, v) || vm_out_of_memory(vm, err);
			value_unref(v);
		}
		value_unref(item);
	}
	value_unref(it);
	return ok && !more;
}

static bool update(struct vm *vm, struct dict *dict, const struct builtin_call *call,
		   struct err *err)
{
	bool known = false;

	if (call->n == 1 && call->args[0].kind == VALUE_INSTANCE &&
	    !dict_update_by_keys(vm, dict, call->args[0], &known, err))
		return false;
	if (call->n == 1 && call->args[0].kind == VALUE_DICT) {
		if (call->args[0].dict != dict && !merge_entries(vm, dict, call->args[0].dict, err))
			return false;
	} else if (call->n == 1 && !known && !update_from_pairs(vm, dict, call->args[0], err)) {
		return false;
	}
	for (int i = 0; call->kw && i < call->kw->n; i++)
		if (!value_dict_set(dict, call->kw->names[i], call->args[call->n + i]))
			return vm_out_of_memory(vm, err);
	return true;
}

static bool dict_update(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	*out = value_none();
	return adopt(vm, call, err) && update(vm, call->self.dict, call, err);
}

static bool builtin_dict(struct vm *vm, const struct builtin_call *call, struct value *out,
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

/* `last` of popitem() and move_to_end(), an argument or a keyword. */
static bool at_end(struct vm *vm, const struct builtin_call *call, int place, bool *out,
		   struct err *err)
{
	struct value last = value_bool(true);

	builtin_keyword(call, "last", &last);
	if (call->n > place)
		last = call->args[place];
	return op_truth(vm, last, out, err);
}

static bool dict_popitem(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	struct dict *dict = call->self.dict;
	struct value pair[2];
	bool last;

	if (!at_end(vm, call, 0, &last, err))
		return false;
	if (dict->len == 0)
		return vm_raise(vm, CLASS_KEY_ERROR, err, "popitem(): dictionary is empty");
	pair[0] = dict->keys[last ? dict->len - 1 : 0];
	pair[1] = dict->values[last ? dict->len - 1 : 0];
	if (!vm_keep(vm, value_tuple(pair, 2), out, err))
		return false;
	value_dict_remove(dict, out->list->at[0]);
	return vm_spend(vm, last ? 0 : dict->len / 4, err);
}

static bool dict_fromkeys(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	struct value list, v, key, filler = call->n == 2 ? call->args[1] : value_none();
	bool ok;

	if (!vm_keep(vm, value_list(NULL, 0), &list, err))
		return false;
	ok = op_extend(vm, list.list, call->args[0], err) && vm_keep(vm, value_dict(), &v, err);
	for (int i = 0; ok && i < list.list->len; i++) {
		key = list.list->at[i];
		ok = op_make_key(vm, v.dict, &key, err) &&
		     (value_dict_set(v.dict, key, filler) || vm_out_of_memory(vm, err));
		if (!ok)
			value_unref(v);
	}
	value_unref(list);
	if (ok)
		*out = v;
	return ok;
}

static bool dict_move_to_end(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	struct dict *dict = call->self.dict;
	struct value key = call->args[0], v;
	bool last, ok;

	*out = value_none();
	if (!op_make_key(vm, dict, &key, err) || !at_end(vm, call, 1, &last, err))
		return false;
	if (!value_dict_get(dict, key, &v))
		return op_no_key(vm, key, err);
	if (!last)
		return err_set(err, ERR_UNSUPPORTED,
			       "move_to_end() with last=False is not in the language; build a new "
			       "dict");
	value_ref(v);
	value_ref(key);
	value_dict_remove(dict, key);
	ok = value_dict_set(dict, key, v) || vm_out_of_memory(vm, err);
	value_unref(v);
	value_unref(key);
	return ok && vm_spend(vm, dict->len / 4, err);
}

#define BUILTINS_OF_METHODS_DICT
const struct builtin methods_dict_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
