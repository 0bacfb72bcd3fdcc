/* fusion/lang/scope_walk.h -- between scope.c and scope_walk.c alone. */
#ifndef FUSION_LANG_SCOPE_WALK_H
#define FUSION_LANG_SCOPE_WALK_H

#include "fusion/lang/scope.h"

struct scoper {
	struct arena *arena;
	const struct known_names *known;
	struct err *err;
	struct scope *now;   /* that the node under way belongs to */
	struct scope **tail; /* of the list of all scopes */
	int iterables;       /* after `in` of comprehensions, inside each other */
};

/* Makes a scope inside the current one and enters it; `hosted`: without code of
 * its own. */
struct scope *scope_push(struct scoper *s, enum scope_kind kind, bool hosted);

/* The symbol, made where it is new; NULL when out of memory. */
struct symbol *scope_mention(struct scoper *s, struct scope *scope, const char *name,
			     unsigned flags);

/* Records every use and binding of a name in the tree. */
bool scope_walk(struct scoper *s, const struct node_list *statements);

#endif
