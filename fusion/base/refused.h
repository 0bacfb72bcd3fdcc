/* fusion/base/refused.h -- how often memory was refused.
 *
 * Every allocation of this program, not of its libraries, is counted here when it fails: the
 * linker leads malloc(), calloc(), realloc(), strdup() and strndup() to refused.c (--wrap in
 * the Makefile).  Much of what is made of many parts is made without those that found no memory, so
 * whoever hands out a result, or reads it to make more of it, looks whether any was refused
 * meanwhile, and says ERR_MEMORY instead.
 * Memory of tensors is not counted: it is asked for by other names, and a program may go on
 * without.
 */
#ifndef FUSION_BASE_REFUSED_H
#define FUSION_BASE_REFUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"

/* Allocations that failed so far: of this thread, of the process. */
uint64_t memory_refused_here(void);
uint64_t memory_refused(void);

/* malloc() for a caller that goes on as well without: not counted. */
void *memory_try(size_t bytes);

/* Counts one that failed in a library. */
void memory_note_refused(void);

/* ERR_MEMORY for `what`, which may lack parts; false, as err_set(). */
static inline bool memory_refused_error(struct err *err, const char *what)
{
	return err_set(err, ERR_MEMORY, "memory ran out, so %s may lack parts", what);
}

/* Whether this thread was refused none since `before`, which memory_refused_here() was then: what
 * was made meanwhile is whole, and may be read.  Else ERR_MEMORY for `what`. */
static inline bool memory_was_had(uint64_t before, const char *what, struct err *err)
{
	return memory_refused_here() == before || memory_refused_error(err, what);
}

#endif
