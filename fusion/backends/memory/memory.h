/* fusion/backends/memory/memory.h -- memory that kernels see and the host does not.
 *
 * A backend whose kernels run elsewhere (a GPU) gives tensors their memory and
 * moves their contents.  Everything happens in the order of the calls, launches
 * included; only read() waits.
 */
#ifndef FUSION_BACKENDS_MEMORY_MEMORY_H
#define FUSION_BACKENDS_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "fusion/device.h"

struct device_memory {
	void *self;
	const char *name;                       /* of the device, for people */
	size_t cache_bytes;                     /* of the last cache before it; 0: not known */
	size_t own_bytes;                       /* what the backend has for itself, of get() too */
	void *(*get)(void *self, size_t bytes); /* 256-byte aligned; NULL: there is none left */
	void (*put)(void *self, void *memory);
	size_t (*free_bytes)(void *self); /* of the device, as it says itself */
	/* What get() calls where there is none left, before it tries again: `owner` gives
	 * back what it keeps for later.  One of a device. */
	void (*on_shortage)(void *self, void (*give_back)(void *owner), void *owner);
	/* Between the host and the device, and within the device (not overlapping). */
	void (*read)(void *self, void *host, const void *memory, size_t bytes);
	void (*write)(void *self, void *memory, const void *host, size_t bytes);
	void (*copy)(void *self, void *to, const void *from, size_t bytes);
	void (*clear)(void *self, void *memory, size_t bytes); /* to zeros */
	/* To copies of `word`; both `memory` and `bytes` are multiples of 4. */
	void (*fill)(void *self, void *memory, uint32_t word, size_t bytes);
	/* Whether it is known that two places, this device's or another engine's on the same one
	 * that is waited for, hold the same bytes; waits.  NULL: it cannot look. */
	bool (*same)(void *self, const void *a, const void *b, size_t bytes);
	void (*wait)(void *self); /* until all that was asked for is done */
	/* Whether a kernel that finds an index out of bounds in its data may be reported later
	 * than by fault() of its executable, which waits: by check(), after a wait() at the
	 * latest.  The elements that it was to write are as they were. */
	void (*late)(void *self, bool late);
	/* Whether all went well that is known of: none of these functions can fail, nor
	 * can a launch.  DEVICE with what did not; VALUE, once, for an index. */
	bool (*check)(void *self, struct err *err);
};

/* ---- memory that is watched: a debugging switch (--poison)
 *
 * A block has GUARD WORDS before its first byte and after its last, which nobody may
 * write: they are looked at when it is freed, after a kernel that wrote it (on the host)
 * and at the end of a call.  What is fresh is POISONED, and again what is freed: as an
 * element of any floating point dtype each is a NaN, as an integer one that no program
 * computes.  So a read of what nobody wrote, or of what is no longer there, is seen in
 * the results.
 *
 * On a device all of this goes through its one stream, in the order of the launches.
 */

enum { FENCE_BYTES = 256 }; /* before a block and after it: its alignment is kept */

struct fence;

/* NULL: out of memory.  Destroyed after all that it watches. */
struct fence *fence_create(void);
void fence_destroy(struct fence *g); /* NULL is fine */

/* Where the memory is, before the first is opened; NULL: here. */
void fence_use(struct fence *g, const struct device_memory *device);
bool fence_on_device(const struct fence *g);

/* Of a block that is to hold so many bytes: with room for its guard words. */
static inline size_t fence_room(size_t bytes)
{
	return bytes + 2 * (size_t)FENCE_BYTES;
}

/* `block` has fence_room(bytes) bytes.  Gives its inside, poisoned. */
void *fence_open(struct fence *g, void *block, size_t bytes);
/* Looks at the guard words and poisons what was inside; gives the block. */
void *fence_close(struct fence *g, void *memory);

/* Of one that is open and about to be written as a whole: it is as fresh. */
void fence_poison(struct fence *g, void *memory, size_t bytes);

/* Memory of the host without guard words, which is nobody's yet: it is as fresh. */
void fence_poison_here(void *memory, size_t bytes);

/* What lies there, and who wrote it last, for messages.  `memory` may be within a block;
 * where none is open nothing is noted. */
void fence_describe(struct fence *g, void *memory, const char *what);
void fence_wrote(struct fence *g, const void *memory, const char *writer);

/* Looks at the guard words around `memory`, those of all that is open: what is found first
 * is kept until fence_check() says it, INTERNAL.  On a device both wait. */
void fence_look(struct fence *g, const void *memory);
bool fence_check(struct fence *g, struct err *err);

struct fence_counts fence_counts(const struct fence *g);

#endif
