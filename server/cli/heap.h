/* server/cli/heap.h -- memory of a command that lives for milliseconds, or compiles. */
#ifndef SERVER_CLI_HEAP_H
#define SERVER_CLI_HEAP_H

#include <string.h>

/* Takes the heap at once, in huge pages where the system has them: page by page a
 * third of the time of `explain` would go into faults.  Before threads begin. */
void heap_take(void);

/* The same where the device, NULL or "cuda", has kernels that NVRTC compiles: it gives back
 * 8 MiB after each and would fault for them again, a tenth of its time. */
static inline void heap_take_for(const char *device)
{
	if (device && strncmp(device, "cuda", 4) == 0)
		heap_take();
}

#endif
