/* fusion/runtime/trace_number.c -- numbers from outside that are no constants.
 *
 * An int becomes a symbol, like a size but without a bound.  A float becomes an
 * input of the graph, a float64 tensor of 0 dims (as torch does it): arithmetic
 * on it is nodes, and where a tensor op takes it, a node that promotes as a
 * Python number does stands between ("item").
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/capture/classes.h"
#include "fusion/runtime/trace.h"

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
static bool comes_from_arguments(const struct slots *s, int slot)
{
	for (int i = slot; i >= 0; i = s->at[i].parent) {
		const struct slot *at = &s->at[i];

		if (at->access == SLOT_GLOBAL || at->access == SLOT_CONTENT ||
		    at->access == SLOT_DEFAULT || at->access == SLOT_KWDEFAULT)
			return false;
		if (at->kind == VALUE_INSTANCE && is_module(at->value.instance->class))
			return false;
	}
	return true;
}

bool trace_wants_symbol(struct trace *t, int slot, const struct seen *seen)
{
	const struct slot *s = &t->slots->at[slot];

	/* numbers that rounds have changed are none to make versions for; sizes are */
	if (t->in_round && seen->number_changed)
		return s->kind != VALUE_FLOAT || isfinite(s->value.f);
	if (t->mode == FUSION_STATIC || (t->mode == FUSION_AUTO && !seen->number_changed))
		return false;
	if (s->kind == VALUE_FLOAT)
		return isfinite(s->value.f);
	return comes_from_arguments(t->slots, slot);
}

static bool symbolic_int(struct trace *t, int slot, struct value *out, struct err *err)
{
	struct trace_home home = { .dim = -1, .slot = slot };
	const struct sym *var = sym_var_from(t->graph->syms, t->slots->at[slot].value.i, INT64_MIN);

	if (!var || !VEC_PUSH(&t->homes, home))
		return trace_no_memory(err);
	t->slots->at[slot].var = (int)var->value;
	*out = (struct value){ .kind = VALUE_SYMINT, .sym = var };
	return true;
}

static bool symbolic_float(struct trace *t, int slot, struct value *out, struct err *err)
{
	struct trace_input input = { .slot = slot, .lifted = -1 };
	struct shape shape = { .rank = 0 };
	int node = graph_input(t->graph, DTYPE_F64, &shape, NULL);

	if (node < 0 || !VEC_PUSH(&t->inputs, input) ||
	    !graph_set_name(t->graph, node, t->slots->at[slot].name))
		return trace_no_memory(err);
	t->computes_sizes = true; /* FX reads it from a tensor: item */
	*out = (struct value){ .kind = VALUE_SYMFLOAT, .i = node };
	return true;
}

bool trace_symbolic_number(struct trace *t, int slot, struct value *out, struct err *err)
{
	if (t->slots->at[slot].kind == VALUE_INT)
		return symbolic_int(t, slot, out, err);
	return symbolic_float(t, slot, out, err);
}

int trace_float_operand(struct trace *t, struct value v, struct err *err)
{
	struct arg args[MAX_ARGS] = { arg_node((int)v.i), arg_dtype(t->graph->nodes[v.i]->dtype) };
	struct float_operand made = { .node = (int)v.i };
	struct node *n;

	for (size_t i = 0; i < t->float_operands.len; i++)
		if (t->float_operands.at[i].node == made.node)
			return t->float_operands.at[i].operand;
	made.operand = graph_add(t->graph, OP_to, args, 2, t->host.line, t->host.column, err);
	if (made.operand < 0)
		return -1;
	n = t->graph->nodes[made.operand];
	n->weak = true;
	if (!graph_set_fx(t->graph, made.operand, "item") || !VEC_PUSH(&t->float_operands, made)) {
		trace_no_memory(err);
		return -1;
	}
	t->n_ops++;
	return made.operand;
}

bool trace_pin_floats(struct trace *t)
{
	bool changed = false;

	for (int i = 0; i < t->slots->n; i++) {
		struct slot *s = &t->slots->at[i];

		if (s->kind == VALUE_FLOAT && s->live && s->symbolic && !s->pinned)
			changed = s->pinned = true;
	}
	return changed;
}

bool trace_pin_float(struct trace *t, struct value v, struct err *err)
{
	if (v.kind == VALUE_SYMINT)
		return trace_pin(t, v.sym, err);
	if (!trace_pin_floats(t))
		return trace_break(t, BREAK_NUMBER_USE, NULL, err);
	t->restart = true;
	return err_set(err, ERR_UNSUPPORTED, "the float is specialised");
}

static bool float_arg(const struct trace *t, struct value v, struct arg *out)
{
	switch (v.kind) {
	case VALUE_SYMINT: /* torch pins it */
		*out = arg_sym(v.sym);
		return t->native;
	case VALUE_SYMFLOAT:
		*out = arg_node((int)v.i);
		return true;
	case VALUE_FLOAT:
		*out = arg_float(v.f);
		return true;
	case VALUE_INT:
		*out = arg_float((double)v.i);
		return true;
	case VALUE_BOOL:
		*out = arg_float((double)v.b);
		return true;
	default:
		return false;
	}
}

/* What Python refuses or rounds in its own way is left to Python. */
static bool is_smooth(enum binop op)
{
	return op == BIN_ADD || op == BIN_SUB || op == BIN_MUL;
}

bool trace_float_binary(struct trace *t, enum binop op, struct value a, struct value b,
			struct value *out, struct err *err)
{
	int id = t->operators->binary[op], node;
	struct arg args[MAX_ARGS] = { 0 };

	if (id < 0 || !is_smooth(op) || !float_arg(t, a, &args[0]) || !float_arg(t, b, &args[1])) {
		if (a.kind == VALUE_SYMINT)
			trace_pin_quietly(t, a.sym);
		if (b.kind == VALUE_SYMINT)
			trace_pin_quietly(t, b.sym);
		return trace_pin_float(t, a.kind == VALUE_SYMFLOAT ? a : b, err);
	}
	if (args[0].kind != ARG_NODE) { /* an op takes a tensor first */
		struct arg first = args[1];

		if (op == BIN_SUB)
			return trace_pin_float(t, b, err);
		args[1] = args[0];
		args[0] = first;
	}
	node = graph_add(t->graph, (enum op)id, args, op_info((enum op)id)->n_params, t->host.line,
			 t->host.column, err);
	if (node < 0)
		return false;
	t->n_ops++;
	*out = (struct value){ .kind = VALUE_SYMFLOAT, .i = node };
	return true;
}

/* The slot that a symbolic float comes from as it is; -1: it was computed. */
static int float_slot(const struct trace *t, struct value v)
{
	const struct node *n = t->graph->nodes[v.i];

	return n->input >= 0 ? t->inputs.at[n->input].slot : -1;
}

static enum cmpop mirrored(enum cmpop op)
{
	switch (op) {
	case CMP_LT:
		return CMP_GT;
	case CMP_LE:
		return CMP_GE;
	case CMP_GT:
		return CMP_LT;
	case CMP_GE:
		return CMP_LE;
	default:
		return op;
	}
}

bool trace_float_compare(struct trace *t, enum cmpop op, struct value a, struct value b,
			 struct value *out, struct err *err)
{
	bool swapped = a.kind != VALUE_SYMFLOAT;
	struct value f = swapped ? b : a, other = swapped ? a : b;
	struct float_condition c = { .op = swapped ? mirrored(op) : op, .slot = float_slot(t, f) };

	if (op > CMP_GE || c.slot < 0 || (other.kind != VALUE_FLOAT && other.kind != VALUE_INT)) {
		if (other.kind == VALUE_SYMINT)
			trace_pin_quietly(t, other.sym);
		return trace_pin_float(t, f, err);
	}
	c.with = other.kind == VALUE_INT ? (double)other.i : other.f;
	c.outcome = floats_compare(c.op, t->slots->at[c.slot].value.f, c.with);
	if (!VEC_PUSH(&t->float_conditions, c))
		return trace_no_memory(err);
	*out = value_bool(c.outcome);
	return true;
}
