/* fusion/graph/symreal.c -- symbolic floats: making, bounds, values. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/bits.h"
#include "fusion/graph/symtab.h"

/* No tensor has a dim above this, and a float holds every int below it. */
static const double MOST_SIZE = 0x1p48;

/* Functions of math that are one call of the C library. */
static const struct {
	const char *name;
	double (*one)(double);
	double (*two)(double, double);
} functions[] = {
	{ "sqrt", sqrt, NULL },   { "log", log, NULL },     { "log2", log2, NULL },
	{ "log10", log10, NULL }, { "log1p", log1p, NULL }, { "exp", exp, NULL },
	{ "exp2", exp2, NULL },   { "expm1", expm1, NULL }, { "sin", sin, NULL },
	{ "cos", cos, NULL },     { "tan", tan, NULL },     { "asin", asin, NULL },
	{ "acos", acos, NULL },   { "atan", atan, NULL },   { "sinh", sinh, NULL },
	{ "cosh", cosh, NULL },   { "tanh", tanh, NULL },   { "asinh", asinh, NULL },
	{ "acosh", acosh, NULL }, { "atanh", atanh, NULL }, { "erf", erf, NULL },
	{ "erfc", erfc, NULL },   { "fabs", fabs, NULL },   { "atan2", NULL, atan2 },
	{ "hypot", NULL, hypot }, { "fmod", NULL, fmod },   { "copysign", NULL, copysign },
};

int symreal_function(const char *name, int n_args)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, name) == 0)
			return (functions[i].two != NULL) == (n_args == 2) ? (int)i : -1;
	return -1;
}

const char *symreal_function_name(int function)
{
	return functions[function].name;
}

double real_round(double f, int64_t places)
{
	char text[400];
	double unit;

	if (!isfinite(f) || places > 323)
		return f;
	if (places < -308)
		return copysign(0.0, f);
	if (places >= 0) { /* the C library rounds the exact binary value, as Python does */
		if (snprintf(text, sizeof(text), "%.*f", (int)places, f) < (int)sizeof(text))
			return strtod(text, NULL);
		return f; /* its digits end before that place */
	}
	unit = pow(10.0, (double)-places);
	return nearbyint(f / unit) * unit;
}

void real_divmod(double a, double b, double *quotient, double *remainder)
{
	double mod = fmod(a, b), div = (a - mod) / b, whole;

	if (mod != 0) {
		if ((b < 0) != (mod < 0)) {
			mod += b;
			div -= 1.0;
		}
	} else {
		mod = copysign(0.0, b);
	}
	if (div != 0) {
		whole = floor(div);
		if (div - whole > 0.5)
			whole += 1.0;
	} else {
		whole = copysign(0.0, a / b);
	}
	*quotient = whole;
	*remainder = mod;
}

/* ---- bounds ---- */

/* The size of an int is never above it. */
static double most_of_int(const struct sym *s)
{
	double a, b;

	switch (s->kind) {
	case SYM_CONST:
		return fabs((double)s->value);
	case SYM_VAR: /* a size, or any int */
		return s->lower >= 2 ? MOST_SIZE : 0x1p63;
	case SYM_WHOLE:
		return s->real->most + 1;
	default:
		break;
	}
	a = most_of_int(s->a);
	b = most_of_int(s->b);
	switch (s->kind) {
	case SYM_ADD:
		return a + b;
	case SYM_MUL:
		return a * b;
	case SYM_MOD:
		return b;
	case SYM_FLOORDIV:
		return a + 1;
	default:
		return fmax(a, b);
	}
}

static double lower_of_int(const struct sym *s)
{
	return s->lower == INT64_MIN ? -INFINITY : (double)s->lower;
}

static bool is_named(const struct symreal *r, const char *name)
{
	return r->kind == REAL_FUNCTION && strcmp(functions[r->index].name, name) == 0;
}

/* log, log2, log10 */
static bool is_logarithm(const struct symreal *r)
{
	return is_named(r, "log") || is_named(r, "log2") || is_named(r, "log10");
}

static void bound_function(struct symreal *r)
{
	if (is_named(r, "sqrt") && r->a->lower >= 0) {
		r->lower = sqrt(r->a->lower);
		r->most = sqrt(r->a->most) + 1;
	}
	if (is_logarithm(r) && r->a->lower >= 1) {
		r->lower = 0;
		r->most = 1024; /* log2 of the largest double */
	}
}

/* A quotient of what is at least 0 and what is above 0. */
static void bound_quotient(struct symreal *r, double lower_a, double most_a, double lower_b)
{
	if (lower_b <= 0)
		return;
	if (lower_a >= 0)
		r->lower = 0;
	r->most = most_a / lower_b;
}

static void find_bounds(struct symreal *r)
{
	r->lower = -INFINITY;
	r->most = INFINITY;
	switch (r->kind) {
	case REAL_CONST:
		r->lower = isnan(r->value) ? -INFINITY : r->value;
		r->most = isnan(r->value) ? INFINITY : fabs(r->value);
		return;
	case REAL_INT:
		r->lower = lower_of_int(r->x);
		r->most = most_of_int(r->x);
		return;
	case REAL_RATIO:
		bound_quotient(r, lower_of_int(r->x), most_of_int(r->x), lower_of_int(r->y));
		return;
	case REAL_ADD:
		r->lower = r->a->lower + r->b->lower;
		r->most = r->a->most + r->b->most;
		return;
	case REAL_SUB:
		r->most = r->a->most + r->b->most;
		return;
	case REAL_MUL:
		if (r->a->lower >= 0 && r->b->lower >= 0)
			r->lower = r->a->lower * r->b->lower;
		if (isfinite(r->a->most) && isfinite(r->b->most))
			r->most = r->a->most * r->b->most;
		return;
	case REAL_DIV:
	case REAL_FLOORDIV:
		bound_quotient(r, r->a->lower, r->a->most, r->b->lower);
		r->most += r->kind == REAL_FLOORDIV;
		return;
	case REAL_POW:
		if (r->a->lower >= 1 && r->b->kind == REAL_CONST) {
			r->lower = 0;
			r->most = pow(r->a->most, fabs(r->b->value));
		}
		return;
	case REAL_FUNCTION:
		bound_function(r);
		return;
	default:
		return;
	}
}

/* ---- making ---- */

static bool same(const struct symreal *a, const struct symreal *b)
{
	return a->kind == b->kind && a->index == b->index && a->x == b->x && a->y == b->y &&
	       a->a == b->a && a->b == b->b && same_double(a->value, b->value);
}

static unsigned bucket_of(const struct symreal *r)
{
	uint64_t h = (uint64_t)r->kind * 31 + (uint64_t)(unsigned)r->index, bits;

	memcpy(&bits, &r->value, sizeof(bits));
	h = (h ^ bits ^ (uintptr_t)r->x ^ (uintptr_t)r->y << 1) * 0x9e3779b97f4a7c15u;
	h = (h ^ (uintptr_t)r->a ^ (uintptr_t)r->b << 1) * 0xff51afd7ed558ccdu;
	return (unsigned)(h >> 40) % REAL_BUCKETS;
}

static const struct symreal *intern(struct symtab *t, struct symreal r)
{
	struct symreal_table *table = &t->reals;
	struct symreal_entry **bucket = &table->buckets[bucket_of(&r)], *e;

	for (e = *bucket; e; e = e->next)
		if (same(&e->real, &r))
			return &e->real;
	find_bounds(&r);
	r.nodes = 1 + (r.x ? r.x->nodes : 0) + (r.y ? r.y->nodes : 0) + (r.a ? r.a->nodes : 0) +
		  (r.b ? r.b->nodes : 0);
	if (r.nodes > SYM_MAX_NODES)
		return NULL;
	e = ARENA_NEW(t->arena, struct symreal_entry);
	if (!e)
		return NULL;
	r.serial = table->n++;
	e->real = r;
	e->next = *bucket;
	*bucket = e;
	return &e->real;
}

const struct symreal *symreal_const(struct symtab *t, double value)
{
	return intern(t, (struct symreal){ .kind = REAL_CONST, .value = value });
}

const struct symreal *symreal_var(struct symtab *t, const struct sym *var)
{
	if (!var)
		return NULL;
	return intern(t, (struct symreal){ .kind = REAL_VAR, .index = (int)var->value });
}

const struct symreal *symreal_int(struct symtab *t, const struct sym *x)
{
	if (!x)
		return NULL;
	if (sym_is_const(x))
		return symreal_const(t, (double)x->value);
	return intern(t, (struct symreal){ .kind = REAL_INT, .x = x });
}

const struct symreal *symreal_ratio(struct symtab *t, const struct sym *x, const struct sym *y)
{
	if (!x || !y)
		return NULL;
	return intern(t, (struct symreal){ .kind = REAL_RATIO, .x = x, .y = y });
}

const struct symreal *symreal_binary(struct symtab *t, enum symreal_kind kind,
				     const struct symreal *a, const struct symreal *b)
{
	if (!a || !b)
		return NULL;
	return intern(t, (struct symreal){ .kind = kind, .a = a, .b = b });
}

const struct symreal *symreal_round(struct symtab *t, const struct symreal *a, int places)
{
	if (!a)
		return NULL;
	return intern(t, (struct symreal){ .kind = REAL_ROUND, .index = places, .a = a });
}

const struct symreal *symreal_call(struct symtab *t, int function, const struct symreal *a,
				   const struct symreal *b)
{
	if (!a || (functions[function].two && !b))
		return NULL;
	return intern(t,
		      (struct symreal){ .kind = REAL_FUNCTION, .index = function, .a = a, .b = b });
}

/* ---- values ---- */

static bool exact(int64_t i)
{
	return i >= -((int64_t)1 << 53) && i <= (int64_t)1 << 53;
}

double real_ratio(int64_t x, int64_t y)
{
	if (exact(x) && exact(y)) /* rounded once */
		return (double)x / (double)y;
	return (double)((long double)x / (long double)y);
}

static double binary(enum symreal_kind kind, double a, double b)
{
	double quotient, remainder;

	switch (kind) {
	case REAL_ADD:
		return a + b;
	case REAL_SUB:
		return a - b;
	case REAL_MUL:
		return a * b;
	case REAL_DIV:
		return a / b;
	case REAL_POW:
		return pow(a, b);
	default:
		if (b == 0)
			return NAN;
		real_divmod(a, b, &quotient, &remainder);
		return kind == REAL_MOD ? remainder : quotient;
	}
}

double real_apply(enum symreal_kind kind, int function, double a, double b)
{
	if (kind == REAL_ROUND)
		return real_round(a, (int64_t)b);
	if (kind != REAL_FUNCTION)
		return binary(kind, a, b);
	return functions[function].one ? functions[function].one(a) : functions[function].two(a, b);
}

double symreal_eval(const struct symreal *r, const int64_t *vars)
{
	double a, b, out;

	switch (r->kind) {
	case REAL_CONST:
		return r->value;
	case REAL_VAR:
		memcpy(&out, &vars[r->index], sizeof(out));
		return out;
	case REAL_INT:
		return (double)sym_eval(r->x, vars);
	case REAL_RATIO:
		return real_ratio(sym_eval(r->x, vars), sym_eval(r->y, vars));
	default:
		break;
	}
	a = symreal_eval(r->a, vars);
	if (r->kind == REAL_ROUND)
		return real_round(a, r->index);
	if (r->kind == REAL_FUNCTION && !r->b)
		return functions[r->index].one(a);
	b = symreal_eval(r->b, vars);
	if (r->kind == REAL_FUNCTION)
		return functions[r->index].two(a, b);
	return binary(r->kind, a, b);
}

double symreal_hint(const struct symtab *t, const struct symreal *r)
{
	return symreal_eval(r, t->hints);
}

static double whole(enum symreal_whole how, double f)
{
	switch (how) {
	case WHOLE_FLOOR:
		return floor(f);
	case WHOLE_CEIL:
		return ceil(f);
	case WHOLE_ROUND:
		return nearbyint(f);
	default:
		return trunc(f);
	}
}

int64_t symreal_eval_whole(const struct sym *s, const int64_t *vars)
{
	double f = whole(symreal_way(s), symreal_eval(s->real, vars));

	if (!(f >= -0x1p63)) /* NaN too: a guard has refused these */
		return INT64_MIN;
	return f >= 0x1p63 ? INT64_MAX : (int64_t)f;
}

/* A quotient of sizes rounds exactly as // does: both are below 2**53. */
static const struct sym *whole_of_ratio(struct symtab *t, enum symreal_whole how,
					const struct symreal *r)
{
	const struct sym *minus = sym_const(t, -1);

	if (r->y->lower < 1 || most_of_int(r->x) > 0x1p53 || most_of_int(r->y) > 0x1p53)
		return NULL;
	if (how == WHOLE_FLOOR || (how == WHOLE_TRUNC && r->x->lower >= 0))
		return sym_floordiv(t, r->x, r->y);
	if (how == WHOLE_CEIL && minus)
		return sym_mul(t, minus, sym_floordiv(t, sym_mul(t, minus, r->x), r->y));
	return NULL;
}

const struct sym *symreal_whole(struct symtab *t, enum symreal_whole how, const struct symreal *r)
{
	struct symreal_entry *e = (struct symreal_entry *)r; /* its first member */
	const struct sym *found = NULL;
	struct sym *made;

	if (!r || r->nodes >= SYM_MAX_NODES)
		return NULL;
	if (r->kind == REAL_INT)
		return r->x;
	if (r->kind == REAL_RATIO)
		found = whole_of_ratio(t, how, r);
	if (found || e->whole[how])
		return found ? found : e->whole[how];
	made = (struct sym *)sym_intern(t, SYM_WHOLE, (int64_t)r->serial * 4 + (int64_t)how, NULL,
					NULL);
	if (!made)
		return NULL;
	made->real = r;
	made->nodes = 1 + r->nodes;
	if (r->lower > -0x1p62 && r->lower < 0x1p62)
		made->lower = (int64_t)whole(how, r->lower);
	return e->whole[how] = made;
}

bool symreal_may_fail(const struct symreal *r)
{
	static const char *const total[] = { "atan", "tanh", "asinh", "erf", "erfc", "fabs" };

	switch (r->kind) {
	case REAL_RATIO:
		return !(r->y->lower >= 1 || (sym_is_const(r->y) && r->y->value != 0));
	case REAL_DIV:
	case REAL_FLOORDIV:
	case REAL_MOD:
		return !(r->b->lower > 0 || (r->b->kind == REAL_CONST && r->b->value != 0));
	case REAL_POW: /* 1 or more to a constant */
		return !(r->a->lower >= 1 && r->b->kind == REAL_CONST &&
			 isfinite(pow(r->a->most, fabs(r->b->value))));
	case REAL_ROUND:
		return r->index < 0;
	case REAL_FUNCTION:
		break;
	default:
		return false;
	}
	for (size_t i = 0; i < sizeof(total) / sizeof(total[0]); i++)
		if (is_named(r, total[i]))
			return false;
	if (is_named(r, "sqrt"))
		return !(r->a->lower >= 0);
	return !(is_logarithm(r) && r->a->lower > 0);
}

void symreal_each_var(const struct symreal *r, void (*visit)(void *self, int var), void *self)
{
	if (r->kind == REAL_VAR)
		visit(self, r->index);
	if (r->x)
		sym_each_var(r->x, visit, self);
	if (r->y)
		sym_each_var(r->y, visit, self);
	if (r->a)
		symreal_each_var(r->a, visit, self);
	if (r->b)
		symreal_each_var(r->b, visit, self);
}

const struct symreal *symreal_copy(struct symtab *to, const struct symreal *r)
{
	struct symreal copy = *r;

	if (r->x && !(copy.x = sym_copy(to, r->x)))
		return NULL;
	if (r->y && !(copy.y = sym_copy(to, r->y)))
		return NULL;
	if (r->a && !(copy.a = symreal_copy(to, r->a)))
		return NULL;
	if (r->b && !(copy.b = symreal_copy(to, r->b)))
		return NULL;
	return intern(to, copy);
}
