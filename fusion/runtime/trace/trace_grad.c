/* fusion/runtime/trace/trace_grad.c -- what a capture says of gradients.
 *
 * Whether a tensor requires one is known, and guarded.  What runs or reads a
 * gradient ends the graph, as in torch.
 */
#include <string.h>

#include "fusion/runtime/grad/autograd.h"
#include "fusion/runtime/grad/joint.h"
#include "fusion/runtime/trace/trace.h"

static struct value real_of(const struct trace *t, int input)
{
	const struct trace_input *in = &t->inputs.at[input];

	if (in->slot >= 0)
		return t->slots->at[in->slot].value;
	return in->lifted >= 0 ? t->lifted.at[in->lifted].value : value_none();
}

/* Of a tensor that the piece makes: by what it is made of. */
static bool made_requires(struct trace *t, int node, bool *out, struct err *err)
{
	const struct graph *g = t->graph;
	bool *wanted = ARENA_ARRAY(g->arena, bool, (size_t)g->n_inputs + 1), *tracked;

	if (!wanted)
		return trace_no_memory(err);
	for (int i = 0; i < g->n_inputs; i++) {
		struct value v = real_of(t, i);

		wanted[i] = v.kind == VALUE_TENSOR && autograd_requires(v);
		if (t->inputs.at[i].slot >= 0)
			t->slots->at[t->inputs.at[i].slot].grad_read = true;
	}
	tracked = joint_tracked(t->autograd, g, wanted, g->arena, err);
	if (tracked)
		*out = tracked[node];
	return tracked != NULL;
}

static bool requires(struct trace *t, struct value tensor, bool *out, struct err *err)
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

bool trace_grad_attr(struct trace *t, struct value tensor, const char *name, bool *known,
		     struct value *out, struct err *err)
{
	bool is_leaf = strcmp(name, "is_leaf") == 0, answer = false;
	int slot = trace_slot(t, tensor);

	*known = true;
	if (strcmp(name, "requires_grad") == 0) {
		if (!requires(t, tensor, &answer, err))
			return false;
	} else if (is_leaf) {
		if (!requires(t, tensor, &answer, err))
			return false;
		answer = !answer || (slot >= 0 && autograd_is_leaf(t->slots->at[slot].value));
	} else {
		*known = false;
		if (!t->autograd->recording ||
		    (strcmp(name, "grad") != 0 && strcmp(name, "grad_fn") != 0))
			return true;
		*known = true;
		return trace_break(t, BREAK_UNSUPPORTED,
				   name[4] ? "the .grad_fn of a tensor" : "the .grad of a tensor",
				   err);
	}
	*out = value_bool(answer);
	return true;
}

bool trace_grad_call(struct trace *t, const struct native *f, struct value *out, struct err *err)
{
	(void)out;
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

bool trace_requires_grad(struct trace *t, struct value tensor, struct value *out, struct err *err)
{
	if (t->autograd->recording)
		return trace_break(t, BREAK_REQUIRES_GRAD, NULL, err);
	*out = value_ref(tensor);
	return true;
}

bool trace_store_attr(void *self, struct value tensor, const char *name, struct value v,
		      struct err *err)
{
	struct trace *t = self;

	(void)tensor, (void)v;
	if (strcmp(name, "requires_grad") == 0) /* nn.Parameter() says so too */
		return !t->autograd->recording || trace_break(t, BREAK_REQUIRES_GRAD, NULL, err);
	return trace_break(t, BREAK_UNSUPPORTED,
			   strcmp(name, "grad") == 0 ? "a tensor's .grad that is set"
						     : "an attribute of a tensor that is set",
			   err);
}
