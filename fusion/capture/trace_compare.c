/* fusion/capture/trace_compare.c -- comparisons of numbers that are symbols.
 *
 * As torch: x.shape[0] > 5 is no guard yet.  It is a SYMBOOL, which the program
 * may return; where it branches on it, the outcome at the sizes of the capture
 * is taken and guarded.
 */
#include <math.h>
#include <stdlib.h>

#include "fusion/vm/operators.h"
#include "fusion/capture/trace.h"

bool size_condition_holds(const struct size_condition *c, const int64_t *vars)
{
	if (c->fits)
		return sym_fits(c->a, vars);
	if (c->a)
		return sizes_compare(c->op, sym_eval(c->a, vars), sym_eval(c->b, vars));
	if (!c->y)
		return fabs(symreal_eval(c->x, vars)) <= c->most;
	return floats_compare(c->op, symreal_eval(c->x, vars), symreal_eval(c->y, vars));
}

static bool outcome(const struct trace *t, const struct size_condition *c)
{
	const struct symtab *syms = t->graph->syms;

	if (c->a)
		return sizes_compare(c->op, sym_hint(syms, c->a), sym_hint(syms, c->b));
	if (!c->y)
		return fabs(symreal_hint(syms, c->x)) <= c->most;
	return floats_compare(c->op, symreal_hint(syms, c->x), symreal_hint(syms, c->y));
}

/* What needs no guard: constants, and what the bounds of symbols prove. */
static bool decided(struct symtab *syms, enum cmpop op, const struct sym *a, const struct sym *b,
		    bool *outcome)
{
	const struct sym *one = sym_const(syms, 1), *after_a, *after_b;
	bool above, below;

	if (a == b) {
		*outcome = sizes_compare(op, 0, 0);
		return true;
	}
	after_a = one ? sym_add(syms, a, one) : NULL;
	after_b = one ? sym_add(syms, b, one) : NULL;
	if (!after_a || !after_b)
		return false;
	above = sym_at_least(syms, a, after_b);
	below = sym_at_least(syms, b, after_a);
	*outcome = sizes_compare(op, above, below);
	if (above || below)
		return true;
	if ((op == CMP_GE || op == CMP_LT) && sym_at_least(syms, a, b)) {
		*outcome = op == CMP_GE;
		return true;
	}
	if ((op == CMP_LE || op == CMP_GT) && sym_at_least(syms, b, a)) {
		*outcome = op == CMP_LE;
		return true;
	}
	return false;
}

static bool same(const struct size_condition *x, const struct size_condition *y)
{
	return x->fits == y->fits && x->op == y->op && x->a == y->a && x->b == y->b &&
	       x->x == y->x && x->y == y->y && x->most == y->most;
}

/* Once each: loops ask again. */
static bool guard(struct trace *t, const struct size_condition *c, struct err *err)
{
	for (size_t i = 0; i < t->conditions.len; i++)
		if (same(&t->conditions.at[i], c))
			return true;
	return VEC_PUSH(&t->conditions, *c) || trace_no_memory(err);
}

bool trace_settle(struct trace *t, struct value *v, struct err *err)
{
	bool truth;

	if (v->kind != VALUE_SYMBOOL)
		return true;
	if (!trace_size_truth(t, *v, &truth, err))
		return false;
	*v = value_bool(truth);
	return true;
}

static bool plain_compare(enum cmpop op, struct value a, struct value b, struct value *out)
{
	int order = number_order(a, b);

	*out = value_bool(order == 2 ? op == CMP_NE : sizes_compare(op, order, 0));
	return true;
}

bool trace_size_compare(struct trace *t, enum cmpop op, struct value a, struct value b,
			struct value *out, struct err *err)
{
	struct size_condition c = { .op = op }, *kept;

	if (!trace_settle(t, &a, err) || !trace_settle(t, &b, err))
		return false;
	if (trace_is_late(t, a) || trace_is_late(t, b))
		return late_compare(t, op, a, b, out, err);
	if (op > CMP_GE)
		return trace_pin_value(t, value_is_hosted(a) ? a : b, err);
	if (value_is_number(a) && value_is_number(b))
		return plain_compare(op, a, b, out);
	t->computes_sizes = true;
	if (trace_is_real(a) || trace_is_real(b)) {
		c.x = trace_real(t, a);
		c.y = trace_real(t, b);
	} else {
		c.a = trace_size(t, a);
		c.b = trace_size(t, b);
	}
	if (!(c.x && c.y) && !(c.a && c.b))
		return trace_no_memory(err);
	if (c.a && decided(t->graph->syms, op, c.a, c.b, &c.outcome)) {
		*out = value_bool(c.outcome);
		return true;
	}
	c.outcome = outcome(t, &c);
	kept = ARENA_NEW(t->graph->arena, struct size_condition);
	if (!kept)
		return trace_no_memory(err);
	*kept = c;
	*out = (struct value){ .kind = VALUE_SYMBOOL, .condition = kept };
	return true;
}

/* Equal to a constant only where its one symbol has one value. */
static bool determines(const struct sym *s)
{
	switch (s->kind) {
	case SYM_CONST:
		return false;
	case SYM_VAR:
		return true;
	case SYM_ADD:
		return sym_is_const(s->b) && determines(s->a);
	case SYM_MUL:
		return sym_is_const(s->a) && determines(s->b);
	default:
		return false;
	}
}

/* As torch: two sizes become one symbol, and a size becomes its number. */
static bool equates(const struct trace *t, const struct size_condition *c)
{
	bool equal = (c->op == CMP_EQ && c->outcome) || (c->op == CMP_NE && !c->outcome);

	if (!c->a || !equal)
		return false;
	if (t->in_round && c->a->kind != SYM_VAR && c->b->kind != SYM_VAR)
		return false; /* i + 1 == 3: other rounds have it too, with another i */
	return (c->a->kind == SYM_VAR && c->b->kind == SYM_VAR) ||
	       (sym_is_const(c->b) && determines(c->a)) || (sym_is_const(c->a) && determines(c->b));
}

bool trace_size_truth(struct trace *t, struct value a, bool *out, struct err *err)
{
	struct value zero = trace_is_real(a) ? value_float(0) : value_int(0), v = a;

	if (a.kind != VALUE_SYMBOOL && a.kind != VALUE_BOOL &&
	    !trace_size_compare(t, CMP_NE, a, zero, &v, err))
		return false;
	if (v.kind == VALUE_BOOL) {
		*out = v.b;
		return true;
	}
	if (v.kind != VALUE_SYMBOOL) /* late */
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	*out = v.condition->outcome;
	if (equates(t, v.condition))
		return trace_equal(t, v.condition->a, v.condition->b, err);
	return guard(t, v.condition, err);
}

bool trace_size_not(struct trace *t, struct value a, struct value *out, struct err *err)
{
	static const enum cmpop opposite[] = {
		[CMP_LT] = CMP_GE, [CMP_LE] = CMP_GT, [CMP_EQ] = CMP_NE,
		[CMP_NE] = CMP_EQ, [CMP_GT] = CMP_LE, [CMP_GE] = CMP_LT,
	};
	bool truth;

	if (a.kind == VALUE_SYMBOOL && a.condition->a)
		return trace_size_compare(t, opposite[a.condition->op],
					  trace_size_value(a.condition->a),
					  trace_size_value(a.condition->b), out, err);
	if (!trace_size_truth(t, a, &truth, err)) /* of floats: NaN has no opposite */
		return false;
	*out = value_bool(!truth);
	return true;
}

bool trace_guard_unlike(struct trace *t, const struct sym *a, const struct sym *b, struct err *err)
{
	struct value v;
	bool truth;

	return trace_size_compare(t, CMP_NE, trace_size_value(a), trace_size_value(b), &v, err) &&
	       trace_size_truth(t, v, &truth, err);
}

bool trace_guard_most(struct trace *t, const struct symreal *x, double most, struct err *err)
{
	struct size_condition c = { .op = CMP_LE, .x = x, .most = most, .outcome = true };

	if (x->most <= most)
		return true;
	if (!outcome(t, &c)) /* Python raises, or will */
		return trace_pin_value(t, trace_real_value(x), err);
	return guard(t, &c, err);
}
