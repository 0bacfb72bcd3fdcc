/* fusion/lang/spelling.h -- an expression written so that it means the same in the module's scope.
 *
 * As statements go by, names get the expressions that they were given: after `n = 4` and
 * `x = torch.randn(n)`, x + 1 is spelled torch.randn(4) + 1.  Nothing is evaluated.  Private to
 * fusion/lang: for uses.c, which follows calls, and layers.c, which follows a parameter.
 */
#ifndef FUSION_LANG_SPELLING_H
#define FUSION_LANG_SPELLING_H

#include <string.h>

#include "fusion/lang/outline.h"

enum spelling_form {
	SPELLED_WHOLE, /* f(x), x.y, 3: needs no brackets anywhere */
	SPELLED_PARTS, /* a + b: needs them beside an operator or a dot */
	SPELLED_OPEN   /* a, b: needs them */
};

struct spelled_name {
	const char *name;
	const char *text; /* what it stands for; NULL: not known */
	enum spelling_form form;
	const struct lang_construction *made; /* the call that made it; NULL: another value */
	const char *members;                  /* whose members its own are: of args the parser */
};

/* self.width, and the options of a parser of arguments. */
struct member {
	const char *owner, *name, *text;
	const struct lang_construction *made;
};

struct speller {
	struct lang_outline *o;
	VEC(struct spelled_name) names;
	VEC(struct member) members;
};

static inline void spelling_finish(struct speller *s)
{
	VEC_FREE(&s->names);
	VEC_FREE(&s->members);
}

/* The newest of that name; NULL. */
const struct spelled_name *spelling_find(const struct speller *s, const char *name);
static inline const struct member *spelling_member(const struct speller *s, const char *owner,
						   const char *name)
{
	for (size_t i = s->members.len; i-- > 0;)
		if (strcmp(s->members.at[i].owner, owner) == 0 &&
		    strcmp(s->members.at[i].name, name) == 0)
			return &s->members.at[i];
	return NULL;
}

/* The expression's text; NULL where it reads a name that stands for nothing known. */
const char *spelling_text(struct speller *s, const struct ast_node *node);

/* Of a call Net(3), net.eval(), a name: what was called to make the value; NULL: another value. */
const struct lang_construction *spelling_made(struct speller *s, const struct ast_node *node);

/* Without what only says where it lies or how it is compiled: x.to(device), torch.compile(f). */
const struct ast_node *spelling_core(const struct ast_node *node);

/* A statement that makes names: assignments, the heads of `for`, `with`, options of parsers,
 * methods that change their object. */
void spelling_statement(struct speller *s, const struct ast_node *statement);

/* The parameters of a function with what a call gives (`arguments` as texts); a parameter that it
 * leaves has its default. */
void spelling_parameters(struct speller *s, const struct ast_function *f, bool skip_first,
			 const struct lang_argument *arguments, int n);

/* The arguments of a call, as texts; those that are not known have none.  *n of them. */
const struct lang_argument *spelling_arguments(struct speller *s, const struct ast_node *call,
					       int *n);

#endif
