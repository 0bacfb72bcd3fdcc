/* fusion/capture/trace/grad.c -- what autograd knows of tensors while capturing: leaves, .grad,
 * versions.
 */
#include "fusion/capture/trace/trace.h"

#include <string.h>

#include "fusion/eager/autograd.h"
#include "fusion/graph/lay.h"

/* ---- Writes and leaves while capturing.
 *
 * An in-place op gives its tensor another node.  Where it is not recorded -- under
 * no_grad(), through x.data -- a leaf stays one: both nodes are values of it, and the
 * gradients of both go to it.  Of another tensor the new node takes over the gradient
 * of the one before. */

static int fresh_leaf(const struct trace *t, struct value tensor)
{
	for (size_t i = 0; i < t->leaves.len; i++)
		if (t->leaves.at[i].tensor == tensor.tensor)
			return (int)i;
	return -1;
}

/* ---- What a capture says of gradients.
 *
 * Whether a tensor requires one is known, and guarded.  What runs or reads a
 * gradient ends the graph, as in torch. */

static struct value real_of(const struct trace *t, struct value tensor)
{
	int source = trace_source(t, tensor), lifted = source < 0 ? trace_lifted(t, tensor) : -1;

	if (source >= 0)
		return t->sources->at[source].value;
	return lifted >= 0 ? t->lifted.at[lifted].value : value_none();
}

bool trace_is_leaf(const struct trace *t, struct value tensor)
{
	struct value real = real_of(t, tensor);

	if (real.kind != VALUE_TENSOR)
		return fresh_leaf(t, tensor) >= 0;
	return autograd_requires(real) && autograd_is_leaf(real);
}

/* A parameter that the piece makes is a leaf though no gradient is recorded. */
bool trace_shows_leaf(const struct trace *t, struct value tensor)
{
	return trace_is_leaf(t, tensor) ||
	       (!t->autograd->recording && t->autograd->notes &&
		real_of(t, tensor).kind != VALUE_TENSOR && tensor.tensor->is_parameter);
}

bool trace_is_part(const struct trace *t, struct value tensor)
{
	struct value real = real_of(t, tensor);

	if (real.kind == VALUE_TENSOR)
		return autograd_is_part(real);
	return tensor.tensor->owner == t->serial && tensor.tensor->view &&
	       tensor.tensor->view->part;
}

static bool trace_is_stale_part(const struct trace *t, struct value tensor)
{
	struct value real = real_of(t, tensor);

	return trace_is_part(t, tensor) &&
	       ((tensor.tensor->view && trace_view_stale(t, tensor)) ||
		(real.kind == VALUE_TENSOR && autograd_is_stale_part(real)));
}

bool trace_is_parameter(const struct trace *t, struct value tensor)
{
	struct value real = real_of(t, tensor);

	return (real.kind == VALUE_TENSOR ? real : tensor).tensor->is_parameter;
}

static int input_of(const struct trace *t, struct value tensor)
{
	int source = trace_source(t, tensor), lifted = source < 0 ? trace_lifted(t, tensor) : -1;

	for (size_t i = 0; i < t->inputs.len; i++)
		if ((source >= 0 && t->inputs.at[i].source == source) ||
		    (lifted >= 0 && t->inputs.at[i].lifted == lifted))
			return (int)i;
	return -1;
}

int *trace_leaf_map(const struct trace *t, const struct graph *g)
{
	int *map = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes + 1);

	for (int id = 0; map && id < g->n_nodes; id++)
		map[id] = -1;
	for (size_t i = 0; map && i < t->leaf_values.len; i++) {
		const struct leaf_value *v = &t->leaf_values.at[i];
		int fresh = fresh_leaf(t, v->of);

		if (v->node < g->n_nodes)
			map[v->node] = fresh >= 0 ? g->n_inputs + fresh : input_of(t, v->of);
	}
	return map;
}

static bool is_value_of(const struct trace *t, int node, struct value tensor)
{
	int input = input_of(t, tensor);

	if (input >= 0 && t->graph->inputs[input] == node)
		return true;
	for (size_t i = 0; i < t->leaf_values.len; i++)
		if (t->leaf_values.at[i].node == node &&
		    t->leaf_values.at[i].of.tensor == tensor.tensor)
			return true;
	return false;
}

/* What two sides of a branch have left of it: the one or the other. */
static bool joins(const struct trace *t, int node, struct value tensor)
{
	const struct node *n = t->graph->nodes[node];

	return n->op == OP_where && n->args[1].kind == ARG_NODE && n->args[2].kind == ARG_NODE &&
	       is_value_of(t, n->args[1].node, tensor) && is_value_of(t, n->args[2].node, tensor);
}

/* A node that is the value of this tensor alone: after x.copy_(y) y has one of its own. */
static bool own_node(struct trace *t, int *node, bool detached)
{
	const struct node *n = t->graph->nodes[*node];
	struct arg of[2] = { arg_node(*node), arg_dtype(n->dtype) };

	if (*node == t->graph->n_nodes - 1)
		return true;
	/* a number has a dtype of its own from here on */
	*node = graph_add(t->graph,
			  &(struct node_spec){ n->weak ? OP_to : OP_clone, of, 1 + n->weak,
					       t->host.line, t->host.column },
			  NULL);
	if (*node < 0 || !graph_set_fx(t->graph, *node, ""))
		return false;
	t->graph->nodes[*node]->detached = detached;
	return true;
}

static bool add_value(struct trace *t, struct value tensor, int *node)
{
	struct leaf_value v = { .of = tensor };

	if (!own_node(t, node, true))
		return false;
	v.node = *node;
	if (!VEC_PUSH(&t->leaf_values, v))
		return false;
	value_ref(tensor);
	return true;
}

bool trace_note_view(struct trace *t, struct value view, int *node)
{
	return fresh_leaf(t, view) < 0 || add_value(t, view, node);
}

/* Whether the tensor, which is no leaf, may have a gradient. */
static bool may_require(const struct trace *t, struct value tensor, int before)
{
	struct value real = real_of(t, tensor);
	const struct node *n = t->graph->nodes[before];

	if (dtype_category(n->dtype) != CATEGORY_FLOAT || (n->detached && n->takes_over < 0))
		return false;
	return n->op != OP_input || (real.kind == VALUE_TENSOR && autograd_requires(real));
}

/* The tensor is to stand for *node, and stood for `before` (-1: it is no write): where the
 * write is not recorded, for a node of its own, which is a leaf's value too, or takes over
 * the gradient of `before`. */
static bool trace_note_unrecorded(struct trace *t, struct value tensor, int before, int *node)
{
	bool unrecorded = t->grad_off || t->unrecorded;

	if (!t->autograd->recording && !t->autograd->notes)
		return true;
	if (trace_is_leaf(t, tensor))
		return !(unrecorded || joins(t, *node, tensor)) || add_value(t, tensor, node);
	if (!unrecorded || before < 0 || before == *node || !may_require(t, tensor, before))
		return true;
	if (!own_node(t, node, true))
		return false;
	t->graph->nodes[*node]->takes_over = before;
	return true;
}

/* The op has written there; into what two sides of a branch have left, into either. */
static void note_overwrite(const struct graph *g, int memory, int writer)
{
	const struct node *n = g->nodes[memory];

	g->nodes[memory]->overwrite = writer;
	for (int i = 1; n->merged && i <= 2; i++)
		note_overwrite(g, graph_memory(g, n->args[i].node), writer);
}

bool trace_note_memory(struct trace *t, int before, int *node, bool written)
{
	int memory;

	if (!t->autograd->recording || before < 0 || before == *node)
		return true;
	memory = graph_memory(t->graph, before);
	if (memory == *node || !own_node(t, node, t->grad_off))
		return memory == *node;
	t->graph->nodes[*node]->memory = memory;
	if (written)
		note_overwrite(t->graph, memory, t->writer);
	return true;
}

bool trace_keep_history(struct trace *t, enum op op, int before, int *result, struct err *err)
{
	struct arg args[2] = { arg_node(before), arg_node(*result) };
	bool known;

	if (!t->autograd->recording || t->grad_off ||
	    dtype_category(t->graph->nodes[before]->dtype) != CATEGORY_FLOAT)
		return true;
	if (!grad_rule_known(t->autograd, op, &known, err))
		return false;
	if (known)
		return true;
	*result = graph_add(
	    t->graph, &(struct node_spec){ OP_fill, args, 2, t->host.line, t->host.column }, err);
	return *result >= 0 && (graph_set_fx(t->graph, *result, "") || trace_no_memory(err));
}

bool trace_expanded(const struct trace *t, struct value tensor, struct view_layout *out)
{
	const struct vtensor *v = tensor.tensor;
	const struct node *n = v->owner == t->serial && !v->view && v->node >= 0
				   ? t->graph->nodes[v->node]
				   : NULL;

	return n && (n->op == OP_expand || n->op == OP_expand_as) &&
	       view_layout_in(t->graph, n->id, n->args[0].node, out) && view_repeats(out);
}

bool trace_repeats(const struct trace *t, struct value tensor)
{
	struct value real = real_of(t, tensor);
	struct view_layout layout;

	if (trace_expanded(t, tensor, &layout))
		return true;
	return real.kind == VALUE_TENSOR && real.tensor->memory &&
	       tensor_repeats(real.tensor->memory);
}

bool trace_rewrite(struct trace *t, struct value tensor, int node, bool written)
{
	int lifted = trace_lifted(t, tensor), source = trace_source(t, tensor);
	int before = lifted >= 0 ? t->lifted.at[lifted].node : tensor.tensor->node;

	if (!t->control->note_write(t, tensor) ||
	    !trace_note_unrecorded(t, tensor, written ? before : -1, &node) ||
	    !trace_note_memory(t, before, &node, written))
		return false;
	t->n_writes += written;
	if (written && before >= 0 && !t->ruled)
		graph_lay_as(t->graph, node, before);
	if (lifted >= 0) {
		t->lifted.at[lifted].node = node;
		t->lifted.at[lifted].written |= written;
		if (written)
			t->lifted.at[lifted].writes = t->n_writes;
		return true;
	}
	tensor.tensor->node = node;
	tensor.tensor->written |= written;
	if (written)
		tensor.tensor->writes = t->n_writes;
	if (source >= 0)
		t->sources->at[source].written |= written;
	return true;
}

static bool may_make(struct trace *t, struct value tensor, int node)
{
	return trace_differentiates(t) && !t->no_leaves && !t->cond &&
	       tensor.tensor->owner == t->serial && trace_source(t, tensor) < 0 &&
	       dtype_category(t->graph->nodes[node]->dtype) == CATEGORY_FLOAT;
}

bool trace_make_leaf(struct trace *t, struct value tensor, struct err *err)
{
	int node;

	if (trace_is_leaf(t, tensor))
		return true;
	node = trace_node(t, tensor, err);
	if (node < 0)
		return false;
	if (!may_make(t, tensor, node))
		return trace_break(t, BREAK_REQUIRES_GRAD, NULL, err);
	if (!VEC_PUSH(&t->leaves, tensor))
		return trace_no_memory(err);
	value_ref(tensor);
	if (!add_value(t, tensor, &node))
		return trace_no_memory(err);
	tensor.tensor->node = node;
	return true;
}

bool trace_keeps_cast(void *self, struct value tensor)
{
	struct trace *t = self;
	int source = trace_source(t, tensor), lifted = source < 0 ? trace_lifted(t, tensor) : -1;
	struct value real = source >= 0   ? t->sources->at[source].value
			    : lifted >= 0 ? t->lifted.at[lifted].value
					  : value_none();

	if (tensor.tensor->written)
		return false;
	if (real.kind != VALUE_TENSOR)
		return trace_is_leaf(t, tensor);
	return real.tensor->is_parameter || (autograd_requires(real) && autograd_is_leaf(real));
}

void trace_forget_grads(struct trace *t)
{
	for (size_t i = 0; i < t->grads.len; i++) {
		value_unref(t->grads.at[i].of);
		value_unref(t->grads.at[i].grad);
	}
	for (size_t i = 0; i < t->hooks.len; i++) {
		value_unref(t->hooks.at[i].of);
		value_unref(t->hooks.at[i].grad);
	}
	for (size_t i = 0; i < t->leaves.len; i++)
		value_unref(t->leaves.at[i]);
	for (size_t i = 0; i < t->leaf_values.len; i++)
		value_unref(t->leaf_values.at[i].of);
	t->hooks.len = t->grads.len = t->leaves.len = t->leaf_values.len = t->spent.len = 0;
}

static struct value real_of_input(const struct trace *t, int input)
{
	const struct trace_input *in = &t->inputs.at[input];

	if (in->source >= 0)
		return t->sources->at[in->source].value;
	return in->lifted >= 0 ? t->lifted.at[in->lifted].value : value_none();
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
		struct value v = real_of_input(t, i);

		wanted[i] = v.kind == VALUE_TENSOR && autograd_requires(v);
		if (t->inputs.at[i].source >= 0)
			t->sources->at[t->inputs.at[i].source].grad_read = true;
	}
	return t->backward->tracked(t, g, wanted, true, err);
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
	int source = trace_source(t, tensor), node;

	if (source >= 0 && !t->sources->at[source].written) {
		t->sources->at[source].touched = t->sources->at[source].grad_read = true;
		*out = autograd_requires(t->sources->at[source].value);
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

/* A write to a leaf, or a view of one, where gradients are recorded. */
static bool check_leaf(const struct trace *t, struct value to, struct err *err)
{
	const struct traced_view *view = to.tensor->view;
	bool leaf = trace_is_leaf(t, to) ||
		    (view && !view->detached && trace_is_leaf(t, view->base));

	if (!leaf || !trace_records(t))
		return true;
	return err_set(err, ERR_UNSUPPORTED, /* eager says so */
		       "a leaf that requires a gradient is written where gradients are recorded");
}

/* An op on such parts of split(), the first of which it may write, where eager raises an error. */
static bool check_parts(struct trace *t, enum op op, bool inplace, const struct value *values,
			int n, struct err *err)
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

/* An op on arguments that require a gradient which it has none for. */
static bool check_wanted(struct trace *t, enum op op, const struct arg *args, struct err *err)
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

/* Borrowed.  What the piece makes has none, until it is set. */
bool trace_read_grad(struct trace *t, struct value tensor, struct value *out, struct err *err)
{
	const struct traced_grad *g = find_grad(t, tensor);
	int source = trace_source(t, tensor);

	*out = g ? g->grad : value_none();
	if (g || (source < 0 && tensor.tensor->owner == t->serial))
		return true;
	if (source < 0)
		return trace_break(t, BREAK_UNSUPPORTED, "the .grad of a tensor", err);
	return variables_read(
	    t, t->sources->at[source].first_child + t->sources->at[source].n_children - 1, out,
	    err);
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
	int source = trace_source(t, tensor);
	bool fitting;

	if (!fits(t, tensor, v, &fitting, err))
		return false;
	if (!fitting || t->cond || (source < 0 && !trace_is_leaf(t, tensor)))
		return trace_break(t, BREAK_UNSUPPORTED, "a tensor's .grad that is set", err);
	return trace_write_grad(t, tensor, v, err);
}

bool trace_grad_attr(struct trace *t, struct value tensor, const char *name, bool *known,
		     struct value *out, struct err *err)
{
	bool is_leaf = strcmp(name, "is_leaf") == 0, answer = false;
	int source = is_leaf ? trace_source(t, tensor) : -1;

	*known = true;
	if (strcmp(name, "_version") == 0)
		return trace_break(t, BREAK_UNSUPPORTED, "the ._version of a tensor", err);
	if (strcmp(name, "retains_grad") == 0 && t->autograd->recording)
		return trace_break(t, BREAK_UNSUPPORTED, "the .retains_grad of a tensor", err);
	if (strcmp(name, "_grad") == 0)
		name = "grad";
	if (strcmp(name, "requires_grad") == 0) {
		if (!trace_requires(t, tensor, &answer, err))
			return false;
	} else if (is_leaf) {
		if (!trace_requires(t, tensor, &answer, err))
			return false;
		if (source >= 0)
			t->sources->at[source].leaf_read = true;
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

/* Hooks of a tensor from outside are its own when the kernels are done, as torch has it. */
static bool trace_hooks(struct trace *t, const struct arguments *args, struct value *out,
			struct err *err)
{
	struct value of = args->at[0];
	int source = of.kind == VALUE_TENSOR && args->n == 1 ? trace_source(t, of) : -1;
	struct traced_grad fresh = { .of = of };
	bool requires = false;

	if (source >= 0 && !t->cond && t->autograd->recording && !t->derivatives &&
	    !t->sources->at[source].written && !of.tensor->written &&
	    !trace_requires(t, of, &requires, err))
		return false;
	if (!requires)
		return trace_break(t, BREAK_UNSUPPORTED, "a hook of a tensor", err);
	if (!vm_keep(t->vm, value_list(NULL, 0), &fresh.grad, err))
		return false;
	if (!VEC_PUSH(&t->hooks, fresh)) {
		value_unref(fresh.grad);
		return trace_no_memory(err);
	}
	value_ref(of);
	*out = value_ref(fresh.grad);
	return true;
}

bool trace_grad_call(struct trace *t, const struct native *f, const struct arguments *args,
		     struct value *out, struct err *err)
{
	*out = value_none();
	if (f->id == GRAD_HOOKS)
		return trace_hooks(t, args, out, err);
	if (f->id == GRAD_FUNCTION)
		return t->backward->functions->end(t, args, err);
	/* What the piece has hooked its gradients would not meet. */
	if (trace_differentiates(t) && t->hooks.len == 0 && t->backward->call(t, f, args, out, err))
		return true;
	if (t->brk.id == BREAK_NONE && err && err->code != ERR_NONE)
		return false;
	return trace_break(t, strstr(f->name, "backward") ? BREAK_BACKWARD : BREAK_UNSUPPORTED,
			   f->name, err);
}

bool trace_makes_leaf(const struct trace *t, const struct arguments *args)
{
	for (int i = 0; i < args->kw->n && t->autograd->recording; i++)
		if (strcmp(args->kw->names[i].str->text, "requires_grad") == 0)
			return args->at[args->n - args->kw->n + i].kind == VALUE_BOOL &&
			       args->at[args->n - args->kw->n + i].b;
	return false;
}

/* nn.Parameter() says it, too. */
static bool store_requires(struct trace *t, struct value tensor, struct value on, struct err *err)
{
	bool off = on.kind == VALUE_BOOL && !on.b, already = false,
	     follows = trace_differentiates(t);

	if (!t->autograd->recording && !(t->autograd->notes && follows))
		return true;
	if (follows && !trace_requires(t, tensor, &already, err))
		return false;
	if (follows && already != off) /* as it is */
		return true;
	if (off || !follows)
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

/* Whether an op that is recorded has read the node, whose elements its gradient may need. */
static bool is_recorded(const struct trace *t, int node)
{
	for (int i = node + 1; i < t->graph->n_nodes && t->autograd->recording; i++) {
		const struct node *n = t->graph->nodes[i];

		for (int a = 0; a < n->n_args && !n->detached && n->op != OP_detach; a++)
			if (n->args[a].kind == ARG_NODE && n->args[a].node == node)
				return true;
	}
	return false;
}

/* A tensor that nothing but the assignment knows: that it would share its memory is not seen. */
static bool is_fresh(const struct trace *t, struct value v)
{
	const struct vtensor *made = v.tensor;

	return v.object->refs == 1 && made->owner == t->serial && !made->view && made->node >= 0 &&
	       trace_source(t, v) < 0 && trace_lifted(t, v) < 0 && !trace_is_leaf(t, v) &&
	       t->graph->nodes[made->node]->op != OP_input;
}

/* x.data -= y: what is stored is x.data itself. */
static bool is_own_memory(const struct trace *t, struct value tensor, struct value v)
{
	const struct traced_view *view = v.kind == VALUE_TENSOR && v.tensor->owner == t->serial
					     ? v.tensor->view
					     : NULL;

	return view && view->base.object == tensor.object && view->n_steps == 1 &&
	       view->steps[0].op == OP_detach;
}

/* x.data = y of a tensor from outside: it has y's memory from then on, and views that were made
 * before keep the old one. */
static bool store_data(struct trace *t, struct value tensor, struct value v, struct err *err)
{
	int source = trace_source(t, tensor);
	struct source *s = source >= 0 ? &t->sources->at[source] : NULL;
	bool plain = s && v.kind == VALUE_TENSOR && !t->cond && !tensor.tensor->view &&
		     s->contiguous && !s->written && !s->keeps_memory && is_fresh(t, v),
	     done;
	int before = plain ? trace_node(t, tensor, err) : 0;

	if (is_own_memory(t, tensor, v))
		return true;
	if (before < 0 || (plain && !fits(t, tensor, v, &plain, err)))
		return false;
	if (!plain || is_recorded(t, before))
		return trace_break(t, BREAK_UNSUPPORTED, "an attribute of a tensor that is set",
				   err);
	t->unrecorded = true;
	done = trace_rewrite(t, tensor, v.tensor->node, true);
	t->unrecorded = false;
	s->replaced = t->n_writes;
	return done || trace_no_memory(err);
}

bool trace_store_attr(void *self, struct value tensor, const char *name, struct value v,
		      struct err *err)
{
	struct trace *t = self;

	if (strcmp(name, "grad") == 0)
		return store_grad(t, tensor, v, err);
	if (strcmp(name, "requires_grad") == 0)
		return store_requires(t, tensor, v, err);
	if (strcmp(name, "data") == 0)
		return store_data(t, tensor, v, err);
	if (!t->native && variables_source(t, tensor) < 0) /* as torch */
		return trace_break(t, BREAK_UNSUPPORTED,
				   "an attribute of a tensor made inside that is set", err);
	return variables_may_store(t, tensor, err) &&
	       err_set(err, ERR_NAME, "what the program gives a tensor is kept with it");
}

/* A write that makes a detached view require a gradient: the view is a value of its own from then
 * on, in the memory of another one. */
static bool check_detached(struct trace *t, const struct value *values, int n, struct err *err)
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

bool trace_check_grads(struct trace *t, enum op op, bool inplace, const struct arguments *call,
		       const struct arg *args, struct err *err)
{
	if (inplace && call->at[0].kind == VALUE_TENSOR &&
	    (!check_leaf(t, call->at[0], err) || !check_detached(t, call->at, call->n, err)))
		return false;
	return check_parts(t, op, inplace, call->at, call->n, err) &&
	       check_wanted(t, op, args, err);
}
