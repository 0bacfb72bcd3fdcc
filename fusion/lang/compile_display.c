/* fusion/lang/compile_display.c -- tuples, lists, sets, dicts and f-strings.
 *
 * One without * is built at once from the stack; from the first * on, items are
 * added one by one.
 */
#include "fusion/lang/compile.h"

/* What a kind of display is made of. */
struct display {
	enum code_op build, add, extend;
};

static const struct display list_display = { CODE_BUILD_LIST, CODE_LIST_APPEND, CODE_LIST_EXTEND };
static const struct display set_display = { CODE_BUILD_SET, CODE_SET_ADD, CODE_SET_UPDATE };

static int first_starred(struct node *const *items, int n)
{
	int i = 0;

	while (i < n && items[i]->kind != NODE_STARRED)
		i++;
	return i;
}

static bool compile_items(struct builder *b, struct place at, struct node *const *items, int n,
			  const struct display *display)
{
	int plain = first_starred(items, n);

	for (int i = 0; i < plain; i++)
		if (!compile_expr(b, items[i]))
			return false;
	if (!emit(b, at, display->build, plain))
		return false;
	for (int i = plain; i < n; i++) {
		bool star = items[i]->kind == NODE_STARRED;

		if (!compile_expr(b, star ? items[i]->value : items[i]) ||
		    !emit(b, place_of(items[i]), star ? display->extend : display->add, 1))
			return false;
	}
	return true;
}

bool compile_starred_list(struct builder *b, struct place at, struct node *const *items, int n)
{
	return compile_items(b, at, items, n, &list_display);
}

static bool compile_tuple(struct builder *b, const struct node *node)
{
	const struct display tuple = { .build = CODE_BUILD_TUPLE };
	struct place at = place_of(node);

	if (first_starred(node->list.at, node->list.n) == node->list.n)
		return compile_items(b, at, node->list.at, node->list.n, &tuple);
	return compile_starred_list(b, at, node->list.at, node->list.n) &&
	       emit(b, at, CODE_LIST_TO_TUPLE, 0);
}

static bool compile_dict(struct builder *b, const struct node *node)
{
	const struct node_list *keys = &node->dict.keys, *values = &node->dict.values;
	struct place at = place_of(node);
	int plain = 0;

	for (; plain < keys->n && keys->at[plain]; plain++)
		if (!compile_expr(b, keys->at[plain]) || !compile_expr(b, values->at[plain]))
			return false;
	if (!emit(b, at, CODE_BUILD_MAP, plain))
		return false;
	for (int i = plain; i < keys->n; i++) {
		enum code_op op = keys->at[i] ? CODE_MAP_ADD : CODE_DICT_UPDATE;

		if ((keys->at[i] && !compile_expr(b, keys->at[i])) ||
		    !compile_expr(b, values->at[i]) || !emit(b, place_of(values->at[i]), op, 1))
			return false;
	}
	return true;
}

bool compile_display(struct builder *b, const struct node *node)
{
	const struct node_list *items = &node->list;

	switch (node->kind) {
	case NODE_TUPLE:
		return compile_tuple(b, node);
	case NODE_DICT:
		return compile_dict(b, node);
	default:
		return compile_items(b, place_of(node), items->at, items->n,
				     node->kind == NODE_SET ? &set_display : &list_display);
	}
}

static bool compile_field(struct builder *b, const struct node *node)
{
	static const char conversions[] = " sra";
	const struct node *spec = node->field.spec;
	int argument = spec ? 4 : 0;

	for (int i = 1; i < 4; i++)
		if (conversions[i] == node->field.conversion)
			argument |= i;
	return compile_expr(b, node->field.value) && (!spec || compile_fstring(b, spec)) &&
	       emit(b, place_of(node), CODE_FORMAT_VALUE, argument);
}

bool compile_fstring(struct builder *b, const struct node *node)
{
	const struct node_list *parts = &node->list;

	if (!parts->n)
		return emit_const(b, place_of(node), const_str("", 0));
	for (int i = 0; i < parts->n; i++) {
		const struct node *part = parts->at[i];

		if (!(part->kind == NODE_FIELD ? compile_field(b, part) : compile_expr(b, part)))
			return false;
	}
	return parts->n == 1 || emit(b, place_of(node), CODE_BUILD_STRING, parts->n);
}
