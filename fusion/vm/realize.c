/* fusion/vm/realize.c -- values that a capture has not read yet.
 *
 * A value that a program only passes on stays lazy, so that a capture guards
 * nothing that the program never looked at.  An instruction that looks at its
 * operands realizes them first; what is inside a container stays lazy until
 * something looks there. */
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/operators.h"

/* ---- text that is made when the graph has run.
 *
 * A capture hands such a text on, puts it into another one, prints and returns
 * it.  Whatever looks at its characters ends the graph.
 */

bool text_append(struct vm *vm, struct value v, struct buf *text, struct err *err)
{
	struct vm_host *host;

	if (v.kind == VALUE_STR) {
		buf_add(text, v.str->text, v.str->len);
		return true;
	}
	host = vm_host_here(vm);
	return host->deferred_bytes(host->self, v, text, err);
}

bool text_needed(struct vm *vm, struct value v, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	if (!host->need_text)
		return err_set(err, ERR_INTERNAL, "a text that no capture knows was read");
	return host->need_text(host->self, v, err);
}

bool realize_lazy(struct vm *vm, struct value *place, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	if (!host->realize)
		return err_set(err, ERR_INTERNAL, "a value that no capture knows was read");
	return host->realize(host->self, place, err);
}

static bool realize_each(struct vm *vm, struct value *at, const int *len, struct err *err)
{
	for (int i = 0; i < *len; i++)
		if (!realize(vm, &at[i], err) || !realize_inside(vm, at[i], err))
			return false;
	return true;
}

/* What holds itself ends at the step limit, or where calls would. */
bool realize_contents(struct vm *vm, struct value v, struct err *err)
{
	bool ok = true;

	if (v.kind == VALUE_ITER && v.iter->view && v.iter->iter_kind != ITER_SEQUENCE)
		v = v.iter->over; /* values and items of a dict */
	if (v.kind != VALUE_TUPLE && v.kind != VALUE_LIST && v.kind != VALUE_DICT)
		return true;
	if (vm->depth >= vm->limits.depth)
		return err_set(err, ERR_RECURSION,
			       "a value is nested deeper than %d, or holds itself",
			       vm->limits.depth);
	vm->depth++;
	if (v.kind == VALUE_DICT)
		ok = vm_spend(vm, 1 + v.dict->len, err) &&
		     realize_each(vm, v.dict->values, &v.dict->len, err);
	else
		ok = vm_spend(vm, 1 + v.list->len, err) &&
		     realize_each(vm, v.list->at, &v.list->len, err);
	vm->depth--;
	return ok;
}
