/* fusion/backends/gemm.c -- blocks of a matrix product, shared by the threads.
 *
 * A task is one block of the result.  It copies blocks of both operands into
 * panels as the innermost kernel reads them, so strides, dtypes and edges
 * matter in the copy alone, and adds up in a block of its own.  A first operand
 * that is used for few columns is read where it lies.  How blocks are cut and
 * shared does not change a bit of the result, nor do layouts.
 */
#include "fusion/backends/gemm.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/backends/library.h"

enum {
	M_BLOCK = 240, /* a multiple of every gemm_rows */
	N_BLOCK = 512,
	K_BLOCK = GEMM_K_BLOCK,
	LONG_K_BLOCK = 4096, /* a multiple; of a column operand that stays in the cache */
	MOST_THREADS = 64,
	ALIGN = 64,
	TASK_FLOPS = 1 << 19, /* what is worth a thread */
	STRIP_STEP = K_BLOCK + 16,
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

static bool is_narrow(enum dtype dtype)
{
	return dtype == DTYPE_F16 || dtype == DTYPE_BF16;
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

/* The axis's tables, if it needs any, lie at `memory`. */
static unsigned char *make_axis(struct axis *axis, const struct axis_dims *dims,
				unsigned char *memory)
{
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

static void count_tasks(struct gemm *g)
{
	g->m_blocks = g->m_block ? (g->row.size + g->m_block - 1) / g->m_block : 0;
	g->n_blocks = g->n_block ? (g->column.size + g->n_block - 1) / g->n_block : 0;
	g->tasks = g->batch.size * g->m_blocks * g->n_blocks;
}

static bool is_linear(const struct axis *axis, int which)
{
	return !axis->table[which];
}

/* Blocks as large as caches like them, smaller where there would be too few. */
static void choose_blocks(struct gemm *g)
{
	int64_t m = g->row.size, n = g->column.size, most = g->kernels->gemm_rows;
	double flops = (double)m * (double)n * (double)g->k.size * (double)g->batch.size;
	int lanes = g->kernels->vector_bytes / (int)panel_bytes(g->dtype);

	g->columns = n <= lanes ? lanes : 2 * lanes;
	g->m_block = least(m, M_BLOCK);
	g->n_block = least(up_to(n, g->columns), N_BLOCK);
	g->k_block = least(g->k.size, n <= GEMM_FEW ? LONG_K_BLOCK : K_BLOCK);
	count_tasks(g);
	while (g->tasks < 2 * MOST_THREADS && flops / (double)g->tasks >= 2.0 * TASK_FLOPS) {
		if (g->n_block > 128)
			g->n_block = up_to(g->n_block / 2, g->columns);
		else if (g->m_block > 2 * most)
			g->m_block = up_to(g->m_block / 2, most);
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

/* Few rows and many columns: the other way about, the many are read in place
 * and none are copied. */
static bool turns(const struct gemm *g, const struct axis_dims *row, const struct axis_dims *column,
		  const struct axis_dims *k)
{
	return row->size < column->size && row->size <= GEMM_FEW && column->n <= 1 && k->n <= 1 &&
	       (g->dtype == DTYPE_F32 || g->dtype == DTYPE_F64);
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

/* Sizes, and steps where they are linear. */
static struct axis axis_of(const struct axis_dims *dims)
{
	struct axis axis = { .size = dims->size };

	for (int i = 0; i < 3 && dims->n == 1; i++)
		axis.step[i] = dims->at[0].stride[i];
	return axis;
}

static struct gemm *make(struct gemm g, const struct axis_dims dims[4])
{
	size_t tables = 0, unit = panel_bytes(g.dtype);
	struct gemm *made;
	unsigned char *memory;
	int64_t threads;

	for (int i = 0; i < 4; i++)
		tables += table_bytes(&dims[i]);
	g.batch = axis_of(&dims[0]);
	g.row = axis_of(&dims[1]);
	g.column = axis_of(&dims[2]);
	g.k = axis_of(&dims[3]);
	if (!gemm_prefers_blas(&g, dims[1].n <= 1 && dims[2].n <= 1 && dims[3].n <= 1)) {
		g.blas = NULL;
		choose_blocks(&g);
		g.a_bytes = aligned((size_t)(up_to(g.m_block, g.kernels->gemm_rows) * STRIP_STEP) *
				    unit);
		g.b_bytes = aligned((size_t)(g.n_block * g.k_block) * unit);
		g.c_bytes = aligned((size_t)(g.m_block * g.n_block) * unit);
		g.thread_bytes = in_ints(g.dtype) ? 0 : g.a_bytes + g.b_bytes + g.c_bytes;
	}
	threads = g.tasks ? (g.tasks + g.grain - 1) / g.grain : 0;
	if (posix_memalign((void **)&made, ALIGN,
			   aligned(sizeof(g)) + tables + (size_t)threads * g.thread_bytes) != 0)
		return NULL;
	memory = make_axis(&g.batch, &dims[0], (unsigned char *)made + aligned(sizeof(g)));
	memory = make_axis(&g.row, &dims[1], memory);
	memory = make_axis(&g.column, &dims[2], memory);
	g.scratch = make_axis(&g.k, &dims[3], memory);
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
	if (!made || made->blas || !turns(&g, row, column, k))
		return made;
	free(made);
	g.turned = true;
	g.blas = NULL;
	return make(g, (struct axis_dims[]){ turn_dims(batch), turn_dims(column), turn_dims(row),
					     turn_dims(k) });
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
void gemm_pack_turned(float *to, const float *from, int64_t step, int have, int rows, int64_t n)
{
	if (have < rows)
		memset(to, 0, (size_t)(n * rows) * sizeof(*to));
	for (int r = 0; r < have; r += 4) {
		const float *at = from + r * step;
		int64_t k = 0;

		for (; r + 4 <= have && k + 4 <= n; k += 4)
			turn(to + k * rows + r, rows, at + k, step);
		for (; k < n; k++)
			for (int i = 0; i < 4 && r + i < have; i++)
				to[k * rows + r + i] = at[i * step + k];
	}
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
	if (from && g->dtype == DTYPE_F32 && is_linear(across, which) && is_linear(&g->k, which) &&
	    g->k.step[which] == 1) {
		gemm_pack_turned(to, (const float *)from + first * across->step[which] + k0,
				 across->step[which], have, rows, n);
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
	if (is_narrow(g->dtype) &&
	    gemm_pack_narrow(g, to, from, &(struct panel){ across, first, k0, n, have, rows },
			     which))
		return;
	if (g->dtype == DTYPE_F64)
		pack_f64(to, from, g->dtype, across, first, have, rows, &g->k, k0, n, which);
	else if (g->dtype == DTYPE_F32)
		pack_f32(to, from, g->dtype, across, first, have, rows, &g->k, k0, n, which);
	else
		pack_any(to, from, g->dtype, across, first, have, rows, &g->k, k0, n, which);
}

/* A block of float32 whose rows lie side by side in the result. */
static void unpack_turned(const struct gemm *g, const float *sums, float *c, int64_t m, int64_t n)
{
	int64_t step = g->column.step[2];

	for (int64_t j = 0; j < n; j += 4)
		for (int64_t i = 0; i < m; i += 4) {
			const float *from = sums + i * g->n_block + j;
			float *to = c + j * step + i;

			if (i + 4 <= m && j + 4 <= n) {
				turn(to, step, from, g->n_block);
				continue;
			}
			for (int64_t y = 0; y < 4 && j + y < n; y++)
				for (int64_t x = 0; x < 4 && i + x < m; x++)
					to[y * step + x] = from[x * g->n_block + y];
		}
}

/* The block's sums into the result, rounded to its dtype. */
static void unpack(const struct gemm *g, const void *sums, void *c, int64_t i0, int64_t m,
		   int64_t j0, int64_t n)
{
	bool dense = !g->column.table[2] && g->column.step[2] == 1;
	size_t bytes = panel_bytes(g->dtype);

	if (g->dtype == DTYPE_F32 && !dense && is_linear(&g->column, 2) && is_linear(&g->row, 2) &&
	    g->row.step[2] == 1) {
		unpack_turned(g, sums, (float *)c + i0 + j0 * g->column.step[2], m, n);
		return;
	}
	for (int64_t i = 0; i < m; i++) {
		const char *row = (const char *)sums + (size_t)(i * g->n_block) * bytes;
		int64_t start = at(&g->row, 2, i0 + i);

		if (dense && (g->dtype == DTYPE_F32 || g->dtype == DTYPE_F64)) {
			memcpy((char *)c + (size_t)(start + j0) * bytes, row, (size_t)n * bytes);
			continue;
		}
		if (dense && is_narrow(g->dtype)) {
			gemm_round_narrow(g, (uint16_t *)c + start + j0, (const float *)row, n);
			continue;
		}
		for (int64_t j = 0; j < n; j++)
			dtype_put_double(g->dtype, c, start + at(&g->column, 2, j0 + j),
					 g->dtype == DTYPE_F64 ? ((const double *)row)[j]
							       : ((const float *)row)[j]);
	}
}

static bool floats_as_they_are(const struct gemm *g)
{
	return g->dtype == DTYPE_F32 || g->dtype == DTYPE_F64;
}

/* One block of the result. */
struct block {
	int64_t i0, j0, m, n;
	const unsigned char *a, *b;
	const unsigned char *here_b; /* element (0, j0) of b that is read where it lies */
	bool strips;                 /* a is copied strip by strip, where it is used */
	unsigned char *panel_a, *panel_b, *sums;
};

/* Few rows use each element of b so rarely that a copy does not pay, but for a
 * last panel that is not full. */
static bool reads_b_in_place(const struct gemm *g, const struct block *x)
{
	return x->b && x->m <= g->kernels->gemm_rows && floats_as_they_are(g) &&
	       is_linear(&g->column, 1) && g->column.step[1] == 1 && is_linear(&g->k, 1);
}

/* Few columns use each element of a so rarely that turning it does not pay. */
static bool copies_strips(const struct gemm *g)
{
	return g->column.size <= GEMM_FEW && floats_as_they_are(g) && is_linear(&g->row, 0) &&
	       is_linear(&g->k, 0);
}

/* A strip of rows by a panel of columns, over k0 and the k - 1 that follow; panels
 * of columns lie in memory from `packed` on. */
static void multiply_tile(const struct gemm *g, const struct block *x, int64_t i, int64_t j,
			  int64_t k0, int64_t k, int64_t packed)
{
	gemm_fn *kernel = g->dtype == DTYPE_F64 ? g->kernels->gemm_f64 : g->kernels->gemm_f32;
	size_t bytes = panel_bytes(g->dtype);
	int most = g->kernels->gemm_rows, rows = (int)least(x->m - i, most);
	bool here = x->here_b && j + g->columns <= x->n;
	int64_t panels = up_to(x->n, g->columns) * (k0 - packed) + j * k;
	const unsigned char *b = here ? x->here_b + (size_t)(k0 * g->k.step[1] + j) * bytes
				      : x->panel_b + (size_t)panels * bytes;
	struct gemm_left a = { x->panel_a + (size_t)(i * k) * bytes, 1, rows };

	if (x->strips) {
		a.at = x->panel_a;
		a.row = g->k.step[0] == 1 ? STRIP_STEP : 1;
		a.step = g->k.step[0] == 1 ? 1 : rows;
	}
	kernel(rows, g->columns * (int)bytes / g->kernels->vector_bytes, k, &a, b,
	       here ? g->k.step[1] : g->columns, x->sums + (size_t)(i * g->n_block + j) * bytes,
	       g->n_block);
}

/* A strip as it lies: rows of neighbours are copied whole, at a distance that does
 * not put all of them into the same few lines of the first cache. */
static void copy_strip(const struct gemm *g, const struct block *x, int64_t i, int64_t k0,
		       int64_t k)
{
	size_t bytes = panel_bytes(g->dtype);
	int rows = (int)least(x->m - i, g->kernels->gemm_rows);

	if (g->k.step[0] != 1) {
		pack(g, x->panel_a, x->a, &g->row, x->i0 + i, rows, rows, k0, k, 0);
		return;
	}
	for (int r = 0; r < rows; r++)
		memcpy(x->panel_a + (size_t)(r * STRIP_STEP) * bytes,
		       x->a + (size_t)((x->i0 + i + r) * g->row.step[0] + k0) * bytes,
		       (size_t)k * bytes);
}

/* Where columns are few, each strip of rows is gone through from end to end. */
static void multiply(const struct gemm *g, const struct block *x, int64_t k0, int64_t k)
{
	int64_t strip = g->kernels->gemm_rows, end = k0 + k, packed = k0;

	if (!x->strips) {
		for (int64_t j = 0; j < x->n; j += g->columns)
			for (int64_t i = 0; i < x->m; i += strip)
				multiply_tile(g, x, i, j, k0, k, k0);
		return;
	}
	for (int64_t i = 0; i < x->m; i += strip)
		for (k0 = packed; k0 < end; k0 += K_BLOCK) {
			k = least(end - k0, K_BLOCK);
			copy_strip(g, x, i, k0, k);
			for (int64_t j = 0; j < x->n; j += g->columns)
				multiply_tile(g, x, i, j, k0, k, packed);
		}
}

static void pack_block(const struct gemm *g, const struct block *x, int64_t k0, int64_t k)
{
	size_t bytes = panel_bytes(g->dtype);
	int most = g->kernels->gemm_rows;
	int64_t whole = x->n - x->n % g->columns, end = k0 + k;
	unsigned char *to = x->panel_b;

	for (int64_t i = 0; i < x->m && !x->strips; i += most) {
		int rows = (int)least(x->m - i, most);

		pack(g, x->panel_a + (size_t)(i * k) * bytes, x->a, &g->row, x->i0 + i, rows, rows,
		     k0, k, 0);
	}
	for (; k0 < end; k0 += k) {
		k = least(end - k0, K_BLOCK);
		for (int64_t j = x->here_b ? whole : 0; j < x->n; j += g->columns)
			pack(g, to + (size_t)(j * k) * bytes, x->b, &g->column, x->j0 + j,
			     (int)least(x->n - j, g->columns), g->columns, k0, k, 1);
		to += (size_t)(up_to(x->n, g->columns) * k) * bytes;
	}
}

/* `packed`: the scratch holds the columns of the task before, which are this one's. */
static void run_block(const struct run *run, int64_t task, unsigned char *scratch, bool packed)
{
	const struct gemm *g = run->g;
	int64_t batch = task / g->n_blocks / g->m_blocks, element = (int64_t)dtype_bytes(g->dtype);
	struct block x = {
		.i0 = task / g->n_blocks % g->m_blocks * g->m_block,
		.j0 = task % g->n_blocks * g->n_block,
		.a = run->a + at(&g->batch, 0, batch) * element,
		.b = run->b ? run->b + at(&g->batch, 1, batch) * element : NULL,
		.panel_a = scratch,
		.panel_b = scratch + g->a_bytes,
		.sums = scratch + g->a_bytes + g->b_bytes,
	};

	x.m = least(g->row.size - x.i0, g->m_block);
	x.n = least(g->column.size - x.j0, g->n_block);
	x.strips = copies_strips(g);
	if (reads_b_in_place(g, &x))
		x.here_b = x.b + x.j0 * element;
	memset(x.sums, 0, g->c_bytes);
	for (int64_t k0 = 0, step = x.strips ? g->k_block : K_BLOCK; k0 < g->k.size; k0 += step) {
		int64_t k = least(g->k.size - k0, step);

		if (!packed)
			pack_block(g, &x, k0, k);
		multiply(g, &x, k0, k);
	}
	unpack(g, x.sums, run->c + at(&g->batch, 2, batch) * element, x.i0, x.m, x.j0, x.n);
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

/* Whether a task's columns are those of the task before, and still packed. */
static bool keeps_columns(const struct gemm *g, int64_t task)
{
	return copies_strips(g) && g->n_blocks == 1 && g->k.size <= g->k_block &&
	       task % g->m_blocks != 0;
}

static void run_tasks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct run *run = context;
	const struct gemm *g = run->g;

	for (int64_t task = begin; task < end; task++)
		if (g->blas)
			gemm_blas_task(g, run->a, run->b, run->c, task,
				       g->scratch + (size_t)thread * g->thread_bytes);
		else if (in_ints(g->dtype))
			run_ints(run, task);
		else
			run_block(run, task, g->scratch + (size_t)thread * g->thread_bytes,
				  task > begin && keeps_columns(g, task));
}

void gemm_run(const struct gemm *g, const void *a, const void *b, void *c, struct pool *pool)
{
	struct run run = { g, g->turned ? b : a, g->turned ? a : b, c };

	if (g->tasks > 0)
		pool_run(pool, g->tasks, g->grain, run_tasks, &run);
}
