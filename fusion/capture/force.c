/* fusion/capture/force.c -- values that a capture has not read yet.
 *
 * What a program only passes on stays lazy, so that nothing is guarded which
 * it never looked at.  An operand never is lazy; what lies inside a container
 * is, until something looks there. */
#include <string.h>

#include "fusion/capture/builtins.h"
#include "fusion/capture/inst.h"

bool force_place(struct vm *vm, struct value *place, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	if (!host->force)
		return err_set(err, ERR_INTERNAL, "a value that no capture knows was read");
	return host->force(host->self, place, err);
}

static bool force_each(struct vm *vm, struct value *at, const int *len, struct err *err)
{
	for (int i = 0; i < *len; i++)
		if (!force(vm, &at[i], err) || !force_inside(vm, at[i], err))
			return false;
	return true;
}

/* What holds itself ends at the step limit, or where calls would. */
bool force_contents(struct vm *vm, struct value v, struct err *err)
{
	bool ok = true;

	if (v.kind != VALUE_TUPLE && v.kind != VALUE_LIST && v.kind != VALUE_DICT)
		return true;
	if (vm->depth >= vm->limits.depth)
		return err_set(err, ERR_RECURSION,
			       "a value is nested deeper than %d, or holds itself",
			       vm->limits.depth);
	vm->depth++;
	if (v.kind == VALUE_DICT)
		ok = vm_spend(vm, 1 + v.dict->len, err) &&
		     force_each(vm, v.dict->values, &v.dict->len, err);
	else
		ok = vm_spend(vm, 1 + v.list->len, err) &&
		     force_each(vm, v.list->at, &v.list->len, err);
	vm->depth--;
	return ok;
}

/* Builtins that store, hand on or count, but look at nothing inside. */
static bool looks_outside(const struct native *f)
{
	static const char *const names[] = {
		"append",     "callable",   "clear", "copy",    "delattr", "dict",     "enumerate",
		"extend",     "filter",     "get",   "getattr", "hasattr", "id",       "insert",
		"isinstance", "issubclass", "items", "iter",    "keys",    "len",      "list",
		"map",        "next",       "pop",   "range",   "reverse", "reversed", "setattr",
		"setdefault", "super",      "tuple", "type",    "update",  "values",   "zip",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(f->name, names[i]) == 0)
			return true;
	return false;
}

bool force_arguments(struct vm *vm, const struct native *f, const struct value *args, int n,
		     struct err *err)
{
	if (f->builtin && looks_outside(f))
		return true;
	for (int i = 0; i < n; i++)
		if (!force_inside(vm, args[i], err))
			return false;
	return force_inside(vm, f->self, err);
}
