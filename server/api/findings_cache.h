/* server/api/findings_cache.h -- what the figures of runs say, as JSON text, kept for those that
 * were asked for last: a report is read for it once, not for each answer.  Thread-safe. */
#ifndef SERVER_API_FINDINGS_CACHE_H
#define SERVER_API_FINDINGS_CACHE_H

#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "server/api/api.h"

/* The findings of the run's report, "null" where it has no modes; new.  `c` NULL keeps nothing.
 * NULL with MEMORY. */
char *findings_text(struct findings_cache *c, int64_t run, const struct buf *report,
		    struct arena *arena, struct err *err);

#endif
