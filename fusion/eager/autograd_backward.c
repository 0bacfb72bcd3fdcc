/* fusion/eager/autograd_backward.c -- a backward pass over the tape.
 */
#include "fusion/eager/autograd.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/eager/eager.h"
#include "fusion/vm/frame.h"

/* A heap, by age: the youngest node is at[0]. */
struct ready {
	struct grad_node **at; /* borrowed */
	size_t n;
};

static void swap(struct ready *r, size_t i, size_t k)
{
	struct grad_node *node = r->at[i];

	r->at[i] = r->at[k];
	r->at[k] = node;
}

static void push_ready(struct ready *r, struct grad_node *node)
{
	size_t i = r->n++;

	r->at[i] = node;
	for (; i > 0 && r->at[i]->birth > r->at[(i - 1) / 2]->birth; i = (i - 1) / 2)
		swap(r, i, (i - 1) / 2);
}

static struct grad_node *pop_ready(struct ready *r)
{
	struct grad_node *first = r->at[0];

	r->at[0] = r->at[--r->n];
	for (size_t i = 0, k; (k = 2 * i + 1) < r->n; i = k) {
		if (k + 1 < r->n && r->at[k + 1]->birth > r->at[k]->birth)
			k++;
		if (r->at[i]->birth >= r->at[k]->birth)
			break;
		swap(r, i, k);
	}
	return first;
}

/*  Puts the nodes of a pass, all that lead on from its roots, whose
 * `senders` are counted, in the order in which they run. */
static bool backward_order(struct grad_node **nodes, size_t n, struct err *err)
{
	struct ready ready = { .at = calloc(n + 1, sizeof(struct grad_node *)) };
	size_t done = 0;

	if (!ready.at)
		return torch_no_memory(err);
	for (size_t i = 0; i < n; i++)
		if (nodes[i]->senders == 0)
			push_ready(&ready, nodes[i]);
	while (ready.n > 0) {
		struct grad_node *node = pop_ready(&ready);

		nodes[done++] = node; /* all are counted: the array is written from its start */
		for (int k = 0; k < node->n_args; k++) {
			struct grad_node *to = node->args[k].to.node;

			if (to && --to->senders == 0)
				push_ready(&ready, to);
		}
	}
	free(ready.at);
	return true;
}

static const struct value unset = { .kind = VALUE_UNSET };

struct backward_pass {
	struct autograd *a;
	const struct backward *b;
	int64_t number;
	VEC(struct grad_node *) nodes; /* reached; references */
	VEC(struct value) leaves;      /* with a pending gradient; references */
	struct value *results;         /* by input */
	struct err *err;
};

/* ---- what a rule is given of a node */

struct taped {
	struct autograd *a;
	struct grad_node *node;
};

static bool give_value(void *self, int index, struct value *out, struct err *err)
{
	struct taped *t = self;
	struct grad_arg *arg = index < 0 ? NULL : &t->node->args[index];

	if (!arg)
		return grad_unpack_out(t->a, t->node, out, err);
	if (!arg->is_tensor) {
		*out = value_ref(arg->value);
		return true;
	}
	return grad_unpack(t->a, t->node, arg, out, err);
}

static bool shape_value(int rank, const int64_t *size, struct value *out, struct err *err)
{
	struct value sizes[MAX_RANK];

	for (int d = 0; d < rank; d++)
		sizes[d] = value_int(size[d]);
	*out = value_tuple(sizes, rank);
	if (out->kind == VALUE_UNSET)
		return torch_no_memory(err);
	out->list->is_size = true;
	return true;
}

static bool give_shape(void *self, int index, struct value *out, struct err *err)
{
	const struct taped *t = self;
	const struct grad_arg *arg = &t->node->args[index < 0 ? 0 : index];

	if (index < 0 || !arg->is_tensor) {
		*out = value_none();
		return true;
	}
	return shape_value(arg->rank, arg->size, out, err);
}

static bool give_dtype(void *self, int index, struct value *out, struct err *err)
{
	const struct taped *t = self;
	const struct grad_arg *arg = &t->node->args[index < 0 ? 0 : index];

	(void)err;
	*out = value_none();
	if (index < 0)
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = t->node->dtype };
	else if (arg->is_tensor)
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = arg->dtype };
	return true;
}

/* ---- gradients on their way */

static bool add(struct backward_pass *p, struct value *to, struct value g)
{
	struct value sum, values[2] = { *to, g };
	struct op_call c = { .op = OP_add, .name = "op:+", .values = values, .n = 2 };

	if (to->kind == VALUE_UNSET) {
		*to = value_ref(g);
		return true;
	}
	if (!eager_run(p->a->eager, &c, &sum, p->err))
		return false;
	value_unref(*to);
	*to = sum;
	return true;
}

/* The inputs that were asked for and come from this place. */
static bool note_inputs(struct backward_pass *p, const struct grad_node *node, int output,
			struct value leaf, struct value g)
{
	for (int i = 0; p->b->inputs && i < p->b->n_inputs; i++) {
		const struct tensor_grad *r = p->b->inputs[i].tensor->grad;
		bool same = node ? r && r->node == node && r->output == output
				 : p->b->inputs[i].tensor == leaf.tensor;

		if (same && !add(p, &p->results[i], g))
			return false;
	}
	return true;
}

/* `absent`: zeros, where eager has no gradient. */
static bool deliver(struct backward_pass *p, const struct grad_source *to, struct value g,
		    bool absent)
{
	struct tensor_grad *record;
	struct value none = unset;

	if (to->node) {
		if (!absent)
			to->node->came |= grad_bit(to->output);
		return add(p, &to->node->given[to->output], g);
	}
	if (to->leaf.kind != VALUE_TENSOR)
		return true;
	if (p->b->inputs)
		return note_inputs(p, NULL, 0, to->leaf, g);
	record = to->leaf.tensor->grad;
	if (record->pending.kind == VALUE_UNSET) {
		if (!VEC_PUSH(&p->leaves, none))
			return torch_no_memory(p->err);
		p->leaves.at[p->leaves.len - 1] = value_ref(to->leaf);
	}
	return add(p, &record->pending, g);
}

static bool same_shape(const struct tensor *t, const struct grad_arg *arg)
{
	return t->dtype == arg->dtype && t->rank == arg->rank &&
	       memcmp(t->size, arg->size, sizeof(t->size[0]) * (size_t)t->rank) == 0;
}

/* The gradient of one argument, in its shape. */
static bool send(struct backward_pass *p, const struct grad_arg *arg, struct value *g, bool absent)
{
	struct value dtype = { .kind = VALUE_DTYPE, .dtype = arg->dtype }, shape;
	bool ok = true;

	if (!tensor_check_memory(*g, p->err))
		return false;
	if (!same_shape(g->tensor->memory, arg)) {
		ok = shape_value(arg->rank, arg->size, &shape, p->err);
		if (ok) {
			ok = grad_fit(p->a, g, shape, dtype, p->err);
			value_unref(shape);
		}
	}
	return ok && deliver(p, &arg->to, *g, absent);
}

static bool wants(const struct backward_pass *p, const struct grad_source *to)
{
	if (to->node)
		return !p->b->inputs || (to->node->pass == p->number && to->node->needed);
	return to->leaf.kind == VALUE_TENSOR;
}

static bool run_rule(struct backward_pass *p, struct grad_node *node, struct value *made)
{
	struct taped taped = { p->a, node };
	struct grad_giver giver = { &taped, give_value, give_shape, give_dtype };
	struct grad_request request = { node->op, 0, node->given[0], &giver };
	bool in_rows = p->a->eager->in_rows, ok;

	for (int i = 0; i < node->n_args; i++)
		if (wants(p, &node->args[i].to))
			request.wanted |= 1u << i;
	p->a->eager->in_rows = true;
	ok = grad_rule_run(p->a, &request, made, p->err);
	p->a->eager->in_rows = in_rows;
	return ok;
}

static bool refuse_again(struct backward_pass *p, const struct grad_node *node)
{
	return autograd_error(
	    p->a, p->err,
	    "Trying to backward through the graph a second time (or directly access saved "
	    "tensors after they have already been freed). Saved intermediate values of the "
	    "graph are freed when you call .backward() or autograd.grad(). Specify "
	    "retain_graph=True if you need to backward through the graph a second time or "
	    "if you need to access saved tensors after calling backward.%s",
	    node->custom && node->custom->piece
		? " Results of one compiled piece share one backward pass, as with torch.compile."
		: "");
}

/* Eager does not come here: nothing that was saved is read. */
static bool send_zeros(struct backward_pass *p, const struct grad_node *node)
{
	bool ok = true;

	for (int i = 0; ok && i < node->n_args; i++) {
		const struct grad_arg *arg = &node->args[i];
		struct tensor *t;
		struct value g;

		if (!wants(p, &arg->to))
			continue;
		t = tensor_create(p->a->eager->env->allocator, arg->dtype, arg->rank, arg->size,
				  p->err);
		if (!t)
			return false;
		memset(tensor_host_writes(t), 0, t->storage->bytes);
		g = tensor_wrap(t);
		if (g.kind == VALUE_UNSET)
			return torch_no_memory(p->err);
		ok = deliver(p, &arg->to, g, true);
		value_unref(g);
	}
	return ok;
}

/* Whether a result of a piece leads to an argument that none leads to whose pass this is or was:
 * eager has a pass for it yet. */
static bool has_more(const struct grad_node *node)
{
	const uint64_t *made_of = node->custom && node->custom->piece ? node->custom->made_of
								      : NULL;
	uint64_t passed = node->spent | node->came;

	for (int i = 0; made_of && i < node->n_args; i++) {
		const struct grad_source *to = &node->args[i].to;

		if ((to->node || to->leaf.kind == VALUE_TENSOR) && !(made_of[i] & passed))
			return true;
	}
	return false;
}

static bool apply(struct backward_pass *p, struct grad_node *node)
{
	const uint64_t *made_of = node->custom ? node->custom->made_of : NULL;
	struct value few[MAX_ARGS], *made = few;
	bool ok;

	if (!node->came)
		return send_zeros(p, node);
	if (node->released || (node->spent & node->came))
		return refuse_again(p, node);
	if (node->custom) {
		made = calloc((size_t)node->n_args + 1, sizeof(*made));
		if (!made)
			return torch_no_memory(p->err);
		node->last = !p->b->keep && !has_more(node);
		ok = node->custom->run(node, node->given, made, p->err);
	} else {
		ok = run_rule(p, node, made);
	}
	if (node->custom && node->custom->piece && !p->b->keep)
		node->spent |= node->came;
	for (int i = 0; i < node->n_args; i++) {
		if (!node->custom && i >= MAX_ARGS)
			break;
		if (ok && made[i].kind == VALUE_TENSOR && wants(p, &node->args[i].to))
			ok = send(p, &node->args[i], &made[i],
				  made_of && !(made_of[i] & node->came));
		value_unref(made[i]);
	}
	if (made != few)
		free(made);
	return ok;
}

/* ---- the order */

static bool reach(struct backward_pass *p, struct grad_node *node)
{
	if (!node || node->pass == p->number)
		return true;
	node->pass = p->number;
	node->needed = false;
	node->came = 0;
	node->senders = 0;
	if (!VEC_PUSH(&p->nodes, node))
		return torch_no_memory(p->err);
	node->refs++;
	return true;
}

static bool is_input(const struct backward_pass *p, const struct grad_node *node, struct value leaf)
{
	for (int i = 0; p->b->inputs && i < p->b->n_inputs; i++) {
		const struct tensor_grad *r = p->b->inputs[i].tensor->grad;

		if (node ? r && r->node == node : p->b->inputs[i].tensor == leaf.tensor)
			return true;
	}
	return false;
}

/* All nodes that the roots depend on, in their order; and which lead to an input. */
static bool collect(struct backward_pass *p)
{
	for (size_t i = 0; i < p->nodes.len; i++)
		for (int k = 0; k < p->nodes.at[i]->n_args; k++) {
			struct grad_node *to = p->nodes.at[i]->args[k].to.node;

			if (!reach(p, to))
				return false;
			if (to)
				to->senders++;
		}
	if (!backward_order(p->nodes.at, p->nodes.len, p->err))
		return false;
	for (size_t i = p->nodes.len; p->b->inputs && i-- > 0;) {
		struct grad_node *node = p->nodes.at[i];

		node->needed = is_input(p, node, unset);
		for (int k = 0; k < node->n_args && !node->needed; k++) {
			const struct grad_source *to = &node->args[k].to;

			node->needed = to->node ? to->node->needed
						: to->leaf.kind == VALUE_TENSOR &&
						      is_input(p, NULL, to->leaf);
		}
	}
	return true;
}

/* Whether something after the node is asked for, not only the node itself. */
static bool leads_on(const struct backward_pass *p, const struct grad_node *node)
{
	if (!p->b->inputs)
		return true;
	for (int k = 0; k < node->n_args; k++) {
		const struct grad_source *to = &node->args[k].to;

		if (to->node ? to->node->needed
			     : to->leaf.kind == VALUE_TENSOR && is_input(p, NULL, to->leaf))
			return true;
	}
	return false;
}

static bool retain(struct backward_pass *p, struct tensor_grad *r, struct value g)
{
	struct value sum = unset;

	if (r->grad.kind == VALUE_TENSOR && !add(p, &sum, r->grad))
		return false;
	if (!add(p, &sum, g)) {
		value_unref(sum);
		return false;
	}
	value_unref(r->grad);
	r->grad = sum;
	return true;
}

static void release(struct grad_node *node)
{
	if (!node->saves)
		return;
	node->released = true;
	for (int i = 0; i < node->n_args; i++) {
		tensor_unref(node->args[i].saved);
		node->args[i].saved = NULL;
	}
	tensor_unref(node->out);
	node->out = NULL;
	grad_drop_packed(node);
}

static bool visit(struct backward_pass *p, struct grad_node *node)
{
	bool any = false, ok = true;

	for (int i = 0; i < node->n_outputs; i++) {
		if (node->given[i].kind != VALUE_TENSOR)
			continue;
		any = true;
		if (ok && node->hooks)
			ok = autograd_run_hooks(p->a, node->hooks[i], &node->given[i], p->err);
		ok = ok && note_inputs(p, node, i, unset, node->given[i]);
		if (ok && node->retaining && node->retaining[i])
			ok = retain(p, node->retaining[i], node->given[i]);
	}
	if (!any || !ok)
		return ok;
	ok = !leads_on(p, node) || apply(p, node);
	for (int i = 0; i < node->n_outputs; i++) {
		value_unref(node->given[i]);
		node->given[i] = unset;
	}
	if (ok && !p->b->keep && !has_more(node))
		release(node);
	return ok;
}

/* ---- roots and leaves */

static bool seed(struct backward_pass *p, int index, struct value *out)
{
	struct value root = p->b->roots[index], given = p->b->seeds ? p->b->seeds[index] : unset;
	struct op_call c = { .op = OP_ones_like, .name = "ones_like", .values = &root, .n = 1 };
	const struct tensor *t = root.tensor->memory;

	if (given.kind == VALUE_TENSOR) {
		const struct tensor *g = given.tensor->memory;

		if (!tensor_check_memory(given, p->err))
			return false;
		if (g->rank != t->rank ||
		    memcmp(g->size, t->size, sizeof(t->size[0]) * (size_t)t->rank) != 0)
			return autograd_error(p->a, p->err,
					      "Mismatch in shape: grad_output[%d] has another "
					      "shape than output[%d]; it needs one gradient for "
					      "each element",
					      index, index);
		*out = value_ref(given);
		return true;
	}
	if (tensor_numel(t) != 1)
		return autograd_error(p->a, p->err,
				      "grad can be implicitly created only for scalar outputs");
	return eager_run_op(p->a->eager, &c, out, p->err);
}

static bool plant(struct backward_pass *p, int index)
{
	struct value root = p->b->roots[index], g = unset;
	struct grad_source to;
	bool ok;

	if (!tensor_check_memory(root, p->err) || !autograd_source(p->a, root, &to, p->err))
		return false;
	if (!to.node && to.leaf.kind != VALUE_TENSOR) {
		if (root.tensor->grad && root.tensor->grad->light)
			return err_set(p->err, ERR_UNSUPPORTED,
				       "gradients were not recorded: nothing in the program's text "
				       "asks for them; write loss.backward()");
		return autograd_error(p->a, p->err,
				      "element %d of tensors does not require grad and does not "
				      "have a grad_fn",
				      index);
	}
	ok = seed(p, index, &g) && reach(p, to.node) && deliver(p, &to, g, false);
	value_unref(g);
	grad_source_drop(&to);
	return ok;
}

/* A gradient that is kept lies alone in its memory, row by row. */
static bool own(struct backward_pass *p, struct value *g)
{
	bool rows = tensor_contiguous(g->tensor->memory);
	struct op_call c = { .op = rows ? OP_clone : OP_contiguous,
			     .name = rows ? "clone" : "contiguous",
			     .values = g,
			     .n = 1 };
	struct value copy;

	if (p->b->create ||
	    (g->tensor->head.refs == 1 && g->tensor->memory->storage->refs == 1 && rows))
		return true;
	if (!eager_run_op(p->a->eager, &c, &copy, p->err))
		return false;
	value_unref(*g);
	*g = copy;
	return true;
}

static bool accumulate(struct backward_pass *p, struct tensor_grad *r, struct value *g)
{
	struct value values[2], out;
	struct op_call c = { .op = OP_add, .name = "op:+", .values = values, .n = 2 };

	if (r->grad.kind != VALUE_TENSOR) {
		if (!own(p, g))
			return false;
		r->grad = value_ref(*g);
		return true;
	}
	values[0] = r->grad;
	values[1] = *g;
	c.inplace = !p->b->create;
	if (!eager_run(p->a->eager, &c, &out, p->err))
		return false;
	value_unref(r->grad);
	r->grad = out;
	return true;
}

static bool run_after(struct backward_pass *p, struct tensor_grad *r)
{
	struct value leaf = value_of(r->of);
	bool ok;

	value_ref(leaf);
	ok = autograd_run_hooks(p->a, r->after, &leaf, p->err);
	value_unref(leaf);
	return ok;
}

/* Leaves that were asked for have hooks, too. */
static bool hook_inputs(struct backward_pass *p)
{
	for (int i = 0; p->b->inputs && i < p->b->n_inputs; i++) {
		const struct tensor_grad *r = p->b->inputs[i].tensor->grad;

		if (r && p->results[i].kind == VALUE_TENSOR &&
		    !autograd_run_hooks(p->a, r->hooks, &p->results[i], p->err))
			return false;
	}
	return true;
}

static bool settle(struct backward_pass *p, bool ok)
{
	for (size_t i = 0; i < p->leaves.len; i++) {
		struct tensor_grad *r = p->leaves.at[i].tensor->grad;
		struct value g = r->pending;

		r->pending = unset;
		ok = ok && autograd_run_hooks(p->a, r->hooks, &g, p->err) && accumulate(p, r, &g) &&
		     run_after(p, r);
		value_unref(g);
		value_unref(p->leaves.at[i]);
	}
	return ok;
}

static void clear(struct backward_pass *p)
{
	for (size_t i = 0; i < p->nodes.len; i++) {
		struct grad_node *node = p->nodes.at[i];

		for (int k = 0; k < node->n_outputs; k++) {
			value_unref(node->given[k]);
			node->given[k] = unset;
		}
		grad_node_unref(node);
	}
	VEC_FREE(&p->nodes);
	VEC_FREE(&p->leaves);
}

/* The places of the inputs are compared with those of nodes: they are made first. */
static bool renew_inputs(struct backward_pass *p)
{
	for (int i = 0; p->b->inputs && i < p->b->n_inputs; i++)
		if (!autograd_renew(p->a, p->b->inputs[i], p->err))
			return false;
	return true;
}

static bool run(struct backward_pass *p)
{
	if (!renew_inputs(p))
		return false;
	for (int i = 0; i < p->b->n; i++)
		if (!plant(p, i))
			return false;
	if (!collect(p))
		return false;
	for (size_t i = 0; i < p->nodes.len; i++)
		if ((!p->b->inputs || p->nodes.at[i]->needed) && !visit(p, p->nodes.at[i]))
			return false;
	return true;
}

/* Inputs alone: what they get is added to their .grad, as for leaves. */
static bool add_results(struct backward_pass *p, bool ok)
{
	for (int i = 0; i < p->b->n_inputs; i++) {
		struct tensor_grad *r = p->b->inputs[i].tensor->grad;

		if (p->results[i].kind == VALUE_TENSOR && r && ok)
			ok = accumulate(p, r, &p->results[i]);
		value_unref(p->results[i]);
	}
	free(p->results);
	return ok;
}

bool autograd_backward(struct autograd *a, const struct backward *b, struct err *err)
{
	struct backward_pass p = {
		.a = a, .b = b, .number = ++a->passes, .results = b->results, .err = err
	};
	struct vm_host *host = a->vm->host;
	struct torch_modes *modes = &a->vm->modes;
	unsigned autocast = modes->autocast; /* each gradient is in the dtype of its op */
	bool before = autograd_enabled(a), ok;

	if (b->inputs && !b->results) {
		p.results = calloc((size_t)b->n_inputs + 1, sizeof(*p.results));
		if (!p.results)
			return torch_no_memory(err);
	}
	autograd_enable(a, b->create);
	modes->autocast = 0;
	vm_set_host(a->vm, &a->eager->host);
	ok = run(&p) && hook_inputs(&p);
	ok = settle(&p, ok);
	if (b->inputs && !b->results)
		ok = add_results(&p, ok);
	clear(&p);
	vm_set_host(a->vm, host);
	autograd_enable(a, before);
	modes->autocast = autocast;
	return ok;
}
