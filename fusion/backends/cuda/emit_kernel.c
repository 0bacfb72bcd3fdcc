/* fusion/backends/cuda/emit_kernel.c -- the function of one kernel. */
#include <stdio.h>

#include "fusion/backends/cuda/text.h"

/* How an access of a body goes over the lanes of a thread. */
enum lane_step { LANE_SAME, LANE_NEXT, LANE_FAR };

static enum lane_step lane_step(const struct kernel *k, const struct access *at)
{
	const struct sym *stride = k->n_dims ? at->stride[k->n_dims - 1] : NULL;

	if (!stride || sym_is(stride, 0))
		return LANE_SAME;
	return sym_is(stride, 1) ? LANE_NEXT : LANE_FAR;
}

/* Loads of a join: which part a point is in decides where it lies. */
static void put_join(struct text *t, const struct inst *inst, int id)
{
	const struct join *join = inst->join;
	struct buf *out = t->out;

	buf_printf(out, "\tfor (int j = 0; j < %d; j++) {\n\tu32 q = p + j;\n", t->c->lanes);
	for (int d = join->rank - 1; d >= 0; d--) {
		buf_printf(out, "\tconst u32 w%d = (u32)(", d);
		for (int i = 0; d == join->dim && i < join->n; i++) {
			buf_puts(out, i ? " + " : "");
			text_number(t, join->part[i].extent[d]);
		}
		if (d != join->dim)
			text_number(t, join->part[0].extent[d]);
		buf_printf(out, ");\n\t%su32 y%d = q %% w%d;\n\tq /= w%d;\n",
			   d == join->dim ? "" : "const ", d, d, d);
	}
	for (int i = 0; i < join->n; i++) {
		if (i + 1 < join->n) {
			buf_printf(out, "\tif (y%d < (u32)", join->dim);
			text_number(t, join->part[i].extent[join->dim]);
			buf_puts(out, ") ");
		}
		buf_printf(out, "{ l%d[j] = *(", id);
		text_address(t, &join->part[i].at, join->rank, "y");
		buf_puts(out, "); }\n");
		if (i + 1 < join->n) {
			buf_printf(out, "\telse { y%d -= (u32)", join->dim);
			text_number(t, join->part[i].extent[join->dim]);
			buf_puts(out, ";\n");
		}
	}
	for (int i = 0; i + 1 < join->n; i++)
		buf_puts(out, "\t}");
	buf_puts(out, "\n\t}\n");
}

/* `to`, an array of the lanes, from memory. */
static void put_fresh_load(struct text *t, const struct access *at, const char *to)
{
	const struct kernel *k = t->c->kernel;
	enum lane_step step = lane_step(k, at);
	int lanes = t->c->lanes;

	if (step == LANE_NEXT) {
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
		buf_printf(t->out, "\t%s[%d] = (", to, j);
		text_address(t, at, k->n_dims, "x");
		buf_puts(t->out, ")[");
		if (j > 0) {
			buf_printf(t->out, "%d * ", j);
			text_number(t, at->stride[k->n_dims - 1]);
		} else {
			buf_puts(t->out, "0");
		}
		buf_puts(t->out, "];\n");
	}
}

/* l<id>: what the lanes of a thread load, as it lies in memory. */
static void put_load(struct text *t, const struct inst *inst, int id)
{
	int lanes = t->c->lanes, kept = t->c->registers ? cuda_kept(t->c, inst) : -1;
	char name[16];

	snprintf(name, sizeof(name), "l%d", id);
	buf_printf(t->out, "\t%s %s[%d];\n", text_element(inst->dtype), name, lanes);
	if (inst->join)
		put_join(t, inst, id);
	else if (kept >= 0)
		buf_printf(t->out, "\tfor (int j = 0; j < %d; j++) %s[j] = h%d[it][j];\n", lanes,
			   name, kept);
	else
		put_fresh_load(t, &inst->at, name);
}

static void put_store(struct text *t, const struct inst *inst, int id)
{
	const struct kernel *k = t->c->kernel;

	if (lane_step(k, &inst->at) == LANE_NEXT) {
		buf_puts(t->out, "\tput(");
		text_address(t, &inst->at, k->n_dims, "x");
		buf_printf(t->out, ", o%d);\n", id);
		return;
	}
	for (int j = 0; j < t->c->lanes; j++) {
		buf_puts(t->out, "\t(");
		text_address(t, &inst->at, k->n_dims, "x");
		buf_puts(t->out, ")[");
		if (j > 0) {
			buf_printf(t->out, "%d * ", j);
			text_number(t, inst->at.stride[k->n_dims - 1]);
		} else {
			buf_puts(t->out, "0");
		}
		buf_printf(t->out, "] = o%d[%d];\n", id, j);
	}
}

/* Where a slot keeps the lanes of this step. */
static void slot_name(const struct text *t, int slot, char name[48])
{
	if (t->c->registers)
		snprintf(name, 48, "k%d[it][j]", slot);
	else if (t->c->kernel->form == FORM_COLS)
		snprintf(name, 48, "k%d[p * %d + threadIdx.x]", slot, CUDA_COLUMNS);
	else
		snprintf(name, 48, "k%d[p + j]", slot);
}

/* One instruction of a body for lane j. */
static void put_lane(struct text *t, const struct inst *inst, int id)
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
	case INST_REDUCE:
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

/* The body for the lanes at point p, whose coordinates are declared. */
static void put_body(struct text *t, const struct stage *stage)
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

static void put_product(struct text *t, const struct sym *const *extent, int first, int last)
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

static void put_map(struct text *t)
{
	const struct cuda_kernel *c = t->c;
	const struct kernel *k = c->kernel;

	buf_puts(t->out, "\tconst u32 points = ");
	put_product(t, k->extent, 0, k->n_dims);
	buf_puts(t->out, ";\n");
	if (cuda_kernel_strides(c))
		buf_printf(t->out,
			   "\tfor (u32 p = blockIdx.x * %du + threadIdx.x; p < points; "
			   "p += gridDim.x * %du) {\n",
			   c->threads, c->threads);
	else
		buf_printf(t->out, "\tconst u32 p = (%s * %du + threadIdx.x) * %du;\n\t%s{\n",
			   block_index(c), c->threads, c->lanes,
			   c->whole ? "" : "if (p < points) ");
	text_coordinates(t, k->extent, 0, k->n_dims, "p", "x");
	put_body(t, &k->stages[0]);
	buf_puts(t->out, "\t}\n");
}

/* A prologue, or a post: once a row (COLS: once a column). */
static void put_once(struct text *t, const struct inst *insts, int n)
{
	for (int i = 0; i < n; i++)
		if (insts[i].kind == INST_LOAD)
			text_load_one(t, &insts[i]);
		else if (insts[i].kind != INST_STORE)
			text_compute(t, &insts[i]);
	for (int i = 0; i < n; i++)
		if (insts[i].kind == INST_STORE) {
			buf_puts(t->out, "\tif (first_of_team && live) {");
			text_store_one(t, &insts[i]);
			buf_puts(t->out, "\t}\n");
		}
}

/* "if (live && p < points) {", as far as that is not known: a load behind a branch waits
 * for it, and what compares takes time to compile. */
static const char *if_there(const struct cuda_kernel *c)
{
	return c->whole      ? c->all_live ? "{" : "if (live) {"
	       : c->all_live ? "if (p < points) {"
			     : "if (live && p < points) {";
}

/* For each step of a thread in registers: its point p, if there is one. */
static void put_unrolled(struct text *t, const char *thread)
{
	buf_printf(t->out,
		   "#pragma unroll\n\tfor (int it = 0; it < steps; it++) {\n"
		   "\tconst u32 p = (it * %du + %s) * %du;\n\t%s\n",
		   t->c->threads, thread, t->c->lanes, if_there(t->c));
	text_coordinates(t, t->c->kernel->extent, t->c->kernel->n_outer, t->c->kernel->n_dims, "p",
			 "x");
}

/* All loads that stages share are under way before the first of them waits. */
static void put_kept_loads(struct text *t, const char *thread)
{
	const struct cuda_kernel *c = t->c;
	char name[24];

	for (int i = 0; c->registers && i < c->n_kept; i++) {
		put_unrolled(t, thread);
		snprintf(name, sizeof(name), "h%d[it]", i);
		put_fresh_load(t, c->kept[i], name);
		buf_puts(t->out, "\t}\n\t}\n");
	}
}

/* The points of a row, `threads` at a time; a thread sees the same ones in each stage. */
static void put_points(struct text *t, const struct stage *stage, const char *thread)
{
	const struct cuda_kernel *c = t->c;
	const struct kernel *k = c->kernel;

	if (c->registers) {
		put_unrolled(t, thread);
	} else {
		if (cuda_kernel_is_one_step(c))
			buf_printf(t->out, "\t{\n\tconst u32 p = %s * %du;\n\t%s\n", thread,
				   c->lanes, if_there(c));
		else
			buf_printf(t->out,
				   "\tfor (u32 p = (%s%s) * %du; %sp < end; p += %du) {\n\t{\n",
				   c->splits ? "begin + " : "", thread, c->lanes,
				   c->all_live ? "" : "live && ", c->threads * c->lanes);
		text_coordinates(t, k->extent, k->n_outer, k->n_dims, "p", "x");
	}
	put_body(t, stage);
	text_steps(t, stage);
	buf_puts(t->out, "\t}\n\t}\n");
}

static void put_slots(struct text *t)
{
	const struct kernel *k = t->c->kernel;
	struct buf *out = t->out;

	if (k->n_slots == 0 && !t->c->registers)
		return;
	if (t->c->registers) {
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
			   "sizeof(%s) + 15) / 16 * 16;\n",
			   text_element(k->slot_dtype[s]), s, text_element(k->slot_dtype[s]),
			   k->form == FORM_COLS ? CUDA_COLUMNS : 1, text_element(k->slot_dtype[s]));
}

/* The part of a row that is this block's. */
static void put_share(struct text *t)
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

static void put_stages(struct text *t, const char *thread)
{
	const struct kernel *k = t->c->kernel;

	buf_printf(t->out, "\t%s u32 points = ", t->c->registers ? "constexpr" : "const");
	put_product(t, k->extent, k->n_outer, k->n_dims);
	buf_puts(t->out, ";\n");
	put_share(t);
	put_slots(t);
	put_kept_loads(t, thread);
	put_once(t, k->prologue, k->n_prologue);
	for (int s = 0; s < k->n_stages; s++) {
		text_accumulators(t, &k->stages[s]);
		put_points(t, &k->stages[s], thread);
		text_results(t, &k->stages[s]);
		put_once(t, k->stages[s].post, k->stages[s].n_post);
	}
}

static void put_rows(struct text *t)
{
	const struct kernel *k = t->c->kernel;

	buf_puts(t->out, "\tconst u32 rows = ");
	put_product(t, k->extent, 0, k->n_outer);
	buf_printf(t->out,
		   ";\n\tconst u32 group = %s * %du + threadIdx.y;\n"
		   "\tconst bool live = %s, first_of_team = threadIdx.x == 0;\n"
		   "\tconst u32 row = live ? group : 0;\n",
		   block_index(t->c), t->c->rows_a_block, t->c->all_live ? "true" : "group < rows");
	text_coordinates(t, k->extent, 0, k->n_outer, "row", "x");
	put_stages(t, "threadIdx.x");
}

static void put_cols(struct text *t)
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
	    CUDA_COLUMNS - 1, CUDA_COLUMNS, CUDA_COLUMNS,
	    t->c->all_live ? "true" : "column < width", d);
	text_coordinates(t, k->extent, 0, d, "row", "x");
	put_stages(t, "threadIdx.y");
}

static void put_parameters(struct text *t)
{
	const struct cuda_kernel *c = t->c;
	const char *comma = "";

	for (int i = 0; i < c->n_buffers; i++, comma = ", ") {
		enum dtype dtype = c->lowered->buffers[c->buffers[i]].dtype;

		/* What is only read may be loaded before other points are stored. */
		if (c->stored[c->buffers[i]])
			buf_printf(t->out, "%s%s *b%d", comma, text_element(dtype), c->buffers[i]);
		else
			buf_printf(t->out, "%sconst %s *__restrict__ b%d", comma,
				   text_element(dtype), c->buffers[i]);
	}
	for (size_t i = 0; i < c->numbers.len; i++, comma = ", ")
		buf_printf(t->out, "%si64 z%zu", comma, i);
	if (c->splits)
		buf_puts(t->out, ", unsigned long long *part, u32 *count");
	if (c->kernel->n_slots > 0 && !c->registers)
		buf_puts(t->out, ", char *slots, i64 slot_bytes");
	if (c->turns)
		buf_puts(t->out, ", u32 back");
}

void cuda_kernel_emit(struct buf *out, struct cuda_kernel *c)
{
	const struct kernel *k = c->kernel;
	struct buf body;
	struct text t = { .out = &body, .c = c };
	int threads = k->form == FORM_COLS ? c->threads * CUDA_COLUMNS
					   : c->threads * c->rows_a_block;

	buf_init(&body, 0);
	for (int i = 0; i < k->n_setup; i++)
		if (k->setup[i].kind == INST_LOAD)
			text_load_one(&t, &k->setup[i]);
		else
			text_compute(&t, &k->setup[i]);
	if (k->form == FORM_MAP)
		put_map(&t);
	else if (k->form == FORM_ROWS)
		put_rows(&t);
	else
		put_cols(&t);
	buf_printf(out, "// %s\nextern \"C\" __global__ void __launch_bounds__(%d) k%d(", k->name,
		   threads, c->index);
	t.out = out;
	put_parameters(&t);
	buf_puts(out, ")\n{\n");
	buf_add(out, body.data, body.len);
	buf_puts(out, "}\n");
	out->failed |= body.failed;
	buf_finish(&body);
}
