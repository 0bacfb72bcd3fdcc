/* fusion/lang/scope.c -- symbols of each scope and what they resolve to.
 *
 * resolve_symbol() climbs from a use to the function that binds the name, and
 * makes it free in every scope on the way: a closure is passed on by each
 * function between.  Class bodies bind names that functions in them do not see.
 */
#include "fusion/lang/scope.h"

#include <string.h>

struct scoper {
	struct arena *arena;
	const struct known_names *known;
	struct err *err;
	struct scope *now;   /* that the node under way belongs to */
	struct scope **tail; /* of the list of all scopes */
	int iterables;       /* after `in` of comprehensions, inside each other */
};

static struct scope *scope_push(struct scoper *s, enum scope_kind kind, bool hosted);
static struct symbol *scope_mention(struct scoper *s, struct scope *scope, const char *name,
				    unsigned flags);

/* ---- collects the names that each scope mentions.
 *
 * The order is that of evaluation: defaults and decorators belong to the scope
 * around a function, and so does the first `in` of a comprehension.
 * Annotations are not evaluated in this language, so they mention nothing.
 */

static bool visit(struct scoper *s, const struct ast_node *node);

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
static bool bind(struct scoper *s, const struct ast_node *target, unsigned flags)
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

static bool visit_parameters(struct scoper *s, const struct ast_parameters *parameters)
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

static bool visit_function(struct scoper *s, struct ast_function *f)
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

static bool visit_iterable(struct scoper *s, const struct ast_node *over)
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

static bool visit_comprehension(struct scoper *s, const struct ast_node *node)
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
static bool visit_walrus(struct scoper *s, const struct ast_node *node)
{
	const struct ast_node *target = node->walrus.target;
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

static bool declare_one(struct scoper *s, const struct ast_node *node, const char *name)
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

static bool declare(struct scoper *s, const struct ast_node *node)
{
	if (node->kind == NODE_NONLOCAL && s->now->kind == SCOPE_MODULE)
		return err_at(s->err, ERR_SYNTAX, node->line, node->column,
			      "'nonlocal' stands outside a function");
	for (int i = 0; i < node->names.n; i++)
		if (!declare_one(s, node, node->names.at[i]))
			return false;
	return true;
}

static bool visit_import(struct scoper *s, const struct ast_node *node)
{
	const struct ast_import *import = node->import;

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

static bool visit_annotated(struct scoper *s, const struct ast_node *node)
{
	const struct ast_node *target = node->annotated.target;
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

static bool visit_with(struct scoper *s, const struct ast_node *node)
{
	for (int i = 0; i < node->with.n; i++) {
		const struct with_item *item = &node->with.items[i];

		if (!visit(s, item->context) || (item->target && !bind(s, item->target, 0)))
			return false;
	}
	return visit_all(s, &node->with.body);
}

static bool bind_pattern(struct scoper *s, const struct ast_node *pattern);

static bool bind_patterns(struct scoper *s, const struct node_list *patterns)
{
	for (int i = 0; i < patterns->n; i++)
		if (!bind_pattern(s, patterns->at[i]))
			return false;
	return true;
}

/* Names in a pattern are bound, but for _ and those with a dot. */
static bool bind_pattern(struct scoper *s, const struct ast_node *pattern)
{
	switch (pattern->kind) {
	case NODE_NAME:
		return strcmp(pattern->name, "_") == 0 || mention(s, pattern->name, SYMBOL_BOUND);
	case NODE_STARRED:
		return bind_pattern(s, pattern->value);
	case NODE_TUPLE:
	case NODE_LIST:
		return bind_patterns(s, &pattern->list);
	case NODE_BINARY:
		return bind_pattern(s, pattern->binary.left) &&
		       bind_pattern(s, pattern->binary.right);
	case NODE_WALRUS:
		return bind_pattern(s, pattern->walrus.value) &&
		       bind_pattern(s, pattern->walrus.target);
	case NODE_KEYWORD:
		return bind_pattern(s, pattern->keyword.value);
	case NODE_CALL:
		return visit(s, pattern->call.callee) && bind_patterns(s, &pattern->call.arguments);
	case NODE_DICT:
		for (int i = 0; i < pattern->dict.keys.n; i++)
			if (!visit(s, pattern->dict.keys.at[i]))
				return false;
		return bind_patterns(s, &pattern->dict.values);
	default:
		return visit(s, pattern);
	}
}

static bool visit_match(struct scoper *s, const struct ast_node *node)
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

static bool visit_dict(struct scoper *s, const struct ast_node *node)
{
	for (int i = 0; i < node->dict.keys.n; i++)
		if (!visit(s, node->dict.keys.at[i]) || !visit(s, node->dict.values.at[i]))
			return false;
	return true;
}

static bool visit_if(struct scoper *s, const struct ast_node *node)
{
	for (int i = 0; i < node->conditional.n; i++)
		if (!visit(s, node->conditional.branches[i].test) ||
		    !visit_all(s, &node->conditional.branches[i].body))
			return false;
	return visit_all(s, &node->conditional.otherwise);
}

static bool visit_assign(struct scoper *s, const struct ast_node *node)
{
	if (!visit(s, node->assign.value))
		return false;
	for (int i = 0; i < node->assign.targets.n; i++)
		if (!bind(s, node->assign.targets.at[i], 0))
			return false;
	return true;
}

static bool visit_augmented(struct scoper *s, const struct ast_node *node)
{
	return visit(s, node->augmented.target) && visit(s, node->augmented.value) &&
	       bind(s, node->augmented.target, 0);
}

static bool visit_delete(struct scoper *s, const struct ast_node *node)
{
	for (int i = 0; i < node->list.n; i++)
		if (!bind(s, node->list.at[i], 0))
			return false;
	return true;
}

/* super() means super(__class__, first parameter). */
static bool visit_call(struct scoper *s, const struct ast_node *node)
{
	const struct ast_node *callee = node->call.callee;

	const char *first = s->now->host->first_parameter;

	if (callee->kind == NODE_NAME && callee->name == s->known->super &&
	    !node->call.arguments.n &&
	    (!mention(s, s->known->class_cell, SYMBOL_USED) ||
	     (first && !mention(s, first, SYMBOL_USED))))
		return false;
	return visit(s, callee) && visit_all(s, &node->call.arguments);
}

static bool visit_yield(struct scoper *s, const struct ast_node *node)
{
	if (s->now->kind == SCOPE_COMPREHENSION)
		return err_at(s->err, ERR_SYNTAX, node->line, node->column,
			      "'yield' stands in a comprehension; write a loop");
	s->now->is_generator = true;
	return visit(s, node->value);
}

static bool visit_expression(struct scoper *s, const struct ast_node *node)
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

static bool visit_loop(struct scoper *s, const struct ast_node *node)
{
	if (node->kind == NODE_WHILE)
		return visit(s, node->loop.test) && visit_all(s, &node->loop.body) &&
		       visit_all(s, &node->loop.otherwise);
	return visit(s, node->iteration.over) && bind(s, node->iteration.target, 0) &&
	       visit_all(s, &node->iteration.body) && visit_all(s, &node->iteration.otherwise);
}

/* Any node, or NULL. */
static bool visit(struct scoper *s, const struct ast_node *node)
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

/* Records every use and binding of a name in the tree. */
static bool scope_walk(struct scoper *s, const struct node_list *statements)
{
	return visit_all(s, statements);
}

struct symbol *scope_find(const struct scope *scope, const char *name)
{
	int i = name_map_get(&scope->map, name);

	return i < 0 ? NULL : &scope->symbols[i];
}

static bool no_memory(struct scoper *s)
{
	return err_set(s->err, ERR_MEMORY, "out of memory for the scopes");
}

static void host(struct scope *scope, struct scope *around)
{
	struct scope **tail = &around->host->hosted;

	scope->host = around->host;
	scope->next_hosted = *tail;
	*tail = scope;
}

/* Makes a scope inside the current one and enters it; `hosted`: without code of
 * its own. */
static struct scope *scope_push(struct scoper *s, enum scope_kind kind, bool hosted)
{
	struct scope *scope = ARENA_NEW(s->arena, struct scope);

	if (!scope) {
		no_memory(s);
		return NULL;
	}
	scope->kind = kind;
	scope->parent = s->now;
	scope->host = scope;
	if (hosted)
		host(scope, s->now);
	scope->map.arena = s->arena;
	*s->tail = scope;
	s->tail = &scope->next;
	s->now = scope;
	return scope;
}

static bool grow(struct arena *arena, struct scope *scope)
{
	enum { FIRST = 8 };
	int cap = scope->cap ? scope->cap * 2 : FIRST;
	struct symbol *symbols = ARENA_ARRAY(arena, struct symbol, (size_t)cap);

	if (!symbols)
		return false;
	if (scope->symbols)
		memcpy(symbols, scope->symbols, (size_t)scope->n_symbols * sizeof(*symbols));
	scope->symbols = symbols;
	scope->cap = cap;
	return true;
}

/* The symbol, made where it is new; NULL when out of memory. */
static struct symbol *scope_mention(struct scoper *s, struct scope *scope, const char *name,
				    unsigned flags)
{
	struct symbol *symbol = scope_find(scope, name);

	if (!symbol) {
		if ((scope->n_symbols == scope->cap && !grow(s->arena, scope)) ||
		    !name_map_set(&scope->map, name, scope->n_symbols)) {
			no_memory(s);
			return NULL;
		}
		symbol = &scope->symbols[scope->n_symbols++];
		symbol->name = name;
		symbol->parameter = symbol->through = -1;
	}
	symbol->flags |= flags;
	return symbol;
}

static bool is_function(const struct scope *scope)
{
	return scope->kind == SCOPE_FUNCTION || scope->kind == SCOPE_COMPREHENSION;
}

/* The function around `scope` whose own variable this is, or NULL: global.
 * __class__ is the class around a method, for all code in the method. */
static struct scope *owner(const struct scoper *s, const struct scope *scope, const char *name)
{
	for (struct scope *outer = scope->parent; outer; outer = outer->parent) {
		const struct symbol *symbol = is_function(outer) ? scope_find(outer, name) : NULL;

		if (outer->kind == SCOPE_CLASS && name == s->known->class_cell)
			return outer;
		if (!symbol)
			continue;
		if (symbol->flags & SYMBOL_IS_GLOBAL)
			return NULL;
		if ((symbol->flags & SYMBOL_BOUND) && !(symbol->flags & SYMBOL_IS_NONLOCAL))
			return outer;
	}
	return NULL;
}

/* A class's own variable, whatever functions in it mean by the name. */
static bool has_its_own(const struct symbol *symbol)
{
	return (symbol->flags & SYMBOL_IS_GLOBAL) ||
	       ((symbol->flags & SYMBOL_BOUND) && !(symbol->flags & SYMBOL_IS_NONLOCAL));
}

/* From the scope that uses the name up to its owner: free in each code object
 * between, and then a cell; in scopes that share the owner's code, its variable. */
static bool make_free(struct scoper *s, struct scope *scope, const char *name)
{
	struct scope *home = owner(s, scope, name);
	struct symbol *symbol;

	for (struct scope *at = scope; at != home; at = at->parent) {
		symbol = scope_mention(s, at, name, 0);
		if (!symbol)
			return false;
		if (at->kind == SCOPE_CLASS && at != scope && has_its_own(symbol))
			symbol->through = 0;
		else
			symbol->kind = at->host == at ? SYMBOL_FREE : SYMBOL_HOSTED;
	}
	symbol = scope_mention(s, home, name, 0);
	if (symbol && (scope->host != home->host || home->kind == SCOPE_CLASS))
		symbol->kind = SYMBOL_CELL;
	return symbol != NULL;
}

static bool resolve_symbol(struct scoper *s, struct scope *scope, int i)
{
	struct symbol *symbol = &scope->symbols[i];
	const char *name = symbol->name;

	if (symbol->kind != SYMBOL_UNKNOWN)
		return true;
	if (scope->kind == SCOPE_MODULE || (symbol->flags & SYMBOL_IS_GLOBAL)) {
		symbol->kind = SYMBOL_GLOBAL;
		return true;
	}
	if (!(symbol->flags & SYMBOL_IS_NONLOCAL) && (symbol->flags & SYMBOL_BOUND)) {
		symbol->kind = scope->kind == SCOPE_CLASS ? SYMBOL_NAMESPACE : SYMBOL_LOCAL;
		return true;
	}
	if (owner(s, scope, name))
		return make_free(s, scope, name);
	if (symbol->flags & SYMBOL_IS_NONLOCAL)
		return err_at(s->err, ERR_SYNTAX, symbol->line, symbol->column,
			      "nonlocal %s: no function around this one assigns %s", name, name);
	symbol->kind = SYMBOL_GLOBAL;
	return true;
}

/* Parameters have the first locals even where a cell takes their value over.
 * Those of hosted scopes come after their host's, which is earlier in the list. */
static void number_own(struct scope *scope)
{
	struct scope *code = scope->host;
	int n_parameters = 0;

	for (int i = 0; i < scope->n_symbols; i++)
		n_parameters += scope->symbols[i].parameter >= 0;
	code->n_locals += n_parameters;
	for (int i = 0; i < scope->n_symbols; i++) {
		struct symbol *symbol = &scope->symbols[i];

		if (symbol->kind == SYMBOL_LOCAL)
			symbol->index = symbol->parameter >= 0 ? symbol->parameter
							       : code->n_locals++;
		else if (symbol->kind == SYMBOL_CELL)
			symbol->index = code->n_own_cells++;
	}
}

static void number_free(struct scope *scope)
{
	if (scope->host != scope)
		return;
	scope->n_cells = scope->n_own_cells;
	for (int i = 0; i < scope->n_symbols; i++) {
		struct symbol *symbol = &scope->symbols[i];

		if (symbol->kind == SYMBOL_FREE)
			symbol->index = scope->n_cells++;
		else if (symbol->through >= 0)
			symbol->through = scope->n_cells++;
	}
}

/* The scope around a hosted one is earlier in the list, so it knows already. */
static void look_up_hosted(struct scope *scope)
{
	for (int i = 0; i < scope->n_symbols; i++) {
		struct symbol *symbol = &scope->symbols[i];
		const struct symbol *outer;

		if (symbol->kind != SYMBOL_HOSTED)
			continue;
		outer = scope_find(scope->parent, symbol->name);
		symbol->kind = outer->through >= 0 ? SYMBOL_FREE : outer->kind;
		symbol->index = symbol_cell(outer);
	}
}

static bool know(struct lang_names *names, const char *text, const char **out)
{
	struct name *name = names_intern(names, text, strlen(text));

	*out = name ? name->text : NULL;
	return name != NULL;
}

static bool know_names(struct lang_names *names, struct known_names *out)
{
	return know(names, "super", &out->super) && know(names, "__class__", &out->class_cell) &&
	       know(names, ".0", &out->iterable) &&
	       know(names, "AssertionError", &out->assertion_error) &&
	       know(names, "__annotations__", &out->annotations);
}

struct scope *scope_analyze(const struct node_list *module, struct lang_names *names,
			    struct known_names *known, struct arena *arena, struct err *err)
{
	struct scoper s = { .arena = arena, .known = known, .err = err };
	struct scope *first = NULL;

	s.tail = &first;
	if (!know_names(names, known)) {
		err_set(err, ERR_MEMORY, "out of memory for the names");
		return NULL;
	}
	if (!scope_push(&s, SCOPE_MODULE, false) || !scope_walk(&s, module))
		return NULL;
	for (struct scope *scope = first; scope; scope = scope->next)
		for (int i = 0; i < scope->n_symbols; i++)
			if (!resolve_symbol(&s, scope, i))
				return NULL;
	for (struct scope *scope = first; scope; scope = scope->next)
		number_own(scope);
	for (struct scope *scope = first; scope; scope = scope->next)
		number_free(scope);
	for (struct scope *scope = first; scope; scope = scope->next)
		look_up_hosted(scope);
	return first;
}
