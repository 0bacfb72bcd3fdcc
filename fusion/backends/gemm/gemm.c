/* fusion/backends/gemm/gemm.c -- blocks of a matrix product, shared by the threads.
 *
 * A task is one block of the result.  Columns of b are in panels as the innermost
 * kernel reads them, packed once for all tasks where that is worth a step of its
 * own; strips of rows of a are copied as they lie when they are used.  The roles
 * may be changed: what has fewer columns is packed.  Sums of K_BLOCK products are
 * added up one after the other, so neither blocks, threads nor layouts change a
 * bit of the result.
 */
#include "fusion/backends/gemm/gemm.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/library/library.h"

/* ---- which products OpenBLAS computes, and how
 *
 * Measured with bench_gemm on 16 cores with AVX-512 (OpenBLAS 0.3.26) and on one
 * with AVX2 (0.3.21), float32.  One thread, products of 512 x 4096 x 1024 and the
 * like: OpenBLAS 155-170 GFLOP/s, our kernel 125-150; with 64 rows or fewer ours
 * 130-150, OpenBLAS 85-120.  Many threads: 1,220 and 1,230; on blocks that our
 * pool hands out OpenBLAS packs each operand again, 960, and its own threads would
 * run beside ours.  So it computes what is large, whole, where there is one thread.
 *
 * OpenBLAS packs the operands of a large product, so how they lie in memory does
 * not show in its bits; below GEMM_WORTH_BLAS it has kernels that read them in
 * place, each with an order of its own, and those sizes are ours.
 */

/* Whether a walk has unit stride in an operand, or is none at all. */
static bool is_unit(const struct axis *axis, int which)
{
	return axis->size == 1 || axis->step[which] == 1;
}

/* The stride of the rows of a matrix whose rows have `n` elements; 0: it has no
 * such layout. */
static int lead(const struct axis *outer, int64_t n, int which)
{
	int64_t step = outer->size == 1 ? n : outer->step[which];

	return step >= n && step <= INT_MAX ? (int)step : 0;
}

/* An operand over (outer, k): rows as they lie, or turned. */
static bool lay_operand(struct blas_layout *l, int which, const struct axis *outer,
			const struct axis *k)
{
	bool along_k = is_unit(k, which) && lead(outer, k->size, which);

	if (!along_k && !(is_unit(outer, which) && lead(k, outer->size, which)))
		return false;
	l->turn[which] = along_k == (which == 0) ? BLAS_AS_IS : BLAS_TURNED;
	l->lead[which] = along_k ? lead(outer, k->size, which) : lead(k, outer->size, which);
	return true;
}

static bool lay_out(struct gemm *g)
{
	struct blas_layout *l = &g->layout;

	/* The other way about it would have other bits. */
	l->lead[2] = is_unit(&g->column, 2) ? lead(&g->row, g->column.size, 2) : 0;
	return l->lead[2] && lay_operand(l, 0, &g->row, &g->k) &&
	       lay_operand(l, 1, &g->column, &g->k);
}

/* Whether OpenBLAS shall compute it where there is one thread; then the layout is
 * filled in. */
static bool suits_blas(struct gemm *g)
{
	double work = (double)g->row.size * (double)g->column.size * (double)g->k.size;

	return g->blas && gemm_is_wide(g->dtype) && work >= GEMM_WORTH_BLAS &&
	       g->row.size > GEMM_FEW && g->column.size > GEMM_FEW && g->row.size <= INT_MAX &&
	       g->column.size <= INT_MAX && g->k.size <= INT_MAX && g->row.linear[0] &&
	       g->row.linear[2] && g->column.linear[1] && g->column.linear[2] && g->k.linear[0] &&
	       g->k.linear[1] && lay_out(g);
}

/* The product, of the operands as the caller gave them. */
static void run_by_blas(const struct gemm *g, const struct gemm_matrices *given)
{
	const void *a = given->a, *b = given->b;
	void *c = given->c;
	const struct blas_layout *l = &g->layout;
	int m = (int)(g->turned ? g->column.size : g->row.size), k = (int)g->k.size;
	int n = (int)(g->turned ? g->row.size : g->column.size);

	for (int64_t i = 0; i < g->batch.size; i++) {
		int64_t at_a = axis_at(&g->batch, g->turned, i);
		int64_t at_b = axis_at(&g->batch, !g->turned, i);
		int64_t at_c = axis_at(&g->batch, 2, i);

		if (g->dtype == DTYPE_F32)
			g->blas->sgemm(BLAS_ROW_MAJOR, l->turn[0], l->turn[1], m, n, k, 1,
				       (const float *)a + at_a, l->lead[0], (const float *)b + at_b,
				       l->lead[1], 0, (float *)c + at_c, l->lead[2]);
		else
			g->blas->dgemm(BLAS_ROW_MAJOR, l->turn[0], l->turn[1], m, n, k, 1,
				       (const double *)a + at_a, l->lead[0],
				       (const double *)b + at_b, l->lead[1], 0, (double *)c + at_c,
				       l->lead[2]);
	}
}

/* ---- how a matrix product is cut into blocks, and the
 * memory that they need.
 */

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
	flops += (double)CHEAP_FLOPS * (double)g->epilogue_cost * (double)m * (double)n *
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

/* it has them along its rows */
static bool along_rows(const struct gemm *g)
{
	return !is_dense(&g->column) && is_dense(&g->row);
}

bool gemm_tells_blocks(const struct gemm *g)
{
	return is_dense(&g->column) || is_dense(&g->row);
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

	g.batch = axis_of(&dims[0]);
	g.row = axis_of(&dims[1]);
	g.column = axis_of(&dims[2]);
	g.k = axis_of(&dims[3]);
	tables = table_bytes(&g.batch) + table_bytes(&g.row) + table_bytes(&g.column) +
		 table_bytes(&g.k);
	if (!g.turned && !suits_blas(&g))
		g.blas = NULL;
	g.panel_batches = g.batch.linear[1] && g.batch.step[1] == 0 ? (g.batch.size > 0)
								    : g.batch.size;
	if (g.k.linear[0] || g.dtype != DTYPE_F32)
		g.run = 0;
	g.strip = choose_strip(&g);
	choose_blocks(&g);
	size_memory(&g);
	g.room_bytes = g.shared_bytes + (size_t)gemm_threads(&g) * g.thread_bytes;
	if (posix_memalign((void **)&made, ALIGN,
			   aligned(sizeof(g)) + tables + aligned(g.extra_bytes)) != 0)
		return NULL;
	memory = make_axis(&g.batch, &dims[0], (unsigned char *)made + aligned(sizeof(g)));
	memory = make_axis(&g.row, &dims[1], memory);
	memory = make_axis(&g.column, &dims[2], memory);
	g.extra = make_axis(&g.k, &dims[3], memory);
	memset(g.extra, 0, g.extra_bytes);
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

/* ---- the product */

enum {
	GROUP = 4,                /* panels that are packed together */
	WORTH_A_THREAD = 1 << 13, /* elements of them */
};

/* What a run works on; task by task. */
struct gemm_job {
	const struct gemm *g;
	const unsigned char *a, *b;
	unsigned char *c, *room;
	gemm_epilogue_fn *epilogue;
	void *context;
	int64_t packed[GEMM_THREADS]; /* by thread: the columns that its panels hold; -1 */
};

/* One block of the result; the element (k, j) of its columns is in the panels at
 * k - first_k and first_j + j, `width` columns in all. */
struct gemm_block {
	struct gemm_area at;
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
static unsigned char *panel_at(const struct gemm *g, const struct gemm_block *x, int64_t j,
			       int64_t k0, int64_t k)
{
	int64_t at = x->width * (k0 - x->first_k) + (x->first_j + j) * k;

	return x->panels + (size_t)at * gemm_panel_bytes(g->dtype);
}

static void pack_columns(const struct gemm *g, const struct gemm_block *x, int64_t k0, int64_t k)
{
	int64_t whole = x->read;

	for (int64_t end = k0 + k; k0 < end; k0 += GEMM_K_BLOCK) {
		k = gemm_least(end - k0, GEMM_K_BLOCK);
		if (x->b && gemm_is_wide(g->dtype) && g->column.linear[1] && g->k.linear[1] &&
		    g->column.step[1] == 1) {
			whole = x->at.n - x->at.n % g->columns;
			gemm_pack_rows(g, panel_at(g, x, x->read, k0, k), x->b,
				       &(struct gemm_part){ x->at.j0 + x->read,
							    (whole - x->read) / g->columns, k0,
							    k });
		}
		for (int64_t j = whole; j < x->at.n; j += g->columns)
			gemm_pack(g, panel_at(g, x, j, k0, k), x->b,
				  &(struct gemm_panel){ &g->column, x->at.j0 + j, k0, k,
							(int)gemm_least(x->at.n - j, g->columns),
							g->columns },
				  1);
	}
}

/* Rows [i, i + rows) of a block, by k from k0 on, where the kernel reads them. */
struct gemm_strip {
	struct gemm_left left;
	int64_t i, rows, k0, k;
};

/* A strip of rows by the panel of columns from j on. */
static void multiply_tile(const struct gemm *g, const struct gemm_block *x,
			  const struct gemm_strip *s, int64_t j)
{
	gemm_fn *kernel = g->run                  ? g->kernels->gemm_where_f32
			  : g->dtype == DTYPE_F64 ? g->kernels->gemm_f64
						  : g->kernels->gemm_f32;
	size_t bytes = gemm_panel_bytes(g->dtype);
	int vectors = g->columns * (int)bytes / g->kernels->vector_bytes;
	unsigned char *sums = x->sums + (size_t)(s->i * g->n_block + j) * bytes;

	if (j < x->read)
		kernel((int)s->rows, vectors, s->k, &s->left,
		       x->b + (s->k0 * g->k.step[1] + x->at.j0 + j) * (int64_t)bytes, g->k.step[1],
		       sums, g->n_block);
	else
		kernel((int)s->rows, vectors, s->k, &s->left, panel_at(g, x, j, s->k0, s->k),
		       g->columns, sums, g->n_block);
}

/* Rows of the strip that begins at row i of the block. */
static int64_t strip_at(const struct gemm *g, const struct gemm_block *x, int64_t i)
{
	int64_t rows = gemm_least(x->at.m - i, g->strip);

	return g->run ? gemm_least(rows, g->run - (x->at.i0 + i) % g->run) : rows;
}

/* Strip s, whose rows are known, by k from k0 on: read where it lies, or copied to `place`
 * among the strips. */
static void open_strip(const struct gemm *g, const struct gemm_block *x, struct gemm_strip *s,
		       int64_t place, int64_t k0, int64_t k)
{
	size_t bytes = gemm_panel_bytes(g->dtype);
	int64_t first = x->at.i0 + s->i;

	s->k0 = k0;
	s->k = k;
	if (g->run)
		s->left = (struct gemm_left){ .at = (const float *)(const void *)x->a +
						    axis_at(&g->row, 0, first),
					      .row = g->run_step,
					      .where = g->k.table[0] + k0 };
	else if (g->low)
		s->left = (struct gemm_left){
			.at = x->a + (first * g->row.step[0] + k0) * (int64_t)bytes,
			.row = g->row.step[0],
			.step = 1,
		};
	else
		s->left = gemm_copy_strip(
		    g, x->strips + (size_t)(place * g->strip * GEMM_STRIP_STEP) * bytes, x->a,
		    &(struct gemm_part){ first, s->rows, k0, k });
}

/* Few columns stay in the first caches, and each strip of rows goes by from end to
 * end. */
static void multiply_few(const struct gemm *g, const struct gemm_block *x, int64_t k0, int64_t k)
{
	struct gemm_strip s;
	int64_t end = k0 + k;

	for (s.i = 0; s.i < x->at.m; s.i += s.rows) {
		s.rows = strip_at(g, x, s.i);
		for (int64_t at = k0; at < end; at += GEMM_K_BLOCK) {
			open_strip(g, x, &s, 0, at, gemm_least(end - at, GEMM_K_BLOCK));
			for (int64_t j = 0; j < x->at.n; j += g->columns)
				multiply_tile(g, x, &s, j);
		}
	}
}

/* Else a panel of columns stays in the first cache, and all strips of a block of k
 * in the second. */
static void multiply(const struct gemm *g, const struct gemm_block *x, int64_t k0, int64_t k)
{
	struct gemm_strip strips[GEMM_M_BLOCK];
	int64_t end = k0 + k;

	if (x->at.n <= GEMM_FEW && !g->run) {
		multiply_few(g, x, k0, k);
		return;
	}
	for (; k0 < end; k0 += GEMM_K_BLOCK) {
		int64_t n = 0;

		k = gemm_least(end - k0, GEMM_K_BLOCK);
		for (int64_t i = 0; i < x->at.m; i += strips[n++].rows) {
			strips[n].i = i;
			strips[n].rows = strip_at(g, x, i);
			open_strip(g, x, &strips[n], n, k0, k);
		}
		for (int64_t j = 0; j < x->at.n; j += g->columns)
			for (int64_t s = 0; s < n; s++)
				multiply_tile(g, x, &strips[s], j);
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

static struct gemm_block open_block(const struct gemm_job *run, int64_t batch, int64_t j0)
{
	const struct gemm *g = run->g;
	int64_t element = (int64_t)dtype_bytes(g->dtype);
	struct gemm_block x = {
		.at.j0 = j0,
		.a = run->a + axis_at(&g->batch, 0, batch) * element,
		.b = run->b ? run->b + axis_at(&g->batch, 1, batch) * element : NULL,
	};

	if (g->shared) {
		x.width = padded(g);
		x.first_j = j0;
		x.panels = run->room + (size_t)(batch % g->panel_batches * x.width * g->k.size) *
					   gemm_panel_bytes(g->dtype);
	}
	return x;
}

/* The threads' first step, where panels are shared: groups of them, a block of k at
 * a time. */
static void pack_tasks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct gemm_job *run = context;
	const struct gemm *g = run->g;
	int64_t blocks = k_blocks_of(g), groups = groups_of(g), width = group_of(g) * g->columns;

	(void)thread;
	for (; begin < end; begin++) {
		int64_t panel = begin / blocks, k0 = begin % blocks * GEMM_K_BLOCK;
		struct gemm_block x = open_block(run, panel / groups, panel % groups * width);

		x.at.n = gemm_least(g->column.size - x.at.j0, width);
		pack_columns(g, &x, k0, gemm_least(g->k.size - k0, GEMM_K_BLOCK));
	}
}

/* Rows [i0, i0 + m) by columns [j0, j0 + n) are written. */
static void tell_block(const struct gemm_job *run, int64_t batch, const struct gemm_area *x,
		       int thread)
{
	const struct gemm *g = run->g;
	bool along = along_rows(g);
	const struct axis *slow = along ? &g->column : &g->row;
	int64_t at = axis_at(&g->batch, 2, batch), first = along ? x->j0 : x->i0;
	struct gemm_written w = { .rows = along ? x->n : x->m,
				  .columns = along ? x->m : x->n,
				  .step = slow->step[2] };

	if (!run->epilogue)
		return;
	at += along ? x->i0 : x->j0;
	if (slow->linear[2]) {
		w.start = at + axis_at(slow, 2, first);
		run->epilogue(run->context, &w, thread);
		return;
	}
	for (int64_t end = first + w.rows; first < end; first++) {
		w.start = at + axis_at(slow, 2, first);
		w.rows = 1;
		run->epilogue(run->context, &w, thread);
	}
}

/* `packed`: the scratch holds the columns of the task before, which are this one's. */
static void run_block(const struct gemm_job *run, int64_t task, int thread, bool packed)
{
	const struct gemm *g = run->g;
	unsigned char *scratch = run->room + g->shared_bytes + (size_t)thread * g->thread_bytes;
	int64_t batch = task / g->m_blocks / g->n_blocks;
	struct gemm_block x = open_block(run, batch, task / g->m_blocks % g->n_blocks * g->n_block);

	x.at.i0 = task % g->m_blocks * g->m_block;
	x.at.m = gemm_least(g->row.size - x.at.i0, g->m_block);
	x.at.n = gemm_least(g->column.size - x.at.j0, g->n_block);
	x.strips = scratch;
	x.sums = scratch + g->a_bytes;
	if (!g->shared) {
		x.panels = scratch + g->a_bytes + g->c_bytes;
		x.width = gemm_up_to(x.at.n, g->columns);
		x.read = g->in_place ? x.at.n - x.at.n % g->columns : 0;
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
		    run->c + axis_at(&g->batch, 2, batch) * (int64_t)dtype_bytes(g->dtype), &x.at);
	tell_block(run, batch, &x.at, thread);
}

/* Sums of ints wrap, element by element. */
static void run_ints(const struct gemm_job *run, int64_t task, int thread)
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
		   &(struct gemm_area){ .i0 = m0, .m = m_end - m0, .j0 = n0, .n = n_end - n0 },
		   thread);
}

static void run_tasks(void *context, int64_t begin, int64_t end, int thread)
{
	struct gemm_job *run = context;
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

static void tell_all(const struct gemm_job *run)
{
	const struct gemm *g = run->g;
	struct gemm_area x = { .m = g->row.size, .n = g->column.size };

	for (int64_t i = 0; i < g->batch.size; i++)
		tell_block(run, i, &x, 0);
}

void gemm_run(const struct gemm *g, const struct gemm_matrices *m, struct pool *pool)
{
	struct gemm_job run = { .g = g,
				.a = g->turned ? m->b : m->a,
				.b = g->turned ? m->a : m->b,
				.c = m->c,
				.room = m->room,
				.epilogue = m->epilogue,
				.context = m->context };
	int64_t each = group_of(g) * g->columns * gemm_least(g->k.size, GEMM_K_BLOCK);

	if (g->tasks == 0)
		return;
	if (g->blas && pool_threads(pool) == 1) {
		run_by_blas(g, m);
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
