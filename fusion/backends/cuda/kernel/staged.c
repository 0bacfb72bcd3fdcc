/* fusion/backends/cuda/kernel/staged.c -- staged rows: those of a block lie side by side, and come
 * and go in wide accesses, wherever each of them begins.
 */
#include <stdio.h>

#include "fusion/backends/cuda/kernel/kernel.h"
#include "fusion/backends/cuda/kernel/text.h"

/* The rest of a block's elements, that is no whole vector. */
static void put_rest(struct emit_text *t, int lanes, const char *to, const char *from)
{
	buf_printf(t->out,
		   "\tif (place < count %% %d) %s[count / %d * %d + place] = %s[count / %d * %d + "
		   "place];\n\t}\n",
		   lanes, to, lanes, lanes, from, lanes, lanes);
}

/* One access of them, into shared memory or from there. */
static void put_staged(struct emit_text *t, int index)
{
	const struct cuda_kernel *c = t->c;
	const struct access *at = c->staged[index];
	const char *type = text_element(c->lowered->buffers[at->buffer].dtype);
	int lanes = CUDA_VECTOR_BYTES / (int)dtype_bytes(c->lowered->buffers[at->buffer].dtype);
	int step = cuda_kernel_block(c) * lanes;
	int steps = (c->rows_a_block * c->staged_points + step - 1) / step;
	bool in = !c->stored[at->buffer];
	char room[16];

	snprintf(room, sizeof(room), "t%d", index);
	buf_printf(t->out, "\t{\n\t%s%s *const all = b%d + ", in ? "const " : "", type,
		   c->places[at->buffer]);
	text_number(t, at->offset);
	buf_printf(t->out,
		   " + (i64)first_row * points;\n\tpack<%s, %d> v[%d];\n"
		   "#pragma unroll\n\tfor (int i = 0; i < %d; i++) {\n"
		   "\tconst u32 e = i * %du + place * %du;\n"
		   "\tif (e + %du <= count) v[i] = *(const pack<%s, %d> *)(%s + e);\n\t}\n"
		   "#pragma unroll\n\tfor (int i = 0; i < %d; i++) {\n"
		   "\tconst u32 e = i * %du + place * %du;\n"
		   "\tif (e + %du <= count) *(pack<%s, %d> *)(%s + e) = v[i];\n\t}\n",
		   type, lanes, steps, steps, step, lanes, lanes, type, lanes, in ? "all" : room,
		   steps, step, lanes, lanes, type, lanes, in ? room : "all");
	put_rest(t, lanes, in ? room : "all", in ? "all" : room);
}

/* The rooms in shared memory, and how much of a block's rows there is. */
static void put_rooms(struct emit_text *t)
{
	const struct cuda_kernel *c = t->c;

	for (int i = 0; i < c->n_staged; i++)
		buf_printf(t->out, "\t__shared__ __align__(16) %s t%d[%d];\n",
			   text_element(c->lowered->buffers[c->staged[i]->buffer].dtype), i,
			   c->rows_a_block * c->staged_points);
	buf_printf(t->out,
		   "\tconst u32 first_row = blockIdx.x * %du, place = threadIdx.y * %du + "
		   "threadIdx.x;\n\tconst u32 count = %s%du%s * points;\n",
		   c->rows_a_block, c->threads, c->all_live ? "" : "min(", c->rows_a_block,
		   c->all_live ? "" : ", rows - first_row)");
}

void cuda_staged_emit(struct emit_text *t, bool in)
{
	const struct cuda_kernel *c = t->c;
	bool any = false;

	if (c->n_staged == 0)
		return;
	if (in)
		put_rooms(t);
	for (int i = 0; i < c->n_staged; i++) {
		if (c->stored[c->staged[i]->buffer] == in)
			continue;
		if (!in && !any)
			buf_puts(t->out, "\t__syncthreads();\n");
		any = true;
		put_staged(t, i);
	}
	if (in)
		buf_puts(t->out, "\t__syncthreads();\n");
}
