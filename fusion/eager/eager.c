/* fusion/eager/eager.c -- runs an op at once: signature, plan, memory, kernel.
 *
 * In-place ops write straight over their first operand only where every
 * element is read before it is written (plan->into); else they compute aside
 * and copy.
 */
#include "fusion/eager/eager.h"

#include <math.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/generators.h"
#include "fusion/tensor/shadow.h"
#include "fusion/graph/custom.h"
#include "fusion/graph/lay.h"
#include "fusion/graph/symreal.h"
#include "fusion/tensor/keep.h"
#include "fusion/tensor/view.h"
#include "fusion/torch/bind.h"
#include "fusion/torch/decomposition.h"

/* ---- A result into the memory of a tensor.
 *
 * On a device the elements of a view that does not lie row by row are written by a
 * kernel: op put_view, whose result lies where its operand does. */

enum { HEAD_WRITE = 1 << 17 };

static void put_layout(struct signature *s, const struct tensor *t)
{
	s->words[s->n++] = (uint64_t)t->dtype | (uint64_t)t->rank << 8;
	for (int d = 0; d < t->rank; d++) {
		s->words[s->n++] = (uint64_t)t->size[d];
		s->words[s->n++] = (uint64_t)t->stride[d];
	}
}

/* All that the plan depends on; `flat` is the storage of `to` as one row. */
static void describe(struct signature *s, const struct tensor *to, const struct tensor *from,
		     const struct tensor *flat)
{
	s->n = s->n_tensors = s->n_numbers = 0;
	s->apart = 0;
	s->words[s->n++] = (uint64_t)OP_put_view | HEAD_WRITE;
	put_layout(s, to);
	put_layout(s, from);
	s->words[s->n++] = (uint64_t)to->offset;
	s->words[s->n++] = (uint64_t)flat->size[0];
}

static int add_input(struct graph *g, const struct tensor *t)
{
	const struct sym *stride[MAX_RANK] = { 0 };
	struct shape shape = { .rank = t->rank };

	for (int d = 0; d < t->rank; d++) {
		shape.size[d] = sym_const(g->syms, t->size[d]);
		stride[d] = sym_const(g->syms, t->stride[d]);
	}
	return graph_input(g, t->dtype, &shape, stride);
}

/* Compiles the graph of one op. */
static struct exec *compile_op(struct eager *e, struct graph *g, struct arena *arena,
			       struct err *err)
{
	const struct compile_options options = { .env = e->env,
						 .backend = e->backend,
						 .passes = { .disabled = e->passes_disabled },
						 .of_eager = true };
	struct exec *exec = compile_piece(&options, g, arena, err);

	if (exec)
		e->compile_ns += exec->stats.compile_ns;
	return exec;
}

static bool build_write(struct eager *e, struct eager_plan *plan, const struct tensor *to,
			const struct tensor *from, const struct tensor *flat, struct err *err)
{
	struct graph *g = graph_create(&plan->arena);
	const struct sym *size[MAX_RANK], *stride[MAX_RANK];
	int base = g ? add_input(g, flat) : -1, value = g ? add_input(g, from) : -1, id;
	struct arg args[5];

	if (base < 0 || value < 0)
		return torch_no_memory(err);
	for (int d = 0; d < to->rank; d++) {
		size[d] = sym_const(g->syms, to->size[d]);
		stride[d] = sym_const(g->syms, to->stride[d]);
	}
	args[0] = arg_node(base);
	args[1] = arg_node(value);
	args[2] = arg_ints(size, to->rank);
	args[3] = arg_ints(stride, to->rank);
	args[4] = arg_sym(sym_const(g->syms, to->offset));
	id = graph_add(g, &(struct node_spec){ OP_put_view, args, 5, e->host.line, e->host.column },
		       err);
	if (id < 0)
		return false;
	if (!graph_set_outputs(g, &id, 1))
		return torch_no_memory(err);
	plan->exec = compile_op(e, g, &plan->arena, err);
	return plan->exec && exec_bind(plan->exec, NULL, err);
}

static bool run(struct eager *e, struct tensor *to, struct tensor *from, struct tensor *flat,
		struct err *err)
{
	struct tensor *inputs[2] = { flat, from }, *result;
	struct signature s;
	struct eager_plan *plan;
	unsigned site = (unsigned)e->host.line * 31 + (unsigned)e->host.column * 7 + OP_put_view;

	describe(&s, to, from, flat);
	plan = plans_find(&e->plans, &s, site);
	if (!plan) {
		plan = plans_add(&e->plans, &s, site);
		if (!plan)
			return torch_no_memory(err);
		if (!build_write(e, plan, to, from, flat, err)) {
			plans_drop(&e->plans, plan);
			return false;
		}
	}
	if (!exec_run(plan->exec,
		      &(struct exec_call){ .inputs = inputs,
					   .outputs = &result,
					   .into = flat,
					   .observer = e->observer,
					   .graph = -1 },
		      err))
		return false;
	e->launches += plan->exec->launched;
	tensor_unref(result);
	return true;
}

/* the elements of `from` into `to`, which has its dtype and sizes and no two elements
 * that are one in memory.  False with *err. */
static bool eager_write(struct eager *e, struct tensor *to, struct tensor *from, struct err *err)
{
	int64_t numel = (int64_t)(to->storage->bytes / dtype_bytes(to->dtype)), step = 1;
	struct tensor *flat;
	bool ok;

	if (!e->env->device || tensor_contiguous(to)) {
		tensor_copy(to, from);
		return true;
	}
	flat = tensor_view(to, 1, &numel, &step, 0, err);
	ok = flat && run(e, to, from, flat, err);
	tensor_unref(flat);
	return ok;
}

/* Operands that PyTorch reads before it writes, or does not look at. */
static bool reads_apart(const struct op_call *c, int operand)
{
	if (c->op == OP_fill) /* x.copy_(y) is the one that reads as it writes */
		return strcmp(c->name, "Tensor.fill_") == 0;
	return op_has(c->op, FACT_READS_FIRST) ||
	       (operand == 2 && op_has(c->op, FACT_READS_VALUE_FIRST));
}

static bool same_sizes(const struct tensor *a, const struct tensor *b)
{
	return a->rank == b->rank &&
	       memcmp(a->size, b->size, sizeof(*a->size) * (size_t)a->rank) == 0;
}

/* whether an in-place op may write values[0], given what it reads; else *err. */
static bool eager_may_write(const struct op_call *c, struct err *err)
{
	bool any_order = c->op == OP_scatter || c->op == OP_scatter_add;
	const struct tensor *to = c->values[0].tensor->memory;

	for (int i = 1; i < c->n; i++) {
		const struct tensor *from;

		if (c->values[i].kind != VALUE_TENSOR || reads_apart(c, i))
			continue;
		from = c->values[i].tensor->memory;
		/* x[0:2] = y expands y first */
		if (strcmp(c->name, "setitem") == 0 && !same_sizes(to, from))
			continue;
		if (tensors_meet(to, from) == MEET_IN_PART || (any_order && tensors_meet(to, from)))
			return err_set(err, ERR_OP,
				       "unsupported operation: some elements of the input tensor "
				       "and the written-to tensor refer to a single memory "
				       "location. Please clone() the tensor before performing the "
				       "operation.");
	}
	return true;
}

enum {
	HEAD_INPLACE = 1 << 16,
	HEAD_REAL = 17, /* a bit's place: two for the default dtype */
	HEAD_ORDERED = 1 << 19
};
#define HEAD_IN_ROWS (UINT64_C(1) << 63)

/* Graph inputs of a plan are in the order of the signature's tensors. */
static int input_of(void *self, struct value tensor, struct err *err)
{
	const struct signature *s = self;

	for (int i = 0; i < s->n_tensors; i++)
		if (s->tensors[i].tensor == tensor.tensor)
			return i;
	err_set(err, ERR_TYPE, "a tensor inside a list is not an operand here");
	return -1;
}

static bool add_inputs(struct graph *g, const struct signature *s, struct err *err)
{
	for (int i = 0; i < s->n_tensors; i++) {
		const struct tensor *t = s->tensors[i].tensor->memory;
		const struct sym *stride[MAX_RANK] = { 0 };
		struct shape shape = { .rank = t->rank };

		for (int d = 0; d < t->rank; d++) {
			shape.size[d] = sym_const(g->syms, t->size[d]);
			stride[d] = sym_const(g->syms, t->stride[d]);
		}
		if (graph_input(g, t->dtype, &shape, stride) < 0)
			return err_set(err, ERR_MEMORY, "out of memory while preparing an op");
	}
	return true;
}

/* What a dropout is: one kernel that draws, compares and scales.  In a larger graph the
 * product goes with what is before and after it. */
static enum op whole_op(struct graph *g, const struct signature *s, enum op op, struct arg *args)
{
	bool draws = op == OP_dropped || (op == OP_dropout && args[2].b);

	if (!draws || args[1].kind != ARG_FLOAT || !(args[1].f > 0) || !(args[1].f < 1) ||
	    !tensor_contiguous(s->tensors[0].tensor->memory))
		return op;
	if (op == OP_dropout)
		args[2] = arg_int(g, DROPOUT_LOAD_BYTES);
	return OP_drop;
}

/* Whether the kernel may write over input 0: one pointwise op without casts, or a dropout. */
static bool may_overwrite(const struct graph *g, int result)
{
	const struct node *to = g->nodes[g->inputs[0]], *op = g->nodes[result];

	if ((op_info(op->op)->kind != KIND_POINTWISE && op->op != OP_drop) ||
	    op->dtype != to->dtype)
		return false;
	for (int i = 0; i < g->n_inputs; i++)
		if (g->nodes[g->inputs[i]]->dtype != to->dtype)
			return false;
	return true;
}

/* The same of an op that is several, in one kernel. */
static bool kernel_may_overwrite(const struct exec *e)
{
	const struct lowered *l = e->lowered;
	int in = e->inputs[0], out = e->outputs[0].buffer;

	return l->n_kernels == 1 && in >= 0 && !e->outputs[0].copy &&
	       l->buffers[in].dtype == l->buffers[out].dtype &&
	       kernel_overwrites(&l->kernels[0], in, out);
}

static void keep_layout(struct eager_plan *plan, const struct view_layout *l)
{
	plan->is_view = true;
	plan->rank = l->shape.rank;
	plan->offset = sym_eval(l->offset, NULL);
	for (int d = 0; d < plan->rank; d++) {
		plan->size[d] = sym_eval(l->shape.size[d], NULL);
		plan->stride[d] = sym_eval(l->stride[d], NULL);
	}
}

/* The result as PyTorch lays it: another view of what is computed. */
static void keep_order(struct eager_plan *plan, const struct shape *shape, uint32_t order)
{
	int64_t step = 1;

	plan->is_view = true;
	plan->rank = shape->rank;
	plan->offset = 0;
	for (int place = shape->rank - 1; place >= 0; place--) {
		int d = lay_dim(order, place);

		plan->size[d] = sym_eval(shape->size[d], NULL);
		plan->stride[d] = step;
		step *= plan->size[d];
	}
}

/* A view needs no kernel; a reshape that its strides do not allow is a view of a
 * copy.  -1 with *err; else the node to compute, or the view's where there is
 * none. */
static int build_view(struct eager *e, struct eager_plan *plan, struct graph *g, int id,
		      struct err *err)
{
	int line = e->host.line, column = e->host.column, copy;
	struct view_layout layout;
	struct arg args[MAX_ARGS];
	enum op op = g->nodes[id]->op;

	if (!view_layout(g, id, &layout)) {
		if (op == OP_view || op == OP_view_as) {
			err_set(err, ERR_OP,
				"view: the strides of the tensor do not allow these sizes without "
				"a copy; write x.reshape(...)");
			return -1;
		}
		memcpy(args, g->nodes[id]->args, sizeof(args));
		copy = graph_add(g, &(struct node_spec){ OP_contiguous, args, 1, line, column },
				 err);
		args[0].node = copy;
		id = copy < 0 ? -1
			      : graph_add(g,
					  &(struct node_spec){ op, args, op_info(op)->n_params,
							       line, column },
					  err);
		if (id < 0 || !view_layout(g, id, &layout))
			return -1;
		id = copy;
	}
	keep_layout(plan, &layout);
	return id;
}

static struct graph *eager_graph(const struct eager *e, struct arena *arena)
{
	struct graph *g = graph_create(arena);

	if (g) {
		g->custom = e->env->custom;
		g->real = e->modes->real;
		g->ordered = e->modes->ordered;
	}
	return g;
}

/* The call with symbols in place of the numbers that are no part of its signature. */
static bool symbols_for_numbers(struct graph *g, const struct signature *s, struct op_call *c,
				struct value values[MAX_ARGS], struct err *err)
{
	int next = 0;

	memcpy(values, c->values, sizeof(*values) * (size_t)c->n);
	for (int i = 0; i < c->n; i++) {
		const struct sym *sym;

		if (!(s->apart & 1u << i))
			continue;
		sym = sym_var_from(g->syms, s->numbers[next++], INT64_MIN);
		if (values[i].kind == VALUE_INT)
			values[i] = (struct value){ .kind = VALUE_SYMINT, .sym = sym };
		else
			values[i] = (struct value){ .kind = VALUE_SYMREAL,
						    .real = sym ? symreal_var(g->syms, sym)
								: NULL };
		if (!sym || !values[i].sym)
			return torch_no_memory(err);
	}
	c->values = values;
	return true;
}

static bool set_output(struct eager_plan *plan, struct graph *g, int id, bool in_rows)
{
	uint32_t order;

	if (!in_rows && !plan->is_view)
		graph_lay(g, id);
	order = g->nodes[id]->order;
	g->nodes[id]->order = 0;
	if (order)
		keep_order(plan, &g->nodes[id]->shape, order);
	return graph_set_outputs(g, &id, 1) && graph_lay_outputs(g, &order, 1);
}

/* Compiles the one-op graph of a call into plan->exec. */
static bool build(struct eager *e, struct eager_plan *plan, struct signature *s,
		  const struct op_call *c, struct err *err)
{
	struct graph *g = eager_graph(e, &plan->arena);
	struct bind_target target = { .graph = g, .reals = true, .node = input_of, .self = s };
	struct value values[MAX_ARGS];
	struct op_call any = *c;
	struct arg args[MAX_ARGS];
	enum op op;
	int id;

	if (!g)
		return err_set(err, ERR_MEMORY, "out of memory while preparing an op");
	if (s->apart && !symbols_for_numbers(g, s, &any, values, err))
		return false;
	c = &any;
	if (!add_inputs(g, s, err) ||
	    !bind_call(&target, c->op, c->name, &(struct arguments){ c->values, c->n, c->kw }, args,
		       err))
		return false;
	op = whole_op(g, s, c->op, args);
	id = graph_add(
	    g, &(struct node_spec){ op, args, op_info(op)->n_params, e->host.line, e->host.column },
	    err);
	if (id >= 0 && op_info(g->nodes[id]->op)->kind == KIND_VIEW) {
		id = build_view(e, plan, g, id, err);
		if (id < 0 || op_info(g->nodes[id]->op)->kind == KIND_VIEW)
			return id >= 0;
	}
	if (id < 0)
		return false;
	if (c->inplace) {
		plan->into = may_overwrite(g, id);
		id = bind_inplace(g, g->inputs[0], id, e->host.line, e->host.column, err);
		if (id < 0)
			return false;
	}
	if (!set_output(plan, g, id, c->inplace || e->in_rows))
		return err_set(err, ERR_MEMORY, "out of memory while preparing an op");
	plan->exec = compile_op(e, g, &plan->arena, err);
	if (!plan->exec)
		return false;
	plan->exec->eager = true;
	if (c->inplace)
		plan->into = plan->into || kernel_may_overwrite(plan->exec);
	return exec_bind(plan->exec, s->numbers, err);
}

static struct eager_plan *make_plan(struct eager *e, struct signature *s, const struct op_call *c,
				    unsigned site, struct err *err)
{
	struct eager_plan *plan;

	if (s->n > SIGNATURE_WORDS) { /* no valid call is so long: binding says what is wrong */
		struct eager_plan once = { 0 };

		if (build(e, &once, s, c, err))
			err_set(err, ERR_BOUND, "%s has too many arguments", c->name);
		exec_destroy(once.exec);
		arena_finish(&once.arena);
		return NULL;
	}
	plan = plans_add(&e->plans, s, site);
	if (!plan) {
		torch_no_memory(err);
		return NULL;
	}
	if (!build(e, plan, s, c, err)) {
		plans_drop(&e->plans, plan);
		return NULL;
	}
	return plan;
}

/* The tensor of `x op= y` that may be written while it is read. */
static struct tensor *overwritten(const struct eager_plan *plan, const struct signature *s)
{
	struct tensor *to = s->tensors[0].tensor->memory;

	if (!plan->into || !tensor_ends_storage(to))
		return NULL;
	for (int i = 1; i < s->n_tensors; i++) {
		const struct tensor *t = s->tensors[i].tensor->memory;

		if (t != to && t->storage == to->storage)
			return NULL;
	}
	return to;
}

/* `base` is what the view is of; its memory is shared. */
static bool make_view(const struct eager_plan *plan, struct tensor *base, struct value *out,
		      struct err *err)
{
	struct tensor *t = tensor_view(base, plan->rank, plan->size, plan->stride,
				       base->offset + plan->offset, err);

	if (!t)
		return false;
	*out = tensor_wrap(t);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

/* Where a program loads: what is computed lies where its operands do. */
static void place(const struct signature *s, struct value v)
{
	for (int i = 0; v.kind == VALUE_TENSOR && i < s->n_tensors; i++)
		v.tensor->memory->storage->on_gpu |= s->tensors[i].tensor->memory->storage->on_gpu;
}

/* A plan has the place of the call that it was made for. */
static bool failed_here(const struct eager *e, struct err *err)
{
	if (err && err->line && !e->env->device) { /* a GPU says it later on */
		err->line = e->host.line;
		err->column = e->host.column;
	}
	return false;
}

static bool run_plan(struct eager *e, struct eager_plan *plan, const struct signature *s,
		     bool inplace, struct value *out, struct err *err)
{
	struct tensor *inputs[MAX_ARGS], *result, *into = inplace ? overwritten(plan, s) : NULL;
	const struct exec_call call = { .inputs = inputs,
					.outputs = &result,
					.into = into,
					.observer = e->observer,
					.graph = -1 };
	bool ok;

	if (plan->is_view && !plan->exec)
		return make_view(plan, s->tensors[0].tensor->memory, out, err);
	for (int i = 0; i < s->n_tensors; i++)
		inputs[i] = s->tensors[i].tensor->memory;
	if (inplace && tensor_repeats(inputs[0]))
		return torch_writes_expanded(err);
	if (inplace && !storage_before_write(inputs[0]->storage, err))
		return false;
	if (!exec_bind(plan->exec, s->numbers, err) || !exec_run(plan->exec, &call, err))
		return failed_here(e, err);
	e->launches += plan->exec->launched;
	if (plan->is_view) {
		ok = make_view(plan, result, out, err);
		tensor_unref(result);
		return ok;
	}
	if (!inplace) {
		*out = tensor_wrap(result);
		if (__builtin_expect(e->modes->gpu == GPU_NAMED, 0))
			place(s, *out);
		return out->kind != VALUE_UNSET || torch_no_memory(err);
	}
	ok = into || eager_write(e, inputs[0], result, err);
	storage_written(inputs[0]->storage);
	tensor_unref(result);
	if (!ok)
		return false;
	*out = value_ref(s->tensors[0]);
	return true;
}

/* x.contiguous() of a tensor that lies row by row is x itself, so that writes reach it. */
static bool lies_row_by_row(const struct op_call *c)
{
	const struct value *x = &c->values[0];

	return c->op == OP_contiguous && c->n == 1 && x->kind == VALUE_TENSOR &&
	       x->tensor->memory && tensor_contiguous(x->tensor->memory);
}

static inline bool run_given(struct eager *e, const struct op_call *c, struct value *out,
			     struct err *err)
{
	if (lies_row_by_row(c)) {
		*out = value_ref(c->values[0]);
		return true;
	}
	if (__builtin_expect(autograd_wants(&e->autograd), 0))
		return autograd_run(&e->autograd, c, out, err);
	return eager_run_op(e, c, out, err);
}

bool eager_run_given(struct eager *e, const struct op_call *c, struct value *out, struct err *err)
{
	return run_given(e, c, out, err);
}

static bool run_cast(struct eager *e, const struct op_call *c, struct value *out, struct err *err)
{
	struct value cast[MAX_ARGS + 1];
	struct op_call with = *c;
	bool any, ok;

	if (!autocast_values(&e->autocast, e->modes->autocast,
			     &(struct autocast_call){ c->op, c->values, c->n }, &any, cast, err))
		return false;
	if (!any)
		return eager_run_given(e, c, out, err);
	with.values = cast;
	ok = eager_run_given(e, &with, out, err);
	autocast_drop(cast, c->n);
	return ok;
}

bool eager_run(struct eager *e, const struct op_call *c, struct value *out, struct err *err)
{
	if (__builtin_expect(autocast_wants(e->modes->autocast), 0) && !c->inplace)
		return run_cast(e, c, out, err);
	return run_given(e, c, out, err);
}

/* What of a call is not in its values. */
static inline uint64_t call_head(const struct eager *e, const struct op_call *c)
{
	uint64_t head = (uint64_t)c->op | (c->inplace ? HEAD_INPLACE : 0) |
			(e->modes->ordered ? HEAD_ORDERED : 0) | (e->in_rows ? HEAD_IN_ROWS : 0) |
			(uint64_t)(e->modes->real - DTYPE_F16) << HEAD_REAL;

	if (__builtin_expect(c->op == OP_custom, 0))
		head |= (uint64_t)custom_index(e->env->custom, c->name) << 20;
	return head;
}

/* A count that the host knows, as an optimiser's of its steps: `count += 1`.  It is read at
 * each step, and the host would wait for the device each time.  Exact, so it is what a
 * kernel computes. */
static bool count_on_host(const struct op_call *c)
{
	struct tensor *t;
	double sum;

	if (!c->inplace || c->op != OP_add || c->n != 2 || (c->kw && c->kw->n > 0) ||
	    c->values[0].kind != VALUE_TENSOR || c->values[1].kind != VALUE_INT)
		return false;
	t = c->values[0].tensor->memory;
	if (!tensor_host_knows(t) || tensor_numel(t) != 1 || t->storage->kept ||
	    (t->dtype != DTYPE_F32 && t->dtype != DTYPE_F64))
		return false;
	sum = tensor_get_double(t, 0) + (double)c->values[1].i;
	if (!(fabs(sum) < 0x1p24) || sum != trunc(sum))
		return false;
	dtype_put_double(t->dtype, tensor_data(t), 0, sum);
	storage_written(t->storage);
	return true;
}

static bool run_op(struct eager *e, const struct op_call *c, struct value *out, struct err *err)
{
	bool watched = e->observer && e->observer->phase;
	int64_t begin = watched ? clock_ns() : 0;
	unsigned site = (unsigned)e->host.line * 31 + (unsigned)e->host.column * 7 + c->op;
	struct signature s;
	struct eager_plan *plan;

	for (int i = 0; i < c->n; i++)
		if (c->values[i].kind == VALUE_TENSOR && !c->values[i].tensor->memory)
			return tensor_check_memory(c->values[i], err);
	if (__builtin_expect(c->inplace && e->env->device, 0) && !e->shadows && count_on_host(c)) {
		*out = value_ref(c->values[0]);
		return true;
	}
	if (c->inplace && !eager_may_write(c, err))
		return false;
	signature_make(&s, call_head(e, c), eager_takes_any_number(e, c),
		       &(struct arguments){ c->values, c->n, c->kw });
	plan = plans_find(&e->plans, &s, site);
	if (__builtin_expect(!plan, 0)) {
		plan = make_plan(e, &s, c, site, err);
		if (!plan)
			return false;
	}
	if (watched)
		e->observer->phase(e->observer->self, PHASE_DISPATCH, begin, clock_ns());
	if (__builtin_expect(e->observer && e->observer->eager_op, 0))
		e->observer->eager_op(e->observer->self,
				      c->op == OP_custom ? c->name : op_info(c->op)->id,
				      e->host.line);
	return run_plan(e, plan, &s, c->inplace, out, err);
}

/* ---- Each op in float64 too.
 *
 * A program that runs as a reference goes the way that its own dtypes lead it: what it
 * branches on, prints, indexes with and draws is what eager has.  Beside that, each op on
 * floating point elements is computed in float64 too, from what float64 gave so far, in
 * each shadow (tensor/shadow.h).  Of ints and bools that come from floating point elements
 * (a comparison, an argmax) a shadow says what float64 would have chosen; ops go on with
 * what the program chose.
 */

enum { REFERENCE_MAX_ARGS = MAX_ARGS + 1 };

/* An op under way, with its operands in each shadow. */
struct reference_call {
	int n; /* shadows; 0: the op has nothing to do with them */
	struct generators random;
	struct value values[MAX_SHADOWS][REFERENCE_MAX_ARGS]; /* references; UNSET: none */
};

static bool is_float(struct value v)
{
	return v.kind == VALUE_TENSOR && dtype_category(v.tensor->memory->dtype) == CATEGORY_FLOAT;
}

/* Whether float64 would give other elements. */
static bool concerns(const struct op_call *c)
{
	bool any = false;

	if (c->n > REFERENCE_MAX_ARGS)
		return false;
	for (int i = 0; i < c->n; i++)
		any = any || is_float(c->values[i]);
	return any && (!c->inplace || is_float(c->values[0]));
}

static bool widen(struct value v, int which, struct value *out, struct err *err)
{
	struct tensor *wide = shadow_view(v.tensor->memory, which, err);

	*out = wide ? tensor_wrap(wide) : (struct value){ .kind = VALUE_UNSET };
	return out->kind != VALUE_UNSET || (wide && torch_no_memory(err));
}

static int first_of(const struct op_call *c, int i)
{
	int first = 0;

	while (c->values[first].kind != VALUE_TENSOR ||
	       c->values[first].tensor != c->values[i].tensor)
		first++;
	return first;
}

/* The operands in one shadow; the same tensor twice stays one. */
static bool widen_all(const struct op_call *c, int which, struct value *wide, struct err *err)
{
	for (int i = 0; i < c->n; i++) {
		struct value v = c->values[i];

		if (v.kind == VALUE_DTYPE && dtype_category(v.dtype) == CATEGORY_FLOAT)
			v.dtype = DTYPE_F64;
		if (!is_float(v))
			wide[i] = value_ref(v);
		else if (first_of(c, i) < i)
			wide[i] = value_ref(wide[first_of(c, i)]);
		else if (!widen(v, which, &wide[i], err))
			return false;
	}
	return true;
}

static bool reference_begin(struct eager *e, const struct op_call *c, struct reference_call *k,
			    struct err *err)
{
	*k = (struct reference_call){ .n = concerns(c) ? e->shadows : 0 };
	if (k->n == 0)
		return true;
	if (e->env->backend_env.random)
		k->random = *e->env->backend_env.random;
	for (int s = 0; s < k->n; s++) /* before an in-place op overwrites what they are made of */
		if (!widen_all(c, s, k->values[s], err))
			return false;
	return true;
}

static bool to_float64(struct eager *e, struct value *v, struct err *err)
{
	struct value args[2] = { *v, { .kind = VALUE_DTYPE, .dtype = DTYPE_F64 } }, cast;
	struct op_call c = { .op = OP_to, .name = "Tensor.to", .values = args, .n = 2 };

	if (v->tensor->memory->dtype == DTYPE_F64)
		return true;
	if (!eager_run_op(e, &c, &cast, err))
		return false;
	value_unref(*v);
	*v = cast;
	return true;
}

static bool lies_in_an_operand(struct value v, const struct value *values, int n)
{
	for (int i = 0; i < n; i++)
		if (values[i].kind == VALUE_TENSOR &&
		    values[i].tensor->memory->storage == v.tensor->memory->storage)
			return true;
	return false;
}

/* Two tensors of the program are two in the shadow. */
static bool apart(struct eager *e, struct value *v, const struct value *values, int n,
		  struct err *err)
{
	struct op_call c = { .op = OP_clone, .name = "clone", .values = v, .n = 1 };
	struct value copy;

	if (!lies_in_an_operand(*v, values, n))
		return true;
	if (!eager_run_op(e, &c, &copy, err))
		return false;
	value_unref(*v);
	*v = copy;
	return true;
}

static bool run_shadow(struct eager *e, const struct op_call *c, struct reference_call *k,
		       int which, struct tensor *result, struct err *err)
{
	struct generators *random = e->env->backend_env.random;
	struct op_call wide = *c;
	struct value out;
	bool ok;

	wide.values = k->values[which];
	if (random) {
		*random = k->random;
		if (c->n > 0 && c->values[0].kind == VALUE_TENSOR)
			random->gpu.element_bytes = (int)dtype_bytes(
			    c->values[0].tensor->memory->dtype);
	}
	ok = eager_run_op(e, &wide, &out, err);
	if (random)
		random->gpu.element_bytes = 0;
	if (!ok)
		return false;
	ok = to_float64(e, &out, err) &&
	     (c->inplace || apart(e, &out, k->values[which], c->n, err));
	if (ok && which > 0 && dtype_category(result->dtype) == CATEGORY_FLOAT)
		shadow_disturb(out.tensor->memory, result->dtype,
			       e->disturbances += UINT64_C(1) << 32);
	ok = ok && shadow_set(result, which, out.tensor->memory, err);
	value_unref(out);
	return ok;
}

static bool reference_end(struct eager *e, const struct op_call *c, struct reference_call *k,
			  struct value out, struct err *err)
{
	struct generators *random = e->env->backend_env.random, after = { 0 };
	int n = e->shadows;
	bool ok = true;

	if (k->n == 0 || out.kind != VALUE_TENSOR ||
	    (!c->inplace && lies_in_an_operand(out, c->values, c->n)))
		return true;
	if (random)
		after = *random;
	e->shadows = 0; /* what is run here has none of its own */
	for (int s = 0; ok && s < n; s++)
		ok = run_shadow(e, c, k, s, out.tensor->memory, err);
	e->shadows = n;
	if (random)
		*random = after;
	return ok;
}

static void reference_drop(struct reference_call *k)
{
	for (int s = 0; s < k->n; s++)
		for (int i = 0; i < REFERENCE_MAX_ARGS; i++)
			value_unref(k->values[s][i]);
}

/* The same in float64 too. */
static bool run_with_shadows(struct eager *e, const struct op_call *c, struct value *out,
			     struct err *err)
{
	struct reference_call k = { 0 };
	bool ok;

	for (int i = 0; i < c->n; i++)
		if (!tensor_check_memory(c->values[i], err))
			return false;
	ok = reference_begin(e, c, &k, err) && run_op(e, c, out, err);
	if (ok && !reference_end(e, c, &k, *out, err)) {
		value_unref(*out);
		ok = false;
	}
	reference_drop(&k);
	return ok;
}

bool eager_run_op(struct eager *e, const struct op_call *c, struct value *out, struct err *err)
{
	if (__builtin_expect(e->shadows, 0))
		return run_with_shadows(e, c, out, err);
	return run_op(e, c, out, err);
}
