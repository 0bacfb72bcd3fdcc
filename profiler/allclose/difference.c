/* profiler/allclose/difference.c -- whether two tensors differ, where, and whether their dtype
 * allows it.
 */
#include "profiler/allclose/difference.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "fusion/base/pool.h"
#include "profiler/allclose/elements.h"

enum { NEIGHBOURS = 64 };

static const double level_factor = 16, unit_factor = 4;

/* Ours may leap so many times as far and as often as another. */
static const double leap_length = 2;
enum { LEAP_TIMES = 4 };

/* Numbers far from what their neighbours of all other sides allow: [0] ours, [1] eager's, the
 * rest disturbed references. */
struct leaps {
	int64_t n[1 + DIFFERENCE_MAX_REFERENCES];
	double longest[1 + DIFFERENCE_MAX_REFERENCES];
};

/* What the elements of a pair are judged by, and what was found so far. */
struct work {
	const struct difference_pair *pair;
	pthread_mutex_t lock;
	struct difference found;
	struct leaps leaps;
};

/* Elements of all sides, side by side. */
struct block {
	double ours[NEIGHBOURS], theirs[NEIGHBOURS];
	double reference[DIFFERENCE_MAX_REFERENCES][NEIGHBOURS];
};

static double unit_of(enum dtype dtype)
{
	switch (dtype) {
	case DTYPE_F16:
		return 0x1p-10;
	case DTYPE_BF16:
		return 0x1p-7;
	case DTYPE_F32:
		return 0x1p-23;
	default:
		return 0x1p-52;
	}
}

/* The smallest number that is not 0: no sum comes closer to one than that. */
static double least_of(enum dtype dtype)
{
	switch (dtype) {
	case DTYPE_F16:
		return 0x1p-24;
	case DTYPE_BF16:
		return 0x1p-126;
	case DTYPE_F32:
		return 0x1p-126;
	default:
		return 0x1p-1022;
	}
}

static double largest_of(enum dtype dtype)
{
	switch (dtype) {
	case DTYPE_F16:
		return 65504;
	case DTYPE_BF16:
	case DTYPE_F32:
		return 0x1.fep127;
	default:
		return 0x1.fffffffffffffp1023;
	}
}

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static double distance(double a, double b)
{
	return same_number(a, b) ? 0 : isfinite(a) && isfinite(b) ? fabs(a - b) : INFINITY;
}

/* ---- by a reference */

/* How far rounding moves what lies here: L of difference.h. */
static double level_of(const struct block *b, int n, int n_references)
{
	double level = 0;

	for (int i = 0; i < n; i++) {
		double exact = b->reference[0][i];
		double own = fabs(b->theirs[i] - exact);

		if (isfinite(own))
			level = fmax(level, own);
		for (int k = 1; k < n_references; k++) {
			double moved = fabs(b->reference[k][i] - exact);

			if (isfinite(moved))
				level = fmax(level, moved);
		}
	}
	return level;
}

/* Side k of a block as in struct leaps. */
static const double *side_of(const struct block *b, int k)
{
	return k == 0 ? b->ours : k == 1 ? b->theirs : b->reference[k - 1];
}

/* Counts where one side is far from float64, and no other is. */
static void count_leaps(const struct block *b, int n, int n_references, enum dtype dtype,
			struct leaps *leaps)
{
	double most[1 + DIFFERENCE_MAX_REFERENCES] = { 0 };

	for (int k = 0; k <= n_references; k++)
		for (int i = 0; i < n; i++) {
			double moved = fabs(side_of(b, k)[i] - b->reference[0][i]);

			most[k] = isfinite(moved) ? fmax(most[k], moved) : most[k];
		}
	for (int k = 0; k <= n_references; k++) {
		double level = 0;

		for (int other = 1; other <= n_references; other++)
			level = other == k ? level : fmax(level, most[other]);
		level = level_factor * level + least_of(dtype);
		for (int i = 0; i < n && most[k] > level; i++) {
			double exact = b->reference[0][i], moved = fabs(side_of(b, k)[i] - exact);

			if (!(moved > level + unit_factor * unit_of(dtype) * fabs(exact)))
				continue;
			leaps->n[k]++;
			leaps->longest[k] = fmax(leaps->longest[k], moved);
		}
	}
}

static double excess_of(double ours, double exact, double allowed, enum dtype dtype)
{
	if (same_number(ours, exact))
		return 0;
	if (isfinite(ours) && isfinite(exact))
		return fabs(ours - exact) / allowed;
	/* One alone overflows at the end of what the dtype holds. */
	if (isinf(ours) && isfinite(exact) &&
	    copysign(1, ours) * exact + allowed >= largest_of(dtype))
		return 0;
	if (isinf(exact) && isfinite(ours) &&
	    copysign(1, exact) * ours + allowed >= largest_of(dtype))
		return 0;
	return INFINITY;
}

/* ---- by the bound of the dtype */

static double bound_of(const struct block *b, int n, enum dtype dtype)
{
	bool narrow = dtype == DTYPE_F16 || dtype == DTYPE_BF16;
	double most = 0;

	for (int i = 0; i < n; i++)
		if (isfinite(b->theirs[i]))
			most = fmax(most, fabs(b->theirs[i]));
	return narrow ? 1e-2 + 1e-2 * most : 1e-5 + 1e-4 * most;
}

/* ---- a block */

static void note(struct difference *found, double error, double excess,
		 const struct difference_place *at)
{
	found->outside += excess > 1;
	if (found->far.index < 0 || error > found->error ||
	    (error == found->error && at->index < found->far.index)) {
		found->error = error;
		found->far = *at;
	}
	if (found->worst.index < 0 || excess > found->excess ||
	    (excess == found->excess && at->index < found->worst.index)) {
		found->excess = excess;
		found->worst = *at;
	}
}

static const struct difference nothing = { .far = { .index = -1 }, .worst = { .index = -1 } };

static void compare_block(const struct difference_pair *pair, const struct block *b, int64_t first,
			  int n, struct difference *found)
{
	enum dtype dtype = pair->theirs->dtype;
	double level = 0;

	if (pair->n_references)
		level = level_factor * level_of(b, n, pair->n_references) + least_of(dtype);
	else
		level = bound_of(b, n, dtype);
	for (int i = 0; i < n; i++) {
		double ours = b->ours[i], theirs = b->theirs[i], exact = (double)NAN;
		double allowed = level;

		if (pair->n_references) {
			exact = b->reference[0][i];
			if (isfinite(theirs) && isfinite(exact))
				found->theirs_error = fmax(found->theirs_error,
							   fabs(theirs - exact));
			if (isfinite(exact))
				allowed += unit_factor * unit_of(dtype) * fabs(exact);
		}
		if (same_number(ours, theirs))
			continue;
		found->differing++;
		note(found, distance(ours, theirs),
		     excess_of(ours, pair->n_references ? exact : theirs, allowed, dtype),
		     &(struct difference_place){ first + i, ours, theirs, exact, allowed });
	}
}

static void merge_leaps(struct leaps *into, const struct leaps *part)
{
	for (int k = 0; k <= DIFFERENCE_MAX_REFERENCES; k++) {
		into->n[k] += part->n[k];
		into->longest[k] = fmax(into->longest[k], part->longest[k]);
	}
}

/* Ours has left what is allowed where others leap as far and as often. */
static void settle_leaps(struct difference *found, const struct leaps *leaps, int n_references)
{
	bool alike = false;

	for (int k = 1; k <= n_references; k++)
		alike |= leaps->n[0] <= LEAP_TIMES * leaps->n[k] &&
			 leaps->longest[0] <= leap_length * leaps->longest[k];
	if (found->outside == 0 || found->outside > leaps->n[0] || !alike)
		return;
	found->outside = 0;
	found->excess = 1;
}

static void merge(struct difference *into, const struct difference *part)
{
	int64_t outside;

	into->differing += part->differing;
	into->theirs_error = fmax(into->theirs_error, part->theirs_error);
	if (part->far.index < 0)
		return;
	/* each place with its own figure */
	outside = into->outside + part->outside;
	note(into, part->error, -1, &part->far);
	note(into, -1, part->excess, &part->worst);
	into->outside = outside;
}

/* Blocks [begin, end). */
static void compare_blocks(void *context, int64_t begin, int64_t end, int thread)
{
	struct work *w = context;
	const struct difference_pair *pair = w->pair;
	int64_t numel = tensor_numel(pair->theirs);
	struct difference found = nothing;
	struct leaps leaps = { 0 };
	struct block b;

	(void)thread;
	for (int64_t k = begin; k < end; k++) {
		int64_t first = k * NEIGHBOURS;
		int n = (int)(numel - first < NEIGHBOURS ? numel - first : NEIGHBOURS);

		elements_read(pair->ours, first, n, b.ours);
		elements_read(pair->theirs, first, n, b.theirs);
		if (memcmp(b.ours, b.theirs, (size_t)n * sizeof(double)) == 0 &&
		    !pair->n_references)
			continue;
		for (int r = 0; r < pair->n_references; r++)
			elements_read(pair->reference[r], first, n, b.reference[r]);
		compare_block(pair, &b, first, n, &found);
		if (pair->n_references)
			count_leaps(&b, n, pair->n_references, pair->theirs->dtype, &leaps);
	}
	pthread_mutex_lock(&w->lock);
	merge_leaps(&w->leaps, &leaps);
	merge(&w->found, &found);
	pthread_mutex_unlock(&w->lock);
}

/* Whether rounding decides what is there: a reference has chosen otherwise. */
static bool is_open(const struct difference_pair *pair, int64_t index, int64_t theirs)
{
	for (int r = 0; r < pair->n_references; r++)
		if (tensor_get_double(pair->reference[r], index) != (double)theirs)
			return true;
	return false;
}

/* Ints and bools have no rounding, but may be chosen by what has. */
static void compare_ints(const struct difference_pair *pair, struct difference *found)
{
	for (int64_t i = 0; i < found->elements; i++) {
		int64_t a = tensor_get_int(pair->ours, i), b = tensor_get_int(pair->theirs, i);

		if (a == b)
			continue;
		found->differing++;
		note(found, fabs((double)a - (double)b), is_open(pair, i, b) ? 1 : INFINITY,
		     &(struct difference_place){ i, (double)a, (double)b, (double)NAN, 0 });
	}
}

/* Two references find an open choice in three of four places: where they find most, all are. */
static void settle_ints(struct difference *found)
{
	if (found->differing == 0 || 2 * found->outside > found->differing)
		return;
	found->rule = DIFFERENCE_FLOAT64;
	found->outside = 0;
	found->excess = 1;
}

static const char *other_kind(const struct tensor *a, const struct tensor *b)
{
	if (a->dtype != b->dtype)
		return "dtype";
	if (a->rank != b->rank ||
	    memcmp(a->size, b->size, (size_t)a->rank * sizeof(a->size[0])) != 0)
		return "shape";
	return NULL;
}

struct difference difference_of_tensors(const struct difference_pair *pair)
{
	struct work w = { .pair = pair, .found = nothing };
	int64_t numel = tensor_numel(pair->theirs);
	struct pool *pool = NULL;

	w.found.kind = other_kind(pair->ours, pair->theirs);
	if (w.found.kind) {
		w.found.error = w.found.excess = INFINITY;
		return w.found;
	}
	w.found.elements = numel;
	if (elements_same_bits(pair->ours, pair->theirs, pair->threads))
		return w.found;
	if (dtype_category(pair->theirs->dtype) != CATEGORY_FLOAT) {
		compare_ints(pair, &w.found);
		settle_ints(&w.found);
		return w.found;
	}
	w.found.rule = pair->n_references ? DIFFERENCE_FLOAT64 : DIFFERENCE_BOUND;
	elements_ready(pair->ours);
	elements_ready(pair->theirs);
	for (int r = 0; r < pair->n_references; r++)
		elements_ready(pair->reference[r]);
	if (numel > ELEMENTS_GRAIN)
		pool = pool_create(pair->threads);
	pthread_mutex_init(&w.lock, NULL);
	pool_run(pool, (numel + NEIGHBOURS - 1) / NEIGHBOURS, ELEMENTS_GRAIN / NEIGHBOURS,
		 compare_blocks, &w);
	pthread_mutex_destroy(&w.lock);
	pool_destroy(pool);
	settle_leaps(&w.found, &w.leaps, pair->n_references);
	if (w.found.differing == 0)
		w.found.rule = DIFFERENCE_BITS;
	return w.found;
}

struct difference difference_of_numbers(double ours, double theirs)
{
	struct difference found = nothing;
	double allowed = 1e-5 + 1e-4 * fabs(theirs);

	found.elements = 1;
	if (same_number(ours, theirs))
		return found;
	found.rule = DIFFERENCE_BOUND;
	found.differing = 1;
	note(&found, distance(ours, theirs), excess_of(ours, theirs, allowed, DTYPE_F64),
	     &(struct difference_place){ 0, ours, theirs, (double)NAN, allowed });
	return found;
}
