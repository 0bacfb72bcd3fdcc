/* fusion/backends/library/loss.c -- class_loss: what nll_loss and cross_entropy end in.
 *
 * A loss looks one score up for each target and adds them: so few that one walk over
 * the targets does all of it.  Scores are raw where `base` has the logarithm of the
 * sum of each target's powers, in float64.  Sums are joined in float64, in chunks
 * that do not depend on the number of threads.
 */
#define FUNCTION_loss(id) &library_##id
#include "fusion/backends/library/library.h"

enum { ARG_X, ARG_TARGET, ARG_WEIGHT, ARG_BASE, ARG_EVEN, ARG_IGNORE, ARG_SMOOTH, ARG_REDUCTION };
enum { TARGETS = 4096 }; /* of a chunk */

struct sums {
	double loss, weight;
};

struct class_loss {
	int64_t points, classes, step; /* step: from class to class */
	int64_t inner, inner_step;     /* x: points after the classes, from one to the next */
	int dim;                       /* of the classes */
	char reduction;                /* its first letter */
	double share;                  /* of the target's own class */
	struct sums chunk[];
};

struct loss_job {
	const struct library_call *call;
	void *const *buffers;
};

/* The step from point to point over dims [first, rank); 0: they are uneven. */
static int64_t even_step(const struct operand *x, int first)
{
	int64_t step = x->rank > first ? x->stride[x->rank - 1] : 1, points = 1;

	for (int d = x->rank - 1; d >= first; d--) {
		if (x->size[d] != 1 && x->stride[d] != step * points)
			return 0;
		points *= x->size[d];
	}
	return step;
}

/* Where element i lies, counted row by row. */
static int64_t place_of(const struct operand *x, int64_t i)
{
	int64_t step = even_step(x, 0);

	return step ? i * step : library_offset(x, 0, x->rank, i);
}

static bool bind_class_loss(struct library_call *call, struct err *err)
{
	const struct operand *x = &call->arg[ARG_X];
	int64_t points = call->arg[ARG_TARGET].numel;
	struct class_loss *l = calloc(1, sizeof(*l) +
					     sizeof(l->chunk[0]) * (size_t)(points / TARGETS + 1));

	call->state = l;
	if (!l)
		return library_no_memory(err);
	l->points = points;
	l->dim = x->rank > 1;
	l->classes = x->size[l->dim];
	l->step = x->stride[l->dim];
	l->inner_step = even_step(x, l->dim + 1);
	l->inner = 1;
	for (int d = l->dim + 1; d < x->rank; d++)
		l->inner *= x->size[d];
	l->reduction = call->node->args[ARG_REDUCTION].str[0];
	l->share = 1 - call->node->args[ARG_SMOOTH].f;
	return true;
}

static double element(const struct operand *x, void *const *buffers, int64_t at)
{
	const void *start = operand_start(x, buffers);

	return x->dtype == DTYPE_F32 ? ((const float *)start)[at]
				     : dtype_get_double(x->dtype, start, at);
}

/* Element i, row by row, of an operand that may have been left out. */
static double optional(const struct operand *x, void *const *buffers, int64_t i, double otherwise)
{
	return x->buffer < 0 ? otherwise : element(x, buffers, place_of(x, i));
}

/* The offset in x of class 0 of target i. */
static int64_t scores_of(const struct class_loss *l, const struct operand *x, int64_t i)
{
	int64_t sample = l->inner > 1 ? i / l->inner : i, rest = i - sample * l->inner;

	return (l->dim ? sample * x->stride[0] : 0) +
	       (l->inner_step ? rest * l->inner_step
			      : library_offset(x, l->dim + 1, x->rank, rest));
}

/* The weighted loss of target i; *weight is 0 where it is ignored. */
static double one(const struct loss_job *job, int64_t i, double *weight)
{
	const struct library_call *c = job->call;
	const struct class_loss *l = c->state;
	const struct operand *x = &c->arg[ARG_X], *target = &c->arg[ARG_TARGET];
	const int64_t *targets = operand_start(target, job->buffers);
	int64_t class = targets[place_of(target, i)];
	double score;

	*weight = 0;
	if (class == c->number[ARG_IGNORE])
		return 0;
	if (class < 0 || class >= l->classes) {
		library_fault(c, class, l->classes);
		return 0;
	}
	*weight = optional(&c->arg[ARG_WEIGHT], job->buffers, class, 1);
	score = element(x, job->buffers, scores_of(l, x, i) + class * l->step) -
		optional(&c->arg[ARG_BASE], job->buffers, i, 0);
	return *weight * l->share * -score + optional(&c->arg[ARG_EVEN], job->buffers, i, 0);
}

static void each_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct loss_job *job = context;
	void *out = operand_start(&job->call->out, job->buffers);
	double weight;

	(void)thread;
	for (int64_t i = begin; i < end; i++)
		dtype_put_double(job->call->out.dtype, out, i, one(job, i, &weight));
}

static void chunk_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct loss_job *job = context;
	struct class_loss *l = job->call->state;

	(void)thread;
	for (; begin < end; begin++) {
		int64_t last = (begin + 1) * TARGETS < l->points ? (begin + 1) * TARGETS
								 : l->points;
		struct sums sums = { 0 };

		for (int64_t i = begin * TARGETS; i < last; i++) {
			double weight;

			sums.loss += one(job, i, &weight);
			sums.weight += weight;
		}
		l->chunk[begin] = sums;
	}
}

static void run_class_loss(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct class_loss *l = call->state;
	int64_t chunks = (l->points + TARGETS - 1) / TARGETS;
	struct loss_job job = { call, buffers };
	struct sums all = { 0 };

	if (l->reduction == 'n') {
		if (l->points > 0)
			pool_run(pool, l->points, TARGETS, each_range, &job);
		return;
	}
	if (chunks > 0)
		pool_run(pool, chunks, 1, chunk_range, &job);
	for (int64_t c = 0; c < chunks; c++) {
		all.loss += l->chunk[c].loss;
		all.weight += l->chunk[c].weight;
	}
	dtype_put_double(call->out.dtype, operand_start(&call->out, buffers), 0,
			 l->reduction == 's' ? all.loss : all.loss / all.weight);
}

static const struct library_op library_class_loss = { bind_class_loss, run_class_loss };

const struct library_op *const loss_functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...)                             \
	[OP_##id] = FUNCTION_##file(id),
#include "fusion/graph/ops_some.h"
};
