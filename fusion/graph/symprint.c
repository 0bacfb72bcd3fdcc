/* fusion/graph/symprint.c -- symbolic numbers in text, as a person writes them. */
#include "fusion/graph/symtab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sym_printer {
	struct buf *out;
	const struct sym_namer *namer;
};

static void print_var(struct sym_printer *p, int64_t var)
{
	if (p->namer)
		p->namer->name(p->namer->self, p->out, (int)var);
	else
		buf_printf(p->out, "s%lld", (long long)var);
}

static void print_whole(struct sym_printer *p, const struct sym *s)
{
	static const char *const names[] = { "int", "math.floor", "math.ceil", "round" };

	buf_printf(p->out, "%s(", names[symreal_way(s)]);
	symreal_print(p->out, s->real, p->namer);
	buf_putc(p->out, ')');
}

static void print_sum(struct sym_printer *p, const struct sym *s);

/* An operand of * // %: a sum gets parentheses, and so does what would bind
 * differently on that side. */
static void print_factor(struct sym_printer *p, const struct sym *s, bool tight)
{
	bool open = s->kind == SYM_ADD || s->kind == SYM_FLOORDIV || s->kind == SYM_MOD ||
		    (s->kind == SYM_MUL && tight) || (s->kind == SYM_CONST && s->value < 0);

	if (open)
		buf_putc(p->out, '(');
	print_sum(p, s);
	if (open)
		buf_putc(p->out, ')');
}

static void print_term(struct sym_printer *p, const struct sym *s)
{
	switch (s->kind) {
	case SYM_CONST:
		buf_printf(p->out, "%lld", (long long)s->value);
		break;
	case SYM_VAR:
		print_var(p, s->value);
		break;
	case SYM_MUL:
		if (sym_is(s->a, -1)) {
			buf_putc(p->out, '-');
		} else {
			if (s->a->kind == SYM_CONST || s->a->kind == SYM_MUL)
				print_term(p, s->a);
			else
				print_factor(p, s->a, false);
			buf_putc(p->out, '*');
		}
		if (s->b->kind == SYM_MUL)
			print_term(p, s->b);
		else
			print_factor(p, s->b, false);
		break;
	case SYM_FLOORDIV:
	case SYM_MOD:
		print_factor(p, s->a, false);
		buf_puts(p->out, s->kind == SYM_MOD ? "%" : "//");
		print_factor(p, s->b, true);
		break;
	case SYM_WHOLE:
		print_whole(p, s);
		break;
	default:
		buf_puts(p->out, s->kind == SYM_MAX ? "max(" : "min(");
		print_sum(p, s->a);
		buf_puts(p->out, ", ");
		print_sum(p, s->b);
		buf_putc(p->out, ')');
	}
}

static bool negative(const struct sym *term)
{
	if (term->kind == SYM_MUL)
		term = term->a;
	return term->kind == SYM_CONST && term->value < 0;
}

/* The terms of one sign, in order; "5 - s0" reads better than "-s0 + 5". */
static void print_signed(struct sym_printer *p, const struct sym *s, bool minus, bool *first)
{
	const struct sym *term = s->kind == SYM_ADD ? s->b : s;
	struct buf text;

	if (s->kind == SYM_ADD)
		print_signed(p, s->a, minus, first);
	if (negative(term) != minus)
		return;
	if (*first) {
		print_term(p, term);
	} else if (minus) {
		struct sym_printer aside = { &text, p->namer };

		buf_init(&text, 0);
		print_term(&aside, term); /* begins with its minus */
		buf_printf(p->out, " - %s", text.data ? text.data + 1 : "?");
		buf_finish(&text);
	} else {
		buf_puts(p->out, " + ");
		print_term(p, term);
	}
	*first = false;
}

static void print_sum(struct sym_printer *p, const struct sym *s)
{
	bool first = true;

	if (s->kind != SYM_ADD) {
		print_term(p, s);
		return;
	}
	print_signed(p, s, false, &first);
	print_signed(p, s, true, &first);
}

void sym_print_named(struct buf *out, const struct sym *s, const struct sym_namer *namer)
{
	struct sym_printer p = { out, namer };

	print_sum(&p, s);
}

static void print_real(struct sym_printer *p, const struct symreal *r, int above);

/* An int in the place of an operand: a sum or quotient gets parentheses. */
static void print_int(struct sym_printer *p, const struct sym *s, bool alone)
{
	if (alone) {
		buf_puts(p->out, "float(");
		print_sum(p, s);
		buf_putc(p->out, ')');
	} else {
		print_factor(p, s, true);
	}
}

/* How tight Python's operators bind. */
enum { ALONE, SUM, PRODUCT, POWER };

static int tightness(enum symreal_kind kind)
{
	if (kind == REAL_ADD || kind == REAL_SUB)
		return SUM;
	return kind == REAL_POW ? POWER : PRODUCT;
}

static void print_operation(struct sym_printer *p, const struct symreal *r, int above)
{
	static const char *const infix[] = {
		[REAL_ADD] = " + ", [REAL_SUB] = " - ",     [REAL_MUL] = "*", [REAL_RATIO] = "/",
		[REAL_DIV] = "/",   [REAL_FLOORDIV] = "//", [REAL_MOD] = "%", [REAL_POW] = "**",
	};
	int own = tightness(r->kind);
	bool open = above > own || (above == POWER && own == POWER);

	buf_puts(p->out, open ? "(" : "");
	if (r->kind == REAL_RATIO)
		print_int(p, r->x, false);
	else
		print_real(p, r->a, own == POWER ? POWER : own);
	buf_puts(p->out, infix[r->kind]);
	if (r->kind == REAL_RATIO)
		print_int(p, r->y, false);
	else /* a - (b - c) */
		print_real(p, r->b, own == POWER ? POWER : own + 1);
	buf_puts(p->out, open ? ")" : "");
}

static void print_argument(struct sym_printer *p, const struct symreal *r)
{
	if (r->kind == REAL_INT)
		print_sum(p, r->x);
	else
		print_real(p, r, SUM);
}

static void print_call(struct sym_printer *p, const struct symreal *r)
{
	buf_printf(p->out, "math.%s(", symreal_function_name(r->index));
	print_argument(p, r->a);
	if (r->b) {
		buf_puts(p->out, ", ");
		print_argument(p, r->b);
	}
	buf_putc(p->out, ')');
}

static void print_number(struct sym_printer *p, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	buf_puts(p->out, text);
	if (!strpbrk(text, ".enia")) /* 2.0, as Python */
		buf_puts(p->out, ".0");
}

static void print_real(struct sym_printer *p, const struct symreal *r, int above)
{
	switch (r->kind) {
	case REAL_CONST:
		print_number(p, r->value);
		return;
	case REAL_VAR:
		print_var(p, r->index);
		return;
	case REAL_INT:
		print_int(p, r->x, above == ALONE);
		return;
	case REAL_FUNCTION:
		print_call(p, r);
		return;
	case REAL_ROUND:
		buf_puts(p->out, "round(");
		print_real(p, r->a, SUM);
		buf_printf(p->out, ", %d)", r->index);
		return;
	default:
		print_operation(p, r, above);
	}
}

void symreal_print(struct buf *out, const struct symreal *r, const struct sym_namer *namer)
{
	struct sym_printer p = { out, namer };

	print_real(&p, r, ALONE);
}
