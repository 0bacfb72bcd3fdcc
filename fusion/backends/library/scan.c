/* fusion/backends/library/scan.c -- what runs along one dim: running sums and extremes, argmax,
 * sort, topk.
 */
#define FUNCTION_scan(id) &library_##id
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/library/library.h"

/* ---- running sums and products: cumsum, cumprod, logcumsumexp
 *
 * A running sum of float32 is kept in float64 and rounded at each element, as
 * PyTorch does on the CPU.
 */

enum { BLOCK = 256 }; /* running sums side by side: they share cache lines */

/* A call cut into lines along the dim. */
struct scan {
	const struct library_call *call;
	const char *in;
	char *out;
	int dim;
	int64_t length, inner; /* of the result: elements along the dim, and after it */
	bool product, powers;  /* powers: sums of exp(x), kept as logarithms */
};

static double log_sum(double a, double b)
{
	double most = a > b || isnan(a) ? a : b;

	return isinf(most) ? most : most + log(exp(a - most) + exp(b - most));
}

static void join(const struct scan *s, union number *sum, double value)
{
	sum->f = s->powers ? log_sum(sum->f, value) : s->product ? sum->f * value : sum->f + value;
}

static void join_int(union number *sum, int64_t value, bool product)
{
	sum->u = product ? sum->u * (uint64_t)value : sum->u + (uint64_t)value;
}

/* Elements `from` and `to`, 0 <= j < n apart by `step` and 1, of one position
 * along the dim: adds to the sums and writes them. */
static void add_line(const struct scan *s, int64_t from, int64_t step, int64_t to, int64_t n,
		     union number *sum)
{
	enum dtype in = s->call->arg[0].dtype, out = s->call->out.dtype;

	for (int64_t j = 0; j < n; j++) {
		int64_t at = from + j * step;

		if (dtype_category(out) != CATEGORY_FLOAT) {
			join_int(&sum[j], dtype_get_int(in, s->in, at), s->product);
			dtype_put_int(out, s->out, to + j, sum[j].i);
			continue;
		}
		if (out == DTYPE_F64)
			join(s, &sum[j], dtype_get_double(in, s->in, at));
		else
			join(s, &sum[j], (double)(float)dtype_get_double(in, s->in, at));
		dtype_put_double(out, s->out, to + j, sum[j].f);
	}
}

/* The common case: float32 elements side by side. */
static void add_floats(const float *in, float *out, int64_t n, union number *sum)
{
	for (int64_t j = 0; j < n; j++) {
		sum[j].f += (double)in[j];
		out[j] = (float)sum[j].f;
	}
}

/* One running sum of float32: its own loop, where the sum stays in a register. */
static void run_floats(const float *in, int64_t in_step, float *out, int64_t out_step, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++) {
		sum += (double)in[i * in_step];
		out[i * out_step] = (float)sum;
	}
}

static void clear(const struct scan *s, union number *sum)
{
	bool floats = dtype_category(s->call->out.dtype) == CATEGORY_FLOAT;

	for (int j = 0; j < BLOCK; j++)
		if (floats)
			sum[j].f = s->powers ? -INFINITY : s->product;
		else
			sum[j].i = s->product;
}

/* Blocks of sums: the dims after `dim`, BLOCK positions at a time. */
static void run_blocks(void *context, int64_t begin, int64_t end, int thread)
{
	const struct scan *s = context;
	const struct operand *x = &s->call->arg[0];
	int last = x->rank ? x->rank - 1 : 0;
	int64_t along = x->rank ? x->stride[s->dim] : 0;
	/* Only the last dim's positions are a fixed step apart. */
	int64_t width = s->dim < last ? x->size[last] : 1,
		step = s->dim < last ? x->stride[last] : 0;
	int64_t blocks = (width + BLOCK - 1) / BLOCK, runs = s->inner / width;

	(void)thread;
	for (int64_t item = begin; item < end; item++) {
		int64_t first = item % blocks * BLOCK, run = item / blocks % runs;
		int64_t o = item / blocks / runs, n = width - first < BLOCK ? width - first : BLOCK;
		int64_t from = library_offset(x, 0, s->dim, o) +
			       library_offset(x, s->dim + 1, last, run) + first * step;
		int64_t to = o * s->length * s->inner + run * width + first;
		bool floats = !s->product && !s->powers && x->dtype == DTYPE_F32 &&
			      s->call->out.dtype == DTYPE_F32;
		union number sum[BLOCK];

		if (floats && n == 1) {
			run_floats((const float *)s->in + from, along, (float *)s->out + to,
				   s->inner, s->length);
			continue;
		}
		clear(s, sum);
		for (int64_t i = 0; i < s->length; i++, from += along, to += s->inner)
			if (floats && step == 1)
				add_floats((const float *)s->in + from, (float *)s->out + to, n,
					   sum);
			else
				add_line(s, from, step, to, n, sum);
	}
}

static void run(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *x = &call->arg[0];
	struct scan s = { .call = call,
			  .in = operand_start(x, buffers),
			  .out = operand_start(&call->out, buffers),
			  .dim = library_dim(call, 1, x->rank ? x->rank : 1),
			  .length = 1,
			  .inner = 1,
			  .product = call->node->op == OP_cumprod,
			  .powers = call->node->op == OP_logcumsumexp };
	int last = x->rank ? x->rank - 1 : 0;
	int64_t outer = 1, width = s.dim < last ? x->size[last] : 1;
	int64_t blocks = (width + BLOCK - 1) / BLOCK, points;

	for (int d = 0; d < x->rank; d++)
		*(d < s.dim ? &outer : d == s.dim ? &s.length : &s.inner) *= x->size[d];
	points = s.length * (width < BLOCK ? width : BLOCK);
	if (x->numel > 0)
		pool_run(pool, outer * (s.inner / width) * blocks, 32 * 1024 / (points + 1) + 1,
			 run_blocks, &s);
}

static const struct library_op library_cumsum = { .run = run };
static const struct library_op library_cumprod = { .run = run };
static const struct library_op library_logcumsumexp = { .run = run };

/* ---- argmax, sort and topk along one dim
 *
 * Order is PyTorch's: NaN is larger than every number, equal elements stay in
 * their order (sort is always stable here), argmax takes the first of equals.
 */

enum { MOST_THREADS = 64 };

/* An element and where it was. */
struct scan_item {
	union number key;
	int64_t index;
};

struct scan_lines {
	const struct library_call *call;
	void *const *buffers;
	int dim;
	int64_t length, inner, lines;
	bool floats, descending, indices;
	int64_t taken; /* of each line */
	struct scan_item *scratch;
};

static bool is_less(const struct scan_lines *l, const struct scan_item *a,
		    const struct scan_item *b)
{
	if (!l->floats)
		return a->key.i < b->key.i;
	return a->key.f < b->key.f || (isnan(b->key.f) && !isnan(a->key.f));
}

static bool goes_first(const struct scan_lines *l, const struct scan_item *a,
		       const struct scan_item *b)
{
	return l->descending ? is_less(l, b, a) : is_less(l, a, b);
}

static void get(const struct scan_lines *l, int64_t from, int64_t i, struct scan_item *out)
{
	const struct operand *x = &l->call->arg[0];
	const void *in = operand_start(x, l->buffers);
	int64_t at = from + (x->rank ? i * x->stride[l->dim] : 0);

	out->index = i;
	if (l->floats)
		out->key.f = dtype_get_double(x->dtype, in, at);
	else
		out->key.i = dtype_get_int(x->dtype, in, at);
}

static void put(const struct scan_lines *l, int64_t to, const struct scan_item *item)
{
	const struct operand *out = &l->call->out;
	void *memory = operand_start(out, l->buffers);

	if (l->indices)
		dtype_put_int(out->dtype, memory, to, item->index);
	else if (l->floats)
		dtype_put_double(out->dtype, memory, to, item->key.f);
	else
		dtype_put_int(out->dtype, memory, to, item->key.i);
}

/* Where line number `line` begins in the operand, and in the result. */
static void line_start(const struct scan_lines *l, int64_t line, int64_t *from, int64_t *to)
{
	const struct operand *x = &l->call->arg[0];
	int64_t outer = line / l->inner, inner = line % l->inner;

	*from = library_offset(x, 0, l->dim, outer) +
		(x->rank ? library_offset(x, l->dim + 1, x->rank, inner) : 0);
	*to = outer * l->taken * l->inner + inner;
}

/* Merges from `a` to `b` and back: stable, n log n, no recursion. */
static struct scan_item *merge_sort(const struct scan_lines *l, struct scan_item *a,
				    struct scan_item *b, int64_t n)
{
	for (int64_t width = 1; width < n; width *= 2) {
		struct scan_item *swap = a;

		for (int64_t begin = 0; begin < n; begin += 2 * width) {
			int64_t middle = begin + width < n ? begin + width : n;
			int64_t end = begin + 2 * width < n ? begin + 2 * width : n;
			int64_t i = begin, j = middle;

			for (int64_t k = begin; k < end; k++)
				if (i < middle && (j >= end || !goes_first(l, &a[j], &a[i])))
					b[k] = a[i++];
				else
					b[k] = a[j++];
		}
		a = b;
		b = swap;
	}
	return a;
}

static void sort_wide_lines(void *context, int64_t begin, int64_t end, int thread)
{
	const struct scan_lines *l = context;
	struct scan_item *items = l->scratch + (int64_t)thread * 2 * l->length, *sorted;
	int64_t from, to;

	for (int64_t line = begin; line < end; line++) {
		line_start(l, line, &from, &to);
		for (int64_t i = 0; i < l->length; i++)
			get(l, from, i, &items[i]);
		sorted = merge_sort(l, items, items + l->length, l->length);
		for (int64_t i = 0; i < l->taken; i++)
			put(l, to + i * l->inner, &sorted[i]);
	}
}

/* ---- elements of up to 32 bits: a key, whose order is theirs, before the place in one number
 *
 * Few of many are chosen as they come: what is not before all that are kept goes by, and
 * where there is no room for more the rest is sorted and cut.
 */

enum {
	DIGIT_BITS = 8,
	DIGITS = 1 << DIGIT_BITS,
	KEY_SHIFT = 32,
	FEW_ITEMS = 16,
	TAKEN_ONE_BY_ONE = 4,
	KEPT_TIMES = 4, /* those wanted */
};

/* Elements of a line as keys, a block at a time; what goes first has a smaller key. */
struct key_line {
	const struct kernel_table *kernels;
	enum dtype dtype;
	const char *in;
	int64_t step, bytes;
	uint32_t turn, add;
};

static struct key_line key_line(const struct scan_lines *l, int64_t from)
{
	const struct operand *x = &l->call->arg[0];
	int64_t bytes = (int64_t)dtype_bytes(x->dtype);

	return (struct key_line){ .kernels = l->call->kernels,
				  .dtype = x->dtype,
				  .in = (const char *)operand_start(x, l->buffers) + from * bytes,
				  .step = x->rank ? x->stride[l->dim] : 0,
				  .bytes = bytes,
				  .turn = l->descending ? UINT32_MAX : 0 };
}

/* KEY_BLOCK elements or fewer, n, from `at` on, as floats: where they lie, or in `room`. */
static const float *key_floats(const struct key_line *k, int64_t at, int64_t n, float *room)
{
	const char *in = k->in + at * k->step * k->bytes;

	if (k->step == 1 && k->dtype == DTYPE_F32)
		return (const float *)(const void *)in;
	if (k->step == 1 && n == KEY_BLOCK) {
		k->kernels->cast[DTYPE_F32][k->dtype](room, in, NULL, NULL, n, 0);
		return room;
	}
	for (int64_t i = 0; i < n; i++)
		room[i] = k->dtype == DTYPE_F32
			      ? ((const float *)(const void *)in)[i * k->step]
			      : (float)dtype_get_double(k->dtype, in, i * k->step);
	return room;
}

/* Of so many elements; what is after them has the largest.  The least of them. */
static uint32_t find_keys(const struct key_line *k, int64_t at, int64_t n, uint32_t *key)
{
	uint32_t least = UINT32_MAX;
	float room[KEY_BLOCK];

	if (dtype_category(k->dtype) == CATEGORY_FLOAT)
		return k->kernels->keys_f32(key_floats(k, at, n, room), n, k->turn, k->add, key);
	for (int64_t i = 0; i < n; i++) {
		key[i] = k->turn ^
			 ((uint32_t)dtype_get_int(k->dtype, k->in, (at + i) * k->step) ^ 1u << 31);
		least = key[i] < least ? key[i] : least;
	}
	for (int64_t i = n; i < KEY_BLOCK; i++)
		key[i] = UINT32_MAX;
	return least;
}

static int64_t find_key(const uint32_t *key, uint32_t wanted)
{
	int64_t i = 0;

	while (key[i] != wanted)
		i++;
	return i;
}

/* Few of them, in their own room. */
static void insertion_sort(uint64_t *a, int64_t n)
{
	for (int64_t i = 1; i < n; i++) {
		uint64_t item = a[i];
		int64_t k = i;

		for (; k > 0 && a[k - 1] > item; k--)
			a[k] = a[k - 1];
		a[k] = item;
	}
}

/* By key, from the lowest digit on: places stay in order.  Which of the two has the result. */
static uint64_t *radix_sort(uint64_t *a, uint64_t *b, int64_t n)
{
	if (n <= FEW_ITEMS) {
		insertion_sort(a, n);
		return a;
	}
	for (int shift = KEY_SHIFT; shift < 64; shift += DIGIT_BITS) {
		int64_t counts[DIGITS] = { 0 }, before = 0;
		uint64_t *swap = a;

		for (int64_t i = 0; i < n; i++)
			counts[a[i] >> shift & (DIGITS - 1)]++;
		if (n > 0 && counts[a[0] >> shift & (DIGITS - 1)] == n)
			continue;
		for (int d = 0; d < DIGITS; d++) {
			int64_t count = counts[d];

			counts[d] = before;
			before += count;
		}
		for (int64_t i = 0; i < n; i++)
			b[counts[a[i] >> shift & (DIGITS - 1)]++] = a[i];
		a = b;
		b = swap;
	}
	return a;
}

/* What is kept of a line, in rooms of 2 * length each. */
struct kept_items {
	uint64_t *a, *b; /* a: n items */
	int64_t n, most, taken;
	uint64_t last; /* what is not before it goes by */
};

/* Sorts what is kept and cuts it. */
static void cut_items(struct kept_items *k)
{
	uint64_t *sorted = radix_sort(k->a, k->b, k->n);

	k->b = sorted == k->a ? k->b : k->a;
	k->a = sorted;
	if (k->n >= k->taken) {
		k->n = k->taken;
		k->last = k->a[k->n - 1];
	}
}

/* Very few are kept in order. */
static void insert_item(struct kept_items *k, uint64_t item)
{
	int64_t i = k->n < k->taken ? k->n++ : k->n - 1;

	for (; i > 0 && k->a[i - 1] > item; i--)
		k->a[i] = k->a[i - 1];
	k->a[i] = item;
	if (k->n == k->taken)
		k->last = k->a[k->n - 1];
}

/* The very first of a block, one by one; false: there are too many, or one has the largest
 * key, as what was taken has. */
static bool take_few(uint32_t *key, int64_t taken, uint64_t *to)
{
	if (taken > TAKEN_ONE_BY_ONE)
		return false;
	for (int64_t k = 0; k < taken; k++) {
		uint32_t least = UINT32_MAX;
		int64_t at;

		for (int i = 0; i < KEY_BLOCK; i++)
			least = key[i] < least ? key[i] : least;
		if (least == UINT32_MAX) {
			while (--k >= 0)
				key[(uint32_t)to[k]] = (uint32_t)(to[k] >> KEY_SHIFT);
			return false;
		}
		at = find_key(key, least);
		to[k] = (uint64_t)least << KEY_SHIFT | (uint64_t)at;
		key[at] = UINT32_MAX;
	}
	return true;
}

/* The first `taken` of a line, in order. */
static const uint64_t *first_of_line(const struct scan_lines *l, int64_t from, uint64_t *room)
{
	struct key_line line = key_line(l, from);
	struct kept_items k = {
		.a = room, .b = room + 2 * l->length, .taken = l->taken, .last = UINT64_MAX
	};
	uint32_t key[KEY_BLOCK];

	k.most = KEPT_TIMES * l->taken;
	for (int64_t at = 0; at < l->length; at += KEY_BLOCK) {
		int64_t block = at + KEY_BLOCK < l->length ? KEY_BLOCK : l->length - at;

		if (find_keys(&line, at, block, key) > k.last >> KEY_SHIFT)
			continue;
		if (l->length <= KEY_BLOCK && take_few(key, l->taken, room))
			return room;
		for (int64_t i = 0; i < block; i++) {
			uint64_t item = (uint64_t)key[i] << KEY_SHIFT | (uint64_t)(at + i);

			if (item >= k.last)
				continue;
			if (l->taken <= FEW_ITEMS) {
				insert_item(&k, item);
				continue;
			}
			k.a[k.n++] = item;
			if (k.n == k.most)
				cut_items(&k);
		}
	}
	if (l->taken > FEW_ITEMS)
		cut_items(&k);
	return k.a;
}

static void put_packed(const struct scan_lines *l, int64_t from, int64_t to, uint64_t item)
{
	const struct operand *x = &l->call->arg[0], *out = &l->call->out;
	size_t bytes = dtype_bytes(x->dtype);
	int64_t place = (int64_t)(uint32_t)item;

	if (l->indices)
		((int64_t *)operand_start(out, l->buffers))[to] = place;
	else
		memcpy((char *)operand_start(out, l->buffers) + to * (int64_t)bytes,
		       (const char *)operand_start(x, l->buffers) +
			   (from + (x->rank ? place * x->stride[l->dim] : 0)) * (int64_t)bytes,
		       bytes);
}

static void sort_packed_lines(void *context, int64_t begin, int64_t end, int thread)
{
	const struct scan_lines *l = context;
	uint64_t *room = (uint64_t *)(l->scratch + (int64_t)thread * 2 * l->length);
	int64_t from, to;

	for (int64_t line = begin; line < end; line++) {
		const uint64_t *sorted;

		line_start(l, line, &from, &to);
		sorted = first_of_line(l, from, room);
		for (int64_t i = 0; i < l->taken; i++)
			put_packed(l, from, to + i * l->inner, sorted[i]);
	}
}

/* The first of a line by its key.  NaN is the best in either order: of floats in ascending
 * order it has the largest key, to which 1 is added. */
static int64_t extreme_by_key(const struct scan_lines *l, int64_t from)
{
	struct key_line line = key_line(l, from);
	uint32_t key[KEY_BLOCK], best = UINT32_MAX;
	int64_t found = 0;

	line.add = l->floats && !l->descending;
	for (int64_t at = 0; at < l->length; at += KEY_BLOCK) {
		int64_t n = at + KEY_BLOCK < l->length ? KEY_BLOCK : l->length - at;
		uint32_t least = find_keys(&line, at, n, key);

		if (least < best) {
			best = least;
			found = at + find_key(key, least);
		}
	}
	return found;
}

static void extreme_lines_by_key(void *context, int64_t begin, int64_t end, int thread)
{
	const struct scan_lines *l = context;
	int64_t *out = operand_start(&l->call->out, l->buffers), from, to;

	(void)thread;
	for (int64_t line = begin; line < end; line++) {
		line_start(l, line, &from, &to);
		out[to] = extreme_by_key(l, from);
	}
}

static void extreme_lines(void *context, int64_t begin, int64_t end, int thread)
{
	const struct scan_lines *l = context;
	int64_t from, to;

	(void)thread;
	for (int64_t line = begin; line < end; line++) {
		struct scan_item best, item;

		line_start(l, line, &from, &to);
		get(l, from, 0, &best);
		for (int64_t i = 1; i < l->length; i++) {
			get(l, from, i, &item);
			if (l->floats && isnan(best.key.f))
				break; /* NaN wins, and the first one */
			if (goes_first(l, &item, &best) || (l->floats && isnan(item.key.f)))
				best = item;
		}
		put(l, to, &best);
	}
}

static struct scan_lines lines_of(const struct library_call *call, void *const *buffers, int dim)
{
	const struct operand *x = &call->arg[0];
	struct scan_lines l = { .call = call,
				.buffers = buffers,
				.dim = dim,
				.length = x->rank ? x->size[dim] : 1,
				.inner = 1,
				.lines = 1,
				.floats = dtype_category(x->dtype) == CATEGORY_FLOAT };

	for (int d = dim + 1; d < x->rank; d++)
		l.inner *= x->size[d];
	for (int d = 0; d < x->rank; d++)
		l.lines *= d == dim ? 1 : x->size[d];
	return l;
}

static bool is_topk(const struct library_call *call)
{
	return call->node->op == OP_topk_values || call->node->op == OP_topk_indices;
}

static int sort_dim(const struct library_call *call)
{
	int rank = call->arg[0].rank;

	return library_dim(call, is_topk(call) ? 2 : 1, rank ? rank : 1);
}

static int64_t line_grain(const struct scan_lines *l)
{
	int64_t grain = 4096 / (l->length + 1) + 1,
		least = (l->lines + MOST_THREADS - 1) / MOST_THREADS;

	return grain > least ? grain : least;
}

static bool bind_sort(struct library_call *call, struct err *err)
{
	struct scan_lines l = lines_of(call, NULL, sort_dim(call));
	int64_t grain = line_grain(&l), threads = l.lines / grain + 1;
	size_t bytes;

	if (__builtin_mul_overflow((size_t)threads * 2 * sizeof(struct scan_item), (size_t)l.length,
				   &bytes))
		return library_no_memory(err);
	call->room_bytes = bytes + 1;
	return true;
}

static void run_sort(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	struct scan_lines l = lines_of(call, buffers, sort_dim(call));

	l.scratch = call->room->at;
	l.descending = is_topk(call) ? call->number[3] : call->number[2];
	l.indices = call->node->op == OP_argsort || call->node->op == OP_topk_indices;
	l.taken = is_topk(call) ? (call->arg[0].rank ? call->number[1] : 1) : l.length;
	if (call->arg[0].numel > 0 && l.taken > 0)
		pool_run(pool, l.lines, line_grain(&l),
			 dtype_bytes(call->arg[0].dtype) <= 4 && l.length < UINT32_MAX
			     ? sort_packed_lines
			     : sort_wide_lines,
			 &l);
}

static const struct library_op library_sort_values = { bind_sort, run_sort };
static const struct library_op library_argsort = { bind_sort, run_sort };
static const struct library_op library_topk_values = { bind_sort, run_sort };
static const struct library_op library_topk_indices = { bind_sort, run_sort };

/* The index of the best of all elements, row by row. */
static void extreme_of_all(const struct scan_lines *l)
{
	const struct operand *x = &l->call->arg[0];
	const void *in = operand_start(x, l->buffers);
	struct scan_item best = { .index = 0 }, item;

	for (int64_t i = 0; i < x->numel; i++) {
		int64_t at = library_offset(x, 0, x->rank, i);

		item.index = i;
		if (l->floats)
			item.key.f = dtype_get_double(x->dtype, in, at);
		else
			item.key.i = dtype_get_int(x->dtype, in, at);
		if (i == 0 || goes_first(l, &item, &best) || (l->floats && isnan(item.key.f)))
			best = item;
		if (l->floats && isnan(best.key.f))
			break;
	}
	put(l, 0, &best);
}

static void run_extreme(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	bool all = call->node->args[1].kind == ARG_NONE;
	int rank = call->arg[0].rank;
	struct scan_lines l = lines_of(call, buffers,
				       all ? 0 : library_dim(call, 1, rank ? rank : 1));

	l.indices = true;
	l.taken = 1;
	l.descending = call->node->op == OP_argmax;
	if (call->arg[0].numel == 0)
		return;
	if (all)
		extreme_of_all(&l);
	else
		pool_run(pool, l.lines, line_grain(&l),
			 dtype_bytes(call->arg[0].dtype) <= 4 ? extreme_lines_by_key
							      : extreme_lines,
			 &l);
}

static const struct library_op library_argmax = { NULL, run_extreme };
static const struct library_op library_argmin = { NULL, run_extreme };

/* The best so far at each place of a line; of equals the last one. */
static void best_so_far(void *context, int64_t begin, int64_t end, int thread)
{
	const struct scan_lines *l = context;
	int64_t from, to;

	(void)thread;
	for (int64_t line = begin; line < end; line++) {
		struct scan_item best, item;

		line_start(l, line, &from, &to);
		for (int64_t i = 0; i < l->length; i++) {
			get(l, from, i, &item);
			if (i == 0 || (l->floats && isnan(item.key.f)) ||
			    (!(l->floats && isnan(best.key.f)) && !goes_first(l, &best, &item)))
				best = item;
			put(l, to + i * l->inner, &best);
		}
	}
}

static void run_best(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	int rank = call->arg[0].rank;
	enum op op = call->node->op;
	struct scan_lines l = lines_of(call, buffers, library_dim(call, 1, rank ? rank : 1));

	l.indices = op == OP_cummax_indices || op == OP_cummin_indices;
	l.descending = op == OP_cummax_values || op == OP_cummax_indices;
	l.taken = l.length;
	if (call->arg[0].numel > 0)
		pool_run(pool, l.lines, line_grain(&l), best_so_far, &l);
}

static const struct library_op library_cummax_values = { NULL, run_best };
static const struct library_op library_cummax_indices = { NULL, run_best };
static const struct library_op library_cummin_values = { NULL, run_best };
static const struct library_op library_cummin_indices = { NULL, run_best };

const struct library_op *const scan_functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...)                             \
	[OP_##id] = FUNCTION_##file(id),
#include "fusion/graph/ops_some.h"
};
