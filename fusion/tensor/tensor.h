/* fusion/tensor/tensor.h -- tensors in memory, and where the memory is from: see
 * fusion/tensor.h first.
 *
 * Storage comes from a struct allocator that keeps freed blocks for reuse (a
 * malloc per op would be a large share of a small op) and counts bytes in use
 * and their peak.  An allocator and its tensors belong to one thread.
 *
 * Where kernels run on a device, storage is the device's and the host reads and
 * writes an IMAGE of it: brought up to date when one of the two asks for it.
 */
#ifndef FUSION_TENSOR_TENSOR_H
#define FUSION_TENSOR_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/base/err.h"
#include "fusion/graph/graph.h"
#include "fusion/observer.h"
#include "fusion/tensor.h"
#include "fusion/vm/frame.h"
#include "fusion/vm/value.h"

struct fence;

/* From now on the observer's took() and gave() are called; NULL: nobody's.  Borrowed. */
void allocator_observe(struct allocator *a, const struct fusion_observer *observer);
/* What the next memory is taken for, to be filled in before it is taken; forgotten then.
 * NULL: nobody watches. */
struct fusion_memory *allocator_label(struct allocator *a);

/* From now on all memory is watched (backends/memory/memory.h); before any is taken.  Borrowed. */
void allocator_set_fence(struct allocator *a, struct fence *fence);
struct fence *allocator_fence(const struct allocator *a); /* NULL: it is not */

/* For kernels: 64-byte aligned, not zeroed, with 64 readable bytes past the end
 * (vector loads may overrun).  NULL with MEMORY or BOUND. */
void *allocator_get(struct allocator *a, size_t bytes, struct err *err);
void allocator_put(struct allocator *a, void *memory, size_t bytes);

/* Which end of a storage a kernel wrote last: that one is still in the cache. */
enum walk_order { WALK_UNKNOWN, WALK_FORWARD, WALK_BACKWARD };

/* Which of a storage's two memories is out of date.  STALE_GIVEN: the image, and the device
 * has what tensor_copy() brought from another allocator's host memory; nobody has written.
 * STALE_FRESH: nothing was written to either, so there is nothing to bring. */
enum stale { STALE_NONE, STALE_IMAGE, STALE_DEVICE, STALE_GIVEN, STALE_FRESH };

/* A tensor of so many bytes goes to a device without an image of it being made: of smaller
 * ones the host keeps what it knows, since to read from the device waits. */
enum { TENSOR_LARGE_BYTES = 1 << 20 };

struct storage {
	struct allocator *allocator;
	void *data;  /* as kernels see it */
	void *image; /* as the host sees it: `data` itself, or addresses that are kept for it,
		      * since to make a tensor may fail and to read it may not */
	enum stale stale;
	size_t bytes;
	int refs;
	unsigned version;            /* how often an in-place op wrote to it */
	struct storage_watch *watch; /* NULL: nobody watches */
	struct tensor *kept;         /* keep.h: the last that was kept; no references */
	struct shadow *shadow;       /* shadow.h: its elements in float64; NULL: it has none */
	struct mapping *mapping;     /* mapping.h: of the file that it lies in; NULL */
	enum walk_order last_write;  /* a hint for whoever reads it next */
	int graph;   /* of a session, that has given what lies in it, + 1; 0: none, or not known */
	int output;  /* of that graph: its place among the outputs */
	int met;     /* for guards, while they look for tensors of one storage: the first of it */
	bool on_gpu; /* as the program sees it, of what was made where enum gpu_use is NAMED */
};

void tensor_unkeep(struct tensor *t); /* for tensor_unref() and keep.c */

void storage_unref(struct storage *s); /* NULL is fine */

/* The version of a storage, for those who do not keep it alive. */
struct storage_watch {
	int refs;
	unsigned version;
};
struct storage_watch *storage_watch(struct storage *s); /* a reference; NULL: no memory */
/* NULL is fine */
static inline void storage_unwatch(struct storage_watch *w)
{
	if (w && --w->refs == 0)
		free(w);
}

/* An in-place op has written to it. */
static inline void storage_written(struct storage *s)
{
	s->version++;
	if (__builtin_expect(s->watch != NULL, 0))
		s->watch->version = s->version;
}

/* It is used again as if it were new: who watches it watches what it was. */
static inline void storage_renew(struct storage *s)
{
	s->version = 0;
	if (__builtin_expect(s->watch != NULL, 0)) {
		storage_unwatch(s->watch);
		s->watch = NULL;
	}
}

/* Bring the image, or the device's memory, up to date.  For the functions below. */
struct storage *storage_fetch(struct storage *s);

static inline void storage_send(struct storage *s)
{
	const struct device_memory *device = allocator_device(s->allocator);

	if (s->bytes)
		device->write(device->self, s->data, s->image, s->bytes);
	s->stale = STALE_NONE;
}

/* The first element for the host, to be read, or read and written. */
static inline const void *tensor_read(const struct tensor *t)
{
	struct storage *s = t->storage;

	if (__builtin_expect(s->image != s->data, 0))
		storage_fetch(s);
	return (const char *)s->image + t->offset * (int64_t)dtype_bytes(t->dtype);
}
static inline void *tensor_data(const struct tensor *t)
{
	struct storage *s = t->storage;

	if (__builtin_expect(s->image != s->data, 0))
		storage_fetch(s)->stale = STALE_DEVICE;
	return (char *)s->image + t->offset * (int64_t)dtype_bytes(t->dtype);
}

/* The same of one with a storage of its own, all of which the host writes. */
static inline void *tensor_host_writes(const struct tensor *t)
{
	if (t->storage->image != t->storage->data)
		t->storage->stale = STALE_DEVICE;
	return t->storage->image;
}

/* Whether it is in the memory of a device, and reading it waits for nothing all the same. */
static inline bool tensor_host_knows(const struct tensor *t)
{
	enum stale stale = t->storage->stale;

	return t->storage->image != t->storage->data &&
	       (stale == STALE_NONE || stale == STALE_DEVICE);
}

/* Whether it is as it was copied from the host: see STALE_GIVEN. */
static inline bool tensor_as_given(const struct tensor *t)
{
	return t->storage->stale == STALE_GIVEN;
}

/* The same for kernels, that read it or write all of it. */
static inline void *tensor_kernel_reads(const struct tensor *t)
{
	struct storage *s = t->storage;

	if (__builtin_expect(s->stale == STALE_DEVICE, 0))
		storage_send(s);
	return (char *)s->data + t->offset * (int64_t)dtype_bytes(t->dtype);
}
static inline void *tensor_kernel_writes(const struct tensor *t)
{
	void *first = tensor_kernel_reads(t);

	if (__builtin_expect(t->storage->image != t->storage->data, 0))
		t->storage->stale = STALE_IMAGE;
	return first;
}

/* A tensor value that holds `t` (takes over the reference); VALUE_UNSET when
 * out of memory, with t released. */
struct value tensor_wrap(struct tensor *t);

/* UNSUPPORTED for a tensor without memory: one that outlived its capture. */
bool tensor_check_memory(struct value v, struct err *err);

/* A tensor of a file's bytes (mapping.h) from `at` on, row by row, which the caller has found to be
 * there.  It lies in the mapping, which lives as long, and counts as none of the allocator's; where
 * kernels run on a device, memory is watched or the bytes do not lie as elements must, it is a
 * copy. */
struct mapped {
	size_t at;
	enum dtype dtype;
	int rank;
	const int64_t *size;
};
struct tensor *tensor_mapped(struct allocator *a, struct mapping *m, const struct mapped *where,
			     struct err *err);

/* tensor_print.c */
struct tensor_form {
	enum dtype real;  /* the default dtype, which is not written */
	const char *last; /* what is after its dtype, as grad_fn=<AddBackward0>; may be empty */
	const struct print_options *options;
};

/* Appends what print(t) shows in PyTorch, without a newline. */
void tensor_print(struct buf *out, const struct tensor *t, const struct tensor_form *how);

#endif
