/* fusion/lang/compile.h -- syntax tree to code objects, and what its files
 * share.  Every function returns false once an error is in c->err.
 * Private to fusion/lang; all but compile_module() to compile*.c. */
#ifndef FUSION_LANG_COMPILE_H
#define FUSION_LANG_COMPILE_H

#include "fusion/lang/builder.h"

/* NULL with UNSUPPORTED or MEMORY. */
const struct code *compile_module(struct compiler *c, const struct node_list *statements,
				  const struct scope *scope);

/* compile.c */
bool compile_statements(struct builder *b, const struct node_list *statements);

/* compile_expr.c: leaves one value */
bool compile_expr(struct builder *b, const struct ast_node *node);

/* compile_expr.c: a literal, or a tuple of them (that alone needs b); false where
 * it is none */
bool constant_of(struct builder *b, const struct ast_node *node, struct lang_const *out);

/* compile_expr.c */
bool compile_jump(struct builder *b, const struct ast_node *test, struct label *to, bool when);

/* compile_store.c: takes the value off the stack */
bool compile_store(struct builder *b, const struct ast_node *target);
bool compile_store_name(struct builder *b, struct code_place at, const char *name);
bool compile_load_name(struct builder *b, struct code_place at, const char *name);
bool compile_delete_name(struct builder *b, struct code_place at, const char *name);

/* compile_definition.c: FUNCTION and CLASS are stored to their names, LAMBDA stays as a value */
bool compile_definition(struct builder *b, const struct ast_node *node);

/* compile_block.c: MATCH, TRY and WITH */
bool compile_block(struct builder *b, const struct ast_node *node);

/* "<a list comprehension> is outside the language so far; <write ...>" */
bool refuse(struct builder *b, const struct ast_node *node);

static inline bool refuse_at(struct builder *b, int line, int column, const char *what,
			     const char *instead)
{
	return err_at(b->c->err, ERR_UNSUPPORTED, line, column,
		      "%s is outside the language so far; %s", what, instead);
}

static inline struct lang_const const_none(void)
{
	return (struct lang_const){ .kind = CONST_NONE };
}

static inline struct lang_const const_str(const char *text, size_t len)
{
	return (struct lang_const){ .kind = CONST_STR, .n = (int)len, .str = text };
}

/* The string that the statements begin with, kept like a constant; a text with NULs is cut. NULL:
 * they begin otherwise, or out of memory. */
static inline const char *docstring(const struct builder *b, const struct node_list *body)
{
	const struct ast_node *first = body->n ? body->at[0] : NULL;

	if (!first || first->kind != NODE_EXPRESSION || first->value->kind != NODE_STRING)
		return NULL;
	return arena_strdup(b->c->program, first->value->string.text);
}

/* `= None`, del: as the name of an except clause ends */
static inline bool compile_unset_name(struct builder *b, struct code_place at, const char *name)
{
	return emit_const(b, at, const_none()) && compile_store_name(b, at, name) &&
	       compile_delete_name(b, at, name);
}

#endif
