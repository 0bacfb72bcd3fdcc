/* fusion/capture/control/while_shape.c -- finds the while loop that a jump belongs to.
 *
 * The test of a while stands before the loop, where it leads into the first round
 * or behind the loop, and again at the loop's end.  What stands between the jumps
 * of a test (`0 < a < b and c`) only computes.  A jump inside of a loop that leaves
 * it (`if t: break`) is a test as well: a round then goes from there to there.
 */
#include <string.h>

#include "fusion/capture/control/while_loop.h"

static bool is_jump_if(const struct lang_inst *inst)
{
	return inst->op == CODE_JUMP_IF_FALSE || inst->op == CODE_JUMP_IF_TRUE;
}

static bool is_jump(const struct lang_inst *inst)
{
	return is_jump_if(inst) || inst->op == CODE_JUMP;
}

/* Another way through it leaves nothing behind. */
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

static bool leads(const struct loop_shape *s, const bool *decided, int to)
{
	return to == s->body || to == s->end || decided[to];
}

/* From which instructions all ways lead into a round or behind the loop, and only
 * compute on them. */
static void find_decided(const struct code *code, const struct loop_shape *s, bool *decided)
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

/* Where the program goes on behind the last jump back. */
static int behind(const struct code *code, int last)
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
static bool find_before(const struct code *code, int at, struct loop_shape *s, bool *decided)
{
	for (int body = at + 1; body < code->n_insts; body++) {
		int last = last_jump_to(code, body, body);

		if (last < 0)
			continue;
		*s = (struct loop_shape){ .body = body, .last = last, .end = behind(code, last) };
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
static bool leaves_one_way(const struct code *code, int at, int last, struct loop_shape *out)
{
	int sides[2] = { at + 1, code->insts[at].arg }, to[2];

	for (int i = 0; i < 2; i++)
		to[i] = leaves(code, sides[i], last);
	*out = (struct loop_shape){ .body = sides[to[0] < 0 ? 0 : 1],
				    .end = to[0] < 0 ? to[1] : to[0],
				    .last = last };
	return (to[0] < 0) != (to[1] < 0);
}

/* The innermost loop around it that it may leave. */
static bool find_inside(const struct code *code, int at, struct loop_shape *s, bool *decided)
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
static int operands_of(const struct code *code, const struct loop_shape *s, int at)
{
	int below = 0;

	for (int i = at + 1; i != s->body && i != s->end;) {
		const struct lang_inst *inst = &code->insts[i];

		below -= code_effect(inst->op, inst->arg);
		i = inst->op == CODE_JUMP ? inst->arg : i + 1;
	}
	return below;
}

bool loop_shape_find(const struct frame *f, struct arena *arena, struct loop_shape *out)
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
