/* fusion/lang/parser.h -- tokens to syntax tree, and what its files share.
 *
 * Every parse_ function returns NULL (or false) once a fault has been
 * recorded; callers pass that on and look at nothing else.  Private to
 * fusion/lang; all but ast_parse() private to parser.c and parse_*.c.
 */
#ifndef FUSION_LANG_PARSER_H
#define FUSION_LANG_PARSER_H

#include "fusion/lang/ast.h"
#include "fusion/lang/token.h"

struct parser {
	const char *source;
	const struct token_list *list;
	size_t i; /* the token under way */
	struct arena *arena;
	struct lang_names *names;
	struct err *err;
	bool failed;
	int depth, max_depth;   /* calls of parser_enter() */
	int height, max_height; /* of the tree under way: see parse_binary() */
	int nodes, max_nodes;
	bool in_pattern;                /* of a case: `as name` ends an expression */
	int functions, loops;           /* that the statement under way is in */
	VEC(struct ast_node *) scratch; /* items of the lists under way */
	VEC(enum cmpop) ops;            /* of the comparisons under way */
};

struct ast_limits {
	int depth, nodes;
};

/* What is parsed; all borrowed. */
struct ast_source {
	const char *text;
	const struct token_list *tokens;
	struct ast_limits limits;
};

/* The statements of the module; its nodes in `arena`, its names in `names`. */
bool ast_parse(const struct ast_source *source, struct arena *arena, struct lang_names *names,
	       struct node_list *module, struct err *err);

/* --- tokens --- */
static inline const struct token *token_at(const struct parser *p, size_t ahead)
{
	size_t last = p->list->tokens.len - 1; /* END or ERROR */

	return &p->list->tokens.at[p->i + ahead < last ? p->i + ahead : last];
}
static inline const struct token *token_now(const struct parser *p)
{
	return token_at(p, 0);
}
static inline const struct token *token_before(const struct parser *p)
{
	return &p->list->tokens.at[p->i ? p->i - 1 : 0];
}
static inline bool at(const struct parser *p, enum token_kind kind)
{
	return token_now(p)->kind == kind;
}
static inline void advance(struct parser *p)
{
	if (p->i + 1 < p->list->tokens.len)
		p->i++;
}
static inline bool accept(struct parser *p, enum token_kind kind)
{
	if (!at(p, kind))
		return false;
	advance(p);
	return true;
}
bool expect(struct parser *p, enum token_kind kind, const char *where); /* "after ..." */
bool starts_expression(enum token_kind kind);

/* --- nodes and lists --- */
struct ast_node *node_start(struct parser *p, enum node_kind kind, const struct token *first);
/* Ends the node at the last token taken, and returns it. */
struct ast_node *node_end(struct parser *p, struct ast_node *node);
void *parser_alloc(struct parser *p, size_t count, size_t bytes);
#define PARSER_ARRAY(p, type, count) ((type *)parser_alloc((p), (size_t)(count), sizeof(type)))

bool list_push(struct parser *p, struct ast_node *node); /* false for NULL too */
bool list_take(struct parser *p, size_t mark, struct node_list *list);

/* --- limits --- */
/* Around whatever recurses; `saved` carries the height of what is beside it. */
bool parser_enter(struct parser *p, int *saved);
void parser_leave(struct parser *p, int saved);

/* --- faults: return NULL --- */
/* At the token under way; gives way to a bracket before it that is never closed. */
void *unexpected(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* At a place; recorded as it is. */
void *fault_at(struct parser *p, enum err_code code, int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static inline void *no_memory(struct parser *p)
{
	return fault_at(p, ERR_MEMORY, token_now(p)->line, token_now(p)->column,
			"out of memory for the syntax tree");
}

/* parse_hint.c: what the author may have meant */
void *not_an_expression(struct parser *p);
void *statement_goes_on(struct parser *p, const struct ast_node *last);
void *not_a_name(struct parser *p, const char *of_what);
void *colon_missing(struct parser *p, const char *after);
void *item_not_closed(struct parser *p, const char *close);

/* parse_string.c: adjacent literals, as one */
struct ast_node *parse_strings(struct parser *p);

/* parse_arguments.c */
bool parse_arguments(struct parser *p, struct node_list *arguments); /* past "(" .. past ")" */
bool parse_parameters(struct parser *p, enum token_kind close, struct ast_parameters *out);

/* parse_expr.c */
struct ast_node *parse_expression(struct parser *p);
struct ast_node *parse_named(struct parser *p);       /* may be a walrus */
struct ast_node *parse_list_item(struct parser *p);   /* may be a walrus or starred */
struct ast_node *parse_expressions(struct parser *p); /* with commas: a tuple */
struct ast_node *parse_yield_or_expressions(struct parser *p);
struct ast_node *parse_targets(struct parser *p); /* of for: stops at `in` */
struct ast_node *parse_operand(struct parser *p); /* all above comparisons: a | b */
struct ast_node *parse_comprehension(struct parser *p, enum node_kind kind,
				     struct ast_node *element, struct ast_node *value);

/* parse_stmt.c: may these be assigned to, or deleted? */
bool check_target(struct parser *p, const struct ast_node *target);

/* parse_stmt.c, parse_block.c */
bool parse_statement(struct parser *p);            /* pushes onto the scratch list */
bool parse_simple_line(struct parser *p);          /* a; b; c NEWLINE: pushes */
struct ast_node *parse_compound(struct parser *p); /* at its first word, or a `match` that is one */

#endif
