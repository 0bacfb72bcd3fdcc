/* fusion/capture/control/body.c -- the body of a function of functions, as torch's wrap and map.
 *
 * Policy dynamo.  torch keeps a body as a graph of its own within the graph.  So it may change
 * nothing that was there before, and answers with tensors; else the graph ends where it is
 * called, and eager runs it.
 */
#include "fusion/vm/vm.h"
#include "fusion/capture/control/cond.h"

enum { MAX_DEPTH = 16 }; /* of sequences within sequences */

/* Tensors, None, and sequences and dicts of them. */
static bool has_tensors_only(const struct trace *t, struct value v, int depth)
{
	if (v.kind == VALUE_LAZY)
		return t->sources->at[v.i].value.kind == VALUE_TENSOR;
	if (depth == MAX_DEPTH ||
	    (v.kind != VALUE_TUPLE && v.kind != VALUE_LIST && v.kind != VALUE_DICT))
		return v.kind == VALUE_TENSOR || v.kind == VALUE_NONE;
	if (v.kind == VALUE_DICT) {
		for (int i = 0; i < v.dict->len; i++)
			if (!has_tensors_only(t, v.dict->values[i], depth + 1))
				return false;
		return true;
	}
	for (int i = 0; i < v.list->len; i++)
		if (!has_tensors_only(t, v.list->at[i], depth + 1))
			return false;
	return true;
}

static bool changed_global(const struct cond *k)
{
	const struct trace *t = k->trace;

	for (size_t i = 0; i < t->globals.len; i++)
		if (!cond_same(t, cond_global_before(k, i), t->globals.at[i].stand_in))
			return true;
	return false;
}

/* *changed: something that was there before the body is not as it was. */
static bool look_for_changes(const struct cond *k, bool *changed)
{
	*changed = changed_global(k);
	for (size_t i = 0; i < k->contents.len && !*changed; i++) {
		struct cond_content now;

		if (!cond_content_read(k->contents.at[i].object, &now)) {
			cond_content_drop(&now);
			return false;
		}
		*changed = !cond_content_same(k->trace, &k->contents.at[i], &now);
		cond_content_drop(&now);
	}
	return true;
}

/* It has run. */
static bool judge(const struct cond *k, bool writes_tensors, struct value result, struct err *err)
{
	bool changed;

	if (!look_for_changes(k, &changed))
		return trace_no_memory(err);
	if (changed || k->stores_again || (!writes_tensors && k->writes.len > 0))
		return trace_break(k->trace, BREAK_UNSUPPORTED,
				   "a body that changes what was there before", err);
	return has_tensors_only(k->trace, result, 0) ||
	       trace_break(k->trace, BREAK_UNSUPPORTED,
			   "a body that answers with more than tensors", err);
}

bool body_call(struct trace *t, const struct trace_body *body, const struct arguments *args,
	       struct value *out, struct err *err)
{
	struct arguments rest = { args->at + 1, args->n - 1, args->kw };
	struct cond k = { .up = t->bodies,
			  .trace = t,
			  .frame = t->vm->frame,
			  .inst = t->vm->frame->inst,
			  .birth = t->vm->heap->births,
			  .tensor_birth = body->tensor_birth,
			  .condition = { .kind = VALUE_UNSET } };
	bool ok;

	if (t->native && !body->native)
		return vm_call(t->vm, args->at[0], &rest, out, err);
	if (!cond_save(&k)) {
		ok = k.why[0] ? trace_break(t, BREAK_TOO_LARGE, k.why, err) : trace_no_memory(err);
		cond_finish(&k);
		return ok;
	}
	t->bodies = &k;
	ok = vm_call(t->vm, args->at[0], &rest, out, err);
	t->bodies = k.up;
	if (ok && !judge(&k, body->writes_tensors, *out, err)) {
		value_unref(*out);
		ok = false;
	}
	cond_finish(&k);
	return ok;
}
