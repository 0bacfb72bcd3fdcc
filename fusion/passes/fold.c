/* fusion/passes/fold.c -- computes now what depends on constants alone.
 *
 * Operands that are the same everywhere (numbers, zeros(), constants of one
 * element) give a result that is the same everywhere: it becomes a full(),
 * whatever its size, symbolic sizes too.  Others become a constant, up to
 * MAX_ELEMENTS.  Arithmetic is done in the op's dtype; see graph/scalar.h for
 * how exact the functions are.  cumsum is left to its kernel.
 */
#include "fusion/passes/fold.h"

#include <string.h>

#include "fusion/graph/scalar.h"

/* ---- rows of ops.def evaluated on single elements */

#define REDUCE(...)
#define COMPOSITE(...)
#define CAST(...)
#define CONSTANT(...)
#define CREATE(...)
#define LIBRARY(...)
#define VIEW(...)
#define JOIN(...)
#define CONTROL(...)
#define INTERNAL(...)
#define TERNARY(id, heavy, spellings, signature, value, ...)                                       \
	case OP_##id:                                                                              \
		return (T)(value);
#define BINARY(id, heavy, rule, spellings, value, ...) ROW_##rule(id, value)
#define UNARY(id, heavy, rule, spellings, value, ...) ROW_##rule(id, value)
#define ROW_SAME(id, value)                                                                        \
	case OP_##id:                                                                              \
		return (T)(value);
#define ROW_BOOL ROW_SAME
#define ROW_LOGIC ROW_SAME

#define ROW_FLOAT ROW_SAME
static float eval_f32(enum op op, float a, float b, float c)
{
	typedef float T;

	switch (op) {
#include "fusion/graph/ops.def"
	default:
		return a;
	}
}

static double eval_f64(enum op op, double a, double b, double c)
{
	typedef double T;

	switch (op) {
#include "fusion/graph/ops.def"
	default:
		return a;
	}
}
#undef ROW_FLOAT

#define ROW_FLOAT(id, value)
static uint64_t eval_i64(enum op op, uint64_t a, uint64_t b, uint64_t c)
{
	typedef uint64_t T;

	switch (op) {
#include "fusion/graph/ops.def"
	default:
		return a;
	}
}

static int8_t eval_bool(enum op op, int8_t a, int8_t b, int8_t c)
{
	typedef int8_t T;

	switch (op) {
#include "fusion/graph/ops.def"
	default:
		return a;
	}
}
#undef ROW_FLOAT
#undef ROW_SAME
#undef ROW_BOOL
#undef ROW_LOGIC
#undef UNARY
#undef BINARY
#undef TERNARY
#undef REDUCE

#define UNARY(...)
#define BINARY(...)
#define TERNARY(...)
#define REDUCE(id, rule, spellings, first, step, signature, ...)                                   \
	case OP_##id:                                                                              \
		*value = is_first ? (T)(first) : (T)(step);                                        \
		break;

/* a = first, or a = step(a, b) */
static void reduce_f64(enum op op, bool is_first, double *value, double b)
{
	typedef double T;
	double a = *value;

	switch (op) {
#include "fusion/graph/ops.def"
	default:
		break;
	}
}

static void reduce_i64(enum op op, bool is_first, uint64_t *value, uint64_t b)
{
	typedef uint64_t T;
	uint64_t a = *value;

	switch (op) {
#include "fusion/graph/ops.def"
	default:
		break;
	}
}

void element_convert(enum dtype to, union element *out, enum dtype from, const void *data,
		     int64_t index)
{
	union element e = { .f64 = 0 };
	bool ints = dtype_category(from) != CATEGORY_FLOAT;

	if (ints)
		dtype_put_int(to, &e, 0, dtype_get_int(from, data, index));
	else
		dtype_put_double(to, &e, 0, dtype_get_double(from, data, index));
	*out = e;
}

void element_store(enum dtype dtype, void *data, int64_t index, const union element *element)
{
	size_t bytes = dtype_bytes(dtype);

	memcpy((char *)data + (size_t)index * bytes, element, bytes);
}

static void evaluate_element(const struct node *n, const union element x[3], union element *out)
{
	enum dtype_rule rule = op_info(n->op)->rule;
	enum dtype from = dtype_wide(n->compute);
	bool where = n->op == OP_where;
	union element y = { .f64 = 0 };

	switch (from) {
	case DTYPE_F32:
		y.f32 = eval_f32(n->op, where ? x[0].b : x[0].f32, x[1].f32, x[2].f32);
		break;
	case DTYPE_F64:
		y.f64 = eval_f64(n->op, where ? x[0].b : x[0].f64, x[1].f64, x[2].f64);
		break;
	case DTYPE_I64:
		y.i64 = (int64_t)eval_i64(n->op, where ? x[0].b : (uint64_t)x[0].i64,
					  (uint64_t)x[1].i64, (uint64_t)x[2].i64);
		break;
	default:
		y.b = eval_bool(n->op, (int8_t)x[0].b, (int8_t)x[1].b, (int8_t)x[2].b) != 0;
	}
	if (rule == RULE_BOOL || rule == RULE_LOGIC || n->op == OP_to || n->dtype != from)
		element_convert(n->dtype, out, from, &y, 0); /* a mask; 2 is true */
	else
		*out = y;
}

static bool in_floats(const struct node *n)
{
	return n->dtype != DTYPE_BOOL && dtype_category(n->compute) == CATEGORY_FLOAT;
}

static void evaluate_first(const struct node *n, union element *acc)
{
	uint64_t value = 0;

	if (in_floats(n)) {
		acc->f64 = 0;
		reduce_f64(n->op, true, &acc->f64, 0);
	} else {
		reduce_i64(n->op, true, &value, 0);
		acc->i64 = (int64_t)value;
	}
}

static void evaluate_step(const struct node *n, union element *acc, enum dtype dtype,
			  const void *data, int64_t index)
{
	uint64_t value = (uint64_t)acc->i64;
	union element x;

	element_convert(n->dtype == DTYPE_BOOL ? DTYPE_BOOL : dtype_wide(n->compute), &x, dtype,
			data, index);
	if (in_floats(n)) {
		reduce_f64(n->op, false, &acc->f64,
			   dtype_wide(n->compute) == DTYPE_F32 ? x.f32 : x.f64);
		return;
	}
	reduce_i64(n->op, false, &value, n->dtype == DTYPE_BOOL ? x.b : (uint64_t)x.i64);
	acc->i64 = (int64_t)value;
}

static void evaluate_last(const struct node *n, const union element *acc, union element *out)
{
	element_convert(n->dtype, out, in_floats(n) ? DTYPE_F64 : DTYPE_I64, acc, 0);
}

/* ---- what is known */

enum { MAX_ELEMENTS = 1 << 16 };

/* Elements of a fixed shape; -1 where it is symbolic or too large to fold. */
static int64_t count_elements(const struct shape *s)
{
	int64_t n = 1;

	for (int i = 0; i < s->rank; i++) {
		if (!sym_is_const(s->size[i]) || __builtin_mul_overflow(n, s->size[i]->value, &n))
			return -1;
	}
	return n <= MAX_ELEMENTS ? n : -1;
}

static bool known_from_number(const struct arg *arg, struct known_value *out)
{
	*out = (struct known_value){ .uniform = true };
	if (arg->kind == ARG_FLOAT) {
		out->dtype = DTYPE_F64;
		out->element.f64 = arg->f;
	} else if (arg->kind == ARG_INT && sym_is_const(arg->sym)) {
		out->dtype = DTYPE_I64;
		out->element.i64 = arg->sym->value;
	} else if (arg->kind == ARG_BOOL) {
		out->dtype = DTYPE_BOOL;
		out->element.b = arg->b;
	} else {
		return false;
	}
	return true;
}

/* full, zeros, ones */
static bool known_from_create(const struct graph *g, const struct node *n, struct known_value *out)
{
	struct arg fill = n->op == OP_full ? n->args[1] : arg_int(g, n->op == OP_ones);
	union element element;

	if (!fill.kind || (fill.kind == ARG_INT && !fill.sym) || !known_from_number(&fill, out))
		return false;
	element_convert(n->dtype, &element, out->dtype, &out->element, 0);
	out->dtype = n->dtype;
	out->element = element;
	out->shape = n->shape;
	return true;
}

bool known_arg(const struct graph *g, const struct arg *arg, struct known_value *out)
{
	const struct node *n;

	if (arg->kind != ARG_NODE)
		return known_from_number(arg, out);
	n = g->nodes[arg->node];
	if (op_info(n->op)->kind == KIND_CREATE)
		return known_from_create(g, n, out);
	if (op_info(n->op)->kind != KIND_CONSTANT)
		return false;
	*out = (struct known_value){ .dtype = n->dtype, .data = n->data, .shape = n->shape };
	out->uniform = count_elements(&n->shape) == 1;
	if (out->uniform)
		element_convert(n->dtype, &out->element, n->dtype, n->data, 0);
	return true;
}

/* The node of the new list that replaces n. */
static int replaced(struct graph *g, const struct node *n, int id, struct err *err)
{
	if (id < 0) {
		pass_out_of_memory(err);
		return REWRITE_FAILED;
	}
	g->nodes[id]->name = n->name;
	g->nodes[id]->line = n->line;
	g->nodes[id]->column = n->column;
	return id;
}

static int filled(struct graph *g, const struct node *n, const union element *value,
		  struct err *err)
{
	struct arg args[] = { arg_ints(n->shape.size, n->shape.rank),
			      known_number(g, n->dtype, value), arg_dtype(n->dtype) };

	pass_fired(g, "one value everywhere", n, NULL);
	return replaced(
	    g, n, graph_add(g, &(struct node_spec){ OP_full, args, 3, n->line, n->column }, NULL),
	    err);
}

static int constant(struct graph *g, const struct node *n, const void *data, int64_t count,
		    struct err *err)
{
	union element one;
	int id;

	if (count == 1) {
		element_convert(n->dtype, &one, n->dtype, data, 0);
		return filled(g, n, &one, err);
	}
	pass_fired(g, "elements of constants", n, NULL);
	id = graph_constant(g, n->dtype, &n->shape, data);
	if (id >= 0) {
		g->nodes[id]->op = OP_constant;
		g->nodes[id]->fx = op_info(OP_constant)->fx;
	}
	return replaced(g, n, id, err);
}

/* Steps of an operand through the elements of `out`, 0 where it broadcasts. */
static void steps_of(const struct known_value *x, const struct shape *out, int64_t step[MAX_RANK])
{
	int64_t stride = 1;

	memset(step, 0, sizeof(step[0]) * MAX_RANK);
	for (int i = x->shape.rank - 1; i >= 0 && !x->uniform; i--) {
		int64_t size = x->shape.size[i]->value;

		step[out->rank - x->shape.rank + i] = size == 1 ? 0 : stride;
		stride *= size;
	}
}

/* The next point of a shape in row-major order. */
static void advance(const struct shape *s, int64_t index[MAX_RANK])
{
	for (int i = s->rank - 1; i >= 0; i--) {
		if (++index[i] < s->size[i]->value)
			return;
		index[i] = 0;
	}
}

static int64_t offset_of(int rank, const int64_t *index, const int64_t *step)
{
	int64_t offset = 0;

	for (int i = 0; i < rank; i++)
		offset += index[i] * step[i];
	return offset;
}

static enum dtype operand_dtype(const struct node *n, int i)
{
	return n->op == OP_where && i == 0 ? DTYPE_BOOL : dtype_wide(n->compute);
}

static void load(const struct node *n, int i, const struct known_value *x, int64_t offset,
		 union element *out)
{
	element_convert(operand_dtype(n, i), out, x->dtype, x->uniform ? &x->element : x->data,
			x->uniform ? 0 : offset);
}

static int fold_pointwise(struct graph *g, const struct node *n, const struct known_value *x,
			  int n_known, struct err *err)
{
	int64_t count = count_elements(&n->shape), index[MAX_RANK] = { 0 };
	int64_t step[3][MAX_RANK];
	union element operands[3] = { 0 }, value;
	bool uniform = true;
	void *data;

	for (int i = 0; i < n_known; i++) {
		uniform = uniform && x[i].uniform;
		steps_of(&x[i], &n->shape, step[i]);
		load(n, i, &x[i], 0, &operands[i]);
	}
	if (uniform) {
		evaluate_element(n, operands, &value);
		return filled(g, n, &value, err);
	}
	if (count < 0)
		return REWRITE_KEEP;
	data = arena_array(g->arena, (size_t)count, dtype_bytes(n->dtype));
	if (!data)
		return replaced(g, n, -1, err);
	for (int64_t k = 0; k < count; k++, advance(&n->shape, index)) {
		for (int i = 0; i < n_known; i++)
			load(n, i, &x[i], offset_of(n->shape.rank, index, step[i]), &operands[i]);
		evaluate_element(n, operands, &value);
		element_store(n->dtype, data, k, &value);
	}
	return constant(g, n, data, count, err);
}

/* Steps of the result through the elements of the operand, 0 along reduced dims. */
static void steps_of_result(const struct graph *g, const struct node *n, const struct shape *x,
			    int64_t step[MAX_RANK])
{
	unsigned reduced = node_reduced(g, n);
	int64_t stride = 1;

	for (int i = x->rank - 1; i >= 0; i--) {
		step[i] = reduced & 1u << i ? 0 : stride;
		if (step[i])
			stride *= x->size[i]->value;
	}
}

static int fold_reduction(struct graph *g, const struct node *n, const struct known_value *x,
			  struct err *err)
{
	int64_t count = count_elements(&n->shape), elements = count_elements(&x->shape);
	int64_t index[MAX_RANK] = { 0 }, step[MAX_RANK];
	union element *acc, value;
	void *data;

	if (count < 0 || elements < 0)
		return REWRITE_KEEP;
	acc = ARENA_ARRAY(g->arena, union element, (size_t)count);
	data = arena_array(g->arena, (size_t)count, dtype_bytes(n->dtype));
	if (!acc || !data)
		return replaced(g, n, -1, err);
	steps_of_result(g, n, &x->shape, step);
	for (int64_t k = 0; k < count; k++)
		evaluate_first(n, &acc[k]);
	for (int64_t k = 0; k < elements; k++, advance(&x->shape, index))
		evaluate_step(n, &acc[offset_of(x->shape.rank, index, step)], x->dtype,
			      x->uniform ? &x->element : x->data, x->uniform ? 0 : k);
	for (int64_t k = 0; k < count; k++) {
		evaluate_last(n, &acc[k], &value);
		element_store(n->dtype, data, k, &value);
	}
	return constant(g, n, data, count, err);
}

/* arange of whole numbers. */
static int fold_range(struct graph *g, const struct node *n, struct err *err)
{
	int64_t count = count_elements(&n->shape);
	const struct arg *start = &n->args[0], *step = &n->args[1];
	void *data;

	if (count < 1 || start->kind != ARG_INT || step->kind != ARG_INT ||
	    !sym_is_const(start->sym) || !sym_is_const(step->sym))
		return REWRITE_KEEP;
	data = arena_array(g->arena, (size_t)count, dtype_bytes(n->dtype));
	if (!data)
		return replaced(g, n, -1, err);
	for (int64_t k = 0; k < count; k++) {
		uint64_t value = (uint64_t)start->sym->value +
				 (uint64_t)step->sym->value * (uint64_t)k;

		dtype_put_int(n->dtype, data, k, (int64_t)value);
	}
	return constant(g, n, data, count, err);
}

static int fold(struct rewrite *rw, struct node *n, struct err *err)
{
	enum op_kind kind = op_info(n->op)->kind;
	struct known_value known[3];
	int n_known = kind == KIND_REDUCE || n->op == OP_to ? 1 : n->n_args;

	if (n->op == OP_arange)
		return fold_range(rw->g, n, err);
	if ((kind != KIND_POINTWISE && kind != KIND_REDUCE) || n->weak)
		return REWRITE_KEEP;
	for (int i = 0; i < n_known; i++)
		if (!known_arg(rw->g, &n->args[i], &known[i]))
			return REWRITE_KEEP;
	if (kind == KIND_REDUCE)
		return fold_reduction(rw->g, n, &known[0], err);
	return fold_pointwise(rw->g, n, known, n_known, err);
}

/* needs: no COMPOSITE nodes (they are left alone); keeps: values, as exact as
 * graph/scalar.h says */
bool pass_fold(struct pass_run *run, bool *changed, struct err *err)
{
	return rewrite_run(run->g, fold, NULL, changed, err);
}
