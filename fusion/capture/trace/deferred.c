/* fusion/capture/trace/deferred.c -- numbers of the program that the graph computes.
 *
 * Policy native: x.item() does not end the graph.  The number is a node of 0
 * dims, float64, int64 or bool as Python's type is; arithmetic and comparisons
 * on it are nodes, too.  It is read when the graph has run, where it is part of
 * what the piece leaves.  What Python needs at once is a break there.
 *
 * Where Python would raise (a division by zero), the graph computes whether it
 * does, and eager runs the piece if so.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/capture/trace/trace.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/frame.h"
#include "fusion/vm/operators.h"

/* ---- Functions of Python's on numbers that the graph computes.
 *
 * Where a result is not finite Python mostly raises: then eager runs the piece. */

static int deferred_add(struct trace *t, enum op op, const struct arg *args, int n,
			struct err *err);

static int number(struct trace *t, enum symreal_kind kind, int function, int x, int y,
		  struct err *err)
{
	struct arg args[4] = { arg_node(x), arg_node(y), arg_int(t->graph, kind),
			       arg_int(t->graph, function) };

	if (!args[2].sym || !args[3].sym) {
		trace_no_memory(err);
		return -1;
	}
	return deferred_add(t, OP_number, args, 4, err);
}

/* POW, FLOORDIV, MOD, ROUND; a function of math: of one operand, y is x. */
static int deferred_number(struct trace *t, enum symreal_kind kind, int x, int y, struct err *err)
{
	return number(t, kind, 0, x, y, err);
}

static int deferred_function(struct trace *t, int function, int x, int y, struct err *err)
{
	return number(t, REAL_FUNCTION, function, x, y, err);
}

static int deferred_convert(struct trace *t, int node, enum dtype dtype, struct err *err);

static int float_node(struct trace *t, struct value v, struct err *err)
{
	if (v.kind == VALUE_NONE) {
		err_set(err, ERR_TYPE, "must be real number, not NoneType");
		return -1;
	}
	return deferred_convert(t, deferred_node(t, v, err), DTYPE_F64, err);
}

static int finite_node(struct trace *t, int node, struct err *err)
{
	return node >= 0 && deferred_within(t, node, INFINITY, err) ? node : -1;
}

static int deferred_two(struct trace *t, enum op op, int a, int b, struct err *err);

static int logarithm(struct trace *t, const struct value *args, int n, struct err *err)
{
	int log = symreal_function("log", 1), x = float_node(t, args[0], err), base;

	x = finite_node(t, deferred_function(t, log, x, x, err), err);
	if (n == 1 || x < 0)
		return x;
	base = float_node(t, args[1], err);
	base = finite_node(t, deferred_function(t, log, base, base, err), err);
	return finite_node(t, deferred_two(t, OP_truediv, x, base, err), err);
}

static int deferred_one(struct trace *t, enum op op, int a, struct err *err);
static int deferred_float(struct trace *t, double f, struct err *err);

/* isnan, isinf, isfinite */
static int classify(struct trace *t, const char *name, struct value v, struct err *err)
{
	int x = float_node(t, v, err), size;

	if (strcmp(name, "isnan") == 0)
		return deferred_one(t, OP_isnan, x, err);
	size = deferred_one(t, OP_abs, x, err);
	return deferred_two(t, strcmp(name, "isinf") == 0 ? OP_eq : OP_lt, size,
			    deferred_float(t, INFINITY, err), err);
}

static int deferred_whole(struct trace *t, int node, struct err *err);

/* floor, ceil, trunc, and round() to a whole number */
static int to_whole(struct trace *t, enum op op, struct value v, struct err *err)
{
	int x = deferred_node(t, v, err);

	if (x < 0 || t->graph->nodes[x]->dtype != DTYPE_F64)
		return deferred_convert(t, x, DTYPE_I64, err);
	return deferred_whole(t, deferred_one(t, op, x, err), err);
}

static int absolute(struct trace *t, struct value v, struct err *err)
{
	int x = deferred_node(t, v, err);

	if (x >= 0 && t->graph->nodes[x]->dtype != DTYPE_F64) {
		x = deferred_convert(t, x, DTYPE_I64, err);
		if (x < 0 || !deferred_within(t, x, 0x1p63, err)) /* -2^63 has none */
			return -1;
	}
	return deferred_one(t, OP_abs, x, err);
}

static int rounded(struct trace *t, struct value v, struct value digits, bool *known,
		   struct err *err)
{
	enum value_kind type = deferred_type(v);
	int x;

	*known = digits.kind == VALUE_NONE ||
		 (digits.kind == VALUE_INT && (type == VALUE_FLOAT || digits.i >= 0));
	if (!*known)
		return -1;
	if (digits.kind == VALUE_NONE || type != VALUE_FLOAT)
		return to_whole(t, OP_round, v, err);
	x = float_node(t, v, err);
	return finite_node(
	    t, deferred_number(t, REAL_ROUND, x, deferred_float(t, (double)digits.i, err), err),
	    err);
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
		y = deferred_float(t, name[0] == 'd' ? 180.0 / M_PI : M_PI / 180.0, err);
	else
		y = n == 2 ? float_node(t, args[1], err) : x;
	if (is_one_of(name, angles, 2))
		x = deferred_two(t, OP_mul, x, y, err);
	else if (function >= 0)
		x = deferred_function(t, function, x, y, err);
	else
		x = deferred_number(t, REAL_POW, x, y, err);
	return finite_node(t, x, err);
}

bool deferred_extreme(struct trace *t, bool least, const struct value *two, bool *known,
		      struct value *out, struct err *err)
{
	struct host_choice c = { .a = two[1], .b = two[0] };

	*known = deferred_type(c.a) != VALUE_UNSET && deferred_type(c.a) == deferred_type(c.b);
	return !*known ||
	       (deferred_compare(t, least ? CMP_LT : CMP_GT, c.a, c.b, &c.condition, err) &&
		deferred_pick(t, &c, known, out, err));
}

static bool deferred_finish(struct trace *t, int node, struct value *out);

bool deferred_math(struct trace *t, const struct native *f, const struct arguments *call,
		   bool *known, struct value *out, struct err *err)
{
	const struct builtin *row = builtin_row(f->id);
	const struct value *args = call->at;
	int node = -1, n = call->n;

	*known = false;
	for (int i = 0; i < n; i++)
		if (deferred_type(args[i]) == VALUE_UNSET && args[i].kind != VALUE_SYMINT &&
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
	return !*known || deferred_finish(t, node, out);
}

bool deferred_pick(void *self, const struct host_choice *c, bool *known, struct value *out,
		   struct err *err)
{
	struct trace *t = self;
	struct host_choice test = *c;
	bool ok;

	*known = t->native && c->condition.kind == VALUE_DEFERRED_BOOL && !value_is_text(c->a);
	if (!*known)
		return true;
	if (!trace_wrap(t, (int)c->condition.i, &test.condition, err))
		return false;
	ok = deferred_choose(t, &test, known, out, err);
	value_unref(test.condition);
	return ok;
}

/* torch.full(size, n), torch.full_like(x, n): n everywhere, in the dtype that a
 * number of its type has there. */
bool deferred_full(struct trace *t, const struct op_call *call, bool *known, struct value *out,
		   struct err *err)
{
	static const struct value zeros[] = { { .kind = VALUE_BOOL },
					      { .kind = VALUE_INT },
					      { .kind = VALUE_FLOAT } };
	const struct keywords *kw = call->kw;
	int positional = kw ? call->n - kw->n : call->n, at = positional > 1 ? 1 : -1, nodes[3];
	bool yes = true;
	struct shape none = { .rank = 0 };
	struct value value, empty, values[MAX_ARGS + 1];
	struct op_call zero = *call;

	for (int i = 0; at < 0 && kw && i < kw->n; i++)
		at = strcmp(kw->names[i].str->text, "fill_value") == 0 ? positional + i : -1;
	*known = (call->op == OP_full || call->op == OP_full_like) && at >= 0 &&
		 trace_is_deferred(t, call->values[at]);
	if (!*known)
		return true;
	value = call->values[at];
	memcpy(values, call->values, sizeof(*values) * (size_t)call->n);
	values[at] = zeros[deferred_type(value) - VALUE_BOOL];
	zero.values = values;
	zero.inplace = false;
	if (!trace_op(t, &zero, &empty, err))
		return false;
	nodes[2] = trace_node(t, empty, err);
	value_unref(empty);
	nodes[0] = graph_constant(t->graph, DTYPE_BOOL, &none, &yes);
	if (nodes[2] < 0 || nodes[0] < 0)
		return trace_no_memory(err);
	nodes[1] = deferred_convert(t, (int)value.i, t->graph->nodes[nodes[2]]->dtype, err);
	nodes[0] = deferred_add(
	    t, OP_where,
	    (struct arg[]){ arg_node(nodes[0]), arg_node(nodes[1]), arg_node(nodes[2]) }, 3, err);
	return nodes[0] >= 0 && trace_wrap(t, nodes[0], out, err);
}

enum { MAX_LISTED = 64 }; /* elements of a tensor that become numbers */

static int deferred_add(struct trace *t, enum op op, const struct arg *args, int n, struct err *err)
{
	struct arg all[MAX_ARGS] = { 0 };
	int node;

	for (int i = 0; i < n; i++) {
		if (args[i].kind == ARG_NODE && args[i].node < 0)
			return -1;
		all[i] = args[i];
	}
	node = graph_add(
	    t->graph,
	    &(struct node_spec){ op, all, op_info(op)->n_params, t->host.line, t->host.column },
	    err);
	if (node >= 0)
		t->graph->nodes[node]->detached = true; /* no gradient flows through a number */
	return node;
}

static int deferred_one(struct trace *t, enum op op, int a, struct err *err)
{
	struct arg arg = arg_node(a);

	return deferred_add(t, op, &arg, 1, err);
}

static int deferred_two(struct trace *t, enum op op, int a, int b, struct err *err)
{
	struct arg args[2] = { arg_node(a), arg_node(b) };

	return deferred_add(t, op, args, 2, err);
}

static int deferred_convert(struct trace *t, int node, enum dtype dtype, struct err *err)
{
	struct arg args[2] = { arg_node(node), arg_dtype(dtype) };

	if (node < 0 || t->graph->nodes[node]->dtype == dtype)
		return node;
	if (dtype == DTYPE_BOOL) {
		args[1] = arg_int(t->graph, 0);
		return deferred_add(t, OP_ne, args, 2, err);
	}
	return deferred_add(t, OP_to, args, 2, err);
}

static int constant(struct trace *t, enum dtype dtype, const void *data, struct err *err)
{
	struct shape shape = { .rank = 0 };
	int node = graph_constant(t->graph, dtype, &shape, data);

	if (node < 0)
		trace_no_memory(err);
	return node;
}

static int deferred_float(struct trace *t, double f, struct err *err)
{
	return constant(t, DTYPE_F64, &f, err);
}

static int deferred_int(struct trace *t, int64_t i, struct err *err)
{
	return constant(t, DTYPE_I64, &i, err);
}

/* A symbolic int as a node: its value is one of each call. */
static int symbol(struct trace *t, const struct sym *s, struct err *err)
{
	struct arg args[2] = { arg_node(deferred_int(t, 0, err)), arg_sym(s) };

	return deferred_add(t, OP_add, args, 2, err);
}

/* A number as a node of its own dtype; -1 with *err. */
int deferred_node(struct trace *t, struct value v, struct err *err)
{
	switch (v.kind) {
	case VALUE_FLOAT:
		return deferred_float(t, v.f, err);
	case VALUE_INT:
		return deferred_int(t, v.i, err);
	case VALUE_BOOL:
		return constant(t, DTYPE_BOOL, &v.b, err);
	case VALUE_SYMINT:
		return symbol(t, v.sym, err);
	case VALUE_SYMREAL:
		return trace_real_node(t, v.real, err);
	case VALUE_SYMBOOL:
		return trace_settle(t, &v, err) ? constant(t, DTYPE_BOOL, &v.b, err) : -1;
	default:
		return (int)v.i;
	}
}

struct value deferred_value(const struct trace *t, int node)
{
	enum dtype dtype = t->graph->nodes[node]->dtype;

	return (struct value){ .kind = dtype == DTYPE_I64    ? VALUE_DEFERRED_INT
				       : dtype == DTYPE_BOOL ? VALUE_DEFERRED_BOOL
							     : VALUE_SYMFLOAT,
			       .i = node };
}

static bool deferred_finish(struct trace *t, int node, struct value *out)
{
	if (node < 0)
		return false;
	*out = deferred_value(t, node);
	return true;
}

bool deferred_expect(struct trace *t, int node, bool expected, struct err *err)
{
	if (!expected)
		node = deferred_one(t, OP_logical_not, node, err);
	if (node < 0)
		return false;
	return VEC_PUSH(&t->asserts, node) || trace_no_memory(err);
}

/* A number that the program wrote down. */
static bool is_written_within(const struct trace *t, int node, double most)
{
	const struct node *n = t->graph->nodes[node];

	if (n->op != OP_tensor || !n->data)
		return false;
	return n->dtype == DTYPE_F64   ? fabs(*(const double *)n->data) < most
	       : n->dtype == DTYPE_I64 ? fabs((double)*(const int64_t *)n->data) < most
				       : n->dtype == DTYPE_BOOL;
}

bool deferred_within(struct trace *t, int node, double most, struct err *err)
{
	int size;

	if (node >= 0 && is_written_within(t, node, most))
		return true;
	size = deferred_one(t, OP_abs, deferred_convert(t, node, DTYPE_F64, err), err);

	return deferred_expect(t, deferred_two(t, OP_lt, size, deferred_float(t, most, err), err),
			       true, err);
}

/* Python would raise for 0. */
static bool expect_nonzero(struct trace *t, int node, struct err *err)
{
	return deferred_expect(t, deferred_convert(t, node, DTYPE_BOOL, err), true, err);
}

/* int() of a float: what does not fit, NaN too, is an error of Python's. */
static int deferred_whole(struct trace *t, int node, struct err *err)
{
	int cut;

	if (node < 0 || !deferred_within(t, node, 0x1p63, err))
		return -1;
	cut = deferred_one(t, OP_trunc, node, err);
	return deferred_convert(t, cut, DTYPE_I64, err);
}

bool deferred_cast(struct trace *t, enum value_kind kind, struct value a, struct value *out,
		   struct err *err)
{
	int node = deferred_node(t, a, err);

	if (node < 0)
		return false;
	if (kind == VALUE_FLOAT)
		node = deferred_convert(t, node, DTYPE_F64, err);
	else if (kind == VALUE_BOOL)
		node = deferred_convert(t, node, DTYPE_BOOL, err);
	else if (t->graph->nodes[node]->dtype == DTYPE_F64)
		node = deferred_whole(t, node, err);
	else
		node = deferred_convert(t, node, DTYPE_I64, err);
	return deferred_finish(t, node, out);
}

bool deferred_not(struct trace *t, struct value a, struct value *out, struct err *err)
{
	int node = deferred_convert(t, deferred_node(t, a, err), DTYPE_BOOL, err);

	return deferred_finish(t, deferred_one(t, OP_logical_not, node, err), out);
}

/* The dtype of Python's numbers. */
static enum dtype number_dtype(enum dtype dtype)
{
	return dtype == DTYPE_BOOL                     ? DTYPE_BOOL
	       : dtype_category(dtype) == CATEGORY_INT ? DTYPE_I64
						       : DTYPE_F64;
}

/* The tensor in a new shape; -1. */
static int reshaped(struct trace *t, struct value tensor, struct value sizes, struct err *err)
{
	struct value values[2] = { tensor, sizes }, flat;
	int node = -1;

	if (sizes.kind == VALUE_UNSET) {
		trace_no_memory(err);
		return -1;
	}
	if (trace_op(t, &(struct op_call){ OP_reshape, "fx:", false, values, 2, NULL }, &flat,
		     err)) {
		node = trace_node(t, flat, err);
		value_unref(flat);
	}
	value_unref(sizes);
	return node;
}

/* The one element as a node of 0 dims that is no input of the graph and has no gradient. */
static int element(struct trace *t, struct value tensor, const struct shape *shape,
		   enum dtype dtype, struct err *err)
{
	enum dtype as = number_dtype(dtype);
	int node = shape->rank > 0 ? reshaped(t, tensor, value_tuple(NULL, 0), err)
				   : trace_node(t, tensor, err);
	struct arg args[2] = { arg_node(node), arg_dtype(as) };

	if (node >= 0 && as == dtype && dtype != DTYPE_F64 && t->graph->nodes[node]->input < 0)
		return node;
	return deferred_add(t, OP_to, args, 2, err);
}

/* ---- tolist() ---- */

struct listing {
	struct trace *t;
	const int64_t *size;
	int rank, flat, next;
	enum dtype dtype;
	struct err *err;
};

static bool list_from(struct listing *l, int dim, struct value *out)
{
	struct trace *t = l->t;
	struct value list, item = { .kind = VALUE_UNSET };
	int node;

	if (dim == l->rank) {
		struct arg args[3] = { arg_node(l->flat), arg_int(t->graph, 0),
				       arg_int(t->graph, l->next++) };

		node = deferred_add(t, OP_select, args, 3, l->err);
		return deferred_finish(
		    t,
		    deferred_add(t, OP_to, (struct arg[]){ arg_node(node), arg_dtype(l->dtype) }, 2,
				 l->err),
		    out);
	}
	if (!vm_keep(t->vm, value_list(NULL, 0), &list, l->err))
		return false;
	for (int64_t i = 0; i < l->size[dim]; i++) {
		bool ok = list_from(l, dim + 1, &item) &&
			  (value_list_push(list.list, item) || trace_no_memory(l->err));

		if (ok || value_counted(item))
			value_unref(item);
		if (!ok) {
			value_unref(list);
			return false;
		}
	}
	*out = list;
	return true;
}

bool deferred_list(struct trace *t, struct value tensor, bool *known, struct value *out,
		   struct err *err)
{
	int64_t size[MAX_RANK], numel = 1;
	struct listing l = { .t = t, .size = size, .err = err };
	struct shape shape;
	struct value count;

	*known = false;
	if (!t->native)
		return true;
	if (!trace_shape(t, tensor, &shape, &l.dtype, err))
		return false;
	for (int d = 0; d < shape.rank; d++) {
		size[d] = sym_hint(t->graph->syms, shape.size[d]);
		numel *= size[d] < MAX_LISTED ? size[d] : MAX_LISTED + 1;
		if (numel > MAX_LISTED)
			return true;
	}
	for (int d = 0; d < shape.rank; d++)
		if (!sym_is_const(shape.size[d]))
			return trace_pin(t, shape.size[d], err);
	l.rank = shape.rank;
	l.dtype = number_dtype(l.dtype);
	count = value_int(numel);
	l.flat = numel > 0 ? reshaped(t, tensor, value_tuple(&count, 1), err) : 0;
	*known = l.flat >= 0 && list_from(&l, 0, out);
	return *known;
}

/* ---- casts ---- */

bool deferred_read(struct trace *t, enum value_kind kind, struct value a, bool *known,
		   struct value *out, struct err *err)
{
	struct shape shape;
	enum dtype dtype;
	int node;

	*known = false;
	if (!t->native)
		return true;
	if (!trace_shape(t, a, &shape, &dtype, err))
		return false;
	for (int d = 0; d < shape.rank; d++)
		if (!sym_is(shape.size[d], 1))
			return true;
	*known = true;
	node = element(t, a, &shape, dtype, err);
	if (node < 0)
		return false;
	if (kind == VALUE_UNSET)
		return deferred_finish(t, node, out);
	return deferred_cast(
	    t, kind, (struct value){ .kind = deferred_value(t, node).kind, .i = node }, out, err);
}

static bool is_float(const struct trace *t, int node)
{
	return t->graph->nodes[node]->dtype == DTYPE_F64;
}

/* ---- operators ---- */

static bool is_small(const struct node *n)
{
	return n->op == OP_tensor && n->dtype == DTYPE_I64 && n->data && n->shape.rank == 0 &&
	       *(const int64_t *)n->data <= 1 << 20 && *(const int64_t *)n->data >= -(1 << 20);
}

/* A number that a loop carries, and that its rounds only count on: it begins below
 * 2^62 (while_loop.c), and no loop has rounds enough to get beyond 2^63.  *left
 * bounds how far that is looked into. */
static bool is_counter(const struct trace *t, int node, int *left)
{
	const struct node *n = t->graph->nodes[node];
	const struct arg *args = n->args;

	if (n->op == OP_loop_carried || is_small(n))
		return true;
	if (--*left < 0)
		return false;
	if (n->op == OP_clone)
		return is_counter(t, args[0].node, left);
	if (n->op == OP_where)
		return is_counter(t, args[1].node, left) && is_counter(t, args[2].node, left);
	return (n->op == OP_add || n->op == OP_sub) && args[1].kind == ARG_NODE &&
	       (is_small(t->graph->nodes[args[0].node]) ||
		is_small(t->graph->nodes[args[1].node])) &&
	       is_counter(t, args[0].node, left) && is_counter(t, args[1].node, left);
}

/* Whole numbers: where they may need more than 64 bits, eager says so. */
static int whole_operator(struct trace *t, enum op op, int x, int y, struct err *err)
{
	int result = deferred_two(t, op, x, y, err), size, left = 64;

	if (result < 0 || is_counter(t, result, &left))
		return result;
	size = deferred_two(t, op, deferred_convert(t, x, DTYPE_F64, err),
			    deferred_convert(t, y, DTYPE_F64, err), err);
	return size >= 0 && deferred_within(t, size, 0x1p62, err) ? result : -1;
}

static bool is_zero(struct value v)
{
	return (v.kind == VALUE_FLOAT && v.f == 0) || (value_is_integer(v) && value_as_int(v) == 0);
}

/* / // % */
static int divide(struct trace *t, enum binop op, struct value divisor, int x, int y,
		  struct err *err)
{
	bool floats = t->graph->nodes[x]->dtype == DTYPE_F64;

	if (is_zero(divisor)) {
		trace_break(t, BREAK_NUMBER_USE, NULL, err);
		return -1;
	}
	if (!value_is_number(divisor) && !expect_nonzero(t, y, err))
		return -1;
	if (floats && op != BIN_TRUEDIV)
		return deferred_number(t, op == BIN_MOD ? REAL_MOD : REAL_FLOORDIV, x, y, err);
	if (!floats && op == BIN_TRUEDIV) { /* rounded once */
		if (!deferred_within(t, x, 0x1p53, err) || !deferred_within(t, y, 0x1p53, err))
			return -1;
		x = deferred_convert(t, x, DTYPE_F64, err);
		y = deferred_convert(t, y, DTYPE_F64, err);
	}
	if (!floats && op == BIN_FLOORDIV && !deferred_within(t, x, 0x1p63, err))
		return -1; /* -2^63 // -1 */
	return deferred_two(t, (enum op)t->operators->binary[op], x, y, err);
}

static int power(struct trace *t, struct value exponent, int x, int y, struct err *err)
{
	bool whole = t->graph->nodes[x]->dtype == DTYPE_I64 &&
		     (!value_is_integer(exponent) || value_as_int(exponent) >= 0);
	int size = deferred_number(t, REAL_POW, deferred_convert(t, x, DTYPE_F64, err),
				   deferred_convert(t, y, DTYPE_F64, err), err);

	if (size < 0 || !deferred_within(t, size, whole ? 0x1p62 : INFINITY, err))
		return -1;
	if (!whole)
		return size;
	if (!value_is_integer(exponent) &&
	    !deferred_expect(t, deferred_two(t, OP_ge, y, deferred_int(t, 0, err), err), true, err))
		return -1;
	return deferred_two(t, OP_pow, x, y, err);
}

/* & | ^ of bools are bools. */
static int bitwise(struct trace *t, enum op op, int x, int y, struct err *err)
{
	bool bools = t->graph->nodes[x]->dtype == DTYPE_BOOL &&
		     t->graph->nodes[y]->dtype == DTYPE_BOOL;
	enum dtype dtype = bools ? DTYPE_BOOL : DTYPE_I64;

	return deferred_two(t, op, deferred_convert(t, x, dtype, err),
			    deferred_convert(t, y, dtype, err), err);
}

bool deferred_binary(struct trace *t, enum binop op, struct value a, struct value b,
		     struct value *out, struct err *err)
{
	int id = t->operators->binary[op], x, y, node;
	bool floats;

	x = deferred_node(t, a, err);
	y = x < 0 ? -1 : deferred_node(t, b, err);
	if (y < 0)
		return false;
	floats = is_float(t, x) || is_float(t, y);
	if (id < 0 || op == BIN_MATMUL ||
	    (floats && (op == BIN_AND || op == BIN_OR || op == BIN_XOR)))
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	t->n_ops++;
	if (op == BIN_AND || op == BIN_OR || op == BIN_XOR)
		return deferred_finish(t, bitwise(t, (enum op)id, x, y, err), out);
	x = deferred_convert(t, x, floats ? DTYPE_F64 : DTYPE_I64, err);
	y = deferred_convert(t, y, floats ? DTYPE_F64 : DTYPE_I64, err);
	if (y < 0)
		return false;
	if (op == BIN_POW)
		node = power(t, b, x, y, err);
	else if (op == BIN_TRUEDIV || op == BIN_FLOORDIV || op == BIN_MOD)
		node = divide(t, op, b, x, y, err);
	else
		node = floats ? deferred_two(t, (enum op)id, x, y, err)
			      : whole_operator(t, (enum op)id, x, y, err);
	return deferred_finish(t, node, out);
}

/* ~n */
bool deferred_invert(struct trace *t, struct value a, struct value *out, struct err *err)
{
	int node = deferred_node(t, a, err);

	if (node >= 0 && is_float(t, node))
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	node = deferred_convert(t, node, DTYPE_I64, err);
	return deferred_finish(t, deferred_one(t, OP_invert, node, err), out);
}

/* Python compares an int with a float exactly. */
static int compared(struct trace *t, struct value v, int node, enum dtype dtype, struct err *err)
{
	if (dtype == DTYPE_F64 && t->graph->nodes[node]->dtype == DTYPE_I64) {
		if (v.kind == VALUE_INT && fabs((double)v.i) >= 0x1p53) {
			trace_break(t, BREAK_NUMBER_USE, NULL, err);
			return -1;
		}
		if (v.kind != VALUE_INT && !deferred_within(t, node, 0x1p53, err))
			return -1;
	}
	return deferred_convert(t, node, dtype, err);
}

bool deferred_compare(struct trace *t, enum cmpop op, struct value a, struct value b,
		      struct value *out, struct err *err)
{
	enum dtype dtype;
	int x, y;

	if (op > CMP_GE)
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	x = deferred_node(t, a, err);
	y = x < 0 ? -1 : deferred_node(t, b, err);
	if (y < 0)
		return false;
	dtype = is_float(t, x) || is_float(t, y) ? DTYPE_F64 : DTYPE_I64;
	x = compared(t, a, x, dtype, err);
	y = x < 0 ? -1 : compared(t, b, y, dtype, err);
	t->n_ops++;
	return deferred_finish(t, deferred_two(t, (enum op)t->operators->compare[op], x, y, err),
			       out);
}

/* Python's type: 0 none of these. */
enum value_kind deferred_type(struct value v)
{
	switch (v.kind) {
	case VALUE_FLOAT:
	case VALUE_SYMREAL:
	case VALUE_SYMFLOAT:
		return VALUE_FLOAT;
	case VALUE_INT:
	case VALUE_DEFERRED_INT:
		return VALUE_INT;
	case VALUE_BOOL:
	case VALUE_DEFERRED_BOOL:
		return VALUE_BOOL;
	default:
		return VALUE_UNSET;
	}
}

bool deferred_choose(struct trace *t, const struct host_choice *c, bool *known, struct value *out,
		     struct err *err)
{
	struct value a = c->a, b = c->b;
	struct arg args[3];
	int test, x, y;

	*known = value_is_text(a) && value_is_text(b) && t->cond;
	if (*known)
		return *known = deferred_text_choose(t, c, t->control->innermost(t), out, err);
	*known = deferred_type(a) != VALUE_UNSET && deferred_type(a) == deferred_type(b);
	if (!*known)
		return true;
	test = trace_node(t, c->condition, err);
	x = deferred_node(t, a, err);
	y = deferred_node(t, b, err);
	if (test < 0 || x < 0 || y < 0)
		return *known = false;
	args[0] = arg_node(test);
	args[1] = arg_node(x);
	args[2] = arg_node(y);
	t->n_ops++;
	*known = deferred_finish(t, deferred_add(t, OP_where, args, 3, err), out);
	return *known;
}

bool deferred_fault(struct trace *t, struct err *why)
{
	const struct frame *f = t->vm->frame;

	if (!t->native || t->brk.id != BREAK_NONE || f->inst->op == CODE_RAISE ||
	    f->inst->op == CODE_RERAISE || (why->code != ERR_TYPE && why->code != ERR_NAME))
		return false;
	for (const struct value *v = f->stack; v < f->top; v++) {
		if (!trace_is_deferred(t, *v) && v->kind != VALUE_DEFERRED_TEXT)
			continue;
		trace_break_at(
		    t, v->kind == VALUE_DEFERRED_TEXT ? BREAK_TEXT_USE : BREAK_NUMBER_USE, NULL, f);
		why->code = ERR_BREAK;
		return true;
	}
	return false;
}
