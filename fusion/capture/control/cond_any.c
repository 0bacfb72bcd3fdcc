/* fusion/capture/control/cond_any.c -- any() and all() of tensors, as one bool of the graph.
 *
 * Python looks at an item only if those before do not decide.  What the others only
 * compute may be looked at anyway: items that lie in a list or tuple already.
 */
#include "fusion/vm/operators.h"
#include "fusion/capture/control/cond.h"

/* Its items are there: to ask for them changes nothing. */
static bool has_items(struct value it)
{
	return it.iter->iter_kind == ITER_SEQUENCE &&
	       (it.iter->over.kind == VALUE_LIST || it.iter->over.kind == VALUE_TUPLE ||
		it.iter->over.kind == VALUE_TENSOR);
}

static int add_two(struct trace *t, enum op op, int a, int b, struct err *err)
{
	struct arg args[2] = { arg_node(a), arg_node(b) };

	t->n_ops++;
	return graph_add(t->graph, op, args, 2, t->host.line, t->host.column, err);
}

/* One more item.  *decided: the answer is `any`, whatever the others are; *known
 * false: it has no truth that could be computed. */
static bool take(struct trace *t, bool any, struct value item, int *node, bool *known,
		 bool *decided, struct err *err)
{
	struct value condition;
	int truth;

	*known = true;
	if (item.kind == VALUE_INSTANCE ||
	    (item.kind == VALUE_TENSOR && !fork_is_single(t, item))) {
		*known = false;
		return true;
	}
	if (item.kind != VALUE_TENSOR && !trace_is_late(t, item)) {
		bool is;

		if (!op_truth(t->vm, item, &is, err))
			return false;
		*decided = is == any;
		return true;
	}
	if (!fork_condition(t, item, OP_ne, &condition, err))
		return false;
	truth = trace_node(t, condition, err);
	value_unref(condition);
	if (truth >= 0)
		*node = *node < 0
			    ? truth
			    : add_two(t, any ? OP_logical_or : OP_logical_and, *node, truth, err);
	return truth >= 0 && *node >= 0;
}

bool fork_any(void *self, bool any, struct value it, struct value first, bool *handled,
	      struct value *out, struct err *err)
{
	struct trace *t = self;
	int64_t position = it.iter->position;
	struct value item = value_ref(first);
	bool ok = true, more = true, known = true, decided = false;
	int node = -1;

	*handled = false;
	if (!t->native || !has_items(it)) {
		value_unref(item);
		return true;
	}
	while (ok && more) {
		ok = take(t, any, item, &node, &known, &decided, err);
		value_unref(item);
		if (!ok || !known || decided)
			break;
		ok = vm_spend(t->vm, 1, err) && op_next(t->vm, it.iter, &item, &more, err);
	}
	if (ok && !known)
		it.iter->position = position;
	*handled = ok && known;
	if (*handled && (decided || node < 0)) /* no item is computed by the graph */
		*out = value_bool(decided == any);
	else if (*handled)
		*out = late_value(t, node);
	return ok;
}
