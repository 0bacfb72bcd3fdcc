/* fusion/backends/host/emit.c -- writes the C of a part.
 *
 * Values are named r<register>; a loop declares what it reads (from a place, a
 * tile of scratch or a register's memory) just before the first use.  Bools are
 * masks of the loop's lane width, bytes in memory.
 */
#include "fusion/backends/host/emit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/simd/simd.h"

extern const char vec_text[]; /* vec.h, see Makefile */

struct emitter {
	struct buf *out;
	const struct schedule *s;
	const struct emit_loop *loop;
	int loop_index;
	bool splat_part; /* one vector of equal lanes */
	const char *at;  /* index of the vector: "i", "i + L4" */
	int copy;        /* of an unrolled loop: which accumulator */
	bool tail;       /* the last vector may be partial */
	bool *uniform;   /* registers declared before the loop */
	bool *declared;  /* registers in scope */
};

static const struct kernel *kernel_of(const struct emitter *e)
{
	return e->s->plan->kernel;
}

static enum dtype dtype_of(const struct emitter *e, int r)
{
	return kernel_of(e)->regs[r].dtype;
}

/* Types of a value in a register and in memory, in a loop of that lane width. */
static const char *value_type(enum dtype dtype, int width)
{
	if (dtype == DTYPE_BOOL)
		return width == 4 ? "m4" : width == 8 ? "m8" : "m1";
	switch (dtype) {
	case DTYPE_F64:
		return "f64";
	case DTYPE_I64:
		return "i64";
	case DTYPE_I32:
		return "d8";
	case DTYPE_I16:
		return "s8";
	case DTYPE_I8:
		return "c8";
	case DTYPE_U8:
		return "b8";
	case DTYPE_F16:
	case DTYPE_BF16:
		return "e4";
	default:
		return width == 8 ? "h8" : "f32";
	}
}

static void put_load(struct buf *out, enum dtype dtype, int width, const char *base, const char *at)
{
	if (dtype == DTYPE_BOOL)
		buf_printf(out, "MASK(%d, LOAD(b%d, %s, %s))", width, width, base, at);
	else
		buf_printf(out, "LOAD(%s, %s, %s)", value_type(dtype, width), base, at);
}

static void put_save(struct buf *out, enum dtype dtype, int width, const char *base, const char *at,
		     int r)
{
	if (dtype == DTYPE_BOOL)
		buf_printf(out, "\t\tSAVE(b%d, %s, %s, BYTES(%d, r%d));\n", width, base, at, width,
			   r);
	else
		buf_printf(out, "\t\tSAVE(%s, %s, %s, r%d);\n", value_type(dtype, width), base, at,
			   r);
}

/* A constant as a vector. */
static void put_constant(struct buf *out, const struct inst *imm, int width)
{
	if (imm->dtype == DTYPE_BOOL) {
		buf_printf(out, "K_m%d(%d)", width, imm->imm_i != 0);
		return;
	}
	buf_printf(out, "SPLAT(%s, ", value_type(imm->dtype, width));
	if (imm->dtype == DTYPE_I64)
		buf_printf(out, "(long)0x%" PRIx64 "UL)", (uint64_t)imm->imm_i);
	else if (isnan(imm->imm_f))
		buf_printf(out, "(%s)__builtin_nan(\"\"))", intrinsics_element(imm->dtype));
	else if (isinf(imm->imm_f))
		buf_printf(out, "(%s)%s__builtin_inf())", intrinsics_element(imm->dtype),
			   imm->imm_f < 0 ? "-" : "");
	else if (imm->dtype == DTYPE_F32)
		buf_printf(out, "%af)", (double)(float)imm->imm_f);
	else
		buf_printf(out, "%a)", imm->imm_f);
}

/* The instruction of setup that makes r a constant; NULL: it is none. */
static const struct inst *constant_of(const struct emitter *e, int r)
{
	const struct kernel *k = kernel_of(e);

	for (int i = 0; i < k->n_setup; i++)
		if (k->setup[i].dst == r && k->setup[i].kind == INST_IMM && !k->setup[i].sym)
			return &k->setup[i];
	return NULL;
}

/* Whether r is one value for the whole tile, made outside of the part. */
static bool is_uniform(const struct emitter *e, int r)
{
	const struct reg *reg = &kernel_of(e)->regs[r];

	if (e->s->def[r] >= 0 && !constant_of(e, r) && reg->level != LEVEL_POINT)
		return e->splat_part;
	return reg->level == LEVEL_ONE ||
	       (reg->level == LEVEL_ROW && kernel_of(e)->form == FORM_ROWS);
}

/* Where a value lies in memory: the name of a pointer. */
static void base_name(const struct emitter *e, int r, char name[32])
{
	if (kernel_of(e)->regs[r].level != LEVEL_POINT)
		snprintf(name, 32, "g%d", r);
	else if (e->s->memory_at[r] >= 0)
		snprintf(name, 32, "a%d", e->s->memory_at[r]);
	else
		snprintf(name, 32, "x%d", e->s->temp[r]);
}

/* Brings r into scope where this loop has not computed it. */
static void need(struct emitter *e, int r)
{
	char base[32];

	if (e->declared[r])
		return;
	e->declared[r] = true;
	base_name(e, r, base);
	buf_printf(e->out, "\t\tconst %s r%d = ", value_type(dtype_of(e, r), e->loop->width), r);
	if (constant_of(e, r))
		put_constant(e->out, constant_of(e, r), e->loop->width);
	else
		put_load(e->out, dtype_of(e, r), e->loop->width, base,
			 is_uniform(e, r) ? "0" : e->at);
	buf_puts(e->out, ";\n");
}

/* The text of an ops.def expression with a, b, c replaced by `args`. */
static void put_value(const struct emitter *e, const char *text, enum dtype type,
		      const char *const args[3])
{
	intrinsics_put(e->out, text, value_type(type, e->loop->width), type == DTYPE_BOOL, args);
}

static void put_cast(const struct emitter *e, const struct inst *inst)
{
	enum dtype from = dtype_of(e, inst->src[0]), to = inst->dtype;
	const char *type = value_type(to, e->loop->width);
	int src = inst->src[0];

	if (to == DTYPE_BOOL)
		buf_printf(e->out, "ne(r%d, K_%s(0))", src, value_type(from, e->loop->width));
	else if (from == DTYPE_BOOL)
		buf_printf(e->out, "sel_%s(r%d, K_%s(1), K_%s(0))", type, src, type, type);
	else if (from == DTYPE_F16 || from == DTYPE_BF16)
		buf_printf(e->out, "%s_to_f32(r%d)", from == DTYPE_F16 ? "half" : "bfloat", src);
	else if (to == DTYPE_F16 || to == DTYPE_BF16)
		buf_printf(e->out, "f32_to_%s(r%d)", to == DTYPE_F16 ? "half" : "bfloat", src);
	else
		buf_printf(e->out, "__builtin_convertvector(r%d, %s)", src, type);
}

/* One value was written to fewer lanes than others may read. */
static void put_splat_again(const struct emitter *e, int r, const char *base)
{
	enum dtype dtype = dtype_of(e, r);

	if (!e->splat_part)
		return;
	if (dtype == DTYPE_BOOL)
		buf_printf(e->out, "\t\tSAVE(b1, %s, 0, SPLAT(b1, *%s));\n", base, base);
	else if (dtype_bytes(dtype) == 1)
		buf_printf(
		    e->out,
		    "\t\tSAVE(b1, (unsigned char *)%s, 0, SPLAT(b1, *(unsigned char *)%s));\n",
		    base, base);
	else if (dtype == DTYPE_F32 && e->loop->width == 8)
		buf_printf(e->out, "\t\tSAVE(f32, %s, 0, SPLAT(f32, *%s));\n", base, base);
}

/* OP or CAST: computes r, and keeps it in memory where other loops or parts
 * will look for it. */
static void put_compute(struct emitter *e, const struct inst *inst)
{
	int last = inst->src[2] >= 0 ? 2 : inst->src[1] >= 0 ? 1 : 0, r = inst->dst;
	char names[3][16];
	const char *args[3] = { names[0], names[1], names[2] };
	char base[32];

	for (int k = 0; k < 3; k++) {
		if (inst->src[k] >= 0)
			need(e, inst->src[k]);
		snprintf(names[k], sizeof(names[k]), "r%d", inst->src[k]);
	}
	buf_printf(e->out, "\t\tconst %s r%d = ", value_type(inst->dtype, e->loop->width), r);
	if (inst->kind == INST_CAST)
		put_cast(e, inst);
	else
		put_value(e, op_info(inst->op)->value, dtype_of(e, inst->src[last]), args);
	buf_puts(e->out, ";\n");
	e->declared[r] = true;
	if (kernel_of(e)->regs[r].level == LEVEL_POINT && e->s->temp[r] < 0)
		return;
	base_name(e, r, base);
	put_save(e->out, inst->dtype, e->loop->width, base, e->at, r);
	put_splat_again(e, r, base);
}

static void put_reduce(struct emitter *e, const struct inst *inst, int reduction)
{
	const struct op_info *info = op_info(inst->op);
	const char *type = value_type(inst->dtype, e->loop->width);
	char acc[24], value[24];
	const char *args[3] = { acc, value, "" };

	need(e, inst->src[0]);
	snprintf(acc, sizeof(acc), "c%d_%d", reduction, e->copy);
	snprintf(value, sizeof(value), "r%d", inst->src[0]);
	if (e->tail) {
		snprintf(value, sizeof(value), "v%d", reduction);
		buf_printf(e->out,
			   "\t\tconst %s v%d = __builtin_expect(i + L%d > n, 0) ? "
			   "head_%s(r%d, n - i, ",
			   type, reduction, e->loop->width, type, inst->src[0]);
		put_value(e, info->first, inst->dtype, args);
		buf_printf(e->out, ") : r%d;\n", inst->src[0]);
	}
	buf_printf(e->out, "\t\t%s = ", acc);
	put_value(e, info->value, inst->dtype, args);
	buf_puts(e->out, ";\n");
}

/* A register above LEVEL_POINT that is loaded: to the register's memory. */
static void put_load_inst(struct emitter *e, const struct inst *inst, int place)
{
	char base[32];

	snprintf(base, sizeof(base), "a%d", place);
	buf_printf(e->out, "\t\tconst %s r%d = ", value_type(inst->dtype, e->loop->width),
		   inst->dst);
	put_load(e->out, inst->dtype, e->loop->width, base, e->at);
	buf_puts(e->out, ";\n");
	e->declared[inst->dst] = true;
	base_name(e, inst->dst, base);
	put_save(e->out, inst->dtype, e->loop->width, base, e->at, inst->dst);
	put_splat_again(e, inst->dst, base);
}

static void put_body(struct emitter *e)
{
	const struct part *part = e->s->part;
	char base[32];

	memcpy(e->declared, e->uniform, (size_t)kernel_of(e)->n_regs);
	for (int i = 0; i < part->n; i++) {
		const struct inst *inst = &part->insts[i];

		if (e->s->loop_of[i] != e->loop_index)
			continue;
		switch (inst->kind) {
		case INST_OP:
		case INST_CAST:
			put_compute(e, inst);
			break;
		case INST_REDUCE:
			put_reduce(e, inst, e->s->reduction[i]);
			break;
		case INST_STORE:
		case INST_SAVE:
			need(e, inst->src[0]);
			snprintf(base, sizeof(base), "a%d", e->s->place_of[i]);
			put_save(e->out, inst->dtype, e->loop->width, base, e->at, inst->src[0]);
			break;
		case INST_LOAD:
		case INST_RESTORE:
			put_load_inst(e, inst, e->s->place_of[i]);
			break;
		case INST_IMM:
		case INST_SCAN: /* see plan.c */
			break;
		}
	}
}

/* Declares what is the same for all points, so that no iteration loads it. */
static void put_uniforms(struct emitter *e)
{
	const struct part *part = e->s->part;

	memset(e->declared, 0, (size_t)kernel_of(e)->n_regs);
	for (int i = 0; i < part->n; i++)
		for (int k = 0; k < 3 && e->s->loop_of[i] == e->loop_index; k++) {
			int r = part->insts[i].src[k];

			if (r >= 0 && is_uniform(e, r) &&
			    (e->s->def[r] < 0 || e->s->loop_of[e->s->def[r]] != e->loop_index))
				need(e, r);
		}
	memcpy(e->uniform, e->declared, (size_t)kernel_of(e)->n_regs);
}

/* Several accumulators hide the latency of a short reduction. */
static int accumulators(const struct emit_loop *loop)
{
	return loop->reduces && !loop->heavy && loop->n <= 8 ? 4 : 1;
}

static void put_accumulators(struct emitter *e, bool finish)
{
	const struct part *part = e->s->part;
	int n = accumulators(e->loop);

	for (int i = 0; i < part->n; i++) {
		const struct inst *inst = &part->insts[i];
		const struct op_info *info = op_info(inst->op);
		int c = e->s->reduction[i];

		if (inst->kind != INST_REDUCE || e->s->loop_of[i] != e->loop_index)
			continue;
		for (int k = 0; k < n && !finish; k++) {
			buf_printf(e->out,
				   "\t%s c%d_%d = ", value_type(inst->dtype, e->loop->width), c, k);
			put_value(e, info->first, inst->dtype, (const char *[3]){ "", "", "" });
			buf_puts(e->out, ";\n");
		}
		for (int step = n / 2; step > 0 && finish; step /= 2)
			for (int k = 0; k < step; k++) {
				char to[24], from[24];

				snprintf(to, sizeof(to), "c%d_%d", c, k);
				snprintf(from, sizeof(from), "c%d_%d", c, k + step);
				buf_printf(e->out, "\t%s = ", to);
				put_value(e, info->value, inst->dtype,
					  (const char *[3]){ to, from, "" });
				buf_puts(e->out, ";\n");
			}
		if (finish && inst->dtype == DTYPE_BOOL)
			buf_printf(
			    e->out,
			    "\tSAVE(b%d, (unsigned char *)t->acc[%d], 0, BYTES(%d, c%d_0));\n",
			    e->loop->width, c, e->loop->width, c);
		else if (finish)
			buf_printf(e->out, "\tSAVE(%s, (%s *)t->acc[%d], 0, c%d_0);\n",
				   value_type(inst->dtype, e->loop->width),
				   intrinsics_element(inst->dtype), c, c);
	}
}

static void put_loop(struct emitter *e, int index)
{
	int width = e->s->loops[index].width, n;
	char at[24];

	e->loop = &e->s->loops[index];
	e->loop_index = index;
	n = accumulators(e->loop);
	buf_puts(e->out, "\t{\n");
	put_uniforms(e);
	put_accumulators(e, false);
	buf_puts(e->out, "\tlong i = 0;\n");
	e->tail = false;
	if (n > 1) {
		buf_printf(e->out, "\tfor (; i + %d * L%d <= n; i += %d * L%d) {\n", n, width, n,
			   width);
		for (e->copy = 0; e->copy < n; e->copy++) {
			snprintf(at, sizeof(at), "i + %d * L%d", e->copy, width);
			e->at = at;
			buf_puts(e->out, "\t{\n");
			put_body(e);
			buf_puts(e->out, "\t}\n");
		}
		buf_puts(e->out, "\t}\n");
	}
	e->copy = 0;
	e->at = "i";
	e->tail = e->loop->reduces;
	buf_printf(e->out, "\tfor (; i < n; i += L%d) {\n", width);
	put_body(e);
	buf_puts(e->out, "\t}\n");
	put_accumulators(e, true);
	buf_puts(e->out, "\t}\n");
}

/* COLS: joins a tile, which lies in memory, to the columns' accumulators. */
static void put_fold(struct emitter *e, const struct inst *inst, int reduction)
{
	struct emit_loop loop = { .width = inst->dtype == DTYPE_BOOL
					       ? 1
					       : (int)dtype_bytes(inst->dtype) };
	const char *type, *args[3] = { "c", "v", "" };
	int r = inst->src[0], w = loop.width;
	char base[32], acc[64];

	e->loop = &loop;
	type = value_type(inst->dtype, w);
	base_name(e, r, base);
	snprintf(acc, sizeof(acc), "(%s *)t->acc[%d]", intrinsics_element(inst->dtype), reduction);
	buf_printf(e->out, "\tfor (long j = 0; j < t->width; j += L%d) {\n\t\t%s c = ", w, type);
	put_load(e->out, inst->dtype, w, acc, "j");
	buf_puts(e->out, ";\n\t\tfor (long k = 0; k < n; k += t->width) {\n\t\t\t");
	buf_printf(e->out, "const %s v = ", type);
	if (constant_of(e, r))
		put_constant(e->out, constant_of(e, r), w);
	else
		put_load(e->out, inst->dtype, w, base, is_uniform(e, r) ? "0" : "k + j");
	buf_puts(e->out, ";\n\t\t\tc = ");
	put_value(e, op_info(inst->op)->value, inst->dtype, args);
	buf_puts(e->out, ";\n\t\t}\n\t\t");
	if (inst->dtype == DTYPE_BOOL)
		buf_printf(e->out, "SAVE(b1, %s, j, BYTES(1, c));\n\t}\n", acc);
	else
		buf_printf(e->out, "SAVE(%s, %s, j, c);\n\t}\n", type, acc);
	e->loop = NULL;
}

/* COLS: the accumulators of some columns, from memory or to it. */
static void put_column_sums(struct emitter *e, bool finish)
{
	const struct part *part = e->s->part;

	for (int i = 0; i < part->n; i++) {
		const struct inst *inst = &part->insts[i];
		const char *type = value_type(inst->dtype, e->loop->width);
		const char *element = intrinsics_element(inst->dtype);
		int c = e->s->reduction[i];

		if (inst->kind == INST_REDUCE && finish)
			buf_printf(e->out, "\tSAVE(%s, (%s *)t->acc[%d], j, c%d_0);\n", type,
				   element, c, c);
		else if (inst->kind == INST_REDUCE)
			buf_printf(e->out, "\t%s c%d_0 = LOAD(%s, (%s *)t->acc[%d], j);\n", type, c,
				   type, element, c);
	}
}

/* COLS: all of a body, point after point of some columns. */
static void put_columns(struct emitter *e)
{
	e->loop = &e->s->loops[0];
	e->loop_index = 0;
	e->at = "i";
	buf_puts(e->out, "\t{\n");
	put_uniforms(e);
	buf_printf(e->out,
		   "\tfor (long k = 0; k < n; k += t->width)\n"
		   "\tfor (long j = 0; j < t->width; j += L%d) {\n"
		   "\t\tconst long i = k + j;\n",
		   e->loop->width);
	put_column_sums(e, false);
	put_body(e);
	put_column_sums(e, true);
	buf_puts(e->out, "\t}\n\t}\n");
}

static void put_pointers(struct emitter *e)
{
	const struct schedule *s = e->s;
	const struct kernel *k = kernel_of(e);

	memset(e->declared, 0, (size_t)k->n_regs);
	for (int p = 0; p < s->part->n_places; p++) {
		const char *type = intrinsics_element(s->part->places[p].inst->dtype);

		buf_printf(e->out, "\t%s *const a%d = (%s *)t->at[%d];\n", type, p, type, p);
	}
	for (int i = 0; i < s->part->n; i++)
		for (int j = -1; j < 3; j++) {
			const struct inst *inst = &s->part->insts[i];
			int r = j < 0 ? inst->dst : inst->src[j];
			const char *type;

			if (r < 0 || k->regs[r].level == LEVEL_POINT || e->declared[r] ||
			    constant_of(e, r) || inst->kind == INST_IMM)
				continue;
			e->declared[r] = true;
			type = intrinsics_element(k->regs[r].dtype);
			buf_printf(e->out, "\t%s *const g%d = (%s *)t->reg[%d];\n", type, r, type,
				   r);
		}
	for (int i = 0; i < s->n_temps; i++) {
		const char *type = s->temp_bytes[i] == 1   ? "unsigned char"
				   : s->temp_bytes[i] == 2 ? "unsigned short"
				   : s->temp_bytes[i] == 4 ? "float"
							   : "double";

		buf_printf(e->out, "\t%s *const x%d = (%s *)((char *)t->scratch + %zu);\n", type, i,
			   type, s->temp_offset[i]);
	}
}

/* ---- the body of pairs (lower.h): `columns` vectors of columns at a time, with their sums in
 * registers over all points of the call
 */

enum { PAIR_VECTORS = 4 };

static const struct reg *pair_source(const struct emitter *e, const struct inst *inst, int i)
{
	return inst->src[i] >= 0 ? &kernel_of(e)->regs[inst->src[i]] : NULL;
}

/* One instruction for vector v of the columns. */
static void put_pair_inst(struct emitter *e, const struct inst *inst, int i, int v)
{
	const struct op_info *info = op_info(inst->op);
	char names[3][32];
	const char *args[3] = { names[0], names[1], names[2] };

	if (inst->kind == INST_LOAD) {
		buf_printf(e->out, "\t\tconst f32 r%d_%d = ", inst->dst, v);
		if (sym_is(inst->at.stride[kernel_of(e)->n_outer - 1], 0))
			buf_printf(e->out, "SPLAT(f32, a%d[k]);\n", e->s->place_of[i]);
		else
			buf_printf(e->out, "LOAD(f32, a%d, k * width + j + %d * L4);\n",
				   e->s->place_of[i], v);
		return;
	}
	for (int k = 0; k < 3; k++) {
		const struct reg *reg = pair_source(e, inst, k);

		snprintf(names[k], sizeof(names[k]),
			 reg && reg->level == LEVEL_POINT ? "r%d_%d" : "r%d", inst->src[k], v);
	}
	if (inst->kind == INST_REDUCE) {
		memcpy(names[1], names[0], sizeof(names[1]));
		snprintf(names[0], sizeof(names[0]), "c%d_%d", e->s->reduction[i], v);
		buf_printf(e->out, "\t\t%s = ", names[0]);
	} else {
		buf_printf(e->out, "\t\tconst f32 r%d_%d = ", inst->dst, v);
	}
	put_value(e, info->value, DTYPE_F32, args);
	buf_puts(e->out, ";\n");
}

static void put_pair_columns(struct emitter *e, int vectors)
{
	const struct part *part = e->s->part;

	buf_printf(e->out, "\tfor (; j + %d * L4 <= width; j += %d * L4) {\n", vectors, vectors);
	for (int c = 0; c < part->n_reduces; c++)
		for (int v = 0; v < vectors; v++)
			buf_printf(e->out,
				   "\tf32 c%d_%d = LOAD(f32, (float *)t->acc[%d], j + %d * L4);\n",
				   c, v, c, v);
	buf_puts(e->out, "\tfor (long k = 0; k < n; k++) {\n");
	for (int i = 0; i < part->n; i++)
		for (int v = 0; v < vectors; v++)
			put_pair_inst(e, &part->insts[i], i, v);
	buf_puts(e->out, "\t}\n");
	for (int c = 0; c < part->n_reduces; c++)
		for (int v = 0; v < vectors; v++)
			buf_printf(e->out,
				   "\tSAVE(f32, (float *)t->acc[%d], j + %d * L4, c%d_%d);\n", c, v,
				   c, v);
	buf_puts(e->out, "\t}\n");
}

static void put_pairs(struct emitter *e)
{
	const struct kernel *k = kernel_of(e);
	const struct part *part = e->s->part;
	struct emit_loop loop = { .width = 4 };

	e->loop = &loop;
	e->at = "0";
	buf_puts(e->out, "\tconst long width = t->width;\n\tlong j = 0;\n");
	memset(e->declared, 0, (size_t)k->n_regs);
	for (int i = 0; i < part->n; i++)
		for (int s = 0; s < 3; s++) {
			const struct reg *reg = pair_source(e, &part->insts[i], s);

			if (reg && reg->level == LEVEL_ONE)
				need(e, part->insts[i].src[s]);
		}
	put_pair_columns(e, PAIR_VECTORS);
	put_pair_columns(e, 1);
	e->loop = NULL;
}

/* The function of one part; returns the scratch that it needs. */
static size_t emit_part(struct buf *out, const struct schedule *s, int kernel, int index)
{
	size_t n_regs = (size_t)s->plan->kernel->n_regs + 1;
	struct emitter e = { .out = out, .s = s };

	e.splat_part = !s->part->body &&
		       (s->plan->kernel->form != FORM_COLS || index == PART_SETUP);
	e.uniform = calloc(2 * n_regs, sizeof(bool));
	if (!e.uniform) {
		out->failed = true;
		return 0;
	}
	e.declared = e.uniform + n_regs;
	buf_printf(out, "void k%dp%d(const void *code, const struct tile *t)\n{\n", kernel, index);
	buf_puts(out, "\tconst long n = t->n;\n");
	put_pointers(&e);
	if (s->plan->kernel->pairs && s->part->body) {
		put_pairs(&e);
		buf_puts(out, "\tDONE();\n}\n");
		free(e.uniform);
		return 0;
	}
	if (s->folds)
		put_columns(&e);
	for (int l = 0; l < s->n_loops && !s->folds; l++)
		put_loop(&e, l);
	for (int i = 0; i < s->part->n; i++)
		if (s->part->insts[i].kind == INST_REDUCE && s->loop_of[i] < 0)
			put_fold(&e, &s->part->insts[i], s->reduction[i]);
	buf_puts(out, "\tDONE();\n}\n");
	free(e.uniform);
	return s->scratch_bytes;
}

bool emit_source(struct buf *out, struct plan *const *plans, int n_plans, int vector_bytes,
		 struct err *err)
{
	buf_printf(out, "#define VECTOR_BYTES %d\n", vector_bytes);
	buf_puts(out, vec_text);
	for (int k = 0; k < n_plans; k++)
		for (int i = 0; plans[k] && i < plans[k]->n_parts; i++) {
			struct schedule s;

			if (!part_has_code(&plans[k]->parts[i]))
				continue;
			if (!schedule_part(&s, plans[k], &plans[k]->parts[i]))
				out->failed = true;
			else
				plans[k]->code[i].scratch_bytes = emit_part(out, &s, k, i);
			plans[k]->code[i].pairs = plans[k]->kernel->pairs && s.part->body;
			schedule_finish(&s);
		}
	return !out->failed || err_set(err, ERR_MEMORY, "The generated C does not fit in memory.");
}
