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

#include <stdlib.h>
#include <string.h>

#include "fusion/backends/library.h"

enum {
	M_BLOCK = 240,       /* a multiple of every gemm_rows */
	N_BLOCK = 512,       /* half where vectors are short: so are caches */
	LONG_K_BLOCK = 4096, /* a multiple of GEMM_K_BLOCK; what a task packs at once */
	GROUP = 4,           /* panels */
	MOST_THREADS = 64,
	ALIGN = 64,
	TASK_FLOPS = 1 << 18,     /* what is worth a thread */
	WORTH_SHARING = 1 << 16,  /* elements of b that are packed by all threads together */
	MOST_SHARED = 64 << 20,   /* bytes of them that are kept */
	WORTH_A_THREAD = 1 << 13, /* elements of them */
};

static size_t aligned(size_t bytes)
{
	return (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static int64_t up_to(int64_t n, int64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static bool in_ints(enum dtype dtype)
{
	return dtype_category(dtype) != CATEGORY_FLOAT;
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

/* Blocks as large as caches like them, smaller where there would be too few. */
static void choose_blocks(struct gemm *g)
{
	int64_t m = g->row.size, n = g->column.size, rows = g->kernels->gemm_rows;
	int lanes = g->kernels->vector_bytes / (int)gemm_panel_bytes(g->dtype);
	double flops;

	g->columns = n <= lanes ? lanes : 2 * lanes;
	/* Of whole panels: what a few columns cost. */
	flops = (double)m * (double)up_to(n, g->columns) * (double)g->k.size *
		(double)g->batch.size;
	g->m_block = least(m, M_BLOCK);
	g->n_block = least(up_to(n, g->columns), lanes >= 16 ? N_BLOCK : N_BLOCK / 2);
	count_tasks(g);
	if (g->whole_rows)
		g->n_block = up_to(n, g->columns);
	count_tasks(g);
	while (g->tasks < 2 * MOST_THREADS && flops / (double)g->tasks >= 2.0 * TASK_FLOPS) {
		if (g->m_block > 4 * rows)
			g->m_block = up_to(g->m_block / 2, rows);
		else if (g->n_block > 128 && !g->whole_rows)
			g->n_block = up_to(g->n_block / 2, g->columns);
		else if (g->m_block > rows)
			g->m_block = up_to(g->m_block / 2, rows);
		else
			break;
		count_tasks(g);
	}
	g->grain = 1;
	if (g->tasks > 0 && flops / (double)g->tasks < TASK_FLOPS)
		g->grain = 1 + (int64_t)(TASK_FLOPS / (flops / (double)g->tasks + 1));
	if (g->grain < (g->tasks + MOST_THREADS - 1) / MOST_THREADS)
		g->grain = (g->tasks + MOST_THREADS - 1) / MOST_THREADS;
}

/* How much memory the blocks need, and where it is. */
static void size_memory(struct gemm *g)
{
	size_t unit = gemm_panel_bytes(g->dtype);
	int64_t rows = g->kernels->gemm_rows, n = up_to(g->column.size, g->columns);
	double elements = (double)g->batch.size * (double)g->k.size * (double)n;

	if (in_ints(g->dtype))
		return;
	g->in_place = reads_b_in_place(g);
	g->shared = !g->in_place && g->m_blocks > 1 &&
		    g->batch.size * g->n_blocks < 2 * MOST_THREADS && elements >= WORTH_SHARING &&
		    elements * (double)unit <= MOST_SHARED;
	if (g->shared)
		g->shared_bytes = aligned((size_t)(g->batch.size * g->k.size * n) * unit);
	g->k_block = g->shared ? g->k.size : least(g->k.size, LONG_K_BLOCK);
	g->a_bytes = aligned((size_t)(up_to(g->m_block, rows) * GEMM_STRIP_STEP) * unit);
	g->b_bytes = g->shared ? 0 : aligned((size_t)(g->n_block * g->k_block) * unit);
	g->c_bytes = aligned((size_t)(g->m_block * g->n_block) * unit);
	g->thread_bytes = g->a_bytes + g->b_bytes + g->c_bytes;
}

/* The operand with fewer rows or columns is packed, unless rows of the other are
 * parts of panels as they lie. */
static bool turns(const struct gemm *g)
{
	return !g->whole_rows && g->row.size < g->column.size && gemm_is_wide(g->dtype) &&
	       g->column.step[1] != 1 && g->column.linear[1] && g->k.linear[1] &&
	       g->row.linear[2] && g->column.linear[2];
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

/* What a run works on; task by task. */
struct run {
	const struct gemm *g;
	const unsigned char *a, *b;
	unsigned char *c;
	gemm_behind_fn *behind;
	void *context;
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
	return up_to(g->column.size, g->columns);
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
		k = least(end - k0, GEMM_K_BLOCK);
		if (x->b && gemm_is_wide(g->dtype) && g->column.linear[1] && g->k.linear[1] &&
		    g->column.step[1] == 1) {
			whole = x->n - x->n % g->columns;
			gemm_pack_rows(g, panel_at(g, x, x->read, k0, k), x->b, x->j0 + x->read,
				       (whole - x->read) / g->columns, k0, k);
		}
		for (int64_t j = whole; j < x->n; j += g->columns)
			gemm_pack(g, panel_at(g, x, j, k0, k), x->b, &g->column, x->j0 + j,
				  (int)least(x->n - j, g->columns), g->columns, k0, k, 1);
	}
}

/* A strip of rows by a panel of columns. */
static void multiply_tile(const struct gemm *g, const struct block *x, const struct gemm_left *a,
			  int64_t i, int64_t j, int64_t k0, int64_t k)
{
	gemm_fn *kernel = g->dtype == DTYPE_F64 ? g->kernels->gemm_f64 : g->kernels->gemm_f32;
	size_t bytes = gemm_panel_bytes(g->dtype);
	int rows = (int)least(x->m - i, g->kernels->gemm_rows);
	int vectors = g->columns * (int)bytes / g->kernels->vector_bytes;
	unsigned char *sums = x->sums + (size_t)(i * g->n_block + j) * bytes;

	if (j < x->read)
		kernel(rows, vectors, k, a, x->b + (size_t)(k0 * g->k.step[1] + x->j0 + j) * bytes,
		       g->k.step[1], sums, g->n_block);
	else
		kernel(rows, vectors, k, a, panel_at(g, x, j, k0, k), g->columns, sums, g->n_block);
}

/* Few columns stay in the first caches, and each strip of rows goes by from end to
 * end. */
static void multiply_few(const struct gemm *g, const struct block *x, int64_t k0, int64_t k)
{
	int64_t rows = g->kernels->gemm_rows, end = k0 + k;

	for (int64_t i = 0; i < x->m; i += rows)
		for (int64_t at = k0; at < end; at += GEMM_K_BLOCK) {
			struct gemm_left a;

			k = least(end - at, GEMM_K_BLOCK);
			a = gemm_copy_strip(g, x->strips, x->a, x->i0 + i,
					    (int)least(x->m - i, rows), at, k);
			for (int64_t j = 0; j < x->n; j += g->columns)
				multiply_tile(g, x, &a, i, j, at, k);
		}
}

/* Else a panel of columns stays in the first cache, and all strips of a block of k
 * in the second. */
static void multiply(const struct gemm *g, const struct block *x, int64_t k0, int64_t k)
{
	int64_t rows = g->kernels->gemm_rows, end = k0 + k;
	size_t strip = (size_t)(rows * GEMM_STRIP_STEP) * gemm_panel_bytes(g->dtype);
	struct gemm_left a[M_BLOCK];

	if (x->n <= GEMM_FEW) {
		multiply_few(g, x, k0, k);
		return;
	}
	for (; k0 < end; k0 += GEMM_K_BLOCK) {
		k = least(end - k0, GEMM_K_BLOCK);
		for (int64_t i = 0; i < x->m; i += rows)
			a[i / rows] = gemm_copy_strip(g, x->strips + (size_t)(i / rows) * strip,
						      x->a, x->i0 + i, (int)least(x->m - i, rows),
						      k0, k);
		for (int64_t j = 0; j < x->n; j += g->columns)
			for (int64_t i = 0; i < x->m; i += rows)
				multiply_tile(g, x, &a[i / rows], i, j, k0, k);
	}
}

/* Panels that are packed together: as many as rows of b are read in one go. */
static int64_t groups_of(const struct gemm *g)
{
	return (padded(g) / g->columns + GROUP - 1) / GROUP;
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
		x.panels = g->packed +
			   (size_t)(batch * x.width * g->k.size) * gemm_panel_bytes(g->dtype);
	}
	return x;
}

/* The threads' first step, where panels are shared: groups of them. */
static void pack_tasks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct run *run = context;
	const struct gemm *g = run->g;
	int64_t groups = groups_of(g), width = GROUP * g->columns;

	(void)thread;
	for (; begin < end; begin++) {
		struct block x = open_block(run, begin / groups, begin % groups * width);

		x.n = least(g->column.size - x.j0, width);
		pack_columns(g, &x, 0, g->k.size);
	}
}

bool gemm_tells_blocks(const struct gemm *g)
{
	return g->turned ? g->row.linear[2] && g->row.step[2] == 1
			 : g->column.linear[2] && g->column.step[2] == 1;
}

int gemm_threads(const struct gemm *g)
{
	return g->tasks ? (int)((g->tasks + g->grain - 1) / g->grain) : 0;
}

/* Rows [i0, i0 + m) by columns [j0, j0 + n) are written. */
static void tell_block(const struct run *run, int64_t batch, const struct block *x, int thread)
{
	const struct gemm *g = run->g;
	const struct axis *slow = g->turned ? &g->column : &g->row;
	int64_t at = axis_at(&g->batch, 2, batch), first = g->turned ? x->j0 : x->i0;
	struct gemm_written w = { .rows = g->turned ? x->n : x->m,
				  .columns = g->turned ? x->m : x->n,
				  .step = slow->step[2] };

	if (!run->behind)
		return;
	at += g->turned ? x->i0 : x->j0;
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
	x.m = least(g->row.size - x.i0, g->m_block);
	x.n = least(g->column.size - x.j0, g->n_block);
	x.strips = scratch;
	x.sums = scratch + g->a_bytes;
	if (!g->shared) {
		x.panels = scratch + g->a_bytes + g->c_bytes;
		x.width = up_to(x.n, g->columns);
		x.read = g->in_place ? x.n - x.n % g->columns : 0;
	}
	memset(x.sums, 0, g->c_bytes);
	for (int64_t k0 = 0; k0 < g->k.size; k0 += g->k_block) {
		int64_t k = least(g->k.size - k0, g->k_block);

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
	int64_t m_end, n_end = least(g->column.size, n0 + g->n_block);

	m0 = task % g->m_blocks * g->m_block;
	m_end = least(g->row.size, m0 + g->m_block);
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
	const struct run *run = context;
	const struct gemm *g = run->g;
	bool once = g->k.size <= g->k_block; /* what is packed is whole */

	for (int64_t task = begin; task < end; task++)
		if (in_ints(g->dtype))
			run_ints(run, task, thread);
		else
			run_block(run, task, thread,
				  task > begin && task % g->m_blocks != 0 && once);
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
	struct run run = { g, g->turned ? b : a, g->turned ? a : b, c, behind, context };
	int64_t each = GROUP * g->columns * g->k.size;

	if (g->tasks == 0)
		return;
	if (g->blas && pool_threads(pool) == 1) {
		gemm_blas_run(g, a, b, c);
		tell_all(&run);
		return;
	}
	if (g->shared)
		pool_run(pool, g->batch.size * groups_of(g),
			 each < WORTH_A_THREAD ? WORTH_A_THREAD / (each + 1) + 1 : 1, pack_tasks,
			 &run);
	pool_run(pool, g->tasks, g->grain, run_tasks, &run);
}
