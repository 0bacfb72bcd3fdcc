/* fusion/lang/outline.c -- what a source says of its functions, unrun. */
#include <stdlib.h>
#include <string.h>

#include "fusion/lang/outline.h"

enum { DEPTH = 200, NODES = 500000, ARENA_BYTES = 256 << 20, MOST_BYTES = 1 << 20 };

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

/* What is written at a node, as it is written; NULL: no node, or out of memory. */
static const char *text_at(struct lang_outline *o, const struct ast_node *node)
{
	const struct token *first = NULL, *last = NULL;

	for (size_t i = node ? outline_token(o, node) : o->tokens.tokens.len;
	     i < o->tokens.tokens.len && !outline_past(&o->tokens.tokens.at[i], node); i++) {
		first = first ? first : &o->tokens.tokens.at[i];
		last = &o->tokens.tokens.at[i];
	}
	return first ? arena_strndup(&o->arena, o->source + first->start,
				     last->start + last->len - first->start)
		     : NULL;
}

static const char *doc_of(const struct node_list *body)
{
	const struct ast_node *first = body->n ? body->at[0] : NULL;

	if (!first || first->kind != NODE_EXPRESSION || first->value->kind != NODE_STRING)
		return NULL;
	return first->value->string.text;
}

static void add_function(struct lang_outline *o, const struct ast_node *node, const char *owner)
{
	const struct ast_function *f = node->function;
	const struct ast_parameters *p = &f->parameters;
	struct lang_parameter *at = ARENA_ARRAY(&o->arena, struct lang_parameter, (size_t)p->n + 1);
	struct lang_signature out = { .name = f->name,
				      .owner = owner,
				      .doc = doc_of(&f->body),
				      .parameters = at,
				      .n = p->n,
				      .line = node->line,
				      .decorated = f->decorators.n > 0 };

	for (int i = 0; at && i < p->n; i++)
		at[i] = (struct lang_parameter){ p->at[i].name, kind_of(p, i),
						 text_at(o, p->at[i].annotation),
						 text_at(o, p->at[i].value) };
	o->failed |= !at || !VEC_PUSH(&o->functions, (struct outlined){ out, node });
}

/* The fields of a dataclass or named tuple: `name: type = value` in its body. */
static void add_fields(struct lang_outline *o, const struct class *c, struct lang_signature *out)
{
	struct lang_parameter *at = ARENA_ARRAY(&o->arena, struct lang_parameter,
						(size_t)c->body.n + 1);
	int n = 0;

	for (int i = 0; at && i < c->body.n; i++) {
		const struct ast_node *field = c->body.at[i];

		if (field->kind == NODE_ANN_ASSIGN && field->annotated.target->kind == NODE_NAME)
			at[n++] = (struct lang_parameter){ field->annotated.target->name,
							   PARAMETER_EITHER,
							   text_at(o, field->annotated.annotation),
							   text_at(o, field->annotated.value) };
	}
	o->failed |= !at;
	out->parameters = at;
	out->n = n;
}

static void add_class(struct lang_outline *o, const struct ast_node *node)
{
	const struct class *c = node->class;
	struct lang_signature class = {
		.name = c->name, .doc = doc_of(&c->body), .line = node->line, .is_class = true
	};

	add_fields(o, c, &class);
	o->failed |= !VEC_PUSH(&o->functions, (struct outlined){ class, node });
	for (int i = 0; i < c->body.n; i++)
		if (c->body.at[i]->kind == NODE_FUNCTION)
			add_function(o, c->body.at[i], c->name);
}

static void walk(struct lang_outline *o, const struct node_list *statements)
{
	for (int i = 0; i < statements->n && !o->failed; i++) {
		const struct ast_node *s = statements->at[i];

		if (s->kind == NODE_FUNCTION)
			add_function(o, s, NULL);
		else if (s->kind == NODE_CLASS)
			add_class(o, s);
		else if (s->kind == NODE_WITH)
			walk(o, &s->with.body);
		else if (s->kind == NODE_FOR)
			walk(o, &s->iteration.body);
		else if (s->kind == NODE_IF)
			for (int k = 0; k < s->conditional.n; k++)
				walk(o, &s->conditional.branches[k].body);
	}
}

/* ---- the public functions ---- */

struct lang_outline *lang_outline_create(const char *source)
{
	struct ast_limits limits = { DEPTH, NODES };
	struct lang_outline *o = calloc(1, sizeof(*o));
	size_t len = strlen(source);

	if (!o)
		return NULL;
	o->source = source;
	o->names.arena = &o->arena;
	arena_init(&o->arena, ARENA_BYTES);
	o->failed = len > MOST_BYTES || memchr(source, '\r', len) || (len && source[0] == '\xef') ||
		    !lex(source, len, &o->arena, &o->names, &o->tokens, NULL) ||
		    !ast_parse(&(struct ast_source){ source, &o->tokens, limits }, &o->arena,
			       &o->names, &o->module, NULL);
	walk(o, &o->module);
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
	VEC_FREE(&o->tokens.tokens);
	arena_finish(&o->arena);
	free(o);
}

static bool same_owner(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

const struct outlined *outline_find(const struct lang_outline *o, const char *owner,
				    const char *name)
{
	for (size_t i = o ? o->functions.len : 0; i-- > 0;)
		if (strcmp(o->functions.at[i].signature.name, name) == 0 &&
		    same_owner(o->functions.at[i].signature.owner, owner))
			return &o->functions.at[i];
	return NULL;
}

const struct lang_signature *lang_outline_function(const struct lang_outline *o, const char *owner,
						   const char *name)
{
	const struct outlined *found = outline_find(o, owner, name);

	return found ? &found->signature : NULL;
}
