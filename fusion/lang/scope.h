/* fusion/lang/scope.h -- which variable a name means.  Private to fusion/lang.
 *
 * Python's rule: a name that a function binds anywhere is local in all of it;
 * one that an inner function uses is a cell in the outer and free in the
 * inner; every other name is global.  A class's own names lie in its namespace.
 *
 * A list, set or dict comprehension has a scope of its own, but no code: its
 * variables are among those of its host, the code around it.
 */
#ifndef FUSION_LANG_SCOPE_H
#define FUSION_LANG_SCOPE_H

#include "fusion/base/arena.h"
#include "fusion/base/err.h"
#include "fusion/lang/ast.h"
#include "fusion/lang/names.h"

enum scope_kind { SCOPE_MODULE, SCOPE_FUNCTION, SCOPE_CLASS, SCOPE_COMPREHENSION };

enum symbol_kind {
	SYMBOL_UNKNOWN, /* before resolution only */
	SYMBOL_GLOBAL,
	SYMBOL_LOCAL,     /* index: into locals */
	SYMBOL_CELL,      /* made here; index: into cells */
	SYMBOL_FREE,      /* from the closure; index: into cells */
	SYMBOL_NAMESPACE, /* of a class */
	SYMBOL_HOSTED,    /* before numbering only: what the scope around it has */
};

enum {
	SYMBOL_USED = 1,
	SYMBOL_BOUND = 2,
	SYMBOL_PARAMETER = 4,
	SYMBOL_IS_GLOBAL = 8,    /* declared */
	SYMBOL_IS_NONLOCAL = 16, /* declared */
	SYMBOL_ITERATION = 32,   /* bound by the `for` of a comprehension */
};

struct symbol {
	const char *name;
	unsigned flags;
	enum symbol_kind kind;
	int index;
	int parameter; /* its place among the parameters, or -1 */
	/* A class has its own variable of a name that functions in it take from
	 * around it: the cell that goes through, else -1. */
	int through;
	int line, column; /* of the nonlocal statement */
};

struct scope {
	enum scope_kind kind;
	struct scope *parent;
	struct scope *next; /* in order of the source */
	struct symbol *symbols;
	int n_symbols, cap;
	struct name_map map; /* name to its place in symbols */
	int n_locals, n_cells, n_own_cells;
	struct scope *host;   /* whose code this is compiled into, often itself */
	struct scope *hosted; /* first of those compiled into this one's code */
	struct scope *next_hosted;
	const char *first_parameter;
	bool annotates;    /* a class with annotated names */
	bool is_generator; /* a function with a yield, a generator expression */
};

/* Names that the language itself uses, interned. */
struct known_names {
	const char *super, *class_cell, *iterable; /* super __class__ .0 */
	const char *assertion_error;               /* AssertionError */
	const char *annotations;                   /* __annotations__ */
};

/* Makes the scope of the module and sets that of each function, class and
 * comprehension in the tree; interns the names that the language uses.  NULL with a
 * SYNTAX error where Python has one, or with MEMORY. */
struct scope *scope_analyze(const struct node_list *module, struct lang_names *names,
			    struct known_names *known, struct arena *arena, struct err *err);

/* NULL where the scope does not mention the name. */
struct symbol *scope_find(const struct scope *scope, const char *name);

/* The cell by which a function inside the scope sees this variable. */
static inline int symbol_cell(const struct symbol *symbol)
{
	return symbol->through >= 0 ? symbol->through : symbol->index;
}

#endif
