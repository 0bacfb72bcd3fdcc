/* fusion/lang/outline.c -- what a source says of its functions, and how it calls them, unrun.
 *
 * Texts are those of the source, from a node's first character to its last.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/arena.h"
#include "fusion/base/utf8.h"
#include "fusion/lang/names.h"
#include "fusion/lang/parser.h"
#include "fusion/source.h"

enum { DEPTH = 200, NODES = 500000, ARENA_BYTES = 256 << 20, MOST_BYTES = 1 << 20 };

struct lang_outline {
	struct arena arena;
	struct lang_names names;
	struct token_list tokens;
	const char **lines;
	int n_lines;
	VEC(struct lang_signature) functions;
	VEC(struct lang_statement) statements;
	bool failed;
};

/* ---- texts ---- */

static bool find_lines(struct lang_outline *o, const char *source)
{
	int n = 1;

	for (const char *at = source; (at = strchr(at, '\n')); at++)
		n++;
	o->lines = ARENA_ARRAY(&o->arena, const char *, (size_t)n);
	if (!o->lines)
		return false;
	o->lines[o->n_lines++] = source;
	for (const char *at = source; (at = strchr(at, '\n')); at++)
		o->lines[o->n_lines++] = at + 1;
	return true;
}

static const char *byte_at(const struct lang_outline *o, int line, int column)
{
	const char *at = line <= o->n_lines ? o->lines[line - 1] : NULL;

	for (int i = 1; at && i < column && *at && *at != '\n'; i++)
		do
			at++;
		while (((unsigned char)*at & 0xc0) == 0x80);
	return at;
}

static const char *text_of(struct lang_outline *o, const struct ast_node *n)
{
	const char *from = n ? byte_at(o, n->line, n->column) : NULL, *to, *text;

	if (!from)
		return NULL;
	to = byte_at(o, n->end_line, n->end_column);
	text = to && to > from ? arena_strndup(&o->arena, from, (size_t)(to - from)) : NULL;
	o->failed |= !text;
	return text;
}

/* ---- functions ---- */

static enum lang_parameter_kind kind_of(const struct ast_parameters *p, int i)
{
	int named = p->n_positional + p->n_keyword_only;

	if (i < p->n_positional_only)
		return PARAMETER_BY_PLACE;
	if (i < p->n_positional)
		return PARAMETER_EITHER;
	if (i < named)
		return PARAMETER_BY_NAME;
	return p->has_varargs && i == named ? PARAMETER_ARGS : PARAMETER_KEYWORDS;
}

/* `B, T, C = x.shape`, or x.size(), in the body: the text of the targets. */
static const char *unpacked(struct lang_outline *o, const struct node_list *body, const char *name)
{
	for (int i = 0; i < body->n; i++) {
		const struct ast_node *s = body->at[i], *v;

		if (s->kind != NODE_ASSIGN || s->assign.targets.n != 1 ||
		    s->assign.targets.at[0]->kind != NODE_TUPLE)
			continue;
		v = s->assign.value;
		if (v->kind == NODE_CALL && v->call.arguments.n == 0)
			v = v->call.callee;
		if (v->kind == NODE_ATTRIBUTE && v->attribute.value->kind == NODE_NAME &&
		    strcmp(v->attribute.value->name, name) == 0 &&
		    (strcmp(v->attribute.name, "shape") == 0 ||
		     strcmp(v->attribute.name, "size") == 0))
			return text_of(o, s->assign.targets.at[0]);
	}
	return NULL;
}

static void add_function(struct lang_outline *o, const struct ast_node *node, const char *owner)
{
	const struct ast_function *f = node->function;
	const struct ast_parameters *p = &f->parameters;
	struct lang_signature out = { .name = f->name,
				      .owner = owner,
				      .line = node->line,
				      .decorated = f->decorators.n > 0 };
	struct lang_parameter *at = ARENA_ARRAY(&o->arena, struct lang_parameter, (size_t)p->n + 1);
	const struct ast_node *first = f->body.n ? f->body.at[0] : NULL;

	o->failed |= !at;
	for (int i = 0; at && i < p->n; i++)
		at[i] = (struct lang_parameter){ .name = p->at[i].name,
						 .kind = kind_of(p, i),
						 .annotation = text_of(o, p->at[i].annotation),
						 .otherwise = text_of(o, p->at[i].value),
						 .unpacked = unpacked(o, &f->body, p->at[i].name),
						 .line = p->at[i].line };
	if (first && first->kind == NODE_EXPRESSION && first->value->kind == NODE_STRING)
		out.doc = arena_strdup(&o->arena, first->value->string.text);
	out.parameters = at;
	out.n = at ? p->n : 0;
	o->failed |= !VEC_PUSH(&o->functions, out);
}

static void add_class(struct lang_outline *o, const struct ast_node *node)
{
	const struct class *c = node->class;
	struct lang_signature class = { .name = c->name, .line = node->line, .is_class = true };

	if (c->arguments.n)
		class.base = text_of(o, c->arguments.at[0]);
	o->failed |= !VEC_PUSH(&o->functions, class);
	for (int i = 0; i < c->body.n; i++)
		if (c->body.at[i]->kind == NODE_FUNCTION)
			add_function(o, c->body.at[i], c->name);
}

/* ---- statements ---- */

static const char *name_of(struct lang_outline *o, const struct ast_node *n)
{
	return n->kind == NODE_NAME ? n->name : text_of(o, n);
}

static void add_call(struct lang_outline *o, const struct ast_node *n, struct lang_statement *s)
{
	const struct node_list *arguments = &n->call.arguments;

	s->callee = name_of(o, n->call.callee);
	s->arguments = ARENA_ARRAY(&o->arena, struct lang_argument, (size_t)arguments->n + 1);
	o->failed |= !s->arguments;
	for (int i = 0; s->arguments && i < arguments->n; i++) {
		const struct ast_node *a = arguments->at[i];
		bool named = a->kind == NODE_KEYWORD;

		s->arguments[s->n++] = (struct lang_argument){
			named ? a->keyword.name : NULL, text_of(o, named ? a->keyword.value : a)
		};
	}
}

static void add_statement(struct lang_outline *o, const struct ast_node *target,
			  const struct ast_node *value, bool in_main)
{
	struct lang_statement s = { .line = value->line,
				    .in_main = in_main,
				    .target = target ? text_of(o, target) : NULL,
				    .value = text_of(o, value) };

	if (value->kind == NODE_CALL)
		add_call(o, value, &s);
	o->failed |= !VEC_PUSH(&o->statements, s);
}

static bool is_main(const struct ast_node *test)
{
	const struct ast_node *a, *b;

	if (test->kind != NODE_COMPARE || test->compare.operands.n != 2)
		return false;
	a = test->compare.operands.at[0];
	b = test->compare.operands.at[1];
	return a->kind == NODE_NAME && strcmp(a->name, "__name__") == 0 && b->kind == NODE_STRING &&
	       strcmp(b->string.text, "__main__") == 0;
}

static void walk(struct lang_outline *o, const struct node_list *statements, bool in_main);

static void visit(struct lang_outline *o, const struct ast_node *s, bool in_main)
{
	switch (s->kind) {
	case NODE_FUNCTION:
		add_function(o, s, NULL);
		break;
	case NODE_CLASS:
		add_class(o, s);
		break;
	case NODE_EXPRESSION:
		add_statement(o, NULL, s->value, in_main);
		break;
	case NODE_ASSIGN:
		for (int i = 0; i < s->assign.targets.n; i++)
			add_statement(o, s->assign.targets.at[i], s->assign.value, in_main);
		break;
	case NODE_ANN_ASSIGN:
		if (s->annotated.value)
			add_statement(o, s->annotated.target, s->annotated.value, in_main);
		break;
	case NODE_WITH:
		walk(o, &s->with.body, in_main);
		break;
	case NODE_FOR:
		walk(o, &s->iteration.body, in_main);
		break;
	case NODE_IF:
		for (int i = 0; i < s->conditional.n; i++)
			walk(o, &s->conditional.branches[i].body,
			     in_main || is_main(s->conditional.branches[i].test));
		break;
	default:
		break;
	}
}

static void walk(struct lang_outline *o, const struct node_list *statements, bool in_main)
{
	for (int i = 0; i < statements->n && !o->failed; i++)
		visit(o, statements->at[i], in_main);
}

/* ---- the public functions ---- */

struct lang_outline *lang_outline_create(const char *source)
{
	struct ast_limits limits = { DEPTH, NODES };
	struct lang_outline *o = calloc(1, sizeof(*o));
	struct node_list module = { 0 };
	size_t len = strlen(source);

	if (!o)
		return NULL;
	o->names.arena = &o->arena;
	arena_init(&o->arena, ARENA_BYTES);
	o->failed = len > MOST_BYTES || memchr(source, '\r', len) || (len && source[0] == '\xef') ||
		    !find_lines(o, source) ||
		    !lex(source, len, &o->arena, &o->names, &o->tokens, NULL) ||
		    !ast_parse(&(struct ast_source){ source, &o->tokens, limits }, &o->arena,
			       &o->names, &module, NULL);
	walk(o, &module, false);
	if (!o->failed)
		return o;
	lang_outline_destroy(o);
	return NULL;
}

void lang_outline_destroy(struct lang_outline *o)
{
	if (!o)
		return;
	VEC_FREE(&o->functions);
	VEC_FREE(&o->statements);
	VEC_FREE(&o->tokens.tokens);
	arena_finish(&o->arena);
	free(o);
}

static bool same_owner(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

const struct lang_signature *lang_outline_function(const struct lang_outline *o, const char *owner,
						   const char *name)
{
	for (size_t i = o ? o->functions.len : 0; i-- > 0;)
		if (strcmp(o->functions.at[i].name, name) == 0 &&
		    same_owner(o->functions.at[i].owner, owner))
			return &o->functions.at[i];
	return NULL;
}

const struct lang_signature *lang_outline_at(const struct lang_outline *o, int i)
{
	return o && i >= 0 && (size_t)i < o->functions.len ? &o->functions.at[i] : NULL;
}

const struct lang_statement *lang_outline_statement(const struct lang_outline *o, int i)
{
	return o && i >= 0 && (size_t)i < o->statements.len ? &o->statements.at[i] : NULL;
}
