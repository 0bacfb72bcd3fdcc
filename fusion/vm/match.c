/* fusion/vm/match.c -- what the patterns of a match statement ask. */
#include "fusion/vm/classes.h"
#include "fusion/vm/inst.h"

bool inst_match_sequence(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value *v = &f->top[-1];
	bool fits = false;

	if (!force(vm, v, err))
		return false;
	if (v->kind == VALUE_LIST || v->kind == VALUE_TUPLE)
		fits = arg % 2 ? v->list->len >= arg / 2 : v->list->len == arg / 2;
	*f->top++ = value_bool(fits);
	return true;
}

bool inst_match_class(struct vm *vm, struct frame *f, struct err *err)
{
	bool is;

	if (!value_is_instance(vm, f->top[-2], f->top[-1], &is, err))
		return false;
	replace(f, 2, value_bool(is));
	return true;
}
