/* server/http/pages.h -- the page and its files. */
#ifndef SERVER_HTTP_PAGES_H
#define SERVER_HTTP_PAGES_H

#include "server/http/http.h"

handler_fn page_index, page_docs, page_client; /* of routes.def */

/* What no route answers: a file below /assets; or, where *err is NOT_FOUND, the page with that
 * status, for people (programs get the error as JSON). */
handler_fn page_unrouted;

#endif
