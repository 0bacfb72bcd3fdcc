/* fusion/eager/write.c -- a result into the memory of a tensor.
 *
 * On a device the elements of a view that does not lie row by row are written by a
 * kernel: op put_view, whose result lies where its operand does.
 */
#include "fusion/eager/eager.h"

#include <string.h>

#include "fusion/tensor/view.h"
#include "fusion/torch/bind.h"

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

static bool build(struct eager *e, struct plan *plan, const struct tensor *to,
		  const struct tensor *from, const struct tensor *flat, struct err *err)
{
	const struct compile_options options = { .env = e->env,
						 .backend = e->backend,
						 .passes = { .disabled = e->passes_disabled } };
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
	id = graph_add(g, OP_put_view, args, 5, e->host.line, e->host.column, err);
	if (id < 0)
		return false;
	if (!graph_set_outputs(g, &id, 1))
		return torch_no_memory(err);
	plan->exec = compile_piece(&options, g, &plan->arena, err);
	return plan->exec && exec_bind(plan->exec, NULL, err);
}

static bool run(struct eager *e, struct tensor *to, struct tensor *from, struct tensor *flat,
		struct err *err)
{
	struct tensor *inputs[2] = { flat, from }, *result;
	struct signature s;
	struct plan *plan;
	unsigned site = (unsigned)e->host.line * 31 + (unsigned)e->host.column * 7 + OP_put_view;

	describe(&s, to, from, flat);
	plan = plans_find(&e->plans, &s, site);
	if (!plan) {
		plan = plans_add(&e->plans, &s, site);
		if (!plan)
			return torch_no_memory(err);
		if (!build(e, plan, to, from, flat, err)) {
			plans_drop(&e->plans, plan);
			return false;
		}
	}
	if (!exec_run(plan->exec, inputs, &result, flat, e->observer, -1, err))
		return false;
	e->launches += plan->exec->launched;
	tensor_unref(result);
	return true;
}

bool eager_write(struct eager *e, struct tensor *to, struct tensor *from, struct err *err)
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
static bool reads_apart(const struct eager_call *c, int operand)
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

bool eager_may_write(const struct eager_call *c, struct err *err)
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
