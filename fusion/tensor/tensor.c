/* fusion/tensor/tensor.c -- tensors: sizes, strides, a counted storage.
 *
 * A tensor may be a view: offset and strides count elements, and strides may
 * be 0 (broadcast).  Only tensor_create() promises the row-major layout.
 */
#include "fusion/tensor/tensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/tensor/alloc.h"
#include "fusion/tensor/mapping.h"
#include "fusion/tensor/shadow.h"

enum { UNWRITTEN = 0xff }; /* of an image that is watched: NaNs */

static void shape_error(int rank, const int64_t *size, const char *what, struct err *err)
{
	struct buf text;

	buf_init(&text, 256);
	for (int d = 0; d < rank; d++)
		buf_printf(&text, "%s%" PRId64, d ? ", " : "", size[d]);
	err_set(err, ERR_BOUND, "the shape [%s] %s", text.data ? text.data : "", what);
	buf_finish(&text);
}

/* Fills the row-major strides and returns the count of elements, -1 where it
 * is out of bounds.  A size of 0 bounds nothing: the others still count. */
static int64_t layout(struct tensor *t, int rank, const int64_t *size)
{
	int64_t numel = 1, stride = 1;

	t->rank = rank;
	for (int d = rank - 1; d >= 0; d--) {
		if (size[d] < 0)
			return -1;
		t->size[d] = size[d];
		t->stride[d] = stride;
		if (__builtin_mul_overflow(stride, size[d] > 1 ? size[d] : 1, &stride) ||
		    stride > (int64_t)1 << TENSOR_MAX_LOG2)
			return -1;
		numel *= size[d];
	}
	return numel;
}

/* Addresses alone, until something is read: the system gives memory page by page. */
static bool make_image(struct storage *s, struct err *err)
{
	s->image = block_get(s->allocator, s->bytes);
	if (s->image && allocator_fence(s->allocator))
		memset(s->image, UNWRITTEN, s->bytes);
	return s->image || err_set(err, ERR_MEMORY,
				   "this machine has no memory for its copy of a tensor of "
				   "%.1f MiB that is on a device; use smaller tensors",
				   (double)s->bytes / (1 << 20));
}

/* Says what shape the next memory has, where an observer watches. */
static void label(struct allocator *a, const struct tensor *t, enum dtype dtype)
{
	struct fusion_memory *what = allocator_label(a);

	if (!what)
		return;
	what->dtype = dtype;
	what->rank = t->rank;
	memcpy(what->size, t->size, sizeof(*t->size) * (size_t)t->rank);
}

/* `memory`: that of a file; NULL: it is taken from the allocator. */
static inline struct tensor *create(struct allocator *a, enum dtype dtype, int rank,
				    const int64_t *size, void *memory, struct err *err)
{
	struct tensor *t = NULL;
	struct storage *storage = NULL;
	int64_t numel;

	if (rank < 0 || rank > MAX_RANK) {
		err_set(err, ERR_BOUND, "a tensor has at most %d dimensions, not %d", MAX_RANK,
			rank);
		return NULL;
	}
	t = block_get(a, sizeof(*t));
	storage = block_get(a, sizeof(*storage));
	if (!t || !storage) {
		err_set(err, ERR_MEMORY, "out of memory for a tensor");
		goto fail;
	}
	numel = layout(t, rank, size);
	if (numel < 0) {
		shape_error(rank, size, "has more than 2^31 elements or a negative size", err);
		goto fail;
	}
	storage->bytes = (size_t)numel * dtype_bytes(dtype);
	if (!memory) {
		label(a, t, dtype);
		memory = allocator_get(a, storage->bytes, err);
	}
	storage->data = memory;
	if (!storage->data)
		goto fail;
	storage->allocator = a;
	storage->image = storage->data;
	if (allocator_device(a) && !make_image(storage, err)) {
		allocator_put(a, storage->data, storage->bytes);
		goto fail;
	}
	storage->stale = allocator_device(a) ? STALE_FRESH : STALE_NONE;
	storage->refs = 1;
	storage->version = 0;
	storage->graph = 0;
	storage->watch = NULL;
	storage->kept = NULL;
	storage->shadow = NULL;
	storage->mapping = NULL;
	storage->last_write = WALK_UNKNOWN;
	storage->on_gpu = false;
	t->storage = storage;
	t->refs = 1;
	t->dtype = dtype;
	t->offset = 0;
	t->kept = false;
	return t;
fail:
	if (storage)
		block_put(a, storage, sizeof(*storage));
	if (t)
		block_put(a, t, sizeof(*t));
	return NULL;
}

struct tensor *tensor_create(struct allocator *a, enum dtype dtype, int rank, const int64_t *size,
			     struct err *err)
{
	return create(a, dtype, rank, size, NULL, err);
}

struct tensor *tensor_mapped(struct allocator *a, struct mapping *m, const struct mapped *where,
			     struct err *err)
{
	char *first = m->data + where->at;
	bool lies = (uintptr_t)first % dtype_bytes(where->dtype) == 0 && !allocator_device(a) &&
		    !allocator_fence(a);
	struct tensor *t = create(a, where->dtype, where->rank, where->size, lies ? first : NULL,
				  err);

	if (!t)
		return NULL;
	if (lies) {
		t->storage->mapping = m;
		m->refs++;
	} else if (t->storage->bytes) {
		memcpy(tensor_host_writes(t), first, t->storage->bytes);
	}
	return t;
}

static inline void drop_storage(struct storage *s)
{
	struct allocator *a = s->allocator;

	if (--s->refs > 0)
		return;
	if (__builtin_expect(s->shadow != NULL, 0))
		shadow_drop(s);
	if (__builtin_expect(s->watch != NULL, 0))
		storage_unwatch(s->watch);
	if (s->image != s->data)
		block_put(a, s->image, s->bytes);
	if (__builtin_expect(s->mapping != NULL, 0))
		mapping_unref(s->mapping);
	else
		allocator_put(a, s->data, s->bytes);
	block_put(a, s, sizeof(*s));
}

void tensor_unref(struct tensor *t)
{
	struct storage *storage;

	if (!t || --t->refs > 0)
		return;
	storage = t->storage;
	if (__builtin_expect(t->kept, 0))
		tensor_unkeep(t);
	block_put(storage->allocator, t, sizeof(*t));
	drop_storage(storage);
}

void storage_unref(struct storage *s)
{
	if (s)
		drop_storage(s);
}

struct storage_watch *storage_watch(struct storage *s)
{
	if (!s->watch) {
		s->watch = malloc(sizeof(*s->watch));
		if (!s->watch)
			return NULL;
		*s->watch = (struct storage_watch){ .refs = 1, .version = s->version };
	}
	s->watch->refs++;
	return s->watch;
}

struct storage *storage_fetch(struct storage *s)
{
	const struct device_memory *device = allocator_device(s->allocator);
	bool late = s->stale == STALE_IMAGE || s->stale == STALE_GIVEN;

	if (late && s->bytes)
		device->read(device->self, s->image, s->data, s->bytes);
	if (late)
		s->stale = STALE_NONE;
	return s;
}

/* NULL: the host's memory, that of nobody's allocator too. */
static const struct device_memory *device_of(const struct tensor *t)
{
	return t->storage->allocator ? allocator_device(t->storage->allocator) : NULL;
}

bool tensor_same_on_device(const struct tensor *a, const struct tensor *b)
{
	const struct device_memory *here = device_of(a);
	const struct device_memory *there = device_of(b);
	size_t bytes = (size_t)tensor_numel(a) * dtype_bytes(a->dtype);

	if (!here || !there || !here->same || here->same != there->same ||
	    bytes < TENSOR_LARGE_BYTES || !tensor_contiguous(a) || !tensor_contiguous(b) ||
	    bytes != (size_t)tensor_numel(b) * dtype_bytes(b->dtype))
		return false;
	there->wait(there->self);
	return here->same(here->self, tensor_kernel_reads(a), tensor_kernel_reads(b), bytes);
}

int64_t tensor_numel(const struct tensor *t)
{
	int64_t numel = 1;

	for (int d = 0; d < t->rank; d++)
		numel *= t->size[d];
	return numel;
}

bool tensor_contiguous(const struct tensor *t)
{
	int64_t stride = 1;

	for (int d = t->rank - 1; d >= 0; d--) {
		if (t->size[d] == 0)
			return true;
		if (t->size[d] == 1)
			continue;
		if (t->stride[d] != stride)
			return false;
		stride *= t->size[d];
	}
	return true;
}

/* Where the element at row-major position `index` lies, in elements. */
static int64_t element(const struct tensor *t, int64_t index)
{
	int64_t at = 0;

	for (int d = t->rank - 1; d >= 0; d--) {
		at += index % t->size[d] * t->stride[d];
		index /= t->size[d];
	}
	return at;
}

double tensor_get_double(const struct tensor *t, int64_t index)
{
	return dtype_get_double(t->dtype, tensor_read(t), element(t, index));
}

int64_t tensor_get_int(const struct tensor *t, int64_t index)
{
	return dtype_get_int(t->dtype, tensor_read(t), element(t, index));
}

/* One row of `n` elements of `bytes` each; strides in elements. */
static void copy_row(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n,
		     size_t bytes)
{
	if (to_stride == 1 && from_stride == 1) {
		memcpy(to, from, (size_t)n * bytes);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		memcpy(to + i * to_stride * (int64_t)bytes, from + i * from_stride * (int64_t)bytes,
		       bytes);
}

/* All of `to` from another place than its own; both lie row by row.  False: by the host, then. */
static bool copy_by_device(struct tensor *to, const struct tensor *from, size_t bytes)
{
	const struct device_memory *device = device_of(to);
	const struct device_memory *other = device_of(from);

	if (!device || to->storage == from->storage)
		return false;
	if (device == other) {
		device->copy(device->self, tensor_kernel_writes(to), tensor_kernel_reads(from),
			     bytes);
		return true;
	}
	if (other || bytes < TENSOR_LARGE_BYTES || bytes != to->storage->bytes)
		return false;
	device->write(device->self, to->storage->data, tensor_read(from), bytes);
	to->storage->stale = STALE_GIVEN;
	return true;
}

void tensor_copy(struct tensor *to, const struct tensor *from)
{
	size_t bytes = dtype_bytes(to->dtype);
	int last = to->rank - 1;
	int64_t numel = tensor_numel(to), index[MAX_RANK] = { 0 };
	bool whole = tensor_contiguous(to) && tensor_contiguous(from);
	const char *in;
	char *out;

	if (numel == 0)
		return;
	if (__builtin_expect(to->storage->shadow != NULL, 0))
		shadow_drop(to->storage);
	if (whole && copy_by_device(to, from, (size_t)numel * bytes))
		return;
	in = tensor_read(from);
	out = tensor_data(to);
	if (whole) {
		memmove(out, in, (size_t)numel * bytes);
		return;
	}
	for (;;) { /* an odometer over all dims but the last */
		int d = last - 1;

		copy_row(out, to->stride[last], in, from->stride[last], to->size[last], bytes);
		while (d >= 0 && ++index[d] == to->size[d]) {
			out -= (to->size[d] - 1) * to->stride[d] * (int64_t)bytes;
			in -= (from->size[d] - 1) * from->stride[d] * (int64_t)bytes;
			index[d--] = 0;
		}
		if (d < 0)
			return;
		out += to->stride[d] * (int64_t)bytes;
		in += from->stride[d] * (int64_t)bytes;
	}
}

/* ---- as a value of a program */

static void release(struct vtensor *t)
{
	if (t->grad)
		t->forget_grad(t);
	tensor_unref(t->memory);
	t->memory = NULL;
}

struct value tensor_wrap(struct tensor *t)
{
	struct value v = value_tensor();

	if (v.kind == VALUE_UNSET) {
		tensor_unref(t);
		return v;
	}
	v.tensor->memory = t;
	v.tensor->release = release;
	return v;
}

/* A value that a capture made and a global kept has no memory. */
bool tensor_check_memory(struct value v, struct err *err)
{
	return v.kind != VALUE_TENSOR || v.tensor->memory ||
	       err_set(err, ERR_UNSUPPORTED,
		       "a tensor that was made inside a compiled call is used outside of it; "
		       "return it from the function instead of keeping it in a global");
}
