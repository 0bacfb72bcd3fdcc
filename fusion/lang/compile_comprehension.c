/* fusion/lang/compile_comprehension.c -- comprehensions, generator expressions, yield.
 *
 * A comprehension is a loop right where it stands, as in CPython 3.12: on the
 * stack lie what it collects, then an iterator for each `for`.  A generator
 * expression is a function whose parameter is the first iterator.
 */
#include "fusion/lang/compile.h"

struct collect {
	const struct comprehension *c;
	enum code_op op; /* LIST_APPEND, SET_ADD, MAP_ADD or YIELD */
};

static bool compile_element(struct builder *b, const struct collect *what)
{
	const struct comprehension *c = what->c;
	struct place at = place_of(c->element);

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
	struct place over = place_of(clause->over);
	const struct node *inner;
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
static bool renew_cells(struct builder *b, struct place at, const struct scope *scope)
{
	for (int i = 0; i < scope->n_symbols; i++) {
		const struct symbol *symbol = &scope->symbols[i];

		if ((symbol->flags & SYMBOL_ITERATION) && symbol->kind == SYMBOL_CELL &&
		    !emit(b, at, CODE_MAKE_CELL, symbol->index))
			return false;
	}
	return true;
}

static bool clear_locals(struct builder *b, struct place at, const struct scope *scope)
{
	for (int i = 0; i < scope->n_symbols; i++) {
		const struct symbol *symbol = &scope->symbols[i];

		if ((symbol->flags & SYMBOL_ITERATION) && symbol->kind == SYMBOL_LOCAL &&
		    !emit(b, at, CODE_CLEAR_FAST, symbol->index))
			return false;
	}
	return true;
}

bool compile_comprehension(struct builder *b, const struct node *node)
{
	bool list = node->kind == NODE_LIST_COMP, set = node->kind == NODE_SET_COMP;
	struct collect what = { node->comprehension, list  ? CODE_LIST_APPEND
						     : set ? CODE_SET_ADD
							   : CODE_MAP_ADD };
	enum code_op build = list ? CODE_BUILD_LIST : set ? CODE_BUILD_SET : CODE_BUILD_MAP;
	const struct node *over = what.c->clauses[0].over;
	const struct scope *outer = b->scope;
	struct place at = place_of(node);
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

static struct code *generator_code(struct builder *outer, const struct node *node)
{
	struct collect what = { node->comprehension, CODE_YIELD };
	struct place at = place_of(node);
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

bool compile_generator(struct builder *b, const struct node *node)
{
	const struct node *over = node->comprehension->clauses[0].over;
	struct place at = place_of(node);
	struct code *code;

	if (!emit_const(b, at, (struct lang_const){ .kind = CONST_TUPLE }) ||
	    !emit_const(b, at, const_none()) || !compile_closure(b, at, node->comprehension->scope))
		return false;
	code = generator_code(b, node);
	return code && make_function(b, at, code) && compile_expr(b, over) &&
	       emit(b, place_of(over), CODE_GET_ITER, 0) && emit(b, at, CODE_CALL, 1);
}

/* `yield from` hands on each item; while it pauses, what is sent and thrown goes to the
 * inner generator (vm/generator.c).  Its value is what that one returns. */
static bool compile_yield_from(struct builder *b, const struct node *node)
{
	struct label next = label_new(), done = label_new();
	struct place at = place_of(node);

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

bool compile_yield(struct builder *b, const struct node *node)
{
	struct place at = place_of(node);

	if (node->kind == NODE_YIELD_FROM)
		return compile_yield_from(b, node);
	return (node->value ? compile_expr(b, node->value) : emit_const(b, at, const_none())) &&
	       emit(b, at, CODE_YIELD, 0);
}
