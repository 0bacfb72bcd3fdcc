/* fusion/vm/dispatch.c -- instructions that most programs have few of: the
 * interpreter loop finds the others itself. */
#include "fusion/vm/classes.h"
#include "fusion/vm/generator.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/outside.h"

#include <string.h>

static bool import(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	const char *name = f->code->names[arg];
	struct value m;

	/* the program means to meet the failed import */
	if (frame_is_tried(f) && (outside_advice(name) || !vm_has_module(vm, name)))
		return vm_raise(vm, CLASS_MODULE_NOT_FOUND, err, "No module named '%.*s'",
				(int)strcspn(name, "."), name);
	if (!vm_module(vm, name, &m, err))
		return false;
	*f->top++ = value_ref(m);
	return true;
}

static bool delete_attr(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	if (!op_delete_attribute(vm, f->top[-1], f->code->names[arg], err))
		return false;
	value_unref(*--f->top);
	return true;
}

static bool delete_subscript(struct vm *vm, struct frame *f, struct err *err)
{
	if (!force_inside(vm, f->top[-1], err) ||
	    !op_delete_subscript(vm, f->top[-2], f->top[-1], err))
		return false;
	drop(f, f->top - 2);
	return true;
}

static bool make_cell(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value cell;

	if (!vm_keep(vm, value_cell((struct value){ .kind = VALUE_UNSET }), &cell, err))
		return false;
	store(&f->cells[arg], cell);
	return true;
}

/* Names, classes and exceptions. */
static bool statement(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err)
{
	int arg = inst->arg;

	switch (inst->op) {
	case CODE_DELETE_FAST:
		return inst_delete_fast(vm, f, arg, err);
	case CODE_DELETE_GLOBAL:
		return inst_delete_global(vm, f, arg, err);
	case CODE_DELETE_DEREF:
		return inst_delete_deref(vm, f, arg, err);
	case CODE_DELETE_ATTR:
		return delete_attr(vm, f, arg, err);
	case CODE_DELETE_SUBSCR:
		return delete_subscript(vm, f, err);
	case CODE_MAKE_CELL:
		return make_cell(vm, f, arg, err);
	case CODE_MAKE_FUNCTION:
		return inst_make_function(vm, f, arg, err);
	case CODE_MAKE_CLASS:
		return inst_make_class(vm, f, arg, err);
	case CODE_LOAD_NAME:
		return inst_load_name(vm, f, arg, err);
	case CODE_STORE_NAME:
		return inst_store_name(vm, f, arg, err);
	case CODE_DELETE_NAME:
		return inst_delete_name(vm, f, arg, err);
	case CODE_IMPORT:
		return import(vm, f, arg, err);
	case CODE_RAISE:
		return inst_raise(vm, f, arg, err);
	case CODE_RERAISE:
		return inst_reraise(vm, f, err);
	case CODE_EXC_MATCH:
		return inst_exc_match(vm, f, err);
	case CODE_RETURNED:
		inst_returned(f);
		return true;
	case CODE_MATCH_SEQUENCE:
		return inst_match_sequence(vm, f, arg, err);
	case CODE_MATCH_CLASS:
		return inst_match_class(vm, f, err);
	case CODE_BEFORE_WITH:
		return inst_before_with(vm, f, err);
	case CODE_WITH_EXIT:
		return inst_with_exit(vm, f, err);
	case CODE_WITH_EXCEPT:
		return inst_with_except(vm, f, err);
	default:
		return err_set(err, ERR_INTERNAL, "instruction %d is unknown to the VM",
			       (int)inst->op);
	}
}

bool inst_other(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err)
{
	int arg = inst->arg;

	switch (inst->op) {
	case CODE_BUILD_TUPLE:
		return inst_build_sequence(vm, f, VALUE_TUPLE, arg, err);
	case CODE_BUILD_LIST:
		return inst_build_sequence(vm, f, VALUE_LIST, arg, err);
	case CODE_BUILD_MAP:
		return inst_build_map(vm, f, arg, err);
	case CODE_BUILD_SET:
		return inst_build_set(vm, f, arg, err);
	case CODE_BUILD_SLICE:
		return inst_build_slice(vm, f, arg, err);
	case CODE_BUILD_STRING:
		return inst_build_string(vm, f, arg, err);
	case CODE_FORMAT_VALUE:
		return inst_format_value(vm, f, arg, err);
	case CODE_LIST_APPEND:
		return inst_list_append(vm, f, arg, err);
	case CODE_LIST_EXTEND:
		return inst_list_extend(vm, f, arg, err);
	case CODE_LIST_TO_TUPLE:
		return inst_list_to_tuple(vm, f, err);
	case CODE_SET_ADD:
		return inst_set_add(vm, f, arg, err);
	case CODE_SET_UPDATE:
		return inst_set_update(vm, f, arg, err);
	case CODE_MAP_ADD:
		return inst_map_add(vm, f, arg, err);
	case CODE_DICT_UPDATE:
	case CODE_DICT_MERGE:
		return inst_dict_update(vm, f, arg, inst->op == CODE_DICT_MERGE, err);
	case CODE_UNPACK_SEQUENCE:
		return inst_unpack(vm, f, arg, err);
	case CODE_UNPACK_EX:
		return inst_unpack_ex(vm, f, arg, err);
	default:
		return statement(vm, f, inst, err);
	}
}
