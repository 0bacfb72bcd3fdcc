/* fusion/vm/methods_list.c -- methods of lists and tuples. */
#include <string.h>

#include <stdlib.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

/* ---- sorted() and list.sort(): a stable merge sort.
 *
 * Comparing may call the program (key) or the host, and may fail; items are
 * therefore sorted in a copy, which alone holds them meanwhile.
 */

struct sort_entry {
	struct value key, item; /* both borrowed from lists that outlive the sort */
};

struct sorting {
	struct vm *vm;
	bool reverse;
	struct err *err;
};

/* Merges the sorted runs [low, middle) and [middle, high) into `to`. */
static bool merge(const struct sorting *s, const struct sort_entry *from, struct sort_entry *to,
		  int low, int middle, int high)
{
	int left = low, right = middle;

	for (int i = low; i < high; i++) {
		bool take_right = left >= middle;

		if (left < middle && right < high) {
			/* the right one goes first only if it must: stable */
			const struct value *a = &from[right].key, *b = &from[left].key;

			if (!vm_spend(s->vm, 1, s->err) ||
			    !op_less(s->vm, s->reverse ? *b : *a, s->reverse ? *a : *b, &take_right,
				     s->err))
				return false;
		}
		to[i] = take_right ? from[right++] : from[left++];
	}
	return true;
}

static bool merge_sort(const struct sorting *s, struct sort_entry *at, struct sort_entry *spare,
		       int n, struct sort_entry **sorted)
{
	for (int width = 1; width < n; width *= 2) {
		struct sort_entry *t = at;

		for (int low = 0; low < n; low += 2 * width) {
			int middle = low + width < n ? low + width : n;
			int high = middle + width < n ? middle + width : n;

			if (!merge(s, at, spare, low, middle, high))
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
	size_t n = (size_t)list->len, bytes = 2 * sizeof(struct sort_entry) * n;
	struct sort_entry *entries, *sorted;
	struct value keys;
	bool ok;

	if (n < 2)
		return true;
	if (!vm_room(vm, 2 * (int64_t)n, sizeof(struct sort_entry), err) ||
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
	ok = merge_sort(&(struct sorting){ vm, reverse, err }, entries, entries + n, (int)n,
			&sorted);
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

static bool builtin_sorted(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	return sorted_copy(vm, call, call->args[0], out, err);
}

static bool list_sort(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
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

/* A list or dict that a host made joins the VM's heap when it may grow. */
static bool adopt(struct vm *vm, const struct builtin_call *call, struct err *err)
{
	return heap_adopt(vm->heap, call->self.object) || vm_out_of_memory(vm, err);
}

static bool list_append(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	*out = value_none();
	if (!adopt(vm, call, err))
		return false;
	return value_list_push(call->self.list, call->args[0]) || vm_out_of_memory(vm, err);
}

static bool list_clear(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	(void)vm, (void)err;
	object_clear(call->self.object);
	*out = value_none();
	return true;
}

static bool list_copy(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	const struct list *list = call->self.list;

	return vm_room(vm, list->len, sizeof(struct value), err) &&
	       vm_keep(vm, value_list(list->at, list->len), out, err);
}

static bool list_extend(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	*out = value_none();
	return op_extend(vm, call->self.list, call->args[0], err);
}

static bool list_insert(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
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

static bool list_pop(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	struct list *list = call->self.list;
	int64_t at = -1;

	if (call->n == 1 && !op_index(vm, call->args[0], "the place of pop()", &at, err))
		return false;
	if (list->len == 0)
		return vm_raise(vm, CLASS_INDEX_ERROR, err, "pop from empty list");
	if (at < -list->len || at >= list->len)
		return vm_raise(vm, CLASS_INDEX_ERROR, err,
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
		if (!op_is(vm, list->at[i], item) && !op_equal(vm, list->at[i], item, &same, err))
			return false;
		if (same || op_same(list->at[i], item)) {
			*at = i;
			return vm_spend(vm, i - from, err);
		}
	}
	*at = -1;
	return vm_spend(vm, list->len - from, err);
}

static bool absent(struct vm *vm, const struct builtin_call *call, struct err *err)
{
	struct buf text = { .limit = 120 };

	if (call->self.kind == VALUE_TUPLE)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "tuple.index(x): x not in tuple");
	if (builtin_text(vm, call->args[0], false, &text, err))
		vm_raise(vm, CLASS_VALUE_ERROR, err, "%s is not in %s",
			 text.data ? text.data : "it", value_type_name(call->self));
	buf_finish(&text);
	return false;
}

static bool list_index(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	const int n = call->self.list->len;
	int64_t from = 0, to = n;
	int at;

	if (call->n > 1 && !op_index(vm, call->args[1], "the start of index()", &from, err))
		return false;
	if (call->n > 2 && !op_index(vm, call->args[2], "the end of index()", &to, err))
		return false;
	from = from < 0 ? (from < -n ? 0 : from + n) : from < n ? from : n;
	to = to < 0 ? to + n : to;
	if (!search(vm, call->self.list, call->args[0], (int)from, &at, err))
		return false;
	if (at < 0 || at >= to)
		return absent(vm, call, err);
	*out = value_int(at);
	return true;
}

static bool list_count(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
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

static bool list_remove(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	int at;

	if (!search(vm, call->self.list, call->args[0], 0, &at, err))
		return false;
	if (at < 0)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "list.remove(x): x not in list");
	value_unref(take_out(call->self.list, at));
	*out = value_none();
	return true;
}

static bool list_reverse(struct vm *vm, const struct builtin_call *call, struct value *out,
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

static bool range_count(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	bool held;

	if (!op_contains(vm, call->self, call->args[0], &held, err))
		return false;
	*out = value_int(held);
	return true;
}

static bool range_index(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	const struct range *r = call->self.range;
	struct value v = call->args[0];
	bool held;

	if (!op_contains(vm, call->self, v, &held, err))
		return false;
	if (!held && value_is_integer(v))
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "%lld is not in range",
				(long long)value_as_int(v));
	if (!held || !value_is_number(v))
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "sequence.index(x): x not in sequence");
	v = value_int(value_is_integer(v) ? value_as_int(v) : (int64_t)v.f);
	*out = value_int((v.i - r->start) / r->step); /* it lies between the bounds */
	return true;
}

#define BUILTINS_OF_METHODS_LIST
const struct builtin methods_list_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
