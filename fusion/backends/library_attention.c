/* fusion/backends/library_attention.c -- attention on the host, row by row.
 *
 * What a device's call is held against; the host itself is given the ops that it stands
 * for.  Sums are of float64.
 */
#include <math.h>

#include "fusion/backends/library.h"

enum { ARG_Q, ARG_K, ARG_V, ARG_MASK, ARG_SCALE, ARG_FILL, ARG_HOW };

struct row {
	const struct library_call *call;
	void *const *buffers;
	int64_t at[ARG_MASK + 1], out; /* of the row, and of the first key */
	int64_t row;
};

static double element(const struct row *r, int arg, int64_t at)
{
	const struct operand *x = &r->call->arg[arg];

	return dtype_get_double(x->dtype, operand_start(x, r->buffers), at);
}

static double rounded(enum dtype dtype, double x)
{
	double at;

	dtype_put_double(dtype, &at, 0, x);
	return dtype_get_double(dtype, &at, 0);
}

/* From one to the next of a mask's dim, counted from the last; 0: it broadcasts. */
static int64_t mask_step(const struct operand *mask, int from_last)
{
	int d = mask->rank - 1 - from_last;

	return d < 0 || mask->size[d] == 1 ? 0 : mask->stride[d];
}

static double score_of(const struct row *r, int64_t key)
{
	const struct operand *q = &r->call->arg[ARG_Q], *k = &r->call->arg[ARG_K];
	const struct operand *mask = &r->call->arg[ARG_MASK];
	int last = q->rank - 1, how = (int)r->call->number[ARG_HOW];
	double sum = 0, of_mask;

	if ((how & ATTENTION_CAUSAL) && key > r->row)
		return -INFINITY;
	for (int64_t i = 0; i < q->size[last]; i++)
		sum += element(r, ARG_Q, r->at[ARG_Q] + i * q->stride[last]) *
		       element(r, ARG_K,
			       r->at[ARG_K] + key * k->stride[last - 1] + i * k->stride[last]);
	if (how & ATTENTION_ROUNDS)
		sum = rounded(q->dtype, sum);
	sum *= r->call->node->args[ARG_SCALE].f;
	if (how & ATTENTION_ROUNDS)
		sum = rounded(q->dtype, sum);
	if (mask->buffer < 0)
		return sum;
	of_mask = element(r, ARG_MASK, r->at[ARG_MASK] + key * mask_step(mask, 0));
	if (mask->dtype != DTYPE_BOOL)
		return how & ATTENTION_ROUNDS ? rounded(q->dtype, sum + of_mask) : sum + of_mask;
	return (of_mask != 0) == ((how & ATTENTION_FILLS) == 0)
		   ? sum
		   : rounded(q->dtype, r->call->node->args[ARG_FILL].f);
}

static void attend(const struct row *r, double *powers)
{
	const struct operand *v = &r->call->arg[ARG_V], *out = &r->call->out;
	int last = v->rank - 1;
	int64_t keys = v->size[last - 1];
	double most = -INFINITY, sum = 0;

	for (int64_t key = 0; key < keys; key++) {
		powers[key] = score_of(r, key);
		most = powers[key] > most ? powers[key] : most;
	}
	for (int64_t key = 0; key < keys; key++)
		sum += powers[key] = exp(powers[key] - (most == -INFINITY ? 0 : most));
	if (sum == 0 && (keys == 0 || (r->call->number[ARG_HOW] & ATTENTION_EMPTY)))
		sum = 1;
	for (int64_t i = 0; i < v->size[last]; i++) {
		double all = 0;

		for (int64_t key = 0; key < keys; key++)
			all += powers[key] * element(r, ARG_V,
						     r->at[ARG_V] + key * v->stride[last - 1] +
							 i * v->stride[last]);
		dtype_put_double(out->dtype, operand_start(out, r->buffers), r->out + i, all / sum);
	}
}

/* Row `index` of all matrices' rows. */
static void seek(struct row *r, int64_t index)
{
	const struct library_call *c = r->call;
	const struct operand *q = &c->arg[ARG_Q], *mask = &c->arg[ARG_MASK];
	bool turned = c->number[ARG_HOW] & ATTENTION_TURNED;
	int rows = q->rank - 2;

	r->row = index % q->size[rows];
	index /= q->size[rows];
	r->at[ARG_Q] = r->row * q->stride[rows];
	r->at[ARG_K] = r->at[ARG_V] = 0;
	r->at[ARG_MASK] = mask->buffer < 0 ? 0 : r->row * mask_step(mask, 1);
	r->out = r->row * c->out.stride[turned ? 1 : rows];
	for (int d = rows - 1; d >= 0; d--) {
		int64_t i = index % q->size[d];

		index /= q->size[d];
		r->at[ARG_Q] += i * q->stride[d];
		for (int a = ARG_K; a <= ARG_V; a++)
			r->at[a] += c->arg[a].size[d] == 1 ? 0 : i * c->arg[a].stride[d];
		r->at[ARG_MASK] += mask->buffer < 0 ? 0 : i * mask_step(mask, q->rank - 1 - d);
		r->out += i * c->out.stride[turned && d == 1 ? 2 : d];
	}
}

static bool bind_attention(struct library_call *call, struct err *err)
{
	const struct operand *k = &call->arg[ARG_K];

	call->room[0].bytes = ((size_t)k->size[k->rank - 2] + 1) * sizeof(double);
	call->room[0].at = call->state = malloc(call->room[0].bytes);
	return call->state || library_no_memory(err);
}

static void run_attention(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *q = &call->arg[ARG_Q];
	struct row row = { .call = call, .buffers = buffers };
	int64_t width = q->size[q->rank - 1];

	(void)pool;
	for (int64_t i = 0; width > 0 && i < call->out.numel / width; i++) {
		seek(&row, i);
		attend(&row, call->state);
	}
}

const struct library_op library_attention = { bind_attention, run_attention };
