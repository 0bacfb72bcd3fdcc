/* fusion/backends/cuda/kernel/bounds.c -- what a value lies between, and what it was rounded from.
 */
#include <math.h>

#include "fusion/backends/cuda/kernel/kernel.h"

enum { DEPTH = 8 }; /* of the instructions that are looked through */

/* Half of what near_sin() of intrinsics.cu takes: roundings on the way do not count. */
static const double NEAR = 8192;

struct bounds {
	double low, high; /* NaN is outside of none */
};

static const struct bounds UNKNOWN = { -INFINITY, INFINITY };

static const struct inst *writer(const struct inst *insts, int n, int reg)
{
	for (int i = 0; i < n; i++)
		if (insts[i].dst == reg)
			return &insts[i];
	return NULL;
}

static const struct inst *written_by(const struct kernel *k, int reg)
{
	const struct inst *found = writer(k->setup, k->n_setup, reg);

	if (!found)
		found = writer(k->prologue, k->n_prologue, reg);
	for (int s = 0; s < k->n_stages && !found; s++) {
		found = writer(k->stages[s].body, k->stages[s].n_body, reg);
		if (!found)
			found = writer(k->stages[s].post, k->stages[s].n_post, reg);
	}
	return found;
}

static struct bounds range_mul(struct bounds a, struct bounds b)
{
	const double all[] = { a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high };
	struct bounds of = { all[0], all[0] };

	for (int i = 0; i < 4; i++) {
		if (isnan(all[i])) /* 0 times infinity */
			return UNKNOWN;
		of.low = fmin(of.low, all[i]);
		of.high = fmax(of.high, all[i]);
	}
	return of;
}

static struct bounds of_reg(const struct kernel *k, int reg, int depth);

static struct bounds range_any(struct bounds a, struct bounds b)
{
	(void)a, (void)b;
	return UNKNOWN;
}

static struct bounds range_one(struct bounds a, struct bounds b)
{
	(void)a, (void)b;
	return (struct bounds){ -1, 1 };
}

static struct bounds range_sigmoid(struct bounds a, struct bounds b)
{
	(void)a, (void)b;
	return (struct bounds){ 0, 1 };
}

static struct bounds range_exp(struct bounds a, struct bounds b)
{
	(void)b;
	return (struct bounds){ 0, exp(a.high) };
}

static struct bounds range_relu(struct bounds a, struct bounds b)
{
	(void)b;
	return (struct bounds){ fmax(a.low, 0), fmax(a.high, 0) };
}

static struct bounds range_neg(struct bounds a, struct bounds b)
{
	(void)b;
	return (struct bounds){ -a.high, -a.low };
}

static struct bounds range_add(struct bounds a, struct bounds b)
{
	return (struct bounds){ a.low + b.low, a.high + b.high };
}

static struct bounds range_sub(struct bounds a, struct bounds b)
{
	return (struct bounds){ a.low - b.high, a.high - b.low };
}

/* Column `range` of ops.def. */
static struct bounds (*const ranges[OP_COUNT])(struct bounds a, struct bounds b) = {
#define UNARY(id, heavy, rule, spellings, value, doc, simplify, range, ...)                        \
	[OP_##id] = range_##range,
#define BINARY(id, heavy, rule, spellings, value, doc, simplify, range, ...)                       \
	[OP_##id] = range_##range,
#include "fusion/graph/ops_some.h"
};

static struct bounds of_op(const struct kernel *k, const struct inst *inst, int depth)
{
	struct bounds a = inst->src[0] >= 0 ? of_reg(k, inst->src[0], depth) : UNKNOWN;
	struct bounds b = inst->src[1] >= 0 ? of_reg(k, inst->src[1], depth) : UNKNOWN;

	return ranges[inst->op] ? ranges[inst->op](a, b) : UNKNOWN;
}

static struct bounds of_reg(const struct kernel *k, int reg, int depth)
{
	const struct inst *inst = written_by(k, reg);

	if (!inst || depth == 0 || inst->dtype != DTYPE_F32)
		return UNKNOWN;
	if (inst->kind == INST_IMM && !inst->sym && isfinite(inst->imm_f))
		return (struct bounds){ inst->imm_f, inst->imm_f };
	return inst->kind == INST_OP ? of_op(k, inst, depth - 1) : UNKNOWN;
}

bool cuda_is_near(const struct kernel *k, int reg)
{
	struct bounds b = of_reg(k, reg, DEPTH);

	return b.low >= -NEAR && b.high <= NEAR;
}

int cuda_rounded_from(const struct kernel *k, int reg)
{
	const struct inst *inst = written_by(k, reg);

	return inst && inst->kind == INST_CAST && k->regs[inst->src[0]].dtype == DTYPE_F32
		   ? inst->src[0]
		   : -1;
}
