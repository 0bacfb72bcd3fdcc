/* fusion/lang/compile.h -- syntax tree to code objects, and what its files
 * share.  Every function returns false once an error is in c->err.
 * Private to fusion/lang; all but compile_module() to compile*.c. */
#ifndef FUSION_LANG_COMPILE_H
#define FUSION_LANG_COMPILE_H

#include "fusion/lang/builder.h"

/* NULL with UNSUPPORTED or MEMORY. */
const struct code *compile_module(struct compiler *c, const struct node_list *statements,
				  const struct scope *scope);

/* compile_stmt.c */
bool compile_statements(struct builder *b, const struct node_list *statements);

/* compile_expr.c: leaves one value */
bool compile_expr(struct builder *b, const struct node *node);

/* compile_expr.c: a literal, or a tuple of them (that alone needs b); false where
 * it is none */
bool constant_of(struct builder *b, const struct node *node, struct lang_const *out);

/* compile_expr.c */
bool compile_jump(struct builder *b, const struct node *test, struct label *to, bool when);

/* compile_store.c: takes the value off the stack */
bool compile_store(struct builder *b, const struct node *target);
bool compile_store_name(struct builder *b, struct place at, const char *name);
bool compile_load_name(struct builder *b, struct place at, const char *name);
bool compile_augmented(struct builder *b, const struct node *node);
bool compile_delete(struct builder *b, const struct node *target);
bool compile_unset_name(struct builder *b, struct place at, const char *name); /* `= None`, del */

/* compile_function.c: FUNCTION is stored to its name, LAMBDA stays as a value */
bool compile_function(struct builder *b, const struct node *node);
/* the cells that the code of `inner` takes from here, as a tuple */
bool compile_closure(struct builder *b, struct place at, const struct scope *inner);
/* MAKE_FUNCTION, with what it takes on the stack */
bool make_function(struct builder *b, struct place at, struct code *code);
bool compile_decorators(struct builder *b, const struct node_list *decorators);
bool call_decorators(struct builder *b, const struct node_list *decorators);

/* compile_stmt.c */
bool compile_for(struct builder *b, const struct node *node);

/* compile_block.c */
bool compile_match(struct builder *b, const struct node *node);
bool compile_try(struct builder *b, const struct node *node);
bool compile_with(struct builder *b, const struct node *node);

/* "<a list comprehension> is outside the language so far; <write ...>" */
bool refuse(struct builder *b, const struct node *node);
bool refuse_at(struct builder *b, int line, int column, const char *what, const char *instead);

static inline struct lang_const const_none(void)
{
	return (struct lang_const){ .kind = CONST_NONE };
}

static inline struct lang_const const_str(const char *text, size_t len)
{
	return (struct lang_const){ .kind = CONST_STR, .n = (int)len, .str = text };
}

#endif
