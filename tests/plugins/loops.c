/* tests/plugins/loops.c -- an example of a backend: plain loops over float32.
 *
 * It takes add, sub, mul, truediv, neg, exp, relu, maximum, minimum and sum of float32;
 * all else stays between two of its pieces.
 */
#include <math.h>
#include <string.h>

#include "fusion/plugin.h"

static float of_one(const char *op, float a)
{
	if (strcmp(op, "neg") == 0)
		return -a;
	if (strcmp(op, "exp") == 0)
		return expf(a);
	return a < 0 ? 0 : a; /* relu */
}

static float of_two(const char *op, float a, float b)
{
	if (strcmp(op, "add") == 0)
		return a + b;
	if (strcmp(op, "sub") == 0)
		return a - b;
	if (strcmp(op, "mul") == 0)
		return a * b;
	if (strcmp(op, "truediv") == 0)
		return a / b;
	if (strcmp(op, "maximum") == 0)
		return a > b || isnan(a) ? a : b;
	return a < b || isnan(a) ? a : b; /* minimum */
}

static bool is_among(const char *op, const char *const *ops)
{
	for (; *ops; ops++)
		if (strcmp(*ops, op) == 0)
			return true;
	return false;
}

static bool takes(const struct be_question *q, const char **why, void *self)
{
	static const char *const ops[] = { "neg",     "exp",     "relu",    "add", "sub", "mul",
					   "truediv", "maximum", "minimum", "sum", NULL };

	(void)self;
	if (!is_among(q->op, ops)) {
		*why = "the backend loops has ten ops";
		return false;
	}
	*why = "the backend loops computes float32 alone";
	for (int i = 0; i < q->n; i++)
		if (q->operands[i] != BE_FLOAT32)
			return false;
	return q->result == BE_FLOAT32;
}

/* The element of an operand at a point of `size`; its dims are the last ones. */
static float element(const struct be_operand *x, int rank, const int64_t *at)
{
	int64_t offset = 0;

	if (!x->is_tensor)
		return (float)x->f;
	for (int d = 0; d < x->tensor.rank; d++) {
		int64_t i = at[rank - x->tensor.rank + d];

		offset += (x->tensor.size[d] == 1 ? 0 : i) * x->tensor.stride[d];
	}
	return ((const float *)x->tensor.data)[offset];
}

/* The next point in row-major order; false after the last. */
static bool advance(int rank, const int64_t *size, int64_t *at)
{
	for (int d = rank - 1; d >= 0; d--) {
		if (++at[d] < size[d])
			return true;
		at[d] = 0;
	}
	return false;
}

static bool is_empty(int rank, const int64_t *size)
{
	for (int d = 0; d < rank; d++)
		if (size[d] == 0)
			return true;
	return false;
}

static void run_pointwise(const struct be_step *step)
{
	const struct be_tensor *out = &step->result;
	int64_t at[BE_MAX_RANK] = { 0 };
	float *to = out->data;

	if (is_empty(out->rank, out->size))
		return;
	do {
		float a = element(&step->operands[0], out->rank, at);

		*to++ = step->n == 1
			    ? of_one(step->op, a)
			    : of_two(step->op, a, element(&step->operands[1], out->rank, at));
	} while (advance(out->rank, out->size, at));
}

/* Where the sum of a point goes: the dims that stay, row by row. */
static int64_t place(const struct be_step *step, const int64_t *at)
{
	const struct be_tensor *x = &step->operands[0].tensor;
	int64_t index = 0;

	for (int d = 0; d < x->rank; d++)
		if (!(step->reduced >> d & 1))
			index = index * x->size[d] + at[d];
	return index;
}

/* In float64, and rounded once: a double for each result would need memory, so each
 * result walks over its own elements. */
static void run_sum(const struct be_step *step)
{
	const struct be_tensor *x = &step->operands[0].tensor, *out = &step->result;
	int64_t n = 1;

	for (int d = 0; d < out->rank; d++)
		n *= out->size[d];
	for (int64_t i = 0; i < n; i++) {
		int64_t at[BE_MAX_RANK] = { 0 };
		double sum = 0;

		if (!is_empty(x->rank, x->size))
			do {
				if (place(step, at) == i)
					sum += element(&step->operands[0], x->rank, at);
			} while (advance(x->rank, x->size, at));
		((float *)out->data)[i] = (float)sum;
	}
}

static void run(const struct be_step *step, void *self)
{
	(void)self;
	if (strcmp(step->op, "sum") == 0)
		run_sum(step);
	else
		run_pointwise(step);
}

static const struct be_backend backend = {
	.name = "loops",
	.purpose = "plain loops over float32, node by node: an example",
	.takes = takes,
	.run = run,
};

static bool load(const struct be_host *host, struct be_registry *registry)
{
	return host->add_backend(registry, &backend);
}
BE_PLUGIN(load)
