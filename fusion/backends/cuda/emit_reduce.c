/* fusion/backends/cuda/emit_reduce.c -- what a stage finds of a row or a column: lanes, threads
 * and blocks joined.
 */
#include <stdio.h>

#include "fusion/backends/cuda/text.h"

/* Joined in a wide type, rounded once: what threads have found, then blocks. */
static const char *wide(const struct inst *inst)
{
	bool exact = inst->op == OP_amax || inst->op == OP_amin;

	if (inst->dtype == DTYPE_BOOL)
		return "bool";
	if (!text_is_float(inst->dtype))
		return "i64";
	return exact && inst->dtype == DTYPE_F32 ? "f32" : "f64";
}

static enum dtype wide_dtype(const struct inst *inst)
{
	const char *name = wide(inst);

	return name[0] == 'b'   ? DTYPE_BOOL
	       : name[0] == 'i' ? DTYPE_I64
	       : name[1] == '3' ? DTYPE_F32
				: DTYPE_F64;
}

/* struct j<n>: the reduction as a type that words.cu takes. */
static void put_joiner(struct text *t, const struct inst *inst)
{
	const char *type = wide(inst);
	enum dtype dtype = wide_dtype(inst);

	buf_printf(t->out, "\tstruct j%d {\n\tstatic __device__ %s join(%s a, %s b) { return ",
		   inst->dst, type, type, type);
	text_join(t, inst->op, dtype, "a", "b");
	buf_printf(t->out, "; }\n\tstatic __device__ %s first() { return ", type);
	text_first(t, inst->op, dtype);
	buf_puts(t->out, "; }\n\t};\n");
}

/* Sums of float32 side by side are joined at each step, or behind a few of them: a lane
 * that adds up many like numbers rounds each time in the same way. */
static bool joins_lanes(const struct text *t, const struct inst *inst)
{
	return inst->op == OP_sum && inst->dtype == DTYPE_F32 && t->c->lanes > 1;
}

/* "((c0[0] + c0[1]) + (c0[2] + c0[3]))" */
static void put_pairs(struct buf *out, int reg, int first, int n)
{
	if (n == 1) {
		buf_printf(out, "c%d[%d]", reg, first);
		return;
	}
	buf_puts(out, "(");
	put_pairs(out, reg, first, n / 2);
	buf_puts(out, " + ");
	put_pairs(out, reg, first + n / 2, n / 2);
	buf_puts(out, ")");
}

/* "w0 += ((c0[0] + c0[1]) + (c0[2] + c0[3]));" */
static void put_lanes(struct text *t, const struct inst *inst)
{
	buf_printf(t->out, "\tw%d += ", inst->dst);
	put_pairs(t->out, inst->dst, 0, t->c->lanes);
	buf_puts(t->out, ";\n");
}

void text_steps(struct text *t, const struct stage *stage)
{
	for (int i = 0; i < stage->n_body; i++) {
		const struct inst *inst = &stage->body[i];

		if (inst->kind != INST_REDUCE || !joins_lanes(t, inst) || t->c->few_steps)
			continue;
		put_lanes(t, inst);
		buf_printf(t->out, "\tfor (int j = 0; j < %d; j++) c%d[j] = 0;\n", t->c->lanes,
			   inst->dst);
	}
}

void text_accumulators(struct text *t, const struct stage *stage)
{
	for (int i = 0; i < stage->n_body; i++) {
		const struct inst *inst = &stage->body[i];

		if (inst->kind != INST_REDUCE)
			continue;
		put_joiner(t, inst);
		buf_printf(t->out, "\t%s c%d[%d];\n\tfor (int j = 0; j < %d; j++) c%d[j] = ",
			   text_value(inst->dtype), inst->dst, t->c->lanes, t->c->lanes, inst->dst);
		text_first(t, inst->op, inst->dtype);
		buf_puts(t->out, ";\n");
		if (joins_lanes(t, inst))
			buf_printf(t->out, "\tf64 w%d = 0;\n", inst->dst);
	}
}

/* Several blocks had a share each: the last one joins what all have found, in a second turn
 * of the loop that put_joins() is in, since it takes long to compile twice. */
static void put_split(struct text *t, const struct stage *stage, const char *team)
{
	int n = 0;

	buf_puts(t->out, "\tif (!more) break;\n");
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_REDUCE)
			buf_printf(t->out, "\tleave_%s>(part, group, %d, %d, w%d);\n", team, n++,
				   t->c->n_reduces, stage->body[i].dst);
	buf_puts(t->out, "\tif (!last_block(count, blockIdx.x)) return;\n");
	n = 0;
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_REDUCE) {
			int r = stage->body[i].dst;

			buf_printf(t->out, "\tw%d = gather_%s, j%d>(part, group, %d, %d, w%d);\n",
				   r, team, r, n++, t->c->n_reduces, r);
		}
	buf_puts(t->out, "\tmore = hidden_zero();\n\t}\n");
}

/* What the threads of a block have found, as one; with blocks that share, of all of them. */
static void put_joins(struct text *t, const struct stage *stage, const char *team)
{
	if (t->c->splits)
		buf_puts(t->out, "\tu32 more = gridDim.y > 1;\n#pragma unroll 1\n\tfor (;;) {\n");
	for (int i = 0; i < stage->n_body; i++) {
		int r = stage->body[i].dst;

		if (stage->body[i].kind == INST_REDUCE)
			buf_printf(t->out, "\tw%d = join_%s, j%d>(w%d);\n", r, team, r, r);
	}
	if (t->c->splits)
		put_split(t, stage, team);
}

void text_results(struct text *t, const struct stage *stage)
{
	char team[64];

	if (t->c->kernel->form == FORM_COLS)
		snprintf(team, sizeof(team), "columns<%d, %d", t->c->threads, CUDA_COLUMNS);
	else
		snprintf(team, sizeof(team), "row<%d, %d", t->c->threads, t->c->rows_a_block);
	for (int i = 0; i < stage->n_body; i++) {
		const struct inst *inst = &stage->body[i];
		int r = inst->dst;

		if (inst->kind != INST_REDUCE)
			continue;
		if (joins_lanes(t, inst) && t->c->few_steps)
			put_lanes(t, inst);
		if (!joins_lanes(t, inst))
			buf_printf(t->out,
				   "\t%s w%d = c%d[0];\n\tfor (int j = 1; j < %d; j++) w%d = "
				   "j%d::join(w%d, c%d[j]);\n",
				   wide(inst), r, r, t->c->lanes, r, r, r, r);
	}
	put_joins(t, stage, team);
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_REDUCE) {
			const struct inst *inst = &stage->body[i];

			buf_printf(t->out, "\tconst %s r%d = (%s)w%d;\n", text_value(inst->dtype),
				   inst->dst, text_value(inst->dtype), inst->dst);
		}
}
