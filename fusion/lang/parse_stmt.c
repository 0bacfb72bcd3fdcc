/* fusion/lang/parse_stmt.c -- statements of one line.
 *
 * An expression is read first; what follows it (=, +=, a colon) says which
 * statement it was.
 */
#include "fusion/lang/parser.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"

/* ---- import a.b as c; from a.b import c as d. ---- */

enum { DOTTED_BYTES = 512 };

/* a.b.c, interned as one name. */
static bool parse_dotted(struct parser *p, const char **dotted, const char **first)
{
	char text[DOTTED_BYTES];
	const struct name *name;
	size_t len = 0;

	*first = token_now(p)->name;
	do {
		const struct token *part = token_now(p);

		if (part->kind != TOK_NAME)
			return not_a_name(p, "a module");
		if (len + part->len + 1 > sizeof(text))
			return fault_at(p, ERR_BOUND, part->line, part->column,
					"the name of this module is longer than %d bytes",
					DOTTED_BYTES);
		if (len)
			text[len++] = '.';
		memcpy(text + len, part->name, strlen(part->name));
		len += strlen(part->name);
		advance(p);
	} while (accept(p, TOK_DOT));
	name = names_intern(p->names, text, len);
	if (!name)
		return no_memory(p);
	*dotted = name->text;
	return true;
}

static bool parse_alias(struct parser *p, struct import_name *out)
{
	if (!accept(p, TOK_AS))
		return true;
	if (!at(p, TOK_NAME))
		return not_a_name(p, "what is imported");
	out->alias = token_now(p)->name;
	advance(p);
	return true;
}

static bool module_name(struct parser *p, struct import_name *out)
{
	return parse_dotted(p, &out->name, &out->first) && parse_alias(p, out);
}

static bool member_name(struct parser *p, struct import_name *out)
{
	if (!at(p, TOK_NAME))
		return not_a_name(p, "what is imported");
	out->name = out->first = token_now(p)->name;
	advance(p);
	return parse_alias(p, out);
}

struct import_names {
	VEC(struct import_name) names;
};

static bool parse_names(struct parser *p, bool (*one)(struct parser *, struct import_name *),
			bool in_brackets, struct import_names *out)
{
	do {
		struct import_name name = { .line = token_now(p)->line,
					    .column = token_now(p)->column };

		if (in_brackets && at(p, TOK_RIGHT_PAREN) && out->names.len)
			return true; /* after a trailing comma */
		if (!one(p, &name))
			return false;
		if (!VEC_PUSH(&out->names, name))
			return no_memory(p);
	} while (accept(p, TOK_COMMA));
	return true;
}

static bool take_names(struct parser *p, const struct import_names *names,
		       struct ast_import *import)
{
	import->n = (int)names->names.len;
	import->at = PARSER_ARRAY(p, struct import_name, import->n);
	if (!import->at)
		return false;
	memcpy(import->at, names->names.at, names->names.len * sizeof(*import->at));
	return true;
}

static struct ast_node *parse_import(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_IMPORT, token_now(p));
	struct import_names names = { 0 };
	bool ok;

	if (!node || !(node->import = PARSER_ARRAY(p, struct ast_import, 1)))
		return NULL;
	advance(p);
	ok = parse_names(p, module_name, false, &names) && take_names(p, &names, node->import);
	VEC_FREE(&names.names);
	if (ok && at(p, TOK_FROM))
		return unexpected(p,
				  "an import from a module is written `from module import name`");
	return ok ? node_end(p, node) : NULL;
}

static bool parse_from(struct parser *p, struct ast_import *import, struct import_names *names)
{
	const char *first;
	bool brackets;

	while (at(p, TOK_DOT) || at(p, TOK_ELLIPSIS)) {
		import->level += at(p, TOK_DOT) ? 1 : 3;
		advance(p);
	}
	if ((!import->level || !at(p, TOK_IMPORT)) && !parse_dotted(p, &import->module, &first))
		return false;
	if (!expect(p, TOK_IMPORT, "after the module"))
		return false;
	if (at(p, TOK_STAR)) {
		struct import_name star = { .name = "*",
					    .line = token_now(p)->line,
					    .column = token_now(p)->column };

		advance(p);
		return VEC_PUSH(&names->names, star) || no_memory(p);
	}
	brackets = accept(p, TOK_LEFT_PAREN);
	if (!parse_names(p, member_name, brackets, names))
		return false;
	return !brackets || accept(p, TOK_RIGHT_PAREN) || item_not_closed(p, ")");
}

static struct ast_node *parse_import_from(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_IMPORT_FROM, token_now(p));
	struct import_names names = { 0 };
	bool ok;

	if (!node || !(node->import = PARSER_ARRAY(p, struct ast_import, 1)))
		return NULL;
	advance(p);
	ok = parse_from(p, node->import, &names) && take_names(p, &names, node->import);
	VEC_FREE(&names.names);
	return ok ? node_end(p, node) : NULL;
}

/* ---- what may be on the left of = and after del.
 *
 * A target is read as an expression and checked once the = is seen.
 */

static bool check_items(struct parser *p, const struct ast_node *target)
{
	const struct ast_node *star = NULL;

	for (int i = 0; i < target->list.n; i++) {
		const struct ast_node *item = target->list.at[i];

		if (item->kind == NODE_STARRED) {
			if (star)
				return fault_at(
				    p, ERR_SYNTAX, item->line, item->column,
				    "one starred name is allowed on the left of =; this "
				    "is the second");
			star = item;
			item = item->value;
		}
		if (!check_target(p, item))
			return false;
	}
	return true;
}

bool check_target(struct parser *p, const struct ast_node *target)
{
	switch (target->kind) {
	case NODE_NAME:
	case NODE_ATTRIBUTE:
	case NODE_SUBSCRIPT:
		return true;
	case NODE_TUPLE:
	case NODE_LIST:
		return check_items(p, target);
	case NODE_STARRED:
		return fault_at(
		    p, ERR_SYNTAX, target->line, target->column,
		    "a starred name on the left of = stands among others: a, *rest = values");
	case NODE_NONE:
	case NODE_TRUE:
	case NODE_FALSE:
	case NODE_ELLIPSIS:
		return fault_at(p, ERR_SYNTAX, target->line, target->column, "cannot assign to %s",
				node_table[target->kind].called);
	default:
		return fault_at(p, ERR_SYNTAX, target->line, target->column,
				"cannot assign to %s; did you mean == instead of =?",
				node_table[target->kind].called);
	}
}

static bool check_single_target(struct parser *p, const struct ast_node *target, const char *use)
{
	if (target->kind == NODE_NAME || target->kind == NODE_ATTRIBUTE ||
	    target->kind == NODE_SUBSCRIPT)
		return true;
	return fault_at(p, ERR_SYNTAX, target->line, target->column,
			"%s cannot be the target of %s", node_table[target->kind].called, use);
}

static bool check_delete(struct parser *p, const struct ast_node *target)
{
	switch (target->kind) {
	case NODE_NAME:
	case NODE_ATTRIBUTE:
	case NODE_SUBSCRIPT:
		return true;
	case NODE_TUPLE:
	case NODE_LIST:
		for (int i = 0; i < target->list.n; i++)
			if (!check_delete(p, target->list.at[i]))
				return false;
		return true;
	default:
		return fault_at(p, ERR_SYNTAX, target->line, target->column, "cannot delete %s",
				node_table[target->kind].called);
	}
}

static bool is_yield(const struct ast_node *node)
{
	return node->kind == NODE_YIELD || node->kind == NODE_YIELD_FROM;
}

static struct ast_node *parse_assign(struct parser *p, const struct token *start,
				     struct ast_node *first)
{
	struct ast_node *value = first, *node = node_start(p, NODE_ASSIGN, start);
	size_t mark = p->scratch.len;

	if (!node)
		return NULL;
	while (accept(p, TOK_EQUAL)) {
		if (is_yield(value) && !value->in_brackets)
			return fault_at(p, ERR_SYNTAX, value->line, value->column,
					"cannot assign to a yield expression");
		if (!check_target(p, value) || !list_push(p, value))
			return NULL;
		value = parse_yield_or_expressions(p);
		if (!value)
			return NULL;
	}
	node->assign.value = value;
	return list_take(p, mark, &node->assign.targets) ? node_end(p, node) : NULL;
}

static struct ast_node *parse_augmented(struct parser *p, const struct token *start,
					struct ast_node *target)
{
	struct ast_node *node = node_start(p, NODE_AUG_ASSIGN, start);
	const struct token_info *info = &token_table[token_now(p)->kind];

	if (!node || !check_single_target(p, target, info->text))
		return NULL;
	advance(p);
	node->augmented.target = target;
	node->augmented.op = info->binop;
	node->augmented.value = parse_yield_or_expressions(p);
	return node->augmented.value ? node_end(p, node) : NULL;
}

static struct ast_node *parse_annotated(struct parser *p, const struct token *start,
					struct ast_node *target)
{
	struct ast_node *node = node_start(p, NODE_ANN_ASSIGN, start);

	if (!node || !check_single_target(p, target, "an annotation"))
		return NULL;
	advance(p);
	node->annotated.target = target;
	node->annotated.annotation = parse_expression(p);
	if (!node->annotated.annotation)
		return NULL;
	if (accept(p, TOK_EQUAL) && !(node->annotated.value = parse_yield_or_expressions(p)))
		return NULL;
	return node_end(p, node);
}

static struct ast_node *parse_expression_statement(struct parser *p)
{
	const struct token *start = token_now(p);
	struct ast_node *node, *value = parse_yield_or_expressions(p);
	enum token_kind kind = token_now(p)->kind;

	if (!value)
		return NULL;
	if (kind == TOK_EQUAL)
		return parse_assign(p, start, value);
	if (token_table[kind].class == CLASS_AUGMENTED)
		return parse_augmented(p, start, value);
	if (kind == TOK_COLON && starts_expression(token_at(p, 1)->kind))
		return parse_annotated(p, start, value);
	if (kind != TOK_NEWLINE && kind != TOK_SEMICOLON)
		return statement_goes_on(p, value);
	node = node_start(p, NODE_EXPRESSION, start);
	if (!node)
		return NULL;
	node->value = value;
	return node_end(p, node);
}

/* break, continue, pass */
static struct ast_node *parse_word(struct parser *p, enum node_kind kind)
{
	const struct token *word = token_now(p);
	struct ast_node *node = node_start(p, kind, word);

	if (!node)
		return NULL;
	if (kind != NODE_PASS && !p->loops)
		return fault_at(p, ERR_SYNTAX, word->line, word->column,
				"'%s' stands outside a loop", token_table[word->kind].text);
	advance(p);
	return node_end(p, node);
}

static struct ast_node *parse_return(struct parser *p)
{
	const struct token *word = token_now(p);
	struct ast_node *node = node_start(p, NODE_RETURN, word);

	if (!node)
		return NULL;
	if (!p->functions)
		return fault_at(p, ERR_SYNTAX, word->line, word->column,
				"'return' stands outside a function");
	advance(p);
	if (starts_expression(token_now(p)->kind) && !(node->value = parse_expressions(p)))
		return NULL;
	return node_end(p, node);
}

static struct ast_node *parse_raise(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_RAISE, token_now(p));

	if (!node)
		return NULL;
	advance(p);
	if (starts_expression(token_now(p)->kind)) {
		node->raise.exception = parse_expression(p);
		if (!node->raise.exception)
			return NULL;
		if (accept(p, TOK_FROM) && !(node->raise.cause = parse_expression(p)))
			return NULL;
	}
	return node_end(p, node);
}

static struct ast_node *parse_assert(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_ASSERT, token_now(p));

	if (!node)
		return NULL;
	advance(p);
	node->assertion.test = parse_expression(p);
	if (!node->assertion.test)
		return NULL;
	if (accept(p, TOK_COMMA) && !(node->assertion.message = parse_expression(p)))
		return NULL;
	return node_end(p, node);
}

static struct ast_node *parse_delete(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_DELETE, token_now(p)), *target;
	size_t mark = p->scratch.len;

	if (!node)
		return NULL;
	do {
		advance(p); /* del, or a comma */
		if (p->scratch.len > mark && !starts_expression(token_now(p)->kind))
			break;
		target = parse_operand(p);
		if (!target || !check_delete(p, target) || !list_push(p, target))
			return NULL;
	} while (at(p, TOK_COMMA));
	return list_take(p, mark, &node->list) ? node_end(p, node) : NULL;
}

/* global, nonlocal */
static struct ast_node *parse_scope_names(struct parser *p, enum node_kind kind)
{
	struct ast_node *node = node_start(p, kind, token_now(p));
	size_t first = p->i + 1, n = 0;

	if (!node)
		return NULL;
	do {
		advance(p);
		if (!at(p, TOK_NAME))
			return not_a_name(p, "a variable");
		advance(p);
		n++;
	} while (at(p, TOK_COMMA));
	node->names.at = PARSER_ARRAY(p, const char *, n);
	if (!node->names.at)
		return NULL;
	node->names.n = (int)n;
	for (size_t i = 0; i < n; i++)
		node->names.at[i] = p->list->tokens.at[first + 2 * i].name;
	return node_end(p, node);
}

static void *block_without_head(struct parser *p)
{
	switch (token_now(p)->kind) {
	case TOK_ELIF:
		return unexpected(p, "'elif' has no 'if' above it at the same indent");
	case TOK_ELSE:
		return unexpected(p, "'else' has no 'if', 'for', 'while' or 'try' above it at the "
				     "same indent");
	default:
		return unexpected(p, "'%s' has no 'try' above it at the same indent",
				  token_table[token_now(p)->kind].text);
	}
}

static struct ast_node *parse_simple(struct parser *p)
{
	switch (token_now(p)->kind) {
	case TOK_PASS:
		return parse_word(p, NODE_PASS);
	case TOK_BREAK:
		return parse_word(p, NODE_BREAK);
	case TOK_CONTINUE:
		return parse_word(p, NODE_CONTINUE);
	case TOK_RETURN:
		return parse_return(p);
	case TOK_RAISE:
		return parse_raise(p);
	case TOK_ASSERT:
		return parse_assert(p);
	case TOK_DEL:
		return parse_delete(p);
	case TOK_GLOBAL:
		return parse_scope_names(p, NODE_GLOBAL);
	case TOK_NONLOCAL:
		return parse_scope_names(p, NODE_NONLOCAL);
	case TOK_IMPORT:
		return parse_import(p);
	case TOK_FROM:
		return parse_import_from(p);
	case TOK_ELIF:
	case TOK_ELSE:
	case TOK_EXCEPT:
	case TOK_FINALLY:
		return block_without_head(p);
	default:
		return parse_expression_statement(p);
	}
}

bool parse_simple_line(struct parser *p)
{
	do {
		struct ast_node *node = parse_simple(p);

		if (!list_push(p, node))
			return false;
		if (!at(p, TOK_NEWLINE) && !at(p, TOK_SEMICOLON))
			return statement_goes_on(p, node);
	} while (accept(p, TOK_SEMICOLON) && !at(p, TOK_NEWLINE));
	advance(p);
	return true;
}

/* `type X = ...` of Python 3.12 */
static bool at_type_statement(const struct parser *p)
{
	return at(p, TOK_NAME) && strcmp(token_now(p)->name, "type") == 0 &&
	       token_at(p, 1)->kind == TOK_NAME;
}

/* `match x:` -- match is a name everywhere else, so look for the colon that
 * ends the line. */
static bool at_match_statement(const struct parser *p)
{
	enum token_kind next = token_at(p, 1)->kind;
	size_t i = 1;

	if (!at(p, TOK_NAME) || strcmp(token_now(p)->name, "match") != 0 ||
	    !starts_expression(next))
		return false;
	for (;; i++) {
		enum token_kind kind = token_at(p, i)->kind;

		if (kind == TOK_END || kind == TOK_ERROR)
			return false;
		if (kind == TOK_NEWLINE)
			return token_at(p, i - 1)->kind == TOK_COLON;
	}
}

bool parse_statement(struct parser *p)
{
	const struct token *first = token_now(p);

	p->height = 0;
	switch (first->kind) {
	case TOK_IF:
	case TOK_WHILE:
	case TOK_FOR:
	case TOK_TRY:
	case TOK_WITH:
	case TOK_DEF:
	case TOK_CLASS:
	case TOK_AT:
	case TOK_ASYNC:
		return list_push(p, parse_compound(p));
	case TOK_INDENT:
		return unexpected(p, "this line is indented more than the lines of its block");
	default:
		break;
	}
	if (at_match_statement(p))
		return list_push(p, parse_compound(p));
	if (at_type_statement(p))
		return fault_at(p, ERR_UNSUPPORTED, first->line, first->column,
				"a type statement is outside the language; leave it out");
	return parse_simple_line(p);
}
