/* fusion/backends/cuda/kernel/pairs.c -- COLS of pairs (lower.h): rows of one operand meet rows of
 * another.
 *
 * A block has a square of rows of both in shared memory, REDUCE_RUN points at a time, and a
 * thread the sums of CUDA_PAIR_EACH by as many pairs of them: each element that is read from
 * there is used as often.
 */
#include <stdio.h>

#include "fusion/backends/cuda/kernel/text.h"

/* The dim of a pair along which the load moves. */
static int pair_dim(const struct kernel *k, const struct inst *load)
{
	int column = k->n_outer - 1;

	return sym_is(load->at.stride[column], 0) ? column - 1 : column;
}

/* s<load>[k][l]: so many points of the square's rows; those that are not there are 0. */
static void put_pair_load(struct emit_text *t, const struct inst *inst, int id)
{
	const struct kernel *k = t->c->kernel;
	int d = pair_dim(k, inst), p = k->n_dims - 1;
	bool across = sym_is(inst->at.stride[d], 1);
	int run = across ? CUDA_PAIR_SIDE : REDUCE_RUN;

	buf_printf(
	    t->out,
	    "#pragma unroll\n\tfor (u32 e = threadIdx.y * %d + threadIdx.x; e < %d; e += %d) {\n"
	    "\tconst u32 k = e %c %d, l = e %c %d, x%d = q%d * %d + l, x%d = first + k;\n"
	    "\ts%d[k][l] = x%d < n%d && x%d < points ? *(",
	    CUDA_PAIR_THREADS, CUDA_PAIR_SIDE * REDUCE_RUN, CUDA_PAIR_THREADS * CUDA_PAIR_THREADS,
	    across ? '/' : '%', run, across ? '%' : '/', run, d, d, CUDA_PAIR_SIDE, p, id, d, d, p);
	text_address(t, &inst->at, k->n_dims, "x");
	buf_puts(t->out, ") : 0;\n\t}\n");
}

static void put_pair_reduce(struct emit_text *t, const struct inst *inst)
{
	char acc[24], value[16];

	snprintf(acc, sizeof(acc), "c%d[i][j]", inst->dst);
	snprintf(value, sizeof(value), "r%d", inst->src[0]);
	buf_printf(t->out, "\t%s = ", acc);
	text_join(t, inst->op, inst->dtype, acc, value);
	buf_puts(t->out, ";\n");
}

/* The body for all pairs of a thread, at point k of those that lie in shared memory. */
static void put_pair_body(struct emit_text *t, const struct stage *stage)
{
	const struct kernel *k = t->c->kernel;

	for (int i = 0; i < stage->n_body; i++) {
		if (stage->body[i].kind != INST_LOAD)
			continue;
		buf_printf(t->out,
			   "\tf32 l%d[%d];\n#pragma unroll\n\tfor (int i = 0; i < %d; i++) "
			   "l%d[i] = s%d[k][threadIdx.%c + i * %d];\n",
			   i, CUDA_PAIR_EACH, CUDA_PAIR_EACH, i, i,
			   pair_dim(k, &stage->body[i]) == k->n_outer - 1 ? 'x' : 'y',
			   CUDA_PAIR_THREADS);
	}
	buf_printf(t->out,
		   "#pragma unroll\n\tfor (int i = 0; i < %d; i++)\n#pragma unroll\n"
		   "\tfor (int j = 0; j < %d; j++) {\n",
		   CUDA_PAIR_EACH, CUDA_PAIR_EACH);
	for (int i = 0; i < stage->n_body; i++) {
		const struct inst *inst = &stage->body[i];

		if (inst->kind == INST_LOAD)
			buf_printf(t->out, "\tconst f32 r%d = l%d[%c];\n", inst->dst, i,
				   pair_dim(k, inst) == k->n_outer - 1 ? 'j' : 'i');
		else if (inst->kind == INST_REDUCE)
			put_pair_reduce(t, inst);
		else
			text_compute(t, inst);
	}
	buf_puts(t->out, "\t}\n");
}

/* For each reduction, and each pair of a thread. */
static void each_pair(struct emit_text *t, const struct stage *stage,
		      void (*put)(struct emit_text *t, const struct inst *inst))
{
	for (int i = 0; i < stage->n_body; i++) {
		if (stage->body[i].kind != INST_REDUCE)
			continue;
		buf_printf(t->out,
			   "#pragma unroll\n\tfor (int i = 0; i < %d; i++)\n#pragma unroll\n"
			   "\tfor (int j = 0; j < %d; j++) {\n",
			   CUDA_PAIR_EACH, CUDA_PAIR_EACH);
		put(t, &stage->body[i]);
		buf_puts(t->out, "\t}\n");
	}
}

static void put_pair_first(struct emit_text *t, const struct inst *inst)
{
	int r = inst->dst;

	buf_printf(t->out, "\tw%d[i][j] = j%d::first();\n\tc%d[i][j] = ", r, r, r);
	text_first(t, inst->op, inst->dtype);
	buf_puts(t->out, ";\n");
}

static void put_pair_join(struct emit_text *t, const struct inst *inst)
{
	int r = inst->dst;

	buf_printf(t->out, "\tw%d[i][j] = j%d::join(w%d[i][j], c%d[i][j]);\n\tc%d[i][j] = ", r, r,
		   r, r, r);
	text_first(t, inst->op, inst->dtype);
	buf_puts(t->out, ";\n");
}

/* q<dim>: which square this block has, and x<dim> of the dims before; what threads share. */
static void put_pair_square(struct emit_text *t, const struct stage *stage)
{
	const struct kernel *k = t->c->kernel;

	buf_puts(t->out, "\tconst u32 points = (u32)");
	text_number(t, k->extent[k->n_dims - 1]);
	buf_puts(t->out, ";\n\tu32 block = blockIdx.x;\n");
	for (int d = k->n_outer - 1; d >= 0; d--) {
		int side = d >= k->n_outer - 2 ? CUDA_PAIR_SIDE : 1;

		buf_printf(t->out, "\tconst u32 n%d = (u32)", d);
		text_number(t, k->extent[d]);
		buf_printf(t->out,
			   ", m%d = (n%d + %d) / %d, %c%d = block %% m%d;\n\tblock /= m%d;\n", d, d,
			   side - 1, side, side > 1 ? 'q' : 'x', d, d, d);
	}
	for (int i = 0; i < stage->n_body; i++) {
		const struct inst *inst = &stage->body[i];

		if (inst->kind == INST_LOAD)
			buf_printf(t->out, "\t__shared__ %s s%d[%d][%d];\n",
				   text_element(inst->dtype), i, REDUCE_RUN, CUDA_PAIR_SIDE + 1);
		if (inst->kind != INST_REDUCE)
			continue;
		text_joiner(t, inst);
		buf_printf(t->out, "\tf32 c%d[%d][%d];\n\t%s w%d[%d][%d];\n", inst->dst,
			   CUDA_PAIR_EACH, CUDA_PAIR_EACH, text_wide(inst), inst->dst,
			   CUDA_PAIR_EACH, CUDA_PAIR_EACH);
	}
	each_pair(t, stage, put_pair_first);
}

/* What comes of each pair, once its sums are known. */
static void put_pair_results(struct emit_text *t, const struct stage *stage)
{
	const struct kernel *k = t->c->kernel;
	int column = k->n_outer - 1, row = column - 1;

	buf_printf(t->out,
		   "#pragma unroll\n\tfor (int i = 0; i < %d; i++)\n#pragma unroll\n"
		   "\tfor (int j = 0; j < %d; j++) {\n"
		   "\tconst u32 x%d = q%d * %d + threadIdx.y + i * %d, "
		   "x%d = q%d * %d + threadIdx.x + j * %d;\n"
		   "\tconst bool live = true, first_of_team = true;\n"
		   "\tif (x%d >= n%d || x%d >= n%d) continue;\n",
		   CUDA_PAIR_EACH, CUDA_PAIR_EACH, row, row, CUDA_PAIR_SIDE, CUDA_PAIR_THREADS,
		   column, column, CUDA_PAIR_SIDE, CUDA_PAIR_THREADS, row, row, column, column);
	text_once(t, k->prologue, k->n_prologue);
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_REDUCE)
			buf_printf(t->out, "\tconst %s r%d = (f32)w%d[i][j];\n",
				   text_value(DTYPE_F32), stage->body[i].dst, stage->body[i].dst);
	text_once(t, stage->post, stage->n_post);
	buf_puts(t->out, "\t}\n");
}

void cuda_pairs_emit(struct emit_text *t)
{
	const struct kernel *k = t->c->kernel;
	const struct stage *stage = &k->stages[0];
	const struct sym *points = k->extent[k->n_dims - 1];

	put_pair_square(t, stage);
	buf_printf(t->out,
		   "\tfor (u32 first = 0; first < points; first += %d) {\n\t__syncthreads();\n",
		   REDUCE_RUN);
	for (int i = 0; i < stage->n_body; i++)
		if (stage->body[i].kind == INST_LOAD)
			put_pair_load(t, &stage->body[i], i);
	buf_puts(t->out, "\t__syncthreads();\n");
	if (sym_is_const(points) && points->value % REDUCE_RUN == 0)
		buf_printf(t->out, "\tconst u32 end = %d;\n", REDUCE_RUN);
	else
		buf_printf(t->out, "\tconst u32 end = min(%du, points - first);\n", REDUCE_RUN);
	buf_puts(t->out, "#pragma unroll 4\n\tfor (u32 k = 0; k < end; k++) {\n");
	put_pair_body(t, stage);
	buf_puts(t->out, "\t}\n");
	each_pair(t, stage, put_pair_join);
	buf_puts(t->out, "\t}\n");
	put_pair_results(t, stage);
}
