/* fusion/lang/scope.c -- symbols of each scope and what they resolve to.
 *
 * resolve_symbol() climbs from a use to the function that binds the name, and
 * makes it free in every scope on the way: a closure is passed on by each
 * function between.  Class bodies bind names that functions in them do not see.
 */
#include "fusion/lang/scope.h"

#include <string.h>

#include "fusion/lang/scope_walk.h"

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

struct scope *scope_push(struct scoper *s, enum scope_kind kind, bool hosted)
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

struct symbol *scope_mention(struct scoper *s, struct scope *scope, const char *name,
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
 * __class__ is the class around a method, for all that stands in the method. */
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

static bool know(struct names *names, const char *text, const char **out)
{
	struct name *name = names_intern(names, text, strlen(text));

	*out = name ? name->text : NULL;
	return name != NULL;
}

bool scope_know_names(struct names *names, struct known_names *out)
{
	return know(names, "super", &out->super) && know(names, "__class__", &out->class_cell) &&
	       know(names, ".0", &out->iterable) &&
	       know(names, "AssertionError", &out->assertion_error) &&
	       know(names, "__annotations__", &out->annotations);
}

struct scope *scope_analyze(const struct node_list *module, const struct known_names *known,
			    struct arena *arena, struct err *err)
{
	struct scoper s = { .arena = arena, .known = known, .err = err };
	struct scope *first = NULL;

	s.tail = &first;
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
