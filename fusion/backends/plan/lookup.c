/* fusion/backends/plan/lookup.c -- loads by indices: gather, x[i].
 *
 * The points of a tile are gathered into it.  Where the indices stay the same along the
 * last dim, as those of an embedding do, its points are one run; else each point has a place
 * of its own, and those of some points are found at a time.
 */
#include "fusion/backends/plan/plan.h"

#include <string.h>

enum { FOUND = 256 }; /* points whose places are found at a time */

void launch_fault_raise(struct launch_fault *fault, const struct node *node, int64_t index,
			int64_t size)
{
	if (atomic_exchange(&fault->raised, 1))
		return;
	fault->node = node;
	fault->index = index;
	fault->size = size;
}

/* ---- binding */

/* Whether dims d and d + 1 of the walk are as one for x and all indices. */
static bool continues(const struct looked_up *l, int d)
{
	for (int k = 0; k <= l->n; k++)
		if (l->stride[k][d] != l->extent[d + 1] * l->stride[k][d + 1])
			return false;
	return true;
}

static void drop_dim(struct looked_up *l, int d)
{
	size_t rest = (size_t)(--l->n_inner - d);

	memmove(l->extent + d, l->extent + d + 1, rest * sizeof(*l->extent));
	for (int k = 0; k <= l->n; k++)
		memmove(l->stride[k] + d, l->stride[k] + d + 1, rest * sizeof(*l->stride[k]));
}

static void coalesce(struct looked_up *l)
{
	for (int d = l->n_inner - 1; d >= 0; d--) {
		if (l->extent[d] == 1) {
			drop_dim(l, d);
		} else if (d + 1 < l->n_inner && continues(l, d)) {
			l->extent[d + 1] *= l->extent[d];
			drop_dim(l, d);
		}
	}
}

void lookup_bind(struct looked_up *l, const struct lower_lookup *lookup, const struct access *x,
		 const struct lookup_dims *dims, const int64_t *vars)
{
	l->n = lookup->n;
	l->n_outer = dims->n_outer;
	l->n_inner = dims->n_inner;
	memcpy(l->extent, dims->extent, sizeof(l->extent));
	for (int k = 0; k <= l->n; k++) {
		const struct access *at = k ? &lookup->index[k - 1].at : x;

		l->buffer[k] = at->buffer;
		l->offset[k] = sym_eval(at->offset, vars);
		for (int d = 0; d < l->n_outer; d++)
			l->outer[k][d] = sym_eval(at->stride[d], vars);
		for (int d = 0; d < l->n_inner; d++)
			l->stride[k][d] = sym_eval(at->stride[dims->inner[d]], vars);
	}
	for (int k = 0; k < l->n; k++) {
		l->size[k] = sym_eval(lookup->index[k].size, vars);
		l->step[k] = sym_eval(lookup->index[k].step, vars);
		l->least[k] = lookup->index[k].from_end ? -l->size[k] : 0;
	}
	coalesce(l);
}

/* ---- a run of points along the last dim */

struct looked_run {
	const struct plan *plan;
	const struct plan_place *at;
	const char *index[MAX_INDICES]; /* its memory */
	int64_t where[1 + MAX_INDICES]; /* of the first point in x and in the indices */
};

/* Index k of a point as an offset in x. */
static inline int64_t offset_by(const struct looked_run *r, int k, int64_t i)
{
	const struct looked_up *l = r->at->looked_up;

	if (__builtin_expect(i < l->least[k] || i >= l->size[k], 0)) {
		launch_fault_raise(r->plan->fault,
				   r->plan->lowered->graph->nodes[r->at->inst->node], i,
				   l->size[k]);
		i = 0;
	}
	return (i < 0 ? i + l->size[k] : i) * l->step[k];
}

#define ADD_OFFSETS(type)                                                                          \
	static void add_##type(const struct looked_run *r, int k, int64_t step, int64_t *to,       \
			       int64_t n)                                                          \
	{                                                                                          \
		const type *in = (const type *)r->index[k] + r->where[1 + k];                      \
		for (int64_t i = 0; i < n; i++)                                                    \
			to[i] += offset_by(r, k, in[i * step]);                                    \
	}
typedef int64_t __attribute__((may_alias)) int8;
typedef int32_t __attribute__((may_alias)) int4;
typedef int16_t __attribute__((may_alias)) int2;
typedef int8_t __attribute__((may_alias)) int1;
typedef uint8_t __attribute__((may_alias)) byte;
ADD_OFFSETS(int8)
ADD_OFFSETS(int4)
ADD_OFFSETS(int2)
ADD_OFFSETS(int1)
ADD_OFFSETS(byte)

/* to[i] += what index k adds for n points, `step` elements of it from one to the next. */
static void add_offsets(const struct looked_run *r, int k, int64_t step, int64_t *to, int64_t n)
{
	switch (r->plan->lowered->buffers[r->at->looked_up->buffer[1 + k]].dtype) {
	case DTYPE_I64:
		add_int8(r, k, step, to, n);
		return;
	case DTYPE_I32:
		add_int4(r, k, step, to, n);
		return;
	case DTYPE_I16:
		add_int2(r, k, step, to, n);
		return;
	case DTYPE_I8:
		add_int1(r, k, step, to, n);
		return;
	default:
		add_byte(r, k, step, to, n);
	}
}

#define PICK(word)                                                                                 \
	static void pick_##word(void *to, const void *from, const int64_t *at, int64_t n)          \
	{                                                                                          \
		word *out = to;                                                                    \
		for (int64_t i = 0; i < n; i++)                                                    \
			out[i] = ((const word *)from)[at[i]];                                      \
	}
typedef uint16_t __attribute__((may_alias)) word2;
typedef uint32_t __attribute__((may_alias)) word4;
typedef uint64_t __attribute__((may_alias)) word8;
PICK(byte)
PICK(word2)
PICK(word4)
PICK(word8)

static void pick(char *to, const char *from, const int64_t *at, int64_t n, unsigned bytes)
{
	if (bytes == 4)
		pick_word4(to, from, at, n);
	else if (bytes == 8)
		pick_word8(to, from, at, n);
	else if (bytes == 2)
		pick_word2(to, from, at, n);
	else
		pick_byte(to, from, at, n);
}

/* Points by one index of int64 that counts from the start and is within bounds: as many as
 * there are before one that is not.  index: of the first, x: where it lies but for it. */
#define FOLLOW(word)                                                                               \
	static int64_t follow_##word(const struct looked_up *l, void *to, const void *x,           \
				     const int8 *index, const int64_t *step, int64_t n)            \
	{                                                                                          \
		uint64_t size = (uint64_t)l->size[0];                                              \
		int64_t by = l->step[0], along = step[0], next = step[1];                          \
		const word *in = x;                                                                \
		word *out = to;                                                                    \
		for (int64_t i = 0; i < n; i++) {                                                  \
			int64_t at = index[i * next];                                              \
			if (__builtin_expect((uint64_t)at >= size, 0))                             \
				return i;                                                          \
			out[i] = in[at * by + i * along];                                          \
		}                                                                                  \
		return n;                                                                          \
	}
FOLLOW(byte)
FOLLOW(word2)
FOLLOW(word4)
FOLLOW(word8)

static int64_t follow(const struct looked_run *r, const char *x, const int64_t *step, char *to,
		      int64_t done, int64_t n)
{
	const struct looked_up *l = r->at->looked_up;
	int64_t bytes = r->at->bytes;
	const int8 *index = (const int8 *)(const void *)r->index[0] + r->where[1] + done * step[1];

	if (l->n != 1 || r->plan->lowered->buffers[l->buffer[1]].dtype != DTYPE_I64)
		return 0;
	x += (r->where[0] + done * step[0]) * bytes;
	to += done * bytes;
	n -= done;
	return bytes == 4   ? follow_word4(l, to, x, index, step, n)
	       : bytes == 8 ? follow_word8(l, to, x, index, step, n)
	       : bytes == 2 ? follow_word2(l, to, x, index, step, n)
			    : follow_byte(l, to, x, index, step, n);
}

/* n points side by side along the last dim into `to`; step[]: of x and of the indices. */
static void look_up_run(const struct looked_run *r, const char *x, const int64_t *step, char *to,
			int64_t n)
{
	const struct looked_up *l = r->at->looked_up;
	unsigned bytes = r->at->bytes;
	int64_t at[FOUND], first = r->where[0];
	struct looked_run part = *r;
	bool same = true;

	for (int k = 0; k < l->n; k++)
		same &= step[1 + k] == 0;
	if (same) {
		for (int k = 0; k < l->n; k++)
			add_offsets(r, k, 0, &first, 1);
		executor_copy_run(to, x + first * bytes, step[0], n, bytes);
		return;
	}
	for (int64_t done = follow(r, x, step, to, 0, n), count; done < n;
	     done += follow(r, x, step, to, done, n)) {
		count = n - done < FOUND ? n - done : FOUND;
		for (int64_t i = 0; i < count; i++)
			at[i] = first + (done + i) * step[0];
		for (int k = 0; k < l->n; k++) {
			part.where[1 + k] = r->where[1 + k] + done * step[1 + k];
			add_offsets(&part, k, step[1 + k], at, count);
		}
		pick(to + done * bytes, x, at, count, bytes);
		done += count;
	}
}

/* ---- a tile */

/* A dim that an index names has nothing: no index is within it. */
static bool has_nothing(const struct looked_run *r)
{
	const struct looked_up *l = r->at->looked_up;

	for (int k = 0; k < l->n; k++)
		if (l->size[k] == 0)
			return true;
	return false;
}

/* The points of the last dim that come before its end, and where the first of them is. */
static int64_t seek(const struct looked_up *l, int64_t begin, const int64_t *base, int64_t *where)
{
	int64_t run = INT64_MAX;

	for (int k = 0; k <= l->n; k++)
		where[k] = base[k];
	for (int d = l->n_inner - 1; d >= 0; d--) {
		int64_t index = d > 0 ? begin % l->extent[d] : begin;

		if (d == l->n_inner - 1)
			run = l->extent[d] - index;
		for (int k = 0; k <= l->n; k++)
			where[k] += index * l->stride[k][d];
		begin /= l->extent[d];
	}
	return run;
}

void lookup_gather(const struct plan_run *run, const struct plan_place *at, const int64_t *base,
		   char *to, int64_t begin, int64_t n)
{
	const struct looked_up *l = at->looked_up;
	struct looked_run r = { .plan = run->plan, .at = at };
	int64_t step[1 + MAX_INDICES] = { 0 };
	const char *x = plan_memory(run->plan, l->buffer[0], run->buffers);

	for (int k = 0; k <= l->n; k++)
		step[k] = l->n_inner ? l->stride[k][l->n_inner - 1] : 0;
	for (int k = 0; k < l->n; k++)
		r.index[k] = plan_memory(run->plan, l->buffer[1 + k], run->buffers);
	if (has_nothing(&r)) {
		launch_fault_raise(run->plan->fault,
				   run->plan->lowered->graph->nodes[at->inst->node], 0, 0);
		memset(to, 0, (size_t)n * at->bytes);
		return;
	}
	while (n > 0) {
		int64_t count = seek(l, begin, base, r.where);

		count = count < n ? count : n;
		look_up_run(&r, x, step, to, count);
		to += count * at->bytes;
		begin += count;
		n -= count;
	}
}
