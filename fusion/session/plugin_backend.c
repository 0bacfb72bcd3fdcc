/* fusion/session/plugin_backend.c -- a plugin's backend among ours.
 *
 * It is given nodes one by one: graphs are not fused for it, views become strides of
 * operands.  What the passes make that it does not take (a copy, a fill, a cheaper op
 * for the one it was asked) the interpreter runs in its place, so that a node that
 * was taken when the graph was cut is run in any case.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/graph/symreal.h"
#include "fusion/graph/view.h"
#include "fusion/session/plugin_private.h"

/* Where an operand lies, before and after symbols have values. */
struct plugin_place {
	int buffer; /* -1: a number */
	struct view_layout layout;
	const struct sym *sym; /* a number that is symbolic */
	bool real;             /* its value is a float's bits */
	int64_t offset;        /* bytes */
};

struct plugin_step {
	const struct node *node; /* NULL: the interpreter runs it */
	struct be_step call;
	struct plugin_place operands[BE_MAX_ARGS + 1];
	int result; /* buffer */
};

struct executable_of_plugin {
	const struct be_backend *plugin;
	const struct backend *interp;
	struct executable *rest;
	const struct lowered *lowered;
	struct plugin_step *steps; /* by kernel */
};

static struct executable_of_plugin *of(struct executable *exe)
{
	return (struct executable_of_plugin *)(void *)exe;
}

static const struct plugin_backend *backend_of(const struct backend *self)
{
	return self->data;
}

/* ---- what it takes */

static bool available(const struct backend_env *env, char *why, size_t why_bytes)
{
	const struct be_backend *b = backend_of(env->backend)->plugin;
	bool ok;

	if (!b->available)
		return true;
	why[0] = '\0';
	ok = b->available(why, why_bytes, b->self);
	why[why_bytes - 1] = '\0';
	return ok;
}

static bool is_asked(enum op_kind kind)
{
	return kind == KIND_POINTWISE || kind == KIND_REDUCE || kind == KIND_LIBRARY;
}

static int operand_count(const struct node *n)
{
	return op_info(n->op)->kind == KIND_REDUCE || n->op == OP_to ? 1 : n->n_args;
}

static struct be_question question_of(const struct graph *g, const struct node *n)
{
	struct be_question q = { .op = op_info(n->op)->id,
				 .result = (enum be_dtype)n->dtype,
				 .compute = (enum be_dtype)n->compute,
				 .n = operand_count(n) };

	for (int i = 0; i < q.n; i++)
		q.operands[i] = n->args[i].kind == ARG_NODE
				    ? (enum be_dtype)g->nodes[n->args[i].node]->dtype
				    : q.compute;
	return q;
}

static bool takes(const struct be_backend *b, const struct graph *g, const struct node *n,
		  bool *by_type, const char **why)
{
	struct be_question q;

	if (!is_asked(op_info(n->op)->kind) || n->op == OP_custom_kernel)
		return false;
	q = question_of(g, n);
	if (b->takes(&q, why, b->self))
		return true;
	q.result = q.compute = BE_FLOAT32;
	for (int i = 0; i < q.n; i++)
		q.operands[i] = BE_FLOAT32;
	*by_type |= b->takes(&q, why, b->self);
	return false;
}

/* What the interpreter does on the way: no arithmetic. */
static bool moves_only(const struct node *n)
{
	enum op_kind kind = op_info(n->op)->kind;

	return kind == KIND_INPUT || kind == KIND_CONSTANT || kind == KIND_VIEW ||
	       n->op == OP_clone || n->op == OP_contiguous || n->op == OP_full ||
	       n->op == OP_zeros || n->op == OP_ones;
}

/* An op that is made of others, by its parts. */
static bool takes_parts(const struct be_backend *b, const struct graph *g, const struct node *n,
			bool *by_type, const char **why)
{
	bool *inside = calloc((size_t)g->n_nodes + 1, sizeof(*inside));
	struct pass_options options = { .disabled = ~(uint64_t)0 };
	struct pass_result result;
	struct arena arena = { 0 };
	struct graph *part;
	bool ok = false;
	int *inputs;

	if (!inside)
		return false;
	inside[n->id] = true;
	part = graph_extract(g, inside, &n->id, 1, &arena, &inputs);
	if (part && passes_run(part, &options, &result, NULL)) {
		ok = true;
		for (int i = 0; ok && i < part->n_nodes; i++)
			ok = moves_only(part->nodes[i]) ||
			     takes(b, part, part->nodes[i], by_type, why);
	}
	arena_finish(&arena);
	free(inside);
	return ok;
}

static bool can_lower(const struct backend *self, const struct graph *g, const struct node *n,
		      bool *by_type, const char **why)
{
	const struct be_backend *b = backend_of(self)->plugin;

	if (moves_only(n))
		return true;
	if (op_info(n->op)->kind == KIND_COMPOSITE)
		return n->id < g->n_nodes && g->nodes[n->id] == n &&
		       takes_parts(b, g, n, by_type, why);
	return takes(b, g, n, by_type, why);
}

/* ---- compiling */

/* The buffer that holds the value of a node; -1: none does. */
static int buffer_of(const struct lowered *l, int node)
{
	for (int i = 0; i < l->n_buffers; i++)
		if (l->buffers[i].node == node)
			return i;
	return -1;
}

static bool place_operand(const struct lowered *l, const struct arg *arg, struct plugin_place *at,
			  struct be_operand *operand)
{
	*at = (struct plugin_place){ .buffer = -1 };
	*operand = (struct be_operand){ .f = NAN };
	switch (arg->kind) {
	case ARG_FLOAT:
		operand->f = arg->f;
		return true;
	case ARG_BOOL:
		operand->i = arg->b;
		operand->f = arg->b;
		return true;
	case ARG_REAL:
	case ARG_INT:
		at->sym = arg->sym;
		at->real = arg->kind == ARG_REAL;
		return true;
	case ARG_NODE:
		if (!view_layout(l->graph, arg->node, &at->layout))
			return false;
		at->buffer = buffer_of(l, at->layout.base);
		operand->is_tensor = true;
		operand->tensor.dtype = (enum be_dtype)l->graph->nodes[arg->node]->dtype;
		operand->tensor.rank = at->layout.shape.rank;
		return at->buffer >= 0;
	default:
		return true;
	}
}

/* Makes the step of a kernel, if the plugin takes its node. */
static void make_step(const struct be_backend *b, const struct lowered *l, const struct kernel *k,
		      struct plugin_step *step)
{
	const struct node *n = k->n_nodes == 1 ? l->graph->nodes[k->nodes[0]] : NULL;
	const char *why = NULL;
	bool by_type = false;

	if (!n || !takes(b, l->graph, n, &by_type, &why))
		return;
	step->call.op = op_info(n->op)->id;
	step->call.n = operand_count(n);
	step->result = buffer_of(l, n->id);
	if (step->result < 0)
		return;
	for (int i = 0; i < step->call.n; i++)
		if (!place_operand(l, &n->args[i], &step->operands[i], &step->call.operands[i]))
			return;
	if (op_info(n->op)->kind == KIND_REDUCE)
		step->call.reduced = node_reduced(l->graph, n);
	step->call.result.dtype = (enum be_dtype)n->dtype;
	step->call.result.rank = n->shape.rank;
	step->node = n;
}

static void destroy(struct executable *exe)
{
	struct executable_of_plugin *e = of(exe);

	if (!e)
		return;
	e->interp->destroy(e->rest);
	free(e->steps);
	free(e);
}

static struct executable *compile(const struct backend_env *env, const struct lowered *l,
				  struct compile_stats *stats, struct err *err)
{
	struct executable_of_plugin *e = calloc(1, sizeof(*e));

	if (!e || !(e->steps = calloc((size_t)l->n_kernels + 1, sizeof(*e->steps)))) {
		free(e);
		err_set(err, ERR_MEMORY, "out of memory for the kernels of a plugin's backend");
		return NULL;
	}
	e->plugin = backend_of(env->backend)->plugin;
	e->interp = backend_find("interp");
	e->lowered = l;
	e->rest = backend_compile(e->interp, env, l, stats, err);
	if (!e->rest) {
		free(e->steps);
		free(e);
		return NULL;
	}
	for (int k = 0; k < l->n_kernels; k++)
		make_step(e->plugin, l, &l->kernels[k], &e->steps[k]);
	return (struct executable *)(void *)e;
}

/* ---- running */

static void bind_operand(struct plugin_place *at, struct be_operand *operand, const int64_t *vars)
{
	if (at->buffer < 0) {
		if (at->sym) {
			operand->i = sym_eval(at->sym, vars);
			operand->f = at->real ? real_of_bits(operand->i) : (double)operand->i;
		}
		return;
	}
	for (int d = 0; d < operand->tensor.rank; d++) {
		operand->tensor.size[d] = sym_eval(at->layout.shape.size[d], vars);
		operand->tensor.stride[d] = sym_eval(at->layout.stride[d], vars);
	}
	at->offset = sym_eval(at->layout.offset, vars) *
		     (int64_t)dtype_bytes((enum dtype)operand->tensor.dtype);
}

static void bind_result(struct plugin_step *step, const int64_t *vars)
{
	struct be_tensor *t = &step->call.result;
	int64_t stride = 1;

	for (int d = t->rank - 1; d >= 0; d--) {
		t->size[d] = sym_eval(step->node->shape.size[d], vars);
		t->stride[d] = stride;
		stride *= t->size[d];
	}
}

static bool bind(struct executable *exe, const int64_t *vars, struct err *err)
{
	struct executable_of_plugin *e = of(exe);

	for (int k = 0; k < e->lowered->n_kernels; k++) {
		struct plugin_step *step = &e->steps[k];

		if (!step->node)
			continue;
		for (int i = 0; i < step->call.n; i++)
			bind_operand(&step->operands[i], &step->call.operands[i], vars);
		bind_result(step, vars);
	}
	return e->interp->bind(e->rest, vars, err);
}

static void *memory_of(const struct executable_of_plugin *e, int buffer, void *const *buffers)
{
	const struct buffer *b = &e->lowered->buffers[buffer];

	return b->kind == BUFFER_CONST ? (void *)(uintptr_t)b->data : buffers[buffer];
}

static void launch(struct executable *exe, int kernel, void *const *buffers, struct pool *pool,
		   bool backward)
{
	struct executable_of_plugin *e = of(exe);
	struct plugin_step *step = &e->steps[kernel];

	if (!step->node) {
		e->interp->launch(e->rest, kernel, buffers, pool, backward);
		return;
	}
	for (int i = 0; i < step->call.n; i++)
		if (step->operands[i].buffer >= 0)
			step->call.operands[i].tensor.data =
			    (char *)memory_of(e, step->operands[i].buffer, buffers) +
			    step->operands[i].offset;
	step->call.result.data = buffers[step->result];
	e->plugin->run(&step->call, e->plugin->self);
}

static bool fault(struct executable *exe, struct err *err)
{
	struct executable_of_plugin *e = of(exe);

	return !e->interp->fault || e->interp->fault(e->rest, err);
}

bool plugin_add_backend(struct be_registry *r, const struct be_backend *backend)
{
	struct plugin_backend *added;

	if (!backend || !plugin_is_name(backend->name) || !backend->purpose || !backend->takes ||
	    !backend->run)
		return err_set(r->err, ERR_PLUGIN,
			       "a backend needs a name that is an identifier, a purpose, and "
			       "functions takes and run");
	if (registry_backend(r->to, backend->name))
		return err_set(r->err, ERR_PLUGIN, "there is a backend '%s' already",
			       backend->name);
	if (r->to->n_backends == MAX_PLUGIN_BACKENDS)
		return err_set(r->err, ERR_PLUGIN, "plugins have added %d backends, the limit",
			       MAX_PLUGIN_BACKENDS);
	added = calloc(1, sizeof(*added));
	if (!added)
		return err_set(r->err, ERR_MEMORY, "out of memory for a backend");
	*added = (struct plugin_backend){
		.backend = { .name = backend->name,
			     .purpose = backend->purpose,
			     .one_by_one = true,
			     .data = added,
			     .available = available,
			     .can_lower = can_lower,
			     .compile = compile,
			     .bind = bind,
			     .launch = launch,
			     .fault = fault,
			     .destroy = destroy },
		.plugin = backend,
		.plugin_name = r->plugin,
	};
	r->to->backends[r->to->n_backends++] = added;
	return true;
}
