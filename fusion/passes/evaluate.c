/* fusion/passes/evaluate.c -- rows of ops.def evaluated on single elements.
 *
 * The value expressions are compiled once for each compute type with the words
 * of graph/scalar.h.  A row whose rule never computes in a type is left out
 * there: sin of an int is computed in float32.
 */
#include <string.h>

#include "fusion/graph/scalar.h"
#include "fusion/passes/fold.h"

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

void evaluate_element(const struct node *n, const union element x[3], union element *out)
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

void evaluate_first(const struct node *n, union element *acc)
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

void evaluate_step(const struct node *n, union element *acc, enum dtype dtype, const void *data,
		   int64_t index)
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

void evaluate_last(const struct node *n, const union element *acc, union element *out)
{
	element_convert(n->dtype, out, in_floats(n) ? DTYPE_F64 : DTYPE_I64, acc, 0);
}
