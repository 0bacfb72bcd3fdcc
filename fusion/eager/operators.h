/* fusion/eager/operators.h -- operators as calls of ops.
 *
 * For hosts whose ops are struct op_call: eager and lazy.  Inline, since eager
 * pays for a call at every op.  An operator's spelling is also its name in messages.
 */
#ifndef FUSION_EAGER_OPERATORS_H
#define FUSION_EAGER_OPERATORS_H

#include "fusion/eager/eager.h"

/* Who runs the op: eager_run() or lazy_op(), of the host `self`. */
struct operator_host {
	bool (*run)(void *self, const struct op_call *c, struct value *out, struct err *err);
	void *self;
	const struct torch_operators *table;
};

/* c->op is what the table has: -1 where no op has the operator. */
static inline bool operator_call(const struct operator_host *h, const struct op_call *c,
				 struct value *out, struct err *err)
{
	if ((int)c->op < 0)
		return torch_no_operator(c->name, err);
	return h->run(h->self, c, out, err);
}

static inline bool operator_binary(const struct operator_host *h, const struct binary *x,
				   struct value *out, struct err *err)
{
	struct value values[2] = { x->a, x->b };
	struct op_call c = { .op = (enum op)h->table->binary[x->op],
			     .name = torch_binary_name(x->op),
			     .inplace = x->inplace && x->a.kind == VALUE_TENSOR,
			     .values = values,
			     .n = 2 };

	return operator_call(h, &c, out, err);
}

static inline bool operator_unary(const struct operator_host *h, enum unop op, struct value a,
				  struct value *out, struct err *err)
{
	struct op_call c = { .op = (enum op)h->table->unary[op],
			     .name = torch_unary_name(op),
			     .values = &a,
			     .n = 1 };

	if (op == UN_POS) {
		*out = value_ref(a);
		return true;
	}
	return operator_call(h, &c, out, err);
}

static inline bool operator_compare(const struct operator_host *h, enum cmpop op, struct value a,
				    struct value b, struct value *out, struct err *err)
{
	struct value values[2] = { a, b };
	struct op_call c = { .op = (enum op)h->table->compare[op],
			     .name = torch_compare_name(op),
			     .values = values,
			     .n = 2 };

	if (torch_identity(op, a, b, out))
		return true;
	return operator_call(h, &c, out, err);
}

#endif
