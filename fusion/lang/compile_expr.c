/* fusion/lang/compile_expr.c -- expressions, evaluated left to right.
 *
 * The place of an instruction is its whole expression, as in CPython; an attribute
 * on a line of its own (a chain in brackets) has the place of its name.
 */
#include "fusion/lang/compile.h"

#include <string.h>

static int constant_truth(const struct ast_node *node);

/* ---- tests: and, or, not, comparisons, a if b else c.
 *
 * A test is compiled to jumps right away, never to a bool that is tested
 * again; the shape is CPython 3.12's, since graph breaks depend on it.
 */

static bool jump_boolean(struct builder *b, const struct ast_node *node, struct label *to,
			 bool when)
{
	const struct node_list *operands = &node->boolean.operands;
	bool decides = node->boolean.is_or; /* the truth of an operand that ends it */
	struct label past = label_new(), *early = decides == when ? to : &past;

	for (int i = 0; i < operands->n - 1; i++)
		if (!compile_jump(b, operands->at[i], early, decides))
			return false;
	if (!compile_jump(b, operands->at[operands->n - 1], to, when))
		return false;
	label_bind(b, &past);
	return true;
}

static bool jump_ternary(struct builder *b, const struct ast_node *node, struct label *to,
			 bool when)
{
	struct label otherwise = label_new(), end = label_new();

	if (!compile_jump(b, node->ternary.test, &otherwise, false) ||
	    !compile_jump(b, node->ternary.then, to, when) ||
	    !emit_jump(b, place_of(node), CODE_JUMP, &end))
		return false;
	label_bind(b, &otherwise);
	if (!compile_jump(b, node->ternary.otherwise, to, when))
		return false;
	label_bind(b, &end);
	return true;
}

/* a < b of a < b < c, with b kept below the result; then a jump to `cleanup`
 * where it is false. */
static bool compare_link(struct builder *b, const struct ast_node *node, int i)
{
	struct code_place at = place_of(node);

	return compile_expr(b, node->compare.operands.at[i + 1]) && emit(b, at, CODE_SWAP, 2) &&
	       emit(b, at, CODE_COPY, 2) && emit(b, at, CODE_COMPARE_OP, (int)node->compare.ops[i]);
}

static bool jump_compare(struct builder *b, const struct ast_node *node, struct label *to,
			 bool when)
{
	struct label cleanup = label_new(), end = label_new();
	struct code_place at = place_of(node);
	int last = node->compare.operands.n - 1;

	if (!compile_expr(b, node->compare.operands.at[0]))
		return false;
	for (int i = 0; i < last - 1; i++)
		if (!compare_link(b, node, i) || !emit_jump(b, at, CODE_JUMP_IF_FALSE, &cleanup))
			return false;
	if (!compile_expr(b, node->compare.operands.at[last]) ||
	    !emit(b, at, CODE_COMPARE_OP, (int)node->compare.ops[last - 1]) ||
	    !emit_jump(b, at, when ? CODE_JUMP_IF_TRUE : CODE_JUMP_IF_FALSE, to))
		return false;
	if (last == 1)
		return true;
	if (!emit_jump(b, at, CODE_JUMP, &end))
		return false;
	label_bind(b, &cleanup);
	if (!emit(b, at, CODE_POP, 0) || (!when && !emit_jump(b, at, CODE_JUMP, to)))
		return false;
	label_bind(b, &end);
	return true;
}

bool compile_jump(struct builder *b, const struct ast_node *test, struct label *to, bool when)
{
	int known = constant_truth(test);

	if (known >= 0)
		return known != when || emit_jump(b, place_of(test), CODE_JUMP, to);
	if (test->kind == NODE_UNARY && test->unary.op == UN_NOT)
		return compile_jump(b, test->unary.operand, to, !when);
	if (test->kind == NODE_BOOLEAN)
		return jump_boolean(b, test, to, when);
	if (test->kind == NODE_TERNARY)
		return jump_ternary(b, test, to, when);
	if (test->kind == NODE_COMPARE)
		return jump_compare(b, test, to, when);
	return compile_expr(b, test) &&
	       emit_jump(b, place_of(test), when ? CODE_JUMP_IF_TRUE : CODE_JUMP_IF_FALSE, to);
}

static bool compile_boolean(struct builder *b, const struct ast_node *node)
{
	const struct node_list *operands = &node->boolean.operands;
	enum code_op jump = node->boolean.is_or ? CODE_JUMP_IF_TRUE : CODE_JUMP_IF_FALSE;
	struct label end = label_new();
	struct code_place at = place_of(node);

	for (int i = 0; i < operands->n - 1; i++)
		if (!compile_expr(b, operands->at[i]) || !emit(b, at, CODE_COPY, 1) ||
		    !emit_jump(b, at, jump, &end) || !emit(b, at, CODE_POP, 0))
			return false;
	if (!compile_expr(b, operands->at[operands->n - 1]))
		return false;
	label_bind(b, &end);
	return true;
}

static bool compile_compare(struct builder *b, const struct ast_node *node)
{
	struct label cleanup = label_new(), end = label_new();
	struct code_place at = place_of(node);
	int last = node->compare.operands.n - 1;

	if (!compile_expr(b, node->compare.operands.at[0]))
		return false;
	for (int i = 0; i < last - 1; i++)
		if (!compare_link(b, node, i) || !emit(b, at, CODE_COPY, 1) ||
		    !emit_jump(b, at, CODE_JUMP_IF_FALSE, &cleanup) || !emit(b, at, CODE_POP, 0))
			return false;
	if (!compile_expr(b, node->compare.operands.at[last]) ||
	    !emit(b, at, CODE_COMPARE_OP, (int)node->compare.ops[last - 1]))
		return false;
	if (last == 1)
		return true;
	if (!emit_jump(b, at, CODE_JUMP, &end))
		return false;
	label_bind(b, &cleanup);
	if (!emit(b, at, CODE_SWAP, 2) || !emit(b, at, CODE_POP, 0))
		return false;
	label_bind(b, &end);
	return true;
}

static bool compile_ternary(struct builder *b, const struct ast_node *node)
{
	struct label otherwise = label_new(), end = label_new();

	if (!compile_jump(b, node->ternary.test, &otherwise, false) ||
	    !compile_expr(b, node->ternary.then) || !emit_jump(b, place_of(node), CODE_JUMP, &end))
		return false;
	label_bind(b, &otherwise);
	/* the value of the other side is not there yet */
	if (!compile_expr(b, node->ternary.otherwise))
		return false;
	label_bind(b, &end);
	return true;
}

/* ---- literals, and what is as good as one.
 *
 * Folded are a sign before a number and a tuple of literals, as in CPython;
 * arithmetic is left to the run, which reports its errors with their place.
 */

static bool fold_number(const struct ast_node *node, bool negative, struct lang_const *out)
{
	if (node->kind == NODE_FLOAT) {
		*out = (struct lang_const){ .kind = CONST_FLOAT,
					    .f = negative ? -node->real : node->real };
		return true;
	}
	if (node->kind != NODE_INTEGER || node->integer > (uint64_t)INT64_MAX + negative)
		return false;
	*out = (struct lang_const){ .kind = CONST_INT };
	out->i = negative ? (int64_t)(0 - node->integer) : (int64_t)node->integer;
	return true;
}

/* Looks before memory is taken. */
static bool is_constant(const struct ast_node *node)
{
	struct lang_const ignored;

	if (node->kind != NODE_TUPLE)
		return constant_of(NULL, node, &ignored);
	for (int i = 0; i < node->list.n; i++)
		if (!is_constant(node->list.at[i]))
			return false;
	return true;
}

static bool fold_tuple(struct builder *b, const struct ast_node *node, struct lang_const *out)
{
	struct lang_const *items;

	if (!is_constant(node))
		return false;
	items = ARENA_ARRAY(b->c->program, struct lang_const, (size_t)node->list.n);
	if (!items)
		return false;
	for (int i = 0; i < node->list.n; i++)
		if (!constant_of(b, node->list.at[i], &items[i]))
			return false;
	*out = (struct lang_const){ .kind = CONST_TUPLE, .n = node->list.n, .items = items };
	return true;
}

bool constant_of(struct builder *b, const struct ast_node *node, struct lang_const *out)
{
	switch (node->kind) {
	case NODE_NONE:
		*out = const_none();
		return true;
	case NODE_TRUE:
	case NODE_FALSE:
		*out = (struct lang_const){ .kind = CONST_BOOL, .b = node->kind == NODE_TRUE };
		return true;
	case NODE_ELLIPSIS:
		*out = (struct lang_const){ .kind = CONST_ELLIPSIS };
		return true;
	case NODE_STRING:
		*out = const_str(node->string.text, node->string.len);
		return true;
	case NODE_INTEGER:
	case NODE_FLOAT:
		return fold_number(node, false, out);
	case NODE_UNARY:
		return node->unary.op == UN_NEG && fold_number(node->unary.operand, true, out);
	case NODE_TUPLE:
		return fold_tuple(b, node, out);
	default:
		return false;
	}
}

/* Its truth: 0 or 1, or -1 where it is not known. */
static int constant_truth(const struct ast_node *node)
{
	switch (node->kind) {
	case NODE_TRUE:
	case NODE_ELLIPSIS:
		return 1;
	case NODE_FALSE:
	case NODE_NONE:
		return 0;
	case NODE_INTEGER:
		return node->integer != 0;
	case NODE_FLOAT:
		return node->real != 0;
	case NODE_STRING:
		return node->string.len != 0;
	default:
		return -1;
	}
}

/* fusion/vm/prelude/bytes.py makes them of a text that has a letter for each. */
static bool compile_bytes(struct builder *b, const struct ast_node *node)
{
	struct code_place at = place_of(node);

	return emit_name(b, at, CODE_IMPORT, "_bases") &&
	       emit_name(b, at, CODE_LOAD_ATTR, "bytes_literal") &&
	       emit_const(b, at, const_str(node->string.text, node->string.len)) &&
	       emit(b, at, CODE_CALL, 1);
}

static bool compile_starred_list(struct builder *b, struct code_place at,
				 struct ast_node *const *items, int n);
static bool compile_fstring(struct builder *b, const struct ast_node *node);
static struct code_place attribute_place(const struct ast_node *node);

/* ---- calls: plain, with keywords, with * and **.
 *
 * As in CPython all positional arguments come first, wherever a *values is.
 */

struct call_arguments {
	struct ast_node **positional, **keywords;
	int n_positional, n_keywords;
	bool unpacks; /* a * or a ** is among them */
};

static bool sort_arguments(struct builder *b, const struct node_list *list,
			   struct call_arguments *out)
{
	*out = (struct call_arguments){ 0 };
	out->positional = ARENA_ARRAY(b->c->scratch, struct ast_node *, (size_t)list->n);
	out->keywords = ARENA_ARRAY(b->c->scratch, struct ast_node *, (size_t)list->n);
	if (!out->positional || !out->keywords)
		return out_of_memory(b);
	for (int i = 0; i < list->n; i++) {
		struct ast_node *one = list->at[i];
		bool keyword = one->kind == NODE_KEYWORD;

		if (keyword)
			out->keywords[out->n_keywords++] = one;
		else
			out->positional[out->n_positional++] = one;
		out->unpacks |= keyword ? !one->keyword.name : one->kind == NODE_STARRED;
	}
	return true;
}

static struct lang_const keyword_name(const struct ast_node *keyword)
{
	return const_str(keyword->keyword.name, strlen(keyword->keyword.name));
}

static bool keyword_names(struct builder *b, struct code_place at,
			  const struct call_arguments *arguments)
{
	int n = arguments->n_keywords;
	struct lang_const names = { .kind = CONST_TUPLE, .n = n };
	struct lang_const *items = ARENA_ARRAY(b->c->program, struct lang_const, (size_t)n);

	if (!items)
		return out_of_memory(b);
	for (int i = 0; i < n; i++)
		items[i] = keyword_name(arguments->keywords[i]);
	names.items = items;
	return emit_const(b, at, names);
}

static bool call_plain(struct builder *b, struct code_place at,
		       const struct call_arguments *arguments)
{
	for (int i = 0; i < arguments->n_positional; i++)
		if (!compile_expr(b, arguments->positional[i]))
			return false;
	if (!arguments->n_keywords)
		return emit(b, at, CODE_CALL, arguments->n_positional);
	for (int i = 0; i < arguments->n_keywords; i++)
		if (!compile_expr(b, arguments->keywords[i]->keyword.value))
			return false;
	return keyword_names(b, at, arguments) &&
	       emit(b, at, CODE_CALL_KW, arguments->n_positional + arguments->n_keywords);
}

static bool keyword_dict(struct builder *b, struct code_place at,
			 const struct call_arguments *arguments)
{
	bool spread = false;

	if (!arguments->n_keywords)
		return emit_const(b, at, const_none());
	if (!emit(b, at, CODE_BUILD_MAP, 0))
		return false;
	for (int i = 0; i < arguments->n_keywords; i++) {
		const struct ast_node *one = arguments->keywords[i];
		bool named = one->keyword.name != NULL;
		bool adds = named && !spread; /* after a ** it may be there already */

		if ((named && !emit_const(b, place_of(one), keyword_name(one))) ||
		    !compile_expr(b, one->keyword.value) ||
		    (named && spread && !emit(b, place_of(one), CODE_BUILD_MAP, 1)) ||
		    !emit(b, place_of(one), adds ? CODE_MAP_ADD : CODE_DICT_MERGE, 1))
			return false;
		spread = spread || !named;
	}
	return true;
}

static bool call_unpacked(struct builder *b, struct code_place at,
			  const struct call_arguments *arguments)
{
	return compile_starred_list(b, at, arguments->positional, arguments->n_positional) &&
	       keyword_dict(b, at, arguments) && emit(b, at, CODE_CALL_EX, 0);
}

/* super() inside a method: super(__class__, its first parameter). */
static bool call_super(struct builder *b, const struct ast_node *node)
{
	const char *class = b->c->known->class_cell, *first = b->scope->host->first_parameter;
	const struct symbol *cell = scope_find(b->scope, class);
	struct code_place at = place_of(node);

	if (!first || !cell || (cell->kind != SYMBOL_FREE && cell->kind != SYMBOL_CELL))
		return err_at(b->c->err, ERR_UNSUPPORTED, node->line, node->column,
			      "super() stands outside a method; write super(Class, self)");
	return compile_load_name(b, at, node->call.callee->name) &&
	       compile_load_name(b, at, class) && compile_load_name(b, at, first) &&
	       emit(b, at, CODE_CALL, 2);
}

/* compile_expr.c */
static bool compile_call(struct builder *b, const struct ast_node *node)
{
	const struct ast_node *callee = node->call.callee;
	struct code_place at = callee->kind == NODE_ATTRIBUTE ? attribute_place(callee)
							      : place_of(node);
	struct call_arguments arguments;

	if (callee->kind == NODE_NAME && callee->name == b->c->known->super &&
	    !node->call.arguments.n)
		return call_super(b, node);
	at.end_column = node->end_column;
	if (!compile_expr(b, callee) || !sort_arguments(b, &node->call.arguments, &arguments))
		return false;
	return arguments.unpacks ? call_unpacked(b, at, &arguments) : call_plain(b, at, &arguments);
}

/* ---- tuples, lists, sets, dicts and f-strings.
 *
 * One without * is built at once from the stack; from the first * on, items are
 * added one by one.
 */

/* What a kind of display is made of. */
struct display {
	enum code_op build, add, extend;
};

static const struct display list_display = { CODE_BUILD_LIST, CODE_LIST_APPEND, CODE_LIST_EXTEND };
static const struct display set_display = { CODE_BUILD_SET, CODE_SET_ADD, CODE_SET_UPDATE };

static int first_starred(struct ast_node *const *items, int n)
{
	int i = 0;

	while (i < n && items[i]->kind != NODE_STARRED)
		i++;
	return i;
}

static bool compile_items(struct builder *b, struct code_place at, struct ast_node *const *items,
			  int n, const struct display *display)
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

static bool compile_starred_list(struct builder *b, struct code_place at,
				 struct ast_node *const *items, int n)
{
	return compile_items(b, at, items, n, &list_display);
}

static bool compile_tuple(struct builder *b, const struct ast_node *node)
{
	const struct display tuple = { .build = CODE_BUILD_TUPLE };
	struct code_place at = place_of(node);

	if (first_starred(node->list.at, node->list.n) == node->list.n)
		return compile_items(b, at, node->list.at, node->list.n, &tuple);
	return compile_starred_list(b, at, node->list.at, node->list.n) &&
	       emit(b, at, CODE_LIST_TO_TUPLE, 0);
}

static bool compile_dict(struct builder *b, const struct ast_node *node)
{
	const struct node_list *keys = &node->dict.keys, *values = &node->dict.values;
	struct code_place at = place_of(node);
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

/* TUPLE LIST SET DICT */
static bool compile_display(struct builder *b, const struct ast_node *node)
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

static bool compile_field(struct builder *b, const struct ast_node *node)
{
	static const char conversions[] = " sra";
	const struct ast_node *spec = node->field.spec;
	int argument = spec ? 4 : 0;

	for (int i = 1; i < 4; i++)
		if (conversions[i] == node->field.conversion)
			argument |= i;
	return compile_expr(b, node->field.value) && (!spec || compile_fstring(b, spec)) &&
	       emit(b, place_of(node), CODE_FORMAT_VALUE, argument);
}

/* compile_expr.c */
static bool compile_fstring(struct builder *b, const struct ast_node *node)
{
	const struct node_list *parts = &node->list;

	if (!parts->n)
		return emit_const(b, place_of(node), const_str("", 0));
	for (int i = 0; i < parts->n; i++) {
		const struct ast_node *part = parts->at[i];

		if (!(part->kind == NODE_FIELD ? compile_field(b, part) : compile_expr(b, part)))
			return false;
	}
	return parts->n == 1 || emit(b, place_of(node), CODE_BUILD_STRING, parts->n);
}

/* ---- comprehensions, generator expressions, yield.
 *
 * A comprehension is a loop in the code around it, as in CPython 3.12: on the
 * stack lie what it collects, then an iterator for each `for`.  A generator
 * expression is a function whose parameter is the first iterator.
 */

struct collect {
	const struct comprehension *c;
	enum code_op op; /* LIST_APPEND, SET_ADD, MAP_ADD or YIELD */
};

static bool compile_element(struct builder *b, const struct collect *what)
{
	const struct comprehension *c = what->c;
	struct code_place at = place_of(c->element);

	if (!compile_expr(b, c->element) || (c->value && !compile_expr(b, c->value)))
		return false;
	if (what->op != CODE_YIELD)
		return emit(b, at, what->op, c->n_clauses + 1);
	return emit(b, at, CODE_YIELD, 0) && emit(b, at, CODE_POP, 0);
}

/* From the `for` of clause i on, with its iterator on the stack, which is gone
 * after it. */
static bool compile_clause(struct builder *b, const struct collect *what, int i)
{
	const struct for_clause *clause = &what->c->clauses[i];
	struct label next = label_new(), done = label_new();
	struct code_place over = place_of(clause->over);
	const struct ast_node *inner;
	bool ok;

	label_bind(b, &next);
	if (!emit_jump(b, over, CODE_FOR_ITER, &done) || !compile_store(b, clause->target))
		return false;
	for (int k = 0; k < clause->conditions.n; k++)
		if (!compile_jump(b, clause->conditions.at[k], &next, false))
			return false;
	if (i + 1 < what->c->n_clauses) {
		inner = what->c->clauses[i + 1].over;
		ok = compile_expr(b, inner) && emit(b, place_of(inner), CODE_GET_ITER, 0) &&
		     compile_clause(b, what, i + 1);
	} else {
		ok = compile_element(b, what);
	}
	if (!ok || !emit_jump(b, over, CODE_JUMP, &next))
		return false;
	label_bind(b, &done);
	return true;
}

/* Its variables: cells are new each time, and nothing is left of locals. */
static bool renew_cells(struct builder *b, struct code_place at, const struct scope *scope)
{
	for (int i = 0; i < scope->n_symbols; i++) {
		const struct symbol *symbol = &scope->symbols[i];

		if ((symbol->flags & SYMBOL_ITERATION) && symbol->kind == SYMBOL_CELL &&
		    !emit(b, at, CODE_MAKE_CELL, symbol->index))
			return false;
	}
	return true;
}

static bool clear_locals(struct builder *b, struct code_place at, const struct scope *scope)
{
	for (int i = 0; i < scope->n_symbols; i++) {
		const struct symbol *symbol = &scope->symbols[i];

		if ((symbol->flags & SYMBOL_ITERATION) && symbol->kind == SYMBOL_LOCAL &&
		    !emit(b, at, CODE_CLEAR_FAST, symbol->index))
			return false;
	}
	return true;
}

/* compile_expr.c */
static bool compile_comprehension(struct builder *b, const struct ast_node *node)
{
	bool list = node->kind == NODE_LIST_COMP, set = node->kind == NODE_SET_COMP;
	struct collect what = { node->comprehension, list  ? CODE_LIST_APPEND
						     : set ? CODE_SET_ADD
							   : CODE_MAP_ADD };
	enum code_op build = list ? CODE_BUILD_LIST : set ? CODE_BUILD_SET : CODE_BUILD_MAP;
	const struct ast_node *over = what.c->clauses[0].over;
	const struct scope *outer = b->scope;
	struct code_place at = place_of(node);
	struct lang_comprehension bounds;
	bool ok;

	if (!compile_expr(b, over) || !emit(b, place_of(over), CODE_GET_ITER, 0))
		return false;
	bounds.start = (int)b->insts.len;
	b->scope = what.c->scope;
	ok = renew_cells(b, at, b->scope) && emit(b, at, build, 0) && emit(b, at, CODE_SWAP, 2) &&
	     compile_clause(b, &what, 0) && clear_locals(b, at, b->scope);
	b->scope = outer;
	bounds.end = (int)b->insts.len;
	return ok && (VEC_PUSH(&b->comprehensions, bounds) || out_of_memory(b));
}

static struct code *generator_code(struct builder *outer, const struct ast_node *node)
{
	struct collect what = { node->comprehension, CODE_YIELD };
	struct code_place at = place_of(node);
	struct code *code = NULL;
	struct builder b;

	builder_init(&b, outer->c, what.c->scope);
	if (compile_load_name(&b, at, b.c->known->iterable) && compile_clause(&b, &what, 0) &&
	    emit_const(&b, at, const_none()) && emit(&b, at, CODE_RETURN, 0))
		code = builder_code(&b, "<genexpr>", node->line);
	builder_finish(&b);
	if (code)
		code->n_positional = 1;
	return code;
}

/* compile_expr.c */
static bool compile_generator(struct builder *b, const struct ast_node *node)
{
	const struct ast_node *over = node->comprehension->clauses[0].over;
	struct code_place at = place_of(node);
	struct code *code;

	if (!emit_const(b, at, (struct lang_const){ .kind = CONST_TUPLE }) ||
	    !emit_const(b, at, const_none()) || !emit_closure(b, at, node->comprehension->scope))
		return false;
	code = generator_code(b, node);
	return code && emit_function(b, at, code) && compile_expr(b, over) &&
	       emit(b, place_of(over), CODE_GET_ITER, 0) && emit(b, at, CODE_CALL, 1);
}

/* `yield from` hands on each item; while it pauses, what is sent and thrown goes to the
 * inner generator (vm/generator.c).  Its value is what that one returns. */
static bool compile_yield_from(struct builder *b, const struct ast_node *node)
{
	struct label next = label_new(), done = label_new();
	struct code_place at = place_of(node);

	if (!compile_expr(b, node->value) || !emit(b, at, CODE_GET_ITER, 0) ||
	    !emit(b, at, CODE_COPY, 1))
		return false;
	label_bind(b, &next);
	if (!emit_jump(b, at, CODE_FOR_ITER, &done) || !emit(b, at, CODE_YIELD, 1) ||
	    !emit(b, at, CODE_POP, 0) || !emit_jump(b, at, CODE_JUMP, &next))
		return false;
	label_bind(b, &done);
	return emit(b, at, CODE_RETURNED, 0);
}

/* compile_expr.c */
static bool compile_yield(struct builder *b, const struct ast_node *node)
{
	struct code_place at = place_of(node);

	if (node->kind == NODE_YIELD_FROM)
		return compile_yield_from(b, node);
	return (node->value ? compile_expr(b, node->value) : emit_const(b, at, const_none())) &&
	       emit(b, at, CODE_YIELD, 0);
}

/* The place of an attribute on a line of its own is its name. */
static struct code_place attribute_place(const struct ast_node *node)
{
	struct code_place at = place_of(node);

	if (node->attribute.line != node->line) {
		at.line = node->attribute.line;
		at.column = node->attribute.column;
	}
	return at;
}

static bool compile_slice_part(struct builder *b, const struct ast_node *slice,
			       const struct ast_node *part)
{
	return part ? compile_expr(b, part) : emit_const(b, place_of(slice), const_none());
}

static bool compile_slice(struct builder *b, const struct ast_node *node)
{
	const struct ast_node *step = node->slice.step;

	return compile_slice_part(b, node, node->slice.start) &&
	       compile_slice_part(b, node, node->slice.stop) && (!step || compile_expr(b, step)) &&
	       emit(b, place_of(node), CODE_BUILD_SLICE, step ? 3 : 2);
}

static bool compile_walrus(struct builder *b, const struct ast_node *node)
{
	return compile_expr(b, node->walrus.value) && emit(b, place_of(node), CODE_COPY, 1) &&
	       compile_store(b, node->walrus.target);
}

static bool compile_integer(struct builder *b, const struct ast_node *node)
{
	/* constant_of() has taken all that fit */
	return err_at(b->c->err, ERR_UNSUPPORTED, node->line, node->column,
		      "this integer needs more than 64 bits; write it as a float, 1e20");
}

/* 2j is number(0, 2) of the prelude's _complex. */
static bool compile_complex(struct builder *b, const struct ast_node *node)
{
	struct code_place at = place_of(node);
	struct lang_const zero = { .kind = CONST_FLOAT };
	struct lang_const imag = { .kind = CONST_FLOAT, .f = node->real };

	return emit_name(b, at, CODE_IMPORT, "_complex") &&
	       emit_name(b, at, CODE_LOAD_ATTR, "number") && emit_const(b, at, zero) &&
	       emit_const(b, at, imag) && emit(b, at, CODE_CALL, 2);
}

bool compile_expr(struct builder *b, const struct ast_node *node)
{
	struct code_place at = place_of(node);
	struct lang_const value;

	if (constant_of(b, node, &value))
		return emit_const(b, at, value);
	switch (node->kind) {
	case NODE_INTEGER:
		return compile_integer(b, node);
	case NODE_COMPLEX:
		return compile_complex(b, node);
	case NODE_NAME:
		return compile_load_name(b, at, node->name);
	case NODE_TUPLE:
	case NODE_LIST:
	case NODE_SET:
	case NODE_DICT:
		return compile_display(b, node);
	case NODE_LIST_COMP:
	case NODE_SET_COMP:
	case NODE_DICT_COMP:
		return compile_comprehension(b, node);
	case NODE_GENERATOR:
		return compile_generator(b, node);
	case NODE_FSTRING:
		return compile_fstring(b, node);
	case NODE_BYTES:
		return compile_bytes(b, node);
	case NODE_YIELD:
	case NODE_YIELD_FROM:
		return compile_yield(b, node);
	case NODE_ATTRIBUTE:
		return compile_expr(b, node->attribute.value) &&
		       emit_name(b, attribute_place(node), CODE_LOAD_ATTR, node->attribute.name);
	case NODE_SUBSCRIPT:
		return compile_expr(b, node->subscript.value) &&
		       compile_expr(b, node->subscript.index) && emit(b, at, CODE_BINARY_SUBSCR, 0);
	case NODE_SLICE:
		return compile_slice(b, node);
	case NODE_CALL:
		return compile_call(b, node);
	case NODE_BINARY:
		return compile_expr(b, node->binary.left) && compile_expr(b, node->binary.right) &&
		       emit(b, at, CODE_BINARY_OP, (int)node->binary.op);
	case NODE_UNARY:
		return compile_expr(b, node->unary.operand) &&
		       emit(b, at, CODE_UNARY_OP, (int)node->unary.op);
	case NODE_BOOLEAN:
		return compile_boolean(b, node);
	case NODE_COMPARE:
		return compile_compare(b, node);
	case NODE_TERNARY:
		return compile_ternary(b, node);
	case NODE_WALRUS:
		return compile_walrus(b, node);
	case NODE_LAMBDA:
		return compile_definition(b, node);
	default:
		return refuse(b, node);
	}
}
