/* fusion/lang/outline.h -- a source that was read for what it says of its functions.
 *
 * Private to fusion/lang: outline.c reads it, uses.c follows its calls.
 */
#ifndef FUSION_LANG_OUTLINE_H
#define FUSION_LANG_OUTLINE_H

#include "fusion/base/arena.h"
#include "fusion/base/vec.h"
#include "fusion/lang/names.h"
#include "fusion/lang/parser.h"
#include "fusion/source.h"

/* A function or class with its node. */
struct outlined {
	struct lang_signature signature;
	const struct ast_node *node;
};

struct lang_outline {
	struct arena arena;
	struct lang_names names;
	struct token_list tokens;
	const char *source; /* borrowed */
	struct node_list module;
	VEC(struct outlined) functions;
	bool failed;
};

/* The first token of a node; whether a token is after it. */
static inline size_t outline_token(const struct lang_outline *o, const struct ast_node *node)
{
	size_t low = 0, high = o->tokens.tokens.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct token *t = &o->tokens.tokens.at[middle];

		if (t->line < node->line || (t->line == node->line && t->column < node->column))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline bool outline_past(const struct token *t, const struct ast_node *node)
{
	return t->kind == TOK_END || t->line > node->end_line ||
	       (t->line == node->end_line && t->column >= node->end_column);
}

/* NULL: there is none of that name. */
const struct outlined *outline_find(const struct lang_outline *o, const char *owner,
				    const char *name);

#endif
