/* fusion/tensor/alloc.c -- the caching allocator of tensor memory.
 *
 * Blocks come in size classes, four to each power of two, and a freed block
 * goes to its class's list: a get and a put are a few loads and stores.  Only
 * the bytes asked for count as used, never the rounding and never the cache.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/base/buf.h"
#include "fusion/base/clock.h"
#include "fusion/base/sanitized.h"
#include "fusion/base/vec.h"
#include "fusion/tensor/alloc.h"

#if ADDRESS_SANITIZED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

enum {
	ALIGN = 64,
	SLACK = 64,
	FIRST_LOG2 = 8, /* the smallest block is 256 bytes */
	LAST_LOG2 = 40, /* and none has 1 TiB or more */
	CLASSES = (LAST_LOG2 - FIRST_LOG2) * 4 + 1,
	HUGE_PAGE = 2 << 20,
};

/* Freed bytes that are kept for reuse; a block that would go beyond returns to
 * the system at once. */
static const size_t CACHE_LIMIT = (size_t)512 << 20;

struct free_block {
	struct free_block *next;
};

struct allocator {
	size_t used_bytes, peak_bytes, limit_bytes;
	size_t cached_bytes;
	size_t live_blocks;
	struct free_block *free[CLASSES];
	/* Of a device: its memory cannot hold the lists. */
	const struct device_memory *device;
	VEC(void *) spare[CLASSES];
	size_t spare_bytes;
	bool keeps_nothing;                     /* what is freed goes back to the device at once */
	const struct fusion_observer *observer; /* NULL: nobody watches */
	struct fusion_memory label;             /* of what is taken next */
	struct fence *fence;                    /* NULL: memory is not watched */
	bool plain;                             /* no device, no observer, no fence */
};

/* The class of a block with room for `bytes` and the slack. */
static inline int class_of(size_t bytes)
{
	size_t last = bytes + SLACK - 1;
	int log2;

	if (last < (1 << FIRST_LOG2))
		return 0;
	log2 = 63 - __builtin_clzll(last);
	return (log2 - FIRST_LOG2) * 4 + (int)((last >> (log2 - 2)) & 3) + 1;
}

static size_t class_bytes(int class)
{
	int log2 = FIRST_LOG2 + (class - 1) / 4;

	if (class == 0)
		return 1 << FIRST_LOG2;
	return (size_t)((class - 1) % 4 + 5) << (log2 - 2);
}

static void flush(struct allocator *a)
{
	for (int class = 0; class < CLASSES; class ++) {
		struct free_block *block = a->free[class], *next;

		for (; block; block = next) {
			ASAN_UNPOISON_MEMORY_REGION(block, class_bytes(class));
			next = block->next;
			free(block);
		}
		a->free[class] = NULL;
	}
	a->cached_bytes = 0;
}

static void flush_device(void *self)
{
	struct allocator *a = self;

	for (int class = 0; class < CLASSES; class ++) {
		for (size_t i = 0; i < a->spare[class].len; i++)
			a->device->put(a->device->self, a->spare[class].at[i]);
		VEC_FREE(&a->spare[class]);
	}
	a->spare_bytes = 0;
}

static void note_plain(struct allocator *a)
{
	a->plain = !a->device && !a->observer && !a->fence;
}

struct allocator *allocator_create(size_t limit_bytes, const struct device_memory *device)
{
	struct allocator *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->limit_bytes = limit_bytes;
	a->device = device;
	note_plain(a);
	if (device)
		device->on_shortage(device->self, flush_device, a);
	return a;
}

struct allocator *allocator_create_beside(const struct allocator *of, size_t limit_bytes)
{
	struct allocator *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->limit_bytes = limit_bytes;
	a->device = of->device;
	a->keeps_nothing = true;
	note_plain(a);
	return a;
}

const struct device_memory *allocator_device(const struct allocator *a)
{
	return a->device;
}

/* A block of the device's.  What was freed is taken first: a launch that still
 * reads it was asked for earlier, and comes earlier. */
static void *device_get(struct allocator *a, size_t bytes)
{
	int class = class_of(bytes);

	if (a->spare[class].len > 0) {
		a->spare_bytes -= class_bytes(class);
		return a->spare[class].at[--a->spare[class].len];
	}
	return a->device->get(a->device->self, class_bytes(class));
}

static void device_put(struct allocator *a, void *memory, size_t bytes)
{
	int class = class_of(bytes);

	if (!a->keeps_nothing && VEC_PUSH(&a->spare[class], memory))
		a->spare_bytes += class_bytes(class);
	else
		a->device->put(a->device->self, memory);
}

void allocator_destroy(struct allocator *a)
{
	if (!a)
		return;
	assert(a->live_blocks == 0); /* a tensor has outlived its allocator */
	flush(a);
	if (a->device)
		flush_device(a);
	free(a);
}

size_t allocator_used_bytes(const struct allocator *a)
{
	return a->used_bytes;
}

/* What a device's backend has for itself counts too: it comes and goes between these. */
static inline size_t all_bytes(const struct allocator *a)
{
	return a->used_bytes + (a->device ? a->device->own_bytes : 0);
}

static inline void note_peak(struct allocator *a)
{
	size_t all = all_bytes(a);

	if (all > a->peak_bytes)
		a->peak_bytes = all;
}

size_t allocator_peak_bytes(struct allocator *a)
{
	note_peak(a);
	return a->peak_bytes;
}

void allocator_reset_peak(struct allocator *a)
{
	a->peak_bytes = 0;
	note_peak(a);
}

/* A block from the system.  Large ones ask for huge pages: first use of 4 KiB
 * pages costs more than most kernels. */
static __attribute__((noinline)) void *block_new(struct allocator *a, int class)
{
	size_t bytes = class_bytes(class);
	size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGN;
	void *block = NULL;

	if (posix_memalign(&block, align, bytes) != 0) {
		flush(a);
		if (posix_memalign(&block, align, bytes) != 0)
			return NULL;
	}
	if (align == HUGE_PAGE)
		madvise(block, bytes, MADV_HUGEPAGE); /* a hint: may be refused */
	a->live_blocks++;
	return block;
}

static inline void *get(struct allocator *a, size_t bytes)
{
	int class = class_of(bytes);
	struct free_block *block = a->free[class];

	if (!block)
		return block_new(a, class);
	ASAN_UNPOISON_MEMORY_REGION(block, class_bytes(class));
	a->free[class] = block->next;
	a->cached_bytes -= class_bytes(class);
	a->live_blocks++;
	return block;
}

void *block_get(struct allocator *a, size_t bytes)
{
	return get(a, bytes);
}

static inline void put(struct allocator *a, void *memory, size_t bytes)
{
	int class = class_of(bytes);
	struct free_block *block = memory;

	a->live_blocks--;
	if (a->cached_bytes + class_bytes(class) > CACHE_LIMIT) {
		free(memory);
		return;
	}
	block->next = a->free[class];
	a->free[class] = block;
	a->cached_bytes += class_bytes(class);
	ASAN_POISON_MEMORY_REGION(block, class_bytes(class));
}

void block_put(struct allocator *a, void *memory, size_t bytes)
{
	put(a, memory, bytes);
}

static void *over_limit(const struct allocator *a, size_t bytes, struct err *err)
{
	const double mib = 1 << 20;

	err_set(err, ERR_MEMORY,
		"%.1f MiB more do not fit into the limit of %.1f MiB: %.1f MiB are in use; "
		"use smaller tensors or raise the memory limit",
		(double)bytes / mib, (double)a->limit_bytes / mib, (double)a->used_bytes / mib);
	return NULL;
}

static void *none_left(const struct allocator *a, size_t bytes, struct err *err)
{
	const struct device_memory *device = a->device;
	const double mib = 1 << 20;

	if (!device)
		err_set(err, ERR_MEMORY,
			"out of memory for a tensor of %.1f MiB; "
			"use smaller tensors or a machine with more memory",
			(double)bytes / mib);
	else
		err_set(err, ERR_MEMORY,
			"%s is out of memory: %.1f MiB were asked for, %.1f MiB are in use here "
			"(%.1f MiB of it by kernels) and %.1f MiB free; use smaller tensors",
			device->name, (double)bytes / mib,
			(double)(a->used_bytes + device->own_bytes) / mib,
			(double)device->own_bytes / mib,
			(double)device->free_bytes(device->self) / mib);
	return NULL;
}

/* ---- the observer ---- */

static void forget_label(struct allocator *a)
{
	a->label = (struct fusion_memory){ .graph = -1, .kernel = -1, .values = 1, .rank = -1 };
}

void allocator_observe(struct allocator *a, const struct fusion_observer *observer)
{
	a->observer = observer && (observer->took || observer->gave) ? observer : NULL;
	note_plain(a);
	forget_label(a);
}

struct fusion_memory *allocator_label(struct allocator *a)
{
	return a->observer || a->fence ? &a->label : NULL;
}

static __attribute__((noinline)) void tell_took(struct allocator *a, const void *memory,
						size_t bytes)
{
	const struct fusion_observer *o = a->observer;

	if (o->took)
		o->took(o->self, &a->label, memory, (int64_t)bytes, (int64_t)all_bytes(a),
			clock_ns());
}

static __attribute__((noinline)) void tell_gave(const struct allocator *a, const void *memory,
						size_t bytes)
{
	const struct fusion_observer *o = a->observer;

	if (o->gave)
		o->gave(o->self, memory, (int64_t)bytes, (int64_t)all_bytes(a), clock_ns());
}

/* ---- memory that is watched */

void allocator_set_fence(struct allocator *a, struct fence *fence)
{
	a->fence = fence;
	note_plain(a);
	fence_use(fence, a->device);
	forget_label(a);
}

struct fence *allocator_fence(const struct allocator *a)
{
	return a->fence;
}

/* "float32 [4, 3], the result of torch.add (line 3)". */
static void describe(const struct allocator *a, void *memory)
{
	static const char *const uses[USE_COUNT] = {
		[USE_CONSTANT] = "constant of a graph",
		[USE_TEMPORARY] = "temporaries of a graph",
		[USE_RECORDING] = "temporaries of recordings"
	};
	const struct fusion_memory *l = &a->label;
	struct buf text;

	buf_init(&text, 0);
	if (l->rank >= 0)
		buf_printf(&text, "%s [", dtype_name(l->dtype));
	for (int d = 0; d < l->rank; d++)
		buf_printf(&text, "%s%" PRId64, d ? ", " : "", l->size[d]);
	if (l->rank >= 0)
		buf_puts(&text, "]");
	if (uses[l->use])
		buf_printf(&text, "%s%s", text.len ? ", " : "", uses[l->use]);
	if (l->op)
		buf_printf(&text, ", the result of %.60s", l->op);
	if (l->op && l->line > 0)
		buf_printf(&text, " (line %d)", l->line);
	if (text.data)
		fence_describe(a->fence, memory, text.data);
	buf_finish(&text);
}

/* What lies inside of a block with guard words, or the block itself. */
static void *take(struct allocator *a, size_t bytes)
{
	size_t all = a->fence ? fence_room(bytes) : bytes;
	void *memory = a->device ? device_get(a, all) : get(a, all);

	if (!memory || !a->fence)
		return memory;
	memory = fence_open(a->fence, memory, bytes);
	describe(a, memory);
	return memory;
}

static __attribute__((noinline)) void *get_watched(struct allocator *a, size_t bytes,
						   struct err *err)
{
	void *memory = take(a, bytes);

	if (!memory)
		return none_left(a, bytes, err);
	a->used_bytes += bytes;
	note_peak(a);
	if (a->observer)
		tell_took(a, memory, bytes);
	forget_label(a);
	return memory;
}

void *allocator_get(struct allocator *a, size_t bytes, struct err *err)
{
	void *memory;

	if (bytes > a->limit_bytes - a->used_bytes || bytes >= (size_t)1 << (LAST_LOG2 - 1))
		return over_limit(a, bytes, err);
	if (__builtin_expect(!a->plain, 0))
		return get_watched(a, bytes, err);
	memory = get(a, bytes);
	if (!memory)
		return none_left(a, bytes, err);
	a->used_bytes += bytes;
	if (a->used_bytes > a->peak_bytes)
		a->peak_bytes = a->used_bytes;
	return memory;
}

static __attribute__((noinline)) void put_watched(struct allocator *a, void *memory, size_t bytes)
{
	void *block = memory;
	size_t all = bytes;

	if (a->fence) {
		block = fence_close(a->fence, memory);
		all = fence_room(bytes);
	}
	if (a->device) {
		note_peak(a);
		device_put(a, block, all);
	} else {
		put(a, block, all);
	}
	a->used_bytes -= bytes;
	if (a->observer)
		tell_gave(a, memory, bytes);
}

void allocator_put(struct allocator *a, void *memory, size_t bytes)
{
	if (!memory)
		return;
	if (__builtin_expect(!a->plain, 0)) {
		put_watched(a, memory, bytes);
		return;
	}
	put(a, memory, bytes);
	a->used_bytes -= bytes;
}
