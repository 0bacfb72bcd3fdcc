/* server/behind.h -- threads for requests that take long, behind those of HTTP.
 *
 * A thread of libmicrohttpd serves many connections; one that waits in a handler
 * holds up all of them.  Handlers that ROUTE_SLOW names run here instead, while
 * their connection is suspended.  How many of a kind run at once is the handlers'
 * affair: there are threads for all of them.
 */
#ifndef SERVER_BEHIND_H
#define SERVER_BEHIND_H

#include <stdbool.h>

#include "fusion/base/err.h"

struct behind;

/* Embedded in what is to be done; the caller's until fn has been called. */
struct behind_task {
	void (*fn)(struct behind_task *task);
	struct behind_task *next; /* behind.c's */
};

/* `threads` of them.  NULL with MEMORY. */
struct behind *behind_create(int threads, struct err *err);

/* fn is called once, on one of the threads, in the order of the calls.  BUSY when
 * they are stopping: it will not be called.  From any thread. */
bool behind_run(struct behind *b, struct behind_task *task, struct err *err);

/* Does all that was taken, then ends the threads; behind_run() refuses from then on. */
void behind_stop(struct behind *b);

void behind_destroy(struct behind *b); /* stops it first; NULL is fine */

#endif
