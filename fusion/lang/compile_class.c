/* fusion/lang/compile_class.c -- classes.
 *
 * The body is the code of a function without parameters that runs with the
 * class's namespace.  Where a method uses super() or __class__, the body makes
 * the cell for it and returns it, as in CPython.
 */
#include "fusion/lang/compile.h"

#include <string.h>

static bool return_cell(struct builder *b, struct place end)
{
	const struct symbol *cell = scope_find(b->scope, b->c->known->class_cell);

	if (cell && cell->kind == SYMBOL_CELL)
		return emit(b, end, CODE_LOAD_CLOSURE, cell->index);
	return emit_const(b, end, const_none());
}

/* Annotations are not evaluated; a class keeps a word of them. */
static struct lang_const annotation_word(const struct node *annotation)
{
	while (annotation->kind == NODE_ATTRIBUTE || annotation->kind == NODE_SUBSCRIPT) {
		if (annotation->kind == NODE_ATTRIBUTE)
			return const_str(annotation->attribute.name,
					 strlen(annotation->attribute.name));
		annotation = annotation->subscript.value;
	}
	if (annotation->kind == NODE_NAME)
		return const_str(annotation->name, strlen(annotation->name));
	if (annotation->kind == NODE_STRING)
		return const_str(annotation->string.text, annotation->string.len);
	return const_str("", 0);
}

bool compile_annotation(struct builder *b, const struct node *node)
{
	const struct node *target = node->annotated.target;
	struct place at = place_of(target);

	if (b->scope->kind != SCOPE_CLASS || target->kind != NODE_NAME || target->in_brackets)
		return true;
	return emit_const(b, at, annotation_word(node->annotated.annotation)) &&
	       emit_name(b, at, CODE_LOAD_NAME, b->c->known->annotations) &&
	       emit_const(b, at, const_str(target->name, strlen(target->name))) &&
	       emit(b, at, CODE_STORE_SUBSCR, 0);
}

static bool begin_annotations(struct builder *b, struct place at)
{
	return !b->scope->annotates ||
	       (emit(b, at, CODE_BUILD_MAP, 0) &&
		emit_name(b, at, CODE_STORE_NAME, b->c->known->annotations));
}

static struct code *class_code(struct builder *outer, const struct node *node)
{
	const struct node_list *body = &node->class->body;
	struct place end = place_of(body->at[body->n - 1]);
	struct code *code = NULL;
	struct builder b;

	builder_init(&b, outer->c, node->class->scope);
	if (begin_annotations(&b, place_of(body->at[0])) && compile_statements(&b, body) &&
	    return_cell(&b, end) && emit(&b, end, CODE_RETURN, 0))
		code = builder_code(&b, node->class->name, node->line);
	builder_finish(&b);
	for (int i = 0; code && i < code->n_nested; i++)
		code->nested[i]->owner = code->name;
	return code;
}

static bool compile_bases(struct builder *b, const struct node_list *bases)
{
	for (int i = 0; i < bases->n; i++) {
		const struct node *base = bases->at[i];

		if (base->kind == NODE_KEYWORD)
			return refuse_at(b, base->line, base->column,
					 "a keyword of a class, such as a metaclass,",
					 "leave it out");
		if (base->kind == NODE_STARRED)
			return refuse_at(b, base->line, base->column,
					 "* among the bases of a class",
					 "name the bases one by one");
		if (!compile_expr(b, base))
			return false;
	}
	return true;
}

bool compile_class(struct builder *b, const struct node *node)
{
	const struct class *class = node->class;
	struct place at = place_of(node);
	size_t len = strlen(class->name);
	struct code *code;

	at.end_column = at.column + (int)strlen("class ") + (int)len;
	if (!compile_decorators(b, &class->decorators) ||
	    !emit_const(b, at, (struct lang_const){ .kind = CONST_TUPLE }) ||
	    !emit_const(b, at, const_none()) || !compile_closure(b, at, class->scope))
		return false;
	code = class_code(b, node);
	return code && make_function(b, at, code) &&
	       emit_const(b, at, const_str(class->name, len)) &&
	       compile_bases(b, &class->arguments) &&
	       emit(b, at, CODE_MAKE_CLASS, class->arguments.n) &&
	       call_decorators(b, &class->decorators) && compile_store_name(b, at, class->name);
}
