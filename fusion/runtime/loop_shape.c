/* fusion/runtime/loop_shape.c -- finds the while loop that a jump belongs to.
 *
 * The test of a while stands before the loop, where it leads into the first round
 * or behind the loop, and again at the loop's end.  A jump inside of a loop that
 * leaves it (`if t: break`) is a test as well: a round then goes from there to
 * there.  What stands between the jumps of a test must only compute.
 */
#include <string.h>

#include "fusion/runtime/fork_loop.h"

static bool is_jump_if(const struct lang_inst *inst)
{
	return inst->op == CODE_JUMP_IF_FALSE || inst->op == CODE_JUMP_IF_TRUE;
}

static bool is_jump(const struct lang_inst *inst)
{
	return is_jump_if(inst) || inst->op == CODE_JUMP;
}

/* Nothing but a test: another way through it leaves nothing behind. */
static bool only_tests(const struct code *code, int from, int to)
{
	for (int i = from; i < to; i++)
		switch (code->insts[i].op) {
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
		case CODE_BUILD_SLICE:
		case CODE_CALL:
		case CODE_CALL_KW:
			break;
		default:
			if (!is_jump_if(&code->insts[i]))
				return false;
		}
	return true;
}

/* The test at the end: the jumps that lead to the first instruction of a round, or
 * behind the loop. */
static bool mark_tests(const struct code *code, struct loop_shape *s, bool *tests)
{
	bool any = false;

	for (int i = s->body; i < s->end; i++) {
		const struct lang_inst *inst = &code->insts[i];

		tests[i] = is_jump_if(inst) && (inst->arg == s->end || inst->arg == s->body);
		any |= tests[i];
	}
	return any;
}

/* The jump is of a test before the loop: `last` is the one that goes back. */
static bool tests_before(const struct code *code, int at, int last, struct loop_shape *out,
			 bool *tests)
{
	*out = (struct loop_shape){ .body = code->insts[last].arg, .end = last + 1 };
	return out->body > at && out->body <= last && only_tests(code, at, out->body) &&
	       mark_tests(code, out, tests);
}

static bool find_before(const struct code *code, int at, struct loop_shape *out, bool *tests)
{
	int to = code->insts[at].arg;

	if (to <= at)
		return false;
	if (is_jump_if(&code->insts[to - 1]) && tests_before(code, at, to - 1, out, tests))
		return true;
	for (int i = code->n_insts - 1; i > to; i--) /* `or`: it leads to the round */
		if (is_jump_if(&code->insts[i]) && code->insts[i].arg == to)
			return tests_before(code, at, i, out, tests);
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
				    .end = to[0] < 0 ? to[1] : to[0] };
	return (to[0] < 0) != (to[1] < 0);
}

/* The innermost loop around it that it may leave. */
static bool find_inside(const struct code *code, int at, struct loop_shape *out, bool *tests)
{
	for (int i = at; i < code->n_insts; i++) {
		if (!is_jump(&code->insts[i]) || code->insts[i].arg > at ||
		    !leaves_one_way(code, at, i, out))
			continue;
		tests[at] = true;
		return true;
	}
	return false;
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
	if (!find_before(code, at, out, tests)) {
		memset(tests, 0, n * sizeof(*tests));
		if (!find_inside(code, at, out, tests))
			return false;
	}
	for (int i = 0; i < code->n_insts; i++) {
		bool ends = i == out->end || code->insts[i].op == CODE_RETURN;

		entry[i] = ends || i == out->body ||
			   (i > at && i < out->body && is_jump_if(&code->insts[i]));
		again[i] = ends || tests[i];
	}
	out->entry = entry;
	out->again = again;
	out->tests = tests;
	return out->end < code->n_insts;
}
