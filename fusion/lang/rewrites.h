/* fusion/lang/rewrites.h -- private to rewrite*.c: a tree, its text, and edits. */
#ifndef FUSION_LANG_REWRITES_H
#define FUSION_LANG_REWRITES_H

#include "fusion/lang/ast.h"
#include "fusion/lang/token.h"

struct source_rewrite {
	const char *source;
	size_t len;
	int line; /* of the statement to change */
	const struct token_list *tokens;
	const struct node_list *module;
	struct buf *out;
};

/* A statement, and the block around it. */
struct place_in {
	const struct ast_node *function; /* NULL: the module */
	const struct node_list *block;
	int index;
};

#endif
