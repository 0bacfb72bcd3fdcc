/* fusion/backends/library/index.c -- reading and writing by index: gather, x[i], scatter.
 *
 * All of them walk one space row by row and keep an offset for each operand.
 * An index out of bounds is brought back into them, so that no memory is
 * touched that is not the operand's, and noted as a fault of the launch.
 */
#define FUNCTION_index(id) &library_##id
#include <string.h>

#include "fusion/backends/library/library.h"

enum { GRAIN = 16 * 1024 };

static void odometer_seek(struct odometer *o, int64_t position)
{
	memset(o->at, 0, sizeof(o->at));
	for (int d = 0; d < o->rank; d++)
		if (o->size[d] == 0)
			return; /* nothing to walk */
	for (int d = o->rank - 1; d >= 0; d--) {
		o->index[d] = position % o->size[d];
		position /= o->size[d];
		for (int k = 0; k < o->n; k++)
			o->at[k] += o->index[d] * o->stride[k][d];
	}
}

/* Goes on by `steps` along the last dim, which they do not leave but at its end. */
static void odometer_step(struct odometer *o, int64_t steps)
{
	for (int d = o->rank - 1; d >= 0; d--) {
		o->index[d] += steps;
		for (int k = 0; k < o->n; k++)
			o->at[k] += steps * o->stride[k][d];
		if (o->index[d] < o->size[d] || d == 0)
			return;
		for (int k = 0; k < o->n; k++)
			o->at[k] -= o->size[d] * o->stride[k][d];
		o->index[d] = 0;
		steps = 1;
	}
}

static void copy_element(char *to, const char *from, size_t bytes)
{
	switch (bytes) {
	case 4:
		memcpy(to, from, 4);
		return;
	case 8:
		memcpy(to, from, 8);
		return;
	case 2:
		memcpy(to, from, 2);
		return;
	default:
		*to = *from;
	}
}

/* Elements in even steps, in elements. */
struct steps {
	void *memory;
	int64_t at, step;
};

static void copy_run(struct steps to, struct steps from, int64_t n, size_t bytes)
{
	char *out = (char *)to.memory + to.at * (int64_t)bytes;
	const char *in = (const char *)from.memory + from.at * (int64_t)bytes;

	if (to.step == 1 && from.step == 1) {
		memcpy(out, in, (size_t)n * bytes);
		return;
	}
	to.step *= (int64_t)bytes;
	from.step *= (int64_t)bytes;
	for (int64_t i = 0; i < n; i++)
		copy_element(out + i * to.step, in + i * from.step, bytes);
}

static int64_t last_stride(const struct operand *x)
{
	return x->rank ? x->stride[x->rank - 1] : 1;
}

/* Strides of operand k over the space: those of x, from its dim `first` on. */
static void set_strides(struct odometer *o, int k, const int64_t *stride, int first, int n)
{
	for (int d = 0; d < n; d++)
		o->stride[k][first + d] = stride[d];
}

/* to[...] = from[...], shapes alike. */
static void copy_all(const struct operand *to, void *out, const struct operand *from, void *in)
{
	struct odometer o = { .rank = to->rank, .n = 2 };
	int64_t numel = to->numel, run = to->rank ? to->size[to->rank - 1] : 1;

	if (numel == 0)
		return;
	memcpy(o.size, to->size, sizeof(o.size));
	set_strides(&o, 0, to->stride, 0, to->rank);
	set_strides(&o, 1, from->stride, 0, to->rank);
	for (int64_t i = 0; i < numel; i += run, odometer_step(&o, run))
		copy_run((struct steps){ out, o.at[0], last_stride(to) },
			 (struct steps){ in, o.at[1], last_stride(from) }, run,
			 dtype_bytes(to->dtype));
}

static struct lookup *new_lookup(struct library_call *call, struct err *err)
{
	struct lookup *l = calloc(1, sizeof(*l));

	if (!l)
		library_no_memory(err);
	call->state = l;
	return l;
}

/* Negative indices count from the end in x[i] and x[i] = v alone, as in PyTorch. */
static bool counts_from_end(enum op op)
{
	return op == OP_index || op == OP_index_put;
}

/* Finds the bounds, and how many points at the end read one place of each index. */
static void finish_lookup(struct lookup *l, enum op op)
{
	struct odometer *o = &l->walk;

	for (int k = 0; k < l->n; k++)
		l->least[k] = counts_from_end(op) ? -l->size[k] : 0;

	o->n = 2 + l->n;
	l->points = 1;
	for (int d = 0; d < o->rank; d++)
		l->points *= o->size[d];
	l->run = o->rank ? o->size[o->rank - 1] : 1;
	for (int k = 0; k < l->n && o->rank; k++)
		if (o->stride[2 + k][o->rank - 1] != 0)
			l->run = 1;
}

/* The place that the indices name at the walk's point, relative to `named`. */
static int64_t look_up(const struct library_call *call, const struct lookup *l,
		       const struct odometer *o, void *const *buffers)
{
	int64_t at = 0;

	for (int k = 0; k < l->n; k++) {
		int64_t i = dtype_get_int(l->index[k]->dtype, operand_start(l->index[k], buffers),
					  o->at[2 + k]);

		if (i < l->least[k] || i >= l->size[k]) {
			library_fault(call, i, l->size[k]);
			i = 0;
		}
		at += (i < 0 ? i + l->size[k] : i) * l->stride[k];
	}
	return at;
}

struct lookup_run {
	const struct library_call *call;
	void *const *buffers;
};

/* From the source to the target, runs of points that the indices do not tell apart. */
static void move_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct lookup_run *r = context;
	const struct lookup *l = r->call->state;
	struct odometer o = l->walk;
	int last = o.rank - 1;
	struct steps in = { operand_start(l->from, r->buffers), 0,
			    last < 0 ? 1 : o.stride[0][last] };
	struct steps out = { operand_start(l->to, r->buffers), 0,
			     last < 0 ? 1 : o.stride[1][last] };

	(void)thread;
	odometer_seek(&o, begin * l->run);
	for (; begin < end; begin++, odometer_step(&o, l->run)) {
		int64_t at = look_up(r->call, l, &o, r->buffers);

		in.at = o.at[0] + (l->writes ? 0 : at);
		out.at = o.at[1] + (l->writes ? at : 0);
		copy_run(out, in, l->run, dtype_bytes(l->to->dtype));
	}
}

/* ---- rows of points by one index */

enum { PLACES = 256 }; /* found at a time */

/* The offsets of n points of a row by one index, relative to the row's, in the source, or in
 * the target where that is written. */
static void find_places(const struct library_call *call, void *const *buffers,
			const struct odometer *o, int64_t first, int64_t n, int64_t *place)
{
	const struct lookup *l = call->state;
	const void *index = operand_start(l->index[0], buffers);
	int last = o->rank - 1;
	int64_t step = o->rank ? o->stride[2][last] : 0, at = o->at[2] + first * step;
	int64_t along = o->rank ? o->stride[l->writes ? 1 : 0][last] : 0, size = l->size[0];
	bool wide = l->index[0]->dtype == DTYPE_I64;

	for (int64_t i = 0; i < n; i++, at += step) {
		int64_t named = wide ? ((const int64_t *)index)[at]
				     : dtype_get_int(l->index[0]->dtype, index, at);

		if (named < l->least[0] || named >= size) {
			library_fault(call, named, size);
			named = 0;
		}
		named = named < 0 ? named + size : named;
		place[i] = named * l->stride[0] + (first + i) * along;
	}
}

typedef uint64_t __attribute__((may_alias)) word8;
typedef uint32_t __attribute__((may_alias)) word4;
typedef uint16_t __attribute__((may_alias)) word2;

#define TAKE(word)                                                                                 \
	static void take_##word(void *to, int64_t step, const void *from, const int64_t *place,    \
				int64_t n)                                                         \
	{                                                                                          \
		word *out = to;                                                                    \
		for (int64_t i = 0; i < n; i++)                                                    \
			out[i * step] = ((const word *)from)[place[i]];                            \
	}
TAKE(uint8_t)
TAKE(word2)
TAKE(word4)
TAKE(word8)

static void take(void *to, int64_t step, const void *from, const int64_t *place, int64_t n,
		 size_t bytes)
{
	if (bytes == 4)
		take_word4(to, step, from, place, n);
	else if (bytes == 8)
		take_word8(to, step, from, place, n);
	else if (bytes == 2)
		take_word2(to, step, from, place, n);
	else
		take_uint8_t(to, step, from, place, n);
}

static void read_rows(void *context, int64_t begin, int64_t end, int thread)
{
	const struct lookup_run *r = context;
	const struct lookup *l = r->call->state;
	struct odometer o = l->walk;
	int64_t bytes = (int64_t)dtype_bytes(l->to->dtype), row = o.size[o.rank - 1], place[PLACES];
	const char *in = operand_start(l->from, r->buffers);
	char *out = operand_start(l->to, r->buffers);
	int64_t step = o.stride[1][o.rank - 1];

	(void)thread;
	odometer_seek(&o, begin * row);
	for (; begin < end; begin++, odometer_step(&o, row))
		for (int64_t i = 0, n; i < row; i += n) {
			n = row - i < PLACES ? row - i : PLACES;
			find_places(r->call, r->buffers, &o, i, n, place);
			take(out + (o.at[1] + i * step) * bytes, step, in + o.at[0] * bytes, place,
			     n, (size_t)bytes);
		}
}

static void run_read(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	struct lookup_run r = { call, buffers };
	const struct lookup *l = call->state;

	if (l->points == 0)
		return;
	if (l->n == 1 && l->run == 1 && l->walk.rank > 0) {
		int64_t row = l->walk.size[l->walk.rank - 1];

		pool_run(pool, l->points / row, GRAIN / row + 1, read_rows, &r);
		return;
	}
	pool_run(pool, l->points / l->run, GRAIN / l->run + 1, move_range, &r);
}

/* x[..., i, j, ...] from `dim` on. */
struct index_operands {
	const struct operand *x;
	const struct operand *part; /* the result; or the value that is written there */
	int dim, first_index;       /* the argument that is the first index */
	bool read;
};

static bool bind_indices(struct library_call *call, const struct index_operands *how,
			 struct err *err)
{
	struct lookup *l = new_lookup(call, err);
	const struct operand *x = how->x, *part = how->part;
	int dim = how->dim, first_index = how->first_index;
	bool read = how->read;
	int own = read ? 0 : 1, rank;

	if (!l)
		return false;
	do { /* the first is always there */
		l->index[l->n] = &call->arg[first_index + l->n];
		l->size[l->n] = x->size[dim + l->n];
		l->stride[l->n] = x->stride[dim + l->n];
		l->n++;
	} while (l->n < 3 && first_index + l->n < call->node->n_args &&
		 call->arg[first_index + l->n].buffer >= 0);
	rank = l->index[0]->rank;
	l->walk.rank = part->rank;
	memcpy(l->walk.size, part->size, sizeof(l->walk.size));
	set_strides(&l->walk, 1 - own, part->stride, 0, part->rank);
	set_strides(&l->walk, own, x->stride, 0, dim);
	set_strides(&l->walk, own, x->stride + dim + l->n, dim + rank, x->rank - dim - l->n);
	for (int k = 0; k < l->n; k++)
		set_strides(&l->walk, 2 + k, l->index[k]->stride, dim, rank);
	l->writes = !read;
	l->from = read ? x : part;
	l->to = read ? part : x;
	finish_lookup(l, call->node->op);
	return true;
}

static bool bind_index(struct library_call *call, struct err *err)
{
	const struct operand *x = &call->arg[0];

	return bind_indices(
	    call, &(struct index_operands){ x, &call->out, library_dim(call, 1, x->rank), 2, true },
	    err);
}

/* index_select: an index without dims counts as one of a single element. */
static bool bind_index_select(struct library_call *call, struct err *err)
{
	struct operand *index = &call->arg[2];

	if (index->rank == 0) {
		index->rank = 1;
		index->size[0] = 1;
		index->stride[0] = 1;
	}
	return bind_index(call, err);
}

static const struct library_op library_index = { bind_index, run_read };
static const struct library_op library_lookup = { bind_index, run_read };
static const struct library_op library_index_select = { bind_index_select, run_read };

/* gather: the index has all dims, and takes the place of one. */
static bool bind_along(struct library_call *call, const struct operand *x, int side,
		       struct err *err)
{
	const struct operand *index = &call->arg[2];
	struct lookup *l = new_lookup(call, err);
	int dim = library_dim(call, 1, x->rank);

	if (!l)
		return false;
	l->n = 1;
	l->index[0] = index;
	l->size[0] = x->rank ? x->size[dim] : 1;
	l->stride[0] = x->rank ? x->stride[dim] : 0;
	l->walk.rank = index->rank;
	memcpy(l->walk.size, index->size, sizeof(l->walk.size));
	set_strides(&l->walk, side, x->stride, 0, x->rank);
	if (x->rank)
		l->walk.stride[side][dim] = 0;
	set_strides(&l->walk, 2, index->stride, 0, index->rank);
	return true;
}

static bool bind_gather(struct library_call *call, struct err *err)
{
	struct lookup *l;

	if (!bind_along(call, &call->arg[0], 0, err))
		return false;
	l = call->state;
	set_strides(&l->walk, 1, call->out.stride, 0, call->out.rank);
	l->from = &call->arg[0];
	l->to = &call->out;
	finish_lookup(l, call->node->op);
	return true;
}

static const struct library_op library_gather = { bind_gather, run_read };

/* scatter writes into a copy of x: into the result. */
static bool bind_scatter(struct library_call *call, struct err *err)
{
	struct lookup *l;

	if (!bind_along(call, &call->out, 1, err))
		return false;
	l = call->state;
	l->to = &call->out;
	l->writes = true;
	if (call->arg[3].buffer >= 0) {
		l->from = &call->arg[3];
		set_strides(&l->walk, 0, l->from->stride, 0, l->from->rank);
	}
	finish_lookup(l, call->node->op);
	return true;
}

static void put_number(const struct arg *value, int64_t number, enum dtype dtype, void *out,
		       int64_t at)
{
	if (value->kind == ARG_FLOAT)
		dtype_put_double(dtype, out, at, value->f);
	else
		dtype_put_int(dtype, out, at, number);
}

static void copy_input(const struct library_call *call, void *const *buffers)
{
	void *to = operand_start(&call->out, buffers);
	void *from = operand_start(&call->arg[0], buffers);

	if (from != to) /* else it lies there, as the result will (lower.h: kernel_overwrites) */
		copy_all(&call->out, to, &call->arg[0], from);
}

/* ---- scatter, scatter_add
 *
 * Places of one index along `dim` may be the same; those of two along another dim are not.
 * So threads share another dim, each goes through its part in order, and where an index
 * occurs twice the last one counts, or is added last.
 */

struct scatter_run {
	const struct library_call *call;
	void *const *buffers;
	bool adds;
	int shared;     /* the dim, -1: none */
	uint64_t value; /* an element that is written everywhere */
};

/* The dim that threads share: the longest other one. */
static int shared_dim(const struct library_call *call, const struct odometer *o)
{
	int dim = o->rank ? library_dim(call, 1, o->rank) : -1, found = -1;

	for (int d = 0; d < o->rank; d++)
		if (d != dim && (found < 0 || o->size[d] > o->size[found]))
			found = d;
	return found;
}

#define SCATTER(type, name, assign)                                                                \
	static void name(void *to, const int64_t *place, const void *from, int64_t step,           \
			 int64_t n)                                                                \
	{                                                                                          \
		const type *in = from;                                                             \
		type *out = to;                                                                    \
		for (int64_t i = 0; i < n; i++)                                                    \
			out[place[i]] assign in[i * step];                                         \
	}
SCATTER(uint8_t, put_word1, =)
SCATTER(word2, put_word2, =)
SCATTER(word4, put_word4, =)
SCATTER(word8, put_word8, =)
SCATTER(float, add_float, +=)
SCATTER(double, add_double, +=)
SCATTER(word8, add_word8, +=)

static void add_any(enum dtype dtype, void *out, const int64_t *place, const void *in, int64_t step,
		    int64_t n)
{
	bool floats = dtype_category(dtype) == CATEGORY_FLOAT;

	for (int64_t i = 0; i < n; i++)
		if (floats)
			dtype_put_double(dtype, out, place[i],
					 dtype_get_double(dtype, out, place[i]) +
					     dtype_get_double(dtype, in, i * step));
		else
			dtype_put_int(dtype, out, place[i],
				      (int64_t)((uint64_t)dtype_get_int(dtype, out, place[i]) +
						(uint64_t)dtype_get_int(dtype, in, i * step)));
}

static void scatter_some(const struct scatter_run *r, void *out, const int64_t *place,
			 const void *in, int64_t step, int64_t n)
{
	enum dtype dtype = r->call->out.dtype;
	size_t bytes = dtype_bytes(dtype);

	if (r->adds && dtype == DTYPE_F32)
		add_float(out, place, in, step, n);
	else if (r->adds && dtype == DTYPE_F64)
		add_double(out, place, in, step, n);
	else if (r->adds && dtype == DTYPE_I64)
		add_word8(out, place, in, step, n);
	else if (r->adds)
		add_any(dtype, out, place, in, step, n);
	else if (bytes == 4)
		put_word4(out, place, in, step, n);
	else if (bytes == 8)
		put_word8(out, place, in, step, n);
	else if (bytes == 2)
		put_word2(out, place, in, step, n);
	else
		put_word1(out, place, in, step, n);
}

/* The part [begin, end) of the shared dim, row by row of all the others. */
static void scatter_range(void *context, int64_t begin, int64_t end, int thread)
{
	const struct scatter_run *r = context;
	const struct lookup *l = r->call->state;
	struct odometer o = l->walk;
	int64_t bytes = (int64_t)dtype_bytes(r->call->out.dtype), rows = 1, run, place[PLACES];
	char *out = operand_start(l->to, r->buffers);
	const char *in = l->from ? operand_start(l->from, r->buffers) : (const char *)&r->value;
	int64_t step = l->from && o.rank ? o.stride[0][o.rank - 1] : 0;

	(void)thread;
	odometer_seek(&o, 0);
	if (r->shared >= 0) {
		o.size[r->shared] = end - begin;
		for (int k = 0; k < o.n; k++)
			o.at[k] = begin * o.stride[k][r->shared];
	}
	for (int d = 0; d < o.rank - 1; d++)
		rows *= o.size[d];
	run = o.rank ? o.size[o.rank - 1] : 1;
	for (int64_t row = 0; row < rows; row++, odometer_step(&o, run))
		for (int64_t i = 0, n; i < run; i += n) {
			n = run - i < PLACES ? run - i : PLACES;
			find_places(r->call, r->buffers, &o, i, n, place);
			scatter_some(r, out + o.at[1] * bytes, place,
				     in + (l->from ? o.at[0] + i * step : 0) * bytes, step, n);
		}
}

static void scatter(struct scatter_run *r, struct pool *pool)
{
	const struct lookup *l = r->call->state;
	int64_t shares;

	copy_input(r->call, r->buffers);
	if (l->points == 0)
		return;
	r->shared = shared_dim(r->call, &l->walk);
	shares = r->shared < 0 ? 1 : l->walk.size[r->shared];
	pool_run(pool, shares, GRAIN / (l->points / shares) + 1, scatter_range, r);
}

static void run_scatter(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct lookup *l = call->state;
	struct scatter_run r = { .call = call, .buffers = buffers };

	if (!l->from)
		put_number(&call->node->args[3], call->number[3], l->to->dtype, &r.value, 0);
	scatter(&r, pool);
}

static void run_scatter_add(const struct library_call *call, void *const *buffers,
			    struct pool *pool)
{
	struct scatter_run r = { .call = call, .buffers = buffers, .adds = true };

	scatter(&r, pool);
}

static const struct library_op library_scatter = { bind_scatter, run_scatter };
static const struct library_op library_scatter_add = { bind_scatter, run_scatter_add };

static bool bind_index_put(struct library_call *call, struct err *err)
{
	const struct operand *x = &call->out;

	return bind_indices(
	    call,
	    &(struct index_operands){ x, &call->arg[2], library_dim(call, 1, x->rank), 3, false },
	    err);
}

static void run_index_put(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	struct lookup_run r = { call, buffers };
	const struct lookup *l = call->state;

	(void)pool;
	copy_input(call, buffers);
	if (l->points > 0)
		move_range(&r, 0, l->points / l->run, 0);
}

static const struct library_op library_index_put = { bind_index_put, run_index_put };

/* A part of the result that strides name, written over. */
static bool bind_put_view(struct library_call *call, struct err *err)
{
	struct operand *part = malloc(sizeof(*part));
	const struct operand *value = &call->arg[1];

	if (!part)
		return library_no_memory(err);
	call->state = part;
	*part = *value;
	part->buffer = call->out.buffer;
	part->offset = call->number[4];
	for (int d = 0; d < value->rank; d++)
		part->stride[d] = sym_eval(call->node->args[3].ints[d], call->vars);
	return true;
}

static void run_put_view(const struct library_call *call, void *const *buffers, struct pool *pool)
{
	const struct operand *part = call->state;

	(void)pool;
	copy_input(call, buffers);
	copy_all(part, operand_start(part, buffers), &call->arg[1],
		 operand_start(&call->arg[1], buffers));
}

static const struct library_op library_put_view = { bind_put_view, run_put_view };

const struct library_op *const index_functions[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, file, ...)                             \
	[OP_##id] = FUNCTION_##file(id),
#include "fusion/graph/ops_some.h"
};
