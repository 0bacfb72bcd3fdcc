/* fusion/vm/sort.c -- sorted() and list.sort(): a stable merge sort.
 *
 * Comparing may call the program (key) or the host, and may fail; items are
 * therefore sorted in a copy, which alone holds them meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/operators.h"

struct entry {
	struct value key, item; /* both borrowed from lists that outlive the sort */
};

/* Merges the sorted runs [low, middle) and [middle, high) into `to`. */
static bool merge(struct vm *vm, const struct entry *from, struct entry *to, int low, int middle,
		  int high, bool reverse, struct err *err)
{
	int left = low, right = middle;

	for (int i = low; i < high; i++) {
		bool take_right = left >= middle;

		if (left < middle && right < high) {
			/* the right one goes first only if it must: stable */
			const struct value *a = &from[right].key, *b = &from[left].key;

			if (!vm_spend(vm, 1, err) ||
			    !op_less(vm, reverse ? *b : *a, reverse ? *a : *b, &take_right, err))
				return false;
		}
		to[i] = take_right ? from[right++] : from[left++];
	}
	return true;
}

static bool merge_sort(struct vm *vm, struct entry *at, struct entry *spare, int n, bool reverse,
		       struct entry **sorted, struct err *err)
{
	for (int width = 1; width < n; width *= 2) {
		struct entry *t = at;

		for (int low = 0; low < n; low += 2 * width) {
			int middle = low + width < n ? low + width : n;
			int high = middle + width < n ? middle + width : n;

			if (!merge(vm, at, spare, low, middle, high, reverse, err))
				return false;
		}
		at = spare;
		spare = t;
	}
	*sorted = at;
	return true;
}

/* keys of the items, or the items themselves */
static bool keys_of(struct vm *vm, const struct list *list, struct value key, struct value *out,
		    struct err *err)
{
	struct value r;
	bool ok;

	if (key.kind == VALUE_NONE) {
		*out = value_none();
		return true;
	}
	if (!vm_keep(vm, value_list(NULL, 0), out, err))
		return false;
	for (int i = 0; i < list->len; i++) {
		ok = vm_invoke(vm, key, &(struct arguments){ &list->at[i], 1, NULL }, &r, err);
		if (ok) {
			ok = value_list_push(out->list, r) || vm_out_of_memory(vm, err);
			value_unref(r);
		}
		if (!ok) {
			value_unref(*out);
			return false;
		}
	}
	return true;
}

static bool sort(struct vm *vm, struct list *list, struct value key, bool reverse, struct err *err)
{
	size_t n = (size_t)list->len, bytes = 2 * sizeof(struct entry) * n;
	struct entry *entries, *sorted;
	struct value keys;
	bool ok;

	if (n < 2)
		return true;
	if (!vm_room(vm, 2 * (int64_t)n, sizeof(struct entry), err) ||
	    !keys_of(vm, list, key, &keys, err))
		return false;
	entries = malloc(bytes);
	if (!entries) {
		value_unref(keys);
		return vm_out_of_memory(vm, err);
	}
	for (size_t i = 0; i < n; i++) {
		entries[i].item = list->at[i];
		entries[i].key = keys.kind == VALUE_LIST ? keys.list->at[i] : list->at[i];
	}
	ok = merge_sort(vm, entries, entries + n, (int)n, reverse, &sorted, err);
	for (size_t i = 0; ok && i < n; i++)
		list->at[i] = sorted[i].item;
	free(entries);
	value_unref(keys);
	return ok;
}

/* sorted(items, key=, reverse=) */
static bool sorted_copy(struct vm *vm, const struct builtin_call *call, struct value items,
			struct value *out, struct err *err)
{
	struct value key = value_none(), flag = value_bool(false), list;
	bool reverse;

	builtin_keyword(call, "key", &key);
	builtin_keyword(call, "reverse", &flag);
	if (!op_truth(vm, flag, &reverse, err) || !vm_keep(vm, value_list(NULL, 0), &list, err))
		return false;
	if (!op_extend(vm, list.list, items, err) || !sort(vm, list.list, key, reverse, err)) {
		value_unref(list);
		return false;
	}
	*out = list;
	return true;
}

bool builtin_sorted(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	return sorted_copy(vm, call, call->args[0], out, err);
}

bool list_sort(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct value copy;
	bool ok;

	if (!sorted_copy(vm, call, call->self, &copy, err))
		return false;
	object_clear(&call->self.list->head);
	ok = op_extend(vm, call->self.list, copy, err);
	value_unref(copy);
	*out = value_none();
	return ok;
}
