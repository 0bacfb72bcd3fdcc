/* fusion/lang/compile_with.c -- with: each item is a block around the rest.
 *
 * The exit lies on the stack below what the body works with, and is called on
 * every way out; an error asks it whether to go on.
 */
#include "fusion/lang/compile.h"

/* On the stack: the exit and the exception. */
static bool exit_raised(struct builder *b, struct place at)
{
	struct label suppressed = label_new();
	struct guard guard;

	if (!emit(b, at, CODE_PUSH_EXC, 0))
		return false;
	guard_open(b, &guard, HANDLER_CLEANUP, 1);
	if (!emit(b, at, CODE_WITH_EXCEPT, 0) ||
	    !emit_jump(b, at, CODE_JUMP_IF_TRUE, &suppressed) || !emit(b, at, CODE_RERAISE, 0) ||
	    !guard_close(b, &guard) || !reraise_restored(b, at, &guard))
		return false;
	label_bind(b, &suppressed);
	return emit(b, at, CODE_POP, 0) && emit(b, at, CODE_POP_EXC, 0) && emit(b, at, CODE_POP, 0);
}

static bool compile_items(struct builder *b, const struct node *node, int i);

static bool compile_inside(struct builder *b, const struct node *node, int i)
{
	const struct with_item *item = &node->with.items[i];
	struct place at = place_of(item->context);

	if (!(item->target ? compile_store(b, item->target) : emit(b, at, CODE_POP, 0)))
		return false;
	return i + 1 < node->with.n ? compile_items(b, node, i + 1)
				    : compile_statements(b, &node->with.body);
}

static bool compile_items(struct builder *b, const struct node *node, int i)
{
	const struct node *context = node->with.items[i].context;
	struct block block = { .kind = BLOCK_WITH, .outer = b->block, .at = place_of(context) };
	struct place at = block.at;
	struct label end = label_new();
	bool ok = compile_expr(b, context) && emit(b, at, CODE_BEFORE_WITH, 0);

	guard_open(b, &block.guard, HANDLER_WITH, 1);
	b->block = &block;
	ok = ok && compile_inside(b, node, i) && guard_close(b, &block.guard);
	b->block = block.outer;
	if (!ok || !emit(b, at, CODE_WITH_EXIT, 0) || !emit_jump(b, at, CODE_JUMP, &end))
		return false;
	guard_bind(b, &block.guard);
	if (!exit_raised(b, at))
		return false;
	label_bind(b, &end);
	return true;
}

bool compile_with(struct builder *b, const struct node *node)
{
	enum { MOST_ITEMS = 20 };

	if (node->with.n > MOST_ITEMS)
		return err_at(b->c->err, ERR_BOUND, node->line, node->column,
			      "a with statement has %d items; at most %d are allowed", node->with.n,
			      MOST_ITEMS);
	return compile_items(b, node, 0);
}
