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

static bool is_container(enum value_kind kind)
{
	return kind == VALUE_TUPLE || kind == VALUE_LIST || kind == VALUE_DICT;
}

static bool looked_at(const struct slot *s)
{
	return s->kind == VALUE_TENSOR && s->same_as < 0 && s->touched;
}

/* Kinds and lengths: after these, slots may be read. */
static void add_types(struct maker *m)
{
	const struct slots *s = m->t->slots;

	add(m, (struct guard){ .kind = GUARD_ARGUMENTS, .slot = -1, .number = s->n_args });
	for (int i = 0; i < s->n; i++) {
		if (s->at[i].kind == VALUE_DICT)
			add(m, (struct guard){ .kind = GUARD_KEYS, .slot = i });
		else if (is_container(s->at[i].kind))
			add(m, (struct guard){ .kind = GUARD_LENGTH,
					       .slot = i,
					       .number = s->at[i].n_children });
		else if (s->at[i].kind == VALUE_TENSOR)
			add(m, (struct guard){ .kind = GUARD_TYPE, .slot = i });
		else
			add(m, (struct guard){ .kind = GUARD_VALUE, .slot = i });
	}
}

static void add_size(struct maker *m, int slot, int dim, int *named)
{
	const struct slot *s = &m->t->slots->at[slot];
	int var = m->t->slots->dims[slots_root(m->t->slots, s->first_dim + dim)].var;
	struct guard guard = { .slot = slot, .dim = dim, .number = var };

	if (var < 0) {
		guard.kind = GUARD_SIZE;
		guard.number = s->size[dim];
	} else if (named[var] < 0) {
		guard.kind = GUARD_SYMBOL;
		named[var] = s->first_dim + dim;
	} else {
		guard.kind = GUARD_SAME_SIZE;
	}
	add(m, guard);
}

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

static void add_aliases(struct maker *m)
{
	const struct slots *s = m->t->slots;

	for (int i = 0; i < s->n; i++) {
		if (s->at[i].kind != VALUE_TENSOR)
			continue;
		if (s->at[i].same_as >= 0) {
			add(m, (struct guard){
				   .kind = GUARD_IDENTICAL, .slot = i, .other = s->at[i].same_as });
			continue;
		}
		for (int j = 0; j < s->n; j++)
			if (j != i && s->at[j].kind == VALUE_TENSOR && s->at[j].same_as < 0 &&
			    s->at[i].written && (j > i || !s->at[j].written))
				add(m, (struct guard){
					   .kind = GUARD_DISJOINT, .slot = i, .other = j });
	}
}

static void add_all(struct maker *m, int *named)
{
	const struct slots *s = m->t->slots;

	add_types(m);
	for (int i = 0; i < s->n; i++)
		if (looked_at(&s->at[i]))
			add(m, (struct guard){
				   .kind = GUARD_RANK, .slot = i, .number = s->at[i].rank });
	for (int i = 0; i < s->n; i++)
		for (int d = 0; looked_at(&s->at[i]) && d < s->at[i].rank; d++)
			add_size(m, i, d, named);
	for (int i = 0; i < s->n; i++)
		if (looked_at(&s->at[i]))
			add_layout(m, i);
	add_aliases(m);
	for (size_t i = 0; i < m->t->conditions.len; i++)
		add(m, (struct guard){ .kind = GUARD_CONDITION, .slot = -1, .number = (int64_t)i });
}

bool guards_create(struct guards *g, const struct trace *t, struct arena *arena)
{
	struct maker m = { .g = g, .t = t };
	size_t n_conditions = t->conditions.len;

	g->slots = t->slots;
	g->n_vars = t->n_homes;
	g->homes = ARENA_ARRAY(arena, int, (size_t)g->n_vars + 1);
	g->vars = ARENA_ARRAY(arena, int64_t, (size_t)g->n_vars + 1);
	g->values = ARENA_ARRAY(arena, const struct value *, (size_t)t->slots->n + 1);
	g->conditions = ARENA_ARRAY(arena, struct size_condition, n_conditions + 1);
	if (!g->homes || !g->vars || !g->values || !g->conditions)
		return false;
	if (n_conditions)
		memcpy(g->conditions, t->conditions.at, n_conditions * sizeof(*g->conditions));
	for (int i = 0; i < g->n_vars; i++)
		g->homes[i] = -1;
	add_all(&m, g->homes);
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

static bool identical(const struct tensor *a, const struct tensor *b)
{
	return a == b ||
	       (a->storage == b->storage && a->offset == b->offset && a->dtype == b->dtype &&
		a->rank == b->rank &&
		memcmp(a->size, b->size, sizeof(a->size[0]) * (size_t)a->rank) == 0 &&
		memcmp(a->stride, b->stride, sizeof(a->stride[0]) * (size_t)a->rank) == 0);
}

static bool condition_holds(const struct size_condition *c, const int64_t *vars)
{
	return sizes_compare(c->op, sym_eval(c->a, vars), sym_eval(c->b, vars)) == c->outcome;
}

/* The value of a slot; its parents have been checked. */
static inline const struct value *find(struct guards *g, int slot, const struct value *args)
{
	const struct slot *s = &g->slots->at[slot];
	const struct value *in;

	if (__builtin_expect(s->parent < 0, 1))
		return g->values[slot] = &args[s->index];
	in = g->values[s->parent];
	return g->values[slot] = in->kind == VALUE_DICT ? &in->dict->values[s->index]
							: &in->list->at[s->index];
}

static inline const struct tensor *tensor_of(const struct guards *g, int slot)
{
	return g->values[slot]->tensor->memory;
}

int guards_check(struct guards *g, const struct value *args, int n)
{
	for (int i = 0; i < g->n; i++) {
		const struct guard *at = &g->at[i];
		const struct value *v;
		bool ok = true;

		switch (at->kind) {
		case GUARD_ARGUMENTS:
			ok = n == at->number;
			break;
		case GUARD_TYPE:
			v = find(g, at->slot, args);
			ok = v->kind == VALUE_TENSOR && v->tensor->memory;
			break;
		case GUARD_LENGTH:
			v = find(g, at->slot, args);
			ok = v->kind == g->slots->at[at->slot].kind && v->list->len == at->number;
			break;
		case GUARD_KEYS:
			v = find(g, at->slot, args);
			ok = v->kind == VALUE_DICT &&
			     same_keys(v->dict, g->slots->at[at->slot].value.dict);
			break;
		case GUARD_VALUE:
			ok = same_value(*find(g, at->slot, args), g->slots->at[at->slot].value);
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
			ok = identical(tensor_of(g, at->slot), tensor_of(g, at->other));
			break;
		case GUARD_DISJOINT:
			ok = tensor_of(g, at->slot)->storage != tensor_of(g, at->other)->storage;
			break;
		case GUARD_CONDITION:
			ok = condition_holds(&g->conditions[at->number], g->vars);
			break;
		}
		if (!ok)
			return i;
	}
	return g->n;
}
