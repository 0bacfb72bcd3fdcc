/* fusion/backends/library/library.c -- finds an op's function, and makes its operands ready. */
#define FUNCTION_library(id) &library_##id
#include "fusion/backends/library/library.h"

#include <math.h>
#include <string.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/graph/custom.h"
#include "fusion/graph/symreal.h"

/* The table that has the op's function: of the file that its row names. */
static const struct library_op *const library_functions[OP_COUNT];
static const struct library_op *const *const functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...) [OP_##id] = file##_functions,
#include "fusion/graph/ops_some.h"
};

bool library_check(const struct kernel *k, struct err *err)
{
	return functions[k->op] ||
	       err_set(err, ERR_UNSUPPORTED, "No library function for %s.", op_info(k->op)->id);
}

bool library_take_room(struct library_call *call, struct library_room *room, struct err *err)
{
	enum { ALIGN = 64 };
	void *at;

	call->room = room;
	if (call->room_bytes <= room->bytes)
		return true;
	if (posix_memalign(&at, ALIGN, call->room_bytes) != 0)
		return library_no_memory(err);
	free(room->at);
	*room = (struct library_room){ at, call->room_bytes };
	return true;
}

int library_dim(const struct library_call *call, int arg, int rank)
{
	int dim = (int)call->number[arg];

	return dim < 0 ? dim + rank : dim;
}

int64_t library_entry(const struct library_call *call, const char *name, int i, int64_t otherwise)
{
	const struct arg *arg = node_arg(call->node, name);

	if (!arg || arg->kind != ARG_INTS || arg->n == 0)
		return otherwise;
	return arg->ints[arg->n == 1 ? 0 : i]->value; /* inference wants constants */
}

static void bind_argument(struct operand *x, const struct node *n, const struct access *at,
			  const int64_t *vars)
{
	*x = (struct operand){ .buffer = at->buffer,
			       .dtype = n->dtype,
			       .rank = n->shape.rank,
			       .offset = sym_eval(at->offset, vars),
			       .numel = 1 };
	for (int d = 0; d < x->rank; d++) {
		x->size[d] = sym_eval(n->shape.size[d], vars);
		x->stride[d] = sym_eval(at->stride[d], vars);
		x->numel *= x->size[d];
	}
}

static void bind_result(struct operand *x, const struct node *n, int buffer, const int64_t *vars)
{
	int64_t step = 1;

	*x = (struct operand){
		.buffer = buffer, .dtype = n->dtype, .rank = n->shape.rank, .numel = 1
	};
	for (int d = x->rank - 1; d >= 0; d--) {
		x->size[d] = sym_eval(n->shape.size[d], vars);
		x->stride[d] = step;
		x->numel *= x->size[d];
		step *= n->pitch && d == x->rank - 1 ? n->pitch : x->size[d];
	}
	for (int d = 1; n->channels_last && d < x->rank; d++)
		x->stride[d] = d == 1 ? 1 : x->stride[d] * x->size[1];
}

bool library_bind(struct library_call *call, const struct library_site *site, struct err *err)
{
	const struct lowered *l = site->lowered;
	const struct kernel *k = site->kernel;
	const int64_t *vars = site->vars;
	const struct node *n = k->library;

	*call = (struct library_call){ .op = functions[k->op][k->op],
				       .graph = l->graph,
				       .node = n,
				       .kernels = site->kernels,
				       .blas = site->blas,
				       .random = site->random,
				       .vars = vars };
	for (int i = 0; i < n->n_args; i++) {
		call->arg[i].buffer = -1;
		if (n->args[i].kind == ARG_NODE)
			bind_argument(&call->arg[i], l->graph->nodes[n->args[i].node],
				      &k->arg_at[i], vars);
		else if (n->args[i].kind == ARG_INT)
			call->number[i] = sym_eval(n->args[i].sym, vars);
		else if (n->args[i].kind == ARG_BOOL)
			call->number[i] = n->args[i].b;
	}
	bind_result(&call->out, n, k->out_buffer, vars);
	call->rows = k->form == FORM_ROWS;
	call->cost = k->form == FORM_LIBRARY ? 0 : plan_cost(k);
	return !call->op->bind || call->op->bind(call, err);
}

/* Ops by whose indices elements are moved: PyTorch has another type of error for them. */
static bool is_moved(enum op op)
{
	return op == OP_gather || op == OP_scatter || op == OP_scatter_add;
}

bool library_faulted(struct launch_fault *fault, struct err *err)
{
	if (!atomic_load(&fault->raised)) /* an exchange costs as much as a small kernel */
		return true;
	atomic_store(&fault->raised, 0);
	if (fault->node->op == OP_factor)
		return err_at(err, ERR_OP, fault->node->line, fault->node->column,
			      "linalg.cholesky: The factorization could not be completed because "
			      "the input is not positive-definite (the leading minor of order %lld "
			      "is not positive-definite).",
			      (long long)fault->index);
	if (fault->node->op == OP_solve)
		return err_at(err, ERR_OP, fault->node->line, fault->node->column,
			      "linalg: The diagonal element %lld is zero, the solve could not be "
			      "completed because the input matrix is singular.",
			      (long long)fault->index);
	if (fault->node->op == OP_divisor)
		return err_at(err, ERR_SHAPE, fault->node->line, fault->node->column,
			      "ZeroDivisionError"); /* as PyTorch says it */
	return err_at(err, is_moved(fault->node->op) ? ERR_OP : ERR_INDEX, fault->node->line,
		      fault->node->column, "index %lld is out of bounds for a dim of size %lld",
		      (long long)fault->index, (long long)fault->size);
}

/* ---- what ints are divided by: a copy, and a fault where it is 0. */

static void run_divisor(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *x = &call->arg[0];
	size_t bytes = dtype_bytes(x->dtype);
	const char *from = operand_start(x, buffers);
	char *out = operand_start(&call->out, buffers);

	(void)pool;
	for (int64_t i = 0; i < x->numel; i++) {
		const char *at = from + library_offset(x, 0, x->rank, i) * (int64_t)bytes;

		if (dtype_get_int(x->dtype, at, 0) == 0)
			library_fault(call, 0, 0);
		memcpy(out + i * (int64_t)bytes, at, bytes);
	}
}

static const struct library_op library_divisor = { .run = run_divisor };

/* ---- functions of Python's floats, to the bit */

static void run_number(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *x = &call->arg[0], *y = &call->arg[1];
	const double *a = operand_start(x, buffers), *b = operand_start(y, buffers);
	double *out = operand_start(&call->out, buffers);

	(void)pool;
	for (int64_t i = 0; i < x->numel; i++)
		out[i] = real_apply((enum symreal_kind)call->number[2], (int)call->number[3],
				    a[library_offset(x, 0, x->rank, i)],
				    b[library_offset(y, 0, y->rank, i)]);
}

static const struct library_op library_number = { .run = run_number };

/* ---- kernels that plugins bring */

static void describe(const struct library_call *call, int i, void *const *buffers,
		     struct custom_operand *out)
{
	const struct operand *x = &call->arg[i];
	const struct arg *arg = &call->node->args[i];

	*out = (struct custom_operand){ .is_tensor = x->buffer >= 0 };
	if (!out->is_tensor) {
		out->i = call->number[i];
		out->f = arg->kind == ARG_FLOAT ? arg->f : (double)out->i;
		return;
	}
	out->dtype = x->dtype;
	out->rank = x->rank;
	out->data = operand_start(x, buffers);
	for (int d = 0; d < x->rank; d++) {
		out->size[d] = x->size[d];
		out->stride[d] = x->stride[d];
	}
}

static void run_custom(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct custom_op *op = custom_of(call->graph, call->node);
	struct custom_operand operands[MAX_CUSTOM_ARGS], out = { .is_tensor = true };

	(void)pool;
	for (int i = 0; i < op->info.n_params; i++)
		describe(call, i + 1, buffers, &operands[i]);
	out.dtype = call->out.dtype;
	out.rank = call->out.rank;
	out.data = operand_start(&call->out, buffers);
	for (int d = 0; d < out.rank; d++) {
		out.size[d] = call->out.size[d];
		out.stride[d] = call->out.stride[d];
	}
	op->compute(op, operands, op->info.n_params, &out);
}

static const struct library_op library_custom_kernel = { .run = run_custom };

static const struct library_op *const library_functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...)                             \
	[OP_##id] = FUNCTION_##file(id),
#include "fusion/graph/ops_some.h"
};
