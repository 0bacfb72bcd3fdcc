/* fusion/lang/builder.c -- puts one code object together.
 *
 * Constants are shared by kind and bits: 0.0, -0.0, 0 and False are four.
 */
#include "fusion/lang/builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORK = 4000000 };

void builder_finish(struct builder *b)
{
	VEC_FREE(&b->insts);
	VEC_FREE(&b->consts);
	VEC_FREE(&b->names);
	VEC_FREE(&b->nested);
	VEC_FREE(&b->handlers);
	VEC_FREE(&b->comprehensions);
}

bool builder_works(struct builder *b, struct code_place at)
{
	if (++b->c->work <= MOST_WORK)
		return true;
	return err_at(b->c->err, ERR_BOUND, at.line, at.column,
		      "the program is too large: more than %d instructions and statements, where a "
		      "finally block counts once for each way out of it",
		      MOST_WORK);
}

static void set_depth(struct builder *b, int depth)
{
	assert(depth >= 0);
	b->depth = depth;
	if (depth > b->deepest)
		b->deepest = depth;
}

bool emit(struct builder *b, struct code_place at, enum code_op op, int arg)
{
	struct lang_inst inst = { op, arg, at.line, at.column, at.end_column };

	if (b->dead)
		return true;
	if (!builder_works(b, at))
		return false;
	if (!VEC_PUSH(&b->insts, inst))
		return out_of_memory(b);
	set_depth(b, b->depth + code_effect(op, arg));
	b->dead = op == CODE_JUMP || op == CODE_RETURN || op == CODE_RAISE || op == CODE_RERAISE;
	return true;
}

bool emit_jump(struct builder *b, struct code_place at, enum code_op op, struct label *to)
{
	bool dead = b->dead, bound = to->at >= 0;
	int index = (int)b->insts.len, depth;

	if (!emit(b, at, op, bound ? to->at : to->chain))
		return false;
	if (dead)
		return true;
	depth = op == CODE_FOR_ITER ? b->depth - 2 : b->depth;
	assert((!bound && to->chain < 0) || to->depth == depth);
	if (bound)
		return true;
	to->chain = index;
	to->depth = depth;
	return true;
}

void label_bind(struct builder *b, struct label *label)
{
	int next;

	label->at = (int)b->insts.len;
	if (label->chain < 0) { /* only what follows jumps here, or falls in */
		label->depth = b->depth;
		return;
	}
	assert(b->dead || b->depth == label->depth);
	b->dead = false;
	b->depth = label->depth;
	for (int i = label->chain; i >= 0; i = next) {
		next = b->insts.at[i].arg;
		b->insts.at[i].arg = label->at;
	}
}

/* Inner guards close before outer ones, so the list has the innermost first. */
bool guard_close(struct builder *b, struct code_guard *guard)
{
	struct lang_handler piece = { guard->kind,  guard->start,   (int)b->insts.len, guard->chain,
				      guard->depth, guard->at.line, guard->at.column };

	if (piece.start == piece.end)
		return true;
	guard->chain = (int)b->handlers.len;
	return VEC_PUSH(&b->handlers, piece) || out_of_memory(b);
}

void guard_bind(struct builder *b, struct code_guard *guard)
{
	int next;

	assert(b->dead);
	if (guard->chain < 0)
		return;
	for (int i = guard->chain; i >= 0; i = next) {
		next = b->handlers.at[i].target;
		b->handlers.at[i].target = (int)b->insts.len;
	}
	b->dead = false;
	set_depth(b, guard->depth + 1);
}

/* Equal constants have one key: the interned bytes of kind and content. */
static const void *const_key(struct builder *b, const struct lang_const *value)
{
	struct {
		int64_t kind, bits;
	} key = { value->kind, 0 };
	const void **keys;
	struct name *name;

	if (value->kind != CONST_TUPLE) {
		if (value->kind == CONST_STR)
			key.bits = (int64_t)(intptr_t)value->str;
		else if (value->kind == CONST_BOOL)
			key.bits = value->b;
		else if (value->kind == CONST_INT)
			key.bits = value->i;
		else if (value->kind == CONST_FLOAT)
			memcpy(&key.bits, &value->f, sizeof(key.bits));
		return names_intern(&b->c->keys, (const char *)&key, sizeof(key));
	}
	keys = ARENA_ARRAY(b->c->scratch, const void *, (size_t)value->n + 1);
	if (!keys)
		return NULL;
	for (int i = 0; i < value->n; i++)
		if (!(keys[i] = const_key(b, &value->items[i])))
			return NULL;
	/* one word more than the items, and never the size of a scalar's key */
	name = names_intern(&b->c->keys, (const char *)keys,
			    ((size_t)value->n + 1) * sizeof(*keys) - 1);
	return name;
}

static bool emit_of_const(struct builder *b, struct code_place at, enum code_op op,
			  struct lang_const value)
{
	const void *key;
	int i;

	if (b->dead)
		return true;
	key = const_key(b, &value);
	if (!key)
		return out_of_memory(b);
	i = name_map_get(&b->const_map, key);
	if (i < 0) {
		i = (int)b->consts.len;
		if (!VEC_PUSH(&b->consts, value) || !name_map_set(&b->const_map, key, i))
			return out_of_memory(b);
	}
	return emit(b, at, op, i);
}

bool emit_const(struct builder *b, struct code_place at, struct lang_const value)
{
	return emit_of_const(b, at, CODE_LOAD_CONST, value);
}

struct builder_mark builder_mark(const struct builder *b)
{
	return (struct builder_mark){ .insts = b->insts.len,
				      .nested = b->nested.len,
				      .handlers = b->handlers.len,
				      .comprehensions = b->comprehensions.len,
				      .block = b->block,
				      .depth = b->depth,
				      .deepest = b->deepest,
				      .unwinding = b->c->unwinding,
				      .dead = b->dead };
}

/* Whether a jump to the label is among the instructions from `first` on. */
static bool jumps_since(const struct label *label, size_t first)
{
	return label && label->chain >= 0 && (size_t)label->chain >= first;
}

bool builder_refuse(struct builder *b, const struct builder_mark *mark)
{
	struct err *err = b->c->err;
	struct code_place at = { err->line, err->column, err->column + 1 };
	struct lang_const why = { .kind = CONST_STR };

	for (const struct code_block *block = mark->block; block; block = block->outer)
		if (jumps_since(block->next, mark->insts) || jumps_since(block->out, mark->insts) ||
		    (block->guard.chain >= 0 && (size_t)block->guard.chain >= mark->handlers) ||
		    (size_t)block->guard.start > mark->insts)
			return false;
	b->insts.len = mark->insts;
	b->nested.len = mark->nested;
	b->handlers.len = mark->handlers;
	b->comprehensions.len = mark->comprehensions;
	b->block = mark->block;
	b->depth = mark->depth;
	b->deepest = mark->deepest;
	b->c->unwinding = mark->unwinding;
	b->dead = mark->dead;
	why.n = (int)strlen(err->message);
	why.str = arena_strdup(b->c->program, err->message);
	*err = (struct err){ 0 };
	if (!why.str)
		return out_of_memory(b);
	return emit_of_const(b, at, CODE_REFUSE, why);
}

bool emit_name(struct builder *b, struct code_place at, enum code_op op, const char *name)
{
	int i;

	if (b->dead)
		return true;
	i = name_map_get(&b->name_map, name);
	if (i < 0) {
		i = (int)b->names.len;
		if (!VEC_PUSH(&b->names, name) || !name_map_set(&b->name_map, name, i))
			return out_of_memory(b);
	}
	return emit(b, at, op, i);
}

static void *copy(struct builder *b, const void *from, size_t n, size_t bytes)
{
	void *to = arena_array(b->c->program, n, bytes);

	if (to && n)
		memcpy(to, from, n * bytes);
	return to;
}

struct variables {
	const char **locals, **cells;
	int *cell_local;
};

static void fill_own(struct variables *v, const struct scope *scope)
{
	for (int i = 0; i < scope->n_symbols; i++) {
		const struct symbol *symbol = &scope->symbols[i];

		if (symbol->parameter >= 0)
			v->locals[symbol->parameter] = symbol->name;
		if (symbol->kind == SYMBOL_LOCAL)
			v->locals[symbol->index] = symbol->name;
		if (symbol->kind == SYMBOL_CELL)
			v->cell_local[symbol->index] = symbol->parameter;
		if (symbol->kind == SYMBOL_CELL || symbol->kind == SYMBOL_FREE)
			v->cells[symbol->index] = symbol->name;
		if (symbol->through >= 0)
			v->cells[symbol->through] = symbol->name;
	}
}

/* Of a comprehension, only what its `for` binds is not its host's already. */
static void fill_hosted(struct variables *v, const struct scope *scope)
{
	for (int i = 0; i < scope->n_symbols; i++) {
		const struct symbol *symbol = &scope->symbols[i];

		if (!(symbol->flags & SYMBOL_ITERATION))
			continue;
		if (symbol->kind == SYMBOL_LOCAL) {
			v->locals[symbol->index] = symbol->name;
		} else {
			v->cell_local[symbol->index] = -1;
			v->cells[symbol->index] = symbol->name;
		}
	}
}

/* Names of locals and cells, and which parameter each cell takes over. */
static bool fill_variables(struct builder *b, struct code *code)
{
	const struct scope *scope = b->scope;
	struct variables v;

	v.locals = ARENA_ARRAY(b->c->program, const char *, (size_t)scope->n_locals);
	v.cells = ARENA_ARRAY(b->c->program, const char *, (size_t)scope->n_cells);
	v.cell_local = ARENA_ARRAY(b->c->program, int, (size_t)scope->n_own_cells);
	if (!v.locals || !v.cells || !v.cell_local)
		return false;
	fill_own(&v, scope);
	for (const struct scope *s = scope->hosted; s; s = s->next_hosted)
		fill_hosted(&v, s);
	code->locals = v.locals;
	code->cells = v.cells;
	code->cell_local = v.cell_local;
	code->n_locals = scope->n_locals;
	code->n_cells = scope->n_cells;
	code->n_own_cells = scope->n_own_cells;
	return true;
}

struct code *builder_code(struct builder *b, const char *name, int line)
{
	struct code *code = ARENA_NEW(b->c->program, struct code);

	if (!code || !fill_variables(b, code)) {
		out_of_memory(b);
		return NULL;
	}
	code->name = name;
	code->line = line;
	code->lines_before = b->c->lines_before;
	code->n_insts = (int)b->insts.len;
	code->n_consts = (int)b->consts.len;
	code->n_names = (int)b->names.len;
	code->n_nested = (int)b->nested.len;
	code->n_handlers = (int)b->handlers.len;
	code->n_comprehensions = (int)b->comprehensions.len;
	code->stack_depth = b->deepest;
	code->is_generator = b->scope->is_generator;
	code->has_namespace = b->scope->kind == SCOPE_CLASS;
	code->insts = copy(b, b->insts.at, b->insts.len, sizeof(*b->insts.at));
	code->consts = copy(b, b->consts.at, b->consts.len, sizeof(*b->consts.at));
	code->names = copy(b, b->names.at, b->names.len, sizeof(*b->names.at));
	code->nested = copy(b, b->nested.at, b->nested.len, sizeof(*b->nested.at));
	code->handlers = copy(b, b->handlers.at, b->handlers.len, sizeof(*b->handlers.at));
	code->comprehensions = copy(b, b->comprehensions.at, b->comprehensions.len,
				    sizeof(*b->comprehensions.at));
	if (!code->handlers || !code->comprehensions || !code->insts || !code->consts ||
	    !code->names || !code->nested) {
		out_of_memory(b);
		return NULL;
	}
	return code;
}

bool emit_closure(struct builder *b, struct code_place at, const struct scope *inner)
{
	int n = inner->n_cells - inner->n_own_cells;

	if (!n)
		return emit_const(b, at, (struct lang_const){ .kind = CONST_TUPLE });
	for (int i = 0; i < inner->n_symbols; i++) { /* free ones are numbered in this order */
		const struct symbol *symbol = &inner->symbols[i];

		if ((symbol->kind == SYMBOL_FREE || symbol->through >= 0) &&
		    !emit(b, at, CODE_LOAD_CLOSURE,
			  symbol_cell(scope_find(b->scope, symbol->name))))
			return false;
	}
	return emit(b, at, CODE_BUILD_TUPLE, n);
}

bool emit_function(struct builder *b, struct code_place at, struct code *code)
{
	int index = (int)b->nested.len;

	if (!VEC_PUSH(&b->nested, code))
		return out_of_memory(b);
	return emit(b, at, CODE_MAKE_FUNCTION, index);
}
