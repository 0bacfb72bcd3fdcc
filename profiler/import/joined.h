/* profiler/import/joined.h -- recordings of the ranks of a job, as one.
 *
 * Part of the profiler's public header; used by `breakeven trace`.  One thread.
 */
#ifndef PROFILER_IMPORT_JOINED_H
#define PROFILER_IMPORT_JOINED_H

#include <jansson.h>
#include <stdint.h>

#include "fusion/base/err.h"

enum { JOINED_MAX_RANKS = 4096 };

struct recordings_joined {
	int64_t ranks; /* that were there */
	json_t *facts; /* as the file has them; new */
	json_t
	    *imported; /* what the logs of all say, as `breakeven import --json` prints it; new */
};

/* Writes rank-0.trace, rank-1.trace, ... of a folder, those that are there, as one recording to
 * `path`, which is overwritten.  A lane says its rank; names and shapes that ranks share stand
 * there once; times are on the clock of the first rank, by what the wall clock of each machine said
 * at the end of its recording; of the logs there are the texts, too.  False with NOT_FOUND (there
 * is none), IO, MEMORY, or TIMELINE, which says in which file. */
bool recordings_join(const char *folder, const char *path, struct recordings_joined *out,
		     struct err *err);

#endif
