/* fusion/lang/rewrites.h -- private to rewrite*.c: a tree, its text, and edits. */
#ifndef FUSION_LANG_REWRITES_H
#define FUSION_LANG_REWRITES_H

#include "fusion/lang/ast.h"
#include "fusion/lang/token.h"

struct rewrite {
	const char *source;
	size_t len;
	int line; /* of the statement to change */
	const struct token_list *tokens;
	const struct node_list *module;
	struct buf *out;
};

/* A statement, and what it stands in. */
struct place_in {
	const struct node *function; /* NULL: the module */
	const struct node_list *block;
	int index;
};

/* The innermost statement of kind `kind` that begins at r->line. */
bool rewrite_find(const struct rewrite *r, enum node_kind kind, struct place_in *out);

/* Byte offsets. */
size_t rewrite_line_start(const struct rewrite *r, int line);
size_t rewrite_offset(const struct rewrite *r, int line, int column);

/* The text of an expression, to r->out. */
void rewrite_text(const struct rewrite *r, const struct node *n);

/* The white space before a statement that begins its line; -1: it does not. */
int rewrite_indent(const struct rewrite *r, const struct node *statement);

/* Whether nothing but a comment follows the statement on its last line. */
bool rewrite_ends_line(const struct rewrite *r, const struct node *statement);

/* `wanted`, or with a number behind it, so that the source has no such word. */
void rewrite_free_name(const struct rewrite *r, const char *wanted, char out[32]);

bool rewrite_where(struct rewrite *r);
bool rewrite_print(struct rewrite *r);
bool rewrite_tensor(struct rewrite *r);
bool rewrite_drop(struct rewrite *r);

#endif
