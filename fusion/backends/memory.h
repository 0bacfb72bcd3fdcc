/* fusion/backends/memory.h -- memory that kernels see and the host does not.
 *
 * A backend whose kernels run elsewhere (a GPU) gives tensors their memory and
 * moves their contents.  Everything happens in the order of the calls, launches
 * included; only read() waits.
 */
#ifndef FUSION_BACKENDS_MEMORY_H
#define FUSION_BACKENDS_MEMORY_H

#include <stddef.h>

struct device_memory {
	void *self;
	const char *name;                       /* of the device, for people */
	void *(*get)(void *self, size_t bytes); /* 256-byte aligned; NULL: there is none left */
	void (*put)(void *self, void *memory);
	/* Between the host and the device, and within the device (not overlapping). */
	void (*read)(void *self, void *host, const void *memory, size_t bytes);
	void (*write)(void *self, void *memory, const void *host, size_t bytes);
	void (*copy)(void *self, void *to, const void *from, size_t bytes);
	void (*clear)(void *self, void *memory, size_t bytes); /* to zeros */
	void (*wait)(void *self); /* until all that was asked for is done */
};

#endif
