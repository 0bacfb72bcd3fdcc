/* fusion/backends/memory.h -- memory that kernels see and the host does not.
 *
 * A backend whose kernels run elsewhere (a GPU) gives tensors their memory and
 * moves their contents.  Everything happens in the order of the calls, launches
 * included; only read() waits.
 */
#ifndef FUSION_BACKENDS_MEMORY_H
#define FUSION_BACKENDS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"

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
	/* Whether a kernel that finds an index out of bounds in its data may be told of later
	 * than by fault() of its executable, which waits: by check(), behind a wait() at the
	 * latest.  The elements that it was to write are as they were. */
	void (*late)(void *self, bool late);
	/* Whether all went well that is known of: none of these functions can fail, nor
	 * can a launch.  DEVICE with what did not; VALUE, once, for an index. */
	bool (*check)(void *self, struct err *err);
};

#endif
