/* fusion/capture/decide.c -- the five outcomes of a break, as TorchDynamo has them.
 *
 * A break is resumed after (RESUME, JUMP; INLINE where it is in a callee)
 * if the instruction is one that a frame can go on after.  In a loop the whole
 * frame is given up (SKIP), unless an attribute is set there, and gone on with round by
 * round; in a try or a user's with block everything from
 * the block on (STEP).
 *
 * Policy native goes on in for loops, try and with blocks too: a frame is resumed
 * from its locals and operands alone.  What follows in the round is a piece that
 * ends before the next one, so the iterator is only handed on, and all rounds run
 * the same entries.
 */
#include "fusion/capture/decide.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SEARCHED = 64 };

static bool jumps(enum code_op op)
{
	return op == CODE_JUMP || op == CODE_JUMP_IF_FALSE || op == CODE_JUMP_IF_TRUE ||
	       op == CODE_FOR_ITER;
}

static bool is_jumped_to(const struct code *code, int inst)
{
	for (int i = 0; i < code->n_insts; i++)
		if (jumps(code->insts[i].op) && code->insts[i].arg == inst)
			return true;
	return false;
}

/* CPython copies a few instructions that end in a return to where something jumps to them: after
 * `break` the return comes at once. */
static bool is_copied(const struct code *code, int to)
{
	enum { COPIED = 4 };

	for (int i = to; i < code->n_insts && i < to + COPIED; i++) {
		if (code->insts[i].op == CODE_RETURN)
			return true;
		if (jumps(code->insts[i].op) || (i > to && is_jumped_to(code, i)))
			return false;
	}
	return false;
}

/* Whether CPython leads a jump to this one on to where it leads: one that no line of the program
 * has, as the end of a round of a for loop; a while loop has the line of its test there. */
static bool is_led_on(const struct code *code, int inst)
{
	const struct lang_inst *at = &code->insts[inst];

	return at->op == CODE_JUMP && (at->arg > inst || code->insts[at->arg].op == CODE_FOR_ITER);
}

static int jump_target(const struct code *code, int inst)
{
	int to = code->insts[inst].arg;

	while (code->insts[inst].op != CODE_FOR_ITER && to > inst && is_led_on(code, to))
		to = code->insts[to].arg;
	return to;
}

/* From the instruction to the first return, any jump to before it: torch's maybe_has_backedge()
 * over what CPython 3.12 makes of the function. */
static bool in_loop(const struct code *code, int inst)
{
	for (int i = inst; i < code->n_insts; i++) {
		const struct lang_inst *at = &code->insts[i];

		if (jumps(at->op) && jump_target(code, i) < inst)
			return true;
		if (at->op == CODE_RETURN ||
		    (at->op == CODE_JUMP && at->arg > i && is_copied(code, at->arg)))
			return false;
	}
	return false;
}

/* All loops around the instruction are for loops, where a round ends in one place. */
static bool in_for_loops(const struct code *code, int inst)
{
	for (int i = inst; i < code->n_insts; i++)
		if (jumps(code->insts[i].op) && code->insts[i].arg <= inst &&
		    code->insts[code->insts[i].arg].op != CODE_FOR_ITER)
			return false;
	return true;
}

int decide_round_end(const struct code *code, int inst)
{
	int found = -1;

	for (int i = inst; i < code->n_insts; i++) {
		int to = code->insts[i].arg;

		if (code->insts[i].op == CODE_JUMP && to <= inst && to > found &&
		    code->insts[to].op == CODE_FOR_ITER)
			found = to;
	}
	return found;
}

static bool can_resume(enum code_op op)
{
	switch (op) {
	case CODE_CALL:
	case CODE_CALL_KW:
	case CODE_CALL_EX:
	case CODE_LOAD_ATTR:
	case CODE_STORE_ATTR:
	case CODE_BINARY_SUBSCR:
	case CODE_STORE_SUBSCR:
	case CODE_DELETE_SUBSCR:
	case CODE_FORMAT_VALUE:
	case CODE_IMPORT:
	case CODE_MAKE_CLASS:
	case CODE_BEFORE_WITH:
	case CODE_WITH_EXIT:
	case CODE_JUMP_IF_FALSE:
	case CODE_JUMP_IF_TRUE:
		return true;
	default:
		return false;
	}
}

/* What needs a number or text that the graph computes: native goes on there, too. */
static bool computes(enum code_op op)
{
	switch (op) {
	case CODE_BINARY_OP:
	case CODE_INPLACE_OP:
	case CODE_UNARY_OP:
	case CODE_COMPARE_OP:
	case CODE_BUILD_MAP:
	case CODE_BUILD_SET:
	case CODE_GET_ITER:
	case CODE_UNPACK_SEQUENCE:
		return true;
	default:
		return false;
	}
}

/* The exit of a manager that the prelude defines (torch.no_grad). */
static bool is_ours(struct value leave)
{
	return leave.kind == VALUE_METHOD && leave.method->self.kind == VALUE_INSTANCE &&
	       leave.method->self.instance->class->hidden;
}

/* A with statement over a manager of torch is left and entered again at will. */
static bool is_own_context(const struct frame *f, const struct lang_handler *h)
{
	return h->kind == HANDLER_WITH && h->depth >= 1 && f->top - f->stack >= h->depth &&
	       is_ours(f->stack[h->depth - 1]);
}

/* The outermost block around the instruction that nothing can be resumed in. */
static const struct lang_handler *bad_block(const struct trace *t, const struct frame *f)
{
	const struct code *code = f->code;
	int inst = (int)(f->inst - code->insts);
	const struct lang_handler *found = NULL;

	for (int i = 0; i < code->n_handlers; i++) {
		const struct lang_handler *h = &code->handlers[i];

		if (inst >= h->start && inst < h->end && !is_own_context(f, h) &&
		    (!t->native || h->kind == HANDLER_CLEANUP))
			found = h;
	}
	return found;
}

/* The depth of the operand stack before each instruction; -1: never reached. */
static void find_depths(const struct code *code, int *depth)
{
	for (int i = 1; i <= code->n_insts; i++)
		depth[i] = -1;
	depth[0] = 0;
	for (int i = 0; i < code->n_insts; i++) {
		const struct lang_inst *inst = &code->insts[i];
		int after;

		for (int h = 0; h < code->n_handlers; h++)
			if (code->handlers[h].target == i)
				depth[i] = code->handlers[h].depth + 1;
		if (depth[i] < 0)
			continue;
		after = depth[i] + code_effect(inst->op, inst->arg);
		if (inst->op == CODE_FOR_ITER)
			depth[inst->arg] = depth[i] - 1;
		else if (jumps(inst->op))
			depth[inst->arg] = after;
		if (inst->op != CODE_JUMP && inst->op != CODE_RETURN && inst->op != CODE_RAISE &&
		    inst->op != CODE_RERAISE)
			depth[i + 1] = after;
	}
}

/* The last place at or before the instruction where no operand waits; -1: none. */
static int checkpoint(const struct code *code, int at)
{
	int *depth = malloc(sizeof(*depth) * ((size_t)code->n_insts + 1));

	if (!depth)
		return -1;
	find_depths(code, depth);
	while (at >= 0 && depth[at] != 0)
		at--;
	free(depth);
	return at;
}

int decide_before_try(const struct code *code, int stop)
{
	const struct lang_handler *found = NULL;

	for (int i = 0; i < code->n_handlers; i++) {
		const struct lang_handler *h = &code->handlers[i];

		if (h->start <= stop && stop < h->target && (!found || h->start < found->start))
			found = h;
	}
	return found ? checkpoint(code, found->start) : -1;
}

/* The outermost comprehension around the instruction; NULL: none. */
static const struct lang_comprehension *around(const struct code *code, int inst)
{
	for (int i = code->n_comprehensions - 1; i >= 0; i--)
		if (inst >= code->comprehensions[i].start && inst < code->comprehensions[i].end)
			return &code->comprehensions[i];
	return NULL;
}

/* Whether a frame can go on after the instruction that it is at. */
static struct decision decide_frame(const struct trace *t, const struct frame *f)
{
	const struct code *code = f->code;
	int inst = (int)(f->inst - code->insts);
	enum code_op op = code->insts[inst].op;
	const struct lang_handler *block = bad_block(t, f);
	struct decision d = { .outcome = OUTCOME_SKIP, .stop = inst };
	const struct lang_comprehension *c = around(code, inst);

	if (t->brk.id == BREAK_NUMBER_FORMAT) { /* the whole frame, as torch */
		d.because = BREAK_NONE;
	} else if (!t->native && f->unit->hidden && strcmp(code->name, "decorate_autocast") == 0) {
		d.because = BREAK_NONE; /* torch gives up the frame that its decorator makes */
	} else if (op == CODE_BEFORE_WITH && !t->native) { /* torch gives up before it, too */
		d.because = BREAK_IN_WITH;
		d.outcome = OUTCOME_STEP;
		d.stop = checkpoint(code, inst);
	} else if (block) {
		d.because = block->kind == HANDLER_WITH ? BREAK_IN_WITH : BREAK_IN_TRY;
		d.outcome = OUTCOME_STEP;
		d.stop = checkpoint(code, block->start);
	} else if (!t->native && !c && !can_resume(op)) { /* in a loop, too */
		d.because = BREAK_NO_RESUME;
		d.outcome = OUTCOME_STEP;
		d.stop = checkpoint(code, inst);
	} else if (in_loop(code, c ? c->start : inst) &&
		   !((t->native || (op == CODE_STORE_ATTR && !c)) &&
		     in_for_loops(code, c ? c->start : inst))) {
		d.because = BREAK_IN_LOOP;
	} else if (c) { /* as torch since 2.11: runs in eager as a whole */
		d.outcome = OUTCOME_RESUME;
		d.stop = c->start;
		d.as_a_whole = true;
	} else if (!can_resume(op) && !(t->native && computes(op))) {
		d.because = BREAK_NO_RESUME;
	} else {
		d.outcome = jumps(op) ? OUTCOME_JUMP : OUTCOME_RESUME;
	}
	return d;
}

/* Whether the frame may be in its call while the piece ends further in. */
static bool may_wait(const struct trace *t, const struct frame *f)
{
	struct decision d = decide_frame(t, f);

	return t->native && d.outcome == OUTCOME_RESUME && !d.as_a_whole;
}

/* Whether a sparse tensor that nobody has looked at is among the arguments of the frame. */
static bool is_given_sparse(const struct trace *t, const struct frame *f)
{
	for (int i = 0; i < f->code->n_locals; i++)
		if (f->locals[i].kind == VALUE_LAZY &&
		    variables_is_sparse(t->sources->at[f->locals[i].i].value))
			return true;
	return false;
}

/* Whether the frames further in than `level` are the prelude's alone. */
static bool is_last_of_program(struct frame *const *frames, int n, int level)
{
	while (level + 1 < n && frames[n - 1]->unit->hidden)
		n--;
	return level + 1 >= n;
}

/* What torch cannot take as an input of a graph, or an operand that a piece leaves: the frame
 * that reads it, or hands it on, ends where the statement begins; so does one that slices by a
 * tensor, and one that is given a module before its __init__.  After a frame that reads a
 * recurrent layer come the layer's forward() and what marks its beginning. */
static bool ends_statement(const struct trace *t, struct frame *const *frames, int n, int level)
{
	enum { OF_LAYER = 2 };

	if (t->brk.id == BREAK_SLICE_BOUND)
		return level + 1 >= n;
	if (t->brk.id == BREAK_MODULE_BEFORE_INIT)
		return is_last_of_program(frames, n, level);
	if (t->brk.id == BREAK_SPARSE)
		return level + 1 >= n || is_given_sparse(t, frames[level + 1]);
	return t->brk.id == BREAK_RNN && level + 1 + OF_LAYER >= n;
}

static struct decision decide_statement(const struct trace *t, const struct frame *f)
{
	const struct lang_handler *block = bad_block(t, f);
	int inst = (int)(f->inst - f->code->insts);

	return (struct decision){ .outcome = OUTCOME_STEP,
				  .because = BREAK_NONE,
				  .stop = checkpoint(f->code, block ? block->start : inst) };
}

struct break_search {
	const struct vm *vm;
	const struct code *wanted, *seen[MAX_SEARCHED];
	int n;
};

/* Whether the code, or what it calls by the names of functions, calls the wanted. */
static bool leads_to(struct break_search *s, const struct unit *unit)
{
	const struct code *code = unit->code;

	for (int i = 0; i < s->n; i++)
		if (s->seen[i] == code)
			return false;
	if (s->n == MAX_SEARCHED)
		return false;
	s->seen[s->n++] = code;
	for (int i = 0; i < code->n_insts; i++) {
		const struct lang_inst *inst = &code->insts[i];
		struct value v;
		int slot;

		if (inst->op == CODE_LOAD_DEREF && code == s->wanted &&
		    strcmp(code->cells[inst->arg], code->name) == 0)
			return true;
		if (inst->op != CODE_LOAD_GLOBAL)
			continue;
		slot = vm_global_find(s->vm, unit->owner, code->names[inst->arg]);
		v = slot >= 0 ? s->vm->globals[slot].value : (struct value){ .kind = VALUE_UNSET };
		if (v.kind == VALUE_FUNCTION &&
		    (v.function->code == s->wanted || leads_to(s, v.function->unit)))
			return true;
	}
	return false;
}

/* A function that calls itself is a frame of its own each time: its pieces are as
 * many as it has places, not as deep as it goes. */
static bool is_recursive(const struct vm *vm, struct frame *const *frames, int level)
{
	const struct unit *unit = frames[level]->unit;
	struct break_search search = { .vm = vm, .wanted = unit->code };

	for (int i = 0; i < level && !unit->hidden; i++)
		if (frames[i]->code == unit->code)
			return true;
	return !unit->hidden && leads_to(&search, unit);
}

/* The frames of the piece, outermost first; how many.  Those that C code waits
 * for are gone when a break is decided. */
static int standing(const struct trace *t, struct frame **frames)
{
	int n = 1, at;

	for (struct frame *f = t->vm->frame; f != t->base; f = f->up)
		n++;
	at = n;
	for (struct frame *f = t->vm->frame; at > 0; f = f->up)
		if (--at < VM_MAX_PLACE)
			frames[at] = f;
	return n < VM_MAX_PLACE ? n : VM_MAX_PLACE;
}

struct decision decide_break(const struct trace *t, int most_frames)
{
	struct frame *frames[VM_MAX_PLACE];
	int n = standing(t, frames), stand = n, first = 0, last;
	struct decision d;

	/* the frames that the piece began in are in their calls already */
	while (first + 1 < n && frames[first + 1]->shadow_of)
		first++;
	if (n > most_frames)
		n = most_frames;
	for (last = first; last + 1 < n && may_wait(t, frames[last]); last++)
		if (is_recursive(t->vm, frames, last + 1))
			break;
	for (int level = last;; level--) {
		d = ends_statement(t, frames, stand, level) ? decide_statement(t, frames[level])
							    : decide_frame(t, frames[level]);
		if (level == first || ((d.outcome == OUTCOME_RESUME || d.outcome == OUTCOME_JUMP) &&
				       !frames[level]->unit->hidden)) {
			last = level;
			break;
		}
	}
	if (d.outcome == OUTCOME_RESUME || d.outcome == OUTCOME_JUMP)
		d.outcome = last + 1 < t->brk.depth ? OUTCOME_INLINE : d.outcome;
	d.frame = frames[last];
	d.place.n = last + 1;
	for (int i = 0; i < last; i++)
		d.place.at[i] = frames[i]->inst;
	d.place.at[last] = frames[last]->code->insts + d.stop;
	return d;
}
