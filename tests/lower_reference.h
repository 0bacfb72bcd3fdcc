/* tests/lower_reference.h -- runs a tile program one point at a time.
 *
 * The slow and plain reading of lower.h: what a backend gives must agree with
 * it, and it must agree with formulas.  Ops are computed in double with
 * <math.h> and rounded to the register's dtype; sums run in double.
 */
#ifndef TESTS_LOWER_REFERENCE_H
#define TESTS_LOWER_REFERENCE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/lower/lower.h"

/* A register's value: `f` of a float dtype, else `i`. */
struct ref_value {
	double f;
	int64_t i;
};

struct ref_run {
	const struct lowered *l;
	const int64_t *vars;
	void **memory; /* by buffer */
	/* The kernel under way. */
	const struct kernel *k;
	struct ref_value *reg;
	bool *written;
	struct ref_value **slot; /* by slot, then by point of the row */
	int64_t index[MAX_RANK];
	int64_t point;
	double running; /* of the row's scan */
};

static inline bool ref_is_float(enum dtype dtype)
{
	return dtype_category(dtype) == CATEGORY_FLOAT;
}

static inline struct ref_value ref_round(struct ref_value v, enum dtype dtype)
{
	if (dtype == DTYPE_F32)
		v.f = (float)v.f;
	if (dtype == DTYPE_BOOL)
		v.i = v.i != 0;
	return v;
}

static inline struct ref_value ref_get(const void *memory, enum dtype dtype, int64_t at)
{
	struct ref_value v = { 0 };
	switch (dtype) {
	case DTYPE_F32:
		v.f = ((const float *)memory)[at];
		break;
	case DTYPE_F64:
		v.f = ((const double *)memory)[at];
		break;
	case DTYPE_I64:
		v.i = ((const int64_t *)memory)[at];
		break;
	default:
		v.i = ((const uint8_t *)memory)[at];
		break;
	}
	return v;
}

static inline void ref_put(void *memory, enum dtype dtype, int64_t at, struct ref_value v)
{
	switch (dtype) {
	case DTYPE_F32:
		((float *)memory)[at] = (float)v.f;
		break;
	case DTYPE_F64:
		((double *)memory)[at] = v.f;
		break;
	case DTYPE_I64:
		((int64_t *)memory)[at] = v.i;
		break;
	default:
		((uint8_t *)memory)[at] = (uint8_t)v.i;
		break;
	}
}

static inline struct ref_value ref_cast(struct ref_value v, enum dtype from, enum dtype to)
{
	if (ref_is_float(to))
		v.f = ref_is_float(from) ? v.f : (double)v.i;
	else if (to == DTYPE_BOOL)
		v.i = ref_is_float(from) ? v.f != 0 : v.i != 0;
	else if (ref_is_float(from))
		v.i = fabs(v.f) < 9.2e18 ? (int64_t)v.f : INT64_MIN;
	return ref_round(v, to);
}

static inline double ref_unary(enum op op, double a)
{
	switch (op) {
	case OP_neg:
		return -a;
	case OP_abs:
		return fabs(a);
	case OP_relu:
		return a < 0 ? 0 : a;
	case OP_sin:
		return sin(a);
	case OP_cos:
		return cos(a);
	case OP_exp:
		return exp(a);
	case OP_log:
		return log(a);
	case OP_tanh:
		return tanh(a);
	case OP_erf:
		return erf(a);
	case OP_sigmoid:
		return 1 / (1 + exp(-a));
	case OP_sqrt:
		return sqrt(a);
	case OP_rsqrt:
		return 1 / sqrt(a);
	case OP_reciprocal:
		return 1 / a;
	case OP_square:
		return a * a;
	case OP_sign:
		return (a > 0) - (a < 0);
	default:
		fail_msg("the reference does not know %s", op_info(op)->id);
		return 0;
	}
}

static inline double ref_binary(enum op op, double a, double b)
{
	switch (op) {
	case OP_add:
		return a + b;
	case OP_sub:
		return a - b;
	case OP_mul:
		return a * b;
	case OP_truediv:
		return a / b;
	case OP_pow:
		return pow(a, b);
	case OP_minimum:
		return isnan(a) || a < b ? a : b;
	case OP_maximum:
		return isnan(a) || a > b ? a : b;
	case OP_lt:
		return a < b;
	case OP_le:
		return a <= b;
	case OP_gt:
		return a > b;
	case OP_ge:
		return a >= b;
	case OP_eq:
		return a == b;
	case OP_ne:
		return a != b;
	case OP_and_:
	case OP_logical_and:
		return a != 0 && b != 0;
	case OP_or_:
	case OP_logical_or:
		return a != 0 || b != 0;
	case OP_xor_:
	case OP_logical_xor:
		return (a != 0) != (b != 0);
	default:
		fail_msg("the reference does not know %s", op_info(op)->id);
		return 0;
	}
}

/* The dtype rules of lower.h hold for every OP that was made. */
static inline void ref_check_op(const struct kernel *k, const struct inst *inst)
{
	enum dtype first = k->regs[inst->src[0]].dtype;
	enum dtype_rule rule = op_info(inst->op)->rule;

	if (inst->op == OP_where) {
		assert_int_equal(first, DTYPE_BOOL);
		assert_int_equal(k->regs[inst->src[1]].dtype, inst->dtype);
		assert_int_equal(k->regs[inst->src[2]].dtype, inst->dtype);
		return;
	}
	if (inst->src[1] >= 0)
		assert_int_equal(k->regs[inst->src[1]].dtype, first);
	if (rule == RULE_SAME || rule == RULE_FLOAT)
		assert_int_equal(inst->dtype, first);
	if (rule == RULE_FLOAT)
		assert_true(ref_is_float(first));
	if (rule == RULE_LOGIC)
		assert_int_equal(first, DTYPE_BOOL);
	if (rule == RULE_BOOL || rule == RULE_LOGIC)
		assert_int_equal(inst->dtype, DTYPE_BOOL);
	if (rule == RULE_BOOL && inst->op != OP_isnan)
		assert_int_not_equal(first, DTYPE_BOOL);
}

static inline struct ref_value ref_op(const struct ref_run *r, const struct inst *inst)
{
	struct ref_value src[3] = { 0 };
	double x[3] = { 0 };
	int n = 0;

	ref_check_op(r->k, inst);
	for (; n < 3 && inst->src[n] >= 0; n++) {
		assert_true(r->written[inst->src[n]]);
		src[n] = r->reg[inst->src[n]];
		x[n] = ref_is_float(r->k->regs[inst->src[n]].dtype) ? src[n].f : (double)src[n].i;
	}
	if (inst->op == OP_where)
		return src[0].i ? src[1] : src[2];
	if (inst->op == OP_isnan)
		return (struct ref_value){ .i = isnan(x[0]) };
	if (inst->op == OP_logical_not || inst->op == OP_invert)
		return (struct ref_value){ .i = inst->dtype == DTYPE_BOOL ? !src[0].i : ~src[0].i };
	double y = n == 1 ? ref_unary(inst->op, x[0]) : ref_binary(inst->op, x[0], x[1]);
	struct ref_value v = { .f = y };
	if (!ref_is_float(inst->dtype))
		v.i = (int64_t)y;
	return ref_round(v, inst->dtype);
}

static inline struct ref_value ref_first(enum op op)
{
	switch (op) {
	case OP_prod:
	case OP_all:
		return (struct ref_value){ 1, 1 };
	case OP_amax:
		return (struct ref_value){ -INFINITY, INT64_MIN };
	case OP_amin:
		return (struct ref_value){ INFINITY, INT64_MAX };
	default:
		return (struct ref_value){ 0, 0 };
	}
}

static inline struct ref_value ref_step(enum op op, struct ref_value a, struct ref_value b)
{
	switch (op) {
	case OP_sum:
		return (struct ref_value){ a.f + b.f, a.i + b.i };
	case OP_prod:
		return (struct ref_value){ a.f * b.f, a.i * b.i };
	case OP_amax:
		return (struct ref_value){ isnan(a.f) || a.f > b.f ? a.f : b.f,
					   a.i > b.i ? a.i : b.i };
	case OP_amin:
		return (struct ref_value){ isnan(a.f) || a.f < b.f ? a.f : b.f,
					   a.i < b.i ? a.i : b.i };
	case OP_any:
		return (struct ref_value){ 0, a.i || b.i };
	default:
		return (struct ref_value){ 0, a.i && b.i };
	}
}

static inline int64_t ref_address(const struct ref_run *r, const struct access *at)
{
	int64_t offset = sym_eval(at->offset, r->vars);
	for (int d = 0; d < r->k->n_dims; d++)
		offset += r->index[d] * sym_eval(at->stride[d], r->vars);
	return offset;
}

/* What the indices of a load add to its place. */
static inline int64_t ref_named(const struct ref_run *r, const struct lower_lookup *lookup)
{
	int64_t offset = 0;

	for (int k = 0; lookup && k < lookup->n; k++) {
		const struct lower_index *at = &lookup->index[k];
		int64_t size = sym_eval(at->size, r->vars);
		int64_t i = ref_get(r->memory[at->at.buffer], r->l->buffers[at->at.buffer].dtype,
				    ref_address(r, &at->at))
				.i;

		assert_true(i >= (at->from_end ? -size : 0) && i < size);
		offset += (i < 0 ? i + size : i) * sym_eval(at->step, r->vars);
	}
	return offset;
}

static inline void ref_inst(struct ref_run *r, const struct inst *inst, enum reg_level level)
{
	struct ref_value v = { 0 };
	const struct buffer *buffer = inst->at.buffer >= 0 ? &r->l->buffers[inst->at.buffer] : NULL;
	struct ref_value src = { 0 };

	if (inst->src[0] >= 0) {
		assert_true(r->written[inst->src[0]]);
		src = r->reg[inst->src[0]];
	}
	switch (inst->kind) {
	case INST_STORE:
		assert_int_equal(buffer->dtype, r->k->regs[inst->src[0]].dtype);
		ref_put(r->memory[inst->at.buffer], buffer->dtype, ref_address(r, &inst->at), src);
		return;
	case INST_SAVE:
		r->slot[inst->slot][r->point] = src;
		return;
	case INST_REDUCE:
		assert_int_equal(r->k->regs[inst->dst].level, LEVEL_ROW);
		r->reg[inst->dst] = ref_step(inst->op, r->reg[inst->dst], src);
		return;
	case INST_SCAN:
		assert_true(r->k->form == FORM_ROWS && inst->op == OP_cumsum);
		r->running = (r->point == 0 ? 0 : r->running) + src.f;
		v = ref_round((struct ref_value){ .f = r->running }, inst->dtype);
		break;
	case INST_LOAD:
		v = ref_get(r->memory[inst->at.buffer], buffer->dtype,
			    ref_address(r, &inst->at) + ref_named(r, inst->lookup));
		assert_int_equal(buffer->dtype, inst->dtype);
		break;
	case INST_IMM:
		v = (struct ref_value){ inst->imm_f, inst->imm_i };
		if (inst->sym) {
			v.i = sym_eval(inst->sym, r->vars);
			v.f = (double)v.i;
		}
		v = ref_round(v, inst->dtype);
		break;
	case INST_OP:
		v = ref_op(r, inst);
		break;
	case INST_CAST:
		v = ref_cast(src, r->k->regs[inst->src[0]].dtype, inst->dtype);
		break;
	case INST_RESTORE:
		v = r->slot[inst->slot][r->point];
		break;
	}
	assert_int_equal(r->k->regs[inst->dst].level, level);
	assert_int_equal(r->k->regs[inst->dst].dtype, inst->dtype);
	r->reg[inst->dst] = v;
	r->written[inst->dst] = true;
}

static inline void ref_list(struct ref_run *r, const struct inst *list, int n, enum reg_level level)
{
	for (int i = 0; i < n; i++)
		ref_inst(r, &list[i], level);
}

/* Walks index[from..to); `visit` gets each point. */
static inline void ref_walk(struct ref_run *r, int from, int to,
			    void (*visit)(struct ref_run *r, int stage), int stage)
{
	if (from == to) {
		visit(r, stage);
		return;
	}
	int64_t extent = sym_eval(r->k->extent[from], r->vars);
	for (int64_t i = 0; i < extent; i++) {
		r->index[from] = i;
		ref_walk(r, from + 1, to, visit, stage);
	}
	r->index[from] = 0;
}

static inline void ref_point(struct ref_run *r, int stage)
{
	const struct stage *s = &r->k->stages[stage];
	/* What another body wrote for each point is gone. */
	for (int i = 0; i < r->k->n_regs; i++)
		if (r->k->regs[i].level == LEVEL_POINT)
			r->written[i] = false;
	ref_list(r, s->body, s->n_body, LEVEL_POINT);
	r->point++;
}

static inline void ref_row(struct ref_run *r, int unused)
{
	const struct kernel *k = r->k;

	(void)unused;
	ref_list(r, k->prologue, k->n_prologue, LEVEL_ROW);
	for (int s = 0; s < k->n_stages; s++) {
		const struct stage *stage = &k->stages[s];
		for (int i = 0; i < stage->n_body; i++)
			if (stage->body[i].kind == INST_REDUCE)
				r->reg[stage->body[i].dst] = ref_first(stage->body[i].op);
		r->point = 0;
		ref_walk(r, k->n_outer, k->n_dims, ref_point, s);
		for (int i = 0; i < stage->n_body; i++)
			if (stage->body[i].kind == INST_REDUCE) {
				int dst = stage->body[i].dst;
				r->reg[dst] = ref_round(r->reg[dst], stage->body[i].dtype);
				r->written[dst] = true;
			}
		ref_list(r, stage->post, stage->n_post, LEVEL_ROW);
	}
}

/* torch.cumsum, the one library call. */
static inline void ref_cumsum(struct ref_run *r)
{
	const struct kernel *k = r->k;
	const struct buffer *in = &r->l->buffers[k->arg_buffer[0]];
	const struct buffer *out = &r->l->buffers[k->out_buffer];
	int rank = out->shape.rank, dim = (int)k->library->args[1].sym->value;
	int64_t inner = 1, outer = 1, n;

	dim += dim < 0 ? rank : 0;
	n = sym_eval(out->shape.size[dim], r->vars);
	for (int d = 0; d < rank; d++)
		*(d < dim ? &outer : &inner) *= d == dim ? 1
							 : sym_eval(out->shape.size[d], r->vars);
	for (int64_t o = 0; o < outer; o++)
		for (int64_t i = 0; i < inner; i++) {
			struct ref_value sum = { 0 };
			for (int64_t j = 0; j < n; j++) {
				int64_t at = (o * n + j) * inner + i;
				struct ref_value v = ref_get(r->memory[k->arg_buffer[0]], in->dtype,
							     at);
				sum = ref_step(OP_sum, sum, ref_cast(v, in->dtype, out->dtype));
				ref_put(r->memory[k->out_buffer], out->dtype, at, sum);
			}
		}
}

static inline void ref_kernel(struct ref_run *r)
{
	const struct kernel *k = r->k;
	int64_t points = 1;

	if (k->form == FORM_LIBRARY) {
		ref_cumsum(r);
		return;
	}
	assert_true(k->form == FORM_MAP ? k->n_outer == k->n_dims : k->n_outer < k->n_dims);
	for (int d = k->n_outer; d < k->n_dims; d++)
		points *= sym_eval(k->extent[d], r->vars);
	r->reg = calloc((size_t)k->n_regs + 1, sizeof(*r->reg));
	r->written = calloc((size_t)k->n_regs + 1, sizeof(*r->written));
	r->slot = calloc((size_t)k->n_slots + 1, sizeof(*r->slot));
	for (int s = 0; s < k->n_slots; s++)
		r->slot[s] = calloc((size_t)points + 1, sizeof(**r->slot));
	memset(r->index, 0, sizeof(r->index));
	ref_list(r, k->setup, k->n_setup, LEVEL_ONE);
	ref_walk(r, 0, k->n_outer, ref_row, 0);
	for (int s = 0; s < k->n_slots; s++)
		free(r->slot[s]);
	free(r->slot);
	free(r->written);
	free(r->reg);
}

/* Runs the program.  inputs[i] is the memory of graph input i.  outputs[i] is
 * memory of the caller's, big enough for output i, which is copied there. */
static inline void ref_execute(const struct lowered *l, const int64_t *vars,
			       const void *const *inputs, void *const *outputs)
{
	struct ref_run r = { .l = l, .vars = vars };

	r.memory = calloc((size_t)l->n_buffers + 1, sizeof(*r.memory));
	for (int i = 0; i < l->n_buffers; i++) {
		const struct buffer *b = &l->buffers[i];
		size_t bytes = (size_t)sym_eval(b->numel, vars) * dtype_bytes(b->dtype);
		r.memory[i] = malloc(bytes + 1);
		memset(r.memory[i], 0xa5, bytes);
		if (b->kind == BUFFER_INPUT) {
			free(r.memory[i]);
			r.memory[i] = (void *)(uintptr_t)inputs[b->index];
		}
		if (b->kind == BUFFER_CONST)
			memcpy(r.memory[i], b->data, bytes);
	}
	for (int i = 0; i < l->n_kernels; i++) {
		r.k = &l->kernels[i];
		ref_kernel(&r);
	}
	for (int i = 0; i < l->n_outputs; i++) {
		const struct buffer *b = &l->buffers[l->outputs[i]];
		memcpy(outputs[i], r.memory[l->outputs[i]],
		       (size_t)sym_eval(b->numel, vars) * dtype_bytes(b->dtype));
	}
	for (int i = 0; i < l->n_buffers; i++)
		if (l->buffers[i].kind != BUFFER_INPUT)
			free(r.memory[i]);
	free(r.memory);
}

/* Inputs of test programs: a spread of values, none special. */
static inline float ref_sample(int64_t i)
{
	return (float)((double)((i * 37 + 11) % 101) / 25.0 - 2.0);
}

/* `tolerance` is relative for large values, absolute for small ones. */
static inline void assert_near(double got, double want, double tolerance)
{
	if (isnan(want) ? !isnan(got) : !(fabs(got - want) <= tolerance * (1 + fabs(want))))
		fail_msg("got %.9g, want %.9g", got, want);
}

#endif
