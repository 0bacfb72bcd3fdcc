/* server/http/slow_pool.h -- threads for requests that take long, beside those of HTTP.
 *
 * A thread of libmicrohttpd serves many connections; one that waits in a handler
 * holds up all of them.  Handlers that ROUTE_SLOW names run here instead, while
 * their connection is suspended.  How many of a kind run at once is the handlers'
 * affair: there are threads for all of them.
 */
#ifndef SERVER_HTTP_SLOW_POOL_H
#define SERVER_HTTP_SLOW_POOL_H

#include <stdbool.h>

#include "fusion/base/err.h"

struct slow_pool;

/* Embedded in what is to be done; the caller's until fn has been called. */
struct slow_task {
	void (*fn)(struct slow_task *task);
	struct slow_task *next; /* slow_pool.c's */
};

/* `threads` of them.  NULL with MEMORY. */
struct slow_pool *slow_pool_create(int threads, struct err *err);

/* fn is called once, on one of the threads, in the order of the calls.  BUSY when
 * they are stopping: it will not be called.  From any thread. */
bool slow_pool_run(struct slow_pool *b, struct slow_task *task, struct err *err);

/* Does all that was taken, then ends the threads; slow_pool_run() refuses from then on. */
void slow_pool_stop(struct slow_pool *b);

void slow_pool_destroy(struct slow_pool *b); /* stops it first; NULL is fine */

#endif
