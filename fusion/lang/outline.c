/* fusion/lang/outline.c -- what a source says of its functions, unrun. */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/arena.h"
#include "fusion/lang/names.h"
#include "fusion/lang/parser.h"
#include "fusion/source.h"

enum { DEPTH = 200, NODES = 500000, ARENA_BYTES = 256 << 20, MOST_BYTES = 1 << 20 };

struct lang_outline {
	struct arena arena;
	struct lang_names names;
	struct token_list tokens;
	VEC(struct lang_signature) functions;
	bool failed;
};

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

static void add_function(struct lang_outline *o, const struct ast_node *node, const char *owner)
{
	const struct ast_function *f = node->function;
	const struct ast_parameters *p = &f->parameters;
	struct lang_parameter *at = ARENA_ARRAY(&o->arena, struct lang_parameter, (size_t)p->n + 1);
	struct lang_signature out = { .name = f->name,
				      .owner = owner,
				      .parameters = at,
				      .n = p->n,
				      .decorated = f->decorators.n > 0 };

	for (int i = 0; at && i < p->n; i++)
		at[i] = (struct lang_parameter){ p->at[i].name, kind_of(p, i) };
	o->failed |= !at || !VEC_PUSH(&o->functions, out);
}

static void add_class(struct lang_outline *o, const struct ast_node *node)
{
	const struct class *c = node->class;
	struct lang_signature class = { .name = c->name, .is_class = true };

	o->failed |= !VEC_PUSH(&o->functions, class);
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
	struct node_list module = { 0 };
	size_t len = strlen(source);

	if (!o)
		return NULL;
	o->names.arena = &o->arena;
	arena_init(&o->arena, ARENA_BYTES);
	o->failed = len > MOST_BYTES || memchr(source, '\r', len) || (len && source[0] == '\xef') ||
		    !lex(source, len, &o->arena, &o->names, &o->tokens, NULL) ||
		    !ast_parse(&(struct ast_source){ source, &o->tokens, limits }, &o->arena,
			       &o->names, &module, NULL);
	walk(o, &module);
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

const struct lang_signature *lang_outline_function(const struct lang_outline *o, const char *owner,
						   const char *name)
{
	for (size_t i = o ? o->functions.len : 0; i-- > 0;)
		if (strcmp(o->functions.at[i].name, name) == 0 &&
		    same_owner(o->functions.at[i].owner, owner))
			return &o->functions.at[i];
	return NULL;
}
