/* fusion/capture/run.c -- the interpreter loop.
 *
 * A call of a program's function switches frames and goes on in the same loop.
 * frame->inst is always the instruction that runs: hosts, errors and the step
 * limit read the place there, and a caller's frame resumes behind its own.
 * Operands were checked when the unit was prepared (unit.c). */
#include "fusion/capture/run.h"

#include "fusion/capture/names.h"
#include "fusion/capture/operators.h"

/* The top n operands become one value; their references are dropped. */
static void replace(struct frame *f, int n, struct value v)
{
	struct value *bottom = f->top - n;

	while (f->top > bottom)
		value_unref(*--f->top);
	*f->top++ = v;
}

static void store(struct value *slot, struct value v) /* takes the reference */
{
	struct value old = *slot;

	*slot = v;
	value_unref(old);
}

static bool unset_local(const struct frame *f, int arg, struct err *err)
{
	return err_set(err, ERR_NAME,
		       "cannot access local variable '%s' where it is not associated with a value",
		       f->code->locals[arg]);
}

static bool unset_cell(const struct frame *f, int arg, struct err *err)
{
	if (arg < f->code->n_own_cells)
		return err_set(err, ERR_NAME,
			       "cannot access local variable '%s' where it is not associated with "
			       "a value",
			       f->code->cells[arg]);
	return err_set(err, ERR_NAME,
		       "cannot access free variable '%s' where it is not associated with a value "
		       "in enclosing scope",
		       f->code->cells[arg]);
}

static bool load_global(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	const struct global *g = &vm->globals[f->unit->globals[arg]];

	if (g->value.kind != VALUE_UNSET)
		*f->top++ = value_ref(g->value);
	else if (g->builtin.kind != VALUE_UNSET)
		*f->top++ = value_ref(g->builtin);
	else
		return vm_unknown_name(vm, g->name, err);
	return true;
}

static bool binary(struct vm *vm, struct frame *f, enum binop op, bool inplace, struct err *err)
{
	struct value r;

	if (!op_binary(vm, op, inplace, f->top[-2], f->top[-1], &r, err))
		return false;
	replace(f, 2, r);
	return true;
}

/* int and float + - * without a call; false: not one of those. */
static inline bool quick_binary(struct frame *f, int op)
{
	struct value *a = f->top - 2, *b = f->top - 1;

	if (a->kind == VALUE_INT && b->kind == VALUE_INT) {
		int64_t r;

		if (op == BIN_ADD   ? __builtin_add_overflow(a->i, b->i, &r)
		    : op == BIN_SUB ? __builtin_sub_overflow(a->i, b->i, &r)
		    : op == BIN_MUL ? __builtin_mul_overflow(a->i, b->i, &r)
				    : true)
			return false;
		a->i = r;
	} else if (a->kind == VALUE_FLOAT && b->kind == VALUE_FLOAT && op <= BIN_MUL) {
		a->f = op == BIN_ADD ? a->f + b->f : op == BIN_SUB ? a->f - b->f : a->f * b->f;
	} else {
		return false;
	}
	f->top--;
	return true;
}

static bool compare(struct vm *vm, struct frame *f, enum cmpop op, struct err *err)
{
	struct value r;

	if (!op_compare(vm, op, f->top[-2], f->top[-1], &r, err))
		return false;
	replace(f, 2, r);
	return true;
}

static inline bool quick_compare(struct frame *f, int op)
{
	struct value *a = f->top - 2, *b = f->top - 1;
	bool r;

	if (a->kind != VALUE_INT || b->kind != VALUE_INT || op > CMP_GE)
		return false;
	r = op == CMP_LT   ? a->i < b->i
	    : op == CMP_LE ? a->i <= b->i
	    : op == CMP_EQ ? a->i == b->i
	    : op == CMP_NE ? a->i != b->i
	    : op == CMP_GT ? a->i > b->i
			   : a->i >= b->i;
	*a = value_bool(r);
	f->top--;
	return true;
}

static bool unary(struct vm *vm, struct frame *f, enum unop op, struct err *err)
{
	struct value r;

	if (!op_unary(vm, op, f->top[-1], &r, err))
		return false;
	replace(f, 1, r);
	return true;
}

static bool load_attr(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err)
{
	struct attr_site *site = &f->unit->sites[inst - f->code->insts];
	struct value o = f->top[-1], r;

	if (o.kind == VALUE_MODULE && site->module.object == o.object && site->epoch == vm->epoch)
		r = value_ref(site->value);
	else if (!op_attribute(vm, site, o, f->code->names[inst->arg], &r, err))
		return false;
	replace(f, 1, r);
	return true;
}

static bool store_attr(struct frame *f, int arg, struct err *err)
{
	return err_set(err, ERR_TYPE, "attribute '%s' of '%s' objects cannot be set",
		       f->code->names[arg], value_type_name(f->top[-1]));
}

static bool subscript(struct vm *vm, struct frame *f, struct err *err)
{
	struct value r;

	if (!op_subscript(vm, f->top[-2], f->top[-1], &r, err))
		return false;
	replace(f, 2, r);
	return true;
}

static bool store_subscript(struct vm *vm, struct frame *f, struct err *err)
{
	if (!op_store_subscript(vm, f->top[-2], f->top[-1], f->top[-3], err))
		return false;
	replace(f, 3, value_none());
	f->top--;
	return true;
}

/* The operands' references move into the new sequence. */
static bool build_sequence(struct vm *vm, struct frame *f, enum value_kind kind, int n,
			   struct err *err)
{
	struct value v = value_sequence(kind, n);

	if (v.kind == kind) {
		for (int i = 0; i < n; i++)
			v.list->at[i] = f->top[i - n];
		v.list->len = n;
		f->top -= n;
	}
	if (!vm_keep(vm, v, &v, err))
		return false;
	*f->top++ = v;
	return true;
}

static bool build_map(struct vm *vm, struct frame *f, int pairs, struct err *err)
{
	struct value v, *at = f->top - 2 * pairs;

	if (!vm_keep(vm, value_dict(), &v, err))
		return false;
	for (int i = 0; i < pairs; i++) {
		bool ok = op_make_key(vm, &at[2 * i], err);

		if (ok && !value_dict_set(v.dict, at[2 * i], at[2 * i + 1]))
			ok = vm_out_of_memory(vm, err);
		if (!ok) {
			value_unref(v);
			return false;
		}
	}
	replace(f, 2 * pairs, v);
	return true;
}

static bool build_slice(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value step = n == 3 ? f->top[-1] : value_none(), v;

	if (!vm_keep(vm, value_slice(f->top[-n], f->top[1 - n], step), &v, err))
		return false;
	replace(f, n, v);
	return true;
}

static bool unpack(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value s = f->top[-1];
	struct value *to = f->top - 1;

	/* s is at to[0]: the items are put above it in reverse, then it goes */
	if (n == 2 && s.kind == VALUE_TUPLE && s.list->len == 2) {
		to[0] = value_ref(s.list->at[1]);
		to[1] = value_ref(s.list->at[0]);
	} else {
		f->top--; /* an error must not see s twice */
		if (!op_unpack(vm, s, n, to, err)) {
			*f->top++ = s;
			return false;
		}
		for (int i = 0; i < n / 2; i++) {
			struct value t = to[i];

			to[i] = to[n - 1 - i];
			to[n - 1 - i] = t;
		}
	}
	f->top = to + n;
	value_unref(s);
	return true;
}

static bool get_iter(struct vm *vm, struct frame *f, struct err *err)
{
	struct value it;

	if (!op_iter(vm, f->top[-1], &it, err))
		return false;
	replace(f, 1, it);
	return true;
}

/* The items of a range, which most loops are over, without a call. */
static inline bool for_iter(struct vm *vm, struct frame *f, bool *more, struct err *err)
{
	struct iter *it = f->top[-1].iter;

	if (f->top[-1].kind != VALUE_ITER)
		return err_set(err, ERR_INTERNAL, "FOR_ITER without an iterator");
	if (it->over.kind == VALUE_RANGE && it->iter_kind == ITER_SEQUENCE) {
		const struct range *r = it->over.range;

		*more = it->position < it->length;
		if (*more)
			*f->top++ = value_int(r->start + it->position++ * r->step);
		return true;
	}
	if (!op_next(vm, it, f->top, more, err))
		return false;
	f->top += *more;
	return true;
}

static bool make_function(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	const struct unit *unit = &f->unit->nested[arg];
	struct value defaults = f->top[-3], kw = f->top[-2], closure = f->top[-1], v;
	int free_cells = unit->code->n_cells - unit->code->n_own_cells;

	if ((closure.kind == VALUE_TUPLE ? closure.list->len : 0) != free_cells)
		return err_set(err, ERR_INTERNAL, "the closure of %s does not fit its code",
			       unit->code->name);
	if (!vm_keep(vm, value_function(unit->code), &v, err))
		return false;
	v.function->unit = unit;
	if (defaults.kind == VALUE_TUPLE)
		v.function->defaults = value_ref(defaults).list;
	if (kw.kind == VALUE_DICT)
		v.function->kwdefaults = value_ref(kw).dict;
	if (closure.kind == VALUE_TUPLE)
		v.function->closure = value_ref(closure).list;
	replace(f, 3, v);
	return true;
}

static bool import(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value m;

	if (!vm_module(vm, f->code->names[arg], &m, err))
		return false;
	*f->top++ = value_ref(m);
	return true;
}

/* A call of a program's function leaves its frame as vm->frame; any other is
 * done when this returns.  `names`: of the last arguments, or NULL. */
static bool call(struct vm *vm, struct frame *f, int n, const struct list *names, struct err *err)
{
	const struct value *args = f->top - n;
	struct value callee = f->top[-n - 1], r;
	struct keywords kw = { 0 };
	struct frame *g;
	bool done;

	if (names)
		kw = (struct keywords){ names->len, names->at };
	if (kw.n > n)
		return err_set(err, ERR_INTERNAL, "a call has more names than arguments");
	if (callee.kind != VALUE_FUNCTION) {
		if (!vm_call_native(vm, callee, args, n, names ? &kw : NULL, &r, err))
			return false;
		replace(f, n + 1, r);
		return true;
	}
	g = frame_push(vm, callee.function->unit, callee.function, err);
	if (!g)
		return false;
	if (!frame_bind(vm, g, args, n, names ? &kw : NULL, err)) {
		frame_pop(vm);
		return false;
	}
	while (f->top > args - 1)
		value_unref(*--f->top);
	return vm_evaluate(vm, g, &done, &r, err) && (!done || (*f->top++ = r, true));
}

static bool call_kw(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value names = *--f->top;
	bool ok;

	if (names.kind != VALUE_TUPLE) {
		f->top++;
		return err_set(err, ERR_INTERNAL, "CALL_KW without names");
	}
	ok = call(vm, f, n, names.list, err);
	value_unref(names);
	return ok;
}

static enum run_end fail(struct vm *vm, struct err *err)
{
	const struct lang_inst *inst = vm->frame->inst;

	if (err->line == 0) {
		err->line = inst->line;
		err->column = inst->column;
	}
	return RUN_FAILED;
}

#define TRY(expression)                                                                            \
	do {                                                                                       \
		if (!(expression))                                                                 \
			goto failed;                                                               \
	} while (0)

static bool load_cell(struct frame *f, int arg, struct err *err)
{
	struct value v = f->cells[arg].cell->content;

	if (v.kind == VALUE_UNSET)
		return unset_cell(f, arg, err);
	*f->top++ = value_ref(v);
	return true;
}

static void swap(struct value *a, struct value *b)
{
	struct value t = *a;

	*a = *b;
	*b = t;
}

/* What works on the operand stack alone: neither jumps nor changes frames. */
static bool execute(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err)
{
	int arg = inst->arg;

	switch (inst->op) {
	case CODE_LOAD_GLOBAL:
		return load_global(vm, f, arg, err);
	case CODE_STORE_GLOBAL:
		store(&vm->globals[f->unit->globals[arg]].value, *--f->top);
		return true;
	case CODE_LOAD_DEREF:
		return load_cell(f, arg, err);
	case CODE_STORE_DEREF:
		store(&f->cells[arg].cell->content, *--f->top);
		return true;
	case CODE_LOAD_CLOSURE:
		*f->top++ = value_ref(f->cells[arg]);
		return true;
	case CODE_LOAD_ATTR:
		return load_attr(vm, f, inst, err);
	case CODE_STORE_ATTR:
		return store_attr(f, arg, err);
	case CODE_BINARY_OP:
	case CODE_INPLACE_OP:
		return quick_binary(f, arg) ||
		       binary(vm, f, (enum binop)arg, inst->op == CODE_INPLACE_OP, err);
	case CODE_UNARY_OP:
		return unary(vm, f, (enum unop)arg, err);
	case CODE_COMPARE_OP:
		return quick_compare(f, arg) || compare(vm, f, (enum cmpop)arg, err);
	case CODE_BINARY_SUBSCR:
		return subscript(vm, f, err);
	case CODE_STORE_SUBSCR:
		return store_subscript(vm, f, err);
	case CODE_BUILD_TUPLE:
	case CODE_BUILD_LIST:
		return build_sequence(vm, f, inst->op == CODE_BUILD_LIST ? VALUE_LIST : VALUE_TUPLE,
				      arg, err);
	case CODE_BUILD_MAP:
		return build_map(vm, f, arg, err);
	case CODE_BUILD_SLICE:
		return build_slice(vm, f, arg, err);
	case CODE_UNPACK_SEQUENCE:
		return unpack(vm, f, arg, err);
	case CODE_GET_ITER:
		return get_iter(vm, f, err);
	case CODE_COPY:
		*f->top = value_ref(f->top[-arg]);
		f->top++;
		return true;
	case CODE_SWAP:
		swap(&f->top[-1], &f->top[-arg]);
		return true;
	case CODE_POP:
		value_unref(*--f->top);
		return true;
	case CODE_MAKE_FUNCTION:
		return make_function(vm, f, arg, err);
	case CODE_IMPORT:
		return import(vm, f, arg, err);
	default:
		return err_set(err, ERR_INTERNAL, "instruction %d is unknown to the VM",
			       (int)inst->op);
	}
}

/* JUMP_IF_*: whether to jump; pops the condition. */
static inline bool branches(struct vm *vm, struct frame *f, bool wanted, bool *jump,
			    struct err *err)
{
	bool truth;

	if (f->top[-1].kind == VALUE_BOOL)
		truth = f->top[-1].b;
	else if (!op_truth(vm, f->top[-1], &truth, err))
		return false;
	value_unref(*--f->top);
	*jump = truth == wanted;
	return true;
}

/* Where a run ends before `base` returns. */
struct stop {
	const struct lang_inst *at; /* of base; NULL: nowhere */
	bool one;                   /* after one instruction of base */
};

/* The loop, compiled twice: with `stop` and without. */
static inline __attribute__((always_inline)) enum run_end
interpret(struct vm *vm, const struct frame *base, const struct stop *stop, struct value *out,
	  struct err *err)
{
	struct frame *f = vm->frame;
	const struct lang_inst *pc = f->inst, *inst;
	struct value v;
	bool yes, begun = false;

	for (;;) {
		if (stop && f == base) {
			if (pc == stop->at || (stop->one && begun)) {
				f->inst = pc;
				return RUN_STOPPED;
			}
			begun = true;
		}
		inst = pc++;
		f->inst = inst;
		if (__builtin_expect(--vm->steps_left < 0, 0))
			TRY(vm_out_of_steps(vm, err));
		switch (inst->op) {
		case CODE_LOAD_CONST:
			*f->top++ = value_ref(f->unit->consts[inst->arg]);
			break;
		case CODE_LOAD_FAST:
			v = f->locals[inst->arg];
			if (__builtin_expect(v.kind == VALUE_UNSET, 0))
				TRY(unset_local(f, inst->arg, err));
			*f->top++ = value_ref(v);
			break;
		case CODE_STORE_FAST:
			store(&f->locals[inst->arg], *--f->top);
			break;
		case CODE_FOR_ITER:
			TRY(for_iter(vm, f, &yes, err));
			if (!yes) {
				value_unref(*--f->top);
				pc = f->code->insts + inst->arg;
			}
			break;
		case CODE_JUMP:
			pc = f->code->insts + inst->arg;
			break;
		case CODE_JUMP_IF_FALSE:
		case CODE_JUMP_IF_TRUE:
			TRY(branches(vm, f, inst->op == CODE_JUMP_IF_TRUE, &yes, err));
			if (yes)
				pc = f->code->insts + inst->arg;
			break;
		case CODE_CALL:
			TRY(call(vm, f, inst->arg, NULL, err));
			goto called;
		case CODE_CALL_KW:
			TRY(call_kw(vm, f, inst->arg, err));
		called:
			if (vm->frame != f) {
				f = vm->frame;
				pc = f->inst;
			}
			break;
		case CODE_RETURN:
			v = *--f->top;
			yes = f == base;
			frame_pop(vm);
			if (yes) {
				*out = v;
				return RUN_RETURNED;
			}
			f = vm->frame;
			*f->top++ = v;
			pc = f->inst + 1;
			break;
		default:
			TRY(execute(vm, f, inst, err));
		}
	}
failed:
	return fail(vm, err);
}

bool vm_run(struct vm *vm, struct frame *base, struct value *out, struct err *err)
{
	struct err ignored;

	if (!err)
		err = &ignored;
	if (interpret(vm, base, NULL, out, err) == RUN_RETURNED)
		return true;
	vm_unwind(vm, base);
	return false;
}

bool vm_step(struct vm *vm, struct frame *f, enum vm_step *how, struct value *out, struct err *err)
{
	struct stop stop = { .one = true };
	enum run_end end = interpret(vm, f, &stop, out, err);

	*how = end == RUN_RETURNED ? VM_RETURNED : VM_NEXT;
	return end != RUN_FAILED;
}

bool vm_run_until(struct vm *vm, struct frame *f, int stop, bool *stopped, struct value *out,
		  struct err *err)
{
	struct stop at = { .at = stop >= 0 ? f->code->insts + stop : NULL };
	enum run_end end = interpret(vm, f, &at, out, err);

	*stopped = end == RUN_STOPPED;
	return end != RUN_FAILED;
}
