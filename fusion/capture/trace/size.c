/* fusion/capture/trace/size.c -- ints and sizes that are symbols: taken from outside, computed,
 * compared.
 *
 * A size is symbolic until the program needs the plain number; then it is pinned, and
 * another attempt follows.  A comparison is decided at the sizes of the capture, and guarded.
 */
#include "fusion/capture/trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/graph/sym.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

/* ---- Numbers from outside that are no constants.
 *
 * An int becomes a symbol, like a size but without a bound.  A float becomes an
 * input of the graph, a float64 tensor of 0 dims (as torch does it), and a
 * symbol where it is computed with (trace/real.c); where a tensor op takes it, a
 * node that promotes as a Python number does is between ("item"). */

static bool is_module(const struct class *class)
{
	if (class->hidden)
		return true;
	for (int i = 0; class->mro && i < class->mro->len; i++)
		if (class->mro->at[i].kind == VALUE_CLASS && class->mro->at[i].class->hidden)
			return true;
	return false;
}

/* Ints of globals, modules, closures and defaults stay constants, as torch's. */
static bool comes_from_arguments(const struct sources *s, int source)
{
	for (int i = source; i >= 0; i = s->at[i].parent) {
		const struct source *at = &s->at[i];

		if (at->access == SOURCE_GLOBAL || at->access == SOURCE_CONTENT ||
		    at->access == SOURCE_DEFAULT || at->access == SOURCE_KWDEFAULT)
			return false;
		if (at->kind == VALUE_INSTANCE && is_module(at->value.instance->class))
			return false;
	}
	return true;
}

static bool wants_symbol(const struct trace *t, int source, const struct seen *seen)
{
	const struct source *s = &t->sources->at[source];

	/* a symbol has no type of NumPy's; where torch's own code alone reads the number, as the
	 * step of an optimiser its rate, nobody asks for it */
	if (s->value.scalar)
		return !t->native && code_is_frame(t->base->code) && s->kind == VALUE_FLOAT &&
		       isfinite(s->value.f);
	/* numbers that rounds have changed are none to make versions for; sizes are */
	if (t->in_round && seen->number_changed)
		return s->kind != VALUE_FLOAT || isfinite(s->value.f);
	if (t->mode == FUSION_STATIC || (t->mode == FUSION_AUTO && !seen->number_changed))
		return false;
	return s->kind != VALUE_FLOAT || isfinite(s->value.f);
}

bool trace_note_number(struct trace *t, int source)
{
	struct source *s = &t->sources->at[source];
	const struct seen *seen;

	/* of an int that stays a constant nobody remembers what it was: a float in its place is
	 * seen for the first time */
	if (s->kind == VALUE_INT && !t->in_round && !comes_from_arguments(t->sources, source))
		return true;
	seen = memory_note(t->memory, s);
	if (seen)
		s->symbolic = wants_symbol(t, source, seen);
	return seen != NULL;
}

static bool symbolic_int(struct trace *t, int source, struct value *out, struct err *err)
{
	struct trace_home home = { .dim = -1, .source = source };
	const struct sym *var = sym_var_from(t->graph->syms, t->sources->at[source].value.i,
					     INT64_MIN);

	if (!var || !VEC_PUSH(&t->homes, home))
		return trace_no_memory(err);
	t->sources->at[source].var = (int)var->value;
	*out = (struct value){ .kind = VALUE_SYMINT, .sym = var };
	return true;
}

static bool symbolic_float(struct trace *t, int source, struct value *out, struct err *err)
{
	struct trace_input input = { .source = source, .lifted = -1 };
	struct shape shape = { .rank = 0 };
	int node = graph_input(t->graph, DTYPE_F64, &shape, NULL);

	if (node < 0 || !VEC_PUSH(&t->inputs, input) ||
	    !graph_set_name(t->graph, node, t->sources->at[source].name))
		return trace_no_memory(err);
	t->computes_sizes = true; /* FX reads it from a tensor: item */
	t->n_number_ops++;
	*out = (struct value){ .kind = VALUE_SYMFLOAT, .i = node };
	return true;
}

bool trace_symbolic_number(struct trace *t, int source, struct value *out, struct err *err)
{
	if (t->sources->at[source].kind == VALUE_INT)
		return symbolic_int(t, source, out, err);
	return symbolic_float(t, source, out, err);
}

int trace_float_operand(struct trace *t, struct value v, struct err *err)
{
	bool computed = v.kind == VALUE_SYMREAL;
	int node = computed ? trace_real_node(t, v.real, err) : (int)v.i;
	struct arg args[MAX_ARGS] = { arg_node(node), arg_dtype(DTYPE_F64) };
	struct float_operand made = { .node = node };
	struct node *n;

	if (node < 0)
		return -1;
	args[1] = arg_dtype(t->graph->nodes[node]->dtype);

	for (size_t i = 0; i < t->float_operands.len; i++)
		if (t->float_operands.at[i].node == made.node)
			return t->float_operands.at[i].operand;
	made.operand = graph_add(
	    t->graph, &(struct node_spec){ OP_to, args, 2, t->host.line, t->host.column }, err);
	if (made.operand < 0)
		return -1;
	n = t->graph->nodes[made.operand];
	n->weak = true;
	if (!graph_set_fx(t->graph, made.operand, computed ? "" : "item") ||
	    !VEC_PUSH(&t->float_operands, made)) {
		trace_no_memory(err);
		return -1;
	}
	t->n_ops += !computed; /* FX computes it among the sizes */
	return made.operand;
}

/* A constant, or the symbol of the dim's class, made when it is first asked for. */
static const struct sym *dim_size(struct trace *t, int dim, int64_t size)
{
	struct source_dim *root = &t->sources->dims[sources_root(t->sources, dim)];
	struct trace_home home = { .dim = (int)(root - t->sources->dims), .source = -1 };
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
		struct source *source = &t->sources->at[v->input];

		source->touched = true;
		out->rank = source->rank;
		*dtype = source->dtype;
		for (int d = 0; d < out->rank; d++) {
			out->size[d] = dim_size(t, source->first_dim + d, source->size[d]);
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
	struct source *source = &t->sources->at[t->inputs.at[t->graph->nodes[v.i]->input].source];
	bool changed = !source->pinned;

	source->pinned = true;
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
	bool *pinned = home->dim < 0 ? &p->t->sources->at[home->source].pinned
				     : &p->t->sources->dims[home->dim].pinned;

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
		return !trace_is_deferred(t, v) && pin_float(t, v);
	default:
		break;
	}
	return p.changed;
}

bool trace_pin_value(struct trace *t, struct value v, struct err *err)
{
	t->computes_sizes |= !trace_is_of_call(t, v);
	t->specialises = true;
	if (!trace_pin_value_quietly(t, v))
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	t->restart = true;
	return err_set(err, ERR_UNSUPPORTED, "the number is specialised");
}

bool trace_pin(struct trace *t, const struct sym *s, struct err *err)
{
	t->computes_sizes = t->specialises = true;
	if (!trace_pin_quietly(t, s))
		return err_set(err, ERR_INTERNAL, "a size without a symbol cannot be pinned");
	t->restart = true;
	return err_set(err, ERR_UNSUPPORTED, "the size is specialised");
}

/* ---- Two sizes that are guarded equal.
 *
 * Where that is so just if two symbols are equal (s0 + 1 == s1 + 1, 4*s0*s2 == 4*s1*s2), they
 * become one; otherwise all that is in the two is pinned. */

enum { MOST_FACTORS = 8 };

struct factors { /* of a product */
	const struct sym *at[MOST_FACTORS];
	int n;
	int64_t times;
};

static bool take_factors(const struct sym *s, struct factors *f)
{
	if (s->kind == SYM_MUL)
		return take_factors(s->a, f) && take_factors(s->b, f);
	if (s->kind == SYM_CONST)
		return !__builtin_mul_overflow(f->times, s->value, &f->times);
	if (f->n == MOST_FACTORS)
		return false;
	f->at[f->n++] = s;
	return true;
}

/* Leaves out what both have, unless it may be 0. */
static void cancel(struct factors *x, struct factors *y)
{
	for (int i = 0; i < x->n; i++)
		for (int j = 0; j < y->n; j++) {
			if (x->at[i] != y->at[j] || x->at[i]->lower < 1)
				continue;
			x->at[i--] = x->at[--x->n];
			y->at[j] = y->at[--y->n];
			break;
		}
}

static bool is_dim(const struct trace *t, const struct sym *s)
{
	return s->kind == SYM_VAR && t->homes.at[s->value].dim >= 0;
}

/* The two symbols of sizes that are equal if and only if a == b. */
static bool equal_symbols(struct trace *t, const struct sym *a, const struct sym *b,
			  const struct sym *pair[2])
{
	const struct sym *gap = sym_sub(t->graph->syms, a, b);
	struct factors x = { .times = 1 }, y = { .times = 1 };

	if (!gap || gap->kind != SYM_ADD || !take_factors(gap->a, &x) || !take_factors(gap->b, &y))
		return false;
	cancel(&x, &y);
	if (x.times != -y.times || x.n != 1 || y.n != 1)
		return false;
	pair[0] = x.at[0];
	pair[1] = y.at[0];
	return is_dim(t, pair[0]) && is_dim(t, pair[1]);
}

bool trace_equal(struct trace *t, const struct sym *a, const struct sym *b, struct err *err)
{
	const struct sym *pair[2];

	if (equal_symbols(t, a, b, pair)) {
		sources_merge(t->sources, t->homes.at[pair[0]->value].dim,
			      t->homes.at[pair[1]->value].dim);
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
	t->computes_sizes = t->specialises = t->restart = true;
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
	if (trace_is_deferred(t, a) || trace_is_deferred(t, b))
		return deferred_binary(t, op, a, b, out, err);
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
	t->n_number_ops++;
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
	if (op == UN_POS && a.kind != VALUE_DEFERRED_BOOL) {
		*out = a;
		return true;
	}
	if (trace_is_deferred(t, a) && op != UN_INVERT)
		return deferred_binary(t, minus ? BIN_MUL : BIN_ADD, a, value_int(minus ? -1 : 0),
				       out, err);
	if (trace_is_deferred(t, a))
		return deferred_invert(t, a, out, err);
	if (a.kind == VALUE_SYMINT) /* ~n is -n - 1 */
		return trace_size_binary(t, BIN_SUB, value_int(minus ? 0 : -1), a, out, err);
	if (trace_is_real(a) && minus && !trace_is_deferred(t, a))
		return trace_real_binary(t, BIN_MUL, a, value_float(-1), out, err);
	return trace_pin_value(t, a, err);
}

/* ---- Comparisons of numbers that are symbols.
 *
 * As torch: x.shape[0] > 5 is no guard yet.  It is a SYMBOOL, which the program
 * may return; where it branches on it, the outcome at the sizes of the capture
 * is taken and guarded. */

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
	if (trace_is_deferred(t, a) || trace_is_deferred(t, b))
		return deferred_compare(t, op, a, b, out, err);
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
	if (v.kind != VALUE_SYMBOOL) /* deferred */
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

bool trace_guard_most(struct trace *t, const struct symreal *x, double most, struct err *err)
{
	struct size_condition c = { .op = CMP_LE, .x = x, .most = most, .outcome = true };

	if (x->most <= most)
		return true;
	if (!outcome(t, &c)) /* Python raises, or will */
		return trace_pin_value(t, trace_real_value(x), err);
	return guard(t, &c, err);
}

bool trace_is_single(struct trace *t, struct value tensor)
{
	struct shape shape;
	enum dtype dtype;

	if (!trace_shape(t, tensor, &shape, &dtype, NULL))
		return false;
	for (int d = 0; d < shape.rank; d++)
		if (!sym_is(shape.size[d], 1))
			return false;
	return true;
}
