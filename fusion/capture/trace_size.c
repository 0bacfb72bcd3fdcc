/* fusion/capture/trace_size.c -- sizes while capturing: shapes, sums, comparisons.
 *
 * A size that is a symbol is a VALUE_SYMINT.  +, -, *, //, %, ** and shifts of
 * sizes stay symbolic, / makes a float of them (trace_real.c), comparisons are
 * in trace_compare.c; anything else needs the number, which pins the size.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/operators.h"
#include "fusion/capture/trace.h"

/* A constant, or the symbol of the dim's class, made when it is first asked for. */
static const struct sym *dim_size(struct trace *t, int dim, int64_t size)
{
	struct slot_dim *root = &t->slots->dims[slots_root(t->slots, dim)];
	struct trace_home home = { .dim = (int)(root - t->slots->dims), .slot = -1 };
	const struct sym *var;

	if (root->pinned || size <= 1)
		return sym_const(t->graph->syms, size);
	if (root->var >= 0)
		return sym_var_at(t->graph->syms, root->var);
	var = sym_var(t->graph->syms, size);
	if (!var || !VEC_PUSH(&t->homes, home))
		return NULL;
	root->var = (int)var->value;
	return var;
}

bool trace_shape(struct trace *t, struct value tensor, struct shape *out, enum dtype *dtype,
		 struct err *err)
{
	struct symtab *syms = t->graph->syms;
	const struct vtensor *v = tensor.tensor;
	int lifted = trace_lifted(t, tensor), node = lifted >= 0 ? t->lifted.at[lifted].node : -1;

	if (v->owner == t->serial)
		node = v->node;
	if (node >= 0) {
		*out = t->graph->nodes[node]->shape;
		*dtype = t->graph->nodes[node]->dtype;
		return true;
	}
	memset(out, 0, sizeof(*out));
	if (v->owner != t->serial) {
		if (!v->memory)
			return err_set(
			    err, ERR_UNSUPPORTED,
			    "a tensor that was made inside another call is used here; "
			    "return it from the function instead of keeping it in a global");
		out->rank = v->memory->rank;
		*dtype = v->memory->dtype;
		for (int d = 0; d < out->rank; d++)
			out->size[d] = sym_const(syms, v->memory->size[d]);
	} else {
		struct slot *slot = &t->slots->at[v->input];

		slot->touched = true;
		out->rank = slot->rank;
		*dtype = slot->dtype;
		for (int d = 0; d < out->rank; d++) {
			out->size[d] = dim_size(t, slot->first_dim + d, slot->size[d]);
		}
	}
	for (int d = 0; d < out->rank; d++)
		if (!out->size[d])
			return trace_no_memory(err);
	return true;
}

/* The float of the call that a SYMFLOAT is. */
static bool pin_float(struct trace *t, struct value v)
{
	struct slot *slot = &t->slots->at[t->inputs.at[t->graph->nodes[v.i]->input].slot];
	bool changed = !slot->pinned;

	slot->pinned = true;
	return changed;
}

struct pinner {
	struct trace *t;
	bool changed;
};

static void pin_var(void *self, int var)
{
	struct pinner *p = self;
	const struct trace_home *home = &p->t->homes.at[var];
	bool *pinned = home->dim < 0 ? &p->t->slots->at[home->slot].pinned
				     : &p->t->slots->dims[home->dim].pinned;

	p->changed |= !*pinned;
	*pinned = true;
}

bool trace_pin_quietly(struct trace *t, const struct sym *s)
{
	struct pinner p = { .t = t };

	sym_each_var(s, pin_var, &p);
	return p.changed;
}

bool trace_pin_value_quietly(struct trace *t, struct value v)
{
	struct pinner p = { .t = t };

	switch (v.kind) {
	case VALUE_SYMINT:
		sym_each_var(v.sym, pin_var, &p);
		break;
	case VALUE_SYMBOOL:
		if (v.condition->a) {
			sym_each_var(v.condition->a, pin_var, &p);
			sym_each_var(v.condition->b, pin_var, &p);
			break;
		}
		symreal_each_var(v.condition->x, pin_var, &p);
		symreal_each_var(v.condition->y, pin_var, &p);
		break;
	case VALUE_SYMREAL:
		symreal_each_var(v.real, pin_var, &p);
		break;
	case VALUE_SYMFLOAT:
		return !trace_is_late(t, v) && pin_float(t, v);
	default:
		break;
	}
	return p.changed;
}

bool trace_is_of_call(const struct trace *t, struct value v)
{
	return v.kind == VALUE_SYMINT && v.sym->kind == SYM_VAR &&
	       t->homes.at[v.sym->value].dim < 0;
}

bool trace_pin_value(struct trace *t, struct value v, struct err *err)
{
	t->computes_sizes |= !trace_is_of_call(t, v);
	if (!trace_pin_value_quietly(t, v))
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	t->restart = true;
	return err_set(err, ERR_UNSUPPORTED, "the number is specialised");
}

bool trace_pin(struct trace *t, const struct sym *s, struct err *err)
{
	t->computes_sizes = true;
	if (!trace_pin_quietly(t, s))
		return err_set(err, ERR_INTERNAL, "a size without a symbol cannot be pinned");
	t->restart = true;
	return err_set(err, ERR_UNSUPPORTED, "the size is specialised");
}

bool trace_equal(struct trace *t, const struct sym *a, const struct sym *b, struct err *err)
{
	if (a->kind == SYM_VAR && b->kind == SYM_VAR && t->homes.at[a->value].dim >= 0 &&
	    t->homes.at[b->value].dim >= 0) {
		slots_merge(t->slots, t->homes.at[a->value].dim, t->homes.at[b->value].dim);
		t->restart = true;
		return err_set(err, ERR_UNSUPPORTED, "two sizes are guarded equal");
	}
	trace_pin_quietly(t, a);
	if (!trace_pin_quietly(t, b) && a->kind == SYM_CONST)
		return err_set(err, ERR_INTERNAL, "two constant sizes cannot be guarded equal");
	t->restart = true;
	return err_set(err, ERR_UNSUPPORTED, "a size is specialised");
}

struct value trace_size_value(const struct sym *s)
{
	if (sym_is_const(s))
		return value_int(s->value);
	return (struct value){ .kind = VALUE_SYMINT, .sym = s };
}

const struct sym *trace_size(struct trace *t, struct value v)
{
	if (v.kind == VALUE_SYMINT)
		return v.sym;
	if (v.kind == VALUE_INT || v.kind == VALUE_BOOL)
		return sym_const(t->graph->syms, v.kind == VALUE_INT ? v.i : v.b);
	return NULL;
}

bool trace_pin_both(struct trace *t, struct value a, struct value b, struct err *err)
{
	bool changed = trace_pin_value_quietly(t, a);

	if (!trace_pin_value_quietly(t, b) && !changed)
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	t->computes_sizes = t->restart = true;
	return err_set(err, ERR_UNSUPPORTED, "the number is specialised");
}

/* x ** n and x << n of a constant n, as products. */
static const struct sym *power(struct symtab *syms, const struct sym *x, int64_t n)
{
	const struct sym *z = sym_const(syms, 1);

	for (; n > 0 && z; n--)
		z = sym_mul(syms, z, x);
	return z;
}

enum { MOST_POWER = 8, MOST_SHIFT = 32 };

/* Never 0, or guarded so. */
static bool divides(struct trace *t, const struct sym *y, bool *known, struct err *err)
{
	struct value v;

	*known = !sym_is(y, 0);
	if (!*known || sym_is_const(y) || y->lower >= 1)
		return true;
	if (!trace_size_compare(t, CMP_NE, trace_size_value(y), value_int(0), &v, err))
		return false;
	if (v.kind == VALUE_BOOL)
		*known = v.b;
	else if (!trace_size_truth(t, v, known, err))
		return false;
	return true;
}

/* *out NULL: Python's way with numbers is needed. */
static bool size_binary(struct trace *t, enum binop op, const struct sym *x, const struct sym *y,
			const struct sym **out, struct err *err)
{
	struct symtab *syms = t->graph->syms;
	bool small = sym_is_const(y) && y->value >= 0, known = true;

	*out = NULL;
	switch (op) {
	case BIN_ADD:
		*out = sym_add(syms, x, y);
		break;
	case BIN_SUB:
		*out = sym_sub(syms, x, y);
		break;
	case BIN_MUL:
		*out = sym_mul(syms, x, y);
		break;
	case BIN_FLOORDIV:
	case BIN_MOD:
		if (!divides(t, y, &known, err))
			return false;
		if (!known)
			return true;
		*out = op == BIN_MOD ? sym_mod(syms, x, y) : sym_floordiv(syms, x, y);
		break;
	case BIN_POW:
		if (!small || y->value > MOST_POWER)
			return true;
		*out = power(syms, x, y->value);
		break;
	case BIN_LSHIFT:
	case BIN_RSHIFT:
		if (!small || y->value > MOST_SHIFT)
			return true;
		y = sym_const(syms, (int64_t)1 << y->value);
		*out = op == BIN_LSHIFT ? sym_mul(syms, x, y) : sym_floordiv(syms, x, y);
		break;
	default:
		return true;
	}
	return *out || trace_no_memory(err);
}

/* Arithmetic of numbers that calls bring: there may be larger ones. */
static bool expect_fits(struct trace *t, const struct sym *z, struct err *err)
{
	struct size_condition c = { .fits = true, .a = z, .b = z, .outcome = true };

	if (sym_is_const(z) || z->kind == SYM_VAR || !sym_has_number(z))
		return true;
	for (size_t i = 0; i < t->conditions.len; i++)
		if (t->conditions.at[i].fits && t->conditions.at[i].a == z)
			return true;
	return VEC_PUSH(&t->conditions, c) || trace_no_memory(err);
}

bool trace_size_binary(struct trace *t, enum binop op, struct value a, struct value b,
		       struct value *out, struct err *err)
{
	const struct sym *x, *y, *z;

	if (!trace_settle(t, &a, err) || !trace_settle(t, &b, err))
		return false;
	if (trace_is_late(t, a) || trace_is_late(t, b))
		return late_binary(t, op, a, b, out, err);
	if (value_is_number(a) && value_is_number(b))
		return number_binary(t->vm, op, a, b, out, err);
	x = trace_size(t, a);
	y = trace_size(t, b);
	if (!x || !y || op == BIN_TRUEDIV || (op == BIN_POW && sym_is_const(y) && y->value < 0))
		return trace_real_binary(t, op, a, b, out, err);
	if (!size_binary(t, op, x, y, &z, err))
		return false;
	if (!z)
		return trace_pin_both(t, a, b, err);
	if (!sym_hint_fits(t->graph->syms, z))
		return trace_pin_both(t, a, b, err);
	if (!expect_fits(t, z, err))
		return false;
	t->computes_sizes |= a.kind == VALUE_SYMINT || b.kind == VALUE_SYMINT;
	*out = trace_size_value(z);
	return true;
}

bool trace_size_unary(struct trace *t, enum unop op, struct value a, struct value *out,
		      struct err *err)
{
	bool minus = op == UN_NEG;

	if (!trace_settle(t, &a, err))
		return false;
	if (value_is_number(a))
		return number_unary(t->vm, op, a, out, err);
	if (op == UN_POS && a.kind != VALUE_LATEBOOL) {
		*out = a;
		return true;
	}
	if (trace_is_late(t, a) && op != UN_INVERT)
		return late_binary(t, minus ? BIN_MUL : BIN_ADD, a, value_int(minus ? -1 : 0), out,
				   err);
	if (trace_is_late(t, a))
		return late_invert(t, a, out, err);
	if (a.kind == VALUE_SYMINT) /* ~n is -n - 1 */
		return trace_size_binary(t, BIN_SUB, value_int(minus ? 0 : -1), a, out, err);
	if (trace_is_real(a) && minus && !trace_is_late(t, a))
		return trace_real_binary(t, BIN_MUL, a, value_float(-1), out, err);
	return trace_pin_value(t, a, err);
}
