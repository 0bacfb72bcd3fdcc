/* fusion/runtime/trace_size.c -- sizes while capturing: shapes, sums, comparisons.
 *
 * A size that is a symbol is a VALUE_SYMINT.  +, -, *, // and % of sizes stay
 * symbolic; a comparison is decided at the sizes of the capture and becomes a
 * guard; anything else needs the number, which pins the size.
 */
#include "fusion/runtime/trace.h"

#include <stdlib.h>
#include <string.h>

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

bool trace_pin_quietly(struct trace *t, const struct sym *s)
{
	struct slot_dim *dim;
	struct slot *slot;
	bool changed = false;

	if (s->kind == SYM_CONST)
		return false;
	if (s->kind == SYM_VAR && t->homes.at[s->value].dim < 0) {
		slot = &t->slots->at[t->homes.at[s->value].slot];
		changed = !slot->pinned;
		slot->pinned = true;
		return changed;
	}
	if (s->kind == SYM_VAR) {
		dim = &t->slots->dims[t->homes.at[s->value].dim];
		changed = !dim->pinned;
		dim->pinned = true;
		return changed;
	}
	changed = trace_pin_quietly(t, s->a);
	return trace_pin_quietly(t, s->b) || changed;
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

/* An int, bool or symbolic size; NULL for all else. */
static const struct sym *size_sym(struct trace *t, struct value v)
{
	if (v.kind == VALUE_SYMINT)
		return v.sym;
	if (v.kind == VALUE_INT || v.kind == VALUE_BOOL)
		return sym_const(t->graph->syms, v.kind == VALUE_INT ? v.i : v.b);
	return NULL;
}

static bool pin_both(struct trace *t, struct value a, struct value b, struct err *err)
{
	if (a.kind == VALUE_SYMINT && b.kind == VALUE_SYMINT)
		trace_pin_quietly(t, a.sym);
	return trace_pin(t, b.kind == VALUE_SYMINT ? b.sym : a.sym, err);
}

/* Arithmetic of numbers that calls bring: there may be larger ones. */
static bool expect_fits(struct trace *t, const struct sym *z, struct err *err)
{
	struct size_condition c = { .fits = true, .a = z, .b = z };

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
	struct symtab *syms = t->graph->syms;
	const struct sym *x = size_sym(t, a), *y = size_sym(t, b), *z = NULL;

	if (trace_is_late(t, a) || trace_is_late(t, b))
		return late_binary(t, op, a, b, out, err);
	if (a.kind == VALUE_SYMFLOAT || b.kind == VALUE_SYMFLOAT)
		return trace_float_binary(t, op, a, b, out, err);
	if (!x || !y)
		return pin_both(t, a, b, err);
	switch (op) {
	case BIN_ADD:
		z = sym_add(syms, x, y);
		break;
	case BIN_SUB:
		z = sym_sub(syms, x, y);
		break;
	case BIN_MUL:
		z = sym_mul(syms, x, y);
		break;
	case BIN_POW: /* torch pins it */
		if (!t->native || !sym_is(y, 2))
			return pin_both(t, a, b, err);
		z = sym_mul(syms, x, x);
		break;
	case BIN_FLOORDIV:
	case BIN_MOD:
		if (!sym_is_const(y) || y->value <= 0) /* rounding and 0 are Python's affair */
			return pin_both(t, a, b, err);
		z = op == BIN_MOD ? sym_mod(syms, x, y) : sym_floordiv(syms, x, y);
		break;
	default:
		return pin_both(t, a, b, err);
	}
	if (!z)
		return trace_no_memory(err);
	if (!sym_hint_fits(syms, z))
		return pin_both(t, a, b, err);
	if (!expect_fits(t, z, err))
		return false;
	t->computes_sizes |= a.kind == VALUE_SYMINT || b.kind == VALUE_SYMINT;
	*out = trace_size_value(z);
	return true;
}

/* What needs no guard: constants, and what the bounds of symbols prove. */
static bool decided(struct symtab *syms, enum cmpop op, const struct sym *a, const struct sym *b,
		    bool *outcome)
{
	const struct sym *one = sym_const(syms, 1), *after_a, *after_b;
	bool above, below;

	if (sym_is_const(a) && sym_is_const(b)) {
		*outcome = sizes_compare(op, a->value, b->value);
		return true;
	}
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

/* i % 2 == 0 in a round of a loop: other rounds have it too, with another i. */
static bool is_of_a_round(const struct trace *t, const struct sym *a, const struct sym *b)
{
	return t->in_round && (sym_is_const(a) || sym_is_const(b)) && a->kind != SYM_VAR &&
	       b->kind != SYM_VAR;
}

bool trace_size_compare(struct trace *t, enum cmpop op, struct value a, struct value b,
			struct value *out, struct err *err)
{
	struct size_condition c = { .op = op, .a = size_sym(t, a), .b = size_sym(t, b) };
	struct symtab *syms = t->graph->syms;

	if (trace_is_late(t, a) || trace_is_late(t, b))
		return late_compare(t, op, a, b, out, err);
	if (a.kind == VALUE_SYMFLOAT || b.kind == VALUE_SYMFLOAT)
		return trace_float_compare(t, op, a, b, out, err);
	if (op > CMP_GE || !c.a || !c.b)
		return pin_both(t, a, b, err);
	t->computes_sizes |= a.kind == VALUE_SYMINT || b.kind == VALUE_SYMINT;
	if (decided(syms, op, c.a, c.b, &c.outcome)) {
		*out = value_bool(c.outcome);
		return true;
	}
	c.outcome = sizes_compare(op, sym_hint(syms, c.a), sym_hint(syms, c.b));
	if (((op == CMP_EQ && c.outcome) || (op == CMP_NE && !c.outcome)) &&
	    !is_of_a_round(t, c.a, c.b))
		return trace_equal(t, c.a, c.b, err); /* as torch: one symbol, or a constant */
	if (!VEC_PUSH(&t->conditions, c))
		return trace_no_memory(err);
	*out = value_bool(c.outcome);
	return true;
}

bool trace_size_number(struct trace *t, enum value_kind kind, struct value a, struct value *out,
		       struct err *err)
{
	if (a.kind != VALUE_SYMINT)
		return trace_pin_float(t, a, err);
	if (kind == VALUE_BOOL)
		return trace_size_compare(t, CMP_NE, a, value_int(0), out, err);
	return trace_pin(t, a.sym, err);
}
