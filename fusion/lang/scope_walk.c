/* fusion/lang/scope_walk.c -- collects the names that each scope mentions.
 *
 * The order is that of evaluation: defaults and decorators belong to the scope
 * around a function, and so does the first `in` of a comprehension.
 * Annotations are not evaluated in this language, so they mention nothing.
 */
#include "fusion/lang/scope_walk.h"

#include <string.h>

static bool visit(struct scoper *s, const struct node *node);

static bool visit_all(struct scoper *s, const struct node_list *list)
{
	for (int i = 0; i < list->n; i++)
		if (!visit(s, list->at[i]))
			return false;
	return true;
}

static bool mention(struct scoper *s, const char *name, unsigned flags)
{
	return scope_mention(s, s->now, name, flags) != NULL;
}

/* A target of assignment: names are bound, the rest is evaluated. */
static bool bind(struct scoper *s, const struct node *target, unsigned flags)
{
	switch (target->kind) {
	case NODE_NAME:
		return mention(s, target->name, SYMBOL_BOUND | flags);
	case NODE_STARRED:
		return bind(s, target->value, flags);
	case NODE_TUPLE:
	case NODE_LIST:
		for (int i = 0; i < target->list.n; i++)
			if (!bind(s, target->list.at[i], flags))
				return false;
		return true;
	default:
		return visit(s, target);
	}
}

static bool visit_parameters(struct scoper *s, const struct parameters *parameters)
{
	for (int i = 0; i < parameters->n; i++) {
		const struct parameter *one = &parameters->at[i];
		struct symbol *symbol = scope_find(s->now, one->name);

		if (symbol)
			return err_at(s->err, ERR_SYNTAX, one->line, one->column,
				      "the parameter %s is named twice in this function",
				      one->name);
		symbol = scope_mention(s, s->now, one->name, SYMBOL_BOUND | SYMBOL_PARAMETER);
		if (!symbol)
			return false;
		symbol->parameter = i;
		if (i == 0)
			s->now->first_parameter = one->name;
	}
	return true;
}

static bool visit_function(struct scoper *s, struct function *f)
{
	struct scope *outer = s->now;
	bool ok;

	if (!visit_all(s, &f->decorators))
		return false;
	for (int i = 0; i < f->parameters.n; i++)
		if (!visit(s, f->parameters.at[i].value))
			return false;
	f->scope = scope_push(s, SCOPE_FUNCTION, false);
	ok = f->scope && visit_parameters(s, &f->parameters) && visit_all(s, &f->body);
	s->now = outer;
	return ok;
}

static bool visit_class(struct scoper *s, struct class *class)
{
	struct scope *outer = s->now;
	bool ok;

	if (!visit_all(s, &class->decorators) || !visit_all(s, &class->arguments) ||
	    !mention(s, class->name, SYMBOL_BOUND))
		return false;
	class->scope = scope_push(s, SCOPE_CLASS, false);
	ok = class->scope && visit_all(s, &class->body);
	s->now = outer;
	return ok;
}

static bool visit_iterable(struct scoper *s, const struct node *over)
{
	bool ok;

	s->iterables++;
	ok = visit(s, over);
	s->iterables--;
	return ok;
}

static bool visit_comprehension_body(struct scoper *s, struct comprehension *c)
{
	for (int i = 0; i < c->n_clauses; i++) {
		if (i > 0 && !visit_iterable(s, c->clauses[i].over))
			return false;
		if (!bind(s, c->clauses[i].target, SYMBOL_ITERATION) ||
		    !visit_all(s, &c->clauses[i].conditions))
			return false;
	}
	return visit(s, c->element) && visit(s, c->value);
}

/* A generator expression is a function of one parameter, the iterator. */
static bool iterable_parameter(struct scoper *s)
{
	struct symbol *symbol = scope_mention(s, s->now, s->known->iterable,
					      SYMBOL_BOUND | SYMBOL_PARAMETER);

	if (!symbol)
		return false;
	symbol->parameter = 0;
	s->now->is_generator = true;
	return true;
}

static bool visit_comprehension(struct scoper *s, const struct node *node)
{
	struct comprehension *c = node->comprehension;
	bool generator = node->kind == NODE_GENERATOR, ok;
	struct scope *outer = s->now;

	if (!visit_iterable(s, c->clauses[0].over))
		return false;
	c->scope = scope_push(s, SCOPE_COMPREHENSION, !generator);
	ok = c->scope && (!generator || iterable_parameter(s)) && visit_comprehension_body(s, c);
	s->now = outer;
	return ok;
}

/* In a comprehension := binds in the function around it. */
static bool visit_walrus(struct scoper *s, const struct node *node)
{
	const struct node *target = node->walrus.target;
	struct scope *home = s->now;

	if (s->iterables)
		return err_at(
		    s->err, ERR_SYNTAX, target->line, target->column,
		    ":= cannot stand after the 'in' of a comprehension; assign before it");
	if (!visit(s, node->walrus.value))
		return false;
	for (; home->kind == SCOPE_COMPREHENSION; home = home->parent) {
		const struct symbol *symbol = scope_find(home, target->name);

		if (symbol && (symbol->flags & SYMBOL_ITERATION))
			return err_at(
			    s->err, ERR_SYNTAX, target->line, target->column,
			    ":= cannot assign %s, which the comprehension's 'for' assigns",
			    target->name);
	}
	if (home != s->now && home->kind == SCOPE_CLASS)
		return err_at(s->err, ERR_SYNTAX, target->line, target->column,
			      ":= cannot stand in a comprehension in the body of a class");
	if (home != s->now && !mention(s, target->name, SYMBOL_USED))
		return false;
	return scope_mention(s, home, target->name, SYMBOL_BOUND) != NULL;
}

static bool declare_one(struct scoper *s, const struct node *node, const char *name)
{
	bool global = node->kind == NODE_GLOBAL;
	const char *word = global ? "global" : "nonlocal";
	struct symbol *symbol = scope_find(s->now, name);
	unsigned flags = symbol ? symbol->flags : 0;

	if (flags & SYMBOL_PARAMETER)
		return err_at(s->err, ERR_SYNTAX, node->line, node->column,
			      "%s is a parameter of this function and cannot be %s", name, word);
	if (flags & (global ? SYMBOL_IS_NONLOCAL : SYMBOL_IS_GLOBAL))
		return err_at(s->err, ERR_SYNTAX, node->line, node->column,
			      "%s is declared both nonlocal and global", name);
	if ((flags & (SYMBOL_USED | SYMBOL_BOUND)) &&
	    !(flags & (SYMBOL_IS_GLOBAL | SYMBOL_IS_NONLOCAL)))
		return err_at(s->err, ERR_SYNTAX, node->line, node->column,
			      "%s is used before this line; move '%s %s' up, before its first use",
			      name, word, name);
	symbol = scope_mention(s, s->now, name, global ? SYMBOL_IS_GLOBAL : SYMBOL_IS_NONLOCAL);
	if (!symbol)
		return false;
	symbol->line = node->line;
	symbol->column = node->column;
	return true;
}

static bool declare(struct scoper *s, const struct node *node)
{
	if (node->kind == NODE_NONLOCAL && s->now->kind == SCOPE_MODULE)
		return err_at(s->err, ERR_SYNTAX, node->line, node->column,
			      "'nonlocal' stands outside a function");
	for (int i = 0; i < node->names.n; i++)
		if (!declare_one(s, node, node->names.at[i]))
			return false;
	return true;
}

static bool visit_import(struct scoper *s, const struct node *node)
{
	const struct import *import = node->import;

	for (int i = 0; i < import->n; i++) {
		const struct import_name *name = &import->at[i];

		if (!name->first && s->now->kind != SCOPE_MODULE)
			return err_at(s->err, ERR_SYNTAX, name->line, name->column,
				      "import * stands outside functions and classes");
		if (name->first &&
		    !mention(s, name->alias ? name->alias : name->first, SYMBOL_BOUND))
			return false;
	}
	return true;
}

static bool visit_annotated(struct scoper *s, const struct node *node)
{
	const struct node *target = node->annotated.target;
	const struct symbol *symbol;

	if (target->kind == NODE_NAME && !target->in_brackets) {
		symbol = scope_find(s->now, target->name);
		if (symbol && (symbol->flags & (SYMBOL_IS_GLOBAL | SYMBOL_IS_NONLOCAL)) &&
		    s->now->kind != SCOPE_MODULE)
			return err_at(s->err, ERR_SYNTAX, target->line, target->column,
				      "%s is declared global or nonlocal and cannot be annotated",
				      target->name);
	}
	s->now->annotates |= s->now->kind == SCOPE_CLASS && target->kind == NODE_NAME;
	return visit(s, node->annotated.value) && bind(s, target, 0);
}

static bool visit_try(struct scoper *s, const struct try_parts *parts)
{
	if (!visit_all(s, &parts->body))
		return false;
	for (int i = 0; i < parts->n_handlers; i++) {
		const struct handler *handler = &parts->handlers[i];

		if (!visit(s, handler->type) ||
		    (handler->name && !mention(s, handler->name, SYMBOL_BOUND)) ||
		    !visit_all(s, &handler->body))
			return false;
	}
	return visit_all(s, &parts->otherwise) && visit_all(s, &parts->finally);
}

static bool visit_with(struct scoper *s, const struct node *node)
{
	for (int i = 0; i < node->with.n; i++) {
		const struct with_item *item = &node->with.items[i];

		if (!visit(s, item->context) || (item->target && !bind(s, item->target, 0)))
			return false;
	}
	return visit_all(s, &node->with.body);
}

/* Names in a pattern are bound, but for _ and those with a dot. */
static bool bind_pattern(struct scoper *s, const struct node *pattern)
{
	switch (pattern->kind) {
	case NODE_NAME:
		return strcmp(pattern->name, "_") == 0 || mention(s, pattern->name, SYMBOL_BOUND);
	case NODE_STARRED:
		return bind_pattern(s, pattern->value);
	case NODE_TUPLE:
	case NODE_LIST:
		for (int i = 0; i < pattern->list.n; i++)
			if (!bind_pattern(s, pattern->list.at[i]))
				return false;
		return true;
	case NODE_BINARY:
		return bind_pattern(s, pattern->binary.left) &&
		       bind_pattern(s, pattern->binary.right);
	default:
		return visit(s, pattern);
	}
}

static bool visit_match(struct scoper *s, const struct node *node)
{
	if (!visit(s, node->match.subject))
		return false;
	for (int i = 0; i < node->match.n; i++) {
		const struct match_case *one = &node->match.cases[i];

		if (!bind_pattern(s, one->pattern) ||
		    (one->name && !mention(s, one->name, SYMBOL_BOUND)) || !visit(s, one->guard) ||
		    !visit_all(s, &one->body))
			return false;
	}
	return true;
}

static bool visit_dict(struct scoper *s, const struct node *node)
{
	for (int i = 0; i < node->dict.keys.n; i++)
		if (!visit(s, node->dict.keys.at[i]) || !visit(s, node->dict.values.at[i]))
			return false;
	return true;
}

static bool visit_if(struct scoper *s, const struct node *node)
{
	for (int i = 0; i < node->conditional.n; i++)
		if (!visit(s, node->conditional.branches[i].test) ||
		    !visit_all(s, &node->conditional.branches[i].body))
			return false;
	return visit_all(s, &node->conditional.otherwise);
}

static bool visit_assign(struct scoper *s, const struct node *node)
{
	if (!visit(s, node->assign.value))
		return false;
	for (int i = 0; i < node->assign.targets.n; i++)
		if (!bind(s, node->assign.targets.at[i], 0))
			return false;
	return true;
}

static bool visit_augmented(struct scoper *s, const struct node *node)
{
	return visit(s, node->augmented.target) && visit(s, node->augmented.value) &&
	       bind(s, node->augmented.target, 0);
}

static bool visit_delete(struct scoper *s, const struct node *node)
{
	for (int i = 0; i < node->list.n; i++)
		if (!bind(s, node->list.at[i], 0))
			return false;
	return true;
}

/* super() means super(__class__, first parameter). */
static bool visit_call(struct scoper *s, const struct node *node)
{
	const struct node *callee = node->call.callee;

	const char *first = s->now->host->first_parameter;

	if (callee->kind == NODE_NAME && callee->name == s->known->super &&
	    !node->call.arguments.n &&
	    (!mention(s, s->known->class_cell, SYMBOL_USED) ||
	     (first && !mention(s, first, SYMBOL_USED))))
		return false;
	return visit(s, callee) && visit_all(s, &node->call.arguments);
}

static bool visit_yield(struct scoper *s, const struct node *node)
{
	if (s->now->kind == SCOPE_COMPREHENSION)
		return err_at(s->err, ERR_SYNTAX, node->line, node->column,
			      "'yield' stands in a comprehension; write a loop");
	s->now->is_generator = true;
	return visit(s, node->value);
}

static bool visit_expression(struct scoper *s, const struct node *node)
{
	switch (node->kind) {
	case NODE_NAME:
		return mention(s, node->name, SYMBOL_USED);
	case NODE_TUPLE:
	case NODE_LIST:
	case NODE_SET:
	case NODE_FSTRING:
		return visit_all(s, &node->list);
	case NODE_FIELD:
		return visit(s, node->field.value) && visit(s, node->field.spec);
	case NODE_DICT:
		return visit_dict(s, node);
	case NODE_LIST_COMP:
	case NODE_SET_COMP:
	case NODE_DICT_COMP:
	case NODE_GENERATOR:
		return visit_comprehension(s, node);
	case NODE_ATTRIBUTE:
		return visit(s, node->attribute.value);
	case NODE_SUBSCRIPT:
		return visit(s, node->subscript.value) && visit(s, node->subscript.index);
	case NODE_SLICE:
		return visit(s, node->slice.start) && visit(s, node->slice.stop) &&
		       visit(s, node->slice.step);
	case NODE_CALL:
		return visit_call(s, node);
	case NODE_KEYWORD:
		return visit(s, node->keyword.value);
	case NODE_STARRED:
		return visit(s, node->value);
	case NODE_YIELD:
	case NODE_YIELD_FROM:
		return visit_yield(s, node);
	case NODE_BINARY:
		return visit(s, node->binary.left) && visit(s, node->binary.right);
	case NODE_UNARY:
		return visit(s, node->unary.operand);
	case NODE_BOOLEAN:
		return visit_all(s, &node->boolean.operands);
	case NODE_COMPARE:
		return visit_all(s, &node->compare.operands);
	case NODE_TERNARY:
		return visit(s, node->ternary.test) && visit(s, node->ternary.then) &&
		       visit(s, node->ternary.otherwise);
	case NODE_WALRUS:
		return visit_walrus(s, node);
	case NODE_LAMBDA:
		return visit_function(s, node->function);
	default:
		return true; /* a literal */
	}
}

static bool visit_loop(struct scoper *s, const struct node *node)
{
	if (node->kind == NODE_WHILE)
		return visit(s, node->loop.test) && visit_all(s, &node->loop.body) &&
		       visit_all(s, &node->loop.otherwise);
	return visit(s, node->iteration.over) && bind(s, node->iteration.target, 0) &&
	       visit_all(s, &node->iteration.body) && visit_all(s, &node->iteration.otherwise);
}

/* Any node, or NULL. */
static bool visit(struct scoper *s, const struct node *node)
{
	if (!node)
		return true;
	switch (node->kind) {
	case NODE_EXPRESSION:
	case NODE_RETURN:
		return visit(s, node->value);
	case NODE_ASSIGN:
		return visit_assign(s, node);
	case NODE_AUG_ASSIGN:
		return visit_augmented(s, node);
	case NODE_ANN_ASSIGN:
		return visit_annotated(s, node);
	case NODE_RAISE:
		return visit(s, node->raise.exception) && visit(s, node->raise.cause);
	case NODE_ASSERT:
		return visit(s, node->assertion.test) && visit(s, node->assertion.message);
	case NODE_DELETE:
		return visit_delete(s, node);
	case NODE_GLOBAL:
	case NODE_NONLOCAL:
		return declare(s, node);
	case NODE_IMPORT:
	case NODE_IMPORT_FROM:
		return visit_import(s, node);
	case NODE_IF:
		return visit_if(s, node);
	case NODE_WHILE:
	case NODE_FOR:
		return visit_loop(s, node);
	case NODE_MATCH:
		return visit_match(s, node);
	case NODE_TRY:
		return visit_try(s, node->attempt);
	case NODE_WITH:
		return visit_with(s, node);
	case NODE_FUNCTION:
		return visit_function(s, node->function) &&
		       mention(s, node->function->name, SYMBOL_BOUND);
	case NODE_CLASS:
		return visit_class(s, node->class);
	default:
		return visit_expression(s, node);
	}
}

bool scope_walk(struct scoper *s, const struct node_list *statements)
{
	return visit_all(s, statements);
}
