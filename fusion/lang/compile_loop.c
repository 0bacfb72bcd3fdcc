/* fusion/lang/compile_loop.c -- loops, and what jumps out of blocks.
 *
 * return, break and continue undo each block on their way, the innermost first:
 * they drop its operands, run its finally or exit.  Meanwhile its guard is off,
 * as an error there is no longer the block's.
 */
#include "fusion/lang/compile.h"

/* A return in a finally block that a return runs, and so on: the stack. */
enum { MOST_UNWINDING = 16 };

/* What lies on top of the operands to drop stays on top. */
static bool keep_top(struct builder *b, struct place at, bool keep)
{
	return !keep || emit(b, at, CODE_SWAP, 2);
}

/* A break in the finally block drops the value of the return that runs it. */
static bool leave_finally(struct builder *b, const struct block *block, bool keep)
{
	struct block value = { .kind = BLOCK_VALUE, .outer = b->block };
	bool ok;

	if (!keep)
		return compile_statements(b, block->finally);
	b->block = &value;
	ok = compile_statements(b, block->finally);
	b->block = value.outer;
	return ok;
}

static bool leave(struct builder *b, struct place at, const struct block *block, bool keep)
{
	switch (block->kind) {
	case BLOCK_FOR:
	case BLOCK_VALUE:
		return keep_top(b, at, keep) && emit(b, at, CODE_POP, 0);
	case BLOCK_EXCEPT:
		return keep_top(b, at, keep) && emit(b, at, CODE_POP_EXC, 0);
	case BLOCK_NAMED:
		return compile_unset_name(b, at, block->name);
	case BLOCK_FINALLY:
		return leave_finally(b, block, keep);
	case BLOCK_RAISED:
		return keep_top(b, at, keep) && emit(b, at, CODE_POP, 0) && keep_top(b, at, keep) &&
		       emit(b, at, CODE_POP_EXC, 0);
	case BLOCK_WITH:
		return keep_top(b, at, keep) && emit(b, block->at, CODE_WITH_EXIT, 0);
	default:
		return true;
	}
}

static bool is_loop(const struct block *block)
{
	return block->kind == BLOCK_WHILE || block->kind == BLOCK_FOR;
}

static bool has_guard(const struct block *block)
{
	return !is_loop(block) && block->kind != BLOCK_VALUE;
}

/* Where a finally block never ends, the blocks around it are not left: their guards
 * end there all the same, to begin again after it. */
static bool leave_blocks(struct builder *b, struct place at, const struct block *until, bool keep)
{
	for (struct block *block = b->block; block != until; block = block->outer) {
		if (has_guard(block) && !guard_close(b, &block->guard))
			return false;
		b->block = block->outer;
		if (!b->dead && !leave(b, at, block, keep))
			return false;
	}
	return true;
}

/* The blocks from the current one up to `until` are left; then the jump. */
struct way_out {
	struct block *until; /* NULL: all of the function */
	bool keep;           /* a value goes along */
	enum code_op op;
	struct label *to; /* of a JUMP */
};

static bool go(struct builder *b, struct place at, const struct way_out *way)
{
	struct block *inner = b->block;
	bool ok;

	if (b->dead)
		return true;
	if (++b->c->unwinding > MOST_UNWINDING)
		return err_at(b->c->err, ERR_BOUND, at.line, at.column,
			      "more than %d finally blocks are left by a return, break or continue "
			      "inside each other",
			      MOST_UNWINDING);
	ok = leave_blocks(b, at, way->until, way->keep) &&
	     (way->to ? emit_jump(b, at, way->op, way->to) : emit(b, at, way->op, 0));
	b->c->unwinding--;
	for (struct block *block = inner; block != way->until; block = block->outer)
		if (has_guard(block))
			guard_again(b, &block->guard);
	b->block = inner;
	return ok;
}

bool compile_return(struct builder *b, const struct node *node)
{
	struct way_out way = { .keep = true, .op = CODE_RETURN };
	struct place at = place_of(node);

	return (node->value ? compile_expr(b, node->value) : emit_const(b, at, const_none())) &&
	       go(b, at, &way);
}

static struct block *loop_around(const struct builder *b)
{
	struct block *block = b->block;

	while (!is_loop(block))
		block = block->outer;
	return block;
}

bool compile_break(struct builder *b, const struct node *node)
{
	struct block *loop = loop_around(b);
	struct way_out way = { .until = loop->outer, .op = CODE_JUMP, .to = loop->out };

	return go(b, place_of(node), &way);
}

bool compile_continue(struct builder *b, const struct node *node)
{
	struct block *loop = loop_around(b);
	struct way_out way = { .until = loop, .op = CODE_JUMP, .to = loop->next };

	return go(b, place_of(node), &way);
}

static bool compile_loop_body(struct builder *b, const struct node_list *body, struct block *loop)
{
	bool ok;

	loop->outer = b->block;
	b->block = loop;
	ok = compile_statements(b, body);
	b->block = loop->outer;
	return ok;
}

/* The test stands before the loop and again at its end, as in CPython up to
 * 3.13: a loop that breaks the graph at its test has a graph before it. */
bool compile_while(struct builder *b, const struct node *node)
{
	struct label next = label_new(), body = label_new(), done = label_new(), out = label_new();
	struct block loop = { .kind = BLOCK_WHILE, .next = &next, .out = &out };

	label_bind(b, &next);
	if (!compile_jump(b, node->loop.test, &done, false))
		return false;
	label_bind(b, &body);
	if (!compile_loop_body(b, &node->loop.body, &loop) ||
	    !compile_jump(b, node->loop.test, &body, true))
		return false;
	label_bind(b, &done);
	if (!compile_statements(b, &node->loop.otherwise))
		return false;
	label_bind(b, &out);
	return true;
}

bool compile_for(struct builder *b, const struct node *node)
{
	struct label next = label_new(), done = label_new(), out = label_new();
	struct block loop = { .kind = BLOCK_FOR, .next = &next, .out = &out };
	struct place over = place_of(node->iteration.over);

	if (!compile_expr(b, node->iteration.over) || !emit(b, over, CODE_GET_ITER, 0))
		return false;
	label_bind(b, &next);
	if (!emit_jump(b, over, CODE_FOR_ITER, &done) ||
	    !compile_store(b, node->iteration.target) ||
	    !compile_loop_body(b, &node->iteration.body, &loop) ||
	    !emit_jump(b, over, CODE_JUMP, &next))
		return false;
	label_bind(b, &done);
	if (!compile_statements(b, &node->iteration.otherwise))
		return false;
	label_bind(b, &out);
	return true;
}
