/* fusion/capture/trace_grad.c -- what a capture says of gradients.
 *
 * Whether a tensor requires one is known, and guarded.  What runs or reads a
 * gradient ends the graph, as in torch.
 */
#include <string.h>

#include "fusion/eager/autograd.h"
#include "fusion/capture/backward/joint.h"
#include "fusion/capture/backward/traced.h"
#include "fusion/capture/trace.h"

static struct value real_of(const struct trace *t, int input)
{
	const struct trace_input *in = &t->inputs.at[input];

	if (in->slot >= 0)
		return t->slots->at[in->slot].value;
	return in->lifted >= 0 ? t->lifted.at[in->lifted].value : value_none();
}

bool trace_records(const struct trace *t)
{
	return t->autograd->recording && !t->grad_off;
}

bool *trace_tracked(struct trace *t, struct err *err)
{
	const struct graph *g = t->graph;
	bool *wanted = ARENA_ARRAY(g->arena, bool, (size_t)g->n_inputs + 1);

	if (!wanted) {
		trace_no_memory(err);
		return NULL;
	}
	for (int i = 0; i < g->n_inputs; i++) {
		struct value v = real_of(t, i);

		wanted[i] = v.kind == VALUE_TENSOR && autograd_requires(v);
		if (t->inputs.at[i].slot >= 0)
			t->slots->at[t->inputs.at[i].slot].grad_read = true;
	}
	return joint_tracked(t, g, wanted, true, err);
}

/* Of a tensor that the piece makes: by what it is made of. */
static bool made_requires(struct trace *t, int node, bool *out, struct err *err)
{
	const bool *tracked = trace_tracked(t, err);

	if (tracked)
		*out = tracked[node];
	return tracked != NULL;
}

bool trace_requires(struct trace *t, struct value tensor, bool *out, struct err *err)
{
	int slot = trace_slot(t, tensor), node;

	if (slot >= 0 && !t->slots->at[slot].written) {
		t->slots->at[slot].touched = t->slots->at[slot].grad_read = true;
		*out = autograd_requires(t->slots->at[slot].value);
		return true;
	}
	node = trace_node(t, tensor, err);
	return node >= 0 && made_requires(t, node, out, err);
}

static bool any_requires(struct trace *t, const struct value *values, int n, bool *out,
			 struct err *err)
{
	*out = false;
	for (int i = 0; i < n && !*out; i++)
		if (values[i].kind == VALUE_TENSOR && !trace_requires(t, values[i], out, err))
			return false;
	return true;
}

bool trace_check_leaf(const struct trace *t, struct value to, struct err *err)
{
	const struct traced_view *view = to.tensor->view;
	bool leaf = trace_is_leaf(t, to) ||
		    (view && !view->detached && trace_is_leaf(t, view->base));

	if (!leaf || !trace_records(t))
		return true;
	return err_set(err, ERR_UNSUPPORTED, /* eager says so */
		       "a leaf that requires a gradient is written where gradients are recorded");
}

bool trace_check_parts(struct trace *t, enum op op, bool inplace, const struct value *values, int n,
		       struct err *err)
{
	bool fails, asks;

	for (int i = 0; i < n && !t->grad_off; i++) {
		bool written = inplace && i == 0;

		if (values[i].kind != VALUE_TENSOR ||
		    !(written ? trace_is_part(t, values[i]) : trace_is_stale_part(t, values[i])))
			continue;
		if (!autograd_differentiable(t->autograd, op, inplace, &asks, err) ||
		    !any_requires(t, values + i, written ? n : 1, &fails, err))
			return false;
		if (asks && fails) /* eager says so */
			return err_set(
			    err, ERR_UNSUPPORTED,
			    "what split(), chunk() or unbind() gave is written, or used "
			    "after its tensor was written, where gradients are recorded");
	}
	return true;
}

bool trace_check_wanted(struct trace *t, enum op op, const struct arg *args, struct err *err)
{
	unsigned refused = t->autograd->recording && !t->grad_off
			       ? grad_rule_refuses(t->autograd, op)
			       : 0;
	bool wanted;

	for (int i = 0; i < op_info(op)->n_params; i++) {
		if (!(refused >> i & 1) || args[i].kind != ARG_NODE ||
		    dtype_category(t->graph->nodes[args[i].node]->dtype) != CATEGORY_FLOAT)
			continue;
		if (!made_requires(t, args[i].node, &wanted, err))
			return false;
		if (wanted) /* eager says so */
			return err_set(
			    err, ERR_UNSUPPORTED,
			    "an argument requires a gradient, and the op has none for it");
	}
	return true;
}

static struct traced_grad *find_grad(const struct trace *t, struct value tensor)
{
	for (size_t i = 0; i < t->grads.len; i++)
		if (t->grads.at[i].of.tensor == tensor.tensor)
			return &t->grads.at[i];
	return NULL;
}

void trace_forget_grads(struct trace *t)
{
	for (size_t i = 0; i < t->grads.len; i++) {
		value_unref(t->grads.at[i].of);
		value_unref(t->grads.at[i].grad);
	}
	t->grads.len = 0;
}

/* Borrowed.  What the piece makes has none, until it is set. */
bool trace_read_grad(struct trace *t, struct value tensor, struct value *out, struct err *err)
{
	const struct traced_grad *g = find_grad(t, tensor);
	int slot = trace_slot(t, tensor);

	*out = g ? g->grad : value_none();
	if (g || (slot < 0 && tensor.tensor->owner == t->serial))
		return true;
	if (slot < 0)
		return trace_break(t, BREAK_UNSUPPORTED, "the .grad of a tensor", err);
	return world_read(t, t->slots->at[slot].first_child, out, err);
}

/* Sets of one tensor alone: the last one counts. */
bool trace_write_grad(struct trace *t, struct value tensor, struct value grad, struct err *err)
{
	struct traced_grad *g = find_grad(t, tensor), fresh = { tensor, grad };
	struct value old;

	if (g) {
		old = g->grad;
		g->grad = value_ref(grad);
		value_unref(old);
		return true;
	}
	if (!VEC_PUSH(&t->grads, fresh))
		return trace_no_memory(err);
	value_ref(tensor);
	value_ref(grad);
	return true;
}

static bool fits(struct trace *t, struct value tensor, struct value grad, bool *out,
		 struct err *err)
{
	struct shape a, b;
	enum dtype x, y;

	*out = grad.kind == VALUE_NONE;
	if (grad.kind != VALUE_TENSOR)
		return true;
	if (!trace_shape(t, tensor, &a, &x, err) || !trace_shape(t, grad, &b, &y, err))
		return false;
	*out = x == y && shape_equal(&a, &b);
	return true;
}

static bool store_grad(struct trace *t, struct value tensor, struct value v, struct err *err)
{
	int slot = trace_slot(t, tensor);
	bool fitting;

	if (!fits(t, tensor, v, &fitting, err))
		return false;
	if (!fitting || t->fork || (slot < 0 && !trace_is_leaf(t, tensor)))
		return trace_break(t, BREAK_UNSUPPORTED, "a tensor's .grad that is set", err);
	return trace_write_grad(t, tensor, v, err);
}

bool trace_grad_attr(struct trace *t, struct value tensor, const char *name, bool *known,
		     struct value *out, struct err *err)
{
	bool is_leaf = strcmp(name, "is_leaf") == 0, answer = false;
	int slot = is_leaf ? trace_slot(t, tensor) : -1;

	*known = true;
	if (strcmp(name, "requires_grad") == 0) {
		if (!trace_requires(t, tensor, &answer, err))
			return false;
	} else if (is_leaf) {
		if (!trace_requires(t, tensor, &answer, err))
			return false;
		if (slot >= 0)
			t->slots->at[slot].leaf_read = true;
		answer = !answer || trace_is_leaf(t, tensor);
	} else {
		*known = false;
		if (!t->autograd->recording ||
		    (strcmp(name, "grad") != 0 && strcmp(name, "grad_fn") != 0))
			return true;
		*known = true;
		if (name[4])
			return trace_break(t, BREAK_UNSUPPORTED, "the .grad_fn of a tensor", err);
		if (!trace_read_grad(t, tensor, out, err))
			return false;
		value_ref(*out);
		return true;
	}
	*out = value_bool(answer);
	return true;
}

bool trace_grad_call(struct trace *t, const struct native *f, const struct value *args, int n,
		     const struct keywords *kw, struct value *out, struct err *err)
{
	if (t->native && traced_call(t, f, args, n, kw, out, err))
		return true;
	if (t->brk.id == BREAK_NONE && err && err->code != ERR_NONE)
		return false;
	return trace_break(t, strstr(f->name, "backward") ? BREAK_BACKWARD : BREAK_UNSUPPORTED,
			   f->name, err);
}

bool trace_makes_leaf(const struct trace *t, const struct value *args, int n,
		      const struct keywords *kw)
{
	for (int i = 0; i < kw->n && t->autograd->recording; i++)
		if (strcmp(kw->names[i].str->text, "requires_grad") == 0)
			return args[n - kw->n + i].kind == VALUE_BOOL && args[n - kw->n + i].b;
	return false;
}

/* nn.Parameter() says it, too. */
static bool store_requires(struct trace *t, struct value tensor, struct value on, struct err *err)
{
	bool off = on.kind == VALUE_BOOL && !on.b, already = false;

	if (!t->autograd->recording)
		return true;
	if (t->native && !trace_requires(t, tensor, &already, err))
		return false;
	if (t->native && already != off) /* as it is */
		return true;
	if (off || !t->native)
		return trace_break(t, BREAK_REQUIRES_GRAD, NULL, err);
	return trace_make_leaf(t, tensor, err);
}

bool trace_requires_grad(struct trace *t, struct value tensor, struct value on, struct value *out,
			 struct err *err)
{
	if (!store_requires(t, tensor, on, err))
		return false;
	*out = value_ref(tensor);
	return true;
}

bool trace_store_attr(void *self, struct value tensor, const char *name, struct value v,
		      struct err *err)
{
	struct trace *t = self;

	if (strcmp(name, "grad") == 0)
		return store_grad(t, tensor, v, err);
	if (strcmp(name, "requires_grad") == 0)
		return store_requires(t, tensor, v, err);
	return trace_break(t, BREAK_UNSUPPORTED, "an attribute of a tensor that is set", err);
}

bool trace_check_detached(struct trace *t, const struct value *values, int n, struct err *err)
{
	const struct vtensor *to = values[0].tensor;
	bool requires = false;

	if (to->owner != t->serial || !to->view || !to->view->detached || !t->autograd->recording ||
	    t->grad_off)
		return true;
	for (int i = 1; i < n && !requires; i++)
		if (values[i].kind == VALUE_TENSOR && !trace_requires(t, values[i], &requires, err))
			return false;
	return !requires || trace_break(t, BREAK_UNSUPPORTED,
					"a write that gives a detached tensor a gradient", err);
}
