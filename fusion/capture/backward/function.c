/* fusion/capture/backward/function.c -- torch.autograd.Function in a graph: see function.h. */
#include "fusion/capture/backward/function.h"

#include <stdio.h>
#include <string.h>

#include "fusion/capture/control/cond.h"
#include "fusion/eager/autograd.h"

static const struct value unset = { .kind = VALUE_UNSET };

/* Eager has the gradient. */
static bool give_up(struct trace *t, const char *why, struct err *err)
{
	trace_break(t, BREAK_UNSUPPORTED, "torch.autograd.Function", err);
	snprintf(t->brk.message, sizeof(t->brk.message),
		 "the gradient of a torch.autograd.Function: %.400s", why);
	return false;
}

static bool begin(struct trace *t, const struct arguments *args, struct err *err)
{
	struct traced_context c = { .begin = t->graph->n_nodes, .n_ops = t->n_ops - 1 };
	const struct list *tensors = args->n == 2 && args->at[1].kind == VALUE_LIST
					 ? args->at[1].list
					 : NULL;
	int *inputs;

	if (!tensors)
		return err_set(err, ERR_TYPE, "torch.autograd.Function calls this");
	inputs = ARENA_ARRAY(t->graph->arena, int, (size_t)tensors->len + 1);
	for (int i = 0; inputs && i < tensors->len; i++)
		if ((inputs[i] = trace_node(t, tensors->at[i], err)) < 0)
			return false;
	c.inputs = inputs;
	c.ctx = args->at[0];
	if (!inputs || !VEC_PUSH(&t->contexts, c))
		return trace_no_memory(err);
	value_ref(c.ctx);
	return true;
}

/* ---- A view that forward() gave is a tensor of its own in the graph: as torch has it once a
 * graph is compiled.  That it shares memory would go unnoticed, so neither is written while the
 * program has both. */

static struct value root_of(const struct trace *t, struct value tensor)
{
	const struct vtensor *v = tensor.tensor;

	return v->owner == t->serial && v->view ? v->view->base : tensor;
}

static bool may_write(struct trace *t, struct value tensor, struct err *err)
{
	const struct vtensor *root = root_of(t, tensor).tensor;

	for (size_t i = 0; i < t->function_views.len; i += 2) {
		const struct value *pair = &t->function_views.at[i];

		if ((pair[0].tensor != root && pair[1].tensor != root) || pair[0].object->refs == 1)
			continue;
		t->restart = t->no_functions = true;
		return err_set(err, ERR_BREAK, "a view that a Function gave is written");
	}
	return true;
}

static bool note_view(struct trace *t, struct value result)
{
	struct value pair[2] = { result, result.tensor->view->base };

	for (int i = 0; i < 2; i++) {
		if (!VEC_PUSH(&t->function_views, pair[i]))
			return false;
		value_ref(pair[i]);
	}
	result.tensor->release(result.tensor); /* it is no view from here on */
	result.tensor->release = NULL;
	return true;
}

/* ---- recording */

struct function_call {
	struct trace *t;
	const struct list *tensors, *results, *saved;
	struct value backward;
	struct traced_context context;
	struct traced_function f;
	struct err *err;
};

static bool is_in_loop(const struct trace *t)
{
	const struct cond *k = t->cond;

	while (k && !k->is_loop)
		k = k->up;
	return k != NULL;
}

/* False: forward() began before the graph. */
static bool take_context(struct function_call *c, struct value ctx)
{
	struct trace *t = c->t;

	for (size_t i = t->contexts.len; i-- > 0;) {
		if (t->contexts.at[i].ctx.object != ctx.object)
			continue;
		c->context = t->contexts.at[i];
		t->contexts.at[i] = t->contexts.at[--t->contexts.len];
		value_unref(c->context.ctx);
		return true;
	}
	return false;
}

static bool parse(struct function_call *c, const struct arguments *args)
{
	struct trace *t = c->t;

	if (args->n != 6 || args->at[0].kind != VALUE_LIST || args->at[1].kind != VALUE_LIST ||
	    args->at[4].kind != VALUE_TUPLE)
		return err_set(c->err, ERR_TYPE, "torch.autograd.Function calls this");
	c->tensors = args->at[0].list;
	c->results = args->at[1].list;
	c->saved = args->at[4].list;
	c->backward = args->at[2];
	if (!take_context(c, args->at[5]))
		return give_up(t, "it began before the graph", c->err);
	if (t->no_functions)
		return give_up(t, "a view that it gives is written", c->err);
	if (is_in_loop(t))
		return give_up(t, "it is in a loop of the graph", c->err);
	if (t->autograd->twice)
		return give_up(t, "the program asks for gradients of gradients", c->err);
	if (t->derivatives > 0)
		return give_up(t, "it is inside a derivative of torch.func", c->err);
	return true;
}

static bool is_among(const struct value *v, int n, struct value tensor)
{
	for (int i = 0; i < n; i++)
		if (v[i].kind == VALUE_TENSOR && v[i].tensor == tensor.tensor)
			return true;
	return false;
}

/* All that is asked for is a tensor that forward() made, of tensors that are as they were. */
static bool check(struct function_call *c)
{
	struct trace *t = c->t;
	const struct value *results = c->results->at;

	for (int i = 0; i < c->tensors->len; i++) {
		int node = trace_node(t, c->tensors->at[i], c->err);
		bool asked = false;

		if (node < 0 || (node != c->context.inputs[i] &&
				 !trace_requires(t, c->tensors->at[i], &asked, c->err)))
			return false;
		if (asked)
			return give_up(t, "forward() writes to an argument", c->err);
	}
	for (int i = 0; i < c->results->len; i++) {
		if (results[i].kind != VALUE_TENSOR)
			continue;
		if (results[i].tensor->owner != t->serial || trace_source(t, results[i]) >= 0 ||
		    is_among(c->tensors->at, c->tensors->len, results[i]) ||
		    is_among(results, i, results[i]))
			return give_up(t, "forward() gives a tensor that it has not made", c->err);
		if (trace_node(t, results[i], c->err) < 0)
			return false;
	}
	return true;
}

static bool make_room(struct function_call *c)
{
	struct arena *arena = c->t->graph->arena;
	struct traced_function *f = &c->f;
	size_t n = (size_t)c->results->len + 1;

	f->n_inputs = c->tensors->len;
	f->n_results = c->results->len;
	f->inputs = c->context.inputs;
	f->results = ARENA_ARRAY(arena, int, n);
	f->saved = ARENA_ARRAY(arena, int, (size_t)c->saved->len + 1);
	f->seeds = ARENA_ARRAY(arena, int, n);
	f->grads = ARENA_ARRAY(arena, int, (size_t)f->n_inputs + 1);
	return (f->results && f->saved && f->seeds && f->grads) || trace_no_memory(c->err);
}

/* A node for a result; -1 with *err. */
static int add_result(struct function_call *c, struct value result)
{
	struct trace *t = c->t;
	int of = trace_node(t, result, c->err), node;
	const struct node *n;
	struct arg args[2];

	if (of < 0)
		return -1;
	n = t->graph->nodes[of];
	args[0] = arg_node(of);
	args[1] = arg_dtype(n->dtype); /* a number has a dtype of its own from here on */
	node = graph_add(t->graph,
			 &(struct node_spec){ n->weak ? OP_to : OP_clone, args, 1 + n->weak,
					      t->host.line, t->host.column },
			 c->err);
	if (node < 0)
		return -1;
	t->graph->nodes[node]->function = (int)t->functions.len;
	if (!graph_set_fx(t->graph, node, "") || (result.tensor->view && !note_view(t, result)) ||
	    !trace_rewrite(t, result, node, false)) {
		trace_no_memory(c->err);
		return -1;
	}
	return node;
}

/* The last of them are of one call, to FX. */
static bool add_results(struct function_call *c, int *results)
{
	struct graph *g = c->t->graph;
	int last = -1;

	for (int i = 0; i < c->f.n_results; i++) {
		results[i] = -1;
		if (c->results->at[i].kind != VALUE_TENSOR)
			continue;
		results[i] = last = add_result(c, c->results->at[i]);
		if (last < 0)
			return false;
		if (c->f.from < 0)
			c->f.from = last;
	}
	for (int id = c->context.begin; id < g->n_nodes; id++)
		if (!graph_set_fx(g, id, id == last ? "autograd_function_apply" : ""))
			return trace_no_memory(c->err);
	return true;
}

static bool note_saved(struct function_call *c, int *saved)
{
	for (int i = 0; i < c->saved->len; i++) {
		if (c->saved->at[i].kind != VALUE_TENSOR)
			continue;
		saved[c->f.n_saved] = trace_node(c->t, c->saved->at[i], c->err);
		if (saved[c->f.n_saved++] < 0)
			return false;
	}
	return true;
}

/* What a backward pass may add to that only the forward pass may. */
struct traces {
	size_t n_asserts, n_prints, n_grads;
};

static struct traces traces_of(const struct trace *t)
{
	return (struct traces){ t->asserts.len, t->prints.len, t->grads.len };
}

static bool left_traces(const struct function_call *c, const struct traces *before)
{
	const struct graph *g = c->t->graph;
	struct traces now = traces_of(c->t);

	if (memcmp(&now, before, sizeof(now)) != 0)
		return true;
	for (int id = c->f.first; id < g->n_nodes; id++)
		if (graph_draws(g->nodes[id]))
			return true;
	return false;
}

/* What stopped backward() is seen there; the graph ends where the Function is called. */
static bool backward_failed(struct function_call *c)
{
	struct trace *t = c->t;
	char why[ERR_MESSAGE_BYTES];

	if (t->restart || (c->err && (c->err->code == ERR_MEMORY || c->err->code == ERR_STEPS ||
				      c->err->code == ERR_CANCELLED)))
		return false;
	if (t->brk.id == BREAK_NONE) {
		snprintf(why, sizeof(why), "%s", c->err ? c->err->message : "");
		if (c->err)
			*c->err = (struct err){ 0 };
		return give_up(t, why, c->err);
	}
	t->brk.depth = 1;
	for (const struct frame *f = t->vm->frame; f != t->base; f = f->up)
		t->brk.depth++;
	return false;
}

/* The gradient of an input: in its shape, or one that is summed to it. */
static bool note_grad(struct function_call *c, int input, struct value g, int *node)
{
	struct trace *t = c->t;
	const struct node *to = t->graph->nodes[c->f.inputs[input]];
	struct shape have, both;
	enum dtype dtype;

	*node = -1;
	if (g.kind != VALUE_TENSOR)
		return g.kind == VALUE_NONE || give_up(t, "backward() gives no tensor", c->err);
	if (dtype_category(to->dtype) != CATEGORY_FLOAT)
		return true;
	if (!trace_shape(t, g, &have, &dtype, c->err))
		return false;
	if (dtype_category(dtype) != CATEGORY_FLOAT ||
	    !shape_broadcast(t->graph->syms, &have, &to->shape, &both, NULL) ||
	    !shape_equal(&both, &have))
		return give_up(t, "backward() gives one of another shape or type", c->err);
	*node = trace_node(t, g, c->err);
	return *node >= 0;
}

static bool note_grads(struct function_call *c, struct value found, int *grads)
{
	if (found.kind != VALUE_LIST || found.list->len != c->f.n_inputs)
		return give_up(c->t, "backward() gives none for some tensor", c->err);
	for (int i = 0; i < c->f.n_inputs; i++)
		if (!note_grad(c, i, found.list->at[i], &grads[i]))
			return false;
	return true;
}

/* args[i]: a reference to what stands for the gradient of result i. */
static bool add_seeds(struct function_call *c, struct value *args, int *seeds)
{
	for (int i = 0; i < c->f.n_results; i++) {
		struct value of = c->results->at[i];

		seeds[i] = -1;
		args[i] = value_none();
		if (c->f.results[i] < 0)
			continue;
		if (!trace_op(c->t, &(struct op_call){ OP_zeros_like, "fx:", false, &of, 1, NULL },
			      &args[i], c->err)) {
			args[i] = unset;
			return false;
		}
		seeds[i] = trace_node(c->t, args[i], c->err);
		if (seeds[i] < 0)
			return false;
	}
	return true;
}

static bool run_backward(struct function_call *c, struct value *args, int *seeds, int *grads)
{
	struct trace *t = c->t;
	struct trace_body body = { .tensor_birth = t->n_tensors, .native = true };
	struct traces before = traces_of(t);
	struct value found;
	bool ok;

	args[0] = value_ref(c->backward);
	if (!add_seeds(c, args + 1, seeds))
		return false;
	if (!t->control->body(t, &body, &(struct arguments){ args, c->f.n_results + 1, NULL },
			      &found, c->err))
		return backward_failed(c);
	ok = note_grads(c, found, grads);
	value_unref(found);
	if (!ok)
		return false;
	return !left_traces(c, &before) ||
	       give_up(t, "backward() prints, asserts or draws random numbers", c->err);
}

/* Under the modes of a backward pass; FX has no nodes of it. */
static bool record(struct function_call *c, int *seeds, int *grads)
{
	struct trace *t = c->t;
	struct value *args = ARENA_ARRAY(t->graph->arena, struct value, (size_t)c->f.n_results + 1);
	bool off = t->grad_off, ok;
	unsigned autocast = t->autocast_mode;
	int line = t->host.line, column = t->host.column;

	if (!args)
		return trace_no_memory(c->err);
	for (int i = 0; i <= c->f.n_results; i++)
		args[i] = unset;
	t->grad_off = true;
	t->autocast_mode = 0;
	ok = run_backward(c, args, seeds, grads);
	for (int i = 0; i <= c->f.n_results; i++)
		value_unref(args[i]);
	for (int id = c->f.first; ok && id < t->graph->n_nodes; id++)
		if (!graph_set_fx(t->graph, id, ""))
			ok = trace_no_memory(c->err);
	t->grad_off = off;
	t->autocast_mode = autocast;
	t->host.line = line;
	t->host.column = column;
	return ok;
}

static bool end(struct trace *t, const struct arguments *args, struct err *err)
{
	struct function_call c = { .t = t, .f = { .from = -1, .end = -1 }, .err = err };
	size_t at = t->functions.len;
	int *results, *seeds, *grads, *saved;

	if (!parse(&c, args) || !check(&c) || !make_room(&c))
		return false;
	saved = (int *)c.f.saved;
	results = (int *)c.f.results;
	seeds = (int *)c.f.seeds;
	grads = (int *)c.f.grads;
	if (!add_results(&c, results))
		return false;
	if (!note_saved(&c, saved))
		return false;
	c.f.first = t->graph->n_nodes;
	if (c.f.from >= 0) {
		if (!VEC_PUSH(&t->functions, c.f))
			return trace_no_memory(err);
		if (!record(&c, seeds, grads))
			return false;
		t->functions.at[at].end = t->graph->n_nodes;
	}
	t->n_ops = c.context.n_ops + 2; /* its context, and the call */
	return true;
}

/* ---- replaying */

struct function_copy {
	struct gradient_sweep *s;
	const struct traced_function *f;
	int *made; /* by node from f->first on: its copy in s->t->graph, -1 */
};

static int copy_of(const struct function_copy *r, int node)
{
	if (function_saves(r->s->from, r->f, node))
		return r->s->map[node];
	return r->made[node - r->f->first];
}

static bool copy(struct function_copy *r, int id)
{
	struct graph *g = r->s->t->graph;
	struct node *n;

	if (!graph_copy_node(g, r->s->from->nodes[id]))
		return trace_no_memory(r->s->err);
	n = g->nodes[g->n_nodes - 1];
	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE)
			n->args[i].node = copy_of(r, n->args[i].node);
	n->memory = n->overwrite = n->takes_over = n->function = -1;
	n->in_place = n->merged = false;
	n->detached |= r->s->t->grad_off;
	r->made[id - r->f->first] = n->id;
	return graph_rename(g, n->id) || trace_no_memory(r->s->err);
}

/* What the gradients that are asked for are made of. */
static bool *find_needed(const struct function_copy *r)
{
	const struct traced_function *f = r->f;
	const struct graph *g = r->s->from;
	bool *needed = ARENA_ARRAY(r->s->t->graph->arena, bool, (size_t)(f->end - f->first) + 1);

	for (int i = 0; needed && i < f->n_inputs; i++)
		if (f->grads[i] >= f->first && r->s->tracked[f->inputs[i]])
			needed[f->grads[i] - f->first] = true;
	for (int id = f->end - 1; needed && id >= f->first; id--)
		for (int i = 0; needed[id - f->first] && i < g->nodes[id]->n_args; i++) {
			const struct arg *arg = &g->nodes[id]->args[i];

			if (arg->kind == ARG_NODE && arg->node >= f->first)
				needed[arg->node - f->first] = true;
		}
	return needed;
}

static bool replay(struct gradient_sweep *s, const struct traced_function *f, const int *seeds,
		   int *made)
{
	struct function_copy r = { .s = s, .f = f };
	bool *needed = find_needed(&r);

	r.made = ARENA_ARRAY(s->t->graph->arena, int, (size_t)(f->end - f->first) + 1);
	if (!needed || !r.made)
		return trace_no_memory(s->err);
	for (int i = 0; i < f->n_results; i++) {
		if (f->results[i] < 0)
			continue;
		r.made[f->seeds[i] - f->first] = seeds[i];
		needed[f->seeds[i] - f->first] = false;
	}
	for (int id = f->first; id < f->end; id++)
		if (needed[id - f->first] && s->from->nodes[id]->op != OP_input && !copy(&r, id))
			return false;
	for (int i = 0; i < f->n_inputs; i++)
		made[i] = f->grads[i] >= 0 && s->tracked[f->inputs[i]] ? copy_of(&r, f->grads[i])
								       : -1;
	return true;
}

const struct trace_functions functions_in_trace = { begin, end, may_write, replay };
