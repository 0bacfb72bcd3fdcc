/* server/cli/heap.c -- takes the heap at once, in huge pages. */
#include "server/cli/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_BYTES = 2 << 20, TAKEN_BYTES = 4 * HUGE_BYTES };

void heap_take(void)
{
	uintptr_t from, to;
	void *volatile all; /* or the compiler drops the two calls */

	/* what is freed stays, or the next use would fault again */
	if (!mallopt(M_MMAP_THRESHOLD, 2 * TAKEN_BYTES) ||
	    !mallopt(M_TRIM_THRESHOLD, 2 * TAKEN_BYTES))
		return;
	from = (uintptr_t)sbrk(0);
	all = malloc(TAKEN_BYTES);
	free(all);
	to = (uintptr_t)sbrk(0) & ~(uintptr_t)(HUGE_BYTES - 1);
	from = (from + HUGE_BYTES - 1) & ~(uintptr_t)(HUGE_BYTES - 1);
	if (from < to)
		madvise((void *)from, to - from, MADV_HUGEPAGE); /* or pages as they are */
}
