/* fusion/vm/run.c -- the interpreter loop.
 *
 * A call of a program's function switches frames and goes on in the same loop.
 * frame->inst is always the instruction that runs: hosts, errors and the step
 * limit read the place there, and a caller's frame resumes after its own.
 * Operands were checked when the unit was prepared (unit.c). */
#include "fusion/vm/run.h"

#include "fusion/vm/generator.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/except.h"
#include "fusion/vm/operators.h"

#define INLINE inline __attribute__((always_inline)) /* into both of the loops */

static bool binary(struct vm *vm, struct frame *f, enum binop op, bool inplace, struct err *err)
{
	struct value r;

	if (op == BIN_MOD && f->top[-2].kind == VALUE_STR && !realize_inside(vm, f->top[-1], err))
		return false; /* text % (a, b) */
	if (!(inplace ? op_inplace : op_binary)(vm, op, f->top[-2], f->top[-1], &r, err))
		return false;
	replace(f, 2, r);
	return true;
}

/* By members: a copy as one block would wait for the two stores that wrote the value. */
static inline struct value copied(const struct value *from)
{
	return (struct value){ .head = from->head, .i = from->i };
}

/* Python's int and float + - * without a call; false: not one of those. */
static inline bool quick_binary(struct frame *f, int op)
{
	struct value *a = f->top - 2, *b = f->top - 1;

	if (a->head == VALUE_INT && b->head == VALUE_INT) {
		int64_t r;

		if (op == BIN_ADD   ? __builtin_add_overflow(a->i, b->i, &r)
		    : op == BIN_SUB ? __builtin_sub_overflow(a->i, b->i, &r)
		    : op == BIN_MUL ? __builtin_mul_overflow(a->i, b->i, &r)
				    : true)
			return false;
		a->i = r;
	} else if (a->head == VALUE_FLOAT && b->head == VALUE_FLOAT && op <= BIN_MUL) {
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

	if (op < CMP_IS || op > CMP_IS_NOT)
		if (!realize_inside(vm, f->top[-2], err) ||
		    (f->top[-1].kind != VALUE_DICT && !realize_inside(vm, f->top[-1], err)))
			return false;
	if (!op_compare(vm, op, f->top[-2], f->top[-1], &r, err))
		return false;
	replace(f, 2, r);
	return true;
}

static inline bool quick_compare(struct frame *f, int op)
{
	struct value *a = f->top - 2, *b = f->top - 1;
	bool r;

	if (a->head != VALUE_INT || b->head != VALUE_INT || op > CMP_GE)
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
	return result(vm, f, 1, r, err);
}

static bool store_attr(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	if (!op_store_attribute(vm, f->top[-1], f->code->names[arg], f->top[-2], err))
		return false;
	drop(f, f->top - 2);
	return true;
}

static bool subscript(struct vm *vm, struct frame *f, struct err *err)
{
	struct value r;

	if (!realize_inside(vm, f->top[-1], err) ||
	    !op_subscript(vm, f->top[-2], f->top[-1], &r, err))
		return false;
	return result(vm, f, 2, r, err);
}

static bool store_subscript(struct vm *vm, struct frame *f, struct err *err)
{
	if (!realize_inside(vm, f->top[-1], err) ||
	    !op_store_subscript(vm, f->top[-2], f->top[-1], f->top[-3], err))
		return false;
	replace(f, 3, value_none());
	f->top--;
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

enum run_end { RUN_FAILED, RUN_RETURNED, RUN_STOPPED, RUN_YIELDED };

/* Gives the error the place of the instruction that runs. */
static void locate(struct vm *vm, struct err *err)
{
	const struct frame *f = vm_visible_frame(vm);

	if (err->line == 0 && f) {
		err->line = f->inst->line;
		err->column = f->inst->column;
	}
}

#define TRY(expression)                                                                            \
	do {                                                                                       \
		if (!(expression))                                                                 \
			goto failed;                                                               \
	} while (0)

static void swap(struct value *a, struct value *b)
{
	struct value t = *a;

	*a = *b;
	*b = t;
}

/* A cell that is set and not lazy; false: else. */
static inline bool quick_deref(struct frame *f, int arg)
{
	struct value v = copied(&f->cells[arg].cell->content);

	if (v.kind == VALUE_UNSET || v.kind == VALUE_LAZY)
		return false;
	*f->top++ = value_ref(v);
	return true;
}

/* What works on the operand stack alone: neither jumps nor changes frames. */
static INLINE bool execute(struct vm *vm, struct frame *f, const struct lang_inst *inst,
			   struct err *err)
{
	int arg = inst->arg;

	switch (inst->op) {
	case CODE_LOAD_DEREF:
		return quick_deref(f, arg) || inst_other(vm, f, inst, err);
	case CODE_STORE_DEREF:
		store(&f->cells[arg].cell->content, *--f->top);
		return true;
	case CODE_LOAD_CLOSURE:
		*f->top++ = value_ref(f->cells[arg]);
		return true;
	case CODE_LOAD_ATTR:
		return load_attr(vm, f, inst, err);
	case CODE_STORE_ATTR:
		return store_attr(vm, f, arg, err);
	case CODE_UNARY_OP:
		return unary(vm, f, (enum unop)arg, err);
	case CODE_BINARY_SUBSCR:
		return subscript(vm, f, err);
	case CODE_STORE_SUBSCR:
		return store_subscript(vm, f, err);
	case CODE_GET_ITER:
		return get_iter(vm, f, err);
	case CODE_COPY:
		*f->top = value_ref(f->top[-arg]);
		f->top++;
		return true;
	case CODE_SWAP:
		swap(&f->top[-1], &f->top[-arg]);
		return true;
	case CODE_CLEAR_FAST:
		store(&f->locals[arg], (struct value){ .kind = VALUE_UNSET });
		return true;
	default:
		return inst_other(vm, f, inst, err);
	}
}

/* A global that is set, where no host asks to see it; false: else. */
static inline bool quick_global(struct vm *vm, struct frame *f, int arg)
{
	struct value v = copied(&vm->globals[f->unit->globals[arg]].value);

	if (v.kind == VALUE_UNSET || vm->host->load_global)
		return false;
	*f->top++ = value_ref(v);
	return true;
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
	const struct vm_place *places;
	int n_places;
	const bool *set; /* before any of these of base, by number; NULL: none */
	bool one;        /* after one instruction of base */
};

/* Whether the frames from f out to `base` are in the calls of the place. */
static bool in_calls(const struct vm_place *place, const struct frame *base, const struct frame *f)
{
	int i = place->n - 1;

	while (i > 0 && f != base && f->up->inst == place->at[i - 1]) {
		f = f->up;
		i--;
	}
	return i == 0 && f == base;
}

static INLINE bool is_place(const struct stop *stop, const struct frame *base,
			    const struct frame *f, const struct lang_inst *pc)
{
	for (int i = 0; i < stop->n_places; i++)
		if (stop->places[i].at[stop->places[i].n - 1] == pc &&
		    in_calls(&stop->places[i], base, f))
			return true;
	return false;
}

/* Whether a JUMP_IF_* asks the host, which may follow both ways. */
static inline bool host_may_branch(const struct vm *vm, struct value condition)
{
	return __builtin_expect(
		   condition.kind == VALUE_TENSOR ||
		       (condition.kind >= VALUE_SYMFLOAT && condition.kind <= VALUE_DEFERRED_BOOL),
		   0) &&
	       vm->host->branch;
}

/* Drops its locals and operands. */
static void frame_empty(struct frame *f)
{
	int fixed = f->code->n_locals + f->code->n_cells;

	while (f->top > f->stack)
		value_unref(*--f->top);
	for (int i = 0; i < fixed; i++) {
		struct value v = f->locals[i];

		f->locals[i] = (struct value){ .kind = VALUE_UNSET };
		value_unref(v);
	}
}

/* YIELD of the frame that a run is about, or RETURN where generators may have to be closed. */
static enum run_end leave(struct vm *vm, struct frame *f, const struct lang_inst *inst,
			  struct value *out, struct err *err)
{
	struct value v = *--f->top;

	if (inst->op == CODE_RETURN) {
		frame_empty(f);
		/* now, for a capture ends with the frame */
		if (vm->dropped && !generators_close(vm, err)) {
			value_unref(v);
			return RUN_FAILED;
		}
		frame_pop(vm);
		*out = v;
		return RUN_RETURNED;
	}
	*out = v;
	*f->top++ = value_none(); /* what the yield expression gives when it goes on */
	f->inst = inst + 1;
	return RUN_YIELDED;
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
static bool realize_call(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value *callee = f->top - n - 1;

	if (!realize(vm, callee, err))
		return false;
	if (callee->kind == VALUE_FUNCTION ||
	    (callee->kind == VALUE_METHOD && callee->method->function.kind == VALUE_FUNCTION))
		return true;
	for (struct value *v = callee + 1; v < f->top; v++)
		if (!realize(vm, v, err))
			return false;
	return true;
}

/* Under a host that realizes lazy values: the operands that an instruction of f looks at. */
static bool realize_operands(struct vm *vm, struct frame *f, const struct lang_inst *inst,
			     struct err *err)
{
	int n = looks_at(inst);
	struct value *first = n < 0 ? f->stack : f->top - n;

	if (inst->op == CODE_CALL)
		return realize_call(vm, f, inst->arg, err);
	if (inst->op == CODE_CALL_KW)
		return realize_call(vm, f, inst->arg + 1, err);
	for (struct value *v = first; v < f->top; v++)
		if (!realize(vm, v, err))
			return false;
	return true;
}

/* The loop, compiled twice: with `stop` and without.
 * NOLINTNEXTLINE(readability-function-size): one switch, and what it jumps to */
static INLINE enum run_end interpret(struct vm *vm, const struct frame *base,
				     const struct stop *stop, struct value *out, struct err *err)
{
	struct frame *f = vm->frame;
	const struct lang_inst *pc = f->inst, *inst;
	struct value v;
	bool yes, begun = false;

	for (;;) {
		if (__builtin_expect(vm->dropped != NULL, 0))
			TRY(generators_close(vm, err));
		if (stop) {
			if (is_place(stop, base, f, pc) ||
			    (f == base && ((stop->one && begun) ||
					   (stop->set && stop->set[pc - f->code->insts])))) {
				f->inst = pc;
				return RUN_STOPPED;
			}
			begun |= f == base;
		}
		inst = pc;
		f->inst = inst;
		if (__builtin_expect(--vm->steps_left < 0, 0))
			TRY(vm_spend(vm, 0, err));
		if (stop && vm->host->realize)
			TRY(realize_operands(vm, f, inst, err));
		switch (inst->op) {
		case CODE_LOAD_CONST:
			*f->top++ = value_ref(f->unit->consts[inst->arg]);
			break;
		case CODE_LOAD_FAST:
			v = copied(&f->locals[inst->arg]);
			if (__builtin_expect(
				v.kind == VALUE_UNSET || (v.kind == VALUE_LAZY && !stop), 0))
				TRY(inst_other(vm, f, inst, err));
			else
				*f->top++ = value_ref(v);
			break;
		case CODE_STORE_FAST:
			store(&f->locals[inst->arg], copied(--f->top));
			break;
		case CODE_FOR_ITER:
			TRY(for_iter(vm, f, &yes, err));
			if (yes)
				break;
			value_unref(*--f->top);
			pc = f->code->insts + inst->arg;
			continue;
		case CODE_JUMP:
			pc = f->code->insts + inst->arg;
			continue;
		case CODE_JUMP_IF_FALSE:
		case CODE_JUMP_IF_TRUE:
			yes = false;
			if (host_may_branch(vm, f->top[-1]))
				TRY(vm_host_here(vm)->branch(vm->host->self, vm, f, &yes, err));
			if (yes) {
				pc = f->inst;
				continue;
			}
			TRY(branches(vm, f, inst->op == CODE_JUMP_IF_TRUE, &yes, err));
			if (!yes)
				break;
			pc = f->code->insts + inst->arg;
			continue;
		case CODE_CALL:
		case CODE_CALL_KW:
		case CODE_CALL_EX:
			TRY(inst_call(vm, f, inst, err));
			if (vm->frame == f)
				break;
			f = vm->frame;
			pc = f->inst;
			continue;
		case CODE_RETURN:
		case CODE_YIELD:
			if (f == base && (inst->op == CODE_YIELD || vm->generators_handle))
				return leave(vm, f, inst, out, err);
			v = *--f->top;
			frame_pop(vm);
			if (f == base) {
				*out = v;
				return RUN_RETURNED;
			}
			f = vm->frame;
			*f->top++ = v;
			pc = f->inst + 1;
			continue;
		case CODE_BINARY_OP:
		case CODE_INPLACE_OP:
			if (!quick_binary(f, inst->arg))
				TRY(binary(vm, f, (enum binop)inst->arg,
					   inst->op == CODE_INPLACE_OP, err));
			break;
		case CODE_COMPARE_OP:
			if (!quick_compare(f, inst->arg))
				TRY(compare(vm, f, (enum cmpop)inst->arg, err));
			break;
		case CODE_LOAD_GLOBAL:
			if (!quick_global(vm, f, inst->arg))
				TRY(inst_other(vm, f, inst, err));
			break;
		case CODE_POP:
			value_unref(*--f->top);
			break;
		default:
			TRY(execute(vm, f, inst, err));
		}
		pc = inst + 1;
		continue;
	failed:
		locate(vm, err);
		if (!vm_catch(vm, base, err))
			return RUN_FAILED;
		f = vm->frame;
		pc = f->inst;
	}
}

/* What no program catches ends a run inside its handlers, too: the exception
 * that was handled before is again. */
static void settle(struct vm *vm, struct value handled, enum run_end end)
{
	if (end == RUN_FAILED)
		store(&vm->handled, handled);
	else
		value_unref(handled);
}

/* Runs until `base` ends somehow; a failure pops it. */
static enum run_end run(struct vm *vm, struct frame *base, struct value *out, struct err *err)
{
	struct value handled = value_ref(vm->handled);
	struct err ignored = { 0 };
	enum run_end end;

	if (!err)
		err = &ignored;
	end = interpret(vm, base, NULL, out, err);
	settle(vm, handled, end);
	if (end == RUN_FAILED)
		vm_unwind(vm, base);
	return end;
}

bool vm_run(struct vm *vm, struct frame *base, struct value *out, struct err *err)
{
	return run(vm, base, out, err) == RUN_RETURNED;
}

/* Raises e where the frame paused; false: nothing in it handles that. */
static bool raise_inside(struct vm *vm, struct frame *base, struct value e, struct err *err)
{
	bool begun = base->inst > base->code->insts;

	if (begun)
		base->inst--; /* the yield */
	except_throw(vm, e, err);
	locate(vm, err);
	if (begun && vm_catch(vm, base, err))
		return true;
	vm_unwind(vm, base);
	return false;
}

bool vm_run_generator(struct vm *vm, struct frame *base, struct value thrown, struct value *out,
		      bool *more, struct err *err)
{
	enum run_end end;
	struct value v;

	*more = false;
	if (thrown.kind != VALUE_UNSET && !raise_inside(vm, base, thrown, err))
		return false;
	end = run(vm, base, &v, err);
	*more = end == RUN_YIELDED;
	if (end != RUN_FAILED)
		*out = v;
	return end != RUN_FAILED;
}

bool vm_step(struct vm *vm, struct frame *f, enum vm_step *how, struct value *out, struct err *err)
{
	struct stop stop = { .one = true };
	struct value handled = value_ref(vm->handled);
	enum run_end end = interpret(vm, f, &stop, out, err);

	settle(vm, handled, end);
	*how = end == RUN_RETURNED ? VM_RETURNED : VM_NEXT;
	return end != RUN_FAILED;
}

bool vm_run_until(struct vm *vm, struct frame *f, int stop, bool *stopped, struct value *out,
		  struct err *err)
{
	struct vm_place place = { .at = { f->code->insts + (stop >= 0 ? stop : 0) }, .n = 1 };

	return vm_run_to(vm, f, (struct vm_places){ &place, stop >= 0 }, stopped, out, err);
}

bool vm_run_to(struct vm *vm, struct frame *f, struct vm_places to, bool *stopped,
	       struct value *out, struct err *err)
{
	const struct stop at = { .places = to.at, .n_places = to.n };
	struct value handled = value_ref(vm->handled);
	enum run_end end = interpret(vm, f, &at, out, err);

	settle(vm, handled, end);
	*stopped = end == RUN_STOPPED;
	return end != RUN_FAILED;
}

bool vm_run_side(struct vm *vm, struct frame *f, const bool *stops, struct err *err)
{
	const struct stop at = { .set = stops };
	struct value none;

	return interpret(vm, f, &at, &none, err) == RUN_STOPPED;
}

bool vm_run_unit(struct vm *vm, struct unit *unit, struct value *out, struct err *err)
{
	struct vm_evaluator none = { 0 }, evaluator = vm->evaluator;
	struct frame *f = frame_push(vm, unit, NULL, err);
	struct value made;
	bool ok;

	if (!f)
		return false;
	if (!frame_enter(vm, f, err)) {
		frame_pop(vm);
		return false;
	}
	vm->evaluator = none;
	ok = vm_run(vm, f, &made, err);
	vm->evaluator = evaluator;
	if (ok && out)
		*out = made;
	else if (ok)
		value_unref(made);
	return ok;
}
