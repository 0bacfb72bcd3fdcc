/* server/queue/query.h -- SQL over what is known of one run: in a worker, and in `breakeven query`.
 */
#ifndef SERVER_QUEUE_QUERY_H
#define SERVER_QUEUE_QUERY_H

#include "profiler/export/export.h"

enum {
	QUERY_ROWS = 1000, /* of an answer, where no other number is asked for */
	QUERY_MOST_ROWS = 100000,
	QUERY_MOST_BYTES = 16 << 20,
	QUERY_MS = 10000,
	QUERY_MEMORY = 1 << 30,
};

/* `order`: {"sql", "format": "json" or "csv", "mode", "n", "t0", "t1": ns from the first event,
 * "limit"}, all but sql may be missing.  Puts the answer of query_run() with "events", how many
 * were read; of csv its rows.  False with BAD_REQUEST (the statement, with its line and column;
 * too slow, too large), TOO_LARGE (more events than fit), or an error of `put`. */
bool query_write(const struct export_run *run, const json_t *order, export_put_fn *put, void *self,
		 struct err *err);

#endif
