/* fusion/capture/trace_number.c -- numbers from outside that are no constants.
 *
 * An int becomes a symbol, like a size but without a bound.  A float becomes an
 * input of the graph, a float64 tensor of 0 dims (as torch does it), and a
 * symbol where it is computed with (trace_real.c); where a tensor op takes it, a
 * node that promotes as a Python number does stands between ("item").
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/classes.h"
#include "fusion/capture/trace.h"

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
	made.operand = graph_add(t->graph, OP_to, args, 2, t->host.line, t->host.column, err);
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
