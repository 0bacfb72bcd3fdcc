/* fusion/capture/backward/sweep.c -- the rules of _grads over a graph. */
#include "fusion/capture/backward/sweep.h"

#include <string.h>

#include "fusion/capture/backward/function.h"

/* Whether a result of it leads to a tensor that is asked for. */
static bool function_leads(const struct traced_function *f, const bool *tracked)
{
	for (int i = 0; i < f->n_inputs; i++)
		if (tracked[f->inputs[i]])
			return true;
	return false;
}

bool sweep_spread(const struct trace *t, const struct graph *g, bool *tracked, const bool *stops,
		  struct err *err)
{
	bool known;

	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];
		bool any = false;

		if (n->takes_over >= 0) {
			tracked[id] |= tracked[n->takes_over];
			continue;
		}
		if (n->function >= 0) {
			tracked[id] |= !(stops && stops[id]) &&
				       function_leads(&t->functions.at[n->function], tracked);
			continue;
		}
		for (int i = 0; i < op_n_read(n->op, n->n_args); i++)
			any |= n->args[i].kind == ARG_NODE && tracked[n->args[i].node];
		if (tracked[id] || !any || sweep_detaches(n) || (stops && stops[id]) ||
		    dtype_category(n->dtype) != CATEGORY_FLOAT)
			continue;
		if (!grad_rule_known(t->autograd, n->op, &known, err))
			return false;
		tracked[id] = known;
	}
	return true;
}

/* ---- rules over nodes */

static bool tuple_of(const struct sym *const *ints, int n, bool is_size, struct value *out,
		     struct err *err)
{
	struct value items[MAX_RANK];

	for (int i = 0; i < n; i++)
		items[i] = trace_size_value(ints[i]);
	*out = value_tuple(items, n);
	if (out->kind == VALUE_UNSET)
		return trace_no_memory(err);
	out->list->is_size = is_size;
	return true;
}

static bool give_value(void *self, int index, struct value *out, struct err *err)
{
	const struct gradient_sweep *s = self;
	const struct arg *arg;

	if (index < 0)
		return trace_wrap(s->t, s->node->id, out, err);
	arg = &s->node->args[index];
	switch (arg->kind) {
	case ARG_NODE:
		return trace_wrap(s->t, arg->node, out, err);
	case ARG_INT:
		*out = trace_size_value(arg->sym);
		return true;
	case ARG_INTS:
		return tuple_of(arg->ints, arg->n, false, out, err);
	default:
		*out = sweep_literal(arg);
		return out->kind != VALUE_UNSET || trace_no_memory(err);
	}
}

static const struct node *tensor_at(const struct gradient_sweep *s, int index)
{
	const struct arg *arg = &s->node->args[index < 0 ? 0 : index];

	if (index < 0)
		return s->node;
	return arg->kind == ARG_NODE ? s->t->graph->nodes[arg->node] : NULL;
}

static bool give_shape(void *self, int index, struct value *out, struct err *err)
{
	const struct node *n = tensor_at(self, index);

	*out = value_none();
	return !n || tuple_of(n->shape.size, n->shape.rank, true, out, err);
}

static bool give_dtype(void *self, int index, struct value *out, struct err *err)
{
	const struct node *n = tensor_at(self, index);

	(void)err;
	*out = n ? (struct value){ .kind = VALUE_DTYPE, .dtype = n->dtype } : value_none();
	return true;
}

static bool add_to(struct gradient_sweep *s, struct value *to, struct value g)
{
	struct value pair[2] = { *to, g }, sum;

	if (to->kind == VALUE_UNSET) {
		*to = value_ref(g);
		return true;
	}
	if (!trace_op(s->t, &(struct op_call){ OP_add, "op:+", false, pair, 2, NULL }, &sum,
		      s->err))
		return false;
	value_unref(*to);
	*to = sum;
	return true;
}

/* In the shape and dtype of the node. */
static bool fit(struct gradient_sweep *s, const struct node *to, struct value *g)
{
	struct value shape, dtype = { .kind = VALUE_DTYPE, .dtype = to->dtype };
	struct shape have;
	enum dtype had;
	bool ok;

	if (!trace_shape(s->t, *g, &have, &had, s->err))
		return false;
	if (had == to->dtype && shape_equal(&have, &to->shape))
		return true;
	if (!tuple_of(to->shape.size, to->shape.rank, true, &shape, s->err))
		return false;
	ok = grad_fit(s->a, g, shape, dtype, s->err);
	value_unref(shape);
	return ok;
}

/* ---- sides of branches: the gradient of one that was not taken is zero, whatever its rules
 * make of that (0 * inf) */

/* Chooses between what the two sides left. */
static bool chooses(const struct node *n, const struct traced_side *side)
{
	return n->op == OP_where && n->args[0].node == side->condition;
}

/* Nodes that a side was the first to need, as a view or a cast that is kept, are none of its
 * own: what is after the branch reads them, too.  By node from side->first on. */
static bool *find_shared(const struct graph *g, int n_nodes, const struct traced_side *side)
{
	bool *shared = ARENA_ARRAY(g->arena, bool, (size_t)(side->end - side->first) + 1);

	for (int i = 0; shared && i < g->n_outputs; i++)
		if (side->first <= g->outputs[i] && g->outputs[i] < side->end)
			shared[g->outputs[i] - side->first] = true;
	for (int id = n_nodes - 1; shared && id >= side->first; id--) {
		const struct node *n = g->nodes[id];
		bool outside = id >= side->end ? !chooses(n, side) : shared[id - side->first];

		for (int i = 0; outside && i < n->n_args; i++)
			if (n->args[i].kind == ARG_NODE && side->first <= n->args[i].node &&
			    n->args[i].node < side->end)
				shared[n->args[i].node - side->first] = true;
	}
	return shared;
}

static bool find_all_shared(struct gradient_sweep *s)
{
	const struct trace *t = s->t;

	s->shared = ARENA_ARRAY(s->from->arena, const bool *, t->sides.len + 1);
	for (size_t i = 0; s->shared && i < t->sides.len; i++)
		if (!(s->shared[i] = find_shared(s->from, s->n, &t->sides.at[i])))
			return trace_no_memory(s->err);
	return s->shared || trace_no_memory(s->err);
}

static bool is_of_side(const struct gradient_sweep *s, size_t index, int node)
{
	const struct traced_side *side = &s->t->sides.at[index];

	return side->first <= node && node < side->end && !s->shared[index][node - side->first] &&
	       s->from->nodes[node]->op != OP_input && !(s->leaf && s->leaf[node] >= 0);
}

static bool leave_sides(struct gradient_sweep *s, int from, int to, struct value *g)
{
	for (size_t i = 0; i < s->t->sides.len; i++) {
		const struct traced_side *side = &s->t->sides.at[i];
		struct value values[3], made;
		bool ok;

		if (!is_of_side(s, i, from) || is_of_side(s, i, to))
			continue;
		if (!trace_wrap(s->t, s->map[side->condition], &values[0], s->err))
			return false;
		values[side->holds ? 1 : 2] = *g;
		values[side->holds ? 2 : 1] = value_float(0);
		ok = trace_op(s->t, &(struct op_call){ OP_where, "fx:", false, values, 3, NULL },
			      &made, s->err);
		value_unref(values[0]);
		if (!ok)
			return false;
		value_unref(*g);
		*g = made;
	}
	return true;
}

static bool run_rule(struct gradient_sweep *s, const struct node *n, struct value g)
{
	struct grad_giver giver = { s, give_value, give_shape, give_dtype };
	struct value made[MAX_ARGS];
	unsigned wanted = 0;
	bool ok;

	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE && s->tracked[n->args[i].node])
			wanted |= 1u << i;
	s->node = s->t->graph->nodes[s->map[n->id]];
	ok = grad_rule_run(s->a, &(struct grad_request){ s->node->op, wanted, g, &giver }, made,
			   s->err);
	for (int i = 0; i < MAX_ARGS; i++) {
		if (ok && made[i].kind == VALUE_TENSOR) {
			int at = n->args[i].node;

			ok = fit(s, s->t->graph->nodes[s->map[at]], &made[i]) &&
			     leave_sides(s, n->id, at, &made[i]) &&
			     add_to(s, &s->given[at], made[i]);
		}
		value_unref(made[i]);
	}
	return ok;
}

/* What it adds is of the node's module. */
static bool run_node(struct gradient_sweep *s, const struct node *n, struct value g)
{
	const struct node *before = s->t->ruled;
	bool ok;

	s->t->ruled = n;
	ok = run_rule(s, n, g);
	s->t->ruled = before;
	return ok;
}

/* ---- results of torch.autograd.Function */

/* The nodes that backward() is to have for the gradients of the results: *any is one of them. */
static bool function_seeds(struct gradient_sweep *s, const struct traced_function *f, int *seeds,
			   bool *any)
{
	*any = false;
	for (int i = 0; i < f->n_results; i++)
		*any |= f->results[i] >= 0 && s->given[f->results[i]].kind == VALUE_TENSOR;
	for (int i = 0; *any && i < f->n_results; i++) {
		struct value of, g;
		bool ok = true;

		if (f->results[i] < 0)
			continue;
		g = value_ref(s->given[f->results[i]]);
		if (g.kind != VALUE_TENSOR) { /* it is zero */
			ok = trace_wrap(s->t, s->map[f->results[i]], &of, s->err);
			if (!ok)
				return false;
			ok = trace_op(
			    s->t, &(struct op_call){ OP_zeros_like, "fx:", false, &of, 1, NULL },
			    &g, s->err);
			value_unref(of);
		}
		seeds[i] = ok ? trace_node(s->t, g, s->err) : -1;
		if (ok)
			value_unref(g);
		if (seeds[i] < 0)
			return false;
	}
	return true;
}

static bool give_function(struct gradient_sweep *s, const struct traced_function *f,
			  const int *made)
{
	for (int i = 0; i < f->n_inputs; i++) {
		struct value g;
		bool ok;

		if (made[i] < 0)
			continue;
		if (!trace_wrap(s->t, made[i], &g, s->err))
			return false;
		ok = fit(s, s->t->graph->nodes[s->map[f->inputs[i]]], &g) &&
		     leave_sides(s, f->from, f->inputs[i], &g) &&
		     add_to(s, &s->given[f->inputs[i]], g);
		value_unref(g);
		if (!ok)
			return false;
	}
	return true;
}

/* The gradients of all results are there. */
static bool run_function(struct gradient_sweep *s, const struct traced_function *f)
{
	struct arena *arena = s->t->graph->arena;
	const struct node *before = s->t->ruled;
	int *seeds = ARENA_ARRAY(arena, int, (size_t)f->n_results + 1),
	    *made = ARENA_ARRAY(arena, int, (size_t)f->n_inputs + 1);
	bool any, ok;

	if (!seeds || !made)
		return trace_no_memory(s->err);
	if (f->end < 0)
		return err_set(s->err, ERR_UNSUPPORTED,
			       "backward() of a torch.autograd.Function asks for its own gradient");
	s->t->ruled = s->from->nodes[f->from];
	ok = function_seeds(s, f, seeds, &any) &&
	     (!any || (functions_in_trace.replay(s, f, seeds, made) && give_function(s, f, made)));
	s->t->ruled = before;
	if (s->ran)
		s->ran[f->from] |= any;
	return ok;
}

/* ---- writes */

/* A rule reads the node's elements: the op that wrote last where they lie, -1: none. */
static int save(const struct graph *g, int node, uint64_t by, uint64_t *saved)
{
	int memory = graph_memory(g, node);

	if (saved)
		saved[memory] |= by;
	return g->nodes[memory]->overwrite;
}

static bool is_spoiled(const struct gradient_sweep *s, const struct node *n, uint64_t by,
		       uint64_t *saved, bool *spoiled, struct err *err)
{
	unsigned wanted = 0, needs;
	bool known;

	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE && s->tracked[n->args[i].node])
			wanted |= 1u << i;
	if (!grad_rule_needs(s->a, n->op, wanted, &known, &needs, err))
		return false;
	needs &= grad_rule_watches(
	    s->a, n->op, wanted,
	    n->args[0].kind == ARG_NODE ? s->from->nodes[n->args[0].node]->shape.rank : 0);
	for (int i = n->in_place; i < n->n_args; i++) /* eager copies what it overwrites */
		if (n->args[i].kind == ARG_NODE && (needs & 1u << i))
			*spoiled |= save(s->from, n->args[i].node, by, saved) >=
				    n->id; /* x.mul_(x) */
	if (needs & 1u << MAX_ARGS)
		*spoiled |= save(s->from, n->id, by, saved) > n->id;
	return true;
}

/* backward() reads what forward() has read and made: as eager, where it was written since. */
static bool function_spoiled(const struct gradient_sweep *s, const struct traced_function *f,
			     uint64_t *reached, uint64_t *saved)
{
	bool spoiled = false;
	uint64_t by = 0;

	for (int i = 0; i < f->n_results; i++)
		by |= f->results[i] >= 0 ? reached[f->results[i]] : 0;
	for (int i = 0; by && i < f->n_inputs; i++)
		reached[f->inputs[i]] |= by;
	for (int i = 0; by && i < f->n_saved; i++)
		spoiled |= save(s->from, f->saved[i], by, saved) >= f->end;
	for (int id = f->first; by && id < f->end; id++) {
		const struct node *n = s->from->nodes[id];

		for (int i = 0; i < n->n_args; i++)
			if (n->args[i].kind == ARG_NODE &&
			    function_saves(s->from, f, n->args[i].node))
				spoiled |= save(s->from, n->args[i].node, by, saved) >= f->end;
	}
	return spoiled;
}

bool sweep_spoiled(const struct gradient_sweep *s, uint64_t *reached, uint64_t *saved,
		   bool *spoiled, struct err *err)
{
	*spoiled = false;
	for (int id = s->n - 1; id >= 0; id--) {
		const struct node *n = s->from->nodes[id];

		if (n->function >= 0) {
			const struct traced_function *f = &s->t->functions.at[n->function];

			*spoiled |= id == f->from && s->tracked[id] &&
				    function_spoiled(s, f, reached, saved);
			continue;
		}
		if (!reached[id] || !s->tracked[id] || n->op == OP_input ||
		    (s->leaf && s->leaf[id] >= 0))
			continue;
		if (n->takes_over >= 0) {
			reached[n->takes_over] |= reached[id];
			continue;
		}
		for (int i = 0; i < op_n_read(n->op, n->n_args); i++)
			if (n->args[i].kind == ARG_NODE)
				reached[n->args[i].node] |= reached[id];
		if (!is_spoiled(s, n, reached[id], saved, spoiled, err))
			return false;
	}
	return true;
}

/* ---- slices: where all that reads a value are slices that lie side by side and
 * leave nothing out, its gradient is theirs, side by side, and no sum of tensors
 * that are mostly zeros */

enum { MAX_SLICES = MAX_ARGS - 1 }; /* of a cat */

struct cover {
	int dim;
	int n;
	int slices[MAX_SLICES]; /* nodes, by where they begin */
};

static bool is_number(const struct arg *arg)
{
	return arg->kind == ARG_INT && sym_is_const(arg->sym);
}

/* Puts the slice after those that begin before it. */
static bool add_slice(struct cover *c, const struct graph *g, const struct node *n)
{
	int at = c->n;

	if (n->op != OP_slice || c->n == MAX_SLICES || !is_number(&n->args[1]) ||
	    !is_number(&n->args[2]) || !is_number(&n->args[3]) || !is_number(&n->args[4]) ||
	    n->args[4].sym->value != 1 || (c->n && n->args[1].sym->value != c->dim))
		return false;
	c->dim = (int)n->args[1].sym->value;
	for (; at > 0 && g->nodes[c->slices[at - 1]]->args[2].sym->value > n->args[2].sym->value;
	     at--)
		c->slices[at] = c->slices[at - 1];
	c->slices[at] = n->id;
	c->n++;
	return true;
}

static bool reads(const struct node *n, int id)
{
	for (int i = 0; i < n->n_args; i++)
		if (n->args[i].kind == ARG_NODE && n->args[i].node == id)
			return true;
	return false;
}

/* The slices of node `id`; n is 0 where something else reads it, or they leave
 * elements out, or share some. */
static struct cover find_cover(const struct graph *g, int n_nodes, int id)
{
	const struct cover none = { 0 };
	struct cover c = { 0 };
	int64_t end = 0;

	for (int i = 0; i < g->n_outputs; i++)
		if (g->outputs[i] == id)
			return none;
	for (int user = id + 1; user < n_nodes; user++)
		if (reads(g->nodes[user], id) && !add_slice(&c, g, g->nodes[user]))
			return none;
	if (c.dim < 0)
		c.dim += g->nodes[id]->shape.rank;
	for (int i = 0; i < c.n; i++) {
		const struct node *n = g->nodes[c.slices[i]];

		if (n->args[2].sym->value != end)
			return none;
		end = n->args[3].sym->value;
	}
	return c.n > 1 && sym_is(g->nodes[id]->shape.size[c.dim], end) ? c : none;
}

/* Which values are read so, by node of the captured graph. */
static bool find_covers(struct gradient_sweep *s)
{
	const struct graph *g = s->from;

	s->covers = ARENA_ARRAY(g->arena, struct cover, (size_t)s->n + 1);
	for (int id = 0; s->covers && s->t->sides.len == 0 && id < s->n; id++) {
		const struct node *n = g->nodes[id];

		if (n->op == OP_slice && s->tracked[id] && !s->covers[n->args[0].node].n)
			s->covers[n->args[0].node] = find_cover(g, s->n, n->args[0].node);
	}
	return s->covers || trace_no_memory(s->err);
}

/* The gradients of the slices as that of the whole; one by one where some have none. */
static bool join_slices(struct gradient_sweep *s, int id)
{
	const struct cover *c = &s->covers[id];
	const struct graph *g = s->from;
	const struct node *before = s->t->ruled;
	struct value parts[MAX_ARGS] = { value_int(c->dim) }, whole;
	int n = 1;
	bool ok = true;

	for (int i = 0; i < c->n; i++)
		if (s->given[c->slices[i]].kind == VALUE_TENSOR)
			parts[n++] = s->given[c->slices[i]];
	if (n <= c->n) {
		for (int i = 0; ok && i < c->n; i++)
			if (s->given[c->slices[i]].kind == VALUE_TENSOR)
				ok = run_node(s, g->nodes[c->slices[i]], s->given[c->slices[i]]);
		return ok;
	}
	s->t->ruled = g->nodes[c->slices[0]];
	ok = trace_op(s->t, &(struct op_call){ OP_cat, "torch.cat", false, parts, n, NULL }, &whole,
		      s->err);
	if (ok) {
		ok = add_to(s, &s->given[id], whole);
		value_unref(whole);
	}
	s->t->ruled = before;
	return ok;
}

bool sweep_give(struct gradient_sweep *s, int to, struct value g)
{
	return add_to(s, &s->given[to], g);
}

static bool take_over(struct gradient_sweep *s, const struct node *n)
{
	struct value g = value_ref(s->given[n->id]);
	bool ok = leave_sides(s, n->id, n->takes_over, &g) && sweep_give(s, n->takes_over, g);

	value_unref(g);
	return ok;
}

/* After it nodes are of the program's module again. */
bool sweep_run(struct gradient_sweep *s)
{
	const char *module = s->t->graph->module;

	if (!find_covers(s) || !find_all_shared(s))
		return false;
	for (int id = s->n - 1; id >= 0; id--) {
		const struct node *n = s->from->nodes[id];

		if (s->covers[id].n && s->tracked[id] && !join_slices(s, id))
			return false;
		if (n->op == OP_slice && s->covers[n->args[0].node].n)
			continue; /* comes with the others */
		if (n->function >= 0) {
			const struct traced_function *f = &s->t->functions.at[n->function];

			if (id == f->from && s->tracked[id] && !run_function(s, f))
				return false;
			continue;
		}
		if (!s->tracked[id] || s->given[id].kind != VALUE_TENSOR || n->op == OP_input ||
		    (s->leaf && s->leaf[id] >= 0))
			continue;
		if (n->takes_over >= 0) {
			if (!take_over(s, n))
				return false;
			continue;
		}
		if (s->ran)
			s->ran[id] = true;
		if (!run_node(s, n, s->given[id]))
			return false;
	}
	s->t->graph->module = module;
	return true;
}
