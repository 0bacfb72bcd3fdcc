/* fusion/vm/methods_list.c -- methods of lists and tuples. */
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

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

bool list_index(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
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
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "list.remove(x): x not in list");
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

bool range_count(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	bool held;

	if (!op_contains(vm, call->self, call->args[0], &held, err))
		return false;
	*out = value_int(held);
	return true;
}

bool range_index(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
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
