/* fusion/lang/ast.h -- the syntax tree.  Private to fusion/lang.
 *
 * All nodes live in one arena and die with it; names are interned.  Which
 * member of the union counts is said beside it.  A chain such as a + b + c is
 * as deep as it is long: its height is bounded by the parser, so that the tree
 * may be walked by recursion.
 */
#ifndef FUSION_LANG_AST_H
#define FUSION_LANG_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/lang/lang.h"

enum node_kind {
#define NODE(id, called, instead) NODE_##id,
#include "fusion/lang/nodes.def"
#undef NODE
	NODE_COUNT
};

struct node_info {
	const char *called;  /* "a function call" */
	const char *instead; /* what to write where the compiler refuses it; or NULL */
};
extern const struct node_info node_table[NODE_COUNT];

struct ast_node;
struct scope;

struct node_list {
	struct ast_node **at;
	int n;
};

struct parameter {
	const char *name;
	struct ast_node *annotation, *value; /* either may be NULL; `value` is the default */
	int line, column;
};

struct ast_parameters { /* in the order of their place in struct code */
	struct parameter *at;
	int n, n_positional_only, n_positional, n_keyword_only;
	bool has_varargs, has_kwargs;
};

struct ast_function { /* FUNCTION and LAMBDA */
	const char *name;
	struct ast_parameters parameters;
	struct node_list decorators;
	struct ast_node *returns; /* annotation, or NULL */
	struct node_list body;    /* LAMBDA: one expression */
	int name_line, name_column;
	bool is_async;
	struct scope *scope;
};

struct class
{
	const char *name;
	struct node_list decorators, arguments, body;
	struct scope *scope;
};

struct for_clause { /* for target in over if .. if .. */
	struct ast_node *target, *over;
	struct node_list conditions;
};

struct comprehension {            /* LIST_COMP, SET_COMP, DICT_COMP, GENERATOR */
	struct ast_node *element; /* the key of a DICT_COMP */
	struct ast_node *value;   /* DICT_COMP */
	struct for_clause *clauses;
	int n_clauses;
	struct scope *scope;
};

struct import_name {
	const char *name;  /* "torch.nn"; "*" */
	const char *first; /* "torch" */
	const char *alias; /* after `as`, or NULL */
	int line, column;
};

struct ast_import {
	struct import_name *at;
	int n;
	const char *module; /* IMPORT_FROM; NULL in `from . import x` */
	int level;          /* leading dots */
};

struct branch {
	struct ast_node *test;
	struct node_list body;
};

struct handler {               /* except type as name: */
	struct ast_node *type; /* or NULL */
	const char *name;      /* or NULL */
	struct node_list body;
	int line, column;
};

struct try_parts {
	struct node_list body, otherwise, finally;
	struct handler *handlers;
	int n_handlers;
};

struct match_case { /* case pattern as name if guard: */
	struct ast_node *pattern,
	    *guard;       /* a pattern is read as an expression; guard may be NULL */
	const char *name; /* or NULL */
	struct node_list body;
	int line, column;
};

struct with_item {
	struct ast_node *context, *target; /* target may be NULL */
};

struct ast_node {
	enum node_kind kind;
	int line, column;         /* 1-based, in characters */
	int end_line, end_column; /* one past the last character */
	bool in_brackets;         /* written with ( ) around it */
	union {
		const char *name; /* NAME */
		uint64_t integer; /* INTEGER: 0 .. 2^63 */
		double real;      /* FLOAT */
		struct {
			const char *text;
			size_t len;
		} string;              /* STRING, BYTES */
		struct node_list list; /* TUPLE LIST SET DELETE FSTRING */
		struct ast_node
		    *value; /* STARRED YIELD_FROM EXPRESSION; RETURN, YIELD: may be NULL */
		struct {
			struct ast_node *value;
			struct ast_node *spec; /* FSTRING or NULL */
			char conversion;       /* 'r' 's' 'a' or 0 */
		} field;                       /* FIELD */
		struct {
			struct node_list keys, values;
		} dict; /* DICT; a NULL key: **value */
		struct comprehension *comprehension;
		struct {
			struct ast_node *value;
			const char *name;
			int line, column; /* of the name */
		} attribute;              /* ATTRIBUTE */
		struct {
			struct ast_node *value, *index;
		} subscript; /* SUBSCRIPT */
		struct {
			struct ast_node *start, *stop, *step;
		} slice; /* SLICE, any may be NULL */
		struct {
			struct ast_node *callee;
			struct node_list arguments;
		} call; /* CALL */
		struct {
			const char *name;
			struct ast_node *value;
		} keyword; /* KEYWORD; no name: **value */
		struct {
			enum binop op;
			struct ast_node *left, *right;
		} binary;
		struct {
			enum unop op;
			struct ast_node *operand;
		} unary;
		struct {
			bool is_or;
			struct node_list operands;
		} boolean;
		struct {
			struct node_list operands;
			enum cmpop *ops;
		} compare; /* n - 1 ops */
		struct {
			struct ast_node *test, *then, *otherwise;
		} ternary;
		struct {
			struct ast_node *target, *value;
		} walrus;
		struct ast_function *function; /* LAMBDA FUNCTION */
		struct {
			struct node_list targets;
			struct ast_node *value;
		} assign;
		struct {
			struct ast_node *target, *value;
			enum binop op;
		} augmented;
		struct {
			struct ast_node *target, *annotation, *value;
		} annotated;
		struct {
			struct ast_node *exception, *cause;
		} raise; /* either may be NULL */
		struct {
			struct ast_node *test, *message;
		} assertion;
		struct {
			const char **at;
			int n;
		} names; /* GLOBAL NONLOCAL */
		struct ast_import *import;
		struct {
			struct branch *branches;
			int n;
			struct node_list otherwise;
		} conditional; /* IF */
		struct {
			struct ast_node *test;
			struct node_list body, otherwise;
		} loop; /* WHILE */
		struct {
			struct ast_node *target, *over;
			struct node_list body, otherwise;
		} iteration;               /* FOR */
		struct try_parts *attempt; /* TRY */
		struct {
			struct ast_node *subject;
			struct match_case *cases;
			int n;
		} match;
		struct {
			struct with_item *items;
			int n;
			struct node_list body;
		} with;
		struct class *class;
	};
};

/* Visits what an expression is made of, in the order in which it is evaluated; of a ternary what is
 * taken where its test holds comes first, and of a dict its values alone.  NULL is visited where an
 * operand was left out. */
typedef void ast_visit_fn(void *self, const struct ast_node *operand);
void ast_operands(const struct ast_node *n, ast_visit_fn *visit, void *self);

#endif
