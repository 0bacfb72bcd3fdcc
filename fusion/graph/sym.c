/* fusion/graph/sym.c -- symbolic integers in canonical form, interned.
 *
 * The form: a sum is left-nested ADD of terms, the constant last; a term is
 * MUL(constant, product) or a product; a product is left-nested MUL of atoms
 * in order; an atom is a symbol, //, %, max or min.
 */
#include "fusion/graph/symtab.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

/* Python's // and %; 0 where b is 0. */
static int64_t int_floordiv(int64_t a, int64_t b)
{
	if (b == 0)
		return 0;
	if (b == -1)
		return a == INT64_MIN ? INT64_MAX : -a;
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t int_mod(int64_t a, int64_t b)
{
	int64_t r;

	if (b == 0 || b == -1)
		return 0;
	r = a % b;
	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t mul_saturated(int64_t a, int64_t b)
{
	int64_t out;

	return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

static int64_t add_saturated(int64_t a, int64_t b)
{
	int64_t out;

	return __builtin_add_overflow(a, b, &out) ? INT64_MAX : out;
}

static int64_t lower_of_product(int64_t a, int64_t b)
{
	return a >= 0 && b >= 0 ? mul_saturated(a, b) : INT64_MIN;
}

/* The lower bound that follows from the members' bounds. */
static int64_t sym_lower_bound(const struct sym *s)
{
	int64_t a = s->a ? s->a->lower : 0, b = s->b ? s->b->lower : 0;

	switch (s->kind) {
	case SYM_CONST:
		return s->value;
	case SYM_VAR:
		return s->lower;
	case SYM_ADD:
		return a == INT64_MIN || b == INT64_MIN ? INT64_MIN : add_saturated(a, b);
	case SYM_MUL:
		return lower_of_product(a, b);
	case SYM_FLOORDIV:
		if (a < 0 || b < 1)
			return INT64_MIN;
		return s->b->kind == SYM_CONST ? a / b : 0;
	case SYM_MOD:
		return b >= 1 ? 0 : INT64_MIN;
	case SYM_MAX:
		return a > b ? a : b;
	case SYM_WHOLE: /* symreal_whole() knows */
		return INT64_MIN;
	default:
		return a < b ? a : b;
	}
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

/* ---- arithmetic, as polynomials
 *
 * An expression is taken apart into terms (coefficient times a product of
 * atoms), computed on, and put together in the one canonical order.  The order
 * looks at structure alone, never at addresses, so it is the same everywhere. */

enum { MAX_TERMS = 32, MAX_FACTORS = 16, MAX_DIVISION_STEPS = 64 };

struct term {
	int64_t coef;
	int n; /* atoms; 0: the constant */
	const struct sym *atom[MAX_FACTORS];
};

struct poly {
	int n; /* sorted: compare_products; no coefficient is 0 */
	struct term term[MAX_TERMS];
};

static int compare(const struct sym *a, const struct sym *b)
{
	int c;

	if (a == b)
		return 0;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->kind == SYM_CONST || a->kind == SYM_VAR || a->kind == SYM_WHOLE)
		return a->value < b->value ? -1 : a->value > b->value;
	c = compare(a->a, b->a);
	return c ? c : compare(a->b, b->b);
}

/* Longer products first, the constant last. */
static int compare_products(const struct term *x, const struct term *y)
{
	int c;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	for (int i = 0; i < x->n; i++)
		if ((c = compare(x->atom[i], y->atom[i])))
			return c;
	return 0;
}

/* p += x; false when p is full. */
static bool add_term(struct poly *p, const struct term *x)
{
	int i, c = 1;

	if (x->coef == 0)
		return true;
	for (i = 0; i < p->n && (c = compare_products(&p->term[i], x)) < 0; i++)
		;
	if (i < p->n && c == 0) {
		p->term[i].coef = add_saturated(p->term[i].coef, x->coef);
		if (p->term[i].coef == 0) {
			p->n--;
			for (; i < p->n; i++)
				p->term[i] = p->term[i + 1];
		}
		return true;
	}
	if (p->n == MAX_TERMS)
		return false;
	for (int j = p->n++; j > i; j--)
		p->term[j] = p->term[j - 1];
	p->term[i] = *x;
	return true;
}

static bool add_constant(struct poly *p, int64_t value)
{
	return add_term(p, &(struct term){ .coef = value });
}

static bool multiply_terms(const struct term *x, const struct term *y, struct term *out)
{
	int i = 0, j = 0;

	if (x->n + y->n > MAX_FACTORS)
		return false;
	out->coef = mul_saturated(x->coef, y->coef);
	for (out->n = 0; i < x->n || j < y->n; out->n++) {
		bool left = j == y->n || (i < x->n && compare(x->atom[i], y->atom[j]) <= 0);

		out->atom[out->n] = left ? x->atom[i++] : y->atom[j++];
	}
	return true;
}

/* p += factor * q */
static bool add_product(struct poly *p, const struct term *factor, const struct poly *q)
{
	struct term x;

	for (int i = 0; i < q->n; i++)
		if (!multiply_terms(factor, &q->term[i], &x) || !add_term(p, &x))
			return false;
	return true;
}

static bool product_into(const struct sym *s, struct term *out)
{
	if (s->kind == SYM_MUL)
		return product_into(s->a, out) && product_into(s->b, out);
	if (s->kind == SYM_CONST) {
		out->coef = mul_saturated(out->coef, s->value);
		return true;
	}
	if (out->n == MAX_FACTORS)
		return false;
	out->atom[out->n++] = s;
	return true;
}

/* p += s, taken apart. */
static bool take_apart(const struct sym *s, struct poly *p)
{
	struct term x = { .coef = 1 };

	if (s->kind == SYM_ADD)
		return take_apart(s->a, p) && take_apart(s->b, p);
	return product_into(s, &x) && add_term(p, &x);
}

static const struct sym *term_sym(struct symtab *t, const struct term *x)
{
	const struct sym *s;

	if (x->n == 0)
		return sym_const(t, x->coef);
	s = x->atom[0];
	for (int i = 1; s && i < x->n; i++)
		s = sym_intern(t, SYM_MUL, 0, s, x->atom[i]);
	if (s && x->coef != 1) {
		const struct sym *coef = sym_const(t, x->coef);

		s = coef ? sym_intern(t, SYM_MUL, 0, coef, s) : NULL;
	}
	return s;
}

static const struct sym *put_together(struct symtab *t, const struct poly *p)
{
	const struct sym *sum, *x;

	if (p->n == 0)
		return sym_const(t, 0);
	sum = term_sym(t, &p->term[0]);
	for (int i = 1; sum && i < p->n; i++) {
		x = term_sym(t, &p->term[i]);
		sum = x ? sym_intern(t, SYM_ADD, 0, sum, x) : NULL;
	}
	return sum;
}

const struct sym *sym_add(struct symtab *t, const struct sym *a, const struct sym *b)
{
	struct poly p;

	if (!a || !b)
		return NULL;
	if (sym_is_const(a) && sym_is_const(b))
		return sym_const(t, add_saturated(a->value, b->value));
	p.n = 0;
	return take_apart(a, &p) && take_apart(b, &p) ? put_together(t, &p) : NULL;
}

const struct sym *sym_sub(struct symtab *t, const struct sym *a, const struct sym *b)
{
	const struct sym *minus = sym_const(t, -1);

	return a == b && a ? sym_const(t, 0) : sym_add(t, a, sym_mul(t, minus, b));
}

const struct sym *sym_mul(struct symtab *t, const struct sym *a, const struct sym *b)
{
	struct poly p, x, y;

	if (!a || !b)
		return NULL;
	if (sym_is_const(a) && sym_is_const(b))
		return sym_const(t, mul_saturated(a->value, b->value));
	if (sym_is(a, 1))
		return b;
	if (sym_is(b, 1))
		return a;
	p.n = x.n = y.n = 0;
	if (!take_apart(a, &x) || !take_apart(b, &y))
		return NULL;
	for (int i = 0; i < x.n; i++)
		if (!add_product(&p, &x.term[i], &y))
			return NULL;
	return put_together(t, &p);
}

/* out = x / y where that is exact. */
static bool divide_terms(const struct term *x, const struct term *y, struct term *out)
{
	int j = 0;

	if (int_mod(x->coef, y->coef) != 0)
		return false;
	out->coef = int_floordiv(x->coef, y->coef);
	out->n = 0;
	for (int i = 0; i < x->n; i++) {
		if (j < y->n && x->atom[i] == y->atom[j])
			j++;
		else
			out->atom[out->n++] = x->atom[i];
	}
	return j == y->n;
}

/* Finds q, r with a = q*b + r, an identity of integers, so that
 * a // b = q + r // b and a % b = r % b.  q takes all that divides exactly. */
static bool divide(const struct poly *a, const struct poly *b, struct poly *q, struct poly *r)
{
	struct poly work = *a;
	struct term x, minus;

	q->n = r->n = 0;
	for (int step = 0; work.n > 0; step++) {
		if (step == MAX_DIVISION_STEPS)
			return false;
		if (divide_terms(&work.term[0], &b->term[0], &x)) {
			minus = x;
			minus.coef = mul_saturated(-1, x.coef);
			if (!add_term(q, &x) || !add_product(&work, &minus, b))
				return false;
			continue;
		}
		if (!add_term(r, &work.term[0]))
			return false;
		work.n--;
		for (int i = 0; i < work.n; i++)
			work.term[i] = work.term[i + 1];
	}
	if (b->n > 1 && r->n > 0) { /* 1 + (-1)//(s0 + 1) is no simpler than s0//(s0 + 1) */
		*r = *a;
		q->n = 0;
	}
	return true;
}

/* The constant left over is brought into [0, divisor): (s0 + 5)//2 is
 * 2 + (s0 + 1)//2. */
static bool reduce_constant(struct poly *q, struct poly *r, const struct poly *b)
{
	int64_t value, divisor = b->term[0].coef;

	if (b->n != 1 || b->term[0].n != 0 || divisor < 1 || r->n == 0 || r->term[r->n - 1].n != 0)
		return true;
	value = r->term[r->n - 1].coef;
	return add_constant(q, int_floordiv(value, divisor)) &&
	       add_constant(r, mul_saturated(-divisor, int_floordiv(value, divisor)));
}

/* What is left of a // b or a % b once the exact part is out. */
static const struct sym *rest_of_division(struct symtab *t, enum sym_kind kind, const struct sym *r,
					  const struct sym *b)
{
	const struct sym *gap = sym_sub(t, b, r);

	if (sym_is_const(r) && sym_is_const(b))
		return sym_const(t, kind == SYM_MOD ? int_mod(r->value, b->value)
						    : int_floordiv(r->value, b->value));
	if (gap && r->lower >= 0 && gap->lower > 0) /* 0 <= r < b */
		return kind == SYM_MOD ? r : sym_const(t, 0);
	if (kind == SYM_FLOORDIV && r->kind == SYM_FLOORDIV && r->b->lower > 0 && b->lower > 0)
		return sym_floordiv(t, r->a, sym_mul(t, r->b, b));
	return sym_intern(t, kind, 0, r, b);
}

static const struct sym *division(struct symtab *t, enum sym_kind kind, const struct sym *a,
				  const struct sym *b)
{
	struct poly x, y, q, r;
	const struct sym *rest;

	if (!a || !b)
		return NULL;
	if (sym_is(b, 0))
		return b;
	x.n = y.n = 0;
	if (!take_apart(a, &x) || !take_apart(b, &y) || !divide(&x, &y, &q, &r) ||
	    !reduce_constant(&q, &r, &y))
		return NULL;
	rest = put_together(t, &r);
	if (!rest)
		return NULL;
	rest = rest_of_division(t, kind, rest, b);
	return kind == SYM_MOD ? rest : sym_add(t, put_together(t, &q), rest);
}

const struct sym *sym_floordiv(struct symtab *t, const struct sym *a, const struct sym *b)
{
	return division(t, SYM_FLOORDIV, a, b);
}

const struct sym *sym_mod(struct symtab *t, const struct sym *a, const struct sym *b)
{
	return division(t, SYM_MOD, a, b);
}

static bool never_negative(struct symtab *t, const struct sym *gap, int depth);

/* The term number i of the gap is m * (x // c) or m * (x % c) with c a constant
 * above 0: the gap is not negative if what is left with the bound in the term's
 * place is not.  c * (x // c) lies from x - c + 1 to x, x % c from 0 to c - 1. */
static bool bounded_without(struct symtab *t, const struct poly *gap, int i, int depth)
{
	const struct sym *atom = gap->term[i].atom[0], *x = atom->a;
	int64_t m = gap->term[i].coef, c = atom->b->value;
	struct poly rest = *gap;
	const struct sym *sum, *bound;

	for (int j = i; j + 1 < rest.n; j++)
		rest.term[j] = rest.term[j + 1];
	rest.n--;
	sum = put_together(t, &rest);
	if (atom->kind == SYM_MOD) {
		bound = sym_const(t, m > 0 ? 0 : mul_saturated(m, c - 1));
	} else {
		sum = sym_mul(t, sym_const(t, c), sum);
		bound = sym_mul(t, sym_const(t, m), m > 0 ? sym_add(t, x, sym_const(t, 1 - c)) : x);
	}
	sum = sym_add(t, sum, bound);
	return sum && never_negative(t, sum, depth - 1);
}

static bool never_negative(struct symtab *t, const struct sym *gap, int depth)
{
	struct poly p = { 0 };

	if (gap->lower >= 0)
		return true;
	if (depth == 0 || !take_apart(gap, &p))
		return false;
	for (int i = 0; i < p.n; i++) {
		const struct sym *atom = p.term[i].n == 1 ? p.term[i].atom[0] : NULL;

		if (atom && (atom->kind == SYM_FLOORDIV || atom->kind == SYM_MOD) &&
		    atom->b->kind == SYM_CONST && atom->b->value > 0 &&
		    bounded_without(t, &p, i, depth))
			return true;
	}
	return false;
}

bool sym_at_least(struct symtab *t, const struct sym *a, const struct sym *b)
{
	enum { MAX_DEPTH = 3 };
	const struct sym *gap = sym_sub(t, a, b);

	return gap && never_negative(t, gap, MAX_DEPTH);
}

/* max and min: one of the two where it is known which, else an atom whose
 * operands are in order. */
static const struct sym *extreme(struct symtab *t, enum sym_kind kind, const struct sym *a,
				 const struct sym *b)
{
	const struct sym *spare;

	if (!a || !b)
		return NULL;
	if (sym_at_least(t, a, b))
		return kind == SYM_MAX ? a : b;
	if (sym_at_least(t, b, a))
		return kind == SYM_MAX ? b : a;
	if (compare(a, b) > 0) {
		spare = a;
		a = b;
		b = spare;
	}
	if (b->kind == kind && (b->a == a || b->b == a)) /* max(x, max(x, y)) */
		return b;
	if (a->kind == kind && (a->a == b || a->b == b))
		return a;
	return sym_intern(t, kind, 0, a, b);
}

const struct sym *sym_max(struct symtab *t, const struct sym *a, const struct sym *b)
{
	return extreme(t, SYM_MAX, a, b);
}

const struct sym *sym_min(struct symtab *t, const struct sym *a, const struct sym *b)
{
	return extreme(t, SYM_MIN, a, b);
}
