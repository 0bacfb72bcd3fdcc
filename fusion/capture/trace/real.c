/* fusion/capture/trace/real.c -- floats that are computed of symbols while capturing.
 *
 * n / k, math.sqrt(n), scale * 2: as torch's SymFloat, an expression that each
 * call computes again before the graph runs.  Where a tensor op takes one, it is an
 * input of the graph, a float64 tensor of 0 dims.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/operators.h"
#include "fusion/capture/trace/trace.h"

/* The symbol of a float of the call, made when it is first computed with. */
static const struct symreal *real_of_source(struct trace *t, int source)
{
	struct symtab *syms = t->graph->syms;
	struct trace_home home = { .dim = -1, .source = source };
	struct source *s = &t->sources->at[source];
	const struct sym *var;
	int64_t bits;

	if (s->var >= 0)
		return symreal_var(syms, sym_var_at(syms, s->var));
	memcpy(&bits, &s->value.f, sizeof(bits));
	var = sym_var_from(syms, bits, INT64_MIN);
	if (!var || !VEC_PUSH(&t->homes, home))
		return NULL;
	s->var = (int)var->value;
	return symreal_var(syms, var);
}

const struct symreal *trace_real(struct trace *t, struct value v)
{
	struct symtab *syms = t->graph->syms;

	switch (v.kind) {
	case VALUE_SYMREAL:
		return v.real;
	case VALUE_SYMINT:
		return symreal_int(syms, v.sym);
	case VALUE_SYMFLOAT:
		return real_of_source(t, t->inputs.at[t->graph->nodes[v.i]->input].source);
	default:
		return symreal_const(syms, value_as_double(v));
	}
}

struct value trace_real_value(const struct symreal *r)
{
	if (r->kind == REAL_CONST)
		return value_float(r->value);
	return (struct value){ .kind = VALUE_SYMREAL, .real = r };
}

int trace_real_node(struct trace *t, const struct symreal *r, struct err *err)
{
	struct trace_input input = { .source = -1, .lifted = -1, .real = r };
	struct shape shape = { .rank = 0 };
	int node;

	for (size_t i = 0; i < t->inputs.len; i++)
		if (t->inputs.at[i].real == r)
			return t->graph->inputs[i];
	node = graph_input(t->graph, DTYPE_F64, &shape, NULL);
	if (node < 0 || !VEC_PUSH(&t->inputs, input) || !graph_set_name(t->graph, node, "number")) {
		trace_no_memory(err);
		return -1;
	}
	return node;
}

/* Where Python would raise for other numbers, a guard refuses them. */
static bool guard_failure(struct trace *t, const struct symreal *r, struct err *err)
{
	bool ints = r->kind == REAL_RATIO, nonzero;
	struct value divisor, v;

	if (!ints && r->kind != REAL_DIV && r->kind != REAL_FLOORDIV && r->kind != REAL_MOD)
		return trace_guard_most(t, r, DBL_MAX, err);
	divisor = ints ? trace_size_value(r->y) : trace_real_value(r->b);
	if (!trace_size_compare(t, CMP_NE, divisor, value_int(0), &v, err) ||
	    !trace_size_truth(t, v, &nonzero, err))
		return false;
	return nonzero || trace_pin_value(t, trace_real_value(r), err);
}

/* What is computed of `a` and `b`; NULL: too long an expression, so that they are
 * specialised. */
static bool give(struct trace *t, const struct symreal *r, struct value a, struct value b,
		 struct value *out, struct err *err)
{
	if (!r)
		return trace_pin_both(t, a, b, err);
	if (symreal_may_fail(r) && !guard_failure(t, r, err))
		return false;
	t->computes_sizes = true;
	t->n_number_ops++;
	*out = trace_real_value(r);
	return true;
}

static int kind_of(enum binop op)
{
	switch (op) {
	case BIN_ADD:
		return REAL_ADD;
	case BIN_SUB:
		return REAL_SUB;
	case BIN_MUL:
		return REAL_MUL;
	case BIN_TRUEDIV:
		return REAL_DIV;
	case BIN_FLOORDIV:
		return REAL_FLOORDIV;
	case BIN_MOD:
		return REAL_MOD;
	case BIN_POW:
		return REAL_POW;
	default:
		return -1;
	}
}

static bool is_int(struct value v)
{
	return v.kind == VALUE_INT || v.kind == VALUE_BOOL || v.kind == VALUE_SYMINT;
}

bool trace_real_binary(struct trace *t, enum binop op, struct value a, struct value b,
		       struct value *out, struct err *err)
{
	struct symtab *syms = t->graph->syms;
	int kind = kind_of(op);

	if (kind < 0)
		return trace_pin_both(t, a, b, err);
	if (op == BIN_TRUEDIV && is_int(a) && is_int(b))
		return give(t, symreal_ratio(syms, trace_size(t, a), trace_size(t, b)), a, b, out,
			    err);
	return give(
	    t, symreal_binary(syms, (enum symreal_kind)kind, trace_real(t, a), trace_real(t, b)), a,
	    b, out, err);
}

/* int(), math.floor() and so on. */
static bool trace_whole(struct trace *t, enum symreal_whole how, struct value v, struct value *out,
			struct err *err)
{
	const struct symreal *r = trace_real(t, v);
	const struct sym *whole;

	if (r && !trace_guard_most(t, r, 0x1p62, err))
		return false;
	whole = r ? symreal_whole(t->graph->syms, how, r) : NULL;
	if (!whole)
		return trace_pin_value(t, v, err);
	t->computes_sizes = true;
	t->n_number_ops++;
	*out = trace_size_value(whole);
	return true;
}

bool trace_cast(struct trace *t, enum value_kind kind, struct value a, struct value *out,
		struct err *err)
{
	bool truth;

	if (kind == VALUE_BOOL && a.kind == VALUE_SYMBOOL) {
		*out = a;
		return true;
	}
	if (kind == VALUE_BOOL)
		return trace_size_compare(
		    t, CMP_NE, a, trace_is_real(a) ? value_float(0) : value_int(0), out, err);
	if (a.kind == VALUE_SYMBOOL) {
		if (!trace_size_truth(t, a, &truth, err))
			return false;
		*out = kind == VALUE_INT ? value_int(truth) : value_float(truth);
		return true;
	}
	if (kind == VALUE_INT && a.kind != VALUE_SYMINT)
		return trace_whole(t, WHOLE_TRUNC, a, out, err);
	if (kind == VALUE_FLOAT && a.kind == VALUE_SYMINT)
		return give(t, symreal_int(t->graph->syms, a.sym), a, a, out, err);
	*out = a;
	return true;
}

/* ---- math and round() ---- */

static bool round_number(struct trace *t, const struct value *args, int n, bool *known,
			 struct value *out, struct err *err)
{
	bool digits = n == 2 && args[1].kind != VALUE_NONE;

	if (digits && args[1].kind != VALUE_INT) {
		*known = false;
		return true;
	}
	if (is_int(args[0])) {
		*known = !digits || args[1].i >= 0;
		*out = args[0];
		return true;
	}
	if (!digits)
		return trace_whole(t, WHOLE_ROUND, args[0], out, err);
	*known = args[1].i >= -308 && args[1].i <= 323;
	return !*known ||
	       give(t, symreal_round(t->graph->syms, trace_real(t, args[0]), (int)args[1].i),
		    args[0], args[0], out, err);
}

static bool logarithm_to(struct trace *t, struct value x, struct value base, struct value *out,
			 struct err *err)
{
	struct symtab *syms = t->graph->syms;
	int log = symreal_function("log", 1);
	struct value top, bottom;

	if (!give(t, symreal_call(syms, log, trace_real(t, x), NULL), x, x, &top, err) ||
	    !give(t, symreal_call(syms, log, trace_real(t, base), NULL), base, base, &bottom, err))
		return false;
	return trace_real_binary(t, BIN_TRUEDIV, top, bottom, out, err);
}

/* One that is no function of the C library. */
static bool other_math(struct trace *t, const char *name, const struct arguments *call, bool *known,
		       struct value *out, struct err *err)
{
	static const char *const names[] = { "trunc", "floor", "ceil" };
	const struct value *args = call->at;
	int n = call->n;

	for (int i = 0; i < 3; i++) {
		if (strcmp(name, names[i]) != 0 || n != 1)
			continue;
		if (args[0].kind != VALUE_SYMINT)
			return trace_whole(t, (enum symreal_whole)i, args[0], out, err);
		*out = args[0];
		return true;
	}
	if (strcmp(name, "degrees") == 0)
		return trace_real_binary(t, BIN_MUL, args[0], value_float(180.0 / M_PI), out, err);
	if (strcmp(name, "radians") == 0)
		return trace_real_binary(t, BIN_MUL, args[0], value_float(M_PI / 180.0), out, err);
	if (strcmp(name, "pow") == 0 && n == 2)
		return give(t,
			    symreal_binary(t->graph->syms, REAL_POW, trace_real(t, args[0]),
					   trace_real(t, args[1])),
			    args[0], args[1], out, err);
	if (strcmp(name, "log") == 0 && n == 2)
		return logarithm_to(t, args[0], args[1], out, err);
	*known = false;
	return true;
}

bool trace_math(void *self, const struct native *f, const struct arguments *call, bool *known,
		struct value *out, struct err *err)
{
	struct trace *t = self;
	const char *name = builtin_row(f->id)->name;
	const struct value *args = call->at;
	int n = call->n, function = n == 1 || n == 2 ? symreal_function(name, n) : -1;

	*known = false;
	for (int i = 0; i < n; i++)
		if (trace_is_deferred(t, args[i]))
			return deferred_math(t, f, call, known, out, err);
	for (int i = 0; i < n; i++)
		if (args[i].kind == VALUE_SYMBOOL ||
		    (!value_is_number(args[i]) && args[i].kind != VALUE_NONE &&
		     (!value_is_hosted(args[i]) || args[i].kind == VALUE_TENSOR)))
			return true;
	*known = true;
	if (strcmp(name, "round") == 0)
		return round_number(t, args, n, known, out, err);
	if (function < 0)
		return other_math(t, name, call, known, out, err);
	return give(t,
		    symreal_call(t->graph->syms, function, trace_real(t, args[0]),
				 n == 2 ? trace_real(t, args[1]) : NULL),
		    args[0], args[n - 1], out, err);
}

/* As torch: of a tensor of one element it is a clamp, of two the lesser or the greater. */
static bool tensor_extreme(struct trace *t, bool least, const struct value *two, bool *known,
			   struct value *out, struct err *err)
{
	struct value ordered[2] = { two[0], two[1] };
	bool both = two[0].kind == VALUE_TENSOR && two[1].kind == VALUE_TENSOR;
	struct shape shape[2];
	enum dtype dtype[2];

	*known = false;
	if (t->native)
		return true;
	if (ordered[0].kind != VALUE_TENSOR) {
		ordered[0] = two[1];
		ordered[1] = two[0];
	}
	if (!both && ordered[1].kind != VALUE_INT && ordered[1].kind != VALUE_FLOAT)
		return true;
	for (int i = 0; i < 1 + both; i++) {
		if (!trace_shape(t, ordered[i], &shape[i], &dtype[i], err))
			return false;
		if (!trace_is_single(t, ordered[i]) || dtype_category(dtype[i]) != CATEGORY_FLOAT)
			return true;
	}
	if (both && (dtype[0] != dtype[1] || shape[0].rank != shape[1].rank))
		return true;
	*known = true;
	return trace_op(
	    t,
	    &(struct op_call){ both ? (least ? OP_minimum : OP_maximum)
				    : (least ? OP_clamp_max : OP_clamp_min),
			       both ? (least ? "fx:minimum" : "fx:maximum") : "fx:clamp", false,
			       ordered, 2, NULL },
	    out, err);
}

/* As torch: the symbol comes first, so it is the result where both are equal, and the guard is for
 * which of them it is. */
static bool real_extreme(struct trace *t, bool least, const struct value *two, bool *known,
			 struct value *out, struct err *err)
{
	bool second = value_is_number(two[0]);
	struct value first = two[second], other = two[!second], v;
	bool replaced;

	*known = two[0].kind != VALUE_BOOL && two[1].kind != VALUE_BOOL &&
		 two[0].kind != VALUE_SYMBOOL && two[1].kind != VALUE_SYMBOOL &&
		 (value_is_number(other) || value_is_hosted(other));
	if (!*known)
		return true;
	if (!trace_size_compare(t, least ? CMP_LT : CMP_GT, other, first, &v, err) ||
	    !trace_size_truth(t, v, &replaced, err))
		return false;
	*out = replaced ? other : first;
	return true;
}

bool trace_extreme(void *self, bool least, const struct value *two, bool *known, struct value *out,
		   struct err *err)
{
	struct trace *t = self;
	struct value a = two[0], b = two[1];
	struct symtab *syms = t->graph->syms;
	const struct sym *s;

	if (trace_is_deferred(t, a) || trace_is_deferred(t, b))
		return deferred_extreme(t, least, two, known, out, err);
	if (a.kind == VALUE_TENSOR || b.kind == VALUE_TENSOR)
		return tensor_extreme(t, least, two, known, out, err);
	/* of an int and a float, which type it is depends on which is more */
	if (!is_int(a) || !is_int(b))
		return real_extreme(t, least, two, known, out, err);
	*known = a.kind != VALUE_BOOL && b.kind != VALUE_BOOL;
	if (!*known)
		return true;
	s = least ? sym_min(syms, trace_size(t, a), trace_size(t, b))
		  : sym_max(syms, trace_size(t, a), trace_size(t, b));
	if (!s)
		return trace_no_memory(err);
	t->computes_sizes = true;
	*out = trace_size_value(s);
	return true;
}
