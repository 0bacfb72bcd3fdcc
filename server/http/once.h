/* server/http/once.h -- posts that make nothing twice: those with the header Idempotency-Key.
 *
 * For a day the same post with the same key, of the same token, user or address, is answered as it
 * was the first time.
 */
#ifndef SERVER_HTTP_ONCE_H
#define SERVER_HTTP_ONCE_H

#include "server/http/exchange.h"

/* Before the handler of a request that is there whole: whether it is to be called.  Else the
 * exchange has the answer of the first time, or an error: BAD_REQUEST for what is no key, VALUE
 * where the first post with it was another, CONFLICT as long as that is under way. */
bool once_begin(struct exchange *x, struct MHD_Connection *c);

/* After it, in its thread: what it wrote since req_join() and its answer are stored, both or
 * neither (then x->err says why not); what was refused may be tried again. */
void once_end(struct exchange *x);

#endif
