/* fusion/backends/gemm.c -- blocks of a matrix product, shared by the threads.
 *
 * A task is one block of the result.  It copies blocks of both operands into
 * panels as the innermost kernel reads them, so strides, dtypes and edges
 * matter in the copy alone, and adds up in a block of its own.  How blocks are
 * cut and shared does not change a bit of the result.
 */
#include "fusion/backends/gemm.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/backends/library.h"

enum {
	M_BLOCK = 120, /* a multiple of every gemm_rows */
	N_BLOCK = 512,
	K_BLOCK = 256,
	MOST_THREADS = 64,
	ALIGN = 64,
	TASK_FLOPS = 1 << 19, /* what is worth a thread */
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

/* The element type of panels and sums. */
static size_t panel_bytes(enum dtype dtype)
{
	return dtype == DTYPE_F64 ? sizeof(double) : sizeof(float);
}

static size_t table_bytes(const struct axis_dims *dims)
{
	return dims->n > 1 ? aligned(3 * sizeof(int64_t) * (size_t)dims->size) : 0;
}

/* Fills in an axis; its tables, if it needs any, lie at `memory`. */
static unsigned char *make_axis(struct axis *axis, const struct axis_dims *dims,
				unsigned char *memory)
{
	*axis = (struct axis){ .size = dims->size };
	for (int i = 0; i < 3 && dims->n == 1; i++)
		axis->step[i] = dims->at[0].stride[i];
	for (int i = 0; i < 3 && dims->n > 1; i++) {
		int64_t *table = (int64_t *)memory + i * dims->size;

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
	return memory + table_bytes(dims);
}

static inline int64_t at(const struct axis *axis, int operand, int64_t i)
{
	return axis->table[operand] ? axis->table[operand][i] : i * axis->step[operand];
}

/* Blocks as large as caches like them, smaller where there would be too few. */
static void choose_blocks(struct gemm *g)
{
	int64_t m = g->row.size, n = g->column.size, batch = g->batch.size;
	double flops = (double)m * (double)n * (double)g->k.size * (double)batch;

	g->columns = 2 * g->kernels->vector_bytes / (int)panel_bytes(g->dtype);
	g->m_block = least(m, M_BLOCK);
	g->n_block = least(up_to(n, g->columns), N_BLOCK);
	g->k_block = least(g->k.size, K_BLOCK);
	for (;;) {
		g->m_blocks = g->m_block ? (m + g->m_block - 1) / g->m_block : 0;
		g->n_blocks = g->n_block ? (n + g->n_block - 1) / g->n_block : 0;
		g->tasks = batch * g->m_blocks * g->n_blocks;
		if (g->n_block <= 128 || g->tasks >= 2 * MOST_THREADS ||
		    flops / (double)g->tasks < 4.0 * TASK_FLOPS)
			break;
		g->n_block /= 2;
	}
	g->grain = 1;
	if (g->tasks > 0 && flops / (double)g->tasks < TASK_FLOPS)
		g->grain = 1 + (int64_t)(TASK_FLOPS / (flops / (double)g->tasks + 1));
	if (g->grain < (g->tasks + MOST_THREADS - 1) / MOST_THREADS)
		g->grain = (g->tasks + MOST_THREADS - 1) / MOST_THREADS;
}

struct gemm *gemm_create(const struct gemm *like, const struct axis_dims *batch,
			 const struct axis_dims *row, const struct axis_dims *column,
			 const struct axis_dims *k)
{
	struct gemm g = *like, *made;
	size_t tables = table_bytes(batch) + table_bytes(row) + table_bytes(column) +
			table_bytes(k);
	size_t unit = panel_bytes(g.dtype), total;
	int64_t threads;
	unsigned char *memory;

	g.batch.size = batch->size;
	g.row.size = row->size;
	g.column.size = column->size;
	g.k.size = k->size;
	choose_blocks(&g);
	g.a_bytes = aligned((size_t)(g.m_block * g.k_block) * unit);
	g.b_bytes = aligned((size_t)(g.n_block * g.k_block) * unit);
	g.c_bytes = aligned((size_t)(g.m_block * g.n_block) * unit);
	g.thread_bytes = in_ints(g.dtype) ? 0 : g.a_bytes + g.b_bytes + g.c_bytes;
	threads = g.tasks ? (g.tasks + g.grain - 1) / g.grain : 0;
	total = aligned(sizeof(g)) + tables + (size_t)threads * g.thread_bytes;
	if (posix_memalign((void **)&made, ALIGN, total) != 0)
		return NULL;
	memory = make_axis(&g.batch, batch, (unsigned char *)made + aligned(sizeof(g)));
	memory = make_axis(&g.row, row, memory);
	memory = make_axis(&g.column, column, memory);
	g.scratch = make_axis(&g.k, k, memory);
	*made = g;
	return made;
}

/* What a run works on; task by task. */
struct run {
	const struct gemm *g;
	const unsigned char *a, *b;
	unsigned char *c;
};

/* Copies `rows` x `n` elements into a panel: to[k * rows + r].  `fill` rows from
 * `have` on are zeros.  Float and double differ in the type alone. */
#define PACK(T, name, GET)                                                                         \
	static void name(T *to, const void *from, enum dtype dtype, const struct axis *across,     \
			 int64_t first, int have, int rows, const struct axis *along, int64_t k0,  \
			 int64_t n, int which)                                                     \
	{                                                                                          \
		(void)dtype;                                                                       \
		for (int r = 0; r < have; r++) {                                                   \
			int64_t start = at(across, which, first + r);                              \
			if (along->table[which])                                                   \
				for (int64_t k = 0; k < n; k++)                                    \
					to[k * rows + r] = GET(                                    \
					    from, start + along->table[which][k0 + k]);            \
			else                                                                       \
				for (int64_t k = 0, p = start + k0 * along->step[which]; k < n;    \
				     k++, p += along->step[which])                                 \
					to[k * rows + r] = GET(from, p);                           \
		}                                                                                  \
		for (int r = have; r < rows; r++)                                                  \
			for (int64_t k = 0; k < n; k++)                                            \
				to[k * rows + r] = 0;                                              \
	}
#define GET_F32(from, i) ((const float *)(from))[i]
#define GET_F64(from, i) ((const double *)(from))[i]
#define GET_ANY(from, i) ((float)dtype_get_double(dtype, from, i))
PACK(float, pack_f32, GET_F32)
PACK(double, pack_f64, GET_F64)
PACK(float, pack_any, GET_ANY)

/* Four rows of four become four columns. */
typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));
static void turn(float *to, int64_t to_step, const float *from, int64_t from_step)
{
	quad a = *(const quad *)from, b = *(const quad *)(from + from_step);
	quad c = *(const quad *)(from + 2 * from_step), d = *(const quad *)(from + 3 * from_step);
	quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
	quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
	quad ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
	quad cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);

	*(quad *)to = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
	*(quad *)(to + to_step) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
	*(quad *)(to + 2 * to_step) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
	*(quad *)(to + 3 * to_step) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
}

/* A panel of float32 whose summed dim is side by side in memory, `step` apart
 * across: the rows of a transposed weight. */
static void pack_turned(float *to, const float *from, int64_t step, int rows, int64_t n)
{
	for (int64_t k = 0; k < n; k += 4) {
		int64_t left = n - k;

		for (int r = 0; r < rows; r += 4) {
			const float *at = from + r * step + k;

			if (left >= 4 && r + 4 <= rows) {
				turn(to + k * rows + r, rows, at, step);
				continue;
			}
			for (int i = 0; i < 4 && r + i < rows; i++)
				for (int64_t j = 0; j < 4 && j < left; j++)
					to[(k + j) * rows + r + i] = at[i * step + j];
		}
	}
}

static bool is_linear(const struct axis *axis, int which)
{
	return !axis->table[which];
}

static void pack(const struct gemm *g, void *to, const void *from, const struct axis *across,
		 int64_t first, int have, int rows, int64_t k0, int64_t n, int which)
{
	size_t bytes = panel_bytes(g->dtype);

	/* Rows of neighbours in memory, and as many as a panel has: plain copies. */
	if (from && have == rows && !across->table[which] && across->step[which] == 1 &&
	    (g->dtype == DTYPE_F32 || g->dtype == DTYPE_F64)) {
		for (int64_t k = 0; k < n; k++)
			memcpy((char *)to + (size_t)(k * rows) * bytes,
			       (const char *)from +
				   (size_t)(first + at(&g->k, which, k0 + k)) * bytes,
			       (size_t)rows * bytes);
		return;
	}
	if (from && have == rows && g->dtype == DTYPE_F32 && is_linear(across, which) &&
	    is_linear(&g->k, which) && g->k.step[which] == 1) {
		pack_turned(to, (const float *)from + first * across->step[which] + k0,
			    across->step[which], rows, n);
		return;
	}
	if (!from) { /* a missing operand is all ones */
		for (int64_t i = 0; i < n * rows; i++)
			if (g->dtype == DTYPE_F64)
				((double *)to)[i] = i % rows < have;
			else
				((float *)to)[i] = (float)(i % rows < have);
		return;
	}
	if (g->dtype == DTYPE_F64)
		pack_f64(to, from, g->dtype, across, first, have, rows, &g->k, k0, n, which);
	else if (g->dtype == DTYPE_F32)
		pack_f32(to, from, g->dtype, across, first, have, rows, &g->k, k0, n, which);
	else
		pack_any(to, from, g->dtype, across, first, have, rows, &g->k, k0, n, which);
}

/* The block's sums into the result, rounded to its dtype. */
static void unpack(const struct gemm *g, const void *sums, void *c, int64_t i0, int64_t m,
		   int64_t j0, int64_t n)
{
	bool dense = !g->column.table[2] && g->column.step[2] == 1;
	size_t bytes = panel_bytes(g->dtype);

	for (int64_t i = 0; i < m; i++) {
		const char *row = (const char *)sums + (size_t)(i * g->n_block) * bytes;
		int64_t start = at(&g->row, 2, i0 + i);

		if (dense && (g->dtype == DTYPE_F32 || g->dtype == DTYPE_F64)) {
			memcpy((char *)c + (size_t)(start + j0) * bytes, row, (size_t)n * bytes);
			continue;
		}
		for (int64_t j = 0; j < n; j++)
			dtype_put_double(g->dtype, c, start + at(&g->column, 2, j0 + j),
					 g->dtype == DTYPE_F64 ? ((const double *)row)[j]
							       : ((const float *)row)[j]);
	}
}

/* Few rows use each element of b so rarely that a copy does not pay: its panels
 * are read where they lie, but for a last one that is not full. */
static bool reads_in_place(const struct gemm *g, const void *b, int64_t m)
{
	return b && m <= g->kernels->gemm_rows && g->dtype != DTYPE_F16 && g->dtype != DTYPE_BF16 &&
	       is_linear(&g->column, 1) && g->column.step[1] == 1 && is_linear(&g->k, 1);
}

/* `direct`: element (k0, j0) of b in memory, or NULL. */
static void multiply(const struct gemm *g, const unsigned char *a, const unsigned char *b,
		     const unsigned char *direct, unsigned char *c, int64_t m, int64_t n, int64_t k)
{
	gemm_fn *kernel = g->dtype == DTYPE_F64 ? g->kernels->gemm_f64 : g->kernels->gemm_f32;
	size_t bytes = panel_bytes(g->dtype);

	for (int64_t j = 0; j < n; j += g->columns) {
		bool here = direct && j + g->columns <= n;
		const unsigned char *panel = here ? direct + (size_t)j * bytes
						  : b + (size_t)(j * k) * bytes;

		for (int64_t i = 0; i < m; i += g->kernels->gemm_rows)
			kernel((int)least(m - i, g->kernels->gemm_rows), k,
			       a + (size_t)(i * k) * bytes, panel, here ? g->k.step[1] : g->columns,
			       c + (size_t)(i * g->n_block + j) * bytes, g->n_block);
	}
}

static void run_block(const struct run *run, int64_t task, unsigned char *scratch)
{
	const struct gemm *g = run->g;
	int64_t j0 = task % g->n_blocks * g->n_block, i0, batch;
	int64_t n = least(g->column.size - j0, g->n_block), m;
	unsigned char *pa = scratch, *pb = scratch + g->a_bytes, *sums = pb + g->b_bytes;
	size_t bytes = panel_bytes(g->dtype), element = dtype_bytes(g->dtype);
	const unsigned char *a, *b;
	int most = g->kernels->gemm_rows;
	bool direct;

	i0 = task / g->n_blocks % g->m_blocks * g->m_block;
	batch = task / g->n_blocks / g->m_blocks;
	m = least(g->row.size - i0, g->m_block);
	a = run->a + at(&g->batch, 0, batch) * (int64_t)element;
	b = run->b ? run->b + at(&g->batch, 1, batch) * (int64_t)element : NULL;
	direct = reads_in_place(g, b, m);
	memset(sums, 0, g->c_bytes);
	for (int64_t k0 = 0; k0 < g->k.size; k0 += g->k_block) {
		int64_t k = least(g->k.size - k0, g->k_block);

		for (int64_t i = 0; i < m; i += most) {
			int rows = (int)least(m - i, most);

			pack(g, pa + (size_t)(i * k) * bytes, a, &g->row, i0 + i, rows, rows, k0, k,
			     0);
		}
		for (int64_t j = direct ? n - n % g->columns : 0; j < n; j += g->columns)
			pack(g, pb + (size_t)(j * k) * bytes, b, &g->column, j0 + j,
			     (int)least(n - j, g->columns), g->columns, k0, k, 1);
		multiply(g, pa, pb, direct ? b + (size_t)(k0 * g->k.step[1] + j0) * element : NULL,
			 sums, m, n, k);
	}
	unpack(g, sums, run->c + at(&g->batch, 2, batch) * (int64_t)element, i0, m, j0, n);
}

/* Sums of ints wrap, element by element. */
static void run_ints(const struct run *run, int64_t task)
{
	const struct gemm *g = run->g;
	int64_t n0 = task % g->n_blocks * g->n_block, m0;
	int64_t batch = task / g->n_blocks / g->m_blocks;
	int64_t m_end, n_end = least(g->column.size, n0 + g->n_block);

	m0 = task / g->n_blocks % g->m_blocks * g->m_block;
	m_end = least(g->row.size, m0 + g->m_block);
	for (int64_t i = m0; i < m_end; i++)
		for (int64_t j = n0; j < n_end; j++) {
			int64_t pa = at(&g->batch, 0, batch) + at(&g->row, 0, i);
			int64_t pb = at(&g->batch, 1, batch) + at(&g->column, 1, j);
			uint64_t sum = 0;

			for (int64_t k = 0; k < g->k.size; k++) {
				int64_t x = dtype_get_int(g->dtype, run->a, pa + at(&g->k, 0, k));
				int64_t y = run->b ? dtype_get_int(g->dtype, run->b,
								   pb + at(&g->k, 1, k))
						   : 1;

				sum += (uint64_t)x * (uint64_t)y;
			}
			dtype_put_int(g->dtype, run->c,
				      at(&g->batch, 2, batch) + at(&g->row, 2, i) +
					  at(&g->column, 2, j),
				      (int64_t)sum);
		}
}

static void run_tasks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct run *run = context;
	const struct gemm *g = run->g;

	for (int64_t task = begin; task < end; task++)
		if (in_ints(g->dtype))
			run_ints(run, task);
		else
			run_block(run, task, g->scratch + (size_t)thread * g->thread_bytes);
}

void gemm_run(const struct gemm *g, const void *a, const void *b, void *c, struct pool *pool)
{
	struct run run = { g, a, b, c };

	if (g->tasks > 0)
		pool_run(pool, g->tasks, g->grain, run_tasks, &run);
}
