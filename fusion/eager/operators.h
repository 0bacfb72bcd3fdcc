/* fusion/eager/operators.h -- private to eager/: operators as calls of ops.
 *
 * For hosts whose ops are struct eager_call: eager and lazy.  Inline, since eager
 * pays for a call at every op.  An operator's spelling is also its name in messages.
 */
#ifndef FUSION_RUNTIME_OPERATORS_H
#define FUSION_RUNTIME_OPERATORS_H

#include "fusion/eager/eager.h"

/* eager_run() or lazy_op(), of the host `self`. */
typedef bool operator_run(void *self, const struct eager_call *c, struct value *out,
			  struct err *err);

static inline bool operator_call(operator_run *run, void *self, int op, const char *symbol,
				 bool inplace, const struct value *values, int n, struct value *out,
				 struct err *err)
{
	struct eager_call c = {
		.op = (enum op)op, .name = symbol, .inplace = inplace, .values = values, .n = n
	};

	if (op < 0)
		return torch_no_operator(symbol, err);
	return run(self, &c, out, err);
}

static inline bool operator_binary(operator_run *run, void *self, const struct torch_operators *t,
				   enum binop op, bool inplace, struct value a, struct value b,
				   struct value *out, struct err *err)
{
	struct value values[2] = { a, b };

	return operator_call(run, self, t->binary[op], torch_binary_name(op),
			     inplace && a.kind == VALUE_TENSOR, values, 2, out, err);
}

static inline bool operator_unary(operator_run *run, void *self, const struct torch_operators *t,
				  enum unop op, struct value a, struct value *out, struct err *err)
{
	if (op == UN_POS) {
		*out = value_ref(a);
		return true;
	}
	return operator_call(run, self, t->unary[op], torch_unary_name(op), false, &a, 1, out, err);
}

static inline bool operator_compare(operator_run *run, void *self, const struct torch_operators *t,
				    enum cmpop op, struct value a, struct value b,
				    struct value *out, struct err *err)
{
	struct value values[2] = { a, b };

	if (torch_identity(op, a, b, out))
		return true;
	return operator_call(run, self, t->compare[op], torch_compare_name(op), false, values, 2,
			     out, err);
}

#endif
