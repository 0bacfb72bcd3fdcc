/* fusion/lang/compile_block.c -- try, with and match.
 *
 * An error of the body comes to its handler with the exception on the stack.
 * PUSH_EXC puts below it the one that was being handled before; an error inside
 * the handler restores that one and goes on.  The finally block is compiled for
 * the normal way out, for errors, and for each return, break and continue.
 */
#include "fusion/lang/compile.h"

#include <string.h>

static bool reraise_restored(struct builder *b, struct code_place at, struct code_guard *guard);

/* ---- with: each item is a block around the rest.
 *
 * The exit lies on the stack below what the body works with, and is called on
 * every way out; an error asks it whether to go on.
 */

/* On the stack: the exit and the exception. */
static bool exit_raised(struct builder *b, struct code_place at)
{
	struct label suppressed = label_new();
	struct code_guard guard;

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

static bool compile_items(struct builder *b, const struct ast_node *node, int i);

static bool compile_inside(struct builder *b, const struct ast_node *node, int i)
{
	const struct with_item *item = &node->with.items[i];
	struct code_place at = place_of(item->context);

	if (!(item->target ? compile_store(b, item->target) : emit(b, at, CODE_POP, 0)))
		return false;
	return i + 1 < node->with.n ? compile_items(b, node, i + 1)
				    : compile_statements(b, &node->with.body);
}

static bool compile_items(struct builder *b, const struct ast_node *node, int i)
{
	const struct ast_node *context = node->with.items[i].context;
	struct code_block block = { .kind = BLOCK_WITH,
				    .outer = b->block,
				    .at = place_of(context) };
	struct code_place at = block.at;
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

static bool compile_with(struct builder *b, const struct ast_node *node)
{
	enum { MOST_ITEMS = 20 };

	if (node->with.n > MOST_ITEMS)
		return err_at(b->c->err, ERR_BOUND, node->line, node->column,
			      "a with statement has %d items; at most %d are allowed", node->with.n,
			      MOST_ITEMS);
	return compile_items(b, node, 0);
}

/* ---- match: patterns of literals, names, sequences, dicts and classes.
 *
 * The subject stays on the stack until a case is taken; a pattern takes a copy
 * and goes to `fail` with it gone.  Names are bound as the pattern comes to
 * them, also where it fails later, which Python leaves open.
 */

static bool match_pattern(struct builder *b, const struct ast_node *pattern, struct label *fail);

static bool is_wildcard(const struct ast_node *pattern)
{
	return pattern->kind == NODE_NAME && strcmp(pattern->name, "_") == 0;
}

static bool match_value(struct builder *b, const struct ast_node *pattern, struct label *fail)
{
	bool only_one = pattern->kind == NODE_NONE || pattern->kind == NODE_TRUE ||
			pattern->kind == NODE_FALSE;
	struct code_place at = place_of(pattern);

	return compile_expr(b, pattern) &&
	       emit(b, at, CODE_COMPARE_OP, only_one ? CMP_IS : CMP_EQ) &&
	       emit_jump(b, at, CODE_JUMP_IF_FALSE, fail);
}

/* a | b */
static bool match_either(struct builder *b, const struct ast_node *pattern, struct label *fail)
{
	struct label next = label_new(), done = label_new();
	struct code_place at = place_of(pattern);

	if (!emit(b, at, CODE_COPY, 1) || !match_pattern(b, pattern->binary.left, &next) ||
	    !emit(b, at, CODE_POP, 0) || !emit_jump(b, at, CODE_JUMP, &done))
		return false;
	label_bind(b, &next);
	if (!match_pattern(b, pattern->binary.right, fail))
		return false;
	label_bind(b, &done);
	return true;
}

static bool emit_int(struct builder *b, struct code_place at, int64_t i)
{
	return emit_const(b, at, (struct lang_const){ .kind = CONST_INT, .i = i });
}

/* *rest: a list of what lies from `before` to `after` items before the end. */
static bool match_rest(struct builder *b, const struct ast_node *name, int before, int after)
{
	struct code_place at = place_of(name);

	if (is_wildcard(name))
		return true;
	if (name->kind != NODE_NAME)
		return refuse_at(b, name->line, name->column, "* before what is not a name",
				 "name the rest");
	return emit(b, at, CODE_BUILD_LIST, 0) && emit(b, at, CODE_COPY, 2) &&
	       emit_int(b, at, before) &&
	       (after ? emit_int(b, at, -after) : emit_const(b, at, const_none())) &&
	       emit(b, at, CODE_BUILD_SLICE, 2) && emit(b, at, CODE_BINARY_SUBSCR, 0) &&
	       emit(b, at, CODE_LIST_EXTEND, 1) && compile_store_name(b, at, name->name);
}

struct items {
	const struct node_list *of;
	int star; /* which one has a star; their number: none */
};

static bool match_items(struct builder *b, const struct items *list, struct label *fail)
{
	const struct node_list *items = list->of;
	int star = list->star;

	for (int i = 0; i < items->n; i++) {
		const struct ast_node *item = items->at[i];
		struct code_place at = place_of(item);

		if (i == star) {
			if (!match_rest(b, item->value, i, items->n - i - 1))
				return false;
		} else if (!is_wildcard(item) &&
			   (!emit(b, at, CODE_COPY, 1) ||
			    !emit_int(b, at, i > star ? i - items->n : i) ||
			    !emit(b, at, CODE_BINARY_SUBSCR, 0) || !match_pattern(b, item, fail))) {
			return false;
		}
	}
	return true;
}

/* After an instruction that left what has the items, and whether it fits. */
static bool match_all(struct builder *b, struct code_place at, const struct items *list,
		      struct label *fail)
{
	struct label drop = label_new(), done = label_new();

	if (!emit_jump(b, at, CODE_JUMP_IF_FALSE, &drop) || !match_items(b, list, &drop) ||
	    !emit(b, at, CODE_POP, 0) || !emit_jump(b, at, CODE_JUMP, &done))
		return false;
	label_bind(b, &drop);
	if (!emit(b, at, CODE_POP, 0) || !emit_jump(b, at, CODE_JUMP, fail))
		return false;
	label_bind(b, &done);
	return true;
}

static bool match_parts(struct builder *b, struct code_place at, const struct node_list *parts,
			struct label *fail)
{
	return match_all(b, at, &(struct items){ parts, parts->n }, fail);
}

static bool match_sequence(struct builder *b, const struct ast_node *pattern, struct label *fail)
{
	const struct node_list *items = &pattern->list;
	struct code_place at = place_of(pattern);
	int star = items->n;

	for (int i = 0; i < items->n; i++) {
		if (items->at[i]->kind != NODE_STARRED)
			continue;
		if (star < items->n)
			return err_at(
			    b->c->err, ERR_SYNTAX, items->at[i]->line, items->at[i]->column,
			    "one starred name is allowed in a pattern; this is the second");
		star = i;
	}
	return emit(b, at, CODE_MATCH_SEQUENCE,
		    star < items->n ? 2 * (items->n - 1) + 1 : 2 * items->n) &&
	       match_all(b, at, &(struct items){ items, star }, fail);
}

/* Class(a, b, name=c): the keywords' names are a tuple, the parts are matched in order. */
static bool match_class(struct builder *b, const struct ast_node *pattern, struct label *fail)
{
	const struct node_list *arguments = &pattern->call.arguments;
	struct code_place at = place_of(pattern);
	struct node_list parts = { .n = arguments->n };
	struct lang_const names = { .kind = CONST_TUPLE }, *items;
	int positional = 0;

	items = ARENA_ARRAY(b->c->program, struct lang_const, (size_t)arguments->n + 1);
	parts.at = ARENA_ARRAY(b->c->program, struct ast_node *, (size_t)arguments->n + 1);
	if (!items || !parts.at)
		return out_of_memory(b);
	for (int i = 0; i < arguments->n; i++) {
		const struct ast_node *one = arguments->at[i];

		if (one->kind == NODE_STARRED || (one->kind == NODE_KEYWORD && !one->keyword.name))
			return err_at(b->c->err, ERR_SYNTAX, one->line, one->column,
				      "a class pattern has no * or **; name the attributes");
		if (one->kind == NODE_KEYWORD)
			items[names.n++] = const_str(one->keyword.name, strlen(one->keyword.name));
		positional += one->kind != NODE_KEYWORD;
		parts.at[i] = one->kind == NODE_KEYWORD ? one->keyword.value : arguments->at[i];
	}
	names.items = items;
	return compile_expr(b, pattern->call.callee) && emit_const(b, at, names) &&
	       emit(b, at, CODE_MATCH_CLASS, positional) && match_parts(b, at, &parts, fail);
}

/* {key: pattern, **rest} */
static bool match_mapping(struct builder *b, const struct ast_node *pattern, struct label *fail)
{
	const struct node_list *keys = &pattern->dict.keys;
	struct code_place at = place_of(pattern);
	bool rest = keys->n && !keys->at[keys->n - 1];

	for (int i = 0; i < keys->n - rest; i++) {
		if (!keys->at[i])
			return err_at(b->c->err, ERR_SYNTAX, pattern->dict.values.at[i]->line,
				      pattern->dict.values.at[i]->column,
				      "**rest is the last one in a pattern of a dict");
		if (!compile_expr(b, keys->at[i]))
			return false;
	}
	return emit(b, at, CODE_BUILD_TUPLE, keys->n - rest) &&
	       emit(b, at, CODE_MATCH_MAPPING, rest) &&
	       match_parts(b, at, &pattern->dict.values, fail);
}

static bool match_capture(struct builder *b, const struct ast_node *pattern, struct label *fail)
{
	struct label drop = label_new(), done = label_new();
	struct code_place at = place_of(pattern);

	if (!emit(b, at, CODE_COPY, 1) || !match_pattern(b, pattern->walrus.value, &drop) ||
	    !match_pattern(b, pattern->walrus.target, fail) || !emit_jump(b, at, CODE_JUMP, &done))
		return false;
	label_bind(b, &drop);
	if (!emit(b, at, CODE_POP, 0) || !emit_jump(b, at, CODE_JUMP, fail))
		return false;
	label_bind(b, &done);
	return true;
}

static bool match_pattern(struct builder *b, const struct ast_node *pattern, struct label *fail)
{
	struct lang_const value;

	switch (pattern->kind) {
	case NODE_NAME:
		return is_wildcard(pattern)
			   ? emit(b, place_of(pattern), CODE_POP, 0)
			   : compile_store_name(b, place_of(pattern), pattern->name);
	case NODE_TUPLE:
	case NODE_LIST:
		return match_sequence(b, pattern, fail);
	case NODE_CALL:
		return match_class(b, pattern, fail);
	case NODE_DICT:
		return match_mapping(b, pattern, fail);
	case NODE_WALRUS:
		return match_capture(b, pattern, fail);
	case NODE_ATTRIBUTE:
		return match_value(b, pattern, fail);
	case NODE_BINARY:
		if (pattern->binary.op == BIN_OR)
			return match_either(b, pattern, fail);
		break;
	default:
		if (pattern->kind != NODE_ELLIPSIS && constant_of(NULL, pattern, &value))
			return match_value(b, pattern, fail);
	}
	return refuse_at(b, pattern->line, pattern->column, "this pattern", "write if and elif");
}

static bool compile_case(struct builder *b, const struct match_case *one, struct label *end)
{
	struct code_place at = { one->line, one->column, one->column + (int)strlen("case") };
	struct label next = label_new();

	if (!emit(b, at, CODE_COPY, 1) || !match_pattern(b, one->pattern, &next) ||
	    (one->name && (!emit(b, at, CODE_COPY, 1) || !compile_store_name(b, at, one->name))) ||
	    (one->guard && !compile_jump(b, one->guard, &next, false)) ||
	    !emit(b, at, CODE_POP, 0) || !compile_statements(b, &one->body) ||
	    !emit_jump(b, at, CODE_JUMP, end))
		return false;
	label_bind(b, &next);
	return true;
}

static bool compile_match(struct builder *b, const struct ast_node *node)
{
	struct label end = label_new();

	if (!compile_expr(b, node->match.subject))
		return false;
	for (int i = 0; i < node->match.n; i++) {
		const struct match_case *one = &node->match.cases[i];

		if (one->pattern->kind == NODE_NAME && !one->guard && i + 1 < node->match.n)
			return err_at(b->c->err, ERR_SYNTAX, one->pattern->line,
				      one->pattern->column,
				      "the pattern %s matches all; no case after it can be taken",
				      one->pattern->name);
		if (!compile_case(b, one, &end))
			return false;
	}
	if (!emit(b, place_of(node->match.subject), CODE_POP, 0))
		return false;
	label_bind(b, &end);
	return true;
}

static bool compile_body(struct builder *b, const struct node_list *body, struct code_block *block,
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

/* The end of a handler: the exception handled before is back, this one goes on. */
static bool reraise_restored(struct builder *b, struct code_place at, struct code_guard *guard)
{
	guard_bind(b, guard);
	return emit(b, at, CODE_SWAP, 2) && emit(b, at, CODE_POP_EXC, 0) &&
	       emit(b, at, CODE_RERAISE, 0);
}

/* The normal end of a handler, with only the exception before on the stack. */
static bool handled(struct builder *b, struct code_place at, const char *name, struct label *end)
{
	struct code_guard *guard = &b->block->guard;

	if (!guard_close(b, guard) || !emit(b, at, CODE_POP_EXC, 0) ||
	    (name && !compile_unset_name(b, at, name)) || !emit_jump(b, at, CODE_JUMP, end))
		return false;
	guard_again(b, guard);
	return true;
}

/* `except E as name`: the body, with the name unset on every way out. */
static bool named_body(struct builder *b, const struct handler *handler, struct code_place at,
		       struct label *end)
{
	struct code_block block = { .kind = BLOCK_NAMED, .at = at, .name = handler->name };

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
	struct code_place at = { handler->line, handler->column, handler->column + 6 };
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

static bool compile_handlers(struct builder *b, const struct try_parts *parts, struct code_place at,
			     struct label *end)
{
	struct code_block block = { .kind = BLOCK_EXCEPT, .outer = b->block, .at = at };
	bool ok = emit(b, at, CODE_PUSH_EXC, 0);

	guard_open(b, &block.guard, HANDLER_CLEANUP, 1);
	b->block = &block;
	for (int i = 0; ok && i < parts->n_handlers; i++)
		ok = compile_handler(b, &parts->handlers[i], end);
	ok = ok && emit(b, at, CODE_RERAISE, 0) && guard_close(b, &block.guard);
	b->block = block.outer;
	return ok && reraise_restored(b, at, &block.guard);
}

static bool compile_except(struct builder *b, const struct try_parts *parts, struct code_place at)
{
	struct code_block body = { .kind = BLOCK_TRY, .at = at };
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
static bool finally_raised(struct builder *b, const struct try_parts *parts, struct code_place at)
{
	struct code_block block = { .kind = BLOCK_RAISED, .outer = b->block, .at = at };
	bool ok = emit(b, at, CODE_PUSH_EXC, 0);

	guard_open(b, &block.guard, HANDLER_CLEANUP, 1);
	b->block = &block;
	ok = ok && compile_statements(b, &parts->finally) && emit(b, at, CODE_RERAISE, 0) &&
	     guard_close(b, &block.guard);
	b->block = block.outer;
	return ok && reraise_restored(b, at, &block.guard);
}

static bool compile_finally(struct builder *b, const struct try_parts *parts, struct code_place at)
{
	struct code_block body = { .kind = BLOCK_FINALLY, .outer = b->block, .at = at };
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

static bool compile_try(struct builder *b, const struct ast_node *node)
{
	struct code_place at = { node->line, node->column, node->column + 3 };

	if (node->attempt->finally.n)
		return compile_finally(b, node->attempt, at);
	return compile_except(b, node->attempt, at);
}

bool compile_block(struct builder *b, const struct ast_node *node)
{
	return node->kind == NODE_MATCH ? compile_match(b, node)
	       : node->kind == NODE_TRY ? compile_try(b, node)
					: compile_with(b, node);
}
