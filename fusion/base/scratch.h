/* fusion/base/scratch.h -- private folders, and files, that nobody keeps.
 *
 * A folder lies in TMPDIR (or /tmp) and is locked by the process that made it, for as long as
 * that lives.  One that is killed leaves its folder: whoever makes the next in the same place
 * removes those of this user that nobody holds any more.
 */
#ifndef FUSION_BASE_SCRATCH_H
#define FUSION_BASE_SCRATCH_H

#include <stdbool.h>

#include "fusion/base/err.h"

struct scratch {
	char path[256]; /* "": there is none */
	int held; /* a descriptor with the lock, which processes that are started do not get */
};

/* Makes one that this user alone can enter; `what` it is for goes into the message.  IO.
 * Threads may make several at once. */
bool scratch_create(struct scratch *s, const char *what, struct err *err);

/* The same in another folder. */
bool scratch_create_in(struct scratch *s, const char *base, const char *what, struct err *err);

/* Removes it and all that is in it.  Zeroed, or removed before, is fine. */
void scratch_destroy(struct scratch *s);

/* A file in the same place that has no name, to be read and written: nothing is left of it.
 * A descriptor; -1 with IO. */
int scratch_file(const char *what, struct err *err);

#endif
