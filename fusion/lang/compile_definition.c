/* fusion/lang/compile_definition.c -- def, lambda, class and decorators.
 *
 * Defaults are values of the definition, not of the call: they are computed
 * here and travel with the function, as do the cells that it closes over.
 */
#include "fusion/lang/compile.h"

#include <string.h>

#include "fusion/lang/annotation.h"

static bool compile_defaults(struct builder *b, struct code_place at,
			     const struct ast_parameters *p)
{
	struct ast_node tuple = { .kind = NODE_TUPLE,
				  .line = at.line,
				  .column = at.column,
				  .end_column = at.end_column };
	int first = p->n_positional;
	struct ast_node **values;

	while (first > 0 && p->at[first - 1].value)
		first--;
	values = ARENA_ARRAY(b->c->scratch, struct ast_node *, (size_t)(p->n_positional - first));
	if (!values)
		return out_of_memory(b);
	for (int i = first; i < p->n_positional; i++)
		values[i - first] = p->at[i].value;
	tuple.list.at = values;
	tuple.list.n = p->n_positional - first;
	return compile_expr(b, &tuple);
}

static bool compile_keyword_defaults(struct builder *b, struct code_place at,
				     const struct ast_parameters *p)
{
	int n = 0;

	for (int i = p->n_positional; i < p->n_positional + p->n_keyword_only; i++) {
		const struct parameter *one = &p->at[i];

		if (!one->value)
			continue;
		if (!emit_const(b, at, const_str(one->name, strlen(one->name))) ||
		    !compile_expr(b, one->value))
			return false;
		n++;
	}
	return n ? emit(b, at, CODE_BUILD_MAP, n) : emit_const(b, at, const_none());
}

static bool compile_body(struct builder *b, const struct ast_node *node)
{
	const struct node_list *body = &node->function->body;
	struct code_place end = place_of(body->at[body->n - 1]);

	if (node->function->is_async || node->kind == NODE_LAMBDA) {
		struct builder_mark mark = builder_mark(b);

		if (node->kind == NODE_LAMBDA
			? compile_expr(b, body->at[0])
			: refuse_at(b, node->line, node->column, "async", "write def"))
			return emit(b, end, CODE_RETURN, 0);
		if (b->c->err->code != ERR_UNSUPPORTED || !builder_refuse(b, &mark))
			return false;
		return emit_const(b, end, const_none()) && emit(b, end, CODE_RETURN, 0);
	}
	return compile_statements(b, body) && emit_const(b, end, const_none()) &&
	       emit(b, end, CODE_RETURN, 0);
}

/* What one captures for an inner function counts as read. */
static uint64_t unused_parameters(const struct code *code)
{
	int n = code->n_positional + code->n_keyword_only + code->has_varargs + code->has_kwargs;
	uint64_t unused = n >= 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;

	for (int i = 0; i < code->n_own_cells; i++)
		if (code->cell_local[i] >= 0 && code->cell_local[i] < 64)
			unused &= ~((uint64_t)1 << code->cell_local[i]);
	for (int i = 0; i < code->n_insts; i++)
		if (code->insts[i].op == CODE_LOAD_FAST && code->insts[i].arg < 64)
			unused &= ~((uint64_t)1 << code->insts[i].arg);
	return unused;
}

/* In the order of the text: *args stands before what is given by keyword alone. */
static const struct ast_node *annotation_of(const struct ast_function *f, int i, const char **name)
{
	const struct ast_parameters *p = &f->parameters;
	int rest = p->n_positional + p->n_keyword_only;

	*name = "return";
	if (i == p->n)
		return f->returns;
	if (p->has_varargs && i >= p->n_positional && i <= rest)
		i = i == p->n_positional ? rest : i - 1;
	*name = p->at[i].name;
	return p->at[i].annotation;
}

/* The text of the dict that __annotations__ is; what was compiled keeps it. */
static bool note_annotations(struct builder *b, const struct ast_function *f, struct code *code)
{
	struct buf text = { 0 };
	int n = 0;
	bool ok;

	for (int i = 0; i <= f->parameters.n; i++) {
		const char *name;
		const struct ast_node *of = annotation_of(f, i, &name);

		if (!of)
			continue;
		buf_printf(&text, "%s'%s': ", n++ ? ", " : "{", name);
		annotation_write(&text, of, b->c->texts);
	}
	if (!n)
		return true;
	buf_putc(&text, '}');
	code->annotations = text.failed ? NULL : arena_strdup(b->c->program, text.data);
	ok = code->annotations != NULL;
	buf_finish(&text);
	return ok || out_of_memory(b);
}

static struct code *function_code(struct builder *outer, const struct ast_node *node)
{
	const struct ast_function *f = node->function;
	struct code *code = NULL;
	struct builder b;

	builder_init(&b, outer->c, f->scope);
	if (compile_body(&b, node))
		code = builder_code(&b, f->name, node->line);
	builder_finish(&b);
	if (!code)
		return NULL;
	if (node->kind != NODE_LAMBDA)
		code->doc = docstring(outer, &f->body);
	code->n_positional_only = f->parameters.n_positional_only;
	code->n_positional = f->parameters.n_positional;
	code->n_keyword_only = f->parameters.n_keyword_only;
	code->has_varargs = f->parameters.has_varargs;
	code->has_kwargs = f->parameters.has_kwargs;
	code->unused = unused_parameters(code);
	return note_annotations(outer, f, code) ? code : NULL;
}

static bool compile_decorators(struct builder *b, const struct node_list *decorators)
{
	for (int i = 0; i < decorators->n; i++)
		if (!compile_expr(b, decorators->at[i]))
			return false;
	return true;
}

static bool call_decorators(struct builder *b, const struct node_list *decorators)
{
	for (int i = decorators->n - 1; i >= 0; i--)
		if (!emit(b, place_of(decorators->at[i]), CODE_CALL, 1))
			return false;
	return true;
}

static bool compile_function(struct builder *b, const struct ast_node *node)
{
	const struct ast_function *f = node->function;
	struct code_place at = place_of(node);
	struct code *code;

	if (node->kind == NODE_FUNCTION) /* the head, not the whole body */
		at.end_column = f->name_column + (int)strlen(f->name);
	if (!compile_decorators(b, &f->decorators) || !compile_defaults(b, at, &f->parameters) ||
	    !compile_keyword_defaults(b, at, &f->parameters) || !emit_closure(b, at, f->scope))
		return false;
	code = function_code(b, node);
	if (!code || !emit_function(b, at, code) || !call_decorators(b, &f->decorators))
		return false;
	return node->kind == NODE_LAMBDA || compile_store_name(b, at, f->name);
}

/* ---- classes.
 *
 * The body is the code of a function without parameters that runs with the
 * class's namespace.  Where a method uses super() or __class__, the body makes
 * the cell for it and returns it, as in CPython.
 */

static bool return_cell(struct builder *b, struct code_place end)
{
	const struct symbol *cell = scope_find(b->scope, b->c->known->class_cell);

	if (cell && cell->kind == SYMBOL_CELL)
		return emit(b, end, CODE_LOAD_CLOSURE, cell->index);
	return emit_const(b, end, const_none());
}

static bool begin_annotations(struct builder *b, struct code_place at)
{
	return !b->scope->annotates ||
	       (emit(b, at, CODE_BUILD_MAP, 0) &&
		emit_name(b, at, CODE_STORE_NAME, b->c->known->annotations));
}

static struct code *class_code(struct builder *outer, const struct ast_node *node)
{
	const struct node_list *body = &node->class->body;
	struct code_place end = place_of(body->at[body->n - 1]);
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

static bool compile_bases(struct builder *b, const struct node_list *bases, int *n)
{
	for (int i = 0; i < bases->n; i++) {
		const struct ast_node *base = bases->at[i];

		if (base->kind == NODE_KEYWORD)
			continue;
		if (base->kind == NODE_STARRED)
			return refuse_at(b, base->line, base->column,
					 "* among the bases of a class",
					 "name the bases one by one");
		if (!compile_expr(b, base))
			return false;
		(*n)++;
	}
	return true;
}

/* class C(Base, name=value): the keywords as one more operand, a dict. */
static bool compile_class_keywords(struct builder *b, const struct node_list *arguments, int *n)
{
	int keywords = 0;

	for (int i = 0; i < arguments->n; i++) {
		const struct ast_node *one = arguments->at[i];

		if (one->kind != NODE_KEYWORD)
			continue;
		if (!one->keyword.name)
			return refuse_at(b, one->line, one->column,
					 "** among the arguments of a class",
					 "name the keywords one by one");
		if (!emit_const(b, place_of(one),
				const_str(one->keyword.name, strlen(one->keyword.name))) ||
		    !compile_expr(b, one->keyword.value))
			return false;
		keywords++;
	}
	if (!keywords)
		return true;
	(*n)++;
	return emit(b, place_of(arguments->at[arguments->n - 1]), CODE_BUILD_MAP, keywords);
}

static bool compile_class(struct builder *b, const struct ast_node *node)
{
	const struct class *class = node->class;
	struct code_place at = place_of(node);
	size_t len = strlen(class->name);
	struct code *code;
	int n_bases = 0;

	at.end_column = at.column + (int)strlen("class ") + (int)len;
	if (!compile_decorators(b, &class->decorators) ||
	    !emit_const(b, at, (struct lang_const){ .kind = CONST_TUPLE }) ||
	    !emit_const(b, at, const_none()) || !emit_closure(b, at, class->scope))
		return false;
	code = class_code(b, node);
	return code && emit_function(b, at, code) &&
	       emit_const(b, at, const_str(class->name, len)) &&
	       compile_bases(b, &class->arguments, &n_bases) &&
	       compile_class_keywords(b, &class->arguments, &n_bases) &&
	       emit(b, at, CODE_MAKE_CLASS, n_bases) && call_decorators(b, &class->decorators) &&
	       compile_store_name(b, at, class->name);
}

bool compile_definition(struct builder *b, const struct ast_node *node)
{
	return node->kind == NODE_CLASS ? compile_class(b, node) : compile_function(b, node);
}
