/* fusion/runtime/guards.c -- makes guards from a capture, and checks them.
 *
 * A tensor that the program never looked at is guarded by type alone: FX drops
 * such inputs too.  So a symbol is named for the first dim of its class whose
 * tensor was looked at, which need not be the class's root.
 */
#include "fusion/runtime/guards.h"

#include <stdlib.h>
#include <string.h>

struct maker {
	struct guards *g;
	const struct trace *t;
	VEC(struct guard) list;
	bool failed;
};

static void add(struct maker *m, struct guard guard)
{
	if (!VEC_PUSH(&m->list, guard))
		m->failed = true;
}

static bool looked_at(const struct slot *s)
{
	return s->kind == VALUE_TENSOR && s->live && s->same_as < 0 && s->touched;
}

/* How the type of a slot is checked; after that it may be read. */
static struct guard type_guard(const struct slot *s, int slot)
{
	struct guard guard = { .kind = GUARD_VALUE, .slot = slot };

	switch (s->kind) {
	case VALUE_UNSET:
		guard.kind = GUARD_UNSET;
		break;
	case VALUE_TENSOR:
		guard.kind = GUARD_TYPE;
		break;
	case VALUE_TUPLE:
	case VALUE_LIST:
		guard.kind = GUARD_LENGTH;
		guard.number = s->value.list->len;
		break;
	case VALUE_DICT:
		guard.kind = GUARD_KEYS;
		break;
	case VALUE_CELL:
		guard.kind = GUARD_LOAD;
		break;
	case VALUE_SET:
	case VALUE_RANGE:
	case VALUE_SLICE:
		guard.kind = GUARD_EQUAL;
		break;
	case VALUE_FUNCTION:
		guard.kind = GUARD_FUNCTION;
		guard.pointer = s->value.function->code;
		break;
	case VALUE_NATIVE:
		guard.kind = GUARD_NATIVE;
		break;
	case VALUE_MODULE:
		guard.kind = GUARD_MODULE;
		guard.pointer = s->value.object;
		break;
	case VALUE_CLASS:
	case VALUE_DESCRIPTOR:
		guard.kind = GUARD_OBJECT;
		guard.pointer = s->value.object;
		break;
	case VALUE_INSTANCE:
		guard.kind = GUARD_INSTANCE;
		guard.pointer = s->value.instance->class;
		break;
	case VALUE_ITER:
		guard.kind = GUARD_ITERATOR;
		guard.dim = s->value.iter->iter_kind;
		guard.number = s->value.iter->position;
		guard.other = (int)s->value.iter->length;
		break;
	case VALUE_METHOD:
		guard.kind = GUARD_KIND;
		guard.number = s->kind;
		break;
	default:
		break;
	}
	return guard;
}

/* Where a class is a slot of its own, its instances need no pointer to it, but
 * the class may not be another one: its guard says so. */
static void add_type(struct maker *m, int slot)
{
	const struct slot *s = &m->t->slots->at[slot];
	struct guard guard = type_guard(s, slot);

	if (s->var >= 0) {
		guard.kind = GUARD_INT;
		guard.number = s->var;
		m->g->homes[s->var] = (struct guard_home){ .slot = slot, .dim = -1 };
	} else if (s->kind == VALUE_FLOAT && s->symbolic && !s->pinned) {
		guard.kind = GUARD_FLOAT;
	}
	add(m, guard);
}

static void add_size(struct maker *m, int slot, int dim)
{
	const struct slot *s = &m->t->slots->at[slot];
	int var = m->t->slots->dims[slots_root(m->t->slots, s->first_dim + dim)].var;
	struct guard guard = { .slot = slot, .dim = dim, .number = var };

	if (var < 0) {
		guard.kind = GUARD_SIZE;
		guard.number = s->size[dim];
	} else if (m->g->homes[var].slot < 0) {
		guard.kind = GUARD_SYMBOL;
		m->g->homes[var] = (struct guard_home){ .slot = slot, .dim = dim };
	} else {
		guard.kind = GUARD_SAME_SIZE;
	}
	add(m, guard);
}

/* The strides of what is not row-major are constants. */
static void add_layout(struct maker *m, int slot)
{
	const struct slot *s = &m->t->slots->at[slot];
	const struct tensor *t = s->value.tensor->memory;

	add(m, (struct guard){ .kind = GUARD_DTYPE, .slot = slot, .number = s->dtype });
	if (s->contiguous) {
		add(m, (struct guard){ .kind = GUARD_CONTIGUOUS, .slot = slot });
		return;
	}
	for (int d = 0; d < s->rank; d++)
		if (s->size[d] > 1)
			add(m, (struct guard){ .kind = GUARD_STRIDE,
					       .slot = slot,
					       .dim = d,
					       .number = t->stride[d] });
}

/* What may be written to has to be the same thing, or another one, as it was. */
static bool has_identity(const struct slot *s)
{
	return s->live && (s->kind == VALUE_TENSOR || s->kind == VALUE_LIST ||
			   s->kind == VALUE_DICT || s->kind == VALUE_SET || s->kind == VALUE_CELL ||
			   s->kind == VALUE_INSTANCE);
}

static void add_aliases(struct maker *m)
{
	const struct slots *s = m->t->slots;

	for (int i = 0; i < s->n; i++) {
		if (!has_identity(&s->at[i]))
			continue;
		if (s->at[i].same_as >= 0) {
			add(m, (struct guard){
				   .kind = GUARD_IDENTICAL, .slot = i, .other = s->at[i].same_as });
			continue;
		}
		for (int j = 0; s->at[i].written && j < s->n; j++)
			if (j != i && has_identity(&s->at[j]) && s->at[j].kind == s->at[i].kind &&
			    s->at[j].same_as < 0 && (j > i || !s->at[j].written) &&
			    (s->at[i].kind == VALUE_TENSOR ||
			     (s->at[i].access != SLOT_CELL && s->at[j].access != SLOT_CELL)))
				add(m, (struct guard){
					   .kind = GUARD_DISJOINT, .slot = i, .other = j });
	}
}

/* What a program hardly ever changes, and nothing else is read from: its guard
 * comes last. */
static bool is_steady(const struct slots *s, int slot)
{
	const struct slot *at = &s->at[slot];

	if (at->kind != VALUE_MODULE && at->kind != VALUE_FUNCTION && at->kind != VALUE_NATIVE &&
	    at->kind != VALUE_CLASS)
		return false;
	for (int i = 0; i < at->n_children; i++)
		if (s->at[at->first_child + i].live)
			return false;
	return true;
}

static void add_types(struct maker *m, bool steady)
{
	const struct slots *s = m->t->slots;

	for (int i = 0; i < s->n; i++)
		if (s->at[i].live && is_steady(s, i) == steady)
			add_type(m, i);
}

static void add_all(struct maker *m)
{
	const struct slots *s = m->t->slots;

	add_types(m, false);
	for (int i = 0; i < s->n; i++)
		if (looked_at(&s->at[i]))
			add(m, (struct guard){
				   .kind = GUARD_RANK, .slot = i, .number = s->at[i].rank });
	for (int i = 0; i < s->n; i++)
		for (int d = 0; looked_at(&s->at[i]) && d < s->at[i].rank; d++)
			add_size(m, i, d);
	for (int i = 0; i < s->n; i++)
		if (looked_at(&s->at[i]))
			add_layout(m, i);
	add_aliases(m);
	for (size_t i = 0; i < m->t->float_conditions.len; i++) {
		const struct float_condition *c = &m->t->float_conditions.at[i];

		add(m, (struct guard){ .kind = GUARD_COMPARED,
				       .slot = c->slot,
				       .dim = (int)c->op,
				       .number = c->outcome,
				       .with = c->with });
	}
	for (size_t i = 0; i < m->t->conditions.len; i++)
		add(m, (struct guard){ .kind = GUARD_CONDITION, .slot = -1, .number = (int64_t)i });
	add_types(m, true);
}

bool guards_create(struct guards *g, const struct trace *t, struct arena *arena)
{
	struct maker m = { .g = g, .t = t };
	size_t n_conditions = t->conditions.len;

	g->slots = t->slots;
	g->n_vars = (int)t->homes.len;
	g->homes = ARENA_ARRAY(arena, struct guard_home, (size_t)g->n_vars + 1);
	g->vars = ARENA_ARRAY(arena, int64_t, (size_t)g->n_vars + 1);
	g->values = ARENA_ARRAY(arena, struct value, (size_t)t->slots->n + 1);
	g->conditions = ARENA_ARRAY(arena, struct size_condition, n_conditions + 1);
	if (!g->homes || !g->vars || !g->values || !g->conditions)
		return false;
	if (n_conditions)
		memcpy(g->conditions, t->conditions.at, n_conditions * sizeof(*g->conditions));
	for (int i = 0; i < g->n_vars; i++)
		g->homes[i] = (struct guard_home){ .slot = -1, .dim = -1 };
	add_all(&m);
	g->at = ARENA_ARRAY(arena, struct guard, m.list.len + 1);
	g->texts = ARENA_ARRAY(arena, const char *, m.list.len + 1);
	m.failed |= !g->at || !g->texts;
	for (size_t i = 0; i < m.list.len && !m.failed; i++) {
		g->at[i] = m.list.at[i];
		g->texts[i] = guard_text(g, &g->at[i], arena);
		m.failed |= !g->texts[i];
	}
	g->n = (int)m.list.len;
	VEC_FREE(&m.list);
	return !m.failed;
}

/* Exact: True is not 1 here, 0.0 not -0.0, and a NaN equals itself. */
static bool same_value(struct value a, struct value b)
{
	if (a.kind != b.kind)
		return false;
	switch (a.kind) {
	case VALUE_NONE:
		return true;
	case VALUE_BOOL:
		return a.b == b.b;
	case VALUE_DTYPE:
		return a.dtype == b.dtype;
	case VALUE_STR:
		return a.str->len == b.str->len &&
		       memcmp(a.str->text, b.str->text, a.str->len) == 0;
	default:
		return a.i == b.i; /* floats by their bits */
	}
}

static bool same_keys(const struct dict *a, const struct dict *b)
{
	if (a->len != b->len)
		return false;
	for (int i = 0; i < a->len; i++)
		if (a->keys[i].kind != b->keys[i].kind || !value_equal(a->keys[i], b->keys[i]))
			return false;
	return true;
}

static bool identical(struct value a, struct value b)
{
	if (a.kind == VALUE_TENSOR && b.kind == VALUE_TENSOR)
		return slots_same_tensor(a.tensor->memory, b.tensor->memory);
	return a.kind == b.kind && a.object == b.object;
}

static bool same_function(struct value v, const void *code, struct value defaults)
{
	const struct list *now;

	if (v.kind != VALUE_FUNCTION || v.function->code != code)
		return false;
	now = v.function->defaults;
	if (!now || defaults.kind != VALUE_TUPLE || now == defaults.list)
		return true;
	if (now->len != defaults.list->len)
		return false;
	for (int i = 0; i < now->len; i++)
		if (!same_value(now->at[i], defaults.list->at[i]))
			return false;
	return true;
}

static bool same_iterator(struct value v, const struct guard *at)
{
	return v.kind == VALUE_ITER && (int)v.iter->iter_kind == at->dim &&
	       v.iter->position == at->number && (int)v.iter->length == at->other;
}

static bool condition_holds(const struct size_condition *c, const int64_t *vars)
{
	return sizes_compare(c->op, sym_eval(c->a, vars), sym_eval(c->b, vars)) == c->outcome;
}

/* The value of a slot; its parents have been checked. */
static inline struct value load(struct guards *g, int slot, const struct roots *roots)
{
	const struct slot *s = &g->slots->at[slot];

	if (__builtin_expect(s->access == SLOT_LOCAL, 1))
		return g->values[slot] = roots->locals[s->index];
	return g->values[slot] =
		   slot_load(s, s->parent < 0 ? value_none() : g->values[s->parent], roots);
}

static inline const struct tensor *tensor_of(const struct guards *g, int slot)
{
	return g->values[slot].tensor->memory;
}

/* Guards that load a slot and are seldom alone. */
static bool check_object(struct guards *g, const struct guard *at, struct value v)
{
	struct value was = g->slots->at[at->slot].value;

	switch (at->kind) {
	case GUARD_KIND:
		return v.kind == (enum value_kind)at->number;
	case GUARD_UNSET:
		return v.kind == VALUE_UNSET;
	case GUARD_KEYS:
		return v.kind == VALUE_DICT && same_keys(v.dict, was.dict);
	case GUARD_EQUAL:
		return v.kind == was.kind && value_equal(v, was);
	case GUARD_OBJECT:
		return value_counted(v) && v.object == at->pointer;
	case GUARD_FUNCTION:
		return same_function(v, at->pointer, was);
	case GUARD_NATIVE:
		return v.kind == VALUE_NATIVE && v.native->id == was.native->id &&
		       v.native->builtin == was.native->builtin &&
		       strcmp(v.native->name, was.native->name) == 0;
	case GUARD_MODULE:
		return v.kind == VALUE_MODULE && v.object == at->pointer;
	case GUARD_INSTANCE:
		return v.kind == VALUE_INSTANCE && v.instance->class == at->pointer;
	case GUARD_ITERATOR:
		return same_iterator(v, at);
	default:
		return true;
	}
}

int guards_check(struct guards *g, const struct roots *roots)
{
	for (int i = 0; i < g->n; i++) {
		const struct guard *at = &g->at[i];
		struct value v;
		bool ok = true;

		switch (at->kind) {
		case GUARD_TYPE:
			v = load(g, at->slot, roots);
			ok = v.kind == VALUE_TENSOR && v.tensor->memory;
			break;
		case GUARD_LENGTH:
			v = load(g, at->slot, roots);
			ok = v.kind == g->slots->at[at->slot].kind && v.list->len == at->number;
			break;
		case GUARD_VALUE:
			ok = same_value(load(g, at->slot, roots), g->slots->at[at->slot].value);
			break;
		case GUARD_INT:
			v = load(g, at->slot, roots);
			ok = v.kind == VALUE_INT;
			g->vars[at->number] = v.i;
			break;
		case GUARD_FLOAT:
			ok = load(g, at->slot, roots).kind == VALUE_FLOAT;
			break;
		case GUARD_RANK:
			ok = tensor_of(g, at->slot)->rank == at->number;
			break;
		case GUARD_SIZE:
			ok = tensor_of(g, at->slot)->size[at->dim] == at->number;
			break;
		case GUARD_SYMBOL:
			g->vars[at->number] = tensor_of(g, at->slot)->size[at->dim];
			ok = g->vars[at->number] >= 2;
			break;
		case GUARD_SAME_SIZE:
			ok = tensor_of(g, at->slot)->size[at->dim] == g->vars[at->number];
			break;
		case GUARD_DTYPE:
			ok = tensor_of(g, at->slot)->dtype == (enum dtype)at->number;
			break;
		case GUARD_CONTIGUOUS:
			ok = tensor_contiguous(tensor_of(g, at->slot));
			break;
		case GUARD_STRIDE:
			ok = tensor_of(g, at->slot)->stride[at->dim] == at->number;
			break;
		case GUARD_IDENTICAL:
			ok = identical(g->values[at->slot], g->values[at->other]);
			break;
		case GUARD_DISJOINT:
			ok = g->values[at->slot].kind != VALUE_TENSOR
				 ? g->values[at->slot].object != g->values[at->other].object
				 : tensor_of(g, at->slot)->storage != tensor_of(g, at->other)->storage;
			break;
		case GUARD_COMPARED:
			ok = floats_compare((enum cmpop)at->dim, g->values[at->slot].f, at->with) ==
			     (at->number != 0);
			break;
		case GUARD_CONDITION:
			ok = condition_holds(&g->conditions[at->number], g->vars);
			break;
		default:
			ok = check_object(g, at, load(g, at->slot, roots));
			break;
		}
		if (!ok)
			return i;
	}
	return g->n;
}
