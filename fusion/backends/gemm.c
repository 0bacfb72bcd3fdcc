/* fusion/backends/gemm.c -- blocks of a matrix product, shared by the threads.
 *
 * A task is one block of the result.  Columns of b are in panels as the innermost
 * kernel reads them, packed once for all tasks where that is worth a step of its
 * own; strips of rows of a are copied as they lie when they are used.  The roles
 * may be changed: what has fewer columns is packed.  Sums of K_BLOCK products are
 * added up one after the other, so neither blocks, threads nor layouts change a
 * bit of the result.
 */
#include "fusion/backends/gemm.h"

#include <string.h>

#include "fusion/backends/library.h"

enum {
	GROUP = 4,                /* panels that are packed together */
	WORTH_A_THREAD = 1 << 13, /* elements of them */
};

/* What a run works on; task by task. */
struct run {
	const struct gemm *g;
	const unsigned char *a, *b;
	unsigned char *c;
	gemm_behind_fn *behind;
	void *context;
	int64_t packed[GEMM_THREADS]; /* by thread: the columns that its panels hold; -1 */
};

/* One block of the result; the element (k, j) of its columns is in the panels at
 * k - first_k and first_j + j, `width` columns in all. */
struct block {
	int64_t i0, j0, m, n;
	const unsigned char *a, *b;
	unsigned char *panels, *strips, *sums;
	int64_t width, first_j, first_k;
	int64_t read; /* columns of b that are read where they lie */
};

static int64_t padded(const struct gemm *g)
{
	return gemm_up_to(g->column.size, g->columns);
}

/* `k` products from k0 on lie together, panel by panel. */
static unsigned char *panel_at(const struct gemm *g, const struct block *x, int64_t j, int64_t k0,
			       int64_t k)
{
	int64_t at = x->width * (k0 - x->first_k) + (x->first_j + j) * k;

	return x->panels + (size_t)at * gemm_panel_bytes(g->dtype);
}

static void pack_columns(const struct gemm *g, const struct block *x, int64_t k0, int64_t k)
{
	int64_t whole = x->read;

	for (int64_t end = k0 + k; k0 < end; k0 += GEMM_K_BLOCK) {
		k = gemm_least(end - k0, GEMM_K_BLOCK);
		if (x->b && gemm_is_wide(g->dtype) && g->column.linear[1] && g->k.linear[1] &&
		    g->column.step[1] == 1) {
			whole = x->n - x->n % g->columns;
			gemm_pack_rows(g, panel_at(g, x, x->read, k0, k), x->b, x->j0 + x->read,
				       (whole - x->read) / g->columns, k0, k);
		}
		for (int64_t j = whole; j < x->n; j += g->columns)
			gemm_pack(g, panel_at(g, x, j, k0, k), x->b, &g->column, x->j0 + j,
				  (int)gemm_least(x->n - j, g->columns), g->columns, k0, k, 1);
	}
}

/* A strip of rows by a panel of columns. */
static void multiply_tile(const struct gemm *g, const struct block *x, const struct gemm_left *a,
			  int64_t rows, int64_t i, int64_t j, int64_t k0, int64_t k)
{
	gemm_fn *kernel = g->run                  ? g->kernels->gemm_where_f32
			  : g->dtype == DTYPE_F64 ? g->kernels->gemm_f64
						  : g->kernels->gemm_f32;
	size_t bytes = gemm_panel_bytes(g->dtype);
	int vectors = g->columns * (int)bytes / g->kernels->vector_bytes;
	unsigned char *sums = x->sums + (size_t)(i * g->n_block + j) * bytes;

	if (j < x->read)
		kernel((int)rows, vectors, k, a,
		       x->b + (size_t)(k0 * g->k.step[1] + x->j0 + j) * bytes, g->k.step[1], sums,
		       g->n_block);
	else
		kernel((int)rows, vectors, k, a, panel_at(g, x, j, k0, k), g->columns, sums,
		       g->n_block);
}

/* Rows of the strip that begins at row i of the block. */
static int64_t strip_at(const struct gemm *g, const struct block *x, int64_t i)
{
	int64_t rows = gemm_least(x->m - i, g->strip);

	return g->run ? gemm_least(rows, g->run - (x->i0 + i) % g->run) : rows;
}

/* Rows of a from row i of the block on, where they lie or in strip `s`. */
static struct gemm_left open_strip(const struct gemm *g, const struct block *x, int64_t i,
				   int64_t rows, int64_t s, int64_t k0, int64_t k)
{
	size_t bytes = (size_t)(g->strip * GEMM_STRIP_STEP) * gemm_panel_bytes(g->dtype);

	if (g->run)
		return (struct gemm_left){ .at = (const float *)(const void *)x->a +
						 axis_at(&g->row, 0, x->i0 + i),
					   .row = g->run_step,
					   .where = g->k.table[0] + k0 };
	if (g->low)
		return (struct gemm_left){
			.at = x->a + (size_t)((x->i0 + i) * g->row.step[0] + k0) *
					 gemm_panel_bytes(g->dtype),
			.row = g->row.step[0],
			.step = 1,
		};
	return gemm_copy_strip(g, x->strips + (size_t)s * bytes, x->a, x->i0 + i, (int)rows, k0, k);
}

/* Few columns stay in the first caches, and each strip of rows goes by from end to
 * end. */
static void multiply_few(const struct gemm *g, const struct block *x, int64_t k0, int64_t k)
{
	int64_t rows, end = k0 + k;

	for (int64_t i = 0; i < x->m; i += rows) {
		rows = strip_at(g, x, i);
		for (int64_t at = k0; at < end; at += GEMM_K_BLOCK) {
			struct gemm_left a;

			k = gemm_least(end - at, GEMM_K_BLOCK);
			a = open_strip(g, x, i, rows, 0, at, k);
			for (int64_t j = 0; j < x->n; j += g->columns)
				multiply_tile(g, x, &a, rows, i, j, at, k);
		}
	}
}

/* Else a panel of columns stays in the first cache, and all strips of a block of k
 * in the second. */
static void multiply(const struct gemm *g, const struct block *x, int64_t k0, int64_t k)
{
	struct gemm_left a[GEMM_M_BLOCK];
	int64_t end = k0 + k;

	if (x->n <= GEMM_FEW && !g->run) {
		multiply_few(g, x, k0, k);
		return;
	}
	for (; k0 < end; k0 += GEMM_K_BLOCK) {
		int64_t strips = 0;

		k = gemm_least(end - k0, GEMM_K_BLOCK);
		for (int64_t i = 0, rows; i < x->m; i += rows, strips++) {
			rows = strip_at(g, x, i);
			a[strips] = open_strip(g, x, i, rows, strips, k0, k);
		}
		for (int64_t j = 0; j < x->n; j += g->columns) {
			int64_t rows, s = 0;

			for (int64_t i = 0; i < x->m; i += rows, s++) {
				rows = strip_at(g, x, i);
				multiply_tile(g, x, &a[s], rows, i, j, k0, k);
			}
		}
	}
}

/* Panels that are packed together: as many as rows of b are read in one go; one
 * where each is turned. */
static int64_t group_of(const struct gemm *g)
{
	return g->column.step[1] == 1 ? GROUP : 1;
}

static int64_t groups_of(const struct gemm *g)
{
	int64_t group = group_of(g);

	return (padded(g) / g->columns + group - 1) / group;
}

static int64_t k_blocks_of(const struct gemm *g)
{
	return (g->k.size + GEMM_K_BLOCK - 1) / GEMM_K_BLOCK;
}

static struct block open_block(const struct run *run, int64_t batch, int64_t j0)
{
	const struct gemm *g = run->g;
	int64_t element = (int64_t)dtype_bytes(g->dtype);
	struct block x = {
		.j0 = j0,
		.a = run->a + axis_at(&g->batch, 0, batch) * element,
		.b = run->b ? run->b + axis_at(&g->batch, 1, batch) * element : NULL,
	};

	if (g->shared) {
		x.width = padded(g);
		x.first_j = j0;
		x.panels = g->packed + (size_t)(batch % g->panel_batches * x.width * g->k.size) *
					   gemm_panel_bytes(g->dtype);
	}
	return x;
}

/* The threads' first step, where panels are shared: groups of them, a block of k at
 * a time. */
static void pack_tasks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct run *run = context;
	const struct gemm *g = run->g;
	int64_t blocks = k_blocks_of(g), groups = groups_of(g), width = group_of(g) * g->columns;

	(void)thread;
	for (; begin < end; begin++) {
		int64_t panel = begin / blocks, k0 = begin % blocks * GEMM_K_BLOCK;
		struct block x = open_block(run, panel / groups, panel % groups * width);

		x.n = gemm_least(g->column.size - x.j0, width);
		pack_columns(g, &x, k0, gemm_least(g->k.size - k0, GEMM_K_BLOCK));
	}
}

/* Rows [i0, i0 + m) by columns [j0, j0 + n) are written. */
static void tell_block(const struct run *run, int64_t batch, const struct block *x, int thread)
{
	const struct gemm *g = run->g;
	bool along = gemm_along_rows(g);
	const struct axis *slow = along ? &g->column : &g->row;
	int64_t at = axis_at(&g->batch, 2, batch), first = along ? x->j0 : x->i0;
	struct gemm_written w = { .rows = along ? x->n : x->m,
				  .columns = along ? x->m : x->n,
				  .step = slow->step[2] };

	if (!run->behind)
		return;
	at += along ? x->i0 : x->j0;
	if (slow->linear[2]) {
		w.start = at + axis_at(slow, 2, first);
		run->behind(run->context, &w, thread);
		return;
	}
	for (int64_t end = first + w.rows; first < end; first++) {
		w.start = at + axis_at(slow, 2, first);
		w.rows = 1;
		run->behind(run->context, &w, thread);
	}
}

/* `packed`: the scratch holds the columns of the task before, which are this one's. */
static void run_block(const struct run *run, int64_t task, int thread, bool packed)
{
	const struct gemm *g = run->g;
	unsigned char *scratch = g->scratch + (size_t)thread * g->thread_bytes;
	int64_t batch = task / g->m_blocks / g->n_blocks;
	struct block x = open_block(run, batch, task / g->m_blocks % g->n_blocks * g->n_block);

	x.i0 = task % g->m_blocks * g->m_block;
	x.m = gemm_least(g->row.size - x.i0, g->m_block);
	x.n = gemm_least(g->column.size - x.j0, g->n_block);
	x.strips = scratch;
	x.sums = scratch + g->a_bytes;
	if (!g->shared) {
		x.panels = scratch + g->a_bytes + g->c_bytes;
		x.width = gemm_up_to(x.n, g->columns);
		x.read = g->in_place ? x.n - x.n % g->columns : 0;
	}
	memset(x.sums, 0, g->c_bytes);
	for (int64_t k0 = 0; k0 < g->k.size; k0 += g->k_block) {
		int64_t k = gemm_least(g->k.size - k0, g->k_block);

		if (!g->shared)
			x.first_k = k0;
		if (!g->shared && !packed)
			pack_columns(g, &x, k0, k);
		multiply(g, &x, k0, k);
	}
	gemm_unpack(g, x.sums,
		    run->c + axis_at(&g->batch, 2, batch) * (int64_t)dtype_bytes(g->dtype), x.i0,
		    x.m, x.j0, x.n);
	tell_block(run, batch, &x, thread);
}

/* Sums of ints wrap, element by element. */
static void run_ints(const struct run *run, int64_t task, int thread)
{
	const struct gemm *g = run->g;
	int64_t n0 = task / g->m_blocks % g->n_blocks * g->n_block, m0;
	int64_t batch = task / g->n_blocks / g->m_blocks;
	int64_t m_end, n_end = gemm_least(g->column.size, n0 + g->n_block);

	m0 = task % g->m_blocks * g->m_block;
	m_end = gemm_least(g->row.size, m0 + g->m_block);
	for (int64_t i = m0; i < m_end; i++)
		for (int64_t j = n0; j < n_end; j++) {
			int64_t pa = axis_at(&g->batch, 0, batch) + axis_at(&g->row, 0, i);
			int64_t pb = axis_at(&g->batch, 1, batch) + axis_at(&g->column, 1, j);
			uint64_t sum = 0;

			for (int64_t k = 0; k < g->k.size; k++) {
				int64_t x = dtype_get_int(g->dtype, run->a,
							  pa + axis_at(&g->k, 0, k));
				int64_t y = run->b ? dtype_get_int(g->dtype, run->b,
								   pb + axis_at(&g->k, 1, k))
						   : 1;

				sum += (uint64_t)x * (uint64_t)y;
			}
			dtype_put_int(g->dtype, run->c,
				      axis_at(&g->batch, 2, batch) + axis_at(&g->row, 2, i) +
					  axis_at(&g->column, 2, j),
				      (int64_t)sum);
		}
	tell_block(run, batch,
		   &(struct block){ .i0 = m0, .m = m_end - m0, .j0 = n0, .n = n_end - n0 }, thread);
}

static void run_tasks(void *context, int64_t begin, int64_t end, int thread)
{
	struct run *run = context;
	const struct gemm *g = run->g;
	bool once = g->k.size <= g->k_block; /* what is packed is whole */

	for (int64_t task = begin; task < end; task++) {
		int64_t columns = task / g->m_blocks;

		if (gemm_is_int(g->dtype))
			run_ints(run, task, thread);
		else
			run_block(run, task, thread, once && run->packed[thread] == columns);
		run->packed[thread] = columns;
	}
}

static void tell_all(const struct run *run)
{
	const struct gemm *g = run->g;
	struct block x = { .m = g->row.size, .n = g->column.size };

	for (int64_t i = 0; i < g->batch.size; i++)
		tell_block(run, i, &x, 0);
}

void gemm_run(const struct gemm *g, const void *a, const void *b, void *c, gemm_behind_fn *behind,
	      void *context, struct pool *pool)
{
	struct run run = { g, g->turned ? b : a, g->turned ? a : b, c, behind, context, { 0 } };
	int64_t each = group_of(g) * g->columns * gemm_least(g->k.size, GEMM_K_BLOCK);

	if (g->tasks == 0)
		return;
	if (g->blas && pool_threads(pool) == 1) {
		gemm_blas_run(g, a, b, c);
		tell_all(&run);
		return;
	}
	if (g->shared)
		pool_run(pool, g->panel_batches * groups_of(g) * k_blocks_of(g),
			 each < WORTH_A_THREAD ? WORTH_A_THREAD / (each + 1) + 1 : 1, pack_tasks,
			 &run);
	for (int i = 0; i < GEMM_THREADS; i++)
		run.packed[i] = -1;
	pool_run(pool, g->tasks, g->grain, run_tasks, &run);
}
