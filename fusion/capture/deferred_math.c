/* fusion/capture/deferred_math.c -- functions of Python's on numbers that the graph computes.
 *
 * Where a result is not finite Python mostly raises: then eager runs the piece.
 */
#include <math.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/operators.h"
#include "fusion/capture/deferred.h"

static int number(struct trace *t, enum symreal_kind kind, int function, int x, int y,
		  struct err *err)
{
	struct arg args[4] = { arg_node(x), arg_node(y), arg_int(t->graph, kind),
			       arg_int(t->graph, function) };

	if (!args[2].sym || !args[3].sym) {
		trace_no_memory(err);
		return -1;
	}
	return late_add(t, OP_number, args, 4, err);
}

int late_number(struct trace *t, enum symreal_kind kind, int x, int y, struct err *err)
{
	return number(t, kind, 0, x, y, err);
}

int late_function(struct trace *t, int function, int x, int y, struct err *err)
{
	return number(t, REAL_FUNCTION, function, x, y, err);
}

static int float_node(struct trace *t, struct value v, struct err *err)
{
	if (v.kind == VALUE_NONE) {
		err_set(err, ERR_TYPE, "must be real number, not NoneType");
		return -1;
	}
	return late_convert(t, late_node(t, v, err), DTYPE_F64, err);
}

static int finite_node(struct trace *t, int node, struct err *err)
{
	return node >= 0 && late_within(t, node, INFINITY, err) ? node : -1;
}

static int logarithm(struct trace *t, const struct value *args, int n, struct err *err)
{
	int log = symreal_function("log", 1), x = float_node(t, args[0], err), base;

	x = finite_node(t, late_function(t, log, x, x, err), err);
	if (n == 1 || x < 0)
		return x;
	base = float_node(t, args[1], err);
	base = finite_node(t, late_function(t, log, base, base, err), err);
	return finite_node(t, late_two(t, OP_truediv, x, base, err), err);
}

/* isnan, isinf, isfinite */
static int classify(struct trace *t, const char *name, struct value v, struct err *err)
{
	int x = float_node(t, v, err), size;

	if (strcmp(name, "isnan") == 0)
		return late_one(t, OP_isnan, x, err);
	size = late_one(t, OP_abs, x, err);
	return late_two(t, strcmp(name, "isinf") == 0 ? OP_eq : OP_lt, size,
			late_float(t, INFINITY, err), err);
}

/* floor, ceil, trunc, and round() to a whole number */
static int to_whole(struct trace *t, enum op op, struct value v, struct err *err)
{
	int x = late_node(t, v, err);

	if (x < 0 || t->graph->nodes[x]->dtype != DTYPE_F64)
		return late_convert(t, x, DTYPE_I64, err);
	return late_whole(t, late_one(t, op, x, err), err);
}

static int absolute(struct trace *t, struct value v, struct err *err)
{
	int x = late_node(t, v, err);

	if (x >= 0 && t->graph->nodes[x]->dtype != DTYPE_F64) {
		x = late_convert(t, x, DTYPE_I64, err);
		if (x < 0 || !late_within(t, x, 0x1p63, err)) /* -2^63 has none */
			return -1;
	}
	return late_one(t, OP_abs, x, err);
}

static int rounded(struct trace *t, struct value v, struct value digits, bool *known,
		   struct err *err)
{
	enum value_kind type = late_type(v);
	int x;

	*known = digits.kind == VALUE_NONE ||
		 (digits.kind == VALUE_INT && (type == VALUE_FLOAT || digits.i >= 0));
	if (!*known)
		return -1;
	if (digits.kind == VALUE_NONE || type != VALUE_FLOAT)
		return to_whole(t, OP_round, v, err);
	x = float_node(t, v, err);
	return finite_node(
	    t, late_number(t, REAL_ROUND, x, late_float(t, (double)digits.i, err), err), err);
}

static bool is_one_of(const char *name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* A function of the module math, with its arguments in order. */
static int of_math(struct trace *t, const char *name, const struct value *args, int n, bool *known,
		   struct err *err)
{
	static const char *const wholes[] = { "floor", "ceil", "trunc" };
	static const enum op whole_ops[] = { OP_floor, OP_ceil, OP_trunc };
	static const char *const classes[] = { "isnan", "isinf", "isfinite" };
	static const char *const angles[] = { "degrees", "radians" };
	int function = n == 1 || n == 2 ? symreal_function(name, n) : -1, x, y;

	*known = true;
	for (int i = 0; i < 3; i++)
		if (n == 1 && strcmp(name, wholes[i]) == 0)
			return to_whole(t, whole_ops[i], args[0], err);
	if (n == 1 && is_one_of(name, classes, 3))
		return classify(t, name, args[0], err);
	if (strcmp(name, "log") == 0)
		return logarithm(t, args, n, err);
	*known = function >= 0 || (strcmp(name, "pow") == 0 && n == 2) ||
		 is_one_of(name, angles, 2);
	x = *known ? float_node(t, args[0], err) : -1;
	if (x < 0)
		return -1;
	if (is_one_of(name, angles, 2))
		y = late_float(t, name[0] == 'd' ? 180.0 / M_PI : M_PI / 180.0, err);
	else
		y = n == 2 ? float_node(t, args[1], err) : x;
	if (is_one_of(name, angles, 2))
		x = late_two(t, OP_mul, x, y, err);
	else if (function >= 0)
		x = late_function(t, function, x, y, err);
	else
		x = late_number(t, REAL_POW, x, y, err);
	return finite_node(t, x, err);
}

bool late_extreme(struct trace *t, bool least, struct value a, struct value b, bool *known,
		  struct value *out, struct err *err)
{
	struct value test;

	*known = late_type(a) != VALUE_UNSET && late_type(a) == late_type(b);
	return !*known || (late_compare(t, least ? CMP_LT : CMP_GT, b, a, &test, err) &&
			   late_pick(t, test, b, a, known, out, err));
}

bool late_math(struct trace *t, const struct native *f, const struct value *args, int n,
	       bool *known, struct value *out, struct err *err)
{
	const struct builtin *row = builtin_row(f->id);
	int node = -1;

	*known = false;
	for (int i = 0; i < n; i++)
		if (late_type(args[i]) == VALUE_UNSET && args[i].kind != VALUE_SYMINT &&
		    args[i].kind != VALUE_NONE)
			return true;
	if (row->scope[0] != '\0') {
		node = of_math(t, row->name, args, n, known, err);
	} else if (strcmp(row->name, "abs") == 0 && n == 1) {
		*known = true;
		node = absolute(t, args[0], err);
	} else if (strcmp(row->name, "round") == 0 && (n == 1 || n == 2)) {
		node = rounded(t, args[0], n == 2 ? args[1] : value_none(), known, err);
	}
	t->n_ops += *known;
	return !*known || late_finish(t, node, out);
}

bool late_pick(void *self, struct value condition, struct value a, struct value b, bool *known,
	       struct value *out, struct err *err)
{
	struct trace *t = self;
	struct value test;
	bool ok;

	*known = t->native && condition.kind == VALUE_LATEBOOL && !value_is_text(a);
	if (!*known)
		return true;
	if (!trace_wrap(t, (int)condition.i, &test, err))
		return false;
	ok = late_choose(t, test, a, b, known, out, err);
	value_unref(test);
	return ok;
}

/* torch.full(size, n), torch.full_like(x, n): n everywhere, in the dtype that a
 * number of its type has there. */
bool late_full(struct trace *t, enum op op, const char *name, struct value *values, int n,
	       const struct keywords *kw, bool *known, struct value *out, struct err *err)
{
	static const struct value zeros[] = { { .kind = VALUE_BOOL },
					      { .kind = VALUE_INT },
					      { .kind = VALUE_FLOAT } };
	int positional = kw ? n - kw->n : n, at = positional > 1 ? 1 : -1, nodes[3];
	bool yes = true, ok;
	struct shape none = { .rank = 0 };
	struct value value, empty;

	for (int i = 0; at < 0 && kw && i < kw->n; i++)
		at = strcmp(kw->names[i].str->text, "fill_value") == 0 ? positional + i : -1;
	*known = (op == OP_full || op == OP_full_like) && at >= 0 && trace_is_late(t, values[at]);
	if (!*known)
		return true;
	value = values[at];
	values[at] = zeros[late_type(value) - VALUE_BOOL];
	ok = trace_op(t, op, name, false, values, n, kw, &empty, err);
	values[at] = value;
	if (!ok)
		return false;
	nodes[2] = trace_node(t, empty, err);
	value_unref(empty);
	nodes[0] = graph_constant(t->graph, DTYPE_BOOL, &none, &yes);
	if (nodes[2] < 0 || nodes[0] < 0)
		return trace_no_memory(err);
	nodes[1] = late_convert(t, (int)value.i, t->graph->nodes[nodes[2]]->dtype, err);
	nodes[0] = late_add(
	    t, OP_where,
	    (struct arg[]){ arg_node(nodes[0]), arg_node(nodes[1]), arg_node(nodes[2]) }, 3, err);
	return nodes[0] >= 0 && trace_wrap(t, nodes[0], out, err);
}
