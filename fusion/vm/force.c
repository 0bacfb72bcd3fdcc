/* fusion/vm/force.c -- values that a capture has not read yet.
 *
 * What a program only passes on stays lazy, so that nothing is guarded which
 * it never looked at: a local may be an operand, an argument or a result
 * unread.  An instruction that looks at its operands forces them first; what
 * lies inside a container is lazy until something looks there. */
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
	return host->late_bytes(host->self, v, text, err);
}

bool text_needed(struct vm *vm, struct value v, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	if (!host->need_text)
		return err_set(err, ERR_INTERNAL, "a text that no capture knows was read");
	return host->need_text(host->self, v, err);
}

bool text_has_gaps(const struct buf *text)
{
	return text->data && memchr(text->data, TEXT_GAP, text->len);
}

void text_close_gaps(struct buf *text)
{
	char *to = text->data;

	if (!text_has_gaps(text))
		return;
	for (size_t i = 0; i < text->len;) {
		if ((unsigned char)text->data[i] != TEXT_GAP) {
			*to++ = text->data[i++];
			continue;
		}
		memcpy(to, "...", 3);
		to += 3;
		i += TEXT_GAP_BYTES;
	}
	*to = '\0';
	text->len = (size_t)(to - text->data);
}

/* Builtins that only hand on what they get from argument `first` on, keywords
 * too, or know such text. */
static bool hands_on(const struct builtin *row, int index, bool keyword)
{
	static const struct {
		const char *name;
		int first;
	} rows[] = {
		{ "print", 0 },    { "str", 0 },
		{ "repr", 0 },     { "join", 0 },
		{ "append", 0 },   { "isinstance", 0 },
		{ "callable", 0 }, { "insert", 1 },
		{ "get", 1 },      { "setdefault", 1 },
		{ "setattr", 2 },  { "getattr", 2 },
		{ "next", 1 },     { "with_traceback", 0 },
		{ "type", 0 },     { "bool", 0 },
	};

	if (strcmp(row->name, "format") == 0)
		return index == 0 || row->scope[0] != '\0';
	if (strcmp(row->name, "dict") == 0 || strcmp(row->name, "update") == 0)
		return keyword;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(row->name, rows[i].name) == 0)
			return index >= rows[i].first;
	return false;
}

bool text_arguments(struct vm *vm, const struct native *f, const struct arguments *args,
		    struct err *err)
{
	int positional = args->kw ? args->n - args->kw->n : args->n;

	if (f->self.kind == VALUE_DEFERRED_TEXT)
		return text_needed(vm, f->self, err);
	for (int i = 0; f->builtin && i < args->n; i++)
		if (args->at[i].kind == VALUE_DEFERRED_TEXT &&
		    !hands_on(builtin_row(f->id), i, i >= positional))
			return text_needed(vm, args->at[i], err);
	return true;
}

bool force_place(struct vm *vm, struct value *place, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	if (!host->force)
		return err_set(err, ERR_INTERNAL, "a value that no capture knows was read");
	return host->force(host->self, place, err);
}

/* How many operands an instruction looks at; those that only move are 0, and
 * -1 is all that there are. */
static int looks_at(const struct lang_inst *inst)
{
	switch (inst->op) {
	case CODE_LOAD_CONST:
	case CODE_LOAD_FAST:
	case CODE_LOAD_GLOBAL:
	case CODE_LOAD_DEREF:
	case CODE_LOAD_CLOSURE:
	case CODE_STORE_FAST:
	case CODE_STORE_GLOBAL:
	case CODE_STORE_DEREF:
	case CODE_BUILD_TUPLE:
	case CODE_BUILD_LIST:
	case CODE_LIST_APPEND:
	case CODE_COPY:
	case CODE_SWAP:
	case CODE_POP:
	case CODE_JUMP:
	case CODE_RETURN:
	case CODE_IMPORT:
	case CODE_MAKE_CELL:
	case CODE_CLEAR_FAST:
	case CODE_DELETE_FAST:
	case CODE_DELETE_GLOBAL:
	case CODE_DELETE_DEREF:
		return 0;
	case CODE_LOAD_ATTR:
	case CODE_STORE_ATTR:
	case CODE_UNARY_OP:
	case CODE_GET_ITER:
	case CODE_FOR_ITER:
	case CODE_JUMP_IF_FALSE:
	case CODE_JUMP_IF_TRUE:
	case CODE_UNPACK_SEQUENCE:
	case CODE_PUSH_EXC:
	case CODE_POP_EXC:
	case CODE_RERAISE:
	case CODE_BEFORE_WITH:
	case CODE_WITH_EXIT:
		return 1;
	case CODE_BINARY_OP:
	case CODE_INPLACE_OP:
	case CODE_COMPARE_OP:
	case CODE_BINARY_SUBSCR:
	case CODE_DELETE_SUBSCR:
	case CODE_MATCH_CLASS:
	case CODE_EXC_MATCH:
		return 2;
	case CODE_STORE_SUBSCR:
	case CODE_WITH_EXCEPT:
		return 3;
	case CODE_BUILD_SLICE:
	case CODE_BUILD_SET:
	case CODE_BUILD_STRING:
	case CODE_RAISE:
		return inst->arg;
	case CODE_BUILD_MAP:
		return 2 * inst->arg;
	case CODE_FORMAT_VALUE:
		return inst->arg & 4 ? 2 : 1;
	default:
		return -1;
	}
}

/* A call looks at its callee; a function of the program gets its arguments unread. */
static bool force_call(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value *callee = f->top - n - 1;

	if (!force(vm, callee, err))
		return false;
	if (callee->kind == VALUE_FUNCTION ||
	    (callee->kind == VALUE_METHOD && callee->method->function.kind == VALUE_FUNCTION))
		return true;
	for (struct value *v = callee + 1; v < f->top; v++)
		if (!force(vm, v, err))
			return false;
	return true;
}

bool force_operands(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err)
{
	int n = looks_at(inst);
	struct value *first = n < 0 ? f->stack : f->top - n;

	if (inst->op == CODE_CALL)
		return force_call(vm, f, inst->arg, err);
	if (inst->op == CODE_CALL_KW)
		return force_call(vm, f, inst->arg + 1, err);
	for (struct value *v = first; v < f->top; v++)
		if (!force(vm, v, err))
			return false;
	return true;
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

bool inst_fork(struct vm *vm, struct frame *f, bool *handled, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	return host->fork(host->self, vm, f, handled, err);
}
