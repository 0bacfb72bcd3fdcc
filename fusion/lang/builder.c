/* fusion/lang/builder.c -- see builder.h.
 *
 * Constants are shared by kind and bits: 0.0, -0.0, 0 and False are four.
 */
#include "fusion/lang/builder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void builder_init(struct builder *b, struct compiler *c, const struct scope *scope)
{
	*b = (struct builder){ .c = c, .scope = scope };
	b->const_map.arena = b->name_map.arena = c->scratch;
}

void builder_finish(struct builder *b)
{
	VEC_FREE(&b->insts);
	VEC_FREE(&b->consts);
	VEC_FREE(&b->names);
	VEC_FREE(&b->nested);
}

bool out_of_memory(struct builder *b)
{
	return err_set(b->c->err, ERR_MEMORY, "out of memory while compiling the program");
}

bool emit(struct builder *b, struct place at, enum code_op op, int arg)
{
	struct lang_inst inst = { op, arg, at.line, at.column, at.end_column };

	if (b->dead)
		return true;
	if (!VEC_PUSH(&b->insts, inst))
		return out_of_memory(b);
	b->depth += code_effect(op, arg);
	assert(b->depth >= 0);
	if (b->depth > b->deepest)
		b->deepest = b->depth;
	b->dead = op == CODE_JUMP || op == CODE_RETURN;
	return true;
}

bool emit_jump(struct builder *b, struct place at, enum code_op op, struct label *to)
{
	bool dead = b->dead, bound = to->at >= 0;
	int index = (int)b->insts.len;

	if (!emit(b, at, op, bound ? to->at : to->chain))
		return false;
	if (dead || bound)
		return true;
	to->chain = index;
	to->depth = op == CODE_FOR_ITER ? b->depth - 2 : b->depth;
	return true;
}

void label_bind(struct builder *b, struct label *label)
{
	int next;

	label->at = (int)b->insts.len;
	if (label->chain < 0) /* only what follows jumps here, or falls in */
		return;
	assert(b->dead || b->depth == label->depth);
	b->dead = false;
	b->depth = label->depth;
	for (int i = label->chain; i >= 0; i = next) {
		next = b->insts.at[i].arg;
		b->insts.at[i].arg = label->at;
	}
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

bool emit_const(struct builder *b, struct place at, struct lang_const value)
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
	return emit(b, at, CODE_LOAD_CONST, i);
}

bool emit_name(struct builder *b, struct place at, enum code_op op, const char *name)
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

/* Names of locals and cells, and which parameter each cell takes over. */
static bool fill_variables(struct builder *b, struct code *code)
{
	const struct scope *scope = b->scope;
	const char **locals, **cells;
	int *cell_local;

	if (scope->kind == SCOPE_MODULE)
		return true;
	locals = ARENA_ARRAY(b->c->program, const char *, (size_t)scope->n_locals);
	cells = ARENA_ARRAY(b->c->program, const char *, (size_t)scope->n_cells);
	cell_local = ARENA_ARRAY(b->c->program, int, (size_t)scope->n_own_cells);
	if (!locals || !cells || !cell_local)
		return false;
	for (int i = 0; i < scope->n_symbols; i++) {
		const struct symbol *symbol = &scope->symbols[i];

		if (symbol->parameter >= 0)
			locals[symbol->parameter] = symbol->name;
		if (symbol->kind == SYMBOL_LOCAL)
			locals[symbol->index] = symbol->name;
		if (symbol->kind == SYMBOL_CELL)
			cell_local[symbol->index] = symbol->parameter;
		if (symbol->kind == SYMBOL_CELL || symbol->kind == SYMBOL_FREE)
			cells[symbol->index] = symbol->name;
	}
	code->locals = locals;
	code->cells = cells;
	code->cell_local = cell_local;
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
	code->n_insts = (int)b->insts.len;
	code->n_consts = (int)b->consts.len;
	code->n_names = (int)b->names.len;
	code->n_nested = (int)b->nested.len;
	code->stack_depth = b->deepest;
	code->insts = copy(b, b->insts.at, b->insts.len, sizeof(*b->insts.at));
	code->consts = copy(b, b->consts.at, b->consts.len, sizeof(*b->consts.at));
	code->names = copy(b, b->names.at, b->names.len, sizeof(*b->names.at));
	code->nested = copy(b, b->nested.at, b->nested.len, sizeof(*b->nested.at));
	if (!code->insts || !code->consts || !code->names || !code->nested) {
		out_of_memory(b);
		return NULL;
	}
	return code;
}
