/* fusion/runtime/late.c -- numbers of the program that the graph computes.
 *
 * Policy native: x.item() does not end the graph.  The number is a node of 0
 * dims, float64, int64 or bool as Python's type is; arithmetic and comparisons
 * on it are nodes, too.  It is read when the graph has run, where it is part of
 * what the piece leaves.  What Python needs at once is a break there.
 *
 * Where Python would raise (a division by zero), the graph computes whether it
 * does, and eager runs the piece if so.
 */
#include <stdlib.h>

#include "fusion/capture/frame.h"
#include "fusion/capture/operators.h"
#include "fusion/runtime/fork.h"
#include "fusion/runtime/late_text.h"
#include "fusion/runtime/trace.h"

static int add(struct trace *t, enum op op, const struct arg *args, int n, struct err *err)
{
	struct arg all[MAX_ARGS] = { 0 };

	for (int i = 0; i < n; i++)
		all[i] = args[i];
	return graph_add(t->graph, op, all, op_info(op)->n_params, t->host.line, t->host.column,
			 err);
}

static int add_two(struct trace *t, enum op op, int a, int b, struct err *err)
{
	struct arg args[2] = { arg_node(a), arg_node(b) };

	return a < 0 || b < 0 ? -1 : add(t, op, args, 2, err);
}

static int convert(struct trace *t, int node, enum dtype dtype, struct err *err)
{
	struct arg args[2] = { arg_node(node), arg_dtype(dtype) };

	if (node < 0 || t->graph->nodes[node]->dtype == dtype)
		return node;
	if (dtype == DTYPE_BOOL) {
		args[1] = arg_int(t->graph, 0);
		return add(t, OP_ne, args, 2, err);
	}
	return add(t, OP_to, args, 2, err);
}

static int constant(struct trace *t, enum dtype dtype, const void *data, struct err *err)
{
	struct shape shape = { .rank = 0 };
	int node = graph_constant(t->graph, dtype, &shape, data);

	if (node < 0)
		trace_no_memory(err);
	return node;
}

/* A symbolic int as a node: its value is one of each call. */
static int symbol(struct trace *t, const struct sym *s, struct err *err)
{
	int64_t none = 0;
	struct arg args[2] = { arg_node(constant(t, DTYPE_I64, &none, err)), arg_sym(s) };

	return args[0].node < 0 ? -1 : add(t, OP_add, args, 2, err);
}

/* A number as a node of its own dtype; -1 with *err. */
int late_node(struct trace *t, struct value v, struct err *err)
{
	switch (v.kind) {
	case VALUE_FLOAT:
		return constant(t, DTYPE_F64, &v.f, err);
	case VALUE_INT:
		return constant(t, DTYPE_I64, &v.i, err);
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

struct value late_value(const struct trace *t, int node)
{
	enum dtype dtype = t->graph->nodes[node]->dtype;

	return (struct value){ .kind = dtype == DTYPE_I64    ? VALUE_LATEINT
				       : dtype == DTYPE_BOOL ? VALUE_LATEBOOL
							     : VALUE_SYMFLOAT,
			       .i = node };
}

static bool finish(struct trace *t, int node, struct value *out)
{
	if (node < 0)
		return false;
	*out = late_value(t, node);
	return true;
}

bool late_expect(struct trace *t, int node, bool expected, struct err *err)
{
	struct arg arg = arg_node(node);

	if (!expected)
		node = add(t, OP_logical_not, &arg, 1, err);
	if (node < 0)
		return false;
	return VEC_PUSH(&t->asserts, node) || trace_no_memory(err);
}

/* Python would raise for 0. */
static bool expect_nonzero(struct trace *t, int node, struct err *err)
{
	int truth = convert(t, node, DTYPE_BOOL, err);

	return truth >= 0 && late_expect(t, truth, true, err);
}

/* int() of a float: what does not fit, NaN too, is an error. */
static int whole(struct trace *t, int node, struct err *err)
{
	double most = 0x1p63;
	struct arg arg = arg_node(node);
	int size = add(t, OP_abs, &arg, 1, err), bound = constant(t, DTYPE_F64, &most, err);
	int fits = add_two(t, OP_lt, size, bound, err), cut;

	if (fits < 0 || !late_expect(t, fits, true, err))
		return -1;
	cut = add(t, OP_trunc, &arg, 1, err);
	return cut < 0 ? -1 : convert(t, cut, DTYPE_I64, err);
}

bool late_cast(struct trace *t, enum value_kind kind, struct value a, struct value *out,
	       struct err *err)
{
	int node = late_node(t, a, err);

	if (node < 0)
		return false;
	if (kind == VALUE_FLOAT)
		node = convert(t, node, DTYPE_F64, err);
	else if (kind == VALUE_BOOL)
		node = convert(t, node, DTYPE_BOOL, err);
	else if (t->graph->nodes[node]->dtype == DTYPE_F64)
		node = whole(t, node, err);
	else
		node = convert(t, node, DTYPE_I64, err);
	return finish(t, node, out);
}

bool late_not(struct trace *t, struct value a, struct value *out, struct err *err)
{
	int node = convert(t, late_node(t, a, err), DTYPE_BOOL, err);
	struct arg arg = arg_node(node);

	return node >= 0 && finish(t, add(t, OP_logical_not, &arg, 1, err), out);
}

/* The one element as a node of 0 dims that is no input of the graph. */
static int element(struct trace *t, struct value tensor, const struct shape *shape,
		   enum dtype dtype, struct err *err)
{
	struct value values[2] = { tensor, value_tuple(NULL, 0) }, flat;
	enum dtype as = dtype == DTYPE_BOOL                     ? DTYPE_BOOL
			: dtype_category(dtype) == CATEGORY_INT ? DTYPE_I64
								: DTYPE_F64;
	struct arg args[2] = { arg_node(trace_node(t, tensor, err)), arg_dtype(as) };

	if (values[1].kind == VALUE_UNSET) {
		trace_no_memory(err);
		return -1;
	}
	if (shape->rank > 0) {
		args[0].node = -1;
		if (trace_op(t, OP_reshape, "fx:", false, values, 2, NULL, &flat, err)) {
			args[0].node = trace_node(t, flat, err);
			value_unref(flat);
		}
	}
	value_unref(values[1]);
	if (args[0].node < 0)
		return -1;
	if (as == dtype && t->graph->nodes[args[0].node]->input < 0)
		return args[0].node;
	return add(t, OP_to, args, 2, err);
}

bool late_read(struct trace *t, enum value_kind kind, struct value a, bool *known,
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
		return finish(t, node, out);
	return late_cast(t, kind, (struct value){ .kind = late_value(t, node).kind, .i = node },
			 out, err);
}

static bool is_float(const struct trace *t, int node)
{
	return t->graph->nodes[node]->dtype == DTYPE_F64;
}

static bool divides(enum binop op)
{
	return op == BIN_TRUEDIV || op == BIN_FLOORDIV || op == BIN_MOD;
}

bool late_binary(struct trace *t, enum binop op, struct value a, struct value b, struct value *out,
		 struct err *err)
{
	bool square = op == BIN_POW && b.kind == VALUE_INT && b.i == 2;
	int x, y, id = t->operators->binary[square ? BIN_MUL : op];
	enum dtype dtype;

	if (id < 0 || (!square && op != BIN_ADD && op != BIN_SUB && op != BIN_MUL && !divides(op)))
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	x = late_node(t, a, err);
	y = x < 0 ? -1 : late_node(t, square ? a : b, err);
	if (y < 0)
		return false;
	dtype = is_float(t, x) || is_float(t, y) || op == BIN_TRUEDIV ? DTYPE_F64 : DTYPE_I64;
	x = convert(t, x, dtype, err);
	y = convert(t, y, dtype, err);
	if (y < 0 || (divides(op) && b.kind > VALUE_FLOAT && !expect_nonzero(t, y, err)))
		return false;
	if (divides(op) && (b.kind == VALUE_INT || b.kind == VALUE_BOOL || b.kind == VALUE_FLOAT) &&
	    (b.kind == VALUE_FLOAT ? b.f == 0
	     : b.kind == VALUE_INT ? b.i == 0
				   : !b.b))
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	t->n_ops++;
	return finish(t, add_two(t, (enum op)id, x, y, err), out);
}

bool late_compare(struct trace *t, enum cmpop op, struct value a, struct value b, struct value *out,
		  struct err *err)
{
	int x, y;
	enum dtype dtype;

	if (op > CMP_GE)
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	x = late_node(t, a, err);
	y = x < 0 ? -1 : late_node(t, b, err);
	if (y < 0)
		return false;
	dtype = is_float(t, x) || is_float(t, y) ? DTYPE_F64 : DTYPE_I64;
	x = convert(t, x, dtype, err);
	y = convert(t, y, dtype, err);
	t->n_ops++;
	return finish(t, add_two(t, (enum op)t->operators->compare[op], x, y, err), out);
}

/* Python's type: 0 none of these. */
enum value_kind late_type(struct value v)
{
	switch (v.kind) {
	case VALUE_FLOAT:
	case VALUE_SYMREAL:
	case VALUE_SYMFLOAT:
		return VALUE_FLOAT;
	case VALUE_INT:
	case VALUE_LATEINT:
		return VALUE_INT;
	case VALUE_BOOL:
	case VALUE_LATEBOOL:
		return VALUE_BOOL;
	default:
		return VALUE_UNSET;
	}
}

bool late_choose(struct trace *t, struct value condition, struct value a, struct value b,
		 bool *known, struct value *out, struct err *err)
{
	struct arg args[3];
	int test, x, y;

	*known = value_is_text(a) && value_is_text(b) && t->fork;
	if (*known)
		return *known = late_text_choose(t, condition, a, b, t->fork->inst, out, err);
	*known = late_type(a) != VALUE_UNSET && late_type(a) == late_type(b);
	if (!*known)
		return true;
	test = trace_node(t, condition, err);
	x = late_node(t, a, err);
	y = late_node(t, b, err);
	if (test < 0 || x < 0 || y < 0)
		return *known = false;
	args[0] = arg_node(test);
	args[1] = arg_node(x);
	args[2] = arg_node(y);
	t->n_ops++;
	*known = finish(t, add(t, OP_where, args, 3, err), out);
	return *known;
}

bool late_fault(struct trace *t, struct err *why)
{
	const struct frame *f = t->vm->frame;

	if (!t->native || t->brk.id != BREAK_NONE || f->inst->op == CODE_RAISE ||
	    f->inst->op == CODE_RERAISE || (why->code != ERR_TYPE && why->code != ERR_NAME))
		return false;
	for (const struct value *v = f->stack; v < f->top; v++) {
		if (!trace_is_late(t, *v) && v->kind != VALUE_LATETEXT)
			continue;
		trace_break_at(t, v->kind == VALUE_LATETEXT ? BREAK_TEXT_USE : BREAK_NUMBER_USE,
			       NULL, f);
		why->code = ERR_BREAK;
		return true;
	}
	return false;
}
