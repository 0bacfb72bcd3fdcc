/* fusion/graph/sym.c -- symbolic integers in canonical form, interned.
 *
 * The form: a sum is left-nested ADD of terms, the constant last; a term is
 * MUL(constant, product) or a product; a product is left-nested MUL of atoms
 * in order; an atom is a symbol, //, %, max or min.  sympoly.c computes on
 * that form as polynomials; here are interning, evaluation and printing.
 */
#include "fusion/graph/sympoly.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

struct symtab {
	struct arena *arena;
	const struct sym **slots; /* open addressing, a power of two */
	size_t cap, len;
	const struct sym **vars;
	int64_t *hints;
	int n_vars, cap_vars;
	struct symreal_table reals;
};

struct symreal_table *sym_reals(struct symtab *t)
{
	return &t->reals;
}

struct arena *sym_arena(struct symtab *t)
{
	return t->arena;
}

const int64_t *sym_hints(const struct symtab *t)
{
	return t->hints;
}

struct symtab *symtab_create(struct arena *arena)
{
	struct symtab *t = ARENA_NEW(arena, struct symtab);

	if (!t)
		return NULL;
	t->arena = arena;
	t->cap = FIRST_SLOTS;
	t->slots = ARENA_ARRAY(arena, const struct sym *, t->cap);
	return t->slots ? t : NULL;
}

static size_t slot_of(const struct symtab *t, enum sym_kind kind, int64_t value,
		      const struct sym *a, const struct sym *b)
{
	uint64_t h = (uint64_t)kind * 0x9e3779b97f4a7c15u ^ (uint64_t)value;

	h = (h ^ (uintptr_t)a) * 0xff51afd7ed558ccdu;
	h = (h ^ h >> 32 ^ (uintptr_t)b) * 0xc4ceb9fe1a85ec53u;
	return (size_t)(h ^ h >> 29) & (t->cap - 1);
}

/* The slot that holds the expression, or the free one where it belongs. */
static size_t slot_find(const struct symtab *t, enum sym_kind kind, int64_t value,
			const struct sym *a, const struct sym *b)
{
	size_t i = slot_of(t, kind, value, a, b);
	const struct sym *s;

	for (; (s = t->slots[i]); i = (i + 1) & (t->cap - 1))
		if (s->kind == kind && s->value == value && s->a == a && s->b == b)
			break;
	return i;
}

static bool grow(struct symtab *t)
{
	const struct sym **old = t->slots;
	size_t old_cap = t->cap;
	const struct sym **slots = ARENA_ARRAY(t->arena, const struct sym *, old_cap * 2);

	if (!slots)
		return false;
	t->slots = slots;
	t->cap = old_cap * 2;
	for (size_t i = 0; i < old_cap; i++) {
		const struct sym *s = old[i];

		if (s)
			t->slots[slot_find(t, s->kind, s->value, s->a, s->b)] = s;
	}
	return true;
}

const struct sym *sym_intern(struct symtab *t, enum sym_kind kind, int64_t value,
			     const struct sym *a, const struct sym *b)
{
	size_t i = slot_find(t, kind, value, a, b);
	int nodes = 1 + (a ? a->nodes : 0) + (b ? b->nodes : 0);
	struct sym *s;

	if (t->slots[i])
		return t->slots[i];
	if (nodes > SYM_MAX_NODES)
		return NULL;
	if (t->len * 2 >= t->cap) {
		if (!grow(t))
			return NULL;
		i = slot_find(t, kind, value, a, b);
	}
	s = ARENA_NEW(t->arena, struct sym);
	if (!s)
		return NULL;
	*s = (struct sym){ .kind = kind, .value = value, .a = a, .b = b, .nodes = nodes };
	s->lower = sym_lower_bound(s);
	t->slots[i] = s;
	t->len++;
	return s;
}

const struct sym *sym_const(struct symtab *t, int64_t value)
{
	return sym_intern(t, SYM_CONST, value, NULL, NULL);
}

static bool grow_vars(struct symtab *t)
{
	int cap = t->cap_vars ? t->cap_vars * 2 : 8;
	const struct sym **vars = ARENA_ARRAY(t->arena, const struct sym *, (size_t)cap);
	int64_t *hints = ARENA_ARRAY(t->arena, int64_t, (size_t)cap);

	if (!vars || !hints)
		return false;
	if (t->n_vars) {
		memcpy(vars, t->vars, sizeof(vars[0]) * (size_t)t->n_vars);
		memcpy(hints, t->hints, sizeof(hints[0]) * (size_t)t->n_vars);
	}
	t->vars = vars;
	t->hints = hints;
	t->cap_vars = cap;
	return true;
}

const struct sym *sym_var_from(struct symtab *t, int64_t hint, int64_t lower)
{
	struct sym *s;

	if (t->n_vars == t->cap_vars && !grow_vars(t))
		return NULL;
	s = ARENA_NEW(t->arena, struct sym);
	if (!s)
		return NULL;
	*s = (struct sym){ .kind = SYM_VAR, .value = t->n_vars, .lower = lower, .nodes = 1 };
	t->vars[t->n_vars] = s;
	t->hints[t->n_vars++] = hint;
	return s;
}

const struct sym *sym_var(struct symtab *t, int64_t hint)
{
	return sym_var_from(t, hint, 2);
}

const struct sym *sym_var_at(const struct symtab *t, int index)
{
	return t->vars[index];
}

int sym_var_count(const struct symtab *t)
{
	return t->n_vars;
}

int64_t sym_var_hint(const struct symtab *t, int index)
{
	return t->hints[index];
}

bool sym_fits(const struct sym *s, const int64_t *vars)
{
	int64_t a, b, out;

	if (s->kind == SYM_CONST || s->kind == SYM_VAR || s->kind == SYM_WHOLE)
		return true;
	if (!sym_fits(s->a, vars) || !sym_fits(s->b, vars))
		return false;
	if (s->kind != SYM_ADD && s->kind != SYM_MUL)
		return true;
	a = sym_eval(s->a, vars);
	b = sym_eval(s->b, vars);
	return s->kind == SYM_ADD ? !__builtin_add_overflow(a, b, &out)
				  : !__builtin_mul_overflow(a, b, &out);
}

bool sym_hint_fits(const struct symtab *t, const struct sym *s)
{
	return sym_fits(s, t->hints);
}

bool sym_has_number(const struct sym *s)
{
	if (s->kind == SYM_WHOLE)
		return true;
	if (s->kind == SYM_CONST || s->kind == SYM_VAR)
		return s->kind == SYM_VAR && s->lower == INT64_MIN;
	return sym_has_number(s->a) || sym_has_number(s->b);
}

int64_t sym_eval(const struct sym *s, const int64_t *vars)
{
	int64_t a, b, out;

	if (s->kind == SYM_CONST)
		return s->value;
	if (s->kind == SYM_VAR)
		return vars[s->value];
	if (s->kind == SYM_WHOLE)
		return symreal_eval_whole(s, vars);
	a = sym_eval(s->a, vars);
	b = sym_eval(s->b, vars);
	switch (s->kind) {
	case SYM_ADD:
		return __builtin_add_overflow(a, b, &out) ? INT64_MAX : out;
	case SYM_MUL:
		return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
	case SYM_FLOORDIV:
		return int_floordiv(a, b);
	case SYM_MOD:
		return int_mod(a, b);
	case SYM_MAX:
		return a > b ? a : b;
	default:
		return a < b ? a : b;
	}
}

int64_t sym_hint(const struct symtab *t, const struct sym *s)
{
	return sym_eval(s, t->hints);
}

const struct sym *sym_copy(struct symtab *to, const struct sym *s)
{
	const struct sym *a, *b;

	if (s->kind == SYM_CONST)
		return sym_const(to, s->value);
	if (s->kind == SYM_VAR)
		return to->vars[s->value];
	if (s->kind == SYM_WHOLE)
		return symreal_whole(to, symreal_way(s), symreal_copy(to, s->real));
	a = sym_copy(to, s->a); /* canonical there too: the order knows no table */
	b = sym_copy(to, s->b);
	return a && b ? sym_intern(to, s->kind, 0, a, b) : NULL;
}

void sym_each_var(const struct sym *s, void (*visit)(void *self, int var), void *self)
{
	if (s->kind == SYM_VAR)
		visit(self, (int)s->value);
	if (s->kind == SYM_WHOLE)
		symreal_each_var(s->real, visit, self);
	if (s->a)
		sym_each_var(s->a, visit, self);
	if (s->b)
		sym_each_var(s->b, visit, self);
}
