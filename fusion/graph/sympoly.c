/* fusion/graph/sympoly.c -- arithmetic of symbolic integers, as polynomials.
 *
 * An expression is taken apart into terms (coefficient times a product of
 * atoms), computed on, and put together in the one canonical order.  The order
 * looks at structure alone, never at addresses, so it is the same everywhere.
 */
#include "fusion/graph/sympoly.h"

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

int64_t int_floordiv(int64_t a, int64_t b)
{
	if (b == 0)
		return 0;
	if (b == -1)
		return a == INT64_MIN ? INT64_MAX : -a;
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t int_mod(int64_t a, int64_t b)
{
	int64_t r;

	if (b == 0 || b == -1)
		return 0;
	r = a % b;
	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static int64_t add_saturated(int64_t a, int64_t b)
{
	int64_t out;

	return __builtin_add_overflow(a, b, &out) ? INT64_MAX : out;
}

static int64_t mul_saturated(int64_t a, int64_t b)
{
	int64_t out;

	return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

static int64_t lower_of_product(int64_t a, int64_t b)
{
	return a >= 0 && b >= 0 ? mul_saturated(a, b) : INT64_MIN;
}

int64_t sym_lower_bound(const struct sym *s)
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
