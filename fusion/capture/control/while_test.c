/* fusion/capture/control/while_test.c -- the test of a while loop: where it is in the code, and
 * whether the loop goes on.
 */
#include <string.h>

#include "fusion/capture/control/while_loop.h"
#include "fusion/capture/trace/trace.h"

/* ---- Finds the while loop that a jump belongs to.
 *
 * The test of a while is before the loop, where it leads into the first round
 * or after the loop, and again at the loop's end.  What is between the jumps
 * of a test (`0 < a < b and c`) only computes.  A jump inside of a loop that leaves
 * it (`if t: break`) is a test as well: a round then goes from there to there. */

static bool is_jump_if(const struct lang_inst *inst)
{
	return inst->op == CODE_JUMP_IF_FALSE || inst->op == CODE_JUMP_IF_TRUE;
}

static bool is_jump(const struct lang_inst *inst)
{
	return is_jump_if(inst) || inst->op == CODE_JUMP;
}

/* Another way through it changes nothing. */
static bool only_computes(enum code_op op)
{
	switch (op) {
	case CODE_LOAD_CONST:
	case CODE_LOAD_FAST:
	case CODE_LOAD_GLOBAL:
	case CODE_LOAD_DEREF:
	case CODE_LOAD_ATTR:
	case CODE_BINARY_OP:
	case CODE_UNARY_OP:
	case CODE_COMPARE_OP:
	case CODE_BINARY_SUBSCR:
	case CODE_BUILD_TUPLE:
	case CODE_BUILD_LIST:
	case CODE_BUILD_SLICE:
	case CODE_CALL:
	case CODE_CALL_KW:
	case CODE_COPY:
	case CODE_SWAP:
	case CODE_POP:
	case CODE_JUMP:
	case CODE_JUMP_IF_FALSE:
	case CODE_JUMP_IF_TRUE:
		return true;
	default:
		return false;
	}
}

static bool leads(const struct while_shape *s, const bool *decided, int to)
{
	return to == s->body || to == s->end || decided[to];
}

/* From which instructions all ways lead into a round or after the loop, and only
 * compute on them. */
static void find_decided(const struct code *code, const struct while_shape *s, bool *decided)
{
	bool changed = true;

	memset(decided, 0, sizeof(*decided) * (size_t)code->n_insts);
	while (changed) {
		changed = false;
		for (int i = code->n_insts - 2; i >= 0; i--) {
			const struct lang_inst *inst = &code->insts[i];
			bool is = only_computes(inst->op);

			if (is && is_jump(inst))
				is = leads(s, decided, inst->arg);
			if (is && inst->op != CODE_JUMP)
				is = leads(s, decided, i + 1);
			changed |= is && !decided[i];
			decided[i] |= is;
		}
	}
}

/* Where the program goes on after the last jump back. */
static int after_jump(const struct code *code, int last)
{
	int at = last + 1;

	while (at < code->n_insts && code->insts[at].op == CODE_JUMP && code->insts[at].arg > at)
		at = code->insts[at].arg;
	return at;
}

/* A loop is gone back to at its test and at its body. */
static int last_jump_to(const struct code *code, int from, int to)
{
	int last = -1;

	for (int i = to; i < code->n_insts; i++)
		if (is_jump(&code->insts[i]) && code->insts[i].arg >= from &&
		    code->insts[i].arg <= to)
			last = i;
	return last;
}

/* The jump is of a test before the loop. */
static bool find_before(const struct code *code, int at, struct while_shape *s, bool *decided)
{
	for (int body = at + 1; body < code->n_insts; body++) {
		int last = last_jump_to(code, body, body);

		if (last < 0)
			continue;
		*s = (struct while_shape){ .body = body,
					   .last = last,
					   .end = after_jump(code, last) };
		find_decided(code, s, decided);
		if (decided[at])
			return true;
	}
	return false;
}

/* Where a side of the jump leaves the loop for; -1: it stays. */
static int leaves(const struct code *code, int side, int last)
{
	const struct lang_inst *inst = &code->insts[side];

	if (side > last)
		return side;
	return inst->op == CODE_JUMP && inst->arg > last ? inst->arg : -1;
}

/* One side leaves the loop that ends with the jump back at `last`, the other stays. */
static bool leaves_one_way(const struct code *code, int at, int last, struct while_shape *out)
{
	int sides[2] = { at + 1, code->insts[at].arg }, to[2];

	for (int i = 0; i < 2; i++)
		to[i] = leaves(code, sides[i], last);
	*out = (struct while_shape){ .body = sides[to[0] < 0 ? 0 : 1],
				     .end = to[0] < 0 ? to[1] : to[0],
				     .last = last };
	return (to[0] < 0) != (to[1] < 0);
}

/* The innermost loop around it that it may leave. */
static bool find_inside(const struct code *code, int at, struct while_shape *s, bool *decided)
{
	for (int i = at; i < code->n_insts; i++) {
		if (!is_jump(&code->insts[i]) || code->insts[i].arg > at ||
		    !leaves_one_way(code, at, last_jump_to(code, code->insts[i].arg, at), s))
			continue;
		memset(decided, 0, sizeof(*decided) * (size_t)code->n_insts);
		decided[at] = true;
		return true;
	}
	return false;
}

/* How many operands the test keeps below the value that the jump takes: a chain of
 * comparisons has its middle there. */
static int operands_of(const struct code *code, const struct while_shape *s, int at)
{
	int below = 0;

	for (int i = at + 1; i != s->body && i != s->end;) {
		const struct lang_inst *inst = &code->insts[i];

		below -= code_effect(inst->op, inst->arg);
		i = inst->op == CODE_JUMP ? inst->arg : i + 1;
	}
	return below;
}

/* the loop that the JUMP_IF_* that f is at may go on or leave; false:
 * none, or out of memory. */
bool while_shape_find(const struct frame *f, struct arena *arena, struct while_shape *out)
{
	const struct code *code = f->code;
	int at = (int)(f->inst - code->insts);
	size_t n = (size_t)code->n_insts;
	bool *tests = ARENA_ARRAY(arena, bool, n), *entry = ARENA_ARRAY(arena, bool, n);
	bool *again = ARENA_ARRAY(arena, bool, n);

	if (!tests || !entry || !again)
		return false;
	if (find_before(code, at, out, tests))
		out->below = operands_of(code, out, at);
	else if (!find_inside(code, at, out, tests))
		return false;
	for (int i = 0; i < code->n_insts; i++) {
		bool ends = i == out->end || code->insts[i].op == CODE_RETURN;

		tests[i] &= is_jump_if(&code->insts[i]);
		again[i] = ends || tests[i];
		entry[i] = again[i] || i == out->body;
	}
	out->entry = entry;
	out->again = again;
	out->tests = tests;
	return out->end < code->n_insts;
}

enum { MAX_BELOW = 8 }; /* operands of a test that wait */

/* ---- Whether a loop goes on: all ways through its test.
 *
 * `a and b or not c` is jumps; each condition that is a tensor is followed both
 * ways, which only computes, and the ways that lead into a round make one bool. */

static int limit(struct while_loop *l, int condition, const struct while_verdict *side,
		 struct err *err)
{
	if (side->known)
		return condition;
	return while_add_two(l, OP_logical_and, condition, side->node, err);
}

bool while_choose(struct while_loop *l, int condition, const struct while_verdict *yes,
		  const struct while_verdict *no, struct while_verdict *out, struct err *err)
{
	int a = -1, b = -1;

	if (yes->known && no->known && yes->holds == no->holds) {
		*out = *yes;
		return true;
	}
	*out = (struct while_verdict){ .known = false };
	if (!yes->known || yes->holds)
		a = limit(l, condition, yes, err);
	if (!no->known || no->holds)
		b = limit(l, while_invert(l, condition, err), no, err);
	out->node = a < 0 ? b : b < 0 ? a : while_add_two(l, OP_logical_or, a, b, err);
	return out->node >= 0;
}

/* From the instruction on: into a round, after the loop, or to the next jump. */
static bool follow(struct while_loop *l, int from, int depth, struct while_verdict *out,
		   struct err *err)
{
	struct frame *f = l->k.frame;
	int at;

	f->inst = f->code->insts + from;
	if (!vm_run_side(l->t->vm, f, l->at.entry, err)) {
		cond_side_failed(&l->k, err);
		return l->k.raised ? cond_refuse(&l->k, "its test may raise an exception") : false;
	}
	at = (int)(f->inst - f->code->insts);
	*out = (struct while_verdict){ .known = true, .holds = at == l->at.body };
	if (at == l->at.body || at == l->at.end)
		return f->top - f->stack == l->k.before.n_stack ||
		       cond_refuse(&l->k, "its test leaves another operand stack");
	if (f->inst->op == CODE_RETURN)
		return cond_refuse(&l->k, "its test returns");
	return while_decide(l, depth + 1, out, err);
}

/* What the test keeps on the operand stack is there for the other way, too. */
static bool follow_both(struct while_loop *l, const int to[2], int depth,
			struct while_verdict *sides, struct err *err)
{
	struct frame *f = l->k.frame;
	int n = (int)(f->top - f->stack) - l->k.before.n_stack;
	struct value kept[MAX_BELOW];
	bool ok;

	if (n < 0 || n > MAX_BELOW)
		return cond_refuse(&l->k, "its test is too long");
	for (int i = 0; i < n; i++)
		kept[i] = value_ref(f->top[i - n]);
	ok = follow(l, to[0], depth, &sides[0], err);
	for (int i = 0; i < n; i++) {
		if (ok)
			*f->top++ = kept[i];
		else
			value_unref(kept[i]);
	}
	return ok && follow(l, to[1], depth, &sides[1], err);
}

/* from the jump that the frame is at. */
bool while_decide(struct while_loop *l, int depth, struct while_verdict *out, struct err *err)
{
	struct frame *f = l->k.frame;
	const struct lang_inst *jump = f->inst;
	int yes = jump->op == CODE_JUMP_IF_TRUE ? jump->arg : (int)(jump - f->code->insts) + 1;
	int no = jump->op == CODE_JUMP_IF_TRUE ? (int)(jump - f->code->insts) + 1 : jump->arg;
	struct value test = f->top[-1], condition;
	struct while_verdict sides[2];
	int writes = l->t->n_writes, node;
	size_t prints = l->t->prints.len;

	if (depth > 16)
		return cond_refuse(&l->k, "its test is too long");
	if (test.kind == VALUE_BOOL) {
		f->top--;
		return follow(l, test.b ? yes : no, depth, out, err);
	}
	if (test.kind == VALUE_TENSOR ? !trace_is_single(l->t, test)
				      : !trace_is_deferred(l->t, test))
		return cond_refuse(&l->k, "its test is no tensor of one element");
	if (!cond_test(l->t, test, OP_ne, &condition, err))
		return false;
	value_unref(*--f->top);
	node = trace_node(l->t, condition, err);
	value_unref(condition);
	if (node < 0 || !follow_both(l, (int[2]){ yes, no }, depth, sides, err))
		return false;
	if (l->t->n_writes != writes || l->t->prints.len != prints)
		return cond_refuse(&l->k, "its test does more than compute");
	return while_choose(l, node, &sides[0], &sides[1], out, err);
}

bool while_close(struct while_loop *l, struct while_verdict *out, struct err *err)
{
	struct frame *f = l->k.frame;
	bool known = l->is_closed;

	l->is_closed = false;
	*out = known ? l->closed : (struct while_verdict){ .known = true, .holds = false };
	if (l->at.tests[f->inst - f->code->insts] && !while_decide(l, 0, out, err))
		return false;
	if (f->inst->op == CODE_RETURN && f->inst - f->code->insts != l->at.end)
		return cond_refuse(&l->k, "a round returns");
	if (f->top - f->stack != l->k.before.n_stack)
		return cond_refuse(&l->k, "a round leaves another operand stack");
	f->inst = f->code->insts + l->at.end;
	return true;
}
