/* fusion/capture/trace/scaled.c -- x.add(y, alpha=a), lerp and their like of a symbolic number.
 *
 * A graph has alpha= as a constant; a learning rate that a schedule changes is none, and its
 * versions would be graphs.  As TorchDynamo, the call is captured as what it is made of, where
 * the number is an operand.
 */
#include "fusion/capture/trace/trace.h"

#include <string.h>

struct scaled_op {
	enum op op, inner, last; /* inner OP_COUNT: none */
	const char *keyword;
};

static const struct scaled_op *scaled_op_of(enum op op)
{
	static const struct scaled_op ops[] = {
		{ OP_add_alpha, OP_COUNT, OP_add, "alpha" },
		{ OP_sub_alpha, OP_COUNT, OP_sub, "alpha" },
		{ OP_addcmul, OP_mul, OP_add, "value" },
		{ OP_addcdiv, OP_truediv, OP_add, "value" },
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i].op == op)
			return &ops[i];
	return NULL;
}

static bool is_symbol(struct value v)
{
	return v.kind == VALUE_SYMFLOAT || v.kind == VALUE_SYMREAL;
}

static bool is_scaled(const struct op_call *call, const struct scaled_op *s)
{
	int tensors = s && s->inner != OP_COUNT ? 3 : 2;

	if (!s || !call->kw || call->kw->n != 1 || call->n != tensors + 1 ||
	    strcmp(call->kw->names[0].str->text, s->keyword) != 0)
		return false;
	for (int i = 0; i < tensors; i++)
		if (call->values[i].kind != VALUE_TENSOR)
			return false;
	return is_symbol(call->values[tensors]);
}

static bool pair(struct trace *t, enum op op, const char *name, const struct value of[2],
		 struct value *out, struct err *err)
{
	return trace_op(t, &(struct op_call){ op, name, false, of, 2, NULL }, out, err);
}

/* out-of-place and in place */
static const char *last_name(const struct scaled_op *s, const struct op_call *call)
{
	if (s->last == OP_sub)
		return call->inplace ? "fx:sub_" : "fx:sub";
	return call->inplace ? "fx:add_" : "fx:add";
}

/* x + weight * (end - x), one node to FX. */
static bool lerp(struct trace *t, const struct op_call *call, struct value *out, struct err *err)
{
	struct value ends[2] = { call->values[1], call->values[0] }, way[2], last[2];
	bool ok;

	way[1] = call->values[2];
	if (!pair(t, OP_sub, "fx:", ends, &way[0], err))
		return false;
	ok = pair(t, OP_mul, "fx:", way, &last[1], err);
	value_unref(way[0]);
	if (!ok)
		return false;
	last[0] = call->values[0];
	ok = trace_op(t,
		      &(struct op_call){ OP_add, call->inplace ? "fx:lerp_" : "fx:lerp",
					 call->inplace, last, 2, NULL },
		      out, err);
	value_unref(last[1]);
	return ok;
}

bool trace_scaled(struct trace *t, const struct op_call *call, bool *done, struct value *out,
		  struct err *err)
{
	const struct scaled_op *s = scaled_op_of(call->op);
	struct value of[2], part = value_none(), scaled;
	bool ok = true;

	if (call->op == OP_lerp && call->n == 3 && !call->kw && is_symbol(call->values[2])) {
		*done = true;
		return lerp(t, call, out, err);
	}
	*done = is_scaled(call, s);
	if (!*done)
		return true;
	of[0] = call->values[1];
	if (s->inner != OP_COUNT) {
		ok = pair(t, s->inner, s->inner == OP_mul ? "fx:mul" : "fx:div", &call->values[1],
			  &part, err);
		of[0] = part;
	}
	of[1] = call->values[call->n - 1];
	if (ok && pair(t, OP_mul, "fx:mul", of, &scaled, err)) {
		struct value last[2] = { call->values[0], scaled };

		ok = trace_op(
		    t,
		    &(struct op_call){ s->last, last_name(s, call), call->inplace, last, 2, NULL },
		    out, err);
		value_unref(scaled);
	} else {
		ok = false;
	}
	value_unref(part);
	return ok;
}
