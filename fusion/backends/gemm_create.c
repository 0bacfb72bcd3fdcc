/* fusion/backends/gemm_create.c -- how a matrix product is cut into blocks, and the
 * memory that they need.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/gemm.h"

enum {
	N_BLOCK = 512,       /* half where vectors are short: so are caches */
	LONG_K_BLOCK = 4096, /* a multiple of GEMM_K_BLOCK; what a task packs at once */
	ALIGN = 64,
	TASK_FLOPS = 1 << 18,    /* what is worth a block of its own */
	THREAD_FLOPS = 1 << 16,  /* and a thread */
	CHEAP_FLOPS = 4,         /* as long as a cheap op takes */
	LOW = 64,                /* rows of a matrix that its columns are cut for */
	WORTH_SHARING = 1 << 16, /* elements of b that are packed by all threads together */
	MOST_SHARED = 64 << 20,  /* bytes of them that are kept */
};

static size_t aligned(size_t bytes)
{
	return (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* Whether the dims are one walk by the step of the last, in an operand. */
static bool is_linear(const struct axis_dims *dims, int which)
{
	for (int d = 1; d < dims->n; d++)
		if (dims->at[d - 1].stride[which] != dims->at[d].stride[which] * dims->at[d].size)
			return false;
	return true;
}

/* Sizes, and steps where they are linear. */
static struct axis axis_of(const struct axis_dims *dims)
{
	struct axis axis = { .size = dims->size };

	for (int i = 0; i < 3; i++) {
		axis.linear[i] = is_linear(dims, i);
		axis.step[i] = dims->n ? dims->at[dims->n - 1].stride[i] : 0;
	}
	return axis;
}

static size_t table_bytes(const struct axis *axis)
{
	size_t n = 0;

	for (int i = 0; i < 3; i++)
		n += !axis->linear[i];
	return n * aligned(sizeof(int64_t) * (size_t)axis->size);
}

/* The axis's tables, if it needs any, lie at `memory`. */
static unsigned char *make_axis(struct axis *axis, const struct axis_dims *dims,
				unsigned char *memory)
{
	for (int i = 0; i < 3; i++) {
		int64_t *table = (int64_t *)memory;

		if (axis->linear[i])
			continue;
		memory += aligned(sizeof(int64_t) * (size_t)axis->size);
		axis->table[i] = table;
		for (int64_t j = 0; j < dims->size; j++) {
			int64_t rest = j;

			table[j] = 0;
			for (int d = dims->n - 1; d >= 0; d--) {
				table[j] += rest % dims->at[d].size * dims->at[d].stride[i];
				rest /= dims->at[d].size;
			}
		}
	}
	return memory;
}

static void count_tasks(struct gemm *g)
{
	g->m_blocks = g->m_block ? (g->row.size + g->m_block - 1) / g->m_block : 0;
	g->n_blocks = g->n_block ? (g->column.size + g->n_block - 1) / g->n_block : 0;
	g->tasks = g->batch.size * g->m_blocks * g->n_blocks;
}

/* Few rows use each element of b so rarely that a copy does not pay. */
static bool reads_b_in_place(const struct gemm *g)
{
	return g->row.size <= g->kernels->gemm_rows && gemm_is_wide(g->dtype) &&
	       g->column.linear[1] && g->column.step[1] == 1 && g->k.linear[1];
}

/* Rows of a strip: strips are even, so that no thread gets a small one. */
static int64_t choose_strip(const struct gemm *g)
{
	int64_t most = g->kernels->gemm_rows, rows = g->run ? g->run : g->row.size;
	int64_t strips = (rows + most - 1) / most;

	return strips > 0 ? (rows + strips - 1) / strips : most;
}

/* A matrix so low that b is most of what is read: each thread takes columns of its own,
 * which it packs itself, and nobody waits for others' panels. */
static bool is_low(const struct gemm *g)
{
	return g->row.size <= LOW && g->batch.size == 1 && !g->whole_rows && !g->run &&
	       gemm_is_wide(g->dtype) && g->column.size >= 8 * g->columns && g->row.linear[0] &&
	       g->k.linear[0] && g->k.step[0] == 1;
}

/* Blocks as large as caches like them, smaller where there would be too few. */
static void choose_blocks(struct gemm *g)
{
	bool runs = g->run > 0 && g->run <= GEMM_M_BLOCK;
	int64_t m = g->row.size, n = g->column.size, rows = runs ? g->run : g->strip;
	int lanes = g->kernels->vector_bytes / (int)gemm_panel_bytes(g->dtype);
	double flops;

	g->columns = n <= lanes ? lanes : 2 * lanes;
	/* Of whole panels: what a few columns cost. */
	flops = (double)m * (double)gemm_up_to(n, g->columns) * (double)g->k.size *
		(double)g->batch.size;
	g->m_block = gemm_least(m, GEMM_M_BLOCK / rows * rows);
	g->n_block = gemm_least(gemm_up_to(n, g->columns), lanes >= 16 ? N_BLOCK : N_BLOCK / 2);
	count_tasks(g);
	if (g->whole_rows)
		g->n_block = gemm_up_to(n, g->columns);
	g->low = is_low(g);
	if (g->low) {
		g->n_block = g->columns;
		if (n < 32 * g->columns && m > rows)
			g->m_block = gemm_up_to(m / 2, rows);
	}
	count_tasks(g);
	while (!g->low && g->tasks < 2 * GEMM_THREADS &&
	       flops / (double)g->tasks >= 2.0 * TASK_FLOPS) {
		if (g->m_block > 4 * rows)
			g->m_block = gemm_up_to(g->m_block / 2, rows);
		else if (g->n_block > 128 && !g->whole_rows)
			g->n_block = gemm_up_to(g->n_block / 2, g->columns);
		else if (g->m_block > rows)
			g->m_block = gemm_up_to(g->m_block / 2, rows);
		else if (g->n_block > (runs ? 1 : 2) * g->columns && !g->whole_rows)
			g->n_block = gemm_up_to(g->n_block / 2, g->columns);
		else
			break;
		count_tasks(g);
	}
	flops += (double)CHEAP_FLOPS * (double)g->behind_cost * (double)m * (double)n *
		 (double)g->batch.size;
	g->grain = 1;
	if (g->tasks > 0 && flops / (double)g->tasks < THREAD_FLOPS)
		g->grain = 1 + (int64_t)(THREAD_FLOPS / (flops / (double)g->tasks + 1));
	if (g->grain < (g->tasks + GEMM_THREADS - 1) / GEMM_THREADS)
		g->grain = (g->tasks + GEMM_THREADS - 1) / GEMM_THREADS;
}

static bool is_dense(const struct axis *axis)
{
	return axis->linear[2] && axis->step[2] == 1;
}

bool gemm_along_rows(const struct gemm *g)
{
	return !is_dense(&g->column) && is_dense(&g->row);
}

bool gemm_tells_blocks(const struct gemm *g)
{
	return is_dense(&g->column) || is_dense(&g->row);
}

int gemm_threads(const struct gemm *g)
{
	return g->tasks ? (int)((g->tasks + g->grain - 1) / g->grain) : 0;
}

/* How much memory the blocks need, and where it is. */
static void size_memory(struct gemm *g)
{
	size_t unit = gemm_panel_bytes(g->dtype);
	int64_t rows = g->strip, n = gemm_up_to(g->column.size, g->columns);
	double elements = (double)g->panel_batches * (double)g->k.size * (double)n;

	if (gemm_is_int(g->dtype))
		return;
	g->in_place = reads_b_in_place(g);
	g->shared = !g->in_place && !g->low &&
		    (g->m_blocks > 1 || g->panel_batches < g->batch.size) &&
		    g->panel_batches * g->n_blocks < 2 * GEMM_THREADS &&
		    elements >= WORTH_SHARING && elements * (double)unit <= MOST_SHARED;
	if (g->shared)
		g->shared_bytes = aligned((size_t)(g->panel_batches * g->k.size * n) * unit);
	g->k_block = g->shared ? g->k.size : gemm_least(g->k.size, LONG_K_BLOCK);
	g->a_bytes = g->run
			 ? 0
			 : aligned((size_t)(gemm_up_to(g->m_block, rows) * GEMM_STRIP_STEP) * unit);
	g->b_bytes = g->shared ? 0 : aligned((size_t)(g->n_block * g->k_block) * unit);
	g->c_bytes = aligned((size_t)(g->m_block * g->n_block) * unit);
	g->thread_bytes = g->a_bytes + g->b_bytes + g->c_bytes;
}

/* The operand with fewer rows or columns is packed, unless rows of the other are
 * parts of panels as they lie. */
static bool turns(const struct gemm *g)
{
	return !g->whole_rows && !g->run && g->row.size < g->column.size &&
	       gemm_is_wide(g->dtype) && g->column.step[1] != 1 && g->column.linear[1] &&
	       g->k.linear[1] && g->row.linear[2] && g->column.linear[2];
}

static struct axis_dims turn_dims(const struct axis_dims *dims)
{
	struct axis_dims turned = *dims;

	for (int i = 0; i < dims->n; i++) {
		turned.at[i].stride[0] = dims->at[i].stride[1];
		turned.at[i].stride[1] = dims->at[i].stride[0];
	}
	return turned;
}

static struct gemm *make(struct gemm g, const struct axis_dims dims[4])
{
	size_t tables;
	struct gemm *made;
	unsigned char *memory;
	int64_t threads;

	g.batch = axis_of(&dims[0]);
	g.row = axis_of(&dims[1]);
	g.column = axis_of(&dims[2]);
	g.k = axis_of(&dims[3]);
	tables = table_bytes(&g.batch) + table_bytes(&g.row) + table_bytes(&g.column) +
		 table_bytes(&g.k);
	if (!g.turned && !gemm_suits_blas(&g))
		g.blas = NULL;
	g.panel_batches = g.batch.linear[1] && g.batch.step[1] == 0 ? (g.batch.size > 0)
								    : g.batch.size;
	if (g.k.linear[0] || g.dtype != DTYPE_F32)
		g.run = 0;
	g.strip = choose_strip(&g);
	choose_blocks(&g);
	size_memory(&g);
	threads = gemm_threads(&g);
	if (posix_memalign((void **)&made, ALIGN,
			   aligned(sizeof(g)) + tables + g.shared_bytes + aligned(g.extra_bytes) +
			       (size_t)threads * g.thread_bytes) != 0)
		return NULL;
	memory = make_axis(&g.batch, &dims[0], (unsigned char *)made + aligned(sizeof(g)));
	memory = make_axis(&g.row, &dims[1], memory);
	memory = make_axis(&g.column, &dims[2], memory);
	g.packed = make_axis(&g.k, &dims[3], memory);
	g.extra = g.packed + g.shared_bytes;
	memset(g.extra, 0, g.extra_bytes);
	g.scratch = g.packed + g.shared_bytes + aligned(g.extra_bytes);
	*made = g;
	return made;
}

struct gemm *gemm_create(const struct gemm *like, const struct axis_dims *batch,
			 const struct axis_dims *row, const struct axis_dims *column,
			 const struct axis_dims *k)
{
	struct gemm g = *like;
	struct gemm *made;

	g.turned = false;
	made = make(g, (struct axis_dims[]){ *batch, *row, *column, *k });
	if (!made || !turns(made))
		return made;
	g.turned = true;
	g.blas = made->blas;
	g.layout = made->layout;
	free(made);
	return make(g, (struct axis_dims[]){ turn_dims(batch), turn_dims(column), turn_dims(row),
					     turn_dims(k) });
}
