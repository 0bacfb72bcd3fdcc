/* fusion/vm/variables.c -- names: locals, cells, globals, class bodies. */
#include <string.h>

#include "fusion/vm/classes.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/names.h"

bool unset_local(struct vm *vm, const struct frame *f, int arg, struct err *err)
{
	return vm_raise(vm, CLASS_UNBOUND_LOCAL_ERROR, err,
			"cannot access local variable '%s' where it is not associated with a value",
			f->code->locals[arg]);
}

static bool unset_cell(struct vm *vm, const struct frame *f, int arg, struct err *err)
{
	if (arg < f->code->n_own_cells)
		return vm_raise(vm, CLASS_UNBOUND_LOCAL_ERROR, err,
				"cannot access local variable '%s' where it is not associated with "
				"a value",
				f->code->cells[arg]);
	return vm_raise(vm, CLASS_NAME_ERROR, err,
			"cannot access free variable '%s' where it is not associated with a value "
			"in enclosing scope",
			f->code->cells[arg]);
}

/* What the loop itself does not: a local that is unset or lazy. */
bool inst_load_fast(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value *local = &f->locals[arg];

	if (local->kind == VALUE_UNSET)
		return unset_local(vm, f, arg, err);
	if (!force(vm, local, err))
		return false;
	*f->top++ = value_ref(*local);
	return true;
}

bool inst_load_global(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	int slot = f->unit->globals[arg];
	const struct global *g = &vm->globals[slot];
	struct vm_host *host = vm->host;
	struct value v = g->value;

	if (__builtin_expect(host->load_global != NULL, 0) && !f->unit->hidden) {
		vm_host_here(vm);
		if (!host->load_global(host->self, slot, g->name, g->value, &v, err) ||
		    !force(vm, &v, err))
			return false;
		if (v.kind == VALUE_UNSET)
			v = value_ref(vm->globals[slot].builtin);
	} else {
		v = value_ref(v.kind != VALUE_UNSET ? v : g->builtin);
	}
	if (v.kind == VALUE_UNSET)
		return vm_unknown_name(vm, vm->globals[slot].name, err);
	*f->top++ = v;
	return true;
}

static bool set_global(struct vm *vm, int slot, struct value v, struct err *err)
{
	struct vm_host *host = vm->host;
	struct global *g = &vm->globals[slot];

	if (host->store_global && !g->owner) {
		vm_host_here(vm);
		return host->store_global(host->self, slot, g->name, v, err);
	}
	store(&g->value, value_ref(v));
	return true;
}

bool inst_store_global(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	if (!set_global(vm, f->unit->globals[arg], f->top[-1], err))
		return false;
	value_unref(*--f->top);
	return true;
}

bool inst_delete_global(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	int slot = f->unit->globals[arg];
	struct vm_host *host = vm->host;
	struct value real = vm->globals[slot].value, v = real;

	if (!host->load_global || vm->globals[slot].owner)
		value_ref(v);
	else if (!host->load_global(host->self, slot, vm->globals[slot].name, real, &v, err))
		return false;
	if (v.kind == VALUE_UNSET)
		return vm_raise(vm, CLASS_NAME_ERROR, err, "name '%s' is not defined",
				f->code->names[arg]);
	value_unref(v);
	return set_global(vm, slot, (struct value){ .kind = VALUE_UNSET }, err);
}

bool inst_load_deref(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value *content = &f->cells[arg].cell->content;

	if (content->kind == VALUE_UNSET)
		return unset_cell(vm, f, arg, err);
	if (!force(vm, content, err))
		return false;
	*f->top++ = value_ref(*content);
	return true;
}

bool inst_delete_fast(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	if (f->locals[arg].kind == VALUE_UNSET)
		return unset_local(vm, f, arg, err);
	store(&f->locals[arg], (struct value){ .kind = VALUE_UNSET });
	return true;
}

bool inst_delete_deref(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct cell *cell = f->cells[arg].cell;

	if (cell->content.kind == VALUE_UNSET)
		return unset_cell(vm, f, arg, err);
	store(&cell->content, (struct value){ .kind = VALUE_UNSET });
	return true;
}

bool inst_load_name(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value *found = f->namespace ? value_dict_find(f->namespace, f->code->names[arg])
					   : NULL;

	if (!found)
		return inst_load_global(vm, f, arg, err);
	*f->top++ = value_ref(*found);
	return force(vm, &f->top[-1], err);
}

bool inst_store_name(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	const char *name = f->code->names[arg];
	struct value key;
	bool ok;

	if (!f->namespace)
		return inst_store_global(vm, f, arg, err);
	if (!vm_keep(vm, value_str(name, strlen(name)), &key, err))
		return false;
	ok = value_dict_set(f->namespace, key, f->top[-1]);
	value_unref(key);
	if (!ok)
		return vm_out_of_memory(vm, err);
	value_unref(*--f->top);
	return true;
}

bool inst_delete_name(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	const char *name = f->code->names[arg];
	struct value key;
	bool found;

	if (!f->namespace)
		return inst_delete_global(vm, f, arg, err);
	if (!vm_keep(vm, value_str(name, strlen(name)), &key, err))
		return false;
	found = value_dict_remove(f->namespace, key);
	value_unref(key);
	return found || vm_raise(vm, CLASS_NAME_ERROR, err, "name '%s' is not defined", name);
}
