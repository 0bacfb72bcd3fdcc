/* fusion/vm/unit.c -- code objects made ready to run, and checked.
 *
 * The VM indexes without looking: an operand out of range or a stack deeper
 * than the code says would be a wild write.  So each code object is checked
 * once, here, and a mistake of the compiler becomes an error. */
#include <string.h>

#include <stdio.h>

#include "fusion/base/buf.h"
#include "fusion/vm/placement.h"
#include "fusion/vm/prelude.h"

enum { MANY = 64 };

static const struct {
	const char *module, *function, *parameter, *why;
} unused[] = {
#define UNUSED(module, function, parameter, why) { module, function, parameter, why },
#include "fusion/vm/unused.def"
#undef UNUSED
};

static bool fits(const char *pattern, const char *name)
{
	return strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0;
}

static bool is_free(const char *module, const char *function, const char *parameter)
{
	const char *method = strchr(function, '.');

	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++)
		if (fits(unused[i].module, module) && fits(unused[i].parameter, parameter) &&
		    (fits(unused[i].function, function) ||
		     (method && strcmp(unused[i].function, method + 1) == 0)))
			return true;
	return false;
}

/* Of a method, or of a function that is a tensor's: the call gives it. */
static bool is_self(const struct code *code)
{
	return code->n_positional > 0 && (code->owner || strcmp(code->locals[0], "self") == 0);
}

/* The parameters of a function of `module` that must keep their default. */
static uint64_t unused_refused(const struct code *code, const char *module)
{
	uint64_t refused = code->unused;
	char function[160];

	if (!refused || !module)
		return 0;
	snprintf(function, sizeof(function), "%s%s%s", code->owner ? code->owner : "",
		 code->owner ? "." : "", code->name);
	for (int i = 0; i < code->n_locals && i < MANY; i++)
		if ((refused >> i & 1) &&
		    (is_free(module, function, code->locals[i]) || (i == 0 && is_self(code))))
			refused &= ~((uint64_t)1 << i);
	return refused;
}

/* The default of parameter i; UNSET where a call has to give it. */
static struct value default_of(const struct frame *f, int i)
{
	const struct function *fn = f->function;
	int first = f->code->n_positional - (fn->defaults ? fn->defaults->len : 0);
	struct value none = { .kind = VALUE_UNSET }, name, v;
	bool found;

	if (i < f->code->n_positional)
		return i >= first ? fn->defaults->at[i - first] : none;
	name = fn->kwdefaults ? value_str(f->code->locals[i], strlen(f->code->locals[i]))
			      : value_none();
	found = name.kind == VALUE_STR && value_dict_get(fn->kwdefaults, name, &v);
	value_unref(name);
	return found ? v : none;
}

static const char *called(const struct code *code)
{
	return code->owner && strcmp(code->name, "__init__") == 0 ? code->owner : code->name;
}

static bool refuse_value(const struct frame *f, int i, struct err *err)
{
	const char *name = f->code->locals[i];
	struct value otherwise = default_of(f, i);
	struct buf text = { 0 };

	if (otherwise.kind != VALUE_UNSET)
		value_print(&text, otherwise, false);
	if (text.data)
		err_set(err, ERR_UNSUPPORTED,
			"%s(): %s is not supported here, but for %s=%s; leave it out",
			called(f->code), name, name, text.data);
	else
		err_set(err, ERR_UNSUPPORTED, "%s(): %s is not supported here", called(f->code),
			name);
	buf_finish(&text);
	return false;
}

/* Of *args and **keywords that nothing reads there may be none. */
static bool is_empty(const struct frame *f, int i, struct err *err)
{
	struct value v = f->locals[i];

	if (v.kind == VALUE_TUPLE && v.list->len > 0)
		return err_set(err, ERR_TYPE, "%s() takes fewer positional arguments here",
			       called(f->code));
	if (v.kind == VALUE_DICT && v.dict->len > 0)
		return err_set(err, ERR_UNSUPPORTED, "%s(): %s is not supported here; leave it out",
			       called(f->code),
			       v.dict->keys[0].kind == VALUE_STR ? v.dict->keys[0].str->text
								 : "a keyword");
	return true;
}

static bool same(struct value a, struct value b)
{
	return a.kind == b.kind && a.kind != VALUE_TENSOR ? value_equal(a, b) : false;
}

bool unused_keep_defaults(const struct frame *f, struct err *err)
{
	const struct code *code = f->code;
	int named = code->n_positional + code->n_keyword_only;
	int n = named + code->has_varargs + code->has_kwargs;

	for (int i = 0; i < n && i < MANY; i++) {
		if (!(f->unit->refused >> i & 1))
			continue;
		if (i >= named) {
			if (!is_empty(f, i, err))
				return false;
			continue;
		}
		if (placement_is(code->locals[i])) {
			if (!placement_fits(called(code), code->locals[i], f->locals[i], err))
				return false;
			continue;
		}
		if (!same(f->locals[i], default_of(f, i)))
			return refuse_value(f, i, err);
	}
	return true;
}

static bool prepare_const(struct vm *vm, const struct lang_const *c, struct value *out)
{
	switch (c->kind) {
	case CONST_NONE:
		*out = value_none();
		break;
	case CONST_BOOL:
		*out = value_bool(c->b);
		break;
	case CONST_INT:
		*out = value_int(c->i);
		break;
	case CONST_FLOAT:
		*out = value_float(c->f);
		break;
	case CONST_ELLIPSIS:
		*out = (struct value){ .kind = VALUE_ELLIPSIS };
		break;
	case CONST_STR:
		*out = value_str(c->str, (size_t)c->n);
		break;
	case CONST_TUPLE: {
		struct value *items = ARENA_ARRAY(&vm->arena, struct value, (size_t)c->n);
		bool ok = items != NULL;
		int n = 0;

		while (ok && n < c->n)
			ok = prepare_const(vm, &c->items[n], &items[n]) && ++n;
		*out = ok ? value_tuple(items, n) : (struct value){ .kind = VALUE_UNSET };
		while (n > 0)
			value_unref(items[--n]);
		break;
	}
	}
	return out->kind != VALUE_UNSET;
}

/* How many operands an instruction reads. */
static int needs(const struct lang_inst *inst)
{
	int change;

	switch (inst->op) {
	case CODE_COPY:
	case CODE_SWAP:
		return inst->arg;
	case CODE_LOAD_ATTR:
	case CODE_UNARY_OP:
	case CODE_GET_ITER:
	case CODE_FOR_ITER:
	case CODE_UNPACK_SEQUENCE:
	case CODE_UNPACK_EX:
	case CODE_LIST_TO_TUPLE:
	case CODE_PUSH_EXC:
	case CODE_BEFORE_WITH:
	case CODE_YIELD:
	case CODE_RETURNED:
	case CODE_MATCH_SEQUENCE:
	case CODE_RETURN:
		return 1;
	case CODE_BUILD_TUPLE:
	case CODE_BUILD_LIST:
	case CODE_BUILD_SET:
	case CODE_BUILD_STRING:
	case CODE_BUILD_SLICE:
		return inst->arg;
	case CODE_BUILD_MAP:
		return 2 * inst->arg;
	case CODE_BINARY_OP:
	case CODE_INPLACE_OP:
	case CODE_COMPARE_OP:
	case CODE_BINARY_SUBSCR:
	case CODE_STORE_ATTR:
	case CODE_EXC_MATCH:
	case CODE_MATCH_MAPPING:
		return 2;
	case CODE_STORE_SUBSCR:
	case CODE_MATCH_CLASS:
	case CODE_MAKE_FUNCTION:
	case CODE_CALL_EX:
	case CODE_WITH_EXCEPT:
		return 3;
	case CODE_CALL:
	case CODE_LIST_APPEND:
	case CODE_SET_ADD:
	case CODE_LIST_EXTEND:
	case CODE_SET_UPDATE:
	case CODE_DICT_UPDATE:
	case CODE_DICT_MERGE:
		return inst->arg + 1;
	case CODE_CALL_KW:
	case CODE_MAP_ADD:
	case CODE_MAKE_CLASS:
		return inst->arg + 2;
	case CODE_FORMAT_VALUE:
		return inst->arg & 4 ? 2 : 1;
	default:
		change = code_effect(inst->op, inst->arg);
		return change < 0 ? -change : 0;
	}
}

/* How much there is of what an operand of that op counts in; -1: it counts in nothing. */
static int operand_limit(const struct code *code, enum code_op op)
{
	switch (op) {
	case CODE_LOAD_CONST:
	case CODE_REFUSE:
		return code->n_consts;
	case CODE_LOAD_FAST:
	case CODE_STORE_FAST:
	case CODE_DELETE_FAST:
	case CODE_CLEAR_FAST:
		return code->n_locals;
	case CODE_LOAD_GLOBAL:
	case CODE_STORE_GLOBAL:
	case CODE_LOAD_ATTR:
	case CODE_STORE_ATTR:
	case CODE_DELETE_GLOBAL:
	case CODE_DELETE_ATTR:
	case CODE_LOAD_NAME:
	case CODE_STORE_NAME:
	case CODE_DELETE_NAME:
	case CODE_IMPORT:
		return code->n_names;
	case CODE_LOAD_DEREF:
	case CODE_STORE_DEREF:
	case CODE_LOAD_CLOSURE:
	case CODE_DELETE_DEREF:
	case CODE_MAKE_CELL:
		return code->n_cells;
	case CODE_BINARY_OP:
	case CODE_INPLACE_OP:
		return BIN_COUNT;
	case CODE_UNARY_OP:
		return UN_COUNT;
	case CODE_COMPARE_OP:
		return CMP_COUNT;
	case CODE_FOR_ITER:
	case CODE_JUMP:
	case CODE_JUMP_IF_FALSE:
	case CODE_JUMP_IF_TRUE:
		return code->n_insts;
	case CODE_MAKE_FUNCTION:
		return code->n_nested;
	default:
		return -1;
	}
}

static bool operand_fits(const struct code *code, const struct lang_inst *inst)
{
	int limit = operand_limit(code, inst->op);

	if (limit >= 0)
		return inst->arg >= 0 && inst->arg < limit;
	switch (inst->op) {
	case CODE_FORMAT_VALUE:
		return inst->arg >= 0 && inst->arg <= 7;
	case CODE_UNPACK_EX:
		return inst->arg >= 0 && (inst->arg & 255) + (inst->arg >> 8) < code->stack_depth;
	case CODE_RAISE:
		return inst->arg >= 0 && inst->arg <= 2;
	case CODE_YIELD:
		return code->is_generator && (inst->arg == 0 || inst->arg == 1);
	case CODE_COPY:
	case CODE_SWAP:
	case CODE_LIST_APPEND:
	case CODE_SET_ADD:
	case CODE_MAP_ADD:
	case CODE_LIST_EXTEND:
	case CODE_SET_UPDATE:
	case CODE_DICT_UPDATE:
	case CODE_DICT_MERGE:
		return inst->arg >= 1 && inst->arg <= code->stack_depth;
	case CODE_MATCH_SEQUENCE:
	case CODE_MATCH_CLASS:
		return inst->arg >= 0;
	case CODE_BUILD_SLICE:
		return inst->arg == 2 || inst->arg == 3;
	default:
		return inst->arg >= 0 && inst->arg <= code->stack_depth;
	}
}

struct check {
	const struct code *code;
	const int *handler; /* by instruction; NULL: none */
	int *depth;         /* before each instruction, -1: not reached yet */
	int *todo;
	int n_todo;
};

static bool flow_to(struct check *c, int at, int depth)
{
	const struct lang_handler *h;

	if (at >= c->code->n_insts || depth < 0 || depth > c->code->stack_depth)
		return false;
	if (c->depth[at] >= 0)
		return c->depth[at] == depth;
	c->depth[at] = depth;
	c->todo[c->n_todo++] = at;
	if (!c->handler || c->handler[at] < 0)
		return true;
	h = &c->code->handlers[c->handler[at]];
	return depth >= h->depth && flow_to(c, h->target, h->depth + 1);
}

/* For each instruction the innermost handler, the first that covers it. */
static bool find_handlers(struct vm *vm, struct unit *unit, struct err *err)
{
	const struct code *code = unit->code;

	if (code->n_handlers == 0)
		return true;
	unit->handler = ARENA_ARRAY(&vm->arena, int, (size_t)code->n_insts);
	if (!unit->handler)
		return vm_out_of_memory(vm, err);
	memset(unit->handler, 0xff, sizeof(int) * (size_t)code->n_insts);
	for (int i = code->n_handlers - 1; i >= 0; i--) {
		const struct lang_handler *h = &code->handlers[i];

		if (h->start < 0 || h->end > code->n_insts || h->target < 0 || h->depth < 0)
			return err_set(err, ERR_INTERNAL,
				       "handler %d of %s is out of bounds: a fault of the "
				       "compiler, not of the program",
				       i, code->name);
		for (int at = h->start; at < h->end; at++)
			unit->handler[at] = i;
	}
	return true;
}

static bool check_inst(struct check *c, int at)
{
	const struct lang_inst *inst = &c->code->insts[at];
	int depth = c->depth[at];

	if (!operand_fits(c->code, inst) || depth < needs(inst))
		return false;
	switch (inst->op) {
	case CODE_RETURN:
	case CODE_RAISE:
	case CODE_RERAISE:
		return true;
	case CODE_JUMP:
		return flow_to(c, inst->arg, depth);
	case CODE_JUMP_IF_FALSE:
	case CODE_JUMP_IF_TRUE:
		return flow_to(c, inst->arg, depth - 1) && flow_to(c, at + 1, depth - 1);
	case CODE_FOR_ITER:
		return flow_to(c, inst->arg, depth - 1) && flow_to(c, at + 1, depth + 1);
	default:
		return flow_to(c, at + 1, depth + code_effect(inst->op, inst->arg));
	}
}

static bool check_code(struct vm *vm, const struct unit *unit, struct err *err)
{
	const struct code *code = unit->code;
	size_t n = (size_t)code->n_insts;
	struct check c = { .code = code, .handler = unit->handler };
	int at = 0;

	c.depth = ARENA_ARRAY(&vm->arena, int, n);
	c.todo = ARENA_ARRAY(&vm->arena, int, n);
	if (!c.depth || !c.todo)
		return vm_out_of_memory(vm, err);
	memset(c.depth, 0xff, n * sizeof(int));
	if (!flow_to(&c, 0, 0))
		return err_set(err, ERR_INTERNAL, "the code of %s is empty", code->name);
	while (c.n_todo > 0) {
		at = c.todo[--c.n_todo];
		if (!check_inst(&c, at))
			return err_at(err, ERR_INTERNAL, code->insts[at].line,
				      code->insts[at].column,
				      "instruction %d of %s is out of bounds: a fault of the "
				      "compiler, not of the program",
				      at, code->name);
	}
	return true;
}

static bool names_global(enum code_op op)
{
	switch (op) {
	case CODE_LOAD_GLOBAL:
	case CODE_STORE_GLOBAL:
	case CODE_DELETE_GLOBAL:
	case CODE_LOAD_NAME:
	case CODE_STORE_NAME:
	case CODE_DELETE_NAME:
		return true;
	default:
		return false;
	}
}

static bool prepare(struct vm *vm, struct unit *unit, struct err *err)
{
	const struct code *code = unit->code;
	struct arena *a = &vm->arena;

	if (!find_handlers(vm, unit, err) || !check_code(vm, unit, err))
		return false;
	unit->refused = unused_refused(code, unit->module);
	unit->consts = ARENA_ARRAY(a, struct value, (size_t)code->n_consts);
	unit->globals = ARENA_ARRAY(a, int, (size_t)code->n_names);
	unit->sites = ARENA_ARRAY(a, struct attr_site, (size_t)code->n_insts);
	unit->nested = ARENA_ARRAY(a, struct unit, (size_t)code->n_nested);
	if (!unit->consts || !unit->globals || !unit->sites || !unit->nested)
		return vm_out_of_memory(vm, err);
	memset(unit->globals, 0xff, sizeof(int) * (size_t)code->n_names);
	for (int i = 0; i < code->n_nested; i++) {
		unit->nested[i].code = code->nested[i];
		unit->nested[i].owner = unit->owner;
		unit->nested[i].module = unit->module;
		unit->nested[i].home = unit->home;
		unit->nested[i].hidden = unit->hidden;
	}
	for (int i = 0; i < code->n_consts; i++)
		if (!prepare_const(vm, &code->consts[i], &unit->consts[i]))
			return vm_out_of_memory(vm, err);
	for (int i = 0; i < code->n_insts; i++) {
		const struct lang_inst *inst = &code->insts[i];

		if (!names_global(inst->op) || unit->globals[inst->arg] >= 0)
			continue;
		unit->globals[inst->arg] = vm_global_slot(vm, unit->owner, code->names[inst->arg]);
		if (unit->globals[inst->arg] < 0)
			return vm_out_of_memory(vm, err);
		vm->globals[unit->globals[inst->arg]].ours = unit->hidden;
	}
	return true;
}

bool unit_prepare(struct vm *vm, struct unit *unit, struct err *err)
{
	unit->ready = prepare(vm, unit, err);
	if (!unit->ready) {
		unit_release(unit);
		unit->consts = NULL;
		unit->sites = NULL;
		unit->nested = NULL;
	}
	return unit->ready;
}

void unit_release(struct unit *unit)
{
	if (!unit->code)
		return;
	for (int i = 0; unit->consts && i < unit->code->n_consts; i++)
		value_unref(unit->consts[i]);
	for (int i = 0; unit->sites && i < unit->code->n_insts; i++) {
		value_unref(unit->sites[i].module);
		value_unref(unit->sites[i].value);
	}
	for (int i = 0; unit->nested && i < unit->code->n_nested; i++)
		unit_release(&unit->nested[i]);
}
