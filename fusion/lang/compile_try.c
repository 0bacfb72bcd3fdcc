/* fusion/lang/compile_try.c -- try, except, else, finally.
 *
 * An error of the body comes to its handler with the exception on the stack.
 * PUSH_EXC puts below it the one that was being handled before; an error inside
 * the handler restores that one and goes on.  The finally block is compiled for
 * the normal way out, for errors, and for each return, break and continue.
 */
#include "fusion/lang/compile.h"

static bool compile_body(struct builder *b, const struct node_list *body, struct block *block,
			 enum handler_kind kind)
{
	bool ok;

	block->outer = b->block;
	b->block = block;
	guard_open(b, &block->guard, kind, 0);
	if (block->kind == BLOCK_TRY)
		block->guard.at = block->at;
	ok = compile_statements(b, body) && guard_close(b, &block->guard);
	b->block = block->outer;
	return ok;
}

bool reraise_restored(struct builder *b, struct place at, struct guard *guard)
{
	guard_bind(b, guard);
	return emit(b, at, CODE_SWAP, 2) && emit(b, at, CODE_POP_EXC, 0) &&
	       emit(b, at, CODE_RERAISE, 0);
}

/* The normal end of a handler, with only the exception before on the stack. */
static bool handled(struct builder *b, struct place at, const char *name, struct label *end)
{
	struct guard *guard = &b->block->guard;

	if (!guard_close(b, guard) || !emit(b, at, CODE_POP_EXC, 0) ||
	    (name && !compile_unset_name(b, at, name)) || !emit_jump(b, at, CODE_JUMP, end))
		return false;
	guard_again(b, guard);
	return true;
}

/* `except E as name`: the body, with the name unset on every way out. */
static bool named_body(struct builder *b, const struct handler *handler, struct place at,
		       struct label *end)
{
	struct block block = { .kind = BLOCK_NAMED, .at = at, .name = handler->name };

	if (!compile_store_name(b, at, handler->name) ||
	    !compile_body(b, &handler->body, &block, HANDLER_CLEANUP) ||
	    !handled(b, at, handler->name, end))
		return false;
	guard_bind(b, &block.guard);
	return compile_unset_name(b, at, handler->name) && emit(b, at, CODE_RERAISE, 0);
}

/* On the stack: the exception before, and this one. */
static bool compile_handler(struct builder *b, const struct handler *handler, struct label *end)
{
	struct place at = { handler->line, handler->column, handler->column + 6 };
	struct label next = label_new();

	if (handler->type && (!compile_expr(b, handler->type) || !emit(b, at, CODE_EXC_MATCH, 0) ||
			      !emit_jump(b, at, CODE_JUMP_IF_FALSE, &next)))
		return false;
	if (handler->name) {
		if (!named_body(b, handler, at, end))
			return false;
	} else if (!emit(b, at, CODE_POP, 0) || !compile_statements(b, &handler->body) ||
		   !handled(b, at, NULL, end)) {
		return false;
	}
	label_bind(b, &next);
	return true;
}

static bool compile_handlers(struct builder *b, const struct try_parts *parts, struct place at,
			     struct label *end)
{
	struct block block = { .kind = BLOCK_EXCEPT, .outer = b->block, .at = at };
	bool ok = emit(b, at, CODE_PUSH_EXC, 0);

	guard_open(b, &block.guard, HANDLER_CLEANUP, 1);
	b->block = &block;
	for (int i = 0; ok && i < parts->n_handlers; i++)
		ok = compile_handler(b, &parts->handlers[i], end);
	ok = ok && emit(b, at, CODE_RERAISE, 0) && guard_close(b, &block.guard);
	b->block = block.outer;
	return ok && reraise_restored(b, at, &block.guard);
}

static bool compile_except(struct builder *b, const struct try_parts *parts, struct place at)
{
	struct block body = { .kind = BLOCK_TRY, .at = at };
	struct label end = label_new();

	if (!compile_body(b, &parts->body, &body, HANDLER_TRY) ||
	    !compile_statements(b, &parts->otherwise) || !emit_jump(b, at, CODE_JUMP, &end))
		return false;
	guard_bind(b, &body.guard);
	if (!compile_handlers(b, parts, at, &end))
		return false;
	label_bind(b, &end);
	return true;
}

/* The finally block after an error, which goes on when it is through. */
static bool finally_raised(struct builder *b, const struct try_parts *parts, struct place at)
{
	struct block block = { .kind = BLOCK_RAISED, .outer = b->block, .at = at };
	bool ok = emit(b, at, CODE_PUSH_EXC, 0);

	guard_open(b, &block.guard, HANDLER_CLEANUP, 1);
	b->block = &block;
	ok = ok && compile_statements(b, &parts->finally) && emit(b, at, CODE_RERAISE, 0) &&
	     guard_close(b, &block.guard);
	b->block = block.outer;
	return ok && reraise_restored(b, at, &block.guard);
}

static bool compile_finally(struct builder *b, const struct try_parts *parts, struct place at)
{
	struct block body = { .kind = BLOCK_FINALLY, .outer = b->block, .at = at };
	struct label end = label_new();
	bool ok;

	body.finally = &parts->finally;
	b->block = &body;
	guard_open(b, &body.guard, HANDLER_TRY, 0);
	body.guard.at = at;
	ok = (parts->n_handlers ? compile_except(b, parts, at)
				: compile_statements(b, &parts->body)) &&
	     guard_close(b, &body.guard);
	b->block = body.outer;
	if (!ok || !compile_statements(b, &parts->finally) || !emit_jump(b, at, CODE_JUMP, &end))
		return false;
	guard_bind(b, &body.guard);
	if (!b->dead && !finally_raised(b, parts, at))
		return false;
	label_bind(b, &end);
	return true;
}

bool compile_try(struct builder *b, const struct node *node)
{
	struct place at = { node->line, node->column, node->column + 3 };

	if (node->attempt->finally.n)
		return compile_finally(b, node->attempt, at);
	return compile_except(b, node->attempt, at);
}
