/* fusion/backends/cuda/kernel/emit.c -- writes the CUDA C of a kernel.
 *
 * Values are named r<register>, buffers b<parameter>, coordinates x<dim>.  Nothing
 * of the user's reaches the text: names are numbers, values literals.
 */
#include <stdio.h>
#include <string.h>

#include "fusion/backends/cuda/kernel/kernel.h"
#include "fusion/backends/cuda/kernel/text.h"

/* The value of element expression `from`, as it is in a register. */
static void text_from_memory(struct emit_text *t, enum dtype dtype, const char *from)
{
	buf_printf(t->out, dtype == DTYPE_BOOL ? "%s != 0" : "%s", from);
}

/* x<first>.. x<last - 1>: where `flat` lies in the dims [first, last). */
static void text_coordinates(struct emit_text *t, const struct sym *const *extent, int first,
			     int last, const char *flat)
{
	if (last <= first)
		return;
	if (last - first == 1) {
		buf_printf(t->out, "\tconst u32 x%d = %s;\n", first, flat);
		return;
	}
	buf_printf(t->out, "\tu32 x%d = %s;\n", first, flat);
	for (int d = last - 1; d > first; d--) {
		buf_printf(t->out, "\tconst u32 x%d = x%d %% (u32)", d, first);
		text_number(t, extent[d]);
		buf_printf(t->out, ";\n\tx%d /= (u32)", first);
		text_number(t, extent[d]);
		buf_puts(t->out, ";\n");
	}
}

/* ---- what a stage finds of a row or a column: lanes, threads
 * and blocks joined.
 */

/* Sums of float32 side by side are joined at each step, or after a few of them: a lane
 * that adds up many like numbers rounds each time in the same way. */
static bool joins_lanes(const struct emit_text *t, const struct inst *inst)
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
static void put_lanes(struct emit_text *t, const struct inst *inst)
{
	buf_printf(t->out, "\tw%d += ", inst->dst);
	put_pairs(t->out, inst->dst, 0, t->c->lanes);
	buf_puts(t->out, ";\n");
}

/* what a thread does after the lanes of each step, */
static void text_steps(struct emit_text *t, const struct stage *stage)
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

/* What the reductions of a stage begin with, */
static void text_accumulators(struct emit_text *t, const struct stage *stage)
{
	for (int i = 0; i < stage->n_body; i++) {
		const struct inst *inst = &stage->body[i];

		if (inst->kind != INST_REDUCE)
			continue;
		text_joiner(t, inst);
		if (op_is_search(inst->op)) {
			buf_printf(t->out, "\tsearch<%s> c%d[%d];\n",
				   inst->op == OP_argmax ? "true" : "false", inst->dst,
				   t->c->lanes);
			continue;
		}
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
static void put_split(struct emit_text *t, const struct stage *stage, const char *team)
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
static void put_joins(struct emit_text *t, const struct stage *stage, const char *team)
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

/* and lanes, threads and perhaps blocks joined: the registers of a row or a column. */
static void text_results(struct emit_text *t, const struct stage *stage)
{
	char team[64];

	if (t->c->kernel->form == FORM_COLS)
		snprintf(team, sizeof(team), "columns<%d, %d", t->c->threads, t->c->columns);
	else
		snprintf(team, sizeof(team), "row<%d, %d", t->c->threads, t->c->rows_a_block);
	for (int i = 0; i < stage->n_body; i++) {
		const struct inst *inst = &stage->body[i];
		int r = inst->dst;

		if (inst->kind != INST_REDUCE)
			continue;
		if (joins_lanes(t, inst) && t->c->few_steps)
			put_lanes(t, inst);
		if (op_is_search(inst->op))
			buf_printf(
			    t->out,
			    "\tu64 w%d = c%d[0].word();\n\tfor (int j = 1; j < %d; j++) w%d = "
			    "j%d::join(w%d, c%d[j].word());\n",
			    r, r, t->c->lanes, r, r, r, r);
		else if (!joins_lanes(t, inst))
			buf_printf(t->out,
				   "\t%s w%d = c%d[0];\n\tfor (int j = 1; j < %d; j++) w%d = "
				   "j%d::join(w%d, c%d[j]);\n",
				   text_wide(inst), r, r, t->c->lanes, r, r, r, r);
	}
	put_joins(t, stage, team);
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_REDUCE) {
			const struct inst *inst = &stage->body[i];

			if (op_is_search(inst->op))
				buf_printf(t->out, "\tconst i64 r%d = found_place(w%d);\n",
					   inst->dst, inst->dst);
			else
				buf_printf(t->out, "\tconst %s r%d = (%s)w%d;\n",
					   text_value(inst->dtype), inst->dst,
					   text_value(inst->dtype), inst->dst);
		}
}

/* ---- the function of one kernel */

/* How an access of a body goes over the lanes of a thread. */
enum lane_step { LANE_SAME, LANE_NEXT, LANE_FAR };

static enum lane_step lane_step(const struct kernel *k, const struct access *at)
{
	const struct sym *stride = k->n_dims ? at->stride[k->n_dims - 1] : NULL;

	if (!stride || sym_is(stride, 0))
		return LANE_SAME;
	return sym_is(stride, 1) ? LANE_NEXT : LANE_FAR;
}

/* MOST_COMPARED: elements of a constant that are looked at. */
enum { FEW_STEPS_BODY = 48, FEW_STEPS_BYTES = 8, MOST_COMPARED = 1 << 16 };

/* Whether a constant has the same element in each run of lanes, as a mask of halves has. */
static bool has_even_runs(const struct emit_text *t, const struct access *at)
{
	const struct buffer *b = &t->c->lowered->buffers[at->buffer];
	size_t bytes = dtype_bytes(b->dtype), lanes = (size_t)t->c->lanes;
	const char *data = b->data;

	if (b->kind != BUFFER_CONST || !sym_is_const(b->numel) || b->numel->value > MOST_COMPARED ||
	    lanes == 1)
		return false;
	for (size_t i = 0; i + 1 < (size_t)b->numel->value; i++)
		if (i % lanes != lanes - 1 &&
		    memcmp(data + i * bytes, data + (i + 1) * bytes, bytes) != 0)
			return false;
	return true;
}

/* The element of an access that lane j has; the first lane's after the end of an open one. */
static void put_element(struct emit_text *t, const struct access *at, int j)
{
	int n = t->c->kernel->n_dims;
	bool open = cuda_is_open(t->c, at);

	buf_puts(t->out, "(");
	text_address(t, at, n, "x");
	buf_printf(t->out, ")[%d", j);
	if (j > 0) {
		buf_printf(t->out, open ? " * (x%d + %d < " : " * ", n - 1, j);
		text_number(t, open ? t->c->kernel->extent[n - 1] : at->stride[n - 1]);
		buf_puts(t->out, open ? ")" : "");
	}
	buf_puts(t->out, "]");
}

/* `to`, an array of the lanes, from memory. */
static void put_fresh_load(struct emit_text *t, const struct access *at, const char *to)
{
	const struct kernel *k = t->c->kernel;
	enum lane_step step = lane_step(k, at);
	int lanes = t->c->lanes;

	if (step == LANE_NEXT && has_even_runs(t, at) && !t->c->padded)
		step = LANE_SAME;
	if (step == LANE_NEXT && !cuda_is_open(t->c, at)) {
		buf_printf(t->out, "\tget(%s, ", to);
		text_address(t, at, k->n_dims, "x");
		buf_puts(t->out, ");\n");
		return;
	}
	for (int j = 0; j < lanes; j++) {
		if (step == LANE_SAME && j > 0) {
			buf_printf(t->out, "\t%s[%d] = %s[0];\n", to, j, to);
			continue;
		}
		buf_printf(t->out, "\t%s[%d] = ", to, j);
		put_element(t, at, j);
		buf_puts(t->out, ";\n");
	}
}

/* The same of a row that may be in shared memory. */
static void put_row_load(struct emit_text *t, const struct access *at, const char *to)
{
	int staged = cuda_staged(t->c, at);

	if (staged >= 0)
		buf_printf(t->out, "\t%s[0] = t%d[threadIdx.y * points + p];\n", to, staged);
	else
		put_fresh_load(t, at, to);
}

/* l<id>: what the lanes of a thread load, as it lies in memory. */
static void put_load(struct emit_text *t, const struct inst *inst, int id)
{
	int lanes = t->c->lanes, kept = t->c->registers ? cuda_kept(t->c, inst) : -1;
	char name[16];

	snprintf(name, sizeof(name), "l%d", id);
	buf_printf(t->out, "\t%s %s[%d];\n", text_element(inst->dtype), name, lanes);
	if (inst->join || inst->lookup)
		text_lookup(t, inst, id);
	else if (cuda_is_turned(t->c, inst))
		buf_printf(t->out,
			   "\tfor (int j = 0; j < %d; j++) %s[j] = s%d[k][threadIdx.x * %d + j];\n",
			   lanes, name, id, lanes);
	else if (kept >= 0)
		buf_printf(t->out, "\tfor (int j = 0; j < %d; j++) %s[j] = h%d[it][j];\n", lanes,
			   name, kept);
	else
		put_row_load(t, &inst->at, name);
}

static void put_store(struct emit_text *t, const struct inst *inst, int id)
{
	const struct kernel *k = t->c->kernel;
	int staged = cuda_staged(t->c, &inst->at);

	if (staged >= 0) {
		buf_printf(t->out, "\tt%d[threadIdx.y * points + p] = o%d[0];\n", staged, id);
		return;
	}
	if (cuda_is_turned(t->c, inst)) {
		buf_printf(
		    t->out,
		    "\tfor (int j = 0; j < %d; j++) s%d[k][threadIdx.x * %d + j] = o%d[j];\n",
		    t->c->lanes, id, t->c->lanes, id);
		return;
	}
	if (lane_step(k, &inst->at) == LANE_NEXT) {
		buf_puts(t->out, "\tput(");
		text_address(t, &inst->at, k->n_dims, "x");
		buf_printf(t->out, ", o%d);\n", id);
		return;
	}
	for (int j = 0; j < t->c->lanes; j++) {
		buf_puts(t->out, "\t");
		put_element(t, &inst->at, j);
		buf_printf(t->out, " = o%d[%d];\n", id, j);
	}
}

/* Where a slot keeps the lanes of this step. */
static void slot_name(const struct emit_text *t, int slot, char name[48])
{
	if (t->c->registers)
		snprintf(name, 48, "k%d[it][j]", slot);
	else if (t->c->kernel->form == FORM_COLS)
		snprintf(name, 48, "k%d[p * %d + threadIdx.x]", slot, t->c->columns);
	else
		snprintf(name, 48, "k%d[p + j]", slot);
}

/* One instruction of a body for lane j. */
static void put_lane(struct emit_text *t, const struct inst *inst, int id)
{
	char name[48], value[16];
	struct buf *out = t->out;

	switch (inst->kind) {
	case INST_LOAD:
		snprintf(name, sizeof(name), "l%d[j]", id);
		buf_printf(out, "\tconst %s r%d = ", text_value(inst->dtype), inst->dst);
		text_from_memory(t, inst->dtype, name);
		buf_puts(out, ";\n");
		break;
	case INST_RESTORE:
		slot_name(t, inst->slot, name);
		buf_printf(out, "\tconst %s r%d = ", text_value(inst->dtype), inst->dst);
		text_from_memory(t, inst->dtype, name);
		buf_puts(out, ";\n");
		break;
	case INST_SAVE:
		slot_name(t, inst->slot, name);
		buf_printf(out, "\t%s = r%d;\n", name, inst->src[0]);
		break;
	case INST_STORE:
		buf_printf(out, "\to%d[j] = r%d;\n", id, inst->src[0]);
		break;
	case INST_SCAN:
		if (t->before_scan)
			buf_printf(out, "\tv[j] = r%d;\n", inst->src[0]);
		else
			buf_printf(out, "\tconst f32 r%d = (f32)v[j];\n", inst->dst);
		break;
	case INST_REDUCE:
		buf_puts(out, t->c->padded ? "\tif (p + j < points)\n" : "");
		if (op_is_search(inst->op)) {
			buf_printf(out, "\tc%d[j].look(r%d, p + j);\n", inst->dst, inst->src[0]);
			break;
		}
		snprintf(name, sizeof(name), "c%d[j]", inst->dst);
		snprintf(value, sizeof(value), "r%d", inst->src[0]);
		buf_printf(out, "\t%s = ", name);
		text_join(t, inst->op, inst->dtype, name, value);
		buf_puts(out, ";\n");
		break;
	default:
		text_compute(t, inst);
	}
}

/* Where a body's scan is; -1: it has none. */
static int find_scan(const struct stage *stage)
{
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_SCAN)
			return i;
	return -1;
}

/* The body up to its scan, into v[]: what is stored, kept or folded before it comes after it. */
static void put_body_before(struct emit_text *t, const struct stage *stage)
{
	int n = find_scan(stage) + 1;

	t->before_scan = true;
	for (int i = 0; i < n; i++)
		if (stage->body[i].kind == INST_LOAD)
			put_load(t, &stage->body[i], i);
	buf_printf(t->out, "#pragma unroll\n\tfor (int j = 0; j < %d; j++) {\n", t->c->lanes);
	for (int i = 0; i < n; i++) {
		enum inst_kind kind = stage->body[i].kind;

		if (kind != INST_STORE && kind != INST_SAVE && kind != INST_REDUCE)
			put_lane(t, &stage->body[i], i);
	}
	buf_puts(t->out, "\t}\n");
	t->before_scan = false;
}

/* The body for the lanes at point p, whose coordinates are declared. */
static void put_body(struct emit_text *t, const struct stage *stage)
{
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_LOAD)
			put_load(t, &stage->body[i], i);
		else if (stage->body[i].kind == INST_STORE)
			buf_printf(t->out, "\t%s o%d[%d];\n", text_element(stage->body[i].dtype), i,
				   t->c->lanes);
	buf_printf(t->out, "#pragma unroll\n\tfor (int j = 0; j < %d; j++) {\n", t->c->lanes);
	for (int i = 0; i < stage->n_body; i++)
		put_lane(t, &stage->body[i], i);
	buf_puts(t->out, "\t}\n");
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_STORE)
			put_store(t, &stage->body[i], i);
}

static void put_product(struct emit_text *t, const struct sym *const *extent, int first, int last)
{
	buf_puts(t->out, "(u32)(1");
	for (int d = first; d < last; d++) {
		buf_puts(t->out, " * ");
		text_number(t, extent[d]);
	}
	buf_puts(t->out, ")");
}

/* Where a block is in the order of the grid, which may begin at its end. */
static const char *block_index(const struct cuda_kernel *c)
{
	return c->turns ? "(back ? gridDim.x - 1 - blockIdx.x : blockIdx.x)" : "blockIdx.x";
}

/* Points that lie apart: all loads, then the rest of each; the last point of all where there is
 * none. */
static void put_apart(struct emit_text *t)
{
	const struct cuda_kernel *c = t->c;
	const struct stage *stage = &c->kernel->stages[0];

	buf_printf(t->out,
		   "\tfor (u32 first = blockIdx.x * %du + threadIdx.x; first < points; "
		   "first += gridDim.x * %du) {\n",
		   c->threads * c->each, c->threads * c->each);
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_LOAD || stage->body[i].kind == INST_STORE)
			buf_printf(t->out, "\t%s %c%d[%d];\n", text_element(stage->body[i].dtype),
				   stage->body[i].kind == INST_LOAD ? 'l' : 'o', i, c->each);
	for (int after = 0; after < 2; after++) {
		buf_printf(t->out,
			   "#pragma unroll\n\tfor (int j = 0; j < %d; j++) {\n"
			   "\tconst u32 p = min(first + j * %du, points - 1);\n",
			   c->each, c->threads);
		text_coordinates(t, c->kernel->extent, 0, c->kernel->n_dims, "p");
		for (int i = 0; i < stage->n_body; i++) {
			const struct inst *inst = &stage->body[i];

			if (after)
				put_lane(t, inst, i);
			if (inst->kind != (after ? INST_STORE : INST_LOAD))
				continue;
			buf_printf(t->out,
				   after ? "\tif (first + j * %du < points) " : "\tl%d[j] = ",
				   after ? c->threads : i);
			put_element(t, &inst->at, 0);
			buf_printf(t->out, after ? " = o%d[j];\n" : ";\n", i);
		}
		buf_puts(t->out, "\t}\n");
	}
	buf_puts(t->out, "\t}\n");
}

static void put_map(struct emit_text *t)
{
	const struct cuda_kernel *c = t->c;
	const struct kernel *k = c->kernel;
	const struct sym *extent[MAX_RANK];

	memcpy(extent, k->extent, sizeof(extent));
	if (c->padded)
		extent[k->n_dims - 1] = c->padded;
	buf_puts(t->out, "\tconst u32 points = ");
	/* Flat walks of all sizes are one function. */
	t->any_size = k->n_dims == 1;
	put_product(t, extent, 0, k->n_dims);
	t->any_size = false;
	buf_puts(t->out, ";\n");
	if (c->each > 1) {
		put_apart(t);
		return;
	}
	if (cuda_kernel_strides(c))
		buf_printf(t->out,
			   "\tfor (u32 p = blockIdx.x * %du + threadIdx.x; p < points; "
			   "p += gridDim.x * %du) {\n",
			   c->threads, c->threads);
	else
		buf_printf(t->out, "\tconst u32 p = (%s * %du + threadIdx.x) * %du;\n\t%s{\n",
			   block_index(c), c->threads, c->lanes,
			   c->whole ? "" : "if (p < points) ");
	text_coordinates(t, extent, 0, k->n_dims, "p");
	put_body(t, &k->stages[0]);
	buf_puts(t->out, "\t}\n");
	text_sites_end(t);
}

/* ---- squares of two dims: what lies along the first of them is turned in shared memory */

static bool fills_squares(const struct sym *extent, int side)
{
	return sym_is_const(extent) && extent->value % side == 0;
}

/* "for (...) { ...": the lines of a square; a thread's place in one is along `along`. */
static void put_lines(struct emit_text *t, int across, int along)
{
	const struct kernel *k = t->c->kernel;
	int side = CUDA_TURN_THREADS * t->c->lanes;

	buf_printf(t->out,
		   "#pragma unroll\n\tfor (u32 i = 0; i < %d; i++) {\n"
		   "\tconst u32 k = threadIdx.y + i * %d, x%d = q%d * %d + k, "
		   "x%d = q%d * %d + threadIdx.x * %d;\n\tif (true",
		   side / CUDA_TURN_WARPS, CUDA_TURN_WARPS, across, across, side, along, along,
		   side, t->c->lanes);
	for (int i = 0; i < 2; i++) {
		int d = i ? along : across;

		if (fills_squares(k->extent[d], side))
			continue;
		buf_printf(t->out, " && x%d < (u32)", d);
		text_number(t, k->extent[d]);
	}
	buf_puts(t->out, ") {\n");
}

/* The turned loads, or stores, of the body: lines along the dim in which they lie. */
static void put_turned(struct emit_text *t, enum inst_kind kind)
{
	const struct kernel *k = t->c->kernel;
	const struct stage *stage = &k->stages[0];
	int lanes = t->c->lanes;
	bool any = false;

	for (int i = 0; i < stage->n_body; i++)
		any |= stage->body[i].kind == kind && cuda_is_turned(t->c, &stage->body[i]);
	if (!any)
		return;
	if (kind == INST_STORE)
		buf_puts(t->out, "\t__syncthreads();\n");
	put_lines(t, k->n_dims - 1, t->c->turned_dim);
	for (int i = 0; i < stage->n_body; i++) {
		const struct inst *inst = &stage->body[i];

		if (inst->kind != kind || !cuda_is_turned(t->c, inst))
			continue;
		buf_printf(t->out, "\t%s v%d[%d];\n", text_element(inst->dtype), i, lanes);
		if (kind == INST_STORE)
			buf_printf(t->out,
				   "\tfor (int j = 0; j < %d; j++) v%d[j] = s%d[threadIdx.x * %d + "
				   "j][k];\n\tput(",
				   lanes, i, i, lanes);
		else
			buf_printf(t->out, "\tget(v%d, ", i);
		text_address(t, &inst->at, k->n_dims, "x");
		if (kind == INST_STORE)
			buf_printf(t->out, ", v%d);\n", i);
		else
			buf_printf(t->out,
				   ");\n\tfor (int j = 0; j < %d; j++) s%d[threadIdx.x * %d + "
				   "j][k] = v%d[j];\n",
				   lanes, i, lanes, i);
	}
	buf_puts(t->out, "\t}\n\t}\n");
	if (kind == INST_LOAD)
		buf_puts(t->out, "\t__syncthreads();\n");
}

/* q<dim>: which square this block has, and x<dim> of all other dims. */
static void put_square(struct emit_text *t)
{
	const struct kernel *k = t->c->kernel;
	int side = CUDA_TURN_THREADS * t->c->lanes;

	buf_puts(t->out, "\tu32 block = blockIdx.x;\n");
	for (int d = k->n_dims - 1; d >= 0; d--) {
		bool squared = d == k->n_dims - 1 || d == t->c->turned_dim;

		buf_printf(t->out, "\tconst u32 n%d = ((u32)", d);
		text_number(t, k->extent[d]);
		buf_printf(t->out, " + %du) / %du, %c%d = block %% n%d;\n\tblock /= n%d;\n",
			   squared ? side - 1 : 0, squared ? side : 1, squared ? 'q' : 'x', d, d,
			   d);
	}
	for (int i = 0; i < k->stages[0].n_body; i++)
		if (cuda_is_turned(t->c, &k->stages[0].body[i]))
			buf_printf(t->out, "\t__shared__ %s s%d[%d][%d];\n",
				   text_element(k->stages[0].body[i].dtype), i, side, side + 1);
}

static void put_map_turned(struct emit_text *t)
{
	const struct kernel *k = t->c->kernel;

	put_square(t);
	put_turned(t, INST_LOAD);
	put_lines(t, t->c->turned_dim, k->n_dims - 1);
	put_body(t, &k->stages[0]);
	buf_puts(t->out, "\t}\n\t}\n");
	text_sites_end(t);
	put_turned(t, INST_STORE);
}

/* Whether a column that is not there may run the stage, on what lies in the first column. */
static bool may_run_anywhere(const struct cuda_kernel *c, const struct stage *stage)
{
	if (c->kernel->form != FORM_COLS)
		return false;
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_STORE || stage->body[i].lookup)
			return false;
	return true;
}

/* "if (live && p < points) {", as far as that is not known: a load after a branch waits
 * for it, and what compares takes time to compile. */
static const char *if_there(const struct cuda_kernel *c, const struct stage *stage)
{
	bool live = c->all_live || may_run_anywhere(c, stage);

	return c->whole ? live ? "{" : "if (live) {"
	       : live   ? "if (p < points) {"
			: "if (live && p < points) {";
}

/* A step of a thread in its row: the point p, if there is one. */
static void put_step(struct emit_text *t, const struct stage *stage, const char *step,
		     const char *thread)
{
	const struct kernel *k = t->c->kernel;

	buf_printf(t->out, "\tconst u32 p = (%s%s) * %du;\n\t%s\n", step, thread, t->c->lanes,
		   if_there(t->c, stage));
	text_coordinates(t, k->extent, k->n_outer, k->n_dims, "p");
}

/* For each step of a thread in registers; what is loaded of a column first of all (`stage` NULL) is
 * of some point of it in each step: no branch is in the way. */
static void put_unrolled(struct emit_text *t, const struct stage *stage, const char *thread)
{
	const struct kernel *k = t->c->kernel;
	char step[32];

	snprintf(step, sizeof(step), "it * %du + ", t->c->threads);
	buf_puts(t->out, "#pragma unroll\n\tfor (int it = 0; it < steps; it++) {\n");
	if (stage) {
		put_step(t, stage, step, thread);
		return;
	}
	buf_printf(t->out, "\tconst u32 p = min(%s%s, points - 1);\n\t{\n", step, thread);
	text_coordinates(t, k->extent, k->n_outer, k->n_dims, "p");
}

/* All loads that stages share are under way before the first of them waits. */
static void put_kept_loads(struct emit_text *t, const char *thread)
{
	const struct cuda_kernel *c = t->c;
	char name[24];

	for (int i = 0; c->registers && c->rows_each == 1 && i < c->n_kept; i++) {
		put_unrolled(t, c->kernel->form == FORM_COLS ? NULL : c->kernel->stages, thread);
		snprintf(name, sizeof(name), "h%d[it]", i);
		put_row_load(t, c->kept[i], name);
		buf_puts(t->out, "\t}\n\t}\n");
	}
}

/* The same with a scan: all threads of a row take each step together, have what comes before
 * their points from those before them, and what comes before the step from the last one. */
static void put_scanned(struct emit_text *t, const struct stage *stage, const char *thread)
{
	const struct cuda_kernel *c = t->c;
	const struct kernel *k = c->kernel;
	int step = c->threads * c->lanes;

	buf_puts(t->out, "\tf64 carry = 0;\n");
	if (c->registers)
		buf_puts(t->out, "#pragma unroll\n\tfor (int it = 0; it < steps; it++) {\n");
	else
		buf_printf(t->out, "\tfor (u32 it = 0; it < (points + %du) / %du; it++) {\n",
			   step - 1, step);
	buf_printf(
	    t->out,
	    "\tconst u32 p = (it * %du + %s) * %du;\n\tconst bool here = live && p < "
	    "points;\n\tf64 v[%d];\n\tfor (int j = 0; j < %d; j++) v[j] = 0;\n\tif (here) {\n",
	    c->threads, thread, c->lanes, c->lanes, c->lanes);
	text_coordinates(t, k->extent, k->n_outer, k->n_dims, "p");
	put_body_before(t, stage);
	buf_printf(t->out,
		   "\t}\n\tfor (int j = 1; j < %d; j++) v[j] += v[j - 1];\n"
		   "\tf64 all;\n\tconst f64 ahead = carry + sum_ahead<%d, %d>(v[%d], &all);\n"
		   "\tfor (int j = 0; j < %d; j++) v[j] += ahead;\n\tcarry += all;\n"
		   "\tif (here) {\n",
		   c->lanes, c->threads, c->rows_a_block, c->lanes - 1, c->lanes);
	text_coordinates(t, k->extent, k->n_outer, k->n_dims, "p");
	put_body(t, stage);
	text_steps(t, stage);
	buf_puts(t->out, "\t}\n\t}\n");
	text_sites_end(t);
}

/* Whether a step down a column loads so little that several of them are to be under way at once,
 * and is short enough to be compiled as often. */
static bool has_few_bytes(const struct emit_text *t, const struct stage *stage)
{
	size_t bytes = 0;

	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_LOAD)
			bytes += dtype_bytes(stage->body[i].dtype);
	return t->c->kernel->form == FORM_COLS && stage->n_body <= FEW_STEPS_BODY && bytes > 0 &&
	       bytes <= FEW_STEPS_BYTES;
}

/* The points of a row, `threads` at a time; a thread sees the same ones in each stage. */
static void put_points(struct emit_text *t, const struct stage *stage, const char *thread)
{
	const struct cuda_kernel *c = t->c;
	const struct kernel *k = c->kernel;

	if (find_scan(stage) >= 0) {
		put_scanned(t, stage, thread);
		return;
	}
	if (c->rows_each > 1) {
		buf_puts(t->out, "\t{\n");
		put_step(t, stage, "", thread);
	} else if (c->registers) {
		put_unrolled(t, stage, thread);
	} else {
		if (cuda_kernel_is_one_step(c))
			buf_printf(t->out, "\t{\n\tconst u32 p = %s * %du;\n\t%s\n", thread,
				   c->lanes, if_there(c, stage));
		else
			buf_printf(t->out,
				   "%s\tfor (u32 p = (%s%s) * %du; %sp < end; p += %du) {\n\t{\n",
				   has_few_bytes(t, stage) ? "#pragma unroll 4\n" : "",
				   c->splits ? "begin + " : "", thread, c->lanes,
				   c->all_live ? "" : "live && ", c->threads * c->lanes);
		text_coordinates(t, k->extent, k->n_outer, k->n_dims, "p");
	}
	put_body(t, stage);
	text_steps(t, stage);
	buf_puts(t->out, "\t}\n\t}\n");
	text_sites_end(t);
}

static void put_slots(struct emit_text *t)
{
	const struct kernel *k = t->c->kernel;
	struct buf *out = t->out;

	if (k->n_slots == 0 && !t->c->registers)
		return;
	if (t->c->registers) {
		if (t->c->rows_each > 1)
			buf_printf(out, "\tconstexpr int steps = %d;\n", t->c->rows_each);
		else
			buf_printf(out, "\tconstexpr int steps = (points + %d - 1) / %d;\n",
				   t->c->threads * t->c->lanes, t->c->threads * t->c->lanes);
		for (int s = 0; s < k->n_slots; s++)
			buf_printf(out, "\t%s k%d[steps][%d];\n", text_element(k->slot_dtype[s]), s,
				   t->c->lanes);
		for (int i = 0; i < t->c->n_kept; i++)
			buf_printf(
			    out, "\t%s h%d[steps][%d];\n",
			    text_element(t->c->lowered->buffers[t->c->kept[i]->buffer].dtype), i,
			    t->c->lanes);
		return;
	}
	buf_puts(out, "\textern __shared__ __align__(16) char near_slots[];\n"
		      "\tchar *slot = slots ? slots : near_slots;\n");
	if (k->form == FORM_COLS)
		buf_puts(out, "\tslot += slots ? blockIdx.x * slot_bytes : 0;\n");
	else
		buf_printf(out,
			   "\tslot += ((slots ? (i64)blockIdx.x * %d : 0) + threadIdx.y) * "
			   "slot_bytes;\n",
			   t->c->rows_a_block);
	for (int s = 0; s < k->n_slots; s++)
		buf_printf(out,
			   "\t%s *const k%d = (%s *)slot;\n\tslot += ((i64)points * %d * "
			   "sizeof(%s) + 63) / 64 * 64;\n",
			   text_element(k->slot_dtype[s]), s, text_element(k->slot_dtype[s]),
			   k->form == FORM_COLS ? t->c->columns : 1,
			   text_element(k->slot_dtype[s]));
}

/* The part of a row that is this block's. */
static void put_share(struct emit_text *t)
{
	int step = t->c->threads * t->c->lanes;

	if (!t->c->splits) {
		buf_puts(t->out, "\tconst u32 end = points;\n");
		return;
	}
	buf_printf(t->out,
		   "\tconst u32 share = ((points + %du) / %du + gridDim.y - 1) / gridDim.y;\n"
		   "\tconst u32 begin = blockIdx.y * share * %du;\n"
		   "\tconst u32 end = min(points, (blockIdx.y + 1) * share * %du);\n",
		   step - 1, step, t->c->threads, step);
}

/* What the threads of a row do with it. */
static void put_row(struct emit_text *t, const char *thread)
{
	const struct kernel *k = t->c->kernel;

	text_once(t, k->prologue, k->n_prologue);
	for (int s = 0; s < k->n_stages; s++) {
		text_accumulators(t, &k->stages[s]);
		put_points(t, &k->stages[s], thread);
		text_results(t, &k->stages[s]);
		text_once(t, k->stages[s].post, k->stages[s].n_post);
	}
}

/* Before them: how many points there are, whose they are, and where what is kept of them lies. */
static void put_room(struct emit_text *t)
{
	const struct kernel *k = t->c->kernel;

	buf_printf(t->out, "\t%s u32 points = ", t->c->registers ? "constexpr" : "const");
	put_product(t, k->extent, k->n_outer, k->n_dims);
	buf_puts(t->out, ";\n");
	put_share(t);
	put_slots(t);
}

static void put_stages(struct emit_text *t, const char *thread)
{
	put_room(t);
	cuda_staged_emit(t, true);
	put_kept_loads(t, thread);
	put_row(t, thread);
	cuda_staged_emit(t, false);
}

/* Which row of the block's share it is, `step` of them after the first ones. */
static void put_which_row(struct emit_text *t, const char *step)
{
	const struct cuda_kernel *c = t->c;
	const struct kernel *k = c->kernel;

	buf_printf(t->out,
		   "\tconst u32 group = (%s * %du%s) * %du + threadIdx.y;\n"
		   "\tconst bool live = %s;\n\tconst u32 row = live ? group : 0;\n",
		   block_index(c), c->rows_each, step, c->rows_a_block,
		   c->all_live ? "true" : "group < rows");
	text_coordinates(t, k->extent, 0, k->n_outer, "row");
}

/* All loads of several rows, then each row. */
static void put_rows_each(struct emit_text *t)
{
	const char *each = "#pragma unroll\n\tfor (int it = 0; it < steps; it++) {\n";
	const struct cuda_kernel *c = t->c;
	char name[24];

	put_room(t);
	buf_puts(t->out, each);
	put_which_row(t, " + it");
	put_step(t, t->c->kernel->stages, "", "threadIdx.x");
	for (int i = 0; i < c->n_kept; i++) {
		snprintf(name, sizeof(name), "h%d[it]", i);
		put_fresh_load(t, c->kept[i], name);
	}
	buf_printf(t->out, "\t}\n\t}\n%s", each);
	put_which_row(t, " + it");
	put_row(t, "threadIdx.x");
	buf_puts(t->out, "\t}\n");
}

static void put_rows(struct emit_text *t)
{
	const struct kernel *k = t->c->kernel;

	buf_puts(t->out, "\tconst u32 rows = ");
	put_product(t, k->extent, 0, k->n_outer);
	buf_puts(t->out, ";\n\tconst bool first_of_team = threadIdx.x == 0;\n");
	if (t->c->rows_each > 1) {
		put_rows_each(t);
		return;
	}
	put_which_row(t, "");
	put_stages(t, "threadIdx.x");
}

static void put_cols(struct emit_text *t)
{
	const struct kernel *k = t->c->kernel;
	int d = k->n_outer - 1;

	buf_puts(t->out, "\tconst u32 width = (u32)");
	text_number(t, k->extent[d]);
	buf_printf(
	    t->out,
	    ", group = blockIdx.x;\n\tconst u32 across = (width + %d) / %d;\n"
	    "\tconst u32 row = group / across, column = group %% across * %d + threadIdx.x;\n"
	    "\tconst bool live = %s, first_of_team = threadIdx.y == 0;\n"
	    "\tconst u32 x%d = live ? column : 0;\n",
	    t->c->columns - 1, t->c->columns, t->c->columns,
	    t->c->all_live ? "true" : "column < width", d);
	text_coordinates(t, k->extent, 0, d, "row");
	put_stages(t, "threadIdx.y");
}

static void put_parameters(struct emit_text *t)
{
	const struct cuda_kernel *c = t->c;
	const char *comma = "";

	for (int i = 0; i < c->n_buffers; i++, comma = ", ") {
		enum dtype dtype = c->lowered->buffers[c->buffers[i]].dtype;

		/* What is only read may be loaded before other points are stored. */
		if (c->stored[c->buffers[i]])
			buf_printf(t->out, "%s%s *b%d", comma, text_element(dtype), i);
		else
			buf_printf(t->out, "%sconst %s *__restrict__ b%d", comma,
				   text_element(dtype), i);
	}
	for (size_t i = 0; i < c->numbers.len; i++, comma = ", ")
		buf_printf(t->out, "%si64 z%zu", comma, i);
	if (c->sites.len > 0)
		buf_puts(t->out, ", launch_fault *fault, const char *sites");
	if (c->splits)
		buf_puts(t->out, ", unsigned long long *part, u32 *count");
	if (c->kernel->n_slots > 0 && !c->registers)
		buf_puts(t->out, ", char *slots, i64 slot_bytes");
	if (c->turns)
		buf_puts(t->out, ", u32 back");
}

bool cuda_scans_rows(const struct kernel *k)
{
	for (int s = 0; s < k->n_stages; s++)
		if (find_scan(&k->stages[s]) >= 0)
			return true;
	return false;
}

void cuda_kernel_emit(struct buf *out, struct cuda_kernel *c)
{
	const struct kernel *k = c->kernel;
	struct buf body;
	struct emit_text t = { .out = &body, .c = c };

	buf_init(&body, 0);
	text_once(&t, k->setup, k->n_setup);
	if (c->turned_dim >= 0)
		put_map_turned(&t);
	else if (k->form == FORM_MAP)
		put_map(&t);
	else if (c->pairs)
		cuda_pairs_emit(&t);
	else if (k->form == FORM_ROWS)
		put_rows(&t);
	else
		put_cols(&t);
	t.out = out;
	buf_puts(out, "(");
	put_parameters(&t);
	buf_puts(out, ")\n{\n");
	for (size_t i = 0; i < c->sites.len; i++)
		buf_printf(out, "\ti64 w%zu = LOWEST_i64;\n", i);
	buf_add(out, body.data, body.len);
	buf_puts(out, "}\n");
	out->failed |= body.failed;
	buf_finish(&body);
}
