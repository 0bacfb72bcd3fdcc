/* fusion/lang/parse_target.c -- what may stand left of = and after del.
 *
 * A target is read as an expression and judged once the = is seen.
 */
#include "fusion/lang/parser.h"

static bool check_items(struct parser *p, const struct node *target)
{
	const struct node *star = NULL;

	for (int i = 0; i < target->list.n; i++) {
		const struct node *item = target->list.at[i];

		if (item->kind == NODE_STARRED) {
			if (star)
				return fault_at(
				    p, ERR_SYNTAX, item->line, item->column,
				    "one starred name is allowed on the left of =; this "
				    "is the second");
			star = item;
			item = item->value;
		}
		if (!check_target(p, item))
			return false;
	}
	return true;
}

bool check_target(struct parser *p, const struct node *target)
{
	switch (target->kind) {
	case NODE_NAME:
	case NODE_ATTRIBUTE:
	case NODE_SUBSCRIPT:
		return true;
	case NODE_TUPLE:
	case NODE_LIST:
		return check_items(p, target);
	case NODE_STARRED:
		return fault_at(
		    p, ERR_SYNTAX, target->line, target->column,
		    "a starred name on the left of = stands among others: a, *rest = values");
	case NODE_NONE:
	case NODE_TRUE:
	case NODE_FALSE:
	case NODE_ELLIPSIS:
		return fault_at(p, ERR_SYNTAX, target->line, target->column, "cannot assign to %s",
				node_table[target->kind].called);
	default:
		return fault_at(p, ERR_SYNTAX, target->line, target->column,
				"cannot assign to %s; did you mean == instead of =?",
				node_table[target->kind].called);
	}
}

bool check_single_target(struct parser *p, const struct node *target, const char *use)
{
	if (target->kind == NODE_NAME || target->kind == NODE_ATTRIBUTE ||
	    target->kind == NODE_SUBSCRIPT)
		return true;
	return fault_at(p, ERR_SYNTAX, target->line, target->column,
			"%s cannot be the target of %s", node_table[target->kind].called, use);
}

bool check_delete(struct parser *p, const struct node *target)
{
	switch (target->kind) {
	case NODE_NAME:
	case NODE_ATTRIBUTE:
	case NODE_SUBSCRIPT:
		return true;
	case NODE_TUPLE:
	case NODE_LIST:
		for (int i = 0; i < target->list.n; i++)
			if (!check_delete(p, target->list.at[i]))
				return false;
		return true;
	default:
		return fault_at(p, ERR_SYNTAX, target->line, target->column, "cannot delete %s",
				node_table[target->kind].called);
	}
}
