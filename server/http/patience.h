/* server/http/patience.h -- how long a client may take to send a request.
 *
 * A connection that sends a byte now and then is never idle, and would be held for ever.  A request
 * must be there whole within --request-seconds; where most connections are taken, those that have
 * been heard of least go first.  Such a client gets status 408, and its connection is closed; one
 * that has sent nothing of a request is closed without a word.  One that has closed its sending
 * side will not send the rest: its connection is closed at once.
 */
#ifndef SERVER_HTTP_PATIENCE_H
#define SERVER_HTTP_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"

struct patience;
struct patient; /* one connection */

/* `crowd` connections are many.  NULL with MEMORY. */
struct patience *patience_create(int crowd, int seconds, struct err *err);
void patience_destroy(struct patience *p); /* no connection is left; NULL is fine */

/* A connection on a socket, which waits for a request; NULL: out of memory, then nobody waits. */
struct patient *patient_enter(struct patience *p, int fd);
void patient_leave(struct patience *p, struct patient *c); /* NULL is fine, as below */

void patient_sends(struct patient *c, size_t bytes,
		   bool whole); /* of a body; `whole`: all is there */

/* For the next one.  `request_bytes`: of the last one, head and body as they were sent; -1: the
 * system is asked. */
void patient_waits(struct patient *c, int64_t request_bytes);

#endif
