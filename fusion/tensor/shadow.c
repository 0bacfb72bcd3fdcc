/* fusion/tensor/shadow.c -- a tensor's elements in float64, beside it. */
#include "fusion/tensor/shadow.h"

#include <math.h>
#include <string.h>

#include "fusion/tensor/alloc.h"
#include "fusion/tensor/view.h"

/* Half of the distance from 1 to the next number. */
static double half_unit(enum dtype dtype)
{
	switch (dtype) {
	case DTYPE_F16:
		return 0x1p-11;
	case DTYPE_BF16:
		return 0x1p-8;
	case DTYPE_F32:
		return 0x1p-24;
	default:
		return 0x1p-53;
	}
}

/* From -1 to 1: SplitMix64's output for this state. */
static double draw(uint64_t state)
{
	uint64_t x = state * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (double)(int64_t)(x ^ (x >> 31)) * 0x1p-63;
}

void shadow_disturb(struct tensor *wide, enum dtype dtype, uint64_t seed)
{
	int64_t numel = tensor_numel(wide), index[MAX_RANK] = { 0 };
	double unit = half_unit(dtype), *at;
	int last = wide->rank - 1;

	if (numel == 0)
		return;
	at = tensor_data(wide);
	for (int64_t i = 0; i < numel; i++) {
		if (*at != rint(*at))
			*at *= 1 + unit * draw(seed + (uint64_t)i);
		for (int d = last; d >= 0; d--) {
			at += wide->stride[d];
			if (++index[d] < wide->size[d])
				break;
			at -= wide->size[d] * wide->stride[d];
			index[d] = 0;
		}
	}
}

static struct shadow *shadow_of(struct storage *s, struct err *err)
{
	if (!s->shadow) {
		s->shadow = block_get(s->allocator, sizeof(*s->shadow));
		if (!s->shadow) {
			err_set(err, ERR_MEMORY, "out of memory for a reference in float64");
			return NULL;
		}
		*s->shadow = (struct shadow){ { NULL } };
	}
	return s->shadow;
}

/* All elements of t's storage, one after the other. */
static struct tensor flat(const struct tensor *t)
{
	struct tensor row = { .storage = t->storage, .refs = 1, .dtype = t->dtype, .rank = 1 };

	row.size[0] = (int64_t)(t->storage->bytes / dtype_bytes(t->dtype));
	row.stride[0] = 1;
	return row;
}

static bool make(struct tensor *t, struct shadow *shadow, int which, struct err *err)
{
	struct tensor row = flat(t);
	struct tensor *wide = tensor_create(t->storage->allocator, DTYPE_F64, 1, row.size, err);
	const void *from;
	double *to;

	if (!wide)
		return false;
	from = tensor_read(&row);
	to = tensor_host_writes(wide);
	for (int64_t i = 0; i < row.size[0]; i++)
		to[i] = dtype_get_double(t->dtype, from, i);
	if (which > 0)
		shadow_disturb(wide, t->dtype, (uint64_t)which << 40 ^ (uint64_t)row.size[0]);
	shadow->of[which] = wide->storage;
	wide->storage->refs++;
	tensor_unref(wide);
	return true;
}

struct tensor *shadow_view(struct tensor *t, int which, struct err *err)
{
	struct shadow *shadow = shadow_of(t->storage, err);
	struct tensor base = { .refs = 1, .dtype = DTYPE_F64 };

	if (!shadow || (!shadow->of[which] && !make(t, shadow, which, err)))
		return NULL;
	base.storage = shadow->of[which];
	return tensor_view(&base, t->rank, t->size, t->stride, t->offset, err);
}

static bool same_layout(const struct tensor *t, const struct tensor *wide)
{
	return wide->offset == t->offset &&
	       wide->storage->bytes / sizeof(double) == t->storage->bytes / dtype_bytes(t->dtype) &&
	       memcmp(wide->stride, t->stride, sizeof(t->stride[0]) * (size_t)t->rank) == 0;
}

static void replace(struct storage **place, struct storage *with)
{
	struct storage *old = *place;

	with->refs++;
	*place = with;
	storage_unref(old);
}

bool shadow_set(struct tensor *t, int which, struct tensor *wide, struct err *err)
{
	struct shadow *shadow = shadow_of(t->storage, err);
	struct tensor row = flat(t), *whole, *part;

	if (!shadow)
		return false;
	if (same_layout(t, wide)) {
		replace(&shadow->of[which], wide->storage);
		return true;
	}
	whole = tensor_create(t->storage->allocator, DTYPE_F64, 1, row.size, err);
	part = whole ? tensor_view(whole, t->rank, t->size, t->stride, t->offset, err) : NULL;
	if (part) {
		memset(tensor_host_writes(whole), 0, whole->storage->bytes);
		tensor_copy(part, wide);
		replace(&shadow->of[which], whole->storage);
	}
	tensor_unref(part);
	tensor_unref(whole);
	return part != NULL;
}

bool shadow_copy(struct tensor *to, struct tensor *from, struct err *err)
{
	bool ok = true;

	for (int i = 0; ok && from->storage->shadow && i < MAX_SHADOWS; i++) {
		struct tensor *wide, *copy;

		if (!from->storage->shadow->of[i])
			continue;
		wide = shadow_view(from, i, err);
		copy = wide ? tensor_create(to->storage->allocator, DTYPE_F64, to->rank, to->size,
					    err)
			    : NULL;
		if (copy)
			tensor_copy(copy, wide);
		ok = copy && shadow_set(to, i, copy, err);
		tensor_unref(copy);
		tensor_unref(wide);
	}
	return ok;
}

void shadow_drop(struct storage *s)
{
	struct shadow *shadow = s->shadow;

	s->shadow = NULL;
	if (!shadow)
		return;
	for (int i = 0; i < MAX_SHADOWS; i++)
		storage_unref(shadow->of[i]);
	block_put(s->allocator, shadow, sizeof(*shadow));
}
