/* fusion/lang/compile.c -- the module and its statements, and how the compiler refuses.
 *
 * What is Python but not in this language fails where it is reached, as Python does: the
 * statement becomes an instruction that says so (builder_refuse).  What is not Python never
 * gets this far.
 */
#include "fusion/lang/compile.h"

#include <string.h>

#include "fusion/lang/annotation.h"

bool refuse(struct builder *b, const struct ast_node *node)
{
	const struct node_info *info = &node_table[node->kind];

	return refuse_at(b, node->line, node->column, info->called, info->instead);
}

/* ---- imports; which modules exist, the host says. ---- */

static struct code_place name_place(const struct import_name *name)
{
	int len = (int)strlen(name->name);

	return (struct code_place){ name->line, name->column, name->column + len };
}

static bool compile_plain(struct builder *b, const struct import_name *name)
{
	struct code_place at = name_place(name);

	if (!emit_name(b, at, CODE_IMPORT, name->name))
		return false;
	if (name->alias)
		return compile_store_name(b, at, name->alias);
	/* `import a.b` loads a.b and binds a */
	if (name->first != name->name &&
	    (!emit(b, at, CODE_POP, 0) || !emit_name(b, at, CODE_IMPORT, name->first)))
		return false;
	return compile_store_name(b, at, name->first);
}

/* Its features are the language's own; the first makes annotations texts. */
static bool compile_future(struct builder *b, const struct ast_import *import)
{
	static const char *const features[] = {
		"annotations",     "division",         "print_function",
		"absolute_import", "unicode_literals", "generator_stop",
		"nested_scopes",   "generators",       "with_statement",
	};

	for (int i = 0; i < import->n; i++) {
		const struct import_name *name = &import->at[i];
		size_t k = 0, n = sizeof(features) / sizeof(features[0]);

		while (k < n && strcmp(features[k], name->name) != 0)
			k++;
		if (k == n)
			return err_at(b->c->err, ERR_SYNTAX, name->line, name->column,
				      "__future__ has no feature %s", name->name);
		b->c->texts |= k == 0;
	}
	return true;
}

/* What is taken from the module on the stack. */
static bool take_names(struct builder *b, const struct ast_import *import, struct code_place at)
{
	for (int i = 0; i < import->n; i++) {
		const struct import_name *name = &import->at[i];
		struct code_place here = name_place(name);

		if (!emit(b, here, CODE_COPY, 1) ||
		    !emit_name(b, here, CODE_LOAD_ATTR, name->name) ||
		    !compile_store_name(b, here, name->alias ? name->alias : name->name))
			return false;
	}
	return emit(b, at, CODE_POP, 0);
}

/* from ..a import b: the module "..a", which the VM looks for. */
static bool compile_relative(struct builder *b, const struct ast_node *node)
{
	const struct ast_import *import = node->import;
	struct code_place at = place_of(node);
	size_t len = import->module ? strlen(import->module) : 0;
	char *name = arena_alloc(b->c->program, (size_t)import->level + len + 1);

	if (!name)
		return out_of_memory(b);
	memset(name, '.', (size_t)import->level);
	memcpy(name + import->level, import->module ? import->module : "", len);
	name[(size_t)import->level + len] = '\0';
	if (!emit_name(b, at, CODE_IMPORT, name))
		return false;
	return import->at[0].first ? take_names(b, import, at) : emit(b, at, CODE_IMPORT_STAR, 0);
}

static bool compile_from(struct builder *b, const struct ast_node *node)
{
	const struct ast_import *import = node->import;
	struct code_place at = place_of(node);

	if (import->level)
		return compile_relative(b, node);
	if (strcmp(import->module, "__future__") == 0)
		return compile_future(b, import);
	if (!import->at[0].first)
		return emit_name(b, at, CODE_IMPORT, import->module) &&
		       emit(b, name_place(&import->at[0]), CODE_IMPORT_STAR, 0);
	return emit_name(b, at, CODE_IMPORT, import->module) && take_names(b, import, at);
}

/* compile.c */
static bool compile_import(struct builder *b, const struct ast_node *node)
{
	if (node->kind == NODE_IMPORT_FROM)
		return compile_from(b, node);
	for (int i = 0; i < node->import->n; i++)
		if (!compile_plain(b, &node->import->at[i]))
			return false;
	return true;
}

/* ---- loops, and what jumps out of blocks.
 *
 * return, break and continue undo each block on their way, the innermost first:
 * they drop its operands, run its finally or exit.  Meanwhile its guard is off,
 * as an error there is no longer the block's.
 */

/* A return in a finally block that a return runs, and so on: the stack. */
enum { MOST_UNWINDING = 16 };

/* What lies on top of the operands to drop stays on top. */
static bool keep_top(struct builder *b, struct code_place at, bool keep)
{
	return !keep || emit(b, at, CODE_SWAP, 2);
}

/* A break in the finally block drops the value of the return that runs it. */
static bool leave_finally(struct builder *b, const struct code_block *block, bool keep)
{
	struct code_block value = { .kind = BLOCK_VALUE, .outer = b->block };
	bool ok;

	if (!keep)
		return compile_statements(b, block->finally);
	b->block = &value;
	ok = compile_statements(b, block->finally);
	b->block = value.outer;
	return ok;
}

static bool leave(struct builder *b, struct code_place at, const struct code_block *block,
		  bool keep)
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

static bool is_loop(const struct code_block *block)
{
	return block->kind == BLOCK_WHILE || block->kind == BLOCK_FOR;
}

static bool has_guard(const struct code_block *block)
{
	return !is_loop(block) && block->kind != BLOCK_VALUE;
}

/* Where a finally block never ends, the blocks around it are not left: their guards
 * end there all the same, to begin again after it. */
static bool leave_blocks(struct builder *b, struct code_place at, const struct code_block *until,
			 bool keep)
{
	for (struct code_block *block = b->block; block != until; block = block->outer) {
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
	struct code_block *until; /* NULL: all of the function */
	bool keep;                /* a value goes along */
	enum code_op op;
	struct label *to; /* of a JUMP */
};

static bool go(struct builder *b, struct code_place at, const struct way_out *way)
{
	struct code_block *inner = b->block;
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
	for (struct code_block *block = inner; block != way->until; block = block->outer)
		if (has_guard(block))
			guard_again(b, &block->guard);
	b->block = inner;
	return ok;
}

static bool compile_return(struct builder *b, const struct ast_node *node)
{
	struct way_out way = { .keep = true, .op = CODE_RETURN };
	struct code_place at = place_of(node);

	return (node->value ? compile_expr(b, node->value) : emit_const(b, at, const_none())) &&
	       go(b, at, &way);
}

static struct code_block *loop_around(const struct builder *b)
{
	struct code_block *block = b->block;

	while (!is_loop(block))
		block = block->outer;
	return block;
}

static bool compile_break(struct builder *b, const struct ast_node *node)
{
	struct code_block *loop = loop_around(b);
	struct way_out way = { .until = loop->outer, .op = CODE_JUMP, .to = loop->out };

	return go(b, place_of(node), &way);
}

static bool compile_continue(struct builder *b, const struct ast_node *node)
{
	struct code_block *loop = loop_around(b);
	struct way_out way = { .until = loop, .op = CODE_JUMP, .to = loop->next };

	return go(b, place_of(node), &way);
}

static bool compile_loop_body(struct builder *b, const struct node_list *body,
			      struct code_block *loop)
{
	bool ok;

	loop->outer = b->block;
	b->block = loop;
	ok = compile_statements(b, body);
	b->block = loop->outer;
	return ok;
}

/* The test comes before the loop and again at its end, as in CPython up to
 * 3.13: a loop that breaks the graph at its test has a graph before it. */
static bool compile_while(struct builder *b, const struct ast_node *node)
{
	struct label next = label_new(), body = label_new(), done = label_new(), out = label_new();
	struct code_block loop = { .kind = BLOCK_WHILE, .next = &next, .out = &out };

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

static bool compile_for(struct builder *b, const struct ast_node *node)
{
	struct label next = label_new(), done = label_new(), out = label_new();
	struct code_block loop = { .kind = BLOCK_FOR, .next = &next, .out = &out };
	struct code_place over = place_of(node->iteration.over);

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

static bool compile_statement(struct builder *b, const struct ast_node *node);

bool compile_statements(struct builder *b, const struct node_list *statements)
{
	for (int i = 0; i < statements->n; i++) {
		struct builder_mark mark = builder_mark(b);

		if (!compile_statement(b, statements->at[i]) &&
		    (b->c->err->code != ERR_UNSUPPORTED || !builder_refuse(b, &mark)))
			return false;
	}
	return true;
}

static bool compile_expression(struct builder *b, const struct ast_node *node)
{
	struct lang_const value;

	if (constant_of(b, node->value, &value)) /* a docstring, or ... */
		return true;
	return compile_expr(b, node->value) && emit(b, place_of(node), CODE_POP, 0);
}

/* value op= right, with the value on the stack */
static bool in_place(struct builder *b, const struct ast_node *node)
{
	return compile_expr(b, node->augmented.value) &&
	       emit(b, place_of(node), CODE_INPLACE_OP, (int)node->augmented.op);
}

static bool compile_augmented(struct builder *b, const struct ast_node *node)
{
	const struct ast_node *target = node->augmented.target;
	struct code_place at = place_of(target);

	if (target->kind == NODE_NAME)
		return compile_load_name(b, at, target->name) && in_place(b, node) &&
		       compile_store_name(b, at, target->name);
	if (target->kind == NODE_ATTRIBUTE)
		return compile_expr(b, target->attribute.value) && emit(b, at, CODE_COPY, 1) &&
		       emit_name(b, at, CODE_LOAD_ATTR, target->attribute.name) &&
		       in_place(b, node) && emit(b, at, CODE_SWAP, 2) &&
		       emit_name(b, at, CODE_STORE_ATTR, target->attribute.name);
	return compile_expr(b, target->subscript.value) &&
	       compile_expr(b, target->subscript.index) && emit(b, at, CODE_COPY, 2) &&
	       emit(b, at, CODE_COPY, 2) && emit(b, at, CODE_BINARY_SUBSCR, 0) &&
	       in_place(b, node) && emit(b, at, CODE_SWAP, 3) && emit(b, at, CODE_SWAP, 2) &&
	       emit(b, at, CODE_STORE_SUBSCR, 0);
}

static bool compile_assign(struct builder *b, const struct ast_node *node)
{
	const struct node_list *targets = &node->assign.targets;

	if (!compile_expr(b, node->assign.value))
		return false;
	for (int i = 0; i < targets->n; i++) {
		if (i < targets->n - 1 && !emit(b, place_of(node), CODE_COPY, 1))
			return false;
		if (!compile_store(b, targets->at[i]))
			return false;
	}
	return true;
}

/* Annotations are not evaluated; a class keeps their texts.  Of an ANN_ASSIGN. */
static bool compile_annotation(struct builder *b, const struct ast_node *node)
{
	const struct ast_node *target = node->annotated.target;
	struct code_place at = place_of(target);
	struct buf text = { 0 };
	const char *kept;

	if (b->scope->kind != SCOPE_CLASS || target->kind != NODE_NAME || target->in_brackets)
		return true;
	annotation_write(&text, node->annotated.annotation, b->c->texts);
	kept = text.failed ? NULL : arena_strdup(b->c->program, text.data);
	buf_finish(&text);
	if (!kept)
		return out_of_memory(b);
	return emit_const(b, at, const_str(kept, strlen(kept))) &&
	       emit_name(b, at, CODE_LOAD_NAME, b->c->known->annotations) &&
	       emit_const(b, at, const_str(target->name, strlen(target->name))) &&
	       emit(b, at, CODE_STORE_SUBSCR, 0);
}

static bool compile_annotated(struct builder *b, const struct ast_node *node)
{
	if (node->annotated.value &&
	    (!compile_expr(b, node->annotated.value) || !compile_store(b, node->annotated.target)))
		return false;
	return compile_annotation(b, node);
}

static bool compile_if(struct builder *b, const struct ast_node *node)
{
	struct label end = label_new();

	for (int i = 0; i < node->conditional.n; i++) {
		const struct branch *branch = &node->conditional.branches[i];
		bool last = i == node->conditional.n - 1 && !node->conditional.otherwise.n;
		struct label next = label_new();

		if (!compile_jump(b, branch->test, &next, false) ||
		    !compile_statements(b, &branch->body) ||
		    (!last && !emit_jump(b, place_of(branch->test), CODE_JUMP, &end)))
			return false;
		label_bind(b, &next);
	}
	if (!compile_statements(b, &node->conditional.otherwise))
		return false;
	label_bind(b, &end);
	return true;
}

static bool compile_delete(struct builder *b, const struct ast_node *target)
{
	struct code_place at = place_of(target);

	switch (target->kind) {
	case NODE_NAME:
		return compile_delete_name(b, at, target->name);
	case NODE_ATTRIBUTE:
		return compile_expr(b, target->attribute.value) &&
		       emit_name(b, at, CODE_DELETE_ATTR, target->attribute.name);
	case NODE_SUBSCRIPT:
		return compile_expr(b, target->subscript.value) &&
		       compile_expr(b, target->subscript.index) &&
		       emit(b, at, CODE_DELETE_SUBSCR, 0);
	case NODE_TUPLE:
	case NODE_LIST:
		for (int i = 0; i < target->list.n; i++)
			if (!compile_delete(b, target->list.at[i]))
				return false;
		return true;
	default:
		return refuse(b, target);
	}
}

static bool compile_delete_all(struct builder *b, const struct ast_node *node)
{
	for (int i = 0; i < node->list.n; i++)
		if (!compile_delete(b, node->list.at[i]))
			return false;
	return true;
}

static bool compile_raise(struct builder *b, const struct ast_node *node)
{
	const struct ast_node *exception = node->raise.exception, *cause = node->raise.cause;

	return (!exception || compile_expr(b, exception)) && (!cause || compile_expr(b, cause)) &&
	       emit(b, place_of(node), CODE_RAISE, (exception != NULL) + (cause != NULL));
}

static bool compile_assert(struct builder *b, const struct ast_node *node)
{
	const struct ast_node *message = node->assertion.message;
	struct code_place at = place_of(node);
	struct label holds = label_new();

	if (!compile_jump(b, node->assertion.test, &holds, true) ||
	    !emit_name(b, at, CODE_LOAD_GLOBAL, b->c->known->assertion_error) ||
	    (message && !compile_expr(b, message)) || !emit(b, at, CODE_CALL, message != NULL) ||
	    !emit(b, at, CODE_RAISE, 1))
		return false;
	label_bind(b, &holds);
	return true;
}

static bool compile_statement(struct builder *b, const struct ast_node *node)
{
	if (!builder_works(b, place_of(node)))
		return false;
	switch (node->kind) {
	case NODE_EXPRESSION:
		return compile_expression(b, node);
	case NODE_ASSIGN:
		return compile_assign(b, node);
	case NODE_AUG_ASSIGN:
		return compile_augmented(b, node);
	case NODE_ANN_ASSIGN:
		return compile_annotated(b, node);
	case NODE_RETURN:
		return compile_return(b, node);
	case NODE_PASS:
	case NODE_GLOBAL:
	case NODE_NONLOCAL:
		return true;
	case NODE_BREAK:
		return compile_break(b, node);
	case NODE_CONTINUE:
		return compile_continue(b, node);
	case NODE_DELETE:
		return compile_delete_all(b, node);
	case NODE_RAISE:
		return compile_raise(b, node);
	case NODE_ASSERT:
		return compile_assert(b, node);
	case NODE_MATCH:
	case NODE_TRY:
	case NODE_WITH:
		return compile_block(b, node);
	case NODE_IMPORT:
	case NODE_IMPORT_FROM:
		return compile_import(b, node);
	case NODE_IF:
		return compile_if(b, node);
	case NODE_WHILE:
		return compile_while(b, node);
	case NODE_FOR:
		return compile_for(b, node);
	case NODE_FUNCTION:
	case NODE_CLASS:
		return compile_definition(b, node);
	default:
		return refuse(b, node);
	}
}

const struct code *compile_module(struct compiler *c, const struct node_list *statements,
				  const struct scope *scope)
{
	struct code_place end = { 1, 1, 1 };
	struct code *code = NULL;
	struct builder b;

	if (statements->n)
		end = place_of(statements->at[statements->n - 1]);
	builder_init(&b, c, scope);
	if ((c->expression
		 ? compile_expr(&b, statements->at[0]->value)
		 : compile_statements(&b, statements) && emit_const(&b, end, const_none())) &&
	    emit(&b, end, CODE_RETURN, 0))
		code = builder_code(&b, "<module>", 1 + c->lines_before);
	if (code)
		code->doc = docstring(&b, statements);
	builder_finish(&b);
	return code;
}
