/* fusion/capture/control/while_test.c -- whether a loop goes on: all ways through its test.
 *
 * `a and b or not c` is jumps; each condition that is a tensor is followed both
 * ways, which only computes, and the ways that lead into a round make one bool.
 */
#include <string.h>

#include "fusion/base/vec.h"
#include "fusion/capture/control/while_loop.h"
#include "fusion/capture/prints.h"

enum { MAX_BELOW = 8 }; /* operands of a test that wait */

int loop_add_two(struct looper *l, enum op op, int a, int b, struct err *err)
{
	struct arg args[2] = { arg_node(a), arg_node(b) };

	return a < 0 || b < 0 ? -1 : loop_add(l, op, args, op_info(op)->n_params, "", err);
}

int loop_invert(struct looper *l, int node, struct err *err)
{
	return node < 0 ? -1 : loop_add_two(l, OP_logical_not, node, node, err);
}

static int limit(struct looper *l, int condition, const struct loop_verdict *side, struct err *err)
{
	if (side->known)
		return condition;
	return loop_add_two(l, OP_logical_and, condition, side->node, err);
}

bool loop_choose(struct looper *l, int condition, const struct loop_verdict *yes,
		 const struct loop_verdict *no, struct loop_verdict *out, struct err *err)
{
	int a = -1, b = -1;

	if (yes->known && no->known && yes->holds == no->holds) {
		*out = *yes;
		return true;
	}
	*out = (struct loop_verdict){ .known = false };
	if (!yes->known || yes->holds)
		a = limit(l, condition, yes, err);
	if (!no->known || no->holds)
		b = limit(l, loop_invert(l, condition, err), no, err);
	out->node = a < 0 ? b : b < 0 ? a : loop_add_two(l, OP_logical_or, a, b, err);
	return out->node >= 0;
}

/* From the instruction on: into a round, behind the loop, or to the next jump. */
static bool follow(struct looper *l, int from, int depth, struct loop_verdict *out, struct err *err)
{
	struct frame *f = l->k.frame;
	int at;

	f->inst = f->code->insts + from;
	if (!vm_run_side(l->t->vm, f, l->at.entry, err)) {
		fork_side_failed(&l->k, err);
		return l->k.raised ? fork_refuse(&l->k, "its test may raise an exception") : false;
	}
	at = (int)(f->inst - f->code->insts);
	*out = (struct loop_verdict){ .known = true, .holds = at == l->at.body };
	if (at == l->at.body || at == l->at.end)
		return f->top - f->stack == l->k.before.n_stack ||
		       fork_refuse(&l->k, "its test leaves another operand stack");
	if (f->inst->op == CODE_RETURN)
		return fork_refuse(&l->k, "its test returns");
	return loop_decide(l, depth + 1, out, err);
}

/* What the test keeps on the operand stack is there for the other way, too. */
static bool follow_both(struct looper *l, const int to[2], int depth, struct loop_verdict *sides,
			struct err *err)
{
	struct frame *f = l->k.frame;
	int n = (int)(f->top - f->stack) - l->k.before.n_stack;
	struct value kept[MAX_BELOW];
	bool ok;

	if (n < 0 || n > MAX_BELOW)
		return fork_refuse(&l->k, "its test is too long");
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

bool loop_decide(struct looper *l, int depth, struct loop_verdict *out, struct err *err)
{
	struct frame *f = l->k.frame;
	const struct lang_inst *jump = f->inst;
	int yes = jump->op == CODE_JUMP_IF_TRUE ? jump->arg : (int)(jump - f->code->insts) + 1;
	int no = jump->op == CODE_JUMP_IF_TRUE ? (int)(jump - f->code->insts) + 1 : jump->arg;
	struct value test = f->top[-1], condition;
	struct loop_verdict sides[2];
	int writes = l->t->n_writes, node;
	size_t prints = l->t->prints.len;

	if (depth > 16)
		return fork_refuse(&l->k, "its test is too long");
	if (test.kind == VALUE_BOOL) {
		f->top--;
		return follow(l, test.b ? yes : no, depth, out, err);
	}
	if (test.kind == VALUE_TENSOR ? !fork_is_single(l->t, test) : !trace_is_late(l->t, test))
		return fork_refuse(&l->k, "its test is no tensor of one element");
	if (!fork_condition(l->t, test, OP_ne, &condition, err))
		return false;
	value_unref(*--f->top);
	node = trace_node(l->t, condition, err);
	value_unref(condition);
	if (node < 0 || !follow_both(l, (int[2]){ yes, no }, depth, sides, err))
		return false;
	if (l->t->n_writes != writes || l->t->prints.len != prints)
		return fork_refuse(&l->k, "its test does more than compute");
	return loop_choose(l, node, &sides[0], &sides[1], out, err);
}

bool loop_close(struct looper *l, struct loop_verdict *out, struct err *err)
{
	struct frame *f = l->k.frame;
	bool known = l->is_closed;

	l->is_closed = false;
	*out = known ? l->closed : (struct loop_verdict){ .known = true, .holds = false };
	if (l->at.tests[f->inst - f->code->insts] && !loop_decide(l, 0, out, err))
		return false;
	if (f->inst->op == CODE_RETURN && f->inst - f->code->insts != l->at.end)
		return fork_refuse(&l->k, "a round returns");
	if (f->top - f->stack != l->k.before.n_stack)
		return fork_refuse(&l->k, "a round leaves another operand stack");
	f->inst = f->code->insts + l->at.end;
	return true;
}
